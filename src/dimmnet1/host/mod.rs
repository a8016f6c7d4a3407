//! Host software of DIMMnet-1: the system that sets up the cards, and a library for programs, on simulated time.
//!
//! [`Dimmnet1Sim`] sets up the cards of any backend and runs programs, async functions over a [`Node`]:
//!
//! ```
//! use tsunagi::dimmnet1::golden::packet::Place;
//! use tsunagi::dimmnet1::host::{Barrier, Dimmnet1Sim, Message, layout};
//! use tsunagi::dimmnet1::{model::ModelMachine, params::Config};
//! use tsunagi::{Addr, NodeId, Picos};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::paper();
//! let mut sim = Dimmnet1Sim::new(ModelMachine::new(&config), &config)?;
//! sim.spawn_checked(NodeId(0), async |node| {
//!     node.write(Addr(0), b"a word..");
//!     let there = Message::push(NodeId(1), Place::new(layout::MEMORY, 64));
//!     node.send(&there, Addr(0), 8).await?; // now it is in the memory of node 1
//!     node.barrier(Barrier::Hosts).await
//! });
//! sim.spawn_checked(NodeId(1), async |node| node.barrier(Barrier::Hosts).await);
//! sim.run(Picos::from_us(1000.0))?;
//! assert_eq!(sim.node(NodeId(1)).read(Addr(64), 8), b"a word..");
//! # Ok(())
//! # }
//! ```
//!
//! Costs of the processor come from [`Config`]; what its stores and loads do comes from the backend. A store is done
//! for the program when the card has accepted it; a load waits for its answer. A wait has a bound: a hang is an error
//! that names who is missing.
//!
//! One group of processes uses the machine, with the regions of [`layout`]. A send waits until its packets are
//! answered. Packets with F_SEQ that were refused for want of room, and those behind them, are sent again from the
//! first refused one on.

mod barrier;
pub mod layout;
mod message;
mod processor;
mod send;
mod setup;

use std::cell::RefMut;
use std::error::Error;
use std::future::Future;
use std::rc::Rc;

use self::barrier::Rounds;
pub use self::barrier::{Barrier, MASTER};
use self::layout::Layout;
pub use self::message::Command;
use self::message::Messages;
use self::processor::Processor;
use self::send::Sender;
pub use self::send::{How, Message};
pub use self::setup::Program;
use crate::dimmnet1::firmware::{self, FirmwareError};
use crate::dimmnet1::golden::packet::Reason;
use crate::dimmnet1::params::Config;
use crate::dimmnet1::regs::{LLCM, SIZE_PAGE};
use crate::harness::backend::Backend;
use crate::harness::exec::{Host, Join, Sim, SimError};
use crate::harness::memory::Memory;
use crate::{Addr, NodeId, Picos};

/// Why a call of the library failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommError {
    #[error("no node {}: the machine has {nodes} nodes", dst.0)]
    NoNode { dst: NodeId, nodes: usize },
    #[error("{bytes} bytes at {offset:#x} are no word, or part of one, in the first page of LLCM")]
    NoWord { offset: u32, bytes: u8 },
    #[error("a transfer of 0 bytes")]
    Empty,
    #[error("{bytes} bytes are more than the {most} of a window")]
    TooLong { bytes: u32, most: u32 },
    #[error("{bytes} bytes at offset {remote:#x} cross a page")]
    AcrossPage { bytes: u32, remote: u64 },
    #[error("a transfer from {local} to offset {remote:#x}: both must be multiples of 8")]
    NotAligned { local: Addr, remote: u64 },
    #[error("{bytes} bytes at {addr} leave the user's memory")]
    NotUser { addr: Addr, bytes: u32 },
    #[error("node {}: node {} refused a packet: {reason}", node.0, dst.0)]
    Refused { node: NodeId, dst: NodeId, reason: Reason },
    #[error("node {}: the card refused to send: {reason}", node.0)]
    Unsent { node: NodeId, reason: Reason },
    #[error("node {}: node {} does not answer {open} packets", node.0, dst.0)]
    Silent { node: NodeId, dst: NodeId, open: u16 },
    #[error("node {}: {what} does not become free", node.0)]
    Stuck { node: NodeId, what: &'static str },
    #[error("node {}: a word of LLCM stays as it is", node.0)]
    Unchanged { node: NodeId },
    #[error("node {}: no message comes from node {}", node.0, src.0)]
    NoMessage { node: NodeId, src: NodeId },
    #[error("node {}: node {} does not take the message before", node.0, dst.0)]
    NotTaken { node: NodeId, dst: NodeId },
    #[error("{} did not come to the barrier", names(nodes))]
    Missing { nodes: Vec<NodeId> },
    #[error("node {}: node {} does not release the barrier", node.0, master.0)]
    NotReleased { node: NodeId, master: NodeId },
}

/// Why a machine does not boot.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    #[error(transparent)]
    Firmware(#[from] FirmwareError),
    #[error(transparent)]
    Sim(#[from] SimError),
}

fn names(nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().map(|node| format!("node {}", node.0)).collect();
    names.join(", ")
}

/// The setup stores at most some thousand words, and the card takes one in a cycle.
const SETUP_BOUND: Picos = Picos::from_ns(100_000_000);

/// A DIMMnet-1 that is set up, ready for programs.
pub struct Dimmnet1Sim<B: Backend + 'static> {
    sim: Sim<B>,
    nodes: Vec<Node>,
}

impl<B: Backend + 'static> Dimmnet1Sim<B> {
    /// Sets up every card of `backend`, with the firmware. `config` must be the configuration of the backend.
    ///
    /// # Errors
    /// Tables that the firmware has no room for, or a backend that does not respond.
    pub fn new(backend: B, config: &Config) -> Result<Dimmnet1Sim<B>, BootError> {
        let image = firmware::image(&layout::tables(config))?;
        Dimmnet1Sim::with_program(backend, config, Some(&image.words))
    }

    /// The same with this program for the on-chip processor; without one the processor stands still.
    ///
    /// # Errors
    /// As of [`new`](Dimmnet1Sim::new).
    pub fn with_program(backend: B, config: &Config, program: Option<&Program>) -> Result<Dimmnet1Sim<B>, BootError> {
        let mut sim = Sim::new(backend);
        let config = Rc::new(config.clone());
        let nodes: Vec<Node> = (0..sim.nodes())
            .map(|node| Node::new(sim.host(NodeId(node as u16)), config.clone()))
            .collect();
        for node in &nodes {
            let (processor, program) = (node.processor.clone(), program.map(<[u32]>::to_vec));
            let set_up = async move { processor.set_up(program.as_deref()).await };
            node.host().spawn(format!("setup of {}", node.id()), set_up);
        }
        sim.run(sim.now() + SETUP_BOUND)?;
        Ok(Dimmnet1Sim { sim, nodes })
    }

    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn now(&self) -> Picos {
        self.sim.now()
    }

    /// The handle of one node; also for access to its memory between runs.
    pub fn node(&self, node: NodeId) -> Node {
        self.nodes[node.index()].clone()
    }

    /// Starts a program on a node.
    pub fn spawn<T: 'static, F: Future<Output = T> + 'static>(
        &self,
        node: NodeId,
        program: impl FnOnce(Node) -> F,
    ) -> Join<T> {
        let node = self.node(node);
        let host = node.host().clone();
        host.spawn(program_name(&node), program(node))
    }

    /// The same for a program that may fail: its error ends [`run`](Dimmnet1Sim::run).
    pub fn spawn_checked<E: Error + Send + Sync + 'static, F: Future<Output = Result<(), E>> + 'static>(
        &self,
        node: NodeId,
        program: impl FnOnce(Node) -> F,
    ) {
        let node = self.node(node);
        let host = node.host().clone();
        host.spawn_checked(program_name(&node), program(node));
    }

    /// Starts the same program on every node.
    pub fn spawn_all<T: 'static, F: Future<Output = T> + 'static>(&self, program: impl Fn(Node) -> F) -> Vec<Join<T>> {
        self.nodes.iter().map(|node| self.spawn(node.id(), &program)).collect()
    }

    /// Runs until all programs are done, for at most `bound` of simulated time from now.
    ///
    /// # Errors
    /// As of [`Sim::run`].
    pub fn run(&mut self, bound: Picos) -> Result<(), SimError> {
        self.sim.run(self.sim.now() + bound)
    }

    /// The backend, between runs: its events, its memories.
    pub fn backend_mut(&mut self) -> RefMut<'_, B> {
        self.sim.backend_mut()
    }
}

fn program_name(node: &Node) -> String {
    format!("program of {}", node.id())
}

/// One node as its program sees it; cheap to clone.
#[derive(Clone)]
pub struct Node {
    processor: Processor,
    layout: Layout,
    sender: Rc<Sender>,
    rounds: Rc<Rounds>,
    messages: Rc<Messages>,
}

impl Node {
    fn new(host: Host, config: Rc<Config>) -> Node {
        Node {
            layout: Layout::new(&config),
            sender: Rc::new(Sender::new(host.nodes())),
            rounds: Rc::default(),
            messages: Rc::new(Messages::new(host.nodes())),
            processor: Processor { host, config },
        }
    }

    pub fn id(&self) -> NodeId {
        self.processor.host.node()
    }

    pub fn nodes(&self) -> usize {
        self.processor.host.nodes()
    }

    /// All nodes, in ascending order.
    fn all(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes() as u16).map(NodeId)
    }

    pub fn now(&self) -> Picos {
        self.processor.host.now()
    }

    pub fn config(&self) -> &Config {
        &self.processor.config
    }

    /// User memory is `[0, memory_end)`, the same on every node.
    pub fn memory_end(&self) -> u32 {
        self.layout.user_end
    }

    /// The bare processor: memory watches, accesses without a cost.
    pub fn host(&self) -> &Host {
        &self.processor.host
    }

    /// Reads the node's memory, in no time.
    ///
    /// # Panics
    /// If some of the bytes do not exist, as a program would trap.
    pub fn read(&self, addr: Addr, bytes: u32) -> Vec<u8> {
        self.host().read(addr, bytes)
    }

    /// Writes the node's memory, in no time.
    ///
    /// # Panics
    /// If some of the bytes do not exist, as a program would trap.
    pub fn write(&self, addr: Addr, data: &[u8]) {
        self.host().write(addr, data);
    }

    pub fn memory<R>(&self, f: impl FnOnce(&mut Memory) -> R) -> R {
        self.host().memory(f)
    }

    /// Computes for a span of time.
    pub async fn compute(&self, span: Picos) {
        self.host().delay(span).await;
    }

    /// Stores a word in the first page of this node's own LLCM.
    ///
    /// # Errors
    /// No such word.
    pub async fn store_common(&self, offset: u32, value: u64) -> Result<(), CommError> {
        check_word(offset)?;
        self.processor.llcm_store(offset, value).await;
        Ok(())
    }

    /// Loads a word of the first page of this node's own LLCM.
    ///
    /// # Errors
    /// No such word.
    pub async fn load_common(&self, offset: u32) -> Result<u64, CommError> {
        check_word(offset)?;
        Ok(self.processor.llcm_load(offset).await)
    }

    /// Waits until a word in the first page of this node's LLCM is no longer `old`, and returns it.
    ///
    /// # Errors
    /// No such word, or it stays as it is for as long as the library waits.
    pub async fn wait_common(&self, offset: u32, old: u64) -> Result<u64, CommError> {
        check_word(offset)?;
        let changed = self.poll_common(offset, |word| word != old).await;
        changed.ok_or(CommError::Unchanged { node: self.id() })
    }

    /// Polls a word of this node's LLCM; `None`: not met for as long as the library waits.
    async fn poll_common(&self, offset: u32, met: impl FnMut(u64) -> bool) -> Option<u64> {
        self.processor.poll(u64::from(LLCM + offset), met).await.ok()
    }

    fn check_node(&self, dst: NodeId) -> Result<(), CommError> {
        let nodes = self.nodes();
        if dst.index() < nodes {
            Ok(())
        } else {
            Err(CommError::NoNode { dst, nodes })
        }
    }
}

fn check_word(offset: u32) -> Result<(), CommError> {
    if offset.is_multiple_of(8) && offset < SIZE_PAGE {
        Ok(())
    } else {
        Err(CommError::NoWord { offset, bytes: 8 })
    }
}
