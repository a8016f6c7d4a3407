//! The Sender alone, in lock step with its golden model.

use std::collections::VecDeque;
use std::ops::Range;

use testbenches::rtl::*;
use tsunagi::cenju3::golden::lockstep::Mismatch;
use tsunagi::cenju3::golden::sender::{SendEvent, SendModel, Window};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::{Context, Unit};

use crate::{PERIOD, fault, started};

mod tests;

pub use tests::{Plan, both_fail, follows, overtakes, stream, waits};

const NODE: u8 = 9;
const QUEUES: [u32; 2] = [0, 0x2000];
const BODIES: u32 = 0x1_0000;
const MEMORY: usize = 1 << 20;
/// Cycles after which a run that has not ended never will.
const LONGEST: u64 = 1_000_000;
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
    ($unit:ty, $bytes:literal, $reader:expr) => {
        impl Sender for $unit {
            const BUS_BYTES: u32 = $bytes;
            const READER: [u64; 2] = $reader;

            fn clock(&self, level: bool) {
                self.clk_i.set_bool(level);
                verilated::Verilated::junk(self);
                self.eval();
            }

            fn reset(&self, on: bool) {
                self.rst_i.set_bool(on);
                self.node_id_i.set(NODE);
                self.sq_base_i
                    .set(u64::from(QUEUES[1]) << 32 | u64::from(QUEUES[0]));
            }

            fn mem_out(&self) -> MemPortsIn {
                testbenches::mem_read_ports!(self)
            }

            fn set_mem(&self, mem: &MemPortsOut) {
                testbenches::set_mem_read_ports!(self, mem);
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

sender!(Cenju3Sender, 4, [8, 4]);
sender!(Cenju3SenderWide, 8, [4, 3]);
sender!(Cenju3SenderSmall, 4, [4, 1]);
sender!(Cenju3SenderWords, 4, [1, 3]);
sender!(TwinSenderBurst, 4, [1, 3]);
sender!(TwinSenderHasty, 4, [8, 4]);
sender!(TwinSenderBoth, 4, [8, 4]);
sender!(TwinSenderWhose, 4, [8, 4]);
sender!(TwinSenderFlags, 4, [8, 4]);
sender!(TwinSenderDest, 4, [8, 4]);
sender!(TwinSenderPriority, 4, [8, 4]);
sender!(TwinSenderRate, 4, [8, 4]);
sender!(TwinSenderStatus, 4, [8, 4]);
sender!(TwinSenderLength, 4, [8, 4]);
sender!(TwinSenderBody, 4, [8, 4]);
sender!(TwinSenderKeep, 4, [8, 4]);
sender!(TwinSenderCut, 4, [8, 4]);
sender!(TwinSenderCode, 4, [8, 4]);
sender!(TwinSenderAlarm, 4, [8, 4]);
sender!(TwinSenderGet, 4, [8, 4]);
sender!(TwinSenderEarly, 4, [8, 4]);
sender!(TwinSenderSilent, 4, [8, 4]);
sender!(TwinSenderSent, 4, [8, 4]);
sender!(TwinSenderDrop, 4, [8, 4]);

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
    /// By queue: bytes that have come of a header that is read in several bursts.
    header_bytes: [u32; 2],
    /// Bodies with a bus error: how far beyond it the Sender reads is its own affair.
    faulty: Vec<Range<u32>>,
    flits: Vec<u16>,
    /// Of each 100 cycles, the first ones in which no status word is taken.
    status_waits: u64,
    /// Status words under way, and for each the cycles from then on until it is in memory.
    statuses: VecDeque<(u32, u32, u64)>,
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
            header_bytes: [0; 2],
            faulty: Vec::new(),
            flits: Vec::new(),
            status_waits: 0,
            statuses: VecDeque::new(),
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
        (self.put, self.get, self.halted, self.header_bytes) = ([0; 2], [0; 2], 0, [0; 2]);
        self.statuses.clear();
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

    /// The data of a burst have come.
    fn read(&mut self, addr: Addr, bytes: u32) -> Result<(), Mismatch> {
        let Some(q) = QUEUES.iter().rposition(|base| (*base..BODIES).contains(&addr.0)) else {
            return self.tell(SendEvent::Read { addr, bytes });
        };
        // The model is told of whole headers.
        let come = self.header_bytes[q] + bytes;
        if come < PARCEL_HEADER_BYTES && addr.0 % PARCEL_HEADER_BYTES == self.header_bytes[q] {
            self.header_bytes[q] = come;
            return Ok(());
        }
        if q == 0 {
            self.header_at = Some(self.cycle);
        }
        let addr = Addr(addr.0.wrapping_sub(std::mem::take(&mut self.header_bytes[q])));
        self.tell(SendEvent::Read { addr, bytes: come })
    }

    /// A burst is no longer than the longest, and within a multiple of it.
    fn burst(&mut self, addr: Addr, bytes: u32) -> Result<(), Mismatch> {
        let longest = U::READER[0] as u32 * U::BUS_BYTES;
        if addr.0 / longest != (addr.0 + bytes - 1) / longest {
            let expected = format!("within {longest} bytes");
            return Err(fault("burst", &expected, format!("{bytes} bytes at {addr:x?}")));
        }
        self.reads.push_back((addr, bytes, false));
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), Mismatch> {
        if self.cycle > LONGEST {
            return Err(fault("rest", "to come", format!("none after {LONGEST} cycles")));
        }
        self.cycle += 1;
        let ready = self.sink.step();
        let status_ready = self.sink.step() && self.cycle % 100 >= self.status_waits;
        let done = self.statuses.front().is_some_and(|(.., left)| *left == 0);
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
            if !told && !self.faulty.iter().any(|body| body.contains(&addr.0)) {
                self.read(addr, bytes)?;
            }
        }
        if ports.rd_cmd_ready && mem.rd_cmd_valid {
            let bytes = (u32::from(mem.rd_cmd_len) + 1) * U::BUS_BYTES;
            self.burst(Addr(mem.rd_cmd_addr), bytes)?;
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
            let (addr, value, _) = self.statuses.pop_front().expect("done");
            assert!(self.memory.write(Addr(addr), &value.to_le_bytes()));
        } else if let Some((.., left)) = self.statuses.front_mut() {
            *left -= 1;
        }
        if let (true, Some((addr, value))) = (status_ready, self.dut.status()) {
            self.tell(SendEvent::Write {
                addr: Addr(addr),
                value,
            })?;
            self.statuses.push_back((addr, value, self.rng.below(20)));
        }
        self.parcels += self.dut.sent().count_ones();
        self.agent.step(Cycle(self.cycle), &mut self.memory, &mem, |_| {});
        self.dut.clock(true);
        self.context.set_time(self.cycle * PERIOD);
        self.recorder.tick_up(&[&self.dut], PERIOD);

        let gets = self.dut.gets();
        for (queue, &value) in gets.iter().enumerate() {
            if value != self.get[queue] {
                self.tell(SendEvent::Get { queue, value })?;
            }
        }
        self.get = gets;
        for (q, base) in QUEUES.into_iter().enumerate() {
            if self.dut.failed() >> q & 1 == 1 {
                self.tell(SendEvent::Error)?;
                self.halted |= 1 << q;
                let header = base + u32::from(self.get[q]) * PARCEL_HEADER_BYTES;
                if self.memory.read(Addr(header + PARCEL_STATUS), 4) == Some(&[0; 4]) {
                    let expected = "in memory before its queue halts";
                    return Err(fault("status word", expected, format!("queue {q} halted without")));
                }
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
            if self.cycle >= end {
                return Err(fault("rest", "to come", format!("none after {limit} cycles")));
            }
            self.cycle()?;
        }
        let (model, unit) = (self.model.sent(), self.parcels as u16);
        if model != unit {
            return Err(fault("parcels sent", &model.to_string(), unit.to_string()));
        }
        self.model.finished()
    }
}
