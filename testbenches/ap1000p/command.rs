//! The host's window against its model: every store, every refusal, every word of the three streams.

use std::collections::VecDeque;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::command::{CommandModel, Refused, Setup};
use tsunagi::ap1000p::golden::page::{Owner, Page};
use tsunagi::ap1000p::golden::{Queue, Word};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use verilated::{Context, Unit};

use crate::{PERIOD, STARTS, holds, started};

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The words that follow from the stores, each in its stream.
    Words,
    /// What is refused, for which cause, of which page, and how often.
    Refusal,
    /// Counts, pages and words of open commands.
    Open,
    /// An offer holds until it is taken.
    Protocol,
    /// No output follows an input within the cycle.
    Path,
    /// A store per cycle, a word per cycle.
    Rate,
    /// Two cycles from the last store to the first word.
    Latency,
    /// Where it says that it is at rest, nothing is on show, and an edge changes nothing.
    Rest,
    /// Everything comes, and then there is rest.
    Hang,
}

impl Rule {
    pub const ALL: [Rule; 9] = [
        Rule::Words,
        Rule::Refusal,
        Rule::Open,
        Rule::Protocol,
        Rule::Path,
        Rule::Rate,
        Rule::Latency,
        Rule::Rest,
        Rule::Hang,
    ];
}

/// A word stored to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    pub page: u16,
    pub data: u32,
}

/// The outputs in one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub ready: bool,
    pub system: Option<Word>,
    pub user: Option<Word>,
    /// Queue one-hot, and word.
    pub direct: Option<(u8, Word)>,
    /// Whether something is refused in this cycle; cause and page of the last refusal.
    pub refused: bool,
    pub why: (u8, u16),
    pub count: u16,
    /// Words of the open command, and its page, by owner.
    pub open: [(u8, u16); 2],
    pub peek: u32,
}

pub trait Ports: Unit {
    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, store: Option<&Store>, ready: [bool; 3]);
    fn set_up(&self, setup: &Setup);
    /// Classes whose open command is forgotten, and the word to be shown.
    fn set_open(&self, drop: u8, peek: u8);
    fn seen(&self) -> Seen;
    fn busy(&self) -> bool;
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, store: Option<&Store>, ready: [bool; 3]) {
                self.store_valid_i.set_bool(store.is_some());
                self.store_page_i.set(store.map_or(0x2000, |store| store.page));
                self.store_data_i.set(store.map_or(0xdead_beef, |store| store.data));
                self.system_ready_i.set_bool(ready[0]);
                self.user_ready_i.set_bool(ready[1]);
                self.direct_ready_i.set_bool(ready[2]);
            }

            fn set_up(&self, setup: &Setup) {
                self.context_i.set(setup.context);
                self.size_x_i.set(setup.size[0]);
                self.size_y_i.set(setup.size[1]);
                self.low_x_i.set(setup.low[0] as u8);
                self.low_y_i.set(setup.low[1] as u8);
                self.high_x_i.set(setup.high[0] as u8);
                self.high_y_i.set(setup.high[1] as u8);
            }

            fn set_open(&self, drop: u8, peek: u8) {
                self.drop_i.set(drop);
                self.peek_i.set(peek);
            }

            fn seen(&self) -> Seen {
                let word = |data, end| Word { data, end };
                let (counts, pages) = (self.open_count_o.get(), self.open_page_o.get());
                Seen {
                    ready: self.store_ready_o.is_set(),
                    system: self.system_valid_o.is_set().then(|| word(self.system_data_o.get(), self.system_end_o.is_set())),
                    user: self.user_valid_o.is_set().then(|| word(self.user_data_o.get(), self.user_end_o.is_set())),
                    direct: self.direct_valid_o.is_set().then(|| {
                        (self.direct_queue_o.get(), word(self.direct_data_o.get(), self.direct_end_o.is_set()))
                    }),
                    refused: self.refused_valid_o.is_set(),
                    why: (self.refused_cause_o.get(), self.refused_page_o.get()),
                    count: self.refused_count_o.get(),
                    open: [(counts & 7, pages as u16), (counts >> 3, (pages >> 16) as u16)],
                    peek: self.peek_data_o.get(),
                }
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    )+};
}

ports!(Ap1000pCommand
       TwinCommandKind TwinCommandContext TwinCommandRange TwinCommandBroadcast TwinCommandPage TwinCommandChange TwinCommandCount TwinCommandShown TwinCommandDozes
       TwinCommandKeeps TwinCommandClass TwinCommandUnseen TwinCommandLeak TwinCommandWithdraws TwinCommandPath TwinCommandBubble TwinCommandLate TwinCommandStuck);

/// Cycles until what follows from an input other than a store is shown.
const SETTLED: u32 = 4;

/// A torus of 8 x 4 cells, of which a user may reach 3 x 3 around the own one.
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

/// Stores and what the model expects of them.
pub struct Bench<'a, U: Ports> {
    pub dut: U,
    context: Context,
    recorder: Recorder<'a>,
    pub cycle: u64,
    pub setup: Setup,
    stores: Source<Store>,
    system: Sink<Word>,
    user: Sink<Word>,
    direct: Sink<(u8, Word)>,
    pub model: CommandModel,
    /// Words to come: of the system's stream, the user's, the direct one.
    due: [VecDeque<(Queue, Word)>; 3],
    refusals: VecDeque<(Refused, u16)>,
    refused: u16,
    /// Cause and page of the last refusal, zero after a reset.
    why: (u8, u16),
    /// Words given, by stream.
    pub given: [u64; 3],
    /// Cycles in which a store waited.
    pub stalls: u64,
    /// The last cycle in which a store was taken, and the first one in which a user's word was offered.
    pub stored: Option<u64>,
    pub offered: Option<u64>,
    /// Cycles since an input other than a store changed.
    calm: u32,
    gate: Rng,
}

impl<'a, U: Ports> Bench<'a, U> {
    pub fn new(case: &Case, start: &str, gaps: Gaps, probe: &'a Probe) -> Self {
        let context = started(case, start);
        let dut = U::named(&context, "dut");
        let pacer = |pauses, name: &str| Pacer::new(pauses, case.rng(name));
        let mut bench = Bench {
            recorder: Recorder::new(probe, &[&dut]),
            dut,
            context,
            cycle: 0,
            setup: SETUP,
            stores: Source::new([], pacer(gaps.at_source(), "stores")),
            system: Sink::new(pacer(gaps.at_sink(), "system")),
            user: Sink::new(pacer(gaps.at_sink(), "user")),
            direct: Sink::new(pacer(gaps.at_sink(), "direct")),
            model: CommandModel::default(),
            due: Default::default(),
            refusals: VecDeque::new(),
            refused: 0,
            why: (0, 0),
            given: [0; 3],
            stalls: 0,
            stored: None,
            offered: None,
            calm: 0,
            gate: case.rng("gate"),
        };
        bench.dut.set_up(&SETUP);
        bench.dut.set_open(0, 0);
        bench.reset();
        bench
    }

    /// What was stored and not given is forgotten.
    pub fn reset(&mut self) {
        self.dut.set(None, [false; 3]);
        for _ in 0..3 {
            self.edge(true);
        }
        self.model = CommandModel::default();
        self.due = Default::default();
        self.refusals.clear();
        (self.refused, self.why) = (0, (0, 0));
        self.stores.reset();
        self.stores.stop();
        self.system.reset();
        self.user.reset();
        self.direct.reset();
    }

    fn phase(&mut self, clk: bool, rst: bool) {
        self.dut.set_clk(clk, rst);
        self.context
            .set_time(self.cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
        self.dut.junk();
        self.dut.eval();
        self.recorder.tick(self.context.time());
    }

    fn edge(&mut self, rst: bool) {
        self.calm = 0;
        self.phase(false, rst);
        self.phase(true, rst);
        self.cycle += 1;
    }

    /// The unit is told of the setup as it is now.
    pub fn set_up(&mut self) {
        self.dut.set_up(&self.setup);
        self.calm = 0;
    }

    pub fn store(&mut self, stores: impl IntoIterator<Item = Store>) {
        stores.into_iter().for_each(|store| self.stores.push(store));
    }

    pub fn cycle(&mut self) -> Result<(), String> {
        let before = self.dut.seen();
        let ready = [self.system.ready(), self.user.ready(), self.direct.ready()];
        let store = self.stores.offer().copied();
        self.dut.set(store.as_ref(), ready);
        self.phase(false, false);
        let now = self.dut.seen();
        holds(Rule::Path, before == now, || {
            format!("{before:x?} becomes {now:x?} within the cycle")
        })?;
        self.calm += 1;
        let rests = !self.dut.busy() && store.is_none() && self.calm > SETTLED;
        let shown = before.system.is_some() || before.user.is_some() || before.direct.is_some();
        holds(Rule::Rest, self.dut.busy() || !shown, || {
            format!("cycle {}: at rest with {before:x?}", self.cycle)
        })?;
        // What says that it is at rest needs no clock, and with one nothing changes.
        if !rests || self.gate.chance(1, 2) {
            self.phase(true, false);
            let after = self.dut.seen();
            holds(Rule::Rest, !rests || after == before, || {
                format!("cycle {}: at rest, {before:x?} becomes {after:x?}", self.cycle)
            })?;
        }
        self.cycle += 1;
        let told = |what: String| format!("cycle {}: {what}", self.cycle);
        if before.user.is_some() && self.offered.is_none() {
            self.offered = Some(self.cycle);
        }
        let mut taken = Vec::new();
        let wrong = |e: tsunagi::harness::stream::ProtocolError| format!("{:?}: {e}", Rule::Protocol);
        taken.extend(
            self.system
                .step(before.system)
                .map_err(wrong)?
                .map(|w| (0, Queue::System, w)),
        );
        taken.extend(self.user.step(before.user).map_err(wrong)?.map(|w| (1, Queue::User, w)));
        if let Some((bit, word)) = self.direct.step(before.direct).map_err(wrong)? {
            let queue = Queue::from_bit(bit);
            holds(Rule::Words, queue.is_some(), || {
                told(format!("direct word for queue {bit:#b}"))
            })?;
            taken.extend(queue.map(|queue| (2, queue, word)));
        }
        for (stream, queue, word) in taken {
            let want = self.due[stream].pop_front();
            holds(Rule::Words, want == Some((queue, word)), || {
                told(format!("stream {stream} gave {queue:?} {word:x?}, not {want:x?}"))
            })?;
            self.given[stream] += 1;
        }
        if before.refused {
            let want = self.refusals.pop_front();
            self.refused += 1;
            holds(Rule::Refusal, want.is_some(), || {
                told(format!("{:x?} refused, and nothing is to be", before.why))
            })?;
            self.why = want.map_or((0, 0), |(cause, page)| (cause as u8, page));
        }
        let (shown, want) = ((before.why, before.count), (self.why, self.refused));
        holds(Rule::Refusal, shown == want, || {
            told(format!(
                "cause, page and count of refusals are {shown:x?}, not {want:x?}"
            ))
        })?;
        self.stalls += u64::from(store.is_some() && !before.ready);
        if let Some(store) = self.stores.step(before.ready) {
            self.stored = Some(self.cycle);
            let outcome = self.model.store(&self.setup, store.page, store.data);
            if let Some((queue, words)) = outcome.words {
                let direct = matches!(Page::decode(store.page), Some(Page::Direct { .. }));
                let stream = match queue {
                    _ if direct => 2,
                    Queue::System => 0,
                    _ => 1,
                };
                self.due[stream].extend(words.into_iter().map(|word| (queue, word)));
            }
            self.refusals.extend(outcome.refused);
        }
        Ok(())
    }

    /// Until all is stored, given and at rest.
    pub fn finish(&mut self, limit: u64) -> Result<(), String> {
        let end = self.cycle + limit;
        loop {
            self.cycle()?;
            let left = self.due.iter().map(VecDeque::len).sum::<usize>() + self.refusals.len() + self.stores.len();
            if left == 0 && !self.dut.busy() {
                return self.is_open();
            }
            holds(Rule::Hang, self.cycle < end, || {
                format!("{left} stores, words and refusals left, busy {}", self.dut.busy())
            })?;
        }
    }

    /// What is told of the open commands, while nothing is stored or taken.
    pub fn is_open(&mut self) -> Result<(), String> {
        self.dut.set(None, [false; 3]);
        self.edge(false);
        for owner in Owner::ALL {
            let (page, words) = self.model.open(owner);
            let words = words.to_vec();
            let (count, open) = self.dut.seen().open[owner as usize];
            holds(Rule::Open, usize::from(count) == words.len(), || {
                format!("{owner:?} has {count} words open, not {}", words.len())
            })?;
            holds(Rule::Open, words.is_empty() || open == page, || {
                format!("{owner:?} has page {open:#06x} open, not {page:#06x}")
            })?;
            // Of a word that is not there, nothing is shown.
            for (i, word) in words.iter().copied().chain([0]).enumerate() {
                self.dut.set_open(0, (owner as u8) << 3 | i as u8);
                self.edge(false);
                self.edge(false);
                let got = self.dut.seen().peek;
                holds(Rule::Open, got == word, || {
                    format!("{owner:?} word {i} is {got:#x}, not {word:#x}")
                })?;
            }
        }
        Ok(())
    }

    /// The operating system forgets a owner's open command.
    pub fn drop(&mut self, owner: Owner) {
        self.dut.set(None, [false; 3]);
        self.dut.set_open(1 << owner as u8, 0);
        self.edge(false);
        self.dut.set_open(0, 0);
        self.model.drop(owner);
    }
}

/// Page codes that there are, of commands.
pub fn pages() -> Vec<u16> {
    let is_command = |code: &u16| matches!(Page::decode(*code), Some(Page::Command { .. }));
    (0..=u16::MAX).filter(is_command).collect()
}

/// A distance that is mostly within the range, sometimes at an edge, sometimes anything.
fn distance(rng: &mut Rng, size: u8) -> u8 {
    match rng.below(8) {
        0 => rng.bits() as u8,
        1 => size,
        2 => size.wrapping_neg(),
        3 => rng.below(size.into()) as u8,
        _ => (rng.between(0, 2) as u8).wrapping_sub(1),
    }
}

/// Commands of both classes, word by word in any mixture, with pages changed, unknown pages, wrong cells and lengths, direct words.
fn stores(rng: &mut Rng, count: usize) -> Vec<Store> {
    let pages = pages();
    let mut left: [VecDeque<Store>; 2] = Default::default();
    let mut list = Vec::new();
    while list.len() < count {
        let owner = rng.below(2) as usize;
        if left[owner].is_empty() || rng.chance(1, 60) {
            let bit = if owner == 1 { PAGE_SYSTEM_MASK as u16 } else { 0 };
            let of_class: Vec<u16> = pages
                .iter()
                .copied()
                .filter(|page| page & PAGE_SYSTEM_MASK as u16 == bit)
                .collect();
            let page = of_class[rng.below(of_class.len() as u64) as usize];
            let junk = if rng.chance(1, 20) { 1 << rng.between(16, 31) } else { 0 };
            let head = u32::from(distance(rng, SETUP.size[0])) << 8 | u32::from(distance(rng, SETUP.size[1])) | junk;
            let length = if rng.chance(1, 12) {
                rng.bits() as u32
            } else {
                rng.below(1 << 20) as u32
            };
            left[owner] = command(page, head, length, rng).into();
        }
        match rng.below(24) {
            // A page with one bit wrong, or any.
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
            list.extend(left[owner].pop_front());
        }
    }
    list
}

/// Random stores in lock step, with a reset in the middle for one of the starts.
pub fn follows<U: Ports>(case: &Case, start: &str, gaps: Gaps, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, start, gaps, probe);
    let mut rng = case.rng("stores");
    for round in 0..3 {
        bench.setup = Setup {
            context: rng.below(1 << 12) as u16,
            size: if round == 0 {
                SETUP.size
            } else {
                [1 << rng.below(8), rng.between(1, 128) as u8]
            },
            low: if round == 0 {
                SETUP.low
            } else {
                [-(rng.below(3) as i8), -(rng.below(64) as i8)]
            },
            high: if round == 0 {
                SETUP.high
            } else {
                [rng.below(6) as i8, rng.below(64) as i8]
            },
        };
        bench.set_up();
        // What is quasi-static has a cycle.
        bench.cycle()?;
        bench.store(stores(&mut rng, 1500));
        if round == 1 && start == STARTS[1] {
            for _ in 0..rng.between(50, 900) {
                bench.cycle()?;
            }
            bench.reset();
        }
        bench.finish(60_000)?;
    }
    Ok(())
}

/// Each page with a broadcast, for users whose range covers both axes, one, or none.
pub fn broadcasts<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe);
    let mut rng = case.rng("stores");
    for axes in 0..4 {
        for (axis, size) in SETUP.size.into_iter().enumerate() {
            let covered = axes >> axis & 1 == 1;
            bench.setup.high[axis] = if covered { size as i8 - 2 } else { size as i8 - 3 };
        }
        bench.set_up();
        bench.finish(100)?;
        let of_users = |page: &u16| *page & PAGE_SYSTEM_MASK as u16 == 0;
        for page in pages().into_iter().filter(of_users) {
            bench.store(command(page, 0x0001, 5, &mut rng));
        }
        bench.finish(10_000)?;
    }
    Ok(())
}

/// Users are switched while two commands wait and a third is open, of which perhaps a word waits, too: all of it is seen, and forgotten.
pub fn switch<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    for owner in Owner::ALL {
        let page = if owner == Owner::System {
            PAGE_SYSTEM_MASK as u16
        } else {
            0
        };
        for (left, open) in (0..8).flat_map(|left| (0..=left + 1).map(move |open| (left, open))) {
            let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe);
            let mut rng = case.rng(&format!("{owner:?} {left} {open}"));
            bench.user = Sink::new(Pacer::stopped());
            bench.system = Sink::new(Pacer::stopped());
            bench.store(command(page, 0x0001, 5, &mut rng));
            bench.store(command(page, 0x0100, 5, &mut rng));
            for _ in 0..30 {
                bench.cycle()?;
            }
            // So many words have left, and of the third command as many have room.
            let stream = usize::from(owner == Owner::User);
            while bench.given[stream] < left {
                let sink = if owner == Owner::User {
                    &mut bench.user
                } else {
                    &mut bench.system
                };
                *sink = Sink::new(Pacer::steady());
                bench.cycle()?;
            }
            bench.user = Sink::new(Pacer::stopped());
            bench.system = Sink::new(Pacer::stopped());
            let third = command(page, 0x0001, 7, &mut rng);
            bench.store(third[..open as usize].iter().copied());
            for _ in 0..30 {
                bench.cycle()?;
            }
            holds(Rule::Hang, bench.stores.is_empty(), || {
                format!("{} of {open} stores wait, {left} words have left", bench.stores.len())
            })?;
            bench.is_open()?;
            bench.drop(owner);
            bench.is_open()?;
            // The next user.
            bench.setup.context ^= 0xfff;
            bench.set_up();
            bench.user = Sink::new(Pacer::steady());
            bench.system = Sink::new(Pacer::steady());
            bench.store(command(page, 0x0101, 9, &mut rng));
            bench.finish(200)?;
        }
    }
    Ok(())
}

/// A store and a word per cycle, whole commands one after the other.
pub fn rate<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe);
    let mut rng = case.rng("stores");
    for _ in 0..50 {
        bench.store(command(0, 0x0001, 5, &mut rng));
    }
    let from = bench.cycle;
    while bench.given[1] < 400 && bench.cycle < from + 1000 {
        bench.cycle()?;
    }
    let cycles = bench.cycle - from;
    // 8 words are in before the first is offered 2 cycles later.
    holds(Rule::Rate, bench.stalls == 0 && cycles <= 400 + 8 + 2, || {
        format!("400 words took {cycles} cycles, {} of the stores waited", bench.stalls)
    })?;
    let mut bench = Bench::<U>::new(case, STARTS[1], Gaps::None, probe);
    bench.store(command(0, 0x0001, 5, &mut rng));
    bench.finish(100)?;
    let cycles = bench
        .offered
        .zip(bench.stored)
        .map(|(offered, stored)| offered - stored);
    holds(Rule::Latency, cycles == Some(2), || {
        format!("{cycles:?} cycles from the last store to the first word")
    })
}

/// Random stores under all pauses.
fn lockstep(test: &'static str, gaps: Gaps) {
    for start in STARTS {
        let case = Case::new("ap1000p", test, format!("{gaps:?} {start}"));
        case.run(|probe| follows::<Ap1000pCommand>(&case, start, gaps, probe));
    }
}

#[test]
fn follows_its_model() {
    for gaps in Gaps::ALL {
        lockstep("command::follows_its_model", gaps);
    }
}

#[test]
fn a_users_broadcast_needs_the_whole_axis() {
    let case = Case::new("ap1000p", "command::a_users_broadcast_needs_the_whole_axis", "");
    case.run(|probe| broadcasts::<Ap1000pCommand>(&case, probe));
}

#[test]
fn a_switch_of_users_leaves_no_word_behind() {
    let case = Case::new("ap1000p", "command::a_switch_of_users_leaves_no_word_behind", "");
    case.run(|probe| switch::<Ap1000pCommand>(&case, probe));
}

#[test]
fn a_store_and_a_word_per_cycle() {
    let case = Case::new("ap1000p", "command::a_store_and_a_word_per_cycle", "");
    case.run(|probe| rate::<Ap1000pCommand>(&case, probe));
}
