//! Golden model of `emx_memory`: the words, who may touch them, and who has the port.

use std::ops::Range;

use crate::emx::params::Config;
use crate::emx::regs::{MEM_DATA_MASK, MEM_PRESENT_MASK, MEM_TAG_MASK};

/// Clients of the port, by their index in its vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    Data,
    Fetch,
    Matching,
    Input,
    Host,
}

/// Where what stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    pub words: u32,
    /// Packets of a level that memory holds.
    pub ring_packets: u32,
    /// The rings of spilled packets: no thread and no packet touches them.
    pub spill: Range<u32>,
}

impl Map {
    /// The rings begin at a fixed eighth of memory, if they fit: behind frames and code.
    pub fn of(config: &Config) -> Map {
        let ring_packets = 1 << config.spill_bits;
        let base = 1 << (config.memory_bits - 3);
        Map {
            words: 1 << config.memory_bits,
            ring_packets,
            spill: base..base + 2 * ring_packets * config.levels,
        }
    }

    /// May packets and threads touch this word?
    pub fn is_public(&self, addr: u32) -> bool {
        addr < self.words && !self.spill.contains(&addr)
    }

    /// The two words of a place in the ring of a level.
    pub fn ring(&self, level: usize, place: u32) -> u32 {
        self.spill.start + 2 * (level as u32 * self.ring_packets + place % self.ring_packets)
    }
}

/// A PE's memory.
#[derive(Clone, Debug)]
pub struct Memory {
    pub map: Map,
    words: Vec<u64>,
}

impl Memory {
    /// All words are 0.
    pub fn new(map: Map) -> Memory {
        let words = vec![0; map.words as usize];
        Memory { map, words }
    }

    /// What a thread sees.
    pub fn data(&self, addr: u32) -> u32 {
        (self.words[addr as usize] & MEM_DATA_MASK) as u32
    }

    /// Data with tag.
    pub fn word(&self, addr: u32) -> u64 {
        self.words[addr as usize] & (MEM_DATA_MASK | MEM_TAG_MASK)
    }

    /// Does an operand wait here?
    pub fn is_present(&self, addr: u32) -> bool {
        self.words[addr as usize] & MEM_PRESENT_MASK != 0
    }

    /// Data with tag; the presence bit stays.
    pub fn write(&mut self, addr: u32, word: u64) {
        let kept = self.words[addr as usize] & MEM_PRESENT_MASK;
        self.words[addr as usize] = kept | word & !MEM_PRESENT_MASK;
    }

    /// Sets or clears the presence bit; the word stays.
    pub fn set_present(&mut self, addr: u32, present: bool) {
        let word = self.word(addr);
        self.words[addr as usize] = if present { word | MEM_PRESENT_MASK } else { word };
    }

    /// The host's view: all 40 bits.
    pub fn host_read(&self, addr: u32) -> u64 {
        self.words[addr as usize]
    }

    /// All 40 bits.
    pub fn host_write(&mut self, addr: u32, word: u64) {
        self.words[addr as usize] = word & (MEM_DATA_MASK | MEM_TAG_MASK | MEM_PRESENT_MASK);
    }

    /// Slots in which an operand waits.
    pub fn waiting(&self) -> impl Iterator<Item = u32> {
        (0..self.map.words).filter(|addr| self.is_present(*addr))
    }
}

/// The arbiter of the port.
#[derive(Clone, Debug)]
pub struct Arbiter {
    input_first: bool,
    host_wait: u32,
    /// Cycles for which the host has waited.
    waited: u32,
}

impl Arbiter {
    /// Nobody waits.
    pub fn new(config: &Config) -> Arbiter {
        Arbiter {
            input_first: config.input_first,
            host_wait: config.host_wait,
            waited: 0,
        }
    }

    /// Who has the port in this cycle. `requests` by [`Client`]; `urgent`: the input buffer is nearly full.
    pub fn grant(&mut self, requests: [bool; 5], urgent: bool) -> Option<Client> {
        use Client::{Data, Fetch, Host, Input, Matching};
        let host = self.waited >= self.host_wait;
        let first = [(host, Host), (self.input_first && urgent, Input)];
        let first = first.into_iter().filter_map(|(may, client)| may.then_some(client));
        let mut order = first.chain([Data, Fetch, Matching, Input, Host]);
        let granted = order.find(|client| requests[*client as usize]);
        let waits = requests[Host as usize] && granted != Some(Host);
        self.waited = if waits { self.waited + 1 } else { 0 };
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [bool; 5] = [true; 5];

    #[test]
    fn a_full_input_buffer_goes_first_on_em_x() {
        let mut config = Config::paper();
        let mut em_4 = Arbiter::new(&config);
        config.input_first = true;
        let mut em_x = Arbiter::new(&config);
        assert_eq!(em_4.grant(ALL, true), Some(Client::Data));
        assert_eq!(em_x.grant(ALL, true), Some(Client::Input));
        assert_eq!(em_x.grant(ALL, false), Some(Client::Data));
        assert_eq!(
            em_4.grant([false, false, true, true, false], true),
            Some(Client::Matching)
        );
        assert_eq!(em_4.grant([false; 5], true), None);
    }

    #[test]
    fn the_host_waits_a_bounded_time() {
        let mut arbiter = Arbiter::new(&Config::paper());
        let granted: Vec<_> = (0..130)
            .filter(|_| arbiter.grant(ALL, false) == Some(Client::Host))
            .collect();
        assert_eq!(granted, [64, 129]);
    }

    #[test]
    fn presence_stays_when_data_change() {
        let mut memory = Memory::new(Map::of(&Config::paper()));
        memory.set_present(0x45, true);
        memory.write(0x45, 3 << 32 | 9);
        assert!(memory.is_present(0x45));
        assert_eq!((memory.data(0x45), memory.word(0x45)), (9, 3 << 32 | 9));
        assert_eq!(memory.waiting().collect::<Vec<_>>(), [0x45]);
        assert!(memory.map.is_public(0x1fff) && !memory.map.is_public(0x2000) && !memory.map.is_public(0x1_0000));
    }
}
