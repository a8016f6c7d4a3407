//! Links and switch of the model: packets move in chunks, cut-through, each buffer with room for so many words.

use std::collections::VecDeque;
use std::rc::Rc;

use super::{Due, ModelMachine, timing};
use crate::Picos;
use crate::dimmnet1::golden::packet::Header;
use crate::dimmnet1::regs::HDR_W0_MULTICAST_MASK;
use crate::harness::event::EventKind;

/// Part of a packet; its words move together.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub packet: Rc<Vec<u64>>,
    pub from: usize,
    pub words: usize,
    /// When its words are where it lies.
    pub ready: Picos,
}

impl Chunk {
    pub fn is_first(&self) -> bool {
        self.from == 0
    }

    pub fn is_last(&self) -> bool {
        self.from + self.words == self.packet.len()
    }
}

/// Words of the chunk of a packet that begins at `from`: its header alone, or a whole short packet; what is beyond a
/// short packet comes behind.
pub(super) fn chunk_words(packet: &[u64], from: usize) -> usize {
    let header = Header::decode(packet);
    let left = packet.len() - from;
    match from {
        0 if header.is_short() => left.min(header.words() + 1),
        0 => header.words().min(left),
        _ => timing::CHUNK.min(left),
    }
}

fn is_multicast(chunk: &Chunk) -> bool {
    Header::decode(&chunk.packet[..1]).has(HDR_W0_MULTICAST_MASK)
}

fn is_short_multicast(chunk: &Chunk) -> bool {
    is_multicast(chunk) && Header::decode(&chunk.packet[..1]).is_short()
}

/// Chunks in a buffer of so many words.
#[derive(Debug)]
pub(super) struct Buffer {
    room: usize,
    words: usize,
    chunks: VecDeque<Chunk>,
}

impl Buffer {
    fn new(room: usize) -> Buffer {
        Buffer {
            room,
            words: 0,
            chunks: VecDeque::new(),
        }
    }

    pub fn has_room(&self, words: usize) -> bool {
        self.words + words <= self.room
    }

    pub fn push(&mut self, chunk: Chunk) {
        self.words += chunk.words;
        self.chunks.push_back(chunk);
    }

    pub fn pop(&mut self) -> Option<Chunk> {
        let chunk = self.chunks.pop_front()?;
        self.words -= chunk.words;
        Some(chunk)
    }

    pub fn front(&self) -> Option<&Chunk> {
        self.chunks.front()
    }

    pub fn words(&self) -> usize {
        self.words
    }
}

/// A node's way into the switch.
#[derive(Debug)]
struct Input {
    buffer: Buffer,
    /// Outputs that the packet at its head has yet to go to; `None` before it was looked at.
    route: Option<VecDeque<usize>>,
    /// When the outputs that this short multicast went to last began to send it.
    turn: Option<Picos>,
    /// Chunks of that packet that have gone to the first of them, of a multicast.
    copied: usize,
    /// When it can send the next chunk.
    free: Picos,
}

#[derive(Clone, Debug)]
struct Output {
    free: Picos,
    owner: Option<usize>,
    /// All inputs, the least recently served one first.
    turns: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Network {
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// By node: what waits for its receiver.
    down: Vec<Buffer>,
    /// By node: words of the packets under way on its links, out and in.
    counts: Vec<[u32; 2]>,
}

impl Network {
    pub fn new(nodes: usize, tx_words: usize, rx_words: usize) -> Network {
        let input = || Input {
            buffer: Buffer::new(tx_words + timing::SWITCH_INPUT),
            route: None,
            turn: None,
            copied: 0,
            free: Picos::ZERO,
        };
        let output = Output {
            free: Picos::ZERO,
            owner: None,
            turns: (0..nodes).collect(),
        };
        Network {
            inputs: (0..nodes).map(|_| input()).collect(),
            outputs: vec![output; nodes],
            down: (0..nodes)
                .map(|_| Buffer::new(rx_words + timing::SWITCH_OUTPUT))
                .collect(),
            counts: vec![[0; 2]; nodes],
        }
    }

    pub fn up(&mut self, node: usize) -> &mut Buffer {
        &mut self.inputs[node].buffer
    }

    pub fn down(&mut self, node: usize) -> &mut Buffer {
        &mut self.down[node]
    }

    /// Words inside, for a hang report.
    pub fn held(&self, node: usize) -> (usize, usize) {
        (self.inputs[node].buffer.words(), self.down[node].words())
    }

    /// The outputs of the packet at an input's head, nothing where it has no way.
    fn route(&self, input: usize, multicast_words: usize) -> Option<VecDeque<usize>> {
        let chunk = self.inputs[input].buffer.front()?;
        let header = Header::decode(&chunk.packet[..1]);
        let (dst, nodes) = (usize::from(header.dst), self.outputs.len());
        Some(if !header.has(HDR_W0_MULTICAST_MASK) {
            (dst..nodes).take(1).collect()
        } else if dst == 0 && chunk.packet.len() <= multicast_words {
            // Copies go to the input's own output first, then upwards.
            (0..nodes).map(|at| (input + at) % nodes).collect()
        } else {
            VecDeque::new()
        })
    }

    /// The next chunk that an input has for an output at this time.
    fn next(&self, input: usize, output: usize, now: Picos) -> Option<&Chunk> {
        let from = &self.inputs[input];
        let route = from.route.as_ref()?;
        let chunk = from.buffer.chunks.get(from.copied)?;
        // A short multicast goes at once to all outputs that can take it.
        let (is_way, is_free) = if is_short_multicast(chunk) {
            (route.contains(&output), from.free <= now || from.turn == Some(now))
        } else {
            (route.front() == Some(&output), from.free <= now)
        };
        let is_here = chunk.ready <= now && (!is_multicast(chunk) || self.is_stored(input, now));
        (is_way && is_free && is_here).then_some(chunk)
    }

    /// A multicast is stored whole before its first copy leaves.
    fn is_stored(&self, input: usize, now: Picos) -> bool {
        let chunks = &self.inputs[input].buffer.chunks;
        chunks
            .iter()
            .find(|chunk| chunk.is_last())
            .is_some_and(|chunk| chunk.ready <= now)
    }
}

impl ModelMachine {
    /// A node's card puts a chunk on its link.
    pub(super) fn link_out(&mut self, node: usize, chunk: Chunk) {
        let ready = chunk.ready;
        // The core is the slower side.
        let word = self.config.link_period.max(self.config.core_period);
        let first = ready.saturating_sub(word * (chunk.words as u64 - 1));
        self.pass(node, 0, &chunk, first, ready);
        self.network.up(node).push(chunk);
        self.at(ready, Due::Switch);
    }

    /// Tells of the first and the last word of a packet on a link.
    fn pass(&mut self, node: usize, way: usize, chunk: &Chunk, first: Picos, last: Picos) {
        let count = &mut self.network.counts[node][way];
        *count += chunk.words as u32;
        let flits = if chunk.is_last() { std::mem::take(count) } else { *count };
        let head = chunk.packet[0] as u16;
        if chunk.is_first() {
            let kind = [EventKind::TxFirst { head }, EventKind::RxFirst { head }][way];
            self.note(first, node, kind);
        }
        if chunk.is_last() {
            let kind = [EventKind::TxLast { flits }, EventKind::RxLast { flits }][way];
            self.note(last, node, kind);
        }
    }

    /// Moves what can move through the switch.
    pub(super) fn switch(&mut self) {
        let nodes = self.network.outputs.len();
        for input in 0..nodes {
            self.look_at_head(input);
        }
        for output in 0..nodes {
            self.serve(output);
        }
    }

    /// Finds the way of a new packet at an input's head, and drains one that has none.
    fn look_at_head(&mut self, input: usize) {
        let most = self.config.multicast_words as usize;
        loop {
            let now = self.now;
            if self.network.inputs[input].route.is_none() {
                let is_here = |chunk: &Chunk| chunk.is_first() && chunk.ready <= now;
                if !self.network.inputs[input].buffer.front().is_some_and(is_here) {
                    return;
                }
                self.network.inputs[input].route = self.network.route(input, most);
            }
            let network = &mut self.network.inputs[input];
            if network.route.as_ref().is_some_and(|route| !route.is_empty()) {
                return;
            }
            let Some(chunk) = network.buffer.front().filter(|chunk| chunk.ready <= now) else {
                return;
            };
            if chunk.is_last() {
                network.route = None;
            }
            network.buffer.pop();
            self.at(now, Due::Tx(input));
        }
    }

    /// Sends the next chunk through an output, if one is there and has room.
    fn serve(&mut self, output: usize) {
        let now = self.now;
        let Output { free, owner, ref turns } = self.network.outputs[output];
        if free > now {
            return;
        }
        let next = turns
            .iter()
            .filter(|input| owner.is_none_or(|owner| owner == **input))
            .find_map(|input| Some((*input, self.network.next(*input, output, now)?.clone())));
        let Some((input, chunk)) = next else {
            return;
        };
        if !self.network.down[output].has_room(chunk.words) {
            return;
        }
        // Words go on one by one, so the first had passed before the last was there, unless they waited.
        let word = self.config.link_period;
        let behind_first = word * (chunk.words as u64 - 1);
        let from = &mut self.network.inputs[input];
        let start = if is_multicast(&chunk) || now > chunk.ready.max(free).max(from.free) {
            now
        } else {
            free.max(from.free).max(chunk.ready.saturating_sub(behind_first))
        };
        if from.turn != Some(now) {
            let is_copy = from.route.as_ref().is_some_and(|route| route.len() > 1);
            let gap = if is_copy && chunk.is_last() { timing::COPY } else { 0 };
            from.free = start + word * (chunk.words as u64 + gap);
            from.turn = is_short_multicast(&chunk).then_some(now);
        }
        let serves = &mut self.network.outputs[output];
        serves.free = start + word * chunk.words as u64;
        serves.owner = (!chunk.is_last()).then_some(input);
        serves.turns.retain(|turn| *turn != input);
        serves.turns.push(input);
        self.depart(input, output, &chunk);
        self.arrive(output, start, chunk);
        self.at(self.network.outputs[output].free, Due::Switch);
        self.at(self.network.inputs[input].free, Due::Switch);
    }

    /// A chunk has left an input by an output; the last of the last copy leaves nothing behind.
    fn depart(&mut self, input: usize, output: usize, chunk: &Chunk) {
        let from = &mut self.network.inputs[input];
        let route = from.route.as_mut().expect("its packet has a way");
        if is_multicast(chunk) {
            from.copied += 1;
        } else {
            from.buffer.pop();
        }
        if chunk.is_last() {
            route.retain(|to| *to != output);
            let chunks = std::mem::take(&mut from.copied);
            if route.is_empty() {
                from.route = None;
                from.turn = None;
                (0..chunks).for_each(|_| drop(from.buffer.pop()));
            }
        }
        self.at(self.now, Due::Tx(input));
        self.at(self.now, Due::Switch);
    }

    /// The chunk, whose first word passes the switch from `start` on, comes to the card.
    fn arrive(&mut self, output: usize, start: Picos, mut chunk: Chunk) {
        let hop = self.config.link_period * u64::from(self.config.hop_cycles());
        let first = start + hop;
        let last = first + self.config.link_period * (chunk.words as u64 - 1);
        self.pass(output, 1, &chunk, first, last);
        chunk.ready = self.core_edge(last) + self.core_cycles(timing::CROSSING);
        let ready = chunk.ready;
        self.network.down[output].push(chunk);
        self.at(ready, Due::Rx(output));
    }
}
