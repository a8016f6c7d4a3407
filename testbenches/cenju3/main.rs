//! Cenju-3's Sender, Receiver and NIC, each alone: memory, host and links are the testbench.

// Its benches are to stand on a kit, and are not split before.
#![allow(clippy::too_many_lines)]

mod loopback;
mod nic;
mod nic_axi;
mod receiver;
mod rig;
mod sender;
mod twins;
mod waves;

use tsunagi::cenju3::golden::lockstep::Mismatch;
use tsunagi::harness::seed::Case;
use verilated::Context;

/// Picoseconds of a cycle.
const PERIOD: u64 = 10_000;
/// Each check of a unit is run from two random states of what is not reset.
const STARTS: [&str; 2] = ["start 1", "start 2"];

/// A simulation from the random state of this name.
fn started(case: &Case, start: &str) -> Context {
    Context::random(case.rng(start).bits())
}

/// What the bench finds by itself.
fn fault(field: &'static str, expected: &str, got: String) -> Mismatch {
    Mismatch {
        model: "bench",
        packet: 0,
        field,
        expected: expected.into(),
        got,
        last: Vec::new(),
    }
}
