//! What joins all cells at once: the barrier tree, in lock step with its model, and the broadcast bus.

use std::collections::VecDeque;

use testbenches::name;
use testbenches::rtl::*;
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use verilated::Unit;

use crate::bench::{Check, Fault, PERIOD};

/// The clock of two instances: one has every edge, the other one none at which nothing should change.
fn edges<U: Unit>(units: [&U; 2], busy: bool, set: impl Fn(&U, bool)) {
    for clk in [false, true] {
        set(units[0], clk);
        units[0].junk();
        units[0].eval();
        if busy {
            set(units[1], clk);
            units[1].junk();
            units[1].eval();
        }
    }
}

pub trait Barrier: Unit {
    const CELLS: usize;
    const GROUPS: usize;
    /// Cycles from the last arrival to the release.
    const LATENCY: u64;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, at: usize, member: bool, arrive: bool);
    fn waits(&self, at: usize) -> bool;
    fn released(&self, at: usize) -> bool;
    fn busy(&self) -> bool;
}

macro_rules! barrier {
    ($($unit:ident: $cells:literal, $groups:literal, $levels:literal;)+) => {$(
        impl Barrier for $unit {
            const CELLS: usize = $cells;
            const GROUPS: usize = $groups;
            const LATENCY: u64 = 2 * $levels + 2;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, at: usize, member: bool, arrive: bool) {
                self.member_i.set_bits(at, 1, member.into());
                self.arrive_i.set_bits(at, 1, arrive.into());
            }

            fn waits(&self, at: usize) -> bool {
                self.waiting_o.bit(at)
            }

            fn released(&self, at: usize) -> bool {
                self.release_o.bit(at)
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    )+};
}

barrier!(
    SyncTree16: 16, 2, 2;
    SyncTree1: 1, 2, 1;
    SyncTree11: 11, 3, 4;
    SyncTree256: 256, 2, 4;
    TwinSyncEarly: 16, 2, 2;
    TwinSyncMask: 16, 2, 2;
    TwinSyncStranger: 16, 2, 2;
    TwinSyncRests: 16, 2, 2;
);

/// One group of a barrier.
#[derive(Clone, Default)]
struct Group {
    member: Vec<bool>,
    waits: Vec<bool>,
    released: Vec<bool>,
    /// The cycle of the release, once all have arrived.
    opens: Option<u64>,
}

impl Group {
    fn new(cells: usize) -> Group {
        let none = vec![false; cells];
        Group {
            member: none.clone(),
            waits: none.clone(),
            released: none,
            opens: None,
        }
    }

    /// The edge that ends a cycle.
    fn step(&mut self, cycle: u64, arrive: &[bool], latency: u64) {
        let waited = self.waits.clone();
        self.released.fill(false);
        if self.opens == Some(cycle + 1) {
            self.released = std::mem::replace(&mut self.waits, vec![false; waited.len()]);
            self.opens = None;
        }
        for (cell, arrives) in arrive.iter().enumerate() {
            self.waits[cell] |= *arrives && self.member[cell] && !waited[cell];
        }
        if self.opens.is_none() && self.waits.contains(&true) && self.waits == self.member {
            self.opens = Some(cycle + latency);
        }
    }

    fn at_rest(&self) -> bool {
        !self.waits.contains(&true) && !self.released.contains(&true)
    }
}

/// Barriers of all groups, whose members change between them; a reset in their midst.
pub fn barriers<U: Barrier>(case: &Case, cycles: u64, probe: &Probe) -> Result<(), Fault> {
    let context = case.context();
    let units = ["always", "gated"].map(|name| U::named(&context, name));
    let mut wave = Recorder::new(probe, &[&units[0], &units[1]]);
    let mut rng = case.rng("cells");
    let mut groups = vec![Group::new(U::CELLS); U::GROUPS];
    let reset = rng.between(cycles / 4, cycles / 2);
    let (mut opened, mut skipped, mut eager) = (0, 0, 2);
    for cycle in 0..cycles {
        let rst = cycle < 3 || cycle == reset;
        let mut moved = rst || units[1].busy();
        if rng.chance(1, 100) {
            eager = [1, 2, 8, 60][rng.below(4) as usize];
        }
        let mut arrive = vec![vec![false; U::CELLS]; U::GROUPS];
        for (g, group) in groups.iter_mut().enumerate() {
            if group.at_rest() && !units[0].busy() && (rng.chance(1, 20) || cycle == 0) {
                let many = rng.below(5);
                for member in &mut group.member {
                    *member = rng.chance(many, 4);
                }
                moved = true;
            }
            for (cell, arrives) in arrive[g].iter_mut().enumerate() {
                // Strangers try, too, and those who wait already.
                let strange = group.waits[cell] || !group.member[cell];
                let likely = if strange { 40 * U::CELLS as u64 } else { eager };
                *arrives = rng.chance(1, likely);
                moved |= *arrives;
                for unit in &units {
                    unit.set(cell * U::GROUPS + g, group.member[cell], *arrives);
                }
            }
        }
        for cell in 0..U::CELLS {
            for (g, group) in groups.iter().enumerate().filter(|_| cycle > 3) {
                let at = cell * U::GROUPS + g;
                let who = || format!("cycle {cycle}: cell {cell} of group {g}");
                let (due, released) = (group.released[cell], units[0].released(at));
                Check::Nothing.holds(due || !released, || format!("{} is released too early", who()))?;
                Check::Latency.holds(released || !due, || format!("{} is not released in its cycle", who()))?;
                let waits = units[0].waits(at);
                Check::Word.holds(waits == group.waits[cell], || format!("{} waits: {waits}", who()))?;
                let same = [units[1].released(at), units[1].waits(at)] == [released, waits];
                Check::Gating.holds(same, || format!("{} differs where edges were left out", who()))?;
            }
        }
        edges([&units[0], &units[1]], moved, |unit, clk| unit.set_clk(clk, rst));
        skipped += u64::from(!moved);
        context.set_time(cycle * PERIOD);
        wave.tick_up(&[&units[0], &units[1]], PERIOD);
        for (group, arrive) in groups.iter_mut().zip(&arrive) {
            if rst {
                let member = group.member.clone();
                *group = Group {
                    member,
                    ..Group::new(U::CELLS)
                };
            } else {
                group.step(cycle, arrive, U::LATENCY);
                opened += u64::from(group.released.contains(&true));
            }
        }
    }
    Check::Hang.holds(opened > cycles / 200, || format!("only {opened} barriers opened"))?;
    Check::Rest.holds(skipped > 0, || "never at rest".into())
}

fn barrier_case<U: Barrier>(start: u64, cycles: u64) {
    let case = Case::new(
        "net",
        "cells::barriers_open_for_all",
        format!("{} {start}", name::<U>()),
    );
    case.run(|probe| barriers::<U>(&case, cycles, probe));
}

#[test]
fn barriers_open_for_all() {
    for start in 0..4 {
        barrier_case::<SyncTree16>(start, 20_000);
        barrier_case::<SyncTree1>(start, 5_000);
        barrier_case::<SyncTree11>(start, 20_000);
    }
    barrier_case::<SyncTree256>(0, 5_000);
}

/// A word and whether it ends its packet.
type Flit = (u32, bool);

pub trait Bus: Unit {
    const CELLS: usize;
    /// Packets that may pass a waiting one.
    const BOUND: usize;
    /// Cycles of a word.
    const PACE: u64;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, cell: usize, flit: Option<&Flit>, ready: bool);
    fn ready(&self, cell: usize) -> bool;
    fn offered(&self, cell: usize) -> Option<Flit>;
    fn busy(&self) -> bool;
}

macro_rules! bus {
    ($($unit:ident: $cells:literal, $radix:literal, $levels:literal, $pace:literal;)+) => {$(
        impl Bus for $unit {
            const CELLS: usize = $cells;
            const BOUND: usize = ($radix + 2usize).pow($levels);
            const PACE: u64 = $pace;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, cell: usize, flit: Option<&Flit>, ready: bool) {
                let &(word, last) = flit.unwrap_or(&(0xdead_beef, true));
                self.in_valid_i.set_bits(cell, 1, flit.is_some().into());
                self.in_data_i.set_bits(32 * cell, 32, word.into());
                self.in_last_i.set_bits(cell, 1, last.into());
                self.out_ready_i.set_bits(cell, 1, ready.into());
            }

            fn ready(&self, cell: usize) -> bool {
                self.in_ready_o.bit(cell)
            }

            fn offered(&self, cell: usize) -> Option<Flit> {
                let word = || (self.out_data_o.get(), self.out_last_o.is_set());
                self.out_valid_o.bit(cell).then(word)
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    )+};
}

bus!(
    BroadcastBus16: 16, 4, 2, 1;
    BroadcastBus1: 1, 4, 1, 1;
    BroadcastBus11: 11, 8, 2, 1;
    BroadcastBus256: 256, 4, 4, 1;
    BroadcastBus16Pace4: 16, 4, 2, 4;
    TwinBusTwice: 16, 4, 2, 1;
    TwinBusMixed: 16, 4, 2, 1;
    TwinBusUnfair: 16, 4, 2, 1;
    TwinBusStays: 16, 4, 2, 1;
    TwinBusBubble: 16, 4, 2, 1;
    TwinBusRests: 16, 4, 2, 1;
    TwinBusPace: 16, 4, 2, 4;
);

/// Packets of a cell: its number in the upper bits of each word, a count below.
fn packets(cell: usize, lengths: impl IntoIterator<Item = u64>) -> Vec<Flit> {
    let mut flits = Vec::new();
    for words in lengths {
        for left in (0..words).rev() {
            flits.push(((cell << 20 | flits.len()) as u32, left == 0));
        }
    }
    flits
}

/// Sends what each cell has to all cells, each so many cycles later than the one before; with a reset in their midst, what
/// is under way is lost. The cycles from the first word that a cell takes to the last.
pub fn broadcasts<U: Bus>(
    case: &Case,
    gaps: Gaps,
    sends: Vec<Vec<Flit>>,
    apart: u64,
    reset: Option<u64>,
    probe: &Probe,
) -> Result<u64, Fault> {
    let context = case.context();
    let units = ["always", "gated"].map(|name| U::named(&context, name));
    let mut wave = Recorder::new(probe, &[&units[0], &units[1]]);
    let pacer = |pauses, what: &str, cell| Pacer::new(pauses, case.rng(&format!("{what} {cell}")));
    let mut sources: Vec<_> = sends
        .into_iter()
        .enumerate()
        .map(|(cell, flits)| Source::new(flits, pacer(gaps.at_source(), "source", cell)))
        .collect();
    let mut sinks: Vec<_> = (0..U::CELLS)
        .map(|cell| Sink::<Flit>::new(pacer(gaps.at_sink(), "sink", cell)))
        .collect();
    // What each cell has sent and nobody has received; what went over the bus, and how much of it each cell has.
    let mut sent: Vec<VecDeque<Flit>> = vec![VecDeque::new(); U::CELLS];
    let mut bus: Vec<Flit> = Vec::new();
    let mut has = vec![0; U::CELLS];
    let mut passed = vec![0; U::CELLS];
    let (mut first, mut last, mut idle) = (None, 0, 0);
    for cycle in 0..200_000 {
        let rst = cycle < 3 || reset == Some(cycle);
        let mut moved = rst || units[1].busy();
        for (cell, (source, sink)) in sources.iter_mut().zip(&mut sinks).enumerate() {
            let flit = Some(source).filter(|_| cycle >= apart * cell as u64);
            let (flit, ready) = (flit.and_then(|source| source.offer()), sink.ready());
            moved |= flit.is_some();
            passed[cell] = if flit.is_some() || !sent[cell].is_empty() {
                passed[cell]
            } else {
                0
            };
            units.iter().for_each(|unit| unit.set(cell, flit, ready));
        }
        let seen: Vec<_> = (0..U::CELLS)
            .map(|cell| (units[0].ready(cell), units[0].offered(cell)))
            .collect();
        if cycle > 3 {
            for (cell, seen) in seen.iter().enumerate() {
                let same = *seen == (units[1].ready(cell), units[1].offered(cell));
                Check::Gating.holds(same, || {
                    format!("cycle {cycle}: cell {cell} differs where edges were left out")
                })?;
            }
        }
        edges([&units[0], &units[1]], moved, |unit, clk| unit.set_clk(clk, rst));
        context.set_time(cycle * PERIOD);
        wave.tick_up(&[&units[0], &units[1]], PERIOD);
        if rst {
            for (source, sink) in sources.iter_mut().zip(&mut sinks) {
                source.reset();
                sink.reset();
            }
            sent.iter_mut().for_each(VecDeque::clear);
            bus.clear();
            has.fill(0);
            passed.fill(0);
            continue;
        }
        for (cell, (source, (ready, _))) in sources.iter_mut().zip(&seen).enumerate() {
            sent[cell].extend(source.step(*ready));
        }
        for (cell, (sink, (_, offered))) in sinks.iter_mut().zip(&seen).enumerate() {
            let Some(flit) = sink.step(*offered).map_err(|e| Fault::from(e).at(cycle))? else {
                continue;
            };
            first.get_or_insert(cycle);
            last = cycle;
            if has[cell] == bus.len() {
                let from = (flit.0 >> 20) as usize % U::CELLS;
                let begins = bus.last().is_none_or(|before| before.1);
                let inside = bus.last().map(|before| (before.0 >> 20) as usize).filter(|_| !begins);
                Check::Mixed.holds(inside.is_none_or(|cell| cell == from), || {
                    format!("cycle {cycle}: a word of cell {from} inside a packet of {inside:?}")
                })?;
                let want = sent[from].pop_front();
                Check::Word.holds(want == Some(flit), || {
                    format!("cycle {cycle}: got {flit:x?}, not {want:x?}")
                })?;
                bus.push(flit);
                for (other, passed) in passed.iter_mut().enumerate() {
                    *passed = if other == from {
                        0
                    } else {
                        *passed + usize::from(begins)
                    };
                    Check::Unfair.holds(*passed <= U::BOUND, || {
                        format!("cycle {cycle}: {passed} packets passed that of cell {other}")
                    })?;
                }
            }
            let want = bus[has[cell]];
            Check::Word.holds(want == flit, || {
                format!("cycle {cycle}: cell {cell} got {flit:x?}, others {want:x?}")
            })?;
            has[cell] += 1;
        }
        let all = sent.iter().all(VecDeque::is_empty) && has.iter().all(|has| *has == bus.len());
        let done = all && sources.iter().all(Source::is_empty) && !units[0].busy();
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            return Ok(last - first.unwrap_or(last) + 1);
        }
    }
    let left: Vec<_> = sources.iter().map(Source::len).collect();
    Check::Left
        .holds(false, || {
            format!("words not sent: {left:?}, received: {has:?} of {}", bus.len())
        })
        .map(|()| 0)
}

/// Random packets of all cells, under every gap pattern, without and with a reset.
pub fn bus_contract<U: Bus>(
    test: &'static str,
    many: usize,
    mut each: impl FnMut(&Case, &dyn Fn(&Probe) -> Result<(), Fault>),
) {
    for (gaps, reset) in Gaps::ALL.into_iter().flat_map(|gaps| [(gaps, false), (gaps, true)]) {
        let case = Case::new("net", test, format!("{} {gaps:?} reset {reset}", name::<U>()));
        let length = |rng: &mut Rng| if rng.chance(1, 2) { 1 } else { rng.between(1, 9) };
        let send = |cell| {
            let mut rng = case.rng(&format!("packets of {cell}"));
            packets(cell, (0..many).map(|_| length(&mut rng)).collect::<Vec<_>>())
        };
        let sends: Vec<_> = (0..U::CELLS).map(send).collect();
        let reset = reset.then(|| case.rng("reset").between(20, 200));
        each(&case, &|probe| {
            broadcasts::<U>(&case, gaps, sends.clone(), 0, reset, probe).map(drop)
        });
    }
    // Each finds the bus at rest, as the one before it has left it.
    let case = Case::new("net", test, format!("{} one at a time", name::<U>()));
    let sends: Vec<_> = (0..U::CELLS).map(|cell| packets(cell, [3])).collect();
    each(&case, &|probe| {
        broadcasts::<U>(&case, Gaps::None, sends.clone(), 30, None, probe).map(drop)
    });
}

/// Without gaps a word in its cycles: of one cell and of all, packets of one word and longer ones.
pub fn bus_rate<U: Bus>() -> Result<(), Fault> {
    for (many, length) in [(1, 1), (U::CELLS, 1), (2, 3), (U::CELLS, 4)] {
        let case = Case::new(
            "net",
            "cells::words_at_the_rate",
            format!("{} {many} {length}", name::<U>()),
        );
        let many = many.min(U::CELLS);
        let send = |cell| packets(cell, (0..if cell < many { 40 } else { 0 }).map(|_| length));
        let sends = (0..U::CELLS).map(send).collect();
        let cycles = broadcasts::<U>(&case, Gaps::None, sends, 0, None, &Probe::default())?;
        let words = 40 * many as u64 * length;
        // The last one's pause is nobody's.
        let due = (words - 1) * U::PACE + 1;
        Check::Rate.holds(cycles == due, || {
            format!("{words} words of {many} cells took {cycles} cycles, not {due}")
        })?;
    }
    Ok(())
}

fn bus_cases<U: Bus>(many: usize) {
    bus_contract::<U>("cells::broadcasts_reach_all_once_in_one_order", many, |case, run| {
        case.run(run)
    });
}

#[test]
fn broadcasts_reach_all_once_in_one_order() {
    bus_cases::<BroadcastBus16>(20);
    bus_cases::<BroadcastBus1>(20);
    bus_cases::<BroadcastBus11>(20);
    bus_cases::<BroadcastBus16Pace4>(20);
    bus_cases::<BroadcastBus256>(2);
}

#[test]
fn words_at_the_rate() {
    let case = Case::new("net", "cells::words_at_the_rate", "");
    case.run(|_| bus_rate::<BroadcastBus16>());
    case.run(|_| bus_rate::<BroadcastBus1>());
    case.run(|_| bus_rate::<BroadcastBus11>());
    case.run(|_| bus_rate::<BroadcastBus16Pace4>());
}
