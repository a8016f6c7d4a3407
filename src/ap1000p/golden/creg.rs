//! Communication registers: words with a present bit.

use std::ops::Range;

/// Words of the machine.
pub const WORDS: usize = 128;

/// A read, or a write of this word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Below [`WORDS`].
    pub addr: u8,
    pub write: Option<u32>,
}

/// The registers of a transfer of this many words, from address 4 x a register's number on; `None` if some of them are
/// no registers.
pub fn range(addr: u32, words: u32) -> Option<Range<u8>> {
    let first = addr / 4;
    let end = first.checked_add(words).filter(|&end| end <= WORDS as u32)?;
    addr.is_multiple_of(4).then_some(first as u8..end as u8)
}

/// A write to a full word, or a read of an empty one: it waits, or is an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cregs {
    words: [Option<u32>; WORDS],
}

impl Default for Cregs {
    fn default() -> Cregs {
        Cregs { words: [None; WORDS] }
    }
}

impl Cregs {
    /// Performs an access; returns the word of a read.
    ///
    /// # Errors
    /// A conflict; nothing has changed.
    pub fn access(&mut self, access: Access) -> Result<Option<u32>, Conflict> {
        let word = &mut self.words[usize::from(access.addr)];
        match access.write {
            Some(_) if word.is_some() => Err(Conflict),
            Some(data) => {
                *word = Some(data);
                Ok(None)
            }
            None => word.take().map(Some).ok_or(Conflict),
        }
    }

    /// The present bits.
    pub fn present(&self) -> [bool; WORDS] {
        self.words.map(|word| word.is_some())
    }
}
