//! `cppacs_regs` against its golden model: accesses among events, then every register of `regs.toml` at rest.

use std::collections::BTreeMap;
use std::path::Path;

use regs_gen::Word;
use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::regs::{Done, Entry, Live, Refused, Regs};
use tsunagi::cppacs::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::net::hyper::Place;
use verilated::{Input as _, Port as _};

rules!(
    /// What no register takes is refused with an error, and nothing else is.
    Error
    /// A read gives what the register has.
    Read
    /// Counters tell what happened, and the first refusal stays until its cause is cleared.
    Event
    /// A kick of a page is its process's, and leaves once.
    Kick
    /// An access of the tables goes there.
    Table
    /// The other blocks get what was written.
    Setting
    /// Causes that MASK lets through raise the interrupt.
    Interrupt
    /// Arrivals reach the barrier.
    Barrier
    /// It is busy while something is inside, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An access is answered in the stated cycles.
    Hang
);

const ENTRIES: u32 = 512;
/// Cycles within which an event is told, and the least between refusals of a source.
const EVENT: u64 = 32;

#[derive(Clone, Debug, Default)]
struct In {
    request: Option<(u32, Option<(u64, u8)>)>,
    live: Live,
    release: bool,
    kick_refused: bool,
    table: Option<u64>,
    process: u32,
    counts: u32,
    shut: bool,
    /// By channel.
    notify: [Option<(Place, u32)>; 2],
    /// Process, TCW, reason.
    send: [Option<(u32, u32, u32)>; 2],
    /// Source, field, kind, reason.
    receive: [Option<(Place, u32, u32, u32)>; 2],
}

#[derive(Clone, Debug, PartialEq)]
struct Out {
    ready: bool,
    answer: Option<Result<u64, Refused>>,
    busy: bool,
    irq: bool,
    member: bool,
    arrives: bool,
    kick: Option<(u32, u32, u32)>,
    table: Option<(Entry, Option<u64>)>,
    run: bool,
    node: u64,
    ring: u64,
    process: [u64; 2],
}

fn set(dut: &impl CppacsRegsPorts, inputs: &In) {
    let (addr, write) = inputs.request.unwrap_or((NODE, Some((!0, 0xff))));
    let (data, strobes) = write.unwrap_or((!0, 0x5a));
    dut.host_req_valid_i().set_bool(inputs.request.is_some());
    dut.host_req_write_i().set_bool(write.is_some());
    dut.host_req_addr_i().set(addr.into());
    dut.host_req_wdata_i().set(data);
    dut.host_req_wstrb_i().set(strobes.into());
    dut.host_rsp_ready_i().set_bool(true);
    let live = &inputs.live;
    let pair = |bits: [bool; 2]| u64::from(bits[0]) | u64::from(bits[1]) << 1;
    dut.barrier_waiting_i().set_bool(live.waiting);
    dut.barrier_release_i().set_bool(inputs.release);
    dut.kick_refused_i().set_bool(inputs.kick_refused);
    dut.room_i().set((live.room[0] | live.room[1] << 5).into());
    dut.waiting_i().set(live.kicked.into());
    dut.table_done_i().set_bool(inputs.table.is_some());
    dut.table_rdata_i().set(inputs.table.unwrap_or(!0));
    dut.process_i().set(inputs.process.into());
    dut.sending_i().set(pair(live.sending));
    dut.receiving_i().set(pair(live.receiving));
    dut.field_i().set(live.field.into());
    dut.answers_i().set(live.answers.into());
    dut.drained_i().set(live.drained.into());
    dut.count_i().set(inputs.counts.into());
    dut.shut_i().set(inputs.shut.into());
    for c in 0..2 {
        let junk = Place::of(0x1abc);
        let (src, field) = inputs.notify[c].unwrap_or((junk, 0x2aa));
        let (process, tcw, reason) = inputs.send[c].unwrap_or((5, 0xbeef, 3));
        let (from, to, kind, why) = inputs.receive[c].unwrap_or((src, field, 1, 2));
        // Both name the same message.
        let (src, field) = if inputs.receive[c].is_some() {
            (from, to)
        } else {
            (src, field)
        };
        dut.notify_valid_i().set_bits(c, 1, inputs.notify[c].is_some().into());
        dut.notify_src_i().set_bits(13 * c, 13, src.word().into());
        dut.notify_field_i().set_bits(10 * c, 10, field.into());
        dut.send_refused_valid_i()
            .set_bits(c, 1, inputs.send[c].is_some().into());
        dut.send_refused_process_i().set_bits(3 * c, 3, process.into());
        dut.send_refused_tcw_i().set_bits(16 * c, 16, tcw.into());
        dut.send_refused_reason_i().set_bits(4 * c, 4, reason.into());
        dut.recv_refused_valid_i()
            .set_bits(c, 1, inputs.receive[c].is_some().into());
        dut.recv_refused_src_i().set_bits(13 * c, 13, src.word().into());
        dut.recv_refused_field_i().set_bits(10 * c, 10, field.into());
        dut.recv_refused_kind_i().set_bits(3 * c, 3, kind.into());
        dut.recv_refused_reason_i().set_bits(4 * c, 4, why.into());
    }
}

fn seen(dut: &impl CppacsRegsPorts) -> Out {
    let get = |port: &dyn verilated::Port| port.get() as u32;
    let answer = || match dut.host_rsp_err_o().is_set() {
        true => Err(Refused),
        false => Ok(dut.host_rsp_rdata_o().get()),
    };
    let table = || {
        let entry = Entry {
            right: dut.table_right_o().is_set(),
            index: get(dut.table_index_o()),
            word: get(dut.table_word_o()),
        };
        (entry, dut.table_write_o().is_set().then(|| dut.table_wdata_o().get()))
    };
    let kick = || {
        let (process, channel) = (get(dut.kick_process_o()), get(dut.kick_channel_o()));
        (process, channel, get(dut.kick_tcw_o()))
    };
    let ring = u64::from(get(dut.ring_tail_o()))
        | dut.ring_slot_log_o().get() << RING_SLOT_LOG_SHIFT
        | dut.ring_slots_log_o().get() << RING_SLOTS_LOG_SHIFT;
    Out {
        ready: dut.host_req_ready_o().is_set(),
        answer: dut.host_rsp_valid_o().is_set().then(answer),
        busy: dut.busy_o().is_set(),
        irq: dut.irq_o().is_set(),
        member: dut.barrier_member_o().is_set(),
        arrives: dut.barrier_arrive_o().is_set(),
        kick: dut.kick_valid_o().is_set().then(kick),
        table: dut.table_valid_o().is_set().then(table),
        run: dut.run_o().is_set(),
        node: dut.place_o().get() | dut.last_o().get() << NODE_LAST_X_SHIFT,
        ring,
        process: [
            dut.area_base_o().get() | dut.area_size_o().get() << AREA_SIZE_SHIFT,
            dut.tcw_base_o().get() | dut.tcw_count_o().get() << TCWS_COUNT_SHIFT,
        ],
    }
}

// ----------------------------------------------------------------------------------------------------------- the world

struct World<'a> {
    bench: Bench<'a, In, Out>,
    rng: Rng,
    model: Regs,
    registers: Vec<Word>,
    live: Live,
    /// Events may come.
    lively: bool,
    /// Sources of refusals and notes may speak from these cycles on: senders, receivers, notes.
    quiet: [[u64; 2]; 3],
    /// Inputs of the next cycle that answer outputs.
    next: In,
    /// A table's access under way ends in so many cycles; the entry.
    table: Option<(u32, Entry, Option<u64>)>,
    words: BTreeMap<(bool, u32, u32), u64>,
    kicks: Vec<(u32, u32, u32)>,
    arrivals: u32,
    was: Option<In>,
}

/// Offset of an entry's word.
fn offset(entry: Entry) -> u32 {
    match entry.right {
        true => RIGHTS + 16 * entry.index + 8 * entry.word,
        false => FIELDS + 32 * entry.index + 8 * entry.word,
    }
}

impl<'a> World<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>) -> Result<World<'a>, Fault> {
        let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/cppacs/regs.toml");
        let machine = regs_gen::load(&origin).expect("regs-gen reads it");
        let block = machine.block.into_iter().find(|block| block.name == "Registers");
        let mut world = World {
            bench: Bench::new(run, dut),
            rng: run.rng("world"),
            model: Regs::new(ENTRIES, ENTRIES),
            registers: block.expect("there are registers").word,
            live: Live::default(),
            lively: false,
            quiet: [[0; 2]; 3],
            next: In::default(),
            table: None,
            words: BTreeMap::new(),
            kicks: Vec::new(),
            arrivals: 0,
            was: None,
        };
        world.reset()?;
        Ok(world)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        let reset = In {
            request: Some((CONTROL, Some((!0, 0xff)))),
            ..In::default()
        };
        (0..3).try_for_each(|_| self.bench.reset(&reset).map(drop))?;
        self.model = Regs::new(ENTRIES, ENTRIES);
        (self.next, self.table, self.was) = (In::default(), None, None);
        self.live.waiting = false;
        self.kicks.clear();
        self.arrivals = 0;
        // It clears its memories.
        for _ in 0..80 {
            self.step(None)?;
        }
        Ok(())
    }

    /// Each sender and receiver refuses something in the next cycle.
    fn refuse(&mut self) {
        let (process, tcw, src, field, kind) = (3, 77, Place::of(0x123), 9, 1);
        self.next.send = [Some((process, tcw, SEND_TCW)); 2];
        self.next.receive = [Some((src, field, kind, RECV_KEY)); 2];
        for _ in 0..2 {
            self.model.send_refused(process, tcw, SEND_TCW);
            self.model.receive_refused(src, field, kind, RECV_KEY);
        }
    }

    /// Events of a cycle; the model is told.
    fn events(&mut self, inputs: &mut In) {
        let now = self.bench.cycle();
        let World {
            rng,
            model,
            quiet,
            live,
            ..
        } = self;
        for code in 0..8 {
            let often = matches!(code, COUNT_WORDS | COUNT_WORDS_IN | COUNT_STALLS);
            if rng.chance(if often { 7 } else { 1 }, 10) && (often || now.is_multiple_of(8)) {
                inputs.counts |= 1 << code;
                model.count(code, 1);
            }
        }
        for c in 0..2 {
            let src = Place::of(rng.below(1 << 13) as u32);
            let field = rng.below(1 << 10) as u32;
            if quiet[0][c] <= now && rng.chance(1, 60) {
                let what = (
                    rng.below(8) as u32,
                    rng.below(1 << 16) as u32,
                    rng.between(1, 11) as u32,
                );
                inputs.send[c] = Some(what);
            }
            if quiet[1][c] <= now && rng.chance(1, 60) {
                let (kind, reason) = (rng.below(8) as u32, rng.between(1, 11) as u32);
                inputs.receive[c] = Some((src, field, kind, reason));
            } else if quiet[2][c] <= now && rng.chance(1, 60) {
                inputs.notify[c] = Some((src, field));
            }
            // All but the last keep their distance, so they are told in this order.
            let spoke = [
                inputs.send[c].is_some(),
                inputs.receive[c].is_some(),
                inputs.notify[c].is_some(),
            ];
            for (kind, _) in spoke.into_iter().enumerate().filter(|(_, spoke)| *spoke) {
                quiet[kind] = [now + EVENT + 4; 2];
            }
            if let Some((process, tcw, reason)) = inputs.send[c] {
                model.send_refused(process, tcw, reason);
            }
            if let Some((src, field, kind, reason)) = inputs.receive[c] {
                model.receive_refused(src, field, kind, reason);
            }
            if let Some((src, field)) = inputs.notify[c] {
                model.notified(src, field);
            }
        }
        if rng.chance(1, 100) {
            inputs.shut = true;
            model.shut();
        }
        if live.waiting && rng.chance(1, 30) {
            (inputs.release, live.waiting) = (true, false);
            model.released();
        }
    }

    /// A cycle; the answer to an access if there is one.
    fn step(&mut self, request: Option<(u32, Option<(u64, u8)>)>) -> Result<Out, Fault> {
        let mut inputs = std::mem::take(&mut self.next);
        inputs.request = request;
        inputs.process = self.rng.below(8) as u32;
        if self.lively {
            self.events(&mut inputs);
        }
        if let Some((0, entry, write)) = self.table {
            let key = (entry.right, entry.index, entry.word);
            if let Some(data) = write {
                self.words.insert(key, data);
            }
            inputs.table = Some(self.words.get(&key).copied().unwrap_or(0));
            self.table = None;
        } else if let Some((left, ..)) = &mut self.table {
            *left -= 1;
        }
        inputs.live = self.live;
        let cycle = self.bench.cycle();
        let out = self.bench.step(&inputs)?;
        self.check(&inputs, &out).map_err(|fault| fault.at(cycle))?;
        self.was = Some(inputs);
        Ok(out)
    }

    fn check(&mut self, inputs: &In, out: &Out) -> Result<(), Fault> {
        if let Some(kick) = out.kick {
            self.kicks.push(kick);
            // A full queue tells so in the next cycle. Refusals close to each other may be told in any order.
            let now = self.bench.cycle();
            if self.quiet[0][0] <= now && self.rng.chance(1, 2) {
                self.quiet[0] = [now + EVENT + 4; 2];
                self.next.kick_refused = true;
                self.model.send_refused(kick.0, kick.2, SEND_QUEUE);
            }
        }
        if let Some((entry, write)) = out.table
            && self.table.is_none()
            && inputs.table.is_none()
        {
            self.table = Some((self.rng.below(22) as u32, entry, write));
        }
        if out.arrives {
            self.arrivals += 1;
            self.live.waiting = true;
        }
        let Some(was) = &self.was else { return Ok(()) };
        let speaks = |list: [bool; 2]| list[0] || list[1];
        let came = was.counts != 0
            || was.kick_refused
            || speaks(was.send.map(|what| what.is_some()))
            || speaks(was.receive.map(|what| what.is_some()))
            || speaks(was.notify.map(|what| what.is_some()));
        Rule::Rest.holds(out.busy || !came, || "it rests behind an event".into())
    }

    /// An access, to its end; no event comes between its effect and its answer.
    fn access(&mut self, addr: u32, write: Option<(u64, u8)>) -> Result<(), Fault> {
        let what = format!("{addr:x} {write:x?}");
        let mut request = Some((addr, write));
        for _ in 0..64 {
            let out = self.step(request)?;
            if out.ready {
                request = None;
                break;
            }
        }
        Rule::Hang.holds(request.is_none(), || format!("{what} is not taken"))?;
        let lively = std::mem::replace(&mut self.lively, false);
        let (kicks, arrivals) = (self.kicks.len(), self.arrivals);
        let live = self.live;
        let want = self.model.access(addr, write, &live);
        let most = if let Ok(Done::Table(_)) = want { 32 } else { 8 };
        for _ in 0..most {
            let out = self.step(None)?;
            if let Some(answer) = out.answer {
                self.lively = lively;
                return self.answered(&what, want, answer, (kicks, arrivals));
            }
        }
        Err(Rule::Hang.broken(format!("{what} has no answer")))
    }

    fn answered(
        &mut self,
        what: &str,
        want: Result<Done, Refused>,
        answer: Result<u64, Refused>,
        before: (usize, u32),
    ) -> Result<(), Fault> {
        Rule::Error.holds(want.is_ok() == answer.is_ok(), || {
            format!("{what}: {answer:x?}, not {want:x?}")
        })?;
        let kicks: Vec<_> = self.kicks.drain(before.0.min(self.kicks.len())..).collect();
        let arrived = self.arrivals - before.1;
        let (mut kick, mut arrives) = (Vec::new(), 0);
        match want {
            Ok(Done::Read(value)) => Rule::Read.same(what, Ok(value), answer)?,
            Ok(Done::Kick { process, channel, tcw }) => kick.push((process, channel, tcw)),
            Ok(Done::Arrives) => arrives = 1,
            Ok(Done::Table(entry)) => {
                let value = self.words.get(&(entry.right, entry.index, entry.word)).copied();
                if what.contains("None") {
                    Rule::Table.same(what, Ok(value.unwrap_or(0)), answer)?;
                }
            }
            Ok(Done::Written) | Err(Refused) => {}
        }
        Rule::Kick.same(what, kick, kicks)?;
        Rule::Barrier.same(what, arrives, arrived)
    }

    /// Until nothing moves; then all registers and all outputs.
    fn verify(&mut self) -> Result<(), Fault> {
        self.lively = false;
        for _ in 0..EVENT + 8 {
            self.step(None)?;
        }
        let out = self.step(None)?;
        Rule::Interrupt.same("irq", self.model.irq(), out.irq)?;
        Rule::Rest.holds(!out.busy, || "it is busy without end".into())?;
        Rule::Setting.same("run", self.model.runs(), out.run)?;
        Rule::Setting.same("NODE", self.model.node() & NODE_ALL, out.node)?;
        Rule::Setting.same("RING", self.model.ring() & RING_ALL, out.ring)?;
        Rule::Barrier.same("member", self.model.is_member(), out.member)?;
        for _ in 0..8 {
            let process = self.was.as_ref().map_or(0, |was| was.process as usize);
            let out = self.step(None)?;
            Rule::Setting.same("AREA, TCWS", self.model.process(process).words(), out.process)?;
        }
        let rng = &mut self.rng;
        self.live = Live {
            sending: [rng.chance(1, 2), rng.chance(1, 2)],
            receiving: [rng.chance(1, 2), rng.chance(1, 2)],
            kicked: rng.bits() as u8,
            field: rng.below(1 << 10) as u32,
            answers: rng.below(1 << 16) as u32,
            drained: rng.below(1 << 16) as u32,
            room: [rng.below(32) as u32, rng.below(32) as u32],
            ..self.live
        };
        self.walk()
    }

    /// Reads every register, counter and page.
    fn walk(&mut self) -> Result<(), Fault> {
        let of_event = |fault: Fault| match fault.rule {
            "Read" => Fault { rule: "Event", ..fault },
            _ => fault,
        };
        let mut all: Vec<(u32, u32, u32)> = self.registers.iter().map(|word| (word.offset, 8, 1)).collect();
        all.extend([(SEND_REFUSALS, 8, 16), (RECEIVE_REFUSALS, 8, 16), (COUNTS, 8, 8)]);
        all.extend([(AREA, 16, 8), (TCWS, 16, 8), (KICKS, SIZE_PAGE, 8)]);
        for (base, step, count) in all {
            let event = !matches!(
                base,
                NODE | CONTROL | STATUS | MASK | RING | AREA | TCWS | RIGHTS | FIELDS
            );
            for i in 0..count {
                let result = self.access(base + i * step, None);
                if event { result.map_err(of_event)? } else { result? }
            }
        }
        Ok(())
    }

    /// An access to anything, or to nothing.
    fn random(&mut self) -> (u32, Option<(u64, u8)>) {
        let rng = &mut self.rng;
        let process = rng.below(8) as u32;
        let entry = Entry {
            right: rng.chance(1, 2),
            index: rng.below(ENTRIES.into()) as u32,
            word: rng.below(2) as u32,
        };
        let addr = match rng.below(16) {
            0..4 => self.registers[rng.below(self.registers.len() as u64) as usize].offset,
            4 | 5 => AREA + 16 * process + 8 * rng.below(2) as u32,
            6..9 => KICK + SIZE_PAGE * process,
            9..12 => offset(entry),
            12 => KICK + SIZE_PAGE * process + 8 * rng.below(3) as u32,
            13 => rng.below(1 << 17) as u32,
            14 => rng.below(0x500) as u32,
            _ => BARRIER,
        };
        let strobes = if rng.chance(1, 10) { rng.bits() as u8 } else { 0xff };
        // What events change is read at rest only, and CAUSE is cleared there.
        let unsettled =
            matches!(addr & !7, CAUSE | BARRIER | NOTIFIED | SEND_FIRST..SEND_END) || addr & 0x1_0fff == KICKS;
        let settled = matches!(addr & !7, SEND_REFUSALS..AREA);
        let write = (rng.chance(2, 3) || unsettled || settled).then(|| (rng.bits(), strobes));
        (if addr & !7 == CAUSE { MASK } else { addr }, write)
    }
}

const NODE_ALL: u64 = 0x1fff | 0x1fff << NODE_LAST_X_SHIFT;
const RING_ALL: u64 = RING_TAIL_MASK | RING_SLOT_LOG_MASK | RING_SLOTS_LOG_MASK;
/// Behind HOST_ERRORS.
const SEND_END: u32 = DRAINED;

fn exercise(run: &Run, dut: &Dut<In, Out>, lively: bool) -> Result<(), Fault> {
    let mut world = World::new(run, dut)?;
    world.walk()?;
    for round in 0..8 {
        for _ in 0..60 {
            world.lively = lively;
            let (addr, write) = world.random();
            world.access(addr, write)?;
            for _ in 0..world.rng.below(12) {
                world.step(None)?;
            }
        }
        world.verify()?;
        let clears = world.rng.bits();
        world.access(CAUSE, Some((clears, 0xff)))?;
        world.verify()?;
        if round == 4 {
            world.reset()?;
            world.verify()?;
        }
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for lively in [false, true] {
        cases.from_each(&Start::RANDOM, format!("{} events {lively}", dut.name), |run| {
            exercise(run, dut, lively)
        });
    }
}

/// No register is here.
const NOTHING: u32 = 0x78;

/// Counters of what was refused stop at 65,535.
fn saturates(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} saturates", dut.name), |run| {
        let mut world = World::new(run, dut)?;
        for _ in 0..=u16::MAX {
            let begin = world.bench.cycle();
            world.refuse();
            world.access(NOTHING, None)?;
            while world.bench.cycle() < begin + EVENT {
                world.step(None)?;
            }
        }
        world.verify()
    });
}

fn dut<U: CppacsRegsUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&dut::<CppacsRegs>(), cases));
}

#[test]
fn counters_of_refusals_saturate() {
    pass(this_test!(), |cases| saturates(&dut::<CppacsRegs>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Partial strobes write a register.
            (Error, &[Hang], &|cases| checks(&dut::<TwinCppacsRegsPartial>(), cases)),
            // A node arrives twice.
            (Error, &[Barrier], &|cases| {
                checks(&dut::<TwinCppacsRegsArrive>(), cases)
            }),
            // AREA and TCWS of the first processes lie on other registers.
            (Read, &[Event, Table], &|cases| {
                checks(&dut::<TwinCppacsRegsRead>(), cases)
            }),
            // Nobody arrives.
            (Barrier, &[], &|cases| checks(&dut::<TwinCppacsRegsAlone>(), cases)),
            // Writing any bit of CAUSE clears all.
            (Event, &[Interrupt], &|cases| {
                checks(&dut::<TwinCppacsRegsClear>(), cases)
            }),
            // The last refusal stays.
            (Event, &[], &|cases| checks(&dut::<TwinCppacsRegsFirst>(), cases)),
            // An event of the cycle in which its counter is visited is lost.
            (Event, &[], &|cases| checks(&dut::<TwinCppacsRegsCount>(), cases)),
            (Event, &[], &|cases| saturates(&dut::<TwinCppacsRegsFull>(), cases)),
            // All pages kick for the kernel.
            (Kick, &[], &|cases| checks(&dut::<TwinCppacsRegsPage>(), cases)),
            // What the tables say is lost.
            (Table, &[], &|cases| checks(&dut::<TwinCppacsRegsTable>(), cases)),
            // Fetch sees the area of another process.
            (Setting, &[], &|cases| checks(&dut::<TwinCppacsRegsProcess>(), cases)),
            (Interrupt, &[], &|cases| checks(&dut::<TwinCppacsRegsMask>(), cases)),
            (Rest, &[], &|cases| checks(&dut::<TwinCppacsRegsRest>(), cases)),
            (Path, &[], &|cases| checks(&dut::<TwinCppacsRegsPath>(), cases)),
            (Hang, &[], &|cases| checks(&dut::<TwinCppacsRegsHang>(), cases)),
        ],
    );
}
