//! Where experiments boot machines and give rows.

use thiserror::Error;

use crate::ap1000p::host::layout::Layout;
use crate::ap1000p::host::{Ap1000pSim, BootError, Cell, Fault};
use crate::ap1000p::model::ModelMachine;
use crate::ap1000p::params::{Config, PARAMS, ParamError};
use crate::ap1000p::rtl::{self, NotBuilt};
use crate::harness::backend::AnyBackend;
use crate::harness::backend::Backend;
use crate::harness::exec::SimError;
use crate::harness::wave::Probe;
use crate::repro::row::{BackendKind, Origin, Provenance, Source, Spec};
use crate::repro::{Experiment, Outcome};
use crate::{Addr, NodeId, Picos};

pub type Sim = Ap1000pSim<AnyBackend>;

#[derive(Debug, Error)]
pub enum MeasureError {
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    #[error(transparent)]
    Param(#[from] ParamError),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Sim(#[from] SimError),
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("columns and rows: each experiment has a size of its own; `run`, `send` and `wave` take them")]
    Size,
    #[error("columns x rows = 1 cell, which has no neighbour: 2 are needed")]
    Alone,
    #[error(
        "mem_bytes is too little: a program has {there} B of it, and needs {needed} B, which mem_bytes={} gives",
        Layout::mem_bytes_for(*needed)
    )]
    Memory { needed: u32, there: u32 },
    #[error("{words} words did not arrive as they were sent")]
    Corrupt { words: u32 },
}

/// No program of an experiment takes longer on the paper's machine; see [`bound`].
const BOUND: Picos = Picos::from_ns(500_000_000);
/// Flags of experiments, from here on, below the system's memory.
pub const FLAGS: u32 = 0x6_c000;

/// What every criterion depends on.
pub const HARDWARE: [&str; 6] = [
    "period",
    "link_rate",
    "mem_read_latency",
    "mem_write_latency",
    "mem_overhead",
    "mem_shared",
];

/// The machine of a configuration; the RTL leaves the wave that `probe` asks for.
///
/// # Errors
/// It is not built.
pub fn machine(backend: BackendKind, config: &Config, probe: &Probe) -> Result<AnyBackend, MeasureError> {
    match backend {
        BackendKind::Rtl => Ok(rtl::build(config, probe)?),
        BackendKind::Model => Ok(Box::new(ModelMachine::new(config))),
    }
}

/// One experiment on one backend, under way.
pub struct Lab<'a> {
    base: &'a Config,
    full: bool,
    bounds_by: Origin,
    table: Vec<Provenance>,
    pub outcome: Outcome,
}

impl<'a> Lab<'a> {
    pub fn new(experiment: Experiment, backend: BackendKind, base: &'a Config, full: bool) -> Lab<'a> {
        let provenance = |p: &crate::ap1000p::params::Param| Provenance {
            name: p.name,
            measured_on: p.measured_on,
            derived_from: p.derived_from,
        };
        Lab {
            base,
            full,
            bounds_by: Origin::Paper,
            table: PARAMS.iter().map(provenance).collect(),
            outcome: Outcome::new(experiment, backend),
        }
    }

    pub fn config(&self) -> &Config {
        self.base
    }

    /// How often something is tried: on the RTL, on the model, and if all of it is asked for.
    pub fn volume(&self, on_rtl: u32, on_model: u32, full: u32) -> u32 {
        match self.outcome.backend {
            _ if self.full => full,
            BackendKind::Rtl => on_rtl,
            BackendKind::Model => on_model,
        }
    }

    /// A machine of so many cells, otherwise as the user set it, whose memories hold words that all differ up to [`FLAGS`].
    pub fn boot(&self, columns: u32, rows: u32) -> Result<Sim, MeasureError> {
        self.boot_with(columns, rows, |_| ())
    }

    /// The same with other changes.
    pub fn boot_with(&self, columns: u32, rows: u32, change: impl Fn(&mut Config)) -> Result<Sim, MeasureError> {
        let mut config = Config {
            columns,
            rows,
            ..self.base.clone()
        };
        change(&mut config);
        let mut backend = machine(self.outcome.backend, &config, &Probe::default())?;
        backend.record(true);
        let sim = Ap1000pSim::new(backend, config)?;
        for number in 0..sim.cells() {
            let words: Vec<u32> = (0..FLAGS / 4).map(|at| pattern(number, 4 * at)).collect();
            sim.cell(NodeId(number as u16)).set_words(Addr(0), &words);
        }
        Ok(sim)
    }

    /// What is checked from here on is stated so: by the paper until this is called.
    pub fn bounds_by(&mut self, origin: Origin) {
        self.bounds_by = origin;
    }

    fn bounded(
        &mut self,
        name: &str,
        quantity: &str,
        unit: &'static str,
        (low, high): (f64, f64),
        by: Origin,
        ours: u32,
    ) {
        let spec = Spec::new(name, quantity, unit)
            .bounded(low, high, by)
            .depends(&HARDWARE);
        self.row(spec, f64::from(ours));
    }

    /// A statement without a number: passes within bounds that leave it no other reading.
    pub fn check(&mut self, name: &str, quantity: &str, unit: &'static str, bounds: (f64, f64), ours: u32) {
        self.bounded(name, quantity, unit, bounds, self.bounds_by, ours);
    }

    /// How often something went wrong: passes at 0.
    pub fn none(&mut self, name: &str, quantity: &str, unit: &'static str, ours: u32) {
        self.check(name, quantity, unit, (0.0, 0.0), ours);
    }

    /// How much was tried, which is our choice: passes from `least` on.
    pub fn tried(&mut self, name: &str, quantity: &str, unit: &'static str, least: u32, ours: u32) {
        let bounds = (f64::from(least), f64::INFINITY);
        self.bounded(name, quantity, unit, bounds, Origin::Ours, ours);
    }

    /// The same where it is known exactly.
    pub fn done(&mut self, name: &str, quantity: &str, unit: &'static str, all: u32, ours: u32) {
        let bounds = (f64::from(all), f64::from(all));
        self.bounded(name, quantity, unit, bounds, Origin::Ours, ours);
    }

    pub fn row(&mut self, spec: Spec, ours: f64) {
        let of = Source {
            machine: "ap1000p",
            experiment: self.outcome.experiment.id,
            backend: self.outcome.backend,
        };
        self.outcome.rows.push(spec.measured(ours, of, &self.table));
    }
}

/// What a word of a cell's memory is at first.
pub fn pattern(cell: usize, addr: u32) -> u32 {
    addr.wrapping_mul(0x9e37_79b1) ^ (cell as u32) << 20
}

pub fn node(number: usize) -> NodeId {
    NodeId(number as u16)
}

pub fn flag(number: u32) -> Addr {
    Addr(FLAGS + 4 * number)
}

/// Runs all programs, and then until nothing is under way and no system serves an interrupt; nothing may have gone wrong.
///
/// # Errors
/// A hang, a program that gave up, a fault.
pub fn finish(sim: &mut Sim) -> Result<(), MeasureError> {
    settle(sim)?;
    match sim.take_faults().first() {
        Some(fault) => Err((*fault).into()),
        None => Ok(()),
    }
}

/// What no program takes longer than: in proportion longer where clock, links or memory are slower than the paper's.
pub fn bound(sim: &Sim) -> Picos {
    let (cell, usual) = (sim.cell(NodeId(0)), Config::paper());
    let config = cell.config();
    let memory = |of: &Config| u64::from(of.mem_read_latency + of.mem_write_latency + 8 * of.mem_overhead);
    let slower = |ours: u64, usual: u64| ours.div_ceil(usual).max(1);
    let link = slower(config.link_cycles().into(), usual.link_cycles().into());
    let times = slower(config.period.0, usual.period.0) * link.max(slower(memory(config), memory(&usual)));
    BOUND * times
}

/// The same, with faults left where they are.
pub fn settle(sim: &mut Sim) -> Result<(), MeasureError> {
    let bound = bound(sim);
    sim.run(bound)?;
    let mut left = bound;
    while sim.moves() {
        let step = Picos::from_ns(5_000);
        sim.pass(step)?;
        left = left.saturating_sub(step);
        if left == Picos::ZERO {
            // Programs are done, the hardware is not.
            let host = sim.cell(NodeId(0)).host().clone();
            sim.spawn(NodeId(0), |_| async move {
                host.watch("the end of what the hardware does", |_| false).await
            });
            sim.run(step)?;
        }
    }
    Ok(())
}

/// How many of these words are not as they should be.
pub fn wrong(cell: &Cell, at: Addr, expected: &[u32]) -> u32 {
    let got = cell.words(at, expected.len() as u32);
    got.iter().zip(expected).filter(|(a, b)| a != b).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_volume_is_the_same_on_both_backends() {
        let config = Config::paper();
        let experiment = Experiment {
            id: "C11",
            figure: "",
            title: "",
        };
        let volume = |backend, full| Lab::new(experiment, backend, &config, full).volume(1, 2, 3);
        let (rtl, model) = (BackendKind::Rtl, BackendKind::Model);
        assert_eq!([volume(rtl, false), volume(model, false)], [1, 2]);
        assert_eq!([volume(rtl, true), volume(model, true)], [3, 3]);
    }
}
