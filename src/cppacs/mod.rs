//! Tsukuba CP-PACS: remote DMA over a hyper-crossbar; [`Cppacs`] is the entry point. See
//! `docs/machines/cppacs-contract.md`.

mod carrier;
pub mod golden;
pub mod host;
pub mod kernels;
pub mod lines;
pub mod model;
pub mod params;
pub mod regs;
pub mod repro;
pub mod rtl;
mod signals;
mod speed;

use crate::harness::backend::HostReq;
use crate::harness::params::Table as _;
use crate::machine::{
    Bench, Carrier, Facts, Machine, MachineError, Measured, Opt, Route, Run, Scenario, Shown, Value, Wave, Whole,
};
use params::Config;
use repro::{MeasureError, What};

/// The machine.
pub struct Cppacs;

/// Bytes of a transfer, whole units of 8.
const BYTES: Opt = Opt {
    name: "bytes",
    about: "bytes of a transfer, a multiple of 8",
    value: Value::Number {
        least: 8,
        most: 1_048_576,
        usual: 8192,
        step: 8,
        rule: "a transfer is a multiple of 8 bytes",
    },
};

/// Bytes of a GET.
const GET_BYTES: Opt = Opt {
    value: Value::Number {
        least: 8,
        most: 65_536,
        usual: 8192,
        step: 8,
        rule: "a GET is a multiple of 8 bytes, at most a worm",
    },
    ..BYTES
};

const SCENARIOS: &[Scenario] = &[
    Scenario::new("ping-pong", &[BYTES, Opt::count("rounds", 1, "rounds")]),
    Scenario::new(
        "rdma",
        &[BYTES, Opt::count("transfers one behind the other", 1, "transfers")],
    ),
    Scenario::new("broadcast", &[BYTES]),
    Scenario::new("get", &[GET_BYTES, Opt::count("GETs one after the other", 1, "GETs")]),
];

const WAVES: &[Wave] = &[
    Wave::new("rdma", "rdma", &[("bytes", "256"), ("count", "1")]),
    Wave::new("ping-pong", "ping-pong", &[("bytes", "8"), ("count", "1")]),
    Wave::new("get", "get", &[("bytes", "64"), ("count", "1")]),
];

const FACTS: Facts = Facts {
    title: "CP-PACS",
    paper: repro::PAPER,
    next: "--experiment N1 --set memory_read_latency=60",
    shortened: &["T3", "T4"],
    scenarios: SCENARIOS,
    waves: WAVES,
    shown: Shown {
        nodes: ["nia_0", "nia_1"],
        unit: "cppacs_nia",
        signals: signals::SIGNALS,
    },
    bench: Some(Bench {
        workloads: [("RDMA between 2 nodes", "rdma"), ("GET between 2 nodes", "get")],
        network: "hyper-crossbar of 4x4x8 nodes",
        traffic: ["worms of 16 words", "worms of 262 words"],
        runs: || [16, 262].map(speed::network),
        whole: Some(Whole {
            title: "128 nodes, RDMA from all to all",
            run: || speed::all_to_all(speed::GRID),
        }),
    }),
    campaign: None,
};

/// The description of a run, and what is done.
fn what(run: &Run<'_>) -> (String, What) {
    let bytes = run.number("bytes");
    match run.scenario.name {
        "ping-pong" => {
            let rounds = run.number("count");
            let done = format!("{bytes} B by RDMA there and back, {rounds} rounds,");
            (done, What::PingPong { bytes, rounds })
        }
        "rdma" => {
            let count = run.number("count");
            (format!("{count} x RDMA of {bytes} B"), What::Stream { bytes, count })
        }
        "broadcast" => (
            format!("Broadcast of {bytes} B to all nodes"),
            What::Broadcast { bytes },
        ),
        "get" => {
            let count = run.number("count");
            (format!("{count} x GET of {bytes} B"), What::Get { bytes, count })
        }
        other => unreachable!("this machine has no scenario `{other}`"),
    }
}

/// The grid of so many nodes that is nearest to a cube; X and Z have up to 16 of them, Y up to 17.
pub fn grid(nodes: u32) -> (u32, u32, u32) {
    let sides = |most: u32| (1..=most).filter(move |side| nodes.is_multiple_of(*side));
    let grids = sides(16).flat_map(|x| sides(17).map(move |y| (x, y)));
    let whole = grids.filter(|(x, y)| nodes.is_multiple_of(x * y) && nodes / (x * y) <= 16);
    let nearest = whole
        .map(|(x, y)| (x, y, nodes / (x * y)))
        .min_by_key(|&(x, y, z)| (x + y + z, z, y));
    nearest.unwrap_or((nodes, 1, 1))
}

/// Bytes of the NIA's window.
const WINDOW: u64 = 1 << 17;

/// An access of a whole register of the window. The bus refuses any other; the NIA never sees it.
fn is_whole(req: HostReq) -> bool {
    let HostReq { addr, bytes, .. } = req;
    bytes == 8 && addr.is_multiple_of(8) && addr < WINDOW
}

impl Machine for Cppacs {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn sized(&self, nodes: u16) -> Vec<(&'static str, f64)> {
        let (x, y, z) = grid(nodes.into());
        vec![("x", x.into()), ("y", y.into()), ("z", z.into())]
    }

    fn run(&self, run: &Run<'_>) -> Result<Measured, MachineError> {
        let (config, (done, what)) = (Config::of(run.settings)?, what(run));
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
            without: Vec::new(),
            first_word: measured.first_word,
            listing: None,
        })
    }

    fn carrier(&self, route: &Route<'_>) -> Result<Box<dyn Carrier>, MachineError> {
        Ok(Box::new(carrier::CppacsCarrier::new(route)?))
    }
}

impl From<MeasureError> for MachineError {
    fn from(error: MeasureError) -> MachineError {
        use MeasureError::{Boot, NotBuilt};
        match error {
            // Settings within their ranges that together make no machine.
            NotBuilt(_) | Boot(_) => MachineError::usage(error),
            _ => MachineError::failure(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_near_cubes() {
        let grids = [1, 2, 4, 8, 16, 128, 1088, 13].map(grid);
        assert_eq!(grids[..4], [(1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2)]);
        assert_eq!(grids[5].0 * grids[5].1 * grids[5].2, 128);
        assert_eq!(grids[6], (8, 17, 8));
        assert_eq!(grids[7], (13, 1, 1));
    }
}
