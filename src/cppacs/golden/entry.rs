//! Entries of the NIA's tables: rights, fields, and what the kernel sets for a process.

use crate::cppacs::regs::*;
use crate::net::hyper::{Grid, Place};

/// What a process may write to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Right {
    pub place: Place,
    /// Broadcast along X (bit 0), Y, Z.
    pub mask: u32,
    pub field: u32,
    /// The process that has it.
    pub owner: u32,
    pub valid: bool,
    pub key: u32,
    /// Bytes of the field.
    pub size: u32,
}

/// The unit of receiving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    pub enabled: bool,
    pub write: bool,
    pub read: bool,
    pub atomic: bool,
    /// The flag is written at each complete transfer.
    pub flagged: bool,
    /// The process that has it.
    pub owner: u32,
    pub key: u32,
    /// Physical address.
    pub base: u32,
    pub size: u32,
    /// Physical address of its receive flag.
    pub flag: u32,
}

/// What the kernel sets for a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Physical address of its communication data area.
    pub area: u32,
    pub area_bytes: u32,
    /// Physical address of its TCWs.
    pub tcws: u32,
    pub tcw_count: u32,
}

fn bits(word: u64, mask: u64, shift: u32) -> u32 {
    ((word & mask) >> shift) as u32
}

impl Right {
    /// What PLACE and LIMIT say.
    pub fn of(words: [u64; 2]) -> Right {
        let [place, limit] = words;
        Right {
            place: Place::of(place as u32),
            mask: bits(place, RIGHT_PLACE_MASK_MASK, RIGHT_PLACE_MASK_SHIFT),
            field: bits(place, RIGHT_PLACE_FIELD_MASK, RIGHT_PLACE_FIELD_SHIFT),
            owner: bits(place, RIGHT_PLACE_OWNER_MASK, RIGHT_PLACE_OWNER_SHIFT),
            valid: place & RIGHT_PLACE_VALID_MASK != 0,
            key: bits(place, RIGHT_PLACE_KEY_MASK, RIGHT_PLACE_KEY_SHIFT),
            size: bits(limit, RIGHT_LIMIT_SIZE_MASK, RIGHT_LIMIT_SIZE_SHIFT),
        }
    }

    /// PLACE and LIMIT.
    pub fn words(&self) -> [u64; 2] {
        let place = u64::from(self.place.word())
            | u64::from(self.mask) << RIGHT_PLACE_MASK_SHIFT
            | u64::from(self.field) << RIGHT_PLACE_FIELD_SHIFT
            | u64::from(self.owner) << RIGHT_PLACE_OWNER_SHIFT
            | u64::from(self.valid) << RIGHT_PLACE_VALID_SHIFT
            | u64::from(self.key) << RIGHT_PLACE_KEY_SHIFT;
        [place, u64::from(self.size) << RIGHT_LIMIT_SIZE_SHIFT]
    }
}

impl Field {
    /// What STATE, EXTENT and FLAG say.
    pub fn of(words: [u64; 3]) -> Field {
        let [state, extent, flag] = words;
        Field {
            enabled: state & FIELD_STATE_ENABLED_MASK != 0,
            write: state & FIELD_STATE_WRITE_MASK != 0,
            read: state & FIELD_STATE_READ_MASK != 0,
            atomic: state & FIELD_STATE_ATOMIC_MASK != 0,
            flagged: state & FIELD_STATE_FLAGGED_MASK != 0,
            owner: bits(state, FIELD_STATE_OWNER_MASK, FIELD_STATE_OWNER_SHIFT),
            key: bits(state, FIELD_STATE_KEY_MASK, FIELD_STATE_KEY_SHIFT),
            base: bits(extent, FIELD_EXTENT_BASE_MASK, FIELD_EXTENT_BASE_SHIFT),
            size: bits(extent, FIELD_EXTENT_SIZE_MASK, FIELD_EXTENT_SIZE_SHIFT),
            flag: bits(flag, FIELD_FLAG_ADDRESS_MASK, FIELD_FLAG_ADDRESS_SHIFT),
        }
    }

    /// STATE, EXTENT and FLAG.
    pub fn words(&self) -> [u64; 3] {
        let state = u64::from(self.enabled) << FIELD_STATE_ENABLED_SHIFT
            | u64::from(self.write) << FIELD_STATE_WRITE_SHIFT
            | u64::from(self.read) << FIELD_STATE_READ_SHIFT
            | u64::from(self.atomic) << FIELD_STATE_ATOMIC_SHIFT
            | u64::from(self.flagged) << FIELD_STATE_FLAGGED_SHIFT
            | u64::from(self.owner) << FIELD_STATE_OWNER_SHIFT
            | u64::from(self.key) << FIELD_STATE_KEY_SHIFT;
        let extent = u64::from(self.base) << FIELD_EXTENT_BASE_SHIFT | u64::from(self.size) << FIELD_EXTENT_SIZE_SHIFT;
        [state, extent, u64::from(self.flag) << FIELD_FLAG_ADDRESS_SHIFT]
    }

    /// Whether these bytes are inside it.
    pub fn has(&self, offset: u32, bytes: u32) -> bool {
        is_within(offset, bytes, self.size)
    }
}

impl Process {
    /// What AREA and TCWS say.
    pub fn of(area: u64, tcws: u64) -> Process {
        Process {
            area: bits(area, AREA_BASE_MASK, AREA_BASE_SHIFT),
            area_bytes: bits(area, AREA_SIZE_MASK, AREA_SIZE_SHIFT),
            tcws: bits(tcws, TCWS_BASE_MASK, TCWS_BASE_SHIFT),
            tcw_count: bits(tcws, TCWS_COUNT_MASK, TCWS_COUNT_SHIFT),
        }
    }

    /// AREA and TCWS.
    pub fn words(&self) -> [u64; 2] {
        [
            u64::from(self.area) << AREA_BASE_SHIFT | u64::from(self.area_bytes) << AREA_SIZE_SHIFT,
            u64::from(self.tcws) << TCWS_BASE_SHIFT | u64::from(self.tcw_count) << TCWS_COUNT_SHIFT,
        ]
    }

    /// Physical address of a TCW; `None`: it has no such.
    pub fn tcw(&self, number: u32) -> Option<u32> {
        (number < self.tcw_count).then(|| self.tcws.wrapping_add(SIZE_TCW * number))
    }
}

/// Whether these bytes are within a place of `size` bytes, in sums of 33 bits.
pub fn is_within(offset: u32, bytes: u32, size: u32) -> bool {
    u64::from(offset) + u64::from(bytes) <= u64::from(size)
}

/// NODE of a place.
pub fn node_word(grid: Grid, place: Place) -> u64 {
    let last = Place {
        x: grid.x - 1,
        y: grid.y - 1,
        z: grid.z - 1,
    };
    u64::from(place.word()) | u64::from(last.word()) << NODE_LAST_X_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_what_their_words_say() {
        let right = Right {
            place: Place { x: 15, y: 31, z: 15 },
            mask: 5,
            field: 1023,
            owner: 7,
            valid: true,
            key: 0x8000_0001,
            size: u32::MAX,
        };
        assert_eq!(Right::of(right.words()), right);
        assert_eq!(right.words()[0], 0x8000_0001_f3ff_bfff);
        let field = Field {
            enabled: true,
            read: true,
            flagged: true,
            owner: 5,
            key: 0xffff_0000,
            base: 0x1000,
            size: 0xffff_fff8,
            flag: 0x40,
            ..Field::default()
        };
        assert_eq!(Field::of(field.words()), field);
        assert_eq!(field.words(), [0xffff_0000_0000_0515, 0xffff_fff8_0000_1000, 0x40]);
        let process = Process {
            area: 0x40,
            area_bytes: 0x80,
            tcws: 0xffff_ffc0,
            tcw_count: 65_536,
        };
        let [area, tcws] = process.words();
        assert_eq!(Process::of(area, tcws), process);
        assert_eq!((process.tcw(1), process.tcw(65_536)), (Some(0), None));
        assert_eq!(
            (Right::of([0; 2]), Field::of([0; 3])),
            (Right::default(), Field::default())
        );
    }

    #[test]
    fn a_nodes_word_has_place_and_grid() {
        let word = node_word(Grid { x: 8, y: 17, z: 8 }, Place { x: 1, y: 2, z: 3 });
        let part = |mask: u64, shift: u32| (word & mask) >> shift;
        assert_eq!(part(NODE_X_MASK, NODE_X_SHIFT), 1);
        assert_eq!(part(NODE_LAST_X_MASK, NODE_LAST_X_SHIFT), 7);
        assert_eq!(part(NODE_LAST_Y_MASK, NODE_LAST_Y_SHIFT), 16);
        assert_eq!(part(NODE_LAST_Z_MASK, NODE_LAST_Z_SHIFT), 7);
    }

    #[test]
    fn sums_have_33_bits() {
        assert!(is_within(8, 8, 16) && !is_within(8, 16, 16));
        assert!(!is_within(u32::MAX - 7, 16, u32::MAX));
    }
}
