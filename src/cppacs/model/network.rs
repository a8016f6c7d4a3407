//! Exchangers, crossbars and links of the model: worm by worm, not word by word.
//!
//! A worm takes an output when its head is there, and holds it until its last word has passed. When that is follows
//! from where its head stands: a worm that fits into the buffer behind an output leaves at one word a cycle; of a
//! longer one that part beyond the buffer waits for the head. So a worm costs a few events a hop, whatever its length.
//! Two channels of a link are as two links: acknowledge words, at most 14 a worm, take nothing from data.

use std::collections::VecDeque;
use std::rc::Rc;

use super::timing;
use crate::cppacs::params::Config;
use crate::harness::agenda::Agenda;
use crate::net::hyper::{Axis, Channel, Grid, Outputs, Place, Port, outputs, turn};

/// What the network tells the NIAs.
#[derive(Clone, Debug)]
pub enum Signal<W> {
    /// The last word of a node's worm has left it.
    Left { node: usize, channel: Channel },
    /// A node's receiver takes the first word of a worm.
    Began { node: usize, channel: Channel, worm: Rc<W> },
    /// It has taken the last one. A broadcast that was too long was cut.
    Ended {
        node: usize,
        channel: Channel,
        worm: Rc<W>,
        is_cut: bool,
    },
}

/// A worm that leaves a node.
#[derive(Debug)]
pub struct Parcel<W> {
    pub f0: u32,
    /// Words on a link.
    pub words: u64,
    /// Cycles that the receiver needs for it, at least as many.
    pub drain: u64,
    pub worm: Rc<W>,
}

impl<W> Clone for Parcel<W> {
    fn clone(&self) -> Parcel<W> {
        Parcel {
            worm: self.worm.clone(),
            ..*self
        }
    }
}

/// An output that a worm holds, and when its last word passes at the earliest.
#[derive(Clone, Copy, Debug)]
struct Held {
    output: usize,
    input: Option<usize>,
    end: u64,
    room: u64,
}

/// A worm at an input.
#[derive(Debug)]
struct Flight<W> {
    parcel: Parcel<W>,
    /// When its head is there, and when its last word is at the earliest.
    ready: u64,
    end: u64,
    /// Since when it goes on from here.
    granted: Option<u64>,
    /// What it holds behind it, its source first.
    held: Vec<Held>,
    is_cut: bool,
}

#[derive(Clone, Debug, Default)]
struct Output {
    owner: Option<usize>,
    /// Its worm's last word passes then, if that is later than was foreseen.
    late: u64,
    waiting: Vec<usize>,
    served: Served,
}

/// Inputs, and when each was served last.
#[derive(Clone, Debug, Default)]
struct Served(Vec<(usize, u64)>);

#[derive(Clone, Debug, Default)]
struct Crossbar {
    asking: Vec<usize>,
    holder: Option<usize>,
    begun: bool,
    /// When it looks for room again.
    looks: u64,
    /// Inputs whose unicasts begin before the next broadcast.
    owed: Vec<usize>,
    served: Served,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    /// A head is at an input.
    Head(usize),
    /// A last word has passed from an input, `None` a node, to an output, `None` nowhere.
    Free(Option<usize>, Option<usize>),
    /// A broadcast has passed a crossbar.
    FreeAll(usize),
    /// A broadcast looks for room.
    Try(usize),
}

/// What an input or output belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Exchanger(Port),
    Crossbar(Axis),
    Receiver,
    Source,
}

pub struct Network<W> {
    grid: Grid,
    nodes: usize,
    room: u64,
    ack_room: u64,
    pu_room: u64,
    now: u64,
    agenda: Agenda<u64, Due>,
    inputs: Vec<VecDeque<Flight<W>>>,
    outputs: Vec<Output>,
    /// By node and axis; only those of position 0 are used.
    crossbars: Vec<Crossbar>,
    signals: VecDeque<(u64, Signal<W>)>,
    /// By node: until when its receiver of the data channel stands still, and what its worm holds until when.
    stands: Vec<u64>,
    receiving: Vec<Vec<(usize, u64)>>,
    /// Cycles that heads waited for outputs, all together.
    pub stalled: u64,
    /// Worms that had no way, by node of the exchanger, and in crossbars.
    pub drained: Vec<u32>,
    pub drained_in_crossbars: u32,
    pub cut: u32,
}

/// When the last word of a worm that is not held up any more passes each output that it holds, the last one first. It
/// waits for room as its first words did.
/// `behind`: when it passes where it is now, if that is known.
fn ends(held: &[Held], behind: u64) -> impl Iterator<Item = (usize, u64)> {
    held.iter().rev().scan(behind, |behind, held| {
        *behind = held.end.max(behind.saturating_sub(held.room));
        Some((held.output, *behind))
    })
}

impl Served {
    /// Takes the least recently served one out of those that wait.
    fn next(&mut self, waiting: &mut Vec<usize>, now: u64) -> usize {
        let last = |input: &usize| self.0.iter().find(|(at, _)| at == input).map(|&(_, when)| when + 1);
        let index = (0..waiting.len())
            .min_by_key(|&at| last(&waiting[at]))
            .expect("one waits");
        let input = waiting.remove(index);
        match self.0.iter_mut().find(|(at, _)| *at == input) {
            Some((_, when)) => *when = now,
            None => self.0.push((input, now)),
        }
        input
    }
}

impl<W> Network<W> {
    pub fn new(config: &Config) -> Network<W> {
        let grid = config.grid();
        let nodes = grid.nodes() as usize;
        Network {
            grid,
            nodes,
            room: config.room.into(),
            ack_room: config.ack_room.into(),
            pu_room: config.pu_room.into(),
            now: 0,
            agenda: Agenda::default(),
            inputs: (0..16 * nodes).map(|_| VecDeque::new()).collect(),
            outputs: vec![Output::default(); 18 * nodes],
            crossbars: vec![Crossbar::default(); 3 * nodes],
            signals: VecDeque::new(),
            stands: vec![0; nodes],
            receiving: vec![Vec::new(); nodes],
            stalled: 0,
            drained: vec![0; nodes],
            drained_in_crossbars: 0,
            cut: 0,
        }
    }

    fn exchanger(&self, node: usize, port: Port, channel: Channel) -> usize {
        node * 8 + port as usize * 2 + channel as usize
    }

    fn crossbar(&self, node: usize, axis: Axis, channel: Channel) -> usize {
        self.nodes * 8 + node * 6 + axis as usize * 2 + channel as usize
    }

    fn receiver(&self, node: usize, channel: Channel) -> usize {
        self.nodes * 14 + node * 2 + channel as usize
    }

    fn source(&self, node: usize, channel: Channel) -> usize {
        self.nodes * 16 + node * 2 + channel as usize
    }

    /// What an input or output is, and of which node.
    fn element(&self, at: usize) -> (Element, usize, Channel) {
        let n = self.nodes;
        let channel = Channel::ALL[at % 2];
        match at {
            _ if at < 8 * n => (Element::Exchanger(Port::ALL[at % 8 / 2]), at / 8, channel),
            _ if at < 14 * n => (
                Element::Crossbar(Axis::ALL[(at - 8 * n) % 6 / 2]),
                (at - 8 * n) / 6,
                channel,
            ),
            _ if at < 16 * n => (Element::Receiver, (at - 14 * n) / 2, channel),
            _ => (Element::Source, (at - 16 * n) / 2, channel),
        }
    }

    /// Words of the buffer behind an output.
    fn room_behind(&self, output: usize) -> u64 {
        let (element, _, channel) = self.element(output);
        match (element, channel) {
            (Element::Crossbar(_), Channel::Data) => self.room,
            (Element::Exchanger(Port::Pu), _) => self.pu_room,
            _ => self.ack_room,
        }
    }

    fn place(&self, node: usize) -> Place {
        self.grid.place(node as u32)
    }

    fn number(&self, place: Place) -> usize {
        self.grid.number(place) as usize
    }

    /// Nodes of the line along an axis that a node is on.
    fn line(&self, node: usize, axis: Axis) -> impl Iterator<Item = usize> + use<W> {
        let (grid, place) = (self.grid, self.place(node));
        (0..grid.along(axis)).map(move |at| grid.number(place.moved(axis, at)) as usize)
    }

    /// A crossbar by the node at its position 0.
    fn crossbar_of(&self, node: usize, axis: Axis) -> usize {
        self.number(self.place(node).moved(axis, 0)) * 3 + axis as usize
    }

    /// When something happens next.
    pub fn next(&self) -> Option<u64> {
        self.signals.front().map(|&(at, _)| at).or_else(|| self.agenda.next())
    }

    /// The next signal up to this cycle.
    pub fn take(&mut self, until: u64) -> Option<(u64, Signal<W>)> {
        loop {
            if let Some(signal) = self.signals.pop_front() {
                return Some(signal);
            }
            let (at, due) = self.agenda.take(until)?;
            self.now = at;
            self.happen(due);
        }
    }

    /// A node sends a worm, from this cycle on, its last word not before `end`. The one before it on this channel has
    /// left.
    pub fn send(&mut self, now: u64, node: usize, channel: Channel, parcel: Parcel<W>, end: u64) {
        self.now = now;
        let output = self.source(node, channel);
        assert!(self.outputs[output].owner.is_none(), "a worm before the last one left");
        self.outputs[output].owner = Some(output);
        let first = Held {
            output,
            input: None,
            end: end.max(now + parcel.words),
            room: self.room_behind(output),
        };
        let input = self.exchanger(node, Port::Pu, channel);
        self.go_on(parcel, vec![first], input, 0, false);
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Head(input) => self.request(input),
            Due::Free(input, output) => self.free(input, output),
            Due::FreeAll(crossbar) => self.free_all(crossbar),
            Due::Try(crossbar) => self.try_begin(crossbar),
        }
    }

    /// The head of a worm that holds these outputs, the last one just granted, goes to the next input.
    fn go_on(&mut self, parcel: Parcel<W>, mut held: Vec<Held>, input: usize, latency: u64, is_cut: bool) {
        let last = *held.last().expect("an output");
        if parcel.words <= last.room {
            self.settle(&mut held, 0);
        }
        let flight = Flight {
            ready: self.now + latency,
            end: last.end + latency,
            granted: None,
            parcel,
            held,
            is_cut,
        };
        self.arrive(input, flight);
    }

    fn arrive(&mut self, input: usize, flight: Flight<W>) {
        let ready = flight.ready;
        self.inputs[input].push_back(flight);
        if self.inputs[input].len() == 1 {
            self.agenda.put(ready, Due::Head(input));
        }
    }

    /// The last word's way is free, up to `behind`: says when it passes each output.
    fn settle(&mut self, held: &mut Vec<Held>, behind: u64) {
        let ends: Vec<(usize, u64)> = ends(held, behind).collect();
        for (held, (output, end)) in held.drain(..).rev().zip(ends) {
            self.agenda.put(end, Due::Free(held.input, Some(output)));
        }
    }

    /// The receiver of a node's data channel stands still until then: its worm, and what it holds, come later.
    pub fn stand(&mut self, now: u64, node: usize, until: u64) {
        let begin = self.stands[node].max(now);
        self.stands[node] = until.max(begin);
        let span = until.saturating_sub(begin);
        for (output, end) in self.receiving[node].iter_mut().filter(|(_, end)| *end > now) {
            *end += span;
            self.outputs[*output].late = *end;
        }
    }

    /// The head of an input's first worm asks for its way.
    fn request(&mut self, input: usize) {
        let (element, node, channel) = self.element(input);
        let f0 = self.inputs[input].front().expect("a worm").parcel.f0;
        match element {
            Element::Exchanger(from) => match turn(self.grid, self.place(node), from, f0) {
                Some(port) => self.join(self.exchanger(node, port, channel), input),
                None => self.drain(input),
            },
            Element::Crossbar(axis) => match outputs(self.grid, axis, f0) {
                Outputs::One(to) => {
                    let there = self.number(self.place(node).moved(axis, to));
                    self.join(self.crossbar(there, axis, channel), input);
                }
                Outputs::All(_) => {
                    let crossbar = self.crossbar_of(node, axis);
                    self.crossbars[crossbar].asking.push(input);
                    self.choose(crossbar);
                }
                Outputs::Drained => self.drain(input),
            },
            Element::Receiver | Element::Source => self.join(input, input),
        }
    }

    fn join(&mut self, output: usize, input: usize) {
        self.outputs[output].waiting.push(input);
        self.serve(output);
    }

    /// Grants a free output to the least recently served input that waits for it.
    fn serve(&mut self, output: usize) {
        let (element, node, channel) = self.element(output);
        if let (Element::Crossbar(axis), Channel::Data) = (element, channel)
            && self.crossbars[self.crossbar_of(node, axis)].holder.is_some()
        {
            return;
        }
        let now = self.now;
        let to = &mut self.outputs[output];
        if to.owner.is_some() || to.waiting.is_empty() {
            return;
        }
        let input = to.served.next(&mut to.waiting, now);
        to.owner = Some(input);
        self.grant(output, input);
    }

    fn grant(&mut self, output: usize, input: usize) {
        let now = self.now;
        let (element, node, channel) = self.element(output);
        let room = self.room_behind(output);
        let flight = self.begin(input);
        let (parcel, mut held, is_cut) = (flight.parcel.clone(), std::mem::take(&mut flight.held), flight.is_cut);
        let (ready, words) = (flight.ready, parcel.words);
        let least = if element == Element::Receiver {
            parcel.drain.max(words)
        } else {
            words
        };
        held.push(Held {
            output,
            input: Some(input),
            end: flight.end.max(now + least),
            room,
        });
        match element {
            Element::Receiver => {
                let worm = parcel.worm;
                if channel == Channel::Data {
                    let last = held.last_mut().expect("the receiver");
                    last.end = last.end.max(self.stands[node].max(now) + least);
                    self.receiving[node] = ends(&held, 0).collect();
                }
                self.settle(&mut held, 0);
                self.signals.push_back((now, Signal::Began { node, channel, worm }));
                return;
            }
            Element::Exchanger(Port::Pu) => {
                self.stalled += now - ready;
                self.go_on(parcel, held, self.receiver(node, channel), self.latency(input), is_cut);
            }
            Element::Exchanger(port) => {
                self.stalled += now - ready;
                let axis = port.axis().expect("an axis");
                self.go_on(
                    parcel,
                    held,
                    self.crossbar(node, axis, channel),
                    self.latency(input),
                    is_cut,
                );
            }
            Element::Crossbar(axis) => {
                self.stalled += now - ready;
                let next = self.exchanger(node, axis.port(), channel);
                self.go_on(parcel, held, next, self.latency(input), is_cut);
                self.pay(self.crossbar_of(node, axis), input);
            }
            Element::Source => unreachable!("a source has no input"),
        }
        self.room_comes(input);
    }

    /// The first worm of an input goes on from now.
    fn begin(&mut self, input: usize) -> &mut Flight<W> {
        let now = self.now;
        let flight = self.inputs[input].front_mut().expect("a worm");
        flight.granted = Some(now);
        flight
    }

    /// Cycles through an exchanger or crossbar, from link to link.
    fn latency(&self, input: usize) -> u64 {
        match self.element(input) {
            (Element::Exchanger(Port::Pu), ..) => timing::EXCHANGER_PU,
            (Element::Exchanger(_), _, Channel::Data) => timing::EXCHANGER,
            (Element::Exchanger(_), _, Channel::Ack) => timing::EXCHANGER_ACK,
            (Element::Crossbar(_), ..) => timing::CROSSBAR,
            (Element::Receiver | Element::Source, ..) => 0,
        }
    }

    /// A worm without a way goes nowhere, a word a cycle.
    fn drain(&mut self, input: usize) {
        let (element, node, _) = self.element(input);
        match element {
            Element::Exchanger(_) => self.drained[node] += 1,
            _ => self.drained_in_crossbars += 1,
        }
        let now = self.now;
        let flight = self.begin(input);
        let end = flight.end.max(now + flight.parcel.words);
        let mut held = std::mem::take(&mut flight.held);
        self.settle(&mut held, end);
        self.agenda.put(end, Due::Free(Some(input), None));
    }

    /// A worm's last word has passed.
    fn free(&mut self, input: Option<usize>, output: Option<usize>) {
        if let Some(output) = output {
            let late = self.outputs[output].late;
            if late > self.now {
                self.agenda.put(late, Due::Free(input, Some(output)));
                return;
            }
            self.outputs[output].owner = None;
            let (element, node, channel) = self.element(output);
            match element {
                Element::Source => self.signals.push_back((self.now, Signal::Left { node, channel })),
                Element::Receiver => {
                    let flight = self.inputs[output].front().expect("a worm");
                    let (worm, is_cut) = (flight.parcel.worm.clone(), flight.is_cut);
                    self.signals.push_back((
                        self.now,
                        Signal::Ended {
                            node,
                            channel,
                            worm,
                            is_cut,
                        },
                    ));
                }
                _ => {}
            }
        }
        if let Some(input) = input {
            self.pop(input);
        }
        if let Some(output) = output {
            let (element, node, channel) = self.element(output);
            match (element, channel) {
                (Element::Source, _) => {}
                (Element::Crossbar(axis), Channel::Data) => {
                    self.try_begin(self.crossbar_of(node, axis));
                    self.serve(output);
                }
                _ => self.serve(output),
            }
        }
    }

    /// The worm behind the first one of an input is at its head now.
    fn pop(&mut self, input: usize) {
        self.inputs[input].pop_front();
        if let Some(next) = self.inputs[input].front() {
            self.agenda.put(next.ready.max(self.now), Due::Head(input));
        }
        self.room_comes(input);
    }

    /// The next broadcast of a crossbar: the least recently served one that asks, when no unicast is owed its turn.
    fn choose(&mut self, crossbar: usize) {
        let now = self.now;
        let state = &mut self.crossbars[crossbar];
        if state.holder.is_none() && state.owed.is_empty() && !state.asking.is_empty() {
            state.holder = Some(state.served.next(&mut state.asking, now));
            self.try_begin(crossbar);
        }
    }

    /// The holder begins when no output has an open worm and each has room for the longest broadcast.
    fn try_begin(&mut self, crossbar: usize) {
        let Crossbar {
            holder: Some(input),
            begun: false,
            ..
        } = self.crossbars[crossbar]
        else {
            return;
        };
        let (node, axis) = (crossbar / 3, Axis::ALL[crossbar % 3]);
        let outputs: Vec<usize> = self
            .line(node, axis)
            .map(|at| self.crossbar(at, axis, Channel::Data))
            .collect();
        if outputs.iter().any(|&output| self.outputs[output].owner.is_some()) {
            return;
        }
        let behind: Vec<usize> = self
            .line(node, axis)
            .map(|at| self.exchanger(at, axis.port(), Channel::Data))
            .collect();
        let lacks = |input: &usize| timing::BROADCAST_WORDS.saturating_sub(self.room - self.held_in(*input));
        let lacking: Vec<(usize, u64)> = behind
            .iter()
            .map(|&input| (input, lacks(&input)))
            .filter(|l| l.1 > 0)
            .collect();
        if let Some(least) = lacking.iter().map(|&(_, words)| words).max() {
            // A buffer that drains frees a word a cycle; of one that stands we hear when it goes on.
            let drains = |&(input, _): &(usize, u64)| self.inputs[input][0].granted.is_some();
            let (at, looks) = (self.now + least, self.crossbars[crossbar].looks);
            if lacking.iter().all(drains) && !(self.now < looks && looks <= at) {
                self.crossbars[crossbar].looks = at;
                self.agenda.put(at, Due::Try(crossbar));
            }
            return;
        }
        self.crossbars[crossbar].begun = true;
        let now = self.now;
        let flight = self.begin(input);
        self.stalled += now - flight.ready;
        self.copy(input, &outputs, &behind, crossbar);
    }

    fn copy(&mut self, input: usize, outputs: &[usize], behind: &[usize], crossbar: usize) {
        let now = self.now;
        let flight = self.inputs[input].front_mut().expect("a worm");
        let words = flight.parcel.words;
        let end = flight.end.max(now + words);
        let mut held = std::mem::take(&mut flight.held);
        let is_cut_here = words > timing::BROADCAST_WORDS;
        let is_cut = flight.is_cut || is_cut_here;
        let parcel = Parcel {
            words: words.min(timing::BROADCAST_WORDS),
            ..flight.parcel.clone()
        };
        self.cut += u32::from(is_cut_here);
        self.settle(&mut held, end);
        for (&output, &input_behind) in outputs.iter().zip(behind) {
            self.outputs[output].owner = Some(input);
            let copy = Flight {
                ready: now + timing::CROSSBAR,
                end: end + timing::CROSSBAR,
                granted: None,
                parcel: parcel.clone(),
                held: Vec::new(),
                is_cut,
            };
            self.arrive(input_behind, copy);
        }
        self.agenda.put(end, Due::FreeAll(crossbar));
    }

    /// Words in the buffer of an input, those on their way to it included.
    fn held_in(&self, input: usize) -> u64 {
        let held = |flight: &Flight<W>| {
            let come = (self.now + timing::CROSSBAR)
                .saturating_sub(flight.ready)
                .min(flight.parcel.words);
            let gone = flight.granted.map_or(0, |at| self.now - at).min(come);
            come - gone
        };
        self.inputs[input].iter().map(held).sum::<u64>().min(self.room)
    }

    /// What an input holds becomes less: its crossbar's broadcast looks again.
    fn room_comes(&mut self, input: usize) {
        let (Element::Exchanger(port), node, Channel::Data) = self.element(input) else {
            return;
        };
        let Some(axis) = port.axis() else { return };
        if self.grid.along(axis) > 1 {
            let crossbar = self.crossbar_of(node, axis);
            if self.crossbars[crossbar].holder.is_some() && !self.crossbars[crossbar].begun {
                self.agenda.put(self.now, Due::Try(crossbar));
            }
        }
    }

    /// A unicast that was owed its turn has begun.
    fn pay(&mut self, crossbar: usize, input: usize) {
        self.crossbars[crossbar].owed.retain(|&owed| owed != input);
        self.choose(crossbar);
    }

    fn free_all(&mut self, crossbar: usize) {
        let (node, axis) = (crossbar / 3, Axis::ALL[crossbar % 3]);
        let outputs: Vec<usize> = self
            .line(node, axis)
            .map(|at| self.crossbar(at, axis, Channel::Data))
            .collect();
        let state = &mut self.crossbars[crossbar];
        let input = state.holder.take().expect("a broadcast");
        state.begun = false;
        state.owed = outputs
            .iter()
            .flat_map(|&output| self.outputs[output].waiting.clone())
            .collect();
        for &output in &outputs {
            self.outputs[output].owner = None;
        }
        self.pop(input);
        for output in outputs {
            self.serve(output);
        }
        self.choose(crossbar);
    }

    /// Worms that have begun and not ended, for a hang report: by node, how many wait at its inputs.
    pub fn waiting(&self, node: usize) -> usize {
        let own = |&at: &usize| self.element(at).1 == node;
        (0..self.inputs.len()).filter(own).map(|at| self.inputs[at].len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::hyper::route;

    fn network(grid: Grid) -> Network<usize> {
        let Grid { x, y, z } = grid;
        Network::new(&Config {
            x,
            y,
            z,
            ..Config::paper()
        })
    }

    /// Sends worms at cycle 0, and gives when each ends: node, worm, first and last cycle.
    fn ended(network: &mut Network<usize>, worms: &[(usize, u32, u64)]) -> Vec<(usize, usize, u64, u64)> {
        for (at, &(node, f0, words)) in worms.iter().enumerate() {
            let parcel = Parcel {
                f0,
                words,
                drain: words,
                worm: Rc::new(at),
            };
            network.send(0, node, Channel::of(f0), parcel, 0);
        }
        let (mut begun, mut all) = (Vec::new(), Vec::new());
        while let Some((at, signal)) = network.take(u64::MAX) {
            match signal {
                Signal::Left { .. } => {}
                Signal::Began { node, .. } => begun.push((node, at)),
                Signal::Ended { node, worm, .. } => {
                    let first = begun.iter().position(|&(begun, _)| begun == node).expect("it began");
                    all.push((node, *worm, begun.remove(first).1, at));
                }
            }
        }
        all
    }

    #[test]
    fn a_path_of_k_crossbars_has_4_and_9_k_cycles() {
        let grid = Grid { x: 2, y: 2, z: 2 };
        for (to, crossbars) in [(0, 0), (1, 1), (3, 2), (7, 3)] {
            let f0 = grid.place(to).word();
            for words in [8, 16_390] {
                let came = ended(&mut network(grid), &[(0, f0, words)]);
                let first = 4 + 9 * crossbars;
                assert_eq!(came, [(to as usize, 0, first, first + words)]);
            }
        }
    }

    #[test]
    fn two_worms_for_one_node_share_its_link() {
        let grid = Grid { x: 4, y: 1, z: 1 };
        let f0 = grid.place(3).word();
        let mut net = network(grid);
        let came = ended(&mut net, &[(0, f0, 1000), (1, f0, 1000)]);
        assert_eq!((came[0].3, came[1].3), (13 + 1000, 13 + 2000));
        assert_eq!(net.stalled, 1000);
    }

    #[test]
    fn a_long_worm_holds_what_is_behind_its_head() {
        // Node 0 sends to 3, which is busy with 2's worm; a long worm of 0 stands as far back as its own link.
        let grid = Grid { x: 2, y: 2, z: 1 };
        let f0 = grid.place(3).word();
        for (words, left) in [(100, 100), (2000, 4000 + 13 + 9 - 16)] {
            let mut net = network(grid);
            let parcel = |worm, words| Parcel {
                f0,
                words,
                drain: words,
                worm: Rc::new(worm),
            };
            net.send(0, 2, Channel::Data, parcel(1, 4000), 0);
            net.send(5, 0, Channel::Data, parcel(0, words), 0);
            let mut at_left = 0;
            while let Some((at, signal)) = net.take(u64::MAX) {
                if matches!(signal, Signal::Left { node: 0, .. }) {
                    at_left = at;
                }
            }
            if words == 100 {
                assert_eq!(at_left, 5 + left);
            } else {
                assert!(at_left > 4000 && at_left < 6100, "{at_left}");
            }
        }
    }

    #[test]
    fn a_receiver_that_stands_holds_up_what_comes() {
        let grid = Grid { x: 2, y: 1, z: 1 };
        let f0 = grid.place(1).word();
        let mut net = network(grid);
        let parcel = |worm| Parcel {
            f0,
            words: 2000,
            drain: 2000,
            worm: Rc::new(worm),
        };
        net.send(0, 0, Channel::Data, parcel(0), 0);
        assert!(net.take(100).is_some_and(|(at, _)| at == 13));
        net.stand(100, 1, 600);
        net.stand(300, 1, 500);
        let (mut left, mut ended) = (0, 0);
        while let Some((at, signal)) = net.take(u64::MAX) {
            match signal {
                Signal::Left { .. } => left = at,
                Signal::Ended { .. } => ended = at,
                Signal::Began { .. } => {}
            }
        }
        assert_eq!((left, ended), (2500, 2513));
    }

    #[test]
    fn a_broadcast_takes_the_time_of_one_to_one() {
        let grid = Grid { x: 4, y: 4, z: 8 };
        for words in [8, 254] {
            let f0 = 7 << route::MASK;
            let mut net = network(grid);
            let came = ended(&mut net, &[(5, f0, words)]);
            assert_eq!(came.len(), 128);
            assert!(
                came.iter()
                    .all(|&(_, _, first, last)| (first, last) == (31, 31 + words))
            );
        }
    }

    #[test]
    fn broadcasts_from_all_end_once_everywhere() {
        let grid = Grid { x: 3, y: 3, z: 2 };
        let nodes = grid.nodes() as usize;
        for mask in 1..8 {
            let worms: Vec<_> = (0..nodes)
                .map(|node| (node, grid.place(node as u32).word() | mask << route::MASK, 254))
                .collect();
            let mut net = network(grid);
            let came = ended(&mut net, &worms);
            let copies: usize = Axis::ALL
                .iter()
                .filter(|&&axis| mask >> axis as u32 & 1 != 0)
                .map(|&axis| grid.along(axis) as usize)
                .product();
            assert_eq!(came.len(), nodes * copies);
            let mut pairs: Vec<_> = came.iter().map(|&(node, worm, ..)| (node, worm)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), nodes * copies);
        }
    }

    #[test]
    fn a_unicast_gets_its_turn_between_broadcasts() {
        let grid = Grid { x: 4, y: 1, z: 1 };
        let all = 1 << route::MASK;
        let worms = [(0, all, 254), (1, all, 254), (2, grid.place(3).word(), 300)];
        let came = ended(&mut network(grid), &worms);
        let at = |worm| {
            came.iter()
                .find(|&&(node, w, ..)| (node, w) == (3, worm))
                .expect("it came")
                .3
        };
        assert!(at(0) < at(2) && at(2) < at(1), "{came:?}");
    }

    #[test]
    fn what_has_no_way_is_drained() {
        let grid = Grid { x: 2, y: 2, z: 1 };
        let mut net = network(grid);
        let ack = 1 << route::CHANNEL | 1 << route::MASK;
        assert_eq!(ended(&mut net, &[(0, 5, 8), (1, ack, 8)]), []);
        assert_eq!((net.drained_in_crossbars, net.drained[1]), (1, 1));
        let long = ended(&mut network(grid), &[(0, 1 << route::MASK, 300)]);
        assert_eq!(long.len(), 2);
    }

    #[test]
    fn shifts_and_neighbours_have_no_conflicts() {
        let grid = Grid { x: 4, y: 4, z: 8 };
        let nodes = grid.nodes();
        for shift in [1, 5, 16, 77, 127] {
            let to = |node| grid.place((node + shift) % nodes).word();
            let worms: Vec<_> = (0..nodes).map(|node| (node as usize, to(node), 2000)).collect();
            let mut net = network(grid);
            assert_eq!(ended(&mut net, &worms).len(), 128);
            assert_eq!(net.stalled, 0, "shift {shift}");
        }
    }
}
