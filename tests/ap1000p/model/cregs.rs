//! Communication registers, and what waits for them.

use tsunagi::ap1000p::regs::*;

use super::both;
use super::rig::*;
use super::transfers::Transfer;

#[test]
fn communication_registers() {
    both(2, 1, |rig| {
        let transfer = Transfer {
            words: 4,
            dest: 8 * 4,
            dest_flag: FLAG,
            source: 0x1_0000,
            ..Transfer::default()
        };
        let want = transfer.at_source(rig, 0);
        let before = rig.word(1, FLAG);
        assert_eq!(rig.creg(1, 10, Some(77)), Some(Some(0)), "an empty one is written");
        let page = KIND_PUT | PAGE_AS_RECEIVE_MASK;
        rig.store(0, page, &transfer.to([1, 0]));
        rig.pass(1000);
        assert_eq!(rig.word(1, FLAG), before, "register 10 is full");
        assert_eq!(rig.creg(1, 10, None), Some(Some(77)));
        for register in 8..12 {
            let word = want[usize::from(register) - 8];
            assert_eq!(rig.creg(1, register, None), Some(Some(word)));
        }
        rig.settle();
        assert_eq!(rig.word(1, FLAG), before.wrapping_add(1));
        // A read of an empty one is answered when it is filled.
        assert_eq!(rig.creg(1, 9, None), None);
        rig.store(0, page, &transfer.to([1, 0]));
        assert_eq!(rig.creg_answer(1), Some(Some(want[1])));
        // Where a conflict is a fault nothing waits: registers 8, 10 and 11 are full.
        rig.settle();
        rig.write(1, MODE, MODE_FAULT_HOST_MASK | MODE_FAULT_NET_MASK);
        rig.pass(10);
        assert_eq!(rig.creg(1, 9, None), Some(None));
        assert_eq!(rig.creg(1, 8, Some(1)), Some(None));
        rig.store(
            0,
            page,
            &Transfer {
                dest: 9 * 4,
                ..transfer
            }
            .to([1, 0]),
        );
        rig.settle();
        // Beyond the last.
        rig.store(
            0,
            page,
            &Transfer {
                dest: 126 * 4,
                ..transfer
            }
            .to([1, 0]),
        );
        rig.settle();
    });
}

/// A PUT or GET of registers waits for the last register, and shows nothing before. It ends early if it is not of
/// registers alone, or if a register is empty and may not wait.
#[test]
fn registers_as_the_source() {
    both(2, 1, |rig| {
        let transfer = Transfer {
            words: 5,
            dest: 0x2_0000,
            dest_flag: FLAG,
            source_flag: FLAG + 4,
            source: 8 * 4,
            source_stride: 1 << 24 | 3,
            ..Transfer::default()
        };
        let value = |register: u8| 0x0101_0101 * u32::from(register);
        let fill = |rig: &mut dyn Rig, cell, registers: &[u8]| {
            for &register in registers {
                assert_eq!(rig.creg(cell, register, Some(value(register))), Some(Some(0)));
            }
        };
        // A PUT of cell 0's, a GET of cell 1's to registers of cell 0.
        for (page, from, to) in [(KIND_PUT, 0, 1), (KIND_GET, 1, 0)] {
            fill(rig, from, &[8, 9, 11, 12]);
            let before = rig.word(to, FLAG);
            rig.store(0, page | PAGE_AS_SEND_MASK, &transfer.to([1, 0]));
            rig.pass(2000);
            assert_eq!(rig.word(to, FLAG), before, "register 10 is empty");
            fill(rig, from, &[10]);
            rig.settle();
            assert_eq!(rig.word(to, FLAG), before.wrapping_add(1), "{}", rig.report());
            let want: Vec<u32> = (8..13).map(value).collect();
            assert_eq!(transfer.at_dest(rig, to), want);
        }
        let spaces = PAGE_AS_SEND_MASK | PAGE_AS_RECEIVE_MASK;
        fill(rig, 1, &[20, 21, 22, 23, 24]);
        let between = Transfer {
            source: 20 * 4,
            dest: 60 * 4,
            ..transfer
        };
        rig.store(0, KIND_GET | spaces, &between.to([1, 0]));
        rig.settle();
        // Nothing of registers, not of registers alone.
        for (words, source) in [(0, 200 * 4), (5, 124 * 4), (1, 2), (129, 0)] {
            let wrong = Transfer {
                words,
                source,
                ..transfer
            };
            rig.store(0, KIND_PUT | PAGE_AS_SEND_MASK, &wrong.to([1, 0]));
            rig.settle();
            rig.store(0, KIND_GET | PAGE_AS_SEND_MASK, &wrong.to([1, 0]));
            rig.settle();
        }
        // Where a conflict is a fault.
        fill(rig, 0, &[8, 9]);
        rig.write(0, MODE, MODE_FAULT_NET_MASK);
        rig.pass(10);
        rig.store(0, KIND_PUT | PAGE_AS_SEND_MASK, &transfer.to([1, 0]));
        rig.settle();
    });
}
