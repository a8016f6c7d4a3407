//! The Receiver alone, in lock step with its golden model, inside and out.

use std::collections::VecDeque;
use std::mem;

use testbenches::rtl::*;
use testbenches::{Bench, Dut, Fault, Rule as _, Run, rules};
use tsunagi::cenju3::golden::receiver::{Inside, Internal, RecvEvent, RecvModel};
use tsunagi::cenju3::golden::receiver_state::{Cause, RingId};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

mod tests;

pub use tests::checks;

rules!(
    /// PUT moves, causes rise and the Receiver halts in an order that the packets and their responses allow.
    Inside = "inside"
    /// A write is the next one of the packet.
    Write = "write"
    /// Memory has the packets and nothing else.
    Memory = "memory"
    /// No word is taken before the Receiver is to run.
    Run
    /// No packet begins while the Receiver is halted, and it halts for a reason.
    Halt
    /// Every packet is handled in the end.
    Rest
    /// The packets that are dropped are counted.
    Dropped
    /// The header word of the last dropped packet is kept.
    Head
    /// A refused write costs its own packet, and the packets that begin before it is known.
    Counted
    /// The Sender's status words are written in between, each once.
    Status
    /// A bus word is taken in every cycle.
    Rate
);

const NODE: u8 = 9;
const BASES: [u32; 4] = [0x1000, 0x2000, 0x4000, 0x8000];
const SIZES: [u32; 4] = [5, 7, 4, 3];
const DEST: u32 = 0x1_0000;
const MEMORY: usize = 1 << 18;
/// Where the Sender's status words go.
const STATUS: u32 = 0x3_8000;
/// Cycles after which a run counts as hung.
const LIMIT: u64 = 1_000_000;

/// Causes in the order of `cause_o`.
const CAUSES: [Cause; 7] = [
    Cause::Arrival,
    Cause::End,
    Cause::Overflow,
    Cause::BadHeader,
    Cause::BusError,
    Cause::Truncated,
    Cause::Overlong,
];

/// The registers as the Receiver sees them.
#[derive(Clone, Copy, Debug, Default)]
struct Registers {
    ctrl: u32,
    put: [u32; 4],
    get: [u32; 4],
}

/// A word of the input: data, 16-bit units, last.
type Word = (u64, u32, bool);

#[derive(Debug, Default)]
struct In {
    regs: Registers,
    restart: bool,
    word: Option<Word>,
    /// The Sender has a status word.
    status: bool,
    mem: MemPortsOut,
}

#[derive(Debug, PartialEq)]
struct Out {
    ready: bool,
    status_ready: bool,
    status_done: bool,
    mem: MemPortsIn,
    /// A bit for each of [`CAUSES`], and for each ring.
    causes: u8,
    publish: u8,
    /// A packet was dropped; its header word if there was one.
    dropped: Option<Option<u32>>,
    halted: bool,
    busy: bool,
}

/// The place after `place` in a ring of `size` places.
fn following(place: u32, size: u32) -> u32 {
    (place + 1) % size
}

fn set(dut: &impl Cenju3ReceiverPorts, inputs: &In) {
    let regs = &inputs.regs;
    dut.node_id_i().set(NODE.into());
    for ring in 0..4 {
        let next = following(regs.put[ring], SIZES[ring]);
        dut.ring_base_i().set_bits(32 * ring, 32, BASES[ring].into());
        dut.ring_size_i().set_bits(17 * ring, 17, SIZES[ring].into());
        dut.ring_put_i().set_bits(16 * ring, 16, regs.put[ring].into());
        dut.ring_put1_i().set_bits(16 * ring, 16, next.into());
        dut.ring_get_i().set_bits(16 * ring, 16, regs.get[ring].into());
    }
    let put2 = following(following(regs.put[1], SIZES[1]), SIZES[1]);
    dut.dma_put2_i().set(put2.into());
    let bit = |mask| regs.ctrl & mask != 0;
    dut.run_i().set_bool(bit(R_CTRL_RUN_MASK));
    dut.halt_arrival_i().set_bool(bit(R_CTRL_HALT_ARRIVAL_MASK));
    dut.halt_end_i().set_bits(0, 1, bit(R_CTRL_HALT_END_MSG_MASK).into());
    dut.halt_end_i().set_bits(1, 1, bit(R_CTRL_HALT_END_DMA_MASK).into());
    dut.restart_i().set_bool(inputs.restart);
    let (data, units, last) = inputs.word.unwrap_or((0, 1, false));
    dut.in_valid_i().set_bool(inputs.word.is_some());
    dut.in_data_i().set(data);
    dut.in_keep_i().set(u64::from(units) - 1);
    dut.in_last_i().set_bool(last);
    dut.status_valid_i().set_bool(inputs.status);
    // What memory holds there anyway.
    let bytes = [0, 1, 2, 3].map(|byte| Memory::poison_at(STATUS + byte));
    dut.status_addr_i().set(STATUS.into());
    dut.status_data_i().set(u32::from_le_bytes(bytes).into());
    testbenches::set_write_ports!(dut, &inputs.mem);
}

fn seen(dut: &impl Cenju3ReceiverPorts) -> Out {
    let head = || dut.drop_known_o().is_set().then(|| dut.drop_head_o().get() as u32);
    Out {
        ready: dut.in_ready_o().is_set(),
        status_ready: dut.status_ready_o().is_set(),
        status_done: dut.status_done_o().is_set(),
        mem: testbenches::write_ports!(dut),
        causes: dut.cause_o().get() as u8,
        publish: dut.ring_publish_o().get() as u8,
        dropped: dut.drop_o().is_set().then(head),
        halted: dut.halted_o().is_set(),
        busy: dut.busy_o().is_set(),
    }
}

/// A Receiver under test.
pub struct Receiver {
    dut: Dut<In, Out>,
    bus_bytes: u32,
    /// Words of the longest burst.
    burst: u32,
}

/// A Receiver with this parameter `BurstBeats`.
fn receiver_of<U: Cenju3ReceiverUnit + 'static>(burst: u32) -> Receiver {
    Receiver {
        dut: Dut::of::<U>(set, seen),
        bus_bytes: U::BUS_W as u32 / 8,
        burst,
    }
}

/// A Receiver with the parameters that its module has by itself.
pub fn receiver<U: Cenju3ReceiverUnit + 'static>() -> Receiver {
    receiver_of::<U>(8)
}

impl Receiver {
    fn model(&self, memory: Memory) -> RecvModel {
        RecvModel::new(self.bus_bytes, self.burst, Inside::Shown, memory)
    }
}

/// A packet as bus words: the route flit alone, then full words.
fn words(flits: &[u16], bus_bytes: u32) -> VecDeque<Word> {
    let (route, rest) = flits.split_at(1);
    let pack = |units: &[u16]| units.iter().rev().fold(0, |all, unit| all << 16 | u64::from(*unit));
    let mut words = VecDeque::from([(u64::from(route[0]), 1, rest.is_empty())]);
    let chunks: Vec<_> = rest.chunks(bus_bytes as usize / 2).collect();
    for (i, units) in chunks.iter().enumerate() {
        words.push_back((pack(units), units.len() as u32, i + 1 == chunks.len()));
    }
    words
}

/// The Sender's status words, which are written in between.
struct Statuses {
    to_come: u32,
    pacer: Pacer,
    offered: bool,
    /// Taken, and not in memory.
    open: u32,
    /// Of each write without response, whether it is one.
    writes: VecDeque<bool>,
}

/// A Receiver with its memory, and the model that is told of each event.
struct Lockstep<'a> {
    receiver: &'a Receiver,
    bench: Bench<'a, In, Out>,
    /// The outputs after the last edge.
    seen: Out,
    model: RecvModel,
    memory: Memory,
    agent: MemoryAgent,
    source: Pacer,
    regs: Registers,
    restart: bool,
    statuses: Statuses,
    /// Packets not begun to be offered, and the words of the one that is.
    packets: VecDeque<Vec<u16>>,
    words: VecDeque<Word>,
    offered: bool,
    /// The first word of a packet is next.
    first: bool,
    drops: u16,
    drop_head: u32,
    /// Words taken, and the cycles of the first and the last.
    taken: u64,
    span: Option<(u64, u64)>,
    published: [u64; 4],
}

impl<'a> Lockstep<'a> {
    fn new(run: &Run<'a>, receiver: &'a Receiver, timing: MemoryTiming, gaps: Gaps) -> Lockstep<'a> {
        let mut agent = MemoryAgent::new(timing, receiver.bus_bytes);
        if gaps.at_sink() {
            agent = agent.with_jitter(run.rng("memory").bits(), Cycle(30), Cycle(6));
        }
        let mut memory = Memory::new(MEMORY);
        memory.poison(0..MEMORY as u32);
        let bench = Bench::new(run, &receiver.dut);
        let mut lockstep = Lockstep {
            receiver,
            seen: bench.seen(),
            bench,
            model: receiver.model(memory.clone()),
            memory,
            agent,
            source: run.pacer(gaps.at_source(), "source"),
            regs: Registers::default(),
            restart: false,
            statuses: Statuses {
                to_come: 0,
                pacer: run.pacer(true, "status words"),
                offered: false,
                open: 0,
                writes: VecDeque::new(),
            },
            packets: VecDeque::new(),
            words: VecDeque::new(),
            offered: false,
            first: false,
            drops: 0,
            drop_head: 0,
            taken: 0,
            span: None,
            published: [0; 4],
        };
        lockstep.reset();
        lockstep
    }

    fn reset(&mut self) {
        for _ in 0..3 {
            self.bench.through(&In::default(), true);
        }
        self.seen = self.bench.seen();
        self.agent.reset();
        self.regs = Registers::default();
        self.model = self.receiver.model(self.memory.clone());
        self.packets.clear();
        self.words.clear();
        (self.offered, self.drops, self.drop_head) = (false, 0, 0);
        self.statuses.writes.clear();
        for (ring, id) in RingId::ALL.into_iter().enumerate() {
            self.tell_register(id.registers(), BASES[ring]);
            self.tell_register(id.registers() + 4, SIZES[ring]);
        }
        self.tell_register(NODE_ID, NODE.into());
    }

    fn tell_register(&mut self, offset: u32, value: u32) {
        let told = self.model.observe(RecvEvent::Register { offset, value });
        told.expect("a register is told, not checked");
    }

    fn control(&mut self, ctrl: u32) {
        self.regs.ctrl = ctrl & !R_CTRL_RESTART_MASK;
        self.restart |= ctrl & R_CTRL_RESTART_MASK != 0;
        self.tell_register(R_CTRL, ctrl);
    }

    /// The host empties a ring.
    fn empty(&mut self, ring: usize) {
        self.regs.get[ring] = self.regs.put[ring];
        self.tell_register(RingId::ALL[ring].registers() + 12, self.regs.get[ring]);
    }

    /// The host empties its rings, if it is to, and lets the Receiver go on.
    fn serve(&mut self, empties: bool) {
        if empties {
            (0..4).for_each(|ring| self.empty(ring));
        }
        self.control(self.regs.ctrl | R_CTRL_RESTART_MASK);
    }

    fn inside(&mut self, event: Internal) -> Result<(), Fault> {
        Ok(self.model.observe(RecvEvent::Internal(event))?)
    }

    /// One cycle.
    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        self.step(now).map_err(|fault| fault.at(now))
    }

    fn step(&mut self, now: u64) -> Result<(), Fault> {
        Rule::Rest.holds(now <= LIMIT, || format!("none after {LIMIT} cycles"))?;
        if self.words.is_empty()
            && let Some(flits) = self.packets.pop_front()
        {
            self.words = words(&flits, self.receiver.bus_bytes);
            self.first = true;
            self.model.observe(RecvEvent::Arrives { flits })?;
        }
        self.offered = !self.words.is_empty() && (self.source.step() || self.offered);
        let statuses = &mut self.statuses;
        statuses.offered = statuses.to_come > 0 && (statuses.pacer.step() || statuses.offered);
        let inputs = In {
            regs: self.regs,
            restart: mem::take(&mut self.restart),
            word: self.words.front().copied().filter(|_| self.offered),
            status: statuses.offered,
            mem: *self.agent.ports(),
        };
        self.bench.drive(&inputs, false);
        let seen = self.bench.seen();
        if self.offered && seen.ready {
            self.take(now)?;
        }
        self.reports(&seen)?;
        let statuses = &mut self.statuses;
        if statuses.offered && seen.status_ready {
            statuses.offered = false;
            statuses.to_come -= 1;
            statuses.open += 1;
        }
        let mut events = Vec::new();
        self.agent
            .step(Cycle(now), &mut self.memory, &seen.mem, |kind| match kind {
                EventKind::MemWrite { addr, bytes } => {
                    let is_status = addr == Addr(STATUS);
                    statuses.writes.push_back(is_status);
                    events.extend((!is_status).then_some(RecvEvent::Write { addr, bytes }));
                }
                EventKind::MemWritten { .. } => {
                    let ok = !inputs.mem.wr_rsp_err;
                    let is_status = statuses.writes.pop_front() == Some(true);
                    events.extend((!is_status).then_some(RecvEvent::Written { ok }));
                }
                _ => {}
            });
        if seen.status_done {
            let open = statuses.open.checked_sub(1);
            statuses.open = open.ok_or_else(|| Rule::Status.broken("one is done that was not taken"))?;
        }
        events.into_iter().try_for_each(|event| self.model.observe(event))?;
        self.bench.edge();
        let before = mem::replace(&mut self.seen, self.bench.seen());
        if self.seen.halted && !before.halted {
            self.inside(Internal::Halted)?;
        }
        Ok(())
    }

    /// The offered word is taken.
    fn take(&mut self, now: u64) -> Result<(), Fault> {
        let halted = mem::take(&mut self.first) && self.seen.halted;
        self.words.pop_front();
        self.offered = false;
        self.taken += 1;
        self.span = Some((self.span.map_or(now, |(first, _)| first), now));
        Rule::Halt.holds(!halted, || "a route flit was taken".into())
    }

    /// The reports of this cycle: PUT moves, causes rise, packets are dropped.
    fn reports(&mut self, seen: &Out) -> Result<(), Fault> {
        for ring in (0..4).filter(|ring| seen.publish >> ring & 1 == 1) {
            let value = following(self.regs.put[ring], SIZES[ring]);
            self.regs.put[ring] = value;
            self.published[ring] += 1;
            let ring = RingId::ALL[ring];
            self.inside(Internal::Put { ring, value })?;
        }
        for (i, cause) in CAUSES.into_iter().enumerate() {
            if seen.causes >> i & 1 == 1 {
                self.inside(Internal::Raised(cause))?;
            }
        }
        if let Some(head) = seen.dropped {
            self.drops += 1;
            self.drop_head = head.unwrap_or(self.drop_head);
        }
        Ok(())
    }

    fn cycles(&mut self, count: u64) -> Result<(), Fault> {
        (0..count).try_for_each(|_| self.cycle())
    }

    fn at_rest(&self) -> bool {
        self.packets.is_empty() && self.words.is_empty() && self.statuses.to_come == 0 && !self.seen.busy
    }

    /// Until all packets are handled.
    fn settle(&mut self) -> Result<(), Fault> {
        while !self.at_rest() {
            self.cycle()?;
        }
        Ok(())
    }

    /// All is as the model has it.
    fn check(&self) -> Result<(), Fault> {
        let regs = &self.model.regs;
        Rule::Dropped.same("packets", regs.drops, self.drops)?;
        Rule::Head.same("header word", regs.error_word, self.drop_head)?;
        Rule::Status.same("not in memory", 0, self.statuses.open)?;
        self.model.finished()?;
        Ok(self.model.check_memory(&self.memory)?)
    }
}
