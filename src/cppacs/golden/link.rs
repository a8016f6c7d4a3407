//! Both ends of a link: words in order by channel, and credits.

use std::collections::VecDeque;

/// A word, and whether it is a worm's last.
pub type Word = (u32, bool);

/// What a link may not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("channel {channel} sends {got:x?}, not {want:x?}")]
    Order {
        channel: usize,
        want: Option<Word>,
        got: Word,
    },
    #[error("channel {0} sends without a credit")]
    NoCredit(usize),
    #[error("channel {0} returns a credit for no word")]
    Return(usize),
}

/// One direction.
#[derive(Clone, Debug)]
pub struct Link {
    words: [VecDeque<Word>; 2],
    credits: [usize; 2],
    /// Words that left the receiver's buffer without their credits.
    owed: [usize; 2],
}

impl Link {
    /// After reset: the words that the receiver takes, by channel.
    pub fn new(credits: [usize; 2]) -> Link {
        Link {
            words: Default::default(),
            credits,
            owed: [0; 2],
        }
    }

    /// The sender has a word.
    pub fn put(&mut self, channel: usize, word: Word) {
        self.words[channel].push_back(word);
    }

    /// A word is sent, or leaves the receiver: the next of its channel.
    ///
    /// # Errors
    /// Another one is due, or there is no credit.
    pub fn sent(&mut self, channel: usize, word: Word) -> Result<(), LinkError> {
        let want = self.words[channel].pop_front();
        if want != Some(word) {
            return Err(LinkError::Order {
                channel,
                want,
                got: word,
            });
        }
        self.credits[channel] = self.credits[channel]
            .checked_sub(1)
            .ok_or(LinkError::NoCredit(channel))?;
        self.owed[channel] += 1;
        Ok(())
    }

    /// A credit comes back.
    ///
    /// # Errors
    /// There is no word that it could be for.
    pub fn returned(&mut self, channel: usize) -> Result<(), LinkError> {
        self.owed[channel] = self.owed[channel].checked_sub(1).ok_or(LinkError::Return(channel))?;
        self.credits[channel] += 1;
        Ok(())
    }

    pub fn credits(&self, channel: usize) -> usize {
        self.credits[channel]
    }

    /// No word waits, and no credit is owed.
    pub fn is_done(&self) -> bool {
        self.words.iter().all(VecDeque::is_empty) && self.owed == [0; 2]
    }
}
