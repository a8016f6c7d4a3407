//! A unit with one clock, one stream in and one out, behind [`Pipe`]; and the cases every such unit is put through.

use std::fmt::Debug;

use testbenches::name;
use tsunagi::harness::axi;
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Exercise, Gaps, Golden, Pipe, Seen};
use tsunagi::harness::wave::Probe;
use verilated::{Context, Unit};

use crate::models::Rule;

/// Clock period, picoseconds.
pub const PERIOD: u64 = 10_000;

/// The ports of a one-clock unit.
pub trait Ports: Unit {
    type In: Clone;
    type Out: Clone + PartialEq + Debug;

    fn set_clk(&self, high: bool);
    fn set_rst(&self, on: bool);
    /// Offers the word, or drives junk without `valid`.
    fn set_in(&self, word: Option<&Self::In>);
    fn set_ready(&self, ready: bool);
    fn seen(&self) -> Seen<Self::Out>;
}

/// Implements [`Ports`]: how a word is put on the input, what junk is, how the offered word and the level are read.
macro_rules! ports {
    ($($unit:ident)+: $in:ty => $out:ty,
     put |$u:ident, $w:ident| $put:block, junk $junk:expr, get |$g:ident| $get:expr, level |$l:ident| $level:expr) => {$(
        impl $crate::bench::Ports for testbenches::rtl::$unit {
            type In = $in;
            type Out = $out;

            fn set_clk(&self, high: bool) {
                self.clk_i.set_bool(high);
            }

            fn set_rst(&self, on: bool) {
                self.rst_i.set_bool(on);
            }

            fn set_in(&self, word: Option<&$in>) {
                self.in_valid_i.set_bool(word.is_some());
                let ($u, $w) = (self, word.cloned().unwrap_or($junk));
                $put
            }

            fn set_ready(&self, ready: bool) {
                self.out_ready_i.set_bool(ready);
            }

            fn seen(&self) -> tsunagi::harness::stream::Seen<$out> {
                let word = |$g: &Self| $get;
                let level = |$l: &Self| $level;
                tsunagi::harness::stream::Seen {
                    ready: self.in_ready_o.is_set(),
                    offered: self.out_valid_o.is_set().then(|| word(self)),
                    level: level(self),
                }
            }
        }
    )+};
}
pub(crate) use ports;

/// An instance with its clock.
pub struct Bench<U> {
    dut: U,
    context: Context,
    now: u64,
}

impl<U: Ports> Bench<U> {
    pub fn new(context: &Context, setup: impl Fn(&U)) -> Bench<U> {
        let dut = U::named(context, "dut");
        dut.set_rst(true);
        setup(&dut);
        dut.eval();
        Bench {
            dut,
            context: context.clone(),
            now: 0,
        }
    }

    fn eval(&mut self, clk: bool) {
        self.now += PERIOD / 2;
        self.context.set_time(self.now);
        self.dut.set_clk(clk);
        self.dut.junk();
        self.dut.eval();
    }
}

impl<U: Ports> Pipe for Bench<U> {
    type In = U::In;
    type Out = U::Out;

    fn drive(&mut self, offered: Option<&U::In>, ready: bool) -> Seen<U::Out> {
        let before = self.dut.seen();
        self.dut.set_in(offered);
        self.dut.set_ready(ready);
        self.eval(false);
        let seen = self.dut.seen();
        assert_eq!(before, seen, "Path: an input reaches an output within the cycle");
        seen
    }

    fn edge(&mut self, reset: bool) {
        self.dut.set_rst(reset);
        self.eval(true);
    }

    fn now(&self) -> u64 {
        self.now
    }
}

/// What registers hold before the first reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Zero,
    Random1,
    Random2,
}

impl Start {
    pub const ALL: [Start; 3] = [Start::Zero, Start::Random1, Start::Random2];

    pub fn context(self, case: &Case) -> Context {
        match self {
            Start::Zero => {
                let context = Context::new();
                context.set_junk(case.rng("junk").bits());
                context
            }
            Start::Random1 | Start::Random2 => case.context(),
        }
    }
}

/// A case and how to run it: run by a test with [`Case::run`], by a twin's test directly.
pub type Run<'a> = &'a dyn Fn(&Probe) -> Result<(), String>;

/// The rules of a bench. What breaks one is told in words that begin with its name, and each has a broken twin.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $($(#[$doc])* $rule,)+
        }

        impl Rule {
            pub const ALL: &[Rule] = &[$(Rule::$rule,)+];
        }
    };
}
pub(crate) use rules;

/// The rule is kept, or is one of those that are not checked.
pub fn holds<R: Debug + PartialEq>(
    without: &[R],
    rule: R,
    kept: bool,
    what: impl FnOnce() -> String,
) -> Result<(), String> {
    if kept || without.contains(&rule) {
        Ok(())
    } else {
        Err(format!("{rule:?}: {}", what()))
    }
}

/// The rules of the AXI protocol that are not checked: a bench has them among its own, under the same names.
pub fn axi_rules<R: Debug>(without: &[R]) -> Vec<axi::Rule> {
    let is_left_out = |rule: &axi::Rule| without.iter().any(|own| format!("{own:?}") == format!("{rule:?}"));
    axi::Rule::ALL.into_iter().filter(is_left_out).collect()
}

/// What is done with each case.
pub type Each<'a> = &'a mut dyn FnMut(&Case, Run);

/// Runs each case as a test: the first failure ends it.
pub fn must_pass(case: &Case, run: Run) {
    case.run(run);
}

/// The failures of the cases that `cases` goes through: which case, and what failed.
pub fn failures(cases: impl FnOnce(Each)) -> Vec<(String, String)> {
    let mut found = Vec::new();
    cases(&mut |case, run| {
        found.extend(
            run(&Probe::default())
                .err()
                .map(|what| (case.params().to_string(), what)),
        )
    });
    found
}

/// Sends 250 words through a unit under every gap pattern and start, without a reset.
pub fn gap_cases<U: Ports, G: Golden<In = U::In, Out = U::Out>>(
    test: &'static str,
    setup: impl Fn(&U),
    model: impl Fn() -> G,
    word: impl Fn(&mut Rng, usize) -> U::In,
    each: Each,
) {
    for start in Start::ALL {
        for gaps in Gaps::ALL {
            let case = Case::new("common", test, format!("{} {gaps:?} {start:?}", name::<U>()));
            let exercise = Exercise::new(gaps, 40_000);
            each(&case, &|probe| {
                one(&case, start, &exercise, &setup, &model, &word, probe).map(drop)
            });
        }
    }
}

/// The same with a reset of one to three cycles somewhere in the traffic.
pub fn reset_cases<U: Ports, G: Golden<In = U::In, Out = U::Out>>(
    test: &'static str,
    setup: impl Fn(&U),
    model: impl Fn() -> G,
    word: impl Fn(&mut Rng, usize) -> U::In,
    each: Each,
) {
    for start in Start::ALL {
        for gaps in Gaps::ALL {
            let case = Case::new("common", test, format!("{} {gaps:?} {start:?} reset", name::<U>()));
            let mut rng = case.rng("reset");
            let reset = Some((rng.between(20, 200), rng.between(1, 3)));
            let exercise = Exercise {
                reset,
                ..Exercise::new(gaps, 40_000)
            };
            each(&case, &|probe| {
                one(&case, start, &exercise, &setup, &model, &word, probe).map(drop)
            });
        }
    }
}

/// Without gaps, the last word must come in the cycle that `last` works out from the words.
pub fn rate_case<U: Ports, G: Golden<In = U::In, Out = U::Out>>(
    test: &'static str,
    model: impl Fn() -> G,
    word: impl Fn(&mut Rng, usize) -> U::In,
    last: impl Fn(&[U::In]) -> u64,
    without: &[Rule],
    each: Each,
) {
    let case = Case::new("common", test, format!("{} rate", name::<U>()));
    let exercise = Exercise::new(Gaps::None, 40_000);
    each(&case, &|probe| {
        let got = one(&case, Start::Zero, &exercise, |_: &U| {}, &model, &word, probe)?;
        let want = last(&words(&case, &word));
        holds(without, Rule::Rate, got == want, || {
            format!("the last word came in cycle {got}, not {want}")
        })
    });
}

fn words<T>(case: &Case, word: impl Fn(&mut Rng, usize) -> T) -> Vec<T> {
    let mut rng = case.rng("words");
    (0..250).map(|i| word(&mut rng, i)).collect()
}

fn one<U: Ports, G: Golden<In = U::In, Out = U::Out>>(
    case: &Case,
    start: Start,
    exercise: &Exercise,
    setup: impl Fn(&U),
    model: impl Fn() -> G,
    word: impl Fn(&mut Rng, usize) -> U::In,
    probe: &Probe,
) -> Result<u64, String> {
    let mut bench = Bench::new(&start.context(case), setup);
    let items = words(case, word);
    let mut wave = Recorder::new(probe, &[&bench.dut]);
    exercise.run(&mut bench, &mut model(), items, |name| case.rng(name), &mut wave)
}
