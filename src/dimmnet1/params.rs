//! The parameters of the DIMMnet-1 reproduction: one table with the origin of every number, and [`Config`], the same
//! numbers as typed fields.
//!
//! Source: the report on communication with Martini's on-chip processor; section and table numbers are its own. Other
//! public sources (`Public`) are listed on the machine's page. MB = 10^6 B, so 1 MB/s = 1 B/us; KB = 1024 B. The cycles
//! of the on-chip processor are no parameter: they are those of the firmware that runs.

use crate::Picos;
use crate::harness::params::parameters;
pub use crate::harness::params::{Origin, Param, ParamError};

parameters! {
    // The machine.
    nodes: u32 = 2, "nodes", 2 ..= 16, Design, on [], from [],
        "Nodes on one switch; the range of the barrier figure is lost. More than 8 take a 16x16 stand-in.";
    mem_bytes: u32 = 524288, "B", 327680 ..= 917504, Design, on [], from [],
        "SO-DIMM memory simulated per card: as many pages as the firmware's page table has room for.";
    core_period: Picos = 20, "ns", 4 ..= 1000, Paper, on [], from [],
        "Core clock period: 50 MHz, also of the on-chip processor (table 1).";
    core_phase: Picos = 0, "ns", 0 ..= 1000, Design, on [], from [],
        "First rising edge of the core clock is at period + phase.";
    word_bytes: u32 = 8, "B", 8 ..= 8, Paper, on [], from [],
        "Words of core, link and memory: most resources are 64 bits wide (sec. 2).";
    link_period: Picos = 16, "ns", 4 ..= 1000, Paper, on [], from [word_bytes],
        "Link clock period: one 64-bit word in 16 ns is 500 MB/s (table 1).";
    link_phase: Picos = 0, "ns", 0 ..= 1000, Design, on [], from [],
        "First rising edge of the link clock is at period + phase.";
    switch_delay: u32 = 6, "link cycles", 6 ..= 6, Design, on [], from [link_period],
        "Delay words at each switch input; with the switch's own 9 cycles a hop takes 15, 240 ns.";
    multicast_words: u32 = 70, "words", 70 ..= 70, Design, on [], from [],
        "Longest packet that the switch copies to a group.";

    // The card.
    window_bytes: u32 = 464, "B", 464 ..= 464, Paper, on [], from [],
        "Data in one packet of BOTF, limited by the window (sec. 4.2).";
    windows: u32 = 2, "windows", 1 ..= 2, Paper, on [], from [],
        "Windows that the library uses alternately (sec. 4.2).";
    packet_bytes: u32 = 4096, "B", 4096 ..= 4096, Design, on [], from [],
        "Data in the longest packet of RDMA; the paper says only that 464 B do not limit it.";
    aotf_stores: u32 = 16, "stores", 16 ..= 16, Design, on [], from [], "Stores to AOTF pages that the card holds.";
    tx_words: u32 = 16, "words", 16 ..= 16, Design, on [], from [], "FIFO between core and outgoing link.";
    rx_words: u32 = 64, "words", 64 ..= 64, Design, on [], from [], "FIFO between incoming link and core.";
    answer_words: u32 = 2048, "words", 2048 ..= 2048, Design, on [], from [],
        "Answer queue: room for the credit of 16 nodes.";
    credits: u32 = 32, "packets", 32 ..= 32, Design, on [], from [],
        "Packets of one card that may await an answer at a time.";
    tlb_entries: u32 = 64, "entries", 64 ..= 64, Design, on [], from [], "Entries of RVATLB and of PATLB.";
    llcm_bytes: u32 = 16384, "B", 16384 ..= 16384, Design, on [], from [], "Low-latency common memory.";
    sram_bytes: u32 = 16384, "B", 16384 ..= 16384, Design, on [], from [], "SRAM of the on-chip processor.";
    watchdog: u32 = 50000, "core cycles", 0 ..= 2000000000, Design, on [], from [],
        "Longest stop of the receiver or of RDMA (register WATCHDOG): 1 ms, far above any handler; 0 is no bound.";
    patience: u32 = 25000, "core cycles", 0 ..= 65535, Design, on [], from [],
        "Longest wait of a store to an AOTF page (register PATIENCE): 0.5 ms; 0 is no bound.";
    poll: bool = 0, "flag", 0 ..= 1, Paper, on [], from [],
        "The on-chip processor polls instead of being interrupted: the curve \"non-intr\" (sec. 4.2).";
    matching: bool = 0, "flag", 0 ..= 1, Design, on [], from [],
        "Indirect writes, messages and chains are served in hardware (CONTROL.MATCH), not by the processor (sec. 6).";
    f_seq: bool = 1, "flag", 0 ..= 1, Paper, on [], from [],
        "The library's packets carry sequence numbers that are checked; the paper measured both (sec. 4.2).";

    // SO-DIMM memory behind the card.
    mem_read_latency: u32 = 6, "core cycles", 0 ..= 1000, Design, on [], from [core_period],
        "Read command to first data: 120 ns for controller and PC133 SDRAM.";
    mem_write_latency: u32 = 4, "core cycles", 0 ..= 1000, Design, on [], from [core_period],
        "Last word of a write burst to its response.";
    mem_overhead: u32 = 0, "core cycles", 0 ..= 100, Design, on [], from [core_period],
        "Cycles that the memory bus is taken after each burst: PC133 has the pause within its higher rate.";

    // The host: a Pentium III of 850 MHz, bus and memory of 100 MHz (table 1).
    store_path: Picos = 40, "ns", 0 ..= 10000, Known, on [], from [],
        "A store from the processor through bus and chipset to the card: four cycles of 100 MHz.";
    store: Picos = 10, "ns", 0 ..= 10000, Known, on [], from [],
        "Least time from one uncached store to the next: one cycle of the 100 MHz bus.";
    wc_word: Picos = 18.2, "ns", 1 ..= 10000, Public, on [], from [],
        "Write-combined store of 64 bits into a window: the 440 MB/s published for BOTF (M1).";
    fence: Picos = 50, "ns", 0 ..= 10000, Known, on [], from [],
        "Draining the write-combining buffers before a kick.";
    load: Picos = 100, "ns", 0 ..= 10000, Known, on [], from [store_path],
        "Uncached load: the way there and back, without the card's answer.";
    poll_loop: Picos = 10, "ns", 0 ..= 10000, Known, on [], from [],
        "Compare and branch between two loads of a polling loop: about 8 cycles of the processor.";
    send_call: Picos = 200, "ns", 0 ..= 100000, Design, on [], from [],
        "Library call of a send: arguments, slot and header words.";
    rdma_setup: Picos = 1000, "ns", 0 ..= 100000, Design, on [], from [send_call],
        "More for RDMA: the source must be in the card's memory and visible; the paper names a higher start cost.";
    copy_rate: f64 = 200, "MB/s", 1 ..= 100000, Known, on [], from [],
        "Copy between system buffer and user memory.";
    retry: Picos = 20, "us", 0 ..= 100000, Design, on [], from [],
        "Pause before a send is repeated that the receiver had no room for.";
    wait_bound: Picos = 20000, "us", 10 ..= 10000000, Design, on [], from [],
        "Longest wait of the library for an answer, a message or a barrier; then it is an error.";
}

impl Config {
    /// Head latency of a switch, in link cycles.
    pub fn hop_cycles(&self) -> u32 {
        const SWITCH_CYCLES: u32 = 9;
        self.switch_delay + SWITCH_CYCLES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dimmnet1::regs::*;
    use crate::harness::params::{Table as _, assert_sound};

    #[test]
    fn every_row_is_sound() {
        assert_sound(PARAMS, |name| Config::paper().get(name));
    }

    #[test]
    fn the_papers_machine() {
        let c = Config::paper();
        assert_eq!(c.core_period, Picos::from_ns(20));
        let link = c.link_period.rate_mb_s(c.word_bytes.into());
        assert_eq!((link, c.window_bytes, c.windows), (500.0, 464, 2));
        assert_eq!(c.link_period * c.hop_cycles().into(), Picos::from_ns(240));
    }

    #[test]
    fn what_is_built_in_is_what_the_registers_say() {
        let c = Config::paper();
        let built = [
            (c.window_bytes, SIZE_BOTF),
            (c.packet_bytes, SIZE_PACKET),
            (c.credits, SIZE_CREDITS),
            (c.tlb_entries, SIZE_TLB),
            (c.llcm_bytes, SIZE_LLCM),
            (c.sram_bytes, SIZE_SRAM),
        ];
        for (config, register) in built {
            assert_eq!(config, register);
        }
    }

    #[test]
    fn a_wrong_size_is_refused() {
        let mut c = Config::paper();
        assert!(c.set_assignment("nodes=17").is_err() && c.set_assignment("nodes=1").is_err());
        assert!(c.set_assignment("nodes=16").is_ok());
    }
}
