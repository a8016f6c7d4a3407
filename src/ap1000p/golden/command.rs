//! Golden model of the host's window: words stored to pages become commands.

use super::{Queue, Word};
use crate::ap1000p::golden::page::{Owner, Page};
use crate::ap1000p::regs::*;

/// Reasons for refusing a store or a command; the hardware's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refused {
    Page = REFUSED_PAGE as u8,
    Change = REFUSED_CHANGE as u8,
    Cell = REFUSED_CELL as u8,
    Length = REFUSED_LENGTH as u8,
}

/// The operating system's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// 12 bits.
    pub context: u16,
    /// Cells along X and Y, 1 to 128.
    pub size: [u8; 2],
    /// The cells a user may send to, as distances along X and Y.
    pub low: [i8; 2],
    pub high: [i8; 2],
}

impl Setup {
    fn in_torus(&self, axis: usize, distance: i8) -> bool {
        i16::from(distance).abs() < i16::from(self.size[axis])
    }

    /// A cell has two distances along an axis, one for each direction around the torus.
    fn in_range(&self, axis: usize, distance: i8) -> bool {
        let size = i16::from(self.size[axis]);
        let range = i16::from(self.low[axis])..=i16::from(self.high[axis]);
        [-size, 0, size]
            .iter()
            .any(|turn| range.contains(&(i16::from(distance) + turn)))
    }

    fn whole(&self, axis: usize) -> bool {
        i16::from(self.high[axis]) - i16::from(self.low[axis]) + 1 >= i16::from(self.size[axis])
    }

    /// Whether a command may go to this cell.
    pub fn allows(&self, owner: Owner, head: u32, broadcast: [bool; 2]) -> bool {
        let distance = [
            (head >> COMMAND_HEAD_DX_SHIFT) as i8,
            (head >> COMMAND_HEAD_DY_SHIFT) as i8,
        ];
        let rest = head & COMMAND_HEAD_KIND_MASK;
        rest == 0
            && (0..2).all(|axis| {
                self.in_torus(axis, distance[axis])
                    && (owner == Owner::System
                        || self.in_range(axis, distance[axis]) && (!broadcast[axis] || self.whole(axis)))
            })
    }
}

#[derive(Clone, Debug, Default)]
struct Open {
    page: u16,
    words: Vec<u32>,
    bad: Option<Refused>,
}

/// The effect of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Words for a queue: a whole command or one direct word.
    pub words: Option<(Queue, Vec<Word>)>,
    /// At most one refusal, with its page.
    pub refused: Option<(Refused, u16)>,
}

/// Golden model of the command window: one step per store.
#[derive(Clone, Debug, Default)]
pub struct CommandModel {
    open: [Open; 2],
}

impl CommandModel {
    /// A word is stored to a page.
    pub fn store(&mut self, setup: &Setup, page: u16, data: u32) -> Outcome {
        let mut outcome = Outcome::default();
        match Page::decode(page) {
            None => outcome.refused = Some((Refused::Page, page)),
            Some(Page::Direct { queue, end, .. }) => outcome.words = Some((queue, vec![Word { data, end }])),
            Some(Page::Command { owner, broadcast }) => {
                let open = &mut self.open[owner as usize];
                if !open.words.is_empty() && open.page != page {
                    outcome.refused = Some((Refused::Change, open.page));
                    *open = Open::default();
                }
                let word = match open.words.len() {
                    0 => {
                        open.page = page;
                        open.bad = (!setup.allows(owner, data, broadcast)).then_some(Refused::Cell);
                        u32::from(page) << COMMAND_HEAD_KIND_SHIFT | data & !COMMAND_HEAD_KIND_MASK
                    }
                    1 => {
                        if data > COMMAND_LENGTH_WORDS_MASK {
                            open.bad = open.bad.or(Some(Refused::Length));
                        }
                        u32::from(setup.context) << COMMAND_LENGTH_CONTEXT_SHIFT | data & COMMAND_LENGTH_WORDS_MASK
                    }
                    _ => data,
                };
                open.words.push(word);
                if open.words.len() == COMMAND_WORDS as usize {
                    let Open { page, words, bad } = std::mem::take(open);
                    match bad {
                        Some(why) => outcome.refused = Some((why, page)),
                        None => outcome.words = Some((owner.queue(), message(&words))),
                    }
                }
            }
        }
        outcome
    }

    /// The words of the open command as the hardware keeps them, and its page.
    pub fn open(&self, owner: Owner) -> (u16, &[u32]) {
        let open = &self.open[owner as usize];
        (open.page, &open.words)
    }

    /// Forgets the open command.
    pub fn drop(&mut self, owner: Owner) {
        self.open[owner as usize] = Open::default();
    }
}

/// These words as one message.
pub fn message(words: &[u32]) -> Vec<Word> {
    let last = words.len().saturating_sub(1);
    let word = |(i, &data): (usize, &u32)| Word { data, end: i == last };
    words.iter().enumerate().map(word).collect()
}
