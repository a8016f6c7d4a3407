//! Links, switches and receive FIFOs: wormhole by packet, moved in chunks.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::{Chunk, Due, ModelMachine};
use crate::cenju3::params::Config;
use crate::harness::backend::EventKind;
use crate::net::topology::{Hop, Omega, SwitchAt};
use crate::{NodeId, Picos};

/// Ports of a switch.
const RADIX: usize = 4;
/// Flits of a body chunk: one burst of 32 bytes.
pub(super) const CHUNK_FLITS: u32 = 16;
/// Network cycles from the IO clock to the network clock.
pub(super) const CROSSING_CYCLES: u64 = 3;

/// Chunks that wait for a link: data that a Sender has read, or the input of a switch.
#[derive(Default)]
pub(super) struct Buffer {
    pub chunks: VecDeque<Chunk>,
    /// Flits in the buffer, on their way into it, or with reserved room.
    pub flits: u32,
}

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Buffer(usize),
    Node(usize),
    /// A port without a PE: its packets are counted.
    Nobody,
}

struct Link {
    end: End,
    free: Picos,
    /// The buffer whose packet has the link.
    owner: Option<usize>,
    /// The input that was served last.
    served: usize,
}

/// Chunks that wait at a Receiver.
#[derive(Default)]
pub(super) struct Fifo {
    pub chunks: VecDeque<Chunk>,
    pub words: u32,
}

/// Buffers and links are numbered: first those of the PEs' outgoing links, then by stage and position.
pub(super) struct Network {
    omega: Omega,
    pes: usize,
    buffers: Vec<Buffer>,
    links: Vec<Link>,
    /// The link that leads to each buffer.
    feeders: Vec<Option<usize>>,
    pub fifos: Vec<Fifo>,
    /// Words of the crossing behind each receive FIFO, which fill, too, while the Receiver stalls.
    crossing: u32,
    /// PEs with a sink in place of their receive side.
    sinks: Vec<bool>,
    /// Packets that left at a port without a PE.
    lost: u64,
}

impl Network {
    pub fn new(config: &Config) -> Network {
        let omega = Omega::new(RADIX, config.stages as usize);
        let pes = config.pes as usize;
        assert!(
            pes <= omega.ports(),
            "{pes} PEs do not fit a network of {} ports",
            omega.ports()
        );
        let buffer = |(at, input): (SwitchAt, usize)| pes + at.stage * omega.ports() + at.row * RADIX + input;
        let end = |hop| match hop {
            Hop::Switch(at, input) => End::Buffer(buffer((at, input))),
            Hop::Port(port) if port < pes => End::Node(port),
            Hop::Port(_) => End::Nobody,
        };
        let entries = (0..pes).map(|pe| End::Buffer(buffer(omega.entry(pe))));
        let outputs = (0..omega.stages() * omega.ports()).map(|i| {
            let (stage, position) = (i / omega.ports(), i % omega.ports());
            end(omega.hop(
                SwitchAt {
                    stage,
                    row: position / RADIX,
                },
                position % RADIX,
            ))
        });
        let links: Vec<_> = entries
            .chain(outputs)
            .map(|end| Link {
                end,
                free: Picos::ZERO,
                owner: None,
                served: 0,
            })
            .collect();
        let mut feeders = vec![None; links.len()];
        for (i, link) in links.iter().enumerate() {
            if let End::Buffer(buffer) = link.end {
                feeders[buffer] = Some(i);
            }
        }
        Network {
            omega,
            pes,
            buffers: (0..links.len()).map(|_| Buffer::default()).collect(),
            links,
            feeders,
            fifos: (0..pes).map(|_| Fifo::default()).collect(),
            crossing: config.crossing_words,
            sinks: vec![false; pes],
            lost: 0,
        }
    }

    /// Data that PE `node` has read and not yet sent.
    pub fn outgoing(&mut self, node: usize) -> &mut Buffer {
        &mut self.buffers[node]
    }

    /// Words in the receive FIFO of PE `node`.
    pub fn receive_level(&self, node: usize) -> u32 {
        self.fifos[node].words.saturating_sub(self.crossing)
    }

    /// The link by which a packet for `dst` leaves a buffer.
    fn way_out(&self, buffer: usize, dst: usize) -> usize {
        let Some(inside) = buffer.checked_sub(self.pes) else {
            return buffer;
        };
        let (stage, position) = (inside / self.omega.ports(), inside % self.omega.ports());
        let output = self.omega.digit(dst, self.omega.digit_of_stage(stage));
        buffer - position % RADIX + output
    }

    /// The buffers that a link serves, in order of their next turn.
    fn sources(&self, link: usize) -> impl Iterator<Item = usize> + use<> {
        let inside = link.checked_sub(self.pes);
        let first = inside.map_or(link, |i| link - i % RADIX);
        let (inputs, served) = (if inside.is_some() { RADIX } else { 1 }, self.links[link].served);
        (1..=inputs).map(move |i| first + (served + i) % inputs)
    }

    /// A line for each part that is not idle.
    pub fn state(&self) -> String {
        let mut lines = String::new();
        for (i, buffer) in self.buffers.iter().enumerate().filter(|(_, b)| !b.chunks.is_empty()) {
            let inside = i.checked_sub(self.pes);
            let place = inside.map_or(format!("link of PE {i}"), |i| {
                let (stage, position) = (i / self.omega.ports(), i % self.omega.ports());
                format!(
                    "switch {} of stage {stage}, input {}",
                    position / RADIX,
                    position % RADIX
                )
            });
            let (flits, dst) = (buffer.flits, buffer.chunks[0].packet.dst());
            writeln!(lines, "{place}: {flits} flits wait, the first for PE {dst}").expect("to a string");
        }
        if self.lost > 0 {
            writeln!(lines, "network: {} packets left at ports without a PE", self.lost).expect("to a string");
        }
        lines
    }
}

impl ModelMachine {
    /// Replaces the receive side of `node` for good by a sink that takes every flit at once: "without receiving PE" of
    /// fig. 9.
    pub fn sink(&mut self, node: NodeId) {
        self.network.sinks[node.index()] = true;
    }

    /// Starts the next chunk of a link, if possible.
    pub(super) fn link(&mut self, link: usize) {
        let now = self.now;
        if self.network.links[link].free > now {
            return;
        }
        let waits = |buffer: usize| {
            let chunk = self.network.buffers[buffer].chunks.front()?;
            let there = chunk.ready <= now && self.network.way_out(buffer, chunk.packet.dst()) == link;
            there.then_some((buffer, chunk))
        };
        let found = match self.network.links[link].owner {
            Some(buffer) => waits(buffer),
            None => self.network.sources(link).find_map(waits),
        };
        let Some((buffer, flits)) = found.map(|(buffer, chunk)| (buffer, chunk.flits)) else {
            return;
        };
        if !self.has_room(self.network.links[link].end, flits) {
            return;
        }
        let chunk = self.network.buffers[buffer].chunks.pop_front().expect("it waits");
        let idle = match (chunk.last, link < self.network.pes) {
            (false, _) => 0,
            (true, true) => self.nodes[link].gap,
            (true, false) => self.config.sync_idle,
        };
        let gone = now + self.net_cycles(flits.into());
        let free = gone + self.net_cycles(idle.into());
        let pes = self.network.pes;
        let l = &mut self.network.links[link];
        l.free = free;
        l.owner = (!chunk.last).then_some(buffer);
        l.served = buffer.checked_sub(pes).map_or(0, |inside| inside % RADIX);
        let end = l.end;
        // Room is freed flit by flit: on average, half the chunk's time before its last flit.
        let half = now + self.net_cycles(u64::from(flits).div_ceil(2));
        self.at(half, Due::Freed { buffer, flits });
        self.at(free, Due::Link(link));
        if link < pes {
            self.note_link(link, &chunk, true);
        }
        self.arrive(end, chunk);
        // The next packet of this input may use another output.
        if let Some(next) = self.network.buffers[buffer].chunks.front() {
            let (dst, ready) = (next.packet.dst(), next.ready);
            let out = self.network.way_out(buffer, dst);
            if out != link {
                let at = self.net_edge(gone.max(ready));
                self.at(at, Due::Link(out));
            }
        }
    }

    fn has_room(&self, end: End, flits: u32) -> bool {
        match end {
            // Flits beyond the buffer wait in the registers of the stage.
            End::Buffer(buffer) => self.network.buffers[buffer].flits <= self.config.buf_flits,
            End::Node(node) if self.network.sinks[node] => true,
            End::Node(node) => {
                let limit = self.nodes[node].threshold + self.network.crossing;
                self.network.fifos[node].words + self.fifo_words(flits) <= limit
            }
            End::Nobody => true,
        }
    }

    /// FIFO words of a chunk. The route flit has a word of its own, so the head takes one more than its header.
    pub(super) fn fifo_words(&self, flits: u32) -> u32 {
        flits.div_ceil(self.config.bus_bytes / 2)
    }

    /// The first flit of a chunk arrives now.
    fn arrive(&mut self, end: End, mut chunk: Chunk) {
        let whole = self.now + self.net_cycles(chunk.flits.into());
        match end {
            End::Buffer(buffer) => {
                chunk.ready = self.now + self.net_cycles(self.config.stage_cycles().into());
                let (at, out) = (chunk.ready, self.network.way_out(buffer, chunk.packet.dst()));
                self.network.buffers[buffer].flits += chunk.flits;
                self.network.buffers[buffer].chunks.push_back(chunk);
                self.at(at, Due::Link(out));
            }
            End::Node(node) => {
                self.note_link(node, &chunk, false);
                if self.network.sinks[node] {
                    return;
                }
                chunk.ready = self.io_edge(whole) + self.io_cycles(super::receiver::CROSSING_CYCLES);
                let at = chunk.ready;
                self.network.fifos[node].words += self.fifo_words(chunk.flits);
                self.network.fifos[node].chunks.push_back(chunk);
                self.at(at, Due::Receiver(node));
            }
            End::Nobody => self.network.lost += u64::from(chunk.last),
        }
    }

    fn note_link(&mut self, node: usize, chunk: &Chunk, out: bool) {
        let (head, flits) = (chunk.packet.flits[0], chunk.packet.flits.len() as u32);
        if chunk.first {
            let kind = if out {
                EventKind::TxFirst { head }
            } else {
                EventKind::RxFirst { head }
            };
            self.note(self.now, node, kind);
        }
        if chunk.last {
            let kind = if out {
                EventKind::TxLast { flits }
            } else {
                EventKind::RxLast { flits }
            };
            self.note(self.now + self.net_cycles(u64::from(chunk.flits) - 1), node, kind);
        }
    }

    /// Flits have left a buffer for good: there is room for more.
    pub(super) fn freed(&mut self, buffer: usize, flits: u32) {
        self.network.buffers[buffer].flits -= flits;
        if buffer < self.network.pes {
            let at = self.io_edge(self.now);
            self.at(at, Due::Sender(buffer));
        } else if let Some(link) = self.network.feeders[buffer] {
            self.at(self.now, Due::Link(link));
        }
    }

    /// The Receiver has taken a chunk out of its FIFO.
    pub(super) fn fifo_taken(&mut self, node: usize) -> Chunk {
        let chunk = self.network.fifos[node].chunks.pop_front().expect("a chunk is there");
        self.network.fifos[node].words -= self.fifo_words(chunk.flits);
        let link = self.network.pes + (self.network.omega.stages() - 1) * self.network.omega.ports() + node;
        let at = self.net_edge(self.now) + self.net_cycles(CROSSING_CYCLES);
        self.at(at, Due::Link(link));
        chunk
    }
}
