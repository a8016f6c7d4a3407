//! Message exchange over remote indirect write: the sender names a cell of the receiver, and the cell says where the
//! data go. With MESSAGE the firmware changes the header and the hardware goes on; with SOFT the firmware does all.
//!
//! A posted area takes the first packet of a message, its sender's system buffer all others. A message is announced by
//! an AOTF store behind its data, and the next one follows when it has been taken. One that failed is announced without
//! bytes, and the receiver forgets what came of it.

use std::cell::{Cell, RefCell};
use std::mem;

use super::layout::{self, SYSTEM_BYTES, common};
use super::processor::Store;
use super::{CommError, Message, Node};
use crate::dimmnet1::firmware::{
    CELL_FREE, CELL_OVERFLOW, CELL_POINTER, CELL_SYSTEM, COMMAND_BYTES, SOFT_AREA, SOFT_NUMBER, SOFT_ROOM,
};
use crate::dimmnet1::golden::packet::Place;
use crate::dimmnet1::regs::*;
use crate::harness::cpu::at_rate;
use crate::{Addr, NodeId};

/// A receive command: blocks of memory, one behind the other in a packet's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub to: Addr,
    /// Bytes of a block, a multiple of 8.
    pub length: u16,
    pub count: u8,
    /// From block to block.
    pub stride: u32,
    /// Number of the next command.
    pub next: Option<u32>,
}

/// By node: messages sent to it, and taken from it.
pub(super) struct Messages {
    sent: RefCell<Vec<u32>>,
    taken: RefCell<Vec<u32>>,
    /// By node: the area for the first packet of its next message.
    posted: RefCell<Vec<Option<Addr>>>,
    /// By node: its next message.
    incoming: RefCell<Vec<Incoming>>,
    numbers: Cell<u32>,
}

impl Messages {
    pub fn new(nodes: usize) -> Messages {
        Messages {
            sent: RefCell::new(vec![0; nodes]),
            taken: RefCell::new(vec![0; nodes]),
            posted: RefCell::new(vec![None; nodes]),
            incoming: RefCell::new((0..nodes).map(|_| Incoming::default()).collect()),
            numbers: Cell::new(0),
        }
    }
}

/// Stores that leave a message cell with nothing in its system buffer, and nothing posted.
pub(super) fn empty_cell(source: NodeId) -> [Store; 3] {
    let cell = LLCM + common::cell(common::CELLS, source);
    let system = system(source);
    [
        Store::word(cell + CELL_FREE, free_and_limit(source)),
        Store::word(cell + CELL_SYSTEM, system >> 32),
        Store::word(cell + CELL_POINTER, system),
    ]
}

/// The address of the system buffer's first byte.
fn system(source: NodeId) -> u64 {
    Place::new(layout::SYSTEM, layout::system_offset(source).into()).word()
}

fn free_and_limit(source: NodeId) -> u64 {
    let free = layout::system_offset(source);
    u64::from(free + SYSTEM_BYTES) << 32 | u64::from(free)
}

/// Where the packets of a message lie in a system buffer, each behind the one before, none across a page.
#[derive(Default)]
struct Packets {
    free: u32,
}

impl Packets {
    /// The place of the next packet; `None`: no room.
    fn next(&mut self, bytes: u32) -> Option<u32> {
        let in_page = self.free % SIZE_PAGE + bytes <= SIZE_PAGE;
        let at = if in_page {
            self.free
        } else {
            self.free.next_multiple_of(SIZE_PAGE)
        };
        let end = at + bytes.next_multiple_of(8);
        (end <= SYSTEM_BYTES).then(|| {
            self.free = end;
            at
        })
    }
}

/// A message that comes in.
#[derive(Default)]
struct Incoming {
    /// Its length, once announced.
    bytes: Option<u32>,
    packets: Packets,
    /// What has been copied out of the system buffer.
    data: Vec<u8>,
}

impl Node {
    /// Sends a message; returns when it is at the receiver. The next one to the same node waits until this was taken.
    ///
    /// # Errors
    /// As of [`send`](Node::send), and a message before that is not taken.
    pub async fn send_message(&self, dst: NodeId, src: Addr, bytes: u32) -> Result<(), CommError> {
        self.check_node(dst)?;
        let sent = self.messages.sent.borrow()[dst.index()];
        let taken = common::of(common::TAKEN, dst);
        let node = self.id();
        let is_taken = self.poll_common(taken, |count| count >= sent.into()).await;
        is_taken.ok_or(CommError::NotTaken { node, dst })?;
        let cell = common::cell(common::CELLS, node);
        let message = Message {
            kind: TYPE_MESSAGE,
            number: self.number(),
            ..Message::push(dst, Place::new(layout::COMMON, cell.into()))
        };
        self.check_message(&message, src, bytes)?;
        let result = self.send(&message.numbered(self.config().f_seq), src, bytes).await;
        self.messages.sent.borrow_mut()[dst.index()] = sent + 1;
        let bytes = if result.is_ok() { bytes } else { 0 };
        let announced = u64::from(sent + 1) << 32 | u64::from(bytes);
        let word = common::of(common::MESSAGES, node);
        self.aotf_write(dst, word, 8, announced).await?;
        result
    }

    fn number(&self) -> u32 {
        let number = self.messages.numbers.get() + 1;
        self.messages.numbers.set(number);
        number
    }

    /// The next message from a node.
    ///
    /// # Errors
    /// None comes for as long as the library waits.
    pub async fn receive(&self, source: NodeId) -> Result<Vec<u8>, CommError> {
        self.receive_and_post(source, None).await
    }

    /// The same, and the area for the first packet of the message after it. The area is posted before the sender may
    /// send that one, so that no packet of another is under way.
    ///
    /// # Errors
    /// As of [`receive`](Node::receive), and no such area.
    pub async fn receive_and_post(&self, source: NodeId, next: Option<Addr>) -> Result<Vec<u8>, CommError> {
        self.check_node(source)?;
        if let Some(addr) = next {
            let bytes = SIZE_BOTF;
            let in_page = addr.0 % SIZE_PAGE + bytes <= SIZE_PAGE;
            if !self.layout.is_user(addr, bytes) || !addr.0.is_multiple_of(8) || !in_page {
                return Err(CommError::NotUser { addr, bytes });
            }
        }
        let bytes = self.message_bytes(source).await?;
        let mut incoming = mem::take(&mut self.messages.incoming.borrow_mut()[source.index()]);
        let posted = mem::replace(&mut self.messages.posted.borrow_mut()[source.index()], next);
        if let Some(to) = posted {
            // The posted area took the first packet, before all that are in the system buffer.
            let first = self.read(to, bytes.min(SIZE_BOTF));
            incoming.data.splice(0..0, first);
        }
        self.take_rest(source, &mut incoming, bytes).await;
        self.taken(source, next).await?;
        Ok(incoming.data)
    }

    /// Waits for the next message from a node, and gives its length. The message stays.
    ///
    /// # Errors
    /// None comes for as long as the library waits.
    pub async fn message_bytes(&self, source: NodeId) -> Result<u32, CommError> {
        self.check_node(source)?;
        let mut incoming = mem::take(&mut self.messages.incoming.borrow_mut()[source.index()]);
        let bytes = self.announced(source, &mut incoming).await;
        self.messages.incoming.borrow_mut()[source.index()] = incoming;
        bytes
    }

    /// Waits for the announcement of the next message, and makes room meanwhile; its bytes.
    async fn announced(&self, src: NodeId, incoming: &mut Incoming) -> Result<u32, CommError> {
        if let Some(bytes) = incoming.bytes {
            return Ok(bytes);
        }
        let node = self.id();
        let mut next = self.messages.taken.borrow()[src.index()] + 1;
        let deadline = self.processor.deadline();
        loop {
            let word = self.processor.llcm_load(common::of(common::MESSAGES, src)).await;
            if word >> 32 == u64::from(next) {
                let bytes = word as u32;
                if bytes > 0 {
                    incoming.bytes = Some(bytes);
                    return Ok(bytes);
                }
                *incoming = Incoming::default();
                let posted = self.messages.posted.borrow()[src.index()];
                self.taken(src, posted).await?;
                next += 1;
            }
            let cell = common::cell(common::CELLS, src);
            let free = self.processor.llcm_load(cell + CELL_FREE).await as u32;
            if free == CELL_OVERFLOW {
                // All whole packets that have room came before the one that had none.
                while self.take_packet(src, incoming, SIZE_BOTF).await {}
                incoming.packets = Packets::default();
                let stored = free_and_limit(src);
                self.processor.llcm_store(cell + CELL_FREE, stored).await;
            }
            if self.now() > deadline {
                return Err(CommError::NoMessage { node, src });
            }
        }
    }

    /// Copies the next packet out of the system buffer; false if there is none.
    async fn take_packet(&self, source: NodeId, incoming: &mut Incoming, bytes: u32) -> bool {
        let Some(at) = incoming.packets.next(bytes) else {
            return false;
        };
        let from = self.layout.system_buffer(source).offset(at);
        self.compute(at_rate(bytes, self.config().copy_rate)).await;
        incoming.data.extend(self.read(from, bytes));
        true
    }

    async fn take_rest(&self, source: NodeId, incoming: &mut Incoming, bytes: u32) {
        while let Some(left) = bytes.checked_sub(incoming.data.len() as u32).filter(|left| *left > 0) {
            if !self.take_packet(source, incoming, left.min(SIZE_BOTF)).await {
                return;
            }
        }
    }

    /// The message was taken: its buffer is free, the next area is posted, and the sender is told.
    async fn taken(&self, source: NodeId, next: Option<Addr>) -> Result<(), CommError> {
        let cell = LLCM + common::cell(common::CELLS, source);
        let post = |to: Addr| Place::new(layout::MEMORY, to.0.into()).word();
        let posted = next.map(|to| Store::word(cell + CELL_POINTER, post(to)));
        let stores = empty_cell(source).into_iter().chain(posted);
        self.processor.stores(self.config().store, stores).await;
        let count = self.messages.taken.borrow()[source.index()] + 1;
        self.messages.taken.borrow_mut()[source.index()] = count;
        let own = common::of(common::TAKEN, self.id());
        self.aotf_write(source, own, 8, count.into()).await
    }

    /// The message that [`post_soft`](Node::post_soft) of `dst` waits for, all in software there. The rest is as of
    /// [`send`](Node::send).
    pub fn soft_message(&self, dst: NodeId) -> Message {
        let cell = common::cell(common::SOFT_CELLS, self.id());
        Message {
            kind: TYPE_SOFT,
            number: self.number(),
            ..Message::push(dst, Place::new(layout::COMMON, cell.into()))
        }
    }

    /// Posts an area for a message of type SOFT.
    ///
    /// # Errors
    /// No such area.
    pub async fn post_soft(&self, source: NodeId, to: Addr, room: u32) -> Result<(), CommError> {
        self.check_node(source)?;
        if !self.layout.is_user(to, room) || !to.0.is_multiple_of(8) {
            return Err(CommError::NotUser { addr: to, bytes: room });
        }
        let cell = LLCM + common::cell(common::SOFT_CELLS, source);
        let stores = [
            Store::word(cell + SOFT_AREA, Place::new(layout::MEMORY, to.0.into()).word()),
            Store::word(cell + SOFT_ROOM, room.into()),
            Store::word(cell + SOFT_NUMBER, 0),
        ];
        self.processor.stores(self.config().store, stores).await;
        Ok(())
    }

    /// Waits until a posted message of type SOFT is there; its bytes.
    ///
    /// # Errors
    /// None comes for as long as the library waits.
    pub async fn wait_soft(&self, source: NodeId) -> Result<u32, CommError> {
        self.check_node(source)?;
        let cell = common::cell(common::SOFT_CELLS, source);
        let done = self.poll_common(cell + SOFT_NUMBER, |word| word >> 32 != 0).await;
        let (node, src) = (self.id(), source);
        done.map(|word| (word >> 32) as u32)
            .ok_or(CommError::NoMessage { node, src })
    }

    /// A packet that a chain of `dst` scatters, from receive command `number` on. The rest is as of
    /// [`send`](Node::send).
    pub fn chain_message(&self, dst: NodeId, number: u32) -> Message {
        Message {
            kind: TYPE_CHAIN,
            ..Message::push(dst, Place::new(layout::COMMON, common::command(number).into()))
        }
    }

    /// Puts a receive command of this node into number `number`. It takes the room of three pointers, from number
    /// 3 * `number` on.
    ///
    /// # Errors
    /// No such command.
    pub async fn set_command(&self, number: u32, command: Command) -> Result<(), CommError> {
        let offset = common::command(number);
        if offset > common::POINTERS_END - COMMAND_BYTES {
            let bytes = COMMAND_BYTES as u8;
            return Err(CommError::NoWord { offset, bytes });
        }
        let shape = u64::from(command.length) << CHAIN_SHAPE_LENGTH_SHIFT
            | u64::from(command.count) << CHAIN_SHAPE_COUNT_SHIFT
            | u64::from(CHAIN_KIND_WRITE) << CHAIN_SHAPE_KIND_SHIFT
            | u64::from(command.stride) << CHAIN_SHAPE_STRIDE_SHIFT;
        let place = Place::new(layout::MEMORY, command.to.0.into()).word();
        let next = command.next.map_or(u32::MAX, common::command);
        for (word, value) in [(CHAIN_PLACE, place), (CHAIN_SHAPE, shape), (CHAIN_NEXT, next.into())] {
            self.processor.llcm_store(offset + word, value).await;
        }
        Ok(())
    }

    /// Puts a place in memory into pointer number `number` of this node, for remote indirect writes.
    ///
    /// # Errors
    /// No such pointer.
    pub async fn set_pointer(&self, number: u32, to: Addr) -> Result<(), CommError> {
        let offset = common::POINTERS + 8 * number;
        if offset >= common::POINTERS_END {
            return Err(CommError::NoWord { offset, bytes: 8 });
        }
        let place = Place::new(layout::MEMORY, to.0.into());
        self.processor.llcm_store(offset, place.word()).await;
        Ok(())
    }
}
