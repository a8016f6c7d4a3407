//! DMA read: cut as it must be, every word in its place, errors contained, no cycle lost.

use std::collections::VecDeque;

use proptest::prelude::*;
use testbenches::name;
use testbenches::rtl::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory};
use tsunagi::harness::seed::{Case, Recorder};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::Unit;

use crate::bench::{Each, PERIOD, Start, holds, must_pass, rules};
use crate::dma::{Bursts, Command, Hardship, SIZE, Slowness, commands, cut};
use support::{property, this_test};

rules!(
    /// Every word of every command, in order.
    Content
    /// Bursts are cut as they must be.
    Bursts
    /// The memory's data are taken at once: room was reserved.
    Room
    /// No more bursts than this await data.
    Outstanding
    /// `next_o`: of what was given before, a burst at most is yet to be asked for.
    Next
    /// No output follows an input within the cycle, else the bench does not see what the unit sees.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if nobody else pauses.
    Rate
    /// Everything that is asked for comes.
    Hang
);

/// A word of the output stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    data: u64,
    keep: u8,
    last: bool,
    err: bool,
}

pub trait Ports: Unit {
    /// Bytes of a word, words of the longest burst, bursts outstanding.
    const WORD: u32;
    const BURST: u32;
    const OUTSTANDING: u32;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, cmd: Option<&Command>, mem: &MemPortsOut, ready: bool);
    fn cmd_ready(&self) -> bool;
    fn mem(&self) -> MemPortsIn;
    fn offered(&self) -> Option<Word>;
    fn next(&self) -> bool;
    fn busy(&self) -> bool;
}

macro_rules! ports {
    ($($unit:ident: $word:expr, $burst:expr, $outstanding:expr;)+) => {$(
        impl Ports for $unit {
            const WORD: u32 = $word;
            const BURST: u32 = $burst;
            const OUTSTANDING: u32 = $outstanding;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, cmd: Option<&Command>, mem: &MemPortsOut, ready: bool) {
                self.cmd_valid_i.set_bool(cmd.is_some());
                self.cmd_addr_i.set(cmd.map_or(0xdead, |cmd| cmd.addr));
                self.cmd_bytes_i.set(cmd.map_or(0xbeef, |cmd| cmd.bytes));
                testbenches::set_mem_read_ports!(self, mem);
                self.out_ready_i.set_bool(ready);
            }

            fn cmd_ready(&self) -> bool {
                self.cmd_ready_o.is_set()
            }

            fn mem(&self) -> MemPortsIn {
                testbenches::mem_read_ports!(self)
            }

            fn offered(&self) -> Option<Word> {
                self.out_valid_o.is_set().then(|| Word {
                    data: self.out_data_o.get() as u64,
                    keep: self.out_keep_o.get(),
                    last: self.out_last_o.is_set(),
                    err: self.out_err_o.is_set(),
                })
            }

            fn next(&self) -> bool {
                self.next_o.is_set()
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    )+};
}

ports!(
    DmaRead: 4, 8, 4;
    DmaReadB1O1: 4, 1, 1;
    DmaRead64B16O3: 8, 16, 3;
    TwinDmaReadAlign: 4, 8, 4;
    TwinDmaReadError: 4, 8, 4;
    TwinDmaReadBubble: 4, 8, 4;
    TwinDmaReadRoom: 4, 8, 4;
    TwinDmaReadOutstanding: 4, 8, 4;
    TwinDmaReadPath: 4, 8, 4;
    TwinDmaReadWithdraws: 4, 8, 4;
    TwinDmaReadHang: 4, 8, 4;
    TwinDmaReadNext: 4, 8, 4;
);

/// The words a command must give. The data of a word with a bus error are not said.
fn words(memory: &Memory, command: &Command, word: u32) -> Vec<Word> {
    let count = command.bytes.div_ceil(word);
    let mut words = Vec::new();
    for i in 0..count {
        let addr = Addr(command.addr + i * word);
        let last = i + 1 == count;
        let keep = if last { (command.bytes - 1) % word } else { word - 1 } as u8;
        let mut bytes = [0; 8];
        bytes[..word as usize].copy_from_slice(memory.read(addr, word as usize).expect("commands stay in the memory"));
        let err = !memory.bus_ok(addr, word);
        let data = if err { 0 } else { u64::from_le_bytes(bytes) };
        words.push(Word {
            data,
            keep,
            last: last || err,
            err,
        });
        if err {
            break;
        }
    }
    words
}

/// One run: what is asked for, and how hard it is made.
#[derive(Clone, Debug)]
struct Plan<'a> {
    commands: &'a [Command],
    hardship: Hardship,
    start: Start,
    /// Cycle of a reset of everything; what is inside is lost.
    reset: Option<u64>,
    without: &'a [Rule],
}

/// Runs the plan. The cycles from the first word to the last, both counted.
fn run<U: Ports>(case: &Case, plan: &Plan, probe: &Probe) -> Result<u64, String> {
    let Plan { hardship, without, .. } = *plan;
    let context = plan.start.context(case);
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    let mut memory = hardship.filled(&mut case.rng("memory"));
    let mut agent = hardship.agent(case.rng("agent").bits(), U::WORD);
    let mut source = Source::new(
        plan.commands.iter().copied(),
        Pacer::new(hardship.gaps.at_source(), case.rng("source")),
    );
    let mut sink = Sink::new(Pacer::new(hardship.gaps.at_sink(), case.rng("sink")));
    let mut bursts = Bursts::new();
    let mut due: VecDeque<Word> = VecDeque::new();
    let (mut ended, mut idle, mut first, mut last) = (0, 0, None, 0);
    for cycle in 0..60_000 {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        let (cmd_ready, mem, offered, ready) = (dut.cmd_ready(), dut.mem(), dut.offered(), sink.ready());
        let next = dut.next();
        dut.set(source.offer(), agent.ports(), ready);
        for clk in [false, true] {
            dut.set_clk(clk, rst);
            context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            dut.junk();
            dut.eval();
            wave.tick(context.time());
            let same = clk || (cmd_ready, mem, &offered) == (dut.cmd_ready(), dut.mem(), &dut.offered());
            holds(&[], Rule::Path, same || cycle == 0, || {
                "an input reaches an output within the cycle".into()
            })
            .map_err(fault)?;
        }
        if rst {
            (due, bursts, ended) = (VecDeque::new(), Bursts::new(), 0);
            source.reset();
            sink.reset();
            agent.reset();
            continue;
        }
        // Bursts that were not yet asked for, as far as their cutting is known to be right.
        let left = bursts.due.len() - usize::from(mem.rd_cmd_valid && !bursts.due.is_empty());
        let known = !without.contains(&Rule::Bursts);
        let right = if next { left <= 1 } else { !bursts.due.is_empty() };
        holds(without, Rule::Next, right || !known, || {
            format!("{next} with {left} bursts to be asked for")
        })
        .map_err(fault)?;
        let taken = sink.step(offered).map_err(|e| fault(format!("Protocol: {e}")))?;
        if let Some(word) = taken {
            let want = due.pop_front();
            let right = want.as_ref().is_some_and(|want| {
                Word {
                    data: if want.err { 0 } else { word.data },
                    ..word.clone()
                } == *want
            });
            holds(without, Rule::Content, right, || {
                format!("got {word:x?}, not {want:x?}")
            })
            .map_err(fault)?;
            first.get_or_insert(cycle);
            last = cycle;
        }
        let held = agent.ports().rd_data_valid && !mem.rd_data_ready;
        holds(without, Rule::Room, !held, || {
            "the memory's data wait for the engine".into()
        })
        .map_err(fault)?;
        if agent.ports().rd_data_valid && mem.rd_data_ready && agent.ports().rd_data_last {
            ended += 1;
        }
        let mut events = Vec::new();
        agent.step(Cycle(cycle), &mut memory, &mem, |event| events.push(event));
        if let Some(command) = source.step(cmd_ready) {
            due.extend(words(&memory, &command, U::WORD));
            bursts
                .due
                .extend(cut(command.addr, command.bytes.div_ceil(U::WORD), U::WORD, U::BURST));
        }
        for (got, want) in events.iter().filter_map(|event| bursts.take(event)) {
            holds(without, Rule::Bursts, want == Some(got), || {
                format!("{got:x?}, not {want:x?}")
            })
            .map_err(fault)?;
        }
        let open = bursts.seen - ended;
        holds(without, Rule::Outstanding, open <= U::OUTSTANDING as usize, || {
            format!("{open} bursts await data")
        })
        .map_err(fault)?;
        let all_bursts = bursts.due.is_empty() || without.contains(&Rule::Bursts);
        let done = source.is_empty() && due.is_empty() && all_bursts && !dut.busy() && !agent.has_taken();
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            return Ok(last - first.unwrap_or(last) + 1);
        }
    }
    let (words, bursts) = (due.len(), bursts.due.len());
    holds(without, Rule::Hang, false, || {
        format!(
            "{} commands, {bursts} bursts, {words} words left; {}",
            source.len(),
            agent.report().join("; ")
        )
    })
    .map(|()| 0)
}

fn content<U: Ports>(without: &[Rule], each: Each) {
    for (i, hardship) in Hardship::all().enumerate() {
        for reset in [false, true] {
            let start = Start::ALL[i % 3];
            let case = Case::new(
                "common",
                "dma_read::content_under_hardship",
                format!("{} {hardship:?} {start:?} reset {reset}", name::<U>()),
            );
            let list = commands(&mut case.rng("commands"), 40, U::WORD);
            let reset = reset.then(|| case.rng("reset").between(20, 250));
            let plan = Plan {
                commands: &list,
                hardship,
                start,
                reset,
                without,
            };
            each(&case, &|probe| run::<U>(&case, &plan, probe).map(drop));
        }
    }
}

/// With an ideal memory and no gaps, words come one per cycle, also between commands of whatever length.
fn rate<U: Ports>(without: &[Rule], each: Each) {
    for bytes in [U::WORD, 2 * U::WORD + 1, 500] {
        let case = Case::new(
            "common",
            "dma_read::one_word_per_cycle",
            format!("{} commands of {bytes} bytes", name::<U>()),
        );
        let list: Vec<Command> = (0..40).map(|i| Command { addr: i * 512, bytes }).collect();
        let hardship = Hardship {
            gaps: Gaps::None,
            memory: Slowness::Ideal,
            faults: false,
        };
        let plan = Plan {
            commands: &list,
            hardship,
            start: Start::Zero,
            reset: None,
            without,
        };
        let words = 40 * u64::from(bytes.div_ceil(U::WORD));
        each(&case, &|probe| {
            let cycles = run::<U>(&case, &plan, probe)?;
            holds(without, Rule::Rate, cycles == words, || {
                format!("{words} words took {cycles} cycles")
            })
        });
    }
}

/// All checks.
pub fn checks<U: Ports>(without: &[Rule], each: Each) {
    content::<U>(without, each);
    rate::<U>(without, each);
}

#[test]
fn content_under_hardship() {
    content::<DmaRead>(&[], &mut must_pass);
    content::<DmaReadB1O1>(&[], &mut must_pass);
    content::<DmaRead64B16O3>(&[], &mut must_pass);
}

#[test]
fn one_word_per_cycle() {
    rate::<DmaRead>(&[], &mut must_pass);
    rate::<DmaRead64B16O3>(&[], &mut must_pass);
}

#[test]
fn any_commands() {
    let command = (0..(SIZE - 2048) / 4, 1..2000u32).prop_map(|(word, bytes)| Command { addr: word * 4, bytes });
    let strategy = (proptest::collection::vec(command, 1..12), 0..16usize);
    property::holds(
        this_test!(),
        "common/regressions/dma_read.txt",
        40,
        strategy,
        |case, (list, kind), probe| {
            let hardship = Hardship::all().nth(*kind).expect("16 kinds");
            let plan = Plan {
                commands: list,
                hardship,
                start: Start::Random1,
                reset: None,
                without: &[],
            };
            run::<DmaRead>(case, &plan, probe).map(drop)
        },
    );
}
