//! `dimmnet1_answers`: answer queue.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::answers::Answers;
use tsunagi::dimmnet1::regs::{TYPE_ACK, TYPE_BARRIER, TYPE_NACK, TYPE_PULL};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use verilated::{Input as _, Port as _};

use crate::tx::{Collector, Word, words};

rules!(
    /// Packets leave whole and in order; a PULL goes to the RDMA engine.
    Packets
    /// Nodes that keep to their credit find room, and the receiver is told in time when there is none.
    Room
    /// Answers take 4 cycles, a PULL takes 8.
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

/// The producers.
const RX: usize = 0;
const BUILDER: usize = 1;

#[derive(Clone, Default)]
struct In {
    words: [Option<Word>; 2],
    ready: bool,
    pull_ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    busy: bool,
    ready: [bool; 2],
    room: bool,
    word: Option<Word>,
    pull: Option<[u64; 4]>,
}

fn set(dut: &impl Dimmnet1AnswersPorts, inputs: &In) {
    for (i, word) in inputs.words.iter().enumerate() {
        let (data, last) = word.unwrap_or((u64::from(TYPE_PULL), true));
        dut.in_valid_i().set_bits(i, 1, word.is_some().into());
        dut.in_data_i().set_bits(64 * i, 64, data);
        dut.in_last_i().set_bits(i, 1, last.into());
    }
    dut.out_ready_i().set_bool(inputs.ready);
    dut.pull_ready_i().set_bool(inputs.pull_ready);
}

fn seen(dut: &impl Dimmnet1AnswersPorts) -> Out {
    let pull = || {
        [
            dut.pull_w0_o().get(),
            dut.pull_w1_o().get(),
            dut.pull_w2_o().get(),
            dut.pull_w3_o().get(),
        ]
    };
    Out {
        busy: dut.busy_o().is_set(),
        ready: [0, 1].map(|i| dut.in_ready_o().get_bits(i, 1) == 1),
        room: dut.room_o().is_set(),
        word: (dut.out_valid_o().is_set()).then(|| (dut.out_data_o().get(), dut.out_last_o().is_set())),
        pull: dut.pull_valid_o().is_set().then(pull),
    }
}

fn answers<U: Dimmnet1AnswersUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A packet of this type; a PULL has a fourth word, but for a few.
fn packet(rng: &mut Rng, kind: u32) -> Vec<u64> {
    let mut packet: Vec<u64> = (0..3).map(|_| rng.bits()).collect();
    packet[0] = packet[0] & !0xff | u64::from(kind);
    if rng.chance(1, 2) || (kind == TYPE_PULL && rng.chance(7, 8)) {
        packet.push(rng.bits());
    }
    packet
}

fn any_packet(rng: &mut Rng) -> Vec<u64> {
    let kind = [TYPE_ACK, TYPE_NACK, TYPE_PULL, TYPE_BARRIER][rng.below(4) as usize];
    packet(rng, kind)
}

/// The unit with its producers, its consumers and its model.
struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    model: Answers,
    packets: [Vec<Vec<u64>>; 2],
    begun: [usize; 2],
    first: [bool; 2],
    sources: [Source<Word>; 2],
    sink: Sink<Word>,
    pulls: Sink<[u64; 4]>,
    collector: Collector,
    gate: Rng,
    inputs: In,
    /// Cycles, and those of the first and last word that left.
    cycle: u64,
    span: Option<(u64, u64)>,
}

impl<'a> Rig<'a> {
    fn new(
        run: &Run<'a>,
        dut: &Dut<In, Out>,
        pacers: [Pacer; 2],
        packets: [Vec<Vec<u64>>; 2],
    ) -> Result<Rig<'a>, Fault> {
        let mut bench = Bench::new(run, dut);
        for _ in 0..2 {
            bench.reset(&In::default())?;
        }
        let sources = [0, 1].map(|i: usize| Source::new(words(&packets[i]), run.pacer(false, "")));
        let [sink, pulls] = pacers;
        Ok(Rig {
            bench,
            model: Answers::default(),
            packets,
            begun: [0; 2],
            first: [true; 2],
            sources,
            sink: Sink::new(sink),
            pulls: Sink::new(pulls),
            collector: Collector::default(),
            gate: run.rng("gate"),
            inputs: In::default(),
            cycle: 0,
            span: None,
        })
    }

    fn step(&mut self) -> Result<Out, Fault> {
        self.cycle += 1;
        self.inputs = In {
            words: [0, 1].map(|i: usize| self.sources[i].offer().copied()),
            ready: self.sink.ready(),
            pull_ready: self.pulls.ready(),
        };
        let still = self.inputs.words == [None; 2];
        let clocked = !still || self.gate.chance(1, 2);
        let seen = self
            .bench
            .step_gated(&self.inputs, |seen| still && !seen.busy, clocked)?;
        let cycle = self.cycle;
        self.consume(&seen).map_err(|fault| fault.at(cycle))?;
        for i in 0..2 {
            let Some((_, last)) = self.sources[i].step(seen.ready[i]) else {
                continue;
            };
            if self.first[i] {
                self.model.put(self.packets[i][self.begun[i]].clone());
                self.begun[i] += 1;
            }
            self.first[i] = last;
        }
        Ok(seen)
    }

    fn consume(&mut self, seen: &Out) -> Result<(), Fault> {
        if let Some(word) = self.sink.step(seen.word)? {
            let from = self.span.map_or(self.cycle, |(from, _)| from);
            self.span = Some((from, self.cycle));
            if let Some(packet) = self.collector.push(word) {
                Rule::Packets.same("packet", self.model.take(), Some(packet))?;
            }
        }
        if let Some(pull) = self.pulls.step(seen.pull)? {
            Rule::Packets.same("PULL", self.model.take_pull(), Some(pull))?;
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Fault> {
        self.bench.reset(&self.inputs)?;
        self.model = Answers::default();
        self.collector = Collector::default();
        self.sink.reset();
        self.pulls.reset();
        self.first = [true; 2];
        for i in 0..2 {
            self.sources[i] = Source::new(words(&self.packets[i][self.begun[i]..]), Pacer::steady());
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.sources.iter().all(Source::is_empty) && self.model.is_empty() && self.collector.is_empty()
    }

    /// Until all have left, and a while at rest.
    fn finish(&mut self) -> Result<(), Fault> {
        for _ in 0..20_000 {
            if self.is_done() {
                for _ in 0..20 {
                    self.step()?;
                }
                return Ok(());
            }
            self.step()?;
        }
        Err(Rule::Hang.broken(format!("{:?} packets have begun", self.begun)))
    }
}

fn traffic(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, reset: bool) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let packets: [Vec<Vec<u64>>; 2] = [0, 1].map(|_| (0..200).map(|_| any_packet(&mut rng)).collect());
    let pacers = ["sink", "pulls"].map(|name| run.pacer(gaps.at_sink(), name));
    let mut rig = Rig::new(run, dut, pacers, packets)?;
    if gaps.at_source() {
        for i in 0..2 {
            let pacer = run.pacer(true, ["rx", "builder"][i]);
            rig.sources[i] = Source::new(words(&rig.packets[i]), pacer);
        }
    }
    if reset {
        for _ in 0..run.rng("reset").between(50, 600) {
            rig.step()?;
        }
        rig.reset()?;
    }
    rig.finish()
}

/// Answers without a pause, one word per cycle; and each from rest.
fn speed(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let list: Vec<Vec<u64>> = (0..60).map(|_| packet(&mut rng, TYPE_ACK)).collect();
    let count: usize = list.iter().map(Vec::len).sum();
    let steady = [Pacer::steady(), Pacer::steady()];
    let mut rig = Rig::new(run, dut, steady, [list, Vec::new()])?;
    rig.finish()?;
    let took = rig.span.map_or(0, |(from, to)| to + 1 - from);
    Rule::Rate.holds(took == count as u64, || format!("{count} words take {took} cycles"))?;
    for number in 0..40 {
        let kind = if number % 2 == 0 { TYPE_ACK } else { TYPE_PULL };
        let from = rng.below(2) as usize;
        let packet: Vec<u64> = packet(&mut rng, kind).into_iter().chain([7]).take(4).collect();
        rig.packets[from].push(packet.clone());
        words(&[packet])
            .into_iter()
            .for_each(|word| rig.sources[from].push(word));
        let begin = rig.cycle;
        loop {
            let seen = rig.step()?;
            let (took, most) = (rig.cycle - begin - 1, if kind == TYPE_PULL { 8 } else { 4 });
            if seen.word.is_some() || seen.pull.is_some() {
                break;
            }
            Rule::Latency.holds(took < most, || format!("{from} takes {took} cycles"))?;
        }
        rig.finish()?;
    }
    Ok(())
}

/// Nothing leaves. The builder fills what it gets, then 512 packets of 4 words come, and 12 more when there is no room.
fn fill(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let full = |rng: &mut Rng| [u64::from(TYPE_PULL), rng.bits(), rng.bits(), rng.bits()].to_vec();
    let built: Vec<Vec<u64>> = (0..1000).map(|_| packet(&mut rng, TYPE_NACK)).collect();
    let stopped = [Pacer::stopped(), Pacer::stopped()];
    let mut rig = Rig::new(run, dut, stopped, [Vec::new(), built])?;
    for _ in 0..2000 {
        rig.step()?;
    }
    let built = rig.begun[BUILDER];
    Rule::Room.holds((90..300).contains(&built), || format!("{built} packets of the builder"))?;
    let mut put = |rig: &mut Rig| -> Result<Out, Fault> {
        let packet = full(&mut rng);
        rig.packets[RX].push(packet.clone());
        words(&[packet]).into_iter().for_each(|word| rig.sources[RX].push(word));
        let seen = rig.bench.seen();
        for _ in 0..6 {
            rig.step()?;
        }
        let waits = !rig.sources[RX].is_empty();
        Rule::Room.holds(!waits, || "a packet waits".into())?;
        Ok(seen)
    };
    for number in 0..512 {
        let room = put(&mut rig)?.room;
        Rule::Room.holds(room, || format!("no room for packet {number}"))?;
    }
    let mut more = 0;
    while put(&mut rig)?.room {
        more += 1;
        Rule::Room.holds(more < 100, || "there is always room".into())?;
    }
    for _ in 0..11 {
        put(&mut rig)?;
    }
    let began = rig.begun[BUILDER];
    Rule::Room.same("packets of the builder", built, began)?;
    rig.sink = Sink::new(Pacer::steady());
    rig.pulls = Sink::new(Pacer::steady());
    rig.finish()
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for reset in [false, true] {
            let params = format!("{} {gaps:?} reset {reset}", dut.name);
            cases.case(Start::Random1, params, |run| traffic(run, dut, gaps, reset));
        }
    }
    cases.case(Start::Zero, format!("{} speed", dut.name), |run| speed(run, dut));
    cases.case(Start::Zero, format!("{} fill", dut.name), |run| fill(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| checks(&answers::<Dimmnet1Answers>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A PULL of three words keeps an old fourth.
            (Packets, &[], &|cases| checks(&answers::<TwinAnswersStale>(), cases)),
            // The data word of an answer looks like a PULL.
            (Packets, &[Hang, Rate, Latency, Room], &|cases| {
                checks(&answers::<TwinAnswersEach>(), cases)
            }),
            // The builder takes the receiver's room.
            (Room, &[], &|cases| checks(&answers::<TwinAnswersBuilder>(), cases)),
            (Room, &[], &|cases| checks(&answers::<TwinAnswersSpare>(), cases)),
            (Latency, &[], &|cases| checks(&answers::<TwinAnswersLate>(), cases)),
            (Rate, &[Room, Hang, Latency], &|cases| {
                checks(&answers::<TwinAnswersBubble>(), cases)
            }),
            (Rest, &[Hang, Latency, Packets, Rate], &|cases| {
                checks(&answers::<TwinAnswersRest>(), cases)
            }),
            (Path, &[], &|cases| checks(&answers::<TwinAnswersPath>(), cases)),
            // A PULL that waits is overwritten.
            (Protocol, &[Packets], &|cases| {
                checks(&answers::<TwinAnswersOver>(), cases)
            }),
            // The builder waits until nobody asks.
            (Hang, &[Room, Latency], &|cases| {
                checks(&answers::<TwinAnswersStuck>(), cases)
            }),
        ],
    );
}
