//! The tables of a card in the model: both TLBs, and the slots with their credit.

use crate::dimmnet1::golden::packet::{Base, PageEntry, Place, Reason, Region, Slot, Status};
use crate::dimmnet1::regs::*;

/// What a translation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Write,
    Read,
    Otf,
    /// A cell in LLCM, for the matcher.
    Cell,
}

/// What a TLB says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// A physical address.
    At(u32),
    Refused(Reason),
    /// A cause of Stops, and the key that has no entry.
    Missed(u32, u64),
}

/// The physical address of LLCM's first byte.
pub(super) const LLCM_ADDR: u32 = 0xf000_0000;

pub(super) struct Tlb {
    regions: Vec<Option<Region>>,
    pages: Vec<Option<PageEntry>>,
}

impl Tlb {
    pub fn new() -> Tlb {
        Tlb {
            regions: vec![None; SIZE_TLB as usize],
            pages: vec![None; SIZE_TLB as usize],
        }
    }

    pub fn flush(&mut self) {
        *self = Tlb::new();
    }

    fn index(number: u32, pgid: u16) -> usize {
        ((number ^ u32::from(pgid)) % SIZE_TLB) as usize
    }

    /// Writes an entry, valid or not, in the place that its key has.
    pub fn write_region(&mut self, words: [u64; 3]) {
        let [key, ..] = words;
        let at = Region::decode([key | RVA_KEY_VALID_MASK, 0, 0]).expect("made valid");
        self.regions[Tlb::index(at.region.into(), at.pgid)] = Region::decode(words);
    }

    pub fn write_page(&mut self, words: [u64; 2]) {
        let [key, _] = words;
        let at = PageEntry::decode([key | PA_KEY_VALID_MASK, 0]).expect("made valid");
        self.pages[Tlb::index(at.page, at.pgid)] = PageEntry::decode(words);
    }

    pub fn look_up(&self, pgid: u16, place: Place, bytes: u32, kind: Kind) -> Looked {
        let Place { region, offset } = place;
        let entry = self.regions[Tlb::index(region.into(), pgid)];
        let Some(entry) = entry.filter(|entry| (entry.pgid, entry.region) == (pgid, region)) else {
            return Looked::Missed(STOP_RVATLB, Region::key(pgid, region));
        };
        let allowed = match kind {
            Kind::Write => entry.rights.write,
            Kind::Read => entry.rights.read,
            Kind::Otf => entry.rights.otf,
            Kind::Cell => matches!(entry.base, Base::Llcm(_)),
        };
        let in_page = kind == Kind::Cell || offset % u64::from(SIZE_PAGE) + u64::from(bytes) <= SIZE_PAGE.into();
        if !allowed {
            return Looked::Refused(Reason::Rights);
        }
        if offset + u64::from(bytes) > entry.bytes || !in_page {
            return Looked::Refused(Reason::Range);
        }
        let page = match entry.base {
            Base::Llcm(byte) => {
                let at = u64::from(byte) + offset;
                let fits = at + u64::from(bytes) <= SIZE_LLCM.into();
                return if fits {
                    Looked::At(LLCM_ADDR + at as u32)
                } else {
                    Looked::Refused(Reason::Range)
                };
            }
            Base::Page(page) => (u64::from(page) + offset / u64::from(SIZE_PAGE)) as u32 & RVA_BASE_PAGE_MASK as u32,
        };
        let entry = self.pages[Tlb::index(page, pgid)];
        match entry.filter(|entry| (entry.pgid, entry.page) == (pgid, page)) {
            Some(entry) => Looked::At(entry.frame * SIZE_PAGE + offset as u32 % SIZE_PAGE),
            None => Looked::Missed(STOP_PATLB, PageEntry::key(pgid, page)),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    slot: Slot,
    generation: u16,
    dst: u16,
}

/// Slots, and the credit that they share.
#[derive(Debug, Default)]
pub(super) struct Acks {
    slots: [Counted; SIZE_SLOTS as usize],
    open: u32,
}

impl Acks {
    /// Takes one credit for a packet; gives the generation for its TAG. `None`: it must wait.
    pub fn take(&mut self, slot: u8, dst: u16) -> Option<u16> {
        let counted = &mut self.slots[usize::from(slot)];
        let other = counted.slot.open > 0 && counted.dst != dst;
        if other || self.open == SIZE_CREDITS {
            return None;
        }
        self.open += 1;
        counted.slot.open += 1;
        counted.dst = dst;
        Some(counted.generation)
    }

    /// An answer comes; false if nothing waits for it.
    pub fn answer(&mut self, tag: u16, src: u16, status: Status) -> bool {
        let counted = &mut self.slots[usize::from(tag & 0xf)];
        let slot = &mut counted.slot;
        if slot.open == 0 || counted.generation != tag >> 4 || counted.dst != src {
            return false;
        }
        slot.open -= 1;
        self.open -= 1;
        if let Some(reason) = status.refused {
            if slot.nacks == 0 {
                slot.reason = Some(reason);
                slot.seq = status.seq & ((1 << Slot::SEQ_BITS) - 1);
            }
            slot.nacks = slot.nacks.saturating_add(1);
        }
        true
    }

    pub fn clear(&mut self, slot: usize) {
        let counted = &mut self.slots[slot];
        self.open -= u32::from(counted.slot.open);
        counted.slot = Slot::default();
        counted.generation = (counted.generation + 1) & 0xfff;
    }

    pub fn value(&self, slot: usize) -> u64 {
        self.slots[slot].slot.word()
    }

    pub fn open(&self) -> u32 {
        self.open
    }
}
