//! Packets: two words of 39 bits.

use std::fmt::{self, Display, Formatter};

use crate::emx::regs::{
    GLOBAL_PE_SHIFT, PKT_W0_ADDR_MASK, PKT_W0_LEVEL_SHIFT, PKT_W0_MATCH_SHIFT, PKT_W0_PE_MASK, PKT_W0_PE_SHIFT,
    PKT_W0_SIDE_SHIFT, PKT_W0_TYPE_MASK, PKT_W0_TYPE_SHIFT, PKT_W1_DATA_MASK, PKT_W1_TAG_MASK, PKT_W1_TAG_SHIFT,
    SIZE_FRAME, TYPE_READ, TYPE_THREAD, TYPE_USER7,
};

/// Where the bits above the global address begin in word 0: TYPE, SIDE, MATCH and LEVEL.
const KIND_SHIFT: u32 = PKT_W0_TYPE_SHIFT;

/// Bits of ADDR.
pub const ADDR_MASK: u32 = PKT_W0_ADDR_MASK as u32;

/// A word of some PE's memory, as threads compute with it.
pub fn global(pe: u32, addr: u32) -> u32 {
    pe << GLOBAL_PE_SHIFT | addr & ADDR_MASK
}

/// The bits above the global address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(pub u8);

impl Kind {
    /// Type THREAD of level 0, one operand.
    pub const THREAD: Kind = Kind(TYPE_THREAD as u8);

    /// A type of [`regs`](super::regs), of level 0.
    pub fn of(kind: u32) -> Kind {
        Kind(kind as u8)
    }

    /// A thread of two operands; this is the right one or the left one.
    pub fn matching(right: bool) -> Kind {
        Kind(1 << (PKT_W0_MATCH_SHIFT - KIND_SHIFT) | u8::from(right) << (PKT_W0_SIDE_SHIFT - KIND_SHIFT))
    }

    /// The same on level 1.
    pub fn urgent(self) -> Kind {
        Kind(self.0 | 1 << (PKT_W0_LEVEL_SHIFT - KIND_SHIFT))
    }

    /// The code of its type.
    pub fn kind(self) -> u32 {
        u32::from(self.0) & (PKT_W0_TYPE_MASK >> KIND_SHIFT) as u32
    }

    /// Its priority, 0 or 1.
    pub fn level(self) -> usize {
        usize::from(self.0 >> (PKT_W0_LEVEL_SHIFT - KIND_SHIFT) & 1)
    }

    /// Does its thread need two operands?
    pub fn is_matching(self) -> bool {
        self.0 >> (PKT_W0_MATCH_SHIFT - KIND_SHIFT) & 1 != 0
    }

    /// Of two operands, is it the right one?
    pub fn is_right(self) -> bool {
        self.0 >> (PKT_W0_SIDE_SHIFT - KIND_SHIFT) & 1 != 0
    }
}

/// A packet, as threads and the input buffer know it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packet {
    pub kind: Kind,
    /// Receiver; in the network the path that is left.
    pub pe: u16,
    pub addr: u32,
    pub tag: u8,
    pub data: u32,
}

impl Packet {
    /// To a global address.
    pub fn to(kind: Kind, global: u32, data: u32) -> Packet {
        Packet {
            kind,
            pe: (global >> GLOBAL_PE_SHIFT) as u16,
            addr: global & ADDR_MASK,
            tag: 0,
            data,
        }
    }

    /// Both words of 39 bits, as on a link.
    pub fn words(&self) -> [u64; 2] {
        let w0 = u64::from(self.kind.0) << KIND_SHIFT | u64::from(global(self.pe.into(), self.addr));
        [w0, u64::from(self.tag) << PKT_W1_TAG_SHIFT | u64::from(self.data)]
    }

    /// From both words; further bits do not count.
    pub fn of(words: [u64; 2]) -> Packet {
        let [w0, w1] = words;
        Packet {
            kind: Kind((w0 >> KIND_SHIFT) as u8 & 0x7f),
            pe: ((w0 & PKT_W0_PE_MASK) >> PKT_W0_PE_SHIFT) as u16,
            addr: (w0 & PKT_W0_ADDR_MASK) as u32,
            tag: ((w1 & PKT_W1_TAG_MASK) >> PKT_W1_TAG_SHIFT) as u8,
            data: (w1 & PKT_W1_DATA_MASK) as u32,
        }
    }

    /// First word of its frame.
    pub fn frame(&self) -> u32 {
        self.addr & !(SIZE_FRAME - 1)
    }

    /// Its word within the frame.
    pub fn offset(&self) -> u32 {
        self.addr & (SIZE_FRAME - 1)
    }

    /// Has it a form that no receiver may accept?
    pub fn is_malformed(&self) -> bool {
        let thread = self.kind.kind() == TYPE_THREAD;
        let matching = self.kind.is_matching() && (!thread || self.offset() == 0);
        let side = self.kind.is_right() && !self.kind.is_matching();
        let tag = self.tag != 0 && self.kind.kind() != TYPE_READ;
        self.kind.kind() > TYPE_USER7 || matching || side || tag
    }

    /// The answer to a READ that found `data`: its first word is the READ's second one.
    pub fn answer(&self, data: u32) -> Packet {
        Packet::of([self.words()[1], u64::from(data)])
    }
}

impl Display for Packet {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let [w0, w1] = self.words();
        write!(f, "{w0:010x} {w1:010x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_all_of_it() {
        let mut state = 1u64;
        for _ in 0..1000 {
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 25
            };
            let words = [draw(), draw()];
            assert_eq!(Packet::of(words).words(), words);
        }
    }

    #[test]
    fn a_read_brings_the_first_word_of_its_answer() {
        let back = Kind::matching(true).urgent();
        let read = Packet {
            tag: back.0,
            ..Packet::to(Kind::of(TYPE_READ), global(3, 0x1234), global(7, 0x45))
        };
        assert!(!read.is_malformed());
        assert_eq!(read.answer(99), Packet::to(back, global(7, 0x45), 99));
        assert_eq!((read.frame(), read.offset()), (0x1200, 0x34));
    }

    #[test]
    fn malformed_packets() {
        let to = |kind, addr| Packet::to(kind, addr, 0);
        assert!(to(Kind::of(8), 0x41).is_malformed());
        assert!(to(Kind(Kind::matching(false).0 | 1), 0x41).is_malformed());
        assert!(to(Kind::matching(false), 0x40).is_malformed());
        assert!(to(Kind(0x10), 0x41).is_malformed());
        assert!(
            Packet {
                tag: 1,
                ..to(Kind::THREAD, 0x41)
            }
            .is_malformed()
        );
        assert!(!to(Kind::matching(true), 0x41).is_malformed());
    }
}
