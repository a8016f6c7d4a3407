//! Units with one clock, one stream in and one out, in lock step with a golden model.

use std::collections::VecDeque;
use std::fmt::Debug;

use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};

use crate::{Bench, Cases, Dut, Fault, Run, Start};

/// The inputs of a cycle: the word on offer, and whether the sink is ready.
pub type Drive<T> = (Option<T>, bool);

/// The outputs of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen<T> {
    /// Ready for a word.
    pub ready: bool,
    /// The word on offer.
    pub offered: Option<T>,
    /// Words inside, where the unit has such an output.
    pub level: Option<usize>,
}

/// A unit of this kind.
pub type Pipe<I, O> = Dut<Drive<I>, Seen<O>>;

/// The golden model of a [`Pipe`]. The number of a cycle is that of the edge that ends it.
pub trait Golden {
    type In;
    type Out;

    /// # Errors
    /// Outputs that the model does not allow in this cycle.
    fn check(&self, cycle: u64, seen: &Seen<Self::Out>) -> Result<(), Fault>;

    /// The unit took a word.
    fn put(&mut self, cycle: u64, word: Self::In);

    /// The unit gave a word.
    ///
    /// # Errors
    /// Another word was due, or none.
    fn take(&mut self, cycle: u64, word: Self::Out) -> Result<(), Fault>;

    /// Whether no word is due.
    fn is_done(&self) -> bool;

    fn reset(&mut self);
}

/// Idle cycles watched after the last word: no other may come.
const TAIL: u64 = 40;

/// Cycles after which a run counts as hung.
const LIMIT: u64 = 40_000;

/// Sends the words through the unit in lock step with its model. `reset` is the first cycle of a reset in mid-flight
/// and its length. Gives the cycle in which the last word left.
///
/// # Errors
/// What the model finds; `Protocol`: an offer is withdrawn or changes; `Hang`: words stay inside or are not taken.
pub fn exercise<G: Golden>(
    run: &Run,
    dut: &Pipe<G::In, G::Out>,
    model: &mut G,
    words: impl IntoIterator<Item = G::In>,
    gaps: Gaps,
    reset: Option<(u64, u64)>,
) -> Result<u64, Fault>
where
    G::In: Clone + 'static,
    G::Out: Clone + PartialEq + Debug + 'static,
{
    let mut bench = Bench::new(run, dut);
    let mut source = Source::new(words, run.pacer(gaps.at_source(), "source"));
    let mut sink = Sink::new(run.pacer(gaps.at_sink(), "sink"));
    let (mut last, mut idle) = (0, 0);
    for _ in 0..4 {
        bench.reset(&(None, false))?;
    }
    for cycle in 0..LIMIT {
        if reset.is_some_and(|(from, length)| (from..from + length).contains(&cycle)) {
            // A word on offer during a reset is not taken, whatever ready says.
            bench.reset(&(source.offer().cloned(), sink.ready()))?;
            source.reset();
            sink.reset();
            model.reset();
            continue;
        }
        let seen = bench.step(&(source.offer().cloned(), sink.ready()))?;
        let at = |fault: Fault| fault.at(cycle);
        let given = sink.step(seen.offered.clone()).map_err(|error| at(error.into()))?;
        model.check(cycle, &seen).map_err(at)?;
        if let Some(word) = given {
            model.take(cycle, word).map_err(at)?;
            last = cycle;
        }
        if let Some(word) = source.step(seen.ready) {
            model.put(cycle, word);
        }
        let done = source.is_empty() && model.is_done();
        idle = if done { idle + 1 } else { 0 };
        if idle > TAIL {
            return Ok(last);
        }
    }
    Err(Fault {
        rule: "Hang",
        what: format!(
            "{} words not taken, model done: {}, after {LIMIT} cycles",
            source.len(),
            model.is_done()
        ),
    })
}

/// Words of a case of a [`Subject`].
pub const WORDS: usize = 250;

fn words<T>(run: &Run, word: impl Fn(&mut Rng, usize) -> T) -> Vec<T> {
    let mut rng = run.rng("words");
    (0..WORDS).map(|index| word(&mut rng, index)).collect()
}

/// A unit under test with its model. `word` makes the input word of each index.
pub struct Subject<G: Golden> {
    /// Distinguishes its cases from those of other subjects.
    pub label: String,
    pub dut: Pipe<G::In, G::Out>,
    /// As after a reset.
    pub model: G,
}

impl<G: Golden + Clone> Subject<G>
where
    G::In: Clone + 'static,
    G::Out: Clone + PartialEq + Debug + 'static,
{
    pub fn new(dut: Pipe<G::In, G::Out>, model: G) -> Subject<G> {
        let label = dut.name.into();
        Subject { label, dut, model }
    }

    /// All gap patterns from all starts.
    pub fn gaps(&self, cases: &mut Cases, word: impl Fn(&mut Rng, usize) -> G::In) {
        for gaps in Gaps::ALL {
            cases.from_each(&Start::ALL, format!("{} {gaps:?}", self.label), |run| {
                self.exercise(run, words(run, &word), gaps, None).map(drop)
            });
        }
    }

    /// The same with a reset of one to three cycles in mid-flight.
    pub fn resets(&self, cases: &mut Cases, word: impl Fn(&mut Rng, usize) -> G::In) {
        for gaps in Gaps::ALL {
            cases.from_each(&Start::ALL, format!("{} {gaps:?} reset", self.label), |run| {
                let mut rng = run.rng("reset");
                let reset = (rng.between(20, 200), rng.between(1, 3));
                self.exercise(run, words(run, &word), gaps, Some(reset)).map(drop)
            });
        }
    }

    /// Without gaps, the last word leaves in the cycle that `last` computes from the input words, else a fault `Rate`.
    pub fn rate(&self, cases: &mut Cases, word: impl Fn(&mut Rng, usize) -> G::In, last: impl Fn(&[G::In]) -> u64) {
        cases.case(Start::Zero, format!("{} rate", self.label), |run| {
            let words = words(run, &word);
            let want = last(&words);
            let got = self.exercise(run, words, Gaps::None, None)?;
            if got == want {
                return Ok(());
            }
            Err(Fault {
                rule: "Rate",
                what: format!("the last word left in cycle {got}, not {want}"),
            })
        });
    }

    fn exercise(&self, run: &Run, words: Vec<G::In>, gaps: Gaps, reset: Option<(u64, u64)>) -> Result<u64, Fault> {
        exercise(run, &self.dut, &mut self.model.clone(), words, gaps, reset)
    }
}

/// The model of a unit that turns words into other words, at any time.
#[derive(Clone)]
pub struct Script<I, O> {
    /// The output words for input words, or none if they need a further input word.
    convert: fn(&[I]) -> Vec<O>,
    open: Vec<I>,
    due: VecDeque<O>,
}

impl<I, O> Script<I, O> {
    pub fn new(convert: fn(&[I]) -> Vec<O>) -> Script<I, O> {
        Script {
            convert,
            open: Vec::new(),
            due: VecDeque::new(),
        }
    }
}

impl<I, O: PartialEq + Debug> Golden for Script<I, O> {
    type In = I;
    type Out = O;

    fn check(&self, _: u64, _: &Seen<O>) -> Result<(), Fault> {
        Ok(())
    }

    fn put(&mut self, _: u64, word: I) {
        self.open.push(word);
        let words = (self.convert)(&self.open);
        if !words.is_empty() {
            self.open.clear();
            self.due.extend(words);
        }
    }

    fn take(&mut self, _: u64, word: O) -> Result<(), Fault> {
        let want = self.due.pop_front();
        if want.as_ref() == Some(&word) {
            return Ok(());
        }
        Err(Fault {
            rule: "Content",
            what: format!("got {word:x?}, not {want:x?}"),
        })
    }

    fn is_done(&self) -> bool {
        self.due.is_empty()
    }

    fn reset(&mut self) {
        self.open.clear();
        self.due.clear();
    }
}
