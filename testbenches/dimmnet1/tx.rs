//! `dimmnet1_tx`: transmit arbiter. Packets are known again by their third word.

use std::mem;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::tx::Tx;
use tsunagi::dimmnet1::regs::{
    HDR_W0_DST_SHIFT, HDR_W0_F_SEQ_MASK, HDR_W0_MULTICAST_MASK, HDR_W0_RESEND_MASK, HDR_W1_SEQ_MASK,
};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// Packets leave whole, in the order of their stream, with the node as SRC and else as they came.
    Packets
    /// SEQ is the next number of DST, where it should be.
    Numbers
    /// A packet is passed over by few others.
    Fair
    /// A word passes in two cycles, one of AOTF and BOTF in one.
    Latency
    /// A word per cycle.
    Rate
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// All packets leave.
    Hang
);

const STREAMS: usize = 3;
/// The stream of AOTF and BOTF.
const ON_THE_FLY: usize = 1;

/// A word of a packet, and whether it is the last.
pub type Word = (u64, bool);

/// The words of packets.
pub fn words(packets: &[Vec<u64>]) -> Vec<Word> {
    let words = |packet: &Vec<u64>| {
        let last = packet.len() - 1;
        packet
            .iter()
            .enumerate()
            .map(move |(i, &word)| (word, i == last))
            .collect::<Vec<_>>()
    };
    packets.iter().flat_map(words).collect()
}

/// The words of a packet that have come.
#[derive(Default)]
pub struct Collector(Vec<u64>);

impl Collector {
    /// The packet that ends with this word.
    pub fn push(&mut self, (word, last): Word) -> Option<Vec<u64>> {
        self.0.push(word);
        last.then(|| mem::take(&mut self.0))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

struct In {
    node: u16,
    words: [Option<Word>; STREAMS],
    ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: [bool; STREAMS],
    word: Option<Word>,
}

fn set(dut: &impl Dimmnet1TxPorts, inputs: &In) {
    dut.node_i().set(inputs.node.into());
    for (i, word) in inputs.words.iter().enumerate() {
        let (data, last) = word.unwrap_or((0xdead_beef_dead_beef, true));
        dut.in_valid_i().set_bits(i, 1, word.is_some().into());
        dut.in_data_i().set_bits(64 * i, 64, data);
        dut.in_last_i().set_bits(i, 1, last.into());
    }
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl Dimmnet1TxPorts) -> Out {
    Out {
        busy: dut.busy_o().is_set(),
        ready: [0, 1, 2].map(|i| dut.in_ready_o().get_bits(i, 1) == 1),
        word: (dut.out_valid_o().is_set()).then(|| (dut.out_data_o().get(), dut.out_last_o().is_set())),
    }
}

fn tx<U: Dimmnet1TxUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// The packet of this number of a stream.
fn packet(rng: &mut Rng, stream: usize, number: usize) -> Vec<u64> {
    let dst = [0, 1, 62, 63, 64, 319][rng.below(6) as usize];
    let mut head = rng.bits() & !(0xffff << HDR_W0_DST_SHIFT | HDR_W0_MULTICAST_MASK | HDR_W0_RESEND_MASK);
    head |= dst << HDR_W0_DST_SHIFT;
    for (flag, of) in [
        (HDR_W0_F_SEQ_MASK, 2),
        (HDR_W0_MULTICAST_MASK, 6),
        (HDR_W0_RESEND_MASK, 6),
    ] {
        head |= if rng.chance(1, of) { flag } else { 0 };
    }
    let mut packet = vec![head, rng.bits(), (stream as u64) << 32 | number as u64];
    packet.extend((0..rng.below(5)).map(|_| rng.bits()));
    packet
}

/// The streams, the model and the packets that leave.
struct Traffic {
    model: Tx,
    packets: [Vec<Vec<u64>>; STREAMS],
    sources: [Source<Word>; STREAMS],
    /// Packets of each stream that left.
    left: [usize; STREAMS],
    /// Whether the next word of a stream begins a packet.
    first: [bool; STREAMS],
    /// Packets of others that began while the one of this stream waited.
    passed: [u64; STREAMS],
    collector: Collector,
}

impl Traffic {
    fn new(run: &Run, node: u16, gaps: Gaps, part: &str) -> Traffic {
        let mut rng = run.rng(&format!("packets {part}"));
        let packets: [Vec<Vec<u64>>; STREAMS] =
            [0, 1, 2].map(|stream| (0..120).map(|number| packet(&mut rng, stream, number)).collect());
        let sources = [0, 1, 2].map(|stream: usize| {
            let pacer = run.pacer(gaps.at_source(), &format!("source {part} {stream}"));
            Source::new(words(&packets[stream]), pacer)
        });
        Traffic {
            model: Tx::new(node),
            packets,
            sources,
            left: [0; STREAMS],
            first: [true; STREAMS],
            passed: [0; STREAMS],
            collector: Collector::default(),
        }
    }

    /// The unit took words.
    fn took(&mut self, offers: &[Option<Word>; STREAMS], ready: [bool; STREAMS]) -> Result<(), Fault> {
        for stream in 0..STREAMS {
            let Some((_, last)) = self.sources[stream].step(ready[stream] && offers[stream].is_some()) else {
                continue;
            };
            if mem::replace(&mut self.first[stream], last) {
                self.passed[stream] = 0;
                for other in (0..STREAMS).filter(|&other| other != stream) {
                    if self.first[other] && offers[other].is_some() {
                        self.passed[other] += 1;
                        let passed = self.passed[other];
                        Rule::Fair.holds(passed < STREAMS as u64, || {
                            format!("{other} is passed over {passed} times")
                        })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn came(&mut self, word: Word) -> Result<(), Fault> {
        let Some(packet) = self.collector.push(word) else {
            return Ok(());
        };
        let stream = packet.get(2).map_or(STREAMS, |id| (id >> 32) as usize);
        let number = self.left.get(stream).copied().unwrap_or(0);
        let sent = self.packets.get(stream).and_then(|packets| packets.get(number));
        let Some(sent) = sent else {
            return Err(Rule::Packets.broken(format!("unknown packet {packet:x?}")));
        };
        self.left[stream] += 1;
        let want = self.model.stamp(sent);
        let bare = |packet: &[u64]| {
            let mut bare = packet.to_vec();
            bare[1] &= !HDR_W1_SEQ_MASK;
            bare
        };
        let whole = bare(&packet) == bare(&want);
        Rule::Packets.holds(whole, || format!("{packet:x?}, not {want:x?}"))?;
        Rule::Numbers.same("word 1", want[1], packet[1])
    }

    fn is_done(&self) -> bool {
        self.left
            .iter()
            .zip(&self.packets)
            .all(|(left, packets)| *left == packets.len())
    }
}

fn exercise(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, reset: bool) -> Result<(), Fault> {
    let mut bench = Bench::new(run, dut);
    let node = run.rng("node").bits() as u16;
    let mut sink = Sink::new(run.pacer(gaps.at_sink(), "sink"));
    let mut gate = run.rng("gate");
    let mut traffic = Traffic::new(run, node, gaps, "first");
    let from = if reset { run.rng("reset").between(100, 900) } else { 0 };
    let (mut first, mut last) = (None, 0);
    for cycle in 0..20_000 {
        let ready = sink.ready();
        // Without a reset, the unit comes to rest first.
        let begun = reset || cycle >= 300;
        let offers = [0, 1, 2].map(|i: usize| traffic.sources[i].offer().copied().filter(|_| begun));
        let inputs = In {
            node,
            words: offers,
            ready,
        };
        if cycle < 2 || (from..from + 2).contains(&cycle) {
            bench.reset(&inputs)?;
            sink.reset();
            traffic = Traffic::new(run, node, gaps, &format!("after {cycle}"));
            continue;
        }
        let still = offers == [None; STREAMS];
        let clocked = !still || gate.chance(1, 2);
        let seen = bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        let at = |fault: Fault| fault.at(cycle);
        if let Some(word) = sink.step(seen.word).map_err(|error| at(error.into()))? {
            first.get_or_insert(cycle);
            last = cycle;
            traffic.came(word).map_err(at)?;
        }
        traffic.took(&offers, seen.ready).map_err(at)?;
        if traffic.is_done() {
            let count: usize = traffic.packets.iter().flatten().map(Vec::len).sum();
            let took = last + 1 - first.unwrap_or(last);
            let full = gaps != Gaps::None || reset || took == count as u64;
            return Rule::Rate.holds(full, || format!("{count} words took {took} cycles"));
        }
    }
    Err(Rule::Hang.broken(format!("{:?} packets left", traffic.left)))
}

/// Single packets of each stream, from rest.
fn latency(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut bench = Bench::new(run, dut);
    let mut rng = run.rng("packets");
    let node = 5;
    let idle = In {
        node,
        words: [None; STREAMS],
        ready: true,
    };
    bench.reset(&idle)?;
    for _ in 0..70 {
        bench.step(&idle)?;
    }
    for number in 0..40 {
        let stream = rng.below(3) as usize;
        let (mut source, mut took) = (
            Source::new(words(&[packet(&mut rng, stream, number)]), run.pacer(false, "")),
            0,
        );
        while bench.seen().word.is_none() {
            let mut inputs = In { ..idle };
            inputs.words[stream] = source.offer().copied();
            let seen = bench.step(&inputs)?;
            source.step(seen.ready[stream]);
            took += 1;
            let most = if stream == ON_THE_FLY { 1 } else { 2 };
            Rule::Latency.holds(took <= most, || format!("stream {stream} takes {took} cycles"))?;
        }
        while !source.is_empty() || bench.seen().word.is_some() {
            let mut inputs = In { ..idle };
            inputs.words[stream] = source.offer().copied();
            let seen = bench.step(&inputs)?;
            source.step(seen.ready[stream]);
        }
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for reset in [false, true] {
            let params = format!("{} {gaps:?} reset {reset}", dut.name);
            cases.case(Start::Random1, params, |run| exercise(run, dut, gaps, reset));
        }
    }
    cases.case(Start::Zero, format!("{} latency", dut.name), |run| latency(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&tx::<Dimmnet1Tx>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // SRC is put into every word.
            (Packets, &[], &|cases| checks(&tx::<TwinTxSource>(), cases)),
            // A packet to a group takes a node's number.
            (Numbers, &[], &|cases| checks(&tx::<TwinTxGroup>(), cases)),
            // Numbers of before the reset go on.
            (Numbers, &[Rest], &|cases| checks(&tx::<TwinTxOld>(), cases)),
            // A stream that has the turn keeps it.
            (Fair, &[Rate], &|cases| checks(&tx::<TwinTxUnfair>(), cases)),
            (Latency, &[], &|cases| checks(&tx::<TwinTxLate>(), cases)),
            // The turn stays where it was.
            (Latency, &[], &|cases| checks(&tx::<TwinTxStays>(), cases)),
            (Rate, &[Fair], &|cases| checks(&tx::<TwinTxHalf>(), cases)),
            // The table is cleared at rest.
            (Rest, &[Hang], &|cases| checks(&tx::<TwinTxRest>(), cases)),
            (Path, &[], &|cases| checks(&tx::<TwinTxPath>(), cases)),
            // W1 changes while it waits.
            (Protocol, &[Packets, Numbers], &|cases| {
                checks(&tx::<TwinTxChanges>(), cases)
            }),
            // The table is cleared only while nobody asks.
            (Hang, &[], &|cases| checks(&tx::<TwinTxHang>(), cases)),
        ],
    );
}
