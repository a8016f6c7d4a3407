//! The network interface adapter as a whole: the models of its blocks on one memory.
//!
//! A step is an access of the host, or the last word of a worm that leaves or comes. Each has all its effect at once;
//! the hardware must have had it when it is at rest. Whose kick is served next, and when an answer goes between the
//! transfers of kicks, is the hardware's choice, which the worms show. What two events that nothing orders do to one
//! word is not the model's to say: who compares keeps them apart.

use std::collections::VecDeque;

use crate::cppacs::regs::*;
use crate::harness::memory::Memory;
use crate::net::hyper::{Channel, Grid, Place};

use super::ack_receive::{Act, Ask, Source, ack_receive};
use super::ack_send;
use super::entry::Field;
use super::fetch::Fetch;
use super::message::{Kind, RecvReason};
use super::receive::{Named, Ring, receive};
use super::regs::{Done, Live, Refused, Regs};
use super::runs::Run;
use super::send::{self, Sent};
use super::tables::Tables;
use super::tcw::{Descriptor, Kick, Refusal};
use super::words::{BusError, Job, Op, perform};

const PROCESSES: usize = SIZE_PROCESSES as usize;

/// A worm that nothing asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {channel:?} channel sends {got:x?}; what may be sent next is {want:x?}")]
pub struct NotDue {
    pub channel: Channel,
    pub got: Vec<u32>,
    /// The next worm of each transfer that may go on or begin.
    pub want: Vec<Vec<u32>>,
}

/// What is to be sent: the worms still to come, and what follows the last of them.
#[derive(Clone, Debug)]
struct Transfer {
    worms: VecDeque<Vec<u32>>,
    /// Of a kick; answers have none.
    kick: Option<Kick>,
    sent: Sent,
}

/// A node's NIA with its memory.
pub struct Nia {
    pub memory: Memory,
    regs: Regs,
    tables: Tables,
    /// By channel and process.
    kicks: [[VecDeque<u32>; PROCESSES]; 2],
    depth: u32,
    answers: VecDeque<Descriptor>,
    most_answers: usize,
    under_way: [Option<Transfer>; 2],
}

impl Nia {
    /// After reset, with tables of so many entries, queues of `depth` kicks, and room for so many answers.
    pub fn new(memory: Memory, rights: u32, fields: u32, depth: u32, answers: usize) -> Nia {
        Nia {
            memory,
            regs: Regs::new(rights, fields),
            tables: Tables::new(rights as usize, fields as usize),
            kicks: Default::default(),
            depth,
            answers: VecDeque::new(),
            most_answers: answers,
            under_way: Default::default(),
        }
    }

    fn place(&self) -> Place {
        Place::of(self.regs.node() as u32)
    }

    fn ring(&self) -> Ring {
        let bits = |mask: u64, shift: u32| ((self.regs.ring() & mask) >> shift) as u32;
        Ring {
            tail: bits(RING_TAIL_MASK, RING_TAIL_SHIFT),
            slot_log: bits(RING_SLOT_LOG_MASK, RING_SLOT_LOG_SHIFT),
            slots_log: bits(RING_SLOTS_LOG_MASK, RING_SLOTS_LOG_SHIFT),
        }
    }

    /// An access of the host to a node at rest: a read gives a value, a write 0.
    ///
    /// # Errors
    /// It is answered with an error.
    pub fn host(&mut self, addr: u32, write: Option<u64>) -> Result<u64, Refused> {
        let live = Live {
            room: [self.depth; 2],
            ..Live::default()
        };
        match self.regs.access(addr, write.map(|data| (data, 0xff)), &live)? {
            Done::Read(value) => return Ok(value),
            Done::Table(entry) => {
                let (right, index, word) = (entry.right, entry.index as usize, entry.word as usize);
                match write {
                    Some(value) => {
                        self.tables.write(right, index, word, value);
                    }
                    None => return Ok(self.tables.read(right, index, word)),
                }
            }
            Done::Kick { process, channel, tcw } => {
                let queue = &mut self.kicks[channel as usize][process as usize];
                if queue.len() == self.depth as usize {
                    self.regs.send_refused(process, tcw, SEND_QUEUE);
                } else {
                    queue.push_back(tcw);
                }
            }
            Done::Written | Done::Arrives => {}
        }
        Ok(0)
    }

    fn fetch(&self) -> Fetch {
        let last = Place::of((self.regs.node() >> NODE_LAST_X_SHIFT) as u32);
        Fetch {
            grid: Grid {
                x: last.x + 1,
                y: last.y + 1,
                z: last.z + 1,
            },
            processes: (0..PROCESSES).map(|number| self.regs.process(number)).collect(),
        }
    }

    fn words(&mut self, op: Op, addr: u32, words: u32, data: Vec<u32>) -> Result<Vec<u32>, BusError> {
        let job = Job { op, addr, words, data };
        perform(&mut self.memory, &job)
    }

    /// Words of memory, up to the first that it does not give.
    fn read(&mut self, base: u32, run: Run) -> Result<Vec<u32>, (Vec<u32>, BusError)> {
        let mut read = Vec::new();
        for at in (0..run.bytes).step_by(4) {
            match self.words(Op::Read, base.wrapping_add(run.offset + at), 1, Vec::new()) {
                Ok(word) => read.extend(word),
                Err(error) => return Err((read, error)),
            }
        }
        Ok(read)
    }

    /// The flag that says how a TCW ended, and the registers' part of a refusal.
    fn ends(&mut self, kick: Kick, sent: Sent) {
        let result = sent.reason.map_or(RESULT_SENT, |reason| RESULT_REFUSED + reason as u32);
        if let Some(reason) = sent.reason {
            self.regs.send_refused(kick.process, kick.tcw, reason as u32);
        }
        if let Some(flag) = sent.flag {
            // The flag is inside the area, and the kernel answers for areas.
            let _ = self.words(Op::Write, flag, 2, vec![kick.tcw, result]);
        }
    }

    /// The transfer of a process's first kick on a channel. Those that are refused end here.
    fn first(&mut self, channel: Channel, process: usize) -> Option<Transfer> {
        while let Some(&tcw) = self.kicks[channel as usize][process].front() {
            let kick = Kick {
                process: process as u32,
                channel,
                tcw,
            };
            let fetch = self.fetch();
            let words = fetch
                .address(kick)
                .map_or(Err(BusError), |addr| self.words(Op::Read, addr, 16, Vec::new()));
            let words = words.map(|words| words.try_into().expect("16 words"));
            let refused = match fetch.take(kick, words, &self.tables) {
                Ok(descriptor) => {
                    let transfer = self.transfer(&descriptor, Some(kick));
                    if !transfer.worms.is_empty() {
                        return Some(transfer);
                    }
                    transfer.sent
                }
                Err(Refusal { reason, flag, .. }) => Sent {
                    flag,
                    reason: Some(reason),
                },
            };
            self.kicks[channel as usize][process].pop_front();
            self.ends(kick, refused);
        }
        None
    }

    fn transfer(&mut self, descriptor: &Descriptor, kick: Option<Kick>) -> Transfer {
        let src = self.place();
        let (worms, sent) = match descriptor.channel {
            Channel::Data => send::worms(descriptor, src, |run| self.read(descriptor.base, run)),
            Channel::Ack => {
                let read = |addr, words| self.words(Op::Read, addr, words, Vec::new());
                let (worm, sent) = ack_send::worm(descriptor, src, read);
                (worm.into_iter().collect(), sent)
            }
        };
        let worms = worms.into();
        Transfer { worms, kick, sent }
    }

    /// A worm has left.
    ///
    /// # Errors
    /// Another one was due.
    pub fn left(&mut self, channel: Channel, worm: &[u32]) -> Result<(), NotDue> {
        let mut transfer = match self.under_way[channel as usize].take() {
            Some(transfer) => transfer,
            None => self.begun(channel, worm)?,
        };
        let due = transfer.worms.pop_front().expect("a transfer has worms");
        if due != worm {
            return Err(NotDue {
                channel,
                got: worm.to_vec(),
                want: vec![due],
            });
        }
        let payload = due.len() - super::message::header_words(due[0]) - 1;
        self.regs.count(COUNT_SENT + channel as u32, 1);
        self.regs.count(COUNT_WORDS, payload as u32);
        if !transfer.worms.is_empty() {
            self.under_way[channel as usize] = Some(transfer);
            return Ok(());
        }
        match transfer.kick {
            Some(kick) => self.ends(kick, transfer.sent),
            None => self.regs.count(COUNT_ANSWERED, 1),
        }
        Ok(())
    }

    /// The transfer that begins with this worm: the first of a process's, or of the answers.
    fn begun(&mut self, channel: Channel, worm: &[u32]) -> Result<Transfer, NotDue> {
        let mut want = Vec::new();
        for process in 0..PROCESSES {
            let Some(transfer) = self.first(channel, process) else {
                continue;
            };
            if transfer.worms[0] == worm {
                self.kicks[channel as usize][process].pop_front();
                return Ok(transfer);
            }
            want.extend(transfer.worms.into_iter().next());
        }
        if let (Channel::Data, Some(answer)) = (channel, self.answers.front().copied()) {
            let transfer = self.transfer(&answer, None);
            if transfer.worms[0] == worm {
                self.answers.pop_front();
                return Ok(transfer);
            }
            want.extend(transfer.worms.into_iter().next());
        }
        let got = worm.to_vec();
        Err(NotDue { channel, got, want })
    }

    /// A worm has come.
    pub fn came(&mut self, channel: Channel, worm: &[u32]) {
        match channel {
            Channel::Data => self.receive(worm),
            Channel::Ack => self.ack_receive(worm),
        }
    }

    /// The entry of a field; one that is not there is not enabled.
    fn field(&self, index: u32) -> Field {
        self.tables.field(index as usize).unwrap_or_default()
    }

    fn refuse(&mut self, named: Named, reason: RecvReason) {
        self.regs
            .receive_refused(named.src, named.field, named.kind, reason as u32);
    }

    /// Words that are written into memory, and whether it took them all.
    fn write(&mut self, address: u32, words: &[u32]) -> bool {
        let mut is_written = true;
        for (at, &word) in (0..).step_by(4).zip(words) {
            is_written &= self.words(Op::Write, address.wrapping_add(at), 1, vec![word]).is_ok();
        }
        self.regs.count(COUNT_WORDS_IN, words.len() as u32);
        is_written
    }

    fn shut(&mut self, field: u32) {
        self.tables.shut(field as usize);
        self.regs.shut();
    }

    fn receive(&mut self, worm: &[u32]) {
        let named = Named::of(worm);
        let field = self.field(named.field);
        let count = self
            .tables
            .field(named.field as usize)
            .map(|_| self.tables.count(named.field as usize));
        let outcome = receive(worm, self.place(), &field, count.unwrap_or(0), self.ring());
        let mut is_written = true;
        for (address, words) in &outcome.writes {
            is_written &= self.write(*address, words);
        }
        let reason = outcome.refused.or((!is_written).then_some(RecvReason::Memory));
        if outcome.shuts || reason == Some(RecvReason::Memory) {
            self.shut(named.field);
        }
        match reason {
            Some(reason) => self.refuse(named, reason),
            None => {
                self.regs.count(COUNT_RECEIVED, 1);
                if outcome.completes {
                    self.complete(named, &field);
                }
                if outcome.notifies {
                    self.regs.notified(named.src, named.field);
                }
            }
        }
    }

    /// A transfer into a field is complete.
    fn complete(&mut self, named: Named, field: &Field) {
        self.tables.add(named.field as usize);
        if field.flagged {
            let flag = vec![named.src.word(), self.tables.count(named.field as usize)];
            // The kernel answers for the addresses of flags.
            let _ = self.words(Op::Write, field.flag, 2, flag);
        }
    }

    fn ack_receive(&mut self, worm: &[u32]) {
        let room = self.answers.len() < self.most_answers;
        let step = ack_receive(worm, self.place(), |index| self.field(index), room);
        let named = step.named;
        let done = step.act.and_then(|act| match act {
            Act::Write {
                address,
                words,
                completes,
            } => self
                .write(address, &words)
                .then_some(completes)
                .ok_or(RecvReason::Memory),
            Act::Answer(ask) => self.answer(&ask).map(|()| false).map_err(|BusError| RecvReason::Memory),
        });
        match done {
            Err(reason) => {
                if reason == RecvReason::Memory {
                    self.shut(named.field);
                }
                self.refuse(named, reason);
            }
            Ok(completes) => {
                self.regs.count(COUNT_RECEIVED_ACK, 1);
                if completes {
                    let field = self.field(named.field);
                    self.complete(named, &field);
                }
                if step.notifies {
                    self.regs.notified(named.src, named.field);
                }
            }
        }
    }

    /// A request is served, and its answer waits.
    fn answer(&mut self, ask: &Ask) -> Result<(), BusError> {
        let (base, length, value) = match ask.source {
            Source::Bytes { address, bytes } => (address, bytes, None),
            Source::Old { address, new, compare } => {
                let halves = |value: u64| [value as u32, (value >> 32) as u32];
                let op = if compare.is_some() { Op::Cswap } else { Op::Swap };
                let data = compare.map(halves).into_iter().chain([halves(new)]).flatten().collect();
                let old = self.words(op, address, 2, data)?;
                (address, 8, Some(u64::from(old[0]) | u64::from(old[1]) << 32))
            }
        };
        self.answers.push_back(Descriptor {
            process: 0,
            tcw: 0,
            place: ask.to,
            mask: 0,
            channel: Channel::Data,
            kind: Kind::Reply,
            notify: false,
            field: ask.field,
            key: ask.key,
            offset: ask.offset,
            base,
            size: length,
            source: 0,
            length,
            strides: None,
            flag: None,
            value,
            request: None,
        });
        Ok(())
    }

    /// The node is at rest: nothing may be left to be sent.
    ///
    /// # Errors
    /// A worm should have left.
    pub fn rests(&mut self) -> Result<(), NotDue> {
        for channel in Channel::ALL {
            let mut want: Vec<_> = (0..PROCESSES)
                .filter_map(|process| self.first(channel, process))
                .collect();
            want.extend(self.under_way[channel as usize].clone());
            if channel == Channel::Data {
                let answer = self.answers.front().copied();
                want.extend(answer.map(|answer| self.transfer(&answer, None)));
            }
            if !want.is_empty() {
                let want = want.into_iter().map(|transfer| transfer.worms[0].clone()).collect();
                let got = Vec::new();
                return Err(NotDue { channel, got, want });
            }
        }
        Ok(())
    }
}
