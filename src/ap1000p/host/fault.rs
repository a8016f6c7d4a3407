//! Faults that the hardware reported to the system of a cell, and that the system could not mend.

use std::cell::RefCell;

use thiserror::Error;

use crate::harness::fault;

/// A fault that the system could not mend.
pub type Fault = fault::Fault<FaultKind>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// The process may not use the address in this way (reason: `FAULT_…`); the transfer was given up.
    #[error(
        "no translation of {addr:#010x} in context {context} (reason {reason}, unit {unit}): the transfer was given up"
    )]
    Address {
        unit: usize,
        reason: u32,
        context: u32,
        addr: u32,
    },
    /// A message was sent to a context that has no ring buffer; it was given up.
    #[error("a message of {slots} slots was given up: context {context} has no ring buffer")]
    NoRing { context: u32, slots: u32 },
    /// A message found its ring buffer full, and the system's memory for overflow, too; it was given up.
    #[error(
        "a message of {slots} slots for context {context} was given up: its ring buffer is full, and so is the \
         system's memory for overflow; receive sooner, or set overflow_bytes higher"
    )]
    RingFull { context: u32, slots: u32 },
    /// A store or a command was refused (cause: `REFUSED_…`).
    #[error("{count} stores or commands were refused, the last one's page code {page:#06x}, cause {cause}")]
    Refused { count: u32, page: u32, cause: u32 },
    /// A received message was not executed (why: `BROKEN_…`).
    #[error("a message of cell ({x}, {y}) of kind {kind:#06x} was not executed, why {why}")]
    Broken { x: u32, y: u32, kind: u32, why: u32 },
    /// Any other cause, as its bit in `CAUSE`.
    #[error("cause {cause:#x}")]
    Other { cause: u32 },
}

/// Collects the faults of all cells.
#[derive(Default)]
pub(super) struct Faults(pub RefCell<Vec<Fault>>);
