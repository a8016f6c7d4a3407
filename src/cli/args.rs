//! What can be written on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::CliError;
use crate::ap1000p;
use crate::cenju3::params::Config;
use crate::harness::params::Param;
use crate::repro::row::BackendKind;
use crate::repro::{self, Experiment};

/// Parallel computers of the 1990s, their message hardware as verified RTL, measured against their papers.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES)]
pub struct Tsunagi {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tsunagi list                                    machines, experiments, scenarios, waves, parameters
  tsunagi repro cenju3                            every experiment of the paper on the RTL
  tsunagi repro cenju3 --experiment E7 --json     one of them, as JSON
  tsunagi repro ap1000p                           what the second machine's paper says it does
  tsunagi send FILE --machine cenju3 --pes 64 --from 0 --to 63
  tsunagi send FILE --machine ap1000p --pes 16 --to 15
  tsunagi wave cenju3/one-word                    a wave and signal lists for GTKWave and Surfer

Exit codes:
  0  done
  1  a check failed
  2  wrong usage, or settings that no machine has
  3  a file cannot be read or written
  4  the simulated machine hangs or loses data";

#[derive(Subcommand)]
pub enum Command {
    /// Shows machines, experiments, scenarios, waves and parameters with their origins
    #[command(after_help = "Examples:\n  tsunagi list\n  tsunagi list --json")]
    List(ListArgs),
    /// Runs one small scenario and prints what was measured
    #[command(
        after_help = "Examples:\n  tsunagi run cenju3 one-word\n  tsunagi run cenju3 rmwrite --bytes 8192 --set chunk_bytes=2048\n  \
        tsunagi run cenju3 stream --bytes 8192 --at-end stopped --backend model\n  tsunagi run ap1000p get --bytes 4096"
    )]
    Run(RunArgs),
    /// Runs a paper's experiments and prints paper, ours and the difference
    #[command(
        after_help = "Examples:\n  tsunagi repro cenju3\n  tsunagi repro cenju3 --experiment E7 --backend both\n  \
        tsunagi repro cenju3 --json --out out\n  tsunagi repro cenju3 --experiment E10 --set r_thresh=256\n\n\
        With --out the folder gets rows.json and report.html; without a machine, a report of each. The exit code is 1 when a row misses its bounds."
    )]
    Repro(ReproArgs),
    /// Sends a real file through the machine and compares SHA-256 at both ends
    #[command(
        after_help = "Examples:\n  tsunagi send README.md --machine cenju3 --pes 64 --from 0 --to 63\n  \
        tsunagi send README.md --machine ap1000p --pes 64 --from 0 --to 63\n\n\
        The file goes through PE memories in windows; the receiver's memory is poisoned first, and the second hash is of what is \
        read back from it."
    )]
    Send(SendArgs),
    /// Runs a scenario on the RTL and leaves a wave with signal lists for GTKWave and Surfer
    #[command(
        after_help = "Examples:\n  tsunagi wave cenju3/one-word\n  tsunagi wave cenju3/rmwrite --format vcd --out waves\n  tsunagi wave ap1000p/put"
    )]
    Wave(WaveArgs),
    /// Runs the experiments and writes the HTML report only
    #[command(after_help = "Example:\n  tsunagi report cenju3 --backend both --out out/report.html")]
    Report(ReportArgs),
    /// Measures how fast the simulation itself is
    #[command(after_help = "Examples:\n  tsunagi bench\n  tsunagi bench ap1000p --json")]
    Bench(BenchArgs),
}

/// A machine whose paper is reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Machine {
    /// NEC Cenju-3
    Cenju3,
    /// Fujitsu AP1000+
    Ap1000p,
}

impl Machine {
    pub const ALL: &'static [Machine] = &[Machine::Cenju3, Machine::Ap1000p];

    pub fn name(self) -> &'static str {
        match self {
            Machine::Cenju3 => "cenju3",
            Machine::Ap1000p => "ap1000p",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Machine::Cenju3 => "NEC Cenju-3",
            Machine::Ap1000p => "Fujitsu AP1000+",
        }
    }

    pub fn paper(self) -> &'static str {
        match self {
            Machine::Cenju3 => repro::cenju3::PAPER,
            Machine::Ap1000p => repro::ap1000p::PAPER,
        }
    }

    /// What shows how a figure moves with a parameter, for `tsunagi repro`.
    pub fn next(self) -> &'static str {
        match self {
            Machine::Cenju3 => "cenju3 --experiment E7 --set r_thresh=300",
            Machine::Ap1000p => "ap1000p --experiment M1 --set mem_read_latency=30",
        }
    }

    pub fn experiments(self) -> Vec<Experiment> {
        match self {
            Machine::Cenju3 => repro::cenju3::experiments().collect(),
            Machine::Ap1000p => repro::ap1000p::experiments().collect(),
        }
    }

    pub fn params(self) -> &'static [Param] {
        match self {
            Machine::Cenju3 => crate::cenju3::params::PARAMS,
            Machine::Ap1000p => crate::ap1000p::params::PARAMS,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backends {
    /// Verilated RTL
    Rtl,
    /// The timed golden model
    Model,
    /// Each, side by side
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

/// One backend where two make no sense.
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
pub struct Settings {
    /// Set a parameter to another value; `tsunagi list` shows them
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

impl Settings {
    /// Cenju-3's parameters with them.
    pub fn cenju3(&self) -> Result<Config, CliError> {
        let mut config = Config::paper();
        for text in &self.settings {
            config.set_assignment(text)?;
        }
        Ok(config)
    }

    /// The same of AP1000+.
    pub fn ap1000p(&self) -> Result<ap1000p::params::Config, CliError> {
        let mut config = ap1000p::params::Config::paper();
        for text in &self.settings {
            config.set_assignment(text)?;
        }
        Ok(config)
    }

    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// Whether this parameter is among them.
    pub fn sets(&self, name: &str) -> bool {
        let named = |text: &String| text.split('=').next().is_some_and(|n| n.trim() == name);
        self.settings.iter().any(named)
    }
}

#[derive(Args)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScenarioName {
    /// One word as a bare message
    OneWord,
    /// One word to and fro, by CJrmwrite or PUT
    PingPong,
    /// CJrmwrite, one call after the other
    Rmwrite,
    /// DMA parcels one after the other
    Stream,
    /// PUTs, one call after the other
    Put,
    /// GETs, one call after the other
    Get,
    /// Loads of a word of another cell's memory, one after the other
    Load,
}

impl ScenarioName {
    /// Those that a machine has.
    pub fn of(machine: Machine) -> &'static [ScenarioName] {
        use ScenarioName::*;
        match machine {
            Machine::Cenju3 => &[OneWord, PingPong, Rmwrite, Stream],
            Machine::Ap1000p => &[Put, Get, Load, PingPong],
        }
    }

    pub fn name(self) -> String {
        let value = self.to_possible_value().expect("every scenario has a name");
        value.get_name().to_owned()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AtEnd {
    /// The hardware alone
    Nothing,
    /// The Receiver stands while the kernel invalidates
    Stopped,
    /// One piece is invalidated while the next is stored
    Pieces,
}

#[derive(Args)]
pub struct RunArgs {
    /// The machine to run on
    pub machine: Machine,
    /// What is done on it; `tsunagi list` shows what each machine has
    pub scenario: ScenarioName,
    /// Bytes of a transfer of `rmwrite`, `stream`, `put` and `get`, 1 to 131072 [default: 8192]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=131_072))]
    pub bytes: Option<u32>,
    /// Calls of `rmwrite`, `put` and `get`, transfers of `stream`, loads, 1 to 16, or rounds of `ping-pong`, 2 to 16 [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub count: Option<u32>,
    /// What the receiving kernel does at the end of a transfer of `stream` [default: nothing]
    #[arg(long, value_enum)]
    pub at_end: Option<AtEnd>,
    /// The making of the machine to measure
    #[arg(long, value_enum, default_value_t = Backend::Rtl)]
    pub backend: Backend,
    #[command(flatten)]
    pub settings: Settings,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// An experiment's id, in either case.
fn experiment(text: &str) -> Result<&'static str, String> {
    let ids = |machine: &Machine| machine.experiments().into_iter().map(|e| e.id);
    let known = || {
        let of = |machine: &Machine| format!("{} of {}", ids(machine).collect::<Vec<_>>().join(", "), machine.name());
        Machine::ALL.iter().map(of).collect::<Vec<_>>().join("; ")
    };
    let mut all = Machine::ALL.iter().flat_map(ids);
    all.find(|id| id.eq_ignore_ascii_case(text))
        .ok_or_else(|| format!("unknown experiment; known are {}", known()))
}

#[derive(Args)]
pub struct ReproArgs {
    /// The machine whose paper is reproduced [default: each, one after the other]
    pub machine: Option<Machine>,
    /// Only this experiment; can be given several times
    #[arg(long = "experiment", value_name = "ID", value_parser = experiment)]
    pub experiments: Vec<&'static str>,
    /// The making of the machine to measure
    #[arg(long, value_enum, default_value_t = Backends::Rtl)]
    pub backend: Backends,
    #[command(flatten)]
    pub settings: Settings,
    /// As many trials as the machine's list of checks names, where fewer are run to save time (ap1000p: C11, C21; long on the RTL)
    #[arg(long)]
    pub full: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Leave rows.json and report.html in this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Leave a wave of each machine in `waves` of that folder, too
    #[arg(long, requires = "out")]
    pub waves: bool,
    /// Print a few lines on each machine instead of tables, and every 20 seconds how far it is
    #[arg(long, conflicts_with = "json")]
    pub brief: bool,
    /// Print the tables, too
    #[arg(short, long, requires = "brief")]
    pub verbose: bool,
}

#[derive(Args)]
pub struct ReportArgs {
    /// The machine whose paper is reproduced
    pub machine: Machine,
    /// Only this experiment; can be given several times
    #[arg(long = "experiment", value_name = "ID", value_parser = experiment)]
    pub experiments: Vec<&'static str>,
    /// The making of the machine to measure
    #[arg(long, value_enum, default_value_t = Backends::Both)]
    pub backend: Backends,
    #[command(flatten)]
    pub settings: Settings,
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "out/report.html")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct SendArgs {
    /// The file to send, of any size
    pub file: PathBuf,
    /// The machine that carries it
    #[arg(long, value_enum, default_value_t = Machine::Cenju3)]
    pub machine: Machine,
    /// Processing elements of the machine; of ap1000p they are a torus as near to a square as their number goes
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(2..=256))]
    pub pes: u16,
    /// The sending PE
    #[arg(long, default_value_t = 0)]
    pub from: u16,
    /// The receiving PE
    #[arg(long, default_value_t = 1)]
    pub to: u16,
    /// The making of the machine that carries it
    #[arg(long, value_enum, default_value_t = Backend::Rtl)]
    pub backend: Backend,
    #[command(flatten)]
    pub settings: Settings,
    /// Flip this bit of the data before the receiver's memory is read: the comparison must fail
    #[arg(long, hide = true, value_name = "BIT")]
    pub flip_bit: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WaveFormat {
    /// IEEE 1364: text that everything reads
    Vcd,
    /// GTKWave's own: a tenth of the size
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
    pub settings: Settings,
    /// The folder for the wave and its signal lists
    #[arg(long, value_name = "DIR", default_value = "out/waves")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct BenchArgs {
    /// The machine to simulate
    #[arg(value_enum, default_value_t = Machine::Cenju3)]
    pub machine: Machine,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
