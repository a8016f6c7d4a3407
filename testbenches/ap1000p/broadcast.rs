//! What becomes of messages to all cells against its model, word by word.

use std::collections::VecDeque;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::Word;
use tsunagi::ap1000p::golden::broadcast::spread;
use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;

use crate::rig::{Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The words that come out are the model's.
    Words,
    /// One cycle through, and a word per cycle.
    Rate,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 6] = [
    Rule::Words,
    Rule::Rate,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

#[derive(Clone, Debug)]
pub struct Inputs {
    columns: u8,
    word: Option<Word>,
    ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    ready: bool,
    /// A word, and whether its message comes once more.
    out: Option<(Word, bool)>,
    busy: bool,
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            type In = Inputs;
            type Out = Outputs;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &Inputs) {
                self.last_x_i.set(inputs.columns - 1);
                self.in_valid_i.set_bool(inputs.word.is_some());
                self.in_end_i.set_bool(inputs.word.is_none_or(|word| word.end));
                self.in_data_i.set(inputs.word.map_or(0xdead_beef, |word| word.data));
                self.out_ready_i.set_bool(inputs.ready);
            }

            fn seen(&self) -> Outputs {
                let word = || {
                    let word = Word { data: self.out_data_o.get(), end: self.out_end_o.is_set() };
                    (word, self.out_more_o.is_set())
                };
                Outputs {
                    ready: self.in_ready_o.is_set(),
                    out: self.out_valid_o.is_set().then(word),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pBroadcast TwinBroadcastRow TwinBroadcastMore TwinBroadcastColumns TwinBroadcastStuck TwinBroadcastBubble TwinBroadcastPath
       TwinBroadcastRest TwinBroadcastWithdraws);

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    columns: u8,
    source: Source<Word>,
    sink: Sink<(Word, bool)>,
    due: VecDeque<(Word, bool)>,
    /// A message is inside, but for its end.
    midway: bool,
}

impl<'a, U: Ports<In = Inputs, Out = Outputs>> Bench<'a, U> {
    fn new(case: &Case, start: &str, columns: u8, gaps: Gaps, probe: &'a Probe) -> Result<Self, String> {
        let pacer = |pauses, name: &str| Pacer::new(pauses, case.rng(name));
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            columns,
            source: Source::new([], pacer(gaps.at_source(), "source")),
            sink: Sink::new(pacer(gaps.at_sink(), "sink")),
            due: VecDeque::new(),
            midway: false,
        };
        bench.reset()?;
        Ok(bench)
    }

    fn reset(&mut self) -> Result<(), String> {
        let idle = Inputs {
            columns: self.columns,
            word: None,
            ready: false,
        };
        for _ in 0..2 {
            self.rig.step(&idle, true)?;
        }
        self.source.reset();
        self.source.stop();
        self.sink.reset();
        self.due.clear();
        self.midway = false;
        Ok(())
    }

    fn give(&mut self, words: &[u32]) {
        message(words).into_iter().for_each(|word| self.source.push(word));
        let parts = spread(words, self.columns);
        for (i, part) in parts.iter().enumerate() {
            let more = i + 1 < parts.len();
            self.due.extend(message(part).into_iter().map(|word| (word, more)));
        }
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let word = self.source.offer().copied();
        let ready = self.sink.ready();
        let columns = self.columns;
        let seen = self.rig.step(&Inputs { columns, word, ready }, false)?;
        holds(Rule::Rest, seen.busy || (seen.out.is_none() && !self.midway), || {
            format!("cycle {now}: not busy, with a word on show or within a message")
        })?;
        if let Some(word) = self.source.step(seen.ready) {
            self.midway = !word.end;
        }
        let out = self.sink.step(seen.out);
        if let Some(out) = out.map_err(|e| format!("{:?}: cycle {now}: {e}", Rule::Protocol))? {
            let want = self.due.pop_front();
            holds(Rule::Words, want == Some(out), || {
                format!("cycle {now}: {out:x?}, not {want:x?}")
            })?;
        }
        Ok(())
    }

    /// Until all has come, and how many cycles that took.
    fn finish(&mut self) -> Result<u64, String> {
        let start = self.rig.cycle;
        let limit = start + 200 + 20 * self.due.len() as u64;
        while !self.source.is_empty() || !self.due.is_empty() {
            self.cycle()?;
            holds(Rule::Hang, self.rig.cycle < limit, || {
                format!("{} words have not come after {limit} cycles", self.due.len())
            })?;
        }
        let took = self.rig.cycle - start;
        for _ in 0..5 {
            self.cycle()?;
        }
        holds(Rule::Rest, !self.rig.seen().busy, || "busy at rest".into())?;
        Ok(took)
    }
}

/// A message of 1 to 16 words, mostly a PUT or SEND to all; to all is nothing else (the command window sees to it).
fn any(rng: &mut Rng) -> Vec<u32> {
    let all = PAGE_ROW_MASK | PAGE_COLUMN_MASK;
    let kind = match rng.below(6) {
        0 => rng.bits() as u32 & 0xffff & !PAGE_ROW_MASK,
        1 => KIND_PUT | PAGE_ROW_MASK,
        2 => KIND_PUT | PAGE_COLUMN_MASK,
        3 => KIND_PUT | PAGE_SYSTEM_MASK | PAGE_AS_RECEIVE_MASK | all,
        _ => KIND_PUT | PAGE_SEND_MASK | all,
    };
    let count = match rng.below(4) {
        0 => rng.between(1, MESSAGE_WORDS.into()),
        _ => COMMAND_WORDS.into(),
    };
    let mut words: Vec<u32> = (0..count).map(|_| rng.bits() as u32).collect();
    words[0] = kind << COMMAND_HEAD_KIND_SHIFT | words[0] & !COMMAND_HEAD_KIND_MASK;
    words
}

/// Random messages, with a reset among them.
fn follows<U: Ports<In = Inputs, Out = Outputs>>(
    case: &Case,
    start: &str,
    gaps: Gaps,
    probe: &Probe,
) -> Result<(), String> {
    for columns in [1, 2, 5, 32] {
        let mut rng = case.rng(&format!("messages {columns}"));
        let mut bench = Bench::<U>::new(case, start, columns, gaps, probe)?;
        for cycles in [70, u64::MAX] {
            for _ in 0..60 {
                bench.give(&any(&mut rng));
            }
            if cycles == u64::MAX {
                bench.finish()?;
            } else {
                for _ in 0..cycles {
                    bench.cycle()?;
                }
                bench.reset()?;
            }
        }
    }
    Ok(())
}

/// Nothing pauses: a word per cycle, of messages to all and of others, and a cycle for the way.
fn rate<U: Ports<In = Inputs, Out = Outputs>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], 4, Gaps::None, probe)?;
    let mut rng = case.rng("messages");
    for _ in 0..30 {
        bench.give(&any(&mut rng));
    }
    let words = bench.due.len() as u64;
    let took = bench.finish()?;
    holds(Rule::Rate, took == words + 1, || {
        format!("{words} words took {took} cycles")
    })
}

#[test]
fn follows_the_model() {
    for start in STARTS {
        for gaps in Gaps::ALL {
            let case = Case::new("ap1000p", "broadcast::follows_the_model", format!("{start}, {gaps:?}"));
            case.run(|probe| follows::<Ap1000pBroadcast>(&case, start, gaps, probe));
        }
    }
}

#[test]
fn a_word_per_cycle() {
    let case = Case::new("ap1000p", "broadcast::a_word_per_cycle", "");
    case.run(|probe| rate::<Ap1000pBroadcast>(&case, probe));
}

fn checks<U: Ports<In = Inputs, Out = Outputs>>() -> Vec<Result<(), String>> {
    let case = |what: String| Case::new("ap1000p", "broadcast::each_twin_is_caught", what);
    let probe = Probe::default();
    let mut found = vec![rate::<U>(&case("rate".into()), &probe)];
    for gaps in [Gaps::None, Gaps::Both] {
        found.push(follows::<U>(&case(format!("{gaps:?}")), STARTS[0], gaps, &probe));
    }
    found
}

#[test]
fn each_twin_is_caught() {
    let twins: [Twin; 8] = [
        ("Words", &checks::<TwinBroadcastRow>),
        ("Words", &checks::<TwinBroadcastMore>),
        ("Words", &checks::<TwinBroadcastColumns>),
        ("Rate", &checks::<TwinBroadcastBubble>),
        ("Hang", &checks::<TwinBroadcastStuck>),
        ("Path", &checks::<TwinBroadcastPath>),
        ("Rest", &checks::<TwinBroadcastRest>),
        ("Protocol", &checks::<TwinBroadcastWithdraws>),
    ];
    each_is_caught(&RULES, &twins);
}
