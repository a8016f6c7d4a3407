//! Golden model of `emx_matching`: a packet becomes the start of a thread, waits in memory for its partner, or is
//! refused.

use super::memory::Memory;
use crate::emx::packet::Packet;
use crate::emx::regs::{
    GLOBAL_PE_SHIFT, LINK_CODE_MASK, MEM_DATA_MASK, MEM_TAG_MASK, MEM_TAG_SHIFT, REASON_OVERRUN, SIZE_ENTRY,
    TYPE_THREAD,
};

/// How a thread begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Beyond memory if the link is none.
    pub pc: u32,
    pub r1: u32,
    pub r2: u32,
    pub frame: u32,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Start(Start),
    /// It waits in its slot.
    Waits,
    /// Code of Reasons.
    Refused(u32),
}

/// Is the packet the second operand of the other side?
pub fn meets(packet: &Packet, memory: &Memory) -> bool {
    let side = u64::from(packet.kind.is_right());
    packet.kind.is_matching()
        && memory.is_present(packet.addr)
        && (memory.word(packet.addr) & MEM_TAG_MASK) >> MEM_TAG_SHIFT != side
}

/// The packet is taken; it is well formed, and its address is the PE's own.
pub fn take(packet: &Packet, memory: &mut Memory) -> Outcome {
    let Packet { addr, data, .. } = *packet;
    let kind = packet.kind.kind();
    if kind != TYPE_THREAD {
        // The system frame's thread of this type, which sees the tag, too.
        let tagged = u32::from(packet.tag) << GLOBAL_PE_SHIFT | addr;
        return Outcome::Start(start(memory, 0, kind, data, tagged));
    }
    let (frame, offset) = (packet.frame(), packet.offset());
    if !packet.kind.is_matching() {
        return Outcome::Start(start(memory, frame, offset, data, addr));
    }
    let side = u64::from(packet.kind.is_right()) << MEM_TAG_SHIFT;
    if !memory.is_present(addr) {
        memory.write(addr, side | u64::from(data));
        memory.set_present(addr, true);
        return Outcome::Waits;
    }
    let word = memory.word(addr);
    let partner = (word & MEM_DATA_MASK) as u32;
    if word == side | u64::from(partner) {
        return Outcome::Refused(REASON_OVERRUN);
    }
    memory.set_present(addr, false);
    let (left, right) = if side == 0 { (data, partner) } else { (partner, data) };
    Outcome::Start(start(memory, frame, offset, left, right))
}

fn start(memory: &Memory, frame: u32, offset: u32, r1: u32, r2: u32) -> Start {
    let link = memory.data(frame);
    let is_link = link & !LINK_CODE_MASK == 0;
    let pc = if is_link { link + SIZE_ENTRY * offset } else { u32::MAX };
    Start { pc, r1, r2, frame }
}

#[cfg(test)]
mod tests {
    use super::super::memory::Map;
    use super::*;
    use crate::emx::packet::{Kind, global};
    use crate::emx::params::Config;

    fn memory() -> Memory {
        let mut memory = Memory::new(Map::of(&Config::paper()));
        memory.write(0, 0x1000);
        memory.write(0x40, 0x1100);
        memory
    }

    #[test]
    fn offset_selects_the_entry() {
        let packet = |kind, addr| Packet::to(kind, global(0, addr), 7);
        let expected = |pc, r2, frame| Outcome::Start(Start { pc, r1: 7, r2, frame });
        let mut memory = memory();
        assert_eq!(
            take(&packet(Kind::THREAD, 0x43), &mut memory),
            expected(0x110c, 0x43, 0x40)
        );
        assert_eq!(
            take(&packet(Kind::of(1), 0x6000), &mut memory),
            expected(0x1004, 0x6000, 0)
        );
    }

    #[test]
    fn partners_meet_in_either_order() {
        for right_first in [false, true] {
            let mut memory = memory();
            let half = |right| Packet::to(Kind::matching(right), 0x45, 10 + u32::from(right));
            assert_eq!(take(&half(right_first), &mut memory), Outcome::Waits);
            let overrun = Outcome::Refused(REASON_OVERRUN);
            assert_eq!(take(&half(right_first), &mut memory), overrun);
            assert!(memory.is_present(0x45), "the first one is unharmed");
            let both = Start {
                pc: 0x1114,
                r1: 10,
                r2: 11,
                frame: 0x40,
            };
            assert_eq!(take(&half(!right_first), &mut memory), Outcome::Start(both));
            assert!(!memory.is_present(0x45));
        }
    }

    #[test]
    fn a_frame_without_a_link_starts_nowhere() {
        let mut memory = memory();
        memory.write(0x80, 1 << 22);
        let Outcome::Start(start) = take(&Packet::to(Kind::THREAD, 0x81, 0), &mut memory) else {
            panic!("the start is given all the same")
        };
        assert_eq!(start.pc, u32::MAX);
    }
}
