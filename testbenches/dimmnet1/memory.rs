//! `dimmnet1_memory`: bursts go to memory or LLCM, and come back in order.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::Server;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Sink, Source};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

rules!(
    /// Each side has the bytes that were meant for it, and a read returns them in order.
    Content
    /// Each write has its response, with the error of its side.
    Response
    /// It is busy while something is inside.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, also from side to side.
    Rate
    /// Every burst ends.
    Hang
);

/// {address, beats - 1}.
type Command = (u32, u8);
/// {data, strobes, last}.
type Beat = (u64, u8, bool);
/// {data, last, err}.
type Read = (u64, bool, bool);

#[derive(Debug, Default)]
struct In {
    rd_cmd: Option<Command>,
    rd_ready: bool,
    wr_cmd: Option<Command>,
    wr_data: Option<Beat>,
    rsp_ready: bool,
    /// Memory and LLCM.
    sides: [MemPortsOut; 2],
}

#[derive(Debug, PartialEq)]
struct Out {
    rd_cmd_ready: bool,
    read: Option<Read>,
    wr_cmd_ready: bool,
    wr_data_ready: bool,
    response: Option<bool>,
    sides: [MemPortsIn; 2],
    busy: bool,
}

fn set(dut: &impl Dimmnet1MemoryPorts, inputs: &In) {
    let (addr, len) = inputs.rd_cmd.unwrap_or((0xdead, 0xbe));
    dut.rd_cmd_valid_i().set_bool(inputs.rd_cmd.is_some());
    dut.rd_cmd_addr_i().set(addr.into());
    dut.rd_cmd_len_i().set(len.into());
    dut.rd_data_ready_i().set_bool(inputs.rd_ready);
    let (addr, len) = inputs.wr_cmd.unwrap_or((0xdead, 0xbe));
    dut.wr_cmd_valid_i().set_bool(inputs.wr_cmd.is_some());
    dut.wr_cmd_addr_i().set(addr.into());
    dut.wr_cmd_len_i().set(len.into());
    let (data, strobes, last) = inputs.wr_data.unwrap_or((0xbad, 0xff, false));
    dut.wr_data_valid_i().set_bool(inputs.wr_data.is_some());
    dut.wr_data_data_i().set(data);
    dut.wr_data_strb_i().set(strobes.into());
    dut.wr_data_last_i().set_bool(last);
    dut.wr_rsp_ready_i().set_bool(inputs.rsp_ready);
    let [mem, llcm] = &inputs.sides;
    dut.mem_rd_cmd_ready_i().set_bool(mem.rd_cmd_ready);
    dut.mem_rd_data_valid_i().set_bool(mem.rd_data_valid);
    dut.mem_rd_data_data_i().set(mem.rd_data_data);
    dut.mem_rd_data_last_i().set_bool(mem.rd_data_last);
    dut.mem_rd_data_err_i().set_bool(mem.rd_data_err);
    dut.mem_wr_cmd_ready_i().set_bool(mem.wr_cmd_ready);
    dut.mem_wr_data_ready_i().set_bool(mem.wr_data_ready);
    dut.mem_wr_rsp_valid_i().set_bool(mem.wr_rsp_valid);
    dut.mem_wr_rsp_err_i().set_bool(mem.wr_rsp_err);
    dut.llcm_rd_cmd_ready_i().set_bool(llcm.rd_cmd_ready);
    dut.llcm_rd_data_valid_i().set_bool(llcm.rd_data_valid);
    dut.llcm_rd_data_data_i().set(llcm.rd_data_data);
    dut.llcm_rd_data_last_i().set_bool(llcm.rd_data_last);
    dut.llcm_rd_data_err_i().set_bool(llcm.rd_data_err);
    dut.llcm_wr_cmd_ready_i().set_bool(llcm.wr_cmd_ready);
    dut.llcm_wr_data_ready_i().set_bool(llcm.wr_data_ready);
    dut.llcm_wr_rsp_valid_i().set_bool(llcm.wr_rsp_valid);
    dut.llcm_wr_rsp_err_i().set_bool(llcm.wr_rsp_err);
}

fn seen(dut: &impl Dimmnet1MemoryPorts) -> Out {
    let mem = MemPortsIn {
        rd_cmd_valid: dut.mem_rd_cmd_valid_o().is_set(),
        rd_cmd_addr: dut.mem_rd_cmd_addr_o().get() as u32,
        rd_cmd_len: dut.mem_rd_cmd_len_o().get() as u8,
        rd_data_ready: dut.mem_rd_data_ready_o().is_set(),
        wr_cmd_valid: dut.mem_wr_cmd_valid_o().is_set(),
        wr_cmd_addr: dut.mem_wr_cmd_addr_o().get() as u32,
        wr_cmd_len: dut.mem_wr_cmd_len_o().get() as u8,
        wr_data_valid: dut.mem_wr_data_valid_o().is_set(),
        wr_data_data: dut.mem_wr_data_data_o().get(),
        wr_data_strb: dut.mem_wr_data_strb_o().get() as u8,
        wr_data_last: dut.mem_wr_data_last_o().is_set(),
        wr_rsp_ready: dut.mem_wr_rsp_ready_o().is_set(),
    };
    let llcm = MemPortsIn {
        rd_cmd_valid: dut.llcm_rd_cmd_valid_o().is_set(),
        rd_cmd_addr: dut.llcm_rd_cmd_addr_o().get() as u32,
        rd_cmd_len: dut.llcm_rd_cmd_len_o().get() as u8,
        rd_data_ready: dut.llcm_rd_data_ready_o().is_set(),
        wr_cmd_valid: dut.llcm_wr_cmd_valid_o().is_set(),
        wr_cmd_addr: dut.llcm_wr_cmd_addr_o().get() as u32,
        wr_cmd_len: dut.llcm_wr_cmd_len_o().get() as u8,
        wr_data_valid: dut.llcm_wr_data_valid_o().is_set(),
        wr_data_data: dut.llcm_wr_data_data_o().get(),
        wr_data_strb: dut.llcm_wr_data_strb_o().get() as u8,
        wr_data_last: dut.llcm_wr_data_last_o().is_set(),
        wr_rsp_ready: dut.llcm_wr_rsp_ready_o().is_set(),
    };
    Out {
        rd_cmd_ready: dut.rd_cmd_ready_o().is_set(),
        read: dut.rd_data_valid_o().is_set().then(|| {
            let (data, err) = (dut.rd_data_data_o().get(), dut.rd_data_err_o().is_set());
            (if err { 0 } else { data }, dut.rd_data_last_o().is_set(), err)
        }),
        wr_cmd_ready: dut.wr_cmd_ready_o().is_set(),
        wr_data_ready: dut.wr_data_ready_o().is_set(),
        response: dut.wr_rsp_valid_o().is_set().then(|| dut.wr_rsp_err_o().is_set()),
        sides: [mem, llcm],
        busy: dut.busy_o().is_set(),
    }
}

fn dut<U: Dimmnet1MemoryUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Bytes of each side; reads go to the lower half, writes to the upper.
const SIZE: u32 = 1 << 14;
const LLCM: u32 = 0xf000_0000;

/// A burst of 8 words at most; its words if it writes.
type Burst = (Command, Option<Vec<Beat>>);

fn burst(rng: &mut Rng) -> Burst {
    let len = rng.below(8) as u8;
    let write = rng.chance(1, 2);
    let beat = |rng: &mut Rng, last| (rng.bits(), rng.bits() as u8, last);
    let side = if rng.chance(1, 2) { LLCM } else { 0 };
    let half = if write { SIZE / 2 } else { 0 };
    let at = side + half + 64 * rng.below(u64::from(SIZE / 128)) as u32;
    (
        (at, len),
        write.then(|| (0..=len).map(|i| beat(rng, i == len)).collect()),
    )
}

/// One side: its memory as it is, and as it should be.
struct Side {
    memory: Memory,
    golden: Memory,
    server: Server,
}

impl Side {
    fn new(run: &Run, name: &str, pauses: bool, faults: bool) -> Side {
        let mut rng = run.rng(name);
        let mut memory = Memory::new(SIZE as usize);
        let mut bytes = vec![0; SIZE as usize];
        rng.fill(&mut bytes);
        assert!(memory.write(Addr(0), &bytes), "it is as large as its bytes");
        for _ in 0..if faults { 20 } else { 0 } {
            let at = rng.below(SIZE.into()) as u32;
            memory.inject_fault(at..at + 1 + rng.below(60) as u32);
        }
        let slow = MemoryTiming {
            read_latency: Cycle(rng.below(20)),
            write_latency: Cycle(rng.below(20)),
            ..MemoryTiming::IDEAL
        };
        let timing = if pauses { slow } else { MemoryTiming::IDEAL };
        let golden = memory.clone();
        Side {
            memory,
            golden,
            server: Server::new(run, timing, 8, pauses),
        }
    }

    fn read(&self, at: u32) -> Option<u64> {
        let bytes = self
            .golden
            .bus_ok(Addr(at), 8)
            .then(|| self.golden.read(Addr(at), 8))
            .flatten();
        bytes.map(|bytes| u64::from_le_bytes(bytes.try_into().expect("8 bytes")))
    }

    fn write(&mut self, at: u32, data: u64, strobes: u8) -> bool {
        // The memory looks at the bytes from the first strobe to the last.
        let (first, last) = (strobes.trailing_zeros(), 8 - strobes.leading_zeros());
        let ok = strobes == 0 || self.golden.bus_ok(Addr(at + first), last - first);
        for (i, byte) in data
            .to_le_bytes()
            .into_iter()
            .enumerate()
            .filter(|(i, _)| ok && strobes >> i & 1 == 1)
        {
            assert!(self.golden.write(Addr(at + i as u32), &[byte]), "bursts stay inside");
        }
        ok
    }
}

/// Does the bursts, with a reset in this cycle. The cycles from the first word read or written to the last.
fn exercise(
    run: &Run,
    dut: &Dut<In, Out>,
    bursts: &[Burst],
    gaps: Gaps,
    faults: bool,
    reset: Option<u64>,
) -> Result<u64, Fault> {
    let mut sides = ["memory", "llcm"].map(|name| Side::new(run, name, gaps != Gaps::None, faults));
    let (mut reads, mut responses) = (VecDeque::new(), VecDeque::new());
    let mut rd_cmd = Source::new([], run.pacer(gaps.at_source(), "read commands"));
    let mut wr_cmd = Source::new([], run.pacer(gaps.at_source(), "write commands"));
    let mut wr_data = Source::new([], run.pacer(gaps.at_source(), "write data"));
    for ((addr, len), beats) in bursts {
        let side = &mut sides[usize::from(addr & LLCM == LLCM)];
        let at = |i: usize| (addr & !LLCM) + 8 * i as u32;
        if let Some(beats) = beats {
            wr_cmd.push((*addr, *len));
            let write = |(i, beat): (usize, &Beat)| side.write(at(i), beat.0, beat.1);
            let oks: Vec<bool> = beats.iter().enumerate().map(write).collect();
            responses.push_back(oks.contains(&false));
            beats.iter().for_each(|&beat| wr_data.push(beat));
        } else {
            rd_cmd.push((*addr, *len));
            reads.extend((0..=*len).map(|i| {
                let data = side.read(at(i.into()));
                (data.unwrap_or(0), i == *len, data.is_none())
            }));
        }
    }
    let mut bench = Bench::new(run, dut);
    let mut read_sink = Sink::new(run.pacer(gaps.at_sink(), "reads"));
    let mut response_sink = Sink::new(run.pacer(gaps.at_sink(), "responses"));
    let (mut first, mut last, mut open) = (None, 0, 0);
    for cycle in 0..50_000 {
        let rst = cycle < 3;
        let inputs = In {
            rd_cmd: rd_cmd.offer().filter(|_| !rst).copied(),
            rd_ready: read_sink.ready(),
            wr_cmd: wr_cmd.offer().filter(|_| !rst).copied(),
            wr_data: wr_data.offer().filter(|_| !rst).copied(),
            rsp_ready: response_sink.ready(),
            sides: [sides[0].server.ports(), sides[1].server.ports()],
        };
        if reset == Some(cycle) {
            // What is under way is lost; the unit must only be empty then.
            bench.reset(&In::default())?;
            return Rule::Rest
                .holds(!bench.seen().busy, || "busy after reset".into())
                .map(|()| 0);
        }
        let out = bench.registered(&inputs, rst)?;
        if rst {
            continue;
        }
        let at = |fault: Fault| fault.at(cycle);
        Rule::Rest
            .holds(out.busy || open == 0, || format!("it rests with {open} open"))
            .map_err(at)?;
        for (side, ports) in sides.iter_mut().zip(&out.sides) {
            side.server.step(cycle, &mut side.memory, ports).map_err(at)?;
        }
        open += u32::from(rd_cmd.step(out.rd_cmd_ready).is_some()) + u32::from(wr_cmd.step(out.wr_cmd_ready).is_some());
        let written = wr_data.step(out.wr_data_ready).is_some();
        let read = read_sink.step(out.read).map_err(|error| at(error.into()))?;
        if let Some(read) = read {
            Rule::Content
                .same("a word", reads.pop_front(), Some(read))
                .map_err(at)?;
            open -= u32::from(read.1);
        }
        if read.is_some() || written {
            first.get_or_insert(cycle);
            last = cycle;
        }
        if let Some(err) = response_sink.step(out.response).map_err(|error| at(error.into()))? {
            Rule::Response
                .same("error", responses.pop_front(), Some(err))
                .map_err(at)?;
            open -= 1;
        }
        if reads.is_empty() && responses.is_empty() && open == 0 && !out.busy {
            for side in &sides {
                let all = |memory: &Memory| memory.read(Addr(0), SIZE as usize).map(<[u8]>::to_vec);
                Rule::Content.holds(all(&side.memory) == all(&side.golden), || {
                    "bytes differ at the end".into()
                })?;
            }
            return Ok(last - first.unwrap_or(last) + 1);
        }
    }
    Err(Rule::Hang.broken(format!("{} words, {} responses left", reads.len(), responses.len())))
}

fn traffic(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for (faults, resets) in [(false, false), (true, false), (true, true)] {
            cases.case(
                Start::Random1,
                format!("{} {gaps:?} {faults} reset {resets}", dut.name),
                |run| {
                    let mut rng = run.rng("bursts");
                    let bursts: Vec<Burst> = (0..200).map(|_| burst(&mut rng)).collect();
                    let reset = resets.then(|| rng.between(20, 400));
                    exercise(run, dut, &bursts, gaps, faults, reset).map(drop)
                },
            );
        }
    }
}

fn rate(dut: &Dut<In, Out>, cases: &mut Cases) {
    for (write, sides) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
        cases.case(
            Start::Zero,
            format!("{} write {write} {sides} sides", dut.name),
            |run| {
                let one = |i: u32| {
                    let at = if i % sides == 1 { LLCM } else { 0 } + 64 * i + if write { SIZE / 2 } else { 0 };
                    let beats = write.then(|| (0..8).map(|i| (i, 0xff, i == 7)).collect());
                    ((at, 7), beats)
                };
                let bursts: Vec<Burst> = (0..40).map(one).collect();
                let cycles = exercise(run, dut, &bursts, Gaps::None, false, None)?;
                Rule::Rate.holds(cycles <= 8 * 40 + 2, || format!("320 words took {cycles} cycles"))
            },
        );
    }
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    traffic(dut, cases);
    rate(dut, cases);
}

#[test]
fn each_side_gets_its_bursts() {
    pass(this_test!(), |cases| traffic(&dut::<Dimmnet1Memory>(), cases));
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| rate(&dut::<Dimmnet1Memory>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &|cases| checks(&dut::<TwinMemorySplitOrder>(), cases)),
            (Response, &[], &|cases| checks(&dut::<TwinMemorySplitForgets>(), cases)),
            (Rest, &[], &|cases| checks(&dut::<TwinMemorySplitRests>(), cases)),
            (Path, &[], &|cases| checks(&dut::<TwinMemorySplitPath>(), cases)),
            // A withdrawn word is lost.
            (Protocol, &[Hang, Content], &|cases| {
                checks(&dut::<TwinMemorySplitWithdraws>(), cases)
            }),
            (Rate, &[], &|cases| checks(&dut::<TwinMemorySplitBubble>(), cases)),
            (Hang, &[Response], &|cases| checks(&dut::<TwinMemorySplitHang>(), cases)),
        ],
    );
}
