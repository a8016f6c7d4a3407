//! The Receiver alone, in lock step with its golden model, inside and out.

use std::cell::Cell;
use std::collections::VecDeque;

use testbenches::rtl::*;
use tsunagi::cenju3::lockstep::Mismatch;
use tsunagi::cenju3::packet::{Kind, Packet, PacketHeader, Route};
use tsunagi::cenju3::recv::{Inside, Internal, RecvEvent, RecvModel};
use tsunagi::cenju3::recv_state::{Cause, RingId};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::{Context, Unit};

use crate::rig::SLOW;
use crate::{STARTS, started};

const NODE: u8 = 9;
const BASES: [u32; 4] = [0x1000, 0x2000, 0x4000, 0x8000];
const SIZES: [u32; 4] = [5, 7, 4, 3];
const DEST: u32 = 0x1_0000;
const MEMORY: usize = 1 << 18;
pub const HALTS: u32 = R_CTRL_HALT_ARRIVAL_MASK | R_CTRL_HALT_END_MSG_MASK | R_CTRL_HALT_END_DMA_MASK;

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
                MemPortsIn {
                    wr_cmd_valid: self.mem_cmd_valid_o.is_set(),
                    wr_cmd_addr: self.mem_cmd_addr_o.get(),
                    wr_cmd_len: self.mem_cmd_len_o.get(),
                    wr_data_valid: self.mem_data_valid_o.is_set(),
                    wr_data_data: self.mem_data_data_o.get().into(),
                    wr_data_strb: self.mem_data_strb_o.get(),
                    wr_data_last: self.mem_data_last_o.is_set(),
                    wr_rsp_ready: self.mem_rsp_ready_o.is_set(),
                    ..MemPortsIn::default()
                }
            }

            fn set_mem(&self, mem: &MemPortsOut) {
                self.mem_cmd_ready_i.set_bool(mem.wr_cmd_ready);
                self.mem_data_ready_i.set_bool(mem.wr_data_ready);
                self.mem_rsp_valid_i.set_bool(mem.wr_rsp_valid);
                self.mem_rsp_err_i.set_bool(mem.wr_rsp_err);
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
receiver!(TwinReceiverRefused, 4, 8, u32);

/// What the bench finds by itself.
pub fn fault(field: &'static str, expected: &str, got: String) -> Mismatch {
    Mismatch {
        model: "bench",
        packet: 0,
        field,
        expected: expected.into(),
        got,
        last: Vec::new(),
    }
}

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
            let next = self.regs.put[ring] + 1;
            self.regs.put[ring] = if next == SIZES[ring] { 0 } else { next };
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
        self.context.set_time(self.cycle * 10_000);
        self.recorder.tick(self.context.time());
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
        assert_eq!(self.drops, self.model.regs.drops, "packets not delivered");
        assert_eq!(
            self.drop_head, self.model.regs.error_word,
            "head of the last packet not delivered"
        );
        self.model.finished()?;
        self.model.check_memory(&self.memory)
    }
}

/// What may be wrong with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    None,
    Packets,
    /// Memory refuses writes.
    Memory,
}

fn packet(rng: &mut Rng, faults: Faults, next: &mut u32) -> Vec<u16> {
    let kind = Kind::ALL[rng.below(3) as usize];
    let bytes = if rng.chance(1, 2) {
        rng.between(1, 40)
    } else {
        rng.between(1, 512)
    } as u32;
    let arr = rng.chance(1, 4);
    let end = rng.chance(1, 2);
    let dest = Addr(DEST + *next);
    *next = (*next + bytes.next_multiple_of(32)) % 0x2_0000;
    let mut body = vec![0; bytes as usize];
    rng.fill(&mut body);
    let route = Route {
        dst: NODE,
        priority: rng.chance(1, 2),
        kind,
        arr,
        end,
    };
    let header = PacketHeader {
        kind,
        arr,
        end,
        last: rng.chance(1, 2),
        priority: route.priority,
        src: rng.below(256) as u8,
        seq: rng.below(256) as u8,
        bytes,
        index: rng.below(256) as u8,
        queue: u8::from(!route.priority),
        dest: if kind == Kind::Dma { dest.0 } else { rng.bits() as u32 },
        soft1: rng.bits() as u32,
    };
    let mut flits = Packet { route, header, body }.flits();
    if faults == Faults::Packets && rng.chance(1, 3) {
        match rng.below(9) {
            0 => flits[0] |= 3 << ROUTE_KIND_SHIFT,
            1 => flits[0] ^= 1 << rng.below(8),
            2 => flits[1] |= 3,
            3 => flits[3] = 0,
            4 => flits[3] = 513,
            5 => flits[5] |= 16,
            6 => flits.truncate(rng.between(1, 9) as usize),
            7 => flits.truncate(rng.between(1, flits.len() as u64) as usize),
            _ => flits.extend((0..rng.between(1, 40)).map(|i| i as u16)),
        }
        // Route and header must tell the same kind, or it is bad for that.
        if flits.len() > 1 && flits[1] & 0xff != flits[0] >> ROUTE_KIND_SHIFT & 3 {
            flits[0] |= 3 << ROUTE_KIND_SHIFT;
        }
    }
    flits
}

/// Memory refuses writes here and there where DMA packets go.
fn refuse(memory: &mut Memory, rng: &mut Rng) {
    for _ in 0..12 {
        let at = DEST + rng.below(0x2_0000) as u32;
        memory.inject_fault(at..at + 4);
    }
}

/// What is done to a Receiver.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub timing: MemoryTiming,
    pub gaps: Gaps,
    pub faults: Faults,
    /// When it halts, besides full rings.
    pub halts: u32,
    pub reset_at: Option<u64>,
}

/// Random packets, in lock step with the golden model.
pub fn follows<U: Receiver>(case: &Case, start: &str, probe: &Probe, plan: Plan) -> Result<(), Mismatch> {
    let Plan { faults, .. } = plan;
    let mut bench = Bench::<U>::new(case, start, probe, plan.timing, plan.gaps);
    let mut rng = case.rng("packets");
    let mut next = 0;
    if let Some(at) = plan.reset_at {
        bench
            .packets
            .extend((0..60).map(|_| packet(&mut rng, faults, &mut next)));
        bench.control(R_CTRL_RUN_MASK);
        while bench.cycle < at {
            bench.cycle()?;
        }
        bench.reset();
    }
    let mut broken = faults == Faults::Memory;
    if broken {
        // An entry of each kind of ring: nothing gets past it before it is mended.
        for at in [BASES[0] + 36, BASES[1] + 52, BASES[2] + 600] {
            bench.memory.inject_fault(at..at + 1);
        }
        refuse(&mut bench.memory, &mut rng);
    }
    bench
        .packets
        .extend((0..80).map(|_| packet(&mut rng, faults, &mut next)));
    // Nothing is taken before the Receiver runs.
    let taken = bench.taken;
    for _ in 0..50 {
        bench.cycle()?;
    }
    assert_eq!(bench.taken, taken);
    bench.control(R_CTRL_RUN_MASK | plan.halts);
    let mut waited = 0;
    while !bench.at_rest() || bench.halted {
        if bench.halted && rng.chance(1, 60) {
            let free = rng.chance(3, 4);
            bench.serve(free);
        }
        if broken && bench.packets.len() < 50 {
            broken = false;
            bench.memory.clear_faults();
            refuse(&mut bench.memory, &mut rng);
        }
        bench.cycle()?;
        waited += 1;
        assert!(waited < 400_000, "the Receiver is not at rest");
    }
    bench.check()
}

fn lockstep<U: Receiver>(
    test: &'static str,
    timing: MemoryTiming,
    gaps: Gaps,
    faults: Faults,
    halts: u32,
    reset_at: Option<u64>,
) {
    for start in STARTS {
        let latency = timing.write_latency.0;
        let params = format!(
            "{} {gaps:?} {faults:?} {latency} {halts:x} {reset_at:?} {start}",
            U::BUS_BYTES
        );
        let case = Case::new("cenju3", test, params);
        let plan = Plan {
            timing,
            gaps,
            faults,
            halts,
            reset_at,
        };
        case.run(|probe| follows::<U>(&case, start, probe, plan));
    }
}

fn all_gaps<U: Receiver>(test: &'static str, faults: Faults, halts: u32) {
    for gaps in Gaps::ALL {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            lockstep::<U>(test, timing, gaps, faults, halts, None);
        }
    }
}

#[test]
fn follows_the_model_under_all_gaps() {
    let test = "receiver::follows_the_model_under_all_gaps";
    all_gaps::<Cenju3Receiver>(test, Faults::None, 0);
    all_gaps::<Cenju3ReceiverWide>(test, Faults::None, 0);
    all_gaps::<Cenju3ReceiverSmall>(test, Faults::None, 0);
}

#[test]
fn halts_and_restarts() {
    let test = "receiver::halts_and_restarts";
    for halts in [
        R_CTRL_HALT_ARRIVAL_MASK,
        R_CTRL_HALT_END_MSG_MASK,
        R_CTRL_HALT_END_DMA_MASK,
        HALTS,
    ] {
        lockstep::<Cenju3Receiver>(test, SLOW, Gaps::Both, Faults::None, halts, None);
        lockstep::<Cenju3ReceiverWide>(test, MemoryTiming::IDEAL, Gaps::None, Faults::None, halts, None);
    }
}

#[test]
fn bad_packets_leave_no_trace() {
    let test = "receiver::bad_packets_leave_no_trace";
    all_gaps::<Cenju3Receiver>(test, Faults::Packets, 0);
    all_gaps::<Cenju3ReceiverWide>(test, Faults::Packets, HALTS);
}

#[test]
fn refused_writes_are_told_and_not_published() {
    let test = "receiver::refused_writes_are_told_and_not_published";
    all_gaps::<Cenju3Receiver>(test, Faults::Memory, 0);
    all_gaps::<Cenju3ReceiverWide>(test, Faults::Memory, HALTS);
    all_gaps::<Cenju3ReceiverSmall>(test, Faults::Memory, 0);
}

/// Nobody empties the rings until the Receiver stands; a restart alone does not help it.
fn fills<U: Receiver>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    const PACKETS: usize = 60;
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    let (mut rng, mut next, mut stood) = (case.rng("packets"), 0, 0);
    let packets = (0..PACKETS).map(|_| packet(&mut rng, Faults::None, &mut next));
    bench.packets.extend(packets);
    bench.control(R_CTRL_RUN_MASK);
    while !bench.at_rest() || bench.halted {
        if bench.halted {
            assert_ne!(
                bench.model.regs.pending & R_STAT_OVERFLOW_MASK,
                0,
                "halted for something else"
            );
            bench.tell_register(R_STAT, R_STAT_OVERFLOW_MASK);
            stood += 1;
            bench.serve(stood % 2 == 0);
        }
        bench.cycle()?;
    }
    assert!(stood > 10, "full {stood} times");
    assert_eq!(bench.published[0] + bench.published[1], PACKETS as u64);
    bench.check()
}

#[test]
fn full_rings_halt_and_lose_nothing() {
    for start in STARTS {
        let case = |unit: &str| {
            let params = format!("{unit} {start}");
            Case::new("cenju3", "receiver::full_rings_halt_and_lose_nothing", params)
        };
        let (narrow, wide) = (case("32"), case("64"));
        narrow.run(|probe| fills::<Cenju3Receiver>(&narrow, start, probe));
        wide.run(|probe| fills::<Cenju3ReceiverWide>(&wide, start, probe));
    }
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    let test = "receiver::reset_in_mid_flight_leaves_nothing_behind";
    for reset_at in [20, 150, 333, 900] {
        lockstep::<Cenju3Receiver>(test, SLOW, Gaps::Both, Faults::Packets, HALTS, Some(reset_at));
        lockstep::<Cenju3ReceiverWide>(test, MemoryTiming::IDEAL, Gaps::None, Faults::None, 0, Some(reset_at));
    }
}

/// Memory refuses a DMA packet and the first place of the header behind it: both fail, and so do those behind, until nothing is under way.
pub fn refused_twice<U: Receiver>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    let late = MemoryTiming {
        write_latency: Cycle(60),
        ..MemoryTiming::IDEAL
    };
    let mut bench = Bench::<U>::new(case, start, probe, late, Gaps::None);
    bench.memory.inject_fault(DEST..DEST + 1);
    bench.memory.inject_fault(BASES[1] + 16..BASES[1] + 17);
    bench.packets.extend((0..3).map(|seq| dma(seq, 32)));
    bench.control(R_CTRL_RUN_MASK);
    while !bench.at_rest() {
        bench.cycle()?;
    }
    assert_eq!((bench.drops, bench.published[1]), (3, 0));
    bench.packets.push_back(dma(3, 32));
    bench.cycle()?;
    while !bench.at_rest() {
        bench.cycle()?;
    }
    assert_eq!((bench.drops, bench.published[1]), (3, 1));
    bench.check()
}

#[test]
fn a_refused_header_counts_also_where_it_is_written_once_more() {
    let test = "receiver::a_refused_header_counts_also_where_it_is_written_once_more";
    for start in STARTS {
        let case = |unit: &str| Case::new("cenju3", test, format!("{unit} {start}"));
        let (narrow, wide) = (case("32"), case("64"));
        narrow.run(|probe| refused_twice::<Cenju3Receiver>(&narrow, start, probe));
        wide.run(|probe| refused_twice::<Cenju3ReceiverWide>(&wide, start, probe));
    }
}

/// Packet `seq` of a row of DMA packets of 512 bytes, with `bytes` of them.
fn dma(seq: u32, bytes: u32) -> Vec<u16> {
    let route = Route {
        dst: NODE,
        priority: false,
        kind: Kind::Dma,
        arr: false,
        end: false,
    };
    let header = PacketHeader {
        kind: Kind::Dma,
        arr: false,
        end: false,
        last: false,
        priority: false,
        src: 1,
        seq: seq as u8,
        bytes,
        index: 0,
        queue: 1,
        dest: DEST + 512 * seq,
        soft1: 0,
    };
    let body = vec![seq as u8; bytes as usize];
    Packet { route, header, body }.flits()
}

/// Words and cycles from the first word taken to the last, of `count` DMA packets of 512 bytes; the rings are emptied as they fill.
pub fn stream<U: Receiver>(
    case: &Case,
    start: &str,
    probe: &Probe,
    timing: MemoryTiming,
    count: u32,
) -> Result<(u64, u64), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, timing, Gaps::None);
    bench.packets.extend((0..count).map(|seq| dma(seq, 512)));
    bench.control(R_CTRL_RUN_MASK);
    while !bench.at_rest() {
        bench.cycle()?;
        if bench.regs.get[1] != bench.regs.put[1] {
            bench.regs.get[1] = bench.regs.put[1];
            bench.tell_register(DHB_GET, bench.regs.get[1]);
        }
    }
    bench.check()?;
    let (first, last) = bench.span.expect("something was taken");
    Ok((bench.taken, last - first + 1))
}

/// [`stream`] from both starts, which must take the same time.
fn rate<U: Receiver>(test: &'static str, timing: MemoryTiming, count: u32) -> (u64, u64) {
    let rates = STARTS.map(|start| {
        let params = format!("{} {} {start}", U::BUS_BYTES, timing.write_latency.0);
        let case = Case::new("cenju3", test, params);
        let result = Cell::new((0, 0));
        case.run(|probe| stream::<U>(&case, start, probe, timing, count).map(|rate| result.set(rate)));
        result.get()
    });
    assert_eq!(rates[0], rates[1], "the rate depends on what is not reset");
    rates[0]
}

#[test]
fn one_bus_word_per_cycle() {
    let test = "receiver::one_bus_word_per_cycle";
    // Route, header and body words, without a bubble, also while responses take 20 cycles.
    let late = MemoryTiming {
        write_latency: Cycle(20),
        ..MemoryTiming::IDEAL
    };
    for timing in [MemoryTiming::IDEAL, late] {
        assert_eq!(rate::<Cenju3Receiver>(test, timing, 64), (64 * 133, 64 * 133));
    }
    assert_eq!(
        rate::<Cenju3ReceiverWide>(test, MemoryTiming::IDEAL, 64),
        (64 * 67, 64 * 67)
    );
}
