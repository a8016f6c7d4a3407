//! DMA write: bytes land where they should and nowhere else, every command ends with the right code, no cycle lost.

use std::collections::VecDeque;

use proptest::prelude::*;
use testbenches::name;
use testbenches::rtl::*;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::Unit;

use crate::bench::{Each, PERIOD, Start, holds, must_pass, rules};
use crate::dma::{Bursts, Command, Hardship, SIZE, Slowness, commands, cut};
use support::{property, this_test};

rules!(
    /// Bytes land where they should and nowhere else.
    Memory
    /// Every command ends with the right code.
    Code
    /// None ends before its responses are in.
    Early
    /// Bursts are cut as they must be.
    Bursts
    /// No more bursts than this await their response.
    Outstanding
    /// No output follows an input within the cycle, else the bench does not see what the unit sees.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if nobody else pauses.
    Rate
    /// Everything is taken, written and told.
    Hang
);

/// A command and the packet that comes for it, of whatever length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    command: Command,
    packet: Vec<u8>,
}

/// A word of the packet stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    data: u64,
    keep: u8,
    last: bool,
}

pub trait Ports: Unit {
    /// Bytes of a word, words of the longest burst, bursts outstanding.
    const WORD: u32;
    const BURST: u32;
    const OUTSTANDING: u32;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, cmd: Option<&Command>, word: Option<&Word>, mem: &MemPortsOut, done_ready: bool);
    fn cmd_ready(&self) -> bool;
    fn word_ready(&self) -> bool;
    fn mem(&self) -> MemPortsIn;
    fn done(&self) -> Option<u8>;
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

            fn set(&self, cmd: Option<&Command>, word: Option<&Word>, mem: &MemPortsOut, done_ready: bool) {
                self.cmd_valid_i.set_bool(cmd.is_some());
                self.cmd_addr_i.set(cmd.map_or(0xdead, |cmd| cmd.addr));
                self.cmd_bytes_i.set(cmd.map_or(0xbeef, |cmd| cmd.bytes));
                self.in_valid_i.set_bool(word.is_some());
                self.in_data_i.set(word.map_or(0xdead, |word| word.data) as _);
                self.in_keep_i.set(word.map_or(1, |word| word.keep));
                self.in_last_i.set_bool(word.is_none_or(|word| word.last));
                testbenches::set_mem_write_ports!(self, mem);
                self.done_ready_i.set_bool(done_ready);
            }

            fn cmd_ready(&self) -> bool {
                self.cmd_ready_o.is_set()
            }

            fn word_ready(&self) -> bool {
                self.in_ready_o.is_set()
            }

            fn mem(&self) -> MemPortsIn {
                testbenches::mem_write_ports!(self)
            }

            fn done(&self) -> Option<u8> {
                self.done_valid_o.is_set().then(|| self.done_err_o.get())
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    )+};
}

ports!(
    DmaWrite: 4, 8, 4;
    DmaWriteB1O1: 4, 1, 1;
    DmaWrite64B16O3: 8, 16, 3;
    TwinDmaWriteBeyond: 4, 8, 4;
    TwinDmaWriteCode: 4, 8, 4;
    TwinDmaWriteForgets: 4, 8, 4;
    TwinDmaWriteBubble: 4, 8, 4;
    TwinDmaWriteEarly: 4, 8, 4;
    TwinDmaWriteBursts: 4, 8, 4;
    TwinDmaWriteOutstanding: 4, 8, 4;
    TwinDmaWritePath: 4, 8, 4;
    TwinDmaWriteWithdraws: 4, 8, 4;
    TwinDmaWriteHang: 4, 8, 4;
);

const BUS: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 4;

/// What a job leaves: its bytes in memory, word by word where the bus allows it, and its code.
fn apply(memory: &mut Memory, job: &Job, word: u32) -> u8 {
    let bytes = job.command.bytes.min(job.packet.len() as u32);
    let mut code = match (job.packet.len() as u32).cmp(&job.command.bytes) {
        std::cmp::Ordering::Less => SHORT,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => LONG,
    };
    for at in (0..bytes).step_by(word as usize) {
        let len = word.min(bytes - at);
        let addr = Addr(job.command.addr + at);
        if !memory.bus_ok(addr, len) {
            code |= BUS;
        } else {
            assert!(
                memory.write(addr, &job.packet[at as usize..(at + len) as usize]),
                "commands stay in the memory"
            );
        }
    }
    code
}

fn packet_words(packet: &[u8], word: u32) -> Vec<Word> {
    let chunks = packet.chunks(word as usize);
    let count = chunks.len();
    let one = |(i, chunk): (usize, &[u8])| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        Word {
            data: u64::from_le_bytes(bytes),
            keep: chunk.len() as u8 - 1,
            last: i + 1 == count,
        }
    };
    chunks.enumerate().map(one).collect()
}

#[derive(Clone, Debug)]
struct Plan<'a> {
    jobs: &'a [Job],
    hardship: Hardship,
    start: Start,
    /// Cycle of a reset of everything, and how many jobs are given up with it.
    reset: Option<u64>,
    without: &'a [Rule],
}

/// A job's memory is compared over this much around its range.
fn compare(memory: &Memory, golden: &Memory) -> Result<(), String> {
    let all = |memory: &Memory| memory.read(Addr(0), SIZE as usize).expect("all of it").to_vec();
    let (got, want) = (all(memory), all(golden));
    match got.iter().zip(&want).position(|(got, want)| got != want) {
        None => Ok(()),
        Some(at) => Err(format!("memory at {at:#x} is {:#04x}, not {:#04x}", got[at], want[at])),
    }
}

/// Runs the plan. The cycles from the first word taken to the last data word given to the memory, both counted.
fn run<U: Ports>(case: &Case, plan: &Plan, probe: &Probe) -> Result<u64, String> {
    let Plan { hardship, without, .. } = *plan;
    let context = plan.start.context(case);
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    let mut memory = hardship.filled(&mut case.rng("memory"));
    let mut golden = memory.clone();
    let mut agent = hardship.agent(case.rng("agent").bits(), U::WORD);
    let pacer = |pauses, name| Pacer::new(pauses, case.rng(name));
    let mut cmds = Source::new(
        plan.jobs.iter().map(|job| job.command),
        pacer(hardship.gaps.at_source(), "commands"),
    );
    let all_words = plan.jobs.iter().flat_map(|job| packet_words(&job.packet, U::WORD));
    let mut words = Source::new(all_words, pacer(hardship.gaps.at_source(), "words"));
    let mut dones = Sink::new(pacer(hardship.gaps.at_sink(), "dones"));
    let (mut commands, mut data) = (Monitor::default(), Monitor::default());
    let mut bursts = Bursts::new();
    // Codes due, with the bursts that must be in memory by then.
    let mut due: VecDeque<(u8, usize)> = VecDeque::new();
    let (mut next, mut announced, mut written, mut idle, mut first, mut last) = (0, 0, 0, 0, None, 0);
    for cycle in 0..60_000 {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        let (cmd_ready, word_ready, mem, done, ready) =
            (dut.cmd_ready(), dut.word_ready(), dut.mem(), dut.done(), dones.ready());
        dut.set(cmds.offer(), words.offer(), agent.ports(), ready);
        for clk in [false, true] {
            dut.set_clk(clk, rst);
            context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            dut.junk();
            dut.eval();
            wave.tick(context.time());
            let same =
                clk || (cmd_ready, word_ready, mem, done) == (dut.cmd_ready(), dut.word_ready(), dut.mem(), dut.done());
            holds(&[], Rule::Path, same || cycle == 0, || {
                "an input reaches an output within the cycle".into()
            })
            .map_err(fault)?;
        }
        if rst {
            // What is under way is given up: the memory may hold any of it. The rest starts anew.
            let rest = &plan.jobs[next..];
            cmds = Source::new(
                rest.iter().map(|job| job.command),
                pacer(hardship.gaps.at_source(), "commands"),
            );
            let all_words = rest.iter().flat_map(|job| packet_words(&job.packet, U::WORD));
            words = Source::new(all_words, pacer(hardship.gaps.at_source(), "words"));
            (bursts, due, golden) = (Bursts::new(), VecDeque::new(), memory.clone());
            (announced, written) = (0, 0);
            dones.reset();
            commands.reset();
            data.reset();
            agent.reset();
            continue;
        }
        let command = mem.wr_cmd_valid.then_some((mem.wr_cmd_addr, mem.wr_cmd_len));
        let beat = mem
            .wr_data_valid
            .then_some((mem.wr_data_data, mem.wr_data_strb, mem.wr_data_last));
        commands
            .step(command.as_ref(), agent.ports().wr_cmd_ready)
            .map_err(|e| fault(format!("Protocol: {e}")))?;
        data.step(beat.as_ref(), agent.ports().wr_data_ready)
            .map_err(|e| fault(format!("Protocol: {e}")))?;
        if mem.wr_data_valid && agent.ports().wr_data_ready {
            last = cycle;
        }
        let mut events = Vec::new();
        agent.step(Cycle(cycle), &mut memory, &mem, |event| events.push(event));
        if cmds.step(cmd_ready).is_some() {
            let job = &plan.jobs[next];
            let count = job.command.bytes.min(job.packet.len() as u32).div_ceil(U::WORD);
            let list = cut(job.command.addr, count, U::WORD, U::BURST);
            announced += list.len();
            bursts.due.extend(list);
            due.push_back((apply(&mut golden, job, U::WORD), announced));
            next += 1;
        }
        if words.step(word_ready).is_some() {
            first.get_or_insert(cycle);
        }
        for event in &events {
            if let Some((got, want)) = bursts.take(event) {
                holds(without, Rule::Bursts, want == Some(got), || {
                    format!("{got:x?}, not {want:x?}")
                })
                .map_err(fault)?;
            }
            written += usize::from(matches!(event, EventKind::MemWritten { .. }));
        }
        let open = bursts.seen - written;
        holds(without, Rule::Outstanding, open <= U::OUTSTANDING as usize, || {
            format!("{open} bursts await responses")
        })
        .map_err(fault)?;
        if let Some(code) = dones.step(done).map_err(|e| fault(format!("Protocol: {e}")))? {
            let (want, needs) = due
                .pop_front()
                .ok_or_else(|| fault("Code: done, but no command".into()))?;
            holds(without, Rule::Code, code == want, || {
                format!("done with {code:03b}, not {want:03b}")
            })
            .map_err(fault)?;
            holds(without, Rule::Early, written >= needs, || {
                format!("done with {written} of {needs} bursts")
            })
            .map_err(fault)?;
        }
        let done = next == plan.jobs.len() && words.is_empty() && due.is_empty() && !dut.busy() && !agent.has_taken();
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            let same = compare(&memory, &golden);
            holds(without, Rule::Memory, same.is_ok(), || same.expect_err("differs"))?;
            return Ok(last - first.unwrap_or(last) + 1);
        }
    }
    holds(without, Rule::Hang, false, || {
        format!(
            "{} commands, {} words, {} dones left; {}",
            cmds.len(),
            words.len(),
            due.len(),
            agent.report().join("; ")
        )
    })
    .map(|()| 0)
}

/// Packets as long as their command says, and in one of three cases shorter or longer.
fn jobs(rng: &mut Rng, count: usize, word: u32) -> Vec<Job> {
    let list = commands(rng, count, word);
    let one = |command: Command| {
        let bytes = match rng.below(6) {
            0 => rng.between(1, command.bytes.into()),
            1 => u64::from(command.bytes) + rng.between(1, 40),
            _ => command.bytes.into(),
        };
        let mut packet = vec![0; bytes as usize];
        rng.fill(&mut packet);
        Job { command, packet }
    };
    list.into_iter().map(one).collect()
}

fn content<U: Ports>(without: &[Rule], each: Each) {
    for (i, hardship) in Hardship::all().enumerate() {
        for reset in [false, true] {
            let start = Start::ALL[i % 3];
            let case = Case::new(
                "common",
                "dma_write::content_under_hardship",
                format!("{} {hardship:?} {start:?} reset {reset}", name::<U>()),
            );
            let list = jobs(&mut case.rng("jobs"), 40, U::WORD);
            let reset = reset.then(|| case.rng("reset").between(20, 250));
            let plan = Plan {
                jobs: &list,
                hardship,
                start,
                reset,
                without,
            };
            each(&case, &|probe| run::<U>(&case, &plan, probe).map(drop));
        }
    }
}

/// With an ideal memory and no gaps, words are taken and written one per cycle, also between commands: the time from the first word
/// in to the last word out is that of the words and of the one burst that is collected first.
fn rate<U: Ports>(without: &[Rule], each: Each) {
    for bytes in [U::WORD, 2 * U::WORD + 1, 500] {
        let case = Case::new(
            "common",
            "dma_write::one_word_per_cycle",
            format!("{} commands of {bytes} bytes", name::<U>()),
        );
        let job = |i: u32| Job {
            command: Command { addr: i * 512, bytes },
            packet: vec![i as u8; bytes as usize],
        };
        let list: Vec<Job> = (0..40).map(job).collect();
        let hardship = Hardship {
            gaps: Gaps::None,
            memory: Slowness::Ideal,
            faults: false,
        };
        let plan = Plan {
            jobs: &list,
            hardship,
            start: Start::Zero,
            reset: None,
            without,
        };
        let words = bytes.div_ceil(U::WORD);
        // The last burst is collected while the one before it is written: what is left then is the last, or the rest of that.
        let limit = u64::from(40 * words + U::BURST.min(words)) + 3;
        each(&case, &|probe| {
            let cycles = run::<U>(&case, &plan, probe)?;
            holds(without, Rule::Rate, cycles <= limit, || {
                format!("{} words took {cycles} cycles, more than {limit}", 40 * words)
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
    content::<DmaWrite>(&[], &mut must_pass);
    content::<DmaWriteB1O1>(&[], &mut must_pass);
    content::<DmaWrite64B16O3>(&[], &mut must_pass);
}

#[test]
fn one_word_per_cycle() {
    rate::<DmaWrite>(&[], &mut must_pass);
    rate::<DmaWrite64B16O3>(&[], &mut must_pass);
}

#[test]
fn any_jobs() {
    // A command, and the packet's length where it is another than the command's.
    let command = (0..(SIZE - 2048) / 4, 1..1000u32).prop_map(|(word, bytes)| Command { addr: word * 4, bytes });
    let job = (command, proptest::option::of(1..1000u32));
    let strategy = (proptest::collection::vec(job, 1..12), 0..16usize);
    property::holds(
        this_test!(),
        "common/regressions/dma_write.txt",
        40,
        strategy,
        |case, (list, kind), probe| {
            let mut rng = case.rng("packets");
            let jobs: Vec<Job> = list
                .iter()
                .map(|&(command, other)| {
                    let mut packet = vec![0; other.unwrap_or(command.bytes) as usize];
                    rng.fill(&mut packet);
                    Job { command, packet }
                })
                .collect();
            let hardship = Hardship::all().nth(*kind).expect("16 kinds");
            let plan = Plan {
                jobs: &jobs,
                hardship,
                start: Start::Random1,
                reset: None,
                without: &[],
            };
            run::<DmaWrite>(case, &plan, probe).map(drop)
        },
    );
}
