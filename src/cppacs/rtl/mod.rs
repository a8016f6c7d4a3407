//! The verilated CP-PACS: a NIA with its memory at each node, joined by a hyper-crossbar and a barrier's tree.

mod barrier;
mod link;
pub mod network;

use verilated::{Context, Input as _, Port as _, Verilated};

use super::is_whole;
use super::params::Config;
use crate::harness::backend::{AnyBackend, HostReq, HostRsp};
use crate::harness::clock::Clock;
use crate::harness::event::EventKind;
use crate::harness::host_port::Exchange;
use crate::harness::machine::{Edges, Hardware, NamedClock, RtlMachine};
use crate::harness::memory::{MemPortsIn, MemPortsOut, MemoryTiming};
use crate::harness::wave::Probe;
use crate::net::hyper::{Axis, Channel, Place};
use crate::rtl::{CppacsMachineNia, CppacsNiaPorts as _, CppacsNiaUnit};
use crate::{Cycle, NodeId, Picos};
use barrier::Barrier;
use link::Link;
use network::{LINES, Network, Word};

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotBuilt {
    #[error("{nodes} nodes along {axis:?}: there are crossbars for {}", lines())]
    Line { axis: Axis, nodes: u32 },
    #[error("{nodes} nodes: the barrier is built for {}", barrier::MOST)]
    Nodes { nodes: u32 },
    #[error("{name} = {value}: the RTL is built with {built}; the golden model takes others")]
    Setting { name: &'static str, value: f64, built: f64 },
}

fn lines() -> String {
    let all = LINES.map(|nodes| nodes.to_string());
    all.join(", ")
}

/// Parameters of the modules, as they were built.
const BUILT: [(&str, u32); 9] = [
    ("room", 496),
    ("ack_room", 16),
    ("pu_room", 32),
    ("rights", 512),
    ("fields", 512),
    ("kick_depth", 4),
    ("answers", 128),
    ("burst_beats", 16),
    ("outstanding", 4),
];

/// The machine of verilated units.
pub type Machine<N = CppacsMachineNia> = RtlMachine<Composed<N>>;

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
    let mut machine = Machine::<CppacsMachineNia>::build(config)?;
    if !gated {
        machine.with_hardware(|hardware| hardware.network.gate(false));
        machine = machine.ungated();
    }
    if let Some(seed) = junk {
        machine = machine.with_junk(seed);
    }
    Ok(Box::new(machine.with_probe(probe)))
}

impl<N: CppacsNiaUnit> Machine<N> {
    /// The machine of `config`, reset, at time 0.
    ///
    /// # Errors
    /// The configuration asks for RTL that was not built.
    pub fn build(config: &Config) -> Result<Machine<N>, NotBuilt> {
        for (name, built) in BUILT {
            let (value, built) = (config.get(name).expect("a parameter"), f64::from(built));
            if value != built {
                return Err(NotBuilt::Setting { name, value, built });
            }
        }
        Ok(machine(Composed::new(config)?, config))
    }
}

/// The machine of `config` with this hardware.
pub fn machine<H: Hardware>(hardware: H, config: &Config) -> RtlMachine<H> {
    let clocks: Vec<NamedClock> = vec![(&["clk_i"], Clock::new(config.clock_period, Picos::ZERO))];
    let timing = MemoryTiming {
        read_latency: Cycle(config.memory_read_latency.into()),
        write_latency: Cycle(config.memory_write_latency.into()),
        ..MemoryTiming::IDEAL
    };
    RtlMachine::new(hardware, clocks, config.mem_bytes as usize, timing)
}

/// Cycles that worms of so many words wait for each other in the network, step after step. In each, all nodes send at
/// once, each to its place.
///
/// # Errors
/// The grid asks for RTL that was not built.
pub fn conflicts(config: &Config, steps: &[Vec<Option<Place>>], words: u32) -> Result<u64, NotBuilt> {
    let (stalled, _) = stepped(config, steps, words)?;
    Ok(stalled)
}

/// All cycles of the same.
///
/// # Errors
/// The grid asks for RTL that was not built.
pub fn cycles(config: &Config, steps: &[Vec<Option<Place>>], words: u32) -> Result<u64, NotBuilt> {
    let (_, cycles) = stepped(config, steps, words)?;
    Ok(cycles)
}

fn stepped(config: &Config, steps: &[Vec<Option<Place>>], words: u32) -> Result<(u64, u64), NotBuilt> {
    let grid = config.grid();
    let mut network = Network::new(&Context::new(), grid)?;
    for node in 0..grid.nodes() {
        network.place(node as usize, grid.place(node), grid.place(grid.nodes() - 1));
    }
    let all = steps.iter().map(|to| network.step(grid, to, words));
    Ok(all.fold((0, 0), |sum, step| (sum.0 + step.0, sum.1 + step.1)))
}

/// A NIA with its host's port and its link.
struct Nia<N> {
    unit: N,
    host: Exchange<HostReq, HostRsp>,
    link: Link,
    /// What the exchanger was told, and the worms that it said to have drained.
    place: (u64, u64),
    drained: u16,
}

impl<N: CppacsNiaUnit> Nia<N> {
    fn new(unit: N) -> Nia<N> {
        unit.host_rsp_ready_i().set_bool(true);
        Nia {
            unit,
            host: Exchange::Idle,
            link: Link::new(),
            place: (0, 0),
            drained: 0,
        }
    }

    /// Runs until the tables are cleared.
    fn reset(&self) {
        let unit = &self.unit;
        crate::set_mem_ports!(unit, &MemPortsOut::default());
        unit.rst_i().set_bool(true);
        (0..4).for_each(|_| self.rise());
        unit.rst_i().set_bool(false);
        for _ in 0..2048 {
            self.rise();
            if !unit.busy_o().is_set() {
                return;
            }
        }
        panic!("a NIA is busy 2048 cycles after its reset");
    }

    #[inline]
    fn rise(&self) {
        self.unit.junk();
        self.unit.rise(1);
    }

    /// Drives the host's port, and takes what it shows.
    #[inline]
    fn host_edge(&mut self, event: impl FnOnce(EventKind)) {
        let (unit, offer) = (&self.unit, self.host.offer());
        unit.host_req_valid_i().set_bool(offer.is_some());
        if let Some(req) = offer {
            unit.host_req_write_i().set_bool(req.write.is_some());
            unit.host_req_addr_i().set(req.addr);
            unit.host_req_wdata_i().set(req.write.unwrap_or(0));
            unit.host_req_wstrb_i().set(0xff);
        }
        let response = unit.host_rsp_valid_o().is_set().then(|| HostRsp {
            value: unit.host_rsp_rdata_o().get(),
            error: unit.host_rsp_err_o().is_set(),
        });
        let taken = self.host.step(unit.host_req_ready_o().is_set(), response);
        if let Some((value, offset)) = taken.and_then(|req| Some((req.write? as u32, req.addr as u32))) {
            event(EventKind::RegWrite { offset, value });
        }
    }

    #[inline]
    fn shown(&self) -> Option<Word> {
        let unit = &self.unit;
        unit.link_out_valid_o().is_set().then(|| Word {
            channel: unit.link_out_channel_o().get() as usize,
            data: unit.link_out_data_o().get() as u32,
            last: unit.link_out_last_o().is_set(),
        })
    }

    #[inline]
    fn show(&self, word: Option<Word>, credits: u64) {
        let unit = &self.unit;
        unit.link_out_credit_i().set(credits);
        unit.link_in_valid_i().set_bool(word.is_some());
        if let Some(Word { channel, data, last }) = word {
            unit.link_in_channel_i().set(channel as u64);
            unit.link_in_data_i().set(data.into());
            unit.link_in_last_i().set_bool(last);
        }
    }
}

/// NIAs of type `N`, their network, and the barrier.
pub struct Composed<N> {
    context: Context,
    nias: Vec<Nia<N>>,
    network: Network,
    barrier: Barrier,
}

impl<N: CppacsNiaUnit> Composed<N> {
    /// The hardware of `config`.
    ///
    /// # Errors
    /// Its grid asks for RTL that was not built.
    pub fn new(config: &Config) -> Result<Composed<N>, NotBuilt> {
        let (grid, context) = (config.grid(), Context::new());
        let nia = |node| Nia::new(N::named(&context, &format!("nia_{node}")));
        Ok(Composed {
            network: Network::new(&context, grid)?,
            barrier: Barrier::new(&context, grid.nodes())?,
            nias: (0..grid.nodes()).map(nia).collect(),
            context,
        })
    }

    /// What a node shows its surroundings before an edge, and what they show it.
    #[inline]
    fn exchange(&mut self, node: usize, mut event: impl FnMut(EventKind)) {
        let Composed {
            nias, network, barrier, ..
        } = self;
        let nia = &mut nias[node];
        let unit = &nia.unit;
        let place = (unit.place_o().get(), unit.last_o().get());
        if place != nia.place {
            nia.place = place;
            network.place(node, Place::of(place.0 as u32), Place::of(place.1 as u32));
        }
        let credits = unit.link_in_credit_o().get();
        if credits != 0 {
            network.credit(node, credits);
        }
        let (word, returned) = nia.link.outgoing(nia.shown(), network.returned(node), &mut event);
        if let Some(word) = word {
            network.put(node, word);
        }
        let comes = nia.link.incoming(network.output(node), &mut event);
        nia.show(comes, returned);
        nia.link.settle();
        nia.drained = network.drained(node);
        let unit = &nia.unit;
        unit.drained_i().set(nia.drained.into());
        let is_member = unit.barrier_member_o().is_set();
        let (waits, is_released) = barrier.exchange(node, is_member, unit.barrier_arrive_o().is_set());
        unit.barrier_waiting_i().set_bool(waits);
        unit.barrier_release_i().set_bool(is_released);
    }
}

impl<N: CppacsNiaUnit> Hardware for Composed<N> {
    fn nodes(&self) -> usize {
        self.nias.len()
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        let nias = self.nias.iter().map(|nia| &nia.unit as &dyn Verilated);
        nias.chain(self.network.units()).chain([self.barrier.unit()]).collect()
    }

    fn reset(&mut self) {
        self.nias.iter().for_each(Nia::reset);
    }

    #[inline]
    fn stirs(&self, node: usize) -> bool {
        let (nia, network) = (&self.nias[node], &self.network);
        nia.unit.busy_o().is_set()
            || nia.host.stirs()
            || nia.link.stirs()
            || network.output(node).is_some()
            || network.returned(node) != 0
            || network.drained(node) != nia.drained
            || self.barrier.stirs(node)
    }

    fn network_stirs(&self) -> bool {
        self.network.is_busy() || self.barrier.is_busy()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        let host = &mut self.nias[node].host;
        match is_whole(req) {
            true => host.start(req),
            false => *host = Exchange::Answered(HostRsp { value: 0, error: true }),
        }
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.nias[node].host.take()
    }

    #[inline]
    fn host_edge(&mut self, node: usize, _cycle: Cycle, event: impl FnMut(EventKind)) {
        self.nias[node].host_edge(event);
    }

    #[inline]
    fn memory_ports(&self, node: usize) -> MemPortsIn {
        let unit = &self.nias[node].unit;
        crate::mem_ports!(unit)
    }

    #[inline]
    fn set_memory_ports(&mut self, node: usize, ports: &MemPortsOut) {
        let unit = &self.nias[node].unit;
        crate::set_mem_ports!(unit, ports);
    }

    #[inline]
    fn irq(&self, node: usize) -> bool {
        self.nias[node].unit.irq_o().is_set()
    }

    fn edge(&mut self, edges: Edges, awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        for node in (0..self.nias.len()).filter(|&node| awake[node]) {
            self.exchange(node, |kind| event(node, kind));
            self.nias[node].rise();
        }
        self.network.edge();
        self.barrier.edge(edges.all);
    }

    fn hold_links(&mut self, node: usize, held: bool) {
        self.nias[node].link.hold(held);
    }

    fn forge(&mut self, node: usize, words: &[u64]) -> bool {
        let Some(&first) = words.first() else { return false };
        let channel = Channel::of(first as u32) as usize;
        self.nias[node]
            .link
            .forge(channel, words.iter().map(|&word| word as u32));
        true
    }

    fn links(&self, node: usize) -> (bool, bool) {
        self.nias[node].link.under_way()
    }

    /// `drained`: worms that exchangers and crossbars had no way for, of all nodes.
    fn gauge(&self, _node: usize, name: &str) -> Option<u32> {
        (name == "drained").then(|| self.network.drained_anywhere())
    }

    fn report(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, nia) in (0..).zip(&self.nias) {
            let node = NodeId(at);
            for (is_so, what) in [
                (nia.unit.busy_o().is_set(), "the NIA is busy"),
                (nia.link.stirs(), "words wait on its link"),
                (self.barrier.waits(at.into()), "it waits at the barrier"),
            ] {
                lines.extend(is_so.then(|| format!("{node}: {what}")));
            }
        }
        lines.extend(
            self.network
                .is_carrying()
                .then(|| "words are in the network".to_owned()),
        );
        lines
    }
}
