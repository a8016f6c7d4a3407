//! Logical addresses for units that use the MMU: a substitute for the memory controller, and the software that serves
//! faults.

use std::collections::BTreeSet;

use tsunagi::ap1000p::golden::send::AddressSpace;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::seed::Rng;

/// Bytes of the memory behind the pages.
pub const MEMORY: u32 = 1 << 20;
const PAGE: u32 = 4096;

/// A request to the MMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub owner: AddressSpace,
    pub addr: u32,
    pub write: bool,
}

/// The fate of a lookup's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    There,
    /// Software enters it when it serves the first fault.
    Away,
    /// It remains missing.
    Lost,
}

/// The address spaces of all contexts. A fixed rule says where each page lies.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// Some pages are missing.
    pub faults: bool,
    /// Every page lies in another place than before.
    pub moved: bool,
    fetched: BTreeSet<(u16, u32)>,
}

impl Space {
    fn mix(owner: AddressSpace, page: u32) -> u32 {
        (u32::from(owner.context) * 0x51 + page).wrapping_mul(0x9e37_79b1) >> 8
    }

    pub fn page(&self, owner: AddressSpace, addr: u32) -> Page {
        match Space::mix(owner, addr / PAGE) >> 12 & 15 {
            0 if self.faults => Page::Lost,
            1 | 2 if self.faults => Page::Away,
            _ => Page::There,
        }
    }

    /// Address of a word, unless its page is lost.
    pub fn place(&self, owner: AddressSpace, addr: u32) -> Option<u32> {
        let there = addr.is_multiple_of(4) && self.page(owner, addr) != Page::Lost;
        let frame = (Space::mix(owner, addr / PAGE) ^ u32::from(self.moved)) % (MEMORY / PAGE);
        there.then(|| frame * PAGE + addr % PAGE)
    }

    /// The MMU's response: an address or a fault.
    pub fn lookup(&self, request: Request) -> Result<u32, u8> {
        let missing = match self.page(request.owner, request.addr) {
            Page::There => false,
            Page::Away => !self.fetched.contains(&(request.owner.context, request.addr / PAGE)),
            Page::Lost => true,
        };
        match self.place(request.owner, request.addr) {
            Some(at) if !missing => Ok(at),
            _ => Err(FAULT_PAGE as u8),
        }
    }

    /// The result of the lookup of a word's address to be read.
    pub fn looks_up(&self, owner: AddressSpace, addr: u32) -> Result<u32, u8> {
        let write = false;
        match addr.is_multiple_of(4) {
            true => self.lookup(Request { owner, addr, write }),
            false => Err(FAULT_ALIGN as u8),
        }
    }

    /// Software serves a fault. Returns whether to try again.
    pub fn serve(&mut self, request: Request) -> bool {
        self.fetched.insert((request.owner.context, request.addr / PAGE));
        self.place(request.owner, request.addr).is_some()
    }
}

/// The MMU for one client: a response some cycles after each request.
#[derive(Clone, Debug, Default)]
pub struct Mmu {
    open: Option<(Request, u64)>,
    /// Requests so far.
    pub lookups: u32,
}

impl Mmu {
    pub fn ready(&self) -> bool {
        self.open.is_none()
    }

    /// The response on offer in this cycle.
    pub fn answer(&self, space: &Space, now: u64) -> Option<Result<u32, u8>> {
        self.open
            .filter(|&(_, due)| due <= now)
            .map(|(request, _)| space.lookup(request))
    }

    /// The edge.
    pub fn step(&mut self, request: Option<Request>, taken: bool, now: u64, rng: Option<&mut Rng>) {
        if taken {
            self.open = None;
        } else if self.open.is_none()
            && let Some(request) = request
        {
            let more = rng.map_or(0, |rng| if rng.chance(1, 4) { rng.below(20) } else { 0 });
            self.open = Some((request, now + 3 + more));
            self.lookups += 1;
        }
    }

    pub fn reset(&mut self) {
        self.open = None;
    }
}
