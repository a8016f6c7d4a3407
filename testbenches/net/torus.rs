//! The torus's router by itself in lock step with the golden switch, and tori composed of routers against the golden torus.

use std::collections::VecDeque;

use testbenches::rtl;
use tsunagi::harness::seed::{Case, Recorder, Rng, Seed};
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::harness::wave::Probe;
use tsunagi::net::bench::torus_uniform;
use tsunagi::net::fabric::Flit;
use tsunagi::net::switch::{GoldenSwitch, network_input, network_output};
use tsunagi::net::torus::{Cast, Cell, Class, Header, Port, Torus, VCS};
use tsunagi::net::torus_fabric::{Links, PLACES, RouterUnit, Sent, TorusFabric};
use verilated::{Context, Verilated};

use crate::bench::{Check, Fault, PERIOD, SETTLES};

/// A verilated router as a testbench sees it.
pub trait Router: RouterUnit {
    /// Cycles a word takes on a link to another router.
    const PACE: u64;

    fn unit(&self) -> &dyn Verilated {
        self
    }
}

/// The unit of this name as a [`Router`].
macro_rules! router {
    ($unit:ident, $pace:literal) => {
        pub use rtl::$unit;

        impl Router for $unit {
            const PACE: u64 = $pace;
        }
    };
}

router!(TorusW64, 1);
router!(TorusW32Pace8, 8);
router!(TwinTorusCopy, 1);
router!(TwinTorusDrained, 1);
router!(TwinTorusCount, 1);
router!(TwinTorusCredit, 1);
router!(TwinTorusJams, 1);
router!(TwinTorusBusy, 1);
router!(TwinTorusRest, 1);
router!(TwinTorusHasty, 1);
router!(TwinTorusOnward, 1);
router!(TwinTorusLate, 1);
router!(TwinTorusBubble, 1);
router!(TwinTorusPace, 8);
router!(TwinTorusLane, 1);
router!(TwinTorusWord, 1);
router!(TwinTorusMixed, 1);
router!(TwinTorusUnfair, 1);
router!(TwinTorusGreedy, 1);

/// Inputs of one router, and of the golden one.
const INPUTS: usize = 5 * VCS;

/// What is done to one router.
#[derive(Clone, Debug)]
pub struct Plan {
    pub torus: Torus,
    pub at: Cell,
    pub gaps: Gaps,
    /// Packets of each virtual channel of each input.
    pub packets: usize,
    /// Leave off in mid-flight after so many cycles.
    pub stop: Option<u64>,
}

/// How many packets may pass a waiting one on its way to a channel: what nine channels of five inputs send while it waits for its turns, of which it
/// loses some to a packet that holds the channel just then. The most that was seen, before what moves straight on went first, is 157.
const BOUND: u64 = 300;

/// Words of a virtual channel's packets for a router: its number in the uppermost five bits, so that words of different ones differ.
fn packets(plan: &Plan, input: usize, width: usize, rng: &mut Rng) -> VecDeque<Flit> {
    let mut flits = VecDeque::new();
    for _ in 0..plan.packets {
        let words = if rng.chance(1, 3) { 1 } else { rng.between(1, 12) };
        let class = Class::ALL[input % VCS / 2];
        let cell = plan.torus.cell(rng.below(plan.torus.cells() as u64) as usize);
        // What comes along Y has its column; others, any.
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

/// Sends packets through a router that was just reset, in lock step with the golden one.
pub fn exercise<U: Router>(
    unit: &mut U,
    plan: &Plan,
    rng: impl Fn(&str) -> Rng,
    recorder: &mut Recorder,
) -> Result<(), Fault> {
    // The clock goes on where it was.
    let start = unit
        .unit()
        .context()
        .time()
        .next_multiple_of(PERIOD)
        .saturating_sub(PERIOD);
    let mut golden = GoldenSwitch::router(plan.torus, plan.at, BOUND);
    let mut chance = rng("turns");
    let mut queues: Vec<_> = (0..INPUTS)
        .map(|input| {
            let from_cell = input < VCS && input % 2 == 1;
            let list = packets(plan, input, U::W, &mut rng(&format!("packets {input}")));
            if from_cell { VecDeque::new() } else { list }
        })
        .collect();
    let pacer = |pauses, name: String| Pacer::new(pauses, rng(&name));
    let mut sources: Vec<_> = (0..5)
        .map(|p| pacer(plan.gaps.at_source(), format!("source {p}")))
        .collect();
    let mut sinks: Vec<_> = (0..INPUTS)
        .map(|i| pacer(plan.gaps.at_sink(), format!("sink {i}")))
        .collect();
    let mut places = [PLACES; INPUTS];
    let mut waiting = [0u8; INPUTS];
    let words: usize = queues.iter().map(VecDeque::len).sum();
    let limit = 3000 + 8 * U::PACE * words as u64;
    let mut quiet = 0;
    for cycle in 0..limit {
        if plan.stop == Some(cycle) {
            return Ok(());
        }
        let at = |fault: Fault| fault.at(cycle);
        let shows = unit.shows();
        let mut links = Links::default();
        for port in 0..5 {
            for vc in (0..VCS).filter(|vc| shows.credits[port] >> vc & 1 == 1) {
                let input = port * VCS + vc;
                places[input] += 1;
                Check::Protocol
                    .holds(places[input] <= PLACES, || {
                        format!("input {input} gives a place back that it has")
                    })
                    .map_err(at)?;
            }
            if let Some(Sent { vc, flit }) = shows.words[port] {
                let output = port * VCS + vc;
                let source = (flit.word >> (U::W - 5)) as usize;
                golden
                    .sent(output, source, flit.word, flit.last)
                    .map_err(|e| at(e.into()))?;
                waiting[output] += 1;
                Check::Protocol
                    .holds(waiting[output] <= PLACES, || {
                        format!("output {output} sends without a place")
                    })
                    .map_err(at)?;
            }
            for vc in 0..VCS {
                let output = port * VCS + vc;
                if sinks[output].step() && waiting[output] > 0 {
                    waiting[output] -= 1;
                    links.credits[port] |= 1 << vc;
                }
            }
            let can = |vc: &usize| places[port * VCS + vc] > 0 && !queues[port * VCS + vc].is_empty();
            let can: Vec<usize> = (0..VCS).filter(can).collect();
            if sources[port].step() && !can.is_empty() {
                let vc = can[chance.below(can.len() as u64) as usize];
                let flit = queues[port * VCS + vc].pop_front().expect("it is not empty");
                places[port * VCS + vc] -= 1;
                golden.took(port * VCS + vc, flit.word, flit.last);
                links.words[port] = Some(Sent { vc, flit });
            }
        }
        unit.unit().context().set_time(start + (cycle + 1) * PERIOD);
        unit.edge(&links);
        recorder.tick_up(&[unit.unit()], PERIOD);
        let done = queues.iter().all(VecDeque::is_empty) && golden.finish(unit.drained()).is_ok();
        quiet = if done { quiet + 1 } else { 0 };
        if quiet > 100 {
            return Check::Rest.holds(!unit.busy(), || format!("cycle {cycle}: still busy"));
        }
    }
    let left: usize = queues.iter().map(VecDeque::len).sum();
    Check::Hang.holds(left == 0, || format!("after {limit} cycles {left} words are not taken"))?;
    golden.finish(unit.drained()).map_err(|e| Fault::from(e).at(limit))
}

/// Random packets under one gap pattern: into the middle of them, reset, and again.
pub fn contract<U: Router>(case: &Case, plan: &Plan, probe: &Probe) -> Result<(), Fault> {
    let mut unit = U::named(&case.context(), "router");
    let mut recorder = Recorder::new(probe, &[unit.unit()]);
    unit.reset(plan.torus, plan.at);
    let stopped = Plan {
        stop: Some(60),
        ..plan.clone()
    };
    exercise(
        &mut unit,
        &stopped,
        |name| case.rng(&format!("first {name}")),
        &mut recorder,
    )?;
    unit.reset(plan.torus, plan.at);
    exercise(&mut unit, plan, |name| case.rng(name), &mut recorder)
}

/// A torus and a cell for each side that a routing decision has: corners, ends of rings, the middle, rings of one, two, three.
pub const PLACES_TO_BE: [(usize, usize, usize); 10] = [
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

pub fn plans(packets: usize) -> impl Iterator<Item = Plan> {
    PLACES_TO_BE.into_iter().enumerate().map(move |(n, (x, y, cell))| Plan {
        torus: Torus::new(x, y),
        at: Torus::new(x, y).cell(cell),
        gaps: Gaps::ALL[n % 4],
        packets,
        stop: None,
    })
}

fn contracts<U: Router>(test: &'static str, packets: usize) {
    for plan in plans(packets).flat_map(|plan| Gaps::ALL.map(|gaps| Plan { gaps, ..plan.clone() })) {
        let params = format!("{:?} at {} gaps {:?}", plan.torus, plan.at, plan.gaps);
        let case = Case::new("net", test, params);
        case.run(|probe| contract::<U>(&case, &plan, probe));
    }
}

#[test]
fn a_router_keeps_the_contract() {
    contracts::<TorusW64>("torus::a_router_keeps_the_contract", 120);
}

#[test]
fn a_router_at_the_machines_rate_keeps_the_contract() {
    contracts::<TorusW32Pace8>("torus::a_router_at_the_machines_rate_keeps_the_contract", 12);
}

/// A router of cell (1, 1) of 4 x 4, just reset, with nothing random.
fn fresh<U: Router>() -> U {
    let mut unit = U::named(&Context::new(), "router");
    let torus = Torus::new(4, 4);
    unit.reset(torus, torus.cell(5));
    unit
}

/// What one input is given again and again: on a channel, packets of so many words with this header.
#[derive(Clone, Copy)]
struct Stream {
    port: Port,
    lane: usize,
    header: Header,
    length: u64,
}

/// Words out of each port, the first cycle of one, and words that each stream could send.
type Streamed = ([u64; 5], [Option<u64>; 5], Vec<u64>);

/// Streams that never pause, into sinks that give places back as fast as a router, two cycles later, but for those stuck.
fn stream<U: Router>(unit: &mut U, cycles: u64, streams: &[Stream], stuck: &[usize]) -> Streamed {
    let (mut words, mut first) = ([0; 5], [None; 5]);
    let mut places = [PLACES; INPUTS];
    let mut sent = vec![0_u64; streams.len()];
    let mut back = [[0_u8; 5]; 2];
    let mut turn = 0;
    for cycle in 0..cycles {
        let shows = unit.shows();
        let mut links = Links {
            credits: back[0],
            ..Links::default()
        };
        back = [back[1], [0; 5]];
        for port in 0..5 {
            for vc in 0..VCS {
                places[port * VCS + vc] += shows.credits[port] >> vc & 1;
            }
            if let Some(Sent { vc, .. }) = shows.words[port] {
                words[port] += 1;
                first[port].get_or_insert(cycle);
                if !stuck.contains(&(port * VCS + vc)) {
                    back[1][port] |= 1 << vc;
                }
            }
        }
        turn += 1;
        for k in 0..streams.len() {
            let n = (k + turn) % streams.len();
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
        unit.edge(&links);
    }
    (words, first, sent)
}

fn to(x: usize, y: usize, class: Class) -> Header {
    Header::to(Cell { x, y }, class)
}

/// Three cycles from link to link.
pub fn latency<U: Router>() -> Result<(), Fault> {
    let from = Stream {
        port: Port::XMinus,
        lane: 1,
        header: to(3, 1, Class::Request),
        length: 1,
    };
    let (words, first, _) = stream(&mut fresh::<U>(), 12, &[from], &[]);
    Check::Latency.holds(first[1] == Some(3) && words[1] >= 8, || {
        format!("{words:?} words, first at {first:?}")
    })
}

/// A word a cycle and link: one packet after the other on one channel, of one word and of many; two inputs for one output; all links at
/// once; beside a channel that is stuck, nearly.
pub fn rate<U: Router>() -> Result<(), Fault> {
    const CYCLES: u64 = 1003;
    let along_x = |class, length| Stream {
        port: Port::XMinus,
        lane: 1,
        header: to(3, 1, class),
        length,
    };
    let cell = |x, y, length| Stream {
        port: Port::Local,
        lane: 0,
        header: to(x, y, Class::Request),
        length,
    };
    let full = |what: &str, words: u64, least: u64| {
        Check::Rate.holds(words >= least, || format!("{what}: {words} words in 1000 cycles"))
    };
    for length in [1, 2, 5, 1000] {
        let (words, ..) = stream(&mut fresh::<U>(), CYCLES, &[along_x(Class::Request, length)], &[]);
        full(&format!("packets of {length}"), words[1], 1000)?;
        let both = [along_x(Class::Request, length), cell(3, 1, length)];
        let (words, ..) = stream(&mut fresh::<U>(), CYCLES, &both, &[]);
        full(&format!("packets of {length} from two inputs"), words[1], 1000)?;
    }
    let from = |port, lane, x, y, class| Stream {
        port,
        lane,
        header: to(x, y, class),
        length: 3,
    };
    let links = [
        from(Port::Local, 0, 3, 1, Class::Request),
        from(Port::XPlus, 1, 0, 1, Class::Request),
        from(Port::XMinus, 1, 1, 1, Class::Request),
        from(Port::YMinus, 1, 1, 3, Class::Reply),
        from(Port::YPlus, 1, 1, 0, Class::Reply),
    ];
    let (words, ..) = stream(&mut fresh::<U>(), CYCLES, &links, &[]);
    full("all links at once", *words.iter().min().expect("there are five"), 1000)?;
    // Requests stand still; replies that come by the same link lose a cycle now and then.
    let beside = [along_x(Class::Request, 3), along_x(Class::Reply, 3)];
    let (words, ..) = stream(&mut fresh::<U>(), CYCLES, &beside, &[Port::XPlus as usize * VCS + 1]);
    full("beside what is stuck", words[1], 850)
}

/// Inputs that want all of one output get as much of it each; but what moves straight on, 16 words for one of each other.
pub fn fair<U: Router>() -> Result<(), Fault> {
    let one = |port, lane, x, y| Stream {
        port,
        lane,
        header: to(x, y, Class::Request),
        length: 1,
    };
    let turned = [one(Port::Local, 0, 1, 3), one(Port::XMinus, 1, 1, 3)];
    let straight = [one(Port::Local, 0, 3, 1), one(Port::XMinus, 1, 3, 1)];
    let all = [(Port::Local, 0), (Port::XPlus, 1), (Port::XMinus, 1), (Port::YMinus, 1)];
    let all = all.map(|(port, lane)| one(port, lane, 1, 3));
    let cases: [(&[Stream], &[u64]); 3] = [(&turned, &[48, 48]), (&straight, &[5, 90]), (&all, &[5, 5, 5, 80])];
    for (streams, percent) in cases {
        let (_, _, sent) = stream(&mut fresh::<U>(), 2000, streams, &[]);
        let all: u64 = sent.iter().sum();
        let fair = sent
            .iter()
            .zip(percent)
            .all(|(sent, percent)| sent * 100 >= all * percent);
        Check::Unfair.holds(fair, || format!("{sent:?} words, in percent at least {percent:?}"))?;
    }
    Ok(())
}

/// The cell has its copy of a broadcast's word before the word goes on, along a row and along a column.
pub fn copies<U: Router>() -> Result<(), Fault> {
    for (from, onward) in [(Port::XMinus, Port::XPlus), (Port::YMinus, Port::YPlus)] {
        let cast = if from == Port::XMinus { Cast::X } else { Cast::Y };
        let header = Header {
            cast,
            ..to(1, 1, Class::Request)
        };
        let swept = Stream {
            port: from,
            lane: 1,
            header,
            length: 1,
        };
        let (_, first, _) = stream(&mut fresh::<U>(), 12, &[swept], &[]);
        let (copy, on) = (first[Port::Local as usize], first[onward as usize]);
        let what = || format!("from {from:?}: to the cell at {copy:?}, onward at {on:?}");
        Check::Left.holds(copy.is_some() && on.is_some(), what)?;
        Check::Timing.holds(copy < on, what)?;
    }
    Ok(())
}

#[test]
fn the_cell_has_its_copy_before_the_word_goes_on() {
    copies::<TorusW64>().unwrap();
}

/// The count of packets that nobody gets stays at its highest value.
pub fn counts<U: Router>() -> Result<(), Fault> {
    let mut unit = fresh::<U>();
    let to_itself = Stream {
        port: Port::Local,
        lane: 0,
        header: to(1, 1, Class::Request),
        length: 1,
    };
    stream(&mut unit, 0x1_0000 + 100, &[to_itself], &[]);
    let count = unit.drained();
    Check::Unroutable.holds(count == 0xffff, || format!("{count} after 65536 and more"))
}

#[test]
fn a_full_count_stays() {
    counts::<TorusW64>().unwrap();
}

#[test]
fn a_word_takes_three_cycles_and_links_are_full() {
    latency::<TorusW64>().unwrap();
    rate::<TorusW64>().unwrap();
    fair::<TorusW64>().unwrap();
}

/// A link to another router carries a word in so many cycles, exactly; the way to the cell is not slowed down.
pub fn pace<U: Router>() -> Result<(), Fault> {
    let header = to(3, 1, Class::Request);
    let one = Stream {
        port: Port::Local,
        lane: 0,
        header,
        length: 5,
    };
    let (words, ..) = stream(&mut fresh::<U>(), 1000 * U::PACE + 3, &[one], &[]);
    let own = Stream {
        port: Port::XMinus,
        header: to(1, 1, Class::Request),
        ..one
    };
    let (own, ..) = stream(&mut fresh::<U>(), 1003, &[own], &[]);
    Check::Timing.holds((words[1], own[0]) == (1000, 1000), || {
        format!(
            "{} words in 1000 times {} cycles, {} to the cell",
            words[1],
            U::PACE,
            own[0]
        )
    })
}

#[test]
fn the_pace_of_links_is_exact() {
    pace::<TorusW32Pace8>().unwrap();
    pace::<TorusW64>().unwrap();
}

/// Two routers get the same traffic, bursts with long silences; one is clocked only when it is busy or has something on its links.
/// Both must look the same in every cycle.
pub fn gating<U: Router>(mut rng: Rng) -> Result<(), Fault> {
    let (mut always, mut gated) = (fresh::<U>(), fresh::<U>());
    Check::Rest.holds(gated.busy(), || SETTLES.into())?;
    let mut places = [PLACES; INPUTS];
    let mut waiting: VecDeque<(u64, usize)> = VecDeque::new();
    let mut skipped = 0;
    for cycle in 0..20_000 {
        let mut links = Links::default();
        let shows = always.shows();
        for port in 0..5 {
            for vc in 0..VCS {
                places[port * VCS + vc] += shows.credits[port] >> vc & 1;
            }
            if let Some(sent) = shows.words[port] {
                waiting.push_back((cycle + rng.below(50), port * VCS + sent.vc));
            }
            let vc = rng.below(2) as usize * 2;
            let place = &mut places[port * VCS + vc];
            if cycle % (400 * U::PACE) < 60 && *place > 0 && rng.chance(1, 2) {
                *place -= 1;
                let word = if rng.chance(1, 8) {
                    1 << 16
                } else {
                    0x0301 | (vc as u64 / 2) << 18
                };
                links.words[port] = Some(Sent {
                    vc,
                    flit: Flit { word, last: true },
                });
            }
        }
        waiting.retain(|(from, output)| {
            let (port, bit) = (output / VCS, 1 << (output % VCS));
            let due = *from <= cycle && links.credits[port] & bit == 0;
            links.credits[port] |= if due { bit } else { 0 };
            !due
        });
        always.edge(&links);
        if gated.busy() || !links.is_quiet() {
            gated.edge(&links);
        } else {
            skipped += 1;
        }
        let ports = always.unit().ports();
        for port in ports.iter().filter(|port| port.output && port.name != "busy_o") {
            let same = always.unit().peek(port.name) == gated.unit().peek(port.name);
            Check::Gating.holds(same, || {
                format!("cycle {cycle}: gated and ungated differ in {}", port.name)
            })?;
        }
    }
    Check::Rest.holds(skipped > 8_000, || format!("only {skipped} edges skipped"))
}

#[test]
fn gated_and_ungated_agree() {
    gating::<TorusW64>(Seed::get().stream("gating torus")).unwrap();
    gating::<TorusW32Pace8>(Seed::get().stream("gating torus at its rate")).unwrap();
}

/// A packet from a cell.
#[derive(Clone, Debug)]
struct Packet {
    header: Header,
    words: u64,
}

/// A composed torus and its cells: what each has to send, and what it does with what comes.
struct Network<U> {
    fabric: TorusFabric<U>,
    golden: GoldenSwitch,
    /// By cell and class: words to send.
    queues: Vec<[VecDeque<Flit>; 2]>,
    sinks: Vec<Pacer>,
    waiting: Vec<[u8; 2]>,
    /// Requests are taken only while fewer replies wait.
    replies: Option<usize>,
    /// Words that came, and by cell, packets that it got.
    came: u64,
    got: Vec<u64>,
}

impl<U: Router> Network<U> {
    fn new(torus: Torus, context: &Context, sinks: impl Fn(usize) -> Pacer) -> Network<U> {
        let cells = torus.cells();
        Network {
            fabric: TorusFabric::new(torus, |at| U::named(context, &format!("router_{}_{}", at.x, at.y))),
            golden: GoldenSwitch::torus(torus),
            queues: (0..cells).map(|_| Default::default()).collect(),
            sinks: (0..cells).map(sinks).collect(),
            waiting: vec![[0; 2]; cells],
            replies: None,
            came: 0,
            got: vec![0; cells],
        }
    }

    /// Each word has its sender and kind above, as the golden torus wants to know.
    fn send(&mut self, from: usize, packet: &Packet, rng: &mut Rng) {
        let input = network_input(from, packet.header) as u64;
        let queue = &mut self.queues[from][packet.header.class as usize];
        for left in (0..packet.words).rev() {
            let way = if left + 1 == packet.words {
                packet.header.word()
            } else {
                rng.bits() & 0x7_FFFF
            };
            let word = input << 40 | rng.bits() >> 44 << 20 | way;
            queue.push_back(Flit { word, last: left == 0 });
        }
    }

    fn cycle(&mut self, rng: &mut Rng) -> Result<(), Fault> {
        let cycle = self.fabric.cycles();
        let torus = self.fabric.torus();
        for n in 0..torus.cells() {
            if let Some(Sent { vc, flit }) = self.fabric.output(n) {
                let (class, source) = (Class::ALL[vc / 2], (flit.word >> 40) as usize);
                let output = network_output(n, class);
                self.golden
                    .sent(output, source, flit.word, flit.last)
                    .map_err(|e| Fault::from(e).at(cycle))?;
                self.came += 1;
                self.waiting[n][vc / 2] += 1;
                self.got[n] += u64::from(flit.last);
                if self.replies.is_some() && class == Class::Request && flit.last {
                    let header = Header::to(torus.cell(source / 8), Class::Reply);
                    self.send(n, &Packet { header, words: 9 }, rng);
                }
            }
            let go = self.sinks[n].step();
            for class in Class::ALL {
                // A reply's words wait in its cell; a request's place is free when its reply has left.
                let full = self
                    .replies
                    .is_some_and(|most| self.queues[n][1].len() > 9 * (most - 1));
                if go && self.waiting[n][class as usize] > 0 && !(class == Class::Request && full) {
                    self.waiting[n][class as usize] -= 1;
                    self.fabric.give_back(n, class);
                }
            }
            let first = rng.below(2) as usize;
            for class in [Class::ALL[first], Class::ALL[1 - first]] {
                let queue = &mut self.queues[n][class as usize];
                if self.fabric.has_place(n, class)
                    && let Some(flit) = queue.pop_front()
                {
                    let source = (flit.word >> 40) as usize;
                    self.golden.took(source, flit.word, flit.last);
                    self.fabric.inject(n, class, flit);
                }
            }
        }
        self.fabric.edge();
        Ok(())
    }

    /// Until all that was sent came, and all is at rest.
    fn finish(&mut self, rng: &mut Rng) -> Result<(), Fault> {
        let left = |net: &Network<U>| net.queues.iter().flatten().map(VecDeque::len).sum::<usize>();
        let limit = self.fabric.cycles() + 20_000 + 20 * left(self) as u64;
        let mut quiet = 0;
        while quiet < 100 {
            self.cycle(rng)?;
            let done = self.golden.finish(self.fabric.drained());
            quiet = if done.is_ok() && left(self) == 0 { quiet + 1 } else { 0 };
            Check::Hang.holds(self.fabric.cycles() <= limit, || {
                format!("{} words not taken after {limit} cycles: {done:?}", left(self))
            })?;
        }
        let waiting: u8 = self.waiting.iter().flatten().sum();
        Check::Rest.holds(waiting == 0 && !self.fabric.busy(), || "still busy".into())
    }
}

/// Random packets of both classes and all kinds from all cells, a few of them for cells that are not there.
pub fn carries<U: Router>(case: &Case, torus: Torus, gaps: Gaps, packets: usize) -> Result<u64, Fault> {
    let sinks = |n| Pacer::new(gaps.at_sink(), case.rng(&format!("sink {n}")));
    let mut net = Network::<U>::new(torus, &case.context(), sinks);
    let mut rng = case.rng("packets");
    for n in (0..torus.cells()).flat_map(|n| std::iter::repeat_n(n, packets)) {
        let cell = torus.cell(rng.below(torus.cells() as u64) as usize);
        let class = Class::ALL[rng.below(2) as usize];
        let header = match rng.below(16) {
            0 => Header {
                cast: Cast::ALL[rng.between(1, 3) as usize],
                ..Header::to(cell, class)
            },
            1 => Header {
                class,
                cast: Cast::One,
                ..Header::of(rng.bits())
            },
            _ => Header::to(cell, class),
        };
        let words = rng.between(1, 20);
        net.send(n, &Packet { header, words }, &mut rng);
    }
    net.finish(&mut rng)?;
    Ok(net.came)
}

#[test]
fn tori_carry_random_packets() {
    for (x, y, packets) in [(4, 4, 60), (8, 8, 25), (8, 4, 40), (3, 2, 60), (2, 2, 60), (1, 4, 60)] {
        for gaps in [Gaps::None, Gaps::Sink] {
            let case = Case::new(
                "net",
                "torus::tori_carry_random_packets",
                format!("{x} x {y} gaps {gaps:?}"),
            );
            case.run(|_| carries::<TorusW64>(&case, Torus::new(x, y), gaps, packets).map(drop));
        }
    }
}

/// All cells send long broadcasts at once, along their row and to each column, so that copies hold each other up: none does so for ever, and each
/// cell gets each exactly once.
pub fn broadcasts<U: Router>(case: &Case, torus: Torus) -> Result<(), Fault> {
    let sinks = |n| Pacer::new(true, case.rng(&format!("sink {n}")));
    let mut net = Network::<U>::new(torus, &case.context(), sinks);
    let mut rng = case.rng("packets");
    for n in 0..torus.cells() {
        for header in (0..torus.x()).map(Header::column).chain([Header::row()]) {
            let words = rng.between(1, 40);
            net.send(n, &Packet { header, words }, &mut rng);
            let header = Header::to(torus.cell(torus.cells() - 1 - n), Class::Request);
            net.send(n, &Packet { header, words }, &mut rng);
        }
    }
    net.finish(&mut rng)?;
    // One from each cell, and one from each of its row; and as many as there are from the cell opposite, unless that is itself.
    for n in 0..torus.cells() {
        let opposite = (torus.x() + 1) * usize::from(torus.cells() - 1 - n != n);
        let expected = torus.cells() + torus.x() + opposite;
        Check::Left.holds(net.got[n] == expected as u64, || {
            format!("cell {n} got {} packets of {expected}", net.got[n])
        })?;
    }
    Ok(())
}

#[test]
fn broadcasts_of_all_cells_at_once_come_through() {
    for (x, y) in [(4, 4), (8, 4), (5, 3), (2, 2)] {
        let case = Case::new(
            "net",
            "torus::broadcasts_of_all_cells_at_once_come_through",
            format!("{x} x {y}"),
        );
        case.run(|_| broadcasts::<TorusW64>(&case, Torus::new(x, y)));
    }
}

/// Every cell asks every other at once, takes a request only when its last answer has left, and gets all answers.
pub fn all_to_all<U: Router>(case: &Case, torus: Torus) -> Result<(), Fault> {
    let mut net = Network::<U>::new(torus, &case.context(), |_| Pacer::steady());
    net.replies = Some(1);
    let mut rng = case.rng("packets");
    let cells = torus.cells();
    for (n, k) in (0..cells).flat_map(|n| (1..cells).map(move |k| (n, k))) {
        let header = Header::to(torus.cell((n + k) % cells), Class::Request);
        net.send(n, &Packet { header, words: 3 }, &mut rng);
    }
    net.finish(&mut rng)?;
    let expected = (cells * (cells - 1) * (3 + 9)) as u64;
    Check::Left.holds(net.came == expected, || {
        format!("{} words of {expected} came", net.came)
    })
}

#[test]
fn all_ask_all_with_the_least_buffers() {
    for (x, y) in [(4, 4), (8, 8)] {
        let case = Case::new("net", "torus::all_ask_all_with_the_least_buffers", format!("{x} x {y}"));
        case.run(|_| all_to_all::<TorusW64>(&case, Torus::new(x, y)));
    }
}

/// Uniform one-word requests. Half of them cross the middle, for which a torus of k x k has 4k links: 8 / k words a cycle and cell are the most, and one
/// is what a cell's own link carries. Unhindered, a packet takes three cycles a router. Beyond saturation as much comes through, because what is in a ring
/// leaves it before others enter: least is a tenth under what was measured at
/// full offer (0.64, 0.42, 0.19).
#[test]
fn throughput_and_latency_are_what_theory_allows() {
    for (k, cycles, least) in [(4, 3000, 0.6), (8, 2000, 0.38), (16, 1500, 0.175)] {
        let torus = Torus::new(k, k);
        let most = (8.0 / k as f64).min(1.0);
        let hops = 2.0 * (0..k).map(|d| d.min(k - d)).sum::<usize>() as f64 / k as f64;
        let hops = hops * torus.cells() as f64 / (torus.cells() - 1) as f64;
        let runs = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0].map(|load| torus_uniform(torus, load, cycles, 1));
        for run in &runs {
            let (offered, accepted) = (run.network.offered, run.network.accepted);
            println!(
                "{k} x {k}: offered {offered:.3}, accepted {accepted:.3}, {:.1} cycles",
                run.latency
            );
        }
        let low = runs[0];
        let unhindered = 3.0 * (hops + 1.0);
        assert!((low.network.offered - low.network.accepted).abs() < 0.002, "{low:?}");
        assert!(
            (unhindered - 1.0..unhindered + 2.0).contains(&low.latency),
            "{low:?}, not {unhindered}"
        );
        let saturated = runs.iter().map(|run| run.network.accepted).fold(0.0, f64::max);
        let flooded = runs[runs.len() - 1].network.accepted;
        assert!(
            flooded >= least && saturated < most,
            "{flooded} to {saturated}, not {least} to {most}"
        );
    }
}
