//! A machine as the command, the report and the benchmarks see it: names, parameters, operations and errors.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::campaign::Campaign;
use crate::harness::names::Names;
use crate::harness::params::{Param, ParamError, Settings, Table as _};
use crate::harness::wave::Probe;
use crate::net::bench::NetworkRun;
use crate::repro::lab::{self, Subject};
use crate::repro::row::BackendKind;
use crate::repro::{Experiment, Outcome, Quantity, Request};
use crate::{NodeId, Picos};

/// One machine. [`machines::ALL`](crate::machines::ALL) lists all of them; nothing outside a machine's own folder
/// depends on the particular machine. Name, parameters and experiments are those of its [`Subject`].
pub trait Machine: Experiments + Sync {
    fn facts(&self) -> &'static Facts;

    /// Signals of [`Facts::shown`] whose values have names in waves.
    fn names(&self) -> &'static [(&'static str, &'static Names)] {
        &[]
    }

    /// Settings for a machine of this many nodes.
    fn sized(&self, nodes: u16) -> Vec<(&'static str, f64)>;

    /// Runs one of the scenarios, on as many nodes as the settings say.
    ///
    /// # Errors
    /// Settings that are no machine; a machine that hangs or loses data.
    fn run(&self, run: &Run<'_>) -> Result<Measured, MachineError>;

    /// Gets a machine ready to carry data.
    ///
    /// # Errors
    /// As of [`run`](Machine::run).
    fn carrier(&self, route: &Route<'_>) -> Result<Box<dyn Carrier>, MachineError>;
}

/// The constant facts of a machine.
pub struct Facts {
    /// Maker and name: `NEC Cenju-3`.
    pub title: &'static str,
    /// What the machine was and what its paper measures, in two sentences for somebody who has not read it.
    pub about: &'static str,
    /// The paper that the experiments are from.
    pub paper: &'static str,
    /// The experiment whose first picture shows the machine's point.
    pub point: &'static str,
    /// Arguments of `tsunagi repro` that move a figure.
    pub next: &'static str,
    /// Experiments with fewer trials than their list says, unless all are asked for.
    pub shortened: &'static [&'static str],
    pub scenarios: &'static [Scenario],
    pub waves: &'static [Wave],
    /// What the waves show of the two nodes of a transfer, the sender first.
    pub shown: Shown,
    pub bench: Option<Bench>,
    pub campaign: Option<&'static dyn Campaign>,
}

/// What `tsunagi bench` measures.
pub struct Bench {
    /// Scenarios that take `bytes` and `count`, each with a title.
    pub workloads: [(&'static str, &'static str); 2],
    /// What the machine's largest network is called.
    pub network: &'static str,
    /// What it carries in each of two runs.
    pub traffic: [&'static str; 2],
    /// How fast it is simulated in these.
    pub runs: fn() -> [NetworkRun; 2],
    /// A large machine of RTL at work.
    pub whole: Option<Whole>,
}

/// A machine of RTL whose speed is measured.
pub struct Whole {
    /// What it is and does.
    pub title: &'static str,
    /// Runs it.
    pub run: fn() -> Result<WholeRun, MachineError>,
}

/// What the run of a [`Whole`] took, without what came before its traffic.
#[derive(Clone, Copy, Debug)]
pub struct WholeRun {
    /// Cycles of the clock of its cards.
    pub cycles: u64,
    /// CPU time, the programs' time included.
    pub cpu: Duration,
}

/// The experiments of a machine. Each [`Subject`] has them.
pub trait Experiments {
    /// As on the command line: `cenju3`.
    fn name(&self) -> &'static str;

    fn params(&self) -> &'static [Param];

    /// Values of all parameters, in the order of the table.
    ///
    /// # Errors
    /// The first setting that the table refuses.
    fn values(&self, settings: &Settings) -> Result<Vec<f64>, ParamError>;

    fn experiments(&self) -> Vec<Experiment>;

    /// Runs experiments. `done` receives the simulated and the total cost.
    ///
    /// # Errors
    /// As of [`Machine::run`].
    fn reproduce(
        &self,
        request: &Request<'_, Settings>,
        done: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Vec<Outcome>, MachineError>;
}

impl<S: Subject<Error: Into<MachineError>>> Experiments for S {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn params(&self) -> &'static [Param] {
        S::Config::PARAMS
    }

    fn values(&self, settings: &Settings) -> Result<Vec<f64>, ParamError> {
        let config = S::Config::of(settings)?;
        self.params().iter().map(|param| config.get(param.name)).collect()
    }

    fn experiments(&self) -> Vec<Experiment> {
        lab::experiments::<S>().collect()
    }

    fn reproduce(
        &self,
        request: &Request<'_, Settings>,
        done: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Vec<Outcome>, MachineError> {
        let config = S::Config::of(request.config)?;
        lab::run::<S>(&request.on(&config), done).map_err(Into::into)
    }
}

/// Something small that can be done on a machine.
#[derive(Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub options: &'static [Opt],
}

impl Scenario {
    pub const fn new(name: &'static str, options: &'static [Opt]) -> Scenario {
        Scenario { name, options }
    }
}

/// One option of a scenario: `--bytes`.
#[derive(Debug)]
pub struct Opt {
    pub name: &'static str,
    pub about: &'static str,
    pub value: Value,
}

impl Opt {
    /// Bytes of a transfer, multiples of `step`; `rule` says so.
    pub const fn bytes(step: u32, rule: &'static str) -> Opt {
        Opt {
            name: "bytes",
            about: "bytes of a transfer",
            value: Value::Number {
                least: 1,
                most: 131_072,
                usual: 8192,
                step,
                rule,
            },
        }
    }

    /// How often it is done, `least` times or more; `rule` says so.
    pub const fn count(about: &'static str, least: u32, rule: &'static str) -> Opt {
        Opt {
            name: "count",
            about,
            value: Value::Number {
                least,
                most: 16,
                usual: 4,
                step: 1,
                rule,
            },
        }
    }
}

/// What an option takes.
#[derive(Debug)]
pub enum Value {
    Number {
        least: u32,
        most: u32,
        usual: u32,
        /// Only multiples of it.
        step: u32,
        /// Why another number is refused.
        rule: &'static str,
    },
    /// A name, the usual one first, and what it means.
    Choice(&'static [(&'static str, &'static str)]),
}

impl Value {
    /// Whether a text is one of the values.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match self {
            Value::Number {
                least,
                most,
                step,
                rule,
                ..
            } => match text.parse::<u32>() {
                Ok(number) if !(*least..=*most).contains(&number) => Err(format!("{rule}: {least} to {most}")),
                Ok(number) if !number.is_multiple_of(*step) => Err((*rule).into()),
                Ok(_) => Ok(()),
                Err(_) => Err(format!("must be a number from {least} to {most}")),
            },
            Value::Choice(known) if known.iter().any(|(name, _)| *name == text) => Ok(()),
            Value::Choice(known) => {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                Err(format!("must be one of {}", names.join(", ")))
            }
        }
    }

    /// The usual value, as it is written.
    pub fn usual(&self) -> String {
        match self {
            Value::Number { usual, .. } => usual.to_string(),
            Value::Choice(known) => known[0].0.into(),
        }
    }
}

/// A scenario to be run.
pub struct Run<'a> {
    pub scenario: &'static Scenario,
    /// Names and values of options that are given, each checked.
    pub options: &'a [(&'a str, &'a str)],
    pub backend: BackendKind,
    pub settings: &'a Settings,
    /// The RTL leaves the wave that it asks for.
    pub probe: &'a Probe,
}

impl Run<'_> {
    /// The value of an option that the scenario has.
    pub fn option(&self, name: &str) -> String {
        let given = self.options.iter().find(|(given, _)| *given == name);
        let usual = || self.scenario.options.iter().find(|option| option.name == name);
        match given {
            Some((_, value)) => (*value).into(),
            None => usual().expect("an option of the scenario").value.usual(),
        }
    }

    /// The same of an option that takes numbers.
    pub fn number(&self, name: &str) -> u32 {
        self.option(name).parse().expect("it is checked")
    }
}

/// What a scenario gave.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// What was done, in words.
    pub done: String,
    /// NaN where there was nothing to measure.
    pub values: Vec<(&'static Quantity, f64)>,
    /// Quantities that cannot have a value here, each with the reason.
    pub without: Vec<(&'static str, &'static str)>,
    /// When the sending link carried its first word.
    pub first_word: Option<Picos>,
    /// The program of the NIC's own processor, with the cycles of each line; `None` without such a processor.
    pub listing: Option<String>,
}

/// A wave that `tsunagi wave` makes: a scenario of two nodes with these options.
#[derive(Debug)]
pub struct Wave {
    pub name: &'static str,
    pub scenario: &'static str,
    pub options: &'static [(&'static str, &'static str)],
}

impl Wave {
    pub const fn new(
        name: &'static str,
        scenario: &'static str,
        options: &'static [(&'static str, &'static str)],
    ) -> Wave {
        Wave {
            name,
            scenario,
            options,
        }
    }
}

/// Ports and states worth looking at, in groups: name below the unit, and bits.
pub type Signals = &'static [(&'static str, &'static [(&'static str, u32)])];

/// What waves show of two nodes.
pub struct Shown {
    /// Scopes of the sender and of the receiver, and of the unit in each.
    pub nodes: [&'static str; 2],
    pub unit: &'static str,
    pub signals: Signals,
}

/// Where data go.
pub struct Route<'a> {
    pub from: NodeId,
    pub to: NodeId,
    pub backend: BackendKind,
    /// They give the nodes, too.
    pub settings: &'a Settings,
}

/// A machine that carries what fits into a window, from one node's memory to another's.
pub trait Carrier {
    fn now(&self) -> Picos;

    /// Bytes of a window.
    fn window(&self) -> u32;

    /// Gives what is read back from the receiver's memory, which was poisoned first.
    ///
    /// # Errors
    /// The machine hangs or reports a fault.
    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, MachineError>;
}

/// What a receiver's memory holds before it gets these data.
pub fn poison(data: &[u8]) -> Vec<u8> {
    data.iter().map(|byte| !byte).collect()
}

/// Why something was not done on a machine.
#[derive(Debug)]
pub struct MachineError {
    exit_code: u8,
    error: Box<dyn StdError + Send + Sync>,
}

impl MachineError {
    /// What is asked for makes no machine, or the machine refuses it.
    pub fn usage(error: impl Into<Box<dyn StdError + Send + Sync>>) -> MachineError {
        let error = error.into();
        MachineError { exit_code: 2, error }
    }

    /// The simulated machine hangs or loses data.
    pub fn failure(error: impl Into<Box<dyn StdError + Send + Sync>>) -> MachineError {
        let error = error.into();
        MachineError { exit_code: 4, error }
    }

    /// That of the command.
    pub fn exit_code(&self) -> u8 {
        self.exit_code
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl StdError for MachineError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }
}

impl From<ParamError> for MachineError {
    fn from(error: ParamError) -> MachineError {
        MachineError::usage(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options_are_checked() {
        let bytes = Value::Number {
            least: 4,
            most: 64,
            usual: 8,
            step: 4,
            rule: "whole words",
        };
        let said = |text| bytes.check(text).unwrap_err();
        assert_eq!(bytes.check("64"), Ok(()));
        assert_eq!(
            (said("68"), said("6")),
            ("whole words: 4 to 64".into(), "whole words".into())
        );
        assert!(said("-4").contains("4 to 64") && said("many").contains("number"));
        let at_end = Value::Choice(&[("nothing", ""), ("stopped", "")]);
        assert_eq!((at_end.check("stopped"), at_end.usual().as_str()), (Ok(()), "nothing"));
        assert!(at_end.check("late").unwrap_err().contains("nothing, stopped"));
    }
}
