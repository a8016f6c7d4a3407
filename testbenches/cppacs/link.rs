//! `cppacs_link`: streams of the NIA and the link's credits.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::link::{Link, LinkError, Word};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// Words leave in order, both ways.
    Order
    /// A word is sent with a credit only.
    Credits
    /// Each word that a receiver took gives its credit back, once.
    Returned
    /// A channel that could go is passed over by one word of the other.
    Turn
    /// STALLS counts the cycles in which words wait for credits.
    Stall
    /// 1 or 2 cycles out, 2 in.
    Latency
    /// A word a cycle.
    Rate
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All words arrive.
    Hang
);

/// Credits of both channels at the exchanger, and words that the NIA takes.
const CREDITS: usize = 16;
const ROOM: usize = 32;

#[derive(Clone, Default)]
struct In {
    words: [Option<Word>; 2],
    ready: [bool; 2],
    /// The link's channel and word.
    link: Option<(usize, Word)>,
    credit: [bool; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: [bool; 2],
    words: [Option<Word>; 2],
    link: Option<(usize, Word)>,
    credit: [bool; 2],
    stall: bool,
}

fn set(dut: &impl CppacsLinkPorts, inputs: &In) {
    for c in 0..2 {
        let (data, last) = inputs.words[c].unwrap_or((0x1234, true));
        dut.in_valid_i().set_bits(c, 1, inputs.words[c].is_some().into());
        dut.in_data_i().set_bits(32 * c, 32, data.into());
        dut.in_last_i().set_bits(c, 1, last.into());
        dut.out_ready_i().set_bits(c, 1, inputs.ready[c].into());
        dut.link_out_credit_i().set_bits(c, 1, inputs.credit[c].into());
    }
    let (channel, (data, last)) = inputs.link.unwrap_or((1, (0x4321, true)));
    dut.link_in_valid_i().set_bool(inputs.link.is_some());
    dut.link_in_channel_i().set(channel as u64);
    dut.link_in_data_i().set(data.into());
    dut.link_in_last_i().set_bool(last);
}

fn seen(dut: &impl CppacsLinkPorts) -> Out {
    let bit = |port: &dyn verilated::Port, c: usize| port.get_bits(c, 1) == 1;
    let word = |c: usize| {
        let word = (dut.out_data_o().get_bits(32 * c, 32) as u32, bit(dut.out_last_o(), c));
        bit(dut.out_valid_o(), c).then_some(word)
    };
    let link = || {
        let word = (dut.link_out_data_o().get() as u32, dut.link_out_last_o().is_set());
        (dut.link_out_channel_o().get() as usize, word)
    };
    Out {
        busy: dut.busy_o().is_set(),
        ready: [0, 1].map(|c| bit(dut.in_ready_o(), c)),
        words: [0, 1].map(word),
        link: dut.link_out_valid_o().is_set().then(link),
        credit: [0, 1].map(|c| bit(dut.link_in_credit_o(), c)),
        stall: dut.stall_o().is_set(),
    }
}

fn link<U: CppacsLinkUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

impl From<LinkError> for Rule {
    fn from(error: LinkError) -> Rule {
        match error {
            LinkError::Order { .. } => Rule::Order,
            LinkError::NoCredit(_) => Rule::Credits,
            LinkError::Return(_) => Rule::Returned,
        }
    }
}

fn broken(error: LinkError) -> Fault {
    Rule::from(error).broken(error.to_string())
}

/// The unit, its neighbours, and a model for each direction.
struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    out: Link,
    back: Link,
    sources: [Source<Word>; 2],
    sinks: [Sink<Word>; 2],
    /// Words from the exchanger by channel, its pace, and the pace of its buffers.
    incoming: [Vec<Word>; 2],
    pace: Pacer,
    drains: [Pacer; 2],
    /// Credits that are on their way to the unit.
    held: [usize; 2],
    /// The exchanger's own credits.
    credits: [usize; 2],
    inputs: In,
    rng: Rng,
    cycle: u64,
    /// Words of the other channel since a channel could go; cycles in which no word could.
    passed: [usize; 2],
    stalled: bool,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, counts: [usize; 4]) -> Result<Rig<'a>, Fault> {
        let mut rng = run.rng("words");
        let mut words =
            |count: usize| -> Vec<Word> { (0..count).map(|_| (rng.bits() as u32, rng.chance(1, 8))).collect() };
        let mut bench = Bench::new(run, dut);
        for _ in 0..2 {
            bench.reset(&In::default())?;
        }
        let names = ["data", "acknowledge"];
        let [a, b, c, d] = counts.map(&mut words);
        let [a, b] = [(0, a), (1, b)].map(|(i, list)| Source::new(list, run.pacer(gaps.at_source(), names[i])));
        Ok(Rig {
            bench,
            out: Link::new([CREDITS; 2]),
            back: Link::new([ROOM; 2]),
            sources: [a, b],
            sinks: names.map(|name| Sink::new(run.pacer(gaps.at_sink(), &format!("{name} in")))),
            incoming: [c, d],
            pace: run.pacer(gaps.at_source(), "link"),
            drains: names.map(|name| run.pacer(gaps.at_sink(), &format!("{name} drain"))),
            held: [0; 2],
            credits: [ROOM; 2],
            inputs: In::default(),
            rng: run.rng("turns"),
            cycle: 0,
            passed: [0; 2],
            stalled: false,
        })
    }

    fn arriving(&mut self) -> Option<(usize, Word)> {
        if !self.pace.step() {
            return None;
        }
        let first = self.rng.below(2) as usize;
        let channel = [first, 1 - first]
            .into_iter()
            .find(|&c| self.credits[c] > 0 && !self.incoming[c].is_empty())?;
        self.credits[channel] -= 1;
        Some((channel, self.incoming[channel].remove(0)))
    }

    fn step(&mut self) -> Result<Out, Fault> {
        self.cycle += 1;
        self.inputs = In {
            words: [0, 1].map(|c: usize| self.sources[c].offer().copied()),
            ready: [0, 1].map(|c: usize| self.sinks[c].ready()),
            link: self.arriving(),
            credit: [0, 1].map(|c: usize| self.drains[c].step() && self.held[c] > 0),
        };
        let still = self.inputs.words == [None; 2] && self.inputs.link.is_none() && self.inputs.credit == [false; 2];
        let clocked = self.rng.chance(1, 2);
        let seen = self
            .bench
            .step_gated(&self.inputs, |seen| still && !seen.busy, clocked)?;
        let cycle = self.cycle;
        self.watch(&seen).map_err(|fault| fault.at(cycle))?;
        Ok(seen)
    }

    fn watch(&mut self, seen: &Out) -> Result<(), Fault> {
        if let Some((channel, word)) = seen.link {
            self.out.sent(channel, word).map_err(broken)?;
            self.held[channel] += 1;
        }
        Rule::Stall.same("stall", self.stalled, seen.stall)?;
        let could = [0, 1].map(|c: usize| self.inputs.words[c].is_some() && self.out.credits(c) > 0);
        let went = [0, 1].map(|c: usize| self.inputs.words[c].is_some() && seen.ready[c]);
        for c in 0..2 {
            self.passed[c] = if could[c] && !went[c] {
                self.passed[c] + usize::from(went[1 - c])
            } else {
                0
            };
            Rule::Turn.holds(self.passed[c] < 2, || format!("channel {c} is passed over"))?;
        }
        self.stalled = self.inputs.words != [None; 2] && could == [false; 2];
        for c in 0..2 {
            if let Some(word) = self.sources[c].step(seen.ready[c]) {
                self.out.put(c, word);
            }
            if self.inputs.credit[c] {
                self.held[c] -= 1;
                self.out.returned(c).map_err(broken)?;
            }
            if seen.credit[c] {
                self.back.returned(c).map_err(broken)?;
                self.credits[c] += 1;
            }
            if let Some(word) = self.sinks[c].step(seen.words[c])? {
                self.back.sent(c, word).map_err(broken)?;
            }
        }
        if let Some((channel, word)) = self.inputs.link {
            self.back.put(channel, word);
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Fault> {
        self.bench.reset(&self.inputs)?;
        self.out = Link::new([CREDITS; 2]);
        self.back = Link::new([ROOM; 2]);
        (self.held, self.credits, self.passed) = ([0; 2], [ROOM; 2], [0; 2]);
        self.stalled = false;
        self.sources.iter_mut().for_each(Source::reset);
        self.sinks.iter_mut().for_each(Sink::reset);
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.sources.iter().all(Source::is_empty)
            && self.incoming.iter().all(Vec::is_empty)
            && self.out.is_done()
            && self.back.is_done()
    }

    /// Until all have arrived, and a while at rest.
    fn finish(&mut self) -> Result<u64, Fault> {
        for _ in 0..20_000 {
            if self.is_done() {
                let end = self.cycle;
                for _ in 0..20 {
                    self.step()?;
                }
                return Ok(end);
            }
            self.step()?;
        }
        Err(Rule::Hang.broken("words have not arrived"))
    }
}

fn traffic(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, reset: bool) -> Result<(), Fault> {
    let mut rig = Rig::new(run, dut, gaps, [300; 4])?;
    if reset {
        for _ in 0..run.rng("reset").between(50, 400) {
            rig.step()?;
        }
        rig.reset()?;
    }
    rig.finish().map(drop)
}

/// One stream at a time without a pause, and single words from rest.
fn speed(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    for stream in 0..4 {
        let counts = [0, 1, 2, 3].map(|i| if i == stream { 100 } else { 0 });
        let mut rig = Rig::new(run, dut, Gaps::None, counts)?;
        let took = rig.finish()?;
        Rule::Rate.holds(took <= 108, || {
            format!("100 words of stream {stream} take {took} cycles")
        })?;
    }
    for stream in 0..40 {
        let mut rig = Rig::new(run, dut, Gaps::None, [0; 4])?;
        for _ in 0..5 {
            rig.step()?;
        }
        if stream % 4 < 2 {
            rig.sources[stream % 2].push((7, true));
        } else {
            rig.incoming[stream % 2].push((7, true));
        }
        let arrived = |seen: &Out| seen.link.is_some() || seen.words != [None; 2];
        let took = (0..9).find_map(|cycle| match rig.step() {
            Ok(seen) => arrived(&seen).then_some(Ok(cycle)),
            Err(fault) => Some(Err(fault)),
        });
        let took = took.transpose()?;
        let most = if stream % 4 == 0 { 1 } else { 2 };
        Rule::Latency.holds(took.is_some_and(|took| took <= most), || format!("{took:?} cycles"))?;
        rig.finish()?;
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for reset in [false, true] {
            let params = format!("{} {gaps:?} reset {reset}", dut.name);
            cases.case(Start::Random1, params, |run| traffic(run, dut, gaps, reset));
        }
    }
    cases.case(Start::Zero, format!("{} speed", dut.name), |run| speed(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&link::<CppacsLink>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Order, &[Returned, Hang], &|cases| {
                checks(&link::<TwinCppacsLinkOrder>(), cases)
            }),
            // A credit is taken only for the data channel.
            (Credits, &[Stall, Turn], &|cases| {
                checks(&link::<TwinCppacsLinkCredits>(), cases)
            }),
            // The credit is for the arrival.
            (Returned, &[Order, Hang], &|cases| {
                checks(&link::<TwinCppacsLinkReturned>(), cases)
            }),
            (Turn, &[], &|cases| checks(&link::<TwinCppacsLinkTurn>(), cases)),
            (Stall, &[], &|cases| checks(&link::<TwinCppacsLinkStall>(), cases)),
            (Latency, &[Rate, Rest, Turn], &|cases| {
                checks(&link::<TwinCppacsLinkLate>(), cases)
            }),
            // A word every other cycle.
            (Rate, &[], &|cases| checks(&link::<TwinCppacsLinkBubble>(), cases)),
            (Rest, &[Hang, Returned, Order], &|cases| {
                checks(&link::<TwinCppacsLinkRest>(), cases)
            }),
            (Path, &[Order, Hang], &|cases| {
                checks(&link::<TwinCppacsLinkPath>(), cases)
            }),
            (Protocol, &[Order, Hang, Returned], &|cases| {
                checks(&link::<TwinCppacsLinkOver>(), cases)
            }),
            // A worm's last word gives no credit.
            (Hang, &[Latency], &|cases| checks(&link::<TwinCppacsLinkLost>(), cases)),
        ],
    );
}
