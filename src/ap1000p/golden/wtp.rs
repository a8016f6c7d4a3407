//! Write Through Page: the remote kilobytes with a copy in the local cache.

use crate::ap1000p::regs::*;

/// Bits of an address within a cell in the shared space: 32 MB per cell.
pub const LOCAL_BITS: u32 = 25;
/// Pages of the local cache.
pub const ENTRIES: usize = 512;
const PAGE: u32 = 4096;
/// Bytes of the local cache.
pub const CACHE: u32 = ENTRIES as u32 * PAGE;
/// Bytes of a line, which is copied as a whole.
pub const LINE: u32 = 1024;

/// A byte of a cell, 10 and 25 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    pub cell: u16,
    pub addr: u32,
}

impl Remote {
    fn page(self) -> u32 {
        (u32::from(self.cell) << (LOCAL_BITS - PAGE.ilog2())) | (self.addr / PAGE)
    }

    fn line(self) -> usize {
        (self.addr % PAGE / LINE) as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Update {
    Claim = UPDATE_CLAIM as u8,
    Set = UPDATE_SET as u8,
    Line = UPDATE_LINE as u8,
    Page = UPDATE_PAGE as u8,
    All = UPDATE_ALL as u8,
}

impl Update {
    pub const ALL: [Update; 5] = [Update::Claim, Update::Set, Update::Line, Update::Page, Update::All];

    /// The word of register WTP_UPDATE for this update, of the kilobyte with this byte.
    pub fn word(self, remote: Remote) -> u32 {
        (self as u32) << WTP_UPDATE_KIND_SHIFT
            | u32::from(remote.cell) << (LOCAL_BITS - LINE.ilog2())
            | (remote.addr / LINE)
    }

    /// The kind of an update from that word; `None` for an unknown kind.
    pub fn of(word: u32) -> Option<(Update, Remote)> {
        let kind = (word & WTP_UPDATE_KIND_MASK) >> WTP_UPDATE_KIND_SHIFT;
        let update = Update::ALL.into_iter().find(|update| *update as u32 == kind)?;
        let line = word & WTP_UPDATE_LINE_MASK;
        let lines = 1 << (LOCAL_BITS - LINE.ilog2());
        let remote = Remote {
            cell: (line / lines) as u16,
            addr: line % lines * LINE,
        };
        Some((update, remote))
    }
}

/// A place: its page, and the lines of the page that are there.
type Place = Option<(u32, [bool; 4])>;

#[derive(Clone, Debug)]
pub struct Tags {
    /// Address of the local cache in cell memory, a multiple of its size.
    pub base: u32,
    places: Vec<Place>,
}

impl Tags {
    pub fn new(base: u32) -> Tags {
        Tags {
            base,
            places: vec![None; ENTRIES],
        }
    }

    fn place(&mut self, remote: Remote) -> &mut Place {
        &mut self.places[remote.page() as usize % ENTRIES]
    }

    /// Whether the kilobyte is there, and the address of its copy of the byte, existing or not.
    pub fn lookup(&mut self, remote: Remote) -> (bool, u32) {
        let hit = self
            .place(remote)
            .is_some_and(|(page, lines)| page == remote.page() && lines[remote.line()]);
        (hit, self.base + remote.addr % CACHE)
    }

    pub fn update(&mut self, update: Update, remote: Remote) {
        let (page, line) = (remote.page(), remote.line());
        let place = self.place(remote);
        let own = place.filter(|(whose, _)| *whose == page).map(|(_, lines)| lines);
        let with = |lines: [bool; 4], there| {
            let mut lines = lines;
            lines[line] = there;
            Some((page, lines))
        };
        match update {
            Update::Claim => *place = Some((page, own.unwrap_or_default())),
            Update::Set => *place = with(own.unwrap_or_default(), true),
            Update::Line => *place = own.map_or(*place, |lines| with(lines, false)),
            Update::Page => *place = own.map_or(*place, |_| None),
            Update::All => self.places.fill(None),
        }
    }
}
