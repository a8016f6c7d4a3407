//! Golden model of the expansion of a message to all cells before it is sent.

use crate::ap1000p::regs::*;

/// The messages of one queue's message for the send controller of requests, on a torus with this many columns. A
/// message to all cells becomes one per column; any other stays as it is. The send flag counts after the last message,
/// if none was cut short.
pub fn spread(message: &[u32], columns: u8) -> Vec<Vec<u32>> {
    let kind = message[0] >> COMMAND_HEAD_KIND_SHIFT;
    let all = PAGE_ROW_MASK | PAGE_COLUMN_MASK;
    if kind & (PAGE_DIRECT_MASK | PAGE_KIND_MASK | all) != KIND_PUT | all {
        return vec![message.to_vec()];
    }
    let column = |away: u8| {
        let mut words = message.to_vec();
        words[0] = (kind & !PAGE_ROW_MASK) << COMMAND_HEAD_KIND_SHIFT
            | u32::from(away) << COMMAND_HEAD_DX_SHIFT
            | message[0] & COMMAND_HEAD_DY_MASK;
        words
    };
    (0..columns).map(column).collect()
}
