//! What a Sender is put through.

use testbenches::name;
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};

use super::*;
use crate::STARTS;
use crate::fault;
use crate::rig::SLOW;

/// Bodies one after another, so that a fault hits one parcel only.
struct Maker {
    next: u32,
    faulty: bool,
}

impl Maker {
    /// A parcel header, now and then one that the Sender must refuse, with its body and faults in memory; the body, where it has a bus error.
    fn parcel(&mut self, rng: &mut Rng, memory: &mut Memory, header_at: Addr) -> ([u8; 32], Option<Range<u32>>) {
        let fault = (self.faulty && rng.chance(1, 5)).then(|| rng.below(9));
        // A body that fails is of several packets.
        let fails = fault >= Some(7);
        let kind = match fault {
            Some(3) => [Kind::Msg0, Kind::Msg1][rng.below(2) as usize],
            _ if fails => Kind::Dma,
            _ => Kind::ALL[rng.below(3) as usize],
        };
        let longest = match (kind, rng.below(8)) {
            (Kind::Dma, 0) => 2_500,
            (Kind::Dma, _) if fails => 1_500,
            (Kind::Dma, _) => 700,
            _ => PACKET_BODY_MAX,
        };
        let bytes = if !fails && rng.chance(1, 2) {
            rng.between(1, 40)
        } else {
            rng.between(1, longest.into())
        } as u32;
        let body = Addr(self.next);
        self.next += bytes.next_multiple_of(ALIGN_BYTES);
        // What stands behind the body is not zero, so that it shows where it is sent.
        let mut data = vec![0; (self.next - body.0) as usize];
        rng.fill(&mut data);
        assert!(memory.write(body, &data), "bodies fit");
        let parcel = ParcelHeader {
            kind,
            arr: rng.chance(1, 2),
            end: rng.chance(1, 2),
            dst: rng.below(256) as u8,
            bytes,
            body,
            dest: Addr(rng.below(1 << 20) as u32 & !31),
            soft: [rng.bits() as u32, rng.bits() as u32],
        };
        let mut header = parcel.encode();
        match fault {
            Some(0) => header[PARCEL_HEAD as usize] = rng.between(3, 255) as u8,
            Some(1) => header[4..8].copy_from_slice(&0u32.to_le_bytes()),
            Some(2) => header[4..8].copy_from_slice(&(PARCEL_BODY_MAX + 1).to_le_bytes()),
            Some(3) => header[4..8].copy_from_slice(&(PACKET_BODY_MAX + 1).to_le_bytes()),
            Some(4) => header[PARCEL_BODY as usize] |= 4,
            Some(5) => header[PARCEL_DEST as usize] |= 16,
            Some(6) => memory.inject_fault(header_at.0..header_at.0 + 8),
            Some(_) => {
                // Often where the next packet is read ahead already.
                let at = if bytes > PACKET_BODY_MAX && rng.chance(1, 2) {
                    PACKET_BODY_MAX - rng.between(1, 64) as u32
                } else {
                    rng.below(bytes.into()) as u32
                };
                memory.inject_fault(body.0 + at..body.0 + at + 1);
                return (header, Some(body.0..self.next));
            }
            None => {}
        }
        (header, None)
    }
}

/// What is done to a Sender.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub timing: MemoryTiming,
    pub gaps: Gaps,
    /// Some parcels must be refused.
    pub faulty: bool,
    pub reset_at: Option<u64>,
}

/// Random parcels in both queues, in lock step with the golden model.
pub fn follows<U: Sender>(case: &Case, start: &str, probe: &Probe, plan: Plan) -> Result<(), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, plan.timing, plan.gaps);
    let mut rng = case.rng("parcels");
    if let Some(at) = plan.reset_at {
        let mut maker = Maker {
            next: BODIES,
            faulty: false,
        };
        while bench.cycle < at {
            traffic(&mut bench, &mut maker, &mut rng, &mut 40)?;
        }
        bench.reset();
        bench.parcels = 0;
    }
    let mut maker = Maker {
        next: BODIES + 0x4_0000,
        faulty: plan.faulty,
    };
    let mut left = 60;
    for _ in 0..300_000 {
        if left == 0 && bench.at_rest() {
            break;
        }
        traffic(&mut bench, &mut maker, &mut rng, &mut left)?;
    }
    bench.finish(1)
}

fn lockstep<U: Sender>(test: &'static str, timing: MemoryTiming, gaps: Gaps, faulty: bool, reset_at: Option<u64>) {
    for start in STARTS {
        let latency = timing.read_latency.0;
        let params = format!("{} {gaps:?} {faulty} {latency} {reset_at:?} {start}", name::<U>());
        let case = Case::new("cenju3", test, params);
        let plan = Plan {
            timing,
            gaps,
            faulty,
            reset_at,
        };
        case.run(|probe| follows::<U>(&case, start, probe, plan));
    }
}

/// One cycle, perhaps after queueing a parcel or resuming a queue.
fn traffic<U: Sender>(bench: &mut Bench<U>, maker: &mut Maker, rng: &mut Rng, left: &mut u32) -> Result<(), Mismatch> {
    let q = rng.below(2) as usize;
    if *left > 0 && bench.next[q].is_none() && rng.chance(1, 30) {
        *left -= 1;
        let at = Addr(QUEUES[q]).offset(u32::from(bench.put[q]) * PARCEL_HEADER_BYTES);
        bench.next[q] = Some(maker.parcel(rng, &mut bench.memory, at));
    }
    // The model does not follow what was read ahead and is dropped when a body fails: such a parcel goes alone.
    let empty = bench.get[q] == bench.put[q];
    if let Some((header, fault)) = bench.next[q].take_if(|(_, fault)| empty || (fault.is_none() && !bench.alone[q])) {
        bench.alone[q] = fault.is_some();
        bench.faulty.extend(fault);
        bench.enqueue(q, &header)?;
    }
    if bench.halted >> q & 1 == 1 && rng.chance(1, 20) {
        bench.resume(q)?;
    }
    bench.cycle()
}

/// Every unit under every gap pattern, with the fastest memory and a slow one.
fn all_gaps(test: &'static str, faulty: bool) {
    for gaps in Gaps::ALL {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            lockstep::<Cenju3Sender>(test, timing, gaps, faulty, None);
            lockstep::<Cenju3SenderWide>(test, timing, gaps, faulty, None);
            lockstep::<Cenju3SenderSmall>(test, timing, gaps, faulty, None);
            lockstep::<Cenju3SenderWords>(test, timing, gaps, faulty, None);
        }
    }
}

#[test]
fn follows_the_model_under_all_gaps() {
    all_gaps("sender::tests::follows_the_model_under_all_gaps", false);
}

#[test]
fn bad_parcels_halt_their_queue_only() {
    all_gaps("sender::tests::bad_parcels_halt_their_queue_only", true);
}

/// Both queues fail, the second by so many cycles after the first: each halts when its own status is in memory.
pub fn both_fail<U: Sender>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    // With status words that are taken at once, and with two that wait at the same time.
    for status_waits in [0, 60] {
        bench.status_waits = status_waits;
        for (later, first) in (0..20).flat_map(|later| [(later, 0), (later, 1)]) {
            bench.enqueue(first, &dma(0).encode())?;
            for _ in 0..later {
                bench.cycle()?;
            }
            bench.enqueue(1 - first, &dma(0).encode())?;
            let end = bench.cycle + 1_000;
            while bench.halted != 3 {
                if bench.cycle == end {
                    return Err(fault("rest", "both queues halted", format!("{:b}", bench.halted)));
                }
                bench.cycle()?;
            }
            bench.resume(0)?;
            bench.resume(1)?;
            bench.finish(1_000)?;
        }
    }
    Ok(())
}

#[test]
fn both_queues_halt_when_their_status_is_in_memory() {
    let test = "sender::tests::both_queues_halt_when_their_status_is_in_memory";
    for start in STARTS {
        let case = Case::new("cenju3", test, start);
        case.run(|probe| both_fail::<Cenju3Sender>(&case, start, probe));
        case.run(|probe| both_fail::<Cenju3SenderWide>(&case, start, probe));
    }
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    for reset_at in [50, 333, 700, 1_501] {
        let test = "sender::tests::reset_in_mid_flight_leaves_nothing_behind";
        lockstep::<Cenju3Sender>(test, SLOW, Gaps::Both, true, Some(reset_at));
        lockstep::<Cenju3SenderWide>(test, MemoryTiming::IDEAL, Gaps::Sink, true, Some(reset_at));
    }
}

/// The header of a DMA parcel of so many bytes.
fn dma(bytes: u32) -> ParcelHeader {
    ParcelHeader {
        kind: Kind::Dma,
        arr: false,
        end: true,
        dst: 1,
        bytes,
        body: Addr(BODIES),
        dest: Addr(0),
        soft: [0; 2],
    }
}

/// `parcels` in queue 0; output words and the cycles from the first to the last.
pub fn stream<U: Sender>(
    case: &Case,
    start: &str,
    probe: &Probe,
    parcels: u32,
    bytes: u32,
) -> Result<(u64, u64), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    let parcel = ParcelHeader {
        arr: true,
        ..dma(bytes)
    };
    for _ in 0..parcels {
        bench.enqueue(0, &parcel.encode())?;
    }
    bench.finish(200_000)?;
    let (first, last) = bench.span.expect("something was sent");
    Ok((bench.words, last - first + 1))
}

/// Parcels for queue 0 while queue 1 is at a parcel of 256 packets: the model knows how many of these may pass.
pub fn overtakes<U: Sender>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    bench.enqueue(1, &dma(PARCEL_BODY_MAX).encode())?;
    for bytes in [1, 40, 512, 700] {
        for _ in 0..1_000 {
            bench.cycle()?;
        }
        bench.enqueue(0, &dma(bytes).encode())?;
    }
    bench.finish(200_000)
}

/// One-word parcels for queue 0 at every phase of queue 1's packets, and an ideal memory: from the return of its header each waits for
/// the words the reader has asked for and the burst it is about to ask for, and for one whole packet, if that was chosen in time.
pub fn waits<U: Sender>(case: &Case, start: &str, probe: &Probe) -> Result<(), Mismatch> {
    const PIPELINE: u64 = 3;
    let mut bench = Bench::<U>::new(case, start, probe, MemoryTiming::IDEAL, Gaps::None);
    let packet = u64::from(1 + (PACKET_HEADER_BYTES + PACKET_BODY_MAX) / U::BUS_BYTES);
    for _ in 0..2 {
        bench.enqueue(1, &dma(PARCEL_BODY_MAX).encode())?;
    }
    for _ in 0..packet {
        // No further header before the packet has gone, and each a few words later in queue 1's packets.
        for _ in 0..3 * packet + 1 {
            bench.cycle()?;
        }
        bench.enqueue(0, &dma(1).encode())?;
    }
    bench.finish(200_000)?;
    let [burst, outstanding] = U::READER;
    let most = burst * (outstanding + 1) + packet + PIPELINE;
    let waited = bench.longest_wait;
    if waited <= most {
        return Ok(());
    }
    Err(fault(
        "wait",
        &format!("at most {most} cycles"),
        format!("{waited} cycles"),
    ))
}

/// [`stream`] from both starts, which must take the same time.
fn rate<U: Sender>(test: &'static str, parcels: u32, bytes: u32) -> (u64, u64) {
    let rates = STARTS.map(|start| {
        let case = Case::new("cenju3", test, format!("{} {bytes} {start}", U::BUS_BYTES));
        let result = std::cell::Cell::new((0, 0));
        case.run(|probe| stream::<U>(&case, start, probe, parcels, bytes).map(|rate| result.set(rate)));
        result.get()
    });
    assert_eq!(rates[0], rates[1], "the rate depends on what is not reset");
    rates[0]
}

#[test]
fn one_bus_word_per_cycle() {
    let test = "sender::tests::one_bus_word_per_cycle";
    // 256 packets of route, header and body words, without a bubble.
    let (words, cycles) = rate::<Cenju3Sender>(test, 1, PARCEL_BODY_MAX);
    assert_eq!((words, cycles), (256 * (1 + 4 + 128), 256 * (1 + 4 + 128)));
    let (words, cycles) = rate::<Cenju3SenderWide>(test, 1, PARCEL_BODY_MAX);
    assert_eq!((words, cycles), (256 * (1 + 2 + 64), 256 * (1 + 2 + 64)));
    // Parcels of one packet: the 8 words of each parcel header come on the same way as the bodies.
    let (words, cycles) = rate::<Cenju3Sender>(test, 100, PACKET_BODY_MAX);
    assert!(cycles * 133 <= words * (133 + 8), "{words} words in {cycles} cycles");
}

#[test]
fn queue_0_overtakes_queue_1() {
    for start in STARTS {
        let case = Case::new("cenju3", "sender::tests::queue_0_overtakes_queue_1", start);
        case.run(|probe| overtakes::<Cenju3Sender>(&case, start, probe));
        case.run(|probe| overtakes::<Cenju3SenderWide>(&case, start, probe));
    }
}

#[test]
fn queue_0_waits_for_one_packet_and_the_read_ahead() {
    for start in STARTS {
        let case = Case::new(
            "cenju3",
            "sender::tests::queue_0_waits_for_one_packet_and_the_read_ahead",
            start,
        );
        case.run(|probe| waits::<Cenju3Sender>(&case, start, probe));
        case.run(|probe| waits::<Cenju3SenderWide>(&case, start, probe));
    }
}

#[test]
fn a_queue_holds_255_headers_and_wraps() {
    let test = "sender::tests::a_queue_holds_255_headers_and_wraps";
    let (words, _) = rate::<Cenju3Sender>(test, 255, 4);
    assert_eq!(words, 255 * 6);
    for start in STARTS {
        let case = Case::new("cenju3", test, format!("wrap {start}"));
        case.run(|probe| {
            let mut bench = Bench::<Cenju3Sender>::new(&case, start, probe, MemoryTiming::IDEAL, Gaps::None);
            let mut maker = Maker {
                next: BODIES,
                faulty: false,
            };
            let mut rng = case.rng("parcels");
            for _ in 0..3 {
                for _ in 0..200 {
                    let (header, _) = maker.parcel(&mut rng, &mut bench.memory, Addr(0));
                    bench.enqueue(1, &header)?;
                }
                bench.finish(200_000)?;
            }
            assert_eq!(bench.get[1], 600_u32 as u8);
            Ok::<(), Mismatch>(())
        });
    }
}
