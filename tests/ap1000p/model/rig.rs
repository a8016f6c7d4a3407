//! A machine in a test's hands: the golden model or the RTL.

use std::collections::VecDeque;

use tsunagi::ap1000p::golden::window;
use tsunagi::ap1000p::model::ModelMachine;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl;
use tsunagi::harness::backend::{AnyBackend, Backend, HostReq, HostRsp};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, NodeId, Picos};

/// Cycles that nothing here takes.
pub const LONG: u64 = 400_000;
/// Where the tables are; below it each word differs.
pub const TABLES: u32 = 0x7_0000;
/// Where the queues overflow to.
pub const SPILL: u32 = 1 << 19;
pub const USER: u32 = 5;
/// Logical addresses from here on are pages of 4 KB: see [`map`].
pub const SMALL: u32 = 0x100_0000;
/// A page of those is what so much of cell memory is.
pub const BACKING: u32 = 0x5_0000;
pub const FLAG: u32 = 0x6_0000;

/// A machine in a test's hands.
pub trait Rig {
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
pub struct Driven<B> {
    pub machine: B,
    pub period: Picos,
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

/// A read, or a write of this word.
fn access(addr: u64, write: Option<u32>) -> HostReq {
    write.map_or(HostReq::read(addr), |word| HostReq::write(addr, word))
}

impl<B: Backend> Rig for Driven<B> {
    fn store(&mut self, cell: usize, page: u32, words: &[u32]) {
        let addr = window::page(page);
        self.stores[cell].extend(words.iter().map(|&word| HostReq::write(addr, word)));
    }

    fn host(&mut self, cell: usize, offset: u32, write: Option<u32>) -> (u32, bool) {
        self.start(cell, access(window::register(offset), write));
        let rsp = self.answer(cell).expect("a register access is answered");
        (rsp.value as u32, rsp.error)
    }

    fn creg(&mut self, cell: usize, register: u8, write: Option<u32>) -> Option<Option<u32>> {
        self.start(cell, access(window::creg(register), write));
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
pub fn entry(addr: u32, kind: u32) -> u32 {
    let physical = u64::from(CELL_SPACE) << 32 | u64::from(addr);
    (physical >> 4) as u32 & !3 | kind
}

/// The page of 4 KB that stands in table place `place` of [`SMALL`]; its right is the SPARC's, 3 for all.
pub fn map(rig: &mut dyn Rig, cell: usize, place: u32, right: u32) {
    let page = entry(BACKING + (place << 12), ENTRY_PAGE) | right << TABLE_ACCESS_SHIFT;
    rig.set_word(cell, TABLES + 0x4800 + 4 * place, page);
}

/// Each cell's process sees its memory as it is, and from [`SMALL`] on what [`map`] maps. All causes interrupt.
pub fn prepare(rig: &mut dyn Rig, cells: usize) {
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

pub fn config(columns: u32, rows: u32) -> Config {
    Config {
        columns,
        rows,
        ..Config::paper()
    }
}

pub fn model(config: &Config) -> Driven<ModelMachine> {
    let mut rig = Driven::new(config, ModelMachine::new(config));
    prepare(&mut rig, config.cells());
    rig
}

pub fn rtl(config: &Config) -> Driven<AnyBackend> {
    let machine = rtl::build(config, &Probe::default()).expect("links of this rate are built");
    let mut rig = Driven::new(config, machine);
    prepare(&mut rig, config.cells());
    rig
}
