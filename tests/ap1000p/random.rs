//! Random host programs on the golden model and on the RTL. Some order of the atomic operations explains all results,
//! messages of a pair stay in order, an acknowledged PUT is in memory, and a GET sees the PUTs before it. For each
//! rule, a machine that breaks it is found.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use support::property::holds;
use support::{Test, this_test};
use tsunagi::ap1000p::golden::window::{Window, page, register};
use tsunagi::ap1000p::host::{Ap1000pSim, Cell, CommandError, Transfer};
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl;
use tsunagi::harness::backend::{Backend, Event, HostReq, HostRsp};
use tsunagi::harness::linear::{Call, explain};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, NodeId, Picos};

const CELLS: usize = 4;
const BOUND: Picos = Picos::from_ns(20_000_000);
/// PUTs' data, a piece for each step of a program.
const SOURCE: u32 = 0x1_0000;
/// Where PUTs come to, a piece for each sender.
const AREA: u32 = 0x3_0000;
/// Where GETs' data come to, a piece for each step.
const GOT: u32 = 0x4_0000;
const PIECE: u32 = 0x100;
/// The word of atomic operations, and flags.
const WORD: Addr = Addr(0x5_0000);
const PUTS: Addr = Addr(0x5_0004);
const GETS: Addr = Addr(0x5_0008);

/// A program's next step, mostly with another cell. All words of a PUT are its number among the PUTs from this cell to
/// that one.
#[derive(Clone, Debug)]
enum Step {
    Put {
        to: usize,
        words: u32,
    },
    Acknowledged {
        to: usize,
        words: u32,
    },
    /// Of what this cell PUT there.
    Get {
        from: usize,
        words: u32,
    },
    FetchOp {
        home: usize,
        and: u32,
        or: u32,
    },
    /// With what was seen last as the value to compare, or 0.
    Swap {
        home: usize,
        guesses: bool,
        new: u32,
    },
    Pause {
        ns: u64,
    },
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    FetchOp([u32; 2]),
    Swap([u32; 2]),
}

fn apply(operation: &Operation, word: u32) -> u32 {
    match *operation {
        Operation::FetchOp([and, or]) => word & and | or,
        Operation::Swap([old, new]) if word == old => new,
        Operation::Swap(_) => word,
    }
}

/// What all programs noted.
#[derive(Default)]
struct Notes {
    /// By home.
    calls: [Vec<Call<Operation>>; CELLS],
    broken: Vec<String>,
}

fn area(from: usize) -> Addr {
    Addr(AREA + PIECE * from as u32)
}

fn node(number: usize) -> NodeId {
    NodeId(number as u16)
}

async fn program(
    cell: Cell,
    steps: Vec<Step>,
    others: Vec<Cell>,
    notes: Rc<RefCell<Notes>>,
) -> Result<(), CommandError> {
    let me = cell.id().index();
    let (mut numbers, mut gets, mut seen) = ([0; CELLS], 0, [0; CELLS]);
    for (at, step) in (0..).zip(steps) {
        let tell = |what: String| notes.borrow_mut().broken.push(what);
        let note = |home: usize, called, operation, saw| {
            let (caller, returned) = (me, cell.now());
            notes.borrow_mut().calls[home].push(Call {
                caller,
                called,
                returned,
                operation,
                saw,
            });
        };
        let mut put = |to: usize, words| {
            numbers[to] += 1;
            let source = Addr(SOURCE + PIECE * at);
            cell.set_words(source, &vec![numbers[to]; words as usize]);
            Transfer {
                words,
                source,
                dest: area(me),
                dest_flag: Some(PUTS),
                ..Transfer::default()
            }
        };
        match step {
            Step::Put { to, words } => {
                let transfer = put(to, words);
                cell.put_stride(node(to), &transfer).await?;
            }
            Step::Acknowledged { to, words } => {
                let transfer = put(to, words);
                cell.ack_put(node(to), &transfer).await?;
                let there = others[to].words(area(me), words);
                if there.iter().any(|&word| word != numbers[to]) {
                    tell(format!(
                        "Ack: PUT {} of {me} to {to} is not there yet: {there:?}",
                        numbers[to]
                    ));
                }
            }
            Step::Get { from, words } => {
                let dest = Addr(GOT + PIECE * at);
                cell.get(node(from), area(me), words, dest, Some(GETS), None).await?;
                gets += 1;
                cell.wait_flag(GETS, gets).await?;
                let got = cell.word(dest);
                if got != numbers[from] {
                    tell(format!(
                        "Behind: a GET of {me} from {from} saw {got}, PUT was {}",
                        numbers[from]
                    ));
                }
            }
            Step::FetchOp { home, and, or } => {
                let called = cell.now();
                seen[home] = cell.fetch_op(node(home), WORD, and, or).await?;
                note(home, called, Operation::FetchOp([and, or]), seen[home]);
            }
            Step::Swap { home, guesses, new } => {
                let old = if guesses { seen[home] } else { 0 };
                let called = cell.now();
                seen[home] = cell.compare_swap(node(home), WORD, old, new).await?;
                note(home, called, Operation::Swap([old, new]), seen[home]);
            }
            Step::Pause { ns } => cell.host().delay(Picos::from_ns(ns)).await,
        }
    }
    Ok(())
}

/// Runs the programs, and says what was broken first.
fn run<B: Backend + 'static>(backend: B, config: &Config, programs: &[Vec<Step>]) -> Result<(), String> {
    let mut sim = Ap1000pSim::new(backend, config.clone()).expect("boots");
    let notes = Rc::new(RefCell::new(Notes::default()));
    let cells: Vec<Cell> = (0..CELLS).map(|number| sim.cell(node(number))).collect();
    for (to, from) in (0..CELLS).flat_map(|to| (0..CELLS).map(move |from| (to, from))) {
        let (host, notes, mut last) = (cells[to].host().clone(), notes.clone(), 0);
        let looks = move |memory: &Memory| {
            let bytes = memory.read(area(from), 4).expect("in memory");
            let number = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            if number < last {
                let what = format!("Order: PUT {number} of {from} came to {to} after {last}");
                notes.borrow_mut().broken.push(what);
            }
            last = number;
            false
        };
        host.clone()
            .spawn_daemon("a look at each PUT", async move { host.watch("no end", looks).await });
    }
    let mut puts = [0; CELLS];
    for (number, steps) in programs.iter().enumerate() {
        for step in steps {
            if let Step::Put { to, .. } | Step::Acknowledged { to, .. } = step {
                puts[*to] += 1;
            }
        }
        let (steps, cells, notes) = (steps.clone(), cells.clone(), notes.clone());
        sim.spawn_checked(node(number), |cell| program(cell, steps, cells, notes));
    }
    for (number, puts) in puts.into_iter().enumerate() {
        sim.spawn_checked(node(number), async move |cell| cell.wait_flag(PUTS, puts).await);
    }
    let done = sim.run(BOUND).map_err(|why| format!("Count: {why}"));
    let notes = notes.take();
    if let Some(broken) = notes.broken.into_iter().next() {
        return Err(broken);
    }
    done?;
    for (home, calls) in notes.calls.iter().enumerate() {
        let last = cells[home].word(WORD);
        explain(calls, 0, last, apply).map_err(|why| format!("Atomic: at cell {home}: {why}; {calls:?}"))?;
    }
    match sim.take_faults().first() {
        Some(fault) => Err(format!("Fault: {fault}")),
        None => Ok(()),
    }
}

/// Programs wait as little as possible, so that they meet.
fn config(link_cycles: u32, hardware_refill: bool) -> Config {
    Config {
        columns: 2,
        rows: 2,
        link_rate: 200.0 / f64::from(link_cycles),
        hardware_refill,
        call: Picos::ZERO,
        flag_test: Picos::ZERO,
        ..Config::paper()
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    let cell = || 0..CELLS;
    // A few words only, so that programs meet there.
    let home = || prop::sample::select(vec![0, 0, 0, 3]);
    prop_oneof![
        4 => (cell(), 1..=64_u32).prop_map(|(to, words)| Step::Put { to, words }),
        2 => (cell(), 1..=64_u32).prop_map(|(to, words)| Step::Acknowledged { to, words }),
        2 => (cell(), 1..=64_u32).prop_map(|(from, words)| Step::Get { from, words }),
        3 => (home(), 0..4_u32, 0..4_u32).prop_map(|(home, and, or)| Step::FetchOp { home, and, or }),
        3 => (home(), any::<bool>(), 0..4_u32).prop_map(|(home, guesses, new)| Step::Swap { home, guesses, new }),
        1 => (0..5000_u64).prop_map(|ns| Step::Pause { ns }),
    ]
}

fn random<B: Backend + 'static>(test: Test, cases: u32, make: impl Fn(&Config, &Probe) -> B) {
    let programs = prop::collection::vec(prop::collection::vec(any_step(), 0..32), CELLS);
    let strategy = (prop::sample::select(vec![1, 8]), any::<bool>(), programs);
    holds(
        test,
        "tests/ap1000p/regressions/random.txt",
        cases,
        strategy,
        |_, (link_cycles, hardware_refill, programs), probe| {
            let config = config(*link_cycles, *hardware_refill);
            run(make(&config, probe), &config, programs)
        },
    );
}

#[test]
fn random_programs_on_the_model() {
    random(this_test!(), 64, |config, _| ModelMachine::new(config));
}

#[test]
fn random_programs_on_the_rtl() {
    random(this_test!(), 16, |config, probe| {
        rtl::build(config, probe).expect("built")
    });
}

/// What a broken machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Twin {
    /// The sixth PUT of a cell brings what its third one brought.
    Order,
    /// All GETs are answered by the own cell.
    Ack,
    /// GETs overtake PUTs.
    Behind,
    /// Every second fetch-and-op does nothing.
    Atomic,
    /// The second PUT counts no flag.
    Count,
    /// What the system copies back into the queues is spilled again.
    Refill,
}

/// A machine whose commands are changed on the way.
struct Broken<B> {
    machine: B,
    twin: Twin,
    /// Of each cell: words of the command so far, PUTs' sources, fetch-and-ops.
    words: [Vec<u32>; CELLS],
    sources: [Vec<u32>; CELLS],
    operations: [u32; CELLS],
}

impl<B> Broken<B> {
    /// The store of a word instead of this one.
    fn instead(&mut self, cell: usize, code: u32, word: u32) -> (u32, u32) {
        let words = &mut self.words[cell];
        words.push(word);
        let place = words.len() - 1;
        if words.len() == COMMAND_WORDS as usize {
            words.clear();
        }
        let (sources, operations) = (&mut self.sources[cell], &mut self.operations[cell]);
        match (self.twin, code, place) {
            (Twin::Order | Twin::Count, KIND_PUT, 6) => {
                sources.push(word);
                let sixth = self.twin == Twin::Order && sources.len() == 6;
                (code, if sixth { sources[2] } else { word })
            }
            (Twin::Count, KIND_PUT, 4) if sources.len() == 1 => (code, 0),
            (Twin::Ack, KIND_GET, 0) => (code, 0),
            (Twin::Behind, KIND_GET, _) => (code | PAGE_SYSTEM_MASK, word),
            (Twin::Atomic, KIND_FOP, 6 | 7) => {
                *operations += 1;
                let nothing = [u32::MAX, 0][place - 6];
                // Two words each.
                (
                    code,
                    if *operations % 4 > 2 || *operations % 4 == 0 {
                        nothing
                    } else {
                        word
                    },
                )
            }
            _ => (code, word),
        }
    }
}

impl<B: Backend> Backend for Broken<B> {
    fn now(&self) -> Picos {
        self.machine.now()
    }

    fn nodes(&self) -> usize {
        self.machine.nodes()
    }

    fn next_event(&self) -> Option<Picos> {
        self.machine.next_event()
    }

    fn advance(&mut self, to: Picos) {
        self.machine.advance(to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let req = match (Window::of(req), req.write) {
            (Some(Window::Page { code, data }), _) => {
                let (code, word) = self.instead(node.index(), code.into(), data);
                HostReq::write(page(code), word)
            }
            (_, Some(value)) if req.addr == register(MODE) && self.twin == Twin::Refill => {
                HostReq::write(req.addr, value as u32 & !MODE_THROUGH_MASK)
            }
            _ => req,
        };
        self.machine.host_start(node, req);
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        self.machine.host_take(node)
    }

    fn irq(&self, node: NodeId) -> bool {
        self.machine.irq(node)
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        self.machine.memory(node)
    }

    fn record(&mut self, on: bool) {
        self.machine.record(on);
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.machine.take_events()
    }

    fn hang_report(&self) -> String {
        self.machine.hang_report()
    }
}

#[test]
fn broken_machines_are_found() {
    let put = |to| Step::Put { to, words: 64 };
    let fetch = |bit: u32| Step::FetchOp {
        home: 0,
        and: u32::MAX,
        or: 1 << bit,
    };
    for (twin, steps) in [
        (Twin::Order, vec![put(1); 6]),
        (Twin::Ack, vec![Step::Acknowledged { to: 3, words: 64 }]),
        (
            Twin::Behind,
            [vec![put(1); 8], vec![Step::Get { from: 1, words: 1 }]].concat(),
        ),
        (Twin::Atomic, (0..8).map(fetch).collect()),
        (Twin::Count, vec![put(2); 3]),
        (Twin::Refill, vec![put(2); 24]),
    ] {
        let config = config(8, twin != Twin::Refill);
        let programs = [steps.clone(), steps, Vec::new(), Vec::new()];
        run(ModelMachine::new(&config), &config, &programs).expect("nothing is broken");
        let broken = Broken {
            machine: ModelMachine::new(&config),
            twin,
            words: Default::default(),
            sources: Default::default(),
            operations: [0; CELLS],
        };
        let found = run(broken, &config, &programs).expect_err("it is broken");
        // Words that are not back do not come.
        let rule = if twin == Twin::Refill { Twin::Count } else { twin };
        assert!(found.starts_with(&format!("{rule:?}")), "{twin:?}: {found}");
    }
}
