//! The verilated Cenju-3: any number of NICs on an omega network of switches.

mod switch;

use std::collections::VecDeque;

use verilated::{Context, Input as _, Port as _, Verilated};

use super::lanes;
use super::params::Config;
use super::window::{RECEIVE_FIFO, register};
use crate::harness::backend::{AnyBackend, HostReq, HostRsp};
use crate::harness::clock::Clock;
use crate::harness::event::EventKind;
use crate::harness::host_port::HostPort;
use crate::harness::lane::{Head, Terms, Way};
use crate::harness::machine::{Edges, Hardware, NamedClock, RtlMachine};
use crate::harness::memory::{MemPortsIn, MemPortsOut, MemoryTiming};
use crate::harness::wave::Probe;
use crate::net::fabric::{Fabric, Flit};
use crate::net::link::LinkMonitor;
use crate::net::topology::Omega;
use crate::rtl::{Cenju3Nic, Cenju3NicPorts as _, Cenju3NicUnit, Cenju3NicWide, Cenju3Switch};
use crate::{Cycle, NodeId};
pub use switch::Switch;

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBuilt {
    #[error("{pes} PEs do not fit {stages} stages of 4x4 switches, which connect {ports}")]
    TooManyPes { pes: u32, stages: u32, ports: usize },
    #[error("parameter `{name}` = {value}: the RTL was built with {built}")]
    Parameter { name: &'static str, value: u32, built: u32 },
}

impl NotBuilt {
    /// A parameter that is wired into the RTL.
    fn check(name: &'static str, value: u32, built: u32) -> Result<(), NotBuilt> {
        if value == built {
            Ok(())
        } else {
            Err(NotBuilt::Parameter { name, value, built })
        }
    }
}

/// Number of the network's clock in `clocks`.
pub const NET: usize = 1;

/// The machine with NICs of type `N`.
pub type Machine<N> = RtlMachine<Composed<N>>;

/// The machine of `config`, its NICs as wide as that says; it leaves the wave that `probe` asks for.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn build(config: &Config, probe: &Probe) -> Result<AnyBackend, NotBuilt> {
    build_with(config, probe, None, true)
}

/// The same with junk from this seed on lines whose words do not count; with `gated` false, every unit is evaluated at
/// every edge.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn build_with(config: &Config, probe: &Probe, junk: Option<u64>, gated: bool) -> Result<AnyBackend, NotBuilt> {
    fn with<N: Cenju3NicUnit + 'static>(
        config: &Config,
        probe: &Probe,
        junk: Option<u64>,
        gated: bool,
    ) -> Result<AnyBackend, NotBuilt> {
        let machine = of_nics::<N>(config)?;
        let machine = if gated { machine } else { machine.ungated() };
        let machine = match junk {
            Some(seed) => machine.with_junk(seed),
            None => machine,
        };
        Ok(Box::new(machine.with_probe(probe)))
    }
    match config.bus_bytes {
        8 => with::<Cenju3NicWide>(config, probe, junk, gated),
        _ => with::<Cenju3Nic>(config, probe, junk, gated),
    }
}

/// The machine of `config` with these NICs, reset, at time 0.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn of_nics<N: Cenju3NicUnit>(config: &Config) -> Result<Machine<N>, NotBuilt> {
    Ok(machine(Composed::new(config)?, config))
}

/// The machine of `config` with this hardware: what is wired in (nodes, stages, widths) was chosen when it was made.
pub fn machine<H: Hardware>(hardware: H, config: &Config) -> RtlMachine<H> {
    RtlMachine::new(
        hardware,
        clocks(config),
        config.mem_bytes as usize,
        memory_timing(config),
    )
}

/// The clocks of NICs and switches.
fn clocks(config: &Config) -> Vec<NamedClock> {
    let io = Clock::new(config.io_period, config.io_phase);
    let net = Clock::new(config.net_period, config.net_phase);
    vec![(&["io_clk_i"], io), (&["net_clk_i", "clk_i"], net)]
}

/// The memory of a configuration, in cycles of its IO clock.
pub fn memory_timing(config: &Config) -> MemoryTiming {
    let timing = MemoryTiming {
        read_latency: Cycle(config.mem_read_latency.into()),
        write_latency: Cycle(config.mem_write_latency.into()),
        overhead: Cycle(config.mem_overhead.into()),
        shared_bus: true,
        byte_time: 0,
    };
    if config.mem_rate_limit > 0.0 {
        timing.with_rate(config.mem_rate_limit, config.io_period)
    } else {
        timing
    }
}

/// A NIC with its host port and what passes its links.
struct Pe<N> {
    nic: N,
    host: HostPort,
    tx: LinkMonitor,
    rx: LinkMonitor,
    /// The receive side is replaced by one that takes everything.
    sink: bool,
    /// The links stand still, except for a flit that was shown already to network or NIC.
    held: bool,
    offered: bool,
    shown: bool,
    /// The NIC is held in reset.
    resets: bool,
    /// One of these is or was so: links held, reset, cut, forged.
    disturbed: bool,
    /// Edges of each clock in it, and whether it ends as soon as there are enough.
    reset_edges: [u32; 2],
    frees: bool,
    /// The rest of a packet that a reset cut.
    cut: VecDeque<Flit>,
    /// Packets of others, and whether one is under way.
    forged: VecDeque<Flit>,
    forging: bool,
}

/// What ends a packet that a reset cut.
pub const CUT: Flit = Flit {
    word: 0xffff,
    last: true,
};

impl<N: Cenju3NicUnit> Pe<N> {
    fn new(nic: N) -> Pe<N> {
        Pe {
            nic,
            host: HostPort::Idle,
            tx: LinkMonitor::outgoing(),
            rx: LinkMonitor::incoming(),
            sink: false,
            held: false,
            offered: false,
            shown: false,
            resets: false,
            disturbed: false,
            reset_edges: [0; 2],
            frees: false,
            cut: VecDeque::new(),
            forged: VecDeque::new(),
            forging: false,
        }
    }

    fn set_reset(&self, level: bool) {
        self.nic.io_rst_i().set_bool(level);
        self.nic.net_rst_i().set_bool(level);
    }

    /// Resets both clock domains and runs until the NIC is at rest.
    fn reset(&self) {
        let nic = &self.nic;
        crate::harness::set_mem_ports!(nic, &MemPortsOut::default());
        crate::harness::set_host_ports!(nic, &Default::default());
        self.show(None);
        nic.tx_ready_i().set_bool(false);
        self.set_reset(true);
        (0..8).for_each(|_| self.rise(0b11));
        self.set_reset(false);
        for _ in 0..1024 {
            self.rise(0b11);
            if !self.is_busy() {
                return;
            }
        }
        panic!("a NIC is busy 1024 cycles after its reset");
    }

    #[inline]
    fn rise(&self, clocks: u64) {
        self.nic.junk();
        self.nic.rise(clocks);
    }

    #[inline]
    fn is_busy(&self) -> bool {
        self.nic.io_busy_o().is_set() || self.nic.net_busy_o().is_set()
    }

    /// What the NIC shows its outgoing link.
    #[inline]
    fn shows(&self) -> Option<Flit> {
        let shows = !self.resets && self.nic.tx_valid_o().is_set();
        shows.then(|| Flit {
            word: self.nic.tx_data_o().get(),
            last: self.nic.tx_last_o().is_set(),
        })
    }

    /// The NIC is held in reset from now on. What its link shows already stays there, and a packet under way ends.
    fn begin_reset(&mut self) {
        let own = !self.forging && !self.resets;
        let shown = self.shows().filter(|_| own && self.offered);
        let goes_on = shown.map_or(self.tx.under_way(), |flit| !flit.last);
        self.cut.extend(shown);
        self.cut.extend((own && goes_on).then_some(CUT));
        (self.resets, self.disturbed, self.frees, self.reset_edges) = (true, true, false, [0; 2]);
        self.set_reset(true);
        if self.host.stirs() {
            self.host.refuse();
        }
    }

    /// An edge in reset. Each clock has as many of them as cenju3_nic asks for.
    fn reset_edge(&mut self, edges: Edges) {
        const ENOUGH: u32 = 8;
        for (clock, seen) in self.reset_edges.iter_mut().enumerate() {
            *seen += u32::from(edges.rises(clock));
        }
        if self.frees && self.reset_edges.iter().all(|seen| *seen >= ENOUGH) {
            self.resets = false;
            self.set_reset(false);
        }
    }

    /// Nothing comes between the NIC and its links any more.
    fn settle(&mut self) {
        let is_free = self.cut.is_empty() && self.forged.is_empty() && !self.forging;
        self.disturbed = self.held || self.resets || !is_free;
    }

    /// What goes to the network in place of what the NIC shows.
    fn instead(&mut self) -> Option<Flit> {
        self.forging |= !self.offered && !self.tx.under_way() && !self.forged.is_empty();
        let forged = self.forged.front().filter(|_| self.forging);
        self.cut.front().or(forged).copied()
    }

    /// The network took this flit in place of one of the NIC.
    fn went_instead(&mut self, flit: Flit) {
        if self.cut.pop_front().is_none() {
            self.forged.pop_front();
            self.forging = !flit.last;
        }
    }

    /// What the incoming link shows the NIC.
    #[inline]
    fn show(&self, flit: Option<Flit>) {
        self.nic.rx_valid_i().set_bool(flit.is_some());
        if let Some(flit) = flit {
            self.nic.rx_data_i().set(flit.word);
            self.nic.rx_last_i().set_bool(flit.last);
        }
    }

    /// The receive side takes what is shown.
    #[inline]
    fn takes(&self) -> bool {
        self.sink || self.nic.rx_ready_o().is_set()
    }
}

/// NICs of type `N` on an omega network of verilated switches.
pub struct Composed<N> {
    context: Context,
    pes: Vec<Pe<N>>,
    fabric: Fabric<Switch<Cenju3Switch>>,
}

impl<N: Cenju3NicUnit> Composed<N> {
    /// The hardware of `config`.
    ///
    /// # Errors
    /// The configuration asks for RTL that was not built.
    pub fn new(config: &Config) -> Result<Composed<N>, NotBuilt> {
        let (pes, stages) = (config.pes, config.stages);
        let ports = 4_usize.pow(stages);
        if pes as usize > ports {
            return Err(NotBuilt::TooManyPes { pes, stages, ports });
        }
        NotBuilt::check("bus_bytes", config.bus_bytes, N::BUS_W as u32 / 8)?;
        NotBuilt::check("buf_flits", config.buf_flits, Cenju3Switch::BUF_FLITS as u32)?;
        let context = Context::new();
        let nic = |at| Pe::new(N::named(&context, &format!("nic_{at}")));
        let shape = Omega::new(4, stages as usize);
        let switch = |at, digit| Switch::new(&context, at, digit, config.sync_idle);
        Ok(Composed {
            fabric: Fabric::new(shape, pes as usize, switch),
            pes: (0..pes).map(nic).collect(),
            context,
        })
    }

    /// Replaces the receive side of `node` by a sink that takes every flit at once, for good: fig. 9's "without
    /// receiving PE".
    pub fn sink(&mut self, node: NodeId) {
        self.pes[node.index()].sink = true;
        self.fabric.accept(node.index(), true);
    }

    /// What the links between NICs and network carry at this edge.
    fn exchange(&mut self, awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        let Composed { pes, fabric, .. } = self;
        for (at, pe) in pes.iter_mut().enumerate() {
            let disturbed = pe.disturbed;
            let shown = fabric
                .output(at)
                .filter(|_| !disturbed || (!pe.held || pe.shown) && !pe.resets);
            if awake[at] {
                let moves = !disturbed || !pe.held || pe.offered;
                let ready = fabric.ready(at) && moves;
                let instead = if disturbed { pe.instead() } else { None };
                pe.nic.tx_ready_i().set_bool(ready && instead.is_none());
                let offer = instead.or_else(|| pe.shows()).filter(|_| moves);
                pe.offered = offer.is_some() && !ready;
                if let Some(flit) = offer {
                    fabric.inject(at, flit);
                    if ready {
                        if instead.is_some() {
                            pe.went_instead(flit);
                        }
                        pe.tx.pass(flit, |kind| event(at, kind));
                    }
                }
                if disturbed {
                    pe.settle();
                }
                if !pe.sink {
                    let takes = pe.takes() && (!disturbed || !(pe.held || pe.resets) || shown.is_some());
                    fabric.accept(at, takes);
                    pe.shown = shown.is_some() && !takes;
                    pe.show(shown);
                }
            }
            if let Some(flit) = shown.filter(|_| pe.takes()) {
                pe.rx.pass(flit, |kind| event(at, kind));
            }
        }
    }
}

impl<N: Cenju3NicUnit> Hardware for Composed<N> {
    fn nodes(&self) -> usize {
        self.pes.len()
    }

    fn bus_bytes(&self) -> u32 {
        N::BUS_W as u32 / 8
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        let switches = self.fabric.units().iter().map(|switch| &switch.0 as &dyn Verilated);
        let nics = self.pes.iter().map(|pe| &pe.nic as &dyn Verilated);
        nics.chain(switches).collect()
    }

    fn reset(&mut self) {
        self.pes.iter().for_each(Pe::reset);
    }

    #[inline]
    fn stirs(&self, node: usize) -> bool {
        let pe = &self.pes[node];
        pe.host.stirs() || pe.is_busy() || pe.disturbed || (!pe.sink && self.fabric.output(node).is_some())
    }

    fn network_stirs(&self) -> bool {
        self.fabric.busy()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        let pe = &mut self.pes[node];
        pe.host.begin(register(req).filter(|_| !pe.resets));
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.pes[node].host.take()
    }

    #[inline]
    fn host_edge(&mut self, node: usize, _cycle: Cycle, event: impl FnMut(EventKind)) {
        let Pe { nic, host, .. } = &mut self.pes[node];
        crate::harness::set_host_ports!(nic, &host.ports());
        host.edge(&crate::harness::host_ports!(nic), event);
    }

    #[inline]
    fn memory_ports(&self, node: usize) -> MemPortsIn {
        let Pe { nic, resets, .. } = &self.pes[node];
        if *resets {
            return MemPortsIn::default();
        }
        crate::harness::mem_ports!(nic)
    }

    #[inline]
    fn set_memory_ports(&mut self, node: usize, ports: &MemPortsOut) {
        let nic = &self.pes[node].nic;
        crate::harness::set_mem_ports!(nic, ports);
    }

    #[inline]
    fn irq(&self, node: usize) -> bool {
        let pe = &self.pes[node];
        !pe.resets && pe.nic.irq_o().is_set()
    }

    fn edge(&mut self, edges: Edges, awake: &[bool], event: impl FnMut(usize, EventKind)) {
        let net = edges.rises(NET);
        if net {
            self.exchange(awake, event);
        }
        for (pe, _) in self.pes.iter_mut().zip(awake).filter(|(_, awake)| **awake) {
            pe.rise(edges.rising);
            if pe.resets {
                pe.reset_edge(edges);
            }
        }
        if net {
            if edges.all {
                self.fabric.wake_all();
            }
            self.fabric.edge();
        }
    }

    fn hold_reset(&mut self, node: usize, held: bool) -> bool {
        let pe = &mut self.pes[node];
        if held {
            pe.begin_reset();
        } else {
            pe.frees = true;
        }
        true
    }

    fn forge(&mut self, node: usize, words: &[u64]) -> bool {
        let last = words.len().wrapping_sub(1);
        let flits = words.iter().enumerate().map(|(at, &word)| Flit {
            word: word & 0xffff,
            last: at == last,
        });
        let pe = &mut self.pes[node];
        pe.forged.extend(flits);
        pe.disturbed = true;
        true
    }

    fn hold_links(&mut self, node: usize, held: bool) {
        let pe = &mut self.pes[node];
        (pe.held, pe.disturbed) = (held, true);
    }

    fn links(&self, node: usize) -> (bool, bool) {
        let Pe { tx, rx, .. } = &self.pes[node];
        (tx.under_way(), rx.under_way())
    }

    fn terms(&self) -> Terms {
        lanes::TERMS
    }

    fn keep_heads(&mut self) {
        for Pe { tx, rx, .. } in &mut self.pes {
            tx.keep_head();
            rx.keep_head();
        }
    }

    fn head(&self, node: usize, way: Way, _link: usize) -> Head<'_> {
        let Pe { tx, rx, .. } = &self.pes[node];
        match way {
            Way::Out => tx.head(),
            Way::In => rx.head(),
        }
    }

    fn gauge(&self, node: usize, name: &str) -> Option<u32> {
        let words = || self.pes[node].nic.rx_level_o().get() as u32;
        (name == RECEIVE_FIFO).then(|| words() * self.bus_bytes())
    }

    fn report(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, pe) in self.pes.iter().enumerate() {
            let node = NodeId(at as u16);
            let sends = pe.shows().is_some() && !self.fabric.ready(at);
            let comes = self.fabric.output(at).is_some() && !pe.nic.rx_ready_o().is_set();
            for (is_so, what) in [
                (pe.is_busy(), "the NIC is busy"),
                (sends, "a flit waits for the network"),
                (
                    comes,
                    "a flit waits for the NIC's receive side, which is full or halted",
                ),
            ] {
                lines.extend(is_so.then(|| format!("{node}: {what}")));
            }
        }
        for at in self.fabric.switches() {
            let held = self.fabric.held(*at).unwrap_or(0);
            if held > 0 {
                let (stage, row) = (at.stage, at.row);
                lines.push(format!("switch of stage {stage}, row {row}: {held} flits inside"));
            }
        }
        lines
    }
}
