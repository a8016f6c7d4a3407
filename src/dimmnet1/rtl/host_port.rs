//! The host's port of a card: stores are posted, loads wait.

use std::collections::VecDeque;

use crate::dimmnet1::window::CardAccess;
use crate::harness::backend::HostRsp;
use crate::harness::event::EventKind;

/// One access of the program at a time, and the responses of stores that are still under way. A store is done for the
/// program when the card has accepted it, so stores follow each other at one an edge. The card counts the stores that
/// it refuses (HOST_ERRORS).
#[derive(Debug, Default)]
pub struct HostPort {
    asking: Option<CardAccess>,
    /// Accepted accesses without a response; the load among them is the last.
    accepted: VecDeque<CardAccess>,
    answer: Option<HostRsp>,
}

/// What the card drives before an edge.
#[derive(Clone, Copy, Debug, Default)]
pub struct CardPorts {
    pub ready: bool,
    /// The response, if there is one.
    pub response: Option<HostRsp>,
}

impl HostPort {
    /// The program's access begins, or the bus refuses it at once.
    pub fn begin(&mut self, access: Option<CardAccess>) {
        match access {
            Some(access) => self.asking = Some(access),
            None => self.refuse(),
        }
    }

    /// The program's access ends with an error.
    fn refuse(&mut self) {
        self.answer = Some(HostRsp { value: 0, error: true });
    }

    /// The card is reset: no response comes any more.
    pub fn reset(&mut self) {
        let waits = self.asking.take().is_some() || self.accepted.iter().any(|access| access.store.is_none());
        if waits {
            self.refuse();
        }
        self.accepted.clear();
    }

    pub fn take(&mut self) -> Option<HostRsp> {
        self.answer.take()
    }

    /// What the host offers the card.
    pub fn offer(&self) -> Option<CardAccess> {
        self.asking
    }

    pub fn stirs(&self) -> bool {
        self.asking.is_some() || !self.accepted.is_empty()
    }

    /// An edge, with what the card drove before it. `event` is told of a command that the card accepted.
    pub fn edge(&mut self, from: CardPorts, event: impl FnOnce(EventKind)) {
        if let Some(response) = from.response {
            let access = self.accepted.pop_front().expect("a response belongs to an access");
            if access.store.is_none() {
                let value = access.value(response.value);
                self.answer = Some(HostRsp { value, ..response });
            }
        }
        if !from.ready {
            return;
        }
        let Some(access) = self.asking.take() else { return };
        self.accepted.push_back(access);
        if let Some(value) = access.store {
            self.answer = Some(HostRsp { value: 0, error: false });
            if access.is_command() {
                event(EventKind::RegWrite {
                    offset: access.offset + access.strobes.trailing_zeros(),
                    value: access.value(value) as u32,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::backend::HostReq;

    fn card(ready: bool, response: Option<u64>) -> CardPorts {
        let response = response.map(|value| HostRsp { value, error: false });
        CardPorts { ready, response }
    }

    #[test]
    fn a_store_is_done_when_accepted_and_a_load_when_answered() {
        let (mut port, mut events) = (HostPort::default(), 0);
        let mut edge = |port: &mut HostPort, from| port.edge(from, |_| events += 1);
        for _ in 0..2 {
            port.begin(CardAccess::of(HostReq::write(0x1000, 1)));
            edge(&mut port, card(false, None));
            assert_eq!(port.take(), None);
            edge(&mut port, card(true, None));
            assert!(port.take().is_some() && port.stirs());
        }
        port.begin(CardAccess::of(HostReq::read(0x1010)));
        edge(&mut port, card(true, Some(0)));
        edge(&mut port, card(true, Some(0)));
        assert!(port.take().is_none() && port.stirs());
        edge(&mut port, card(true, Some(7)));
        assert_eq!(port.take().map(|rsp| rsp.value), Some(7));
        assert!(!port.stirs());
        assert_eq!(events, 2);
    }

    #[test]
    fn in_reset_an_access_fails() {
        let mut port = HostPort::default();
        port.begin(CardAccess::of(HostReq::read(0x1010)));
        port.edge(card(true, None), |_| {});
        port.reset();
        assert!(port.take().is_some_and(|rsp| rsp.error) && !port.stirs());
        port.begin(CardAccess::of(HostReq::read(1 << 24)));
        assert!(port.take().is_some_and(|rsp| rsp.error));
    }
}
