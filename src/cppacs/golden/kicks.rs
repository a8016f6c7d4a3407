//! The queues of kicks: one for each process and channel. It is told whose kick is served next, and checks that it may.

use std::collections::{BTreeSet, VecDeque};

use crate::cppacs::regs::SIZE_PROCESSES;

const PROCESSES: usize = SIZE_PROCESSES as usize;

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue is full")]
pub struct Full;

/// Why a process's kick may not be served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNext {
    #[error("process {0} has no kick")]
    Empty(usize),
    #[error("process {passed} would be passed over by process {by} again")]
    Unfair { passed: usize, by: usize },
}

/// The queues of a channel.
#[derive(Clone, Debug, Default)]
struct Queues {
    kicks: [VecDeque<u16>; PROCESSES],
    /// Of a process with kicks: who was served since the first of them came to its queue's head.
    passed: [BTreeSet<usize>; PROCESSES],
}

/// All queues.
#[derive(Clone, Debug)]
pub struct Kicks {
    depth: usize,
    channels: [Queues; 2],
}

impl Kicks {
    pub fn new(depth: usize) -> Kicks {
        Kicks {
            depth,
            channels: Default::default(),
        }
    }

    /// # Errors
    /// The queue is full: nothing happens.
    pub fn kick(&mut self, process: usize, channel: usize, tcw: u16) -> Result<(), Full> {
        let queue = &mut self.channels[channel].kicks[process];
        if queue.len() == self.depth {
            return Err(Full);
        }
        queue.push_back(tcw);
        Ok(())
    }

    /// A process's kick is served.
    ///
    /// # Errors
    /// It has none, or another one has waited longer.
    pub fn next(&mut self, channel: usize, process: usize) -> Result<u16, NotNext> {
        let queues = &mut self.channels[channel];
        let tcw = queues.kicks[process].pop_front().ok_or(NotNext::Empty(process))?;
        queues.passed[process].clear();
        for other in (0..PROCESSES).filter(|&other| other != process) {
            if !queues.kicks[other].is_empty() && !queues.passed[other].insert(process) {
                return Err(NotNext::Unfair {
                    passed: other,
                    by: process,
                });
            }
        }
        Ok(tcw)
    }

    /// The kick of a process that is served next on a channel.
    pub fn first(&self, channel: usize, process: usize) -> Option<u16> {
        self.channels[channel].kicks[process].front().copied()
    }

    /// How many kicks a queue takes.
    pub fn room(&self, process: usize, channel: usize) -> usize {
        self.depth - self.channels[channel].kicks[process].len()
    }

    /// Processes with a kick in a queue, by bit.
    pub fn waiting(&self) -> u32 {
        let waits = |process: &usize| self.channels.iter().any(|queues| !queues.kicks[*process].is_empty());
        (0..PROCESSES).filter(waits).map(|process| 1 << process).sum()
    }
}
