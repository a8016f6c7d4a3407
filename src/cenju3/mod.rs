//! NEC Cenju-3: golden models, the machine on RTL, host library, experiments; [`Cenju3`] is its entry point.

pub mod campaign;
mod carrier;
pub mod golden;
pub mod host;
mod lanes;
pub mod model;
pub mod names;
pub mod params;
pub mod regs;
pub mod repro;
pub mod rtl;
mod signals;
pub mod window;

use crate::harness::exec::SimError;
use crate::harness::names::Names;
use crate::harness::params::Table as _;
use crate::machine::{
    Bench, Carrier, Facts, Machine, MachineError, Measured, Opt, Route, Run, Scenario, Shown, Value, Wave,
};
use crate::net::bench::{UNIFORM, omega_uniform};
use host::BootError;
use params::Config;
use repro::{AtEnd, MeasureError, What};

/// The machine.
pub struct Cenju3;

const AT_END: Opt = Opt {
    name: "at-end",
    about: "work of the receiving kernel at the end of a transfer",
    value: Value::Choice(&[
        ("nothing", "the hardware alone"),
        ("stopped", "the Receiver is stopped while the kernel invalidates"),
        ("pieces", "the kernel invalidates one piece while the next is stored"),
    ]),
};

const SCENARIOS: &[Scenario] = &[
    Scenario::new("one-word", &[]),
    Scenario::new(
        "ping-pong",
        &[Opt::count("rounds", 2, "a ping-pong has at least 2 rounds")],
    ),
    Scenario::new(
        "rmwrite",
        &[Opt::bytes(1, "bytes of a CJrmwrite"), Opt::count("calls", 1, "calls")],
    ),
    Scenario::new(
        "stream",
        &[
            Opt::bytes(32, "a DMA is a multiple of 32 bytes"),
            Opt::count("transfers", 1, "transfers"),
            AT_END,
        ],
    ),
];

const WAVES: &[Wave] = &[
    Wave::new("one-word", "one-word", &[]),
    Wave::new("rmwrite", "rmwrite", &[("bytes", "1024"), ("count", "1")]),
    Wave::new(
        "invalidate",
        "stream",
        &[("bytes", "2048"), ("count", "2"), ("at-end", "stopped")],
    ),
];

const FACTS: Facts = Facts {
    title: "NEC Cenju-3",
    about: "Cenju-3 (NEC, 1993) joins up to 256 processors by a network of 4x4 crossbars; its network interface \
         cuts, sends and stores messages by itself, and interrupts only when told to. The paper takes the latency \
         of a message apart, and measures how fast messages of each size arrive.",
    paper: repro::PAPER,
    point: "E4",
    next: "--experiment E7 --set r_thresh=300",
    shortened: &[],
    scenarios: SCENARIOS,
    waves: WAVES,
    shown: Shown {
        nodes: ["nic_0", "nic_1"],
        unit: "cenju3_nic",
        signals: signals::SIGNALS,
    },
    bench: Some(Bench {
        workloads: [("DMA stream of 2 PEs", "stream"), ("CJrmwrite of 2 PEs", "rmwrite")],
        network: "network of 256 ports, 4x4 switches",
        traffic: UNIFORM,
        runs: || [0.3, 0.6].map(|load| omega_uniform(load, 20_000, 1)),
        whole: None,
    }),
    campaign: Some(&Cenju3),
};

/// The description of a run, and its scenario.
fn what(run: &Run<'_>) -> (String, What) {
    match run.scenario.name {
        "one-word" => ("One word as a bare message".into(), What::OneWord),
        "ping-pong" => {
            let rounds = run.number("count");
            let done = format!("One word by CJrmwrite there and back, {rounds} rounds,");
            (done, What::PingPong { rounds })
        }
        "rmwrite" => {
            let (bytes, calls) = (run.number("bytes"), run.number("count"));
            let receiver = true;
            let what = What::Rmwrite { bytes, calls, receiver };
            (format!("{calls} x CJrmwrite of {bytes} B"), what)
        }
        "stream" => {
            let (bytes, transfers) = (run.number("bytes"), run.number("count"));
            let at_end = match run.option("at-end").as_str() {
                "stopped" => AtEnd::InvalidateStopped,
                "pieces" => AtEnd::InvalidatePieces,
                _ => AtEnd::Nothing,
            };
            let what = What::Stream {
                bytes,
                transfers,
                at_end,
            };
            (format!("{transfers} x DMA of {bytes} B"), what)
        }
        other => unreachable!("this machine has no scenario `{other}`"),
    }
}

/// Explanations for quantities that cannot have a value.
fn without(what: &What, config: &Config) -> Vec<(&'static str, &'static str)> {
    const USER_LEVEL: &str = "– belongs to the system call, which user_level=1 removes";
    let mut without = Vec::new();
    if let What::Rmwrite { calls: 1, .. } | What::Stream { transfers: 1, .. } = what {
        without.push(("steady_rate", "– needs --count 2 or more"));
    }
    if config.user_level {
        without.extend([("syscall", USER_LEVEL), ("kernel_to_start", USER_LEVEL)]);
    }
    without
}

impl Machine for Cenju3 {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn names(&self) -> &'static [(&'static str, &'static Names)] {
        signals::NAMES
    }

    fn sized(&self, nodes: u16) -> Vec<(&'static str, f64)> {
        vec![("pes", nodes.into())]
    }

    fn run(&self, run: &Run<'_>) -> Result<Measured, MachineError> {
        let (config, (done, what)) = (Config::of(run.settings)?, what(run));
        let without = without(&what, &config);
        let scenario = repro::Scenario {
            backend: run.backend,
            config,
            what,
        };
        let measured = repro::measure_with_wave(&scenario, run.probe)?;
        let values = measured.values.iter();
        Ok(Measured {
            done,
            values: values.map(|(name, value)| (repro::quantity(name), *value)).collect(),
            without,
            first_word: measured.first_flit,
            listing: None,
        })
    }

    fn carrier(&self, route: &Route<'_>) -> Result<Box<dyn Carrier>, MachineError> {
        Ok(Box::new(carrier::Cenju3Carrier::new(route)?))
    }
}

impl From<MeasureError> for MachineError {
    fn from(error: MeasureError) -> MachineError {
        use MeasureError::{Boot, MemoryTooSmall, NotBuilt, Sim};
        match error {
            // Settings within their ranges that together make no machine, or one that refuses the request.
            NotBuilt(_)
            | Boot(BootError::MemoryTooSmall { .. })
            | MemoryTooSmall { .. }
            | Sim(SimError::Failed { .. }) => MachineError::usage(error),
            _ => MachineError::failure(error),
        }
    }
}
