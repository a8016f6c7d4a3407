//! What takes how long.

use crate::ap1000p::params::Config;

/// When things happen, in cycles. "Budget" is the digest of the paper's machine, worked out there for a PUT of one word
/// from what is known (50 MHz, 25 MB/s, 2 network clocks a router, 5.1 us in all); those without another origin are its
/// split, our own guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A store to a command page, 2: eight in 16 (budget).
    pub store: u64,
    /// An access of a register, 2 (own guess, as for Cenju-3).
    pub host: u64,
    /// A command's last word to the send controller, 4 (budget).
    pub queue: u64,
    /// The send controller's decoding and lookups that hit, 6 (budget).
    pub decode: u64,
    /// Memory's first word, 12 (budget). Not for a message without data.
    pub read: u64,
    /// A word of a page table, 12 (budget: 36 for three).
    pub walk: u64,
    /// A word on a link, 8 at 25 MB/s (public), 1 at the RTL's full speed.
    pub word: u64,
    /// A router, 8: 160 ns (known). At full speed 3, as measured of the RTL (docs/machines/torus.md).
    pub hop: u64,
    /// A word within the cell, 4: read and written over the bus (budget).
    pub local: u64,
    /// The receive controller's decoding and lookups that hit, 8 (budget).
    pub receive: u64,
    /// A word to be in memory, 12 (budget).
    pub write: u64,
    /// A word that is read and changed: a flag, an atomic, 20 (budget).
    pub atomic: u64,
    /// An element that comes back from the spill region, 4: two words over the bus, and the share of a burst of eight
    /// (own guess).
    pub refill: u64,
    /// The last arrival at a barrier of the S-net to its release, 12: four levels of 1 cycle up and down, and the
    /// interfaces (own guess).
    pub barrier: u64,
    /// A packet to be first on the B-net, 8 (own guess).
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
