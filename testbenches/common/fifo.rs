//! FIFOs, skid buffer, delay and gap: all are queues that differ in depth, latency and gap.

use testbenches::rtl::*;
use tsunagi::harness::seed::Rng;

use crate::bench::{Each, Ports, gap_cases, must_pass, ports, reset_cases};
use crate::models::{Queue, Rule};

ports!(FifoD1 FifoD2 FifoD3 FifoD16 FifoBramD1 FifoBramD2 FifoBramD5 FifoBramD512 DelayD1 DelayD2 DelayD5
       TwinFifoOrder TwinFifoLevel TwinFifoReset TwinFifoBramLone TwinDelayReady TwinDelayEarly: u64 => u64,
    put |dut, word| { dut.in_data_i.set(word) }, junk 0xdead_beef_dead_beef,
    get |dut| dut.out_data_o.get(), level |dut| Some(dut.level_o.get().into()));

ports!(Skid TwinSkidOrder TwinSkidPath: u64 => u64,
    put |dut, word| { dut.in_data_i.set(word) }, junk 0xdead_beef_dead_beef,
    get |dut| dut.out_data_o.get(), level |_dut| None);

/// Data and `last`.
pub type Beat = (u16, bool);

ports!(StreamGap TwinStreamGapShort TwinStreamGapWithdraws: Beat => Beat,
    put |dut, word| { dut.in_data_i.set(word.0); dut.in_last_i.set_bool(word.1) }, junk (0xdead, true),
    get |dut| (dut.out_data_o.get(), dut.out_last_o.is_set()), level |_dut| None);

fn word(rng: &mut Rng, _: usize) -> u64 {
    rng.bits()
}

fn beat(rng: &mut Rng, _: usize) -> Beat {
    (rng.bits() as u16, rng.chance(1, 3))
}

/// The checks of a queue unit, without and with a reset in mid-flight.
pub fn queue<U: Ports<In = u64, Out = u64>>(
    test: &'static str,
    depth: usize,
    latency: u64,
    without: &[Rule],
    each: Each,
) {
    queue_gaps::<U>(test, depth, latency, without, each);
    queue_resets::<U>(test, depth, latency, without, each);
}

fn model<'a>(depth: usize, latency: u64, without: &'a [Rule]) -> impl Fn() -> Queue<'a, u64> {
    move || Queue {
        without,
        ..Queue::new(depth, latency)
    }
}

pub fn queue_gaps<U: Ports<In = u64, Out = u64>>(
    test: &'static str,
    depth: usize,
    latency: u64,
    without: &[Rule],
    each: Each,
) {
    gap_cases::<U, _>(test, |_| {}, model(depth, latency, without), word, each);
}

pub fn queue_resets<U: Ports<In = u64, Out = u64>>(
    test: &'static str,
    depth: usize,
    latency: u64,
    without: &[Rule],
    each: Each,
) {
    reset_cases::<U, _>(test, |_| {}, model(depth, latency, without), word, each);
}

#[test]
fn fifo_lut_ram() {
    queue::<FifoD1>("fifo::fifo_lut_ram", 1, 1, &[], &mut must_pass);
    queue::<FifoD2>("fifo::fifo_lut_ram", 2, 1, &[], &mut must_pass);
    queue::<FifoD3>("fifo::fifo_lut_ram", 3, 1, &[], &mut must_pass);
    queue::<FifoD16>("fifo::fifo_lut_ram", 16, 1, &[], &mut must_pass);
}

#[test]
fn fifo_block_ram() {
    queue::<FifoBramD1>("fifo::fifo_block_ram", 1, 2, &[], &mut must_pass);
    queue::<FifoBramD2>("fifo::fifo_block_ram", 2, 2, &[], &mut must_pass);
    queue::<FifoBramD5>("fifo::fifo_block_ram", 5, 2, &[], &mut must_pass);
    queue::<FifoBramD512>("fifo::fifo_block_ram", 512, 2, &[], &mut must_pass);
}

#[test]
fn skid() {
    queue::<Skid>("fifo::skid", 2, 1, &[], &mut must_pass);
}

#[test]
fn stream_delay() {
    queue::<DelayD1>("fifo::stream_delay", 2, 1, &[], &mut must_pass);
    queue::<DelayD2>("fifo::stream_delay", 1, 2, &[], &mut must_pass);
    queue::<DelayD5>("fifo::stream_delay", 7, 5, &[], &mut must_pass);
}

/// The checks of the gap unit, for gaps of 0, 1 and 9 cycles.
pub fn gaps<U: Ports<In = Beat, Out = Beat>>(set_gap: fn(&U, u8), without: &[Rule], each: Each) {
    for gap in [0, 1, 9] {
        let setup = |dut: &U| set_gap(dut, gap);
        let model = || Queue {
            gap: gap.into(),
            is_last: |beat: &Beat| beat.1,
            without,
            ..Queue::new(2, 1)
        };
        gap_cases::<U, _>("fifo::stream_gap", setup, model, beat, each);
        reset_cases::<U, _>("fifo::stream_gap", setup, model, beat, each);
    }
}

#[test]
fn stream_gap() {
    gaps::<StreamGap>(|dut, gap| dut.gap_i.set(gap), &[], &mut must_pass);
}
