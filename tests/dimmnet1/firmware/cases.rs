//! Tables, and random stops: most of them of packets that are almost right.

use tsunagi::dimmnet1::firmware::contract::{Contract, Engine, Stop};
use tsunagi::dimmnet1::firmware::*;
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::seed::Rng;

const STAMPS: [u16; 3] = [0x0007, 0x0047, 0x8010];

/// Regions of each stamp: in LLCM with pointers and cells; in memory, of 16 pages; without the right to write; the same
/// in LLCM; on pages that are indirect; indirect.
const CELLS: u16 = 1;
const MEMORY: u16 = 2;
const READ_ONLY: u16 = 3;
const LLCM_AREA: u16 = 4;
const ON_INDIRECT_PAGES: u16 = 5;
const LARGE: u16 = 6;
const NOWHERE: u16 = 7;
const INDIRECT: u16 = 0xff01;
const REGIONS_OF_ALL: [u16; 8] = [
    CELLS,
    MEMORY,
    READ_ONLY,
    LLCM_AREA,
    ON_INDIRECT_PAGES,
    LARGE,
    NOWHERE,
    INDIRECT,
];

/// Bytes of LLCM that each stamp has.
const SHARE: u64 = 4096;
/// Bytes at the start of the share where the packets find pointers, message cells and receive cells, in turn.
const POINTERS: u64 = 15 * SLOT;
const SLOT: u64 = 32;
/// The first virtual page of each stamp's memory, and of its indirect pages.
const PAGE: u32 = 0x123_4560;
const INDIRECT_PAGE: u32 = INDIRECT_FROM >> 4 | 0x42;

const RIGHTS: u64 = RVA_BASE_READ_MASK | RVA_BASE_WRITE_MASK;
const BARRIER_NUMBERS: [u32; 3] = [0, 5, 63];

/// The tables of all tests.
pub fn tables(rng: &mut Rng) -> Tables {
    let mut tables = crowd(rng);
    for (share, &pgid) in STAMPS.iter().enumerate() {
        let llcm = |rights| RVA_BASE_LLCM_MASK + rights + share as u64 * SHARE;
        let mut region = |region, base, bytes| {
            tables.regions.push(Region {
                pgid,
                region,
                base,
                bytes,
            })
        };
        region(CELLS, llcm(0), POINTERS);
        region(MEMORY, RIGHTS | u64::from(PAGE), 16 << 12);
        region(READ_ONLY, RVA_BASE_READ_MASK | u64::from(PAGE), 16 << 12);
        region(LLCM_AREA, llcm(RIGHTS), SHARE);
        region(ON_INDIRECT_PAGES, RIGHTS | u64::from(INDIRECT_PAGE), 3 << 12);
        region(LARGE, RIGHTS | u64::from(PAGE), 1 << 32);
        region(INDIRECT, llcm(RVA_BASE_WRITE_MASK), POINTERS);
        for page in 0..15 {
            // Some frames are neighbours.
            let frame = 0x4000 + page + 1000 * share as u32 + if rng.chance(1, 4) { 77 } else { 0 };
            tables.pages.push(Page {
                pgid,
                page: PAGE + page,
                frame,
            });
        }
        let frames = [LLCM_PAGE + share as u32, LLCM_PAGE + 4, LLCM_PAGE - 1];
        for (page, frame) in (INDIRECT_PAGE..).zip(frames) {
            tables.pages.push(Page { pgid, page, frame });
        }
        let packets = |rng: &mut Rng| {
            (0..rng.between(1, 4))
                .map(|_| [0; 4].map(|_: u64| rng.bits()))
                .collect()
        };
        tables.barriers.push(Barrier {
            number: BARRIER_NUMBERS[share],
            pgid,
            arrivals: rng.between(2, 5) as u32,
            packets: packets(rng),
        });
    }
    tables
}

/// Entries with the hashes of the first stamp's, in front of them. Another stamp has them, but for an indirect page.
fn crowd(rng: &mut Rng) -> Tables {
    let pgid = STAMPS[0] ^ 0x100;
    let region = |region: u16| Region {
        pgid,
        region: region + if rng.chance(1, 2) { 0x200 } else { 0 },
        base: RIGHTS | rng.below(1 << 28),
        bytes: rng.below(1 << 20),
    };
    let regions = (1..7).map(region).collect();
    let page = |page: u32| Page {
        pgid,
        page: PAGE + 2 * page + if rng.chance(1, 2) { 0x1000 } else { 0 },
        frame: rng.below(1 << 20) as u32,
    };
    let own = Page {
        pgid: STAMPS[0],
        page: INDIRECT_PAGE + PAGES,
        frame: 0x7000,
    };
    let pages = (0..9).map(page).chain([own]).collect();
    Tables {
        regions,
        pages,
        barriers: Vec::new(),
    }
}

/// A random number that is often one of these.
fn among(rng: &mut Rng, values: &[u64], of: u64) -> u64 {
    if rng.chance(1, 10) {
        rng.below(of)
    } else {
        values[rng.below(values.len() as u64) as usize]
    }
}

/// An address of the stamp: of any region, mostly near what it has.
pub fn address(rng: &mut Rng) -> u64 {
    let region = u64::from(REGIONS_OF_ALL[rng.below(8) as usize]);
    let offset = match rng.below(8) {
        0 => rng.below(1 << 48),
        1 => (1 << 32) - 8 * rng.between(1, 600),
        2 => rng.below(1 << 17),
        3 => 4096 * rng.between(1, 3) - 8 * rng.between(1, 60),
        4 => rng.below(2048) & !7,
        _ => rng.below(16 << 12) & !7,
    };
    region << 48 | offset
}

/// What stands in LLCM before a stop: pointers and cells, rewritten now and then as the host would.
pub fn rewrite(rng: &mut Rng, contract: &mut Contract) {
    for share in 0..STAMPS.len() as u64 {
        let slot = rng.below(POINTERS / SLOT);
        let at = (share * SHARE + slot * SLOT) as usize;
        let place = |word: u32| at + word as usize;
        match slot % 3 {
            // A pointer, and a receive command.
            0 => {
                let length = among(rng, &[8, 64, 464], 1 << 16);
                let kind = among(rng, &[CHAIN_KIND_WRITE.into()], 256);
                let shape = length | rng.below(4) << CHAIN_SHAPE_COUNT_SHIFT | kind << CHAIN_SHAPE_KIND_SHIFT;
                let next = among(rng, &[0, 3 * SLOT, 6 * SLOT], 1 << 32);
                contract.write(at, address(rng));
                contract.write(place(CHAIN_SHAPE), shape | rng.bits() & CHAIN_SHAPE_STRIDE_MASK);
                contract.write(place(CHAIN_NEXT), rng.bits() & !CHAIN_NEXT_OFFSET_MASK | next);
            }
            1 => {
                let system = address(rng);
                let pointer = if rng.chance(1, 3) { address(rng) } else { system };
                let free = if rng.chance(1, 8) {
                    CELL_OVERFLOW.into()
                } else {
                    among(rng, &[0, 4096 - 464], 3 << 12) & !7
                };
                contract.write(place(CELL_POINTER), pointer);
                contract.write(place(CELL_FREE), rng.below(4 << 12) << 32 | free);
                contract.write(place(CELL_SYSTEM), system >> 32);
            }
            _ => {
                let count = among(rng, &[0, 0, 464, 928, 100], 4096);
                let room = among(rng, &[4096, 8192, 65536], 4096);
                let area = match rng.below(7) {
                    0 | 6 => u64::from(LARGE) << 48 | ((1 << 32) - 8 * rng.between(1, 100)),
                    1 | 2 => u64::from(MEMORY) << 48 | (4096 * rng.between(1, 14) - 8 * rng.between(1, 60)),
                    3 => u64::from(LLCM_AREA) << 48 | (rng.below(2048) & !7),
                    _ => address(rng),
                };
                let done = u64::from(rng.chance(1, 10));
                contract.write(place(SOFT_AREA), area);
                contract.write(place(SOFT_ROOM), count << 32 | room);
                contract.write(place(SOFT_NUMBER), done << 32 | rng.below(2));
            }
        }
    }
}

/// A stop of the receiver for a packet's type, for a miss, or of the RDMA engine.
pub fn stop(rng: &mut Rng) -> Stop {
    let pgid = if rng.chance(1, 30) {
        0x55
    } else {
        u64::from(STAMPS[rng.below(3) as usize])
    };
    let kinds = [
        TYPE_INDIRECT,
        TYPE_MESSAGE,
        TYPE_MESSAGE,
        TYPE_BARRIER,
        TYPE_SOFT,
        TYPE_SOFT,
        TYPE_SOFT,
        TYPE_CHAIN,
    ];
    let kind = match rng.below(20) {
        0 => u64::from(TYPE_CHAIN) + rng.below(2),
        _ => among(rng, &kinds.map(u64::from), 256),
    };
    let length = among(rng, &[0, 8, 464, 464, 464, 100, 4096], 4097);
    let flags = rng.bits() & (HDR_W0_ACK_REQ_MASK | HDR_W0_F_SEQ_MASK | HDR_W0_LAST_MASK);
    let w0 = kind | flags | rng.below(64) << HDR_W0_SRC_SHIFT | length << HDR_W0_LENGTH_SHIFT;
    // Numbers stay near 0, from where the firmware counts.
    let seq = rng.between(0, 200).wrapping_sub(40) & 0xffff_ffff;
    let w1 = pgid | rng.below(1 << 16) << HDR_W1_TAG_SHIFT | seq << HDR_W1_SEQ_SHIFT;
    let w2 = target(rng, kind as u32);
    let total = among(rng, &[length, length, 928, 1392, 4096], 1 << 32);
    let w4 = total | rng.below(2) << 32;
    let mut header = [w0, w1, w2, rng.bits(), w4, rng.bits()];
    let who = if rng.chance(1, 8) {
        Engine::Rdma
    } else {
        Engine::Receiver
    };
    let miss = [STOP_RVATLB, STOP_PATLB][rng.below(2) as usize];
    let cause = if who == Engine::Rdma || rng.chance(1, 4) {
        miss
    } else {
        STOP_TYPE
    };
    if cause == STOP_TYPE {
        if header[0] & HDR_W0_TYPE_MASK < u64::from(TYPE_INDIRECT) {
            header[0] |= 0x40;
        }
        return Stop {
            who,
            cause,
            key: rng.bits(),
            more: false,
            header,
        };
    }
    let pushes = [TYPE_PUSH, TYPE_PUSH, TYPE_PUSH, TYPE_CLOSED, TYPE_OTF, TYPE_INDIRECT];
    header[0] = header[0] & !HDR_W0_TYPE_MASK | u64::from(pushes[rng.below(6) as usize]);
    let key = if cause == STOP_RVATLB {
        let region = among(rng, &REGIONS_OF_ALL.map(u64::from), 1 << 16);
        header[2] = header[2] & HDR_W2_OFFSET_MASK | region << HDR_W2_REGION_SHIFT;
        region << RVA_KEY_REGION_SHIFT | pgid
    } else {
        let first = if rng.chance(1, 3) { INDIRECT_PAGE } else { PAGE };
        let page = if first == PAGE { rng.below(17) } else { rng.below(4) };
        u64::from(first) + page + (pgid << PA_KEY_PGID_SHIFT)
    };
    Stop {
        who,
        cause,
        key,
        more: false,
        header,
    }
}

/// The remote address of a packet of a type.
fn target(rng: &mut Rng, kind: u32) -> u64 {
    if kind == TYPE_BARRIER {
        let number = among(rng, &BARRIER_NUMBERS.map(u64::from), 200);
        return number * 8 + rng.below(2) + (rng.below(1 << 16) << 48);
    }
    let region = among(rng, &[CELLS, CELLS, CELLS, CELLS, MEMORY, INDIRECT].map(u64::from), 9);
    let offset = match rng.below(12) {
        0 => (rng.below(1 << 16) << 32) + rng.below(POINTERS / 8) * 8,
        1 => among(rng, &[(1 << 32) - 8, (1 << 32) - 24], 1 << 14),
        2 => POINTERS - 8 * rng.between(0, 3),
        3 => rng.below(POINTERS / 8) * 8,
        4 => rng.below(POINTERS),
        _ => (rng.below(5) * 3 + [0, 1, 0, 2][kind as usize % 4]) * SLOT,
    };
    region << 48 | offset
}
