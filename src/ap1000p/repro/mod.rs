//! The experiments of AP1000+. The paper reports none, so C checks the statements of the paper and of the machine's
//! Linux port. M has the two measurements of PUT that others report, and loads and copies beside budgets of ours. Q
//! measures the cost of spill. A gap in the numbers needs parts that the machine does not have.

mod dsm;
mod lab;
mod latency;
mod memory;
mod messages;
mod path;
mod queues;
mod rings;
pub mod scenario;
mod together;

use crate::repro::lab::{Entry, entry};
use lab::Run;
pub use lab::{MeasureError, Sim, finish, machine};

pub const PAPER: &str = "Y. Koyanagi, O. Shiraki, N. Imamura, K. Hayashi, T. Shimizu, T. Horie, H. Ishihata: AP1000+: \
     Message Handling Mechanism (I) - User Level Interface, SWoPP '94 (in Japanese)";

const ENTRIES: &[Entry<Run>] = &[
    entry("C1", "sections 2.2.1, 3.1", "PUT of any length", messages::c1),
    entry("C2", "section 3.1", "A command starts with its last word", messages::c2),
    entry(
        "C3",
        "section 3.1",
        "Commands without a pause between them",
        messages::c3,
    ),
    entry(
        "C4",
        "section 2.2.1",
        "The system sends within a user's command",
        messages::c4,
    ),
    entry("C5", "Fig. 3, Linux port", "Pages select the operation", messages::c5),
    entry("C6", "Fig. 5", "Strides", messages::c6),
    entry(
        "C7",
        "sections 2.2.3, 3.2",
        "Flags count after the last word",
        messages::c7,
    ),
    entry("C8", "section 2.2.3", "PUTs that share a flag", messages::c8),
    entry("C9", "Linux port", "Address 0 means no flag", messages::c9),
    entry("C10", "section 2.2.2", "GET without the other processor", messages::c10),
    entry(
        "C11",
        "section 2.2.3",
        "A GET of no words acknowledges a PUT",
        messages::c11,
    ),
    entry(
        "C12",
        "section 2.2.3",
        "No message overtakes another of its pair",
        messages::c12,
    ),
    entry("C13", "section 3.1", "A PUT to the own cell", messages::c13),
    entry(
        "C14",
        "section 2.2.4, Linux port",
        "Messages through ring buffers",
        rings::c14,
    ),
    entry("C15", "sections 2.2.5, 2.2.6", "Remote loads and stores", dsm::c15),
    entry("C16", "section 2.2.5", "Accesses of every size", dsm::c16),
    entry("C17", "section 2.2.5", "A load goes before queued PUTs", dsm::c17),
    entry("C18", "section 2.2.6", "The counter of acknowledgements", dsm::c18),
    entry("C19", "section 4", "Write Through Pages", dsm::c19),
    entry("C20", "section 2.2.8", "Communication registers", memory::c20),
    entry("C21", "section 2.2.8", "Barriers and sums", together::c21),
    entry("C22", "section 2.2.9", "Atomic operations", together::c22),
    entry(
        "C23",
        "section 2.2.10, Linux port",
        "An overflowing queue stops nobody",
        queues::c23,
    ),
    entry(
        "C24",
        "sections 2.2.1, 2.2.10",
        "A user's overflow and the system's commands",
        queues::c24,
    ),
    entry(
        "C25",
        "section 3.2, Linux port",
        "Protection of contexts and cells",
        memory::c25,
    ),
    entry("C26", "section 2.2.1, Linux port", "Address translation", memory::c26),
    entry("C27", "Linux port", "Page faults on both sides", memory::c27),
    entry(
        "C28",
        "Linux port",
        "Broadcasts along rows, along columns, to all",
        messages::c28,
    ),
    entry("C29", "our own", "All cells GET from all", together::c29),
    entry(
        "C30",
        "section 2.1, other sources",
        "Barriers by the S-net, packets over the B-net",
        together::c30,
    ),
    entry("M1", "JSPP '95", "Latency of a PUT by the user", latency::m1),
    entry("M2", "JSPP '95", "Latency of a PUT by system call", latency::m2),
    entry("M3", "our own budget", "Latency of a remote load", dsm::m3),
    entry("M4", "section 4", "Gain of a Write Through Page", dsm::m4),
    entry("Q1", "our own", "The cost of spill", queues::q1),
];
