//! `cppacs_load`: bursts are cut as they must be, and every word of a command comes, in order.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::Server;
use testbenches::rtl::*;
use testbenches::set_read_ports;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, read_ports, rules};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

rules!(
    /// Every word of every command, in order, with `last` and the memory's error.
    Content
    /// Bursts are cut as they must be.
    Bursts
    /// The memory's data never wait: their room was reserved.
    Room
    /// A limited number of bursts await data.
    Outstanding
    /// It is busy while something is inside, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if no other party pauses.
    Rate
    /// Every word that is asked for comes.
    Hang
);

/// Bytes of the memory.
const SIZE: u32 = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Command {
    addr: u32,
    bytes: u32,
}

/// A word of the output; data do not count after an error.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    data: u32,
    last: bool,
    err: bool,
}

struct In {
    command: Option<Command>,
    mem: MemPortsOut,
    ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    ready: bool,
    busy: bool,
    mem: MemPortsIn,
    word: Option<Word>,
}

fn set(dut: &impl CppacsLoadPorts, inputs: &In) {
    let Command { addr, bytes } = inputs.command.unwrap_or(Command {
        addr: 0xdea8,
        bytes: 0xbee8,
    });
    dut.cmd_valid_i().set_bool(inputs.command.is_some());
    dut.cmd_addr_i().set(addr.into());
    dut.cmd_bytes_i().set(bytes.into());
    set_read_ports!(dut, &inputs.mem);
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl CppacsLoadPorts) -> Out {
    Out {
        ready: dut.cmd_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
        mem: read_ports!(dut),
        word: dut.out_valid_o().is_set().then(|| Word {
            data: dut.out_data_o().get() as u32,
            last: dut.out_last_o().is_set(),
            err: dut.out_err_o().is_set(),
        }),
    }
}

/// A unit with bursts of at most so many words, and so many of them outstanding.
struct Loader {
    dut: Dut<In, Out>,
    burst: u32,
    outstanding: usize,
}

fn loader<U: CppacsLoadUnit + 'static>(burst: u32, outstanding: usize) -> Loader {
    let dut = Dut::of::<U>(set, seen);
    Loader {
        dut,
        burst,
        outstanding,
    }
}

fn usual<U: CppacsLoadUnit + 'static>() -> Loader {
    loader::<U>(16, 4)
}

struct World<'a> {
    loader: &'a Loader,
    memory: Memory,
    server: Server,
    commands: Source<Command>,
    words: Sink<Word>,
    due: VecDeque<Word>,
    /// Memory commands that are to come, {address, beats - 1}.
    bursts: VecDeque<(u32, u8)>,
    open: usize,
    /// Until this cycle no word is taken.
    held: u64,
    /// Cycles of the first and of the last word.
    span: Option<(u64, u64)>,
}

impl<'a> World<'a> {
    fn new(run: &Run, loader: &'a Loader, gaps: Gaps, faults: bool, list: &[Command]) -> World<'a> {
        let mut rng = run.rng("memory");
        let mut memory = Memory::new(SIZE as usize);
        let bytes: Vec<u8> = (0..SIZE).map(|_| rng.bits() as u8).collect();
        assert!(memory.write(Addr(0), &bytes), "it is inside");
        for _ in 0..if faults { 60 } else { 0 } {
            let at = rng.below(SIZE.into()) as u32;
            memory.inject_fault(at..at + 1 + rng.below(64) as u32);
        }
        let slow = MemoryTiming {
            read_latency: Cycle(20),
            overhead: Cycle(1),
            ..MemoryTiming::IDEAL
        };
        let pauses = gaps.at_sink();
        World {
            loader,
            memory,
            server: Server::new(run, if pauses { slow } else { MemoryTiming::IDEAL }, 4, pauses),
            commands: Source::new(list.iter().copied(), run.pacer(gaps.at_source(), "source")),
            words: Sink::new(run.pacer(pauses, "sink")),
            due: VecDeque::new(),
            bursts: VecDeque::new(),
            open: 0,
            held: 0,
            span: None,
        }
    }

    /// What a command must bring.
    fn expect(&mut self, Command { addr, bytes }: Command) {
        for at in (addr..addr + bytes).step_by(4) {
            let data = self.memory.read(Addr(at), 4).expect("commands stay inside");
            let err = !self.memory.bus_ok(Addr(at), 4);
            self.due.push_back(Word {
                data: if err {
                    0
                } else {
                    u32::from_le_bytes(data.try_into().expect("four bytes"))
                },
                last: at + 4 == addr + bytes,
                err,
            });
        }
        let (mut at, end, block) = (addr, addr + bytes, 4 * self.loader.burst);
        while at < end {
            let stop = end.min(at - at % block + block);
            self.bursts.push_back((at, ((stop - at) / 4 - 1) as u8));
            at = stop;
        }
    }

    /// The edge after a cycle. Whether all is done.
    fn step(&mut self, cycle: u64, ports: &MemPortsOut, out: Out) -> Result<bool, Fault> {
        let empty = self.due.is_empty() && self.bursts.is_empty();
        Rule::Rest.holds(out.busy || empty, || "it rests with work inside".into())?;
        self.server.step(cycle, &mut self.memory, &out.mem)?;
        Rule::Room.holds(!ports.rd_data_valid || out.mem.rd_data_ready, || "data wait".into())?;
        self.open -= usize::from(ports.rd_data_valid && ports.rd_data_last);
        if out.mem.rd_cmd_valid && ports.rd_cmd_ready {
            let burst = (out.mem.rd_cmd_addr, out.mem.rd_cmd_len);
            let want = self.bursts.pop_front();
            Rule::Bursts.holds(want == Some(burst), || format!("{burst:x?}, not {want:x?}"))?;
            self.open += 1;
            Rule::Outstanding.holds(self.open <= self.loader.outstanding, || format!("{} bursts", self.open))?;
        }
        let word = if cycle < self.held {
            None
        } else {
            self.words.step(out.word)?
        };
        if let Some(word) = word {
            self.span = Some((self.span.map_or(cycle, |(first, _)| first), cycle));
            let want = self.due.pop_front();
            let data = if word.err { 0 } else { word.data };
            let word = Word { data, ..word };
            Rule::Content.holds(want.as_ref() == Some(&word), || format!("{word:x?}, not {want:x?}"))?;
        }
        if let Some(command) = self.commands.step(out.ready) {
            self.expect(command);
        }
        Ok(self.commands.is_empty() && self.due.is_empty())
    }

    fn reset(&mut self) {
        self.server.reset();
        self.commands.reset();
        self.words.reset();
        self.due.clear();
        self.bursts.clear();
        self.open = 0;
    }
}

/// Does all of it, with a reset in a cycle.
fn exercise(run: &Run, world: &mut World, reset: Option<u64>) -> Result<(), Fault> {
    let mut bench = Bench::new(run, &world.loader.dut);
    let mut idle = 0;
    for cycle in 0..100_000 {
        let inputs = In {
            command: world.commands.offer().copied(),
            mem: world.server.ports(),
            ready: world.words.ready() && cycle >= world.held,
        };
        if cycle < 3 || reset == Some(cycle) {
            bench.registered(&inputs, true)?;
            world.reset();
            continue;
        }
        let out = bench.step(&inputs)?;
        let busy = out.busy;
        let over = world.step(cycle, &inputs.mem, out).map_err(|fault| fault.at(cycle))?;
        idle = if over { idle + 1 } else { 0 };
        if idle > 20 && !busy {
            return Ok(());
        }
        Rule::Rest.holds(idle < 100, || "busy without end".into())?;
    }
    let (left, words) = (world.commands.len(), world.due.len());
    Err(Rule::Hang.broken(format!("{left} commands, {words} words left")))
}

/// A command of any length, mostly short.
fn any(rng: &mut Rng) -> Command {
    let most = [4, 16, 40, 300][rng.below(4) as usize];
    let bytes = 8 * rng.between(1, most) as u32;
    let addr = 8 * rng.below(u64::from((SIZE - bytes) / 8)) as u32;
    Command { addr, bytes }
}

fn content(loader: &Loader, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for faults in [false, true] {
            let name = loader.dut.name;
            cases.case(Start::Random1, format!("{name} {gaps:?} faults {faults}"), |run| {
                let mut rng = run.rng("commands");
                let list: Vec<Command> = (0..60).map(|_| any(&mut rng)).collect();
                let reset = (gaps == Gaps::Both).then(|| rng.between(20, 2000));
                exercise(run, &mut World::new(run, loader, gaps, faults, &list), reset)
            });
        }
    }
}

/// Nobody takes words for a while.
fn held(loader: &Loader, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} held", loader.dut.name), |run| {
        let mut rng = run.rng("commands");
        let list: Vec<Command> = (0..60).map(|_| any(&mut rng)).collect();
        let mut world = World::new(run, loader, Gaps::None, false, &list);
        world.held = 1500;
        exercise(run, &mut world, None)
    });
}

/// With an ideal memory and no gaps words come one per cycle, also between commands of any length.
fn rate(loader: &Loader, cases: &mut Cases) {
    for (bytes, step) in [(8, 24), (64, 64), (72, 80), (4096, 4096)] {
        let list: Vec<Command> = (0..12).map(|i| Command { addr: i * step, bytes }).collect();
        let words = u64::from(12 * bytes / 4);
        cases.case(
            Start::Zero,
            format!("{} commands of {bytes} bytes", loader.dut.name),
            |run| {
                let mut world = World::new(run, loader, Gaps::None, false, &list);
                exercise(run, &mut world, None)?;
                let cycles = world.span.map_or(0, |(first, last)| last - first + 1);
                Rule::Rate.holds(cycles <= words, || format!("{words} words took {cycles} cycles"))
            },
        );
    }
}

fn checks(loader: &Loader, cases: &mut Cases) {
    content(loader, cases);
    held(loader, cases);
    rate(loader, cases);
}

#[test]
fn every_word_comes() {
    pass(this_test!(), |cases| {
        content(&usual::<CppacsLoad>(), cases);
        held(&usual::<CppacsLoad>(), cases);
        content(&loader::<CppacsLoadB4O2>(4, 2), cases);
    });
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| rate(&usual::<CppacsLoad>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &|cases| checks(&usual::<TwinLoadLast>(), cases)),
            (Content, &[], &|cases| checks(&usual::<TwinLoadError>(), cases)),
            (Bursts, &[], &|cases| checks(&usual::<TwinLoadAlign>(), cases)),
            (Room, &[], &|cases| checks(&usual::<TwinLoadRoom>(), cases)),
            (Outstanding, &[], &|cases| {
                checks(&usual::<TwinLoadOutstanding>(), cases)
            }),
            (Rest, &[], &|cases| checks(&usual::<TwinLoadRest>(), cases)),
            (Path, &[], &|cases| checks(&usual::<TwinLoadPath>(), cases)),
            (Protocol, &[], &|cases| checks(&usual::<TwinLoadOffer>(), cases)),
            (Rate, &[], &|cases| checks(&usual::<TwinLoadRate>(), cases)),
            (Hang, &[Rest], &|cases| checks(&usual::<TwinLoadHang>(), cases)),
        ],
    );
}
