//! Users beside the process: each has a context and pages of its own in every cell, and stores anything.
//!
//! Not drawn, for what one user can do to another's traffic there is known: commands of many thousands of words; and
//! communication registers, unless an empty or a full one ends a message. Nor remote loads, and block mode.

use std::collections::HashSet;
use std::ops::Range;

use super::{PUT_WINDOWS, SOURCE};
use crate::Picos;
use crate::ap1000p::golden::command::{CommandModel, Setup};
use crate::ap1000p::golden::page::Owner;
use crate::ap1000p::golden::window::register;
use crate::ap1000p::host::layout::{Layout, PROCESS};
use crate::ap1000p::host::{Cell, CommandError};
use crate::ap1000p::regs::*;
use crate::harness::memory::Memory;
use crate::harness::seed::Rng;
use crate::net::torus::Torus;
use crate::{Addr, NodeId};

pub const GUESTS: usize = 2;
const PAGE: u32 = 0x1000;
/// Where the pages of guests are, some for each.
pub const MEMORY: Range<u32> = 0x5_0000..0x6_0000;
const EACH: u32 = 0x8000;
/// Pages that a guest may write; then one that it may read.
const OWN: u32 = 4;
/// Codes of pages that a user may have: not the system's, and not those of queues.
pub const PAGES: u32 = 0xffff & !(PAGE_SYSTEM_MASK | PAGE_DIRECT_MASK);
/// Bytes of a guest's tables.
const TABLES: u32 = 0x800;

/// OPEN and PEEK show a store, or another choice of a word, two cycles later.
const SHOWN: Picos = Picos::from_ns(100);

/// A guest's context.
pub fn context(guest: usize) -> u32 {
    u32::from(PROCESS) + 1 + guest as u32
}

/// Memory that a guest may write.
pub fn own(guest: usize) -> Range<u32> {
    let at = MEMORY.start + EACH * guest as u32;
    at..at + OWN * PAGE
}

/// Where the guests' tables are, in the system's part.
pub fn tables(layout: &Layout) -> Range<u32> {
    layout.tables + 0x5000..layout.tables + 0x5000 + TABLES * GUESTS as u32
}

fn entry(addr: u32, kind: u32) -> u32 {
    CELL_SPACE << 28 | addr >> 4 & !TABLE_TYPE_MASK | kind
}

/// Writes the guests' tables, the same in each cell. Guests have pages of their own, one to be read, and pages for the
/// system or for nobody, with the process's words behind them.
pub fn write_tables(layout: &Layout, memory: &mut Memory) {
    let mut put = |at: u32, word: u32| assert!(memory.write(Addr(at), &word.to_le_bytes()), "tables are in memory");
    for guest in 0..GUESTS {
        let first = tables(layout).start + TABLES * guest as u32;
        let (second, third) = (first + 0x400, first + 0x500);
        put(layout.context(context(guest)).0, entry(first, ENTRY_TABLE));
        put(first, entry(second, ENTRY_TABLE));
        put(second, entry(third, ENTRY_TABLE));
        let page = |frame: u32, rights: u32| entry(frame, ENTRY_PAGE) | rights << TABLE_ACCESS_SHIFT;
        let mine = own(guest).start;
        for number in 0..OWN {
            put(third + 4 * number, page(mine + PAGE * number, RIGHTS_ALL));
        }
        put(third + 4 * OWN, page(mine + PAGE * OWN, RIGHTS_READ));
        put(third + 4 * (OWN + 1), page(mine + PAGE * OWN, RIGHTS_SYSTEM_WRITE));
        put(third + 4 * (OWN + 2), page(SOURCE.start, RIGHTS_SYSTEM_ALL));
        put(third + 4 * (OWN + 3), page(PUT_WINDOWS, RIGHTS_EXECUTE));
    }
}

/// An open command that the system keeps for a guest, and what the window must have refused it.
#[derive(Default)]
pub struct Guest {
    page: u32,
    words: Vec<u32>,
    window: CommandModel,
    pub refused: u32,
}

impl Guest {
    fn expect(&mut self, setup: &Setup, page: u32, word: u32) {
        let outcome = self.window.store(setup, page as u16, word);
        self.refused += u32::from(outcome.refused.is_some());
    }

    /// The cell's system lets this guest store words to a page, and then goes back to the process. An open command is
    /// stored again before, and kept behind. False: the window does not keep what was stored.
    ///
    /// # Errors
    /// The machine refuses a store.
    pub async fn store(&mut self, cell: &Cell, guest: usize, page: u32, words: &[u32]) -> Result<bool, CommandError> {
        let host = cell.host();
        host.reg_write(register(CONTEXT), context(guest)).await?;
        let torus = cell.torus();
        let setup = Setup {
            context: context(guest) as u16,
            size: [torus.x() as u8, torus.y() as u8],
            low: [-127; 2],
            high: [127; 2],
        };
        self.window.drop(Owner::User);
        let kept = std::mem::take(&mut self.words)
            .into_iter()
            .map(|word| (self.page, word));
        let all: Vec<(u32, u32)> = kept.chain(words.iter().map(|&word| (page, word))).collect();
        for (page, word) in all {
            self.expect(&setup, page, word);
            cell.store_to_page(page, word).await?;
        }
        host.delay(SHOWN).await;
        let open = host.reg_read(register(OPEN)).await? & OPEN_USER_MASK;
        self.page = host.reg_read(register(OPEN_PAGE)).await? & OPEN_PAGE_USER_MASK;
        let mut kept = Vec::new();
        for number in 0..open {
            host.reg_write(register(PEEK), number).await?;
            host.delay(SHOWN).await;
            kept.push(host.reg_read(register(PEEK)).await?);
        }
        host.reg_write(register(DROP), DROP_USER_MASK).await?;
        host.reg_write(register(CONTEXT), PROCESS.into()).await?;
        let (expected_page, expected) = self.window.open(Owner::User);
        let same = kept == expected && (kept.is_empty() || self.page == u32::from(expected_page));
        // Software cannot store what the hardware puts there.
        let hardware = [COMMAND_HEAD_KIND_MASK, COMMAND_LENGTH_CONTEXT_MASK]
            .into_iter()
            .chain([0; 6]);
        self.words = kept.iter().zip(hardware).map(|(word, theirs)| word & !theirs).collect();
        Ok(same)
    }
}

fn word_at(bytes: &[u8], at: u32) -> u32 {
    let at = at as usize;
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Makes the words of guests and of the rest differ.
pub fn mark(bytes: &mut [u8]) {
    for (number, word) in bytes.chunks_exact_mut(4).enumerate() {
        let at = 4 * number as u32;
        let owner = (0..GUESTS).find(|&guest| (at.wrapping_sub(MEMORY.start)) / EACH == guest as u32);
        let top = owner.map_or(2, |guest| guest as u8);
        word[3] = word[3] & 0x3f | top << 6;
    }
}

/// A word of others that came into a guest's memory: cell, address, word.
pub fn leak(before: &[Vec<u8>], now: impl Fn(NodeId) -> Vec<u8>) -> Option<(usize, u32, u32)> {
    let secrets = |range: Range<u32>| {
        let words = move |bytes: &'_ Vec<u8>| {
            range
                .clone()
                .step_by(4)
                .map(|at| word_at(bytes, at))
                .collect::<Vec<_>>()
        };
        before.iter().flat_map(words).collect::<HashSet<u32>>()
    };
    // What has the same logical address in the process, and what is behind a guest's forbidden pages.
    let process: Vec<HashSet<u32>> = [
        0..0x8000,
        SOURCE.start..SOURCE.start + PAGE,
        PUT_WINDOWS..PUT_WINDOWS + PAGE,
    ]
    .into_iter()
    .map(secrets)
    .collect();
    let guests: Vec<HashSet<u32>> = (0..GUESTS).map(|guest| secrets(own(guest))).collect();
    for (number, was) in before.iter().enumerate() {
        let now = now(NodeId(number as u16));
        for guest in 0..GUESTS {
            let of_others = |word: u32| {
                let others = guests.iter().enumerate().filter(|(other, _)| *other != guest);
                process
                    .iter()
                    .chain(others.map(|(_, words)| words))
                    .any(|words| words.contains(&word))
            };
            let mut changed = own(guest)
                .step_by(4)
                .filter(|&at| word_at(&now, at) != word_at(was, at));
            if let Some(at) = changed.find(|&at| of_others(word_at(&now, at))) {
                return Some((number, at, word_at(&now, at)));
            }
        }
    }
    None
}

/// `GUEST PAGE WORD...` of words to be stored.
pub fn draw(rng: &mut Rng, torus: Torus) -> String {
    let guest = rng.below(GUESTS as u64) as usize;
    let (page, words) = match rng.below(5) {
        0..=2 => command(rng, guest, torus),
        3 => {
            let (page, mut words) = command(rng, guest, torus);
            words.truncate(rng.between(1, 7) as usize);
            (page, words)
        }
        _ => {
            let page = if rng.chance(1, 2) {
                KIND_PUT
            } else {
                rng.below(1 << 16) as u32 & PAGES
            };
            let count = rng.between(1, 9);
            // No length is large and legal.
            let mut word = || {
                if rng.chance(1, 2) {
                    rng.below(200) as u32
                } else {
                    rng.bits() as u32 | 1 << 30
                }
            };
            (page, (0..count).map(|_| word()).collect())
        }
    };
    // The guests share the registers, so one of them has them.
    let page = if guest == 0 {
        page
    } else {
        page & !(PAGE_AS_SEND_MASK | PAGE_AS_RECEIVE_MASK)
    };
    let words: String = words.iter().map(|word| format!(" {word:#x}")).collect();
    format!("{guest} {page:#x}{words}")
}

/// A command that could be meant so.
fn command(rng: &mut Rng, guest: usize, torus: Torus) -> (u32, Vec<u32>) {
    // A distance along an axis, less than a turn.
    let mut distance = |cells: usize| (rng.below(2 * cells as u64 - 1) as u32).wrapping_sub(cells as u32 - 1) & 0xff;
    let mut head = distance(torus.x()) << COMMAND_HEAD_DX_SHIFT | distance(torus.y()) << COMMAND_HEAD_DY_SHIFT;
    let kind = [KIND_PUT, KIND_PUT, KIND_GET, KIND_CSI, KIND_FOP][rng.below(5) as usize];
    let mut page = kind;
    if kind == KIND_PUT && rng.chance(1, 4) {
        page |= [
            PAGE_SEND_MASK,
            PAGE_ROW_MASK,
            PAGE_COLUMN_MASK,
            PAGE_ROW_MASK | PAGE_COLUMN_MASK,
        ][rng.below(4) as usize];
    }
    if guest == 0 && rng.chance(1, 6) {
        page |= [PAGE_AS_SEND_MASK, PAGE_AS_RECEIVE_MASK][rng.below(2) as usize];
    }
    let most = [4, 100, 2000][rng.below(3) as usize];
    let mut length = rng.below(most) as u32;
    // What the hardware puts there.
    if rng.chance(1, 16) {
        head |= 1 << rng.between(16, 31);
    }
    if rng.chance(1, 16) {
        length |= 1 << rng.between(20, 31);
    }
    let addr = |rng: &mut Rng| {
        let at = PAGE * rng.below(u64::from(OWN) + 6) as u32 + 4 * rng.below(1024) as u32;
        match rng.below(12) {
            0 => at | rng.between(1, 3) as u32,
            1 => rng.bits() as u32 & !3,
            2..=4 => at,
            // Its own.
            _ => at % (OWN * PAGE),
        }
    };
    let stride = |rng: &mut Rng| match rng.below(3) {
        0 => 0,
        1 => (rng.below(5) as u32) << STRIDE_ITEM_SHIFT | (rng.below(9) as u32).wrapping_sub(4) & STRIDE_GAP_MASK,
        _ => rng.bits() as u32,
    };
    let flag = |rng: &mut Rng| if rng.chance(1, 2) { 0 } else { addr(rng) };
    let words = vec![
        head,
        length,
        addr(rng),
        stride(rng),
        flag(rng),
        flag(rng),
        addr(rng),
        stride(rng),
    ];
    (page, words)
}
