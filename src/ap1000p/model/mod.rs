//! The timed golden model of a whole AP1000+: cells and torus as events on simulated time, with the real bytes.
//!
//! The pure functions that the benches compare with the RTL's blocks decide the effect of a message: `command`, `send`,
//! `receive`, `word`, `mmu`, `creg`, and the torus's routing function. Nothing here is taken from the RTL. This module
//! adds the time: [`Timing`].
//!
//! The model is coarser than the machine in these points, which software can see:
//! - **Queues** take a message whole, and release one whole. No cycle shows a partial message, except one that waits
//!   for room. A spilled element is in memory one write latency later. It comes back at least one read latency after
//!   that. Elements come back one at a time.
//! - **Messages** move through the network as a whole. Each input of a router has room for two of each class and lane.
//!   A cell has the same room for messages that wait for a fault to be served or a register to be emptied. Messages
//!   behind these wait in the network, and then at their sender.
//! - **A message's data** are read when the message is sent; only faults and table reads come in between. They are
//!   written 1 write latency after the last word arrived.
//! - **A missing page of a message to be sent** lets other queues pass, wherever in its data the page is; on the RTL
//!   only before the message has begun.
//! - **The local cache** changes when a store to it begins, and the change does not delay the next access.
//! - **The word unit** executes a request without waiting for others, unless a fault holds it.
//! - **The S-net** opens a barrier, and **the B-net** carries a word, in fixed times. The bus takes packets in the
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

/// Address bits of cell memory: 64 MB.
const MEM_BITS: u32 = 26;

/// The classes by number, for the receiving side.
const CLASSES: [Class; 2] = [Class::Request, Class::Reply];

/// The units that execute; each does one thing at a time. In the order of FAULTS.
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

/// An address without translation, and the unit that shows the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fault {
    unit: Unit,
    lookup: Lookup,
    /// `FAULT_...`.
    reason: u8,
}

impl Fault {
    /// The value of register WHY.
    fn why(&self) -> u32 {
        u32::from(self.reason) << WHY0_REASON_SHIFT
            | u32::from(self.lookup.write) << WHY0_WRITE_SHIFT
            | u32::from(self.lookup.system) << WHY0_SYSTEM_SHIFT
            | u32::from(self.lookup.context) << WHY0_CONTEXT_SHIFT
    }
}

/// A host access.
#[derive(Clone, Copy, Debug)]
enum Access {
    Started(HostReq),
    /// Waits for a communication register, for room in a queue, or for room in the count of remote stores.
    Waiting(HostReq),
    /// Waits for the reply to a remote load.
    Loading(access::Access),
    /// Waits for a copy in the local cache.
    Copying,
    Answered(HostRsp),
}

/// An event of simulated time. `Run` only looks again: a needless one is harmless.
#[derive(Debug)]
enum Due {
    Host,
    /// The load of a copy completes.
    Copied(HostRsp),
    Run(Unit),
    /// The last word of a message has left its send controller; the flag of the message counts.
    Sent(Option<Request>),
    /// A message has arrived whole.
    Arrived(Class, Vec<u32>),
    /// The link to the router, or the path to the cell itself, may be free.
    Inject,
    /// An element may come back from the spill region.
    Refill,
    /// A link out of the router may serve a waiting message.
    Link(Port),
    /// The last word of a message has left the router; the message came by this port and virtual channel.
    Left(Port, usize),
    /// The barrier of a group opens.
    Opens(usize),
    /// The B-net may carry a word.
    Bus,
    Note(EventKind),
}

/// A [`Backend`]: the golden model of the machine. Hosts access [`Window`]s.
pub struct ModelMachine {
    torus: Torus,
    timing: Timing,
    period: Picos,
    now: Picos,
    /// The cycle of the current event.
    cycle: u64,
    agenda: Agenda<u64, (usize, Due)>,
    nodes: Vec<Node>,
    network: Network,
    nets: Nets,
    events: Option<Vec<Event>>,
}

impl ModelMachine {
    /// The machine of `config` after reset, at time 0. The registers of each cell hold its position and the size of the
    /// torus.
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

    /// Runs the units that waited for this again.
    fn wake(&mut self, n: usize, wait: Wait) {
        for unit in Unit::ALL {
            let job = self.nodes[n].jobs[unit as usize].as_mut();
            if let Some(job) = job.filter(|job| job.wait == Some(wait)) {
                job.wait = None;
                self.at(self.cycle, n, Due::Run(unit));
            }
        }
    }

    /// Retries the accesses that wait for a communication register: the host first, then requests, then replies.
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

    /// Moves waiting words on; then runs the units and the host that waited for room.
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

    /// Brings an element back from the spill region, now or at the earliest cycle.
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
