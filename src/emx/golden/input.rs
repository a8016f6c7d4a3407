//! Golden model of `emx_input`: what becomes of a packet that arrives, and the queues with their spill to memory.
//!
//! It is told when a packet was spilled, refilled or taken, and says which packet that was and where it stands.

use std::collections::VecDeque;

use thiserror::Error;

use super::memory::Map;
use crate::emx::packet::{Kind, Packet};
use crate::emx::params::Config;
use crate::emx::regs::{PKT_W0_PE_MASK, REASON_RANGE, REASON_TYPE, TYPE_READ, TYPE_WRITE};

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The word is written, without a thread.
    Write {
        addr: u32,
        data: u32,
    },
    /// The word is read, and the answer goes to the output buffer.
    Read {
        addr: u32,
    },
    Queued,
    /// Code of Reasons.
    Refused(u32),
}

/// What no sound input buffer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    #[error("a packet was taken in where there is no room")]
    Full,
    #[error("a packet of level {level} was spilled that must stay on the chip")]
    Spill { level: usize },
    #[error("a packet of level {level} was refilled that cannot be")]
    Refill { level: usize },
    #[error("a packet was taken where there is none")]
    Empty,
}

/// A queue of one level: head on the chip, ring in memory, tail on the chip.
#[derive(Clone, Debug, Default)]
struct Queue {
    head: VecDeque<Packet>,
    ring: VecDeque<Packet>,
    tail: VecDeque<Packet>,
    /// Place of the ring's first packet.
    first: u32,
}

/// What may become of packets.
#[derive(Clone, Debug)]
pub struct Rules {
    map: Map,
    write_bypass: bool,
    read_bypass: bool,
}

impl Rules {
    /// Those of the machine.
    pub fn of(config: &Config) -> Rules {
        Rules {
            map: Map::of(config),
            write_bypass: config.write_bypass,
            read_bypass: config.read_bypass,
        }
    }

    /// Is it done at once, without a thread?
    pub fn bypasses(&self, packet: &Packet, reply_room: bool) -> bool {
        let allowed = match packet.kind.kind() {
            TYPE_WRITE => self.write_bypass,
            TYPE_READ => self.read_bypass && reply_room,
            _ => false,
        };
        allowed && !packet.is_malformed() && self.map.is_public(packet.addr)
    }

    /// What becomes of it. `reply_room`: a place for an answer was reserved in the output buffer.
    pub fn becomes(&self, packet: &Packet, reply_room: bool) -> Arrival {
        let Packet { addr, data, .. } = *packet;
        if packet.is_malformed() {
            return Arrival::Refused(REASON_TYPE);
        }
        if !self.map.is_public(addr) {
            return Arrival::Refused(REASON_RANGE);
        }
        if !self.bypasses(packet, reply_room) {
            return Arrival::Queued;
        }
        if packet.kind.kind() == TYPE_WRITE {
            Arrival::Write { addr, data }
        } else {
            Arrival::Read { addr }
        }
    }
}

/// The words of a packet in memory: the receiver's number is not kept.
pub fn kept(packet: &Packet) -> [u64; 2] {
    let [w0, w1] = packet.words();
    [w0 & !PKT_W0_PE_MASK, w1]
}

/// The input buffer.
#[derive(Clone, Debug)]
pub struct Input {
    map: Map,
    rules: Rules,
    half: usize,
    queues: Vec<Queue>,
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
            queues: vec![Queue::default(); config.levels as usize],
            peak: 0,
        }
    }

    fn level(&self, kind: Kind) -> usize {
        kind.level().min(self.queues.len() - 1)
    }

    /// So many packets can be taken in, whatever they are.
    pub fn free(&self) -> usize {
        let free = |queue: &Queue| self.half - queue.tail.len();
        self.queues.iter().map(free).min().unwrap_or_default()
    }

    /// Is it done at once, without a thread?
    pub fn bypasses(&self, packet: &Packet, reply_room: bool) -> bool {
        self.rules.bypasses(packet, reply_room)
    }

    /// A packet arrives. `reply_room`: a place for an answer was reserved in the output buffer.
    ///
    /// # Errors
    /// No room.
    pub fn arrives(&mut self, packet: Packet, reply_room: bool) -> Result<Arrival, InputError> {
        let arrival = self.rules.becomes(&packet, reply_room);
        if arrival != Arrival::Queued {
            return Ok(arrival);
        }
        let level = self.level(packet.kind);
        let queue = &mut self.queues[level];
        if queue.tail.len() >= self.half {
            return Err(InputError::Full);
        }
        queue.tail.push_back(packet);
        self.settle(level);
        self.peak = self.peak.max(self.depth());
        Ok(Arrival::Queued)
    }

    /// On the chip packets move up by themselves where nothing is in memory.
    fn settle(&mut self, level: usize) {
        let queue = &mut self.queues[level];
        while queue.ring.is_empty() && queue.head.len() < self.half {
            let Some(packet) = queue.tail.pop_front() else { break };
            queue.head.push_back(packet);
        }
    }

    /// Must a packet go to memory before others can be taken in?
    pub fn wants_spill(&self, level: usize) -> bool {
        self.queues[level].tail.len() + 1 >= self.half
    }

    /// May a packet come back from memory?
    pub fn wants_refill(&self, level: usize) -> bool {
        let queue = &self.queues[level];
        !queue.ring.is_empty() && queue.head.len() + 2 <= self.half
    }

    /// The memory for packets is full, and more came.
    pub fn is_fatal(&self) -> bool {
        let is_full = |queue: &Queue| queue.ring.len() >= self.map.ring_packets as usize;
        (0..self.queues.len()).any(|level| self.wants_spill(level) && is_full(&self.queues[level]))
    }

    /// A packet went to memory: the address of its first word, and both words.
    ///
    /// # Errors
    /// There is none, or no place for it.
    pub fn spill(&mut self, level: usize) -> Result<(u32, [u64; 2]), InputError> {
        let ring_packets = self.map.ring_packets as usize;
        let queue = self.queues.get_mut(level).ok_or(InputError::Spill { level })?;
        let room = queue.ring.len() < ring_packets;
        let packet = queue.tail.pop_front().filter(|_| room);
        let packet = packet.ok_or(InputError::Spill { level })?;
        let place = self.map.ring(level, queue.first + queue.ring.len() as u32);
        queue.ring.push_back(packet);
        Ok((place, kept(&packet)))
    }

    /// A packet came back from memory: the address of its first word.
    ///
    /// # Errors
    /// There is none, or no place for it.
    pub fn refill(&mut self, level: usize) -> Result<u32, InputError> {
        let half = self.half;
        let queue = self.queues.get_mut(level).ok_or(InputError::Refill { level })?;
        let packet = queue.ring.pop_front().filter(|_| queue.head.len() < half);
        let packet = packet.ok_or(InputError::Refill { level })?;
        let place = self.map.ring(level, queue.first);
        queue.first = (queue.first + 1) % self.map.ring_packets;
        // The receiver's number is not kept in memory.
        queue.head.push_back(packet);
        self.settle(level);
        Ok(place)
    }

    /// The next packet for the matching unit.
    pub fn next(&self) -> Option<&Packet> {
        self.queues.iter().rev().find_map(|queue| queue.head.front())
    }

    /// It was taken.
    ///
    /// # Errors
    /// There is none.
    pub fn take(&mut self) -> Result<Packet, InputError> {
        let level = self.queues.iter().rposition(|queue| !queue.head.is_empty());
        let level = level.ok_or(InputError::Empty)?;
        let packet = self.queues[level].head.pop_front();
        self.settle(level);
        packet.ok_or(InputError::Empty)
    }

    /// Packets that are held.
    pub fn depth(&self) -> usize {
        let held = |queue: &Queue| queue.head.len() + queue.ring.len() + queue.tail.len();
        self.queues.iter().map(held).sum()
    }

    /// Packets in memory.
    pub fn spilled(&self) -> usize {
        self.queues.iter().map(|queue| queue.ring.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emx::packet::global;
    use crate::emx::regs::{TYPE_READ, TYPE_WRITE};

    fn thread(n: u32) -> Packet {
        Packet::to(Kind::THREAD, global(0, 0x41), n)
    }

    #[test]
    fn order_is_kept_across_the_spill() {
        let mut input = Input::new(&Config::paper());
        let mut sent = 0;
        let mut taken = Vec::new();
        for round in 0..200 {
            if round % 3 != 0 && input.free() > 0 {
                assert_eq!(input.arrives(thread(sent), false), Ok(Arrival::Queued));
                sent += 1;
            }
            if input.wants_spill(0) {
                input.spill(0).unwrap();
            }
            if input.wants_refill(0) {
                input.refill(0).unwrap();
            }
            if round % 4 == 0 && input.next().is_some() {
                taken.push(input.take().unwrap().data);
            }
        }
        assert!(input.spilled() > 10 && input.peak > 20);
        assert!(taken.iter().copied().eq(0..taken.len() as u32));
    }

    #[test]
    fn a_packet_has_its_place_in_memory() {
        let mut input = Input::new(&Config::paper());
        for n in 0..8 {
            input.arrives(thread(n), false).unwrap();
        }
        assert!(input.free() == 0 && !input.is_fatal());
        assert_eq!(input.arrives(thread(8), false), Err(InputError::Full));
        assert_eq!(input.spill(0), Ok((0x2000, [0x41, 4])));
        assert_eq!(input.spill(0), Ok((0x2002, [0x41, 5])));
        assert_eq!(input.refill(0).ok(), None, "the head is full");
    }

    #[test]
    fn the_last_packet_is_fatal_and_none_is_lost() {
        let mut config = Config::paper();
        config.spill_bits = 4;
        let mut input = Input::new(&config);
        let mut n = 0;
        while !input.is_fatal() {
            input.arrives(thread(n), false).unwrap();
            n += 1;
            if input.wants_spill(0) && !input.is_fatal() {
                input.spill(0).unwrap();
            }
        }
        assert_eq!((input.spilled(), input.depth() as u32), (16, n));
        assert_eq!(input.spill(0), Err(InputError::Spill { level: 0 }));
    }

    #[test]
    fn levels_and_bypasses() {
        let mut config = Config::paper();
        for (name, value) in crate::emx::params::EM_X {
            config.set(name, value).unwrap();
        }
        let mut input = Input::new(&config);
        let to = |kind| Packet::to(Kind::of(kind), global(0, 0x6000), 5);
        let written = Arrival::Write { addr: 0x6000, data: 5 };
        assert_eq!(input.arrives(to(TYPE_WRITE), false), Ok(written));
        assert_eq!(input.arrives(to(TYPE_READ), true), Ok(Arrival::Read { addr: 0x6000 }));
        assert_eq!(input.arrives(to(TYPE_READ), false), Ok(Arrival::Queued));
        let urgent = Packet {
            kind: Kind::THREAD.urgent(),
            ..thread(1)
        };
        input.arrives(urgent, false).unwrap();
        assert_eq!(input.take(), Ok(urgent));
        assert_eq!(input.take(), Ok(to(TYPE_READ)));
        assert_eq!(input.take(), Err(InputError::Empty));
        assert_eq!(input.arrives(to(9), false), Ok(Arrival::Refused(REASON_TYPE)));
        let private = Packet::to(Kind::of(TYPE_WRITE), global(0, 0x2000), 5);
        assert_eq!(input.arrives(private, false), Ok(Arrival::Refused(REASON_RANGE)));
    }
}
