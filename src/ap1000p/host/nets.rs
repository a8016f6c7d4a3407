//! Barriers by the S-net and packets to all cells over the B-net.

use std::cell::RefCell;
use std::collections::VecDeque;

use thiserror::Error;

use super::Cell;
use crate::Picos;
use crate::ap1000p::bif_regs::*;
use crate::ap1000p::golden::bif::BusWord;
use crate::ap1000p::golden::window::bif;
use crate::harness::cpu::Level;
use crate::harness::exec::RegError;
use crate::harness::sync::Lock;

/// Why a packet is not sent to all cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BusError {
    #[error("a packet on the B-net has 1 to {BIF_WORDS} words, not {words}")]
    Length { words: usize },
    #[error(transparent)]
    Refused(#[from] RegError),
}

/// State of a cell's library for the nets.
pub(super) struct Bus {
    /// One packet is sent at a time, one packet received, one word checked and taken.
    sends: Lock,
    receives: Lock,
    words: Lock,
    /// Words that were taken and are not yet received.
    taken: RefCell<VecDeque<BusWord>>,
}

impl Bus {
    pub fn new() -> Bus {
        Bus {
            sends: Lock::new("another program's packet on the B-net"),
            receives: Lock::new("another program that receives from the B-net"),
            words: Lock::new("another program's word of the B-net"),
            taken: RefCell::default(),
        }
    }
}

fn field(word: u32, mask: u32) -> u32 {
    (word & mask) >> mask.trailing_zeros()
}

impl Cell {
    async fn net_read(&self, offset: u32) -> Result<u32, RegError> {
        self.kernel.cpu.work(Level::User, Picos::ZERO).await;
        self.kernel.host.reg_read(bif(offset)).await
    }

    async fn net_write(&self, offset: u32, value: u32) -> Result<(), RegError> {
        self.kernel.cpu.work(Level::User, Picos::ZERO).await;
        self.kernel.host.reg_write(bif(offset), value).await
    }

    /// A turn of a loop that polls.
    async fn turn(&self) {
        let span = self.kernel.config.register_poll;
        self.kernel.cpu.work(Level::User, span).await;
    }

    /// Waits for all cells, with the S-net: stores once, then polls a register. The cell serves interrupts meanwhile.
    ///
    /// # Errors
    /// The backend has no S-net.
    pub async fn barrier_by_snet(&self) -> Result<(), RegError> {
        self.net_write(BIF_ARRIVE, BIF_ARRIVE_USER_MASK).await?;
        let waits = BIF_MEMBER_USER_MASK << BIF_STATE_WAITING_SHIFT;
        while self.net_read(BIF_STATE).await? & waits != 0 {
            self.turn().await;
        }
        Ok(())
    }

    /// Takes a word that has come over the bus. Without one it takes a turn of the polling loop.
    async fn take_word(&self) -> Result<(), RegError> {
        let bus = &self.library.bus;
        let turn = bus.words.hold().await;
        let state = self.net_read(BIF_STATE).await?;
        if field(state, BIF_STATE_WORDS_MASK) > 0 {
            let word = self.net_read(BIF_RECEIVE).await?;
            let last = state & BIF_STATE_LAST_MASK != 0;
            bus.taken.borrow_mut().push_back((word, last));
            return Ok(());
        }
        drop(turn);
        self.turn().await;
        Ok(())
    }

    /// Sends a packet to all cells, this cell included, over the B-net. All cells get all packets in the same order.
    /// Every cell must [receive](Cell::bus_receive): a cell that does not stops the bus.
    ///
    /// # Errors
    /// A packet of no words or too many; the backend has no B-net.
    pub async fn bus_send(&self, words: &[u32]) -> Result<(), BusError> {
        let Some((last, first)) = words.split_last().filter(|_| words.len() <= BIF_WORDS as usize) else {
            return Err(BusError::Length { words: words.len() });
        };
        let _turn = self.library.bus.sends.hold().await;
        // With room for the whole packet no store is refused.
        while (field(self.net_read(BIF_STATE).await?, BIF_STATE_ROOM_MASK) as usize) < words.len() {
            // The bus may wait for this very cell.
            self.take_word().await?;
        }
        for word in first {
            self.net_write(BIF_SEND, *word).await?;
        }
        Ok(self.net_write(BIF_SEND_LAST, *last).await?)
    }

    /// Waits for the next packet over the B-net, and takes it.
    ///
    /// # Errors
    /// The backend has no B-net.
    pub async fn bus_receive(&self) -> Result<Vec<u32>, RegError> {
        let _turn = self.library.bus.receives.hold().await;
        let mut packet = Vec::new();
        loop {
            let taken = self.library.bus.taken.borrow_mut().pop_front();
            if let Some((word, last)) = taken {
                packet.push(word);
                if last {
                    return Ok(packet);
                }
                continue;
            }
            self.take_word().await?;
        }
    }
}
