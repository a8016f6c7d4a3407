//! Verilated RTL as plain Rust values: typed ports, clocks by time in picoseconds, waves and checkpoints.
//!
//! The structs are written by `verilated-build` from a list of units. An instance belongs to one thread.

mod clocks;
mod context;
mod core;
mod port;
mod recorded;
mod wave;

// The libraries the FST writer needs; their build scripts tell ours where the headers are.
use libz_sys as _;
use lz4_sys as _;

pub use clocks::{Clock, Clocks, Edges};
pub use context::Context;
pub use core::{Checkpoint, CheckpointError, Core, Failure, PortInfo, Unit, UnitInfo, Verilated};
pub use port::{In, Out, Pad, Word};
pub use recorded::Recorded;
pub use wave::{Format, Wave};

#[allow(clippy::all, non_camel_case_types, missing_docs, unsafe_op_in_unsafe_fn)]
mod ffi {
    include!(concat!(env!("OUT_DIR"), "/runtime.rs"));
}
