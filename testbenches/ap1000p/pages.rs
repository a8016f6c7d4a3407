//! A cell around the message controller: a stand-in for the MMU with few pages, software that serves faults, memory and communication registers.

use std::collections::BTreeSet;

use tsunagi::Addr;
use tsunagi::ap1000p::golden::creg::{Access, Conflict, Cregs};
use tsunagi::ap1000p::golden::mmu::Lookup;
use tsunagi::ap1000p::golden::ring::{NoRoom, Place, Ring, Rings};
use tsunagi::ap1000p::golden::word::{Cell, Failed};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::Pacer;

/// Bits of an address in cell memory.
pub const MEM_BITS: u32 = 16;

/// Logical pages of 4 KB, by number; all above are not there.
pub const LAZY: u32 = 3; // not there until software serves the fault
pub const ABSENT: u32 = 7;
pub const READ_ONLY: u32 = 9;
pub const SYSTEM: u32 = 10; // for the system alone
pub const FLAGS: u32 = 12; // this and those above are for flags
pub const PAGES: u32 = 16;

/// Logical pages for flags are a turn of themselves in memory, the others as well.
pub fn translate(lookup: &Lookup) -> Result<u32, u8> {
    let Lookup { context, addr, .. } = *lookup;
    let (page, context) = (addr >> 12, u32::from(context));
    match page {
        ABSENT | PAGES.. => return Err(FAULT_PAGE as u8),
        READ_ONLY if lookup.write => return Err(FAULT_ACCESS as u8),
        SYSTEM if !lookup.system => return Err(FAULT_ACCESS as u8),
        _ => {}
    }
    let at = if page < FLAGS {
        (5 * page + context) % FLAGS
    } else {
        FLAGS + (page + context) % (PAGES - FLAGS)
    };
    Ok(at << 12 | addr & 0xfff)
}

/// Answers lookups, like `ap1000p_mmu`; at times with a fault that is none the next time.
pub struct Mmu {
    rng: Rng,
    slow: bool,
    accepts: Pacer,
    /// Whether it is ready in this cycle.
    pub ready: bool,
    mapped: BTreeSet<u16>,
    /// From which cycle on there is an answer, and to what.
    open: Option<(u64, Result<u32, u8>)>,
}

impl Mmu {
    pub fn new(case: &Case, slow: bool) -> Mmu {
        Mmu {
            rng: case.rng("mmu"),
            slow,
            accepts: Pacer::new(slow, case.rng("mmu accepts")),
            ready: false,
            mapped: BTreeSet::new(),
            open: None,
        }
    }

    pub fn reset(&mut self) {
        self.open = None;
    }

    /// What is offered in this cycle; once per cycle, before the edge.
    pub fn offer(&mut self, now: u64) -> Option<Result<u32, u8>> {
        self.ready = self.accepts.step() && self.open.is_none();
        self.answer(now)
    }

    fn answer(&self, now: u64) -> Option<Result<u32, u8>> {
        self.open.filter(|(at, _)| *at <= now).map(|(_, answer)| answer)
    }

    /// The edge that ends this cycle.
    pub fn step(&mut self, now: u64, request: Option<Lookup>, taken: bool) {
        match request {
            Some(lookup) if self.ready => {
                let wait = if self.slow { self.rng.between(3, 30) } else { 3 };
                let lazy = lookup.addr >> 12 == LAZY && !self.mapped.contains(&lookup.context);
                let glitch = self.slow && self.rng.chance(1, 16);
                let answer = if lazy || glitch {
                    Err(FAULT_PAGE as u8)
                } else {
                    translate(&lookup)
                };
                self.open = Some((now + wait, answer));
            }
            _ if taken && self.answer(now).is_some() => self.open = None,
            _ => {}
        }
    }
}

/// What is done about a fault in this cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service {
    pub retry: bool,
    pub abort: bool,
}

/// Serves what can be served, after a while, and gives up the rest; makes a noise at other times.
pub struct Software {
    rng: Rng,
    noisy: bool,
    wait: Option<u64>,
    pub retries: u64,
    pub aborts: u64,
}

impl Software {
    pub fn new(case: &Case, noisy: bool) -> Software {
        Software {
            rng: case.rng("software"),
            noisy,
            wait: None,
            retries: 0,
            aborts: 0,
        }
    }

    /// Once per cycle, with the fault that is on show.
    pub fn step(&mut self, fault: Option<Lookup>, mmu: &mut Mmu) -> Service {
        let Some(lookup) = fault else {
            self.wait = None;
            let mut noise = || self.noisy && self.rng.chance(1, 4);
            return Service {
                retry: noise(),
                abort: noise(),
            };
        };
        let wait = self.wait.get_or_insert_with(|| self.rng.between(0, 40));
        if *wait > 0 {
            *wait -= 1;
            return Service::default();
        }
        self.wait = None;
        let hopeless = !lookup.addr.is_multiple_of(4) || translate(&lookup).is_err();
        if lookup.addr >> 12 == LAZY {
            mmu.mapped.insert(lookup.context);
        }
        let abort = hopeless && !self.rng.chance(1, 4);
        self.aborts += u64::from(abort);
        self.retries += u64::from(!abort);
        Service { retry: !abort, abort }
    }
}

/// The cell as the golden models see it.
#[derive(Clone)]
pub struct Around {
    pub memory: Memory,
    /// Of the memory.
    pub bytes: u32,
    pub registers: Cregs,
    pub rings: Rings,
    /// Software's rings that are in no set, and whose turn it is to leave one.
    pub shelf: Vec<Ring>,
    turn: usize,
    /// What no ring took at first: each is told as a fault.
    pub ring_faults: Vec<Lookup>,
}

impl Around {
    /// Memory in which nothing is 0, some of it with bus errors.
    pub fn new(bad: &[std::ops::Range<u32>]) -> Around {
        Around::of_bytes(1 << MEM_BITS, bad)
    }

    pub fn of_bytes(bytes: u32, bad: &[std::ops::Range<u32>]) -> Around {
        let mut memory = Memory::new(bytes as usize);
        memory.poison(0..bytes);
        bad.iter().for_each(|range| memory.inject_fault(range.clone()));
        Around {
            memory,
            bytes,
            registers: Cregs::default(),
            rings: Rings::default(),
            shelf: Vec::new(),
            turn: 0,
            ring_faults: Vec::new(),
        }
    }

    /// What software does about a message that no ring takes, as WHERE2 tells it: reads half of what is in a full ring; gives the context's ring a set,
    /// from another one. False: it gives up, for there is none.
    pub fn serve(&mut self, want: Lookup) -> bool {
        let set = (want.addr & WANT_SET_MASK) >> WANT_SET_SHIFT;
        if let Some(ring) = self.rings.sets.get_mut(set as usize) {
            ring.read = (ring.read + ring.used().div_ceil(2)) & RING0_READ_SLOT_MASK;
            return true;
        }
        let is_its = |ring: &Ring| ring.on && ring.context == want.context;
        let Some(at) = self.shelf.iter().position(is_its) else {
            return false;
        };
        std::mem::swap(&mut self.shelf[at], &mut self.rings.sets[self.turn]);
        self.turn = (self.turn + 1) % self.rings.sets.len();
        true
    }

    pub fn word(&self, addr: u32) -> u32 {
        let bytes = self.memory.read(Addr(addr), 4).expect("in memory");
        u32::from_le_bytes(bytes.try_into().expect("four"))
    }
}

impl Cell for Around {
    fn place(&mut self, context: u16, system: bool, write: bool, addr: u32) -> Option<u32> {
        translate(&Lookup {
            context,
            addr,
            write,
            system,
        })
        .ok()
    }

    fn read(&mut self, addr: u32) -> Result<u32, Failed> {
        if self.memory.bus_ok(Addr(addr), 4) {
            Ok(self.word(addr))
        } else {
            Err(Failed::Bus)
        }
    }

    fn write(&mut self, addr: u32, data: u32, strb: u8) -> Result<(), Failed> {
        if !self.memory.bus_ok(Addr(addr), 4) {
            return Err(Failed::Bus);
        }
        for lane in (0..4).filter(|lane| strb >> lane & 1 != 0) {
            let done = self
                .memory
                .write(Addr(addr + lane), &data.to_le_bytes()[lane as usize..][..1]);
            assert!(done, "{addr:#x} is in memory");
        }
        Ok(())
    }

    fn register(&mut self, access: Access) -> Result<Option<u32>, Conflict> {
        self.registers.access(access)
    }

    fn ring(&mut self, context: u16, system: bool, words: u32) -> Result<Place, NoRoom> {
        loop {
            let none = match self.rings.place(context, words) {
                Err(none @ (NoRoom::Miss | NoRoom::Full(_))) => none,
                place => return place,
            };
            let want = Lookup {
                context,
                addr: none.want(words),
                write: true,
                system,
            };
            self.ring_faults.push(want);
            if !self.serve(want) {
                return Err(none);
            }
        }
    }

    fn ringed(&mut self, place: Place, words: Option<u32>) {
        if let Some(words) = words {
            self.rings.advance(place, words);
        }
    }
}
