//! Firmware of the on-chip processor: its sources, the tables that it reads, and the image of both for the SRAM.
//!
//! | part | serves |
//! | --- | --- |
//! | `entry.s` | reset, exceptions, interrupts or polling (CONTROL.POLL at the start of RUN), dispatch |
//! | `miss.s` | misses of RVATLB and PATLB, of the receiver and of RDMA, from tables in the SRAM |
//! | `indirect.s` | INDIRECT, MESSAGE, and a PUSH to an indirect region or page (from [`INDIRECT_FROM`] on) |
//! | `soft.s` | SOFT: message exchange without the receiver's translation and answer |
//! | `barrier.s` | BARRIER |
//! | `chain.s` | CHAIN |
//!
//! The host fills the tables before RUN. What changes during a run stands in LLCM, in a region that the packet's stamp
//! has: a pointer of 8 bytes (INDIRECT), a message cell (`CELL_*`), or a receive cell (`SOFT_*`). What each routine
//! does stands in [`contract`].

pub mod contract;

use std::collections::BTreeMap;

use super::regs::*;
use crate::r3000::asm::{AsmError, Image, Source, assemble};

/// Upper byte of a region, or of a virtual page of 28 bits, and zeros below: an indirect one, and those behind it.
pub const INDIRECT_FROM: u32 = 0xff00_0000;
/// The physical page of LLCM's first byte.
pub const LLCM_PAGE: u32 = 0xf_0000;

/// Table of regions: a hash table of RVATLB entries, 32 bytes each, from the place (region ^ stamp) modulo [`REGIONS`].
pub const REGION_TABLE: u32 = 0x1000;
pub const REGIONS: u32 = 128;
/// Table of pages: a hash table of PATLB entries, 16 bytes each, from the place (page ^ stamp) modulo [`PAGES`].
pub const PAGE_TABLE: u32 = REGION_TABLE + (REGIONS + PROBES) * 32;
pub const PAGES: u32 = 256;
/// An entry is at one of so many places, from its hash on.
pub const PROBES: u32 = 16;
/// Table of barriers, 16 bytes each: arrivals that miss, arrivals in all, stamp with VALID, packets. The last word has
/// the address of the first packet in bits 15:0 and their number in bits 31:16.
pub const BARRIER_TABLE: u32 = PAGE_TABLE + (PAGES + PROBES) * 16;
pub const BARRIERS: u32 = 64;
pub const BARRIER_LEFT: u32 = 0;
pub const BARRIER_START: u32 = 4;
pub const BARRIER_STAMP: u32 = 8;
pub const BARRIER_PACKETS: u32 = 12;
/// Packets of the barriers: as they stand in BUILD.
pub const PACKET_TABLE: u32 = BARRIER_TABLE + BARRIERS * 16;
pub const PACKETS: u32 = 64;
pub const PACKET_BYTES: u32 = 32;
/// The next number of each source, for SOFT.
pub const SEQ_TABLE: u32 = PACKET_TABLE + PACKETS * PACKET_BYTES;
pub const NODES: u32 = 64;
const TABLES_END: u32 = SEQ_TABLE + NODES * 4;

/// Message cell, in LLCM: where the next packet goes. The host posts an area by a store of 8 bytes, while the upper
/// half is [`CELL_SYSTEM`]'s; the firmware puts the system buffer's free space there when the area has got its packet.
pub const CELL_POINTER: u32 = 0;
/// Lower half of the address of the system buffer's free space, or [`CELL_OVERFLOW`]: then the host sets it again.
pub const CELL_FREE: u32 = 8;
/// Lower half of the address behind the system buffer, at most 0xffff_e000.
pub const CELL_LIMIT: u32 = 12;
/// Upper half of the system buffer's addresses.
pub const CELL_SYSTEM: u32 = 16;
pub const CELL_BYTES: u32 = 24;
pub const CELL_OVERFLOW: u32 = u32::MAX;

/// Bytes of a receive command (CHAIN), of words `CHAIN_*`.
pub const COMMAND_BYTES: u32 = 24;

/// Receive cell of SOFT, in LLCM: address of the area. The cell is the host's until it clears [`SOFT_DONE`].
pub const SOFT_AREA: u32 = 0;
/// Bytes of the area.
pub const SOFT_ROOM: u32 = 8;
/// Bytes of the message that are there; the host puts 0.
pub const SOFT_COUNT: u32 = 12;
/// The message's number: W4, bits 63:32.
pub const SOFT_NUMBER: u32 = 16;
/// 0: the firmware receives. Else the message's bytes, all of which are there.
pub const SOFT_DONE: u32 = 20;
pub const SOFT_BYTES: u32 = 24;

/// Looks at RX_STOP for a stop of the packet whose region was filled in.
const SETTLE: u32 = 4;
/// Looks at RX_STOP for the end of a transfer of SOFT, before the packet counts as lost.
const DMA_POLLS: u32 = 4000;
/// log2 of LLCM's bytes.
const LLCM_BITS: u32 = SIZE_LLCM.trailing_zeros();

/// A region of a group of processes: what RVATLB takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub pgid: u16,
    pub region: u16,
    /// Word RVA.BASE, with its rights.
    pub base: u64,
    /// Word RVA.BOUND.
    pub bytes: u64,
}

/// A page of a group of processes: what PATLB takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub pgid: u16,
    pub page: u32,
    /// Physical page.
    pub frame: u32,
}

/// A barrier; its packets leave when `arrivals` packets have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    pub number: u32,
    pub pgid: u16,
    pub arrivals: u32,
    /// Header words 0 to 2 and the data word.
    pub packets: Vec<[u64; 4]>,
}

/// What the host fills in before RUN.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    pub regions: Vec<Region>,
    pub pages: Vec<Page>,
    pub barriers: Vec<Barrier>,
}

/// Why there is no image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FirmwareError {
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Source(Vec<AsmError>),
    #[error("the firmware ends at {end:#x}, but its tables begin at {REGION_TABLE:#x}")]
    TooLarge { end: usize },
    #[error("region {region:#x} of stamp {pgid:#x} finds its {PROBES} places taken: choose another number")]
    Region { pgid: u16, region: u16 },
    #[error("page {page:#x} of stamp {pgid:#x} finds its {PROBES} places taken: choose another page")]
    Page { pgid: u16, page: u32 },
    #[error("page {page:#x} of stamp {pgid:#x} stands twice in the table, or has more than 28 bits")]
    PageTwice { pgid: u16, page: u32 },
    #[error("region {region:#x} of stamp {pgid:#x} stands twice in the table")]
    RegionTwice { pgid: u16, region: u16 },
    #[error("barrier {number}: numbers are 0 to 63, each once, with 1 arrival or more and 1 packet or more")]
    Barrier { number: u32 },
    #[error("the barriers have {packets} packets: there is room for {PACKETS}")]
    Packets { packets: usize },
}

/// The sources, in the order of their addresses.
pub fn sources() -> Vec<Source> {
    let source = |name: &str, text: &str| Source {
        name: format!("src/dimmnet1/firmware/{name}"),
        text: text.to_owned(),
    };
    vec![
        source("entry.s", include_str!("entry.s")),
        source("miss.s", include_str!("miss.s")),
        source("indirect.s", include_str!("indirect.s")),
        source("soft.s", include_str!("soft.s")),
        source("barrier.s", include_str!("barrier.s")),
        source("chain.s", include_str!("chain.s")),
    ]
}

/// The SRAM before RUN.
///
/// # Errors
/// Tables that do not fit, or that contradict themselves.
pub fn image(tables: &Tables) -> Result<Image, FirmwareError> {
    image_of(&sources(), tables)
}

/// The image of other sources, such as broken ones.
///
/// # Errors
/// As [`image`], and sources that the assembler refuses.
pub fn image_of(sources: &[Source], tables: &Tables) -> Result<Image, FirmwareError> {
    let mut image = assemble(sources, &equates()).map_err(FirmwareError::Source)?;
    let end = image.words.len() * 4;
    if end > REGION_TABLE as usize {
        return Err(FirmwareError::TooLarge { end });
    }
    image.words.resize(TABLES_END as usize / 4, 0);
    image.places.resize(TABLES_END as usize / 4, None);
    put_regions(&mut image.words, &tables.regions)?;
    put_pages(&mut image.words, &tables.pages)?;
    put_barriers(&mut image.words, &tables.barriers)?;
    Ok(image)
}

/// The names that the sources use: of the registers, and of this module.
fn equates() -> BTreeMap<String, u32> {
    macro_rules! named {
        ($($name:ident)*) => { [$((stringify!($name), $name as u32)),*] };
    }
    let registers = named! {
        CONTROL CONTROL_POLL_MASK CALL RVATLB PATLB RX_HEADER RX_STOP RX_STOP_STOPPED_MASK RX_STOP_CAUSE_MASK
        RX_STOP_CAUSE_SHIFT RX_STOP_TYPE_MASK RX_STOP_TYPE_SHIFT RX_STOP_RDMA_MASK RX_STOP_RDMA_SHIFT
        RX_STOP_RDMA_CAUSE_SHIFT RX_STOP_DONE_SHIFT RX_STOP_DONE_REASON_SHIFT RX_GO RX_GO_REASON_SHIFT RX_DMA RX_PAGE
        RDMA_KEY RDMA_GO BUILD BUILD_GO BUILD_GO_DATA_MASK LLCM HDR_W0 HDR_W1 HDR_W2 HDR_W4 HDR_W0_F_SEQ_MASK
        HDR_W0_ACK_REQ_MASK HDR_W0_OTF_MASK HDR_W0_SRC_SHIFT HDR_W0_LENGTH_SHIFT HDR_W1_PGID_MASK RVA_KEY
        RVA_BASE RVA_BOUND RVA_BASE_WRITE_SHIFT PA_KEY PA_FRAME TYPE_PUSH TYPE_ACK TYPE_NACK TYPE_INDIRECT
        REASON_SEQUENCE REASON_RIGHTS REASON_RANGE REASON_LENGTH REASON_OVERFLOW REASON_TIMEOUT REASON_FIRMWARE
        RX_STOP_MORE_MASK RX_GO_BYTES_SHIFT GO_PART CHAIN_PLACE CHAIN_SHAPE CHAIN_NEXT CHAIN_SHAPE_KIND_SHIFT
        CHAIN_SHAPE_COUNT_SHIFT CHAIN_KIND_WRITE
        REASON_TYPE STOP_TYPE STOP_RVATLB GO_CONTINUE GO_DROP GO_NACK GO_DMA SIZE_PAGE SIZE_LLCM
    };
    let own = named! {
        INDIRECT_FROM LLCM_PAGE LLCM_BITS REGION_TABLE REGIONS PAGE_TABLE PAGES PROBES BARRIER_TABLE BARRIERS
        BARRIER_LEFT BARRIER_START BARRIER_STAMP BARRIER_PACKETS PACKET_BYTES SEQ_TABLE NODES CELL_POINTER CELL_FREE
        CELL_LIMIT CELL_SYSTEM CELL_BYTES SOFT_AREA SOFT_ROOM SOFT_COUNT SOFT_NUMBER SOFT_DONE SOFT_BYTES SETTLE
        DMA_POLLS COMMAND_BYTES
    };
    let all = registers.into_iter().chain(own);
    all.map(|(name, value)| (name.replace("__", "_"), value)).collect()
}

/// Words of an entry, low halves first, at byte `at` of the SRAM.
fn put<const N: usize>(sram: &mut [u32], at: u32, words: [u64; N]) {
    for (half, word) in sram[at as usize / 4..]
        .iter_mut()
        .zip(words.iter().flat_map(|word| [*word, word >> 32]))
    {
        *half = half_of(word);
    }
}

fn half_of(word: u64) -> u32 {
    (word & u64::from(u32::MAX)) as u32
}

fn put_regions(sram: &mut [u32], regions: &[Region]) -> Result<(), FirmwareError> {
    // A free place has a key that is never looked for there: its hash is the next place's.
    let free = |place: u32| u64::from((place + 1) % REGIONS);
    let at = |place: u32| REGION_TABLE + place * 32;
    for place in 0..REGIONS + PROBES {
        put(sram, at(place), [free(place)]);
    }
    for &Region {
        pgid,
        region,
        base,
        bytes,
    } in regions
    {
        let key = u64::from(region) << RVA_KEY_REGION_SHIFT | u64::from(pgid);
        let hash = u32::from(region ^ pgid) % REGIONS;
        let is = |place: u32| sram[at(place) as usize / 4 + 1] != 0 && sram[at(place) as usize / 4] == half_of(key);
        if (hash..hash + PROBES).any(is) {
            return Err(FirmwareError::RegionTwice { pgid, region });
        }
        let is_free = |place: &u32| sram[at(*place) as usize / 4 + 1] == 0;
        let place = (hash..hash + PROBES).find(is_free);
        let place = place.ok_or(FirmwareError::Region { pgid, region })?;
        put(sram, at(place), [key | RVA_KEY_VALID_MASK, base, bytes]);
    }
    Ok(())
}

fn put_pages(sram: &mut [u32], pages: &[Page]) -> Result<(), FirmwareError> {
    let at = |place: u32| PAGE_TABLE + place * 16;
    for &Page { pgid, page, frame } in pages {
        let key = u64::from(page) | u64::from(pgid) << PA_KEY_PGID_SHIFT | PA_KEY_VALID_MASK;
        let hash = (page ^ u32::from(pgid)) % PAGES;
        let found = |place: u32, key: u64| {
            let halves = at(place) as usize / 4;
            sram[halves..halves + 2] == [half_of(key), half_of(key >> 32)]
        };
        if u64::from(page) > PA_KEY_PAGE_MASK || (hash..hash + PROBES).any(|place| found(place, key)) {
            return Err(FirmwareError::PageTwice { pgid, page });
        }
        let place = (hash..hash + PROBES).find(|&place| found(place, 0));
        let place = place.ok_or(FirmwareError::Page { pgid, page })?;
        put(sram, at(place), [key, frame.into()]);
    }
    Ok(())
}

fn put_barriers(sram: &mut [u32], barriers: &[Barrier]) -> Result<(), FirmwareError> {
    let packets = barriers.iter().map(|barrier| barrier.packets.len()).sum();
    if packets > PACKETS as usize {
        return Err(FirmwareError::Packets { packets });
    }
    let mut packet = PACKET_TABLE;
    for barrier in barriers {
        let &Barrier {
            number,
            pgid,
            arrivals,
            ref packets,
        } = barrier;
        if number >= BARRIERS || arrivals == 0 || packets.is_empty() {
            return Err(FirmwareError::Barrier { number });
        }
        let at = BARRIER_TABLE + number * 16;
        if sram[(at + BARRIER_STAMP) as usize / 4] != 0 {
            return Err(FirmwareError::Barrier { number });
        }
        let arrivals = u64::from(arrivals);
        let stamp = 1 << 31 | u64::from(pgid);
        let place = u64::from(packet) | (packets.len() as u64) << 16;
        put(sram, at, [arrivals << 32 | arrivals, place << 32 | stamp]);
        for &words in packets {
            put(sram, packet, words);
            packet += PACKET_BYTES;
        }
    }
    Ok(())
}
