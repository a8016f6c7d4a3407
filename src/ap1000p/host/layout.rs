//! What the system keeps at the top of each cell's memory, and the page tables there.

use crate::Addr;
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::memory::Memory;

/// Bytes of the system at the top: spill region, tables, the library's words.
pub const SYSTEM_BYTES: u32 = SPILL_BYTES_MAX + TABLES_BYTES;
/// Logical addresses whose pages are mapped when they are first used: the first one is the cell's byte 0.
pub const DEMAND: u32 = 0x1000_0000;
/// Bytes that can be reached there, a page of 16 MB at most.
pub const DEMAND_BYTES: u32 = 1 << 24;
/// The context of the only process; 12 bits.
pub const PROCESS: u16 = 1;

const SPILL_BYTES_MAX: u32 = SPILL_UNITS * SPILL_UNIT * SPILL_BYTES;
const TABLES_BYTES: u32 = 0x1_0000;
/// A page's access field: user and system may read and write.
const EVERYTHING: u32 = 3;

/// Addresses of the system's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// User memory is below.
    pub user_end: u32,
    /// A multiple of 512 KB.
    pub spill: u32,
    /// Of the context table; the others follow.
    pub tables: u32,
    /// Words that the library counts and exchanges with.
    pub words: u32,
}

/// A word of a table that points to this address in cell memory.
fn entry(addr: u32, kind: u32) -> u32 {
    let physical = u64::from(CELL_SPACE) << 32 | u64::from(addr);
    (physical >> 4) as u32 & !TABLE_TYPE_MASK | kind
}

impl Layout {
    /// `None`: the memory is not a multiple of 512 KB.
    pub fn new(config: &Config) -> Option<Layout> {
        let spill = config.mem_bytes.checked_sub(SPILL_BYTES_MAX)?;
        let tables = spill.checked_sub(TABLES_BYTES)?;
        spill.is_multiple_of(SPILL_BYTES_MAX).then_some(Layout {
            user_end: tables,
            spill,
            tables,
            words: tables + 0xc000,
        })
    }

    /// A word of the library, by number.
    pub fn word(&self, number: u32) -> Addr {
        assert!(number < 0x1000);
        Addr(self.words + 4 * number)
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

    /// The word of the table for the page of `addr`, of those on demand.
    fn page(&self, addr: u32) -> Addr {
        Addr(self.tables + 0x8000 + 4 * ((addr - DEMAND) >> 12))
    }

    /// Writes the tables: the process sees its memory as it is, in pages of 16 MB; of the pages on demand none is there.
    pub fn write_tables(&self, memory: &mut Memory) {
        let mut put =
            |at: u32, word: u32| assert!(memory.write(Addr(at), &word.to_le_bytes()), "the tables are in memory");
        put(self.context(PROCESS.into()).0, entry(self.first(), ENTRY_TABLE));
        for large in 0..4 {
            let page = entry(large << 24, ENTRY_PAGE) | EVERYTHING << TABLE_ACCESS_SHIFT;
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

    /// Maps the page on demand that `addr` is in; false if it is none, or no user memory is behind it.
    pub fn map(&self, memory: &mut Memory, addr: u32) -> bool {
        let Some(at) = addr
            .checked_sub(DEMAND)
            .filter(|at| *at < self.user_end.min(DEMAND_BYTES))
        else {
            return false;
        };
        let page = entry(at & !0xfff, ENTRY_PAGE) | EVERYTHING << TABLE_ACCESS_SHIFT;
        memory.write(self.page(addr), &page.to_le_bytes())
    }
}
