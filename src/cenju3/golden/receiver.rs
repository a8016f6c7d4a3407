//! Golden model of the Receiver, in lock step: it learns which packets arrive, and checks each action of the hardware.
//!
//! The paper (sec. 3.2, 3.3): the header goes to the message or the DMA header buffer, the body to a message body
//! buffer or to the address in the header. The arrival interrupt comes before the body is stored, the end interrupt
//! after it. After an interrupt the Receiver may stop until it is restarted. Rings, halts, errors and the following
//! rules are our choice (see the register table).
//!
//! At most two packets are under way. The second is a DMA packet with a body and without ARR, behind a packet for which
//! the Receiver cannot halt. Any other packet begins, is dropped or waits for a full ring only when nothing is under
//! way. A packet is written to its end even if memory refuses a part of it. If it fails, its entries go to the next
//! packet. If that packet's header already stands in the entry behind, it is written again after the commands of its
//! body.
//!
//! One choice is the hardware's: how soon it learns of a refusal. The packet that had arrived by then may still begin
//! as if behind.

use std::collections::{BTreeMap, VecDeque};

use crate::Addr;
use crate::cenju3::golden::lockstep::{History, Mismatch};
use crate::cenju3::golden::packet::{Kind, PacketHeader, header_bytes};
use crate::cenju3::golden::receiver_state::{Cause, RecvRegs, RingId, Verdict, header_word0};
use crate::cenju3::regs::*;
use crate::harness::memory::Memory;

/// Internal events of the Receiver, visible at the unit's ports.
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
    /// Reported: the host wrote a register.
    Register {
        offset: u32,
        value: u32,
    },
    /// Reported: this packet begins to arrive.
    Arrives {
        flits: Vec<u16>,
    },
    /// Memory took a write command; `bytes` in whole bus words.
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
    /// It shows them: each must be legal, and none may be missing.
    Shown,
    /// It does not show them: the model takes each as soon as it is legal.
    Assumed,
}

/// A packet under way: the write of its header was seen.
#[derive(Clone, Debug)]
struct Open {
    header: PacketHeader,
    /// The header that memory is to hold, and the entry of the header ring to which it was last written.
    head: [u8; PACKET_HEADER_BYTES as usize],
    entry: u32,
    /// The part of the body to store, and its address.
    body: Vec<u8>,
    body_at: Addr,
    /// The packet's own error.
    fault: Option<Cause>,
    /// Memory refused a write of this packet.
    refused: bool,
    /// Body bytes with a write command.
    commanded: u32,
    /// Writes without response.
    unanswered: u32,
    arrival_due: bool,
    /// The rings with a PUT that this packet has not moved.
    rings: Vec<RingId>,
}

impl Open {
    fn header_ring(&self) -> RingId {
        RingId::of(self.header.kind).0
    }

    fn all_commanded(&self) -> bool {
        self.commanded as usize >= self.body.len()
    }

    /// The reason why it is not delivered; a bus error precedes other reasons.
    fn failure(&self) -> Option<Cause> {
        if self.refused {
            Some(Cause::BusError)
        } else {
            self.fault
        }
    }
}

/// The kind of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The header of a packet not begun, into this entry.
    Header { entry: u32 },
    /// The header of the packet in front, into the entry that became free.
    HeaderAgain,
    /// The next burst of the body of the packet begun last.
    Body,
}

/// A write that may come: kind, address, bytes.
type Due = (Part, Addr, u32);

/// A write without response.
#[derive(Clone, Debug)]
struct Pending {
    addr: Addr,
    data: Vec<u8>,
    /// Packets begun before its packet.
    packet: u64,
}

/// Golden model of the Receiver; the module's description has the rules.
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
    /// The next packet may have begun behind one that memory refused, before the hardware learned of it.
    late: bool,
    halt_due: bool,
    image: Memory,
    /// Bytes that memory may hold instead of the image's: it may have taken a part of a refused write.
    perhaps: BTreeMap<u32, Vec<u8>>,
    history: History,
}

impl RecvModel {
    /// The possible fields of a [`Mismatch`].
    pub const FIELDS: [&str; 7] = [
        "inside",
        "write",
        "write response",
        "memory",
        "internal events at the end",
        "writes without response at the end",
        "write at the end",
    ];

    /// A Receiver after reset, on a bus of `bus_bytes` with bursts of at most `burst_beats`; `memory` is the content of
    /// the node's memory.
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
            late: false,
            halt_due: false,
            image: memory,
            perhaps: BTreeMap::new(),
            history: History::new("Receiver", &RecvModel::FIELDS),
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

    /// The internal events that may come next; none at the end.
    pub fn possible(&self) -> Vec<Internal> {
        let mut events = Vec::new();
        if self.halt_due {
            events.push(Internal::Halted);
        }
        if let Some(front) = self.open.front() {
            let written = front.all_commanded() && front.unanswered == 0;
            match front.failure() {
                // Nothing is before a packet with ARR.
                _ if front.arrival_due && front.unanswered == 0 => events.push(Internal::Raised(Cause::Arrival)),
                _ if !written || self.is_misplaced(front) => {}
                Some(cause) => events.push(Internal::Raised(cause)),
                None if front.rings.is_empty() => events.push(Internal::Raised(Cause::End)),
                None => events.extend(front.rings.iter().map(|&ring| self.put(ring))),
            }
        }
        match self.next_packet() {
            Ok(Verdict::Short) => events.push(Internal::Raised(Cause::Truncated)),
            Ok(Verdict::Bad) => events.push(Internal::Raised(Cause::BadHeader)),
            Ok(verdict) if self.open.is_empty() && self.entries(&verdict).is_empty() => {
                events.push(Internal::Raised(Cause::Overflow));
            }
            _ => {}
        }
        events
    }

    /// Checks that every arrived packet is handled, or waits behind a halt or a full ring.
    ///
    /// # Errors
    /// The missing event.
    pub fn finished(&self) -> Result<(), Mismatch> {
        let h = &self.history;
        h.same("internal events at the end", Vec::new(), self.possible())?;
        h.same("writes without response at the end", 0, self.writes.len())?;
        h.same("write at the end", None, self.next_writes().ok())
    }

    /// Compares the whole memory with its expected content.
    ///
    /// # Errors
    /// The first byte that differs.
    pub fn check_memory(&self, memory: &Memory) -> Result<(), Mismatch> {
        let all = |m: &Memory| m.read(Addr(0), m.size()).expect("all of it").to_vec();
        let (expected, got) = (all(&self.image), all(memory));
        let may_be = |at: usize| self.perhaps.get(&(at as u32)).is_some_and(|b| b.contains(&got[at]));
        match (0..got.len()).find(|&i| expected[i] != got[i] && !may_be(i)) {
            Some(i) => Err(self
                .history
                .differs("memory", (Addr(i as u32), expected[i]), (Addr(i as u32), got[i]))),
            None => Ok(()),
        }
    }

    /// The host's own writes to memory; [`check_memory`](RecvModel::check_memory) must know them.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.image
    }

    fn put(&self, ring: RingId) -> Internal {
        let at = self.regs.rings[ring as usize];
        let value = at.after(at.put);
        Internal::Put { ring, value }
    }

    /// Whether the header of the packet in front must be written again, because the packet before it left PUT
    /// unchanged.
    fn is_misplaced(&self, front: &Open) -> bool {
        let ring = front.header_ring();
        front.rings.contains(&ring) && front.entry != self.regs.rings[ring as usize].put
    }

    /// The next packet, if it may begin or be dropped now, as far as the rings have room.
    ///
    /// # Errors
    /// The reason why it may not.
    fn next_packet(&self) -> Result<Verdict, &'static str> {
        if self.regs.ctrl & R_CTRL_RUN_MASK == 0 || self.regs.halted || self.halt_due {
            return Err("the Receiver does not run");
        }
        let flits = self.arrived.front().ok_or("no packet has arrived")?;
        let verdict = Verdict::of(flits, self.regs.node);
        let free = match (self.open.len(), self.open.back()) {
            (1, Some(p)) => {
                verdict.may_follow()
                    && p.all_commanded()
                    && !p.arrival_due
                    && !self.regs.may_halt(&p.header)
                    && !self.is_misplaced(p)
            }
            (under_way, _) => under_way == 0,
        };
        if free {
            Ok(verdict)
        } else {
            Err("packets under way come first")
        }
    }

    /// The entries of its header ring to which the header of the next packet may go; none if a ring is full.
    fn entries(&self, next: &Verdict) -> Vec<u32> {
        let Some((header, _)) = next.stored() else {
            return Vec::new();
        };
        let behind = self
            .open
            .back()
            .is_some_and(|p| p.header.kind == Kind::Dma && p.fault.is_none());
        let mut entries: Vec<_> = self.regs.header_entry(header.kind, behind).into_iter().collect();
        if self.late {
            entries.extend(self.regs.header_entry(header.kind, true));
        }
        entries
    }

    /// The writes that may come next: one, or one to either of two places.
    ///
    /// # Errors
    /// The reason why none may.
    fn next_writes(&self) -> Result<Vec<Due>, &'static str> {
        if let Some(p) = self.open.back()
            && !p.all_commanded()
        {
            if p.arrival_due || self.halt_due || self.regs.halted {
                return Err("the arrival interrupt, and a halt for it, come before the body");
            }
            let (at, end) = (
                p.body_at.offset(p.commanded),
                (p.body.len() as u32).next_multiple_of(self.bus_bytes),
            );
            let bytes = (end - p.commanded).min(self.burst_bytes - at.0 % self.burst_bytes);
            return Ok(vec![(Part::Body, at, bytes)]);
        }
        if let Some(p) = self.open.front().filter(|p| self.is_misplaced(p)) {
            let ring = p.header_ring();
            let at = self.regs.entry_at(ring, self.regs.rings[ring as usize].put);
            return Ok(vec![(Part::HeaderAgain, at, PACKET_HEADER_BYTES)]);
        }
        let next = self.next_packet()?;
        let (header, _) = next.stored().ok_or("the next packet is to be dropped")?;
        let ring = RingId::of(header.kind).0;
        let write = |entry| {
            (
                Part::Header { entry },
                self.regs.entry_at(ring, entry),
                PACKET_HEADER_BYTES,
            )
        };
        let writes: Vec<_> = self.entries(&next).into_iter().map(write).collect();
        if writes.is_empty() {
            Err("a ring is full")
        } else {
            Ok(writes)
        }
    }

    fn write(&mut self, addr: Addr, bytes: u32) -> Result<(), Mismatch> {
        let due = self.next_writes();
        let found = due.iter().flatten().find(|&&(_, at, len)| (at, len) == (addr, bytes));
        let Some(&(part, ..)) = found else {
            return Err(self.history.differs("write", due, (addr, bytes)));
        };
        let (p, data) = match part {
            Part::Header { entry } => {
                self.begin(entry);
                let p = self.open.back_mut().expect("just begun");
                let head = p.head.to_vec();
                (p, head)
            }
            Part::HeaderAgain => {
                let p = self.open.front_mut().expect("a header goes with a packet");
                p.entry = self.regs.rings[p.header_ring() as usize].put;
                let head = p.head.to_vec();
                (p, head)
            }
            Part::Body => {
                let p = self.open.back_mut().expect("a body goes with a packet");
                let from = p.commanded as usize;
                p.commanded += bytes;
                let to = p.body.len().min(p.commanded as usize);
                let data = p.body[from..to].to_vec();
                (p, data)
            }
        };
        p.unanswered += 1;
        let index = if part == Part::HeaderAgain {
            0
        } else {
            self.open.len() - 1
        };
        self.writes.push_back(Pending {
            addr,
            data,
            packet: self.closed + index as u64,
        });
        Ok(())
    }

    /// Opens the next packet, with its header in this entry of its ring.
    fn begin(&mut self, entry: u32) {
        self.late = false;
        let flits = self.arrived.pop_front().expect("the next packet has arrived");
        let verdict = Verdict::of(&flits, self.regs.node);
        let (header, body) = verdict.stored().expect("a packet that is stored");
        let (head_ring, body_ring) = RingId::of(header.kind);
        self.open.push_back(Open {
            header: *header,
            head: header_bytes(&flits).expect("not short"),
            entry,
            body: body.to_vec(),
            body_at: body_ring.map_or(Addr(header.dest), |id| {
                self.regs.entry_at(id, self.regs.rings[id as usize].put)
            }),
            fault: verdict.fault(),
            refused: false,
            commanded: 0,
            unanswered: 0,
            arrival_due: header.arr,
            rings: [Some(head_ring), body_ring].into_iter().flatten().collect(),
        });
    }

    fn written(&mut self, ok: bool) -> Result<(), Mismatch> {
        let write = self
            .writes
            .pop_front()
            .ok_or_else(|| self.history.differs("write response", "none outstanding", ok))?;
        let p = &mut self.open[(write.packet - self.closed) as usize];
        p.unanswered -= 1;
        p.refused |= !ok;
        p.arrival_due &= ok;
        let bytes = (write.addr.0..).zip(&write.data);
        if ok {
            bytes.for_each(|(at, _)| drop(self.perhaps.remove(&at)));
            assert!(
                self.image.write(write.addr, &write.data),
                "memory answered for bytes it does not have"
            );
        } else {
            bytes.for_each(|(at, byte)| self.perhaps.entry(at).or_default().push(*byte));
        }
        Ok(())
    }

    fn commit(&mut self, event: Internal) {
        match event {
            Internal::Halted => {
                self.halt_due = false;
                self.regs.halted = true;
            }
            Internal::Put { ring, value } => {
                self.regs.rings[ring as usize].put = value;
                let front = self.open.front_mut().expect("a PUT has a packet");
                front.rings.retain(|r| *r != ring);
                if front.rings.is_empty() && !front.header.end {
                    self.close();
                }
            }
            Internal::Raised(cause) => self.raised(cause),
        }
    }

    fn raised(&mut self, cause: Cause) {
        self.regs.raise(cause);
        match cause {
            Cause::Arrival => {
                self.open.front_mut().expect("an arrival has a packet").arrival_due = false;
                self.halt_due = self.regs.ctrl & R_CTRL_HALT_ARRIVAL_MASK != 0;
            }
            Cause::Overflow => self.halt_due = true,
            Cause::End => {
                let ended = self.close();
                self.halt_due = self.regs.halts_at_end(ended.header.kind);
            }
            _ if self.open.is_empty() => {
                let flits = self.arrived.pop_front().expect("a packet that is dropped");
                self.late = false;
                self.regs.drop_packet(header_word0(&flits));
                self.history.packet += 1;
            }
            _ => {
                let failed = self.close();
                let word0 = u32::from_le_bytes(failed.head[..4].try_into().expect("4 bytes"));
                self.regs.drop_packet(Some(word0));
                let node = self.regs.node;
                self.late = self.open.is_empty()
                    && (failed.header.kind, failed.fault) == (Kind::Dma, None)
                    && !self.regs.may_halt(&failed.header)
                    && self.arrived.front().is_some_and(|f| Verdict::of(f, node).may_follow());
            }
        }
    }

    /// The packet in front is finished.
    fn close(&mut self) -> Open {
        self.closed += 1;
        self.history.packet += 1;
        self.open.pop_front().expect("a packet is under way")
    }
}
