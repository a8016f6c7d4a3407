//! The arguments of the command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, Command as Clap, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::examples;
use crate::harness::params::Settings;
use crate::machine::{Machine, Opt, Value};
use crate::machines;
use crate::repro::row::BackendKind;

/// Message hardware of parallel computers of the 1990s: verified RTL, measured against the papers.
#[derive(Parser)]
#[command(version, after_help = examples::all())]
pub struct Tsunagi {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Lists machines, experiments, scenarios, waves and parameters with their origins
    #[command(after_help = examples::list())]
    List(ListArgs),
    /// Runs one small scenario and prints its measurements
    #[command(after_help = examples::run())]
    Run(RunArgs),
    /// Runs a paper's experiments and prints the paper's value, ours and the difference
    #[command(after_help = examples::repro())]
    Repro(ReproArgs),
    /// Sends a file through the machine and compares SHA-256 at both ends
    #[command(after_help = examples::send())]
    Send(SendArgs),
    /// Runs random programs under random faults, and judges memories and reports
    #[command(after_help = examples::soak())]
    Soak(SoakArgs),
    /// Runs a scenario on the RTL and writes a wave with signal lists for GTKWave and Surfer
    #[command(after_help = examples::wave())]
    Wave(WaveArgs),
    /// Runs the experiments and writes only the HTML report
    #[command(after_help = examples::report())]
    Report(ReportArgs),
    /// Measures the speed of the simulation
    #[command(after_help = examples::bench())]
    Bench(BenchArgs),
    /// Prints a script with which a shell completes this command
    #[command(after_help = examples::completions())]
    Completions(CompletionsArgs),
    /// Writes manual pages of this command and its subcommands
    #[command(after_help = examples::man())]
    Man(ManArgs),
}

/// A machine by its name.
fn machine() -> impl TypedValueParser<Value = &'static dyn Machine> {
    let value = |machine: &&'static dyn Machine| PossibleValue::new(machine.name()).help(machine.facts().title);
    PossibleValuesParser::new(machines::all().iter().map(value))
        .map(|name| machines::by_name(&name).expect("the parser accepts only names of machines"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backends {
    /// Verilated RTL
    Rtl,
    /// The timed golden model
    Model,
    /// Both, side by side
    Both,
}

impl Backends {
    pub fn kinds(self) -> &'static [BackendKind] {
        match self {
            Backends::Rtl => &[BackendKind::Rtl],
            Backends::Model => &[BackendKind::Model],
            Backends::Both => &[BackendKind::Rtl, BackendKind::Model],
        }
    }
}

/// One backend, for commands that cannot compare two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// Verilated RTL
    Rtl,
    /// The timed golden model
    Model,
}

impl Backend {
    pub fn kind(self) -> BackendKind {
        match self {
            Backend::Rtl => BackendKind::Rtl,
            Backend::Model => BackendKind::Model,
        }
    }
}

/// Changes to the parameter table.
#[derive(Args)]
pub struct Set {
    /// Set a parameter to another value; `tsunagi list` shows them
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

impl Set {
    pub fn settings(&self) -> Settings {
        Settings::new(&self.settings)
    }
}

/// The output's format.
#[derive(Args)]
pub struct Format {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print CSV: a line of names, and one for each row
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

#[derive(Args)]
pub struct ListArgs {
    /// Only this machine [default: all machines]
    #[arg(value_parser = machine())]
    pub machine: Option<&'static dyn Machine>,
    /// Only the parameters
    #[arg(long)]
    pub params: bool,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that is to complete
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// The folder of the pages
    #[arg(long, value_name = "DIR", default_value = "out/man")]
    pub out: PathBuf,
}

/// Names and values of the given scenario options, of any machine.
#[derive(Default)]
pub struct Options(Vec<(String, String)>);

impl Options {
    pub fn given(&self) -> Vec<(&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }
}

/// An option, with its meaning in each scenario that has it: `calls`, `cenju3 rmwrite`.
type Use = (&'static Opt, Vec<(&'static str, String)>);

/// The options of all scenarios, each once.
fn options() -> Vec<Use> {
    let mut all: Vec<Use> = Vec::new();
    for machine in machines::all() {
        for scenario in machine.facts().scenarios {
            for option in scenario.options {
                let used = (option.about, format!("{} {}", machine.name(), scenario.name));
                match all.iter_mut().find(|(known, _)| known.name == option.name) {
                    Some((_, uses)) => uses.push(used),
                    None => all.push((option, vec![used])),
                }
            }
        }
    }
    all
}

/// The help text of an option: `calls of cenju3 rmwrite; rounds of cenju3 ping-pong; up to 16 [default: 4]`.
fn help((option, uses): &Use) -> String {
    let mut abouts: Vec<&str> = Vec::new();
    for (about, _) in uses {
        if !abouts.contains(about) {
            abouts.push(about);
        }
    }
    let of = |about: &&str| {
        let users = uses.iter().filter(|(known, _)| known == about);
        let users: Vec<&str> = users.map(|(_, user)| user.as_str()).collect();
        format!("{about} of {}", users.join(", "))
    };
    let meaning = abouts.iter().map(of).collect::<Vec<_>>().join("; ");
    match option.value {
        Value::Number { most, usual, .. } => format!("{meaning}; up to {most} [default: {usual}]"),
        Value::Choice(known) => {
            let values: Vec<String> = known.iter().map(|(name, about)| format!("{name} ({about})")).collect();
            format!("{meaning}: {} [default: {}]", values.join(", "), known[0].0)
        }
    }
}

impl Args for Options {
    fn augment_args(command: Clap) -> Clap {
        let arg = |used: &Use| {
            let name = used.0.name;
            let arg = Arg::new(name).long(name).value_name("VALUE");
            arg.help(help(used)).allow_negative_numbers(true)
        };
        command.args(options().iter().map(arg))
    }

    fn augment_args_for_update(command: Clap) -> Clap {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Options {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = Options::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given = |(option, _): Use| {
            let value = matches.get_one::<String>(option.name)?;
            Some((option.name.to_owned(), value.clone()))
        };
        self.0.extend(options().into_iter().filter_map(given));
        Ok(())
    }
}

#[derive(Args)]
pub struct RunArgs {
    /// The machine to run on
    #[arg(value_parser = machine())]
    pub machine: &'static dyn Machine,
    /// The scenario to run; `tsunagi list` shows the scenarios of each machine
    pub scenario: String,
    #[command(flatten)]
    pub options: Options,
    /// Which implementation to measure: RTL or model
    #[arg(long, value_enum, default_value_t = Backend::Rtl)]
    pub backend: Backend,
    #[command(flatten)]
    pub set: Set,
    /// Write the program of the NIC's processor to this file, with the cycles of each line
    #[arg(long, value_name = "FILE")]
    pub listing: Option<PathBuf>,
    #[command(flatten)]
    pub format: Format,
}

/// An experiment's id, in upper or lower case.
fn experiment(text: &str) -> Result<&'static str, String> {
    let ids = |machine: &&'static dyn Machine| machine.experiments().into_iter().map(|e| e.id);
    let known = || {
        let of = |machine: &&'static dyn Machine| {
            format!("{} of {}", ids(machine).collect::<Vec<_>>().join(", "), machine.name())
        };
        machines::all().iter().map(of).collect::<Vec<_>>().join("; ")
    };
    let mut all = machines::all().iter().flat_map(ids);
    all.find(|id| id.eq_ignore_ascii_case(text))
        .ok_or_else(|| format!("unknown experiment; known: {}", known()))
}

#[derive(Args)]
pub struct ReproArgs {
    /// The machine to reproduce [default: all machines, one after the other]
    #[arg(value_parser = machine())]
    pub machine: Option<&'static dyn Machine>,
    /// Only this experiment; repeatable
    #[arg(long = "experiment", value_name = "ID", value_parser = experiment)]
    pub experiments: Vec<&'static str>,
    /// Which implementation to measure: RTL or model
    #[arg(long, value_enum, default_value_t = Backends::Rtl)]
    pub backend: Backends,
    #[command(flatten)]
    pub set: Set,
    /// Run the full trial counts instead of the shortened defaults; slow on the RTL
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub format: Format,
    /// Write rows.json and a report of each machine to this folder, and report.html over several
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write a wave of each machine to `waves` in that folder
    #[arg(long, requires = "out")]
    pub waves: bool,
    /// Print a short summary of each machine instead of tables, and the progress every 20 seconds
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub brief: bool,
    /// Also print the tables
    #[arg(short, long, requires = "brief")]
    pub verbose: bool,
}

#[derive(Args)]
pub struct ReportArgs {
    /// The machine to reproduce
    #[arg(value_parser = machine())]
    pub machine: &'static dyn Machine,
    /// Only this experiment; repeatable
    #[arg(long = "experiment", value_name = "ID", value_parser = experiment)]
    pub experiments: Vec<&'static str>,
    /// Which implementation to measure: RTL or model
    #[arg(long, value_enum, default_value_t = Backends::Both)]
    pub backend: Backends,
    #[command(flatten)]
    pub set: Set,
    /// The file to write [default: out/report-MACHINE.html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Args)]
pub struct SendArgs {
    /// The file to send, of any size
    pub file: PathBuf,
    /// The machine that carries it
    #[arg(long, value_parser = machine(), default_value = machines::all()[0].name())]
    pub machine: &'static dyn Machine,
    /// Number of processing elements; a torus is as nearly square as the number allows
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(2..=256))]
    pub pes: u16,
    /// The sending PE
    #[arg(long, default_value_t = 0)]
    pub from: u16,
    /// The receiving PE
    #[arg(long, default_value_t = 1)]
    pub to: u16,
    /// Which implementation to use: RTL or model
    #[arg(long, value_enum, default_value_t = Backend::Rtl)]
    pub backend: Backend,
    #[command(flatten)]
    pub set: Set,
    /// Flip this bit before the comparison, which must then fail
    #[arg(long, hide = true, value_name = "BIT")]
    pub flip_bit: Option<u64>,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Args)]
pub struct SoakArgs {
    /// The machine [default: all machines that have a campaign]
    #[arg(value_parser = machine())]
    pub machine: Option<&'static dyn Machine>,
    /// Number of seeds
    #[arg(long, default_value_t = 100)]
    pub seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    pub first: u64,
    /// Only one of equal parts of the seeds, as 3/8
    #[arg(long, value_name = "PART/PARTS", default_value = "1/1", value_parser = shard)]
    pub shard: (u64, u64),
    /// Number of runs at a time
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Instead, run this case of the machine
    #[arg(long, value_name = "FILE", requires = "machine", conflicts_with_all = ["seeds", "first", "shard"])]
    pub case: Option<PathBuf>,
    /// Add the results to this file, a line of JSON for each seed; a seed that passed by this file is not run again
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The folder of failing cases and their waves
    #[arg(long, value_name = "DIR", default_value = "out/soak")]
    pub out: PathBuf,
}

/// A part of equal parts.
fn shard(text: &str) -> Result<(u64, u64), String> {
    let numbers = text
        .split_once('/')
        .and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    match numbers {
        Some((part, parts)) if (1..=parts).contains(&part) => Ok((part, parts)),
        _ => Err("must be as 3/8, from 1/8 to 8/8".into()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WaveFormat {
    /// IEEE 1364: text, which every viewer reads
    Vcd,
    /// GTKWave's own format: a tenth of the size
    Fst,
}

#[derive(Args)]
pub struct WaveArgs {
    /// `<machine>/<scenario>`; `tsunagi list` shows them
    pub wave: String,
    /// The wave's format
    #[arg(long, value_enum, default_value_t = WaveFormat::Fst)]
    pub format: WaveFormat,
    #[command(flatten)]
    pub set: Set,
    /// The folder of the wave and its signal lists
    #[arg(long, value_name = "DIR", default_value = "out/waves")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct BenchArgs {
    /// The machine to simulate
    #[arg(value_parser = machine(), default_value = machines::all()[0].name())]
    pub machine: &'static dyn Machine,
    #[command(flatten)]
    pub format: Format,
}
