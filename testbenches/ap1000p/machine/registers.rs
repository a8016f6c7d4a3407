//! Communication registers.

use tsunagi::ap1000p::golden::creg::Access;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::{Direct as _, Machine};
use tsunagi::harness::memory::MemoryTiming;

use super::{SLOW, Transfer, arrived, expect, machine, report, settle, word};

/// C20, remote: a PUT to communication registers fills them, and waits for a full one.
#[test]
fn c20_registers_from_afar() {
    let mut machine = machine(2, 1, MemoryTiming::IDEAL);
    let transfer = Transfer {
        words: 4,
        dest: 8 * 4,
        dest_flag: 0x6_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let want = expect(&machine, 0, transfer);
    let before = word(&machine, 1, 0x6_0000);
    let write = Access {
        addr: 10,
        write: Some(77),
    };
    assert!(
        matches!(machine.access(1, write, 20), Some(Some(_))),
        "an empty one is written"
    );
    let command = transfer.words(&machine, 0, 1);
    machine.store(0, KIND_PUT | PAGE_AS_RECEIVE_MASK, &command);
    machine.run(500);
    assert_eq!(word(&machine, 1, 0x6_0000), before, "register 10 is full");
    let read = |machine: &mut Machine, register| {
        machine.access(
            1,
            Access {
                addr: register,
                write: None,
            },
            200,
        )
    };
    assert_eq!(read(&mut machine, 10), Some(Some(77)));
    for register in 8..12 {
        assert_eq!(
            read(&mut machine, register),
            Some(Some(want[usize::from(register) - 8]))
        );
    }
    settle(&mut machine, 500);
    assert_eq!(word(&machine, 1, 0x6_0000), before.wrapping_add(1));
}

/// Writes an empty register.
pub fn fill_register(machine: &mut Machine, cell: usize, register: u8, word: u32) {
    let write = Some(word);
    let answer = machine.access(cell, Access { addr: register, write }, 50);
    assert!(matches!(answer, Some(Some(_))), "{register} is empty");
}

/// These registers are empty, and remain so.
fn empty(machine: &mut Machine, cell: usize, registers: std::ops::Range<u8>) {
    for register in registers {
        fill_register(machine, cell, register, 7);
        assert_eq!(
            machine.access(
                cell,
                Access {
                    addr: register,
                    write: None
                },
                50
            ),
            Some(Some(7)),
            "{register}"
        );
    }
}

/// C20, as the source: a PUT of registers waits as a whole until the last of them is full, and leaves them empty.
/// Replies pass meanwhile.
#[test]
fn c20_registers_as_the_source() {
    let mut machine = machine(2, 1, SLOW);
    let transfer = Transfer {
        words: 6,
        dest: 0x2_0000,
        // Registers have no stride.
        source_stride: 2 << 24 | 9,
        dest_flag: 0x6_0000,
        source_flag: 0x6_0004,
        source: 8 * 4,
        ..Transfer::default()
    };
    let value = |register: u8| 0x1111 * u32::from(register);
    let flags = |machine: &Machine| [word(machine, 1, 0x6_0000), word(machine, 0, 0x6_0004)];
    let before = flags(&machine);
    for register in [8, 9, 11, 12, 13] {
        fill_register(&mut machine, 0, register, value(register));
    }
    let command = transfer.words(&machine, 0, 1);
    machine.store(0, KIND_PUT | PAGE_AS_SEND_MASK, &command);
    machine.run(500);
    assert_eq!((machine.sent(0), flags(&machine)), (0, before), "register 10 is empty");
    // The cell replies to a GET.
    let get = Transfer {
        words: 10,
        dest: 0x3_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let want = expect(&machine, 0, get);
    let ask = get.words(&machine, 1, 0);
    machine.store(1, KIND_GET, &ask);
    machine.run(500);
    arrived(&machine, 1, get, &want);
    fill_register(&mut machine, 0, 10, value(10));
    settle(&mut machine, 1000);
    let want: Vec<u32> = (8..14).map(value).collect();
    arrived(&machine, 1, transfer, &want);
    assert_eq!(flags(&machine), before.map(|was| was.wrapping_add(1)));
    empty(&mut machine, 0, 8..14);

    // All 128, by a GET from registers to registers, and back by a PUT.
    for register in 0..128 {
        fill_register(&mut machine, 1, register, value(register));
    }
    let all = Transfer {
        words: 128,
        dest: 0,
        source: 0,
        ..transfer
    };
    let spaces = PAGE_AS_SEND_MASK | PAGE_AS_RECEIVE_MASK;
    let command = all.words(&machine, 0, 1);
    machine.store(0, KIND_GET | spaces, &command);
    settle(&mut machine, 5000);
    empty(&mut machine, 1, 0..128);
    let back = Transfer { dest: 0x2_1000, ..all };
    let command = back.words(&machine, 0, 0);
    machine.store(0, KIND_PUT | PAGE_AS_SEND_MASK, &command);
    settle(&mut machine, 5000);
    arrived(&machine, 0, back, &(0..128).map(value).collect::<Vec<_>>());
    empty(&mut machine, 0, 0..128);
}

/// Registers that do not exist, and an empty one where that is a fault: both sides report it, and no flag counts. The
/// next transfer is unharmed.
#[test]
fn c20_registers_that_cannot_be_sent() {
    let mut machine = machine(2, 1, SLOW);
    let transfer = Transfer {
        words: 4,
        dest: 0x2_0000,
        dest_flag: 0x6_0000,
        source_flag: 0x6_0004,
        source: 20 * 4,
        ..Transfer::default()
    };
    let flags = |machine: &Machine| [word(machine, 1, 0x6_0000), word(machine, 0, 0x6_0004)];
    let before = flags(&machine);
    let old = expect(
        &machine,
        1,
        Transfer {
            source: 0x2_0000,
            ..transfer
        },
    );
    for (number, (words, source)) in [(4, 125 * 4), (4, 20 * 4 + 2), (129, 0), (1, 0x1_0000), (4, 20 * 4)]
        .into_iter()
        .enumerate()
    {
        let faults = number == 4;
        if faults {
            // The PUT begins to wait. Then that becomes a fault.
            fill_register(&mut machine, 0, 20, 1);
            fill_register(&mut machine, 0, 21, 2);
        }
        let wrong = Transfer {
            words,
            source,
            ..transfer
        };
        let command = wrong.words(&machine, 0, 1);
        machine.store(0, KIND_PUT | PAGE_AS_SEND_MASK, &command);
        if faults {
            machine.run(300);
            assert_ne!(machine.read(0, STATUS) & STATUS_BUSY_MASK, 0);
            machine.write(0, MODE, MODE_FAULT_NET_MASK);
        }
        assert!(machine.settle(2000), "{}", report(&mut machine));
        assert_eq!(machine.read(0, CAUSE), CAUSE_CUT_MASK, "{wrong:x?}");
        assert_eq!(machine.read(1, CAUSE), CAUSE_BROKEN_MASK, "{wrong:x?}");
        assert_eq!(machine.read(1, OPEN) >> OPEN_WHY_SHIFT & 0xf, BROKEN_SHORT);
        assert_eq!(machine.read(1, BROKEN_COUNT) & 0xffff, number as u32 + 1);
        assert_eq!(flags(&machine), before);
        for cell in 0..2 {
            machine.write(cell, CAUSE, 0x3ff);
        }
    }
    // The full registers of the last one have arrived, and no word of the others.
    arrived(&machine, 1, transfer, &[1, 2, old[2], old[3]]);
    for register in 20..24 {
        fill_register(&mut machine, 0, register, register.into());
    }
    let command = transfer.words(&machine, 0, 1);
    machine.store(0, KIND_PUT | PAGE_AS_SEND_MASK, &command);
    settle(&mut machine, 1000);
    arrived(&machine, 1, transfer, &[20, 21, 22, 23]);
    assert_eq!(flags(&machine), before.map(|was| was.wrapping_add(1)));
}
