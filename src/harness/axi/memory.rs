//! A memory behind AXI4: the slave that answers a NIC's bridges.

use std::collections::VecDeque;

use super::{Burst, FromMaster, FromSlave, ReadBeat, Resp, WriteBeat, WriteEnd};
use crate::event::EventKind;
use crate::memory::Memory;
use crate::seed::Rng;
use crate::stream::Pacer;
use crate::{Addr, Cycle};

/// Whether the slave lets one of a write's two channels wait for the other, as the specification allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOrder {
    Any,
    /// No data are taken before their address.
    AddressFirst,
    /// No address is taken before its data, all of them.
    DataFirst,
}

/// How the memory answers. Times are cycles of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiTiming {
    /// From the edge that takes an address to the one that can take its first beat, less one.
    pub read_latency: Cycle,
    /// From the edge that takes the last of a write to the one that can take its answer, less one.
    pub write_latency: Cycle,
    /// All five channels pause at random, and each latency is anything from the one stated to twice that and 8.
    pub stalls: bool,
    pub order: WriteOrder,
}

impl AxiTiming {
    /// One word per cycle each way, no latency.
    pub const IDEAL: AxiTiming = AxiTiming {
        read_latency: Cycle(0),
        write_latency: Cycle(0),
        stalls: false,
        order: WriteOrder::Any,
    };
}

#[derive(Clone, Copy, Debug)]
struct Read {
    burst: Burst,
    sent: u32,
    due: u64,
}

#[derive(Clone, Debug)]
struct Write {
    burst: Burst,
    beats: Vec<WriteBeat>,
    due: u64,
}

/// Addresses, and bursts of data, that wait inside.
const DEPTH: usize = 16;

/// Serves one master's five channels from a [`Memory`], in order of the addresses. A write is in memory when its answer
/// is offered, not before. Bytes with a fault are answered with SLVERR, bytes that do not exist with DECERR; their data
/// mean nothing, and are not written.
///
/// Before an edge, [`ports`](AxiMemory::ports) are what it drives; the edge is [`step`](AxiMemory::step). Without
/// stalls, edges at which it [`is_idle`](AxiMemory::is_idle) and nothing is valid may be left out.
#[derive(Clone, Debug)]
pub struct AxiMemory {
    bus: u32,
    timing: AxiTiming,
    latency: Rng,
    /// Of AW, W, B, AR, R.
    paces: [Pacer; 5],
    ports: FromSlave,
    reads: VecDeque<Read>,
    addresses: VecDeque<Burst>,
    data: VecDeque<WriteBeat>,
    /// Whole bursts in `data`.
    whole: usize,
    writes: VecDeque<Write>,
}

impl AxiMemory {
    /// For a bus of `bus` bytes, at most 8. `rng` gives a stream of chance by name.
    pub fn new(bus: u32, timing: AxiTiming, rng: impl Fn(&str) -> Rng) -> AxiMemory {
        let paces = ["AW", "W", "B", "AR", "R"].map(|name| Pacer::new(timing.stalls, rng(name)));
        AxiMemory {
            bus,
            timing,
            latency: rng("latency"),
            paces,
            ports: FromSlave::default(),
            reads: VecDeque::new(),
            addresses: VecDeque::new(),
            data: VecDeque::new(),
            whole: 0,
            writes: VecDeque::new(),
        }
    }

    /// What the memory drives now.
    pub fn ports(&self) -> &FromSlave {
        &self.ports
    }

    /// Nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.addresses.is_empty() && self.data.is_empty() && self.writes.is_empty()
    }

    /// What is in flight, for a hang report.
    pub fn report(&self) -> String {
        let (reads, addresses, data, writes) = (&self.reads, &self.addresses, &self.data, &self.writes);
        format!("reads {reads:x?}, write addresses {addresses:x?}, data {data:x?}, writes to be answered {writes:x?}")
    }

    /// Forgets everything in flight.
    pub fn reset(&mut self) {
        self.ports = FromSlave::default();
        self.reads.clear();
        self.addresses.clear();
        self.data.clear();
        self.whole = 0;
        self.writes.clear();
    }

    /// Edge number `cycle`: takes what `from` and [`ports`](AxiMemory::ports) agree on, and works out the next ports.
    /// `event` is told of each committed [`MemRead`](EventKind::MemRead), [`MemReadData`](EventKind::MemReadData),
    /// [`MemWrite`](EventKind::MemWrite) and [`MemWritten`](EventKind::MemWritten).
    pub fn step(&mut self, cycle: Cycle, memory: &mut Memory, from: &FromMaster, mut event: impl FnMut(EventKind)) {
        let (now, was) = (cycle.0, self.ports);
        if was.r.is_some() && from.r_ready {
            let read = self.reads.front_mut().expect("data belong to a read");
            if read.sent == 0 {
                event(EventKind::MemReadData {
                    addr: Addr(read.burst.addr),
                });
            }
            read.sent += 1;
            if read.sent == read.burst.beats() {
                self.reads.pop_front();
            }
            self.ports.r = None;
        }
        if was.b.is_some() && from.b_ready {
            let write = self.writes.pop_front().expect("an answer belongs to a write");
            let (addr, bytes) = extent(&write.burst);
            event(EventKind::MemWritten { addr, bytes });
            self.ports.b = None;
        }
        if let Some(burst) = from.ar.filter(|_| was.ar_ready) {
            let (addr, bytes) = extent(&burst);
            event(EventKind::MemRead { addr, bytes });
            let due = now + self.latency(self.timing.read_latency);
            self.reads.push_back(Read { burst, sent: 0, due });
        }
        if let Some(burst) = from.aw.filter(|_| was.aw_ready) {
            let (addr, bytes) = extent(&burst);
            event(EventKind::MemWrite { addr, bytes });
            self.addresses.push_back(burst);
        }
        if let Some(beat) = from.w.filter(|_| was.w_ready) {
            self.whole += usize::from(beat.last);
            self.data.push_back(beat);
        }
        while self.whole > 0 && !self.addresses.is_empty() {
            let burst = self.addresses.pop_front().expect("there is one");
            let end = self
                .data
                .iter()
                .position(|beat| beat.last)
                .expect("a whole burst has an end");
            let beats = self.data.drain(..=end).collect();
            self.whole -= 1;
            let due = now + self.latency(self.timing.write_latency);
            self.writes.push_back(Write { burst, beats, due });
        }
        self.drive(now, memory);
    }

    fn latency(&mut self, stated: Cycle) -> u64 {
        let most = if self.timing.stalls { 2 * stated.0 + 8 } else { stated.0 };
        self.latency.between(stated.0, most)
    }

    /// The ports for the next edge.
    fn drive(&mut self, now: u64, memory: &mut Memory) {
        let [aw, w, b, ar, r] = self.paces.each_mut().map(Pacer::step);
        let order = self.timing.order;
        self.ports.ar_ready = ar && self.reads.len() < DEPTH;
        self.ports.aw_ready = aw && self.addresses.len() < DEPTH && (order != WriteOrder::DataFirst || self.whole > 0);
        self.ports.w_ready =
            w && self.whole < DEPTH && (order != WriteOrder::AddressFirst || !self.addresses.is_empty());
        if self.ports.r.is_none()
            && r
            && let Some(read) = self.reads.front().filter(|read| read.due <= now)
        {
            let (data, resp) = self.read(memory, &read.burst, read.sent);
            self.ports.r = Some(ReadBeat {
                id: read.burst.id,
                data,
                resp,
                last: read.sent + 1 == read.burst.beats(),
            });
        }
        if self.ports.b.is_none()
            && b
            && let Some(write) = self.writes.front().filter(|write| write.due <= now)
        {
            let beats = write.beats.iter().enumerate();
            let resp = beats
                .map(|(i, beat)| self.write(memory, &write.burst, i as u32, beat))
                .max();
            self.ports.b = Some(WriteEnd {
                id: write.burst.id,
                resp: resp.expect("a write has beats"),
            });
        }
    }

    /// The address of the bus word of a beat, and its lanes.
    fn word(&self, burst: &Burst, beat: u32) -> (Addr, u8) {
        let place = burst.place(beat, self.bus);
        (Addr(place.addr / self.bus * self.bus), place.lanes)
    }

    fn read(&self, memory: &Memory, burst: &Burst, beat: u32) -> (u64, Resp) {
        let (addr, lanes) = self.word(burst, beat);
        let resp = answer(memory, addr, lanes);
        let mut data = 0xdead_dead_dead_dead_u64.to_le_bytes();
        for lane in (0..self.bus).filter(|lane| resp == Resp::Okay && lanes >> lane & 1 == 1) {
            data[lane as usize] = memory.read(addr.offset(lane), 1).expect("the bus is right here")[0];
        }
        (u64::from_le_bytes(data), resp)
    }

    fn write(&self, memory: &mut Memory, burst: &Burst, beat: u32, data: &WriteBeat) -> Resp {
        let (addr, _) = self.word(burst, beat);
        let resp = answer(memory, addr, data.strb);
        for lane in (0..self.bus).filter(|lane| resp == Resp::Okay && data.strb >> lane & 1 == 1) {
            let byte = data.data.to_le_bytes()[lane as usize];
            assert!(memory.write(addr.offset(lane), &[byte]), "the bus is right here");
        }
        resp
    }
}

/// First address and bytes of a burst, as it is on the bus.
fn extent(burst: &Burst) -> (Addr, u32) {
    (Addr(burst.addr), burst.beats() * burst.beat_bytes())
}

/// The answer to an access to these lanes of the word at `addr`.
fn answer(memory: &Memory, addr: Addr, lanes: u8) -> Resp {
    if lanes == 0 {
        return Resp::Okay;
    }
    let (first, end) = (lanes.trailing_zeros(), 8 - lanes.leading_zeros());
    if u64::from(addr.0) + u64::from(end) > memory.size() as u64 {
        Resp::DecErr
    } else if !memory.bus_ok(addr.offset(first), end - first) {
        Resp::SlvErr
    } else {
        Resp::Okay
    }
}
