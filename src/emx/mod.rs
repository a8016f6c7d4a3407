//! ETL EM-4 and EM-X: packets of two words that start threads; [`Emx`] is the entry point. See `docs/machines/emx.md`.

pub mod asm;
pub mod backend;
pub mod campaign;
mod carrier;
pub mod golden;
pub mod host;
pub mod isa;
mod lanes;
pub mod library;
pub mod model;
pub mod names;
pub mod packet;
pub mod params;
pub mod regs;
pub mod repro;
pub mod rtl;
mod signals;

use std::time::Duration;

use crate::harness::names::Names;
use crate::harness::params::Table as _;
use crate::machine::{
    Bench, Carrier, Facts, Machine, MachineError, Measured, Opt, Route, Run, Scenario, Shown, Value, Wave, Whole,
    WholeRun,
};
use crate::net::bench::{NetworkRun, cpu_time};
use crate::repro::row::BackendKind;
use host::HostError;
use library::Program;
use params::Config;
use repro::{End, MeasureError, Measurement, What};

/// The machine.
pub struct Emx;

/// Bytes of a block.
const BYTES: Opt = Opt {
    name: "bytes",
    about: "bytes of a block, whole words",
    value: Value::Number {
        least: 4,
        most: 131_072,
        usual: 400,
        step: 4,
        rule: "a block has whole words of 4 bytes",
    },
};

const COUNT: Opt = Opt::count("blocks one behind the other", 1, "blocks");

const WAY: Opt = Opt {
    name: "exchange",
    about: "how blocks get from all PEs to all",
    value: Value::Choice(&[
        ("pex", "in pairs"),
        ("lex", "to one PE after the other"),
        ("rex", "by halves, each block to its owner at once"),
        ("rex-classic", "by halves, half of all blocks in each step"),
        ("wex", "by remote writes, and a barrier behind them"),
    ]),
};

const MESSAGE: Opt = Opt {
    name: "message",
    about: "what goes round",
    value: Value::Choice(&[
        ("packet", "a packet, which is not buffered"),
        ("word", "a word, which is buffered"),
        ("block", "a block, and a packet behind it"),
    ]),
};

const TREE: Opt = Opt {
    name: "tree",
    about: "who gives a block on",
    value: Value::Choice(&[("reb", "each PE that has it"), ("lib", "the first PE alone")]),
};

const OPERATION: Opt = Opt {
    name: "operation",
    about: "what all PEs do together",
    value: Value::Choice(&[
        ("scan", "prefix sums of all words"),
        ("shift", "a block to the next PE"),
        ("reduction", "a sum of one word of each"),
    ]),
};

const SCENARIOS: &[Scenario] = &[
    Scenario::new("ring", &[BYTES, MESSAGE]),
    Scenario::new("block", &[BYTES, COUNT]),
    Scenario::new("exchange", &[BYTES, COUNT, WAY]),
    Scenario::new("broadcast", &[BYTES, TREE]),
    Scenario::new("together", &[BYTES, OPERATION]),
];

const WAVES: &[Wave] = &[
    Wave::new("packet", "ring", &[("message", "packet")]),
    Wave::new("block", "ring", &[("message", "block"), ("bytes", "92")]),
    Wave::new(
        "exchange",
        "exchange",
        &[("bytes", "40"), ("count", "1"), ("exchange", "wex")],
    ),
];

const FACTS: Facts = Facts {
    title: "ETL EM-4/EM-X",
    about: "EM-4 and EM-X (ETL, 1990 and 1995) join 80 processing elements, in which a packet of two words starts \
         a thread. The paper builds message passing from such threads, and measures exchanges, broadcasts and sums \
         over 64 elements.",
    paper: repro::PAPER,
    point: "R3",
    next: "--experiment R3 --set write_bypass=1 --set input_first=1",
    shortened: &[],
    scenarios: SCENARIOS,
    waves: WAVES,
    shown: Shown {
        nodes: ["pe_0", "pe_1"],
        unit: "emx_pe",
        signals: signals::SIGNALS,
    },
    bench: Some(Bench {
        workloads: [("blocks between 2 PEs", "block"), ("exchange of 2 PEs", "exchange")],
        network: "80 PEs of EM-4",
        traffic: ["exchange by writes", "exchange in pairs"],
        runs: || [Program::Wex, Program::Pex].map(traffic),
        whole: Some(Whole {
            title: "80 PEs of EM-X, exchange by writes",
            run: whole,
        }),
    }),
    campaign: Some(&Emx),
};

/// CPU time of an exchange of 10 words. What the host loads before it takes no cycle of it, and no time.
fn timed(machine: &mut host::Emx, program: Program) -> Result<Duration, HostError> {
    let (count, words) = (machine.config().used, 10);
    machine.read(0, 0, 1)?;
    let begin = cpu_time();
    machine.run(&library::Run { program, count, words })?;
    Ok(cpu_time() - begin)
}

/// All of the largest machine under the traffic of an exchange.
fn traffic(program: Program) -> NetworkRun {
    let config = Config::paper();
    let mut machine = host::Emx::new(&config, BackendKind::Rtl).expect("the paper's machine");
    let cpu = timed(&mut machine, program).expect("the paper's machine runs it");
    let (cycles, pes) = (machine.cycles(), config.pes());
    let counts: Vec<_> = (0..pes).map(|pe| machine.machine.counts(pe)).collect();
    let per_port = |packets: u64| packets as f64 / (cycles as f64 * f64::from(pes));
    NetworkRun {
        cycles,
        offered: per_port(counts.iter().map(|counts| counts.sent).sum()),
        accepted: per_port(counts.iter().map(|counts| counts.received).sum()),
        cpu,
    }
}

/// The same traffic by writes on the RTL of EM-X.
fn whole() -> Result<WholeRun, MachineError> {
    let mut machine = host::Emx::new(&Config::paper().em_x(), BackendKind::Rtl)?;
    let cpu = timed(&mut machine, Program::Wex)?;
    let cycles = machine.cycles();
    Ok(WholeRun { cycles, cpu })
}

/// The description of a run, and what is done `count` times.
fn what(run: &Run<'_>, config: &Config) -> (String, u32, What) {
    let bytes = || run.number("bytes");
    let used = config.used;
    let program = |program, bytes: u32| What::program(program, used, bytes / 4);
    match run.scenario.name {
        "ring" => {
            let message = run.option("message");
            let (named, what) = match message.as_str() {
                "packet" => ("a packet".to_owned(), program(Program::RingPkt, 0)),
                "word" => ("a word".to_owned(), program(Program::RingWord, 0)),
                _ => (
                    format!("a block of {} B", bytes()),
                    program(Program::RingBlock, bytes()),
                ),
            };
            (format!("Once round {used} PEs: {named},"), used, what)
        }
        "block" => {
            let (bytes, count) = (bytes(), run.number("count"));
            let (from, to) = (0, used - 1);
            let what = What::Carry { from, to, bytes, count };
            (
                format!("{count} x block of {bytes} B from PE {from} to PE {to},"),
                count,
                what,
            )
        }
        "exchange" => {
            let (bytes, count, way) = (bytes(), run.number("count"), run.option("exchange"));
            let chosen = match way.as_str() {
                "lex" => Program::Lex,
                "rex" => Program::Rex,
                "rex-classic" => Program::RexClassic,
                "wex" => Program::Wex,
                _ => Program::Pex,
            };
            let done = format!("{count} x exchange of blocks of {bytes} B between {used} PEs, {way},");
            (done, count, program(chosen, bytes))
        }
        "broadcast" => {
            let (bytes, tree) = (bytes(), run.option("tree"));
            let chosen = if tree == "lib" { Program::Lib } else { Program::Reb };
            (
                format!("Broadcast of {bytes} B to {used} PEs, {tree},"),
                1,
                program(chosen, bytes),
            )
        }
        "together" => {
            let (bytes, operation) = (bytes(), run.option("operation"));
            let (chosen, bytes) = match operation.as_str() {
                "shift" => (Program::Shift, bytes),
                "reduction" => (Program::Reduction, 0),
                _ => (Program::Scan, bytes),
            };
            (
                format!("{operation} of {used} PEs, {bytes} B each,"),
                1,
                program(chosen, bytes),
            )
        }
        other => unreachable!("this machine has no scenario `{other}`"),
    }
}

/// The quantities of a run in which `parts` times something was done, with `bytes` of data.
fn quantities(m: &Measurement, config: &Config, parts: u32, bytes: u64) -> Vec<(&'static str, f64)> {
    let pe_cycles = m.cycles() * f64::from(config.used);
    let mut values = vec![("time", m.us()), ("packets", m.counts.sent as f64)];
    if parts > 1 {
        values.push(("part", m.us() / f64::from(parts)));
    }
    if bytes > 0 {
        values.push(("bandwidth", bytes as f64 / m.us()));
    }
    values.extend([
        ("instructions", m.counts.instructions as f64 / m.counts.sent as f64),
        ("busy", 100.0 * m.counts.busy as f64 / pe_cycles),
        ("waiting", 100.0 * m.counts.send_wait as f64 / pe_cycles),
        ("spilled", m.counts.spilled as f64),
        ("peak", m.peak as f64),
        ("stalled", m.counts.stalled as f64),
    ]);
    values
}

/// Bytes that reach another PE.
fn moved(what: &What, times: u32) -> u64 {
    let (program, count, words) = match *what {
        What::Program { program, count, words } => (program, u64::from(count), u64::from(words)),
        What::Carry { bytes, count, .. } => return u64::from(bytes) * u64::from(count),
        _ => return 0,
    };
    let blocks = match program {
        Program::Lex | Program::Pex | Program::Rex | Program::RexClassic | Program::Wex => {
            count * (count - 1) * u64::from(times)
        }
        Program::Shift | Program::RingBlock => count,
        Program::Lib | Program::Reb => count - 1,
        Program::RingPkt | Program::RingWord | Program::Reduction | Program::Scan => 0,
    };
    4 * words * blocks
}

impl Machine for Emx {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn names(&self) -> &'static [(&'static str, &'static Names)] {
        signals::NAMES
    }

    fn sized(&self, nodes: u16) -> Vec<(&'static str, f64)> {
        vec![("used", nodes.into())]
    }

    fn run(&self, run: &Run<'_>) -> Result<Measured, MachineError> {
        let config = Config::of(run.settings)?;
        let (done, parts, what) = what(run, &config);
        let times = if run.scenario.name == "exchange" { parts } else { 1 };
        let m = repro::measure_times(&config, run.backend, &what, times, run.probe)?;
        if m.end == End::Overflow {
            return Err(MachineError::failure(repro::Overflow { what: done }));
        }
        let values = quantities(&m, &config, parts, moved(&what, times));
        Ok(Measured {
            done,
            values: values
                .into_iter()
                .map(|(name, value)| (repro::quantity(name), value))
                .collect(),
            without: Vec::new(),
            first_word: m.first_word,
            listing: Some(repro::listing(&config, &m)),
        })
    }

    fn carrier(&self, route: &Route<'_>) -> Result<Box<dyn Carrier>, MachineError> {
        Ok(Box::new(carrier::EmxCarrier::new(route)?))
    }
}

impl From<HostError> for MachineError {
    fn from(error: HostError) -> MachineError {
        match error {
            // The machine hangs, or a thread on it stops.
            HostError::Run(_) => MachineError::failure(error),
            _ => MachineError::usage(error),
        }
    }
}

impl From<MeasureError> for MachineError {
    fn from(error: MeasureError) -> MachineError {
        match error {
            MeasureError::Host(error) => error.into(),
            wrong => MachineError::failure(wrong),
        }
    }
}
