//! The cycles of `r3000`: when each instruction executes, and when it retires.
//!
//! Four stages: fetch, decode, execute, memory. An instruction executes in the cycle in which it leaves the third
//! stage. All other times follow from that cycle, `e`:
//!
//! - The next instruction can execute at `e + 1`; behind a load from the bus, in the cycle after the answer; behind a
//!   trap, two cycles later still.
//! - Results of the multiplier and the divider can be used at `e + MULTIPLY` and `e + DIVIDE`.
//! - A bus access is visible from `e + 1` until its answer. The next can execute in the cycle after the answer.
//! - The instruction is seen to retire at `e + 2`; a load from the bus two cycles after its answer.

use super::golden::{Need, Retired, Work};

/// Cycles from the edge that sees `run_i` rise to the execution of the first instruction.
pub const START: u64 = 3;
/// Cycles from a multiplication to the instruction that may use its result.
pub const MULTIPLY: u64 = 33;
/// The same of a division.
pub const DIVIDE: u64 = 34;

/// The times of the next instruction.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// When the stage is free for it.
    arrives: u64,
    hi_lo: u64,
    bus: u64,
}

impl Timing {
    /// A processor whose `run_i` rises in this cycle.
    pub fn new(run: u64) -> Timing {
        Timing {
            arrives: run + START,
            hi_lo: 0,
            bus: 0,
        }
    }

    /// The cycle in which the next instruction reaches the stage in which it executes. From then on until it executes
    /// an interrupt is taken at once: the line as it was a cycle before decides.
    pub fn arrives(&self) -> u64 {
        self.arrives
    }

    /// When multiplier and divider are at rest.
    pub fn hi_lo(&self) -> u64 {
        self.hi_lo
    }

    /// When the bus is at rest.
    pub fn bus(&self) -> u64 {
        self.bus
    }

    /// The cycle in which it executes, if no interrupt comes before; none, if only an interrupt ends its wait.
    pub fn executes(&self, need: Need) -> Option<u64> {
        match need {
            Need::Nothing => Some(self.arrives),
            Need::HiLo => Some(self.arrives.max(self.hi_lo)),
            Need::Bus => Some(self.arrives.max(self.bus)),
            Need::Interrupt => None,
        }
    }

    /// The instruction executed or trapped in cycle `e`. `answer` gives the cycle of the answer for a bus access that
    /// is first visible in the cycle given to it. Gives the cycle in which the instruction is seen to retire.
    pub fn retires(&mut self, e: u64, retired: &Retired, answer: impl FnOnce(u64) -> u64) -> u64 {
        let mut leaves = e + 1;
        match retired.work {
            Work::Multiply => self.hi_lo = e + MULTIPLY,
            Work::Divide => self.hi_lo = e + DIVIDE,
            Work::BusLoad => {
                self.bus = answer(e + 1) + 1;
                leaves = self.bus;
            }
            Work::BusStore => self.bus = answer(e + 1) + 1,
            Work::Plain | Work::LostStore => (),
        }
        self.arrives = leaves + if retired.trap.is_some() { 2 } else { 0 };
        leaves + 1
    }
}
