//! Processor: random programs in lock step with the golden model. Each instruction retires in the cycle that the model
//! of the timing says, each bus access begins in its cycle, and the memory is right in the end.

mod expect;
mod program;

use std::collections::VecDeque;
use std::iter::zip;

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use verilated::{Input as _, Port as _};

use expect::{Access, Answer, Expected, Line, Plan};
use program::{Flavour, WORDS, program};

rules!(
    /// Instructions retire in order, and the right ones trap.
    Trace
    /// Each retires in its cycle; each bus access begins in its cycle.
    Timing
    /// The right bus accesses, which hold until they are answered.
    Bus
    /// The memory is right in the end.
    Memory
    /// A failed store is reported once.
    StoreError
    /// `waiting_o` says that the program waits.
    Waiting
    /// The load port answers each access in two cycles, with an error while the processor runs.
    Load
    /// No output follows an input within the cycle.
    Path
    /// Without `busy_o` a clock edge changes nothing.
    Gating
    /// `busy_o` is low while the program waits and while the processor does not run.
    Rest
);

/// An access of the load port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Load {
    write: bool,
    index: usize,
    data: u32,
}

#[derive(Debug, Default)]
struct In {
    run: bool,
    irq: bool,
    load: Option<Load>,
    done: Option<Answer>,
    /// Stands on the lines of the bus without an answer.
    junk: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Out {
    busy: bool,
    waiting: bool,
    load_ready: bool,
    /// Error and data.
    loaded: Option<(bool, u32)>,
    bus: Option<Access>,
    store_error: bool,
    /// Address, and whether it trapped.
    retired: Option<(u32, bool)>,
}

fn set(dut: &impl R3000Ports, inputs: &In) {
    dut.run_i().set_bool(inputs.run);
    dut.irq_i().set_bool(inputs.irq);
    let load = inputs.load.unwrap_or(Load {
        write: true,
        index: 1,
        data: 0xdead,
    });
    dut.load_valid_i().set_bool(inputs.load.is_some());
    dut.load_write_i().set_bool(load.write);
    dut.load_addr_i().set(load.index as u64);
    dut.load_data_i().set(load.data.into());
    let answer = inputs.done.unwrap_or(Answer {
        data: inputs.junk,
        error: inputs.junk & 1 != 0,
        latency: 0,
    });
    dut.bus_done_i().set_bool(inputs.done.is_some());
    dut.bus_rdata_i().set(answer.data.into());
    dut.bus_error_i().set_bool(answer.error);
}

fn seen(dut: &impl R3000Ports) -> Out {
    let loaded = || (dut.load_error_o().is_set(), dut.load_rdata_o().get() as u32);
    let access = || Access {
        write: dut.bus_write_o().is_set(),
        addr: 1 << 31 | (dut.bus_addr_o().get() as u32) << 2,
        enables: dut.bus_be_o().get() as u8,
        data: dut.bus_wdata_o().get() as u32,
    };
    let retired = || (dut.retire_pc_o().get() as u32, dut.retire_trap_o().is_set());
    Out {
        busy: dut.busy_o().is_set(),
        waiting: dut.waiting_o().is_set(),
        load_ready: dut.load_ready_o().is_set(),
        loaded: dut.load_rvalid_o().is_set().then(loaded),
        bus: dut.bus_valid_o().is_set().then(access),
        store_error: dut.store_error_o().is_set(),
        retired: dut.retire_valid_o().is_set().then(retired),
    }
}

/// A unit under test.
type Core = Dut<In, Out>;

fn core<U: R3000Unit + 'static>() -> Core {
    let core = Dut::of::<U>(set, seen);
    assert_eq!(
        1 << core.width("load_addr_i"),
        WORDS,
        "the programs are made for this size"
    );
    core
}

/// One instance, or two of which one leaves out clock edges.
enum Device<'a> {
    One(Bench<'a, In, Out>),
    Gated(Pair<'a, In, Out>),
}

/// A processor, the bus and the host around it.
struct Rig<'a> {
    device: Device<'a>,
    last_run: bool,
    /// Answers that the load port owes: the cycle, whether with an error, and the data.
    owed: VecDeque<(u64, bool, Option<u32>)>,
    cycle: u64,
    /// The open bus access, its answer, and the cycles until then.
    open: Option<(Access, Answer, u64)>,
    plan: Plan,
    junk: Rng,
}

impl Rig<'_> {
    /// A cycle, and the bus access that begins in it. The bus answers as planned. The load reads the known data.
    fn step(
        &mut self,
        run: bool,
        irq: bool,
        load: Option<Load>,
        known: Option<u32>,
    ) -> Result<(Out, Option<Access>), Fault> {
        let before = match &self.device {
            Device::One(bench) => bench.seen(),
            Device::Gated(pair) => pair.seen(),
        };
        let begins = before.bus.filter(|_| self.open.is_none());
        self.open = match (self.open, before.bus) {
            (None, None) => None,
            (None, Some(access)) => {
                let answer = self.plan.next();
                Some((access, answer, answer.latency))
            }
            (Some((access, answer, left)), now) => {
                Rule::Bus.same("an open access", Some(access), now)?;
                Some((access, answer, left - 1))
            }
        };
        let done = self.open.filter(|open| open.2 == 0).map(|open| open.1);
        if done.is_some() {
            self.open = None;
        }
        let inputs = In {
            run,
            irq,
            load,
            done,
            junk: self.junk.bits() as u32,
        };
        let out = match &mut self.device {
            Device::One(bench) => bench.step(&inputs)?,
            Device::Gated(pair) => pair.step(&inputs, irq || load.is_some() || run != self.last_run)?,
        };
        self.check_load(&out, run, load, known)?;
        self.last_run = run;
        self.cycle += 1;
        Ok((out, begins))
    }

    fn check_load(&mut self, out: &Out, run: bool, load: Option<Load>, known: Option<u32>) -> Result<(), Fault> {
        Rule::Load.same("ready", true, out.load_ready)?;
        let due = self.owed.front().copied().filter(|owed| owed.0 == self.cycle);
        if due.is_some() {
            self.owed.pop_front();
        }
        match (due, out.loaded) {
            (None, None) => (),
            (Some((_, error, data)), Some(got)) => {
                Rule::Load.same("error", error, got.0)?;
                if let Some(data) = data.filter(|_| !error) {
                    Rule::Memory.same("word read", data, got.1)?;
                }
            }
            (due, got) => return Err(Rule::Load.broken(format!("answer {got:x?}, not {due:x?}"))),
        }
        if let Some(load) = load {
            let data = known.filter(|_| !load.write);
            self.owed.push_back((self.cycle + 2, run, data));
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Fault> {
        let inputs = In {
            run: true,
            irq: true,
            junk: 1,
            ..In::default()
        };
        for _ in 0..3 {
            match &mut self.device {
                Device::One(bench) => bench.reset(&inputs).map(drop)?,
                Device::Gated(pair) => pair.reset(&inputs),
            }
        }
        self.cycle += 3;
        self.open = None;
        self.owed.clear();
        self.last_run = true;
        Ok(())
    }

    /// Cycles in which nothing runs.
    fn rest(&mut self, cycles: u64) -> Result<(), Fault> {
        for _ in 0..cycles {
            self.step(false, false, None, None)?;
        }
        Ok(())
    }

    /// Writes the whole SRAM, or reads and compares it.
    fn transfer(&mut self, sram: &[u32], write: bool, mut pacer: Pacer) -> Result<(), Fault> {
        let mut index = 0;
        while index < sram.len() {
            let data = sram[index];
            let load = pacer.step().then_some(Load { write, index, data });
            index += usize::from(load.is_some());
            let (out, _) = self.step(false, false, load, Some(data))?;
            Rule::Trace.same("nothing runs", None, out.retired)?;
        }
        // An open bus access of a program that was stopped goes on.
        while self.open.is_some() || !self.owed.is_empty() {
            self.step(false, false, None, None)?;
        }
        self.rest(3)?;
        let (out, _) = self.step(false, false, None, None)?;
        Rule::Rest.holds(!out.busy, || "busy without a program".into())
    }
}

/// A program's run: its events against the expected ones.
struct Watch<'a> {
    expected: &'a Expected,
    retired: usize,
    accesses: usize,
    errors: usize,
}

impl Watch<'_> {
    fn check(&mut self, cycle: u64, (out, begins): &(Out, Option<Access>)) -> Result<(), Fault> {
        let at = |fault: Fault| fault.at(cycle);
        let want = self.expected.retired.get(self.retired);
        if let Some((pc, trap)) = out.retired {
            let (due, want) = want.map_or((0, None), |&(due, pc, trap)| (due, Some((pc, trap))));
            Rule::Trace.same("retired", want, Some((pc, trap))).map_err(at)?;
            Rule::Timing.same("retires in cycle", due, cycle).map_err(at)?;
            self.retired += 1;
        } else if let Some(want) = want.filter(|want| want.0 <= cycle) {
            return Err(at(Rule::Timing.broken(format!("{want:x?} does not retire"))));
        }
        self.check_bus(cycle, *begins)?;
        let error = self.expected.store_errors.get(self.errors) == Some(&cycle);
        self.errors += usize::from(error);
        Rule::StoreError
            .same("store error", error, out.store_error)
            .map_err(at)?;
        let waits = self.expected.waits.iter().any(|range| range.contains(&cycle));
        Rule::Waiting.same("waiting", waits, out.waiting).map_err(at)
    }

    fn check_bus(&mut self, cycle: u64, begins: Option<Access>) -> Result<(), Fault> {
        let at = |fault: Fault| fault.at(cycle);
        let want = self.expected.accesses.get(self.accesses);
        if let Some(got) = begins {
            let (due, want) = want.map_or((0, None), |&(due, access)| (due, Some(access)));
            // The data of a load do not count.
            let data = want.filter(|want| !want.write).map_or(got.data, |_| 0);
            Rule::Bus
                .same("access", want, Some(Access { data, ..got }))
                .map_err(at)?;
            Rule::Timing.same("accesses the bus in cycle", due, cycle).map_err(at)?;
            self.accesses += 1;
        } else if let Some(want) = want.filter(|want| want.0 <= cycle) {
            return Err(at(Rule::Timing.broken(format!("{want:x?} does not begin"))));
        }
        Ok(())
    }
}

/// How a program's run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// When it has stored its registers.
    Finished,
    /// In mid-flight, `run_i` falls.
    Stopped,
    /// In mid-flight, `rst_i` rises.
    Reset,
}

/// Loads a program, runs it, and compares all that is seen. Gives the instructions and the cycles.
fn play(rig: &mut Rig, run: &Run, name: &str, flavour: Flavour, gaps: Gaps, end: End) -> Result<(u64, u64), Fault> {
    let mut rng = run.rng(&format!("program {name}"));
    let image = program(&mut rng, flavour);
    rig.plan = Plan::new(run.rng(&format!("bus {name}")), gaps.at_sink(), flavour);
    let limit = match end {
        End::Finished => 12_000,
        _ => rng.between(20, 1500),
    };
    let pause = if flavour == Flavour::Waiting { 200 } else { 1500 };
    let line = Line::new(&mut rng, pause);
    rig.transfer(&image.sram, true, run.pacer(gaps.at_source(), &format!("load {name}")))?;
    let expected = expect::expect(image, rig.plan.clone(), &line, limit, end != End::Finished);
    let mut intrude = run.rng(&format!("intruder {name}"));
    let mut watch = Watch {
        expected: &expected,
        retired: 0,
        accesses: 0,
        errors: 0,
    };
    let waits: u64 = expected.waits.iter().map(|time| time.end - time.start).sum();
    let mut rested = 0;
    for cycle in 0..expected.last {
        // The port refuses accesses meanwhile.
        let load = (gaps.at_source() && intrude.chance(1, 20)).then(|| Load {
            write: intrude.chance(1, 2),
            index: intrude.below(WORDS as u64) as usize,
            data: intrude.bits() as u32,
        });
        let seen = rig.step(true, line.is_high(cycle), load, None)?;
        watch.check(cycle, &seen)?;
        rested += u64::from(!seen.0.busy);
    }
    if waits > 1000 {
        Rule::Rest.holds(rested > waits / 4, || format!("{rested} cycles at rest, of {waits}"))?;
    }
    if end == End::Reset {
        rig.reset()?;
    } else {
        let seen = rig.step(false, false, None, None)?;
        watch.check(expected.last, &seen)?;
    }
    rig.transfer(&expected.sram, false, Pacer::steady())?;
    Ok((expected.retired.len() as u64, expected.last))
}

fn rig<'a>(run: &Run<'a>, core: &Core, gated: bool) -> Result<Rig<'a>, Fault> {
    let mut rig = Rig {
        device: if gated {
            Device::Gated(Pair::new(run, core))
        } else {
            Device::One(Bench::new(run, core))
        },
        last_run: false,
        owed: VecDeque::new(),
        cycle: 0,
        open: None,
        plan: Plan::new(run.rng("bus"), false, Flavour::Smooth),
        junk: run.rng("junk of the bus"),
    };
    rig.reset()?;
    Ok(rig)
}

/// Programs of each flavour, to their ends and stopped in mid-flight.
fn programs(core: &Core, cases: &mut Cases, count: u64) {
    use Flavour::*;
    for gaps in Gaps::ALL {
        for (flavour, end) in zip([Mixed, Smooth, Waiting], [End::Stopped, End::Reset, End::Stopped]) {
            let params = format!("{} {flavour:?} {gaps:?}", core.name);
            cases.case(Start::Random1, params, |run| {
                let mut rig = rig(run, core, false)?;
                for n in 0..count {
                    play(&mut rig, run, &format!("whole {n}"), flavour, gaps, End::Finished)?;
                    play(&mut rig, run, &format!("part {n}"), flavour, gaps, end)?;
                }
                Ok(())
            });
        }
    }
}

/// The same with clock edges left out.
fn gated(core: &Core, cases: &mut Cases) {
    for (flavour, gaps) in zip([Flavour::Waiting, Flavour::Mixed], [Gaps::None, Gaps::Both]) {
        cases.case(Start::Random2, format!("{} {flavour:?} gated", core.name), |run| {
            let mut rig = rig(run, core, true)?;
            for n in 0..4 {
                play(&mut rig, run, &format!("whole {n}"), flavour, gaps, End::Finished)?;
                play(&mut rig, run, &format!("part {n}"), flavour, gaps, End::Stopped)?;
            }
            let Device::Gated(pair) = &rig.device else {
                unreachable!()
            };
            Rule::Rest.holds(pair.skipped() > 100, || format!("{} edges left out", pair.skipped()))
        });
    }
}

/// All checks.
fn checks(core: &Core, cases: &mut Cases) {
    programs(core, cases, 3);
    gated(core, cases);
}

#[test]
fn random_programs_in_lock_step() {
    pass(this_test!(), |cases| programs(&core::<R3000W1024>(), cases, 12));
}

#[test]
fn edges_without_busy_change_nothing() {
    pass(this_test!(), |cases| gated(&core::<R3000W1024>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    // A wrong value shows where it is used first.
    let any: &[Rule] = &[Trace, Timing, Bus, Memory, StoreError, Waiting, Gating, Rest];
    each_is_caught(
        this_test!(),
        &[
            (Memory, any, &|cases| checks(&core::<TwinR3000LoadSlot>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000FromMemory>(), cases)),
            (Memory, any, &|cases| checks(&core::<TwinR3000FromExecute>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Slot>(), cases)),
            (Timing, any, &|cases| checks(&core::<TwinR3000BranchSlot>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Outside>(), cases)),
            (Bus, any, &|cases| checks(&core::<TwinR3000User>(), cases)),
            (Timing, any, &|cases| checks(&core::<TwinR3000HiLo>(), cases)),
            (Timing, &[], &|cases| checks(&core::<TwinR3000Slow>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Hold>(), cases)),
            (Memory, any, &|cases| checks(&core::<TwinR3000Pair>(), cases)),
            (Memory, any, &|cases| checks(&core::<TwinR3000Held>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Zero>(), cases)),
            (Bus, &[], &|cases| checks(&core::<TwinR3000Bus>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000BusError>(), cases)),
            (StoreError, &[], &|cases| checks(&core::<TwinR3000Lost>(), cases)),
            (Waiting, &[], &|cases| checks(&core::<TwinR3000Waiting>(), cases)),
            (Timing, any, &|cases| checks(&core::<TwinR3000Loop>(), cases)),
            (Timing, any, &|cases| checks(&core::<TwinR3000LoopSlot>(), cases)),
            (Load, &[], &|cases| checks(&core::<TwinR3000Load>(), cases)),
            (Path, &[], &|cases| checks(&core::<TwinR3000Path>(), cases)),
            (Gating, &[], &|cases| checks(&core::<TwinR3000Gating>(), cases)),
            (Rest, &[], &|cases| checks(&core::<TwinR3000Rest>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Overflow>(), cases)),
            (Memory, any, &|cases| checks(&core::<TwinR3000Sign>(), cases)),
            (Bus, any, &|cases| checks(&core::<TwinR3000Left>(), cases)),
            (Memory, any, &|cases| checks(&core::<TwinR3000LeftLoad>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Epc>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Cause>(), cases)),
            (Memory, any, &|cases| checks(&core::<TwinR3000Rfe>(), cases)),
            (Trace, any, &|cases| checks(&core::<TwinR3000Mask>(), cases)),
            (Memory, any, &|cases| checks(&core::<TwinR3000Bad>(), cases)),
        ],
    );
}
