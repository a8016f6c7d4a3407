//! The processor's view of its cell: physical addresses of 36 bits, by the space in bits 35:32.
//!
//! `ap1000p_window` decodes the shared space, pages and communication registers. Each block of registers has an
//! AXI-Lite side of its own in the RTL, and a space of its own for the host.
//!
//! The shared space is the half with bit 35 clear: {0, cell, address in its memory}, 1 + 10 + 25 bits. The paper has
//! the ten bits. Their position is the only one that leaves the machine's other spaces (0x8 to 0xc) free.

use crate::ap1000p::bif_regs::BIF_RECEIVE;
use crate::ap1000p::golden::access::{Access, COORD_BITS};
use crate::ap1000p::golden::creg;
use crate::ap1000p::golden::wtp::LOCAL_BITS;
use crate::ap1000p::regs::*;
use crate::harness::backend::HostReq;
use crate::harness::host_port::RegisterAccess;
use crate::net::torus::Cell;

/// Bits of a cell's number.
const NAME_BITS: u32 = 2 * COORD_BITS;
/// Bits of an address within a page. All words of a page are equivalent.
const PAGE_BITS: u32 = 12;
/// Bits of the address of a communication register: 128 words.
const CREG_BITS: u32 = 9;
/// With this bit set, the bits from [`CREG_BITS`] on have the cell of the register.
const CREG_REMOTE: u32 = 1 << 28;

/// The destination of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// A register of MSC+ and MC.
    Register(RegisterAccess),
    /// A register of the interface to S-net and B-net.
    Bif(RegisterAccess),
    /// A communication register of the own cell.
    Creg(creg::Access),
    /// A word of a command, for the page of this code.
    Page { code: u16, data: u32 },
    /// Memory or a communication register of the cell in the address.
    Shared(Access),
}

impl Window {
    /// `None`: the access is refused.
    pub fn of(req: HostReq) -> Option<Window> {
        let HostReq { addr, bytes, write } = req;
        if addr >> (LOCAL_BITS + NAME_BITS) == 0 {
            return shared_access(req).map(Window::Shared);
        }
        if bytes != 4 || !addr.is_multiple_of(4) {
            return None;
        }
        let (space, low, write) = ((addr >> 32) as u32, addr as u32, write.map(|value| value as u32));
        let register = |end: u32| {
            let offset = low as u8;
            (low < end).then_some(RegisterAccess { offset, write })
        };
        match space {
            PAGE_SPACE if low >> (PAGE_BITS + 16) == 0 => {
                let (code, data) = ((low >> PAGE_BITS) as u16, write?);
                Some(Window::Page { code, data })
            }
            CREG_SPACE if low >> CREG_BITS == 0 => {
                let addr = (low / 4) as u8;
                Some(Window::Creg(creg::Access { addr, write }))
            }
            CREG_SPACE if low >> (CREG_BITS + NAME_BITS) == CREG_REMOTE >> (CREG_BITS + NAME_BITS) => {
                let name = (low & !CREG_REMOTE) >> CREG_BITS;
                Some(Window::Shared(Access {
                    cell: Access::cell(name as u16),
                    registers: true,
                    addr: low & ((1 << CREG_BITS) - 1),
                    size: 2,
                    write: write.map(u64::from),
                }))
            }
            REGISTER_SPACE => register(ID + 4).map(Window::Register),
            BIF_SPACE => register(BIF_RECEIVE + 4).map(Window::Bif),
            _ => None,
        }
    }
}

/// A load or store of a cell's memory. One at no multiple of its size is for the cell to refuse.
fn shared_access(req: HostReq) -> Option<Access> {
    let HostReq { addr, bytes, write } = req;
    if !matches!(bytes, 1 | 2 | 4 | 8) {
        return None;
    }
    let access = Access {
        cell: Access::cell((addr >> LOCAL_BITS) as u16),
        registers: false,
        addr: addr as u32 & ((1 << LOCAL_BITS) - 1),
        size: bytes.ilog2() as u8,
        write: None,
    };
    let write = write.map(|value| access.lanes(value));
    Some(Access { write, ..access })
}

fn space(space: u32, low: u32) -> u64 {
    u64::from(space) << 32 | u64::from(low)
}

/// The address of a register of MSC+ and MC.
pub fn register(offset: u32) -> u64 {
    space(REGISTER_SPACE, offset)
}

/// The address of a register of the interface to S-net and B-net.
pub fn bif(offset: u32) -> u64 {
    space(BIF_SPACE, offset)
}

/// The address of a communication register of the own cell.
///
/// # Panics
/// There is no such register.
pub fn creg(register: u8) -> u64 {
    let exists = usize::from(register) < creg::WORDS;
    assert!(exists, "there is no communication register {register}");
    space(CREG_SPACE, 4 * u32::from(register))
}

/// The address of a communication register of any cell.
///
/// # Panics
/// There is no such register; a torus of more than 32 cells along an axis.
pub fn remote_creg(cell: Cell, register: u8) -> u64 {
    creg(register) | u64::from(CREG_REMOTE | u32::from(name(cell)) << CREG_BITS)
}

/// The address of a page, by its code.
///
/// # Panics
/// The code has more than 16 bits.
pub fn page(code: u32) -> u64 {
    assert!(code < 1 << 16, "a page code has 16 bits, not {code:#x}");
    space(PAGE_SPACE, code << PAGE_BITS)
}

/// The address of a byte of a cell's memory.
///
/// # Panics
/// A torus of more than 32 cells along an axis, or an address beyond 32 MB, has no place in the shared space.
pub fn shared(cell: Cell, addr: u32) -> u64 {
    assert!(addr >> LOCAL_BITS == 0, "{addr:#x}: of each cell 32 MB are shared");
    u64::from(name(cell)) << LOCAL_BITS | u64::from(addr)
}

/// The ten bits that name a cell.
pub fn name(cell: Cell) -> u16 {
    let fits = cell.x >> COORD_BITS == 0 && cell.y >> COORD_BITS == 0;
    assert!(fits, "{cell} has no name of {NAME_BITS} bits");
    (cell.y << COORD_BITS | cell.x) as u16
}

/// A command's words.
pub type Command = [u32; COMMAND_WORDS as usize];

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Cell = Cell { x: 3, y: 17 };

    fn load(addr: u64, bytes: u8) -> Option<Window> {
        let write = None;
        Window::of(HostReq { addr, bytes, write })
    }

    #[test]
    fn an_address_names_one_place() {
        let register = |offset, write| RegisterAccess { offset, write };
        let store = |addr| Window::of(HostReq::write(addr, 7));
        let access = |addr, write| creg::Access { addr, write };
        assert_eq!(
            load(register_end() - 4, 4),
            Some(Window::Register(register(0xfc, None)))
        );
        assert_eq!(
            store(super::register(CELL_OFFSET)),
            Some(Window::Register(register(0, Some(7))))
        );
        let receive = register(BIF_RECEIVE as u8, None);
        assert_eq!(load(bif(BIF_RECEIVE), 4), Some(Window::Bif(receive)));
        assert_eq!(load(creg(127), 4), Some(Window::Creg(access(127, None))));
        assert_eq!(store(creg(5)), Some(Window::Creg(access(5, Some(7)))));
        let (code, data) = (0xffff, 7);
        assert_eq!(store(page(0xffff) + 0xffc), Some(Window::Page { code, data }));
        let nothing = [
            register_end(),
            bif(BIF_RECEIVE + 4),
            creg(127) + 4,
            page(0xffff) + 0x1000,
            // Pages are not read.
            page(0),
            u64::from(CELL_SPACE) << 32,
            1 << 36,
            super::register(2),
        ];
        for addr in nothing {
            assert_eq!(load(addr, 4), None, "{addr:#x}");
        }
        for (addr, bytes) in [(creg(0), 2), (super::register(0), 8), (0, 3), (0, 0), (0, 16)] {
            assert_eq!(load(addr, bytes), None, "{addr:#x}, {bytes} bytes");
        }
    }

    /// Offset of the first register.
    const CELL_OFFSET: u32 = crate::ap1000p::regs::CELL;

    /// Behind the last one.
    fn register_end() -> u64 {
        super::register(ID) + 4
    }

    #[test]
    fn an_address_names_a_cell() {
        let addr = shared(CELL, 0x123_4567);
        assert_eq!(addr, (17 << 30 | 3 << 25) | 0x123_4567);
        let Some(Window::Shared(load)) = load(addr, 1) else {
            panic!("in the space")
        };
        assert_eq!((load.cell, load.addr, load.size), ([3, 17], 0x123_4567, 0));
        assert_eq!(load.value(0x4433_2211), 0x44);
        let addr = remote_creg(CELL, 2);
        assert_eq!(addr, 0xb_1000_0000 | (17 << 14 | 3 << 9) | 8);
        let Some(Window::Shared(store)) = Window::of(HostReq::write(addr, 9)) else {
            panic!("a register's")
        };
        assert_eq!(
            (store.cell, store.addr, store.size, store.write),
            ([3, 17], 8, 2, Some(9))
        );
        assert!(store.registers && !load.registers);
    }

    #[test]
    fn bytes_of_a_store_stand_in_their_lanes() {
        let stored = |addr, bytes| {
            let write = Some(0x8877_6655_4433_2211);
            match Window::of(HostReq { addr, bytes, write }) {
                Some(Window::Shared(access)) => access.write,
                _ => None,
            }
        };
        assert_eq!(stored(5, 1), Some(0x1100));
        assert_eq!(stored(6, 2), Some(0x2211_0000));
        assert_eq!(stored(4, 4), Some(0x4433_2211));
        assert_eq!(stored(8, 8), Some(0x8877_6655_4433_2211));
    }
}
