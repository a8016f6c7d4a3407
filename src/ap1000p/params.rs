//! The parameters of the AP1000+ reproduction: one table with the origin of every number, and [`Config`], the same
//! numbers as typed fields.
//!
//! The paper (Koyanagi et al., SWoPP '94) reports no measurement. The only known ones are two of PUT (Shiraki et al.,
//! JSPP '95, as the Cenju-3 paper quotes them). Here they are `m1` (by the user) and `m2` (by a system call): a latency
//! of 5.1 and 8.6 us + 0.040 us/B. MB = 10^6 B.

use crate::harness::memory::MemoryTiming;
use crate::harness::params::parameters;
pub use crate::harness::params::{Origin, Param, ParamError};
use crate::net::torus::Torus;
use crate::{Cycle, Picos};

parameters! {
    // The machine.
    columns: u32 = 2, "cells", 1 ..= 32, Design, on [], from [], "Cells along X; the machine had 16 to 1024 cells.";
    rows: u32 = 2, "cells", 1 ..= 32, Design, on [], from [], "Cells along Y.";
    mem_bytes: u32 = 1048576, "B", 1048576 ..= 67108864, Design, on [], from [],
        "Memory simulated per cell; the machine had up to 64 MB, the experiments need less.";
    period: Picos = 20, "ns", 1 ..= 1000, Paper, on [], from [],
        "Clock period: 50 MHz (sec. 1), assumed for processor, bus, MSC+ and MC.";

    // T-net.
    link_rate: f64 = 25, "MB/s", 1 ..= 10000, Public, on [], from [],
        "Rate of a channel of the T-net (IPSJ computer museum; netlib). The RTL is built for this rate (8 cycles a \
         word) and for 200 MB/s at 20 ns (1 cycle a word). On the model a word takes whole cycles: the rate is rounded \
         down.";
    lane_words: u32 = 4, "words", 2 ..= 4, Design, on [], from [],
        "Words in use of a virtual channel's buffer where it ends a link of a router. The RTL has 4; a \
         router needs 2. The golden model has room for 2 messages, and for 1 with fewer words.";

    // S-net and B-net.
    bus_rate: f64 = 50, "MB/s", 1 ..= 10000, Public, on [], from [],
        "Rate of the B-net (ANU; netlib). The RTL is built for this rate at 20 ns (4 cycles a word). On the model a \
         word takes whole cycles: the rate is rounded down.";

    // Memory.
    mem_read_latency: u32 = 12, "cycles", 0 ..= 1000, Design, on [], from [], "Read command to first data.";
    mem_write_latency: u32 = 12, "cycles", 0 ..= 1000, Design, on [], from [],
        "Last word of a write burst to its response.";
    mem_overhead: u32 = 1, "cycles", 0 ..= 100, Design, on [], from [],
        "Cycles that the memory's bus is taken after each burst.";
    mem_shared: bool = 1, "flag", 0 ..= 1, Design, on [], from [], "Reads and writes share the memory's bus.";

    // Queues.
    hardware_refill: bool = 1, "flag", 0 ..= 1, Design, on [], from [],
        "Hardware refills the queues after an overflow; 0: the system's software does, as in the machine.";

    // Messages.
    rendezvous_words: u32 = 32, "words", 0 ..= 32758, Public, on [], from [],
        "A longer message goes as a descriptor, and the receiver GETs its words: over 128 bytes in the machine's \
         Linux. The smallest ring buffer holds 32758.";
    overflow_bytes: u32 = 262144, "B", 0 ..= 393216, Design, on [], from [],
        "Cell memory for messages that the system takes out of full ring buffers. It is part of the 512 KB that \
         queues otherwise spill to.";
    overflow_slot: Picos = 400, "ns", 0 ..= 100000, Design, on [], from [],
        "The system's work to copy a slot of 32 bytes out of a full ring buffer: one cache line read and written \
         through, 20 cycles.";

    // Processor and its software.
    store_cycles: u32 = 2, "cycles", 1 ..= 100, Design, on [], from [],
        "A store of the processor to a command page: address and data.";
    flag_test: Picos = 600, "ns", 0 ..= 100000, Design, on [], from [],
        "From the flag's count to the program that polls it: line invalidated, read again, tested, 30 cycles.";
    register_poll: Picos = 200, "ns", 20 ..= 100000, Design, on [], from [],
        "One turn of a loop that polls a register, without the access: 10 cycles.";
    call: Picos = 1500, "ns", 0 ..= 100000, Calibrated,
        on ["m1.user"], from [store_cycles, flag_test, link_rate, mem_read_latency, mem_write_latency],
        "Library call of a PUT or GET without its stores, and the extra time of the machine's own chips over this \
         RTL: the rest of 5.1 us.";
    system_call: Picos = 3500, "ns", 0 ..= 100000, Calibrated, on ["m2.system"], from [call],
        "User call to the system and back, checks included, for a PUT that the system issues: 8.6 - 5.1 us.";
    interrupt: Picos = 2000, "ns", 0 ..= 100000, Design, on [], from [],
        "Interrupt line to the handler's first instruction: 100 cycles.";
    refill_word: Picos = 200, "ns", 0 ..= 100000, Design, on [], from [],
        "The system's work to copy a word back from the spill region, without its store: two loads from memory and \
         the choice of the page, 10 cycles.";
    trap: Picos = 2000, "ns", 0 ..= 100000, Design, on [], from [],
        "An access exception to its handler's first instruction, and the handler's last to the repeated access: 100 \
         cycles.";
    page_service: Picos = 10000, "ns", 0 ..= 1000000, Design, on [], from [],
        "The system's work to map an unmapped page.";
}

impl Config {
    pub fn torus(&self) -> Torus {
        Torus::new(self.columns as usize, self.rows as usize)
    }

    pub fn cells(&self) -> usize {
        self.torus().cells()
    }

    /// Cycles of a word of 32 bits on a link between cells, rounded up to whole cycles.
    pub fn link_cycles(&self) -> u32 {
        self.word_cycles(self.link_rate)
    }

    /// The same for the B-net.
    pub fn bus_cycles(&self) -> u32 {
        self.word_cycles(self.bus_rate)
    }

    /// A rate given to three decimals is not rounded up because of the last one.
    fn word_cycles(&self, rate: f64) -> u32 {
        let exactly = 4.0 / rate / self.period.as_us();
        (exactly * 0.999).ceil() as u32
    }

    pub fn timing(&self) -> MemoryTiming {
        MemoryTiming {
            read_latency: Cycle(self.mem_read_latency.into()),
            write_latency: Cycle(self.mem_write_latency.into()),
            overhead: Cycle(self.mem_overhead.into()),
            shared_bus: self.mem_shared,
            byte_time: 0,
        }
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
    fn a_word_takes_the_cycles_of_its_rate() {
        let cycles = |link_rate, period| {
            let config = Config {
                link_rate,
                period: Picos::from_ns(period),
                ..Config::paper()
            };
            config.link_cycles()
        };
        assert_eq!((Config::paper().link_cycles(), Config::paper().bus_cycles()), (8, 4));
        assert_eq!(
            [
                cycles(25.0, 10),
                cycles(50.0, 10),
                cycles(200.0, 20),
                cycles(1000.0, 20)
            ],
            [16, 8, 1, 1]
        );
        // 33.333 MB/s means 8 cycles of 15 ns; 26 MB/s needs part of an eighth cycle.
        assert_eq!([cycles(33.333, 15), cycles(26.0, 20), cycles(24.0, 20)], [8, 8, 9]);
    }
}
