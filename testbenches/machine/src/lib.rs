//! The machine of 16 PEs as one RTL top, a package of its own because its model takes a minute to compile. The composed machine must agree
//! with it in every event.

/// The group "top" of `rtl/units.toml`.
pub mod rtl {
    include!(concat!(env!("OUT_DIR"), "/units.rs"));
}

use verilated::Context;

use rtl::Cenju3Machine;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::Clocked;
use tsunagi::cenju3::rtl::ports::{BusIn, BusOut, Edges, Hardware};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::MemPortsIn;
use tsunagi::harness::wave::Trace;
use tsunagi::net::fabric::Flit;
use tsunagi::net::link::LinkMonitor;
use tsunagi::{NodeId, Picos};

tsunagi::clocked!(Cenju3Machine);

/// One verilated model of all NICs and switches.
pub struct SingleTop {
    context: Context,
    unit: Cenju3Machine,
    tx: Vec<LinkMonitor>,
    rx: Vec<LinkMonitor>,
    trace: Trace,
}

impl SingleTop {
    /// PEs of the top.
    pub const NODES: usize = Cenju3Machine::NODES;
    /// Stages of switches between them.
    pub const STAGES: usize = Cenju3Machine::STAGES;

    /// The hardware with the idle time between packets of `config`; the rest is wired in.
    pub fn new(config: &Config) -> SingleTop {
        let context = Context::new();
        let unit = Cenju3Machine::named(&context, "machine");
        unit.idle_i.set(config.sync_idle as u8);
        SingleTop {
            unit,
            context,
            tx: vec![LinkMonitor::outgoing(); Self::NODES],
            rx: vec![LinkMonitor::incoming(); Self::NODES],
            trace: Trace::default(),
        }
    }

    fn set_reset(&self, reset: bool) {
        self.unit.io_rst_i.set_bool(reset);
        self.unit.net_rst_i.set_bool(reset);
    }

    fn busy(&self) -> bool {
        self.unit.io_busy_o.get() != 0 || self.unit.net_busy_o.get() != 0 || self.unit.switch_busy_o.is_set()
    }

    /// What the links between NICs and network carry at this edge.
    fn watch_links(&mut self, event: &mut impl FnMut(usize, EventKind)) {
        let u = &self.unit;
        for at in 0..Self::NODES {
            if u.tx_valid_o.bit(at) && u.tx_ready_o.bit(at) {
                let flit = Flit {
                    word: u.tx_data_o.get_bits(16 * at, 16),
                    last: u.tx_last_o.bit(at),
                };
                self.tx[at].pass(flit, |kind| event(at, kind));
            }
            if u.rx_valid_o.bit(at) && u.rx_ready_o.bit(at) {
                let flit = Flit {
                    word: u.rx_data_o.get_bits(16 * at, 16),
                    last: u.rx_last_o.bit(at),
                };
                self.rx[at].pass(flit, |kind| event(at, kind));
            }
        }
    }
}

impl Hardware for SingleTop {
    fn bus_bytes(&self) -> u32 {
        Cenju3Machine::BUS_W as u32 / 8
    }

    fn nodes(&self) -> usize {
        Self::NODES
    }

    fn reset(&mut self) {
        let both = Edges { io: true, net: true };
        (0..Self::NODES).for_each(|node| self.set_bus_in(node, &BusIn::default()));
        self.set_reset(true);
        (0..8).for_each(|_| self.unit.tick(both));
        self.set_reset(false);
        for _ in 0..1024 {
            self.unit.tick(both);
            if !self.busy() {
                return;
            }
        }
        panic!("the machine is busy 1024 cycles after its reset");
    }

    fn stirs(&self, node: usize) -> bool {
        self.unit.io_busy_o.bit(node) || self.unit.net_busy_o.bit(node) || self.unit.rx_valid_o.bit(node)
    }

    fn network_stirs(&self) -> bool {
        self.unit.switch_busy_o.is_set()
    }

    fn bus_out(&self, node: usize) -> BusOut {
        let u = &self.unit;
        BusOut {
            req_ready: u.host_req_ready_o.bit(node),
            rsp_valid: u.host_rsp_valid_o.bit(node),
            rsp_rdata: u.host_rsp_rdata_o.get_bits(32 * node, 32) as u32,
            rsp_err: u.host_rsp_err_o.bit(node),
            mem: MemPortsIn {
                rd_cmd_valid: u.mem_rd_cmd_valid_o.bit(node),
                rd_cmd_addr: u.mem_rd_cmd_addr_o.get_bits(32 * node, 32) as u32,
                rd_cmd_len: u.mem_rd_cmd_len_o.get_bits(8 * node, 8) as u8,
                rd_data_ready: u.mem_rd_data_ready_o.bit(node),
                wr_cmd_valid: u.mem_wr_cmd_valid_o.bit(node),
                wr_cmd_addr: u.mem_wr_cmd_addr_o.get_bits(32 * node, 32) as u32,
                wr_cmd_len: u.mem_wr_cmd_len_o.get_bits(8 * node, 8) as u8,
                wr_data_valid: u.mem_wr_data_valid_o.bit(node),
                wr_data_data: u.mem_wr_data_data_o.get_bits(32 * node, 32),
                wr_data_strb: u.mem_wr_data_strb_o.get_bits(4 * node, 4) as u8,
                wr_data_last: u.mem_wr_data_last_o.bit(node),
                wr_rsp_ready: u.mem_wr_rsp_ready_o.bit(node),
            },
        }
    }

    fn set_bus_in(&mut self, node: usize, bus: &BusIn) {
        let u = &self.unit;
        u.host_req_valid_i.set_bits(node, 1, bus.req_valid.into());
        u.host_req_write_i.set_bits(node, 1, bus.req_write.into());
        u.host_req_addr_i.set_bits(8 * node, 8, bus.req_addr.into());
        u.host_req_wdata_i.set_bits(32 * node, 32, bus.req_wdata.into());
        u.host_req_wstrb_i.set_bits(4 * node, 4, bus.req_wstrb.into());
        u.host_rsp_ready_i.set_bits(node, 1, bus.rsp_ready.into());
        u.mem_rd_cmd_ready_i.set_bits(node, 1, bus.mem.rd_cmd_ready.into());
        u.mem_rd_data_valid_i.set_bits(node, 1, bus.mem.rd_data_valid.into());
        u.mem_rd_data_data_i.set_bits(32 * node, 32, bus.mem.rd_data_data);
        u.mem_rd_data_last_i.set_bits(node, 1, bus.mem.rd_data_last.into());
        u.mem_rd_data_err_i.set_bits(node, 1, bus.mem.rd_data_err.into());
        u.mem_wr_cmd_ready_i.set_bits(node, 1, bus.mem.wr_cmd_ready.into());
        u.mem_wr_data_ready_i.set_bits(node, 1, bus.mem.wr_data_ready.into());
        u.mem_wr_rsp_valid_i.set_bits(node, 1, bus.mem.wr_rsp_valid.into());
        u.mem_wr_rsp_err_i.set_bits(node, 1, bus.mem.wr_rsp_err.into());
    }

    fn irq(&self, node: usize) -> bool {
        self.unit.irq_o.bit(node)
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
        self.unit.rx_level_o.get_bits(16 * node, 16) as u32
    }

    fn report(&self) -> Vec<String> {
        let u = &self.unit;
        let mut lines = Vec::new();
        for at in 0..Self::NODES {
            let node = NodeId(at as u16);
            if u.io_busy_o.bit(at) || u.net_busy_o.bit(at) {
                lines.push(format!("{node}: the NIC is busy"));
            }
            if u.tx_valid_o.bit(at) && !u.tx_ready_o.bit(at) {
                lines.push(format!("{node}: a flit waits for the network"));
            }
            if u.rx_valid_o.bit(at) && !u.rx_ready_o.bit(at) {
                lines.push(format!(
                    "{node}: a flit waits for the NIC's receive side, which is full or halted"
                ));
            }
        }
        if u.switch_busy_o.is_set() {
            lines.push("the network is busy".into());
        }
        lines
    }

    fn set_trace(&mut self, trace: Trace) {
        self.trace = trace;
    }

    fn wave_is_open(&self) -> bool {
        self.trace.is_open()
    }
}
