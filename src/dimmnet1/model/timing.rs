//! The card's own cycles in the model: none of them is a parameter, as the RTL has them by its design. They are
//! measured at the RTL's ports, and `tests/dimmnet1/agree.rs` holds them.

/// Core cycles from the offer of a load to its answer.
pub const LOAD: u64 = 3;
/// Core cycles of a store of the host to a register, and to SRAM.
pub const REGISTER_WRITE: u64 = 2;
pub const SRAM_WRITE: u64 = 3;
/// Core cycles from an accepted store to a packet that is offered: AOTF, and a kick of a window.
pub const AOTF: u64 = 2;
pub const KICK: u64 = 3;
/// More of them for a packet that needs credit.
pub const CREDIT: u64 = 5;
/// Core cycles through the arbiter of the sending side, and more of them for who is not AOTF or a window.
pub const TX: u64 = 1;
pub const TURN: u64 = 1;
/// Cycles of the other clock through a crossing.
pub const CROSSING: u64 = 3;
/// Core cycles from the matcher's offer to the look-up of the place that it found, for an INDIRECT and a MESSAGE.
pub const MATCH_INDIRECT: u64 = 9;
pub const MATCH_MESSAGE: u64 = 14;
/// Core cycles from the offer of a CHAIN until its receive command is read; more of them for a command that the one
/// before names; and those from the offer to the look-up of a block, if its command is there.
pub const MATCH_COMMAND: u64 = 11;
pub const MATCH_NEXT: u64 = 1;
pub const MATCH_BLOCK: u64 = 3;
/// Core cycles from the one behind a part's last word until the matcher's next part may go on. A stop begins in that
/// one.
pub const PART: u64 = 1;
/// Core cycles of a look-up that ends in LLCM, and of one through PATLB.
pub const LOOKUP_LLCM: u64 = 3;
pub const LOOKUP: u64 = 4;
/// Core cycles from an OTF packet's look-up to its bytes in LLCM. By then it is settled, too.
pub const OTF: u64 = 2;
/// Core cycles from the last word of a packet's data until they are visible, beside the latency of a memory that they
/// go to, and the time of a burst: it is collected before it goes there.
pub const WRITE: u64 = 5;
/// Words of a burst.
pub const BURST: usize = 8;
/// Bursts each way that are under way at most.
pub const OUTSTANDING: usize = 4;
/// Core cycles of a burst's way to memory and back, beside memory's latency.
pub const MEMORY_PORT: u64 = 4;
/// Core cycles from data that are visible to the offer of the answer: the queue of answers takes its words first, and
/// only then is the packet settled.
pub const ANSWER: u64 = 3;
/// Core cycles from the settled packet to what the header of a waiting one leads to.
pub const SETTLED: u64 = 3;
/// Core cycles from there until the receiver takes data.
pub const ACT: u64 = 2;
/// Core cycles from the last word of an answer until its slot shows it.
pub const SLOT: u64 = 6;
/// Core cycles from a register write to the RDMA engine's first look-up, and to that of the next packet.
pub const RDMA_START: u64 = 12;
pub const RDMA_NEXT: u64 = 3;
/// Core cycles from the look-up to the command for memory.
pub const RDMA_READ: u64 = 6;
/// Core cycles from a PULL that was received to the RDMA engine's look-up.
pub const PULL: u64 = 10;
/// Core cycles from memory's first data to the header that leaves.
pub const RDMA_DATA: u64 = 2;
/// Core cycles from a stop, or its end, to the first instruction that sees it in its interrupt line.
pub const LINE: u64 = 3;
/// Core cycles from RX_GO to the look-up, or to what it begins.
pub const GO: u64 = 3;
/// Core cycles from BUILD_GO to the offer of a packet.
pub const BUILD: u64 = 5;
/// Core cycles from a store to CONTROL until the processor sees RUN.
pub const RUN: u64 = 2;
/// Core cycles from the processor's bus access to its answer: registers and stores, and loads from LLCM.
pub const CPU_REGISTER: u64 = 1;
pub const CPU_LLCM: u64 = 3;

/// Completions of the receiver that may be outstanding.
pub const COMPLETIONS: usize = 4;
/// Words of data that wait in front of memory.
pub const BODY: usize = 16;
/// Words that move together, at most; headers move alone.
pub const CHUNK: usize = 8;
/// Link cycles of a switch input after words that could go to several outputs.
pub const COPY: u64 = 5;
/// Words that a switch input and a switch output hold, beside their links' FIFOs.
pub const SWITCH_INPUT: usize = 128;
pub const SWITCH_OUTPUT: usize = 14;
