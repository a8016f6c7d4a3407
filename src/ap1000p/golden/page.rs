//! The meaning of a store to a page of `ap1000p_command`, from the page code alone.

use super::{Label, Queue};
use crate::ap1000p::regs::*;

/// Owner of a command; each owner has a queue and an open command of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    User,
    System,
}

impl Owner {
    pub const ALL: [Owner; 2] = [Owner::User, Owner::System];

    pub fn queue(self) -> Queue {
        match self {
            Owner::User => Queue::User,
            Owner::System => Queue::System,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// A word of a command of this owner; broadcast along X, along Y.
    Command { owner: Owner, broadcast: [bool; 2] },
    /// A word for a queue, unchanged; `label` is its position in through mode.
    Direct { queue: Queue, end: bool, label: Label },
}

/// The page code of a direct word of this queue; `label` is its position in through mode.
pub fn direct(queue: Queue, end: bool, label: Label) -> u32 {
    let number = match queue {
        Queue::System => DIRECT_SYSTEM,
        Queue::User => DIRECT_USER,
        Queue::Access => DIRECT_ACCESS,
        Queue::GetReply => DIRECT_GET_REPLY,
        Queue::RemoteReply => DIRECT_REMOTE_REPLY,
    };
    let label = u32::from(label.number) << DIRECT_PAGE_NUMBER_SHIFT | u32::from(label.index) << DIRECT_PAGE_INDEX_SHIFT;
    PAGE_DIRECT_MASK | number | label | if end { PAGE_END_MASK } else { 0 }
}

impl Page {
    /// `None`: no such page.
    pub fn decode(code: u16) -> Option<Page> {
        let bits = |mask: u32| code & mask as u16;
        let has = |mask: u32| bits(mask) != 0;
        let kind = u32::from(bits(PAGE_KIND_MASK));
        if has(PAGE_DIRECT_MASK) {
            let queue = match kind {
                DIRECT_SYSTEM => Queue::System,
                DIRECT_USER => Queue::User,
                DIRECT_ACCESS => Queue::Access,
                DIRECT_GET_REPLY => Queue::GetReply,
                DIRECT_REMOTE_REPLY => Queue::RemoteReply,
                _ => return None,
            };
            let label = DIRECT_PAGE_NUMBER_MASK | DIRECT_PAGE_INDEX_MASK;
            let named = PAGE_DIRECT_MASK | PAGE_END_MASK | PAGE_KIND_MASK | label;
            let direct = Page::Direct {
                queue,
                end: has(PAGE_END_MASK),
                label: Label {
                    number: (bits(DIRECT_PAGE_NUMBER_MASK) >> DIRECT_PAGE_NUMBER_SHIFT) as u8,
                    index: (bits(DIRECT_PAGE_INDEX_MASK) >> DIRECT_PAGE_INDEX_SHIFT) as u8,
                },
            };
            return (bits(!named) == 0).then_some(direct);
        }
        // The options of each kind, beside the owner.
        let spaces = PAGE_AS_SEND_MASK | PAGE_AS_RECEIVE_MASK;
        let broadcast = PAGE_ROW_MASK | PAGE_COLUMN_MASK;
        // A broadcast to all sends one message per column, and the first would empty the registers.
        let from = if bits(broadcast) == broadcast as u16 {
            0
        } else {
            PAGE_AS_SEND_MASK
        };
        let with = match kind {
            // A ring buffer is no communication register.
            KIND_PUT if has(PAGE_SEND_MASK) => PAGE_SEND_MASK | from | broadcast,
            KIND_PUT => from | PAGE_AS_RECEIVE_MASK | broadcast,
            KIND_GET => spaces,
            KIND_CSI | KIND_FOP => 0,
            _ => return None,
        };
        let owner = if has(PAGE_SYSTEM_MASK) {
            Owner::System
        } else {
            Owner::User
        };
        let broadcast = [has(PAGE_ROW_MASK), has(PAGE_COLUMN_MASK)];
        (bits(!(with | PAGE_SYSTEM_MASK | PAGE_KIND_MASK)) == 0).then_some(Page::Command { owner, broadcast })
    }
}
