//! The experiments of the paper on message passing: R1 to R8, each on verilated RTL and on the timed golden model.

mod block;
mod cells;
mod depends;
mod differences;
mod lab;
mod measure;
mod picture;
mod tables;

use crate::repro::lab::{Entry, entry};
use lab::Lab;
pub use lab::{End, Measurement, Scenario, What, quantity};
pub use measure::{MeasureError, Overflow, listing, measure, measure_times};

/// The source of all rows.
pub const PAPER: &str = "Sato, Kodama, Sakai, Yamaguchi: Implementation of Message Passing by RICA in the EM-4/X (in \
     Japanese)";

type Run = fn(&mut Lab<'_>);

const ENTRIES: &[Entry<Run>] = &[
    entry("R1", "table 1, Fig. 2", "Round trip over a loop of 5 PEs", block::r1),
    entry("R2", "section 4.1", "The line through the block transfers", block::r2),
    entry("R3", "table 2, Fig. 3", "Complete exchange", tables::r3),
    entry("R4", "table 3, Fig. 4", "Broadcast", tables::r4),
    entry("R5", "table 4", "Reduction, shift and scan", tables::r5),
    entry(
        "R6",
        "section 4.5",
        "Suspension, and packets that wait",
        differences::r6,
    ),
    entry(
        "R7",
        "sections 2.3, 4.5",
        "EM-X against EM-4, switch by switch",
        differences::r7,
    ),
    entry("R8", "Fig. 1, section 2.4", "No sync before its data", differences::r8),
];
