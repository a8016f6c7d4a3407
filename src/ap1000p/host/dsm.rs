//! Distributed shared memory: the processor's loads and stores to any cell's memory, and when they are done.

use thiserror::Error;

use super::Cell;
use crate::ap1000p::dsm;
use crate::ap1000p::regs::*;
use crate::ap1000p::wtp::LOCAL_BITS;
use crate::harness::cpu::Level;
use crate::{Addr, NodeId, Picos};

/// A byte of the shared space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Whose memory it is in; it may be the own cell's.
    pub cell: NodeId,
    /// There: physical, as remote accesses go past the tables of the other cell.
    pub addr: Addr,
}

/// Why an access of the shared space is not made, or did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DsmError {
    #[error("cell {} is not in the torus: it has {cells} cells, numbered from 0", cell.0)]
    NoCell { cell: NodeId, cells: usize },
    #[error("{addr} is not shared: of each cell 32 MB are, from 0")]
    NotShared { addr: Addr },
    #[error("{bytes} bytes: the processor loads and stores 1, 2, 4 and 8")]
    Size { bytes: u8 },
    #[error("{addr} is not a multiple of the {bytes} bytes that are accessed")]
    Unaligned { addr: Addr, bytes: u8 },
    #[error("a load of {bytes} bytes at {} of cell {} ended with an exception", at.addr, at.cell.0)]
    Exception { at: Shared, bytes: u8 },
}

impl Cell {
    /// The physical address of a place.
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
        Ok(dsm::place(self.torus().cell(cell.index()), addr.0))
    }

    /// Loads 1, 2, 4 or 8 bytes of any cell's memory. The processor waits, and serves no interrupt meanwhile.
    ///
    /// # Errors
    /// No such place, an address that is no multiple of the size; the other cell could not read it.
    pub async fn load(&self, at: Shared, bytes: u8) -> Result<u64, DsmError> {
        let addr = self.physical(at, bytes)?;
        let _turn = self.library.accesses.hold().await;
        // An interrupt handler goes first.
        self.kernel.cpu.work(Level::User, Picos::ZERO).await;
        let loaded = self.kernel.host.load(addr, bytes).await;
        loaded.map_err(|_| DsmError::Exception { at, bytes })
    }

    /// Stores the lowest 1, 2, 4 or 8 bytes of `value` to any cell's memory. They are on their way when this returns: see [`fence`](Cell::fence).
    ///
    /// # Errors
    /// No such place, an address that is no multiple of the size. What the other cell cannot store is told to its system.
    pub async fn store(&self, at: Shared, bytes: u8, value: u64) -> Result<(), DsmError> {
        let addr = self.physical(at, bytes)?;
        let _turn = self.library.accesses.hold().await;
        self.kernel.cpu.work(Level::User, Picos::ZERO).await;
        let stored = self.kernel.host.store(addr, bytes, value).await;
        stored.map_err(|_| DsmError::Exception { at, bytes })
    }

    /// Waits until all stores of this cell are in their memories.
    pub async fn fence(&self) {
        while self.kernel.cpu.read(Level::User, ACKS).await & ACKS_COUNT_MASK != 0 {}
    }
}
