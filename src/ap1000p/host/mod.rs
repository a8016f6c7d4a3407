//! Host software of AP1000+: a system on every cell and the library of its processes, on simulated time.
//!
//! [`Ap1000pSim`] boots the cells over any backend and runs programs, async functions over a [`Cell`]:
//!
//! ```
//! use tsunagi::ap1000p::{host::Ap1000pSim, params::Config, rtl};
//! use tsunagi::harness::wave::Probe;
//! use tsunagi::{Addr, NodeId, Picos};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::paper();
//! let mut sim = Ap1000pSim::new(rtl::build(&config, &Probe::default())?, config)?;
//! let flag = Addr(0x100);
//! sim.spawn(NodeId(0), async move |cell| {
//!     cell.set_word(Addr(0), 42);
//!     cell.put(NodeId(3), Addr(0), 1, Addr(0x200), Some(flag), None).await
//! });
//! let mut got = sim.spawn(NodeId(3), async move |cell| {
//!     cell.wait_flag(flag, 1).await.unwrap();
//!     cell.word(Addr(0x200))
//! });
//! sim.run(Picos::from_us(1000.0))?;
//! assert_eq!(got.take(), Some(42));
//! # Ok(())
//! # }
//! ```
//!
//! There is one process. It sees its cell's memory at addresses from 0, and again from [`layout::DEMAND`], where pages
//! are mapped at their first use. [`Config`] has the costs of the processor. Commands, registers and flags go through
//! the backend.

mod command;
mod dsm;
mod fault;
mod kernel;
pub mod layout;
mod nets;
mod ring;
mod rings;
mod sync;

use std::cell::RefMut;
use std::error::Error;
use std::future::Future;
use std::rc::Rc;

pub use self::command::{Along, By, CommandError, Stride, Transfer};
pub use self::dsm::{DsmError, Shared};
use self::fault::Faults;
pub use self::fault::{Fault, FaultKind};
use self::kernel::Kernel;
pub use self::layout::LIBRARY_REGISTERS;
use self::layout::{Layout, SYSTEM_BYTES};
pub use self::nets::BusError;
pub use self::ring::{Message, Received, RingError, RingSize};
pub use self::rings::Served;
pub use self::sync::Combine;
use self::sync::Library;
use crate::ap1000p::params::Config;
use crate::harness::backend::Backend;
use crate::harness::cpu::Level;
use crate::harness::exec::{Host, Join, RegError, Sim, SimError};
use crate::harness::memory::Memory;
use crate::net::torus::Torus;
use crate::{Addr, NodeId, Picos};

/// Why a machine does not boot.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    #[error(
        "mem_bytes = {bytes} B: a cell's memory is a multiple of 512 KB, {SYSTEM_BYTES} B at its top are the system's"
    )]
    Memory { bytes: u32 },
    #[error("the backend has {cells} cells, the configuration {columns} x {rows}")]
    Cells { cells: usize, columns: u32, rows: u32 },
    #[error(transparent)]
    Sim(#[from] SimError),
}

/// An AP1000+ with its system, ready for programs.
pub struct Ap1000pSim<B: Backend + 'static> {
    sim: Sim<B>,
    cells: Vec<Cell>,
    faults: Rc<Faults>,
}

/// Limit of the boot: some register writes in each cell, all cells at once.
const BOOT_BOUND: Picos = Picos::from_ns(1_000_000);

impl<B: Backend + 'static> Ap1000pSim<B> {
    /// Boots every cell of `backend`. `config` must be the configuration of the backend.
    ///
    /// # Errors
    /// A memory size that the system does not support, another number of cells, a backend that does not answer.
    pub fn new(backend: B, config: Config) -> Result<Ap1000pSim<B>, BootError> {
        let layout = Layout::new(&config).ok_or(BootError::Memory {
            bytes: config.mem_bytes,
        })?;
        let mut sim = Sim::new(backend);
        if sim.nodes() != config.cells() {
            return Err(BootError::Cells {
                cells: sim.nodes(),
                columns: config.columns,
                rows: config.rows,
            });
        }
        let (config, faults) = (Rc::new(config), Rc::new(Faults::default()));
        let cell = |number: usize| {
            let host = sim.host(NodeId(number as u16));
            Cell {
                kernel: Rc::new(Kernel::new(host, config.clone(), layout, faults.clone())),
                library: Rc::new(Library::new()),
            }
        };
        let cells: Vec<Cell> = (0..sim.nodes()).map(cell).collect();
        for cell in &cells {
            let (kernel, host) = (cell.kernel.clone(), cell.host());
            host.spawn_checked::<RegError>(format!("boot of {}", cell.id()), async move { kernel.boot().await });
        }
        sim.run(sim.now() + BOOT_BOUND)?;
        for cell in &cells {
            let kernel = cell.kernel.clone();
            cell.host()
                .spawn_daemon(format!("system of {}", cell.id()), kernel.run());
        }
        Ok(Ap1000pSim { sim, cells, faults })
    }

    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    pub fn now(&self) -> Picos {
        self.sim.now()
    }

    /// The handle of one cell; also for looking at its memory between runs.
    pub fn cell(&self, number: NodeId) -> Cell {
        self.cells[number.index()].clone()
    }

    /// Starts a program on a cell. The programs of a cell share its processor.
    pub fn spawn<T: 'static, F: Future<Output = T> + 'static>(
        &self,
        number: NodeId,
        program: impl FnOnce(Cell) -> F,
    ) -> Join<T> {
        let cell = self.cell(number);
        let host = cell.host().clone();
        host.spawn(format!("program of {number}"), program(cell))
    }

    /// The same for a program that may fail: its error ends [`run`](Ap1000pSim::run).
    pub fn spawn_checked<E: Error + Send + Sync + 'static, F: Future<Output = Result<(), E>> + 'static>(
        &self,
        number: NodeId,
        program: impl FnOnce(Cell) -> F,
    ) {
        let cell = self.cell(number);
        let host = cell.host().clone();
        host.spawn_checked(format!("program of {number}"), program(cell));
    }

    /// Starts the same program on every cell.
    pub fn spawn_all<T: 'static, F: Future<Output = T> + 'static>(&self, program: impl Fn(Cell) -> F) -> Vec<Join<T>> {
        (0..self.cells())
            .map(|number| self.spawn(NodeId(number as u16), &program))
            .collect()
    }

    /// Runs until all programs are done, for at most `bound` of simulated time from now.
    ///
    /// # Errors
    /// [`SimError::Failed`] with the error of a program of [`spawn_checked`](Ap1000pSim::spawn_checked);
    /// [`SimError::Hang`] with the faults not yet taken and with the reason why each program waits.
    pub fn run(&mut self, bound: Picos) -> Result<(), SimError> {
        let mut done = self.sim.run(self.sim.now() + bound);
        if let Err(SimError::Hang { hardware, .. }) = &mut done {
            let faults = self.faults.0.borrow();
            *hardware = faults.iter().map(|f| format!("{f}\n")).collect::<String>() + hardware;
        }
        done
    }

    /// Whether something happens without a program: the hardware works, or a system serves an interrupt.
    pub fn moves(&self) -> bool {
        let backend = self.sim.backend();
        let told = || (0..backend.nodes()).any(|number| backend.irq(NodeId(number as u16)));
        backend.next_event().is_some() || told() || self.cells.iter().any(|cell| cell.kernel.handles())
    }

    /// Lets time pass, so that the hardware completes its work.
    ///
    /// # Errors
    /// As [`run`](Ap1000pSim::run).
    pub fn pass(&mut self, span: Picos) -> Result<(), SimError> {
        let host = self.cells[0].host().clone();
        self.spawn(NodeId(0), |_| async move { host.delay(span).await });
        self.run(span)
    }

    /// The machine underneath, between runs, for its events and its memories.
    pub fn backend_mut(&mut self) -> RefMut<'_, B> {
        self.sim.backend_mut()
    }

    /// Takes the faults of all cells since the last call, in time order.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        self.faults.0.take()
    }
}

/// One cell as its program sees it; cheap to clone.
#[derive(Clone)]
pub struct Cell {
    kernel: Rc<Kernel>,
    library: Rc<Library>,
}

impl Cell {
    pub fn id(&self) -> NodeId {
        self.kernel.host.node()
    }

    pub fn cells(&self) -> usize {
        self.kernel.host.nodes()
    }

    pub fn torus(&self) -> Torus {
        self.kernel.config.torus()
    }

    pub fn now(&self) -> Picos {
        self.kernel.host.now()
    }

    pub fn config(&self) -> &Config {
        &self.kernel.config
    }

    /// User memory is `[0, memory_end)`, the same in every cell.
    pub fn memory_end(&self) -> u32 {
        self.kernel.layout.user_end
    }

    /// Computes for `span` of the processor's time; interrupts make it take longer.
    pub async fn compute(&self, span: Picos) {
        self.kernel.cpu.work(Level::User, span).await;
    }

    /// The bare processor: memory watches, registers, stores to pages, delays without its cost.
    pub fn host(&self) -> &Host {
        &self.kernel.host
    }

    /// Reads a word of the cell's memory, in no time.
    ///
    /// # Panics
    /// No memory at the address, where a program would trap.
    pub fn word(&self, addr: Addr) -> u32 {
        self.words(addr, 1)[0]
    }

    /// Reads words of the cell's memory, in no time.
    ///
    /// # Panics
    /// No memory for some of the words.
    pub fn words(&self, addr: Addr, words: u32) -> Vec<u32> {
        let bytes = self.memory(|m| m.read(addr, 4 * words as usize).map(<[u8]>::to_vec));
        let bytes = bytes.unwrap_or_else(|| panic!("{}: a read of {words} words at {addr}", self.id()));
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        bytes.chunks_exact(4).map(word).collect()
    }

    /// Writes a word of the cell's memory, in no time.
    ///
    /// # Panics
    /// No memory at the address.
    pub fn set_word(&self, addr: Addr, word: u32) {
        self.set_words(addr, &[word]);
    }

    /// Writes words of the cell's memory, in no time.
    ///
    /// # Panics
    /// No memory for some of the words.
    pub fn set_words(&self, addr: Addr, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let written = self.memory(|m| m.write(addr, &bytes));
        assert!(written, "{}: a write of {} words at {addr}", self.id(), words.len());
    }

    /// The system takes the pages on demand of these bytes away. What uses them waits until they are
    /// [given back](Cell::give_pages).
    ///
    /// # Errors
    /// The hardware refuses a register.
    pub async fn take_pages(&self, from: Addr, bytes: u32) -> Result<(), RegError> {
        self.kernel.take_pages(from, bytes).await
    }

    /// The system gives them back.
    pub fn give_pages(&self, from: Addr, bytes: u32) {
        self.kernel.give_pages(from, bytes);
    }

    /// The cell's memory.
    pub fn memory<R>(&self, f: impl FnOnce(&mut Memory) -> R) -> R {
        self.kernel.host.memory(f)
    }
}
