//! Commands: the description of a transfer, and the eight stores that issue it.

use thiserror::Error;

use super::Cell;
use crate::ap1000p::golden::creg;
use crate::ap1000p::golden::window::{self, Command};
use crate::ap1000p::regs::*;
use crate::harness::cpu::Level;
use crate::harness::exec::RegError;
use crate::net::torus::Torus;
use crate::{Addr, NodeId};

/// Why a command is not issued, or an access not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    #[error("cell {} is not in the torus: it has {cells} cells, numbered from 0", cell.0)]
    NoCell { cell: NodeId, cells: usize },
    #[error("{words} words are more than a command can transfer, {COMMAND_LENGTH_WORDS_MASK}")]
    TooLong { words: u32 },
    #[error("address {addr} is not a multiple of 4 bytes")]
    Unaligned { addr: Addr },
    #[error("a flag cannot be at address 0, which the hardware takes for no flag")]
    FlagAtZero,
    #[error("a flag at {addr} cannot be waited for: the cell's memory ends at {end:#x}")]
    Outside { addr: Addr, end: u32 },
    #[error("an item of {words} words: 1 to 256 are possible")]
    Item { words: u32 },
    #[error("a gap of {words} words: {} to {} are possible", -(1 << 23), (1 << 23) - 1)]
    Gap { words: i32 },
    #[error("too many communication registers from {register} on: a cell has {}", creg::WORDS)]
    NoRegister { register: u8 },
    #[error(transparent)]
    Refused(#[from] RegError),
}

/// The placement of a transfer's words from its address on: `item` words, then `gap` words left out (or stepped back),
/// and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// 1 to 256.
    pub item: u32,
    /// 24 bits, signed.
    pub gap: i32,
}

impl Stride {
    /// One word after the other.
    pub const NONE: Stride = Stride { item: 256, gap: 0 };

    /// The stride as a word of a command.
    ///
    /// # Errors
    /// An item or a gap that does not fit the word.
    pub fn word(self) -> Result<u32, CommandError> {
        if !(1..=256).contains(&self.item) {
            return Err(CommandError::Item { words: self.item });
        }
        if !(-(1 << 23)..1 << 23).contains(&self.gap) {
            return Err(CommandError::Gap { words: self.gap });
        }
        Ok(self.item << STRIDE_ITEM_SHIFT & STRIDE_ITEM_MASK | self.gap as u32 & STRIDE_GAP_MASK)
    }
}

/// A transfer by PUT or GET, with logical addresses of both sides. `source` is the side that has the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// 32-bit words; 0 is legal and counts the flags.
    pub words: u32,
    pub source: Addr,
    pub source_stride: Stride,
    /// Counts up when the last word has been read.
    pub source_flag: Option<Addr>,
    pub dest: Addr,
    pub dest_stride: Stride,
    /// Counts up when the last word is written.
    pub dest_flag: Option<Addr>,
}

impl Default for Transfer {
    fn default() -> Transfer {
        Transfer {
            words: 0,
            source: Addr(0),
            source_stride: Stride::NONE,
            source_flag: None,
            dest: Addr(0),
            dest_stride: Stride::NONE,
            dest_flag: None,
        }
    }
}

/// The owner of a command: each owner has its own queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    User,
    /// With a system call's cost and the system's rights.
    System,
}

/// The destinations of a broadcast: this cell's row or column, or all cells. This cell is always included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    Row,
    Column,
    All,
}

pub(super) fn aligned(addr: Addr) -> Result<u32, CommandError> {
    if addr.0.is_multiple_of(4) {
        Ok(addr.0)
    } else {
        Err(CommandError::Unaligned { addr })
    }
}

pub(super) fn flag_word(flag: Option<Addr>) -> Result<u32, CommandError> {
    match flag {
        None => Ok(0),
        Some(Addr(0)) => Err(CommandError::FlagAtZero),
        Some(addr) => aligned(addr),
    }
}

/// The position of cell `to` relative to cell `from`, as in word 0 of a command.
pub(super) fn relative(torus: Torus, from: NodeId, to: NodeId) -> u32 {
    let (from, to) = (torus.cell(from.index()), torus.cell(to.index()));
    let part = |from: usize, to: usize| (to as i32 - from as i32) as u32 & 0xff;
    part(from.x, to.x) << COMMAND_HEAD_DX_SHIFT | part(from.y, to.y) << COMMAND_HEAD_DY_SHIFT
}

impl Cell {
    /// Word 0 of a command to cell `to`, relative to this cell.
    pub(super) fn head(&self, to: NodeId) -> Result<u32, CommandError> {
        let cells = self.cells();
        if to.index() >= cells {
            return Err(CommandError::NoCell { cell: to, cells });
        }
        Ok(relative(self.torus(), self.id(), to))
    }

    fn command(&self, to: NodeId, transfer: &Transfer) -> Result<Command, CommandError> {
        if transfer.words > COMMAND_LENGTH_WORDS_MASK {
            return Err(CommandError::TooLong { words: transfer.words });
        }
        Ok([
            self.head(to)?,
            transfer.words,
            aligned(transfer.dest)?,
            transfer.dest_stride.word()?,
            flag_word(transfer.dest_flag)?,
            flag_word(transfer.source_flag)?,
            aligned(transfer.source)?,
            transfer.source_stride.word()?,
        ])
    }

    /// The command of an atomic operation on `addr` of another cell. The old value goes to `result`, and `flag` counts.
    pub(super) fn atomic(
        &self,
        to: NodeId,
        addr: Addr,
        [result, flag]: [Addr; 2],
        operands: [u32; 2],
    ) -> Result<Command, CommandError> {
        let [a, b] = operands;
        Ok([self.head(to)?, 1, result.0, 0, flag.0, aligned(addr)?, a, b])
    }

    /// Stores a command's words to a page; the last word starts the command. Programs of one cell take turns.
    pub(super) async fn issue(&self, by: By, page: u32, words: Command) -> Result<(), CommandError> {
        let (kernel, config) = (&self.kernel, &self.kernel.config);
        if by == By::System {
            kernel.cpu.work(Level::User, config.system_call + config.call).await;
            kernel.room().await;
            return Ok(kernel.issue(page, words).await?);
        }
        kernel.cpu.work(Level::User, config.call).await;
        let _turn = self.library.stores.hold().await;
        kernel.room().await;
        for word in words {
            self.store_to_page(page, word).await?;
        }
        Ok(())
    }

    /// Stores a word to a page, at no cost but the store's own. An interrupt handler may run between two stores.
    ///
    /// # Errors
    /// The machine refuses the store.
    pub async fn store_to_page(&self, page: u32, word: u32) -> Result<(), RegError> {
        self.kernel.cpu.work(Level::User, crate::Picos::ZERO).await;
        self.kernel.store(page, word).await
    }

    /// `put()` of the paper: PUTs `size` words from this cell's memory into another cell's. Both flags are optional.
    ///
    /// # Errors
    /// No such cell, more than 2^20 - 1 words, an address that is not a multiple of 4, a flag at 0.
    pub async fn put(
        &self,
        dest_cell: NodeId,
        source: Addr,
        size: u32,
        dest: Addr,
        dest_flag: Option<Addr>,
        source_flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        let transfer = Transfer {
            words: size,
            source,
            source_flag,
            dest,
            dest_flag,
            ..Transfer::default()
        };
        self.put_stride(dest_cell, &transfer).await
    }

    /// The same with a stride on either side.
    ///
    /// # Errors
    /// As [`put`](Cell::put); a stride that does not fit a command.
    pub async fn put_stride(&self, dest_cell: NodeId, transfer: &Transfer) -> Result<(), CommandError> {
        self.put_by(By::User, dest_cell, transfer).await
    }

    /// The same, by the user or by the system.
    ///
    /// # Errors
    /// As [`put_stride`](Cell::put_stride).
    pub async fn put_by(&self, by: By, dest_cell: NodeId, transfer: &Transfer) -> Result<(), CommandError> {
        self.issue(by, KIND_PUT, self.command(dest_cell, transfer)?).await
    }

    /// PUTs to each cell of this cell's row or column, or to all cells. This cell is always included.
    ///
    /// # Errors
    /// As [`put_stride`](Cell::put_stride).
    pub async fn broadcast(&self, along: Along, transfer: &Transfer) -> Result<(), CommandError> {
        let page = match along {
            Along::Row => PAGE_ROW_MASK,
            Along::Column => PAGE_COLUMN_MASK,
            Along::All => PAGE_ROW_MASK | PAGE_COLUMN_MASK,
        };
        let command = self.command(self.id(), transfer)?;
        self.issue(By::User, KIND_PUT | page, command).await
    }

    /// GETs `size` words from another cell's memory into this cell's.
    ///
    /// # Errors
    /// As [`put`](Cell::put).
    pub async fn get(
        &self,
        source_cell: NodeId,
        source: Addr,
        size: u32,
        dest: Addr,
        dest_flag: Option<Addr>,
        source_flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        let transfer = Transfer {
            words: size,
            source,
            source_flag,
            dest,
            dest_flag,
            ..Transfer::default()
        };
        self.get_stride(source_cell, &transfer).await
    }

    /// The same with a stride on either side.
    ///
    /// # Errors
    /// As [`put_stride`](Cell::put_stride).
    pub async fn get_stride(&self, source_cell: NodeId, transfer: &Transfer) -> Result<(), CommandError> {
        let command = self.command(source_cell, transfer)?;
        self.issue(By::User, KIND_GET, command).await
    }

    /// PUTs words from this cell's memory into another cell's communication registers. Each word waits there until its
    /// register is empty.
    ///
    /// # Errors
    /// As [`put`](Cell::put); more words than there are registers from `register` on.
    pub async fn put_registers(
        &self,
        dest_cell: NodeId,
        source: Addr,
        size: u32,
        register: u8,
        source_flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        let transfer = Transfer {
            words: size,
            source,
            source_flag,
            dest: registers(register, size)?,
            ..Transfer::default()
        };
        let command = self.command(dest_cell, &transfer)?;
        self.issue(By::User, KIND_PUT | PAGE_AS_RECEIVE_MASK, command).await
    }

    /// PUTs the words of this cell's communication registers into another cell's memory. The words leave when each
    /// register was full. Until then no other command of this cell leaves.
    ///
    /// # Errors
    /// As [`put_registers`](Cell::put_registers).
    pub async fn put_from_registers(
        &self,
        dest_cell: NodeId,
        register: u8,
        size: u32,
        dest: Addr,
        dest_flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        let transfer = Transfer {
            words: size,
            source: registers(register, size)?,
            dest,
            dest_flag,
            ..Transfer::default()
        };
        let command = self.command(dest_cell, &transfer)?;
        self.issue(By::User, KIND_PUT | PAGE_AS_SEND_MASK, command).await
    }

    /// GETs the words of another cell's communication registers into this cell's memory. The words come when each
    /// register was full. Until then that cell sends no other reply.
    ///
    /// # Errors
    /// As [`put_registers`](Cell::put_registers).
    pub async fn get_registers(
        &self,
        source_cell: NodeId,
        register: u8,
        size: u32,
        dest: Addr,
        dest_flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        let transfer = Transfer {
            words: size,
            source: registers(register, size)?,
            dest,
            dest_flag,
            ..Transfer::default()
        };
        let command = self.command(source_cell, &transfer)?;
        self.issue(By::User, KIND_GET | PAGE_AS_SEND_MASK, command).await
    }

    /// Takes the word of one of this cell's communication registers. The processor waits until the register is full,
    /// and serves no interrupt meanwhile.
    ///
    /// # Errors
    /// No such register; the register is empty, and registers are set to fault.
    pub async fn register_read(&self, register: u8) -> Result<u32, CommandError> {
        let addr = register_addr(register)?;
        self.kernel.cpu.work(Level::User, crate::Picos::ZERO).await;
        Ok(self.kernel.host.reg_read(addr).await?)
    }

    /// Fills one of this cell's communication registers. The processor waits until the register is empty, and serves no
    /// interrupt meanwhile.
    ///
    /// # Errors
    /// No such register; the register is full, and registers are set to fault.
    pub async fn register_write(&self, register: u8, word: u32) -> Result<(), CommandError> {
        let addr = register_addr(register)?;
        self.kernel.cpu.work(Level::User, crate::Picos::ZERO).await;
        Ok(self.kernel.host.reg_write(addr, word).await?)
    }
}

/// The address that stands for `size` registers from `register` on in a transfer.
fn registers(register: u8, size: u32) -> Result<Addr, CommandError> {
    let addr = 4 * u32::from(register);
    match creg::range(addr, size) {
        Some(_) => Ok(Addr(addr)),
        None => Err(CommandError::NoRegister { register }),
    }
}

fn register_addr(register: u8) -> Result<u64, CommandError> {
    if usize::from(register) < creg::WORDS {
        Ok(window::creg(register))
    } else {
        Err(CommandError::NoRegister { register })
    }
}
