//! Fujitsu AP1000+: golden models of its parts, the machine on RTL, its host software, experiments; [`Ap1000p`] is the
//! entry point.

pub mod bif_regs;
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

use crate::harness::names::Names;
use crate::harness::params::Table as _;
use crate::machine::{Bench, Carrier, Facts, Machine, MachineError, Measured, Opt, Route, Run, Scenario, Shown, Wave};
use crate::net::bench::{UNIFORM, torus_uniform};
use crate::net::torus::Torus;
use params::Config;
use repro::MeasureError;
use repro::scenario::{self, What};

/// The machine.
pub struct Ap1000p;

const BYTES: Opt = Opt::bytes(4, "a message is a multiple of 4 bytes");

const SCENARIOS: &[Scenario] = &[
    Scenario::new("put", &[BYTES, Opt::count("calls", 1, "calls")]),
    Scenario::new("get", &[BYTES, Opt::count("calls", 1, "calls")]),
    Scenario::new("load", &[Opt::count("loads", 1, "loads")]),
    Scenario::new(
        "ping-pong",
        &[Opt::count("rounds", 2, "a ping-pong has at least 2 rounds")],
    ),
];

const WAVES: &[Wave] = &[
    Wave::new("put", "put", &[("bytes", "64"), ("count", "1")]),
    Wave::new("stream", "put", &[("bytes", "64"), ("count", "8")]),
    Wave::new("get", "get", &[("bytes", "64"), ("count", "1")]),
    Wave::new("load", "load", &[("count", "2")]),
];

const FACTS: Facts = Facts {
    title: "Fujitsu AP1000+",
    about: "AP1000+ (Fujitsu, 1994) joins up to 1024 cells by a torus; user programs write PUT and GET commands \
         straight to its message controller, and no store waits when a queue overflows. The papers state what the \
         controller does and how long a PUT takes.",
    paper: repro::PAPER,
    point: "M2",
    next: "--experiment M1 --set mem_read_latency=30",
    shortened: &["C11", "C21"],
    scenarios: SCENARIOS,
    waves: WAVES,
    shown: Shown {
        nodes: ["cell0", "cell1"],
        unit: "ap1000p_cell",
        signals: signals::SIGNALS,
    },
    campaign: Some(&Ap1000p),
    bench: Some(Bench {
        workloads: [("PUT between 2 cells", "put"), ("GET between 2 cells", "get")],
        network: "torus of 16x16 routers",
        traffic: UNIFORM,
        runs: || [0.05, 0.15].map(|load| torus_uniform(Torus::new(16, 16), load, 5_000, 1).network),
        whole: None,
    }),
};

/// The description of a run, and its operation.
fn what(run: &Run<'_>) -> (String, What) {
    let count = run.number("count");
    match run.scenario.name {
        "put" => {
            let bytes = run.number("bytes");
            (format!("{count} x PUT of {bytes} B"), What::Put { bytes, count })
        }
        "get" => {
            let bytes = run.number("bytes");
            (format!("{count} x GET of {bytes} B"), What::Get { bytes, count })
        }
        "load" => (format!("{count} x load of a neighbour's word"), What::Load { count }),
        "ping-pong" => (
            format!("One word by PUT there and back, {count} rounds,"),
            What::PingPong { rounds: count },
        ),
        other => unreachable!("this machine has no scenario `{other}`"),
    }
}

impl Machine for Ap1000p {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn names(&self) -> &'static [(&'static str, &'static Names)] {
        signals::NAMES
    }

    /// Cells in a rectangle as nearly square as the number allows.
    fn sized(&self, nodes: u16) -> Vec<(&'static str, f64)> {
        let rows = (1..=nodes.isqrt()).rev().find(|rows| nodes.is_multiple_of(*rows));
        let rows = rows.expect("every number is a multiple of 1");
        vec![("columns", f64::from(nodes / rows)), ("rows", rows.into())]
    }

    fn run(&self, run: &Run<'_>) -> Result<Measured, MachineError> {
        let (mut config, (done, what)) = (Config::of(run.settings)?, what(run));
        if !run.settings.sets("mem_bytes") {
            config.mem_bytes = config.mem_bytes.max(what.mem_bytes());
        }
        let once = matches!(what, What::Load { count: 1 });
        let scenario = scenario::Scenario {
            backend: run.backend,
            config,
            what,
        };
        let measured = scenario::measure(&scenario, run.probe)?;
        Ok(Measured {
            done,
            values: measured.values,
            without: once
                .then_some(("later", "– needs --count 2 or more"))
                .into_iter()
                .collect(),
            first_word: measured.first_word,
            listing: None,
        })
    }

    fn carrier(&self, route: &Route<'_>) -> Result<Box<dyn Carrier>, MachineError> {
        Ok(Box::new(carrier::Ap1000pCarrier::new(route)?))
    }
}

impl From<MeasureError> for MachineError {
    fn from(error: MeasureError) -> MachineError {
        use MeasureError::{Alone, Boot, Memory, NotBuilt, Param, Size};
        match error {
            // Settings within their ranges that together make no machine, or one that refuses the request.
            NotBuilt(_) | Param(_) | Boot(_) | Size | Alone | Memory { .. } => MachineError::usage(error),
            _ => MachineError::failure(error),
        }
    }
}
