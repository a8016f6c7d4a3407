//! Golden models of the RTL blocks, each under the name of its block.

pub mod access;
pub mod acks;
pub mod address_runs;
pub mod aside;
pub mod bif;
pub mod broadcast;
pub mod command;
pub mod creg;
pub mod mmu;
pub mod page;
pub mod queues;
pub mod receive;
pub mod ring;
pub mod send;
pub mod window;
pub mod word;
pub mod wtp;

use crate::ap1000p::regs::*;
use crate::net::torus::Class;

/// Position of a word in its queue, as a spill element and a direct page state it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Number of its message, modulo 8.
    pub number: u8,
    /// Its place in the message, 0 to 15.
    pub index: u8,
}

impl Label {
    const NUMBERS: u8 = (SPILL_TAG_NUMBER_MASK >> SPILL_TAG_NUMBER_SHIFT) as u8;

    /// The position of the following word.
    pub fn next(self, end: bool) -> Label {
        if end {
            Label {
                number: (self.number + 1) & Label::NUMBERS,
                index: 0,
            }
        } else {
            Label {
                index: (self.index + 1).min(MESSAGE_WORDS as u8 - 1),
                ..self
            }
        }
    }
}

/// A queue of messages to be sent, numbered as in a spill element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Queue {
    System = QUEUE_SYSTEM as u8,
    Access = QUEUE_ACCESS as u8,
    User = QUEUE_USER as u8,
    RemoteReply = QUEUE_REMOTE_REPLY as u8,
    GetReply = QUEUE_GET_REPLY as u8,
}

impl Queue {
    /// By number.
    pub const ALL: [Queue; QUEUES as usize] = [
        Queue::System,
        Queue::Access,
        Queue::User,
        Queue::RemoteReply,
        Queue::GetReply,
    ];
    /// By priority, the first one first.
    pub const BY_PRIORITY: [Queue; QUEUES as usize] = [
        Queue::RemoteReply,
        Queue::Access,
        Queue::System,
        Queue::GetReply,
        Queue::User,
    ];

    /// From one-hot.
    pub fn from_bit(bits: u8) -> Option<Queue> {
        Queue::ALL.into_iter().find(|queue| queue.bit() == bits)
    }

    pub fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The class of its messages, which selects the send controller.
    pub fn class(self) -> Class {
        match self {
            Queue::RemoteReply | Queue::GetReply => Class::Reply,
            Queue::System | Queue::Access | Queue::User => Class::Request,
        }
    }
}

/// A word of a message on its way to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub data: u32,
    /// Whether it is the last word of its message.
    pub end: bool,
}
