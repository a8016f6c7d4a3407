//! One clock of the machine.

use crate::{Cycle, Picos};

/// Rises at `phase + n * period`, n = 1, 2, ….
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    period: u64,
    phase: u64,
    next: u64,
    index: u64,
}

impl Clock {
    pub fn new(period: Picos, phase: Picos) -> Clock {
        assert!(period > Picos::ZERO, "a clock has a period");
        Clock {
            period: period.0,
            phase: phase.0,
            next: phase.0 + period.0,
            index: 1,
        }
    }

    pub fn period(&self) -> Picos {
        Picos(self.period)
    }

    /// Whether it is high from `at` on: for the first half of each period.
    pub fn is_high(&self, at: Picos) -> bool {
        let since = at.0.checked_sub(self.phase + self.period);
        since.is_some_and(|since| since % self.period < self.period / 2)
    }

    /// The first falling edge after `at`.
    pub fn next_fall(&self, at: Picos) -> Picos {
        let first = self.phase + self.period + self.period / 2;
        let periods = at.0.checked_sub(first).map_or(0, |since| since / self.period + 1);
        Picos(first + periods * self.period)
    }

    /// The next rising edge.
    #[inline]
    pub fn next(&self) -> Picos {
        Picos(self.next)
    }

    /// The number n of the next rising edge.
    pub fn index(&self) -> Cycle {
        Cycle(self.index)
    }

    /// Periods that begin in a span.
    pub fn cycles_in(&self, span: Picos) -> Cycle {
        Cycle(span.0.div_ceil(self.period))
    }

    /// The next edge is over.
    pub fn advance(&mut self) {
        self.index += 1;
        self.next += self.period;
    }

    /// Leaves out all edges up to and including `now`.
    pub fn skip_to(&mut self, now: Picos) {
        if self.next <= now.0 {
            self.index = (now.0 - self.phase) / self.period + 1;
            self.next = self.phase + self.index * self.period;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_high_for_the_first_half_of_each_period() {
        let clock = Clock::new(Picos(10), Picos(3));
        let high = |at| clock.is_high(Picos(at));
        let levels = [3, 8, 12, 13, 17, 18, 22, 23].map(high);
        assert_eq!(levels, [false, false, false, true, true, false, false, true]);
        let falls = [0, 17, 18, 27, 28].map(|at| clock.next_fall(Picos(at)).0);
        assert_eq!(falls, [18, 18, 28, 28, 38]);
    }

    #[test]
    fn skipping_lands_on_the_first_edge_after_now() {
        let mut clock = Clock::new(Picos(10), Picos(3));
        assert_eq!(clock.next(), Picos(13));
        clock.skip_to(Picos(12));
        assert_eq!((clock.next(), clock.index()), (Picos(13), Cycle(1)));
        clock.skip_to(Picos(13));
        assert_eq!((clock.next(), clock.index()), (Picos(23), Cycle(2)));
        clock.skip_to(Picos(92));
        assert_eq!((clock.next(), clock.index()), (Picos(93), Cycle(9)));
        clock.advance();
        assert_eq!((clock.next(), clock.index()), (Picos(103), Cycle(10)));
    }
}
