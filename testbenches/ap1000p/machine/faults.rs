//! Missing pages, and foreign contexts.

use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::{Direct as _, Machine, Remote};
use tsunagi::harness::memory::MemoryTiming;

use super::{CONTEXT, SLOW, TABLES, Transfer, arrived, entry, expect, machine, put_word, report, settle, word};

/// Logical address of a page of 16 MB that software enters and removes.
pub const AWAY: u32 = 0x0100_0000;

/// Enters that page, or removes it, with a demap.
pub fn enter(machine: &mut Machine, cell: usize, there: bool) {
    let page = entry(0, 4, ENTRY_PAGE) | 3 << TABLE_ACCESS_SHIFT;
    let at = TABLES + 0x4000 + 4 * (AWAY >> 24);
    put_word(&mut machine.nodes[cell].memory, at, if there { page } else { 0 });
    machine.write(cell, DEMAP_ALL, 0);
    while machine.read(cell, STATUS) & STATUS_DEMAP_MASK != 0 {}
}

/// The units that wait for software in a cell, as soon as one does.
pub fn faulted(machine: &mut Machine, cell: usize) -> u32 {
    for _ in 0..500 {
        machine.run(10);
        if machine.nodes[cell].irq {
            return machine.read(cell, FAULTS);
        }
    }
    panic!("no fault: {}", report(machine));
}

/// Serves a fault, and then clears its cause: until that, the interrupt stays.
pub fn serve(machine: &mut Machine, cell: usize, how: u32) {
    machine.write(cell, SERVE, how);
    machine.run(20);
    machine.write(cell, CAUSE, CAUSE_FAULT_MASK);
}

/// C27: a page is missing at the sender or at the receiver, which reports it. Software serves the fault, and the data
/// are exact; or it gives up, and no flag counts. The next transfer is unharmed.
#[test]
fn c27_page_faults() {
    let mut machine = machine(2, 1, SLOW);
    for cell in 0..2 {
        enter(&mut machine, cell, false);
    }
    for (who, cell) in [(0, 0), (2, 1)] {
        for give_up in [false, true] {
            let mut transfer = Transfer {
                words: 100,
                dest: 0x2_0000,
                dest_flag: 0x6_0000,
                source_flag: 0x6_0004,
                source: 0x1_0000,
                ..Transfer::default()
            };
            for at in (transfer.dest..transfer.dest + 400).step_by(4) {
                put_word(&mut machine.nodes[1].memory, at, 0x5555_5555);
            }
            let want = expect(&machine, 0, transfer);
            let flags = |machine: &Machine| [word(machine, 1, 0x6_0000), word(machine, 0, 0x6_0004)];
            let before = flags(&machine);
            let moved = if who == 0 {
                &mut transfer.source
            } else {
                &mut transfer.dest
            };
            *moved += AWAY;
            let command = transfer.words(&machine, 0, 1);
            machine.store(0, KIND_PUT, &command);
            assert_eq!(faulted(&mut machine, cell), 1 << who);
            let [why, at] = [WHY0, WHERE0].map(|offset| machine.read(cell, offset + 8 * who));
            assert_eq!(why & WHY0_REASON_MASK, FAULT_PAGE);
            assert_eq!(why >> WHY0_CONTEXT_SHIFT, u32::from(CONTEXT));
            assert_eq!(at & !0xfff, AWAY | if who == 0 { 0x1_0000 } else { 0x2_0000 });
            if give_up {
                machine.write(cell, SERVE, 1 << (SERVE_ABORT_SHIFT + who));
            } else {
                enter(&mut machine, cell, true);
                machine.write(cell, SERVE, 1 << (SERVE_RETRY_SHIFT + who));
            }
            assert!(machine.settle(20_000), "{}", report(&mut machine));
            let place = Transfer {
                dest: 0x2_0000,
                ..transfer
            };
            let counts: Vec<u32> = flags(&machine)
                .into_iter()
                .zip(before)
                .map(|(now, was)| now.wrapping_sub(was))
                .collect();
            if give_up {
                arrived(&machine, 1, place, &[0x5555_5555; 100]);
                // Before the receiver gives up, the sender has sent all.
                assert_eq!(counts, [0, u32::from(who == 2)]);
                assert_ne!(machine.read(1, BROKEN_COUNT), 0);
            } else {
                arrived(&machine, 1, place, &want);
                assert_eq!(counts, [1, 1]);
            }
            for cell in 0..2 {
                machine.write(cell, CAUSE, 0x3ff);
                machine.run(4);
                assert!(!machine.nodes[cell].irq, "{}", report(&mut machine));
                enter(&mut machine, cell, false);
            }
            // The next one is unharmed.
            let next = Transfer {
                dest: 0x2_1000,
                source: 0x1_1000,
                words: 30,
                ..Transfer::default()
            };
            let want = expect(&machine, 0, next);
            let command = next.words(&machine, 0, 1);
            machine.store(0, KIND_PUT, &command);
            settle(&mut machine, 20_000);
            arrived(&machine, 1, next, &want);
        }
    }
}

/// The lookups of a message that is put back: three words of tables, from the memory of `SLOW`.
const LOOKUPS: u64 = 3 * (12 + 4);

/// A word of another cell's memory.
fn load_of(cell: usize) -> Remote {
    Remote {
        cell,
        addr: 0x3_0000,
        registers: false,
        size: 2,
        write: None,
    }
}

/// Cycles that a PUT of cell 0's system takes to cell 1, and then a load.
fn system_and_load(machine: &mut Machine) -> [u64; 2] {
    let put = Transfer {
        words: 8,
        dest: 0x2_8000,
        dest_flag: 0x6_0004,
        source: 0x1_8000,
        ..Transfer::default()
    };
    let (start, before) = (machine.cycle(), word(machine, 1, 0x6_0004));
    let command = put.words(machine, 0, 1);
    machine.store(0, KIND_PUT | PAGE_SYSTEM_MASK, &command);
    while word(machine, 1, 0x6_0004) == before {
        assert!(machine.cycle() < start + 2_000, "{}", report(machine));
        machine.run(1);
    }
    let middle = machine.cycle();
    let want = word(machine, 1, 0x3_0000);
    assert_eq!(machine.remote(0, load_of(1), 1_000), Some(Some(want.into())));
    [middle - start, machine.cycle() - middle]
}

/// A user's page is missing at the sender, and nobody serves the fault: the system's PUT and a remote load pass, as
/// soon as without it. When the page has come, the user's PUTs arrive in order; or the first one is given up.
#[test]
fn a_users_fault_holds_no_other_queue() {
    const PUTS: u32 = 5;
    for gives_up in [false, true] {
        let mut machine = machine(2, 1, SLOW);
        enter(&mut machine, 0, false);
        system_and_load(&mut machine);
        let alone = system_and_load(&mut machine);
        let put = |number: u32| Transfer {
            words: 9,
            dest: 0x2_0000,
            dest_flag: 0x6_0000,
            source: AWAY | (0x1_0000 + 0x100 * number),
            ..Transfer::default()
        };
        let before = word(&machine, 1, 0x6_0000);
        for number in 0..PUTS {
            let command = put(number).words(&machine, 0, 1);
            machine.store(0, KIND_PUT, &command);
        }
        assert_eq!(faulted(&mut machine, 0), 1);
        for _ in 0..3 {
            let behind = system_and_load(&mut machine);
            let in_time = behind
                .iter()
                .zip(alone)
                .all(|(&behind, alone)| behind <= alone + LOOKUPS);
            assert!(in_time, "{behind:?} cycles, alone {alone:?}");
        }
        assert_eq!(machine.read(0, FAULTS), 1);
        assert_eq!(word(&machine, 1, 0x6_0000), before);

        if gives_up {
            machine.write(0, SERVE, 1 << SERVE_ABORT_SHIFT);
            machine.run(2_000);
            // The next one's.
            assert_eq!(machine.read(0, WHERE0), put(1).source);
        }
        enter(&mut machine, 0, true);
        machine.write(0, SERVE, 1 << SERVE_RETRY_SHIFT);
        assert!(machine.settle(20_000), "{}", report(&mut machine));
        let whole = PUTS - u32::from(gives_up);
        assert_eq!(word(&machine, 1, 0x6_0000), before.wrapping_add(whole));
        assert_eq!(machine.read(1, BROKEN_COUNT), u32::from(gives_up));
        let last = Transfer {
            source: put(PUTS - 1).source & !AWAY,
            ..put(PUTS - 1)
        };
        let want = expect(&machine, 0, last);
        arrived(&machine, 1, last, &want);
    }
}

/// The pages of a user's and of a system's PUT are missing. Each fault is shown, one after the other; both arrive.
#[test]
fn two_faults_are_shown_in_turn() {
    let mut machine = machine(2, 1, SLOW);
    enter(&mut machine, 0, false);
    let before = word(&machine, 1, 0x6_0000);
    let put = |number: u32| Transfer {
        words: 9,
        dest: 0x2_0000 + 0x100 * number,
        dest_flag: 0x6_0000,
        source: AWAY | (0x1_0000 + 0x1000 * number),
        ..Transfer::default()
    };
    for (number, page) in [KIND_PUT, KIND_PUT | PAGE_SYSTEM_MASK].into_iter().enumerate() {
        let command = put(number as u32).words(&machine, 0, 1);
        machine.store(0, page, &command);
    }
    machine.run(2_000);
    let mut shown = Vec::new();
    for _ in 0..4 {
        assert_eq!(faulted(&mut machine, 0), 1);
        // The same one until it is served.
        let at = machine.read(0, WHERE0);
        machine.run(200);
        assert_eq!(machine.read(0, WHERE0), at);
        shown.push(at);
        if shown.len() == 4 {
            enter(&mut machine, 0, true);
        }
        serve(&mut machine, 0, 1 << SERVE_RETRY_SHIFT);
    }
    assert!(machine.settle(20_000), "{}", report(&mut machine));
    let kinds = |number| shown.iter().filter(|&&at| at == put(number).source).count();
    assert!(kinds(0) > 0 && kinds(1) > 0, "{shown:x?}");
    assert_eq!(word(&machine, 1, 0x6_0000), before.wrapping_add(2));
}

/// A GET whose page is missing at the other cell, which does not serve the fault: a load from there is answered.
#[test]
fn a_fault_of_a_get_holds_no_load() {
    let mut machine = machine(2, 1, SLOW);
    enter(&mut machine, 0, false);
    let want = word(&machine, 0, 0x3_0000);
    let wait = |machine: &mut Machine| {
        let start = machine.cycle();
        assert_eq!(machine.remote(1, load_of(0), 1_000), Some(Some(want.into())));
        machine.cycle() - start
    };
    let alone = wait(&mut machine);
    let get = Transfer {
        words: 9,
        dest: 0x2_0000,
        dest_flag: 0x6_0000,
        source: AWAY | 0x1_0000,
        ..Transfer::default()
    };
    let before = word(&machine, 1, 0x6_0000);
    let command = get.words(&machine, 1, 0);
    machine.store(1, KIND_GET, &command);
    assert_eq!(faulted(&mut machine, 0), 2);
    let behind = wait(&mut machine);
    assert!(behind <= alone + LOOKUPS, "{behind} cycles, alone {alone}");
    enter(&mut machine, 0, true);
    machine.write(0, SERVE, 2 << SERVE_RETRY_SHIFT);
    assert!(machine.settle(20_000), "{}", report(&mut machine));
    assert_eq!(word(&machine, 1, 0x6_0000), before.wrapping_add(1));
}

/// C25: a context without tables has no access, on either side. A user does not leave the range. The others go on.
#[test]
fn c25_protection() {
    let mut machine = machine(2, 2, MemoryTiming::IDEAL);
    let context = tsunagi::ap1000p::regs::CONTEXT;
    let transfer = Transfer {
        words: 20,
        dest: 0x2_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let old: Vec<u32> = places(transfer.dest, 0, 20).map(|at| word(&machine, 3, at)).collect();
    machine.write(0, context, 9);
    let command = transfer.words(&machine, 0, 3);
    machine.store(0, KIND_PUT, &command);
    assert_eq!(faulted(&mut machine, 0), 1);
    assert_eq!(machine.read(0, WHY0) >> WHY0_CONTEXT_SHIFT, 9);
    // The user's other commands of this cell wait behind it. Those of other cells do not, nor do the replies to them.
    let other = Transfer {
        dest: 0x2_2000,
        ..transfer
    };
    let want = expect(&machine, 2, other);
    let put = other.words(&machine, 2, 0);
    machine.store(2, KIND_PUT, &put);
    let get = Transfer {
        dest: 0x2_4000,
        ..transfer
    };
    let command = get.words(&machine, 1, 0);
    machine.store(1, KIND_GET, &command);
    machine.run(1000);
    arrived(&machine, 0, other, &want);
    let got = expect(&machine, 0, get);
    arrived(&machine, 1, get, &got);
    machine.write(0, SERVE, 1 << SERVE_ABORT_SHIFT);
    assert!(machine.settle(5_000), "{}", report(&mut machine));
    arrived(&machine, 3, transfer, &old);

    // The hardware enters the context, and the system sets the range.
    for cell in 0..4 {
        machine.write(cell, CAUSE, 0x3ff);
    }
    machine.write(0, context, CONTEXT.into());
    machine.write(0, RANGE, 0x0100_0000);
    let forged = [command[0] & 0xffff, 9 << 20 | 20];
    let before = machine.read(0, REFUSED_COUNT) & 0xffff;
    for (words, page) in [
        ([forged[0], forged[1], 0, 0, 0, 0, 0, 0], KIND_PUT),
        (transfer.words(&machine, 0, 3), KIND_PUT),
        (
            {
                let mut words = transfer.words(&machine, 0, 3);
                words[0] = 0xff00;
                words
            },
            KIND_GET,
        ),
    ] {
        machine.store(0, page, &words);
    }
    assert!(machine.settle(5_000), "{}", report(&mut machine));
    // One command has a context; the cells of the others are outside the range.
    assert_eq!(machine.read(0, REFUSED_COUNT) & 0xffff, before + 3);
}
