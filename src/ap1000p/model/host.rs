//! Host accesses to the cell.

use super::cell::Node;
use super::replay::Wait;
use super::{Access, Due, ModelMachine, Unit};
use crate::ap1000p::bif_regs::BIF_SEND_LAST;
use crate::ap1000p::golden::Queue;
use crate::ap1000p::golden::access::{self, Course};
use crate::ap1000p::golden::creg::Conflict;
use crate::ap1000p::golden::window::Window;
use crate::ap1000p::regs::*;
use crate::harness::backend::{HostReq, HostRsp};
use crate::harness::host_port::RegisterAccess;

impl ModelMachine {
    pub(super) fn host(&mut self, n: usize) {
        let Some(Access::Started(req) | Access::Waiting(req)) = self.nodes[n].host else {
            return;
        };
        let window = Window::of(req);
        let value = match window {
            Some(Window::Shared(access)) => {
                self.nodes[n].host = Some(self.shared(n, req, access));
                self.flow(n);
                return self.run_senders(n);
            }
            Some(Window::Creg(access)) => match self.nodes[n].parts.cregs.access(access) {
                Ok(word) => Some(word.unwrap_or(0)),
                Err(Conflict) if self.nodes[n].regs.has_mode(MODE_FAULT_HOST_MASK) => None,
                Err(Conflict) => {
                    self.nodes[n].host = Some(Access::Waiting(req));
                    return;
                }
            },
            Some(Window::Bif(RegisterAccess { offset, write })) => self.net(n, offset.into(), write),
            Some(Window::Register(access)) => self.register(n, access),
            Some(Window::Page { code, .. }) if !self.nodes[n].queues.takes(code) => {
                self.nodes[n].host = Some(Access::Waiting(req));
                return;
            }
            Some(Window::Page { code, data }) => {
                self.nodes[n].store(code, data);
                Some(0)
            }
            None => None,
        };
        self.nodes[n].host = Some(Access::Answered(HostRsp {
            value: value.unwrap_or(0).into(),
            error: value.is_none(),
        }));
        match window {
            Some(Window::Creg(_)) => self.registers_changed(n),
            Some(_) if req.write.is_some() => {
                self.flow(n);
                self.run_senders(n);
            }
            _ => {}
        }
    }

    /// An access to a register of MSC+ or MC; `None` if refused.
    fn register(&mut self, n: usize, access: RegisterAccess) -> Option<u32> {
        let RegisterAccess { offset, write } = access;
        let Some(value) = write else {
            return self.nodes[n].read(offset.into(), self.cycle);
        };
        let done = self.write(n, offset.into(), value);
        if let Some(kind) = access.event().filter(|_| done) {
            self.note(self.cycle, n, kind);
        }
        done.then_some(0)
    }

    /// A load or store of the shared space begins. Returns the next state of the host access.
    fn shared(&mut self, n: usize, req: HostReq, access: access::Access) -> Access {
        let node = &mut self.nodes[n];
        let answered = |error| Access::Answered(HostRsp { value: 0, error });
        let stores = access.write.is_some();
        if stores && node.acks.count() == ACKS_COUNT_MASK {
            return Access::Waiting(req);
        }
        if !stores {
            node.regs.loaded = ACCESS_DONE;
        }
        let Node { regs, tags, .. } = &mut *node;
        let course = access.course(regs.place(), access::Pages::of(regs.wtp_pages), tags);
        if matches!(course, Course::Message(_) | Course::Both(..)) && !node.queues.is_free(Queue::Access) {
            return Access::Waiting(req);
        }
        match course {
            Course::Refused => {
                node.regs.cause |= CAUSE_REFUSED_MASK;
                if !stores {
                    node.regs.loaded = ACCESS_REFUSED;
                }
                // The processor does not wait for a store.
                return answered(!stores);
            }
            Course::Miss => {
                node.regs.loaded = ACCESS_MISS;
                return answered(true);
            }
            Course::Copy(at) => {
                let words = node.parts.read(at & !3, 1 << access.size.max(2));
                if words.is_none() {
                    node.regs.loaded = ACCESS_FAILED;
                }
                let rsp = HostRsp {
                    value: words.map_or(0, |words| access.value(words)),
                    error: words.is_none(),
                };
                self.at(self.cycle + self.timing.read, n, Due::Copied(rsp));
                return Access::Copying;
            }
            Course::Both(words, at) => {
                if !node.parts.write(at, &access.bytes()) {
                    node.regs.cause |= CAUSE_WORD_MASK;
                }
                node.queues.enter(Queue::Access, &words);
            }
            Course::Message(words) => node.queues.enter(Queue::Access, &words),
        }
        if stores {
            node.acks.step(true, false);
            answered(false)
        } else {
            Access::Loading(access)
        }
    }

    /// The reply to a remote load; it has no words if the load failed. A reply that no load waits for, or from another
    /// cell, is dropped and counted as stray.
    pub(super) fn loaded(&mut self, n: usize, cell: [u8; 2], words: &[u32]) {
        let node = &mut self.nodes[n];
        let access = match node.host {
            Some(Access::Loading(access)) if access.cell == cell => access,
            _ => {
                node.regs.stray(1);
                return;
            }
        };
        let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
        if words.is_empty() {
            node.regs.loaded = ACCESS_FAILED;
        }
        node.host = Some(Access::Answered(HostRsp {
            value: access.value(word(0) | word(1) << 32),
            error: words.is_empty(),
        }));
    }

    /// An access to the registers of S-net and B-net; `None` if refused.
    fn net(&mut self, n: usize, offset: u32, write: Option<u32>) -> Option<u32> {
        let bif = &mut self.nets.bifs[n];
        let done = match write {
            Some(value) => bif.write(offset, value).map(|_| 0),
            None => bif.read(offset),
        };
        if done.is_ok() && offset == BIF_SEND_LAST && write.is_some() {
            self.nets.queue(n);
        }
        if write.is_some() {
            for group in self.nets.complete() {
                self.at(self.cycle + self.timing.barrier, n, Due::Opens(group));
            }
        }
        if self.nets.wakes() {
            self.at(self.cycle + self.timing.bus, n, Due::Bus);
        }
        done.ok()
    }

    /// Writes a register; false if it is not writable.
    fn write(&mut self, n: usize, offset: u32, value: u32) -> bool {
        let done = self.nodes[n].write(offset, value);
        match offset {
            SERVE => self.serve(n, value),
            // A waiting access may be a fault in the new mode.
            MODE => self.registers_changed(n),
            _ => {}
        }
        done
    }

    fn serve(&mut self, n: usize, value: u32) {
        let faults = self.nodes[n].faults().into_iter().enumerate();
        for (shown, (unit, _)) in faults.filter_map(|(shown, fault)| Some((shown, fault?))) {
            let bit = |shift: u32| value >> shift >> shown & 1 == 1;
            let [retry, abort] = [SERVE_RETRY_SHIFT, SERVE_ABORT_SHIFT].map(bit);
            if !retry && !abort {
                continue;
            }
            let aside = self.nodes[n].aside.get_mut(shown).and_then(Option::take);
            if let Some((queue, _)) = aside {
                self.nodes[n].queues.serve(queue, abort);
                self.at(self.cycle, n, Due::Run(unit));
                continue;
            }
            let job = self.nodes[n].jobs[unit as usize].as_mut().expect("it waits");
            job.wait = None;
            job.abort = abort;
            self.at(self.cycle, n, Due::Run(unit));
            if shown == Unit::Word as usize {
                self.nodes[n].word_held = None;
                self.wake(n, Wait::Word);
                self.at(self.cycle, n, Due::Run(Unit::Word));
            }
        }
    }
}
