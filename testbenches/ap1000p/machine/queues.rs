//! Full queues: block mode, no spill region, and a region that a user has filled.

use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::{Direct as _, Machine, Remote};

use super::faults::{AWAY, enter, faulted};
use super::registers::fill_register;
use super::{SLOW, SPILL, Transfer, arrived, expect, machine, report, settle, word};

/// MODE.BLOCK: a full queue stops the processor, and no word is spilled. Without it the same words are spilled.
#[test]
fn block_mode_spills_nothing() {
    const COMMANDS: u32 = 40;
    for block in [true, false] {
        let mut machine = machine(2, 1, SLOW);
        machine.write(0, MODE, if block { MODE_BLOCK_MASK } else { 0 });
        let count = word(&machine, 1, 0x6_0000);
        let put = Transfer {
            words: 1,
            dest: 0x2_0000,
            dest_flag: 0x6_0000,
            ..Transfer::default()
        };
        // Register 0 is empty: this command holds up the sender.
        let command = put.words(&machine, 0, 1);
        machine.store(0, KIND_PUT | PAGE_AS_SEND_MASK, &command);
        let command = Transfer {
            source: 0x1_0000,
            ..put
        }
        .words(&machine, 0, 1);
        for _ in 0..COMMANDS {
            machine.store(0, KIND_PUT, &command);
        }
        machine.run(3000);
        let status = machine.read(0, STATUS);
        let [spilled, told] = [STATUS_SPILLED_MASK, STATUS_FILL_MASK | STATUS_FULL_MASK].map(|mask| status & mask);
        let held = machine.read(0, HELD);
        // 64 words fit, beside the commands in the sender and before it.
        assert_eq!((held == 0, spilled == 0), (block, block), "{status:x}");
        let stalls = machine.stalls(0);
        machine.run(100);
        let waits = machine.stalls(0) - stalls;
        assert_eq!(waits, if block { 100 } else { 0 });
        assert!(block || held >= COMMANDS * 8 - 64 - 3 * 8, "{held}");
        assert_eq!((told, machine.nodes[0].irq), (0, false), "{status:x}");
        // In the end all is sent, and the region is empty.
        fill_register(&mut machine, 0, 0, 5);
        settle(&mut machine, 50_000);
        assert_eq!(word(&machine, 1, 0x6_0000), count.wrapping_add(COMMANDS + 1));
        assert_eq!(machine.read(0, STATUS), 0);
        assert_eq!(machine.read(0, HELD), 0);
    }
}

/// Two cells without a spill region send each other more GETs than their queues hold. Requests fill both queues, and
/// the receivers wait for room for their replies. All GETs end.
#[test]
fn all_is_answered_without_a_region() {
    const GETS: u32 = 60;
    let mut machine = machine(2, 1, SLOW);
    let get = |number: u32| Transfer {
        words: 40,
        dest: 0x2_0000 + 0x100 * number,
        dest_flag: 0x6_0000,
        source: 0x1_0000 + 0x100 * number,
        ..Transfer::default()
    };
    let before = [0, 1].map(|cell| word(&machine, cell, 0x6_0000));
    for cell in 0..2 {
        machine.write(cell, SPILL_REGION, SPILL);
        for number in 0..GETS {
            let command = get(number).words(&machine, cell, 1 - cell);
            machine.store(cell, KIND_GET, &command);
        }
    }
    settle(&mut machine, 200_000);
    for (cell, before) in before.into_iter().enumerate() {
        for number in 0..GETS {
            let want = expect(&machine, 1 - cell, get(number));
            arrived(&machine, cell, get(number), &want);
        }
        assert_eq!(word(&machine, cell, 0x6_0000), before.wrapping_add(GETS));
    }
}

/// A page fault, which no software serves, holds the user's queue of cell 0. Its user has stored `puts` PUTs of a word
/// to cell 1, so that queues and spill region are full and the processor stands. Returns the flag before the PUTs, too.
fn behind_a_fault(region: u32, puts: u32) -> (Machine, u32) {
    let mut machine = machine(2, 1, SLOW);
    enter(&mut machine, 0, false);
    machine.write(0, SPILL_REGION, region);
    let put = Transfer {
        words: 1,
        dest: 0x2_0000,
        dest_flag: 0x6_0000,
        source: AWAY | 0x1_0000,
        ..Transfer::default()
    };
    let before = word(&machine, 1, 0x6_0000);
    let command = put.words(&machine, 0, 1);
    for _ in 0..puts {
        machine.store(0, KIND_PUT, &command);
    }
    assert_eq!(faulted(&mut machine, 0), 1);
    machine.run(5000);
    let stalls = machine.stalls(0);
    machine.run(100);
    assert_eq!(machine.stalls(0) - stalls, 100, "the user finds room");
    (machine, before)
}

/// A fault holds the user's queue, requests wait behind it up to the processor, and no word is spilled. The cell
/// replies to GETs and loads as ever.
#[test]
fn a_fault_holds_no_reply() {
    const PUTS: u32 = 20;
    let (mut machine, before) = behind_a_fault(SPILL, PUTS);
    for number in 0..20 {
        let get = Transfer {
            words: 30,
            dest: 0x3_0000 + 0x100 * number,
            source: 0x1_0000 + 0x100 * number,
            ..Transfer::default()
        };
        let want = expect(&machine, 0, get);
        let command = get.words(&machine, 1, 0);
        machine.store(1, KIND_GET, &command);
        machine.run(500);
        arrived(&machine, 1, get, &want);
    }
    let load = Remote {
        cell: 0,
        addr: 0x1_0000,
        registers: false,
        size: 2,
        write: None,
    };
    assert_eq!(
        machine.remote(1, load, 500),
        Some(Some(word(&machine, 0, 0x1_0000).into()))
    );

    enter(&mut machine, 0, true);
    machine.write(0, SERVE, 1 << SERVE_RETRY_SHIFT);
    assert!(machine.settle(20_000), "{}", report(&mut machine));
    assert_eq!(word(&machine, 1, 0x6_0000), before.wrapping_add(PUTS));
}

/// The same with a region, of which the user has filled its half. The processor stands, after a report. The other half
/// is free, and the cell replies to 40 GETs at once.
#[test]
fn a_users_overflow_holds_no_reply() {
    const PUTS: u32 = 100;
    let (mut machine, before) = behind_a_fault(SPILL | 1 << SPILL_REGION_LIMIT_SHIFT, PUTS);
    let held = machine.read(0, HELD);
    assert!((SPILL_UNIT / 2 - 1..=SPILL_UNIT / 2).contains(&held), "{held} elements");
    assert_ne!(machine.read(0, CAUSE) & CAUSE_FULL_MASK, 0);

    let get = |number: u32| Transfer {
        words: 30,
        dest: 0x3_0000 + 0x100 * number,
        source: 0x1_0000 + 0x100 * number,
        ..Transfer::default()
    };
    for number in 0..40 {
        let command = get(number).words(&machine, 1, 0);
        machine.store(1, KIND_GET, &command);
    }
    machine.run(10_000);
    for number in 0..40 {
        let want = expect(&machine, 0, get(number));
        arrived(&machine, 1, get(number), &want);
    }
    assert_eq!(machine.read(0, HELD), held);

    enter(&mut machine, 0, true);
    machine.write(0, SERVE, 1 << SERVE_RETRY_SHIFT);
    assert!(machine.settle(50_000), "{}", report(&mut machine));
    assert_eq!(word(&machine, 1, 0x6_0000), before.wrapping_add(PUTS));
}
