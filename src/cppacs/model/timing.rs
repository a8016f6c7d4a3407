//! The machine's own cycles in the model: none of them is a parameter, as the RTL has them by its design. They are the
//! contract's figures; where it gives a sum or a bound only, the parts are ours until the RTL is measured.

/// From link to link through an exchanger, from its processor and from a crossbar, and through a crossbar.
pub const EXCHANGER_PU: u64 = 4;
pub const EXCHANGER: u64 = 5;
pub const CROSSBAR: u64 = 4;
/// Room that a broadcast needs behind each output, and its longest worm.
pub const BROADCAST_WORDS: u64 = 256;

/// From an access of the host to its effect, and more until its answer.
pub const HOST: u64 = 2;
pub const ANSWER: u64 = 2;
/// From a kick to what fetches it.
pub const KICK: u64 = 2;
/// Into the words unit, and from a memory port to memory.
pub const WORDS: u64 = 2;
pub const MUX: u64 = 3;
/// From the last word of a TCW to its descriptor.
pub const CHECKS: u64 = 8;
/// From a descriptor to the first word on the link.
pub const SEND: u64 = 6;
/// From there on for the sender of the acknowledge channel, with and without data of memory.
pub const SEND_ACK: u64 = 6;
pub const SEND_REQUEST: u64 = 4;
/// Idle cycles between worms of a transfer, and between transfers.
pub const NEXT_WORM: u64 = 2;
pub const NEXT_TRANSFER: u64 = 4;
/// From a header's first word until its field is looked up.
pub const HEADER: u64 = 8;
/// Idle cycles of the receiver between worms.
pub const RECEIVE: u64 = 2;
/// From a worm's last word to the last write command.
pub const COLLECT: u64 = 2;
/// From the last word of a stored worm until it is acted on: the sum, the field.
pub const ACK: u64 = 6;
/// Cycles of a run at the least.
pub const RUN: u64 = 2;
/// From the last arrival to the release of a barrier, a stage of the tree: up and down.
pub const BARRIER_STAGE: u64 = 2;
