//! Machines as one RTL top: of 16 PEs, and of 3 on a switch of 4 ports. A package of its own because the models take a minute to compile. The
//! composed machine must agree with them in every event.

/// The group "top" of `rtl/units.toml`.
pub mod rtl {
    include!(concat!(env!("OUT_DIR"), "/units.rs"));
}

use verilated::{Context, Unit, Verilated};

use rtl::{Cenju3Machine, Cenju3MachineOpen, TwinMachineOpen};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::{NET, start};
use tsunagi::cenju3::window::RECEIVE_FIFO;
use tsunagi::harness::backend::{HostReq, HostRsp};
use tsunagi::harness::event::EventKind;
use tsunagi::harness::host_port::{HostPort, HostPortsIn, HostPortsOut};
use tsunagi::harness::machine::{Edges, Hardware};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use tsunagi::net::fabric::Flit;
use tsunagi::net::link::LinkMonitor;
use tsunagi::{Cycle, NodeId};

/// A verilated machine, by node.
pub trait Top: Unit {
    const NODES: usize;
    /// Stages of switches between them.
    const STAGES: usize;
    const BUS_BYTES: usize;

    fn set_reset(&self, reset: bool);

    /// Idle cycles after a packet.
    fn set_idle(&self, cycles: u8);

    fn host_ports(&self, node: usize) -> HostPortsIn;

    fn set_host_ports(&self, node: usize, host: &HostPortsOut);

    fn memory_ports(&self, node: usize) -> MemPortsIn;

    fn set_memory_ports(&self, node: usize, mem: &MemPortsOut);

    fn irq(&self, node: usize) -> bool;

    fn nic_busy(&self, node: usize) -> bool;

    fn network_busy(&self) -> bool;

    /// What the link out of the node carries, and whether it is taken.
    fn tx(&self, node: usize) -> (Option<Flit>, bool);

    fn rx(&self, node: usize) -> (Option<Flit>, bool);

    fn fifo_words(&self, node: usize) -> u32;
}

macro_rules! top {
    ($unit:ty) => {
        impl Top for $unit {
            const NODES: usize = <$unit>::NODES;
            const STAGES: usize = <$unit>::STAGES;
            const BUS_BYTES: usize = <$unit>::BUS_W / 8;

            fn set_reset(&self, reset: bool) {
                self.io_rst_i.set_bool(reset);
                self.net_rst_i.set_bool(reset);
            }

            fn set_idle(&self, cycles: u8) {
                self.idle_i.set(cycles);
            }

            fn host_ports(&self, node: usize) -> HostPortsIn {
                HostPortsIn {
                    req_ready: self.host_req_ready_o.bit(node),
                    rsp_valid: self.host_rsp_valid_o.bit(node),
                    rsp_rdata: self.host_rsp_rdata_o.get_bits(32 * node, 32) as u32,
                    rsp_err: self.host_rsp_err_o.bit(node),
                }
            }

            fn set_host_ports(&self, node: usize, host: &HostPortsOut) {
                self.host_req_valid_i.set_bits(node, 1, host.req_valid.into());
                self.host_req_write_i.set_bits(node, 1, host.req_write.into());
                self.host_req_addr_i.set_bits(8 * node, 8, host.req_addr.into());
                self.host_req_wdata_i
                    .set_bits(32 * node, 32, host.req_wdata.into());
                self.host_req_wstrb_i.set_bits(4 * node, 4, host.req_wstrb.into());
                self.host_rsp_ready_i.set_bits(node, 1, host.rsp_ready.into());
            }

            fn memory_ports(&self, node: usize) -> MemPortsIn {
                MemPortsIn {
                    rd_cmd_valid: self.mem_rd_cmd_valid_o.bit(node),
                    rd_cmd_addr: self.mem_rd_cmd_addr_o.get_bits(32 * node, 32) as u32,
                    rd_cmd_len: self.mem_rd_cmd_len_o.get_bits(8 * node, 8) as u8,
                    rd_data_ready: self.mem_rd_data_ready_o.bit(node),
                    wr_cmd_valid: self.mem_wr_cmd_valid_o.bit(node),
                    wr_cmd_addr: self.mem_wr_cmd_addr_o.get_bits(32 * node, 32) as u32,
                    wr_cmd_len: self.mem_wr_cmd_len_o.get_bits(8 * node, 8) as u8,
                    wr_data_valid: self.mem_wr_data_valid_o.bit(node),
                    wr_data_data: self.mem_wr_data_data_o.get_bits(32 * node, 32),
                    wr_data_strb: self.mem_wr_data_strb_o.get_bits(4 * node, 4) as u8,
                    wr_data_last: self.mem_wr_data_last_o.bit(node),
                    wr_rsp_ready: self.mem_wr_rsp_ready_o.bit(node),
                }
            }

            fn set_memory_ports(&self, node: usize, mem: &MemPortsOut) {
                self.mem_rd_cmd_ready_i.set_bits(node, 1, mem.rd_cmd_ready.into());
                self.mem_rd_data_valid_i
                    .set_bits(node, 1, mem.rd_data_valid.into());
                self.mem_rd_data_data_i.set_bits(32 * node, 32, mem.rd_data_data);
                self.mem_rd_data_last_i.set_bits(node, 1, mem.rd_data_last.into());
                self.mem_rd_data_err_i.set_bits(node, 1, mem.rd_data_err.into());
                self.mem_wr_cmd_ready_i.set_bits(node, 1, mem.wr_cmd_ready.into());
                self.mem_wr_data_ready_i
                    .set_bits(node, 1, mem.wr_data_ready.into());
                self.mem_wr_rsp_valid_i.set_bits(node, 1, mem.wr_rsp_valid.into());
                self.mem_wr_rsp_err_i.set_bits(node, 1, mem.wr_rsp_err.into());
            }

            fn irq(&self, node: usize) -> bool {
                self.irq_o.bit(node)
            }

            fn nic_busy(&self, node: usize) -> bool {
                self.io_busy_o.bit(node) || self.net_busy_o.bit(node)
            }

            fn network_busy(&self) -> bool {
                self.switch_busy_o.bit(0)
            }

            fn tx(&self, node: usize) -> (Option<Flit>, bool) {
                let flit = Flit {
                    word: self.tx_data_o.get_bits(16 * node, 16),
                    last: self.tx_last_o.bit(node),
                };
                (
                    self.tx_valid_o.bit(node).then_some(flit),
                    self.tx_ready_o.bit(node),
                )
            }

            fn rx(&self, node: usize) -> (Option<Flit>, bool) {
                let flit = Flit {
                    word: self.rx_data_o.get_bits(16 * node, 16),
                    last: self.rx_last_o.bit(node),
                };
                (
                    self.rx_valid_o.bit(node).then_some(flit),
                    self.rx_ready_o.bit(node),
                )
            }

            fn fifo_words(&self, node: usize) -> u32 {
                self.rx_level_o.get_bits(16 * node, 16) as u32
            }
        }
    };
}

top!(Cenju3Machine);
top!(Cenju3MachineOpen);
top!(TwinMachineOpen);

/// One verilated model of all NICs and switches.
pub struct SingleTop<U> {
    context: Context,
    unit: U,
    hosts: Vec<HostPort>,
    tx: Vec<LinkMonitor>,
    rx: Vec<LinkMonitor>,
}

impl<U: Top> SingleTop<U> {
    /// The hardware with the idle time between packets of `config`; the rest is wired in.
    pub fn new(config: &Config) -> SingleTop<U> {
        let context = Context::new();
        let unit = U::named(&context, "machine");
        unit.set_idle(config.sync_idle as u8);
        SingleTop {
            unit,
            context,
            hosts: vec![HostPort::Idle; U::NODES],
            tx: vec![LinkMonitor::outgoing(); U::NODES],
            rx: vec![LinkMonitor::incoming(); U::NODES],
        }
    }

    fn busy(&self) -> bool {
        self.unit.network_busy() || (0..U::NODES).any(|node| self.unit.nic_busy(node))
    }

    fn rise(&self, clocks: u64) {
        self.unit.junk();
        self.unit.rise(clocks);
    }

    /// What the links between NICs and network carry at this edge.
    fn watch_links(&mut self, mut event: impl FnMut(usize, EventKind)) {
        for at in 0..U::NODES {
            if let (Some(flit), true) = self.unit.tx(at) {
                self.tx[at].pass(flit, |kind| event(at, kind));
            }
            if let (Some(flit), true) = self.unit.rx(at) {
                self.rx[at].pass(flit, |kind| event(at, kind));
            }
        }
    }
}

impl<U: Top> Hardware for SingleTop<U> {
    fn nodes(&self) -> usize {
        U::NODES
    }

    fn bus_bytes(&self) -> u32 {
        U::BUS_BYTES as u32
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        vec![&self.unit]
    }

    fn reset(&mut self) {
        for node in 0..U::NODES {
            self.unit.set_host_ports(node, &HostPortsOut::default());
            self.unit.set_memory_ports(node, &MemPortsOut::default());
        }
        self.unit.set_reset(true);
        (0..8).for_each(|_| self.rise(0b11));
        self.unit.set_reset(false);
        for _ in 0..1024 {
            self.rise(0b11);
            if !self.busy() {
                return;
            }
        }
        panic!("the machine is busy 1024 cycles after its reset");
    }

    fn stirs(&self, node: usize) -> bool {
        self.hosts[node].stirs() || self.unit.nic_busy(node) || self.unit.rx(node).0.is_some()
    }

    fn network_stirs(&self) -> bool {
        self.unit.network_busy()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        start(&mut self.hosts[node], req);
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.hosts[node].take()
    }

    fn host_edge(&mut self, node: usize, _cycle: Cycle, event: impl FnMut(EventKind)) {
        self.unit.set_host_ports(node, &self.hosts[node].ports());
        self.hosts[node].edge(&self.unit.host_ports(node), event);
    }

    fn memory_ports(&self, node: usize) -> MemPortsIn {
        self.unit.memory_ports(node)
    }

    fn set_memory_ports(&mut self, node: usize, ports: &MemPortsOut) {
        self.unit.set_memory_ports(node, ports);
    }

    fn irq(&self, node: usize) -> bool {
        self.unit.irq(node)
    }

    fn edge(&mut self, edges: Edges, _awake: &[bool], event: impl FnMut(usize, EventKind)) {
        if edges.rises(NET) {
            self.watch_links(event);
        }
        self.rise(edges.rising);
    }

    fn gauge(&self, node: usize, name: &str) -> Option<u32> {
        (name == RECEIVE_FIFO).then(|| self.unit.fifo_words(node) * U::BUS_BYTES as u32)
    }

    fn report(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for at in 0..U::NODES {
            let node = NodeId(at as u16);
            if self.unit.nic_busy(at) {
                lines.push(format!("{node}: the NIC is busy"));
            }
            if let (Some(_), false) = self.unit.tx(at) {
                lines.push(format!("{node}: a flit waits for the network"));
            }
            if let (Some(_), false) = self.unit.rx(at) {
                lines.push(format!(
                    "{node}: a flit waits for the NIC's receive side, which is full or halted"
                ));
            }
        }
        if self.unit.network_busy() {
            lines.push("the network is busy".into());
        }
        lines
    }
}
