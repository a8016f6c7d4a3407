//! The timed golden model of a whole DIMMnet-1: cards, their processors and the switch as events on simulated time,
//! with the real bytes and the real firmware.
//!
//! The model uses the same [`Config`] and the same pure functions as the rest: formats, cutting, tables, the
//! processor's instruction set and cycles. Nothing here is taken from the RTL. Packets move in chunks of at most 8
//! words, a header alone. A chunk takes a link for the time of its words, goes on when it is there, and waits for room
//! for all of it. So the contents of buffers are right to one chunk. The cycles of the card's blocks are in `timing`.

mod bus;
mod cpu;
mod network;
mod rdma;
mod rx;
mod send;
mod tables;
mod timing;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use super::params::Config;
use super::regs::SIZE_LLCM;
use super::window::CardAccess;
use crate::harness::agenda::Agenda;
use crate::harness::backend::{Backend, HostReq, HostRsp};
use crate::harness::event::{Event, EventKind};
use crate::harness::faults::Fault;
use crate::harness::memory::Memory;
use crate::{NodeId, Picos};

use bus::Regs;
use cpu::Processor;
use network::Network;
use rdma::Rdma;
use rx::Rx;
use send::{Client, Send};
use tables::{Acks, Tlb};

/// An event of simulated time. Those of a block only look again: a needless one is harmless.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// The host's access.
    Host(usize),
    /// The arbiter of the sending side.
    Tx(usize),
    /// A packet of a client has left.
    Gone(usize, Client),
    Rdma(usize),
    Switch,
    Rx(usize),
    /// The interrupt line of the on-chip processor.
    CpuLine(usize),
    /// An instruction, unless the processor was stopped meanwhile.
    Cpu {
        node: usize,
        run: u64,
    },
    /// A stop has lasted too long, if it is still the one with this number.
    Watchdog {
        node: usize,
        rdma: bool,
        stop: u64,
    },
    /// An event to record.
    Note(Event),
}

/// An access of a host.
#[derive(Clone, Copy, Debug)]
enum Access {
    Asking(CardAccess),
    /// A load, answered at this instant.
    Loaded(Picos, HostRsp),
    Answered(HostRsp),
}

/// What a burst does with the memory.
#[derive(Clone, Copy, Debug)]
enum Way {
    Read,
    Write,
}

/// One card with its memory.
struct Card {
    memory: Memory,
    /// When the bus of the memory is free.
    memory_free: Picos,
    /// When the youngest bursts of each [`Way`] end: writes with their responses, reads with the latency of the one
    /// that takes their place.
    under_way: [VecDeque<Picos>; 2],
    llcm: Vec<u8>,
    regs: Regs,
    /// What the processor wrote of registers by halves.
    halves: BTreeMap<u32, u64>,
    tlb: Tlb,
    acks: Acks,
    send: Send,
    rdma: Rdma,
    rx: Rx,
    cpu: Processor,
    /// Stops so far: of the receiver, of RDMA.
    stops: [u64; 2],
    host: Option<Access>,
    irq: bool,
}

impl Card {
    fn new(config: &Config) -> Card {
        Card {
            memory: Memory::new(config.mem_bytes as usize),
            memory_free: Picos::ZERO,
            under_way: Default::default(),
            llcm: vec![0; SIZE_LLCM as usize],
            regs: Regs::default(),
            halves: BTreeMap::new(),
            tlb: Tlb::new(),
            acks: Acks::default(),
            send: Send::new(config),
            rdma: Rdma::default(),
            rx: Rx::new(),
            cpu: Processor::new(),
            stops: [0; 2],
            host: None,
            irq: false,
        }
    }
}

/// A [`Backend`]: the golden model of the machine.
pub struct ModelMachine {
    config: Config,
    now: Picos,
    agenda: Agenda<Picos, Due>,
    cards: Vec<Card>,
    network: Network,
    events: Option<Vec<Event>>,
}

impl ModelMachine {
    /// The machine of `config` after reset, at time 0.
    pub fn new(config: &Config) -> ModelMachine {
        let nodes = config.nodes as usize;
        ModelMachine {
            now: Picos::ZERO,
            agenda: Agenda::default(),
            cards: (0..nodes).map(|_| Card::new(config)).collect(),
            network: Network::new(nodes, config.tx_words as usize, config.rx_words as usize),
            events: None,
            config: config.clone(),
        }
    }

    fn at(&mut self, at: Picos, due: Due) {
        assert!(at >= self.now, "{due:?} scheduled in the past");
        self.agenda.put(at, due);
    }

    fn core_cycles(&self, cycles: u64) -> Picos {
        self.config.core_period * cycles
    }

    /// The first rising edge of the core clock after `at`.
    fn core_edge(&self, at: Picos) -> Picos {
        edge(at + Picos(1), self.config.core_period, self.config.core_phase)
    }

    /// The first rising edge of the links' clock after `at`.
    fn link_edge(&self, at: Picos) -> Picos {
        edge(at + Picos(1), self.config.link_period, self.config.link_phase)
    }

    /// Takes the memory's bus for so many words from then on, or when it is free and few enough bursts are under way;
    /// gives the end.
    fn use_memory(&mut self, node: usize, from: Picos, words: usize, way: Way) -> Picos {
        let Config {
            mem_overhead,
            mem_read_latency,
            mem_write_latency,
            ..
        } = self.config;
        let span = self.core_cycles(words as u64 + u64::from(mem_overhead));
        let latency = match way {
            Way::Read => mem_read_latency,
            Way::Write => mem_write_latency,
        };
        let turn = self.core_cycles(timing::MEMORY_PORT + u64::from(latency));
        let card = &mut self.cards[node];
        card.memory_free = card.memory_free.max(from) + span;
        let under_way = &mut card.under_way[way as usize];
        let begin = match under_way.len() {
            timing::OUTSTANDING => under_way.pop_front().map_or(from, |end| end.max(from)),
            _ => from,
        };
        let end = card.memory_free.max(begin + span);
        under_way.push_back(end + turn);
        end
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
            Due::Host(node) => self.host(node),
            Due::Tx(node) => self.tx(node),
            Due::Gone(node, client) => self.gone(node, client),
            Due::Rdma(node) => self.rdma(node),
            Due::Switch => self.switch(),
            Due::Rx(node) => self.rx(node),
            Due::CpuLine(node) => self.cpu_line(node),
            Due::Cpu { node, run } => self.cpu(node, run),
            Due::Watchdog { node, rdma, stop } => self.watchdog(node, rdma, stop),
            Due::Note(event) => {
                if let Some(events) = &mut self.events {
                    events.push(event);
                }
            }
        }
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
        self.cards.len()
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
        let at = node.index();
        assert!(
            self.cards[at].host.is_none(),
            "{node}: an access before the last one's answer was taken"
        );
        let next = self.core_edge(self.now);
        let refused = Access::Answered(HostRsp { value: 0, error: true });
        self.cards[at].host = Some(CardAccess::of(req).map_or(refused, Access::Asking));
        self.at(next, Due::Host(at));
    }

    fn host_take(&mut self, node: NodeId) -> Option<HostRsp> {
        let host = &mut self.cards[node.index()].host;
        let Some(Access::Answered(rsp)) = *host else {
            return None;
        };
        *host = None;
        Some(rsp)
    }

    fn irq(&self, node: NodeId) -> bool {
        self.cards[node.index()].irq
    }

    fn inject(&mut self, node: NodeId, fault: &Fault) -> bool {
        let Fault::Packet(words) = fault else { return false };
        self.cards[node.index()].send.forge(words.clone());
        self.at(self.now, Due::Tx(node.index()));
        true
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        &mut self.cards[node.index()].memory
    }

    fn record(&mut self, on: bool) {
        self.events = on.then(Vec::new);
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn hang_report(&self) -> String {
        let mut report = String::new();
        for (at, card) in self.cards.iter().enumerate() {
            let (up, down) = self.network.held(at);
            let parts = [
                (!card.send.is_idle()).then(|| "packets wait to leave".to_owned()),
                (!card.rdma.is_idle()).then(|| "RDMA is busy".to_owned()),
                (!card.rx.is_idle()).then(|| "the receiver is busy".to_owned()),
                card.rx.is_stopped().then(|| "the receiver is stopped".to_owned()),
                (card.acks.open() > 0).then(|| format!("{} answers to come", card.acks.open())),
                (up > 0).then(|| format!("{up} words wait for the switch")),
                (down > 0).then(|| format!("{down} words wait for the receiver")),
                card.cpu
                    .at()
                    .filter(|_| card.regs.runs())
                    .map(|pc| format!("the processor is at {pc:#x}")),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            if !parts.is_empty() {
                writeln!(report, "{}: {}", NodeId(at as u16), parts.join(", ")).expect("to a string");
            }
        }
        report
    }
}
