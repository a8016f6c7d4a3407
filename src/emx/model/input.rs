//! The input buffer of a PE cycle by cycle: `emx_input` with its queues, by what their headers say.
//!
//! What a cycle decides rests on what stood there when it began: [`Input::begin`] looks. What changes in it, the queues
//! show in the next one.

use std::collections::VecDeque;

use crate::emx::golden::input::{Arrival, Rules, kept};
use crate::emx::golden::memory::{Map, Memory};
use crate::emx::packet::Packet;
use crate::emx::params::Config;
use crate::emx::regs::TYPE_READ;

/// Arrivals that wait at most.
const WAITING: usize = 2;

/// What is done at the memory port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Bypass,
    Spill,
    Refill(usize),
}

/// What came of an access or of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Bypassed,
    Spilled,
    /// Code of Reasons.
    Refused(u32),
}

/// One level's queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    head: VecDeque<Packet>,
    /// A packet is in memory from the cycle in which it is chosen, until its second word is asked for.
    ring: VecDeque<Packet>,
    tail: VecDeque<Packet>,
    /// Place of the ring's first packet.
    first: u32,
    /// It was read: its second word comes.
    comes: Option<Packet>,
    look: Look,
}

/// What a queue shows in a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    /// Places of the tail.
    free: usize,
    /// The tail's first packet moves up.
    moves: bool,
    /// The head takes what arrives.
    open: bool,
    /// The tail has at most one place, and no packet moves up.
    short: bool,
    /// The head has two places, and the ring a packet.
    refill: bool,
}

impl Queue {
    fn look(&self, half: usize) -> Look {
        let free = half - self.tail.len();
        let open = self.ring.is_empty() && self.comes.is_none() && self.head.len() < half;
        let moves = open && !self.tail.is_empty();
        Look {
            free,
            moves,
            open: open && !moves,
            short: free <= 1 && !moves,
            refill: !self.ring.is_empty() && self.head.len() + usize::from(self.comes.is_some()) + 2 <= half,
        }
    }

    fn depth(&self) -> usize {
        self.head.len() + self.ring.len() + self.tail.len() + usize::from(self.comes.is_some())
    }
}

/// The input buffer.
#[derive(Clone, Debug)]
pub struct Input {
    map: Map,
    rules: Rules,
    half: usize,
    spill_turns: u32,
    queues: Vec<Queue>,
    /// Packets from the network, and when the second word of each is here.
    arrivals: VecDeque<(Packet, u64)>,
    /// The first arrival passes by in this cycle, or waits for the port to do so.
    passes: bool,
    /// What is asked of the port in this cycle.
    op: Option<Op>,
    /// The pair of accesses under way, and how many are left.
    pair: Option<(Op, u32)>,
    /// Packets spilled since one came back.
    turns: u32,
    answer: Option<Packet>,
    /// A packet that begins now finds a place.
    room: bool,
    fatal: bool,
    /// Packets that were held when the cycle began.
    depth: usize,
    /// Most packets ever held.
    pub peak: usize,
}

impl Input {
    /// Empty.
    pub fn new(config: &Config) -> Input {
        Input {
            map: Map::of(config),
            rules: Rules::of(config),
            half: config.half_packets as usize,
            spill_turns: config.spill_turns,
            queues: vec![Queue::default(); config.levels as usize],
            arrivals: VecDeque::new(),
            passes: false,
            op: None,
            pair: None,
            turns: 0,
            answer: None,
            room: true,
            fatal: false,
            depth: 0,
            peak: 0,
        }
    }

    /// Room for one more packet from the network.
    pub fn has_room(&self) -> bool {
        self.room
    }

    /// The memory for packets was full, and more came.
    pub fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Nothing is inside, and nothing changes before a packet comes.
    pub fn is_idle(&self) -> bool {
        self.arrivals.is_empty() && self.held() == 0 && self.pair.is_none() && self.answer.is_none() && self.room
    }

    /// Does a packet come, or wait to be decided?
    pub fn awaits(&self) -> bool {
        !self.arrivals.is_empty()
    }

    fn held(&self) -> usize {
        self.queues.iter().map(Queue::depth).sum()
    }

    /// Packets that were held when the cycle began.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Packets in memory.
    pub fn spilled(&self) -> usize {
        self.queues.iter().map(|queue| queue.ring.len()).sum()
    }

    /// A packet comes, whose second word is here in cycle `at`.
    pub fn arrives(&mut self, packet: Packet, at: u64) {
        self.arrivals.push_back((packet, at));
    }

    /// The packet whose first word is here, where nothing is before it.
    pub fn early(&self, now: u64) -> Option<Packet> {
        let alone = self.arrivals.len() == 1 && self.depth == 0;
        let (packet, at) = self.arrivals.front().filter(|_| alone)?;
        (*at == now + 1).then_some(*packet)
    }

    /// The next packet for the matching unit is taken.
    pub fn take(&mut self) -> Option<Packet> {
        self.queues.iter_mut().rev().find_map(|queue| queue.head.pop_front())
    }

    /// A cycle begins; `reply_ready`: the output buffer has a place for an answer. Gives the answer that is due.
    pub fn begin(&mut self, now: u64, reply_ready: bool, memory: &mut Memory) -> Option<Packet> {
        for queue in &mut self.queues {
            queue.look = queue.look(self.half);
        }
        self.depth = self.held();
        let answer = self.answer.take();
        let arrival = self.arrivals.front().filter(|(_, at)| *at <= now);
        let passing = arrival.filter(|(packet, _)| self.rules.bypasses(packet, reply_ready));
        self.passes = passing.is_some();
        // One answer a cycle has its place.
        let may_pass = passing.is_some_and(|(packet, _)| packet.kind.kind() != TYPE_READ || answer.is_none());
        self.op = match self.pair {
            Some((op, _)) => Some(op),
            None if may_pass => Some(Op::Bypass),
            None => self.begin_pair(memory),
        };
        answer
    }

    fn begin_pair(&mut self, memory: &mut Memory) -> Option<Op> {
        let ring_packets = self.map.ring_packets as usize;
        let wants_spill = |queue: &Queue| queue.look.short && queue.ring.len() < ring_packets;
        let spill = self.queues.iter().position(wants_spill).filter(|_| !self.fatal);
        let refill = self.queues.iter().position(|queue| queue.look.refill);
        let refill_first = self.turns >= self.spill_turns && refill.is_some();
        let op = match spill.filter(|_| !refill_first) {
            Some(level) => {
                self.spill(level, memory);
                self.turns += 1;
                Op::Spill
            }
            None => Op::Refill(refill?),
        };
        self.pair = Some((op, 2));
        Some(op)
    }

    /// From here on the tail's first packet counts as in memory.
    fn spill(&mut self, level: usize, memory: &mut Memory) {
        let queue = &mut self.queues[level];
        let packet = queue.tail.pop_front().expect("the tail is short of places");
        let at = self.map.ring(level, queue.first + queue.ring.len() as u32);
        (at..).zip(kept(&packet)).for_each(|(at, word)| memory.write(at, word));
        queue.ring.push_back(packet);
    }

    /// Is the port asked for?
    pub fn asks(&self) -> bool {
        self.op.is_some()
    }

    /// It goes before execution on EM-X.
    pub fn is_urgent(&self, now: u64) -> bool {
        let waiting = self.arrivals.iter().filter(|(_, at)| *at < now).count();
        self.queues.iter().any(|queue| queue.look.short) || (waiting == WAITING && self.passes)
    }

    /// The cycle ends; `granted`: the port was had. The counts of what was done.
    pub fn end(&mut self, now: u64, granted: bool, memory: &mut Memory) -> [Option<Done>; 2] {
        for queue in &mut self.queues {
            let moved = if queue.look.moves { queue.tail.pop_front() } else { None };
            queue.head.extend(queue.comes.take().or(moved));
        }
        let accessed = self.op.filter(|_| granted).and_then(|op| self.access(op, memory));
        // A packet that passes by holds up those behind it.
        let (entered, refused) = if self.passes { (None, None) } else { self.decide(now) };
        self.show_room(now, entered);
        self.peak = self.peak.max(self.held());
        [accessed, refused]
    }

    /// The port was had.
    fn access(&mut self, op: Op, memory: &mut Memory) -> Option<Done> {
        if op == Op::Bypass {
            let (packet, _) = self.arrivals.pop_front()?;
            match self.rules.becomes(&packet, true) {
                Arrival::Write { addr, data } => memory.write(addr, data.into()),
                Arrival::Read { addr } => self.answer = Some(packet.answer(memory.data(addr))),
                other => panic!("{packet} was to pass by, and became {other:?}"),
            }
            return Some(Done::Bypassed);
        }
        self.pair = self.pair.map(|(op, left)| (op, left - 1)).filter(|(_, left)| *left > 0);
        if self.pair.is_some() {
            return None;
        }
        let Op::Refill(level) = op else {
            return Some(Done::Spilled);
        };
        let queue = &mut self.queues[level];
        queue.comes = queue.ring.pop_front();
        queue.first = (queue.first + 1) % self.map.ring_packets;
        self.turns = 0;
        None
    }

    /// What has arrived is queued, or refused; gives the level whose tail it entered.
    fn decide(&mut self, now: u64) -> (Option<usize>, Option<Done>) {
        let Some((packet, _)) = self.arrivals.front().copied().filter(|(_, at)| *at <= now) else {
            return (None, None);
        };
        if let Arrival::Refused(reason) = self.rules.becomes(&packet, false) {
            self.arrivals.pop_front();
            return (None, Some(Done::Refused(reason)));
        }
        let level = packet.kind.level().min(self.queues.len() - 1);
        let queue = &mut self.queues[level];
        if !queue.look.open && queue.look.free == 0 {
            return (None, None);
        }
        self.arrivals.pop_front();
        if queue.look.open {
            queue.head.push_back(packet);
            return (None, None);
        }
        queue.tail.push_back(packet);
        (Some(level), None)
    }

    /// Room in the next cycle: places that the packets that are here or come do not need. A flip-flop shows it, so a
    /// place that becomes free in this cycle does not count yet.
    fn show_room(&mut self, now: u64, entered: Option<usize>) {
        let numbered = self.queues.iter().enumerate();
        let free = numbered.map(|(level, queue)| queue.look.free - usize::from(entered == Some(level)));
        let least = free.min().unwrap_or_default();
        let expected = self.arrivals.iter().filter(|(_, at)| *at <= now + 1).count();
        let ring_packets = self.map.ring_packets as usize;
        self.fatal |= self
            .queues
            .iter()
            .any(|queue| queue.look.short && queue.ring.len() >= ring_packets);
        self.room = expected < WAITING && least > expected && !self.fatal;
    }
}
