//! `dimmnet1_link`: crossings to the link's clock, and the rest of both clocks.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Instance, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::{Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use verilated::{Clock, Clocks, Edges, Input as _, Port as _};

use crate::tx::Word;

rules!(
    /// Words come out as they went in, each way.
    Order
    /// While both sides are at rest, a clock edge changes nothing.
    Rest
    /// A side that has something to do is busy, and comes to rest afterwards.
    Busy
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle of the slower clock.
    Rate
);

/// The domains, and the ways that begin in them.
const CORE: usize = 0;
const LINK: usize = 1;

#[derive(Clone, Default)]
struct In {
    rst: [bool; 2],
    active: bool,
    /// Offered by the source of each domain.
    words: [Option<Word>; 2],
    /// The sink of each domain is ready.
    ready: [bool; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    busy: [bool; 2],
    ready: [bool; 2],
    words: [Option<Word>; 2],
}

fn set(dut: &impl Dimmnet1LinkPorts, inputs: &In) {
    let [(tx, tx_last), (rx, rx_last)] = inputs.words.map(|word| word.unwrap_or((0xdead_beef, true)));
    dut.rst_i().set_bool(inputs.rst[CORE]);
    dut.link_rst_i().set_bool(inputs.rst[LINK]);
    dut.core_active_i().set_bool(inputs.active);
    dut.tx_valid_i().set_bool(inputs.words[CORE].is_some());
    dut.tx_data_i().set(tx);
    dut.tx_last_i().set_bool(tx_last);
    dut.link_rx_valid_i().set_bool(inputs.words[LINK].is_some());
    dut.link_rx_data_i().set(rx);
    dut.link_rx_last_i().set_bool(rx_last);
    dut.rx_ready_i().set_bool(inputs.ready[CORE]);
    dut.link_tx_ready_i().set_bool(inputs.ready[LINK]);
}

fn seen(dut: &impl Dimmnet1LinkPorts) -> Out {
    let rx = || (dut.rx_data_o().get(), dut.rx_last_o().is_set());
    let tx = || (dut.link_tx_data_o().get(), dut.link_tx_last_o().is_set());
    Out {
        busy: [dut.core_busy_o().is_set(), dut.link_busy_o().is_set()],
        ready: [dut.tx_ready_o().is_set(), dut.link_rx_ready_o().is_set()],
        words: [
            dut.rx_valid_o().is_set().then(rx),
            dut.link_tx_valid_o().is_set().then(tx),
        ],
    }
}

fn link<U: Dimmnet1LinkUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Periods of the clocks, picoseconds: the card's, equal ones, and ones far apart.
const PERIODS: [[u64; 2]; 4] = [[20_000, 16_000], [16_000, 16_000], [37_003, 10_007], [10_007, 37_003]];

const WORDS: usize = 300;

/// A link between two sources and two sinks.
struct Traffic<'a> {
    dut: Box<dyn Instance<In, Out>>,
    wave: Recorder<'a>,
    clocks: Clocks,
    clks: [Clock; 2],
    inputs: In,
    sources: [Source<Word>; 2],
    sinks: [Sink<Word>; 2],
    sent: [Vec<Word>; 2],
    got: [Vec<Word>; 2],
    edges: [u64; 2],
    /// Whether edges at rest may be left out, and how many were.
    gated: bool,
    skipped: u64,
    gate: Rng,
}

impl<'a> Traffic<'a> {
    /// After both resets.
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, periods: [u64; 2], gaps: Gaps) -> Result<Traffic<'a>, Fault> {
        let dut = dut.instance(&run.context());
        let (mut clocks, mut phase) = (Clocks::new(), run.rng("phase"));
        let mut rng = run.rng("words");
        let sent = [0, 1].map(|_| {
            (0..WORDS)
                .map(|_| (rng.bits(), rng.chance(1, 4)))
                .collect::<Vec<Word>>()
        });
        let mut traffic = Traffic {
            wave: run.recorder(&[dut.verilated()]),
            dut,
            clks: periods.map(|period| clocks.add(period, phase.below(period))),
            clocks,
            inputs: In {
                rst: [true; 2],
                ..In::default()
            },
            sources: [0, 1].map(|_| Source::new([], Pacer::steady())),
            sinks: [0, 1].map(|_| Sink::new(Pacer::stopped())),
            sent,
            got: [Vec::new(), Vec::new()],
            edges: [0; 2],
            gated: false,
            skipped: 0,
            gate: run.rng("gate"),
        };
        traffic.dut.set(&traffic.inputs);
        traffic.cycles(40)?;
        traffic.inputs.rst = [false; 2];
        traffic.cycles(100)?;
        let sources = ["core source", "link source"];
        for (i, name) in sources.into_iter().enumerate() {
            traffic.sources[i] = Source::new(traffic.sent[i].clone(), run.pacer(gaps.at_source(), name));
            traffic.sinks[i] = Sink::new(run.pacer(gaps.at_sink(), ["core sink", "link sink"][i]));
        }
        traffic.gated = true;
        Ok(traffic)
    }

    /// One instant with edges; at rest they may be left out.
    fn step(&mut self) -> Result<(), Fault> {
        let unit = self.dut.verilated();
        let edges = self.clocks.step(unit.context());
        let seen = self.dut.seen();
        // A receiver that takes a word is busy itself.
        let takes = self.inputs.ready[CORE] && seen.words[CORE].is_some();
        let quiet = self.inputs.words == [None; 2] && !self.inputs.active && !takes && self.inputs.rst == [false; 2];
        let rests = self.gated && quiet && seen.busy == [false; 2];
        let [falls, rises] = [Edges::falls, Edges::rises].map(|is| self.clks.map(|clk| is(&edges, clk)));
        let mask = |sides: [bool; 2]| u64::from(sides[CORE]) | u64::from(sides[LINK]) << 1;
        if rests && self.gate.chance(1, 2) {
            self.skipped += 1;
        } else {
            unit.junk();
            if falls.contains(&true) {
                unit.fall(mask(falls));
            }
            if rises.contains(&true) {
                unit.rise(mask(rises));
            }
            let after = self.dut.seen();
            let same = !rests || after == seen;
            Rule::Rest.holds(same, || format!("at rest {seen:x?} becomes {after:x?}"))?;
        }
        self.wave.tick(edges.at);
        for side in [CORE, LINK] {
            if rises[side] {
                self.edge(side, &seen)?;
            }
        }
        self.dut.set(&self.inputs);
        Ok(())
    }

    fn edge(&mut self, side: usize, seen: &Out) -> Result<(), Fault> {
        self.edges[side] += 1;
        if self.inputs.rst[side] {
            return Ok(());
        }
        self.sources[side].step(seen.ready[side]);
        if let Some(word) = self.sinks[side].step(seen.words[side])? {
            self.got[1 - side].push(word);
        }
        self.inputs.words[side] = self.sources[side].offer().copied();
        self.inputs.ready[side] = self.sinks[side].ready();
        Ok(())
    }

    /// This number of cycles of each clock.
    fn cycles(&mut self, count: u64) -> Result<(), Fault> {
        let ends = self.edges.map(|edges| edges + count);
        while self.edges.iter().zip(ends).any(|(&now, end)| now < end) {
            self.step()?;
        }
        Ok(())
    }

    /// Until all words came, or nothing more comes.
    fn finish(&mut self) -> Result<(), Fault> {
        for _ in 0..100_000 {
            if self.got.iter().all(|got| got.len() >= WORDS) {
                break;
            }
            self.step()?;
        }
        for side in [CORE, LINK] {
            let (got, sent) = (&self.got[side], &self.sent[side]);
            Rule::Order.holds(got == sent, || {
                let same = got.iter().zip(sent).take_while(|(got, sent)| got == sent).count();
                format!(
                    "from side {side} came {} words, and {same} as they were sent",
                    got.len()
                )
            })?;
        }
        self.cycles(100)?;
        let busy = self.dut.seen().busy;
        Rule::Busy.holds(busy == [false; 2], || format!("at rest {busy:?} are busy"))
    }
}

fn traffic(run: &Run, dut: &Dut<In, Out>, periods: [u64; 2], gaps: Gaps) -> Result<(), Fault> {
    let mut traffic = Traffic::new(run, dut, periods, gaps)?;
    traffic.finish()?;
    assert!(traffic.skipped > 0, "no edge was left out");
    // The rest of the card keeps its side busy.
    traffic.inputs.active = true;
    traffic.cycles(20)?;
    let busy = traffic.dut.seen().busy[CORE];
    Rule::Busy.holds(busy, || "not busy with an active core".into())
}

/// Without pauses, both ways at once.
fn rate(run: &Run, dut: &Dut<In, Out>, periods: [u64; 2]) -> Result<(), Fault> {
    let mut traffic = Traffic::new(run, dut, periods, Gaps::None)?;
    let begin = traffic.edges;
    while traffic.got.iter().any(|got| got.len() < WORDS) {
        traffic.step()?;
        let took = [0, 1]
            .map(|i| traffic.edges[i] - begin[i])
            .into_iter()
            .min()
            .unwrap_or(0);
        Rule::Rate.holds(took < WORDS as u64 + 12, || format!("{WORDS} words took {took} cycles"))?;
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for (i, periods) in PERIODS.into_iter().enumerate() {
        for (j, gaps) in Gaps::ALL.into_iter().enumerate() {
            let start = Start::ALL[(i + j) % 3];
            let params = format!("{} {periods:?} {gaps:?}", dut.name);
            cases.case(start, params, |run| traffic(run, dut, periods, gaps));
        }
    }
    for periods in &PERIODS[..2] {
        cases.case(Start::Zero, format!("{} {periods:?} rate", dut.name), |run| {
            rate(run, dut, *periods)
        });
    }
}

#[test]
fn carries_words_both_ways() {
    pass(this_test!(), |cases| checks(&link::<Dimmnet1Link>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The end of a packet is lost.
            (Order, &[], &|cases| checks(&link::<TwinCrossingEnds>(), cases)),
            // A word on its way does not keep the link's clock going.
            (Rest, &[Order, Rate, Protocol], &|cases| {
                checks(&link::<TwinCrossingRest>(), cases)
            }),
            // The rest of the card may stop its own clock.
            (Busy, &[], &|cases| checks(&link::<TwinCrossingIdle>(), cases)),
            (Protocol, &[Order, Rest, Busy, Rate], &|cases| {
                checks(&link::<TwinCrossingWithdraws>(), cases)
            }),
            (Rate, &[], &|cases| checks(&link::<TwinCrossingShallow>(), cases)),
        ],
    );
}
