//! The experiments of the report on DIMMnet-1: X1 to X7, each on verilated RTL and on the timed golden model.

mod bandwidth;
mod barrier;
mod depends;
mod lab;
mod matching;
mod measure;
mod profile;
mod profiles;
mod steps;

use crate::repro::lab::{Entry, entry};
use lab::Lab;
pub use lab::{Measurement, Scatter, Scenario, Way, What, quantity};
pub use measure::{MeasureError, finish, machine, measure, measure_with_wave};
pub use profile::{Phase, Profile};

pub const PAPER: &str = "Performance Evaluation of Communication with Martini's On-Chip-Processor on DIMMnet-1, IPSJ \
     SIG report (in Japanese; the scanned copy has lost its authors)";

type Run = fn(&mut Lab<'_>);

const ENTRIES: &[Entry<Run>] = &[
    entry("X1", "table 1", "The configuration", steps::x1),
    entry(
        "X2",
        "Figs. 2, 3",
        "Bandwidth of direct, indirect and software writes",
        bandwidth::x2,
    ),
    entry("X3", "Fig. 4", "Latency of a barrier", barrier::x3),
    entry("X4", "section 4.4", "RDMA for long messages", bandwidth::x4),
    entry(
        "X5",
        "sections 3.4, 4.3",
        "The steps of indirect writes and barriers",
        steps::x5,
    ),
    entry(
        "X6",
        "sections 3.2, 6",
        "Indirect writes, messages and chains in hardware",
        matching::x6,
    ),
    entry("X7", "section 4.4", "Cycles of the on-chip processor", profiles::x7),
];
