//! The timed golden model of a whole AP1000+: cells and torus as events on simulated time, with the real bytes.
//!
//! What becomes of a message is said by the same pure functions that the RTL's blocks are held against (`command`, `send`, `receive`, `word`, `mmu`, `creg`, the
//! torus's routing function); nothing here is taken from the RTL. This module says when: [`Timing`].
//!
//! What is coarser than the machine, and what software sees of it:
//! - **Queues** take a message at once, and lose one at once: no cycle sees it half way, but for one that waits for room. An element that is spilled is in memory one write
//!   latency later, and comes back one read latency after that at the earliest; elements come back one after the other.
//! - **Messages** go through the network as a whole, each router's input has room for two of each class and lane, and so has a cell for those that wait for a fault to be
//!   served or a register to be emptied: what is behind waits in the network, and then at its sender.
//! - **A message's data** are read when it is sent, but for faults and table reads on the way, and written 1 write latency after its last word came.
//! - **The local cache** is changed when a store to it begins, and takes no time of the next access.
//! - **The word unit** does what it is asked without waiting for others, unless a fault holds it.
//! - **The S-net** opens a barrier, and **the B-net** carries a word, in fixed times; the bus takes packets in the order in which they became complete.

mod cell;
mod nets;
mod network;
mod queues;
mod replay;

use std::fmt::Write as _;

use super::Queue;
use super::bif::regs::BIF_SEND_LAST;
use super::creg::{Access as Creg, Conflict, Cregs};
use super::dsm::{self, Course};
use super::mmu::{Lookup, Mmu};
use super::params::Config;
use super::receive::{Body, Class, Effect, Message, Receiver};
use super::regs::*;
use super::ring::Rings;
use super::send::{Traffic, send};
use super::window::Window;
use super::word::{Op, Request, perform};
use crate::harness::agenda::Agenda;
use crate::harness::backend::{Backend, Event, EventKind, HostReq, HostRsp};
use crate::harness::memory::Memory;
use crate::net::torus::{Port, Torus};
use crate::{Addr, NodeId, Picos};

use cell::Node;
use nets::Nets;
use network::{Network, Outgoing};
use replay::{Job, Parts, Run, Wait};

/// Bits of an address in cell memory: 64 MB.
const MEM_BITS: u32 = 26;

/// The receiving side's names of the classes.
const CLASSES: [Class; 2] = [Class::Request, Class::Reply];

/// When things happen, in cycles. "Budget" is the digest of the paper's machine, worked out there for a PUT of one word from what is known (50 MHz, 25 MB/s, 2 network
/// clocks a router, 5.1 us in all); those without another origin are its split, our own guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A store to a command page, 2: eight in 16 (budget).
    pub store: u64,
    /// An access of a register, 2 (own guess, as for Cenju-3).
    pub host: u64,
    /// A command's last word to the send controller, 4 (budget).
    pub queue: u64,
    /// The send controller's decoding and lookups that hit, 6 (budget).
    pub decode: u64,
    /// Memory's first word, 12 (budget). Not for a message without data.
    pub read: u64,
    /// A word of a page table, 12 (budget: 36 for three).
    pub walk: u64,
    /// A word on a link, 8 at 25 MB/s (public), 1 at the RTL's full speed.
    pub word: u64,
    /// A router, 8: 160 ns (known). At full speed 3, as measured of the RTL (docs/machines/torus.md).
    pub hop: u64,
    /// A word within the cell, 4: read and written over the bus (budget).
    pub local: u64,
    /// The receive controller's decoding and lookups that hit, 8 (budget).
    pub receive: u64,
    /// A word to be in memory, 12 (budget).
    pub write: u64,
    /// A word that is read and changed: a flag, an atomic, 20 (budget).
    pub atomic: u64,
    /// An element that comes back from the spill region, 4: two words over the bus, and the share of a burst of eight (own guess).
    pub refill: u64,
    /// The last arrival at a barrier of the S-net to its release, 12: four levels of 1 cycle up and down, and the interfaces (own guess).
    pub barrier: u64,
    /// A packet to be first on the B-net, 8 (own guess).
    pub bus: u64,
    /// A word on the B-net, 4: 50 MB/s (public).
    pub bus_word: u64,
}

impl Timing {
    pub fn of(config: &Config) -> Timing {
        let [store, word, read, write] = [
            config.store_cycles,
            config.link_cycles,
            config.mem_read_latency,
            config.mem_write_latency,
        ]
        .map(u64::from);
        Timing {
            store,
            host: 2,
            queue: 4,
            decode: 6,
            read,
            walk: read,
            word,
            hop: word.max(3),
            local: 4,
            receive: 8,
            write,
            atomic: 20,
            refill: 4,
            barrier: 12,
            bus: 8,
            bus_word: config.bus_cycles.into(),
        }
    }
}

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

    fn sends(class: Traffic) -> Unit {
        match class {
            Traffic::Request => Unit::SendRequests,
            Traffic::Reply => Unit::SendReplies,
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
    Loading(dsm::Access),
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

    // ------------------------------------------------------------------------------------------------------------- the host

    fn host(&mut self, n: usize) {
        let Some(Access::Started(req) | Access::Waiting(req)) = self.nodes[n].host else {
            return;
        };
        let (offset, write) = match req {
            HostReq::Read { offset } => (offset, None),
            HostReq::Write { offset, value } => (offset, Some(value)),
            HostReq::Load { .. } | HostReq::Store { .. } => {
                self.nodes[n].host = Some(self.shared(n, req));
                self.flow(n);
                return self.run_senders(n);
            }
        };
        let window = Window::of(offset).filter(|_| offset.is_multiple_of(4));
        let value = match (window, write) {
            (Some(Window::Creg(addr)), _) => match self.nodes[n].parts.cregs.access(Creg { addr, write }) {
                Ok(word) => Some(word.unwrap_or(0)),
                Err(Conflict) if self.nodes[n].regs.has_mode(MODE_FAULT_HOST_MASK) => None,
                Err(Conflict) => {
                    self.nodes[n].host = Some(Access::Waiting(req));
                    return;
                }
            },
            (Some(Window::Net(offset)), write) => self.net(n, offset, write),
            (Some(Window::Register(offset)), None) => self.nodes[n].read(offset, self.cycle),
            (Some(Window::Register(offset)), Some(value)) => self.write(n, offset, value).then_some(0),
            (Some(Window::Page(page)), Some(_)) if !self.nodes[n].queues.takes(page) => {
                self.nodes[n].host = Some(Access::Waiting(req));
                return;
            }
            (Some(Window::Page(page)), Some(data)) => {
                self.nodes[n].store(page, data);
                Some(0)
            }
            (Some(Window::Page(_)) | None, _) => None,
        };
        self.nodes[n].host = Some(Access::Answered(HostRsp {
            value: value.unwrap_or(0).into(),
            error: value.is_none(),
        }));
        if let Some(value) = write.filter(|_| value.is_some()) {
            self.note(self.cycle, n, EventKind::RegWrite { offset, value });
        }
        match window {
            Some(Window::Creg(_)) => self.registers_changed(n),
            Some(_) if write.is_some() => {
                self.flow(n);
                self.run_senders(n);
            }
            _ => {}
        }
    }

    /// A load or store of the shared space begins: what the processor has of it.
    fn shared(&mut self, n: usize, req: HostReq) -> Access {
        let node = &mut self.nodes[n];
        let answered = |error| Access::Answered(HostRsp { value: 0, error });
        let Some(access) = dsm::Access::of(req) else {
            return answered(true);
        };
        let stores = access.write.is_some();
        if stores && node.acks.count() == ACKS_COUNT_MASK {
            return Access::Waiting(req);
        }
        if !stores {
            node.regs.loaded = ACCESS_DONE;
        }
        let Node { regs, tags, .. } = &mut *node;
        let course = access.course(regs.place(), dsm::Pages::of(regs.wtp_pages), tags);
        if matches!(course, Course::Message(_) | Course::Both(..)) && !node.queues.is_free(Queue::Access) {
            return Access::Waiting(req);
        }
        match course {
            Course::Refused => {
                node.regs.cause |= CAUSE_REFUSED_MASK;
                if !stores {
                    node.regs.loaded = ACCESS_REFUSED;
                }
                // A store is not waited for.
                return answered(!stores);
            }
            Course::Miss => {
                node.regs.loaded = ACCESS_MISS;
                return answered(true);
            }
            Course::Copy(at) => {
                let words = node.parts.read(at & !3, 1 << access.size.max(2));
                if words.is_none() {
                    node.regs.loaded = ACCESS_FAILED;
                }
                let rsp = HostRsp {
                    value: words.map_or(0, |words| access.value(words)),
                    error: words.is_none(),
                };
                self.at(self.cycle + self.timing.read, n, Due::Copied(rsp));
                return Access::Copying;
            }
            Course::Both(words, at) => {
                if !node.parts.write(at, &access.bytes()) {
                    node.regs.cause |= CAUSE_WORD_MASK;
                }
                node.queues.enter(Queue::Access, &words);
            }
            Course::Message(words) => node.queues.enter(Queue::Access, &words),
        }
        if stores {
            node.acks.step(true, false);
            answered(false)
        } else {
            Access::Loading(access)
        }
    }

    /// The answer of a load, without words if it could not be loaded. One that nobody waits for is dropped, and told.
    fn loaded(&mut self, n: usize, words: &[u32]) {
        let node = &mut self.nodes[n];
        let Some(Access::Loading(access)) = node.host else {
            node.regs.stray(1);
            return;
        };
        let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
        if words.is_empty() {
            node.regs.loaded = ACCESS_FAILED;
        }
        node.host = Some(Access::Answered(HostRsp {
            value: access.value(word(0) | word(1) << 32),
            error: words.is_empty(),
        }));
    }

    /// An access of the registers of S-net and B-net; `None` if it is refused.
    fn net(&mut self, n: usize, offset: u32, write: Option<u32>) -> Option<u32> {
        let bif = &mut self.nets.bifs[n];
        let done = match write {
            Some(value) => bif.write(offset, value).map(|_| 0),
            None => bif.read(offset),
        };
        if done.is_ok() && offset == BIF_SEND_LAST && write.is_some() {
            self.nets.queue(n);
        }
        if write.is_some() {
            for group in self.nets.complete() {
                self.at(self.cycle + self.timing.barrier, n, Due::Opens(group));
            }
        }
        if self.nets.wakes() {
            self.at(self.cycle + self.timing.bus, n, Due::Bus);
        }
        done.ok()
    }

    /// Writes a register; false where it cannot be written.
    fn write(&mut self, n: usize, offset: u32, value: u32) -> bool {
        let done = self.nodes[n].write(offset, value);
        match offset {
            SERVE => self.serve(n, value),
            // What waited may be a fault now.
            MODE => self.registers_changed(n),
            _ => {}
        }
        done
    }

    fn serve(&mut self, n: usize, value: u32) {
        let faults = self.nodes[n].faults().into_iter().enumerate();
        for (shown, (unit, _)) in faults.filter_map(|(shown, fault)| Some((shown, fault?))) {
            let bit = |shift: u32| value >> shift >> shown & 1 == 1;
            let [retry, abort] = [SERVE_RETRY_SHIFT, SERVE_ABORT_SHIFT].map(bit);
            if !retry && !abort {
                continue;
            }
            let job = self.nodes[n].jobs[unit as usize].as_mut().expect("it waits");
            job.wait = None;
            job.abort = abort;
            self.at(self.cycle, n, Due::Run(unit));
            if shown == Unit::Word as usize {
                self.nodes[n].word_held = None;
                self.wake(n, Wait::Word);
                self.at(self.cycle, n, Due::Run(Unit::Word));
            }
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
            Unit::SendRequests => self.send(n, Traffic::Request),
            Unit::SendReplies => self.send(n, Traffic::Reply),
            Unit::ReceiveRequests => self.receive(n, Class::Request),
            Unit::ReceiveReplies => self.receive(n, Class::Reply),
            Unit::Word => self.count(n),
        }
    }

    fn run_senders(&mut self, n: usize) {
        self.run(n, Unit::SendRequests);
        self.run(n, Unit::SendReplies);
    }

    // ------------------------------------------------------------------------------------------------------------- queues

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

    // ------------------------------------------------------------------------------------------------------------- execution

    /// Executes what the unit has, as far as it goes; `None` if it stopped.
    fn execute<T>(&mut self, n: usize, unit: Unit, own: usize, body: impl FnOnce(&mut Run) -> T) -> Option<T> {
        let node = &mut self.nodes[n];
        let mut job = node.jobs[unit as usize].take().expect("something to execute");
        let receives = matches!(unit, Unit::ReceiveRequests | Unit::ReceiveReplies);
        let mut run = Run {
            parts: &mut node.parts,
            job: &mut job,
            timing: &self.timing,
            now: self.cycle,
            unit,
            own,
            first: if receives { self.timing.write } else { self.timing.read },
            word_held: node.word_held.is_some(),
            conflicts_fault: node.regs.has_mode(MODE_FAULT_NET_MASK),
            stopped: None,
            word_failed: false,
            touched: false,
            walked: Vec::new(),
            asked: 0,
            places: 0,
            in_ring: false,
        };
        let result = body(&mut run);
        let (stopped, word_failed, touched) = (run.stopped, run.word_failed, run.touched);
        let walked = run.walked;
        if let Some(wait) = stopped {
            job.wait = Some(wait);
            node.jobs[unit as usize] = Some(job);
            match wait {
                Wait::Until(cycle) => self.at(cycle, n, Due::Run(unit)),
                Wait::Fault(fault) if fault.unit == Unit::Word => self.nodes[n].word_held = Some(unit),
                Wait::Fault(_) | Wait::Word | Wait::Register => {}
            }
        } else if word_failed {
            node.regs.cause |= CAUSE_WORD_MASK;
        }
        for (words, addr) in (0..).zip(walked) {
            let read = EventKind::MemRead {
                addr: Addr(addr),
                bytes: 4,
            };
            self.note(self.cycle + words * self.timing.walk, n, read);
        }
        if touched {
            self.registers_changed(n);
        }
        stopped.is_none().then_some(result)
    }

    fn is_ready(&self, n: usize, unit: Unit) -> bool {
        let job = &self.nodes[n].jobs[unit as usize];
        job.as_ref().is_some_and(|job| job.ready(self.cycle))
    }

    fn send(&mut self, n: usize, class: Traffic) {
        let unit = Unit::sends(class);
        if self.nodes[n].jobs[unit as usize].is_none() && self.nodes[n].send_free[class as usize] <= self.cycle {
            let Some(words) = self.nodes[n].next_message(class) else {
                return;
            };
            let at = self.cycle + self.timing.queue + self.timing.decode;
            let mut job = Job::new(words);
            job.wait = Some(Wait::Until(at));
            self.nodes[n].jobs[unit as usize] = Some(job);
            self.at(at, n, Due::Run(unit));
            self.flow(n);
        }
        if !self.is_ready(n, unit) {
            return;
        }
        let place = self.nodes[n].regs.place();
        let body = |run: &mut Run| {
            let words = std::mem::take(&mut run.job.words);
            let sent = send(&words, class, place, |origin| run.fetch(origin));
            run.job.words = words;
            sent
        };
        let Some(sent) = self.execute(n, unit, usize::MAX, body) else {
            return;
        };
        let node = &mut self.nodes[n];
        node.regs.cause |= u32::from(sent.bad) << CAUSE_BAD_SHIFT | u32::from(sent.cut) << CAUSE_CUT_SHIFT;
        if sent.words.is_empty() {
            self.at(self.cycle, n, Due::Run(unit));
            return;
        }
        // Of a command to all cells, the flag counts when all columns' messages went whole.
        let more = node.queues.more(class);
        let cut = sent.cut || node.cut[class as usize];
        node.cut[class as usize] = more && cut;
        let flag = sent.flag.filter(|_| !cut && !more).map(|(owner, addr)| Request {
            op: Op::Inc,
            context: owner.context,
            system: owner.system,
            physical: false,
            addr,
            strb: 0xf,
            a: 0,
            b: 0,
        });
        let node = &mut self.nodes[n];
        node.sending += 1;
        // Until it goes.
        node.send_free[class as usize] = u64::MAX;
        node.outgoing.push_back(Outgoing {
            words: sent.words,
            local: sent.local,
            by: (class, flag),
        });
        self.inject(n);
    }

    fn receive(&mut self, n: usize, class: Class) {
        let unit = Unit::receives(class);
        let node = &mut self.nodes[n];
        if node.jobs[unit as usize].is_none() {
            if class == Class::Request && !node.queues.takes_replies() {
                return;
            }
            let Some(words) = node.inbox[class as usize].pop_front() else {
                return;
            };
            node.jobs[unit as usize] = Some(Job::new(words));
            self.take(n, class as usize);
        }
        if !self.is_ready(n, unit) {
            return;
        }
        let words = &self.nodes[n].jobs[unit as usize].as_ref().expect("ready").words;
        let message = Message::parse(words, class);
        let (what, body) = match &message {
            Ok(Message { what, body }) => (what, Some(body)),
            Err(broken) => (&broken.what, broken.came.as_ref()),
        };
        let data = match body {
            Some(Body::Data(data)) if !what.registers() && !data.words.is_empty() => Some(data),
            _ => None,
        };
        let own = data.map_or(0, |data| data.words.len());
        let lookup = |context, addr| Lookup {
            context,
            addr,
            write: true,
            system: what.system(),
        };
        let receiver = Receiver {
            class,
            own: self.nodes[n].regs.place().at,
            mem_bits: MEM_BITS,
        };
        // The pure functions give up an address that is none of a word's; here software is asked before.
        let askew = data.filter(|data| !data.dest.is_multiple_of(4));
        let askew = askew.map(|data| lookup(data.context, data.dest));
        let Some(outcome) = self.execute(n, unit, own, |run| {
            let words = std::mem::take(&mut run.job.words);
            let outcome = receiver.execute(&words, run);
            run.job.words = words;
            if let Some(lookup) = askew {
                run.misaligned(unit, lookup);
            }
            for effect in &outcome.effects {
                if let Effect::Word(request) = effect
                    && !request.addr.is_multiple_of(4)
                {
                    run.misaligned(Unit::Word, lookup(request.context, request.addr));
                }
            }
            outcome
        }) else {
            return;
        };
        let node = &mut self.nodes[n];
        if let Some((why, what)) = outcome.told {
            node.regs.break_message(class as usize, why, what);
        }
        let (mut loaded, mut acknowledged) = (None, false);
        for effect in outcome.effects {
            match effect {
                Effect::Queue(queue, words) => node.queues.enter(queue, &words),
                Effect::Acknowledged => {
                    if node.acks.step(false, true).under {
                        node.regs.stray(0);
                    }
                    acknowledged = true;
                }
                Effect::Loaded(words) => loaded = Some(words),
                // Done already.
                Effect::Written { .. } | Effect::Word(_) | Effect::Register(_) | Effect::Ringed { .. } => {}
            }
        }
        if let Some(words) = loaded {
            self.loaded(n, &words);
        }
        if acknowledged && matches!(self.nodes[n].host, Some(Access::Waiting(HostReq::Store { .. }))) {
            self.at(self.cycle, n, Due::Host);
        }
        self.flow(n);
        self.run_senders(n);
        self.at(self.cycle, n, Due::Run(unit));
    }

    /// The word unit counts send flags.
    fn count(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        let unit = Unit::Word;
        if node.jobs[unit as usize].is_none() {
            if node.flags.is_empty() {
                return;
            }
            node.jobs[unit as usize] = Some(Job::default());
        }
        if !self.is_ready(n, unit) {
            return;
        }
        let request = *self.nodes[n].flags.front().expect("what is being counted");
        let body = |run: &mut Run| {
            // What goes wrong is told as a cause.
            let _ = perform(run, &request);
            if !request.addr.is_multiple_of(4) {
                let Request {
                    context, addr, system, ..
                } = request;
                let write = true;
                run.misaligned(
                    unit,
                    Lookup {
                        context,
                        addr,
                        write,
                        system,
                    },
                );
            }
        };
        if self.execute(n, unit, 0, body).is_some() {
            self.nodes[n].flags.pop_front();
            self.at(self.cycle, n, Due::Run(unit));
        }
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
        let takes = match req {
            HostReq::Write { offset, .. } if matches!(Window::of(offset), Some(Window::Page(_))) => self.timing.store,
            HostReq::Read { .. } | HostReq::Write { .. } => self.timing.host,
            HostReq::Load { .. } | HostReq::Store { .. } => self.timing.store,
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

    /// Of messages that wait for a receive controller.
    fn fifo_bytes(&self, node: NodeId) -> u32 {
        let words: usize = self.nodes[node.index()].inbox.iter().flatten().map(Vec::len).sum();
        4 * words as u32
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
