//! Messages through ring buffers: `send`, `recv`, and the system's part: it gives a set of registers to the ring that misses one, and takes what is in a ring that is
//! full, so that no message is lost.
//!
//! The library's header: word 0 has the sender's cell and the words of data, word 1 is the program's own.

use std::cell::RefCell;
use std::collections::VecDeque;

use thiserror::Error;

use super::Cell;
use super::command::{By, CommandError, aligned, flag_word};
use super::kernel::Kernel;
use super::layout::PROCESS;
use super::sync::{RECEIVED, next};
use crate::ap1000p::regs::*;
use crate::ap1000p::ring::{HEADER_WORDS, Ring, SLOT_WORDS, WORDS_MOST, slots};
use crate::harness::cpu::Level;
use crate::harness::exec::RegError;
use crate::harness::sync::Lock;
use crate::{Addr, NodeId};

/// The sender's cell in word 0 of a header, above the words of data.
const FROM_SHIFT: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingSize {
    /// 4096 slots of 32 B.
    K128,
    K512,
    M2,
    M8,
}

impl RingSize {
    fn code(self) -> u32 {
        match self {
            RingSize::K128 => RING_SIZE_128K,
            RingSize::K512 => RING_SIZE_512K,
            RingSize::M2 => RING_SIZE_2M,
            RingSize::M8 => RING_SIZE_8M,
        }
    }

    pub fn bytes(self) -> u32 {
        Ring::slots_of(self.code()) * RING_BYTES
    }
}

/// Why there is no ring buffer, or no message from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RingError {
    #[error("a ring buffer of {bytes} B begins at a multiple of that, not at {at}")]
    Base { at: Addr, bytes: u32 },
    #[error(
        "a ring buffer of {bytes} B at {at} is not in user memory, which ends at {end:#x}: a larger mem_bytes makes room"
    )]
    Outside { at: Addr, bytes: u32, end: u32 },
    #[error("context {context} has a ring buffer already")]
    Twice { context: u16 },
    #[error("context {context} has no ring buffer: open_ring first")]
    None { context: u16 },
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl From<RegError> for RingError {
    fn from(refused: RegError) -> RingError {
        RingError::Command(refused.into())
    }
}

/// A message that came through a ring buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub from: NodeId,
    /// What the sender gave with it.
    pub tag: u32,
    pub words: Vec<u32>,
}

/// A ring of a context.
struct Owned {
    /// `write` is stale while it is in a set, `read` is not.
    ring: Ring,
    set: Option<usize>,
    /// What the system has taken out of it because it was full: slots, before those that are in it.
    taken: VecDeque<[u32; SLOT_WORDS as usize]>,
}

impl Owned {
    fn slot(&self, kernel: &Kernel, number: u32) -> [u32; SLOT_WORDS as usize] {
        let inner = self.ring.slots() - 1;
        let at = (self.ring.write & !inner | number & inner) * RING_BYTES;
        let bytes = kernel
            .host
            .memory(|memory| memory.read(Addr(at), RING_BYTES as usize).map(<[u8]>::to_vec));
        let bytes = bytes.expect("rings are in memory");
        let word = |n: usize| u32::from_le_bytes(bytes[4 * n..4 * n + 4].try_into().expect("four bytes"));
        std::array::from_fn(word)
    }
}

/// The rings of a cell.
pub(super) struct Rings {
    owned: RefCell<Vec<Owned>>,
    /// Whose set is taken next.
    turn: std::cell::Cell<usize>,
    /// Registers and `owned` are changed together: by handler and programs in turn.
    registers: Lock,
    served: std::cell::Cell<Served>,
}

/// Messages that had no place at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// The ring was in no set.
    pub misses: u32,
    /// The ring was full.
    pub full: u32,
}

impl Rings {
    pub fn new() -> Rings {
        Rings {
            owned: RefCell::default(),
            turn: std::cell::Cell::new(0),
            registers: Lock::new("another access of the ring buffers' registers"),
            served: std::cell::Cell::default(),
        }
    }

    /// Which of `owned` is this context's.
    fn of(&self, context: u16) -> Result<usize, RingError> {
        let owned = self.owned.borrow();
        let at = owned.iter().position(|owner| owner.ring.context == context);
        at.ok_or(RingError::None { context })
    }

    fn count(&self, misses: u32, full: u32) {
        let served = self.served.get();
        self.served.set(Served {
            misses: served.misses + misses,
            full: served.full + full,
        });
    }
}

/// A register of a set, by that of set 0.
fn register(set: usize, of_first: u32) -> u32 {
    of_first + set as u32 * (RING1_WRITE - RING0_WRITE)
}

impl Kernel {
    /// A message has no place: of this context, with WHERE2. False: there is no ring for it.
    pub async fn serve_ring(&self, context: u16, want: u32) -> bool {
        let _turn = self.rings.registers.hold().await;
        let set = ((want & WANT_SET_MASK) >> WANT_SET_SHIFT) as usize;
        let served = if set < RING_SETS as usize {
            self.empty(set).await
        } else {
            self.load(context).await
        };
        served.expect("registers of rings can be accessed")
    }

    /// The ring in this set is full: what is in it moves to the system's memory.
    async fn empty(&self, set: usize) -> Result<bool, RegError> {
        self.host.delay(self.config.page_service).await;
        let write = self.host.reg_read(register(set, RING0_WRITE)).await?;
        let read = {
            let mut owned = self.rings.owned.borrow_mut();
            let Some(owner) = owned.iter_mut().find(|owner| owner.set == Some(set)) else {
                return Ok(false);
            };
            owner.ring.write = write;
            for n in 0..owner.ring.used() {
                let slot = owner.slot(self, owner.ring.read + n);
                owner.taken.push_back(slot);
            }
            owner.ring.read = write & (owner.ring.slots() - 1);
            owner.ring.read
        };
        self.host.reg_write(register(set, RING0_READ), read).await?;
        self.rings.count(0, 1);
        Ok(true)
    }

    /// The ring of this context gets a set; one that has it longest leaves.
    async fn load(&self, context: u16) -> Result<bool, RegError> {
        self.host.delay(self.config.page_service).await;
        let Ok(at) = self.rings.of(context) else {
            return Ok(false);
        };
        let set = self.rings.turn.get();
        self.rings.turn.set((set + 1) % RING_SETS as usize);
        let write = self.host.reg_read(register(set, RING0_WRITE)).await?;
        let ring = {
            let mut owned = self.rings.owned.borrow_mut();
            if let Some(leaves) = owned.iter_mut().find(|owner| owner.set == Some(set)) {
                leaves.set = None;
                leaves.ring.write = write;
            }
            owned[at].set = Some(set);
            owned[at].ring
        };
        for (offset, value) in [
            (RING0_WRITE, ring.write),
            (RING0_READ, ring.read),
            (RING0_MODE, ring.mode()),
        ] {
            self.host.reg_write(register(set, offset), value).await?;
        }
        self.rings.count(1, 0);
        Ok(true)
    }

    /// Takes the next message out of a context's ring, if there is one.
    async fn take(&self, context: u16) -> Result<Option<Received>, RingError> {
        let _turn = self.rings.registers.hold().await;
        let at = self.rings.of(context)?;
        let set = self.rings.owned.borrow()[at].set;
        if let Some(set) = set {
            let write = self.host.reg_read(register(set, RING0_WRITE)).await?;
            self.rings.owned.borrow_mut()[at].ring.write = write;
        }
        let (received, read) = {
            let owner = &mut self.rings.owned.borrow_mut()[at];
            let Some((received, count)) = owner.first(self) else {
                return Ok(None);
            };
            let old = count.min(owner.taken.len() as u32);
            owner.taken.drain(..old as usize);
            owner.ring.read = (owner.ring.read + count - old) & (owner.ring.slots() - 1);
            (received, owner.ring.read)
        };
        if let Some(set) = set {
            self.host.reg_write(register(set, RING0_READ), read).await?;
        }
        Ok(Some(received))
    }
}

impl Owned {
    /// The oldest message and its slots.
    fn first(&self, kernel: &Kernel) -> Option<(Received, u32)> {
        let there = self.taken.len() as u32 + self.ring.used();
        if there == 0 {
            return None;
        }
        let slot = |n: u32| match self.taken.get(n as usize) {
            Some(slot) => *slot,
            None => self.slot(kernel, self.ring.read + n - self.taken.len() as u32),
        };
        let [first, tag, ..] = slot(0);
        let length = first & COMMAND_LENGTH_WORDS_MASK;
        // A header that is none of the library's.
        let count = slots(length.min(WORDS_MOST)).min(there);
        let words: Vec<u32> = (0..count)
            .flat_map(slot)
            .skip(HEADER_WORDS as usize)
            .take(length as usize)
            .collect();
        let from = NodeId((first >> FROM_SHIFT) as u16);
        Some((Received { from, tag, words }, count))
    }
}

impl Cell {
    /// Gives the process a ring buffer for what others send, in memory that the program leaves alone from now on.
    ///
    /// # Errors
    /// It has one already; not at a multiple of the size; not in user memory.
    pub async fn open_ring(&self, at: Addr, size: RingSize) -> Result<(), RingError> {
        self.open_ring_of(PROCESS, at, size).await
    }

    /// The same for another context, 12 bits.
    ///
    /// # Errors
    /// As [`open_ring`](Cell::open_ring).
    pub async fn open_ring_of(&self, context: u16, at: Addr, size: RingSize) -> Result<(), RingError> {
        let (bytes, end) = (size.bytes(), self.memory_end());
        if !at.0.is_multiple_of(bytes) {
            return Err(RingError::Base { at, bytes });
        }
        if at.0.checked_add(bytes).is_none_or(|last| last > end) {
            return Err(RingError::Outside { at, bytes, end });
        }
        let kernel = &self.kernel;
        kernel.cpu.work(Level::User, kernel.config.system_call).await;
        if kernel.rings.of(context).is_ok() {
            return Err(RingError::Twice { context });
        }
        kernel.rings.owned.borrow_mut().push(Owned {
            ring: Ring {
                on: true,
                size: size.code(),
                context,
                write: at.0 / RING_BYTES,
                read: 0,
            },
            set: None,
            taken: VecDeque::new(),
        });
        Ok(())
    }

    /// Sends words of the own memory, and one word beside them, into the ring buffer of the same context in another cell. `source_flag` counts when they have been
    /// read. What finds no ring there, or is longer than it, is told to that cell's system.
    ///
    /// # Errors
    /// No such cell, more than 2^20 - 3 words, an address that is no word's, a flag at 0.
    pub async fn send(
        &self,
        to: NodeId,
        tag: u32,
        source: Addr,
        words: u32,
        source_flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        if words > WORDS_MOST {
            return Err(CommandError::TooLong { words });
        }
        let command = [
            self.head(to)?,
            words,
            self.kernel.layout.word(RECEIVED).0,
            flag_word(source_flag)?,
            aligned(source)?,
            0,
            u32::from(self.id().0) << FROM_SHIFT | words,
            tag,
        ];
        self.issue(By::User, KIND_PUT | PAGE_SEND_MASK, command).await
    }

    /// The next message that was sent to the process; waits for it.
    ///
    /// # Errors
    /// It has no ring buffer.
    pub async fn recv(&self) -> Result<Received, RingError> {
        self.kernel.rings.of(PROCESS)?;
        let count = next(&self.library.received);
        self.wait_flag(self.kernel.layout.word(RECEIVED), count).await?;
        let message = self.recv_of(PROCESS).await?;
        Ok(message.expect("the flag has counted it"))
    }

    /// The next message in the ring buffer of a context, if there is one.
    ///
    /// # Errors
    /// It has no ring buffer.
    pub async fn recv_of(&self, context: u16) -> Result<Option<Received>, RingError> {
        self.kernel.cpu.work(Level::User, crate::Picos::ZERO).await;
        self.kernel.take(context).await
    }

    /// How often the system had to find a place for a message.
    pub fn rings_served(&self) -> Served {
        self.kernel.rings.served.get()
    }
}
