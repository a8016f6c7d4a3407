//! `cppacs_nia` with its link looped back, and `cppacs_machine`: whole transfers, from the kick to the flags. The NIA
//! alone in lock step with its golden model.

mod lockstep;

use support::this_test;
use testbenches::mem::Server;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::entry::{Field, Process, Right, node_word};
use tsunagi::cppacs::golden::message::Kind;
use tsunagi::cppacs::golden::tcw::Tcw;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryTiming};
use tsunagi::net::hyper::{Grid, Place};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

rules!(
    /// Data, flags and old values are in memory when the transfer is complete.
    Data
    /// Counters tell what passed.
    Counts
    /// The first word leaves soon after the kick; then a word per cycle.
    Rate
    /// It is at rest when all is done.
    Rest
    /// Every transfer ends, and every access of the host.
    Hang
    /// A worm that leaves is one that is due, with a credit for each word.
    Worm
);

/// A word on a link: on the acknowledge channel, data, last.
type Word = (bool, u32, bool);

/// What is at the other end of the link: of a cycle's word and credits that the NIA gives, those that it gets next.
type Far<'a> = Box<dyn FnMut(Option<Word>, u32) -> Result<(Option<Word>, u32), Fault> + 'a>;

/// An access of the host's: address, and what is written.
type Access = (u32, Option<u64>);

/// Inputs of a node.
#[derive(Clone, Default)]
struct NodeIn {
    access: Option<Access>,
    mem: MemPortsOut,
}

/// Outputs of a node.
#[derive(Clone, Debug, Default, PartialEq)]
struct NodeOut {
    ready: bool,
    response: Option<(u64, bool)>,
    mem: MemPortsIn,
    busy: bool,
}

#[derive(Default)]
struct In {
    nodes: Vec<NodeIn>,
    link: Option<Word>,
    credit: u32,
}

#[derive(Debug, PartialEq)]
struct Out {
    nodes: Vec<NodeOut>,
    network_busy: bool,
    /// A word on the link from the NIA, where it shows, and the credits that it gives back.
    link: Option<Word>,
    credit: u32,
}

fn request(access: Option<Access>) -> (bool, u32, u64) {
    let (addr, data) = access.unwrap_or((0x1_fff8, Some(!0)));
    (data.is_some(), addr, data.unwrap_or(0))
}

/// Drives host and memory of node `$n`; the ports of a machine are arrays over nodes.
macro_rules! set_node {
    ($dut:expr, $n:expr, $node:expr) => {{
        let (dut, n, node): (_, usize, &NodeIn) = ($dut, $n, $node);
        let (write, addr, data) = request(node.access);
        dut.host_req_valid_i().set_bits(n, 1, node.access.is_some().into());
        dut.host_req_write_i().set_bits(n, 1, write.into());
        dut.host_req_addr_i().set_bits(17 * n, 17, addr.into());
        dut.host_req_wdata_i().set_bits(64 * n, 64, data);
        dut.host_req_wstrb_i().set_bits(8 * n, 8, 0xff);
        dut.host_rsp_ready_i().set_bits(n, 1, 1);
        let mem = &node.mem;
        dut.mem_rd_cmd_ready_i().set_bits(n, 1, mem.rd_cmd_ready.into());
        dut.mem_rd_data_valid_i().set_bits(n, 1, mem.rd_data_valid.into());
        dut.mem_rd_data_data_i()
            .set_bits(32 * n, 32, mem.rd_data_data & 0xffff_ffff);
        dut.mem_rd_data_last_i().set_bits(n, 1, mem.rd_data_last.into());
        dut.mem_rd_data_err_i().set_bits(n, 1, mem.rd_data_err.into());
        dut.mem_wr_cmd_ready_i().set_bits(n, 1, mem.wr_cmd_ready.into());
        dut.mem_wr_data_ready_i().set_bits(n, 1, mem.wr_data_ready.into());
        dut.mem_wr_rsp_valid_i().set_bits(n, 1, mem.wr_rsp_valid.into());
        dut.mem_wr_rsp_err_i().set_bits(n, 1, mem.wr_rsp_err.into());
    }};
}

/// Host and memory of node `$n`, as the unit drives them.
macro_rules! seen_node {
    ($dut:expr, $n:expr) => {{
        let (dut, n): (_, usize) = ($dut, $n);
        let bit = |port: &dyn verilated::Port| port.get_bits(n, 1) != 0;
        let response = (dut.host_rsp_rdata_o().get_bits(64 * n, 64), bit(dut.host_rsp_err_o()));
        NodeOut {
            ready: bit(dut.host_req_ready_o()),
            response: bit(dut.host_rsp_valid_o()).then_some(response),
            mem: MemPortsIn {
                rd_cmd_valid: bit(dut.mem_rd_cmd_valid_o()),
                rd_cmd_addr: dut.mem_rd_cmd_addr_o().get_bits(32 * n, 32) as u32,
                rd_cmd_len: dut.mem_rd_cmd_len_o().get_bits(8 * n, 8) as u8,
                rd_data_ready: bit(dut.mem_rd_data_ready_o()),
                wr_cmd_valid: bit(dut.mem_wr_cmd_valid_o()),
                wr_cmd_addr: dut.mem_wr_cmd_addr_o().get_bits(32 * n, 32) as u32,
                wr_cmd_len: dut.mem_wr_cmd_len_o().get_bits(8 * n, 8) as u8,
                wr_data_valid: bit(dut.mem_wr_data_valid_o()),
                wr_data_data: dut.mem_wr_data_data_o().get_bits(32 * n, 32),
                wr_data_strb: dut.mem_wr_data_strb_o().get_bits(4 * n, 4) as u8,
                wr_data_last: bit(dut.mem_wr_data_last_o()),
                wr_rsp_ready: bit(dut.mem_wr_rsp_ready_o()),
            },
            busy: bit(dut.busy_o()),
        }
    }};
}

fn set_nia(dut: &impl CppacsNiaPorts, inputs: &In) {
    for node in &inputs.nodes {
        set_node!(dut, 0, node);
    }
    dut.barrier_waiting_i().set_bool(false);
    dut.barrier_release_i().set_bool(false);
    dut.drained_i().set(0);
    let (channel, data, last) = inputs.link.unwrap_or((true, 0xdead, true));
    dut.link_in_valid_i().set_bool(inputs.link.is_some());
    dut.link_in_channel_i().set_bool(channel);
    dut.link_in_data_i().set(data.into());
    dut.link_in_last_i().set_bool(last);
    dut.link_out_credit_i().set(inputs.credit.into());
}

fn seen_nia(dut: &impl CppacsNiaPorts) -> Out {
    let word = || {
        let (data, last) = (dut.link_out_data_o().get() as u32, dut.link_out_last_o().is_set());
        (dut.link_out_channel_o().is_set(), data, last)
    };
    Out {
        nodes: vec![seen_node!(dut, 0)],
        network_busy: false,
        link: dut.link_out_valid_o().is_set().then(word),
        credit: dut.link_in_credit_o().get() as u32,
    }
}

fn set_machine(dut: &impl CppacsMachinePorts, inputs: &In) {
    for (n, node) in inputs.nodes.iter().enumerate() {
        set_node!(dut, n, node);
    }
}

fn seen_machine(dut: &impl CppacsMachinePorts) -> Out {
    Out {
        nodes: (0..dut.busy_o().width()).map(|n| seen_node!(dut, n)).collect(),
        network_busy: dut.network_busy_o().is_set(),
        link: None,
        credit: 0,
    }
}

fn machine<U: CppacsMachineUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set_machine, seen_machine)
}

fn nia<U: CppacsNiaUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set_nia, seen_nia)
}

// ------------------------------------------------------------------------------------------------------------- the rig

/// Bytes of a node's memory.
pub(crate) const SIZE: u32 = 1 << 20;
/// Process 1: its area, and its TCWs.
pub(crate) const AREA_AT: u32 = 0x2_0000;
const AREA_BYTES: u32 = 0x8_0000;
pub(crate) const TCWS_AT: u32 = 0x1000;
/// Fields are in the upper half of the area; their flags are here.
pub(crate) const FLAGS: u32 = 0x8000;
/// The send flag's offset in the area.
pub(crate) const SENT: u32 = 0x10;
const KEY: u32 = 0xc0de_0001;
const FIELD_BYTES: u32 = 0x2_0000;

/// A node's memory and what the host wants of it.
struct Node {
    memory: Memory,
    server: Server,
    access: Option<Access>,
    response: Option<(u64, bool)>,
    asked: bool,
}

/// Nodes under way. The link of a single one is looped back, unless something else is at its other end.
struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    nodes: Vec<Node>,
    far: Far<'a>,
    /// What comes from there: a word and credits.
    link: Option<Word>,
    credit: u32,
    /// Cycles of the first and the last word on the link.
    first: Option<u64>,
    last: u64,
    busy: bool,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, nodes: usize) -> Result<Rig<'a>, Fault> {
        let timing = MemoryTiming {
            read_latency: Cycle(8),
            write_latency: Cycle(8),
            ..MemoryTiming::IDEAL
        };
        let node = |_| Node {
            memory: Memory::new(SIZE as usize),
            server: Server::new(run, timing, 4, false),
            access: None,
            response: None,
            asked: false,
        };
        let mut rig = Rig {
            bench: Bench::new(run, dut),
            nodes: (0..nodes).map(node).collect(),
            far: Box::new(|link, credit| Ok((link, credit))),
            link: None,
            credit: 0,
            first: None,
            last: 0,
            busy: true,
        };
        for _ in 0..4 {
            rig.bench.reset(&In {
                nodes: vec![NodeIn::default(); nodes],
                ..In::default()
            })?;
        }
        Ok(rig)
    }

    fn step(&mut self) -> Result<(), Fault> {
        let cycle = self.bench.cycle();
        let one = |node: &mut Node| NodeIn {
            access: node.access.filter(|_| !node.asked),
            mem: node.server.ports(),
        };
        let inputs = In {
            nodes: self.nodes.iter_mut().map(one).collect(),
            link: self.link.take(),
            credit: std::mem::take(&mut self.credit),
        };
        let out = self.bench.step(&inputs)?;
        self.busy = out.network_busy || out.nodes.iter().any(|node| node.busy);
        for (node, seen) in self.nodes.iter_mut().zip(&out.nodes) {
            node.server.step(cycle, &mut node.memory, &seen.mem)?;
            node.asked |= node.access.is_some() && seen.ready;
            if seen.response.is_some() {
                node.response = seen.response;
            }
        }
        if out.link.is_some() {
            self.first = self.first.or(Some(cycle));
            self.last = cycle;
        }
        (self.link, self.credit) = (self.far)(out.link, out.credit)?;
        Ok(())
    }

    /// An access of the host's. Its answer, and whether it is an error.
    fn access(&mut self, node: usize, access: Access) -> Result<(u64, bool), Fault> {
        (
            self.nodes[node].access,
            self.nodes[node].asked,
            self.nodes[node].response,
        ) = (Some(access), false, None);
        for _ in 0..3000 {
            self.step()?;
            if let Some(response) = self.nodes[node].response.take() {
                self.nodes[node].access = None;
                return Ok(response);
            }
        }
        Err(Rule::Hang.broken(format!("{access:x?} has no answer")))
    }

    fn write(&mut self, node: usize, addr: u32, data: u64) -> Result<(), Fault> {
        let (_, error) = self.access(node, (addr, Some(data)))?;
        Rule::Hang.holds(!error, || format!("a write to {addr:x} is refused"))
    }

    fn read(&mut self, node: usize, addr: u32) -> Result<u64, Fault> {
        let (data, error) = self.access(node, (addr, None))?;
        Rule::Hang.holds(!error, || format!("a read of {addr:x} is refused"))?;
        Ok(data)
    }

    fn word(&self, node: usize, at: u32) -> u32 {
        let bytes = self.nodes[node].memory.read(Addr(at), 4).expect("it is inside");
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }

    fn put(&mut self, node: usize, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(self.nodes[node].memory.write(Addr(at), &bytes), "it is inside");
    }

    fn words(&self, node: usize, at: u32, count: u32) -> Vec<u32> {
        (0..count).map(|i| self.word(node, at + 4 * i)).collect()
    }

    fn set_up(&mut self, grid: Grid) -> Result<(), Fault> {
        let nodes = self.nodes.len();
        (0..nodes).try_for_each(|n| {
            settings(grid, n, nodes)
                .into_iter()
                .try_for_each(|(addr, data)| self.write(n, addr, data))
        })
    }

    /// Kicks a TCW of process 1. Gives the cycle.
    fn kick(&mut self, from: usize, tcw: &Tcw) -> Result<u64, Fault> {
        self.put(from, TCWS_AT + SIZE_TCW * 5, &tcw.words());
        self.first = None;
        let begin = self.bench.cycle();
        let kick = 5 | u64::from(tcw.channel) << KICK_CHANNEL_SHIFT;
        self.write(from, KICK + SIZE_PAGE, kick)?;
        Ok(begin)
    }

    /// Waits until a field of a node has counted so many transfers. Gives the cycle.
    fn arrived(&mut self, node: usize, field: u32, count: u32) -> Result<u64, Fault> {
        for _ in 0..60_000 {
            if self.word(node, FLAGS + 8 * field + 4) == count {
                return Ok(self.bench.cycle());
            }
            self.step()?;
        }
        let first = self.read(node, RECEIVE_FIRST)?;
        Err(Rule::Hang.broken(format!(
            "transfer {count} does not come to node {node}: RECEIVE_FIRST {first:x}"
        )))
    }

    /// Both, one after the other.
    fn transfer(&mut self, from: usize, tcw: &Tcw, to: usize, field: u32, count: u32) -> Result<(u64, u64), Fault> {
        Ok((self.kick(from, tcw)?, self.arrived(to, field, count)?))
    }

    /// Waits until nothing moves.
    fn rest(&mut self) -> Result<(), Fault> {
        for _ in 0..3000 {
            self.step()?;
            if !self.busy {
                return Ok(());
            }
        }
        Err(Rule::Rest.broken("it is busy without end"))
    }
}

/// What the registers and tables of node `n` are set to: field f of each node begins at an offset of its area; right d,
/// of process 1, is for field 2 of node d; right `nodes` + d for field 3.
pub(crate) fn settings(grid: Grid, n: usize, nodes: usize) -> Vec<(u32, u64)> {
    let process = Process {
        area: AREA_AT,
        area_bytes: AREA_BYTES,
        tcws: TCWS_AT,
        tcw_count: 16,
    };
    let [area, tcws] = process.words();
    let place = node_word(grid, grid.place(n as u32));
    let mut writes = vec![(NODE, place), (AREA + 16, area), (TCWS + 16, tcws)];
    for f in 2..4 {
        let field = Field {
            enabled: true,
            write: true,
            read: true,
            atomic: true,
            flagged: true,
            owner: 1,
            key: KEY + f,
            base: field_at(f),
            size: FIELD_BYTES,
            flag: FLAGS + 8 * f,
        };
        let [state, extent, flag] = field.words();
        let at = FIELDS + 32 * f;
        writes.extend([(at + 8, extent), (at + 16, flag), (at, state)]);
    }
    for d in 0..2 * nodes as u32 {
        let (to, field) = (d % nodes as u32, 2 + d / nodes as u32);
        let right = Right {
            place: grid.place(to),
            mask: 0,
            field,
            owner: 1,
            valid: true,
            key: KEY + field,
            size: FIELD_BYTES,
        };
        let [place, limit] = right.words();
        writes.extend([(RIGHTS + 16 * d + 8, limit), (RIGHTS + 16 * d, place)]);
    }
    writes.push((CONTROL, CONTROL_SEND_MASK));
    writes
}

/// Physical address of a field.
pub(crate) fn field_at(field: u32) -> u32 {
    AREA_AT + AREA_BYTES - (4 - field) * FIELD_BYTES
}

pub(crate) fn plain(kind: Kind, channel: u32, right: u32, length: u32) -> Tcw {
    Tcw {
        valid: true,
        right,
        kind: kind as u32,
        channel,
        flagged: true,
        source: 0x100,
        length,
        offset: 0x40,
        send_flag: SENT,
        reply_field: 3,
        reply_offset: 0x80,
        operand: 0x1111_2222_3333_4444,
        compare: 0,
        ..Tcw::parse(&[0; 16])
    }
}

pub(crate) const ONE: Grid = Grid { x: 1, y: 1, z: 1 };

/// Eight bytes go out and come back.
fn first_transfer(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.from_each(&Start::ALL, format!("{} 8 bytes", dut.name), |run| {
        let mut rig = Rig::new(run, dut, 1)?;
        rig.set_up(ONE)?;
        rig.put(0, AREA_AT + 0x100, &[0xaaaa_0001, 0xbbbb_0002]);
        let (kick, flag) = rig.transfer(0, &plain(Kind::Write, 0, 0, 8), 0, 2, 1)?;
        let first = rig.first.unwrap_or(0);
        println!(
            "8 bytes: kick to first word {}, to the flag {}",
            first - kick,
            flag - kick
        );
        Rule::Data.same(
            "data",
            vec![0xaaaa_0001, 0xbbbb_0002],
            rig.words(0, field_at(2) + 0x40, 2),
        )?;
        Rule::Data.same("flag", vec![0, 1], rig.words(0, FLAGS + 16, 2))?;
        rig.rest()?;
        Rule::Data.same("send flag", vec![5, 1], rig.words(0, AREA_AT + SENT, 2))?;
        Rule::Rate.holds(first - kick <= 60 + 8, || {
            format!("{} cycles to the first word", first - kick)
        })?;
        for (count, want) in [
            (COUNT_SENT, 1),
            (COUNT_RECEIVED, 1),
            (COUNT_WORDS, 2),
            (COUNT_WORDS_IN, 2),
        ] {
            let got = rig.read(0, COUNTS + 8 * count)?;
            Rule::Counts.same(format!("COUNTS {count}"), want, got)?;
        }
        Ok(())
    });
}

/// Longer ones, strided ones, and the acknowledge channel with its answers.
fn transfers(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} transfers", dut.name), |run| {
        let mut rng = run.rng("data");
        let mut rig = Rig::new(run, dut, 1)?;
        rig.set_up(ONE)?;
        let data: Vec<u32> = (0..0x4100).map(|_| rng.bits() as u32).collect();
        rig.put(0, AREA_AT + 0x100, &data);
        rig.transfer(0, &plain(Kind::Write, 0, 0, 0x1_0008), 0, 2, 1)?;
        let words = u64::from(rig.last - rig.first.unwrap_or(0));
        println!("65,544 bytes: {words} cycles on the link");
        Rule::Rate.holds(words <= 0x4002 + 12 + 64, || format!("{words} cycles"))?;
        Rule::Data.same(
            "long",
            data[..0x4002].to_vec(),
            rig.words(0, field_at(2) + 0x40, 0x4002),
        )?;
        let strided = Tcw {
            strided: true,
            element: 16,
            source_step: 24,
            step: 40,
            offset: 0x1_8000,
            ..plain(Kind::Write, 0, 0, 64)
        };
        rig.transfer(0, &strided, 0, 2, 2)?;
        for i in 0..4 {
            let (from, to) = (6 * i as usize, field_at(2) + 0x1_8000 + 40 * i);
            Rule::Data.same("an element", data[from..from + 4].to_vec(), rig.words(0, to, 4))?;
        }
        rig.transfer(0, &plain(Kind::Write, 1, 0, 32), 0, 2, 3)?;
        Rule::Data.same("short", data[..8].to_vec(), rig.words(0, field_at(2) + 0x40, 8))?;
        rig.transfer(0, &plain(Kind::Get, 1, 0, 256), 0, 3, 1)?;
        let got = rig.words(0, field_at(2) + 0x40, 64);
        Rule::Data.same("GET", got, rig.words(0, field_at(3) + 0x80, 64))?;
        let old = rig.words(0, field_at(2) + 0x40, 2);
        rig.transfer(0, &plain(Kind::Swap, 1, 0, 8), 0, 3, 2)?;
        Rule::Data.same("the old value", old, rig.words(0, field_at(3) + 0x80, 2))?;
        Rule::Data.same(
            "the new value",
            vec![0x3333_4444, 0x1111_2222],
            rig.words(0, field_at(2) + 0x40, 2),
        )?;
        let compare = Tcw {
            compare: 0x1111_2222_3333_4444,
            operand: 7,
            ..plain(Kind::Cswap, 1, 0, 8)
        };
        rig.transfer(0, &compare, 0, 3, 3)?;
        Rule::Data.same("the new value", vec![7, 0], rig.words(0, field_at(2) + 0x40, 2))?;
        rig.transfer(0, &compare, 0, 3, 4)?;
        Rule::Data.same("the old value", vec![7, 0], rig.words(0, field_at(3) + 0x80, 2))?;
        rig.rest()
    });
}

const CUBE: Grid = Grid { x: 2, y: 2, z: 2 };
/// A right of each node for field 2 of all.
const ALL: u32 = 100;

/// Node 0 sends to each node; then all send at once, to all neighbours; a broadcast; a barrier.
fn cube(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} cube", dut.name), |run| {
        let mut rng = run.rng("data");
        let mut rig = Rig::new(run, dut, 8)?;
        rig.set_up(CUBE)?;
        let mut data = Vec::new();
        for n in 0..8 {
            data.push((0..0x100).map(|_| rng.bits() as u32).collect::<Vec<u32>>());
            rig.put(n, AREA_AT + 0x100, &data[n]);
        }
        let mut counts = [0; 8];
        for to in 0..8 {
            counts[to] += 1;
            let (kick, flag) = rig.transfer(0, &plain(Kind::Write, 0, to as u32, 8), to, 2, counts[to])?;
            println!("8 bytes from node 0 to {to}: {} cycles", flag - kick);
            Rule::Data.same("data", data[0][..2].to_vec(), rig.words(to, field_at(2) + 0x40, 2))?;
        }
        for step in [1, 2, 4, 7, 3] {
            for n in 0..8 {
                let tcw = plain(Kind::Write, 0, (n ^ step) as u32, 1024);
                rig.kick(n, &tcw)?;
            }
            for n in 0..8 {
                counts[n] += 1;
                rig.arrived(n, 2, counts[n])?;
                let from = n ^ step;
                Rule::Data.same("data", data[from].clone(), rig.words(n, field_at(2) + 0x40, 0x100))?;
                let src = CUBE.place(from as u32).word();
                Rule::Data.same("SRC", src, rig.word(n, FLAGS + 16))?;
            }
        }
        rig.transfer(7, &plain(Kind::Get, 1, 0, 512), 7, 3, 1)?;
        Rule::Data.same(
            "GET",
            rig.words(0, field_at(2) + 0x40, 128),
            rig.words(7, field_at(3) + 0x80, 128),
        )?;
        broadcast(&mut rig, &data[5], &mut counts)?;
        barrier(&mut rig)?;
        rig.rest()
    });
}

/// Node 5 sends to all nodes, itself included.
fn broadcast(rig: &mut Rig, data: &[u32], counts: &mut [u32; 8]) -> Result<(), Fault> {
    let right = Right {
        place: Place::default(),
        mask: 7,
        field: 2,
        owner: 1,
        valid: true,
        key: KEY + 2,
        size: FIELD_BYTES,
    };
    let [place, limit] = right.words();
    rig.write(5, RIGHTS + 16 * ALL + 8, limit)?;
    rig.write(5, RIGHTS + 16 * ALL, place)?;
    rig.kick(5, &plain(Kind::Write, 0, ALL, 1024))?;
    for (n, count) in counts.iter_mut().enumerate() {
        *count += 1;
        rig.arrived(n, 2, *count)?;
        Rule::Data.same("a copy", data.to_vec(), rig.words(n, field_at(2) + 0x40, 0x100))?;
    }
    Ok(())
}

/// No node is released before the last one arrives.
fn barrier(rig: &mut Rig) -> Result<(), Fault> {
    for n in 0..8 {
        rig.write(n, BARRIER, BARRIER_MEMBER_MASK)?;
    }
    for n in 0..8 {
        let before = rig.read(0, BARRIER)?;
        Rule::Data.same("releases", 0, before >> BARRIER_COUNT_SHIFT)?;
        rig.write(n, BARRIER, BARRIER_MEMBER_MASK | BARRIER_ARRIVE_MASK)?;
    }
    for _ in 0..20 {
        rig.step()?;
    }
    for n in 0..8 {
        let after = rig.read(n, BARRIER)?;
        Rule::Data.same("releases", 1, after >> BARRIER_COUNT_SHIFT)?;
    }
    Ok(())
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    first_transfer(dut, cases);
    transfers(dut, cases);
}

#[test]
fn eight_bytes_come_back() {
    pass(this_test!(), |cases| first_transfer(&nia::<CppacsNia>(), cases));
}

#[test]
fn every_kind_of_transfer_comes_back() {
    pass(this_test!(), |cases| transfers(&nia::<CppacsNia>(), cases));
}

#[test]
fn eight_nodes_send_to_one_another() {
    pass(this_test!(), |cases| cube(&machine::<CppacsMachine>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Data, &[Hang], &|cases| checks(&nia::<TwinNiaAtomic>(), cases)),
            (Counts, &[], &|cases| checks(&nia::<TwinNiaWords>(), cases)),
            (Rate, &[], &|cases| checks(&nia::<TwinNiaRate>(), cases)),
            (Rest, &[], &|cases| checks(&nia::<TwinNiaRest>(), cases)),
            (Hang, &[], &|cases| checks(&nia::<TwinNiaHang>(), cases)),
            (Worm, &[], &|cases| lockstep::checks(&nia::<TwinNiaAnswer>(), cases)),
        ],
    );
}
