//! The parameters of the Cenju-3 reproduction: one table with the origin of every number, and [`Config`], the same
//! numbers as typed fields.
//!
//! The table also decides whether a reported row is a prediction. It is one only if none of its parameters was measured
//! or fitted at the row's place in the paper ([`Param::measured_on`]), or derived from one that was
//! ([`Param::derived_from`]). Source: Hirose et al., IPSJ journal 1996; section and figure numbers are the paper's. MB
//! = 10^6 B, so 1 MB/s = 1 B/us; KB = 1024 B.

use crate::Picos;
use crate::harness::params::parameters;
pub use crate::harness::params::{Origin, Param, ParamError};

parameters! {
    // The machine.
    pes: u32 = 2, "PEs", 2 ..= 256, Paper, on [], from [],
        "Processing elements; the paper's measurements use 2, the machine has up to 256.";
    stages: u32 = 4, "stages", 1 ..= 4, Paper, on [], from [], "Stages of 4x4 switches between any two PEs (sec. 2).";
    mem_bytes: u32 = 4194304, "B", 65536 ..= 67108864, Design, on [], from [],
        "Main memory simulated per PE; the machine had up to 64 MB, the experiments need less.";
    io_period: Picos = 40, "ns", 1 ..= 1000, Paper, on [], from [], "IO bus clock period: 25 MHz (sec. 2).";
    io_phase: Picos = 0, "ns", 0 ..= 1000, Design, on [], from [],
        "First rising edge of the IO clock is at period + phase.";
    bus_bytes: u32 = 4, "B", 4 ..= 8, Paper, on [], from [], "IO bus width: 32 bit (sec. 2).";
    net_period: Picos = 50, "ns", 1 ..= 1000, Paper, on ["sec6.1.raw"], from [],
        "Network clock period: 20 MHz (sec. 6.1).";
    net_phase: Picos = 0, "ns", 0 ..= 1000, Design, on [], from [],
        "First rising edge of the network clock is at period + phase.";
    link_bytes: u32 = 2, "B", 2 ..= 2, Paper, on ["sec6.1.raw"], from [],
        "Network link width: 16 bit (sec. 6.1), one flit of the wire format.";

    // Packets.
    packet_bytes: u32 = 512, "B", 512 ..= 512, Paper, on ["sec3.1"], from [],
        "Maximum body of a packet; the paper says about 512 (sec. 3.1).";
    header_bytes: u32 = 18, "B", 18 ..= 18, Calibrated, on ["sec6.1"], from [link_bytes, net_period, packet_bytes],
        "Wire header: 38.6 of 40 MB/s leaves 16 to 20 B; nine flits.";
    parcel_max: u32 = 131072, "B", 512 ..= 131072, Paper, on ["sec3.1"], from [], "Maximum parcel: 128 KB (sec. 3.1).";
    queue_headers: u32 = 255, "headers", 1 ..= 255, Paper, on ["sec3.1"], from [],
        "Capacity of a queue in parcel headers (sec. 3.1).";
    message_max: u32 = 512, "B", 512 ..= 512, Design, on [], from [packet_bytes],
        "Maximum message: one packet, so that packets of two senders cannot mix in one buffer.";

    // Network timing.
    sync_cycles: u32 = 5, "net cycles", 5 ..= 5, Calibrated, on ["fig7.sync"], from [stages, net_period],
        "Synchronisation delay of one stage: 4 x 5 cycles = 1 us (sec. 5.1).";
    switch_cycles: u32 = 5, "net cycles", 5 ..= 5, Calibrated, on ["fig7.switch"], from [stages, net_period],
        "Switching delay of one stage: 4 x 5 cycles = 1 us (sec. 5.1).";
    sync_idle: u32 = 5, "net cycles", 0 ..= 255, Calibrated, on ["sec6.1"], from [header_bytes],
        "Idle cycles of a switch output after each packet: \"a little under 38 MB/s\" (sec. 6.1).";
    s_gap: u32 = 19, "net cycles", 0 ..= 255, Calibrated, on ["fig10", "fig11", "fig12", "sec6.1"], from [header_bytes],
        "Idle cycles of the Sender's link after each packet (register S_GAP): 265 + 19 cycles a packet give the \
         measured 36 MB/s. The switches' 5 idle cycles pass inside this gap.";
    buf_flits: u32 = 32, "flits", 16 ..= 1024, Design, on [], from [],
        "Input buffer of a switch: enough for the full rate, with a margin.";

    // Network interface.
    burst_beats: u32 = 8, "bus words", 8 ..= 8, Design, on [], from [],
        "Maximum memory burst: one cache line on the 32-bit bus.";
    outstanding: u32 = 4, "bursts", 4 ..= 4, Design, on [], from [], "Memory bursts in flight per direction.";
    fifo_words: u32 = 512, "bus words", 512 ..= 512, Design, on [], from [],
        "Receive FIFO between network and Receiver: 2 KB on the 32-bit bus.";
    crossing_words: u32 = 16, "bus words", 16 ..= 16, Design, on [], from [],
        "Clock crossing behind the receive FIFO, before the Receiver: it fills, too, while the Receiver stands.";
    r_thresh: u32 = 352, "bus words", 8 ..= 496, Calibrated,
        on ["fig11"], from [s_gap, postinval_rate, irq_recognition, handler, buf_flits, crossing_words],
        "Fill of the receive FIFO at which the network stops (register R_THRESH). With the crossing and the switches' \
         buffers, 1.6 KB of body wait there. The peak of the not pipelined curve is between 6 and 8 KB (sec. 6.3), and \
         the receiving side limits fig. 9, from 280 to 392 words; within that, 352 is our choice.";

    // Memory behind the IO bus.
    mem_read_latency: u32 = 14, "io cycles", 0 ..= 1000, Calibrated,
        on ["fig7.header_read", "fig7.body_read"], from [io_period],
        "Read command to first data, through bridge and DRAM: with the interface's own cycles a read takes about 1 us \
         (sec. 5.1).";
    mem_write_latency: u32 = 10, "io cycles", 0 ..= 1000, Calibrated, on ["fig7.header_write"], from [io_period],
        "Last word of a write burst to its response: with the interface's own cycles the header write takes about \
         1 us (sec. 5.1).";
    mem_overhead: u32 = 8, "io cycles", 0 ..= 100, Calibrated, on ["fig11", "fig12"],
        from [io_period, bus_bytes, burst_beats],
        "Cycles that the bus is taken after each burst: a packet is stored in 268 cycles, the Receiver's 48 MB/s that \
         the authors fitted (sec. 6.3).";
    mem_rate_limit: f64 = 144, "MB/s", 0 ..= 10000, Design, on ["sec7.2"], from [],
        "Memory access rate: our choice is the middle of the paper's 128 to 160 (sec. 7.2); 0 is no limit.";

    // CPU and kernel.
    ext_access: Picos = 1, "us", 0 ..= 100, Calibrated, on ["fig7.pointer_write"], from [],
        "One access of the CPU to a register of the interface (sec. 5.1).";
    syscall: Picos = 5, "us", 0 ..= 100, Calibrated, on ["fig8", "sec5.2"], from [],
        "User call to kernel; back-calculated by the authors (sec. 5.2).";
    check_translate: Picos = 4, "us", 0 ..= 100, Calibrated, on ["sec7.1"], from [syscall],
        "Argument check and address translation: the about 9 us that user-level access saves, minus the system call \
         (sec. 7.1).";
    kernel_send: Picos = 3, "us", 0 ..= 100, Calibrated, on ["fig8"], from [check_translate, ext_access],
        "Kernel entry to Sender start, 8 us, minus check, translation and the pointer write (sec. 5.2).";
    register_answer: u32 = 3, "io cycles", 3 ..= 25, Design, on [], from [],
        "The last part of a register access, in which the interface answers. The two reads at the end of an interrupt \
         handler's time take only this.";
    irq_recognition: Picos = 5, "us", 0 ..= 100, Calibrated, on ["fig7.irq", "fig8", "fig11", "fig13"], from [],
        "Interrupt line to recognition by the kernel (sec. 5.1).";
    handler: Picos = 4, "us", 0 ..= 100, Calibrated, on ["fig11", "fig13"], from [irq_recognition],
        "Interrupt handler with its register accesses and the restart, without the requested work: it reads and \
         clears the causes first, and reads the positions of two rings last. It is the rest of the 9 us that the \
         authors fitted to their simulation, where the restart takes no time (sec. 6.3).";
    receive_kernel: Picos = 4, "us", 0 ..= 100, Calibrated, on ["fig8"], from [handler],
        "The rest of the receiving kernel's 8 us for a message (sec. 5.2).";
    preinval_kernel: Picos = 0, "us", 0 ..= 100, Design, on [], from [handler],
        "The same for a request for pre-invalidation, with the invalidation: nothing beside it, as in the authors' \
         simulation, whose delay ends where the invalidation begins (sec. 6.3).";
    copy_rate: f64 = 100, "MB/s", 1 ..= 100000, Design, on [], from [],
        "CPU copy between message buffer and user memory.";
    writeback_rate: f64 = 150, "MB/s", 1 ..= 100000, Design, on [], from [],
        "CPU write-back of the source lines; the Sender hides any rate above 40.";
    postinval_rate: f64 = 200, "MB/s", 1 ..= 100000, Calibrated, on ["fig11", "fig12"], from [],
        "CPU invalidation after a DMA, reading the packet headers; the authors' fit (sec. 6.3).";
    preinval_rate: f64 = 200, "MB/s", 1 ..= 100000, Design, on [], from [postinval_rate],
        "CPU invalidation before a DMA: assumed equal to the rate after a DMA. The paper gives none; \
         `fig9.preinval_100` and `fig9.preinval_300` show half and one and a half.";

    // CJrmwrite.
    cache_line: u32 = 32, "B", 16 ..= 128, Design, on [], from [],
        "A transfer is split between message and DMA at the borders of these lines; the CPU allows 16 to 128.";
    chunk_bytes: u32 = 8192, "B", 512 ..= 131072, Paper, on [], from [],
        "Piece into which the user-level library cuts a transfer; the authors used it for fig. 9 (sec. 6.3).";
    piece_bytes: u32 = 512, "B", 512 ..= 131072, Design, on [], from [packet_bytes],
        "DMA piece that the kernel invalidates while the next is stored: one packet, the least there is. The paper \
         gives none; `fig9.piece_1024` shows two packets.";
    request_bytes: u32 = 64, "B", 16 ..= 512, Design, on [], from [],
        "Body of the request message for pre-invalidation. The paper gives none; `fig9.request_16` and \
         `fig9.request_512` show the least and the most.";
    pipelined: bool = 1, "flag", 0 ..= 1, Paper, on [], from [],
        "Post-invalidation overlaps the storing of the next piece (sec. 6.2).";
    user_level: bool = 0, "flag", 0 ..= 1, Paper, on [], from [],
        "User-level access: no system call, no checks (sec. 7.1).";
}

impl Config {
    /// Head latency of one switch stage, in net cycles.
    pub fn stage_cycles(&self) -> u32 {
        self.sync_cycles + self.switch_cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::params::{Table as _, assert_sound};

    #[test]
    fn every_row_is_sound() {
        assert_sound(PARAMS, |name| Config::paper().get(name));
    }

    #[test]
    fn set_changes_that_field_only_and_says_what_is_wrong() {
        let mut c = Config::paper();
        c.set("mem_read_latency", 30.0).unwrap();
        c.set_assignment("io_period = 20").unwrap();
        c.set_assignment("user_level=true").unwrap();
        assert_eq!(
            (c.mem_read_latency, c.io_period, c.user_level),
            (30, Picos::from_ns(20), true)
        );
        let ours = Config {
            mem_read_latency: Config::paper().mem_read_latency,
            io_period: Picos::from_ns(40),
            user_level: false,
            ..c.clone()
        };
        assert_eq!(ours, Config::paper());

        let before = c.clone();
        let unknown = c.set("mem_latency", 1.0).unwrap_err();
        assert!(unknown.to_string().contains("mem_read_latency"), "{unknown}");
        assert!(matches!(
            c.set("pes", 257.0),
            Err(ParamError::OutOfRange { name: "pes", .. })
        ));
        assert!(matches!(c.set("pes", f64::NAN), Err(ParamError::OutOfRange { .. })));
        assert!(matches!(
            c.set("pes", 2.5),
            Err(ParamError::NotWhole { name: "pes", .. })
        ));
        assert!(matches!(
            c.set_assignment("pes"),
            Err(ParamError::NotAnAssignment { .. })
        ));
        assert!(matches!(
            c.set_assignment("pes=two"),
            Err(ParamError::NotAnAssignment { .. })
        ));
        assert_eq!(c, before);
    }
}
