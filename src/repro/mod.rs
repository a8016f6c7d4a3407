//! The tables and figures of the papers: the results of an experiment. Each machine has its own experiments.

pub mod lab;
pub mod pool;
pub mod row;
pub mod summary;

use crate::harness::backend::Event;
use crate::{NodeId, Picos};
use row::{BackendKind, Row};

/// One experiment, as `tsunagi list` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// `E7`.
    pub id: &'static str,
    /// Its place in the paper: `Fig. 11`.
    pub figure: &'static str,
    pub title: &'static str,
}

/// A request to run experiments; `C` is the base configuration, or the settings that give it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a, C> {
    /// Ids; empty for all.
    pub experiments: &'a [&'a str],
    pub backends: &'a [BackendKind],
    pub config: &'a C,
    /// Run the full trial counts instead of the shortened defaults.
    pub full: bool,
    /// Number of simulations side by side. Results do not depend on it.
    pub threads: usize,
}

impl<'a, C> Request<'a, C> {
    /// The same request with another configuration.
    pub fn on<D>(&self, config: &'a D) -> Request<'a, D> {
        Request {
            experiments: self.experiments,
            backends: self.backends,
            config,
            full: self.full,
            threads: self.threads,
        }
    }

    pub fn wants(&self, experiment: &Experiment) -> bool {
        self.experiments.is_empty() || self.experiments.contains(&experiment.id)
    }
}

/// One of the values that a scenario measures.
#[derive(Debug)]
pub struct Quantity {
    pub name: &'static str,
    pub what: &'static str,
    pub unit: &'static str,
}

pub const fn us(name: &'static str, what: &'static str) -> Quantity {
    Quantity { name, what, unit: "us" }
}

pub const fn mb_s(name: &'static str, what: &'static str) -> Quantity {
    Quantity {
        name,
        what,
        unit: "MB/s",
    }
}

/// The results of one experiment on one backend.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub experiment: Experiment,
    pub backend: BackendKind,
    pub rows: Vec<Row>,
    pub plots: Vec<Plot>,
    pub breakdowns: Vec<Breakdown>,
    pub stacks: Vec<Stack>,
    pub traces: Vec<Trace>,
    pub maps: Vec<Map>,
}

impl Outcome {
    pub fn new(experiment: Experiment, backend: BackendKind) -> Outcome {
        Outcome {
            experiment,
            backend,
            rows: Vec::new(),
            plots: Vec::new(),
            breakdowns: Vec::new(),
            stacks: Vec::new(),
            traces: Vec::new(),
            maps: Vec::new(),
        }
    }
}

/// Axes of a plot of throughput.
pub const THROUGHPUT: [&str; 2] = ["transfer size, KB", "MB/s"];

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Logarithmic, with ticks at powers of a base. All values are above 0.
    Log(u8),
}

/// The scales of values over sizes.
pub const OVER_SIZES: [Scale; 2] = [Scale::Log(2), Scale::Linear];

/// One figure: curves, mostly of throughput over transfer size, and the statements of the paper about them.
#[derive(Clone, Debug)]
pub struct Plot {
    /// `fig11`; plots with the same id from two backends share one drawing.
    pub id: &'static str,
    pub title: String,
    /// Quantity and unit of x and y.
    pub axes: [&'static str; 2],
    pub scales: [Scale; 2],
    pub curves: Vec<Curve>,
    pub marks: Vec<Mark>,
}

#[derive(Clone, Debug)]
pub struct Curve {
    pub name: String,
    /// Points by rising x, in the units of the plot's axes: KB (1024 B) and MB/s (10^6 B/s) for throughput.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// The size at the peak, at the end of a flat top: the greatest size within 0.1 % of the greatest throughput. NaN
    /// without points.
    pub fn argmax(&self) -> f64 {
        let top = greatest(self.points.iter().map(|p| p.1));
        self.points
            .iter()
            .rev()
            .find(|p| p.1 >= top * 0.999)
            .map_or(f64::NAN, |p| p.0)
    }

    /// The throughput at a measured size, or NaN.
    pub fn at(&self, kb: f64) -> f64 {
        self.points.iter().find(|p| p.0 == kb).map_or(f64::NAN, |p| p.1)
    }

    /// The least step from one point to the next, from `from_kb` on. Positive: the curve rises everywhere.
    pub fn least_step(&self, from_kb: f64) -> f64 {
        least(self.steps(from_kb))
    }

    /// The greatest step from one point to the next, from `from_kb` on. Negative: the curve falls everywhere.
    pub fn greatest_step(&self, from_kb: f64) -> f64 {
        greatest(self.steps(from_kb))
    }

    fn steps(&self, from_kb: f64) -> impl Iterator<Item = f64> {
        let from = self
            .points
            .iter()
            .position(|p| p.0 >= from_kb)
            .unwrap_or(self.points.len());
        self.points[from..].windows(2).map(|w| w[1].1 - w[0].1)
    }
}

/// The least of some values; NaN if one is NaN or there is none, so that a missing measurement passes no check.
pub fn least(values: impl Iterator<Item = f64>) -> f64 {
    values
        .reduce(|a, b| if a.is_nan() || a < b { a } else { b })
        .unwrap_or(f64::NAN)
}

/// The greatest of some values, with NaN as in [`least`].
pub fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    -least(values.map(|v| -v))
}

/// A statement of the paper, drawn into a plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A value, from an x on.
    Level { y: f64, from: f64, says: &'static str },
    /// A range of x.
    Window { from: f64, to: f64, says: &'static str },
    /// Its values for the curve of this name, at some of the curve's x.
    Points { of: String, points: Vec<(f64, f64)> },
}

impl Mark {
    /// The greatest y that the plot must have room for.
    pub fn top(&self) -> Option<f64> {
        match self {
            Mark::Level { y, .. } => Some(*y),
            Mark::Window { .. } => None,
            Mark::Points { points, .. } => points.iter().map(|point| point.1).reduce(f64::max),
        }
    }
}

/// The parts of a latency: bars in order of time.
#[derive(Clone, Debug)]
pub struct Breakdown {
    pub title: String,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub struct Item {
    pub name: &'static str,
    /// The paper's value, us.
    pub paper: f64,
    /// Whether the paper states it; else it is the remainder of the paper's total.
    pub is_stated: bool,
    pub ours_us: f64,
}

/// Totals side by side, each with its parts.
#[derive(Clone, Debug)]
pub struct Stack {
    pub title: String,
    pub unit: &'static str,
    /// Names of the parts.
    pub parts: Vec<&'static str>,
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug)]
pub struct Bar {
    pub name: String,
    /// In the order of the names.
    pub parts: Vec<f64>,
    /// A total to compare with.
    pub beside: Option<f64>,
}

/// What all nodes of a machine did: a row for each node, a cell for each span of time.
#[derive(Clone, Debug)]
pub struct Map {
    pub title: String,
    /// What a row is: `PE`.
    pub node: &'static str,
    /// The span of a cell.
    pub span: Picos,
    /// What a node can do, by the cells' states; the first is doing nothing.
    pub states: &'static [&'static str],
    /// What the cells' level counts.
    pub level: &'static str,
    /// By time, then by node.
    pub cells: Vec<Vec<Cell>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What the node did for most of the span.
    pub state: u8,
    pub level: u32,
}

/// A record of a part of a run.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The committed events.
    pub events: Vec<Event>,
    /// What programs did.
    pub acts: Vec<Act>,
    /// Bytes in PE 1's receive FIFO from each instant on.
    pub fifo: Vec<(Picos, u32)>,
}

impl Record {
    /// What programs did, and all that happened meanwhile at a place.
    pub fn of(acts: Vec<Act>, events: &[Event]) -> Record {
        let from = acts.iter().map(|act| act.from).min();
        let to = acts.iter().map(|act| act.to).max();
        let meanwhile = |event: &&Event| from <= Some(event.at) && Some(event.at) <= to && event.kind.part().is_some();
        Record {
            events: events.iter().filter(meanwhile).copied().collect(),
            acts,
            fifo: Vec::new(),
        }
    }
}

/// What a program of a node did, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Act {
    pub node: NodeId,
    pub from: Picos,
    pub to: Picos,
    pub what: &'static str,
}

/// A short run between nodes 0 and 1, for the space-time diagram, for the occupancy of links and FIFO, and for the
/// stepped view.
#[derive(Clone, Debug)]
pub struct Trace {
    pub title: String,
    /// What a node is called.
    pub node: &'static str,
    /// The names of registers, by offset.
    pub registers: &'static [(u64, &'static str)],
    /// The run is a packet, or one with its answer: short enough to be shown step by step.
    pub stepped: bool,
    pub from: Picos,
    pub to: Picos,
    pub record: Record,
}

impl Trace {
    /// From the first to the last of what happened.
    pub fn of(title: &str, record: Record) -> Trace {
        let events = record.events.iter().map(|event| event.at);
        let acts = record.acts.iter().flat_map(|act| [act.from, act.to]);
        let times: Vec<Picos> = events.chain(acts).collect();
        Trace {
            title: title.into(),
            node: "PE",
            registers: &[],
            stepped: true,
            from: times.iter().copied().min().unwrap_or(Picos::ZERO),
            to: times.into_iter().max().unwrap_or(Picos::ZERO),
            record,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_neither_least_nor_lost() {
        for values in [[1.0, f64::NAN, 3.0], [f64::NAN, 1.0, 3.0], [1.0, 3.0, f64::NAN]] {
            assert!(least(values.into_iter()).is_nan() && greatest(values.into_iter()).is_nan());
        }
        assert!(least(std::iter::empty()).is_nan());
        assert_eq!(
            (least([2.0, 1.0].into_iter()), greatest([2.0, 3.0].into_iter())),
            (1.0, 3.0)
        );
    }

    #[test]
    fn a_curve_knows_its_peak_and_its_steps() {
        let c = Curve {
            name: "x".into(),
            points: vec![(1.0, 10.0), (2.0, 30.0), (4.0, 30.0), (8.0, 25.0)],
        };
        assert_eq!(c.argmax(), 4.0, "the end of the flat top");
        assert_eq!(c.at(8.0), 25.0);
        assert!(c.at(3.0).is_nan());
        assert_eq!(c.least_step(0.0), -5.0);
        assert_eq!(c.greatest_step(2.0), 0.0);
        assert_eq!(c.greatest_step(4.0), -5.0);
        assert!(
            Curve {
                name: String::new(),
                points: vec![]
            }
            .argmax()
            .is_nan()
        );
    }
}
