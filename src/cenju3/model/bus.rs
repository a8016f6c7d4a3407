//! The IO bus of a PE with the memory behind it: bursts of both directions in turn, with the latencies of the
//! configuration.

use std::collections::VecDeque;

use super::{Due, ModelMachine};
use crate::harness::backend::EventKind;
use crate::{Addr, Picos};

/// IO cycles that a rate-limited memory may run ahead after a pause: about one burst.
const SLACK_CYCLES: u64 = 32;
/// IO cycles from a write response to its effect.
const ANSWER_CYCLES: u64 = 2;

/// The requester of a read burst.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader {
    /// The header of a queue's next parcel.
    Header { queue: usize },
    /// The next part of a packet's body.
    Body,
}

/// The requester of a write burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// The Sender: a status.
    Status { queue: usize },
    /// The Receiver: packet number `packet`, counted from the first that it began.
    Packet { packet: u64 },
}

#[derive(Clone, Debug)]
pub(super) struct Read {
    pub addr: Addr,
    pub bytes: u32,
    pub reader: Reader,
    /// The instant when memory has its first word.
    pub due: Picos,
}

#[derive(Clone, Debug)]
pub(super) struct Write {
    pub addr: Addr,
    pub data: Vec<u8>,
    pub writer: Writer,
    /// The instant when its words are ready to be written.
    pub ready: Picos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

#[derive(Debug, Default)]
pub(super) struct Bus {
    free: Picos,
    last: Option<Direction>,
    /// The instant when the rate limit allows the next word.
    memory_free: Picos,
    reads: VecDeque<Read>,
    /// Read bursts that have the bus; their first word is not yet taken.
    granted: VecDeque<Read>,
    writes: VecDeque<Write>,
    /// Write bursts without a response.
    unanswered: VecDeque<Write>,
    /// Responses on their way to the writer; true if memory took the write.
    answered: VecDeque<(Writer, bool)>,
}

impl Bus {
    /// Commanded read bursts whose data have not arrived.
    pub fn reading(&self) -> usize {
        self.reads.len() + self.granted.len()
    }

    /// Write bursts that wait for the bus.
    pub fn waiting_writes(&self) -> usize {
        self.writes.len()
    }
}

impl ModelMachine {
    pub(super) fn command_read(&mut self, node: usize, addr: Addr, bytes: u32, reader: Reader) {
        let bytes = bytes.next_multiple_of(self.config.bus_bytes);
        let latency = u64::from(self.config.mem_read_latency).saturating_sub(1);
        let due = self.now + self.io_cycles(latency);
        self.note(self.now, node, EventKind::MemRead { addr, bytes });
        self.nodes[node].bus.reads.push_back(Read {
            addr,
            bytes,
            reader,
            due,
        });
        self.at(due, Due::Bus(node));
    }

    /// `data` are exactly the bytes to be written. They arrive at the bus `pipe` IO cycles from now.
    pub(super) fn command_write(&mut self, node: usize, addr: Addr, data: Vec<u8>, writer: Writer, pipe: u64) {
        let ready = self.io_edge(self.now) + self.io_cycles(pipe);
        self.nodes[node].bus.writes.push_back(Write {
            addr,
            data,
            writer,
            ready,
        });
        self.at(ready, Due::Bus(node));
    }

    /// Gives a free bus to the direction that requests it, in turn if both do.
    pub(super) fn bus(&mut self, node: usize) {
        let (now, outstanding) = (self.now, self.config.outstanding as usize);
        let bus = &mut self.nodes[node].bus;
        if bus.free > now {
            return;
        }
        let read = bus.reads.front().is_some_and(|r| r.due <= now);
        let write = bus.writes.front().is_some_and(|w| w.ready <= now) && bus.unanswered.len() < outstanding;
        let direction = match (read, write) {
            (false, false) => return,
            (true, true) if bus.last == Some(Direction::Read) => Direction::Write,
            (true, _) => Direction::Read,
            (false, true) => Direction::Write,
        };
        bus.last = Some(direction);
        match direction {
            Direction::Read => {
                let read = bus.reads.pop_front().expect("wanted");
                let bytes = read.bytes;
                bus.granted.push_back(read);
                self.occupy(node, bytes);
                self.at(now + self.io_cycles(1), Due::ReadData(node));
            }
            Direction::Write => {
                let write = bus.writes.pop_front().expect("wanted");
                let (addr, bytes) = (
                    write.addr,
                    (write.data.len() as u32).next_multiple_of(self.config.bus_bytes),
                );
                bus.unanswered.push_back(write);
                self.note(now, node, EventKind::MemWrite { addr, bytes });
                let last = self.occupy(node, bytes);
                let latency = u64::from(self.config.mem_write_latency).max(1);
                self.at(last + self.io_cycles(latency), Due::Written(node));
                self.at(now, Due::Receiver(node));
            }
        }
    }

    /// Takes the bus for a burst of `bytes` from now on; returns the instant of its last word.
    fn occupy(&mut self, node: usize, bytes: u32) -> Picos {
        let beats = self.io_cycles(u64::from(bytes / self.config.bus_bytes));
        let (overhead, slack) = (
            self.io_cycles(self.config.mem_overhead.into()),
            self.io_cycles(SLACK_CYCLES),
        );
        let limit = self.config.mem_rate_limit;
        let now = self.now;
        let mut last = now + beats;
        if limit > 0.0 {
            let rated = &mut self.nodes[node].bus.memory_free;
            *rated = (*rated).max(now.saturating_sub(slack)) + Picos::from_us(f64::from(bytes) / limit);
            last = self.io_edge(last.max(self.nodes[node].bus.memory_free));
        }
        self.nodes[node].bus.free = last + overhead;
        self.at(last + overhead, Due::Bus(node));
        last
    }

    pub(super) fn read_data(&mut self, node: usize) {
        let read = self.nodes[node].bus.granted.pop_front().expect("a burst has the bus");
        self.note(self.now, node, EventKind::MemReadData { addr: read.addr });
        self.sender_data(node, &read);
    }

    pub(super) fn write_answered(&mut self, node: usize) {
        let n = &mut self.nodes[node];
        let write = n.bus.unanswered.pop_front().expect("a burst without response");
        let bytes = write.data.len() as u32;
        let ok = n.memory.bus_ok(write.addr, bytes) && n.memory.write(write.addr, &write.data);
        let bytes = bytes.next_multiple_of(self.config.bus_bytes);
        self.note(
            self.now,
            node,
            EventKind::MemWritten {
                addr: write.addr,
                bytes,
            },
        );
        self.nodes[node].bus.answered.push_back((write.writer, ok));
        self.at(self.now + self.io_cycles(ANSWER_CYCLES), Due::Answered(node));
        self.at(self.now, Due::Bus(node));
    }

    pub(super) fn answered(&mut self, node: usize) {
        let (writer, ok) = self.nodes[node]
            .bus
            .answered
            .pop_front()
            .expect("a response is on its way");
        match writer {
            Writer::Status { queue } => self.status_written(node, queue),
            Writer::Packet { packet } => self.packet_written(node, packet, ok),
        }
    }
}
