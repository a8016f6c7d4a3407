//! Golden model of `dimmnet1_llcm`: low-latency common memory.
//!
//! One step per cycle for host and processor, whose accesses happen in the cycle in which they are taken, and one per
//! access for the others.

use crate::dimmnet1::regs as r;

/// Words of the memory.
pub const WORDS: usize = r::SIZE_LLCM as usize / 8;

/// An access to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub word: usize,
    /// Data and byte strobes of a write.
    pub write: Option<(u64, u8)>,
}

/// The memory.
#[derive(Clone, Debug)]
pub struct Llcm {
    words: Vec<u64>,
}

impl Default for Llcm {
    fn default() -> Llcm {
        Llcm { words: vec![0; WORDS] }
    }
}

impl Llcm {
    /// What is at a word; `None` beyond the memory.
    pub fn word(&self, word: usize) -> Option<u64> {
        self.words.get(word).copied()
    }

    /// Writes the bytes with a strobe. `false`: the word is beyond the memory.
    pub fn write(&mut self, word: usize, data: u64, strobes: u8) -> bool {
        let mask = (0..8).fold(0, |mask, byte| {
            mask | (u64::from(strobes >> byte & 1) * 0xff) << (8 * byte)
        });
        let Some(old) = self.words.get_mut(word) else {
            return false;
        };
        *old = *old & !mask | data & mask;
        true
    }

    /// A cycle of host and processor: each read sees the other's write, and the processor's bytes stay.
    pub fn cycle(&mut self, host: Option<Access>, processor: Option<Access>) -> [Option<u64>; 2] {
        for access in [host, processor].into_iter().flatten() {
            if let Some((data, strobes)) = access.write {
                assert!(
                    self.write(access.word, data, strobes),
                    "both have addresses of the memory only"
                );
            }
        }
        [host, processor].map(|access| {
            access
                .filter(|access| access.write.is_none())
                .and_then(|a| self.word(a.word))
        })
    }
}
