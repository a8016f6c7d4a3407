//! The host's window in lock step with its golden model: each store, each refusal, each word of the three streams.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::command::{CommandModel, Refused, Setup};
use tsunagi::ap1000p::golden::page::{Owner, Page};
use tsunagi::ap1000p::golden::{Queue, Word};
use tsunagi::ap1000p::regs::{COMMAND_WORDS, PAGE_DIRECT_MASK, PAGE_SYSTEM_MASK};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// The model's words leave, each in its stream.
    Words
    /// The model's refusals, with cause, page and count.
    Refusal
    /// Counts, pages and words of open commands are the model's.
    Open
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// A store per cycle, a word per cycle.
    Rate
    /// Two cycles from the last store to the first word.
    Latency
    /// With `busy_o` low no word is on offer, and an edge changes nothing.
    Rest
    /// Every word leaves, and then `busy_o` is low.
    Hang
);

/// A word stored to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    pub page: u16,
    pub data: u32,
}

/// Numbers of the streams.
const SYSTEM: usize = 0;
pub const USER: usize = 1;
const DIRECT: usize = 2;

#[derive(Clone, Copy, Debug)]
pub struct In {
    pub store: Option<Store>,
    /// By stream.
    pub ready: [bool; 3],
    pub setup: Setup,
    /// Owners with an open command that is to be forgotten.
    pub drop: u8,
    /// The word of an open command to be shown.
    pub peek: u8,
}

impl In {
    /// Without a store and without takers.
    pub fn idle(setup: Setup) -> In {
        In {
            store: None,
            ready: [false; 3],
            setup,
            drop: 0,
            peek: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    pub busy: bool,
    pub ready: bool,
    /// By stream: queue, one-hot, and word.
    pub words: [Option<(u8, Word)>; 3],
    /// Whether something is refused in this cycle; cause and page of the last refusal.
    pub refused: bool,
    pub why: (u8, u16),
    count: u16,
    /// Words of the open command, and its page, by owner.
    open: [(u8, u16); 2],
    peek: u32,
}

fn set(dut: &impl Ap1000pCommandPorts, inputs: &In) {
    dut.store_valid_i().set_bool(inputs.store.is_some());
    let junk = Store {
        page: 0x2000,
        data: 0xdead_beef,
    };
    let store = inputs.store.unwrap_or(junk);
    dut.store_page_i().set(store.page.into());
    dut.store_data_i().set(store.data.into());
    dut.system_ready_i().set_bool(inputs.ready[SYSTEM]);
    dut.user_ready_i().set_bool(inputs.ready[USER]);
    dut.direct_ready_i().set_bool(inputs.ready[DIRECT]);
    let setup = &inputs.setup;
    dut.context_i().set(setup.context.into());
    dut.size_x_i().set(setup.size[0].into());
    dut.size_y_i().set(setup.size[1].into());
    let byte = |distance: i8| u64::from(distance as u8);
    dut.low_x_i().set(byte(setup.low[0]));
    dut.low_y_i().set(byte(setup.low[1]));
    dut.high_x_i().set(byte(setup.high[0]));
    dut.high_y_i().set(byte(setup.high[1]));
    dut.drop_i().set(inputs.drop.into());
    dut.peek_i().set(inputs.peek.into());
}

fn seen(dut: &impl Ap1000pCommandPorts) -> Out {
    let word = |queue, data: u64, end| {
        let data = data as u32;
        (queue, Word { data, end })
    };
    let system = || {
        let (data, end) = (dut.system_data_o().get(), dut.system_end_o().is_set());
        word(Queue::System.bit(), data, end)
    };
    let user = || {
        let (data, end) = (dut.user_data_o().get(), dut.user_end_o().is_set());
        word(Queue::User.bit(), data, end)
    };
    let direct = || {
        let (data, end) = (dut.direct_data_o().get(), dut.direct_end_o().is_set());
        word(dut.direct_queue_o().get() as u8, data, end)
    };
    let open = |owner: usize| {
        let count = dut.open_count_o().get_bits(3 * owner, 3) as u8;
        (count, dut.open_page_o().get_bits(16 * owner, 16) as u16)
    };
    Out {
        busy: dut.busy_o().is_set(),
        ready: dut.store_ready_o().is_set(),
        words: [
            dut.system_valid_o().is_set().then(system),
            dut.user_valid_o().is_set().then(user),
            dut.direct_valid_o().is_set().then(direct),
        ],
        refused: dut.refused_valid_o().is_set(),
        why: (dut.refused_cause_o().get() as u8, dut.refused_page_o().get() as u16),
        count: dut.refused_count_o().get() as u16,
        open: [open(0), open(1)],
        peek: dut.peek_data_o().get() as u32,
    }
}

pub fn dut<U: Ap1000pCommandUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Cycles until an input other than a store has its effect.
const SETTLED: u32 = 4;

/// A torus of 8 x 4 cells. A user may reach 3 x 3 cells around the own one.
pub const SETUP: Setup = Setup {
    context: 0x5a3,
    size: [8, 4],
    low: [-1, -1],
    high: [1, 1],
};

/// The eight stores of a command.
pub fn command(page: u16, head: u32, length: u32, rng: &mut Rng) -> Vec<Store> {
    let data = |i| match i {
        0 => head,
        1 => length,
        _ => rng.bits() as u32,
    };
    (0..COMMAND_WORDS).map(data).map(|data| Store { page, data }).collect()
}

/// The outputs that are due.
#[derive(Default)]
struct Due {
    /// Words, by stream.
    words: [VecDeque<(Queue, Word)>; 3],
    refusals: VecDeque<(Refused, u16)>,
    refused: u16,
    /// Cause and page of the last refusal, zero after a reset.
    why: (u8, u16),
}

impl Due {
    fn len(&self) -> usize {
        self.words.iter().map(VecDeque::len).sum::<usize>() + self.refusals.len()
    }

    fn word(&mut self, stream: usize, (bit, word): (u8, Word)) -> Result<(), Fault> {
        let want = self.words[stream].pop_front();
        let got = Queue::from_bit(bit).map(|queue| (queue, word));
        Rule::Words.holds(got.is_some() && got == want, || {
            format!("stream {stream} gave {word:x?} for queue {bit:#b}, not {want:x?}")
        })
    }

    fn refusal(&mut self, seen: &Out) -> Result<(), Fault> {
        if seen.refused {
            let want = self.refusals.pop_front();
            let Some((cause, page)) = want else {
                return Err(Rule::Refusal.broken(format!("{:x?} is refused and must not be", seen.why)));
            };
            self.refused += 1;
            self.why = (cause as u8, page);
        }
        let (got, want) = ((seen.why, seen.count), (self.why, self.refused));
        Rule::Refusal.holds(got == want, || {
            format!("cause, page and count of refusals are {got:x?}, not {want:x?}")
        })
    }

    fn store(&mut self, model: &mut CommandModel, setup: &Setup, store: Store) {
        let outcome = model.store(setup, store.page, store.data);
        if let Some((queue, words)) = outcome.words {
            let is_direct = matches!(Page::decode(store.page), Some(Page::Direct { .. }));
            let stream = match queue {
                _ if is_direct => DIRECT,
                Queue::System => SYSTEM,
                _ => USER,
            };
            self.words[stream].extend(words.into_iter().map(|word| (queue, word)));
        }
        self.refusals.extend(outcome.refused);
    }
}

/// A window with its stores, its takers and its model.
pub struct Bench<'a> {
    bench: testbenches::Bench<'a, In, Out>,
    pub setup: Setup,
    stores: Source<Store>,
    /// By stream.
    sinks: [Sink<(u8, Word)>; 3],
    pub model: CommandModel,
    due: Due,
    /// Words given, by stream.
    pub given: [u64; 3],
    /// Cycles in which a store waited.
    stalls: u64,
    /// The last cycle in which a store was taken, and the first one in which a word of the user was offered.
    stored: Option<u64>,
    offered: Option<u64>,
    /// Cycles since an input other than a store changed.
    calm: u32,
    set_up: Setup,
    gate: Rng,
}

impl<'a> Bench<'a> {
    pub fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps) -> Result<Bench<'a>, Fault> {
        let mut bench = Bench {
            bench: testbenches::Bench::new(run, dut),
            setup: SETUP,
            stores: Source::new([], run.pacer(gaps.at_source(), "stores")),
            sinks: ["system", "user", "direct"].map(|name| Sink::new(run.pacer(gaps.at_sink(), name))),
            model: CommandModel::default(),
            due: Due::default(),
            given: [0; 3],
            stalls: 0,
            stored: None,
            offered: None,
            calm: 0,
            set_up: SETUP,
            gate: run.rng("gate"),
        };
        bench.reset()?;
        Ok(bench)
    }

    /// The unit forgets all words inside.
    fn reset(&mut self) -> Result<(), Fault> {
        for _ in 0..3 {
            self.bench.reset(&In::idle(self.setup))?;
            let Out { open, peek, .. } = self.bench.seen();
            Rule::Open.holds((open, peek) == ([(0, 0); 2], 0), || {
                format!("a reset leaves {open:x?} open, and {peek:#x} shown")
            })?;
        }
        self.calm = 0;
        self.model = CommandModel::default();
        self.due = Due::default();
        self.stores.reset();
        self.stores.stop();
        self.sinks.iter_mut().for_each(Sink::reset);
        Ok(())
    }

    pub fn store(&mut self, stores: impl IntoIterator<Item = Store>) {
        stores.into_iter().for_each(|store| self.stores.push(store));
    }

    /// From now on the words of this stream are taken so.
    fn take(&mut self, stream: usize, pacer: Pacer) {
        self.sinks[stream] = Sink::new(pacer);
    }

    pub fn cycle(&mut self) -> Result<(), Fault> {
        let cycle = self.bench.cycle();
        let inputs = In {
            store: self.stores.offer().copied(),
            ready: self.sinks.each_mut().map(Sink::ready),
            ..In::idle(self.setup)
        };
        if self.set_up != self.setup {
            (self.calm, self.set_up) = (0, self.setup);
        }
        self.calm += 1;
        let still = inputs.store.is_none() && self.calm > SETTLED;
        let clocked = self.gate.chance(1, 2);
        let seen = self.bench.step_gated(&inputs, |seen| !seen.busy && still, clocked)?;
        self.check(cycle, &seen).map_err(|fault| fault.at(cycle))?;
        self.stalls += u64::from(inputs.store.is_some() && !seen.ready);
        if let Some(store) = self.stores.step(seen.ready) {
            self.stored = Some(cycle);
            self.due.store(&mut self.model, &self.setup, store);
        }
        Ok(())
    }

    fn check(&mut self, cycle: u64, seen: &Out) -> Result<(), Fault> {
        let idle = seen.words.iter().all(Option::is_none);
        Rule::Rest.holds(seen.busy || idle, || format!("at rest with {seen:x?}"))?;
        Rule::Open.holds(seen.open.iter().all(|(count, _)| *count <= 8), || {
            format!("more words than a command has: {:?}", seen.open)
        })?;
        if seen.words[USER].is_some() {
            self.offered.get_or_insert(cycle);
        }
        for (stream, sink) in self.sinks.iter_mut().enumerate() {
            if let Some(word) = sink.step(seen.words[stream])? {
                self.due.word(stream, word)?;
                self.given[stream] += 1;
            }
        }
        self.due.refusal(seen)
    }

    pub fn run(&mut self, cycles: u64) -> Result<(), Fault> {
        (0..cycles).try_for_each(|_| self.cycle())
    }

    /// Until all is stored and given, and the unit is at rest.
    pub fn finish(&mut self, limit: u64) -> Result<(), Fault> {
        let end = self.bench.cycle() + limit;
        loop {
            self.cycle()?;
            let (left, busy) = (self.due.len() + self.stores.len(), self.bench.seen().busy);
            if left == 0 && !busy {
                return self.check_open();
            }
            Rule::Hang.holds(self.bench.cycle() < end, || {
                format!("{left} stores, words and refusals left, busy {busy}")
            })?;
        }
    }

    /// A cycle without stores and takers that shows this word of an open command.
    fn peek(&mut self, peek: u8) -> Result<Out, Fault> {
        self.calm = 0;
        let idle = In::idle(self.setup);
        self.bench.step(&In { peek, ..idle })
    }

    /// The outputs for open commands, while nothing is stored or taken.
    pub fn check_open(&mut self) -> Result<(), Fault> {
        self.peek(0)?;
        for owner in Owner::ALL {
            let (page, words) = self.model.open(owner);
            let words = words.to_vec();
            let (count, open) = self.bench.seen().open[owner as usize];
            Rule::Open.holds(usize::from(count) == words.len(), || {
                format!("{owner:?} has {count} words open, not {}", words.len())
            })?;
            Rule::Open.holds(words.is_empty() || open == page, || {
                format!("{owner:?} has page {open:#06x} open, not {page:#06x}")
            })?;
            // Beyond the last word the unit shows zero.
            for (i, word) in words.iter().copied().chain([0]).enumerate() {
                let peek = (owner as u8) << 3 | i as u8;
                self.peek(peek)?;
                self.peek(peek)?;
                let got = self.bench.seen().peek;
                Rule::Open.holds(got == word, || format!("{owner:?} word {i} is {got:#x}, not {word:#x}"))?;
            }
        }
        Ok(())
    }

    /// The operating system drops an owner's open command. A word that waits with it makes room within the cycle.
    pub fn forget(&mut self, owner: Owner) {
        self.calm = 0;
        let drop = 1 << owner as u8;
        self.bench.through(
            &In {
                drop,
                ..In::idle(self.setup)
            },
            false,
        );
        self.model.drop(owner);
    }
}

/// The page codes of commands.
pub fn pages() -> Vec<u16> {
    let is_command = |code: &u16| matches!(Page::decode(*code), Some(Page::Command { .. }));
    (0..=u16::MAX).filter(is_command).collect()
}

/// The bit of an owner in a page code.
pub fn page_of(owner: Owner) -> u16 {
    match owner {
        Owner::System => PAGE_SYSTEM_MASK as u16,
        Owner::User => 0,
    }
}

/// A distance: mostly within the range, sometimes at an edge, sometimes any.
fn distance(rng: &mut Rng, size: u8) -> u8 {
    match rng.below(8) {
        0 => rng.bits() as u8,
        1 => size,
        2 => size.wrapping_neg(),
        3 => rng.below(size.into()) as u8,
        _ => (rng.between(0, 2) as u8).wrapping_sub(1),
    }
}

/// A command of this owner, sometimes with a wrong cell or length.
fn any_command(rng: &mut Rng, pages: &[u16], owner: Owner) -> Vec<Store> {
    let of_owner = |page: &&u16| **page & PAGE_SYSTEM_MASK as u16 == page_of(owner);
    let pages: Vec<&u16> = pages.iter().filter(of_owner).collect();
    let page = *pages[rng.below(pages.len() as u64) as usize];
    let junk = if rng.chance(1, 20) { 1 << rng.between(16, 31) } else { 0 };
    let head = u32::from(distance(rng, SETUP.size[0])) << 8 | u32::from(distance(rng, SETUP.size[1])) | junk;
    let length = if rng.chance(1, 12) {
        rng.bits() as u32
    } else {
        rng.below(1 << 20) as u32
    };
    command(page, head, length, rng)
}

/// Commands of both owners, mixed word by word, with changes of pages, unknown pages, wrong cells and lengths, and
/// direct words.
fn stores(rng: &mut Rng, count: usize) -> Vec<Store> {
    let pages = pages();
    let mut left: [VecDeque<Store>; 2] = Default::default();
    let mut list = Vec::new();
    while list.len() < count {
        let owner = Owner::ALL[rng.below(2) as usize];
        let left = &mut left[owner as usize];
        if left.is_empty() || rng.chance(1, 60) {
            *left = any_command(rng, &pages, owner).into();
        }
        match rng.below(24) {
            // A page with one wrong bit, or any.
            0 => list.push(Store {
                page: if rng.chance(1, 2) {
                    pages[rng.below(pages.len() as u64) as usize] ^ 1 << rng.below(16)
                } else {
                    rng.bits() as u16
                },
                data: rng.bits() as u32,
            }),
            1 => list.push(Store {
                page: (PAGE_DIRECT_MASK as u16) | (rng.below(2) << 14) as u16 | rng.below(7) as u16,
                data: rng.bits() as u32,
            }),
            _ => {}
        }
        // Some words of one owner before the other's turn.
        for _ in 0..rng.between(1, 5) {
            list.extend(left.pop_front());
        }
    }
    list
}

/// The torus and the range of [`SETUP`], or random ones.
fn any_setup(rng: &mut Rng, is_known: bool) -> Setup {
    let context = rng.below(1 << 12) as u16;
    if is_known {
        return Setup { context, ..SETUP };
    }
    Setup {
        context,
        size: [1 << rng.below(8), rng.between(1, 128) as u8],
        low: [-(rng.below(3) as i8), -(rng.below(64) as i8)],
        high: [rng.below(6) as i8, rng.below(64) as i8],
    }
}

/// Random stores in lock step, with a reset in the middle for one of the starts.
fn follows(dut: &Dut<In, Out>, gaps: Gaps, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, format!("{} {gaps:?}", dut.name), |run| {
        let mut bench = Bench::new(run, dut, gaps)?;
        let mut rng = run.rng("stores");
        for round in 0..3 {
            bench.setup = any_setup(&mut rng, round == 0);
            // A quasi-static input needs a cycle.
            bench.cycle()?;
            bench.store(stores(&mut rng, 1500));
            if round == 1 && run.start == Start::Random2 {
                bench.run(rng.between(50, 900))?;
                bench.reset()?;
            }
            bench.finish(60_000)?;
        }
        Ok(())
    });
}

/// Each page with a broadcast, for users with a range that covers both axes, one, or none.
fn broadcasts(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} broadcasts", dut.name), |run| {
        let mut bench = Bench::new(run, dut, Gaps::None)?;
        let mut rng = run.rng("stores");
        for axes in 0..4 {
            for (axis, size) in SETUP.size.into_iter().enumerate() {
                let is_covered = axes >> axis & 1 == 1;
                bench.setup.high[axis] = size as i8 - if is_covered { 2 } else { 3 };
            }
            bench.finish(100)?;
            let of_users = |page: &u16| *page & PAGE_SYSTEM_MASK as u16 == 0;
            for page in pages().into_iter().filter(of_users) {
                bench.store(command(page, 0x0001, 5, &mut rng));
            }
            bench.finish(10_000)?;
        }
        Ok(())
    });
}

/// Users are switched while two commands wait and a third is open, perhaps with a word that waits too. All its words
/// are shown, and forgotten.
fn switch(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} switch", dut.name), |run| {
        for owner in Owner::ALL {
            for left in 0..8 {
                for open in 0..=left as usize + 1 {
                    switch_at(run, dut, owner, left, open)?;
                }
            }
        }
        Ok(())
    });
}

/// The same after `left` words have left, and with `open` words of the third command.
fn switch_at(run: &Run, dut: &Dut<In, Out>, owner: Owner, left: u64, open: usize) -> Result<(), Fault> {
    let (page, stream) = match owner {
        Owner::System => (page_of(owner), SYSTEM),
        Owner::User => (page_of(owner), USER),
    };
    let mut bench = Bench::new(run, dut, Gaps::None)?;
    let mut rng = run.rng(&format!("{owner:?} {left} {open}"));
    bench.take(USER, Pacer::stopped());
    bench.take(SYSTEM, Pacer::stopped());
    bench.store(command(page, 0x0001, 5, &mut rng));
    bench.store(command(page, 0x0100, 5, &mut rng));
    bench.run(30)?;
    // Then the third command has room for as many words.
    bench.take(stream, Pacer::steady());
    while bench.given[stream] < left {
        bench.cycle()?;
    }
    bench.take(stream, Pacer::stopped());
    let third = command(page, 0x0001, 7, &mut rng);
    bench.store(third[..open].iter().copied());
    bench.run(30)?;
    Rule::Hang.holds(bench.stores.is_empty(), || {
        format!(
            "{} of {open} stores wait after {left} words have left",
            bench.stores.len()
        )
    })?;
    bench.check_open()?;
    bench.forget(owner);
    bench.check_open()?;
    // The next user.
    bench.setup.context ^= 0xfff;
    bench.take(USER, Pacer::steady());
    bench.take(SYSTEM, Pacer::steady());
    bench.store(command(page, 0x0101, 9, &mut rng));
    bench.finish(200)
}

/// A store and a word per cycle, with whole commands one after the other.
pub fn rate(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, format!("{} rate", dut.name), |run| {
        let mut bench = Bench::new(run, dut, Gaps::None)?;
        let mut rng = run.rng("stores");
        for _ in 0..50 {
            bench.store(command(0, 0x0001, 5, &mut rng));
        }
        let from = bench.bench.cycle();
        while bench.given[USER] < 400 && bench.bench.cycle() < from + 1000 {
            bench.cycle()?;
        }
        let cycles = bench.bench.cycle() - from;
        // After 8 stores the first word is on offer 2 cycles later.
        Rule::Rate.holds(bench.stalls == 0 && cycles <= 400 + 8 + 2, || {
            format!("400 words took {cycles} cycles, and {} stores waited", bench.stalls)
        })?;
        let mut bench = Bench::new(run, dut, Gaps::None)?;
        bench.store(command(0, 0x0001, 5, &mut rng));
        bench.finish(100)?;
        let ends = bench.offered.zip(bench.stored);
        let cycles = ends.map(|(offered, stored)| offered - stored);
        Rule::Latency.holds(cycles == Some(2), || {
            format!("{cycles:?} cycles from the last store to the first word")
        })
    });
}

/// All checks, as they find the twins.
fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        follows(dut, gaps, cases);
    }
    broadcasts(dut, cases);
    switch(dut, cases);
    rate(dut, cases);
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        for gaps in Gaps::ALL {
            follows(&dut::<Ap1000pCommand>(), gaps, cases);
        }
    });
}

#[test]
fn a_users_broadcast_needs_the_whole_axis() {
    pass(this_test!(), |cases| broadcasts(&dut::<Ap1000pCommand>(), cases));
}

#[test]
fn a_switch_of_users_leaves_no_word_behind() {
    pass(this_test!(), |cases| switch(&dut::<Ap1000pCommand>(), cases));
}

#[test]
fn a_store_and_a_word_per_cycle() {
    pass(this_test!(), |cases| rate(&dut::<Ap1000pCommand>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The kind lacks address spaces and class.
            (Words, &[], &|cases| checks(&dut::<TwinCommandKind>(), cases)),
            // A bit of the context is lost.
            (Words, &[], &|cases| checks(&dut::<TwinCommandContext>(), cases)),
            // A refused command is passed on.
            (Words, &[], &|cases| checks(&dut::<TwinCommandKeeps>(), cases)),
            // A cell counts by the given distance, not by the distance the other way round.
            (Refusal, &[Words, Hang], &|cases| {
                checks(&dut::<TwinCommandRange>(), cases)
            }),
            // Users broadcast beyond their range.
            (Words, &[Refusal, Hang], &|cases| {
                checks(&dut::<TwinCommandBroadcast>(), cases);
            }),
            // A bit without a meaning is ignored.
            (Refusal, &[Words, Hang], &|cases| {
                checks(&dut::<TwinCommandPage>(), cases)
            }),
            // Words of two pages become one command.
            (Refusal, &[Words, Hang], &|cases| {
                checks(&dut::<TwinCommandChange>(), cases)
            }),
            // A reset keeps page and cause of the last refusal.
            (Refusal, &[], &|cases| checks(&dut::<TwinCommandShown>(), cases)),
            // A refusal counts one cycle late.
            (Refusal, &[], &|cases| checks(&dut::<TwinCommandCount>(), cases)),
            // A reset keeps the shown word for a cycle.
            (Open, &[], &|cases| checks(&dut::<TwinCommandPeek>(), cases)),
            // A reset keeps the pages of open commands.
            (Open, &[], &|cases| rate(&dut::<TwinCommandReset>(), cases)),
            // The user's words are shown as the system's.
            (Open, &[], &|cases| checks(&dut::<TwinCommandClass>(), cases)),
            // A word that waits for room is not shown.
            (Open, &[], &|cases| checks(&dut::<TwinCommandUnseen>(), cases)),
            // Such a word goes to the next user.
            (Open, &[Words, Refusal, Hang], &|cases| {
                checks(&dut::<TwinCommandLeak>(), cases);
            }),
            // An offer is withdrawn while a word comes.
            (Protocol, &[Rate, Latency], &|cases| {
                checks(&dut::<TwinCommandWithdraws>(), cases);
            }),
            // `store_ready_o` follows `store_valid_i`.
            (Path, &[Words, Refusal], &|cases| {
                checks(&dut::<TwinCommandPath>(), cases)
            }),
            // The unit holds one command instead of two.
            (Rate, &[Hang], &|cases| checks(&dut::<TwinCommandBubble>(), cases)),
            // A command is offered one cycle late.
            (Latency, &[], &|cases| checks(&dut::<TwinCommandLate>(), cases)),
            // `busy_o` is low with a direct word on offer.
            (Rest, &[Words, Refusal, Open, Hang, Rate, Latency], &|cases| {
                checks(&dut::<TwinCommandDozes>(), cases);
            }),
            // `busy_o` is always high.
            (Hang, &[], &|cases| checks(&dut::<TwinCommandStuck>(), cases)),
        ],
    );
}
