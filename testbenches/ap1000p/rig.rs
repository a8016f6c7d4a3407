//! What the benches of units with one clock share.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tsunagi::harness::seed::{Case, Recorder, Seed};
use tsunagi::harness::wave::Probe;
use verilated::{Context, Unit};

use crate::{PERIOD, holds, started};

/// What every bench checks besides its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// No output follows an input within the cycle.
    Path,
    /// An offer holds until it is taken.
    Protocol,
}

/// The ports of a unit with one clock.
pub trait Ports: Unit {
    type In;
    type Out: PartialEq + Debug;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, inputs: &Self::In);
    fn seen(&self) -> Self::Out;
}

/// An instance with its clock.
pub struct Rig<'a, U> {
    dut: U,
    context: Context,
    recorder: Recorder<'a>,
    pub cycle: u64,
}

impl<'a, U: Ports> Rig<'a, U> {
    pub fn new(case: &Case, start: &str, probe: &'a Probe) -> Self {
        let context = started(case, start);
        let dut = U::named(&context, "dut");
        Rig {
            recorder: Recorder::new(probe, &[&dut]),
            dut,
            context,
            cycle: 0,
        }
    }

    fn eval(&mut self, clk: bool, rst: bool) {
        self.dut.set_clk(clk, rst);
        self.context
            .set_time(self.cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
        self.dut.junk();
        self.dut.eval();
        self.recorder.tick(self.context.time());
    }

    /// A cycle with these inputs, and what the outputs were in it.
    pub fn step(&mut self, inputs: &U::In, rst: bool) -> Result<U::Out, String> {
        let (before, now) = (self.dut.seen(), self.cycle);
        let seen = self.through(inputs, rst);
        // Before the first edge anything may be.
        holds(Common::Path, now == 0 || before == seen, || {
            format!("cycle {now}: {before:x?} becomes {seen:x?}")
        })?;
        Ok(seen)
    }

    /// The same of a unit whose outputs follow its inputs within the cycle.
    pub fn through(&mut self, inputs: &U::In, rst: bool) -> U::Out {
        self.dut.set(inputs);
        self.eval(false, rst);
        let seen = self.dut.seen();
        self.eval(true, rst);
        self.cycle += 1;
        seen
    }

    /// The outputs as they are.
    pub fn seen(&self) -> U::Out {
        self.dut.seen()
    }
}

/// A twin: the rule that finds it and, each after a bar, those that may as well; and the checks of its bench.
pub type Twin<'a> = (&'static str, &'a dyn Fn() -> Vec<Result<(), String>>);

/// Each rule has a twin that it finds, and the twin breaks no other but what goes with it.
pub fn each_is_caught<R: Debug>(rules: &[R], twins: &[Twin]) {
    let named: Vec<Vec<&str>> = twins.iter().map(|(names, _)| names.split('|').collect()).collect();
    for rule in rules.iter().map(|rule| format!("{rule:?}")) {
        assert!(named.iter().any(|names| names[0] == rule), "{rule} has no twin");
    }
    let mut wrong = Vec::new();
    for (number, (names, (_, checks))) in named.iter().zip(twins).enumerate() {
        let found: Vec<String> = Seed::of_twins()
            .under(checks)
            .into_iter()
            .filter_map(Result::err)
            .collect();
        let says = |what: &String, name: &str| what.starts_with(&format!("{name}:"));
        let own = names[0];
        if !found.iter().any(|what| says(what, own)) {
            wrong.push(format!("twin {number}: {own} does not find it: {found:#?}"));
        }
        let others = found.iter().filter(|what| !names.iter().any(|name| says(what, name)));
        wrong.extend(others.map(|what| format!("twin {number}: {own} should find it, not {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the RTL's own assertions say of a run, in which one must fail.
pub fn fails<T>(run: impl FnOnce() -> T) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(run));
    let said = outcome.err().expect("no assertion failed");
    *said.downcast::<String>().expect("a failure is told in words")
}
