//! Golden model of `dimmnet1_answers`: answer queue.

use std::collections::VecDeque;

use crate::dimmnet1::regs::{HDR_W0_TYPE_MASK, TYPE_PULL};

/// The packets that wait, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    packets: VecDeque<Vec<u64>>,
}

fn is_pull(packet: &[u64]) -> bool {
    packet[0] & HDR_W0_TYPE_MASK == u64::from(TYPE_PULL)
}

impl Answers {
    pub fn put(&mut self, packet: Vec<u64>) {
        self.packets.push_back(packet);
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The next packet for the network: the first, or the one behind a PULL that waits.
    pub fn next(&self) -> Option<&[u64]> {
        let place = usize::from(self.next_pull().is_some());
        let packet = self.packets.get(place)?;
        (!is_pull(packet)).then_some(packet)
    }

    /// It has left.
    pub fn take(&mut self) -> Option<Vec<u64>> {
        self.next()?;
        let place = usize::from(self.next_pull().is_some());
        self.packets.remove(place)
    }

    /// The PULL that is next for the RDMA engine: its four words.
    pub fn next_pull(&self) -> Option<[u64; 4]> {
        let packet = self.packets.front().filter(|packet| is_pull(packet))?;
        Some([0, 1, 2, 3].map(|word| packet.get(word).copied().unwrap_or(0)))
    }

    /// The RDMA engine has it.
    pub fn take_pull(&mut self) -> Option<[u64; 4]> {
        let pull = self.next_pull()?;
        self.packets.pop_front();
        Some(pull)
    }
}
