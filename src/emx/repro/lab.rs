//! The measurements of the experiments: programs on machines of their own.

use super::measure::{MeasureError, measure};
use super::{ENTRIES, Run};
use crate::Picos;
use crate::emx::Emx;
use crate::emx::backend::{Counts, Executed, Seen};
use crate::emx::library::Program;
use crate::emx::params::Config;
use crate::repro::lab::{self, Entry, Subject};
use crate::repro::row::{BackendKind, Spec};
use crate::repro::{Curve, Quantity, mb_s, us};
use std::collections::BTreeMap;

/// One experiment on one backend, under way.
pub type Lab<'a> = lab::Lab<'a, Emx>;

/// What is done on a machine.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A program of the library on PEs 0 to `count` - 1; its data are checked.
    Program { program: Program, count: u32, words: u32 },
    /// A block round a loop, while the host reads PE 0's memory.
    Polled { words: u32 },
    /// All PEs write blocks to each other, each with a sync behind it that looks for the data.
    Syncs { urgent: bool },
    /// `count` blocks of `bytes` from one PE to another.
    Carry { from: u32, to: u32, bytes: u32, count: u32 },
}

impl What {
    /// A program on the first `count` PEs.
    pub fn program(program: Program, count: u32, words: u32) -> What {
        What::Program { program, count, words }
    }
}

/// One machine and what is done on it.
pub type Scenario = lab::Job<Config, What>;

const QUANTITIES: [Quantity; 10] = [
    us("time", "start to the last PE's result"),
    us("part", "the same, for one PE of a ring, one block or one exchange"),
    mb_s("bandwidth", "bytes over that time"),
    Quantity {
        name: "packets",
        what: "packets that threads sent",
        unit: "",
    },
    Quantity {
        name: "instructions",
        what: "instructions by packet sent",
        unit: "",
    },
    Quantity {
        name: "busy",
        what: "share of the time in which a PE runs a thread, mean",
        unit: "%",
    },
    Quantity {
        name: "waiting",
        what: "share of the time in which a thread waits to send, mean",
        unit: "%",
    },
    Quantity {
        name: "spilled",
        what: "packets that went to memory",
        unit: "",
    },
    Quantity {
        name: "peak",
        what: "most packets in an input buffer, those in memory included",
        unit: "",
    },
    Quantity {
        name: "stalled",
        what: "cycles in which an input buffer had no room, all PEs",
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

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// It did not run yet.
    #[default]
    Nothing,
    Result,
    /// The memory for packets of a PE was full.
    Overflow,
    /// A thread stopped the PE, with this code.
    Trap(i32),
}

/// What a run gave.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    pub end: End,
    /// Cycles to the last result; 0 without one.
    pub cycles: u64,
    pub time_us: f64,
    /// Of all PEs.
    pub counts: Counts,
    pub peak: usize,
    /// The host's longest wait in cycles, where that is known.
    pub polled: Option<u64>,
    /// Words that were checked, and those that were wrong.
    pub checked: u32,
    pub wrong: u32,
    /// When PE 0 showed its first word on a link.
    pub first_word: Option<Picos>,
    pub seen: Vec<Vec<Seen>>,
    pub executed: BTreeMap<u32, Executed>,
}

impl Measurement {
    /// Cycles to the last result; NaN without one.
    pub fn cycles(&self) -> f64 {
        if self.end == End::Result {
            self.cycles as f64
        } else {
            f64::NAN
        }
    }

    /// Time, us; not a number where the program had no result.
    pub fn us(&self) -> f64 {
        if self.end == End::Result {
            self.time_us
        } else {
            f64::NAN
        }
    }
}

impl Subject for Emx {
    const NAME: &'static str = "emx";
    const EXPERIMENTS: &'static [Entry<Run>] = ENTRIES;

    type Config = Config;
    type Run = Run;
    type Job = Scenario;
    type Measured = Measurement;
    type Error = MeasureError;

    fn perform(run: Run, lab: &mut Lab<'_>) {
        run(lab);
    }

    /// Approximate cycles of PEs.
    fn cost(scenario: &Scenario) -> u64 {
        let (program, count, words) = match scenario.what {
            What::Program { program, count, words } => (program, u64::from(count), u64::from(words.max(2))),
            What::Polled { words } => (Program::RingBlock, 5, words.into()),
            What::Syncs { .. } => (Program::Shift, 80, 4000),
            What::Carry { bytes, count, .. } => (Program::Shift, 2, u64::from(bytes * count / 4)),
        };
        let blocks = match program {
            Program::Lex => 3 * count,
            Program::Pex | Program::Rex => 2 * count,
            Program::RexClassic => 6 * count,
            Program::Wex | Program::Lib => count,
            _ => 6,
        };
        let slow = if scenario.backend == BackendKind::Rtl { 10 } else { 1 };
        count * blocks * words * slow
    }

    fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
        measure(scenario)
    }
}

impl Lab<'_> {
    /// A run on the backend of this lab.
    pub fn measure(&self, config: &Config, what: What) -> Measurement {
        self.measure_on(self.backend(), config, what)
    }

    /// A run on this backend.
    pub fn measure_on(&self, backend: BackendKind, config: &Config, what: What) -> Measurement {
        let config = config.clone();
        self.ask(Scenario { backend, config, what })
    }

    /// The user's machine runs a program on the PEs that programs use.
    pub fn program(&self, program: Program, words: u32) -> Measurement {
        let config = self.config();
        self.measure(config, What::program(program, config.used, words))
    }

    /// The round trip over a loop of 5 PEs.
    pub fn ring(&self, config: &Config, program: Program, words: u32) -> Measurement {
        self.measure(config, What::program(program, LOOP, words))
    }

    /// A value at each of these abscissas.
    pub fn curve(&self, name: &str, xs: &[u32], value: impl Fn(u32) -> f64) -> Curve {
        Curve {
            name: name.into(),
            points: xs.iter().map(|&x| (f64::from(x), value(x))).collect(),
        }
    }

    /// On the RTL, a row that compares the time with the model's.
    pub fn agrees(&mut self, row: &str, what: What, depends: &[&'static str]) {
        if self.backend() != BackendKind::Rtl {
            return;
        }
        let config = self.config();
        let [rtl, model] = [BackendKind::Rtl, BackendKind::Model]
            .map(|backend| self.measure_on(backend, config, what.clone()).cycles());
        let spec = Spec::new(format!("{row}_model"), "golden model over RTL", "%");
        self.row(
            spec.within(-AGREEMENT, AGREEMENT).depends(depends),
            (model / rtl - 1.0) * 100.0,
        );
    }
}

/// PEs of a loop (4.1).
pub const LOOP: u32 = 5;

/// Percent by which the model may differ from the RTL.
const AGREEMENT: f64 = 5.0;
