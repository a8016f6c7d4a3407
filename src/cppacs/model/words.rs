//! The unit of small accesses: one job after the other, the least recently served client first.

use std::collections::VecDeque;

use super::{ModelMachine, timing};
use crate::Addr;
use crate::harness::memory::Memory;

/// Memory reported an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BusError;

/// Who has jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Receive,
    AckReceive,
    AckSend,
    Fetch,
    SendFlags,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Read { addr: u32, words: u32 },
    Write { addr: u32, data: Vec<u32> },
    Swap { addr: u32, new: u64 },
    Cswap { addr: u32, compare: u64, new: u64 },
}

type Then = Box<dyn FnOnce(&mut ModelMachine, Result<Vec<u32>, BusError>)>;

#[derive(Default)]
pub(super) struct Words {
    jobs: [VecDeque<(Op, Then)>; 5],
    served: [u64; 5],
    is_busy: bool,
}

impl Words {
    pub fn is_idle(&self) -> bool {
        !self.is_busy
    }
}

/// Reads words, all of them or none.
pub(super) fn read(memory: &Memory, addr: u32, words: u32) -> Result<Vec<u32>, BusError> {
    let bytes = memory.read(Addr(addr), 4 * words as usize).ok_or(BusError)?;
    memory.bus_ok(Addr(addr), 4 * words).then_some(()).ok_or(BusError)?;
    Ok(bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect())
}

/// Writes words, all of them or none.
pub(super) fn write(memory: &mut Memory, addr: u32, words: &[u32]) -> Result<(), BusError> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let is_written = memory.bus_ok(Addr(addr), bytes.len() as u32) && memory.write(Addr(addr), &bytes);
    is_written.then_some(()).ok_or(BusError)
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// What a job reads and writes, at once.
fn perform(memory: &mut Memory, op: &Op) -> Result<Vec<u32>, BusError> {
    match *op {
        Op::Read { addr, words } => read(memory, addr, words),
        Op::Write { addr, ref data } => write(memory, addr, data).map(|()| Vec::new()),
        Op::Swap { addr, new } => {
            let old = read(memory, addr, 2)?;
            write(memory, addr, &halves(new))?;
            Ok(old)
        }
        Op::Cswap { addr, compare, new } => {
            let old = read(memory, addr, 2)?;
            let next = if old == halves(compare) {
                halves(new).to_vec()
            } else {
                old.clone()
            };
            write(memory, addr, &next)?;
            Ok(old)
        }
    }
}

impl ModelMachine {
    /// Does a job of a client of a node, and then goes on with what it read.
    pub(super) fn job(
        &mut self,
        node: usize,
        client: Client,
        op: Op,
        then: impl FnOnce(&mut ModelMachine, Result<Vec<u32>, BusError>) + 'static,
    ) {
        self.nias[node].words.jobs[client as usize].push_back((op, Box::new(then)));
        self.next_job(node);
    }

    fn next_job(&mut self, node: usize) {
        let (read, write) = (self.read_latency(), self.write_latency());
        let now = self.now;
        let words = &mut self.nias[node].words;
        let waiting = (0..5).filter(|&client| !words.jobs[client].is_empty());
        let Some(client) = waiting
            .min_by_key(|&client| words.served[client])
            .filter(|_| !words.is_busy)
        else {
            return;
        };
        words.is_busy = true;
        words.served[client] = now + 1;
        let (op, then) = words.jobs[client].pop_front().expect("a job");
        let cycles = match &op {
            Op::Read { words, .. } => read + u64::from(*words),
            Op::Write { data, .. } => timing::WRITE + data.len() as u64 + write,
            Op::Swap { .. } | Op::Cswap { .. } => read + 2 + timing::WRITE + 2 + write,
        };
        // The sender's reads wait for them at the same port.
        if let Op::Read { words, .. } = &op {
            self.nias[node].sender.passed_over += u64::from(*words);
        }
        self.after(timing::WORDS + cycles, move |m| {
            let nia = &mut m.nias[node];
            nia.words.is_busy = false;
            let done = perform(&mut nia.memory, &op);
            then(m, done);
            m.next_job(node);
        });
    }
}
