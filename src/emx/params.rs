//! The parameters of the EM-4/EM-X reproduction: one table with the origin of every number, and [`Config`], the same
//! numbers as typed fields.
//!
//! Source: the paper on message passing by RICA; section and table numbers are its own. Other public sources (`Public`)
//! are listed on the machine's page. The cycles of threads are no parameter: they are those of the code that runs.

use crate::Picos;
use crate::harness::params::parameters;
pub use crate::harness::params::{Origin, Param, ParamError};

parameters! {
    // The machine.
    row_bits: u32 = 4, "bits", 0 ..= 4, Paper, on [], from [],
        "Rows of the network, as a power of two; 5 columns of 16 rows are 80 PEs (sec. 2.2). 0, 2 or 4.";
    used: u32 = 64, "PEs", 2 ..= 80, Paper, on [], from [row_bits],
        "PEs that run the programs: 64 of 80 (sec. 4).";
    clock_period: Picos = 80, "ns", 4 ..= 1000, Paper, on [], from [],
        "Clock period: 12.5 MHz (sec. 2.2). EM-X has 20 MHz, 50 ns.";
    memory_bits: u32 = 16, "bits", 14 ..= 20, Design, on [], from [],
        "Words of a PE's memory, as a power of two.";
    spill_bits: u32 = 12, "bits", 4 ..= 12, Paper, on [], from [],
        "Packets of a level that memory holds, as a power of two: \"4K packets\" (sec. 4.2).";
    half_packets: u32 = 4, "packets", 2 ..= 8, Known, on [], from [],
        "Half of the input buffer on chip: 8 packets a level.";
    channel_packets: u32 = 2, "packets", 1 ..= 4, Design, on [], from [],
        "Packets that a switch holds for each input and virtual channel.";
    spill_turns: u32 = 3, "packets", 1 ..= 16, Calibrated, on ["sec4.2.limit"], from [],
        "Packets that go to memory while one waits to come back: half of lex's burst piles up, as 130 words say.";
    host_wait: u32 = 64, "cycles", 1 ..= 1000, Design, on [], from [],
        "After so long the host goes first at the memory.";

    // What makes an EMC-Y of an EMC-R.
    write_bypass: bool = 0, "flag", 0 ..= 1, Paper, on [], from [],
        "A WRITE is done at the input buffer; EM-X (sec. 2.3, 4.5).";
    read_bypass: bool = 0, "flag", 0 ..= 1, Public, on [], from [output_packets],
        "A READ is done at the input buffer; EM-X. It needs an output buffer.";
    input_first: bool = 0, "flag", 0 ..= 1, Paper, on [], from [],
        "A full input buffer goes before execution at the memory; EM-X (sec. 4.5).";
    code_port: bool = 0, "flag", 0 ..= 1, Design, on [], from [],
        "Instructions have a port of their own, so a running thread leaves the memory free; EM-X.";
    levels: u32 = 1, "levels", 1 ..= 2, Public, on [], from [], "Priorities of packets; EM-X: 2.";
    output_packets: u32 = 0, "packets", 0 ..= 16, Public, on [], from [], "Depth of the output buffer; EM-X: 8.";
    fast_send: bool = 0, "flag", 0 ..= 1, Public, on [], from [], "A packet is made in one cycle; EM-X.";

    // The library.
    chunk: u32 = 10, "words", 0 ..= 10000, Paper, on [], from [],
        "Words after which mem_copyout suspends its thread (sec. 4.5); 0: never.";
    messages: u32 = 17, "types", 1 ..= 31, Paper, on [], from [], "Message types of a port, 0 to 16 (sec. 3.1).";
}

/// Columns of the network: PEs of a loop.
pub const COLUMNS: u32 = crate::emx::regs::SIZE_COLUMNS;

/// What EM-X changes, by parameter: the switches from one machine to the other, each of its own.
pub const EM_X: [(&str, f64); 7] = [
    ("write_bypass", 1.0),
    ("input_first", 1.0),
    ("code_port", 1.0),
    ("output_packets", 8.0),
    ("read_bypass", 1.0),
    ("levels", 2.0),
    ("fast_send", 1.0),
];

/// Values within their ranges that together are no machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    #[error("row_bits = {0}: a machine has 5 PEs (row_bits=0), 20 (row_bits=2) or 80 (row_bits=4)")]
    Rows(u32),
    #[error("used = {used}, and row_bits = {row_bits} is a machine of {pes} PEs")]
    Used { used: u32, row_bits: u32, pes: u32 },
    #[error("memory_bits = {0}: the library's places are for 64 K words, memory_bits=16")]
    Memory(u32),
    #[error("read_bypass needs an output buffer: set output_packets")]
    Output,
}

impl Config {
    /// PEs of the machine.
    pub fn pes(&self) -> u32 {
        COLUMNS << self.row_bits
    }

    /// The switches of EM-X, at this machine's clock.
    ///
    /// # Panics
    /// One of the switches is no parameter.
    pub fn em_x(&self) -> Config {
        let mut config = self.clone();
        for (name, value) in EM_X {
            config.set(name, value).expect("a switch is a parameter");
        }
        config
    }

    /// # Errors
    /// The values are no machine that can run the library.
    pub fn check(&self) -> Result<(), Unsound> {
        let (used, row_bits, pes) = (self.used, self.row_bits, self.pes());
        match row_bits {
            0 | 2 | 4 if used > pes => Err(Unsound::Used { used, row_bits, pes }),
            0 | 2 | 4 if self.memory_bits != 16 => Err(Unsound::Memory(self.memory_bits)),
            0 | 2 | 4 if self.read_bypass && self.output_packets == 0 => Err(Unsound::Output),
            0 | 2 | 4 => Ok(()),
            _ => Err(Unsound::Rows(row_bits)),
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
    fn the_papers_machine() {
        let c = Config::paper();
        assert_eq!((c.pes(), 1 << c.spill_bits, 2 * c.half_packets), (80, 4096, 8));
        // Two words of 39 bits, one a cycle.
        let packets = 1e3 / (2.0 * c.clock_period.as_us() * 1e3);
        assert!((packets - 6.25).abs() < 1e-9);
        assert!((packets * 78.0 / 8.0 - 60.9).abs() < 0.1);
    }

    #[test]
    fn em_x_names_parameters() {
        for (name, _) in EM_X {
            assert!(Config::paper().get(name).is_ok(), "{name}");
        }
    }
}
