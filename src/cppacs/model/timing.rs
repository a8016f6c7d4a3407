//! The machine's own cycles in the model: none of them is a parameter, as the RTL has them by its design. They are
//! the RTL's, from the events of a machine of two nodes.

/// From link to link through an exchanger, from its processor and from a crossbar, the latter on either channel, and
/// through a crossbar.
pub const EXCHANGER_PU: u64 = 4;
pub const EXCHANGER: u64 = 5;
pub const EXCHANGER_ACK: u64 = 4;
pub const CROSSBAR: u64 = 4;
/// Room that a broadcast needs behind each output, and its longest worm.
pub const BROADCAST_WORDS: u64 = 256;

/// From an access of the host to its effect, and more until its answer: of a register, a kick, a table's word, and of
/// what is refused.
pub const HOST: u64 = 1;
pub const ANSWER: u64 = 5;
pub const ANSWER_KICK: u64 = 6;
pub const ANSWER_TABLE: u64 = 10;
pub const ANSWER_REFUSED: u64 = 2;
/// From a kick to the words unit.
pub const KICK: u64 = 8;
/// Into the words unit, and from a memory port to memory.
pub const WORDS: u64 = 2;
pub const MUX: u64 = 3;
/// From a small write's command to its first word.
pub const WRITE: u64 = 2;
/// From the last word of a TCW to its descriptor.
pub const CHECKS: u64 = 6;
/// From a descriptor, and from a request that is answered, to the first word on the link.
pub const SEND: u64 = 6;
pub const SEND_ANSWER: u64 = 17;
/// From the last word of memory to the end of its worm: its sum has left.
pub const SUM: u64 = 7;
/// From there on for the sender of the acknowledge channel: with data of memory from the last word on, and without.
pub const SEND_ACK: u64 = 4;
pub const SEND_REQUEST: u64 = 13;
/// From the end of a worm to the next one of the transfer, and of another transfer.
pub const NEXT_WORM: u64 = 0;
pub const NEXT_TRANSFER: u64 = 3;
/// From a header's first word until its field is looked up, and data are written.
pub const HEADER: u64 = 18;
/// Cycles that the receiver takes no word for each worm.
pub const RECEIVE: u64 = 1;
/// From the end of a worm to its last write command.
pub const COLLECT: u64 = 5;
/// From a burst's last word in memory until its place is free, without the memory's latency.
pub const SETTLE: u64 = 5;
/// From the last response of a transfer to its flag: the count, and a second look at the field.
pub const COUNT: u64 = 15;
/// From the end of a stored worm until it is acted on: the sum, the field.
pub const ACK: u64 = 9;
/// Cycles of a run at the least.
pub const RUN: u64 = 2;
/// Of a barrier's tree: nodes below a point of it; from the last arrival to the release, and more for each level.
pub const BARRIER_RADIX: u64 = 4;
pub const BARRIER: u64 = 2;
pub const BARRIER_LEVEL: u64 = 2;
