//! Broken twins of the Sender and the Receiver: each differs from its unit in one line, is caught by its own check, and passes all
//! the others.

use testbenches::rtl::*;
use tsunagi::Cycle;
use tsunagi::cenju3::lockstep::Mismatch;
use tsunagi::cenju3::regs::PARCEL_BODY_MAX;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Case;
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;

use crate::receiver::{Faults, HALTS, Receiver, fault};
use crate::rig::SLOW;
use crate::sender::Sender;
use crate::{STARTS, receiver, sender};

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
    let case = |name: String| Case::new("cenju3", "twins::each_sender_twin_is_caught_by_its_own_check", name);
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
    let rate = sender::stream::<U>(&case("rate".into()), STARTS[0], &Probe::default(), 1, PARCEL_BODY_MAX);
    found.push(rate.and_then(full_rate));
    found
}

/// The checks of a Receiver: good packets without and with halts, bad ones, refused writes, rate.
fn of_receiver<U: Receiver>() -> Found {
    let case = |name: String| Case::new("cenju3", "twins::each_receiver_twin_is_caught_by_its_own_check", name);
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
    let rate = receiver::stream::<U>(&case("rate".into()), STARTS[0], &Probe::default(), late, 64);
    found.push(rate.and_then(full_rate));
    found
}

/// Something was found, and nothing but this: a mismatch of `field` that tells of `what`.
fn caught(found: Found, field: &str, what: &str) {
    let faults: Vec<Mismatch> = found.into_iter().filter_map(Result::err).collect();
    assert!(!faults.is_empty(), "nobody says {field} {what}");
    for fault in faults {
        assert!(
            fault.field == field && fault.got.contains(what),
            "{fault}: not {field} {what}"
        );
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
fn each_sender_twin_is_caught_by_its_own_check() {
    // ARR and END on every packet of a parcel.
    caught(of_sender::<TwinSenderFlags>(), "route flit", "");
    // All packets of a parcel to the address of the first.
    caught(of_sender::<TwinSenderDest>(), "packet header", "");
    // Queue 1 before queue 0.
    caught(of_sender::<TwinSenderPriority>(), "priority", "");
    // The next packet chosen when there is room for its command, not when the reader comes to it.
    caught(of_sender::<TwinSenderEarly>(), "wait", "");
    // The status of a refused parcel not in its own header.
    caught(of_sender::<TwinSenderStatus>(), "write", "");
    // The next packet asked for only when the one before is out.
    caught(of_sender::<TwinSenderRate>(), "rate", "");
}

#[test]
fn each_receiver_twin_is_caught_by_its_own_check() {
    // The body written before the arrival interrupt.
    caught(of_receiver::<TwinReceiverArrival>(), "write", "");
    // The end interrupt before the last response.
    caught(of_receiver::<TwinReceiverEnd>(), "inside", "Raised(End)");
    // PUT moved when the header is in memory, not the body.
    caught(of_receiver::<TwinReceiverPublish>(), "inside", "Put");
    // A further packet taken while halted.
    caught(of_receiver::<TwinReceiverHalted>(), "halt", "");
    // A truncated packet published.
    caught(of_receiver::<TwinReceiverTruncated>(), "inside", "Put");
    // The header behind a refused packet written once more where it was.
    caught(of_receiver::<TwinReceiverAgain>(), "write", "");
    // A refused header forgotten when it is written once more.
    caught(of_receiver::<TwinReceiverRefused>(), "inside", "Put");
}
