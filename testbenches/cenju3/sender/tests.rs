//! Checks of the Sender, and its broken twins.

use std::cell::Cell;

use support::this_test;
use testbenches::{Cases, Start, each_is_caught, pass};
use tsunagi::cenju3::golden::packet::{Kind, ParcelHeader};
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::stream::Gaps;

use super::*;
use crate::SLOW;

/// Bodies one after another, so that a fault hits one parcel only.
struct Maker {
    next: u32,
    faulty: bool,
}

impl Maker {
    /// A parcel header, now and then one that the Sender must refuse, with its body and faults in memory. Also the
    /// body's range, if it has a bus error.
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
        // Memory behind the body is not zero: if it is sent, it shows.
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

/// Circumstances of a Sender.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The memory is slow.
    pub slow: bool,
    pub gaps: Gaps,
    /// Some parcels must be refused.
    pub faulty: bool,
    pub reset_at: Option<u64>,
}

impl Plan {
    /// An ideal memory, and no pauses.
    const STEADY: Plan = Plan {
        slow: false,
        gaps: Gaps::None,
        faulty: false,
        reset_at: None,
    };

    /// With the fastest memory and a slow one.
    fn each(gaps: &[Gaps], faulty: bool) -> impl Iterator<Item = Plan> {
        let plan = move |gaps, slow| Plan {
            slow,
            gaps,
            faulty,
            reset_at: None,
        };
        gaps.iter().flat_map(move |&gaps| [plan(gaps, false), plan(gaps, true)])
    }

    pub fn timing(self) -> MemoryTiming {
        if self.slow { SLOW } else { MemoryTiming::IDEAL }
    }
}

/// Random parcels in both queues.
fn follows(sender: &Sender, plan: Plan, starts: &[Start], cases: &mut Cases) {
    cases.from_each(starts, format!("{} {plan:?}", sender.dut.name), |run| {
        let mut bench = Lockstep::new(run, sender, plan)?;
        let mut rng = run.rng("parcels");
        if let Some(at) = plan.reset_at {
            let mut maker = Maker {
                next: BODIES,
                faulty: false,
            };
            while bench.now() < at {
                traffic(&mut bench, &mut maker, &mut rng, &mut 40)?;
            }
            bench.reset()?;
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
    });
}

/// One cycle, perhaps after queueing a parcel or resuming a queue.
fn traffic(bench: &mut Lockstep, maker: &mut Maker, rng: &mut Rng, left: &mut u32) -> Result<(), Fault> {
    let q = rng.below(2) as usize;
    if *left > 0 && bench.next[q].is_none() && rng.chance(1, 30) {
        *left -= 1;
        let at = bench.end(q);
        bench.next[q] = Some(maker.parcel(rng, &mut bench.memory, at));
    }
    // The model does not follow words that are read ahead and dropped when a body fails: such a parcel goes alone.
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

/// Both queues fail, the second by this number of cycles after the first: each halts when its own status is in memory.
fn both_fail(sender: &Sender, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, format!("{} both fail", sender.dut.name), |run| {
        let mut bench = Lockstep::new(run, sender, Plan::STEADY)?;
        // With status words that are taken at once, and with two that wait at the same time.
        for status_waits in [0, 60] {
            bench.status_waits = status_waits;
            for (later, first) in (0..20).flat_map(|later| [(later, 0), (later, 1)]) {
                bench.enqueue(first, &dma(0).encode())?;
                bench.cycles(later)?;
                bench.enqueue(1 - first, &dma(0).encode())?;
                let end = bench.now() + 1_000;
                while bench.halted != 3 {
                    let (halted, in_time) = (bench.halted, bench.now() < end);
                    Rule::Rest.holds(in_time, || format!("not both queues halted: {halted:b}"))?;
                    bench.cycle()?;
                }
                bench.resume(0)?;
                bench.resume(1)?;
                bench.finish(1_000)?;
            }
        }
        Ok(())
    });
}

/// The header of a DMA parcel of this length.
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

/// Parcels in queue 0 take at most this number of cycles, from the first output word to the last. They take the same
/// time from each start.
fn takes(sender: &Sender, parcels: u32, bytes: u32, most: u64, cases: &mut Cases) {
    let first = Cell::new(None);
    let params = format!("{} {parcels} of {bytes} bytes", sender.dut.name);
    cases.from_each(&Start::RANDOM, params, |run| {
        let mut bench = Lockstep::new(run, sender, Plan::STEADY)?;
        let parcel = ParcelHeader {
            arr: true,
            ..dma(bytes)
        };
        for _ in 0..parcels {
            bench.enqueue(0, &parcel.encode())?;
        }
        bench.finish(200_000)?;
        let (start, end) = bench.span.expect("something was sent");
        let cycles = end - start + 1;
        Rule::Rate.holds(cycles <= most, || {
            format!("{} words in {cycles} cycles, not {most}", bench.words)
        })?;
        let other = first.replace(Some(cycles)).unwrap_or(cycles);
        Rule::Rate.same("cycles from another start", cycles, other)
    });
}

/// Bus words of the longest packet: route flit, header and body.
fn packet_words(sender: &Sender) -> u64 {
    u64::from(1 + (PACKET_HEADER_BYTES + PACKET_BODY_MAX) / sender.bus_bytes)
}

/// 256 packets without a bubble.
fn rate(sender: &Sender, cases: &mut Cases) {
    takes(sender, 1, PARCEL_BODY_MAX, 256 * packet_words(sender), cases);
}

/// Parcels for queue 0 while queue 1 is at a parcel of 256 packets: the model knows how many of these may pass.
fn overtakes(sender: &Sender, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, format!("{} overtakes", sender.dut.name), |run| {
        let mut bench = Lockstep::new(run, sender, Plan::STEADY)?;
        bench.enqueue(1, &dma(PARCEL_BODY_MAX).encode())?;
        for bytes in [1, 40, 512, 700] {
            bench.cycles(1_000)?;
            bench.enqueue(0, &dma(bytes).encode())?;
        }
        bench.finish(200_000)
    });
}

/// One-word parcels for queue 0 at every phase of queue 1's packets, and an ideal memory. From the return of its header
/// each waits for the words the reader has asked for and the burst it is about to ask for, and for one whole packet, if
/// that was chosen in time.
fn waits(sender: &Sender, cases: &mut Cases) {
    const PIPELINE: u64 = 3;
    cases.from_each(&Start::RANDOM, format!("{} waits", sender.dut.name), |run| {
        let mut bench = Lockstep::new(run, sender, Plan::STEADY)?;
        let packet = packet_words(sender);
        for _ in 0..2 {
            bench.enqueue(1, &dma(PARCEL_BODY_MAX).encode())?;
        }
        for _ in 0..packet {
            // No further header before the packet has gone, and each a few words later in queue 1's packets.
            bench.cycles(3 * packet + 1)?;
            bench.enqueue(0, &dma(1).encode())?;
        }
        bench.finish(200_000)?;
        let ahead = u64::from(sender.burst * (sender.outstanding + 1));
        let (waited, most) = (bench.longest_wait, ahead + packet + PIPELINE);
        Rule::Wait.holds(waited <= most, || format!("{waited} cycles, not at most {most}"))
    });
}

/// Under every gap pattern.
fn all_gaps(faulty: bool, cases: &mut Cases) {
    let senders = [
        sender::<Cenju3Sender>(),
        sender_of::<Cenju3SenderWide>(4, 3),
        sender_of::<Cenju3SenderSmall>(4, 1),
        sender_of::<Cenju3SenderWords>(1, 3),
    ];
    for plan in Plan::each(&Gaps::ALL, faulty) {
        for sender in &senders {
            follows(sender, plan, &Start::RANDOM, cases);
        }
    }
}

/// The Senders of both bus widths.
fn both() -> [Sender; 2] {
    [sender::<Cenju3Sender>(), sender_of::<Cenju3SenderWide>(4, 3)]
}

/// Good parcels, parcels to be refused, two queues, rate.
pub fn checks(sender: &Sender, cases: &mut Cases) {
    for faulty in [false, true] {
        for plan in Plan::each(&[Gaps::None, Gaps::Both], faulty) {
            follows(sender, plan, &[Start::Random1], cases);
        }
    }
    overtakes(sender, cases);
    waits(sender, cases);
    both_fail(sender, cases);
    rate(sender, cases);
}

#[test]
fn follows_the_model_under_all_gaps() {
    pass(this_test!(), |cases| all_gaps(false, cases));
}

#[test]
fn bad_parcels_halt_their_queue_only() {
    pass(this_test!(), |cases| all_gaps(true, cases));
}

#[test]
fn both_queues_halt_when_their_status_is_in_memory() {
    pass(this_test!(), |cases| {
        both().iter().for_each(|sender| both_fail(sender, cases))
    });
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        for reset_at in [50, 333, 700, 1_501].map(Some) {
            let plan = |slow, gaps| Plan {
                slow,
                gaps,
                faulty: true,
                reset_at,
            };
            follows(&narrow, plan(true, Gaps::Both), &Start::RANDOM, cases);
            follows(&wide, plan(false, Gaps::Sink), &Start::RANDOM, cases);
        }
    });
}

#[test]
fn one_bus_word_per_cycle() {
    pass(this_test!(), |cases| {
        let [narrow, wide] = both();
        rate(&narrow, cases);
        rate(&wide, cases);
        // Parcels of one packet: the 8 words of each parcel header come on the same way as the bodies.
        takes(&narrow, 100, PACKET_BODY_MAX, 100 * (packet_words(&narrow) + 8), cases);
    });
}

#[test]
fn queue_0_overtakes_queue_1() {
    pass(this_test!(), |cases| {
        both().iter().for_each(|sender| overtakes(sender, cases))
    });
}

#[test]
fn queue_0_waits_for_one_packet_and_the_read_ahead() {
    pass(this_test!(), |cases| {
        both().iter().for_each(|sender| waits(sender, cases))
    });
}

#[test]
fn a_queue_holds_255_headers_and_wraps() {
    pass(this_test!(), |cases| {
        let sender = sender::<Cenju3Sender>();
        // Nearly all the time goes into the headers.
        takes(&sender, 255, 4, 255 * 20, cases);
        cases.from_each(&Start::RANDOM, "wrap", |run| {
            let mut bench = Lockstep::new(run, &sender, Plan::STEADY)?;
            let mut maker = Maker {
                next: BODIES,
                faulty: false,
            };
            let mut rng = run.rng("parcels");
            for _ in 0..3 {
                for _ in 0..200 {
                    let (header, _) = maker.parcel(&mut rng, &mut bench.memory, Addr(0));
                    bench.enqueue(1, &header)?;
                }
                bench.finish(200_000)?;
            }
            Rule::Get.same("GET", 600_u32 as u8, bench.get[1])
        });
    });
}

/// Fields that no unit shows by itself, because each follows from another fault. `tests/cenju3/golden/sender.rs` tells
/// them to the model.
const TOLD: [&str; 3] = ["halt", "queue 0 at the end", "queue 1 at the end"];

#[test]
fn each_twin_is_caught() {
    crate::each_field_is_a_rule::<Rule>(&SendModel::FIELDS, &TOLD);
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A message a byte too long is sent.
            (Read, &[], &|cases| checks(&sender::<TwinSenderLength>(), cases)),
            // Queue 1 goes before queue 0.
            (Priority, &[], &|cases| checks(&sender::<TwinSenderPriority>(), cases)),
            // The words read ahead of a failed body are sent all the same.
            (Packet, &[], &|cases| checks(&sender::<TwinSenderDrop>(), cases)),
            // ARR and END are on every packet of a parcel.
            (Route, &[], &|cases| checks(&sender::<TwinSenderFlags>(), cases)),
            // All packets of a parcel go to the address of the first.
            (Header, &[], &|cases| checks(&sender::<TwinSenderDest>(), cases)),
            // The last word is always whole.
            (Length, &[], &|cases| checks(&sender::<TwinSenderKeep>(), cases)),
            // The bytes behind the body in its last word are sent with it.
            (Body, &[], &|cases| checks(&sender::<TwinSenderBody>(), cases)),
            // There is no last word where the bus errs: the next packet is glued to it, if there is one.
            (Cut, &[Rest], &|cases| checks(&sender::<TwinSenderCut>(), cases)),
            // The status of a refused parcel does not go into its own header.
            (Write, &[], &|cases| checks(&sender::<TwinSenderStatus>(), cases)),
            // Every refusal has the same reason.
            (Status, &[], &|cases| checks(&sender::<TwinSenderCode>(), cases)),
            // GET moves when the header is asked for.
            (Get, &[], &|cases| checks(&sender::<TwinSenderGet>(), cases)),
            // The interrupt comes before the status.
            (Interrupt, &[], &|cases| checks(&sender::<TwinSenderAlarm>(), cases)),
            // There is no interrupt.
            (Rest, &[], &|cases| checks(&sender::<TwinSenderSilent>(), cases)),
            // Parcels of one queue are not counted.
            (Sent, &[], &|cases| checks(&sender::<TwinSenderSent>(), cases)),
            // The next packet is chosen when there is room for its command, not when the reader comes to it.
            (Wait, &[], &|cases| checks(&sender::<TwinSenderEarly>(), cases)),
            // The queue halts while its status word is on its way.
            (StatusWord, &[], &|cases| checks(&sender::<TwinSenderHasty>(), cases)),
            // The status of a second queue is accepted while the first's is on its way.
            (StatusWord, &[Rest], &|cases| checks(&sender::<TwinSenderBoth>(), cases)),
            // Of two status words that wait, the first one's response goes to the other queue.
            (Rest, &[StatusWord, Get], &|cases| {
                checks(&sender::<TwinSenderMisrouted>(), cases)
            }),
            // A header comes in one burst, whatever the longest.
            (Burst, &[Wait, Rate], &|cases| {
                checks(&sender_of::<TwinSenderBurst>(1, 3), cases)
            }),
            // The next packet is asked for only when the one before is out.
            (Rate, &[], &|cases| checks(&sender::<TwinSenderRate>(), cases)),
        ],
    );
}
