//! The durations of the model, in cycles.

use crate::ap1000p::params::Config;

/// Durations, in cycles. "Budget" is the time budget in the digest of the paper's machine. The digest derives it for a
/// PUT of one word from known numbers: 50 MHz, 25 MB/s, 2 network clocks a router, 5.1 us in all. Numbers of the budget
/// without another origin are shares of that total, our own guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A store to a command page, 2: eight stores in 16 cycles (budget).
    pub store: u64,
    /// An access to a register, 2 (own guess, as for Cenju-3).
    pub host: u64,
    /// From the last word of a command to the send controller, 4 (budget).
    pub queue: u64,
    /// Decoding and lookups that hit in the send controller, 6 (budget).
    pub decode: u64,
    /// The first word from memory, 12 (budget). Not charged to a message without data.
    pub read: u64,
    /// A word of a page table, 12 (budget: 36 for three).
    pub walk: u64,
    /// A word on a link, 8 at 25 MB/s (public), 1 at the RTL's full speed.
    pub word: u64,
    /// A router, 8: 160 ns (known). At full speed 3, as measured on the RTL (docs/machines/torus.md).
    pub hop: u64,
    /// A word of a message within the cell, 4: read and written over the bus (budget).
    pub local: u64,
    /// Decoding and lookups that hit in the receive controller, 8 (budget).
    pub receive: u64,
    /// The write of a word to memory, 12 (budget).
    pub write: u64,
    /// The update of a word, a flag or an atomic, 20 (budget).
    pub atomic: u64,
    /// The refill of an element from the spill region, 4: two words over the bus, and the share of a burst of eight
    /// (own guess).
    pub refill: u64,
    /// From the last arrival at a barrier of the S-net to its release, 12: four levels of 1 cycle up and down, and the
    /// interfaces (own guess).
    pub barrier: u64,
    /// The wait before the first word of a packet on the B-net, 8 (own guess).
    pub bus: u64,
    /// A word on the B-net, 4: 50 MB/s (public).
    pub bus_word: u64,
}

impl Timing {
    pub fn of(config: &Config) -> Timing {
        let [store, word, read, write] = [
            config.store_cycles,
            config.link_cycles(),
            config.mem_read_latency,
            config.mem_write_latency,
        ]
        .map(u64::from);
        Timing {
            store,
            host: 2,
            queue: 4,
            decode: 6,
            read,
            walk: read,
            word,
            hop: word.max(3),
            local: 4,
            receive: 8,
            write,
            atomic: 20,
            refill: 4,
            barrier: 12,
            bus: 8,
            bus_word: config.bus_cycles().into(),
        }
    }
}
