//! R1 and R2: packets, words and blocks along a loop of 5 PEs.

use super::lab::{LOOP, Lab};
use super::{cells, depends};
use crate::emx::library::Program;
use crate::repro::row::Spec;
use crate::repro::{Mark, Plot, Scale};

/// Words of a block: the printed sizes, and those around the suspensions.
const SIZES: [u32; 24] = [
    1, 2, 5, 9, 10, 11, 12, 15, 19, 20, 21, 25, 29, 30, 31, 40, 41, 50, 51, 60, 70, 80, 90, 100,
];
/// Share by which the line may differ (our choice).
const SHARE: f64 = 0.15;

/// Time of a block of so many words to the next PE, us: a fifth of a round trip.
pub fn us_per_link(lab: &Lab<'_>, words: u32) -> f64 {
    lab.ring(lab.config(), Program::RingBlock, words).us() / f64::from(LOOP)
}

fn cycles_per_link(lab: &Lab<'_>, words: u32) -> f64 {
    lab.ring(lab.config(), Program::RingBlock, words).cycles() / f64::from(LOOP)
}

/// Table 1: round trips.
pub fn r1(lab: &mut Lab<'_>) {
    cells::rows(lab, "tab1");
    let [packet, word, block] = ["packet", "word", "block_1"].map(|row| cells::us(lab, &format!("tab1.{row}")));
    let depends = depends::block();
    let spec = |row: &str, what: &str| Spec::new(format!("tab1.{row}"), what.to_owned(), "").depends(&depends);
    lab.row(
        spec("word_over_packet", "word over packet").within(1.0, f64::INFINITY),
        word / packet,
    );
    lab.row(
        spec("block_over_word", "block of 1 word over word").within(1.0, f64::INFINITY),
        block / word,
    );
    let curve = lab.curve("block", &SIZES, |words| us_per_link(lab, words) * f64::from(LOOP));
    let paper = |words: u32| cells::paper(&format!("tab1.block_{words}"));
    let points = [1, 10, 100].map(|words| (f64::from(words), paper(words))).into();
    lab.outcome.plots.push(Plot {
        id: "fig2",
        title: "Fig. 2: round trip of a block over 5 PEs".into(),
        axes: ["words", "us"],
        scales: [Scale::Linear, Scale::Linear],
        marks: vec![Mark::Points {
            of: curve.name.clone(),
            points,
        }],
        curves: vec![curve],
    });
}

/// Section 4.1: the line, what it says of the hardware, and its steps.
pub fn r2(lab: &mut Lab<'_>) {
    let depends = depends::block();
    let [one, ten, hundred] = [1, 10, 100].map(|words| us_per_link(lab, words));
    // As the printed line: through the blocks of 1 and of 100 words.
    let slope = (hundred - one) / 99.0;
    let spec =
        |row: &str, what: &str, unit| Spec::new(format!("sec4.1.{row}"), what.to_owned(), unit).depends(&depends);
    lab.row(
        spec("slope", "block transfer: a word more", "us")
            .paper(1.07)
            .within(1.07 * (1.0 - SHARE), 1.07 * (1.0 + SHARE)),
        slope,
    );
    lab.row(
        spec("start", "block transfer: start", "us")
            .paper(6.58)
            .within(6.58 * (1.0 - SHARE), 6.58 * (1.0 + SHARE)),
        one - slope,
    );
    lab.row(
        spec("linear", "block of 10 words over the line", "").within(0.9, 1.1),
        ten / (one + 9.0 * slope),
    );
    let spec_rate = spec("bandwidth", "bandwidth of one link", "MB/s").within(3.4, 4.3);
    lab.row(spec_rate.says().beside(4.0, "4 B over 1.07 us, about 4"), 4.0 / slope);
    lab.row(
        spec("start_cm5", "start-up of the CM-5, 88 us, over ours", "")
            .within(8.0, 16.0)
            .says(),
        88.0 / (one - slope),
    );
    let cycle = lab.config().clock_period.as_us();
    lab.row(
        spec("capacity", "packets of a link over those of a block transfer", "")
            .within(5.5, 8.0)
            .says(),
        slope / (2.0 * cycle),
    );
    let ring = lab.ring(lab.config(), Program::RingBlock, 100);
    lab.row(
        spec("cycles", "cycles of a word", "cycles").within(10.0, 16.0).says(),
        slope / cycle,
    );
    lab.row(
        spec("instructions", "instructions by packet, calls included", "")
            .beside(10.0, "ten-odd, says the paper; ours writes a tighter loop"),
        ring.counts.instructions as f64 / ring.counts.sent as f64,
    );
    steps(lab, &depends);
}

/// Fig. 2: a step behind every 10 words.
fn steps(lab: &mut Lab<'_>, depends: &[&'static str]) {
    let chunk = lab.config().chunk;
    let flat = cycles_per_link(lab, 10) - cycles_per_link(lab, 9);
    let step = |words: u32| cycles_per_link(lab, words + 1) - cycles_per_link(lab, words) - flat;
    let rises = [10, 20, 30, 40, 50].map(step);
    let even = [11, 20 - 1, 29].map(|words| cycles_per_link(lab, words + 1) - cycles_per_link(lab, words) - flat);
    let spec = |row: &str, what: &str| Spec::new(format!("fig2.{row}"), what.to_owned(), "cycles").depends(depends);
    let least = crate::repro::least(rises.into_iter());
    let spec_step = spec("step", "step behind every 10 words, least");
    lab.row(
        spec_step
            .beside(15.0, "table 1 is 83.6 + 12 n + 15 for every 10 words")
            .within(10.0, 20.0),
        least,
    );
    lab.row(
        spec("even", "step elsewhere, greatest").within(0.0, 1.0),
        crate::repro::greatest(even.into_iter().map(f64::abs)),
    );
    let overhead = 100.0 * least / (f64::from(chunk.max(1)) * flat + least);
    let spec = Spec::new("sec4.5.share", "suspension: share of the time of a long block", "%").depends(depends);
    lab.row(spec.beside(11.1, "15 of 135 cycles for 10 words in table 1"), overhead);
}
