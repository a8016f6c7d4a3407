//! The verilated DIMMnet-1: cards on one switch with multicast.

pub mod host_port;
mod link;
mod switch;

use verilated::{Context, Input as _, Port as _, Verilated};

use super::lanes;
use super::params::Config;
use super::window::CardAccess;
use crate::harness::backend::{AnyBackend, HostReq, HostRsp};
use crate::harness::clock::Clock;
use crate::harness::event::EventKind;
use crate::harness::lane::{Head, Terms, Way};
use crate::harness::machine::{Edges, Hardware, NamedClock, RtlMachine};
use crate::harness::memory::{MemPortsIn, MemPortsOut, MemoryTiming};
use crate::harness::wave::Probe;
use crate::net::fabric::{Fabric, Flit, SwitchUnit as _};
use crate::net::topology::Omega;
use crate::rtl::{
    Dimmnet1Nic, Dimmnet1NicPorts as _, Dimmnet1NicUnit, Dimmnet1Switch, Dimmnet1Switch16, Dimmnet1SwitchUnit,
};
use crate::{Cycle, NodeId};
use host_port::{CardPorts, HostPort};
use link::Link;
pub use switch::Switch;

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBuilt {
    #[error("{nodes} nodes do not fit a switch of {ports} ports")]
    TooManyNodes { nodes: u32, ports: usize },
}

/// Number of the links' clock in `clocks`.
pub const LINK: usize = 1;

/// The machine with cards of type `N` on a switch of type `S`.
pub type Machine<N, S> = RtlMachine<Composed<N, S>>;

/// The machine of `config`; it leaves the wave that `probe` asks for.
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
    fn with<S: Dimmnet1SwitchUnit + 'static>(
        config: &Config,
        probe: &Probe,
        junk: Option<u64>,
        gated: bool,
    ) -> Result<AnyBackend, NotBuilt> {
        let machine = of_cards::<Dimmnet1Nic, S>(config)?;
        let machine = if gated { machine } else { machine.ungated() };
        let machine = match junk {
            Some(seed) => machine.with_junk(seed),
            None => machine,
        };
        Ok(Box::new(machine.with_probe(probe)))
    }
    if config.nodes as usize <= Dimmnet1Switch::N {
        with::<Dimmnet1Switch>(config, probe, junk, gated)
    } else {
        with::<Dimmnet1Switch16>(config, probe, junk, gated)
    }
}

/// The machine of `config` with these cards and switch, reset, at time 0.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn of_cards<N: Dimmnet1NicUnit, S: Dimmnet1SwitchUnit>(config: &Config) -> Result<Machine<N, S>, NotBuilt> {
    Ok(machine(Composed::new(config)?, config))
}

/// The machine of `config` with this hardware.
pub fn machine<H: Hardware>(hardware: H, config: &Config) -> RtlMachine<H> {
    let core = Clock::new(config.core_period, config.core_phase);
    let link = Clock::new(config.link_period, config.link_phase);
    let clocks: Vec<NamedClock> = vec![(&["core_clk_i"], core), (&["link_clk_i", "clk_i"], link)];
    RtlMachine::new(hardware, clocks, config.mem_bytes as usize, memory_timing(config))
}

/// The memory of a configuration, in cycles of its core clock.
pub fn memory_timing(config: &Config) -> MemoryTiming {
    MemoryTiming {
        read_latency: Cycle(config.mem_read_latency.into()),
        write_latency: Cycle(config.mem_write_latency.into()),
        overhead: Cycle(config.mem_overhead.into()),
        shared_bus: true,
        byte_time: 0,
    }
}

/// A card with its host port and its link.
struct Card<N> {
    unit: N,
    host: HostPort,
    link: Link,
    /// It is held in reset; edges of each clock in it, and whether it ends as soon as there are enough.
    resets: bool,
    reset_edges: [u32; 2],
    frees: bool,
}

impl<N: Dimmnet1NicUnit> Card<N> {
    fn new(unit: N) -> Card<N> {
        Card {
            unit,
            host: HostPort::default(),
            link: Link::new(),
            resets: false,
            reset_edges: [0; 2],
            frees: false,
        }
    }

    fn set_reset(&self, level: bool) {
        self.unit.core_rst_i().set_bool(level);
        self.unit.link_rst_i().set_bool(level);
    }

    /// Resets both clock domains and runs until the card is at rest.
    fn reset(&self) {
        let unit = &self.unit;
        crate::harness::set_mem_ports!(unit, &MemPortsOut::default());
        self.drive_host();
        self.show(None);
        unit.link_tx_ready_i().set_bool(false);
        self.set_reset(true);
        (0..8).for_each(|_| self.rise(0b11));
        self.set_reset(false);
        for _ in 0..1024 {
            self.rise(0b11);
            if !self.is_busy() {
                return;
            }
        }
        panic!("a card is busy 1024 cycles after its reset");
    }

    #[inline]
    fn rise(&self, clocks: u64) {
        self.unit.junk();
        self.unit.rise(clocks);
    }

    #[inline]
    fn is_busy(&self) -> bool {
        self.unit.core_busy_o().is_set() || self.unit.link_busy_o().is_set()
    }

    fn drive_host(&self) {
        let (unit, offer) = (&self.unit, self.host.offer());
        unit.host_rsp_ready_i().set_bool(true);
        unit.host_req_valid_i().set_bool(offer.is_some());
        if let Some(access) = offer {
            unit.host_req_write_i().set_bool(access.store.is_some());
            unit.host_req_addr_i().set(access.offset.into());
            unit.host_req_wdata_i().set(access.store.unwrap_or(0));
            let strobes = access.store.map_or(0, |_| access.strobes);
            unit.host_req_wstrb_i().set(strobes.into());
        }
    }

    fn host_ports(&self) -> CardPorts {
        let unit = &self.unit;
        let response = unit.host_rsp_valid_o().is_set().then(|| HostRsp {
            value: unit.host_rsp_rdata_o().get(),
            error: unit.host_rsp_err_o().is_set(),
        });
        CardPorts {
            ready: unit.host_req_ready_o().is_set(),
            response,
        }
    }

    /// What the card shows its outgoing link.
    #[inline]
    fn shows(&self) -> Option<Flit> {
        let shows = !self.resets && self.unit.link_tx_valid_o().is_set();
        shows.then(|| Flit {
            word: self.unit.link_tx_data_o().get(),
            last: self.unit.link_tx_last_o().is_set(),
        })
    }

    /// What the incoming link shows the card.
    #[inline]
    fn show(&self, flit: Option<Flit>) {
        self.unit.link_rx_valid_i().set_bool(flit.is_some());
        if let Some(flit) = flit {
            self.unit.link_rx_data_i().set(flit.word);
            self.unit.link_rx_last_i().set_bool(flit.last);
        }
    }

    /// The card is held in reset from now on.
    fn begin_reset(&mut self) {
        self.link.cut_off(self.shows());
        (self.resets, self.frees, self.reset_edges) = (true, false, [0; 2]);
        self.set_reset(true);
        self.host.reset();
    }

    /// An edge in reset. Each clock has as many of them as a crossing asks for.
    fn reset_edge(&mut self, edges: Edges) {
        const ENOUGH: u32 = 8;
        for (clock, seen) in self.reset_edges.iter_mut().enumerate() {
            *seen += u32::from(edges.rises(clock));
        }
        if self.frees && self.reset_edges.iter().all(|seen| *seen >= ENOUGH) {
            self.resets = false;
            self.set_reset(false);
            self.link.rejoin();
        }
    }
}

/// Cards of type `N` on a switch of type `S`.
pub struct Composed<N, S> {
    context: Context,
    cards: Vec<Card<N>>,
    fabric: Fabric<Switch<S>>,
}

impl<N: Dimmnet1NicUnit, S: Dimmnet1SwitchUnit> Composed<N, S> {
    /// The hardware of `config`.
    ///
    /// # Errors
    /// The configuration asks for RTL that was not built.
    pub fn new(config: &Config) -> Result<Composed<N, S>, NotBuilt> {
        let (nodes, ports) = (config.nodes, Switch::<S>::RADIX);
        if nodes as usize > ports {
            return Err(NotBuilt::TooManyNodes { nodes, ports });
        }
        let context = Context::new();
        let card = |at| Card::new(N::named(&context, &format!("nic_{at}")));
        let switch = |_, _| Switch::new(&context, nodes as usize);
        Ok(Composed {
            fabric: Fabric::new(Omega::new(ports, 1), nodes as usize, switch),
            cards: (0..nodes).map(card).collect(),
            context,
        })
    }

    /// What the links between cards and switch carry at this edge.
    fn exchange(&mut self, awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        let Composed { cards, fabric, .. } = self;
        for (at, card) in cards.iter_mut().enumerate() {
            let shown = card.link.incoming(fabric.output(at));
            let ready = card.unit.link_rx_ready_o().is_set();
            if awake[at] {
                let out = card
                    .link
                    .outgoing(card.shows(), fabric.ready(at), |kind| event(at, kind));
                card.unit.link_tx_ready_i().set_bool(out.ready);
                if let Some(flit) = out.offer {
                    fabric.inject(at, flit);
                }
                if card.link.stirs() {
                    card.link.settle();
                }
                fabric.accept(at, card.link.takes(ready, shown));
                card.show(shown);
            }
            if let Some(flit) = shown.filter(|_| ready) {
                card.link.came(flit, |kind| event(at, kind));
            }
        }
    }
}

impl<N: Dimmnet1NicUnit, S: Dimmnet1SwitchUnit> Hardware for Composed<N, S> {
    fn nodes(&self) -> usize {
        self.cards.len()
    }

    fn bus_bytes(&self) -> u32 {
        8
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        let switches = self.fabric.units().iter().map(|switch| &switch.0 as &dyn Verilated);
        let cards = self.cards.iter().map(|card| &card.unit as &dyn Verilated);
        cards.chain(switches).collect()
    }

    fn reset(&mut self) {
        self.cards.iter().for_each(Card::reset);
    }

    #[inline]
    fn stirs(&self, node: usize) -> bool {
        let card = &self.cards[node];
        card.host.stirs() || card.is_busy() || card.link.stirs() || self.fabric.output(node).is_some()
    }

    fn network_stirs(&self) -> bool {
        self.fabric.busy()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        let card = &mut self.cards[node];
        card.host.begin(CardAccess::of(req).filter(|_| !card.resets));
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.cards[node].host.take()
    }

    #[inline]
    fn host_edge(&mut self, node: usize, _cycle: Cycle, mut event: impl FnMut(EventKind)) {
        let card = &mut self.cards[node];
        card.drive_host();
        if card.resets {
            return;
        }
        let from = card.host_ports();
        card.host.edge(from, &mut event);
        if card.unit.retire_valid_o().is_set() {
            event(EventKind::Retire {
                pc: card.unit.retire_pc_o().get() as u32,
                trapped: card.unit.retire_trap_o().is_set(),
            });
        }
    }

    #[inline]
    fn memory_ports(&self, node: usize) -> MemPortsIn {
        let Card { unit, resets, .. } = &self.cards[node];
        if *resets {
            return MemPortsIn::default();
        }
        crate::harness::mem_ports!(unit)
    }

    #[inline]
    fn set_memory_ports(&mut self, node: usize, ports: &MemPortsOut) {
        let unit = &self.cards[node].unit;
        crate::harness::set_mem_ports!(unit, ports);
    }

    #[inline]
    fn irq(&self, node: usize) -> bool {
        let card = &self.cards[node];
        !card.resets && card.unit.irq_o().is_set()
    }

    fn edge(&mut self, edges: Edges, awake: &[bool], event: impl FnMut(usize, EventKind)) {
        let link = edges.rises(LINK);
        if link {
            self.exchange(awake, event);
        }
        for (card, _) in self.cards.iter_mut().zip(awake).filter(|(_, awake)| **awake) {
            card.rise(edges.rising);
            if card.resets {
                card.reset_edge(edges);
            }
        }
        if link {
            if edges.all {
                self.fabric.wake_all();
            }
            self.fabric.edge();
        }
    }

    fn hold_links(&mut self, node: usize, held: bool) {
        self.cards[node].link.hold(held);
    }

    fn hold_reset(&mut self, node: usize, held: bool) -> bool {
        let card = &mut self.cards[node];
        if held {
            card.begin_reset();
        } else {
            card.frees = true;
        }
        true
    }

    fn forge(&mut self, node: usize, words: &[u64]) -> bool {
        self.cards[node].link.forge(words);
        true
    }

    fn terms(&self) -> Terms {
        lanes::TERMS
    }

    fn keep_heads(&mut self) {
        self.cards.iter_mut().for_each(|card| card.link.keep_heads());
    }

    fn head(&self, node: usize, way: Way, _link: usize) -> Head<'_> {
        self.cards[node].link.head(way)
    }

    fn links(&self, node: usize) -> (bool, bool) {
        self.cards[node].link.under_way()
    }

    fn report(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, card) in self.cards.iter().enumerate() {
            let node = NodeId(at as u16);
            let sends = card.shows().is_some() && !self.fabric.ready(at);
            let comes = self.fabric.output(at).is_some() && !card.unit.link_rx_ready_o().is_set();
            for (is_so, what) in [
                (card.is_busy(), "the card is busy"),
                (sends, "a word waits for the network"),
                (comes, "a word waits for the receiver, which is stopped or full"),
            ] {
                lines.extend(is_so.then(|| format!("{node}: {what}")));
            }
        }
        lines.extend(self.fabric.busy().then(|| "the switch is busy".to_owned()));
        lines
    }
}
