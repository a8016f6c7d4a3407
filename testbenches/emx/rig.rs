//! What the benches of EM-4/EM-X share.

use tsunagi::emx::packet::Packet;
use tsunagi::emx::params::Config;
use tsunagi::harness::seed::Rng;
use verilated::{Input, Port};

/// Sets a port of 78 bits, or element `index` of an array of such; None: junk.
pub fn set_packet(port: impl Input, index: usize, packet: Option<Packet>) {
    let [w0, w1] = packet.map_or([0x2a_dead_beef, 0x15_5bad_cafe], |packet| packet.words());
    port.set_bits(78 * index + 39, 39, w0);
    port.set_bits(78 * index, 39, w1);
}

/// A packet on a port of 78 bits.
pub fn packet(port: impl Port) -> Packet {
    Packet::of([port.get_bits(39, 39), port.get_bits(0, 39)])
}

/// The paper's configuration with the memory of a unit's parameters.
pub fn config(memory_bits: i32, spill_bits: i32, levels: i32) -> Config {
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
