//! The parameters of the CP-PACS reproduction: one table with the origin of every number, and [`Config`], the same
//! numbers as typed fields.
//!
//! Source: the paper on PVM for CP-PACS; section, figure and table numbers are its own. Other public sources
//! (`Public`) are listed on the machine's page. MB/s = 10^6 B/s; KB = 1024 B.

use crate::Picos;
use crate::harness::params::parameters;
pub use crate::harness::params::{Origin, Param, ParamError};
use crate::net::hyper::Grid;

parameters! {
    // The machine.
    x: u32 = 2, "nodes", 1 ..= 16, Design, on [], from [],
        "Nodes along X. The paper's machine has 8x17x8 (sec. 2); the experiments take as many as they need.";
    y: u32 = 1, "nodes", 1 ..= 17, Design, on [], from [], "Nodes along Y.";
    z: u32 = 1, "nodes", 1 ..= 16, Design, on [], from [], "Nodes along Z.";
    mem_bytes: u32 = 67108864, "B", 1048576 ..= 67108864, Paper, on [], from [],
        "Memory of a node: 64 MB (sec. 2).";
    clock_period: Picos = 13.334, "ns", 4 ..= 1000, Design, on [], from [word_bytes],
        "Clock period: 75 MHz, so 32 bits a cycle are the paper's 300 MB/s.";
    word_bytes: u32 = 4, "B", 4 ..= 4, Design, on [], from [], "Words of a link and of the NIA's memory port.";
    room: u32 = 496, "words", 288 ..= 1024, Design, on [], from [],
        "Data words that an exchanger holds behind each crossbar: a whole broadcast worm, and more.";
    ack_room: u32 = 16, "words", 16 ..= 64, Design, on [], from [],
        "The same of the acknowledge channel, and of both at other inputs: a whole worm.";
    pu_room: u32 = 32, "words", 32 ..= 32, Design, on [], from [], "Words of each channel that the NIA holds.";

    // The NIA.
    rights: u32 = 512, "rights", 16 ..= 1024, Design, on [], from [], "Send rights of a node; a power of two.";
    fields: u32 = 512, "fields", 16 ..= 1024, Design, on [], from [],
        "Communication fields of a node; a power of two.";
    kick_depth: u32 = 4, "kicks", 2 ..= 16, Design, on [], from [],
        "Kicks that wait for each process and channel; a power of two.";
    answers: u32 = 128, "requests", 2 ..= 512, Design, on [], from [],
        "Requests whose answers wait; a power of two.";
    burst_beats: u32 = 16, "words", 4 ..= 64, Design, on [], from [], "Longest burst of memory; a power of two.";
    outstanding: u32 = 4, "bursts", 2 ..= 16, Design, on [], from [], "Bursts under way at a time.";
    memory_read_latency: u32 = 32, "cycles", 0 ..= 1000, Calibrated, on ["latency.public"], from [clock_period],
        "Read command to first word; with the write's it makes the published 3 us of an RDMA's way.";
    memory_write_latency: u32 = 26, "cycles", 0 ..= 1000, Calibrated, on ["latency.public"], from [clock_period],
        "Last word of a burst to its response.";

    // The node's software.
    syscall: Picos = 4, "us", 0 ..= 1000, Design, on ["fig3.overhead"], from [],
        "The light system call that kicks (sec. 3): part of the 12 us of an RDMA.";
    send_setup: Picos = 2, "us", 0 ..= 1000, Design, on ["fig3.overhead"], from [],
        "Making a TCW for a send: part of the 12 us.";
    receive_poll: Picos = 3, "us", 0 ..= 1000, Design, on ["fig3.overhead"], from [],
        "Finding that a transfer is complete: part of the 12 us.";
    interrupt: Picos = 8, "us", 0 ..= 1000, Design, on [], from [], "Taking an interrupt in the kernel.";
    access: Picos = 100, "ns", 0 ..= 10000, Known, on [], from [],
        "A load or store of the processor to the NIA, without the NIA's own cycles.";
    copy: f64 = 1.68, "ns/B", 0 ..= 1000, Calibrated, on ["table1"], from [],
        "Copying between user memory and communication area, each way.";
    copy_extra: f64 = 2.0, "ns/B", 0 ..= 1000, Calibrated, on ["table1"], from [],
        "Copying into a buffer of PVM's own.";
    copy_strided: f64 = 0, "ns/B", 0 ..= 1000, Design, on [], from [copy],
        "More for packing with a stride; nothing says how much.";
    wait_bound: Picos = 10000000, "us", 10 ..= 1000000000, Design, on [], from [],
        "Longest wait of a library: 10 s; then it is an error.";

    // PVM.
    pvm_area: u32 = 32768, "B", 1024 ..= 65472, Design, on [], from [],
        "Data of a send area and of one receive area; 64 KB go in two parts or more (sec. 6.1).";
    pvm_buffers: u32 = 2, "areas", 1 ..= 2, Paper, on [], from [],
        "Receive areas of a pair: double buffering (sec. 5).";
    pvm_send_cost: Picos = 10, "us", 0 ..= 1000, Calibrated, on ["table1"], from [],
        "Tags and buffers of a send, on top of the RDMA.";
    pvm_recv_cost: Picos = 12, "us", 0 ..= 1000, Calibrated, on ["table1"], from [],
        "Matching and queues of a receive.";
    pvm_ack_cost: Picos = 10.5, "us", 0 ..= 1000, Calibrated, on ["table1"], from [], "Sending an acknowledgement.";

    // The NAS kernels of class A: what all of one takes on one node, without communication.
    ep_compute: f64 = 442, "s", 0 ..= 100000, Calibrated, on ["table3"], from [], "Computing of EP.";
    cg_compute: f64 = 45.1, "s", 0 ..= 100000, Calibrated, on ["table4"], from [], "Computing of CG.";
    cg_peer: f64 = 182, "us", 0 ..= 10000, Calibrated, on ["table4"], from [],
        "What CG spends on each peer of an exchange beside the library's calls, as the paper's program does.";
    copy_uncached: f64 = 14, "ns/B", 0 ..= 1000, Calibrated, on ["table4"], from [copy],
        "What packing and unpacking of a kernel's data take more than a copy in cache.";
    ft_compute: f64 = 201.7, "s", 0 ..= 100000, Calibrated, on ["table5"], from [], "Computing of FT.";
    mg_compute: f64 = 165.6, "s", 0 ..= 100000, Calibrated, on ["table6"], from [], "Computing of MG.";
}

impl Config {
    pub fn grid(&self) -> Grid {
        let (x, y, z) = (self.x, self.y, self.z);
        Grid { x, y, z }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::params::assert_sound;

    #[test]
    fn every_row_is_sound() {
        assert_sound(PARAMS, |name| Config::paper().get(name));
    }

    #[test]
    fn a_link_has_the_papers_rate() {
        let c = Config::paper();
        let rate = c.clock_period.rate_mb_s(c.word_bytes.into());
        assert!((rate - 300.0).abs() < 0.1, "{rate}");
    }
}
