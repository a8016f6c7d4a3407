//! Golden model of `dimmnet1_matcher`: what becomes of a packet, and of its cell in LLCM.
//!
//! The same cells are the firmware's: its [contract](crate::dimmnet1::firmware::contract) uses these functions, so a
//! program cannot tell who served its packet.

use crate::dimmnet1::firmware::{
    CELL_BYTES, CELL_FREE, CELL_LIMIT, CELL_OVERFLOW, CELL_POINTER, CELL_SYSTEM, COMMAND_BYTES,
};
use crate::dimmnet1::regs::*;

/// Bytes of a pointer.
pub const POINTER_BYTES: u32 = 8;

/// How the matcher ends an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The processor's.
    Pass,
    /// With this header word 2.
    Continue(u64),
    /// With this header word 2, and so many bytes.
    Part(u64, u16),
    /// With a code of Reasons.
    Nack(u32),
}

/// Bytes of the cell that a packet of this type names; `None`: the type is the processor's.
pub fn cell_bytes(kind: u32) -> Option<u32> {
    match kind {
        TYPE_INDIRECT => Some(POINTER_BYTES),
        TYPE_MESSAGE => Some(CELL_BYTES),
        TYPE_CHAIN => Some(COMMAND_BYTES),
        _ => None,
    }
}

/// A receive command under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The region of the commands.
    region: u16,
    place: u64,
    length: u16,
    /// Blocks to come.
    count: u8,
    stride: u32,
    next: u32,
}

/// How a chain goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A block goes to this place, with so many bytes.
    Block(u64, u16),
    /// The next command is at this place.
    Command(u64),
}

impl Chain {
    /// A packet meets a command, which lies in this region.
    ///
    /// # Errors
    /// A code of Reasons.
    pub fn begin(region: u16, cell: &[u8]) -> Result<Chain, u32> {
        let low = u64::from(half(cell, CHAIN_SHAPE));
        if (low & CHAIN_SHAPE_KIND_MASK) >> CHAIN_SHAPE_KIND_SHIFT != u64::from(CHAIN_KIND_WRITE) {
            return Err(REASON_TYPE);
        }
        let count = ((low & CHAIN_SHAPE_COUNT_MASK) >> CHAIN_SHAPE_COUNT_SHIFT) as u8;
        if count == 0 {
            return Err(REASON_RANGE);
        }
        Ok(Chain {
            region,
            place: pointer(cell),
            length: (low & CHAIN_SHAPE_LENGTH_MASK) as u16,
            count,
            stride: half(cell, CHAIN_SHAPE + 4),
            next: half(cell, CHAIN_NEXT),
        })
    }

    /// What comes next, if the packet has data left.
    ///
    /// # Errors
    /// A code of Reasons.
    pub fn step(&mut self) -> Result<Step, u32> {
        if self.count == 0 {
            let place = u64::from(self.region) << HDR_W2_REGION_SHIFT | u64::from(self.next);
            let is_aligned = self.next.is_multiple_of(8);
            return if is_aligned {
                Ok(Step::Command(place))
            } else {
                Err(REASON_RANGE)
            };
        }
        let place = self.place;
        let low = u64::from((place as u32).wrapping_add(self.stride));
        self.place = place >> 32 << 32 | low;
        self.count -= 1;
        Ok(Step::Block(place, self.length))
    }
}

/// A packet of `length` bytes, of INDIRECT or MESSAGE, meets its cell.
pub fn serve(kind: u32, length: u32, cell: &mut [u8]) -> Verdict {
    let placed = match kind {
        TYPE_INDIRECT => Ok(pointer(cell)),
        TYPE_MESSAGE => message(length, cell),
        _ => return Verdict::Pass,
    };
    placed.map_or_else(Verdict::Nack, Verdict::Continue)
}

/// Where the data of an INDIRECT go.
pub fn pointer(cell: &[u8]) -> u64 {
    u64::from(half(cell, CELL_POINTER)) | u64::from(half(cell, CELL_POINTER + 4)) << 32
}

/// Where the data of a MESSAGE go, or why they go nowhere.
///
/// # Errors
/// A code of Reasons.
pub fn message(length: u32, cell: &mut [u8]) -> Result<u64, u32> {
    let pointer = pointer(cell);
    let (free, limit) = (half(cell, CELL_FREE), half(cell, CELL_LIMIT));
    let system = half(cell, CELL_SYSTEM);
    if pointer >> 32 != u64::from(system) {
        put(cell, CELL_POINTER, free);
        put(cell, CELL_POINTER + 4, system);
        return Ok(pointer);
    }
    if free > limit {
        return Err(REASON_OVERFLOW);
    }
    // A LIMIT beyond 0xffff_e000 wraps, in hardware and firmware alike.
    let crosses = free % SIZE_PAGE + length > SIZE_PAGE;
    let start = if crosses {
        free.wrapping_add(SIZE_PAGE) & !(SIZE_PAGE - 1)
    } else {
        free
    };
    let end = start.wrapping_add(length.next_multiple_of(8));
    let fits = end <= limit;
    put(cell, CELL_FREE, if fits { end } else { CELL_OVERFLOW });
    let place = u64::from(system) << 32 | u64::from(start);
    if fits { Ok(place) } else { Err(REASON_OVERFLOW) }
}

fn half(cell: &[u8], at: u32) -> u32 {
    let at = at as usize;
    u32::from_le_bytes(cell[at..at + 4].try_into().expect("four bytes"))
}

fn put(cell: &mut [u8], at: u32, half: u32) {
    let at = at as usize;
    cell[at..at + 4].copy_from_slice(&half.to_le_bytes());
}
