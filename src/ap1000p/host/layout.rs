//! The system's part at the top of each cell's memory, the page tables there, and the words and communication registers
//! of the library.

use crate::Addr;
use crate::ap1000p::golden::creg;
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::memory::Memory;

/// Bytes of the system at the top: spill region, overflow of full ring buffers, tables, the library's words.
pub const SYSTEM_BYTES: u32 = SPILL_BYTES_MAX + TABLES_BYTES;
/// The first logical address of the pages on demand, which are mapped at their first use. It stands for the cell's
/// byte 0.
pub const DEMAND: u32 = 0x1000_0000;
/// Bytes from [`DEMAND`] on that can be mapped, at most: 16 MB.
pub const DEMAND_BYTES: u32 = 1 << 24;
/// The context of the only process; 12 bits.
pub const PROCESS: u16 = 1;

const SPILL_BYTES_MAX: u32 = SPILL_UNITS * SPILL_UNIT * SPILL_BYTES;
const TABLES_BYTES: u32 = 0x1_0000;

/// Consecutive numbers, of words in memory or of registers.
#[derive(Clone, Copy)]
pub(super) struct Part {
    first: u32,
    count: u32,
}

impl Part {
    /// The number at `index` in the part.
    pub fn at(self, index: u32) -> u32 {
        assert!(index < self.count, "{index} of {}", self.count);
        self.first + index
    }

    pub const fn first(self) -> u32 {
        self.first
    }

    pub const fn count(self) -> u32 {
        self.count
    }
}

/// Whether each part ends before the next one of the list begins, and the last one at `end` at most.
const fn apart(parts: &[Part], end: u32) -> bool {
    let (mut at, mut from) = (0, 0);
    while at < parts.len() {
        if parts[at].first < from || parts[at].count == 0 {
            return false;
        }
        from = parts[at].first + parts[at].count;
        at += 1;
    }
    from <= end
}

/// A table of parts, in the order of their numbers. Parts that overlap do not compile.
macro_rules! parts {
    ($end:expr; $($(#[$doc:meta])* $name:ident: $first:expr, $count:expr;)+) => {
        $($(#[$doc])* pub(super) const $name: Part = Part { first: $first, count: $count };)+
        const _: () = assert!(apart(&[$($name),+], $end), "parts that meet, or are not in order");
    };
}

// The library's words, by number in `Layout::word`.
parts! {
    WORDS;
    /// Counts PUTs that are acknowledged.
    ACKNOWLEDGED: 0, 1;
    /// The old value of an atomic operation's word.
    ATOMIC_RESULT: 1, 1;
    /// Counts atomic operations that are done.
    ATOMIC_FLAG: 2, 1;
    /// Flags of a barrier by flags.
    ARRIVED: 3, 1;
    ROW_RELEASED: 4, 1;
    RELEASED: 5, 1;
    /// Counts messages in the process' ring buffer.
    RECEIVED: 6, 1;
    /// Counts GETs of large messages.
    PULLED: 7, 1;
    /// Counts copies fetched for Write Through Pages.
    FETCHED: 8, 1;
    /// Counts requests of other cells to forget copies.
    ASKED: 9, 1;
    /// Counts requests of this cell to forget copies that are done.
    FORGOTTEN: 10, 1;
    /// The request of this cell that is under way.
    REQUEST: 11, 1;
    /// Counts descriptors of large messages that are on their way.
    DESCRIBED: 12, 1;
    /// Values on their way to a partner's register, one word for each library register.
    PARTIAL: 16, BANKS.count;
    /// Descriptors of large messages; they are sent from here.
    DESCRIPTORS: 64, 16 * DESCRIPTOR_WORDS;
    /// The request of each cell to forget a copy, by the cell's number: a word of WTP_UPDATE, or 0 for none.
    REQUESTS: 0x400, 1024;
    /// A piece of a large message, on its way to a program that has no place for it.
    PIECE: 0x800, 0x800;
}

/// How many words the library may have.
const WORDS: u32 = 0x1000;
/// The words of a descriptor: the address of a large message's words, and the flag that counts when they have been
/// read.
pub(super) const DESCRIPTOR_WORDS: u32 = 2;

// Communication registers: the user's, and two banks of the library.
parts! {
    creg::WORDS as u32;
    USERS: 0, 96;
    BANKS: 96, 2 * BANK;
}

/// Registers of a bank.
pub(super) const BANK: u32 = 16;

// A bank has the values of partners, one for each step of a reduction over up to 2^14 cells. It also has the value of a
// cell that takes part through another cell, and the result back to that cell.
parts! {
    BANK;
    STEPS: 0, 14;
    EXTRA: 14, 1;
    RESULT: 15, 1;
}

/// The first communication register of the library; the registers below it are the user's.
pub const LIBRARY_REGISTERS: u8 = (USERS.first + USERS.count) as u8;
const _: () = assert!(LIBRARY_REGISTERS as u32 == BANKS.first);

/// Bytes of a block: the memory that the system gives at a time to the overflow of a full ring buffer.
pub(super) const BLOCK_BYTES: u32 = 1024;

/// Addresses of the system's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// User memory is below.
    pub user_end: u32,
    /// A multiple of 512 KB.
    pub spill: u32,
    /// Units of the spill region, [`SPILL_UNIT`] elements each.
    pub spill_units: u32,
    /// The first block of memory for the overflow of full ring buffers, behind the spill region.
    pub overflow: u32,
    /// The number of these blocks.
    pub overflow_blocks: u32,
    /// The context table; the other tables follow.
    pub tables: u32,
    /// The library's words, for counts and exchanges.
    pub words: u32,
}

/// A word of a table that points to this address in cell memory.
fn entry(addr: u32, kind: u32) -> u32 {
    let physical = u64::from(CELL_SPACE) << 32 | u64::from(addr);
    (physical >> 4) as u32 & !TABLE_TYPE_MASK | kind
}

impl Layout {
    /// `None`: the memory is too small, or not a multiple of 512 KB.
    pub fn new(config: &Config) -> Option<Layout> {
        let spill = config.mem_bytes.checked_sub(SPILL_BYTES_MAX)?;
        let tables = spill.checked_sub(TABLES_BYTES)?;
        let spill_units = SPILL_UNITS - config.overflow_bytes.div_ceil(SPILL_UNIT * SPILL_BYTES);
        spill.is_multiple_of(SPILL_BYTES_MAX).then_some(Layout {
            user_end: tables,
            spill,
            spill_units,
            overflow: spill + spill_units * SPILL_UNIT * SPILL_BYTES,
            overflow_blocks: config.overflow_bytes / BLOCK_BYTES,
            tables,
            words: tables + 0xc000,
        })
    }

    /// The least `mem_bytes` that leaves `user` bytes to the user.
    pub fn mem_bytes_for(user: u32) -> u32 {
        (user + SYSTEM_BYTES).next_multiple_of(SPILL_BYTES_MAX)
    }

    /// The first word of a part of the library's words.
    pub(super) fn word(&self, part: Part) -> Addr {
        self.word_of(part, 0)
    }

    /// The word at `index` of a part of the library's words.
    pub(super) fn word_of(&self, part: Part, index: u32) -> Addr {
        Addr(self.words + 4 * part.at(index))
    }

    /// The word of the context table for this context, 12 bits.
    pub fn context(&self, number: u32) -> Addr {
        Addr(self.tables + 4 * number)
    }

    fn first(&self) -> u32 {
        self.tables + 0x4000
    }

    /// The table of pages of 256 KB from [`DEMAND`].
    fn second(&self) -> u32 {
        self.tables + 0x4400
    }

    /// The table's word for the page on demand that has `addr`.
    fn page(&self, addr: u32) -> Addr {
        Addr(self.tables + 0x8000 + 4 * ((addr - DEMAND) >> 12))
    }

    /// Writes the tables. Pages of 16 MB map the process's logical addresses from 0 to the same addresses of its
    /// memory. No page on demand is mapped yet.
    pub fn write_tables(&self, memory: &mut Memory) {
        let mut put =
            |at: u32, word: u32| assert!(memory.write(Addr(at), &word.to_le_bytes()), "the tables are in memory");
        put(self.context(PROCESS.into()).0, entry(self.first(), ENTRY_TABLE));
        for large in 0..4 {
            let page = entry(large << 24, ENTRY_PAGE) | RIGHTS_ALL << TABLE_ACCESS_SHIFT;
            put(self.first() + 4 * large, page);
        }
        put(self.first() + 4 * (DEMAND >> 24), entry(self.second(), ENTRY_TABLE));
        for part in 0..64 {
            put(
                self.second() + 4 * part,
                entry(self.tables + 0x8000 + 256 * part, ENTRY_TABLE),
            );
        }
    }

    /// Maps the page on demand that has `addr`. False: `addr` is in no such page, or no user memory is behind it.
    pub fn map(&self, memory: &mut Memory, addr: u32) -> bool {
        let Some(at) = addr
            .checked_sub(DEMAND)
            .filter(|at| *at < self.user_end.min(DEMAND_BYTES))
        else {
            return false;
        };
        let page = entry(at & !0xfff, ENTRY_PAGE) | RIGHTS_ALL << TABLE_ACCESS_SHIFT;
        memory.write(self.page(addr), &page.to_le_bytes())
    }

    /// Takes the mapping of such a page away. False: there is no such page.
    pub fn unmap(&self, memory: &mut Memory, addr: u32) -> bool {
        let is_one = addr.checked_sub(DEMAND).is_some_and(|at| at < DEMAND_BYTES);
        is_one && memory.write(self.page(addr), &ENTRY_NONE.to_le_bytes())
    }
}
