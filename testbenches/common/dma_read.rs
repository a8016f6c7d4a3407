//! DMA read: cut as it must be, every word in its place, errors contained, no cycle lost.

use std::collections::VecDeque;
use std::mem;

use proptest::prelude::*;
use support::{property, this_test};
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, read_ports, rules, set_read_ports};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent};
use tsunagi::harness::stream::{Sink, Source};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

use crate::dma::{self, Bursts, Command, Environment, Hardship, Progress, SIZE, Size, commands, cut, under_hardship};

rules!(
    /// Every word of every command, in order.
    Content
    /// Bursts are cut as they must be.
    Bursts
    /// The memory's data never wait: their room was reserved.
    Room
    /// A limited number of bursts await data.
    Outstanding
    /// `next_o`: of all earlier commands, a burst at most is not yet requested. It tells so at once.
    Next
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if no other party pauses.
    Rate
    /// Every word that is asked for comes.
    Hang
);

/// A word of the output stream.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    data: u64,
    keep: u8,
    last: bool,
    err: bool,
}

struct In {
    command: Option<Command>,
    mem: MemPortsOut,
    word_ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    command_ready: bool,
    next: bool,
    busy: bool,
    mem: MemPortsIn,
    word: Option<Word>,
}

fn set(dut: &impl DmaReadPorts, inputs: &In) {
    let Command { addr, bytes } = inputs.command.unwrap_or(Command {
        addr: 0xdead,
        bytes: 0xbeef,
    });
    dut.cmd_valid_i().set_bool(inputs.command.is_some());
    dut.cmd_addr_i().set(addr.into());
    dut.cmd_bytes_i().set(bytes.into());
    set_read_ports!(dut, &inputs.mem);
    dut.out_ready_i().set_bool(inputs.word_ready);
}

fn seen(dut: &impl DmaReadPorts) -> Out {
    Out {
        command_ready: dut.cmd_ready_o().is_set(),
        next: dut.next_o().is_set(),
        busy: dut.busy_o().is_set(),
        mem: read_ports!(dut),
        word: dut.out_valid_o().is_set().then(|| Word {
            data: dut.out_data_o().get(),
            keep: dut.out_keep_o().get() as u8,
            last: dut.out_last_o().is_set(),
            err: dut.out_err_o().is_set(),
        }),
    }
}

/// A unit under test.
pub struct Reader {
    dut: Dut<In, Out>,
    size: Size,
}

/// A unit with bursts of at most so many words, and so many of them outstanding.
fn reader<U: DmaReadUnit + 'static>(burst: u32, outstanding: usize) -> Reader {
    let dut = Dut::of::<U>(set, seen);
    let word = dut.width("out_data_o") as u32 / 8;
    Reader {
        dut,
        size: Size {
            word,
            burst,
            outstanding,
        },
    }
}

/// A unit with the sizes of the machine.
pub fn usual<U: DmaReadUnit + 'static>() -> Reader {
    reader::<U>(8, 4)
}

/// The words of a command. A word with a bus error is the last; its data do not count.
fn words(memory: &Memory, command: Command, word: u32) -> Vec<Word> {
    let count = command.bytes.div_ceil(word);
    let mut words = Vec::new();
    for i in 0..count {
        let addr = Addr(command.addr + i * word);
        let last = i + 1 == count;
        let keep = if last { (command.bytes - 1) % word } else { word - 1 } as u8;
        let mut bytes = [0; 8];
        bytes[..word as usize].copy_from_slice(memory.read(addr, word as usize).expect("commands stay in the memory"));
        let err = !memory.bus_ok(addr, word);
        words.push(Word {
            data: if err { 0 } else { u64::from_le_bytes(bytes) },
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

struct Traffic {
    size: Size,
    memory: Memory,
    agent: MemoryAgent,
    commands: Source<Command>,
    words: Sink<Word>,
    due: VecDeque<Word>,
    bursts: Bursts,
    /// Bursts with all their data.
    ended: usize,
    /// One burst at most was to be asked for in the cycle before, and `next_o` was low.
    late: bool,
    /// Cycles of the first and of the last word.
    first: Option<u64>,
    last: u64,
}

impl Traffic {
    fn new(run: &Run, size: Size, commands: &[Command], hardship: Hardship) -> Traffic {
        let gaps = hardship.gaps;
        Traffic {
            size,
            memory: hardship.filled(&mut run.rng("memory")),
            agent: hardship.agent(run.rng("agent").bits(), size.word),
            commands: Source::new(commands.iter().copied(), run.pacer(gaps.at_source(), "source")),
            words: Sink::new(run.pacer(gaps.at_sink(), "sink")),
            due: VecDeque::new(),
            bursts: Bursts::new(),
            ended: 0,
            late: false,
            first: None,
            last: 0,
        }
    }

    fn next(&mut self, seen: &Out) -> Result<(), Fault> {
        let due = self.bursts.due.len();
        let left = due - usize::from(seen.mem.rd_cmd_valid && due > 0);
        // A new command is in the queue for one cycle.
        let late = !seen.next && left <= 1;
        let again = mem::replace(&mut self.late, late) && late;
        let right = if seen.next { left <= 1 } else { due > 0 && !again };
        Rule::Next.holds(right, || format!("{} with {left} bursts to be asked for", seen.next))
    }

    fn word(&mut self, cycle: u64, got: &Word) -> Result<(), Fault> {
        self.first.get_or_insert(cycle);
        self.last = cycle;
        let want = self.due.pop_front();
        let right = want.as_ref().is_some_and(|want| {
            let data = if want.err { 0 } else { got.data };
            Word { data, ..got.clone() } == *want
        });
        Rule::Content.holds(right, || format!("got {got:x?}, not {want:x?}"))
    }

    /// Cycles from the first word to the last.
    fn cycles(&self) -> u64 {
        self.last - self.first.unwrap_or(self.last) + 1
    }
}

impl Environment for Traffic {
    type In = In;
    type Out = Out;

    fn inputs(&mut self) -> In {
        In {
            command: self.commands.offer().copied(),
            mem: *self.agent.ports(),
            word_ready: self.words.ready(),
        }
    }

    fn reset(&mut self) {
        (self.due, self.bursts, self.ended) = (VecDeque::new(), Bursts::new(), 0);
        self.late = false;
        self.commands.reset();
        self.words.reset();
        self.agent.reset();
    }

    fn step(&mut self, cycle: u64, seen: Out) -> Result<Progress, Fault> {
        self.next(&seen)?;
        let word = self.words.step(seen.word)?;
        if let Some(word) = &word {
            self.word(cycle, word)?;
        }
        let data = *self.agent.ports();
        Rule::Room.holds(!data.rd_data_valid || seen.mem.rd_data_ready, || {
            "the memory's data wait for the engine".into()
        })?;
        self.ended += usize::from(data.rd_data_valid && data.rd_data_last);
        let mut events = Vec::new();
        self.agent
            .step(Cycle(cycle), &mut self.memory, &seen.mem, |event| events.push(event));
        let command = self.commands.step(seen.command_ready);
        if let Some(command) = command {
            let Size { word, burst, .. } = self.size;
            self.due.extend(words(&self.memory, command, word));
            self.bursts
                .due
                .extend(cut(command.addr, command.bytes.div_ceil(word), word, burst));
        }
        for (got, want) in events.iter().filter_map(|event| self.bursts.take(event)) {
            Rule::Bursts.holds(want == Some(got), || format!("{got:x?}, not {want:x?}"))?;
        }
        let open = self.bursts.seen - self.ended;
        Rule::Outstanding.holds(open <= self.size.outstanding, || format!("{open} bursts await data"))?;
        let all_bursts = self.commands.is_empty() && self.bursts.due.is_empty();
        if all_bursts && self.due.is_empty() && !seen.busy && !self.agent.has_taken() {
            return Ok(Progress::Done);
        }
        let moved = word.is_some() || command.is_some() || !events.is_empty();
        Ok(if moved { Progress::Moved } else { Progress::Waiting })
    }

    fn left(&self) -> String {
        let (commands, bursts, words) = (self.commands.len(), self.bursts.due.len(), self.due.len());
        let memory = self.agent.report().join("; ");
        format!("{commands} commands, {bursts} bursts, {words} words left; {memory}")
    }
}

fn content(reader: &Reader, cases: &mut Cases) {
    under_hardship(cases, reader.dut.name, |run, hardship, reset| {
        let list = commands(&mut run.rng("commands"), 40, reader.size.word);
        let mut traffic = Traffic::new(run, reader.size, &list, hardship);
        dma::exercise(run, &reader.dut, &mut traffic, reset)
    });
}

/// With an ideal memory and no gaps, words come one per cycle, also between commands of any length.
fn rate(reader: &Reader, cases: &mut Cases) {
    let word = reader.size.word;
    for bytes in [word, 2 * word + 1, 500] {
        let list: Vec<Command> = (0..40).map(|i| Command { addr: i * 512, bytes }).collect();
        let words = 40 * u64::from(bytes.div_ceil(word));
        let params = format!("{} commands of {bytes} bytes", reader.dut.name);
        cases.case(Start::Zero, params, |run| {
            let mut traffic = Traffic::new(run, reader.size, &list, Hardship::NONE);
            dma::exercise(run, &reader.dut, &mut traffic, None)?;
            let cycles = traffic.cycles();
            Rule::Rate.holds(cycles == words, || format!("{words} words took {cycles} cycles"))
        });
    }
}

/// All checks.
pub fn checks(reader: &Reader, cases: &mut Cases) {
    content(reader, cases);
    rate(reader, cases);
}

#[test]
fn content_under_hardship() {
    pass(this_test!(), |cases| {
        content(&usual::<DmaRead>(), cases);
        content(&reader::<DmaReadB1O1>(1, 1), cases);
        content(&reader::<DmaRead64B16O3>(16, 3), cases);
    });
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| {
        rate(&usual::<DmaRead>(), cases);
        rate(&reader::<DmaRead64B16O3>(16, 3), cases);
    });
}

#[test]
fn any_commands() {
    let reader = usual::<DmaRead>();
    let command = (0..(SIZE - 2048) / 4, 1..2000u32).prop_map(|(word, bytes)| Command { addr: word * 4, bytes });
    let strategy = (proptest::collection::vec(command, 1..12), 0..16usize);
    property::holds(
        this_test!(),
        "common/regressions/dma_read.txt",
        40,
        strategy,
        |case, (list, kind), probe| {
            let run = Run::of(case, Start::Random1, probe);
            let hardship = Hardship::all().nth(*kind).expect("16 kinds");
            let mut traffic = Traffic::new(&run, reader.size, list, hardship);
            dma::exercise(&run, &reader.dut, &mut traffic, None)
        },
    );
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &|cases| checks(&usual::<TwinDmaReadError>(), cases)),
            // `next_o` is of the unit's own bursts.
            (Bursts, &[Next], &|cases| checks(&usual::<TwinDmaReadAlign>(), cases)),
            (Room, &[], &|cases| checks(&usual::<TwinDmaReadRoom>(), cases)),
            (Outstanding, &[], &|cases| {
                checks(&usual::<TwinDmaReadOutstanding>(), cases)
            }),
            (Path, &[], &|cases| checks(&usual::<TwinDmaReadPath>(), cases)),
            // The line is in each of its FIFOs, also in the one that reserves room.
            (Protocol, &[Room, Rate], &|cases| {
                checks(&usual::<TwinDmaReadWithdraws>(), cases)
            }),
            (Rate, &[], &|cases| checks(&usual::<TwinDmaReadBubble>(), cases)),
            (Next, &[], &|cases| checks(&usual::<TwinDmaReadNext>(), cases)),
            // The last burst does not let the next command come.
            (Next, &[], &|cases| checks(&usual::<TwinDmaReadLate>(), cases)),
            (Hang, &[], &|cases| checks(&usual::<TwinDmaReadHang>(), cases)),
        ],
    );
}
