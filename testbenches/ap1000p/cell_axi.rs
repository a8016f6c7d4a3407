//! The cell behind AXI: two of them joined back to back, with memory, processor and window on AXI. Monitors watch the
//! protocol of each interface.

use std::collections::VecDeque;
use std::fmt::Display;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{
    Cases, Dut, Fault, Instance, PERIOD, Rule as _, Run, Start, each_is_caught, m_axi_ar, m_axi_aw, m_axi_w, pass,
    rules, s_axi, s_axil, set_m_axi_b, set_m_axi_r, set_s_axi, set_s_axil,
};
use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::Direct as _;
use tsunagi::harness::axi::{
    self, AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, FromSlave, Kind, Resp, Rules, WriteBeat, WriteOrder,
};
use tsunagi::harness::memory::{Memory, MemoryTiming};
use tsunagi::harness::seed::{Recorder, Rng};
use tsunagi::harness::stream::Gaps;
use tsunagi::{Addr, Cycle};
use verilated::{Context, Input as _, Port as _};

use crate::machine::{MEMORY, SETTINGS, fill, machine, word};

// The rules of AXI have their twins in `common`.
rules!(
    /// Each access has its effect and its response, in bounded time. An error is reported, and its flag does not count.
    Content
    /// The bridges add their latency once to a long PUT, and no cycles per word.
    Rate
);

/// Bytes of the bus to the memory, and of the window.
const BUS: u32 = 8;
/// Bits 35:32 of addresses of command pages, and of communication registers.
const PAGES: u64 = 0xa << 32;
const CREGS: u64 = 0xb << 32;
/// The other cell's communication registers.
const OTHER_CREGS: u64 = CREGS | 1 << 28;
/// The other cell's memory, as cell 0 addresses it.
const OTHER: u64 = 1 << 25;

/// A word on the link: {channel, word, last}.
type Word = (u8, u32, bool);

#[derive(Clone, Copy, Default)]
struct In {
    reset: bool,
    memory: FromSlave,
    host: FromMaster,
    window: FromMaster,
    /// The window's addresses count from here: the harness has 32 bits of them.
    base: u64,
    received: Option<Word>,
    /// A bit for each channel with a free place.
    credits: u8,
}

#[derive(Clone, Copy)]
struct Out {
    memory: FromMaster,
    host: FromSlave,
    window: FromSlave,
    sent: Option<Word>,
    credits: u8,
    irq: bool,
    busy: bool,
}

fn set(dut: &impl Ap1000pCellAxiPorts, inputs: &In) {
    dut.aresetn().set_bool(!inputs.reset);
    set_m_axi_r!(dut, &inputs.memory);
    set_m_axi_b!(dut, &inputs.memory);
    set_s_axil!(dut, &inputs.host);
    set_s_axi!(dut, &inputs.window, inputs.base);
    let (channel, word, last) = inputs.received.unwrap_or((3, 0xbad0_bad1, true));
    dut.rx_valid_i().set_bool(inputs.received.is_some());
    dut.rx_vc_i().set(channel.into());
    dut.rx_data_i().set(word.into());
    dut.rx_last_i().set_bool(last);
    dut.tx_credit_i().set(inputs.credits.into());
}

fn seen(dut: &impl Ap1000pCellAxiPorts) -> Out {
    let channel = || dut.tx_vc_o().get() as u8;
    let word = || (channel(), dut.tx_data_o().get() as u32, dut.tx_last_o().is_set());
    Out {
        memory: FromMaster {
            aw: m_axi_aw!(dut),
            w: m_axi_w!(dut),
            b_ready: dut.m_axi_bready().is_set(),
            ar: m_axi_ar!(dut),
            r_ready: dut.m_axi_rready().is_set(),
        },
        host: s_axil!(dut),
        window: s_axi!(dut),
        sent: dut.tx_valid_o().is_set().then(word),
        credits: dut.rx_credit_o().get() as u8,
        irq: dut.irq().is_set(),
        busy: dut.busy().is_set(),
    }
}

fn cell<U: Ap1000pCellAxiUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// The response to a beat: its data, or a refusal.
type Response = Option<u64>;

/// A cell with the parties on its interfaces.
struct Node {
    cell: Box<dyn Instance<In, Out>>,
    memory: Memory,
    agent: AxiMemory,
    host: AxiMaster,
    window: AxiMaster,
    /// As in [`In`].
    base: u64,
    /// The monitors of memory, host and window.
    monitors: [Rules; 3],
    /// The responses to host and window.
    responses: [VecDeque<Response>; 2],
}

impl Node {
    /// `pauses`: each party pauses at random.
    fn new(run: &Run, cell: Box<dyn Instance<In, Out>>, number: usize, pauses: bool) -> Node {
        let rng = |part: &str| run.rng(&format!("{number} {part}"));
        let gaps = if pauses { Gaps::Both } else { Gaps::None };
        let timing = AxiTiming {
            read_latency: Cycle(if pauses { 9 } else { 0 }),
            write_latency: Cycle(if pauses { 6 } else { 0 }),
            stalls: pauses,
            order: WriteOrder::Any,
        };
        let mut memory = Memory::new(MEMORY as usize);
        fill(&mut memory, number);
        Node {
            cell,
            memory,
            agent: AxiMemory::new(BUS, timing, |name| rng(&format!("memory {name}"))),
            host: AxiMaster::new(gaps, |name| rng(&format!("host {name}"))),
            window: AxiMaster::new(gaps, |name| rng(&format!("window {name}"))),
            base: 0,
            monitors: [
                Rules::new(BUS),
                // An access of AXI4-Lite is to the whole word, whatever the low bits of its address.
                Rules::new(4).without(&[axi::Rule::Lanes]),
                Rules::new(BUS),
            ],
            responses: [VecDeque::new(), VecDeque::new()],
        }
    }

    /// The first half of a cycle, with the signals on the link from the other cell.
    fn fall(&mut self, received: Option<Word>, credits: u8, now: u64) -> Result<(), Fault> {
        let inputs = In {
            reset: false,
            memory: *self.agent.ports(),
            host: self.host.drive(),
            window: self.window.drive(),
            base: self.base,
            received,
            credits,
        };
        self.drive(&inputs);
        let seen = self.cell.seen();
        assert!(seen.memory.is_plain(), "{:x?}", seen.memory);
        self.monitors[0].step(&seen.memory, &inputs.memory)?;
        self.monitors[1].step(&inputs.host, &seen.host)?;
        self.monitors[2].step(&inputs.window, &seen.window)?;
        let taken = [self.host.step(&seen.host), self.window.step(&seen.window)];
        for (responses, taken) in self.responses.iter_mut().zip(taken) {
            let response = |resp, data| match resp {
                Resp::Okay => Some(data),
                Resp::SlvErr => None,
                other => panic!("the cell responds with {other:?}"),
            };
            responses.extend(taken.r.map(|beat| response(beat.resp, beat.data)));
            responses.extend(taken.b.map(|end| response(end.resp, 0)));
        }
        self.agent.step(Cycle(now), &mut self.memory, &seen.memory, |_| ());
        Ok(())
    }

    fn drive(&self, inputs: &In) {
        self.cell.set(inputs);
        self.cell.verilated().junk();
        self.cell.verilated().fall(!0);
    }

    fn rise(&self) {
        self.cell.verilated().junk();
        self.cell.verilated().rise(!0);
    }
}

struct Pair<'a> {
    nodes: [Node; 2],
    recorder: Recorder<'a>,
    context: Context,
    cycle: u64,
}

impl<'a> Pair<'a> {
    /// A torus of two cells after its reset, with one process.
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, pauses: bool) -> Result<Self, Fault> {
        let context = run.context();
        let nodes = [0, 1].map(|number| {
            let cell = dut.named(&context, &format!("cell{number}"));
            Node::new(run, cell, number, pauses)
        });
        let mut pair = Pair {
            recorder: run.recorder(&[nodes[0].cell.verilated(), nodes[1].cell.verilated()]),
            nodes,
            context,
            cycle: 0,
        };
        for _ in 0..4 {
            pair.reset();
        }
        // By the AXI specification a master offers nothing before the first edge out of reset.
        pair.step()?;
        for cell in 0..2 {
            pair.write(cell, CELL, cell as u32)?;
            pair.write(cell, SIZE, 2 | 1 << SIZE_Y_SHIFT)?;
            for (offset, value) in SETTINGS {
                pair.write(cell, offset, value)?;
            }
        }
        Ok(pair)
    }

    fn reset(&mut self) {
        self.context.set_time(self.cycle * PERIOD);
        let inputs = In {
            reset: true,
            ..In::default()
        };
        self.nodes.iter().for_each(|node| node.drive(&inputs));
        self.edge();
    }

    /// A clock cycle.
    fn step(&mut self) -> Result<(), Fault> {
        self.context.set_time(self.cycle * PERIOD);
        let links = self.nodes.each_ref().map(|node| node.cell.seen());
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let from = &links[1 - number];
            node.fall(from.sent, from.credits, self.cycle).map_err(|fault| {
                let what = format!("cell {number}: {}", fault.what);
                Fault { what, ..fault }.at(self.cycle)
            })?;
        }
        self.edge();
        Ok(())
    }

    /// The second half of a cycle.
    fn edge(&mut self) {
        self.recorder.tick(self.context.time());
        self.context.set_time(self.cycle * PERIOD + PERIOD / 2);
        self.nodes.iter().for_each(Node::rise);
        self.recorder.tick(self.context.time());
        self.cycle += 1;
    }

    /// Steps until the condition has a value.
    fn until<T>(
        &mut self,
        what: &str,
        mut condition: impl FnMut(&mut Self) -> Result<Option<T>, Fault>,
    ) -> Result<T, Fault> {
        for _ in 0..40_000 {
            if let Some(found) = condition(self)? {
                return Ok(found);
            }
            self.step()?;
        }
        let memory = self.nodes.each_ref().map(|node| node.agent.report());
        Err(Rule::Content
            .broken(format!("still no {what}; memories: {memory:?}"))
            .at(self.cycle))
    }

    fn response(&mut self, cell: usize, of_window: bool) -> Result<Response, Fault> {
        self.until("response", |pair| {
            Ok(pair.nodes[cell].responses[usize::from(of_window)].pop_front())
        })
    }

    /// A register access: the read word, 0 for a write, or a refusal.
    fn register(&mut self, cell: usize, offset: u32, write: Option<(u32, u8)>) -> Result<Response, Fault> {
        let burst = Burst::words(offset, 1, 4);
        let host = &mut self.nodes[cell].host;
        match write {
            None => host.read(burst),
            Some((value, strb)) => {
                let (data, last) = (value.into(), true);
                host.write(burst, [WriteBeat { data, strb, last }]);
            }
        }
        self.response(cell, false)
    }

    fn write(&mut self, cell: usize, offset: u32, value: u32) -> Result<(), Fault> {
        let response = self.register(cell, offset, Some((value, 0xf)))?;
        same(format!("a write of {offset:#x}"), Some(0), response)
    }

    fn read(&mut self, cell: usize, offset: u32) -> Result<u32, Fault> {
        let word = self.register(cell, offset, None)?;
        Ok(word.expect("the cell has such a register") as u32)
    }

    /// Requests a load of this many bytes at a physical address.
    fn request(&mut self, cell: usize, addr: u64, bytes: u32) {
        let node = &mut self.nodes[cell];
        let low = addr as u32;
        node.base = addr - u64::from(low);
        node.window.read(Burst {
            size: bytes.ilog2() as u8,
            ..Burst::words(low, 1, BUS)
        });
    }

    /// Loads them.
    fn load(&mut self, cell: usize, addr: u64, bytes: u32) -> Result<Response, Fault> {
        self.request(cell, addr, bytes);
        let lane = 8 * (addr % 8) as u32;
        let response = self.response(cell, true)?;
        Ok(response.map(|data| data >> lane & (u64::MAX >> (64 - 8 * bytes))))
    }

    /// Stores a burst of items of this many bytes at a physical address.
    fn store(&mut self, cell: usize, addr: u64, kind: Kind, bytes: u32, items: &[u64]) -> Result<Response, Fault> {
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
        self.response(cell, true)
    }

    /// Stores one item.
    fn put(&mut self, cell: usize, addr: u64, bytes: u32, item: u64) -> Result<Response, Fault> {
        self.store(cell, addr, Kind::Incr, bytes, &[item])
    }

    fn bytes(&self, cell: usize, addr: u32, count: u32) -> &[u8] {
        let bytes = self.nodes[cell].memory.read(Addr(addr), count as usize);
        bytes.unwrap_or_else(|| panic!("{addr:#x} is in memory"))
    }

    fn word(&self, cell: usize, addr: u32) -> u32 {
        u32::from_le_bytes(self.bytes(cell, addr, 4).try_into().expect("four bytes"))
    }

    fn interrupts(&self) -> [bool; 2] {
        self.nodes.each_ref().map(|node| node.cell.seen().irq)
    }

    /// Until both cells are idle.
    fn settle(&mut self) -> Result<(), Fault> {
        let mut quiet = 0;
        self.until("rest", |pair| {
            let busy = |node: &Node| {
                let seen = node.cell.seen();
                seen.busy || seen.sent.is_some() || !node.agent.is_idle()
            };
            quiet = if pair.nodes.iter().any(busy) { 0 } else { quiet + 1 };
            Ok((quiet > 6).then_some(()))
        })
    }

    /// Cell 0 issues a command: a burst at one address, or over the page's first words.
    fn issue(&mut self, page: u32, transfer: &Transfer, fixed: bool) -> Result<(), Fault> {
        let addr = PAGES | u64::from(page) << 12;
        let kind = if fixed { Kind::Fixed } else { Kind::Incr };
        let response = self.store(0, addr, kind, 4, &transfer.command())?;
        same("a command", Some(0), response)
    }
}

/// A PUT or GET of cell 0.
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

/// The value is the wanted one.
fn same<T: PartialEq + std::fmt::Debug>(what: impl Display, want: T, got: T) -> Result<(), Fault> {
    Rule::Content.same(what, want, got)
}

fn random_transfer(rng: &mut Rng, words: u32) -> Transfer {
    let mut stride = || match rng.below(3) {
        0 => 0,
        _ => (rng.between(1, 20) << 24 | rng.below(5)) as u32,
    };
    let (source_stride, dest_stride) = (stride(), stride());
    Transfer {
        to: rng.below(2) as usize,
        words,
        dest: 0x2_0000 + 4 * rng.below(64) as u32,
        dest_stride,
        dest_flag: 0x6_0000,
        source_flag: 0x6_0014,
        source: 0x1_0000 + 4 * rng.below(4096) as u32,
        source_stride,
    }
}

fn transfers(run: &Run, dut: &Dut<In, Out>, pauses: bool) -> Result<(), Fault> {
    let mut pair = Pair::new(run, dut, pauses)?;
    let mut rng = run.rng("transfers");
    for round in 0..24 {
        let words = [0, 1, 2, 7, 8, 9, 64, 255][round % 8] + rng.below(2) as u32;
        let (put, fixed) = (rng.chance(1, 2), rng.chance(1, 2));
        let transfer = random_transfer(&mut rng, words);
        let (from, at) = if put { (0, transfer.to) } else { (transfer.to, 0) };
        let source = places(transfer.source, transfer.source_stride, words);
        let want: Vec<u32> = source.map(|addr| pair.word(from, addr)).collect();
        let flags = |pair: &Pair| [pair.word(at, transfer.dest_flag), pair.word(from, transfer.source_flag)];
        let before = flags(&pair);
        pair.issue(if put { KIND_PUT } else { KIND_GET }, &transfer, fixed)?;
        pair.settle()?;
        let dest = places(transfer.dest, transfer.dest_stride, words);
        let got = dest.map(|addr| pair.word(at, addr)).collect();
        same(format!("{transfer:x?}"), want, got)?;
        same("flags", before.map(|flag| flag.wrapping_add(1)), flags(&pair))?;
        same("interrupts", [false; 2], pair.interrupts())?;
    }
    Ok(())
}

#[test]
fn puts_and_gets_by_bursts() {
    pass(this_test!(), |cases| {
        let dut = cell::<Ap1000pCellAxi>();
        for (start, pauses) in [(Start::Random1, false), (Start::Random1, true), (Start::Random2, true)] {
            cases.case(start, format!("pauses {pauses}"), |run| transfers(run, &dut, pauses));
        }
    });
}

/// Loads and stores of every size at each place of two words of the other cell's memory.
fn memory_accesses(pair: &mut Pair, rng: &mut Rng) -> Result<(), Fault> {
    const AT: u32 = 0x3_0000;
    for bytes in [1, 2, 4, 8] {
        for place in (0..16).step_by(bytes as usize) {
            let addr = OTHER | u64::from(AT + place);
            let item = rng.bits() >> (64 - 8 * bytes);
            let mut want = pair.bytes(1, AT, 16).to_vec();
            same("a store", Some(0), pair.put(0, addr, bytes, item)?)?;
            pair.until("acknowledgement", |pair| Ok((pair.read(0, ACKS)? == 0).then_some(())))?;
            let (first, end) = (place as usize, (place + bytes) as usize);
            want[first..end].copy_from_slice(&item.to_le_bytes()[..bytes as usize]);
            let got = pair.bytes(1, AT, 16).to_vec();
            same(format!("{bytes} bytes stored at {addr:#x}"), want, got)?;
            let loaded = pair.load(0, addr, bytes)?;
            same(format!("{bytes} bytes loaded at {addr:#x}"), Some(item), loaded)?;
        }
    }
    Ok(())
}

/// Stores to and loads from communication registers of both cells. One load waits until the other cell has stored.
fn register_accesses(pair: &mut Pair) -> Result<(), Fault> {
    for register in [0, 1, 126, 127] {
        let (own, other) = (CREGS + 4 * register, OTHER_CREGS | (1 << 9) | (4 * register));
        same("a store to a register", Some(0), pair.put(0, own, 4, 7 + register)?)?;
        same("a load from a register", Some(7 + register), pair.load(0, own, 4)?)?;
        // The other cell waits for it, and its control registers respond meanwhile.
        pair.request(1, own, 4);
        for _ in 0..200 {
            pair.step()?;
        }
        same("responses of an empty register", 0, pair.nodes[1].responses[1].len())?;
        same("ID meanwhile", ID_VALUE, pair.read(1, ID)?)?;
        same(
            "a store to the other cell's register",
            Some(0),
            pair.put(0, other, 4, 9 + register)?,
        )?;
        let lane = 32 * (register % 2);
        let response = pair.response(1, true)?;
        let loaded = response.map(|data| data >> lane & 0xffff_ffff);
        same("the load that waited", Some(9 + register), loaded)?;
    }
    Ok(())
}

#[test]
fn loads_and_stores_of_every_size() {
    pass(this_test!(), |cases| {
        let dut = cell::<Ap1000pCellAxi>();
        for pauses in [false, true] {
            cases.case(Start::Random1, format!("pauses {pauses}"), |run| {
                let mut pair = Pair::new(run, &dut, pauses)?;
                memory_accesses(&mut pair, &mut run.rng("accesses"))?;
                register_accesses(&mut pair)?;
                same("interrupts", [false; 2], pair.interrupts())
            });
        }
    });
}

/// An illegal access ends with SLVERR and has no effect.
fn refusals(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let mut pair = Pair::new(run, dut, false)?;
    same("ID", ID_VALUE, pair.read(0, ID)?)?;
    same("a write of ID", None, pair.register(0, ID, Some((0, 0xf)))?)?;
    same("half a register", None, pair.register(0, MODE, Some((0, 0x3)))?)?;
    same("no register", None, pair.register(0, 0x98, None)?)?;
    same("a read of a page", None, pair.load(0, PAGES, 4)?)?;
    same("8 bytes to a page", None, pair.put(0, PAGES, 8, 1)?)?;
    same("2 bytes to a page", None, pair.put(0, PAGES, 2, 1)?)?;
    same("beyond the pages", None, pair.put(0, PAGES | 1 << 28, 4, 1)?)?;
    same("beyond the registers", None, pair.load(0, CREGS + 512, 4)?)?;
    same("8 bytes of registers", None, pair.load(0, CREGS, 8)?)?;
    same("a space that the cell has not", None, pair.load(0, 8 << 32, 4)?)?;
    same("4 bytes at an odd address", None, pair.load(0, OTHER + 1, 4)?)?;
    same("causes so far", 0, pair.read(0, CAUSE)?)?;
    same("no such cell", None, pair.load(0, 2 * OTHER, 4)?)?;
    same("beyond its memory", None, pair.load(0, OTHER + u64::from(MEMORY), 4)?)?;
    pair.write(0, MODE, MODE_FAULT_HOST_MASK)?;
    same("an empty register", None, pair.load(0, CREGS, 4)?)?;
    // None of that holds up a PUT.
    let transfer = Transfer {
        to: 1,
        words: 5,
        dest: 0x2_0004,
        source: 0x1_0000,
        ..Transfer::default()
    };
    pair.issue(KIND_PUT, &transfer, true)?;
    pair.settle()?;
    same("a PUT after it", pair.word(0, 0x1_0010), pair.word(1, 0x2_0014))
}

#[test]
fn an_illegal_access_is_refused() {
    pass(this_test!(), |cases| {
        let dut = cell::<Ap1000pCellAxi>();
        cases.case(Start::Random1, "", |run| refusals(run, &dut));
    });
}

/// A PUT of 40 words ends with an error of one of the memories. A PUT without one follows.
fn error(pair: &mut Pair, reads: bool, decerr: bool) -> Result<(), Fault> {
    let what = |part: &str| format!("reads {reads}, DECERR {decerr}: {part}");
    let put = Transfer {
        to: 1,
        words: 40,
        dest: 0x2_0004,
        dest_flag: 0x6_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    let mut bad = put;
    let at = if reads { &mut bad.source } else { &mut bad.dest };
    if decerr {
        *at = MEMORY - 64;
    } else {
        let fault = *at + 100;
        pair.nodes[usize::from(!reads)].memory.inject_fault(fault..fault + 1);
    }
    let flag = pair.word(1, bad.dest_flag);
    pair.issue(KIND_PUT, &bad, false)?;
    pair.settle()?;
    same(what("its flag"), flag, pair.word(1, bad.dest_flag))?;
    // After a read error a short message arrives. After a write error the receiver alone reports.
    let (sender, receiver) = (pair.read(0, CAUSE)?, pair.read(1, CAUSE)?);
    same(what("the sender's cause"), reads, sender & CAUSE_CUT_MASK != 0)?;
    same(what("the receiver's cause"), true, receiver & CAUSE_BROKEN_MASK != 0)?;
    let why = (pair.read(1, OPEN)? & OPEN_WHY_MASK) >> OPEN_WHY_SHIFT;
    same(what("why"), if reads { BROKEN_SHORT } else { BROKEN_BUS }, why)?;
    for cell in 0..2 {
        pair.nodes[cell].memory.clear_faults();
        pair.write(cell, CAUSE, ENABLE_CAUSES_MASK)?;
    }
    pair.issue(KIND_PUT, &put, true)?;
    pair.settle()?;
    same(what("the next flag"), flag.wrapping_add(1), pair.word(1, put.dest_flag))?;
    same(what("interrupts"), [false; 2], pair.interrupts())
}

/// SLVERR and DECERR of a read and of a write: the cells report them, and no flag counts. The next transfer is as ever.
fn errors(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, dut.name, |run| {
        let mut pair = Pair::new(run, dut, false)?;
        for (reads, decerr) in [(true, false), (false, false), (true, true), (false, true)] {
            error(&mut pair, reads, decerr)?;
        }
        Ok(())
    });
}

#[test]
fn slverr_and_decerr_are_reported() {
    pass(this_test!(), |cases| errors(&cell::<Ap1000pCellAxi>(), cases));
}

/// A long PUT, with and without the bridges.
fn rate(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, dut.name, |run| {
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
        while word(&machine, 1, put.dest_flag) == flag && machine.cycle() - first < 100_000 {
            machine.step();
        }
        let bare = machine.cycle() - first;
        Rule::Rate.holds(bare < 100_000, || "the cell without AXI counts no flag".into())?;

        let mut pair = Pair::new(run, dut, false)?;
        let first = pair.cycle;
        pair.issue(KIND_PUT, &put, true)?;
        let counts = |pair: &mut Pair| Ok((pair.word(1, put.dest_flag) != flag).then_some(()));
        pair.until("flag", counts)?;
        let axi = pair.cycle - first;
        let what = || format!("{axi} cycles for 4000 words, {bare} without AXI");
        Rule::Rate.holds(axi <= bare + 40, what)
    });
}

#[test]
fn the_bridges_cost_no_bandwidth() {
    pass(this_test!(), |cases| rate(&cell::<Ap1000pCellAxi>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The cell does not see a SLVERR of a write.
            (Content, &[], &|cases| errors(&cell::<TwinCellAxiError>(), cases)),
            // One burst at a time.
            (Rate, &[], &|cases| rate(&cell::<TwinCellAxiSingle>(), cases)),
        ],
    );
}
