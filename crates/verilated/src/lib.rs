#![doc = include_str!("../README.md")]

mod clocks;
mod context;
mod core;
mod junk;
mod pin;
mod port;
mod recorded;
mod wave;

// The libraries the FST writer needs; their build scripts tell ours where the headers are.
use libz_sys as _;
use lz4_sys as _;

pub use clocks::{Clock, Clocks, Edges};
pub use context::Context;
pub use core::{Checkpoint, CheckpointError, Core, Failure, PortInfo, Snapshot, Unit, UnitInfo, Verilated};
pub use pin::Pin;
pub use port::{In, Input, Out, Pad, Port, Word};
pub use recorded::Recorded;
pub use wave::{Format, Wave};

/// Whether the process runs a mutant (`verilated-build` makes mutants). Its tests are to fail, at once and silently.
pub fn has_mutant() -> bool {
    std::env::var_os("VERILATED_MUTANT").is_some()
}

/// The version of the runtime's Verilator.
pub const VERILATOR: &str = env!("VERILATOR");

/// Stops the compiler if another Verilator made the models: the structs of `verilated-build` call it.
///
/// ```
/// const _: () = verilated::made_by(verilated::VERILATOR);
/// ```
///
/// ```compile_fail,E0080
/// const _: () = verilated::made_by("5.0");
/// ```
#[doc(hidden)]
pub const fn made_by(version: &str) {
    let (models, runtime) = (version.as_bytes(), VERILATOR.as_bytes());
    let mut same = models.len() == runtime.len();
    let mut at = 0;
    while same && at < models.len() {
        same = models[at] == runtime[at];
        at += 1;
    }
    assert!(
        same,
        "the models were made by another Verilator than the runtime: have `verilated` among the package's \
         [dependencies], or set VERILATOR_ROOT"
    );
}

#[allow(
    clippy::all,
    non_camel_case_types,
    non_upper_case_globals,
    missing_docs,
    unsafe_op_in_unsafe_fn
)]
mod ffi {
    include!(concat!(env!("OUT_DIR"), "/runtime.rs"));
}
