//! The fault campaign: random programs on random machines under random faults, judged by a specification of what may
//! come of it.
//!
//! A [`Case`] says all of a run, and can be written by hand; a seed makes one. A machine adds its [`Campaign`]: how its
//! programs are drawn and run, and what its memories and reports may show at the end.

pub mod memory;
pub mod shrink;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

use crate::harness::event::Event;
use crate::harness::exec::{Host, SimError};
use crate::harness::faults::{Fault, Injection, PlanError};
use crate::harness::params::Settings;
use crate::harness::seed::{Rng, Seed};
use crate::harness::wave::Probe;
use crate::{Addr, NodeId, Picos};

/// A run of the campaign. A line of its text that begins with `#` is a comment.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The seed of all chance that the lines do not show: data, junk.
    pub chance: u64,
    pub settings: Settings,
    /// By node: commands, in the machine's own words.
    pub programs: Vec<Vec<String>>,
    pub faults: Vec<Injection>,
}

impl Case {
    /// Commands and faults.
    pub fn size(&self) -> usize {
        self.faults.len() + self.programs.iter().map(Vec::len).sum::<usize>()
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "chance {}", self.chance)?;
        for setting in self.settings.assignments() {
            writeln!(f, "set {setting}")?;
        }
        for program in &self.programs {
            writeln!(f, "program {}", program.join("; "))?;
        }
        self.faults.iter().try_for_each(|fault| writeln!(f, "fault {fault}"))
    }
}

/// Why a text is no case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaseError {
    #[error("line {line}: `{text}`: a line begins with `chance`, `set`, `program` or `fault`")]
    Line { line: usize, text: String },
    #[error("line {line}: {why}")]
    Fault { line: usize, why: PlanError },
    #[error("{0}")]
    Settings(String),
    #[error("{programs} programs: a machine of {nodes} nodes runs at most {most}")]
    Programs { programs: usize, nodes: usize, most: usize },
    #[error("program {program}: `{text}` is no command; docs/soak.md lists all")]
    Command { program: usize, text: String },
    #[error("fault `{injection}`: {why}")]
    NotHere { injection: Injection, why: &'static str },
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(text: &str) -> Result<Case, CaseError> {
        let (mut case, mut settings) = (Case::default(), Vec::new());
        let counts = |text: &str| !text.trim().is_empty() && !text.starts_with('#');
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| counts(text)) {
            let unknown = || CaseError::Line {
                line,
                text: text.into(),
            };
            let (word, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            match word {
                "chance" => case.chance = rest.trim().parse().map_err(|_| unknown())?,
                "set" => settings.push(rest.trim().to_owned()),
                "program" => {
                    let commands = rest.split(';').map(str::trim).filter(|command| !command.is_empty());
                    case.programs.push(commands.map(str::to_owned).collect());
                }
                "fault" => case
                    .faults
                    .push(rest.parse().map_err(|why| CaseError::Fault { line, why })?),
                _ => return Err(unknown()),
            }
        }
        case.settings = Settings::new(&settings);
        Ok(case)
    }
}

/// The clauses of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clause {
    /// Memory holds what the specification allows.
    Memory,
    /// What is lost is reported, and nothing is lost without a cause.
    Loss,
    /// Order of data, flags, replies and interrupts.
    Order,
    /// Nothing hangs that the specification does not call hung.
    Hang,
    /// Reports say what happened.
    Report,
    /// Legal traffic afterwards is as ever.
    Afterwards,
    /// A machine that leaves out idle units agrees with one that evaluates all.
    Gate,
    /// An assertion of RTL or model holds.
    Assertion,
}

/// A clause that a run broke.
#[derive(Clone, Debug, Error)]
#[error("{clause:?}: {what}")]
pub struct Broken {
    pub clause: Clause,
    pub what: String,
}

impl Broken {
    pub fn new(clause: Clause, what: impl Into<String>) -> Broken {
        Broken {
            clause,
            what: what.into(),
        }
    }
}

/// The machine of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Rtl,
    /// The RTL with every unit evaluated at every edge.
    Ungated,
    Model,
}

/// How often a fault met a node that did this: by the fault's kind and [`Doing::name`](crate::harness::backend::Doing).
pub type Met = BTreeMap<(&'static str, &'static str), u64>;

/// What came of a run that broke nothing.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    pub met: Met,
    /// What was committed at ports, for a comparison of two runs.
    pub events: Vec<Event>,
    /// Packets or messages that were lost, each reported.
    pub lost: u64,
    pub simulated: Picos,
}

/// A machine's part of the campaign.
pub trait Campaign: Sync {
    /// The case of a seed.
    fn draw(&self, rng: &mut Rng) -> Case;

    /// Whether a case, perhaps one written by hand, is one of this machine.
    ///
    /// # Errors
    /// Its settings, a command, or a fault are none of this machine.
    fn accepts(&self, case: &Case) -> Result<(), CaseError>;

    /// The case on machines that have fewer nodes and are otherwise the same, as far as that makes sense.
    fn fewer(&self, case: &Case) -> Vec<Case>;

    /// Whether the timed model has the part that a fault needs: not a NIC to reset, and in general no flits to forge.
    fn is_on_model(&self, fault: &Fault) -> bool {
        !matches!(fault, Fault::NicResets(_) | Fault::Packet(_))
    }

    /// Runs a case.
    ///
    /// # Errors
    /// The first clause of the specification that is broken.
    fn run(&self, case: &Case, on: On, probe: &Probe) -> Result<Ran, Broken>;
}

/// What a machine knows of a case that is written by hand.
pub struct Known<'a> {
    pub nodes: usize,
    /// Programs at most.
    pub programs: usize,
    /// Whether a text is a command of this program.
    pub command: &'a dyn Fn(&str, usize) -> bool,
    /// Why a fault cannot be there.
    pub fault: &'a dyn Fn(&Fault) -> Option<&'static str>,
}

/// Whether commands and faults of a case are known.
///
/// # Errors
/// The first that is not.
pub fn accepts(case: &Case, known: &Known) -> Result<(), CaseError> {
    // No run lasts much longer.
    const LATEST: Picos = Picos::from_ns(50_000_000);
    let (programs, nodes, most) = (case.programs.len(), known.nodes, known.programs);
    if programs > most {
        return Err(CaseError::Programs { programs, nodes, most });
    }
    for (program, commands) in case.programs.iter().enumerate() {
        if let Some(text) = commands.iter().find(|text| !(known.command)(text, program)) {
            let text = text.clone();
            return Err(CaseError::Command { program, text });
        }
    }
    for injection in &case.faults {
        let why = if injection.node.index() >= nodes {
            Some("the machine has no such node")
        } else if injection.at + injection.fault.span() > LATEST {
            Some("it must end within 50 ms")
        } else {
            (known.fault)(&injection.fault)
        };
        if let Some(why) = why {
            let injection = injection.clone();
            return Err(CaseError::NotHere { injection, why });
        }
    }
    Ok(())
}

/// The case on the first `left` of `nodes` nodes; `None` if others have a command.
pub fn on_first_nodes(case: &Case, nodes: usize, left: usize, settings: &[(&str, f64)]) -> Option<Case> {
    let are_idle = case.programs.len() <= nodes && case.programs.iter().skip(left).all(Vec::is_empty);
    are_idle.then(|| Case {
        settings: case.settings.clone().with(settings),
        programs: case.programs.iter().take(left).cloned().collect(),
        ..case.clone()
    })
}

/// What a run broke that did not come to its end.
pub fn hang(error: &SimError) -> Broken {
    let clause = match error {
        SimError::Hang { .. } => Clause::Hang,
        SimError::Failed { .. } => Clause::Report,
    };
    Broken::new(clause, error.to_string())
}

/// The case of a seed.
pub fn case(campaign: &dyn Campaign, seed: u64) -> Case {
    let mut rng = Seed(seed).stream("campaign");
    Case {
        chance: seed,
        ..campaign.draw(&mut rng)
    }
}

/// As [`Campaign::run`]; a panic is an assertion that fails.
///
/// # Errors
/// The first clause that is broken.
pub fn guarded(campaign: &dyn Campaign, case: &Case, on: On, probe: &Probe) -> Result<Ran, Broken> {
    let run = AssertUnwindSafe(|| campaign.run(case, on, probe));
    catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        Err(Broken::new(Clause::Assertion, text.unwrap_or_default()))
    })
}

/// Runs a case on the RTL, and on the timed model if that has all parts. Every eighth case also runs without gating,
/// which must be the same.
///
/// # Errors
/// The first clause that is broken.
pub fn check(campaign: &dyn Campaign, case: &Case) -> Result<Ran, Broken> {
    let none = Probe::default();
    let ran = guarded(campaign, case, On::Rtl, &none)?;
    if case
        .faults
        .iter()
        .all(|injection| campaign.is_on_model(&injection.fault))
    {
        guarded(campaign, case, On::Model, &none).map_err(|broken| Broken {
            what: format!("on the model: {}", broken.what),
            ..broken
        })?;
    }
    if case.chance.is_multiple_of(8) {
        let all = guarded(campaign, case, On::Ungated, &none)?;
        let (some, all) = (&ran.events, &all.events);
        if let Some((gated, all)) = some.iter().zip(all).find(|(a, b)| a != b) {
            let what = format!("gated: {gated:?}; with all units evaluated: {all:?}");
            return Err(Broken::new(Clause::Gate, what));
        }
        if some.len() != all.len() {
            let what = format!("{} events gated, {} with all units evaluated", some.len(), all.len());
            return Err(Broken::new(Clause::Gate, what));
        }
    }
    Ok(ran)
}

/// Software of a node, as far as faults reach it.
#[derive(Debug, Default)]
pub struct Sleeper(Cell<Picos>);

impl Sleeper {
    /// Waits until software does not sleep.
    pub async fn awake(&self, host: &Host) {
        host.delay_until(self.0.get()).await;
    }
}

/// What a fault does that only the software of a node can do.
pub type Deed = Pin<Box<dyn Future<Output = ()>>>;

/// The software of a node, as far as faults need it.
pub trait Victim {
    fn host(&self) -> &Host;

    fn sleeper(&self) -> &Sleeper;

    /// A fault begins that is software's matter: pages go, or the NIC is reset.
    fn begins(self: Rc<Self>, _fault: &Fault) -> Deed {
        Box::pin(async {})
    }

    /// It has ended.
    fn ends(self: Rc<Self>, _fault: &Fault) -> Deed {
        Box::pin(async {})
    }
}

/// Starts a program that injects a fault at its instant behind `start`, and notes what the node was doing.
pub fn plan(victim: Rc<dyn Victim>, start: Picos, injection: &Injection, met: Rc<RefCell<Met>>) {
    let (host, at, fault) = (victim.host().clone(), start + injection.at, injection.fault.clone());
    host.clone().spawn(format!("the fault `{injection}`"), async move {
        host.delay_until(at).await;
        let state = host.doing().name();
        *met.borrow_mut().entry((fault.name(), state)).or_default() += 1;
        let end = host.now() + fault.span();
        match &fault {
            Fault::SoftwareSleeps(_) => victim.sleeper().0.set(victim.sleeper().0.get().max(end)),
            Fault::InterruptsMasked(span) => host.mask_interrupts(*span).await,
            Fault::MemoryFails { from, bytes, .. } => {
                let range = from.0..from.0 + bytes;
                host.memory(|memory| memory.inject_fault(range.clone()));
                host.delay_until(end).await;
                host.memory(|memory| memory.lift_fault(&range));
            }
            Fault::MemoryStalls(_) | Fault::MemoryRefuses(_) | Fault::LinkStalls(_) | Fault::Packet(_) => {
                // A timed model has no such parts.
                host.inject(&fault);
                host.delay_until(end).await;
            }
            Fault::NicResets(_) => {
                victim.clone().begins(&fault).await;
                host.inject(&fault);
                host.delay_until(end).await;
                victim.ends(&fault).await;
            }
            Fault::PagesGone { .. } => {
                victim.clone().begins(&fault).await;
                host.delay_until(end).await;
                victim.ends(&fault).await;
            }
        }
    });
}

/// Memory of a node that its NIC touches in a run.
#[derive(Clone, Copy, Debug)]
pub struct Touched {
    pub node: usize,
    pub from: Addr,
    /// At least 1.
    pub bytes: u32,
}

/// Faults of the surroundings that every machine has, by their names: as often as they are drawn.
const COMMON: [&str; 7] = [
    "memory-stalls",
    "memory-refuses",
    "memory-fails",
    "memory-fails",
    "link-stalls",
    "software-sleeps",
    "interrupts-masked",
];

/// Draws a fault of a machine's own, of a node and with at most this span.
pub type DrawOwn<'a> = &'a dyn Fn(&mut Rng, usize, Picos) -> Fault;

/// Draws faults of these nodes that begin within `horizon`. One of four is the machine's own, where it has some.
pub fn draw_faults(
    rng: &mut Rng,
    nodes: usize,
    horizon: Picos,
    touched: &[Touched],
    own: Option<DrawOwn<'_>>,
) -> Vec<Injection> {
    const SPANS: [u64; 4] = [100, 1_000, 20_000, 300_000];
    let mut faults = Vec::new();
    for _ in 0..rng.below(7) {
        let longest = SPANS[rng.below(SPANS.len() as u64) as usize];
        let span = Picos::from_ns(rng.between(10, longest));
        let mut node = rng.below(nodes as u64) as usize;
        let fault = match own.filter(|_| rng.chance(1, 4)) {
            Some(own) => own(rng, node, span),
            None => match COMMON[rng.below(COMMON.len() as u64) as usize] {
                "memory-refuses" => Fault::MemoryRefuses(span),
                "memory-fails" if !touched.is_empty() => {
                    let place = touched[rng.below(touched.len() as u64) as usize];
                    let first = rng.below(place.bytes.into()) as u32;
                    node = place.node;
                    Fault::MemoryFails {
                        from: place.from.offset(first),
                        bytes: rng.between(1, u64::from(place.bytes - first).min(3_000)) as u32,
                        // Long enough to be met.
                        span: Picos::from_ns(rng.between(longest, 20 * longest)),
                    }
                }
                "link-stalls" => Fault::LinkStalls(span),
                "software-sleeps" => Fault::SoftwareSleeps(span),
                "interrupts-masked" => Fault::InterruptsMasked(span),
                _ => Fault::MemoryStalls(span),
            },
        };
        faults.push(Injection {
            at: Picos::from_ns(rng.below(horizon.0 / 1000)),
            node: NodeId(node as u16),
            fault,
        });
    }
    faults.sort_by_key(|injection| (injection.at, injection.node));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_read_as_it_is_written() {
        let text = "chance 7\nset pes=3\nprogram dma 1 64; pause 9\nprogram \nfault 12ns 1 link-stalls 400ns\n";
        let case: Case = text.parse().unwrap();
        assert_eq!((case.to_string(), case.size()), (text.into(), 3));
        assert_eq!(
            format!("# by hand\n\n{text}").parse::<Case>().unwrap().to_string(),
            text
        );
        let error = |text: &str| text.parse::<Case>().unwrap_err().to_string();
        assert!(error("chance 7\nfalt 1").contains("line 2: `falt 1`"));
        assert!(error("fault 12ns 1 naps 4ns").contains("known: memory-stalls"));
    }

    #[test]
    fn drawn_faults_can_be_written() {
        let mut rng = Seed(1).stream("faults");
        for _ in 0..100 {
            let touched = Touched {
                node: 2,
                from: Addr(64),
                bytes: 1000,
            };
            for fault in draw_faults(&mut rng, 4, Picos::from_ns(50_000), &[touched], None) {
                assert_eq!(fault.to_string().parse(), Ok(fault));
            }
        }
    }
}
