//! The cell behind AXI: two of them joined back to back, memory and processor on AXI, with the protocol watched on every interface.

use std::collections::VecDeque;

use testbenches::rtl::{Ap1000pCellAxi, TwinCellAxiError, TwinCellAxiSingle};
use testbenches::{m_axi_ar, m_axi_aw, m_axi_w, s_axi, s_axil, set_m_axi_b, set_m_axi_r, set_s_axi, set_s_axil};
use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::axi::{
    AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, FromSlave, Kind, Resp, Rule, Rules, WriteBeat, WriteOrder,
};
use tsunagi::harness::memory::{Memory, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::{Context, Unit};

use crate::machine::{MEMORY, SETTINGS, fill, machine, word};
use crate::{PERIOD, STARTS, started};

/// Bytes of the bus to the memory, and of the window.
const BUS: u32 = 8;
/// Bits 35:32 of addresses of command pages, and of communication registers.
const PAGES: u64 = 0xa << 32;
const CREGS: u64 = 0xb << 32;
/// In the latter, of the other cell's.
const OTHER_CREGS: u64 = CREGS | 1 << 28;
/// The other cell's memory, seen from cell 0.
const OTHER: u64 = 1 << 25;

/// A word on the link, as the ports have it: channel, word, last.
type Word = (u8, u32, bool);

trait Cell: Unit {
    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, memory: &FromSlave, host: &FromMaster, window: (&FromMaster, u64));
    fn set_link(&self, came: Option<Word>, credits: u8);
    /// What its interfaces to memory, to the host and of the window drive.
    fn seen(&self) -> (FromMaster, FromSlave, FromSlave);
    /// What it sends, and the places that became free.
    fn link(&self) -> (Option<Word>, u8);
    fn lines(&self) -> [bool; 2];
}

macro_rules! cells {
    ($($unit:ident)+) => {$(
        impl Cell for $unit {
            fn set_clk(&self, clk: bool, rst: bool) {
                self.aclk.set_bool(clk);
                self.aresetn.set_bool(!rst);
            }

            fn set(&self, memory: &FromSlave, host: &FromMaster, window: (&FromMaster, u64)) {
                set_m_axi_r!(self, memory);
                set_m_axi_b!(self, memory);
                set_s_axil!(self, host);
                set_s_axi!(self, window.0, window.1);
            }

            fn set_link(&self, came: Option<Word>, credits: u8) {
                let (vc, word, last) = came.unwrap_or((3, 0xbad0_bad1, true));
                self.rx_valid_i.set_bool(came.is_some());
                self.rx_vc_i.set(vc);
                self.rx_data_i.set(word);
                self.rx_last_i.set_bool(last);
                self.tx_credit_i.set(credits);
            }

            fn seen(&self) -> (FromMaster, FromSlave, FromSlave) {
                let memory = FromMaster {
                    aw: m_axi_aw!(self),
                    w: m_axi_w!(self),
                    b_ready: self.m_axi_bready.is_set(),
                    ar: m_axi_ar!(self),
                    r_ready: self.m_axi_rready.is_set(),
                };
                (memory, s_axil!(self), s_axi!(self))
            }

            fn link(&self) -> (Option<Word>, u8) {
                let word = (self.tx_vc_o.get(), self.tx_data_o.get(), self.tx_last_o.is_set());
                (self.tx_valid_o.is_set().then_some(word), self.rx_credit_o.get())
            }

            fn lines(&self) -> [bool; 2] {
                [self.irq.is_set(), self.busy.is_set()]
            }
        }
    )+};
}

cells!(Ap1000pCellAxi TwinCellAxiError TwinCellAxiSingle);

/// What became of a beat: its data, unless it was refused.
type Answer = Option<u64>;

/// A cell with what is on its interfaces.
struct Node<U> {
    dut: U,
    memory: Memory,
    agent: AxiMemory,
    host: AxiMaster,
    window: AxiMaster,
    /// What the window's addresses are counted from: the harness has 32 bits of them.
    base: u64,
    /// Memory's, host's, window's.
    rules: [Rules; 3],
    /// Answers of host and window that came.
    answers: [VecDeque<Answer>; 2],
}

struct Pair<'a, U> {
    nodes: [Node<U>; 2],
    recorder: Recorder<'a>,
    context: Context,
    cycle: u64,
}

impl<'a, U: Cell> Pair<'a, U> {
    /// Reset, with one process in a torus of two cells. `pauses`: everything does, at random.
    fn new(case: &Case, start: &str, pauses: bool, probe: &'a Probe) -> Self {
        let context = started(case, start);
        let timing = AxiTiming {
            read_latency: Cycle(if pauses { 9 } else { 0 }),
            write_latency: Cycle(if pauses { 6 } else { 0 }),
            stalls: pauses,
            order: WriteOrder::Any,
        };
        let gaps = if pauses { Gaps::Both } else { Gaps::None };
        let nodes = [0, 1].map(|number| {
            let rng = |part: &str| case.rng(&format!("{number} {part}"));
            let mut memory = Memory::new(MEMORY as usize);
            fill(&mut memory, number);
            Node {
                dut: U::named(&context, &format!("cell{number}")),
                memory,
                agent: AxiMemory::new(BUS, timing, |name| rng(&format!("memory {name}"))),
                host: AxiMaster::new(gaps, |name| rng(&format!("host {name}"))),
                window: AxiMaster::new(gaps, |name| rng(&format!("window {name}"))),
                base: 0,
                rules: [
                    Rules::new(BUS),
                    // AXI4-Lite always means the whole word, whatever the low bits of the address.
                    Rules::new(4).without(&[Rule::Lanes]),
                    Rules::new(BUS),
                ],
                answers: [VecDeque::new(), VecDeque::new()],
            }
        });
        let recorder = Recorder::new(probe, &[&nodes[0].dut, &nodes[1].dut]);
        let mut pair = Pair {
            nodes,
            recorder,
            context,
            cycle: 0,
        };
        for _ in 0..4 {
            pair.step(true);
        }
        // As AXI has it: a master offers nothing before the first edge out of reset.
        pair.step(false);
        for cell in 0..2 {
            pair.write(cell, CELL, cell as u32);
            pair.write(cell, SIZE, 2 | 1 << SIZE_Y_SHIFT);
            for (offset, value) in SETTINGS {
                pair.write(cell, offset, value);
            }
        }
        pair
    }

    /// A clock cycle.
    fn step(&mut self, rst: bool) {
        let links = self.nodes.each_ref().map(|node| node.dut.link());
        let time = self.cycle * PERIOD;
        for clk in [false, true] {
            self.context.set_time(time + if clk { PERIOD / 2 } else { 0 });
            for (number, node) in self.nodes.iter_mut().enumerate() {
                if clk || rst {
                    node.dut.set_clk(clk, rst);
                    node.dut.junk();
                    node.dut.eval();
                    continue;
                }
                let (slave, host, window) = (*node.agent.ports(), node.host.drive(), node.window.drive());
                node.dut.set(&slave, &host, (&window, node.base));
                let (came, credits) = links[1 - number];
                node.dut.set_link(came, credits);
                node.dut.set_clk(clk, rst);
                node.dut.junk();
                node.dut.eval();
                let (to_memory, to_host, to_window) = node.dut.seen();
                assert!(to_memory.is_plain(), "{to_memory:x?}");
                let seen = [(&to_memory, &slave), (&host, &to_host), (&window, &to_window)];
                for (rules, (master, slave)) in node.rules.iter_mut().zip(seen) {
                    let kept = rules.step(master, slave);
                    kept.unwrap_or_else(|e| panic!("cycle {}, cell {number}: {e}", self.cycle));
                }
                let taken = [node.host.step(&to_host), node.window.step(&to_window)];
                for (answers, taken) in node.answers.iter_mut().zip(taken) {
                    let answer = |resp, data| match resp {
                        Resp::Okay => Some(data),
                        Resp::SlvErr => None,
                        other => panic!("cell {number} answers {other:?}"),
                    };
                    answers.extend(taken.r.map(|beat| answer(beat.resp, beat.data)));
                    answers.extend(taken.b.map(|end| answer(end.resp, 0)));
                }
                node.agent.step(Cycle(self.cycle), &mut node.memory, &to_memory, |_| ());
            }
            self.recorder.tick(self.context.time());
        }
        self.cycle += 1;
    }

    /// Steps until this is so.
    fn until<T>(&mut self, what: &str, mut met: impl FnMut(&mut Self) -> Option<T>) -> T {
        for _ in 0..40_000 {
            if let Some(found) = met(self) {
                return found;
            }
            self.step(false);
        }
        let memory = self.nodes.each_ref().map(|node| node.agent.report());
        panic!("cycle {}: still no {what}; memories: {memory:?}", self.cycle)
    }

    fn answer(&mut self, cell: usize, of_window: bool) -> Answer {
        self.until("answer", |pair| {
            pair.nodes[cell].answers[usize::from(of_window)].pop_front()
        })
    }

    /// A register access: what is read, 0 for a write; `None`: refused.
    fn register(&mut self, cell: usize, offset: u32, write: Option<(u32, u8)>) -> Answer {
        let burst = Burst::words(offset, 1, 4);
        let host = &mut self.nodes[cell].host;
        match write {
            None => host.read(burst),
            Some((value, strb)) => {
                let (data, last) = (value.into(), true);
                host.write(burst, [WriteBeat { data, strb, last }]);
            }
        }
        self.answer(cell, false)
    }

    fn write(&mut self, cell: usize, offset: u32, value: u32) {
        assert_eq!(self.register(cell, offset, Some((value, 0xf))), Some(0), "{offset:#x}");
    }

    fn read(&mut self, cell: usize, offset: u32) -> u32 {
        self.register(cell, offset, None).expect("there is such a register") as u32
    }

    /// Asks for a load of so many bytes at a physical address.
    fn ask(&mut self, cell: usize, addr: u64, bytes: u32) {
        let node = &mut self.nodes[cell];
        let low = addr as u32;
        node.base = addr - u64::from(low);
        node.window.read(Burst {
            size: bytes.ilog2() as u8,
            ..Burst::words(low, 1, BUS)
        });
    }

    /// Loads them.
    fn load(&mut self, cell: usize, addr: u64, bytes: u32) -> Answer {
        self.ask(cell, addr, bytes);
        let lane = 8 * (addr % 8) as u32;
        self.answer(cell, true)
            .map(|data| data >> lane & (u64::MAX >> (64 - 8 * bytes)))
    }

    /// Stores a burst of items of so many bytes at a physical address.
    fn store(&mut self, cell: usize, addr: u64, kind: Kind, bytes: u32, items: &[u64]) -> Answer {
        let node = &mut self.nodes[cell];
        let low = addr as u32;
        node.base = addr - u64::from(low);
        let burst = Burst {
            size: bytes.ilog2() as u8,
            kind,
            ..Burst::words(low, items.len() as u32, BUS)
        };
        let beats = items.iter().enumerate().map(|(number, &item)| {
            let place = burst.place(number as u32, BUS);
            WriteBeat {
                data: item << (8 * (place.addr % BUS)),
                strb: place.lanes,
                last: number + 1 == items.len(),
            }
        });
        node.window.write(burst, beats);
        self.answer(cell, true)
    }

    fn word(&self, cell: usize, addr: u32) -> u32 {
        let bytes = self.nodes[cell].memory.read(Addr(addr), 4).expect("in memory");
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }

    /// Until nothing is under way in either cell.
    fn settle(&mut self) {
        let mut quiet = 0;
        self.until("rest", |pair| {
            let busy = |node: &Node<U>| node.dut.lines()[1] || !node.agent.is_idle() || node.dut.link().0.is_some();
            quiet = if pair.nodes.iter().any(busy) { 0 } else { quiet + 1 };
            (quiet > 6).then_some(())
        });
    }
}

/// A PUT or GET of cell 0's.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    to: usize,
    words: u32,
    dest: u32,
    dest_stride: u32,
    dest_flag: u32,
    source_flag: u32,
    source: u32,
    source_stride: u32,
}

impl Transfer {
    fn command(&self) -> [u64; 8] {
        let head = (self.to as u32) << COMMAND_HEAD_DX_SHIFT;
        let [dest, source] = [
            [self.dest, self.dest_stride, self.dest_flag],
            [self.source_flag, self.source, self.source_stride],
        ];
        let words = [[head, self.words].as_slice(), &dest, &source].concat();
        std::array::from_fn(|word| words[word].into())
    }
}

/// Issues commands of either shape: a burst at one address, or over the page's first words.
fn issue<U: Cell>(pair: &mut Pair<U>, page: u32, transfer: &Transfer, fixed: bool) {
    let addr = PAGES | u64::from(page) << 12;
    let kind = if fixed { Kind::Fixed } else { Kind::Incr };
    assert_eq!(
        pair.store(0, addr, kind, 4, &transfer.command()),
        Some(0),
        "a command is taken"
    );
}

fn told<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Result<(), String> {
    if got == wanted {
        Ok(())
    } else {
        Err(format!("{what}: {got:x?}, not {wanted:x?}"))
    }
}

fn transfers<U: Cell>(case: &Case, start: &str, pauses: bool, probe: &Probe) -> Result<(), String> {
    let mut pair = Pair::<U>::new(case, start, pauses, probe);
    let mut rng: Rng = case.rng("transfers");
    for round in 0..24 {
        let words = [0, 1, 2, 7, 8, 9, 64, 255][round % 8] + rng.below(2) as u32;
        let mut stride = || match rng.below(3) {
            0 => 0,
            _ => (rng.between(1, 20) << 24 | rng.below(5)) as u32,
        };
        let (source_stride, dest_stride) = (stride(), stride());
        let (put, to) = (rng.chance(1, 2), rng.below(2) as usize);
        let transfer = Transfer {
            to,
            words,
            dest: 0x2_0000 + 4 * rng.below(64) as u32,
            dest_stride,
            dest_flag: 0x6_0000,
            source_flag: 0x6_0014,
            source: 0x1_0000 + 4 * rng.below(4096) as u32,
            source_stride,
        };
        let (from, at) = if put { (0, to) } else { (to, 0) };
        let source = places(transfer.source, source_stride, words).map(|addr| pair.word(from, addr));
        let wanted: Vec<u32> = source.collect();
        let flags = |pair: &Pair<U>| [pair.word(at, transfer.dest_flag), pair.word(from, transfer.source_flag)];
        let before = flags(&pair);
        issue(
            &mut pair,
            if put { KIND_PUT } else { KIND_GET },
            &transfer,
            rng.chance(1, 2),
        );
        pair.settle();
        let dest = places(transfer.dest, dest_stride, words).map(|addr| pair.word(at, addr));
        told(&format!("{transfer:x?}"), dest.collect(), wanted)?;
        told("flags", flags(&pair), before.map(|flag| flag.wrapping_add(1)))?;
        told(
            "interrupts",
            pair.nodes.each_ref().map(|node| node.dut.lines()[0]),
            [false; 2],
        )?;
    }
    Ok(())
}

#[test]
fn puts_and_gets_by_bursts() {
    for (start, pauses) in [(STARTS[0], false), (STARTS[0], true), (STARTS[1], true)] {
        let what = format!("{start} {pauses}");
        let case = Case::new("ap1000p", "cell_axi::puts_and_gets_by_bursts", what);
        case.run(|probe| transfers::<Ap1000pCellAxi>(&case, start, pauses, probe));
    }
}

/// Loads and stores of every size at each place, of memory and of communication registers.
fn accesses<U: Cell>(case: &Case, pauses: bool, probe: &Probe) -> Result<(), String> {
    let mut pair = Pair::<U>::new(case, STARTS[0], pauses, probe);
    let mut rng = case.rng("accesses");
    for bytes in [1, 2, 4, 8] {
        for place in (0..16).step_by(bytes as usize) {
            let addr = 0x3_0000 + place;
            let item = rng.bits() >> (64 - 8 * bytes);
            let before = pair.nodes[1]
                .memory
                .read(Addr(0x3_0000), 16)
                .expect("in memory")
                .to_vec();
            told(
                "a store",
                pair.store(0, OTHER | u64::from(addr), Kind::Incr, bytes, &[item]),
                Some(0),
            )?;
            pair.until("acknowledgement", |pair| (pair.read(0, ACKS) == 0).then_some(()));
            let mut wanted = before;
            let (first, end) = (place as usize, (place + bytes) as usize);
            wanted[first..end].copy_from_slice(&item.to_le_bytes()[..bytes as usize]);
            let got = pair.nodes[1]
                .memory
                .read(Addr(0x3_0000), 16)
                .expect("in memory")
                .to_vec();
            told(&format!("{bytes} bytes stored at {addr:#x}"), got, wanted)?;
            let loaded = pair.load(0, OTHER | u64::from(addr), bytes);
            told(&format!("{bytes} bytes loaded at {addr:#x}"), loaded, Some(item))?;
        }
    }
    for register in [0, 1, 126, 127] {
        let (own, other) = (CREGS + 4 * register, OTHER_CREGS | (1 << 9) | (4 * register));
        told(
            "a register is filled",
            pair.store(0, own, Kind::Incr, 4, &[7 + register]),
            Some(0),
        )?;
        told("a register is taken", pair.load(0, own, 4), Some(7 + register))?;
        // The other cell waits for it, and its registers answer meanwhile.
        pair.ask(1, own, 4);
        (0..200).for_each(|_| pair.step(false));
        told("an empty register", pair.nodes[1].answers[1].len(), 0)?;
        told("registers meanwhile", pair.read(1, ID), ID_VALUE)?;
        told(
            "a register afar",
            pair.store(0, other, Kind::Incr, 4, &[9 + register]),
            Some(0),
        )?;
        let lane = 32 * (register % 2);
        let waited = pair.answer(1, true).map(|data| data >> lane & 0xffff_ffff);
        told("who waited has it", waited, Some(9 + register))?;
    }
    told(
        "interrupts",
        pair.nodes.each_ref().map(|node| node.dut.lines()[0]),
        [false; 2],
    )
}

#[test]
fn loads_and_stores_of_every_size() {
    for pauses in [false, true] {
        let case = Case::new("ap1000p", "cell_axi::loads_and_stores_of_every_size", pauses);
        case.run(|probe| accesses::<Ap1000pCellAxi>(&case, pauses, probe));
    }
}

/// What is no access: SLVERR, and nothing else.
fn refusals<U: Cell>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut pair = Pair::<U>::new(case, STARTS[0], false, probe);
    told("ID", pair.read(0, ID), ID_VALUE)?;
    told("a write of ID", pair.register(0, ID, Some((0, 0xf))), None)?;
    told("half a register", pair.register(0, MODE, Some((0, 0x3))), None)?;
    told("no register", pair.register(0, 0x98, None), None)?;
    let incr = Kind::Incr;
    told("a read of a page", pair.load(0, PAGES, 4), None)?;
    told("8 bytes to a page", pair.store(0, PAGES, incr, 8, &[1]), None)?;
    told("2 bytes to a page", pair.store(0, PAGES, incr, 2, &[1]), None)?;
    told("beyond the pages", pair.store(0, PAGES | 1 << 28, incr, 4, &[1]), None)?;
    told("beyond the registers", pair.load(0, CREGS + 512, 4), None)?;
    told("8 bytes of registers", pair.load(0, CREGS, 8), None)?;
    told("a digest's other space", pair.load(0, 8 << 32, 4), None)?;
    told("3 bytes", pair.load(0, OTHER + 1, 4), None)?;
    told("refused so far", pair.read(0, CAUSE), 0)?;
    told("no such cell", pair.load(0, 2 * OTHER, 4), None)?;
    told("beyond its memory", pair.load(0, OTHER + u64::from(MEMORY), 4), None)?;
    told(
        "a register that faults",
        pair.register(0, MODE, Some((MODE_FAULT_HOST_MASK, 0xf))),
        Some(0),
    )?;
    told("an empty register", pair.load(0, CREGS, 4), None)?;
    // Nothing of all that is in the way.
    let transfer = Transfer {
        to: 1,
        words: 5,
        dest: 0x2_0004,
        source: 0x1_0000,
        ..Transfer::default()
    };
    issue(&mut pair, KIND_PUT, &transfer, true);
    pair.settle();
    let word = |cell, addr| pair.word(cell, addr);
    told("a PUT after it", word(1, 0x2_0014), word(0, 0x1_0010))
}

#[test]
fn what_is_no_access_is_refused() {
    let case = Case::new("ap1000p", "cell_axi::what_is_no_access_is_refused", "");
    case.run(|probe| refusals::<Ap1000pCellAxi>(&case, probe));
}

/// SLVERR and DECERR where data are read and where they are written: told, and no flag counts; what comes next is not affected.
fn errors<U: Cell>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut pair = Pair::<U>::new(case, STARTS[0], false, probe);
    let put = Transfer {
        to: 1,
        words: 40,
        dest: 0x2_0004,
        dest_flag: 0x6_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let beyond = MEMORY - 64;
    for (reads, decerr) in [(true, false), (false, false), (true, true), (false, true)] {
        let what = format!("reads {reads}, DECERR {decerr}");
        let mut bad = put;
        let at = if reads { &mut bad.source } else { &mut bad.dest };
        if decerr {
            *at = beyond;
        } else {
            let fault = *at + 100;
            pair.nodes[usize::from(!reads)].memory.inject_fault(fault..fault + 1);
        }
        let flag = pair.word(1, bad.dest_flag);
        issue(&mut pair, KIND_PUT, &bad, false);
        pair.settle();
        told(&format!("{what}: its flag"), pair.word(1, bad.dest_flag), flag)?;
        // What could not be read arrives cut short; what could not be written is told where it could not.
        let (sender, receiver) = (pair.read(0, CAUSE), pair.read(1, CAUSE));
        told(
            &format!("{what}: the sender is told"),
            sender & CAUSE_CUT_MASK != 0,
            reads,
        )?;
        told(
            &format!("{what}: the receiver is told"),
            receiver & CAUSE_BROKEN_MASK != 0,
            true,
        )?;
        let why = (pair.read(1, OPEN) & OPEN_WHY_MASK) >> OPEN_WHY_SHIFT;
        told(
            &format!("{what}: why"),
            why,
            if reads { BROKEN_SHORT } else { BROKEN_BUS },
        )?;
        for cell in 0..2 {
            pair.nodes[cell].memory.clear_faults();
            pair.write(cell, CAUSE, ENABLE_CAUSES_MASK);
        }
        issue(&mut pair, KIND_PUT, &put, true);
        pair.settle();
        told(
            &format!("{what}: the flag of the next"),
            pair.word(1, put.dest_flag),
            flag.wrapping_add(1),
        )?;
        told(
            &format!("{what}: interrupts"),
            pair.nodes.each_ref().map(|node| node.dut.lines()[0]),
            [false; 2],
        )?;
    }
    Ok(())
}

#[test]
fn slverr_and_decerr_are_reported() {
    let case = Case::new("ap1000p", "cell_axi::slverr_and_decerr_are_reported", "");
    case.run(|probe| errors::<Ap1000pCellAxi>(&case, probe));
}

#[test]
fn an_error_that_is_not_reported_is_seen() {
    let case = Case::new("ap1000p", "cell_axi::an_error_that_is_not_reported_is_seen", "");
    let found = errors::<TwinCellAxiError>(&case, &Probe::default());
    let what = found.expect_err("a lost SLVERR is not seen");
    assert!(what.starts_with("reads false, DECERR false: its flag"), "{what}");
}

/// What the bridges add to a long PUT is their latency, once, not a part of its rate.
fn full_rate<U: Cell>(case: &Case, probe: &Probe) -> Result<(), String> {
    let put = Transfer {
        to: 1,
        words: 4000,
        dest: 0x2_0004,
        dest_flag: 0x6_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let mut machine = machine(2, 1, MemoryTiming::IDEAL);
    let (flag, first) = (word(&machine, 1, put.dest_flag), machine.cycle());
    machine.store(0, KIND_PUT, &put.command().map(|word| word as u32));
    while word(&machine, 1, put.dest_flag) == flag {
        machine.step();
    }
    let bare = machine.cycle() - first;

    let mut pair = Pair::<U>::new(case, STARTS[0], false, probe);
    let first = pair.cycle;
    issue(&mut pair, KIND_PUT, &put, true);
    pair.until("flag", |pair| (pair.word(1, put.dest_flag) != flag).then_some(()));
    let axi = pair.cycle - first;
    if axi <= bare + 40 {
        Ok(())
    } else {
        Err(format!("{axi} cycles for 4000 words, {bare} without AXI"))
    }
}

#[test]
fn the_bridges_cost_no_bandwidth() {
    let case = Case::new("ap1000p", "cell_axi::the_bridges_cost_no_bandwidth", "");
    case.run(|probe| full_rate::<Ap1000pCellAxi>(&case, probe));
}

#[test]
fn bridges_with_one_burst_at_a_time_are_seen() {
    let case = Case::new("ap1000p", "cell_axi::bridges_with_one_burst_at_a_time_are_seen", "");
    let slow = full_rate::<TwinCellAxiSingle>(&case, &Probe::default());
    assert!(slow.is_err(), "one burst at a time is not seen");
}
