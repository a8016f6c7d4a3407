//! The experiments of the paper on PVM for CP-PACS, each on verilated RTL and on the timed golden model: RDMA, PVM,
//! network, broadcast, conflicts, and the NAS kernels.

mod kernels;
mod lab;
mod measure;
mod network;
mod pvm;
mod rdma;

use crate::repro::lab::{Entry, entry};
pub use kernels::job;
use lab::Lab;
pub use lab::{Measurement, Pattern, Scenario, What, quantity};
pub use measure::{MeasureError, machine, measure, measure_with_wave};

/// The source of all rows.
pub const PAPER: &str = "Matsubara, Hattori, Itakura, Boku, Nakamura, Nakazawa: Implementation PVM on CP-PACS (in \
     Japanese)";

type Run = fn(&mut Lab<'_>);

const ENTRIES: &[Entry<Run>] = &[
    entry("F3", "Fig. 3", "Time of RDMA and of PVM by size", rdma::f3),
    entry("T1", "table 1", "Throughput of PVM", pvm::t1),
    entry("B2", "section 5", "One buffer against two", pvm::b2),
    entry("T3", "table 3", "EP by RDMA and by PVM", kernels::t3),
    entry("T4", "table 4", "CG by RDMA and by PVM", kernels::t4),
    entry("T5", "table 5", "FT by RDMA and by PVM", kernels::t5),
    entry("T6", "table 6", "MG by RDMA and by PVM", kernels::t6),
    entry("L", "section 6.3", "Lines of communication", kernels::lines),
    entry("A", "section 5", "Memory of areas", kernels::areas),
    entry("N1", "section 2", "Latency and throughput of the network", network::n1),
    entry("N2", "section 2", "A broadcast against one to one", network::n2),
    entry("N3", "section 2", "Traffic without conflicts", network::n3),
];
