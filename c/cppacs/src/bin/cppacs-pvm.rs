//! Runs a program of PVM on a simulated CP-PACS.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use clap::{Parser, ValueEnum};
use tsunagi::Picos;
use tsunagi::cppacs::host::pvm::process::Processes;
use tsunagi::cppacs::host::pvm::{Pvm, RunError};
use tsunagi::cppacs::host::{BootError, CppacsSim};
use tsunagi::cppacs::model::ModelMachine;
use tsunagi::cppacs::params::Config;
use tsunagi::cppacs::{grid, rtl};
use tsunagi::harness::backend::AnyBackend;
use tsunagi::harness::params::{ParamError, Table as _};
use tsunagi::harness::wave::Probe;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Model,
    Rtl,
}

/// Runs a program of PVM, linked with libpvm3.a, on a simulated CP-PACS.
#[derive(Parser)]
struct Args {
    /// Nodes of the machine; each has one task at most
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=2048))]
    nodes: u16,
    /// Starts so many equal tasks without a parent; 1: the program may spawn others
    #[arg(long, default_value_t = 1)]
    tasks: u16,
    /// The golden model, or verilated RTL
    #[arg(long, value_enum, default_value_t = Kind::Model)]
    backend: Kind,
    /// Changes a parameter of the machine
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Simulated time in us after which the run counts as hung
    #[arg(long, default_value_t = 1e12)]
    limit: f64,
    program: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Why there is no run, or no good end of it.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Setting(#[from] ParamError),
    #[error("--tasks {tasks}: the machine has {nodes} nodes, each for one task")]
    Tasks { tasks: u16, nodes: u16 },
    #[error("--limit {0}: no time")]
    Limit(f64),
    #[error("{0}: {1}")]
    Program(PathBuf, io::Error),
    #[error("no socket for the programs: {0}")]
    Socket(io::Error),
    #[error(transparent)]
    NotBuilt(#[from] rtl::NotBuilt),
    #[error(transparent)]
    Boot(#[from] BootError),
    #[error(transparent)]
    Run(#[from] RunError),
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(status) => ExitCode::from(status as u8),
        Err(why) => {
            eprintln!("cppacs-pvm: {why}");
            ExitCode::FAILURE
        }
    }
}

/// How the first task's program ended.
fn run(args: &Args) -> Result<i32, Failure> {
    let Args { nodes, tasks, .. } = *args;
    if tasks == 0 || tasks > nodes {
        return Err(Failure::Tasks { tasks, nodes });
    }
    if !(args.limit > 0.0 && args.limit <= 1e12) {
        return Err(Failure::Limit(args.limit));
    }
    let mut config = Config::paper();
    let (x, y, z) = grid(nodes.into());
    for (name, nodes) in [("x", x), ("y", y), ("z", z)] {
        config.set(name, nodes.into())?;
    }
    args.set.iter().try_for_each(|text| config.set_assignment(text))?;
    let program = fs::canonicalize(&args.program).map_err(|e| Failure::Program(args.program.clone(), e))?;
    let folder = tempfile::tempdir().map_err(Failure::Socket)?;
    let processes = Processes::new(folder.path(), search(&program), Box::new(io::stdout()));
    let processes = processes.map_err(Failure::Socket)?;
    let status = processes.status();
    let machine: AnyBackend = match args.backend {
        Kind::Model => Box::new(ModelMachine::new(&config)),
        Kind::Rtl => rtl::build(&config, &Probe::default())?,
    };
    let mut machine = CppacsSim::new(machine, &config)?;
    let (sim, nodes) = machine.parts();
    let name = program.to_string_lossy();
    let pvm = Pvm::start(nodes, Box::new(processes), &name, &args.args, tasks.into())?;
    pvm.run(sim, Picos::from_us(args.limit))?;
    Ok(status())
}

/// Where spawned programs are: in the folder of the first one, or in `PVM_PATH`.
fn search(program: &Path) -> Vec<PathBuf> {
    let more = env::var_os("PVM_PATH").unwrap_or_default();
    let beside = program.parent().map(Path::to_path_buf);
    beside.into_iter().chain(env::split_paths(&more)).collect()
}
