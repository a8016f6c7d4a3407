//! Golden model of the BIF: a cell's registers of S-net and B-net, and what it has to send and to receive.

use std::collections::VecDeque;

use crate::ap1000p::bif_regs::*;

/// Words of a packet at most, and of what is held each way.
pub const WORDS: usize = BIF_WORDS as usize;
/// All groups of the S-net.
pub const GROUPS: u32 = BIF_MEMBER_SYSTEM_MASK | BIF_MEMBER_USER_MASK;

/// A word on the B-net, and whether it ends its packet.
pub type BusWord = (u32, bool);

/// What cannot be done: an error to the host, and nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bif {
    member: u32,
    waiting: u32,
    listens: bool,
    sends: VecDeque<BusWord>,
    received: VecDeque<BusWord>,
    /// Within a packet that comes: it is kept.
    keeps: Option<bool>,
}

impl Bif {
    /// A register, read by the host: RECEIVE takes a word.
    ///
    /// # Errors
    /// No such register, nothing to be received.
    pub fn read(&mut self, offset: u32) -> Result<u32, Refused> {
        Ok(match offset {
            BIF_MEMBER => self.member,
            BIF_MODE => u32::from(self.listens) << BIF_MODE_LISTEN_SHIFT,
            BIF_STATE => {
                let last = self.received.front().is_some_and(|word| word.1);
                self.waiting << BIF_STATE_WAITING_SHIFT
                    | (self.room() as u32) << BIF_STATE_ROOM_SHIFT
                    | (self.received.len() as u32) << BIF_STATE_WORDS_SHIFT
                    | u32::from(last) << BIF_STATE_LAST_SHIFT
            }
            BIF_RECEIVE => self.received.pop_front().ok_or(Refused)?.0,
            BIF_ARRIVE | BIF_SEND | BIF_SEND_LAST => 0,
            _ => return Err(Refused),
        })
    }

    /// A register, written by the host; groups at whose barriers the cell arrives.
    ///
    /// # Errors
    /// No such register, one that cannot be written, no room for a word, a packet that would be too long.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<u32, Refused> {
        let mut arrives = 0;
        match offset {
            BIF_MEMBER => {
                self.member = value & GROUPS;
                self.waiting &= self.member;
            }
            BIF_ARRIVE => {
                arrives = value & self.member & !self.waiting;
                self.waiting |= arrives;
            }
            BIF_MODE => self.listens = value & BIF_MODE_LISTEN_MASK != 0,
            BIF_SEND | BIF_SEND_LAST => {
                let last = offset == BIF_SEND_LAST;
                // A packet that is not complete must always have place for its last word.
                if self.room() == 0 || (!last && self.open() + 1 == WORDS) {
                    return Err(Refused);
                }
                self.sends.push_back((value, last));
            }
            _ => return Err(Refused),
        }
        Ok(arrives)
    }

    fn room(&self) -> usize {
        WORDS - self.sends.len()
    }

    /// Words of the packet that is not complete.
    fn open(&self) -> usize {
        self.sends.iter().rev().take_while(|word| !word.1).count()
    }

    /// Groups whose barriers the cell takes part in, a bit each.
    pub fn member(&self) -> u32 {
        self.member
    }

    /// Groups at whose barriers it waits.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The barriers of these groups open.
    pub fn release(&mut self, groups: u32) {
        self.waiting &= !groups;
    }

    /// The next word of a packet that is complete.
    pub fn offered(&self) -> Option<BusWord> {
        self.sends.front().copied().filter(|_| self.open() < self.sends.len())
    }

    /// It goes over the bus.
    pub fn sent(&mut self) {
        self.sends.pop_front().expect("a word was offered");
    }

    /// The bus offers a word: whether it is taken now. A packet's first word decides that all of it is kept or passes.
    pub fn offer(&mut self) -> bool {
        let keeps = *self.keeps.get_or_insert(self.listens);
        !keeps || self.received.len() < WORDS
    }

    /// What was offered comes.
    pub fn hear(&mut self, word: BusWord) {
        if self.keeps == Some(true) {
            self.received.push_back(word);
        }
        if word.1 {
            self.keeps = None;
        }
    }

    /// Words to be received.
    pub fn words(&self) -> usize {
        self.received.len()
    }

    /// Whether a word would be taken if one were offered.
    pub fn takes(&self) -> bool {
        !self.keeps.unwrap_or(self.listens) || self.received.len() < WORDS
    }
}
