//! Checks of the Receiver, and its broken twins.

use support::this_test;
use testbenches::{Cases, Start, each_is_caught, pass};
use tsunagi::cenju3::golden::packet::{Kind, Packet, PacketHeader, Route};
use tsunagi::harness::seed::Rng;

use super::*;
use crate::SLOW;

const HALTS: u32 = R_CTRL_HALT_ARRIVAL_MASK | R_CTRL_HALT_END_MSG_MASK | R_CTRL_HALT_END_DMA_MASK;

/// The kind of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Faults {
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
        // Otherwise the kinds of route and header may differ, which is another fault.
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

/// Circumstances of a Receiver.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// The memory is slow.
    slow: bool,
    gaps: Gaps,
    faults: Faults,
    /// The events that halt it, besides full rings.
    halts: u32,
    reset_at: Option<u64>,
}

impl Plan {
    /// With the fastest memory and a slow one.
    fn each(gaps: &[Gaps], faults: Faults, halts: u32) -> impl Iterator<Item = Plan> {
        let plan = move |gaps, slow| Plan {
            slow,
            gaps,
            faults,
            halts,
            reset_at: None,
        };
        gaps.iter().flat_map(move |&gaps| [plan(gaps, false), plan(gaps, true)])
    }
}

/// An ideal memory with responses after this number of cycles.
fn late(cycles: u64) -> MemoryTiming {
    MemoryTiming {
        write_latency: Cycle(cycles),
        ..MemoryTiming::IDEAL
    }
}

/// Random packets.
fn follows(receiver: &Receiver, plan: Plan, starts: &[Start], cases: &mut Cases) {
    cases.from_each(starts, format!("{} {plan:?}", receiver.dut.name), |run| {
        let timing = if plan.slow { SLOW } else { MemoryTiming::IDEAL };
        let mut bench = Lockstep::new(run, receiver, timing, plan.gaps);
        let mut rng = run.rng("packets");
        let mut next = 0;
        if let Some(at) = plan.reset_at {
            let packets = (0..60).map(|_| packet(&mut rng, plan.faults, &mut next));
            bench.packets.extend(packets);
            bench.control(R_CTRL_RUN_MASK);
            bench.cycles(at)?;
            bench.reset();
        }
        if plan.faults == Faults::Memory {
            // An entry of each kind of ring: nothing gets past it before it is mended.
            for at in [BASES[0] + 36, BASES[1] + 52, BASES[2] + 600] {
                bench.memory.inject_fault(at..at + 1);
            }
            refuse(&mut bench.memory, &mut rng);
        }
        let packets = (0..80).map(|_| packet(&mut rng, plan.faults, &mut next));
        bench.packets.extend(packets);
        let taken = bench.taken;
        for _ in 0..50 {
            bench.cycle()?;
            Rule::Run.same("words taken", taken, bench.taken)?;
        }
        bench.control(R_CTRL_RUN_MASK | plan.halts);
        handle(&mut bench, plan, &mut rng)?;
        bench.check()
    });
}

/// Until all packets are handled. The host lets the Receiver go on after a while, and mends the memory.
fn handle(bench: &mut Lockstep, plan: Plan, rng: &mut Rng) -> Result<(), Fault> {
    let mut broken = plan.faults == Faults::Memory;
    let mut waited = 0;
    while !bench.at_rest() || bench.seen.halted {
        if bench.seen.halted && rng.chance(1, 60) {
            let empties = rng.chance(3, 4);
            bench.serve(empties);
        }
        if broken && bench.packets.len() < 50 {
            broken = false;
            bench.memory.clear_faults();
            refuse(&mut bench.memory, rng);
        }
        bench.cycle()?;
        waited += 1;
        Rule::Rest.holds(waited < 400_000, || format!("none after {waited} cycles"))?;
    }
    Ok(())
}

fn all_gaps(receiver: &Receiver, faults: Faults, halts: u32, cases: &mut Cases) {
    for plan in Plan::each(&Gaps::ALL, faults, halts) {
        follows(receiver, plan, &Start::RANDOM, cases);
    }
}

/// Nobody empties the rings until the Receiver stands; a restart alone does not help it.
fn fills(receiver: &Receiver, cases: &mut Cases) {
    const PACKETS: u64 = 60;
    cases.from_each(&Start::RANDOM, receiver.dut.name, |run| {
        let mut bench = Lockstep::new(run, receiver, MemoryTiming::IDEAL, Gaps::None);
        let (mut rng, mut next, mut stood) = (run.rng("packets"), 0, 0);
        let packets = (0..PACKETS).map(|_| packet(&mut rng, Faults::None, &mut next));
        bench.packets.extend(packets);
        bench.control(R_CTRL_RUN_MASK);
        while !bench.at_rest() || bench.seen.halted {
            if bench.seen.halted {
                let pending = bench.model.regs.pending;
                Rule::Halt.holds(pending & R_STAT_OVERFLOW_MASK != 0, || {
                    format!("halted without an overflow, pending {pending:#x}")
                })?;
                bench.tell_register(R_STAT, R_STAT_OVERFLOW_MASK);
                stood += 1;
                bench.serve(stood % 2 == 0);
            }
            bench.cycle()?;
        }
        Rule::Halt.holds(stood > 10, || format!("full rings halted it {stood} times"))?;
        let published = bench.published[0] + bench.published[1];
        Rule::Counted.same("packets published", PACKETS, published)?;
        bench.check()
    });
}

/// Memory refuses a DMA packet and the first place of the header behind it. Both fail, and so do the packets behind,
/// until nothing is under way.
fn refused_twice(receiver: &Receiver, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, format!("{} twice", receiver.dut.name), |run| {
        let mut bench = Lockstep::new(run, receiver, late(60), Gaps::None);
        bench.memory.inject_fault(DEST..DEST + 1);
        bench.memory.inject_fault(BASES[1] + 16..BASES[1] + 17);
        bench.packets.extend((0..3).map(|seq| dma(seq, 32)));
        bench.control(R_CTRL_RUN_MASK);
        bench.settle()?;
        counted(&bench, (3, 0))?;
        bench.packets.push_back(dma(3, 32));
        bench.cycle()?;
        bench.settle()?;
        counted(&bench, (3, 1))
    });
}

/// Memory refuses a DMA packet. The next one comes so much later that the refusal is known before, just as and after
/// its header is written: the header is in the ring's first slot at the end. So it is if status words go before it.
fn refused_as_the_next_begins(receiver: &Receiver, cases: &mut Cases) {
    let params = format!("{} as the next begins", receiver.dut.name);
    cases.from_each(&Start::RANDOM, params, |run| {
        for (later, statuses) in (0..60).flat_map(|later| [(later, 0), (later, 200)]) {
            let mut bench = Lockstep::new(run, receiver, late(30), Gaps::None);
            bench.memory.inject_fault(DEST..DEST + 1);
            bench.packets.push_back(dma(0, 32));
            bench.statuses.to_come = statuses;
            bench.control(R_CTRL_RUN_MASK);
            bench.cycles(later)?;
            bench.packets.push_back(dma(1, 32));
            bench.cycle()?;
            bench.settle()?;
            counted(&bench, (1, 1))?;
        }
        Ok(())
    });
}

/// All is as the model has it, with these numbers of dropped and published packets.
fn counted(bench: &Lockstep, want: (u16, u64)) -> Result<(), Fault> {
    bench.check()?;
    Rule::Counted.same("packets dropped and published", want, (bench.drops, bench.published[1]))
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

/// A packet halts the Receiver, and none behind it has begun: what the host writes until the restart holds for them.
fn stops(receiver: &Receiver, cases: &mut Cases) {
    for (halts, route, head) in [
        (R_CTRL_HALT_ARRIVAL_MASK, ROUTE_ARR_MASK, PACKET_HEAD_ARR_MASK),
        (R_CTRL_HALT_END_DMA_MASK, ROUTE_END_MASK, PACKET_HEAD_END_MASK),
    ] {
        let params = format!("{} stops {halts:#x}", receiver.dut.name);
        cases.from_each(&Start::RANDOM, params, |run| {
            let mut bench = Lockstep::new(run, receiver, late(30), Gaps::None);
            let mut packets = [dma(0, 32), dma(1, 32)];
            for flits in &mut packets {
                flits[0] |= route as u16;
                flits[1] |= head as u16;
            }
            let first = words(&packets[0], receiver.bus_bytes).len() as u64;
            bench.packets.extend(packets);
            bench.control(R_CTRL_RUN_MASK | halts);
            while !bench.seen.halted {
                bench.cycle()?;
            }
            Rule::Halt.same("words taken", first, bench.taken)?;
            // Without a halt from now on.
            bench.control(R_CTRL_RUN_MASK | R_CTRL_RESTART_MASK);
            bench.settle()?;
            counted(&bench, (0, 2))
        });
    }
}

/// DMA packets of 512 bytes without a bubble, with responses after this number of cycles. The rings are emptied as they
/// fill. Halts are on, but no packet has ARR or END.
fn rate(receiver: &Receiver, latency: u64, cases: &mut Cases) {
    const PACKETS: u32 = 64;
    let params = format!("{} rate, latency {latency}", receiver.dut.name);
    cases.from_each(&Start::RANDOM, params, |run| {
        let mut bench = Lockstep::new(run, receiver, late(latency), Gaps::None);
        bench.packets.extend((0..PACKETS).map(|seq| dma(seq, 512)));
        bench.control(R_CTRL_RUN_MASK | HALTS);
        while !bench.at_rest() {
            bench.cycle()?;
            if bench.regs.get[1] != bench.regs.put[1] {
                bench.empty(1);
            }
        }
        bench.check()?;
        let (first, last) = bench.span.expect("something was taken");
        // Route, header and body words.
        let words = u64::from(PACKETS * (1 + (PACKET_HEADER_BYTES + 512) / receiver.bus_bytes));
        Rule::Rate.same("words and cycles", (words, words), (bench.taken, last - first + 1))
    });
}

/// The Receivers of both bus widths.
fn both() -> [Receiver; 2] {
    [receiver::<Cenju3Receiver>(), receiver_of::<Cenju3ReceiverWide>(4)]
}

/// Good packets without and with halts, bad ones, refused writes, rate.
pub fn checks(receiver: &Receiver, cases: &mut Cases) {
    for (faults, halts) in [
        (Faults::None, 0),
        (Faults::None, HALTS),
        (Faults::Packets, 0),
        (Faults::Memory, 0),
        (Faults::Memory, HALTS),
    ] {
        for plan in Plan::each(&[Gaps::None, Gaps::Both], faults, halts) {
            follows(receiver, plan, &[Start::Random1], cases);
        }
    }
    refused_twice(receiver, cases);
    refused_as_the_next_begins(receiver, cases);
    rate(receiver, 20, cases);
}

#[test]
fn follows_the_model_under_all_gaps() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        let small = receiver_of::<Cenju3ReceiverSmall>(4);
        for receiver in [&narrow, &wide, &small] {
            all_gaps(receiver, Faults::None, 0, cases);
        }
    });
}

#[test]
fn halts_and_restarts() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        for halts in [
            R_CTRL_HALT_ARRIVAL_MASK,
            R_CTRL_HALT_END_MSG_MASK,
            R_CTRL_HALT_END_DMA_MASK,
            HALTS,
        ] {
            let plan = |slow, gaps| Plan {
                slow,
                gaps,
                faults: Faults::None,
                halts,
                reset_at: None,
            };
            follows(&narrow, plan(true, Gaps::Both), &Start::RANDOM, cases);
            follows(&wide, plan(false, Gaps::None), &Start::RANDOM, cases);
        }
    });
}

#[test]
fn no_packet_begins_behind_one_that_halts() {
    pass(this_test!(), |cases| {
        both().iter().for_each(|receiver| stops(receiver, cases))
    });
}

#[test]
fn bad_packets_leave_no_trace() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        all_gaps(&narrow, Faults::Packets, 0, cases);
        all_gaps(&wide, Faults::Packets, HALTS, cases);
    });
}

#[test]
fn refused_writes_are_reported_and_not_published() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        all_gaps(&narrow, Faults::Memory, 0, cases);
        all_gaps(&wide, Faults::Memory, HALTS, cases);
        all_gaps(&receiver_of::<Cenju3ReceiverSmall>(4), Faults::Memory, 0, cases);
    });
}

#[test]
fn full_rings_halt_and_lose_nothing() {
    pass(this_test!(), |cases| {
        both().iter().for_each(|receiver| fills(receiver, cases))
    });
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        for reset_at in [20, 150, 333, 900].map(Some) {
            let plan = Plan {
                slow: true,
                gaps: Gaps::Both,
                faults: Faults::Packets,
                halts: HALTS,
                reset_at,
            };
            follows(&narrow, plan, &Start::RANDOM, cases);
            let plan = Plan {
                slow: false,
                gaps: Gaps::None,
                faults: Faults::None,
                halts: 0,
                reset_at,
            };
            follows(&wide, plan, &Start::RANDOM, cases);
        }
    });
}

#[test]
fn a_packet_refused_as_the_next_begins_leaves_it_its_slot() {
    pass(this_test!(), |cases| {
        both()
            .iter()
            .for_each(|receiver| refused_as_the_next_begins(receiver, cases));
    });
}

#[test]
fn a_refused_header_counts_also_where_it_is_written_once_more() {
    pass(this_test!(), |cases| {
        both().iter().for_each(|receiver| refused_twice(receiver, cases))
    });
}

#[test]
fn one_bus_word_per_cycle() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        rate(&narrow, 0, cases);
        rate(&narrow, 20, cases);
        rate(&wide, 0, cases);
    });
}

/// Fields that no unit shows by itself, because each follows from another fault or is the memory's.
/// `tests/cenju3/golden/receiver.rs` tells them to the model.
const TOLD: [&str; 4] = [
    "write response",
    "internal events at the end",
    "writes without response at the end",
    "write at the end",
];

#[test]
fn each_twin_is_caught() {
    crate::each_field_is_a_rule::<Rule>(&RecvModel::FIELDS, &TOLD);
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The body is written before the arrival interrupt.
            (Write, &[], &|cases| checks(&receiver::<TwinReceiverArrival>(), cases)),
            // The end interrupt comes before the last response.
            (Inside, &[], &|cases| checks(&receiver::<TwinReceiverEnd>(), cases)),
            // PUT moves when the header is in memory, not the body.
            (Inside, &[], &|cases| checks(&receiver::<TwinReceiverPublish>(), cases)),
            // A truncated packet is published.
            (Inside, &[], &|cases| {
                checks(&receiver::<TwinReceiverTruncated>(), cases)
            }),
            // The header behind a refused packet is written once more where it was.
            (Write, &[], &|cases| checks(&receiver::<TwinReceiverAgain>(), cases)),
            // A refusal in the cycle that takes the next header does not give that header the slot.
            (Inside, &[], &|cases| checks(&receiver::<TwinReceiverBegun>(), cases)),
            // A status word is told as written only if no other write waits.
            (Status, &[], &|cases| checks(&receiver::<TwinReceiverStatus>(), cases)),
            // The header is not written again if a status word goes just then.
            (Rest, &[], &|cases| checks(&receiver::<TwinReceiverBeside>(), cases)),
            // The header is not written again if the body behind it is taken first.
            (Rest, &[], &|cases| checks(&receiver::<TwinReceiverRedo>(), cases)),
            // A refused header is forgotten when it is written once more.
            (Inside, &[], &|cases| checks(&receiver::<TwinReceiverRefused>(), cases)),
            // A bit in the last word of a body is wrong.
            (Memory, &[], &|cases| checks(&receiver::<TwinReceiverBody>(), cases)),
            // A packet is taken before the Receiver is to run.
            (Run, &[], &|cases| checks(&receiver::<TwinReceiverRun>(), cases)),
            // A further packet is taken while the Receiver is halted.
            (Halt, &[], &|cases| checks(&receiver::<TwinReceiverHalted>(), cases)),
            // The packet behind one that halts is taken before the halt.
            (Halt, &[], &|cases| stops(&receiver::<TwinReceiverStops>(), cases)),
            // No packet is taken after a halt.
            (Rest, &[], &|cases| checks(&receiver::<TwinReceiverStuck>(), cases)),
            // Only packets without a whole header are counted.
            (Dropped, &[], &|cases| checks(&receiver::<TwinReceiverDrops>(), cases)),
            // The header told is that of the packet under way.
            (Head, &[], &|cases| checks(&receiver::<TwinReceiverHead>(), cases)),
            // A packet waits for the responses of the one before it, so that a refusal takes fewer with it.
            (Counted, &[], &|cases| {
                refused_twice(&receiver::<TwinReceiverRate>(), cases)
            }),
            (Rate, &[Counted], &|cases| {
                checks(&receiver::<TwinReceiverRate>(), cases)
            }),
            // Every packet may halt, with or without ARR.
            (Rate, &[], &|cases| checks(&receiver::<TwinReceiverWary>(), cases)),
        ],
    );
}
