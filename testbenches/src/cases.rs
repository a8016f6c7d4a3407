//! Cases of a bench: run as tests, for a broken twin, or for a wave.

use std::fmt::Display;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use support::Test;
use support::wave_reader::check_bench;
use tsunagi::harness::seed::{Case, Recorder, Rng, Seed};
use tsunagi::harness::stream::Pacer;
use tsunagi::harness::wave::Probe;
use verilated::{Context, Verilated};

use crate::{Fault, PERIOD, Rule};

/// The state of all registers before the first reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Zero,
    Random1,
    Random2,
}

impl Start {
    pub const ALL: [Start; 3] = [Start::Zero, Start::Random1, Start::Random2];
    pub const RANDOM: [Start; 2] = [Start::Random1, Start::Random2];
}

/// One case under way.
pub struct Run<'a> {
    pub case: &'a Case,
    pub start: Start,
    probe: &'a Probe,
}

impl<'a> Run<'a> {
    /// A run of a case that is made elsewhere, by a property.
    pub fn of(case: &'a Case, start: Start, probe: &'a Probe) -> Run<'a> {
        Run { case, start, probe }
    }

    /// An independent stream of chance for this case and name.
    pub fn rng(&self, name: &str) -> Rng {
        self.case.rng(name)
    }

    /// A pacer with a stream of chance of this name, which pauses or never does.
    pub fn pacer(&self, pauses: bool, name: &str) -> Pacer {
        Pacer::new(pauses, self.rng(name))
    }

    /// A simulation from the case's start, with junk on the inputs that do not count.
    pub fn context(&self) -> Context {
        match self.start {
            Start::Zero => {
                let context = Context::new();
                context.set_junk(self.rng("junk").bits());
                context
            }
            Start::Random1 | Start::Random2 => self.case.context(),
        }
    }

    /// The wave of these instances, if one is wanted.
    pub fn recorder(&self, instances: &[&dyn Verilated]) -> Recorder<'a> {
        Recorder::new(self.probe, instances)
    }
}

/// A case's body.
type Body<'a> = &'a dyn Fn(&Probe) -> Result<(), Fault>;

/// Receives the cases of a bench, one by one. A bench's checks are functions that put their cases in here:
/// the same ones run as tests, for twins and for waves.
pub struct Cases<'a> {
    test: Test,
    each: &'a mut dyn FnMut(&Case, Body),
}

impl<'a> Cases<'a> {
    pub fn new(test: Test, each: &'a mut dyn FnMut(&Case, Body)) -> Cases<'a> {
        Cases { test, each }
    }

    /// One case; `params` distinguish it from the others of the test.
    pub fn case(&mut self, start: Start, params: impl Display, body: impl Fn(&Run) -> Result<(), Fault>) {
        let case = Case::new(self.test.program, self.test.name, format!("{params} {start:?}"));
        (self.each)(&case, &|probe| body(&Run::of(&case, start, probe)));
    }

    /// The same case from each of these starts.
    pub fn from_each(&mut self, starts: &[Start], params: impl Display, body: impl Fn(&Run) -> Result<(), Fault>) {
        for &start in starts {
            self.case(start, &params, &body);
        }
    }
}

/// Runs the cases as a test. The first failure ends it, and leaves a wave of its last microseconds and a line that
/// repeats it.
///
/// # Panics
/// When a case fails.
pub fn pass(test: Test, cases: impl FnOnce(&mut Cases)) {
    cases(&mut Cases::new(test, &mut |case, body| case.run(body)));
}

/// The failures of the cases: parameters and fault.
pub fn failures(test: Test, cases: impl FnOnce(&mut Cases)) -> Vec<(String, Fault)> {
    let mut found = Vec::new();
    cases(&mut Cases::new(test, &mut |case, body| {
        let fault = body(&Probe::default()).err();
        found.extend(fault.map(|fault| (case.params().to_string(), fault)));
    }));
    found
}

/// The first of the cases has one wave: its clock of [`PERIOD`] rises at `phase` (picoseconds) and falls half a period
/// later, and no edge is off that grid. A [`Bench`](crate::Bench) has the phase `PERIOD / 2`.
///
/// # Panics
/// When it is not so, when the case fails, and when there is none.
pub fn check_wave(test: Test, phase: u64, cases: impl FnOnce(&mut Cases)) {
    let mut looked = false;
    cases(&mut Cases::new(test, &mut |_, body| {
        if !mem::replace(&mut looked, true) {
            let run = |probe: &Probe| body(probe).unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(check_bench(Some((PERIOD, phase)), run), 1, "one instance");
        }
    }));
    assert!(looked, "there is no case");
}

/// The words of an assertion in the RTL that the first of these cases violates.
///
/// # Panics
/// When no assertion fails.
pub fn assertion(test: Test, cases: impl FnOnce(&mut Cases)) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(|| failures(test, cases)));
    let words = outcome.expect_err("no assertion failed");
    *words.downcast::<String>().expect("a failed assertion has words")
}

/// A twin: the rule that finds it, the rules that it may break as well, and the checks of its bench.
pub type Twin<'a, R> = (R, &'a [R], &'a dyn Fn(&mut Cases));

/// Each rule has a twin, a unit with one broken line. The checks find each twin by its own rule, and break no
/// rule but that and the listed ones.
///
/// # Panics
/// With all rules and twins for which this is not so.
pub fn each_is_caught<R: Rule>(test: Test, twins: &[Twin<R>]) {
    let mut wrong = Vec::new();
    for rule in R::ALL {
        if !twins.iter().any(|(own, ..)| own == rule) {
            wrong.push(format!("{rule:?} has no twin"));
        }
    }
    for (number, (own, also, checks)) in twins.iter().enumerate() {
        let found = Seed::of_twins().under(|| failures(test, checks));
        let is = |fault: &Fault, rule: &R| fault.rule == rule.name();
        if !found.iter().any(|(_, fault)| is(fault, own)) {
            wrong.push(format!("twin {number}: {own:?} does not find it: {found:#?}"));
        }
        for (params, fault) in found {
            if !is(&fault, own) && !also.iter().any(|rule| is(&fault, rule)) {
                wrong.push(format!(
                    "twin {number}: {own:?} should find it in `{params}`, not {fault}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule as _;

    crate::rules!(
        /// Nothing is lost.
        Lost
        /// Nothing is late.
        Late
    );

    /// Checks of a unit that breaks this rule.
    fn breaks(rule: Rule) -> impl Fn(&mut Cases) {
        move |cases| cases.case(Start::Zero, "a case", |_| Err(rule.broken("seen")))
    }

    /// The complaint about twins.
    fn complaint(twins: &[Twin<Rule>]) -> String {
        let outcome = catch_unwind(AssertUnwindSafe(|| each_is_caught(support::this_test!(), twins)));
        let words = outcome.expect_err("a complaint is due");
        *words.downcast::<String>().expect("a complaint has words")
    }

    #[test]
    fn a_rule_without_a_twin_and_a_twin_that_its_rule_does_not_find_are_named() {
        let (lost, late) = (breaks(Rule::Lost), breaks(Rule::Late));
        each_is_caught(
            support::this_test!(),
            &[(Rule::Lost, &[], &lost), (Rule::Late, &[], &late)],
        );
        assert!(complaint(&[(Rule::Lost, &[], &lost)]).contains("Late has no twin"));
        let wrong = complaint(&[(Rule::Lost, &[], &late), (Rule::Late, &[], &late)]);
        assert!(wrong.contains("twin 0: Lost does not find it"), "{wrong}");
        assert!(
            wrong.contains("twin 0: Lost should find it in `a case Zero`, not Late: seen"),
            "{wrong}"
        );
        let allowed = complaint(&[(Rule::Lost, &[Rule::Late], &late), (Rule::Late, &[], &late)]);
        assert!(!allowed.contains("should find it"), "{allowed}");
        let whole = |cases: &mut Cases| cases.case(Start::Zero, "a case", |_| Ok(()));
        assert!(complaint(&[(Rule::Lost, &[], &whole), (Rule::Late, &[], &late)]).contains("twin 0"));
    }
}
