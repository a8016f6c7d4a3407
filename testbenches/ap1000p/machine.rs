//! Whole machines: verilated cells on a verilated torus, with real data in their memories.

use tsunagi::ap1000p::machine::{Access, Machine, Remote};
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::stride::places;
use tsunagi::harness::memory::{Memory, MemoryTiming};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::{Addr, Cycle};

/// Bytes of a cell's memory.
pub const MEMORY: u32 = 1 << 20;
/// Where the tables are, and where the queues overflow to.
pub const TABLES: u32 = 0x7_0000;
pub const SPILL: u32 = 1;
/// The context of the only process, which sees the cell's memory as it is.
pub const CONTEXT: u16 = 5;

/// A physical address in cell memory, as a word of a page table has it.
pub fn entry(addr: u32, shift: u32, kind: u32) -> u32 {
    let physical = u64::from(CELL_SPACE) << 32 | u64::from(addr);
    (physical >> shift) as u32 & !3 | kind
}

pub fn put_word(memory: &mut Memory, addr: u32, word: u32) {
    assert!(memory.write(Addr(addr), &word.to_le_bytes()), "{addr:#x} is in memory");
}

pub fn word(machine: &Machine, cell: usize, addr: u32) -> u32 {
    let bytes = machine.nodes[cell].memory.read(Addr(addr), 4).expect("in memory");
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

/// One process that sees all of the memory, and words everywhere that differ.
pub fn fill(memory: &mut Memory, cell: usize) {
    for at in (0..TABLES).step_by(4) {
        put_word(memory, at, at.wrapping_mul(0x9e37_79b1) ^ cell as u32);
    }
    let first = TABLES + 0x4000;
    put_word(memory, TABLES + 4 * u32::from(CONTEXT), entry(first, 4, ENTRY_TABLE));
    // A page of 16 MB that everybody may read and write.
    put_word(memory, first, entry(0, 4, ENTRY_PAGE) | 3 << TABLE_ACCESS_SHIFT);
}

/// The registers for that process.
pub const SETTINGS: [(u32, u32); 5] = [
    (CONTEXT_TABLE, TABLES),
    (tsunagi::ap1000p::regs::CONTEXT, CONTEXT as u32),
    (SPILL_REGION, SPILL | 64 << SPILL_REGION_LIMIT_SHIFT),
    // Everywhere.
    (RANGE, 0x7f81_7f81),
    (ENABLE, 0x3ff),
];

/// A machine whose cells have one process that sees all of its cell's memory, and words everywhere that differ.
pub fn machine(x: usize, y: usize, timing: MemoryTiming) -> Machine {
    let config = Config {
        columns: x as u32,
        rows: y as u32,
        mem_bytes: MEMORY,
        link_cycles: 1,
        mem_read_latency: timing.read_latency.0 as u32,
        mem_write_latency: timing.write_latency.0 as u32,
        mem_overhead: timing.overhead.0 as u32,
        mem_shared: timing.shared_bus,
        ..Config::paper()
    };
    let mut machine = Machine::new(&config).expect("built at full speed");
    for cell in 0..x * y {
        fill(&mut machine.nodes[cell].memory, cell);
        for (offset, value) in SETTINGS {
            machine.write(cell, offset, value);
        }
    }
    machine
}

pub const SLOW: MemoryTiming = MemoryTiming {
    read_latency: Cycle(12),
    write_latency: Cycle(9),
    overhead: Cycle(1),
    shared_bus: true,
    byte_time: 0,
};

/// What the parameters of PUT and GET say, in the paper's words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub words: u32,
    pub dest: u32,
    pub dest_stride: u32,
    pub dest_flag: u32,
    pub source_flag: u32,
    pub source: u32,
    pub source_stride: u32,
}

impl Transfer {
    pub fn words(self, machine: &Machine, from: usize, to: usize) -> [u32; 8] {
        [
            machine.relative(from, to),
            self.words,
            self.dest,
            self.dest_stride,
            self.dest_flag,
            self.source_flag,
            self.source,
            self.source_stride,
        ]
    }
}

/// Ends when nothing moves any more; nobody was interrupted.
pub fn settle(machine: &mut Machine, cycles: u64) {
    assert!(machine.settle(cycles), "{}", report(machine));
    for cell in 0..machine.nodes.len() {
        assert!(!machine.nodes[cell].irq, "cell {cell} interrupts: {}", report(machine));
    }
}

pub fn report(machine: &mut Machine) -> String {
    let mut text = format!("cycle {}", machine.cycle());
    for cell in 0..machine.nodes.len() {
        let [status, cause, faults, why, at, held, position] =
            [STATUS, CAUSE, FAULTS, BROKEN_WHAT, OPEN, HELD, POSITION].map(|offset| machine.read(cell, offset));
        text += &format!(
            "\ncell {cell}: status {status:x}, causes {cause:x}, faults {faults:x}, broken {why:x}, open {at:x}, held {held}, position {position}, words {:x}",
            word(machine, 0, 0x6_0000)
        );
    }
    text
}

/// The words of a transfer, as they were at the source.
pub fn expect(machine: &Machine, cell: usize, transfer: Transfer) -> Vec<u32> {
    let at = places(transfer.source, transfer.source_stride, transfer.words);
    at.map(|at| word(machine, cell, at)).collect()
}

pub fn arrived(machine: &Machine, cell: usize, transfer: Transfer, want: &[u32]) {
    let at = places(transfer.dest, transfer.dest_stride, transfer.words);
    let got: Vec<u32> = at.map(|at| word(machine, cell, at)).collect();
    assert_eq!(got, want, "cell {cell}: {transfer:x?}");
}

/// C1, C9: PUTs of these lengths to each cell, the own one included: data exact, each flag counts once, none without an address.
#[test]
fn c1_put() {
    for timing in [MemoryTiming::IDEAL, SLOW] {
        let mut machine = machine(2, 2, timing);
        for to in 0..4 {
            for (number, words) in [0, 1, 2, 255, 256, 257, 1000].into_iter().enumerate() {
                let flag = 0x6_0000 + 8 * number as u32;
                for flagged in [true, false] {
                    let transfer = Transfer {
                        words,
                        dest: 0x3_0000 + 0x40 * words,
                        dest_flag: if flagged { flag } else { 0 },
                        source_flag: if flagged { flag + 4 } else { 0 },
                        source: 0x1_0004 + 0x2000 * number as u32,
                        ..Transfer::default()
                    };
                    let want = expect(&machine, 1, transfer);
                    let flags = |machine: &Machine| {
                        [
                            word(machine, to, flag),
                            word(machine, 1, flag + 4),
                            word(machine, to, 0),
                            word(machine, 1, 0),
                        ]
                    };
                    let before = flags(&machine);
                    let command = transfer.words(&machine, 1, to);
                    machine.store(1, KIND_PUT, &command);
                    settle(&mut machine, 20_000);
                    arrived(&machine, to, transfer, &want);
                    let counts = flags(&machine)
                        .into_iter()
                        .zip(before)
                        .map(|(now, was)| now.wrapping_sub(was));
                    let one = u32::from(flagged);
                    assert_eq!(counts.collect::<Vec<_>>(), [one, one, 0, 0]);
                }
            }
        }
    }
}

/// C13: what goes to the own cell does not go over the network.
#[test]
fn c13_own_cell() {
    let mut machine = machine(2, 1, MemoryTiming::IDEAL);
    let transfer = Transfer {
        words: 100,
        dest: 0x2_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let want = expect(&machine, 0, transfer);
    let command = transfer.words(&machine, 0, 0);
    machine.store(0, KIND_PUT, &command);
    machine.store(
        0,
        KIND_GET,
        &Transfer {
            dest: 0x3_0000,
            ..transfer
        }
        .words(&machine, 0, 0),
    );
    settle(&mut machine, 5_000);
    arrived(&machine, 0, transfer, &want);
    arrived(
        &machine,
        0,
        Transfer {
            dest: 0x3_0000,
            ..transfer
        },
        &want,
    );
    assert_eq!(machine.nodes[0].sent, 0);
}

/// C10: a GET with strides on both sides; the cell that is asked has nothing to do.
#[test]
fn c10_get() {
    let mut machine = machine(3, 2, SLOW);
    for to in 0..6 {
        let transfer = Transfer {
            words: 300,
            dest: 0x2_0000,
            dest_stride: 7 << 24 | 3,
            dest_flag: 0x6_0000,
            source_flag: 0x6_0010,
            source: 0x1_0000,
            source_stride: 16 << 24 | 48,
        };
        let want = expect(&machine, to, transfer);
        let flags = |machine: &Machine| [word(machine, 4, 0x6_0000), word(machine, to, 0x6_0010)];
        let before = flags(&machine);
        let command = transfer.words(&machine, 4, to);
        machine.store(4, KIND_GET, &command);
        settle(&mut machine, 20_000);
        arrived(&machine, 4, transfer, &want);
        assert_eq!(flags(&machine), before.map(|was| was.wrapping_add(1)));
    }
}

/// C8, C12: N PUTs from each cell that share one flag end with +N; those of one pair of cells are done in order.
#[test]
fn c8_shared_flag() {
    let mut machine = machine(3, 3, SLOW);
    const EACH: u32 = 12;
    let before = word(&machine, 0, 0x6_0000);
    for round in 0..EACH {
        for cell in 0..9 {
            // Each PUT of a cell writes over the last one's words.
            let transfer = Transfer {
                words: 9,
                dest: 0x2_0000 + 0x100 * cell as u32,
                dest_flag: 0x6_0000,
                source: 0x1_0000 + 0x100 * round,
                ..Transfer::default()
            };
            let command = transfer.words(&machine, cell, 0);
            machine.store(cell, KIND_PUT, &command);
        }
    }
    settle(&mut machine, 100_000);
    assert_eq!(word(&machine, 0, 0x6_0000), before.wrapping_add(9 * EACH));
    for cell in 0..9 {
        let last = Transfer {
            words: 9,
            dest: 0x2_0000 + 0x100 * cell as u32,
            source: 0x1_0000 + 0x100 * (EACH - 1),
            ..Transfer::default()
        };
        let want = expect(&machine, cell, last);
        arrived(&machine, 0, last, &want);
    }
}

/// C11: the flag of a GET of no words says that the PUT before it is in memory.
#[test]
fn c11_acknowledge() {
    let case = Case::new("ap1000p", "machine::c11_acknowledge", "");
    let mut rng: Rng = case.rng("transfers");
    let mut machine = machine(2, 2, SLOW);
    for round in 0..200 {
        // Others are busy with the same cell.
        for other in [1, 2] {
            let noise = Transfer {
                words: rng.between(1, 60) as u32,
                dest: 0x4_0000 + 0x1000 * other as u32,
                source: 0x1_0000,
                ..Transfer::default()
            };
            let command = noise.words(&machine, other, 3);
            machine.store(other, KIND_PUT, &command);
        }
        let transfer = Transfer {
            words: rng.between(1, 100) as u32,
            dest: 0x2_0000,
            source: 0x1_0000 + 4 * rng.below(4096) as u32,
            ..Transfer::default()
        };
        let want = expect(&machine, 0, transfer);
        let flag = word(&machine, 0, 0x6_0000);
        let acknowledge = Transfer {
            dest_flag: 0x6_0000,
            ..Transfer::default()
        };
        let [put, get] = [transfer, acknowledge].map(|t| t.words(&machine, 0, 3));
        machine.store(0, KIND_PUT, &put);
        machine.store(0, KIND_GET, &get);
        let mut waited = 0;
        while word(&machine, 0, 0x6_0000) == flag {
            machine.edge();
            waited += 1;
            assert!(waited < 20_000, "round {round}: {}", report(&mut machine));
        }
        arrived(&machine, 3, transfer, &want);
    }
}

/// C22: fetch-and-or and compare-and-swap of all cells on one word: each bit is seen unset by one cell, the counter is exact.
#[test]
fn c22_atomics() {
    let mut machine = machine(4, 4, SLOW);
    let before = word(&machine, 5, 0x6_0000) & 0xffff_0000;
    put_word(&mut machine.nodes[5].memory, 0x6_0000, before);
    put_word(&mut machine.nodes[5].memory, 0x6_0004, 0);
    for cell in 0..16 {
        let head = machine.relative(cell, 5);
        machine.store(
            cell,
            KIND_FOP,
            &[head, 1, 0x2_0000, 0, 0x6_0010, 0x6_0000, !0, 1 << cell],
        );
    }
    settle(&mut machine, 20_000);
    assert_eq!(word(&machine, 5, 0x6_0000), before | 0xffff);
    // What each saw is a chain of bits, one more each.
    let mut seen: Vec<u32> = (0..16).map(|cell| word(&machine, cell, 0x2_0000) & 0xffff).collect();
    seen.sort_by_key(|bits| bits.count_ones());
    for (n, bits) in seen.iter().enumerate() {
        assert_eq!(bits.count_ones() as usize, n, "{seen:x?}");
        assert!(n == 0 || bits & seen[n - 1] == seen[n - 1], "{seen:x?}");
    }

    // Each cell counts to the number of all rounds, by compare and swap until it succeeds.
    const ROUNDS: u32 = 3;
    let (mut left, mut tried): (Vec<u32>, Vec<u32>) = (vec![ROUNDS; 16], vec![0; 16]);
    while left.iter().any(|&left| left > 0) {
        for cell in 0..16 {
            let head = machine.relative(cell, 5);
            if left[cell] > 0 {
                machine.store(
                    cell,
                    KIND_CSI,
                    &[head, 1, 0x2_0000, 0, 0, 0x6_0004, tried[cell], tried[cell] + 1],
                );
            }
        }
        settle(&mut machine, 20_000);
        let winners = (0..16)
            .filter(|&cell| left[cell] > 0 && word(&machine, cell, 0x2_0000) == tried[cell])
            .collect::<Vec<_>>();
        for cell in winners {
            left[cell] -= 1;
        }
        tried.fill(word(&machine, 5, 0x6_0004));
    }
    assert_eq!(word(&machine, 5, 0x6_0004), 16 * ROUNDS);
}

/// C28, rows, columns, all: a broadcast is in each cell of them, once, and nowhere else.
#[test]
fn c28_broadcast() {
    let mut machine = machine(4, 3, SLOW);
    let kinds = [PAGE_ROW_MASK, PAGE_COLUMN_MASK, PAGE_ROW_MASK | PAGE_COLUMN_MASK];
    for (number, axis) in kinds.into_iter().enumerate() {
        let from = 6;
        let flag = 0x6_0000 + 4 * number as u32;
        let transfer = Transfer {
            words: 40,
            dest: 0x2_0000 + 0x1000 * number as u32,
            dest_flag: flag,
            source: 0x1_0000,
            ..Transfer::default()
        };
        let want = expect(&machine, from, transfer);
        let before: Vec<u32> = (0..12).map(|cell| word(&machine, cell, flag)).collect();
        let command = transfer.words(&machine, from, from);
        machine.store(from, KIND_PUT | axis, &command);
        settle(&mut machine, 20_000);
        for (cell, &before) in before.iter().enumerate() {
            let in_it = [cell / 4 == from / 4, cell % 4 == from % 4, true][number];
            let counted = word(&machine, cell, flag).wrapping_sub(before);
            assert_eq!(counted, u32::from(in_it), "cell {cell}, {axis:x}");
            if in_it {
                arrived(&machine, cell, transfer, &want);
            }
        }
    }
}

/// C29, on 16 cells: each asks all for much at once; everything comes.
#[test]
fn c29_all_get() {
    let mut machine = machine(4, 4, SLOW);
    let transfer = |from: u32, to: u32| Transfer {
        words: 64,
        dest: 0x2_0000 + 0x100 * to,
        dest_flag: 0x6_0000,
        source: 0x1_0000 + 0x100 * from,
        ..Transfer::default()
    };
    let before: Vec<u32> = (0..16).map(|cell| word(&machine, cell, 0x6_0000)).collect();
    for to in 0..16 {
        for from in 0..16 {
            let command = transfer(from, to).words(&machine, from as usize, to as usize);
            machine.store(from as usize, KIND_GET, &command);
        }
    }
    settle(&mut machine, 400_000);
    for from in 0..16_u32 {
        for to in 0..16_u32 {
            let want = expect(&machine, to as usize, transfer(from, to));
            arrived(&machine, from as usize, transfer(from, to), &want);
        }
        assert_eq!(
            word(&machine, from as usize, 0x6_0000),
            before[from as usize].wrapping_add(16)
        );
    }
}

/// C20, remote: a PUT to communication registers fills them, and waits for one that is full.
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
        register: 10,
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
    let read = |machine: &mut Machine, register| machine.access(1, Access { register, write: None }, 200);
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

/// C15, C16, C18: remote loads and stores of each size; the counter says when the stores are done.
#[test]
fn c15_remote_accesses() {
    let mut machine = machine(2, 2, SLOW);
    for to in 0..4 {
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

/// C17: a remote load goes before what the user has queued; it waits for three transfers at most: one that goes out, one that is read, one that was chosen;
/// and for the eight words of a command that was chosen when `ap1000p_spread` took the end of the one before.
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
            // The last of them is not sent yet.
            assert!(!machine.at_rest());
        }
        settle(&mut machine, 50_000);
    }
    assert!(waits[1] <= waits[0] + 3 * (32 + 6) + 8, "{waits:?}");
}

/// What cannot be: a cell that is not there, an address that is no multiple of the size or beyond memory, a register that is none.
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

/// Logical address of 16 MB of which there is a page only when software has entered it.
pub const AWAY: u32 = 0x0100_0000;

/// Enters that page, or takes it away; the MMU is told.
pub fn enter(machine: &mut Machine, cell: usize, there: bool) {
    let page = entry(0, 4, ENTRY_PAGE) | 3 << TABLE_ACCESS_SHIFT;
    let at = TABLES + 0x4000 + 4 * (AWAY >> 24);
    put_word(&mut machine.nodes[cell].memory, at, if there { page } else { 0 });
    machine.write(cell, DEMAP_ALL, 0);
    while machine.read(cell, STATUS) & STATUS_DEMAP_MASK != 0 {}
}

/// Who waits for software in a cell, once someone does.
pub fn faulted(machine: &mut Machine, cell: usize) -> u32 {
    for _ in 0..500 {
        machine.run(10);
        if machine.nodes[cell].irq {
            return machine.read(cell, FAULTS);
        }
    }
    panic!("no fault: {}", report(machine));
}

/// C27: a page that is not there, of the sender's and of the receiver's: told, served, and the data are exact; or given up, and nothing
/// counts. What comes after is as if nothing had been.
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
                // The sender has sent all if it is the receiver that gave up.
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

/// C25: a context without tables sees nothing, on neither side; a user does not leave the range; others go on.
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
    // Another context's commands wait behind it, but no other cell's, and none of the system's answers.
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

    // The context is the hardware's to say, and the range the system's.
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
    // Neither is in the own column, and nobody writes a context.
    assert_eq!(machine.read(0, REFUSED_COUNT) & 0xffff, before + 3);
}

fn fill_register(machine: &mut Machine, cell: usize, register: u8, word: u32) {
    let write = Some(word);
    let answer = machine.access(cell, Access { register, write }, 50);
    assert!(matches!(answer, Some(Some(_))), "{register} is empty");
}

/// These registers are empty, and stay so.
fn empty(machine: &mut Machine, cell: usize, registers: std::ops::Range<u8>) {
    for register in registers {
        fill_register(machine, cell, register, 7);
        assert_eq!(
            machine.access(cell, Access { register, write: None }, 50),
            Some(Some(7)),
            "{register}"
        );
    }
}

/// C20, as the source: a PUT of registers goes when the last one is full, and not a word of it before; the registers are empty then.
/// Replies pass meanwhile.
#[test]
fn c20_registers_as_the_source() {
    let mut machine = machine(2, 1, SLOW);
    let transfer = Transfer {
        words: 6,
        dest: 0x2_0000,
        // Not a stride, here.
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
    assert_eq!(
        (machine.nodes[0].sent, flags(&machine)),
        (0, before),
        "register 10 is empty"
    );
    // What is asked of this cell is answered.
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

    // Of all 128, and from registers to registers; of the cell that is asked, a GET.
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

/// Registers that there are not, and one that is empty where that is a fault: told on both sides, no flag counts, the next transfer is
/// unharmed.
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
            // Begins to wait, and then may not.
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
    // What was there of the last one has come, and nothing of the others.
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

/// MODE.BLOCK: a full queue stops the processor and nothing is spilled. Without it the same is spilled.
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
        // Register 0 is empty: this one holds the sender.
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
        // 64 words fit, and those of the commands that are in the sender and before it.
        assert_eq!((held == 0, spilled == 0), (block, block), "{status:x}");
        let stalls = machine.nodes[0].stalls;
        machine.run(100);
        let waits = machine.nodes[0].stalls - stalls;
        assert_eq!(waits, if block { 100 } else { 0 });
        assert!(block || held >= COMMANDS * 8 - 64 - 3 * 8, "{held}");
        assert_eq!((told, machine.nodes[0].irq), (0, false), "{status:x}");
        // All is sent at last, and nothing is left of it.
        fill_register(&mut machine, 0, 0, 5);
        settle(&mut machine, 50_000);
        assert_eq!(word(&machine, 1, 0x6_0000), count.wrapping_add(COMMANDS + 1));
        assert_eq!(machine.read(0, STATUS), 0);
        assert_eq!(machine.read(0, HELD), 0);
    }
}

/// Without a spill region: two cells ask each other for more than their queues hold, so that requests stand in both of them and the
/// receivers wait for room to answer. All is answered.
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

/// Cell 0's sender is held by a page fault that nobody serves; its user has stored `puts` PUTs of a word to cell 1, has filled what there is
/// of room with this spill region, and stands. And the flag that counts them, as it was.
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
    let stalls = machine.nodes[0].stalls;
    machine.run(100);
    assert_eq!(machine.nodes[0].stalls - stalls, 100, "the user finds room");
    (machine, before)
}

/// A cell whose sender is held by a fault, with requests behind it up to the processor and nothing spilled, answers GETs and loads as ever.
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

/// The same with a region, of which the user has stored its half full: the processor stands, is told so before, the other half is free,
/// and 40 GETs at once are answered.
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
