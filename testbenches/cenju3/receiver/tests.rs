//! What a Receiver is put through.

use std::cell::Cell;

use testbenches::name;
use tsunagi::Addr;
use tsunagi::cenju3::golden::packet::{Kind, Packet, PacketHeader, Route};
use tsunagi::harness::seed::Rng;

use super::*;
use crate::STARTS;
use crate::rig::SLOW;

pub const HALTS: u32 = R_CTRL_HALT_ARRIVAL_MASK | R_CTRL_HALT_END_MSG_MASK | R_CTRL_HALT_END_DMA_MASK;

/// What may be wrong with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    None,
    Packets,
    /// Memory refuses writes.
    Memory,
}

fn packet(rng: &mut Rng, faults: Faults, next: &mut u32) -> Vec<u16> {
    let kind = Kind::ALL[rng.below(3) as usize];
    let bytes = if rng.chance(1, 2) {
        rng.between(1, 40)
    } else {
        rng.between(1, 512)
    } as u32;
    let arr = rng.chance(1, 4);
    let end = rng.chance(1, 2);
    let dest = Addr(DEST + *next);
    *next = (*next + bytes.next_multiple_of(32)) % 0x2_0000;
    let mut body = vec![0; bytes as usize];
    rng.fill(&mut body);
    let route = Route {
        dst: NODE,
        priority: rng.chance(1, 2),
        kind,
        arr,
        end,
    };
    let header = PacketHeader {
        kind,
        arr,
        end,
        last: rng.chance(1, 2),
        priority: route.priority,
        src: rng.below(256) as u8,
        seq: rng.below(256) as u8,
        bytes,
        index: rng.below(256) as u8,
        queue: u8::from(!route.priority),
        dest: if kind == Kind::Dma { dest.0 } else { rng.bits() as u32 },
        soft1: rng.bits() as u32,
    };
    let mut flits = Packet { route, header, body }.flits();
    if faults == Faults::Packets && rng.chance(1, 3) {
        match rng.below(9) {
            0 => flits[0] |= 3 << ROUTE_KIND_SHIFT,
            1 => flits[0] ^= 1 << rng.below(8),
            2 => flits[1] |= 3,
            3 => flits[3] = 0,
            4 => flits[3] = 513,
            5 => flits[5] |= 16,
            6 => flits.truncate(rng.between(1, 9) as usize),
            7 => flits.truncate(rng.between(1, flits.len() as u64) as usize),
            _ => flits.extend((0..rng.between(1, 40)).map(|i| i as u16)),
        }
        // Route and header must tell the same kind, or it is bad for that.
        if flits.len() > 1 && flits[1] & 0xff != flits[0] >> ROUTE_KIND_SHIFT & 3 {
            flits[0] |= 3 << ROUTE_KIND_SHIFT;
        }
    }
    flits
}

/// Memory refuses writes here and there where DMA packets go.
fn refuse(memory: &mut Memory, rng: &mut Rng) {
    for _ in 0..12 {
        let at = DEST + rng.below(0x2_0000) as u32;
        memory.inject_fault(at..at + 4);
    }
}

/// What is done to a Receiver.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub timing: MemoryTiming,
    pub gaps: Gaps,
    pub faults: Faults,
    /// When it halts, besides full rings.
    pub halts: u32,
    pub reset_at: Option<u64>,
}

/// Random packets, in lock step with the golden model.
pub fn follows<U: Receiver>(case: &Case, start: &str, probe: &Probe, plan: Plan) -> Result<(), Mismatch> {
    let Plan { faults, .. } = plan;
    let mut bench = Bench::<U>::new(case, start, probe, plan.timing, plan.gaps);
    let mut rng = case.rng("packets");
    let mut next = 0;
    if let Some(at) = plan.reset_at {
        bench
            .packets
            .extend((0..60).map(|_| packet(&mut rng, faults, &mut next)));
        bench.control(R_CTRL_RUN_MASK);
        while bench.cycle < at {
            bench.cycle()?;
        }
        bench.reset();
    }
    let mut broken = faults == Faults::Memory;
    if broken {
        // An entry of each kind of ring: nothing gets past it before it is mended.
        for at in [BASES[0] + 36, BASES[1] + 52, BASES[2] + 600] {
            bench.memory.inject_fault(at..at + 1);
        }
        refuse(&mut bench.memory, &mut rng);
    }
    bench
        .packets
        .extend((0..80).map(|_| packet(&mut rng, faults, &mut next)));
    // Nothing is taken before the Receiver runs.
    let taken = bench.taken;
    for _ in 0..50 {
        bench.cycle()?;
        if bench.taken != taken {
            return Err(fault("run", "nothing taken before it is set", "a word taken".into()));
        }
    }
    bench.control(R_CTRL_RUN_MASK | plan.halts);
    let mut waited = 0;
    while !bench.at_rest() || bench.halted {
        if bench.halted && rng.chance(1, 60) {
            let free = rng.chance(3, 4);
            bench.serve(free);
        }
        if broken && bench.packets.len() < 50 {
            broken = false;
            bench.memory.clear_faults();
            refuse(&mut bench.memory, &mut rng);
        }
        bench.cycle()?;
        waited += 1;
        if waited == 400_000 {
            return Err(fault("rest", "to come", format!("none after {waited} cycles")));
        }
    }
    bench.check()
}

fn lockstep<U: Receiver>(
    test: &'static str,
    timing: MemoryTiming,
    gaps: Gaps,
    faults: Faults,
    halts: u32,
    reset_at: Option<u64>,
) {
    for start in STARTS {
        let latency = timing.write_latency.0;
        let params = format!(
            "{} {gaps:?} {faults:?} {latency} {halts:x} {reset_at:?} {start}",
            name::<U>()
        );
        let case = Case::new("cenju3", test, params);
        let plan = Plan {
            timing,
            gaps,
            faults,
            halts,
            reset_at,
        };
        case.run(|probe| follows::<U>(&case, start, probe, plan));
    }
}

fn all_gaps<U: Receiver>(test: &'static str, faults: Faults, halts: u32) {
    for gaps in Gaps::ALL {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            lockstep::<U>(test, timing, gaps, faults, halts, None);
        }
    }
}

#[test]
fn follows_the_model_under_all_gaps() {
    let test = "receiver::tests::follows_the_model_under_all_gaps";
    all_gaps::<Cenju3Receiver>(test, Faults::None, 0);
    all_gaps::<Cenju3ReceiverWide>(test, Faults::None, 0);
    all_gaps::<Cenju3ReceiverSmall>(test, Faults::None, 0);
}

#[test]
fn halts_and_restarts() {
    let test = "receiver::tests::halts_and_restarts";
    for halts in [
        R_CTRL_HALT_ARRIVAL_MASK,
        R_CTRL_HALT_END_MSG_MASK,
        R_CTRL_HALT_END_DMA_MASK,
        HALTS,
    ] {
        lockstep::<Cenju3Receiver>(test, SLOW, Gaps::Both, Faults::None, halts, None);
        lockstep::<Cenju3ReceiverWide>(test, MemoryTiming::IDEAL, Gaps::None, Faults::None, halts, None);
    }
}

#[test]
fn bad_packets_leave_no_trace() {
    let test = "receiver::tests::bad_packets_leave_no_trace";
    all_gaps::<Cenju3Receiver>(test, Faults::Packets, 0);
    all_gaps::<Cenju3ReceiverWide>(test, Faults::Packets, HALTS);
}

#[test]
fn refused_writes_are_reported_and_not_published() {
    let test = "receiver::tests::refused_writes_are_reported_and_not_published";
    all_gaps::<Cenju3Receiver>(test, Faults::Memory, 0);
    all_gaps::<Cenju3ReceiverWide>(test, Faults::Memory, HALTS);
    all_gaps::<Cenju3ReceiverSmall>(test, Faults::Memory, 0);
}

/// Nobody empties the rings until the Receiver stands; a restart alone does not help it.
fn fills<U: Receiver>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    const PACKETS: usize = 60;
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    let (mut rng, mut next, mut stood) = (case.rng("packets"), 0, 0);
    let packets = (0..PACKETS).map(|_| packet(&mut rng, Faults::None, &mut next));
    bench.packets.extend(packets);
    bench.control(R_CTRL_RUN_MASK);
    while !bench.at_rest() || bench.halted {
        if bench.halted {
            assert_ne!(
                bench.model.regs.pending & R_STAT_OVERFLOW_MASK,
                0,
                "halted for something else"
            );
            bench.tell_register(R_STAT, R_STAT_OVERFLOW_MASK);
            stood += 1;
            bench.serve(stood % 2 == 0);
        }
        bench.cycle()?;
    }
    assert!(stood > 10, "full {stood} times");
    assert_eq!(bench.published[0] + bench.published[1], PACKETS as u64);
    bench.check()
}

#[test]
fn full_rings_halt_and_lose_nothing() {
    for start in STARTS {
        let case = |unit: &str| {
            let params = format!("{unit} {start}");
            Case::new("cenju3", "receiver::tests::full_rings_halt_and_lose_nothing", params)
        };
        let (narrow, wide) = (case("32"), case("64"));
        narrow.run(|probe| fills::<Cenju3Receiver>(&narrow, start, probe));
        wide.run(|probe| fills::<Cenju3ReceiverWide>(&wide, start, probe));
    }
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    let test = "receiver::tests::reset_in_mid_flight_leaves_nothing_behind";
    for reset_at in [20, 150, 333, 900] {
        lockstep::<Cenju3Receiver>(test, SLOW, Gaps::Both, Faults::Packets, HALTS, Some(reset_at));
        lockstep::<Cenju3ReceiverWide>(test, MemoryTiming::IDEAL, Gaps::None, Faults::None, 0, Some(reset_at));
    }
}

/// Memory refuses a DMA packet and the first place of the header behind it: both fail, and so do those behind, until nothing is under way.
pub fn refused_twice<U: Receiver>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    let late = MemoryTiming {
        write_latency: Cycle(60),
        ..MemoryTiming::IDEAL
    };
    let mut bench = Bench::<U>::new(case, start, probe, late, Gaps::None);
    bench.memory.inject_fault(DEST..DEST + 1);
    bench.memory.inject_fault(BASES[1] + 16..BASES[1] + 17);
    bench.packets.extend((0..3).map(|seq| dma(seq, 32)));
    bench.control(R_CTRL_RUN_MASK);
    while !bench.at_rest() {
        bench.cycle()?;
    }
    counted(&bench, (3, 0))?;
    bench.packets.push_back(dma(3, 32));
    bench.cycle()?;
    while !bench.at_rest() {
        bench.cycle()?;
    }
    counted(&bench, (3, 1))
}

/// Memory refuses a DMA packet; the next one comes so many cycles later that the refusal is known before, just as and after its header is
/// written: the header is in the ring's first slot at the end.
pub fn refused_as_the_next_begins<U: Receiver>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    for later in 0..60 {
        let late = MemoryTiming {
            write_latency: Cycle(30),
            ..MemoryTiming::IDEAL
        };
        let mut bench = Bench::<U>::new(case, start, probe, late, Gaps::None);
        bench.memory.inject_fault(DEST..DEST + 1);
        bench.packets.push_back(dma(0, 32));
        bench.control(R_CTRL_RUN_MASK);
        for _ in 0..later {
            bench.cycle()?;
        }
        bench.packets.push_back(dma(1, 32));
        bench.cycle()?;
        while !bench.at_rest() {
            bench.cycle()?;
        }
        counted(&bench, (1, 1))?;
    }
    Ok(())
}

#[test]
fn a_packet_refused_as_the_next_begins_leaves_it_its_slot() {
    let test = "receiver::tests::a_packet_refused_as_the_next_begins_leaves_it_its_slot";
    for start in STARTS {
        let case = |unit: &str| Case::new("cenju3", test, format!("{unit} {start}"));
        let (narrow, wide) = (case("32"), case("64"));
        narrow.run(|probe| refused_as_the_next_begins::<Cenju3Receiver>(&narrow, start, probe));
        wide.run(|probe| refused_as_the_next_begins::<Cenju3ReceiverWide>(&wide, start, probe));
    }
}

/// What the model says, and so many packets dropped and so many of them published.
fn counted<U: Receiver>(bench: &Bench<U>, want: (u16, u64)) -> Result<(), Mismatch> {
    bench.check()?;
    let got = (bench.drops, bench.published[1]);
    if got == want {
        return Ok(());
    }
    Err(fault("dropped and published", &format!("{want:?}"), format!("{got:?}")))
}

#[test]
fn a_refused_header_counts_also_where_it_is_written_once_more() {
    let test = "receiver::tests::a_refused_header_counts_also_where_it_is_written_once_more";
    for start in STARTS {
        let case = |unit: &str| Case::new("cenju3", test, format!("{unit} {start}"));
        let (narrow, wide) = (case("32"), case("64"));
        narrow.run(|probe| refused_twice::<Cenju3Receiver>(&narrow, start, probe));
        wide.run(|probe| refused_twice::<Cenju3ReceiverWide>(&wide, start, probe));
    }
}

/// Packet `seq` of a row of DMA packets of 512 bytes, with `bytes` of them.
fn dma(seq: u32, bytes: u32) -> Vec<u16> {
    let route = Route {
        dst: NODE,
        priority: false,
        kind: Kind::Dma,
        arr: false,
        end: false,
    };
    let header = PacketHeader {
        kind: Kind::Dma,
        arr: false,
        end: false,
        last: false,
        priority: false,
        src: 1,
        seq: seq as u8,
        bytes,
        index: 0,
        queue: 1,
        dest: DEST + 512 * seq,
        soft1: 0,
    };
    let body = vec![seq as u8; bytes as usize];
    Packet { route, header, body }.flits()
}

/// Words and cycles from the first word taken to the last, of `count` DMA packets of 512 bytes; the rings are emptied as they fill.
pub fn stream<U: Receiver>(
    case: &Case,
    start: &str,
    probe: &Probe,
    timing: MemoryTiming,
    count: u32,
) -> Result<(u64, u64), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, timing, Gaps::None);
    bench.packets.extend((0..count).map(|seq| dma(seq, 512)));
    bench.control(R_CTRL_RUN_MASK);
    while !bench.at_rest() {
        bench.cycle()?;
        if bench.regs.get[1] != bench.regs.put[1] {
            bench.regs.get[1] = bench.regs.put[1];
            bench.tell_register(DHB_GET, bench.regs.get[1]);
        }
    }
    bench.check()?;
    let (first, last) = bench.span.expect("something was taken");
    Ok((bench.taken, last - first + 1))
}

/// [`stream`] from both starts, which must take the same time.
fn rate<U: Receiver>(test: &'static str, timing: MemoryTiming, count: u32) -> (u64, u64) {
    let rates = STARTS.map(|start| {
        let params = format!("{} {} {start}", U::BUS_BYTES, timing.write_latency.0);
        let case = Case::new("cenju3", test, params);
        let result = Cell::new((0, 0));
        case.run(|probe| stream::<U>(&case, start, probe, timing, count).map(|rate| result.set(rate)));
        result.get()
    });
    assert_eq!(rates[0], rates[1], "the rate depends on what is not reset");
    rates[0]
}

#[test]
fn one_bus_word_per_cycle() {
    let test = "receiver::tests::one_bus_word_per_cycle";
    // Route, header and body words, without a bubble, also while responses take 20 cycles.
    let late = MemoryTiming {
        write_latency: Cycle(20),
        ..MemoryTiming::IDEAL
    };
    for timing in [MemoryTiming::IDEAL, late] {
        assert_eq!(rate::<Cenju3Receiver>(test, timing, 64), (64 * 133, 64 * 133));
    }
    assert_eq!(
        rate::<Cenju3ReceiverWide>(test, MemoryTiming::IDEAL, 64),
        (64 * 67, 64 * 67)
    );
}
