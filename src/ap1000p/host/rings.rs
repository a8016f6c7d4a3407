//! The ring buffers of a cell, as its system knows them: the context of each ring, its set of registers if it has one,
//! and the slots that the system took out of full rings.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::layout::{BLOCK_BYTES, Layout};
use crate::Addr;
use crate::ap1000p::golden::ring::{Ring, SLOT_WORDS};
use crate::ap1000p::regs::RING_BYTES;
use crate::harness::exec::Host;
use crate::harness::memory::Memory;
use crate::harness::sync::Lock;

const BLOCK_SLOTS: u32 = BLOCK_BYTES / RING_BYTES;

/// The slots that the system has taken out of a full ring, in blocks of the cell's memory, the oldest first.
#[derive(Default)]
pub(super) struct Taken {
    /// The addresses of the blocks.
    blocks: VecDeque<u32>,
    /// Slots of the first block that are free again.
    gone: u32,
    pub slots: u32,
}

impl Taken {
    /// The address of a slot.
    fn at(&self, number: u32) -> u32 {
        let place = self.gone + number;
        self.blocks[(place / BLOCK_SLOTS) as usize] + place % BLOCK_SLOTS * RING_BYTES
    }

    /// Adds a slot, and returns its address. `None`: there is no free block.
    fn push(&mut self, free: &mut Vec<u32>) -> Option<u32> {
        if (self.gone + self.slots) as usize == self.blocks.len() * BLOCK_SLOTS as usize {
            self.blocks.push_back(free.pop()?);
        }
        self.slots += 1;
        Some(self.at(self.slots - 1))
    }

    /// Gives up the oldest slots.
    pub fn drop_first(&mut self, slots: u32, free: &mut Vec<u32>) {
        self.slots -= slots;
        self.gone += slots;
        while self.gone >= BLOCK_SLOTS {
            self.gone -= BLOCK_SLOTS;
            free.extend(self.blocks.pop_front());
        }
        if self.slots == 0 {
            self.gone = 0;
            free.extend(self.blocks.drain(..));
        }
    }
}

/// A ring of a context.
pub(super) struct Owned {
    /// While the ring is in a set, `write` is stale; `read` is not.
    pub ring: Ring,
    pub set: Option<usize>,
    /// These slots are older than the slots in the ring.
    pub taken: Taken,
}

/// Bytes of a slot.
fn slot_bytes(host: &Host, at: u32) -> [u8; RING_BYTES as usize] {
    let read = |memory: &mut Memory| memory.read(Addr(at), RING_BYTES as usize).map(<[u8]>::to_vec);
    let bytes = host.memory(read).expect("rings are in memory");
    bytes.try_into().expect("a slot")
}

impl Owned {
    /// The address of a slot in the ring.
    fn at(&self, number: u32) -> u32 {
        let inner = self.ring.slots() - 1;
        (self.ring.write & !inner | number & inner) * RING_BYTES
    }

    /// Moves the oldest slot in the ring behind the taken slots. False: the ring has no slot, or there is no free
    /// block.
    pub fn empty(&mut self, host: &Host, free: &mut Vec<u32>) -> bool {
        if self.ring.used() == 0 {
            return false;
        }
        let Some(to) = self.taken.push(free) else { return false };
        let bytes = slot_bytes(host, self.at(self.ring.read));
        let written = host.memory(|memory| memory.write(Addr(to), &bytes));
        assert!(written, "blocks are in memory");
        self.ring.read = (self.ring.read + 1) & (self.ring.slots() - 1);
        true
    }

    /// The words of a slot. Numbers count the taken slots first, then the slots in the ring; the oldest slot is 0.
    pub fn slot(&self, host: &Host, number: u32) -> [u32; SLOT_WORDS as usize] {
        let at = match number.checked_sub(self.taken.slots) {
            None => self.taken.at(number),
            Some(number) => self.at(self.ring.read + number),
        };
        let bytes = slot_bytes(host, at);
        let word = |n: usize| u32::from_le_bytes(bytes[4 * n..4 * n + 4].try_into().expect("four bytes"));
        std::array::from_fn(word)
    }
}

/// The rings of a cell.
pub(super) struct Rings {
    pub owned: RefCell<Vec<Owned>>,
    /// The addresses of the free blocks, for slots taken out of full rings.
    pub free: RefCell<Vec<u32>>,
    /// The set that the next ring gets.
    pub turn: Cell<usize>,
    /// Registers and `owned` change together, so the handler and the programs take turns.
    pub registers: Lock,
    pub served: Cell<Served>,
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
    pub fn new(layout: &Layout) -> Rings {
        let block = |number: u32| layout.overflow + number * BLOCK_BYTES;
        Rings {
            owned: RefCell::default(),
            free: RefCell::new((0..layout.overflow_blocks).rev().map(block).collect()),
            turn: Cell::new(0),
            registers: Lock::new("another access of the ring buffers' registers"),
            served: Cell::default(),
        }
    }

    /// The index in `owned` of this context's ring.
    pub fn of(&self, context: u16) -> Option<usize> {
        let owned = self.owned.borrow();
        owned.iter().position(|owner| owner.ring.context == context)
    }

    pub fn count(&self, misses: u32, full: u32) {
        let served = self.served.get();
        self.served.set(Served {
            misses: served.misses + misses,
            full: served.full + full,
        });
    }
}
