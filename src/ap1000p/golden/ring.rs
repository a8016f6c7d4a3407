//! Golden model of the ring buffers: the ring of a message, the addresses of its words, and the place of the next
//! message. Addresses count slots of 32 bytes.

use crate::ap1000p::regs::*;

/// Words of a slot.
pub const SLOT_WORDS: u32 = RING_BYTES / 4;
/// Words in front of the data of a message.
pub const HEADER_WORDS: u32 = 2;
/// Maximum words of data of a message for a ring buffer of any size.
pub const WORDS_MOST: u32 = COMMAND_LENGTH_WORDS_MASK - HEADER_WORDS;

/// Words of data that fit a ring buffer of this size.
pub const WORDS_MOST_IN_ANY: u32 = (Ring::slots_of(RING_SIZE_128K) - 1) * SLOT_WORDS - HEADER_WORDS;

/// Slots of a message with this many words of data.
pub fn slots(words: u32) -> u32 {
    (words + HEADER_WORDS).div_ceil(SLOT_WORDS)
}

/// A register set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    pub on: bool,
    /// `RING_SIZE_...`.
    pub size: u32,
    /// 12 bits.
    pub context: u16,
    /// Slot of the next message in cell memory: 27 bits.
    pub write: u32,
    /// Slot to be read next, 18 bits; a smaller ring uses the lower bits.
    pub read: u32,
}

impl Ring {
    /// Slots of a ring of this size, `RING_SIZE_...`.
    pub const fn slots_of(size: u32) -> u32 {
        ((128 << 10) / RING_BYTES) << (2 * size)
    }

    pub fn slots(&self) -> u32 {
        Ring::slots_of(self.size)
    }

    /// Slots between the one to be read and the one of the next message.
    pub fn used(&self) -> u32 {
        self.write.wrapping_sub(self.read) & (self.slots() - 1)
    }

    /// Slots free for writing. One always stays free: a full ring is not an empty one.
    pub fn room(&self) -> u32 {
        self.slots() - 1 - self.used()
    }

    /// As in register MODE.
    pub fn mode(&self) -> u32 {
        self.size << RING0_MODE_SIZE_SHIFT
            | u32::from(self.on) << RING0_MODE_ON_SHIFT
            | u32::from(self.context) << RING0_MODE_CONTEXT_SHIFT
    }

    pub fn set_mode(&mut self, mode: u32) {
        self.size = (mode & RING0_MODE_SIZE_MASK) >> RING0_MODE_SIZE_SHIFT;
        self.on = mode & RING0_MODE_ON_MASK != 0;
        self.context = (mode >> RING0_MODE_CONTEXT_SHIFT) as u16;
    }
}

/// Reasons why a message has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// The context has no ring.
    Miss,
    /// The context's ring is full.
    Full(usize),
    /// The ring is too small for the message.
    TooLong,
}

/// A place for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub set: usize,
    /// Its first slot.
    pub slot: u32,
    /// Size code of the ring.
    pub size: u32,
}

impl Place {
    /// The slot this many slots behind the first one, in the ring.
    pub fn behind(self, slots: u32) -> u32 {
        let inner = Ring::slots_of(self.size) - 1;
        self.slot & !inner | self.slot.wrapping_add(slots) & inner
    }

    /// Byte addresses of this many words from the first slot on.
    pub fn words(self, words: u32) -> impl Iterator<Item = u32> {
        (0..words).map(move |word| self.behind(word / SLOT_WORDS) * RING_BYTES + word % SLOT_WORDS * 4)
    }
}

/// The register sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rings {
    pub sets: [Ring; RING_SETS as usize],
    /// The ring with a message being written.
    pub busy: Option<usize>,
}

impl Rings {
    /// The ring of a context.
    pub fn of(&self, context: u16) -> Option<usize> {
        self.sets.iter().position(|ring| ring.on && ring.context == context)
    }

    /// A place for a message with this many words of data.
    ///
    /// # Errors
    /// No ring has a place.
    pub fn place(&self, context: u16, words: u32) -> Result<Place, NoRoom> {
        let set = self.of(context).ok_or(NoRoom::Miss)?;
        let ring = &self.sets[set];
        if words > WORDS_MOST || slots(words) >= ring.slots() {
            Err(NoRoom::TooLong)
        } else if slots(words) > ring.room() {
            Err(NoRoom::Full(set))
        } else {
            Ok(Place {
                set,
                slot: ring.write,
                size: ring.size,
            })
        }
    }

    /// All of a message is in its place: the next one goes behind it.
    pub fn advance(&mut self, place: Place, words: u32) {
        self.sets[place.set].write = place.behind(slots(words));
    }
}

impl NoRoom {
    /// The value of WHERE2 for a message with this many words of data.
    pub fn want(self, words: u32) -> u32 {
        let set = match self {
            NoRoom::Full(set) => set as u32,
            NoRoom::Miss | NoRoom::TooLong => RING_SETS,
        };
        slots(words) << WANT_SLOTS_SHIFT | set << WANT_SET_SHIFT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of 128 KB at 256 KB.
    fn ring(write: u32, read: u32) -> Ring {
        Ring {
            on: true,
            context: 5,
            write: 0x2000 + write,
            read,
            ..Ring::default()
        }
    }

    #[test]
    fn a_message_takes_whole_slots_with_its_header() {
        assert_eq!([0, 1, 6, 7, 14, 15].map(slots), [1, 1, 1, 2, 2, 3]);
        assert_eq!(slots(WORDS_MOST), 1 << 17);
    }

    #[test]
    fn one_slot_stays_free() {
        assert_eq!((ring(0, 0).used(), ring(0, 0).room()), (0, 4095));
        assert_eq!((ring(4095, 0).used(), ring(4095, 0).room()), (4095, 0));
        assert_eq!((ring(3, 7).used(), ring(3, 7).room()), (4092, 3));
        // The bits of a read pointer above the ring's size are ignored.
        assert_eq!(ring(3, 0x3_f007).room(), 3);
    }

    #[test]
    fn the_end_is_followed_by_the_beginning() {
        let mut rings = Rings::default();
        rings.sets[1] = ring(4094, 9);
        let place = rings.place(5, 6 + 8).expect("room");
        assert_eq!((place.set, place.slot), (1, 0x2ffe));
        let at: Vec<u32> = place.words(18).collect();
        assert_eq!(at[14..], [0x5_fff8, 0x5_fffc, 0x4_0000, 0x4_0004]);
        rings.advance(place, 6 + 8);
        assert_eq!(rings.sets[1].write, 0x2000);
    }

    #[test]
    fn what_has_no_place_is_reported_why() {
        let mut rings = Rings::default();
        rings.sets[2] = ring(10, 12);
        rings.sets[0] = Ring {
            on: false,
            ..ring(0, 0)
        };
        assert_eq!(rings.place(4, 1), Err(NoRoom::Miss));
        assert!(rings.place(5, 6).is_ok());
        assert_eq!(rings.place(5, 7), Err(NoRoom::Full(2)));
        assert_eq!(rings.place(5, 4095 * 8 - 2), Err(NoRoom::Full(2)));
        assert_eq!(rings.place(5, 4095 * 8 - 1), Err(NoRoom::TooLong));
        assert_eq!(NoRoom::Full(2).want(7), 2 << 5 | 2);
        assert_eq!(NoRoom::Miss.want(0), 1 << 5 | 3);
    }
}
