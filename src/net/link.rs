//! What passes on a node's link.

use crate::harness::event::EventKind;
use crate::net::fabric::Flit;

/// Words of a packet that say what it is, at most.
const HEAD: usize = 6;

/// Follows the flits of one direction of a node's link, packet by packet.
#[derive(Clone, Copy, Debug)]
pub struct LinkMonitor {
    /// Flits of the packet under way.
    flits: u32,
    outgoing: bool,
    /// The first words of the packet under way, or of the last one, and how many there are.
    words: [u64; HEAD],
    kept: usize,
}

impl LinkMonitor {
    /// From the node into the network.
    pub fn outgoing() -> LinkMonitor {
        LinkMonitor {
            flits: 0,
            outgoing: true,
            words: [0; HEAD],
            kept: 0,
        }
    }

    /// From the network into the node.
    pub fn incoming() -> LinkMonitor {
        LinkMonitor {
            outgoing: false,
            ..LinkMonitor::outgoing()
        }
    }

    /// A packet has begun and not ended.
    #[inline]
    pub fn under_way(&self) -> bool {
        self.flits > 0
    }

    /// The first words of the packet under way, or of the last one.
    pub fn head(&self) -> &[u64] {
        &self.words[..self.kept]
    }

    /// A flit is taken at an edge; tells of the first and the last of a packet.
    #[inline]
    pub fn pass(&mut self, flit: Flit, mut event: impl FnMut(EventKind)) {
        if self.flits < HEAD as u32 {
            self.words[self.flits as usize] = flit.word;
            self.kept = self.flits as usize + 1;
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
