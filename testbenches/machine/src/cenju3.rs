//! Cenju-3 as one top.

use verilated::{Context, Input as _, Port as _, Verilated};

use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::NET;
use tsunagi::cenju3::window::{RECEIVE_FIFO, register};
use tsunagi::harness::backend::{HostReq, HostRsp};
use tsunagi::harness::event::EventKind;
use tsunagi::harness::host_port::{HostPort, HostPortsIn, HostPortsOut};
use tsunagi::harness::machine::{Edges, Hardware};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use tsunagi::net::fabric::Flit;
use tsunagi::net::link::LinkMonitor;
use tsunagi::{Cycle, NodeId};

use crate::part::{get, set, set_bit};
use crate::rtl::{Cenju3MachinePorts as _, Cenju3MachineUnit};

/// One verilated model of all NICs and switches: each port has a part for each node.
pub struct SingleTop<U> {
    context: Context,
    unit: U,
    hosts: Vec<HostPort>,
    tx: Vec<LinkMonitor>,
    rx: Vec<LinkMonitor>,
}

impl<U: Cenju3MachineUnit> SingleTop<U> {
    /// The hardware with the idle time between packets of `config`; the rest is wired in.
    pub fn new(config: &Config) -> SingleTop<U> {
        let context = Context::new();
        let unit = U::named(&context, "machine");
        unit.idle_i().set(config.sync_idle.into());
        SingleTop {
            unit,
            context,
            hosts: vec![HostPort::Idle; U::NODES],
            tx: vec![LinkMonitor::outgoing(); U::NODES],
            rx: vec![LinkMonitor::incoming(); U::NODES],
        }
    }

    fn set_reset(&self, reset: bool) {
        self.unit.io_rst_i().set_bool(reset);
        self.unit.net_rst_i().set_bool(reset);
    }

    fn nic_busy(&self, node: usize) -> bool {
        self.unit.io_busy_o().bit(node) || self.unit.net_busy_o().bit(node)
    }

    fn network_busy(&self) -> bool {
        self.unit.switch_busy_o().bit(0)
    }

    fn rise(&self, clocks: u64) {
        self.unit.junk();
        self.unit.rise(clocks);
    }

    /// What the link out of the node carries, and whether it is taken.
    fn sent(&self, node: usize) -> (Option<Flit>, bool) {
        let flit = || Flit {
            word: get(self.unit.tx_data_o(), node, 16),
            last: self.unit.tx_last_o().bit(node),
        };
        let valid = self.unit.tx_valid_o().bit(node);
        (valid.then(flit), self.unit.tx_ready_o().bit(node))
    }

    /// The same of the link into the node.
    fn comes(&self, node: usize) -> (Option<Flit>, bool) {
        let flit = || Flit {
            word: get(self.unit.rx_data_o(), node, 16),
            last: self.unit.rx_last_o().bit(node),
        };
        let valid = self.unit.rx_valid_o().bit(node);
        (valid.then(flit), self.unit.rx_ready_o().bit(node))
    }

    fn host_ports(&self, node: usize) -> HostPortsIn {
        let unit = &self.unit;
        HostPortsIn {
            req_ready: unit.host_req_ready_o().bit(node),
            rsp_valid: unit.host_rsp_valid_o().bit(node),
            rsp_rdata: get(unit.host_rsp_rdata_o(), node, 32) as u32,
            rsp_err: unit.host_rsp_err_o().bit(node),
        }
    }

    fn set_host_ports(&self, node: usize, host: &HostPortsOut) {
        let unit = &self.unit;
        set_bit(unit.host_req_valid_i(), node, host.req_valid);
        set_bit(unit.host_req_write_i(), node, host.req_write);
        set(unit.host_req_addr_i(), node, 8, host.req_addr.into());
        set(unit.host_req_wdata_i(), node, 32, host.req_wdata.into());
        set(unit.host_req_wstrb_i(), node, 4, host.req_wstrb.into());
        set_bit(unit.host_rsp_ready_i(), node, host.rsp_ready);
    }
}

impl<U: Cenju3MachineUnit> Hardware for SingleTop<U> {
    fn nodes(&self) -> usize {
        U::NODES
    }

    fn bus_bytes(&self) -> u32 {
        U::BUS_W as u32 / 8
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        vec![&self.unit]
    }

    fn reset(&mut self) {
        for node in 0..U::NODES {
            self.set_host_ports(node, &HostPortsOut::default());
            self.set_memory_ports(node, &MemPortsOut::default());
        }
        self.set_reset(true);
        (0..8).for_each(|_| self.rise(0b11));
        self.set_reset(false);
        for _ in 0..1024 {
            self.rise(0b11);
            if !self.network_busy() && !(0..U::NODES).any(|node| self.nic_busy(node)) {
                return;
            }
        }
        panic!("the machine is busy 1024 cycles after its reset");
    }

    fn stirs(&self, node: usize) -> bool {
        self.hosts[node].stirs() || self.nic_busy(node) || self.comes(node).0.is_some()
    }

    fn network_stirs(&self) -> bool {
        self.network_busy()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        self.hosts[node].begin(register(req));
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.hosts[node].take()
    }

    fn host_edge(&mut self, node: usize, _cycle: Cycle, event: impl FnMut(EventKind)) {
        self.set_host_ports(node, &self.hosts[node].ports());
        let from = self.host_ports(node);
        self.hosts[node].edge(&from, event);
    }

    fn memory_ports(&self, node: usize) -> MemPortsIn {
        crate::mem_ports!(self.unit, node, U::BUS_W)
    }

    fn set_memory_ports(&mut self, node: usize, mem: &MemPortsOut) {
        crate::set_mem_ports!(self.unit, node, U::BUS_W, mem);
    }

    fn irq(&self, node: usize) -> bool {
        self.unit.irq_o().bit(node)
    }

    fn edge(&mut self, edges: Edges, _awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        for at in (0..U::NODES).filter(|_| edges.rises(NET)) {
            if let (Some(flit), true) = self.sent(at) {
                self.tx[at].pass(flit, |kind| event(at, kind));
            }
            if let (Some(flit), true) = self.comes(at) {
                self.rx[at].pass(flit, |kind| event(at, kind));
            }
        }
        self.rise(edges.rising);
        assert_eq!(
            self.unit.unroutable_o().get(),
            0,
            "each digit of a route names an output"
        );
    }

    fn gauge(&self, node: usize, name: &str) -> Option<u32> {
        let words = || get(self.unit.rx_level_o(), node, 16) as u32;
        (name == RECEIVE_FIFO).then(|| words() * self.bus_bytes())
    }

    fn report(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for at in 0..U::NODES {
            let node = NodeId(at as u16);
            let waits = |link| matches!(link, (Some(_), false));
            for (is_so, what) in [
                (self.nic_busy(at), "the NIC is busy"),
                (waits(self.sent(at)), "a flit waits for the network"),
                (
                    waits(self.comes(at)),
                    "a flit waits for the NIC's receive side, which is full or halted",
                ),
            ] {
                lines.extend(is_so.then(|| format!("{node}: {what}")));
            }
        }
        lines.extend(self.network_busy().then(|| "the network is busy".to_string()));
        lines
    }
}
