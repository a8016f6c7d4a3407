//! DIMMnet-1: Martini, a network interface in a memory slot, with its on-chip processor; [`Dimmnet1`] is the entry
//! point.

pub mod campaign;
mod carrier;
pub mod firmware;
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
mod speed;
pub mod window;

use verilated::Context;

use crate::harness::names::Names;
use crate::harness::params::Table as _;
use crate::machine::{
    Bench, Carrier, Facts, Machine, MachineError, Measured, Opt, Route, Run, Scenario, Shown, Value, Wave, Whole,
};
use crate::net::bench::{UNIFORM, uniform};
use crate::net::fabric::Fabric;
use crate::net::topology::Omega;
use crate::rtl::Dimmnet1Switch16;
use host::Barrier;
use params::Config;
use regs::HDR_W0_DST_SHIFT;
use repro::{MeasureError, Way, What};

/// The machine.
pub struct Dimmnet1;

const BYTES: Opt = Opt::bytes(1, "a transfer has any number of bytes");

const WAY: Opt = Opt {
    name: "way",
    about: "who puts the data where they belong at the receiver",
    value: Value::Choice(&[
        ("direct", "the hardware, where the packets say"),
        (
            "indirect",
            "the firmware, or hardware (matching=1), puts the address in, and the receiver goes on",
        ),
        ("rvatlb", "the same, when the region misses RVATLB"),
        ("patlb", "the same, when the page misses PATLB"),
        ("soft", "the firmware alone"),
    ]),
};

const KIND: Opt = Opt {
    name: "barrier",
    about: "who counts at a barrier, and how the release reaches all",
    value: Value::Choice(&[
        ("processor", "the on-chip processor; a packet to each node"),
        ("processor-multicast", "the on-chip processor; one packet to all"),
        ("hosts", "a host; a store for each node"),
        ("hosts-multicast", "a host; one store for all"),
    ]),
};

const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "ping-pong",
        &[Opt::count("rounds", 2, "a ping-pong has at least 2 rounds")],
    ),
    Scenario::new("botf", &[BYTES, Opt::count("sends", 1, "sends"), WAY]),
    Scenario::new("push", &[BYTES, Opt::count("sends", 1, "sends")]),
    Scenario::new("pull", &[BYTES, Opt::count("reads", 1, "reads")]),
    Scenario::new("barrier", &[Opt::count("barriers", 1, "barriers"), KIND]),
    Scenario::new("message", &[BYTES, Opt::count("messages", 1, "messages")]),
];

const WAVES: &[Wave] = &[
    Wave::new("aotf", "ping-pong", &[("count", "8")]),
    Wave::new("botf", "botf", &[("bytes", "928"), ("count", "1")]),
    Wave::new("stop", "botf", &[("bytes", "928"), ("count", "1"), ("way", "patlb")]),
];

const FACTS: Facts = Facts {
    title: "DIMMnet-1",
    about: "DIMMnet-1 (RWCP, 2002) is a network interface in a memory slot of a PC: a store becomes a packet, and \
         firmware of an on-chip processor does what the hardware lacks. The paper measures the bandwidth of both, \
         and where the firmware spends its cycles.",
    paper: repro::PAPER,
    point: "X2",
    next: "--experiment X7 --set mem_write_latency=40",
    shortened: &[],
    scenarios: SCENARIOS,
    waves: WAVES,
    shown: Shown {
        nodes: ["nic_0", "nic_1"],
        unit: "dimmnet1_nic",
        signals: signals::SIGNALS,
    },
    bench: Some(Bench {
        workloads: [
            ("BOTF between 2 nodes", "botf"),
            ("messages between 2 nodes", "message"),
        ],
        network: "switch of 16 ports",
        traffic: UNIFORM,
        runs: || [0.3, 0.6].map(|load| uniform(network(), SWITCH_PORTS, HDR_W0_DST_SHIFT, (load, 20_000, 1))),
        whole: Some(Whole {
            title: "16 nodes, BOTF from all to all",
            run: speed::all_to_all,
        }),
    }),
    campaign: Some(&Dimmnet1),
};

const SWITCH_PORTS: usize = Dimmnet1Switch16::N;

/// The largest switch, without cards.
fn network() -> Fabric<rtl::Switch<Dimmnet1Switch16>> {
    let context = Context::new();
    Fabric::new(Omega::new(SWITCH_PORTS, 1), SWITCH_PORTS, |_, _| {
        rtl::Switch::new(&context, SWITCH_PORTS)
    })
}

/// The description of a run, and its scenario.
fn what(run: &Run<'_>) -> (String, What) {
    let count = run.number("count");
    let bytes = || run.number("bytes");
    match run.scenario.name {
        "ping-pong" => {
            let done = format!("One word by AOTF there and back, {count} rounds,");
            (done, What::PingPong { rounds: count })
        }
        "botf" => {
            let (bytes, way) = (bytes(), run.option("way"));
            let done = format!("{count} x BOTF of {bytes} B, {way},");
            let way = match way.as_str() {
                "indirect" => Way::Indirect,
                "rvatlb" => Way::Region,
                "patlb" => Way::Page,
                "soft" => Way::Soft,
                _ => Way::Botf,
            };
            (done, What::Send { way, bytes, count })
        }
        "push" => {
            let (way, bytes) = (Way::Rdma, bytes());
            let done = format!("{count} x RDMA PUSH of {bytes} B");
            (done, What::Send { way, bytes, count })
        }
        "pull" => {
            let bytes = bytes();
            (format!("{count} x RDMA PULL of {bytes} B"), What::Pull { bytes, count })
        }
        "barrier" => {
            let name = run.option("barrier");
            let barrier = match name.as_str() {
                "processor-multicast" => Barrier::ProcessorMulticast,
                "hosts" => Barrier::Hosts,
                "hosts-multicast" => Barrier::HostsMulticast,
                _ => Barrier::Processor,
            };
            (format!("{count} x barrier, {name},"), What::Barrier { barrier, count })
        }
        "message" => {
            let bytes = bytes();
            (
                format!("{count} x message of {bytes} B"),
                What::Message { bytes, count },
            )
        }
        other => unreachable!("this machine has no scenario `{other}`"),
    }
}

impl Machine for Dimmnet1 {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn names(&self) -> &'static [(&'static str, &'static Names)] {
        signals::NAMES
    }

    fn sized(&self, nodes: u16) -> Vec<(&'static str, f64)> {
        vec![("nodes", nodes.into())]
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
            listing: Some(measured.profile.listing(&scenario.config)),
        })
    }

    fn carrier(&self, route: &Route<'_>) -> Result<Box<dyn Carrier>, MachineError> {
        Ok(Box::new(carrier::Dimmnet1Carrier::new(route)?))
    }
}

impl From<MeasureError> for MachineError {
    fn from(error: MeasureError) -> MachineError {
        use MeasureError::{Boot, NotBuilt, TooLong};
        match error {
            // Settings within their ranges that together make no machine, or one that refuses the request.
            NotBuilt(_) | Boot(_) | TooLong { .. } => MachineError::usage(error),
            _ => MachineError::failure(error),
        }
    }
}
