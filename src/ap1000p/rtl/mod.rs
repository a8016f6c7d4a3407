//! The verilated AP1000+: cells on a torus, with their memories, on simulated time. Processors are the caller, either cycle by cycle or as
//! host programs through [`Backend`].
//!
//! Every output is registered, so cells and routers are evaluated in any order. Cells without anything to do are left out, and when there is nothing at
//! all, time is skipped.

use std::collections::VecDeque;
use std::fmt::Write as _;

pub mod nets;

use verilated::{Context, Verilated};

use crate::ap1000p::golden::access;
use crate::ap1000p::golden::send::Place;
use crate::ap1000p::golden::window::Window;
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::backend::{Backend, Event, EventKind, HostReq, HostRsp};
use crate::harness::clock::Clock;
use crate::harness::memory::{Memory, MemoryAgent};
use crate::harness::wave::{Probe, Trace};
use crate::net::fabric::Flit;
use crate::net::link::LinkMonitor;
use crate::net::torus::{Cell, Class, Torus};
use crate::net::torus_fabric::{Links, RouterUnit, TorusFabric};
use crate::rtl::{Ap1000pCell, Ap1000pCellSoftware, Ap1000pRouter, Ap1000pRouterPaced};
use crate::{Cycle, NodeId, Picos};
use nets::Nets;

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotBuilt {
    #[error("{name} = {rate} MB/s with a period of {period_ns} ns: built are {}", built.join(" and "))]
    Rate {
        name: &'static str,
        rate: f64,
        period_ns: f64,
        built: Vec<String>,
    },
    #[error(
        "columns x rows = {cells} cells: S-net and B-net are built for {}; the golden model takes more",
        nets::MOST
    )]
    Cells { cells: usize },
}

/// The cycles of a word at this rate, which must be one of those that are built.
fn built(config: &Config, name: &'static str, rate: f64, cycles: &[u64]) -> Result<u64, NotBuilt> {
    let of = |cycles: u64| (config.period * cycles).rate_mb_s(4);
    let found = cycles.iter().find(|&&cycles| (of(cycles) / rate - 1.0).abs() < 1e-3);
    found.copied().ok_or_else(|| NotBuilt::Rate {
        name,
        rate,
        period_ns: config.period.0 as f64 / 1e3,
        built: cycles
            .iter()
            .map(|&cycles| format!("{} MB/s, {cycles} cycles a word", of(cycles)))
            .collect(),
    })
}

/// RTL of two sets of parameters.
enum Either<A, B> {
    One(A),
    Other(B),
}

/// At full speed, and at the machine's rate.
type Router = Either<Ap1000pRouter, Ap1000pRouterPaced>;

/// What overflowed the queues comes back by itself, or by software.
type Unit = Either<Ap1000pCell, Ap1000pCellSoftware>;

/// Does the same with either.
macro_rules! either {
    ($either:expr, $unit:ident => $do:expr) => {
        match $either {
            Either::One($unit) => $do,
            Either::Other($unit) => $do,
        }
    };
}

impl RouterUnit for Router {
    fn reset(&mut self, torus: Torus, at: Cell) {
        either!(self, unit => unit.reset(torus, at));
    }

    #[inline]
    fn edge(&mut self, links: &Links) {
        either!(self, unit => unit.edge(links));
    }

    #[inline]
    fn shows(&self) -> Links {
        either!(self, unit => unit.shows())
    }

    #[inline]
    fn busy(&self) -> bool {
        either!(self, unit => unit.busy())
    }

    fn drained(&self) -> u64 {
        either!(self, unit => unit.drained())
    }
}

/// A word of a command, for the page of this code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    pub page: u16,
    pub data: u32,
}

/// An access of a communication register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub register: u8,
    /// The word to write, or a read.
    pub write: Option<u32>,
}

/// What became of one: the word read, or `None` on a fault.
pub type Answer = Option<u32>;

/// An access of the processor to another cell's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    pub cell: usize,
    /// In that cell's memory, or of one of its communication registers: 4 x its number.
    pub addr: u32,
    pub registers: bool,
    /// Bytes, as a power of two: 0 to 3.
    pub size: u8,
    /// The bytes to store in their lanes of the word, or a load.
    pub write: Option<u64>,
}

/// The same as the cell is asked for it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    access: access::Access,
    registers: bool,
}

/// What became of one: the word, or two for 8 bytes; `None`: it was refused, here or there. A store's answer says only that it is on its way.
pub type RemoteAnswer = Option<u64>;

/// A register access, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Host {
    offset: u32,
    write: Option<u32>,
    taken: bool,
}

/// What a program's access waits for.
#[derive(Clone, Copy, Debug)]
enum Port {
    Register,
    Net,
    Creg,
    Page,
    Shared(access::Access),
    /// There is nothing at its offset, or it cannot be done there.
    Refused,
}

pub struct Node {
    unit: Unit,
    pub memory: Memory,
    agent: MemoryAgent,
    /// Words the processor has yet to store.
    stores: VecDeque<Store>,
    /// First cycle in which the next one may be stored.
    store_at: u64,
    /// Cycles in which a store was offered and not taken.
    pub stalls: u64,
    host: Option<Host>,
    host_answer: Option<(u32, bool)>,
    access: Option<(Access, bool)>,
    answer: Option<Answer>,
    remote: Option<(Asked, bool)>,
    remote_answer: Option<RemoteAnswer>,
    /// The access of a host program, with what it asked.
    port: Option<(Port, HostReq)>,
    /// Words put on the network.
    pub sent: u64,
    /// Places that became free at the router.
    credits: u8,
    /// Interrupt line after the last edge.
    pub irq: bool,
    /// Packets leaving and coming, by class.
    leaving: [LinkMonitor; 2],
    coming: [LinkMonitor; 2],
}

/// A [`Backend`] of real RTL.
pub struct Machine {
    torus: Torus,
    store_cycles: u64,
    pub nodes: Vec<Node>,
    fabric: TorusFabric<Router>,
    nets: Nets,
    context: Context,
    clock: Clock,
    now: Picos,
    gated: bool,
    trace: Trace,
    events: Option<Vec<Event>>,
}

impl Machine {
    /// All cells reset, told their place, with one process's context 0 and no translation.
    ///
    /// # Errors
    /// Links of a rate, or more cells, than were built.
    pub fn new(config: &Config) -> Result<Machine, NotBuilt> {
        let (torus, context) = (config.torus(), Context::new());
        let link_cycles = built(config, "link_rate", config.link_rate, &[8, 1])?;
        built(config, "bus_rate", config.bus_rate, &[4])?;
        if torus.cells() > nets::MOST {
            return Err(NotBuilt::Cells { cells: torus.cells() });
        }
        let cell = |name: &str| {
            if config.hardware_refill {
                Either::One(Ap1000pCell::named(&context, name))
            } else {
                Either::Other(Ap1000pCellSoftware::named(&context, name))
            }
        };
        let node = |number: usize| Node {
            unit: cell(&format!("cell{number}")),
            memory: Memory::new(config.mem_bytes as usize),
            agent: MemoryAgent::new(config.timing(), 4),
            stores: VecDeque::new(),
            store_at: 0,
            stalls: 0,
            host: None,
            host_answer: None,
            access: None,
            answer: None,
            remote: None,
            remote_answer: None,
            port: None,
            sent: 0,
            credits: 0,
            irq: false,
            leaving: [LinkMonitor::outgoing(); 2],
            coming: [LinkMonitor::incoming(); 2],
        };
        let router = |at: Cell| {
            let name = format!("router{}x{}", at.x, at.y);
            if link_cycles == 1 {
                Either::One(Ap1000pRouter::named(&context, &name))
            } else {
                Either::Other(Ap1000pRouterPaced::named(&context, &name))
            }
        };
        let mut machine = Machine {
            torus,
            store_cycles: config.store_cycles.into(),
            nodes: (0..torus.cells()).map(node).collect(),
            fabric: TorusFabric::new(torus, router).with_places(config.lane_words as u8),
            nets: Nets::new(&context, torus.cells()),
            context,
            clock: Clock::new(config.period, Picos::ZERO),
            now: Picos::ZERO,
            // From the reset on.
            gated: false,
            trace: Trace::default(),
            events: None,
        };
        for node in &mut machine.nodes {
            either!(&node.unit, unit => unit.rst_i.set_bool(true));
        }
        for _ in 0..3 {
            machine.edge();
        }
        for node in &mut machine.nodes {
            either!(&node.unit, unit => unit.rst_i.set_bool(false));
        }
        machine.gated = true;
        machine.fabric.reset();
        for number in 0..torus.cells() {
            let at = torus.cell(number);
            machine.write(number, CELL, at.x as u32 | (at.y as u32) << CELL_Y_SHIFT);
            machine.write(number, SIZE, torus.x() as u32 | (torus.y() as u32) << SIZE_Y_SHIFT);
        }
        Ok(machine)
    }

    /// The same machine with every cell evaluated at every edge, and with junk on lines whose words do not count: slower, and the same in every
    /// observable way (tests compare).
    pub fn ungated(mut self) -> Machine {
        self.gated = false;
        self.with_junk(1)
    }

    /// The same machine with junk, from this seed, on lines whose words do not count.
    pub fn with_junk(self, seed: u64) -> Machine {
        self.context.set_junk(seed);
        self
    }

    /// The same machine writing the wave that `probe` asks for.
    pub fn with_probe(mut self, probe: &Probe) -> Machine {
        self.trace = Trace::new(probe, &[("clk_i", self.clock)]);
        self
    }

    /// Clock edges so far.
    pub fn cycle(&self) -> u64 {
        self.clock.index().0 - 1
    }

    pub fn place(&self, number: usize) -> Place {
        let at = self.torus.cell(number);
        Place {
            at: [at.x as u8, at.y as u8],
            size: [self.torus.x() as u8, self.torus.y() as u8],
        }
    }

    /// Relative address of a cell, as commands have it.
    pub fn relative(&self, from: usize, to: usize) -> u32 {
        let (from, to) = (self.torus.cell(from), self.torus.cell(to));
        let part = |from: usize, to: usize| (to as i32 - from as i32) as u32 & 0xff;
        part(from.x, to.x) << COMMAND_HEAD_DX_SHIFT | part(from.y, to.y) << COMMAND_HEAD_DY_SHIFT
    }

    /// The processor stores these words to a page, one after the other, behind what it has yet to store.
    pub fn store(&mut self, number: usize, page: u32, words: &[u32]) {
        let page = u16::try_from(page).expect("a page code has 16 bits");
        let stores = words.iter().map(|&data| Store { page, data });
        self.nodes[number].stores.extend(stores);
    }

    /// Writes a register, and runs until that is done. Panics where the register cannot be written.
    pub fn write(&mut self, number: usize, offset: u32, value: u32) {
        let (_, error) = self.host(number, offset, Some(value));
        assert!(!error, "cell {number}: register {offset:#x} cannot be written");
    }

    /// Reads a register. Panics where there is none.
    pub fn read(&mut self, number: usize, offset: u32) -> u32 {
        let (value, error) = self.host(number, offset, None);
        assert!(!error, "cell {number}: there is no register {offset:#x}");
        value
    }

    /// The answer of a register access, and whether it was refused.
    pub fn host(&mut self, number: usize, offset: u32, write: Option<u32>) -> (u32, bool) {
        let taken = false;
        self.nodes[number].host = Some(Host { offset, write, taken });
        loop {
            self.edge();
            if let Some(answer) = self.nodes[number].host_answer.take() {
                return answer;
            }
        }
    }

    /// Accesses a communication register; `None` if there is no answer within so many cycles. The access goes on then: ask again with
    /// [`answer`](Machine::answer).
    pub fn access(&mut self, number: usize, access: Access, cycles: u64) -> Option<Answer> {
        let node = &mut self.nodes[number];
        assert!(
            node.access.is_none(),
            "cell {number}: an access of a communication register is under way"
        );
        node.access = Some((access, false));
        self.answer(number, cycles)
    }

    /// The answer of the access under way, if it comes within so many cycles.
    pub fn answer(&mut self, number: usize, cycles: u64) -> Option<Answer> {
        for _ in 0..cycles {
            self.edge();
            if let Some(answer) = self.nodes[number].answer.take() {
                return Some(answer);
            }
        }
        None
    }

    /// Loads from or stores to another cell; `None` if that is not done within so many cycles. It goes on then: ask again with
    /// [`remote_answer`](Machine::remote_answer).
    pub fn remote(&mut self, number: usize, remote: Remote, cycles: u64) -> Option<RemoteAnswer> {
        let to = self.torus.cell(remote.cell);
        let access = access::Access {
            cell: [to.x as u8, to.y as u8],
            addr: remote.addr,
            size: remote.size,
            write: remote.write,
        };
        let node = &mut self.nodes[number];
        assert!(node.remote.is_none(), "cell {number}: a remote access is under way");
        let registers = remote.registers;
        node.remote = Some((Asked { access, registers }, false));
        self.remote_answer(number, cycles)
    }

    /// The end of the remote access under way, if it comes within so many cycles.
    pub fn remote_answer(&mut self, number: usize, cycles: u64) -> Option<RemoteAnswer> {
        for _ in 0..cycles {
            self.edge();
            if let Some(answer) = self.nodes[number].remote_answer.take() {
                return Some(answer);
            }
        }
        None
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.edge();
        }
    }

    /// Whether nothing is under way any more.
    pub fn at_rest(&self) -> bool {
        !self.active()
    }

    /// Runs until nothing is under way; false if something still is after so many cycles.
    #[must_use]
    pub fn settle(&mut self, cycles: u64) -> bool {
        for _ in 0..cycles {
            self.edge();
            if self.at_rest() {
                return true;
            }
        }
        false
    }

    /// One clock edge of everything.
    pub fn edge(&mut self) {
        self.now = self.clock.next();
        let (now, cycle) = (self.now, self.clock.index());
        let Machine {
            trace,
            nodes,
            fabric,
            nets,
            ..
        } = self;
        trace.before(now, || {
            let cells = nodes
                .iter()
                .map(|node| either!(&node.unit, unit => unit as &dyn Verilated));
            let routers = fabric
                .units()
                .iter()
                .map(|router| either!(router, unit => unit as &dyn Verilated));
            cells.chain(routers).chain(nets.units()).collect()
        });
        self.context.set_time(now.0);
        let all = self.evaluates_all();
        let events = &mut self.events;
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let mut note = |kind| {
                if let Some(events) = events {
                    let node = NodeId(number as u16);
                    events.push(Event { at: now, node, kind });
                }
            };
            node.credits = self.fabric.returned(number);
            let came = self.fabric.output(number);
            if !all && !node.stirs() && came.is_none() {
                continue;
            }
            if let Some(sent) = came {
                node.coming[sent.vc >> 1].pass(sent.flit, &mut note);
            }
            node.drive(came.map(|sent| (sent.vc, sent.flit)), cycle.0);
            either!(&node.unit, unit => {
            // What stands on the links before the edge goes into the network with it.
            if unit.tx_valid_o.is_set() {
                let flit = Flit {
                    word: unit.tx_data_o.get().into(),
                    last: unit.tx_last_o.is_set(),
                };
                let class = Class::ALL[usize::from(unit.tx_vc_o.get() >> 1)];
                self.fabric.inject(number, class, flit);
                node.leaving[class as usize].pass(flit, &mut note);
                node.sent += 1;
            }
            let back = unit.rx_credit_o.get();
            for class in Class::ALL {
                if back >> class.vc(0) & 1 == 1 {
                    self.fabric.give_back(number, class);
                }
            }
            });
            node.edge(cycle, self.store_cycles, &mut note);
        }
        if all {
            self.fabric.wake_all();
        }
        self.fabric.edge();
        if all || self.nets.busy() {
            self.nets.edge(!all);
        }
        self.trace.after();
        self.clock.advance();
    }

    /// Something is in a network or has just left it.
    fn moves(&self) -> bool {
        let comes = |number| self.fabric.output(number).is_some() || self.fabric.returned(number) != 0;
        self.fabric.busy() || self.nets.busy() || (0..self.nodes.len()).any(comes)
    }

    /// Something can change at the next edge.
    fn active(&self) -> bool {
        self.nodes.iter().any(Node::stirs) || self.moves()
    }

    /// No unit and no edge is left out.
    fn evaluates_all(&self) -> bool {
        !self.gated || self.trace.is_open()
    }
}

impl Backend for Machine {
    fn now(&self) -> Picos {
        self.now
    }

    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn next_event(&self) -> Option<Picos> {
        self.active().then(|| self.clock.next())
    }

    fn advance(&mut self, to: Picos) {
        assert!(to >= self.now, "time runs forward: {to} is before {}", self.now);
        while self.clock.next() <= to && (self.active() || self.evaluates_all()) {
            self.edge();
        }
        self.now = to;
        self.clock.skip_to(to);
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let number = node.index();
        let node = &mut self.nodes[number];
        assert!(node.port.is_none(), "an access is under way: {:?}", node.port);
        let (offset, write) = match req {
            HostReq::Read { offset } => (offset, None),
            HostReq::Write { offset, value } => (offset, Some(value)),
            HostReq::Load { .. } | HostReq::Store { .. } => {
                let port = match access::Access::of(req) {
                    Some(access) => {
                        let registers = false;
                        node.remote = Some((Asked { access, registers }, false));
                        Port::Shared(access)
                    }
                    None => Port::Refused,
                };
                node.port = Some((port, req));
                return;
            }
        };
        let port = match (Window::of(offset), write) {
            (Some(Window::Register(offset)), write) => {
                let taken = false;
                node.host = Some(Host { offset, write, taken });
                Port::Register
            }
            (Some(Window::Net(offset)), write) => {
                self.nets.start(number, offset, write);
                Port::Net
            }
            (Some(Window::Creg(register)), write) => {
                node.access = Some((Access { register, write }, false));
                Port::Creg
            }
            (Some(Window::Page(page)), Some(data)) => {
                node.stores.push_back(Store { page, data });
                Port::Page
            }
            (Some(Window::Page(_)) | None, _) => Port::Refused,
        };
        node.port = Some((port, req));
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let number = node.index();
        let node = &mut self.nodes[number];
        let (port, req) = node.port?;
        let (value, error) = match port {
            Port::Register => {
                let (value, error) = node.host_answer.take()?;
                (value.into(), error)
            }
            Port::Creg => {
                let word = node.answer.take()?;
                (word.unwrap_or_default().into(), word.is_none())
            }
            Port::Shared(access) => {
                let words = node.remote_answer.take()?;
                (access.value(words.unwrap_or_default()), words.is_none())
            }
            Port::Net => {
                let (value, error) = self.nets.take(number)?;
                (value.into(), error)
            }
            Port::Page if node.stores.is_empty() => (0, false),
            Port::Page => return None,
            Port::Refused => (0, true),
        };
        node.port = None;
        let reads = matches!(req, HostReq::Read { .. } | HostReq::Load { .. }) && !error;
        Some(HostRsp {
            value: if reads { value } else { 0 },
            error,
        })
    }

    fn irq(&self, node: NodeId) -> bool {
        self.nodes[node.index()].irq
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        &mut self.nodes[node.index()].memory
    }

    fn record(&mut self, on: bool) {
        self.events = on.then(Vec::new);
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn hang_report(&self) -> String {
        let mut text = String::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let mut parts = Vec::new();
            if node.irq {
                parts.push("interrupt line high, not served".to_string());
            }
            if let Some((_, req)) = node.port {
                parts.push(format!("{req:x?} not answered"));
            }
            if node.is_busy() {
                parts.push("busy".to_string());
            }
            parts.extend(node.agent.report());
            if !parts.is_empty() {
                let _ = writeln!(text, "{}: {}", NodeId(at as u16), parts.join("; "));
            }
        }
        if self.fabric.busy() {
            text += "words are in the network\n";
        }
        if let Some(nets) = self.nets.report() {
            let _ = writeln!(text, "{nets}");
        }
        text
    }
}

impl Node {
    fn is_busy(&self) -> bool {
        either!(&self.unit, unit => unit.busy_o.is_set())
    }

    /// Something may change at the next edge, whatever the network does; of the unit, what it shows after the last one.
    fn stirs(&self) -> bool {
        let asks = !self.stores.is_empty() || self.host.is_some() || self.access.is_some() || self.remote.is_some();
        asks || self.credits != 0 || !self.agent.is_idle() || self.is_busy()
    }

    /// The inputs before an edge.
    fn drive(&mut self, came: Option<(usize, Flit)>, cycle: u64) {
        either!(&self.unit, unit => {
        let store = self.stores.front().filter(|_| self.store_at <= cycle);
        unit.store_valid_i.set_bool(store.is_some());
        if let Some(store) = store {
            unit.store_page_i.set(store.page);
            unit.store_data_i.set(store.data);
        }
        let host = self.host.filter(|host| !host.taken);
        unit.host_req_valid_i.set_bool(host.is_some());
        if let Some(host) = host {
            unit.host_req_addr_i.set(host.offset as u8);
            unit.host_req_write_i.set_bool(host.write.is_some());
            unit.host_req_wdata_i.set(host.write.unwrap_or(0));
            unit.host_req_wstrb_i.set(0xf);
        }
        unit.host_rsp_ready_i.set_bool(true);
        let access = self.access.filter(|(_, taken)| !taken);
        unit.creg_req_valid_i.set_bool(access.is_some());
        if let Some((access, _)) = access {
            unit.creg_req_addr_i.set(access.register);
            unit.creg_req_write_i.set_bool(access.write.is_some());
            unit.creg_req_data_i.set(access.write.unwrap_or(0));
        }
        unit.creg_rsp_ready_i.set_bool(true);
        let remote = self.remote.filter(|(_, taken)| !taken);
        unit.dsm_req_valid_i.set_bool(remote.is_some());
        if let Some((Asked { access, registers }, _)) = remote {
            unit.dsm_req_write_i.set_bool(access.write.is_some());
            unit.dsm_req_registers_i.set_bool(registers);
            unit.dsm_req_cell_i.set(access.name());
            unit.dsm_req_addr_i.set(access.addr);
            unit.dsm_req_size_i.set(access.size);
            unit.dsm_req_data_i.set(access.write.unwrap_or(0));
        }
        unit.dsm_rsp_ready_i.set_bool(true);
        unit.tx_credit_i.set(self.credits);
        unit.rx_valid_i.set_bool(came.is_some());
        if let Some((vc, flit)) = came {
            unit.rx_vc_i.set(vc as u8);
            unit.rx_data_i.set(flit.word as u32);
            unit.rx_last_i.set_bool(flit.last);
        }
        crate::set_mem_ports!(unit, self.agent.ports());
        });
    }

    fn edge(&mut self, now: Cycle, store_cycles: u64, note: &mut impl FnMut(EventKind)) {
        let level = either!(&self.unit, unit => {
        if self.stores.front().is_some() && self.store_at <= now.0 {
            if unit.store_ready_o.is_set() {
                self.stores.pop_front();
                self.store_at = now.0 + store_cycles;
            } else {
                self.stalls += 1;
            }
        }
        if unit.host_rsp_valid_o.is_set() {
            self.host_answer = Some((unit.host_rsp_rdata_o.get(), unit.host_rsp_err_o.is_set()));
            self.host = None;
        }
        if let Some(host) = &mut self.host
            && unit.host_req_ready_o.is_set()
        {
            host.taken = true;
            if let Some(value) = host.write {
                let offset = host.offset;
                note(EventKind::RegWrite { offset, value });
            }
        }
        if unit.creg_rsp_valid_o.is_set() {
            let word = unit.creg_rsp_data_o.get();
            self.answer = Some((!unit.creg_rsp_fault_o.is_set()).then_some(word));
            self.access = None;
        }
        if let Some((_, taken)) = &mut self.access
            && unit.creg_req_ready_o.is_set()
        {
            *taken = true;
        }
        if unit.dsm_rsp_valid_o.is_set() {
            let words = unit.dsm_rsp_data_o.get();
            self.remote_answer = Some((!unit.dsm_rsp_err_o.is_set()).then_some(words));
            self.remote = None;
        }
        if let Some((asked, taken)) = &mut self.remote
            && !*taken
            && unit.dsm_req_ready_o.is_set()
        {
            *taken = true;
            if asked.access.write.is_some() {
                self.remote_answer = Some(Some(0));
                self.remote = None;
            }
        }
        let mem = crate::mem_ports!(unit);
        self.agent.step(now, &mut self.memory, &mem, &mut *note);
            unit.junk();
            unit.rise(1);
            unit.irq_o.is_set()
        });
        if level != self.irq {
            self.irq = level;
            note(EventKind::Irq { level });
        }
        self.credits = 0;
    }
}
