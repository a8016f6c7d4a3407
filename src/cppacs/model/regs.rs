//! The host's window: the kernel's registers and tables, and the processes' pages.

use super::{Access, ModelMachine, timing};
use crate::cppacs::golden::tcw::Kick;
use crate::cppacs::regs::*;
use crate::harness::backend::{HostReq, HostRsp};
use crate::harness::event::EventKind;
use crate::net::hyper::Channel;

/// What is at an offset of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    /// One of those that stand alone.
    Single(u32),
    SendRefusals(usize),
    ReceiveRefusals(usize),
    Counts(usize),
    /// AREA (0) or TCWS (1) of a process.
    Process(usize, usize),
    /// A word of an entry.
    Right(usize, usize),
    Field(usize, usize),
    Kick(usize),
    Kicks(usize),
}

/// What is there, if anything is.
fn decode(offset: u64, rights: usize, fields: usize) -> Option<Register> {
    let at = u32::try_from(offset).ok()?;
    let within = |base: u32, bytes: usize| at.checked_sub(base).map(|at| at as usize).filter(|&at| at < bytes);
    let registers = [
        within(SEND_REFUSALS, 128).map(|at| Register::SendRefusals(at / 8)),
        within(RECEIVE_REFUSALS, 128).map(|at| Register::ReceiveRefusals(at / 8)),
        within(COUNTS, 64).map(|at| Register::Counts(at / 8)),
        within(AREA, 16 * SIZE_PROCESSES as usize).map(|at| Register::Process(at / 16, at / 8 % 2)),
        within(RIGHTS, 16 * rights).map(|at| Register::Right(at / 16, at / 8 % 2)),
        within(FIELDS, 32 * fields).map(|at| Register::Field(at / 32, at / 8 % 4)),
        within(0, DRAINED as usize + 8).map(|at| Register::Single(at as u32)),
    ];
    let page = within(KICK, (SIZE_PROCESSES * SIZE_PAGE) as usize);
    let of_page = page.and_then(|at| match at as u32 % SIZE_PAGE {
        0 => Some(Register::Kick(at / SIZE_PAGE as usize)),
        8 => Some(Register::Kicks(at / SIZE_PAGE as usize)),
        _ => None,
    });
    registers.into_iter().flatten().next().or(of_page)
}

impl ModelMachine {
    /// Does an access of the host, and answers it.
    pub(super) fn access(&mut self, node: usize, req: HostReq) {
        let nia = &self.nias[node];
        let register = decode(req.addr, nia.rights.len(), nia.fields.len());
        let done = match (register, req.write) {
            (None, _) => None,
            (Some(register), None) => self.read(node, register),
            (Some(register), Some(value)) => {
                let (offset, low) = (req.addr as u32, value as u32);
                self.note(node, EventKind::RegWrite { offset, value: low });
                self.write(node, register, value).then_some(0)
            }
        };
        if done.is_none() {
            let nia = &mut self.nias[node];
            nia.host_errors = (nia.host_errors + 1).min(0xffff);
            nia.cause |= CAUSE_HOST_MASK;
        }
        let cycles = match register {
            _ if done.is_none() => timing::ANSWER_REFUSED,
            Some(Register::Right(..) | Register::Field(..)) => timing::ANSWER_TABLE,
            Some(Register::Kick(_)) => timing::ANSWER_KICK,
            _ => timing::ANSWER,
        };
        let rsp = HostRsp {
            value: done.unwrap_or(0),
            error: done.is_none(),
        };
        self.after(cycles, move |m| m.nias[node].host = Some(Access::Answered(rsp)));
    }

    fn read(&self, node: usize, register: Register) -> Option<u64> {
        let nia = &self.nias[node];
        Some(match register {
            Register::Single(NODE) => nia.node,
            Register::Single(CONTROL) => nia.control,
            Register::Single(STATUS) => self.status(node),
            Register::Single(CAUSE) => nia.cause,
            Register::Single(MASK) => nia.mask,
            Register::Single(BARRIER) => {
                u64::from(nia.is_waiting) << BARRIER_WAITING_SHIFT
                    | u64::from(nia.is_member) << BARRIER_MEMBER_SHIFT
                    | u64::from(nia.releases) << BARRIER_COUNT_SHIFT
            }
            Register::Single(RING) => nia.ring,
            Register::Single(NOTIFIED) => nia.notified,
            Register::Single(SEND_FIRST) => nia.send_first,
            Register::Single(RECEIVE_FIRST) => nia.receive_first,
            Register::Single(HOST_ERRORS) => nia.host_errors.into(),
            Register::Single(DRAINED) => self.network.drained[node].min(0xffff).into(),
            Register::SendRefusals(at) => nia.send_refusals[at].into(),
            Register::ReceiveRefusals(at) => nia.receive_refusals[at].into(),
            Register::Counts(at) => nia.counts[at].into(),
            Register::Process(process, word) => nia.processes[process][word],
            Register::Right(index, word) => nia.rights[index][word],
            Register::Field(index, word) => nia.fields[index].words.get(word).copied().unwrap_or(0),
            Register::Kicks(process) => {
                let depth = self.config.kick_depth as usize;
                let [data, ack] = nia.kicks[process].each_ref().map(|queue| (depth - queue.len()) as u64);
                let refused = nia.refused[process];
                data << KICKS_ROOM_SHIFT
                    | ack << KICKS_ROOM_ACK_SHIFT
                    | u64::from(refused.count) << KICKS_REFUSED_SHIFT
                    | u64::from(refused.tcw) << KICKS_TCW_SHIFT
                    | u64::from(refused.reason) << KICKS_REASON_SHIFT
            }
            Register::Single(_) | Register::Kick(_) => return None,
        })
    }

    fn status(&self, node: usize) -> u64 {
        let nia = &self.nias[node];
        let flag = |holds: bool, shift: u32| u64::from(holds) << shift;
        let kicked = |process: usize| flag(nia.kicks[process].iter().any(|queue| !queue.is_empty()), process as u32);
        let kicks: u64 = (0..SIZE_PROCESSES as usize).map(kicked).sum();
        flag(!nia.sender.is_idle(), STATUS_SENDING_SHIFT)
            | flag(!nia.ack_sender.is_idle(), STATUS_SENDING_ACK_SHIFT)
            | flag(nia.receiver.is_busy(), STATUS_RECEIVING_SHIFT)
            | flag(nia.receiver.ack_worms > 0, STATUS_RECEIVING_ACK_SHIFT)
            | kicks << STATUS_KICKED_SHIFT
            | u64::from(nia.receiver.field()) << STATUS_FIELD_SHIFT
            | (nia.sender.answers.len() as u64) << STATUS_ANSWERS_SHIFT
    }

    /// False: it is refused.
    fn write(&mut self, node: usize, register: Register, value: u64) -> bool {
        let nia = &mut self.nias[node];
        match register {
            Register::Single(NODE) => nia.node = value,
            Register::Single(CONTROL) => {
                nia.control = value & CONTROL_SEND_MASK;
                self.fetch(node);
            }
            Register::Single(CAUSE) => nia.cause &= !value,
            Register::Single(MASK) => nia.mask = value,
            Register::Single(RING) => nia.ring = value,
            Register::Single(BARRIER) => return self.write_barrier(node, value),
            Register::Process(process, word) => nia.processes[process][word] = value,
            Register::Right(index, word) => nia.rights[index][word] = value,
            Register::Field(index, word) => self.write_field(node, index, word, value),
            Register::Kick(process) => {
                let channel = Channel::ALL[usize::from(value & KICK_CHANNEL_MASK != 0)];
                let (process, tcw) = (process as u32, (value & KICK_TCW_MASK) as u32);
                let depth = self.config.kick_depth as usize;
                nia.kick(Kick { process, channel, tcw }, depth);
                self.after(timing::KICK, move |m| m.fetch(node));
            }
            _ => return false,
        }
        true
    }

    fn write_barrier(&mut self, node: usize, value: u64) -> bool {
        let nia = &mut self.nias[node];
        nia.is_member = value & BARRIER_MEMBER_MASK != 0;
        if value & BARRIER_ARRIVE_MASK == 0 {
            return true;
        }
        let arrives = nia.is_member && !nia.is_waiting;
        nia.is_waiting |= arrives;
        if arrives {
            self.arrived();
        }
        arrives
    }

    /// STATE sets the count to 0, and ends what is under way for another key or none.
    fn write_field(&mut self, node: usize, index: usize, word: usize, value: u64) {
        let entry = &mut self.nias[node].fields[index];
        let Some(old) = entry.words.get(word).copied() else {
            return;
        };
        entry.words[word] = value;
        if word == 0 {
            entry.count = 0;
            let is_disabled = value & FIELD_STATE_ENABLED_MASK == 0;
            let has_new_key = (old ^ value) & FIELD_STATE_KEY_MASK != 0;
            entry.generation += u32::from(is_disabled || has_new_key);
        }
    }
}
