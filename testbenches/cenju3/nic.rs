//! The whole NIC: registers, clocks, the link's rate and its back-pressure, refused writes, activity gating.

use std::cmp::Reverse;
use std::mem;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cenju3::golden::packet::{Kind, Packet, PacketHeader, ParcelHeader, Route};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use tsunagi::{Addr, Cycle};

use crate::SLOW;
use crate::loopback::{BODIES, DEST, DMAS, MESSAGES, QUEUE0, QUEUE1, SOURCE, dma, program, start};
use crate::rig::{Event, Flit, Nic, Rig, Setup, nic};

rules!(
    /// Registers keep values and refuse accesses as documented.
    Registers
    /// Packets arrive whole in order, and are counted.
    Traffic
    /// A cause pulls the interrupt line while it is enabled, and only then.
    Interrupts
    /// A receive FIFO filled to its threshold stops the link.
    Threshold
    /// Packets follow each other with exactly the gap between them.
    Gap
    /// The clocks may stand while the NIC says that nothing changes.
    Gating
    /// A NIC at rest has done everything it was told.
    Stands
    /// A cause is not lost when the host clears it as it is raised.
    Clears
);

/// The machine's clock periods, in ps.
const PERIODS: (u64, u64) = (40_000, 50_000);

const OPEN: Setup = Setup {
    io: (40_000, 0),
    net: (50_000, 0),
    timing: SLOW,
    looped: false,
    gated: false,
};

/// Registers and the bits that they keep.
const KEPT: [(u32, u32); 18] = [
    (SQ0_BASE, !31),
    (SQ1_BASE, !31),
    (MHB_BASE, !15),
    (DHB_BASE, !15),
    (MBB0_BASE, !31),
    (MBB1_BASE, !31),
    (MHB_SIZE, 0x1_ffff),
    (DHB_SIZE, 0x1_ffff),
    (MBB0_SIZE, 0x1_ffff),
    (MBB1_SIZE, 0x1_ffff),
    (MHB_GET, 0xffff),
    (DHB_GET, 0xffff),
    (MBB0_GET, 0xffff),
    (MBB1_GET, 0xffff),
    (R_CTRL, 0xf1d),
    (NODE_ID, 0xff),
    (S_GAP, 0xff),
    (R_THRESH, 0xffff),
];

const READ_ONLY: [u32; 10] = [
    SQ0_GET, SQ1_GET, S_STAT, MHB_PUT, DHB_PUT, MBB0_PUT, MBB1_PUT, R_DROP, R_ERR, ID,
];

/// The register has this value.
fn reads(rig: &mut Rig, offset: u32, want: u32) -> Result<(), Fault> {
    let got = rig.read(offset)?;
    Rule::Registers.same(format!("register {offset:#x}"), want, got)
}

/// The access is refused.
fn refuses(rig: &mut Rig, offset: u32, write: Option<u32>) -> Result<(), Fault> {
    let answer = rig.access(offset, write)?;
    Rule::Registers.holds(answer.error, || {
        format!("access of {offset:#x} with {write:x?} not refused")
    })
}

/// Registers keep values and refuse accesses as documented.
pub fn registers(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} registers", nic.dut.name), |run| {
        let rig = &mut Rig::new(run, nic, OPEN)?;
        reads(rig, ID, ID_VALUE)?;
        reads(rig, R_THRESH, 512 - 16)?;
        reads(rig, S_STAT, S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK)?;
        // A reset takes back whatever was written.
        for value in [0xa5a5_a5a5, 0x5a5a_5a5a] {
            for (offset, _) in KEPT {
                rig.write(offset, value)?;
            }
            rig.reset()?;
            for (offset, _) in KEPT {
                reads(rig, offset, if offset == R_THRESH { 512 - 16 } else { 0 })?;
            }
        }
        for value in [0xa5a5_a5a5, 0x5a5a_5a5a] {
            for (offset, mask) in KEPT {
                let answer = rig.access(offset, Some(value))?;
                let got = (answer.error, answer.value);
                Rule::Registers.same(format!("error and data, {offset:#x} written"), (false, 0), got)?;
                reads(rig, offset, value & mask)?;
            }
        }
        // A new size empties its ring.
        rig.write(MBB0_SIZE, 4)?;
        reads(rig, MBB0_PUT, 0)?;
        reads(rig, MBB0_GET, 0)?;
        for offset in READ_ONLY {
            let before = rig.read(offset)?;
            refuses(rig, offset, Some(!before))?;
            reads(rig, offset, before)?;
        }
        for offset in [0x01, 0x06, 0x7f, 0x80, 0xfc] {
            refuses(rig, offset, None)?;
            refuses(rig, offset, Some(0))?;
        }
        for strobes in [0, 1, 7, 14] {
            rig.strobes = strobes;
            refuses(rig, NODE_ID, Some(1))?;
            reads(rig, NODE_ID, 0x5a)?;
        }
        Ok(())
    });
}

/// Bodies that are to arrive.
#[derive(Default)]
struct Sent {
    /// Destination and body of each DMA parcel, and their packets.
    dmas: Vec<(u32, Vec<u8>)>,
    packets: u32,
    /// By message buffer.
    messages: [Vec<Vec<u8>>; 2],
}

impl Sent {
    /// Puts 24 parcels in both queues.
    fn queue(rig: &mut Rig, rng: &mut Rng) -> Sent {
        let mut sent = Sent::default();
        let (mut source, mut dest) = (SOURCE, DEST);
        for i in 0..24 {
            let kind = Kind::ALL[rng.below(3) as usize];
            let longest = if kind == Kind::Dma { 3_000 } else { 512 };
            let longest = if rng.chance(1, 3) { 40 } else { longest };
            let bytes = rng.between(1, longest) as u32;
            let mut body = vec![0; bytes as usize];
            rng.fill(&mut body);
            rig.put(source, &body);
            let parcel = ParcelHeader {
                kind,
                arr: rng.chance(1, 3),
                end: rng.chance(1, 2),
                dst: 5,
                bytes,
                body: Addr(source),
                dest: Addr(dest),
                soft: [i, 0],
            };
            rig.put([QUEUE0, QUEUE1][i as usize % 2] + i / 2 * 32, &parcel.encode());
            source += bytes.next_multiple_of(32);
            match kind.buffer() {
                Some(buffer) => sent.messages[buffer].push(body),
                None => {
                    sent.dmas.push((dest, body));
                    sent.packets += bytes.div_ceil(512);
                    dest += bytes.next_multiple_of(32);
                }
            }
        }
        sent
    }

    /// All of them arrived.
    fn arrived(mut self, rig: &mut Rig) -> Result<(), Fault> {
        let stat = S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK | 24 << S_STAT_SENT_SHIFT;
        let messages = self.messages[0].len() + self.messages[1].len();
        for (offset, want) in [
            (S_STAT, stat),
            (DHB_PUT, self.packets),
            (MHB_PUT, messages as u32),
            (R_DROP, 0),
        ] {
            let got = rig.read(offset)?;
            Rule::Traffic.same(format!("register {offset:#x}"), want, got)?;
        }
        for (at, body) in &self.dmas {
            rig.has(*at, body)?;
        }
        for (buffer, bodies) in self.messages.iter_mut().enumerate() {
            let base = BODIES + buffer as u32 * 0x4000;
            // Queues overtake each other, so each body is in some slot of its buffer. A short one may begin a longer
            // one, which chooses first.
            bodies.sort_by_key(|body| Reverse(body.len()));
            let mut slots: Vec<u32> = (0..bodies.len() as u32).map(|slot| base + slot * 512).collect();
            for body in bodies {
                let found = slots.iter().position(|&slot| rig.has(slot, body).is_ok());
                let Some(found) = found else {
                    return Err(Rule::Traffic.broken(format!("a message of {} bytes is lost", body.len())));
                };
                slots.remove(found);
            }
        }
        Ok(())
    }
}

/// Parcels of both queues looped back and checked; the events at the ports.
fn traffic(rig: &mut Rig, rng: &mut Rng) -> Result<Vec<Event>, Fault> {
    let sent = Sent::queue(rig, rng);
    for k in 1..=12 {
        rig.write(SQ1_PUT, k)?;
        if k % 3 == 0 {
            rig.write(SQ0_PUT, k)?;
        }
    }
    rig.settle(30_000)?;
    sent.arrived(rig)?;
    Ok(mem::take(&mut rig.events))
}

/// Traffic at these clock periods with random phase; the links pause in this pattern.
pub fn at_clocks(
    nic: &Nic,
    (io, net): (u64, u64),
    gaps: Gaps,
    timing: MemoryTiming,
    starts: &[Start],
    cases: &mut Cases,
) {
    cases.from_each(starts, format!("{} {io} {net} {gaps:?}", nic.dut.name), |run| {
        let mut rng = run.rng("traffic");
        let setup = Setup {
            io: (io, rng.below(io)),
            net: (net, rng.below(net)),
            timing,
            ..Setup::default()
        };
        let mut rig = start(run, nic, setup)?;
        rig.pause(run, gaps);
        traffic(&mut rig, &mut rng).map(drop)
    });
}

#[test]
fn registers_answer_as_documented() {
    pass(this_test!(), |cases| registers(&nic::<Cenju3Nic>(), cases));
}

#[test]
fn right_at_any_ratio_and_phase() {
    pass(this_test!(), |cases| {
        let (narrow, wide) = (nic::<Cenju3NicRandom>(), nic::<Cenju3NicWideRandom>());
        for periods in [
            (40_000, 50_000),
            (50_000, 40_000),
            (40_000, 40_000),
            (37_000, 53_000),
            (20_000, 5_000),
            (11_000, 40_000),
        ] {
            at_clocks(&narrow, periods, Gaps::None, SLOW, &Start::RANDOM, cases);
            at_clocks(&wide, periods, Gaps::None, MemoryTiming::IDEAL, &Start::RANDOM, cases);
        }
    });
}

#[test]
fn right_under_all_gaps() {
    pass(this_test!(), |cases| {
        let (narrow, wide) = (nic::<Cenju3NicRandom>(), nic::<Cenju3NicWideRandom>());
        for gaps in Gaps::ALL {
            at_clocks(&narrow, PERIODS, gaps, SLOW, &Start::RANDOM, cases);
            at_clocks(&wide, PERIODS, gaps, MemoryTiming::IDEAL, &Start::RANDOM, cases);
        }
    });
}

/// Traffic that is looped back arrives.
fn carries(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} traffic", nic.dut.name), |run| {
        let mut rig = start(run, nic, Setup::default())?;
        traffic(&mut rig, &mut run.rng("traffic")).map(drop)
    });
}

/// Traffic, a rest that is shorter than the gap behind it, and one more parcel, at these clock periods: the same events
/// whether idle edges are left out or not.
fn gating_at(nic: &Nic, (io, net): (u64, u64), cases: &mut Cases) {
    let events = |run: &Run, gated| {
        let setup = Setup {
            io: (io, 0),
            net: (net, 0),
            timing: SLOW,
            gated,
            ..Setup::default()
        };
        let mut rig = start(run, nic, setup)?;
        rig.write(S_GAP, 200)?;
        let mut events = traffic(&mut rig, &mut run.rng("traffic"))?;
        let end = rig.now() + 40 * net;
        rig.run("40 cycles of the link", 41 * net / 1_000_000 + 1, |rig| rig.now() > end)?;
        rig.put(QUEUE0 + 32 * 12, &dma(8).encode());
        rig.write(SQ0_PUT, 13)?;
        rig.settle(100 + 500 * net / 1_000_000)?;
        events.append(&mut rig.events);
        Ok::<_, Fault>(events)
    };
    cases.case(Start::Zero, format!("{} gating {io} {net}", nic.dut.name), |run| {
        let (all, some) = (events(run, false)?, events(run, true)?);
        let stored = |event: &&Event| matches!(event.kind, EventKind::MemWritten { .. });
        let stored = all.iter().filter(stored).count();
        Rule::Gating.holds(stored >= 25, || format!("25 parcels in {stored} bursts"))?;
        let differs = all.iter().zip(&some).position(|(all, some)| all != some);
        let counts = (all.len(), some.len());
        Rule::Gating.holds(all == some, || {
            format!("{counts:?} events without and with gating; they differ from {differs:?} on")
        })
    });
}

pub fn gating(nic: &Nic, cases: &mut Cases) {
    gating_at(nic, PERIODS, cases);
}

#[test]
fn leaving_out_idle_edges_changes_nothing() {
    pass(this_test!(), |cases| {
        for periods in [PERIODS, (40_000, 680_000), (680_000, 40_000)] {
            gating_at(&nic::<Cenju3Nic>(), periods, cases);
        }
    });
}

/// Parcels go one by one through a NIC; its clocks stand whenever it says that nothing changes. Each parcel is then at
/// rest in memory, or before the Receiver if that is stopped. A packet that is dropped leaves no word. At these clock
/// ratios no number of cycles of one clock is long enough for the other.
pub fn stands(nic: &Nic, cases: &mut Cases) {
    for (io, net) in [(1, 1), (1, 7), (7, 1), (1, 17), (17, 1), (1, 40), (40, 1)] {
        cases.case(Start::Random1, format!("{} stands {io} {net}", nic.dut.name), |run| {
            let (io, net) = (40_000 * io, 40_000 * net);
            let mut rng = run.rng("parcels");
            let setup = Setup {
                io: (io, rng.below(io)),
                net: (net, rng.below(net)),
                gated: true,
                ..Setup::default()
            };
            let mut rig = start(run, nic, setup)?;
            let us = 1_000 * io.max(net) / 1_000_000 + 1;
            (0..20).try_for_each(|i| parcel_stands(&mut rig, nic, i, us, &mut rng))
        });
        cases.case(Start::Random1, format!("{} dropped {io} {net}", nic.dut.name), |run| {
            let setup = Setup {
                io: (40_000 * io, 0),
                net: (40_000 * net, 0),
                gated: true,
                ..OPEN
            };
            let mut rig = start(run, nic, setup)?;
            let us = 40 * io.max(net) + 1;
            rig.write(R_CTRL, R_CTRL_RUN_MASK)?;
            let mut dropped = packet(1, DEST, PACKET_BODY_MAX, false);
            dropped.route.dst ^= 1;
            offer(&mut rig, &dropped);
            rig.settle(us)?;
            Rule::Stands.same("level at rest after a packet that is dropped", 0, rig.seen.rx_level)?;
            offer(&mut rig, &packet(2, DEST, 16, false));
            rig.settle(us)?;
            delivered(&mut rig, (1, 1))
        });
    }
}

/// Parcel `i` is done when the clocks stand, within `us` microseconds.
fn parcel_stands(rig: &mut Rig, nic: &Nic, i: u32, us: u64, rng: &mut Rng) -> Result<(), Fault> {
    // A Receiver that is stopped leaves the words of the crossing behind the receive FIFO.
    const CROSSING: u32 = 16;
    let bytes = rng.between(1, 200) as u32;
    let mut body = vec![0; bytes as usize];
    rng.fill(&mut body);
    let parcel = ParcelHeader {
        dest: Addr(DEST + i * 0x100),
        ..dma(bytes)
    };
    rig.put(SOURCE, &body);
    rig.put(QUEUE0 + 32 * i, &parcel.encode());
    let stopped = rng.chance(1, 2);
    if stopped {
        rig.write(R_CTRL, R_CTRL_IE_END_MASK)?;
    }
    rig.write(SQ0_PUT, i + 1)?;
    rig.settle(us)?;
    if stopped {
        let words = 1 + (PACKET_HEADER_BYTES + bytes).div_ceil(nic.bus_bytes);
        let level = words.saturating_sub(CROSSING);
        Rule::Stands.same(format!("level at rest after parcel {i}"), level, rig.seen.rx_level)?;
        rig.write(R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK)?;
        rig.settle(us)?;
    }
    let done = rig.seen.irq && rig.has(parcel.dest.0, &body).is_ok();
    Rule::Stands.holds(done, || {
        format!("parcel {i} of {bytes} bytes stands while the clocks do")
    })?;
    rig.write(R_STAT, R_STAT_END_MASK)?;
    rig.settle(us)?;
    let got = (rig.seen.irq, rig.read(SQ0_GET)?, rig.read(DHB_PUT)?);
    Rule::Stands.same(
        format!("interrupt, GET and PUT after parcel {i}"),
        (false, i + 1, i + 1),
        got,
    )
}

#[test]
fn a_parcel_that_stands_while_the_clocks_do_is_done() {
    pass(this_test!(), |cases| {
        stands(&nic::<Cenju3Nic>(), cases);
        stands(&nic::<Cenju3NicRandom>(), cases);
        stands(&nic::<Cenju3NicWideRandom>(), cases);
    });
}

/// Packets follow each other with exactly the gap between them.
fn gap(nic: &Nic, cases: &mut Cases) {
    for gap in [0, 14] {
        cases.case(Start::Zero, format!("{} gap {gap}", nic.dut.name), |run| {
            let mut rig = start(run, nic, OPEN)?;
            rig.write(S_GAP, gap)?;
            for i in 0..100 {
                rig.put(QUEUE0 + 32 * i, &dma(512).encode());
            }
            rig.write(SQ0_PUT, 100)?;
            rig.settle(3_000)?;
            Rule::Traffic.same("flits", 100 * 265, rig.sent.len())?;
            let (first, last) = rig.sent_span.expect("sent");
            let want = 100 * 265 + 99 * u64::from(gap);
            Rule::Gap.same("net cycles from the first flit to the last", want, last - first + 1)
        });
    }
}

#[test]
fn back_to_back_parcels_fill_the_link() {
    pass(this_test!(), |cases| gap(&nic::<Cenju3Nic>(), cases));
}

/// A DMA packet of `bytes` equal bytes.
fn packet(seq: u8, dest: u32, bytes: u32, end: bool) -> Packet {
    let route = Route {
        dst: 5,
        priority: false,
        kind: Kind::Dma,
        arr: false,
        end,
    };
    let header = PacketHeader {
        kind: Kind::Dma,
        arr: false,
        end,
        last: true,
        priority: false,
        src: 1,
        seq,
        bytes,
        index: 0,
        queue: 1,
        dest,
        soft1: 0,
    };
    Packet {
        route,
        header,
        body: vec![seq; bytes as usize],
    }
}

fn offer(rig: &mut Rig, packet: &Packet) {
    let flits = packet.flits();
    let last = flits.len() - 1;
    for (i, data) in flits.into_iter().enumerate() {
        rig.to_nic.push(Flit { data, last: i == last });
    }
}

/// These numbers of DMA packets were delivered and dropped.
fn delivered(rig: &mut Rig, want: (u32, u32)) -> Result<(), Fault> {
    let got = (rig.read(DHB_PUT)?, rig.read(R_DROP)?);
    Rule::Traffic.same("packets delivered and dropped", want, got)
}

/// A receive FIFO filled to its threshold stops the link, and nothing is lost.
pub fn threshold(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} threshold", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        rig.write(R_CTRL, 0)?;
        rig.write(R_THRESH, 64)?;
        for seq in 0..8 {
            offer(&mut rig, &packet(seq, DEST + 512 * u32::from(seq), 512, false));
        }
        let all = rig.to_nic.len();
        let end = rig.net_edges + 2_000;
        rig.run("2000 net cycles", 1_000, |rig| rig.net_edges > end)?;
        let level = rig.read(R_STAT)? >> R_STAT_LEVEL_SHIFT;
        Rule::Threshold.holds((64..=67).contains(&level), || format!("level {level} at threshold 64"))?;
        Rule::Threshold.same("level at the port", level, rig.seen.rx_level)?;
        // Past the receive FIFO: 16 words of the crossing.
        let inside = (all - rig.to_nic.len()).div_ceil(2);
        Rule::Threshold.holds(inside <= 67 + 16 + 2, || format!("{inside} words inside"))?;
        rig.write(R_CTRL, R_CTRL_RUN_MASK)?;
        rig.settle(1_000)?;
        delivered(&mut rig, (8, 0))?;
        for seq in 0..8 {
            rig.has(DEST + 512 * u32::from(seq), &[seq; 512])?;
        }
        Rule::Threshold.same("R_STAT", 0, rig.read(R_STAT)?)
    });
}

#[test]
fn the_threshold_stops_the_link_and_nothing_is_lost() {
    pass(this_test!(), |cases| threshold(&nic::<Cenju3Nic>(), cases));
}

/// A ring of one entry or none has room for none, whatever GET says: the packet waits, and comes when the ring is
/// larger.
#[test]
fn a_ring_of_one_entry_is_full() {
    pass(this_test!(), |cases| {
        for (size, get) in [(1, 0), (1, 3), (0, 0), (0, 3)] {
            cases.case(Start::Zero, format!("{size} entries, GET {get}"), |run| {
                let mut rig = start(run, &nic::<Cenju3NicWide>(), OPEN)?;
                rig.write(DHB_SIZE, size)?;
                rig.write(DHB_GET, get)?;
                offer(&mut rig, &packet(1, DEST, 16, false));
                rig.settle(100)?;
                let pending = rig.read(R_STAT)? & R_STAT_OVERFLOW_MASK;
                Rule::Traffic.same("overflow", R_STAT_OVERFLOW_MASK, pending)?;
                delivered(&mut rig, (0, 0))?;
                rig.write(DHB_SIZE, 2)?;
                rig.write(R_STAT, R_STAT_OVERFLOW_MASK)?;
                rig.write(R_CTRL, R_CTRL_RUN_MASK | R_CTRL_RESTART_MASK)?;
                rig.settle(100)?;
                delivered(&mut rig, (1, 0))?;
                rig.has(DEST, &[1; 16])
            });
        }
    });
}

/// Each kind of cause pulls the line while it is enabled, and only then.
pub fn interrupts(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} interrupts", nic.dut.name), |run| {
        let mut rig = start(run, nic, OPEN)?;
        rig.write(R_CTRL, R_CTRL_RUN_MASK)?;
        let mut arrives = packet(1, DEST, 16, true);
        (arrives.route.arr, arrives.header.arr) = (true, true);
        offer(&mut rig, &arrives);
        // To another PE, and so a bad header.
        let mut strays = packet(2, DEST, 16, false);
        strays.route.dst = 6;
        offer(&mut rig, &strays);
        rig.put(QUEUE0, &dma(0).encode());
        rig.write(SQ0_PUT, 1)?;
        rig.settle(100)?;
        let causes = [
            (R_STAT_ARRIVAL_MASK, R_CTRL_IE_ARRIVAL_MASK),
            (R_STAT_END_MASK, R_CTRL_IE_END_MASK),
            (R_STAT_BAD_HEADER_MASK, R_CTRL_IE_ERROR_MASK),
            (R_STAT_SEND_ERROR_MASK, R_CTRL_IE_SEND_MASK),
        ];
        let all = causes.iter().fold(0, |all, (cause, _)| all | cause);
        Rule::Interrupts.same("pending causes", all, rig.read(R_STAT)?)?;
        rig.has(QUEUE0 + PARCEL_STATUS, &STATUS_ZERO_LENGTH.to_le_bytes())?;
        Rule::Interrupts.holds(!rig.seen.irq, || "an interrupt without an enable".into())?;
        for (cause, enable) in causes {
            rig.write(R_CTRL, R_CTRL_RUN_MASK | enable)?;
            line(&mut rig, true, cause)?;
            rig.write(R_STAT, cause)?;
            line(&mut rig, false, cause)?;
        }
        Rule::Interrupts.same("pending causes in the end", 0, rig.read(R_STAT)?)
    });
}

/// Within a microsecond the interrupt line has this level.
fn line(rig: &mut Rig, level: bool, cause: u32) -> Result<(), Fault> {
    let end = rig.now() + 1_000_000;
    rig.run("time", 2, |rig| rig.seen.irq == level || rig.now() >= end)?;
    Rule::Interrupts.same(format!("interrupt line by cause {cause:#x}"), level, rig.seen.irq)
}

#[test]
fn interrupts_follow_their_enables() {
    pass(this_test!(), |cases| {
        interrupts(&nic::<Cenju3Nic>(), cases);
        interrupts(&nic::<Cenju3NicWide>(), cases);
    });
}

/// An event that raises a cause.
type Raise<'a> = &'a dyn Fn(&mut Rig) -> Result<(), Fault>;

/// An event raises a cause, and the host clears it this number of cycles after the event began. Gives whether the cause
/// is pending at the end, and whether it interrupted.
fn cleared(run: &Run, nic: &Nic, cause: u32, raise: Raise, cycles: u64) -> Result<(bool, bool), Fault> {
    let setup = Setup {
        looped: false,
        ..Setup::default()
    };
    let mut rig = start(run, nic, setup)?;
    rig.put(QUEUE0, &dma(0).encode());
    let enable = R_CTRL_IE_ARRIVAL_MASK | R_CTRL_IE_END_MASK | R_CTRL_IE_ERROR_MASK | R_CTRL_IE_SEND_MASK;
    rig.write(R_CTRL, R_CTRL_RUN_MASK | enable)?;
    raise(&mut rig)?;
    let at = rig.io_edges + cycles;
    rig.run("some cycles", 10, |rig| rig.io_edges == at)?;
    rig.write(R_STAT, cause)?;
    rig.settle(100)?;
    let irq = EventKind::Irq { level: true };
    let rose = rig.events.iter().any(|event| event.kind == irq);
    Ok((rig.read(R_STAT)? & cause != 0, rose))
}

/// A cause that is cleared before, just as and after it is raised is pending at the end, or has interrupted.
fn clears(nic: &Nic, cases: &mut Cases) {
    let offers = |arr, end, dst| {
        let mut packet = packet(1, DEST, 16, end);
        (packet.route.arr, packet.header.arr, packet.route.dst) = (arr, arr, dst);
        move |rig: &mut Rig| {
            offer(rig, &packet);
            Ok(())
        }
    };
    let raises: [(u32, Raise); 4] = [
        (R_STAT_ARRIVAL_MASK, &offers(true, false, 5)),
        (R_STAT_END_MASK, &offers(false, true, 5)),
        (R_STAT_BAD_HEADER_MASK, &offers(false, false, 6)),
        (R_STAT_SEND_ERROR_MASK, &|rig| rig.write(SQ0_PUT, 1)),
    ];
    for (cause, raise) in raises {
        cases.case(Start::Zero, format!("{} clears {cause:#x}", nic.dut.name), |run| {
            let mut count = 0;
            for cycles in 0..80 {
                let (pending, rose) = cleared(run, nic, cause, raise, cycles)?;
                Rule::Clears.holds(pending || rose, || {
                    format!("cause {cause:#x} is lost by a clear after {cycles} cycles")
                })?;
                count += u32::from(pending);
            }
            Rule::Clears.holds((1..80).contains(&count), || {
                format!("cause {cause:#x}: pending after {count} of 80 clears")
            })
        });
    }
}

#[test]
fn a_cause_cleared_as_it_is_raised_is_not_lost() {
    pass(this_test!(), |cases| clears(&nic::<Cenju3Nic>(), cases));
}

#[test]
fn a_refused_body_gives_its_header_slot_to_the_next_packet() {
    pass(this_test!(), |cases| cases.case(Start::Zero, "", refused_body));
}

fn refused_body(run: &Run) -> Result<(), Fault> {
    let late = MemoryTiming {
        write_latency: Cycle(60),
        ..MemoryTiming::IDEAL
    };
    let setup = Setup {
        timing: late,
        net: (5_000, 0),
        ..OPEN
    };
    let mut rig = start(run, &nic::<Cenju3NicWide>(), setup)?;
    rig.write(R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_ERROR_MASK)?;
    rig.memory.inject_fault(DEST + 0x1000..DEST + 0x1010);
    let packets = [
        packet(1, DEST, 64, false),
        packet(2, DEST + 0x1000, 48, false),
        packet(3, DEST + 0x2000, 256, false),
        packet(4, DEST + 0x3000, 16, false),
    ];
    packets.iter().for_each(|packet| offer(&mut rig, packet));
    rig.settle(100)?;
    Rule::Traffic.holds(rig.seen.irq, || "no interrupt for the refused body".into())?;
    Rule::Traffic.same("causes", R_STAT_BUS_ERROR_MASK, rig.read(R_STAT)?)?;
    delivered(&mut rig, (3, 1))?;
    let head = rig.read(R_ERR)?.to_le_bytes();
    Rule::Traffic.same("R_ERR", &packets[1].header.encode()[..4], &head[..])?;
    for (slot, i) in [(0, 0), (1, 2), (2, 3)] {
        let packet = &packets[i];
        rig.has(DMAS + 16 * slot, &packet.header.encode())?;
        rig.has(packet.header.dest, &packet.body)?;
    }
    rig.write(R_STAT, R_STAT_BUS_ERROR_MASK)?;
    line(&mut rig, false, R_STAT_BUS_ERROR_MASK)
}

/// Packets of DMA, one close behind another, fill small rings again and again: each header is in its slot, and the one
/// for which there is no slot waits for the host. The ring of messages is at another place.
fn wraps(nic: &Nic, cases: &mut Cases) {
    const CTRL: u32 = R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK;
    for size in [2, 3, 4] {
        cases.case(Start::Random1, format!("{} rings of {size}", nic.dut.name), |run| {
            // A packet begins before memory has answered for the one before.
            let timing = MemoryTiming {
                write_latency: Cycle(500),
                ..MemoryTiming::IDEAL
            };
            let setup = Setup {
                timing,
                ..Setup::default()
            };
            let mut rig = start(run, nic, setup)?;
            rig.write(DHB_SIZE, size)?;
            let message = ParcelHeader {
                kind: Kind::Msg0,
                ..dma(40)
            };
            rig.put(QUEUE1, &message.encode());
            rig.write(SQ1_PUT, 1)?;
            rig.settle(100)?;
            let mut put = 0;
            for round in 0..5 {
                rig.put(DMAS, &[0; 64]);
                rig.put(QUEUE0 + 32 * round, &dma(512 * size).encode());
                rig.write(SQ0_PUT, round + 1)?;
                rig.settle(500)?;
                for packet in 0..size {
                    if packet == size - 1 {
                        let overflow = rig.read(R_STAT)? & R_STAT_OVERFLOW_MASK;
                        let got = (overflow, rig.read(DHB_PUT)?);
                        Rule::Traffic.same("overflow and DHB_PUT", (R_STAT_OVERFLOW_MASK, put), got)?;
                        rig.write(DHB_GET, put)?;
                        rig.write(R_STAT, R_STAT_OVERFLOW_MASK)?;
                        rig.write(R_CTRL, CTRL | R_CTRL_RESTART_MASK)?;
                        rig.settle(500)?;
                    }
                    let dest = DEST + 512 * packet;
                    rig.has(DMAS + 16 * put + PACKET_DEST, &dest.to_le_bytes())?;
                    put = (put + 1) % size;
                }
                Rule::Traffic.same("DHB_PUT", put, rig.read(DHB_PUT)?)?;
                rig.write(DHB_GET, put)?;
            }
            Rule::Traffic.same("MHB_PUT", 1, rig.read(MHB_PUT)?)
        });
    }
}

#[test]
fn headers_are_in_their_slots_in_small_rings_too() {
    pass(this_test!(), |cases| {
        wraps(&nic::<Cenju3Nic>(), cases);
        wraps(&nic::<Cenju3NicWideRandom>(), cases);
    });
}

/// A queue that halts at an illegal parcel is at rest, with another parcel behind it, which goes after the restart.
fn halts(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} halts", nic.dut.name), |run| {
        let mut rig = start(run, nic, Setup::default())?;
        rig.put(SOURCE, &[7; 64]);
        rig.put(QUEUE0, &dma(0).encode());
        rig.put(QUEUE0 + 32, &dma(64).encode());
        rig.write(SQ0_PUT, 2)?;
        let rests = rig.settle(200).is_ok();
        Rule::Stands.holds(rests, || "a halted queue is not at rest".into())?;
        Rule::Traffic.same("GET of a halted queue", 0, rig.read(SQ0_GET)?)?;
        rig.write(S_CTRL, S_CTRL_RESUME0_MASK)?;
        rig.settle(200)?;
        Rule::Traffic.same("GET at the end", 2, rig.read(SQ0_GET)?)?;
        rig.has(DEST, &[7; 64])
    });
}

/// A NIC offers its first command though memory takes none, and is not at rest meanwhile.
fn asks(nic: &Nic, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} asks", nic.dut.name), |run| {
        let mut rig = start(run, nic, Setup::default())?;
        rig.put(SOURCE, &[7; 64]);
        rig.put(QUEUE0, &dma(64).encode());
        rig.refuse(200);
        rig.write(SQ0_PUT, 1)?;
        let end = rig.io_edges + 100;
        rig.run("100 cycles", 10, |rig| rig.io_edges > end)?;
        Rule::Stands.holds(rig.seen.busy, || "at rest with a command for memory".into())?;
        Rule::Traffic.holds(rig.seen.mem.rd_cmd_valid, || {
            "a command waits until memory is ready".into()
        })?;
        rig.settle(200)?;
        rig.has(DEST, &[7; 64])
    });
}

#[test]
fn a_halted_queue_is_at_rest_and_one_with_a_command_is_not() {
    pass(this_test!(), |cases| {
        halts(&nic::<Cenju3Nic>(), cases);
        asks(&nic::<Cenju3Nic>(), cases);
    });
}

/// A reset in mid-flight leaves nothing behind.
pub fn resets(nic: &Nic, cases: &mut Cases) {
    for (us, gaps) in [7, 31, 200]
        .into_iter()
        .flat_map(|us| [(us, Gaps::None), (us, Gaps::Both)])
    {
        cases.case(Start::Random1, format!("{} {us} {gaps:?}", nic.dut.name), |run| {
            let setup = Setup {
                timing: SLOW,
                ..Setup::default()
            };
            let mut rig = start(run, nic, setup)?;
            rig.pause(run, gaps);
            rig.put(QUEUE0, &dma(PARCEL_BODY_MAX).encode());
            rig.write(SQ0_PUT, 1)?;
            let end = rig.now() + us * 1_000_000;
            rig.run("some time", 1_000, |rig| rig.now() >= end)?;
            rig.reset()?;
            reads(&mut rig, S_STAT, S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK)?;
            program(&mut rig)?;
            traffic(&mut rig, &mut run.rng("traffic"))?;
            let written = rig.has(MESSAGES, &[0; 16]).is_err();
            Rule::Traffic.holds(written, || "no message header was written".into())
        });
    }
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    pass(this_test!(), |cases| resets(&nic::<Cenju3NicRandom>(), cases));
}

/// The checks that find the twins.
fn checks(nic: &Nic, cases: &mut Cases) {
    registers(nic, cases);
    carries(nic, cases);
    interrupts(nic, cases);
    threshold(nic, cases);
    gap(nic, cases);
    gating(nic, cases);
    stands(nic, cases);
    wraps(nic, cases);
    halts(nic, cases);
    clears(nic, cases);
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A bit of a register is not kept.
            (Registers, &[], &|cases| checks(&nic::<TwinNicRegisters>(), cases)),
            // A write is answered with the register's value.
            (Registers, &[], &|cases| checks(&nic::<TwinNicWritten>(), cases)),
            // Parcels of queue 0 are not counted, in any traffic.
            (Traffic, &[], &|cases| checks(&nic::<TwinNicSent>(), cases)),
            // A word of the last packet's header goes to memory as the status.
            (Traffic, &[], &|cases| checks(&nic::<TwinNicStatus>(), cases)),
            // An arrival interrupts also while it is not enabled.
            (Interrupts, &[], &|cases| checks(&nic::<TwinNicArrival>(), cases)),
            // The threshold of the receive FIFO is ignored.
            (Threshold, &[], &|cases| checks(&nic::<TwinNicThreshold>(), cases)),
            // The gap between packets is halved.
            (Gap, &[], &|cases| checks(&nic::<TwinNicGap>(), cases)),
            // The NIC is at rest while the gap is still counted.
            (Gating, &[], &|cases| checks(&nic::<TwinNicRest>(), cases)),
            // The NIC is at rest before the other side has answered.
            (Stands, &[], &|cases| checks(&nic::<TwinNicRound>(), cases)),
            // The NIC is at rest before its crossings are open after a reset.
            (Stands, &[], &|cases| resets(&nic::<TwinNicOpens>(), cases)),
            // The NIC is at rest amid a packet that is dropped.
            (Traffic, &[Stands], &|cases| checks(&nic::<TwinNicDrains>(), cases)),
            // A halted queue with another parcel is never at rest.
            (Stands, &[], &|cases| halts(&nic::<TwinNicHalted>(), cases)),
            // A command is offered when memory is ready, not before.
            (Traffic, &[], &|cases| asks(&nic::<TwinNicWaits>(), cases)),
            // Whether there is a slot for a packet behind another of DMA goes by the ring of messages.
            (Traffic, &[], &|cases| wraps(&nic::<TwinNicSlots>(), cases)),
            // A cause raised in the cycle that clears it is forgotten.
            (Clears, &[], &|cases| checks(&nic::<TwinNicForgets>(), cases)),
        ],
    );
}
