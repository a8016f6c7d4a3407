//! Translation against its model. The model gets the words that the unit has read, so that tables may change at any
//! time. It performs the lookups in the order in which their responses become valid.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use support::this_test;
use testbenches::mem::set_word;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::mmu::{Fault as MmuFault, Lookup, Mmu, ReadError};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// The address, or the fault.
    Response
    /// The unit reads the words that the model reads, in its order, and no others.
    Walk
    /// A hit takes three cycles. A walk adds its reads.
    Latency
    /// A client that waits is passed over at most once by the other, and by one demap before each lookup.
    Fair
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// Every lookup and every demap ends.
    Hang
    /// The unit is busy while a lookup is open and while it forgets, and only then.
    Rest
);

/// The clients, by number.
const SEND: usize = 0;
const RECEIVE: usize = 1;

/// Address of the context table.
const TABLE: u32 = 0x0001_0000;

/// To forget the places of an address, or everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demap {
    Page(u32),
    All,
}

#[derive(Clone, Copy, Debug, Default)]
struct In {
    /// Of each client.
    requests: [Option<Lookup>; 2],
    takes: [bool; 2],
    demap: Option<Demap>,
    cmd_ready: bool,
    word: Option<Word>,
}

/// The address of a word of the memory, and the word.
type Word = (u32, Result<u32, ReadError>);

/// The address in cell memory, or the number of the fault.
type Response = Result<u32, u8>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ready: [bool; 2],
    responses: [Option<Response>; 2],
    demap_ready: bool,
    cmd: Option<u32>,
    word_ready: bool,
    misses: bool,
    busy: bool,
}

fn set(dut: &impl Ap1000pMmuPorts, inputs: &In) {
    let junk = Lookup {
        context: 0xaaa,
        addr: 0x5555_5555,
        write: true,
        system: true,
    };
    // The unit ignores the low bits.
    dut.table_i().set((TABLE | 0x3fff).into());
    for c in 0..2 {
        let lookup = inputs.requests[c].unwrap_or(junk);
        dut.req_valid_i().set_bits(c, 1, inputs.requests[c].is_some().into());
        dut.req_context_i().set_bits(12 * c, 12, lookup.context.into());
        dut.req_addr_i().set_bits(32 * c, 32, lookup.addr.into());
        dut.req_write_i().set_bits(c, 1, lookup.write.into());
        dut.req_system_i().set_bits(c, 1, lookup.system.into());
        dut.rsp_ready_i().set_bits(c, 1, inputs.takes[c].into());
    }
    dut.demap_valid_i().set_bool(inputs.demap.is_some());
    dut.demap_all_i().set_bool(matches!(inputs.demap, Some(Demap::All)));
    dut.demap_addr_i().set(match inputs.demap {
        Some(Demap::Page(addr)) => addr.into(),
        _ => 0xffff_ffff,
    });
    dut.mem_cmd_ready_i().set_bool(inputs.cmd_ready);
    let (at, read) = inputs.word.unwrap_or((4, Err(ReadError)));
    // A word with an error says otherwise than the error.
    let word = u64::from(read.unwrap_or(0));
    dut.mem_data_valid_i().set_bool(inputs.word.is_some());
    // A bus of 64 bits has another word beside it.
    let other = 0x8765_4321;
    let is_upper = dut.mem_data_data_i().width() == 64 && at & 4 != 0;
    let beat = if is_upper {
        word << 32 | other
    } else {
        word | other << 32
    };
    set_word(dut.mem_data_data_i(), beat);
    dut.mem_data_last_i().set_bool(true);
    dut.mem_data_err_i().set_bool(read.is_err());
}

fn seen(dut: &impl Ap1000pMmuPorts) -> Out {
    let response = |c| match dut.rsp_fault_o().get_bits(3 * c, 3) {
        0 => Ok(dut.rsp_addr_o().get_bits(32 * c, 32) as u32),
        fault => Err(fault as u8),
    };
    Out {
        ready: [0, 1].map(|c| dut.req_ready_o().bit(c)),
        responses: [0, 1].map(|c| dut.rsp_valid_o().bit(c).then(|| response(c))),
        demap_ready: dut.demap_ready_o().is_set(),
        cmd: dut
            .mem_cmd_valid_o()
            .is_set()
            .then(|| dut.mem_cmd_addr_o().get() as u32),
        word_ready: dut.mem_data_ready_o().is_set(),
        misses: dut.miss_o().is_set(),
        busy: dut.busy_o().is_set(),
    }
}

/// An MMU under test.
struct Unit {
    dut: Dut<In, Out>,
    /// Bits of an address in cell memory.
    mem_bits: u32,
}

/// With the default number of bits.
fn mmu<U: Ap1000pMmuUnit + 'static>() -> Unit {
    let dut = Dut::of::<U>(set, seen);
    Unit { dut, mem_bits: 26 }
}

fn narrow() -> Unit {
    let mem_bits = Ap1000pMmuNarrow::MEM_W as u32;
    Unit {
        mem_bits,
        ..mmu::<Ap1000pMmuNarrow>()
    }
}

/// The choices of random lookups: few contexts and pages, which share places in the TLBs.
const CONTEXTS: [u16; 6] = [0, 1, 2, 0x5a3, 0x801, 0xfff];
const REGIONS: [u32; 4] = [0x00, 0x01, 0x40, 0xff];
const SEGMENTS: [u32; 3] = [0, 1, 0x3f];
const PAGES: [u32; 4] = [0, 1, 5, 0x3f];

/// Addresses of the tables of a context, of a region of 16 MB and of a segment of 256 KB, by their numbers above.
fn regions_of(context: usize) -> u32 {
    0x0010_0000 + context as u32 * 0x400
}

fn segments_of(context: usize, region: usize) -> u32 {
    0x0020_0000 + (context * REGIONS.len() + region) as u32 * 0x100
}

fn pages_of(context: usize, region: usize, segment: usize) -> u32 {
    0x0030_0000 + ((context * REGIONS.len() + region) * SEGMENTS.len() + segment) as u32 * 0x100
}

/// A table's word: the next table is at this address.
fn table(at: u32) -> u32 {
    CELL_SPACE << 28 | at >> 4 | ENTRY_TABLE
}

/// A table's word: the page is at this address, with this access field.
fn page(at: u32, access: u32) -> u32 {
    CELL_SPACE << 28 | at >> 4 | access << TABLE_ACCESS_SHIFT | ENTRY_PAGE
}

/// The access field of a page that all may read and write.
const ALL: u32 = 3;

struct Memory {
    words: BTreeMap<u32, u32>,
    rng: Rng,
    accepts: Pacer,
    /// Cycles from a command to its word beyond the first.
    latency: u64,
    /// One word in this many has an error; 0: none.
    errors: u64,
    /// The word to come, and its first cycle.
    next: Option<(u64, Word)>,
}

impl Memory {
    /// The word on offer.
    fn word(&self, now: u64) -> Option<Word> {
        self.next.filter(|(at, _)| *at <= now).map(|(_, word)| word)
    }

    fn read(&mut self, at: u32, now: u64) {
        let read = if self.errors > 0 && self.rng.chance(1, self.errors) {
            Err(ReadError)
        } else {
            Ok(self.words.get(&at).copied().unwrap_or(0))
        };
        let wait = self.rng.between(0, self.latency);
        self.next = Some((now + 1 + wait, (at, read)));
    }
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    lookup: Lookup,
    /// The cycle in which it was taken.
    taken: u64,
    responded: bool,
    /// Responses to the other client since.
    passed: u32,
    /// Demaps taken since.
    demaps: u32,
}

/// The end of a lookup, with the number of its reads and of its cycles.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    result: Result<u32, MmuFault>,
    reads: usize,
    cycles: u64,
}

impl Outcome {
    /// The end is this one, after this number of reads.
    fn is(self, result: Result<u32, MmuFault>, reads: usize) -> Result<(), Fault> {
        self.ends(result)?;
        Rule::Walk.holds(self.reads == reads, || format!("{self:x?}, not {reads} reads"))
    }

    /// The end is this one.
    fn ends(self, result: Result<u32, MmuFault>) -> Result<(), Fault> {
        Rule::Response.holds(self.result == result, || format!("{self:x?}, not {result:x?}"))
    }

    /// The end is this one, after a walk.
    fn walked(self, result: Result<u32, MmuFault>) -> Result<(), Fault> {
        self.ends(result)?;
        Rule::Walk.holds(self.reads > 0, || format!("{self:x?}, without a walk"))
    }
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    gaps: Gaps,
    /// The memory pauses and has errors.
    slow: bool,
}

/// The unit with its clients and its memory.
struct Environment<'a> {
    bench: Bench<'a, In, Out>,
    mem_bits: u32,
    model: Mmu,
    memory: Memory,
    requests: [Source<Lookup>; 2],
    demaps: Source<Demap>,
    takes: [Pacer; 2],
    monitors: [Monitor<Response>; 2],
    commands: Monitor<u32>,
    open: [Option<Open>; 2],
    /// Words read since the last response.
    log: VecDeque<Word>,
    outcomes: Vec<Outcome>,
    misses: u32,
    /// Address of the last table made by [`map`](Self::map).
    last: u32,
}

impl<'a> Environment<'a> {
    fn new(run: &Run<'a>, unit: &Unit, Plan { gaps, slow }: Plan) -> Result<Self, Fault> {
        let mut env = Environment {
            bench: Bench::new(run, &unit.dut),
            mem_bits: unit.mem_bits,
            model: Mmu::new(TABLE, unit.mem_bits),
            memory: Memory {
                words: BTreeMap::new(),
                rng: run.rng("memory"),
                accepts: run.pacer(slow, "memory accepts"),
                latency: if slow { 20 } else { 0 },
                errors: if slow { 40 } else { 0 },
                next: None,
            },
            requests: ["send", "receive"].map(|name| Source::new([], run.pacer(gaps.at_source(), name))),
            demaps: Source::new([], run.pacer(true, "demaps")),
            takes: ["send takes", "receive takes"].map(|name| run.pacer(gaps.at_sink(), name)),
            monitors: Default::default(),
            commands: Monitor::default(),
            open: [None; 2],
            log: VecDeque::new(),
            outcomes: Vec::new(),
            misses: 0,
            last: 0x0010_0000,
        };
        env.reset(3)?;
        Ok(env)
    }

    fn reset(&mut self, cycles: u64) -> Result<(), Fault> {
        for _ in 0..cycles {
            self.bench.reset(&In::default())?;
        }
        self.model = Mmu::new(TABLE, self.mem_bits);
        self.memory.next = None;
        self.open = [None; 2];
        self.log.clear();
        self.commands.reset();
        self.demaps.reset();
        self.requests.iter_mut().for_each(Source::reset);
        self.monitors.iter_mut().for_each(Monitor::reset);
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let inputs = In {
            requests: self.requests.each_mut().map(|source| source.offer().copied()),
            takes: self.takes.each_mut().map(Pacer::step),
            demap: self.demaps.offer().copied(),
            cmd_ready: self.memory.accepts.step(),
            word: self.memory.word(now),
        };
        let seen = self.bench.step(&inputs)?;
        self.check(now, &inputs, &seen).map_err(|fault| fault.at(now))
    }

    fn check(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        self.misses += u32::from(seen.misses);
        self.commands.step(seen.cmd.as_ref(), inputs.cmd_ready)?;
        if let Some(word) = inputs.word.filter(|_| seen.word_ready) {
            self.log.push_back(word);
            self.memory.next = None;
        }
        if let Some(at) = seen.cmd.filter(|_| inputs.cmd_ready) {
            self.memory.read(at, now);
        }
        for c in [SEND, RECEIVE] {
            if let Some(response) = seen.responses[c]
                && self.open[c].is_none_or(|open| !open.responded)
            {
                self.respond(c, response, now)?;
            }
        }
        let idle = self.open.iter().all(Option::is_none);
        Rule::Rest.holds(seen.busy || idle, || "not busy".into())?;
        if inputs.demap.is_some() && seen.demap_ready {
            for open in self.open.iter_mut().flatten().filter(|open| !open.responded) {
                open.demaps += 1;
                Rule::Fair.holds(open.demaps <= 1 + open.passed, || format!("demaps pass over {open:x?}"))?;
            }
        }
        for c in [SEND, RECEIVE] {
            self.monitors[c].step(seen.responses[c].as_ref(), inputs.takes[c])?;
            if seen.responses[c].is_some() && inputs.takes[c] {
                self.open[c] = None;
            }
            if let Some(lookup) = self.requests[c].step(seen.ready[c]) {
                self.open[c] = Some(Open {
                    lookup,
                    taken: now,
                    responded: false,
                    passed: 0,
                    demaps: 0,
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

    /// A new response to a client.
    fn respond(&mut self, c: usize, got: Response, now: u64) -> Result<(), Fault> {
        let Some(open) = &mut self.open[c] else {
            return Err(Rule::Response.broken(format!("client {c}: {got:x?} without a request")));
        };
        open.responded = true;
        let Open { lookup, taken, .. } = *open;
        let reads = self.log.len();
        let mut astray = None;
        let result = self.model.lookup(&lookup, |at| match self.log.pop_front() {
            Some((read, word)) if read == at => word,
            other => {
                astray = astray.or(Some((at, other)));
                Err(ReadError)
            }
        });
        let (what, more) = (format!("client {c}, {lookup:x?}"), &self.log);
        Rule::Walk.holds(astray.is_none() && more.is_empty(), || {
            format!("{what}: {{wanted, read}} {astray:x?}, then {more:x?}")
        })?;
        let want = result.map_err(|fault| fault as u8);
        Rule::Response.holds(got == want, || format!("{what}: {got:x?}, not {want:x?}"))?;
        self.outcomes.push(Outcome {
            result,
            reads,
            cycles: now - taken,
        });
        if let Some(other) = &mut self.open[1 - c]
            && !other.responded
        {
            other.passed += 1;
            Rule::Fair.holds(other.passed <= 1, || format!("{what} passes over {other:x?}"))?;
        }
        Ok(())
    }

    /// Until no lookup and no demap is left.
    fn finish(&mut self) -> Result<(), Fault> {
        let end = self.bench.cycle() + 100_000;
        loop {
            let left = self.requests[0].len() + self.requests[1].len() + self.demaps.len();
            if left == 0 && self.open.iter().all(Option::is_none) {
                break;
            }
            self.cycle()?;
            Rule::Hang.holds(self.bench.cycle() < end, || format!("{left} left, {:x?}", self.open))?;
        }
        self.cycle()?;
        Rule::Rest.holds(!self.bench.seen().busy, || "busy after the last response".into())
    }

    /// One lookup alone.
    fn lookup(&mut self, c: usize, lookup: Lookup) -> Result<Outcome, Fault> {
        self.requests[c].push(lookup);
        self.finish()?;
        Ok(*self.outcomes.last().expect("a lookup that is done has its outcome"))
    }

    /// One read of a context's byte by a user.
    fn read(&mut self, c: usize, context: u16, addr: u32) -> Result<Outcome, Fault> {
        let (write, system) = (false, false);
        self.lookup(
            c,
            Lookup {
                context,
                addr,
                write,
                system,
            },
        )
    }

    fn demap(&mut self, demap: Demap) -> Result<(), Fault> {
        self.demaps.push(demap);
        self.finish()
    }

    /// Enters this word for a page of 2^`bits` bytes. Makes the tables that are missing.
    fn map(&mut self, context: u16, addr: u32, bits: u32, word: u32) {
        let words = &mut self.memory.words;
        let mut at = TABLE + 4 * u32::from(context);
        for (level, index) in [(24, addr >> 24), (18, addr >> 18 & 0x3f), (12, addr >> 12 & 0x3f)] {
            let next = words
                .get(&at)
                .filter(|word| *word & TABLE_TYPE_MASK == ENTRY_TABLE)
                .map(|word| word << 4 & 0x03ff_ff00);
            let next = next.unwrap_or_else(|| {
                self.last += 0x400;
                words.insert(at, table(self.last));
                self.last
            });
            at = next + 4 * index;
            if level == bits {
                break;
            }
        }
        words.insert(at, word);
    }

    /// Changes a word of the tables of the random lookups: mostly to a fitting one, else to anything.
    fn change(&mut self, rng: &mut Rng) {
        let (context, region, segment) = (rng.below(6) as usize, rng.below(4) as usize, rng.below(3) as usize);
        let space = match rng.below(12) {
            0 => rng.below(16) as u32,
            _ => CELL_SPACE,
        };
        let random = rng.bits() as u32;
        let inside = (random & ((1_u64 << (self.mem_bits - 4)) - 1) as u32 & !0xff) | (random & 0xe0);
        let leaf = space << 28 | inside | (rng.below(8) as u32) << TABLE_ACCESS_SHIFT | ENTRY_PAGE;
        // A table's size leaves out the low bits of its address.
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
    // One context is frequent.
    let frequent = rng.chance(1, 2);
    Lookup {
        context: if frequent { CONTEXTS[3] } else { pick(rng, &CONTEXTS) },
        addr: random_addr(rng),
        write: rng.chance(1, 3),
        system: rng.chance(1, 3),
    }
}

/// Lookups of a run that hit, that walked, and that ended with each fault.
#[derive(Debug, Default)]
struct Counts {
    hits: usize,
    walks: usize,
    faults: [usize; 5],
}

impl Counts {
    fn of(outcomes: &[Outcome]) -> Counts {
        let count = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
        Counts {
            hits: count(&|outcome| outcome.reads == 0 && outcome.result.is_ok()),
            walks: count(&|outcome| outcome.reads > 0 && outcome.result.is_ok()),
            faults: MmuFault::ALL.map(|fault| count(&|outcome| outcome.result == Err(fault))),
        }
    }

    fn add(&mut self, more: &Counts) {
        self.hits += more.hits;
        self.walks += more.walks;
        for (all, more) in self.faults.iter_mut().zip(more.faults) {
            *all += more;
        }
    }
}

/// Random lookups of both clients, changes of tables with and without a demap, errors of the memory, resets at any
/// time.
fn random(run: &Run, unit: &Unit, plan: Plan) -> Result<Counts, Fault> {
    let mut env = Environment::new(run, unit, plan)?;
    let mut rng = run.rng("work");
    for _ in 0..2000 {
        env.change(&mut rng);
    }
    for round in 0..4 {
        for c in [SEND, RECEIVE] {
            for _ in 0..800 {
                env.requests[c].push(random_lookup(&mut rng));
            }
        }
        // In one round a demap always waits.
        let demaps = if round == 1 { 6 } else { 150 };
        let end = env.bench.cycle() + rng.between(2000, 8000);
        while env.bench.cycle() < end {
            if rng.chance(1, 20) {
                env.change(&mut rng);
            }
            if rng.chance(1, demaps) && env.demaps.len() < 4 {
                let page = Demap::Page(random_addr(&mut rng));
                env.demaps.push(if rng.chance(1, 60) { Demap::All } else { page });
            }
            env.cycle()?;
        }
        if round % 2 == 1 {
            env.reset(rng.between(1, 3))?;
        }
        env.finish()?;
    }
    let counts = Counts::of(&env.outcomes);
    assert!(plan.slow || counts.faults[4] == 0, "faults {:?}", counts.faults);
    Ok(counts)
}

/// Each case's numbers go to `count`.
fn follows(unit: &Unit, starts: &[Start], gaps: &[Gaps], cases: &mut Cases, count: impl Fn(Counts)) {
    for &gaps in gaps {
        for slow in [false, true] {
            let plan = Plan { gaps, slow };
            let params = format!("{} {plan:?}", unit.dut.name);
            cases.from_each(starts, params, |run| random(run, unit, plan).map(&count));
        }
    }
}

/// A memory that answers at once, and clients that do not pause.
const FAST: Plan = Plan {
    gaps: Gaps::None,
    slow: false,
};

/// Cycles of hits and of walks, with a memory that answers at once.
fn latency(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Random1, unit.dut.name, |run| {
        let mut env = Environment::new(run, unit, FAST)?;
        env.map(7, 0x1234_5000, 12, page(0x5000, ALL));
        env.map(7, 0x1200_0000, 18, page(0x8_0000, ALL));
        // The first one waits for the reset's sweep.
        env.read(SEND, 7, 0xf000_0000)?;
        env.demap(Demap::All)?;
        for (c, addr, reads, cycles) in [
            (SEND, 0x1234_5678, 4, 3 + 4 * 3 + 4),
            (RECEIVE, 0x1234_5678, 0, 3),
            (SEND, 0x1234_5fff, 0, 3),
            (RECEIVE, 0x1203_0000, 2, 3 + 2 * 3 + 4),
            (SEND, 0x1203_0004, 0, 3),
            // There is no such page: nothing is entered.
            (SEND, 0x1234_6000, 3, 3 + 3 * 3),
        ] {
            let got = env.read(c, 7, addr)?;
            Rule::Walk.holds(got.reads == reads, || format!("{addr:#x}: {got:x?}, not {reads} reads"))?;
            let what = || format!("{addr:#x}: {got:x?}, not {cycles} cycles");
            Rule::Latency.holds(got.cycles == cycles, what)?;
        }
        Ok(())
    });
}

/// After a reset the unit is busy until it has forgotten everything.
fn forgets(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} forgets", unit.dut.name), |run| {
        let mut env = Environment::new(run, unit, FAST)?;
        for cycle in 0..256 {
            Rule::Rest.holds(env.bench.seen().busy, || {
                format!("at rest {cycle} cycles after a reset")
            })?;
            env.cycle()?;
        }
        Rule::Rest.holds(!env.bench.seen().busy, || {
            "busy after it has forgotten everything".into()
        })
    });
}

/// One case of the unit with a check of its own.
fn case(cases: &mut Cases, check: impl Fn(&mut Environment) -> Result<(), Fault>) {
    let unit = mmu::<Ap1000pMmu>();
    cases.case(Start::Random1, unit.dut.name, |run| {
        check(&mut Environment::new(run, &unit, FAST)?)
    });
}

#[test]
fn follows_its_model() {
    let (all, runs) = (RefCell::new(Counts::default()), Cell::new(0));
    let count = |counts| {
        runs.set(runs.get() + 1);
        all.borrow_mut().add(&counts);
    };
    pass(this_test!(), |cases| {
        for unit in [mmu::<Ap1000pMmu>(), narrow()] {
            follows(&unit, &Start::RANDOM, &Gaps::ALL, cases, count);
        }
    });
    // On average of each in a run.
    let (all, runs) = (all.into_inner(), runs.get());
    println!("{all:?} in {runs} runs");
    let enough = all.hits > 100 * runs && all.walks > 100 * runs && all.faults.iter().all(|&n| n > runs);
    assert!(enough, "{all:?} in {runs} runs");
}

#[test]
fn takes_the_documented_cycles() {
    pass(this_test!(), |cases| {
        latency(&mmu::<Ap1000pMmu>(), cases);
        latency(&narrow(), cases);
    });
}

#[test]
fn busy_until_a_reset_has_forgotten_everything() {
    pass(this_test!(), |cases| forgets(&mmu::<Ap1000pMmu>(), cases));
}

/// C26: a miss walks the context table and three levels. Afterwards pages of both sizes hit.
#[test]
fn c26_a_miss_walks_three_levels_and_then_both_sizes_hit() {
    let check = |env: &mut Environment| {
        env.map(9, 0x2000_0000, 12, page(0x0012_3000, ALL));
        env.map(9, 0x2004_0000, 18, page(0x00f4_0000, ALL));
        env.map(9, 0x3000_0000, 24, page(0x0300_0000, ALL));
        env.read(SEND, 9, 0x2000_0004)?.is(Ok(0x0012_3004), 4)?;
        env.read(RECEIVE, 9, 0x2000_0ffc)?.is(Ok(0x0012_3ffc), 0)?;
        // The same context: the unit knows its first table.
        env.read(SEND, 9, 0x2004_0000)?.is(Ok(0x00f4_0000), 2)?;
        env.read(RECEIVE, 9, 0x2007_fffc)?.is(Ok(0x00f7_fffc), 0)?;
        // 16 MB, 256 KB at a time.
        env.read(SEND, 9, 0x3004_0000)?.is(Ok(0x0304_0000), 1)?;
        env.read(SEND, 9, 0x3007_fffc)?.is(Ok(0x0307_fffc), 0)?;
        env.read(SEND, 9, 0x3008_0000)?.is(Ok(0x0308_0000), 1)?;
        Rule::Walk.holds(env.misses == 4, || format!("{} misses reported", env.misses))
    };
    pass(this_test!(), |cases| case(cases, check));
}

/// C26: the TLBs hold 256 pages of 4 KB and 64 of 256 KB. One more evicts the page at its place, and no other.
#[test]
fn c26_one_page_too_many_evicts() {
    let check = |env: &mut Environment| {
        for (base, bits, count) in [(0x4000_0000, 12, 256), (0x5000_0000, 18, 64)] {
            for n in 0..=count {
                env.map(3, base + (n << bits), bits, page(n << bits, ALL));
            }
            for n in 0..count {
                env.read(SEND, 3, base + (n << bits))?;
            }
            for n in 0..count {
                env.read(SEND, 3, base + (n << bits))?.is(Ok(n << bits), 0)?;
            }
            env.read(SEND, 3, base + (count << bits))?.walked(Ok(count << bits))?;
            for n in 1..=count {
                env.read(RECEIVE, 3, base + (n << bits))?.is(Ok(n << bits), 0)?;
            }
            env.read(RECEIVE, 3, base)?.walked(Ok(0))?;
        }
        Ok(())
    };
    pass(this_test!(), |cases| case(cases, check));
}

/// C26: neighbouring pages lie apart in memory, so a transfer across their border needs a new lookup.
#[test]
fn c26_a_transfer_across_pages_is_translated_page_by_page() {
    let check = |env: &mut Environment| {
        let frames = [0x0070_0000, 0x0011_0000, 0x0300_1000];
        for (n, frame) in (0..).zip(frames) {
            env.map(5, 0x6000_0000 + (n << 12), 12, page(frame, ALL));
        }
        for word in 0..3 * 1024_u32 {
            let got = env.read(SEND, 5, 0x6000_0000 + 4 * word)?;
            got.ends(Ok(frames[(word / 1024) as usize] + 4 * (word % 1024)))?;
            let first = word % 1024 == 0;
            Rule::Walk.holds((got.reads > 0) == first, || format!("word {word}: {got:x?}"))?;
        }
        Ok(())
    };
    pass(this_test!(), |cases| case(cases, check));
}

/// C25: an address of one context belongs to no other one, and the attempt changes nothing for the first. Rights are a
/// page's own.
#[test]
fn c25_contexts_are_kept_apart() {
    let check = |env: &mut Environment| {
        let addr = 0x7000_0010;
        env.map(0x5a3, addr, 12, page(0x1000, ALL));
        env.read(SEND, 0x5a3, addr)?.is(Ok(0x1010), 4)?;
        // Each context that differs in one bit.
        for bit in 0..12 {
            env.read(RECEIVE, 0x5a3 ^ 1 << bit, addr)?.is(Err(MmuFault::Page), 1)?;
            env.read(SEND, 0x5a3, addr)?.is(Ok(0x1010), 0)?;
        }
        // The same place in the TLB, other bits of the address.
        for bit in 20..32 {
            env.read(RECEIVE, 0x5a3, addr ^ 1 << bit)?.ends(Err(MmuFault::Page))?;
        }
        env.read(SEND, 0x5a3, addr)?.is(Ok(0x1010), 0)?;
        // {user read, user write, system read, system write} of each access field.
        let rights = [0b1010, 0b1111, 0b1010, 0b1111, 0b0000, 0b1011, 0b0010, 0b0011];
        for (access, rights) in (0..).zip(rights) {
            env.map(1, addr, 12, page(0x2000, access));
            env.demap(Demap::Page(addr))?;
            for (bit, system, write) in [(3, false, false), (2, false, true), (1, true, false), (0, true, true)] {
                let lookup = Lookup {
                    context: 1,
                    addr,
                    write,
                    system,
                };
                let allowed = rights >> bit & 1 != 0;
                let want = if allowed { Ok(0x2010) } else { Err(MmuFault::Access) };
                env.lookup(SEND, lookup)?.ends(want)?;
            }
        }
        Ok(())
    };
    pass(this_test!(), |cases| case(cases, check));
}

/// C25: pages and tables outside cell memory, and words that cannot stand at their place.
#[test]
fn c25_forged_tables_are_refused() {
    let check = |env: &mut Environment| {
        let addr = 0x7000_0000;
        // Each other space, and the first byte after 64 MB.
        let spaces = (0..16).filter(|space| *space != CELL_SPACE);
        let spaces = spaces.map(|space| page(0, ALL) & 0x0fff_ffff | space << 28);
        let outside = spaces.chain([page(1 << 26, ALL)]).map(|word| (word, MmuFault::Outside));
        let words = [
            (0, MmuFault::Page),
            (3, MmuFault::Table),
            (table(0x1000), MmuFault::Table),
        ];
        for (word, fault) in outside.chain(words) {
            env.map(1, addr, 12, word);
            env.read(SEND, 1, addr)?.ends(Err(fault))?;
        }
        env.memory.words.insert(TABLE + 8, page(0, ALL));
        env.read(SEND, 2, addr)?.is(Err(MmuFault::Table), 1)?;
        env.memory.words.insert(TABLE + 8, table(1 << 26));
        env.read(SEND, 2, addr)?.is(Err(MmuFault::Outside), 1)
    };
    pass(this_test!(), |cases| case(cases, check));
}

/// C27: software serves a fault when it enters the page in the table. The same lookup then succeeds, on either side,
/// and the other side goes on meanwhile.
#[test]
fn c27_a_served_fault_is_resumed() {
    let check = |env: &mut Environment| {
        env.map(1, 0x7000_0000, 12, page(0x9000, ALL));
        for (c, other, addr) in [(SEND, RECEIVE, 0x0100_3000), (RECEIVE, SEND, 0x0240_7000)] {
            let at = addr & 0x00ff_ffff;
            // The table is there, the page is missing.
            env.map(4, addr, 12, 0);
            env.read(c, 4, addr)?.ends(Err(MmuFault::Page))?;
            env.read(other, 1, 0x7000_0000)?.ends(Ok(0x9000))?;
            env.map(4, addr, 12, page(at, ALL));
            // A missing page has no entry, so there is nothing to forget.
            env.read(c, 4, addr)?.ends(Ok(at))?;
            // After the page is removed, its entry holds until a demap.
            env.map(4, addr, 12, 0);
            env.read(c, 4, addr)?.is(Ok(at), 0)?;
            env.demap(Demap::Page(addr))?;
            env.read(c, 4, addr)?.is(Err(MmuFault::Page), 4)?;
        }
        Ok(())
    };
    pass(this_test!(), |cases| case(cases, check));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |unit: Unit, cases: &mut Cases| {
        follows(&unit, &[Start::Random1], &[Gaps::None, Gaps::Both], cases, drop);
        latency(&unit, cases);
    };
    each_is_caught(
        this_test!(),
        &[
            // A page that only the system may read allows its writes.
            (Response, &[], &|cases| checks(mmu::<TwinMmuRights>(), cases)),
            // All 256 KB of a page of 16 MB lie at its first ones.
            (Response, &[], &|cases| checks(mmu::<TwinMmuLarge>(), cases)),
            // A page may lie outside cell memory.
            (Response, &[], &|cases| checks(mmu::<TwinMmuOutside>(), cases)),
            // Errors of the memory do not count.
            (Response, &[], &|cases| checks(mmu::<TwinMmuBus>(), cases)),
            // A page of 4 KB is every context's. This wrong page can hide a large one, which the model finds without a
            // walk.
            (Walk, &[Response], &|cases| checks(mmu::<TwinMmuContext>(), cases)),
            // A demap forgets no page of 4 KB, which can hide a large one, too.
            (Walk, &[Response], &|cases| checks(mmu::<TwinMmuDemap>(), cases)),
            // The first table is every context's.
            (Walk, &[], &|cases| checks(mmu::<TwinMmuRoot>(), cases)),
            // A reset forgets nothing: old pages can hide large ones, too.
            (Walk, &[Response], &|cases| checks(mmu::<TwinMmuReset>(), cases)),
            // A lookup reads the TLBs twice.
            (Latency, &[], &|cases| checks(mmu::<TwinMmuLate>(), cases)),
            // The sender goes first.
            (Fair, &[], &|cases| checks(mmu::<TwinMmuTurn>(), cases)),
            // Demaps go first as long as there are any.
            (Fair, &[], &|cases| checks(mmu::<TwinMmuDemapsFirst>(), cases)),
            // A response lasts one cycle.
            (Protocol, &[], &|cases| checks(mmu::<TwinMmuKeeps>(), cases)),
            (Path, &[], &|cases| checks(mmu::<TwinMmuPath>(), cases)),
            // To forget everything begins again and again.
            (Hang, &[], &|cases| checks(mmu::<TwinMmuStuck>(), cases)),
            // A lookup counts only while the unit works on it.
            (Rest, &[], &|cases| checks(mmu::<TwinMmuRest>(), cases)),
            // The unit is at rest while it forgets.
            (Rest, &[], &|cases| forgets(&mmu::<TwinMmuForgets>(), cases)),
        ],
    );
}
