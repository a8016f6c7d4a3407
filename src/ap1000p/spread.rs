//! Golden model of what a message to all cells becomes before it is sent.

use super::regs::*;

/// The messages that the send controller of requests gets for one of the queues, on a torus of so many columns: for one to all
/// cells, one for each column, of which the last one has the send flag; else the message itself.
pub fn spread(message: &[u32], columns: u8) -> Vec<Vec<u32>> {
    let kind = message[0] >> COMMAND_HEAD_KIND_SHIFT;
    let all = PAGE_ROW_MASK | PAGE_COLUMN_MASK;
    if kind & (PAGE_DIRECT_MASK | PAGE_KIND_MASK | all) != KIND_PUT | all {
        return vec![message.to_vec()];
    }
    let flag = if kind & PAGE_SEND_MASK != 0 { 3 } else { 5 };
    let column = |away: u8| {
        let mut words = message.to_vec();
        words[0] = (kind & !PAGE_ROW_MASK) << COMMAND_HEAD_KIND_SHIFT
            | u32::from(away) << COMMAND_HEAD_DX_SHIFT
            | message[0] & COMMAND_HEAD_DY_MASK;
        if let Some(flag) = words.get_mut(flag).filter(|_| away + 1 < columns) {
            *flag = 0;
        }
        words
    };
    (0..columns).map(column).collect()
}
