//! The processors' ports, cycle by cycle, for benches: each port by itself, and several at once.

use super::{Cells, Machine};
use crate::ap1000p::golden::access;
use crate::ap1000p::golden::creg;
use crate::ap1000p::regs::*;
use crate::harness::host_port::RegisterAccess;
use crate::rtl::{Ap1000pCellUnit, TorusRouterUnit};

/// What became of an access of a communication register: the word read, or `None` on a fault.
pub type Answer = Option<u32>;

/// An access of the processor to another cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    pub cell: usize,
    /// In that cell's memory, or of one of its communication registers: 4 x its number.
    pub addr: u32,
    pub registers: bool,
    /// Bytes, as a power of two: 0 to 3.
    pub size: u8,
    /// The bytes to store in their lanes of the word, or a load.
    pub write: Option<u64>,
}

/// What became of one: the word, or two for 8 bytes; `None`: it was refused, here or there. A store's answer says only
/// that it is on its way.
pub type RemoteAnswer = Option<u64>;

/// The processors' ports of a machine.
pub trait Direct {
    /// Relative address of a cell, as commands have it.
    fn relative(&self, from: usize, to: usize) -> u32;

    /// Words that a cell has put on the network.
    fn sent(&self, number: usize) -> u64;

    /// Cycles in which a store was offered to a cell and not taken.
    fn stalls(&self, number: usize) -> u64;

    /// The processor stores these words to a page, one after the other, behind what it has yet to store.
    fn store(&mut self, number: usize, page: u32, words: &[u32]);

    /// Writes a register, and runs until that is done.
    ///
    /// # Panics
    /// The register cannot be written.
    fn write(&mut self, number: usize, offset: u32, value: u32);

    /// Reads a register.
    ///
    /// # Panics
    /// There is none.
    fn read(&mut self, number: usize, offset: u32) -> u32;

    /// The answer of a register access, and whether it was refused.
    fn host(&mut self, number: usize, offset: u32, write: Option<u32>) -> (u32, bool);

    /// Accesses a communication register; `None` if there is no answer within so many cycles. The access goes on then:
    /// ask again with [`answer`](Direct::answer).
    fn access(&mut self, number: usize, access: creg::Access, cycles: u64) -> Option<Answer>;

    /// The answer of the access under way, if it comes within so many cycles.
    fn answer(&mut self, number: usize, cycles: u64) -> Option<Answer>;

    /// Loads from or stores to another cell; `None` if that is not done within so many cycles. It goes on then: ask
    /// again with [`remote_answer`](Direct::remote_answer).
    fn remote(&mut self, number: usize, remote: Remote, cycles: u64) -> Option<RemoteAnswer>;

    /// The end of the remote access under way, if it comes within so many cycles.
    fn remote_answer(&mut self, number: usize, cycles: u64) -> Option<RemoteAnswer>;

    fn run(&mut self, cycles: u64);

    /// Runs until nothing is under way; false if something still is after so many cycles.
    #[must_use]
    fn settle(&mut self, cycles: u64) -> bool;
}

impl<C: Ap1000pCellUnit, R: TorusRouterUnit> Direct for Machine<C, R> {
    fn relative(&self, from: usize, to: usize) -> u32 {
        let torus = self.hardware().torus;
        let (from, to) = (torus.cell(from), torus.cell(to));
        let part = |from: usize, to: usize| (to as i32 - from as i32) as u32 & 0xff;
        part(from.x, to.x) << COMMAND_HEAD_DX_SHIFT | part(from.y, to.y) << COMMAND_HEAD_DY_SHIFT
    }

    fn sent(&self, number: usize) -> u64 {
        self.hardware().cells[number].sent
    }

    fn stalls(&self, number: usize) -> u64 {
        self.hardware().cells[number].stalls
    }

    fn store(&mut self, number: usize, page: u32, words: &[u32]) {
        let page = u16::try_from(page).expect("a page code has 16 bits");
        let stores = words.iter().map(|&data| (page, data));
        self.with_hardware(|hardware| hardware.cells[number].stores.extend(stores));
    }

    fn write(&mut self, number: usize, offset: u32, value: u32) {
        let (_, error) = self.host(number, offset, Some(value));
        assert!(!error, "cell {number}: register {offset:#x} cannot be written");
    }

    fn read(&mut self, number: usize, offset: u32) -> u32 {
        let (value, error) = self.host(number, offset, None);
        assert!(!error, "cell {number}: there is no register {offset:#x}");
        value
    }

    fn host(&mut self, number: usize, offset: u32, write: Option<u32>) -> (u32, bool) {
        let offset = u8::try_from(offset).expect("registers have 256 bytes");
        let access = RegisterAccess { offset, write };
        self.with_hardware(|hardware| hardware.cells[number].registers.start(access));
        let rsp = until(self, u64::MAX, |hardware| hardware.cells[number].registers.take());
        let rsp = rsp.expect("a register access is answered");
        (rsp.value as u32, rsp.error)
    }

    fn access(&mut self, number: usize, access: creg::Access, cycles: u64) -> Option<Answer> {
        self.with_hardware(|hardware| hardware.cells[number].cregs.start(access));
        self.answer(number, cycles)
    }

    fn answer(&mut self, number: usize, cycles: u64) -> Option<Answer> {
        until(self, cycles, |hardware| hardware.cells[number].cregs.take())
    }

    fn remote(&mut self, number: usize, remote: Remote, cycles: u64) -> Option<RemoteAnswer> {
        let to = self.hardware().torus.cell(remote.cell);
        let access = access::Access {
            cell: [to.x as u8, to.y as u8],
            registers: remote.registers,
            addr: remote.addr,
            size: remote.size,
            write: remote.write,
        };
        self.with_hardware(|hardware| hardware.cells[number].shared.start(access));
        self.remote_answer(number, cycles)
    }

    fn remote_answer(&mut self, number: usize, cycles: u64) -> Option<RemoteAnswer> {
        until(self, cycles, |hardware| hardware.cells[number].shared.take())
    }

    fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    fn settle(&mut self, cycles: u64) -> bool {
        (0..cycles).any(|_| {
            self.step();
            self.at_rest()
        })
    }
}

/// Runs until there is something to take, at most so many cycles.
fn until<C: Ap1000pCellUnit, R: TorusRouterUnit, T>(
    machine: &mut Machine<C, R>,
    cycles: u64,
    mut take: impl FnMut(&mut Cells<C, R>) -> Option<T>,
) -> Option<T> {
    (0..cycles).find_map(|_| {
        machine.step();
        machine.with_hardware(&mut take)
    })
}
