//! Machines as one RTL top: of 16 PEs, and of 3 on a switch of 4 ports. A package of its own because the models take a minute to compile. The
//! composed machine must agree with them in every event.

/// The group "top" of `rtl/units.toml`.
pub mod rtl {
    include!(concat!(env!("OUT_DIR"), "/units.rs"));
}

use verilated::Context;

use rtl::{Cenju3Machine, Cenju3MachineOpen, TwinMachineOpen};
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::Clocked;
use tsunagi::cenju3::rtl::ports::{BusIn, BusOut, Edges, Hardware};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::MemPortsIn;
use tsunagi::harness::wave::Trace;
use tsunagi::net::fabric::Flit;
use tsunagi::net::link::LinkMonitor;
use tsunagi::{NodeId, Picos};
use verilated::Unit;

/// A verilated machine, by node.
pub trait Top: Clocked + Unit {
    const NODES: usize;
    /// Stages of switches between them.
    const STAGES: usize;
    const BUS_BYTES: usize;

    fn set_reset(&self, reset: bool);

    /// Idle cycles after a packet.
    fn set_idle(&self, cycles: u8);

    fn bus_out(&self, node: usize) -> BusOut;

    fn set_bus_in(&self, node: usize, bus: &BusIn);

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
        tsunagi::clocked!($unit);

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

            fn bus_out(&self, node: usize) -> BusOut {
                BusOut {
                    req_ready: self.host_req_ready_o.bit(node),
                    rsp_valid: self.host_rsp_valid_o.bit(node),
                    rsp_rdata: self.host_rsp_rdata_o.get_bits(32 * node, 32) as u32,
                    rsp_err: self.host_rsp_err_o.bit(node),
                    mem: MemPortsIn {
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
                    },
                }
            }

            fn set_bus_in(&self, node: usize, bus: &BusIn) {
                self.host_req_valid_i.set_bits(node, 1, bus.req_valid.into());
                self.host_req_write_i.set_bits(node, 1, bus.req_write.into());
                self.host_req_addr_i.set_bits(8 * node, 8, bus.req_addr.into());
                self.host_req_wdata_i
                    .set_bits(32 * node, 32, bus.req_wdata.into());
                self.host_req_wstrb_i.set_bits(4 * node, 4, bus.req_wstrb.into());
                self.host_rsp_ready_i.set_bits(node, 1, bus.rsp_ready.into());
                self.mem_rd_cmd_ready_i
                    .set_bits(node, 1, bus.mem.rd_cmd_ready.into());
                self.mem_rd_data_valid_i
                    .set_bits(node, 1, bus.mem.rd_data_valid.into());
                self.mem_rd_data_data_i
                    .set_bits(32 * node, 32, bus.mem.rd_data_data);
                self.mem_rd_data_last_i
                    .set_bits(node, 1, bus.mem.rd_data_last.into());
                self.mem_rd_data_err_i
                    .set_bits(node, 1, bus.mem.rd_data_err.into());
                self.mem_wr_cmd_ready_i
                    .set_bits(node, 1, bus.mem.wr_cmd_ready.into());
                self.mem_wr_data_ready_i
                    .set_bits(node, 1, bus.mem.wr_data_ready.into());
                self.mem_wr_rsp_valid_i
                    .set_bits(node, 1, bus.mem.wr_rsp_valid.into());
                self.mem_wr_rsp_err_i.set_bits(node, 1, bus.mem.wr_rsp_err.into());
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
    tx: Vec<LinkMonitor>,
    rx: Vec<LinkMonitor>,
    trace: Trace,
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
            tx: vec![LinkMonitor::outgoing(); U::NODES],
            rx: vec![LinkMonitor::incoming(); U::NODES],
            trace: Trace::default(),
        }
    }

    fn busy(&self) -> bool {
        self.unit.network_busy() || (0..U::NODES).any(|node| self.unit.nic_busy(node))
    }

    /// What the links between NICs and network carry at this edge.
    fn watch_links(&mut self, event: &mut impl FnMut(usize, EventKind)) {
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
    fn bus_bytes(&self) -> u32 {
        U::BUS_BYTES as u32
    }

    fn nodes(&self) -> usize {
        U::NODES
    }

    fn reset(&mut self) {
        let both = Edges { io: true, net: true };
        (0..U::NODES).for_each(|node| self.set_bus_in(node, &BusIn::default()));
        self.unit.set_reset(true);
        (0..8).for_each(|_| self.unit.tick(both));
        self.unit.set_reset(false);
        for _ in 0..1024 {
            self.unit.tick(both);
            if !self.busy() {
                return;
            }
        }
        panic!("the machine is busy 1024 cycles after its reset");
    }

    fn stirs(&self, node: usize) -> bool {
        self.unit.nic_busy(node) || self.unit.rx(node).0.is_some()
    }

    fn network_stirs(&self) -> bool {
        self.unit.network_busy()
    }

    fn bus_out(&self, node: usize) -> BusOut {
        self.unit.bus_out(node)
    }

    fn set_bus_in(&mut self, node: usize, bus: &BusIn) {
        self.unit.set_bus_in(node, bus);
    }

    fn irq(&self, node: usize) -> bool {
        self.unit.irq(node)
    }

    fn edge(&mut self, at: Picos, edges: Edges, _awake: &[bool], event: &mut impl FnMut(usize, EventKind)) {
        self.trace.before(at, || vec![&self.unit]);
        self.context.set_time(at.0);
        if edges.net {
            self.watch_links(event);
        }
        self.unit.tick(edges);
        self.trace.after();
    }

    fn fifo_words(&self, node: usize) -> u32 {
        self.unit.fifo_words(node)
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

    fn set_junk(&self, seed: u64) {
        self.context.set_junk(seed);
    }

    fn set_trace(&mut self, trace: Trace) {
        self.trace = trace;
    }

    fn wave_is_open(&self) -> bool {
        self.trace.is_open()
    }
}
