//! Where things stand in a node's memory and in the NIA's tables.

use crate::cppacs::regs::SIZE_TCW;

/// The process that the kernel is, and the user's.
pub const KERNEL: u32 = 0;
pub const USER: u32 = 1;

/// The kernel's TCW.
pub(super) const KERNEL_TCWS: u32 = 0;
/// The kernel's area: the message that it sends, and its send flag.
pub(super) const KERNEL_AREA: u32 = 0x1000;
pub(super) const KERNEL_AREA_BYTES: u32 = 0x1000;
pub(super) const KERNEL_FLAG: u32 = 0x800;
/// Receive flags of all fields.
pub(super) const FLAGS: u32 = 0x2000;
/// The user's TCWs: those of sends, and behind them those that programs made.
pub(super) const TCWS: u32 = 0x4000;
pub(super) const SEND_TCWS: u32 = 128;
pub(super) const ALL_TCWS: u32 = 256;
/// The ring of normal mode.
pub(super) const RING: u32 = 0x4_0000;
pub(super) const RING_SLOT_LOG: u32 = 12;
pub(super) const RING_SLOTS_LOG: u32 = 7;
/// The user's area. It begins with the send flags, one for each TCW.
pub const AREA: u32 = RING + (1 << (RING_SLOT_LOG + RING_SLOTS_LOG));
pub(super) const OBJECTS: u32 = 0x1000;

/// Rights from here on are programs'; the first one is the kernel's.
pub(super) const FIRST_RIGHT: u32 = 8;
/// Fields of objects for all nodes, by number, and from where on fields are given out.
pub(super) const ALL_FIELDS: u32 = 8;
pub(super) const FIRST_FIELD: u32 = 16;
/// Objects of this name have the same fields on all nodes.
pub(super) const ALL_NAME: &str = "all:";
/// The key of each kernel's ring.
pub(super) const KERNEL_KEY: u32 = 1;

/// Physical address of a user's TCW.
pub(super) fn tcw(number: u32) -> u32 {
    TCWS + SIZE_TCW * number
}

/// Offset of a TCW's send flag in the user's area.
pub(super) fn send_flag(tcw: u32) -> u32 {
    8 * tcw
}

/// Physical address of a field's receive flag.
pub(super) fn flag(field: u32) -> u32 {
    FLAGS + 8 * field
}
