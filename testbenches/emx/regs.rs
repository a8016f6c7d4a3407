//! `emx_regs` in lock step with a model that takes registers, accesses and fields from `regs.toml`.

use std::collections::BTreeMap;
use std::mem;
use std::path::Path;

use regs_gen::Word;
use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::emx::packet::Packet;
use tsunagi::emx::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use verilated::{Input as _, Port as _};

use crate::rig::{Access, packet, set_packet, some_packet};

rules!(
    /// What no register takes is refused with an error, and nothing else is.
    Error
    /// A read gives what the register has.
    Read
    /// A counter has all events up to two cycles before.
    Count
    /// Threads run as CONTROL says.
    Control
    /// A word of the window is a word of memory.
    Memory
    /// SEND1 puts a packet into the input buffer.
    Send
    /// Causes that MASK lets through raise the interrupt a cycle later.
    Interrupt
    /// Requests are taken and answered in the stated cycles.
    Handshake
    /// An edge that may be left out changes nothing.
    Gating
);

/// Bytes of a register.
const BYTES: u32 = 8;
/// Counters of a kind.
const COUNTERS: u32 = 8;
const CAUSES: u64 = 2 * STATUS_HOST_MASK - 1;
/// Cycles after a reset without a request.
const CLEARS: u32 = 17;

#[derive(Clone, Copy, Debug)]
struct Request {
    addr: u32,
    /// A write: word and strobes.
    write: Option<(u64, u8)>,
}

#[derive(Clone, Debug, Default)]
struct In {
    request: Option<Request>,
    rsp_ready: bool,
    pe: u32,
    column: u32,
    row: u32,
    mem_ready: bool,
    read: u64,
    packet_ready: bool,
    tell: Option<u32>,
    fault: bool,
    /// Cause, address and code.
    why: (u32, u32, u32),
    fatal: bool,
    frame: u32,
    depth: u32,
    held: u32,
    counts: u64,
    /// Of the input buffer, of the matching unit, and of the path.
    refused: [Option<(u32, Packet)>; 3],
}

/// A value, or none: an error.
type Answer = Option<u64>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    ready: bool,
    answer: Option<Answer>,
    irq: bool,
    run: bool,
    access: Option<Access>,
    packet: Option<Packet>,
}

fn set(dut: &impl EmxRegsPorts, inputs: &In) {
    let junk = Request {
        addr: MASK,
        write: Some((!0, 0xff)),
    };
    let request = inputs.request.unwrap_or(junk);
    let (data, strobes) = request.write.unwrap_or((!0, 0x5a));
    dut.host_req_valid_i().set_bool(inputs.request.is_some());
    dut.host_req_write_i().set_bool(request.write.is_some());
    dut.host_req_addr_i().set(request.addr.into());
    dut.host_req_wdata_i().set(data);
    dut.host_req_wstrb_i().set(strobes.into());
    dut.host_rsp_ready_i().set_bool(inputs.rsp_ready);
    dut.pe_i().set(inputs.pe.into());
    dut.column_i().set(inputs.column.into());
    dut.row_i().set(inputs.row.into());
    dut.mem_ready_i().set_bool(inputs.mem_ready);
    dut.mem_rdata_i().set(inputs.read);
    dut.packet_ready_i().set_bool(inputs.packet_ready);
    dut.tell_valid_i().set_bool(inputs.tell.is_some());
    dut.tell_data_i().set(inputs.tell.unwrap_or(0xdead_beef).into());
    dut.fault_i().set_bool(inputs.fault);
    let (cause, pc, code) = inputs.why;
    dut.fault_cause_i().set(cause.into());
    dut.fault_pc_i().set(pc.into());
    dut.fault_code_i().set(code.into());
    dut.fatal_i().set_bool(inputs.fatal);
    dut.frame_i().set(inputs.frame.into());
    dut.depth_i().set(inputs.depth.into());
    dut.held_i().set(inputs.held.into());
    dut.count_i().set(inputs.counts);
    for (index, refused) in inputs.refused.into_iter().enumerate() {
        dut.refused_valid_i().set_bits(index, 1, refused.is_some().into());
        dut.refused_reason_i()
            .set_bits(4 * index, 4, refused.map_or(1, |(reason, _)| reason).into());
        set_packet(dut.refused_packet_i(), index, refused.map(|(_, packet)| packet));
    }
}

fn seen(dut: &impl EmxRegsPorts) -> Out {
    let answer = || (!dut.host_rsp_err_o().is_set()).then(|| dut.host_rsp_rdata_o().get());
    let access = || Access {
        addr: dut.mem_addr_o().get() as u32,
        write: dut.mem_write_o().is_set().then(|| dut.mem_wdata_o().get()),
    };
    Out {
        ready: dut.host_req_ready_o().is_set(),
        answer: dut.host_rsp_valid_o().is_set().then(answer),
        irq: dut.irq_o().is_set(),
        run: dut.run_o().is_set(),
        access: dut.mem_valid_o().is_set().then(access),
        packet: dut.packet_valid_o().is_set().then(|| packet(dut.packet_o())),
    }
}

/// A unit under test.
struct Unit {
    dut: Dut<In, Out>,
    words: u32,
}

fn unit<U: EmxRegsUnit + 'static>() -> Unit {
    Unit {
        dut: Dut::of::<U>(set, seen),
        words: 1 << U::ADDR_W,
    }
}

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// By its offset.
    Register(u32),
    Count(usize),
    Refusals(usize),
    Memory(u32),
    Nothing,
}

/// Where a request is.
#[derive(Clone, Copy, Debug)]
enum State {
    /// None is taken for so many cycles.
    Closed(u32),
    Ready,
    Access(Request),
    /// A memory word comes.
    Word,
    Respond(Answer),
}

/// Events by counter: those of COUNTS, those of REFUSALS by reason, and HOST_ERRORS.
#[derive(Clone, Copy, Default)]
struct Counters {
    counts: [u64; COUNTERS as usize],
    refusals: [u64; COUNTERS as usize],
    errors: u64,
}

impl Counters {
    fn add(&mut self, other: &Counters) {
        let both = self.counts.iter_mut().zip(other.counts);
        let both = both.chain(self.refusals.iter_mut().zip(other.refusals));
        both.for_each(|(sum, new)| *sum += new);
        self.errors += other.errors;
    }
}

struct Model {
    registers: BTreeMap<u32, Word>,
    words: u32,
    state: State,
    control: u64,
    sticky: u64,
    mask: u64,
    tell: u32,
    send: u64,
    refused: [u64; 2],
    peak: u32,
    irq: bool,
    counters: Counters,
    /// The events of the cycle before.
    recent: Counters,
    /// Cycles since the reset.
    age: u32,
}

fn saturated(count: u64) -> u64 {
    count.min(u16::MAX.into())
}

fn flag(on: bool, mask: u64) -> u64 {
    if on { mask } else { 0 }
}

impl Model {
    fn new(words: u32) -> Model {
        let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/emx/regs.toml");
        let machine = regs_gen::load(&origin).expect("regs-gen reads it");
        let block = machine.block.into_iter().find(|block| block.name == "Registers");
        let registers = block.expect("there are registers").word;
        Model::of(registers.into_iter().map(|word| (word.offset, word)).collect(), words)
    }

    /// As it is after a reset.
    fn of(registers: BTreeMap<u32, Word>, words: u32) -> Model {
        Model {
            registers,
            words,
            state: State::Closed(CLEARS),
            control: 0,
            sticky: 0,
            mask: 0,
            tell: 0,
            send: 0,
            refused: [0; 2],
            peak: 0,
            irq: false,
            counters: Counters::default(),
            recent: Counters::default(),
            age: 0,
        }
    }

    fn reset(&mut self) {
        *self = Model::of(mem::take(&mut self.registers), self.words);
    }

    fn named(&self, addr: u32) -> Named {
        let offset = addr & !(BYTES - 1);
        let index = |base: u32| (offset.wrapping_sub(base) / BYTES) as usize;
        let is_in = |base: u32| offset >= base && offset < base + COUNTERS * BYTES;
        match offset {
            MEMORY.. if offset - MEMORY < self.words * BYTES => Named::Memory((offset - MEMORY) / BYTES),
            _ if is_in(COUNTS) => Named::Count(index(COUNTS)),
            _ if is_in(REFUSALS) => Named::Refusals(index(REFUSALS)),
            MEMORY.. => Named::Nothing,
            _ if self.registers.contains_key(&offset) => Named::Register(offset),
            _ => Named::Nothing,
        }
    }

    /// Does what it names take this request?
    fn allows(&self, request: &Request) -> bool {
        let access = match self.named(request.addr) {
            Named::Register(offset) => &self.registers[&offset].access,
            Named::Memory(_) => "rw",
            Named::Count(_) | Named::Refusals(_) => "ro",
            Named::Nothing => return false,
        };
        match request.write {
            Some((_, strobes)) => access != "ro" && strobes == 0xff,
            None => access != "wo",
        }
    }

    fn status(&self, inputs: &In) -> u64 {
        self.sticky | flag(inputs.fault, STATUS_HALTED_MASK) | flag(inputs.fatal, STATUS_FATAL_MASK)
    }

    fn read(&self, addr: u32, inputs: &In) -> u64 {
        let (cause, pc, code) = inputs.why;
        let field = |value: u32, shift: u32| u64::from(value) << shift;
        match self.named(addr) {
            Named::Count(index) => self.counters.counts[index],
            Named::Refusals(reason) => saturated(self.counters.refusals[reason]),
            Named::Register(PE) => {
                field(inputs.pe, PE_NUMBER_SHIFT)
                    | field(inputs.column, PE_COLUMN_SHIFT)
                    | field(inputs.row, PE_ROW_SHIFT)
            }
            Named::Register(CONTROL) => self.control,
            Named::Register(STATUS) => self.status(inputs),
            Named::Register(MASK) => self.mask,
            Named::Register(FAULT) => {
                field(pc, FAULT_PC_SHIFT) | field(cause, FAULT_CAUSE_SHIFT) | field(code, FAULT_CODE_SHIFT)
            }
            Named::Register(FRAME) => inputs.frame.into(),
            Named::Register(TELL) => self.tell.into(),
            Named::Register(SEND0) => self.send,
            Named::Register(REFUSED0) => self.refused[0],
            Named::Register(REFUSED1) => self.refused[1],
            Named::Register(DEPTH) => field(inputs.depth, DEPTH_NOW_SHIFT) | field(self.peak, DEPTH_PEAK_SHIFT),
            Named::Register(WAITING) => inputs.held.into(),
            Named::Register(HOST_ERRORS) => saturated(self.counters.errors),
            other => panic!("{other:?} is not read here"),
        }
    }

    /// The packet of a write to SEND1.
    fn sent(&self, request: &Request) -> Option<Packet> {
        let (data, _) = request.write?;
        let sends = self.named(request.addr) == Named::Register(SEND1) && self.allows(request);
        sends.then(|| Packet::of([self.send, data]))
    }

    /// A request that is refused in this cycle.
    fn fails(&self, inputs: &In) -> bool {
        let State::Access(request) = &self.state else {
            return false;
        };
        !self.allows(request) || (inputs.fatal && self.sent(request).is_some())
    }

    /// Its outputs in this cycle.
    fn expects(&self, inputs: &In) -> Out {
        let (mut access, mut packet) = (None, None);
        if let State::Access(request) = &self.state
            && !self.fails(inputs)
        {
            packet = self.sent(request);
            if let Named::Memory(addr) = self.named(request.addr) {
                let write = request.write.map(|(data, _)| data & (2 * MEM_PRESENT_MASK - 1));
                access = Some(Access { addr, write });
            }
        }
        Out {
            ready: matches!(self.state, State::Ready),
            answer: match self.state {
                State::Respond(answer) => Some(answer),
                _ => None,
            },
            irq: self.irq,
            run: self.control & CONTROL_RUN_MASK != 0,
            access,
            packet,
        }
    }

    fn check(&self, inputs: &In, seen: &Out, asked: Option<Request>) -> Result<(), Fault> {
        let want = self.expects(inputs);
        Rule::Handshake.same("ready", want.ready, seen.ready)?;
        Rule::Memory.same("access", want.access, seen.access)?;
        Rule::Send.same("packet", want.packet, seen.packet)?;
        Rule::Handshake.same("answers", want.answer.is_some(), seen.answer.is_some())?;
        if let (Some(want), Some(got)) = (want.answer, seen.answer) {
            let what = asked.map(|request| (self.named(request.addr), request));
            let what = format!("{what:x?}");
            Rule::Error.same(&what, want.is_some(), got.is_some())?;
            let rule = match asked.map(|request| self.named(request.addr)) {
                Some(Named::Count(_) | Named::Refusals(_) | Named::Register(HOST_ERRORS)) => Rule::Count,
                _ => Rule::Read,
            };
            rule.same(&what, want, got)?;
        }
        Rule::Control.same("run", want.run, seen.run)?;
        Rule::Interrupt.same("interrupt", want.irq, seen.irq)
    }

    /// The request's next state, and what a write that is taken does.
    fn goes_on(&self, inputs: &In) -> (State, Option<(u32, u64)>) {
        let next = match self.state {
            State::Closed(1) => State::Ready,
            State::Closed(left) => State::Closed(left - 1),
            State::Ready => inputs.request.map_or(State::Ready, State::Access),
            State::Access(_) if self.fails(inputs) => State::Respond(None),
            State::Access(request) => return self.accesses(&request, inputs),
            State::Word => State::Respond(Some(inputs.read)),
            // The next request can be taken two cycles later.
            State::Respond(_) if inputs.rsp_ready => State::Closed(1),
            State::Respond(answer) => State::Respond(answer),
        };
        (next, None)
    }

    /// An access that is taken, or waits.
    fn accesses(&self, request: &Request, inputs: &In) -> (State, Option<(u32, u64)>) {
        let waits = match self.named(request.addr) {
            Named::Memory(_) => !inputs.mem_ready,
            _ => self.sent(request).is_some() && !inputs.packet_ready,
        };
        match (request.write, self.named(request.addr)) {
            _ if waits => (self.state, None),
            (None, Named::Memory(_)) => (State::Word, None),
            (None, _) => (State::Respond(Some(self.read(request.addr, inputs))), None),
            (Some((data, _)), Named::Register(offset)) => (State::Respond(Some(0)), Some((offset, data))),
            (Some(_), _) => (State::Respond(Some(0)), None),
        }
    }

    /// The edge.
    fn step(&mut self, inputs: &In) {
        let irq = self.status(inputs) & self.mask != 0;
        let failed = self.fails(inputs);
        let (state, written) = self.goes_on(inputs);
        let clears = written.map_or(0, |(offset, data)| flag(offset == STATUS, data));
        let first = inputs.refused.iter().flatten().next();
        if let Some((_, packet)) = first.filter(|_| self.sticky & !clears & STATUS_REFUSED_MASK == 0) {
            self.refused = packet.words();
        }
        let sets = flag(inputs.tell.is_some(), STATUS_TOLD_MASK)
            | flag(first.is_some(), STATUS_REFUSED_MASK)
            | flag(failed, STATUS_HOST_MASK);
        self.sticky = self.sticky & !clears | sets;
        self.tell = inputs.tell.unwrap_or(self.tell);
        self.peak = self.peak.max(inputs.depth);
        match written {
            Some((CONTROL, data)) => self.control = data & CONTROL_RUN_MASK,
            Some((MASK, data)) => self.mask = data & CAUSES,
            Some((SEND0, data)) => self.send = Packet::of([data, 0]).words()[0],
            _ => {}
        }
        self.count(inputs, failed);
        (self.state, self.irq) = (state, irq);
        self.age += 1;
    }

    fn count(&mut self, inputs: &In, failed: bool) {
        let mut events = Counters::default();
        // While the counters are cleared, nothing is counted.
        if self.age >= CLEARS - 1 {
            for (index, count) in events.counts.iter_mut().enumerate() {
                *count = inputs.counts >> index & 1;
            }
            for (reason, _) in inputs.refused.iter().flatten() {
                events.refusals[*reason as usize] += 1;
            }
            events.errors = failed.into();
        }
        let before = mem::replace(&mut self.recent, events);
        self.counters.add(&before);
    }
}

/// What happens around the unit.
struct World {
    rng: Rng,
    now: In,
    /// Of 256 cycles, those with an event of a kind.
    density: u64,
}

impl World {
    fn new(rng: Rng) -> World {
        World {
            rng,
            now: In::default(),
            density: 0,
        }
    }

    /// What is static while the unit works.
    fn place(&mut self) {
        let rng = &mut self.rng;
        (self.now.pe, self.now.column, self.now.row) =
            (rng.below(1 << 10) as u32, rng.below(5) as u32, rng.below(16) as u32);
    }

    fn step(&mut self) {
        let rng = &mut self.rng;
        if rng.chance(1, 64) {
            self.density = [0, 1, 16, 256][rng.below(4) as usize];
        }
        let happens = |rng: &mut Rng| rng.chance(self.density, 256);
        self.now.counts = (0..COUNTERS).map(|index| u64::from(happens(rng)) << index).sum();
        self.now.tell = happens(rng).then(|| rng.bits() as u32);
        let reasons = [
            rng.between(REASON_TYPE.into(), REASON_RANGE.into()) as u32,
            REASON_OVERRUN,
            REASON_NOWHERE,
        ];
        self.now.refused = reasons.map(|reason| happens(rng).then(|| (reason, some_packet(rng))));
        if rng.chance(1, 40) {
            self.now.fault = !self.now.fault;
            self.now.why = (
                rng.below(16) as u32,
                rng.below(1 << 22) as u32,
                rng.below(1 << 17) as u32,
            );
            self.now.frame = rng.below(1 << 22) as u32;
            self.now.held = rng.below(1 << 16) as u32;
        }
        if rng.chance(1, 40) {
            let most = 1 << rng.below(15);
            self.now.depth = rng.below(most) as u32;
        }
        self.now.fatal = if self.now.fatal {
            !rng.chance(1, 20)
        } else {
            rng.chance(1, 200)
        };
        self.now.read = rng.below(2 * MEM_PRESENT_MASK);
    }
}

/// An access to anything, or to nothing.
fn some_request(rng: &mut Rng, model: &Model) -> Request {
    let registers: Vec<u32> = model.registers.keys().copied().collect();
    let offset = match rng.below(16) {
        0..7 => registers[rng.below(registers.len() as u64) as usize],
        7..9 => REFUSALS + BYTES * rng.below(COUNTERS.into()) as u32,
        9..12 => COUNTS + BYTES * rng.below(COUNTERS.into()) as u32,
        12 => MEMORY + BYTES * rng.below(model.words.into()) as u32,
        13 => (MEMORY + BYTES * (rng.below(4) as u32).wrapping_add(model.words - 2)) & 0xff_ffff,
        14 => rng.below(0x200) as u32,
        _ => rng.below(1 << 24) as u32,
    };
    let strobes = if rng.chance(1, 8) { rng.bits() as u8 } else { 0xff };
    Request {
        addr: offset & !(BYTES - 1) | rng.below(BYTES.into()) as u32,
        write: rng.chance(1, 2).then(|| (rng.bits(), strobes)),
    }
}

fn exercise(run: &Run, unit: &Unit, gaps: Gaps, resets: bool) -> Result<(), Fault> {
    let mut bench = Pair::new(run, &unit.dut);
    let mut model = Model::new(unit.words);
    let mut world = World::new(run.rng("world"));
    let mut rng = run.rng("requests");
    let mut source = run.pacer(gaps.at_source(), "requests");
    let mut sinks = ["answers", "memory", "packets"].map(|name| run.pacer(gaps.at_sink(), name));
    let (mut asked, mut offer, mut answers, mut before) = (None, None, 0, (false, false, 0));
    for cycle in 0..4000 {
        world.step();
        if source.step() {
            offer = offer.or_else(|| Some(some_request(&mut rng, &model)));
        }
        let [rsp_ready, mem_ready, packet_ready] = sinks.each_mut().map(Pacer::step);
        let inputs = In {
            request: offer,
            rsp_ready,
            mem_ready,
            packet_ready,
            ..world.now.clone()
        };
        if cycle < 2 || resets && rng.chance(1, 250) {
            world.place();
            bench.reset(&world.now);
            model.reset();
            offer = None;
            continue;
        }
        let events = inputs.refused.iter().any(Option::is_some) || inputs.tell.is_some() || inputs.counts != 0;
        // A level that changes asks for an edge.
        let levels = (inputs.fault, inputs.fatal, inputs.depth);
        let changes = mem::replace(&mut before, levels) != levels;
        let seen = bench
            .step(&inputs, offer.is_some() || events || changes)
            .map_err(|fault| fault.at(cycle))?;
        model.check(&inputs, &seen, asked).map_err(|fault| fault.at(cycle))?;
        model.step(&inputs);
        answers += u32::from(rsp_ready && seen.answer.is_some());
        if seen.ready {
            asked = offer.take().or(asked);
        }
    }
    assert!(answers > 300 || resets, "only {answers} answers");
    assert!(bench.skipped() > 0 || !gaps.at_source(), "it is never at rest");
    Ok(())
}

/// A cause that comes at rest raises the interrupt.
fn wakes(run: &Run, unit: &Unit) -> Result<(), Fault> {
    let mut bench = Pair::new(run, &unit.dut);
    let mut model = Model::new(unit.words);
    let mut world = In {
        rsp_ready: true,
        ..In::default()
    };
    (0..2).for_each(|_| bench.reset(&world));
    for cycle in 0..150 {
        world.request = (cycle == 30).then_some(Request {
            addr: MASK,
            write: Some((CAUSES, 0xff)),
        });
        world.tell = (cycle == 100).then_some(1);
        let asks = world.request.is_some() || world.tell.is_some();
        let seen = bench.step(&world, asks).map_err(|fault| fault.at(cycle))?;
        model.check(&world, &seen, None).map_err(|fault| fault.at(cycle))?;
        model.step(&world);
    }
    assert!(model.irq && bench.skipped() > 60, "it is never at rest");
    Ok(())
}

/// Counters of 16 bits stop at their end.
fn saturates(run: &Run, unit: &Unit) -> Result<(), Fault> {
    let mut bench = Pair::new(run, &unit.dut);
    let mut model = Model::new(unit.words);
    let quiet = In {
        rsp_ready: true,
        ..In::default()
    };
    (0..2).for_each(|_| bench.reset(&quiet));
    let refused = [(0, REASON_TYPE), (1, REASON_OVERRUN), (2, REASON_NOWHERE)];
    let reads = [REASON_TYPE, REASON_OVERRUN, REASON_NOWHERE].map(|reason| REFUSALS + BYTES * reason);
    let mut reads = reads
        .into_iter()
        .chain([HOST_ERRORS])
        .map(|addr| Request { addr, write: None });
    let (mut asked, mut read) = (None, 0);
    while read < 4 {
        let full = model.counters.errors > 0x1_0010;
        let mut inputs = quiet.clone();
        if !full {
            let unknown = Request {
                addr: 0x70,
                write: None,
            };
            inputs.request = Some(unknown);
            refused
                .iter()
                .for_each(|&(index, reason)| inputs.refused[index] = Some((reason, Packet::default())));
        } else if matches!(model.state, State::Ready) {
            inputs.request = reads.next();
        }
        let seen = bench.step(&inputs, inputs.request.is_some() || !full)?;
        model.check(&inputs, &seen, asked)?;
        model.step(&inputs);
        read += u32::from(full && seen.answer.is_some_and(|answer| answer == Some(u16::MAX.into())));
        if seen.ready {
            asked = inputs.request.or(asked);
        }
    }
    Ok(())
}

fn checks(unit: &Unit, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let params = format!("{} {gaps:?} resets {resets}", unit.dut.name);
            cases.from_each(&[Start::Random1, Start::Zero], params, |run| {
                exercise(run, unit, gaps, resets)
            });
        }
    }
    cases.case(Start::Random1, format!("{} wakes", unit.dut.name), |run| {
        wakes(run, unit)
    });
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&unit::<EmxRegs14>(), cases);
        checks(&unit::<EmxRegs17>(), cases);
        checks(&unit::<EmxRegs20>(), cases);
    });
}

fn counts(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} saturates", unit.dut.name), |run| {
        saturates(run, unit)
    });
}

#[test]
fn counters_stop_at_their_end() {
    pass(this_test!(), |cases| counts(&unit::<EmxRegs14>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Partial strobes write a register.
            (Error, &[Memory, Send, Handshake, Control, Interrupt, Read], &|cases| {
                checks(&unit::<TwinEmxRegsPartial>(), cases)
            }),
            // A packet is refused later than it could be put.
            (Send, &[], &|cases| checks(&unit::<TwinEmxRegsFatal>(), cases)),
            // A packet is lost where there is no room.
            (Send, &[Handshake], &|cases| checks(&unit::<TwinEmxRegsRoom>(), cases)),
            // The next request is taken a cycle sooner.
            (Handshake, &[], &|cases| checks(&unit::<TwinEmxRegsHaste>(), cases)),
            // Memory has no end.
            (Memory, &[Handshake], &|cases| checks(&unit::<TwinEmxRegsEnd>(), cases)),
            (Memory, &[], &|cases| checks(&unit::<TwinEmxRegsPresent>(), cases)),
            // The last packet that was refused is kept, not the first.
            (Read, &[Gating], &|cases| checks(&unit::<TwinEmxRegsFirst>(), cases)),
            (Read, &[Gating], &|cases| checks(&unit::<TwinEmxRegsPeak>(), cases)),
            // A cause that comes as it is cleared is lost.
            (Read, &[Interrupt], &|cases| checks(&unit::<TwinEmxRegsClears>(), cases)),
            // Events of a cycle in which a counter is visited are lost.
            (Count, &[Gating], &|cases| checks(&unit::<TwinEmxRegsEvent>(), cases)),
            (Count, &[], &|cases| counts(&unit::<TwinEmxRegsWraps>(), cases)),
            // What is refused runs threads.
            (Control, &[Read], &|cases| checks(&unit::<TwinEmxRegsRun>(), cases)),
            // Levels raise no interrupt.
            (Interrupt, &[Gating], &|cases| {
                checks(&unit::<TwinEmxRegsLevels>(), cases)
            }),
            (Gating, &[], &|cases| checks(&unit::<TwinEmxRegsRest>(), cases)),
        ],
    );
}
