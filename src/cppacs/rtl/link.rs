//! What stands between a NIA and its exchanger: a link that stands still, and worms of others.

use std::collections::VecDeque;

use super::network::{ROOM, Word};
use crate::harness::event::EventKind;
use crate::net::fabric::Flit;
use crate::net::link::LinkMonitor;

const CHANNELS: usize = 2;

/// A channel of the link towards the exchanger. A word of the NIA waits here at most as long as forged ones have the
/// places that it has credits for, or as the link stands still.
struct Lane {
    own: VecDeque<Word>,
    forged: VecDeque<Word>,
    /// A worm of the NIA, or a forged one, has begun and not ended.
    amid: Option<bool>,
    /// Places at the exchanger that are taken, and in bit n whether number n has a forged word.
    taken: u32,
    by_forged: u32,
    monitor: LinkMonitor,
}

impl Lane {
    fn new() -> Lane {
        Lane {
            own: VecDeque::new(),
            forged: VecDeque::new(),
            amid: None,
            taken: 0,
            by_forged: 0,
            monitor: LinkMonitor::outgoing(),
        }
    }

    fn is_free(&self) -> bool {
        self.own.is_empty() && self.forged.is_empty()
    }

    /// The next word that waits here, if it has a place, and whether it is forged.
    fn next(&mut self) -> Option<(Word, bool)> {
        let forged = self.amid.unwrap_or(!self.forged.is_empty());
        let queue = if forged { &mut self.forged } else { &mut self.own };
        if self.taken == ROOM {
            return None;
        }
        Some((queue.pop_front()?, forged))
    }

    /// The exchanger gives a place back. Whether it was the NIA's.
    fn given_back(&mut self) -> bool {
        let own = self.by_forged & 1 == 0;
        self.by_forged >>= 1;
        self.taken -= 1;
        own
    }

    /// A word goes.
    fn goes(&mut self, word: Word, forged: bool) {
        assert!(self.taken < ROOM, "a word without a credit");
        self.by_forged |= u32::from(forged) << self.taken;
        self.taken += 1;
        self.amid = (!word.last).then_some(forged);
    }
}

/// Both directions of a node's link.
pub(super) struct Link {
    lanes: [Lane; CHANNELS],
    /// The channel that is asked first.
    turn: usize,
    /// Words for the NIA that came while the link stood still.
    coming: VecDeque<Word>,
    receives: [LinkMonitor; CHANNELS],
    held: bool,
    /// It stands still, or words wait here.
    disturbed: bool,
}

fn flit(word: Word) -> Flit {
    Flit {
        word: word.data.into(),
        last: word.last,
    }
}

impl Link {
    pub fn new() -> Link {
        Link {
            lanes: [Lane::new(), Lane::new()],
            turn: 0,
            coming: VecDeque::new(),
            receives: [LinkMonitor::incoming(), LinkMonitor::incoming()],
            held: false,
            disturbed: false,
        }
    }

    /// The next edge may move a word.
    #[inline]
    pub fn stirs(&self) -> bool {
        self.disturbed
    }

    pub fn hold(&mut self, held: bool) {
        (self.held, self.disturbed) = (held, true);
    }

    /// A worm that enters towards the exchanger as soon as none of its channel is under way.
    pub fn forge(&mut self, channel: usize, words: impl ExactSizeIterator<Item = u32>) {
        let count = words.len();
        let words = (1..).zip(words).map(|(number, data)| Word {
            channel,
            data,
            last: number == count,
        });
        self.lanes[channel].forged.extend(words);
        self.disturbed = true;
    }

    /// Whether a worm is leaving, and whether one is coming.
    pub fn under_way(&self) -> (bool, bool) {
        let leaves = self.lanes.iter().any(|lane| lane.monitor.under_way());
        (leaves, self.receives.iter().any(LinkMonitor::under_way))
    }

    /// An edge towards the exchanger, which gives `returned` back: the word that goes, and the NIA's credits.
    #[inline]
    pub fn outgoing(&mut self, own: Option<Word>, returned: u64, event: impl FnMut(EventKind)) -> (Option<Word>, u64) {
        let mut credits = 0;
        for (channel, lane) in self.lanes.iter_mut().enumerate() {
            if returned >> channel & 1 != 0 && lane.given_back() {
                credits |= 1 << channel;
            }
        }
        let next = if self.disturbed {
            if let Some(word) = own {
                self.lanes[word.channel].own.push_back(word);
            }
            self.next()
        } else {
            own.map(|word| (word, false))
        };
        if let Some((word, forged)) = next {
            let lane = &mut self.lanes[word.channel];
            lane.goes(word, forged);
            lane.monitor.pass(flit(word), event);
        }
        (next.map(|(word, _)| word), credits)
    }

    /// The channels alternate where both have words.
    fn next(&mut self) -> Option<(Word, bool)> {
        if self.held {
            return None;
        }
        let order = [self.turn, 1 - self.turn];
        let next = order.into_iter().find_map(|channel| self.lanes[channel].next());
        self.turn = next.map_or(self.turn, |(word, _)| 1 - word.channel);
        next
    }

    /// An edge towards the NIA: the word that it is shown.
    #[inline]
    pub fn incoming(&mut self, word: Option<Word>, event: impl FnMut(EventKind)) -> Option<Word> {
        let word = if self.disturbed {
            self.coming.extend(word);
            if self.held { None } else { self.coming.pop_front() }
        } else {
            word
        };
        if let Some(word) = word {
            self.receives[word.channel].pass(flit(word), event);
        }
        word
    }

    /// After an edge: whether words still wait here.
    #[inline]
    pub fn settle(&mut self) {
        if self.disturbed {
            self.disturbed = self.held || !self.coming.is_empty() || !self.lanes.iter().all(Lane::is_free);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(channel: usize, data: u32, last: bool) -> Word {
        Word { channel, data, last }
    }

    #[test]
    fn a_forged_worm_enters_between_two_and_its_credits_stay_here() {
        let mut link = Link::new();
        let mut edge = |link: &mut Link, own, returned| {
            let went = link.outgoing(own, returned, |_| {});
            link.settle();
            went
        };
        assert_eq!(
            edge(&mut link, Some(word(0, 1, false)), 0),
            (Some(word(0, 1, false)), 0)
        );
        link.forge(0, [7, 8].into_iter());
        // The worm of the NIA's is under way, so the forged one waits.
        assert_eq!(edge(&mut link, None, 0), (None, 0));
        assert_eq!(edge(&mut link, Some(word(0, 2, true)), 0).0, Some(word(0, 2, true)));
        assert_eq!(edge(&mut link, Some(word(1, 3, true)), 0).0, Some(word(1, 3, true)));
        assert_eq!(edge(&mut link, Some(word(0, 4, true)), 0).0, Some(word(0, 7, false)));
        assert_eq!(edge(&mut link, None, 1), (Some(word(0, 8, true)), 1));
        assert_eq!(edge(&mut link, None, 1), (Some(word(0, 4, true)), 1));
        assert_eq!([1, 1, 1].map(|returned| edge(&mut link, None, returned).1), [0, 0, 1]);
        assert!(!link.stirs());
    }

    #[test]
    fn a_link_that_stands_still_loses_nothing() {
        let mut link = Link::new();
        link.hold(true);
        for data in 0..ROOM {
            assert_eq!(link.outgoing(Some(word(0, data, true)), 0, |_| {}), (None, 0));
            assert_eq!(link.incoming(Some(word(1, data, true)), |_| {}), None);
        }
        link.hold(false);
        for data in 0..ROOM {
            assert_eq!(link.outgoing(None, 0, |_| {}), (Some(word(0, data, true)), 0));
            assert_eq!(link.incoming(None, |_| {}), Some(word(1, data, true)));
        }
        link.settle();
        assert!(!link.stirs());
    }
}
