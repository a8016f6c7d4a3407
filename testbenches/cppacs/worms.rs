//! Worms for the benches of the receivers: mostly sound, each kind of broken one now and then.

use tsunagi::cppacs::golden::entry::Field;
use tsunagi::cppacs::golden::message::{Header, Kind, Request, sum};
use tsunagi::cppacs::golden::runs::Stride;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::net::hyper::{Channel, Place};

/// The node under test.
pub const HERE: Place = Place { x: 5, y: 16, z: 9 };
/// Fields with entries; all others do not exist.
pub const FIELDS: u32 = 6;
/// The first of two keys.
pub const KEYS: u32 = 0xfeed_0001;
/// Bytes of a field.
const EXTENT: u32 = 0x2000;

/// Entries of the fields, and their counts.
pub fn fields(rng: &mut Rng) -> Vec<(Field, u32)> {
    let entry = |index: u32| {
        let field = Field {
            enabled: index != 5,
            write: index != 4,
            read: index % 2 == 0,
            atomic: index >= 2,
            flagged: index != 1,
            owner: index,
            key: KEYS,
            base: 0x1000 + 2 * EXTENT * index,
            size: EXTENT - 8 * index,
            flag: 0x800 + 8 * index,
        };
        (field, 0)
    };
    let mut list: Vec<(Field, u32)> = (0..FIELDS).map(entry).collect();
    for (_, count) in &mut list[1..] {
        *count = rng.bits() as u32;
    }
    list
}

fn place(rng: &mut Rng) -> Place {
    Place::of(rng.bits() as u32)
}

/// Some bytes: mostly few, a multiple of 8.
fn bytes(rng: &mut Rng) -> u32 {
    8 * match rng.below(8) {
        0 => rng.between(30, 130),
        1 => 1,
        _ => rng.between(1, 20),
    } as u32
}

fn stride(rng: &mut Rng) -> Stride {
    let element = rng.between(1, 12) as u32;
    Stride {
        element: 8 * element,
        left: 8 * rng.between(1, element.into()) as u32,
        step: match rng.below(12) {
            0 => rng.bits() as u32 & !7,
            _ => 8 * rng.between(1, 40) as u32,
        },
    }
}

/// A worm of the data channel.
pub fn any(rng: &mut Rng) -> Vec<u32> {
    let kind = if rng.chance(1, 6) { Kind::Reply } else { Kind::Write };
    let length = bytes(rng);
    let field = rng
        .below(u64::from(FIELDS) + 1)
        .min(if rng.chance(1, 2) { 3 } else { 99 }) as u32;
    let near = rng.below(u64::from(EXTENT) / 2) as u32;
    let header = Header {
        to: HERE,
        mask: 0,
        channel: Channel::Data,
        kind,
        last: rng.chance(4, 5),
        notify: rng.chance(1, 3),
        src: place(rng),
        field,
        key: KEYS + u32::from(rng.chance(1, 8)),
        offset: 8 * if rng.chance(1, 12) {
            EXTENT.saturating_sub(length) / 8 + rng.below(6) as u32 - 2
        } else {
            near / 8
        },
        length,
        worm: u32::from(rng.chance(1, 3)),
        stride: rng.chance(1, 3).then(|| stride(rng)),
    };
    let header = Header {
        last: header.last || field == 0 && rng.chance(3, 4),
        worm: if field == 0 && rng.chance(3, 4) { 0 } else { header.worm },
        stride: header.stride.filter(|_| field != 0 || rng.chance(1, 4)),
        ..header
    };
    let payload: Vec<u32> = (0..length / 4).map(|_| rng.bits() as u32).collect();
    let words = header.worm(&payload);
    if rng.chance(2, 3) { words } else { broken(rng, words) }
}

/// The sum made right again.
fn summed(mut words: Vec<u32>) -> Vec<u32> {
    words.pop();
    words.push(sum(&words));
    words
}

/// The same with something wrong, or with what looks like it.
fn broken(rng: &mut Rng, mut words: Vec<u32>) -> Vec<u32> {
    let count = words.len();
    let strided = words[0] & MSG_F0_STRIDED_MASK != 0;
    match rng.below(14) {
        0 => {
            // A broadcast that comes by here, or another destination.
            words[0] ^= (rng.bits() as u32) & 0xffff;
            words = summed(words);
        }
        1 => {
            words[0] ^= 1 << rng.below(13);
            words = summed(words);
        }
        2 => {
            words[0] ^= MSG_F0_CHANNEL_MASK << rng.below(4);
            words = summed(words);
        }
        3 => {
            words[2] ^= 1 << rng.below(40).min(31);
            words = summed(words);
        }
        4 => {
            words[3] ^= 1 << rng.below(32);
            words = summed(words);
        }
        5 => {
            words[4] ^= 1 << rng.below(17);
            words = summed(words);
        }
        6 if strided => {
            words[5] &= [0xffff, 0xffff_0000, 0][rng.below(3) as usize];
            words = summed(words);
        }
        7 if strided => {
            words[5] = words[5].rotate_left(16);
            words = summed(words);
        }
        8 if strided => {
            words[6] ^= 1 << rng.below(32);
            words = summed(words);
        }
        9 => words[count - 1] = words[count - 1].wrapping_add(1 << rng.below(32)),
        10 => words[count - 1] = !words[count - 1],
        11 => words.truncate(rng.between(1, count as u64) as usize),
        12 => words.truncate(rng.between(1, 8) as usize),
        _ => words.extend((0..rng.between(1, 4)).map(|_| 7)),
    }
    words
}

/// Worms of one transfer to field 2, of so many bytes each; elements of `element` bytes, or contiguous.
pub fn steady(bytes: u32, element: u32, count: usize) -> Vec<Vec<u32>> {
    let one = |number: usize| {
        let header = Header {
            to: HERE,
            mask: 0,
            channel: Channel::Data,
            kind: Kind::Write,
            last: number + 1 == count,
            notify: false,
            src: Place { x: 1, y: 2, z: 3 },
            field: 2,
            key: KEYS,
            offset: 0,
            length: bytes,
            worm: number as u32,
            stride: (element != 0).then_some(Stride {
                element,
                left: element,
                step: 2 * element,
            }),
        };
        header.worm(&(0..bytes / 4).collect::<Vec<_>>())
    };
    (0..count).map(one).collect()
}

/// A worm of the acknowledge channel.
pub fn ack(rng: &mut Rng) -> Vec<u32> {
    let kind = [Kind::Write, Kind::Write, Kind::Get, Kind::Swap, Kind::Cswap][rng.below(5) as usize];
    let request = Request {
        field: rng.below(1024) as u32,
        key: rng.bits() as u32,
        offset: rng.bits() as u32,
        length: match kind {
            Kind::Get if rng.chance(1, 8) => SIZE_WORM - 8 * rng.below(2) as u32,
            Kind::Get => bytes(rng),
            _ => 8,
        },
        operand: rng.bits(),
        compare: rng.bits(),
    };
    let length = if kind.is_request() {
        SIZE_ACK
    } else {
        8 * rng.between(1, 4) as u32
    };
    let reach = if kind.is_request() { request.length } else { length };
    let payload: Vec<u32> = (0..length / 4).map(|_| rng.bits() as u32).collect();
    let mut words = request.words();
    match rng.below(30) {
        0 => words[3] = 0,
        1 => words[3] ^= 1 << rng.below(32),
        _ => {}
    }
    let header = Header {
        to: HERE,
        mask: 0,
        channel: Channel::Ack,
        kind,
        last: rng.chance(5, 6),
        notify: rng.chance(1, 3),
        src: place(rng),
        field: rng.below(u64::from(FIELDS) + 1) as u32,
        key: KEYS + u32::from(rng.chance(1, 12)),
        offset: 8 * if rng.chance(1, 6) {
            (EXTENT.saturating_sub(reach) / 8 + rng.below(8) as u32).saturating_sub(6)
        } else {
            rng.below(u64::from(EXTENT) / 16) as u32
        },
        length,
        worm: 0,
        stride: None,
    };
    let words = header.worm(if kind.is_request() { &words } else { &payload });
    if rng.chance(2, 3) { words } else { broken(rng, words) }
}
