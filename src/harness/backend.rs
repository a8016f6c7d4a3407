//! One machine as host software and experiments see it, whichever way it is made: verilated RTL or golden model.

use crate::harness::memory::Memory;
use crate::{Addr, NodeId, Picos};

/// What a host asks of its node's hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostReq {
    /// Reads a register; the offset is in bytes, 4-aligned.
    Read { offset: u32 },
    /// Writes a register.
    Write { offset: u32, value: u32 },
    /// The processor's load of 1, 2, 4 or 8 bytes at a physical address that is not its own memory's. Machines without such addresses refuse it.
    Load { addr: u64, bytes: u8 },
    /// Likewise a store, of the value's lowest bytes.
    Store { addr: u64, bytes: u8, value: u64 },
}

/// The answer to a [`HostReq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRsp {
    /// What was read, a register's 32 bits or the bytes loaded; 0 for a write or a store.
    pub value: u64,
    /// The register does not exist or cannot be written; a load ends with an access exception.
    pub error: bool,
}

/// Something that was committed at a port of a node, with the instant of the clock edge (or model event) that committed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: Picos,
    pub node: NodeId,
    pub kind: EventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The NIC took a register write.
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
}

/// A machine on simulated time. It moves only in [`advance`](Backend::advance).
pub trait Backend {
    fn now(&self) -> Picos;

    fn nodes(&self) -> usize;

    /// The next instant, later than `now`, at which the hardware may change by itself or answer; `None` when it is quiescent.
    fn next_event(&self) -> Option<Picos>;

    /// Runs the hardware up to and including `to`, which is at most `next_event()` when there is one.
    fn advance(&mut self, to: Picos);

    /// Starts a register access at `now`. One at a time per node: starting a second before the answer is taken is a bug of the caller.
    fn host_start(&mut self, node: NodeId, req: HostReq);

    /// Takes the answer of the access in flight, once there is one.
    fn host_take(&mut self, node: NodeId) -> Option<HostRsp>;

    /// The interrupt line of the node.
    fn irq(&self, node: NodeId) -> bool;

    /// A level inside the node, by the name that the machine gives it, such as bytes in a FIFO; `None` where there is no such gauge.
    fn gauge(&self, _node: NodeId, _name: &str) -> Option<u32> {
        None
    }

    /// The node's main memory (untimed: the caller charges the CPU's time).
    fn memory(&mut self, node: NodeId) -> &mut Memory;

    /// Starts or stops recording events; off at first.
    fn record(&mut self, on: bool);

    /// Takes the events recorded so far, in time order.
    fn take_events(&mut self) -> Vec<Event>;

    /// What is still in flight, for a hang report: one line per node or link that is not idle.
    fn hang_report(&self) -> String;
}

/// Any backend, chosen at run time; every call is passed on.
pub type AnyBackend = Box<dyn Backend>;

impl Backend for AnyBackend {
    fn now(&self) -> Picos {
        (**self).now()
    }

    fn nodes(&self) -> usize {
        (**self).nodes()
    }

    fn next_event(&self) -> Option<Picos> {
        (**self).next_event()
    }

    fn advance(&mut self, to: Picos) {
        (**self).advance(to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        (**self).host_start(node, req);
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        (**self).host_take(node)
    }

    fn irq(&self, node: NodeId) -> bool {
        (**self).irq(node)
    }

    fn gauge(&self, node: NodeId, name: &str) -> Option<u32> {
        (**self).gauge(node, name)
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        (**self).memory(node)
    }

    fn record(&mut self, on: bool) {
        (**self).record(on);
    }

    fn take_events(&mut self) -> Vec<Event> {
        (**self).take_events()
    }

    fn hang_report(&self) -> String {
        (**self).hang_report()
    }
}
