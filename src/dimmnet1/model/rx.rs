//! The receiver of a card in the model: one packet at a time, in the order of the link.

use std::collections::VecDeque;
use std::rc::Rc;

use super::tables::{Kind, LLCM_ADDR, Looked};
use super::{Due, ModelMachine, Way, timing};
use crate::dimmnet1::golden::matcher::{self, Chain, Step, Verdict};
use crate::dimmnet1::golden::packet::{HEADER_WORDS, Header, Packet, Place, Reason, SHORT_WORDS, Status, WORD};
use crate::dimmnet1::regs::*;
use crate::{Addr, Picos};

/// What becomes of a packet's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Written at this physical address.
    Write(u32),
    /// The same by RX_GO DMA: no answer.
    Dma(u32),
    /// An RX_GO DMA that cannot be: dropped, and no answer.
    NoDma,
    /// Written into LLCM by the Mini-OTF receiver.
    Otf(u32),
    /// Dropped; a NACK if it asks for one.
    Refuse(Reason),
    /// Dropped, and no answer: RX_GO DROP, and what is dealt with when its header is there.
    Drop,
    /// Dropped, with the ACK of a packet that came before.
    Duplicate,
    /// Dropped and counted, and no answer.
    Uncredited,
}

/// The packet in work.
#[derive(Clone, Debug)]
struct Take {
    packet: Rc<Vec<u64>>,
    /// The header, as it is now.
    header: Header,
    /// SEQ for its answer, where that is not its own.
    seq: Option<u32>,
    fate: Fate,
    /// Bytes of the part to come, and the places and bytes of those before. LENGTH is what is left.
    part: Option<u32>,
    parts: Vec<(u32, u32)>,
    /// Words of the last part that are to come, while it is under way, and when it began.
    moving: Option<usize>,
    begun: Picos,
    /// Words of a chunk that a part left; whether it is the packet's last one.
    held: usize,
    ended: bool,
    /// The matcher began the last part, by this command.
    by_matcher: bool,
    chain: Option<Chain>,
}

impl Take {
    /// Bytes of the parts before.
    fn moved(&self) -> usize {
        self.parts.iter().map(|&(_, bytes)| bytes as usize).sum()
    }

    /// Where its data go now, if anywhere.
    fn target(&self) -> Option<u32> {
        match self.fate {
            _ if self.moving.is_some() => self.parts.last().map(|part| part.0),
            Fate::Write(addr) | Fate::Dma(addr) => Some(addr),
            _ => None,
        }
    }

    /// Its data as they came, whatever LENGTH says.
    fn data(&self) -> Vec<u8> {
        let head = Header::decode(&self.packet[..1]).words();
        let words = self.packet.iter().skip(head);
        words.flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Whether as many words of data came as LENGTH says now.
    fn is_whole(&self) -> bool {
        let head = Header::decode(&self.packet[..1]).words();
        let bytes = self.moved() as u32 + self.header.length;
        self.packet.len() == head + bytes.div_ceil(WORD) as usize
    }

    /// The table entry of its number, if it has one.
    fn number(&self) -> Option<usize> {
        let header = &self.header;
        let has_number = header.has(HDR_W0_F_SEQ_MASK) && !matches!(header.kind, TYPE_ACK | TYPE_NACK);
        has_number.then_some(header.src.into())
    }
}

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Idle,
    /// Its header is there at this instant.
    Header(Picos, Take),
    /// Its fate is known at this instant.
    LooksUp(Picos, Take),
    /// It stops at this instant, for a cause of Stops, with the key that missed.
    Stops(Picos, Take, u32, u64),
    Stopped(Take),
    /// Its data are taken, from this instant on.
    Drains(Picos, Take),
    /// The last of them have come in at this instant. Up to [`timing::BODY`] words still wait for memory.
    Ends(Picos, Take),
}

/// A write under way; the time at which it is visible.
#[derive(Clone, Debug)]
struct Write {
    at: Picos,
    take: Take,
}

#[derive(Debug)]
pub(super) struct Rx {
    state: State,
    expected: [u32; 64],
    writes: VecDeque<Write>,
    /// When the packets before are settled, if their writes are visible; when their words have come in.
    settled: Picos,
    free: Picos,
    /// When the words that wait leave for memory; when the last of a packet have left.
    body: VecDeque<Picos>,
    moved: Picos,
    cause: u32,
    pub more: bool,
    pub key: u64,
    /// The header registers of a stop.
    pub header: [u64; HEADER_WORDS],
    pub dma_addr: u64,
    pub done: Option<Option<Reason>>,
}

impl Rx {
    pub fn new() -> Rx {
        Rx {
            state: State::Idle,
            expected: [0; 64],
            writes: VecDeque::new(),
            settled: Picos::ZERO,
            free: Picos::ZERO,
            body: VecDeque::new(),
            moved: Picos::ZERO,
            cause: 0,
            more: false,
            key: 0,
            header: [0; HEADER_WORDS],
            dma_addr: 0,
            done: None,
        }
    }

    pub fn is_stopped(&self) -> bool {
        matches!(self.state, State::Stopped(_))
    }

    pub fn cause(&self) -> u32 {
        if self.is_stopped() { self.cause } else { 0 }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle) && self.writes.is_empty()
    }
}

impl ModelMachine {
    /// The receiver looks again.
    pub(super) fn rx(&mut self, node: usize) {
        self.rx_visible(node);
        loop {
            let now = self.now;
            match std::mem::take(&mut self.cards[node].rx.state) {
                State::Idle => {
                    if !self.rx_header(node) {
                        return;
                    }
                }
                State::Header(at, take) if at <= now && self.rx_may_decide(node, &take) => {
                    self.rx_decide(node, at, take)
                }
                State::LooksUp(at, take) if at <= now && self.rx_may_begin(node, &take) => {
                    self.rx_begin(node, now, take)
                }
                State::Stops(at, take, cause, key) if at <= now => self.rx_stopped(node, take, cause, key),
                State::Ends(at, take) if at <= now && take.moving.is_some() => self.rx_behind_part(node, take),
                State::Ends(at, take) if at <= now => self.rx_end(node, take),
                State::Drains(at, take) if at <= now => {
                    if !self.rx_drain(node, at, take) {
                        return;
                    }
                }
                state => {
                    self.cards[node].rx.state = state;
                    return;
                }
            }
        }
    }

    fn rx_set(&mut self, node: usize, at: Picos, state: State) {
        self.cards[node].rx.state = state;
        self.at(at.max(self.now), Due::Rx(node));
    }

    /// Takes the next chunk, if it is there; each frees its room as it is taken.
    fn rx_chunk(&mut self, node: usize) -> Option<super::network::Chunk> {
        let now = self.now;
        let down = self.network.down(node);
        down.front().filter(|chunk| chunk.ready <= now)?;
        let chunk = down.pop();
        self.at(now, Due::Switch);
        chunk
    }

    fn rx_header(&mut self, node: usize) -> bool {
        let receives = self.cards[node].regs.control & CONTROL_RECEIVE_MASK != 0;
        let full = self.cards[node].rx.writes.len() >= timing::COMPLETIONS;
        if !receives || full {
            return false;
        }
        let Some(chunk) = self.rx_chunk(node) else { return false };
        let header = Packet {
            words: chunk.packet.to_vec(),
        }
        .header();
        let take = Take {
            packet: chunk.packet,
            header,
            seq: None,
            fate: Fate::Drop,
            part: None,
            parts: Vec::new(),
            moving: None,
            begun: Picos::ZERO,
            held: 0,
            ended: false,
            by_matcher: false,
            chain: None,
        };
        // The words come one a cycle, and are known when the last has come.
        let cycles = match header.kind {
            TYPE_ACK | TYPE_NACK => timing::SLOT,
            _ => 1,
        };
        let came = self.cards[node].rx.free + self.core_cycles(chunk.words as u64 - 1);
        let at = self.now.max(came) + self.core_cycles(cycles);
        self.rx_set(node, at, State::Header(at, take));
        true
    }

    /// Words of AOTF, reads and numbered packets wait until all packets before are settled.
    fn rx_may_decide(&mut self, node: usize, take: &Take) -> bool {
        let header = &take.header;
        let ordered = matches!(header.kind, TYPE_OTF | TYPE_PULL) || header.has(HDR_W0_F_SEQ_MASK);
        let rx = &self.cards[node].rx;
        if !ordered || !rx.writes.is_empty() {
            return !ordered;
        }
        let at = rx.settled + self.core_cycles(timing::SETTLED);
        let waits = at > self.now;
        if waits {
            self.at(at, Due::Rx(node));
        }
        !waits
    }

    /// A transfer of RX_GO DMA waits until all packets before are settled.
    fn rx_may_begin(&self, node: usize, take: &Take) -> bool {
        !matches!(take.fate, Fate::Dma(_)) || self.cards[node].rx.writes.is_empty()
    }

    /// What the header says, which is known since `at`.
    fn rx_decide(&mut self, node: usize, at: Picos, mut take: Take) {
        let header = take.header;
        if take.packet.len() < SHORT_WORDS {
            return self.rx_end_with(node, take, Fate::Refuse(Reason::Length));
        }
        if asks(&header) && !self.cards[node].send.has_answer_room() {
            return self.rx_end_with(node, take, Fate::Uncredited);
        }
        let is_known = matches!(header.kind, TYPE_PUSH..=TYPE_NACK | TYPE_OTF) || header.kind >= TYPE_INDIRECT;
        if !is_known {
            return self.rx_end_with(node, take, Fate::Refuse(Reason::Type));
        }
        let words = take.packet.to_vec();
        if !(Packet { words }).is_well_counted() || header.check_form().is_err() {
            return self.rx_end_with(node, take, Fate::Refuse(Reason::Length));
        }
        if let Some(src) = take.number()
            && !self.rx_number(node, src, &mut take)
        {
            let now = self.now;
            return self.rx_begin(node, now, take);
        }
        match header.kind {
            TYPE_ACK | TYPE_NACK => {
                let Status { refused, seq } = Status::of(header.place.word());
                let refused = (header.kind == TYPE_NACK).then(|| refused.unwrap_or(Reason::Other(0)));
                self.answered(node, header.tag, header.src, Status { refused, seq });
                self.rx_end_with(node, take, Fate::Drop);
            }
            TYPE_PULL => {
                let words = take.packet.to_vec();
                self.queue_answer(node, Packet { words }, timing::PULL);
                self.rx_end_with(node, take, Fate::Drop);
            }
            TYPE_OTF | TYPE_PUSH | TYPE_PULL_REPLY => {
                // The look-up began with the third word, while the others came.
                let others = if header.is_short() { 1 } else { 3 };
                let begun = at.saturating_sub(self.core_cycles(1 + others));
                self.rx_look_up(node, begun, take);
            }
            _ if self.cards[node].regs.matches() => {
                let now = self.now;
                self.rx_match(node, now, take);
            }
            _ => {
                let now = self.now;
                self.rx_stop(node, now, take, (STOP_TYPE, 0));
            }
        }
    }

    /// Looks at the number; false if the packet's fate is then known. A node beyond the table has no numbers.
    fn rx_number(&mut self, node: usize, src: usize, take: &mut Take) -> bool {
        let expected = self.cards[node].rx.expected.get(src).copied();
        let ahead = expected.map_or(1, |expected| take.header.seq.wrapping_sub(expected) as i32);
        if ahead > 0 || ahead == i32::MIN {
            take.seq = Some(expected.unwrap_or(0));
            take.fate = Fate::Refuse(Reason::Sequence);
        } else if ahead < 0 {
            take.fate = Fate::Duplicate;
        }
        ahead == 0
    }

    fn rx_end_with(&mut self, node: usize, take: Take, fate: Fate) {
        let now = self.now;
        self.rx_begin(node, now, Take { fate, ..take });
    }

    /// The look-up that began then.
    fn rx_look_up(&mut self, node: usize, begun: Picos, mut take: Take) {
        let header = take.header;
        let card = &self.cards[node];
        let kind = if header.kind == TYPE_OTF {
            Kind::Otf
        } else {
            Kind::Write
        };
        let bytes = take.part.unwrap_or(header.length);
        let looked = card.tlb.look_up(header.pgid, header.place, bytes, kind);
        let cycles = match looked {
            Looked::At(addr) if addr >= LLCM_ADDR => timing::LOOKUP_LLCM,
            _ => timing::LOOKUP,
        };
        let at = self.now.max(begun + self.core_cycles(cycles));
        take.fate = match looked {
            Looked::At(addr) if kind == Kind::Otf => Fate::Otf(addr),
            Looked::At(addr) if take.part.is_some() => return self.rx_part(node, at, take, addr),
            Looked::At(addr) => Fate::Write(addr),
            Looked::Refused(reason) => Fate::Refuse(reason),
            Looked::Missed(cause, key) => return self.rx_stop(node, at, take, (cause, key)),
        };
        self.rx_act(node, at, take);
    }

    /// The fate is known at this instant. Data can be taken some cycles later.
    fn rx_act(&mut self, node: usize, at: Picos, take: Take) {
        let at = match take.fate {
            Fate::Otf(_) => at,
            _ => at + self.core_cycles(timing::ACT),
        };
        self.rx_set(node, at, State::LooksUp(at, take));
    }

    /// The place of a part is known at this instant: its data are taken, and are written with all others at the end.
    fn rx_part(&mut self, node: usize, at: Picos, mut take: Take, addr: u32) {
        let bytes = take.part.take().expect("a part");
        take.parts.push((addr, bytes));
        take.header.length -= bytes;
        take.moving = Some((bytes / WORD) as usize);
        take.begun = at;
        let from = at + self.core_cycles(timing::ACT);
        self.rx_set(node, from, State::Drains(from, take));
    }

    /// A part's data have been taken. The matcher has looked for the next one meanwhile; the processor looks now.
    fn rx_behind_part(&mut self, node: usize, mut take: Take) {
        take.moving = None;
        if take.by_matcher {
            let begun = take.begun;
            self.rx_match(node, begun, take);
        } else {
            let now = self.now;
            self.rx_stop(node, now, take, (STOP_TYPE, 0));
        }
    }

    /// The chain's next block, or its next command, for a packet that was offered then.
    fn rx_chain(&mut self, node: usize, at: Picos, mut take: Take) {
        match take.chain.as_mut().map(Chain::step) {
            Some(Ok(Step::Block(place, bytes))) => {
                take.header.place = Place::of(place);
                let at = at + self.core_cycles(timing::MATCH_BLOCK);
                self.rx_go_on(node, at, take, Some(bytes));
            }
            Some(Ok(Step::Command(place))) => {
                (take.header.place, take.chain) = (Place::of(place), None);
                let at = at + self.core_cycles(timing::MATCH_NEXT);
                self.rx_match(node, at, take);
            }
            Some(Err(reason)) => {
                let fate = Fate::Refuse(Reason::of(reason).expect("the matcher's reasons are known"));
                self.rx_act(node, at, Take { fate, ..take });
            }
            None => unreachable!("a chain"),
        }
    }

    /// The matcher looks at it, and at the cell that it names.
    fn rx_match(&mut self, node: usize, now: Picos, mut take: Take) {
        take.by_matcher = true;
        if take.chain.is_some() {
            return self.rx_chain(node, now, take);
        }
        let (header, card) = (take.header, &mut self.cards[node]);
        let looked = matcher::cell_bytes(header.kind).map(|bytes| {
            let looked = card.tlb.look_up(header.pgid, header.place, bytes, Kind::Cell);
            (bytes as usize, looked)
        });
        let verdict = match looked {
            None | Some((_, Looked::Missed(..))) => Verdict::Pass,
            Some((_, Looked::Refused(reason))) => Verdict::Nack(reason.code()),
            Some((bytes, Looked::At(addr))) => {
                let cell = &mut card.llcm[(addr - LLCM_ADDR) as usize..][..bytes];
                if header.kind == TYPE_CHAIN {
                    match Chain::begin((header.place.word() >> HDR_W2_REGION_SHIFT) as u16, cell) {
                        Ok(chain) => {
                            take.chain = Some(chain);
                            let at = now + self.core_cycles(timing::MATCH_COMMAND);
                            return self.rx_chain(node, at, take);
                        }
                        Err(reason) => Verdict::Nack(reason),
                    }
                } else {
                    matcher::serve(header.kind, header.length, cell)
                }
            }
        };
        let cycles = match header.kind {
            TYPE_INDIRECT => timing::MATCH_INDIRECT,
            _ => timing::MATCH_MESSAGE,
        };
        let at = now + self.core_cycles(cycles);
        match verdict {
            Verdict::Pass => self.rx_stop(node, now, take, (STOP_TYPE, 0)),
            Verdict::Continue(place) => {
                take.header.place = Place::of(place);
                self.rx_go_on(node, at, take, None);
            }
            Verdict::Part(..) => unreachable!("of a chain"),
            Verdict::Nack(reason) => {
                let fate = Fate::Refuse(Reason::of(reason).expect("the matcher's reasons are known"));
                self.rx_act(node, at, Take { fate, ..take });
            }
        }
    }

    /// A command to continue, with all that is left or with a part of it. That part under way goes on, if there is one.
    fn rx_go_on(&mut self, node: usize, at: Picos, mut take: Take, bytes: Option<u16>) {
        if let Some(bytes) = bytes {
            take.part = Some(u32::from(bytes)).filter(|bytes| *bytes < take.header.length);
        }
        self.rx_continue(node, at, take);
    }

    /// It is looked at anew, but for its number; the header's TYPE does not count.
    fn rx_continue(&mut self, node: usize, at: Picos, mut take: Take) {
        let kind = take.header.kind;
        take.header.kind = match Header::decode(&take.packet[..1]).kind {
            anew @ (TYPE_OTF | TYPE_PULL_REPLY) => anew,
            _ => TYPE_PUSH,
        };
        let length = take.header.length;
        let part_fits = take
            .part
            .is_none_or(|bytes| (1..length).contains(&bytes) && bytes % WORD == 0);
        let fits = take.header.check_form().is_ok() && part_fits && take.data().len() > take.moved();
        if take.part.is_some() {
            // It stops anew as what it was.
            take.header.kind = kind;
        }
        if fits {
            self.rx_look_up(node, at, take);
        } else {
            let fate = Fate::Refuse(Reason::Length);
            self.rx_act(node, at, Take { fate, ..take });
        }
    }

    fn rx_stop(&mut self, node: usize, at: Picos, take: Take, (cause, key): (u32, u64)) {
        if self.cards[node].regs.runs() {
            self.rx_set(node, at, State::Stops(at, take, cause, key));
        } else {
            let fate = Fate::Refuse(Reason::Unserved);
            self.rx_act(node, at, Take { fate, ..take });
        }
    }

    fn rx_stopped(&mut self, node: usize, take: Take, cause: u32, key: u64) {
        let card = &mut self.cards[node];
        card.rx.header = take.header.encode();
        (card.rx.cause, card.rx.key) = (cause, key);
        card.rx.more = cause == STOP_TYPE && !take.parts.is_empty() && !take.by_matcher;
        card.rx.state = State::Stopped(take);
        self.stopped(node, false);
    }

    /// A write of RX_GO; false if nothing is stopped.
    pub(super) fn rx_go(&mut self, node: usize, what: u32, reason: Reason, bytes: u16) -> bool {
        let at = self.now + self.core_cycles(timing::GO);
        let rx = &mut self.cards[node].rx;
        let State::Stopped(take) = &rx.state else { return false };
        let mut take = take.clone();
        take.header = Header::decode(&rx.header);
        let addr = rx.dma_addr as u32;
        take.by_matcher &= take.part.is_some();
        take.fate = match what {
            GO_CONTINUE | GO_PART => {
                self.rx_go_on(node, at, take, (what == GO_PART).then_some(bytes));
                super::bus::raises(self, node);
                return true;
            }
            GO_DROP => Fate::Drop,
            GO_NACK => Fate::Refuse(reason),
            _ if !can_move(&take, addr) => {
                rx.done = Some(Some(Reason::Length));
                Fate::NoDma
            }
            _ => {
                rx.done = None;
                Fate::Dma(addr)
            }
        };
        self.rx_act(node, at, take);
        super::bus::raises(self, node);
        true
    }

    /// The fate is known: the data are taken when those before have left, or there are none.
    fn rx_begin(&mut self, node: usize, at: Picos, take: Take) {
        let first = super::network::chunk_words(&take.packet, 0);
        if first == take.packet.len() || take.ended && take.held == 0 {
            return self.rx_end(node, take);
        }
        self.rx_set(node, at, State::Drains(at, take));
    }

    /// Takes a chunk of data, or what a part needs of it, if one is there and has room behind those that wait; else
    /// false. No data leave before `begun`.
    fn rx_drain(&mut self, node: usize, begun: Picos, mut take: Take) -> bool {
        let (now, front) = (self.now, self.network.down(node).front().map_or(0, |chunk| chunk.words));
        let here = if take.held > 0 { take.held } else { front };
        let next = here.min(take.moving.unwrap_or(here));
        let body = &mut self.cards[node].rx.body;
        while body.front().is_some_and(|leaves| *leaves <= now) {
            body.pop_front();
        }
        // It is in when its last word has room.
        let over = (body.len() + next).saturating_sub(timing::BODY);
        if over > 0 {
            let at = body[over - 1];
            self.rx_set(node, at, State::Drains(begun, take));
            return false;
        }
        if take.held == 0 {
            let Some(chunk) = self.rx_chunk(node) else {
                self.cards[node].rx.state = State::Drains(begun, take);
                return false;
            };
            (take.held, take.ended) = (chunk.words, chunk.is_last());
        }
        let from = begun.max(self.cards[node].rx.moved);
        let end = if take.target().is_some_and(|addr| addr < LLCM_ADDR) {
            self.use_memory(node, from, next, Way::Write)
        } else {
            from + self.core_cycles(next as u64)
        };
        // Each word is taken as it comes; the last has come now.
        let came = now + self.core_cycles(1);
        let end = end.max(came);
        let cycle = self.config.core_period;
        let rx = &mut self.cards[node].rx;
        rx.moved = end;
        let words = (0..next as u64).rev();
        rx.body.extend(words.map(|behind| end.saturating_sub(cycle * behind)));
        take.held -= next;
        take.moving = take.moving.map(|words| words - next);
        let is_whole = take.ended && take.held == 0;
        let (at, state) = match take.moving {
            Some(left) if left == 0 || is_whole => {
                let words = take.parts.last().map_or(0, |part| part.1 / WORD);
                let behind = came.max(begun + self.core_cycles(words.into()));
                let more = if take.by_matcher { timing::PART } else { 0 };
                let at = behind + self.core_cycles(more);
                (at, State::Ends(at, take))
            }
            None if is_whole => (came, State::Ends(came, take)),
            _ => (came, State::Drains(begun, take)),
        };
        self.rx_set(node, at, state);
        true
    }

    fn rx_end(&mut self, node: usize, take: Take) {
        let now = self.now;
        let rx = &mut self.cards[node].rx;
        (rx.state, rx.free) = (State::Idle, now);
        self.at(now, Due::Rx(node));
        let (fate, latency) = (take.fate, u64::from(self.config.mem_write_latency));
        let before = take.header.words() + take.moved() / WORD as usize;
        let words = take.packet.len().saturating_sub(before);
        let write = timing::WRITE + timing::BURST.min(words) as u64;
        let cycles = match fate {
            Fate::Otf(_) => timing::OTF,
            Fate::Write(addr) | Fate::Dma(addr) if addr >= LLCM_ADDR => write,
            Fate::Write(_) | Fate::Dma(_) => write + latency,
            _ => 0,
        };
        if let Fate::Write(_) | Fate::Dma(_) | Fate::Otf(_) = fate {
            let card = &mut self.cards[node];
            let before = card.rx.writes.back().map_or(Picos::ZERO, |write| write.at);
            let moved = card.rx.moved.max(now);
            let at = (moved + self.config.core_period * cycles).max(before);
            card.rx.writes.push_back(Write { at, take });
            return self.at(at, Due::Rx(node));
        }
        let failed = self.cards[node].write_parts(&take);
        match fate {
            Fate::Refuse(reason) => self.rx_refused(node, &take, failed.unwrap_or(reason)),
            Fate::Duplicate => {
                self.outcome(node, Some(Reason::Sequence));
                self.rx_answer(node, &take, None);
            }
            Fate::Uncredited => self.outcome(node, Some(Reason::Credit)),
            Fate::NoDma => self.outcome(node, Some(Reason::Length)),
            _ if matches!(take.header.kind, TYPE_ACK | TYPE_NACK) => {}
            _ => self.rx_accepted(node, &take),
        }
    }

    /// Writes that are visible now: their outcomes and answers.
    fn rx_visible(&mut self, node: usize) {
        let now = self.now;
        while self.cards[node].rx.writes.front().is_some_and(|write| write.at <= now) {
            let write = self.cards[node].rx.writes.pop_front().expect("looked at");
            let take = write.take;
            let failed = self.cards[node].write_parts(&take);
            let mut data = take.data();
            data.drain(..data.len().min(take.moved()));
            data.truncate(take.header.length as usize);
            let (Fate::Write(addr) | Fate::Dma(addr) | Fate::Otf(addr)) = take.fate else {
                unreachable!("only writes are waited for")
            };
            let written = self.cards[node].write_bytes(addr, &data);
            let refused = match (written, take.is_whole()) {
                _ if failed.is_some() => failed,
                (false, _) => Some(Reason::Bus),
                (true, false) => Some(Reason::Length),
                (true, true) => None,
            };
            let is_dma = matches!(take.fate, Fate::Dma(_));
            if is_dma {
                self.cards[node].rx.done = Some(refused);
            }
            match refused {
                Some(reason) if is_dma => self.outcome(node, Some(reason)),
                Some(reason) => self.rx_refused(node, &take, reason),
                None => self.rx_accepted(node, &take),
            }
            if let (Fate::Otf(_), None) = (take.fate, refused) {
                self.cards[node].rx.settled = now;
            }
            if !is_dma && refused.is_none() {
                self.rx_answer(node, &take, None);
            }
        }
    }

    /// Accepted: the number behind its own is expected next.
    fn rx_accepted(&mut self, node: usize, take: &Take) {
        let expected = &mut self.cards[node].rx.expected;
        if let Some(expected) = take.number().and_then(|src| expected.get_mut(src)) {
            *expected = take.header.seq.wrapping_add(1);
        }
        self.outcome(node, None);
    }

    fn rx_refused(&mut self, node: usize, take: &Take, reason: Reason) {
        self.outcome(node, Some(reason));
        self.rx_answer(node, take, Some(reason));
    }

    /// Tells the sender, if it asks; of the data of a PULL, the slots here.
    fn rx_answer(&mut self, node: usize, take: &Take, refused: Option<Reason>) {
        let header = &take.header;
        if take.packet.len() < SHORT_WORDS {
            return;
        }
        let seq = take.seq.unwrap_or(header.seq);
        if header.kind == TYPE_PULL_REPLY {
            let status = Status { refused, seq };
            return self.answered(node, header.tag, header.src, status);
        }
        if asks(header) {
            self.cards[node].rx.settled = self.now + self.core_cycles(timing::ANSWER);
            self.queue_answer(node, Packet::new(&header.answer(refused, seq), &[]), timing::ANSWER);
        }
    }

    /// An answer for a slot of this card.
    fn answered(&mut self, node: usize, tag: u16, src: u16, status: Status) {
        let card = &mut self.cards[node];
        if !card.acks.answer(tag, src, status) {
            card.regs.strays = card.regs.strays.saturating_add(1);
            card.regs.status |= STATUS_STRAY_MASK;
            super::bus::raises(self, node);
        }
        self.at(self.now, Due::Tx(node));
    }

    /// Counts what became of a packet.
    fn outcome(&mut self, node: usize, refused: Option<Reason>) {
        self.cards[node].rx.settled = self.now + self.core_cycles(1);
        let regs = &mut self.cards[node].regs;
        let count = &mut regs.counts[refused.map_or(0, Reason::code) as usize % 16];
        *count = count.saturating_add(1);
        if refused.is_some() {
            regs.status |= STATUS_REFUSED_MASK;
            super::bus::raises(self, node);
        }
    }
}

/// Whether a packet has data that RX_GO DMA may move there.
fn can_move(take: &Take, addr: u32) -> bool {
    let most = if take.header.is_short() { WORD } else { SIZE_PACKET };
    let is_otf = take.header.kind == TYPE_OTF;
    let bytes = take.header.length;
    let wraps = u64::from(addr) + u64::from(bytes) > 1 << 32;
    !is_otf && !wraps && (1..=most).contains(&bytes) && !take.data().is_empty()
}

/// Whether a packet asks for an answer. One to a group must not.
fn asks(header: &Header) -> bool {
    let answered = !matches!(header.kind, TYPE_ACK | TYPE_NACK | TYPE_PULL_REPLY);
    let wanted = header.has(HDR_W0_ACK_REQ_MASK) || header.kind == TYPE_PULL;
    wanted && answered && !header.has(HDR_W0_MULTICAST_MASK)
}

impl super::Card {
    /// A packet's parts are written; why the first one that failed did.
    fn write_parts(&mut self, take: &Take) -> Option<Reason> {
        let (data, mut at, mut failed) = (take.data(), 0, None);
        for &(addr, bytes) in &take.parts {
            let part = &data[data.len().min(at)..data.len().min(at + bytes as usize)];
            at += bytes as usize;
            let reason = if !self.write_bytes(addr, part) {
                Some(Reason::Bus)
            } else {
                (part.len() < bytes as usize).then_some(Reason::Length)
            };
            failed = failed.or(reason);
        }
        failed
    }

    /// Bytes into memory or LLCM; false, and some may be written, where they do not fit.
    fn write_bytes(&mut self, addr: u32, data: &[u8]) -> bool {
        if addr >= LLCM_ADDR {
            let at = (addr - LLCM_ADDR) as usize;
            let Some(to) = self.llcm.get_mut(at..at + data.len()) else {
                return false;
            };
            to.copy_from_slice(data);
            return true;
        }
        let addr = Addr(addr);
        self.memory.bus_ok(addr, data.len() as u32) && self.memory.write(addr, data)
    }
}
