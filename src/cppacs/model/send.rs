//! The sending side: from a kick to a descriptor, and from descriptors and answers to worms.

use std::collections::VecDeque;

use super::words::{BusError, Client, Op};
use super::{ModelMachine, timing, words};
use crate::cppacs::golden::message::{Kind, sum};
use crate::cppacs::golden::runs::Run;
use crate::cppacs::golden::tcw::{Descriptor, Kick, Refusal, SendReason, Tcw, check};
use crate::cppacs::golden::worms::{Cut, Cuts, cut};
use crate::cppacs::regs::*;
use crate::net::hyper::Channel;

/// What takes kicks.
#[derive(Debug, Default)]
pub(super) struct Fetch {
    is_busy: bool,
    /// The channel of the last kick.
    was_ack: bool,
    /// When each process was served last, by channel.
    served: [[u64; SIZE_PROCESSES as usize]; 2],
}

/// A transfer under way on the data channel.
#[derive(Debug)]
struct Sending {
    descriptor: Descriptor,
    is_answer: bool,
    cuts: Cuts,
    /// Words of payload of the worm that is leaving.
    words: u32,
    /// Why nothing follows.
    failed: Option<SendReason>,
}

/// The data channel's sender.
#[derive(Debug, Default)]
pub(super) struct Sender {
    /// A descriptor that waits, and since when.
    waiting: Option<(Descriptor, u64)>,
    pub answers: VecDeque<(Descriptor, u64)>,
    current: Option<Sending>,
    was_answer: bool,
    /// When the last worm's data were read, and words of others that memory has read since.
    read: u64,
    pub passed_over: u64,
}

impl Sender {
    pub fn is_idle(&self) -> bool {
        self.current.is_none() && self.waiting.is_none() && self.answers.is_empty()
    }
}

/// The acknowledge channel's sender.
#[derive(Debug, Default)]
pub(super) struct AckSender {
    waiting: Option<Descriptor>,
    current: Option<Descriptor>,
}

impl AckSender {
    pub fn is_idle(&self) -> bool {
        self.waiting.is_none() && self.current.is_none()
    }
}

impl ModelMachine {
    /// Takes the next kick, if one may be taken.
    pub(super) fn fetch(&mut self, node: usize) {
        let nia = &mut self.nias[node];
        if nia.fetch.is_busy || nia.control & CONTROL_SEND_MASK == 0 {
            return;
        }
        let is_free = [nia.sender.waiting.is_none(), nia.ack_sender.waiting.is_none()];
        let kicked = |channel: &Channel| nia.kicks.iter().any(|of| !of[*channel as usize].is_empty());
        let mut channels: Vec<Channel> = Channel::ALL.into_iter().filter(kicked).collect();
        channels.retain(|&channel| is_free[channel as usize]);
        channels.sort_by_key(|&channel| (channel == Channel::Ack) == nia.fetch.was_ack);
        let Some(&channel) = channels.first() else { return };
        let waits = |process: &usize| !nia.kicks[*process][channel as usize].is_empty();
        let served = &mut nia.fetch.served[channel as usize];
        let process = (0..nia.kicks.len())
            .filter(waits)
            .min_by_key(|&process| served[process])
            .expect("a kick");
        served[process] = self.now + 1;
        let tcw = nia.kicks[process][channel as usize].pop_front().expect("a kick");
        nia.fetch.was_ack = channel == Channel::Ack;
        nia.fetch.is_busy = true;
        let kick = Kick {
            process: process as u32,
            channel,
            tcw,
        };
        match nia.process(kick.process).tcw(tcw) {
            Some(addr) => self.job(node, Client::Fetch, Op::Read { addr, words: 16 }, move |m, read| {
                m.after(timing::CHECKS, move |m| m.fetched(node, kick, read));
            }),
            None => self.after(timing::WORDS, move |m| {
                m.fetched(node, kick, Ok(Tcw::default().words().to_vec()))
            }),
        }
    }

    /// A TCW was read: it is checked and goes to its channel's sender, or is refused.
    fn fetched(&mut self, node: usize, kick: Kick, read: Result<Vec<u32>, BusError>) {
        let now = self.now;
        let nia = &mut self.nias[node];
        nia.fetch.is_busy = false;
        let words: Result<[u32; 16], BusError> = read.map(|words| words.try_into().expect("a TCW"));
        let (process, tcw) = (nia.process(kick.process), words.map(|words| Tcw::parse(&words)));
        let checked = tcw.map_err(|BusError| SendReason::Memory).and_then(|tcw| {
            let (right, reply) = (nia.right(tcw.right), nia.field(tcw.reply_field));
            check(&tcw, kick, &process, right.as_ref(), reply.as_ref(), nia.grid())
        });
        match checked {
            Err(reason) => {
                let flag = tcw.ok().and_then(|tcw| tcw.flag(&process));
                let Kick { process, tcw, .. } = kick;
                self.refuse(
                    node,
                    Refusal {
                        process,
                        tcw,
                        reason,
                        flag,
                    },
                );
            }
            Ok(descriptor) if kick.channel == Channel::Data => {
                nia.sender.waiting = Some((descriptor, now));
                self.send(node, timing::SEND);
            }
            Ok(descriptor) => {
                nia.ack_sender.waiting = Some(descriptor);
                self.send_ack(node);
            }
        }
        self.fetch(node);
    }

    fn refuse(&mut self, node: usize, refusal: Refusal) {
        let Refusal {
            process,
            tcw,
            reason,
            flag,
        } = refusal;
        self.nias[node].note_unsent(process, tcw, reason);
        self.write_flag(node, flag, tcw, RESULT_REFUSED + reason as u32);
    }

    fn write_flag(&mut self, node: usize, flag: Option<u32>, tcw: u32, result: u32) {
        if let Some(addr) = flag {
            let data = vec![tcw, result];
            self.job(node, Client::SendFlags, Op::Write { addr, data }, |_, _| {});
        }
    }

    /// An answer to a request is to be sent.
    pub(super) fn answer(&mut self, node: usize, descriptor: Descriptor) {
        let now = self.now;
        self.nias[node].sender.answers.push_back((descriptor, now));
        self.send(node, timing::SEND_ANSWER);
    }

    /// Begins the next transfer of the data channel, its first worm in so many cycles. Answers and descriptors
    /// alternate.
    fn send(&mut self, node: usize, delay: u64) {
        let nia = &mut self.nias[node];
        if nia.sender.current.is_some() || nia.is_leaving[Channel::Data as usize] {
            return;
        }
        let src = nia.place();
        let sender = &mut nia.sender;
        let is_answer = !sender.answers.is_empty() && (sender.waiting.is_none() || !sender.was_answer);
        let next = if is_answer {
            sender.answers.pop_front()
        } else {
            sender.waiting.take()
        };
        let Some((descriptor, since)) = next else { return };
        sender.was_answer = is_answer;
        sender.current = Some(Sending {
            cuts: cut(&descriptor, src),
            descriptor,
            is_answer,
            words: 0,
            failed: None,
        });
        // Its reads follow those of the transfer before.
        let begin = if is_answer { timing::SEND_ANSWER } else { timing::SEND };
        self.after(delay, move |m| m.send_worm(node, since + begin));
        self.fetch(node);
    }

    /// Begins the next worm of a transfer, whose data may be read since then.
    fn send_worm(&mut self, node: usize, since: u64) {
        let (now, first) = (self.now, since + self.read_latency());
        let nia = &mut self.nias[node];
        let read_before = nia.sender.read + std::mem::take(&mut nia.sender.passed_over);
        let sending = nia.sender.current.as_mut().expect("a transfer");
        let Cut { header, runs, is_bad } = sending.cuts.next().expect("another worm");
        let value = sending
            .descriptor
            .value
            .map(|value| vec![value as u32, (value >> 32) as u32]);
        let base = sending.descriptor.base;
        let read = |run: &Run| words::read(&nia.memory, base.wrapping_add(run.offset), run.bytes / 4);
        let data: Result<Vec<Vec<u32>>, BusError> = runs.iter().map(read).collect();
        sending.failed = match data {
            Err(BusError) => Some(SendReason::Memory),
            Ok(_) if is_bad => Some(SendReason::Area),
            Ok(_) => None,
        };
        let mut payload = value.unwrap_or_else(|| data.unwrap_or_default().concat());
        sending.words = header.length / 4;
        // What cannot be read is zeros.
        payload.resize(sending.words as usize, 0);
        let mut worm = header.words();
        worm.extend(payload);
        let sum = sum(&worm);
        worm.push(if sending.failed.is_some() { !sum } else { sum });
        let read = match sending.descriptor.value {
            Some(_) => now - timing::SUM,
            None => first.max(read_before) + self.run_cycles(runs.iter().map(|run| run.bytes / 4), self.read_latency()),
        };
        self.leave(node, Channel::Data, worm, read + timing::SUM);
    }

    /// Cycles of runs of so many words: a run shorter than a burst leaves the port idle while bursts are under way.
    pub(super) fn run_cycles(&self, runs: impl Iterator<Item = u32>, latency: u64) -> u64 {
        let (burst, outstanding) = (u64::from(self.config.burst_beats), u64::from(self.config.outstanding));
        let cycles = |words: u32| {
            let words = u64::from(words);
            let least = if words < burst {
                (latency + words).div_ceil(outstanding)
            } else {
                0
            };
            words.max(least).max(timing::RUN)
        };
        let mut runs = runs.peekable();
        let first = runs.next().unwrap_or(0);
        match runs.peek() {
            None => first.into(),
            Some(_) => cycles(first) + runs.map(cycles).sum::<u64>(),
        }
    }

    /// The last word of a worm of the data channel has left.
    pub(super) fn sent(&mut self, node: usize) {
        let now = self.now;
        let nia = &mut self.nias[node];
        nia.sender.read = now - timing::SUM;
        let Some(sending) = &mut nia.sender.current else {
            return self.send(node, timing::NEXT_TRANSFER);
        };
        let (words, failed, is_answer, descriptor) =
            (sending.words, sending.failed, sending.is_answer, sending.descriptor);
        let is_over = failed.is_some() || sending.cuts.is_over();
        nia.count(COUNT_SENT, 1);
        nia.count(COUNT_WORDS, words);
        if !is_over {
            return self.after(timing::NEXT_WORM, move |m| m.send_worm(node, 0));
        }
        nia.sender.current = None;
        nia.count(COUNT_ANSWERED, is_answer.into());
        let Descriptor { process, tcw, flag, .. } = descriptor;
        match failed {
            Some(reason) => self.refuse(
                node,
                Refusal {
                    process,
                    tcw,
                    reason,
                    flag,
                },
            ),
            None => self.write_flag(node, flag, tcw, RESULT_SENT),
        }
        self.send(node, timing::NEXT_TRANSFER);
    }

    /// Begins the next message of the acknowledge channel.
    fn send_ack(&mut self, node: usize) {
        let nia = &mut self.nias[node];
        if nia.ack_sender.current.is_some() || nia.is_leaving[Channel::Ack as usize] {
            return;
        }
        let Some(descriptor) = nia.ack_sender.waiting.take() else {
            return;
        };
        nia.ack_sender.current = Some(descriptor);
        match descriptor.request {
            Some(request) => {
                self.after(timing::SEND_REQUEST, move |m| {
                    m.leave_ack(node, descriptor, &request.words())
                });
            }
            None => {
                let (addr, words) = (descriptor.base.wrapping_add(descriptor.source), descriptor.length / 4);
                self.job(
                    node,
                    Client::AckSend,
                    Op::Read { addr, words },
                    move |m, read| match read {
                        Ok(data) => m.after(timing::SEND_ACK, move |m| m.leave_ack(node, descriptor, &data)),
                        Err(BusError) => {
                            let Descriptor { process, tcw, flag, .. } = descriptor;
                            let reason = SendReason::Memory;
                            m.nias[node].ack_sender.current = None;
                            m.refuse(
                                node,
                                Refusal {
                                    process,
                                    tcw,
                                    reason,
                                    flag,
                                },
                            );
                            m.send_ack(node);
                        }
                    },
                );
            }
        }
        self.fetch(node);
    }

    fn leave_ack(&mut self, node: usize, descriptor: Descriptor, payload: &[u32]) {
        let src = self.nias[node].place();
        let worm = cut(&descriptor, src).next().expect("a worm").header.worm(payload);
        let end = self.now;
        self.leave(node, Channel::Ack, worm, end);
    }

    /// The last word of a worm of the acknowledge channel has left.
    pub(super) fn sent_ack(&mut self, node: usize) {
        let nia = &mut self.nias[node];
        if let Some(descriptor) = nia.ack_sender.current.take() {
            nia.count(COUNT_SENT_ACK, 1);
            nia.count(
                COUNT_WORDS,
                if descriptor.kind == Kind::Write {
                    descriptor.length / 4
                } else {
                    SIZE_ACK / 4
                },
            );
            self.write_flag(node, descriptor.flag, descriptor.tcw, RESULT_SENT);
        }
        self.send_ack(node);
    }
}
