//! The Sender of a PE. It cuts two queues of parcels into packets, and fetches the header of the next parcel while it
//! sends a body.

use std::collections::VecDeque;
use std::rc::Rc;

use super::bus::{Read, Reader, Writer};
use super::network::{CHUNK_FLITS, CROSSING_CYCLES};
use super::{Chunk, Due, Flight, ModelMachine};
use crate::Addr;
use crate::cenju3::golden::packet::{HEAD_FLITS, ParcelHeader, Status, body_flits, put, split, to_flits};
use crate::cenju3::golden::receiver_state::Cause;
use crate::cenju3::regs::*;

/// IO cycles from the write of the pointer to the command of the header read.
pub(super) const START_CYCLES: u64 = 2;
/// IO cycles from the first word of a header to the command of the first body read.
const DECODE_CYCLES: u64 = 14;
/// IO cycles from the first word of a body burst to the crossing.
const PIPE_CYCLES: u64 = 5;
/// Bus words that may wait between memory and link.
const BUFFER_WORDS: u32 = 48;

/// A parcel whose header has been read.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    index: u8,
    parcel: Result<ParcelHeader, Status>,
    /// Packets begun.
    begun: usize,
}

#[derive(Debug, Default)]
struct Queue {
    base: u32,
    put: u8,
    get: u8,
    /// Ring index of the next header to fetch.
    next: u8,
    fetching: bool,
    /// The parcel under way and the one fetched ahead.
    fetched: VecDeque<Fetched>,
    /// The error that stopped the queue; the write of its status may still be under way.
    stopped: Option<Status>,
    halted: bool,
}

impl Queue {
    fn header_addr(&self, index: u8) -> Addr {
        Addr(self.base).offset(u32::from(index) * PARCEL_HEADER_BYTES)
    }

    /// Whether the first parcel can send a packet.
    fn ready(&self) -> bool {
        self.stopped.is_none() && self.fetched.front().is_some_and(|f| f.parcel.is_ok())
    }
}

/// A body burst on its way from memory.
#[derive(Clone)]
struct Incoming {
    packet: Rc<Flight>,
    queue: usize,
    /// Flits of this burst; the first burst includes the 9 flits of the head.
    flits: u32,
    first: bool,
    last: bool,
    /// The parcel ends with this burst.
    ends: Option<Result<(), Status>>,
}

/// A packet whose body is being read: the bursts not yet commanded.
struct Job {
    bursts: VecDeque<(Addr, u32, Incoming)>,
}

#[derive(Default)]
pub(super) struct Sender {
    queues: [Queue; 2],
    job: Option<Job>,
    incoming: VecDeque<Incoming>,
    sent: u16,
}

impl Sender {
    pub fn register_read(&self, offset: u32) -> u32 {
        let q = &self.queues[usize::from(offset >= SQ1_BASE)];
        match offset {
            SQ0_BASE | SQ1_BASE => q.base,
            SQ0_PUT | SQ1_PUT => q.put.into(),
            SQ0_GET | SQ1_GET => q.get.into(),
            _ => 0,
        }
    }

    /// Takes a write of `SQ*_BASE`, `SQ*_PUT` or `S_CTRL`; true if the Sender may have work.
    pub fn register_write(&mut self, offset: u32, value: u32) -> bool {
        let q = usize::from(offset >= SQ1_BASE);
        match offset {
            SQ0_BASE | SQ1_BASE => self.queues[q].base = value & !(ALIGN_BYTES - 1),
            SQ0_PUT | SQ1_PUT => self.queues[q].put = value as u8,
            S_CTRL => {
                for (q, mask) in [S_CTRL_RESUME0_MASK, S_CTRL_RESUME1_MASK].into_iter().enumerate() {
                    let queue = &mut self.queues[q];
                    if value & mask != 0 && queue.halted {
                        queue.halted = false;
                        queue.stopped = None;
                        queue.fetched.pop_front();
                        queue.get = queue.get.wrapping_add(1);
                    }
                }
            }
            _ => unreachable!("not a register of the Sender"),
        }
        !matches!(offset, SQ0_BASE | SQ1_BASE)
    }

    pub fn stat(&self) -> u32 {
        let flag = |mask, on: bool| put(mask, u32::from(on));
        let empty = |q: usize| self.queues[q].get == self.queues[q].put;
        let error = |q: usize| {
            self.queues[q]
                .stopped
                .filter(|_| self.queues[q].halted)
                .map_or(0, Status::code)
        };
        let busy = (0..2).any(|q| !empty(q) && !self.queues[q].halted);
        flag(S_STAT_BUSY_MASK, busy)
            | flag(S_STAT_EMPTY0_MASK, empty(0))
            | flag(S_STAT_EMPTY1_MASK, empty(1))
            | flag(S_STAT_HALTED0_MASK, self.queues[0].halted)
            | flag(S_STAT_HALTED1_MASK, self.queues[1].halted)
            | put(S_STAT_ERROR0_MASK, error(0))
            | put(S_STAT_ERROR1_MASK, error(1))
            | put(S_STAT_SENT_MASK, self.sent.into())
    }

    /// The work in progress; `None` if idle.
    pub fn state(&self) -> Option<String> {
        let queue = |q: usize| {
            let queue = &self.queues[q];
            let what = match (queue.halted, queue.get == queue.put) {
                (true, _) => "halted",
                (false, false) => "busy",
                (false, true) => return None,
            };
            Some(format!("queue {q} {what} at {} of {}", queue.get, queue.put))
        };
        let parts: Vec<_> = (0..2).filter_map(queue).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl ModelMachine {
    /// Runs the Sender as far as possible.
    pub(super) fn sender(&mut self, node: usize) {
        self.fetch_headers(node);
        loop {
            if self.nodes[node].sender.job.is_none() && !self.begin_packet(node) {
                break;
            }
            if !self.command_bursts(node) {
                break;
            }
        }
    }

    fn fetch_headers(&mut self, node: usize) {
        for q in 0..2 {
            let n = &self.nodes[node];
            let queue = &n.sender.queues[q];
            let sound = queue.stopped.is_none() && queue.fetched.iter().all(|f| f.parcel.is_ok());
            let room = queue.fetched.len() < 2 && n.bus.reading() < self.config.outstanding as usize;
            if sound && room && !queue.fetching && queue.next != queue.put {
                let addr = queue.header_addr(queue.next);
                self.nodes[node].sender.queues[q].fetching = true;
                self.command_read(node, addr, PARCEL_HEADER_BYTES, Reader::Header { queue: q });
            }
        }
    }

    /// Begins the next packet, from queue 0 first; false if there is none.
    fn begin_packet(&mut self, node: usize) -> bool {
        for q in 0..2 {
            let queue = &mut self.nodes[node].sender.queues[q];
            if let (
                None,
                Some(&Fetched {
                    index,
                    parcel: Err(status),
                    ..
                }),
            ) = (queue.stopped, queue.fetched.front())
                // The parcel before it is sent first.
                && queue.get == index
            {
                self.stop(node, q, index, status);
            }
        }
        let n = &mut self.nodes[node];
        let Some(q) = (0..2).find(|&q| n.sender.queues[q].ready()) else {
            return false;
        };
        let front = n.sender.queues[q].fetched.front_mut().expect("ready");
        let parcel = front.parcel.expect("ready");
        let src = n.regs.node;
        let plan = split(parcel, src, q as u8, front.index)
            .nth(front.begun)
            .expect("a parcel is left when its last packet is begun");
        front.begun += 1;

        // The body up to the first word that memory refuses.
        let (bytes, word) = (plan.header.bytes, self.config.bus_bytes);
        let whole = n.memory.bus_ok(plan.body, bytes.next_multiple_of(word));
        let bad = (0..bytes)
            .step_by(word as usize)
            .find(|&at| !whole && !n.memory.bus_ok(plan.body.offset(at), word));
        let good = bad.unwrap_or(bytes);
        let body = n.memory.read(plan.body, good as usize).expect("the bus is ok there");
        let mut flits = vec![plan.route.encode()];
        flits.extend(to_flits(&plan.header.encode()));
        flits.extend(to_flits(body));
        let packet = Rc::new(Flight { flits });

        let ends = match bad {
            Some(_) => Some(Err(Status::BodyBusError)),
            None => plan.header.last.then_some(Ok(())),
        };
        let burst = self.config.bus_bytes * self.config.burst_beats;
        let mut bursts = VecDeque::new();
        let mut at = 0;
        while at < good || bursts.is_empty() {
            let addr = plan.body.offset(at);
            let size = (bytes - at).min(burst - addr.0 % burst);
            let head = if at == 0 { HEAD_FLITS as u32 } else { 0 };
            let flits = head + body_flits(size.min(good - at)) as u32;
            let last = at + size >= good;
            let (packet, ends) = (packet.clone(), ends.filter(|_| last));
            bursts.push_back((
                addr,
                size,
                Incoming {
                    packet,
                    queue: q,
                    flits,
                    first: at == 0,
                    last,
                    ends,
                },
            ));
            at += size;
        }
        let queue = &mut n.sender.queues[q];
        match ends {
            // The parcel fetched ahead is the next to begin.
            Some(Ok(())) => drop(queue.fetched.pop_front()),
            Some(Err(status)) => queue.stopped = Some(status),
            None => {}
        }
        n.sender.job = Some(Job { bursts });
        true
    }

    /// Commands the bursts of the packet that have room; true when all are commanded.
    fn command_bursts(&mut self, node: usize) -> bool {
        let limit = BUFFER_WORDS * self.config.bus_bytes / 2;
        loop {
            let reading = self.nodes[node].bus.reading();
            let outgoing = self.network.outgoing(node);
            let n = &mut self.nodes[node];
            let Some(job) = &mut n.sender.job else { return true };
            let Some((.., incoming)) = job.bursts.front() else {
                n.sender.job = None;
                return true;
            };
            if outgoing.flits + incoming.flits > limit || reading >= self.config.outstanding as usize {
                return false;
            }
            outgoing.flits += incoming.flits;
            let (addr, size, incoming) = job.bursts.pop_front().expect("looked at");
            n.sender.incoming.push_back(incoming);
            self.command_read(node, addr, size, Reader::Body);
        }
    }

    /// The first word of a burst arrives.
    pub(super) fn sender_data(&mut self, node: usize, read: &Read) {
        match read.reader {
            Reader::Header { queue: q } => {
                let n = &mut self.nodes[node];
                let parcel = if n.memory.bus_ok(read.addr, read.bytes) {
                    let bytes = n
                        .memory
                        .read(read.addr, read.bytes as usize)
                        .expect("the bus is ok there");
                    ParcelHeader::decode(bytes.try_into().expect("32 bytes"))
                } else {
                    Err(Status::HeaderBusError)
                };
                let queue = &mut n.sender.queues[q];
                queue.fetched.push_back(Fetched {
                    index: queue.next,
                    parcel,
                    begun: 0,
                });
                queue.next = queue.next.wrapping_add(1);
                queue.fetching = false;
                self.at(self.now + self.io_cycles(DECODE_CYCLES), Due::Sender(node));
            }
            Reader::Body => {
                let burst = self.nodes[node]
                    .sender
                    .incoming
                    .pop_front()
                    .expect("a burst was commanded");
                self.queue_chunks(node, &burst);
                match burst.ends {
                    Some(Ok(())) => {
                        let sender = &mut self.nodes[node].sender;
                        sender.queues[burst.queue].get = sender.queues[burst.queue].get.wrapping_add(1);
                        sender.sent = sender.sent.wrapping_add(1);
                    }
                    Some(Err(status)) => {
                        let index = self.nodes[node].sender.queues[burst.queue].get;
                        self.stop(node, burst.queue, index, status);
                    }
                    None => {}
                }
                self.at(self.now, Due::Sender(node));
            }
        }
    }

    /// Queues the flits of a burst for the link.
    fn queue_chunks(&mut self, node: usize, burst: &Incoming) {
        let ready = self.net_edge(self.now + self.io_cycles(PIPE_CYCLES)) + self.net_cycles(CROSSING_CYCLES);
        let head = if burst.first { HEAD_FLITS as u32 } else { 0 };
        let mut left = burst.flits;
        while left > 0 {
            let first = burst.first && left == burst.flits;
            let flits = if first { head } else { left.min(CHUNK_FLITS) };
            left -= flits;
            let chunk = Chunk {
                packet: burst.packet.clone(),
                flits,
                first,
                last: burst.last && left == 0,
                ready,
            };
            self.network.outgoing(node).chunks.push_back(chunk);
        }
        self.at(ready, Due::Link(node));
    }

    /// Stops a queue at the parcel with this ring index, and writes the status.
    fn stop(&mut self, node: usize, q: usize, index: u8, status: Status) {
        let queue = &mut self.nodes[node].sender.queues[q];
        queue.stopped = Some(status);
        let at = queue.header_addr(index).offset(PARCEL_STATUS);
        self.command_write(
            node,
            at,
            status.code().to_le_bytes().to_vec(),
            Writer::Status { queue: q },
            1,
        );
    }

    pub(super) fn status_written(&mut self, node: usize, q: usize) {
        self.nodes[node].sender.queues[q].halted = true;
        self.raise(node, Cause::SendError);
    }
}
