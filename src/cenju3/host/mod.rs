//! Host software of Cenju-3: a kernel on every PE, `CJrmwrite` and its companions, on simulated time.
//!
//! [`Cenju3Sim`] boots the kernels over any backend (verilated RTL or golden model) and runs user programs, async
//! functions over a [`Pe`]:
//!
//! ```
//! use tsunagi::cenju3::{host::Cenju3Sim, model::ModelMachine, params::Config};
//! use tsunagi::{Addr, NodeId, Picos};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::paper();
//! let mut sim = Cenju3Sim::new(ModelMachine::new(&config), config)?;
//! let mut time = sim.spawn(NodeId(0), async |pe| {
//!     pe.write(Addr(0), b"a word..");
//!     pe.rmwrite(Addr(0), NodeId(1), Addr(64), 8).await.unwrap();
//!     pe.fence().await; // now it is in the memory of PE 1
//!     pe.now()
//! });
//! sim.run(Picos::from_us(1000.0))?;
//! assert_eq!(sim.pe(NodeId(1)).read(Addr(64), 8), b"a word..");
//! println!("{}", time.take().unwrap());
//! # Ok(())
//! # }
//! ```
//!
//! Costs come from [`Config`]; register accesses and data go through the backend. User programs see new data as on the
//! machine. A program that polls memory continues when the kernel has served the interrupt: from then on its cache no
//! longer hides the new data.

mod kernel;
pub mod layout;
mod rmwrite;
mod send;
mod trace;

use std::cell::RefMut;
use std::error::Error;
use std::future::Future;
use std::rc::Rc;

use self::kernel::{Kernel, message};
pub use self::kernel::{Message, Role};
use self::layout::{KERNEL_BYTES, Layout};
pub use self::rmwrite::{RmwriteError, RmwriteOptions};
pub use self::send::{Kind, Parcel, Priority, SendError};
use self::trace::Trace;
pub use self::trace::{Fault, FaultKind, Stage, Stamp};
use crate::cenju3::params::Config;
use crate::cenju3::window::RECEIVE_FIFO;
use crate::harness::backend::Backend;
use crate::harness::cpu::{Level, at_rate};
use crate::harness::exec::{Host, Join, Sample, Sim, SimError};
use crate::harness::memory::Memory;
use crate::{Addr, NodeId, Picos};

/// The reason why a machine does not boot.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    #[error("mem_bytes = {bytes} B is too little: the kernel takes {KERNEL_BYTES} B at the top of each PE's memory")]
    MemoryTooSmall { bytes: u32 },
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// A Cenju-3 with its kernels, ready for user programs.
pub struct Cenju3Sim<B: Backend + 'static> {
    sim: Sim<B>,
    kernels: Vec<Rc<Kernel>>,
    trace: Rc<Trace>,
}

impl<B: Backend + 'static> Cenju3Sim<B> {
    /// Boots a kernel on every PE of `backend`. `config` must be the configuration of the backend.
    ///
    /// # Errors
    /// Too little memory, or a backend that does not respond.
    pub fn new(backend: B, config: Config) -> Result<Cenju3Sim<B>, BootError> {
        Cenju3Sim::with_sinks(backend, config, &[])
    }

    /// The same, with some PEs taken out: their interfaces receive, but no kernel handles the packets.
    ///
    /// # Errors
    /// As [`new`](Cenju3Sim::new).
    pub fn with_sinks(backend: B, config: Config, sinks: &[NodeId]) -> Result<Cenju3Sim<B>, BootError> {
        let layout = Layout::new(&config).ok_or(BootError::MemoryTooSmall {
            bytes: config.mem_bytes,
        })?;
        let mut sim = Sim::new(backend);
        let (config, trace) = (Rc::new(config), Rc::new(Trace::default()));
        let nodes = (0..sim.nodes()).map(|node| NodeId(node as u16));
        let kernels: Vec<_> = nodes
            .map(|node| Rc::new(Kernel::new(sim.host(node), config.clone(), layout, trace.clone())))
            .collect();
        let role = |kernel: &Kernel| {
            if sinks.contains(&kernel.host.node()) {
                Role::Sink
            } else {
                Role::Kernel
            }
        };
        for kernel in &kernels {
            let (booted, role, host) = (kernel.clone(), role(kernel), &kernel.host);
            host.spawn(
                format!("boot of {}", host.node()),
                async move { booted.boot(role).await },
            );
        }
        sim.run(sim.now() + BOOT_BOUND)?;
        for kernel in &kernels {
            let (host, node) = (&kernel.host, kernel.host.node());
            match role(kernel) {
                Role::Kernel => {
                    host.spawn_daemon(format!("kernel of {node}"), kernel.clone().run());
                    host.spawn_daemon(format!("answers of {node}"), kernel.clone().run_answers());
                }
                Role::Sink => {
                    host.spawn_daemon(format!("sink of {node}"), kernel.clone().run_sink());
                }
            }
        }
        Ok(Cenju3Sim { sim, kernels, trace })
    }

    pub fn pes(&self) -> usize {
        self.kernels.len()
    }

    pub fn now(&self) -> Picos {
        self.sim.now()
    }

    /// The handle of one PE; also for access to its memory between runs.
    pub fn pe(&self, node: NodeId) -> Pe {
        Pe {
            kernel: self.kernels[node.index()].clone(),
        }
    }

    /// Starts a user program on a PE. The machine had one per PE; several share the CPU.
    pub fn spawn<T: 'static, F: Future<Output = T> + 'static>(
        &self,
        node: NodeId,
        program: impl FnOnce(Pe) -> F,
    ) -> Join<T> {
        let pe = self.pe(node);
        let host = pe.kernel.host.clone();
        host.spawn(program_name(node), program(pe))
    }

    /// The same for a program that may fail: its error ends [`run`](Cenju3Sim::run).
    pub fn spawn_checked<E: Error + Send + Sync + 'static, F: Future<Output = Result<(), E>> + 'static>(
        &self,
        node: NodeId,
        program: impl FnOnce(Pe) -> F,
    ) {
        let pe = self.pe(node);
        let host = pe.kernel.host.clone();
        host.spawn_checked(program_name(node), program(pe));
    }

    /// Starts the same program on every PE.
    pub fn spawn_all<T: 'static, F: Future<Output = T> + 'static>(&self, program: impl Fn(Pe) -> F) -> Vec<Join<T>> {
        (0..self.pes())
            .map(|node| self.spawn(NodeId(node as u16), &program))
            .collect()
    }

    /// Runs until all user programs are done, for at most `bound` of simulated time from now.
    ///
    /// # Errors
    /// [`SimError::Failed`] with the error of a program of [`spawn_checked`](Cenju3Sim::spawn_checked);
    /// [`SimError::Hang`] with the faults not yet taken, and with the waits of every program and kernel.
    pub fn run(&mut self, bound: Picos) -> Result<(), SimError> {
        let mut done = self.sim.run(self.sim.now() + bound);
        if let Err(SimError::Hang { hardware, .. }) = &mut done {
            let faults = self.trace.faults.borrow();
            *hardware = faults.iter().map(|f| format!("{f}\n")).collect::<String>() + hardware;
        }
        done
    }

    /// The backend, between runs: its events, its memories.
    pub fn backend_mut(&mut self) -> RefMut<'_, B> {
        self.sim.backend_mut()
    }

    /// As [`Sim::sample_each`], of the receive FIFOs.
    pub fn sample_each(&mut self, period: Picos) {
        self.sim.sample_each(period, RECEIVE_FIFO);
    }

    /// As [`Sim::take_samples`].
    pub fn take_samples(&mut self) -> Vec<Sample> {
        self.sim.take_samples()
    }

    /// Starts or stops the recording of [`Stamp`]s; off at first.
    pub fn trace(&mut self, on: bool) {
        self.trace.on.set(on);
    }

    /// Takes the stamps recorded so far, in time order.
    pub fn take_stamps(&mut self) -> Vec<Stamp> {
        self.trace.stamps.take()
    }

    /// Takes the faults that interrupted since the last call, in time order.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        self.trace.faults.take()
    }
}

fn program_name(node: NodeId) -> String {
    format!("program of {node}")
}

/// Setup takes fewer than 20 register writes per PE, in all PEs at once.
const BOOT_BOUND: Picos = Picos::from_ns(1_000_000);

/// One PE as its user program sees it; cheap to clone.
#[derive(Clone)]
pub struct Pe {
    kernel: Rc<Kernel>,
}

impl Pe {
    pub fn id(&self) -> NodeId {
        self.kernel.host.node()
    }

    pub fn pes(&self) -> usize {
        self.kernel.host.nodes()
    }

    pub fn now(&self) -> Picos {
        self.kernel.host.now()
    }

    pub fn config(&self) -> &Config {
        &self.kernel.config
    }

    /// User memory is `[0, memory_end)`, the same on every PE.
    pub fn memory_end(&self) -> u32 {
        self.kernel.layout.user_end
    }

    /// The bare processor: memory watches, registers, delays without CPU cost.
    pub fn host(&self) -> &Host {
        &self.kernel.host
    }

    /// Reads the PE's memory, in no time.
    ///
    /// # Panics
    /// If some of the bytes do not exist, as a program would trap.
    pub fn read(&self, addr: Addr, bytes: u32) -> Vec<u8> {
        self.kernel.host.read(addr, bytes)
    }

    /// Writes the PE's memory, in no time. Programs of the same PE that wait for a change check their condition again.
    ///
    /// # Panics
    /// If some of the bytes do not exist, as a program would trap.
    pub fn write(&self, addr: Addr, data: &[u8]) {
        self.kernel.host.write(addr, data);
        self.kernel.served.notify();
    }

    pub fn memory<R>(&self, f: impl FnOnce(&mut Memory) -> R) -> R {
        self.kernel.host.memory(f)
    }

    /// Computes for `span` of CPU time; interrupts make it take longer.
    pub async fn compute(&self, span: Picos) {
        self.kernel.cpu.work(Level::User, span).await;
    }

    /// `CJrmwrite`: writes `bytes` from `src` here to `to` in the memory of `dest`, and returns their number. On return
    /// the data are queued, not yet written; see [`fence`](Pe::fence). Any alignment is legal; `dest` may be this PE.
    ///
    /// # Errors
    /// [`RmwriteError`]; nothing was sent then.
    pub async fn rmwrite(&self, src: Addr, dest: NodeId, to: Addr, bytes: u32) -> Result<u32, RmwriteError> {
        self.rmwrite_with(&RmwriteOptions::new(self.config()), src, dest, to, bytes)
            .await
    }

    /// The same, with options other than those of the configuration.
    ///
    /// # Errors
    /// [`RmwriteError`]; nothing was sent then.
    pub async fn rmwrite_with(
        &self,
        options: &RmwriteOptions,
        src: Addr,
        dest: NodeId,
        to: Addr,
        bytes: u32,
    ) -> Result<u32, RmwriteError> {
        self.kernel.rmwrite(options, src, dest, to, bytes).await
    }

    /// Polls memory until `met` holds for it. A program sees new data when the kernel has handled their interrupt.
    pub async fn wait_until(&self, mut met: impl FnMut(&Memory) -> bool) {
        while !self.memory(|m| met(m)) {
            self.kernel.served.changed().await;
        }
        self.kernel.cpu.work(Level::User, Picos::ZERO).await;
    }

    /// Polls the 32-bit word at `addr` until it is no longer `old`, and returns it.
    pub async fn wait_for_change(&self, addr: Addr, old: u32) -> u32 {
        let word = |m: &Memory| {
            m.read(addr, 4)
                .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
        };
        self.wait_until(|m| word(m) != Some(old)).await;
        self.memory(|m| word(m)).expect("a word in memory")
    }

    /// Waits until all remote writes of this PE are in the memories of their destinations, and the kernels there have
    /// handled them. It sends a message to each of these PEs, and waits for the replies.
    pub async fn fence(&self) {
        let k = &self.kernel;
        let written = k.written.take();
        if written.is_empty() {
            return;
        }
        k.call(k.config.user_level).await;
        let wanted = k.acks.get() + written.len() as u32;
        for dest in written {
            k.queue(Priority::Normal)
                .await
                .message(Kind::System, dest, [message::FENCE, 0], &[0; 4])
                .await;
        }
        while k.acks.get() < wanted {
            k.served.changed().await;
        }
        k.cpu.work(Level::User, Picos::ZERO).await;
    }

    /// A [`fence`](Pe::fence), and then a wait until every PE has called this: log2 rounds of messages of high
    /// priority.
    pub async fn barrier(&self) {
        self.fence().await;
        let (k, me, pes) = (&self.kernel, self.id().index(), self.pes());
        let epoch = k.epoch.get() + 1;
        k.epoch.set(epoch);
        for (round, seen) in k.rounds.iter().enumerate().take_while(|(round, _)| 1 << round < pes) {
            let dest = NodeId(((me + (1 << round)) % pes) as u16);
            k.call(k.config.user_level).await;
            let argument = [message::BARRIER, round as u32];
            k.queue(Priority::High)
                .await
                .message(Kind::System, dest, argument, &[0; 4])
                .await;
            while seen.get() < epoch {
                k.served.changed().await;
            }
        }
        k.cpu.work(Level::User, Picos::ZERO).await;
    }

    /// Queues parcels as they are and starts the Sender once, from within the kernel: no system call, no write-back.
    /// For experiments on the hardware; the receiving kernel handles the interrupts.
    ///
    /// # Errors
    /// [`SendError`], `QueueFull` among them; none of the parcels is queued then.
    pub async fn send_parcels(&self, priority: Priority, parcels: &[Parcel]) -> Result<(), SendError> {
        parcels.iter().try_for_each(|p| self.kernel.check(p))?;
        let queue = self.kernel.queue(priority).await;
        queue.need_room(parcels.len()).await?;
        for parcel in parcels {
            queue.append(parcel.header()).await;
        }
        queue.start().await;
        Ok(())
    }

    /// Queues one parcel header unchecked, for tests of the hardware's reaction. Waits for room.
    pub async fn send_unchecked(&self, priority: Priority, header: [u32; 8]) {
        let queue = self.kernel.queue(priority).await;
        queue.append(header).await;
        queue.start().await;
    }

    /// Waits until the Sender has sent all parcels of a queue: the sources may change then.
    pub async fn sent(&self, priority: Priority) {
        self.kernel.queue(priority).await.wait_until_queued(0).await;
    }

    /// The next message of kind [`Kind::User`] sent to this PE.
    pub async fn receive(&self) -> Message {
        let message = self.kernel.inbox.pop().await;
        self.kernel
            .cpu
            .work(Level::User, at_rate(message.body.len() as u32, self.config().copy_rate))
            .await;
        message
    }
}
