//! The torus's router by itself in lock step with the golden switch, and tori composed of routers.

mod network;

use std::collections::VecDeque;

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::net::fabric::Flit;
use tsunagi::net::switch::GoldenSwitch;
use tsunagi::net::torus::{Cast, Cell, Class, Header, Port, Torus, VCS};
use tsunagi::net::torus_fabric::{Links, PLACES, Sent, seen_links, set_links};
use verilated::{Input as _, Port as _};

use crate::switch::fault;

rules!(
    /// An output sends only words for it that an input took.
    Nothing
    /// The words of an input leave unchanged and in order.
    Word
    /// A packet leaves whole, without words of another on its channel.
    Mixed
    /// A waiting packet is passed over by a bounded number of others, and inputs share an output.
    Unfair
    /// Each word that is taken leaves, by each of its outputs.
    Left
    /// Packets for no output are counted.
    Unroutable
    /// No word is sent without a place, and no place is given back twice.
    Protocol
    /// Each word is taken in the end.
    Hang
    /// `busy_o` is low when nothing is inside, and not before.
    Rest
    /// Edges left out at rest change nothing.
    Gating
    /// A cell has its copy before the word goes on, and links keep their pace.
    Timing
    /// Three cycles from link to link.
    Latency
    /// A word a cycle and link.
    Rate
);

/// The inputs of a cycle: the router's torus, its cell, and the far sides of its links.
#[derive(Debug)]
struct In {
    torus: Torus,
    at: Cell,
    links: Links,
}

#[derive(Debug, PartialEq)]
struct Out {
    links: Links,
    busy: bool,
    drained: u64,
}

/// A router under test.
struct Router {
    dut: Dut<In, Out>,
    /// Bits of a word.
    width: usize,
    /// Cycles of a word on a link to another router.
    pace: u64,
}

fn paced<U: TorusRouterUnit + 'static>(pace: u64) -> Router {
    let set = |dut: &U::Ports, inputs: &In| {
        dut.x_i().set(inputs.at.x as u64);
        dut.y_i().set(inputs.at.y as u64);
        dut.last_x_i().set(inputs.torus.x() as u64 - 1);
        dut.last_y_i().set(inputs.torus.y() as u64 - 1);
        set_links(dut, U::W, &inputs.links);
    };
    let seen = |dut: &U::Ports| Out {
        links: seen_links(dut, U::W),
        busy: dut.busy_o().is_set(),
        drained: dut.drained_o().get(),
    };
    Router {
        dut: Dut::of::<U>(set, seen),
        width: U::W,
        pace,
    }
}

/// A router of full speed.
fn router<U: TorusRouterUnit + 'static>() -> Router {
    paced::<U>(1)
}

impl Router {
    /// A router of cell (1, 1) of 4 x 4, just reset.
    fn fresh<'a>(&self, run: &Run<'a>) -> Placed<'a> {
        self.placed(run, Torus::new(4, 4), Cell { x: 1, y: 1 })
    }

    /// A router of a cell, just reset.
    fn placed<'a>(&self, run: &Run<'a>, torus: Torus, at: Cell) -> Placed<'a> {
        let bench = Bench::new(run, &self.dut);
        let mut placed = Placed { bench, torus, at };
        placed.reset();
        placed
    }
}

/// A router at its place.
struct Placed<'a> {
    bench: Bench<'a, In, Out>,
    torus: Torus,
    at: Cell,
}

impl Placed<'_> {
    fn reset(&mut self) {
        (0..2).for_each(|_| self.cycle(Links::default(), true));
    }

    fn step(&mut self, links: Links) {
        self.cycle(links, false);
    }

    fn cycle(&mut self, links: Links, reset: bool) {
        let &mut Placed { torus, at, .. } = self;
        self.bench.through(&In { torus, at, links }, reset);
    }

    fn seen(&self) -> Out {
        self.bench.seen()
    }
}

/// Inputs of one router, and of the golden one.
const INPUTS: usize = 5 * VCS;

/// A run of one router.
#[derive(Clone, Copy, Debug)]
struct Plan {
    torus: Torus,
    at: Cell,
    gaps: Gaps,
    /// Packets of each virtual channel of each input.
    packets: usize,
    /// The cycle in which the run ends, in mid-flight.
    stop: Option<u64>,
}

/// Packets that may pass a waiting one on its way to a channel. They are those that nine channels of five inputs send
/// while it waits for its turns. It loses some turns to a packet that holds the channel. The most that was seen, before
/// packets that move straight on went first, is 157.
const BOUND: u64 = 300;

/// Words of a virtual channel's packets for a router. The uppermost five bits are the channel's number, so words of
/// different channels differ.
fn packets(plan: &Plan, input: usize, width: usize, rng: &mut Rng) -> VecDeque<Flit> {
    let mut flits = VecDeque::new();
    for _ in 0..plan.packets {
        let words = if rng.chance(1, 3) { 1 } else { rng.between(1, 12) };
        let class = Class::ALL[input % VCS / 2];
        let cell = plan.torus.cell(rng.below(plan.torus.cells() as u64) as usize);
        // Packets that come along Y have its column; others, any.
        let along_y = input / VCS >= Port::YPlus as usize;
        let cell = if along_y { Cell { x: plan.at.x, ..cell } } else { cell };
        let header = match rng.below(8) {
            0 => Header::of(rng.bits()),
            1 => Header {
                class,
                ..Header::of(rng.bits())
            },
            2 | 3 => Header {
                cast: Cast::ALL[rng.between(1, 3) as usize],
                ..Header::to(cell, Class::Request)
            },
            _ => Header::to(cell, class),
        };
        for left in (0..words).rev() {
            let body = rng.bits() >> (64 - width);
            let low = if left + 1 == words {
                header.word()
            } else {
                body & ((1 << Header::BITS) - 1)
            };
            let word = body >> Header::BITS << Header::BITS | low;
            flits.push_back(Flit {
                word: word & !(31 << (width - 5)) | (input as u64) << (width - 5),
                last: left == 0,
            });
        }
    }
    flits
}

/// The far ends of a router's links, and the golden router.
struct Peers {
    golden: GoldenSwitch,
    /// Bits of a word.
    width: usize,
    chance: Rng,
    /// By input port.
    sources: Vec<Pacer>,
    /// By channel of an input: words to send, and places in the router.
    queues: Vec<VecDeque<Flit>>,
    places: [u8; INPUTS],
    /// By channel of an output: words that wait beyond.
    sinks: Vec<Pacer>,
    waiting: [u8; INPUTS],
}

impl Peers {
    fn new(router: &Router, plan: &Plan, rng: &dyn Fn(&str) -> Rng) -> Peers {
        let pacer = |pauses, name: String| Pacer::new(pauses, rng(&name));
        let source = |port| pacer(plan.gaps.at_source(), format!("source {port}"));
        let sink = |output| pacer(plan.gaps.at_sink(), format!("sink {output}"));
        let queue = |input| {
            // A cell sends on one channel of each class.
            let unused = input < VCS && input % 2 == 1;
            let list = packets(plan, input, router.width, &mut rng(&format!("packets {input}")));
            if unused { VecDeque::new() } else { list }
        };
        Peers {
            golden: GoldenSwitch::router(plan.torus, plan.at, BOUND),
            width: router.width,
            chance: rng("turns"),
            sources: (0..5).map(source).collect(),
            queues: (0..INPUTS).map(queue).collect(),
            places: [PLACES; INPUTS],
            sinks: (0..INPUTS).map(sink).collect(),
            waiting: [0; INPUTS],
        }
    }

    /// The router's side of the links is so in a cycle. Gives the far side.
    fn step(&mut self, seen: &Links) -> Result<Links, Fault> {
        let mut links = Links::default();
        for port in 0..5 {
            for vc in (0..VCS).filter(|vc| seen.credits[port] >> vc & 1 == 1) {
                let input = port * VCS + vc;
                self.places[input] += 1;
                Rule::Protocol.holds(self.places[input] <= PLACES, || {
                    format!("input {input} gives a place back that it has")
                })?;
            }
            if let Some(Sent { vc, flit }) = seen.words[port] {
                let (output, source) = (port * VCS + vc, (flit.word >> (self.width - 5)) as usize);
                self.golden.sent(output, source, flit.word, flit.last).map_err(fault)?;
                self.waiting[output] += 1;
                Rule::Protocol.holds(self.waiting[output] <= PLACES, || {
                    format!("output {output} sends without a place")
                })?;
            }
            for vc in 0..VCS {
                let output = port * VCS + vc;
                if self.sinks[output].step() && self.waiting[output] > 0 {
                    self.waiting[output] -= 1;
                    links.credits[port] |= 1 << vc;
                }
            }
            links.words[port] = self.send(port);
        }
        Ok(links)
    }

    /// The next word for a port, on any channel with a place.
    fn send(&mut self, port: usize) -> Option<Sent> {
        let can = |vc: &usize| self.places[port * VCS + vc] > 0 && !self.queues[port * VCS + vc].is_empty();
        let can: Vec<usize> = (0..VCS).filter(can).collect();
        if !self.sources[port].step() || can.is_empty() {
            return None;
        }
        let vc = can[self.chance.below(can.len() as u64) as usize];
        let input = port * VCS + vc;
        let flit = self.queues[input].pop_front().expect("the channel has a word");
        self.places[input] -= 1;
        self.golden.took(input, flit.word, flit.last);
        Some(Sent { vc, flit })
    }

    /// Words not taken yet.
    fn left(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    fn finish(&self, drained: u64) -> Result<(), Fault> {
        self.golden.finish(drained).map_err(fault)
    }
}

/// Sends packets through a router that was just reset, in lock step with the golden one.
fn exercise(placed: &mut Placed, router: &Router, plan: &Plan, rng: &dyn Fn(&str) -> Rng) -> Result<(), Fault> {
    let mut peers = Peers::new(router, plan, rng);
    let limit = 3000 + 8 * router.pace * peers.left() as u64;
    let mut quiet = 0;
    for cycle in 0..limit {
        if plan.stop == Some(cycle) {
            return Ok(());
        }
        let seen = placed.seen();
        let links = peers.step(&seen.links).map_err(|fault| fault.at(cycle))?;
        placed.step(links);
        let done = peers.left() == 0 && peers.finish(seen.drained).is_ok();
        quiet = if done { quiet + 1 } else { 0 };
        if quiet > 100 {
            return Rule::Rest.holds(!seen.busy, || format!("cycle {cycle}: still busy"));
        }
    }
    let left = peers.left();
    Rule::Hang.holds(left == 0, || format!("after {limit} cycles {left} words are not taken"))?;
    peers.finish(placed.seen().drained).map_err(|fault| fault.at(limit))
}

/// A torus and a cell for each side that a routing decision has: corners, ends of rings, the middle, rings of one, two,
/// three.
const PLACES_TO_BE: [(usize, usize, usize); 10] = [
    (4, 4, 0),
    (4, 4, 5),
    (4, 4, 3),
    (8, 4, 15),
    (8, 4, 24),
    (32, 32, 541),
    (1, 1, 0),
    (2, 2, 3),
    (3, 1, 2),
    (1, 3, 1),
];

/// A run at each place, with one gap pattern or another.
fn plans(packets: usize) -> impl Iterator<Item = Plan> {
    PLACES_TO_BE.into_iter().enumerate().map(move |(n, (x, y, cell))| Plan {
        torus: Torus::new(x, y),
        at: Torus::new(x, y).cell(cell),
        gaps: Gaps::ALL[n % 4],
        packets,
        stop: None,
    })
}

/// Random packets. A reset in their midst loses them, and they are sent again.
fn contract(router: &Router, plan: Plan, cases: &mut Cases) {
    let params = format!(
        "{} {:?} at {} gaps {:?}",
        router.dut.name, plan.torus, plan.at, plan.gaps
    );
    cases.case(Start::Random1, params, |run| {
        let mut placed = router.placed(run, plan.torus, plan.at);
        let stopped = Plan { stop: Some(60), ..plan };
        exercise(&mut placed, router, &stopped, &|name| run.rng(&format!("first {name}")))?;
        placed.reset();
        exercise(&mut placed, router, &plan, &|name| run.rng(name))
    });
}

/// Random packets at each place, under all gap patterns.
fn contracts(router: &Router, packets: usize, cases: &mut Cases) {
    for plan in plans(packets) {
        for gaps in Gaps::ALL {
            contract(router, Plan { gaps, ..plan }, cases);
        }
    }
}

/// An endless stream of packets with this header on a channel of an input, each of `length` words.
#[derive(Clone, Copy)]
struct Stream {
    port: Port,
    lane: usize,
    header: Header,
    length: u64,
}

/// Words out of each port, the first cycle of one, and the words that each stream could send.
type Streamed = ([u64; 5], [Option<u64>; 5], Vec<u64>);

/// Streams that never pause. The sinks give places back as fast as a router, two cycles later, but for the `stuck`
/// outputs.
fn stream(placed: &mut Placed, cycles: u64, streams: &[Stream], stuck: &[usize]) -> Streamed {
    let (mut words, mut first) = ([0; 5], [None; 5]);
    let mut places = [PLACES; INPUTS];
    let mut sent = vec![0_u64; streams.len()];
    let mut back = [[0_u8; 5]; 2];
    for cycle in 0..cycles {
        let seen = placed.seen().links;
        let mut links = Links {
            credits: back[0],
            ..Links::default()
        };
        back = [back[1], [0; 5]];
        for port in 0..5 {
            for vc in 0..VCS {
                places[port * VCS + vc] += seen.credits[port] >> vc & 1;
            }
            if let Some(Sent { vc, .. }) = seen.words[port] {
                words[port] += 1;
                first[port].get_or_insert(cycle);
                if !stuck.contains(&(port * VCS + vc)) {
                    back[1][port] |= 1 << vc;
                }
            }
        }
        for k in 0..streams.len() {
            let n = (k + cycle as usize + 1) % streams.len();
            let Stream {
                port,
                lane,
                header,
                length,
            } = streams[n];
            let vc = header.class.vc(lane);
            let place = &mut places[port as usize * VCS + vc];
            if *place > 0 && links.words[port as usize].is_none() {
                *place -= 1;
                let word = if sent[n].is_multiple_of(length) {
                    header.word()
                } else {
                    sent[n]
                };
                sent[n] += 1;
                let last = sent[n].is_multiple_of(length);
                links.words[port as usize] = Some(Sent {
                    vc,
                    flit: Flit { word, last },
                });
            }
        }
        placed.step(links);
    }
    (words, first, sent)
}

/// Requests that come from the cell at lane 0, or over a link at lane 1.
fn requests(port: Port, x: usize, y: usize, length: u64) -> Stream {
    Stream {
        port,
        lane: usize::from(port != Port::Local),
        header: Header::to(Cell { x, y }, Class::Request),
        length,
    }
}

/// Replies on the same way.
fn replies(stream: Stream) -> Stream {
    let header = Header {
        class: Class::Reply,
        ..stream.header
    };
    Stream { header, ..stream }
}

/// Three cycles from link to link.
fn latency(router: &Router, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} latency", router.dut.name), |run| {
        let from = requests(Port::XMinus, 3, 1, 1);
        let (words, first, _) = stream(&mut router.fresh(run), 12, &[from], &[]);
        Rule::Latency.holds(first[1] == Some(3) && words[1] >= 8, || {
            format!("{words:?} words, first at {first:?}")
        })
    });
}

/// A word a cycle and link: one packet after the other on one channel, of one word and of many; two inputs for one
/// output; all links at once; nearly one beside a channel that is stuck.
fn rate(router: &Router, cases: &mut Cases) {
    let mut full = |what: String, streams: &[Stream], stuck: &[usize], ports: &[usize], least: u64| {
        cases.case(Start::Zero, format!("{} {what}", router.dut.name), |run| {
            let (words, ..) = stream(&mut router.fresh(run), 1003, streams, stuck);
            let kept = ports.iter().all(|port| words[*port] >= least);
            Rule::Rate.holds(kept, || format!("{what}: {words:?} words in 1000 cycles"))
        });
    };
    let along_x = |length| requests(Port::XMinus, 3, 1, length);
    for length in [1, 2, 5, 1000] {
        full(format!("packets of {length}"), &[along_x(length)], &[], &[1], 1000);
        let both = [along_x(length), requests(Port::Local, 3, 1, length)];
        full(format!("packets of {length} from two inputs"), &both, &[], &[1], 1000);
    }
    let links = [
        requests(Port::Local, 3, 1, 3),
        requests(Port::XPlus, 0, 1, 3),
        requests(Port::XMinus, 1, 1, 3),
        replies(requests(Port::YMinus, 1, 3, 3)),
        replies(requests(Port::YPlus, 1, 0, 3)),
    ];
    full("all links at once".into(), &links, &[], &[0, 1, 2, 3, 4], 1000);
    // Requests stand still; replies that come by the same link lose a cycle now and then.
    let beside = [along_x(3), replies(along_x(3))];
    full(
        "beside a stuck channel".into(),
        &beside,
        &[Port::XPlus as usize * VCS + 1],
        &[1],
        850,
    );
}

/// Inputs that want all of one output get equal parts of it. An input that goes straight on gets 16 words for one of
/// each other.
fn fair(router: &Router, cases: &mut Cases) {
    let to = |x, y| move |port| requests(port, x, y, 1);
    let turned = [Port::Local, Port::XMinus].map(to(1, 3)).to_vec();
    let straight = [Port::Local, Port::XMinus].map(to(3, 1)).to_vec();
    let all = [Port::Local, Port::XPlus, Port::XMinus, Port::YMinus]
        .map(to(1, 3))
        .to_vec();
    let rivals: [(&str, Vec<Stream>, &[u64]); 3] = [
        ("turned", turned, &[48, 48]),
        ("straight", straight, &[5, 90]),
        ("all", all, &[5, 5, 5, 80]),
    ];
    for (what, streams, percent) in rivals {
        cases.case(Start::Zero, format!("{} {what}", router.dut.name), |run| {
            let (_, _, sent) = stream(&mut router.fresh(run), 2000, &streams, &[]);
            let all: u64 = sent.iter().sum();
            let fair = sent
                .iter()
                .zip(percent)
                .all(|(sent, percent)| sent * 100 >= all * percent);
            Rule::Unfair.holds(fair, || format!("{sent:?} words, in percent at least {percent:?}"))
        });
    }
}

/// The cell has its copy of a broadcast's word before the word goes on, along a row and along a column.
fn copies(router: &Router, cases: &mut Cases) {
    let x = (Port::XMinus, Port::XPlus, Cast::X);
    let y = (Port::YMinus, Port::YPlus, Cast::Y);
    for ((from, onward, cast), at) in [(x, 5), (y, 5), (x, 1)] {
        let torus = Torus::new(4, 4);
        let at = torus.cell(at);
        cases.case(
            Start::Zero,
            format!("{} copies from {from:?} at {at}", router.dut.name),
            |run| {
                let one = requests(from, 1, 1, 1);
                let header = Header { cast, ..one.header };
                let swept = Stream { header, ..one };
                let (_, first, _) = stream(&mut router.placed(run, torus, at), 12, &[swept], &[]);
                let (copy, on) = (first[Port::Local as usize], first[onward as usize]);
                let what = || format!("to the cell at {copy:?}, onward at {on:?}");
                Rule::Left.holds(copy.is_some() && on.is_some(), what)?;
                Rule::Timing.holds(copy < on, what)
            },
        );
    }
}

/// The count of packets for no output stays at its highest value.
fn counts(router: &Router, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} count", router.dut.name), |run| {
        let mut placed = router.fresh(run);
        let to_itself = requests(Port::Local, 1, 1, 1);
        stream(&mut placed, 0x1_0000 + 100, &[to_itself], &[]);
        let count = placed.seen().drained;
        Rule::Unroutable.holds(count == 0xffff, || format!("{count} after 65536 and more"))
    });
}

/// A link to another router carries a word in exactly its cycles; the way to the cell is not slowed down.
fn pace(router: &Router, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} pace", router.dut.name), |run| {
        let on = requests(Port::Local, 3, 1, 5);
        let (words, ..) = stream(&mut router.fresh(run), 1000 * router.pace + 3, &[on], &[]);
        let own = Stream {
            lane: 0,
            ..requests(Port::XMinus, 1, 1, 5)
        };
        let (own, ..) = stream(&mut router.fresh(run), 1003, &[own], &[]);
        Rule::Timing.holds((words[1], own[0]) == (1000, 1000), || {
            let pace = router.pace;
            format!("{} words in 1000 times {pace} cycles, {} to the cell", words[1], own[0])
        })
    });
}

/// Two routers get the same bursts with long silences.
fn gating(router: &Router, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} gating", router.dut.name), |run| {
        let mut pair = Pair::new(run, &router.dut);
        let (torus, at) = (Torus::new(4, 4), Cell { x: 1, y: 1 });
        let inputs = |links| In { torus, at, links };
        (0..2).for_each(|_| pair.reset(&inputs(Links::default())));
        // Registers without a reset change with the first edge.
        Rule::Rest.holds(pair.is_busy(), || "at rest straight out of reset".into())?;
        let mut rng = run.rng("gating");
        let mut places = [PLACES; INPUTS];
        let mut waiting: VecDeque<(u64, usize)> = VecDeque::new();
        for cycle in 0..20_000 {
            let mut links = Links::default();
            let seen = pair.seen().links;
            for port in 0..5 {
                for vc in 0..VCS {
                    places[port * VCS + vc] += seen.credits[port] >> vc & 1;
                }
                if let Some(sent) = seen.words[port] {
                    waiting.push_back((cycle + rng.below(50), port * VCS + sent.vc));
                }
                let vc = rng.below(2) as usize * 2;
                let place = &mut places[port * VCS + vc];
                if cycle % (400 * router.pace) < 60 && *place > 0 && rng.chance(1, 2) {
                    *place -= 1;
                    let word = if rng.chance(1, 8) {
                        1 << 16
                    } else {
                        0x0301 | (vc as u64 / 2) << 18
                    };
                    let flit = Flit { word, last: true };
                    links.words[port] = Some(Sent { vc, flit });
                }
            }
            waiting.retain(|(from, output)| {
                let (port, bit) = (output / VCS, 1 << (output % VCS));
                let due = *from <= cycle && links.credits[port] & bit == 0;
                links.credits[port] |= if due { bit } else { 0 };
                !due
            });
            pair.step(&inputs(links), !links.is_quiet())?;
        }
        let skipped = pair.skipped();
        Rule::Rest.holds(skipped > 8_000, || format!("only {skipped} edges skipped"))
    });
}

/// All checks of a twin but those that need their own packets.
fn checks(router: &Router, cases: &mut Cases) {
    plans(60).for_each(|plan| contract(router, plan, cases));
    latency(router, cases);
    rate(router, cases);
    fair(router, cases);
    copies(router, cases);
    gating(router, cases);
}

#[test]
fn a_router_keeps_the_contract() {
    pass(this_test!(), |cases| contracts(&router::<TorusW64>(), 120, cases));
}

#[test]
fn a_router_at_the_machines_rate_keeps_the_contract() {
    pass(this_test!(), |cases| contracts(&paced::<TorusW32Pace8>(8), 12, cases));
}

#[test]
fn the_cell_has_its_copy_before_the_word_goes_on() {
    pass(this_test!(), |cases| copies(&router::<TorusW64>(), cases));
}

#[test]
fn a_full_count_stays() {
    pass(this_test!(), |cases| counts(&router::<TorusW64>(), cases));
}

#[test]
fn a_word_takes_three_cycles_and_links_are_full() {
    pass(this_test!(), |cases| {
        latency(&router::<TorusW64>(), cases);
        rate(&router::<TorusW64>(), cases);
        fair(&router::<TorusW64>(), cases);
    });
}

#[test]
fn the_pace_of_links_is_exact() {
    pass(this_test!(), |cases| {
        pace(&paced::<TorusW32Pace8>(8), cases);
        pace(&router::<TorusW64>(), cases);
    });
}

#[test]
fn gated_and_ungated_agree() {
    pass(this_test!(), |cases| {
        gating(&router::<TorusW64>(), cases);
        gating(&paced::<TorusW32Pace8>(8), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A channel that is not due has no word, or another.
            (Nothing, &[Word], &|cases| checks(&router::<TwinTorusLane>(), cases)),
            // In a ring, all packets wait for each other.
            (Hang, &[], &network::ring::<TwinTorusLane>),
            (Word, &[], &|cases| checks(&router::<TwinTorusWord>(), cases)),
            (Mixed, &[], &|cases| checks(&router::<TwinTorusMixed>(), cases)),
            (Unfair, &[], &|cases| checks(&router::<TwinTorusUnfair>(), cases)),
            (Unfair, &[], &|cases| checks(&router::<TwinTorusGreedy>(), cases)),
            // The next packet stands where the copy is expected; a copy that goes nowhere else is a packet drained.
            (Word, &[Left, Unroutable], &|cases| {
                checks(&router::<TwinTorusCopy>(), cases);
            }),
            // A broadcast alone has no packet behind it.
            (Left, &[], &|cases| copies(&router::<TwinTorusCopy>(), cases)),
            (Unroutable, &[], &|cases| checks(&router::<TwinTorusDrained>(), cases)),
            // Only a full count is wrong.
            (Unroutable, &[], &|cases| counts(&router::<TwinTorusCount>(), cases)),
            (Protocol, &[], &|cases| checks(&router::<TwinTorusCredit>(), cases)),
            // A router with words that are stuck is never at rest.
            (Hang, &[Rest], &|cases| checks(&router::<TwinTorusJams>(), cases)),
            (Rest, &[], &|cases| checks(&router::<TwinTorusBusy>(), cases)),
            // A word that is stuck is not tried again at rest.
            (Gating, &[Hang, Left], &|cases| {
                checks(&router::<TwinTorusRest>(), cases)
            }),
            (Rest, &[], &|cases| checks(&router::<TwinTorusHasty>(), cases)),
            (Timing, &[], &|cases| checks(&router::<TwinTorusOnward>(), cases)),
            // An input that asks every other cycle only has no rival, and its word is taken for rest.
            (Latency, &[Rate, Unfair, Gating], &|cases| {
                checks(&router::<TwinTorusLate>(), cases);
            }),
            // Eight words in a row take longer too.
            (Rate, &[Latency], &|cases| checks(&router::<TwinTorusBubble>(), cases)),
            (Timing, &[], &|cases| pace(&paced::<TwinTorusPace>(8), cases)),
        ],
    );
}
