//! The AP1000+: host software, whole machines of RTL and of the golden model, random programs, and the experiments.

mod host;
mod machines;
mod model;
mod parameters;
mod pushed;
mod random;
mod repro;
mod scale;
mod wave;

/// Runs the command: exit code, standard output, standard error.
fn tsunagi(args: &[&str]) -> (i32, String, String) {
    support::command::run(env!("CARGO_BIN_EXE_tsunagi"), args)
}
