//! Order of packets per pair: what one PE sent to another on one level is handled in the order sent.
//!
//! Checks all blocks between `emx_output` and `emx_matching`, the spill to memory included.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use thiserror::Error;

use crate::emx::packet::Packet;

/// Source, destination and level.
pub type Pair = (u32, u32, usize);

/// What no sound network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OrderError {
    #[error("PE {} handled {packet} of PE {}, level {}, which was never sent", .pair.1, .pair.0, .pair.2)]
    Unsent { pair: Pair, packet: Packet },
    #[error("PE {} handled {packet} of PE {}, level {}, before {before}", .pair.1, .pair.0, .pair.2)]
    Overtook { pair: Pair, packet: Packet, before: Packet },
}

/// The packets under way.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    sent: BTreeMap<Pair, VecDeque<Packet>>,
}

impl Sequence {
    /// A PE sent a packet; it names the receiver.
    pub fn sent(&mut self, from: u32, packet: Packet) {
        let pair = (from, packet.pe.into(), packet.kind.level());
        self.sent.entry(pair).or_default().push_back(packet);
    }

    /// A PE handled a packet: it was written, read, or taken to start a thread.
    ///
    /// # Errors
    /// Another was sent before.
    pub fn handled(&mut self, from: u32, packet: Packet) -> Result<(), OrderError> {
        let pair = (from, packet.pe.into(), packet.kind.level());
        let sent = self.sent.get_mut(&pair);
        match sent.and_then(VecDeque::pop_front) {
            None => Err(OrderError::Unsent { pair, packet }),
            Some(before) if before != packet => Err(OrderError::Overtook { pair, packet, before }),
            Some(_) => Ok(()),
        }
    }

    /// Packets that were sent and not handled.
    pub fn under_way(&self) -> usize {
        self.sent.values().map(VecDeque::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emx::packet::{Kind, global};

    #[test]
    fn a_sync_before_its_data_is_found() {
        let write = Packet::to(Kind::of(1), global(3, 0x6000), 7);
        let sync = Packet::to(Kind::THREAD, global(3, 0x41), 0);
        let mut order = Sequence::default();
        order.sent(1, write);
        order.sent(2, sync);
        order.sent(1, sync);
        assert_eq!(order.handled(2, sync), Ok(()), "pairs do not wait for each other");
        assert!(matches!(
            order.clone().handled(1, sync),
            Err(OrderError::Overtook { .. })
        ));
        assert_eq!(order.handled(1, write), Ok(()));
        assert_eq!(order.handled(1, sync), Ok(()));
        assert!(matches!(order.handled(1, sync), Err(OrderError::Unsent { .. })));
        assert_eq!(order.under_way(), 0);
    }
}
