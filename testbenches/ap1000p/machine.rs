//! Whole machines: verilated cells on a verilated torus, with real data in their memories.

pub mod faults;
mod gating;
mod queues;
mod registers;
mod remote;

use support::this_test;
use testbenches::{Fault, Run, Start, pass};
use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::golden::ring::{Ring, slots};
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::{Direct as _, Machine, of_cells};
use tsunagi::harness::memory::{Memory, MemoryTiming};
use tsunagi::harness::seed::Seed;
use tsunagi::{Addr, Cycle};

/// Bytes of a cell's memory.
pub const MEMORY: u32 = 1 << 20;
/// Address of the tables, and the first unit of the spill region.
pub const TABLES: u32 = 0x7_0000;
pub const SPILL: u32 = 1;
/// The context of the only process. Its logical addresses are physical ones.
pub const CONTEXT: u16 = 5;

/// The word of a table for this address in cell memory.
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

/// Fills the memory with words that differ, and with the tables of one process, which maps all of it.
pub fn fill(memory: &mut Memory, cell: usize) {
    for at in (0..TABLES).step_by(4) {
        put_word(memory, at, at.wrapping_mul(0x9e37_79b1) ^ cell as u32);
    }
    let first = TABLES + 0x4000;
    put_word(memory, TABLES + 4 * u32::from(CONTEXT), entry(first, 4, ENTRY_TABLE));
    // A page of 16 MB that all may read and write.
    put_word(memory, first, entry(0, 4, ENTRY_PAGE) | 3 << TABLE_ACCESS_SHIFT);
}

/// The registers for that process.
pub const SETTINGS: [(u32, u32); 5] = [
    (CONTEXT_TABLE, TABLES),
    (tsunagi::ap1000p::regs::CONTEXT, CONTEXT as u32),
    (SPILL_REGION, SPILL | 64 << SPILL_REGION_LIMIT_SHIFT),
    // Any cell.
    (RANGE, 0x7f81_7f81),
    (ENABLE, 0x3ff),
];

/// A machine with such a process and such words in each cell.
pub fn machine(x: usize, y: usize, timing: MemoryTiming) -> Machine {
    let config = Config {
        columns: x as u32,
        rows: y as u32,
        mem_bytes: MEMORY,
        link_rate: 200.0,
        mem_read_latency: timing.read_latency.0 as u32,
        mem_write_latency: timing.write_latency.0 as u32,
        mem_overhead: timing.overhead.0 as u32,
        mem_shared: timing.shared_bus,
        ..Config::paper()
    };
    let machine: Machine = of_cells(&config).expect("built at full speed");
    let mut machine = machine.with_junk(Seed::get().0);
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

/// The parameters of PUT and GET, by the paper's names.
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

/// Runs until the machine is idle. No cell interrupts.
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
            "\ncell {cell}: status {status:x}, causes {cause:x}, faults {faults:x}, broken {why:x}, open {at:x}, \
             held {held}, position {position}, words {:x}",
            word(machine, 0, 0x6_0000)
        );
    }
    text
}

/// The words of a transfer at its source.
pub fn expect(machine: &Machine, cell: usize, transfer: Transfer) -> Vec<u32> {
    let at = places(transfer.source, transfer.source_stride, transfer.words);
    at.map(|at| word(machine, cell, at)).collect()
}

/// These words are at the destination of the transfer.
pub fn arrived(machine: &Machine, cell: usize, transfer: Transfer, want: &[u32]) {
    let at = places(transfer.dest, transfer.dest_stride, transfer.words);
    let got: Vec<u32> = at.map(|at| word(machine, cell, at)).collect();
    assert_eq!(got, want, "cell {cell}: {transfer:x?}");
}

/// C1, C9: PUTs of these lengths to each cell, the own one included. The data are exact. Each flag with an address
/// counts once.
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

/// C13: a transfer to the own cell does not use the network.
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
    assert_eq!(machine.sent(0), 0);
}

/// C10: a GET with strides on both sides. The program of the other cell has nothing to do.
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

/// C8, C12: PUTs of all cells share one flag, which counts each of them. The PUTs of one pair of cells are in order.
#[test]
fn c8_shared_flag() {
    let mut machine = machine(3, 3, SLOW);
    const EACH: u32 = 12;
    let before = word(&machine, 0, 0x6_0000);
    for round in 0..EACH {
        for cell in 0..9 {
            // Each PUT of a cell overwrites the words of the one before.
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

/// C11: after the flag of a GET of no words has counted, the PUT before it is in memory.
#[test]
fn c11_acknowledge() {
    pass(this_test!(), |cases| cases.case(Start::Random1, "", acknowledge));
}

fn acknowledge(run: &Run) -> Result<(), Fault> {
    let mut rng = run.rng("transfers");
    let mut machine = machine(2, 2, SLOW);
    for round in 0..200 {
        // Two other cells use the same cell.
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
            machine.step();
            waited += 1;
            assert!(waited < 20_000, "round {round}: {}", report(&mut machine));
        }
        arrived(&machine, 3, transfer, &want);
    }
    Ok(())
}

/// C22: fetch-and-or and compare-and-swap of all cells on one word. One cell sees each bit unset. The counter is exact.
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
    // The results are a chain of bits, one more each.
    let mut seen: Vec<u32> = (0..16).map(|cell| word(&machine, cell, 0x2_0000) & 0xffff).collect();
    seen.sort_by_key(|bits| bits.count_ones());
    for (n, bits) in seen.iter().enumerate() {
        assert_eq!(bits.count_ones() as usize, n, "{seen:x?}");
        assert!(n == 0 || bits & seen[n - 1] == seen[n - 1], "{seen:x?}");
    }

    // Each cell increments the counter, by compare and swap, until it has succeeded in all rounds.
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

/// C28: a broadcast to a row, to a column or to all arrives in each of these cells once, and in no other.
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

/// C29, on 16 cells: each one gets many words from all at once. All arrive.
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

/// While a message has a ring, MODE of this ring says so, and that of no other.
#[test]
fn a_ring_is_busy_until_its_message_is_in() {
    const WORDS: u32 = 1000;
    let first = 0x4_0000 / RING_BYTES;
    let mut machine = machine(2, 1, SLOW);
    let ring = Ring {
        on: true,
        size: RING_SIZE_128K,
        context: CONTEXT,
        ..Ring::default()
    };
    machine.write(1, RING1_WRITE, first);
    machine.write(1, RING1_MODE, ring.mode());
    let head = machine.relative(0, 1);
    machine.store(0, KIND_PUT | PAGE_SEND_MASK, &[head, WORDS, 0, 0, 0x1_0000, 0, 1, 2]);
    let busy = |machine: &mut Machine| {
        let modes = [RING0_MODE, RING1_MODE, RING2_MODE].map(|offset| machine.read(1, offset));
        modes.map(|mode| mode & RING0_MODE_BUSY_MASK != 0)
    };
    let mut waited = 0;
    while busy(&mut machine) != [false, true, false] {
        waited += 1;
        assert!(waited < 500, "{}", report(&mut machine));
    }
    settle(&mut machine, 20_000);
    assert_eq!(busy(&mut machine), [false; 3]);
    assert_eq!(machine.read(1, RING1_WRITE), first + slots(WORDS));
}
