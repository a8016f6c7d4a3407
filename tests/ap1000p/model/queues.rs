//! What enters the queues, what is refused, and what overflows.

use tsunagi::Addr;
use tsunagi::ap1000p::golden::queues::SIZES;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::Memory;

use super::both;
use super::faults::{Service, serve};
use super::rig::*;
use super::transfers::Transfer;

#[test]
fn stores_and_messages_that_are_refused() {
    both(2, 2, |rig| {
        let transfer = Transfer {
            words: 3,
            dest: 0x2_0000,
            source: 0x1_0000,
            dest_flag: FLAG,
            ..Transfer::default()
        };
        let command = transfer.to([1, 0]);
        // No page, no cell, too long, changed within.
        rig.store(0, KIND_CSI | PAGE_ROW_MASK, &[1]);
        rig.store(0, KIND_PUT, &transfer.to([2, 0]));
        rig.store(
            0,
            KIND_PUT,
            &Transfer {
                words: 1 << 20,
                ..transfer
            }
            .to([1, 0]),
        );
        rig.store(0, KIND_GET, &command[..5]);
        rig.store(0, KIND_PUT, &command);
        rig.settle();
        assert_eq!(rig.read(0, REFUSED_COUNT) & REFUSED_COUNT_COUNT_MASK, 4);
        // A user's range.
        rig.write(1, RANGE, 0);
        rig.store(1, KIND_PUT, &command);
        rig.store(1, KIND_PUT | PAGE_SYSTEM_MASK, &command);
        // A half command, beside the system's.
        rig.store(1, KIND_PUT, &command[..3]);
        rig.store(1, KIND_GET | PAGE_SYSTEM_MASK, &command);
        rig.settle();
        assert_eq!(rig.read(1, OPEN) & OPEN_USER_MASK, 3);
        rig.write(1, PEEK, 2);
        rig.pass(10);
        assert_eq!(rig.read(1, PEEK), transfer.dest);
        rig.write(1, DROP, DROP_USER_MASK);
        rig.pass(10);
        assert_eq!(rig.read(1, OPEN) & OPEN_USER_MASK, 0);
        // Direct pages: a message that is none, one that is too long, an acknowledgement of nothing.
        let direct = |rig: &mut dyn Rig, queue: u32, words: &[u32]| {
            let (last, words) = words.split_last().expect("a word");
            rig.store(2, PAGE_DIRECT_MASK | queue, words);
            rig.store(2, PAGE_DIRECT_MASK | PAGE_END_MASK | queue, &[*last]);
            rig.settle();
        };
        direct(rig, DIRECT_USER, &[7 << COMMAND_HEAD_KIND_SHIFT, 0]);
        direct(rig, DIRECT_USER, &[0; 17]);
        let made = |kind: u32| (PAGE_DIRECT_MASK | kind) << COMMAND_HEAD_KIND_SHIFT | 0x100;
        direct(rig, DIRECT_REMOTE_REPLY, &[made(MADE_STORE_ACK)]);
        // A remote store, and a load: what is loaded goes nowhere, and the store is acknowledged, which nobody counted.
        let word = 2 << PAGE_SIZE_SHIFT;
        direct(rig, DIRECT_ACCESS, &[made(MADE_STORE | word), 0x3_0000, 4711]);
        direct(rig, DIRECT_ACCESS, &[made(MADE_LOAD | word), 0x3_0000]);
        assert_eq!(rig.word(3, 0x3_0000), 4711);
        let stray = |acks: u32, loads: u32| acks << STRAY_COUNT_ACKS_SHIFT | loads << STRAY_COUNT_LOADS_SHIFT;
        assert_eq!(
            [2, 3].map(|cell| rig.read(cell, STRAY_COUNT)),
            [stray(1, 1), stray(1, 0)]
        );
        assert_eq!(
            [2, 3].map(|cell| rig.read(cell, CAUSE) & CAUSE_STRAY_MASK),
            [CAUSE_STRAY_MASK; 2]
        );
        // Too short, too long, outside.
        direct(rig, DIRECT_ACCESS, &[made(MADE_STORE | word), 0x3_0000]);
        direct(rig, DIRECT_ACCESS, &[made(MADE_LOAD | word), 0x3_0000, 0]);
        direct(rig, DIRECT_ACCESS, &[made(MADE_LOAD | word), 0x3_0001]);
    });
}

/// Commands that are complete while the queues pause enter when they no longer do.
#[test]
fn a_pause() {
    both(2, 1, |rig| {
        rig.write(0, MODE, MODE_PAUSE_MASK);
        let transfer = Transfer {
            dest_flag: FLAG,
            ..Transfer::default()
        };
        let before = rig.word(1, FLAG);
        rig.pass(10);
        rig.store(0, KIND_PUT, &transfer.to([1, 0]));
        rig.pass(1000);
        assert_eq!(rig.word(1, FLAG), before);
        assert_eq!(rig.read(0, STATUS) & STATUS_STABLE_MASK, STATUS_STABLE_MASK);
        rig.write(0, MODE, 0);
        rig.pass(5);
        rig.settle();
        assert_eq!(rig.word(1, FLAG), before.wrapping_add(1), "{}", rig.report());
    });
}

/// PUTs of a word each behind one that waits for its page, so that they overflow the queue.
const BEHIND: u32 = 30;

fn behind(number: u32) -> Transfer {
    Transfer {
        words: 1,
        dest: 0x2_0000 + 4 * number,
        dest_flag: FLAG,
        source: 0x1_0000 + 4 * number,
        ..Transfer::default()
    }
}

/// Stores them in cell 0, calls `spoil` on its memory before and after, then lets all go. Says which of them came to
/// cell 1.
fn overflow(rig: &mut dyn Rig, spoil: [fn(&mut Memory); 2]) -> Vec<u32> {
    let held = Transfer {
        words: 1,
        dest: 0x3_0000,
        source: SMALL + 0x1000,
        ..Transfer::default()
    };
    rig.store(0, KIND_PUT, &held.to([1, 0]));
    rig.pass(500);
    spoil[0](rig.memory(0));
    for number in 0..BEHIND {
        rig.store(0, KIND_PUT, &behind(number).to([1, 0]));
    }
    rig.pass(20_000);
    let status = rig.read(0, STATUS);
    let spilled = 1 << QUEUE_USER << STATUS_SPILLED_SHIFT;
    assert_eq!(
        status & (STATUS_SPILLED_MASK | STATUS_FULL_MASK | STATUS_FILL_MASK),
        spilled
    );
    let elements = rig.read(0, HELD);
    // The message that waits is back in the queue, or aside with words behind it: that is the controller's own matter.
    let most = (BEHIND + 1) * COMMAND_WORDS - SIZES[QUEUE_USER as usize];
    assert!((160..=most).contains(&elements), "{elements} elements");
    assert_eq!(rig.read(0, POSITION), elements);
    spoil[1](rig.memory(0));
    let before = rig.word(1, FLAG);
    serve(rig, 0, 0, FAULT_PAGE, held.source, Service::Map);
    rig.settle();
    assert_eq!((rig.read(0, HELD), rig.read(0, STATUS) & STATUS_SPILLED_MASK), (0, 0));
    let came = |rig: &mut dyn Rig, number: &u32| {
        let put = behind(*number);
        rig.word(1, put.dest) == rig.word(0, put.source)
    };
    let came: Vec<u32> = (0..BEHIND).filter(|number| came(rig, number)).collect();
    assert_eq!(rig.word(1, FLAG), before.wrapping_add(came.len() as u32));
    came
}

#[test]
fn what_overflows_the_queues_comes_back() {
    both(2, 1, |rig| {
        assert_eq!(overflow(rig, [|_| (), |_| ()]), (0..BEHIND).collect::<Vec<_>>());
    });
}

/// Eight elements are lost. Their places in the messages depend on how many the queue itself took, so they are of two
/// messages at most. All other messages come.
#[test]
fn messages_that_lose_words_to_the_memory_are_lost_alone() {
    const LOST: u32 = SPILL + 40 * SPILL_BYTES;
    const END: u32 = LOST + 8 * SPILL_BYTES;
    // It refuses them; it cannot read them; it has something else there.
    let spoils: [[fn(&mut Memory); 2]; 3] = [
        [|memory| memory.inject_fault(LOST..END), |memory| memory.clear_faults()],
        [|_| (), |memory| memory.inject_fault(LOST..END)],
        [
            |_| (),
            |memory| {
                for at in (LOST..END).step_by(SPILL_BYTES as usize) {
                    assert!(memory.write(Addr(at), &[0; 4]));
                }
            },
        ],
    ];
    for spoil in spoils {
        for rig in [
            &mut model(&config(2, 1)) as &mut dyn Rig,
            &mut rtl(&config(2, 1)) as &mut dyn Rig,
        ] {
            let came = overflow(rig, spoil);
            assert!((BEHIND - 2..BEHIND).contains(&(came.len() as u32)), "{came:?}");
            assert_eq!(rig.read(0, CAUSE), CAUSE_QUEUE_MASK);
            // And the next one is none the worse.
            rig.memory(0).clear_faults();
            rig.write(0, CAUSE, CAUSE_QUEUE_MASK);
            let (put, before) = (behind(BEHIND), rig.word(1, FLAG));
            rig.store(0, KIND_PUT, &put.to([1, 0]));
            rig.settle();
            assert_eq!(rig.word(1, FLAG), before.wrapping_add(1));
            assert_eq!(rig.word(1, put.dest), rig.word(0, put.source));
        }
    }
}

/// Registers that there are not, and those that cannot be written.
#[test]
fn registers_that_refuse() {
    for rig in [
        &mut model(&config(1, 1)) as &mut dyn Rig,
        &mut rtl(&config(1, 1)) as &mut dyn Rig,
    ] {
        for offset in (0..0x100).step_by(4) {
            let ring = matches!(offset, RING0_WRITE..0xec) && offset % 16 != 12;
            let reads = ring || !matches!(offset, 0x68 | 0x6c | 0x98 | 0x9c | 0xb0..ID);
            let writes = ring
                || matches!(
                    offset,
                    CELL..=MODE
                        | CAUSE
                        | ENABLE
                        | SERVE
                        | DEMAP
                        | DEMAP_ALL
                        | DROP
                        | PEEK
                        | RELEASE
                        | WTP_CACHE..=WTP_UPDATE
                );
            assert_eq!(rig.host(0, offset, None).1, !reads, "reading {offset:#x}");
            assert_eq!(rig.host(0, offset, Some(0)).1, !writes, "writing {offset:#x}");
        }
    }
}
