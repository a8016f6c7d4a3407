//! The measurements of the experiments: scenarios on machines of their own, and the curves made of them.

use super::measure::{MeasureError, measure};
use super::{ENTRIES, Run};
use crate::Picos;
use crate::cenju3::Cenju3;
use crate::cenju3::names::REGISTERS;
use crate::cenju3::params::Config;
use crate::repro::lab::{self, Entry, Subject};
use crate::repro::row::{BackendKind, Spec};
use crate::repro::{Curve, Quantity, Record, Trace, mb_s, us};

/// One experiment on one backend, under way.
pub type Lab<'a> = lab::Lab<'a, Cenju3>;

/// Transfer sizes of every throughput curve, KB.
pub const SIZES_KB: [f64; 13] = [0.5, 1.0, 2.0, 4.0, 6.0, 6.5, 7.0, 7.5, 8.0, 16.0, 32.0, 64.0, 128.0];

/// The scenario of one machine.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// One message of one word as a bare parcel, PE 0 to PE 1.
    OneWord,
    /// One word by `CJrmwrite` to PE 1 and back, `rounds` times.
    PingPong { rounds: u32 },
    /// One line by DMA to PE 1, sent from user level without an end interrupt; a program of PE 1 polls for it.
    Line,
    /// A DMA of a packet with an arrival interrupt; then, alone, the longest parcel with an end interrupt.
    Parcel,
    /// The longest parcels, queued until each queue refuses one.
    Fill,
    /// `calls` successive calls of `CJrmwrite`. Without a receiver, PE 1 takes everything at wire speed and its CPU is
    /// idle.
    Rmwrite { bytes: u32, calls: u32, receiver: bool },
    /// `transfers` DMA parcels, queued as fast as possible; `at_end` is the work of PE 1's kernel after each.
    Stream { bytes: u32, transfers: u32, at_end: AtEnd },
}

/// The receiving kernel's work after a DMA transfer is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Nothing: the hardware alone.
    Nothing,
    /// The Receiver is stopped while the kernel invalidates the whole transfer.
    InvalidateStopped,
    /// The transfer is cut into pieces; the kernel invalidates one while the next is stored.
    InvalidatePieces,
}

/// One machine and its scenario.
pub type Scenario = lab::Job<Config, What>;

impl Scenario {
    /// Approximate time to simulate it: the longest jobs start first.
    pub fn cost(&self) -> u64 {
        let bytes = match self.what {
            What::OneWord | What::Line | What::Fill => 64,
            What::Parcel => 1 << 17,
            What::PingPong { rounds } => 512 * u64::from(rounds),
            What::Rmwrite { bytes, calls, .. } => u64::from(bytes) * u64::from(calls),
            What::Stream { bytes, transfers, .. } => u64::from(bytes) * u64::from(transfers),
        };
        match self.backend {
            BackendKind::Rtl => bytes * 50,
            BackendKind::Model => bytes,
        }
    }
}

const QUANTITIES: [Quantity; 19] = [
    us("pointer_write", "Header Queue Pointer written"),
    us("header_read", "parcel header read"),
    us("body_read", "parcel body read"),
    us("sync", "network synchronisation"),
    us("switch", "network switching"),
    us("header_write", "packet header written"),
    us("total", "Sender start to packet header in memory"),
    us("irq", "header in memory to interrupt recognised"),
    us("recognised", "Sender start to interrupt recognised"),
    us("round_trip", "one word, there and back"),
    us("one_way", "one word, one way"),
    us("syscall", "user call to kernel"),
    us("kernel_to_start", "kernel to Sender start"),
    us("call_to_start", "user call to Sender start"),
    us("start_to_kernel", "Sender start to interrupt recognised"),
    us("receive_kernel", "interrupt recognised to data at the user"),
    mb_s("steady_rate", "steady-state throughput, first half left out"),
    mb_s(
        "transfer_rate",
        "throughput from Sender start to the last byte in memory",
    ),
    mb_s("link_rate", "rate of PE 0's link, headers included"),
];

/// The quantity of that name.
///
/// # Panics
/// No scenario has a quantity of that name.
pub fn quantity(name: &str) -> &'static Quantity {
    QUANTITIES
        .iter()
        .find(|q| q.name == name)
        .unwrap_or_else(|| panic!("no quantity `{name}`"))
}

/// The results of a scenario, from the time stamps of its run.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// Times in us and rates in MB/s, by name; NaN without a measurement.
    pub values: Vec<(&'static str, f64)>,
    /// When PE 0's link carried its first flit.
    pub first_flit: Option<Picos>,
    /// A part of the run that is worth a diagram; may be empty.
    pub record: Record,
}

impl Measurement {
    /// A value by name; NaN without a measurement, which passes no check.
    pub fn get(&self, name: &str) -> f64 {
        self.values.iter().find(|v| v.0 == name).map_or(f64::NAN, |v| v.1)
    }
}

impl Subject for Cenju3 {
    const NAME: &'static str = "cenju3";
    const EXPERIMENTS: &'static [Entry<Run>] = ENTRIES;

    type Config = Config;
    type Run = Run;
    type Job = Scenario;
    type Measured = Measurement;
    type Error = MeasureError;

    fn perform(run: Run, lab: &mut Lab<'_>) {
        run(lab);
    }

    fn cost(scenario: &Scenario) -> u64 {
        scenario.cost()
    }

    fn measure(scenario: &Scenario) -> Result<Measurement, MeasureError> {
        measure(scenario)
    }
}

impl Lab<'_> {
    pub fn measure(&self, config: &Config, what: What) -> Measurement {
        self.measure_on(self.backend(), config, what)
    }

    pub fn measure_on(&self, backend: BackendKind, config: &Config, what: What) -> Measurement {
        let config = config.clone();
        self.ask(Scenario { backend, config, what })
    }

    /// A curve over all sizes. `point` gives the scenario for a size in bytes; `value` names the drawn value.
    pub fn curve(&self, name: &str, config: &Config, value: &str, point: impl Fn(u32) -> What) -> Curve {
        self.curve_on(self.backend(), name, config, value, point)
    }

    pub fn curve_on(
        &self,
        backend: BackendKind,
        name: &str,
        config: &Config,
        value: &str,
        point: impl Fn(u32) -> What,
    ) -> Curve {
        let at = |kb: f64| self.measure_on(backend, config, point((kb * 1024.0) as u32)).get(value);
        Curve {
            name: name.into(),
            points: SIZES_KB.iter().map(|&kb| (kb, at(kb))).collect(),
        }
    }

    /// A row for each point of a curve. These rows have no number of the paper, because the points of its figures are
    /// lost.
    pub fn point_rows(&mut self, prefix: &str, curve: &Curve, depends_on: &[&'static str]) {
        for (kb, mb_s) in &curve.points {
            let quantity = format!("{}, {kb} KB", curve.name);
            self.row(
                Spec::new(format!("{prefix}.{kb}KB"), quantity, "MB/s").depends(depends_on),
                *mb_s,
            );
        }
    }

    /// Keeps the record of a measurement for the report; of a single packet it is shown step by step.
    pub fn trace(&mut self, title: &str, measurement: &Measurement, stepped: bool) {
        self.outcome.traces.push(Trace {
            registers: REGISTERS.values,
            stepped,
            ..Trace::of(title, measurement.record.clone())
        });
    }
}
