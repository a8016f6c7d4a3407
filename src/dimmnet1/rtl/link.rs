//! What stands between a card and the network: faults of a link, a packet that a reset cut, packets of others.

use std::collections::VecDeque;

use crate::harness::event::EventKind;
use crate::harness::lane::{Head, Way};
use crate::net::fabric::Flit;
use crate::net::link::LinkMonitor;

/// What ends a packet that a reset cut.
pub const CUT: Flit = Flit { word: 0, last: true };

/// Both directions of a node's link.
#[derive(Debug)]
pub(super) struct Link {
    tx: LinkMonitor,
    rx: LinkMonitor,
    /// The link stands still, except for a word that was shown already to network or card.
    held: bool,
    offered: bool,
    shown: bool,
    /// The card is in reset: it shows and takes nothing.
    cut_off: bool,
    /// One of these is or was so: held, cut off, cut, forged.
    disturbed: bool,
    /// The rest of a packet that a reset cut.
    cut: VecDeque<Flit>,
    /// Packets of others, and whether one is under way.
    forged: VecDeque<Flit>,
    forging: bool,
}

/// What an outgoing link does at an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    /// What the network is shown.
    pub offer: Option<Flit>,
    /// The card's word is taken.
    pub ready: bool,
}

impl Link {
    pub fn new() -> Link {
        Link {
            tx: LinkMonitor::outgoing(),
            rx: LinkMonitor::incoming(),
            held: false,
            offered: false,
            shown: false,
            cut_off: false,
            disturbed: false,
            cut: VecDeque::new(),
            forged: VecDeque::new(),
            forging: false,
        }
    }

    #[inline]
    pub fn stirs(&self) -> bool {
        self.disturbed
    }

    /// Whether a packet is leaving, and whether one is coming.
    pub fn under_way(&self) -> (bool, bool) {
        (self.tx.under_way(), self.rx.under_way())
    }

    pub fn keep_heads(&mut self) {
        self.tx.keep_head();
        self.rx.keep_head();
    }

    /// The packet that leaves or comes, or did last.
    pub fn head(&self, way: Way) -> Head<'_> {
        match way {
            Way::Out => self.tx.head(),
            Way::In => self.rx.head(),
        }
    }

    pub fn hold(&mut self, held: bool) {
        (self.held, self.disturbed) = (held, true);
    }

    pub fn forge(&mut self, words: &[u64]) {
        let last = words.len().wrapping_sub(1);
        let flits = words
            .iter()
            .enumerate()
            .map(|(at, &word)| Flit { word, last: at == last });
        self.forged.extend(flits);
        self.disturbed = true;
    }

    /// The card, which shows this, is held in reset from now on. What the network was shown already stays there, and a
    /// packet under way ends.
    pub fn cut_off(&mut self, shows: Option<Flit>) {
        let own = !self.forging && !self.cut_off;
        let shown = shows.filter(|_| own && self.offered);
        let goes_on = shown.map_or(self.tx.under_way(), |flit| !flit.last);
        self.cut.extend(shown);
        self.cut.extend((own && goes_on).then_some(CUT));
        (self.cut_off, self.disturbed) = (true, true);
    }

    pub fn rejoin(&mut self) {
        self.cut_off = false;
    }

    /// An edge of the outgoing direction: the card shows `own`, and the network takes a word if it is `ready`.
    pub fn outgoing(&mut self, own: Option<Flit>, ready: bool, event: impl FnMut(EventKind)) -> Outgoing {
        let moves = !self.disturbed || !self.held || self.offered;
        let ready = ready && moves;
        let instead = if self.disturbed { self.instead() } else { None };
        let offer = instead.or(own).filter(|_| moves);
        self.offered = offer.is_some() && !ready;
        if let Some(flit) = offer.filter(|_| ready) {
            if instead.is_some() {
                self.went_instead(flit);
            }
            self.tx.pass(flit, event);
        }
        Outgoing {
            offer,
            ready: ready && instead.is_none(),
        }
    }

    /// What the card is shown of a word that the network shows.
    #[inline]
    pub fn incoming(&self, flit: Option<Flit>) -> Option<Flit> {
        flit.filter(|_| !self.disturbed || (!self.held || self.shown) && !self.cut_off)
    }

    /// Whether the network's word is taken by a card that shows this ready, and was shown `flit`.
    #[inline]
    pub fn takes(&mut self, ready: bool, flit: Option<Flit>) -> bool {
        let takes = ready && (!self.disturbed || !(self.held || self.cut_off) || flit.is_some());
        self.shown = flit.is_some() && !takes;
        takes
    }

    #[inline]
    pub fn came(&mut self, flit: Flit, event: impl FnMut(EventKind)) {
        self.rx.pass(flit, event);
    }

    /// Notes when nothing comes between card and network any more.
    pub fn settle(&mut self) {
        let is_free = self.cut.is_empty() && self.forged.is_empty() && !self.forging;
        self.disturbed = self.held || self.cut_off || !is_free;
    }

    /// What goes to the network in place of what the card shows.
    fn instead(&mut self) -> Option<Flit> {
        self.forging |= !self.offered && !self.tx.under_way() && !self.forged.is_empty();
        let forged = self.forged.front().filter(|_| self.forging);
        self.cut.front().or(forged).copied()
    }

    /// The network took this word in place of one of the card.
    fn went_instead(&mut self, flit: Flit) {
        if self.cut.pop_front().is_none() {
            self.forged.pop_front();
            self.forging = !flit.last;
        }
    }
}
