//! What stands between a memory and its clients, several of them or one with narrower words: every client has its own answers in order, the
//! memory sees the clients' commands and bytes and nothing else, all are served in turn, no cycle is lost.

use std::collections::VecDeque;

use proptest::prelude::*;
use testbenches::name;
use testbenches::rtl::*;
use tsunagi::Addr;
use tsunagi::Cycle;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use verilated::Unit;

use crate::bench::{Each, PERIOD, Start, holds, must_pass, rules};
use crate::dma::{Burst, Hardship, SIZE, Slowness};
use support::{property, this_test};

rules!(
    /// Every client has the words it asked for, or the response to what it wrote once the memory has given it, in order.
    Answers
    /// Written bytes land where they should, and no others.
    Memory
    /// The memory is given each client's bursts, in that client's order.
    Bursts
    /// Of the clients that wait, none is passed over for longer than said.
    Fair
    /// No more bursts than this await the memory's last word, or its response.
    Outstanding
    /// No output follows an input within the cycle, else the bench does not see what the unit sees.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// `busy` while there is anything to do.
    Rest
    /// A word per cycle, if nobody else pauses.
    Rate
    /// Everything is taken and answered.
    Hang
);

/// {first byte, words - 1}.
pub type Command = (u32, u8);

/// A word to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    data: u64,
    strb: u8,
    last: bool,
}

/// A word that was read, without its data if it has an error; or the response to a burst that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Read { data: Option<u64>, last: bool },
    Written { err: bool },
}

/// What a client sees before an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    cmd_ready: bool,
    word_ready: bool,
    answer: Option<Answer>,
}

pub trait Ports: Unit {
    const WRITES: bool;
    const CLIENTS: usize;
    /// Bytes of a client's word, and of the memory's.
    const WORD: u32;
    const BUS: u32;
    const OUTSTANDING: usize;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set_command(&self, client: usize, cmd: Option<&Command>);
    /// What a client writes, and whether it is ready for an answer.
    fn set_client(&self, client: usize, word: Option<&Word>, ready: bool);
    fn set_memory(&self, mem: &MemPortsOut);
    fn client(&self, client: usize) -> Seen;
    fn memory(&self) -> MemPortsIn;
    fn busy(&self) -> bool;

    fn seen(&self) -> (Vec<Seen>, MemPortsIn, bool) {
        let clients = (0..Self::CLIENTS).map(|client| self.client(client));
        (clients.collect(), self.memory(), self.busy())
    }
}

/// What the ports of both kinds have in common.
macro_rules! common {
    ($clients:expr, $word:expr, $bus:expr, $outstanding:expr) => {
        const CLIENTS: usize = $clients;
        const WORD: u32 = $word;
        const BUS: u32 = $bus;
        const OUTSTANDING: usize = $outstanding;

        fn set_clk(&self, clk: bool, rst: bool) {
            self.clk_i.set_bool(clk);
            self.rst_i.set_bool(rst);
        }

        fn set_command(&self, client: usize, cmd: Option<&Command>) {
            let &(addr, len) = cmd.unwrap_or(&(0xdead, 0xbe));
            self.cmd_valid_i.set_bits(client, 1, cmd.is_some().into());
            self.cmd_addr_i.set_bits(32 * client, 32, addr.into());
            self.cmd_len_i.set_bits(8 * client, 8, len.into());
        }

        fn busy(&self) -> bool {
            self.busy_o.is_set()
        }
    };
}

macro_rules! reads {
    ($($unit:ident: $clients:expr, $word:expr, $bus:expr, $outstanding:expr;)+) => {$(
        impl Ports for $unit {
            const WRITES: bool = false;
            common!($clients, $word, $bus, $outstanding);

            fn set_client(&self, client: usize, _: Option<&Word>, ready: bool) {
                self.data_ready_i.set_bits(client, 1, ready.into());
            }

            fn set_memory(&self, mem: &MemPortsOut) {
                testbenches::set_mem_read_ports!(self, mem);
            }

            fn client(&self, client: usize) -> Seen {
                let answer = self.data_valid_o.bit(client).then(|| Answer::Read {
                    data: (!self.data_err_o.is_set()).then(|| self.data_data_o.get().into()),
                    last: self.data_last_o.is_set(),
                });
                Seen {
                    cmd_ready: self.cmd_ready_o.bit(client),
                    word_ready: false,
                    answer,
                }
            }

            fn memory(&self) -> MemPortsIn {
                testbenches::mem_read_ports!(self)
            }
        }
    )+};
}

macro_rules! writes {
    ($($unit:ident: $clients:expr, $word:expr, $bus:expr, $outstanding:expr;)+) => {$(
        impl Ports for $unit {
            const WRITES: bool = true;
            common!($clients, $word, $bus, $outstanding);

            fn set_client(&self, client: usize, word: Option<&Word>, ready: bool) {
                let bytes = $word as usize;
                let Word { data, strb, last } = *word.unwrap_or(&Word { data: 0xdead, strb: 1, last: true });
                self.data_valid_i.set_bits(client, 1, word.is_some().into());
                self.data_data_i.set_bits(8 * bytes * client, 8 * bytes, data);
                self.data_strb_i.set_bits(bytes * client, bytes, strb.into());
                self.data_last_i.set_bits(client, 1, last.into());
                self.rsp_ready_i.set_bits(client, 1, ready.into());
            }

            fn set_memory(&self, mem: &MemPortsOut) {
                testbenches::set_mem_write_ports!(self, mem);
            }

            fn client(&self, client: usize) -> Seen {
                let answer = self.rsp_valid_o.bit(client).then(|| Answer::Written {
                    err: self.rsp_err_o.is_set(),
                });
                Seen {
                    cmd_ready: self.cmd_ready_o.bit(client),
                    word_ready: self.data_ready_o.bit(client),
                    answer,
                }
            }

            fn memory(&self) -> MemPortsIn {
                testbenches::mem_write_ports!(self)
            }
        }
    )+};
}

reads!(
    MemReadMux: 4, 4, 4, 8;
    MemReadMux64: 4, 8, 8, 5;
    MemReadMuxN3O1: 3, 4, 4, 1;
    MemReadWide: 1, 4, 8, 4;
    MemReadWide16: 1, 2, 8, 1;
    TwinMemReadMuxError: 4, 4, 4, 8;
    TwinMemReadMuxAddress: 4, 4, 4, 8;
    TwinMemReadMuxFair: 4, 4, 4, 8;
    TwinMemReadMuxOutstanding: 4, 4, 4, 8;
    TwinMemReadMuxPath: 4, 4, 4, 8;
    TwinMemReadMuxRests: 4, 4, 4, 8;
    TwinMemReadMuxHang: 4, 4, 4, 8;
    TwinMemReadWideLane: 1, 4, 8, 4;
    TwinMemReadWideChanges: 1, 4, 8, 4;
    TwinMemReadWideBeats: 1, 4, 8, 4;
    TwinMemReadWideRests: 1, 4, 8, 4;
);

writes!(
    MemWriteMux: 4, 4, 4, 8;
    MemWriteMux64: 4, 8, 8, 5;
    MemWriteMuxN3O1: 3, 4, 4, 1;
    MemWriteWide: 1, 4, 8, 8;
    MemWriteWide16: 1, 2, 8, 1;
    TwinMemWriteMuxOthers: 4, 4, 4, 8;
    TwinMemWriteMuxWhose: 4, 4, 4, 8;
    TwinMemWriteMuxRests: 4, 4, 4, 8;
    TwinMemWriteWideStrobes: 1, 4, 8, 8;
    TwinMemWriteWideBubble: 1, 4, 8, 8;
);

/// The bytes that belong to one client: only it reads or writes them.
fn region<U: Ports>(client: usize) -> u32 {
    let each = SIZE / U::CLIENTS as u32 / 64 * 64;
    each * client as u32
}

/// Random bursts of a client, within its bytes: half of them of one word.
fn commands<U: Ports>(rng: &mut Rng, client: usize, count: usize) -> Vec<Command> {
    let room = u64::from(region::<U>(1) / U::WORD);
    let one = |_| {
        let len = if rng.chance(1, 2) { 0 } else { rng.below(20) };
        let word = rng.below(room - len) as u32;
        (region::<U>(client) + word * U::WORD, len as u8)
    };
    (0..count).map(one).collect()
}

/// The words of a burst that writes.
fn words<U: Ports>(rng: &mut Rng, (_, len): Command) -> Vec<Word> {
    let bits = 8 * U::WORD;
    let one = |i| Word {
        data: rng.bits() >> (64 - bits),
        strb: if rng.chance(1, 2) { 0xff } else { rng.bits() as u8 } >> (8 - U::WORD),
        last: i == len,
    };
    (0..=len).map(one).collect()
}

/// The burst that the memory must see for a client's.
fn burst<U: Ports>((addr, len): Command) -> Burst {
    let first = addr / U::BUS * U::BUS;
    let end = (addr + (u32::from(len) + 1) * U::WORD).next_multiple_of(U::BUS);
    Burst {
        addr: first,
        bytes: end - first,
    }
}

/// What a client must read.
fn read<U: Ports>(memory: &Memory, (addr, len): Command) -> Vec<Answer> {
    let one = |i: u8| {
        let at = addr + u32::from(i) * U::WORD;
        let mut bytes = [0; 8];
        let there = memory
            .read(Addr(at), U::WORD as usize)
            .expect("clients stay in the memory");
        bytes[..there.len()].copy_from_slice(there);
        Answer::Read {
            data: memory
                .bus_ok(Addr(at / U::BUS * U::BUS), U::BUS)
                .then(|| u64::from_le_bytes(bytes)),
            last: i == len,
        }
    };
    (0..=len).map(one).collect()
}

/// Writes a burst, beat by beat, where the bus allows it; what the client is answered.
fn write<U: Ports>(memory: &mut Memory, (addr, _): Command, words: &[Word]) -> Answer {
    let bytes_of = |(at, word): (u32, &Word)| {
        let Word { data, strb, .. } = *word;
        let lanes = (0..U::WORD).filter(move |lane| strb >> lane & 1 == 1);
        lanes.map(move |lane| (at + lane, data.to_le_bytes()[lane as usize]))
    };
    let at = (addr..).step_by(U::WORD as usize);
    let bytes: Vec<(u32, u8)> = at.zip(words).flat_map(bytes_of).collect();
    let mut err = false;
    for beat in bytes.chunk_by(|a, b| a.0 / U::BUS == b.0 / U::BUS) {
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

/// One run: what each client asks for, and how hard it is made.
#[derive(Clone, Debug)]
struct Plan<'a> {
    commands: &'a [Vec<Command>],
    hardship: Hardship,
    start: Start,
    /// Cycle of a reset of everything; what is inside is lost.
    reset: Option<u64>,
    without: &'a [Rule],
}

struct Client {
    commands: Source<Command>,
    words: Source<Word>,
    answers: Sink<Answer>,
    /// Commands that the unit has taken and the memory has not.
    sent: VecDeque<Command>,
    /// Bursts of others since the first command that is not at the memory waits.
    passed: usize,
    /// Bursts of which the memory has not said that they are written.
    writing: VecDeque<(Command, Vec<Word>)>,
    /// Bursts at the memory or on their way back, and their answers as far as they may come.
    open: usize,
    due: VecDeque<Answer>,
}

/// What a run tells: cycles from the first word to the last, counted at the clients; and the first cycle in which everything was
/// offered.
#[derive(Default)]
struct Reported {
    first: Option<u64>,
    last: u64,
    command_in: Option<u64>,
    command_out: Option<u64>,
    word_out: Option<u64>,
    answer_in: Option<u64>,
    answer_out: Option<u64>,
}

fn run<U: Ports>(case: &Case, plan: &Plan, probe: &Probe) -> Result<Reported, String> {
    let Plan { hardship, without, .. } = *plan;
    let context = plan.start.context(case);
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    let mut memory = hardship.filled(&mut case.rng("memory"));
    let mut golden = memory.clone();
    let mut agent = hardship.agent(case.rng("agent").bits(), U::BUS);
    let mut data = case.rng("data");
    let client = |(i, list): (usize, &Vec<Command>)| {
        let pacer = |pauses, what| Pacer::new(pauses, case.rng(&format!("{what} {i}")));
        Client {
            commands: Source::new(list.iter().copied(), pacer(hardship.gaps.at_source(), "commands")),
            words: Source::new([], pacer(hardship.gaps.at_source(), "words")),
            answers: Sink::new(pacer(hardship.gaps.at_sink(), "answers")),
            sent: VecDeque::new(),
            passed: 0,
            writing: VecDeque::new(),
            open: 0,
            due: VecDeque::new(),
        }
    };
    let mut clients: Vec<Client> = plan.commands.iter().enumerate().map(client).collect();
    let (mut asked, mut written) = (Monitor::default(), Monitor::default());
    let (mut told, mut asked_for, mut idle) = (Reported::default(), 0, 0);
    for cycle in 0..60_000 {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        let before = dut.seen();
        let mut offering = vec![false; U::CLIENTS];
        for (i, client) in clients.iter_mut().enumerate() {
            let command = client.commands.offer();
            offering[i] = command.is_some();
            if offering[i] && !rst {
                told.command_in.get_or_insert(cycle);
            }
            dut.set_command(i, command);
            dut.set_client(i, client.words.offer(), client.answers.ready());
        }
        let to = *agent.ports();
        dut.set_memory(&to);
        for clk in [false, true] {
            dut.set_clk(clk, rst);
            context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            dut.junk();
            dut.eval();
            wave.tick(context.time());
            holds(&[], Rule::Path, clk || cycle == 0 || before == dut.seen(), || {
                "an input reaches an output within the cycle".into()
            })
            .map_err(fault)?;
        }
        if rst {
            for client in &mut clients {
                client.commands.reset();
                client.words.reset();
                client.words.stop();
                client.answers.reset();
                client.sent.clear();
                client.writing.clear();
                client.due.clear();
                (client.passed, client.open) = (0, 0);
            }
            // What was being written may be there or not.
            golden = memory.clone();
            asked_for = 0;
            asked.reset();
            written.reset();
            agent.reset();
            continue;
        }
        let (seen, mem, busy) = before;
        let inside = clients.iter().any(|client| !client.sent.is_empty() || client.open > 0);
        holds(without, Rule::Rest, busy || !inside, || {
            "not busy with a burst inside or outstanding".into()
        })
        .map_err(fault)?;
        for (client, seen) in clients.iter_mut().zip(&seen) {
            if seen.answer.is_some() {
                told.answer_out.get_or_insert(cycle);
            }
            let taken = client.answers.step(seen.answer);
            let Some(got) = taken.map_err(|e| fault(format!("Protocol: {e}")))? else {
                continue;
            };
            let want = client.due.pop_front();
            holds(without, Rule::Answers, want == Some(got), || {
                format!("got {got:x?}, not {want:x?}")
            })
            .map_err(fault)?;
            if !matches!(got, Answer::Read { last: false, .. }) {
                client.open = client.open.saturating_sub(1);
            }
            if !U::WRITES {
                told.first.get_or_insert(cycle);
                told.last = cycle;
            }
        }
        // What the memory is offered holds.
        let command = [
            mem.rd_cmd_valid.then_some((mem.rd_cmd_addr, mem.rd_cmd_len)),
            mem.wr_cmd_valid.then_some((mem.wr_cmd_addr, mem.wr_cmd_len)),
        ][usize::from(U::WRITES)];
        let word = mem
            .wr_data_valid
            .then_some((mem.wr_data_data, mem.wr_data_strb, mem.wr_data_last));
        let ready = if U::WRITES { to.wr_cmd_ready } else { to.rd_cmd_ready };
        let kept = asked
            .step(command.as_ref(), ready)
            .and_then(|()| written.step(word.as_ref(), to.wr_data_ready));
        kept.map_err(|e| fault(format!("Protocol: {e}")))?;
        if command.is_some() {
            told.command_out.get_or_insert(cycle);
        }
        if word.is_some() {
            told.word_out.get_or_insert(cycle);
        }
        if to.rd_data_valid || to.wr_rsp_valid {
            told.answer_in.get_or_insert(cycle);
        }
        asked_for -= usize::from(to.rd_data_valid && mem.rd_data_ready && to.rd_data_last);
        let mut events = Vec::new();
        agent.step(Cycle(cycle), &mut memory, &mem, |event| events.push(event));
        for (i, (client, seen)) in clients.iter_mut().zip(&seen).enumerate() {
            if let Some(command) = client.commands.step(seen.cmd_ready) {
                client.sent.push_back(command);
                if U::WRITES {
                    let words = words::<U>(&mut data, command);
                    words.iter().for_each(|word| client.words.push(*word));
                    client.writing.push_back((command, words));
                }
            }
            if client.words.step(seen.word_ready).is_some() {
                told.first.get_or_insert(cycle);
                told.last = cycle;
            }
            offering[i] |= !client.sent.is_empty();
        }
        for event in events {
            match event {
                EventKind::MemRead { addr, bytes } | EventKind::MemWrite { addr, bytes } => {
                    let got = Burst { addr: addr.0, bytes };
                    let who = ((addr.0 / region::<U>(1)) as usize).min(U::CLIENTS - 1);
                    let want = clients[who].sent.pop_front();
                    holds(without, Rule::Bursts, want.map(burst::<U>) == Some(got), || {
                        format!("{got:x?}, not {want:x?}")
                    })
                    .map_err(fault)?;
                    for (i, client) in clients.iter_mut().enumerate() {
                        client.passed = if i == who {
                            0
                        } else {
                            client.passed + usize::from(offering[i])
                        };
                        let passed = client.passed;
                        holds(without, Rule::Fair, passed <= U::CLIENTS + 1, || {
                            format!("client {i} waits, and {passed} bursts of others went before it")
                        })
                        .map_err(fault)?;
                    }
                    asked_for += 1;
                    clients[who].open += 1;
                    if let Some(command) = want.filter(|_| !U::WRITES) {
                        clients[who].due.extend(read::<U>(&golden, command));
                    }
                }
                EventKind::MemWritten { addr, .. } => {
                    asked_for -= 1;
                    let who = ((addr.0 / region::<U>(1)) as usize).min(U::CLIENTS - 1);
                    if let Some((command, words)) = clients[who].writing.pop_front() {
                        clients[who].due.push_back(write::<U>(&mut golden, command, &words));
                    }
                }
                _ => {}
            }
        }
        holds(without, Rule::Outstanding, asked_for <= U::OUTSTANDING, || {
            format!("{asked_for} bursts await the memory")
        })
        .map_err(fault)?;
        let over = |client: &Client| {
            let sent = client.commands.is_empty() && client.words.is_empty() && client.sent.is_empty();
            sent && client.open == 0 && client.due.is_empty()
        };
        let done = clients.iter().all(over) && !dut.busy() && !agent.has_taken();
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            let bytes = |memory: &Memory| memory.read(Addr(0), SIZE as usize).expect("all of it").to_vec();
            let (got, want) = (bytes(&memory), bytes(&golden));
            let wrong = got.iter().zip(&want).position(|(got, want)| got != want);
            holds(without, Rule::Memory, wrong.is_none(), || {
                let at = wrong.unwrap_or(0);
                format!("memory at {at:#x} is {:#04x}, not {:#04x}", got[at], want[at])
            })?;
            return Ok(told);
        }
    }
    let left: Vec<_> = clients
        .iter()
        .map(|client| (client.commands.len(), client.words.len(), client.open))
        .collect();
    holds(without, Rule::Hang, false, || {
        format!(
            "commands, words to write, bursts open of each client: {left:?}; {}",
            agent.report().join("; ")
        )
    })
    .map(|()| told)
}

fn hardships<U: Ports>(without: &[Rule], each: Each) {
    for (i, hardship) in Hardship::all().enumerate() {
        for reset in [false, true] {
            let start = Start::ALL[i % 3];
            let params = format!("{} {hardship:?} {start:?} reset {reset}", name::<U>());
            let case = Case::new("common", "mem_clients::answers_under_hardship", params);
            let list = |client| commands::<U>(&mut case.rng(&format!("commands of {client}")), client, 30);
            let plan = Plan {
                commands: &(0..U::CLIENTS).map(list).collect::<Vec<_>>(),
                hardship,
                start,
                reset: reset.then(|| case.rng("reset").between(20, 250)),
                without,
            };
            each(&case, &|probe| run::<U>(&case, &plan, probe).map(drop));
        }
    }
}

/// With an ideal memory and no gaps, words come one per cycle: of one client, of some, of all, and between bursts of whatever length.
fn rate<U: Ports>(without: &[Rule], each: Each) {
    for (len, many) in [(0, 1), (0, U::CLIENTS), (1, 1), (1, 2), (2, U::CLIENTS), (7, 1)] {
        let params = format!("{} {many} clients, bursts of {}", name::<U>(), len + 1);
        let case = Case::new("common", "mem_clients::one_word_per_cycle", params);
        let many = many.min(U::CLIENTS);
        let list = |client| {
            let addr = |i| region::<U>(client) + i * (u32::from(len) + 1) * U::WORD;
            let count = if client < many { 60 } else { 0 };
            (0..count).map(|i| (addr(i), len)).collect()
        };
        let plan = Plan {
            commands: &(0..U::CLIENTS).map(list).collect::<Vec<_>>(),
            hardship: Hardship {
                gaps: Gaps::None,
                memory: Slowness::Ideal,
                faults: false,
            },
            start: Start::Zero,
            reset: None,
            without,
        };
        let words = 60 * many as u64 * (u64::from(len) + 1);
        each(&case, &|probe| {
            let told = run::<U>(&case, &plan, probe)?;
            let cycles = told.last - told.first.unwrap_or(told.last) + 1;
            holds(without, Rule::Rate, cycles == words, || {
                format!("{words} words took {cycles} cycles")
            })
        });
    }
}

/// All checks.
pub fn checks<U: Ports>(without: &[Rule], each: Each) {
    hardships::<U>(without, each);
    rate::<U>(without, each);
}

#[test]
fn answers_under_hardship() {
    hardships::<MemReadMux>(&[], &mut must_pass);
    hardships::<MemReadMux64>(&[], &mut must_pass);
    hardships::<MemReadWide>(&[], &mut must_pass);
    hardships::<MemWriteWide>(&[], &mut must_pass);
    hardships::<MemReadMuxN3O1>(&[], &mut must_pass);
    hardships::<MemWriteMux>(&[], &mut must_pass);
    hardships::<MemWriteMux64>(&[], &mut must_pass);
    hardships::<MemWriteMuxN3O1>(&[], &mut must_pass);
    hardships::<MemReadWide16>(&[], &mut must_pass);
    hardships::<MemWriteWide16>(&[], &mut must_pass);
}

#[test]
fn one_word_per_cycle() {
    rate::<MemReadMux>(&[], &mut must_pass);
    rate::<MemReadMux64>(&[], &mut must_pass);
    rate::<MemReadWide>(&[], &mut must_pass);
    rate::<MemWriteWide>(&[], &mut must_pass);
    rate::<MemWriteMux>(&[], &mut must_pass);
    rate::<MemWriteMux64>(&[], &mut must_pass);
}

/// From offered to offered, as the headers say.
fn latency<U: Ports>(client: usize, command: u64, to_word: Option<u64>) {
    let case = Case::new(
        "common",
        "mem_clients::latencies",
        format!("{} client {client}", name::<U>()),
    );
    let mut lists = vec![Vec::new(); U::CLIENTS];
    lists[client].push((region::<U>(client), 0));
    let plan = Plan {
        commands: &lists,
        hardship: Hardship {
            gaps: Gaps::None,
            memory: Slowness::Ideal,
            faults: false,
        },
        start: Start::Zero,
        reset: None,
        without: &[],
    };
    case.run(|probe| {
        let told = run::<U>(&case, &plan, probe)?;
        let between = |from: Option<u64>, to: Option<u64>| Some(to? - from?);
        assert_eq!(between(told.command_in, told.command_out), Some(command));
        assert_eq!(between(told.command_out, told.word_out), to_word);
        assert_eq!(between(told.answer_in, told.answer_out), Some(1));
        Ok::<(), String>(())
    });
}

#[test]
fn latencies() {
    for (client, command) in [(0, 1), (1, 2), (3, 2)] {
        latency::<MemReadMux>(client, command, None);
        latency::<MemWriteMux>(client, command, Some(3));
    }
    latency::<MemReadWide>(0, 1, None);
    latency::<MemWriteWide>(0, 1, Some(2));
}

/// Bursts of each client, up to the longest, within its bytes.
fn any_bursts<U: Ports>(case: &Case, (lists, kind): &(Vec<Vec<Command>>, usize), probe: &Probe) -> Result<(), String> {
    let lists = lists.iter().take(U::CLIENTS).enumerate();
    let own = |(client, list): (usize, &Vec<Command>)| {
        let own = |(word, len): &Command| (region::<U>(client) + word * U::WORD, *len);
        list.iter().map(own).collect::<Vec<_>>()
    };
    let plan = Plan {
        commands: &lists.map(own).collect::<Vec<_>>(),
        hardship: Hardship::all().nth(*kind).expect("16 kinds"),
        start: Start::Random1,
        reset: None,
        without: &[],
    };
    run::<U>(case, &plan, probe).map(drop)
}

#[test]
fn any_commands() {
    let list = proptest::collection::vec((0..1700u32, any::<u8>()), 0..6);
    let strategy = (proptest::collection::vec(list, 4), 0..16usize);
    property::holds(
        this_test!(),
        "common/regressions/mem_clients.txt",
        40,
        strategy,
        |case, value, probe| {
            any_bursts::<MemReadMux>(case, value, probe)?;
            any_bursts::<MemReadWide>(case, value, probe)?;
            any_bursts::<MemWriteMux>(case, value, probe)?;
            any_bursts::<MemWriteWide>(case, value, probe)
        },
    );
}
