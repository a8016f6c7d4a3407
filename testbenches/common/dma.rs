//! For the benches of `dma_read`, `dma_write`, `dma_copy` and other units beside a memory: commands, how they must be
//! cut, how hard memory and streams make it, and the cycles of a case.

use std::collections::VecDeque;
use std::fmt::Debug;

use testbenches::{Bench, Cases, Dut, Fault, Run, Start};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;
use tsunagi::{Addr, Cycle};

/// Bytes of the memory; commands stay in it.
pub const SIZE: u32 = 1 << 16;

/// {address, bytes}, as the engines take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub addr: u32,
    pub bytes: u32,
}

/// Sizes of an engine.
#[derive(Clone, Copy)]
pub struct Size {
    /// Bytes of a word.
    pub word: u32,
    /// Words of the longest burst.
    pub burst: u32,
    /// Bursts that may be open.
    pub outstanding: usize,
}

/// A memory burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    pub addr: u32,
    pub bytes: u32,
}

/// Whole words from `addr`, cut where the address is a multiple of the longest burst.
pub fn cut(addr: u32, words: u32, word: u32, beats: u32) -> Vec<Burst> {
    let (mut at, end, block) = (addr, addr + words * word, beats * word);
    let mut bursts = Vec::new();
    while at < end {
        let stop = ((at / block + 1) * block).min(end);
        bursts.push(Burst {
            addr: at,
            bytes: stop - at,
        });
        at = stop;
    }
    bursts
}

/// How memory and streams of a case behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardship {
    pub gaps: Gaps,
    pub memory: Slowness,
    /// Some bytes answer with bus errors.
    pub faults: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowness {
    /// A word per cycle, no latency.
    Ideal,
    /// Long latency, pauses between bursts and words.
    Slow,
}

impl Hardship {
    pub const NONE: Hardship = Hardship {
        gaps: Gaps::None,
        memory: Slowness::Ideal,
        faults: false,
    };

    /// All 16.
    pub fn all() -> impl Iterator<Item = Hardship> {
        Gaps::ALL.into_iter().flat_map(|gaps| {
            [Slowness::Ideal, Slowness::Slow].into_iter().flat_map(move |memory| {
                [false, true]
                    .into_iter()
                    .map(move |faults| Hardship { gaps, memory, faults })
            })
        })
    }

    pub fn agent(self, seed: u64, word: u32) -> MemoryAgent {
        match self.memory {
            Slowness::Ideal => MemoryAgent::new(MemoryTiming::IDEAL, word),
            Slowness::Slow => {
                let timing = MemoryTiming {
                    read_latency: Cycle(9),
                    write_latency: Cycle(7),
                    overhead: Cycle(2),
                    ..MemoryTiming::IDEAL
                };
                MemoryAgent::new(timing, word).with_jitter(seed, Cycle(12), Cycle(2))
            }
        }
    }

    /// Memory with random bytes, and faults if there are to be.
    pub fn filled(self, rng: &mut Rng) -> Memory {
        let mut bytes = vec![0; SIZE as usize];
        rng.fill(&mut bytes);
        let mut memory = Memory::new(SIZE as usize);
        assert!(memory.write(Addr(0), &bytes), "the memory is as large as its bytes");
        if self.faults {
            for _ in 0..SIZE / 512 {
                let at = rng.below(SIZE.into()) as u32;
                memory.inject_fault(at..at + 1 + rng.below(40) as u32);
            }
        }
        memory
    }
}

/// The bursts that are due, in order.
pub struct Bursts {
    pub due: VecDeque<Burst>,
    /// Bursts so far.
    pub seen: usize,
}

impl Bursts {
    pub fn new() -> Bursts {
        Bursts {
            due: VecDeque::new(),
            seen: 0,
        }
    }

    /// The burst of this event, if it is one, and the burst that was due.
    pub fn take(&mut self, event: &EventKind) -> Option<(Burst, Option<Burst>)> {
        let (EventKind::MemRead { addr, bytes } | EventKind::MemWrite { addr, bytes }) = *event else {
            return None;
        };
        self.seen += 1;
        Some((Burst { addr: addr.0, bytes }, self.due.pop_front()))
    }
}

/// Random word-aligned commands of 1 to about 300 bytes.
pub fn commands(rng: &mut Rng, count: usize, word: u32) -> Vec<Command> {
    let one = |_| {
        let bytes = if rng.chance(1, 3) {
            rng.between(1, 2 * u64::from(word))
        } else {
            rng.between(1, 300)
        } as u32;
        Command {
            addr: rng.below(u64::from((SIZE - 512) / word)) as u32 * word,
            bytes,
        }
    };
    (0..count).map(one).collect()
}

/// Each hardship, without and with a reset in the cycle that the body gets.
pub fn under_hardship(cases: &mut Cases, unit: &str, body: impl Fn(&Run, Hardship, Option<u64>) -> Result<(), Fault>) {
    for (i, hardship) in Hardship::all().enumerate() {
        for resets in [false, true] {
            cases.case(
                Start::ALL[i % 3],
                format!("{unit} {hardship:?} reset {resets}"),
                |run| {
                    let reset = resets.then(|| run.rng("reset").between(20, 250));
                    body(run, hardship, reset)
                },
            );
        }
    }
}

/// What surrounds a unit in a case: memory, streams, and the model of what is due.
pub trait Environment {
    type In: 'static;
    type Out: PartialEq + Debug + 'static;

    /// The inputs of the next cycle.
    fn inputs(&mut self) -> Self::In;

    /// The cycle resets the unit.
    fn reset(&mut self);

    /// The cycle does not: its outputs, before the edge.
    ///
    /// # Errors
    /// A rule is broken.
    fn step(&mut self, cycle: u64, seen: Self::Out) -> Result<Progress, Fault>;

    /// What is left to do.
    fn left(&self) -> String;
}

/// What a cycle brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Moved,
    Waiting,
    /// Nothing is left to do.
    Done,
}

/// Cycles that are watched after everything is done.
const TAIL: u64 = 30;

/// Cycles without progress after which a unit hangs: many times what the slowest memory takes for a burst.
const PATIENCE: u64 = 2000;

/// Runs a unit until its environment is done. `reset` is the cycle of a reset in mid-flight.
///
/// # Errors
/// What the environment finds, and `Hang`.
pub fn exercise<E: Environment>(
    run: &Run,
    dut: &Dut<E::In, E::Out>,
    environment: &mut E,
    reset: Option<u64>,
) -> Result<(), Fault> {
    let mut bench = Bench::new(run, dut);
    let (mut waits, mut idle) = (0, 0);
    for cycle in 0.. {
        let rst = cycle < 3 || reset == Some(cycle);
        let seen = bench.registered(&environment.inputs(), rst)?;
        if rst {
            environment.reset();
            continue;
        }
        match environment.step(cycle, seen).map_err(|fault| fault.at(cycle))? {
            Progress::Moved => (waits, idle) = (0, 0),
            Progress::Waiting => (waits, idle) = (waits + 1, 0),
            Progress::Done => (waits, idle) = (0, idle + 1),
        }
        if idle > TAIL {
            return Ok(());
        }
        if waits > PATIENCE {
            break;
        }
    }
    Err(Fault {
        rule: "Hang",
        what: format!("no progress in {PATIENCE} cycles; {}", environment.left()),
    })
}
