//! Distributed shared memory: the processor's load or store at a physical address becomes a message to the cell in the
//! address.
//!
//! The space is the half of the physical addresses with bit 35 clear: {0, cell, address in its memory}, 1 + 10 + 25
//! bits. The paper has the ten bits. Their position is the only one that leaves the machine's other spaces (0x8 to 0xc
//! in the highest digit) free.

use crate::ap1000p::golden::send::Place;
use crate::ap1000p::golden::wtp::{LOCAL_BITS, Remote, Tags};
use crate::ap1000p::regs::*;
use crate::harness::backend::HostReq;
use crate::net::torus::Cell;

/// Bits of a coordinate in a cell's number.
const COORD_BITS: u32 = 5;
/// Bits of an address within a cell's part of the space.
const SPACE_BITS: u32 = LOCAL_BITS + 2 * COORD_BITS;

/// The address of a byte in the space.
///
/// # Panics
/// The torus has more than 32 cells along an axis, or the address is beyond 32 MB.
pub fn place(cell: Cell, addr: u32) -> u64 {
    assert!(
        cell.x >> COORD_BITS == 0 && cell.y >> COORD_BITS == 0,
        "{cell} does not fit the 10 bits of a cell"
    );
    assert!(
        addr >> LOCAL_BITS == 0,
        "{addr:#x} is beyond the 32 MB that each cell shares"
    );
    ((cell.y << COORD_BITS | cell.x) as u64) << LOCAL_BITS | u64::from(addr)
}

/// An access of the processor to a cell's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Column and row; the torus may lack this cell.
    pub cell: [u8; 2],
    /// Address in that cell's memory.
    pub addr: u32,
    /// Log2 of the number of bytes: 0 to 3.
    pub size: u8,
    /// The bytes to store, in their lanes of the word; `None` for a load.
    pub write: Option<u64>,
}

impl Access {
    /// `None`: the access lies outside the space.
    pub fn of(req: HostReq) -> Option<Access> {
        let (addr, bytes, value) = match req {
            HostReq::Load { addr, bytes } => (addr, bytes, None),
            HostReq::Store { addr, bytes, value } => (addr, bytes, Some(value)),
            HostReq::Read { .. } | HostReq::Write { .. } => return None,
        };
        if addr >> SPACE_BITS != 0 || !matches!(bytes, 1 | 2 | 4 | 8) {
            return None;
        }
        let name = (addr >> LOCAL_BITS) as u32;
        let access = Access {
            cell: [name & ((1 << COORD_BITS) - 1), name >> COORD_BITS].map(|part| part as u8),
            addr: addr as u32 & ((1 << LOCAL_BITS) - 1),
            size: bytes.ilog2() as u8,
            write: None,
        };
        let write = value.map(|value| (value & access.mask()) << access.lane());
        Some(Access { write, ..access })
    }

    /// The cell's ten bits.
    pub fn name(&self) -> u16 {
        u16::from(self.cell[1]) << COORD_BITS | u16::from(self.cell[0])
    }

    /// The lowest bits of a value, as many as the access has.
    fn mask(&self) -> u64 {
        u64::MAX >> (64 - (8 << self.size))
    }

    /// Bits of the word below the first lane.
    fn lane(&self) -> u32 {
        if self.size == 3 { 0 } else { 8 * (self.addr % 4) }
    }

    /// The result of a load, from the received word or words.
    pub fn value(&self, words: u64) -> u64 {
        words >> self.lane() & self.mask()
    }

    /// Whether the access is misaligned or names a cell outside the torus.
    pub fn is_refused(&self, size: [u8; 2]) -> bool {
        self.addr & ((1 << self.size) - 1) != 0 || (0..2).any(|axis| self.cell[axis] >= size[axis])
    }

    /// The message for the queue of remote accesses; `None` if the access is refused.
    pub fn message(&self, from: Place) -> Option<Vec<u32>> {
        if self.is_refused(from.size) {
            return None;
        }
        let distance = |axis: usize| u32::from(self.cell[axis].wrapping_sub(from.at[axis]));
        let made = if self.write.is_some() { MADE_STORE } else { MADE_LOAD };
        let kind = PAGE_DIRECT_MASK | u32::from(self.size) << PAGE_SIZE_SHIFT | made;
        let head = kind << COMMAND_HEAD_KIND_SHIFT
            | distance(0) << COMMAND_HEAD_DX_SHIFT
            | distance(1) << COMMAND_HEAD_DY_SHIFT;
        let mut words = vec![head, self.addr];
        if let Some(data) = self.write {
            words.push(data as u32);
            words.extend((self.size == 3).then_some((data >> 32) as u32));
        }
        Some(words)
    }
}

/// The Write Through Pages: a range of pages of 4 KB of each cell's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    pub low: u16,
    /// The end, exclusive.
    pub high: u16,
}

impl Pages {
    /// From the value of register WTP_PAGES.
    pub fn of(register: u32) -> Pages {
        Pages {
            low: (register >> WTP_PAGES_LOW_SHIFT) as u16,
            high: (register >> WTP_PAGES_HIGH_SHIFT) as u16,
        }
    }

    /// Whether one of the pages has the byte.
    pub fn have(&self, addr: u32) -> bool {
        addr >> LOCAL_BITS == 0 && (u32::from(self.low)..self.high.into()).contains(&(addr >> 12))
    }
}

/// The effect of an access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Course {
    /// Refused and reported; a load ends with an exception.
    Refused,
    /// A message to the other cell; a load waits for its reply.
    Message(Vec<u32>),
    /// A store to the other cell, and to the copy at this address in the local cache.
    Both(Vec<u32>, u32),
    /// A load from the copy at this address.
    Copy(u32),
    /// A load of a Write Through Page without a copy: an exception.
    Miss,
}

impl Access {
    /// The effect by the tags, in the pages where they count.
    pub fn course(&self, from: Place, pages: Pages, tags: &mut Tags) -> Course {
        let Some(message) = self.message(from) else {
            return Course::Refused;
        };
        if !pages.have(self.addr) {
            return Course::Message(message);
        }
        let (cell, addr) = (self.name(), self.addr);
        match (tags.lookup(Remote { cell, addr }), self.write) {
            ((true, copy), None) => Course::Copy(copy),
            ((true, copy), Some(_)) => Course::Both(message, copy),
            ((false, _), None) => Course::Miss,
            ((false, _), Some(_)) => Course::Message(message),
        }
    }

    /// The bytes of a store.
    pub fn bytes(&self) -> Vec<u8> {
        let value = self.value(self.write.expect("a store"));
        value.to_le_bytes()[..1 << self.size].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_cell_and_a_byte() {
        let addr = place(Cell { x: 3, y: 17 }, 0x123_4567);
        assert_eq!(addr, (17 << 30 | 3 << 25) | 0x123_4567);
        let load = Access::of(HostReq::Load { addr, bytes: 1 }).expect("in the space");
        assert_eq!((load.cell, load.addr, load.size), ([3, 17], 0x123_4567, 0));
        assert_eq!(load.value(0x4433_2211), 0x44);
        for (addr, bytes) in [(1 << 35, 4), (0x9_0000_0000, 4), (0, 3), (0, 0), (0, 16)] {
            assert_eq!(
                Access::of(HostReq::Load { addr, bytes }),
                None,
                "{addr:#x}, {bytes} bytes"
            );
        }
    }

    #[test]
    fn bytes_of_a_store_stand_in_their_lanes() {
        let write = |addr, bytes| {
            let value = 0x8877_6655_4433_2211;
            Access::of(HostReq::Store { addr, bytes, value }).unwrap().write
        };
        assert_eq!(write(5, 1), Some(0x1100));
        assert_eq!(write(6, 2), Some(0x2211_0000));
        assert_eq!(write(4, 4), Some(0x4433_2211));
        assert_eq!(write(8, 8), Some(0x8877_6655_4433_2211));
    }

    #[test]
    fn pages_end_where_they_say() {
        let pages = Pages::of(0x0012_0010);
        let have = |addr| pages.have(addr);
        assert_eq!(
            [0xffff, 0x1_0000, 0x1_1fff, 0x1_2000].map(have),
            [false, true, true, false]
        );
        assert!(!Pages::of(0x0010_0010).have(0x1_0000) && !Pages::of(0x0010_0012).have(0x1_1000));
        assert!(!Pages::of(0xffff_0000).have(1 << LOCAL_BITS), "beyond the space");
    }

    #[test]
    fn the_tags_count_in_write_through_pages_only() {
        use crate::ap1000p::golden::wtp::Update;
        let from = Place {
            at: [0, 0],
            size: [2, 1],
        };
        let pages = Pages { low: 1, high: 2 };
        let mut tags = Tags::new(0x20_0000);
        let access = |addr, write| Access {
            cell: [1, 0],
            addr,
            size: 2,
            write,
        };
        let message = |access: Access| access.message(from).unwrap();
        let (load, store) = (access(0x1400, None), access(0x1400, Some(9)));
        assert_eq!(load.course(from, pages, &mut tags), Course::Miss);
        assert_eq!(store.course(from, pages, &mut tags), Course::Message(message(store)));
        for addr in [0x1400, 0x2400] {
            tags.update(Update::Set, Remote { cell: 1, addr });
        }
        assert_eq!(load.course(from, pages, &mut tags), Course::Copy(0x20_1400));
        assert_eq!(
            store.course(from, pages, &mut tags),
            Course::Both(message(store), 0x20_1400)
        );
        let other = access(0x2400, None);
        assert_eq!(other.course(from, pages, &mut tags), Course::Message(message(other)));
        assert_eq!(access(0x1402, None).course(from, pages, &mut tags), Course::Refused);
    }

    #[test]
    fn what_cannot_be_has_no_message() {
        let from = Place {
            at: [1, 0],
            size: [2, 2],
        };
        let access = |cell, addr, size| Access {
            cell,
            addr,
            size,
            write: None,
        };
        assert_eq!(access([2, 0], 0, 2).message(from), None);
        assert_eq!(access([0, 2], 0, 2).message(from), None);
        assert_eq!(access([0, 1], 4, 3).message(from), None);
        let words = access([0, 1], 8, 3).message(from).expect("can be");
        assert_eq!(words, [(0x8000 | 3 << 11 | MADE_LOAD) << 16 | 0xff01, 8]);
    }
}
