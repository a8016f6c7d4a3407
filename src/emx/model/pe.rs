//! One PE of the timed model: the golden models of its blocks, and when each of them does what.

use std::collections::VecDeque;

use crate::emx::backend::{Counts, Executed};
use crate::emx::golden::execute::{Around, Did, Fault, Retired, Special, Unit};
use crate::emx::golden::matching::{self, Outcome, Start};
use crate::emx::golden::memory::{Arbiter, Client, Map, Memory};
use crate::emx::packet::Packet;
use crate::emx::params::Config;
use crate::emx::regs::{REASON_NOWHERE, SIZE_COLUMNS, TYPE_THREAD, TYPE_WRITE};

use super::PACKET;
use super::input::{Done, Input};

/// What the matching unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetching {
    Idle,
    /// Looks whether the partner is there; what it reads by word 0 alone, too.
    Slot(Packet),
    Link(Packet),
    /// It was read.
    Begin(Packet),
    /// Writes the operand.
    Store,
    /// Empties the slot.
    Clear(Packet),
}

/// A PE.
#[derive(Clone, Debug)]
pub(super) struct Pe {
    number: u32,
    pes: u32,
    config: Config,
    pub memory: Memory,
    arbiter: Arbiter,
    pub input: Input,
    fetching: Fetching,
    /// When the packet is offered of which word 0 alone is known; it may be refused.
    comes: Option<u64>,
    /// The start at hand, and from when on it is offered.
    start: Option<(Start, u64)>,
    /// That start, and the one that was taken last, are of a WRITE.
    is_write: bool,
    writes: bool,
    pub unit: Unit,
    output: VecDeque<Packet>,
    injected: Option<u64>,
    pub told: Option<(u64, u32)>,
    pub counts: Counts,
    /// By address; the instruction that executed last.
    pub executed: Vec<Executed>,
    last: u32,
    /// CONTROL.RUN.
    run: bool,
    /// The host reads this word over and over: since when, and its longest wait.
    host: Option<(u32, u64, u64)>,
}

impl Pe {
    /// At rest, with empty memory.
    pub fn new(config: &Config, number: u32) -> Pe {
        Pe {
            number,
            pes: config.pes(),
            config: config.clone(),
            memory: Memory::new(Map::of(config)),
            arbiter: Arbiter::new(config),
            input: Input::new(config),
            fetching: Fetching::Idle,
            comes: None,
            start: None,
            is_write: false,
            writes: false,
            unit: Unit::new(config.fast_send),
            output: VecDeque::new(),
            injected: None,
            told: None,
            counts: Counts::default(),
            executed: Vec::new(),
            last: 0,
            run: true,
            host: None,
        }
    }

    /// The same PE, reset: its memory stays.
    pub fn reset(&mut self, number: u32) -> Pe {
        let fresh = Pe::new(&self.config, number);
        let memory = std::mem::replace(&mut self.memory, fresh.memory.clone());
        Pe { memory, ..fresh }
    }

    /// Does nothing happen here before a packet comes?
    pub fn is_idle(&self) -> bool {
        let still = self.start.is_none() && matches!(self.fetching, Fetching::Idle) && self.input.is_idle();
        let faulted = self.unit.execute.fault().is_some() && !self.input.awaits();
        (still || faulted) && self.unit.is_idle() && self.output.is_empty()
    }

    /// Room for one more packet from the network.
    pub fn has_room(&self) -> bool {
        self.input.has_room()
    }

    /// The host reads this word from now on.
    pub fn poll(&mut self, addr: u32, now: u64) {
        self.host = Some((addr, now + 1, 0));
    }

    /// The host reads no more.
    pub fn rests(&mut self) {
        self.host = None;
    }

    /// The host sets CONTROL.RUN, or clears it: no thread begins.
    pub fn runs(&mut self, run: bool) {
        self.run = run;
    }

    /// The longest wait of the host.
    pub fn polled(&self) -> Option<u64> {
        Some(self.host?.2)
    }

    /// A packet comes, whose second word is visible in cycle `at`.
    pub fn arrives(&mut self, packet: Packet, at: u64) {
        self.input.arrives(packet, at);
    }

    /// A cycle. `may_inject`: the switch has room for a packet of this PE. Gives the packet that goes there, and when
    /// the switch has it.
    pub fn cycle(&mut self, now: u64, may_inject: bool) -> Option<(Packet, u64)> {
        self.counts.stalled += u64::from(!self.has_room());
        let may_inject = may_inject && self.injected.is_none_or(|at| at + PACKET <= now);
        // What stood there when the cycle began.
        let stored = self.output.len();
        let mut leaves = if may_inject { self.output.pop_front() } else { None };
        let reply_ready = stored <= self.config.output_packets as usize;
        let answer = self.input.begin(now, reply_ready, &mut self.memory);
        let keeps = self.keeps();
        let asked = match self.fetching {
            Fetching::Slot(_) | Fetching::Link(_) => !keeps,
            _ => self.fetching == Fetching::Store,
        };
        let came = self.comes == Some(now);
        let early = self.early(now).filter(|_| !keeps);
        self.take_next(now);
        // An access that follows at once; word 1 is there a cycle later.
        let follows = matches!(self.fetching, Fetching::Clear(_)) || (self.fetching == Fetching::Store && !came);
        let start = self.start.filter(|(_, at)| *at <= now).map(|(start, _)| start);
        let fetch = self.unit.fetch(&self.memory, self.run, start.as_ref()).is_some();
        let requests = [
            self.unit.access().is_some(),
            fetch && !self.config.code_port,
            asked || follows || early.is_some(),
            self.input.asks(),
            self.host.is_some(),
        ];
        let granted = self.arbiter.grant(requests, self.input.is_urgent(now));
        let data_ready = granted == Some(Client::Data);
        let sends = self.unit.sending(&self.memory, data_ready);
        // A thread's packet goes behind an answer of the same cycle; without a buffer, into the network at once.
        let can_send = match self.config.output_packets as usize {
            0 => may_inject,
            places => answer.is_none() && stored < places,
        };
        let sends = sends.filter(|_| can_send);
        let around = Around {
            run: self.run,
            start,
            data_ready,
            fetch_ready: fetch && (self.config.code_port || granted == Some(Client::Fetch)),
            send_ready: sends.is_some(),
            special: Special {
                pe: self.number,
                time: now as u32,
                depth: self.input.depth() as u32,
            },
        };
        self.execute(&around, now);
        if let Some(packet) = sends {
            self.counts.sent += 1;
            if may_inject && stored == 0 {
                leaves = Some(packet);
            } else {
                self.output.push_back(packet);
            }
        }
        self.output.extend(answer);
        if let Some(packet) = early {
            let matching = packet.kind.is_matching();
            self.fetching = if matching {
                Fetching::Slot(packet)
            } else {
                Fetching::Link(packet)
            };
            self.comes = Some(now + 2);
        }
        match granted {
            Some(Client::Matching) => self.fetched(now),
            Some(Client::Host) => {
                self.host = self
                    .host
                    .map(|(addr, since, longest)| (addr, now + 1, longest.max(now - since)));
            }
            _ => (),
        }
        for done in self
            .input
            .end(now, granted == Some(Client::Input), &mut self.memory)
            .into_iter()
            .flatten()
        {
            match done {
                Done::Bypassed => self.counts.bypassed += 1,
                Done::Spilled => self.counts.spilled += 1,
                Done::Refused(reason) => self.refuse(reason),
            }
        }
        let packet = leaves?;
        self.injected = Some(now);
        if u32::from(packet.pe) >= self.pes {
            self.refuse(REASON_NOWHERE);
            return None;
        }
        Some((packet, now + 1))
    }

    /// The execution unit's cycle.
    fn execute(&mut self, around: &Around, now: u64) {
        let is_busy = self.unit.execute.is_running();
        let came = self.unit.cycle(&mut self.memory, around);
        self.counts.busy += u64::from(is_busy);
        self.counts.send_wait += u64::from(came.waits_send);
        if is_busy {
            self.took_a_cycle(came.executed);
        }
        if came.started {
            self.start = None;
            self.writes = self.is_write;
            self.counts.started += 1;
        }
        if let Some(Ok(retired)) = came.executed {
            self.counts.instructions += 1;
            if let Did::Tell(value) = retired.did {
                self.told = Some((now, value));
            }
        }
    }

    /// A cycle of the instruction that executes, or else of the one before it.
    fn took_a_cycle(&mut self, executed: Option<Result<Retired, Fault>>) {
        if let Some(executed) = executed {
            self.last = executed.map_or_else(|fault| fault.pc, |retired| retired.pc);
        }
        let at = self.last as usize;
        if at < self.memory.map.words as usize {
            if at >= self.executed.len() {
                self.executed.resize(at + 1, Executed::default());
            }
            self.executed[at].cycles += 1;
            self.executed[at].times += u64::from(executed.is_some());
        }
    }

    /// The packet of which word 0 comes, if the matching unit reads for it already.
    fn early(&self, now: u64) -> Option<Packet> {
        let is_free = self.fetching == Fetching::Idle && self.start.is_none();
        let packet = self.input.early(now).filter(|_| is_free)?;
        (packet.kind.kind() == TYPE_THREAD).then_some(packet)
    }

    /// A WRITE's thread is not done: the matching unit reads nothing.
    fn keeps(&self) -> bool {
        self.writes && (self.unit.execute.is_running() || self.unit.access().is_some())
    }

    /// The matching unit goes on where it needs no access: it takes a packet, or has what it needs.
    fn take_next(&mut self, now: u64) {
        if self.comes == Some(now) {
            self.comes = None;
            if self.input.take().is_none() {
                self.fetching = Fetching::Idle;
                return;
            }
        }
        match self.fetching {
            Fetching::Begin(packet) if self.comes.is_none() => {
                self.fetching = if matching::meets(&packet, &self.memory) {
                    Fetching::Clear(packet)
                } else {
                    self.match_it(&packet, now)
                };
            }
            Fetching::Idle if self.start.is_none() => {
                let Some(packet) = self.input.take() else { return };
                self.fetching = match packet.kind {
                    kind if kind.kind() != TYPE_THREAD => self.match_it(&packet, now),
                    kind if kind.is_matching() => Fetching::Slot(packet),
                    _ => Fetching::Link(packet),
                };
            }
            _ => (),
        }
    }

    /// The matching unit has the port.
    fn fetched(&mut self, now: u64) {
        self.fetching = match self.fetching {
            Fetching::Slot(packet) => Fetching::Link(packet),
            Fetching::Link(packet) => Fetching::Begin(packet),
            Fetching::Clear(packet) => self.match_it(&packet, now),
            _ => Fetching::Idle,
        };
    }

    fn match_it(&mut self, packet: &Packet, now: u64) -> Fetching {
        match matching::take(packet, &mut self.memory) {
            Outcome::Start(start) => {
                self.start = Some((start, now + 1));
                self.is_write = packet.kind.kind() == TYPE_WRITE;
            }
            Outcome::Waits => return Fetching::Store,
            Outcome::Refused(reason) => self.refuse(reason),
        }
        Fetching::Idle
    }

    fn refuse(&mut self, reason: u32) {
        self.counts.refused[reason as usize] += 1;
    }

    /// Its column in the network.
    pub fn column(&self) -> u32 {
        self.number % SIZE_COLUMNS
    }
}
