//! The timed golden machine: PEs and the network between them, cycle by cycle, on the golden models of the blocks.
//!
//! Times are those in the headers of the RTL: a hop takes a cycle and a packet two cycles of a link; a thread begins
//! four cycles after its packet in an empty PE. Which of two packets goes first, and when a place is free, is that of the
//! hardware, too: where queues are full, single cycles decide how far they back up.

mod input;
mod pe;

use std::collections::{BTreeMap, VecDeque};

use super::backend::{Backend, Counts, Executed, RunError, Seen, Told, Trouble, Waiting};
use super::golden::route::{Path, Place, Shape, channel_beyond};
use super::golden::sequence::Sequence;
use super::packet::Packet;
use super::params::Config;
use super::regs::{SIZE_CHANNELS, SIZE_FRAME};
use crate::harness::backend::Doing;

use pe::Pe;

const CHANNELS: usize = SIZE_CHANNELS as usize;
/// Ports of a switch: two links and the PE.
const PORTS: usize = 3;
const OWN: usize = 2;
/// Cycles that a packet takes a link.
const PACKET: u64 = 2;

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
struct Flit {
    packet: Packet,
    path: Path,
    from: u32,
    /// From when on it may go on.
    ready: u64,
}

/// A switch: its buffers, and until when its ports are taken.
#[derive(Clone, Debug, Default)]
struct Switch {
    held: [[VecDeque<Flit>; CHANNELS]; PORTS],
    count: usize,
    inputs: [u64; PORTS],
    outputs: [u64; PORTS],
    /// When an output last served an input.
    served: [[u64; PORTS]; PORTS],
    /// When an input last served a channel.
    turns: [[u64; CHANNELS]; PORTS],
}

/// Where a packet goes on.
#[derive(Clone, Copy, Debug)]
struct Move {
    channel: usize,
    output: usize,
    beyond: usize,
    rest: Path,
}

/// What an input has for the outputs.
#[derive(Clone, Copy, Debug, Default)]
struct Offer {
    /// Outputs for which it stands.
    outputs: [bool; PORTS],
    /// None: word 1 of another packet leaves it first.
    goes: Option<Move>,
}

/// Trouble of a PE begins, or ends.
type Change = (u64, usize, Trouble, bool);

/// The machine.
pub struct Machine {
    shape: Shape,
    pes: Vec<Pe>,
    switches: Vec<Switch>,
    /// By PE and output: the PE beyond, and its input.
    links: Vec<[(usize, usize); 2]>,
    order: Sequence,
    now: u64,
    /// Packets that a switch holds for each input and channel.
    places: usize,
    /// Cycles from one look at the PEs to the next, if they are looked at.
    every: Option<u64>,
    seen: Vec<Vec<Seen>>,
    /// The counts at the last look.
    before: Vec<Counts>,
    /// Trouble of the next run, by cycle; and what is to come.
    planned: Vec<(u64, usize, Trouble)>,
    changes: Vec<Change>,
    /// By PE: troubles that hold its links, and that stop its threads.
    held: Vec<u32>,
    stopped: Vec<u32>,
}

impl Machine {
    /// PEs at rest, with empty memories.
    ///
    /// # Panics
    /// `row_bits` is none of 0, 2 and 4.
    pub fn new(config: &Config) -> Machine {
        let shape = Shape::new(config.row_bits);
        let numbers = 0..shape.pes();
        let place = |pe| shape.place(pe).expect("it is there");
        let number = |at: Place| {
            numbers
                .clone()
                .position(|pe| place(pe) == at)
                .expect("each place has a PE")
        };
        let link = |pe, output| {
            let (to, input) = shape.link(place(pe), output);
            (number(to), input as usize)
        };
        Machine {
            shape,
            pes: numbers.clone().map(|pe| Pe::new(config, pe)).collect(),
            switches: vec![Switch::default(); shape.pes() as usize],
            links: numbers.clone().map(|pe| [link(pe, 0), link(pe, 1)]).collect(),
            order: Sequence::default(),
            now: 0,
            places: config.channel_packets as usize,
            every: None,
            seen: Vec::new(),
            before: Vec::new(),
            planned: Vec::new(),
            changes: Vec::new(),
            held: vec![0; shape.pes() as usize],
            stopped: vec![0; shape.pes() as usize],
        }
    }
}

impl Backend for Machine {
    fn pes(&self) -> u32 {
        self.shape.pes()
    }

    fn set_word(&mut self, pe: u32, addr: u32, data: u32) {
        self.pes[pe as usize].memory.host_write(addr, data.into());
    }

    fn word(&mut self, pe: u32, addr: u32) -> u32 {
        self.pes[pe as usize].memory.data(addr)
    }

    fn inject(&mut self, pe: u32, packet: Packet) {
        self.pes[pe as usize].arrives(packet, self.now);
    }

    fn run(&mut self, count: u32, limit: u64) -> Result<Told, RunError> {
        let begin = self.now;
        self.pes.iter_mut().for_each(|pe| pe.told = None);
        for (cycle, pe, trouble) in std::mem::take(&mut self.planned) {
            self.change((begin + cycle, pe, trouble, true));
        }
        while self.now < begin + limit {
            self.troubles();
            self.cycle()?;
            if self.every.is_some_and(|every| self.now.is_multiple_of(every)) {
                self.look();
            }
            let told = self.pes[..count as usize].iter().map(|pe| pe.told);
            if let Some(told) = told.collect::<Option<Vec<_>>>() {
                let last = told.iter().map(|(at, _)| *at).max();
                return Ok(Told {
                    cycles: last.unwrap_or(begin) - begin,
                    values: told.into_iter().map(|(_, value)| value).collect(),
                });
            }
            self.check(count)?;
        }
        Err(RunError::Limit { cycles: limit })
    }

    fn counts(&mut self, pe: u32) -> Counts {
        self.pes[pe as usize].counts
    }

    fn peak(&mut self) -> usize {
        self.pes.iter().map(|pe| pe.input.peak).max().unwrap_or_default()
    }

    fn poll(&mut self, pe: u32, addr: u32) {
        self.pes[pe as usize].poll(addr, self.now);
    }

    fn polled(&self) -> Option<u64> {
        self.pes.iter().filter_map(Pe::polled).max()
    }

    fn trouble(&mut self, cycle: u64, pe: u32, trouble: Trouble) -> bool {
        self.planned.push((cycle, pe as usize, trouble));
        true
    }

    fn reset(&mut self, _pe: u32) -> Option<Doing> {
        let fresh = (0..).zip(&mut self.pes).map(|(number, pe)| pe.reset(number)).collect();
        self.pes = fresh;
        self.switches.fill(Switch::default());
        self.order = Sequence::default();
        (self.planned, self.changes) = (Vec::new(), Vec::new());
        self.held.fill(0);
        self.stopped.fill(0);
        Some(Doing::default())
    }

    fn watch(&mut self, every: u64) {
        self.every = Some(every);
        self.before = self.pes.iter().map(|pe| pe.counts).collect();
    }

    fn seen(&mut self) -> Vec<Vec<Seen>> {
        std::mem::take(&mut self.seen)
    }

    fn executed(&self) -> BTreeMap<u32, Executed> {
        let mut all: BTreeMap<u32, Executed> = BTreeMap::new();
        for (at, executed) in self.pes.iter().flat_map(|pe| (0..).zip(&pe.executed)) {
            if executed.cycles > 0 {
                let sum = all.entry(at).or_default();
                sum.times += executed.times;
                sum.cycles += executed.cycles;
            }
        }
        all
    }
}

impl Machine {
    fn change(&mut self, change: Change) {
        let place = self.changes.partition_point(|other| other.0 <= change.0);
        self.changes.insert(place, change);
    }

    /// Trouble begins and ends in the cycle that comes.
    fn troubles(&mut self) {
        while self.changes.first().is_some_and(|change| change.0 <= self.now) {
            let (_, pe, trouble, begins) = self.changes.remove(0);
            let step = |count: &mut u32| *count = if begins { *count + 1 } else { *count - 1 };
            let span = match trouble {
                Trouble::Links(span) => {
                    step(&mut self.held[pe]);
                    span
                }
                Trouble::Stops(span) => {
                    step(&mut self.stopped[pe]);
                    self.pes[pe].runs(self.stopped[pe] == 0);
                    span
                }
                Trouble::Reads(span) => {
                    if begins {
                        self.pes[pe].poll(0, self.now);
                    } else {
                        self.pes[pe].rests();
                    }
                    span
                }
                // The model has no links for others' packets.
                Trouble::Packet(_) => continue,
            };
            if begins {
                self.change((self.now + span, pe, trouble, false));
            }
        }
    }

    fn look(&mut self) {
        let look = |(pe, before): (&Pe, &Counts)| Seen {
            busy: (pe.counts.busy - before.busy) as u32,
            send_wait: (pe.counts.send_wait - before.send_wait) as u32,
            depth: pe.input.depth() as u32,
        };
        self.seen.push(self.pes.iter().zip(&self.before).map(look).collect());
        self.before = self.pes.iter().map(|pe| pe.counts).collect();
    }

    fn check(&self, count: u32) -> Result<(), RunError> {
        for (pe, unit) in (0..).zip(&self.pes) {
            if let Some(fault) = unit.unit.execute.fault() {
                return Err(RunError::Fault { pe, fault });
            }
            if unit.input.is_fatal() {
                let packets = unit.input.spilled();
                return Err(RunError::Fatal { pe, packets });
            }
        }
        if !self.changes.is_empty() {
            return Ok(());
        }
        if self.pes.iter().any(|pe| !pe.is_idle()) || self.switches.iter().any(|switch| switch.count > 0) {
            return Ok(());
        }
        let numbered = || (0..).zip(&self.pes);
        let slots = numbered().flat_map(|(pe, unit)| unit.memory.waiting().map(move |addr| (pe, addr)));
        let waiting = slots.map(|(pe, addr)| Waiting {
            pe,
            frame: addr & !(SIZE_FRAME - 1),
            offset: addr & (SIZE_FRAME - 1),
        });
        Err(RunError::Hang {
            cycles: self.now,
            pes: (0..count).filter(|pe| self.pes[*pe as usize].told.is_none()).collect(),
            waiting: waiting.collect(),
        })
    }

    fn cycle(&mut self) -> Result<(), RunError> {
        self.now += 1;
        // What was free at the beginning of the cycle.
        let room = |flits: &VecDeque<Flit>| flits.len() < self.places;
        let rooms = |switch: &Switch| switch.held.each_ref().map(|channels| channels.each_ref().map(room));
        let free: Vec<[[bool; CHANNELS]; PORTS]> = self.switches.iter().map(rooms).collect();
        for at in 0..self.switches.len() {
            if self.switches[at].count > 0 {
                self.switch(at, &free)?;
            }
        }
        for (at, room) in free.iter().enumerate() {
            if self.pes[at].is_idle() && self.pes[at].polled().is_none() {
                continue;
            }
            if let Some((packet, ready)) = self.pes[at].cycle(self.now, room[OWN][0]) {
                let from = at as u32;
                self.order.sent(from, packet);
                let path = self.shape.route(from, packet.pe.into()).expect("it was looked up");
                let flit = Flit {
                    packet,
                    path,
                    from,
                    ready,
                };
                self.put(at, OWN, 0, flit);
            }
        }
        Ok(())
    }

    fn put(&mut self, at: usize, input: usize, channel: usize, flit: Flit) {
        let switch = &mut self.switches[at];
        assert!(switch.held[input][channel].len() < self.places, "a packet without room");
        switch.held[input][channel].push_back(flit);
        switch.count += 1;
    }

    /// Each output takes a packet, if one may go there: that of the least recently served input. An older one that ends
    /// another packet goes before it, in the next cycle.
    fn switch(&mut self, at: usize, free: &[[[bool; CHANNELS]; PORTS]]) -> Result<(), RunError> {
        let offers: [Offer; PORTS] = std::array::from_fn(|input| self.offer(at, input, free));
        for output in 0..PORTS {
            let switch = &mut self.switches[at];
            let stand = (0..PORTS).filter(|input| offers[*input].outputs[output]);
            let Some(input) = stand.min_by_key(|input| switch.served[output][*input]) else {
                continue;
            };
            let Some(chosen) = offers[input].goes else { continue };
            let flit = switch.held[input][chosen.channel].pop_front().expect("it was chosen");
            switch.count -= 1;
            switch.outputs[output] = self.now + PACKET;
            switch.inputs[input] = self.now + PACKET;
            switch.served[output][input] = self.now;
            switch.turns[input][chosen.channel] = self.now;
            if output == OWN {
                self.receive(flit.from, at, flit.packet, self.now + 2)?;
            } else {
                let (to, input) = self.links[at][output];
                let flit = Flit {
                    path: chosen.rest,
                    ready: self.now + 1,
                    ..flit
                };
                self.put(to, input, chosen.beyond, flit);
            }
        }
        Ok(())
    }

    /// An input stands for the output of its least recently served channel that can go. While another packet leaves it,
    /// it stands for those of all its channels.
    fn offer(&self, at: usize, input: usize, free: &[[[bool; CHANNELS]; PORTS]]) -> Offer {
        let switch = &self.switches[at];
        let moves = (0..CHANNELS).filter_map(|channel| self.may_go(at, input, channel, free));
        let mut offer = Offer::default();
        if switch.inputs[input] > self.now {
            moves.for_each(|one| offer.outputs[one.output] = true);
            return offer;
        }
        offer.goes = moves.min_by_key(|one| switch.turns[input][one.channel]);
        if let Some(one) = offer.goes {
            offer.outputs[one.output] = true;
        }
        offer
    }

    /// Where the first packet of a channel goes, if it can.
    fn may_go(&self, at: usize, input: usize, channel: usize, free: &[[[bool; CHANNELS]; PORTS]]) -> Option<Move> {
        let switch = &self.switches[at];
        let flit = switch.held[input][channel]
            .front()
            .filter(|flit| flit.ready <= self.now)?;
        let next = flit.path.next();
        let (output, rest) = next.map_or((OWN, Path::HERE), |(output, rest)| (output as usize, rest));
        let beyond = channel_beyond(self.pes[at].column(), channel as u32).unwrap_or_default() as usize;
        let room = if output == OWN {
            self.pes[at].has_room()
        } else {
            let (to, input) = self.links[at][output];
            self.held[at] == 0 && self.held[to] == 0 && free[to][input][beyond]
        };
        (room && switch.outputs[output] <= self.now).then_some(Move {
            channel,
            output,
            beyond,
            rest,
        })
    }

    /// A packet leaves the network. From here on queues keep its place.
    fn receive(&mut self, from: u32, at: usize, packet: Packet, visible: u64) -> Result<(), RunError> {
        self.order.handled(from, packet)?;
        self.pes[at].counts.received += 1;
        self.pes[at].arrives(packet, visible);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
