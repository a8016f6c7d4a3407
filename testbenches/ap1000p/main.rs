//! The AP1000+'s cell, block by block: memory, host and network are the testbench.

// Its benches are to stand on a kit, and are not split before.
#![allow(clippy::too_many_lines)]

mod bif;
mod broadcast;
mod cell_axi;
mod command;
mod conformance;
mod link;
mod machine;
mod mc;
mod pages;
mod queues;
mod receive;
mod registers;
mod rig;
mod security;
mod send;
mod space;
mod twins;
mod waves;
mod window;
mod word;

use tsunagi::Cycle;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Case;
use verilated::Context;

/// Clock period, picoseconds.
const PERIOD: u64 = 10_000;

/// About the machine's memory.
pub const SLOW: MemoryTiming = MemoryTiming {
    read_latency: Cycle(12),
    write_latency: Cycle(9),
    overhead: Cycle(3),
    shared_bus: true,
    byte_time: 0,
};

/// Each check is run from two random states of what is not reset.
const STARTS: [&str; 2] = ["start 1", "start 2"];

/// A simulation from the random state of this name.
fn started(case: &Case, start: &str) -> Context {
    Context::random(case.rng(start).bits())
}

/// The rule is kept, or else: what breaks it is told in words that begin with its name.
fn holds<R: std::fmt::Debug>(rule: R, kept: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if kept {
        Ok(())
    } else {
        Err(format!("{rule:?}: {}", what()))
    }
}
