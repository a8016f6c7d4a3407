//! Asynchronous FIFO: order at several clock ratios, at any phase and with jitter; resets of either side at any time.

use std::mem;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Instance, Rule as _, Run, Start, assertion, each_is_caught, pass, rules};
use tsunagi::harness::seed::{Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use verilated::{Clock, Clocks, Edges, Input as _, Port as _};

rules!(
    /// Words leave in the order in which they entered.
    Order
    /// An offer holds until it is taken.
    Protocol
    /// A reset of either side empties the FIFO, which works afterwards.
    Reset
    /// A word is offered when the synchroniser has passed it, no sooner and no later.
    Latency
    /// A word per cycle of the slower clock.
    Rate
);

/// The sides of the FIFO, as indices.
const IN: usize = 0;
const OUT: usize = 1;

struct In {
    /// The resets of both sides.
    rst: [bool; 2],
    word: Option<u64>,
    ready: bool,
}

struct Out {
    ready: bool,
    offered: Option<u64>,
}

fn set(dut: &impl AsyncFifoPorts, inputs: &In) {
    dut.in_rst_i().set_bool(inputs.rst[IN]);
    dut.in_valid_i().set_bool(inputs.word.is_some());
    dut.in_data_i().set(inputs.word.unwrap_or(0xdead_beef_dead_beef));
    dut.out_rst_i().set_bool(inputs.rst[OUT]);
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl AsyncFifoPorts) -> Out {
    Out {
        ready: dut.in_ready_o().is_set(),
        offered: dut.out_valid_o().is_set().then(|| dut.out_data_o().get()),
    }
}

/// A FIFO under test.
struct Fifo {
    dut: Dut<In, Out>,
    stages: u64,
    /// Whether a synchroniser may pass a change one cycle late.
    jitter: bool,
}

fn fifo<U: AsyncFifoUnit + 'static>(stages: u64, jitter: bool) -> Fifo {
    let dut = Dut::of::<U>(set, seen);
    Fifo { dut, stages, jitter }
}

fn fifos() -> [Fifo; 3] {
    [
        fifo::<AsyncFifoD2Jitter>(2, true),
        fifo::<AsyncFifoD8S3Jitter>(3, true),
        fifo::<AsyncFifoD16>(2, false),
    ]
}

/// Periods of the two clocks, picoseconds.
type Periods = (u64, u64);

/// The clocks of the machine (25 and 20 MHz) both ways, equal, coprime and far apart.
const PERIODS: [Periods; 6] = [
    (40_000, 50_000),
    (50_000, 40_000),
    (40_000, 40_000),
    (37_003, 10_007),
    (10_007, 37_003),
    (5_000, 50_000),
];

/// Cycles of each clock that suffice for any reset and crossing at these ratios.
const SETTLE: u64 = 40;
const WORDS: u64 = 150;

/// A FIFO between a source and a sink, each with its own clock.
struct Traffic<'a> {
    dut: Box<dyn Instance<In, Out>>,
    inputs: In,
    clocks: Clocks,
    clks: [Clock; 2],
    source: Source<u64>,
    sink: Sink<u64>,
    /// Cycles for which the reset of each side goes on.
    resets: [u64; 2],
    /// Whether offers must hold.
    watch: bool,
    put: Vec<u64>,
    /// Words put before the last reset of the input.
    since: usize,
    got: Vec<u64>,
    /// Rising edges of each clock.
    edges: [u64; 2],
    wave: Recorder<'a>,
}

impl<'a> Traffic<'a> {
    /// Traffic at random phases; both sides are in reset.
    fn new(run: &Run<'a>, fifo: &Fifo, periods: Periods, gaps: Gaps, words: u64) -> Traffic<'a> {
        let dut = fifo.dut.instance(&run.context());
        let inputs = In {
            rst: [true; 2],
            word: None,
            ready: false,
        };
        dut.set(&inputs);
        let (mut clocks, mut phase) = (Clocks::new(), run.rng("phase"));
        Traffic {
            wave: run.recorder(&[dut.verilated()]),
            dut,
            inputs,
            clks: [periods.0, periods.1].map(|period| clocks.add(period, phase.below(period))),
            clocks,
            source: Source::new(0..words, run.pacer(gaps.at_source(), "source")),
            sink: Sink::new(run.pacer(gaps.at_sink(), "sink")),
            resets: [0; 2],
            watch: true,
            put: Vec::new(),
            since: 0,
            got: Vec::new(),
            edges: [0; 2],
        }
    }

    /// One instant with edges.
    fn step(&mut self) -> Result<(), Fault> {
        let unit = self.dut.verilated();
        let edges = self.clocks.step(unit.context());
        // An edge samples the values just before it.
        let seen = self.dut.seen();
        let [falls, rises] = [Edges::falls, Edges::rises].map(|is| self.clks.map(|clk| is(&edges, clk)));
        let mask = |sides: [bool; 2]| u64::from(sides[IN]) | u64::from(sides[OUT]) << 1;
        unit.junk();
        if falls.contains(&true) {
            unit.fall(mask(falls));
        }
        if rises.contains(&true) {
            unit.rise(mask(rises));
        }
        self.wave.tick(edges.at);
        if rises[IN] {
            self.edge_in(seen.ready);
        }
        if rises[OUT] {
            let kept = self.edge_out(seen.offered);
            kept.map_err(|fault| fault.at(self.edges[OUT]))?;
        }
        self.dut.set(&self.inputs);
        Ok(())
    }

    fn edge_in(&mut self, ready: bool) {
        self.edges[IN] += 1;
        if self.inputs.rst[IN] {
            self.source.reset();
            self.since = self.put.len();
        } else {
            self.put.extend(self.source.step(ready));
        }
        self.next_reset(IN);
        self.inputs.word = self.source.offer().copied();
    }

    fn edge_out(&mut self, offered: Option<u64>) -> Result<(), Fault> {
        self.edges[OUT] += 1;
        if self.inputs.rst[OUT] || !self.watch {
            self.sink.reset();
        }
        if !self.inputs.rst[OUT] {
            self.got.extend(self.sink.step(offered)?);
        }
        self.next_reset(OUT);
        self.inputs.ready = self.sink.ready();
        Ok(())
    }

    fn next_reset(&mut self, side: usize) {
        self.inputs.rst[side] = self.resets[side] > 0;
        self.resets[side] = self.resets[side].saturating_sub(1);
    }

    /// Resets one side for this number of its cycles, from its next edge but one.
    fn reset(&mut self, side: usize, cycles: u64) {
        self.resets[side] = cycles;
    }

    fn until(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), Fault> {
        for _ in 0..50_000 {
            if done(self) {
                return Ok(());
            }
            self.step()?;
        }
        let (put, got) = (self.put.len(), self.got.len());
        Err(Rule::Order.broken(format!("the FIFO stands after {put} words in and {got} out")))
    }

    /// This number of cycles of each clock.
    fn cycles(&mut self, count: u64) -> Result<(), Fault> {
        let ends = self.edges.map(|edges| edges + count);
        while self.edges.iter().zip(ends).any(|(&now, end)| now < end) {
            self.step()?;
        }
        Ok(())
    }

    /// A new sink with this pacer; a word for which the old one was ready is not taken.
    fn take(&mut self, pacer: Pacer) {
        self.sink = Sink::new(pacer);
        self.inputs.ready = false;
        self.dut.set(&self.inputs);
    }

    /// Both sides are in reset from the start and leave it one after the other. Words before that mean nothing.
    fn power_up(&mut self, rng: &mut Rng) -> Result<(), Fault> {
        let first = rng.below(2) as usize;
        self.reset(first, rng.between(1, 4));
        self.reset(1 - first, rng.between(1, 12));
        self.settle()
    }

    /// Lets resets end without traffic, and forgets the words that come.
    fn settle(&mut self) -> Result<(), Fault> {
        let source = mem::replace(&mut self.source, Source::new([], Pacer::steady()));
        self.watch = false;
        self.cycles(SETTLE)?;
        (self.source, self.watch, self.got) = (source, true, Vec::new());
        Ok(())
    }

    /// Until all words were taken, then on for a while: the words that came are those that were put.
    fn finish(&mut self, words: u64) -> Result<(), Fault> {
        let words = words as usize;
        for _ in 0..400 * words + 4000 {
            if self.got.len() >= words && self.source.is_empty() {
                break;
            }
            self.step()?;
        }
        self.cycles(SETTLE)?;
        let (got, put) = (&self.got, &self.put);
        Rule::Order.holds(got == put && put.len() == words, || {
            let same = got.iter().zip(put).take_while(|(got, put)| got == put).count();
            let (got, put) = (got.len(), put.len());
            format!("of {words} words {put} were put and {got} came; they differ from word {same} on")
        })
    }
}

/// Order and protocol at every clock ratio and gap pattern.
fn traffic(fifo: &Fifo, cases: &mut Cases) {
    for (i, periods) in PERIODS.into_iter().enumerate() {
        for (j, gaps) in Gaps::ALL.into_iter().enumerate() {
            let start = Start::ALL[(i + j) % 3];
            cases.case(start, format!("{} {periods:?} {gaps:?}", fifo.dut.name), |run| {
                let mut traffic = Traffic::new(run, fifo, periods, gaps, WORDS);
                traffic.power_up(&mut run.rng("power up"))?;
                traffic.finish(WORDS)
            });
        }
    }
}

/// From many random states, one cycle of reset of each side suffices.
fn power_ups(fifo: &Fifo, cases: &mut Cases) {
    for periods in PERIODS {
        for state in 0..40 {
            let params = format!("{} {periods:?} state {state}", fifo.dut.name);
            cases.case(Start::Random1, params, |run| {
                let mut traffic = Traffic::new(run, fifo, periods, Gaps::None, 40);
                // Each side is in reset at its first edge only.
                let works = traffic.settle().and_then(|()| traffic.finish(40));
                works.map_err(|fault| Rule::Reset.broken(fault.to_string()))
            });
        }
    }
}

/// Resets of these sides, one after the other.
#[derive(Clone, Copy, Debug)]
struct Resets {
    periods: Periods,
    sides: &'static [usize],
    /// Both sides go on all the time; else two words are put, and none is taken.
    traffic: bool,
}

/// The reset of either side empties the FIFO, at rest and under traffic. Order and length of resets do not matter.
fn resets(fifo: &Fifo, cases: &mut Cases) {
    for periods in PERIODS {
        for (start, sides) in [&[IN][..], &[OUT], &[IN, OUT], &[OUT, IN]].into_iter().enumerate() {
            for traffic in [false, true] {
                let plan = Resets {
                    periods,
                    sides,
                    traffic,
                };
                let params = format!("{} {plan:?}", fifo.dut.name);
                cases.case(Start::ALL[start % 3], params, |run| reset_run(run, fifo, plan));
            }
        }
    }
}

fn reset_run(run: &Run, fifo: &Fifo, plan: Resets) -> Result<(), Fault> {
    let mut rng = run.rng("reset");
    let (gaps, words) = if plan.traffic {
        (Gaps::Both, 4000)
    } else {
        (Gaps::None, 2)
    };
    let mut traffic = Traffic::new(run, fifo, plan.periods, gaps, words);
    traffic.power_up(&mut run.rng("power up"))?;
    if !plan.traffic {
        traffic.take(Pacer::stopped());
    }
    traffic.cycles(rng.between(12, 60))?;
    traffic.watch = false;
    for &side in plan.sides {
        traffic.reset(side, rng.between(1, 4));
        traffic.cycles(rng.below(12))?;
    }
    traffic.source.stop();
    traffic.cycles(SETTLE)?;
    let (put, got) = (&traffic.put, &traffic.got);
    let in_order = got.is_sorted_by(|a, b| a < b) && got.iter().all(|word| put.contains(word));
    Rule::Reset.holds(in_order, || format!("words out of order, twice or made up: {got:?}"))?;
    let before = got.len();
    traffic.take(Pacer::steady());
    traffic.cycles(SETTLE)?;
    let (after, got) = (&traffic.put[traffic.since..], &traffic.got);
    Rule::Reset.holds(plan.traffic || got.len() == before, || {
        format!("{} words came after the reset", got.len() - before)
    })?;
    // After its own reset the input takes no word that is lost with the earlier ones.
    Rule::Reset.holds(plan.sides != [IN] || got.ends_with(after), || {
        format!("{after:?} were taken after it, and {got:?} came")
    })?;
    (traffic.put, traffic.got, traffic.watch) = (Vec::new(), Vec::new(), true);
    traffic.source = Source::new(10_000..10_000 + WORDS, Pacer::steady());
    let works = traffic.finish(WORDS);
    works.map_err(|fault| Rule::Reset.broken(format!("afterwards: {fault}")))
}

/// Each single word is offered `SyncStages` + 1 output edges after the input edge that takes it, with jitter at times
/// one later.
fn latency(fifo: &Fifo, cases: &mut Cases) {
    for periods in PERIODS {
        cases.case(Start::Random1, format!("{} {periods:?}", fifo.dut.name), |run| {
            let mut traffic = Traffic::new(run, fifo, periods, Gaps::None, 0);
            traffic.power_up(&mut run.rng("power up"))?;
            let mut rng = run.rng("pauses");
            for word in 0..30 {
                traffic.source.push(word);
                traffic.until(|traffic| traffic.put.len() > word as usize)?;
                let put = traffic.edges[OUT];
                traffic.until(|traffic| traffic.dut.seen().offered.is_some())?;
                let (took, least) = (traffic.edges[OUT] - put, fifo.stages + 1);
                let right = (least..=least + u64::from(fifo.jitter)).contains(&took);
                Rule::Latency.holds(right, || {
                    format!("word {word} took {took} edges with {} stages", fifo.stages)
                })?;
                traffic.cycles(SETTLE + rng.below(5))?;
            }
            Ok(())
        });
    }
}

/// With room for the round trip, one word per cycle of the slower clock.
fn rate(fifo: &Fifo, cases: &mut Cases) {
    for periods in [(40_000, 50_000), (50_000, 40_000), (40_000, 40_000)] {
        cases.case(Start::Zero, format!("{} {periods:?}", fifo.dut.name), |run| {
            let mut traffic = Traffic::new(run, fifo, periods, Gaps::None, 1000);
            traffic.power_up(&mut run.rng("power up"))?;
            let begin = traffic.edges;
            traffic.until(|traffic| traffic.got.len() == 1000)?;
            let slower = if periods.0 > periods.1 { IN } else { OUT };
            let cycles = traffic.edges[slower] - begin[slower];
            Rule::Rate.holds(cycles < 1010, || format!("1000 words took {cycles} cycles"))
        });
    }
}

/// All checks of a FIFO with room for the round trip.
fn checks(fifo: &Fifo, cases: &mut Cases) {
    traffic(fifo, cases);
    power_ups(fifo, cases);
    resets(fifo, cases);
    latency(fifo, cases);
    rate(fifo, cases);
}

#[test]
fn traffic_at_every_ratio() {
    pass(this_test!(), |cases| {
        fifos().iter().for_each(|fifo| traffic(fifo, cases))
    });
}

#[test]
fn one_cycle_of_reset_is_enough() {
    pass(this_test!(), |cases| {
        fifos().iter().for_each(|fifo| power_ups(fifo, cases))
    });
}

#[test]
fn resets_in_any_order() {
    pass(this_test!(), |cases| {
        fifos().iter().for_each(|fifo| resets(fifo, cases))
    });
}

#[test]
fn a_word_takes_its_stages_and_one_edge() {
    pass(this_test!(), |cases| {
        fifos().iter().for_each(|fifo| latency(fifo, cases))
    });
}

#[test]
fn full_rate() {
    pass(this_test!(), |cases| rate(&fifo::<AsyncFifoD16>(2, false), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The check of resets finds it too, by the order after a reset.
            (Order, &[], &|cases| {
                let fifo = fifo::<TwinAsyncFifoOrder>(2, false);
                traffic(&fifo, cases);
                rate(&fifo, cases);
            }),
            // A withdrawn word is never offered again, or twice.
            (Protocol, &[Order, Latency], &|cases| {
                let fifo = fifo::<TwinAsyncFifoWithdraws>(2, false);
                traffic(&fifo, cases);
                latency(&fifo, cases);
            }),
            // The resets after power-up lose words too.
            (Reset, &[Order], &|cases| {
                checks(&fifo::<TwinAsyncFifoReset>(2, false), cases)
            }),
            // A stage too few: the values of a simulation show no error, only an early word.
            (Latency, &[], &|cases| {
                let fifo = fifo::<TwinAsyncFifoStages>(3, true);
                traffic(&fifo, cases);
                latency(&fifo, cases);
            }),
            (Rate, &[], &|cases| checks(&fifo::<TwinAsyncFifoHalf>(2, false), cases)),
        ],
    );
}

/// No traffic in a simulation shows the effect of a pointer that changes in two bits at once. An assertion does.
#[test]
fn a_twin_without_gray_code_violates_an_assertion() {
    let words = assertion(this_test!(), |cases| {
        traffic(&fifo::<TwinAsyncFifoGray>(2, false), cases)
    });
    assert!(words.contains("async_fifo_side.sv"), "{words}");
}
