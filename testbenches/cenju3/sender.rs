//! The Sender alone, in lock step with its golden model.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

use testbenches::rtl::*;
use testbenches::{Bench, Dut, Fault, Rule as _, Run, rules};
use tsunagi::cenju3::golden::sender::{SendEvent, SendModel, Window};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Pacer;
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

mod tests;

use tests::Plan;
pub use tests::checks;

rules!(
    /// A read is of the next header of a queue, or of the body of a fetched parcel.
    Read = "read"
    /// A packet leaves only when its parcel was fetched and is good.
    Packet = "packet"
    /// A packet of queue 0 goes before the packets of queue 1.
    Priority = "priority"
    /// The route flit names target, kind and flags of the parcel.
    Route = "route flit"
    /// The packet header follows from the parcel header.
    Header = "packet header"
    /// A packet ends with its body.
    Length = "packet length in flits"
    /// The body is that in memory, with zeros behind it.
    Body = "body"
    /// A packet ends where the bus errs in its body.
    Cut = "length of a packet cut by a bus error"
    /// The status of a failed parcel goes into its own header.
    Write = "write"
    /// The status is the reason of the failure.
    Status = "status"
    /// The interrupt comes after the status.
    Interrupt = "interrupt"
    /// GET moves when the parcel is sent whole.
    Get = "GET"
    /// Every queued parcel is sent or fails in the end.
    Rest
    /// The parcels that are sent are counted.
    Sent
    /// A packet of queue 0 waits for one packet of queue 1 and for the words that are read ahead.
    Wait
    /// A queue halts when its status is in memory.
    StatusWord
    /// A burst is no longer than the longest, and within a multiple of it.
    Burst
    /// A bus word leaves in every cycle, from whatever state the Sender starts.
    Rate
);

const NODE: u8 = 9;
const QUEUES: [u32; 2] = [0, 0x2000];
const BODIES: u32 = 0x1_0000;
const MEMORY: usize = 1 << 20;
/// Cycles after which a run counts as hung.
const LIMIT: u64 = 1_000_000;

/// A word of the output: data, 16-bit units, last.
type Word = (u64, u32, bool);

#[derive(Debug, Default)]
struct In {
    mem: MemPortsOut,
    ready: bool,
    status_ready: bool,
    status_done: bool,
    put: [u8; 2],
    resume: u8,
}

#[derive(Debug, PartialEq)]
struct Out {
    mem: MemPortsIn,
    word: Option<Word>,
    /// Address and value.
    status: Option<(u32, u32)>,
    get: [u8; 2],
    failed: u8,
    sent: u8,
    busy: bool,
}

fn set(dut: &impl Cenju3SenderPorts, inputs: &In) {
    dut.node_id_i().set(NODE.into());
    for (q, base) in QUEUES.into_iter().enumerate() {
        dut.sq_base_i().set_bits(32 * q, 32, base.into());
    }
    testbenches::set_read_ports!(dut, &inputs.mem);
    dut.out_ready_i().set_bool(inputs.ready);
    dut.status_ready_i().set_bool(inputs.status_ready);
    dut.status_done_i().set_bool(inputs.status_done);
    dut.sq_put_i().set(u16::from_le_bytes(inputs.put).into());
    dut.sq_resume_i().set(inputs.resume.into());
}

fn seen(dut: &impl Cenju3SenderPorts) -> Out {
    let word = || {
        (
            dut.out_data_o().get(),
            dut.out_keep_o().get() as u32 + 1,
            dut.out_last_o().is_set(),
        )
    };
    let status = || (dut.status_addr_o().get() as u32, dut.status_data_o().get() as u32);
    Out {
        mem: testbenches::read_ports!(dut),
        word: dut.out_valid_o().is_set().then(word),
        status: dut.status_valid_o().is_set().then(status),
        get: (dut.sq_get_o().get() as u16).to_le_bytes(),
        failed: dut.sq_failed_o().get() as u8,
        sent: dut.sq_sent_o().get() as u8,
        busy: dut.busy_o().is_set(),
    }
}

/// A Sender under test.
pub struct Sender {
    dut: Dut<In, Out>,
    bus_bytes: u32,
    /// Words of the longest burst, and bursts of bodies that may await data.
    burst: u32,
    outstanding: u32,
}

/// A Sender with these parameters `BurstBeats` and `Outstanding`.
fn sender_of<U: Cenju3SenderUnit + 'static>(burst: u32, outstanding: u32) -> Sender {
    Sender {
        dut: Dut::of::<U>(set, seen),
        bus_bytes: U::BUS_W as u32 / 8,
        burst,
        outstanding,
    }
}

/// A Sender with the parameters that its module has by itself.
pub fn sender<U: Cenju3SenderUnit + 'static>() -> Sender {
    sender_of::<U>(8, 4)
}

/// A parcel header, and the part of its body where the bus errs.
type Queued = ([u8; 32], Option<Range<u32>>);

/// A Sender with its memory, and the model that is told of each event.
struct Lockstep<'a> {
    sender: &'a Sender,
    bench: Bench<'a, In, Out>,
    /// The outputs after the last edge.
    seen: Out,
    model: SendModel,
    memory: Memory,
    agent: MemoryAgent,
    sink: Pacer,
    rng: Rng,
    put: [u8; 2],
    get: [u8; 2],
    resume: u8,
    /// Read bursts whose data have not all come, and whether the model knows of them.
    reads: VecDeque<(Addr, u32, bool)>,
    /// By queue: bytes that have come of a header that is read in several bursts.
    header_bytes: [u32; 2],
    /// Bodies with a bus error. The model does not say how far beyond the error the Sender may read.
    faulty: Vec<Range<u32>>,
    flits: Vec<u16>,
    /// Of each 100 cycles, the first ones in which no status word is taken.
    status_waits: u64,
    /// Status words under way: address, value, and the cycles until it is in memory.
    statuses: VecDeque<(u32, u32, u64)>,
    halted: u8,
    /// Output words, and the cycles of the first and the last.
    words: u64,
    span: Option<(u64, u64)>,
    /// The cycle in which the last header of queue 0 came back, until its packet starts; the longest such wait.
    header_at: Option<u64>,
    longest_wait: u64,
    parcels: u32,
    /// By queue: the parcel to be queued, and whether the last one queued must be alone.
    next: [Option<Queued>; 2],
    alone: [bool; 2],
}

impl<'a> Lockstep<'a> {
    fn new(run: &Run<'a>, sender: &'a Sender, plan: Plan) -> Result<Lockstep<'a>, Fault> {
        let mut agent = MemoryAgent::new(plan.timing(), sender.bus_bytes);
        if plan.gaps.at_source() {
            agent = agent.with_jitter(run.rng("memory").bits(), Cycle(30), Cycle(6));
        }
        let bench = Bench::new(run, &sender.dut);
        let mut lockstep = Lockstep {
            sender,
            seen: bench.seen(),
            bench,
            model: SendModel::new(NODE, sender.bus_bytes, Window::UNIT),
            memory: Memory::new(MEMORY),
            agent,
            sink: run.pacer(plan.gaps.at_sink(), "sink"),
            rng: run.rng("bench"),
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
        lockstep.reset()?;
        Ok(lockstep)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        for _ in 0..3 {
            self.bench.through(&In::default(), true);
        }
        self.seen = self.bench.seen();
        self.agent.reset();
        self.model = SendModel::new(NODE, self.sender.bus_bytes, Window::UNIT);
        (self.put, self.get, self.halted, self.header_bytes) = ([0; 2], [0; 2], 0, [0; 2]);
        self.statuses.clear();
        (self.next, self.alone) = ([None, None], [false; 2]);
        self.reads.clear();
        self.flits.clear();
        self.parcels = 0;
        for (offset, value) in [SQ0_BASE, SQ1_BASE].into_iter().zip(QUEUES) {
            self.tell(SendEvent::Register { offset, value })?;
        }
        Ok(())
    }

    fn tell(&mut self, event: SendEvent) -> Result<(), Fault> {
        Ok(self.model.observe(event, &self.memory)?)
    }

    /// Cycles so far.
    fn now(&self) -> u64 {
        self.bench.cycle()
    }

    /// One cycle.
    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.now();
        self.step(now).map_err(|fault| fault.at(now))
    }

    fn step(&mut self, now: u64) -> Result<(), Fault> {
        Rule::Rest.holds(now <= LIMIT, || format!("none after {LIMIT} cycles"))?;
        let inputs = In {
            mem: *self.agent.ports(),
            ready: self.sink.step(),
            status_ready: self.sink.step() && now % 100 >= self.status_waits,
            status_done: self.statuses.front().is_some_and(|(.., left)| *left == 0),
            put: self.put,
            resume: mem::take(&mut self.resume),
        };
        self.bench.drive(&inputs, false);
        let seen = self.bench.seen();
        self.reads(&inputs.mem, &seen.mem)?;
        if let Some(word) = seen.word.filter(|_| inputs.ready) {
            self.word(word)?;
        }
        self.statuses(&inputs, seen.status)?;
        self.parcels += seen.sent.count_ones();
        self.agent.step(Cycle(now), &mut self.memory, &seen.mem, |_| {});
        self.bench.edge();
        self.seen = self.bench.seen();
        self.moves()
    }

    /// Read commands and data that pass in this cycle.
    fn reads(&mut self, ports: &MemPortsOut, unit: &MemPortsIn) -> Result<(), Fault> {
        // The Sender need not wait for the words behind a bus error.
        if ports.rd_data_valid && unit.rd_data_ready && (ports.rd_data_last || ports.rd_data_err) {
            let (addr, bytes, told) = self.reads.front_mut().expect("data belong to a burst");
            let (addr, bytes, told) = (*addr, *bytes, mem::replace(told, true));
            if ports.rd_data_last {
                self.reads.pop_front();
            }
            if !told && !self.faulty.iter().any(|body| body.contains(&addr.0)) {
                self.read(addr, bytes)?;
            }
        }
        if !(ports.rd_cmd_ready && unit.rd_cmd_valid) {
            return Ok(());
        }
        let bytes = (u32::from(unit.rd_cmd_len) + 1) * self.sender.bus_bytes;
        let longest = self.sender.burst * self.sender.bus_bytes;
        let (first, last) = (unit.rd_cmd_addr, unit.rd_cmd_addr + bytes - 1);
        self.reads.push_back((Addr(first), bytes, false));
        Rule::Burst.holds(first / longest == last / longest, || {
            format!("{bytes} bytes at {first:#x}, not within {longest} bytes")
        })
    }

    /// The data of a burst have come.
    fn read(&mut self, addr: Addr, bytes: u32) -> Result<(), Fault> {
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
            self.header_at = Some(self.now());
        }
        let addr = Addr(addr.0.wrapping_sub(mem::take(&mut self.header_bytes[q])));
        self.tell(SendEvent::Read { addr, bytes: come })
    }

    /// An output word was taken.
    fn word(&mut self, (data, units, last): Word) -> Result<(), Fault> {
        let now = self.now();
        self.words += 1;
        self.span = Some((self.span.map_or(now, |(first, _)| first), now));
        if self.flits.is_empty()
            && data as u32 & ROUTE_PRIORITY_MASK != 0
            && let Some(at) = self.header_at.take()
        {
            self.longest_wait = self.longest_wait.max(now - at);
        }
        self.flits.extend((0..units).map(|unit| (data >> (16 * unit)) as u16));
        if !last {
            return Ok(());
        }
        let flits = mem::take(&mut self.flits);
        self.tell(SendEvent::Packet { flits })
    }

    /// A status word comes into memory, and one is taken.
    fn statuses(&mut self, inputs: &In, status: Option<(u32, u32)>) -> Result<(), Fault> {
        if inputs.status_done {
            let (addr, value, _) = self.statuses.pop_front().expect("one is done");
            assert!(
                self.memory.write(Addr(addr), &value.to_le_bytes()),
                "queues are in memory"
            );
        } else if let Some((.., left)) = self.statuses.front_mut() {
            *left -= 1;
        }
        let Some((addr, value)) = status.filter(|_| inputs.status_ready) else {
            return Ok(());
        };
        self.statuses.push_back((addr, value, self.rng.below(20)));
        let addr = Addr(addr);
        self.tell(SendEvent::Write { addr, value })
    }

    /// After the edge: GET moves, or a queue halts.
    fn moves(&mut self) -> Result<(), Fault> {
        let before = mem::replace(&mut self.get, self.seen.get);
        for (queue, value) in self.seen.get.into_iter().enumerate() {
            if value != before[queue] {
                self.tell(SendEvent::Get { queue, value })?;
            }
        }
        for (q, base) in QUEUES.into_iter().enumerate() {
            if self.seen.failed >> q & 1 == 1 {
                self.tell(SendEvent::Error)?;
                self.halted |= 1 << q;
                let header = base + u32::from(self.get[q]) * PARCEL_HEADER_BYTES;
                let status = self.memory.read(Addr(header + PARCEL_STATUS), 4);
                Rule::StatusWord.holds(status != Some(&[0; 4]), || {
                    format!("queue {q} halted before its status was in memory")
                })?;
            }
        }
        Ok(())
    }

    fn cycles(&mut self, count: u64) -> Result<(), Fault> {
        (0..count).try_for_each(|_| self.cycle())
    }

    /// Puts a header at the end of a queue and tells the Sender.
    fn enqueue(&mut self, q: usize, header: &[u8]) -> Result<(), Fault> {
        assert!(self.memory.write(self.end(q), header), "queues are in memory");
        self.put[q] = self.put[q].wrapping_add(1);
        let (offset, value) = ([SQ0_PUT, SQ1_PUT][q], self.put[q].into());
        self.tell(SendEvent::Register { offset, value })
    }

    /// The place of the next header of a queue.
    fn end(&self, q: usize) -> Addr {
        Addr(QUEUES[q]).offset(u32::from(self.put[q]) * PARCEL_HEADER_BYTES)
    }

    fn resume(&mut self, q: usize) -> Result<(), Fault> {
        self.halted &= !(1 << q);
        self.resume |= 1 << q;
        let value = [S_CTRL_RESUME0_MASK, S_CTRL_RESUME1_MASK][q];
        self.tell(SendEvent::Register { offset: S_CTRL, value })
    }

    fn at_rest(&self) -> bool {
        self.halted == 0 && self.get == self.put && self.next == [None, None] && !self.seen.busy
    }

    /// Within this number of cycles all is sent.
    fn finish(&mut self, limit: u64) -> Result<(), Fault> {
        let end = self.now() + limit;
        while !self.at_rest() {
            Rule::Rest.holds(self.now() < end, || format!("none after {limit} cycles"))?;
            self.cycle()?;
        }
        Rule::Sent.same("parcels", self.model.sent(), self.parcels as u16)?;
        Ok(self.model.finished()?)
    }
}
