//! The broadcast bus: each word comes to all cells once, in one order, at its pace.

use std::collections::VecDeque;

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use verilated::{Input as _, Port as _};

use crate::sync_tree::levels;

rules!(
    /// Each cell gets each word once, unchanged, in the order of its sender and of the other cells.
    Word
    /// A packet comes whole, without words of another.
    Mixed
    /// A waiting packet is passed over by a bounded number of others.
    Unfair
    /// Each word on offer comes, and then the bus is at rest.
    Left
    /// Without gaps a word takes its cycles.
    Rate
    /// Edges left out at rest change nothing.
    Gating
);

/// A word and whether it ends its packet.
type Flit = (u32, bool);

/// The inputs of a cycle, by cell: the word on offer, and ready.
#[derive(Debug)]
struct In {
    flits: Vec<Option<Flit>>,
    ready: Vec<bool>,
}

/// The outputs of a cycle, by cell: ready, and the word on offer.
#[derive(Debug, PartialEq)]
struct Out {
    ready: Vec<bool>,
    flits: Vec<Option<Flit>>,
    busy: bool,
}

fn set(dut: &impl BroadcastBusPorts, inputs: &In) {
    for (cell, (flit, ready)) in inputs.flits.iter().zip(&inputs.ready).enumerate() {
        let (word, last) = flit.unwrap_or((0xdead_beef, true));
        dut.in_valid_i().set_bits(cell, 1, flit.is_some().into());
        dut.in_data_i().set_bits(32 * cell, 32, word.into());
        dut.in_last_i().set_bits(cell, 1, last.into());
        dut.out_ready_i().set_bits(cell, 1, (*ready).into());
    }
}

fn seen(dut: &impl BroadcastBusPorts) -> Out {
    let cells = 0..dut.in_ready_o().width();
    let flit = (dut.out_data_o().get() as u32, dut.out_last_o().is_set());
    let offered = |cell| dut.out_valid_o().bit(cell).then_some(flit);
    Out {
        ready: cells.clone().map(|cell| dut.in_ready_o().bit(cell)).collect(),
        flits: cells.map(offered).collect(),
        busy: dut.busy_o().is_set(),
    }
}

/// A bus under test.
struct Bus {
    dut: Dut<In, Out>,
    cells: usize,
    /// Packets that may pass a waiting one.
    bound: usize,
    /// Cycles of a word.
    pace: u64,
}

fn bus<U: BroadcastBusUnit + 'static>(radix: usize, pace: u64) -> Bus {
    let dut = Dut::of::<U>(set, seen);
    let cells = dut.width("in_valid_i");
    Bus {
        dut,
        cells,
        bound: (radix + 2).pow(levels(cells, radix)),
        pace,
    }
}

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

/// The words under way.
struct Due {
    bound: usize,
    /// By cell: words sent that no cell has received.
    sent: Vec<VecDeque<Flit>>,
    /// All words received, and by cell, the number of those that it has.
    words: Vec<Flit>,
    has: Vec<usize>,
    /// By cell: packets that have passed its waiting one.
    passed: Vec<usize>,
}

impl Due {
    fn new(bus: &Bus) -> Due {
        Due {
            bound: bus.bound,
            sent: vec![VecDeque::new(); bus.cells],
            words: Vec::new(),
            has: vec![0; bus.cells],
            passed: vec![0; bus.cells],
        }
    }

    /// The first cell has received the next word.
    fn first(&mut self, flit: Flit) -> Result<(), Fault> {
        let from = (flit.0 >> 20) as usize % self.sent.len();
        let begins = self.words.last().is_none_or(|before| before.1);
        let inside = self
            .words
            .last()
            .map(|before| (before.0 >> 20) as usize)
            .filter(|_| !begins);
        Rule::Mixed.holds(inside.is_none_or(|cell| cell == from), || {
            format!("a word of cell {from} inside a packet of {inside:?}")
        })?;
        let want = self.sent[from].pop_front();
        Rule::Word.holds(want == Some(flit), || format!("got {flit:x?}, not {want:x?}"))?;
        self.words.push(flit);
        self.passed[from] = 0;
        for (cell, passed) in self.passed.iter_mut().enumerate().filter(|(cell, _)| *cell != from) {
            *passed += usize::from(begins);
            Rule::Unfair.holds(*passed <= self.bound, || {
                format!("{passed} packets passed that of cell {cell}")
            })?;
        }
        Ok(())
    }

    fn received(&mut self, cell: usize, flit: Flit) -> Result<(), Fault> {
        if self.has[cell] == self.words.len() {
            self.first(flit)?;
        }
        let want = self.words[self.has[cell]];
        Rule::Word.holds(want == flit, || format!("cell {cell} got {flit:x?}, others {want:x?}"))?;
        self.has[cell] += 1;
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.sent.iter().all(VecDeque::is_empty) && self.has.iter().all(|has| *has == self.words.len())
    }
}

/// The packets of all cells.
#[derive(Clone, Debug)]
struct Plan {
    gaps: Gaps,
    /// By cell.
    sends: Vec<Vec<Flit>>,
    /// Cycles from a cell's first word to the next cell's.
    apart: u64,
    /// The cycle of a reset that loses the words under way.
    reset: Option<u64>,
}

/// Sends each cell's packets to all cells. The cycles from the first word that a cell takes to the last.
fn exercise(run: &Run, bus: &Bus, plan: &Plan) -> Result<u64, Fault> {
    let mut pair = Pair::new(run, &bus.dut);
    let source = |(cell, flits): (usize, &Vec<Flit>)| {
        Source::new(
            flits.clone(),
            run.pacer(plan.gaps.at_source(), &format!("source {cell}")),
        )
    };
    let sink = |cell| Sink::<Flit>::new(run.pacer(plan.gaps.at_sink(), &format!("sink {cell}")));
    let mut sources: Vec<_> = plan.sends.iter().enumerate().map(source).collect();
    let mut sinks: Vec<_> = (0..bus.cells).map(sink).collect();
    let mut due = Due::new(bus);
    let (mut first, mut last, mut idle) = (None, 0, 0);
    for cycle in 0..200_000 {
        let offer = |(cell, source): (usize, &mut Source<Flit>)| {
            let starts = plan.apart * cell as u64;
            (cycle >= starts).then(|| source.offer().copied()).flatten()
        };
        let inputs = In {
            flits: sources.iter_mut().enumerate().map(offer).collect(),
            ready: sinks.iter_mut().map(Sink::ready).collect(),
        };
        if cycle < 3 || plan.reset == Some(cycle) {
            pair.reset(&inputs);
            sources.iter_mut().for_each(Source::reset);
            sinks.iter_mut().for_each(Sink::reset);
            due = Due::new(bus);
            continue;
        }
        for (cell, flit) in inputs.flits.iter().enumerate() {
            if flit.is_none() && due.sent[cell].is_empty() {
                due.passed[cell] = 0;
            }
        }
        let seen = pair.step(&inputs, inputs.flits.iter().any(Option::is_some))?;
        for (cell, source) in sources.iter_mut().enumerate() {
            due.sent[cell].extend(source.step(seen.ready[cell]));
        }
        for (cell, sink) in sinks.iter_mut().enumerate() {
            if let Some(flit) = sink.step(seen.flits[cell]).map_err(|e| Fault::from(e).at(cycle))? {
                due.received(cell, flit).map_err(|fault| fault.at(cycle))?;
                first.get_or_insert(cycle);
                last = cycle;
            }
        }
        let done = due.is_empty() && sources.iter().all(Source::is_empty) && !pair.seen().busy;
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            return Ok(last - first.unwrap_or(last) + 1);
        }
    }
    let left: Vec<_> = sources.iter().map(Source::len).collect();
    let (has, words) = (due.has, due.words.len());
    Err(Rule::Left.broken(format!("words not sent: {left:?}, received: {has:?} of {words}")))
}

/// Random packets of all cells, under every gap pattern, without and with a reset.
fn contract(bus: &Bus, many: usize, cases: &mut Cases) {
    let name = bus.dut.name;
    for (gaps, resets) in Gaps::ALL.into_iter().flat_map(|gaps| [(gaps, false), (gaps, true)]) {
        cases.case(Start::Random1, format!("{name} {gaps:?} reset {resets}"), |run| {
            let length = |rng: &mut Rng| if rng.chance(1, 2) { 1 } else { rng.between(1, 9) };
            let send = |cell| {
                let mut rng = run.rng(&format!("packets of {cell}"));
                packets(cell, (0..many).map(|_| length(&mut rng)))
            };
            let plan = Plan {
                gaps,
                sends: (0..bus.cells).map(send).collect(),
                apart: 0,
                reset: resets.then(|| run.rng("reset").between(20, 200)),
            };
            exercise(run, bus, &plan).map(drop)
        });
    }
    // Each finds the bus at rest, as the one before it has left it.
    let plan = Plan {
        gaps: Gaps::None,
        sends: (0..bus.cells).map(|cell| packets(cell, [3])).collect(),
        apart: 30,
        reset: None,
    };
    cases.case(Start::Random1, format!("{name} one at a time"), |run| {
        exercise(run, bus, &plan).map(drop)
    });
}

/// Without gaps a word in its cycles: of one cell and of all, packets of one word and longer ones.
fn rate(bus: &Bus, cases: &mut Cases) {
    for (many, length) in [(1, 1), (bus.cells, 1), (2, 3), (bus.cells, 4)] {
        let params = format!("{} {many} {length}", bus.dut.name);
        let many = many.min(bus.cells);
        let send = |cell| packets(cell, (0..if cell < many { 40 } else { 0 }).map(|_| length));
        let plan = Plan {
            gaps: Gaps::None,
            sends: (0..bus.cells).map(send).collect(),
            apart: 0,
            reset: None,
        };
        let words = 40 * many as u64 * length;
        // No word waits for the last one's pause.
        let due = (words - 1) * bus.pace + 1;
        cases.case(Start::Random1, params, |run| {
            let cycles = exercise(run, bus, &plan)?;
            Rule::Rate.holds(cycles == due, || {
                format!("{words} words of {many} cells took {cycles} cycles, not {due}")
            })
        });
    }
}

/// All checks of a twin.
fn checks(bus: &Bus, cases: &mut Cases) {
    contract(bus, 20, cases);
    rate(bus, cases);
}

#[test]
fn broadcasts_reach_all_once_in_one_order() {
    pass(this_test!(), |cases| {
        contract(&bus::<BroadcastBus16>(4, 1), 20, cases);
        contract(&bus::<BroadcastBus1>(4, 1), 20, cases);
        contract(&bus::<BroadcastBus11>(8, 1), 20, cases);
        contract(&bus::<BroadcastBus16Pace4>(4, 4), 20, cases);
        contract(&bus::<BroadcastBus256>(4, 1), 2, cases);
    });
}

#[test]
fn words_at_the_rate() {
    pass(this_test!(), |cases| {
        rate(&bus::<BroadcastBus16>(4, 1), cases);
        rate(&bus::<BroadcastBus1>(4, 1), cases);
        rate(&bus::<BroadcastBus11>(8, 1), cases);
        rate(&bus::<BroadcastBus16Pace4>(4, 4), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Word, &[], &|cases| checks(&bus::<TwinBusTwice>(4, 1), cases)),
            (Mixed, &[], &|cases| checks(&bus::<TwinBusMixed>(4, 1), cases)),
            (Unfair, &[], &|cases| checks(&bus::<TwinBusUnfair>(4, 1), cases)),
            (Left, &[], &|cases| checks(&bus::<TwinBusStays>(4, 1), cases)),
            (Rate, &[], &|cases| checks(&bus::<TwinBusBubble>(4, 1), cases)),
            (Rate, &[], &|cases| checks(&bus::<TwinBusPace>(4, 4), cases)),
            (Gating, &[], &|cases| checks(&bus::<TwinBusRests>(4, 1), cases)),
        ],
    );
}
