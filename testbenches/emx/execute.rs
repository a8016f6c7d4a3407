//! `emx_execute`: threads of random instructions, in lock step with the golden model and the cycles of its contract.

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start as From, each_is_caught, pass, rules};
use tsunagi::emx::golden::execute::{Around, Cause, Did, Special, Unit as Golden};
use tsunagi::emx::golden::matching::Start;
use tsunagi::emx::golden::memory::{Map, Memory};
use tsunagi::emx::packet::{ADDR_MASK, Packet};
use tsunagi::emx::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Source};
use verilated::{Input as _, Port as _};

use crate::rig::{Access, config, packet, value, word};

rules!(
    /// A thread begins where none runs or one ends, and `run_i` allows it.
    Start
    /// The instructions that the model asks for, in their cycle.
    Fetch
    /// Loads and stores are those of the model, in their cycle.
    Access
    /// Packets are those of the model, in their cycle.
    Send
    /// Instructions are done in the order of the model, each in its cycle.
    Retire
    /// What TELL tells.
    Tell
    /// A fault halts execution, and says why and where.
    Fault
    /// Frame and state as they are shown.
    Shows
    /// An edge that may be left out changes nothing.
    Gating
);

#[derive(Clone, Default)]
struct In {
    run: bool,
    special: Special,
    start: Option<Start>,
    mem_ready: bool,
    mem_rdata: Option<u32>,
    fetch_ready: bool,
    fetch_data: Option<u32>,
    send_ready: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    start_ready: bool,
    access: Option<Access>,
    fetch: Option<u32>,
    send: Option<Packet>,
    tell: Option<u32>,
    /// Cause, address and code.
    fault: Option<(u32, u32, u32)>,
    frame: u32,
    thread: bool,
    waits_send: bool,
    /// Address and instruction.
    retired: Option<(u32, u32)>,
}

fn set(dut: &impl EmxExecutePorts, inputs: &In) {
    let junk = 0xdead_beef_u32;
    dut.run_i().set_bool(inputs.run);
    dut.pe_i().set(inputs.special.pe.into());
    dut.time_i().set(inputs.special.time.into());
    dut.depth_i().set(inputs.special.depth.into());
    let start = inputs.start.unwrap_or(Start {
        pc: junk,
        r1: junk,
        r2: !junk,
        frame: junk,
    });
    dut.start_valid_i().set_bool(inputs.start.is_some());
    dut.start_pc_i().set((start.pc & ADDR_MASK).into());
    dut.start_r1_i().set(start.r1.into());
    dut.start_r2_i().set(start.r2.into());
    dut.start_frame_i().set((start.frame & ADDR_MASK).into());
    dut.mem_ready_i().set_bool(inputs.mem_ready);
    dut.mem_rdata_i().set(inputs.mem_rdata.unwrap_or(junk).into());
    dut.fetch_ready_i().set_bool(inputs.fetch_ready);
    // A store, if it is taken for an instruction.
    dut.fetch_data_i()
        .set(inputs.fetch_data.unwrap_or(OP_ST << INSN_OP_SHIFT | 7).into());
    dut.send_ready_i().set_bool(inputs.send_ready);
}

fn seen(dut: &impl EmxExecutePorts) -> Out {
    let access = || Access {
        addr: dut.mem_addr_o().get() as u32,
        write: dut.mem_write_o().is_set().then(|| dut.mem_wdata_o().get()),
    };
    let fault = || {
        (
            dut.fault_cause_o().get() as u32,
            dut.fault_pc_o().get() as u32,
            dut.fault_code_o().get() as u32,
        )
    };
    let retired = || (dut.ret_pc_o().get() as u32, dut.ret_insn_o().get() as u32);
    Out {
        start_ready: dut.start_ready_o().is_set(),
        access: dut.mem_valid_o().is_set().then(access),
        fetch: dut.fetch_valid_o().is_set().then(|| dut.fetch_addr_o().get() as u32),
        send: dut.send_valid_o().is_set().then(|| packet(dut.send_packet_o())),
        tell: dut.tell_valid_o().is_set().then(|| dut.tell_data_o().get() as u32),
        fault: dut.fault_o().is_set().then(fault),
        frame: dut.frame_o().get() as u32,
        thread: dut.thread_o().is_set(),
        waits_send: dut.waits_send_o().is_set(),
        retired: dut.ret_valid_o().is_set().then(retired),
    }
}

/// A unit under test.
struct Unit {
    dut: Dut<In, Out>,
    map: Map,
    fast_send: bool,
}

fn unit<U: EmxExecuteUnit + 'static>() -> Unit {
    Unit {
        dut: Dut::of::<U>(set, seen),
        map: Map::of(&config(U::ADDR_W, U::SPILL_BITS, U::LEVELS)),
        fast_send: U::FAST_SEND,
    }
}

/// The model, and what it is to show in this cycle.
struct Model {
    unit: Golden,
    memory: Memory,
    fast_send: bool,
    /// Address and instruction.
    retired: Option<(u32, u32)>,
    tell: Option<u32>,
    /// Instructions that were done.
    count: u64,
}

impl Model {
    fn new(unit: &Unit) -> Model {
        Model {
            unit: Golden::new(unit.fast_send),
            memory: Memory::new(unit.map.clone()),
            fast_send: unit.fast_send,
            retired: None,
            tell: None,
            count: 0,
        }
    }

    /// After a reset: the memory stays.
    fn reset(&mut self) {
        self.unit = Golden::new(self.fast_send);
        (self.retired, self.tell) = (None, None);
    }

    /// What a read of this address gives.
    fn read(&self, addr: u32) -> u32 {
        self.memory.data(addr & (self.memory.map.words - 1))
    }

    /// A cycle: its inputs, and what was seen before its edge.
    fn step(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        Rule::Retire.same("done", self.retired, seen.retired)?;
        Rule::Tell.same("told", self.tell, seen.tell)?;
        let fault = self.unit.execute.fault().map(|fault| {
            let code = match fault.cause {
                Cause::Trap { code } => code as u32 & INSN_IMM_MASK,
                _ => 0,
            };
            (fault.cause.code(), fault.pc & ADDR_MASK, code)
        });
        Rule::Fault.same("fault", fault, seen.fault)?;
        Rule::Shows.same("thread", self.unit.execute.is_running(), seen.thread)?;
        Rule::Shows.same("frame", self.unit.execute.frame(), seen.frame)?;
        let access = self.unit.access().map(|access| Access {
            addr: access.addr,
            write: access.write.map(u64::from),
        });
        Rule::Access.same("access", access, seen.access)?;
        Rule::Send.same("packet", self.unit.sending(&self.memory, inputs.mem_ready), seen.send)?;
        let fetch = self.unit.fetch(&self.memory, inputs.run, inputs.start.as_ref());
        Rule::Fetch.same("fetches", fetch.map(|addr| addr & ADDR_MASK), seen.fetch)?;
        let around = Around {
            run: inputs.run,
            start: inputs.start,
            data_ready: inputs.mem_ready,
            fetch_ready: inputs.fetch_ready,
            send_ready: inputs.send_ready,
            special: inputs.special,
        };
        let came = self.unit.cycle(&mut self.memory, &around);
        Rule::Start.same("ready for a thread", came.start_ready, seen.start_ready)?;
        Rule::Shows.same("waits to send", came.waits_send, seen.waits_send)?;
        (self.retired, self.tell) = (None, None);
        if let Some(Ok(retired)) = came.executed {
            self.retired = Some((retired.pc, self.memory.data(retired.pc)));
            self.tell = match retired.did {
                Did::Tell(data) => Some(data),
                _ => None,
            };
            self.count += 1;
        }
        Ok(())
    }
}

/// Code that sets the registers, random code, and code that ends in any case.
const FIRST: u32 = 0x3e0;
const CODE: u32 = 0x400;
const END: u32 = 0x600;
/// Words that loads and stores use, from the base in r3.
const DATA: u32 = 0x680;

/// A random instruction at this address.
fn instruction(rng: &mut Rng, addr: u32, map: &Map) -> u32 {
    let (a, b, immediate) = (rng.below(16) as u32, rng.below(16) as u32, value(rng));
    // The base of the data stays.
    let result = if a == 3 { 4 } else { a };
    let offset = rng.below(64) as u32;
    let ahead = rng.below(12) as u32;
    match rng.below(300) {
        0..70 => word(rng.between(1, 10) as u32, [result, b], immediate),
        70..110 => word(rng.between(17, 26) as u32, [result, b], immediate),
        110..125 => word(OP_ADDI, [result, 0], immediate),
        125..150 => word(OP_LUI, [result, b], immediate),
        150..175 => word(OP_LD, [result, 3], offset),
        175..205 => word(OP_ST, [a, 3], offset),
        205..215 => {
            let edges = [map.spill.start - 1, map.spill.end, map.words - 1, 0];
            let edge = edges[rng.below(4) as usize].min(0xffff);
            word(if rng.chance(1, 2) { OP_LD } else { OP_ST }, [result, 0], edge)
        }
        215..240 => word(rng.between(36, 39) as u32, [a, b], ahead.wrapping_sub(3)),
        240..245 => word(OP_JAL, [result, b], 1 + ahead),
        245..250 => word(OP_JALR, [result, 0], (addr + 1 + ahead).min(END)),
        250..275 => word(OP_SEND, [a, b], immediate),
        275..285 => word(OP_TELL, [a, b], immediate),
        285..297 => word(
            OP_GET,
            [result, b],
            if rng.chance(3, 4) { ahead % 4 } else { immediate },
        ),
        297 => word(
            if rng.chance(1, 2) {
                OP_TRAP
            } else {
                rng.below(64) as u32
            },
            [a, b],
            immediate,
        ),
        298 => {
            let edges = [map.spill.start, map.spill.end - 1, map.words, u32::MAX];
            let edge = edges[rng.below(4) as usize];
            let edge = if edge > 0xffff { u32::MAX } else { edge };
            let op = [OP_LD, OP_ST, OP_JALR][rng.below(3) as usize];
            word(op, [result, 0], edge)
        }
        _ => word(OP_JALR, [result, b], immediate),
    }
}

/// Code for a case.
fn load(memory: &mut Memory, rng: &mut Rng) {
    let end = 1 << INSN_END_SHIFT;
    for register in 3..15 {
        let immediate = if register == 3 { DATA } else { value(rng) };
        memory.write(FIRST + register - 3, word(OP_ADDI, [register, 0], immediate).into());
    }
    memory.write(FIRST + 12, word(OP_ADDI, [0, 0], 0).into());
    let last = word(OP_LUI, [14, 0], rng.bits() as u32) | end;
    memory.write(FIRST + 13, last.into());
    let mut result = None;
    for addr in CODE..END {
        let ends = if rng.chance(1, 10) { end } else { 0 };
        // Results are shown at once, or later, or never.
        let shown = Option::take(&mut result).filter(|_| rng.chance(1, 2));
        let code = match shown {
            Some(register) => word(OP_ST, [register, 3], rng.below(64) as u32),
            None => instruction(rng, addr, &memory.map),
        };
        let computes = (OP_ADD..=OP_LUI).contains(&(code >> INSN_OP_SHIFT));
        result = computes.then_some(code >> INSN_A_SHIFT & 15);
        memory.write(addr, u64::from(code | ends));
    }
    for addr in END..END + 32 {
        memory.write(addr, u64::from(word(OP_ADD, [5, 6], 0) | end));
    }
    for addr in DATA..DATA + 64 {
        memory.write(addr, value(rng).into());
    }
}

fn start(rng: &mut Rng, map: &Map) -> Start {
    let pc = match rng.below(100) {
        0 => u32::MAX,
        1 => map.spill.start,
        2 => map.spill.end - 1,
        3 => map.words,
        _ => CODE + rng.below((END - CODE).into()) as u32,
    };
    Start {
        pc,
        r1: value(rng),
        r2: value(rng),
        frame: SIZE_FRAME * rng.below(16) as u32,
    }
}

/// Threads one after another, with a reset now and then and after each fault.
fn exercise(run: &Run, unit: &Unit, gaps: Gaps) -> Result<(), Fault> {
    let mut bench = Pair::new(run, &unit.dut);
    let mut model = Model::new(unit);
    let mut rng = run.rng("events");
    load(&mut model.memory, &mut run.rng("code"));
    let starts: Vec<Start> = (0..2000).map(|_| start(&mut rng, &unit.map)).collect();
    let mut starts = Source::new(starts, run.pacer(gaps.at_source(), "starts"));
    let mut first = Source::new([], run.pacer(false, "first"));
    let mut pacers = ["memory", "fetch", "send", "run"].map(|name| run.pacer(gaps.at_sink(), name));
    let (mut loaded, mut fetched) = (None, None);
    let (mut since, mut age, mut before) = (0, 0, None);
    for cycle in 0..3000 {
        let [mem_ready, fetch_ready, send_ready, running] = pacers.each_mut().map(|pacer| pacer.step());
        let initial = first.offer().copied();
        let inputs = In {
            run: running,
            special: Special {
                pe: rng.below(80) as u32,
                time: rng.bits() as u32,
                depth: rng.below(1 << 14) as u32,
            },
            start: initial.or_else(|| starts.offer().copied()),
            mem_ready,
            mem_rdata: loaded.take(),
            fetch_ready,
            fetch_data: fetched.take(),
            send_ready,
        };
        // A thread may run for ever.
        let over = since > 15 || age > 600 || rng.chance(1, 1000);
        if cycle < 2 || over {
            bench.reset(&inputs);
            model.reset();
            starts.reset();
            let start = start(&mut rng, &unit.map);
            first = Source::new([Start { pc: FIRST, ..start }], run.pacer(false, "first"));
            (since, age) = (0, 0);
            continue;
        }
        // `start_ready_o` follows these at once.
        let now = Some((inputs.run, inputs.fetch_ready));
        let asks = inputs.start.is_some() || now != before;
        let seen = bench.step(&inputs, asks).map_err(|fault| fault.at(cycle))?;
        before = now;
        // A store of the instruction that executes in this cycle comes behind this access.
        loaded = seen.access.filter(|_| mem_ready).map(|access| model.read(access.addr));
        model.step(&inputs, &seen).map_err(|fault| fault.at(cycle))?;
        fetched = seen.fetch.filter(|_| fetch_ready).map(|addr| model.read(addr));
        since += u64::from(seen.fault.is_some());
        age = if seen.start_ready { 0 } else { age + 1 };
        if initial.is_some() {
            first.step(seen.start_ready);
        } else {
            starts.step(seen.start_ready);
        }
    }
    assert!(
        model.count > 200 || bench.skipped() > 500,
        "only {} instructions",
        model.count
    );
    Ok(())
}

fn checks(unit: &Unit, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for part in 0..2 {
            let params = format!("{} {gaps:?} {part}", unit.dut.name);
            cases.from_each(&[From::Random1, From::Zero], params, |run| exercise(run, unit, gaps));
        }
    }
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&unit::<EmxExecuteR>(), cases);
        checks(&unit::<EmxExecuteY>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let late: &[Rule] = &[Access, Send, Retire, Tell, Fault, Fetch, Start, Shows];
    each_is_caught(
        this_test!(),
        &[
            // A thread that ends delays the next one.
            (Start, &[], &|cases| checks(&unit::<TwinExecuteStart>(), cases)),
            // SEND waits, and keeps the memory busy.
            (Fetch, &[], &|cases| checks(&unit::<TwinExecuteFetch>(), cases)),
            (Fetch, late, &|cases| checks(&unit::<TwinExecuteLastSend>(), cases)),
            // A store leaves a tag.
            (Access, &[], &|cases| checks(&unit::<TwinExecuteStore>(), cases)),
            (Send, &[], &|cases| checks(&unit::<TwinExecuteTag>(), cases)),
            // C may be the register of a load before it.
            (Retire, late, &|cases| checks(&unit::<TwinExecuteNames>(), cases)),
            // SEND takes one cycle where it should take two.
            (Retire, &[Start, Fetch], &|cases| {
                checks(&unit::<TwinExecuteSend>(), cases)
            }),
            (Tell, &[], &|cases| checks(&unit::<TwinExecuteTell>(), cases)),
            (Fault, &[], &|cases| checks(&unit::<TwinExecuteFault>(), cases)),
            (Shows, &[], &|cases| checks(&unit::<TwinExecuteFrame>(), cases)),
            (Gating, &[], &|cases| checks(&unit::<TwinExecuteRest>(), cases)),
            // An arithmetic shift that is a logical one.
            (Access, late, &|cases| checks(&unit::<TwinExecuteShift>(), cases)),
            // A branch that compares numbers without a sign.
            (Fetch, late, &|cases| checks(&unit::<TwinExecuteBranch>(), cases)),
            // The first word behind the rings is no thread's.
            (Retire, late, &|cases| checks(&unit::<TwinExecutePublic>(), cases)),
        ],
    );
}
