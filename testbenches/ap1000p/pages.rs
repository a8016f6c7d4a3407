//! The cell around the units of the message controller: a stand-in for the MMU with few pages, software that serves
//! faults, memory and communication registers.

use std::collections::BTreeSet;
use std::ops::Range;

use testbenches::{Fault, Run};
use tsunagi::Addr;
use tsunagi::ap1000p::golden::creg::{Access, Conflict, Cregs};
use tsunagi::ap1000p::golden::mmu::Lookup;
use tsunagi::ap1000p::golden::ring::{NoRoom, Place, Ring, Rings};
use tsunagi::ap1000p::golden::word::{Cell, Failed};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Monitor, Pacer};

/// Bits of an address in cell memory.
pub const MEM_BITS: u32 = 16;

/// Logical pages of 4 KB, by number; none above exists.
pub const LAZY: u32 = 3; // comes when software serves its fault
pub const ABSENT: u32 = 7;
pub const READ_ONLY: u32 = 9;
pub const SYSTEM: u32 = 10; // for the system alone
pub const FLAGS: u32 = 12; // this page and all above are for flags
pub const PAGES: u32 = 16;

/// The address in memory, or the reason of a fault. Each context has the pages in another order, and those for flags
/// apart from the others.
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

/// The outputs of the MMU in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct MmuPorts {
    /// Ready for a lookup.
    pub ready: bool,
    /// The reply on offer: an address in memory, or the reason of a fault.
    pub reply: Option<Result<u32, u8>>,
}

/// The actions of software upon a fault, in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service {
    pub retry: bool,
    pub abort: bool,
}

/// Drives the inputs that a unit has from the MMU and from software.
macro_rules! set_mmu_ports {
    ($unit:expr, $mmu:expr, $service:expr) => {{
        let (mmu, service): (&$crate::pages::MmuPorts, &$crate::pages::Service) = ($mmu, $service);
        $unit.mmu_req_ready_i().set_bool(mmu.ready);
        $unit.mmu_rsp_valid_i().set_bool(mmu.reply.is_some());
        let reply = mmu.reply.unwrap_or(Ok(0x5550));
        // With a fault there is an address without a meaning.
        $unit.mmu_rsp_addr_i().set(reply.unwrap_or(0x0554).into());
        $unit.mmu_rsp_fault_i().set(reply.err().unwrap_or(0).into());
        $unit.retry_i().set_bool(service.retry);
        $unit.abort_i().set_bool(service.abort);
    }};
}

/// The lookup on offer.
macro_rules! mmu_lookup {
    ($unit:expr) => {
        $unit.mmu_req_valid_o().is_set().then(|| Lookup {
            context: $unit.mmu_req_context_o().get() as u16,
            addr: $unit.mmu_req_addr_o().get() as u32,
            write: $unit.mmu_req_write_o().is_set(),
            system: $unit.mmu_req_system_o().is_set(),
        })
    };
}

pub(crate) use {mmu_lookup, set_mmu_ports};

/// Serves lookups, like `ap1000p_mmu`; at times with a fault that is gone the next time.
pub struct Mmu {
    rng: Rng,
    slow: bool,
    accepts: Pacer,
    ports: MmuPorts,
    offers: Monitor<Lookup>,
    /// Contexts with the page [`LAZY`].
    mapped: BTreeSet<u16>,
    /// The first cycle of a reply, the lookup, the reply.
    open: Option<(u64, Lookup, Result<u32, u8>)>,
    /// The fault in the last reply, and its lookup.
    pub fault: Option<(u8, Lookup)>,
}

impl Mmu {
    pub fn new(run: &Run, slow: bool) -> Mmu {
        Mmu {
            rng: run.rng("mmu"),
            slow,
            accepts: run.pacer(slow, "mmu accepts"),
            ports: MmuPorts::default(),
            offers: Monitor::default(),
            mapped: BTreeSet::new(),
            open: None,
            fault: None,
        }
    }

    pub fn reset(&mut self) {
        self.offers.reset();
        (self.open, self.fault) = (None, None);
    }

    /// Its outputs in this cycle; once per cycle, before the edge.
    pub fn ports(&mut self, now: u64) -> MmuPorts {
        let ready = self.accepts.step() && self.open.is_none();
        let reply = self.open.filter(|(due, ..)| *due <= now).map(|(.., reply)| reply);
        self.ports = MmuPorts { ready, reply };
        self.ports
    }

    /// The edge that ends this cycle: the lookup on offer, and whether the unit takes a reply.
    ///
    /// # Errors
    /// `Protocol`: the lookup is withdrawn or changes.
    pub fn step(&mut self, now: u64, offered: Option<Lookup>, takes: bool) -> Result<(), Fault> {
        self.offers.step(offered.as_ref(), self.ports.ready)?;
        if let Some(lookup) = offered.filter(|_| self.ports.ready) {
            let wait = if self.slow { self.rng.between(3, 30) } else { 3 };
            let lazy = lookup.addr >> 12 == LAZY && !self.mapped.contains(&lookup.context);
            let glitch = self.slow && self.rng.chance(1, 16);
            let reply = if lazy || glitch {
                Err(FAULT_PAGE as u8)
            } else {
                translate(&lookup)
            };
            self.open = Some((now + wait, lookup, reply));
        } else if takes
            && self.ports.reply.is_some()
            && let Some((_, lookup, reply)) = self.open.take()
        {
            self.fault = reply.err().map(|reason| (reason, lookup));
        }
        Ok(())
    }
}

/// Serves a fault after a while, if it can, and gives up the rest; makes noise at other times.
pub struct Software {
    rng: Rng,
    noisy: bool,
    wait: Option<u64>,
    pub retries: u64,
    pub aborts: u64,
}

impl Software {
    pub fn new(run: &Run, noisy: bool) -> Software {
        Software {
            rng: run.rng("software"),
            noisy,
            wait: None,
            retries: 0,
            aborts: 0,
        }
    }

    /// Once per cycle, with the fault that the unit shows.
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
    /// Bytes of the memory.
    pub bytes: u32,
    pub registers: Cregs,
    pub rings: Rings,
    /// Software's rings without a set.
    pub shelf: Vec<Ring>,
    /// The next set that software gives to another ring.
    turn: usize,
    /// The lookups that no ring took at first: each is reported as a fault.
    pub ring_faults: Vec<Lookup>,
}

impl Around {
    /// Memory with a pattern, and with bus errors in these ranges.
    pub fn new(bad: &[Range<u32>]) -> Around {
        Around::of_bytes(1 << MEM_BITS, bad)
    }

    pub fn of_bytes(bytes: u32, bad: &[Range<u32>]) -> Around {
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

    /// Software serves a message that no ring takes, as WHERE2 reports it: it reads half of a full ring, or gives the
    /// context's ring a set, from another one. False: it gives up, as there is no such ring.
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

    /// The first word of memory that is another one in `other`: address, word here, word there.
    pub fn difference(&self, other: &Around) -> Option<(u32, u32, u32)> {
        let len = self.bytes as usize;
        if self.memory.read(Addr(0), len) == other.memory.read(Addr(0), len) {
            return None;
        }
        let mut words = (0..self.bytes).step_by(4).map(|at| (at, self.word(at), other.word(at)));
        words.find(|(_, here, there)| here != there)
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
            let byte = data.to_le_bytes()[lane as usize];
            let done = self.memory.write(Addr(addr + lane), &[byte]);
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
