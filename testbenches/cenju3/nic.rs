//! The whole NIC: registers, clocks, the link's rate and its back-pressure, refused writes, activity gating.

use testbenches::rtl::{Cenju3NicRandom, Cenju3NicWideRandom};
use tsunagi::cenju3::golden::packet::{Kind, Packet, PacketHeader, ParcelHeader, Route};
use tsunagi::cenju3::regs::*;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::Gaps;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use tsunagi::{Addr, Cycle};
use verilated::Context;

use crate::loopback::{BODIES, DEST, DMAS, MESSAGES, QUEUE0, QUEUE1, SOURCE, dma, program, start};
use crate::rig::{Event, Flit, Nic, Rig, SLOW, Setup};

/// The machine's clock periods, in ps.
const PERIODS: (u64, u64) = (40_000, 50_000);

const OPEN: Setup = Setup {
    io: (40_000, 0),
    net: (50_000, 0),
    timing: SLOW,
    looped: false,
    gated: false,
};

/// Registers keep what they should, and refuse what they should.
pub fn registers<N: Nic>() {
    let mut rig = Rig::<N>::new(Context::new(), OPEN);
    assert_eq!(rig.read(ID), ID_VALUE);
    assert_eq!(rig.read(R_THRESH), 512 - 16);
    assert_eq!(rig.read(S_STAT), S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK);
    let kept = [
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
    for value in [0xa5a5_a5a5, 0x5a5a_5a5a] {
        for (offset, mask) in kept {
            rig.write(offset, value);
            assert_eq!(rig.read(offset), value & mask, "register {offset:#x}");
        }
    }
    // A new size empties its ring.
    rig.write(MBB0_SIZE, 4);
    assert_eq!((rig.read(MBB0_PUT), rig.read(MBB0_GET)), (0, 0));
    let read_only = [
        SQ0_GET, SQ1_GET, S_STAT, MHB_PUT, DHB_PUT, MBB0_PUT, MBB1_PUT, R_DROP, R_ERR, ID,
    ];
    for offset in read_only {
        let before = rig.read(offset);
        assert!(rig.access(offset, Some(!before)).error, "register {offset:#x}");
        assert_eq!(rig.read(offset), before);
    }
    for offset in [0x01, 0x06, 0x7f, 0x80, 0xfc] {
        assert!(rig.access(offset, None).error, "offset {offset:#x}");
        assert!(rig.access(offset, Some(0)).error, "offset {offset:#x}");
    }
    for strobes in [0, 1, 7, 14] {
        rig.strobes = strobes;
        assert!(rig.access(NODE_ID, Some(1)).error);
        assert_eq!(rig.read(NODE_ID), 0x5a);
    }
}

#[test]
fn registers_answer_as_documented() {
    registers::<Cenju3Nic>();
}

/// Parcels of both queues looped back and checked; the events at the ports.
fn traffic<N: Nic>(rig: &mut Rig<N>, rng: &mut Rng) -> Vec<Event> {
    let (mut expected, mut messages) = (Vec::new(), [Vec::new(), Vec::new()]);
    let (mut source, mut dest, mut dmas) = (SOURCE, DEST, 0);
    for i in 0..24 {
        let kind = Kind::ALL[rng.below(3) as usize];
        let longest = if kind == Kind::Dma { 3_000 } else { 512 };
        let bytes = if rng.chance(1, 3) {
            rng.between(1, 40)
        } else {
            rng.between(1, longest)
        } as u32;
        let mut body = vec![0; bytes as usize];
        rng.fill(&mut body);
        assert!(rig.memory.write(Addr(source), &body));
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
        source += bytes.next_multiple_of(32);
        let q = i % 2;
        assert!(
            rig.memory
                .write(Addr([QUEUE0, QUEUE1][q as usize] + i / 2 * 32), &parcel.encode())
        );
        match kind.buffer() {
            Some(buffer) => messages[buffer].push((q, body)),
            None => {
                expected.push((dest, body));
                dest += bytes.next_multiple_of(32);
                dmas += bytes.div_ceil(512);
            }
        }
    }
    for k in 1..=12 {
        rig.write(SQ1_PUT, k);
        if k % 3 == 0 {
            rig.write(SQ0_PUT, k);
        }
    }
    let count = messages[0].len() + messages[1].len();
    rig.run("rest", 30_000, |rig| rig.to_nic.is_empty() && !rig.dut.busy());
    assert_eq!(
        rig.read(S_STAT),
        S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK | 24 << S_STAT_SENT_SHIFT
    );
    assert_eq!(rig.read(DHB_PUT), dmas);
    assert_eq!(rig.read(MHB_PUT), count as u32);
    assert_eq!(rig.read(R_DROP), 0);
    for (at, body) in expected {
        assert_eq!(rig.memory.read(Addr(at), body.len()).unwrap(), body, "DMA to {at:#x}");
    }
    for (buffer, bodies) in messages.iter_mut().enumerate() {
        let base = BODIES + buffer as u32 * 0x4000;
        // Queues overtake each other, so each body is in some slot of its buffer. A short one may begin a longer one, which chooses first.
        bodies.sort_by_key(|(_, body)| std::cmp::Reverse(body.len()));
        let mut slots: Vec<u32> = (0..bodies.len() as u32).collect();
        for (q, body) in &*bodies {
            let at = |slot: &u32| rig.memory.read(Addr(base + slot * 512), body.len()).unwrap() == body;
            let found = slots
                .iter()
                .position(at)
                .unwrap_or_else(|| panic!("a message of queue {q} is lost"));
            slots.remove(found);
        }
    }
    std::mem::take(&mut rig.events)
}

/// Traffic at these clock periods with random phase, the links pausing so.
pub fn at_clocks<N: Nic>(test: &'static str, run: u32, (io, net): (u64, u64), gaps: Gaps, timing: MemoryTiming) {
    let params = format!("{} {io} {net} {gaps:?} run {run}", N::BUS_BYTES);
    let case = Case::new("cenju3", test, params);
    case.run(|_| {
        let mut rng = case.rng("traffic");
        let setup = Setup {
            io: (io, rng.below(io)),
            net: (net, rng.below(net)),
            timing,
            ..Setup::default()
        };
        let mut rig = start::<N>(case.context(), setup);
        rig.pause(gaps, |name| case.rng(name));
        traffic(&mut rig, &mut rng);
        Ok::<(), String>(())
    });
}

#[test]
fn right_at_any_ratio_and_phase() {
    let test = "nic::right_at_any_ratio_and_phase";
    for periods in [
        (40_000, 50_000),
        (50_000, 40_000),
        (40_000, 40_000),
        (37_000, 53_000),
        (20_000, 5_000),
        (11_000, 40_000),
    ] {
        for run in 0..2 {
            at_clocks::<Cenju3NicRandom>(test, run, periods, Gaps::None, SLOW);
            at_clocks::<Cenju3NicWideRandom>(test, run, periods, Gaps::None, MemoryTiming::IDEAL);
        }
    }
}

#[test]
fn right_under_all_gaps() {
    let test = "nic::right_under_all_gaps";
    for gaps in Gaps::ALL {
        for run in 0..2 {
            at_clocks::<Cenju3NicRandom>(test, run, (40_000, 50_000), gaps, SLOW);
            at_clocks::<Cenju3NicWideRandom>(test, run, (40_000, 50_000), gaps, MemoryTiming::IDEAL);
        }
    }
}

/// What is looped back arrives.
pub fn carries<N: Nic>() {
    let case = Case::new("cenju3", "nic::carries", N::BUS_BYTES);
    traffic(
        &mut start::<N>(Context::new(), Setup::default()),
        &mut case.rng("traffic"),
    );
}

/// Traffic, a rest that is shorter than the gap behind it, and one more parcel, at these clock periods: the same events whether idle edges are
/// left out or not.
fn gating_at<N: Nic>((io, net): (u64, u64)) {
    let case = Case::new(
        "cenju3",
        "nic::leaving_out_idle_edges_changes_nothing",
        format!("{io} {net}"),
    );
    let run = |gated| {
        let mut rig = start::<N>(
            Context::new(),
            Setup {
                io: (io, 0),
                net: (net, 0),
                timing: SLOW,
                gated,
                ..Setup::default()
            },
        );
        rig.write(S_GAP, 200);
        let mut events = traffic(&mut rig, &mut case.rng("traffic"));
        let end = rig.now() + 40 * net;
        rig.run("40 cycles of the link", 41 * net / 1_000_000 + 1, |rig| rig.now() > end);
        assert!(rig.memory.write(Addr(QUEUE0 + 32 * 12), &dma(8).encode()));
        rig.write(SQ0_PUT, 13);
        rig.run("rest", 100 + 500 * net / 1_000_000, |rig| !rig.dut.busy());
        events.append(&mut rig.events);
        events
    };
    let (all, some) = (run(false), run(true));
    assert!(all.len() > 500);
    assert_eq!(all, some);
}

pub fn gating<N: Nic>() {
    gating_at::<N>(PERIODS);
}

/// Parcels one by one through a NIC whose clocks stand whenever it says that nothing changes: each is at rest in memory, or where the
/// Receiver that is stopped leaves it, when the clocks stand. At clock ratios for which no number of cycles of one clock is long
/// enough for the other.
pub fn stands<N: Nic>() {
    let ratios = [(1, 1), (1, 7), (7, 1), (1, 17), (17, 1), (1, 40), (40, 1)];
    for (io, net) in ratios.map(|(io, net)| (40_000 * io, 40_000 * net)) {
        let case = Case::new(
            "cenju3",
            "nic::what_stands_while_its_clocks_do_is_done",
            format!("{} {io} {net}", N::BUS_BYTES),
        );
        case.run(|_| stands_at::<N>(&case, (io, net)));
    }
}

fn stands_at<N: Nic>(case: &Case, (io, net): (u64, u64)) -> Result<(), String> {
    // Words past the receive FIFO that a Receiver which is stopped leaves: those of the crossing.
    const CROSSING: u32 = 16;
    let mut rng = case.rng("parcels");
    let setup = Setup {
        io: (io, rng.below(io)),
        net: (net, rng.below(net)),
        gated: true,
        ..Setup::default()
    };
    let mut rig = start::<N>(case.context(), setup);
    let slow = io.max(net);
    for i in 0..20 {
        let bytes = rng.between(1, 200) as u32;
        let mut body = vec![0; bytes as usize];
        rng.fill(&mut body);
        let parcel = ParcelHeader {
            dest: Addr(DEST + i * 0x100),
            ..dma(bytes)
        };
        assert!(rig.memory.write(Addr(SOURCE), &body));
        assert!(rig.memory.write(Addr(QUEUE0 + 32 * i), &parcel.encode()));
        let wait = |rig: &mut Rig<N>| rig.run("rest", 1_000 * slow / 1_000_000 + 1, |rig| !rig.dut.busy());
        let stopped = rng.chance(1, 2);
        if stopped {
            rig.write(R_CTRL, R_CTRL_IE_END_MASK);
        }
        rig.write(SQ0_PUT, i + 1);
        wait(&mut rig);
        if stopped {
            let words = 1 + (PACKET_HEADER_BYTES + bytes).div_ceil(N::BUS_BYTES);
            let level = words.saturating_sub(CROSSING);
            if rig.dut.rx_level() != level {
                return Err(format!("parcel {i}: level {} at rest, not {level}", rig.dut.rx_level()));
            }
            rig.write(R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_END_MASK);
            wait(&mut rig);
        }
        if !rig.dut.irq() || rig.memory.read(parcel.dest, body.len()).unwrap() != body {
            return Err(format!("parcel {i} of {bytes} bytes stands while the clocks do"));
        }
        rig.write(R_STAT, R_STAT_END_MASK);
        wait(&mut rig);
        let seen = (rig.dut.irq(), rig.read(SQ0_GET), rig.read(DHB_PUT));
        if seen != (false, i + 1, i + 1) {
            return Err(format!("after parcel {i}: interrupt, GET and PUT {seen:?}"));
        }
    }
    Ok(())
}

#[test]
fn leaving_out_idle_edges_changes_nothing() {
    for periods in [PERIODS, (40_000, 680_000), (680_000, 40_000)] {
        gating_at::<Cenju3Nic>(periods);
    }
}

#[test]
fn what_stands_while_its_clocks_do_is_done() {
    stands::<Cenju3Nic>();
    stands::<Cenju3NicRandom>();
    stands::<Cenju3NicWideRandom>();
}

/// Packets follow each other with exactly the gap between them.
pub fn gap<N: Nic>() {
    for gap in [0, 14] {
        let mut rig = start::<N>(Context::new(), OPEN);
        rig.write(S_GAP, gap);
        for i in 0..100 {
            assert!(rig.memory.write(Addr(QUEUE0 + 32 * i), &dma(512).encode()));
        }
        rig.write(SQ0_PUT, 100);
        rig.run("rest", 3_000, |rig| !rig.dut.busy());
        let (first, last) = rig.sent_span.expect("sent");
        assert_eq!(rig.sent.len(), 100 * 265);
        assert_eq!(
            last - first + 1,
            100 * 265 + 99 * u64::from(gap),
            "net cycles from the first flit to the last"
        );
    }
}

#[test]
fn back_to_back_parcels_fill_the_link() {
    gap::<Cenju3Nic>();
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

fn offer<N: Nic>(rig: &mut Rig<N>, packet: &Packet) {
    let flits = packet.flits();
    let last = flits.len() - 1;
    for (i, data) in flits.into_iter().enumerate() {
        rig.to_nic.push(Flit { data, last: i == last });
    }
}

/// A receive FIFO filled to its threshold stops the link, and nothing is lost.
pub fn threshold<N: Nic>() {
    let mut rig = start::<N>(Context::new(), OPEN);
    rig.write(R_CTRL, 0);
    rig.write(R_THRESH, 64);
    for seq in 0..8 {
        offer(&mut rig, &packet(seq, DEST + 512 * u32::from(seq), 512, false));
    }
    let all = rig.to_nic.len();
    let end = rig.net_edges + 2_000;
    rig.run("2000 net cycles", 1_000, |rig| rig.net_edges > end);
    let level = rig.read(R_STAT) >> R_STAT_LEVEL_SHIFT;
    assert!((64..=67).contains(&level), "level {level} at threshold 64");
    assert_eq!(rig.dut.rx_level(), level, "the port shows what the register reads");
    // What is past the receive FIFO: 16 words of the crossing.
    let inside = (all - rig.to_nic.len()).div_ceil(2);
    assert!(inside <= 67 + 16 + 2, "{inside} words inside");
    rig.write(R_CTRL, R_CTRL_RUN_MASK);
    rig.run("rest", 1_000, |rig| rig.to_nic.is_empty() && !rig.dut.busy());
    assert_eq!((rig.read(DHB_PUT), rig.read(R_DROP)), (8, 0));
    for seq in 0..8 {
        let at = Addr(DEST + 512 * seq);
        assert_eq!(rig.memory.read(at, 512).unwrap(), [seq as u8; 512]);
    }
    assert_eq!(rig.read(R_STAT), 0);
}

#[test]
fn the_threshold_stops_the_link_and_nothing_is_lost() {
    threshold::<Cenju3Nic>();
}

/// A ring of one entry has room for none: what would go there waits, and comes when the ring is larger.
#[test]
fn a_ring_of_one_entry_is_full() {
    let mut rig = start::<Cenju3NicWide>(Context::new(), OPEN);
    rig.write(DHB_SIZE, 1);
    offer(&mut rig, &packet(1, DEST, 16, false));
    rig.run("overflow", 100, |rig| rig.to_nic.is_empty() && !rig.dut.busy());
    assert_eq!(rig.read(R_STAT) & R_STAT_OVERFLOW_MASK, R_STAT_OVERFLOW_MASK);
    assert_eq!((rig.read(DHB_PUT), rig.read(R_DROP)), (0, 0));
    rig.write(DHB_SIZE, 2);
    rig.write(R_STAT, R_STAT_OVERFLOW_MASK);
    rig.write(R_CTRL, R_CTRL_RUN_MASK | R_CTRL_RESTART_MASK);
    rig.run("the packet", 100, |rig| !rig.dut.busy());
    assert_eq!((rig.read(DHB_PUT), rig.read(R_DROP)), (1, 0));
    assert_eq!(rig.memory.read(Addr(DEST), 16).unwrap(), [1; 16]);
}

/// Each kind of cause pulls the line while it is enabled, and only then.
pub fn interrupts<N: Nic>() {
    let mut rig = start::<N>(Context::new(), OPEN);
    rig.write(R_CTRL, R_CTRL_RUN_MASK);
    let mut arrives = packet(1, DEST, 16, true);
    (arrives.route.arr, arrives.header.arr) = (true, true);
    offer(&mut rig, &arrives);
    // To another PE, and so a bad header.
    let mut strays = packet(2, DEST, 16, false);
    strays.route.dst = 6;
    offer(&mut rig, &strays);
    assert!(rig.memory.write(Addr(QUEUE0), &dma(0).encode()));
    rig.write(SQ0_PUT, 1);
    rig.run("rest", 100, |rig| rig.to_nic.is_empty() && !rig.dut.busy());
    let causes = [
        (R_STAT_ARRIVAL_MASK, R_CTRL_IE_ARRIVAL_MASK),
        (R_STAT_END_MASK, R_CTRL_IE_END_MASK),
        (R_STAT_BAD_HEADER_MASK, R_CTRL_IE_ERROR_MASK),
        (R_STAT_SEND_ERROR_MASK, R_CTRL_IE_SEND_MASK),
    ];
    assert_eq!(rig.read(R_STAT), causes.iter().fold(0, |all, (cause, _)| all | cause));
    assert!(!rig.dut.irq(), "nothing is enabled");
    for (cause, enable) in causes {
        rig.write(R_CTRL, R_CTRL_RUN_MASK | enable);
        rig.run("its interrupt", 1, |rig| rig.dut.irq());
        rig.write(R_STAT, cause);
        rig.run("no interrupt of the others", 1, |rig| !rig.dut.irq());
    }
    assert_eq!(rig.read(R_STAT), 0);
}

#[test]
fn interrupts_follow_their_enables() {
    interrupts::<Cenju3Nic>();
    interrupts::<Cenju3NicWide>();
}

/// The host clears a cause so many cycles after what raises it began: whether it is pending at the end, and whether it interrupted.
fn cleared<N: Nic>(cause: u32, raise: impl Fn(&mut Rig<N>), cycles: u64) -> (bool, bool) {
    let mut rig = start::<N>(
        Context::new(),
        Setup {
            looped: false,
            ..Setup::default()
        },
    );
    assert!(rig.memory.write(Addr(QUEUE0), &dma(0).encode()));
    let enable = R_CTRL_IE_ARRIVAL_MASK | R_CTRL_IE_END_MASK | R_CTRL_IE_ERROR_MASK | R_CTRL_IE_SEND_MASK;
    rig.write(R_CTRL, R_CTRL_RUN_MASK | enable);
    raise(&mut rig);
    let at = rig.io_edges + cycles;
    rig.run("some cycles", 10, |rig| rig.io_edges == at);
    rig.write(R_STAT, cause);
    rig.run("rest", 100, |rig| rig.to_nic.is_empty() && !rig.dut.busy());
    let irq = EventKind::Irq { level: true };
    let rose = rig.events.iter().any(|event| event.kind == irq);
    (rig.read(R_STAT) & cause != 0, rose)
}

/// What raises a cause.
type Raise<'a, N> = &'a dyn Fn(&mut Rig<N>);

/// A cause that is cleared before, just as and after it is raised is pending at the end, or has interrupted.
pub fn clears<N: Nic>() {
    let offers = |arr, end, dst| {
        let mut packet = packet(1, DEST, 16, end);
        (packet.route.arr, packet.header.arr, packet.route.dst) = (arr, arr, dst);
        move |rig: &mut Rig<N>| offer(rig, &packet)
    };
    let sends = |rig: &mut Rig<N>| rig.write(SQ0_PUT, 1);
    let raises: [(u32, Raise<N>); 4] = [
        (R_STAT_ARRIVAL_MASK, &offers(true, false, 5)),
        (R_STAT_END_MASK, &offers(false, true, 5)),
        (R_STAT_BAD_HEADER_MASK, &offers(false, false, 6)),
        (R_STAT_SEND_ERROR_MASK, &sends),
    ];
    for (cause, raise) in raises {
        let seen: Vec<_> = (0..80).map(|cycles| cleared(cause, raise, cycles)).collect();
        let lost = seen.iter().position(|seen| *seen == (false, false));
        assert_eq!(lost, None, "cycles until the clear that loses cause {cause:#x}");
        let pending = seen.iter().filter(|(pending, _)| *pending).count();
        assert!(
            (1..80).contains(&pending),
            "cause {cause:#x}: pending after {pending} of 80 clears"
        );
    }
}

#[test]
fn a_cause_cleared_as_it_is_raised_is_not_lost() {
    clears::<Cenju3Nic>();
}

#[test]
fn a_refused_body_gives_its_header_slot_to_the_next_packet() {
    let late = MemoryTiming {
        write_latency: Cycle(60),
        ..MemoryTiming::IDEAL
    };
    let mut rig = start::<Cenju3NicWide>(
        Context::new(),
        Setup {
            timing: late,
            net: (5_000, 0),
            ..OPEN
        },
    );
    rig.write(R_CTRL, R_CTRL_RUN_MASK | R_CTRL_IE_ERROR_MASK);
    rig.memory.inject_fault(DEST + 0x1000..DEST + 0x1010);
    let packets = [
        (DEST, 64),
        (DEST + 0x1000, 48),
        (DEST + 0x2000, 256),
        (DEST + 0x3000, 16),
    ];
    let packets: Vec<_> = packets
        .iter()
        .zip(1..)
        .map(|(&(dest, bytes), seq)| packet(seq, dest, bytes, false))
        .collect();
    packets.iter().for_each(|packet| offer(&mut rig, packet));
    rig.run("rest", 100, |rig| rig.to_nic.is_empty() && !rig.dut.busy());
    assert!(rig.dut.irq());
    assert_eq!(rig.read(R_STAT), R_STAT_BUS_ERROR_MASK);
    assert_eq!((rig.read(R_DROP), rig.read(DHB_PUT)), (1, 3));
    assert_eq!(rig.read(R_ERR).to_le_bytes(), packets[1].header.encode()[..4]);
    for (slot, packet) in [0, 2, 3]
        .into_iter()
        .enumerate()
        .map(|(slot, i)| (slot as u32, &packets[i]))
    {
        assert_eq!(
            rig.memory.read(Addr(DMAS + 16 * slot), 16).unwrap(),
            packet.header.encode()
        );
        let body = rig.memory.read(Addr(packet.header.dest), packet.body.len()).unwrap();
        assert_eq!(body, packet.body);
    }
    rig.write(R_STAT, R_STAT_BUS_ERROR_MASK);
    rig.run("interrupt line low", 1, |rig| !rig.dut.irq());
}

/// A reset in mid-flight leaves nothing behind.
pub fn resets<N: Nic>(test: &'static str) {
    for (us, gaps) in [7, 31, 200]
        .into_iter()
        .flat_map(|us| [(us, Gaps::None), (us, Gaps::Both)])
    {
        let case = Case::new("cenju3", test, format!("{us} {gaps:?}"));
        let mut rig = start::<N>(
            case.context(),
            Setup {
                timing: SLOW,
                ..Setup::default()
            },
        );
        rig.pause(gaps, |name| case.rng(name));
        assert!(rig.memory.write(Addr(QUEUE0), &dma(PARCEL_BODY_MAX).encode()));
        rig.write(SQ0_PUT, 1);
        let end = rig.now() + us * 1_000_000;
        rig.run("some time", 1_000, |rig| rig.now() >= end);
        rig.reset();
        assert_eq!(rig.read(S_STAT), S_STAT_EMPTY0_MASK | S_STAT_EMPTY1_MASK);
        program(&mut rig);
        traffic(&mut rig, &mut case.rng("traffic"));
        assert_ne!(rig.memory.read(Addr(MESSAGES), 16).unwrap(), [0; 16]);
    }
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    resets::<Cenju3NicRandom>("nic::reset_in_mid_flight_leaves_nothing_behind");
}
