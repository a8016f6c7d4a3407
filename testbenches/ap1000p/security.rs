//! Illegal commands of a program, and forged messages: the cell refuses and reports each, and no other traffic suffers.
//!
//! Foreign contexts and cells: C25, in `machine` and `conformance`. Remote accesses:
//! `machine::remote::refused_accesses`. Messages with a false length: `receive`.

use std::ops::Range;
use std::slice::from_ref;

use support::this_test;
use testbenches::{Fault, Run, Start, pass};
use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::golden::creg::Access;
use tsunagi::ap1000p::regs::{CONTEXT as CONTEXT_REGISTER, *};
use tsunagi::ap1000p::rtl::{Direct as _, Machine, Remote};
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;

use crate::machine::faults::{faulted, serve};
use crate::machine::{
    CONTEXT, MEMORY, SLOW, TABLES, Transfer, arrived, entry, expect, machine, put_word, report, settle, word,
};

const FLAG: u32 = 0x6_0000;
/// A page of 4 KB at the top of the logical addresses of [`CONTEXT`] and [`ALONE`], and its address in memory.
const TOP: u32 = 0xffff_f000;
const BEHIND: u32 = 0x5_0000;
/// A context with this page alone.
const ALONE: u32 = 6;
/// A page of 16 MB. Each test enters its word in the first table.
const ODD: u32 = 0x0200_0000;
/// 64 pages of 4 KB.
const PAGES: u32 = 0x0300_0000;

/// Writes words of tables, with a demap.
fn enter(machine: &mut Machine, cell: usize, words: &[(u32, u32)]) {
    for &(at, word) in words {
        put_word(&mut machine.nodes[cell].memory, at, word);
    }
    machine.write(cell, DEMAP_ALL, 0);
    while machine.read(cell, STATUS) & STATUS_DEMAP_MASK != 0 {}
}

fn page(at: u32) -> u32 {
    entry(at, 4, ENTRY_PAGE) | 3 << TABLE_ACCESS_SHIFT
}

fn table(at: u32) -> u32 {
    entry(at, 4, ENTRY_TABLE)
}

/// Address of the table's word for a page of [`PAGES`].
fn of_page(number: u32) -> u32 {
    TABLES + 0x6800 + 4 * number
}

/// Enters [`TOP`] in both contexts, and the tables of [`PAGES`].
fn prepare(machine: &mut Machine) {
    let [first, alone, second, third] = [0x4000, 0x5000, 0x5400, 0x5800].map(|offset| TABLES + offset);
    let [more, pages] = [0x6400, 0x6800].map(|offset| TABLES + offset);
    for cell in 0..machine.nodes.len() {
        enter(
            machine,
            cell,
            &[
                (TABLES + 4 * ALONE, table(alone)),
                (first + 4 * 255, table(second)),
                (alone + 4 * 255, table(second)),
                (second + 4 * 63, table(third)),
                (third + 4 * 63, page(BEHIND)),
                (first + 4 * (PAGES >> 24), table(more)),
                (more, table(pages)),
            ],
        );
    }
}

/// Clears the causes.
fn clear(machine: &mut Machine) {
    for cell in 0..machine.nodes.len() {
        machine.write(cell, CAUSE, 0x3ff);
        machine.run(4);
    }
}

/// Clears the causes, and checks that a transfer between each two cells is as ever.
fn unharmed(machine: &mut Machine) {
    assert!(machine.settle(20_000), "{}", report(machine));
    let cells = machine.nodes.len();
    for cell in 0..cells {
        machine.write(cell, CONTEXT_REGISTER, CONTEXT.into());
    }
    clear(machine);
    for from in 0..cells {
        for to in 0..cells {
            let transfer = Transfer {
                words: 33,
                dest: 0x4_8000,
                dest_flag: FLAG + 0x80,
                source_flag: FLAG + 0x84,
                source: 0x4_0000 + 0x100 * to as u32,
                ..Transfer::default()
            };
            let flags = |machine: &Machine| [word(machine, to, FLAG + 0x80), word(machine, from, FLAG + 0x84)];
            let (want, before) = (expect(machine, from, transfer), flags(machine));
            let command = transfer.words(machine, from, to);
            machine.store(from, KIND_PUT, &command);
            settle(machine, 5_000);
            arrived(machine, to, transfer, &want);
            assert_eq!(flags(machine), before.map(|was| was.wrapping_add(1)));
        }
    }
}

/// All words of a cell's memory below the tables, except in these ranges.
fn rest(machine: &Machine, cell: usize, except: &[Range<u32>]) -> Vec<u32> {
    let counts = |at: &u32| !except.iter().any(|range| range.contains(at));
    (0..TABLES)
        .step_by(4)
        .filter(counts)
        .map(|at| word(machine, cell, at))
        .collect()
}

/// Gives up the fault of this unit, which has this reason and this address.
fn give_up(machine: &mut Machine, cell: usize, unit: u32, reason: u32, at: u32) {
    assert_eq!(faulted(machine, cell), 1 << unit, "{}", report(machine));
    let [why, addr] = [WHY0, WHERE0].map(|offset| machine.read(cell, offset + unit * (WHY1 - WHY0)));
    // Senders read, receivers write.
    let writes = why & WHY0_WRITE_MASK != 0;
    assert_eq!(
        (why & WHY0_REASON_MASK, addr, writes),
        (reason, at, unit >= 2),
        "{why:x}"
    );
    serve(machine, cell, 1 << unit << SERVE_ABORT_SHIFT);
}

/// Address + length beyond 2^32: the words go on at 0, by the translation of page 0. A context without page 0 has a
/// fault.
#[test]
fn addresses_that_wrap() {
    let mut machine = machine(2, 1, SLOW);
    prepare(&mut machine);
    let wraps = Transfer {
        words: 20,
        dest: 0x2_0000,
        source: TOP + 0xff0,
        dest_flag: FLAG,
        ..Transfer::default()
    };
    let mut want: Vec<u32> = (0..4).map(|n| word(&machine, 0, BEHIND + 0xff0 + 4 * n)).collect();
    want.extend((0..16).map(|n| word(&machine, 0, 4 * n)));
    let command = wraps.words(&machine, 0, 1);
    machine.store(0, KIND_PUT, &command);
    settle(&mut machine, 2_000);
    arrived(&machine, 1, wraps, &want);
    // As the destination, of a context with page 0 and of one without.
    for context in [u32::from(CONTEXT), ALONE] {
        let before = rest(&machine, 1, &[BEHIND + 0xff0..BEHIND + 0x1000, 0..0x40]);
        let zero: Vec<u32> = (0..16).map(|n| word(&machine, 1, 4 * n)).collect();
        machine.write(0, CONTEXT_REGISTER, context);
        let source = if context == ALONE { TOP } else { 0x1_0000 };
        let to_top = Transfer {
            words: 20,
            dest: TOP + 0xff0,
            source,
            ..Transfer::default()
        };
        let at = if context == ALONE { BEHIND } else { source };
        let want: Vec<u32> = (0..20).map(|n| word(&machine, 0, at + 4 * n)).collect();
        let command = to_top.words(&machine, 0, 1);
        machine.store(0, KIND_PUT, &command);
        if context == ALONE {
            give_up(&mut machine, 1, 2, FAULT_PAGE, 0);
        }
        assert!(machine.settle(2_000), "{}", report(&mut machine));
        let top: Vec<u32> = (0..4).map(|n| word(&machine, 1, BEHIND + 0xff0 + 4 * n)).collect();
        let now: Vec<u32> = (0..16).map(|n| word(&machine, 1, 4 * n)).collect();
        assert_eq!(top, want[..4]);
        assert_eq!(now, if context == ALONE { zero } else { want[4..].to_vec() });
        assert_eq!(rest(&machine, 1, &[BEHIND + 0xff0..BEHIND + 0x1000, 0..0x40]), before);
    }
    // As the source, of the context without page 0.
    let old: Vec<u32> = (4..20).map(|n| word(&machine, 1, BEHIND + 4 * n)).collect();
    let command = Transfer {
        dest: TOP,
        dest_flag: 0,
        ..wraps
    }
    .words(&machine, 0, 1);
    machine.store(0, KIND_PUT, &command);
    give_up(&mut machine, 0, 0, FAULT_PAGE, 0);
    assert!(machine.settle(2_000), "{}", report(&mut machine));
    let now: Vec<u32> = (4..20).map(|n| word(&machine, 1, BEHIND + 4 * n)).collect();
    assert_eq!(now, old, "no word of page 0 has arrived");
    unharmed(&mut machine);
}

/// Words beyond the end of memory, up to 2^20 - 1 of them: the transfer ends where memory does, and both sides report
/// it. No other word changes.
#[test]
fn data_beyond_memory() {
    let mut machine = machine(2, 1, SLOW);
    let end = MEMORY - 0x40;
    for words in [17, 1000, COMMAND_LENGTH_WORDS_MASK] {
        for writes in [false, true] {
            let transfer = Transfer {
                words,
                dest: if writes { end } else { 0x2_0000 },
                source: if writes { 0x2_0000 } else { end },
                dest_flag: FLAG,
                source_flag: FLAG + 4,
                ..Transfer::default()
            };
            // Fewer words than memory has behind the source, so that the receiver's end of memory comes first.
            let words = if writes { words.min(1000) } else { words };
            let transfer = Transfer { words, ..transfer };
            let flags = |machine: &Machine| [word(machine, 1, FLAG), word(machine, 0, FLAG + 4)];
            let before = flags(&machine);
            let changes = [0x2_0000..0x2_0040, FLAG..FLAG + 4];
            let others = rest(&machine, 1, &changes);
            let want = expect(&machine, 0, Transfer { words: 16, ..transfer });
            let count = machine.read(1, BROKEN_COUNT) & BROKEN_COUNT_REQUESTS_MASK;
            let command = transfer.words(&machine, 0, 1);
            machine.store(0, KIND_PUT, &command);
            assert!(machine.settle(60_000), "{}", report(&mut machine));
            arrived(&machine, 1, Transfer { words: 16, ..transfer }, &want);
            assert_eq!(rest(&machine, 1, &changes), others);
            let cut = machine.read(0, CAUSE) & CAUSE_CUT_MASK != 0;
            let why = machine.read(1, OPEN) >> OPEN_WHY_SHIFT & 0xf;
            assert_eq!((cut, why), (!writes, if writes { BROKEN_BUS } else { BROKEN_SHORT }));
            assert_eq!(machine.read(1, BROKEN_COUNT) & BROKEN_COUNT_REQUESTS_MASK, count + 1);
            // Before a write is refused, the sender has sent all.
            let sent = u32::from(writes);
            assert_eq!(flags(&machine), [before[0], before[1].wrapping_add(sent)]);
            unharmed(&mut machine);
        }
    }
}

/// A memory reports an error amid the data, on either side, of a PUT and of a GET: the same.
#[test]
fn memory_errors_on_both_sides() {
    let mut machine = machine(2, 1, SLOW);
    for (cell, addr, kind) in [
        (0, 0x1_0200, KIND_PUT),
        (1, 0x2_0200, KIND_PUT),
        (1, 0x1_0200, KIND_GET),
        (0, 0x2_0200, KIND_GET),
    ] {
        let transfer = Transfer {
            words: 300,
            dest: 0x2_0000,
            source: 0x1_0000,
            dest_flag: FLAG,
            source_flag: FLAG + 4,
            ..Transfer::default()
        };
        let (from, to) = if kind == KIND_PUT { (0, 1) } else { (1, 0) };
        let want = expect(&machine, from, transfer);
        let flags = |machine: &Machine| [word(machine, to, FLAG), word(machine, from, FLAG + 4)];
        let before = flags(&machine);
        machine.nodes[cell].memory.inject_fault(addr..addr + 4);
        let command = transfer.words(&machine, 0, 1);
        machine.store(0, kind, &command);
        assert!(machine.settle(10_000), "{}", report(&mut machine));
        machine.nodes[cell].memory.clear_faults();
        let came = places(0x2_0000, 0, 0x70).map(|at| word(&machine, to, at));
        assert!(
            came.eq(want[..0x70].iter().copied()),
            "the words well before the error have arrived"
        );
        let sends = cell == from;
        let (causes, why) = (
            [from, to].map(|cell| machine.read(cell, CAUSE)),
            machine.read(to, OPEN) >> OPEN_WHY_SHIFT & 0xf,
        );
        assert_eq!(causes, [if sends { CAUSE_CUT_MASK } else { 0 }, CAUSE_BROKEN_MASK]);
        assert_eq!(why, if sends { BROKEN_SHORT } else { BROKEN_BUS });
        assert_eq!(flags(&machine), [before[0], before[1].wrapping_add(u32::from(!sends))]);
        unharmed(&mut machine);
    }
}

/// Words of tables that lead out of cell memory, that cannot stand at their place, or do not allow the access: each is
/// a fault of its own, of the sender and of the receiver. After software gives up, no word has changed. A page for
/// reads alone is sent.
#[test]
fn illegal_translations() {
    let mut machine = machine(2, 1, MemoryTiming::IDEAL);
    let at = TABLES + 0x4000 + 4 * (ODD >> 24);
    // The same word in another space than cell memory's.
    let beside = |word: u32| word & !(0xf << 28) | 0xc << 28;
    // {word, its fault of a read and of a write}
    let words = [
        (0, [FAULT_PAGE; 2]),
        // The registers of MSC+; then 64 MB, the end of this memory's addresses.
        (beside(page(0)), [FAULT_OUTSIDE; 2]),
        (beside(table(0)), [FAULT_OUTSIDE; 2]),
        (page(0x0400_0000), [FAULT_OUTSIDE; 2]),
        (table(0x0400_0000), [FAULT_OUTSIDE; 2]),
        (entry(0, 4, 3), [FAULT_TABLE; 2]),
        // For the system alone; for reads alone.
        (entry(0, 4, ENTRY_PAGE) | 7 << TABLE_ACCESS_SHIFT, [FAULT_ACCESS; 2]),
        (entry(0, 4, ENTRY_PAGE), [FAULT_NONE, FAULT_ACCESS]),
    ];
    for (word, reasons) in words {
        for cell in 0..2 {
            enter(&mut machine, cell, &[(at, word)]);
        }
        for (reason, writes) in reasons.into_iter().zip([false, true]) {
            let transfer = Transfer {
                words: 10,
                dest: if writes { ODD + 0x2_0000 } else { 0x2_0000 },
                source: if writes { 0x1_0000 } else { ODD + 0x1_0000 },
                ..Transfer::default()
            };
            let before = [0, 1].map(|cell| rest(&machine, cell, &[]));
            let command = transfer.words(&machine, 0, 1);
            machine.store(0, KIND_PUT, &command);
            if reason == FAULT_NONE {
                settle(&mut machine, 2_000);
                let place = Transfer {
                    source: 0x1_0000,
                    ..transfer
                };
                arrived(&machine, 1, transfer, &expect(&machine, 0, place));
                continue;
            }
            let (cell, unit) = if writes { (1, 2) } else { (0, 0) };
            let addr = if writes { transfer.dest } else { transfer.source };
            give_up(&mut machine, cell, unit, reason, addr);
            assert!(machine.settle(2_000), "{}", report(&mut machine));
            assert!(
                [0, 1].map(|cell| rest(&machine, cell, &[])) == before,
                "{word:x}, {writes}"
            );
            assert_eq!(machine.read(1, CAUSE), CAUSE_BROKEN_MASK);
            clear(&mut machine);
        }
    }
    unharmed(&mut machine);
}

/// Misaligned addresses: each is a fault, of the sender and of the receiver. After software gives up, no word outside
/// the destination has changed.
#[test]
fn misaligned_addresses() {
    let mut machine = machine(2, 1, MemoryTiming::IDEAL);
    let data = 0x2_0000..0x2_0010;
    for odd in 1..4 {
        for (cell, unit, source, dest, flag) in [(0, 0, odd, 0, 0), (1, 2, 0, odd, 0), (1, 4, 0, 0, odd)] {
            let transfer = Transfer {
                words: 4,
                dest: 0x2_0000 + dest,
                source: 0x1_0000 + source,
                dest_flag: if flag == 0 { 0 } else { FLAG + flag },
                ..Transfer::default()
            };
            let before = rest(&machine, 1, from_ref(&data));
            let command = transfer.words(&machine, 0, 1);
            machine.store(0, KIND_PUT, &command);
            let addr = [transfer.source, 0, transfer.dest, 0, transfer.dest_flag][unit as usize];
            give_up(&mut machine, cell, unit, FAULT_ALIGN, addr);
            assert!(machine.settle(2_000), "{}", report(&mut machine));
            assert!(rest(&machine, 1, from_ref(&data)) == before);
            clear(&mut machine);
        }
    }
    unharmed(&mut machine);
}

/// Software moves pages during a transfer over them, with demaps. The transfer stops at a missing page. It reads and
/// writes no word where a page lay before. A demap without a change has no effect.
#[test]
fn invalidation_in_flight() {
    pass(this_test!(), |cases| cases.case(Start::Random1, "", invalidations));
}

fn invalidations(run: &Run) -> Result<(), Fault> {
    let mut rng = run.rng("moments");
    let mut machine = machine(2, 1, SLOW);
    prepare(&mut machine);
    for (round, writes) in (0..).zip([false, true].into_iter().cycle().take(8)) {
        invalidation(&mut machine, &mut rng, round, writes);
        unharmed(&mut machine);
    }
    Ok(())
}

/// Moves pages of the sender, or those of the receiver if the transfer `writes` to them.
fn invalidation(machine: &mut Machine, rng: &mut Rng, round: u32, writes: bool) {
    const WORDS: u32 = 9 * 1024;
    const OLD: u32 = 0x1_0000;
    const NEW: u32 = 0x2_0000;
    const OTHER: u32 = 0x3_0000;
    const BYTES: u32 = 40 * 1024;
    let (cell, unit) = if writes { (1, 2) } else { (0, 0) };
    let pages = |at: u32| -> Vec<_> { (0..10).map(|n| (of_page(n), page(at + 4096 * n))).collect() };
    let words = |machine: &Machine, cell, at: u32| -> Vec<u32> {
        (0..WORDS).map(|n| word(machine, cell, at + 4 * n)).collect()
    };
    for (number, node) in (0..).zip(&mut machine.nodes) {
        for at in (0..BYTES).step_by(4) {
            put_word(&mut node.memory, OLD + at, at ^ number << 24 ^ round << 16);
            put_word(&mut node.memory, NEW + at, 0xaaaa_aaaa);
            put_word(&mut node.memory, OTHER + at, 0x5555_5555 ^ at);
        }
    }
    enter(machine, cell, &pages(OLD));
    let want = words(machine, 0, if writes { OTHER } else { OLD });
    let transfer = Transfer {
        words: WORDS,
        dest: if writes { PAGES } else { OTHER },
        source: if writes { OTHER } else { PAGES },
        dest_flag: FLAG,
        source_flag: FLAG + 4,
        ..Transfer::default()
    };
    let flags = |machine: &Machine| [word(machine, 1, FLAG), word(machine, 0, FLAG + 4)];
    let before = flags(machine);
    let command = transfer.words(machine, 0, 1);
    machine.store(0, KIND_PUT, &command);
    machine.run(rng.between(300, 4_000));
    // Demaps without a change: the unit looks up again, and goes on.
    for _ in 0..rng.below(20) {
        machine.write(cell, DEMAP, PAGES + 4096 * rng.below(10) as u32);
        machine.run(rng.below(100));
    }
    let none: Vec<_> = (0..10).map(|n| (of_page(n), 0)).collect();
    enter(machine, cell, &none);
    assert_eq!(faulted(machine, cell), 1 << unit);
    let [why, at] = [WHY0, WHERE0].map(|offset| machine.read(cell, offset + unit * (WHY1 - WHY0)));
    assert_eq!(why & WHY0_REASON_MASK, FAULT_PAGE);
    let first = (at - PAGES) / 4096;
    assert!(at.is_multiple_of(4096) && (1..9).contains(&first), "{at:x}");
    // This page and those behind it move. Their old places get other words.
    for at in (4096 * first..BYTES).step_by(4) {
        let moved = word(machine, cell, OLD + at);
        let memory = &mut machine.nodes[cell].memory;
        put_word(memory, OLD + at, 0xdddd_dddd);
        if !writes {
            put_word(memory, NEW + at, moved);
        }
    }
    enter(machine, cell, &pages(NEW)[first as usize..]);
    serve(machine, cell, 1 << unit << SERVE_RETRY_SHIFT);
    settle(machine, 60_000);
    assert_eq!(flags(machine), before.map(|was| was.wrapping_add(1)));
    if !writes {
        assert!(words(machine, 1, OTHER) == want);
        return;
    }
    let [old, new] = [OLD, NEW].map(|at| words(machine, 1, at));
    let split = (1024 * first) as usize;
    assert!(old[..split] == want[..split], "the words before the page");
    let untouched = old[split..].iter().all(|&word| word == 0xdddd_dddd);
    assert!(untouched, "the old places of the other pages");
    assert!(new[split..] == want[split..], "their new places");
}

/// Replies without a request. An acknowledgement and the reply to a load are dropped and counted. The reply to a GET or
/// to an atomic is a PUT, with the rights of the context that it names. The next load has its own reply.
#[test]
fn replies_to_nobody() {
    let mut machine = machine(2, 1, SLOW);
    prepare(&mut machine);
    let made = |kind: u32| (PAGE_DIRECT_MASK | kind) << COMMAND_HEAD_KIND_SHIFT | 1 << COMMAND_HEAD_DX_SHIFT;
    let forge = |machine: &mut Machine, queue: u32, words: &[u32]| {
        let (last, words) = words.split_last().expect("a word");
        machine.store(0, PAGE_DIRECT_MASK | queue, words);
        machine.store(0, PAGE_DIRECT_MASK | PAGE_END_MASK | queue, &[*last]);
        machine.run(20);
        assert!(machine.settle(3_000), "{}", report(machine));
    };
    let size = 2 << PAGE_SIZE_SHIFT;
    let before = rest(&machine, 1, &[]);
    forge(&mut machine, DIRECT_REMOTE_REPLY, &[made(MADE_STORE_ACK | size)]);
    let told = (machine.read(1, CAUSE), machine.read(1, ACKS));
    assert_eq!(told, (CAUSE_STRAY_MASK, 0), "{}", report(&mut machine));
    let strays = |machine: &mut Machine| {
        let count = machine.read(1, STRAY_COUNT);
        [STRAY_COUNT_ACKS_MASK, STRAY_COUNT_LOADS_MASK].map(|mask| (count & mask) >> mask.trailing_zeros())
    };
    assert_eq!(strays(&mut machine), [1, 0]);
    machine.write(1, CAUSE, 0x3ff);
    for (number, words) in [
        &[made(MADE_LOAD_REPLY | size), 4711][..],
        &[made(MADE_LOAD_REPLY | size)],
    ]
    .into_iter()
    .enumerate()
    {
        forge(&mut machine, DIRECT_REMOTE_REPLY, words);
        let told = (machine.read(1, CAUSE), machine.read(1, LOADED));
        assert_eq!(told, (CAUSE_STRAY_MASK, ACCESS_DONE), "{}", report(&mut machine));
        assert_eq!(strays(&mut machine), [1, 1 + number as u32]);
        machine.write(1, CAUSE, 0x3ff);
    }
    // The next load has its own reply, and stores count as before.
    let load = Remote {
        cell: 0,
        addr: 0x2_0000,
        registers: false,
        size: 2,
        write: None,
    };
    assert_eq!(
        machine.remote(1, load, 1_000),
        Some(Some(word(&machine, 0, 0x2_0000).into()))
    );
    let store = Remote { write: Some(1), ..load };
    assert_eq!(machine.remote(1, store, 1_000), Some(Some(0)));
    assert!(machine.settle(1_000), "{}", report(&mut machine));
    assert_eq!((machine.read(1, ACKS), word(&machine, 0, 0x2_0000)), (0, 1));
    assert_eq!(machine.read(1, CAUSE), 0);
    assert_eq!(strays(&mut machine), [1, 2]);
    // In an unknown context no word is written.
    for (queue, words) in [
        (
            DIRECT_GET_REPLY,
            vec![made(MADE_GET_REPLY), 9 << 20 | 5, 0x2_0000, 0, FLAG, 0, 0x1_0000, 0],
        ),
        (
            DIRECT_REMOTE_REPLY,
            vec![made(MADE_ATOMIC_REPLY), 9 << 20 | 1, 0x2_0000, 0, FLAG, 4711],
        ),
    ] {
        // The reply to a GET has a lookup at its sender, too.
        let reads = queue == DIRECT_GET_REPLY;
        if reads {
            enter(&mut machine, 0, &[(TABLES + 4 * 9, table(TABLES + 0x4000))]);
        }
        let (last, words) = words.split_last().expect("a word");
        machine.store(0, PAGE_DIRECT_MASK | queue, words);
        machine.store(0, PAGE_DIRECT_MASK | PAGE_END_MASK | queue, &[*last]);
        give_up(&mut machine, 1, 3, FAULT_PAGE, 0x2_0000);
        assert!(machine.settle(3_000), "{}", report(&mut machine));
        assert_eq!(machine.read(1, CAUSE), CAUSE_BROKEN_MASK);
        machine.write(1, CAUSE, 0x3ff);
    }
    assert!(rest(&machine, 1, &[]) == before, "no word of the cell has changed");
    assert_eq!(machine.read(1, BROKEN_COUNT), 2 << BROKEN_COUNT_REPLIES_SHIFT);
    unharmed(&mut machine);
}

/// A report of a broken message has the message's kind and sender: of a request that the sender cuts short, and of a
/// reply that the receiver gives up.
#[test]
fn reports_name_kind_and_sender() {
    const FROM: usize = 5;
    let mut machine = machine(3, 2, SLOW);
    prepare(&mut machine);
    let told = |machine: &mut Machine, kind: u32| {
        assert_eq!(
            machine.read(0, BROKEN_WHAT),
            kind << BROKEN_WHAT_KIND_SHIFT | 1 << BROKEN_WHAT_Y_SHIFT | 2
        );
    };
    // More registers than there are.
    let long = Transfer {
        words: 129,
        dest: 0x2_0000,
        ..Transfer::default()
    };
    let command = long.words(&machine, FROM, 0);
    machine.store(FROM, KIND_PUT | PAGE_AS_SEND_MASK, &command);
    assert!(machine.settle(3_000), "{}", report(&mut machine));
    told(&mut machine, KIND_PUT | PAGE_AS_SEND_MASK);
    clear(&mut machine);
    // In an unknown context.
    let made = PAGE_DIRECT_MASK | MADE_ATOMIC_REPLY;
    let head = made << COMMAND_HEAD_KIND_SHIFT | machine.relative(FROM, 0);
    let (queue, words) = (
        PAGE_DIRECT_MASK | DIRECT_REMOTE_REPLY,
        [head, 9 << 20 | 1, 0x2_0000, 0, FLAG],
    );
    machine.store(FROM, queue, &words);
    machine.store(FROM, PAGE_END_MASK | queue, &[4711]);
    give_up(&mut machine, 0, 3, FAULT_PAGE, 0x2_0000);
    assert!(machine.settle(3_000), "{}", report(&mut machine));
    told(&mut machine, made);
    unharmed(&mut machine);
}

/// Only the cell that a load names can reply to it. Another cell's forged reply, with data or without, is dropped,
/// reported and counted.
#[test]
fn a_waiting_load_has_the_reply_of_its_cell() {
    let mut machine = machine(3, 1, MemoryTiming::IDEAL);
    prepare(&mut machine);
    // The load of an empty register waits.
    let load = Remote {
        cell: 0,
        addr: 4 * 5,
        registers: true,
        size: 2,
        write: None,
    };
    assert_eq!(machine.remote(1, load, 200), None);
    let kind = PAGE_DIRECT_MASK | MADE_LOAD_REPLY | PAGE_AS_RECEIVE_MASK | 2 << PAGE_SIZE_SHIFT;
    let head = kind << COMMAND_HEAD_KIND_SHIFT | machine.relative(2, 1);
    machine.store(2, PAGE_DIRECT_MASK | DIRECT_REMOTE_REPLY, &[head]);
    machine.store(2, PAGE_DIRECT_MASK | PAGE_END_MASK | DIRECT_REMOTE_REPLY, &[4711]);
    machine.store(2, PAGE_DIRECT_MASK | PAGE_END_MASK | DIRECT_REMOTE_REPLY, &[head]);
    assert_eq!(machine.remote_answer(1, 500), None, "reply of cell 2");
    assert_eq!(machine.read(1, STRAY_COUNT), 2 << STRAY_COUNT_LOADS_SHIFT);
    assert_eq!(machine.read(1, CAUSE), CAUSE_STRAY_MASK);
    let fill = Access {
        addr: 5,
        write: Some(42),
    };
    assert!(machine.access(0, fill, 200).is_some());
    assert_eq!(machine.remote_answer(1, 500), Some(Some(42)));
    unharmed(&mut machine);
}

/// Items of 0, which means 256 words, and gaps that step back over earlier words: each word arrives at its place, later
/// words over earlier ones. No other word changes. Of a transfer of 0 words only the flags count.
#[test]
fn strides_that_overlap() {
    let mut machine = machine(2, 1, MemoryTiming::IDEAL);
    let stride = |item: u32, gap: i32| item << 24 | gap as u32 & 0xff_ffff;
    let cases = [
        (0, stride(0, 0), stride(0, -256)),
        (700, stride(0, 3), stride(0, -256)),
        (700, stride(0, -255), stride(0, -1)),
        (300, stride(3, -1), stride(3, -2)),
        (300, stride(2, -2), stride(5, -4)),
        (300, stride(1, -2), stride(1, -1)),
        (64, stride(7, -14), stride(4, -5)),
        (64, stride(255, -255), stride(1, 0)),
    ];
    for (words, source_stride, dest_stride) in cases {
        let transfer = Transfer {
            words,
            dest: 0x2_4000,
            dest_stride,
            dest_flag: FLAG,
            source_flag: FLAG + 4,
            source: 0x1_4000,
            source_stride,
        };
        let mut want: Vec<u32> = rest(&machine, 1, &[]);
        for (at, data) in places(transfer.dest, dest_stride, words).zip(expect(&machine, 0, transfer)) {
            want[at as usize / 4] = data;
        }
        want[FLAG as usize / 4] = want[FLAG as usize / 4].wrapping_add(1);
        let sent = word(&machine, 0, FLAG + 4);
        let command = transfer.words(&machine, 0, 1);
        machine.store(0, KIND_PUT, &command);
        settle(&mut machine, 20_000);
        assert!(rest(&machine, 1, &[]) == want, "{transfer:x?}");
        assert_eq!(word(&machine, 0, FLAG + 4), sent.wrapping_add(1));
    }
    unharmed(&mut machine);
}

/// A demap of everything right behind a demap of another page makes the hardware forget everything.
#[test]
fn a_demap_behind_a_demap() {
    for gap in 0..80 {
        let mut machine = machine(2, 1, MemoryTiming::IDEAL);
        prepare(&mut machine);
        enter(
            &mut machine,
            0,
            &[(of_page(5), page(0x2_0000)), (of_page(1), page(0x2_1000))],
        );
        let transfer = Transfer {
            words: 4,
            dest: 0x4_8000,
            source: PAGES + 0x5000,
            ..Transfer::default()
        };
        let command = transfer.words(&machine, 0, 1);
        machine.store(0, KIND_PUT, &command);
        assert!(machine.settle(5_000));
        put_word(&mut machine.nodes[0].memory, of_page(5), page(0x3_0000));
        // Demaps wait for a lookup that misses.
        let other = Transfer {
            source: PAGES + 0x1000,
            ..transfer
        };
        let words = other.words(&machine, 0, 1);
        machine.store(0, KIND_PUT, &words);
        machine.run(gap);
        machine.write(0, DEMAP, 0x0100_0000);
        machine.write(0, DEMAP_ALL, 0);
        while machine.read(0, STATUS) & STATUS_DEMAP_MASK != 0 {}
        machine.store(0, KIND_PUT, &command);
        assert!(machine.settle(5_000));
        assert_eq!(word(&machine, 1, 0x4_8000), word(&machine, 0, 0x3_0000), "gap {gap}");
    }
}
