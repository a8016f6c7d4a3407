//! The frame of the experiments. An experiment is a function that asks a [`Lab`] for measurements and writes rows. It
//! runs twice: first to collect its jobs, then with their results. All jobs of all experiments run side by side, each
//! once.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

use super::pool;
use super::row::{BackendKind, Origin, Provenance, Source, Spec};
use super::{Experiment, Outcome, Request};
use crate::harness::params::Table;

/// A machine whose experiments are performed in a [`Lab`].
pub trait Subject: Sized + 'static {
    /// Name on the command line.
    const NAME: &'static str;
    /// In the order of the paper.
    const EXPERIMENTS: &'static [Entry<Self::Run>];
    /// The parameters that every checked statement depends on.
    const HARDWARE: &'static [&'static str] = &[];

    type Config: Table;
    /// The work of an experiment.
    type Run: Copy + Sync;
    /// A simulation that depends on nothing else: equal jobs have equal results.
    type Job: Clone + Debug + PartialEq + Sync;
    /// The result of a job; the default stands for it while the lab collects jobs.
    type Measured: Clone + Default + Send + Sync;
    type Error: Send;

    fn perform(run: Self::Run, lab: &mut Lab<'_, Self>);

    /// Approximate run time of a job, in any unit: the longest jobs start first.
    fn cost(_job: &Self::Job) -> u64 {
        1
    }

    /// Runs a job.
    ///
    /// # Errors
    /// The machine cannot be made, hangs or loses data.
    fn measure(job: &Self::Job) -> Result<Self::Measured, Self::Error>;
}

/// The usual job: a machine and what is done on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Job<C, W> {
    pub backend: BackendKind,
    pub config: C,
    pub what: W,
}

/// An experiment with its function.
pub type Entry<R> = (Experiment, R);

pub const fn entry<R: Copy>(id: &'static str, figure: &'static str, title: &'static str, run: R) -> Entry<R> {
    (Experiment { id, figure, title }, run)
}

/// All experiments of a machine.
pub fn experiments<S: Subject>() -> impl Iterator<Item = Experiment> {
    S::EXPERIMENTS.iter().map(|entry| entry.0)
}

/// Runs the requested experiments. `done` receives the simulated cost and the total cost.
///
/// # Errors
/// The first job that fails.
pub fn run<S: Subject>(
    request: &Request<'_, S::Config>,
    done: impl Fn(u64, u64) + Sync,
) -> Result<Vec<Outcome>, S::Error> {
    let wanted = S::EXPERIMENTS.iter().filter(|entry| request.wants(&entry.0));
    let cases: Vec<(Experiment, S::Run, BackendKind)> = wanted
        .flat_map(|entry| request.backends.iter().map(move |backend| (entry.0, entry.1, *backend)))
        .collect();
    let mut jobs: Vec<S::Job> = Vec::new();
    for (experiment, run, backend) in &cases {
        let mut lab = Lab::<S>::new(
            *experiment,
            *backend,
            request.config,
            request.full,
            Bench::Planning(RefCell::default()),
        );
        S::perform(*run, &mut lab);
        if let Bench::Planning(asked) = lab.bench {
            for job in asked.into_inner() {
                if !jobs.contains(&job) {
                    jobs.push(job);
                }
            }
        }
    }
    jobs.sort_by_key(|job| std::cmp::Reverse(S::cost(job)));
    let total = jobs.iter().map(S::cost).sum();
    let so_far = AtomicU64::new(0);
    let measure = |job: &S::Job| {
        let result = S::measure(job);
        let cost = S::cost(job);
        done(so_far.fetch_add(cost, Ordering::Relaxed) + cost, total);
        result
    };
    let measured = pool::run(&jobs, request.threads, measure)?;
    let measured: Vec<(S::Job, S::Measured)> = jobs.into_iter().zip(measured).collect();
    let judge = |(experiment, run, backend): (Experiment, S::Run, BackendKind)| {
        let mut lab = Lab::<S>::new(
            experiment,
            backend,
            request.config,
            request.full,
            Bench::Measured(&measured),
        );
        S::perform(run, &mut lab);
        lab.outcome
    };
    Ok(cases.into_iter().map(judge).collect())
}

enum Bench<'a, S: Subject> {
    Planning(RefCell<Vec<S::Job>>),
    Measured(&'a [(S::Job, S::Measured)]),
}

/// One experiment on one backend, while it runs.
pub struct Lab<'a, S: Subject> {
    base: &'a S::Config,
    full: bool,
    bench: Bench<'a, S>,
    bounds_by: Origin,
    table: Vec<Provenance>,
    pub outcome: Outcome,
}

impl<'a, S: Subject> Lab<'a, S> {
    fn new(
        experiment: Experiment,
        backend: BackendKind,
        base: &'a S::Config,
        full: bool,
        bench: Bench<'a, S>,
    ) -> Lab<'a, S> {
        Lab {
            base,
            full,
            bench,
            bounds_by: Origin::Paper,
            table: S::Config::PARAMS.iter().map(Provenance::of).collect(),
            outcome: Outcome::new(experiment, backend),
        }
    }

    /// A lab for an experiment that is one job by itself and asks for no others.
    pub fn alone(experiment: Experiment, backend: BackendKind, base: &'a S::Config, full: bool) -> Lab<'a, S> {
        Lab::new(experiment, backend, base, full, Bench::Measured(&[]))
    }

    /// The machine's configuration as the user set it.
    pub fn config(&self) -> &'a S::Config {
        self.base
    }

    /// The user's value of a parameter.
    pub fn value(&self, name: &str) -> f64 {
        self.base
            .get(name)
            .expect("an experiment names parameters of the table")
    }

    /// Whether one of these parameters has another value than on the paper's machine.
    pub fn differs(&self, names: &[&str]) -> bool {
        let usual = S::Config::paper();
        names
            .iter()
            .any(|name| usual.get(name).is_ok_and(|usual| usual != self.value(name)))
    }

    /// The user's configuration with some parameters changed.
    pub fn with(&self, changes: &[(&str, f64)]) -> S::Config {
        let mut config = self.base.clone();
        for (name, value) in changes {
            let set = config.set(name, *value);
            set.expect("an experiment sets parameters within their range");
        }
        config
    }

    pub fn backend(&self) -> BackendKind {
        self.outcome.backend
    }

    /// Whether the user asked for the full trial counts.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Trial count on the RTL, on the model, or the full one if the user asked for it.
    pub fn volume(&self, on_rtl: u32, on_model: u32, full: u32) -> u32 {
        match self.backend() {
            _ if self.full => full,
            BackendKind::Rtl => on_rtl,
            BackendKind::Model => on_model,
        }
    }

    /// The result of a job.
    pub fn ask(&self, job: S::Job) -> S::Measured {
        match &self.bench {
            Bench::Planning(asked) => {
                asked.borrow_mut().push(job);
                S::Measured::default()
            }
            Bench::Measured(all) => {
                let found = all.iter().find(|(known, _)| *known == job);
                found.unwrap_or_else(|| panic!("{job:?} was not planned")).1.clone()
            }
        }
    }

    pub fn row(&mut self, spec: Spec, ours: f64) {
        let of = Source {
            machine: S::NAME,
            experiment: self.outcome.experiment.id,
            backend: self.backend(),
        };
        self.outcome.rows.push(spec.measured(ours, of, &self.table));
    }

    /// Sets the origin of the bounds of all later checks; until then it is the paper.
    pub fn bounds_by(&mut self, origin: Origin) {
        self.bounds_by = origin;
    }

    /// A statement without a number. It passes within bounds that leave no other reading.
    pub fn check(&mut self, name: &str, quantity: &str, unit: &'static str, bounds: (f64, f64), ours: u32) {
        self.bounded(name, quantity, unit, bounds, self.bounds_by, ours);
    }

    /// A count of errors: passes at 0.
    pub fn none(&mut self, name: &str, quantity: &str, unit: &'static str, ours: u32) {
        self.check(name, quantity, unit, (0.0, 0.0), ours);
    }

    /// A count of trials, which is our choice: passes from `least` on.
    pub fn tried(&mut self, name: &str, quantity: &str, unit: &'static str, least: u32, ours: u32) {
        let bounds = (f64::from(least), f64::INFINITY);
        self.bounded(name, quantity, unit, bounds, Origin::Ours, ours);
    }

    /// A count of trials that is known exactly: passes at `all`.
    pub fn done(&mut self, name: &str, quantity: &str, unit: &'static str, all: u32, ours: u32) {
        let bounds = (f64::from(all), f64::from(all));
        self.bounded(name, quantity, unit, bounds, Origin::Ours, ours);
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
        // Without a unit it would be shown as a ratio is, with decimals.
        assert!(!unit.is_empty(), "{name}: what is counted has a unit");
        let spec = Spec::new(name, quantity, unit)
            .bounded(low, high, by)
            .depends(S::HARDWARE);
        self.row(spec, f64::from(ours));
    }
}
