//! Networks composed of exchangers and crossbars: worms and broadcasts arrive, and none wait for each other.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Fault, Instance, Rule as _, Run, Start, pass};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::net::hyper::{Axis, Grid, Place, path};
use tsunagi::net::switch::{GoldenSwitch, hyper_input};
use verilated::Context;

use super::{In, Links, Out, Rule, Switch, Word, crossbar, exchanger, f0, fault};

/// One switch, and what its links carry to it at the next edge.
struct Unit {
    instance: Box<dyn Instance<In, Out>>,
    grid: Grid,
    at: Place,
    links: Links,
}

impl Unit {
    fn new(context: &Context, switch: &Switch, grid: Grid, at: Place, name: &str) -> Unit {
        Unit {
            instance: switch.dut.named(context, name),
            grid,
            at,
            links: Links::quiet(switch.ports),
        }
    }

    fn edge(&self, reset: bool) {
        let Unit {
            grid, at, ref links, ..
        } = *self;
        let unit = self.instance.verilated();
        let port = unit.ports().iter().find(|port| port.name == "rst_i").expect("a reset");
        unit.set_flag(port, reset);
        self.instance.set(&In {
            grid,
            at,
            links: links.clone(),
        });
        unit.junk();
        unit.fall(!0);
        unit.rise(!0);
    }
}

/// The switches of a network: exchangers by the numbers of their nodes, crossbars by axis and line.
struct Network {
    exchangers: Vec<Unit>,
    crossbars: Vec<Unit>,
    /// The crossbar's number and position, of each node and axis with more than one node.
    lines: Vec<[Option<(usize, usize)>; 3]>,
}

impl Network {
    fn new(run: &Run, grid: Grid, node: &Switch, lines: &[&Switch; 3]) -> Network {
        let context = run.context();
        let mut network = Network {
            exchangers: Vec::new(),
            crossbars: Vec::new(),
            lines: vec![[None; 3]; grid.nodes() as usize],
        };
        for (number, at) in grid.places().enumerate() {
            network
                .exchangers
                .push(Unit::new(&context, node, grid, at, &format!("exchanger_{number}")));
            for axis in Axis::ALL.into_iter().filter(|&axis| grid.along(axis) > 1) {
                let first = grid.number(at.moved(axis, 0)) as usize;
                let line = match network.lines[first][axis as usize] {
                    Some((line, _)) => line,
                    None => {
                        let (switch, line) = (lines[axis as usize], network.crossbars.len());
                        let name = format!("crossbar_{line}");
                        network.crossbars.push(Unit::new(&context, switch, grid, at, &name));
                        line
                    }
                };
                network.lines[number][axis as usize] = Some((line, at.along(axis) as usize));
            }
        }
        (0..2).for_each(|_| network.edges(true));
        network
    }

    fn edges(&self, reset: bool) {
        for unit in self.exchangers.iter().chain(&self.crossbars) {
            unit.edge(reset);
        }
    }

    /// What each node's PU sees, and what the switches drained.
    fn seen(&self) -> (Vec<(Option<Word>, u64)>, u64) {
        let nodes: Vec<Out> = self.exchangers.iter().map(|unit| unit.instance.seen()).collect();
        let lines = self.crossbars.iter().map(|unit| unit.instance.seen().drained);
        let drained = lines.chain(nodes.iter().map(|node| node.drained)).sum();
        let pu = |node: &Out| (node.links.words[0], node.links.credits[0]);
        (nodes.iter().map(pu).collect(), drained)
    }

    /// A cycle: what each PU sends, and the credits that it gives back.
    fn step(&mut self, pus: &[(Option<Word>, u64)]) {
        let outs = |units: &[Unit]| units.iter().map(|unit| unit.instance.seen().links).collect();
        let (nodes, lines): (Vec<Links>, Vec<Links>) = (outs(&self.exchangers), outs(&self.crossbars));
        for (number, pu) in pus.iter().enumerate() {
            let unit = &mut self.exchangers[number];
            (unit.links.words[0], unit.links.credits[0]) = *pu;
            for (axis, line) in self.lines[number].iter().enumerate() {
                let Some((line, position)) = *line else { continue };
                unit.links.words[axis + 1] = lines[line].words[position];
                unit.links.credits[axis + 1] = lines[line].credits[position];
                let crossbar = &mut self.crossbars[line].links;
                crossbar.words[position] = nodes[number].words[axis + 1];
                crossbar.credits[position] = nodes[number].credits[axis + 1];
            }
        }
        self.edges(false);
    }
}

/// What nodes send.
#[derive(Clone, Copy, Debug)]
struct Traffic {
    worms: usize,
    /// One of so many worms is a broadcast.
    casts: u64,
    gaps: Gaps,
}

/// Most words of a broadcast: a buffer of 16 has room for it.
const CAST: u64 = 12;

/// The worms of a channel of a node. Each first word has the sender in its upper bits.
fn worms(grid: Grid, node: usize, channel: usize, traffic: Traffic, rng: &mut Rng) -> VecDeque<Word> {
    let mut words = VecDeque::new();
    for _ in 0..traffic.worms {
        let is_cast = channel == 0 && rng.chance(1, traffic.casts);
        let mask = if is_cast { rng.between(1, 7) as u32 } else { 0 };
        let to = grid.place(rng.below(grid.nodes().into()) as u32);
        let longest = if is_cast { CAST } else { 30 };
        let length = rng.between(1, longest);
        for left in (0..length).rev() {
            let first = f0(to, mask, channel) | (node as u32) << 20;
            let data = if left + 1 == length { first } else { rng.bits() as u32 };
            let (last, source) = (left == 0, 0);
            words.push_back(Word {
                channel,
                data,
                last,
                source,
            });
        }
    }
    words
}

/// The PUs, and the golden network.
struct Pus {
    golden: GoldenSwitch,
    rng: Rng,
    sources: Vec<Pacer>,
    sinks: Vec<Pacer>,
    /// By node and channel: words to send; credits for them; the golden input of the worm that is sent.
    queues: Vec<[VecDeque<Word>; 2]>,
    credits: Vec<[usize; 2]>,
    inputs: Vec<[Option<usize>; 2]>,
    /// Words that wait at the PU, and the golden input of the worm that arrives.
    waiting: Vec<[usize; 2]>,
    sources_of: Vec<[Option<usize>; 2]>,
}

impl Pus {
    fn new(run: &Run, grid: Grid, traffic: Traffic) -> Pus {
        let nodes = grid.nodes() as usize;
        let pacers = |pauses, name: &str| -> Vec<Pacer> {
            (0..nodes)
                .map(|node| run.pacer(pauses, &format!("{name} {node}")))
                .collect()
        };
        let queue = |node, channel| {
            let mut rng = run.rng(&format!("worms {node} {channel}"));
            worms(grid, node, channel, traffic, &mut rng)
        };
        Pus {
            golden: GoldenSwitch::hyper(grid),
            rng: run.rng("channels"),
            sources: pacers(traffic.gaps.at_source(), "source"),
            sinks: pacers(traffic.gaps.at_sink(), "sink"),
            queues: (0..nodes)
                .map(|node| [0, 1].map(|channel| queue(node, channel)))
                .collect(),
            credits: vec![[16; 2]; nodes],
            inputs: vec![[None; 2]; nodes],
            waiting: vec![[0; 2]; nodes],
            sources_of: vec![[None; 2]; nodes],
        }
    }

    fn step(&mut self, seen: &[(Option<Word>, u64)]) -> Result<Vec<(Option<Word>, u64)>, Fault> {
        let mut sent = Vec::new();
        for (node, (word, credits)) in seen.iter().enumerate() {
            for channel in 0..2 {
                self.credits[node][channel] += (credits >> channel & 1) as usize;
            }
            if let Some(word) = word {
                self.arrives(node, word)?;
            }
            let mut back = 0;
            for channel in 0..2 {
                if self.waiting[node][channel] > 0 && self.sinks[node].step() {
                    self.waiting[node][channel] -= 1;
                    back |= 1 << channel;
                }
            }
            sent.push((self.send(node), back));
        }
        Ok(sent)
    }

    fn arrives(&mut self, node: usize, word: &Word) -> Result<(), Fault> {
        self.waiting[node][word.channel] += 1;
        let source = &mut self.sources_of[node][word.channel];
        let from = *source.get_or_insert_with(|| hyper_input((word.data >> 20) as usize, word.data));
        if word.last {
            *source = None;
        }
        let output = hyper_input(node, (word.channel as u32) << tsunagi::net::hyper::route::CHANNEL);
        let sent = self.golden.sent(output, from, word.data.into(), word.last);
        sent.map_err(fault)
    }

    fn send(&mut self, node: usize) -> Option<Word> {
        let can = |&channel: &usize| self.credits[node][channel] > 0 && !self.queues[node][channel].is_empty();
        let can: Vec<usize> = (0..2).filter(can).collect();
        if can.is_empty() || !self.sources[node].step() {
            return None;
        }
        let channel = can[self.rng.below(can.len() as u64) as usize];
        let word = self.queues[node][channel].pop_front().expect("the channel has a word");
        self.credits[node][channel] -= 1;
        let input = &mut self.inputs[node][channel];
        let from = *input.get_or_insert_with(|| hyper_input(node, word.data));
        if word.last {
            *input = None;
        }
        self.golden.took(from, word.data.into(), word.last);
        Some(word)
    }

    fn left(&self) -> usize {
        self.queues.iter().flatten().map(VecDeque::len).sum()
    }
}

/// Random worms between all nodes.
fn carries(node: &Switch, lines: &[&Switch; 3], grid: Grid, traffic: Traffic, cases: &mut Cases) {
    let params = format!("{} {grid:?} {traffic:?}", lines[1].dut.name);
    cases.case(Start::Random1, params, |run| {
        let mut network = Network::new(run, grid, node, lines);
        let mut pus = Pus::new(run, grid, traffic);
        let limit = 4000 + 40 * pus.left() as u64 / u64::from(grid.nodes());
        for cycle in 0..limit {
            let (seen, drained) = network.seen();
            let sent = pus.step(&seen).map_err(|fault| fault.at(cycle))?;
            network.step(&sent);
            if pus.left() == 0 && pus.golden.finish(drained).is_ok() {
                return Ok(());
            }
        }
        let (left, inside) = (pus.left(), pus.golden.finish(0));
        Err(Rule::Hang.broken(format!("after {limit} cycles {left} words are not taken, {inside:?}")))
    });
}

const SMALL: Grid = Grid { x: 2, y: 2, z: 2 };

/// Broadcasts and worms meet.
fn traffics() -> impl Iterator<Item = Traffic> {
    Gaps::ALL.into_iter().map(|gaps| Traffic {
        worms: 40,
        casts: 2,
        gaps,
    })
}

/// The same, with another crossbar along Y.
pub fn meets<Y: HxbCrossbarUnit + 'static>(cases: &mut Cases) {
    let node = exchanger::<HxbExchangerSmall>();
    let (x, y, z) = (
        crossbar::<HxbCrossbarX2Small>(),
        crossbar::<Y>(),
        crossbar::<HxbCrossbarZ2Small>(),
    );
    for traffic in traffics() {
        carries(&node, &[&x, &y, &z], SMALL, traffic, cases);
    }
}

/// Each node streams to the node so many numbers further: no word waits anywhere.
fn shifts(cases: &mut Cases) {
    let node = exchanger::<HxbExchangerSmall>();
    let (x, y, z) = (
        crossbar::<HxbCrossbarX2Small>(),
        crossbar::<HxbCrossbarY2Small>(),
        crossbar::<HxbCrossbarZ2Small>(),
    );
    for by in 1..SMALL.nodes() {
        cases.case(Start::Zero, format!("shift {by}"), |run| {
            let mut network = Network::new(run, SMALL, &node, &[&x, &y, &z]);
            let to = |from: u32| SMALL.place((from + by) % SMALL.nodes());
            let crossed = |from: u32| path(SMALL, SMALL.place(from), to(from)).len() as u64 - 1;
            let mut back = vec![0; SMALL.nodes() as usize];
            for cycle in 0..200 {
                let (seen, _) = network.seen();
                for (number, (word, _)) in seen.iter().enumerate() {
                    let from = (number as u32 + SMALL.nodes() - by) % SMALL.nodes();
                    // 4 cycles in the first exchanger, 8 for each crossbar and the next exchanger.
                    let due = cycle >= 4 + 8 * crossed(from);
                    Rule::Rate.holds(word.is_some() == due, || {
                        format!("cycle {cycle}, node {number}: {word:x?}, due: {due}")
                    })?;
                }
                let send = |number: usize| {
                    let first = cycle % 10 == 0;
                    let data = if first {
                        f0(to(number as u32), 0, 0)
                    } else {
                        cycle as u32
                    };
                    Word {
                        channel: 0,
                        data,
                        last: cycle % 10 == 9,
                        source: 0,
                    }
                };
                let sent: Vec<_> = (0..back.len())
                    .map(|number| (Some(send(number)), back[number]))
                    .collect();
                network.step(&sent);
                back = seen.iter().map(|(word, _)| u64::from(word.is_some())).collect();
            }
            Ok(())
        });
    }
}

#[test]
fn all_arrive() {
    pass(this_test!(), |cases| {
        meets::<HxbCrossbarY2Small>(cases);
        let node = exchanger::<HxbExchangerSmall>();
        let (x, y, z) = (
            crossbar::<HxbCrossbarX2Small>(),
            crossbar::<HxbCrossbarY2Small>(),
            crossbar::<HxbCrossbarZ3Small>(),
        );
        let grid = Grid { x: 2, y: 1, z: 3 };
        traffics().for_each(|traffic| carries(&node, &[&x, &y, &z], grid, traffic, cases));
    });
}

#[test]
fn shifts_meet_no_one() {
    pass(this_test!(), shifts);
}
