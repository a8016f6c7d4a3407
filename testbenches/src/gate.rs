//! Clock gating: two instances of a unit, of which one leaves out the edges that should change nothing.

use std::fmt::Debug;

use crate::{Bench, Dut, Fault, Run};

/// Two instances with the same inputs. One has every edge, the other only those that the unit's `busy_o` or a changed
/// input asks for.
pub struct Pair<'a, I, O> {
    always: Bench<'a, I, O>,
    gated: Bench<'a, I, O>,
    skipped: u64,
}

impl<'a, I: 'static, O: PartialEq + Debug + 'static> Pair<'a, I, O> {
    pub fn new(run: &Run<'a>, dut: &Dut<I, O>) -> Pair<'a, I, O> {
        let [always, gated] = [(); 2].map(|()| Bench::new(run, dut));
        Pair {
            always,
            gated,
            skipped: 0,
        }
    }

    /// The outputs as they are.
    pub fn seen(&self) -> O {
        self.always.seen()
    }

    /// Whether the instance that leaves out edges asks for the next.
    pub fn is_busy(&self) -> bool {
        let busy = self
            .gated
            .unit()
            .peek("busy_o")
            .expect("a unit with gates has `busy_o`");
        busy != [0]
    }

    /// Edges left out so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// A cycle with these inputs, of which one `asks` for the edge; its outputs before the edge.
    ///
    /// # Errors
    /// `Gating`: the outputs of the two instances differ.
    pub fn step(&mut self, inputs: &I, asks: bool) -> Result<O, Fault> {
        let (cycle, seen) = (self.always.cycle(), self.always.through(inputs, false));
        let gated = if asks || self.is_busy() {
            self.gated.through(inputs, false)
        } else {
            self.skipped += 1;
            self.gated.seen()
        };
        if seen != gated {
            return Err(Fault {
                rule: "Gating",
                what: format!("cycle {cycle}: {seen:x?}, but {gated:x?} where edges were left out"),
            });
        }
        Ok(seen)
    }

    /// A cycle with the reset on, which both instances have.
    pub fn reset(&mut self, inputs: &I) {
        self.always.through(inputs, true);
        self.gated.through(inputs, true);
    }
}
