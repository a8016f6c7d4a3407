//! Remote loads and stores.

use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::{Direct as _, Machine, Remote};
use tsunagi::harness::memory::MemoryTiming;

use super::{SLOW, Transfer, machine, settle, word};

/// C15, C16, C18: remote loads and stores of each size, in a wide machine and in a high one. The counter returns to 0
/// when the stores are done.
#[test]
fn c15_remote_accesses() {
    for [columns, rows] in [[3, 2], [2, 3]] {
        remote_accesses(columns, rows);
    }
}

fn remote_accesses(columns: usize, rows: usize) {
    let mut machine = machine(columns, rows, SLOW);
    for to in 0..columns * rows {
        for size in 0..4_u8 {
            for number in 0..8 >> size {
                let addr = 0x2_0000 + 0x40 * u32::from(size) + (number << size);
                let lanes = 8 * (addr & if size == 3 { 0 } else { 3 });
                let old = |machine: &Machine| {
                    let low = u64::from(word(machine, to, addr & !3));
                    if size == 3 {
                        low | u64::from(word(machine, to, addr + 4)) << 32
                    } else {
                        low
                    }
                };
                let remote = Remote {
                    cell: to,
                    addr,
                    registers: false,
                    size,
                    write: None,
                };
                let before = old(&machine);
                assert_eq!(machine.remote(1, remote, 500), Some(Some(before)), "{remote:x?}");

                let bytes = u64::MAX >> (64 - (8 << size));
                let value = 0x0123_4567_89ab_cdef ^ before;
                let store = Remote {
                    write: Some(value),
                    ..remote
                };
                assert_eq!(machine.remote(1, store, 20), Some(Some(0)));
                let mut waited = 0;
                while machine.read(1, ACKS) != 0 {
                    waited += 1;
                    assert!(waited < 500, "{store:x?} is not acknowledged");
                }
                let mask = bytes << lanes;
                assert_eq!(old(&machine), before & !mask | value & mask, "{store:x?}");
            }
        }
    }
    settle(&mut machine, 1000);
}

/// C17: a remote load overtakes the commands in the user's queue. It waits for three transfers at most: one on its way
/// out, one that is read, one that was chosen. It may also wait for the eight words of a command that was chosen when
/// `ap1000p_broadcast` took the end of the one before.
#[test]
fn c17_load_overtakes() {
    let mut machine = machine(2, 1, MemoryTiming::IDEAL);
    let load = Remote {
        cell: 1,
        addr: 0x3_0000,
        registers: false,
        size: 2,
        write: None,
    };
    let mut waits = [0; 2];
    for (queued, wait) in [0, 60].into_iter().zip(&mut waits) {
        let put = Transfer {
            words: 32,
            dest: 0x2_0000,
            source: 0x1_0000,
            ..Transfer::default()
        };
        let command = put.words(&machine, 0, 1);
        for _ in 0..queued {
            machine.store(0, KIND_PUT, &command);
        }
        machine.run(16 * queued + 20);
        let start = machine.cycle();
        assert_eq!(
            machine.remote(0, load, 1000),
            Some(Some(word(&machine, 1, 0x3_0000).into()))
        );
        *wait = machine.cycle() - start;
        if queued > 0 {
            // The last PUT is not sent yet.
            assert!(!machine.at_rest());
        }
        settle(&mut machine, 50_000);
    }
    assert!(waits[1] <= waits[0] + 3 * (32 + 6) + 8, "{waits:?}");
}

/// Illegal accesses: addresses that are misaligned or beyond memory, and a register that does not exist.
#[test]
fn refused_accesses() {
    let mut machine = machine(2, 2, MemoryTiming::IDEAL);
    let load = Remote {
        cell: 3,
        addr: 0x2_0000,
        registers: false,
        size: 2,
        write: None,
    };
    let wrong = [
        Remote { addr: 0x2_0002, ..load },
        Remote {
            addr: 0x2_0004,
            size: 3,
            ..load
        },
        Remote {
            addr: 0xffff_fffc,
            ..load
        },
        Remote {
            addr: 128 * 4,
            registers: true,
            ..load
        },
    ];
    for remote in wrong {
        assert_eq!(machine.remote(0, remote, 500), Some(None), "{remote:x?}");
        let store = Remote {
            write: Some(5),
            ..remote
        };
        assert_eq!(machine.remote(0, store, 500), Some(Some(0)), "{store:x?}");
        machine.run(300);
        assert_eq!(machine.read(0, ACKS), 0, "{store:x?}");
        assert!(machine.nodes[0].irq || machine.nodes[3].irq, "{remote:x?} is told");
        for cell in [0, 3] {
            machine.write(cell, CAUSE, 0x3ff);
            machine.run(4);
        }
    }
    assert_eq!(
        machine.remote(0, load, 500),
        Some(Some(word(&machine, 3, 0x2_0000).into()))
    );
}
