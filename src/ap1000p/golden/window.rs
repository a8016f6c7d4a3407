//! The processor's view of its cell, by the offset of a [`HostReq`](crate::harness::backend::HostReq), the same on both
//! backends. Loads and stores name a physical address; the shared space is in
//! [`access`](crate::ap1000p::golden::access).

use crate::ap1000p::bif_regs::BIF_RECEIVE;
use crate::ap1000p::regs::{COMMAND_WORDS, ID};

/// Registers of MSC+ and MC, from offset 0.
pub const REGISTERS_END: u32 = ID + 4;
/// Registers of S-net and B-net, from their offset 0.
pub const NETS: u32 = 0x200;
/// End of the registers of S-net and B-net.
pub const NETS_END: u32 = NETS + BIF_RECEIVE + 4;
/// Communication register 0.
pub const CREGS: u32 = 0x1000;
/// Communication registers, a word each.
pub const CREGS_END: u32 = CREGS + 4 * crate::ap1000p::golden::creg::WORDS as u32;
/// Page code 0. A page has 4 KB, and all its words are equivalent.
pub const PAGES: u32 = 0x8000_0000;

/// The destination of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// A register by its own offset.
    Register(u32),
    /// A register of the interface to S-net and B-net, by its own offset.
    Net(u32),
    /// A communication register's number.
    Creg(u8),
    /// A page code: a store there is a word of a command.
    Page(u16),
}

impl Window {
    /// `None`: nothing has this offset.
    pub fn of(offset: u32) -> Option<Window> {
        if offset < REGISTERS_END {
            Some(Window::Register(offset))
        } else if (NETS..NETS_END).contains(&offset) {
            Some(Window::Net(offset - NETS))
        } else if (CREGS..CREGS_END).contains(&offset) {
            Some(Window::Creg(((offset - CREGS) / 4) as u8))
        } else if (PAGES..PAGES + (1 << 28)).contains(&offset) {
            Some(Window::Page(((offset - PAGES) >> 12) as u16))
        } else {
            None
        }
    }
}

/// The offset of a page.
pub fn page(code: u32) -> u32 {
    assert!(code < 1 << 16, "a page code has 16 bits, not {code:#x}");
    PAGES + (code << 12)
}

/// The offset of a communication register.
pub fn creg(register: u8) -> u32 {
    let offset = CREGS + 4 * u32::from(register);
    assert!(offset < CREGS_END, "there is no communication register {register}");
    offset
}

/// A command's words.
pub type Command = [u32; COMMAND_WORDS as usize];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_names_one_place() {
        assert_eq!(Window::of(0xfc), Some(Window::Register(0xfc)));
        assert_eq!(Window::of(0x100), None);
        assert_eq!(Window::of(NETS + BIF_RECEIVE), Some(Window::Net(BIF_RECEIVE)));
        assert_eq!(Window::of(NETS_END), None);
        assert_eq!(Window::of(creg(127)), Some(Window::Creg(127)));
        assert_eq!(Window::of(CREGS_END), None);
        assert_eq!(Window::of(page(0xffff)), Some(Window::Page(0xffff)));
        assert_eq!(Window::of(page(0x2001) + 0xffc), Some(Window::Page(0x2001)));
        assert_eq!(Window::of(0x9000_0000), None);
    }
}
