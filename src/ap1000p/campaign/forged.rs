//! Packets that no cell sends: how they are drawn, and how each is reported.

use super::{FORGED, guest};
use crate::ap1000p::golden::receive::{Body, Message, What};
use crate::ap1000p::host::layout::PROCESS;
use crate::ap1000p::regs::*;
use crate::harness::seed::Rng;
use crate::net::torus::{Class, Header, Torus};

/// A context that no system knows.
const NOBODY: u32 = 99;

/// Messages that are reported, by cell, and packets that no router has a way for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Counted as not executed.
    pub broken: Vec<u32>,
    /// Counted as replies that nobody waits for.
    pub stray: Vec<u32>,
    pub drained: u32,
}

impl Told {
    pub fn new(cells: usize) -> Told {
        Told {
            broken: vec![0; cells],
            stray: vec![0; cells],
            drained: 0,
        }
    }

    /// Adds the reports of a packet on the link from cell `from`, as the page of the machine says.
    pub fn add(&mut self, torus: Torus, from: usize, words: &[u64]) {
        let header = Header::of(words[0]);
        let receivers = torus.receivers(torus.cell(from), header);
        self.drained += u32::from(receivers.is_empty());
        let words: Vec<u32> = words.iter().map(|&word| word as u32).collect();
        for cell in receivers.into_iter().map(|cell| torus.number(cell)) {
            let (broken, stray) = match Message::parse(&words, header.class) {
                // The reply to a load ends the load, whatever its length.
                Err(error) => (true, matches!(error.came, Some(Body::Loaded(_))).then_some(cell)),
                Ok(Message { what, body }) => match body {
                    Body::Loaded(_) | Body::Stored => (false, Some(cell)),
                    // Refused, and answered.
                    Body::Load { .. } | Body::Store { .. } => (true, Some(sender(torus, what))),
                    _ => (true, None),
                },
            };
            self.broken[cell] += u32::from(broken);
            if let Some(cell) = stray {
                self.stray[cell] += 1;
            }
        }
    }
}

fn sender(torus: Torus, what: What) -> usize {
    torus.number(crate::net::torus::Cell {
        x: what.x.into(),
        y: what.y.into(),
    })
}

/// A packet that is malformed, or that no cell of the machine sends.
pub fn draw(rng: &mut Rng, torus: Torus) -> Vec<u64> {
    let mut cell = || torus.cell(rng.below(torus.cells() as u64) as usize);
    let (to, from) = (cell(), cell());
    let what = |kind: u32| kind << MESSAGE_WHAT_KIND_SHIFT | from.x as u32 | (from.y as u32) << MESSAGE_WHAT_Y_SHIFT;
    let made = |kind: u32| what(PAGE_DIRECT_MASK | kind);
    let size = rng.below(4) as u32;
    let sized = size << PAGE_SIZE_SHIFT;
    let some = rng.below(30) as u32;
    let data = |count: u32| (0..count).map(|number| 0xf0f0_0000 | number);
    // The head of a PUT of `some` words; its flag is in the same page.
    let head = |context: u32| {
        [
            context << COMMAND_LENGTH_CONTEXT_SHIFT | some,
            FORGED,
            0,
            FORGED + 0xffc,
        ]
    };
    let (class, words): (Class, Vec<u32>) = match rng.below(12) {
        // No more than a route.
        0 => (Class::ALL[rng.below(2) as usize], vec![]),
        // Kinds that there are not, or not in this class.
        1 => (Class::Request, vec![what(2 | rng.below(2) as u32), some]),
        2 => (Class::Request, vec![made(MADE_GET_REPLY), some, FORGED, 0, 0]),
        3 => (Class::Reply, vec![what(KIND_PUT), some, FORGED, 0, 0]),
        // Too short, or too long.
        4 => {
            let kind = [KIND_GET, KIND_CSI, KIND_FOP][rng.below(3) as usize];
            let count = [0, 1, 6, 8, 20][rng.below(5) as usize];
            (Class::Request, [what(kind)].into_iter().chain(data(count)).collect())
        }
        5 => {
            let count = if some > 0 && rng.chance(1, 2) {
                rng.below(some.into()) as u32
            } else {
                some + 1 + size
            };
            let words = head(PROCESS.into()).into_iter().chain(data(count));
            let (class, what) =
                [(Class::Request, what(KIND_PUT)), (Class::Reply, made(MADE_GET_REPLY))][rng.below(2) as usize];
            (class, [what].into_iter().chain(words).collect())
        }
        // Of a context that is unknown.
        6 => {
            let words = head(NOBODY).into_iter().chain(data(some.max(1)));
            let mut words: Vec<u32> = [what(KIND_PUT)].into_iter().chain(words).collect();
            words[1] |= u32::from(some == 0);
            (Class::Request, words)
        }
        // Without a ring buffer.
        7 => {
            let context = [guest::context(0), NOBODY][rng.below(2) as usize];
            let words = [
                what(KIND_PUT | PAGE_SEND_MASK),
                context << COMMAND_LENGTH_CONTEXT_SHIFT | some,
                0,
                1,
                2,
            ];
            (Class::Request, words.into_iter().chain(data(some)).collect())
        }
        // Accesses that are not within memory, or not at a multiple of their size.
        8 => {
            let addr = if size > 0 && rng.chance(1, 2) {
                FORGED | 1
            } else {
                0x01ff_ff00
            };
            (Class::Request, vec![made(MADE_LOAD | sized), addr])
        }
        9 => {
            let addr = if size > 0 && rng.chance(1, 2) {
                FORGED | 1
            } else {
                0x01ff_ff00
            };
            let words = [made(MADE_STORE | sized), addr].into_iter();
            (Class::Request, words.chain(data(1 + u32::from(size == 3))).collect())
        }
        // Replies to nobody.
        10 => (Class::Reply, vec![made(MADE_STORE_ACK | sized)]),
        _ => (
            Class::Reply,
            [made(MADE_LOAD_REPLY | sized)]
                .into_iter()
                .chain(data(some % 4))
                .collect(),
        ),
    };
    let mut route = Header::to(to, class).word();
    if rng.chance(1, 8) {
        // A cell that there is not, nobody, or the cells of a row or of a column.
        route = match rng.below(4) {
            0 => route & !0xff | (torus.x() as u64 + rng.below(9)),
            1 => route & !0xff00 | (torus.y() as u64 + rng.below(9)) << 8,
            2 => route | 3 << MESSAGE_ROUTE_SCOPE_SHIFT,
            _ => route | rng.between(1, 2) << MESSAGE_ROUTE_SCOPE_SHIFT,
        };
    }
    [route].into_iter().chain(words.into_iter().map(u64::from)).collect()
}
