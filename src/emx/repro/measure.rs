//! One scenario on one machine: blocks are in memory, threads run, and each word that they moved is compared.

use std::collections::BTreeMap;

use thiserror::Error;

use super::lab::{End, Measurement, Scenario, What};
use crate::emx::asm::{Image, Source, assemble};
use crate::emx::backend::{Backend, Counts, RunError, build};
use crate::emx::carrier::transfer;
use crate::emx::golden::execute::Cause;
use crate::emx::host::{Emx, HostError};
use crate::emx::library::{Program, Run};
use crate::emx::packet::{Kind, Packet, global};
use crate::emx::params::Config;
use crate::repro::row::BackendKind;

#[derive(Debug, Error)]
pub enum MeasureError {
    #[error(transparent)]
    Host(#[from] HostError),
    #[error("{what}: {wrong} of {checked} words are wrong")]
    Wrong { what: String, wrong: u32, checked: u32 },
}

/// Runs the scenario.
///
/// # Errors
/// The configuration is no machine, or a run that neither ended nor met one of the limits that experiments look for.
pub fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
    let Scenario { backend, config, what } = scenario;
    match *what {
        What::Program { program, count, words } => run(config, *backend, Run { program, count, words }, None),
        What::Watched {
            program,
            count,
            words,
            every,
        } => run(config, *backend, Run { program, count, words }, Some(every)),
        What::Syncs { urgent } => syncs(config, *backend, urgent),
        What::Carry { from, to, bytes, count } => {
            let mut machine = Emx::new(config, *backend)?;
            let mut wrong = 0;
            for number in 0..count {
                let data: Vec<u8> = (0..bytes).map(|at| (number + at * 7 + (at >> 8)) as u8).collect();
                let got = transfer(&mut machine, (from, to), &data)?;
                wrong += got.iter().zip(&data).filter(|(got, sent)| got != sent).count() as u32;
            }
            let checked = bytes * count;
            if wrong > 0 {
                let what = format!("{what:?}");
                return Err(MeasureError::Wrong { what, wrong, checked });
            }
            let mut measurement = finished(&mut *machine.machine, config);
            measurement.end = End::Result;
            measurement.time_us = machine.now().as_us();
            measurement.cycles = machine.now().0 / config.clock_period.0.max(1);
            (measurement.checked, measurement.executed) = (checked, machine.machine.executed());
            Ok(measurement)
        }
    }
}

fn run(config: &Config, kind: BackendKind, run: Run, watch: Option<u64>) -> Result<Measurement, MeasureError> {
    let mut machine = Emx::new(config, kind)?;
    machine.fits(&run)?;
    fill(&mut *machine.machine, &run);
    if let Some(every) = watch {
        machine.machine.watch(every);
    }
    let ended = machine.run(&run);
    let mut measurement = finished(&mut *machine.machine, config);
    measurement.executed = machine.machine.executed();
    match ended {
        Ok(values) => {
            measurement.end = End::Result;
            measurement.time_us = machine.now().as_us();
            measurement.cycles = machine.cycles();
            (measurement.checked, measurement.wrong) = compare(&mut *machine.machine, &run, &values);
            let Measurement { wrong, checked, .. } = measurement;
            if wrong > 0 {
                let what = format!("{run:?}");
                return Err(MeasureError::Wrong { what, wrong, checked });
            }
        }
        Err(HostError::Run(RunError::Fatal { .. })) => measurement.end = End::Overflow,
        Err(other) => return Err(other.into()),
    }
    Ok(measurement)
}

/// The counts of all PEs, added up.
fn finished(machine: &mut dyn Backend, config: &Config) -> Measurement {
    let mut sum = Counts::default();
    for counts in (0..config.pes()).map(|pe| machine.counts(pe)) {
        sum.sent += counts.sent;
        sum.received += counts.received;
        sum.started += counts.started;
        sum.bypassed += counts.bypassed;
        sum.spilled += counts.spilled;
        sum.busy += counts.busy;
        sum.send_wait += counts.send_wait;
        sum.stalled += counts.stalled;
        sum.instructions += counts.instructions;
        sum.refused.iter_mut().zip(counts.refused).for_each(|(sum, one)| *sum += one);
    }
    Measurement {
        counts: sum,
        peak: machine.peak(),
        seen: machine.seen(),
        ..Measurement::default()
    }
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

/// Words that were compared, and those that were wrong.
fn compare(machine: &mut dyn Backend, run: &Run, values: &[u32]) -> (u32, u32) {
    let (mut checked, mut wrong) = (0, 0);
    let mut check = |found: u32, expected: u32| {
        checked += 1;
        wrong += u32::from(found != expected);
    };
    let (count, words) = (run.count, run.words);
    let pairs = || (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
    match run.program {
        Program::Lex | Program::Pex | Program::Rex | Program::RexClassic | Program::Wex => {
            for (from, to) in pairs().filter(|(from, to)| from != to) {
                // Where the steps of classic rex left it.
                let stays = run.program == Program::RexClassic && (from ^ to).count_ones() % 2 == 0;
                let begin = if stays { run.source(from) } else { run.destination(from) };
                (0..words).for_each(|at| check(machine.word(to, begin + at), word(from, to, at)));
            }
        }
        Program::RingBlock | Program::Lib | Program::Reb => {
            for pe in 0..count {
                (0..words).for_each(|at| check(machine.word(pe, run.destination(0) + at), word(0, 0, at)));
            }
        }
        Program::Shift => {
            for pe in 0..count {
                let from = (pe + count - 1) % count;
                (0..words).for_each(|at| check(machine.word(pe, run.destination(0) + at), word(from, 0, at)));
            }
        }
        Program::Scan => {
            let mut sum = 0u32;
            for (pe, at) in (0..count).flat_map(|pe| (0..words).map(move |at| (pe, at))) {
                sum += addend(pe, at);
                check(machine.word(pe, run.destination(0) + at), sum);
            }
        }
        Program::Reduction => values.iter().for_each(|value| check(*value, count * (count - 1) / 2)),
        Program::RingPkt | Program::RingWord => (),
    }
    (checked, wrong)
}

/// Each PE writes rounds of 12 words to another, and a word to PE 0; behind each round goes a sync, whose thread traps if
/// it finds a word of an earlier round. Rounds count down.
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
    let ended = machine.run(pes, 10_000_000);
    let mut measurement = finished(&mut *machine, config);
    measurement.checked = pes * ROUNDS;
    measurement.end = match ended {
        Ok(told) => {
            measurement.cycles = told.cycles;
            measurement.time_us = (config.clock_period * told.cycles).as_us();
            End::Result
        }
        Err(RunError::Fault { fault, .. }) if matches!(fault.cause, Cause::Trap { .. }) => match fault.cause {
            Cause::Trap { code } => End::Trap(code),
            _ => End::Nothing,
        },
        Err(other) => return Err(HostError::from(other).into()),
    };
    Ok(measurement)
}

fn sync_image(sync: Kind) -> Image {
    let source = Source {
        name: "syncs.s".into(),
        text: SYNCS.into(),
    };
    let assembled = assemble(&[source], &BTreeMap::from([("SYNC".into(), sync.0.into())]));
    assembled.expect("the code of this experiment is right")
}
