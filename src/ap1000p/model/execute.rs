//! Executions of the send controllers, the receive controllers and the word unit.

use super::network::Outgoing;
use super::replay::{Job, Run, Wait};
use super::{Access, Due, MEM_BITS, ModelMachine, Unit};
use crate::Addr;
use crate::ap1000p::golden::mmu::Lookup;
use crate::ap1000p::golden::receive::{Body, Effect, Message, Receiver};
use crate::ap1000p::golden::send::send;
use crate::ap1000p::golden::window::Window;
use crate::ap1000p::golden::word::{Op, Request, perform};
use crate::ap1000p::regs::*;
use crate::harness::event::EventKind;
use crate::net::torus::Class;

impl ModelMachine {
    /// Executes the job of a unit as far as possible; `None` if the execution stopped.
    fn execute<T>(&mut self, n: usize, unit: Unit, own: usize, body: impl FnOnce(&mut Run) -> T) -> Option<T> {
        let node = &mut self.nodes[n];
        let mut job = node.jobs[unit as usize].take().expect("something to execute");
        let receives = matches!(unit, Unit::ReceiveRequests | Unit::ReceiveReplies);
        let mut run = Run {
            parts: &mut node.parts,
            job: &mut job,
            timing: &self.timing,
            now: self.cycle,
            unit,
            own,
            first: if receives { self.timing.write } else { self.timing.read },
            word_held: node.word_held.is_some(),
            conflicts_fault: node.regs.has_mode(MODE_FAULT_NET_MASK),
            stopped: None,
            word_failed: false,
            touched: false,
            walked: Vec::new(),
            asked: 0,
            places: 0,
            in_ring: false,
        };
        let result = body(&mut run);
        let (stopped, word_failed, touched) = (run.stopped, run.word_failed, run.touched);
        let walked = run.walked;
        if let Some(wait) = stopped {
            job.wait = Some(wait);
            node.jobs[unit as usize] = Some(job);
            match wait {
                Wait::Until(cycle) => self.at(cycle, n, Due::Run(unit)),
                Wait::Fault(fault) if fault.unit == Unit::Word => self.nodes[n].word_held = Some(unit),
                Wait::Fault(_) | Wait::Word | Wait::Register => {}
            }
        } else if word_failed {
            node.regs.cause |= CAUSE_WORD_MASK;
        }
        for (words, addr) in (0..).zip(walked) {
            let read = EventKind::MemRead {
                addr: Addr(addr),
                bytes: 4,
            };
            self.note(self.cycle + words * self.timing.walk, n, read);
        }
        if touched {
            self.registers_changed(n);
        }
        stopped.is_none().then_some(result)
    }

    fn is_ready(&self, n: usize, unit: Unit) -> bool {
        let job = &self.nodes[n].jobs[unit as usize];
        job.as_ref().is_some_and(|job| job.ready(self.cycle))
    }

    pub(super) fn send(&mut self, n: usize, class: Class) {
        let unit = Unit::sends(class);
        if self.nodes[n].jobs[unit as usize].is_none() && self.nodes[n].send_free[class as usize] <= self.cycle {
            let Some((words, lost)) = self.nodes[n].next_message(class) else {
                return;
            };
            let at = self.cycle + self.timing.queue + self.timing.decode;
            let mut job = Job::new(words);
            job.lost = lost;
            job.wait = Some(Wait::Until(at));
            self.nodes[n].jobs[unit as usize] = Some(job);
            self.at(at, n, Due::Run(unit));
            self.flow(n);
        }
        if !self.is_ready(n, unit) {
            return;
        }
        let place = self.nodes[n].regs.place();
        let body = |run: &mut Run| {
            let words = std::mem::take(&mut run.job.words);
            let sent = send(&words, class, place, |origin| run.fetch(origin));
            run.job.words = words;
            sent
        };
        let Some(sent) = self.execute(n, unit, usize::MAX, body) else {
            self.set_aside(n, class);
            return;
        };
        let node = &mut self.nodes[n];
        node.regs.cause |= u32::from(sent.bad) << CAUSE_BAD_SHIFT | u32::from(sent.cut) << CAUSE_CUT_SHIFT;
        if sent.words.is_empty() {
            self.at(self.cycle, n, Due::Run(unit));
            return;
        }
        // The flag of a command to all cells counts when the messages to all columns were sent whole.
        let more = node.queues.more(class);
        let cut = sent.cut || node.cut[class as usize];
        node.cut[class as usize] = more && cut;
        let flag = sent.flag.filter(|_| !cut && !more).map(|(owner, addr)| Request {
            op: Op::Inc,
            context: owner.context,
            system: owner.system,
            physical: false,
            addr,
            strb: 0xf,
            a: 0,
            b: 0,
        });
        let node = &mut self.nodes[n];
        node.sending += 1;
        // Busy until the message enters the network.
        node.send_free[class as usize] = u64::MAX;
        node.outgoing.push_back(Outgoing {
            words: sent.words,
            local: sent.local,
            by: (class, flag),
        });
        self.inject(n);
    }

    /// Puts a command back that waits for software, so that other queues pass it. The first fault of a class is shown.
    fn set_aside(&mut self, n: usize, class: Class) {
        let unit = Unit::sends(class);
        let node = &mut self.nodes[n];
        let Some(Wait::Fault(fault)) = node.jobs[unit as usize].as_ref().and_then(|job| job.wait) else {
            return;
        };
        let Some(queue) = node.queues.put_back(class) else {
            return;
        };
        node.jobs[unit as usize] = None;
        node.aside[class as usize].get_or_insert((queue, fault));
        self.at(self.cycle, n, Due::Run(unit));
    }

    pub(super) fn receive(&mut self, n: usize, class: Class) {
        let unit = Unit::receives(class);
        let node = &mut self.nodes[n];
        if node.jobs[unit as usize].is_none() {
            if class == Class::Request && !node.queues.takes_replies() {
                return;
            }
            let Some(words) = node.inbox[class as usize].pop_front() else {
                return;
            };
            node.jobs[unit as usize] = Some(Job::new(words));
            self.take(n, class as usize);
        }
        if !self.is_ready(n, unit) {
            return;
        }
        let words = &self.nodes[n].jobs[unit as usize].as_ref().expect("ready").words;
        let message = Message::parse(words, class);
        let (what, body) = match &message {
            Ok(Message { what, body }) => (what, Some(body)),
            Err(broken) => (&broken.what, broken.came.as_ref()),
        };
        let data = match body {
            Some(Body::Data(data)) if !what.registers() && !data.words.is_empty() => Some(data),
            _ => None,
        };
        let own = data.map_or(0, |data| data.words.len());
        let lookup = |context, addr| Lookup {
            context,
            addr,
            write: true,
            system: what.system(),
        };
        let receiver = Receiver {
            class,
            own: self.nodes[n].regs.place().at,
            mem_bits: MEM_BITS,
        };
        // The pure functions reject an address that is not aligned to a word. Here the fault waits for software first.
        let askew = data.filter(|data| !data.dest.is_multiple_of(4));
        let askew = askew.map(|data| lookup(data.context, data.dest));
        let Some(outcome) = self.execute(n, unit, own, |run| {
            let words = std::mem::take(&mut run.job.words);
            let outcome = receiver.execute(&words, run);
            run.job.words = words;
            if let Some(lookup) = askew {
                run.misaligned(unit, lookup);
            }
            for effect in &outcome.effects {
                if let Effect::Word(request) = effect
                    && !request.addr.is_multiple_of(4)
                {
                    run.misaligned(Unit::Word, lookup(request.context, request.addr));
                }
            }
            outcome
        }) else {
            return;
        };
        let node = &mut self.nodes[n];
        if let Some((why, what)) = outcome.reported {
            node.regs.break_message(class as usize, why, what);
        }
        let (mut loaded, mut acknowledged) = (None, false);
        for effect in outcome.effects {
            match effect {
                Effect::Queue(queue, words) => node.queues.enter(queue, &words),
                Effect::Acknowledged => {
                    if node.acks.step(false, true).under {
                        node.regs.stray(0);
                    }
                    acknowledged = true;
                }
                Effect::Loaded(cell, words) => loaded = Some((cell, words)),
                // The run has executed these effects.
                Effect::Written { .. } | Effect::Word(_) | Effect::Register(_) | Effect::Ringed { .. } => {}
            }
        }
        if let Some((cell, words)) = loaded {
            self.loaded(n, cell, &words);
        }
        let stores = |req| matches!(Window::of(req), Some(Window::Shared(access)) if access.write.is_some());
        if acknowledged && matches!(self.nodes[n].host, Some(Access::Waiting(req)) if stores(req)) {
            self.at(self.cycle, n, Due::Host);
        }
        self.flow(n);
        self.run_senders(n);
        self.at(self.cycle, n, Due::Run(unit));
    }

    /// The word unit counts send flags.
    pub(super) fn count(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        let unit = Unit::Word;
        if node.jobs[unit as usize].is_none() {
            if node.flags.is_empty() {
                return;
            }
            node.jobs[unit as usize] = Some(Job::default());
        }
        if !self.is_ready(n, unit) {
            return;
        }
        let request = *self.nodes[n].flags.front().expect("what is being counted");
        let body = |run: &mut Run| {
            // `execute` reports a failure as a cause.
            let _ = perform(run, &request);
            if !request.addr.is_multiple_of(4) {
                let Request {
                    context, addr, system, ..
                } = request;
                let write = true;
                run.misaligned(
                    unit,
                    Lookup {
                        context,
                        addr,
                        write,
                        system,
                    },
                );
            }
        };
        if self.execute(n, unit, 0, body).is_some() {
            self.nodes[n].flags.pop_front();
            self.at(self.cycle, n, Due::Run(unit));
        }
    }
}
