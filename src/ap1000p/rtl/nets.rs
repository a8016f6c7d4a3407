//! S-net and B-net of the verilated machine: an interface (BIF) for each cell, one barrier tree, one bus.
//!
//! All outputs are registered, so at an edge everything sees what stood before it; what has nothing to do is left out.

use verilated::{Context, Verilated};

use crate::ap1000p::golden::bif::BusWord;
use crate::harness::backend::HostRsp;
use crate::harness::host_port::{HostPort, RegisterAccess};
use crate::rtl::{Ap1000pBif, Ap1000pBifPorts as _, Ap1000pBus, Ap1000pSync};

/// Cells that tree and bus are built for; those of a smaller machine are the first ones.
pub const MOST: usize = 256;

/// A cell's interface, with what it showed when tree and bus last looked.
struct Interface {
    unit: Ap1000pBif,
    host: HostPort,
    /// Its outputs may have changed at the last edge.
    fresh: bool,
    /// Member and arrivals, by group.
    barrier: (u8, u8),
    offers: bool,
}

pub struct Nets {
    interfaces: Vec<Interface>,
    tree: Ap1000pSync,
    bus: Ap1000pBus,
}

impl Nets {
    /// Both nets and all interfaces, reset.
    pub fn new(context: &Context, cells: usize) -> Nets {
        assert!(cells <= MOST, "{cells} cells, and S-net and B-net of {MOST}");
        let interface = |number: usize| Interface {
            unit: Ap1000pBif::named(context, &format!("bif{number}")),
            host: HostPort::Idle,
            fresh: false,
            barrier: (0, 0),
            offers: false,
        };
        let nets = Nets {
            interfaces: (0..cells).map(interface).collect(),
            tree: Ap1000pSync::named(context, "snet"),
            bus: Ap1000pBus::named(context, "bnet"),
        };
        for cell in 0..MOST {
            // Who is not there takes whatever comes.
            nets.bus.out_ready_i.set_bits(cell, 1, 1);
        }
        for rst in [true, true, false] {
            nets.tree.rst_i.set_bool(rst);
            nets.bus.rst_i.set_bool(rst);
            nets.interfaces.iter().for_each(|i| i.unit.rst_i.set_bool(rst));
            nets.tree.rise(1);
            nets.bus.rise(1);
            nets.interfaces.iter().for_each(|i| i.unit.rise(1));
        }
        nets
    }

    /// For a wave.
    pub fn units(&self) -> impl Iterator<Item = &dyn Verilated> {
        let interfaces = self.interfaces.iter().map(|i| &i.unit as &dyn Verilated);
        interfaces.chain([&self.tree as &dyn Verilated, &self.bus])
    }

    /// A cell's processor reads or writes a register.
    pub fn start(&mut self, cell: usize, access: RegisterAccess) {
        self.interfaces[cell].host.start(access);
    }

    /// The response, if it is there.
    pub fn take(&mut self, cell: usize) -> Option<HostRsp> {
        self.interfaces[cell].host.take()
    }

    /// Something can change at the next edge.
    pub fn busy(&self) -> bool {
        let stirs = |i: &Interface| i.host.stirs() || i.fresh || i.unit.busy_o.is_set();
        self.tree.busy_o.is_set() || self.bus.busy_o.is_set() || self.interfaces.iter().any(stirs)
    }

    /// One clock edge; `gated`: but for who has nothing to do.
    pub fn edge(&mut self, gated: bool) {
        let Nets { interfaces, tree, bus } = self;
        let (mut tree_stirs, mut bus_stirs) = (!gated || tree.busy_o.is_set(), !gated || bus.busy_o.is_set());
        let (releases, words) = (tree_stirs, bus_stirs);
        let on_bus = || -> BusWord { (bus.out_data_o.get(), bus.out_last_o.is_set()) };
        for (cell, interface) in interfaces.iter_mut().enumerate() {
            let unit = &interface.unit;
            if interface.fresh || !gated {
                let barrier = (unit.member_o.get(), unit.arrive_o.get());
                tree_stirs |= barrier != interface.barrier;
                interface.barrier = barrier;
                tree.member_i.set_bits(2 * cell, 2, barrier.0.into());
                tree.arrive_i.set_bits(2 * cell, 2, barrier.1.into());
                interface.offers = unit.out_valid_o.is_set();
                bus.in_valid_i.set_bits(cell, 1, interface.offers.into());
                bus.in_data_i.set_bits(32 * cell, 32, unit.out_data_o.get().into());
                bus.in_last_i.set_bits(cell, 1, unit.out_last_o.is_set().into());
                bus.out_ready_i.set_bits(cell, 1, unit.in_ready_o.is_set().into());
            }
            // An arrival is a pulse: it must be seen to end.
            tree_stirs |= interface.barrier.1 != 0;
            bus_stirs |= interface.offers;
            let release = if releases {
                tree.release_o.get_bits(2 * cell, 2) as u8
            } else {
                0
            };
            let came = (words && bus.out_valid_o.bit(cell)).then(on_bus);
            let idle = !interface.host.stirs() && !unit.busy_o.is_set() && release == 0 && came.is_none();
            interface.fresh = !idle;
            if gated && idle {
                continue;
            }
            crate::harness::set_host_ports!(unit, &interface.host.ports());
            interface.host.edge(&crate::harness::host_ports!(unit), |_| ());
            unit.release_i.set(release);
            unit.out_ready_i.set_bool(bus.in_ready_o.bit(cell));
            unit.in_valid_i.set_bool(came.is_some());
            if let Some((word, last)) = came {
                unit.in_data_i.set(word);
                unit.in_last_i.set_bool(last);
            }
        }
        for interface in interfaces.iter().filter(|interface| interface.fresh || !gated) {
            interface.unit.junk();
            interface.unit.rise(1);
        }
        if tree_stirs {
            tree.junk();
            tree.rise(1);
        }
        if bus_stirs {
            bus.junk();
            bus.rise(1);
        }
    }

    /// What is under way, for a hang report.
    pub fn report(&self) -> Option<String> {
        let offers: Vec<usize> = (0..self.interfaces.len())
            .filter(|cell| self.interfaces[*cell].unit.out_valid_o.is_set())
            .collect();
        let full: Vec<usize> = (0..self.interfaces.len())
            .filter(|cell| !self.interfaces[*cell].unit.in_ready_o.is_set())
            .collect();
        let mut parts = Vec::new();
        if !offers.is_empty() {
            parts.push(format!("words for the B-net wait at cells {offers:?}"));
        }
        if !full.is_empty() {
            parts.push(format!("the B-net waits for cells {full:?}: read RECEIVE there"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
