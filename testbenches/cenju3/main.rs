//! Cenju-3's Sender, Receiver and NIC, each alone: memory, host and links are the testbench.

mod campaign;
mod loopback;
mod nic;
mod nic_axi;
mod receiver;
mod rig;
mod sender;
mod waves;

use testbenches::Rule;
use tsunagi::Cycle;
use tsunagi::harness::memory::MemoryTiming;

/// The machine's memory: about 1 us to the first word, 8 cycles between bursts, one bus.
const SLOW: MemoryTiming = MemoryTiming {
    read_latency: Cycle(25),
    write_latency: Cycle(20),
    overhead: Cycle(8),
    shared_bus: true,
    byte_time: 0,
};

/// Each field of a golden model is a rule, and so has a twin. A test tells the exceptions `told` to the model.
///
/// # Panics
/// With the first field that is neither, or both.
fn each_field_is_a_rule<R: Rule>(fields: &[&str], told: &[&str]) {
    for field in fields {
        let is_rule = R::ALL.iter().any(|rule| rule.name() == *field);
        assert_ne!(is_rule, told.contains(field), "{field}");
    }
}
