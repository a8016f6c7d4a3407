//! Golden model of `your_nic`, written from the contract in its header, and the ports that both have.

use tsunagi::harness::host_port::{HostPortsIn, HostPortsOut};
use verilated::{Context, Verilated};

/// Addresses of the two registers.
pub const SEND: u8 = 0;
pub const RECEIVED: u8 = 4;

/// What a NIC shows before an edge; `tx` is the word on the outgoing link.
#[derive(Debug, PartialEq)]
pub struct Outputs {
    pub host: HostPortsIn,
    pub irq: bool,
    pub tx: Option<u32>,
    pub rx_ready: bool,
    pub busy: bool,
}

/// A NIC, golden or verilated: all that the machine and the bench know of it.
pub trait Nic {
    /// A NIC after reset.
    fn new(context: &Context, name: &str) -> Self;

    fn outputs(&self) -> Outputs;

    /// An edge; `rx` is the word on the incoming link.
    fn edge(&mut self, host: &HostPortsOut, tx_ready: bool, rx: Option<u32>);

    /// The verilated unit, for a wave.
    fn unit(&self) -> Option<&dyn Verilated> {
        None
    }
}

#[derive(Default)]
pub struct Golden {
    host: HostPortsIn,
    sending: Option<u32>,
    received: Option<u32>,
}

impl Nic for Golden {
    fn new(_: &Context, _: &str) -> Golden {
        Golden::default()
    }

    fn outputs(&self) -> Outputs {
        let req_ready = !self.host.rsp_valid;
        Outputs {
            host: HostPortsIn { req_ready, ..self.host },
            irq: self.received.is_some(),
            tx: self.sending,
            rx_ready: self.received.is_none(),
            busy: self.host.rsp_valid || self.sending.is_some(),
        }
    }

    fn edge(&mut self, host: &HostPortsOut, tx_ready: bool, rx: Option<u32>) {
        let shown = self.outputs();
        if host.req_valid && shown.host.req_ready {
            let value = match (host.req_addr, host.req_write, host.req_wstrb) {
                (SEND, true, 0xf) if self.sending.is_none() => self.sending.replace(host.req_wdata).or(Some(0)),
                (RECEIVED, false, _) => self.received.take(),
                _ => None,
            };
            self.host.rsp_valid = true;
            (self.host.rsp_rdata, self.host.rsp_err) = (value.unwrap_or(0), value.is_none());
        } else if host.rsp_ready {
            self.host.rsp_valid = false;
        }
        if shown.tx.is_some() && tx_ready {
            self.sending = None;
        }
        if shown.rx_ready {
            self.received = rx;
        }
    }
}
