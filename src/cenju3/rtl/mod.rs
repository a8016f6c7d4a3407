//! The verilated Cenju-3: any number of NICs with their network, memories and host ports, on simulated time.
//!
//! Everything has a registered boundary, so at an instant all ports are read first and all units evaluated after, in any order. Units
//! that are fixed points of their clocks are left out, and when all are, time is skipped.

mod compose;
pub mod ports;
mod unit;

use std::fmt::Write as _;

use crate::harness::backend::{Backend, Event, EventKind, HostReq, HostRsp};
use crate::harness::clock::Clock;
use crate::harness::memory::{Memory, MemoryAgent, MemoryTiming};
use crate::harness::wave::{Probe, Trace};
use crate::{Cycle, NodeId, Picos};

use super::RECEIVE_FIFO;
use super::params::Config;
pub use compose::{Composed, NotBuilt};
use ports::{BusIn, Edges, Hardware, HostPort};
pub use unit::{Clocked, NicUnit};

/// What surrounds a NIC.
struct Node {
    memory: Memory,
    agent: MemoryAgent,
    host: HostPort,
    /// Interrupt line after the last edge.
    irq: bool,
    /// Edges of each clock since the node last stirred, up to [`SETTLE`].
    quiet: Quiet,
}

#[derive(Clone, Copy, Debug, Default)]
struct Quiet {
    io: u8,
    net: u8,
}

/// Edges of both clocks that a quiet NIC is given before it is left out: what one domain did last has then crossed into the other and shows in
/// its busy output, whatever the ratio of the clocks.
const SETTLE: u8 = 6;

/// A [`Backend`] of real RTL.
pub struct RtlMachine<H> {
    hardware: H,
    nodes: Vec<Node>,
    io: Clock,
    net: Clock,
    now: Picos,
    /// Nodes that are evaluated at the next edge.
    awake: Vec<bool>,
    /// Something can change at the next edge.
    active: bool,
    gated: bool,
    events: Option<Vec<Event>>,
    /// Network clock edges that were evaluated.
    net_cycles: u64,
}

impl<H: Hardware> RtlMachine<H> {
    /// Resets `hardware` and stands at time 0. The clocks, memory size and memory timing are `config`'s; what is wired into the hardware
    /// (nodes, stages, widths) was chosen when it was made.
    pub fn new(mut hardware: H, config: &Config) -> RtlMachine<H> {
        hardware.reset();
        let timing = memory_timing(config);
        let nodes = (0..hardware.nodes())
            .map(|node| Node {
                memory: Memory::new(config.mem_bytes as usize),
                agent: MemoryAgent::new(timing, hardware.bus_bytes()),
                host: HostPort::Idle,
                irq: hardware.irq(node),
                quiet: Quiet::default(),
            })
            .collect();
        let mut machine = RtlMachine {
            awake: vec![true; hardware.nodes()],
            hardware,
            nodes,
            io: Clock::new(config.io_period, config.io_phase),
            net: Clock::new(config.net_period, config.net_phase),
            now: Picos::ZERO,
            active: true,
            gated: true,
            events: None,
            net_cycles: 0,
        };
        machine.look(Edges { io: false, net: false });
        machine
    }

    /// The same machine with every unit evaluated at every edge, and with junk on lines whose words do not count: slower, and the same in every
    /// observable way (tests compare).
    pub fn ungated(mut self) -> RtlMachine<H> {
        self.gated = false;
        self.hardware.set_junk(1);
        self.awake.fill(true);
        self
    }

    /// The same machine writing the wave that `probe` asks for.
    pub fn with_probe(mut self, probe: &Probe) -> RtlMachine<H> {
        let clocks = [
            ("io_clk_i", self.io),
            ("net_clk_i", self.net),
            // The switches'.
            ("clk_i", self.net),
        ];
        self.hardware.set_trace(Trace::new(probe, &clocks));
        self
    }

    /// The same machine with random extra latency on all memories.
    pub fn with_memory_jitter(mut self, seed: u64, latency: Cycle, gap: Cycle) -> RtlMachine<H> {
        for (at, node) in self.nodes.iter_mut().enumerate() {
            node.agent = node
                .agent
                .clone()
                .with_jitter(seed.wrapping_add(at as u64), latency, gap);
        }
        self
    }

    pub fn hardware(&self) -> &H {
        &self.hardware
    }

    pub fn hardware_mut(&mut self) -> &mut H {
        &mut self.hardware
    }

    /// Network clock edges that were evaluated so far; skipped time does not count.
    pub fn net_cycles(&self) -> u64 {
        self.net_cycles
    }

    /// The next edge of either clock; later than `now`.
    fn next_edge(&self) -> Picos {
        self.io.next().min(self.net.next())
    }

    /// After `edges`: finds which nodes count at the next.
    fn look(&mut self, edges: Edges) {
        let all = self.evaluates_all();
        let mut any = self.hardware.network_stirs();
        for (at, node) in self.nodes.iter_mut().enumerate() {
            if node.host.stirs() || !node.agent.is_idle() || self.hardware.stirs(at) {
                node.quiet = Quiet::default();
            } else {
                node.quiet.io = (node.quiet.io + u8::from(edges.io)).min(SETTLE);
                node.quiet.net = (node.quiet.net + u8::from(edges.net)).min(SETTLE);
            }
            let awake = node.quiet.io < SETTLE || node.quiet.net < SETTLE;
            self.awake[at] = awake || all;
            any |= awake;
        }
        self.active = any;
    }

    /// No unit and no edge is left out.
    fn evaluates_all(&self) -> bool {
        !self.gated || self.hardware.wave_is_open()
    }

    fn edge(&mut self) {
        let edges = Edges {
            io: self.io.next() == self.now,
            net: self.net.next() == self.now,
        };
        let now = self.now;
        let events = &mut self.events;
        let mut note = |node: usize, kind| {
            if let Some(events) = events {
                events.push(Event {
                    at: now,
                    node: NodeId(node as u16),
                    kind,
                });
            }
        };
        if edges.io {
            let cycle = self.io.index();
            for (at, node) in self.nodes.iter_mut().enumerate().filter(|(at, _)| self.awake[*at]) {
                let mut bus = BusIn {
                    mem: *node.agent.ports(),
                    ..BusIn::default()
                };
                node.host.drive(&mut bus);
                self.hardware.set_bus_in(at, &bus);
                let out = self.hardware.bus_out(at);
                node.host.step(&out, &mut |kind| note(at, kind));
                node.agent
                    .step(cycle, &mut node.memory, &out.mem, |kind| note(at, kind));
            }
        }
        self.hardware.edge(now, edges, &self.awake, &mut note);
        if edges.io {
            for (at, node) in self.nodes.iter_mut().enumerate().filter(|(at, _)| self.awake[*at]) {
                let level = self.hardware.irq(at);
                if level != node.irq {
                    node.irq = level;
                    note(at, EventKind::Irq { level });
                }
            }
            self.io.advance();
        }
        if edges.net {
            self.net.advance();
            self.net_cycles += 1;
        }
        self.look(edges);
    }
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
            self.now = self.next_edge();
            self.edge();
        }
        self.now = to;
        self.io.skip_to(to);
        self.net.skip_to(to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let host = &mut self.nodes[node.index()];
        host.host.start(req);
        host.quiet = Quiet::default();
        self.awake[node.index()] = true;
        self.active = true;
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        self.nodes[node.index()].host.take()
    }

    fn irq(&self, node: NodeId) -> bool {
        self.nodes[node.index()].irq
    }

    fn gauge(&self, node: NodeId, name: &str) -> Option<u32> {
        (name == RECEIVE_FIFO).then(|| self.hardware.fifo_words(node.index()) * self.hardware.bus_bytes())
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
            match node.host {
                HostPort::Asking(req) => parts.push(format!("{req:?} not taken by the NIC")),
                HostPort::Waiting(req) => parts.push(format!("{req:?} not answered by the NIC")),
                HostPort::Answered(_) | HostPort::Idle => {}
            }
            parts.extend(node.agent.report());
            if !parts.is_empty() {
                let _ = writeln!(text, "{}: {}", NodeId(at as u16), parts.join("; "));
            }
        }
        for line in self.hardware.report() {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}
