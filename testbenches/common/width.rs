//! Width converters: narrow to wide and back, with every kind of partial word, and no cycle lost.

use testbenches::rtl::*;
use tsunagi::harness::seed::Rng;

use crate::bench::{Each, Ports, gap_cases, must_pass, ports, rate_case, reset_cases};
use crate::models::{Expand, Rule, Script};

/// A narrow unit: data, flush (up only), last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrow {
    data: u16,
    flush: bool,
    last: bool,
}

/// A wide word: data, units - 1, last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wide {
    data: u128,
    keep: u8,
    last: bool,
}

ports!(UpR1 UpR2 UpR3 TwinStreamUpFlush TwinStreamUpHang: Narrow => Wide,
    put |dut, unit| {
        dut.in_data_i.set(unit.data);
        dut.in_flush_i.set_bool(unit.flush);
        dut.in_last_i.set_bool(unit.last)
    },
    junk Narrow { data: 0xdead, flush: true, last: true },
    get |dut| Wide { data: u128::from(dut.out_data_o.get()), keep: dut.out_keep_o.get(), last: dut.out_last_o.is_set() },
    level |_dut| None);

ports!(DownR1 DownR2 DownR3 TwinStreamDownBubble: Wide => Narrow,
    put |dut, word| {
        dut.in_data_i.set(word.data as _);
        dut.in_keep_i.set(word.keep);
        dut.in_last_i.set_bool(word.last)
    },
    junk Wide { data: 0xdead, keep: 0, last: true },
    get |dut| Narrow { data: dut.out_data_o.get(), flush: false, last: dut.out_last_o.is_set() },
    level |_dut| None);

/// The last unit of a run always ends its word, so that nothing stays inside.
fn narrow(rng: &mut Rng, index: usize) -> Narrow {
    Narrow {
        data: rng.bits() as u16,
        flush: rng.chance(1, 8),
        last: rng.chance(1, 5) || index == 249,
    }
}

fn wide(ratio: u8) -> impl Fn(&mut Rng, usize) -> Wide {
    move |rng, _| {
        let keep = if rng.chance(1, 3) {
            rng.below(ratio.into()) as u8
        } else {
            ratio - 1
        };
        Wide {
            data: u128::from(rng.bits() & (u64::MAX >> (64 - 16 * u32::from(ratio)))),
            keep,
            last: rng.chance(1, 4),
        }
    }
}

fn pack<const RATIO: u8>() -> Expand<Narrow, Wide> {
    let mut part: Vec<u16> = Vec::new();
    Box::new(move |unit| {
        part.push(unit.data);
        if part.len() < RATIO.into() && !unit.flush && !unit.last {
            return Vec::new();
        }
        let data = part.iter().rev().fold(0, |word, &unit| word << 16 | u128::from(unit));
        let keep = part.len() as u8 - 1;
        part.clear();
        vec![Wide {
            data,
            keep,
            last: unit.last,
        }]
    })
}

fn unpack() -> Expand<Wide, Narrow> {
    Box::new(|word| {
        let unit = |i| Narrow {
            data: (word.data >> (16 * i)) as u16,
            flush: false,
            last: word.last && i == word.keep,
        };
        (0..=word.keep).map(unit).collect()
    })
}

/// The checks of a converter to wide words, with flushes or without.
pub fn up<U: Ports<In = Narrow, Out = Wide>, const RATIO: u8>(flush: bool, without: &[Rule], each: Each) {
    let model = || Script::new(pack::<RATIO>, without);
    let word = |rng: &mut Rng, index| {
        let unit = narrow(rng, index);
        Narrow {
            flush: flush && unit.flush,
            ..unit
        }
    };
    gap_cases::<U, _>("width::to_wide_words", |_| {}, model, word, each);
    reset_cases::<U, _>("width::to_wide_words", |_| {}, model, word, each);
    let word = |rng: &mut Rng, index| Narrow {
        flush: false,
        ..narrow(rng, index)
    };
    let last = |units: &[Narrow]| units.len() as u64;
    rate_case::<U, _>("width::to_wide_words", model, word, last, without, each);
}

/// The checks of a converter to narrow units.
pub fn down<U: Ports<In = Wide, Out = Narrow>>(ratio: u8, without: &[Rule], each: Each) {
    let model = || Script::new(unpack, without);
    gap_cases::<U, _>("width::to_narrow_units", |_| {}, model, wide(ratio), each);
    reset_cases::<U, _>("width::to_narrow_units", |_| {}, model, wide(ratio), each);
    let last = |words: &[Wide]| words.iter().map(|word| u64::from(word.keep) + 1).sum::<u64>() + 1;
    rate_case::<U, _>("width::to_narrow_units", model, wide(ratio), last, without, each);
}

#[test]
fn to_wide_words() {
    up::<UpR1, 1>(true, &[], &mut must_pass);
    up::<UpR2, 2>(true, &[], &mut must_pass);
    up::<UpR3, 3>(true, &[], &mut must_pass);
}

#[test]
fn to_narrow_units() {
    down::<DownR1>(1, &[], &mut must_pass);
    down::<DownR2>(2, &[], &mut must_pass);
    down::<DownR3>(3, &[], &mut must_pass);
}
