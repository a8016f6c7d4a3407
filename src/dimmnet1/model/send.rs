//! The sending side of a card in the model: stores that become packets, windows, the answer queue, and the arbiter.

use std::collections::VecDeque;
use std::rc::Rc;

use super::network::{Chunk, chunk_words};
use super::{Due, ModelMachine, Way, timing};
use crate::Picos;
use crate::dimmnet1::golden::packet::{HEADER_WORDS, Header, Packet, Place, Reason, put};
use crate::dimmnet1::params::Config;
use crate::dimmnet1::regs::*;
use crate::dimmnet1::window::CardAccess;

/// Who offers packets to the arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Answers,
    Aotf,
    Window(usize),
    Rdma,
    /// A neighbour with a packet on this card's link.
    Forger,
}

/// A store to a page of AOTF.
#[derive(Clone, Copy, Debug)]
struct Stored {
    packet: [u64; 4],
    ready: Picos,
}

/// A packet that leaves.
struct Leaving {
    client: Client,
    packet: Rc<Vec<u64>>,
    sent: usize,
}

pub(super) struct Send {
    htlb: Vec<[u64; 3]>,
    stores: VecDeque<Stored>,
    room: usize,
    windows: [[u64; 64]; 2],
    busy: [bool; 2],
    errors: [Option<Reason>; 2],
    /// Kicked windows, in order, each with the time at which its packet is there.
    kicked: VecDeque<(usize, Picos)>,
    aotf_last: bool,
    waits: bool,
    answers: VecDeque<(Picos, Vec<u64>)>,
    answer_room: usize,
    turn: usize,
    leaving: Option<Leaving>,
    /// Packets of others for this card's link.
    forged: VecDeque<Vec<u64>>,
    free: Picos,
    /// By destination.
    numbers: [u32; 64],
}

impl Send {
    pub fn new(config: &Config) -> Send {
        Send {
            htlb: vec![[0; 3]; SIZE_TLB as usize],
            stores: VecDeque::new(),
            room: config.aotf_stores as usize,
            windows: [[0; 64]; 2],
            busy: [false; 2],
            errors: [None; 2],
            kicked: VecDeque::new(),
            aotf_last: false,
            waits: false,
            answers: VecDeque::new(),
            answer_room: config.answer_words as usize,
            turn: 0,
            leaving: None,
            forged: VecDeque::new(),
            free: Picos::ZERO,
            numbers: [0; 64],
        }
    }

    /// Whether a store to a page of AOTF must wait.
    pub fn is_full(&self) -> bool {
        self.stores.len() == self.room
    }

    /// The value of register WINDOWS.
    pub fn state(&self) -> u64 {
        let bit = |mask, on: bool| put(mask, on.into());
        let code = |mask, error: Option<Reason>| put(mask, error.map_or(0, Reason::code).into());
        bit(WINDOWS_BUSY0_MASK, self.busy[0])
            | bit(WINDOWS_BUSY1_MASK, self.busy[1])
            | code(WINDOWS_ERROR0_MASK, self.errors[0])
            | code(WINDOWS_ERROR1_MASK, self.errors[1])
            | bit(WINDOWS_WAITING_MASK, self.waits)
            | bit(WINDOWS_AOTF_MASK, !self.stores.is_empty())
    }

    /// A store to a window; false if it is busy.
    pub fn store_window(&mut self, access: CardAccess) -> bool {
        let at = (access.offset / SIZE_WINDOW) as usize;
        if self.busy[at] {
            return false;
        }
        let word = &mut self.windows[at][(access.offset % SIZE_WINDOW / 8) as usize];
        *word = merge(*word, access);
        true
    }

    pub fn store_header(&mut self, offset: u32, value: u64) {
        let (page, word) = ((offset - HEADER_TLB) / 32, (offset - HEADER_TLB) % 32 / 8);
        if let Some(entry) = self.htlb[page as usize].get_mut(word as usize) {
            *entry = value;
        }
    }

    /// A store to a page of AOTF becomes a packet; false if it is refused.
    pub fn store_aotf(&mut self, access: CardAccess, ready: Picos) -> bool {
        let run = u32::from(access.strobes) >> access.strobes.trailing_zeros();
        let is_run = run != 0 && run & (run + 1) == 0;
        let offset = access.offset - AOTF;
        let entry = self.htlb[(offset / SIZE_PAGE) as usize];
        let mut header = Header::decode(&entry);
        let multicast = header.has(HDR_W0_MULTICAST_MASK) && header.has(HDR_W0_ACK_REQ_MASK);
        if !is_run || header.kind == TYPE_CLOSED || multicast {
            return false;
        }
        let first = offset % SIZE_PAGE + access.strobes.trailing_zeros();
        header.flags |= HDR_W0_OTF_MASK;
        header.src = 0;
        header.seq = 0;
        header.length = access.strobes.count_ones();
        header.place = Place {
            offset: header.place.offset.wrapping_add(first.into()) & HDR_W2_OFFSET_MASK,
            ..header.place
        };
        let [w0, w1, w2, ..] = header.encode();
        let data = access.value(access.store.unwrap_or(0));
        self.stores.push_back(Stored {
            packet: [w0, w1, w2, data],
            ready,
        });
        true
    }

    /// A kick; false if the window is busy.
    pub fn kick(&mut self, at: usize, pgid: u16, ready: Picos) -> bool {
        if self.busy[at] {
            return false;
        }
        let header = Header::decode(&self.windows[at][..HEADER_WORDS]);
        let multicast = header.has(HDR_W0_MULTICAST_MASK) && header.has(HDR_W0_ACK_REQ_MASK);
        self.errors[at] = if multicast || !(header.kind == TYPE_PUSH || header.kind >= TYPE_INDIRECT) {
            Some(Reason::Type)
        } else if !(1..=SIZE_BOTF).contains(&header.length) {
            Some(Reason::Length)
        } else {
            None
        };
        if self.errors[at].is_none() {
            let header = Header {
                flags: header.flags & !HDR_W0_OTF_MASK,
                src: 0,
                pgid,
                ..header
            };
            self.windows[at][..HEADER_WORDS].copy_from_slice(&header.encode());
            self.busy[at] = true;
            self.kicked.push_back((at, ready));
        }
        true
    }

    /// Room in the answer queue for a packet of four words.
    pub fn has_answer_room(&self) -> bool {
        let words: usize = self.answers.iter().map(|(_, words)| words.len()).sum();
        words + 4 <= self.answer_room
    }

    pub fn answer(&mut self, ready: Picos, packet: Vec<u64>) {
        self.answers.push_back((ready, packet));
    }

    /// A neighbour sends this packet on the card's link, as it is, when no other is under way there.
    pub fn forge(&mut self, packet: Vec<u64>) {
        self.forged.push_back(packet);
    }

    /// The PULL at the head of the answer queue.
    pub fn take_pull(&mut self, now: Picos) -> Option<Vec<u64>> {
        let is_pull = |(ready, words): &&(Picos, Vec<u64>)| *ready <= now && is_pull(words);
        self.answers.front().filter(is_pull)?;
        self.answers.pop_front().map(|(_, words)| words)
    }

    pub fn is_idle(&self) -> bool {
        let is_quiet = self.leaving.is_none() && self.forged.is_empty();
        is_quiet && self.stores.is_empty() && self.kicked.is_empty() && self.answers.is_empty()
    }
}

fn is_pull(words: &[u64]) -> bool {
    Header::decode(&words[..1]).kind == TYPE_PULL
}

/// A word with the bytes of a store in it.
pub(super) fn merge(word: u64, access: CardAccess) -> u64 {
    let lanes = (0..8).filter(|lane| access.strobes >> lane & 1 == 1);
    let mask = lanes.map(|lane| 0xff_u64 << (8 * lane)).sum::<u64>();
    word & !mask | access.store.unwrap_or(0) & mask
}

impl ModelMachine {
    /// The arbiter of a card's sending side looks again.
    pub(super) fn tx(&mut self, node: usize) {
        if self.cards[node].send.free > self.now {
            return;
        }
        if self.cards[node].send.leaving.is_none() {
            self.choose(node);
        }
        let send = &self.cards[node].send;
        let Some(leaving) = &send.leaving else { return };
        let (packet, from, client) = (leaving.packet.clone(), leaving.sent, leaving.client);
        let words = chunk_words(&packet, from);
        if !self.network.up(node).has_room(words) {
            return;
        }
        let end = if client == Client::Rdma && from > 0 {
            self.use_memory(node, self.now, words, Way::Read)
        } else {
            self.now + self.core_cycles(words as u64)
        };
        let arbiter = match client {
            Client::Aotf | Client::Window(_) | Client::Forger => timing::TX,
            Client::Answers | Client::Rdma => timing::TX + timing::TURN,
        };
        let chunk = Chunk {
            ready: self.link_edge(end + self.core_cycles(arbiter)) + self.config.link_period * timing::CROSSING,
            packet,
            from,
            words,
        };
        let is_last = chunk.is_last();
        self.link_out(node, chunk);
        let send = &mut self.cards[node].send;
        send.free = end;
        if is_last {
            send.leaving = None;
            let gone = match client {
                // The window is free when its last word has been read.
                Client::Window(_) => end - self.core_cycles(1),
                _ => end,
            };
            self.at(gone, Due::Gone(node, client));
        } else if let Some(leaving) = &mut send.leaving {
            leaving.sent += words;
        }
        self.at(end, Due::Tx(node));
    }

    /// The next packet, client by client in turn.
    fn choose(&mut self, node: usize) {
        const CLIENTS: usize = 3;
        let send = &mut self.cards[node].send;
        if let Some(packet) = send.forged.pop_front() {
            send.leaving = Some(Leaving {
                client: Client::Forger,
                packet: Rc::new(packet),
                sent: 0,
            });
            return;
        }
        for step in 0..CLIENTS {
            let client = (self.cards[node].send.turn + step) % CLIENTS;
            let offered = match client {
                0 => self.offer_answer(node),
                1 => self.offer_send(node),
                _ => self.offer_rdma(node).map(|packet| (Client::Rdma, packet)),
            };
            let Some((client_is, mut packet)) = offered else {
                continue;
            };
            let card = &mut self.cards[node];
            stamp(&mut packet, card.regs.node, &mut card.send.numbers);
            card.send.turn = client + 1;
            card.send.leaving = Some(Leaving {
                client: client_is,
                packet: Rc::new(packet),
                sent: 0,
            });
            return;
        }
    }

    fn offer_answer(&mut self, node: usize) -> Option<(Client, Vec<u64>)> {
        let now = self.now;
        let send = &mut self.cards[node].send;
        let is_there = |(ready, words): &&(Picos, Vec<u64>)| *ready <= now && !is_pull(words);
        send.answers.front().filter(is_there)?;
        let (_, words) = send.answers.pop_front()?;
        // What is behind it may be a PULL, and the firmware may wait for room.
        self.at(now, Due::Rdma(node));
        self.at(now, Due::Rx(node));
        Some((Client::Answers, words))
    }

    /// AOTF first, in turn with the windows.
    fn offer_send(&mut self, node: usize) -> Option<(Client, Vec<u64>)> {
        let card = &mut self.cards[node];
        card.send.waits = false;
        let order = if card.send.aotf_last {
            [false, true]
        } else {
            [true, false]
        };
        for aotf in order {
            let found = if aotf {
                self.offer_aotf(node)
            } else {
                self.offer_window(node)
            };
            if found.is_some() {
                self.cards[node].send.aotf_last = aotf;
                return found;
            }
        }
        None
    }

    fn offer_aotf(&mut self, node: usize) -> Option<(Client, Vec<u64>)> {
        let now = self.now;
        let credit = self.core_cycles(timing::CREDIT);
        let stored = *self.cards[node].send.stores.front()?;
        let header = Header::decode(&stored.packet);
        let asks = header.has(HDR_W0_ACK_REQ_MASK) || header.kind == TYPE_PULL;
        let ready = stored.ready + if asks { credit } else { Picos::ZERO };
        if ready > now {
            self.at(ready, Due::Tx(node));
            return None;
        }
        let words = self.with_credit(node, stored.packet.to_vec())?;
        self.cards[node].send.stores.pop_front();
        self.at(now, Due::Host(node));
        Some((Client::Aotf, words))
    }

    fn offer_window(&mut self, node: usize) -> Option<(Client, Vec<u64>)> {
        let now = self.now;
        let credit = self.core_cycles(timing::CREDIT);
        let send = &self.cards[node].send;
        let (at, kicked) = *send.kicked.front()?;
        let header = Header::decode(&send.windows[at][..HEADER_WORDS]);
        let asks = header.has(HDR_W0_ACK_REQ_MASK);
        let ready = kicked + if asks { credit } else { Picos::ZERO };
        if ready > now {
            self.at(ready, Due::Tx(node));
            return None;
        }
        let send = &self.cards[node].send;
        let words = send.windows[at][..header.packet_words()].to_vec();
        let words = self.with_credit(node, words)?;
        self.cards[node].send.kicked.pop_front();
        Some((Client::Window(at), words))
    }

    /// The packet with its generation, if it needs no credit or there is one.
    fn with_credit(&mut self, node: usize, mut words: Vec<u64>) -> Option<Vec<u64>> {
        let header = Header::decode(&words);
        if header.has(HDR_W0_ACK_REQ_MASK) || header.kind == TYPE_PULL {
            let card = &mut self.cards[node];
            let generation = card.acks.take(header.slot(), header.dst);
            card.send.waits |= generation.is_none();
            words[1] = with_generation(words[1], generation?);
        }
        Some(words)
    }

    /// A packet has left.
    pub(super) fn gone(&mut self, node: usize, client: Client) {
        match client {
            Client::Window(at) => self.cards[node].send.busy[at] = false,
            Client::Rdma => self.rdma_gone(node),
            Client::Answers | Client::Aotf | Client::Forger => {}
        }
    }

    /// Queues an answer, a PULL, or a built packet, which is offered in so many cycles.
    pub(super) fn queue_answer(&mut self, node: usize, packet: Packet, cycles: u64) {
        let ready = self.now + self.core_cycles(cycles);
        self.cards[node].send.answer(ready, packet.words);
        self.at(ready, Due::Tx(node));
        self.at(ready, Due::Rdma(node));
    }
}

/// W1 with this generation in its TAG.
pub(super) fn with_generation(w1: u64, generation: u16) -> u64 {
    let header = Header::decode(&[0, w1]);
    let tag = header.tag & 0xf | generation << 4;
    w1 & !HDR_W1_TAG_MASK | put(HDR_W1_TAG_MASK, tag.into())
}

/// What the arbiter puts into a header: SRC, and the number of a packet that has F_SEQ and none yet.
fn stamp(packet: &mut [u64], node: u16, numbers: &mut [u32; 64]) {
    let header = Header::decode(packet);
    packet[0] = packet[0] & !HDR_W0_SRC_MASK | put(HDR_W0_SRC_MASK, node.into());
    if header.has(HDR_W0_F_SEQ_MASK) && !header.has(HDR_W0_RESEND_MASK) {
        let number = numbers.get_mut(usize::from(header.dst)).map_or(0, |next| {
            let number = *next;
            *next = next.wrapping_add(1);
            number
        });
        packet[1] = packet[1] & !HDR_W1_SEQ_MASK | put(HDR_W1_SEQ_MASK, number.into());
    }
}
