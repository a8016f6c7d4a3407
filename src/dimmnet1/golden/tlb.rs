//! Golden model of `dimmnet1_tlb`: RVATLB and PATLB.

use crate::dimmnet1::regs;

/// What is to be done with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Write,
    Read,
    /// Written by the Mini-OTF receiver.
    Otf,
    /// Read and written by the matcher.
    Cell,
}

/// Bytes of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    pub pgid: u16,
    pub region: u16,
    /// 48 bits.
    pub offset: u64,
    pub bytes: u16,
    pub access: Access,
}

/// What a lookup gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A physical address.
    At(u32),
    /// A code of Reasons.
    Refused(u32),
    /// RVATLB has no such region; its key.
    NoRegion(u64),
    /// PATLB has no such page; its key.
    NoPage(u64),
}

/// Physical address of LLCM.
pub const LLCM: u32 = 0xF000_0000;

#[derive(Clone, Copy, Debug)]
struct Region {
    key: u64,
    base: u64,
    bound: u64,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    key: u64,
    frame: u64,
}

const ENTRIES: usize = regs::SIZE_TLB as usize;
const PAGE: u64 = regs::SIZE_PAGE as u64;

/// Both tables.
#[derive(Clone, Debug)]
pub struct Tlb {
    regions: [Option<Region>; ENTRIES],
    pages: [Option<Page>; ENTRIES],
}

impl Default for Tlb {
    fn default() -> Tlb {
        Tlb {
            regions: [None; ENTRIES],
            pages: [None; ENTRIES],
        }
    }
}

/// The key of a region, as it is written.
pub fn region_key(pgid: u16, region: u16) -> u64 {
    regs::RVA_KEY_VALID_MASK
        | u64::from(pgid) << regs::RVA_KEY_PGID_SHIFT
        | u64::from(region) << regs::RVA_KEY_REGION_SHIFT
}

/// The key of a virtual page, as it is written.
pub fn page_key(pgid: u16, page: u64) -> u64 {
    regs::PA_KEY_VALID_MASK
        | u64::from(pgid) << regs::PA_KEY_PGID_SHIFT
        | page << regs::PA_KEY_PAGE_SHIFT & regs::PA_KEY_PAGE_MASK
}

fn region_index(key: u64) -> usize {
    ((key >> regs::RVA_KEY_REGION_SHIFT ^ key >> regs::RVA_KEY_PGID_SHIFT) % ENTRIES as u64) as usize
}

fn page_index(key: u64) -> usize {
    ((key >> regs::PA_KEY_PAGE_SHIFT ^ key >> regs::PA_KEY_PGID_SHIFT) % ENTRIES as u64) as usize
}

impl Tlb {
    /// Words of an entry of RVATLB; other bits than those of its fields do not count.
    pub fn write_region(&mut self, key: u64, base: u64, bound: u64) {
        let own = key & (regs::RVA_KEY_VALID_MASK | regs::RVA_KEY_PGID_MASK | regs::RVA_KEY_REGION_MASK);
        let entry = Region {
            key: own,
            base,
            bound: bound & regs::RVA_BOUND_BYTES_MASK,
        };
        self.regions[region_index(own)] = (own & regs::RVA_KEY_VALID_MASK != 0).then_some(entry);
    }

    /// Words of an entry of PATLB.
    pub fn write_page(&mut self, key: u64, frame: u64) {
        let own = key & (regs::PA_KEY_VALID_MASK | regs::PA_KEY_PGID_MASK | regs::PA_KEY_PAGE_MASK);
        let entry = Page { key: own, frame };
        self.pages[page_index(own)] = (own & regs::PA_KEY_VALID_MASK != 0).then_some(entry);
    }

    pub fn flush(&mut self) {
        *self = Tlb::default();
    }

    /// RVATLB of this one, PATLB of another.
    #[must_use]
    pub fn with_pages_of(&self, other: &Tlb) -> Tlb {
        Tlb {
            regions: self.regions,
            pages: other.pages,
        }
    }

    /// RVATLB alone.
    #[must_use]
    pub fn without_pages(&self) -> Tlb {
        self.with_pages_of(&Tlb::default())
    }

    pub fn look(&self, lookup: &Lookup) -> Found {
        let key = region_key(lookup.pgid, lookup.region);
        let Some(region) = self.regions[region_index(key)].filter(|region| region.key == key) else {
            return Found::NoRegion(key);
        };
        let has = |mask: u64| region.base & mask != 0;
        let in_llcm = has(regs::RVA_BASE_LLCM_MASK);
        let allowed = match lookup.access {
            Access::Write => has(regs::RVA_BASE_WRITE_MASK),
            Access::Read => has(regs::RVA_BASE_READ_MASK),
            Access::Otf => has(regs::RVA_BASE_OTF_MASK) && in_llcm,
            Access::Cell => in_llcm,
        };
        if !allowed {
            return Found::Refused(regs::REASON_RIGHTS);
        }
        let (first, end) = (lookup.offset, lookup.offset + u64::from(lookup.bytes));
        let base = (region.base & regs::RVA_BASE_PAGE_MASK) >> regs::RVA_BASE_PAGE_SHIFT;
        let start = base & !7; // only of LLCM
        let beyond = in_llcm && start + end > u64::from(regs::SIZE_LLCM);
        let crosses = first % PAGE + u64::from(lookup.bytes) > PAGE && lookup.access != Access::Cell;
        if end > region.bound || crosses || beyond {
            return Found::Refused(regs::REASON_RANGE);
        }
        if in_llcm {
            return Found::At(LLCM + (start + first) as u32);
        }
        let key = page_key(lookup.pgid, base + first / PAGE);
        match self.pages[page_index(key)].filter(|page| page.key == key) {
            Some(page) => {
                let frame = (page.frame & regs::PA_FRAME_PAGE_MASK) >> regs::PA_FRAME_PAGE_SHIFT;
                Found::At((frame * PAGE + first % PAGE) as u32)
            }
            None => Found::NoPage(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: Lookup = Lookup {
        pgid: 5,
        region: 9,
        offset: 0x2ff8,
        bytes: 8,
        access: Access::Write,
    };

    #[test]
    fn a_region_of_memory_needs_its_page_and_its_rights() {
        let mut tlb = Tlb::default();
        let key = region_key(5, 9);
        assert_eq!(tlb.look(&WRITE), Found::NoRegion(key));
        tlb.write_region(key, regs::RVA_BASE_WRITE_MASK | 0x40, 0x3000);
        let page = page_key(5, 0x42);
        assert_eq!(tlb.look(&WRITE), Found::NoPage(page));
        tlb.write_page(page, 7);
        assert_eq!(tlb.look(&WRITE), Found::At(0x7ff8));
        let read = Lookup {
            access: Access::Read,
            ..WRITE
        };
        assert_eq!(tlb.look(&read), Found::Refused(regs::REASON_RIGHTS));
        let long = Lookup { bytes: 9, ..WRITE };
        assert_eq!(tlb.look(&long), Found::Refused(regs::REASON_RANGE));
        tlb.write_page(page & !regs::PA_KEY_VALID_MASK, 7);
        assert_eq!(tlb.look(&WRITE), Found::NoPage(page));
        tlb.flush();
        assert_eq!(tlb.look(&WRITE), Found::NoRegion(key));
    }

    #[test]
    fn a_region_of_llcm_ends_with_llcm() {
        let mut tlb = Tlb::default();
        let rights = regs::RVA_BASE_OTF_MASK | regs::RVA_BASE_LLCM_MASK;
        tlb.write_region(region_key(5, 9), rights | 0x1000, 0x10000);
        let otf = Lookup {
            access: Access::Otf,
            ..WRITE
        };
        assert_eq!(tlb.look(&otf), Found::At(LLCM + 0x3ff8));
        let beyond = Lookup { offset: 0x3000, ..otf };
        assert_eq!(tlb.look(&beyond), Found::Refused(regs::REASON_RANGE));
    }
}
