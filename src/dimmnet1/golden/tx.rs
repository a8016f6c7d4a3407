//! Golden model of `dimmnet1_tx`: transmit arbiter.

use crate::dimmnet1::regs::{
    HDR_W0_DST_MASK, HDR_W0_DST_SHIFT, HDR_W0_F_SEQ_MASK, HDR_W0_MULTICAST_MASK, HDR_W0_RESEND_MASK, HDR_W0_SRC_MASK,
    HDR_W0_SRC_SHIFT, HDR_W1_SEQ_MASK, HDR_W1_SEQ_SHIFT,
};

/// Nodes with numbers of their own.
const NODES: usize = 64;

/// What the arbiter puts into packets.
#[derive(Clone, Debug)]
pub struct Tx {
    node: u16,
    numbers: [u32; NODES],
}

impl Tx {
    pub fn new(node: u16) -> Tx {
        Tx {
            node,
            numbers: [0; NODES],
        }
    }

    /// The packet as it leaves.
    pub fn stamp(&mut self, packet: &[u64]) -> Vec<u64> {
        let mut packet = packet.to_vec();
        let head = packet[0];
        packet[0] = head & !HDR_W0_SRC_MASK | u64::from(self.node) << HDR_W0_SRC_SHIFT;
        if head & HDR_W0_F_SEQ_MASK != 0 && head & HDR_W0_RESEND_MASK == 0 {
            let dst = ((head & HDR_W0_DST_MASK) >> HDR_W0_DST_SHIFT) as usize;
            let own = head & HDR_W0_MULTICAST_MASK == 0;
            let number = self.numbers.get_mut(dst).filter(|_| own);
            let seq = number.map_or(0, |number| {
                let seq = *number;
                *number = seq.wrapping_add(1);
                seq
            });
            packet[1] = packet[1] & !HDR_W1_SEQ_MASK | u64::from(seq) << HDR_W1_SEQ_SHIFT;
        }
        packet
    }
}
