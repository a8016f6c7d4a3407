//! Golden model of the BIF: a cell's registers of S-net and B-net, and its words to send and to receive.

use std::collections::VecDeque;

use crate::ap1000p::bif_regs::*;

/// Maximum words of a packet, and capacity of each direction.
pub const WORDS: usize = BIF_WORDS as usize;
/// All groups of the S-net.
pub const GROUPS: u32 = BIF_MEMBER_SYSTEM_MASK | BIF_MEMBER_USER_MASK;

/// A word on the B-net, and whether it ends its packet.
pub type BusWord = (u32, bool);

/// An impossible request: the host receives an error, and nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bif {
    member: u32,
    waiting: u32,
    listens: bool,
    sends: VecDeque<BusWord>,
    received: VecDeque<BusWord>,
    /// Whether the words that arrive belong to a packet that is kept.
    keeps: Option<bool>,
}

impl Bif {
    /// The host reads a register; RECEIVE takes a word.
    ///
    /// # Errors
    /// Unknown register, or nothing to receive.
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

    /// The host writes a register. Returns the groups with barriers at which the cell arrives.
    ///
    /// # Errors
    /// Unknown or read-only register, no room for a word, or a packet that would be too long.
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
                // An incomplete packet must always have room for its last word.
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

    /// Words of the incomplete packet.
    fn open(&self) -> usize {
        self.sends.iter().rev().take_while(|word| !word.1).count()
    }

    /// Groups with barriers that the cell takes part in, one bit each.
    pub fn member(&self) -> u32 {
        self.member
    }

    /// Groups with barriers at which the cell waits.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The barriers of these groups open.
    pub fn release(&mut self, groups: u32) {
        self.waiting &= !groups;
    }

    /// The next word of a complete packet.
    pub fn offered(&self) -> Option<BusWord> {
        self.sends.front().copied().filter(|_| self.open() < self.sends.len())
    }

    /// The offered word goes over the bus.
    pub fn sent(&mut self) {
        self.sends.pop_front().expect("a word was offered");
    }

    /// The bus offers a word; returns whether the cell takes it now. The first word decides whether the cell keeps the
    /// whole packet.
    pub fn offer(&mut self) -> bool {
        let keeps = *self.keeps.get_or_insert(self.listens);
        !keeps || self.received.len() < WORDS
    }

    /// The offered word arrives.
    pub fn hear(&mut self, word: BusWord) {
        if self.keeps == Some(true) {
            self.received.push_back(word);
        }
        if word.1 {
            self.keeps = None;
        }
    }

    /// Words waiting to be received.
    pub fn words(&self) -> usize {
        self.received.len()
    }

    /// Whether the cell would take an offered word.
    pub fn takes(&self) -> bool {
        !self.keeps.unwrap_or(self.listens) || self.received.len() < WORDS
    }
}
