//! Registers: what an access of the host does, and what events leave.

use crate::cppacs::regs::*;
use crate::net::hyper::Place;

use super::entry::Process;

/// An access that is answered with an error, and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// A word of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub right: bool,
    pub index: u32,
    pub word: u32,
}

/// What an access does beside the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// A write that stays here.
    Written,
    Read(u64),
    /// The answer to a read is the tables'.
    Table(Entry),
    Kick {
        process: u32,
        channel: u32,
        tcw: u32,
    },
    /// The node is at the barrier.
    Arrives,
}

/// What registers show of the other blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// By channel.
    pub sending: [bool; 2],
    pub receiving: [bool; 2],
    /// Processes whose kicks wait.
    pub kicked: u8,
    pub field: u32,
    pub answers: u32,
    pub drained: u32,
    /// At the barrier.
    pub waiting: bool,
    /// Kicks that the process's queues take.
    pub room: [u32; 2],
}

/// Kicks of a process that were refused, and the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Kicks {
    refused: u16,
    tcw: u32,
    reason: u32,
}

pub struct Regs {
    /// Entries of the tables.
    rights: u32,
    fields: u32,
    /// Registers that keep what was written, by offset / 8.
    kept: [u64; 16],
    processes: [[u64; 2]; SIZE_PROCESSES as usize],
    kicks: [Kicks; SIZE_PROCESSES as usize],
    is_member: bool,
    releases: u32,
    cause: u64,
    errors: u32,
    send_refusals: [u32; 16],
    receive_refusals: [u32; 16],
    counts: [u32; 8],
}

const CAUSES: u64 = 2 * CAUSE_BARRIER_MASK - 1;

fn saturated(count: u32) -> u64 {
    count.min(u16::MAX.into()).into()
}

fn flag(is_set: bool, mask: u64) -> u64 {
    if is_set { mask } else { 0 }
}

impl Regs {
    /// As they are after a reset, with tables of so many entries.
    pub fn new(rights: u32, fields: u32) -> Regs {
        Regs {
            rights,
            fields,
            kept: [0; 16],
            processes: Default::default(),
            kicks: Default::default(),
            is_member: false,
            releases: 0,
            cause: 0,
            errors: 0,
            send_refusals: [0; 16],
            receive_refusals: [0; 16],
            counts: [0; 8],
        }
    }

    /// An access of the host: a read, or a write with its strobes.
    ///
    /// # Errors
    /// There is no such register, or it does not take this. It is counted.
    pub fn access(&mut self, addr: u32, write: Option<(u64, u8)>, live: &Live) -> Result<Done, Refused> {
        let done = match write {
            Some((_, strobes)) if strobes != 0xff => None,
            _ if !addr.is_multiple_of(8) => None,
            Some((data, _)) => self.write(addr, data, live),
            None => self.read(addr, live),
        };
        done.ok_or_else(|| {
            self.errors = self.errors.saturating_add(1);
            self.cause |= CAUSE_HOST_MASK;
            Refused
        })
    }

    fn entry(&self, addr: u32) -> Option<Entry> {
        let (right, index, word) = match addr {
            RIGHTS..FIELDS => (true, (addr - RIGHTS) / 16, addr % 16 / 8),
            FIELDS..KICK => (false, (addr - FIELDS) / 32, addr % 32 / 8),
            _ => return None,
        };
        let entries = if right { self.rights } else { self.fields };
        (index < entries).then_some(Entry { right, index, word })
    }

    fn write(&mut self, addr: u32, data: u64, live: &Live) -> Option<Done> {
        if let Some(entry) = self.entry(addr) {
            return Some(Done::Table(entry));
        }
        match addr {
            NODE | CONTROL | MASK | RING => self.kept[addr as usize / 8] = data,
            CAUSE => self.cause &= !data,
            BARRIER => {
                let (arrives, is_member) = (data & BARRIER_ARRIVE_MASK != 0, data & BARRIER_MEMBER_MASK != 0);
                if arrives && (!is_member || live.waiting) {
                    return None;
                }
                self.is_member = is_member;
                if arrives {
                    return Some(Done::Arrives);
                }
            }
            AREA.. if addr < AREA + 16 * SIZE_PROCESSES => {
                self.processes[(addr - AREA) as usize / 16][(addr % 16 / 8) as usize] = data;
            }
            KICK.. if addr % SIZE_PAGE == 0 && addr < KICK + SIZE_PROCESSES * SIZE_PAGE => {
                return Some(Done::Kick {
                    process: (addr - KICK) / SIZE_PAGE,
                    channel: (data & KICK_CHANNEL_MASK != 0).into(),
                    tcw: (data & KICK_TCW_MASK) as u32,
                });
            }
            _ => return None,
        }
        Some(Done::Written)
    }

    fn read(&self, addr: u32, live: &Live) -> Option<Done> {
        if let Some(entry) = self.entry(addr) {
            return Some(Done::Table(entry));
        }
        let index = |base: u32| (addr - base) as usize / 8;
        let value = match addr {
            NODE | CONTROL | MASK | RING | NOTIFIED | SEND_FIRST | RECEIVE_FIRST => self.kept[index(0)],
            STATUS => status(live),
            CAUSE => self.cause,
            BARRIER => {
                flag(live.waiting, BARRIER_WAITING_MASK)
                    | flag(self.is_member, BARRIER_MEMBER_MASK)
                    | u64::from(self.releases) << BARRIER_COUNT_SHIFT
            }
            HOST_ERRORS => saturated(self.errors),
            DRAINED => live.drained.into(),
            SEND_REFUSALS..RECEIVE_REFUSALS => saturated(self.send_refusals[index(SEND_REFUSALS)]),
            RECEIVE_REFUSALS..COUNTS => saturated(self.receive_refusals[index(RECEIVE_REFUSALS)]),
            COUNTS.. if addr < COUNTS + 8 * 8 => self.counts[index(COUNTS)].into(),
            AREA.. if addr < AREA + 16 * SIZE_PROCESSES => {
                self.processes[(addr - AREA) as usize / 16][(addr % 16 / 8) as usize]
            }
            KICKS.. if addr % SIZE_PAGE == 8 && addr < KICK + SIZE_PROCESSES * SIZE_PAGE => {
                let kicks = self.kicks[((addr - KICK) / SIZE_PAGE) as usize];
                u64::from(live.room[0]) << KICKS_ROOM_SHIFT
                    | u64::from(live.room[1]) << KICKS_ROOM_ACK_SHIFT
                    | u64::from(kicks.refused) << KICKS_REFUSED_SHIFT
                    | u64::from(kicks.tcw) << KICKS_TCW_SHIFT
                    | u64::from(kicks.reason) << KICKS_REASON_SHIFT
            }
            _ => return None,
        };
        Some(Done::Read(value))
    }

    /// `count` events of a code of Counts.
    pub fn count(&mut self, code: u32, count: u32) {
        let counter = &mut self.counts[code as usize];
        *counter = counter.wrapping_add(count);
    }

    /// A TCW of a process was refused.
    pub fn send_refused(&mut self, process: u32, tcw: u32, reason: u32) {
        let counter = &mut self.send_refusals[reason as usize];
        *counter = counter.saturating_add(1);
        let kicks = &mut self.kicks[process as usize];
        *kicks = Kicks {
            refused: kicks.refused.wrapping_add(1),
            tcw,
            reason,
        };
        if self.cause & CAUSE_SEND_REFUSED_MASK == 0 {
            self.kept[SEND_FIRST as usize / 8] = u64::from(tcw) << SEND_FIRST_TCW_SHIFT
                | u64::from(process) << SEND_FIRST_PROCESS_SHIFT
                | u64::from(reason) << SEND_FIRST_REASON_SHIFT;
        }
        self.cause |= CAUSE_SEND_REFUSED_MASK;
    }

    /// A message was refused.
    pub fn receive_refused(&mut self, src: Place, field: u32, kind: u32, reason: u32) {
        let counter = &mut self.receive_refusals[reason as usize];
        *counter = counter.saturating_add(1);
        if self.cause & CAUSE_RECEIVE_REFUSED_MASK == 0 {
            self.kept[RECEIVE_FIRST as usize / 8] = u64::from(src.word()) << RECEIVE_FIRST_SRC_SHIFT
                | u64::from(field) << RECEIVE_FIRST_FIELD_SHIFT
                | u64::from(kind) << RECEIVE_FIRST_KIND_SHIFT
                | u64::from(reason) << RECEIVE_FIRST_REASON_SHIFT;
        }
        self.cause |= CAUSE_RECEIVE_REFUSED_MASK;
    }

    /// A message with NOTIFY was complete.
    pub fn notified(&mut self, src: Place, field: u32) {
        self.kept[NOTIFIED as usize / 8] =
            u64::from(src.word()) << NOTIFIED_SRC_SHIFT | u64::from(field) << NOTIFIED_FIELD_SHIFT;
        self.cause |= CAUSE_NOTIFY_MASK;
    }

    /// A field was shut.
    pub fn shut(&mut self) {
        self.cause |= CAUSE_SHUT_MASK;
    }

    /// The barrier was released.
    pub fn released(&mut self) {
        self.releases = self.releases.wrapping_add(1);
        self.cause |= CAUSE_BARRIER_MASK;
    }

    pub fn irq(&self) -> bool {
        self.cause & self.kept[MASK as usize / 8] & CAUSES != 0
    }

    /// Kicks are served.
    pub fn runs(&self) -> bool {
        self.kept[CONTROL as usize / 8] & CONTROL_SEND_MASK != 0
    }

    pub fn is_member(&self) -> bool {
        self.is_member
    }

    /// The words NODE and RING.
    pub fn node(&self) -> u64 {
        self.kept[NODE as usize / 8]
    }

    pub fn ring(&self) -> u64 {
        self.kept[RING as usize / 8]
    }

    pub fn process(&self, number: usize) -> Process {
        let [area, tcws] = self.processes[number];
        Process::of(area, tcws)
    }
}

fn status(live: &Live) -> u64 {
    flag(live.sending[0], STATUS_SENDING_MASK)
        | flag(live.sending[1], STATUS_SENDING_ACK_MASK)
        | flag(live.receiving[0], STATUS_RECEIVING_MASK)
        | flag(live.receiving[1], STATUS_RECEIVING_ACK_MASK)
        | u64::from(live.kicked) << STATUS_KICKED_SHIFT
        | if live.receiving[0] {
            u64::from(live.field) << STATUS_FIELD_SHIFT
        } else {
            0
        }
        | u64::from(live.answers) << STATUS_ANSWERS_SHIFT
}
