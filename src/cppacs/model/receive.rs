//! The receiving side: from worms to memory, counts, flags and answers.

use std::rc::Rc;

use super::words::{Client, Op};
use super::{ModelMachine, Worm, is_allowed, timing, words};
use crate::cppacs::golden::entry::Field;
use crate::cppacs::golden::message::{Header, Kind, RecvReason, Request, header_words, sum};
use crate::cppacs::golden::runs::runs;
use crate::cppacs::golden::tcw::Descriptor;
use crate::cppacs::regs::*;
use crate::net::hyper::Channel;

/// Both receivers of a node.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// The data channel's worm: where it goes, or why not.
    current: Option<Result<Place, RecvReason>>,
    /// When it came.
    since: u64,
    /// Worms of the data channel whose writes are under way.
    writing: u32,
    /// Those of them that go into the ring: the next one takes the slot behind theirs.
    ringing: u32,
    /// Worms of the acknowledge channel that are being acted on.
    pub ack_worms: u32,
    /// Answers that have room in the queue and are not in it yet.
    promised: usize,
}

/// Where a worm goes.
#[derive(Clone, Copy, Debug)]
struct Place {
    header: Header,
    field: Field,
    /// Of the entry, when it was looked up.
    generation: u32,
    /// Its bytes begin there in place of the header's OFFSET.
    offset: u32,
    limit: u32,
    in_ring: bool,
}

impl Receiver {
    pub fn is_busy(&self) -> bool {
        self.current.is_some() || self.writing > 0
    }

    /// The field of the data channel's message.
    pub fn field(&self) -> u32 {
        match self.current {
            Some(Ok(place)) => place.header.field,
            _ => 0,
        }
    }
}

impl ModelMachine {
    /// Cycles that a node's receiver needs for a worm.
    pub(super) fn drain(&self, worm: &[u32]) -> u64 {
        let words = worm.len() as u64;
        let header = match Header::parse(worm.get(..header_words(worm[0])).unwrap_or(&[])) {
            Ok(header) if header.channel == Channel::Data && header.stride.is_some() => header,
            Ok(header) => return words + self.store_stalls(&header) + timing::RECEIVE,
            Err(_) => return words + timing::RECEIVE,
        };
        let written = runs(0, header.length, header.stride, u32::MAX);
        let cycles = self.run_cycles(written.flatten().map(|run| run.bytes / 4), self.write_latency());
        words.max(header_words(worm[0]) as u64 + cycles + 1) + timing::RECEIVE
    }

    /// Cycles that contiguous words wait for bursts that have no response yet. Bursts begin where an address is a
    /// multiple of theirs.
    fn store_stalls(&self, header: &Header) -> u64 {
        let (burst, outstanding) = (u64::from(self.config.burst_beats), u64::from(self.config.outstanding));
        let latency = u64::from(self.config.memory_write_latency) + timing::SETTLE;
        let lost = |words: u64| (2 * words + latency).saturating_sub(outstanding * words);
        let (begin, words) = (u64::from(header.offset / 4) % burst, u64::from(header.length / 4));
        if words <= outstanding * burst {
            return 0;
        }
        let first = (burst - begin) % burst;
        let (whole, last) = ((words - first) / burst, (words - first) % burst);
        let short: u64 = [first, last].into_iter().filter(|&words| words > 0).map(lost).sum();
        (short + whole.saturating_sub(outstanding) * lost(burst)) / outstanding
    }

    /// A worm's header has come to the data channel's receiver.
    pub(super) fn begun(&mut self, node: usize, worm: &Rc<Worm>) {
        let place = self.look_up(node, worm);
        let now = self.now;
        let receiver = &mut self.nias[node].receiver;
        (receiver.current, receiver.since) = (Some(place), now);
    }

    /// Where a worm of the data channel goes.
    fn look_up(&self, node: usize, worm: &[u32]) -> Result<Place, RecvReason> {
        let nia = &self.nias[node];
        let header = worm.get(..header_words(worm[0])).ok_or(RecvReason::Form)?;
        let header = Header::parse(header).map_err(|_| RecvReason::Form)?;
        let (field, generation) = self.admit(node, &header, Channel::Data)?;
        let slot_log = (nia.ring & RING_SLOT_LOG_MASK) >> RING_SLOT_LOG_SHIFT;
        if header.field == 0 && slot_log != 0 {
            let slots_log = (nia.ring & RING_SLOTS_LOG_MASK) >> RING_SLOTS_LOG_SHIFT;
            let count = nia.fields[0].count.wrapping_add(nia.receiver.ringing);
            if header.stride.is_some() || !header.last || header.worm > 0 {
                return Err(RecvReason::Form);
            }
            if count.wrapping_sub(nia.ring as u32) >= 1 << slots_log {
                return Err(RecvReason::Full);
            }
            let offset = (count & ((1 << slots_log) - 1)) << slot_log;
            let is_short = header.length <= 1 << slot_log && field.has(offset, header.length);
            is_short.then_some(()).ok_or(RecvReason::Bounds)?;
            let limit = field.size;
            return Ok(Place {
                header,
                field,
                generation,
                offset,
                limit,
                in_ring: true,
            });
        }
        if header.stride.is_none() && !field.has(header.offset, header.length) {
            return Err(RecvReason::Bounds);
        }
        let (offset, limit) = (header.offset, field.size);
        Ok(Place {
            header,
            field,
            generation,
            offset,
            limit,
            in_ring: false,
        })
    }

    /// Checks a header against its field.
    fn admit(&self, node: usize, header: &Header, channel: Channel) -> Result<(Field, u32), RecvReason> {
        let nia = &self.nias[node];
        let ensure = |holds: bool, reason| if holds { Ok(()) } else { Err(reason) };
        ensure(header.channel == channel, RecvReason::Form)?;
        let is_here = crate::net::hyper::Axis::ALL
            .iter()
            .all(|&axis| header.mask >> axis as u32 & 1 != 0 || header.to.along(axis) == nia.place().along(axis));
        ensure(is_here, RecvReason::Elsewhere)?;
        let field = nia
            .field(header.field)
            .filter(|field| field.enabled)
            .ok_or(RecvReason::Field)?;
        ensure(field.key == header.key, RecvReason::Key)?;
        ensure(is_allowed(&field, header.kind), RecvReason::Rights)?;
        Ok((field, nia.fields[header.field as usize].generation))
    }

    /// A worm's last word has come to the data channel's receiver.
    pub(super) fn ended(&mut self, node: usize, worm: Rc<Worm>, is_cut: bool) {
        let place = self.nias[node].receiver.current.take().expect("a worm");
        let place = match place {
            Ok(place) => place,
            Err(reason) => return self.nias[node].note_refused(&worm, reason),
        };
        self.nias[node].receiver.writing += 1;
        self.nias[node].receiver.ringing += u32::from(place.in_ring);
        // Short worms end before their field is known.
        let known = (self.nias[node].receiver.since + timing::HEADER).saturating_sub(self.now);
        let delay = known + timing::COLLECT + self.last_burst(&place) + self.write_latency();
        self.after(delay, move |m| m.written(node, &place, &worm, is_cut));
    }

    /// Words that are still to be written when the last one has come: a burst, which was collected.
    fn last_burst(&self, place: &Place) -> u64 {
        let header = &place.header;
        let bytes = header
            .stride
            .map_or(header.length, |stride| stride.element.min(header.length));
        u64::from((bytes / 4).min(self.config.burst_beats))
    }

    /// The writes of a worm are done: what the sum says of them, the count, the flag.
    fn written(&mut self, node: usize, place: &Place, worm: &[u32], is_cut: bool) {
        let Place {
            header,
            field,
            generation,
            ..
        } = *place;
        let at = header_words(worm[0]);
        let nia = &mut self.nias[node];
        nia.receiver.writing -= 1;
        nia.receiver.ringing -= u32::from(place.in_ring);
        let is_gone = nia.fields[header.field as usize].generation != generation;
        let payload_end = at + header.length as usize / 4;
        let data = &worm[at..payload_end.min(worm.len() - 1)];
        let mut outcome = if is_gone {
            Err(RecvReason::Gone)
        } else {
            nia.put(place, data)
        };
        let last = worm[worm.len() - 1];
        let sum = sum(&worm[..worm.len() - 1]);
        if outcome.is_ok() {
            outcome = match () {
                () if is_cut || worm.len() != payload_end + 1 => Err(RecvReason::Form),
                () if last == !sum => Err(RecvReason::GivenUp),
                () if last != sum => Err(RecvReason::Sum),
                () => Ok(()),
            };
        }
        if let Err(reason) = outcome {
            nia.note_refused(worm, reason);
            if matches!(reason, RecvReason::Sum | RecvReason::Form | RecvReason::Memory) {
                nia.shut(header.field as usize);
            }
            return;
        }
        nia.count(COUNT_RECEIVED, 1);
        if header.last {
            self.complete(node, Client::Receive, &header, &field);
        }
    }

    /// A transfer is complete.
    fn complete(&mut self, node: usize, client: Client, header: &Header, field: &Field) {
        let nia = &mut self.nias[node];
        let entry = &mut nia.fields[header.field as usize];
        entry.count = entry.count.wrapping_add(1);
        let count = entry.count;
        let (src, index, notify) = (header.src.word(), header.field, header.notify);
        let tell = move |m: &mut ModelMachine| {
            if notify {
                let nia = &mut m.nias[node];
                nia.notified = u64::from(src) | u64::from(index) << NOTIFIED_FIELD_SHIFT;
                nia.cause |= CAUSE_NOTIFY_MASK;
            }
        };
        match field.flagged {
            true => {
                let (addr, data) = (field.flag, vec![src, count]);
                self.after(timing::COUNT, move |m| {
                    m.job(node, client, Op::Write { addr, data }, move |m, _| tell(m));
                });
            }
            false => tell(self),
        }
    }

    /// A worm of the acknowledge channel comes: it is stored, its sum is checked, and then it is acted on.
    pub(super) fn stored(&mut self, node: usize, worm: Rc<Worm>) {
        self.nias[node].receiver.ack_worms += 1;
        self.after(worm.len() as u64 + timing::ACK, move |m| {
            if let Err(reason) = m.act(node, &worm) {
                m.nias[node].receiver.ack_worms -= 1;
                m.nias[node].note_refused(&worm, reason);
            }
        });
    }

    fn act(&mut self, node: usize, worm: &[u32]) -> Result<(), RecvReason> {
        let (last, words) = worm.split_last().expect("a worm");
        if *last != sum(words) {
            return Err(if *last == !sum(words) {
                RecvReason::GivenUp
            } else {
                RecvReason::Sum
            });
        }
        let header = words.get(..header_words(worm[0])).ok_or(RecvReason::Form)?;
        let payload = &words[header.len()..];
        let header = Header::parse(header).map_err(|_| RecvReason::Form)?;
        if header.length as usize != 4 * payload.len() {
            return Err(RecvReason::Form);
        }
        let (field, _) = self.admit(node, &header, Channel::Ack)?;
        if header.kind == Kind::Write {
            field
                .has(header.offset, header.length)
                .then_some(())
                .ok_or(RecvReason::Bounds)?;
            self.nias[node].count(COUNT_WORDS_IN, header.length / 4);
            let (addr, data) = (field.base.wrapping_add(header.offset), payload.to_vec());
            self.job(node, Client::AckReceive, Op::Write { addr, data }, move |m, done| {
                m.nias[node].receiver.ack_worms -= 1;
                match done {
                    Ok(_) => m.taken(node, &header, &field),
                    Err(_) => m.failed(node, &header),
                }
            });
            return Ok(());
        }
        let request = Request::of(payload.try_into().map_err(|_| RecvReason::Form)?);
        self.serve(node, &header, &field, &request)
    }

    fn taken(&mut self, node: usize, header: &Header, field: &Field) {
        let nia = &mut self.nias[node];
        nia.count(COUNT_RECEIVED_ACK, 1);
        if header.last {
            self.complete(node, Client::AckReceive, header, field);
        }
    }

    fn failed(&mut self, node: usize, header: &Header) {
        let nia = &mut self.nias[node];
        nia.note_refused(&header.words(), RecvReason::Memory);
        nia.shut(header.field as usize);
    }

    /// A GET, SWAP or CSWAP whose field allows it.
    fn serve(&mut self, node: usize, header: &Header, field: &Field, request: &Request) -> Result<(), RecvReason> {
        let ensure = |holds: bool, reason| if holds { Ok(()) } else { Err(reason) };
        let is_get = header.kind == Kind::Get;
        let most = if is_get { SIZE_WORM } else { 8 };
        let is_length = (8..=most).contains(&request.length) && request.length.is_multiple_of(8);
        ensure(is_length && request.offset.is_multiple_of(8), RecvReason::Form)?;
        ensure(field.has(header.offset, request.length), RecvReason::Bounds)?;
        let nia = &mut self.nias[node];
        let room = nia.sender.answers.len() + nia.receiver.promised < self.config.answers as usize;
        ensure(room, RecvReason::Full)?;
        let answer = answer(header, field, request);
        let addr = field.base.wrapping_add(header.offset);
        let (new, compare, header) = (request.operand, request.compare, *header);
        let op = match header.kind {
            Kind::Swap => Op::Swap { addr, new },
            Kind::Cswap => Op::Cswap { addr, compare, new },
            _ => {
                nia.receiver.ack_worms -= 1;
                nia.count(COUNT_RECEIVED_ACK, 1);
                self.answer(node, answer);
                return Ok(());
            }
        };
        nia.receiver.promised += 1;
        self.job(node, Client::AckReceive, op, move |m, done| {
            let nia = &mut m.nias[node];
            nia.receiver.ack_worms -= 1;
            nia.receiver.promised -= 1;
            match done {
                Ok(old) => {
                    nia.count(COUNT_RECEIVED_ACK, 1);
                    let value = Some(u64::from(old[0]) | u64::from(old[1]) << 32);
                    m.answer(node, Descriptor { value, ..answer });
                }
                Err(_) => m.failed(node, &header),
            }
        });
        Ok(())
    }
}

/// What goes back to who asked, and to nobody else.
fn answer(header: &Header, field: &Field, request: &Request) -> Descriptor {
    Descriptor {
        process: 0,
        tcw: 0,
        place: header.src,
        mask: 0,
        channel: Channel::Data,
        kind: Kind::Reply,
        notify: false,
        field: request.field & (MSG_F1_FIELD_MASK >> MSG_F1_FIELD_SHIFT),
        key: request.key,
        offset: request.offset,
        base: field.base,
        size: field.size,
        source: header.offset,
        length: request.length,
        strides: None,
        flag: None,
        value: None,
        request: None,
    }
}

impl super::Nia {
    /// Writes a worm's data, up to the first run that leaves the field.
    fn put(&mut self, place: &Place, data: &[u32]) -> Result<(), RecvReason> {
        let Place {
            header,
            field,
            offset,
            limit,
            ..
        } = place;
        let mut data = data;
        for run in runs(*offset, header.length, header.stride, *limit) {
            let run = run.map_err(|_| RecvReason::Bounds)?;
            let (now, later) = data.split_at((run.bytes as usize / 4).min(data.len()));
            let addr = field.base.wrapping_add(run.offset);
            self.count(COUNT_WORDS_IN, now.len() as u32);
            words::write(&mut self.memory, addr, now).map_err(|_| RecvReason::Memory)?;
            data = later;
        }
        Ok(())
    }

    /// Disables a field whose data cannot be trusted.
    fn shut(&mut self, index: usize) {
        let entry = &mut self.fields[index];
        entry.words[0] &= !FIELD_STATE_ENABLED_MASK;
        entry.generation += 1;
        self.cause |= CAUSE_SHUT_MASK;
    }
}
