//! Messages to all cells, of which each column gets one: every word out against the model.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::Word;
use tsunagi::ap1000p::golden::broadcast::spread;
use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// The words out are those of the model.
    Words
    /// One cycle through, and a word per cycle.
    Rate
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// Every word comes out.
    Hang
    /// Busy with a word on offer or within a message, and not for ever.
    Rest
);

#[derive(Debug)]
struct In {
    columns: u8,
    /// A word of this queue.
    word: Option<(Word, u8)>,
    ready: bool,
}

/// A word, its queue, and whether its message comes once more.
type Part = (Word, u8, bool);

#[derive(Debug, PartialEq)]
struct Out {
    ready: bool,
    part: Option<Part>,
    busy: bool,
}

fn set(dut: &impl Ap1000pBroadcastPorts, inputs: &In) {
    let junk = Word {
        data: 0xdead_beef,
        end: true,
    };
    let (word, queue) = inputs.word.unwrap_or((junk, 7));
    dut.last_x_i().set((inputs.columns - 1).into());
    dut.in_valid_i().set_bool(inputs.word.is_some());
    dut.in_queue_i().set(queue.into());
    dut.in_end_i().set_bool(word.end);
    dut.in_data_i().set(word.data.into());
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl Ap1000pBroadcastPorts) -> Out {
    let word = || Word {
        data: dut.out_data_o().get() as u32,
        end: dut.out_end_o().is_set(),
    };
    let valid = dut.out_valid_o().is_set();
    Out {
        ready: dut.in_ready_o().is_set(),
        part: valid.then(|| (word(), dut.out_queue_o().get() as u8, dut.out_more_o().is_set())),
        busy: dut.busy_o().is_set(),
    }
}

type Broadcast = Dut<In, Out>;

fn broadcast<U: Ap1000pBroadcastUnit + 'static>() -> Broadcast {
    Dut::of::<U>(set, seen)
}

/// An instance, its streams, and the words that are due.
struct Env<'a> {
    bench: Bench<'a, In, Out>,
    columns: u8,
    source: Source<(Word, u8)>,
    /// Messages given.
    given: u32,
    sink: Sink<Part>,
    due: VecDeque<Part>,
    /// The unit has the first words of a message, and not its last.
    midway: bool,
}

impl<'a> Env<'a> {
    fn new(run: &Run<'a>, dut: &Broadcast, columns: u8, gaps: Gaps) -> Result<Env<'a>, Fault> {
        let mut env = Env {
            bench: Bench::new(run, dut),
            columns,
            source: Source::new([], run.pacer(gaps.at_source(), "source")),
            sink: Sink::new(run.pacer(gaps.at_sink(), "sink")),
            given: 0,
            due: VecDeque::new(),
            midway: false,
        };
        env.reset()?;
        Ok(env)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        let idle = In {
            columns: self.columns,
            word: None,
            ready: false,
        };
        for _ in 0..2 {
            self.bench.reset(&idle)?;
        }
        self.source.reset();
        self.source.stop();
        self.sink.reset();
        self.due.clear();
        self.midway = false;
        Ok(())
    }

    fn give(&mut self, words: &[u32]) {
        let queue = 1 << (self.given % 3);
        self.given += 1;
        message(words)
            .into_iter()
            .for_each(|word| self.source.push((word, queue)));
        let parts = spread(words, self.columns);
        for (i, part) in parts.iter().enumerate() {
            let more = i + 1 < parts.len();
            self.due
                .extend(message(part).into_iter().map(|word| (word, queue, more)));
        }
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let inputs = In {
            columns: self.columns,
            word: self.source.offer().copied(),
            ready: self.sink.ready(),
        };
        let seen = self.bench.step(&inputs)?;
        self.check(&seen).map_err(|fault| fault.at(now))
    }

    fn check(&mut self, seen: &Out) -> Result<(), Fault> {
        Rule::Rest.holds(seen.busy || (seen.part.is_none() && !self.midway), || {
            "not busy, with a word on offer or within a message".into()
        })?;
        if let Some((word, _)) = self.source.step(seen.ready) {
            self.midway = !word.end;
        }
        let Some(part) = self.sink.step(seen.part)? else {
            return Ok(());
        };
        let want = self.due.pop_front();
        Rule::Words.same("word", want, Some(part))
    }

    /// All words come. The cycles that they took.
    fn finish(&mut self) -> Result<u64, Fault> {
        let start = self.bench.cycle();
        let limit = start + 200 + 20 * self.due.len() as u64;
        while !self.source.is_empty() || !self.due.is_empty() {
            self.cycle()?;
            Rule::Hang.holds(self.bench.cycle() < limit, || {
                format!("{} words have not come after {limit} cycles", self.due.len())
            })?;
        }
        let took = self.bench.cycle() - start;
        for _ in 0..5 {
            self.cycle()?;
        }
        Rule::Rest.holds(!self.bench.seen().busy, || "busy at rest".into())?;
        Ok(took)
    }
}

/// A message of 1 to 16 words, mostly a PUT or SEND to all. The command window lets no other message to all pass.
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
fn follows(dut: &Broadcast, starts: &[Start], gaps: &[Gaps], cases: &mut Cases) {
    for &gaps in gaps {
        for columns in [1, 2, 5, 32] {
            let params = format!("{} {gaps:?} {columns} columns", dut.name);
            cases.from_each(starts, params, |run| {
                let mut rng = run.rng("messages");
                let mut env = Env::new(run, dut, columns, gaps)?;
                (0..60).for_each(|_| env.give(&any(&mut rng)));
                for _ in 0..70 {
                    env.cycle()?;
                }
                env.reset()?;
                (0..60).for_each(|_| env.give(&any(&mut rng)));
                env.finish().map(drop)
            });
        }
    }
}

/// Messages to all and others without a pause: a word per cycle, and a cycle for the way.
fn rate(dut: &Broadcast, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} rate", dut.name), |run| {
        let mut env = Env::new(run, dut, 4, Gaps::None)?;
        let mut rng = run.rng("messages");
        (0..30).for_each(|_| env.give(&any(&mut rng)));
        let words = env.due.len() as u64;
        let took = env.finish()?;
        Rule::Rate.holds(took == words + 1, || format!("{words} words took {took} cycles"))
    });
}

#[test]
fn follows_the_model() {
    let dut = broadcast::<Ap1000pBroadcast>();
    pass(this_test!(), |cases| follows(&dut, &Start::RANDOM, &Gaps::ALL, cases));
}

#[test]
fn a_word_per_cycle() {
    pass(this_test!(), |cases| rate(&broadcast::<Ap1000pBroadcast>(), cases));
}

fn checks(dut: &Broadcast, cases: &mut Cases) {
    rate(dut, cases);
    follows(dut, &[Start::Random1], &[Gaps::None, Gaps::Both], cases);
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // All copies but the last keep the bit of the row.
            (Words, &[], &|cases| checks(&broadcast::<TwinBroadcastRow>(), cases)),
            // The last copy is marked like the others.
            (Words, &[], &|cases| checks(&broadcast::<TwinBroadcastMore>(), cases)),
            // The last column gets none.
            (Words, &[], &|cases| checks(&broadcast::<TwinBroadcastColumns>(), cases)),
            // A copy is of the queue of the message behind it.
            (Words, &[], &|cases| checks(&broadcast::<TwinBroadcastQueue>(), cases)),
            (Rate, &[], &|cases| checks(&broadcast::<TwinBroadcastBubble>(), cases)),
            (Hang, &[], &|cases| checks(&broadcast::<TwinBroadcastStuck>(), cases)),
            (Path, &[], &|cases| checks(&broadcast::<TwinBroadcastPath>(), cases)),
            (Rest, &[], &|cases| checks(&broadcast::<TwinBroadcastRest>(), cases)),
            (Protocol, &[], &|cases| {
                checks(&broadcast::<TwinBroadcastWithdraws>(), cases)
            }),
        ],
    );
}
