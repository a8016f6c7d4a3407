//! The frame of the experiments: they boot machines here and write rows.

use thiserror::Error;

use super::ENTRIES;
use crate::ap1000p::Ap1000p;
use crate::ap1000p::host::layout::Layout;
use crate::ap1000p::host::{Ap1000pSim, BootError, Cell, Fault};
use crate::ap1000p::model::ModelMachine;
use crate::ap1000p::params::{Config, ParamError};
use crate::ap1000p::rtl::{self, NotBuilt};
use crate::harness::backend::AnyBackend;
use crate::harness::backend::Backend;
use crate::harness::exec::SimError;
use crate::harness::wave::Probe;
use crate::repro::lab::{self, Entry, Subject};
use crate::repro::row::BackendKind;
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
    #[error("each experiment sets its own columns and rows; `run`, `send` and `wave` accept these parameters")]
    Size,
    #[error("columns x rows = 1 cell, which has no neighbour: set at least 2")]
    Alone,
    #[error(
        "mem_bytes is too little: a program needs {needed} B and has {there} B; set mem_bytes={}",
        Layout::mem_bytes_for(*needed)
    )]
    Memory { needed: u32, there: u32 },
    #[error("{words} received words differ from the sent ones")]
    Corrupt { words: u32 },
}

/// The longest time of an experiment's program on the paper's machine; see [`bound`].
const BOUND: Picos = Picos::from_ns(500_000_000);
/// The flags of experiments start here, below the system's memory.
pub const FLAGS: u32 = 0x6_c000;

/// The parameters that every criterion depends on.
pub const HARDWARE: [&str; 6] = [
    "period",
    "link_rate",
    "mem_read_latency",
    "mem_write_latency",
    "mem_overhead",
    "mem_shared",
];

/// A machine with this configuration; the RTL writes the wave of `probe`.
///
/// # Errors
/// The RTL was not built.
pub fn machine(backend: BackendKind, config: &Config, probe: &Probe) -> Result<AnyBackend, MeasureError> {
    match backend {
        BackendKind::Rtl => Ok(rtl::build(config, probe)?),
        BackendKind::Model => Ok(Box::new(ModelMachine::new(config))),
    }
}

/// One experiment on one backend, under way.
pub type Lab<'a> = lab::Lab<'a, Ap1000p>;

/// The function of an experiment; it makes its own machines.
pub type Run = fn(&mut Lab<'_>) -> Result<(), MeasureError>;

/// A whole experiment.
#[derive(Clone, Debug)]
pub struct Job {
    experiment: Experiment,
    run: Run,
    backend: BackendKind,
    config: Config,
    full: bool,
}

impl PartialEq for Job {
    /// An experiment is always the same function.
    fn eq(&self, other: &Job) -> bool {
        let by = |job: &Job| (job.experiment, job.backend, job.full);
        by(self) == by(other) && self.config == other.config
    }
}

impl Subject for Ap1000p {
    const NAME: &'static str = "ap1000p";
    const EXPERIMENTS: &'static [Entry<Run>] = ENTRIES;
    const HARDWARE: &'static [&'static str] = &HARDWARE;

    type Config = Config;
    type Run = Run;
    type Job = Job;
    type Measured = Option<Outcome>;
    type Error = MeasureError;

    fn perform(run: Run, lab: &mut Lab<'_>) {
        let job = Job {
            experiment: lab.outcome.experiment,
            run,
            backend: lab.backend(),
            config: lab.config().clone(),
            full: lab.is_full(),
        };
        if let Some(outcome) = lab.ask(job) {
            lab.outcome = outcome;
        }
    }

    fn measure(job: &Job) -> Result<Option<Outcome>, MeasureError> {
        let size = |config: &Config| (config.columns, config.rows);
        if size(&job.config) != size(&Config::paper()) {
            return Err(MeasureError::Size);
        }
        let mut lab = Lab::alone(job.experiment, job.backend, &job.config, job.full);
        (job.run)(&mut lab)?;
        Ok(Some(lab.outcome))
    }
}

impl Lab<'_> {
    /// A machine of this many cells, otherwise as the user set it. All words of its memories differ up to `FLAGS`.
    pub fn boot(&self, columns: u32, rows: u32) -> Result<Sim, MeasureError> {
        self.boot_with(columns, rows, |_| ())
    }

    /// The same with further changes.
    pub fn boot_with(&self, columns: u32, rows: u32, change: impl Fn(&mut Config)) -> Result<Sim, MeasureError> {
        let mut config = Config {
            columns,
            rows,
            ..self.config().clone()
        };
        change(&mut config);
        let mut backend = machine(self.backend(), &config, &Probe::default())?;
        backend.record(true);
        let sim = Ap1000pSim::new(backend, config)?;
        for number in 0..sim.cells() {
            let words: Vec<u32> = (0..FLAGS / 4).map(|at| pattern(number, 4 * at)).collect();
            sim.cell(NodeId(number as u16)).set_words(Addr(0), &words);
        }
        Ok(sim)
    }
}

/// The initial value of a word of a cell's memory.
pub fn pattern(cell: usize, addr: u32) -> u32 {
    addr.wrapping_mul(0x9e37_79b1) ^ (cell as u32) << 20
}

pub fn node(number: usize) -> NodeId {
    NodeId(number as u16)
}

pub fn flag(number: u32) -> Addr {
    Addr(FLAGS + 4 * number)
}

/// Runs all programs, and then until nothing is under way and no system serves an interrupt; any fault fails the run.
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

/// The time limit of a program: proportionally longer if clock, links, memory or refill are slower than the paper's.
pub fn bound(sim: &Sim) -> Picos {
    let (cell, usual) = (sim.cell(NodeId(0)), Config::paper());
    let config = cell.config();
    let memory = |of: &Config| u64::from(of.mem_read_latency + of.mem_write_latency + 8 * of.mem_overhead);
    let slower = |ours: u64, usual: u64| ours.div_ceil(usual).max(1);
    let link = slower(config.link_cycles().into(), usual.link_cycles().into());
    let refill = slower(config.refill_word.0, usual.refill_word.0);
    let hardware = link.max(slower(memory(config), memory(&usual)));
    let times = slower(config.period.0, usual.period.0) * hardware.max(refill);
    BOUND * times
}

/// The same, but leaves faults in place.
pub fn settle(sim: &mut Sim) -> Result<(), MeasureError> {
    let bound = bound(sim);
    sim.run(bound)?;
    let mut left = bound;
    while sim.moves() {
        let step = Picos::from_ns(5_000);
        sim.pass(step)?;
        left = left.saturating_sub(step);
        if left == Picos::ZERO {
            // The programs have ended, the hardware may not have.
            let host = sim.cell(NodeId(0)).host().clone();
            sim.spawn(NodeId(0), |_| async move {
                host.watch("the end of the hardware's work", |_| false).await
            });
            sim.run(step)?;
        }
    }
    Ok(())
}

/// Number of words that differ from the expected ones.
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
        let volume = |backend, full| Lab::alone(experiment, backend, &config, full).volume(1, 2, 3);
        let (rtl, model) = (BackendKind::Rtl, BackendKind::Model);
        assert_eq!([volume(rtl, false), volume(model, false)], [1, 2]);
        assert_eq!([volume(rtl, true), volume(model, true)], [3, 3]);
    }
}
