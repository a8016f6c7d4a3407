//! DMA write: bytes land where they should and nowhere else, every command ends with the right code, no cycle lost.

use std::cmp::Ordering;
use std::collections::VecDeque;

use proptest::prelude::*;
use support::{property, this_test};
use testbenches::mem::{Offers, set_word};
use testbenches::rtl::*;
use testbenches::{
    Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules, set_write_ports, write_ports,
};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Sink, Source};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

use crate::dma::{self, Bursts, Command, Environment, Hardship, Progress, SIZE, Size, commands, cut, under_hardship};

rules!(
    /// Bytes land where they should and nowhere else.
    Memory
    /// Every command ends with the right code.
    Code
    /// No command ends before its responses are in.
    Early
    /// Bursts are cut as they must be.
    Bursts
    /// A limited number of bursts await their response.
    Outstanding
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if no other party pauses.
    Rate
    /// All is taken and written, and every command ends.
    Hang
);

/// A command and its packet, of any length.
#[derive(Clone, Debug)]
struct Job {
    command: Command,
    packet: Vec<u8>,
}

/// A word of the packet stream.
#[derive(Clone, Copy, Debug)]
struct Word {
    data: u64,
    keep: u8,
    last: bool,
}

struct In {
    command: Option<Command>,
    word: Option<Word>,
    mem: MemPortsOut,
    done_ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    command_ready: bool,
    word_ready: bool,
    busy: bool,
    mem: MemPortsIn,
    /// The code of a command that ended.
    done: Option<u8>,
}

fn set(dut: &impl DmaWritePorts, inputs: &In) {
    let Command { addr, bytes } = inputs.command.unwrap_or(Command {
        addr: 0xdead,
        bytes: 0xbeef,
    });
    dut.cmd_valid_i().set_bool(inputs.command.is_some());
    dut.cmd_addr_i().set(addr.into());
    dut.cmd_bytes_i().set(bytes.into());
    let Word { data, keep, last } = inputs.word.unwrap_or(Word {
        data: 0xdead,
        keep: 1,
        last: true,
    });
    dut.in_valid_i().set_bool(inputs.word.is_some());
    set_word(dut.in_data_i(), data);
    dut.in_keep_i().set(keep.into());
    dut.in_last_i().set_bool(last);
    set_write_ports!(dut, &inputs.mem);
    dut.done_ready_i().set_bool(inputs.done_ready);
}

fn seen(dut: &impl DmaWritePorts) -> Out {
    Out {
        command_ready: dut.cmd_ready_o().is_set(),
        word_ready: dut.in_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
        mem: write_ports!(dut),
        done: dut.done_valid_o().is_set().then(|| dut.done_err_o().get() as u8),
    }
}

/// A unit under test.
pub struct Writer {
    dut: Dut<In, Out>,
    size: Size,
}

/// A unit with bursts of at most so many words, and so many of them outstanding.
fn writer<U: DmaWriteUnit + 'static>(burst: u32, outstanding: usize) -> Writer {
    let dut = Dut::of::<U>(set, seen);
    let word = dut.width("in_data_i") as u32 / 8;
    Writer {
        dut,
        size: Size {
            word,
            burst,
            outstanding,
        },
    }
}

/// A unit with the sizes of the machine.
pub fn usual<U: DmaWriteUnit + 'static>() -> Writer {
    writer::<U>(8, 4)
}

const BUS: u8 = 1;
const SHORT: u8 = 2;
const LONG: u8 = 4;

/// Writes a job's bytes word by word, where the bus allows it. Gives the job's code.
fn apply(memory: &mut Memory, job: &Job, word: u32) -> u8 {
    let length = job.packet.len() as u32;
    let bytes = job.command.bytes.min(length);
    let mut code = match length.cmp(&job.command.bytes) {
        Ordering::Less => SHORT,
        Ordering::Equal => 0,
        Ordering::Greater => LONG,
    };
    for at in (0..bytes).step_by(word as usize) {
        let len = word.min(bytes - at);
        let addr = Addr(job.command.addr + at);
        if memory.bus_ok(addr, len) {
            let inside = memory.write(addr, &job.packet[at as usize..(at + len) as usize]);
            assert!(inside, "commands stay in the memory");
        } else {
            code |= BUS;
        }
    }
    code
}

/// The words of the jobs' packets.
fn words(jobs: &[Job], word: u32) -> Vec<Word> {
    let of_packet = |job: &Job| {
        let chunks = job.packet.chunks(word as usize);
        let count = chunks.len();
        let one = |(i, chunk): (usize, &[u8])| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            Word {
                data: u64::from_le_bytes(bytes),
                // It means nothing before the last word.
                keep: (if i + 1 == count {
                    chunk.len() as u8 - 1
                } else {
                    chunk[0]
                }) % word as u8,
                last: i + 1 == count,
            }
        };
        chunks.enumerate().map(one).collect::<Vec<_>>()
    };
    jobs.iter().flat_map(of_packet).collect()
}

struct Traffic<'a> {
    size: Size,
    /// Those with commands that are not taken.
    jobs: &'a [Job],
    memory: Memory,
    golden: Memory,
    agent: MemoryAgent,
    commands: Source<Command>,
    words: Source<Word>,
    dones: Sink<u8>,
    offers: Offers,
    bursts: Bursts,
    /// Codes, and the number of bursts that must be in memory with each.
    due: VecDeque<(u8, usize)>,
    /// Bursts of all commands that were taken, and those in memory.
    announced: usize,
    written: usize,
    /// Cycles of the first word in and of the last word out.
    first: Option<u64>,
    last: u64,
}

impl<'a> Traffic<'a> {
    fn new(run: &Run, size: Size, jobs: &'a [Job], hardship: Hardship) -> Traffic<'a> {
        let gaps = hardship.gaps;
        let memory = hardship.filled(&mut run.rng("memory"));
        let commands = jobs.iter().map(|job| job.command);
        Traffic {
            size,
            jobs,
            golden: memory.clone(),
            memory,
            agent: hardship.agent(run.rng("agent").bits(), size.word),
            commands: Source::new(commands, run.pacer(gaps.at_source(), "commands")),
            words: Source::new(words(jobs, size.word), run.pacer(gaps.at_source(), "words")),
            dones: Sink::new(run.pacer(gaps.at_sink(), "dones")),
            offers: Offers::default(),
            bursts: Bursts::new(),
            due: VecDeque::new(),
            announced: 0,
            written: 0,
            first: None,
            last: 0,
        }
    }

    /// The next job's command was taken.
    fn begin(&mut self) {
        let Size { word, burst, .. } = self.size;
        let (job, rest) = self.jobs.split_first().expect("a job for each command");
        let bytes = job.command.bytes.min(job.packet.len() as u32);
        let bursts = cut(job.command.addr, bytes.div_ceil(word), word, burst);
        self.announced += bursts.len();
        self.bursts.due.extend(bursts);
        self.due.push_back((apply(&mut self.golden, job, word), self.announced));
        self.jobs = rest;
    }

    fn end(&mut self, code: u8) -> Result<(), Fault> {
        let written = self.written;
        let due = self.due.pop_front();
        let (want, needs) = due.ok_or_else(|| Rule::Code.broken("done, but no command"))?;
        Rule::Code.holds(code == want, || format!("done with {code:03b}, not {want:03b}"))?;
        Rule::Early.holds(written >= needs, || format!("done with {written} of {needs} bursts"))
    }

    fn event(&mut self, event: &EventKind) -> Result<(), Fault> {
        self.written += usize::from(matches!(event, EventKind::MemWritten { .. }));
        let Some((got, want)) = self.bursts.take(event) else {
            return Ok(());
        };
        Rule::Bursts.holds(want == Some(got), || format!("{got:x?}, not {want:x?}"))
    }

    fn compare(&self) -> Result<(), Fault> {
        let all = |memory: &Memory| memory.read(Addr(0), SIZE as usize).expect("all of it").to_vec();
        let (got, want) = (all(&self.memory), all(&self.golden));
        let Some(at) = got.iter().zip(&want).position(|(got, want)| got != want) else {
            return Ok(());
        };
        Err(Rule::Memory.broken(format!("{:#04x} at {at:#x}, not {:#04x}", got[at], want[at])))
    }

    /// Cycles from the first word in to the last word out.
    fn cycles(&self) -> u64 {
        self.last - self.first.unwrap_or(self.last) + 1
    }
}

impl Environment for Traffic<'_> {
    type In = In;
    type Out = Out;

    fn inputs(&mut self) -> In {
        In {
            command: self.commands.offer().copied(),
            word: self.words.offer().copied(),
            mem: *self.agent.ports(),
            done_ready: self.dones.ready(),
        }
    }

    /// Gives up the jobs under way: the memory may hold any of their bytes. The rest starts anew.
    fn reset(&mut self) {
        self.commands.reset();
        self.words.reset();
        self.words.stop();
        for word in words(self.jobs, self.size.word) {
            self.words.push(word);
        }
        self.golden = self.memory.clone();
        (self.bursts, self.due) = (Bursts::new(), VecDeque::new());
        (self.announced, self.written) = (0, 0);
        self.offers.reset();
        self.dones.reset();
        self.agent.reset();
    }

    fn step(&mut self, cycle: u64, seen: Out) -> Result<Progress, Fault> {
        let ports = *self.agent.ports();
        self.offers.step(&seen.mem, &ports)?;
        if seen.mem.wr_data_valid && ports.wr_data_ready {
            self.last = cycle;
        }
        let mut events = Vec::new();
        self.agent
            .step(Cycle(cycle), &mut self.memory, &seen.mem, |event| events.push(event));
        let command = self.commands.step(seen.command_ready);
        if command.is_some() {
            self.begin();
        }
        let word = self.words.step(seen.word_ready);
        if word.is_some() {
            self.first.get_or_insert(cycle);
        }
        for event in &events {
            self.event(event)?;
        }
        let open = self.bursts.seen - self.written;
        Rule::Outstanding.holds(open <= self.size.outstanding, || {
            format!("{open} bursts await responses")
        })?;
        let done = self.dones.step(seen.done)?;
        if let Some(code) = done {
            self.end(code)?;
        }
        let all_given = self.jobs.is_empty() && self.words.is_empty();
        if all_given && self.due.is_empty() && !seen.busy && !self.agent.has_taken() {
            return Ok(Progress::Done);
        }
        let moved = command.is_some() || word.is_some() || done.is_some() || !events.is_empty();
        Ok(if moved { Progress::Moved } else { Progress::Waiting })
    }

    fn left(&self) -> String {
        let (commands, words, dones) = (self.commands.len(), self.words.len(), self.due.len());
        let memory = self.agent.report().join("; ");
        format!("{commands} commands, {words} words, {dones} codes left; {memory}")
    }
}

/// Does the jobs, with a reset in this cycle. Gives the cycles from the first word in to the last word out.
fn exercise(run: &Run, writer: &Writer, jobs: &[Job], hardship: Hardship, reset: Option<u64>) -> Result<u64, Fault> {
    let mut traffic = Traffic::new(run, writer.size, jobs, hardship);
    dma::exercise(run, &writer.dut, &mut traffic, reset)?;
    traffic.compare()?;
    Ok(traffic.cycles())
}

/// One packet in three is shorter or longer than its command says.
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

fn content(writer: &Writer, cases: &mut Cases) {
    under_hardship(cases, writer.dut.name, |run, hardship, reset| {
        let jobs = jobs(&mut run.rng("jobs"), 40, writer.size.word);
        exercise(run, writer, &jobs, hardship, reset).map(drop)
    });
}

/// With an ideal memory and no gaps, words are taken and written one per cycle, also between commands. The time from
/// the first word in to the last word out is that of the words and of the one burst that is collected first.
fn rate(writer: &Writer, cases: &mut Cases) {
    let Size { word, burst, .. } = writer.size;
    for bytes in [word, 2 * word + 1, 500] {
        let job = |i: u32| Job {
            command: Command { addr: i * 512, bytes },
            packet: vec![i as u8; bytes as usize],
        };
        let list: Vec<Job> = (0..40).map(job).collect();
        let words = bytes.div_ceil(word);
        // The last burst is collected while the one before it is written. At most that last burst is left then.
        let limit = u64::from(40 * words + burst.min(words)) + 3;
        let params = format!("{} commands of {bytes} bytes", writer.dut.name);
        cases.case(Start::Zero, params, |run| {
            let cycles = exercise(run, writer, &list, Hardship::NONE, None)?;
            Rule::Rate.holds(cycles <= limit, || {
                format!("{} words took {cycles} cycles, more than {limit}", 40 * words)
            })
        });
    }
}

/// All checks.
pub fn checks(writer: &Writer, cases: &mut Cases) {
    content(writer, cases);
    rate(writer, cases);
}

#[test]
fn content_under_hardship() {
    pass(this_test!(), |cases| {
        content(&usual::<DmaWrite>(), cases);
        content(&writer::<DmaWriteB1O1>(1, 1), cases);
        content(&writer::<DmaWrite64B16O3>(16, 3), cases);
    });
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| {
        rate(&usual::<DmaWrite>(), cases);
        rate(&writer::<DmaWrite64B16O3>(16, 3), cases);
    });
}

#[test]
fn any_jobs() {
    let writer = usual::<DmaWrite>();
    // A command, and the packet's length where it differs from the command's.
    let command = (0..(SIZE - 2048) / 4, 1..1000u32).prop_map(|(word, bytes)| Command { addr: word * 4, bytes });
    let job = (command, proptest::option::of(1..1000u32));
    let strategy = (proptest::collection::vec(job, 1..12), 0..16usize);
    property::holds(
        this_test!(),
        "common/regressions/dma_write.txt",
        40,
        strategy,
        |case, (list, kind), probe| {
            let run = Run::of(case, Start::Random1, probe);
            let mut rng = run.rng("packets");
            let job = |&(command, other): &(Command, Option<u32>)| {
                let mut packet = vec![0; other.unwrap_or(command.bytes) as usize];
                rng.fill(&mut packet);
                Job { command, packet }
            };
            let jobs: Vec<Job> = list.iter().map(job).collect();
            let hardship = Hardship::all().nth(*kind).expect("16 kinds");
            exercise(&run, &writer, &jobs, hardship, None).map(drop)
        },
    );
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A byte beyond the range may also be one with a bus error.
            (Memory, &[Code], &|cases| checks(&usual::<TwinDmaWriteBeyond>(), cases)),
            (Memory, &[Code], &|cases| checks(&usual::<TwinDmaWriteKeeps>(), cases)),
            (Code, &[], &|cases| checks(&usual::<TwinDmaWriteCode>(), cases)),
            (Code, &[], &|cases| checks(&usual::<TwinDmaWriteForgets>(), cases)),
            // It does not wait for the last response, so it neither counts it nor knows its bus error, and leaves it.
            (Early, &[Outstanding, Code, Hang], &|cases| {
                checks(&usual::<TwinDmaWriteEarly>(), cases)
            }),
            (Bursts, &[], &|cases| checks(&usual::<TwinDmaWriteBursts>(), cases)),
            (Outstanding, &[], &|cases| {
                checks(&usual::<TwinDmaWriteOutstanding>(), cases)
            }),
            (Path, &[], &|cases| checks(&usual::<TwinDmaWritePath>(), cases)),
            (Protocol, &[], &|cases| checks(&usual::<TwinDmaWriteWithdraws>(), cases)),
            (Rate, &[], &|cases| checks(&usual::<TwinDmaWriteBubble>(), cases)),
            (Hang, &[], &|cases| checks(&usual::<TwinDmaWriteHang>(), cases)),
        ],
    );
}
