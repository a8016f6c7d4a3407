//! The parameters that rows depend on, because they move them.

/// PE and network.
const MACHINE: [&str; 4] = ["clock_period", "half_packets", "channel_packets", "spill_turns"];
/// What makes an EMC-Y of an EMC-R.
const SWITCHES: [&str; 7] = [
    "write_bypass",
    "input_first",
    "code_port",
    "output_packets",
    "read_bypass",
    "levels",
    "fast_send",
];

/// Lists put together.
fn all(lists: &[&[&'static str]]) -> Vec<&'static str> {
    lists.concat()
}

/// Words and packets between two threads.
pub fn message() -> Vec<&'static str> {
    all(&[&["clock_period"], &SWITCHES])
}

/// Blocks along a way without others.
pub fn block() -> Vec<&'static str> {
    all(&[&message(), &["chunk"]])
}

/// Blocks of all PEs at once.
pub fn exchange() -> Vec<&'static str> {
    all(&[&MACHINE, &SWITCHES, &["chunk", "used", "row_bits"]])
}

/// Programs of all PEs without much traffic.
pub fn together() -> Vec<&'static str> {
    all(&[&block(), &["used", "row_bits"]])
}

/// The memory for packets.
pub fn overflow() -> Vec<&'static str> {
    all(&[&exchange(), &["spill_bits"]])
}
