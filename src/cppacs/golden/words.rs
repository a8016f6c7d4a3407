//! Small accesses of memory, one after the other.

use crate::Addr;
use crate::harness::memory::Memory;

/// What is done with the words of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    Read,
    Write,
    /// 8 bytes become the new value; the old one is the answer.
    Swap,
    /// The same, if they are what is compared.
    Cswap,
}

/// A small access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub op: Op,
    pub addr: u32,
    pub words: u32,
    /// Words that are written; with `Cswap` what is compared stands before them.
    pub data: Vec<u32>,
}

/// Memory reported an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("memory reported an error")]
pub struct BusError;

fn read(memory: &Memory, addr: u32) -> Option<u32> {
    let bytes = memory.read(Addr(addr), 4).filter(|_| memory.bus_ok(Addr(addr), 4))?;
    Some(u32::from_le_bytes(bytes.try_into().expect("4 bytes")))
}

fn write(memory: &mut Memory, addr: u32, word: u32) -> bool {
    memory.bus_ok(Addr(addr), 4) && memory.write(Addr(addr), &word.to_le_bytes())
}

/// Does a job: the words that it reads.
///
/// # Errors
/// Memory reports an error. A write has written the other words then, a `Swap` or `Cswap` whose read fails nothing.
pub fn perform(memory: &mut Memory, job: &Job) -> Result<Vec<u32>, BusError> {
    let addresses: Vec<u32> = (0..job.words).map(|word| job.addr.wrapping_add(4 * word)).collect();
    let mut old = Vec::new();
    if job.op != Op::Write {
        let words: Option<Vec<u32>> = addresses.iter().map(|&addr| read(memory, addr)).collect();
        old = words.ok_or(BusError)?;
    }
    let new = match job.op {
        Op::Read => return Ok(old),
        Op::Write | Op::Swap => &job.data[..],
        Op::Cswap if job.data[..2] != old => return Ok(old),
        Op::Cswap => &job.data[2..],
    };
    let written: Vec<bool> = addresses
        .iter()
        .zip(new)
        .map(|(&addr, &word)| write(memory, addr, word))
        .collect();
    written
        .iter()
        .all(|&is_written| is_written)
        .then_some(old)
        .ok_or(BusError)
}
