//! The machine of verilated units: any number of nodes with their network, memories and host ports, on simulated time.
//!
//! Every unit has a registered boundary. So at an instant the machine first reads all ports and then evaluates all
//! units, in any order. It leaves out a node that the next edges would not change, and skips time when no node and no
//! link would change. A machine adds its own [`Hardware`].

use std::fmt::Write as _;

use verilated::{Context, Verilated};

use super::backend::{Backend, Doing, HostReq, HostRsp};
use super::clock::Clock;
use super::event::{Event, EventKind};
use super::faults::Fault;
use super::lane::{Head, Lanes, Terms, Way};
use super::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use super::wave::{Probe, Trace};
use crate::{Cycle, NodeId, Picos};

/// The verilated units of one machine: all nodes and the network between them. Memories and time belong to the
/// [`RtlMachine`].
///
/// An edge reports to `event`, with the node, each event that it commits at a port.
pub trait Hardware {
    fn nodes(&self) -> usize;

    /// Bytes of a word on the memory ports: 4 or 8.
    fn bus_bytes(&self) -> u32 {
        4
    }

    /// The context of all units.
    fn context(&self) -> &Context;

    /// All units, for a wave; the first ones are the nodes' own.
    fn units(&self) -> Vec<&dyn Verilated>;

    /// Resets all units and clocks them until they are at rest, in no simulated time.
    fn reset(&mut self);

    /// The node's next edge may change something: a unit is busy, a link brings a word, or the host's access is not
    /// done. Busy outputs are exact, so there are no edges to settle afterwards.
    fn stirs(&self, node: usize) -> bool;

    /// The next edge may change something outside the nodes.
    fn network_stirs(&self) -> bool {
        false
    }

    /// The host of a node begins an access; none is under way.
    fn start(&mut self, node: usize, req: HostReq);

    /// Takes the response of the access under way, once there is one.
    fn take(&mut self, node: usize, req: HostReq) -> Option<HostRsp>;

    /// The host's side of an edge of the bus clock, before the edge: drives the node's host ports and takes their
    /// responses. A machine of one clock may do this in `edge`.
    fn host_edge(&mut self, _node: usize, _cycle: Cycle, _event: impl FnMut(EventKind)) {}

    /// The node's outputs to its memory; all are low where it has no memory ports.
    fn memory_ports(&self, _node: usize) -> MemPortsIn {
        MemPortsIn::default()
    }

    fn set_memory_ports(&mut self, _node: usize, _ports: &MemPortsOut) {}

    /// The node's interrupt line.
    fn irq(&self, node: usize) -> bool;

    /// The rest of an edge: the links carry their words, and the clocks rise. It leaves out nodes that are not awake.
    fn edge(&mut self, edges: Edges, awake: &[bool], event: impl FnMut(usize, EventKind));

    /// The node's links stand still from now on, or move again. What a link has shown already may still be taken.
    fn hold_links(&mut self, _node: usize, _held: bool) {}

    /// The node's units are held in reset from now on, or freed; false where a node cannot be reset alone. In reset,
    /// memory ports and interrupt line are low, accesses fail, and a packet that was leaving has ended.
    fn hold_reset(&mut self, _node: usize, _held: bool) -> bool {
        false
    }

    /// Puts a packet on the node's link into the network, as soon as no other is under way; false where there is no
    /// way to do so.
    fn forge(&mut self, _node: usize, _words: &[u64]) -> bool {
        false
    }

    /// Whether a packet is leaving the node, and whether one is coming.
    fn links(&self, _node: usize) -> (bool, bool) {
        (false, false)
    }

    /// The words in which lanes of a wave speak of the machine.
    fn terms(&self) -> Terms {
        Terms::PLAIN
    }

    /// A wave has lanes: heads are kept from now on.
    fn keep_heads(&mut self) {}

    /// What passes or passed last on the node's link of this number, as [`Terms::links`] counts them.
    fn head(&self, _node: usize, _way: Way, _link: usize) -> Head<'_> {
        Head::default()
    }

    /// As in [`Backend::gauge`].
    fn gauge(&self, _node: usize, _name: &str) -> Option<u32> {
        None
    }

    /// One line for each node, link or switch that is not idle.
    fn report(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The names of the units' clock inputs, and the clock that drives them. The first clock of a machine is that of its
/// bus: of memories, host ports and interrupt lines.
pub type NamedClock = (&'static [&'static str], Clock);

/// Clocks that rise at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edges {
    /// Bit i: number i of the machine's table.
    pub rising: u64,
    /// No unit is left out.
    pub all: bool,
}

impl Edges {
    #[inline]
    pub fn rises(self, clock: usize) -> bool {
        self.rising >> clock & 1 == 1
    }
}

/// What surrounds a node's units.
pub struct Node {
    pub memory: Memory,
    /// The interrupt line after the last edge.
    pub irq: bool,
    agent: MemoryAgent,
    /// The host's access that is under way.
    access: Option<HostReq>,
}

/// The [`Backend`] on verilated RTL.
pub struct RtlMachine<H> {
    hardware: H,
    pub nodes: Vec<Node>,
    clocks: Vec<NamedClock>,
    now: Picos,
    /// Nodes that are evaluated at the next edge.
    awake: Vec<bool>,
    /// Something can change at the next edge.
    active: bool,
    gated: bool,
    trace: Trace,
    /// Of the wave, if it has some.
    lanes: Option<Lanes>,
    events: Option<Vec<Event>>,
    /// By clock: rising edges that were evaluated.
    edges: Vec<u64>,
    /// Faults with their ends.
    faults: Vec<(Picos, usize, Fault)>,
}

impl<H: Hardware> RtlMachine<H> {
    /// The machine of `hardware`, reset, at time 0. Each node has `mem_bytes` bytes of memory.
    pub fn new(mut hardware: H, clocks: Vec<NamedClock>, mem_bytes: usize, timing: MemoryTiming) -> RtlMachine<H> {
        hardware.reset();
        let node = |node| Node {
            memory: Memory::new(mem_bytes),
            irq: hardware.irq(node),
            agent: MemoryAgent::new(timing, hardware.bus_bytes()),
            access: None,
        };
        let mut machine = RtlMachine {
            nodes: (0..hardware.nodes()).map(node).collect(),
            awake: vec![true; hardware.nodes()],
            hardware,
            edges: vec![0; clocks.len()],
            clocks,
            now: Picos::ZERO,
            active: true,
            gated: true,
            trace: Trace::default(),
            lanes: None,
            events: None,
            faults: Vec::new(),
        };
        machine.look();
        machine
    }

    /// The same machine, its time beginning at this instant: there were no edges before.
    pub fn starting_at(mut self, start: Picos) -> RtlMachine<H> {
        self.pass_to(start);
        self
    }

    /// The same machine with every unit evaluated at every edge, and with junk on lines whose words do not count:
    /// slower, and the same in every observable way (tests compare).
    pub fn ungated(mut self) -> RtlMachine<H> {
        self.gated = false;
        self.awake.fill(true);
        self.with_junk(1)
    }

    /// The same machine with junk, from this seed, on lines whose words do not count.
    pub fn with_junk(self, seed: u64) -> RtlMachine<H> {
        self.hardware.context().set_junk(seed);
        self
    }

    /// The same machine writing the wave that `probe` asks for.
    pub fn with_probe(mut self, probe: &Probe) -> RtlMachine<H> {
        let inputs = |(inputs, clock): &NamedClock| inputs.iter().map(|input| (*input, *clock)).collect::<Vec<_>>();
        let clocks: Vec<_> = self.clocks.iter().flat_map(inputs).collect();
        self.lanes = probe.has_lanes().then(|| {
            self.hardware.keep_heads();
            let units = self.hardware.units();
            let scope = |at: usize| match units.get(at) {
                Some(unit) => unit.name().to_owned(),
                None => format!("node_{at}"),
            };
            let scopes: Vec<String> = (0..self.nodes.len()).map(scope).collect();
            Lanes::new(&scopes, self.hardware.terms(), self.clocks[0].1.period())
        });
        let names = self.lanes.as_ref().map_or(&[][..], Lanes::names);
        self.trace = Trace::new(probe, &clocks).with_lanes(names);
        self
    }

    /// The same machine with random extra latency on all memories.
    pub fn with_memory_jitter(mut self, seed: u64, latency: Cycle, gap: Cycle) -> RtlMachine<H> {
        for (at, node) in self.nodes.iter_mut().enumerate() {
            let seed = seed.wrapping_add(at as u64);
            node.agent = node.agent.clone().with_jitter(seed, latency, gap);
        }
        self
    }

    pub fn hardware(&self) -> &H {
        &self.hardware
    }

    /// Changes the hardware between two edges; what it then shows counts at the next one.
    pub fn with_hardware<T>(&mut self, change: impl FnOnce(&mut H) -> T) -> T {
        let changed = change(&mut self.hardware);
        self.look();
        changed
    }

    /// The number of the last edge of the bus clock, time that was skipped included.
    pub fn cycle(&self) -> u64 {
        self.clocks[0].1.index().0 - 1
    }

    /// Rising edges of clock number `clock` that were evaluated so far; skipped time does not count.
    pub fn edges(&self, clock: usize) -> u64 {
        self.edges[clock]
    }

    /// Nothing can change any more by itself.
    pub fn at_rest(&self) -> bool {
        !self.active
    }

    /// The next instant at which a clock rises, whether or not anything can change there.
    pub fn step(&mut self) {
        self.now = self.next_edge();
        self.edge();
    }

    /// The next edge of any clock; later than `now`.
    fn next_edge(&self) -> Picos {
        let edges = self.clocks.iter().map(|(_, clock)| clock.next());
        edges.min().expect("a machine has a clock")
    }

    /// No unit and no edge is left out.
    fn evaluates_all(&self) -> bool {
        !self.gated || self.trace.is_open()
    }

    /// Finds which nodes count at the next edge.
    fn look(&mut self) {
        let all = self.evaluates_all();
        self.active = self.hardware.network_stirs() || !self.faults.is_empty();
        for (at, node) in self.nodes.iter().enumerate() {
            let stirs = !node.agent.is_idle() || self.hardware.stirs(at);
            self.awake[at] = stirs || all;
            self.active |= stirs;
        }
    }

    /// Time passes in which nothing happens.
    fn pass_to(&mut self, to: Picos) {
        self.now = to;
        self.clocks.iter_mut().for_each(|(_, clock)| clock.skip_to(to));
    }

    /// Ends the faults that last until this instant.
    fn end_faults(&mut self) {
        let (now, hardware) = (self.now, &mut self.hardware);
        let (lasting, ended): (Vec<_>, Vec<_>) = self.faults.drain(..).partition(|(end, ..)| *end > now);
        self.faults = lasting;
        // Of two that overlap, the later end counts.
        let lasts =
            |node: usize, of: fn(&Fault) -> bool| self.faults.iter().any(|(_, at, fault)| *at == node && of(fault));
        for (_, node, fault) in ended {
            match fault {
                Fault::LinkStalls(_) if !lasts(node, |fault| matches!(fault, Fault::LinkStalls(_))) => {
                    hardware.hold_links(node, false);
                }
                Fault::NicResets(_) if !lasts(node, |fault| matches!(fault, Fault::NicResets(_))) => {
                    hardware.hold_reset(node, false);
                }
                _ => {}
            }
        }
    }

    /// The edge at `now`.
    fn edge(&mut self) {
        let now = self.now;
        self.end_faults();
        let rises = |(at, (_, clock)): (usize, &NamedClock)| u64::from(clock.next() == now) << at;
        let edges = Edges {
            rising: self.clocks.iter().enumerate().map(rises).sum(),
            all: self.evaluates_all(),
        };
        let RtlMachine {
            hardware,
            nodes,
            clocks,
            awake,
            trace,
            lanes,
            events,
            ..
        } = self;
        let mut note = |node: usize, kind| {
            let node = NodeId(node as u16);
            let event = Event { at: now, node, kind };
            if let Some(lanes) = lanes {
                lanes.note(event);
            }
            if let Some(events) = events {
                events.push(event);
            }
        };
        let bus = edges.rises(0);
        if bus {
            let cycle = clocks[0].1.index();
            for (at, node) in nodes.iter_mut().enumerate().filter(|(at, _)| awake[*at]) {
                hardware.host_edge(at, cycle, |kind| note(at, kind));
                hardware.set_memory_ports(at, node.agent.ports());
                let from = hardware.memory_ports(at);
                node.agent.step(cycle, &mut node.memory, &from, |kind| note(at, kind));
            }
        }
        trace.before(now, || hardware.units());
        hardware.context().set_time(now.0);
        hardware.edge(edges, awake, &mut note);
        if bus {
            for (at, node) in nodes.iter_mut().enumerate().filter(|(at, _)| awake[*at]) {
                let level = hardware.irq(at);
                if level != node.irq {
                    node.irq = level;
                    note(at, EventKind::Irq { level });
                }
            }
        }
        if let Some(lanes) = lanes {
            lanes.tell(now, |node, way, link| hardware.head(node, way, link));
            trace.show(lanes.texts());
        }
        trace.after();
        for (at, (_, clock)) in clocks.iter_mut().enumerate().filter(|(at, _)| edges.rises(*at)) {
            clock.advance();
            self.edges[at] += 1;
        }
        self.look();
    }
}

impl<H: Hardware> Backend for RtlMachine<H> {
    fn now(&self) -> Picos {
        self.now
    }

    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn next_event(&self) -> Option<Picos> {
        self.active.then(|| self.next_edge())
    }

    fn advance(&mut self, to: Picos) {
        assert!(to >= self.now, "time runs forward: {to} is before {}", self.now);
        while (self.active || self.evaluates_all()) && self.next_edge() <= to {
            self.step();
        }
        self.pass_to(to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let at = node.index();
        let under_way = self.nodes[at].access.replace(req);
        assert!(under_way.is_none(), "{node}: {req}, and {under_way:x?} is under way");
        self.hardware.start(at, req);
        let stirs = self.hardware.stirs(at);
        self.awake[at] |= stirs;
        self.active |= stirs || self.hardware.network_stirs();
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let access = self.nodes[node.index()].access?;
        let HostRsp { value, error } = self.hardware.take(node.index(), access)?;
        self.nodes[node.index()].access = None;
        let reads = access.write.is_none() && !error;
        let value = if reads { value } else { 0 };
        if let Some(lanes) = self.lanes.as_mut().filter(|_| reads) {
            lanes.read(node, access.addr, value);
        }
        Some(HostRsp { value, error })
    }

    fn irq(&self, node: NodeId) -> bool {
        self.nodes[node.index()].irq
    }

    fn doing(&self, node: NodeId) -> Doing {
        let (sends, receives) = self.hardware.links(node.index());
        Doing {
            sends,
            receives,
            memory: self.nodes[node.index()].agent.has_taken(),
        }
    }

    fn gauge(&self, node: NodeId, name: &str) -> Option<u32> {
        self.hardware.gauge(node.index(), name)
    }

    fn inject(&mut self, node: NodeId, fault: &Fault) -> bool {
        let (at, end) = (node.index(), self.now + fault.span());
        let clock = &self.clocks[0].1;
        let (cycle, cycles) = (clock.index(), clock.cycles_in(fault.span()));
        let agent = &mut self.nodes[at].agent;
        match fault {
            Fault::MemoryStalls(_) => agent.stall(cycle, cycles),
            Fault::MemoryRefuses(_) => agent.refuse(cycle, cycles),
            Fault::LinkStalls(_) => self.hardware.hold_links(at, true),
            Fault::NicResets(_) => {
                if !self.hardware.hold_reset(at, true) {
                    return false;
                }
                self.nodes[at].agent.reset();
            }
            Fault::Packet(words) => {
                let forged = self.hardware.forge(at, words);
                self.look();
                return forged;
            }
            Fault::MemoryFails { .. }
            | Fault::PagesGone { .. }
            | Fault::SoftwareSleeps(_)
            | Fault::InterruptsMasked(_) => return false,
        }
        self.faults.push((end, at, fault.clone()));
        self.look();
        true
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        &mut self.nodes[node.index()].memory
    }

    fn record(&mut self, on: bool) {
        self.events = on.then(Vec::new);
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn hang_report(&self) -> String {
        let mut text = String::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let mut parts = Vec::new();
            if node.irq {
                parts.push("interrupt line high, not served".to_string());
            }
            parts.extend(node.access.map(|req| format!("no response to {req}")));
            parts.extend(node.agent.report());
            if !parts.is_empty() {
                writeln!(text, "{}: {}", NodeId(at as u16), parts.join("; ")).expect("to a string");
            }
        }
        for line in self.hardware.report() {
            writeln!(text, "{line}").expect("to a string");
        }
        text
    }
}
