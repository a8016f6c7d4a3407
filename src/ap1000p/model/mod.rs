//! The timed golden model of a whole AP1000+: cells and torus as events on simulated time, with the real bytes.
//!
//! What becomes of a message is said by the same pure functions that the RTL's blocks are held against (`command`,
//! `send`, `receive`, `word`, `mmu`, `creg`, the torus's routing function); nothing here is taken from the RTL. This
//! module says when: [`Timing`].
//!
//! What is coarser than the machine, and what software sees of it:
//! - **Queues** take a message at once, and lose one at once: no cycle sees it half way, but for one that waits for
//!   room. An element that is spilled is in memory one write latency later, and comes back one read latency after that
//!   at the earliest; elements come back one after the other.
//! - **Messages** go through the network as a whole, each router's input has room for two of each class and lane, and
//!   so has a cell for those that wait for a fault to be served or a register to be emptied: what is behind waits in
//!   the network, and then at its sender.
//! - **A message's data** are read when it is sent, but for faults and table reads on the way, and written 1 write
//!   latency after its last word came.
//! - **The local cache** is changed when a store to it begins, and takes no time of the next access.
//! - **The word unit** does what it is asked without waiting for others, unless a fault holds it.
//! - **The S-net** opens a barrier, and **the B-net** carries a word, in fixed times; the bus takes packets in the
//!   order in which they became complete.

mod cell;
mod execute;
mod host;
mod nets;
mod network;
mod queues;
mod replay;
mod timing;

use std::fmt::Write as _;

use super::params::Config;
use super::regs::*;
use crate::ap1000p::golden::access;
use crate::ap1000p::golden::creg::Cregs;
use crate::ap1000p::golden::mmu::{Lookup, Mmu};
use crate::ap1000p::golden::ring::Rings;
use crate::ap1000p::golden::window::Window;
use crate::ap1000p::golden::word::Request;
use crate::harness::agenda::Agenda;
use crate::harness::backend::{Backend, HostReq, HostRsp};
use crate::harness::event::{Event, EventKind};
use crate::harness::memory::Memory;
use crate::net::torus::{Class, Port, Torus};
use crate::{NodeId, Picos};

use cell::Node;
use nets::Nets;
use network::Network;
use replay::{Parts, Wait};

pub use timing::Timing;

/// Bits of an address in cell memory: 64 MB.
const MEM_BITS: u32 = 26;

/// The receiving side's names of the classes.
const CLASSES: [Class; 2] = [Class::Request, Class::Reply];

/// Who executes: each one thing at a time. In the order of FAULTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    SendRequests,
    SendReplies,
    ReceiveRequests,
    ReceiveReplies,
    Word,
}

impl Unit {
    const ALL: [Unit; 5] = [
        Unit::SendRequests,
        Unit::SendReplies,
        Unit::ReceiveRequests,
        Unit::ReceiveReplies,
        Unit::Word,
    ];

    fn sends(class: Class) -> Unit {
        match class {
            Class::Request => Unit::SendRequests,
            Class::Reply => Unit::SendReplies,
        }
    }

    fn receives(class: Class) -> Unit {
        match class {
            Class::Request => Unit::ReceiveRequests,
            Class::Reply => Unit::ReceiveReplies,
        }
    }
}

/// An address without translation, and who shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fault {
    unit: Unit,
    lookup: Lookup,
    /// `FAULT_...`.
    reason: u8,
}

impl Fault {
    /// As in WHY.
    fn why(&self) -> u32 {
        u32::from(self.reason) << WHY0_REASON_SHIFT
            | u32::from(self.lookup.write) << WHY0_WRITE_SHIFT
            | u32::from(self.lookup.system) << WHY0_SYSTEM_SHIFT
            | u32::from(self.lookup.context) << WHY0_CONTEXT_SHIFT
    }
}

/// An access of a host.
#[derive(Clone, Copy, Debug)]
enum Access {
    Started(HostReq),
    /// For a communication register, for room in a queue, or to count a remote store.
    Waiting(HostReq),
    /// For a remote load's answer.
    Loading(access::Access),
    /// For a copy in the local cache.
    Copying,
    Answered(HostRsp),
}

/// Something due at an instant. `Run` says "look again": doing it in vain is harmless.
#[derive(Debug)]
enum Due {
    Host,
    /// A load of a copy is over.
    Copied(HostRsp),
    Run(Unit),
    /// The last word of a message has left its send controller; its flag counts.
    Sent(Option<Request>),
    /// A message is in.
    Arrived(Class, Vec<u32>),
    /// The cell's way to its router, or to itself, may be free.
    Inject,
    /// An element may come back from the spill region.
    Refill,
    /// A link out of the cell's router may be given.
    Link(Port),
    /// The last word of a message that came by this port and virtual channel has left the router.
    Left(Port, usize),
    /// The barrier of a group opens.
    Opens(usize),
    /// The B-net looks what it can do.
    Bus,
    Note(EventKind),
}

/// A [`Backend`] that is the golden model of the machine. Hosts reach [`Window`]s.
pub struct ModelMachine {
    torus: Torus,
    timing: Timing,
    period: Picos,
    now: Picos,
    /// Cycles of the event that happens.
    cycle: u64,
    agenda: Agenda<u64, (usize, Due)>,
    nodes: Vec<Node>,
    network: Network,
    nets: Nets,
    events: Option<Vec<Event>>,
}

impl ModelMachine {
    /// The machine of `config` after reset, at time 0; each cell has been told its place and the torus's size.
    pub fn new(config: &Config) -> ModelMachine {
        let (torus, timing) = (config.torus(), Timing::of(config));
        let node = |number| {
            let mut node = Node::new(
                Parts {
                    memory: Memory::new(config.mem_bytes as usize),
                    mmu: Mmu::new(0, MEM_BITS),
                    cregs: Cregs::default(),
                    rings: Rings::default(),
                },
                config.hardware_refill,
            );
            let at = torus.cell(number);
            node.regs.cell = (at.x as u32) << CELL_X_SHIFT | (at.y as u32) << CELL_Y_SHIFT;
            node.regs.size = (torus.x() as u32) << SIZE_X_SHIFT | (torus.y() as u32) << SIZE_Y_SHIFT;
            node
        };
        ModelMachine {
            torus,
            timing,
            period: config.period,
            now: Picos::ZERO,
            cycle: 0,
            agenda: Agenda::default(),
            nodes: (0..torus.cells()).map(node).collect(),
            network: Network::new(torus, &timing, config.lane_words),
            nets: Nets::new(torus.cells()),
            events: None,
        }
    }

    fn at(&mut self, cycle: u64, node: usize, due: Due) {
        assert!(cycle >= self.cycle, "{due:?} scheduled in the past");
        self.agenda.put(cycle, (node, due));
    }

    /// Records an event at a cycle that may lie ahead.
    fn note(&mut self, cycle: u64, node: usize, kind: EventKind) {
        let Some(events) = &mut self.events else { return };
        if cycle > self.cycle {
            self.at(cycle, node, Due::Note(kind));
        } else {
            events.push(Event {
                at: self.period * self.cycle,
                node: NodeId(node as u16),
                kind,
            });
        }
    }

    fn happen(&mut self, n: usize, due: Due) {
        match due {
            Due::Host => self.host(n),
            Due::Copied(rsp) => self.nodes[n].host = Some(Access::Answered(rsp)),
            Due::Run(unit) => self.run(n, unit),
            Due::Sent(flag) => {
                let node = &mut self.nodes[n];
                node.sending -= 1;
                node.flags.extend(flag);
                self.run(n, Unit::Word);
            }
            Due::Arrived(class, words) => {
                let node = &mut self.nodes[n];
                node.coming -= 1;
                node.inbox[class as usize].push_back(words);
                self.run(n, Unit::receives(class));
            }
            Due::Inject => self.inject(n),
            Due::Refill => {
                self.nodes[n].queues.refills = false;
                self.refill(n);
            }
            Due::Link(port) => self.link(n, port),
            Due::Left(from, vc) => self.left(n, from, vc),
            Due::Opens(group) => self.nets.open(group),
            Due::Bus => {
                if self.nets.run() {
                    self.at(self.cycle + self.timing.bus_word, n, Due::Bus);
                }
            }
            Due::Note(kind) => self.note(self.cycle, n, kind),
        }
        self.drive_irq(n);
    }

    fn drive_irq(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        node.renew_causes();
        let level = node.regs.irq();
        if level != node.irq {
            node.irq = level;
            self.note(self.cycle, n, EventKind::Irq { level });
        }
    }

    /// Who waited for this looks again.
    fn wake(&mut self, n: usize, wait: Wait) {
        for unit in Unit::ALL {
            let job = self.nodes[n].jobs[unit as usize].as_mut();
            if let Some(job) = job.filter(|job| job.wait == Some(wait)) {
                job.wait = None;
                self.at(self.cycle, n, Due::Run(unit));
            }
        }
    }

    /// The host before the network, requests before replies.
    fn registers_changed(&mut self, n: usize) {
        if matches!(self.nodes[n].host, Some(Access::Waiting(_))) {
            self.at(self.cycle, n, Due::Host);
        }
        self.wake(n, Wait::Register);
    }

    fn run(&mut self, n: usize, unit: Unit) {
        match unit {
            Unit::SendRequests => self.send(n, Class::Request),
            Unit::SendReplies => self.send(n, Class::Reply),
            Unit::ReceiveRequests => self.receive(n, Class::Request),
            Unit::ReceiveReplies => self.receive(n, Class::Reply),
            Unit::Word => self.count(n),
        }
    }

    fn run_senders(&mut self, n: usize) {
        self.run(n, Unit::SendRequests);
        self.run(n, Unit::SendReplies);
    }

    /// What waits for room in the queues goes on, and then who waited for that.
    fn flow(&mut self, n: usize) {
        if self.nodes[n].flow(self.cycle, &self.timing) {
            for unit in [Unit::SendRequests, Unit::SendReplies, Unit::ReceiveRequests] {
                self.at(self.cycle, n, Due::Run(unit));
            }
            if matches!(self.nodes[n].host, Some(Access::Waiting(_))) {
                self.at(self.cycle, n, Due::Host);
            }
        }
        self.refill(n);
    }

    /// An element comes back from the spill region, or will.
    fn refill(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        let Some(at) = node.queues.next_refill().filter(|_| !node.queues.refills) else {
            return;
        };
        if at > self.cycle {
            node.queues.refills = true;
            self.at(at, n, Due::Refill);
            return;
        }
        node.queues.bring_back(self.cycle, &node.parts.memory, &self.timing);
        self.flow(n);
        self.run_senders(n);
    }
}

impl Backend for ModelMachine {
    fn now(&self) -> Picos {
        self.now
    }

    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn next_event(&self) -> Option<Picos> {
        self.agenda.next().map(|cycle| self.period * cycle)
    }

    fn advance(&mut self, to: Picos) {
        assert!(to >= self.now, "time does not run backwards");
        while let Some((cycle, (n, due))) = self.agenda.take(to.0 / self.period.0) {
            self.cycle = cycle;
            self.happen(n, due);
        }
        self.now = to;
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let n = node.index();
        assert!(
            self.nodes[n].host.is_none(),
            "cell {n}: an access before the last one's answer was taken"
        );
        self.nodes[n].host = Some(Access::Started(req));
        let takes = match Window::of(req) {
            Some(Window::Page { .. } | Window::Shared(_)) => self.timing.store,
            _ => self.timing.host,
        };
        let edge = self.now.0.div_ceil(self.period.0);
        self.at(edge + takes, n, Due::Host);
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let Some(Access::Answered(rsp)) = self.nodes[node.index()].host else {
            return None;
        };
        self.nodes[node.index()].host = None;
        Some(rsp)
    }

    fn irq(&self, node: NodeId) -> bool {
        self.nodes[node.index()].irq
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        &mut self.nodes[node.index()].parts.memory
    }

    fn record(&mut self, on: bool) {
        self.events = on.then(Vec::new);
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn hang_report(&self) -> String {
        let mut report = String::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let Some(state) = node.state() {
                let at = self.torus.cell(number);
                writeln!(report, "cell {number} at {at}: {state}").expect("to a string");
            }
        }
        match self.network.messages() {
            0 => {}
            messages => writeln!(report, "{messages} messages in the network").expect("to a string"),
        }
        if let Some(state) = self.nets.state() {
            writeln!(report, "{state}").expect("to a string");
        }
        report
    }
}
