//! What happens at the ports of a machine's nodes.

use crate::{Addr, NodeId, Picos};

/// Something that was committed at a port of a node, with the instant of the clock edge (or model event) that committed
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: Picos,
    pub node: NodeId,
    pub kind: EventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The NIC took a write of the register at this offset of its register block.
    RegWrite {
        offset: u32,
        value: u32,
    },
    /// The NIC's read command was taken by the memory.
    MemRead {
        addr: Addr,
        bytes: u32,
    },
    /// The first word of a read burst reached the NIC.
    MemReadData {
        addr: Addr,
    },
    /// The NIC's write command was taken by the memory.
    MemWrite {
        addr: Addr,
        bytes: u32,
    },
    /// A write burst is in memory and its response reached the NIC.
    MemWritten {
        addr: Addr,
        bytes: u32,
    },
    /// First flit of a packet on the NIC's outgoing link.
    TxFirst {
        head: u16,
    },
    /// Last flit of a packet on the NIC's outgoing link; `flits` in the whole packet.
    TxLast {
        flits: u32,
    },
    /// First flit of a packet taken by the NIC's receive side.
    RxFirst {
        head: u16,
    },
    RxLast {
        flits: u32,
    },
    /// The interrupt line changed.
    Irq {
        level: bool,
    },
    /// The NIC's own processor retired the instruction at this address, or took an exception there.
    Retire {
        pc: u32,
        trapped: bool,
    },
}

/// Where at a node something goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Registers,
    Reads,
    LinkOut,
    LinkIn,
    Writes,
    Interrupt,
}

/// Which part an event is of what goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Begins,
    Ends,
    Whole,
}

impl EventKind {
    /// What it is a part of, and where. A begin and its end have a common key. The origin of what reports and waves draw.
    pub fn part(self) -> Option<(Place, Part, u32)> {
        use EventKind::*;
        Some(match self {
            RegWrite { .. } => (Place::Registers, Part::Whole, 0),
            MemRead { addr, .. } => (Place::Reads, Part::Begins, addr.0),
            MemReadData { addr } => (Place::Reads, Part::Ends, addr.0),
            TxFirst { .. } => (Place::LinkOut, Part::Begins, 0),
            TxLast { .. } => (Place::LinkOut, Part::Ends, 0),
            RxFirst { .. } => (Place::LinkIn, Part::Begins, 0),
            RxLast { .. } => (Place::LinkIn, Part::Ends, 0),
            MemWrite { addr, .. } => (Place::Writes, Part::Begins, addr.0),
            MemWritten { addr, .. } => (Place::Writes, Part::Ends, addr.0),
            Irq { level: true } => (Place::Interrupt, Part::Begins, 0),
            Irq { level: false } => (Place::Interrupt, Part::Ends, 0),
            Retire { .. } => return None,
        })
    }
}
