//! Golden model of the Receiver, in lock step: it is told what arrives and is shown what the hardware does with it.
//!
//! What it knows (sec. 3.2, 3.3 of the paper): the header goes to the message or the DMA header buffer, the body to a message body buffer or
//! to the address in the header; the arrival interrupt comes before the body is stored, the end interrupt after; after an interrupt the
//! Receiver may stop until it is restarted. Rings, halts and errors are our choice: see the register table.

use std::collections::VecDeque;

use super::lockstep::{History, Mismatch};
use super::packet::header_bytes;
use super::recv_state::{Cause, RecvRegs, RingId, Verdict, header_word0};
use super::regs::*;
use crate::Addr;
use crate::harness::memory::Memory;

/// What goes on inside the Receiver, seen at the unit's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Internal {
    /// `*_PUT` moved to `value`.
    Put {
        ring: RingId,
        value: u32,
    },
    /// A cause became pending (again).
    Raised(Cause),
    Halted,
}

/// A committed event of the Receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecvEvent {
    /// Told: the host wrote a register.
    Register {
        offset: u32,
        value: u32,
    },
    /// Told: this packet begins to arrive.
    Arrives {
        flits: Vec<u16>,
    },
    /// A write command was taken by memory; `bytes` in whole bus words.
    Write {
        addr: Addr,
        bytes: u32,
    },
    /// The response of the oldest write without one.
    Written {
        ok: bool,
    },
    Internal(Internal),
}

/// Whether the bench shows [`Internal`] events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// It does: each must be legal, and none may be missing.
    Shown,
    /// It does not: the model takes each as soon as it is legal.
    Assumed,
}

/// A packet whose header write was seen, or that is being dropped.
#[derive(Clone, Debug)]
struct Open {
    verdict: Verdict,
    word0: Option<u32>,
    body_at: Addr,
    /// Body bytes for which a write command was seen.
    commanded: u32,
    /// Writes without response.
    unanswered: u32,
    arrival_due: bool,
    bus_error: bool,
    head: [u8; PACKET_HEADER_BYTES as usize],
    /// The ring entries it fills and has not published.
    slots: Vec<(RingId, u32)>,
    end_due: bool,
}

impl Open {
    /// All writes it needs were commanded.
    fn all_commanded(&self) -> bool {
        self.bus_error
            || self
                .verdict
                .stored()
                .is_none_or(|(_, body)| self.commanded as usize >= body.len())
    }

    fn written(&self) -> bool {
        self.all_commanded() && self.unanswered == 0
    }

    fn faults(&self) -> impl Iterator<Item = Cause> {
        self.bus_error
            .then_some(Cause::BusError)
            .into_iter()
            .chain(self.verdict.fault())
    }
}

/// A packet that may be begun, and where it goes.
#[derive(Clone, Debug)]
struct Next {
    head_at: Addr,
    head: [u8; PACKET_HEADER_BYTES as usize],
    body_at: Addr,
    slots: Vec<(RingId, u32)>,
}

/// A write without response.
#[derive(Clone, Debug)]
struct Pending {
    addr: Addr,
    data: Vec<u8>,
    /// Packets begun before its packet; none for what follows a bus error.
    packet: Option<u64>,
}

/// See the module's description.
#[derive(Clone, Debug)]
pub struct RecvModel {
    pub regs: RecvRegs,
    bus_bytes: u32,
    burst_bytes: u32,
    inside: Inside,
    arrived: VecDeque<Vec<u16>>,
    open: VecDeque<Open>,
    /// Packets that left `open`.
    closed: u64,
    writes: VecDeque<Pending>,
    /// After a bus error: the rest of that packet's body, which may be written or not.
    tail: Option<(Addr, u32)>,
    /// The last ring entries whose packet memory refused, until they are taken again or passed over.
    refused: [Option<u32>; 4],
    halt_due: bool,
    /// The overflow of the packet that waits was raised.
    overflowed: bool,
    image: Memory,
    /// Bytes whose content a bus error left open.
    unknown: Vec<(Addr, usize)>,
    history: History,
}

impl RecvModel {
    /// A Receiver after reset, on a bus of `bus_bytes` with bursts of at most `burst_beats`; `memory` is what the node's memory holds.
    pub fn new(bus_bytes: u32, burst_beats: u32, inside: Inside, memory: Memory) -> RecvModel {
        RecvModel {
            regs: RecvRegs::default(),
            bus_bytes,
            burst_bytes: bus_bytes * burst_beats,
            inside,
            arrived: VecDeque::new(),
            open: VecDeque::new(),
            closed: 0,
            writes: VecDeque::new(),
            tail: None,
            refused: [None; 4],
            halt_due: false,
            overflowed: false,
            image: memory,
            unknown: Vec::new(),
            history: History::new("Receiver"),
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The event is not one the Receiver may show now. The model is then of no further use.
    pub fn observe(&mut self, event: RecvEvent) -> Result<(), Mismatch> {
        self.history.note(&event);
        match event {
            RecvEvent::Register { offset, value } => {
                if self.regs.write(offset, value) {
                    self.regs.halted = false;
                    self.overflowed = false;
                }
            }
            RecvEvent::Arrives { flits } => self.arrived.push_back(flits),
            RecvEvent::Write { addr, bytes } => self.write(addr, bytes)?,
            RecvEvent::Written { ok } => self.written(ok)?,
            RecvEvent::Internal(event) => {
                assert!(self.inside == Inside::Shown, "internal events were declared not shown");
                let possible = self.possible();
                if !possible.contains(&event) {
                    return Err(self.history.differs("inside", format!("one of {possible:?}"), event));
                }
                self.commit(event);
            }
        }
        while self.inside == Inside::Assumed {
            let Some(&event) = self.possible().first() else { break };
            self.commit(event);
        }
        Ok(())
    }

    /// The write that must come next, if one may: address, and the most bytes it may have. [`Internal`] events may come before it.
    pub fn expected_write(&self) -> Option<(Addr, u32)> {
        self.next_body()
            .or_else(|| Some((self.next_packet(false).ok()??.head_at, PACKET_HEADER_BYTES)))
    }

    /// The internal events that may come next. At the end there are none.
    pub fn possible(&self) -> Vec<Internal> {
        let mut events = Vec::new();
        if self.halt_due {
            events.push(Internal::Halted);
        }
        if let Some(front) = self.open.front().filter(|p| p.written()) {
            let done = front.faults().next().is_none();
            if done && !front.slots.is_empty() {
                let puts = front.slots.iter().map(|&(ring, index)| self.put_after(ring, index));
                events.extend(puts);
            } else if done && front.end_due {
                events.push(Internal::Raised(Cause::End));
            }
            if !front.arrival_due {
                events.extend(front.faults().map(Internal::Raised));
            }
        }
        if let (1, Some(p)) = (self.open.len(), self.open.back())
            && p.arrival_due
            && p.unanswered == 0
            && !p.bus_error
        {
            events.push(Internal::Raised(Cause::Arrival));
        }
        if self.may_begin() {
            match self
                .arrived
                .front()
                .map(|flits| (flits, Verdict::of(flits, self.regs.node)))
            {
                Some((_, verdict)) if verdict.stored().is_none() => {
                    events.extend(verdict.fault().map(Internal::Raised))
                }
                Some(_) if matches!(self.next_packet(false), Ok(None)) && !self.overflowed => {
                    events.push(Internal::Raised(Cause::Overflow))
                }
                _ => {}
            }
        }
        events
    }

    /// Whether everything that arrived is dealt with, or waits behind a halt or a full ring.
    ///
    /// # Errors
    /// What is still missing.
    pub fn finished(&self) -> Result<(), Mismatch> {
        let h = &self.history;
        h.same("internal events at the end", Vec::new(), self.possible())?;
        h.same("writes without response at the end", 0, self.writes.len())?;
        h.same(
            "write at the end",
            None,
            self.expected_write().filter(|_| !self.regs.halted),
        )
    }

    /// Compares the whole memory with what it must hold.
    ///
    /// # Errors
    /// The first byte that differs.
    pub fn check_memory(&self, memory: &Memory) -> Result<(), Mismatch> {
        let all = |m: &Memory| m.read(Addr(0), m.size()).expect("all of it").to_vec();
        let (mut expected, got) = (all(&self.image), all(memory));
        for &(addr, len) in &self.unknown {
            let at = addr.0 as usize;
            let end = (at + len).min(got.len());
            if at < end {
                expected[at..end].copy_from_slice(&got[at..end]);
            }
        }
        match (0..got.len()).find(|&i| expected[i] != got[i]) {
            Some(i) => Err(self
                .history
                .differs("memory", (Addr(i as u32), expected[i]), (Addr(i as u32), got[i]))),
            None => Ok(()),
        }
    }

    /// The host's own writes to memory go here too, so that [`check_memory`](RecvModel::check_memory) knows of them.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.image
    }

    fn put_after(&self, ring: RingId, index: u32) -> Internal {
        let value = self.regs.rings[ring as usize].after(index);
        Internal::Put { ring, value }
    }

    /// The next packet may be begun.
    fn may_begin(&self) -> bool {
        let halting = |p: &Open| {
            p.end_due
                && p.verdict.fault().is_none()
                && !p.bus_error
                && p.verdict.stored().is_some_and(|(h, _)| self.regs.halts_at_end(h.kind))
        };
        self.regs.ctrl & R_CTRL_RUN_MASK != 0
            && !self.regs.halted
            && !self.halt_due
            && self.open.back().is_none_or(|p| p.all_commanded() && !p.arrival_due)
            && !self.open.iter().any(halting)
    }

    /// The entry the next packet takes in a ring, beyond those of packets under way that may still be delivered; `None` if the ring is full.
    /// If `late`, the hardware had taken it before it knew that the packet in front of it was refused by memory.
    fn next_slot(&self, id: RingId, late: bool) -> Option<u32> {
        let sound = |p: &&Open| p.verdict.fault().is_none() && (late || !p.bus_error);
        let index = |p: &Open| p.slots.iter().find(|(ring, _)| *ring == id).map(|(_, index)| *index);
        let last = self.open.iter().rev().filter(sound).find_map(index);
        self.regs.rings[id as usize].entry(last.or(self.refused[id as usize].filter(|_| late)))
    }

    /// The next packet that is to be stored, with its ring entries; `None` if a ring is full.
    ///
    /// # Errors
    /// Why no packet may be begun now.
    fn next_packet(&self, late: bool) -> Result<Option<Next>, &'static str> {
        if !self.may_begin() {
            return Err("no new packet now");
        }
        let node = self.regs.node;
        let flits = self.arrived.iter().find(|f| Verdict::of(f, node).stored().is_some());
        let flits = flits.ok_or("no new packet has arrived")?;
        let verdict = Verdict::of(flits, node);
        let (header, _) = verdict.stored().expect("found so");
        let (head_ring, body_ring) = RingId::of(header.kind);
        let rings = [Some(head_ring), body_ring].into_iter().flatten();
        let slots: Option<Vec<_>> = rings.map(|id| Some((id, self.next_slot(id, late)?))).collect();
        Ok(slots.map(|slots| {
            let at =
                |&(id, index): &(RingId, u32)| Addr(self.regs.rings[id as usize].base).offset(index * id.entry_bytes());
            Next {
                head_at: at(&slots[0]),
                head: header_bytes(flits).expect("not short"),
                body_at: slots.get(1).map_or(Addr(header.dest), at),
                slots,
            }
        }))
    }

    /// Address and most bytes of the next body write of the packet begun last.
    fn next_body(&self) -> Option<(Addr, u32)> {
        let p = self.open.back()?;
        let (header, _) = p.verdict.stored()?;
        let end = header.bytes.next_multiple_of(self.bus_bytes);
        if p.commanded >= end || p.arrival_due || self.regs.halted || self.halt_due {
            return None;
        }
        let addr = p.body_at.offset(p.commanded);
        Some((
            addr,
            (end - p.commanded).min(self.burst_bytes - addr.0 % self.burst_bytes),
        ))
    }

    fn write(&mut self, addr: Addr, bytes: u32) -> Result<(), Mismatch> {
        let whole = bytes > 0 && bytes.is_multiple_of(self.bus_bytes);
        let packet = self.closed + self.open.len() as u64;
        let body = self.next_body();
        if let Some((at, most)) = body
            && at == addr
            && whole
            && bytes <= most
        {
            let p = self.open.back_mut().expect("next_body has a packet");
            let (_, data) = p.verdict.stored().expect("next_body has a body");
            let from = (p.commanded as usize).min(data.len());
            let to = ((p.commanded + bytes) as usize).min(data.len());
            self.writes.push_back(Pending {
                addr,
                data: data[from..to].to_vec(),
                packet: Some(packet - 1),
            });
            p.commanded += bytes;
            p.unanswered += 1;
            return Ok(());
        }
        if let Some((at, left)) = self.tail
            && at == addr
            && whole
            && bytes <= left
        {
            self.tail = Some((addr.offset(bytes), left - bytes));
            self.writes.push_back(Pending {
                addr,
                data: Vec::new(),
                packet: None,
            });
            self.unknown.push((addr, bytes as usize));
            return Ok(());
        }
        if self.moves(addr, bytes) {
            return Ok(());
        }
        let next = match self.next_packet(false) {
            Ok(Some(next)) => next,
            Ok(None) => return Err(self.history.differs("write", "none: a ring is full", (addr, bytes))),
            Err(why) => {
                return Err(self
                    .history
                    .differs("write", format!("body {body:x?}; {why}"), (addr, bytes)));
            }
        };
        let late = self.next_packet(true).ok().flatten();
        let fits = |next: &Next| (next.head_at, PACKET_HEADER_BYTES) == (addr, bytes);
        let expected = format!("header at {}, or body {body:x?}", next.head_at);
        let Some(next) = [Some(next), late].into_iter().flatten().find(fits) else {
            return Err(self.history.differs("write", expected, (addr, bytes)));
        };
        self.begin(next);
        Ok(())
    }

    /// A header that was written behind one whose packet memory refused may be written again, in the place of that one.
    fn moves(&mut self, addr: Addr, bytes: u32) -> bool {
        let packet = self.closed + self.open.len() as u64;
        let Some((p, before)) = self.open.make_contiguous().split_last_mut() else {
            return false;
        };
        let Some(&(id, index)) = p.slots.first() else {
            return false;
        };
        let mut sound = before.iter().rev().filter(|b| b.faults().next().is_none());
        let last = sound.find_map(|b| b.slots.iter().find(|(ring, _)| *ring == id));
        let ring = self.regs.rings[id as usize];
        let Some(place) = ring
            .entry(last.map(|(_, index)| *index))
            .filter(|&place| place != index)
        else {
            return false;
        };
        let at = Addr(ring.base).offset(place * id.entry_bytes());
        if (at, PACKET_HEADER_BYTES) != (addr, bytes) || !p.all_commanded() {
            return false;
        }
        p.slots[0].1 = place;
        p.unanswered += 1;
        self.writes.push_back(Pending {
            addr,
            data: p.head.to_vec(),
            packet: Some(packet - 1),
        });
        true
    }

    /// Opens the next packet that is stored, and those before it that are dropped.
    fn begin(&mut self, next: Next) {
        self.tail = None;
        for (ring, _) in &next.slots {
            self.refused[*ring as usize] = None;
        }
        loop {
            let flits = self.arrived.pop_front().expect("the next packet has arrived");
            let verdict = Verdict::of(&flits, self.regs.node);
            let stored = verdict.stored().map(|(header, _)| *header);
            self.open.push_back(Open {
                word0: header_word0(&flits),
                head: next.head,
                body_at: next.body_at,
                commanded: 0,
                unanswered: u32::from(stored.is_some()),
                arrival_due: stored.is_some_and(|h| h.arr),
                bus_error: false,
                slots: stored.map_or(Vec::new(), |_| next.slots.clone()),
                end_due: stored.is_some_and(|h| h.end),
                verdict,
            });
            if stored.is_some() {
                let packet = Some(self.closed + self.open.len() as u64 - 1);
                self.writes.push_back(Pending {
                    addr: next.head_at,
                    data: next.head.to_vec(),
                    packet,
                });
                return;
            }
        }
    }

    fn written(&mut self, ok: bool) -> Result<(), Mismatch> {
        let write = self
            .writes
            .pop_front()
            .ok_or_else(|| self.history.differs("write response", "none outstanding", ok))?;
        let Some(packet) = write.packet else { return Ok(()) };
        let p = &mut self.open[(packet - self.closed) as usize];
        p.unanswered -= 1;
        p.bus_error |= !ok;
        p.arrival_due &= ok;
        if ok {
            assert!(
                self.image.write(write.addr, &write.data),
                "memory answered for bytes it does not have"
            );
        } else {
            self.unknown.push((write.addr, write.data.len()));
        }
        Ok(())
    }

    fn commit(&mut self, event: Internal) {
        match event {
            Internal::Halted => {
                self.halt_due = false;
                self.regs.halted = true;
                return;
            }
            Internal::Put { ring, value } => {
                self.regs.rings[ring as usize].put = value;
                let front = self.open.front_mut().expect("a PUT has a packet");
                front.slots.retain(|(r, _)| *r != ring);
                if !front.slots.is_empty() || front.end_due {
                    return;
                }
            }
            Internal::Raised(cause) => {
                self.regs.raise(cause);
                if !self.raised(cause) {
                    return;
                }
            }
        }
        let p = self.open.pop_front().expect("closed by its event");
        if p.bus_error
            && let Some((header, _)) = p.verdict.stored()
        {
            let end = header.bytes.next_multiple_of(self.bus_bytes);
            self.tail = Some((p.body_at.offset(p.commanded), end.saturating_sub(p.commanded)));
            for (ring, index) in p.slots {
                self.refused[ring as usize] = Some(index);
            }
        }
        self.closed += 1;
        self.history.packet += 1;
    }

    /// The consequences of a cause; true if it closes the packet in front.
    fn raised(&mut self, cause: Cause) -> bool {
        match cause {
            Cause::Arrival => {
                self.open.back_mut().expect("an arrival has a packet").arrival_due = false;
                self.halt_due = self.regs.ctrl & R_CTRL_HALT_ARRIVAL_MASK != 0;
                false
            }
            Cause::Overflow => {
                self.halt_due = true;
                self.overflowed = true;
                false
            }
            Cause::End => {
                let front = self.open.front().expect("an end has a packet");
                let (header, _) = front.verdict.stored().expect("delivered");
                self.halt_due = self.regs.halts_at_end(header.kind);
                true
            }
            _ => match self
                .open
                .front()
                .filter(|p| p.written() && p.faults().any(|f| f == cause))
            {
                Some(front) => {
                    self.regs.drop_packet(front.word0);
                    true
                }
                None => {
                    let flits = self
                        .arrived
                        .pop_front()
                        .expect("a packet that is dropped before it was begun");
                    self.regs.drop_packet(header_word0(&flits));
                    self.history.packet += 1;
                    false
                }
            },
        }
    }
}
