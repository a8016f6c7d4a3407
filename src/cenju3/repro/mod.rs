//! The experiments of the Cenju-3 paper, each on verilated RTL and on the timed golden model: E1 to E12 are the
//! paper's, E13 shows what their calibration leaves open.

mod calibration;
mod depends;
mod lab;
mod latency;
mod measure;
mod structure;
mod sweeps;
mod throughput;

use crate::repro::lab::{Entry, entry};
use lab::Lab;
pub use lab::{AtEnd, Measurement, Scenario, What, quantity};
pub use measure::{MeasureError, finish, machine, measure, measure_with_wave};

pub const PAPER: &str = "T. Hirose, T. Hosomi, T. Maruyama, Y. Kano: The Inter-Processor Communication of Cenju-3 and \
     Its Evaluation, Transactions of the Information Processing Society of Japan, 1996 (in Japanese)";

type Run = fn(&mut Lab<'_>);

const ENTRIES: &[Entry<Run>] = &[
    entry("E1", "Figs. 3, 4", "Parcels, packets and interrupts", structure::e1),
    entry("E2", "Fig. 7", "Latency of the hardware", latency::e2),
    entry("E3", "Fig. 8", "Latency of CJrmwrite", latency::e3),
    entry("E4", "Fig. 9", "Throughput of CJrmwrite", throughput::e4),
    entry(
        "E5",
        "section 6.1",
        "From the link's raw rate to the delivered rate",
        throughput::e5,
    ),
    entry("E6", "Fig. 10", "Throughput of the hardware", throughput::e6),
    entry(
        "E7",
        "Fig. 11",
        "Invalidation after the transfer, pipelined and not",
        throughput::e7,
    ),
    entry(
        "E8",
        "Fig. 12",
        "Varied rates of network, Receiver and invalidation",
        sweeps::e8,
    ),
    entry("E9", "Fig. 13", "Varied interrupt delay", sweeps::e9),
    entry(
        "E10",
        "Fig. 14",
        "CJrmwrite as one DMA, invalidated before and after",
        throughput::e10,
    ),
    entry("E11", "section 7.1", "User-level access", latency::e11),
    entry(
        "E12",
        "section 7.2",
        "A fast machine with the paper's memory",
        throughput::e12,
    ),
    entry(
        "E13",
        "Figs. 9, 11, 14",
        "What the calibration leaves open",
        calibration::e13,
    ),
];
