//! Golden model of the word unit, which reads, changes or counts one word of cell memory.

use crate::ap1000p::golden::creg::{Access, Conflict};
use crate::ap1000p::golden::ring::{NoRoom, Place};
use crate::ap1000p::regs::*;

/// The operations; the hardware's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    Read = WORD_READ as u8,
    Write = WORD_WRITE as u8,
    Inc = WORD_INC as u8,
    Fop = WORD_FOP as u8,
    Csi = WORD_CSI as u8,
}

impl Op {
    pub const ALL: [Op; 5] = [Op::Read, Op::Write, Op::Inc, Op::Fop, Op::Csi];

    /// The new value of the word, if the operation writes it.
    pub fn of(self, old: u32, a: u32, b: u32) -> Option<u32> {
        match self {
            Op::Read => None,
            Op::Write => Some(a),
            Op::Inc => Some(old.wrapping_add(1)),
            Op::Fop => Some(old & a | b),
            Op::Csi => (old == a).then_some(b),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub op: Op,
    /// 12 bits.
    pub context: u16,
    pub system: bool,
    /// Whether the address is one of cell memory.
    pub physical: bool,
    /// In bytes.
    pub addr: u32,
    /// For a write: a bit for each byte of the word.
    pub strb: u8,
    pub a: u32,
    pub b: u32,
}

/// Reasons for an unknown result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// A fault that software gave up.
    GivenUp,
    /// The memory reported an error.
    Bus,
}

/// The parts of the cell that the message controller reaches.
pub trait Cell {
    /// The address of the word in cell memory; `None` for a fault that software gives up. `write`: the access would
    /// write.
    fn place(&mut self, context: u16, system: bool, write: bool, addr: u32) -> Option<u32>;

    /// # Errors
    /// [`Failed::Bus`].
    fn read(&mut self, addr: u32) -> Result<u32, Failed>;

    /// Writes the bytes that `strb` selects.
    ///
    /// # Errors
    /// [`Failed::Bus`]; nothing is written.
    fn write(&mut self, addr: u32, data: u32, strb: u8) -> Result<(), Failed>;

    /// Accesses a communication register.
    ///
    /// # Errors
    /// A conflict that does not wait.
    fn register(&mut self, access: Access) -> Result<Option<u32>, Conflict>;

    /// A place in the ring buffer of a context, for a message with this many words of data.
    ///
    /// # Errors
    /// There is no place and software gives up, or there can never be one.
    fn ring(&mut self, context: u16, system: bool, words: u32) -> Result<Place, NoRoom>;

    /// Ends the use of a place. `words`: the words of data, if all are there; the next message then goes behind them.
    fn ringed(&mut self, place: Place, words: Option<u32>);
}

/// Executes a request. Returns the word before; 0 for a write.
///
/// # Errors
/// Nothing was written, except possibly after an error of the memory.
pub fn perform(cell: &mut impl Cell, request: &Request) -> Result<u32, Failed> {
    let Request { op, addr, a, b, .. } = *request;
    if !addr.is_multiple_of(4) {
        return Err(Failed::GivenUp);
    }
    let place = if request.physical {
        addr
    } else {
        cell.place(request.context, request.system, op != Op::Read, addr)
            .ok_or(Failed::GivenUp)?
    };
    if op == Op::Write {
        cell.write(place, a, request.strb)?;
        return Ok(0);
    }
    let old = cell.read(place)?;
    if let Some(new) = op.of(old, a, b) {
        cell.write(place, new, 0xf)?;
    }
    Ok(old)
}
