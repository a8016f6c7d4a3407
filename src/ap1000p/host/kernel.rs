//! The system on a cell. It sets the registers at the start, then serves interrupts. It maps pages on demand, and the
//! transfer goes on. It refills the queues with the spilled words, if the hardware does not. It notes everything else
//! as a fault, and gives up a transfer that waits for it.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::fault::{Fault, FaultKind, Faults};
use super::layout::{Layout, PROCESS};
use super::rings::Rings;
use crate::ap1000p::bif_regs::{
    BIF_MEMBER, BIF_MEMBER_SYSTEM_MASK, BIF_MEMBER_USER_MASK, BIF_MODE, BIF_MODE_LISTEN_MASK,
};
use crate::ap1000p::golden::page;
use crate::ap1000p::golden::queues::{Element, NUMBERS, Region, SIZES};
use crate::ap1000p::golden::window::{self, Command, bif, register};
use crate::ap1000p::golden::wtp::{Remote, Update};
use crate::ap1000p::golden::{Label, Queue, Word};
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::cpu::{Cpu, Level};
use crate::harness::exec::{Host, RegError};
use crate::harness::memory::Memory;
use crate::harness::sync::{Lock, Signal};
use crate::net::torus::Class;
use crate::{Addr, Picos};

/// Bytes of a page on demand.
const PAGE_BYTES: u32 = 0x1000;
/// All of the torus, as a range of relative cells.
const EVERYWHERE: u32 = 0x7f81_7f81;
/// All causes interrupt.
const ALL_CAUSES: u32 = ENABLE_CAUSES_MASK;
/// Causes that return while they last; every other cause reports a past event.
const LASTING: u32 = CAUSE_FAULT_MASK | CAUSE_FILL_MASK | CAUSE_FULL_MASK;

/// Looks at the queues until a pause of their writers ends, or begins again. A word needs no more looks to memory.
const LOOKS: u32 = 64;

/// The kind of a reply that brings a copy: the system GETs nothing else.
const COPY: u32 = PAGE_DIRECT_MASK | PAGE_SYSTEM_MASK | MADE_GET_REPLY;

pub(super) struct Kernel {
    pub host: Host,
    pub cpu: Cpu,
    pub config: Rc<Config>,
    pub layout: Layout,
    pub rings: Rings,
    /// One handler runs at a time.
    pub handlers: Lock,
    /// One command of the system is stored at a time.
    commands: Lock,
    /// Held while a copy is fetched, or copies are forgotten.
    pub copies: Lock,
    /// Notified when a requested copy does not come.
    pub uncopied: Signal,
    /// Set while only the system empties the spill region, and the region is nearly full. A store that waited for room
    /// there would stop the system, too.
    full: Cell<bool>,
    emptied: Signal,
    /// Whether this system serves requests to forget copies.
    pub forgets: Cell<bool>,
    /// The count of replies that were not executed, as last read.
    broken_replies: Cell<u32>,
    /// The spill region that the system last gave to the queues. LIMIT 0 takes the region away, but does not empty it.
    region: Cell<Region>,
    /// For each queue, the elements lost since one of that queue was copied back.
    misses: Cell<[u32; QUEUES as usize]>,
    /// Pages on demand that are away: who uses them waits.
    away: RefCell<Vec<Range<u32>>>,
    back: Signal,
    faults: Rc<Faults>,
}

/// The pages that these bytes are in.
fn pages(from: Addr, bytes: u32) -> Range<u32> {
    from.0 & !(PAGE_BYTES - 1)..(from.0 + bytes).next_multiple_of(PAGE_BYTES)
}

pub(super) fn field(word: u32, mask: u32) -> u32 {
    (word & mask) >> mask.trailing_zeros()
}

/// The data of a place in the spill region that has no element. Memory may refuse the data of an element and take its
/// tag: then this is still there. A true word of this value is lost, and reported.
const ERASED: u32 = 0x5a0f_c3a5;

/// Erases the elements from this address on, or makes their places ready for the first ones.
fn erase(memory: &mut Memory, at: u32, elements: u32) {
    let mut place = [0; SPILL_BYTES as usize];
    place[4..].copy_from_slice(&ERASED.to_le_bytes());
    let written = memory.write(Addr(at), &place.repeat(elements as usize));
    assert!(written, "the spill region is in memory");
}

/// The element at this address. `None`: the memory reports an error, or the words are no element.
fn element(memory: &Memory, at: u32) -> Option<Element> {
    let words = memory.read(Addr(at), 8).filter(|_| memory.bus_ok(Addr(at), 8))?;
    let word = |at: usize| u32::from_le_bytes(words[at..at + 4].try_into().expect("four bytes"));
    Element::decode(word(0), word(4)).filter(|element| element.word.data != ERASED)
}

impl Kernel {
    pub fn new(host: Host, config: Rc<Config>, layout: Layout, faults: Rc<Faults>) -> Kernel {
        Kernel {
            // No cost besides the register's response: the bus is the processor's own.
            cpu: Cpu::new(host.clone(), register(0), Picos::ZERO, Picos::ZERO),
            host,
            config,
            layout,
            rings: Rings::new(&layout),
            handlers: Lock::new("another handler"),
            commands: Lock::new("another command of the system"),
            copies: Lock::new("another change of the local cache"),
            uncopied: Signal::new("the words of a copy"),
            full: Cell::new(false),
            emptied: Signal::new("the spill region, which is nearly full"),
            forgets: Cell::new(false),
            broken_replies: Cell::new(0),
            region: Cell::new(Region {
                base: (layout.spill / (SPILL_UNITS * SPILL_UNIT * SPILL_BYTES)) as u8,
                limit: layout.spill_units as u8,
            }),
            misses: Cell::default(),
            away: RefCell::default(),
            back: Signal::new("a page that was taken away"),
            faults,
        }
    }

    pub async fn boot(&self) -> Result<(), RegError> {
        self.host.memory(|memory| self.layout.write_tables(memory));
        let region = self.region.get();
        if !self.config.hardware_refill {
            self.host
                .memory(|memory| erase(memory, region.addr(), region.elements()));
        }
        for (addr, value) in [
            (register(CONTEXT_TABLE), self.layout.tables),
            (register(CONTEXT), PROCESS.into()),
            (
                register(SPILL_REGION),
                u32::from(region.base) | u32::from(region.limit) << SPILL_REGION_LIMIT_SHIFT,
            ),
            (register(RANGE), EVERYWHERE),
            (register(ENABLE), ALL_CAUSES),
            (bif(BIF_MEMBER), BIF_MEMBER_SYSTEM_MASK | BIF_MEMBER_USER_MASK),
            (bif(BIF_MODE), BIF_MODE_LISTEN_MASK),
        ] {
            self.host.reg_write(addr, value).await?;
        }
        Ok(())
    }

    /// Whether a handler runs.
    pub fn handles(&self) -> bool {
        self.cpu.handling()
    }

    pub async fn run(self: Rc<Kernel>) {
        loop {
            self.host.irq().await;
            let _turn = self.handlers.hold().await;
            self.cpu.enter();
            self.host.delay(self.config.interrupt).await;
            self.serve().await;
            self.cpu.leave();
        }
    }

    async fn read(&self, offset: u32) -> u32 {
        self.cpu.read(Level::Handler, offset).await
    }

    async fn write(&self, offset: u32, value: u32) {
        self.cpu.write(Level::Handler, offset, value).await;
    }

    /// Stores a command of the system. No handler runs between its words, so no handler waits for the program that it
    /// interrupted.
    pub async fn issue(&self, page: u32, words: Command) -> Result<(), RegError> {
        let _turn = self.commands.hold().await;
        for word in words {
            self.store(page | PAGE_SYSTEM_MASK, word).await?;
        }
        Ok(())
    }

    /// Stores a word to a page.
    pub async fn store(&self, page: u32, word: u32) -> Result<(), RegError> {
        self.host.store(window::page(page), 4, word.into()).await
    }

    async fn serve(&self) {
        let cause = self.read(CAUSE).await & self.read(ENABLE).await;
        // Clear first, so that an event during service interrupts again.
        self.clear(cause & !LASTING).await;
        if cause & CAUSE_FAULT_MASK != 0 {
            self.serve_addresses().await;
        }
        if cause & CAUSE_REFUSED_MASK != 0 {
            let word = self.read(REFUSED_COUNT).await;
            let open = self.read(OPEN).await;
            self.note(FaultKind::Refused {
                count: field(word, REFUSED_COUNT_COUNT_MASK),
                page: field(word, REFUSED_COUNT_PAGE_MASK),
                cause: field(open, OPEN_CAUSE_MASK),
            });
        }
        if cause & CAUSE_BROKEN_MASK != 0 {
            let what = self.read(BROKEN_WHAT).await;
            let open = self.read(OPEN).await;
            let kind = field(what, BROKEN_WHAT_KIND_MASK);
            self.note(FaultKind::Broken {
                x: field(what, BROKEN_WHAT_X_MASK),
                y: field(what, BROKEN_WHAT_Y_MASK),
                kind,
                why: field(open, OPEN_WHY_MASK),
            });
            let replies = field(self.read(BROKEN_COUNT).await, BROKEN_COUNT_REPLIES_MASK);
            // Two interrupts may read the same broken reply.
            if self.broken_replies.replace(replies) != replies && kind == COPY {
                self.uncopied.notify();
            }
        }
        if cause & CAUSE_WORD_MASK != 0 {
            // A store may have failed to change its copy, and the copy is unknown. Forget all: no copy is newer than
            // its memory.
            self.write(WTP_UPDATE, Update::All.word(Remote { cell: 0, addr: 0 }))
                .await;
        }
        if cause & CAUSE_FILL_MASK != 0 {
            self.refill().await;
        }
        if cause & CAUSE_FULL_MASK != 0 {
            let software = !self.config.hardware_refill;
            // The cause lasts, so it is reported once.
            if !software || self.read(STATUS).await & STATUS_FULL_MASK != 0 {
                self.full.set(software);
                self.write(ENABLE, ALL_CAUSES & !CAUSE_FULL_MASK).await;
            }
        }
        for bit in 0..32 {
            let one = cause & 1 << bit;
            if one & !(CAUSE_FAULT_MASK | CAUSE_FILL_MASK | CAUSE_REFUSED_MASK | CAUSE_BROKEN_MASK) != 0 {
                self.note(FaultKind::Other { cause: one });
            }
        }
        self.clear(cause & LASTING).await;
    }

    async fn clear(&self, causes: u32) {
        if causes != 0 {
            self.write(CAUSE, causes).await;
        }
    }

    async fn serve_addresses(&self) {
        let waiting = self.read(FAULTS).await;
        let mut serve = 0;
        for unit in 0..5_usize {
            if waiting >> unit & 1 == 0 {
                continue;
            }
            let at = 8 * unit as u32;
            let why = self.read(WHY0 + at).await;
            let addr = self.read(WHERE0 + at).await;
            let (reason, context) = (field(why, WHY0_REASON_MASK), field(why, WHY0_CONTEXT_MASK));
            if reason == FAULT_RING {
                let served = self.serve_ring(context as u16, addr).await;
                serve |= 1
                    << unit
                    << if served.is_ok() {
                        SERVE_RETRY_SHIFT
                    } else {
                        SERVE_ABORT_SHIFT
                    };
                if let Err(kind) = served {
                    self.note(kind);
                }
                continue;
            }
            let mine = reason == FAULT_PAGE && context == u32::from(PROCESS);
            while mine && self.away.borrow().iter().any(|pages| pages.contains(&addr)) {
                self.back.changed().await;
            }
            let mapped = mine && self.host.memory(|memory| self.layout.map(memory, addr));
            if mapped {
                self.host.delay(self.config.page_service).await;
                serve |= 1 << unit << SERVE_RETRY_SHIFT;
            } else {
                self.note(FaultKind::Address {
                    unit,
                    reason,
                    context,
                    addr,
                });
                serve |= 1 << unit << SERVE_ABORT_SHIFT;
            }
        }
        self.write(SERVE, serve).await;
    }

    /// Takes the pages on demand of these bytes away. When this returns the hardware has forgotten them.
    pub async fn take_pages(&self, from: Addr, bytes: u32) -> Result<(), RegError> {
        let pages = pages(from, bytes);
        self.away.borrow_mut().push(pages.clone());
        for page in pages.step_by(PAGE_BYTES as usize) {
            self.host.memory(|memory| self.layout.unmap(memory, page));
            self.host.reg_write(register(DEMAP), page).await?;
        }
        while self.host.reg_read(register(STATUS)).await? & STATUS_DEMAP_MASK != 0 {}
        Ok(())
    }

    /// Gives them back: their next use maps them.
    pub fn give_pages(&self, from: Addr, bytes: u32) {
        let (pages, mut away) = (pages(from, bytes), self.away.borrow_mut());
        if let Some(taken) = away.iter().position(|taken| *taken == pages) {
            away.swap_remove(taken);
        }
        self.back.notify();
    }

    /// Copies spilled words back into their queues, in order. A queue gets at most the words that it has room for when
    /// it has no messages. A word of another queue may have to wait for room. Then the processor waits, too, serves
    /// addresses, and lets the writers go on. Requests are copied behind replies only when those are released: until
    /// then further replies wait, and requests may wait for them.
    async fn refill(&self) {
        let mode = self.read(MODE).await;
        self.write(MODE, mode | MODE_PAUSE_MASK).await;
        self.stable().await;
        self.write(MODE, mode | MODE_PAUSE_MASK | MODE_THROUGH_MASK).await;
        let given = self.read(SPILL_REGION).await;
        let given = Region {
            base: field(given, SPILL_REGION_BASE_MASK) as u8,
            limit: field(given, SPILL_REGION_LIMIT_MASK) as u8,
        };
        if given.limit != 0 {
            self.region.set(given);
        }
        let region = self.region.get();
        let (mut held, next) = (self.read(HELD).await, self.read(POSITION).await);
        let first = next + region.elements() - held;
        let mut room = SIZES.map(|words| words - MESSAGE_WORDS);
        let (mut copied, mut replies) = (0, false);
        while copied < held {
            let place = (first + copied) % region.elements();
            let at = region.addr() + SPILL_BYTES * place;
            self.host.delay(self.config.refill_word).await;
            match self.host.memory(|memory| element(memory, at)) {
                Some(Element { queue, label, word, .. }) => {
                    let room = &mut room[queue as usize];
                    if *room == 0 || (replies && queue.class() == Class::Request) {
                        break;
                    }
                    *room -= 1;
                    replies |= queue.class() == Class::Reply;
                    let mut misses = self.misses.get();
                    let missed = std::mem::take(&mut misses[queue as usize]);
                    self.misses.set(misses);
                    // After so many losses the word could be of another message with the same number as the incoming
                    // message. Without the word the queue drops the incoming message.
                    if missed < NUMBERS || label.index == 0 {
                        let went_on = self.direct(queue, word, label).await;
                        held = if went_on { self.read(HELD).await } else { held };
                    }
                }
                None => {
                    self.misses.set(self.misses.get().map(|misses| misses + 1));
                    self.note(FaultKind::Other {
                        cause: CAUSE_QUEUE_MASK,
                    });
                }
            }
            // It must not be read again in place of one that the memory refused.
            self.host.memory(|memory| erase(memory, at, 1));
            copied += 1;
        }
        if copied == held && self.end_refill().await {
            held = self.read(HELD).await;
        }
        self.write(RELEASE, copied).await;
        self.write(MODE, mode).await;
        // The count of the user's half restarts when all elements are back.
        if copied == held && self.full.replace(false) {
            self.write(CAUSE, CAUSE_FULL_MASK).await;
            self.write(ENABLE, ALL_CAUSES).await;
            self.emptied.notify();
        }
    }

    /// Ends a refill that copied all elements. A queue may have lost so many of its last elements that numbers repeat.
    /// Then its incoming message is dropped, by two words with the same label: those are never of one message. Returns
    /// whether the writers went on meanwhile.
    async fn end_refill(&self) -> bool {
        let misses = self.misses.take();
        if misses.iter().all(|&missed| missed < NUMBERS) {
            return false;
        }
        let mut went_on = false;
        let spilled = field(self.read(STATUS).await, STATUS_SPILLED_MASK);
        for queue in Queue::ALL {
            if spilled & u32::from(queue.bit()) != 0 && misses[queue as usize] >= NUMBERS {
                let word = Word { data: 0, end: false };
                let label = Label { number: 0, index: 1 };
                for _ in 0..2 {
                    went_on |= self.direct(queue, word, label).await;
                }
            }
        }
        went_on
    }

    /// Stores a word directly into its queue. Returns whether the writers went on meanwhile.
    async fn direct(&self, queue: Queue, word: Word, label: Label) -> bool {
        let stored = self.store(page::direct(queue, word.end, label), word.data).await;
        stored.expect("a page of the system's");
        self.stable().await
    }

    /// Waits until a program's stores need not wait for room in the spill region.
    pub async fn room(&self) {
        while self.full.get() {
            self.emptied.changed().await;
        }
    }

    /// Waits until no word is on its way into a queue or into memory. A word may wait for room that only a message
    /// makes, and that message for a reply of this cell. So now and then the pause ends, and the writers go on: then it
    /// returns true.
    async fn stable(&self) -> bool {
        let (mut looks, mut paused) = (0, true);
        // Until the pause's end acts, the queues may still look stable.
        while self.read(STATUS).await & STATUS_STABLE_MASK == 0 || !paused {
            if self.read(FAULTS).await != 0 {
                self.serve_addresses().await;
            }
            looks += 1;
            if looks % LOOKS == 0 {
                paused = !paused;
                let mode = self.read(MODE).await;
                self.write(MODE, mode ^ MODE_PAUSE_MASK).await;
            }
        }
        looks >= LOOKS
    }

    fn note(&self, kind: FaultKind) {
        self.faults.0.borrow_mut().push(Fault {
            at: self.host.now(),
            node: self.host.node(),
            kind,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ap1000p::golden::{Label, Queue, Word};

    #[test]
    fn an_element_of_which_memory_took_the_tag_alone_is_none() {
        let mut memory = Memory::new(64);
        erase(&mut memory, 0, 8);
        assert_eq!(element(&memory, 16), None);
        let whole = Element {
            queue: Queue::User,
            label: Label { number: 3, index: 2 },
            position: 2,
            lap: 0,
            word: Word { data: 0, end: false },
        };
        let (tag, data) = whole.encode();
        assert!(memory.write(Addr(16), &tag.to_le_bytes()));
        assert_eq!(element(&memory, 16), None);
        assert!(memory.write(Addr(20), &data.to_le_bytes()));
        assert_eq!(element(&memory, 16), Some(whole));
        erase(&mut memory, 16, 1);
        assert_eq!(element(&memory, 16), None);
    }
}
