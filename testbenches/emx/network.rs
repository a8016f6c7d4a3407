//! `emx_network`: what one PE sent to another arrives there whole and in order, and no packets wait for each other.

use std::collections::BTreeMap;

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::emx::golden::route::{Place, Shape};
use tsunagi::emx::golden::sequence::{OrderError, Sequence};
use tsunagi::emx::packet::{ADDR_MASK, Kind, Packet};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::net::dependencies::Dependencies;
use verilated::{Input as _, Port as _};

use crate::rig::Feed;
use crate::route::{Router, paths, router, word};
use crate::switch::{Hop, Switch, emx_switch, hop};

rules!(
    /// What arrives was sent there.
    Arrives
    /// Packets of a pair do not overtake each other.
    Order
    /// Word 1 of a packet follows its word 0.
    Whole
    /// A packet arrives only where there is room.
    Room
    /// A packet for a receiver that does not exist is refused at its sender.
    Nowhere
    /// All that is sent arrives, if receivers have room.
    Hang
    /// A packet alone takes a cycle for each hop, and two.
    Latency
    /// No packets wait for each other in a circle.
    Circle
    /// An edge that may be left out changes nothing.
    Gating
);

#[derive(Clone, Default)]
struct In {
    /// By PE, and whether it is the last one.
    words: Vec<Option<(u64, bool)>>,
    rooms: Vec<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Out {
    rooms: Vec<bool>,
    words: Vec<Option<(u64, bool)>>,
    nowhere: Vec<Option<Packet>>,
    /// Packets that the switches drained.
    drained: u64,
}

/// A unit under test.
struct Network {
    dut: Dut<In, Out>,
    shape: Shape,
}

fn network<U: EmxNetworkUnit + 'static>() -> Network {
    fn set(dut: &impl EmxNetworkPorts, inputs: &In) {
        for (pe, word) in inputs.words.iter().enumerate() {
            let (data, last) = word.unwrap_or((0x3f_dead_beef, false));
            dut.in_valid_i().set_bits(pe, 1, word.is_some().into());
            dut.in_data_i().set_bits(39 * pe, 39, data);
            dut.in_last_i().set_bits(pe, 1, last.into());
            dut.out_room_i().set_bits(pe, 1, inputs.rooms[pe].into());
        }
    }
    fn seen<U: EmxNetworkUnit>(dut: &U::Ports) -> Out {
        let pes = || 0..Shape::new(U::ROW_BITS as u32).pes() as usize;
        let word = |pe| (dut.out_data_o().get_bits(39 * pe, 39), dut.out_last_o().bit(pe));
        let refused = |pe| {
            let word = |half: usize| dut.nowhere_packet_o().get_bits(78 * pe + 39 * half, 39);
            Packet::of([word(1), word(0)])
        };
        Out {
            rooms: pes().map(|pe| dut.in_room_o().bit(pe)).collect(),
            words: pes().map(|pe| dut.out_valid_o().bit(pe).then(|| word(pe))).collect(),
            nowhere: pes().map(|pe| dut.nowhere_o().bit(pe).then(|| refused(pe))).collect(),
            drained: pes().map(|pe| dut.drained_o().get_bits(16 * pe, 16)).sum(),
        }
    }
    Network {
        dut: Dut::of::<U>(set, seen::<U>),
        shape: Shape::new(U::ROW_BITS as u32),
    }
}

/// Whom packets go to.
#[derive(Clone, Copy, Debug)]
enum Traffic {
    /// Anyone; some to nobody.
    Any,
    /// The PE before on the loop: the longest way.
    Before,
    /// One for all, for some time.
    One,
}

impl Traffic {
    const ALL: [Traffic; 3] = [Traffic::Any, Traffic::Before, Traffic::One];

    fn to(self, rng: &mut Rng, pes: u32, from: u32, serial: u32) -> u32 {
        match self {
            Traffic::Any if rng.chance(1, 16) => pes + rng.below(1024 - u64::from(pes)) as u32,
            Traffic::Any => rng.below(pes.into()) as u32,
            Traffic::Before => from / 5 * 5 + (from + 4) % 5,
            Traffic::One => serial / 512 % pes,
        }
    }
}

/// The model: what is under way, and what has come of a packet.
struct Model {
    order: Sequence,
    pes: u32,
    /// Packets so far, of which each has the number of its own.
    serial: u32,
    came: Vec<Option<u64>>,
    nowhere: Vec<Option<Packet>>,
    /// Receivers that had room in the cycle before.
    rooms: Vec<bool>,
    arrived: u32,
}

impl Model {
    fn new(pes: u32) -> Model {
        Model {
            order: Sequence::default(),
            pes,
            serial: 0,
            came: vec![None; pes as usize],
            nowhere: vec![None; pes as usize],
            rooms: vec![false; pes as usize],
            arrived: 0,
        }
    }

    /// Its sender stands in TAG, its number in both words.
    fn packet(&mut self, rng: &mut Rng, from: u32, to: u32) -> Packet {
        self.serial += 1;
        let packet = Packet {
            kind: Kind(rng.below(1 << 6) as u8),
            pe: to as u16,
            addr: self.serial & ADDR_MASK,
            tag: from as u8,
            data: self.serial | (rng.below(1 << 10) as u32) << 22,
        };
        if to < self.pes {
            self.order.sent(from, packet);
        }
        packet
    }

    fn step(&mut self, inputs: &In, feeds: &[Feed<Packet>], seen: &Out) -> Result<(), Fault> {
        for (pe, came) in seen.words.iter().enumerate() {
            match (self.came[pe].take(), *came) {
                (None, None) => {}
                (None, Some((word, false))) => {
                    Rule::Room.holds(self.rooms[pe], || format!("PE {pe} has no room"))?;
                    self.came[pe] = Some(word);
                }
                (Some(first), Some((second, true))) => self.arrives(pe, Packet::of([first, second]))?,
                other => return Err(Rule::Whole.broken(format!("PE {pe}: {other:x?}"))),
            }
            let refused = feeds[pe].second().filter(|packet| u32::from(packet.pe) >= self.pes);
            let before = std::mem::replace(&mut self.nowhere[pe], refused);
            Rule::Nowhere.same(format!("refused of PE {pe}"), before, seen.nowhere[pe])?;
        }
        Rule::Hang.same("packets drained", 0, seen.drained)?;
        self.rooms.clone_from(&inputs.rooms);
        Ok(())
    }

    fn arrives(&mut self, pe: usize, packet: Packet) -> Result<(), Fault> {
        Rule::Whole.same("both numbers", packet.addr, packet.data & ADDR_MASK)?;
        Rule::Arrives.same("path left", 1, packet.pe)?;
        let packet = Packet {
            pe: pe as u16,
            ..packet
        };
        self.arrived += 1;
        self.order.handled(packet.tag.into(), packet).map_err(|error| {
            let rule = match error {
                OrderError::Unsent { .. } => Rule::Arrives,
                OrderError::Overtook { .. } => Rule::Order,
            };
            rule.broken(error.to_string())
        })
    }
}

fn exercise(run: &Run, network: &Network, traffic: Traffic, gaps: Gaps, resets: bool) -> Result<(), Fault> {
    let pes = network.shape.pes();
    let mut rng = run.rng("packets");
    let mut bench = Pair::new(run, &network.dut);
    let mut model = Model::new(pes);
    let mut feeds = vec![Feed::default(); pes as usize];
    let pacers =
        |pauses, name: &str| -> Vec<Pacer> { (0..pes).map(|pe| run.pacer(pauses, &format!("{name} {pe}"))).collect() };
    let mut sources = pacers(gaps.at_source(), "source");
    let mut sinks = pacers(gaps.at_sink(), "sink");
    let (sending, mut quiet) = (1200, 0);
    for cycle in 0.. {
        let ends = cycle >= sending;
        let inputs = In {
            words: feeds.iter().map(|feed| feed.now().map(word)).collect(),
            rooms: sinks.iter_mut().map(|sink| sink.step() || ends).collect(),
        };
        if cycle < 2 || resets && rng.chance(1, 300) {
            bench.reset(&inputs);
            model = Model::new(pes);
            feeds.fill(Feed::default());
            continue;
        }
        let asks = inputs.words.iter().any(Option::is_some);
        let seen = bench.step(&inputs, asks).map_err(|fault| fault.at(cycle))?;
        model.step(&inputs, &feeds, &seen).map_err(|fault| fault.at(cycle))?;
        // Word 0 stands in a cycle with room: the register behind the ports is that of the link.
        let rooms = bench.seen().rooms;
        for (from, feed) in feeds.iter_mut().enumerate() {
            let goes = sources[from].step() && rooms[from] && !ends;
            feed.step(|| {
                let to = traffic.to(&mut rng, pes, from as u32, model.serial);
                goes.then(|| model.packet(&mut rng, from as u32, to))
            });
        }
        // Who has come in has gone when nothing moves any more.
        quiet = if seen.words.iter().any(Option::is_some) {
            0
        } else {
            quiet + 1
        };
        if ends && quiet > 40 {
            break;
        }
    }
    let left = model.order.under_way();
    Rule::Hang.holds(left == 0, || format!("{left} packets never arrive"))?;
    assert!(!bench.is_busy(), "it never comes to rest");
    assert!(model.arrived > 100 || resets, "only {} packets", model.arrived);
    Ok(())
}

/// One packet after the other, from each PE to each.
fn latency(run: &Run, network: &Network) -> Result<(), Fault> {
    let shape = network.shape;
    let pes = shape.pes();
    let mut bench = Bench::new(run, &network.dut);
    let mut inputs = In {
        words: vec![None; pes as usize],
        rooms: vec![true; pes as usize],
    };
    (0..2).try_for_each(|_| bench.reset(&inputs).map(drop))?;
    for (from, to) in (0..pes).flat_map(|from| (0..pes).map(move |to| (from, to))) {
        let packet = Packet {
            pe: to as u16,
            ..Packet::default()
        };
        let hops = shape.route(from, to).map_or(0, |path| path.hops());
        let mut came = None;
        for cycle in 0..hops + 5 {
            let now = [Some((packet, false)), Some((packet, true))]
                .get(cycle as usize)
                .copied()
                .flatten();
            inputs.words[from as usize] = now.map(word);
            let seen = bench.step(&inputs)?;
            let first = seen.words[to as usize].filter(|(_, last)| !last);
            came = came.or(first.map(|_| cycle));
        }
        Rule::Latency.same(format!("cycles from {from} to {to}"), Some(hops + 2), came)?;
    }
    Ok(())
}

/// The channels in which packets of the shipped paths wait for each other, as the RTL of path and switch has them.
fn circle(run: &Run, router: &Router, switch: &Switch) -> Result<(), Fault> {
    let shape = router.shape;
    let mut hops: BTreeMap<(u32, Hop), Hop> = BTreeMap::new();
    let mut all = Dependencies::default();
    let place = |pe| shape.place(pe).expect("it is one of them");
    for from in 0..shape.pes() {
        for (to, path) in (0..).zip(paths(run, router, from)?) {
            let mut at: Place = place(from);
            let mut before = None;
            let mut now = Hop::injected(path);
            loop {
                let next = match hops.get(&(at.column, now)) {
                    Some(next) => *next,
                    None => hop(run, switch, at.column, now)?,
                };
                hops.insert((at.column, now), next);
                if next.is_ejected() {
                    break;
                }
                let channel = (next.channel, at.column, at.row, next.port);
                if let Some(before) = before.replace(channel) {
                    all.wait(before, channel);
                }
                let (to, port) = shape.link(at, next.port as u32);
                at = to;
                now = Hop {
                    port: port as usize,
                    ..next
                };
            }
            Rule::Arrives.same(format!("path from {from} to {to}"), place(to), at)?;
        }
    }
    assert!(!all.is_empty(), "no packet waits for another");
    let acyclic = all.acyclic();
    Rule::Circle.holds(acyclic.is_ok(), || format!("{acyclic:?}"))
}

fn circles(router: &Router, switch: &Switch, cases: &mut Cases) {
    let params = format!("{} {}", router.dut.name, switch.dut.name);
    cases.case(Start::Zero, params, |run| circle(run, router, switch));
}

fn checks(network: &Network, cases: &mut Cases) {
    let name = network.dut.name;
    for traffic in Traffic::ALL {
        for gaps in Gaps::ALL {
            let resets = gaps == Gaps::Both;
            let params = format!("{name} {traffic:?} {gaps:?}");
            cases.case(Start::Random1, &params, |run| {
                exercise(run, network, traffic, gaps, false)
            });
            if resets {
                cases.case(Start::Zero, format!("{params} resets"), |run| {
                    exercise(run, network, traffic, gaps, true)
                });
            }
        }
    }
    cases.case(Start::Random1, format!("{name} latency"), |run| latency(run, network));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&network::<EmxNetwork5>(), cases);
        checks(&network::<EmxNetwork20>(), cases);
        checks(&network::<EmxNetwork20Deep>(), cases);
    });
}

#[test]
fn no_packets_wait_in_a_circle() {
    pass(this_test!(), |cases| {
        let switch = emx_switch::<EmxSwitch2>();
        circles(&router::<EmxRoute5>(), &switch, cases);
        circles(&router::<EmxRoute20>(), &switch, cases);
        circles(&router::<EmxRoute80>(), &switch, cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let one = || emx_switch::<TwinSwitchChannel>();
    each_is_caught(
        this_test!(),
        &[
            // Link 1 leads where link 0 leads.
            (Arrives, &[Order, Whole, Hang, Latency], &|cases| {
                checks(&network::<TwinNetworkLink>(), cases)
            }),
            // The second packet of a place goes first, and twice.
            (Order, &[Arrives, Whole, Hang, Latency], &|cases| {
                checks(&network::<TwinNetworkOvertakes>(), cases)
            }),
            // Word 1 is that of another packet.
            (Whole, &[Gating], &|cases| checks(&network::<TwinNetworkWord>(), cases)),
            // The PE is sent to without room.
            (Room, &[], &|cases| checks(&network::<TwinNetworkRoom>(), cases)),
            (Nowhere, &[Hang], &|cases| {
                checks(&network::<TwinNetworkNobody>(), cases)
            }),
            // All channels are one.
            (Hang, &[], &|cases| checks(&network::<TwinNetworkOne>(), cases)),
            (Latency, &[], &|cases| checks(&network::<TwinNetworkLate>(), cases)),
            (Gating, &[], &|cases| checks(&network::<TwinNetworkRest>(), cases)),
            (Circle, &[], &|cases| circles(&router::<EmxRoute5>(), &one(), cases)),
            (Circle, &[], &|cases| circles(&router::<EmxRoute20>(), &one(), cases)),
            (Circle, &[], &|cases| circles(&router::<EmxRoute80>(), &one(), cases)),
        ],
    );
}
