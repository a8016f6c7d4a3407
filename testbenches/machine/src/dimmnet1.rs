//! DIMMnet-1 as one top.

use verilated::{Context, Input as _, Port as _, Verilated};

use tsunagi::dimmnet1::rtl::LINK;
use tsunagi::dimmnet1::rtl::host_port::{CardPorts, HostPort};
use tsunagi::dimmnet1::window::CardAccess;
use tsunagi::harness::backend::{HostReq, HostRsp};
use tsunagi::harness::event::EventKind;
use tsunagi::harness::machine::{Edges, Hardware};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use tsunagi::net::fabric::Flit;
use tsunagi::net::link::LinkMonitor;
use tsunagi::{Cycle, NodeId};

use crate::part::{get, set, set_bit};
use crate::rtl::{Dimmnet1MachinePorts as _, Dimmnet1MachineUnit};

/// Bits of a word.
const WIDTH: usize = 64;

/// One verilated model of all cards and the switch: each port has a part for each node.
pub struct SingleTop<U> {
    context: Context,
    unit: U,
    hosts: Vec<HostPort>,
    tx: Vec<LinkMonitor>,
    rx: Vec<LinkMonitor>,
}

impl<U: Dimmnet1MachineUnit> Default for SingleTop<U> {
    fn default() -> SingleTop<U> {
        let context = Context::new();
        SingleTop {
            unit: U::named(&context, "machine"),
            context,
            hosts: (0..U::NODES).map(|_| HostPort::default()).collect(),
            tx: vec![LinkMonitor::outgoing(); U::NODES],
            rx: vec![LinkMonitor::incoming(); U::NODES],
        }
    }
}

impl<U: Dimmnet1MachineUnit> SingleTop<U> {
    fn set_reset(&self, reset: bool) {
        self.unit.core_rst_i().set_bool(reset);
        self.unit.link_rst_i().set_bool(reset);
    }

    fn card_busy(&self, node: usize) -> bool {
        self.unit.core_busy_o().bit(node) || self.unit.link_busy_o().bit(node)
    }

    fn network_busy(&self) -> bool {
        self.unit.switch_busy_o().is_set()
    }

    fn rise(&self, clocks: u64) {
        self.unit.junk();
        self.unit.rise(clocks);
    }

    fn rest(&self) {
        for _ in 0..1024 {
            self.rise(0b11);
            if !self.network_busy() && !(0..U::NODES).any(|node| self.card_busy(node)) {
                return;
            }
        }
        panic!("the machine is busy 1024 cycles after its reset");
    }

    /// Group 0 of the switch is all nodes.
    fn set_group(&self) {
        let unit = &self.unit;
        unit.cfg_valid_i().set_bool(true);
        unit.cfg_group_i().set_bool(true);
        unit.cfg_index_i().set(0);
        unit.cfg_entry_i().set((1 << U::NODES) - 1);
        while !self.unit.cfg_ready_o().is_set() {
            self.rise(0b11);
        }
        self.rise(0b11);
        self.unit.cfg_valid_i().set_bool(false);
    }

    /// What the link out of the node carries, and whether it is taken.
    fn sent(&self, node: usize) -> (Option<Flit>, bool) {
        let flit = || Flit {
            word: get(self.unit.link_tx_data_o(), node, WIDTH),
            last: self.unit.link_tx_last_o().bit(node),
        };
        let valid = self.unit.link_tx_valid_o().bit(node);
        (valid.then(flit), self.unit.link_tx_ready_o().bit(node))
    }

    /// The same of the link into the node.
    fn comes(&self, node: usize) -> (Option<Flit>, bool) {
        let flit = || Flit {
            word: get(self.unit.link_rx_data_o(), node, WIDTH),
            last: self.unit.link_rx_last_o().bit(node),
        };
        let valid = self.unit.link_rx_valid_o().bit(node);
        (valid.then(flit), self.unit.link_rx_ready_o().bit(node))
    }

    fn drive_host(&self, node: usize) {
        let (unit, offer) = (&self.unit, self.hosts[node].offer());
        set_bit(unit.host_rsp_ready_i(), node, true);
        set_bit(unit.host_req_valid_i(), node, offer.is_some());
        if let Some(access) = offer {
            set_bit(unit.host_req_write_i(), node, access.store.is_some());
            set(unit.host_req_addr_i(), node, 24, access.offset.into());
            set(unit.host_req_wdata_i(), node, WIDTH, access.store.unwrap_or(0));
            let strobes = access.store.map_or(0, |_| access.strobes);
            set(unit.host_req_wstrb_i(), node, WIDTH / 8, strobes.into());
        }
    }

    fn host_ports(&self, node: usize) -> CardPorts {
        let unit = &self.unit;
        let response = unit.host_rsp_valid_o().bit(node).then(|| HostRsp {
            value: get(unit.host_rsp_rdata_o(), node, WIDTH),
            error: unit.host_rsp_err_o().bit(node),
        });
        CardPorts {
            ready: unit.host_req_ready_o().bit(node),
            response,
        }
    }
}

impl<U: Dimmnet1MachineUnit> Hardware for SingleTop<U> {
    fn nodes(&self) -> usize {
        U::NODES
    }

    fn bus_bytes(&self) -> u32 {
        WIDTH as u32 / 8
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        vec![&self.unit]
    }

    fn reset(&mut self) {
        for node in 0..U::NODES {
            self.drive_host(node);
            self.set_memory_ports(node, &MemPortsOut::default());
        }
        self.unit.cfg_valid_i().set_bool(false);
        self.set_reset(true);
        (0..8).for_each(|_| self.rise(0b11));
        self.set_reset(false);
        self.rest();
        self.set_group();
        self.rest();
    }

    fn stirs(&self, node: usize) -> bool {
        self.hosts[node].stirs() || self.card_busy(node) || self.comes(node).0.is_some()
    }

    fn network_stirs(&self) -> bool {
        self.network_busy()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        self.hosts[node].begin(CardAccess::of(req));
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.hosts[node].take()
    }

    fn host_edge(&mut self, node: usize, _cycle: Cycle, mut event: impl FnMut(EventKind)) {
        self.drive_host(node);
        let from = self.host_ports(node);
        self.hosts[node].edge(from, &mut event);
        let unit = &self.unit;
        if unit.retire_valid_o().bit(node) {
            event(EventKind::Retire {
                pc: get(unit.retire_pc_o(), node, 32) as u32,
                trapped: unit.retire_trap_o().bit(node),
            });
        }
    }

    fn memory_ports(&self, node: usize) -> MemPortsIn {
        crate::mem_ports!(self.unit, node, WIDTH)
    }

    fn set_memory_ports(&mut self, node: usize, mem: &MemPortsOut) {
        crate::set_mem_ports!(self.unit, node, WIDTH, mem);
    }

    fn irq(&self, node: usize) -> bool {
        self.unit.irq_o().bit(node)
    }

    fn edge(&mut self, edges: Edges, _awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        for at in (0..U::NODES).filter(|_| edges.rises(LINK)) {
            if let (Some(flit), true) = self.sent(at) {
                self.tx[at].pass(flit, |kind| event(at, kind));
            }
            if let (Some(flit), true) = self.comes(at) {
                self.rx[at].pass(flit, |kind| event(at, kind));
            }
        }
        self.rise(edges.rising);
        let dropped = self.unit.unroutable_o().get() + self.unit.refused_o().get();
        assert_eq!(dropped, 0, "each packet names a node or a group");
    }

    fn report(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for at in 0..U::NODES {
            let node = NodeId(at as u16);
            let waits = |link| matches!(link, (Some(_), false));
            for (is_so, what) in [
                (self.card_busy(at), "the card is busy"),
                (waits(self.sent(at)), "a word waits for the network"),
                (
                    waits(self.comes(at)),
                    "a word waits for the receiver, which is stopped or full",
                ),
            ] {
                lines.extend(is_so.then(|| format!("{node}: {what}")));
            }
        }
        lines.extend(self.network_busy().then(|| "the switch is busy".to_string()));
        lines
    }
}
