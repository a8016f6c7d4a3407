//! Messages for ring buffers: into all sets, over a ring's end, without a ring, without room, and bad ones.

use tsunagi::ap1000p::golden::ring::{Ring, slots};
use tsunagi::ap1000p::regs::*;

use super::both;
use super::faults::{Service, serve};
use super::rig::*;
use super::transfers::Transfer;

/// Rings of 128 KB in each cell.
const HERE: u32 = 0x2_0000;
const OTHER: u32 = 0x4_0000;

fn set_ring(rig: &mut dyn Rig, cell: usize, set: u32, ring: Ring) {
    let at = set * (RING1_WRITE - RING0_WRITE);
    rig.write(cell, RING0_WRITE + at, ring.write);
    rig.write(cell, RING0_READ + at, ring.read);
    rig.write(cell, RING0_MODE + at, ring.mode());
}

fn ring(context: u32, base: u32, write: u32, read: u32) -> Ring {
    Ring {
        on: true,
        size: RING_SIZE_128K,
        context: context as u16,
        write: base / RING_BYTES + write,
        read,
    }
}

/// The command of a message with so many words of data from the first page.
fn command(distance: [i32; 2], words: u32, flag: u32) -> [u32; 8] {
    let head = Transfer::default().to(distance)[0];
    let source = 0x1_0004 + 0x40 * words;
    [head, words, flag, flag, source, 0, 0x1000_0000 | words, !words]
}

const PAGE: u32 = KIND_PUT | PAGE_SEND_MASK;

fn send(rig: &mut dyn Rig, words: u32, flag: u32) {
    rig.store(0, PAGE, &command([1, 0], words, flag));
}

fn next(rig: &mut dyn Rig) -> u32 {
    rig.read(1, RING0_WRITE)
}

#[test]
fn messages_go_into_the_ring_of_their_context() {
    both(2, 1, |rig| {
        for cell in 0..2 {
            let tables = rig.word(cell, TABLES + 4 * USER);
            rig.set_word(cell, TABLES + 4 * 6, tables);
            set_ring(rig, cell, 2, ring(USER, HERE, 4090, 4090));
            set_ring(rig, cell, 0, ring(6, OTHER, 0, 0));
            // It has the context, but is off.
            set_ring(
                rig,
                cell,
                1,
                Ring {
                    on: false,
                    ..ring(USER, OTHER, 100, 100)
                },
            );
        }
        // The header is a slot's first two words; then data, rounded up; over the end.
        let mut slot = 4090;
        let flag = rig.word(1, FLAG);
        for words in [0, 1, 6, 7, 40, 300] {
            send(rig, words, FLAG);
            rig.settle();
            let at = |word: u32| HERE + (slot * RING_BYTES + 4 * word) % 0x2_0000;
            let header = [0, 1].map(|word| rig.word(1, at(word)));
            assert_eq!(header, [0x1000_0000 | words, !words]);
            for word in 0..words {
                let source = rig.word(0, 0x1_0004 + 0x40 * words + 4 * word);
                assert_eq!(rig.word(1, at(2 + word)), source, "word {word} of {words}");
            }
            slot = (slot + slots(words)) % 4096;
            assert_eq!(rig.read(1, RING2_WRITE), HERE / RING_BYTES + slot);
        }
        assert_eq!(rig.word(1, FLAG), flag.wrapping_add(6));
        // To the own cell, along the row, by the system, of another context.
        rig.store(0, PAGE, &command([0, 0], 10, FLAG + 4));
        rig.settle();
        rig.store(0, PAGE | PAGE_ROW_MASK, &command([0, 0], 11, 0));
        rig.store(0, PAGE | PAGE_SYSTEM_MASK, &command([1, 0], 12, FLAG + 8));
        rig.settle();
        rig.write(0, CONTEXT, 6);
        send(rig, 13, FLAG + 12);
        rig.settle();
        assert_eq!(rig.read(1, RING0_WRITE), OTHER / RING_BYTES + 2);
    });
}

#[test]
fn a_message_waits_for_a_ring_and_for_room() {
    both(2, 1, |rig| {
        let flag = rig.word(1, FLAG);
        send(rig, 7, FLAG);
        // Behind it; and what does not wait.
        let put = Transfer {
            words: 5,
            dest: 0x6_1000,
            dest_flag: FLAG + 4,
            source: 0x1_0000,
            ..Transfer::default()
        };
        rig.store(0, KIND_PUT, &put.to([1, 0]));
        let get = Transfer {
            dest: 0x6_2000,
            dest_flag: FLAG + 8,
            ..put
        };
        let got = rig.word(1, FLAG + 8);
        rig.store(1, KIND_GET, &get.to([-1, 0]));
        rig.pass(3000);
        assert_eq!(rig.word(1, FLAG), flag, "there is no ring");
        assert_eq!(rig.word(1, FLAG + 8), got.wrapping_add(1), "replies go on");
        // In vain; then with a ring that has one slot too few; then with room.
        serve_ring(rig, 2 << WANT_SLOTS_SHIFT | 3, |_| ());
        serve_ring(rig, 2 << WANT_SLOTS_SHIFT | 3, |rig| {
            set_ring(rig, 1, 0, ring(USER, HERE, 9, 11))
        });
        serve_ring(rig, 2 << WANT_SLOTS_SHIFT, |rig| rig.write(1, RING0_READ, 12));
        rig.settle();
        assert_eq!(next(rig), HERE / RING_BYTES + 11);
        assert_eq!(rig.word(1, FLAG), flag.wrapping_add(1));
        // A read pointer that is none: far beyond the ring, of which the lower bits count.
        rig.write(1, RING0_READ, 0x3_f00b);
        send(rig, 100, FLAG);
        rig.settle();
        assert_eq!(next(rig), HERE / RING_BYTES + 11 + 13);
    });
}

/// Serves the message that waits in cell 1.
fn serve_ring(rig: &mut dyn Rig, want: u32, service: impl Fn(&mut dyn Rig)) {
    let start = rig.cycle();
    while rig.read(1, FAULTS) == 0 {
        assert!(rig.cycle() < start + LONG, "no fault: {}", rig.report());
    }
    rig.pass(5);
    assert!(rig.irq(1));
    assert_eq!(rig.read(1, WHY2) & WHY2_REASON_MASK, FAULT_RING);
    assert_eq!(rig.read(1, WHERE2), want);
    service(rig);
    rig.write(1, SERVE, 1 << 2 << SERVE_RETRY_SHIFT);
    rig.pass(50);
    rig.write(1, CAUSE, CAUSE_FAULT_MASK);
}

#[test]
fn what_no_ring_takes_is_reported() {
    both(2, 1, |rig| {
        send(rig, 7, FLAG);
        serve(rig, 1, 2, FAULT_RING, 2 << WANT_SLOTS_SHIFT | 3, Service::GiveUp);
        rig.settle();
        let why = |rig: &mut dyn Rig| (rig.read(1, OPEN) & OPEN_WHY_MASK) >> OPEN_WHY_SHIFT;
        assert_eq!((rig.read(1, BROKEN_COUNT), why(rig)), (1, BROKEN_RING));
        set_ring(rig, 1, 0, ring(USER, HERE, 0, 0));
        // Longer than the ring. What it says is enough: the sender cannot read it to its end.
        map(rig, 0, 0, 3);
        let head = command([1, 0], 32_759, FLAG);
        let long = [head[0], head[1], FLAG, 0, SMALL, 0, 1, 2];
        rig.store(0, PAGE, &long);
        serve(rig, 0, 0, FAULT_PAGE, SMALL + 0x1000, Service::GiveUp);
        rig.settle();
        assert_eq!((rig.read(1, BROKEN_COUNT), why(rig)), (2, BROKEN_RING_SIZE));
        // One word less fits, but ends early; a memory error: the ring stays as it was.
        rig.store(0, PAGE, &[long[0], 32_758, FLAG, 0, SMALL, 0, 1, 2]);
        serve(rig, 0, 0, FAULT_PAGE, SMALL + 0x1000, Service::GiveUp);
        rig.settle();
        assert_eq!((rig.read(1, BROKEN_COUNT), why(rig)), (3, BROKEN_SHORT));
        rig.memory(1).inject_fault(HERE + 0x20..HERE + 0x24);
        send(rig, 30, FLAG);
        rig.settle();
        rig.memory(1).clear_faults();
        assert_eq!((rig.read(1, BROKEN_COUNT), why(rig)), (4, BROKEN_BUS));
        assert_eq!(next(rig), HERE / RING_BYTES);
        // The next one is not affected.
        send(rig, 30, FLAG);
        rig.settle();
        assert_eq!(next(rig), HERE / RING_BYTES + 4);
        // A base where there is no memory.
        set_ring(rig, 1, 0, ring(USER, 0x7fe_0000, 0, 0));
        send(rig, 3, FLAG);
        rig.settle();
        assert_eq!((rig.read(1, BROKEN_COUNT), why(rig)), (5, BROKEN_BUS));
    });
}

/// A fault that nobody serves: the machine says so, and the rest goes on.
#[test]
fn a_message_that_nobody_finds_a_ring_for() {
    let mut rig = model(&config(2, 1));
    send(&mut rig, 7, FLAG);
    rig.settle();
    let report = rig.report();
    assert!(
        report.contains("no ring buffer of context 5 takes 2 slots; write SERVE"),
        "{report}"
    );
}
