//! The RDMA engine of a card in the model: descriptors of the host, and the replies to PULL, one packet at a time.

use super::bus::raises;
use super::tables::{Kind, LLCM_ADDR, Looked};
use super::{Due, ModelMachine, send::with_generation, timing};
use crate::dimmnet1::golden::packet::{Header, Packet, Place, Reason, cut};
use crate::dimmnet1::regs::*;
use crate::{Addr, Picos};

/// A descriptor of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    /// Word 0 of its packets.
    pub what: Header,
    pub local: Place,
    pub remote: Place,
    pub bytes: u32,
    pub slot: u8,
}

/// The packet in work.
#[derive(Clone, Copy, Debug)]
struct Work {
    header: Header,
    /// Where its data are, and whose space that is; none of a PULL request.
    source: Option<(u16, Place)>,
    /// It answers a PULL.
    is_reply: bool,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Idle,
    /// Its source is being looked up.
    LooksUp(Picos),
    /// A translation is missing: a cause of Stops, and the key.
    Stopped(u32, u64),
    /// Data are on their way, from this address.
    Reads(Picos, u32),
    /// The packet is offered, if there is credit; it is the end of a descriptor for this reason.
    Offered(Vec<u64>, Option<Reason>),
}

#[derive(Debug, Default)]
pub(super) struct Rdma {
    current: Option<Descriptor>,
    waiting: Option<Descriptor>,
    /// Bytes of the current descriptor in packets that leave or have left.
    done: u32,
    /// The packet that leaves is the last of its descriptor, which ends for this reason.
    ends: Option<Option<Reason>>,
    leaves: bool,
    pull: Option<Vec<u64>>,
    /// The last packet was a reply.
    replied: bool,
    work: Option<Work>,
    stage: Stage,
    next: Picos,
    pub error: Option<Reason>,
}

impl Rdma {
    pub fn is_full(&self) -> bool {
        self.waiting.is_some()
    }

    pub fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Cause and key of a stop.
    pub fn stop(&self) -> Option<(u32, u64)> {
        match self.stage {
            Stage::Stopped(cause, key) => Some((cause, key)),
            _ => None,
        }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle) && self.current.is_none() && self.pull.is_none() && !self.leaves
    }
}

impl ModelMachine {
    /// A descriptor begins, or waits behind the one under way.
    pub(super) fn rdma_start(&mut self, node: usize, descriptor: Descriptor) {
        let rdma = &mut self.cards[node].rdma;
        if rdma.current.is_none() {
            rdma.error = None;
            rdma.current = Some(descriptor);
        } else {
            rdma.waiting = Some(descriptor);
        }
        self.at(self.now + self.core_cycles(timing::RDMA_START), Due::Rdma(node));
    }

    /// The engine looks again.
    pub(super) fn rdma(&mut self, node: usize) {
        let now = self.now;
        if self.cards[node].rdma.pull.is_none() {
            let pull = self.cards[node].send.take_pull(now);
            if pull.is_some() {
                self.cards[node].rdma.pull = pull;
                self.at(now, Due::Tx(node));
            }
        }
        match std::mem::take(&mut self.cards[node].rdma.stage) {
            Stage::Idle => self.rdma_begin(node),
            Stage::LooksUp(at) if at <= now => self.rdma_looked(node),
            Stage::Reads(at, addr) if at <= now => self.rdma_read(node, addr),
            stage => self.cards[node].rdma.stage = stage,
        }
    }

    /// Chooses the next packet: replies and the descriptor's in turn.
    fn rdma_begin(&mut self, node: usize) {
        let pgid = self.cards[node].regs.pgid;
        let rdma = &mut self.cards[node].rdma;
        if rdma.next > self.now {
            let next = rdma.next;
            return self.at(next, Due::Rdma(node));
        }
        let is_over = rdma.ends.is_some();
        let reply = rdma.pull.is_some() && !(rdma.replied && rdma.current.is_some() && !is_over);
        let work = if reply {
            rdma.pull.as_deref().map(reply_to)
        } else if let Some(descriptor) = rdma.current.filter(|_| !is_over) {
            if let Some(reason) = malformed(&descriptor) {
                return self.rdma_end(node, Some(reason));
            }
            Some(next_of(&descriptor, rdma.done, pgid))
        } else {
            None
        };
        let Some(work) = work else { return };
        rdma.replied = work.is_reply;
        rdma.work = Some(work);
        if work.source.is_some() {
            self.rdma_look_up(node);
        } else {
            let data = descriptor_place(&self.cards[node].rdma).word().to_le_bytes();
            let mut packet = Packet::new(&work.header, &data);
            packet.words.truncate(work.header.packet_words());
            self.rdma_offer(node, packet.words, None);
        }
    }

    pub(super) fn rdma_look_up(&mut self, node: usize) {
        let at = self.now + self.core_cycles(timing::LOOKUP);
        self.cards[node].rdma.stage = Stage::LooksUp(at);
        self.at(at, Due::Rdma(node));
    }

    fn rdma_looked(&mut self, node: usize) {
        let card = &mut self.cards[node];
        let work = card.rdma.work.expect("it looks something up");
        let (pgid, place) = work.source.expect("it has a source");
        match card.tlb.look_up(pgid, place, work.header.length, Kind::Read) {
            Looked::At(addr) => {
                let latency = if addr >= LLCM_ADDR {
                    2
                } else {
                    self.config.mem_read_latency.into()
                };
                let at = self.now + self.core_cycles(timing::RDMA_READ + latency + timing::RDMA_DATA);
                self.cards[node].rdma.stage = Stage::Reads(at, addr);
                self.at(at, Due::Rdma(node));
            }
            Looked::Refused(reason) => self.rdma_refused(node, reason),
            Looked::Missed(..) if !card.regs.runs() => self.rdma_refused(node, Reason::Unserved),
            Looked::Missed(cause, key) => {
                card.rdma.stage = Stage::Stopped(cause, key);
                self.stopped(node, true);
            }
        }
    }

    /// The packet in work cannot be.
    pub(super) fn rdma_refused(&mut self, node: usize, reason: Reason) {
        let rdma = &mut self.cards[node].rdma;
        rdma.stage = Stage::Idle;
        let Some(work) = rdma.work.take() else { return };
        if !work.is_reply {
            if rdma.leaves {
                // One before it still leaves.
                rdma.ends = Some(Some(reason));
                return;
            }
            return self.rdma_end(node, Some(reason));
        }
        let words = rdma.pull.take().expect("it replies to one");
        let request = Packet { words }.header();
        let nack = Packet::new(&request.answer(Some(reason), request.seq), &[]);
        self.rdma_offer(node, nack.words, None);
    }

    /// The first data are there. A memory that refuses ends the packet early.
    fn rdma_read(&mut self, node: usize, addr: u32) {
        let card = &mut self.cards[node];
        let work = card.rdma.work.expect("it reads for something");
        let mut data = Vec::new();
        let bytes = work.header.length;
        let mut end = None;
        for at in (0..bytes).step_by(8) {
            match card.read_word(addr + at) {
                Some(word) => data.extend(word.to_le_bytes()),
                None => {
                    end = Some(Reason::Bus);
                    break;
                }
            }
        }
        data.truncate(bytes as usize);
        let packet = Packet::new(&work.header, &data);
        self.rdma_offer(node, packet.words, end);
    }

    fn rdma_offer(&mut self, node: usize, packet: Vec<u64>, end: Option<Reason>) {
        self.cards[node].rdma.stage = Stage::Offered(packet, end);
        self.at(self.now, Due::Tx(node));
    }

    /// The packet for the arbiter.
    pub(super) fn offer_rdma(&mut self, node: usize) -> Option<Vec<u64>> {
        let card = &mut self.cards[node];
        let Stage::Offered(packet, end) = &mut card.rdma.stage else {
            return None;
        };
        let header = Header::decode(packet);
        if header.has(HDR_W0_ACK_REQ_MASK) || header.kind == TYPE_PULL {
            let generation = card.acks.take(header.slot(), header.dst)?;
            packet[1] = with_generation(packet[1], generation);
        }
        let (packet, end) = (std::mem::take(packet), *end);
        let next = self.now + self.core_cycles(timing::RDMA_NEXT);
        let rdma = &mut self.cards[node].rdma;
        rdma.stage = Stage::Idle;
        (rdma.leaves, rdma.next) = (true, next);
        match rdma.work.take() {
            Some(work) if !work.is_reply => {
                rdma.done += work.header.length;
                let is_last = rdma.current.is_some_and(|descriptor| rdma.done == descriptor.bytes);
                rdma.ends = (end.is_some() || is_last).then_some(end);
            }
            _ => rdma.pull = None,
        }
        // The next packet is prepared while this one leaves.
        self.at(next, Due::Rdma(node));
        Some(packet)
    }

    /// A packet has left.
    pub(super) fn rdma_gone(&mut self, node: usize) {
        let rdma = &mut self.cards[node].rdma;
        rdma.leaves = false;
        if let Some(reason) = rdma.ends.take() {
            self.rdma_end(node, reason);
        }
        self.at(self.now, Due::Rdma(node));
    }

    /// The current descriptor has ended.
    fn rdma_end(&mut self, node: usize, reason: Option<Reason>) {
        let rdma = &mut self.cards[node].rdma;
        rdma.error = reason;
        rdma.current = rdma.waiting.take();
        rdma.done = 0;
        let at = self.now + self.core_cycles(timing::RDMA_NEXT);
        self.at(at, Due::Rdma(node));
    }

    /// A write of RDMA_GO; false if nothing is stopped.
    pub(super) fn rdma_go(&mut self, node: usize, what: u32, reason: Reason) -> bool {
        if self.cards[node].rdma.stop().is_none() {
            return false;
        }
        if what == GO_CONTINUE {
            self.rdma_look_up(node);
        } else {
            self.rdma_refused(node, reason);
        }
        raises(self, node);
        true
    }
}

impl super::Card {
    /// A word of memory or LLCM, as the card reads it.
    fn read_word(&mut self, addr: u32) -> Option<u64> {
        let bytes = if addr >= LLCM_ADDR {
            let at = (addr - LLCM_ADDR) as usize;
            self.llcm.get(at..at + 8)?
        } else {
            let addr = Addr(addr);
            if !self.memory.bus_ok(addr, 8) {
                return None;
            }
            self.memory.read(addr, 8)?
        };
        Some(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }
}

/// Why no packet of a descriptor may leave.
fn malformed(descriptor: &Descriptor) -> Option<Reason> {
    let Header { kind, .. } = descriptor.what;
    let is_known = matches!(kind, TYPE_PUSH | TYPE_PULL) || kind >= TYPE_INDIRECT;
    let asks = descriptor.what.has(HDR_W0_ACK_REQ_MASK) || kind == TYPE_PULL;
    let is_aligned = (descriptor.local.offset | descriptor.remote.offset).is_multiple_of(8);
    if !is_known || asks && descriptor.what.has(HDR_W0_MULTICAST_MASK) {
        Some(Reason::Type)
    } else if descriptor.bytes == 0 || !is_aligned {
        Some(Reason::Length)
    } else {
        None
    }
}

/// Where the data of the current PULL request go.
fn descriptor_place(rdma: &Rdma) -> Place {
    let descriptor = rdma.current.expect("a request is a descriptor's");
    descriptor.local.plus(rdma.done.into())
}

/// The next packet of a descriptor of which `done` bytes have left.
fn next_of(descriptor: &Descriptor, done: u32, pgid: u16) -> Work {
    let what = descriptor.what;
    let (local, left) = (descriptor.local.plus(done.into()), descriptor.bytes - done);
    let advanced = descriptor.remote.plus(done.into());
    // The address of a type of the far processor names a cell, which all packets have as it is.
    let (remote, borders) = if what.kind >= TYPE_INDIRECT {
        (descriptor.remote, [local.offset; 2])
    } else {
        (advanced, [local.offset, advanced.offset])
    };
    let piece = cut(left, SIZE_PACKET, &borders).next().expect("bytes are left");
    let is_pull = what.kind == TYPE_PULL;
    let last = if piece.bytes == left {
        what.flags & HDR_W0_LAST_MASK
    } else {
        0
    };
    let own = HDR_W0_ACK_REQ_MASK | HDR_W0_F_SEQ_MASK | HDR_W0_MULTICAST_MASK;
    let flags = if is_pull {
        HDR_W0_OTF_MASK | HDR_W0_ACK_REQ_MASK
    } else {
        what.flags & own | last
    };
    let header = Header {
        flags,
        src: 0,
        length: piece.bytes,
        pgid,
        tag: descriptor.slot.into(),
        seq: 0,
        place: remote,
        soft: [0, descriptor.bytes.into(), 0],
        ..what
    };
    Work {
        header,
        source: (!is_pull).then_some((pgid, local)),
        is_reply: false,
    }
}

/// The reply to a PULL.
fn reply_to(words: &[u64]) -> Work {
    let request = Packet { words: words.to_vec() }.header();
    let header = Header {
        kind: TYPE_PULL_REPLY,
        flags: 0,
        src: 0,
        dst: request.src,
        seq: 0,
        place: Place::of(request.soft[0]),
        soft: [0; 3],
        ..request
    };
    Work {
        header,
        source: Some((request.pgid, request.place)),
        is_reply: true,
    }
}
