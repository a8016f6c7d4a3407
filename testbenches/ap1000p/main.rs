//! The AP1000+'s cell, block by block: memory, host and network are the testbench.

mod access;
mod acks;
mod aside;
mod bif;
mod broadcast;
mod campaign;
mod cell_axi;
mod command;
mod conformance;
mod creg;
mod link;
mod machine;
mod mmu;
mod mmu_mux;
mod pages;
mod queues;
mod receive;
mod regs;
mod security;
mod send;
mod space;
mod waves;
mod window;
mod word;
mod wtp;

use tsunagi::Cycle;
use tsunagi::harness::memory::MemoryTiming;

/// About the machine's memory.
pub const SLOW: MemoryTiming = MemoryTiming {
    read_latency: Cycle(12),
    write_latency: Cycle(9),
    overhead: Cycle(3),
    shared_bus: true,
    byte_time: 0,
};
