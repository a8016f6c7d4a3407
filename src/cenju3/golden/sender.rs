//! Golden model of the Sender, in lock step: it checks every committed event of the hardware.
//!
//! The paper (sec. 3.1, 3.3): two queues of parcel headers in memory are sent without the CPU until they are empty. A
//! parcel is cut into packets. Pointers name header and body. The hardware chooses when it fetches headers and which
//! queue's packet is next. The model checks that the choice was legal: queue 0 first at each packet boundary, except
//! for packets already under way, and no fetch of a header that is not queued.

use std::collections::VecDeque;

use crate::Addr;
use crate::cenju3::golden::lockstep::{History, Mismatch};
use crate::cenju3::golden::packet::{HEAD_FLITS, Packet, PacketPlan, ParcelHeader, Status, put, split, to_flits};
use crate::cenju3::regs::*;
use crate::harness::memory::Memory;

/// A committed event of the Sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendEvent {
    /// Reported: the host wrote a register of the Sender (`SQ*_BASE`, `SQ*_PUT`, `S_CTRL`); others are ignored.
    Register { offset: u32, value: u32 },
    /// The last word of a read burst arrived.
    Read { addr: Addr, bytes: u32 },
    /// The last flit of a packet left.
    Packet { flits: Vec<u16> },
    /// A write of the Sender to memory: always a status.
    Write { addr: Addr, value: u32 },
    /// `SQ*_GET` moved.
    Get { queue: usize, value: u8 },
    /// The send error interrupt was raised.
    Error,
}

/// Distance by which the hardware's inside may run ahead of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Packets of queue 1 that may still leave after a header of queue 0 has arrived.
    pub packets: u32,
    /// Parcel headers of one queue fetched and not yet completely sent.
    pub headers: usize,
    /// Parcels of one queue by which GET may be ahead of the observed packets (0 at the Sender's own port).
    pub gets: u32,
}

impl Window {
    /// Packets at the Sender's own output. At most two are under way, one going out and one being read. One of them may
    /// be a packet of queue 1 requested in the very cycle that completes queue 0's header; from the next cycle on queue
    /// 1 yields. Three parcels: one for each packet under way, and the next. GET moves with the last word.
    pub const UNIT: Window = Window {
        packets: 2,
        headers: 3,
        gets: 0,
    };
    /// Packets on the link. At most 20 bus words stand between memory and link in the RTL (FIFO, width converter, gap),
    /// 48 in the timed model. The shortest packet has 5 words (10 flits). Two more may be requested while a header
    /// arrives, which its first word shows.
    pub const LINK: Window = Window {
        packets: 14,
        headers: 16,
        gets: 14,
    };
}

/// A fetched parcel.
#[derive(Clone, Debug)]
struct Fetched {
    index: u8,
    parcel: Result<ParcelHeader, Status>,
    packets_sent: usize,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    base: u32,
    put: u8,
    /// GET as reported.
    get: u8,
    /// Parcels completely sent, with their GET not yet seen.
    gets_due: u32,
    /// GETs seen before the last packet of their parcel.
    gets_early: u32,
    fetched: VecDeque<Fetched>,
    /// The status that stopped the queue, after its write.
    halted: Option<Status>,
    /// The halt with an interrupt not yet seen.
    error_due: bool,
}

impl Queue {
    fn header_addr(&self, index: u8) -> Addr {
        Addr(self.base).offset(u32::from(index) * PARCEL_HEADER_BYTES)
    }

    /// Ring index of the parcel at the front: partly sent, or next.
    fn front(&self) -> u8 {
        self.get
            .wrapping_add(self.gets_due as u8)
            .wrapping_sub(self.gets_early as u8)
    }

    fn next_fetch(&self) -> u8 {
        self.front().wrapping_add(self.fetched.len() as u8)
    }
}

/// Golden model of the Sender; the module's description has the rules.
#[derive(Clone, Debug)]
pub struct SendModel {
    node: u8,
    window: Window,
    bus_bytes: u32,
    queues: [Queue; 2],
    /// Packets of queue 1 seen while queue 0 had one ready.
    passed: u32,
    sent: u16,
    history: History,
}

impl SendModel {
    /// The possible fields of a [`Mismatch`].
    pub const FIELDS: [&str; 15] = [
        "read",
        "packet",
        "priority",
        "route flit",
        "packet header",
        "packet length in flits",
        "body",
        "length of a packet cut by a bus error",
        "write",
        "status",
        "interrupt",
        "halt",
        "GET",
        "queue 0 at the end",
        "queue 1 at the end",
    ];

    /// The Sender of PE `node`, on a bus of `bus_bytes`, after reset.
    pub fn new(node: u8, bus_bytes: u32, window: Window) -> SendModel {
        SendModel {
            node,
            window,
            bus_bytes,
            queues: Default::default(),
            passed: 0,
            sent: 0,
            history: History::new("Sender", &SendModel::FIELDS),
        }
    }

    /// Takes the next event; `memory` is the node's memory at that moment, with its bus faults.
    ///
    /// # Errors
    /// The event is not one the Sender may show now. The model is then of no further use.
    pub fn observe(&mut self, event: SendEvent, memory: &Memory) -> Result<(), Mismatch> {
        self.history.note(&event);
        match event {
            SendEvent::Register { offset, value } => self.register(offset, value),
            SendEvent::Read { addr, bytes } => self.read(addr, bytes, memory),
            SendEvent::Packet { flits } => self.packet(&flits, memory),
            SendEvent::Write { addr, value } => self.status(addr, value, memory),
            SendEvent::Get { queue, value } => self.get(queue, value),
            SendEvent::Error => self.error(),
        }
    }

    /// The expected next packet of each queue that has one; the Sender chooses.
    pub fn next_packets(&self, memory: &Memory) -> [Option<Packet>; 2] {
        [0, 1].map(|q| {
            let plan = self.next_plan(q)?;
            let body = memory.read(plan.body, plan.header.bytes as usize)?;
            Some(plan.with_body(body))
        })
    }

    /// Parcels sent without error, as `S_STAT` counts them.
    pub fn sent(&self) -> u16 {
        self.sent
    }

    /// The value of `S_STAT` when the Sender is idle.
    pub fn stat(&self) -> u32 {
        let flag = |mask, on: bool| put(mask, u32::from(on));
        let error = |q: usize| self.queues[q].halted.map_or(0, Status::code);
        let empty = |q: usize| self.queues[q].get == self.queues[q].put;
        flag(S_STAT_EMPTY0_MASK, empty(0))
            | flag(S_STAT_EMPTY1_MASK, empty(1))
            | flag(S_STAT_HALTED0_MASK, error(0) != 0)
            | flag(S_STAT_HALTED1_MASK, error(1) != 0)
            | put(S_STAT_ERROR0_MASK, error(0))
            | put(S_STAT_ERROR1_MASK, error(1))
            | put(S_STAT_SENT_MASK, u32::from(self.sent))
    }

    /// Checks that every queued parcel is sent and reported, or stands behind a halt.
    ///
    /// # Errors
    /// The missing event.
    pub fn finished(&self) -> Result<(), Mismatch> {
        for (q, queue) in self.queues.iter().enumerate() {
            let name = ["queue 0 at the end", "queue 1 at the end"][q];
            self.history
                .same(name, (0, 0, false), (queue.gets_due, queue.gets_early, queue.error_due))?;
            let parcels: Vec<_> = queue.fetched.iter().map(|f| f.parcel).collect();
            match queue.halted {
                None => self.history.same(name, (queue.put, vec![]), (queue.get, parcels))?,
                Some(status) => self.history.same(name, vec![Err(status)], parcels)?,
            }
        }
        Ok(())
    }

    fn register(&mut self, offset: u32, value: u32) -> Result<(), Mismatch> {
        match offset {
            SQ0_BASE => self.queues[0].base = value & !(ALIGN_BYTES - 1),
            SQ1_BASE => self.queues[1].base = value & !(ALIGN_BYTES - 1),
            SQ0_PUT => self.queues[0].put = value as u8,
            SQ1_PUT => self.queues[1].put = value as u8,
            S_CTRL => {
                for (q, mask) in [S_CTRL_RESUME0_MASK, S_CTRL_RESUME1_MASK].into_iter().enumerate() {
                    if value & mask != 0 && self.queues[q].halted.is_some() {
                        self.resume(q)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Skips the bad header: everything before it must have left by now.
    fn resume(&mut self, q: usize) -> Result<(), Mismatch> {
        let queue = &mut self.queues[q];
        let front = queue.fetched.pop_front().map(|f| f.parcel);
        if !matches!(front, Some(Err(_))) {
            return Err(self.history.differs(
                "halt",
                "everything before the bad parcel sent, and its readable part",
                front,
            ));
        }
        queue.halted = None;
        queue.gets_due += 1;
        Ok(())
    }

    /// A read burst is the next header of a queue, or lies in the body of a fetched parcel.
    fn read(&mut self, addr: Addr, bytes: u32, memory: &Memory) -> Result<(), Mismatch> {
        for q in 0..2 {
            let queue = &self.queues[q];
            let index = queue.next_fetch();
            let bad = queue.fetched.iter().any(|f| f.parcel.is_err());
            let room = queue.halted.is_none() && !bad && queue.fetched.len() < self.window.headers;
            if index != queue.put && room && (addr, bytes) == (queue.header_addr(index), PARCEL_HEADER_BYTES) {
                let parcel = if memory.bus_ok(addr, bytes) {
                    let header = memory.read(addr, bytes as usize).expect("the bus is ok there");
                    ParcelHeader::decode(header.try_into().expect("32 bytes"))
                } else {
                    Err(Status::HeaderBusError)
                };
                self.queues[q].fetched.push_back(Fetched {
                    index,
                    parcel,
                    packets_sent: 0,
                });
                return Ok(());
            }
        }
        let (start, end) = (u64::from(addr.0), u64::from(addr.0) + u64::from(bytes));
        let bodies = self
            .queues
            .iter()
            .flat_map(|q| &q.fetched)
            .filter_map(|f| f.parcel.ok());
        let inside = bodies.into_iter().any(|p| {
            let last = (u64::from(p.body.0) + u64::from(p.bytes)).next_multiple_of(u64::from(self.bus_bytes));
            u64::from(p.body.0) <= start && end <= last
        });
        if inside {
            return Ok(());
        }
        let headers = [0, 1].map(|q| self.queues[q].header_addr(self.queues[q].next_fetch()));
        Err(self.history.differs(
            "read",
            format!("the next header of a queue, {headers:x?}, or a fetched body"),
            (addr, bytes),
        ))
    }

    fn next_plan(&self, q: usize) -> Option<PacketPlan> {
        let queue = &self.queues[q];
        let front = queue.fetched.front()?;
        split(front.parcel.ok()?, self.node, q as u8, front.index).nth(front.packets_sent)
    }

    fn packet(&mut self, flits: &[u16], memory: &Memory) -> Result<(), Mismatch> {
        let first = *flits
            .first()
            .ok_or_else(|| self.history.differs("packet", "a route flit", flits))?;
        let q = usize::from(u32::from(first) & ROUTE_PRIORITY_MASK == 0);
        let plan = self
            .next_plan(q)
            .ok_or_else(|| self.history.differs("packet", format!("none from queue {q}"), flits))?;
        if q == 0 {
            self.passed = 0;
        } else if self.next_plan(0).is_some() {
            self.passed += 1;
            if self.passed > self.window.packets {
                return Err(self
                    .history
                    .differs("priority", "a packet of queue 0", "one more of queue 1"));
            }
        }
        let good = self.readable(&plan, memory);
        if good < plan.header.bytes {
            self.cut_packet(&plan, good, flits, memory)?;
            self.fail(q, Status::BodyBusError);
        } else {
            let body = memory.read(plan.body, good as usize).expect("readable");
            self.compare(&plan.with_body(body).flits(), flits)?;
            self.advance(q, plan.header.last);
        }
        self.history.packet += 1;
        Ok(())
    }

    /// Body bytes before the first bus error.
    fn readable(&self, plan: &PacketPlan, memory: &Memory) -> u32 {
        let words = (0..plan.header.bytes).step_by(self.bus_bytes as usize);
        let good = words
            .into_iter()
            .find(|&at| !memory.bus_ok(plan.body.offset(at), self.bus_bytes));
        good.unwrap_or(plan.header.bytes)
    }

    fn compare(&self, expected: &[u16], got: &[u16]) -> Result<(), Mismatch> {
        let h = &self.history;
        h.same("route flit", expected[0], got[0])?;
        h.same("packet header", expected.get(1..HEAD_FLITS), got.get(1..HEAD_FLITS))?;
        h.same("packet length in flits", expected.len(), got.len())?;
        match (0..got.len()).find(|&i| expected[i] != got[i]) {
            Some(i) => Err(h.differs("body", (i - HEAD_FLITS, expected[i]), (i - HEAD_FLITS, got[i]))),
            None => Ok(()),
        }
    }

    /// A packet with a failed body read: its head, then at most the good bytes and the failed word. In any case it has
    /// fewer flits than the whole packet.
    fn cut_packet(&self, plan: &PacketPlan, good: u32, flits: &[u16], memory: &Memory) -> Result<(), Mismatch> {
        let body = memory.read(plan.body, good as usize).unwrap_or(&[]);
        let mut expected = vec![plan.route.encode()];
        expected.extend(to_flits(&plan.header.encode()));
        expected.extend(to_flits(body));
        let whole = HEAD_FLITS + plan.header.bytes.div_ceil(2) as usize;
        let most = (expected.len() + self.bus_bytes as usize / 2).min(whole - 1);
        if !(HEAD_FLITS..=most).contains(&flits.len()) {
            return Err(self
                .history
                .differs("length of a packet cut by a bus error", HEAD_FLITS..=most, flits.len()));
        }
        let n = flits.len().min(expected.len());
        self.compare(&expected[..n], &flits[..n])
    }

    fn advance(&mut self, q: usize, last: bool) {
        let queue = &mut self.queues[q];
        queue.fetched.front_mut().expect("the packet's parcel").packets_sent += 1;
        if last {
            queue.fetched.pop_front();
            self.sent = self.sent.wrapping_add(1);
            match queue.gets_early {
                0 => queue.gets_due += 1,
                _ => queue.gets_early -= 1,
            }
        }
    }

    fn fail(&mut self, q: usize, status: Status) {
        let front = self.queues[q].fetched.front_mut().expect("the packet's parcel");
        front.parcel = Err(status);
    }

    /// The status of the first parcel that cannot be sent, or with unreadable next packets.
    fn status(&mut self, addr: Addr, value: u32, memory: &Memory) -> Result<(), Mismatch> {
        for q in 0..2 {
            let Some((index, status)) = self.failing(q, memory).filter(|_| self.queues[q].halted.is_none()) else {
                continue;
            };
            let queue = &mut self.queues[q];
            if addr == queue.header_addr(index).offset(PARCEL_STATUS) {
                self.history.same("status", status.code(), value)?;
                queue.halted = Some(status);
                queue.error_due = true;
                return Ok(());
            }
        }
        Err(self.history.differs(
            "write",
            "no write but the status of a parcel that failed",
            (addr, value),
        ))
    }

    /// The parcel at which the queue must stop, as far as it was fetched.
    fn failing(&self, q: usize, memory: &Memory) -> Option<(u8, Status)> {
        self.queues[q].fetched.iter().find_map(|f| match f.parcel {
            Err(status) => Some((f.index, status)),
            Ok(parcel) => split(parcel, self.node, q as u8, f.index)
                .skip(f.packets_sent)
                .any(|plan| self.readable(&plan, memory) < plan.header.bytes)
                .then_some((f.index, Status::BodyBusError)),
        })
    }

    fn get(&mut self, q: usize, value: u8) -> Result<(), Mismatch> {
        let queue = &mut self.queues[q];
        self.history.same("GET", queue.get.wrapping_add(1), value)?;
        if queue.gets_due > 0 {
            queue.gets_due -= 1;
        } else if queue.gets_early < self.window.gets && !queue.fetched.is_empty() && queue.halted.is_none() {
            queue.gets_early += 1;
        } else {
            return Err(self
                .history
                .differs("GET", "to stay until the parcel is sent whole", value));
        }
        queue.get = value;
        Ok(())
    }

    fn error(&mut self) -> Result<(), Mismatch> {
        match self.queues.iter_mut().find(|q| q.error_due) {
            Some(queue) => {
                queue.error_due = false;
                Ok(())
            }
            None => Err(self
                .history
                .differs("interrupt", "no send error without a status written", "send error")),
        }
    }
}
