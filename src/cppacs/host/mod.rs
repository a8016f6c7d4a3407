//! Host software of CP-PACS: a kernel on every node and the native library of its process, on simulated time.
//!
//! [`CppacsSim`] boots the nodes over any backend and runs programs, async functions over a [`Node`]:
//!
//! ```
//! use tsunagi::cppacs::host::{Allow, CppacsSim, How, To};
//! use tsunagi::cppacs::{model::ModelMachine, params::Config};
//! use tsunagi::{NodeId, Picos};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::paper();
//! let mut sim = CppacsSim::new(ModelMachine::new(&config), &config)?;
//! let bound = Picos::from_us(1000.0);
//! sim.spawn_checked(NodeId(0), async move |node| {
//!     let area = node.object("out", 64)?;
//!     node.write(&area.span(0, 8)?, b"a word..");
//!     let right = node.get_sendright(To::Node(NodeId(1)), "in", 0, bound).await?;
//!     node.send(area.span(0, 8)?, &right, 0, How::default()).await.map(drop)
//! });
//! let mut got = sim.spawn(NodeId(1), async move |node| {
//!     let area = node.object("in", 64)?;
//!     let field = node.create_field(&area, 0, 64, 0, Allow::WRITE).await?;
//!     node.wait(&field, 1, bound).await?;
//!     Ok::<_, tsunagi::cppacs::host::RdmaError>(node.read(&area.span(0, 8)?))
//! });
//! sim.run(bound)?;
//! assert_eq!(got.take().expect("it ended")?, b"a word..");
//! # Ok(())
//! # }
//! ```
//!
//! Costs of the processor come from [`Config`]; what its accesses do comes from the backend. One process uses a node.
//! Memory that can be sent and received into is the process's area; a wait has a bound.

mod kernel;
pub mod layout;
mod native;
pub mod perfect;
pub mod pvm;
mod rdma;
pub mod transport;

#[cfg(test)]
mod tests;

use std::cell::RefMut;
use std::error::Error;
use std::future::Future;
use std::rc::Rc;

use self::kernel::Kernel;
pub use self::rdma::{
    Allow, Area, Arrived, Change, Field, How, Right, Sent, Span, Steps, Strided, TcwId, To, Transfer,
};
use crate::cppacs::params::Config;
use crate::cppacs::regs::{RESULT_REFUSED, SIZE_TRANSFER};
use crate::harness::backend::Backend;
use crate::harness::cpu::Level;
use crate::harness::exec::{Host, Join, Sim, SimError};
use crate::{NodeId, Picos};

/// Why a call of the library failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RdmaError {
    #[error("no node {}: the machine has {nodes} nodes", to.0)]
    NoNode { to: NodeId, nodes: usize },
    #[error("`{name}` is no name: 1 to 31 bytes, none of them 0")]
    Name { name: String },
    #[error("{node}: there is `{name}` already")]
    Twice { node: NodeId, name: String },
    #[error("{node}: {bytes} bytes do not fit into the {room} that are left of its memory")]
    Memory { node: NodeId, bytes: u32, room: u32 },
    #[error("{node}: no {what} is free")]
    NoRoom { node: NodeId, what: &'static str },
    #[error("{bytes} bytes at {offset} leave an area, field or right of {size} bytes")]
    Outside { offset: u32, bytes: u32, size: u32 },
    #[error("{offset} and {bytes}: offsets, lengths and steps are multiples of 8, and no length is 0")]
    Shape { offset: u32, bytes: u32 },
    #[error("{bytes} bytes: a TCW has at most {SIZE_TRANSFER}, one of the acknowledge channel 32")]
    TooLong { bytes: u32 },
    #[error("{node}: node {} has no field {number} of `{name}`", to.0)]
    NoField {
        node: NodeId,
        to: NodeId,
        name: String,
        number: u16,
    },
    #[error("{node}: the kernel of node {} does not answer", to.0)]
    Silent { node: NodeId, to: NodeId },
    #[error("{node}: the NIA refused a TCW, result {result}: a code of Send reasons above {RESULT_REFUSED}")]
    Refused { node: NodeId, result: u32 },
    #[error("{node}: a send was started without a flag, so nobody can wait for it")]
    NoFlag { node: NodeId },
    #[error("{node}: field {number} of `{name}` has {had} of {count} transfers")]
    Timeout {
        node: NodeId,
        name: String,
        number: u16,
        had: u32,
        count: u32,
    },
    #[error("{node}: hardware shut field {number} of `{name}`: data for it were lost")]
    Shut { node: NodeId, name: String, number: u16 },
    #[error("{node}: the barrier is not released")]
    Barrier { node: NodeId },
}

impl RdmaError {
    fn refused(node: NodeId, result: u32) -> RdmaError {
        RdmaError::Refused { node, result }
    }
}

/// Why a machine does not boot.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    #[error("the backend has {nodes} nodes, the configuration {x} x {y} x {z}")]
    Nodes { nodes: usize, x: u32, y: u32, z: u32 },
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// Some accesses of each node, all at once.
const BOOT_BOUND: Picos = Picos::from_ns(100_000_000);

/// A CP-PACS that has booted, ready for programs.
pub struct CppacsSim<B: Backend + 'static> {
    sim: Sim<B>,
    nodes: Vec<Node>,
}

impl<B: Backend + 'static> CppacsSim<B> {
    /// Boots every node of `backend`. `config` must be the configuration of the backend.
    ///
    /// # Errors
    /// Another number of nodes, or a backend that does not answer.
    pub fn new(backend: B, config: &Config) -> Result<CppacsSim<B>, BootError> {
        let mut sim = Sim::new(backend);
        let nodes = sim.nodes();
        if nodes != config.grid().nodes() as usize {
            let Config { x, y, z, .. } = *config;
            return Err(BootError::Nodes { nodes, x, y, z });
        }
        let config = Rc::new(config.clone());
        let node = |number: usize| Node::new(Kernel::new(sim.host(NodeId(number as u16)), config.clone()));
        let nodes: Vec<Node> = (0..nodes).map(node).collect();
        for node in &nodes {
            let kernel = node.kernel.clone();
            node.host()
                .spawn(format!("boot of {}", node.id()), async move { kernel.boot().await });
        }
        sim.run(sim.now() + BOOT_BOUND)?;
        for node in &nodes {
            let (host, kernel) = (node.host(), &node.kernel);
            host.spawn_daemon(format!("interrupts of {}", node.id()), kernel.clone().interrupts());
            host.spawn_daemon(format!("kernel of {}", node.id()), kernel.clone().answers());
        }
        Ok(CppacsSim { sim, nodes })
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
        host.spawn(format!("program of {}", node.id()), program(node))
    }

    /// The same for a program that may fail: its error ends [`run`](CppacsSim::run).
    pub fn spawn_checked<E: Error + Send + Sync + 'static, F: Future<Output = Result<(), E>> + 'static>(
        &self,
        node: NodeId,
        program: impl FnOnce(Node) -> F,
    ) {
        let node = self.node(node);
        let host = node.host().clone();
        host.spawn_checked(format!("program of {}", node.id()), program(node));
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

    /// The simulation and all nodes, for a library that runs programs of its own.
    pub fn parts(&mut self) -> (&mut Sim<B>, Vec<Node>) {
        (&mut self.sim, self.nodes.clone())
    }

    /// The backend, between runs: its events, its memories.
    pub fn backend_mut(&mut self) -> RefMut<'_, B> {
        self.sim.backend_mut()
    }
}

/// One node as its process sees it; cheap to clone.
#[derive(Clone)]
pub struct Node {
    kernel: Rc<Kernel>,
    library: Rc<rdma::Library>,
}

impl Node {
    fn new(kernel: Kernel) -> Node {
        Node {
            kernel: Rc::new(kernel),
            library: Rc::default(),
        }
    }

    pub fn id(&self) -> NodeId {
        self.kernel.id()
    }

    pub fn nodes(&self) -> usize {
        self.host().nodes()
    }

    pub fn now(&self) -> Picos {
        self.host().now()
    }

    pub fn config(&self) -> &Config {
        &self.kernel.config
    }

    /// The bare processor: memory watches, accesses without a cost.
    pub fn host(&self) -> &Host {
        self.kernel.host()
    }

    /// Computes for a span of time.
    pub async fn compute(&self, span: Picos) {
        self.kernel.cpu.work(Level::User, span).await;
    }

    /// Copies so many bytes between user memory and the area: the time alone.
    pub async fn copy(&self, bytes: u32) {
        self.spend(self.config().copy, bytes).await;
    }

    /// Copies so many bytes into a buffer of a library's own: the time alone.
    pub async fn copy_extra(&self, bytes: u32) {
        self.spend(self.config().copy_extra, bytes).await;
    }

    async fn spend(&self, ns_per_byte: f64, bytes: u32) {
        self.compute(Picos::from_us(ns_per_byte * 1e-3 * f64::from(bytes)))
            .await;
    }
}
