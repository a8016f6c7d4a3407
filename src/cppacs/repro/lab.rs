//! The measurements of the experiments: programs on machines of their own.

use super::measure::{MeasureError, measure};
use super::{ENTRIES, Run};
use crate::Picos;
use crate::cppacs::Cppacs;
use crate::cppacs::kernels::Job;
use crate::cppacs::params::Config;
use crate::repro::lab::{self, Entry, Subject};
use crate::repro::row::{BackendKind, Spec};
use crate::repro::{Curve, Quantity, mb_s, us};

/// One experiment on one backend, under way.
pub type Lab<'a> = lab::Lab<'a, Cppacs>;

/// What is done on a machine. The sender is node 0, the receiver the last node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// RDMA there and back, packing and unpacking included.
    PingPong { bytes: u32, rounds: u32 },
    /// RDMA one after the other by a prepared TCW, without any copy.
    Stream { bytes: u32, count: u32 },
    /// The same once to all nodes.
    Broadcast { bytes: u32 },
    /// GETs one after the other.
    Get { bytes: u32, count: u32 },
    /// The same by PVM between two tasks, the second round of two.
    Pvm { bytes: u32 },
    /// Worms of all nodes at once, step after step: how long they wait for each other.
    Conflicts(Pattern),
    /// A kernel's traffic by RDMA or by PVM.
    Kernel { job: Job, by_pvm: bool },
}

/// Who sends to whom at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Neighbours along each axis, both ways, round its end.
    Neighbours,
    /// Every shift of the node numbers.
    Shifts,
    /// Every mesh of at most as many nodes, numbered by rows: each of its four steps.
    Meshes,
    /// Every torus of all nodes with sides that are powers of two.
    Tori,
}

/// One machine and what is done on it.
pub type Scenario = lab::Job<Config, What>;

const QUANTITIES: [Quantity; 11] = [
    us("time", "a transfer, from its call to the end of the wait"),
    us("way", "from the kick to the receive flag, without software"),
    mb_s(
        "bandwidth",
        "bytes over the time from flag to flag, or over the time of one",
    ),
    us("worm", "from the first word on the link to the last flag"),
    Quantity {
        name: "stalled",
        what: "cycles that worms waited in the network",
        unit: "",
    },
    Quantity {
        name: "steps",
        what: "steps of traffic",
        unit: "",
    },
    Quantity {
        name: "worms",
        what: "worms sent on the data channel",
        unit: "",
    },
    Quantity {
        name: "pieces",
        what: "worms of data of one message",
        unit: "",
    },
    Quantity {
        name: "acks",
        what: "acknowledgements of one message",
        unit: "",
    },
    Quantity {
        name: "answered",
        what: "requests answered",
        unit: "",
    },
    Quantity {
        name: "refused",
        what: "messages refused",
        unit: "",
    },
];

/// The quantity of that name.
///
/// # Panics
/// No scenario has a quantity of that name.
pub fn quantity(name: &str) -> &'static Quantity {
    let found = QUANTITIES.iter().find(|quantity| quantity.name == name);
    found.unwrap_or_else(|| panic!("no quantity `{name}`"))
}

/// What a run gave.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    pub values: Vec<(&'static str, f64)>,
    /// When node 0 showed its first word on a link.
    pub first_word: Option<Picos>,
}

impl Measurement {
    /// A value; NaN where it was not measured.
    pub fn get(&self, name: &str) -> f64 {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map_or(f64::NAN, |&(_, value)| value)
    }
}

impl Subject for Cppacs {
    const NAME: &'static str = "cppacs";
    const EXPERIMENTS: &'static [Entry<Run>] = ENTRIES;

    type Config = Config;
    type Run = Run;
    type Job = Scenario;
    type Measured = Measurement;
    type Error = MeasureError;

    fn perform(run: Run, lab: &mut Lab<'_>) {
        run(lab);
    }

    /// Approximate worms times nodes on the model, cycles times nodes on the RTL.
    fn cost(scenario: &Scenario) -> u64 {
        let nodes = u64::from(scenario.config.grid().nodes());
        let (bytes, count) = match scenario.what {
            What::PingPong { bytes, rounds } => (bytes, 2 * rounds),
            What::Stream { bytes, count } | What::Get { bytes, count } => (bytes, count),
            What::Broadcast { bytes } => (bytes, 1),
            What::Pvm { bytes } => (bytes, 8),
            What::Conflicts(_) => return 1000 * nodes,
            What::Kernel { job, by_pvm } => {
                let messages = job.messages() * if by_pvm { 3 } else { 1 };
                return messages
                    * if scenario.backend == BackendKind::Model {
                        2
                    } else {
                        1000 * nodes
                    };
            }
        };
        let worms = u64::from(count) * u64::from(1 + bytes / 65_536);
        match scenario.backend {
            BackendKind::Model => worms * nodes,
            BackendKind::Rtl => nodes * u64::from(count) * u64::from(1000 + bytes / 4),
        }
    }

    fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
        measure(scenario)
    }
}

impl Lab<'_> {
    /// The user's machine on this grid.
    pub fn grid(&self, (x, y, z): (u32, u32, u32)) -> Config {
        let mut config = self.with(&[("x", x.into()), ("y", y.into()), ("z", z.into())]);
        // The experiments need little memory, and a large machine has many.
        config.mem_bytes = config.mem_bytes.min(0x40_0000);
        config
    }

    /// A run on the backend of this lab.
    pub fn measure(&self, config: &Config, what: What) -> Measurement {
        self.measure_on(self.backend(), config, what)
    }

    /// A run on this backend.
    pub fn measure_on(&self, backend: BackendKind, config: &Config, what: What) -> Measurement {
        let config = config.clone();
        self.ask(Scenario { backend, config, what })
    }

    /// A value at each of these sizes, over KB.
    pub fn curve(&self, name: &str, sizes: &[u32], value: impl Fn(u32) -> f64) -> Curve {
        let point = |&bytes: &u32| (f64::from(bytes) / 1024.0, value(bytes));
        Curve {
            name: name.into(),
            points: sizes.iter().map(point).collect(),
        }
    }

    /// On the RTL, a row that compares a value with the model's.
    pub fn agrees(&mut self, row: &str, config: &Config, what: What, value: &str, depends: &[&'static str]) {
        if self.backend() != BackendKind::Rtl {
            return;
        }
        let both = [BackendKind::Rtl, BackendKind::Model];
        let [rtl, model] = both.map(|backend| self.measure_on(backend, config, what).get(value));
        let spec = Spec::new(format!("{row}_model"), "golden model over RTL", "%");
        self.row(
            spec.within(-AGREEMENT, AGREEMENT).depends(depends),
            (model / rtl - 1.0) * 100.0,
        );
    }
}

/// Percent by which the model may differ from the RTL.
const AGREEMENT: f64 = 2.0;
