//! Answer queue: descriptors of answers, word by word, and how many more find room.

use std::collections::VecDeque;

/// A word of a descriptor: index and content.
pub type Word = (u32, u32);

/// The word of a descriptor that comes last.
const F0: u32 = 0;
/// Words of an answer, and one to spare.
pub const ANSWER_WORDS: usize = 8;

/// The queue.
#[derive(Clone, Debug)]
pub struct Answers {
    words: VecDeque<Word>,
    depth: usize,
}

/// A word found no room: who asks has not looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Answers {
    /// For so many answers.
    pub fn new(answers: usize) -> Answers {
        Answers {
            words: VecDeque::new(),
            depth: ANSWER_WORDS * answers,
        }
    }

    /// Another answer finds room.
    pub fn has_room(&self) -> bool {
        self.words.len() + ANSWER_WORDS < self.depth
    }

    /// # Errors
    /// There is no room.
    pub fn ask(&mut self, word: Word) -> Result<(), Full> {
        if self.words.len() == self.depth {
            return Err(Full);
        }
        self.words.push_back(word);
        Ok(())
    }

    pub fn take(&mut self) -> Option<Word> {
        self.words.pop_front()
    }

    /// Words inside.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Answers that wait with all their words, or with the last of them.
    pub fn waiting(&self) -> usize {
        self.words.iter().filter(|(index, _)| *index == F0).count()
    }
}
