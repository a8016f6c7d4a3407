//! Broken twins of the Sender, the Receiver and the NIC: one line broken (`rtl/*/units.toml`), found by its own check and no other.

use std::panic::catch_unwind;

use testbenches::rtl::*;
use tsunagi::Cycle;
use tsunagi::cenju3::golden::lockstep::Mismatch;
use tsunagi::cenju3::golden::receiver::RecvModel;
use tsunagi::cenju3::golden::sender::SendModel;
use tsunagi::cenju3::regs::PARCEL_BODY_MAX;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::{Case, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;

use crate::receiver::{Faults, HALTS, Receiver};
use crate::rig::{Nic, SLOW};
use crate::sender::Sender;
use crate::{STARTS, fault, nic, receiver, sender};

/// What each check says of a unit.
type Found = Vec<Result<(), Mismatch>>;

/// One word per cycle, or else.
fn full_rate((words, cycles): (u64, u64)) -> Result<(), Mismatch> {
    if words == cycles {
        Ok(())
    } else {
        Err(fault(
            "rate",
            "one word per cycle",
            format!("{words} words in {cycles} cycles"),
        ))
    }
}

/// The checks of a Sender: good parcels, parcels to be refused, two queues, rate.
fn of_sender<U: Sender>() -> Found {
    let case = |name: String| Case::new("cenju3", "twins::each_sender_twin_is_caught", name);
    let mut found = Found::new();
    for gaps in [Gaps::None, Gaps::Both] {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            for faulty in [false, true] {
                let plan = sender::Plan {
                    timing,
                    gaps,
                    faulty,
                    reset_at: None,
                };
                let case = case(format!("{plan:?}"));
                found.push(sender::follows::<U>(&case, STARTS[0], &Probe::default(), plan));
            }
        }
    }
    found.push(sender::overtakes::<U>(
        &case("overtakes".into()),
        STARTS[0],
        &Probe::default(),
    ));
    found.push(sender::waits::<U>(&case("waits".into()), STARTS[0], &Probe::default()));
    found.push(sender::both_fail::<U>(
        &case("both fail".into()),
        STARTS[0],
        &Probe::default(),
    ));
    let rate = sender::stream::<U>(&case("rate".into()), STARTS[0], &Probe::default(), 1, PARCEL_BODY_MAX);
    found.push(rate.and_then(full_rate));
    found
}

/// The checks of a Receiver: good packets without and with halts, bad ones, refused writes, rate.
fn of_receiver<U: Receiver>() -> Found {
    let case = |name: String| Case::new("cenju3", "twins::each_receiver_twin_is_caught", name);
    let mut found = Found::new();
    for gaps in [Gaps::None, Gaps::Both] {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            for (faults, halts) in [
                (Faults::None, 0),
                (Faults::None, HALTS),
                (Faults::Packets, 0),
                (Faults::Memory, 0),
                (Faults::Memory, HALTS),
            ] {
                let plan = receiver::Plan {
                    timing,
                    gaps,
                    faults,
                    halts,
                    reset_at: None,
                };
                let case = case(format!("{plan:?}"));
                found.push(receiver::follows::<U>(&case, STARTS[0], &Probe::default(), plan));
            }
        }
    }
    let late = MemoryTiming {
        write_latency: Cycle(20),
        ..MemoryTiming::IDEAL
    };
    let again = receiver::refused_twice::<U>(&case("refused twice".into()), STARTS[0], &Probe::default());
    found.push(again);
    found.push(receiver::refused_as_the_next_begins::<U>(
        &case("refused as the next begins".into()),
        STARTS[0],
        &Probe::default(),
    ));
    let rate = receiver::stream::<U>(&case("rate".into()), STARTS[0], &Probe::default(), late, 64);
    found.push(rate.and_then(full_rate));
    found
}

/// All checks of a twin; the field that its own check names, and those that are wrong with it.
type Twin = (fn() -> Found, &'static str, &'static [&'static str]);

/// What no unit can show by itself, as that follows from another fault or is the memory's: told to the models in `tests/cenju3/golden/sender.rs` and
/// `tests/cenju3/golden/receiver.rs`.
const TOLD: [&str; 7] = [
    "halt",
    "queue 0 at the end",
    "queue 1 at the end",
    "write response",
    "internal events at the end",
    "writes without response at the end",
    "write at the end",
];

/// Each field of the model has a twin. Something is found, and nothing but a mismatch of these fields.
fn each_is_caught(fields: &[&str], twins: &[Twin]) {
    for field in fields.iter().filter(|field| !TOLD.contains(field)) {
        assert!(twins.iter().any(|(_, own, _)| own == field), "{field} has no twin");
    }
    for (checks, own, with) in twins {
        let faults: Vec<Mismatch> = Seed::of_twins()
            .under(checks)
            .into_iter()
            .filter_map(Result::err)
            .collect();
        assert!(faults.iter().any(|fault| fault.field == *own), "no {own}: {faults:?}");
        for fault in faults {
            assert!(fault.field == *own || with.contains(&fault.field), "not {own}: {fault}");
        }
    }
}

/// The units themselves pass.
#[test]
fn the_units_pass_what_their_twins_do_not() {
    for fault in [of_sender::<Cenju3Sender>(), of_receiver::<Cenju3Receiver>()].concat() {
        fault.unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn each_sender_twin_is_caught() {
    each_is_caught(
        &SendModel::FIELDS,
        &[
            // A message a byte too long is sent.
            (of_sender::<TwinSenderLength>, "read", &[]),
            // Queue 1 before queue 0.
            (of_sender::<TwinSenderPriority>, "priority", &[]),
            // What was read ahead of a failed body is sent all the same.
            (of_sender::<TwinSenderDrop>, "packet", &[]),
            // ARR and END on every packet of a parcel.
            (of_sender::<TwinSenderFlags>, "route flit", &[]),
            // All packets of a parcel to the address of the first.
            (of_sender::<TwinSenderDest>, "packet header", &[]),
            // The last word always whole.
            (of_sender::<TwinSenderKeep>, "packet length in flits", &[]),
            // What is behind the body's last byte, sent with it.
            (of_sender::<TwinSenderBody>, "body", &[]),
            // No last word where the bus errs: the next packet is glued to it, if there is one.
            (
                of_sender::<TwinSenderCut>,
                "length of a packet cut by a bus error",
                &["rest"],
            ),
            // The status of a refused parcel not in its own header.
            (of_sender::<TwinSenderStatus>, "write", &[]),
            // Every refusal for the same reason.
            (of_sender::<TwinSenderCode>, "status", &[]),
            // GET moves when the header is asked for.
            (of_sender::<TwinSenderGet>, "GET", &[]),
            // The interrupt before the status.
            (of_sender::<TwinSenderAlarm>, "interrupt", &[]),
            // No interrupt.
            (of_sender::<TwinSenderSilent>, "rest", &[]),
            // Parcels of one queue are not counted.
            (of_sender::<TwinSenderSent>, "parcels sent", &[]),
            // The next packet chosen when there is room for its command, not when the reader comes to it.
            (of_sender::<TwinSenderEarly>, "wait", &[]),
            // The queue halts while its status word is on its way.
            (of_sender::<TwinSenderHasty>, "status word", &[]),
            // The status of a second queue accepted while the first's is on its way.
            (of_sender::<TwinSenderBoth>, "status word", &["rest"]),
            // Of two status words that wait, the first one's response goes to the other queue.
            (of_sender::<TwinSenderWhose>, "rest", &["status word", "GET"]),
            // A header in one burst, whatever the longest.
            (of_sender::<TwinSenderBurst>, "burst", &["wait", "rate"]),
            // The next packet asked for only when the one before is out.
            (of_sender::<TwinSenderRate>, "rate", &[]),
        ],
    );
}

#[test]
fn each_receiver_twin_is_caught() {
    each_is_caught(
        &RecvModel::FIELDS,
        &[
            // The body written before the arrival interrupt.
            (of_receiver::<TwinReceiverArrival>, "write", &[]),
            // The end interrupt before the last response.
            (of_receiver::<TwinReceiverEnd>, "inside", &[]),
            // PUT moved when the header is in memory, not the body.
            (of_receiver::<TwinReceiverPublish>, "inside", &[]),
            // A truncated packet published.
            (of_receiver::<TwinReceiverTruncated>, "inside", &[]),
            // The header behind a refused packet written once more where it was.
            (of_receiver::<TwinReceiverAgain>, "write", &[]),
            // What is refused in the cycle that takes the next header does not give it its slot.
            (of_receiver::<TwinReceiverBegun>, "inside", &[]),
            // The header is not written again if the body behind it is taken first.
            (of_receiver::<TwinReceiverRedo>, "rest", &[]),
            // A refused header forgotten when it is written once more.
            (of_receiver::<TwinReceiverRefused>, "inside", &[]),
            // A wrong bit in the last word of a body.
            (of_receiver::<TwinReceiverBody>, "memory", &[]),
            // A packet taken before the Receiver is to run.
            (of_receiver::<TwinReceiverRun>, "run", &[]),
            // A further packet taken while halted.
            (of_receiver::<TwinReceiverHalted>, "halt", &[]),
            // No packet after a halt.
            (of_receiver::<TwinReceiverStuck>, "rest", &[]),
            // Only packets without a whole header are counted.
            (of_receiver::<TwinReceiverDrops>, "packets dropped", &[]),
            // The header told is that of the packet under way.
            (of_receiver::<TwinReceiverHead>, "head of the last dropped", &[]),
            // A packet waits for the responses of the one before it, so that one refused takes fewer with it.
            (of_receiver::<TwinReceiverRate>, "rate", &["dropped and published"]),
        ],
    );
}

/// The checks of a NIC: each panics.
fn of_nic<N: Nic>() -> [(&'static str, fn()); 8] {
    [
        ("registers", nic::registers::<N>),
        ("traffic", nic::carries::<N>),
        ("interrupts", nic::interrupts::<N>),
        ("threshold", nic::threshold::<N>),
        ("gap", nic::gap::<N>),
        ("gating", nic::gating::<N>),
        ("stands", nic::stands::<N>),
        ("clears", nic::clears::<N>),
    ]
}

/// Its own check fails, and no other but those `with` it.
fn only<N: Nic>(own: &str, with: &[&str]) {
    for (name, check) in of_nic::<N>() {
        let failed = catch_unwind(check).is_err();
        assert_eq!(failed, name == own || with.contains(&name), "{own}: {name}");
    }
}

#[test]
fn each_nic_twin_is_caught() {
    // A bit of a register is not kept.
    only::<TwinNicRegisters>("registers", &[]);
    // Parcels of queue 0 are not counted, in any traffic.
    only::<TwinNicSent>("traffic", &["gating"]);
    // An arrival interrupts also while it is not enabled.
    only::<TwinNicArrival>("interrupts", &[]);
    // The threshold of the receive FIFO is ignored.
    only::<TwinNicThreshold>("threshold", &[]);
    // A cycle less between packets.
    only::<TwinNicGap>("gap", &[]);
    // At rest while the gap is still counted.
    only::<TwinNicRest>("gating", &[]);
    // At rest before the other side has answered.
    only::<TwinNicRound>("stands", &[]);
    // A cause raised in the cycle that clears it is forgotten.
    only::<TwinNicForgets>("clears", &[]);
}
