//! Several clocks by time.

use crate::Context;

/// A clock of [`Clocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock(usize);

/// All edges at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    /// Picoseconds.
    pub at: u64,
    rising: u64,
    falling: u64,
}

impl Edges {
    /// Whether this clock rises now.
    pub fn rises(&self, clock: Clock) -> bool {
        self.rising >> clock.0 & 1 == 1
    }

    /// Whether this clock falls now.
    pub fn falls(&self, clock: Clock) -> bool {
        self.falling >> clock.0 & 1 == 1
    }
}

/// Several clocks by time in picoseconds, at most 64. Each is low at first, rises at `period + phase`, and is high for
/// half of its period.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    list: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    period: u64,
    next: u64,
    high: bool,
}

impl Clocks {
    pub fn new() -> Self {
        Self::default()
    }

    /// Panics when the period is under 2 ps or there are 64 clocks already.
    pub fn add(&mut self, period: u64, phase: u64) -> Clock {
        assert!(period >= 2, "a clock has two edges in a period");
        assert!(self.list.len() < 64, "at most 64 clocks");
        self.list.push(State {
            period,
            next: period + phase,
            high: false,
        });
        Clock(self.list.len() - 1)
    }

    /// The time of the next edge; `None` without clocks.
    pub fn next_at(&self) -> Option<u64> {
        self.list.iter().map(|clock| clock.next).min()
    }

    /// Goes to the next instant with edges and sets the context's time to it. Panics without clocks.
    pub fn step(&mut self, context: &Context) -> Edges {
        let at = self.next_at().expect("there is a clock");
        let mut edges = Edges {
            at,
            rising: 0,
            falling: 0,
        };
        for (index, clock) in self.list.iter_mut().enumerate().filter(|(_, clock)| clock.next == at) {
            let half = clock.period / 2;
            if clock.high {
                edges.falling |= 1 << index;
                clock.next += clock.period - half;
            } else {
                edges.rising |= 1 << index;
                clock.next += half;
            }
            clock.high = !clock.high;
        }
        context.set_time(at);
        edges
    }
}
