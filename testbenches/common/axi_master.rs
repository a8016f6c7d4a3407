//! The bridges from memory streams to AXI4: cut at 4 KB and nowhere else, every word and every error in its place, the protocol kept,
//! no cycle lost.

use std::collections::VecDeque;

use testbenches::name;
use testbenches::rtl::*;
use testbenches::{m_axi_ar, m_axi_aw, m_axi_w, set_m_axi_b, set_m_axi_r};
use tsunagi::harness::axi::{AxiMemory, AxiTiming, FromMaster, FromSlave, Rules, WriteOrder};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::{Context, Unit};

use crate::bench::{Each, PERIOD, Start, axi_rules, holds, must_pass, rules};
use crate::dma::{Bursts, Hardship, SIZE, Slowness, cut};

rules!(
    /// Every word of every read, in order, its errors told.
    Content
    /// Every write ends in one response, in order, its errors told.
    Response
    /// None ends before its bursts are answered.
    Early
    /// Bytes land where they should and nowhere else.
    Memory
    /// Commands are cut at 4 KB, and nowhere else.
    Bursts
    /// They are of normal memory, not cached, not buffered, not exclusive.
    Plain
    /// No more bursts than this are open.
    Outstanding
    /// No output follows an input within the cycle, else the bench does not see what the unit sees.
    Path
    /// An offer of the memory streams holds until it is taken.
    Protocol
    /// A word per cycle, if nobody else pauses.
    Rate
    /// Everything that is asked for comes.
    Hang
    /// These of the AXI protocol.
    Hold
    Legal
    WriteLast
    Lanes
    Reset
);

/// A memory command, as the bridges take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    addr: u32,
    beats: u32,
}

/// A word of memory data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    data: u64,
    /// Of a write.
    strb: u8,
    last: bool,
    /// Of a read.
    err: bool,
}

/// A bridge's side of the memory streams: both bridges have commands; data go out of the one and into the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    cmd_ready: bool,
    /// The word offered, of a read.
    word: Option<Word>,
    /// Ready for a word, of a write.
    word_ready: bool,
    /// The response offered, of a write.
    err: Option<bool>,
    busy: bool,
    axi: FromMaster,
}

/// What a testbench drives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Driven {
    cmd: Option<Command>,
    word: Option<Word>,
    /// Ready for a word or a response.
    ready: bool,
    axi: FromSlave,
}

pub trait Bridge: Unit {
    /// Bytes of a word; AXI bursts outstanding.
    const WORD: u32;
    const OUTSTANDING: u32;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, driven: &Driven);
    fn seen(&self) -> Seen;
}

macro_rules! clock_and_command {
    ($word:expr, $outstanding:expr) => {
        const WORD: u32 = $word;
        const OUTSTANDING: u32 = $outstanding;

        fn set_clk(&self, clk: bool, rst: bool) {
            self.clk_i.set_bool(clk);
            self.rst_i.set_bool(rst);
        }
    };
}

macro_rules! read_bridge {
    ($($unit:ident: $word:expr, $outstanding:expr;)+) => {$(
        impl Bridge for $unit {
            clock_and_command!($word, $outstanding);

            fn set(&self, driven: &Driven) {
                self.mem_cmd_valid_i.set_bool(driven.cmd.is_some());
                self.mem_cmd_addr_i.set(driven.cmd.map_or(0xdead, |cmd| cmd.addr));
                self.mem_cmd_len_i.set(driven.cmd.map_or(0xbe, |cmd| (cmd.beats - 1) as u8));
                self.mem_data_ready_i.set_bool(driven.ready);
                set_m_axi_r!(self, &driven.axi);
            }

            fn seen(&self) -> Seen {
                Seen {
                    cmd_ready: self.mem_cmd_ready_o.is_set(),
                    word: self.mem_data_valid_o.is_set().then(|| Word {
                        data: self.mem_data_data_o.get().into(),
                        strb: 0,
                        last: self.mem_data_last_o.is_set(),
                        err: self.mem_data_err_o.is_set(),
                    }),
                    busy: self.busy_o.is_set(),
                    axi: FromMaster {
                        ar: m_axi_ar!(self),
                        r_ready: self.m_axi_rready.is_set(),
                        ..FromMaster::default()
                    },
                    ..Seen::default()
                }
            }
        }
    )+};
}

macro_rules! write_bridge {
    ($($unit:ident: $word:expr, $outstanding:expr;)+) => {$(
        impl Bridge for $unit {
            clock_and_command!($word, $outstanding);

            fn set(&self, driven: &Driven) {
                self.mem_cmd_valid_i.set_bool(driven.cmd.is_some());
                self.mem_cmd_addr_i.set(driven.cmd.map_or(0xdead, |cmd| cmd.addr));
                self.mem_cmd_len_i.set(driven.cmd.map_or(0xbe, |cmd| (cmd.beats - 1) as u8));
                self.mem_data_valid_i.set_bool(driven.word.is_some());
                self.mem_data_data_i.set(driven.word.map_or(0xdead, |word| word.data) as _);
                self.mem_data_strb_i.set(driven.word.map_or(5, |word| word.strb));
                self.mem_data_last_i.set_bool(driven.word.is_none_or(|word| word.last));
                self.mem_rsp_ready_i.set_bool(driven.ready);
                set_m_axi_b!(self, &driven.axi);
            }

            fn seen(&self) -> Seen {
                Seen {
                    cmd_ready: self.mem_cmd_ready_o.is_set(),
                    word_ready: self.mem_data_ready_o.is_set(),
                    err: self.mem_rsp_valid_o.is_set().then(|| self.mem_rsp_err_o.is_set()),
                    busy: self.busy_o.is_set(),
                    axi: FromMaster {
                        aw: m_axi_aw!(self),
                        w: m_axi_w!(self),
                        b_ready: self.m_axi_bready.is_set(),
                        ..FromMaster::default()
                    },
                    ..Seen::default()
                }
            }
        }
    )+};
}

read_bridge!(
    AxiRead: 4, 4;
    AxiReadO1: 4, 1;
    AxiRead64: 8, 3;
    TwinAxiReadWithdraws: 4, 4;
    TwinAxiReadBoundary: 4, 4;
    TwinAxiReadReset: 4, 4;
    TwinAxiReadOutstanding: 4, 4;
    TwinAxiReadBubble: 4, 4;
    TwinAxiReadLast: 4, 4;
    TwinAxiReadDecerr: 4, 4;
    TwinAxiReadPage: 4, 4;
    TwinAxiReadPath: 4, 4;
    TwinAxiReadChanges: 4, 4;
    TwinAxiReadCarry: 4, 4;
    TwinAxiReadCached: 4, 4;
);
write_bridge!(
    AxiWrite: 4, 5;
    AxiWriteO1: 4, 1;
    AxiWrite64: 8, 3;
    TwinAxiWriteLast: 4, 5;
    TwinAxiWriteLanes: 4, 5;
    TwinAxiWriteStrobes: 4, 5;
    TwinAxiWriteForgets: 4, 5;
    TwinAxiWriteEarly: 4, 5;
    TwinAxiWriteWaits: 4, 5;
    TwinAxiWriteLocks: 4, 5;
    TwinAxiWritePrivileged: 4, 5;
);

/// One run: what is asked for, and how hard it is made.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    commands: &'a [Command],
    hardship: Hardship,
    order: WriteOrder,
    start: Start,
    /// Cycle of a reset of everything; what is inside is lost.
    reset: Option<u64>,
    without: &'a [Rule],
}

impl Plan<'_> {
    fn timing(&self) -> AxiTiming {
        let order = self.order;
        match self.hardship.memory {
            Slowness::Ideal => AxiTiming {
                order,
                ..AxiTiming::IDEAL
            },
            Slowness::Slow => AxiTiming {
                read_latency: Cycle(9),
                write_latency: Cycle(7),
                stalls: true,
                order,
            },
        }
    }
}

/// The unit, its memory, and what is watched in every run.
struct Bench<'a, U> {
    dut: U,
    context: Context,
    wave: Recorder<'a>,
    axi: AxiMemory,
    rules: Rules,
    bursts: Bursts,
    without: &'a [Rule],
}

impl<'a, U: Bridge> Bench<'a, U> {
    fn new(case: &Case, plan: &Plan<'a>, probe: &'a Probe) -> Bench<'a, U> {
        let context = plan.start.context(case);
        let dut = U::named(&context, "dut");
        Bench {
            wave: Recorder::new(probe, &[&dut]),
            dut,
            context,
            axi: AxiMemory::new(U::WORD, plan.timing(), |name| case.rng(name)),
            rules: Rules::new(U::WORD).without(&axi_rules(plan.without)),
            bursts: Bursts::new(),
            without: plan.without,
        }
    }

    /// One cycle, up to just after its edge. In reset everything is forgotten.
    fn cycle(&mut self, cycle: u64, rst: bool, driven: &Driven, memory: &mut Memory) -> Result<Vec<EventKind>, String> {
        let seen = self.dut.seen();
        self.dut.set(driven);
        for clk in [false, true] {
            self.dut.set_clk(clk, rst);
            self.context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            self.dut.junk();
            self.dut.eval();
            self.wave.tick(self.context.time());
            holds(&[], Rule::Path, clk || cycle == 0 || seen == self.dut.seen(), || {
                "an input reaches an output within the cycle".into()
            })?;
        }
        if rst {
            self.axi.reset();
            self.bursts = Bursts::new();
            let after = self.dut.seen().axi;
            self.rules
                .reset(&after, &FromSlave::default())
                .map_err(|e| e.to_string())?;
            return Ok(Vec::new());
        }
        self.rules.step(&seen.axi, &driven.axi).map_err(|e| e.to_string())?;
        holds(self.without, Rule::Plain, seen.axi.is_plain(), || {
            format!("{:x?}", seen.axi)
        })?;
        let open = self.rules.open_reads() + self.rules.open_writes();
        holds(self.without, Rule::Outstanding, open <= U::OUTSTANDING as usize, || {
            format!("{open} bursts are open")
        })?;
        let mut events = Vec::new();
        self.axi
            .step(Cycle(cycle), memory, &seen.axi, |event| events.push(event));
        for (got, want) in events.iter().filter_map(|event| self.bursts.take(event)) {
            holds(self.without, Rule::Bursts, want == Some(got), || {
                format!("{got:x?}, not {want:x?}")
            })?;
        }
        Ok(events)
    }

    /// A command was taken: its bursts must come, cut at 4 KB. How many.
    fn expect(&mut self, command: &Command) -> usize {
        let list = cut(command.addr, command.beats, U::WORD, 4096 / U::WORD);
        self.bursts.due.extend(&list);
        list.len()
    }

    fn is_idle(&self) -> bool {
        let asked = self.bursts.due.is_empty() || self.without.contains(&Rule::Bursts);
        asked && self.axi.is_idle() && self.rules.is_idle() && !self.dut.seen().busy
    }
}

/// Cycles without end after which a run counts as hung.
const LIMIT: u64 = 60_000;
/// Idle cycles watched after the last word.
const TAIL: u64 = 30;

/// The words a read must give. The data of a word with an error are not said.
fn words(memory: &Memory, command: &Command, word: u32) -> Vec<Word> {
    let one = |i| {
        let addr = Addr(command.addr + i * word);
        let err = !memory.bus_ok(addr, word);
        let mut bytes = [0; 8];
        if !err {
            bytes[..word as usize].copy_from_slice(memory.read(addr, word as usize).expect("it is in the memory"));
        }
        Word {
            data: u64::from_le_bytes(bytes),
            strb: 0,
            last: i + 1 == command.beats,
            err,
        }
    };
    (0..command.beats).map(one).collect()
}

/// When things first happened in a run, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// A command was taken.
    command: Option<u64>,
    /// An address was offered.
    address: Option<u64>,
    /// Data were taken: of a read from AXI, of a write by the bridge.
    data_in: Option<u64>,
    /// Data were offered: of a read by the bridge, of a write on AXI.
    data_out: Option<u64>,
    /// An AXI response was taken, and a response was offered.
    answer_in: Option<u64>,
    answer_out: Option<u64>,
    /// Data were offered for the last time.
    last: u64,
}

impl Times {
    /// Cycles from the first data to the last, both counted.
    fn span(&self) -> u64 {
        self.last - self.data_out.unwrap_or(self.last) + 1
    }
}

/// Runs the plan on a read bridge.
fn read<U: Bridge>(case: &Case, plan: &Plan, probe: &Probe) -> Result<Times, String> {
    let Plan { hardship, without, .. } = *plan;
    let mut bench = Bench::<U>::new(case, plan, probe);
    let mut memory = hardship.filled(&mut case.rng("memory"));
    let mut source = Source::new(
        plan.commands.iter().copied(),
        Pacer::new(hardship.gaps.at_source(), case.rng("source")),
    );
    let mut sink = Sink::new(Pacer::new(hardship.gaps.at_sink(), case.rng("sink")));
    let mut due: VecDeque<Word> = VecDeque::new();
    let (mut idle, mut times) = (0, Times::default());
    for cycle in 0..LIMIT {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        let seen = bench.dut.seen();
        let driven = Driven {
            cmd: source.offer().copied(),
            ready: sink.ready(),
            axi: *bench.axi.ports(),
            ..Driven::default()
        };
        bench.cycle(cycle, rst, &driven, &mut memory).map_err(fault)?;
        if rst {
            due.clear();
            source.reset();
            sink.reset();
            continue;
        }
        if let Some(word) = sink.step(seen.word).map_err(|e| fault(format!("Protocol: {e}")))? {
            let want = due.pop_front();
            let said = Word {
                data: if word.err { 0 } else { word.data },
                ..word
            };
            holds(without, Rule::Content, want == Some(said), || {
                format!("got {word:x?}, not {want:x?}")
            })
            .map_err(fault)?;
            times.data_out.get_or_insert(cycle);
            times.last = cycle;
        }
        if seen.axi.ar.is_some() {
            times.address.get_or_insert(cycle);
        }
        if driven.axi.r.is_some() && seen.axi.r_ready {
            times.data_in.get_or_insert(cycle);
        }
        if let Some(command) = source.step(seen.cmd_ready) {
            times.command.get_or_insert(cycle);
            bench.expect(&command);
            due.extend(words(&memory, &command, U::WORD));
        }
        let done = source.is_empty() && due.is_empty() && bench.is_idle();
        idle = if done { idle + 1 } else { 0 };
        if idle > TAIL {
            return Ok(times);
        }
    }
    holds(without, Rule::Hang, false, || {
        format!(
            "{} commands, {} words left; {}",
            source.len(),
            due.len(),
            bench.axi.report()
        )
    })
    .map(|()| times)
}

/// Random words for a write, some of their bytes not enabled.
fn data(rng: &mut Rng, beats: u32, word: u32) -> Vec<Word> {
    let all = (0xff_u32 >> (8 - word)) as u8;
    let one = |i| Word {
        data: rng.bits() >> (64 - 8 * word),
        strb: if rng.chance(1, 4) { rng.bits() as u8 & all } else { all },
        last: i + 1 == beats,
        err: false,
    };
    (0..beats).map(one).collect()
}

/// What a write leaves in memory; true if any of its words was refused.
fn apply(memory: &mut Memory, command: &Command, words: &[Word], word: u32) -> bool {
    let mut refused = false;
    for (i, beat) in words.iter().enumerate() {
        let addr = Addr(command.addr + i as u32 * word);
        let lanes = (0..word).filter(|lane| beat.strb >> lane & 1 == 1);
        let (Some(first), Some(end)) = (lanes.clone().min(), lanes.clone().max()) else {
            continue;
        };
        if !memory.bus_ok(addr.offset(first), end - first + 1) {
            refused = true;
            continue;
        }
        for lane in lanes {
            let byte = beat.data.to_le_bytes()[lane as usize];
            assert!(memory.write(addr.offset(lane), &[byte]), "it is in the memory");
        }
    }
    refused
}

fn compare(memory: &Memory, golden: &Memory) -> Result<(), String> {
    let all = |memory: &Memory| memory.read(Addr(0), SIZE as usize).expect("all of it").to_vec();
    let (got, want) = (all(memory), all(golden));
    match got.iter().zip(&want).position(|(got, want)| got != want) {
        None => Ok(()),
        Some(at) => Err(format!("at {at:#x} there is {:#04x}, not {:#04x}", got[at], want[at])),
    }
}

/// Runs the plan on a write bridge.
fn write<U: Bridge>(case: &Case, plan: &Plan, probe: &Probe) -> Result<Times, String> {
    let Plan { hardship, without, .. } = *plan;
    let mut bench = Bench::<U>::new(case, plan, probe);
    let mut memory = hardship.filled(&mut case.rng("memory"));
    let mut golden = memory.clone();
    let pacer = |pauses, name| Pacer::new(pauses, case.rng(name));
    let mut contents = case.rng("data");
    let mut cmds = Source::new(
        plan.commands.iter().copied(),
        pacer(hardship.gaps.at_source(), "commands"),
    );
    // Data follow their command.
    let mut data_in = Source::new([], pacer(hardship.gaps.at_source(), "data"));
    let mut sink = Sink::new(pacer(hardship.gaps.at_sink(), "responses"));
    // Responses due, with the bursts that must be in memory by then.
    let mut due: VecDeque<(bool, usize)> = VecDeque::new();
    let (mut announced, mut written, mut idle, mut times) = (0, 0, 0, Times::default());
    for cycle in 0..LIMIT {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        let seen = bench.dut.seen();
        let driven = Driven {
            cmd: cmds.offer().copied(),
            word: data_in.offer().copied(),
            ready: sink.ready(),
            axi: *bench.axi.ports(),
        };
        let events = bench.cycle(cycle, rst, &driven, &mut memory).map_err(fault)?;
        if rst {
            // What is under way is given up: the memory may hold any of it.
            data_in = Source::new([], pacer(hardship.gaps.at_source(), "data"));
            (golden, announced, written) = (memory.clone(), 0, 0);
            due.clear();
            cmds.reset();
            sink.reset();
            continue;
        }
        written += events
            .iter()
            .filter(|e| matches!(e, EventKind::MemWritten { .. }))
            .count();
        if seen.axi.aw.is_some() {
            times.address.get_or_insert(cycle);
        }
        if seen.axi.w.is_some() {
            times.data_out.get_or_insert(cycle);
            times.last = cycle;
        }
        if driven.axi.b.is_some() && seen.axi.b_ready {
            times.answer_in.get_or_insert(cycle);
        }
        if seen.err.is_some() {
            times.answer_out.get_or_insert(cycle);
        }
        if let Some(err) = sink.step(seen.err).map_err(|e| fault(format!("Protocol: {e}")))? {
            let want = due.pop_front();
            holds(
                without,
                Rule::Response,
                want.is_some_and(|(want, _)| err == want),
                || format!("error {err}, not {want:?}"),
            )
            .map_err(fault)?;
            // The AXI answer that this response stands for was taken at an earlier edge.
            let needs = want.map_or(0, |(_, needs)| needs);
            holds(without, Rule::Early, written >= needs, || {
                format!("with {written} of {needs} bursts")
            })
            .map_err(fault)?;
        }
        if data_in.step(seen.word_ready).is_some() {
            times.data_in.get_or_insert(cycle);
        }
        if let Some(command) = cmds.step(seen.cmd_ready) {
            times.command.get_or_insert(cycle);
            announced += bench.expect(&command);
            let words = data(&mut contents, command.beats, U::WORD);
            due.push_back((apply(&mut golden, &command, &words, U::WORD), announced));
            words.into_iter().for_each(|word| data_in.push(word));
        }
        let done = cmds.is_empty() && data_in.is_empty() && due.is_empty() && bench.is_idle();
        idle = if done { idle + 1 } else { 0 };
        if idle > TAIL {
            let same = compare(&memory, &golden);
            holds(without, Rule::Memory, same.is_ok(), || same.expect_err("it differs"))?;
            return Ok(times);
        }
    }
    holds(without, Rule::Hang, false, || {
        format!(
            "{} commands, {} words, {} responses left; {}",
            cmds.len(),
            data_in.len(),
            due.len(),
            bench.axi.report()
        )
    })
    .map(|()| times)
}

/// Word-aligned commands of 1 to 256 beats, short ones and 4 KB boundaries often; with faults, some beyond the memory's end.
fn commands(rng: &mut Rng, count: usize, word: u32, faults: bool) -> Vec<Command> {
    let one = |_| {
        let beats = match rng.below(4) {
            0 => 1,
            1 => rng.between(1, 256),
            _ => rng.between(1, 20),
        } as u32;
        let addr = if rng.chance(1, 2) {
            rng.between(1, 15) as u32 * 4096 - rng.between(0, beats.into()) as u32 * word
        } else {
            rng.below(u64::from((SIZE - 2048) / word)) as u32 * word
        };
        let beyond = faults && rng.chance(1, 8);
        Command {
            addr: if beyond {
                SIZE - rng.below(32) as u32 * word
            } else {
                addr
            },
            beats,
        }
    };
    (0..count).map(one).collect()
}

type Run = fn(&Case, &Plan, &Probe) -> Result<Times, String>;

/// All gap patterns, memories and faults, with and without a reset.
fn under_hardship<U: Bridge>(test: &'static str, run: Run, without: &[Rule], each: Each) {
    let orders = [WriteOrder::Any, WriteOrder::AddressFirst, WriteOrder::DataFirst];
    for (i, hardship) in Hardship::all().enumerate() {
        for reset in [false, true] {
            let (start, order) = (Start::ALL[i % 3], orders[i / 3 % 3]);
            let case = Case::new(
                "common",
                test,
                format!("{} {hardship:?} {order:?} {start:?} reset {reset}", name::<U>()),
            );
            let list = commands(&mut case.rng("commands"), 40, U::WORD, hardship.faults);
            let reset = reset.then(|| case.rng("reset").between(20, 250));
            let plan = Plan {
                commands: &list,
                hardship,
                order,
                start,
                reset,
                without,
            };
            each(&case, &|probe| run(&case, &plan, probe).map(drop));
        }
    }
}

/// Without gaps, with a memory that answers at once.
fn easy<'a>(commands: &'a [Command], without: &'a [Rule]) -> Plan<'a> {
    Plan {
        commands,
        hardship: Hardship {
            gaps: Gaps::None,
            memory: Slowness::Ideal,
            faults: false,
        },
        order: WriteOrder::Any,
        start: Start::Zero,
        reset: None,
        without,
    }
}

/// Words pass one per cycle, between commands of whatever length, and where one is cut.
fn at_full_rate<U: Bridge>(run: Run, without: &[Rule], each: Each) {
    for beats in [1, 3, 256] {
        let case = Case::new(
            "common",
            "axi_master::one_word_per_cycle",
            format!("{} commands of {beats} words", name::<U>()),
        );
        let addr = |i| (4096 - beats / 2 * U::WORD + i * beats * U::WORD) % (SIZE / 2);
        let list: Vec<Command> = (0..40).map(|i| Command { addr: addr(i), beats }).collect();
        let words = 40 * u64::from(beats);
        each(&case, &|probe| {
            let cycles = run(&case, &easy(&list, without), probe)?.span();
            holds(without, Rule::Rate, cycles == words, || {
                format!("{words} words took {cycles} cycles")
            })
        });
    }
}

/// Commands that cross each multiple of a power of two, which carries through all bits of the address below it; there is no memory that high.
fn across_powers<U: Bridge>(run: Run, without: &[Rule], each: Each) {
    let case = Case::new("common", "axi_master::a_cut_carries_through_the_address", name::<U>());
    let list: Vec<Command> = (12..32)
        .map(|power| Command {
            addr: (1 << power) - 3 * U::WORD,
            beats: 8,
        })
        .collect();
    each(&case, &|probe| run(&case, &easy(&list, without), probe).map(drop));
}

fn reads<U: Bridge>(without: &[Rule], each: Each) {
    under_hardship::<U>("axi_master::reads_under_hardship", read::<U>, without, each);
}

fn writes<U: Bridge>(without: &[Rule], each: Each) {
    under_hardship::<U>("axi_master::writes_under_hardship", write::<U>, without, each);
}

/// All checks of a read bridge.
pub fn read_checks<U: Bridge>(without: &[Rule], each: Each) {
    reads::<U>(without, each);
    across_powers::<U>(read::<U>, without, each);
    at_full_rate::<U>(read::<U>, without, each);
}

/// All checks of a write bridge.
pub fn write_checks<U: Bridge>(without: &[Rule], each: Each) {
    writes::<U>(without, each);
    across_powers::<U>(write::<U>, without, each);
    at_full_rate::<U>(write::<U>, without, each);
}

#[test]
fn reads_under_hardship() {
    reads::<AxiRead>(&[], &mut must_pass);
    reads::<AxiReadO1>(&[], &mut must_pass);
    reads::<AxiRead64>(&[], &mut must_pass);
}

#[test]
fn writes_under_hardship() {
    writes::<AxiWrite>(&[], &mut must_pass);
    writes::<AxiWriteO1>(&[], &mut must_pass);
    writes::<AxiWrite64>(&[], &mut must_pass);
}

#[test]
fn a_cut_carries_through_the_address() {
    across_powers::<AxiRead>(read::<AxiRead>, &[], &mut must_pass);
    across_powers::<AxiWrite64>(write::<AxiWrite64>, &[], &mut must_pass);
}

#[test]
fn one_word_per_cycle() {
    at_full_rate::<AxiRead>(read::<AxiRead>, &[], &mut must_pass);
    at_full_rate::<AxiWrite>(write::<AxiWrite>, &[], &mut must_pass);
}

/// From taken to offered, as the headers say.
#[test]
fn latencies() {
    let case = Case::new("common", "axi_master::latencies", "");
    let list = [Command { addr: 64, beats: 1 }];
    case.run(|probe| {
        let read = read::<AxiRead>(&case, &easy(&list, &[]), probe)?;
        let write = write::<AxiWrite>(&case, &easy(&list, &[]), probe)?;
        let between = |from: Option<u64>, to: Option<u64>| Some(to? - from?);
        assert_eq!(between(read.command, read.address), Some(2));
        assert_eq!(between(read.data_in, read.data_out), Some(1));
        assert_eq!(between(write.command, write.address), Some(2));
        assert_eq!(between(write.command, write.data_out), Some(3));
        assert_eq!(between(write.data_in, write.data_out), Some(1));
        assert_eq!(between(write.answer_in, write.answer_out), Some(1));
        Ok::<(), String>(())
    });
}
