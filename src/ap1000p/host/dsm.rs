//! Distributed shared memory: the processor's loads and stores to any cell's memory, their completion, and copies in
//! the local cache.
//!
//! Copies follow the paper's section 4. A load of a Write Through Page that has no copy traps to a handler, which GETs
//! the kilobyte. A synchronising write makes all cells forget their copies of the written kilobytes. The request to the
//! system of a cell that holds copies is a PUT into that cell's memory. In the machine a message into the ring buffer
//! would interrupt that system, so the request costs as much as an interrupt.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use thiserror::Error;

use super::command::relative;
use super::kernel::Kernel;
use super::layout::{ASKED, FETCHED, FORGOTTEN, REQUEST, REQUESTS};
use super::{Cell, CommandError};
use crate::ap1000p::golden::window;
use crate::ap1000p::golden::wtp::{CACHE, LINE, LOCAL_BITS, Remote, Update};
use crate::ap1000p::regs::*;
use crate::harness::cpu::Level;
use crate::harness::exec::{First, RegError, race};
use crate::harness::memory::Memory;
use crate::{Addr, NodeId, Picos};

/// The most unacknowledged stores that leave a load room in its queue behind them. A store has 4 words, a load has 2,
/// and the queue surely holds 30.
const STORES_BEFORE_LOAD: u32 = 7;
/// Bytes of a page that is a Write Through Page or not.
const PAGE: u32 = 4096;

fn word(memory: &Memory, addr: Addr) -> u32 {
    let bytes = memory.read(addr, 4).expect("the library's words are in memory");
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

/// A byte of the shared space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The cell with the memory; it may be this cell itself.
    pub cell: NodeId,
    /// A physical address in that memory: remote accesses bypass the page tables of the other cell.
    pub addr: Addr,
}

/// Why an access of the shared space is not made, or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DsmError {
    #[error("cell {} is not in the torus: it has {cells} cells, numbered from 0", cell.0)]
    NoCell { cell: NodeId, cells: usize },
    #[error("{addr} is not shared: each cell shares its first 32 MB")]
    NotShared { addr: Addr },
    #[error("{bytes} bytes: the processor loads and stores 1, 2, 4 and 8")]
    Size { bytes: u8 },
    #[error("{addr} is not a multiple of the {bytes} bytes of the access")]
    Unaligned { addr: Addr, bytes: u8 },
    #[error("a load of {bytes} bytes at {} of cell {} ended with an exception", at.addr, at.cell.0)]
    Exception { at: Shared, bytes: u8 },
    #[error(
        "a local cache at {addr}: it is a multiple of 2 MB, and 2 MB of user memory, of which there are \
         {user_end} bytes"
    )]
    Cache { addr: Addr, user_end: u32 },
    #[error("pages from {start:#x} to {end:#x}: both must be multiples of 4 KB in the shared 32 MB")]
    Pages { start: u32, end: u32 },
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error(transparent)]
    Refused(#[from] RegError),
}

impl Cell {
    /// The physical address of a byte of the shared space.
    fn physical(&self, at: Shared, bytes: u8) -> Result<u64, DsmError> {
        let Shared { cell, addr } = at;
        let cells = self.cells();
        if cell.index() >= cells {
            return Err(DsmError::NoCell { cell, cells });
        }
        if addr.0 >> LOCAL_BITS != 0 {
            return Err(DsmError::NotShared { addr });
        }
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(DsmError::Size { bytes });
        }
        if !addr.0.is_multiple_of(bytes.into()) {
            return Err(DsmError::Unaligned { addr, bytes });
        }
        Ok(window::shared(self.torus().cell(cell.index()), addr.0))
    }

    /// The kilobyte of a byte of the shared space, as the tags name it.
    fn kilobyte(&self, at: Shared) -> Result<Remote, DsmError> {
        self.physical(at, 1)?;
        Ok(Remote {
            cell: window::name(self.torus().cell(at.cell.index())),
            addr: at.addr.0 & !(LINE - 1),
        })
    }

    /// Loads 1, 2, 4 or 8 bytes of any cell's memory. The processor waits, and serves no interrupt meanwhile. A load
    /// that misses in a Write Through Page traps to a handler, which fetches the copy.
    ///
    /// # Errors
    /// No such byte; an address that is not a multiple of the size; the other cell could not read it.
    pub async fn load(&self, at: Shared, bytes: u8) -> Result<u64, DsmError> {
        let addr = self.physical(at, bytes)?;
        let _turn = self.library.accesses.hold().await;
        let cpu = &self.kernel.cpu;
        loop {
            // An interrupt handler goes first.
            cpu.work(Level::User, Picos::ZERO).await;
            self.kernel.unspilled().await;
            if let Ok(value) = self.kernel.host.load(addr, bytes).await {
                return Ok(value);
            }
            cpu.work(Level::User, self.kernel.config.trap).await;
            let why = cpu.read(Level::User, LOADED).await & LOADED_WHY_MASK;
            if why != ACCESS_MISS || !self.fetch(at).await? {
                return Err(DsmError::Exception { at, bytes });
            }
        }
    }

    /// The handler of a load that missed: GETs the kilobyte into the local cache. Requests to forget copies wait until
    /// it ends. False: not all words came, or not all could be written.
    async fn fetch(&self, at: Shared) -> Result<bool, DsmError> {
        let (kernel, kilobyte) = (&self.kernel, self.kilobyte(at)?);
        let _turn = kernel.copies.hold().await;
        let update = async |update: Update| kernel.cpu.write(Level::User, WTP_UPDATE, update.word(kilobyte)).await;
        // Claim first: the GET overwrites the page that had this place.
        update(Update::Claim).await;
        let cache = kernel.cpu.read(Level::User, WTP_CACHE).await;
        let (flag, fetches) = (self.layout().word(FETCHED), &self.library.fetches);
        fetches.set(fetches.get().wrapping_add(1));
        let copy = cache + kilobyte.addr % CACHE;
        let head = relative(self.torus(), self.id(), at.cell);
        kernel.cpu.work(Level::User, kernel.config.call).await;
        let get = [head, LINE / 4, copy, 0, flag.0, 0, kilobyte.addr, 0];
        kernel.issue(KIND_GET, get).await?;
        match race(self.wait_flag(flag, fetches.get()), kernel.uncopied.changed()).await {
            First::Left(came) => came?,
            First::Right(()) => {
                fetches.set(fetches.get().wrapping_sub(1));
                return Ok(false);
            }
        }
        update(Update::Set).await;
        Ok(true)
    }

    /// Makes the bytes `shared` of each cell's memory Write Through Pages for this cell's loads and stores. A load
    /// copies its kilobyte into the local cache of 2 MB at `cache`. An empty range means no pages. Other cells may
    /// choose other pages.
    ///
    /// # Errors
    /// No place for the cache; a range that is not one of pages.
    pub async fn write_through(&self, cache: Addr, shared: Range<u32>) -> Result<(), DsmError> {
        let user_end = self.memory_end();
        if !cache.0.is_multiple_of(CACHE) || cache.0.checked_add(CACHE).is_none_or(|end| end > user_end) {
            return Err(DsmError::Cache { addr: cache, user_end });
        }
        let Range { start, end } = shared;
        let page = |addr: u32| addr.is_multiple_of(PAGE) && addr <= 1 << LOCAL_BITS;
        if !page(start) || !page(end) {
            return Err(DsmError::Pages { start, end });
        }
        let _turn = self.library.accesses.hold().await;
        let _copies = self.kernel.copies.hold().await;
        let none = Remote { cell: 0, addr: 0 };
        for (offset, value) in [
            (WTP_PAGES, 0),
            (WTP_UPDATE, Update::All.word(none)),
            (WTP_CACHE, cache.0),
            (
                WTP_PAGES,
                (start / PAGE) << WTP_PAGES_LOW_SHIFT | (end / PAGE) << WTP_PAGES_HIGH_SHIFT,
            ),
        ] {
            self.kernel.cpu.write(Level::User, offset, value).await;
        }
        if !self.kernel.forgets.replace(true) {
            let (host, kernel) = (self.host(), self.kernel.clone());
            host.spawn_daemon(format!("copies of {}", self.id()), kernel.forget());
        }
        Ok(())
    }

    /// A synchronising write: when it returns, this cell's stores are in their memories, and none of `holders` has an
    /// older copy of the kilobytes of `written`. Each holder must have Write Through Pages; otherwise this waits for
    /// ever.
    ///
    /// # Errors
    /// No such byte, no such cell.
    pub async fn sync_write(&self, written: &[Shared], holders: &[NodeId]) -> Result<(), DsmError> {
        let lines = written.iter().map(|&at| self.kilobyte(at));
        let lines = lines.collect::<Result<Vec<Remote>, DsmError>>()?;
        // No duplicates: each holder has one word for the requests of this cell.
        let holders: BTreeSet<NodeId> = holders.iter().copied().filter(|&holder| holder != self.id()).collect();
        for &holder in &holders {
            self.head(holder)?;
        }
        let _turn = self.library.syncs.hold().await;
        // Before any copy is forgotten: a cell that fetches it again must find the stored bytes.
        self.fence().await;
        let [asked, forgotten, request] = [ASKED, FORGOTTEN, REQUEST].map(|part| self.layout().word(part));
        let slot = self.layout().word_of(REQUESTS, self.id().0.into());
        let count = &self.library.forgotten;
        for line in lines {
            self.set_word(request, Update::Line.word(line));
            for &holder in &holders {
                self.put(holder, request, 1, slot, Some(asked), None).await?;
                count.set(count.get().wrapping_add(1));
            }
            self.wait_flag(forgotten, count.get()).await?;
        }
        Ok(())
    }

    /// Stores the lowest 1, 2, 4 or 8 bytes of `value` to any cell's memory. The bytes are on their way when this
    /// returns: see [`fence`](Cell::fence).
    ///
    /// # Errors
    /// No such byte; an address that is not a multiple of the size. A store that fails in the other cell is reported to
    /// that cell's system.
    pub async fn store(&self, at: Shared, bytes: u8, value: u64) -> Result<(), DsmError> {
        let addr = self.physical(at, bytes)?;
        let _turn = self.library.accesses.hold().await;
        self.kernel.cpu.work(Level::User, Picos::ZERO).await;
        self.kernel.room().await;
        let stored = self.kernel.host.store(addr, bytes, value).await;
        stored.map_err(|_| DsmError::Exception { at, bytes })
    }

    /// Waits until all stores of this cell are in their memories.
    pub async fn fence(&self) {
        while self.kernel.cpu.read(Level::User, ACKS).await & ACKS_COUNT_MASK != 0 {}
    }
}

impl Kernel {
    /// Waits until a load will not be spilled. Where software refills the queues, the processor could not copy a
    /// spilled load back: it waits for that load.
    async fn unspilled(&self) {
        if self.config.hardware_refill {
            return;
        }
        let spilled = STATUS_SPILLED_MASK & 1 << (STATUS_SPILLED_SHIFT + QUEUE_ACCESS);
        while self.cpu.read(Level::User, STATUS).await & spilled != 0
            || self.cpu.read(Level::User, ACKS).await & ACKS_COUNT_MASK > STORES_BEFORE_LOAD
        {}
    }

    /// Forgets copies at the request of other cells, and acknowledges each request.
    async fn forget(self: Rc<Kernel>) {
        let asked = self.layout.word(ASKED);
        let mut done = 0_u32;
        loop {
            let more = move |memory: &Memory| word(memory, asked).wrapping_sub(done) as i32 > 0;
            self.host.watch("a request to forget a copy", more).await;
            let _copies = self.copies.hold().await;
            let _turn = self.handlers.hold().await;
            self.cpu.enter();
            self.host.delay(self.config.interrupt).await;
            for from in 0..self.host.nodes() as u16 {
                let slot = self.layout.word_of(REQUESTS, from.into());
                let request = self.host.memory(|memory| {
                    let request = word(memory, slot);
                    assert!(memory.write(slot, &[0; 4]), "the library's words are in memory");
                    request
                });
                if request == 0 {
                    continue;
                }
                self.cpu.write(Level::Handler, WTP_UPDATE, request).await;
                let head = relative(self.config.torus(), self.host.node(), NodeId(from));
                let tell = [head, 0, 0, 0, self.layout.word(FORGOTTEN).0, 0, 0, 0];
                self.issue(KIND_PUT, tell).await.expect("a page of the system's");
                done = done.wrapping_add(1);
            }
            self.cpu.leave();
        }
    }
}
