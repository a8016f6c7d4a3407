//! Rights and fields.

use super::entry::{Field, Right};

/// The tables of a node.
#[derive(Clone, Debug)]
pub struct Tables {
    rights: Vec<[u64; 2]>,
    /// STATE, EXTENT and FLAG, and the count.
    fields: Vec<([u64; 3], u32)>,
}

impl Tables {
    /// Nothing is VALID or ENABLED.
    pub fn new(rights: usize, fields: usize) -> Tables {
        Tables {
            rights: vec![[0; 2]; rights],
            fields: vec![([0; 3], 0); fields],
        }
    }

    /// The host writes a word of an entry. True: it is STATE, so a message under way for the field ends.
    ///
    /// # Panics
    /// There is no such entry, or no such word.
    pub fn write(&mut self, right: bool, index: usize, word: usize, value: u64) -> bool {
        if right {
            self.rights[index][word] = value;
            return false;
        }
        let (words, count) = &mut self.fields[index];
        // The fourth word is always 0.
        if let Some(at) = words.get_mut(word) {
            *at = value;
        }
        if word == 0 {
            *count = 0;
        }
        word == 0
    }

    /// What the host reads, of what the layout has.
    ///
    /// # Panics
    /// There is no such entry, or no such word.
    pub fn read(&self, right: bool, index: usize, word: usize) -> u64 {
        if right {
            self.right(index).expect("an entry").words()[word]
        } else {
            let words = self.field(index).expect("an entry").words();
            words.get(word).copied().unwrap_or(0)
        }
    }

    pub fn right(&self, index: usize) -> Option<Right> {
        self.rights.get(index).map(|&words| Right::of(words))
    }

    pub fn field(&self, index: usize) -> Option<Field> {
        self.fields.get(index).map(|&(words, _)| Field::of(words))
    }

    /// Transfers that are complete.
    ///
    /// # Panics
    /// There is no such field.
    pub fn count(&self, index: usize) -> u32 {
        self.fields[index].1
    }

    /// One more is complete.
    ///
    /// # Panics
    /// There is no such field.
    pub fn add(&mut self, index: usize) {
        let count = &mut self.fields[index].1;
        *count = count.wrapping_add(1);
    }

    /// The hardware disables a field.
    ///
    /// # Panics
    /// There is no such field.
    pub fn shut(&mut self, index: usize) {
        self.fields[index].0[0] &= !crate::cppacs::regs::FIELD_STATE_ENABLED_MASK;
    }
}
