//! What a case sends, what the firmware does at each stop, and what must come of it.

use std::collections::BTreeMap;

use tsunagi::Addr;
use tsunagi::dimmnet1::golden::rx::{Bus, Cause, Event, Go, Levels, Receiver, Stop, Told};
use tsunagi::dimmnet1::golden::tlb::{Tlb, page_key, region_key};
use tsunagi::dimmnet1::regs;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::Rng;

use super::place;

/// How packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// As fast as they are taken.
    Full,
    /// Each when nothing of its predecessors is left, with other levels at the inputs.
    Single,
}

/// What packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    All,
    /// Mostly long ones that are taken in parts.
    Parts,
}

/// A write to one of the TLBs.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    Region([u64; 3]),
    Page([u64; 2]),
}

impl Entry {
    pub fn store(self, tlb: &mut Tlb) {
        match self {
            Entry::Region([key, base, bound]) => tlb.write_region(key, base, bound),
            Entry::Page([key, frame]) => tlb.write_page(key, frame),
        }
    }
}

/// A stop, and what ends it.
#[derive(Clone, Debug)]
pub struct Halt {
    pub stop: Stop,
    pub header: Vec<(usize, [bool; 2], u64)>,
    pub entries: Vec<Entry>,
    pub go: Go,
    /// How the transfer of [`Go::Dma`] ends.
    pub done: Option<u32>,
}

/// Bytes written, by physical address.
pub type Wrote = BTreeMap<u32, u8>;

/// What an output must do next; where data were written for it, they must be visible by then.
pub type Due<T> = (T, Wrote);

/// A packet, and all that must come of it.
#[derive(Clone, Debug)]
pub struct Job {
    pub levels: Levels,
    pub words: Vec<u64>,
    pub halts: Vec<Halt>,
    pub answers: Vec<Due<Vec<u64>>>,
    pub told: Vec<Due<Told>>,
    pub outcomes: Vec<Due<u32>>,
    pub otfs: Vec<(u16, u64, u8)>,
    pub wrote: Wrote,
}

pub struct Plan {
    pub load: Load,
    /// The tables at first.
    pub tlb: Tlb,
    pub jobs: Vec<Job>,
    /// The memory at last.
    pub memory: Memory,
}

/// The model's memory.
struct Golden(Memory);

impl Bus for Golden {
    fn write(&mut self, addr: u32, bytes: &[u8]) -> bool {
        let at = Addr(place(addr));
        self.0.bus_ok(at, bytes.len() as u32) && self.0.write(at, bytes)
    }
}

const PGID: u16 = 1;
/// Regions: memory, LLCM, LLCM to be read only, memory that RVATLB does not know at first.
const MEMORY: u16 = 1;
const LLCM: u16 = 2;
const CLOSED: u16 = 3;
const UNKNOWN: u16 = 4;
/// First virtual page of memory, and the number of pages.
const BASE: u64 = 0x100;
const PAGES: u64 = 64;

fn region(number: u16) -> Entry {
    use regs::{RVA_BASE_LLCM_MASK, RVA_BASE_OTF_MASK, RVA_BASE_READ_MASK, RVA_BASE_WRITE_MASK};
    let (base, bound) = match number {
        LLCM => (RVA_BASE_LLCM_MASK | RVA_BASE_OTF_MASK | RVA_BASE_WRITE_MASK, 0x4000),
        CLOSED => (RVA_BASE_LLCM_MASK | RVA_BASE_READ_MASK, 0x4000),
        _ => (RVA_BASE_WRITE_MASK | BASE, PAGES << 12),
    };
    Entry::Region([region_key(PGID, number), base, bound])
}

fn page(number: u64) -> Entry {
    Entry::Page([page_key(PGID, BASE + number), number])
}

/// Each packet has bytes of its own for its data, so that those of the packets in flight do not meet: a page of memory,
/// 1 KB of LLCM.
struct Place(u64);

impl Place {
    fn in_memory(&self) -> u64 {
        (self.0 % PAGES) << 12
    }

    fn in_llcm(&self) -> u64 {
        (self.0 % 16) << 10
    }

    /// A remote address for so many bytes, mostly a good one.
    fn remote(&self, rng: &mut Rng, bytes: u64) -> u64 {
        let within = |start: u64, size: u64, rng: &mut Rng| {
            let free = size.saturating_sub(bytes) / 8;
            start + 8 * rng.below(free + 1)
        };
        let (region, offset) = match rng.below(20) {
            0 => (CLOSED, within(self.in_llcm(), 0x400, rng)),
            1 => (MEMORY, PAGES << 12),
            2 => (MEMORY, self.in_memory() | 0xff8),
            3..=4 => (UNKNOWN, within(self.in_memory(), 0x1000, rng)),
            5..=9 if bytes <= 0x400 => (LLCM, within(self.in_llcm(), 0x400, rng)),
            10 => (MEMORY, within(self.in_memory(), 0x1000, rng) + rng.below(8)),
            _ => (MEMORY, within(self.in_memory(), 0x1000, rng)),
        };
        u64::from(region) << regs::HDR_W2_REGION_SHIFT | offset
    }
}

struct Maker<'a> {
    rng: &'a mut Rng,
    mix: Mix,
    model: Receiver,
    tlb: Tlb,
    golden: Golden,
    /// At least the bytes of data that came with the present packet.
    span: u64,
}

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.below(list.len() as u64) as usize]
}

impl Maker<'_> {
    /// A header's words 0 and 1.
    fn head(&mut self, code: u32, flags: u64, length: u64) -> [u64; 2] {
        let rng = &mut *self.rng;
        let src = pick(rng, &[0u16, 1, 1, 5, 63, 64, 65535]);
        let expected = self.model.expected(src);
        let seq = match rng.below(10) {
            0 => expected.wrapping_sub(rng.between(1, 3) as u32),
            1 => expected.wrapping_add(pick(rng, &[1, 2, 1 << 31, (1 << 31) + 1])),
            _ => expected,
        };
        let mut word = u64::from(code) | flags | u64::from(src) << regs::HDR_W0_SRC_SHIFT;
        for (mask, n) in [
            (regs::HDR_W0_ACK_REQ_MASK, 5),
            (regs::HDR_W0_F_SEQ_MASK, 4),
            (regs::HDR_W0_MULTICAST_MASK, 1),
            (regs::HDR_W0_LAST_MASK, 4),
            (regs::HDR_W0_RESEND_MASK, 4),
        ] {
            if rng.chance(n, 8) {
                word |= mask;
            }
        }
        word |= length << regs::HDR_W0_LENGTH_SHIFT | rng.below(1 << 16) << regs::HDR_W0_DST_SHIFT;
        let tag = rng.below(1 << 16);
        let second = u64::from(PGID) | tag << regs::HDR_W1_TAG_SHIFT | u64::from(seq) << regs::HDR_W1_SEQ_SHIFT;
        [word, second]
    }

    fn short(&mut self, place: &Place, code: u32) -> Vec<u64> {
        let otf = regs::HDR_W0_OTF_MASK;
        let rng = &mut *self.rng;
        let is_answer = [regs::TYPE_ACK, regs::TYPE_NACK].contains(&code);
        let length = match code {
            _ if rng.chance(1, 16) => pick(rng, &[0, 9, 16, 4097]),
            _ if is_answer => 0,
            regs::TYPE_PULL => rng.between(1, 4096),
            regs::TYPE_INDIRECT.. => rng.below(9),
            _ => rng.between(1, 8),
        };
        let mut remote = place.remote(rng, 8);
        if code == regs::TYPE_OTF && rng.chance(15, 16) {
            let lane = rng.below(9 - length.min(8));
            let region = if rng.chance(7, 8) {
                LLCM
            } else {
                pick(rng, &[MEMORY, UNKNOWN, CLOSED])
            };
            remote = u64::from(region) << regs::HDR_W2_REGION_SHIFT | place.in_llcm() | (8 * rng.below(128)) | lane;
        }
        if is_answer {
            remote = rng.bits();
        }
        let data = rng.bits();
        let mut words = self.head(code, otf, length).to_vec();
        words.push(remote);
        if length > 0 {
            words.push(data);
        }
        words
    }

    fn long(&mut self, place: &Place, code: u32) -> Vec<u64> {
        let rng = &mut *self.rng;
        let length = match rng.below(24) {
            0 => 0,
            1 => pick(rng, &[4097, 0xffff]),
            2 => rng.between(1000, 2000),
            3..=8 => rng.between(1, 16),
            _ => rng.between(1, 300),
        };
        let remote = place.remote(rng, length);
        let mut count = length.div_ceil(8).min(64 * 8);
        match rng.below(if self.mix == Mix::Parts { 4 } else { 16 }) {
            0 => count = rng.below(count + 1),
            1 => count += rng.between(1, 12),
            _ => {}
        }
        let data: Vec<u64> = (0..3 + count).map(|_| rng.bits()).collect();
        let mut words = self.head(code, 0, length).to_vec();
        words.push(remote);
        words.extend(data);
        words
    }

    fn packet(&mut self, place: &Place) -> Vec<u64> {
        let trap = pick(self.rng, &[16, 17, 18, 19, 20, 200]);
        let unknown = pick(self.rng, &[0, 6, 7, 9, 15]);
        let parts = self.mix == Mix::Parts && self.rng.chance(3, 4);
        let mut words = match self.rng.below(32) {
            _ if parts => self.long(place, trap),
            0..8 => self.long(place, regs::TYPE_PUSH),
            8..11 => self.short(place, regs::TYPE_PUSH),
            11..14 => self.long(place, regs::TYPE_PULL_REPLY),
            14 => self.short(place, regs::TYPE_PULL_REPLY),
            15..20 => self.short(place, regs::TYPE_OTF),
            20..22 => self.short(place, regs::TYPE_PULL),
            22 => self.short(place, regs::TYPE_ACK),
            23 => self.short(place, regs::TYPE_NACK),
            24..26 => self.short(place, trap),
            26..29 => self.long(place, trap),
            29 => self.short(place, unknown),
            30 => self.long(place, unknown),
            _ => {
                let code = pick(self.rng, &[regs::TYPE_OTF, regs::TYPE_PULL, regs::TYPE_ACK]);
                self.long(place, code)
            }
        };
        if self.rng.chance(1, 24) {
            words.truncate(self.rng.between(1, 7) as usize);
        } else if words.len() < 5 && self.rng.chance(1, 16) {
            let more = self.rng.between(1, 4);
            words.extend((0..more).map(|_| self.rng.bits()));
        }
        words
    }

    /// What the firmware does at a stop.
    fn halt(&mut self, stop: Stop, place: &Place) -> Halt {
        let rng = &mut *self.rng;
        let mut header = Vec::new();
        for _ in 0..rng.below(3) {
            // Short enough for a short packet, which may have no data, too.
            let most = pick(rng, &[8, 64]);
            let change = match rng.below(6) {
                0 => (2, [true; 2], place.remote(rng, self.span)),
                1 => (
                    0,
                    [false, true],
                    rng.between(1, most) << 48 | (rng.bits() & 0xffff) << 32,
                ),
                2 => (0, [false, true], pick(rng, &[0, 9, 4096, 4097]) << 48),
                3 => (1, [true, false], rng.bits() & !0xffff | u64::from(PGID)),
                // Of another source, perhaps of one that has no numbers.
                4 => {
                    let src = pick(rng, &[1, 5, 64, 65, 69, 0xffff]);
                    let rest = stop.header[0] & !regs::HDR_W0_SRC_MASK | regs::HDR_W0_F_SEQ_MASK;
                    (0, [true, false], rest | src << regs::HDR_W0_SRC_SHIFT)
                }
                _ => (
                    rng.between(3, 5) as usize,
                    [rng.chance(1, 2), rng.chance(1, 2)],
                    rng.bits(),
                ),
            };
            header.push(change);
        }
        let mut entries = Vec::new();
        if rng.chance(3, 4) {
            match stop.cause {
                Cause::Stop(regs::STOP_RVATLB) => entries.push(region((stop.key >> 16) as u16)),
                Cause::Stop(regs::STOP_PATLB) => entries.push(page((stop.key & 0xff_ffff) - BASE)),
                _ => {}
            }
        }
        if rng.chance(1, 3) {
            entries.push(Entry::Page([page_key(PGID, BASE + rng.below(PAGES)) & !(1 << 63), 0]));
        }
        if rng.chance(1, 6) {
            entries.push(Entry::Region([region_key(PGID, UNKNOWN) & !(1 << 63), 0, 0]));
        }
        let left = stop.header[0] >> regs::HDR_W0_LENGTH_SHIFT;
        // Its data may end within a part, also while the next command already waits.
        let data = self.span.saturating_sub(48);
        let short = (1..left).contains(&data);
        let of_four = match self.mix {
            Mix::Parts => 3,
            Mix::All => 1 + u64::from(stop.more),
        };
        if rng.chance(of_four, 4) {
            // Mostly to a place of its own.
            if rng.chance(7, 8) {
                header.push((2, [true; 2], place.remote(rng, self.span)));
            }
            let bytes = match rng.below(12) {
                0 => rng.below(20),
                1 => left / 8 * 8 + 8 * rng.below(3),
                2 => rng.bits(),
                3..8 if short => data + 8 * rng.below(3),
                _ => 8 * rng.between(1, 1 + left / 16),
            };
            return Halt {
                stop,
                header,
                entries,
                go: Go::Part(bytes as u16),
                done: None,
            };
        }
        let go = match rng.below(16) {
            0..6 if short && stop.more => Go::Dma(place.in_memory() as u32),
            0..8 => Go::Continue,
            8 => Go::Drop,
            9..11 => Go::Nack(rng.below(12) as u32),
            11 => Go::Dma(place.in_memory() as u32 + 4),
            12 if self.span <= 0x400 => Go::Dma(0xF000_0000 + place.in_llcm() as u32),
            // Most packets would go on at address 0.
            13 => Go::Dma(u32::MAX - 7 - 8 * rng.below(4) as u32),
            _ => Go::Dma(place.in_memory() as u32),
        };
        let passes = stop.cause == Cause::Match && rng.chance(1, 2);
        Halt {
            stop,
            header,
            entries,
            go: if passes { Go::Pass } else { go },
            done: None,
        }
    }

    fn job(&mut self, words: Vec<u64>, levels: Levels, place: &Place) -> Job {
        self.span = 8 * words.len() as u64;
        let mut halts = Vec::new();
        let mut stop = self.model.receive(&words, levels, &self.tlb, &mut self.golden);
        while let Some(now) = stop {
            let halt = self.halt(now, place);
            for &(index, halves, data) in &halt.header {
                self.model.write_header(index, halves, data);
            }
            for entry in &halt.entries {
                entry.store(&mut self.tlb);
            }
            stop = self.model.go(halt.go, levels, &self.tlb, &mut self.golden);
            halts.push(halt);
        }
        let mut job = Job {
            levels,
            words,
            halts,
            answers: Vec::new(),
            told: Vec::new(),
            outcomes: Vec::new(),
            otfs: Vec::new(),
            wrote: Wrote::new(),
        };
        let events = self.model.take_events();
        let good = events.contains(&Event::Outcome(regs::REASON_NONE));
        for event in events {
            match event {
                // Of data that were not accepted nobody is told that they are visible.
                Event::Wrote { .. } if !good => {}
                Event::Wrote { addr, bytes } => job.wrote.extend((addr..).zip(bytes)),
                Event::Answer(words) => job.answers.push((words, job.wrote.clone())),
                Event::Told(told) => job.told.push((told, job.wrote.clone())),
                Event::Outcome(reason) => job.outcomes.push((reason, job.wrote.clone())),
                Event::Otf { addr, data, strobes } => job.otfs.push((addr, data, strobes)),
                Event::Done(reason) => job.halts.last_mut().expect("a stop").done = Some(reason),
            }
        }
        job
    }
}

/// All regions but one, and most pages, are known.
fn first_tables() -> Tlb {
    let mut tlb = Tlb::default();
    for number in [MEMORY, LLCM, CLOSED] {
        region(number).store(&mut tlb);
    }
    for number in (0..PAGES).filter(|number| number % 5 != 4) {
        page(number).store(&mut tlb);
    }
    tlb
}

fn maker<'a>(rng: &'a mut Rng, mix: Mix, memory: &Memory) -> Maker<'a> {
    Maker {
        rng,
        mix,
        model: Receiver::default(),
        tlb: first_tables(),
        golden: Golden(memory.clone()),
        span: 0,
    }
}

const QUIET: Levels = Levels {
    node: 7,
    cpu_runs: false,
    matches: false,
    room: true,
};

impl Plan {
    pub fn new(rng: &mut Rng, load: Load, mix: Mix, memory: &Memory, count: u64) -> Plan {
        let levels = |rng: &mut Rng| Levels {
            node: rng.below(64) as u16,
            cpu_runs: rng.chance(3, 4),
            matches: rng.chance(1, 3),
            room: load == Load::Full || rng.chance(3, 4),
        };
        let common = levels(rng);
        let mut maker = maker(rng, mix, memory);
        let mut jobs = Vec::new();
        for number in 0..count {
            let place = Place(number);
            let words = maker.packet(&place);
            let own = levels(maker.rng);
            let levels = if load == Load::Full { common } else { own };
            jobs.push(maker.job(words, levels, &place));
        }
        Plan {
            load,
            tlb: first_tables(),
            jobs,
            memory: maker.golden.0,
        }
    }

    fn of(memory: &Memory, count: u64, words: impl Fn(u64) -> Vec<u64>) -> Plan {
        let mut rng = tsunagi::harness::seed::Seed(0).stream("nothing stops");
        let mut maker = maker(&mut rng, Mix::All, memory);
        let jobs = (0..count).map(|i| maker.job(words(i), QUIET, &Place(i))).collect();
        Plan {
            load: Load::Full,
            tlb: first_tables(),
            jobs,
            memory: maker.golden.0,
        }
    }

    /// PUSH packets that hit, which ask for an answer.
    pub fn of_pushes(memory: &Memory, count: u64, bytes: u64, numbered: bool) -> Plan {
        Plan::of(memory, count, |i| {
            let flags = regs::HDR_W0_ACK_REQ_MASK | if numbered { regs::HDR_W0_F_SEQ_MASK } else { 0 };
            let mut words = vec![
                u64::from(regs::TYPE_PUSH) | flags | bytes << regs::HDR_W0_LENGTH_SHIFT,
                u64::from(PGID) | i << regs::HDR_W1_SEQ_SHIFT,
                u64::from(MEMORY) << regs::HDR_W2_REGION_SHIFT | (i % 4) << 12,
            ];
            words.extend((0..3 + bytes.div_ceil(8)).map(|word| i << 32 | word));
            words
        })
    }

    /// OTF packets of a byte.
    pub fn of_otf(memory: &Memory, count: u64) -> Plan {
        Plan::of(memory, count, |i| {
            let flags = regs::HDR_W0_OTF_MASK | 1 << regs::HDR_W0_LENGTH_SHIFT;
            vec![
                u64::from(regs::TYPE_OTF) | flags,
                u64::from(PGID),
                u64::from(LLCM) << regs::HDR_W2_REGION_SHIFT | i,
                0x5a + i,
            ]
        })
    }
}
