//! Distributed shared memory: the processor's load or store becomes a message to the cell in its address.

use crate::ap1000p::golden::send::Place;
use crate::ap1000p::golden::wtp::{LOCAL_BITS, Remote, Tags};
use crate::ap1000p::regs::*;

/// Bits of a coordinate in a cell's number.
pub const COORD_BITS: u32 = 5;

/// An access of the processor to a cell's memory, or to one of its communication registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Column and row; the torus may lack this cell.
    pub cell: [u8; 2],
    /// The access is to a communication register.
    pub registers: bool,
    /// Address in that cell's memory, or 4 x the number of the register.
    pub addr: u32,
    /// Log2 of the number of bytes: 0 to 3.
    pub size: u8,
    /// The bytes to store, in their lanes of the word; `None` for a load.
    pub write: Option<u64>,
}

impl Access {
    /// Column and row of a cell's ten bits.
    pub fn cell(name: u16) -> [u8; 2] {
        [name & ((1 << COORD_BITS) - 1), name >> COORD_BITS].map(|part| part as u8)
    }

    /// The cell's ten bits.
    pub fn name(&self) -> u16 {
        u16::from(self.cell[1]) << COORD_BITS | u16::from(self.cell[0])
    }

    /// The lowest bytes of a value, as many as the access has, in their lanes.
    pub fn lanes(&self, value: u64) -> u64 {
        (value & self.mask()) << self.lane()
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
        let registers = u32::from(self.registers) << PAGE_AS_RECEIVE_SHIFT;
        let kind = PAGE_DIRECT_MASK | u32::from(self.size) << PAGE_SIZE_SHIFT | registers | made;
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
    /// The effect by the tags, in the pages where they count. Registers have no copies.
    pub fn course(&self, from: Place, pages: Pages, tags: &mut Tags) -> Course {
        let Some(message) = self.message(from) else {
            return Course::Refused;
        };
        if self.registers || !pages.have(self.addr) {
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
            registers: false,
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
            registers: false,
            addr,
            size,
            write: None,
        };
        assert_eq!(access([2, 0], 0, 2).message(from), None);
        assert_eq!(access([0, 2], 0, 2).message(from), None);
        assert_eq!(access([0, 1], 4, 3).message(from), None);
        let words = access([0, 1], 8, 3).message(from).expect("can be");
        assert_eq!(words, [(0x8000 | 3 << 11 | MADE_LOAD) << 16 | 0xff01, 8]);
        let register = Access {
            registers: true,
            ..access([0, 1], 8, 2)
        };
        let words = register.message(from).expect("can be");
        assert_eq!(
            words,
            [(0x8000 | 2 << 11 | PAGE_AS_RECEIVE_MASK | MADE_LOAD) << 16 | 0xff01, 8]
        );
    }
}
