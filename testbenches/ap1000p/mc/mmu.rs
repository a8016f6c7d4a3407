//! Translation against its model. The model is told the words that were read, so that tables may change at any time; the order in which
//! answers become valid is that of the lookups.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::mmu::{Fault, Lookup, Mmu, ReadError};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use tsunagi::harness::wave::Probe;

use crate::rig::{Common, Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Address or fault.
    Answer,
    /// The words read: those the model reads, in its order, and no others.
    Walk,
    /// Three cycles on a hit; what a walk adds.
    Latency,
    /// A client that waits is passed over once at most.
    Fair,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 8] = [
    Rule::Answer,
    Rule::Walk,
    Rule::Latency,
    Rule::Fair,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

/// The clients, by number.
const SEND: usize = 0;
const RECEIVE: usize = 1;

/// Address of the context table.
const TABLE: u32 = 0x0001_0000;

/// Forget the places of an address, or everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demap {
    Page(u32),
    All,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    req: [Option<Lookup>; 2],
    take: [bool; 2],
    demap: Option<Demap>,
    cmd_ready: bool,
    word: Option<Word>,
}

/// A word of the memory, and the address it was asked for.
type Word = (u32, Result<u32, ReadError>);

type Answer = Result<u32, u8>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: [bool; 2],
    rsp: [Option<Answer>; 2],
    demap_ready: bool,
    cmd: Option<u32>,
    word_ready: bool,
    misses: bool,
    busy: bool,
}

/// Bits of an address in cell memory.
trait Width: Ports<In = In, Out = Out> {
    const MEM_BITS: u32;
}

macro_rules! ports {
    ($($unit:ident)+: $mem_bits:expr, word |$at:ident, $word:ident| $data:expr) => {$(
        impl Width for $unit {
            const MEM_BITS: u32 = $mem_bits;
        }

        impl Ports for $unit {
            type In = In;
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &In) {
                let both = |f: &dyn Fn(usize) -> bool| u8::from(f(0)) | u8::from(f(1)) << 1;
                let junk = Lookup { context: 0xaaa, addr: 0x5555_5555, write: true, system: true };
                let req = |c: usize| inputs.req[c].unwrap_or(junk);
                // The low bits are ignored.
                self.table_i.set(TABLE | 0x3fff);
                self.req_valid_i.set(both(&|c| inputs.req[c].is_some()));
                self.req_context_i.set(u32::from(req(0).context) | u32::from(req(1).context) << 12);
                self.req_addr_i.set(u64::from(req(0).addr) | u64::from(req(1).addr) << 32);
                self.req_write_i.set(both(&|c| req(c).write));
                self.req_system_i.set(both(&|c| req(c).system));
                self.rsp_ready_i.set(both(&|c| inputs.take[c]));
                self.demap_valid_i.set_bool(inputs.demap.is_some());
                self.demap_all_i.set_bool(matches!(inputs.demap, Some(Demap::All)));
                self.demap_addr_i.set(match inputs.demap {
                    Some(Demap::Page(addr)) => addr,
                    _ => 0xffff_ffff,
                });
                self.mem_cmd_ready_i.set_bool(inputs.cmd_ready);
                let ($at, read) = inputs.word.unwrap_or((4, Err(ReadError)));
                // With an error there is a word that says otherwise than the error.
                let $word = read.unwrap_or(0);
                self.mem_data_valid_i.set_bool(inputs.word.is_some());
                self.mem_data_data_i.set($data);
                self.mem_data_last_i.set_bool(true);
                self.mem_data_err_i.set_bool(read.is_err());
            }

            fn seen(&self) -> Out {
                let bit = |bits: u8, c: usize| bits >> c & 1 != 0;
                let rsp = |c: usize| bit(self.rsp_valid_o.get(), c).then(|| {
                    match self.rsp_fault_o.get() >> (3 * c) & 7 {
                        0 => Ok((self.rsp_addr_o.get() >> (32 * c)) as u32),
                        fault => Err(fault),
                    }
                });
                Out {
                    ready: [0, 1].map(|c| bit(self.req_ready_o.get(), c)),
                    rsp: [rsp(0), rsp(1)],
                    demap_ready: self.demap_ready_o.is_set(),
                    cmd: self.mem_cmd_valid_o.is_set().then(|| self.mem_cmd_addr_o.get()),
                    word_ready: self.mem_data_ready_o.is_set(),
                    misses: self.miss_o.is_set(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

// On a bus of 64 bits the word beside it is another.
ports!(Ap1000pMmu TwinMmuContext TwinMmuRights TwinMmuLarge TwinMmuDemap TwinMmuRoot TwinMmuOutside TwinMmuBus TwinMmuTurn TwinMmuLate
       TwinMmuKeeps TwinMmuPath TwinMmuStuck TwinMmuRest TwinMmuReset: 26,
    word |at, word| if at & 4 == 0 { u64::from(word) | 0x8765_4321_0000_0000 } else { u64::from(word) << 32 | 0x8765_4321 });
ports!(Ap1000pMmuNarrow: 32, word |_at, word| word);

/// What a random lookup is made of: few contexts and pages, chosen so that they share places in the TLBs.
const CONTEXTS: [u16; 6] = [0, 1, 2, 0x5a3, 0x801, 0xfff];
const REGIONS: [u32; 4] = [0x00, 0x01, 0x40, 0xff];
const SEGMENTS: [u32; 3] = [0, 1, 0x3f];
const PAGES: [u32; 4] = [0, 1, 5, 0x3f];

/// Where the tables of a context, a region of 16 MB and a segment of 256 KB lie, by their numbers above.
fn regions_of(context: usize) -> u32 {
    0x0010_0000 + context as u32 * 0x400
}

fn segments_of(context: usize, region: usize) -> u32 {
    0x0020_0000 + (context * REGIONS.len() + region) as u32 * 0x100
}

fn pages_of(context: usize, region: usize, segment: usize) -> u32 {
    0x0030_0000 + ((context * REGIONS.len() + region) * SEGMENTS.len() + segment) as u32 * 0x100
}

/// Words of tables: the next one at this address; a page at this address, which allows this.
fn table(at: u32) -> u32 {
    CELL_SPACE << 28 | at >> 4 | ENTRY_TABLE
}

fn page(at: u32, access: u32) -> u32 {
    CELL_SPACE << 28 | at >> 4 | access << TABLE_ACCESS_SHIFT | ENTRY_PAGE
}

/// Everybody may read and write.
const ALL: u32 = 3;

struct Memory {
    words: BTreeMap<u32, u32>,
    rng: Rng,
    accepts: Pacer,
    /// Cycles from a command to its word beyond the first.
    latency: u64,
    /// One word in so many has an error; 0: none.
    errors: u64,
    /// The word to come, and when.
    next: Option<(u64, Word)>,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    lookup: Lookup,
    taken: u64,
    answered: bool,
    /// Answers of the other client since.
    passed: u32,
}

/// An answer with its reads, and the cycles it took.
#[derive(Clone, Copy, Debug)]
struct Reported {
    answer: Result<u32, Fault>,
    reads: usize,
    cycles: u64,
}

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    model: Mmu,
    memory: Memory,
    requests: [Source<Lookup>; 2],
    demaps: Source<Demap>,
    takes: [Pacer; 2],
    monitors: [Monitor<Answer>; 2],
    commands: Monitor<u32>,
    open: [Option<Open>; 2],
    /// Words read since the last answer.
    log: VecDeque<Word>,
    told: Vec<(usize, Reported)>,
    misses: u32,
    /// The last table that was made.
    free: u32,
}

impl<'a, U: Width> Bench<'a, U> {
    fn new(case: &Case, start: &str, gaps: Gaps, slow: bool, probe: &'a Probe) -> Result<Self, String> {
        let pacer = |pauses, name: &str| Pacer::new(pauses, case.rng(name));
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            model: Mmu::new(TABLE, U::MEM_BITS),
            memory: Memory {
                words: BTreeMap::new(),
                rng: case.rng("memory"),
                accepts: pacer(slow, "memory accepts"),
                latency: if slow { 20 } else { 0 },
                errors: if slow { 40 } else { 0 },
                next: None,
            },
            requests: ["send", "receive"].map(|name| Source::new([], pacer(gaps.at_source(), name))),
            demaps: Source::new([], pacer(true, "demaps")),
            takes: ["send takes", "receive takes"].map(|name| pacer(gaps.at_sink(), name)),
            monitors: Default::default(),
            commands: Monitor::default(),
            open: [None; 2],
            log: VecDeque::new(),
            told: Vec::new(),
            misses: 0,
            free: 0x0010_0000,
        };
        bench.reset(3)?;
        Ok(bench)
    }

    fn reset(&mut self, cycles: u64) -> Result<(), String> {
        for _ in 0..cycles {
            self.rig.step(&In::default(), true)?;
        }
        self.model = Mmu::new(TABLE, U::MEM_BITS);
        self.memory.next = None;
        self.open = [None; 2];
        self.log.clear();
        self.commands.reset();
        self.demaps.reset();
        for c in 0..2 {
            self.requests[c].reset();
            self.monitors[c].reset();
        }
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let told = |what: String| format!("cycle {now}: {what}");
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        let inputs = In {
            req: [0, 1].map(|c| self.requests[c].offer().copied()),
            take: [0, 1].map(|c| self.takes[c].step()),
            demap: self.demaps.offer().copied(),
            cmd_ready: self.memory.accepts.step(),
            word: self.memory.next.filter(|(at, _)| *at <= now).map(|(_, word)| word),
        };
        let seen = self.rig.step(&inputs, false)?;
        self.misses += u32::from(seen.misses);

        self.commands.step(seen.cmd.as_ref(), inputs.cmd_ready).map_err(wrong)?;
        if let Some(word) = inputs.word.filter(|_| seen.word_ready) {
            self.log.push_back(word);
            self.memory.next = None;
        }
        if let Some(at) = seen.cmd.filter(|_| inputs.cmd_ready) {
            let memory = &mut self.memory;
            let read = if memory.errors > 0 && memory.rng.chance(1, memory.errors) {
                Err(ReadError)
            } else {
                Ok(memory.words.get(&at).copied().unwrap_or(0))
            };
            let wait = memory.rng.between(0, memory.latency);
            memory.next = Some((now + 1 + wait, (at, read)));
        }

        for c in 0..2 {
            if let Some(answer) = seen.rsp[c]
                && self.open[c].is_none_or(|open| !open.answered)
            {
                self.answered(c, answer, now)?;
            }
        }
        let idle = self.open.iter().all(Option::is_none);
        holds(Rule::Rest, seen.busy || idle, || told("not busy".into()))?;
        for c in 0..2 {
            self.monitors[c]
                .step(seen.rsp[c].as_ref(), inputs.take[c])
                .map_err(wrong)?;
            if seen.rsp[c].is_some() && inputs.take[c] {
                self.open[c] = None;
            }
            if let Some(lookup) = self.requests[c].step(seen.ready[c]) {
                self.open[c] = Some(Open {
                    lookup,
                    taken: now,
                    answered: false,
                    passed: 0,
                });
            }
        }
        match self.demaps.step(seen.demap_ready) {
            Some(Demap::Page(addr)) => self.model.demap(addr),
            Some(Demap::All) => self.model.demap_all(),
            None => {}
        }
        Ok(())
    }

    /// A new answer of a client.
    fn answered(&mut self, c: usize, answer: Answer, now: u64) -> Result<(), String> {
        let told = |what: String| format!("cycle {now}, client {c}: {what}");
        let Some(open) = &mut self.open[c] else {
            return holds(Rule::Answer, false, || told(format!("{answer:x?} answers nothing")));
        };
        open.answered = true;
        let Open { lookup, taken, .. } = *open;
        let reads = self.log.len();
        let mut astray = None;
        let want = self.model.lookup(&lookup, |at| match self.log.pop_front() {
            Some((read, word)) if read == at => word,
            other => {
                astray = astray.or(Some((at, other)));
                Err(ReadError)
            }
        });
        holds(Rule::Walk, astray.is_none() && self.log.is_empty(), || {
            told(format!(
                "{lookup:x?}: wanted and read {astray:x?}, then {:x?}",
                self.log
            ))
        })?;
        holds(Rule::Answer, answer == want.map_err(|fault| fault as u8), || {
            told(format!("{lookup:x?}: {answer:x?}, not {want:x?}"))
        })?;
        self.told.push((
            c,
            Reported {
                answer: want,
                reads,
                cycles: now - taken,
            },
        ));
        if let Some(other) = &mut self.open[1 - c]
            && !other.answered
        {
            other.passed += 1;
            holds(Rule::Fair, other.passed <= 1, || {
                told(format!("passes over {other:x?}"))
            })?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        let end = self.rig.cycle + 100_000;
        loop {
            let left = self.requests[0].len() + self.requests[1].len() + self.demaps.len();
            if left == 0 && self.open.iter().all(Option::is_none) {
                break;
            }
            self.cycle()?;
            holds(Rule::Hang, self.rig.cycle < end, || {
                format!("{left} to come, {:x?}", self.open)
            })?;
        }
        self.cycle()?;
        holds(Rule::Rest, !self.rig.seen().busy, || {
            "busy after the last answer".into()
        })
    }

    /// One lookup, alone.
    fn ask(&mut self, c: usize, lookup: Lookup) -> Result<Reported, String> {
        self.requests[c].push(lookup);
        self.finish()?;
        Ok(self.told.last().expect("finished").1)
    }

    fn demap(&mut self, demap: Demap) -> Result<(), String> {
        self.demaps.push(demap);
        self.finish()
    }

    /// A context has this page at this address, of 2^`bits` bytes: what is missing of the tables is made.
    fn map(&mut self, context: u16, addr: u32, bits: u32, word: u32) {
        let words = &mut self.memory.words;
        let mut at = TABLE + 4 * u32::from(context);
        for (level, index) in [(24, addr >> 24), (18, addr >> 18 & 0x3f), (12, addr >> 12 & 0x3f)] {
            let next = words
                .get(&at)
                .filter(|word| *word & TABLE_TYPE_MASK == ENTRY_TABLE)
                .map(|word| word << 4 & 0x03ff_ff00);
            let next = next.unwrap_or_else(|| {
                self.free += 0x400;
                words.insert(at, table(self.free));
                self.free
            });
            at = next + 4 * index;
            if level == bits {
                break;
            }
        }
        words.insert(at, word);
    }

    /// A word of the tables of the random lookups, changed: mostly to what makes sense there, else to anything.
    fn change(&mut self, rng: &mut Rng) {
        let (context, region, segment) = (rng.below(6) as usize, rng.below(4) as usize, rng.below(3) as usize);
        let space = match rng.below(12) {
            0 => rng.below(16) as u32,
            _ => CELL_SPACE,
        };
        let random = rng.bits() as u32;
        let inside = (random & ((1_u64 << (U::MEM_BITS - 4)) - 1) as u32 & !0xff) | (random & 0xe0);
        let leaf = space << 28 | inside | (rng.below(8) as u32) << TABLE_ACCESS_SHIFT | ENTRY_PAGE;
        // Low bits of an address that a table's size leaves out.
        let link = |at: u32| (table(at) & 0x0fff_ffff) | space << 28 | (random & 0xc);
        let (at, next) = match rng.below(8) {
            0 => (
                TABLE + 4 * u32::from(CONTEXTS[context]),
                Some(link(regions_of(context))),
            ),
            1 => (
                regions_of(context) + 4 * REGIONS[region],
                Some(link(segments_of(context, region))),
            ),
            2 | 3 => (
                segments_of(context, region) + 4 * SEGMENTS[segment],
                Some(link(pages_of(context, region, segment))),
            ),
            _ => (
                pages_of(context, region, segment) + 4 * PAGES[rng.below(4) as usize],
                None,
            ),
        };
        let word = match rng.below(24) {
            0 => 0,
            1 => random,
            2..=7 => leaf,
            _ => next.unwrap_or(leaf),
        };
        self.memory.words.insert(at, word);
    }
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

fn random_addr(rng: &mut Rng) -> u32 {
    pick(rng, &REGIONS) << 24 | pick(rng, &SEGMENTS) << 18 | pick(rng, &PAGES) << 12 | rng.below(4096) as u32
}

fn random_lookup(rng: &mut Rng) -> Lookup {
    Lookup {
        // One of them often.
        context: if rng.chance(1, 2) {
            CONTEXTS[3]
        } else {
            pick(rng, &CONTEXTS)
        },
        addr: random_addr(rng),
        write: rng.chance(1, 3),
        system: rng.chance(1, 3),
    }
}

/// What a run met.
#[derive(Debug, Default)]
struct Counts {
    hits: usize,
    walks: usize,
    faults: [usize; 5],
}

/// Random lookups of both clients, changes of tables with and without a demap, errors of the memory, resets at any time: how many
/// hit, how many walked, and how many ended with each fault.
fn follows<U: Width>(case: &Case, start: &str, gaps: Gaps, slow: bool, probe: &Probe) -> Result<Counts, String> {
    let mut bench = Bench::<U>::new(case, start, gaps, slow, probe)?;
    let mut rng = case.rng("work");
    for _ in 0..2000 {
        bench.change(&mut rng);
    }
    for round in 0..4 {
        for c in [SEND, RECEIVE] {
            for _ in 0..800 {
                bench.requests[c].push(random_lookup(&mut rng));
            }
        }
        // In one round so many demaps that one always waits.
        let demaps = if round == 1 { 6 } else { 150 };
        let end = bench.rig.cycle + rng.between(2000, 8000);
        while bench.rig.cycle < end {
            if rng.chance(1, 20) {
                bench.change(&mut rng);
            }
            if rng.chance(1, demaps) && bench.demaps.len() < 4 {
                let addr = random_addr(&mut rng);
                bench.demaps.push(if rng.chance(1, 60) {
                    Demap::All
                } else {
                    Demap::Page(addr)
                });
            }
            bench.cycle()?;
        }
        if round % 2 == 1 {
            let cycles = rng.between(1, 3);
            bench.reset(cycles)?;
        }
        bench.finish()?;
    }
    let count = |is: &dyn Fn(&Reported) -> bool| bench.told.iter().filter(|(_, told)| is(told)).count();
    let counts = Counts {
        hits: count(&|told| told.reads == 0 && told.answer.is_ok()),
        walks: count(&|told| told.reads > 0 && told.answer.is_ok()),
        faults: Fault::ALL.map(|fault| count(&|told| told.answer == Err(fault))),
    };
    assert!(slow || counts.faults[4] == 0, "faults {:?}", counts.faults);
    Ok(counts)
}

/// A read of a context's byte by a user.
fn read(context: u16, addr: u32) -> Lookup {
    Lookup {
        context,
        addr,
        write: false,
        system: false,
    }
}

/// Cycles of hits and of walks, with a memory that answers at once.
fn latency<U: Width>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, false, probe)?;
    bench.map(7, 0x1234_5000, 12, page(0x5000, ALL));
    bench.map(7, 0x1200_0000, 18, page(0x8_0000, ALL));
    // The reset's own.
    bench.ask(SEND, read(7, 0xf000_0000))?;
    bench.demap(Demap::All)?;
    for (c, addr, reads, cycles) in [
        (SEND, 0x1234_5678, 4, 3 + 4 * 3 + 4),
        (RECEIVE, 0x1234_5678, 0, 3),
        (SEND, 0x1234_5fff, 0, 3),
        (RECEIVE, 0x1203_0000, 2, 3 + 2 * 3 + 4),
        (SEND, 0x1203_0004, 0, 3),
        // No such page: nothing is entered.
        (SEND, 0x1234_6000, 3, 3 + 3 * 3),
    ] {
        let told = bench.ask(c, read(7, addr))?;
        holds(Rule::Walk, told.reads == reads, || {
            format!("{addr:#x}: {told:x?}, not {reads} reads")
        })?;
        holds(Rule::Latency, told.cycles == cycles, || {
            format!("{addr:#x}: {told:x?}, not {cycles} cycles")
        })?;
    }
    Ok(())
}

#[test]
fn follows_its_model() {
    let (all, runs) = (RefCell::new(Counts::default()), Cell::new(0));
    let seen = |counts: Counts| {
        runs.set(runs.get() + 1);
        let mut all = all.borrow_mut();
        (all.hits, all.walks) = (all.hits + counts.hits, all.walks + counts.walks);
        all.faults.iter_mut().zip(counts.faults).for_each(|(all, n)| *all += n);
    };
    for start in STARTS {
        for gaps in Gaps::ALL {
            for slow in [false, true] {
                let test = "mc::mmu::follows_its_model";
                let case = Case::new("ap1000p", test, format!("{gaps:?} slow {slow} {start}"));
                case.run(|probe| follows::<Ap1000pMmu>(&case, start, gaps, slow, probe).map(seen));
                case.run(|probe| follows::<Ap1000pMmuNarrow>(&case, start, gaps, slow, probe).map(seen));
            }
        }
    }
    // Of each in a run, on average.
    let (all, runs) = (all.into_inner(), runs.get());
    println!("{all:?} in {runs} runs");
    assert!(
        all.hits > 100 * runs && all.walks > 100 * runs,
        "{all:?} in {runs} runs"
    );
    assert!(all.faults.iter().all(|&n| n > runs), "{all:?} in {runs} runs");
}

/// A test of its own bench, with a memory that answers at once.
fn run(test: &'static str, check: impl Fn(Bench<Ap1000pMmu>) -> Result<(), String>) {
    let case = Case::new("ap1000p", test, "");
    case.run(|probe| check(Bench::new(&case, STARTS[0], Gaps::None, false, probe)?));
}

/// It has this answer after so many reads.
fn is(told: Reported, answer: Result<u32, Fault>, reads: usize) -> Result<(), String> {
    holds(Rule::Answer, told.answer == answer, || {
        format!("{told:x?}, not {answer:x?}")
    })?;
    holds(Rule::Walk, told.reads == reads, || {
        format!("{told:x?}, not {reads} reads")
    })
}

#[test]
fn takes_the_cycles_it_says() {
    let case = Case::new("ap1000p", "mc::mmu::takes_the_cycles_it_says", "");
    case.run(|probe| latency::<Ap1000pMmu>(&case, probe));
    case.run(|probe| latency::<Ap1000pMmuNarrow>(&case, probe));
}

/// C26: a miss walks the context table and three levels; then pages of both sizes hit.
#[test]
fn c26_a_miss_walks_three_levels_and_then_both_sizes_hit() {
    run(
        "mc::mmu::c26_a_miss_walks_three_levels_and_then_both_sizes_hit",
        |mut bench| {
            bench.map(9, 0x2000_0000, 12, page(0x0012_3000, ALL));
            bench.map(9, 0x2004_0000, 18, page(0x00f4_0000, ALL));
            bench.map(9, 0x3000_0000, 24, page(0x0300_0000, ALL));
            is(bench.ask(SEND, read(9, 0x2000_0004))?, Ok(0x0012_3004), 4)?;
            is(bench.ask(RECEIVE, read(9, 0x2000_0ffc))?, Ok(0x0012_3ffc), 0)?;
            // Of the same context: its first table is known.
            is(bench.ask(SEND, read(9, 0x2004_0000))?, Ok(0x00f4_0000), 2)?;
            is(bench.ask(RECEIVE, read(9, 0x2007_fffc))?, Ok(0x00f7_fffc), 0)?;
            // 16 MB, 256 KB at a time.
            is(bench.ask(SEND, read(9, 0x3004_0000))?, Ok(0x0304_0000), 1)?;
            is(bench.ask(SEND, read(9, 0x3007_fffc))?, Ok(0x0307_fffc), 0)?;
            is(bench.ask(SEND, read(9, 0x3008_0000))?, Ok(0x0308_0000), 1)?;
            holds(Rule::Walk, bench.misses == 4, || {
                format!("{} misses told", bench.misses)
            })
        },
    );
}

/// C26: 256 pages of 4 KB and 64 of 256 KB are there at once; one more evicts the one whose place it takes, and no other.
#[test]
fn c26_one_page_too_many_evicts() {
    run("mc::mmu::c26_one_page_too_many_evicts", |mut bench| {
        for (base, bits, count) in [(0x4000_0000, 12, 256), (0x5000_0000, 18, 64)] {
            for n in 0..=count {
                bench.map(3, base + (n << bits), bits, page(n << bits, ALL));
            }
            for n in 0..count {
                bench.ask(SEND, read(3, base + (n << bits)))?;
            }
            for n in 0..count {
                is(bench.ask(SEND, read(3, base + (n << bits)))?, Ok(n << bits), 0)?;
            }
            let more = bench.ask(SEND, read(3, base + (count << bits)))?;
            holds(Rule::Walk, more.reads > 0 && more.answer == Ok(count << bits), || {
                format!("{more:x?}")
            })?;
            for n in 1..=count {
                is(bench.ask(RECEIVE, read(3, base + (n << bits)))?, Ok(n << bits), 0)?;
            }
            let evicted = bench.ask(RECEIVE, read(3, base))?;
            holds(Rule::Walk, evicted.reads > 0 && evicted.answer == Ok(0), || {
                format!("{evicted:x?}")
            })?;
        }
        Ok(())
    });
}

/// C26: pages side by side lie apart in memory, so what crosses from one to the other asks again.
#[test]
fn c26_a_transfer_across_pages_is_translated_page_by_page() {
    run(
        "mc::mmu::c26_a_transfer_across_pages_is_translated_page_by_page",
        |mut bench| {
            let frames = [0x0070_0000, 0x0011_0000, 0x0300_1000];
            for (n, frame) in (0..).zip(frames) {
                bench.map(5, 0x6000_0000 + (n << 12), 12, page(frame, ALL));
            }
            for word in 0..3 * 1024_u32 {
                let told = bench.ask(SEND, read(5, 0x6000_0000 + 4 * word))?;
                let want = frames[(word / 1024) as usize] + 4 * (word % 1024);
                holds(Rule::Answer, told.answer == Ok(want), || {
                    format!("word {word}: {told:x?}, not {want:#x}")
                })?;
                holds(Rule::Walk, (told.reads > 0) == (word % 1024 == 0), || {
                    format!("word {word}: {told:x?}")
                })?;
            }
            Ok(())
        },
    );
}

/// C25: an address of one context is none of another's, and the attempt changes nothing for the first; rights are a page's own.
#[test]
fn c25_contexts_are_kept_apart() {
    run("mc::mmu::c25_contexts_are_kept_apart", |mut bench| {
        let addr = 0x7000_0010;
        bench.map(0x5a3, addr, 12, page(0x1000, ALL));
        is(bench.ask(SEND, read(0x5a3, addr))?, Ok(0x1010), 4)?;
        // Every context that differs in one bit.
        for bit in 0..12 {
            is(bench.ask(RECEIVE, read(0x5a3 ^ 1 << bit, addr))?, Err(Fault::Page), 1)?;
            is(bench.ask(SEND, read(0x5a3, addr))?, Ok(0x1010), 0)?;
        }
        // The same place in the TLB, other bits of the address.
        for bit in 20..32 {
            let told = bench.ask(RECEIVE, read(0x5a3, addr ^ 1 << bit))?;
            holds(Rule::Answer, told.answer == Err(Fault::Page), || {
                format!("bit {bit}: {told:x?}")
            })?;
        }
        is(bench.ask(SEND, read(0x5a3, addr))?, Ok(0x1010), 0)?;
        // {user read, user write, system read, system write} of each access field.
        for (access, rights) in [0b1010, 0b1111, 0b1010, 0b1111, 0b0000, 0b1011, 0b0010, 0b0011]
            .into_iter()
            .enumerate()
        {
            bench.map(1, addr, 12, page(0x2000, access as u32));
            bench.demap(Demap::Page(addr))?;
            for (n, (system, write)) in [(false, false), (false, true), (true, false), (true, true)]
                .into_iter()
                .enumerate()
            {
                let told = bench.ask(
                    SEND,
                    Lookup {
                        context: 1,
                        addr,
                        write,
                        system,
                    },
                )?;
                let want = if rights >> (3 - n) & 1 != 0 {
                    Ok(0x2010)
                } else {
                    Err(Fault::Access)
                };
                holds(Rule::Answer, told.answer == want, || {
                    format!("access {access}: {told:x?}, not {want:x?}")
                })?;
            }
        }
        Ok(())
    });
}

/// C25: pages and tables outside cell memory, words that cannot stand where they do.
#[test]
fn c25_forged_tables_are_refused() {
    run("mc::mmu::c25_forged_tables_are_refused", |mut bench| {
        let addr = 0x7000_0000;
        // The first byte after 64 MB, and every other space.
        let spaces = (0..16)
            .filter(|space| *space != CELL_SPACE)
            .map(|space| page(0, ALL) & 0x0fff_ffff | space << 28);
        let outside = spaces.chain([page(1 << 26, ALL)]).map(|word| (word, Fault::Outside));
        for (word, fault) in outside.chain([(0, Fault::Page), (3, Fault::Table), (table(0x1000), Fault::Table)]) {
            bench.map(1, addr, 12, word);
            let told = bench.ask(SEND, read(1, addr))?;
            holds(Rule::Answer, told.answer == Err(fault), || {
                format!("{word:#x}: {told:x?}, not {fault:?}")
            })?;
        }
        bench.memory.words.insert(TABLE + 8, page(0, ALL));
        is(bench.ask(SEND, read(2, addr))?, Err(Fault::Table), 1)?;
        bench.memory.words.insert(TABLE + 8, table(1 << 26));
        is(bench.ask(SEND, read(2, addr))?, Err(Fault::Outside), 1)
    });
}

/// C27: a fault is serviced by entering the page in the table, and the same lookup then goes through, on either side, while the other goes on.
#[test]
fn c27_a_serviced_fault_is_resumed() {
    run("mc::mmu::c27_a_serviced_fault_is_resumed", |mut bench| {
        bench.map(1, 0x7000_0000, 12, page(0x9000, ALL));
        for (c, addr) in [(SEND, 0x0100_3000), (RECEIVE, 0x0240_7000)] {
            // The table is there, the page is not.
            bench.map(4, addr, 12, 0);
            let fault = bench.ask(c, read(4, addr))?;
            holds(Rule::Answer, fault.answer == Err(Fault::Page), || format!("{fault:x?}"))?;
            let other = bench.ask(1 - c, read(1, 0x7000_0000))?;
            holds(Rule::Answer, other.answer == Ok(0x9000), || format!("{other:x?}"))?;
            bench.map(4, addr, 12, page(addr & 0x00ff_ffff, ALL));
            // What was not there was not entered: nothing needs to be forgotten.
            let told = bench.ask(c, read(4, addr))?;
            holds(Rule::Answer, told.answer == Ok(addr & 0x00ff_ffff), || {
                format!("{told:x?}")
            })?;
            // Taken away again: only a demap tells.
            bench.map(4, addr, 12, 0);
            is(bench.ask(c, read(4, addr))?, Ok(addr & 0x00ff_ffff), 0)?;
            bench.demap(Demap::Page(addr))?;
            is(bench.ask(c, read(4, addr))?, Err(Fault::Page), 4)?;
        }
        Ok(())
    });
}

fn checks<U: Width>() -> Vec<Result<(), String>> {
    let test = "mc::mmu::each_twin_is_caught";
    let probe = Probe::default();
    let mut found = Vec::new();
    for gaps in [Gaps::None, Gaps::Both] {
        for slow in [false, true] {
            let case = Case::new("ap1000p", test, format!("{gaps:?} slow {slow}"));
            found.push(follows::<U>(&case, STARTS[0], gaps, slow, &probe).map(|_| ()));
        }
    }
    found.push(latency::<U>(&Case::new("ap1000p", test, ""), &probe));
    found
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Answer", &checks::<TwinMmuRights>),
        ("Answer", &checks::<TwinMmuLarge>),
        ("Answer", &checks::<TwinMmuOutside>),
        ("Answer", &checks::<TwinMmuBus>),
        ("Walk", &checks::<TwinMmuContext>),
        ("Walk", &checks::<TwinMmuDemap>),
        ("Walk", &checks::<TwinMmuRoot>),
        ("Walk", &checks::<TwinMmuReset>),
        ("Latency", &checks::<TwinMmuLate>),
        ("Fair", &checks::<TwinMmuTurn>),
        ("Protocol", &checks::<TwinMmuKeeps>),
        ("Path", &checks::<TwinMmuPath>),
        ("Hang", &checks::<TwinMmuStuck>),
        ("Rest", &checks::<TwinMmuRest>),
    ];
    each_is_caught(&RULES, twins);
}
