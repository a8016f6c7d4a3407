//! Chance: programs, malformed packets, refused parcels.

use super::{Command, DEST, DMA_HEADERS, MEMORY, MSG_BODIES, MSG_HEADERS, QUEUES, WINDOW};
use crate::Addr;
use crate::campaign::Touched;
use crate::cenju3::golden::packet::{
    HEAD_FLITS, Kind, PacketHeader, ParcelHeader, Route, body_flits, get, header_bytes, put, to_flits,
};
use crate::cenju3::regs::*;
use crate::harness::seed::Rng;

/// Memory that the parcels of these programs touch, and rings.
pub(super) fn touched(programs: &[Vec<String>]) -> Vec<Touched> {
    let mut all = Vec::new();
    for (sender, program) in programs.iter().enumerate() {
        for text in program {
            let Some(Command::Parcel { parcel, .. }) = Command::parse(text, sender as u8) else {
                continue;
            };
            let to = usize::from(parcel.dst);
            let bytes = parcel.bytes.clamp(1, 5000);
            let mut touch = |node, from, bytes| all.push(Touched { node, from, bytes });
            touch(sender, parcel.body, bytes);
            touch(sender, Addr(QUEUES[1]), 0x200);
            match parcel.kind {
                Kind::Dma => {
                    touch(to, parcel.dest, bytes);
                    touch(to, Addr(DMA_HEADERS), 0x80);
                }
                Kind::Msg0 | Kind::Msg1 => {
                    touch(to, Addr(MSG_HEADERS), 0x80);
                    touch(to, Addr(MSG_BODIES[usize::from(parcel.kind == Kind::Msg1)]), 0x400);
                }
            }
        }
    }
    all
}

/// A malformed packet, as a neighbour with a broken link or NIC sends it. Its header is none that a node sends.
pub(super) fn malformed(rng: &mut Rng, from: usize, pes: u64) -> Vec<u64> {
    let kind = Kind::ALL[rng.below(3) as usize];
    let (arr, end, priority) = (rng.chance(1, 2), rng.chance(1, 2), rng.chance(1, 2));
    let route = Route {
        dst: rng.below(pes) as u8,
        priority,
        kind,
        arr,
        end,
    };
    let window = DEST + WINDOW * from as u32;
    let mut header = PacketHeader {
        kind,
        arr,
        end,
        last: true,
        priority,
        src: from as u8,
        seq: 0,
        bytes: rng.between(1, 512) as u32,
        index: rng.below(256) as u8,
        queue: u8::from(!priority),
        dest: window + 32 * rng.below(0x100) as u32,
        soft1: u32::MAX,
    };
    let mut body = body_flits(header.bytes) as u64;
    let variant = rng.below(6);
    match variant {
        0 => header.bytes = [0, 513 + rng.below(400) as u32][rng.below(2) as usize],
        1 => body = rng.below(body),
        2 => body += rng.between(1, 4),
        _ => {}
    }
    if variant == 3 {
        header.kind = Kind::Dma;
        header.dest += rng.between(1, 31) as u32;
    }
    let mut bytes = header.encode();
    if variant == 4 {
        bytes[PACKET_HEAD as usize] = 3;
    }
    let mut flits = vec![route.encode()];
    flits.extend(to_flits(&bytes));
    flits.extend((0..body).map(|_| rng.below(0x1_0000) as u16));
    if variant == 5 {
        flits.truncate(rng.between(1, HEAD_FLITS as u64 - 1) as usize);
    }
    flits.into_iter().map(u64::from).collect()
}

/// Whether a packet goes to a PE, and is none that a PE takes.
pub(super) fn is_malformed(words: &[u64], pes: u32) -> bool {
    let flits: Option<Vec<u16>> = words.iter().map(|&word| u16::try_from(word).ok()).collect();
    let Some(flits) = flits.filter(|flits| get(ROUTE_DST_MASK, flits[0].into()) < pes) else {
        return false;
    };
    let header = header_bytes(&flits).map(|bytes| PacketHeader::decode(&bytes));
    match header {
        Some(Ok(PacketHeader { bytes, dest, .. })) => {
            let in_memory = dest.checked_add(bytes).is_some_and(|end| end <= MEMORY);
            in_memory && flits.len() != HEAD_FLITS + body_flits(bytes)
        }
        _ => true,
    }
}

/// Words of a parcel header that the Sender refuses.
pub(super) fn refused(rng: &mut Rng, pes: u64) -> [u32; 8] {
    loop {
        let mut words = [0; 8].map(|_: u32| rng.below(1 << 32) as u32);
        words[0] = words[0] & !PARCEL_HEAD_DST_MASK | put(PARCEL_HEAD_DST_MASK, rng.below(pes) as u32);
        if rng.chance(1, 2) {
            words[0] = words[0] & !PARCEL_HEAD_KIND_MASK | rng.below(3) as u32;
        }
        let bytes = words.map(u32::to_le_bytes);
        if ParcelHeader::decode(bytes.as_flattened().try_into().expect("eight words")).is_err() {
            return words;
        }
    }
}

/// A random program: mostly legal parcels of few packets, started now and then.
pub(super) fn program(rng: &mut Rng, pes: u64) -> Vec<String> {
    let mut commands = Vec::new();
    // Some nodes send nothing.
    let count = if rng.chance(1, 5) { 0 } else { rng.between(1, 24) };
    for _ in 0..count {
        let queue = rng.below(2);
        match rng.below(9) {
            8 if rng.chance(1, 2) => {
                let words = refused(rng, pes).map(|word| word.to_string());
                commands.push(format!("raw {queue} {}", words.join(" ")));
            }
            8 => commands.push(format!("poke {} {}", 4 * rng.between(32, 63), rng.below(1 << 32))),
            0 => commands.push(format!("pause {}", rng.below(40_000))),
            1 if rng.chance(1, 2) => {
                let events = ["-", "a", "m", "d", "md", "amd"][rng.below(6) as usize];
                commands.push(format!("halt {events}"));
            }
            1 => commands.push(format!("start {queue}")),
            _ => {
                let kind = ["msg0", "msg1", "dma", "dma"][rng.below(4) as usize];
                // One destination is met by many.
                let to = if rng.chance(1, 3) { 0 } else { rng.below(pes) };
                let most = if kind == "dma" {
                    [64, 600, 600, 5000][rng.below(4) as usize]
                } else {
                    512
                };
                let mut bytes = rng.between(1, most);
                let (mut from, mut at) = (32 * rng.below(0x180), 32 * rng.below(0x100));
                // An illegal one, now and then.
                if rng.chance(1, 12) {
                    match rng.below(4) {
                        0 => bytes = 0,
                        1 => from += rng.between(1, 31),
                        2 => at += rng.between(1, 31),
                        _ => bytes = 131_073 + rng.below(5),
                    }
                }
                let flags = ["-", "e", "a", "ae"][rng.below(4) as usize];
                commands.push(format!("parcel {queue} {kind} {to} {bytes} {from} {at} {flags}"));
            }
        }
    }
    commands
}
