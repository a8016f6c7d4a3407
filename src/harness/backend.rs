//! One machine as host software and experiments see it, whichever way it is made: verilated RTL or golden model.

use std::fmt;

use crate::faults::Fault;
use crate::memory::Memory;
use crate::{NodeId, Picos};

pub use crate::event::{Event, EventKind};

/// One access of a host on its node's bus, at a physical address outside the node's own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostReq {
    /// In bytes.
    pub addr: u64,
    /// How many bytes: 1, 2, 4 or 8.
    pub bytes: u8,
    /// The value to write, in the lowest bytes; `None`: a read.
    pub write: Option<u64>,
}

impl HostReq {
    /// Reads a register of 32 bits.
    pub fn read(addr: u64) -> HostReq {
        let (bytes, write) = (4, None);
        HostReq { addr, bytes, write }
    }

    /// Writes a register of 32 bits.
    pub fn write(addr: u64, value: u32) -> HostReq {
        let (bytes, write) = (4, Some(value.into()));
        HostReq { addr, bytes, write }
    }
}

impl fmt::Display for HostReq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostReq { addr, bytes, write } = self;
        match write {
            None => write!(f, "a read of {bytes} bytes at {addr:#x}"),
            Some(value) => write!(f, "a write of {value:#x}, {bytes} bytes, at {addr:#x}"),
        }
    }
}

/// The response to a [`HostReq`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRsp {
    /// The bytes read, in the lowest ones; 0 for a write.
    pub value: u64,
    /// The hardware refused the access, or could not do it.
    pub error: bool,
}

/// What a node's NIC is doing, as its ports show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doing {
    /// A packet is leaving.
    pub sends: bool,
    /// A packet is coming.
    pub receives: bool,
    /// A command of the memory is under way.
    pub memory: bool,
}

impl Doing {
    /// All names, for a table.
    pub const NAMES: [&str; 8] = [
        "nothing",
        "memory",
        "sends",
        "sends, memory",
        "receives",
        "receives, memory",
        "sends, receives",
        "all",
    ];

    pub fn name(self) -> &'static str {
        let Doing {
            sends,
            receives,
            memory,
        } = self;
        Doing::NAMES[usize::from(memory) | usize::from(sends) << 1 | usize::from(receives) << 2]
    }
}

/// A machine on simulated time. It moves only in [`advance`](Backend::advance).
pub trait Backend {
    fn now(&self) -> Picos;

    fn nodes(&self) -> usize;

    /// The next instant, later than `now`, at which the hardware may change by itself or answer; `None` when it is
    /// quiescent.
    fn next_event(&self) -> Option<Picos>;

    /// Runs the hardware up to and including `to`, which is at most `next_event()` when there is one.
    fn advance(&mut self, to: Picos);

    /// Starts an access at `now`. One at a time per node: starting a second before the answer is taken is a bug of the
    /// caller.
    fn host_start(&mut self, node: NodeId, req: HostReq);

    /// Takes the answer of the access in flight, once there is one.
    fn host_take(&mut self, node: NodeId) -> Option<HostRsp>;

    /// The interrupt line of the node.
    fn irq(&self, node: NodeId) -> bool;

    /// What the node's NIC is doing; nothing where there are no such ports.
    fn doing(&self, _node: NodeId) -> Doing {
        Doing::default()
    }

    /// A level inside the node, by the name that the machine gives it, such as bytes in a FIFO; `None` where there is
    /// no such gauge.
    fn gauge(&self, _node: NodeId, _name: &str) -> Option<u32> {
        None
    }

    /// A fault of the node's surroundings begins now. False where this backend has no such part; a memory that
    /// fails, and software, are the caller's.
    fn inject(&mut self, _node: NodeId, _fault: &Fault) -> bool {
        false
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

    fn doing(&self, node: NodeId) -> Doing {
        (**self).doing(node)
    }

    fn inject(&mut self, node: NodeId, fault: &Fault) -> bool {
        (**self).inject(node, fault)
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
