//! Golden model of the five queues: the words that must come out, their order, and the words that may be spilled.

use crate::net::torus::Class;
use std::collections::VecDeque;

use super::{Label, Queue, Word};
use crate::ap1000p::regs::*;

/// Words of each queue.
pub const SIZES: [u32; QUEUES as usize] = [64, 32, 64, 32, 64];

/// Successive messages of a queue with different numbers.
pub const NUMBERS: u32 = (SPILL_TAG_NUMBER_MASK >> SPILL_TAG_NUMBER_SHIFT) + 1;

/// The rules that the model checks. Each failure message begins with the name of its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The words of a queue come out as they went in; none is lost, repeated or overtaken.
    Order,
    /// A message is given whole, at the output of its class.
    Whole,
    /// No message is given before all of it has entered.
    Early,
    /// The next message of a class comes from the queue that has the turn.
    Choice,
    /// A spill element is a word that entered, in the order of all words, in its form and its place.
    Element,
    /// A message that lost a word to the memory is not given.
    Lost,
    /// No reply's element comes behind a request's that is still in the region.
    Behind,
    /// The user's elements fill at most half of the region.
    Share,
}

/// The hardware did something that the model does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule:?}: {what}")]
pub struct Broken {
    pub rule: Rule,
    pub what: String,
}

fn holds(rule: Rule, kept: bool, what: impl FnOnce() -> String) -> Result<(), Broken> {
    if kept {
        Ok(())
    } else {
        Err(Broken { rule, what: what() })
    }
}

/// The settings of the spill region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// In units of 512 KB.
    pub base: u8,
    /// In units of 8 KB, 0 to 64.
    pub limit: u8,
}

impl Region {
    pub fn addr(&self) -> u32 {
        u32::from(self.base) << 19
    }

    pub fn elements(&self) -> u32 {
        u32::from(self.limit) * SPILL_UNIT
    }
}

/// A spill element: a word and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub queue: Queue,
    pub label: Label,
    pub position: u16,
    pub lap: u8,
    pub word: Word,
}

impl Element {
    /// Its two words.
    pub fn encode(&self) -> (u32, u32) {
        let tag = u32::from(self.label.number) << SPILL_TAG_NUMBER_SHIFT
            | u32::from(self.queue.bit()) << SPILL_TAG_QUEUE_SHIFT
            | u32::from(self.lap) << SPILL_TAG_LAP_SHIFT
            | u32::from(self.position) << SPILL_TAG_POSITION_SHIFT
            | u32::from(self.label.index) << SPILL_TAG_INDEX_SHIFT
            | u32::from(self.word.end) << SPILL_TAG_END_SHIFT;
        (tag, self.word.data)
    }

    /// From its two words; `None` if they name no queue or several.
    pub fn decode(tag: u32, data: u32) -> Option<Element> {
        let field = |mask: u32, shift: u32| (tag & mask) >> shift;
        let queue = Queue::from_bit(field(SPILL_TAG_QUEUE_MASK, SPILL_TAG_QUEUE_SHIFT) as u8)?;
        Some(Element {
            queue,
            label: Label {
                number: field(SPILL_TAG_NUMBER_MASK, SPILL_TAG_NUMBER_SHIFT) as u8,
                index: field(SPILL_TAG_INDEX_MASK, SPILL_TAG_INDEX_SHIFT) as u8,
            },
            position: field(SPILL_TAG_POSITION_MASK, SPILL_TAG_POSITION_SHIFT) as u16,
            lap: field(SPILL_TAG_LAP_MASK, SPILL_TAG_LAP_SHIFT) as u8,
            word: Word {
                data,
                end: tag & SPILL_TAG_END_MASK != 0,
            },
        })
    }
}

/// The next queue by priority among those with a message. A queue passed over `age_cap` times goes first.
pub fn turn(has: impl Fn(Queue) -> bool, passed: &[u32; QUEUES as usize], age_cap: u32) -> Option<Queue> {
    let waiting = || Queue::BY_PRIORITY.into_iter().filter(|&queue| has(queue));
    let old = waiting().find(|&queue| passed[queue as usize] >= age_cap);
    old.or_else(|| waiting().next())
}

/// A word inside the queues.
#[derive(Clone, Copy, Debug)]
struct Inside {
    word: Word,
    label: Label,
    /// Its number among all words.
    number: u64,
    /// The cycle in which it came.
    cycle: u64,
    spilled: bool,
    lost: bool,
}

/// The messages given to the send controller of a class.
#[derive(Clone, Copy, Debug, Default)]
struct Output {
    /// The message under way.
    giving: Option<Queue>,
    /// The cycle in which the last word of the last message was first offered.
    end_offered: Option<u64>,
}

/// Golden model of the queues: one step per word in, word out, and element written. Words of direct pages in through
/// mode do not count as words in, because they were reported before.
#[derive(Clone, Debug)]
pub struct QueuesModel {
    region: Region,
    age_cap: u32,
    /// Reported: nothing is spilled and nothing comes back, so the choice is known to the cycle.
    exact: bool,
    /// The words of each queue's last message, which may come back.
    given: [Vec<Inside>; QUEUES as usize],
    inside: [VecDeque<Inside>; QUEUES as usize],
    /// Number of the next word.
    label: [Label; QUEUES as usize],
    words: u64,
    /// Place of the next element, and number of the last spilled word.
    spilled: u64,
    last_spilled: Option<u64>,
    /// The elements written and not read back, each with the number of its word.
    region_holds: VecDeque<(Queue, u64)>,
    /// For each queue: the number of the word of the last element that was read back as written, and the number of
    /// elements of any queue lost since.
    back: [Option<u64>; QUEUES as usize],
    missed: [u32; QUEUES as usize],
    lap: u8,
    next_position: Option<u16>,
    passed: [u32; QUEUES as usize],
    outputs: [Output; 2],
}

impl QueuesModel {
    pub fn new(region: Region, age_cap: u32) -> QueuesModel {
        QueuesModel {
            region,
            age_cap,
            exact: region.limit == 0,
            given: Default::default(),
            inside: Default::default(),
            label: Default::default(),
            words: 0,
            spilled: 0,
            last_spilled: None,
            region_holds: VecDeque::new(),
            back: Default::default(),
            missed: [0; QUEUES as usize],
            lap: 0,
            next_position: None,
            passed: [0; QUEUES as usize],
            outputs: Default::default(),
        }
    }

    /// A queue took a word at the end of this cycle.
    pub fn put(&mut self, cycle: u64, queue: Queue, word: Word) {
        let q = queue as usize;
        self.inside[q].push_back(Inside {
            word,
            label: self.label[q],
            number: self.words,
            cycle,
            spilled: false,
            lost: false,
        });
        self.words += 1;
        self.label[q] = self.label[q].next(word.end);
    }

    /// An element was written at this address; `kept` is false if the memory refused its burst.
    pub fn spill(&mut self, addr: u32, tag: u32, data: u32, kept: bool) -> Result<(), Broken> {
        let place = (addr.wrapping_sub(self.region.addr()) / SPILL_BYTES) as u16;
        let shown = || format!("{tag:#010x} {data:#010x} at {addr:#x}");
        let element = Element::decode(tag, data);
        let fits = |e: &Element| {
            addr >= self.region.addr()
                && u32::from(place) < self.region.elements()
                && e.position == place
                && (place == 0 || self.next_position == Some(place))
        };
        holds(Rule::Element, element.is_some_and(|e| fits(&e)), shown)?;
        let element = element.expect("checked");
        // A new lap begins at the first place.
        if place == 0 && self.spilled > 0 {
            self.lap = (self.lap + 1) & (SPILL_TAG_LAP_MASK >> SPILL_TAG_LAP_SHIFT) as u8;
        }
        holds(Rule::Element, element.lap == self.lap, || {
            format!("{}, not of lap {}", shown(), self.lap)
        })?;
        self.next_position = Some(place.wrapping_add(1));
        let last = self.last_spilled;
        let found = self.inside[element.queue as usize].iter_mut().find(|inside| {
            !inside.spilled
                && last.is_none_or(|last| inside.number > last)
                && inside.word == element.word
                && inside.label == element.label
        });
        let Some(inside) = found else {
            return holds(Rule::Element, false, || format!("{}: no such word waits", shown()));
        };
        inside.spilled = true;
        inside.lost = !kept;
        self.last_spilled = Some(inside.number);
        self.spilled += 1;
        self.region_holds.push_back((element.queue, inside.number));
        let count = |of: &dyn Fn(Queue) -> bool| self.region_holds.iter().filter(|&&(queue, _)| of(queue)).count();
        let requests = count(&|queue| queue.class() == Class::Request);
        holds(
            Rule::Behind,
            element.queue.class() == Class::Request || requests == 0,
            || format!("{} behind {requests} of requests", shown()),
        )?;
        let users = count(&|queue| queue == Queue::User);
        holds(Rule::Share, users as u32 <= self.region.elements() / 2, || {
            format!("{} is one of {users} of the user's", shown())
        })
    }

    /// The next element was read back; `good` is false after an error.
    pub fn read_back(&mut self, good: bool) {
        let Some((queue, number)) = self.region_holds.pop_front() else {
            return;
        };
        let q = queue as usize;
        let words = &mut self.inside[q];
        // Software may have copied back and given the word before the queues release its element.
        let Some(at) = words.iter().position(|inside| inside.number == number) else {
            return;
        };
        // If too many elements were lost between two of a message, another message of the same number may lie there.
        let before = at.checked_sub(1).map(|before| words[before].number);
        let follows = before.is_some() && before == self.back[q];
        let unsure = self.missed[q] >= NUMBERS && words[at].label.index != 0 && follows;
        let inside = &mut words[at];
        if good && !inside.lost {
            (self.back[q], self.missed[q]) = (Some(number), 0);
        } else {
            self.missed = self.missed.map(|missed| missed + 1);
        }
        inside.lost |= !good || unsure;
    }

    /// Words of the next message of this queue, if it is complete.
    fn message(&self, queue: Queue) -> Option<usize> {
        let end = self.inside[queue as usize].iter().position(|inside| inside.word.end)?;
        Some(end + 1)
    }

    /// Whether the queues could choose a message of this queue in this cycle.
    fn has(&self, queue: Queue, cycle: u64) -> bool {
        self.message(queue)
            .is_some_and(|words| self.inside[queue as usize][words - 1].cycle < cycle)
    }

    fn choose(&mut self, queue: Queue) -> Result<(), Broken> {
        let of_class = || Queue::ALL.into_iter().filter(|other| other.class() == queue.class());
        // The choice falls in the cycle before the last word of the previous message was offered, or as soon as there
        // was one.
        let ends = |queue: Queue| {
            self.message(queue)
                .map(|words| self.inside[queue as usize][words - 1].cycle)
        };
        let first = of_class().filter_map(ends).min().map_or(0, |cycle| cycle + 1);
        let end = self.outputs[queue.class() as usize].end_offered;
        let at = end.map_or(first, |end| first.max(end - 1));
        let has = |other: Queue| other.class() == queue.class() && self.has(other, at);
        let turn = turn(has, &self.passed, self.age_cap);
        holds(Rule::Choice, turn == Some(queue), || {
            format!(
                "{queue:?}, but it is the turn of {turn:?}; passed over {:?}",
                self.passed
            )
        })?;
        for other in of_class() {
            if self.has(other, at) {
                self.passed[other as usize] += 1;
            }
        }
        self.passed[queue as usize] = 0;
        Ok(())
    }

    /// The output of a class gave a word that it first offered in the cycle `offered`.
    pub fn give(&mut self, offered: u64, class: Class, queue: Queue, word: Word) -> Result<(), Broken> {
        holds(Rule::Whole, queue.class() == class, || {
            format!("{queue:?} gave {word:x?} as {class:?}")
        })?;
        match self.outputs[class as usize].giving {
            Some(giving) => holds(Rule::Whole, giving == queue, || {
                format!("{queue:?} within a message of {giving:?}")
            })?,
            None => {
                while let Some(words) = self.message(queue)
                    && self.inside[queue as usize].iter().take(words).any(|inside| inside.lost)
                {
                    let first = self.inside[queue as usize].drain(..words).next().expect("a word");
                    holds(Rule::Lost, first.word != word, || {
                        format!("{queue:?} gave {word:x?} of a message that lost a word")
                    })?;
                }
                holds(Rule::Early, self.message(queue).is_some(), || {
                    format!("{queue:?} gave {word:x?} of a message that is not in")
                })?;
                if self.exact {
                    self.choose(queue)?;
                }
            }
        }
        let want = self.inside[queue as usize].pop_front();
        if self.outputs[class as usize].giving.is_none() {
            self.given[queue as usize].clear();
        }
        self.given[queue as usize].extend(want);
        let number = want.map_or(0, |want| want.number);
        let want = want.map(|want| want.word);
        holds(Rule::Order, want == Some(word), || {
            format!("{queue:?} gave {word:x?}, not {want:x?}, word {number}")
        })?;
        let output = &mut self.outputs[class as usize];
        output.giving = (!word.end).then_some(queue);
        output.end_offered = word.end.then_some(offered).or(output.end_offered);
        Ok(())
    }

    /// Messages may come back. A queue has no turn while its last message is not judged, so choices are not followed.
    pub fn let_return(&mut self) {
        self.exact = false;
    }

    /// The message of this queue that was given last is to be given again, before its others.
    pub fn back(&mut self, queue: Queue) {
        for inside in self.given[queue as usize].drain(..).rev() {
            self.inside[queue as usize].push_front(inside);
        }
    }

    /// The region in which elements are written.
    pub fn region(&self) -> Region {
        self.region
    }

    /// Elements written so far.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// Words of whole messages still inside, without messages that lost a word.
    pub fn waiting(&self) -> usize {
        let of = |queue: Queue| {
            let words = &self.inside[queue as usize];
            let mut messages = VecDeque::from([(0, false)]);
            for inside in words {
                let (count, lost) = messages.back_mut().expect("never empty");
                *count += 1;
                *lost |= inside.lost;
                if inside.word.end {
                    messages.push_back((0, false));
                }
            }
            messages
                .iter()
                .filter(|(_, lost)| !lost)
                .map(|(count, _)| count)
                .sum::<usize>()
        };
        Queue::ALL.into_iter().map(of).sum()
    }
}
