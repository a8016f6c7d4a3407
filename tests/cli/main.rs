//! The command, for all machines: what it prints and leaves, what it says of wrong input, and its exit codes.

mod disk;
mod report;
mod repro;
mod send;
mod usage;
mod wave;

const TSUNAGI: &str = env!("CARGO_BIN_EXE_tsunagi");

/// Runs the command: exit code, standard output, standard error.
fn tsunagi(args: &[&str]) -> (i32, String, String) {
    support::command::run(TSUNAGI, args)
}
