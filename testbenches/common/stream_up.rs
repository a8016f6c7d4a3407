//! `stream_up` and `stream_down`: narrow units to wide words and back, with every kind of partial word, and no cycle
//! lost.

use support::this_test;
use testbenches::mem::set_word;
use testbenches::pipe::{Drive, Script, Seen, Subject, WORDS};
use testbenches::rtl::*;
use testbenches::{Cases, Dut, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use verilated::{Input as _, Port as _};

rules!(
    /// The words that follow from the input words, in order.
    Content
    /// Without gaps, the last word leaves in its cycle.
    Rate
    /// All words are taken, and all that follow leave.
    Hang
);

/// A narrow unit. Only `stream_up` has `flush`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Narrow {
    data: u16,
    flush: bool,
    last: bool,
}

/// A wide word of `keep` + 1 units.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wide {
    data: u64,
    keep: u8,
    last: bool,
}

fn up<U: StreamUpUnit + 'static>(convert: fn(&[Narrow]) -> Vec<Wide>) -> Subject<Script<Narrow, Wide>> {
    let dut = Dut::of::<U>(
        |dut, (unit, wants): &Drive<Narrow>| {
            let unit = unit.as_ref();
            dut.in_valid_i().set_bool(unit.is_some());
            dut.in_data_i().set(unit.map_or(0xdead, |unit| unit.data.into()));
            dut.in_flush_i().set_bool(unit.is_none_or(|unit| unit.flush));
            dut.in_last_i().set_bool(unit.is_none_or(|unit| unit.last));
            dut.out_ready_i().set_bool(*wants);
        },
        |dut| Seen {
            ready: dut.in_ready_o().is_set(),
            offered: dut.out_valid_o().is_set().then(|| Wide {
                data: dut.out_data_o().get(),
                keep: dut.out_keep_o().get() as u8,
                last: dut.out_last_o().is_set(),
            }),
            level: None,
        },
    );
    Subject::new(dut, Script::new(convert))
}

fn down<U: StreamDownUnit + 'static>() -> Subject<Script<Wide, Narrow>> {
    let dut = Dut::of::<U>(
        |dut, (word, wants): &Drive<Wide>| {
            let word = word.as_ref();
            dut.in_valid_i().set_bool(word.is_some());
            set_word(dut.in_data_i(), word.map_or(0xdead, |word| word.data));
            dut.in_keep_i().set(word.map_or(0, |word| word.keep.into()));
            dut.in_last_i().set_bool(word.is_none_or(|word| word.last));
            dut.out_ready_i().set_bool(*wants);
        },
        |dut| Seen {
            ready: dut.in_ready_o().is_set(),
            offered: dut.out_valid_o().is_set().then(|| Narrow {
                data: dut.out_data_o().get() as u16,
                flush: false,
                last: dut.out_last_o().is_set(),
            }),
            level: None,
        },
    );
    Subject::new(dut, Script::new(unpack))
}

fn pack<const RATIO: usize>(units: &[Narrow]) -> Vec<Wide> {
    let Some(end) = units.last().filter(|end| units.len() == RATIO || end.flush || end.last) else {
        return Vec::new();
    };
    vec![Wide {
        data: units
            .iter()
            .rev()
            .fold(0, |word, unit| word << 16 | u64::from(unit.data)),
        keep: units.len() as u8 - 1,
        last: end.last,
    }]
}

fn unpack(words: &[Wide]) -> Vec<Narrow> {
    let units = |word: &Wide| {
        let unit = |i| Narrow {
            data: (word.data >> (16 * i)) as u16,
            flush: false,
            last: word.last && i == word.keep,
        };
        (0..=word.keep).map(unit).collect::<Vec<_>>()
    };
    words.iter().flat_map(units).collect()
}

/// The last unit of a case ends its word, so that no unit stays inside.
fn narrow(rng: &mut Rng, index: usize) -> Narrow {
    Narrow {
        data: rng.bits() as u16,
        flush: rng.chance(1, 8),
        last: rng.chance(1, 5) || index + 1 == WORDS,
    }
}

/// A word of at most `ratio` units.
fn wide(ratio: u8, rng: &mut Rng) -> Wide {
    let part = rng.chance(1, 3);
    Wide {
        keep: if part { rng.below(ratio.into()) as u8 } else { ratio - 1 },
        data: rng.bits() >> (64 - 16 * ratio),
        last: rng.chance(1, 4),
    }
}

fn up_checks<U: StreamUpUnit + 'static, const RATIO: usize>(cases: &mut Cases) {
    let subject = up::<U>(pack::<RATIO>);
    subject.gaps(cases, narrow);
    subject.resets(cases, narrow);
    let unflushed = |rng: &mut Rng, index| Narrow {
        flush: false,
        ..narrow(rng, index)
    };
    subject.rate(cases, unflushed, |units| units.len() as u64);
}

fn down_checks<U: StreamDownUnit + 'static>(cases: &mut Cases) {
    let subject = down::<U>();
    let ratio = U::RATIO as u8;
    let word = |rng: &mut Rng, _| wide(ratio, rng);
    subject.gaps(cases, word);
    subject.resets(cases, word);
    subject.rate(cases, word, |words| {
        words.iter().map(|word| u64::from(word.keep) + 1).sum::<u64>() + 1
    });
}

#[test]
fn to_wide_words() {
    pass(this_test!(), |cases| {
        up_checks::<UpR1, 1>(cases);
        up_checks::<UpR2, 2>(cases);
        up_checks::<UpR3, 3>(cases);
    });
}

#[test]
fn to_narrow_units() {
    pass(this_test!(), |cases| {
        down_checks::<DownR1>(cases);
        down_checks::<DownR2>(cases);
        down_checks::<DownR3>(cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Content, &[], &up_checks::<TwinStreamUpFlush, 2>),
            (Rate, &[], &down_checks::<TwinStreamDownBubble>),
            (Hang, &[], &up_checks::<TwinStreamUpHang, 2>),
        ],
    );
}
