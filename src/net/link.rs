//! What passes on a node's link.

use crate::harness::event::EventKind;
use crate::harness::lane::Head;
use crate::net::fabric::Flit;

/// Words of a packet that say what it is, at most.
const WORDS: usize = 6;

/// What is kept for lanes: how many packets have begun, the first words of the last one, and how many words these are.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    packets: u32,
    words: [u64; WORDS],
    count: usize,
}

/// Follows the flits of one direction of a node's link, packet by packet.
#[derive(Clone, Copy, Debug)]
pub struct LinkMonitor {
    /// Flits of the packet under way.
    flits: u32,
    outgoing: bool,
    /// Where lanes are asked for.
    kept: Option<Kept>,
}

impl LinkMonitor {
    /// From the node into the network.
    pub fn outgoing() -> LinkMonitor {
        LinkMonitor {
            flits: 0,
            outgoing: true,
            kept: None,
        }
    }

    /// From the network into the node.
    pub fn incoming() -> LinkMonitor {
        LinkMonitor {
            outgoing: false,
            ..LinkMonitor::outgoing()
        }
    }

    /// From now on there is a [`head`](LinkMonitor::head).
    pub fn keep_head(&mut self) {
        self.kept = Some(Kept::default());
    }

    /// A packet has begun and not ended.
    #[inline]
    pub fn under_way(&self) -> bool {
        self.flits > 0
    }

    /// The packet under way, or the last one; of none where heads are not kept.
    pub fn head(&self) -> Head<'_> {
        self.kept.as_ref().map_or_else(Head::default, |kept| Head {
            packets: kept.packets,
            is_under_way: self.under_way(),
            words: &kept.words[..kept.count],
        })
    }

    /// A flit is taken at an edge; tells of the first and the last of a packet.
    #[inline]
    pub fn pass(&mut self, flit: Flit, mut event: impl FnMut(EventKind)) {
        if let Some(kept) = &mut self.kept {
            kept.keep(self.flits as usize, flit.word);
        }
        self.flits += 1;
        if self.flits == 1 {
            let head = flit.word as u16;
            event(if self.outgoing {
                EventKind::TxFirst { head }
            } else {
                EventKind::RxFirst { head }
            });
        }
        if flit.last {
            let flits = std::mem::take(&mut self.flits);
            event(if self.outgoing {
                EventKind::TxLast { flits }
            } else {
                EventKind::RxLast { flits }
            });
        }
    }
}

impl Kept {
    /// A packet's word of this number passes.
    fn keep(&mut self, number: usize, word: u64) {
        self.packets += u32::from(number == 0);
        if let Some(place) = self.words.get_mut(number) {
            *place = word;
            self.count = number + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_kept_where_it_is_asked_for() {
        let mut links = [LinkMonitor::outgoing(); 2];
        links[1].keep_head();
        let mut pass = |word, last| links.each_mut().map(|link| link.pass(Flit { word, last }, |_| ()));
        (0..9).for_each(|word| {
            pass(word, word == 8);
        });
        pass(20, false);
        let [without, with] = links.each_ref().map(LinkMonitor::head);
        assert_eq!((without.packets, without.words), (0, &[][..]));
        assert_eq!((with.packets, with.is_under_way, with.words), (2, true, &[20][..]));
        links[1].pass(Flit { word: 21, last: true }, |_| ());
        let with = links[1].head();
        assert_eq!((with.packets, with.is_under_way, with.words), (2, false, &[20, 21][..]));
    }
}
