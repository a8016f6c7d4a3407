//! The Receiver alone, in lock step with its golden model, inside and out.

use std::collections::VecDeque;

use testbenches::rtl::*;
use tsunagi::Cycle;
use tsunagi::cenju3::golden::lockstep::Mismatch;
use tsunagi::cenju3::golden::receiver::{Inside, Internal, RecvEvent, RecvModel};
use tsunagi::cenju3::golden::receiver_state::{Cause, RingId};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::harness::wave::Probe;
use verilated::{Context, Unit};

use crate::{PERIOD, fault, started};

mod tests;

pub use tests::{Faults, HALTS, Plan, follows, refused_as_the_next_begins, refused_twice, stream};

const NODE: u8 = 9;
const BASES: [u32; 4] = [0x1000, 0x2000, 0x4000, 0x8000];
const SIZES: [u32; 4] = [5, 7, 4, 3];
const DEST: u32 = 0x1_0000;
const MEMORY: usize = 1 << 18;
/// Cycles after which a run that has not ended never will.
const LONGEST: u64 = 1_000_000;

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
pub struct Registers {
    ctrl: u32,
    put: [u32; 4],
    get: [u32; 4],
}

/// A verilated Receiver of some bus width.
pub trait Receiver: Unit {
    const BUS_BYTES: u32;
    const BURST_BEATS: u32;
    fn clock(&self, level: bool);
    fn reset(&self, on: bool);
    fn set_registers(&self, regs: &Registers, restart: bool);
    fn set_in(&self, word: Option<Word>);
    fn in_ready(&self) -> bool;
    fn mem_out(&self) -> MemPortsIn;
    fn set_mem(&self, mem: &MemPortsOut);
    fn causes(&self) -> u8;
    fn publish(&self) -> u8;
    fn dropped(&self) -> Option<Option<u32>>;
    fn halted(&self) -> bool;
    fn busy(&self) -> bool;
}

/// A word of the input: data, 16-bit units, last.
pub type Word = (u64, u32, bool);

/// The place after `place` in a ring of `size` places.
fn following(place: u32, size: u32) -> u32 {
    (place + 1) % size
}

/// Elements of a packed array as its 32-bit words.
fn packed<const N: usize>(values: [u32; 4], width: usize) -> [u32; N] {
    let mut words = [0; N];
    for (i, value) in values.into_iter().enumerate() {
        let wide = u64::from(value) << (i * width % 32);
        words[i * width / 32] |= wide as u32;
        if let Some(next) = words.get_mut(i * width / 32 + 1) {
            *next |= (wide >> 32) as u32;
        }
    }
    words
}

macro_rules! receiver {
    ($unit:ty, $bytes:literal, $beats:literal, $word:ty) => {
        impl Receiver for $unit {
            const BUS_BYTES: u32 = $bytes;
            const BURST_BEATS: u32 = $beats;

            fn clock(&self, level: bool) {
                self.clk_i.set_bool(level);
                verilated::Verilated::junk(self);
                self.eval();
            }

            fn reset(&self, on: bool) {
                self.rst_i.set_bool(on);
                self.node_id_i.set(NODE);
                self.ring_base_i.set(BASES);
                self.ring_size_i.set(packed(SIZES, 17));
                self.status_valid_i.set_bool(false);
            }

            fn set_registers(&self, regs: &Registers, restart: bool) {
                let bit = |mask| regs.ctrl & mask != 0;
                self.run_i.set_bool(bit(R_CTRL_RUN_MASK));
                self.halt_arrival_i.set_bool(bit(R_CTRL_HALT_ARRIVAL_MASK));
                self.halt_end_i
                    .set(u8::from(bit(R_CTRL_HALT_END_DMA_MASK)) << 1 | u8::from(bit(R_CTRL_HALT_END_MSG_MASK)));
                self.restart_i.set_bool(restart);
                let pairs = |values: [u32; 4]| {
                    let [low, high]: [u32; 2] = packed(values, 16);
                    u64::from(high) << 32 | u64::from(low)
                };
                self.ring_put_i.set(pairs(regs.put));
                let next = std::array::from_fn(|ring| following(regs.put[ring], SIZES[ring]));
                self.ring_put1_i.set(pairs(next));
                self.dma_put2_i.set(following(next[1], SIZES[1]) as u16);
                self.ring_get_i.set(pairs(regs.get));
            }

            fn set_in(&self, word: Option<Word>) {
                let (data, units, last) = word.unwrap_or((0, 1, false));
                self.in_valid_i.set_bool(word.is_some());
                self.in_data_i.set(data as $word);
                self.in_keep_i.set(units as u8 - 1);
                self.in_last_i.set_bool(last);
            }

            fn in_ready(&self) -> bool {
                self.in_ready_o.is_set()
            }

            fn mem_out(&self) -> MemPortsIn {
                testbenches::mem_write_ports!(self)
            }

            fn set_mem(&self, mem: &MemPortsOut) {
                testbenches::set_mem_write_ports!(self, mem);
            }

            fn causes(&self) -> u8 {
                self.cause_o.get()
            }

            fn publish(&self) -> u8 {
                self.ring_publish_o.get()
            }

            fn dropped(&self) -> Option<Option<u32>> {
                let head = self.drop_known_o.is_set().then(|| self.drop_head_o.get());
                self.drop_o.is_set().then_some(head)
            }

            fn halted(&self) -> bool {
                self.halted_o.is_set()
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    };
}

receiver!(Cenju3Receiver, 4, 8, u32);
receiver!(Cenju3ReceiverWide, 8, 4, u64);
receiver!(Cenju3ReceiverSmall, 4, 4, u32);
receiver!(TwinReceiverArrival, 4, 8, u32);
receiver!(TwinReceiverEnd, 4, 8, u32);
receiver!(TwinReceiverPublish, 4, 8, u32);
receiver!(TwinReceiverHalted, 4, 8, u32);
receiver!(TwinReceiverTruncated, 4, 8, u32);
receiver!(TwinReceiverAgain, 4, 8, u32);
receiver!(TwinReceiverBegun, 4, 8, u32);
receiver!(TwinReceiverRedo, 4, 8, u32);
receiver!(TwinReceiverRefused, 4, 8, u32);
receiver!(TwinReceiverBody, 4, 8, u32);
receiver!(TwinReceiverRate, 4, 8, u32);
receiver!(TwinReceiverDrops, 4, 8, u32);
receiver!(TwinReceiverHead, 4, 8, u32);
receiver!(TwinReceiverRun, 4, 8, u32);
receiver!(TwinReceiverStuck, 4, 8, u32);

/// A packet as bus words: the route flit alone, then full words.
fn words(flits: &[u16], bus_bytes: u32) -> Vec<Word> {
    let (route, rest) = flits.split_at(1);
    let pack = |units: &[u16]| units.iter().rev().fold(0, |all, unit| all << 16 | u64::from(*unit));
    let mut words = vec![(u64::from(route[0]), 1, rest.is_empty())];
    let chunks: Vec<_> = rest.chunks(bus_bytes as usize / 2).collect();
    for (i, units) in chunks.iter().enumerate() {
        words.push((pack(units), units.len() as u32, i + 1 == chunks.len()));
    }
    words
}

struct Bench<'a, U> {
    dut: U,
    recorder: Recorder<'a>,
    context: Context,
    model: RecvModel,
    memory: Memory,
    agent: MemoryAgent,
    source: Pacer,
    cycle: u64,
    regs: Registers,
    restart: bool,
    /// Packets not begun to be offered, and the words of the one that is.
    packets: VecDeque<Vec<u16>>,
    words: VecDeque<Word>,
    offered: bool,
    /// The first word of a packet is next.
    first: bool,
    halted: bool,
    drops: u16,
    drop_head: u32,
    /// Words taken, and the cycles of the first and the last.
    taken: u64,
    span: Option<(u64, u64)>,
    published: [u64; 4],
}

impl<'a, U: Receiver> Bench<'a, U> {
    fn new(case: &Case, start: &str, probe: &'a Probe, timing: MemoryTiming, gaps: Gaps) -> Bench<'a, U> {
        let context = started(case, start);
        let dut = U::named(&context, "receiver");
        let mut agent = MemoryAgent::new(timing, U::BUS_BYTES);
        if gaps.at_sink() {
            agent = agent.with_jitter(case.rng("memory").bits(), Cycle(30), Cycle(6));
        }
        let mut memory = Memory::new(MEMORY);
        memory.poison(0..MEMORY as u32);
        let mut bench = Bench {
            recorder: Recorder::new(probe, &[&dut]),
            dut,
            context,
            model: RecvModel::new(U::BUS_BYTES, U::BURST_BEATS, Inside::Shown, memory.clone()),
            memory,
            agent,
            source: Pacer::new(gaps.at_source(), case.rng("source")),
            cycle: 0,
            regs: Registers::default(),
            restart: false,
            packets: VecDeque::new(),
            words: VecDeque::new(),
            offered: false,
            first: false,
            halted: false,
            drops: 0,
            drop_head: 0,
            taken: 0,
            span: None,
            published: [0; 4],
        };
        bench.reset();
        bench
    }

    fn reset(&mut self) {
        self.dut.reset(true);
        self.agent.reset();
        self.dut.set_mem(&MemPortsOut::default());
        self.dut.set_in(None);
        self.regs = Registers::default();
        self.dut.set_registers(&self.regs, false);
        for _ in 0..3 {
            self.dut.clock(false);
            self.dut.clock(true);
        }
        self.dut.reset(false);
        self.model = RecvModel::new(U::BUS_BYTES, U::BURST_BEATS, Inside::Shown, self.memory.clone());
        self.packets.clear();
        self.words.clear();
        (self.offered, self.halted, self.drops, self.drop_head) = (false, false, 0, 0);
        for (ring, id) in RingId::ALL.into_iter().enumerate() {
            self.tell_register(id.registers(), BASES[ring]);
            self.tell_register(id.registers() + 4, SIZES[ring]);
        }
        self.tell_register(NODE_ID, NODE.into());
    }

    fn tell_register(&mut self, offset: u32, value: u32) {
        let told = self.model.observe(RecvEvent::Register { offset, value });
        told.expect("told, not asked");
    }

    fn control(&mut self, ctrl: u32) {
        self.regs.ctrl = ctrl & !R_CTRL_RESTART_MASK;
        self.restart |= ctrl & R_CTRL_RESTART_MASK != 0;
        self.tell_register(R_CTRL, ctrl);
    }

    /// The host empties its rings and lets the Receiver go on.
    fn serve(&mut self, free: bool) {
        if free {
            for (ring, id) in RingId::ALL.into_iter().enumerate() {
                self.regs.get[ring] = self.regs.put[ring];
                self.tell_register(id.registers() + 12, self.regs.get[ring]);
            }
        }
        self.control(self.regs.ctrl | R_CTRL_RESTART_MASK);
    }

    fn inside(&mut self, event: Internal) -> Result<(), Mismatch> {
        self.model.observe(RecvEvent::Internal(event))
    }

    fn cycle(&mut self) -> Result<(), Mismatch> {
        if self.cycle > LONGEST {
            return Err(fault("rest", "to come", format!("none after {LONGEST} cycles")));
        }
        self.cycle += 1;
        if self.words.is_empty()
            && let Some(flits) = self.packets.pop_front()
        {
            self.words = words(&flits, U::BUS_BYTES).into();
            self.first = true;
            self.model.observe(RecvEvent::Arrives { flits })?;
        }
        self.offered = !self.words.is_empty() && (self.source.step() || self.offered);
        self.dut.set_in(self.words.front().copied().filter(|_| self.offered));
        self.dut.set_registers(&self.regs, std::mem::take(&mut self.restart));
        self.dut.set_mem(self.agent.ports());
        self.dut.clock(false);

        let (mem, ports) = (self.dut.mem_out(), *self.agent.ports());
        if self.offered && self.dut.in_ready() {
            if self.first && self.halted {
                return Err(fault(
                    "halt",
                    "no further packet begun while halted",
                    "a route flit taken".into(),
                ));
            }
            self.first = false;
            self.words.pop_front();
            self.offered = false;
            self.taken += 1;
            self.span = Some((self.span.map_or(self.cycle, |(first, _)| first), self.cycle));
        }
        let (causes, publish) = (self.dut.causes(), self.dut.publish());
        for ring in (0..4).filter(|ring| publish >> ring & 1 == 1) {
            self.regs.put[ring] = following(self.regs.put[ring], SIZES[ring]);
            self.published[ring] += 1;
            self.inside(Internal::Put {
                ring: RingId::ALL[ring],
                value: self.regs.put[ring],
            })?;
        }
        for (i, cause) in CAUSES.into_iter().enumerate() {
            if causes >> i & 1 == 1 {
                self.inside(Internal::Raised(cause))?;
            }
        }
        if let Some(head) = self.dut.dropped() {
            self.drops += 1;
            self.drop_head = head.unwrap_or(self.drop_head);
        }
        let mut events = Vec::new();
        self.agent
            .step(Cycle(self.cycle), &mut self.memory, &mem, |kind| match kind {
                EventKind::MemWrite { addr, bytes } => events.push(RecvEvent::Write { addr, bytes }),
                EventKind::MemWritten { .. } => events.push(RecvEvent::Written { ok: !ports.wr_rsp_err }),
                _ => {}
            });
        events.into_iter().try_for_each(|event| self.model.observe(event))?;
        self.dut.clock(true);
        self.context.set_time(self.cycle * PERIOD);
        self.recorder.tick_up(&[&self.dut], PERIOD);
        if self.dut.halted() && !self.halted {
            self.inside(Internal::Halted)?;
        }
        self.halted = self.dut.halted();
        Ok(())
    }

    fn at_rest(&self) -> bool {
        self.packets.is_empty() && self.words.is_empty() && !self.dut.busy()
    }

    fn check(&self) -> Result<(), Mismatch> {
        let (got, want) = (self.drops, self.model.regs.drops);
        if got != want {
            return Err(fault("packets dropped", &want.to_string(), got.to_string()));
        }
        let (got, want) = (self.drop_head, self.model.regs.error_word);
        if got != want {
            return Err(fault(
                "head of the last dropped",
                &format!("{want:x}"),
                format!("{got:x}"),
            ));
        }
        self.model.finished()?;
        self.model.check_memory(&self.memory)
    }
}
