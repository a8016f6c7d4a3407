//! The verilated machine: PEs, their hosts, and the links between them, edge by edge.

mod composed;
pub mod host;

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;
use verilated::{Context, Verilated};

use super::backend::{Backend, Counts, Executed, Forged, RunError, Seen, Told, Trouble, Waiting};
use super::golden::execute::{Cause, Fault};
use super::lanes::Lanes;
use super::packet::Packet;
use super::params::Config;
use super::regs::*;
use crate::Picos;
use crate::harness::backend::Doing;
use crate::harness::clock::Clock;
use crate::harness::wave::{Probe, Trace};
use crate::rtl::{Em4Pe, Em4Pe5, EmXPe, EmXPe20, EmxPeUnit};
pub use composed::Composed;
use host::{Access, Host, HostPorts};

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no RTL was built for this configuration: EM-4 of 80 or 5 PEs, EM-X of 80 or 20, else as they are")]
pub struct NotBuilt;

/// Edges in reset, and edges until all is at rest behind it.
const RESET: u32 = 8;
const CLEARED: u32 = 64;
/// Values of `state_o`.
const RUNS: u64 = STATE_RUNS as u64;
const WAITS: u64 = STATE_WAITS as u64;

/// What a PE shows behind an edge of the cycle before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub state: u64,
    /// Address of the instruction that was done.
    pub retired: Option<u32>,
    pub told: Option<u32>,
    pub irq: bool,
}

/// A word on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub output: usize,
    pub channel: u64,
    pub word: u64,
    pub last: bool,
}

/// What happened at a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub cycle: u64,
    pub pe: usize,
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// An instruction was done.
    Retire {
        pc: u32,
    },
    Tell {
        value: u32,
    },
    Link(Link),
}

/// The hardware of a machine: PEs with the links between them.
pub trait Pes {
    fn count(&self) -> usize;

    /// The host is active there.
    fn wake(&mut self, pe: usize);

    /// Something happens there at the next edge.
    fn stirs(&self, pe: usize) -> bool;

    /// It was evaluated at the last edge: what it shows may have changed.
    fn ran(&self, pe: usize) -> bool;

    fn set_reset(&mut self, reset: bool);

    /// An edge of the clock; `time` is what the PEs take for it.
    fn edge(&mut self, time: u32);

    fn shown(&self, pe: usize) -> Shown;

    /// The words on the links that leave it.
    fn links(&self, pe: usize) -> [Option<Link>; 2];

    /// Packets in its input buffer.
    fn depth(&self, pe: usize) -> u32;

    fn host(&self, pe: usize) -> HostPorts;

    fn drive_host(&mut self, pe: usize, offer: Option<Access>);

    /// No packet begins on a PE's links any more, either way, or again.
    fn hold(&mut self, _pe: usize, _held: bool) {}

    /// A neighbour begins to send a packet to a PE. False: another one is under way there.
    fn forge(&mut self, _pe: usize, _forged: Forged) -> bool {
        true
    }

    /// The edge comes: packets of neighbours go on. False: none is under way there.
    fn forges(&mut self, _pe: usize) -> bool {
        false
    }

    /// What a wave shows, and its context; not where there is no wave.
    fn units(&self) -> Option<(&Context, Vec<&dyn Verilated>)> {
        None
    }
}

/// The machine of `config`.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn build(config: &Config) -> Result<Box<dyn Backend>, NotBuilt> {
    build_with(config, None, true)
}

/// The same; lines that are not valid carry junk of this seed. With `gated` false, every PE is evaluated at every edge.
///
/// # Errors
/// As of [`build`].
pub fn build_with(config: &Config, junk: Option<u64>, gated: bool) -> Result<Box<dyn Backend>, NotBuilt> {
    type Set = fn(&Config, Option<u64>, bool) -> Option<Box<dyn Backend>>;
    let sets: [Set; 4] = [built::<Em4Pe>, built::<EmXPe>, built::<Em4Pe5>, built::<EmXPe20>];
    sets.iter().find_map(|set| set(config, junk, gated)).ok_or(NotBuilt)
}

/// The machine of these PEs, if their parameters are those of `config`.
pub fn built<P: EmxPeUnit + 'static>(config: &Config, junk: Option<u64>, gated: bool) -> Option<Box<dyn Backend>> {
    let asked = [
        (P::ROW_BITS, config.row_bits),
        (P::ADDR_W, config.memory_bits),
        (P::SPILL_BITS, config.spill_bits),
        (P::HALF_PACKETS, config.half_packets),
        (P::PACKETS, config.channel_packets),
        (P::SPILL_TURNS, config.spill_turns),
        (P::HOST_WAIT, config.host_wait),
        (P::LEVELS, config.levels),
        (P::OUTPUT_PACKETS, config.output_packets),
        (P::WRITE_BYPASS, config.write_bypass.into()),
        (P::READ_BYPASS, config.read_bypass.into()),
        (P::INPUT_FIRST, config.input_first.into()),
        (P::CODE_PORT, config.code_port.into()),
        (P::FAST_SEND, config.fast_send.into()),
    ];
    let fits = asked.iter().all(|(built, asked)| *built == *asked as usize);
    let machine = || {
        let pes = Composed::<P>::new(gated);
        let pes = match junk {
            Some(seed) => pes.with_junk(seed),
            None => pes,
        };
        Machine::new(pes, 1 << P::ADDR_W, 1 << P::SPILL_BITS)
    };
    fits.then(|| Box::new(machine()) as Box<dyn Backend>)
}

/// What the machine keeps of a PE.
#[derive(Default)]
struct Node {
    host: Host,
    /// Packets that the host gives it as the next run begins.
    packets: VecDeque<Packet>,
    /// Cycles of threads since an instruction was done.
    cycles: u64,
    instructions: u64,
    seen: Seen,
    told: Option<(u64, u32)>,
    /// Troubles under way that hold its links, and that stop its threads.
    holds: u32,
    stops: u32,
    /// Until when the host reads its memory.
    reads: u64,
    forges: bool,
}

/// Where the host reads while it only keeps the memory busy.
const GLANCE: u32 = MEMORY;

/// What the machine will do around a PE.
#[derive(Clone, Copy, Debug)]
enum Change {
    Begins(Trouble),
    Ends(Trouble),
}

/// PEs with their hosts.
pub struct Machine<H> {
    pes: H,
    nodes: Vec<Node>,
    /// Words of a PE's memory, and packets that it holds at most.
    words: u32,
    packets: usize,
    /// Edges, those before the last reset ended, and those before the first cycle of the run.
    now: u64,
    awake: u64,
    begin: u64,
    /// Trouble of the next run, by cycle; and what is to come, by edge.
    planned: Vec<(u64, usize, Trouble)>,
    changes: Vec<(u64, usize, Change)>,
    met: Vec<(Trouble, Doing)>,
    /// A PE has raised its interrupt: it halted, or its memory for packets is full.
    alarm: bool,
    executed: Vec<Executed>,
    every: Option<u64>,
    seen: Vec<Vec<Seen>>,
    events: Option<Vec<Event>>,
    /// The wave of the first run, its lanes, the clock's period, and the edges before it.
    trace: Option<Trace>,
    lanes: Option<Lanes>,
    period: Picos,
    traced: Option<u64>,
    /// Edges to the first one of the run behind which PE 0 showed a word on a link.
    first_word: Option<u64>,
}

impl<H: Pes> Machine<H> {
    /// The machine, reset; its PEs have so many words, of which `packets` packets take some.
    ///
    /// # Panics
    /// It does not come to rest.
    pub fn new(pes: H, words: u32, packets: usize) -> Machine<H> {
        let mut machine = Machine {
            nodes: (0..pes.count()).map(|_| Node::default()).collect(),
            pes,
            words,
            packets,
            now: 0,
            awake: 0,
            begin: 0,
            planned: Vec::new(),
            changes: Vec::new(),
            met: Vec::new(),
            alarm: false,
            executed: Vec::new(),
            every: None,
            seen: Vec::new(),
            events: None,
            trace: None,
            lanes: None,
            period: Picos::ZERO,
            traced: None,
            first_word: None,
        };
        machine.reset();
        machine
    }

    /// Events are kept from now on.
    pub fn record(&mut self) {
        self.events = Some(Vec::new());
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.events.take().unwrap_or_default()
    }

    fn reset(&mut self) {
        let edges = |machine: &mut Machine<H>, count| {
            for _ in 0..count {
                (0..machine.nodes.len()).for_each(|pe| machine.pes.wake(pe));
                machine.edge();
            }
        };
        self.pes.set_reset(true);
        edges(self, RESET);
        self.pes.set_reset(false);
        self.awake = self.now;
        edges(self, CLEARED);
        assert!(!self.stirs(), "the machine is busy {CLEARED} cycles after its reset");
        let levels = STATUS_HALTED_MASK | STATUS_FATAL_MASK;
        for node in &mut self.nodes {
            node.host.put(Access::store(MASK, levels));
            node.host.put(Access::store(CONTROL, CONTROL_RUN_MASK));
        }
        self.settle();
    }

    fn stirs(&self) -> bool {
        (0..)
            .zip(&self.nodes)
            .any(|(pe, node)| node.host.is_active() || self.pes.stirs(pe))
    }

    /// An edge of the clock.
    fn edge(&mut self) {
        for (pe, node) in self.nodes.iter_mut().enumerate() {
            if node.host.is_active() {
                self.pes.wake(pe);
                let offer = node.host.offer();
                self.pes.drive_host(pe, offer);
                node.host.edge(self.pes.host(pe));
            }
        }
        self.begin_of_wave();
        self.pes.edge((self.now - self.awake) as u32);
        self.now += 1;
        if let Some(trace) = self.trace.as_mut().filter(|_| self.traced.is_some()) {
            if let Some(lanes) = &mut self.lanes {
                lanes.tell(|pe| self.pes.shown(pe), |pe| self.pes.links(pe));
                trace.show(lanes.texts());
            }
            trace.after();
        }
        if self.first_word.is_none() && self.pes.links(0).iter().any(Option::is_some) {
            self.first_word = Some(self.now);
        }
        for pe in 0..self.nodes.len() {
            if self.pes.ran(pe) {
                self.watch_pe(pe);
            }
        }
    }

    /// Trouble begins and ends at the edge that comes.
    fn troubles(&mut self) {
        let now = self.now;
        let due = |(at, ..): &(u64, usize, Change)| *at <= now;
        while self.changes.first().is_some_and(due) {
            let (_, pe, change) = self.changes.remove(0);
            match change {
                Change::Begins(trouble) => self.begins(pe, trouble),
                Change::Ends(trouble) => self.ends(pe, trouble),
            }
        }
        for pe in 0..self.nodes.len() {
            let node = &mut self.nodes[pe];
            if node.forges {
                node.forges = self.pes.forges(pe);
            }
            if node.reads > now && !node.host.is_active() {
                node.host.put(Access::glance(GLANCE));
            }
        }
    }

    fn change(&mut self, at: u64, pe: usize, change: Change) {
        let place = self.changes.partition_point(|(other, ..)| *other <= at);
        self.changes.insert(place, (at, pe, change));
    }

    /// What a PE does: a word leaves it, packets wait in it, a thread runs.
    fn doing(&self, pe: usize) -> Doing {
        Doing {
            sends: self.pes.links(pe).iter().any(Option::is_some),
            receives: self.pes.depth(pe) > 0,
            memory: matches!(self.pes.shown(pe).state, RUNS | WAITS),
        }
    }

    fn begins(&mut self, pe: usize, trouble: Trouble) {
        let doing = self.doing(pe);
        let node = &mut self.nodes[pe];
        let span = match trouble {
            Trouble::Links(span) => {
                node.holds += 1;
                self.pes.hold(pe, true);
                span
            }
            Trouble::Stops(span) => {
                node.stops += 1;
                node.host.put(Access::store(CONTROL, 0));
                span
            }
            Trouble::Reads(span) => {
                node.reads = node.reads.max(self.now + span);
                span
            }
            Trouble::Packet(forged) => {
                if !self.pes.forge(pe, forged) {
                    return self.change(self.now + 1, pe, Change::Begins(trouble));
                }
                node.forges = true;
                // It has come when it is handled.
                1
            }
        };
        self.met.push((trouble, doing));
        self.change(self.now + span, pe, Change::Ends(trouble));
    }

    fn ends(&mut self, pe: usize, trouble: Trouble) {
        let node = &mut self.nodes[pe];
        match trouble {
            Trouble::Links(_) => {
                node.holds -= 1;
                self.pes.hold(pe, node.holds > 0);
            }
            Trouble::Stops(_) => {
                node.stops -= 1;
                if node.stops == 0 {
                    node.host.put(Access::store(CONTROL, CONTROL_RUN_MASK));
                }
            }
            Trouble::Reads(_) | Trouble::Packet(_) => (),
        }
    }

    /// No trouble is under way or to come.
    fn is_calm(&self) -> bool {
        self.changes.is_empty() && self.nodes.iter().all(|node| !node.forges)
    }

    /// The wave before the edge that comes.
    fn begin_of_wave(&mut self) {
        let (Some(trace), Some(begin)) = (&mut self.trace, self.traced) else {
            return;
        };
        // Every edge is shown, so none is left out.
        (0..self.nodes.len()).for_each(|pe| self.pes.wake(pe));
        if let Some((context, units)) = self.pes.units() {
            let at = self.period * (self.now + 1 - begin);
            trace.before(at, || units);
            context.set_time(at.0);
        }
    }

    /// What a PE did in the cycle before this edge.
    #[inline]
    fn watch_pe(&mut self, pe: usize) {
        let (shown, node) = (self.pes.shown(pe), &mut self.nodes[pe]);
        if matches!(shown.state, RUNS | WAITS) {
            node.cycles += 1;
            node.seen.busy += 1;
            node.seen.send_wait += u32::from(shown.state == WAITS);
        }
        if let Some(pc) = shown.retired {
            let at = pc as usize;
            if at >= self.executed.len() {
                self.executed.resize(at + 1, Executed::default());
            }
            self.executed[at].times += 1;
            self.executed[at].cycles += std::mem::take(&mut node.cycles);
            node.instructions += 1;
        }
        if let Some(value) = shown.told {
            // Its instruction was done in the cycle before.
            node.told = Some((self.now - 1, value));
        }
        self.alarm |= shown.irq;
        if let Some(events) = &mut self.events {
            let retired = shown.retired.map(|pc| EventKind::Retire { pc });
            let told = shown.told.map(|value| EventKind::Tell { value });
            let links = self.pes.links(pe).into_iter().flatten().map(EventKind::Link);
            let cycle = self.now;
            let kinds = retired.into_iter().chain(told).chain(links);
            events.extend(kinds.map(|kind| Event { cycle, pe, kind }));
        }
    }

    /// Goes on until the hosts have done all that they were asked for, and may begin again.
    fn settle(&mut self) {
        let active = |machine: &Machine<H>| {
            let mut all = (0..).zip(&machine.nodes);
            all.any(|(pe, node)| node.host.is_active() || !machine.pes.host(pe).ready)
        };
        while active(self) {
            self.edge();
        }
    }

    fn load_register(&mut self, pe: usize, offset: u32) -> u64 {
        self.nodes[pe].host.put(Access::load(offset));
        self.settle();
        self.nodes[pe].host.take().expect("it has settled")
    }

    /// Words of memory with their presence bits, all PEs at once.
    fn load_blocks(&mut self, places: &[(u32, u32)], words: u32) -> Vec<Vec<u64>> {
        for &(pe, addr) in places {
            let host = &mut self.nodes[pe as usize].host;
            (addr..addr + words).for_each(|addr| host.put(Access::load(MEMORY + 8 * addr)));
        }
        self.settle();
        let mut block = |&(pe, _): &(u32, u32)| {
            let host = &mut self.nodes[pe as usize].host;
            (0..words).map(|_| host.take().expect("it has settled")).collect()
        };
        places.iter().map(&mut block).collect()
    }

    /// The host gives each PE its packets: the first ones in the same cycle, which is the run's first.
    fn give_packets(&mut self) {
        self.settle();
        for node in &mut self.nodes {
            if let Some(packet) = node.packets.front() {
                node.host.put(Access::store(SEND0, packet.words()[0] & !PKT_W0_PE_MASK));
            }
        }
        self.settle();
        for node in &mut self.nodes {
            for (at, packet) in node.packets.drain(..).enumerate() {
                if at > 0 {
                    node.host.put(Access::store(SEND0, packet.words()[0] & !PKT_W0_PE_MASK));
                }
                node.host.put(Access::store(SEND1, packet.words()[1]));
            }
        }
        // The next edge takes the request, and the packet comes in the cycle behind it.
        self.begin = self.now;
        for (cycle, pe, trouble) in std::mem::take(&mut self.planned) {
            self.change(self.begin + cycle, pe, Change::Begins(trouble));
        }
        self.first_word = None;
        if self.trace.is_some() {
            self.traced.get_or_insert(self.now);
        }
    }

    fn look(&mut self) {
        let look = |(pe, node): (usize, &mut Node)| Seen {
            depth: self.pes.depth(pe),
            ..std::mem::take(&mut node.seen)
        };
        self.seen.push(self.nodes.iter_mut().enumerate().map(look).collect());
    }

    /// What keeps the run from its end.
    fn check(&mut self, count: usize) -> Result<(), RunError> {
        if self.alarm {
            self.alarm = false;
            for pe in 0..self.nodes.len() {
                if self.pes.shown(pe).irq {
                    return Err(self.trouble(pe));
                }
            }
        }
        if self.stirs() || !self.is_calm() {
            return Ok(());
        }
        let cycles = self.now - self.begin;
        let pes = (0..).zip(&self.nodes[..count]).filter(|(_, node)| node.told.is_none());
        let pes = pes.map(|(pe, _)| pe).collect();
        let waiting = (0..self.nodes.len()).flat_map(|pe| self.waiting(pe)).collect();
        Err(RunError::Hang { cycles, pes, waiting })
    }

    fn trouble(&mut self, pe: usize) -> RunError {
        let status = self.load_register(pe, STATUS);
        let fault = self.load_register(pe, FAULT);
        let frame = self.load_register(pe, FRAME) as u32;
        let pe = pe as u32;
        if status & STATUS_HALTED_MASK == 0 {
            let packets = self.packets;
            return RunError::Fatal { pe, packets };
        }
        let code = ((fault & FAULT_CODE_MASK) >> FAULT_CODE_SHIFT) as i32;
        let cause = match ((fault & FAULT_CAUSE_MASK) >> FAULT_CAUSE_SHIFT) as u32 {
            FAULT_CAUSE_CODE => Cause::Code,
            FAULT_CAUSE_FETCH => Cause::Fetch,
            FAULT_CAUSE_ADDRESS => Cause::Address,
            // An immediate, signed.
            _ => Cause::Trap { code: code << 15 >> 15 },
        };
        let pc = (fault & FAULT_PC_MASK) as u32;
        RunError::Fault {
            pe,
            fault: Fault { pc, frame, cause },
        }
    }

    /// The operands that wait in a PE's memory.
    fn waiting(&mut self, pe: usize) -> Vec<Waiting> {
        let held = self.load_register(pe, WAITING) as usize;
        let mut all = Vec::new();
        for frame in (0..self.words).step_by(SIZE_FRAME as usize) {
            if all.len() >= held {
                break;
            }
            let words = self.load_blocks(&[(pe as u32, frame)], SIZE_FRAME).remove(0);
            let waits = (0..).zip(words).filter(|(_, word)| word & MEM_PRESENT_MASK != 0);
            all.extend(waits.map(|(offset, _)| Waiting {
                pe: pe as u32,
                frame,
                offset,
            }));
        }
        all
    }
}

impl<H: Pes> Backend for Machine<H> {
    fn pes(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn set_word(&mut self, pe: u32, addr: u32, data: u32) {
        self.nodes[pe as usize]
            .host
            .put(Access::store(MEMORY + 8 * addr, data.into()));
    }

    fn word(&mut self, pe: u32, addr: u32) -> u32 {
        self.words(pe, addr, 1)[0]
    }

    fn inject(&mut self, pe: u32, packet: Packet) {
        self.nodes[pe as usize].packets.push_back(packet);
    }

    fn run(&mut self, count: u32, limit: u64) -> Result<Told, RunError> {
        self.give_packets();
        self.nodes.iter_mut().for_each(|node| node.told = None);
        while self.now < self.begin + limit {
            self.troubles();
            self.edge();
            let cycle = self.now.saturating_sub(self.begin);
            if self.every.is_some_and(|every| cycle > 0 && cycle.is_multiple_of(every)) {
                self.look();
            }
            let told = self.nodes[..count as usize].iter().map(|node| node.told);
            if let Some(told) = told.collect::<Option<Vec<_>>>() {
                let last = told.iter().map(|(at, _)| *at).max();
                return Ok(Told {
                    cycles: last.unwrap_or(self.begin) - self.begin,
                    values: told.into_iter().map(|(_, value)| value).collect(),
                });
            }
            self.check(count as usize)?;
        }
        Err(RunError::Limit { cycles: limit })
    }

    fn blocks(&mut self, places: &[(u32, u32)], words: u32) -> Vec<Vec<u32>> {
        let word = |word: u64| (word & MEM_DATA_MASK) as u32;
        let blocks = self.load_blocks(places, words).into_iter();
        blocks.map(|words| words.into_iter().map(word).collect()).collect()
    }

    fn probe(&mut self, period: Picos, probe: &Probe) {
        self.period = period;
        let clock = ("clk_i", Clock::new(period, Picos::ZERO));
        let units = self.pes.units().filter(|_| probe.has_lanes());
        self.lanes = units.map(|(_, units)| Lanes::new(&units.iter().map(|unit| unit.name()).collect::<Vec<_>>()));
        let names = self.lanes.as_ref().map_or(&[][..], Lanes::names);
        self.trace = probe.request().map(|_| Trace::new(probe, &[clock]).with_lanes(names));
    }

    fn first_word(&self) -> Option<u64> {
        Some(self.first_word? - self.traced.unwrap_or(self.begin))
    }

    fn trouble(&mut self, cycle: u64, pe: u32, trouble: Trouble) -> bool {
        self.planned.push((cycle, pe as usize, trouble));
        true
    }

    fn reset(&mut self, pe: u32) -> Option<Doing> {
        let doing = self.doing(pe as usize);
        for (pe, node) in self.nodes.iter_mut().enumerate() {
            *node = Node::default();
            self.pes.drive_host(pe, None);
        }
        (self.planned, self.changes) = (Vec::new(), Vec::new());
        self.alarm = false;
        self.lanes.iter_mut().for_each(Lanes::forget);
        Machine::reset(self);
        Some(doing)
    }

    fn met(&mut self) -> Vec<(Trouble, Doing)> {
        std::mem::take(&mut self.met)
    }

    fn record(&mut self) {
        Machine::record(self);
    }

    fn events(&mut self) -> Vec<Event> {
        self.take_events()
    }

    fn counts(&mut self, pe: u32) -> Counts {
        let pe = pe as usize;
        for code in 0..8 {
            self.nodes[pe].host.put(Access::load(COUNTS + 8 * code));
        }
        for reason in 0..8 {
            self.nodes[pe].host.put(Access::load(REFUSALS + 8 * reason));
        }
        self.settle();
        let mut take = || self.nodes[pe].host.take().expect("it has settled");
        let counts: [u64; 8] = std::array::from_fn(|_| take());
        let refused = std::array::from_fn(|_| take());
        let count = |code: u32| counts[code as usize];
        Counts {
            sent: count(COUNT_SENT),
            received: count(COUNT_RECEIVED),
            started: count(COUNT_STARTED),
            bypassed: count(COUNT_BYPASSED),
            spilled: count(COUNT_SPILLED),
            busy: count(COUNT_BUSY),
            send_wait: count(COUNT_SEND_WAIT),
            stalled: count(COUNT_STALLED),
            instructions: self.nodes[pe].instructions,
            refused,
        }
    }

    fn peak(&mut self) -> usize {
        let pes = self.nodes.len();
        let peak = |pe| (self.load_register(pe, DEPTH) & DEPTH_PEAK_MASK) >> DEPTH_PEAK_SHIFT;
        (0..pes).map(peak).max().unwrap_or_default() as usize
    }

    fn watch(&mut self, every: u64) {
        self.every = Some(every);
        self.nodes.iter_mut().for_each(|node| node.seen = Seen::default());
    }

    fn seen(&mut self) -> Vec<Vec<Seen>> {
        std::mem::take(&mut self.seen)
    }

    fn executed(&self) -> BTreeMap<u32, Executed> {
        let all = (0..).zip(&self.executed);
        all.filter(|(_, executed)| executed.times > 0)
            .map(|(at, executed)| (at, *executed))
            .collect()
    }
}

#[cfg(test)]
mod tests;
