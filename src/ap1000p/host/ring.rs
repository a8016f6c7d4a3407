//! Messages through ring buffers: `send`, `recv`, and the system's part. The system gives a set of registers to a ring
//! without one. It moves the slots of a full ring into blocks of the cell's memory, so no message is lost while a block
//! is free.
//!
//! In the library's header, word 0 has the sender's cell and the number of data words; word 1 belongs to the program. A
//! large message goes as a descriptor of one slot, and its receiver GETs the words. The machine's Linux does the same;
//! the descriptor is a guess. That GET counts the sender's flag, which acknowledges the message.

use thiserror::Error;

use super::Cell;
use super::command::{By, CommandError, aligned, flag_word};
use super::fault::FaultKind;
use super::kernel::{Kernel, field};
use super::layout::{DESCRIBED, DESCRIPTOR_WORDS, DESCRIPTORS, PIECE, PROCESS, PULLED, RECEIVED};
use super::rings::{Owned, Served, Taken};
use super::sync::next;
use crate::ap1000p::golden::ring::{HEADER_WORDS, Ring, WORDS_MOST, slots};
use crate::ap1000p::golden::window;
use crate::ap1000p::regs::*;
use crate::harness::cpu::Level;
use crate::harness::exec::{Host, RegError};
use crate::{Addr, NodeId};

/// Word 0 of a header: above the number of data words, the sender's cell, and whether the receiver GETs the words
/// there.
const FROM_SHIFT: u32 = 20;
const FROM_MASK: u32 = 0x3ff << FROM_SHIFT;
const LARGE_MASK: u32 = 1 << 31;
/// The most descriptors of large messages that a cell has on their way.
const DESCRIPTORS_MOST: u32 = DESCRIPTORS.count() / DESCRIPTOR_WORDS;

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
        "a ring buffer of {bytes} B at {at} is not in user memory, which ends at {end:#x}: a larger mem_bytes makes \
         room"
    )]
    Outside { at: Addr, bytes: u32, end: u32 },
    #[error("context {context} has a ring buffer already")]
    Twice { context: u16 },
    #[error("context {context} has no ring buffer: open_ring first")]
    None { context: u16 },
    #[error("the next message has {words} words, and there is room for {room}: it is left where it is")]
    Room { words: u32, room: u32 },
    #[error("no room for {words} words at {at}: user memory ends at {end:#x}")]
    Place { at: Addr, words: u32, end: u32 },
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
    /// The word that the sender gave with the message.
    pub tag: u32,
    pub words: Vec<u32>,
}

/// A message with its words put into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub from: NodeId,
    /// The word that the sender gave with the message.
    pub tag: u32,
    /// The number of words.
    pub words: u32,
}

/// A message out of a ring.
struct Came {
    message: Message,
    data: Data,
}

enum Data {
    Words(Vec<u32>),
    /// The words are still in the sender's memory, at `source`; `flag` is there, too.
    There {
        source: Addr,
        flag: Option<Addr>,
    },
}

/// The address of a register of a set; `of_first` is the offset of this register in set 0.
fn register(set: usize, of_first: u32) -> u64 {
    window::register(of_first + set as u32 * (RING1_WRITE - RING0_WRITE))
}

impl Kernel {
    /// Finds a place for a message of this context; `want` is the word of WHERE2.
    ///
    /// # Errors
    /// There is no place for the message.
    pub async fn serve_ring(&self, context: u16, want: u32) -> Result<(), FaultKind> {
        let _turn = self.rings.registers.hold().await;
        let (set, slots) = (field(want, WANT_SET_MASK) as usize, field(want, WANT_SLOTS_MASK));
        let context_of = u32::from(context);
        let (served, refused) = if set < RING_SETS as usize {
            let kind = FaultKind::RingFull {
                context: context_of,
                slots,
            };
            (self.empty(set, slots).await, kind)
        } else {
            (
                self.load(context).await,
                FaultKind::NoRing {
                    context: context_of,
                    slots,
                },
            )
        };
        let served = served.expect("registers of rings can be accessed");
        served.then_some(()).ok_or(refused)
    }

    /// Moves the slots of the full ring in this set into blocks, as far as there are free blocks. False: the ring still
    /// has no room for `slots` slots.
    async fn empty(&self, set: usize, slots: u32) -> Result<bool, RegError> {
        self.host.delay(self.config.page_service).await;
        let write = self.host.reg_read(register(set, RING0_WRITE)).await?;
        let (read, room, copied) = {
            let mut owned = self.rings.owned.borrow_mut();
            let Some(owner) = owned.iter_mut().find(|owner| owner.set == Some(set)) else {
                return Ok(false);
            };
            owner.ring.write = write;
            let mut free = self.rings.free.borrow_mut();
            let mut copied = 0;
            while owner.empty(&self.host, &mut free) {
                copied += 1;
            }
            (owner.ring.read, owner.ring.room(), copied)
        };
        self.host.delay(self.config.overflow_slot * copied).await;
        self.host.reg_write(register(set, RING0_READ), read).await?;
        self.rings.count(0, 1);
        Ok(room >= slots)
    }

    /// Gives a set to the ring of this context. The ring that has had a set for the longest time leaves its set.
    async fn load(&self, context: u16) -> Result<bool, RegError> {
        self.host.delay(self.config.page_service).await;
        let Some(at) = self.rings.of(context) else {
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

    /// Takes the next message out of a context's ring, if there is one. A message of more than `room` words stays
    /// there.
    async fn take(&self, context: u16, room: u32) -> Result<Option<Came>, RingError> {
        let _turn = self.rings.registers.hold().await;
        let at = self.rings.of(context).ok_or(RingError::None { context })?;
        let set = self.rings.owned.borrow()[at].set;
        if let Some(set) = set {
            let write = self.host.reg_read(register(set, RING0_WRITE)).await?;
            self.rings.owned.borrow_mut()[at].ring.write = write;
        }
        let (came, read) = {
            let owner = &mut self.rings.owned.borrow_mut()[at];
            let Some((came, count)) = first(owner, &self.host) else {
                return Ok(None);
            };
            let words = came.message.words;
            if words > room {
                return Err(RingError::Room { words, room });
            }
            let old = count.min(owner.taken.slots);
            owner.taken.drop_first(old, &mut self.rings.free.borrow_mut());
            owner.ring.read = (owner.ring.read + count - old) & (owner.ring.slots() - 1);
            (came, owner.ring.read)
        };
        if let Some(set) = set {
            self.host.reg_write(register(set, RING0_READ), read).await?;
        }
        Ok(Some(came))
    }
}

/// The oldest message of a ring, and the number of its slots.
fn first(owned: &Owned, host: &Host) -> Option<(Came, u32)> {
    let there = owned.taken.slots + owned.ring.used();
    if there == 0 {
        return None;
    }
    let [first, tag, ..] = owned.slot(host, 0);
    let (words, large) = (first & COMMAND_LENGTH_WORDS_MASK, first & LARGE_MASK != 0);
    let length = if large { DESCRIPTOR_WORDS } else { words };
    // The header may be another one than the library's.
    let count = slots(length.min(WORDS_MOST)).min(there);
    let data: Vec<u32> = (0..count)
        .flat_map(|number| owned.slot(host, number))
        .skip(HEADER_WORDS as usize)
        .take(length as usize)
        .collect();
    let words = if large { words } else { data.len() as u32 };
    let message = Message {
        from: NodeId(field(first, FROM_MASK) as u16),
        tag,
        words,
    };
    let data = match *data {
        [source, flag] if large => Data::There {
            source: Addr(source),
            flag: Some(Addr(flag)).filter(|flag| flag.0 != 0),
        },
        _ => Data::Words(data),
    };
    Some((Came { message, data }, count))
}

impl Cell {
    /// Gives the process a ring buffer for the messages of other cells. The program must not use the memory of the
    /// buffer from now on.
    ///
    /// # Errors
    /// The process has a ring buffer already; `at` is not a multiple of the size; the buffer is not in user memory.
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
        if kernel.rings.of(context).is_some() {
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
            taken: Taken::default(),
        });
        Ok(())
    }

    /// Sends words of this cell's memory, and the word `tag` beside them, into the ring buffer of the same context in
    /// another cell. `source_flag` counts when the words have been read. More than `rendezvous_words` are read when the
    /// other cell receives them. A message that finds no ring there is reported to that cell's system.
    ///
    /// # Errors
    /// No such cell, more than 2^20 - 1 words, an address that is not a multiple of 4, a flag at 0.
    pub async fn send(
        &self,
        to: NodeId,
        tag: u32,
        source: Addr,
        words: u32,
        source_flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        if words > COMMAND_LENGTH_WORDS_MASK {
            return Err(CommandError::TooLong { words });
        }
        let (head, source, flag) = (self.head(to)?, aligned(source)?, flag_word(source_flag)?);
        let page = KIND_PUT | PAGE_SEND_MASK;
        let (layout, first) = (self.layout(), u32::from(self.id().0) << FROM_SHIFT | words);
        let received = layout.word(RECEIVED).0;
        if words <= self.config().rendezvous_words {
            let command = [head, words, received, flag, source, 0, first, tag];
            return self.issue(By::User, page, command).await;
        }
        let _turn = self.library.descriptors.hold().await;
        let (read, count) = (layout.word(DESCRIBED), next(&self.library.described));
        // Wait until the descriptor that was in this place before is on its way.
        self.wait_flag(read, count.wrapping_sub(DESCRIPTORS_MOST)).await?;
        let at = layout.word_of(DESCRIPTORS, count % DESCRIPTORS_MOST * DESCRIPTOR_WORDS);
        self.set_words(at, &[source, flag]);
        let command = [
            head,
            DESCRIPTOR_WORDS,
            received,
            read.0,
            at.0,
            0,
            first | LARGE_MASK,
            tag,
        ];
        self.issue(By::User, page, command).await
    }

    /// Waits for the next message of the process, and takes it. A message of more than `room` words stays in the ring.
    async fn arrived(&self, room: u32) -> Result<Came, RingError> {
        let kernel = &self.kernel;
        let context = PROCESS;
        kernel.rings.of(context).ok_or(RingError::None { context })?;
        loop {
            let count = self.library.received.get().wrapping_add(1);
            self.wait_flag(kernel.layout.word(RECEIVED), count).await?;
            if let Some(came) = self.taken(PROCESS, room).await? {
                return Ok(came);
            }
            // Another program of this cell was faster.
        }
    }

    /// Takes a message, and counts the messages of the process.
    async fn taken(&self, context: u16, room: u32) -> Result<Option<Came>, RingError> {
        self.kernel.cpu.work(Level::User, crate::Picos::ZERO).await;
        let came = self.kernel.take(context, room).await?;
        if context == PROCESS && came.is_some() {
            next(&self.library.received);
        }
        Ok(came)
    }

    /// GETs words of a large message; the words are at `dest` when this returns.
    async fn pull(
        &self,
        from: NodeId,
        source: Addr,
        words: u32,
        dest: Addr,
        flag: Option<Addr>,
    ) -> Result<(), CommandError> {
        let pulled = self.layout().word(PULLED);
        self.get(from, source, words, dest, Some(pulled), flag).await?;
        let count = next(&self.library.pulled);
        self.wait_flag(pulled, count).await
    }

    /// The message with its words. The words of a large message come in pieces.
    async fn whole(&self, came: Came) -> Result<Received, RingError> {
        let Message {
            from,
            tag,
            words: length,
        } = came.message;
        let words = match came.data {
            Data::Words(words) => words,
            Data::There { source, flag } => {
                let _turn = self.library.pulls.hold().await;
                let piece = self.layout().word(PIECE);
                let mut words = Vec::new();
                while (words.len() as u32) < length {
                    let done = words.len() as u32;
                    let part = (length - done).min(PIECE.count());
                    let last = flag.filter(|_| done + part == length);
                    let source = Addr(source.0.wrapping_add(4 * done));
                    self.pull(from, source, part, piece, last).await?;
                    words.extend(self.words(piece, part));
                }
                words
            }
        };
        Ok(Received { from, tag, words })
    }

    /// Waits for the next message to the process, and takes it.
    ///
    /// # Errors
    /// The process has no ring buffer; the message is not one of the library's.
    pub async fn recv(&self) -> Result<Received, RingError> {
        let came = self.arrived(u32::MAX).await?;
        self.whole(came).await
    }

    /// The same into this cell's memory from `dest` on, if there is room for all words. A large message goes there
    /// directly.
    ///
    /// # Errors
    /// As [`recv`](Cell::recv); a message of more words than `room`, which the next call finds again; no such room in
    /// user memory.
    pub async fn recv_into(&self, dest: Addr, room: u32) -> Result<Message, RingError> {
        self.place(dest, room)?;
        let came = self.arrived(room).await?;
        self.put_down(came, dest).await
    }

    /// The same, if a message has come.
    ///
    /// # Errors
    /// As [`recv_into`](Cell::recv_into).
    pub async fn try_recv_into(&self, dest: Addr, room: u32) -> Result<Option<Message>, RingError> {
        self.place(dest, room)?;
        match self.taken(PROCESS, room).await? {
            Some(came) => self.put_down(came, dest).await.map(Some),
            None => Ok(None),
        }
    }

    /// Checks that user memory has room for `words` words at `at`.
    fn place(&self, at: Addr, words: u32) -> Result<(), RingError> {
        let end = self.memory_end();
        if u64::from(aligned(at)?) + 4 * u64::from(words) > end.into() {
            return Err(RingError::Place { at, words, end });
        }
        Ok(())
    }

    async fn put_down(&self, came: Came, dest: Addr) -> Result<Message, RingError> {
        let Came { message, data } = came;
        match data {
            Data::Words(words) => self.set_words(dest, &words),
            Data::There { source, flag } => {
                let _turn = self.library.pulls.hold().await;
                self.pull(message.from, source, message.words, dest, flag).await?;
            }
        }
        Ok(message)
    }

    /// The next message in the ring buffer of a context, if there is one. The words of a large message are fetched
    /// in the current context of the cell.
    ///
    /// # Errors
    /// As [`recv`](Cell::recv).
    pub async fn recv_of(&self, context: u16) -> Result<Option<Received>, RingError> {
        match self.taken(context, u32::MAX).await? {
            Some(came) => self.whole(came).await.map(Some),
            None => Ok(None),
        }
    }

    /// How often the system had to find a place for a message.
    pub fn rings_served(&self) -> Served {
        self.kernel.rings.served.get()
    }
}
