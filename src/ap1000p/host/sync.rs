//! Synchronisation between cells: flags, acknowledged PUTs, atomic operations, locks, barriers, reductions.

use std::cell::Cell as Count;

use super::command::{Along, By, CommandError, Transfer, flag_word};
use super::layout::{
    ACKNOWLEDGED, ARRIVED, ATOMIC_FLAG, ATOMIC_RESULT, BANK, BANKS, EXTRA, PARTIAL, RELEASED, RESULT, ROW_RELEASED,
    STEPS,
};
use super::nets::Bus;
use super::{Cell, Layout};
use crate::ap1000p::regs::*;
use crate::harness::cpu::Level;
use crate::harness::sync::Lock;
use crate::{Addr, NodeId};

/// The operation that combines two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Modulo 2^32.
    Sum,
    Min,
    Max,
    And,
    Or,
}

impl Combine {
    pub fn apply(self, a: u32, b: u32) -> u32 {
        match self {
            Combine::Sum => a.wrapping_add(b),
            Combine::Min => a.min(b),
            Combine::Max => a.max(b),
            Combine::And => a & b,
            Combine::Or => a | b,
        }
    }
}

/// State of one cell's library between calls.
pub(super) struct Library {
    /// One command is stored at a time.
    pub stores: Lock,
    /// The processor makes one access of the shared space at a time, and waits for it.
    pub accesses: Lock,
    pub bus: Bus,
    /// One synchronising write at a time.
    pub syncs: Lock,
    /// One PUT awaits its acknowledgement at a time: the reply to a later PUT may come first.
    acknowledgements: Lock,
    /// One atomic operation is under way at a time: its result has one place.
    atomics: Lock,
    /// Counts so far: PUTs with an acknowledgement, atomic operations, barriers, reductions.
    puts: Count<u32>,
    atomic: Count<u32>,
    barriers: Count<u32>,
    reductions: Count<u32>,
    /// Messages that programs have taken.
    pub received: Count<u32>,
    /// Descriptors of large messages, and GETs of their words. One descriptor is sent at a time, and one message
    /// fetched.
    pub described: Count<u32>,
    pub descriptors: Lock,
    pub pulled: Count<u32>,
    pub pulls: Lock,
    /// Copies fetched, and requests to other cells to forget copies.
    pub fetches: Count<u32>,
    pub forgotten: Count<u32>,
}

impl Library {
    pub fn new() -> Library {
        Library {
            stores: Lock::new("another program's command"),
            accesses: Lock::new("another program's access of the shared space"),
            bus: Bus::new(),
            syncs: Lock::new("another program's synchronising write"),
            acknowledgements: Lock::new("another program's acknowledged PUT"),
            atomics: Lock::new("another program's atomic operation"),
            puts: Count::new(0),
            atomic: Count::new(0),
            barriers: Count::new(0),
            reductions: Count::new(0),
            received: Count::new(0),
            described: Count::new(0),
            descriptors: Lock::new("another program's large message"),
            pulled: Count::new(0),
            pulls: Lock::new("another program that receives a large message"),
            fetches: Count::new(0),
            forgotten: Count::new(0),
        }
    }
}

pub(super) fn next(count: &Count<u32>) -> u32 {
    count.set(count.get().wrapping_add(1));
    count.get()
}

impl Cell {
    pub(super) fn layout(&self) -> &Layout {
        &self.kernel.layout
    }

    /// Waits until this cell's flag at `addr` has counted to `value` or further.
    ///
    /// # Errors
    /// A flag at 0, at an address that is not a multiple of 4, or not in the cell's memory.
    pub async fn wait_flag(&self, addr: Addr, value: u32) -> Result<(), CommandError> {
        let (word, end) = (flag_word(Some(addr))?, self.config().mem_bytes);
        if word >= end {
            return Err(CommandError::Outside { addr, end });
        }
        let reached = move |memory: &crate::harness::memory::Memory| {
            let bytes = memory.read(addr, 4).expect("a flag is in memory");
            let count = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
            count.wrapping_sub(value) as i32 >= 0
        };
        self.kernel.host.watch("a flag", reached).await;
        self.kernel.cpu.work(Level::User, self.kernel.config.flag_test).await;
        Ok(())
    }

    /// A PUT with its words in the other cell's memory when this returns. A GET of no words follows the PUT, and this
    /// waits for the flag of the GET.
    ///
    /// # Errors
    /// As [`put_stride`](Cell::put_stride).
    pub async fn ack_put(&self, dest_cell: NodeId, transfer: &Transfer) -> Result<(), CommandError> {
        self.put_stride(dest_cell, transfer).await?;
        let flag = self.layout().word(ACKNOWLEDGED);
        let _turn = self.library.acknowledgements.hold().await;
        let count = next(&self.library.puts);
        self.get(dest_cell, Addr(0), 0, Addr(0), Some(flag), None).await?;
        self.wait_flag(flag, count).await
    }

    async fn atomic_on(&self, page: u32, cell: NodeId, addr: Addr, operands: [u32; 2]) -> Result<u32, CommandError> {
        let place = [ATOMIC_RESULT, ATOMIC_FLAG].map(|word| self.layout().word(word));
        let command = self.atomic(cell, addr, place, operands)?;
        let _turn = self.library.atomics.hold().await;
        let count = next(&self.library.atomic);
        self.issue(By::User, page, command).await?;
        self.wait_flag(place[1], count).await?;
        Ok(self.word(place[0]))
    }

    /// ANDs a word of a cell's memory with the mask `and`, and ORs the mask `or` into it. Returns the old value.
    ///
    /// # Errors
    /// No such cell, an address that is not a multiple of 4.
    pub async fn fetch_op(&self, cell: NodeId, addr: Addr, and: u32, or: u32) -> Result<u32, CommandError> {
        self.atomic_on(KIND_FOP, cell, addr, [and, or]).await
    }

    /// Writes `new` into a word of a cell's memory if the word is `old`. Returns the old value.
    ///
    /// # Errors
    /// As [`fetch_op`](Cell::fetch_op).
    pub async fn compare_swap(&self, cell: NodeId, addr: Addr, old: u32, new: u32) -> Result<u32, CommandError> {
        self.atomic_on(KIND_CSI, cell, addr, [old, new]).await
    }

    /// Takes the lock in a word of a cell's memory; the word of a free lock is 0. Retries until it has the lock.
    ///
    /// # Errors
    /// As [`fetch_op`](Cell::fetch_op).
    pub async fn lock(&self, cell: NodeId, addr: Addr) -> Result<(), CommandError> {
        while self.compare_swap(cell, addr, 0, 1).await? != 0 {}
        Ok(())
    }

    /// Releases the lock. The PUTs of its holder must be acknowledged before.
    ///
    /// # Errors
    /// As [`fetch_op`](Cell::fetch_op).
    pub async fn unlock(&self, cell: NodeId, addr: Addr) -> Result<(), CommandError> {
        self.fetch_op(cell, addr, 0, 0).await.map(drop)
    }

    /// Waits for all cells, with PUTs of no words. All cells count a flag of cell 0. Then cell 0 releases its row, and
    /// each cell of that row releases its column.
    ///
    /// # Errors
    /// The machine refuses a store.
    pub async fn barrier_by_flags(&self) -> Result<(), CommandError> {
        const ROOT: NodeId = NodeId(0);
        let [arrived, row, released] = [ARRIVED, ROW_RELEASED, RELEASED].map(|word| self.layout().word(word));
        let count = next(&self.library.barriers);
        let tell = |flag| Transfer {
            dest_flag: Some(flag),
            ..Transfer::default()
        };
        self.put_stride(ROOT, &tell(arrived)).await?;
        if self.id() == ROOT {
            self.wait_flag(arrived, count.wrapping_mul(self.cells() as u32)).await?;
            self.broadcast(Along::Row, &tell(row)).await?;
        }
        if self.torus().cell(self.id().index()).y == 0 {
            self.wait_flag(row, count).await?;
            self.broadcast(Along::Column, &tell(released)).await?;
        }
        self.wait_flag(released, count).await
    }

    /// Puts a value into a library register of another cell, by the register's number in both banks.
    async fn hand(&self, to: u16, number: u32, value: u32) -> Result<(), CommandError> {
        let partial = self.layout().word_of(PARTIAL, number);
        self.set_word(partial, value);
        self.put_registers(NodeId(to), partial, 1, BANKS.at(number) as u8, None)
            .await
    }

    /// Takes the value that another cell puts into a library register of this cell.
    async fn take(&self, number: u32) -> Result<u32, CommandError> {
        self.register_read(BANKS.at(number) as u8).await
    }

    /// Combines one value of each cell, with communication registers. In each step two partners exchange their partial
    /// results. A cell beyond the largest power of two takes part through one of the other cells. All cells must call
    /// this, and all get the same result.
    ///
    /// # Errors
    /// The machine refuses a store.
    pub async fn reduce(&self, combine: Combine, value: u32) -> Result<u32, CommandError> {
        let (me, cells) = (self.id().0, self.cells() as u16);
        let steps = cells.ilog2();
        let pairs = 1 << steps;
        // Banks take turns: a cell that is one call ahead does not write into registers that are still to be read.
        let bank = BANK * (next(&self.library.reductions) & 1);
        if me >= pairs {
            self.hand(me - pairs, bank + EXTRA.first(), value).await?;
            return self.take(bank + RESULT.first()).await;
        }
        let mut sum = value;
        let has_extra = me + pairs < cells;
        if has_extra {
            sum = combine.apply(sum, self.take(bank + EXTRA.first()).await?);
        }
        for step in 0..steps {
            self.hand(me ^ 1 << step, bank + STEPS.at(step), sum).await?;
            sum = combine.apply(sum, self.take(bank + STEPS.at(step)).await?);
        }
        if has_extra {
            self.hand(me + pairs, bank + RESULT.first(), sum).await?;
        }
        Ok(sum)
    }

    /// Waits for all cells, with communication registers.
    ///
    /// # Errors
    /// As [`reduce`](Cell::reduce).
    pub async fn barrier(&self) -> Result<(), CommandError> {
        self.reduce(Combine::Or, 0).await.map(drop)
    }
}
