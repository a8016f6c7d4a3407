//! The card's own cycles in the model: none of them is a parameter, as the RTL has them by its design. They are measured
//! at the RTL's ports, and `tests/dimmnet1/agree.rs` holds them.

/// Core cycles from the offer of a load to its answer.
pub const LOAD: u64 = 3;
/// Core cycles from an accepted store to a packet that is offered: AOTF, and a kick of a window.
pub const AOTF: u64 = 3;
pub const KICK: u64 = 3;
/// More of them for a packet that needs credit.
pub const CREDIT: u64 = 5;
/// Core cycles through the arbiter of the sending side.
pub const TX: u64 = 3;
/// Cycles of the other clock through a crossing.
pub const CROSSING: u64 = 3;
/// Core cycles from a whole header to the look-up of the place that the matcher found for an INDIRECT, and for a MESSAGE.
pub const MATCH_INDIRECT: u64 = 14;
pub const MATCH_MESSAGE: u64 = 19;
/// Core cycles of a look-up that ends in LLCM, and of one through PATLB.
pub const LOOKUP_LLCM: u64 = 3;
pub const LOOKUP: u64 = 4;
/// Core cycles from the last word of an OTF packet to its bytes in LLCM.
pub const OTF: u64 = 3;
/// Core cycles from the last word of a packet's data until they are visible, beside the latency of a memory that they go
/// to.
pub const WRITE: u64 = 7;
/// Core cycles from data that are visible to the offer of the answer.
pub const ANSWER: u64 = 2;
/// Core cycles from the last word of an answer until its slot shows it.
pub const SLOT: u64 = 7;
/// Core cycles from a register write to the RDMA engine's first look-up, and to that of the next packet.
pub const RDMA_START: u64 = 12;
pub const RDMA_NEXT: u64 = 3;
/// Core cycles from the look-up to the command for memory.
pub const RDMA_READ: u64 = 6;
/// Core cycles from a PULL that was received to the RDMA engine's look-up.
pub const PULL: u64 = 10;
/// Core cycles from memory's first data to the header that leaves.
pub const RDMA_DATA: u64 = 2;
/// Core cycles from a stop to the processor's interrupt line, and from an RX_GO that is not CONTINUE to what it begins.
pub const STOP: u64 = 5;
pub const GO: u64 = 4;
/// Core cycles from the processor's bus access to its answer: registers and stores, and loads from LLCM.
pub const CPU_REGISTER: u64 = 1;
pub const CPU_LLCM: u64 = 3;

/// Completions of the receiver that may be outstanding.
pub const COMPLETIONS: usize = 4;
/// Words that move together, at most; headers move alone.
pub const CHUNK: usize = 8;
/// Link cycles of a switch input after each copy of a multicast.
pub const COPY: u64 = 3;
/// Words that a switch input and a switch output hold, beside their links' FIFOs.
pub const SWITCH_INPUT: usize = 128;
pub const SWITCH_OUTPUT: usize = 14;
