//! Pages that are not there, addresses that are none of a word's, memory errors.

use tsunagi::ap1000p::regs::*;

use super::both;
use super::rig::*;
use super::transfers::Transfer;

/// What software does about a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    Map,
    GiveUp,
}

/// Serves the only fault of a cell: this unit shows it at this address. CAUSE is as before when all is done.
pub fn serve(rig: &mut dyn Rig, cell: usize, unit: u32, reason: u32, addr: u32, service: Service) {
    let start = rig.cycle();
    while rig.read(cell, FAULTS) == 0 {
        assert!(rig.cycle() < start + LONG, "no fault in cell {cell}: {}", rig.report());
    }
    rig.pass(5);
    assert_eq!(rig.read(cell, FAULTS), 1 << unit, "{}", rig.report());
    assert!(rig.irq(cell));
    let [why, at] = [WHY0, WHERE0].map(|offset| rig.read(cell, offset + unit * (WHY1 - WHY0)));
    assert_eq!(at, addr);
    assert_eq!(why & WHY0_REASON_MASK, reason, "{why:#x}");
    assert_eq!(why >> WHY0_CONTEXT_SHIFT, USER);
    assert_eq!(why & WHY0_WRITE_MASK != 0, unit >= 2, "{why:#x}");
    match service {
        Service::Map => {
            map(rig, cell, (addr - SMALL) >> 12, 3);
            rig.write(cell, SERVE, 1 << unit << SERVE_RETRY_SHIFT);
        }
        Service::GiveUp => rig.write(cell, SERVE, 1 << unit << SERVE_ABORT_SHIFT),
    }
    rig.pass(20);
    rig.write(cell, CAUSE, CAUSE_FAULT_MASK);
}

#[test]
fn faults_are_served_or_given_up() {
    for service in [Service::Map, Service::GiveUp] {
        both(2, 1, |rig| {
            // Of two pages the first is there.
            for cell in 0..2 {
                map(rig, cell, 0, 3);
                map(rig, cell, 5, 0);
            }
            let transfer = Transfer {
                words: 600,
                dest: 0x2_0000,
                dest_flag: FLAG,
                source_flag: FLAG + 4,
                source: SMALL + 0xc00,
                ..Transfer::default()
            };
            let next = SMALL + 0x1000;
            // 0: requests sent.
            rig.store(0, KIND_PUT, &transfer.to([1, 0]));
            serve(rig, 0, 0, FAULT_PAGE, next, service);
            rig.settle();
            // 2: requests received, with one behind that is not affected.
            let to_small = Transfer {
                dest: SMALL + 0x2c00,
                source: 0x1_0000,
                ..transfer
            };
            map(rig, 1, 2, 3);
            rig.store(0, KIND_PUT, &to_small.to([1, 0]));
            let behind = Transfer {
                dest: 0x3_0000,
                ..to_small
            };
            rig.store(0, KIND_PUT, &behind.to([1, 0]));
            serve(rig, 1, 2, FAULT_PAGE, SMALL + 0x3000, service);
            rig.settle();
            // 1: replies sent, 3: replies received.
            let get = Transfer {
                source: SMALL + 0x4000,
                ..transfer
            };
            rig.store(0, KIND_GET, &get.to([1, 0]));
            serve(rig, 1, 1, FAULT_PAGE, SMALL + 0x4000, service);
            rig.settle();
            let get = Transfer {
                source: 0x1_0000,
                dest: SMALL + 0x7000,
                ..transfer
            };
            rig.store(0, KIND_GET, &get.to([1, 0]));
            serve(rig, 0, 3, FAULT_PAGE, SMALL + 0x7000, service);
            rig.settle();
            // 4: a flag on a page that may only be read.
            let flag = Transfer {
                words: 3,
                dest: 0x2_0000,
                dest_flag: SMALL + 0x5000,
                source: 0x1_0000,
                ..Transfer::default()
            };
            rig.store(0, KIND_PUT, &flag.to([1, 0]));
            // What is changed must be forgotten first: here that it may be read.
            let start = rig.cycle();
            while rig.read(1, FAULTS) == 0 {
                assert!(rig.cycle() < start + LONG, "{}", rig.report());
            }
            rig.write(1, DEMAP, SMALL + 0x5000);
            serve(rig, 1, 4, FAULT_ACCESS, SMALL + 0x5000, service);
            rig.settle();
            // A send flag.
            let flag = Transfer {
                source_flag: SMALL + 0x6000,
                dest_flag: FLAG,
                ..flag
            };
            rig.store(0, KIND_PUT, &flag.to([1, 0]));
            serve(rig, 0, 4, FAULT_PAGE, SMALL + 0x6000, service);
            rig.settle();
        });
    }
}

/// A broadcast to all: the data of the first column have no page, those of the others have one. The others get their
/// data, and the send flag stands.
#[test]
fn the_flag_of_a_broadcast_counts_for_all_columns_or_not() {
    for services in [[Service::GiveUp, Service::Map], [Service::Map, Service::Map]] {
        both(3, 1, |rig| {
            let transfer = Transfer {
                words: 4,
                dest: 0x2_0000,
                dest_flag: FLAG,
                source_flag: FLAG + 4,
                source: SMALL + 0x1000,
                ..Transfer::default()
            };
            let given_up = services[0] == Service::GiveUp;
            let before: Vec<u32> = (0..3).map(|cell| rig.word(cell, FLAG)).collect();
            let sent = rig.word(0, FLAG + 4);
            rig.store(0, KIND_PUT | PAGE_ROW_MASK | PAGE_COLUMN_MASK, &transfer.to([0, 0]));
            for &service in &services[..1 + usize::from(given_up)] {
                serve(rig, 0, 0, FAULT_PAGE, SMALL + 0x1000, service);
            }
            rig.settle();
            for (cell, before) in before.into_iter().enumerate() {
                let came = u32::from(!given_up || cell > 0);
                assert_eq!(rig.word(cell, FLAG), before.wrapping_add(came), "cell {cell}");
            }
            let counts = u32::from(!given_up);
            assert_eq!(rig.word(0, FLAG + 4), sent.wrapping_add(counts));
        });
    }
}

/// Addresses that are none of a word's can only be given up.
#[test]
fn addresses_that_are_not_of_words() {
    both(2, 1, |rig| {
        let good = Transfer {
            words: 5,
            dest: 0x2_0000,
            source: 0x1_0000,
            dest_flag: FLAG,
            source_flag: FLAG + 4,
            ..Transfer::default()
        };
        for (cell, unit, addr, transfer) in [
            (
                0,
                0,
                0x1_0002,
                Transfer {
                    source: 0x1_0002,
                    ..good
                },
            ),
            (1, 2, 0x2_0001, Transfer { dest: 0x2_0001, ..good }),
            (
                1,
                4,
                FLAG + 3,
                Transfer {
                    dest_flag: FLAG + 3,
                    ..good
                },
            ),
            (
                0,
                4,
                FLAG + 1,
                Transfer {
                    source_flag: FLAG + 1,
                    ..good
                },
            ),
        ] {
            rig.store(0, KIND_PUT, &transfer.to([1, 0]));
            serve(rig, cell, unit, FAULT_ALIGN, addr, Service::GiveUp);
            rig.settle();
        }
        rig.store(0, KIND_CSI, &[0x100, 1, 0x3_0000, 0, FLAG, 0x4_0002, 1, 2]);
        serve(rig, 1, 4, FAULT_ALIGN, 0x4_0002, Service::GiveUp);
        rig.settle();
    });
}

#[test]
fn memory_errors() {
    both(2, 1, |rig| {
        let transfer = Transfer {
            words: 20,
            dest: 0x2_0000,
            source: 0x1_0000,
            dest_flag: FLAG,
            source_flag: FLAG + 4,
            ..Transfer::default()
        };
        // One at a time.
        for (cell, addr) in [(0, 0x1_0010), (1, 0x2_0010), (1, FLAG), (0, FLAG + 4)] {
            rig.memory(cell).inject_fault(addr..addr + 4);
            rig.store(0, KIND_PUT, &transfer.to([1, 0]));
            rig.settle();
            rig.memory(cell).clear_faults();
        }
    });
}
