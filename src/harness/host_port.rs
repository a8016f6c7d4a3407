//! Ports of a unit on which a host has one access under way at a time.

use super::backend::{HostReq, HostRsp};
use super::event::EventKind;

/// A request to a unit, and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange<Q, A> {
    Idle,
    /// The request is offered, and not yet taken.
    Asking(Q),
    /// The request was taken; there is no response yet.
    Waiting(Q),
    Answered(A),
}

impl<Q: Copy, A: Copy> Exchange<Q, A> {
    /// Offers a request from the next edge on.
    ///
    /// # Panics
    /// The response of the one before was not taken.
    pub fn start(&mut self, request: Q) {
        let is_idle = matches!(self, Exchange::Idle);
        assert!(is_idle, "a second access before the response of the first was taken");
        *self = Exchange::Asking(request);
    }

    /// What is offered.
    #[inline]
    pub fn offer(&self) -> Option<Q> {
        match *self {
            Exchange::Asking(request) => Some(request),
            _ => None,
        }
    }

    /// Takes the response, once there is one.
    pub fn take(&mut self) -> Option<A> {
        let Exchange::Answered(response) = *self else {
            return None;
        };
        *self = Exchange::Idle;
        Some(response)
    }

    /// The next edges count.
    #[inline]
    pub fn stirs(&self) -> bool {
        matches!(self, Exchange::Asking(_) | Exchange::Waiting(_))
    }

    /// An edge before which the unit was `ready` and showed this response. Gives the request that it took.
    #[inline]
    pub fn step(&mut self, ready: bool, response: Option<A>) -> Option<Q> {
        match (*self, response) {
            (Exchange::Asking(request), _) if ready => {
                *self = Exchange::Waiting(request);
                return Some(request);
            }
            (Exchange::Waiting(_), Some(response)) => *self = Exchange::Answered(response),
            _ => {}
        }
        None
    }
}

/// An access of a register of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterAccess {
    /// In the unit's register block of 256 bytes.
    pub offset: u8,
    pub write: Option<u32>,
}

impl RegisterAccess {
    /// The access of a block at the physical address `base`; `None` where it is not of one whole register there.
    pub fn of(req: HostReq, base: u64) -> Option<RegisterAccess> {
        let offset = u8::try_from(req.addr.checked_sub(base)?).ok()?;
        let whole = req.bytes == 4 && offset.is_multiple_of(4);
        let write = req.write.map(|value| value as u32);
        whole.then_some(RegisterAccess { offset, write })
    }

    /// What happens when the unit takes it: `None` of a read.
    pub fn event(self) -> Option<EventKind> {
        let offset = self.offset.into();
        self.write.map(|value| EventKind::RegWrite { offset, value })
    }
}

/// A port for registers: `host_req_…` and `host_rsp_…` of a unit.
pub type HostPort = Exchange<RegisterAccess, HostRsp>;

/// What the host drives before an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPortsOut {
    pub req_valid: bool,
    pub req_write: bool,
    pub req_addr: u8,
    pub req_wdata: u32,
    /// A bit for each byte.
    pub req_wstrb: u8,
    pub rsp_ready: bool,
}

/// What the unit drives before an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPortsIn {
    pub req_ready: bool,
    pub rsp_valid: bool,
    pub rsp_rdata: u32,
    pub rsp_err: bool,
}

impl HostPort {
    /// The host's access begins at the port, or the bus refuses it at once, as there is no such register.
    pub fn begin(&mut self, access: Option<RegisterAccess>) {
        match access {
            Some(access) => self.start(access),
            None => self.refuse(),
        }
    }

    /// The bus answers with an error.
    pub fn refuse(&mut self) {
        *self = HostPort::Answered(HostRsp { value: 0, error: true });
    }

    /// What the host drives now.
    #[inline]
    pub fn ports(&self) -> HostPortsOut {
        let offer = self.offer();
        let write = offer.and_then(|access| access.write);
        HostPortsOut {
            req_valid: offer.is_some(),
            req_write: write.is_some(),
            req_addr: offer.map_or(0, |access| access.offset),
            req_wdata: write.unwrap_or(0),
            req_wstrb: if write.is_some() { 0xf } else { 0 },
            rsp_ready: true,
        }
    }

    /// An edge, with what the unit drove before it. `event` is told of a [`RegWrite`](EventKind::RegWrite) that the
    /// unit took.
    #[inline]
    pub fn edge(&mut self, from: &HostPortsIn, event: impl FnOnce(EventKind)) {
        let response = from.rsp_valid.then_some(HostRsp {
            value: from.rsp_rdata.into(),
            error: from.rsp_err,
        });
        let taken = self.step(from.req_ready, response);
        if let Some(kind) = taken.and_then(RegisterAccess::event) {
            event(kind);
        }
    }
}

/// What a verilated unit drives on its ports `host_…`.
#[macro_export]
macro_rules! host_ports {
    ($unit:expr) => {
        $crate::host_port::HostPortsIn {
            req_ready: ::verilated::Port::is_set($unit.host_req_ready_o()),
            rsp_valid: ::verilated::Port::is_set($unit.host_rsp_valid_o()),
            rsp_rdata: ::verilated::Port::get($unit.host_rsp_rdata_o()) as u32,
            rsp_err: ::verilated::Port::is_set($unit.host_rsp_err_o()),
        }
    };
}

/// Drives those ports as the host does.
#[macro_export]
macro_rules! set_host_ports {
    ($unit:expr, $host:expr) => {{
        let host: &$crate::host_port::HostPortsOut = $host;
        ::verilated::Input::set_bool($unit.host_req_valid_i(), host.req_valid);
        ::verilated::Input::set_bool($unit.host_req_write_i(), host.req_write);
        ::verilated::Input::set($unit.host_req_addr_i(), host.req_addr.into());
        ::verilated::Input::set($unit.host_req_wdata_i(), host.req_wdata.into());
        ::verilated::Input::set($unit.host_req_wstrb_i(), host.req_wstrb.into());
        ::verilated::Input::set_bool($unit.host_rsp_ready_i(), host.rsp_ready);
    }};
}
