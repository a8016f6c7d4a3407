//! Units between a memory and its clients: `mem_read_mux` and `mem_write_mux` have several, `mem_read_wide` and
//! `mem_write_wide` one with narrower words. Each client gets its own answers in order, the memory gets the commands
//! and bytes of the clients only, all clients are served in turn, and no cycle is lost.

mod ports;

use std::collections::VecDeque;

use proptest::prelude::*;
use support::{property, this_test};
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Sink, Source};
use tsunagi::{Addr, Cycle};

use crate::dma::{Burst, Hardship, SIZE, Slowness};
pub use ports::{read_mux, read_wide, write_mux, write_wide};

rules!(
    /// Each client gets the words it asked for, or a response after the memory's, in order.
    Answers
    /// Written bytes go to their place, and no others.
    Memory
    /// The memory gets the bursts of each client, in the order of that client.
    Bursts
    /// A client that waits is passed over as often as the header says, at most.
    Fair
    /// No more bursts await the memory's last word or response than the parameter says.
    Outstanding
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// `busy_o` is on while a burst is inside or outstanding.
    Rest
    /// A word per cycle, if no other party pauses.
    Rate
    /// Everything is taken and answered.
    Hang
);

/// {first byte, words - 1}.
type Command = (u32, u8);

/// A word to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    data: u64,
    strb: u8,
    last: bool,
}

/// An answer to a client: a word that was read, with data unless it has an error; or the response of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Read { data: Option<u64>, last: bool },
    Written { err: bool },
}

/// The outputs of a client.
#[derive(Clone, Copy, Debug)]
struct ClientIn {
    command: Option<Command>,
    word: Option<Word>,
    /// Ready for an answer.
    ready: bool,
}

/// The inputs of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClientOut {
    cmd_ready: bool,
    word_ready: bool,
    answer: Option<Answer>,
}

#[derive(Debug)]
struct In {
    clients: Vec<ClientIn>,
    mem: MemPortsOut,
}

#[derive(Debug, PartialEq)]
struct Out {
    clients: Vec<ClientOut>,
    mem: MemPortsIn,
    busy: bool,
}

/// A unit under test.
pub struct Adapter {
    dut: Dut<In, Out>,
    writes: bool,
    clients: usize,
    /// Bytes of a word of a client, and of the memory.
    word: u32,
    bus: u32,
    /// Bursts that may await the memory.
    outstanding: usize,
}

impl Adapter {
    /// The first byte of a client: only it reads and writes the bytes from there to the next client's.
    fn region(&self, client: usize) -> u32 {
        let each = SIZE / self.clients as u32 / 64 * 64;
        each * client as u32
    }

    /// The client with this byte.
    fn owner(&self, addr: Addr) -> usize {
        ((addr.0 / self.region(1)) as usize).min(self.clients - 1)
    }

    /// Random bursts of a client, half of them of one word.
    fn commands(&self, rng: &mut Rng, client: usize, count: usize) -> Vec<Command> {
        let room = u64::from(self.region(1) / self.word);
        let one = |_| {
            let len = if rng.chance(1, 2) { 0 } else { rng.below(20) };
            let word = rng.below(room - len) as u32;
            (self.region(client) + word * self.word, len as u8)
        };
        (0..count).map(one).collect()
    }

    /// The words of a burst that writes.
    fn words(&self, rng: &mut Rng, (_, len): Command) -> Vec<Word> {
        let one = |i| Word {
            data: rng.bits() >> (64 - 8 * self.word),
            strb: if rng.chance(1, 2) { 0xff } else { rng.bits() as u8 } >> (8 - self.word),
            last: i == len,
        };
        (0..=len).map(one).collect()
    }

    /// The burst at the memory for a client's.
    fn burst(&self, (addr, len): Command) -> Burst {
        let first = addr / self.bus * self.bus;
        let end = (addr + (u32::from(len) + 1) * self.word).next_multiple_of(self.bus);
        Burst {
            addr: first,
            bytes: end - first,
        }
    }

    /// The answers to a read.
    fn read(&self, memory: &Memory, (addr, len): Command) -> Vec<Answer> {
        let one = |i: u8| {
            let at = addr + u32::from(i) * self.word;
            let there = memory.read(Addr(at), self.word as usize);
            let mut bytes = [0; 8];
            bytes[..self.word as usize].copy_from_slice(there.expect("clients stay in the memory"));
            let good = memory.bus_ok(Addr(at / self.bus * self.bus), self.bus);
            Answer::Read {
                data: good.then(|| u64::from_le_bytes(bytes)),
                last: i == len,
            }
        };
        (0..=len).map(one).collect()
    }

    /// Writes a burst, beat by beat, where the bus allows it. The answer to the client.
    fn write(&self, memory: &mut Memory, (addr, _): Command, words: &[Word]) -> Answer {
        let bytes_of = |(at, word): (u32, &Word)| {
            let Word { data, strb, .. } = *word;
            let lanes = (0..self.word).filter(move |lane| strb >> lane & 1 == 1);
            lanes.map(move |lane| (at + lane, data.to_le_bytes()[lane as usize]))
        };
        let at = (addr..).step_by(self.word as usize);
        let bytes: Vec<(u32, u8)> = at.zip(words).flat_map(bytes_of).collect();
        let mut err = false;
        for beat in bytes.chunk_by(|a, b| a.0 / self.bus == b.0 / self.bus) {
            let (first, last) = (beat[0].0, beat[beat.len() - 1].0);
            if memory.bus_ok(Addr(first), last - first + 1) {
                for (at, byte) in beat {
                    assert!(memory.write(Addr(*at), &[*byte]), "clients stay in the memory");
                }
            } else {
                err = true;
            }
        }
        Answer::Written { err }
    }
}

/// The commands of each client in a run, and the conditions.
#[derive(Clone, Copy, Debug)]
struct Plan<'a> {
    commands: &'a [Vec<Command>],
    hardship: Hardship,
    /// The cycle of a reset of everything, which loses the open bursts.
    reset: Option<u64>,
}

impl<'a> Plan<'a> {
    /// No gaps, and a memory that answers at once.
    fn easy(commands: &'a [Vec<Command>]) -> Plan<'a> {
        Plan {
            commands,
            hardship: Hardship {
                gaps: Gaps::None,
                memory: Slowness::Ideal,
                faults: false,
            },
            reset: None,
        }
    }
}

struct Client {
    commands: Source<Command>,
    words: Source<Word>,
    answers: Sink<Answer>,
    /// Commands that the unit has taken and the memory has not.
    sent: VecDeque<Command>,
    /// Whether a command waits for the memory, and the bursts of others since then.
    waits: bool,
    passed: usize,
    /// Bursts that the memory has not written.
    writing: VecDeque<(Command, Vec<Word>)>,
    /// Bursts at the memory or on their way back, and the answers that may come.
    open: usize,
    due: VecDeque<Answer>,
}

impl Client {
    fn new(run: &Run, gaps: Gaps, number: usize, commands: &[Command]) -> Client {
        let pacer = |pauses, what| run.pacer(pauses, &format!("{what} {number}"));
        Client {
            commands: Source::new(commands.iter().copied(), pacer(gaps.at_source(), "commands")),
            words: Source::new([], pacer(gaps.at_source(), "words")),
            answers: Sink::new(pacer(gaps.at_sink(), "answers")),
            sent: VecDeque::new(),
            waits: false,
            passed: 0,
            writing: VecDeque::new(),
            open: 0,
            due: VecDeque::new(),
        }
    }

    fn drive(&mut self) -> ClientIn {
        let command = self.commands.offer().copied();
        self.waits = command.is_some();
        ClientIn {
            command,
            word: self.words.offer().copied(),
            ready: self.answers.ready(),
        }
    }

    fn reset(&mut self) {
        self.commands.reset();
        self.words.reset();
        self.words.stop();
        self.answers.reset();
        self.sent.clear();
        self.writing.clear();
        self.due.clear();
        (self.passed, self.open) = (0, 0);
    }

    /// The answer that was taken, if one was.
    fn answer(&mut self, offered: Option<Answer>) -> Result<Option<Answer>, Fault> {
        let taken = self.answers.step(offered)?;
        if let Some(got) = taken {
            let want = self.due.pop_front();
            Rule::Answers.holds(want == Some(got), || format!("got {got:x?}, not {want:x?}"))?;
            if !matches!(got, Answer::Read { last: false, .. }) {
                self.open = self.open.saturating_sub(1);
            }
        }
        Ok(taken)
    }

    fn is_done(&self) -> bool {
        let sent = self.commands.is_empty() && self.words.is_empty() && self.sent.is_empty();
        sent && self.open == 0 && self.due.is_empty()
    }
}

/// The first cycle in which each stream has an offer, and the first and last cycle in which a client's word passes.
#[derive(Default)]
struct Times {
    first: Option<u64>,
    last: u64,
    command_in: Option<u64>,
    command_out: Option<u64>,
    word_out: Option<u64>,
    answer_in: Option<u64>,
    answer_out: Option<u64>,
}

impl Times {
    /// A client's word passed.
    fn word(&mut self, cycle: u64) {
        self.first.get_or_insert(cycle);
        self.last = cycle;
    }

    fn offers(&mut self, cycle: u64, inputs: &In, seen: &Out) {
        let (mem, to) = (&seen.mem, &inputs.mem);
        let marks = [
            (
                &mut self.command_in,
                inputs.clients.iter().any(|client| client.command.is_some()),
            ),
            (&mut self.command_out, mem.rd_cmd_valid || mem.wr_cmd_valid),
            (&mut self.word_out, mem.wr_data_valid),
            (&mut self.answer_in, to.rd_data_valid || to.wr_rsp_valid),
            (
                &mut self.answer_out,
                seen.clients.iter().any(|client| client.answer.is_some()),
            ),
        ];
        for (mark, _) in marks.into_iter().filter(|(_, offered)| *offered) {
            mark.get_or_insert(cycle);
        }
    }
}

/// Clients and memory around the unit, in lock step with the golden memory.
struct Exercise<'a> {
    adapter: &'a Adapter,
    memory: Memory,
    golden: Memory,
    agent: MemoryAgent,
    /// The chance of written words.
    data: Rng,
    clients: Vec<Client>,
    asked: Monitor<Command>,
    written: Monitor<(u64, u8, bool)>,
    /// Bursts that await the memory.
    outstanding: usize,
    times: Times,
}

impl<'a> Exercise<'a> {
    fn new(run: &Run, adapter: &'a Adapter, plan: &Plan) -> Exercise<'a> {
        let memory = plan.hardship.filled(&mut run.rng("memory"));
        let clients = plan.commands.iter().enumerate();
        Exercise {
            adapter,
            golden: memory.clone(),
            memory,
            agent: plan.hardship.agent(run.rng("agent").bits(), adapter.bus),
            data: run.rng("data"),
            clients: clients
                .map(|(i, list)| Client::new(run, plan.hardship.gaps, i, list))
                .collect(),
            asked: Monitor::default(),
            written: Monitor::default(),
            outstanding: 0,
            times: Times::default(),
        }
    }

    fn drive(&mut self) -> In {
        In {
            clients: self.clients.iter_mut().map(Client::drive).collect(),
            mem: *self.agent.ports(),
        }
    }

    /// Any part of the open writes may be in memory.
    fn reset(&mut self) {
        self.clients.iter_mut().for_each(Client::reset);
        self.golden = self.memory.clone();
        self.outstanding = 0;
        self.asked.reset();
        self.written.reset();
        self.agent.reset();
    }

    fn edge(&mut self, cycle: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let inside = self
            .clients
            .iter()
            .any(|client| !client.sent.is_empty() || client.open > 0);
        Rule::Rest.holds(seen.busy || !inside, || {
            "not busy with a burst inside or outstanding".into()
        })?;
        self.times.offers(cycle, inputs, seen);
        for (client, seen) in self.clients.iter_mut().zip(&seen.clients) {
            if client.answer(seen.answer)?.is_some() && !self.adapter.writes {
                self.times.word(cycle);
            }
        }
        self.offers_hold(&inputs.mem, &seen.mem)?;
        let last = inputs.mem.rd_data_valid && seen.mem.rd_data_ready && inputs.mem.rd_data_last;
        self.outstanding -= usize::from(last);
        let mut events = Vec::new();
        self.agent
            .step(Cycle(cycle), &mut self.memory, &seen.mem, |event| events.push(event));
        for (client, seen) in self.clients.iter_mut().zip(&seen.clients) {
            if let Some(command) = client.commands.step(seen.cmd_ready) {
                client.sent.push_back(command);
                if self.adapter.writes {
                    let words = self.adapter.words(&mut self.data, command);
                    words.iter().for_each(|word| client.words.push(*word));
                    client.writing.push_back((command, words));
                }
            }
            if client.words.step(seen.word_ready).is_some() {
                self.times.word(cycle);
            }
            client.waits |= !client.sent.is_empty();
        }
        events.iter().try_for_each(|event| self.event(event))?;
        let open = self.outstanding;
        Rule::Outstanding.holds(open <= self.adapter.outstanding, || {
            format!("{open} bursts await the memory")
        })
    }

    /// The offers to the memory hold.
    fn offers_hold(&mut self, to: &MemPortsOut, mem: &MemPortsIn) -> Result<(), Fault> {
        let (valid, command, ready) = if self.adapter.writes {
            (mem.wr_cmd_valid, (mem.wr_cmd_addr, mem.wr_cmd_len), to.wr_cmd_ready)
        } else {
            (mem.rd_cmd_valid, (mem.rd_cmd_addr, mem.rd_cmd_len), to.rd_cmd_ready)
        };
        self.asked.step(valid.then_some(&command), ready)?;
        let word = (mem.wr_data_data, mem.wr_data_strb, mem.wr_data_last);
        Ok(self
            .written
            .step(mem.wr_data_valid.then_some(&word), to.wr_data_ready)?)
    }

    fn event(&mut self, event: &EventKind) -> Result<(), Fault> {
        match *event {
            EventKind::MemRead { addr, bytes } | EventKind::MemWrite { addr, bytes } => {
                let got = Burst { addr: addr.0, bytes };
                self.burst(self.adapter.owner(addr), got)
            }
            EventKind::MemWritten { addr, .. } => {
                self.outstanding -= 1;
                let client = &mut self.clients[self.adapter.owner(addr)];
                if let Some((command, words)) = client.writing.pop_front() {
                    let answer = self.adapter.write(&mut self.golden, command, &words);
                    client.due.push_back(answer);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The memory took a burst of this client.
    fn burst(&mut self, owner: usize, got: Burst) -> Result<(), Fault> {
        let command = self.clients[owner].sent.pop_front();
        let want = command.map(|command| self.adapter.burst(command));
        Rule::Bursts.holds(want == Some(got), || format!("{got:x?}, not {command:x?}"))?;
        for (i, client) in self.clients.iter_mut().enumerate() {
            let passed = if i == owner {
                0
            } else {
                client.passed + usize::from(client.waits)
            };
            client.passed = passed;
            Rule::Fair.holds(passed <= self.adapter.clients + 1, || {
                format!("client {i} waits, and {passed} bursts of others went before it")
            })?;
        }
        self.outstanding += 1;
        let client = &mut self.clients[owner];
        client.open += 1;
        if let Some(command) = command.filter(|_| !self.adapter.writes) {
            client.due.extend(self.adapter.read(&self.golden, command));
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.clients.iter().all(Client::is_done) && !self.agent.has_taken()
    }

    /// Whether the memory is as it should be, at the end.
    fn compare(&self) -> Result<(), Fault> {
        let bytes = |memory: &Memory| memory.read(Addr(0), SIZE as usize).expect("all of it").to_vec();
        let (got, want) = (bytes(&self.memory), bytes(&self.golden));
        let wrong = got.iter().zip(&want).position(|(got, want)| got != want);
        Rule::Memory.holds(wrong.is_none(), || {
            let at = wrong.unwrap_or(0);
            format!("memory at {at:#x} is {:#04x}, not {:#04x}", got[at], want[at])
        })
    }
}

fn exercise(run: &Run, adapter: &Adapter, plan: &Plan) -> Result<Times, Fault> {
    let mut bench = Bench::new(run, &adapter.dut);
    let mut state = Exercise::new(run, adapter, plan);
    let mut idle = 0;
    for cycle in 0..60_000 {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let inputs = state.drive();
        let seen = bench.registered(&inputs, rst)?;
        if rst {
            state.reset();
            continue;
        }
        state.edge(cycle, &inputs, &seen).map_err(|fault| fault.at(cycle))?;
        let done = state.is_done() && !bench.seen().busy;
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            state.compare()?;
            return Ok(state.times);
        }
    }
    let left = state
        .clients
        .iter()
        .map(|client| (client.commands.len(), client.words.len(), client.open));
    let (left, report) = (left.collect::<Vec<_>>(), state.agent.report().join("; "));
    Err(Rule::Hang.broken(format!(
        "commands, words to write, bursts open of each client: {left:?}; {report}"
    )))
}

fn hardships(adapter: &Adapter, cases: &mut Cases) {
    for (i, hardship) in Hardship::all().enumerate() {
        for resets in [false, true] {
            let params = format!("{} {hardship:?} reset {resets}", adapter.dut.name);
            cases.case(Start::ALL[i % 3], params, |run| {
                let list = |client| adapter.commands(&mut run.rng(&format!("commands of {client}")), client, 30);
                let plan = Plan {
                    commands: &(0..adapter.clients).map(list).collect::<Vec<_>>(),
                    hardship,
                    reset: resets.then(|| run.rng("reset").between(20, 250)),
                };
                exercise(run, adapter, &plan).map(drop)
            });
        }
    }
}

/// With an ideal memory and no gaps, words come one per cycle: of one client, of some, of all, and between bursts of
/// any length.
fn rate(adapter: &Adapter, cases: &mut Cases) {
    let all = adapter.clients;
    for (len, many) in [(0, 1), (0, all), (1, 1), (1, 2), (2, all), (7, 1)] {
        let params = format!("{} {many} clients, bursts of {}", adapter.dut.name, len + 1);
        let many = many.min(all);
        let list = |client| {
            let addr = |i| adapter.region(client) + i * (u32::from(len) + 1) * adapter.word;
            let count = if client < many { 60 } else { 0 };
            (0..count).map(|i| (addr(i), len)).collect()
        };
        let commands: Vec<Vec<Command>> = (0..all).map(list).collect();
        let words = 60 * many as u64 * (u64::from(len) + 1);
        cases.case(Start::Zero, params, |run| {
            let times = exercise(run, adapter, &Plan::easy(&commands))?;
            let cycles = times.last - times.first.unwrap_or(times.last) + 1;
            Rule::Rate.holds(cycles == words, || format!("{words} words took {cycles} cycles"))
        });
    }
}

/// All checks.
pub fn checks(adapter: &Adapter, cases: &mut Cases) {
    hardships(adapter, cases);
    rate(adapter, cases);
}

#[test]
fn answers_under_hardship() {
    pass(this_test!(), |cases| {
        hardships(&read_mux::<MemReadMux>(8), cases);
        hardships(&read_mux::<MemReadMux64>(5), cases);
        hardships(&read_mux::<MemReadMuxN3O1>(1), cases);
        hardships(&read_wide::<MemReadWide>(4), cases);
        hardships(&read_wide::<MemReadWide16>(1), cases);
        hardships(&write_mux::<MemWriteMux>(8), cases);
        hardships(&write_mux::<MemWriteMux64>(5), cases);
        hardships(&write_mux::<MemWriteMuxN3O1>(1), cases);
        hardships(&write_wide::<MemWriteWide>(8), cases);
        hardships(&write_wide::<MemWriteWide16>(1), cases);
    });
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| {
        rate(&read_mux::<MemReadMux>(8), cases);
        rate(&read_mux::<MemReadMux64>(5), cases);
        rate(&read_wide::<MemReadWide>(4), cases);
        rate(&write_mux::<MemWriteMux>(8), cases);
        rate(&write_mux::<MemWriteMux64>(5), cases);
        rate(&write_wide::<MemWriteWide>(8), cases);
    });
}

/// One word of one client: cycles from offer to offer, as the headers of the RTL say.
fn latency(adapter: &Adapter, client: usize, to_command: u64, to_word: Option<u64>, cases: &mut Cases) {
    let mut commands = vec![Vec::new(); adapter.clients];
    commands[client].push((adapter.region(client), 0));
    cases.case(Start::Zero, format!("{} client {client}", adapter.dut.name), |run| {
        let times = exercise(run, adapter, &Plan::easy(&commands))?;
        let between = |from: Option<u64>, to: Option<u64>| Some(to? - from?);
        assert_eq!(between(times.command_in, times.command_out), Some(to_command));
        assert_eq!(between(times.command_out, times.word_out), to_word);
        assert_eq!(between(times.answer_in, times.answer_out), Some(1));
        Ok(())
    });
}

#[test]
fn latencies() {
    pass(this_test!(), |cases| {
        for (client, to_command) in [(0, 1), (1, 2), (3, 2)] {
            latency(&read_mux::<MemReadMux>(8), client, to_command, None, cases);
            latency(&write_mux::<MemWriteMux>(8), client, to_command, Some(3), cases);
        }
        latency(&read_wide::<MemReadWide>(4), 0, 1, None, cases);
        latency(&write_wide::<MemWriteWide>(8), 0, 1, Some(2), cases);
    });
}

/// Bursts of each client, up to the longest, within its bytes.
fn any_bursts(run: &Run, adapter: &Adapter, lists: &[Vec<Command>], hardship: Hardship) -> Result<(), Fault> {
    let own = |(client, list): (usize, &Vec<Command>)| {
        let own = |(word, len): &Command| (adapter.region(client) + word * adapter.word, *len);
        list.iter().map(own).collect()
    };
    let plan = Plan {
        commands: &lists
            .iter()
            .take(adapter.clients)
            .enumerate()
            .map(own)
            .collect::<Vec<_>>(),
        hardship,
        reset: None,
    };
    exercise(run, adapter, &plan).map(drop)
}

#[test]
fn any_commands() {
    let list = proptest::collection::vec((0..1700u32, any::<u8>()), 0..6);
    let strategy = (proptest::collection::vec(list, 4), 0..16usize);
    let adapters = [
        read_mux::<MemReadMux>(8),
        read_wide::<MemReadWide>(4),
        write_mux::<MemWriteMux>(8),
        write_wide::<MemWriteWide>(8),
    ];
    property::holds(
        this_test!(),
        "common/regressions/mem_clients.txt",
        40,
        strategy,
        |case, (lists, kind), probe| {
            let run = Run::of(case, Start::Random1, probe);
            let hardship = Hardship::all().nth(*kind).expect("16 kinds");
            let mut adapters = adapters.iter();
            adapters.try_for_each(|adapter| any_bursts(&run, adapter, lists, hardship))
        },
    );
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    fn reads<U: MemReadMuxUnit + 'static>(cases: &mut Cases) {
        checks(&read_mux::<U>(8), cases);
    }
    fn reads_wide<U: MemReadWideUnit + 'static>(cases: &mut Cases) {
        checks(&read_wide::<U>(4), cases);
    }
    fn writes<U: MemWriteMuxUnit + 'static>(cases: &mut Cases) {
        checks(&write_mux::<U>(8), cases);
    }
    fn writes_wide<U: MemWriteWideUnit + 'static>(cases: &mut Cases) {
        checks(&write_wide::<U>(8), cases);
    }
    each_is_caught(
        this_test!(),
        &[
            (Answers, &[], &reads::<TwinMemReadMuxError>),
            (Answers, &[], &reads_wide::<TwinMemReadWideLane>),
            // A client without its answer waits for ever; another may see one vanish.
            (Answers, &[Protocol, Rest, Hang], &writes::<TwinMemWriteMuxMisrouted>),
            // A byte of another client may be one with a bus error.
            (Memory, &[Answers], &writes::<TwinMemWriteMuxOthers>),
            (Memory, &[Answers], &writes_wide::<TwinMemWriteWideStrobes>),
            // Other bursts have other words.
            (Bursts, &[Answers], &reads::<TwinMemReadMuxAddress>),
            (Bursts, &[Answers, Hang], &reads_wide::<TwinMemReadWideBeats>),
            // The words of the last client come after a pause.
            (Fair, &[Rate], &reads::<TwinMemReadMuxFair>),
            (Outstanding, &[], &reads::<TwinMemReadMuxOutstanding>),
            (Path, &[], &reads::<TwinMemReadMuxPath>),
            (Protocol, &[Answers], &reads_wide::<TwinMemReadWideChanges>),
            (Rest, &[], &reads::<TwinMemReadMuxRests>),
            (Rest, &[], &writes::<TwinMemWriteMuxRests>),
            (Rest, &[], &reads_wide::<TwinMemReadWideRests>),
            (Rate, &[], &writes_wide::<TwinMemWriteWideBubble>),
            // The first client that is served is served alone.
            (Hang, &[Rate], &reads::<TwinMemReadMuxHang>),
        ],
    );
}
