//! The timed golden model of a whole CP-PACS: NIAs and network as events on simulated time, with the real bytes.
//!
//! The model uses the same [`Config`] and the same pure functions as the rest: formats, the check of a TCW, cuts, runs
//! and routing. Nothing here is taken from the RTL. A worm goes through the network as a whole, and its data are read
//! when it begins and written when it has ended; see [`network`] for what that leaves out. So a machine of 2,048 nodes
//! takes seconds. The cycles of the NIA's blocks are in `timing`.

pub mod network;
mod receive;
mod regs;
mod send;
mod timing;
mod words;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::rc::Rc;

use super::golden::entry::{Field, Process, Right};
use super::golden::message::{Kind, RecvReason};
use super::golden::tcw::{Kick, SendReason};
use super::is_whole;
use super::params::Config;
use super::regs::*;
use crate::harness::agenda::Agenda;
use crate::harness::backend::{Backend, HostReq, HostRsp};
use crate::harness::event::{Event, EventKind};
use crate::harness::faults::Fault;
use crate::harness::memory::Memory;
use crate::net::hyper::{Channel, Grid, Place};
use crate::{NodeId, Picos};

use network::{Network, Parcel, Signal};
use receive::Receiver;
use send::{AckSender, Fetch, Sender};
use words::Words;

/// A worm's words.
type Worm = Vec<u32>;

type Due = Box<dyn FnOnce(&mut ModelMachine)>;

/// An access of a host.
#[derive(Clone, Copy, Debug)]
enum Access {
    Asked,
    Answered(HostRsp),
}

/// An entry of the table of fields.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    words: [u64; 3],
    count: u32,
    /// Messages under way for it that end as GONE: each write of STATE that takes the field away makes a new one.
    generation: u32,
}

/// What became of a process's kicks.
#[derive(Clone, Copy, Debug, Default)]
struct Refused {
    count: u16,
    tcw: u16,
    reason: u32,
}

/// One node's network interface adapter, with its memory.
struct Nia {
    memory: Memory,
    node: u64,
    control: u64,
    cause: u64,
    mask: u64,
    /// MEMBER and WAITING of BARRIER, and its count.
    is_member: bool,
    is_waiting: bool,
    releases: u32,
    ring: u64,
    notified: u64,
    send_first: u64,
    receive_first: u64,
    host_errors: u32,
    send_refusals: [u32; 16],
    receive_refusals: [u32; 16],
    counts: [u32; 8],
    /// AREA and TCWS of each process.
    processes: [[u64; 2]; SIZE_PROCESSES as usize],
    rights: Vec<[u64; 2]>,
    fields: Vec<Entry>,
    /// By process and channel.
    kicks: [[VecDeque<u32>; 2]; SIZE_PROCESSES as usize],
    refused: [Refused; SIZE_PROCESSES as usize],
    host: Option<Access>,
    fetch: Fetch,
    sender: Sender,
    ack_sender: AckSender,
    words: Words,
    receiver: Receiver,
    /// Worms that a fault forges wait for their channel.
    forged: [VecDeque<Worm>; 2],
    /// A worm of this node is on its link, by channel.
    is_leaving: [bool; 2],
}

impl Nia {
    fn new(config: &Config) -> Nia {
        Nia {
            memory: Memory::new(config.mem_bytes as usize),
            node: 0,
            control: 0,
            cause: 0,
            mask: 0,
            is_member: false,
            is_waiting: false,
            releases: 0,
            ring: 0,
            notified: 0,
            send_first: 0,
            receive_first: 0,
            host_errors: 0,
            send_refusals: [0; 16],
            receive_refusals: [0; 16],
            counts: [0; 8],
            processes: [[0; 2]; SIZE_PROCESSES as usize],
            rights: vec![[0; 2]; config.rights as usize],
            fields: vec![Entry::default(); config.fields as usize],
            kicks: Default::default(),
            refused: [Refused::default(); SIZE_PROCESSES as usize],
            host: None,
            fetch: Fetch::default(),
            sender: Sender::default(),
            ack_sender: AckSender::default(),
            words: Words::default(),
            receiver: Receiver::default(),
            forged: Default::default(),
            is_leaving: [false; 2],
        }
    }

    /// The place that the kernel gave the node.
    fn place(&self) -> Place {
        Place::of(self.node as u32)
    }

    /// The grid that the kernel named.
    fn grid(&self) -> Grid {
        let last = Place::of((self.node >> NODE_LAST_X_SHIFT) as u32);
        Grid {
            x: last.x + 1,
            y: last.y + 1,
            z: last.z + 1,
        }
    }

    fn process(&self, process: u32) -> Process {
        let [area, tcws] = self.processes[process as usize];
        Process::of(area, tcws)
    }

    fn right(&self, index: u32) -> Option<Right> {
        self.rights.get(index as usize).map(|&words| Right::of(words))
    }

    fn field(&self, index: u32) -> Option<Field> {
        self.fields.get(index as usize).map(|entry| Field::of(entry.words))
    }

    fn count(&mut self, what: u32, by: u32) {
        let counter = &mut self.counts[what as usize];
        *counter = counter.wrapping_add(by);
    }

    /// Counts a refused TCW, and shows it.
    fn note_unsent(&mut self, process: u32, tcw: u32, reason: SendReason) {
        let counter = &mut self.send_refusals[reason as usize];
        *counter = (*counter + 1).min(0xffff);
        if self.cause & CAUSE_SEND_REFUSED_MASK == 0 {
            self.send_first = u64::from(tcw) << SEND_FIRST_TCW_SHIFT
                | u64::from(process) << SEND_FIRST_PROCESS_SHIFT
                | (reason as u64) << SEND_FIRST_REASON_SHIFT;
        }
        self.cause |= CAUSE_SEND_REFUSED_MASK;
        let refused = &mut self.refused[process as usize];
        refused.count = refused.count.wrapping_add(1);
        (refused.tcw, refused.reason) = (tcw as u16, reason as u32);
    }

    /// Counts a refused message, and shows it.
    fn note_refused(&mut self, words: &[u32], reason: RecvReason) {
        let counter = &mut self.receive_refusals[reason as usize];
        *counter = (*counter + 1).min(0xffff);
        if self.cause & CAUSE_RECEIVE_REFUSED_MASK == 0 {
            let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
            let kind = word(0) >> MSG_F0_KIND_SHIFT & 7;
            let (src, field) = (
                word(1) & u64::from(MSG_F1_SRC_MASK),
                word(1) & u64::from(MSG_F1_FIELD_MASK),
            );
            self.receive_first =
                src | field | kind << RECEIVE_FIRST_KIND_SHIFT | (reason as u64) << RECEIVE_FIRST_REASON_SHIFT;
        }
        self.cause |= CAUSE_RECEIVE_REFUSED_MASK;
    }

    /// A kick, unless the queue is full.
    fn kick(&mut self, kick: Kick, depth: usize) {
        let queue = &mut self.kicks[kick.process as usize][kick.channel as usize];
        if queue.len() < depth {
            queue.push_back(kick.tcw);
        } else {
            self.note_unsent(kick.process, kick.tcw, SendReason::Queue);
        }
    }

    /// What is under way, for a hang report.
    fn busy(&self) -> Vec<String> {
        let kicks = self.kicks.iter().flatten().map(VecDeque::len).sum::<usize>();
        let parts = [
            (kicks > 0).then(|| format!("{kicks} kicks wait")),
            (!self.sender.is_idle()).then(|| "a transfer is being sent".to_owned()),
            (!self.ack_sender.is_idle()).then(|| "a short message is being sent".to_owned()),
            self.receiver
                .is_busy()
                .then(|| "a message is being received".to_owned()),
            (!self.words.is_idle()).then(|| "the words unit is busy".to_owned()),
            self.is_waiting.then(|| "it waits at the barrier".to_owned()),
        ];
        parts.into_iter().flatten().collect()
    }
}

/// All nodes, and which of them may have changed: those that were asked for to be changed.
struct Nias {
    nias: Vec<Nia>,
    changed: Vec<NodeId>,
    is_changed: Vec<bool>,
}

impl Deref for Nias {
    type Target = [Nia];

    fn deref(&self) -> &[Nia] {
        &self.nias
    }
}

impl DerefMut for Nias {
    fn deref_mut(&mut self) -> &mut [Nia] {
        for node in 0..self.nias.len() {
            self.note(node);
        }
        &mut self.nias
    }
}

impl Index<usize> for Nias {
    type Output = Nia;

    fn index(&self, node: usize) -> &Nia {
        &self.nias[node]
    }
}

impl IndexMut<usize> for Nias {
    fn index_mut(&mut self, node: usize) -> &mut Nia {
        self.note(node);
        &mut self.nias[node]
    }
}

impl Nias {
    fn note(&mut self, node: usize) {
        if !std::mem::replace(&mut self.is_changed[node], true) {
            self.changed.push(NodeId(node as u16));
        }
    }
}

/// A [`Backend`]: the golden model of the machine.
pub struct ModelMachine {
    config: Config,
    /// Cycles, and the instant that the caller has reached.
    now: u64,
    instant: Picos,
    agenda: Agenda<u64, Due>,
    nias: Nias,
    network: Network<Worm>,
    events: Option<Vec<Event>>,
}

impl ModelMachine {
    /// The machine of `config` after reset, at time 0.
    pub fn new(config: &Config) -> ModelMachine {
        let nodes = config.grid().nodes();
        let nias = Nias {
            nias: (0..nodes).map(|_| Nia::new(config)).collect(),
            changed: Vec::new(),
            is_changed: vec![false; nodes as usize],
        };
        ModelMachine {
            now: 0,
            instant: Picos::ZERO,
            agenda: Agenda::default(),
            nias,
            network: Network::new(config),
            events: None,
            config: config.clone(),
        }
    }

    /// Cycles that worms waited in the network, all together.
    pub fn stalled(&self) -> u64 {
        self.network.stalled
    }

    fn read_latency(&self) -> u64 {
        timing::MUX + u64::from(self.config.memory_read_latency)
    }

    fn write_latency(&self) -> u64 {
        timing::MUX + u64::from(self.config.memory_write_latency)
    }

    /// Does this so many cycles from now.
    fn after(&mut self, cycles: u64, due: impl FnOnce(&mut ModelMachine) + 'static) {
        self.agenda.put(self.now + cycles, Box::new(due));
    }

    fn note(&mut self, node: usize, kind: EventKind) {
        let at = self.config.clock_period * self.now;
        if let Some(events) = &mut self.events {
            let node = NodeId(node as u16);
            events.push(Event { at, node, kind });
        }
    }

    /// The next cycle at which anything happens.
    fn next_cycle(&self) -> Option<u64> {
        self.agenda.next().into_iter().chain(self.network.next()).min()
    }

    fn happen(&mut self, cycle: u64) {
        self.now = cycle;
        while let Some((_, signal)) = self.network.take(cycle) {
            self.signalled(signal);
        }
        if let Some((_, due)) = self.agenda.take(cycle) {
            due(self);
        }
    }

    fn signalled(&mut self, signal: Signal<Worm>) {
        match signal {
            Signal::Left { node, channel } => self.left(node, channel),
            Signal::Began { node, channel, worm } => {
                self.note(node, EventKind::RxFirst { head: worm[0] as u16 });
                match channel {
                    Channel::Data => self.begun(node, &worm),
                    Channel::Ack => self.stored(node, worm),
                }
            }
            Signal::Ended {
                node,
                channel,
                worm,
                is_cut,
            } => {
                self.note(
                    node,
                    EventKind::RxLast {
                        flits: worm.len() as u32,
                    },
                );
                if channel == Channel::Data {
                    self.ended(node, worm, is_cut);
                }
            }
        }
    }

    /// Puts a worm on a node's link, its last word not before `end`.
    fn leave(&mut self, node: usize, channel: Channel, worm: Worm, end: u64) {
        let parcel = Parcel {
            f0: worm[0],
            words: worm.len() as u64,
            drain: self.drain(&worm),
            worm: Rc::new(worm),
        };
        self.note(node, EventKind::TxFirst { head: parcel.f0 as u16 });
        self.nias[node].is_leaving[channel as usize] = true;
        self.network.send(self.now, node, channel, parcel, end);
    }

    /// The last word of a node's worm is on its link.
    fn left(&mut self, node: usize, channel: Channel) {
        self.note(node, EventKind::TxLast { flits: 0 });
        self.nias[node].is_leaving[channel as usize] = false;
        match channel {
            Channel::Data => self.sent(node),
            Channel::Ack => self.sent_ack(node),
        }
        self.forge(node, channel);
    }

    /// Sends a forged worm, if there is one and the link is free.
    fn forge(&mut self, node: usize, channel: Channel) {
        let nia = &mut self.nias[node];
        if nia.is_leaving[channel as usize] || !nia.sender.is_idle() || !nia.ack_sender.is_idle() {
            return;
        }
        if let Some(worm) = nia.forged[channel as usize].pop_front() {
            let end = self.now;
            self.leave(node, channel, worm, end);
        }
    }

    /// A node came to the barrier: all members go on when all are there.
    fn arrived(&mut self) {
        if self.nias.iter().any(|nia| nia.is_member && !nia.is_waiting) {
            return;
        }
        let nodes = self.nias.len() as u64;
        let levels = (1..)
            .find(|&levels| timing::BARRIER_RADIX.pow(levels) >= nodes)
            .expect("a level");
        self.after(timing::BARRIER + timing::BARRIER_LEVEL * u64::from(levels), |m| {
            for nia in m.nias.iter_mut().filter(|nia| nia.is_waiting) {
                nia.is_waiting = false;
                nia.releases = nia.releases.wrapping_add(1);
                nia.cause |= CAUSE_BARRIER_MASK;
            }
        });
    }
}

impl Backend for ModelMachine {
    fn now(&self) -> Picos {
        self.instant
    }

    fn nodes(&self) -> usize {
        self.nias.len()
    }

    fn next_event(&self) -> Option<Picos> {
        // What is due at this very instant is done with the next cycle's.
        let next = self.next_cycle()?;
        Some((self.config.clock_period * next).max(self.instant + Picos(1)))
    }

    fn advance(&mut self, to: Picos) {
        assert!(to >= self.instant, "time does not run backwards");
        let last = to.0 / self.config.clock_period.0;
        while let Some(cycle) = self.next_cycle().filter(|&cycle| cycle <= last) {
            self.happen(cycle);
        }
        (self.now, self.instant) = (last, to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let at = node.index();
        assert!(
            self.nias[at].host.is_none(),
            "{node}: an access before the last one's answer was taken"
        );
        if !is_whole(req) {
            self.nias[at].host = Some(Access::Answered(HostRsp { value: 0, error: true }));
            return;
        }
        self.nias[at].host = Some(Access::Asked);
        self.after(timing::HOST, move |m| m.access(at, req));
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let Some(Access::Answered(rsp)) = self.nias[node.index()].host else {
            return None;
        };
        self.nias[node.index()].host = None;
        Some(rsp)
    }

    fn irq(&self, node: NodeId) -> bool {
        let nia = &self.nias[node.index()];
        nia.cause & nia.mask != 0
    }

    fn inject(&mut self, node: NodeId, fault: &Fault) -> bool {
        if let Fault::MemoryStalls(span) = fault {
            let until = (self.instant + *span).0.div_ceil(self.config.clock_period.0);
            self.network.stand(self.now, node.index(), until);
            return true;
        }
        let Fault::Packet(words) = fault else { return false };
        let worm: Worm = words.iter().map(|&word| word as u32).collect();
        let Some(&f0) = worm.first() else { return false };
        let (node, channel) = (node.index(), Channel::of(f0));
        self.nias[node].forged[channel as usize].push_back(worm);
        self.forge(node, channel);
        true
    }

    fn take_changed(&mut self, nodes: &mut Vec<NodeId>) -> bool {
        for node in self.nias.changed.drain(..) {
            self.nias.is_changed[node.index()] = false;
            nodes.push(node);
        }
        true
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        // The caller knows that it changes it.
        &mut self.nias.nias[node.index()].memory
    }

    fn record(&mut self, on: bool) {
        self.events = on.then(Vec::new);
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn hang_report(&self) -> String {
        let mut report = String::new();
        for (at, nia) in self.nias.iter().enumerate() {
            let parts = nia.busy();
            if !parts.is_empty() {
                writeln!(report, "{}: {}", NodeId(at as u16), parts.join(", ")).expect("to a string");
            }
        }
        report
    }
}

/// Cycles that worms of so many words wait for each other in the network when all nodes send at once, each to its
/// place.
pub fn conflicts(config: &Config, to: &[Option<Place>], words: u64) -> u64 {
    let mut network = Network::new(config);
    for (node, to) in to.iter().enumerate() {
        let Some(to) = to else { continue };
        let (f0, worm) = (to.word(), Rc::new(()));
        let parcel = Parcel {
            f0,
            words,
            drain: words,
            worm,
        };
        network.send(0, node, Channel::Data, parcel, 0);
    }
    while network.take(u64::MAX).is_some() {}
    network.stalled
}

/// Whether a kind needs one of a field's permissions, and has it.
fn is_allowed(field: &Field, kind: Kind) -> bool {
    match kind {
        Kind::Write => field.write,
        Kind::Reply => true,
        Kind::Get => field.read,
        Kind::Swap | Kind::Cswap => field.atomic,
    }
}
