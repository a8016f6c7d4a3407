//! The repository: its documents, recipes and tools, and the lines that repeat a failure.

mod docs;
mod make;
mod offline;
mod readme;
mod replay;
mod soak;
mod tools;

const TSUNAGI: &str = env!("CARGO_BIN_EXE_tsunagi");

/// Runs the command: exit code, standard output, standard error.
fn tsunagi(args: &[&str]) -> (i32, String, String) {
    support::command::run(TSUNAGI, args)
}
