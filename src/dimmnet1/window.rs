//! What a host reaches of its card.

use crate::dimmnet1::regs::{AOTF, LLCM, SIZE_LLCM, SIZE_PAGE, SIZE_SRAM, SIZE_TLB, SRAM, WINDOW0};
use crate::harness::backend::HostReq;

/// Bytes that the host port decodes.
const BYTES: u64 = 1 << 24;

/// A host's access at the card: adjacent bytes within one aligned word of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardAccess {
    /// Offset of the word.
    pub offset: u32,
    /// A bit for each byte that is accessed.
    pub strobes: u8,
    /// The word to be stored, its bytes in their lanes; `None`: a load.
    pub store: Option<u64>,
}

impl CardAccess {
    /// `None` where the bus refuses it: outside the card, or across a word.
    pub fn of(req: HostReq) -> Option<CardAccess> {
        let lane = req.addr % 8;
        let in_word = lane + u64::from(req.bytes) <= 8 && req.bytes > 0;
        (in_word && req.addr < BYTES).then(|| CardAccess {
            offset: (req.addr - lane) as u32,
            strobes: (0xff >> (8 - req.bytes)) << lane,
            store: req.write.map(|value| value << (8 * lane)),
        })
    }

    /// Of a word that the card gave, the bytes that were asked for, in the lowest.
    pub fn value(self, word: u64) -> u64 {
        let lanes = u64::MAX >> (64 - 8 * self.strobes.count_ones());
        word >> (8 * self.strobes.trailing_zeros()) & lanes
    }

    /// Whether the access is of a register or of a page of AOTF, not of a memory.
    pub fn is_command(self) -> bool {
        let within = |base: u32, bytes: u32| (base..base + bytes).contains(&self.offset);
        !(within(WINDOW0, 0x400) || within(SRAM, SIZE_SRAM) || within(LLCM, SIZE_LLCM))
    }
}

/// The page of AOTF with this number, and so many bytes on.
pub fn aotf(page: u32, offset: u32) -> u64 {
    assert!(
        page < SIZE_TLB && offset < SIZE_PAGE,
        "page {page} of AOTF, byte {offset}"
    );
    (AOTF + page * SIZE_PAGE + offset).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_lies_within_a_word() {
        let req = |addr, bytes, write| HostReq { addr, bytes, write };
        let at = CardAccess::of(req(0x1_0006, 2, Some(0xabcd))).unwrap();
        assert_eq!((at.offset, at.strobes, at.store), (0x1_0000, 0xc0, Some(0xabcd << 48)));
        assert_eq!(at.value(0x1234_0000_0000_0000), 0x1234);
        let whole = CardAccess::of(req(8, 8, None)).unwrap();
        assert_eq!((whole.strobes, whole.value(u64::MAX)), (0xff, u64::MAX));
        for refused in [req(0x1_0006, 4, None), req(1 << 24, 8, None), req(4, 8, None)] {
            assert_eq!(CardAccess::of(refused), None, "{refused}");
        }
    }
}
