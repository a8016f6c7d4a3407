//! CP-PACS of 2x2x2 nodes as one top.

use verilated::{Context, Input as _, Port as _, Verilated};

use tsunagi::harness::backend::{HostReq, HostRsp};
use tsunagi::harness::event::EventKind;
use tsunagi::harness::host_port::Exchange;
use tsunagi::harness::machine::{Edges, Hardware};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use tsunagi::net::fabric::Flit;
use tsunagi::net::link::LinkMonitor;
use tsunagi::{Cycle, NodeId};

use crate::part::{get, set, set_bit};
use crate::rtl::{CppacsMachinePorts as _, CppacsMachineUnit};

/// Bits of a word of memory and link.
const WIDTH: usize = 32;

/// One verilated model of all nodes and crossbars: each port has a part for each node.
pub struct SingleTop<U> {
    context: Context,
    unit: U,
    hosts: Vec<Exchange<HostReq, HostRsp>>,
    /// By node and channel.
    sends: Vec<[LinkMonitor; 2]>,
    receives: Vec<[LinkMonitor; 2]>,
}

impl<U: CppacsMachineUnit> Default for SingleTop<U> {
    fn default() -> SingleTop<U> {
        let context = Context::new();
        let nodes = U::X * U::Y * U::Z;
        SingleTop {
            unit: U::named(&context, "machine"),
            context,
            hosts: vec![Exchange::Idle; nodes],
            sends: vec![[LinkMonitor::outgoing(); 2]; nodes],
            receives: vec![[LinkMonitor::incoming(); 2]; nodes],
        }
    }
}

impl<U: CppacsMachineUnit> SingleTop<U> {
    fn rise(&self) {
        self.unit.junk();
        self.unit.rise(1);
    }

    fn is_busy(&self) -> bool {
        self.unit.network_busy_o().is_set() || self.unit.busy_o().get() != 0
    }

    /// The words between a NIA and its exchanger, with their channels: that which leaves, and that which comes.
    fn words(&self, node: usize) -> [Option<(usize, Flit)>; 2] {
        let unit = &self.unit;
        let leaves = unit.link_out_valid_o().bit(node).then(|| {
            let word = get(unit.link_out_data_o(), node, WIDTH);
            let last = unit.link_out_last_o().bit(node);
            (unit.link_out_channel_o().bit(node).into(), Flit { word, last })
        });
        let comes = unit.link_in_valid_o().bit(node).then(|| {
            let word = get(unit.link_in_data_o(), node, WIDTH);
            let last = unit.link_in_last_o().bit(node);
            (unit.link_in_channel_o().bit(node).into(), Flit { word, last })
        });
        [leaves, comes]
    }
}

impl<U: CppacsMachineUnit> Hardware for SingleTop<U> {
    fn nodes(&self) -> usize {
        self.hosts.len()
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        vec![&self.unit]
    }

    fn reset(&mut self) {
        for node in 0..self.hosts.len() {
            set_bit(self.unit.host_rsp_ready_i(), node, true);
            set_bit(self.unit.host_req_valid_i(), node, false);
            set(self.unit.host_req_wstrb_i(), node, 8, 0xff);
            self.set_memory_ports(node, &MemPortsOut::default());
        }
        self.unit.rst_i().set_bool(true);
        (0..4).for_each(|_| self.rise());
        self.unit.rst_i().set_bool(false);
        for _ in 0..2048 {
            self.rise();
            if !self.is_busy() {
                return;
            }
        }
        panic!("the machine is busy 2048 cycles after its reset");
    }

    fn stirs(&self, node: usize) -> bool {
        let words = self.words(node);
        self.hosts[node].stirs() || self.unit.busy_o().bit(node) || words.iter().any(Option::is_some)
    }

    fn network_stirs(&self) -> bool {
        self.unit.network_busy_o().is_set()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        self.hosts[node].start(req);
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.hosts[node].take()
    }

    fn host_edge(&mut self, node: usize, _cycle: Cycle, mut event: impl FnMut(EventKind)) {
        let (unit, offer) = (&self.unit, self.hosts[node].offer());
        set_bit(unit.host_req_valid_i(), node, offer.is_some());
        if let Some(req) = offer {
            set_bit(unit.host_req_write_i(), node, req.write.is_some());
            set(unit.host_req_addr_i(), node, 17, req.addr);
            set(unit.host_req_wdata_i(), node, 64, req.write.unwrap_or(0));
        }
        let response = unit.host_rsp_valid_o().bit(node).then(|| HostRsp {
            value: get(unit.host_rsp_rdata_o(), node, 64),
            error: unit.host_rsp_err_o().bit(node),
        });
        let taken = self.hosts[node].step(unit.host_req_ready_o().bit(node), response);
        if let Some((value, offset)) = taken.and_then(|req| Some((req.write? as u32, req.addr as u32))) {
            event(EventKind::RegWrite { offset, value });
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

    fn edge(&mut self, _edges: Edges, _awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        for at in 0..self.hosts.len() {
            let [leaves, comes] = self.words(at);
            if let Some((channel, flit)) = leaves {
                self.sends[at][channel].pass(flit, |kind| event(at, kind));
            }
            if let Some((channel, flit)) = comes {
                self.receives[at][channel].pass(flit, |kind| event(at, kind));
            }
        }
        self.rise();
    }

    fn report(&self) -> Vec<String> {
        let busy = (0..self.hosts.len()).filter(|&at| self.unit.busy_o().bit(at));
        let mut lines: Vec<String> = busy.map(|at| format!("{}: it is busy", NodeId(at as u16))).collect();
        lines.extend(self.network_stirs().then(|| "the network is busy".to_owned()));
        lines
    }
}
