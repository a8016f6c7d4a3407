//! One scenario on one machine: blocks are in memory, threads run, and each word that they moved is compared.

use std::collections::BTreeMap;

use thiserror::Error;

use super::lab::{End, LOOP, Measurement, Scenario, What};
use crate::emx::asm::{self, Image, Source, assemble, cycles};
use crate::emx::backend::{Backend, Counts, RunError, build};
use crate::emx::carrier::transfer;
use crate::emx::golden::execute::Cause;
use crate::emx::host::{Emx, HostError};
use crate::emx::library::{Program, Run, image, layout};
use crate::emx::packet::{Kind, Packet, global};
use crate::emx::params::Config;
use crate::harness::wave::Probe;
use crate::repro::row::BackendKind;

/// A run without a measurement.
#[derive(Debug, Error)]
pub enum MeasureError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("{what}: {wrong} of {checked} words are wrong")]
    Wrong { what: String, wrong: u32, checked: u32 },
}

/// What ended because the memory for packets of a PE was full.
#[derive(Clone, Debug, Error)]
#[error("{what} overflows: a PE's memory is full of packets (spill_bits), and another came")]
pub struct Overflow {
    pub what: String,
}

/// Runs the scenario.
///
/// # Errors
/// The configuration is no machine, or a run that neither ended nor met one of the limits that experiments look for.
pub fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
    let Scenario { backend, config, what } = scenario;
    measure_times(config, *backend, what, 1, &Probe::default())
}

/// Cycles between two looks at all PEs.
pub const fn between_looks(program: Program) -> u64 {
    match program {
        Program::Lex => 512,
        _ => 400,
    }
}

/// Does it so many times on one machine; the RTL writes the wave of `probe`.
///
/// # Errors
/// As [`measure`].
pub fn measure_times(
    config: &Config,
    kind: BackendKind,
    what: &What,
    times: u32,
    probe: &Probe,
) -> Result<Measurement, MeasureError> {
    let run = match *what {
        What::Program { program, count, words } => Run { program, count, words },
        What::Polled { words } => {
            let (program, count) = (Program::RingBlock, LOOP);
            Run { program, count, words }
        }
        What::Syncs { urgent } => return syncs(config, kind, urgent),
        What::Carry { from, to, bytes, count } => return carry(config, kind, (from, to), (bytes, count), probe),
    };
    let mut machine = Emx::probed(config, kind, probe)?;
    machine.fits(&run)?;
    machine.machine.watch(between_looks(run.program));
    if matches!(what, What::Polled { .. }) {
        machine.machine.poll(0, layout::BLOCKS);
    }
    let (mut checked, mut wrong) = (0, 0);
    let mut end = End::Result;
    for _ in 0..times {
        fill(&mut *machine.machine, &run);
        let values = match machine.run(&run) {
            Ok(values) => values,
            Err(HostError::Run(RunError::Fatal { .. })) => {
                end = End::Overflow;
                break;
            }
            Err(other) => return Err(other.into()),
        };
        let (more, differ) = compare(&mut *machine.machine, &run, &values);
        (checked, wrong) = (checked + more, wrong + differ);
    }
    // A barrier is no proof that all writes are done (4.5), so this is a result.
    if wrong > 0 && run.program != Program::Wex {
        let what = format!("{run:?}");
        return Err(MeasureError::Wrong { what, wrong, checked });
    }
    let measurement = finished(&mut machine, end);
    Ok(Measurement {
        checked,
        wrong,
        ..measurement
    })
}

fn carry(
    config: &Config,
    kind: BackendKind,
    route: (u32, u32),
    (bytes, count): (u32, u32),
    probe: &Probe,
) -> Result<Measurement, MeasureError> {
    let mut machine = Emx::probed(config, kind, probe)?;
    let (mut wrong, checked) = (0, bytes * count);
    for number in 0..count {
        let data: Vec<u8> = (0..bytes).map(|at| (number + at * 7 + (at >> 8)) as u8).collect();
        let got = transfer(&mut machine, route, &data)?;
        wrong += got.iter().zip(&data).filter(|(got, sent)| got != sent).count() as u32;
    }
    if wrong > 0 {
        let what = format!("{count} blocks of {bytes} B");
        return Err(MeasureError::Wrong { what, wrong, checked });
    }
    let measurement = finished(&mut machine, End::Result);
    Ok(Measurement { checked, ..measurement })
}

/// What a machine's threads did.
fn finished(machine: &mut Emx, end: End) -> Measurement {
    let (cycles, time_us) = (machine.cycles(), machine.now().as_us());
    let (pes, period) = (machine.config().pes(), machine.config().clock_period);
    let machine = &mut *machine.machine;
    Measurement {
        end,
        cycles,
        time_us,
        counts: counts(machine, pes),
        peak: machine.peak(),
        polled: machine.polled(),
        first_word: machine.first_word().map(|edge| period * edge),
        seen: machine.seen(),
        executed: machine.executed(),
        ..Measurement::default()
    }
}

/// The library's code, with what became of each line in a run.
pub fn listing(config: &Config, m: &Measurement) -> String {
    let image = image(config).expect("the library is right");
    let beside = |at: u32| {
        let ran = m.executed.get(&at);
        ran.map(|ran| format!("{}x {}", ran.times, ran.cycles))
            .or_else(|| cycles(&image, config, at))
    };
    asm::listing(&image, beside)
}

/// The counts of all PEs, added up.
fn counts(machine: &mut dyn Backend, pes: u32) -> Counts {
    let mut sum = Counts::default();
    for counts in (0..pes).map(|pe| machine.counts(pe)) {
        sum.sent += counts.sent;
        sum.received += counts.received;
        sum.started += counts.started;
        sum.bypassed += counts.bypassed;
        sum.spilled += counts.spilled;
        sum.busy += counts.busy;
        sum.send_wait += counts.send_wait;
        sum.stalled += counts.stalled;
        sum.instructions += counts.instructions;
        sum.refused
            .iter_mut()
            .zip(counts.refused)
            .for_each(|(sum, one)| *sum += one);
    }
    sum
}

/// Word `at` of the block from one PE to another.
fn word(from: u32, to: u32, at: u32) -> u32 {
    (from + 1) << 24 | (to + 1) << 16 | at
}

/// Word `at` of the vector of a PE, for scan.
fn addend(pe: u32, at: u32) -> u32 {
    1 + (5 * pe + 3 * at) % 11
}

/// The blocks that are to be sent. Elsewhere memory has zeros, which no word of a block is.
fn fill(machine: &mut dyn Backend, run: &Run) {
    let mut put = |pe: u32, begin: u32, value: &dyn Fn(u32) -> u32| {
        (0..run.words).for_each(|at| machine.set_word(pe, begin + at, value(at)));
    };
    for pe in 0..run.count {
        match run.program {
            Program::Lex | Program::Pex | Program::Rex | Program::RexClassic | Program::Wex => {
                (0..run.count).for_each(|to| put(pe, run.source(to), &|at| word(pe, to, at)));
            }
            Program::Shift => put(pe, run.source(0), &|at| word(pe, 0, at)),
            Program::Scan => put(pe, run.destination(0), &|at| addend(pe, at)),
            Program::RingBlock | Program::Lib | Program::Reb if pe == 0 => {
                put(pe, run.destination(0), &|at| word(0, 0, at));
            }
            _ => (),
        }
    }
}

/// The blocks that belong somewhere when it is done: PE, address and words.
fn arrived(run: &Run) -> Vec<(u32, u32, Vec<u32>)> {
    let (count, words) = (run.count, run.words);
    let block = |from: u32, to: u32| (0..words).map(|at| word(from, to, at)).collect();
    match run.program {
        Program::Lex | Program::Pex | Program::Rex | Program::RexClassic | Program::Wex => {
            let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
            let place = |(from, to): (u32, u32)| {
                // Where the steps of classic rex left it.
                let stays = run.program == Program::RexClassic && (from ^ to).count_ones() % 2 == 0;
                let begin = if stays { run.source(from) } else { run.destination(from) };
                (to, begin, block(from, to))
            };
            pairs.filter(|(from, to)| from != to).map(place).collect()
        }
        Program::RingBlock | Program::Lib | Program::Reb => {
            (0..count).map(|pe| (pe, run.destination(0), block(0, 0))).collect()
        }
        Program::Shift => {
            let from = |pe| (pe + count - 1) % count;
            (0..count)
                .map(|pe| (pe, run.destination(0), block(from(pe), 0)))
                .collect()
        }
        Program::Scan => {
            // Over the vectors of all PEs, one behind the other.
            let mut sum = 0;
            let mut add = |pe, at| {
                sum += addend(pe, at);
                sum
            };
            let mut sums = |pe| (0..words).map(|at| add(pe, at)).collect();
            (0..count).map(|pe| (pe, run.destination(0), sums(pe))).collect()
        }
        Program::Reduction | Program::RingPkt | Program::RingWord => Vec::new(),
    }
}

/// Words that were compared, and those that were wrong.
fn compare(machine: &mut dyn Backend, run: &Run, values: &[u32]) -> (u32, u32) {
    let expected = arrived(run);
    let places: Vec<_> = expected.iter().map(|(pe, addr, _)| (*pe, *addr)).collect();
    let found = machine.blocks(&places, run.words).concat();
    let expected = expected.into_iter().flat_map(|(.., words)| words);
    let mut pairs: Vec<_> = found.into_iter().zip(expected).collect();
    if run.program == Program::Reduction {
        pairs.extend(values.iter().map(|value| (*value, run.count * (run.count - 1) / 2)));
    }
    let wrong = pairs.iter().filter(|(found, expected)| found != expected).count();
    (pairs.len() as u32, wrong as u32)
}

/// Each PE writes rounds of 12 words to another, and a word to PE 0. Behind each round goes a sync, whose thread traps
/// if it finds a word of an earlier round. Rounds count down.
const SYNCS: &str = include_str!("syncs.s");
const ROUNDS: u32 = 40;
/// The code of that trap.
pub const OVERTAKEN: i32 = 9;

fn syncs(config: &Config, kind: BackendKind, urgent: bool) -> Result<Measurement, MeasureError> {
    let sync = if urgent { Kind::THREAD.urgent() } else { Kind::THREAD };
    let image = sync_image(sync);
    let mut machine = build(config, kind).map_err(HostError::from)?;
    let pes = config.pes();
    for pe in 0..pes {
        let to = (7 * pe + 3) % pes;
        image.load().for_each(|(addr, word)| machine.set_word(pe, addr, word));
        (0x7000..0x700c).for_each(|addr| machine.set_word(pe, addr, ROUNDS + 1));
        let words = [
            (0, image.symbols["WRITES"]),
            (0x80, image.symbols["T"]),
            (0x88, global(to, 0x7000)),
            (0x89, global(0, 0x7100 + pe)),
            (0x8a, global(to, 0x90)),
        ];
        words.iter().for_each(|(addr, word)| machine.set_word(pe, *addr, *word));
        machine.inject(pe, Packet::to(Kind::THREAD, 0x81, ROUNDS));
    }
    let (end, cycles) = match machine.run(pes, 10_000_000) {
        Ok(told) => (End::Result, told.cycles),
        Err(RunError::Fault { fault, .. }) => match fault.cause {
            Cause::Trap { code } => (End::Trap(code), 0),
            _ => return Err(HostError::from(RunError::Fault { pe: 0, fault }).into()),
        },
        Err(other) => return Err(HostError::from(other).into()),
    };
    Ok(Measurement {
        end,
        cycles,
        time_us: (config.clock_period * cycles).as_us(),
        counts: counts(&mut *machine, pes),
        checked: pes * ROUNDS,
        ..Measurement::default()
    })
}

fn sync_image(sync: Kind) -> Image {
    let source = Source {
        name: "syncs.s".into(),
        text: SYNCS.into(),
    };
    let assembled = assemble(&[source], &BTreeMap::from([("SYNC".into(), sync.0.into())]));
    assembled.expect("the code of this experiment is right")
}
