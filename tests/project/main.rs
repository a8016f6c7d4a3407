//! The repository: its documents, recipes and tools, and the lines that repeat a failure.

mod columns;
mod docs;
mod farm;
mod floor_plan;
mod licence;
mod make;
mod offline;
mod readme;
mod replay;
mod soak;
mod tools;

use std::process::Command;

use support::root;

const TSUNAGI: &str = env!("CARGO_BIN_EXE_tsunagi");

/// Runs the command: exit code, standard output, standard error.
fn tsunagi(args: &[&str]) -> (i32, String, String) {
    support::command::run(TSUNAGI, args)
}

/// The files in git that match a pattern, relative to the root.
fn tracked(patterns: &[&str]) -> Vec<String> {
    let mut command = Command::new("git");
    let output = command.arg("ls-files").args(patterns).current_dir(root()).output();
    let names = String::from_utf8(output.expect("git runs").stdout).expect("names are UTF-8");
    names.lines().map(str::to_owned).collect()
}
