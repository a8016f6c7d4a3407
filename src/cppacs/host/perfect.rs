//! A perfect network under the native library: no faults, no conflicts but at the ends. It has the paper's latency and
//! throughput, and stands in where no machine is needed, as in tests of PVM and of C programs.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use thiserror::Error;

use super::layout;
use super::transport::{Area, Channel, Strided, Transport};
use crate::cppacs::params::Config;
use crate::harness::agenda::Agenda;
use crate::harness::backend::{Backend, Event, HostReq, HostRsp};
use crate::harness::exec::{Host, Sim};
use crate::harness::memory::Memory;
use crate::harness::sync::Signal;
use crate::{Addr, NodeId, Picos};

/// From kick to flag, without the words.
const LATENCY: Picos = Picos(3_000_000);
/// Header and sum of a worm.
const OVERHEAD: u64 = 24;
/// What the kernel and the library keep at the start of memory.
pub const KERNEL_BYTES: u32 = layout::AREA + layout::OBJECTS;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PerfectError {
    #[error("{node}: `{name}` of {bytes} B: {left} B are left; set mem_bytes")]
    Memory {
        node: NodeId,
        name: String,
        bytes: u32,
        left: u32,
    },
    #[error("{node}: there is a `{name}` already")]
    Taken { node: NodeId, name: String },
    #[error("{node}: a field of {bytes} B at {offset} of an area of {area} B")]
    Field {
        node: NodeId,
        offset: u32,
        bytes: u32,
        area: u32,
    },
    #[error("{node}: no field is left; set fields")]
    Fields { node: NodeId },
    #[error("{node}: field {number} of `{name}` on {to} is not there after {wait}")]
    Nobody {
        node: NodeId,
        to: NodeId,
        name: String,
        number: u16,
        wait: Picos,
    },
    #[error("{node}: a transfer of {bytes} B, which is no multiple of 8, or nothing")]
    Length { node: NodeId, bytes: u64 },
    #[error("{node}: a transfer of {bytes} B to {offset} of a field of {size} B")]
    Bounds {
        node: NodeId,
        offset: u32,
        bytes: u64,
        size: u32,
    },
    #[error("no {to}: the machine has {nodes} nodes")]
    Node { to: NodeId, nodes: usize },
}

/// The machine: memories, and transfers under way.
pub struct Perfect {
    shared: Rc<RefCell<Shared>>,
    memories: Vec<Memory>,
    now: Picos,
}

struct Shared {
    word: Picos,
    /// On the data and on the acknowledge channel.
    transfers: [u64; 2],
    agenda: Agenda<Picos, Due>,
    ends: Vec<End>,
}

/// One node's end of the network.
struct End {
    signal: Rc<Signal>,
    /// The link out is free from then on.
    free: Picos,
    /// Data on their way in, in order.
    coming: VecDeque<Coming>,
    fields: Vec<FieldEntry>,
    next_memory: u32,
    areas: BTreeMap<Addr, String>,
}

#[derive(Clone)]
struct FieldEntry {
    name: String,
    number: u16,
    base: Addr,
    bytes: u32,
    count: u32,
}

enum Due {
    Read(Transfer, Rc<Cell<bool>>),
    Arrive(Delivery),
}

struct Transfer {
    number: u64,
    from: NodeId,
    source: Strided,
    to: NodeId,
    field: usize,
    offset: u32,
    channel: Channel,
}

struct Delivery {
    to: NodeId,
    field: usize,
    elements: Vec<(Addr, Vec<u8>)>,
}

/// Data on their way, from the kick on; the source is read when the last word has left.
struct Coming {
    from: NodeId,
    number: u64,
    length: Picos,
    arrival: Picos,
    delivery: Option<Delivery>,
}

impl Perfect {
    pub fn new(config: &Config, nodes: usize) -> Perfect {
        let end = || End {
            signal: Rc::new(Signal::new("a transfer")),
            free: Picos::ZERO,
            coming: VecDeque::new(),
            fields: Vec::new(),
            next_memory: KERNEL_BYTES,
            areas: BTreeMap::new(),
        };
        let shared = Shared {
            word: config.clock_period,
            transfers: [0; 2],
            agenda: Agenda::default(),
            ends: (0..nodes).map(|_| end()).collect(),
        };
        Perfect {
            shared: Rc::new(RefCell::new(shared)),
            memories: (0..nodes).map(|_| Memory::new(config.mem_bytes as usize)).collect(),
            now: Picos::ZERO,
        }
    }

    /// A simulation of such a machine, and its nodes.
    pub fn machine(config: &Config, nodes: usize) -> (Sim<Perfect>, Vec<Node>) {
        let backend = Perfect::new(config, nodes);
        let (shared, config) = (backend.shared.clone(), Rc::new(config.clone()));
        let sim = Sim::new(backend);
        let node = |i| Node {
            host: sim.host(NodeId(i as u16)),
            config: config.clone(),
            shared: shared.clone(),
        };
        let nodes = (0..nodes).map(node).collect();
        (sim, nodes)
    }

    /// How many transfers were started, on the data and on the acknowledge channel.
    pub fn transfers(&self) -> [u64; 2] {
        self.shared.borrow().transfers
    }

    fn handle(&mut self, at: Picos, due: Due) {
        let mut shared = self.shared.borrow_mut();
        match due {
            Due::Read(transfer, done) => {
                done.set(true);
                shared.ends[transfer.from.index()].signal.notify();
                let delivery = shared.delivery(&transfer, &self.memories[transfer.from.index()]);
                match transfer.channel {
                    Channel::Ack => shared.agenda.put(at + LATENCY, Due::Arrive(delivery)),
                    Channel::Data => shared.fill(transfer.number, delivery),
                }
            }
            Due::Arrive(delivery) => shared.arrive(delivery, &mut self.memories),
        }
    }
}

impl Shared {
    fn length(&self, bytes: u64) -> Picos {
        self.word * (bytes + OVERHEAD).div_ceil(4)
    }

    /// Reads the source; the bounds were checked.
    fn delivery(&self, t: &Transfer, memory: &Memory) -> Delivery {
        let base = self.ends[t.to.index()].fields[t.field].base.offset(t.offset);
        let element = |i: u32| {
            let from = t.source.addr.offset(i * t.source.steps.0);
            let bytes = memory.read(from, t.source.element as usize);
            (
                base.offset(i * t.source.steps.1),
                bytes.expect("inside an area").to_vec(),
            )
        };
        Delivery {
            to: t.to,
            field: t.field,
            elements: (0..t.source.count).map(element).collect(),
        }
    }

    /// Data use the memory port one after the other, those of one source in order.
    fn queue(&mut self, from: NodeId, to: NodeId, number: u64, arrival: Picos, length: Picos) {
        let coming = &mut self.ends[to.index()].coming;
        let behind = coming.iter().rposition(|c| c.from == from).map_or(0, |last| last + 1);
        let at = coming.partition_point(|c| c.arrival <= arrival).max(behind);
        let new = Coming {
            from,
            number,
            length,
            arrival,
            delivery: None,
        };
        coming.insert(at, new);
        let mut free = at.checked_sub(1).map_or(Picos::ZERO, |before| coming[before].arrival);
        for later in coming.iter_mut().skip(at) {
            later.arrival = later.arrival.max(free + later.length);
            free = later.arrival;
        }
    }

    fn fill(&mut self, number: u64, delivery: Delivery) {
        let mut coming = self.ends[delivery.to.index()].coming.iter_mut();
        let coming = coming.find(|c| c.number == number).expect("it comes after it was read");
        coming.delivery = Some(delivery);
    }

    fn arrive(&mut self, delivery: Delivery, memories: &mut [Memory]) {
        for (at, bytes) in &delivery.elements {
            assert!(memories[delivery.to.index()].write(*at, bytes), "inside a field");
        }
        let end = &mut self.ends[delivery.to.index()];
        end.fields[delivery.field].count += 1;
        end.signal.notify();
    }

    /// The processor has the memory for `span` from `now` on: what comes meanwhile stands still.
    fn hold_up(&mut self, node: NodeId, now: Picos, span: Picos) {
        let mut free = now + span;
        for coming in &mut self.ends[node.index()].coming {
            let start = coming.arrival.saturating_sub(coming.length);
            let left = coming.arrival - start.max(now);
            coming.arrival = start.max(free) + left;
            free = coming.arrival;
        }
    }

    fn next(&self) -> Option<Picos> {
        let coming = self.ends.iter().filter_map(|end| Some(end.coming.front()?.arrival));
        coming.chain(self.agenda.next()).min()
    }
}

impl Backend for Perfect {
    fn now(&self) -> Picos {
        self.now
    }

    fn nodes(&self) -> usize {
        self.memories.len()
    }

    fn next_event(&self) -> Option<Picos> {
        self.shared.borrow().next()
    }

    fn advance(&mut self, to: Picos) {
        self.now = to;
        loop {
            let due = self.shared.borrow_mut().agenda.take(to);
            match due {
                Some((at, due)) => self.handle(at, due),
                None => break,
            }
        }
        let mut shared = self.shared.borrow_mut();
        for node in 0..self.memories.len() {
            while shared.ends[node].coming.front().is_some_and(|c| c.arrival <= to) {
                let coming = shared.ends[node].coming.pop_front().expect("looked at");
                shared.arrive(coming.delivery.expect("read before"), &mut self.memories);
            }
        }
    }

    fn host_start(&mut self, node: NodeId, req: HostReq) {
        panic!("{node}: {req}: this machine has no registers");
    }

    fn host_take(&mut self, _: NodeId) -> Option<HostRsp> {
        None
    }

    fn irq(&self, _: NodeId) -> bool {
        false
    }

    fn memory(&mut self, node: NodeId) -> &mut Memory {
        &mut self.memories[node.index()]
    }

    fn record(&mut self, _: bool) {}

    fn take_events(&mut self) -> Vec<Event> {
        Vec::new()
    }

    fn hang_report(&self) -> String {
        "the network is idle".into()
    }
}

/// A node of it, with the native library.
#[derive(Clone)]
pub struct Node {
    host: Host,
    config: Rc<Config>,
    shared: Rc<RefCell<Shared>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field(usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    to: NodeId,
    field: usize,
    bytes: u32,
}

#[derive(Clone, Debug)]
pub struct Sent(Rc<Cell<bool>>);

impl Node {
    fn end(&self) -> RefMut<'_, End> {
        RefMut::map(self.shared.borrow_mut(), |shared| {
            &mut shared.ends[self.host.node().index()]
        })
    }

    fn find(&self, to: NodeId, name: &str, number: u16) -> Option<Right> {
        let shared = self.shared.borrow();
        let mut fields = shared.ends[to.index()].fields.iter();
        let field = fields.position(|f| f.name == name && f.number == number)?;
        let bytes = shared.ends[to.index()].fields[field].bytes;
        Some(Right { to, field, bytes })
    }

    fn nodes(&self) -> usize {
        self.shared.borrow().ends.len()
    }
}

impl Transport for Node {
    type Field = Field;
    type Right = Right;
    type Sent = Sent;
    type Error = PerfectError;

    fn host(&self) -> &Host {
        &self.host
    }

    fn config(&self) -> &Config {
        &self.config
    }

    async fn work(&self, span: Picos) {
        self.host.delay(span).await;
    }

    async fn occupy(&self, span: Picos) {
        let now = self.host.now();
        self.shared.borrow_mut().hold_up(self.host.node(), now, span);
        self.host.delay(span).await;
    }

    async fn object(&self, name: &str, bytes: u32) -> Result<Area, PerfectError> {
        self.work(self.config.syscall).await;
        let node = self.host.node();
        let mut end = self.end();
        if end.areas.values().any(|taken| taken == name) {
            return Err(PerfectError::Taken {
                node,
                name: name.into(),
            });
        }
        let addr = end.next_memory;
        let left = self.config.mem_bytes - addr;
        if bytes > left {
            return Err(PerfectError::Memory {
                node,
                name: name.into(),
                bytes,
                left,
            });
        }
        end.next_memory += bytes.next_multiple_of(64).min(left);
        end.areas.insert(Addr(addr), name.into());
        Ok(Area {
            addr: Addr(addr),
            bytes,
        })
    }

    async fn create_field(&self, area: &Area, offset: u32, bytes: u32, number: u16) -> Result<Field, PerfectError> {
        self.work(self.config.syscall).await;
        let node = self.host.node();
        let mut end = self.end();
        if u64::from(offset) + u64::from(bytes) > area.bytes.into() {
            return Err(PerfectError::Field {
                node,
                offset,
                bytes,
                area: area.bytes,
            });
        }
        // Field 0 is the kernel's.
        if end.fields.len() + 1 >= self.config.fields as usize {
            return Err(PerfectError::Fields { node });
        }
        let (_, name) = end.areas.range(..=area.addr).next_back().expect("an area of this node");
        let name = name.clone();
        end.fields.push(FieldEntry {
            name,
            number,
            base: area.addr.offset(offset),
            bytes,
            count: 0,
        });
        Ok(Field(end.fields.len() - 1))
    }

    async fn get_sendright(&self, to: NodeId, name: &str, number: u16, wait: Picos) -> Result<Right, PerfectError> {
        let (node, nodes) = (self.host.node(), self.nodes());
        if to.index() >= nodes {
            return Err(PerfectError::Node { to, nodes });
        }
        let end = self.host.now() + wait;
        loop {
            self.normal(to).await;
            if let Some(right) = self.find(to, name, number) {
                return Ok(right);
            }
            if self.host.now() >= end {
                let name = name.into();
                return Err(PerfectError::Nobody {
                    node,
                    to,
                    name,
                    number,
                    wait,
                });
            }
        }
    }

    async fn send(&self, from: Strided, right: &Right, offset: u32, channel: Channel) -> Result<Sent, PerfectError> {
        self.work(self.config.send_setup + self.config.syscall).await;
        let (node, bytes) = (self.host.node(), from.bytes());
        if bytes == 0 || !bytes.is_multiple_of(8) {
            return Err(PerfectError::Length { node, bytes });
        }
        let last = u64::from(from.count - 1) * u64::from(from.steps.1) + u64::from(from.element);
        if u64::from(offset) + last > right.bytes.into() {
            let (bytes, size) = (last, right.bytes);
            return Err(PerfectError::Bounds {
                node,
                offset,
                bytes,
                size,
            });
        }
        let mut shared = self.shared.borrow_mut();
        let (length, now, sent) = (shared.length(bytes), self.host.now(), Rc::new(Cell::new(false)));
        shared.transfers[channel as usize] += 1;
        let start = match channel {
            Channel::Data => now.max(shared.ends[node.index()].free),
            Channel::Ack => now,
        };
        let number = shared.transfers[0];
        if channel == Channel::Data {
            shared.ends[node.index()].free = start + length;
            shared.queue(node, right.to, number, start + length + LATENCY, length);
        }
        let transfer = Transfer {
            number,
            from: node,
            source: from,
            to: right.to,
            field: right.field,
            offset,
            channel,
        };
        shared.agenda.put(start + length, Due::Read(transfer, sent.clone()));
        Ok(Sent(sent))
    }

    async fn wait_sent(&self, sent: &Sent) {
        let signal = self.end().signal.clone();
        while !sent.0.get() {
            signal.changed().await;
        }
    }

    fn count(&self, field: &Field) -> u32 {
        self.end().fields[field.0].count
    }

    async fn changed(&self) {
        let signal = self.end().signal.clone();
        signal.changed().await;
    }

    async fn normal(&self, to: NodeId) {
        self.work(self.config.syscall).await;
        if to != self.host.node() {
            let way = LATENCY + self.config.send_setup + self.config.interrupt;
            self.work(way * 2 + self.config.receive_poll).await;
        }
    }
}
