//! Address translation: two TLBs, and tables in cell memory.

use crate::ap1000p::regs::*;

/// A request for a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// 12 bits.
    pub context: u16,
    /// Logical address in bytes.
    pub addr: u32,
    pub write: bool,
    /// With a supervisor's rights.
    pub system: bool,
}

/// Reasons for a missing translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Fault {
    Page = FAULT_PAGE as u8,
    Access = FAULT_ACCESS as u8,
    Outside = FAULT_OUTSIDE as u8,
    Table = FAULT_TABLE as u8,
    Bus = FAULT_BUS as u8,
}

impl Fault {
    pub const ALL: [Fault; 5] = [Fault::Page, Fault::Access, Fault::Outside, Fault::Table, Fault::Bus];
}

/// The memory reported an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError;

/// Sizes of pages, log2; a page of the first size is entered as pages of the second.
const PAGES: [u32; 3] = [24, 18, 12];

/// A cached translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    context: u16,
    /// The logical page's number.
    page: u32,
    /// Address of the page in cell memory.
    at: u32,
    access: u32,
}

/// Direct-mapped translations of pages of 2^`bits` bytes.
#[derive(Clone, Debug)]
struct Tlb {
    bits: u32,
    entries: Vec<Option<Entry>>,
}

impl Tlb {
    fn new(bits: u32, entries: usize) -> Tlb {
        Tlb {
            bits,
            entries: vec![None; entries],
        }
    }

    fn place(&mut self, addr: u32) -> &mut Option<Entry> {
        let page = (addr >> self.bits) as usize;
        let count = self.entries.len();
        &mut self.entries[page % count]
    }

    fn find(&mut self, lookup: &Lookup) -> Option<(u32, u32)> {
        let page = lookup.addr >> self.bits;
        let entry = (*self.place(lookup.addr)).filter(|e| e.page == page && e.context == lookup.context)?;
        Some((entry.at | (lookup.addr & ((1 << self.bits) - 1)), entry.access))
    }

    fn enter(&mut self, lookup: &Lookup, at: u32, access: u32) {
        *self.place(lookup.addr) = Some(Entry {
            context: lookup.context,
            page: lookup.addr >> self.bits,
            at,
            access,
        });
    }
}

/// Whether a page's access field allows it.
fn allows(access: u32, lookup: &Lookup) -> bool {
    // As the SPARC reference MMU does; nobody requests execution.
    let [read, write] = match (access, lookup.system) {
        (RIGHTS_READ | RIGHTS_READ_EXECUTE, _) => [true, false],
        (RIGHTS_WRITE | RIGHTS_ALL, _) => [true, true],
        (RIGHTS_SYSTEM_WRITE, system) => [true, system],
        (RIGHTS_SYSTEM_READ, true) => [true, false],
        (RIGHTS_SYSTEM_ALL, true) => [true, true],
        _ => [false, false],
    };
    if lookup.write { write } else { read }
}

#[derive(Clone, Debug)]
pub struct Mmu {
    /// Address of the context table in cell memory, a multiple of 16 KB.
    pub table: u32,
    /// Bits of an address in cell memory.
    mem_bits: u32,
    small: Tlb,
    large: Tlb,
    /// The context of the last walk, and the address of its first table.
    root: Option<(u16, u32)>,
}

impl Mmu {
    pub fn new(table: u32, mem_bits: u32) -> Mmu {
        Mmu {
            table,
            mem_bits,
            small: Tlb::new(12, 256),
            large: Tlb::new(18, 64),
            root: None,
        }
    }

    /// The address of the byte in cell memory. A miss reads the words of the tables, one after the other.
    ///
    /// # Errors
    /// The reason why the byte is missing or this use is forbidden.
    pub fn lookup(
        &mut self,
        lookup: &Lookup,
        mut read: impl FnMut(u32) -> Result<u32, ReadError>,
    ) -> Result<u32, Fault> {
        let mut found = self.small.find(lookup).or_else(|| self.large.find(lookup));
        if found.is_none() {
            self.walk(lookup, &mut read)?;
            found = self.small.find(lookup).or_else(|| self.large.find(lookup));
        }
        let (at, access) = found.expect("a walk without fault enters the page");
        if allows(access, lookup) {
            Ok(at)
        } else {
            Err(Fault::Access)
        }
    }

    fn walk(&mut self, lookup: &Lookup, read: &mut impl FnMut(u32) -> Result<u32, ReadError>) -> Result<(), Fault> {
        let kept = self.root.filter(|(context, _)| *context == lookup.context);
        let mut at = match kept {
            Some((_, at)) => at,
            None => {
                let word = read(self.table + 4 * u32::from(lookup.context)).map_err(|ReadError| Fault::Bus)?;
                let at = self.next_table(word, 0)?;
                self.root = Some((lookup.context, at));
                at
            }
        };
        for (level, bits) in PAGES.into_iter().enumerate() {
            // Tables lie at multiples of their size.
            let entries = if level == 0 { 256 } else { 64 };
            let index = (lookup.addr >> bits) % entries;
            let word = read(at / (4 * entries) * (4 * entries) + 4 * index).map_err(|ReadError| Fault::Bus)?;
            if word & TABLE_TYPE_MASK != ENTRY_PAGE {
                at = self.next_table(word, level + 1)?;
                continue;
            }
            let access = (word & TABLE_ACCESS_MASK) >> TABLE_ACCESS_SHIFT;
            let page = self.inside(u64::from(word & TABLE_PAGE_MASK) << 4)? >> bits << bits;
            match bits {
                24 => self.large.enter(lookup, page | (lookup.addr & 0xfc_0000), access),
                18 => self.large.enter(lookup, page, access),
                _ => self.small.enter(lookup, page, access),
            }
            return Ok(());
        }
        unreachable!("the last table leads to no other")
    }

    /// The address of the next table, from a word that is no page of this size. The context table has `level` 0.
    fn next_table(&self, word: u32, level: usize) -> Result<u32, Fault> {
        match word & TABLE_TYPE_MASK {
            ENTRY_NONE => Err(Fault::Page),
            ENTRY_TABLE if level < PAGES.len() => self.inside(u64::from(word & !TABLE_TYPE_MASK) << 4),
            _ => Err(Fault::Table),
        }
    }

    /// The address in cell memory of a physical address.
    fn inside(&self, physical: u64) -> Result<u32, Fault> {
        let of_cell = u64::from(CELL_SPACE) << (32 - self.mem_bits);
        if physical >> self.mem_bits == of_cell {
            Ok((physical & ((1 << self.mem_bits) - 1)) as u32)
        } else {
            Err(Fault::Outside)
        }
    }

    /// Forgets the entries for this address, of every context.
    pub fn demap(&mut self, addr: u32) {
        *self.small.place(addr) = None;
        *self.large.place(addr) = None;
        self.root = None;
    }

    /// Forgets everything.
    pub fn demap_all(&mut self) {
        *self = Mmu::new(self.table, self.mem_bits);
    }
}
