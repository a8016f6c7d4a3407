//! The Sender alone, in lock step with its golden model.

use std::collections::VecDeque;
use std::ops::Range;

use testbenches::rtl::{
    Cenju3Sender, Cenju3SenderWide, TwinSenderDest, TwinSenderEarly, TwinSenderFlags, TwinSenderPriority,
    TwinSenderRate, TwinSenderStatus,
};
use tsunagi::cenju3::lockstep::Mismatch;
use tsunagi::cenju3::packet::{Kind, ParcelHeader};
use tsunagi::cenju3::regs::*;
use tsunagi::cenju3::send::{SendEvent, SendModel, Window};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::{Context, Unit};

use crate::receiver::fault;
use crate::rig::SLOW;
use crate::{STARTS, started};

const NODE: u8 = 9;
const QUEUES: [u32; 2] = [0, 0x2000];
const BODIES: u32 = 0x1_0000;
const MEMORY: usize = 1 << 20;
/// A word of the output: data, 16-bit units, last.
pub type Word = (u64, u32, bool);

/// A verilated Sender of some bus width.
pub trait Sender: Unit {
    const BUS_BYTES: u32;
    /// Words of the longest burst; bursts in flight.
    const READER: [u64; 2];
    fn clock(&self, level: bool);
    fn reset(&self, on: bool);
    fn mem_out(&self) -> MemPortsIn;
    fn set_mem(&self, mem: &MemPortsOut);
    fn word(&self) -> Option<Word>;
    fn set_ready(&self, ready: bool);
    fn set_queues(&self, put: [u8; 2], resume: u8);
    fn gets(&self) -> [u8; 2];
    fn failed(&self) -> u8;
    fn sent(&self) -> u8;
    fn status(&self) -> Option<(u32, u32)>;
    fn set_status(&self, ready: bool, done: bool);
    fn busy(&self) -> bool;
}

macro_rules! sender {
    ($unit:ty, $bytes:literal, $word:ty, $reader:expr) => {
        impl Sender for $unit {
            const BUS_BYTES: u32 = $bytes;
            const READER: [u64; 2] = $reader;

            fn clock(&self, level: bool) {
                self.clk_i.set_bool(level);
                self.eval();
            }

            fn reset(&self, on: bool) {
                self.rst_i.set_bool(on);
                self.node_id_i.set(NODE);
                self.sq_base_i
                    .set(u64::from(QUEUES[1]) << 32 | u64::from(QUEUES[0]));
            }

            fn mem_out(&self) -> MemPortsIn {
                MemPortsIn {
                    rd_cmd_valid: self.mem_cmd_valid_o.is_set(),
                    rd_cmd_addr: self.mem_cmd_addr_o.get(),
                    rd_cmd_len: self.mem_cmd_len_o.get(),
                    rd_data_ready: self.mem_data_ready_o.is_set(),
                    ..MemPortsIn::default()
                }
            }

            fn set_mem(&self, mem: &MemPortsOut) {
                self.mem_cmd_ready_i.set_bool(mem.rd_cmd_ready);
                self.mem_data_valid_i.set_bool(mem.rd_data_valid);
                self.mem_data_data_i.set(mem.rd_data_data as $word);
                self.mem_data_last_i.set_bool(mem.rd_data_last);
                self.mem_data_err_i.set_bool(mem.rd_data_err);
            }

            fn word(&self) -> Option<Word> {
                let word = (
                    self.out_data_o.get().into(),
                    u32::from(self.out_keep_o.get()) + 1,
                    self.out_last_o.is_set(),
                );
                self.out_valid_o.is_set().then_some(word)
            }

            fn set_ready(&self, ready: bool) {
                self.out_ready_i.set_bool(ready);
            }

            fn set_queues(&self, put: [u8; 2], resume: u8) {
                self.sq_put_i.set(u16::from_le_bytes(put));
                self.sq_resume_i.set(resume);
            }

            fn gets(&self) -> [u8; 2] {
                self.sq_get_o.get().to_le_bytes()
            }

            fn failed(&self) -> u8 {
                self.sq_failed_o.get()
            }

            fn sent(&self) -> u8 {
                self.sq_sent_o.get()
            }

            fn status(&self) -> Option<(u32, u32)> {
                let status = (self.status_addr_o.get(), self.status_data_o.get());
                self.status_valid_o.is_set().then_some(status)
            }

            fn set_status(&self, ready: bool, done: bool) {
                self.status_ready_i.set_bool(ready);
                self.status_done_i.set_bool(done);
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    };
}

sender!(Cenju3Sender, 4, u32, [8, 4]);
sender!(Cenju3SenderWide, 8, u64, [4, 3]);
sender!(TwinSenderFlags, 4, u32, [8, 4]);
sender!(TwinSenderDest, 4, u32, [8, 4]);
sender!(TwinSenderEarly, 4, u32, [8, 4]);
sender!(TwinSenderPriority, 4, u32, [8, 4]);
sender!(TwinSenderRate, 4, u32, [8, 4]);
sender!(TwinSenderStatus, 4, u32, [8, 4]);

/// A Parcel Header, and the part of its body where the bus errs.
type Queued = ([u8; 32], Option<Range<u32>>);

struct Bench<'a, U> {
    dut: U,
    recorder: Recorder<'a>,
    context: Context,
    model: SendModel,
    memory: Memory,
    agent: MemoryAgent,
    sink: Pacer,
    rng: Rng,
    cycle: u64,
    put: [u8; 2],
    get: [u8; 2],
    resume: u8,
    /// Read bursts whose data have not all come; whether the model knows already.
    reads: VecDeque<(Addr, u32, bool)>,
    /// Bodies with a bus error: how far beyond it the Sender reads is its own affair.
    faulty: Vec<Range<u32>>,
    flits: Vec<u16>,
    /// Status word under way, and cycles until it is in memory.
    status: Option<(u32, u32, u64)>,
    halted: u8,
    /// Output words, and the cycles of the first and the last.
    words: u64,
    span: Option<(u64, u64)>,
    /// When the last header of queue 0 came back, until its packet starts; the longest such wait.
    header_at: Option<u64>,
    longest_wait: u64,
    parcels: u32,
    /// By queue: the parcel to be queued, and whether the last one queued must be alone.
    next: [Option<Queued>; 2],
    alone: [bool; 2],
}

impl<'a, U: Sender> Bench<'a, U> {
    fn new(case: &Case, start: &str, probe: &'a Probe, timing: MemoryTiming, gaps: Gaps) -> Bench<'a, U> {
        let context = started(case, start);
        let dut = U::named(&context, "sender");
        let mut agent = MemoryAgent::new(timing, U::BUS_BYTES);
        if gaps.at_source() {
            agent = agent.with_jitter(case.rng("memory").bits(), Cycle(30), Cycle(6));
        }
        let mut bench = Bench {
            recorder: Recorder::new(probe, &[&dut]),
            dut,
            context,
            model: SendModel::new(NODE, U::BUS_BYTES, Window::UNIT),
            memory: Memory::new(MEMORY),
            agent,
            sink: Pacer::new(gaps.at_sink(), case.rng("sink")),
            rng: case.rng("bench"),
            cycle: 0,
            put: [0; 2],
            get: [0; 2],
            resume: 0,
            reads: VecDeque::new(),
            faulty: Vec::new(),
            flits: Vec::new(),
            status: None,
            halted: 0,
            words: 0,
            span: None,
            header_at: None,
            longest_wait: 0,
            parcels: 0,
            next: [None, None],
            alone: [false; 2],
        };
        bench.reset();
        bench
    }

    fn reset(&mut self) {
        self.dut.reset(true);
        self.agent.reset();
        self.dut.set_mem(&MemPortsOut::default());
        self.dut.set_ready(false);
        self.dut.set_status(false, false);
        self.dut.set_queues([0; 2], 0);
        for _ in 0..3 {
            self.dut.clock(false);
            self.dut.clock(true);
        }
        self.dut.reset(false);
        self.model = SendModel::new(NODE, U::BUS_BYTES, Window::UNIT);
        (self.put, self.get, self.halted, self.status) = ([0; 2], [0; 2], 0, None);
        (self.next, self.alone) = ([None, None], [false; 2]);
        self.reads.clear();
        self.flits.clear();
        for (q, base) in QUEUES.into_iter().enumerate() {
            let offset = [SQ0_BASE, SQ1_BASE][q];
            self.tell(SendEvent::Register { offset, value: base })
                .expect("told, not asked");
        }
    }

    fn tell(&mut self, event: SendEvent) -> Result<(), Mismatch> {
        self.model.observe(event, &self.memory)
    }

    fn cycle(&mut self) -> Result<(), Mismatch> {
        self.cycle += 1;
        let ready = self.sink.step();
        let status_ready = self.status.is_none() && self.sink.step();
        let done = self.status.is_some_and(|(.., left)| left == 0);
        self.dut.set_mem(self.agent.ports());
        self.dut.set_ready(ready);
        self.dut.set_status(status_ready, done);
        self.dut.set_queues(self.put, std::mem::take(&mut self.resume));
        self.dut.clock(false);

        let (mem, ports) = (self.dut.mem_out(), *self.agent.ports());
        // The Sender need not wait for what follows a bus error.
        if ports.rd_data_valid && mem.rd_data_ready && (ports.rd_data_last || ports.rd_data_err) {
            let (addr, bytes, told) = self.reads.front_mut().expect("data belong to a burst");
            let (addr, bytes, told) = (*addr, *bytes, std::mem::replace(told, true));
            if ports.rd_data_last {
                self.reads.pop_front();
            }
            if (QUEUES[0]..QUEUES[1]).contains(&addr.0) {
                self.header_at = Some(self.cycle);
            }
            if !told && !self.faulty.iter().any(|body| body.contains(&addr.0)) {
                self.tell(SendEvent::Read { addr, bytes })?;
            }
        }
        if ports.rd_cmd_ready && mem.rd_cmd_valid {
            let bytes = (u32::from(mem.rd_cmd_len) + 1) * U::BUS_BYTES;
            self.reads.push_back((Addr(mem.rd_cmd_addr), bytes, false));
        }
        if let (true, Some((data, units, last))) = (ready, self.dut.word()) {
            self.words += 1;
            self.span = Some((self.span.map_or(self.cycle, |(first, _)| first), self.cycle));
            if self.flits.is_empty()
                && data as u32 & ROUTE_PRIORITY_MASK != 0
                && let Some(at) = self.header_at.take()
            {
                self.longest_wait = self.longest_wait.max(self.cycle - at);
            }
            self.flits.extend((0..units).map(|u| (data >> (16 * u)) as u16));
            if last {
                let flits = std::mem::take(&mut self.flits);
                self.tell(SendEvent::Packet { flits })?;
            }
        }
        if done {
            let (addr, value, _) = self.status.take().expect("done");
            assert!(self.memory.write(Addr(addr), &value.to_le_bytes()));
        } else if let Some((.., left)) = &mut self.status {
            *left -= 1;
        }
        if let (true, Some((addr, value))) = (status_ready, self.dut.status()) {
            self.tell(SendEvent::Write {
                addr: Addr(addr),
                value,
            })?;
            self.status = Some((addr, value, self.rng.below(20)));
        }
        self.parcels += self.dut.sent().count_ones();
        self.agent.step(Cycle(self.cycle), &mut self.memory, &mem, |_| {});
        self.dut.clock(true);
        self.context.set_time(self.cycle * 10_000);
        self.recorder.tick(self.context.time());

        let gets = self.dut.gets();
        for (queue, &value) in gets.iter().enumerate() {
            if value != self.get[queue] {
                self.tell(SendEvent::Get { queue, value })?;
            }
        }
        self.get = gets;
        for q in 0..2 {
            if self.dut.failed() >> q & 1 == 1 {
                self.tell(SendEvent::Error)?;
                self.halted |= 1 << q;
            }
        }
        Ok(())
    }

    /// Puts a header at the end of a queue and tells the Sender.
    fn enqueue(&mut self, q: usize, header: &[u8]) -> Result<(), Mismatch> {
        let at = Addr(QUEUES[q]).offset(u32::from(self.put[q]) * PARCEL_HEADER_BYTES);
        assert!(self.memory.write(at, header));
        self.put[q] = self.put[q].wrapping_add(1);
        let value = u32::from(self.put[q]);
        self.tell(SendEvent::Register {
            offset: [SQ0_PUT, SQ1_PUT][q],
            value,
        })
    }

    fn resume(&mut self, q: usize) -> Result<(), Mismatch> {
        self.halted &= !(1 << q);
        self.resume |= 1 << q;
        let value = [S_CTRL_RESUME0_MASK, S_CTRL_RESUME1_MASK][q];
        self.tell(SendEvent::Register { offset: S_CTRL, value })
    }

    fn at_rest(&self) -> bool {
        self.halted == 0 && self.get == self.put && self.next == [None, None] && !self.dut.busy()
    }

    fn finish(&mut self, limit: u64) -> Result<(), Mismatch> {
        let end = self.cycle + limit;
        while !self.at_rest() {
            assert!(self.cycle < end, "the Sender is not at rest after {limit} cycles");
            self.cycle()?;
        }
        assert_eq!(self.model.sent(), self.parcels as u16, "parcels sent");
        self.model.finished()
    }
}

/// Bodies one after another, so that a fault hits one parcel only.
struct Maker {
    next: u32,
    faulty: bool,
}

impl Maker {
    /// A parcel header, now and then one that the Sender must refuse, with its body and faults in memory; the body, where it has a bus error.
    fn parcel(&mut self, rng: &mut Rng, memory: &mut Memory, header_at: Addr) -> ([u8; 32], Option<Range<u32>>) {
        let kind = Kind::ALL[rng.below(3) as usize];
        let longest = match (kind, rng.below(8)) {
            (Kind::Dma, 0) => 2_500,
            (Kind::Dma, _) => 700,
            _ => PACKET_BODY_MAX,
        };
        let bytes = if rng.chance(1, 2) {
            rng.between(1, 40)
        } else {
            rng.between(1, longest.into())
        } as u32;
        let body = Addr(self.next);
        self.next += bytes.next_multiple_of(ALIGN_BYTES);
        let mut data = vec![0; bytes as usize];
        rng.fill(&mut data);
        assert!(memory.write(body, &data), "bodies fit");
        let parcel = ParcelHeader {
            kind,
            arr: rng.chance(1, 2),
            end: rng.chance(1, 2),
            dst: rng.below(256) as u8,
            bytes,
            body,
            dest: Addr(rng.below(1 << 20) as u32 & !31),
            soft: [rng.bits() as u32, rng.bits() as u32],
        };
        let mut header = parcel.encode();
        if self.faulty && rng.chance(1, 5) {
            match rng.below(8) {
                0 => header[PARCEL_HEAD as usize] = rng.between(3, 255) as u8,
                1 => header[4..8].copy_from_slice(&0u32.to_le_bytes()),
                2 => header[4..8].copy_from_slice(&(PARCEL_BODY_MAX + 1).to_le_bytes()),
                3 if kind != Kind::Dma => header[4..8].copy_from_slice(&(PACKET_BODY_MAX + 1).to_le_bytes()),
                4 => header[PARCEL_BODY as usize] |= 4,
                5 => header[PARCEL_DEST as usize] |= 16,
                3 | 6 => memory.inject_fault(header_at.0..header_at.0 + 8),
                _ => {
                    let at = body.0 + rng.below(bytes.into()) as u32;
                    memory.inject_fault(at..at + 1);
                    return (header, Some(body.0..self.next));
                }
            }
        }
        (header, None)
    }
}

/// What is done to a Sender.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub timing: MemoryTiming,
    pub gaps: Gaps,
    /// Some parcels must be refused.
    pub faulty: bool,
    pub reset_at: Option<u64>,
}

/// Random parcels in both queues, in lock step with the golden model.
pub fn follows<U: Sender>(case: &Case, start: &str, probe: &Probe, plan: Plan) -> Result<(), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, plan.timing, plan.gaps);
    let mut rng = case.rng("parcels");
    if let Some(at) = plan.reset_at {
        let mut maker = Maker {
            next: BODIES,
            faulty: false,
        };
        while bench.cycle < at {
            traffic(&mut bench, &mut maker, &mut rng, &mut 40)?;
        }
        bench.reset();
        bench.parcels = 0;
    }
    let mut maker = Maker {
        next: BODIES + 0x4_0000,
        faulty: plan.faulty,
    };
    let mut left = 60;
    while left > 0 {
        traffic(&mut bench, &mut maker, &mut rng, &mut left)?;
    }
    for _ in 0..200_000 {
        if bench.at_rest() {
            break;
        }
        traffic(&mut bench, &mut maker, &mut rng, &mut 0)?;
    }
    bench.finish(1)
}

fn lockstep<U: Sender>(test: &'static str, timing: MemoryTiming, gaps: Gaps, faulty: bool, reset_at: Option<u64>) {
    for start in STARTS {
        let latency = timing.read_latency.0;
        let params = format!("{} {gaps:?} {faulty} {latency} {reset_at:?} {start}", U::BUS_BYTES);
        let case = Case::new("cenju3", test, params);
        let plan = Plan {
            timing,
            gaps,
            faulty,
            reset_at,
        };
        case.run(|probe| follows::<U>(&case, start, probe, plan));
    }
}

/// One cycle, perhaps after queueing a parcel or resuming a queue.
fn traffic<U: Sender>(bench: &mut Bench<U>, maker: &mut Maker, rng: &mut Rng, left: &mut u32) -> Result<(), Mismatch> {
    let q = rng.below(2) as usize;
    if *left > 0 && bench.next[q].is_none() && rng.chance(1, 30) {
        *left -= 1;
        let at = Addr(QUEUES[q]).offset(u32::from(bench.put[q]) * PARCEL_HEADER_BYTES);
        bench.next[q] = Some(maker.parcel(rng, &mut bench.memory, at));
    }
    // The model does not follow what was read ahead and is dropped when a body fails: such a parcel goes alone.
    let empty = bench.get[q] == bench.put[q];
    if let Some((header, fault)) = bench.next[q].take_if(|(_, fault)| empty || (fault.is_none() && !bench.alone[q])) {
        bench.alone[q] = fault.is_some();
        bench.faulty.extend(fault);
        bench.enqueue(q, &header)?;
    }
    if bench.halted >> q & 1 == 1 && rng.chance(1, 20) {
        bench.resume(q)?;
    }
    bench.cycle()
}

#[test]
fn follows_the_model_under_all_gaps() {
    for gaps in Gaps::ALL {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            lockstep::<Cenju3Sender>("sender::follows_the_model_under_all_gaps", timing, gaps, false, None);
            lockstep::<Cenju3SenderWide>("sender::follows_the_model_under_all_gaps", timing, gaps, false, None);
        }
    }
}

#[test]
fn bad_parcels_halt_their_queue_only() {
    for gaps in Gaps::ALL {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            lockstep::<Cenju3Sender>("sender::bad_parcels_halt_their_queue_only", timing, gaps, true, None);
            lockstep::<Cenju3SenderWide>("sender::bad_parcels_halt_their_queue_only", timing, gaps, true, None);
        }
    }
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    for reset_at in [50, 333, 700, 1_501] {
        let test = "sender::reset_in_mid_flight_leaves_nothing_behind";
        lockstep::<Cenju3Sender>(test, SLOW, Gaps::Both, true, Some(reset_at));
        lockstep::<Cenju3SenderWide>(test, MemoryTiming::IDEAL, Gaps::Sink, true, Some(reset_at));
    }
}

/// `parcels` in queue 0; output words and the cycles from the first to the last.
pub fn stream<U: Sender>(
    case: &Case,
    start: &str,
    probe: &Probe,
    parcels: u32,
    bytes: u32,
) -> Result<(u64, u64), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    let parcel = ParcelHeader {
        kind: Kind::Dma,
        arr: true,
        end: true,
        dst: 1,
        bytes,
        body: Addr(BODIES),
        dest: Addr(0),
        soft: [0; 2],
    };
    for _ in 0..parcels {
        bench.enqueue(0, &parcel.encode())?;
    }
    bench.finish(200_000)?;
    let (first, last) = bench.span.expect("something was sent");
    Ok((bench.words, last - first + 1))
}

/// Parcels for queue 0 while queue 1 is at a parcel of 256 packets: the model knows how many of these may pass.
pub fn overtakes<U: Sender>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    let parcel = |bytes| ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: true,
        dst: 1,
        bytes,
        body: Addr(BODIES),
        dest: Addr(0),
        soft: [0; 2],
    };
    bench.enqueue(1, &parcel(PARCEL_BODY_MAX).encode())?;
    for bytes in [1, 40, 512, 700] {
        for _ in 0..1_000 {
            bench.cycle()?;
        }
        bench.enqueue(0, &parcel(bytes).encode())?;
    }
    bench.finish(200_000)
}

/// One-word parcels for queue 0 at every phase of queue 1's packets, and an ideal memory: from the return of its header each waits for
/// the words the reader has asked for and the burst it is about to ask for, and for one whole packet, if that was chosen in time.
pub fn waits<U: Sender>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    const PIPELINE: u64 = 3;
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    let parcel = |bytes| ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: true,
        dst: 1,
        bytes,
        body: Addr(BODIES),
        dest: Addr(0),
        soft: [0; 2],
    };
    let packet = u64::from(1 + (PACKET_HEADER_BYTES + PACKET_BODY_MAX) / U::BUS_BYTES);
    for _ in 0..2 {
        bench.enqueue(1, &parcel(PARCEL_BODY_MAX).encode())?;
    }
    for _ in 0..packet {
        // No further header before the packet has gone, and each a few words later in queue 1's packets.
        for _ in 0..3 * packet + 1 {
            bench.cycle()?;
        }
        bench.enqueue(0, &parcel(1).encode())?;
    }
    bench.finish(200_000)?;
    let [burst, outstanding] = U::READER;
    let most = burst * (outstanding + 1) + packet + PIPELINE;
    let waited = bench.longest_wait;
    if waited <= most {
        return Ok(());
    }
    Err(fault(
        "wait",
        &format!("at most {most} cycles"),
        format!("{waited} cycles"),
    ))
}

/// [`stream`] from both starts, which must take the same time.
fn rate<U: Sender>(test: &'static str, parcels: u32, bytes: u32) -> (u64, u64) {
    let rates = STARTS.map(|start| {
        let case = Case::new("cenju3", test, format!("{} {bytes} {start}", U::BUS_BYTES));
        let result = std::cell::Cell::new((0, 0));
        case.run(|probe| stream::<U>(&case, start, probe, parcels, bytes).map(|rate| result.set(rate)));
        result.get()
    });
    assert_eq!(rates[0], rates[1], "the rate depends on what is not reset");
    rates[0]
}

#[test]
fn one_bus_word_per_cycle() {
    let test = "sender::one_bus_word_per_cycle";
    // 256 packets of route, header and body words, without a bubble.
    let (words, cycles) = rate::<Cenju3Sender>(test, 1, PARCEL_BODY_MAX);
    assert_eq!((words, cycles), (256 * (1 + 4 + 128), 256 * (1 + 4 + 128)));
    let (words, cycles) = rate::<Cenju3SenderWide>(test, 1, PARCEL_BODY_MAX);
    assert_eq!((words, cycles), (256 * (1 + 2 + 64), 256 * (1 + 2 + 64)));
    // Parcels of one packet: the 8 words of each parcel header come on the same way as the bodies.
    let (words, cycles) = rate::<Cenju3Sender>(test, 100, PACKET_BODY_MAX);
    assert!(cycles * 133 <= words * (133 + 8), "{words} words in {cycles} cycles");
}

#[test]
fn queue_0_overtakes_queue_1() {
    for start in STARTS {
        let case = Case::new("cenju3", "sender::queue_0_overtakes_queue_1", start);
        case.run(|probe| overtakes::<Cenju3Sender>(&case, start, probe));
        case.run(|probe| overtakes::<Cenju3SenderWide>(&case, start, probe));
    }
}

#[test]
fn queue_0_waits_for_one_packet_and_the_read_ahead() {
    for start in STARTS {
        let case = Case::new(
            "cenju3",
            "sender::queue_0_waits_for_one_packet_and_the_read_ahead",
            start,
        );
        case.run(|probe| waits::<Cenju3Sender>(&case, start, probe));
        case.run(|probe| waits::<Cenju3SenderWide>(&case, start, probe));
    }
}

#[test]
fn a_queue_holds_255_headers_and_wraps() {
    let test = "sender::a_queue_holds_255_headers_and_wraps";
    let (words, _) = rate::<Cenju3Sender>(test, 255, 4);
    assert_eq!(words, 255 * 6);
    for start in STARTS {
        let case = Case::new("cenju3", test, format!("wrap {start}"));
        case.run(|probe| {
            let mut bench = Bench::<Cenju3Sender>::new(&case, start, probe, MemoryTiming::IDEAL, Gaps::None);
            let mut maker = Maker {
                next: BODIES,
                faulty: false,
            };
            let mut rng = case.rng("parcels");
            for _ in 0..3 {
                for _ in 0..200 {
                    let (header, _) = maker.parcel(&mut rng, &mut bench.memory, Addr(0));
                    bench.enqueue(1, &header)?;
                }
                bench.finish(200_000)?;
            }
            assert_eq!(bench.get[1], 600_u32 as u8);
            Ok::<(), Mismatch>(())
        });
    }
}
