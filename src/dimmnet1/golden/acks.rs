//! Golden model of `dimmnet1_acks`: slots and credits.

use crate::dimmnet1::regs::{SIZE_CREDITS, SIZE_SLOTS};

/// An answer that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub tag: u16,
    pub src: u16,
    /// Reason of a negative answer.
    pub nack: Option<u8>,
    pub seq: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    open: u32,
    dst: u16,
    generation: u16,
    nacks: u16,
    reason: u8,
    seq: u32,
}

/// All slots.
#[derive(Clone, Debug, Default)]
pub struct Acks {
    slots: [Slot; SIZE_SLOTS as usize],
}

impl Acks {
    /// Packets that await an answer.
    pub fn open(&self) -> u32 {
        self.slots.iter().map(|slot| slot.open).sum()
    }

    /// Whether a packet of the slot may go to this node now.
    pub fn may_take(&self, slot: u8, dst: u16) -> bool {
        let Slot { open, dst: now, .. } = self.slots[usize::from(slot)];
        self.open() < SIZE_CREDITS && (open == 0 || now == dst)
    }

    /// A packet of the slot begins; its generation.
    ///
    /// # Panics
    /// It may not.
    pub fn take(&mut self, slot: u8, dst: u16) -> u16 {
        assert!(self.may_take(slot, dst), "slot {slot} gives no credit for node {dst}");
        let slot = &mut self.slots[usize::from(slot)];
        slot.open += 1;
        slot.dst = dst;
        slot.generation
    }

    /// Whether the answer counts; else it is a stray.
    pub fn answer(&mut self, answer: &Answer) -> bool {
        let slot = &mut self.slots[usize::from(answer.tag & 0xf)];
        if slot.open == 0 || answer.tag >> 4 != slot.generation || answer.src != slot.dst {
            return false;
        }
        slot.open -= 1;
        if let Some(reason) = answer.nack {
            if slot.nacks == 0 {
                (slot.reason, slot.seq) = (reason, answer.seq & 0xfff_ffff);
            }
            slot.nacks = slot.nacks.saturating_add(1);
        }
        true
    }

    /// The host clears the slot.
    pub fn clear(&mut self, slot: u8) {
        let slot = &mut self.slots[usize::from(slot)];
        let generation = (slot.generation + 1) & 0xfff;
        *slot = Slot {
            generation,
            ..Slot::default()
        };
    }

    /// The generation of the slot's packets.
    pub fn generation(&self, slot: u8) -> u16 {
        self.slots[usize::from(slot)].generation
    }

    /// The slot's register.
    pub fn value(&self, slot: u8) -> u64 {
        let slot = &self.slots[usize::from(slot)];
        let low = u64::from(slot.open) | u64::from(slot.nacks) << 16;
        low | u64::from(slot.reason) << 32 | u64::from(slot.seq) << 36
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_answers_are_strays() {
        let mut acks = Acks::default();
        let ack = |tag, src| Answer {
            tag,
            src,
            nack: None,
            seq: 0,
        };
        assert_eq!(acks.take(3, 9), 0);
        acks.clear(3);
        assert!(!acks.answer(&ack(3, 9)));
        assert_eq!(acks.take(3, 9), 1);
        assert!(!acks.may_take(3, 8));
        assert!(!acks.answer(&ack(0x13, 8)));
        assert!(acks.answer(&ack(0x13, 9)));
        assert!(!acks.answer(&ack(0x13, 9)));
        assert_eq!(acks.value(3), 0);
    }

    #[test]
    fn the_first_negative_answer_is_kept() {
        let mut acks = Acks::default();
        for seq in [7, 8] {
            acks.take(0, 1);
            let nack = Some(seq as u8);
            assert!(acks.answer(&Answer {
                tag: 0,
                src: 1,
                nack,
                seq
            }));
        }
        assert_eq!(acks.value(0), 7 << 36 | 7 << 32 | 2 << 16);
    }
}
