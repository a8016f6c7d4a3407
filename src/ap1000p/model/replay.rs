//! Executions that can stop on the way. The pure functions (`send`, `Receiver::execute`, `perform`) handle a whole
//! message at once. A page fault, a full communication register or the time of a table read stops a message in the
//! middle. Therefore each answer of the cell is kept. A stopped execution begins again later, gets the kept answers
//! without a second effect, and continues live where it stopped.

use super::{Fault, Timing, Unit};
use crate::Addr;
use crate::ap1000p::golden::creg::{Access, Conflict, Cregs};
use crate::ap1000p::golden::mmu::{Lookup, Mmu, ReadError};
use crate::ap1000p::golden::ring::{NoRoom, Place, Rings};
use crate::ap1000p::golden::send::{AddressSpace, Origin};
use crate::ap1000p::golden::word::{Cell, Failed};
use crate::ap1000p::regs::{FAULT_ALIGN, FAULT_RING, RING0_WRITE_SLOT_MASK};
use crate::harness::memory::Memory;

/// The parts of a cell that an execution accesses.
pub(super) struct Parts {
    pub memory: Memory,
    pub mmu: Mmu,
    pub cregs: Cregs,
    pub rings: Rings,
}

impl Parts {
    /// Reads 4 or 8 bytes of the local cache; `None` on a bus error.
    pub fn read(&self, addr: u32, bytes: u32) -> Option<u64> {
        let high = if bytes == 8 { word(&self.memory, addr + 4)? } else { 0 };
        Some(u64::from(word(&self.memory, addr)?) | u64::from(high) << 32)
    }

    /// Writes bytes of the local cache; on an error writes nothing and returns false.
    pub fn write(&mut self, addr: u32, bytes: &[u8]) -> bool {
        self.memory.bus_ok(Addr(addr), bytes.len() as u32) && self.memory.write(Addr(addr), bytes)
    }
}

/// Reads a word of memory; `None` on a bus error.
pub(super) fn word(memory: &Memory, addr: u32) -> Option<u32> {
    let bytes = memory.read(Addr(addr), 4).filter(|_| memory.bus_ok(Addr(addr), 4))?;
    Some(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
}

/// Writes the bytes that `strb` selects; on an error writes nothing and returns false.
pub(super) fn set_word(memory: &mut Memory, addr: u32, data: u32, strb: u8) -> bool {
    let mut lanes = (0..4).filter(|lane| strb >> lane & 1 == 1);
    memory.bus_ok(Addr(addr), 4)
        && lanes.all(|lane| memory.write(Addr(addr + lane), &data.to_le_bytes()[lane as usize..][..1]))
}

/// The reason why an execution waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Until this cycle.
    Until(u64),
    /// For software to serve a fault.
    Fault(Fault),
    /// For software to serve another unit's fault in the word unit.
    Word,
    /// For a communication register.
    Register,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    GivenUp,
    Bus,
    Conflict,
    TooLong,
    /// No answer yet: the execution will begin again.
    Stopped,
}

/// An address, a word or a packed place in a ring buffer.
type Answer = Result<u32, Failure>;

/// A message, and the progress of its execution.
#[derive(Default)]
pub(super) struct Job {
    pub words: Vec<u32>,
    pub wait: Option<Wait>,
    /// Software aborts the fault that the job waits for.
    pub abort: bool,
    /// A message to be sent that ends at its first fault.
    pub lost: bool,
    answers: Vec<Answer>,
}

impl Job {
    pub fn new(words: Vec<u32>) -> Job {
        Job {
            words,
            ..Job::default()
        }
    }

    pub fn ready(&self, now: u64) -> bool {
        self.wait
            .is_none_or(|wait| matches!(wait, Wait::Until(at) if at <= now))
    }
}

/// One run of an execution.
pub(super) struct Run<'a> {
    pub parts: &'a mut Parts,
    pub job: &'a mut Job,
    pub timing: &'a Timing,
    pub now: u64,
    pub unit: Unit,
    /// Number of addresses that the unit translates itself; the word unit translates those after them.
    pub own: usize,
    /// Cycles of the first address that the unit translates itself.
    pub first: u64,
    /// Another unit's fault holds the word unit.
    pub word_held: bool,
    /// A conflict at a communication register is a fault.
    pub conflicts_fault: bool,
    /// The reason why the run stopped.
    pub stopped: Option<Wait>,
    /// The word unit had an aborted fault or a bus error.
    pub word_failed: bool,
    /// A communication register changed.
    pub touched: bool,
    /// Addresses of the page table words read.
    pub walked: Vec<u32>,
    pub asked: usize,
    pub places: usize,
    /// Writes go into a ring buffer.
    pub in_ring: bool,
}

impl Run<'_> {
    /// The kept answer; or the answer of `live`, with the cycles that it takes.
    fn ask(&mut self, live: impl FnOnce(&mut Self) -> Result<(Answer, u64), Wait>) -> Answer {
        if self.stopped.is_some() {
            return Err(Failure::Stopped);
        }
        let asked = self.asked;
        self.asked += 1;
        if let Some(&answer) = self.job.answers.get(asked) {
            return answer;
        }
        match live(self) {
            Ok((answer, 0)) => {
                self.job.answers.push(answer);
                answer
            }
            Ok((answer, cycles)) => {
                self.job.answers.push(answer);
                self.stopped = Some(Wait::Until(self.now + cycles));
                Err(Failure::Stopped)
            }
            Err(wait) => {
                self.stopped = Some(wait);
                Err(Failure::Stopped)
            }
        }
    }

    /// The next access is by the word unit, for a flag, an atomic or a remote access, and not for data of the message.
    fn of_word_unit(&self) -> bool {
        !self.in_ring && (self.own == 0 || self.places > self.own)
    }

    /// The next access is a remote access. The MMU did not look its address up, so no time is charged for it yet.
    fn is_physical(&self) -> bool {
        self.own == 0 && self.places == 0
    }

    /// A fault; or a failure, if software has aborted the fault.
    fn fault(&mut self, unit: Unit, lookup: Lookup, reason: u8) -> Result<(Answer, u64), Wait> {
        if unit == Unit::Word && self.word_held {
            Err(Wait::Word)
        } else if std::mem::take(&mut self.job.abort) || (self.job.lost && unit != Unit::Word) {
            Ok((Err(Failure::GivenUp), 0))
        } else {
            Err(Wait::Fault(Fault { unit, lookup, reason }))
        }
    }

    /// A fault for an address that is not aligned to a word: software can only abort it. The pure functions reject such
    /// an address without a request.
    pub fn misaligned(&mut self, unit: Unit, lookup: Lookup) {
        let answer = self.ask(|run| run.fault(unit, lookup, FAULT_ALIGN as u8));
        self.word_failed |= unit == Unit::Word && answer == Err(Failure::GivenUp);
    }

    /// A word of data for a message to be sent.
    pub fn fetch(&mut self, origin: Origin) -> Option<u32> {
        let (AddressSpace { context, system }, addr) = match origin {
            Origin::Memory(owner, addr) => (owner, addr),
            Origin::Register(addr) => return self.register(Access { addr, write: None }).ok().flatten(),
        };
        if !addr.is_multiple_of(4) {
            let write = false;
            let lookup = Lookup {
                context,
                addr,
                write,
                system,
            };
            self.misaligned(self.unit, lookup);
            return None;
        }
        let at = self.place(context, system, false, addr)?;
        self.read(at).ok()
    }
}

impl Cell for Run<'_> {
    fn place(&mut self, context: u16, system: bool, write: bool, addr: u32) -> Option<u32> {
        let own = self.places < self.own;
        let takes = match (own, self.places) {
            (false, _) => self.timing.atomic,
            (true, 0) => self.first,
            _ => 0,
        };
        self.places += 1;
        let lookup = Lookup {
            context,
            addr,
            write,
            system,
        };
        let answer = self.ask(|run| {
            let unit = if own { run.unit } else { Unit::Word };
            if run.job.abort || (!own && run.word_held) {
                return run.fault(unit, lookup, 0);
            }
            let Parts { mmu, memory, .. } = &mut *run.parts;
            let before = run.walked.len();
            let found = mmu.lookup(&lookup, |at| {
                run.walked.push(at);
                word(memory, at).ok_or(ReadError)
            });
            let words = (run.walked.len() - before) as u64;
            match found {
                Ok(at) => Ok((Ok(at), takes + words * run.timing.walk)),
                Err(reason) => run.fault(unit, lookup, reason as u8),
            }
        });
        self.word_failed |= !own && answer == Err(Failure::GivenUp);
        answer.ok()
    }

    fn read(&mut self, addr: u32) -> Result<u32, Failed> {
        let takes = if self.is_physical() { self.timing.read } else { 0 };
        let answer = self.ask(|run| Ok((word(&run.parts.memory, addr).ok_or(Failure::Bus), takes)));
        self.word_failed |= self.of_word_unit() && answer == Err(Failure::Bus);
        answer.map_err(|_| Failed::Bus)
    }

    fn write(&mut self, addr: u32, data: u32, strb: u8) -> Result<(), Failed> {
        let takes = if self.is_physical() { self.timing.write } else { 0 };
        let answer = self.ask(|run| {
            let done = set_word(&mut run.parts.memory, addr, data, strb);
            Ok((if done { Ok(0) } else { Err(Failure::Bus) }, takes))
        });
        self.word_failed |= self.of_word_unit() && answer == Err(Failure::Bus);
        answer.map(|_| ()).map_err(|_| Failed::Bus)
    }

    fn register(&mut self, access: Access) -> Result<Option<u32>, Conflict> {
        let answer = self.ask(|run| match run.parts.cregs.access(access) {
            Ok(word) => {
                run.touched = true;
                Ok((Ok(word.unwrap_or(0)), 0))
            }
            Err(Conflict) if run.conflicts_fault => Ok((Err(Failure::Conflict), 0)),
            Err(Conflict) => Err(Wait::Register),
        });
        match answer {
            Ok(word) => Ok(access.write.is_none().then_some(word)),
            Err(_) => Err(Conflict),
        }
    }

    fn ring(&mut self, context: u16, system: bool, words: u32) -> Result<Place, NoRoom> {
        let answer = self.ask(|run| {
            let none = match run.parts.rings.place(context, words) {
                Ok(place) if !run.job.abort => {
                    run.parts.rings.busy = Some(place.set);
                    let Place { set, slot, size } = place;
                    return Ok((Ok(size << 29 | (set as u32) << 27 | slot), run.first));
                }
                Err(NoRoom::TooLong) if !run.job.abort => return Ok((Err(Failure::TooLong), 0)),
                Ok(_) => NoRoom::Miss,
                Err(none) => none,
            };
            let lookup = Lookup {
                context,
                // The wanted slots take the place of an address.
                addr: none.want(words),
                write: true,
                system,
            };
            run.fault(run.unit, lookup, FAULT_RING as u8)
        });
        self.in_ring = true;
        match answer {
            Ok(place) => Ok(Place {
                size: place >> 29,
                set: (place >> 27 & 3) as usize,
                slot: place & RING0_WRITE_SLOT_MASK,
            }),
            Err(Failure::TooLong) => Err(NoRoom::TooLong),
            Err(_) => Err(NoRoom::Miss),
        }
    }

    fn ringed(&mut self, place: Place, words: Option<u32>) {
        self.in_ring = false;
        let _ = self.ask(|run| {
            run.parts.rings.busy = None;
            if let Some(words) = words {
                run.parts.rings.advance(place, words);
            }
            Ok((Ok(0), 0))
        });
    }
}
