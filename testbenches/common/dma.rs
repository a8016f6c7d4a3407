//! What the two DMA testbenches share: commands, how they must be cut, and clocking beside a memory.

use std::collections::VecDeque;

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

/// How a run's memory and streams behave.
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
    /// Everything, as cases of one test.
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

/// Checks each burst against those that must come, in order.
pub struct Bursts {
    pub due: VecDeque<Burst>,
    pub seen: usize,
}

impl Bursts {
    pub fn new() -> Bursts {
        Bursts {
            due: VecDeque::new(),
            seen: 0,
        }
    }

    /// A burst that came, and the one that was due.
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
