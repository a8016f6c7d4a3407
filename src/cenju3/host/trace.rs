//! Reports of the host software besides results: instants of its stages, and faults that the interface raised.

use std::cell::{Cell, RefCell};

use thiserror::Error;

use crate::cenju3::golden::packet::Status;
use crate::harness::fault;
use crate::{NodeId, Picos};

/// A point in the life of a transfer, in the software's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The user program calls the library.
    Call,
    /// The system call has reached the kernel (not with user-level access).
    Kernel,
    /// The write of a Header Queue Pointer is over: the Sender has work.
    Started { queue: usize },
    /// The library returns to the user program.
    Return,
    /// The kernel has recognised an interrupt.
    Recognised,
    /// Post-invalidation begins, or the invalidation for a request message.
    Invalidate { bytes: u32 },
    /// The Receiver was restarted after a halt.
    Restarted,
    /// The handler returns the CPU: the user program can see the new data.
    Served,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub at: Picos,
    pub node: NodeId,
    pub stage: Stage,
}

/// The cause of an error interrupt, as read by the kernel.
pub type Fault = fault::Fault<FaultKind>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// A header or body ring was full. The kernel emptied it and the Receiver continues; nothing is lost.
    #[error("a header or body ring was full")]
    Overflow,
    /// A packet was dropped because of its header; `word0` is word 0 of the header.
    #[error("a packet with the bad header {word0:#010x} was dropped")]
    BadHeader { word0: u32 },
    /// Memory refused a write of the Receiver.
    #[error("memory refused a write of the Receiver")]
    BusError,
    /// A packet had fewer body bytes than its header states.
    #[error("the packet with header {word0:#010x} was shorter than its length")]
    Truncated { word0: u32 },
    /// A packet had more body bytes than its header states.
    #[error("the packet with header {word0:#010x} was longer than its length")]
    Overlong { word0: u32 },
    /// The Sender refused a parcel (codes: `regs::STATUS_*`) and skipped it.
    #[error("the Sender refused a parcel of queue {queue}: {}", said(*status))]
    Send { queue: usize, status: u32 },
    /// A system message of a type that the kernel does not know, or for memory that does not exist.
    #[error("a message of {src} of type {kind} makes no sense")]
    BadMessage { src: NodeId, kind: u32 },
}

fn said(status: u32) -> String {
    Status::from_code(status).map_or_else(|| format!("status {status}"), |s| s.to_string())
}

/// Collects stamps and faults of all PEs of a machine: stamps only while switched on, faults always.
#[derive(Default)]
pub(super) struct Trace {
    pub on: Cell<bool>,
    pub stamps: RefCell<Vec<Stamp>>,
    pub faults: RefCell<Vec<Fault>>,
}

impl Trace {
    pub fn stamp(&self, at: Picos, node: NodeId, stage: Stage) {
        if self.on.get() {
            self.stamps.borrow_mut().push(Stamp { at, node, stage });
        }
    }

    pub fn fault(&self, at: Picos, node: NodeId, kind: FaultKind) {
        self.faults.borrow_mut().push(Fault { at, node, kind });
    }
}
