//! Clock crossings: the asynchronous FIFO at several clock ratios, random phase and jitter, and under every order of resets; the
//! synchroniser by itself.

use std::collections::VecDeque;

use testbenches::name;
use testbenches::rtl::*;
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use verilated::{Clock, Clocks, Context, Unit};

use crate::bench::{Each, Start, holds, must_pass, rules};

rules!(
    /// Of the FIFO: what comes is what was put, in order.
    Order
    /// An offer holds until it is taken.
    Protocol
    /// A reset of either side empties it, and it works afterwards.
    Reset
    /// A word comes when the synchroniser lets it, no sooner and no later.
    Latency
    /// A word per cycle of the slower clock.
    Rate
    /// Of the synchroniser: a change takes its stages.
    Stages
    /// With jitter, at times one more.
    Jitter
);

pub trait Ports: Unit {
    const STAGES: u64;
    /// Whether its synchronisers may miss a change once.
    const JITTER: bool;

    fn set_clks(&self, input: bool, output: bool);
    fn set_in(&self, rst: bool, word: Option<u64>);
    fn set_out(&self, rst: bool, ready: bool);
    fn in_ready(&self) -> bool;
    fn offered(&self) -> Option<u64>;
}

macro_rules! ports {
    ($($unit:ident: $stages:literal, $jitter:literal;)+) => {$(
        impl Ports for $unit {
            const STAGES: u64 = $stages;
            const JITTER: bool = $jitter;

            fn set_clks(&self, input: bool, output: bool) {
                self.in_clk_i.set_bool(input);
                self.out_clk_i.set_bool(output);
            }

            fn set_in(&self, rst: bool, word: Option<u64>) {
                self.in_rst_i.set_bool(rst);
                self.in_valid_i.set_bool(word.is_some());
                self.in_data_i.set(word.unwrap_or(0xdead_beef_dead_beef));
            }

            fn set_out(&self, rst: bool, ready: bool) {
                self.out_rst_i.set_bool(rst);
                self.out_ready_i.set_bool(ready);
            }

            fn in_ready(&self) -> bool {
                self.in_ready_o.is_set()
            }

            fn offered(&self) -> Option<u64> {
                self.out_valid_o.is_set().then(|| self.out_data_o.get())
            }
        }
    )+};
}

ports!(
    AsyncFifoD2Jitter: 2, true;
    AsyncFifoD8S3Jitter: 3, true;
    AsyncFifoD16: 2, false;
    TwinAsyncFifoOrder: 2, false;
    TwinAsyncFifoGray: 2, false;
    TwinAsyncFifoWithdraws: 2, false;
    TwinAsyncFifoReset: 2, false;
    TwinAsyncFifoStages: 3, true;
    TwinAsyncFifoHalf: 2, false;
);

/// Periods of the two clocks, picoseconds: the machine's (25 and 20 MHz) both ways, equal, coprime, and far apart.
const PERIODS: [(u64, u64); 6] = [
    (40_000, 50_000),
    (50_000, 40_000),
    (40_000, 40_000),
    (37_003, 10_007),
    (10_007, 37_003),
    (5_000, 50_000),
];

/// A FIFO between a source and a sink, each with its own clock.
struct Rig<'a, U> {
    dut: U,
    context: Context,
    clocks: Clocks,
    clks: [Clock; 2],
    levels: [bool; 2],
    source: Source<u64>,
    sink: Sink<u64>,
    /// Cycles that each side's reset goes on, and whether it is driven now.
    resets: [u64; 2],
    driven: [bool; 2],
    /// Whether the offer's stability is watched.
    watch: bool,
    put: Vec<u64>,
    /// How many were put when the input was last reset.
    since: usize,
    got: Vec<u64>,
    edges: [u64; 2],
    wave: Recorder<'a>,
}

impl<'a, U: Ports> Rig<'a, U> {
    fn new(case: &Case, start: Start, periods: (u64, u64), gaps: Gaps, words: u64, probe: &'a Probe) -> Rig<'a, U> {
        let context = start.context(case);
        let dut = U::named(&context, "dut");
        let mut phase = case.rng("phase");
        let mut clocks = Clocks::new();
        let clks = [periods.0, periods.1].map(|period| clocks.add(period, phase.below(period)));
        dut.set_in(true, None);
        dut.set_out(true, false);
        let wave = Recorder::new(probe, &[&dut]);
        Rig {
            dut,
            context,
            clocks,
            clks,
            levels: [false; 2],
            source: Source::new(0..words, Pacer::new(gaps.at_source(), case.rng("source"))),
            sink: Sink::new(Pacer::new(gaps.at_sink(), case.rng("sink"))),
            resets: [0; 2],
            driven: [true; 2],
            watch: true,
            put: Vec::new(),
            since: 0,
            got: Vec::new(),
            edges: [0; 2],
            wave,
        }
    }

    /// One instant with edges.
    fn step(&mut self) -> Result<(), String> {
        let edges = self.clocks.step(&self.context);
        let rises = self.clks.map(|clk| edges.rises(clk));
        for (level, &clk) in self.levels.iter_mut().zip(&self.clks) {
            *level = (*level || edges.rises(clk)) && !edges.falls(clk);
        }
        // What is decided at an edge is decided by the values just before it.
        let (ready, offered) = (self.dut.in_ready(), self.dut.offered());
        self.dut.set_clks(self.levels[0], self.levels[1]);
        self.dut.junk();
        self.dut.eval();
        self.wave.tick(edges.at);
        if rises[0] {
            self.edges[0] += 1;
            if self.driven[0] {
                self.source.reset();
                self.since = self.put.len();
            } else {
                self.put.extend(self.source.step(ready));
            }
            self.next_reset(0);
            let word = self.source.offer().copied();
            self.dut.set_in(self.driven[0], word);
        }
        if rises[1] {
            self.edges[1] += 1;
            if self.driven[1] || !self.watch {
                self.sink.reset();
            }
            if !self.driven[1] {
                self.got.extend(
                    self.sink
                        .step(offered)
                        .map_err(|e| format!("Protocol: {e} at {} ps", edges.at))?,
                );
            }
            self.next_reset(1);
            let ready = self.sink.ready();
            self.dut.set_out(self.driven[1], ready);
        }
        Ok(())
    }

    /// Goes on until it is done.
    fn until(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), String> {
        for _ in 0..50_000 {
            if done(self) {
                return Ok(());
            }
            self.step()?;
        }
        Err("Order: nothing goes or nothing comes".into())
    }

    /// From now on it takes words so: what the old sink was ready for is not taken.
    fn take(&mut self, pacer: Pacer) {
        self.sink = Sink::new(pacer);
        self.dut.set_out(self.driven[1], false);
    }

    fn next_reset(&mut self, side: usize) {
        self.driven[side] = self.resets[side] > 0;
        self.resets[side] = self.resets[side].saturating_sub(1);
    }

    /// So many cycles of each clock.
    fn cycles(&mut self, n: u64) -> Result<(), String> {
        let until = self.edges.map(|edges| edges + n);
        while self.edges.iter().zip(until).any(|(&now, until)| now < until) {
            self.step()?;
        }
        Ok(())
    }

    /// Resets one side for so many of its cycles, from its next edge but one.
    fn reset(&mut self, side: usize, cycles: u64) {
        self.resets[side] = cycles;
    }

    /// Both sides are in reset from the start and leave it one after the other; what comes before that means nothing.
    fn power_up(&mut self, rng: &mut Rng) -> Result<(), String> {
        let source = std::mem::replace(&mut self.source, Source::new([], Pacer::steady()));
        let watch = std::mem::replace(&mut self.watch, false);
        let first = rng.below(2) as usize;
        self.reset(first, rng.between(1, 4));
        self.reset(1 - first, rng.between(1, 12));
        self.cycles(SETTLE)?;
        (self.source, self.watch, self.got) = (source, watch, Vec::new());
        Ok(())
    }

    /// Each side is in reset at its first edge only, whatever registers and synchronisers hold.
    fn power_up_in_a_cycle(&mut self) -> Result<(), String> {
        let source = std::mem::replace(&mut self.source, Source::new([], Pacer::steady()));
        self.watch = false;
        self.cycles(SETTLE)?;
        (self.source, self.watch, self.got) = (source, true, Vec::new());
        Ok(())
    }

    /// Until everything was taken, then on for a while: what came is exactly what was put.
    fn finish(&mut self, words: usize) -> Result<(), String> {
        for _ in 0..400 * words + 4000 {
            if self.got.len() >= words && self.source.is_empty() {
                break;
            }
            self.step()?;
        }
        self.cycles(SETTLE)?;
        if self.got == self.put && self.put.len() == words {
            return Ok(());
        }
        let at = self
            .got
            .iter()
            .zip(&self.put)
            .take_while(|(got, put)| got == put)
            .count();
        let (got, put) = (self.got.len(), self.put.len());
        Err(format!(
            "Order: of {words} words {put} were put and {got} came; they differ from word {at} on"
        ))
    }
}

/// More cycles of each clock than any reset or crossing takes at the ratios used.
const SETTLE: u64 = 40;
const WORDS: u64 = 150;

/// Order and protocol at every clock ratio and gap pattern.
pub fn traffic<U: Ports>(without: &[Rule], each: Each) {
    for (i, periods) in PERIODS.into_iter().enumerate() {
        for (j, gaps) in Gaps::ALL.into_iter().enumerate() {
            let start = Start::ALL[(i + j) % 3];
            let case = Case::new(
                "common",
                "crossing::traffic_at_every_ratio",
                format!("{} {periods:?} {gaps:?} {start:?}", name::<U>()),
            );
            each(&case, &|probe| {
                let mut rig = Rig::<U>::new(&case, start, periods, gaps, WORDS, probe);
                rig.watch = !without.contains(&Rule::Protocol);
                rig.power_up(&mut case.rng("power up"))?;
                rig.finish(WORDS as usize)
            });
        }
    }
}

/// From many random states, one cycle of reset of each side lets the FIFO work.
pub fn power_ups<U: Ports>(without: &[Rule], each: Each) {
    if without.contains(&Rule::Reset) {
        return;
    }
    for periods in PERIODS {
        for state in 0..40 {
            let params = format!("{} {periods:?} state {state}", name::<U>());
            let case = Case::new("common", "crossing::one_cycle_of_reset_is_enough", params);
            each(&case, &|probe| {
                let mut rig = Rig::<U>::new(&case, Start::Random1, periods, Gaps::None, 40, probe);
                rig.power_up_in_a_cycle()
                    .and_then(|()| rig.finish(40))
                    .map_err(|what| format!("Reset: {what}"))
            });
        }
    }
}

/// Either side's reset empties the FIFO, at rest and under traffic, whatever the order and length of resets; afterwards it works.
pub fn resets<U: Ports>(without: &[Rule], each: Each) {
    for periods in PERIODS {
        for (k, sides) in [&[0][..], &[1], &[0, 1], &[1, 0]].into_iter().enumerate() {
            for traffic in [false, true] {
                let start = Start::ALL[k % 3];
                let params = format!("{} {periods:?} {sides:?} traffic {traffic} {start:?}", name::<U>());
                let case = Case::new("common", "crossing::resets_in_any_order", params);
                each(&case, &|probe| {
                    reset_run::<U>(&case, start, periods, sides, traffic, without, probe)
                });
            }
        }
    }
}

fn reset_run<U: Ports>(
    case: &Case,
    start: Start,
    periods: (u64, u64),
    sides: &[usize],
    traffic: bool,
    without: &[Rule],
    probe: &Probe,
) -> Result<(), String> {
    let mut rng = case.rng("reset");
    // At rest: words are put and nobody takes them. Under traffic: both sides go on all the time.
    let gaps = if traffic { Gaps::Both } else { Gaps::None };
    let mut rig = Rig::<U>::new(case, start, periods, gaps, if traffic { 4000 } else { 2 }, probe);
    rig.power_up(&mut case.rng("power up"))?;
    if !traffic {
        rig.take(Pacer::stopped());
    }
    rig.cycles(rng.between(12, 60))?;
    rig.watch = false;
    for &side in sides {
        rig.reset(side, rng.between(1, 4));
        rig.cycles(rng.below(12))?;
    }
    rig.source.stop();
    rig.cycles(SETTLE)?;
    let growing = rig.got.windows(2).all(|pair| pair[0] < pair[1]);
    let known = rig.got.iter().all(|word| rig.put.contains(word));
    if !growing || !known {
        return Err(format!("Reset: words out of order, twice or made up: {:?}", rig.got));
    }
    let before = rig.got.len();
    rig.take(Pacer::steady());
    rig.cycles(SETTLE)?;
    if !traffic && rig.got.len() != before {
        return Err(format!("Reset: {} words came after the reset", rig.got.len() - before));
    }
    // Its own reset over, the input takes nothing that is emptied with what was before.
    if sides == [0] && !rig.got.ends_with(&rig.put[rig.since..]) {
        let put = &rig.put[rig.since..];
        return Err(format!("Reset: {put:?} were taken after it, and {:?} came", rig.got));
    }
    (rig.put, rig.got, rig.watch) = (Vec::new(), Vec::new(), !without.contains(&Rule::Protocol));
    rig.source = Source::new(10_000..10_000 + WORDS, Pacer::steady());
    rig.finish(WORDS as usize)
        .map_err(|what| format!("Reset: afterwards: {what}"))
}

/// Single words: each is offered SyncStages + 1 output edges after the input edge that takes it, one more with jitter.
pub fn latency<U: Ports>(without: &[Rule], each: Each) {
    for periods in PERIODS {
        let params = format!("{} {periods:?}", name::<U>());
        let case = Case::new("common", "crossing::a_word_takes_its_stages_and_one_edge", params);
        each(&case, &|probe| {
            let mut rig = Rig::<U>::new(&case, Start::Random1, periods, Gaps::None, 0, probe);
            rig.power_up(&mut case.rng("power up"))?;
            let mut rng = case.rng("pauses");
            for word in 0..30 {
                rig.source.push(word);
                rig.until(|rig| rig.put.len() > word as usize)?;
                let put = rig.edges[1];
                rig.until(|rig| rig.dut.offered().is_some())?;
                let (took, least) = (rig.edges[1] - put, U::STAGES + 1);
                holds(
                    without,
                    Rule::Latency,
                    (least..=least + u64::from(U::JITTER)).contains(&took),
                    || format!("word {word} took {took} edges with {} stages", U::STAGES),
                )?;
                rig.cycles(SETTLE + rng.below(5))?;
            }
            Ok(())
        });
    }
}

/// With room for the round trip, one word per cycle of the slower clock.
pub fn rate<U: Ports>(without: &[Rule], each: Each) {
    for periods in [(40_000, 50_000), (50_000, 40_000), (40_000, 40_000)] {
        let params = format!("{} {periods:?}", name::<U>());
        let case = Case::new("common", "crossing::full_rate", params);
        each(&case, &|probe| {
            let mut rig = Rig::<U>::new(&case, Start::Zero, periods, Gaps::None, 1000, probe);
            rig.watch = !without.contains(&Rule::Protocol);
            rig.power_up(&mut case.rng("power up"))?;
            let begin = rig.edges;
            rig.until(|rig| rig.got.len() == 1000)?;
            let slower = if periods.0 > periods.1 { 0 } else { 1 };
            let cycles = rig.edges[slower] - begin[slower];
            holds(without, Rule::Rate, cycles < 1010, || {
                format!("1000 words took {cycles} cycles")
            })
        });
    }
}

/// All checks of a FIFO with room for the round trip.
pub fn checks<U: Ports>(without: &[Rule], each: Each) {
    traffic::<U>(without, each);
    power_ups::<U>(without, each);
    resets::<U>(without, each);
    latency::<U>(without, each);
    rate::<U>(without, each);
}

#[test]
fn traffic_at_every_ratio() {
    traffic::<AsyncFifoD2Jitter>(&[], &mut must_pass);
    traffic::<AsyncFifoD8S3Jitter>(&[], &mut must_pass);
    traffic::<AsyncFifoD16>(&[], &mut must_pass);
}

#[test]
fn one_cycle_of_reset_is_enough() {
    power_ups::<AsyncFifoD2Jitter>(&[], &mut must_pass);
    power_ups::<AsyncFifoD8S3Jitter>(&[], &mut must_pass);
    power_ups::<AsyncFifoD16>(&[], &mut must_pass);
}

#[test]
fn resets_in_any_order() {
    resets::<AsyncFifoD2Jitter>(&[], &mut must_pass);
    resets::<AsyncFifoD8S3Jitter>(&[], &mut must_pass);
    resets::<AsyncFifoD16>(&[], &mut must_pass);
}

#[test]
fn a_word_takes_its_stages_and_one_edge() {
    latency::<AsyncFifoD2Jitter>(&[], &mut must_pass);
    latency::<AsyncFifoD8S3Jitter>(&[], &mut must_pass);
    latency::<AsyncFifoD16>(&[], &mut must_pass);
}

#[test]
fn full_rate() {
    rate::<AsyncFifoD16>(&[], &mut must_pass);
}

/// A synchroniser of four bits.
pub trait Synchroniser: Unit {
    const STAGES: usize;

    fn set(&self, clk: bool, data: u8);
    fn shown(&self) -> u8;
}

macro_rules! synchronisers {
    ($($unit:ident: $stages:literal;)+) => {$(
        impl Synchroniser for $unit {
            const STAGES: usize = $stages;

            fn set(&self, clk: bool, data: u8) {
                self.clk_i.set_bool(clk);
                self.data_i.set(data);
            }

            fn shown(&self) -> u8 {
                self.data_o.get()
            }
        }
    )+};
}

synchronisers!(
    CdcSyncS3: 3;
    CdcSyncJitter: 2;
    TwinCdcSyncStages: 3;
    TwinCdcSyncSure: 2;
);

/// What is shown after an edge with these data.
fn edge<U: Synchroniser>(dut: &U, wave: &mut Recorder, data: u8) -> u8 {
    for clk in [false, true] {
        let now = dut.context().time() + 5_000;
        dut.set(clk, data);
        dut.context().set_time(now);
        dut.eval();
        wave.tick(now);
    }
    dut.shown()
}

/// Without jitter whatever comes is shown after exactly its stages.
pub fn steady<U: Synchroniser>(without: &[Rule], each: Each) {
    for start in 1..=2 {
        let case = Case::new(
            "common",
            "crossing::synchroniser",
            format!("{} start {start}", name::<U>()),
        );
        each(&case, &|probe| {
            let dut = U::named(&case.context(), "dut");
            let mut wave = Recorder::new(probe, &[&dut]);
            let mut rng = case.rng("data");
            let mut past = VecDeque::new();
            for _ in 0..200 {
                past.push_back(rng.below(16) as u8);
                let shown = edge(&dut, &mut wave, past[past.len() - 1]);
                if past.len() == U::STAGES {
                    let settled = past.pop_front();
                    holds(without, Rule::Stages, settled == Some(shown), || {
                        format!("{shown} came, not {settled:?}")
                    })?;
                }
            }
            Ok(())
        });
    }
}

/// With jitter a step of a Gray count is shown after its stages or one more, each about as often.
pub fn jittery<U: Synchroniser>(without: &[Rule], each: Each) {
    for start in 1..=2 {
        let case = Case::new(
            "common",
            "crossing::synchroniser",
            format!("{} start {start}", name::<U>()),
        );
        each(&case, &|probe| {
            let dut = U::named(&case.context(), "dut");
            let mut wave = Recorder::new(probe, &[&dut]);
            let mut late = 0;
            for step in 0..200u8 {
                let (old, new) = (gray(step), gray(step.wrapping_add(1)));
                for _ in 0..U::STAGES + 2 {
                    edge(&dut, &mut wave, old);
                }
                let seen: Vec<u8> = (0..=U::STAGES).map(|_| edge(&dut, &mut wave, new)).collect();
                let waited = seen.iter().take_while(|&&shown| shown == old).count();
                let settled =
                    (U::STAGES - 1..=U::STAGES).contains(&waited) && seen[waited..].iter().all(|&shown| shown == new);
                holds(without, Rule::Stages, settled, || {
                    format!("{old} to {new} came as {seen:?}")
                })?;
                late += usize::from(waited == U::STAGES);
            }
            holds(without, Rule::Jitter, (50..150).contains(&late), || {
                format!("{late} of 200 changes came a cycle late")
            })
        });
    }
}

#[test]
fn synchroniser() {
    steady::<CdcSyncS3>(&[], &mut must_pass);
    jittery::<CdcSyncJitter>(&[], &mut must_pass);
}

fn gray(count: u8) -> u8 {
    let count = count & 15;
    count ^ count >> 1
}
