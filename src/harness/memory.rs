//! One node's main memory, and the agent that serves a NIC's memory streams from it with stated timing.

use std::collections::VecDeque;
use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::event::EventKind;
use crate::{Addr, Cycle, Picos};

/// Bytes of one node, contiguous from address 0, with the ranges where its bus answers with an error.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Vec<u8>,
    faults: Vec<Range<u32>>,
}

impl Memory {
    /// `size` bytes, all zero.
    pub fn new(size: usize) -> Memory {
        Memory {
            bytes: vec![0; size],
            faults: Vec::new(),
        }
    }

    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// `len` bytes from `addr`, or `None` where they do not all exist; no bytes exist anywhere.
    pub fn read(&self, addr: Addr, len: usize) -> Option<&[u8]> {
        let at = if len == 0 { 0 } else { addr.0 as usize };
        self.bytes.get(at..at.checked_add(len)?)
    }

    /// Writes `data` at `addr`; false, and nothing written, where the bytes do not all exist.
    #[must_use]
    pub fn write(&mut self, addr: Addr, data: &[u8]) -> bool {
        let at = addr.0 as usize;
        match at.checked_add(data.len()).and_then(|end| self.bytes.get_mut(at..end)) {
            Some(to) => {
                to.copy_from_slice(data);
                true
            }
            None => false,
        }
    }

    /// Fills the bytes of `range` that exist with a pattern that differs from address to address, so that bytes nobody
    /// wrote are seen.
    pub fn poison(&mut self, range: Range<u32>) {
        let end = (range.end as usize).min(self.size());
        for at in range.start as usize..end {
            self.bytes[at] = Memory::poison_at(at as u32);
        }
    }

    /// The byte that [`poison`](Memory::poison) leaves at an address.
    pub fn poison_at(addr: u32) -> u8 {
        (addr.wrapping_mul(0x9e37_79b1) >> 24) as u8 ^ 0xa5
    }

    /// From now on a NIC's access to any byte of `range` is answered with a bus error. Hosts are not affected.
    pub fn inject_fault(&mut self, range: Range<u32>) {
        self.faults.push(range);
    }

    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// Ends one [`inject_fault`](Memory::inject_fault) of this range.
    pub fn lift_fault(&mut self, range: &Range<u32>) {
        if let Some(at) = self.faults.iter().position(|fault| fault == range) {
            self.faults.swap_remove(at);
        }
    }

    /// Whether a NIC's access to these bytes is answered without a bus error.
    pub fn bus_ok(&self, addr: Addr, len: u32) -> bool {
        let (start, end) = (u64::from(addr.0), u64::from(addr.0) + u64::from(len));
        end <= self.bytes.len() as u64
            && !self
                .faults
                .iter()
                .any(|bad| start < u64::from(bad.end) && u64::from(bad.start) < end)
    }

    /// Base of the bytes, for C programs on the simulated machine; stable for the memory's life.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr()
    }

    /// One bus word of `bytes` (at most 8) bytes, or `None` on a bus error.
    fn bus_read(&self, addr: Addr, bytes: u32) -> Option<u64> {
        if !self.bus_ok(addr, bytes) {
            return None;
        }
        let mut word = [0; 8];
        word[..bytes as usize].copy_from_slice(self.read(addr, bytes as usize)?);
        Some(u64::from_le_bytes(word))
    }

    /// Writes the strobed bytes of one bus word; false, and nothing written, on a bus error.
    fn bus_write(&mut self, addr: Addr, beat: Beat) -> bool {
        if beat.strb == 0 {
            return true;
        }
        let (first, last) = (beat.strb.trailing_zeros(), 7 - beat.strb.leading_zeros());
        if !self.bus_ok(addr.offset(first), last - first + 1) {
            return false;
        }
        for lane in (first..=last).filter(|lane| beat.strb >> lane & 1 == 1) {
            self.bytes[addr.offset(lane).0 as usize] = beat.data.to_le_bytes()[lane as usize];
        }
        true
    }
}

/// How a node's memory answers its NIC. Times are cycles of the bus clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryTiming {
    /// From the edge that takes a read command to the edge that takes its first word; 0 and 1 both mean the next edge.
    pub read_latency: Cycle,
    /// From the edge that takes the last word of a write burst to the first edge that can take its response; 0 and 1
    /// both mean the next.
    pub write_latency: Cycle,
    /// Bus cycles lost after each burst.
    pub overhead: Cycle,
    /// Reads and writes share one bus.
    pub shared_bus: bool,
    /// Time each byte occupies the memory, in 1/1024 bus cycles; 0 for no limit. See
    /// [`with_rate`](MemoryTiming::with_rate).
    pub byte_time: u32,
}

impl MemoryTiming {
    /// One word per cycle each way, no latency.
    pub const IDEAL: MemoryTiming = MemoryTiming {
        read_latency: Cycle(0),
        write_latency: Cycle(0),
        overhead: Cycle(0),
        shared_bus: false,
        byte_time: 0,
    };

    /// The same memory, not faster than `bytes_per_us` (MB/s, MB = 10^6 B) on a bus of this clock period.
    pub fn with_rate(self, bytes_per_us: f64, clock: Picos) -> MemoryTiming {
        let cycles_per_byte = 1.0 / (bytes_per_us * clock.as_us());
        MemoryTiming {
            byte_time: (cycles_per_byte * f64::from(FRACTION)).round() as u32,
            ..self
        }
    }
}

/// Parts of a cycle in which [`MemoryTiming::byte_time`] is counted.
const FRACTION: u32 = 1024;
/// Cycles that a rate-limited memory can run ahead after a pause: about one burst.
const RATE_SLACK: u64 = 32 * FRACTION as u64;
/// Commands of each direction that the memory holds, responses not yet taken included.
const COMMANDS: usize = 16;

/// What the NIC drives before an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemPortsIn {
    pub rd_cmd_valid: bool,
    pub rd_cmd_addr: u32,
    /// Beats - 1.
    pub rd_cmd_len: u8,
    pub rd_data_ready: bool,
    pub wr_cmd_valid: bool,
    pub wr_cmd_addr: u32,
    /// Beats - 1.
    pub wr_cmd_len: u8,
    pub wr_data_valid: bool,
    pub wr_data_data: u64,
    /// A bit for each byte of the bus word; bits beyond it are ignored.
    pub wr_data_strb: u8,
    pub wr_data_last: bool,
    pub wr_rsp_ready: bool,
}

/// What the memory drives before an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemPortsOut {
    pub rd_cmd_ready: bool,
    pub rd_data_valid: bool,
    pub rd_data_data: u64,
    pub rd_data_last: bool,
    pub rd_data_err: bool,
    pub wr_cmd_ready: bool,
    pub wr_data_ready: bool,
    pub wr_rsp_valid: bool,
    pub wr_rsp_err: bool,
}

/// What a verilated unit drives on its memory ports `mem_rd_…` and `mem_wr_…`.
#[macro_export]
macro_rules! mem_ports {
    ($unit:expr) => {
        $crate::memory::MemPortsIn {
            rd_cmd_valid: ::verilated::Port::is_set($unit.mem_rd_cmd_valid_o()),
            rd_cmd_addr: ::verilated::Port::get($unit.mem_rd_cmd_addr_o()) as u32,
            rd_cmd_len: ::verilated::Port::get($unit.mem_rd_cmd_len_o()) as u8,
            rd_data_ready: ::verilated::Port::is_set($unit.mem_rd_data_ready_o()),
            wr_cmd_valid: ::verilated::Port::is_set($unit.mem_wr_cmd_valid_o()),
            wr_cmd_addr: ::verilated::Port::get($unit.mem_wr_cmd_addr_o()) as u32,
            wr_cmd_len: ::verilated::Port::get($unit.mem_wr_cmd_len_o()) as u8,
            wr_data_valid: ::verilated::Port::is_set($unit.mem_wr_data_valid_o()),
            wr_data_data: ::verilated::Port::get($unit.mem_wr_data_data_o()),
            wr_data_strb: ::verilated::Port::get($unit.mem_wr_data_strb_o()) as u8,
            wr_data_last: ::verilated::Port::is_set($unit.mem_wr_data_last_o()),
            wr_rsp_ready: ::verilated::Port::is_set($unit.mem_wr_rsp_ready_o()),
        }
    };
}

/// Drives those ports as the memory does. A narrower port does not get the upper half of a word.
#[macro_export]
macro_rules! set_mem_ports {
    ($unit:expr, $mem:expr) => {{
        let mem: &$crate::memory::MemPortsOut = $mem;
        ::verilated::Input::set_bool($unit.mem_rd_cmd_ready_i(), mem.rd_cmd_ready);
        ::verilated::Input::set_bool($unit.mem_rd_data_valid_i(), mem.rd_data_valid);
        let data = $unit.mem_rd_data_data_i();
        let lanes = u64::MAX >> (64 - ::verilated::Port::width(data));
        ::verilated::Input::set(data, mem.rd_data_data & lanes);
        ::verilated::Input::set_bool($unit.mem_rd_data_last_i(), mem.rd_data_last);
        ::verilated::Input::set_bool($unit.mem_rd_data_err_i(), mem.rd_data_err);
        ::verilated::Input::set_bool($unit.mem_wr_cmd_ready_i(), mem.wr_cmd_ready);
        ::verilated::Input::set_bool($unit.mem_wr_data_ready_i(), mem.wr_data_ready);
        ::verilated::Input::set_bool($unit.mem_wr_rsp_valid_i(), mem.wr_rsp_valid);
        ::verilated::Input::set_bool($unit.mem_wr_rsp_err_i(), mem.wr_rsp_err);
    }};
}

#[derive(Clone, Copy, Debug)]
struct Read {
    addr: Addr,
    beats: u32,
    sent: u32,
    due: u64,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    addr: Addr,
    beats: u32,
    taken: u32,
    /// First cycle in which the response may be offered; known once all beats are in.
    due: u64,
}

#[derive(Clone, Copy, Debug)]
struct Beat {
    data: u64,
    strb: u8,
}

/// Who uses a bus, and from which cycle it is free when nobody does.
#[derive(Clone, Copy, Debug, Default)]
struct Bus {
    owner: Option<Direction>,
    last: Option<Direction>,
    free: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

/// Random delays on top of the timing, for testbenches.
#[derive(Clone, Debug)]
struct Jitter {
    rng: ChaCha8Rng,
    latency: u64,
    gap: u64,
}

impl Jitter {
    /// With gaps from so many cycles on, commands wait, too.
    const REFUSED: u64 = 4;

    /// Whether a command is taken is chance, at rest as well.
    fn refuses(&self) -> bool {
        self.gap >= Self::REFUSED
    }

    fn upto(&mut self, max: u64) -> u64 {
        self.rng.next_u64() % (max + 1)
    }
}

/// Serves one NIC's five memory streams, cycle by cycle. Commands and data are answered in order; a write is in memory
/// when its response is offered, not before. Both directions share one bus unless the timing says otherwise; a burst
/// keeps it from its first word to its last.
///
/// Used like a unit with a registered boundary: before an edge, [`ports`](MemoryAgent::ports) are what it drives; the
/// edge is [`step`](MemoryAgent::step). Edges at which it [`is_idle`](MemoryAgent::is_idle) and is given no command may
/// be left out.
#[derive(Clone, Debug)]
pub struct MemoryAgent {
    timing: MemoryTiming,
    beat_bytes: u32,
    jitter: Option<Jitter>,
    ports: MemPortsOut,
    reads: VecDeque<Read>,
    writes: VecDeque<Write>,
    /// How many of `writes` have all their beats.
    landed: usize,
    /// Beats of `writes`, in order.
    beats: VecDeque<Beat>,
    buses: [Bus; 2],
    /// When the memory behind the bus can move its next word, in fractions of a cycle.
    memory_free: u64,
    /// No word moves before this cycle (jitter).
    gap_until: u64,
    /// No word moves and no response is offered before this cycle (a fault).
    stalls_until: u64,
    /// No command is taken before this cycle (a fault).
    refuses_until: u64,
}

impl MemoryAgent {
    /// For a bus of `beat_bytes` = 4 or 8 bytes.
    pub fn new(timing: MemoryTiming, beat_bytes: u32) -> MemoryAgent {
        assert!(
            beat_bytes == 4 || beat_bytes == 8,
            "a bus word has 4 or 8 bytes, not {beat_bytes}"
        );
        MemoryAgent {
            timing,
            beat_bytes,
            jitter: None,
            ports: MemPortsOut {
                rd_cmd_ready: true,
                wr_cmd_ready: true,
                ..MemPortsOut::default()
            },
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            landed: 0,
            beats: VecDeque::new(),
            buses: [Bus::default(); 2],
            memory_free: 0,
            gap_until: 0,
            stalls_until: 0,
            refuses_until: 0,
        }
    }

    /// From the edge `now` on, for `cycles`: moves no word and offers no response that is not offered already.
    pub fn stall(&mut self, now: Cycle, cycles: Cycle) {
        self.stalls_until = self.stalls_until.max(now.0 + cycles.0);
    }

    /// From the edge behind `now` on, for `cycles`: takes no command.
    pub fn refuse(&mut self, now: Cycle, cycles: Cycle) {
        self.refuses_until = self.refuses_until.max(now.0 + cycles.0);
        [self.ports.rd_cmd_ready, self.ports.wr_cmd_ready] = [false; 2];
    }

    /// Adds up to `latency` random cycles to each command and up to `gap` before each word; with gaps of four or more,
    /// no command is taken in some cycles.
    pub fn with_jitter(mut self, seed: u64, latency: Cycle, gap: Cycle) -> MemoryAgent {
        self.jitter = Some(Jitter {
            rng: ChaCha8Rng::seed_from_u64(seed),
            latency: latency.0,
            gap: gap.0,
        });
        self
    }

    /// What the memory drives now.
    #[inline]
    pub fn ports(&self) -> &MemPortsOut {
        &self.ports
    }

    /// Nothing is in flight: without a new command the ports will not change.
    #[inline]
    pub fn is_idle(&self) -> bool {
        let refuses = self.jitter.as_ref().is_some_and(Jitter::refuses) || self.refuses_until > 0;
        !self.has_taken() && !refuses
    }

    /// A command is in flight.
    #[inline]
    pub fn has_taken(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// What is in flight, for a hang report.
    pub fn report(&self) -> Vec<String> {
        let read = self.reads.front().map(|read| {
            let (beats, addr) = (read.beats, read.addr);
            let waits = if self.ports.rd_data_valid {
                ", a word waits for the NIC"
            } else {
                ""
            };
            format!(
                "reads in flight: {}, first at {addr}, {} of {beats} words taken{waits}",
                self.reads.len(),
                read.sent
            )
        });
        let write = self.writes.front().map(|write| {
            let (beats, addr) = (write.beats, write.addr);
            let waits = if self.ports.wr_rsp_valid {
                ", its response waits for the NIC"
            } else {
                ""
            };
            format!(
                "writes in flight: {}, first at {addr}, {} of {beats} words given{waits}",
                self.writes.len(),
                write.taken
            )
        });
        read.into_iter().chain(write).collect()
    }

    /// Forgets everything in flight, as a reset does.
    pub fn reset(&mut self) {
        let jitter = self.jitter.take();
        *self = MemoryAgent {
            jitter,
            ..MemoryAgent::new(self.timing, self.beat_bytes)
        };
    }

    /// Edge number `cycle` of the bus clock: takes what `from` and [`ports`](MemoryAgent::ports) agree on, and works
    /// out the next ports. `event` is told of each committed [`MemRead`](EventKind::MemRead),
    /// [`MemReadData`](EventKind::MemReadData), [`MemWrite`](EventKind::MemWrite) and
    /// [`MemWritten`](EventKind::MemWritten).
    #[inline]
    pub fn step(&mut self, cycle: Cycle, memory: &mut Memory, from: &MemPortsIn, event: impl FnMut(EventKind)) {
        if !self.is_idle() || from.rd_cmd_valid || from.wr_cmd_valid {
            self.edge(cycle.0, memory, from, event);
        }
    }

    fn edge(&mut self, now: u64, memory: &mut Memory, from: &MemPortsIn, mut event: impl FnMut(EventKind)) {
        let was = self.ports;
        if was.rd_data_valid && from.rd_data_ready {
            self.read_taken(now, &mut event);
        }
        if was.wr_data_ready && from.wr_data_valid {
            self.write_taken(now, from);
        }
        if was.wr_rsp_valid && from.wr_rsp_ready {
            let done = self.writes.pop_front().expect("a response belongs to a write");
            self.landed -= 1;
            self.ports.wr_rsp_valid = false;
            event(EventKind::MemWritten {
                addr: done.addr,
                bytes: done.beats * self.beat_bytes,
            });
        }
        if was.rd_cmd_ready && from.rd_cmd_valid {
            let (addr, beats) = self.command(from.rd_cmd_addr, from.rd_cmd_len);
            let due = now + self.timing.read_latency.0.saturating_sub(1) + self.extra_latency();
            self.reads.push_back(Read {
                addr,
                beats,
                sent: 0,
                due,
            });
            event(EventKind::MemRead {
                addr,
                bytes: beats * self.beat_bytes,
            });
        }
        if was.wr_cmd_ready && from.wr_cmd_valid {
            let (addr, beats) = self.command(from.wr_cmd_addr, from.wr_cmd_len);
            self.writes.push_back(Write {
                addr,
                beats,
                taken: 0,
                due: 0,
            });
            event(EventKind::MemWrite {
                addr,
                bytes: beats * self.beat_bytes,
            });
        }
        self.arbitrate(now, from.wr_data_valid);
        self.drive(now, memory);
    }

    fn command(&self, addr: u32, len: u8) -> (Addr, u32) {
        assert!(
            addr.is_multiple_of(self.beat_bytes),
            "the NIC gave address {addr:#x}, which is not a multiple of the bus word"
        );
        (Addr(addr), u32::from(len) + 1)
    }

    fn extra_latency(&mut self) -> u64 {
        self.jitter.as_mut().map_or(0, |jitter| jitter.upto(jitter.latency))
    }

    fn read_taken(&mut self, now: u64, event: &mut impl FnMut(EventKind)) {
        let read = self.reads.front_mut().expect("a word belongs to a read");
        if read.sent == 0 {
            event(EventKind::MemReadData { addr: read.addr });
        }
        read.sent += 1;
        self.ports.rd_data_valid = false;
        if read.sent == read.beats {
            self.reads.pop_front();
            self.release(now, Direction::Read);
        }
        self.word_moved(now);
    }

    fn write_taken(&mut self, now: u64, from: &MemPortsIn) {
        let latency = self.timing.write_latency.0.saturating_sub(1) + self.extra_latency();
        let lanes = 0xff >> (8 - self.beat_bytes);
        let write = &mut self.writes[self.landed];
        write.taken += 1;
        let last = write.taken == write.beats;
        assert!(
            last == from.wr_data_last,
            "the NIC's write burst of {} words has `last` at word {}",
            write.beats,
            write.taken
        );
        self.beats.push_back(Beat {
            data: from.wr_data_data,
            strb: from.wr_data_strb & lanes,
        });
        if last {
            write.due = now + latency;
            self.landed += 1;
            self.release(now, Direction::Write);
        }
        self.word_moved(now);
    }

    fn bus(&mut self, direction: Direction) -> &mut Bus {
        &mut self.buses[usize::from(!self.timing.shared_bus && direction == Direction::Write)]
    }

    fn release(&mut self, now: u64, direction: Direction) {
        let free = now + self.timing.overhead.0;
        *self.bus(direction) = Bus {
            owner: None,
            last: Some(direction),
            free,
        };
    }

    fn word_moved(&mut self, now: u64) {
        if self.timing.byte_time != 0 {
            let earliest = (now * u64::from(FRACTION)).saturating_sub(RATE_SLACK);
            let cost = u64::from(self.timing.byte_time * self.beat_bytes);
            self.memory_free = self.memory_free.max(earliest) + cost;
        }
        if let Some(jitter) = &mut self.jitter {
            self.gap_until = now + jitter.upto(jitter.gap);
        }
    }

    /// Gives each free bus to a direction that has a burst for it, in turn when both have. On a shared bus a write asks
    /// for it with its first word.
    fn arbitrate(&mut self, now: u64, write_offered: bool) {
        let read = self.reads.front().is_some_and(|read| read.due <= now);
        let write = self.writes.len() > self.landed && (write_offered || !self.timing.shared_bus);
        for (direction, wanted, other) in [(Direction::Read, read, write), (Direction::Write, write, read)] {
            let shared = self.timing.shared_bus;
            let bus = self.bus(direction);
            let yields = shared && other && bus.last == Some(direction);
            if wanted && !yields && bus.owner.is_none() && bus.free <= now {
                bus.owner = Some(direction);
            }
        }
    }

    /// The ports for the next edge.
    fn drive(&mut self, now: u64, memory: &mut Memory) {
        let stalls = self.stalls_until > now;
        let moves = self.memory_free <= now * u64::from(FRACTION) && self.gap_until <= now && !stalls;
        if !self.ports.rd_data_valid && moves && self.bus(Direction::Read).owner == Some(Direction::Read) {
            let read = self.reads.front().expect("the owner of the bus has a burst");
            let word = memory.bus_read(read.addr.offset(read.sent * self.beat_bytes), self.beat_bytes);
            self.ports.rd_data_valid = true;
            self.ports.rd_data_data = word.unwrap_or(0);
            self.ports.rd_data_err = word.is_none();
            self.ports.rd_data_last = read.sent + 1 == read.beats;
        }
        self.ports.wr_data_ready = moves && self.bus(Direction::Write).owner == Some(Direction::Write);
        if !self.ports.wr_rsp_valid && self.landed > 0 && self.writes[0].due <= now && !stalls {
            let write = self.writes[0];
            let ok = (0..write.beats).fold(true, |ok, beat| {
                let data = self.beats.pop_front().expect("a landed burst has all its words");
                memory.bus_write(write.addr.offset(beat * self.beat_bytes), data) && ok
            });
            self.ports.wr_rsp_valid = true;
            self.ports.wr_rsp_err = !ok;
        }
        let [rd, wr] = match &mut self.jitter {
            Some(jitter) if jitter.refuses() => [0, 1].map(|_| jitter.upto(jitter.gap) < Jitter::REFUSED),
            _ => [true; 2],
        };
        let refuses = self.refuses_until > now;
        if !refuses {
            self.refuses_until = 0;
        }
        self.ports.rd_cmd_ready = rd && !refuses && self.reads.len() < COMMANDS;
        self.ports.wr_cmd_ready = wr && !refuses && self.writes.len() < COMMANDS;
    }
}
