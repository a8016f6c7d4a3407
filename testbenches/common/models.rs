//! Golden models: from the contract in each unit's header, never from its logic.

use std::collections::VecDeque;
use std::fmt::Debug;

use tsunagi::harness::stream::{Golden, Seen};

use crate::bench::{holds, rules};

rules!(
    /// Of a queue: words come out as they went in, in order.
    Order
    /// The level is the number of words inside.
    Level
    /// Ready exactly when there is room.
    Ready
    /// A word is offered exactly from its time on.
    Latency
    /// Of a converter: the words that follow from those that went in.
    Content
    /// Without gaps, the last word comes when it should.
    Rate
    /// Said by [`Exercise`](tsunagi::harness::stream::Exercise): an offer holds until it is taken.
    Protocol
    /// Said there too: it takes everything and gives everything.
    Hang
);

/// A bounded queue whose words may leave `latency` cycles after they came, and `gap` idle cycles after a last word.
pub struct Queue<'a, T> {
    pub depth: usize,
    pub latency: u64,
    pub gap: u64,
    pub is_last: fn(&T) -> bool,
    /// Rules that are not checked.
    pub without: &'a [Rule],
    /// Words inside, and the cycles in which they came.
    pub words: VecDeque<(u64, T)>,
    /// The first cycle in which a word may leave.
    pub open_from: u64,
}

impl<T> Queue<'_, T> {
    pub fn new(depth: usize, latency: u64) -> Self {
        let is_last = |_: &T| false;
        Queue {
            depth,
            latency,
            gap: 0,
            is_last,
            without: &[],
            words: VecDeque::new(),
            open_from: 0,
        }
    }
}

impl<T: Clone + PartialEq + Debug> Golden for Queue<'_, T> {
    type In = T;
    type Out = T;

    fn check(&self, cycle: u64, seen: &Seen<T>) -> Result<(), String> {
        let room = self.words.len() < self.depth;
        holds(self.without, Rule::Ready, seen.ready == room, || {
            format!("ready is {}, with room it is {room}", seen.ready)
        })?;
        let inside = self.words.len();
        holds(
            self.without,
            Rule::Level,
            seen.level.is_none_or(|level| level == inside),
            || format!("level is {:?} with {inside} words inside", seen.level),
        )?;
        let due = cycle >= self.open_from && self.words.front().is_some_and(|(put, _)| cycle >= put + self.latency);
        holds(self.without, Rule::Latency, seen.offered.is_some() == due, || {
            format!(
                "offered {:x?}, but a word is {}due",
                seen.offered,
                if due { "" } else { "not " }
            )
        })
    }

    fn put(&mut self, cycle: u64, word: T) {
        self.words.push_back((cycle, word));
    }

    fn take(&mut self, cycle: u64, word: T) -> Result<(), String> {
        if (self.is_last)(&word) {
            self.open_from = cycle + self.gap + 1;
        }
        let want = self.words.pop_front().map(|(_, want)| want);
        holds(self.without, Rule::Order, want.as_ref() == Some(&word), || {
            format!("got {word:x?}, not {want:x?}")
        })
    }

    fn is_done(&self) -> bool {
        self.words.is_empty()
    }

    fn reset(&mut self) {
        self.words.clear();
        self.open_from = 0;
    }
}

/// Words in and the words that must follow from them, at any time.
pub struct Script<'a, I, O> {
    start: fn() -> Expand<I, O>,
    expand: Expand<I, O>,
    due: VecDeque<O>,
    without: &'a [Rule],
}

/// What follows from the next word.
pub type Expand<I, O> = Box<dyn FnMut(I) -> Vec<O>>;

impl<'a, I, O> Script<'a, I, O> {
    pub fn new(start: fn() -> Expand<I, O>, without: &'a [Rule]) -> Self {
        Script {
            start,
            expand: start(),
            due: VecDeque::new(),
            without,
        }
    }
}

impl<I, O: PartialEq + Debug> Golden for Script<'_, I, O> {
    type In = I;
    type Out = O;

    fn check(&self, _: u64, _: &Seen<O>) -> Result<(), String> {
        Ok(())
    }

    fn put(&mut self, _: u64, word: I) {
        self.due.extend((self.expand)(word));
    }

    fn take(&mut self, _: u64, word: O) -> Result<(), String> {
        let want = self.due.pop_front();
        holds(self.without, Rule::Content, want.as_ref() == Some(&word), || {
            format!("got {word:x?}, not {want:x?}")
        })
    }

    fn is_done(&self) -> bool {
        self.due.is_empty()
    }

    fn reset(&mut self) {
        self.due.clear();
        self.expand = (self.start)();
    }
}
