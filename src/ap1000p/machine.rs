//! A machine of verilated cells on a verilated torus, driven cycle by cycle; processors are the caller.

use std::collections::VecDeque;
use std::rc::Rc;

use verilated::Context;

use super::regs::*;
use super::send::Place;
use crate::Cycle;
use crate::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use crate::net::fabric::Flit;
use crate::net::torus::{Class, Torus};
use crate::net::torus_fabric::TorusFabric;
use crate::rtl::{Ap1000pCell, Ap1000pRouter};

/// Clock period, picoseconds: the machine's 50 MHz.
pub const PERIOD: u64 = 20_000;

/// What a machine is made of.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub torus: Torus,
    /// Bytes of each cell's memory.
    pub memory: u32,
    pub timing: MemoryTiming,
    /// Cycles from one store of the processor to the next, at least 1.
    pub store_cycles: u64,
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

/// What became of one: the word, or two for 8 bytes; `None`: it was refused, here or there. A store's answer says only that it is on its way.
pub type RemoteAnswer = Option<u64>;

/// A register access, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Host {
    offset: u32,
    write: Option<u32>,
    taken: bool,
}

pub struct Node {
    unit: Ap1000pCell,
    /// Of all cells, {y, x}, as remote accesses name them.
    names: Rc<[u16]>,
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
    remote: Option<(Remote, bool)>,
    remote_answer: Option<RemoteAnswer>,
    /// Words put on the network.
    pub sent: u64,
    /// Places that became free at the router.
    credits: u8,
    idle: bool,
}

pub struct Machine {
    config: Config,
    pub nodes: Vec<Node>,
    fabric: TorusFabric<Ap1000pRouter>,
    context: Context,
    cycle: u64,
}

impl Machine {
    /// All cells reset, told their place, with one process's context 0 and no translation.
    pub fn new(config: Config, context: Context) -> Machine {
        let torus = config.torus;
        let named = |number: usize| (torus.cell(number).y << 5 | torus.cell(number).x) as u16;
        let names: Rc<[u16]> = (0..torus.cells()).map(named).collect();
        let node = |number: usize| Node {
            names: names.clone(),
            unit: Ap1000pCell::named(&context, &format!("cell{number}")),
            memory: Memory::new(config.memory as usize),
            agent: MemoryAgent::new(config.timing, 4),
            stores: VecDeque::new(),
            store_at: 0,
            stalls: 0,
            host: None,
            host_answer: None,
            access: None,
            answer: None,
            remote: None,
            remote_answer: None,
            sent: 0,
            credits: 0,
            idle: false,
        };
        let mut machine = Machine {
            config,
            nodes: (0..torus.cells()).map(node).collect(),
            fabric: TorusFabric::new(torus, |at| {
                Ap1000pRouter::named(&context, &format!("router{}x{}", at.x, at.y))
            }),
            context,
            cycle: 0,
        };
        for node in &mut machine.nodes {
            node.unit.rst_i.set_bool(true);
        }
        for _ in 0..3 {
            machine.edge();
        }
        for node in &mut machine.nodes {
            node.unit.rst_i.set_bool(false);
        }
        machine.fabric.reset();
        for number in 0..torus.cells() {
            let at = torus.cell(number);
            machine.write(number, CELL, at.x as u32 | (at.y as u32) << CELL_Y_SHIFT);
            machine.write(number, SIZE, torus.x() as u32 | (torus.y() as u32) << SIZE_Y_SHIFT);
        }
        machine
    }

    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    pub fn place(&self, number: usize) -> Place {
        let at = self.config.torus.cell(number);
        Place {
            at: [at.x as u8, at.y as u8],
            size: [self.config.torus.x() as u8, self.config.torus.y() as u8],
        }
    }

    /// Relative address of a cell, as commands have it.
    pub fn relative(&self, from: usize, to: usize) -> u32 {
        let (from, to) = (self.config.torus.cell(from), self.config.torus.cell(to));
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
        let node = &mut self.nodes[number];
        assert!(node.remote.is_none(), "cell {number}: a remote access is under way");
        node.remote = Some((remote, false));
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

    /// Whether the interrupt of a cell is up.
    pub fn irq(&self, number: usize) -> bool {
        self.nodes[number].unit.irq_o.is_set()
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.edge();
        }
    }

    /// Whether nothing is under way any more.
    pub fn at_rest(&self) -> bool {
        let rests = |node: &Node| node.idle && node.stores.is_empty() && node.agent.is_idle();
        self.nodes.iter().all(rests) && !self.fabric.busy()
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
        let now = Cycle(self.cycle);
        for (number, node) in self.nodes.iter_mut().enumerate() {
            node.credits = self.fabric.returned(number);
            let came = self.fabric.output(number);
            node.drive(came.map(|sent| (sent.vc, sent.flit)), self.cycle);
            let unit = &node.unit;
            // What stands on the links before the edge goes into the network with it.
            if unit.tx_valid_o.is_set() {
                let flit = Flit {
                    word: unit.tx_data_o.get().into(),
                    last: unit.tx_last_o.is_set(),
                };
                let class = Class::ALL[usize::from(unit.tx_vc_o.get() >> 1)];
                self.fabric.inject(number, class, flit);
                node.sent += 1;
            }
            let back = unit.rx_credit_o.get();
            for class in Class::ALL {
                if back >> class.vc(0) & 1 == 1 {
                    self.fabric.give_back(number, class);
                }
            }
            node.edge(now, self.config.store_cycles);
            self.context.set_time(self.cycle * PERIOD);
        }
        self.fabric.edge();
        self.cycle += 1;
    }
}

impl Node {
    /// The inputs before an edge.
    fn drive(&mut self, came: Option<(usize, Flit)>, cycle: u64) {
        let unit = &self.unit;
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
        if let Some((remote, _)) = remote {
            unit.dsm_req_write_i.set_bool(remote.write.is_some());
            unit.dsm_req_registers_i.set_bool(remote.registers);
            unit.dsm_req_cell_i.set(self.names[remote.cell]);
            unit.dsm_req_addr_i.set(remote.addr);
            unit.dsm_req_size_i.set(remote.size);
            unit.dsm_req_data_i.set(remote.write.unwrap_or(0));
        }
        unit.dsm_rsp_ready_i.set_bool(true);
        unit.tx_credit_i.set(self.credits);
        unit.rx_valid_i.set_bool(came.is_some());
        if let Some((vc, flit)) = came {
            unit.rx_vc_i.set(vc as u8);
            unit.rx_data_i.set(flit.word as u32);
            unit.rx_last_i.set_bool(flit.last);
        }
        let MemPortsOut {
            rd_cmd_ready,
            rd_data_valid,
            rd_data_data,
            rd_data_last,
            rd_data_err,
            wr_cmd_ready,
            wr_data_ready,
            wr_rsp_valid,
            wr_rsp_err,
        } = *self.agent.ports();
        unit.mem_rd_cmd_ready_i.set_bool(rd_cmd_ready);
        unit.mem_rd_data_valid_i.set_bool(rd_data_valid);
        unit.mem_rd_data_data_i.set(rd_data_data as u32);
        unit.mem_rd_data_last_i.set_bool(rd_data_last);
        unit.mem_rd_data_err_i.set_bool(rd_data_err);
        unit.mem_wr_cmd_ready_i.set_bool(wr_cmd_ready);
        unit.mem_wr_data_ready_i.set_bool(wr_data_ready);
        unit.mem_wr_rsp_valid_i.set_bool(wr_rsp_valid);
        unit.mem_wr_rsp_err_i.set_bool(wr_rsp_err);
    }

    fn edge(&mut self, now: Cycle, store_cycles: u64) {
        let unit = &self.unit;
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
        if let Some((remote, taken)) = &mut self.remote
            && !*taken
            && unit.dsm_req_ready_o.is_set()
        {
            *taken = true;
            if remote.write.is_some() {
                self.remote_answer = Some(Some(0));
                self.remote = None;
            }
        }
        let mem = MemPortsIn {
            rd_cmd_valid: unit.mem_rd_cmd_valid_o.is_set(),
            rd_cmd_addr: unit.mem_rd_cmd_addr_o.get(),
            rd_cmd_len: unit.mem_rd_cmd_len_o.get(),
            rd_data_ready: unit.mem_rd_data_ready_o.is_set(),
            wr_cmd_valid: unit.mem_wr_cmd_valid_o.is_set(),
            wr_cmd_addr: unit.mem_wr_cmd_addr_o.get(),
            wr_cmd_len: unit.mem_wr_cmd_len_o.get(),
            wr_data_valid: unit.mem_wr_data_valid_o.is_set(),
            wr_data_data: unit.mem_wr_data_data_o.get().into(),
            wr_data_strb: unit.mem_wr_data_strb_o.get(),
            wr_data_last: unit.mem_wr_data_last_o.is_set(),
            wr_rsp_ready: unit.mem_wr_rsp_ready_o.is_set(),
        };
        self.agent.step(now, &mut self.memory, &mem, |_| {});
        self.unit.rise(1);
        self.idle = !self.unit.busy_o.is_set();
    }
}
