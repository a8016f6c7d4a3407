//! The golden model of the AP1000+, and the RTL machine where it does the same: whole scenarios with equal memories, causes and counters at the end.

#[path = "ap1000p_model/ring.rs"]
mod ring;

use std::collections::VecDeque;

use tsunagi::ap1000p::host::layout::DEMAND;
use tsunagi::ap1000p::host::{self, Ap1000pSim, Combine};
use tsunagi::ap1000p::machine::Machine;
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::stride::places;
use tsunagi::ap1000p::window;
use tsunagi::harness::backend::{Backend, EventKind, HostReq, HostRsp};
use tsunagi::harness::memory::Memory;
use tsunagi::{Addr, NodeId, Picos};

/// Cycles that nothing here takes.
const LONG: u64 = 400_000;
/// Where the tables are; below it each word differs.
const TABLES: u32 = 0x7_0000;
/// Where the queues overflow to.
const SPILL: u32 = 1 << 19;
const USER: u32 = 5;
/// Logical addresses from here on are pages of 4 KB: see [`map`].
const SMALL: u32 = 0x100_0000;
/// A page of those is what so much of cell memory is.
const BACKING: u32 = 0x5_0000;
const FLAG: u32 = 0x6_0000;

/// A machine in a test's hands.
trait Rig {
    /// The processor of a cell stores words to a page, behind what it has yet to store.
    fn store(&mut self, cell: usize, page: u32, words: &[u32]);
    /// A register access.
    fn host(&mut self, cell: usize, offset: u32, write: Option<u32>) -> (u32, bool);
    /// An access of a communication register; the outer `None`: no answer for a long time.
    fn creg(&mut self, cell: usize, register: u8, write: Option<u32>) -> Option<Option<u32>>;
    /// The answer of an access that had none.
    fn creg_answer(&mut self, cell: usize) -> Option<Option<u32>>;
    fn memory(&mut self, cell: usize) -> &mut Memory;
    fn irq(&self, cell: usize) -> bool;
    /// Moves on a little.
    fn step(&mut self);
    fn cycle(&self) -> u64;
    fn at_rest(&self) -> bool;
    fn report(&self) -> String;

    fn read(&mut self, cell: usize, offset: u32) -> u32 {
        let (value, error) = self.host(cell, offset, None);
        assert!(!error, "there is no register {offset:#x}");
        value
    }

    fn write(&mut self, cell: usize, offset: u32, value: u32) {
        let (_, error) = self.host(cell, offset, Some(value));
        assert!(!error, "register {offset:#x} cannot be written");
    }

    fn word(&mut self, cell: usize, addr: u32) -> u32 {
        let bytes = self.memory(cell).read(Addr(addr), 4).expect("in memory");
        u32::from_le_bytes(bytes.try_into().expect("four"))
    }

    fn set_word(&mut self, cell: usize, addr: u32, word: u32) {
        assert!(self.memory(cell).write(Addr(addr), &word.to_le_bytes()));
    }

    /// Until nothing moves any more.
    fn settle(&mut self) {
        let start = self.cycle();
        while !self.at_rest() {
            assert!(self.cycle() < start + LONG, "does not come to rest: {}", self.report());
            self.step();
        }
    }

    /// So many cycles or a few more.
    fn pass(&mut self, cycles: u64) {
        let end = self.cycle() + cycles;
        while self.cycle() < end {
            self.step();
        }
    }
}

/// A machine driven as host programs drive it.
struct Driven<B> {
    machine: B,
    period: Picos,
    stores: Vec<VecDeque<HostReq>>,
    /// An access of a cell is under way; true if its answer is somebody's.
    busy: Vec<Option<bool>>,
}

impl<B: Backend> Driven<B> {
    fn new(config: &Config, machine: B) -> Driven<B> {
        let cells = machine.nodes();
        Driven {
            machine,
            period: config.period,
            stores: vec![VecDeque::new(); cells],
            busy: vec![None; cells],
        }
    }

    /// Starts a store in each cell that has one and does nothing else.
    fn start_stores(&mut self) {
        for cell in 0..self.stores.len() {
            if self.busy[cell] == Some(false) && self.machine.host_take(NodeId(cell as u16)).is_some() {
                self.busy[cell] = None;
            }
            if self.busy[cell].is_none()
                && let Some(store) = self.stores[cell].pop_front()
            {
                self.machine.host_start(NodeId(cell as u16), store);
                self.busy[cell] = Some(false);
            }
        }
    }

    fn start(&mut self, cell: usize, req: HostReq) {
        while !self.stores[cell].is_empty() || self.busy[cell] == Some(false) {
            self.step();
        }
        self.machine.host_start(NodeId(cell as u16), req);
        self.busy[cell] = Some(true);
    }

    fn answer(&mut self, cell: usize) -> Option<HostRsp> {
        for _ in 0..1000 {
            if let Some(rsp) = self.machine.host_take(NodeId(cell as u16)) {
                self.busy[cell] = None;
                return Some(rsp);
            }
            self.step();
        }
        None
    }
}

impl<B: Backend> Rig for Driven<B> {
    fn store(&mut self, cell: usize, page: u32, words: &[u32]) {
        let offset = window::page(page);
        self.stores[cell].extend(words.iter().map(|&value| HostReq::Write { offset, value }));
    }

    fn host(&mut self, cell: usize, offset: u32, write: Option<u32>) -> (u32, bool) {
        self.start(
            cell,
            match write {
                Some(value) => HostReq::Write { offset, value },
                None => HostReq::Read { offset },
            },
        );
        let rsp = self.answer(cell).expect("a register access is answered");
        (rsp.value as u32, rsp.error)
    }

    fn creg(&mut self, cell: usize, register: u8, write: Option<u32>) -> Option<Option<u32>> {
        let offset = window::creg(register);
        self.start(
            cell,
            match write {
                Some(value) => HostReq::Write { offset, value },
                None => HostReq::Read { offset },
            },
        );
        self.creg_answer(cell)
    }

    fn creg_answer(&mut self, cell: usize) -> Option<Option<u32>> {
        let rsp = self.answer(cell)?;
        Some((!rsp.error).then_some(rsp.value as u32))
    }

    fn memory(&mut self, cell: usize) -> &mut Memory {
        self.machine.memory(NodeId(cell as u16))
    }

    fn irq(&self, cell: usize) -> bool {
        self.machine.irq(NodeId(cell as u16))
    }

    fn step(&mut self) {
        self.start_stores();
        let next = self.machine.now() + self.period;
        self.machine.advance(next);
        self.start_stores();
    }

    fn cycle(&self) -> u64 {
        self.machine.now().0 / self.period.0
    }

    fn at_rest(&self) -> bool {
        let quiet = |cell: usize| self.stores[cell].is_empty() && self.busy[cell] != Some(false);
        self.machine.next_event().is_none() && (0..self.stores.len()).all(quiet)
    }

    fn report(&self) -> String {
        format!("at {}\n{}", self.machine.now(), self.machine.hang_report())
    }
}

/// A physical address in cell memory, as a word of a page table has it.
fn entry(addr: u32, kind: u32) -> u32 {
    let physical = u64::from(CELL_SPACE) << 32 | u64::from(addr);
    (physical >> 4) as u32 & !3 | kind
}

/// The page of 4 KB that stands in table place `place` of [`SMALL`]; its right is the SPARC's, 3 for all.
fn map(rig: &mut dyn Rig, cell: usize, place: u32, right: u32) {
    let page = entry(BACKING + (place << 12), ENTRY_PAGE) | right << TABLE_ACCESS_SHIFT;
    rig.set_word(cell, TABLES + 0x4800 + 4 * place, page);
}

/// Each cell's process sees its memory as it is, and from [`SMALL`] on what [`map`] maps. All causes interrupt.
fn prepare(rig: &mut dyn Rig, cells: usize) {
    for cell in 0..cells {
        for at in (0..TABLES).step_by(4) {
            rig.set_word(cell, at, at.wrapping_mul(0x9e37_79b1) ^ cell as u32);
        }
        let [first, second, third] = [0x4000, 0x4400, 0x4800].map(|offset| TABLES + offset);
        rig.set_word(cell, TABLES + 4 * USER, entry(first, ENTRY_TABLE));
        rig.set_word(cell, first, entry(0, ENTRY_PAGE) | 3 << TABLE_ACCESS_SHIFT);
        rig.set_word(cell, first + 4, entry(second, ENTRY_TABLE));
        rig.set_word(cell, second, entry(third, ENTRY_TABLE));
        for (offset, value) in [
            (CONTEXT_TABLE, TABLES),
            (CONTEXT, USER),
            // More than there can be: it reads as the most, of model and RTL alike.
            (SPILL_REGION, SPILL >> 19 | 100 << SPILL_REGION_LIMIT_SHIFT),
            (RANGE, 0x7f81_7f81),
            (ENABLE, ENABLE_CAUSES_MASK),
        ] {
            rig.write(cell, offset, value);
        }
    }
}

fn config(columns: u32, rows: u32) -> Config {
    Config {
        columns,
        rows,
        ..Config::paper()
    }
}

fn model(config: &Config) -> Driven<ModelMachine> {
    let mut rig = Driven::new(config, ModelMachine::new(config));
    prepare(&mut rig, config.cells());
    rig
}

fn rtl(config: &Config) -> Driven<Machine> {
    let mut rig = Driven::new(config, Machine::new(config).expect("links of this rate are built"));
    prepare(&mut rig, config.cells());
    rig
}

/// What software finds at the end, of a cell.
#[derive(PartialEq, Eq)]
struct End {
    memory: Vec<u8>,
    registers: Vec<(u32, u32)>,
    cregs: Vec<Option<u32>>,
}

/// Runs a scenario on the model and on the RTL, and holds what is left in all cells against each other.
fn both(columns: u32, rows: u32, scenario: impl Fn(&mut dyn Rig)) {
    let config = config(columns, rows);
    let cells = config.cells();
    let [golden, hardware] = [&mut model(&config) as &mut dyn Rig, &mut rtl(&config) as &mut dyn Rig].map(|rig| {
        scenario(rig);
        (0..cells).map(|cell| end(rig, cell)).collect::<Vec<_>>()
    });
    for (cell, (golden, hardware)) in golden.iter().zip(&hardware).enumerate() {
        assert_eq!(golden.registers, hardware.registers, "cell {cell}: registers");
        assert_eq!(golden.cregs, hardware.cregs, "cell {cell}: communication registers");
        let differs = golden.memory.iter().zip(&hardware.memory).position(|(a, b)| a != b);
        assert_eq!(differs, None, "cell {cell}: first byte of memory that differs");
    }
}

fn end(rig: &mut dyn Rig, cell: usize) -> End {
    rig.settle();
    let offsets = [
        CELL,
        SIZE,
        CONTEXT,
        RANGE,
        CONTEXT_TABLE,
        SPILL_REGION,
        MODE,
        STATUS,
        CAUSE,
        ENABLE,
        FAULTS,
        ACKS,
        STRAY_COUNT,
        REFUSED_COUNT,
        BROKEN_COUNT,
        BROKEN_WHAT,
        OPEN,
        HELD,
        RING0_WRITE,
        RING0_MODE,
        RING0_READ,
        RING1_WRITE,
        RING1_MODE,
        RING1_READ,
        RING2_WRITE,
        RING2_MODE,
        RING2_READ,
        ID,
    ];
    let mut registers = offsets.map(|offset| (offset, rig.read(cell, offset))).to_vec();
    if rig.read(cell, REFUSED_COUNT) & REFUSED_COUNT_COUNT_MASK == 0 {
        // Of nothing refused there is no page and no cause.
        for (offset, value) in &mut registers {
            match *offset {
                REFUSED_COUNT => *value &= REFUSED_COUNT_COUNT_MASK,
                OPEN => *value &= !OPEN_CAUSE_MASK,
                _ => {}
            }
        }
    }
    // Registers that are empty are faults, not waits.
    rig.write(cell, MODE, MODE_FAULT_HOST_MASK);
    let cregs = (0..128)
        .map(|register| rig.creg(cell, register, None).expect("answered"))
        .collect();
    End {
        memory: rig
            .memory(cell)
            .read(Addr(0), SPILL as usize)
            .expect("in memory")
            .to_vec(),
        registers,
        cregs,
    }
}

/// What the parameters of PUT and GET say.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    words: u32,
    dest: u32,
    dest_stride: u32,
    dest_flag: u32,
    source_flag: u32,
    source: u32,
    source_stride: u32,
}

impl Transfer {
    /// The eight words, for a cell so far away.
    fn to(self, [dx, dy]: [i32; 2]) -> [u32; 8] {
        [
            (dx as u32 & 0xff) << COMMAND_HEAD_DX_SHIFT | dy as u32 & 0xff,
            self.words,
            self.dest,
            self.dest_stride,
            self.dest_flag,
            self.source_flag,
            self.source,
            self.source_stride,
        ]
    }

    fn at_source(&self, rig: &mut dyn Rig, cell: usize) -> Vec<u32> {
        let at = places(self.source, self.source_stride, self.words);
        at.map(|at| rig.word(cell, at)).collect()
    }

    fn at_dest(&self, rig: &mut dyn Rig, cell: usize) -> Vec<u32> {
        let at = places(self.dest, self.dest_stride, self.words);
        at.map(|at| rig.word(cell, at)).collect()
    }
}

fn distance(columns: usize, from: usize, to: usize) -> [i32; 2] {
    let part = |from: usize, to: usize| to as i32 - from as i32;
    [part(from % columns, to % columns), part(from / columns, to / columns)]
}

#[test]
fn puts_of_all_lengths() {
    both(2, 2, |rig| {
        for to in 0..4 {
            for (number, words) in [0, 1, 2, 255, 256, 257, 1000].into_iter().enumerate() {
                let flag = FLAG + 8 * number as u32;
                let transfer = Transfer {
                    words,
                    dest: 0x3_0000 + 0x40 * words,
                    dest_flag: flag,
                    source_flag: flag + 4,
                    source: 0x1_0004 + 0x2000 * number as u32,
                    ..Transfer::default()
                };
                let want = transfer.at_source(rig, 1);
                let flags = |rig: &mut dyn Rig| [rig.word(to, flag), rig.word(1, flag + 4)];
                let before = flags(rig);
                rig.store(1, KIND_PUT, &transfer.to(distance(2, 1, to)));
                rig.settle();
                assert_eq!(transfer.at_dest(rig, to), want);
                assert_eq!(flags(rig), before.map(|flag| flag.wrapping_add(1)));
            }
        }
    });
}

#[test]
fn strides_of_puts_and_gets() {
    both(3, 2, |rig| {
        // {item, gap}: 0 is 256.
        let strides = [0, 1 << 24 | 1, 3 << 24 | 5, 255 << 24 | 2, 8 << 24 | 0xff_fffc];
        for (n, &source_stride) in strides.iter().enumerate() {
            for (m, &dest_stride) in strides[..4].iter().enumerate() {
                let transfer = Transfer {
                    words: 300,
                    dest: 0x2_0000,
                    dest_stride,
                    dest_flag: FLAG,
                    source_flag: FLAG + 8,
                    source: 0x1_0000,
                    source_stride,
                };
                let (kind, from, to) = if (n + m) % 2 == 0 {
                    (KIND_PUT, 4, 0)
                } else {
                    (KIND_GET, 0, 4)
                };
                let want = transfer.at_source(rig, 4);
                rig.store(from, kind, &transfer.to(distance(3, from, to)));
                rig.settle();
                assert_eq!(transfer.at_dest(rig, 0), want, "{transfer:x?}");
            }
        }
    });
}

/// The flag of a GET of no words says that the PUT before it is in memory.
#[test]
fn a_get_of_nothing_acknowledges() {
    both(2, 2, |rig| {
        for round in 0..20 {
            let transfer = Transfer {
                words: 1 + 7 * round,
                dest: 0x2_0000,
                source: 0x1_0000 + 0x20 * round,
                ..Transfer::default()
            };
            let acknowledge = Transfer {
                dest_flag: FLAG,
                ..Transfer::default()
            };
            let want = transfer.at_source(rig, 0);
            let flag = rig.word(0, FLAG);
            rig.store(0, KIND_PUT, &transfer.to([1, 1]));
            rig.store(0, KIND_GET, &acknowledge.to([1, 1]));
            let start = rig.cycle();
            while rig.word(0, FLAG) == flag {
                assert!(rig.cycle() < start + LONG, "{}", rig.report());
                rig.step();
            }
            assert_eq!(transfer.at_dest(rig, 3), want);
        }
    });
}

#[test]
fn to_the_own_cell() {
    both(2, 1, |rig| {
        let transfer = Transfer {
            words: 100,
            dest: 0x2_0000,
            dest_flag: FLAG,
            source: 0x1_0000,
            source_flag: FLAG,
            ..Transfer::default()
        };
        rig.store(0, KIND_PUT, &transfer.to([0, 0]));
        let dest = 0x3_0000;
        rig.store(0, KIND_GET, &Transfer { dest, ..transfer }.to([0, 0]));
        // A turn further.
        rig.store(0, KIND_FOP, &[0, 1, 0x4_0000, 0, FLAG, 0x4_0004, 0xffff, 0xf0]);
        rig.settle();
    });
}

#[test]
fn broadcasts() {
    let all = PAGE_ROW_MASK | PAGE_COLUMN_MASK;
    // The last, to another column than the own.
    let kinds = [
        (PAGE_ROW_MASK, 0),
        (PAGE_COLUMN_MASK, 0),
        (all, 0),
        (PAGE_COLUMN_MASK, 1),
    ];
    both(4, 3, |rig| {
        for (number, (axis, away)) in kinds.into_iter().enumerate() {
            let transfer = Transfer {
                words: 40,
                dest: 0x2_0000 + 0x1000 * number as u32,
                dest_flag: FLAG + 4 * number as u32,
                source: 0x1_0000,
                ..Transfer::default()
            };
            rig.store(6, KIND_PUT | axis, &transfer.to([away, 0]));
            rig.settle();
        }
    });
}

#[test]
fn a_broadcast_to_all_reaches_each_cell_once() {
    let mut rig = model(&config(4, 3));
    let transfer = Transfer {
        words: 40,
        dest: 0x2_0000,
        dest_flag: FLAG,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let want = transfer.at_source(&mut rig, 6);
    let before: Vec<u32> = (0..12).map(|cell| rig.word(cell, FLAG)).collect();
    rig.store(6, KIND_PUT | PAGE_ROW_MASK | PAGE_COLUMN_MASK, &transfer.to([0, 0]));
    rig.settle();
    for (cell, before) in before.into_iter().enumerate() {
        assert_eq!(transfer.at_dest(&mut rig, cell), want, "cell {cell}");
        assert_eq!(rig.word(cell, FLAG), before.wrapping_add(1), "cell {cell}");
    }
}

#[test]
fn atomics() {
    both(2, 2, |rig| {
        let old = rig.word(3, FLAG);
        for (kind, a, b) in [
            (KIND_FOP, 0xffff_0000, 0x1234),
            (KIND_CSI, old & 0xffff_0000 | 0x1234, 77),
            (KIND_CSI, 76, 78),
        ] {
            rig.store(0, kind, &[0x101, 1, 0x2_0000, 0, FLAG + 8, FLAG, a, b]);
            rig.settle();
        }
        assert_eq!((rig.word(3, FLAG), rig.word(0, 0x2_0000)), (77, 77));
    });
    // Under contention: what each cell saw is one bit more than another saw.
    for rig in [
        &mut model(&config(4, 4)) as &mut dyn Rig,
        &mut rtl(&config(4, 4)) as &mut dyn Rig,
    ] {
        rig.set_word(5, FLAG, 0);
        for cell in 0..16 {
            let head = Transfer::default().to(distance(4, cell, 5))[0];
            rig.store(cell, KIND_FOP, &[head, 1, 0x2_0000, 0, 0, FLAG, !0, 1 << cell]);
        }
        rig.settle();
        let mut seen: Vec<u32> = (0..16).map(|cell| rig.word(cell, 0x2_0000)).collect();
        seen.push(rig.word(5, FLAG));
        seen.sort_by_key(|bits| bits.count_ones());
        for (n, bits) in seen.iter().enumerate() {
            assert_eq!(bits.count_ones() as usize, n, "{seen:x?}");
            assert!(n == 0 || bits & seen[n - 1] == seen[n - 1], "{seen:x?}");
        }
    }
}

#[test]
fn each_of_16_cells_gets_from_all() {
    both(4, 4, |rig| {
        let before: Vec<u32> = (0..16).map(|cell| rig.word(cell, FLAG)).collect();
        for to in 0..16 {
            for from in 0..16 {
                let transfer = Transfer {
                    words: 64,
                    dest: 0x2_0000 + 0x100 * to as u32,
                    dest_flag: FLAG,
                    source: 0x1_0000 + 0x100 * from as u32,
                    ..Transfer::default()
                };
                rig.store(from, KIND_GET, &transfer.to(distance(4, from, to)));
            }
        }
        rig.settle();
        for (cell, before) in before.into_iter().enumerate() {
            assert_eq!(rig.word(cell, FLAG), before.wrapping_add(16), "cell {cell}");
        }
    });
}

/// What software does about a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Service {
    Map,
    GiveUp,
}

/// Serves the only fault of a cell, which is shown by this unit at this address; leaves CAUSE as it is when all is done.
fn serve(rig: &mut dyn Rig, cell: usize, unit: u32, reason: u32, addr: u32, service: Service) {
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

/// A broadcast to all whose first column's data have no page, but whose others' do: those get them, and the send flag stands.
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

/// A PUT or GET of registers waits for the last one, and nothing of it is seen before; not of registers alone, or of one that is empty and may
/// not wait, it ends early.
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

/// As many words as a length can say: a stride that comes back to where it was has them in 256.
#[test]
fn the_longest_put() {
    let mut rig = model(&config(2, 1));
    let back = 256_u32.wrapping_neg() & 0xff_ffff;
    let transfer = Transfer {
        words: COMMAND_LENGTH_WORDS_MASK,
        dest: 0x2_0000,
        dest_stride: back,
        dest_flag: FLAG,
        source_flag: FLAG + 4,
        source: 0x1_0000,
        source_stride: back,
    };
    let want = Transfer { words: 256, ..transfer }.at_source(&mut rig, 0);
    let flags = [(1, FLAG), (0, FLAG + 4)];
    let before = flags.map(|(cell, at)| rig.word(cell, at));
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    let words = u64::from(transfer.words);
    while !rig.at_rest() {
        assert!(rig.cycle() < 16 * words, "{}", rig.report());
        rig.step();
    }
    assert!(rig.cycle() > 8 * words, "a word takes 8 cycles on a link");
    assert_eq!(Transfer { words: 256, ..transfer }.at_dest(&mut rig, 1), want);
    assert_eq!(
        flags.map(|(cell, at)| rig.word(cell, at)),
        before.map(|was| was.wrapping_add(1))
    );
}

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

/// Stores them in cell 0, has `spoil` done to its memory before and after, then lets all go. Says which of them came to cell 1.
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
    // What the controller has read ahead is its own matter.
    assert!((160..=178).contains(&elements), "{elements} elements");
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

/// Eight elements are lost: where they stand in their messages depends on what the queue itself took, so they are of two messages at most. All others come.
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

/// Cycles from the last store of a PUT to the flag at its end.
fn latency(rig: &mut dyn Rig, words: u32) -> u64 {
    let transfer = Transfer {
        words,
        dest: 0x2_0000,
        dest_flag: FLAG,
        source: 0x1_0000,
        ..Transfer::default()
    };
    // Translations, once.
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    rig.settle();
    let before = rig.word(1, FLAG);
    let start = rig.cycle();
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    while rig.word(1, FLAG) == before {
        assert!(rig.cycle() < start + LONG);
        rig.step();
    }
    // Eight stores in two cycles each.
    rig.cycle() - start - 16
}

/// The budget of a PUT: 4 + 6 + 12 to the first word, 6 + n words of 8 and two routers of 8, 8 + 12 to memory, 20 for the flag: 40 ns a byte.
#[test]
fn latency_of_a_put() {
    let mut paper = model(&config(2, 1));
    for words in [1, 2, 100] {
        let expected = 4 + 6 + 12 + 8 * (6 + u64::from(words)) + 2 * 8 + 8 + 12 + 20;
        assert_eq!(latency(&mut paper, words), expected, "{words} words");
    }
    for link_cycles in [8, 1] {
        let config = Config {
            link_cycles,
            ..config(2, 1)
        };
        let [model, rtl] =
            [&mut model(&config) as &mut dyn Rig, &mut rtl(&config) as &mut dyn Rig].map(|rig| latency(rig, 1));
        println!("PUT of one word, {link_cycles} cycles a word, last store to flag: model {model}, RTL {rtl} cycles");
        // Not the same, but the same machine.
        assert!(model.abs_diff(rtl) <= 50, "model {model}, RTL {rtl} cycles");
    }
}

/// What a host program's experiment is told of a message on the network.
#[test]
fn events() {
    let mut rig = model(&config(2, 1));
    rig.machine.record(true);
    let transfer = Transfer {
        words: 3,
        dest: 0x2_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    rig.settle();
    let events = rig.machine.take_events();
    assert!(events.is_sorted_by_key(|event| event.at));
    let at = |node: u16, kind: EventKind| {
        let event = events
            .iter()
            .find(|event| event.node == NodeId(node) && event.kind == kind);
        event.expect("it was recorded").at
    };
    let first = at(0, EventKind::TxFirst { head: 1 });
    let period = rig.period;
    assert_eq!(at(0, EventKind::TxLast { flits: 9 }), first + period * 72);
    assert_eq!(at(1, EventKind::RxFirst { head: 1 }), first + period * 16);
    assert_eq!(at(1, EventKind::RxLast { flits: 9 }), first + period * 88);
}

/// The host software runs on the model: pages on demand, a lock, reductions and barriers, on up to 256 cells.
#[test]
fn host_programs() {
    for (columns, rows) in [(4, 4), (16, 16)] {
        let config = config(columns, rows);
        let cells = config.cells() as u32;
        let mut sim = Ap1000pSim::new(ModelMachine::new(&config), config).expect("boots");
        let (home, counter) = (NodeId(1), Addr(0x5_0000));
        sim.spawn_all(move |cell| async move {
            let id = cell.id();
            cell.set_words(Addr(0x1_0ff0), &[u32::from(id.0); 2000]);
            let transfer = host::Transfer {
                words: 2000,
                source: Addr(DEMAND + 0x1_0ff0),
                dest: Addr(DEMAND + 0x2_0100),
                dest_flag: Some(Addr(FLAG)),
                ..host::Transfer::default()
            };
            let next = NodeId((id.0 + 1) % cells as u16);
            cell.put_stride(next, &transfer).await.unwrap();
            cell.wait_flag(Addr(FLAG), 1).await.unwrap();
            let sum = cell.reduce(Combine::Sum, u32::from(id.0)).await.unwrap();
            assert_eq!(sum, cells * (cells - 1) / 2);
            if id.0 < 16 {
                cell.lock(home, Addr(0x5_0004)).await.unwrap();
                let (here, put) = (Addr(0x100), Addr(0x104));
                let flag = Addr(FLAG + 4);
                cell.get(home, counter, 1, here, Some(flag), None).await.unwrap();
                cell.wait_flag(flag, 1).await.unwrap();
                cell.set_word(put, cell.word(here) + 1);
                let transfer = host::Transfer {
                    words: 1,
                    source: put,
                    dest: counter,
                    ..host::Transfer::default()
                };
                cell.ack_put(home, &transfer).await.unwrap();
                cell.unlock(home, Addr(0x5_0004)).await.unwrap();
            }
            cell.barrier().await.unwrap();
            cell.barrier_by_flags().await.unwrap();
        });
        sim.run(Picos::from_us(200_000.0)).unwrap();
        assert_eq!(sim.take_faults(), []);
        assert_eq!(sim.cell(home).word(counter), 16);
        for number in 0..cells {
            let from = (number + cells - 1) % cells;
            let words = sim.cell(NodeId(number as u16)).words(Addr(0x2_0100), 2000);
            assert_eq!(words, [from; 2000]);
        }
    }
}
