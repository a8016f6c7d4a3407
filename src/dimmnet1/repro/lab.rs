//! The measurements of the experiments: scenarios on machines of their own, and the curves made of them.

use super::measure::{MeasureError, measure};
use super::profile::Profile;
use super::{ENTRIES, Run};
use crate::Picos;
use crate::dimmnet1::Dimmnet1;
use crate::dimmnet1::host::{Barrier, How};
use crate::dimmnet1::params::Config;
use crate::repro::lab::{self, Entry, Subject};
use crate::repro::row::{BackendKind, Spec};
use crate::repro::{Curve, Quantity, Record, mb_s, us};

/// One experiment on one backend, under way.
pub type Lab<'a> = lab::Lab<'a, Dimmnet1>;

/// How data go from the first node's memory to the last one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Windows, written where the packets say.
    Botf,
    /// The RDMA engine, written where the packets say.
    Rdma,
    /// Windows; the receiving processor does all in software.
    Soft,
    /// The same, sent by RDMA.
    SoftRdma,
    /// Windows; a type that the hardware lacks: the firmware puts in the address and the hardware goes on.
    Indirect,
    /// Windows; the region misses RVATLB, and the firmware does the same.
    Region,
    /// Windows; the page misses PATLB, and the firmware does the same.
    Page,
}

impl Way {
    /// Each packet goes where a pointer at the receiver says.
    pub fn is_indirect(self) -> bool {
        matches!(self, Way::Indirect | Way::Region | Way::Page)
    }
}

/// How blocks of the first node's data reach places of the last one's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// One packet that a chain of the receiver scatters.
    Chain(How),
    /// A packet of a window for each block. The last one is answered.
    Packets,
}

/// The scenario of one machine.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// One word by AOTF from the first node to the last and back, `rounds` times.
    PingPong { rounds: u32 },
    /// `count` blocking sends of `bytes`.
    Send { way: Way, bytes: u32, count: u32 },
    /// `bytes` in blocks of `block`, which the last node's memory has room between.
    Scatter { by: Scatter, bytes: u32, block: u32 },
    /// `count` reads of `bytes` of the last node's memory by RDMA.
    Pull { bytes: u32, count: u32 },
    /// `count` barriers; all nodes come at the same time.
    Barrier { barrier: Barrier, count: u32 },
    /// `count` messages of `bytes`, each taken by the receiver.
    Message { bytes: u32, count: u32 },
    /// The steps that the paper describes without a number.
    Steps,
}

/// One machine and its scenario.
pub type Scenario = lab::Job<Config, What>;

impl Scenario {
    /// Approximate time to simulate it: the longest jobs start first.
    pub fn cost(&self) -> u64 {
        let nodes = u64::from(self.config.nodes);
        let steps = match self.what {
            What::PingPong { rounds } => 100 * u64::from(rounds),
            What::Send { way, bytes, count } => {
                let slow = if matches!(way, Way::Botf | Way::Rdma) { 1 } else { 8 };
                u64::from(bytes.div_ceil(464) * count) * 100 * slow
            }
            What::Scatter { bytes, block, .. } => u64::from(bytes / block) * 100,
            What::Pull { bytes, count } => u64::from(bytes.div_ceil(464) * count) * 100,
            What::Message { bytes, count } => u64::from(bytes.div_ceil(464) * count) * 800,
            What::Barrier { count, .. } => 500 * nodes * u64::from(count),
            What::Steps => 100_000,
        };
        match self.backend {
            BackendKind::Rtl => steps * nodes * 10,
            BackendKind::Model => steps,
        }
    }
}

const QUANTITIES: [Quantity; 11] = [
    us("round_trip", "one word, there and back"),
    us("one_way", "one word, one way"),
    us("store_to_link", "store at the card to the first word on its link"),
    us("hop", "first word on the link of one node to that of the other"),
    us("send", "send to the answer of the receiver, the last time"),
    mb_s("bandwidth", "bytes over that time"),
    us("pull", "call to all data in memory, the last time"),
    us(
        "barrier",
        "last node's AOTF store to the end of its poll, the last time",
    ),
    us("barrier_worst", "the same, the longest"),
    us("message", "call of the sender to data at the receiver, the last time"),
    us(
        "served",
        "from one stop of the receiver to the next, as far as there are two",
    ),
];

/// The quantity of that name.
///
/// # Panics
/// No scenario has a quantity of that name.
pub fn quantity(name: &str) -> &'static Quantity {
    let found = QUANTITIES.iter().find(|quantity| quantity.name == name);
    found.unwrap_or_else(|| panic!("no quantity `{name}`"))
}

/// The results of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// Times in us and rates in MB/s, by name; NaN without a measurement.
    pub values: Vec<(&'static str, f64)>,
    /// Of the steps: what was tried, and how often it was not as the paper says.
    pub counts: Vec<(&'static str, u32)>,
    /// When a link carried its first word.
    pub first_word: Option<Picos>,
    /// What the receiver's processor did.
    pub profile: Profile,
    /// A part of the run that is worth a diagram; may be empty.
    pub record: Record,
}

impl Measurement {
    /// A value by name; NaN without a measurement, which passes no check.
    pub fn get(&self, name: &str) -> f64 {
        self.values.iter().find(|v| v.0 == name).map_or(f64::NAN, |v| v.1)
    }

    /// A count by name; without one more than any check allows.
    pub fn count(&self, name: &str) -> u32 {
        self.counts.iter().find(|c| c.0 == name).map_or(u32::MAX, |c| c.1)
    }
}

impl Subject for Dimmnet1 {
    const NAME: &'static str = "dimmnet1";
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

    /// A curve: `point` gives machine and scenario at an x, `value` names the drawn value.
    pub fn curve_on(
        &self,
        backend: BackendKind,
        name: &str,
        xs: &[f64],
        value: &str,
        point: impl Fn(f64) -> (Config, What),
    ) -> Curve {
        let at = |x: f64| {
            let (config, what) = point(x);
            self.measure_on(backend, &config, what).get(value)
        };
        Curve {
            name: name.into(),
            points: xs.iter().map(|&x| (x, at(x))).collect(),
        }
    }

    /// A row for each point of a curve. The points of the paper's figures are lost.
    pub fn point_rows(&mut self, prefix: &str, curve: &Curve, of: (&str, &'static str), depends: &[&'static str]) {
        let (x_unit, unit) = of;
        for (x, y) in &curve.points {
            let quantity = format!("{}, {x} {x_unit}", curve.name);
            self.row(Spec::new(format!("{prefix}.{x}"), quantity, unit).depends(depends), *y);
        }
    }

    /// On the RTL, a row that compares a curve with the model's.
    pub fn agrees(
        &mut self,
        row: &str,
        curve: &Curve,
        value: &str,
        point: impl Fn(f64) -> (Config, What),
        depends: &[&'static str],
    ) {
        if self.backend() != BackendKind::Rtl {
            return;
        }
        let xs: Vec<f64> = curve.points.iter().map(|point| point.0).collect();
        let model = self.curve_on(BackendKind::Model, "model", &xs, value, point);
        let pairs = curve.points.iter().zip(&model.points);
        let off = crate::repro::greatest(pairs.map(|(a, b)| (b.1 / a.1 - 1.0).abs() * 100.0));
        let quantity = format!("{}: greatest difference of the golden model from RTL", curve.name);
        self.row(
            Spec::new(row, quantity, "%").within(0.0, AGREEMENT).depends(depends),
            off,
        );
    }
}

/// Percent by which the model may differ from the RTL.
pub const AGREEMENT: f64 = 5.0;
