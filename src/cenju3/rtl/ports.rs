//! The ports of one node as the machine drives them, whichever RTL is behind them, and the traits of that RTL.

use crate::Picos;
use crate::harness::backend::{EventKind, HostReq, HostRsp};
use crate::harness::memory::{MemPortsIn, MemPortsOut};
use crate::harness::wave::Trace;

/// What drives a NIC's IO-clock side before an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusIn {
    pub req_valid: bool,
    pub req_write: bool,
    pub req_addr: u8,
    pub req_wdata: u32,
    pub req_wstrb: u8,
    pub rsp_ready: bool,
    pub mem: MemPortsOut,
}

/// What a NIC's IO-clock side drives before an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusOut {
    pub req_ready: bool,
    pub rsp_valid: bool,
    pub rsp_rdata: u32,
    pub rsp_err: bool,
    pub mem: MemPortsIn,
}

/// Which clocks rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    pub io: bool,
    pub net: bool,
}

/// The RTL of a whole machine: all nodes and the network between them, with the host and memory ports of each node open.
pub trait Hardware {
    /// Bytes of a bus word.
    fn bus_bytes(&self) -> u32;

    fn nodes(&self) -> usize;

    /// Holds all resets and lets both clocks run until everything has settled.
    fn reset(&mut self);

    /// The node's NIC says it is busy, or something valid stands at its link: its next edges count.
    fn stirs(&self, node: usize) -> bool;

    /// Something in the network outside the NICs may change at the next net edge.
    fn network_stirs(&self) -> bool;

    fn bus_out(&self, node: usize) -> BusOut;

    fn set_bus_in(&mut self, node: usize, bus: &BusIn);

    fn irq(&self, node: usize) -> bool;

    /// The instant `at`, at which the clocks of `edges` rise. Nodes with `awake` false may be left out. `event` is told, by node, of the flits that
    /// the edge commits, where the RTL shows them.
    fn edge(&mut self, at: Picos, edges: Edges, awake: &[bool], event: &mut impl FnMut(usize, EventKind));

    /// Words in the node's receive FIFO.
    fn fifo_words(&self, node: usize) -> u32;

    /// One line for each node or link that is not idle.
    fn report(&self) -> Vec<String>;

    /// From now on there is junk, from this seed, on all lines whose words do not count.
    fn set_junk(&self, seed: u64);

    /// From now on, shows itself in this trace.
    fn set_trace(&mut self, trace: Trace);

    /// A wave is open: every edge is shown, so none is left out.
    fn wave_is_open(&self) -> bool;
}

/// One access at a time on a NIC's host port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostPort {
    #[default]
    Idle,
    /// Offered, not yet taken.
    Asking(HostReq),
    /// Taken, not yet answered.
    Waiting(HostReq),
    Answered(HostRsp),
}

impl HostPort {
    pub fn start(&mut self, req: HostReq) {
        assert_eq!(
            *self,
            HostPort::Idle,
            "a second register access before the answer of the first was taken"
        );
        *self = match req {
            HostReq::Read { .. } | HostReq::Write { .. } => HostPort::Asking(req),
            // There are registers only.
            HostReq::Load { .. } | HostReq::Store { .. } => HostPort::Answered(HostRsp { value: 0, error: true }),
        };
    }

    pub fn take(&mut self) -> Option<HostRsp> {
        let HostPort::Answered(rsp) = *self else { return None };
        *self = HostPort::Idle;
        Some(rsp)
    }

    /// The port's edges count.
    pub fn stirs(&self) -> bool {
        matches!(self, HostPort::Asking(_) | HostPort::Waiting(_))
    }

    pub fn drive(&self, bus: &mut BusIn) {
        bus.rsp_ready = true;
        bus.req_valid = false;
        if let HostPort::Asking(req) = *self {
            bus.req_valid = true;
            match req {
                HostReq::Read { offset } => (bus.req_write, bus.req_addr) = (false, register(offset)),
                HostReq::Write { offset, value } => {
                    (bus.req_write, bus.req_addr) = (true, register(offset));
                    (bus.req_wdata, bus.req_wstrb) = (value, 0xf);
                }
                HostReq::Load { .. } | HostReq::Store { .. } => unreachable!("refused at the start"),
            }
        }
    }

    /// An IO edge, with what the NIC drove before it.
    pub fn step(&mut self, from: &BusOut, event: &mut impl FnMut(EventKind)) {
        match *self {
            HostPort::Asking(req) if from.req_ready => {
                if let HostReq::Write { offset, value } = req {
                    event(EventKind::RegWrite { offset, value });
                }
                *self = HostPort::Waiting(req);
            }
            HostPort::Waiting(_) if from.rsp_valid => {
                *self = HostPort::Answered(HostRsp {
                    value: from.rsp_rdata.into(),
                    error: from.rsp_err,
                });
            }
            _ => {}
        }
    }
}

fn register(offset: u32) -> u8 {
    u8::try_from(offset).unwrap_or_else(|_| panic!("register offset {offset:#x}: a NIC has 256 bytes of registers"))
}
