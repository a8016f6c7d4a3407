//! `hxb_exchanger` and `hxb_crossbar` by themselves in lock step with the golden switch, and networks composed of them.

mod crossbar;
mod exchanger;
mod network;

use std::collections::VecDeque;

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, rules};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::net::hyper::{Axis, Channel, Grid, Place, route};
use tsunagi::net::switch::{GoldenSwitch, SwitchError, hyper_port};
use verilated::{Input, Port};

rules!(
    /// An output sends only words for it that an input took.
    Nothing
    /// The words of an input leave unchanged and in order, and all copies of a word at once.
    Word
    /// A worm leaves whole, without words of another on its channel.
    Mixed
    /// A waiting worm is passed over by a bounded number of others.
    Unfair
    /// Each word that is taken leaves, by each of its outputs.
    Left
    /// Worms without a way are counted.
    Drained
    /// Broadcasts that are too long are counted.
    Cut
    /// No word is sent without a credit, and no credit is given back twice.
    Protocol
    /// Each word is taken in the end.
    Hang
    /// `busy_o` is low when nothing is inside, and not before.
    Rest
    /// Edges left out at rest change nothing.
    Gating
    /// The first word takes its cycles.
    Latency
    /// A word a cycle and link, of which each channel has half where both want it.
    Rate
);

/// A golden model's complaint, as a broken rule.
pub fn fault(error: SwitchError) -> Fault {
    let rule = match error {
        SwitchError::Nothing { .. } => Rule::Nothing,
        SwitchError::Word { .. } => Rule::Word,
        SwitchError::Mixed { .. } => Rule::Mixed,
        SwitchError::Unfair { .. } => Rule::Unfair,
        SwitchError::Left { .. } => Rule::Left,
        SwitchError::Unroutable { .. } => Rule::Drained,
        SwitchError::Cut { .. } | SwitchError::Refused { .. } => Rule::Cut,
    };
    rule.broken(error.to_string())
}

/// A word on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub channel: usize,
    pub data: u32,
    pub last: bool,
    /// Of a word that leaves: the input that it came by.
    pub source: usize,
}

/// A switch's side of its links, or their far side: words, and by channel whether a credit comes back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub words: Vec<Option<Word>>,
    pub credits: Vec<u64>,
}

impl Links {
    pub fn quiet(ports: usize) -> Links {
        Links {
            words: vec![None; ports],
            credits: vec![0; ports],
        }
    }

    fn is_quiet(&self) -> bool {
        self.credits.iter().all(|&credits| credits == 0) && self.words.iter().all(Option::is_none)
    }
}

/// The inputs of a cycle. A crossbar has no place.
#[derive(Clone, Debug)]
pub struct In {
    pub grid: Grid,
    pub at: Place,
    pub links: Links,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Out {
    pub links: Links,
    pub busy: bool,
    pub drained: u64,
    pub cut: u64,
}

/// Inputs valid, channel, data, last, and credits.
type Drives<'a, A, B, C, D, E> = (&'a A, &'a B, &'a C, &'a D, &'a E);

fn set_links<A: Input, B: Input, C: Input, D: Input, E: Input>(
    (valid, channel, data, last, credit): Drives<A, B, C, D, E>,
    links: &Links,
) {
    for (port, word) in links.words.iter().enumerate() {
        valid.set_bits(port, 1, word.is_some().into());
        credit.set_bits(2 * port, 2, links.credits[port]);
        if let Some(word) = word {
            channel.set_bits(port, 1, word.channel as u64);
            data.set_bits(32 * port, 32, word.data.into());
            last.set_bits(port, 1, word.last.into());
        }
    }
}

/// The ports of a switch that [`Links`] has; `bits` of a source.
macro_rules! seen_links {
    ($dut:ident, $ports:expr, $bits:expr) => {{
        let word = |port| Word {
            channel: $dut.out_channel_o().bit(port).into(),
            data: $dut.out_data_o().get_bits(32 * port, 32) as u32,
            last: $dut.out_last_o().bit(port),
            source: $dut.out_source_o().get_bits($bits * port, $bits) as usize,
        };
        Links {
            words: (0..$ports)
                .map(|port| $dut.out_valid_o().bit(port).then(|| word(port)))
                .collect(),
            credits: (0..$ports)
                .map(|port| $dut.in_credit_o().get_bits(2 * port, 2))
                .collect(),
        }
    }};
}

/// What a switch is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Exchanger,
    Crossbar { axis: Axis, longest: usize },
}

/// A switch under test.
pub struct Switch {
    pub dut: Dut<In, Out>,
    pub kind: Kind,
    pub ports: usize,
    /// Credits of an input's senders, and of an output, by channel.
    pub rooms: Vec<[usize; 2]>,
    pub credits: Vec<[usize; 2]>,
}

pub fn exchanger<U: HxbExchangerUnit + 'static>() -> Switch {
    fn set(dut: &impl HxbExchangerPorts, inputs: &In) {
        let In { grid, at, links } = inputs;
        dut.x_i().set(at.x.into());
        dut.y_i().set(at.y.into());
        dut.z_i().set(at.z.into());
        dut.last_x_i().set(u64::from(grid.x) - 1);
        dut.last_y_i().set(u64::from(grid.y) - 1);
        dut.last_z_i().set(u64::from(grid.z) - 1);
        let (valid, channel, data) = (dut.in_valid_i(), dut.in_channel_i(), dut.in_data_i());
        set_links((valid, channel, data, dut.in_last_i(), dut.out_credit_i()), links);
    }
    fn seen(dut: &impl HxbExchangerPorts) -> Out {
        Out {
            links: seen_links!(dut, 4, 2),
            busy: dut.busy_o().is_set(),
            drained: dut.drained_o().get(),
            cut: 0,
        }
    }
    let by_port = |pu, other| vec![pu, other, other, other];
    Switch {
        dut: Dut::of::<U>(set, seen),
        kind: Kind::Exchanger,
        ports: 4,
        rooms: by_port([16, 16], [U::ROOM, 16]),
        credits: by_port([U::PU_ROOM; 2], [16, 16]),
    }
}

pub fn crossbar<U: HxbCrossbarUnit + 'static>() -> Switch {
    fn set(dut: &impl HxbCrossbarPorts, inputs: &In) {
        let (valid, channel, data) = (dut.in_valid_i(), dut.in_channel_i(), dut.in_data_i());
        set_links(
            (valid, channel, data, dut.in_last_i(), dut.out_credit_i()),
            &inputs.links,
        );
    }
    fn seen<U: HxbCrossbarUnit>(dut: &U::Ports) -> Out {
        let bits = U::N.next_power_of_two().trailing_zeros() as usize;
        Out {
            links: seen_links!(dut, U::N, bits),
            busy: dut.busy_o().is_set(),
            drained: dut.drained_o().get(),
            cut: dut.cut_o().get(),
        }
    }
    Switch {
        dut: Dut::of::<U>(set, seen::<U>),
        kind: Kind::Crossbar {
            axis: Axis::ALL[U::AXIS],
            longest: U::BROADCAST_WORDS,
        },
        ports: U::N,
        rooms: vec![[16, 16]; U::N],
        credits: vec![[U::ROOM, 16]; U::N],
    }
}

/// A switch at its place.
pub struct Placed<'a> {
    bench: Bench<'a, In, Out>,
    grid: Grid,
    at: Place,
}

impl Switch {
    /// Just reset, at a node of a grid.
    pub fn placed<'a>(&self, run: &Run<'a>, grid: Grid, at: Place) -> Placed<'a> {
        let bench = Bench::new(run, &self.dut);
        let mut placed = Placed { bench, grid, at };
        placed.reset(self.ports);
        placed
    }

    fn golden(&self, grid: Grid, at: Place) -> GoldenSwitch {
        match self.kind {
            Kind::Exchanger => GoldenSwitch::exchanger(grid, at, BOUND),
            Kind::Crossbar { axis, longest } => GoldenSwitch::hyper_crossbar(grid, axis, longest, BOUND),
        }
    }

    /// Whether a worm with this first word goes to all outputs.
    fn copies(&self, f0: u32) -> bool {
        matches!(self.kind, Kind::Crossbar { axis, .. } if axis.is_masked(f0))
    }
}

impl Placed<'_> {
    pub fn reset(&mut self, ports: usize) {
        (0..2).for_each(|_| self.cycle(Links::quiet(ports), true));
    }

    pub fn step(&mut self, links: Links) {
        self.cycle(links, false);
    }

    fn cycle(&mut self, links: Links, reset: bool) {
        let &mut Placed { grid, at, .. } = self;
        self.bench.through(&In { grid, at, links }, reset);
    }

    pub fn seen(&self) -> Out {
        self.bench.seen()
    }
}

/// Worms that may pass a waiting one: one of each other input, the broadcasts between, and those that leave while it is
/// on its way to the head.
const BOUND: u64 = 12;

/// A first word.
pub fn f0(to: Place, mask: u32, channel: usize) -> u32 {
    to.word() | mask << route::MASK | (channel as u32) << route::CHANNEL
}

/// A run of one switch.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub grid: Grid,
    pub at: Place,
    pub gaps: Gaps,
    /// Worms of each channel of each input.
    pub worms: usize,
    /// Most words of one.
    pub longest: u64,
    /// The cycle in which the run ends, in mid-flight.
    pub stop: Option<u64>,
}

/// Words of a channel of an input, by worms.
fn worms(plan: &Plan, switch: &Switch, port: usize, channel: usize, rng: &mut Rng) -> VecDeque<Word> {
    let mut words = VecDeque::new();
    for _ in 0..plan.worms {
        let to = plan.grid.place(rng.below(plan.grid.nodes().into()) as u32);
        // What came by an axis' port has crossed it, and those before.
        let crossed = if matches!(switch.kind, Kind::Exchanger) {
            port
        } else {
            0
        };
        let reached = |to: Place, axis: &Axis| to.moved(*axis, plan.at.along(*axis));
        let to = Axis::ALL[..crossed].iter().fold(to, reached);
        let mask = if channel == 0 && rng.chance(1, 4) {
            rng.below(8) as u32
        } else {
            0
        };
        let route = match rng.below(12) {
            0 => rng.bits() as u32 & 0x1_ffff,
            1 => rng.bits() as u32 & 0xffff | (channel as u32) << route::CHANNEL,
            _ => f0(to, mask, channel),
        };
        let first = rng.bits() as u32 & !0x1_ffff | route;
        let length = if rng.chance(1, 4) {
            1
        } else {
            rng.between(1, plan.longest)
        };
        for left in (0..length).rev() {
            words.push_back(Word {
                channel,
                data: if left + 1 == length { first } else { rng.bits() as u32 },
                last: left == 0,
                source: 0,
            });
        }
    }
    words
}

/// The far ends of a switch's links, and the golden switch.
struct Peers<'a> {
    switch: &'a Switch,
    golden: GoldenSwitch,
    chance: Rng,
    sources: Vec<Pacer>,
    /// By port and channel: words to send, credits for them; words that wait beyond an output.
    queues: Vec<[VecDeque<Word>; 2]>,
    credits: Vec<[usize; 2]>,
    sinks: Vec<[Pacer; 2]>,
    waiting: Vec<[usize; 2]>,
    /// By output: a broadcast is leaving, a data worm.
    copies: Vec<bool>,
    inside: Vec<bool>,
}

impl<'a> Peers<'a> {
    fn new(switch: &'a Switch, plan: &Plan, rng: &dyn Fn(&str) -> Rng) -> Peers<'a> {
        let ports = || 0..switch.ports;
        let sink = |port, channel| Pacer::new(plan.gaps.at_sink(), rng(&format!("sink {port} {channel}")));
        let queue = |port, channel| {
            worms(
                plan,
                switch,
                port,
                channel,
                &mut rng(&format!("worms {port} {channel}")),
            )
        };
        Peers {
            switch,
            golden: switch.golden(plan.grid, plan.at),
            chance: rng("channels"),
            sources: ports()
                .map(|port| Pacer::new(plan.gaps.at_source(), rng(&format!("source {port}"))))
                .collect(),
            queues: ports().map(|port| [0, 1].map(|channel| queue(port, channel))).collect(),
            credits: switch.rooms.clone(),
            sinks: ports().map(|port| [0, 1].map(|channel| sink(port, channel))).collect(),
            waiting: vec![[0; 2]; switch.ports],
            copies: vec![false; switch.ports],
            inside: vec![false; switch.ports],
        }
    }

    /// The switch's side of the links is so in a cycle. Gives the far side.
    fn step(&mut self, seen: &Links) -> Result<Links, Fault> {
        let mut links = Links::quiet(self.switch.ports);
        self.copies_are_alike(&seen.words)?;
        for port in 0..self.switch.ports {
            for channel in 0..2 {
                self.credits[port][channel] += (seen.credits[port] >> channel & 1) as usize;
                let kept = self.credits[port][channel] <= self.switch.rooms[port][channel];
                Rule::Protocol.holds(kept, || format!("input {port} gives a credit back that it has"))?;
            }
            if let Some(word) = seen.words[port] {
                let at = |port| hyper_port(port, Channel::ALL[word.channel]);
                let sent = self.golden.sent(at(port), at(word.source), word.data.into(), word.last);
                sent.map_err(fault)?;
                let waiting = &mut self.waiting[port][word.channel];
                *waiting += 1;
                let room = self.switch.credits[port][word.channel];
                Rule::Protocol.holds(*waiting <= room, || format!("output {port} sends without a credit"))?;
            }
            for channel in 0..2 {
                if self.sinks[port][channel].step() && self.waiting[port][channel] > 0 {
                    self.waiting[port][channel] -= 1;
                    links.credits[port] |= 1 << channel;
                }
            }
            links.words[port] = self.send(port);
        }
        Ok(links)
    }

    /// A word of a broadcast is at all outputs in one cycle.
    fn copies_are_alike(&mut self, words: &[Option<Word>]) -> Result<(), Fault> {
        for (port, word) in words.iter().enumerate() {
            let Some(word) = word.filter(|word| word.channel == 0) else {
                continue;
            };
            if !self.inside[port] {
                self.copies[port] = self.switch.copies(word.data);
            }
            self.inside[port] = !word.last;
            let alike = !self.copies[port] || words.iter().all(|other| *other == Some(word));
            Rule::Word.holds(alike, || format!("a copy at output {port} alone: {words:x?}"))?;
        }
        Ok(())
    }

    /// The next word for a port, on any channel with a credit.
    fn send(&mut self, port: usize) -> Option<Word> {
        let can = |&channel: &usize| self.credits[port][channel] > 0 && !self.queues[port][channel].is_empty();
        let can: Vec<usize> = (0..2).filter(can).collect();
        if !self.sources[port].step() || can.is_empty() {
            return None;
        }
        let channel = can[self.chance.below(can.len() as u64) as usize];
        let word = self.queues[port][channel].pop_front().expect("the channel has a word");
        self.credits[port][channel] -= 1;
        let input = hyper_port(port, Channel::ALL[channel]);
        self.golden.took(input, word.data.into(), word.last);
        Some(word)
    }

    /// Words not taken yet.
    fn left(&self) -> usize {
        self.queues.iter().flatten().map(VecDeque::len).sum()
    }

    /// All credits of the outputs have gone back.
    fn rests(&self) -> bool {
        self.waiting.iter().flatten().all(|&words| words == 0)
    }

    fn finish(&self, seen: &Out) -> Result<(), Fault> {
        self.golden.finish(seen.drained).map_err(fault)?;
        self.golden.cut(seen.cut).map_err(fault)
    }
}

/// Sends worms through a switch that was just reset, in lock step with the golden one.
fn exercise(placed: &mut Placed, switch: &Switch, plan: &Plan, rng: &dyn Fn(&str) -> Rng) -> Result<(), Fault> {
    let mut peers = Peers::new(switch, plan, rng);
    let limit = 3000 + 12 * peers.left() as u64;
    let mut quiet = 0;
    for cycle in 0..limit {
        if plan.stop == Some(cycle) {
            return Ok(());
        }
        let seen = placed.seen();
        let links = peers.step(&seen.links).map_err(|fault| fault.at(cycle))?;
        placed.step(links);
        let done = peers.left() == 0 && peers.rests() && peers.finish(&seen).is_ok();
        quiet = if done { quiet + 1 } else { 0 };
        if quiet > 100 {
            return Rule::Rest.holds(!seen.busy, || format!("cycle {cycle}: still busy"));
        }
    }
    let left = peers.left();
    Rule::Hang.holds(left == 0, || format!("after {limit} cycles {left} words are not taken"))?;
    peers.finish(&placed.seen()).map_err(|fault| fault.at(limit))
}

/// Random worms. A reset in their midst loses them, and they are sent again.
pub fn contract(switch: &Switch, plan: Plan, cases: &mut Cases) {
    let params = format!(
        "{} {:?} at {} gaps {:?}",
        switch.dut.name, plan.grid, plan.at, plan.gaps
    );
    cases.case(Start::Random1, params, |run| {
        let mut placed = switch.placed(run, plan.grid, plan.at);
        let stopped = Plan { stop: Some(90), ..plan };
        exercise(&mut placed, switch, &stopped, &|name| run.rng(&format!("first {name}")))?;
        placed.reset(switch.ports);
        exercise(&mut placed, switch, &plan, &|name| run.rng(name))
    });
}

/// An endless stream of worms with this first word by a port, each of `length` words.
#[derive(Clone, Copy)]
pub struct Stream {
    pub port: usize,
    pub f0: u32,
    pub length: u64,
}

impl Stream {
    pub fn channel(&self) -> usize {
        (self.f0 >> route::CHANNEL & 1) as usize
    }
}

/// What came of streams: words of a channel out of a port, the cycle of its first one, words that each stream sent.
pub struct Streamed {
    pub words: Vec<[u64; 2]>,
    pub first: Vec<[Option<u64>; 2]>,
    pub sent: Vec<u64>,
}

/// Streams that never pause. The sinks give credits back three cycles later, but for the `stuck` ports and channels.
pub fn stream(
    placed: &mut Placed,
    switch: &Switch,
    cycles: u64,
    streams: &[Stream],
    stuck: &[(usize, usize)],
) -> Streamed {
    let ports = switch.ports;
    let mut all = Streamed {
        words: vec![[0; 2]; ports],
        first: vec![[None; 2]; ports],
        sent: vec![0; streams.len()],
    };
    let mut credits = switch.rooms.clone();
    let mut back: VecDeque<Vec<u64>> = VecDeque::from(vec![vec![0; ports]; 2]);
    for cycle in 0..cycles {
        let seen = placed.seen().links;
        let mut links = Links::quiet(ports);
        links.credits = back.pop_front().expect("two cycles");
        let mut later = vec![0; ports];
        for port in 0..ports {
            for channel in 0..2 {
                credits[port][channel] += (seen.credits[port] >> channel & 1) as usize;
            }
            if let Some(word) = seen.words[port] {
                all.words[port][word.channel] += 1;
                all.first[port][word.channel].get_or_insert(cycle);
                if !stuck.contains(&(port, word.channel)) {
                    later[port] |= 1 << word.channel;
                }
            }
        }
        back.push_back(later);
        for k in 0..streams.len() {
            let n = (k + cycle as usize) % streams.len();
            let Stream { port, f0, length } = streams[n];
            let channel = streams[n].channel();
            if credits[port][channel] > 0 && links.words[port].is_none() {
                credits[port][channel] -= 1;
                let data = if all.sent[n].is_multiple_of(length) {
                    f0
                } else {
                    all.sent[n] as u32
                };
                all.sent[n] += 1;
                let last = all.sent[n].is_multiple_of(length);
                let (channel, source) = (channel, 0);
                links.words[port] = Some(Word {
                    channel,
                    data,
                    last,
                    source,
                });
            }
        }
        placed.step(links);
    }
    all
}

/// Two switches get the same bursts with long silences.
pub fn gating(switch: &Switch, grid: Grid, at: Place, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} gating", switch.dut.name), |run| {
        let mut pair = Pair::new(run, &switch.dut);
        let inputs = |links| In { grid, at, links };
        (0..2).for_each(|_| pair.reset(&inputs(Links::quiet(switch.ports))));
        // Registers without a reset change with the first edge.
        Rule::Rest.holds(pair.is_busy(), || "at rest straight out of reset".into())?;
        let mut rng = run.rng("gating");
        let mut credits = switch.rooms.clone();
        let mut waiting: Vec<(u64, usize, usize)> = Vec::new();
        for cycle in 0..6000 {
            let mut links = Links::quiet(switch.ports);
            let seen = pair.seen().links;
            for port in 0..switch.ports {
                for channel in 0..2 {
                    credits[port][channel] += (seen.credits[port] >> channel & 1) as usize;
                }
                if let Some(word) = seen.words[port] {
                    waiting.push((cycle + rng.below(12), port, word.channel));
                }
                let channel = rng.below(2) as usize;
                if cycle % 400 < 60 && credits[port][channel] > 0 && rng.chance(1, 6) {
                    credits[port][channel] -= 1;
                    let mask = if channel == 0 {
                        rng.below(8) as u32 & rng.below(8) as u32
                    } else {
                        0
                    };
                    let to = if rng.chance(1, 8) {
                        Place { x: 15, y: 31, z: 15 }
                    } else {
                        at
                    };
                    let (data, last) = (f0(to, mask, channel), true);
                    let (channel, source) = (channel, 0);
                    links.words[port] = Some(Word {
                        channel,
                        data,
                        last,
                        source,
                    });
                }
            }
            waiting.retain(|&(from, port, channel)| {
                let due = from <= cycle && links.credits[port] >> channel & 1 == 0;
                links.credits[port] |= u64::from(due) << channel;
                !due
            });
            let asks = !links.is_quiet();
            pair.step(&inputs(links), asks)?;
        }
        let skipped = pair.skipped();
        Rule::Rest.holds(skipped > 2000, || format!("only {skipped} edges skipped"))
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Nothing, &[Word, Left, Drained], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbOrder>(), cases)
            }),
            (Nothing, &[Word, Left, Drained], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbMask>(), cases)
            }),
            (Mixed, &[], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbMixed>(), cases)
            }),
            (Rate, &[Unfair, Hang], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbStarves>(), cases)
            }),
            (Rate, &[Latency, Unfair], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbTurns>(), cases)
            }),
            // Counters that wrap have no credits at all.
            (Protocol, &[Hang, Rest], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbCredit>(), cases)
            }),
            (Left, &[Latency, Rate], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbLost>(), cases)
            }),
            (Unfair, &[], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbUnfair>(), cases)
            }),
            (Drained, &[], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbDrained>(), cases)
            }),
            (Drained, &[], &|cases| {
                exchanger::counts(&exchanger::<TwinHxbCount>(), cases)
            }),
            (Word, &[], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbWord>(), cases)
            }),
            // The sender knows of a place before it is free.
            (Word, &[Nothing, Mixed, Left, Hang, Drained, Rest, Rate], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbEarly>(), cases)
            }),
            (Rest, &[], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbBusy>(), cases)
            }),
            (Gating, &[], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbRest>(), cases)
            }),
            (Rest, &[], &|cases| {
                exchanger::checks(&exchanger::<TwinHxbHasty>(), cases)
            }),
            (Word, &[Rate], &|cases| {
                crossbar::checks(&crossbar::<TwinHxbCopy>(), cases)
            }),
            (Protocol, &[], &|cases| {
                crossbar::checks(&crossbar::<TwinHxbRoom>(), cases)
            }),
            (Latency, &[], &|cases| {
                crossbar::checks(&crossbar::<TwinHxbLate>(), cases)
            }),
            (Hang, &[Left, Rest, Rate, Latency, Unfair], &|cases| {
                crossbar::checks(&crossbar::<TwinHxbHolds>(), cases)
            }),
            (Unfair, &[], &|cases| {
                crossbar::checks(&crossbar::<TwinHxbFirst>(), cases)
            }),
            (Cut, &[], &|cases| crossbar::checks(&crossbar::<TwinHxbCut>(), cases)),
            (Word, &[Cut, Nothing, Left], &|cases| {
                crossbar::checks(&crossbar::<TwinHxbLong>(), cases)
            }),
            (Drained, &[], &|cases| {
                crossbar::counts(&crossbar::<TwinHxbLineDrained>(), cases)
            }),
            (Cut, &[], &|cases| {
                crossbar::counts(&crossbar::<TwinHxbLineCut>(), cases)
            }),
            // Broadcasts that meet hold what the other one waits for.
            (Hang, &[], &|cases| network::meets::<TwinHxbWaits>(cases)),
        ],
    );
}
