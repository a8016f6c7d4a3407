//! A cell of the model: its registers and queues, as software sees them.

use crate::net::torus::Class;
use std::collections::VecDeque;

use super::network::Outgoing;
use super::queues::{Queues, Setting};
use super::replay::{Job, Parts, Wait};
use super::{Access, Fault, Timing, Unit};
use crate::ap1000p::golden::Queue;
use crate::ap1000p::golden::access;
use crate::ap1000p::golden::acks::Acks;
use crate::ap1000p::golden::command::{CommandModel, Setup};
use crate::ap1000p::golden::page::{Owner, Page};
use crate::ap1000p::golden::queues::Region;
use crate::ap1000p::golden::receive::{What, Why};
use crate::ap1000p::golden::send::Place;
use crate::ap1000p::golden::word::Request;
use crate::ap1000p::golden::wtp::{CACHE, Tags, Update};
use crate::ap1000p::regs::*;

/// The largest count of outstanding remote stores: 16 bits.
const ACKS_MOST: u32 = ACKS_COUNT_MASK;
/// Counters of events stop at this value.
const COUNT_MOST: u32 = 0xffff;
/// Every interrupt cause.
const CAUSES: u32 = ENABLE_CAUSES_MASK;

/// The first offset after the registers of the rings.
const RINGS_END: u32 = RING2_READ + 4;

/// The ring that a register belongs to, and the same register of ring 0.
fn of_ring(offset: u32) -> (usize, u32) {
    let each = RING1_WRITE - RING0_WRITE;
    let at = offset - RING0_WRITE;
    ((at / each) as usize, RING0_WRITE + at % each)
}

/// A field of a register.
fn field(value: u32, mask: u32) -> u32 {
    (value & mask) >> mask.trailing_zeros()
}

/// Registers that hold a value of their own.
#[derive(Default)]
pub(super) struct Registers {
    pub cell: u32,
    pub size: u32,
    pub context: u32,
    pub range: u32,
    pub spill_region: u32,
    pub mode: u32,
    pub cause: u32,
    pub enable: u32,
    pub peek: u32,
    pub wtp_pages: u32,
    /// `ACCESS_...` of the last load.
    pub loaded: u32,
    /// Refused commands: their count, and the page and the reason of the last one.
    pub refused: (u32, u16, u32),
    /// Counts of stray messages: [acknowledgements, replies to loads].
    stray: [u32; 2],
    /// Counts of broken messages: [requests, replies].
    pub broken: [u32; 2],
    /// Sender and kind of the last broken message.
    pub broken_what: u32,
    pub broken_why: u32,
}

impl Registers {
    pub fn setup(&self) -> Setup {
        let bound = |mask: u32| field(self.range, mask) as u8 as i8;
        Setup {
            context: self.context as u16,
            size: self.place().size,
            low: [bound(RANGE_LOW_X_MASK), bound(RANGE_LOW_Y_MASK)],
            high: [bound(RANGE_HIGH_X_MASK), bound(RANGE_HIGH_Y_MASK)],
        }
    }

    /// The spill region of the queues.
    pub fn region(&self) -> Region {
        Region {
            base: field(self.spill_region, SPILL_REGION_BASE_MASK) as u8,
            limit: field(self.spill_region, SPILL_REGION_LIMIT_MASK) as u8,
        }
    }

    pub fn place(&self) -> Place {
        Place {
            at: [CELL_X_MASK, CELL_Y_MASK].map(|mask| field(self.cell, mask) as u8),
            size: [SIZE_X_MASK, SIZE_Y_MASK].map(|mask| field(self.size, mask).max(1) as u8),
        }
    }

    pub fn has_mode(&self, mask: u32) -> bool {
        self.mode & mask != 0
    }

    pub fn irq(&self) -> bool {
        self.cause & self.enable != 0
    }

    /// Counts a message that nothing waited for: an acknowledgement (0) or the reply to a load (1).
    pub fn stray(&mut self, kind: usize) {
        self.stray[kind] = (self.stray[kind] + 1).min(COUNT_MOST);
        self.cause |= CAUSE_STRAY_MASK;
    }

    /// Counts a message of this class that was not executed.
    pub fn break_message(&mut self, class: usize, why: Why, what: What) {
        self.broken[class] = (self.broken[class] + 1).min(COUNT_MOST);
        self.broken_what = u32::from(what.x) << BROKEN_WHAT_X_SHIFT
            | u32::from(what.y) << BROKEN_WHAT_Y_SHIFT
            | u32::from(what.kind) << BROKEN_WHAT_KIND_SHIFT;
        self.broken_why = why as u32;
        self.cause |= CAUSE_BROKEN_MASK;
    }
}

pub(super) struct Node {
    pub parts: Parts,
    pub regs: Registers,
    pub commands: CommandModel,
    pub queues: Queues,
    pub acks: Acks,
    pub tags: Tags,
    /// Indexed by [`Unit`].
    pub jobs: [Option<Job>; 5],
    /// Messages that have arrived: [requests, replies].
    pub inbox: [VecDeque<Vec<u32>>; 2],
    /// The command being sent has had a message cut short: [requests, replies].
    pub cut: [bool; 2],
    /// The fault that is shown of a command that was put back: [requests, replies].
    pub aside: [Option<(Queue, Fault)>; 2],
    /// Send flags to be counted.
    pub flags: VecDeque<Request>,
    /// The unit whose fault holds the word unit.
    pub word_held: Option<Unit>,
    /// First free cycle of the send controllers, the link to the router, and the path to the cell itself.
    pub send_free: [u64; 2],
    pub link_free: u64,
    pub local_free: u64,
    /// Messages that wait for the link to the router, or for the path to the cell itself.
    pub outgoing: VecDeque<Outgoing>,
    /// Messages on their way into the network, and messages on their way out of it.
    pub sending: u32,
    pub coming: u32,
    /// Messages of each class that arrive at this cell or wait here.
    pub expected: [u32; 2],
    pub host: Option<Access>,
    pub irq: bool,
}

impl Node {
    pub fn new(parts: Parts, hardware_refill: bool) -> Node {
        Node {
            parts,
            regs: Registers {
                size: 1 << SIZE_X_SHIFT | 1 << SIZE_Y_SHIFT,
                ..Registers::default()
            },
            commands: CommandModel::default(),
            queues: Queues::new(hardware_refill),
            acks: Acks::new(ACKS_MOST),
            tags: Tags::new(0),
            jobs: Default::default(),
            inbox: Default::default(),
            cut: [false; 2],
            aside: [None; 2],
            flags: VecDeque::new(),
            word_held: None,
            send_free: [0; 2],
            link_free: 0,
            local_free: 0,
            outgoing: VecDeque::new(),
            sending: 0,
            coming: 0,
            expected: [0; 2],
            host: None,
            irq: false,
        }
    }

    /// Executes the store of a word to a page.
    pub fn store(&mut self, page: u16, data: u32) {
        let outcome = self.commands.store(&self.regs.setup(), page, data);
        if let Some((why, page)) = outcome.refused {
            let (count, ..) = self.regs.refused;
            self.regs.refused = ((count + 1).min(COUNT_MOST), page, why as u32);
            self.regs.cause |= CAUSE_REFUSED_MASK;
        }
        let Some((queue, words)) = outcome.words else {
            return;
        };
        if let Some(Page::Direct { label, .. }) = Page::decode(page) {
            words
                .into_iter()
                .for_each(|word| self.queues.direct(queue, word, label));
        } else {
            let words: Vec<u32> = words.iter().map(|word| word.data).collect();
            self.queues.enter(queue, &words);
        }
    }

    pub fn next_message(&mut self, class: Class) -> Option<(Vec<u32>, bool)> {
        let [columns, _] = self.regs.place().size;
        self.queues.next(class, columns)
    }

    /// Moves waiting words on as far as there is room. Returns whether any word moved.
    pub fn flow(&mut self, now: u64, timing: &Timing) -> bool {
        let setting = Setting {
            mode: self.regs.mode,
            region: self.regs.region(),
        };
        self.queues.flow(now, setting, &mut self.parts.memory, timing)
    }

    /// The faults that wait for software, indexed by the unit that shows them, with the unit whose execution waits.
    pub fn faults(&self) -> [Option<(Unit, Fault)>; 5] {
        let mut faults = [None; 5];
        for (unit, job) in Unit::ALL.into_iter().zip(&self.jobs) {
            if let Some(Wait::Fault(fault)) = job.as_ref().and_then(|job| job.wait) {
                faults[fault.unit as usize] = Some((unit, fault));
            }
        }
        for (_, fault) in self.aside.into_iter().flatten() {
            faults[fault.unit as usize] = Some((fault.unit, fault));
        }
        faults
    }

    /// FAULTS: a bit for each unit that shows a fault.
    pub fn who(&self) -> u32 {
        let shown = self.faults().map(|fault| u32::from(fault.is_some()));
        shown.iter().enumerate().map(|(unit, bit)| bit << unit).sum()
    }

    /// Sets FAULT, FILL and FULL again while their conditions last, and QUEUE after the loss of a message.
    pub fn renew_causes(&mut self) {
        let lost = std::mem::take(&mut self.queues.lost);
        for (mask, lasts) in [
            (CAUSE_FAULT_MASK, self.who() != 0),
            (CAUSE_FILL_MASK, self.queues.fill()),
            (CAUSE_FULL_MASK, self.queues.full()),
            (CAUSE_QUEUE_MASK, lost),
        ] {
            self.regs.cause |= if lasts { mask } else { 0 };
        }
    }

    pub fn busy(&self) -> bool {
        self.queues.words() > 0
            || self.jobs.iter().any(Option::is_some)
            || self.inbox.iter().any(|inbox| !inbox.is_empty())
            || !self.flags.is_empty()
            || self.sending + self.coming > 0
    }

    /// The value of a register in this cycle; `None` if there is no such register.
    pub fn read(&self, offset: u32, now: u64) -> Option<u32> {
        let regs = &self.regs;
        let [user, system] = Owner::ALL.map(|class| self.commands.open(class));
        Some(match offset {
            CELL => regs.cell,
            SIZE => regs.size,
            CONTEXT => regs.context,
            RANGE => regs.range,
            CONTEXT_TABLE => self.parts.mmu.table,
            SPILL_REGION => regs.spill_region,
            MODE => regs.mode,
            STATUS => {
                let stable = regs.has_mode(MODE_PAUSE_MASK) && self.queues.stable(now);
                let bits = [
                    (STATUS_STABLE_SHIFT, stable),
                    (STATUS_FILL_SHIFT, self.queues.fill()),
                    (STATUS_FULL_SHIFT, self.queues.full()),
                    (STATUS_BUSY_SHIFT, self.busy()),
                ];
                let bits: u32 = bits.iter().map(|&(shift, bit)| u32::from(bit) << shift).sum();
                bits | self.queues.spilled() << STATUS_SPILLED_SHIFT
            }
            CAUSE => regs.cause,
            ENABLE => regs.enable,
            FAULTS => self.who(),
            SERVE | DEMAP | DEMAP_ALL | DROP | RELEASE | WTP_UPDATE => 0,
            WTP_CACHE => self.tags.base,
            WTP_PAGES => regs.wtp_pages,
            LOADED => regs.loaded,
            ACKS => self.acks.count(),
            STRAY_COUNT => regs.stray[0] | regs.stray[1] << STRAY_COUNT_LOADS_SHIFT,
            WHY0..=WHERE4 if offset.is_multiple_of(4) => {
                let unit = (offset - WHY0) / (WHY1 - WHY0);
                let fault = self.faults()[unit as usize].map(|(_, fault)| fault);
                match fault {
                    None => 0,
                    Some(fault) if (offset - WHY0).is_multiple_of(WHY1 - WHY0) => fault.why(),
                    Some(fault) => fault.lookup.addr,
                }
            }
            REFUSED_COUNT => regs.refused.0 | u32::from(regs.refused.1) << REFUSED_COUNT_PAGE_SHIFT,
            BROKEN_COUNT => regs.broken[0] | regs.broken[1] << BROKEN_COUNT_REPLIES_SHIFT,
            BROKEN_WHAT => regs.broken_what,
            OPEN => {
                (user.1.len() as u32) << OPEN_USER_SHIFT
                    | (system.1.len() as u32) << OPEN_SYSTEM_SHIFT
                    | regs.broken_why << OPEN_WHY_SHIFT
                    | regs.refused.2 << OPEN_CAUSE_SHIFT
            }
            OPEN_PAGE => u32::from(user.0) | u32::from(system.0) << OPEN_PAGE_SYSTEM_SHIFT,
            PEEK => {
                let of_system = regs.peek & PEEK_SYSTEM_MASK != 0;
                let (_, words) = if of_system { system } else { user };
                let word = words.get(field(regs.peek, PEEK_WORD_MASK) as usize);
                word.copied().unwrap_or(0)
            }
            HELD => self.queues.held(),
            POSITION => self.queues.position(),
            RING0_WRITE..RINGS_END => self.read_ring(offset)?,
            ID => ID_VALUE,
            _ => return None,
        })
    }

    fn read_ring(&self, offset: u32) -> Option<u32> {
        let (set, offset) = of_ring(offset);
        let rings = &self.parts.rings;
        let ring = &rings.sets[set];
        Some(match offset {
            RING0_WRITE => ring.write,
            RING0_MODE => ring.mode() | u32::from(rings.busy == Some(set)) << RING0_MODE_BUSY_SHIFT,
            RING0_READ => ring.read,
            _ => return None,
        })
    }

    fn write_ring(&mut self, offset: u32, value: u32) -> bool {
        let (set, offset) = of_ring(offset);
        let ring = &mut self.parts.rings.sets[set];
        match offset {
            RING0_WRITE => ring.write = value & RING0_WRITE_SLOT_MASK,
            RING0_MODE => ring.set_mode(value),
            RING0_READ => ring.read = value & RING0_READ_SLOT_MASK,
            _ => return false,
        }
        true
    }

    /// Writes a register; false if it is not writable. The caller executes SERVE.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        let regs = &mut self.regs;
        match offset {
            CELL => regs.cell = value & (CELL_X_MASK | CELL_Y_MASK),
            SIZE => regs.size = value & (SIZE_X_MASK | SIZE_Y_MASK),
            CONTEXT => regs.context = value & CONTEXT_NUMBER_MASK,
            RANGE => regs.range = value,
            CONTEXT_TABLE => self.parts.mmu.table = value & !0x3fff,
            SPILL_REGION => {
                let limit = field(value, SPILL_REGION_LIMIT_MASK).min(SPILL_UNITS);
                regs.spill_region = value & SPILL_REGION_BASE_MASK | limit << SPILL_REGION_LIMIT_SHIFT;
            }
            MODE => {
                let queues = MODE_PAUSE_MASK | MODE_THROUGH_MASK | MODE_BLOCK_MASK;
                regs.mode = value & (queues | MODE_FAULT_HOST_MASK | MODE_FAULT_NET_MASK);
            }
            CAUSE => regs.cause &= !value,
            ENABLE => regs.enable = value & CAUSES,
            DEMAP => self.parts.mmu.demap(value),
            DEMAP_ALL => self.parts.mmu.demap_all(),
            DROP => {
                for class in Owner::ALL {
                    let bit = match class {
                        Owner::User => DROP_USER_MASK,
                        Owner::System => DROP_SYSTEM_MASK,
                    };
                    if value & bit != 0 {
                        self.commands.drop(class);
                    }
                }
            }
            WTP_CACHE => self.tags.base = value & !(CACHE - 1),
            WTP_PAGES => regs.wtp_pages = value,
            WTP_UPDATE => {
                if let Some((update, remote)) = Update::of(value) {
                    self.tags.update(update, remote);
                }
            }
            PEEK => regs.peek = value & (PEEK_WORD_MASK | PEEK_SYSTEM_MASK),
            RING0_WRITE..RINGS_END => return self.write_ring(offset, value),
            RELEASE => self.queues.release(value & RELEASE_COUNT_MASK),
            SERVE => {}
            _ => return false,
        }
        true
    }

    /// The work in progress, for a hang report; `None` if the cell is idle.
    pub fn state(&self) -> Option<String> {
        let waits = |job: &Job| match job.wait {
            Some(Wait::Fault(fault)) if u32::from(fault.reason) == FAULT_RING => format!(
                "waits for software: no ring buffer of context {} takes {} slots; write SERVE",
                fault.lookup.context,
                field(fault.lookup.addr, WANT_SLOTS_MASK)
            ),
            Some(Wait::Fault(fault)) => format!(
                "waits for software: no translation of {:#x} (WHY {:#x}); write SERVE",
                fault.lookup.addr,
                fault.why()
            ),
            Some(Wait::Word) => "waits for the word unit".into(),
            Some(Wait::Register) => "waits for a communication register".into(),
            Some(Wait::Until(_)) | None => "works".into(),
        };
        let jobs = Unit::ALL.into_iter().zip(&self.jobs);
        let mut parts: Vec<String> = jobs
            .filter_map(|(unit, job)| job.as_ref().map(|job| format!("{unit:?} {}", waits(job))))
            .collect();
        for (queue, fault) in self.aside.into_iter().flatten() {
            let (addr, why) = (fault.lookup.addr, fault.why());
            parts.push(format!(
                "{queue:?} waits for software: no translation of {addr:#x} (WHY {why:#x}); write SERVE"
            ));
        }
        let counted = [
            (self.queues.words(), "words in queues"),
            (self.inbox[0].len() + self.inbox[1].len(), "messages to be received"),
            (self.flags.len(), "flags to be counted"),
        ];
        parts.extend(
            counted
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}")),
        );
        match self.host {
            Some(Access::Waiting(req)) => parts.push(format!("{req} waits")),
            Some(Access::Loading(access)) => {
                let access::Access { cell, addr, .. } = access;
                parts.push(format!("the host waits for a load of {addr:#x} of cell {cell:?}"));
            }
            Some(Access::Started(_) | Access::Copying | Access::Answered(_)) | None => {}
        }
        if self.irq {
            parts.push("interrupt line up".into());
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}
