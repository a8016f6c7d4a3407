//! The timed golden model of a whole Cenju-3: senders, network, receivers and memories as events on simulated time,
//! with the real bytes.
//!
//! The model uses the same [`Config`] and the same pure functions as the rest: formats, split, rings, verdicts. Nothing
//! here is taken from the RTL. Memory is modelled burst by burst on the one IO bus of a PE. The network moves chunks of
//! at most 16 flits (one burst of 32 bytes). A chunk takes a link for the time of its flits. It starts into a receive
//! FIFO only with room for all of it, and into a switch whose buffer is not over its size. It may go on to the next
//! link when its head has passed a stage (cut-through). Therefore the contents of FIFOs and switches are right to one
//! chunk per buffer. See sec. 5 and 6 of the paper.

mod bus;
mod network;
mod receiver;
mod sender;

use std::fmt::Write as _;
use std::rc::Rc;

use super::params::Config;
use super::regs::*;
use super::window::{RECEIVE_FIFO, register};
use crate::cenju3::golden::packet::get;
use crate::cenju3::golden::receiver_state::{Cause, RecvRegs};
use crate::harness::agenda::Agenda;
use crate::harness::backend::{Backend, HostReq, HostRsp};
use crate::harness::event::{Event, EventKind};
use crate::harness::host_port::RegisterAccess;
use crate::harness::memory::Memory;
use crate::{NodeId, Picos};

use bus::Bus;
use network::Network;
use receiver::Receiver;
use sender::Sender;

/// Cycles of the IO clock from the start of a register access to its response.
const HOST_CYCLES: u64 = 2;

/// An event of simulated time. `Bus`, `Sender`, `Receiver` and `Link` only look again: a needless one is harmless.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// The response to a register access.
    Host(usize),
    /// The bus of a node may serve a burst.
    Bus(usize),
    /// The first word of a read burst of a node arrives.
    ReadData(usize),
    /// The response to a write burst of a node arrives.
    Written(usize),
    /// A write response reaches its writer.
    Answered(usize),
    Sender(usize),
    Receiver(usize),
    /// A link may start a chunk.
    Link(usize),
    /// Flits have left a buffer.
    Freed {
        buffer: usize,
        flits: u32,
    },
    /// An event to record.
    Note(Event),
}

/// A register access of a host.
#[derive(Clone, Copy, Debug)]
enum Access {
    Started(HostReq),
    Answered(HostRsp),
}

/// One PE.
struct Node {
    memory: Memory,
    bus: Bus,
    sender: Sender,
    regs: RecvRegs,
    receiver: Receiver,
    /// `S_GAP`, `R_THRESH`.
    gap: u32,
    threshold: u32,
    host: Option<Access>,
    irq: bool,
}

/// A packet on its way: all its flits.
struct Flight {
    flits: Vec<u16>,
}

impl Flight {
    fn dst(&self) -> usize {
        get(ROUTE_DST_MASK, u32::from(self.flits[0])) as usize
    }
}

/// A part of a packet; its flits move together.
#[derive(Clone)]
struct Chunk {
    packet: Rc<Flight>,
    flits: u32,
    first: bool,
    last: bool,
    /// The instant from which on the next buffer may take it.
    ready: Picos,
}

/// A [`Backend`]: the golden model of the machine.
pub struct ModelMachine {
    config: Config,
    now: Picos,
    agenda: Agenda<Picos, Due>,
    nodes: Vec<Node>,
    network: Network,
    events: Option<Vec<Event>>,
}

impl ModelMachine {
    /// The machine of `config` after reset, at time 0.
    pub fn new(config: &Config) -> ModelMachine {
        let nodes = (0..config.pes)
            .map(|_| Node {
                memory: Memory::new(config.mem_bytes as usize),
                bus: Bus::default(),
                sender: Sender::default(),
                regs: RecvRegs::default(),
                receiver: Receiver::default(),
                gap: 0,
                threshold: config.fifo_words - 16,
                host: None,
                irq: false,
            })
            .collect();
        ModelMachine {
            config: config.clone(),
            now: Picos::ZERO,
            agenda: Agenda::default(),
            nodes,
            network: Network::new(config),
            events: None,
        }
    }

    fn at(&mut self, at: Picos, due: Due) {
        assert!(at >= self.now, "{due:?} scheduled in the past");
        self.agenda.put(at, due);
    }

    fn io_cycles(&self, cycles: u64) -> Picos {
        self.config.io_period * cycles
    }

    fn net_cycles(&self, cycles: u64) -> Picos {
        self.config.net_period * cycles
    }

    /// The first rising edge of the IO clock at or after `at`.
    fn io_edge(&self, at: Picos) -> Picos {
        edge(at, self.config.io_period, self.config.io_phase)
    }

    /// The first rising edge of the network clock at or after `at`.
    fn net_edge(&self, at: Picos) -> Picos {
        edge(at, self.config.net_period, self.config.net_phase)
    }

    /// Records an event of `node` at an instant that may lie ahead.
    fn note(&mut self, at: Picos, node: usize, kind: EventKind) {
        let Some(events) = &mut self.events else { return };
        let event = Event {
            at,
            node: NodeId(node as u16),
            kind,
        };
        if at <= self.now {
            events.push(event);
        } else {
            self.at(at, Due::Note(event));
        }
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Host(node) => self.host_answer(node),
            Due::Bus(node) => self.bus(node),
            Due::ReadData(node) => self.read_data(node),
            Due::Written(node) => self.write_answered(node),
            Due::Answered(node) => self.answered(node),
            Due::Sender(node) => self.sender(node),
            Due::Receiver(node) => self.receiver(node),
            Due::Link(link) => self.link(link),
            Due::Freed { buffer, flits } => self.freed(buffer, flits),
            Due::Note(event) => {
                if let Some(events) = &mut self.events {
                    events.push(event);
                }
            }
        }
    }

    /// A cause becomes pending.
    fn raise(&mut self, node: usize, cause: Cause) {
        self.nodes[node].regs.raise(cause);
        self.drive_irq(node);
    }

    fn drive_irq(&mut self, node: usize) {
        let level = self.nodes[node].regs.irq();
        if level != self.nodes[node].irq {
            self.nodes[node].irq = level;
            self.note(self.now, node, EventKind::Irq { level });
        }
    }

    fn host_answer(&mut self, node: usize) {
        let Some(Access::Started(req)) = self.nodes[node].host else {
            unreachable!("no register access to answer")
        };
        let value = register(req).and_then(|RegisterAccess { offset, write }| match write {
            None => self.register_read(node, offset.into()),
            Some(value) => self.register_write(node, offset.into(), value).then_some(0),
        });
        let rsp = HostRsp {
            value: value.unwrap_or(0).into(),
            error: value.is_none(),
        };
        self.nodes[node].host = Some(Access::Answered(rsp));
    }

    /// The value of a register; `None` if there is no such register.
    fn register_read(&self, node: usize, offset: u32) -> Option<u32> {
        let n = &self.nodes[node];
        Some(match offset {
            SQ0_BASE..=SQ1_GET => n.sender.register_read(offset),
            S_STAT => n.sender.stat(),
            S_GAP => n.gap,
            R_THRESH => n.threshold,
            R_STAT => {
                let level = self.network.receive_level(node);
                n.regs.read(R_STAT).unwrap_or(0) | level << R_STAT_LEVEL_SHIFT
            }
            ID => ID_VALUE,
            _ => n.regs.read(offset)?,
        })
    }

    /// Writes a register; false if it is not writable.
    fn register_write(&mut self, node: usize, offset: u32, value: u32) -> bool {
        const WRITABLE: [u32; 22] = [
            SQ0_BASE, SQ0_PUT, S_CTRL, SQ1_BASE, SQ1_PUT, MHB_BASE, MHB_SIZE, MHB_GET, DHB_BASE, DHB_SIZE, DHB_GET,
            MBB0_BASE, MBB0_SIZE, MBB0_GET, MBB1_BASE, MBB1_SIZE, MBB1_GET, R_CTRL, R_STAT, NODE_ID, S_GAP, R_THRESH,
        ];
        if !WRITABLE.contains(&offset) {
            return false;
        }
        self.note(self.now, node, EventKind::RegWrite { offset, value });
        let n = &mut self.nodes[node];
        match offset {
            SQ0_BASE..MHB_BASE => {
                if n.sender.register_write(offset, value) {
                    self.at(self.now + self.io_cycles(sender::START_CYCLES), Due::Sender(node));
                }
            }
            S_GAP => n.gap = get(S_GAP_CYCLES_MASK, value),
            R_THRESH => n.threshold = get(R_THRESH_WORDS_MASK, value),
            _ => {
                if n.regs.write(offset, value) {
                    n.regs.halted = false;
                }
                self.at(self.now + self.io_cycles(1), Due::Receiver(node));
                self.drive_irq(node);
            }
        }
        true
    }
}

/// The first rising edge at or after `at` of a clock whose first edge is at `period` + `phase`.
fn edge(at: Picos, period: Picos, phase: Picos) -> Picos {
    let first = period + phase;
    let past = at.saturating_sub(first);
    first + period * past.0.div_ceil(period.0)
}

impl Backend for ModelMachine {
    fn now(&self) -> Picos {
        self.now
    }

    fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn next_event(&self) -> Option<Picos> {
        self.agenda.next()
    }

    fn advance(&mut self, to: Picos) {
        assert!(to >= self.now, "time does not run backwards");
        while let Some((at, due)) = self.agenda.take(to) {
            self.now = at;
            self.happen(due);
        }
        self.now = to;
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        let node = node.index();
        assert!(
            self.nodes[node].host.is_none(),
            "PE {node}: a register access before the last one's answer was taken"
        );
        self.nodes[node].host = Some(Access::Started(req));
        let at = self.io_edge(self.now + Picos(1)) + self.io_cycles(HOST_CYCLES);
        self.at(at, Due::Host(node));
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let Some(Access::Answered(rsp)) = self.nodes[node.index()].host else {
            return None;
        };
        self.nodes[node.index()].host = None;
        Some(rsp)
    }

    fn irq(&self, node: NodeId) -> bool {
        self.nodes[node.index()].irq
    }

    fn gauge(&self, node: NodeId, name: &str) -> Option<u32> {
        (name == RECEIVE_FIFO).then(|| self.network.receive_level(node.index()) * self.config.bus_bytes)
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
        let mut report = String::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let (sender, receiver) = (node.sender.state(), node.receiver.state(&node.regs));
            let level = self.network.receive_level(at);
            if sender.is_some() || receiver.is_some() || level > 0 || node.irq {
                let (sender, receiver) = (sender.unwrap_or("idle".into()), receiver.unwrap_or("idle".into()));
                let irq = if node.irq { ", interrupt line up" } else { "" };
                writeln!(
                    report,
                    "PE {at}: sender {sender}; receiver {receiver}, {level} words in FIFO{irq}"
                )
                .expect("to a string");
            }
        }
        report + &self.network.state()
    }
}
