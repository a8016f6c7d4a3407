//! The `tsunagi` command.

mod args;
mod bench;
mod docs;
mod examples;
mod list;
mod progress;
mod repro;
mod run;
mod send;
mod soak;
mod table;
mod wave;

use std::fs::{self, File};
use std::io::{ErrorKind, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use thiserror::Error;

use crate::harness::params::ParamError;
use crate::machine::MachineError;
use args::{Command, Tsunagi};

/// Why the command fails; each variant has its exit code.
#[derive(Debug, Error)]
pub enum CliError {
    /// The command ran and its result is wrong.
    #[error("{0}")]
    Failed(String),
    /// The request names something unknown or makes no sense.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Param(#[from] ParamError),
    #[error("cannot {doing} {}: {source}", path.display())]
    File {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(transparent)]
    Machine(#[from] MachineError),
}

impl CliError {
    fn code(&self) -> u8 {
        match self {
            CliError::Failed(_) => 1,
            CliError::Usage(_) | CliError::Param(_) => 2,
            CliError::File { .. } => 3,
            CliError::Machine(error) => error.exit_code(),
        }
    }

    fn file<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(std::io::Error) -> CliError + 'a {
        move |source| CliError::File {
            doing,
            path: path.into(),
            source,
        }
    }
}

/// Writes a file whole, or removes the part that was written before an error.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = File::create(path).map_err(CliError::file("write", path))?;
    file.write_all(text.as_bytes()).map_err(|error| {
        remove(path);
        CliError::file("write", path)(error)
    })
}

/// Removes a partly written file; a device stays.
fn remove(path: &Path) {
    if path.is_file() {
        // Only the error of writing matters.
        let _ = fs::remove_file(path);
    }
}

fn make_folder(folder: &Path) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(CliError::file("make the folder", folder))
}

/// Runs the command line; `tsunagi --help` lists the exit codes.
pub fn main() -> ExitCode {
    let done = match Tsunagi::try_parse() {
        Ok(tsunagi) => run(tsunagi.command),
        Err(refusal) if refusal.use_stderr() => refusal.exit(),
        Err(help) => match help.print() {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(table::not_printed(error)),
            _ => Ok(()),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the exit code remains.
            let _ = writeln!(stderr(), "tsunagi: {error}");
            ExitCode::from(error.code())
        }
    }
}

fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::list(&args),
        Command::Run(args) => run::run(&args),
        Command::Repro(args) => repro::repro(&args),
        Command::Send(args) => send::send(&args),
        Command::Soak(args) => soak::soak(&args),
        Command::Wave(args) => wave::wave(&args),
        Command::Report(args) => repro::report(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Completions(args) => docs::completions(&args),
        Command::Man(args) => docs::man(&args),
    }
}
