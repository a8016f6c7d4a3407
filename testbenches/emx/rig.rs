//! What the benches of EM-4/EM-X share.

use std::collections::VecDeque;

use tsunagi::emx::packet::{Kind, Packet};
use tsunagi::emx::params::Config;
use tsunagi::emx::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Pacer;
use verilated::{Input, Port};

/// Sets a port of 78 bits, or element `index` of an array of such; None: junk.
pub fn set_packet(port: &impl Input, index: usize, packet: Option<Packet>) {
    let [w0, w1] = packet.map_or([0x2a_dead_beef, 0x15_5bad_cafe], |packet| packet.words());
    port.set_bits(78 * index + 39, 39, w0);
    port.set_bits(78 * index, 39, w1);
}

/// A packet on a port of 78 bits.
pub fn packet(port: &impl Port) -> Packet {
    Packet::of([port.get_bits(39, 39), port.get_bits(0, 39)])
}

/// The paper's configuration with the memory of a unit's parameters.
pub fn config(memory_bits: usize, spill_bits: usize, levels: usize) -> Config {
    Config {
        memory_bits: memory_bits as u32,
        spill_bits: spill_bits as u32,
        levels: levels as u32,
        ..Config::paper()
    }
}

/// A value of 32 bits, often a small one or one at an end of its range.
pub fn value(rng: &mut Rng) -> u32 {
    match rng.below(4) {
        0 => rng.below(4) as u32,
        1 => 0u32.wrapping_sub(rng.below(4) as u32),
        2 => 0x7fff_fffe + rng.below(4) as u32,
        _ => rng.bits() as u32,
    }
}

/// A request of a client of the memory: a read, or a write of this word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub addr: u32,
    pub write: Option<u64>,
}

/// An instruction with A and B, and IMM or what lies in its bits.
pub fn word(op: u32, fields: [u32; 2], immediate: u32) -> u32 {
    let [a, b] = fields;
    op << INSN_OP_SHIFT | a << INSN_A_SHIFT | b << INSN_B_SHIFT | immediate & INSN_IMM_MASK
}

/// The switch's output: it begins a packet where there is room.
pub struct Sender {
    packets: VecDeque<Packet>,
    pacer: Pacer,
    /// On the link, and whether it is word 1.
    now: Option<(Packet, bool)>,
}

impl Sender {
    pub fn new(pacer: Pacer) -> Sender {
        Sender {
            packets: VecDeque::new(),
            pacer,
            now: None,
        }
    }

    pub fn push(&mut self, packet: Packet) {
        self.packets.push_back(packet);
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.now.is_none()
    }

    /// The word on the link, and whether it is the last one.
    pub fn word(&self) -> Option<(u64, bool)> {
        let word = |(packet, second): (Packet, bool)| (packet.words()[usize::from(second)], second);
        self.now.map(word)
    }

    /// The packet of which word 1 is on the link.
    pub fn arrival(&self) -> Option<Packet> {
        self.now.filter(|(_, second)| *second).map(|(packet, _)| packet)
    }

    /// The edge: was there room before it?
    pub fn step(&mut self, room: bool) {
        let goes = self.pacer.step();
        self.now = match self.now {
            Some((packet, false)) => Some((packet, true)),
            _ if room && goes => self.packets.pop_front().map(|packet| (packet, false)),
            _ => None,
        };
    }

    /// A packet under way is lost.
    pub fn reset(&mut self) {
        self.now = None;
    }
}

/// The sender of a link: word 1 of a packet follows its word 0.
#[derive(Clone)]
pub struct Feed<T> {
    /// On the link, and whether it is word 1.
    now: Option<(T, bool)>,
}

impl<T> Default for Feed<T> {
    fn default() -> Feed<T> {
        Feed { now: None }
    }
}

impl<T: Copy> Feed<T> {
    pub fn now(&self) -> Option<(T, bool)> {
        self.now
    }

    /// The packet of which word 0 is on the link.
    pub fn first(&self) -> Option<T> {
        self.now.filter(|(_, second)| !second).map(|(packet, _)| packet)
    }

    /// The packet of which word 1 is on the link.
    pub fn second(&self) -> Option<T> {
        self.now.filter(|(_, second)| *second).map(|(packet, _)| packet)
    }

    /// The edge: where no word 1 is due, `next` may begin.
    pub fn step(&mut self, next: impl FnOnce() -> Option<T>) {
        self.now = match self.now {
            Some((packet, false)) => Some((packet, true)),
            _ => next().map(|packet| (packet, false)),
        };
    }
}

/// A packet of any form.
pub fn some_packet(rng: &mut Rng) -> Packet {
    Packet {
        kind: Kind(rng.below(1 << 7) as u8),
        pe: rng.below(1 << 10) as u16,
        addr: rng.below(1 << 22) as u32,
        tag: rng.below(1 << 7) as u8,
        data: rng.bits() as u32,
    }
}
