//! R3 to R5: complete exchange, broadcast, and operations on all PEs.

use super::lab::{End, LOOP, Lab};
use super::measure::between_looks;
use super::{block, cells, depends};
use crate::emx::library::Program;
use crate::repro::row::{BackendKind, Spec};
use crate::repro::{Curve, Mark, Plot, Scale, greatest, least};

const WORDS: [u32; 3] = [1, 10, 100];

/// The cells of a program in a table, by [`WORDS`].
fn us(lab: &Lab<'_>, program: &str) -> [f64; 3] {
    WORDS.map(|words| cells::us(lab, &format!("{program}_{words}")))
}

fn plot(lab: &mut Lab<'_>, id: &'static str, title: &str, programs: &[(&str, &str)]) {
    let curve = |(name, row): &(&str, &str)| Curve {
        name: (*name).into(),
        points: WORDS.iter().map(|words| f64::from(*words)).zip(us(lab, row)).collect(),
    };
    let mark = |(name, row): &(&str, &str)| Mark::Points {
        of: (*name).into(),
        points: WORDS
            .iter()
            .map(|words| (f64::from(*words), cells::paper(&format!("{row}_{words}"))))
            .collect(),
    };
    let curves = programs.iter().map(curve).collect();
    let marks = programs.iter().map(mark).collect();
    lab.outcome.plots.push(Plot {
        id,
        title: title.into(),
        axes: ["words", "us"],
        scales: [Scale::Log(10), Scale::Log(10)],
        curves,
        marks,
    });
}

/// Section 4.2.
pub fn r3(lab: &mut Lab<'_>) {
    cells::rows(lab, "tab2");
    let depends = depends::exchange();
    let [lex, pex, rex, wex] = ["lex", "pex", "rex", "wex"].map(|name| us(lab, &format!("tab2.{name}")));
    let spec = |row: String, what: String| Spec::new(row, what, "").depends(&depends);
    let not_less = |row: &str, words: u32, what: &str| {
        let spec = spec(format!("sec4.2.{row}_{words}"), format!("{what}, {words} words"));
        spec.within(1.0, f64::INFINITY).says()
    };
    for (at, words) in WORDS.into_iter().enumerate() {
        lab.row(not_less("pex_rex", words, "pex over rex"), pex[at] / rex[at]);
        lab.row(not_less("lex_pex", words, "lex over pex"), lex[at] / pex[at]);
        if words < 100 {
            lab.row(not_less("rex_wex", words, "rex over wex"), rex[at] / wex[at]);
        } else {
            let reason = "our pex takes 14 cycles a word, as two block transfers and their waits do, and the paper's \
                          12.5; our wex is as slow as the paper's";
            lab.row(
                not_less("wex_pex", words, "wex over pex").known_miss(reason),
                wex[at] / pex[at],
            );
            lab.row(not_less("lex_wex", words, "lex over wex"), lex[at] / wex[at]);
        }
    }
    let ratio = greatest(pex.iter().zip(&rex).map(|(pex, rex)| pex / rex));
    let what = "pex over rex, greatest";
    lab.row(
        spec("sec4.2.pex_rex".into(), what.into()).within(1.0, 1.2).says(),
        ratio,
    );
    let lead = spec("sec4.2.wex_lead".into(), "wex over rex, 1 word".into());
    lab.row(lead.within(0.0, 0.55).says(), wex[0] / rex[0]);
    // The syncs that rex saves: 57 of 63.
    let saved = [0, 1, 2].map(|at| pex[at] - rex[at]);
    let spread = greatest(saved.into_iter()) / least(saved.into_iter());
    let reason = "at 100 words of pex writes that come early take threads from a PE's own block, and its partner \
                  waits; on EM-X, where they take none, it is 1.3";
    let constant = spec("sec4.2.saved".into(), "pex less rex: greatest over least".into());
    lab.row(constant.within(1.0, 1.3).known_miss(reason), spread);
    let classic = [1, 10].map(|words| lab.program(Program::RexClassic, words).us());
    for (at, words) in [1, 10].into_iter().enumerate() {
        let row = spec(
            format!("sec4.2.classic_{words}"),
            format!("classic rex, 192 blocks, over rex, {words} words"),
        );
        lab.row(row.within(1.5, f64::INFINITY), classic[at] / rex[at]);
    }
    limit(lab);
    let programs = [
        ("lex", "tab2.lex"),
        ("pex", "tab2.pex"),
        ("rex", "tab2.rex"),
        ("wex", "tab2.wex"),
    ];
    plot(lab, "fig3", "Fig. 3: complete exchange", &programs);
}

/// Words of the first lex that overflows the memory for packets. A longer one need not: single cycles decide how far
/// queues back up.
fn overflowing(lab: &mut Lab<'_>) -> Option<u32> {
    let sizes = match lab.backend() {
        BackendKind::Rtl => vec![120, 130, 135, 140],
        BackendKind::Model => vec![110, 120, 125, 130, 135, 140],
    };
    sizes
        .into_iter()
        .find(|words| lab.program(Program::Lex, *words).end == End::Overflow)
}

/// The memory for packets overflows in lex, and in no other exchange.
fn limit(lab: &mut Lab<'_>) {
    let depends = depends::overflow();
    let first = overflowing(lab);
    let spec =
        |row: &str, what: &str, unit| Spec::new(format!("sec4.2.{row}"), what.to_owned(), unit).depends(&depends);
    lab.row(
        spec("limit", "lex: first size that overflows the packets' memory", "words")
            .paper(130.0)
            .within(120.0, 140.0),
        first.map_or(f64::NAN, f64::from),
    );
    let peak = |words| lab.program(Program::Lex, words).peak as f64;
    let held = peak(100);
    lab.row(
        spec("peak", "lex of 100 words: most packets that a PE holds", "").within(1.0, 4096.0 + 9.0),
        held,
    );
    let others = [Program::Pex, Program::Rex, Program::Wex].map(|program| lab.program(program, 150).end);
    let failed = others.iter().filter(|end| **end != End::Result).count();
    lab.row(
        spec("others", "of pex, rex and wex, those that overflow at 150 words", "").within(0.0, 0.0),
        failed as f64,
    );
}

/// Section 4.3.
pub fn r4(lab: &mut Lab<'_>) {
    cells::rows(lab, "tab3");
    let depends = depends::together();
    let spec = |row: &str, what: String, unit| Spec::new(format!("sec4.3.{row}"), what, unit).depends(&depends);
    for (size, at_least) in [("pkt", 10.0), ("1", 10.0), ("10", 10.0), ("100", 9.0)] {
        let [lib, reb] = ["lib", "reb"].map(|name| cells::us(lab, &format!("tab3.{name}_{size}")));
        let spec = spec(&format!("gain_{size}"), format!("lib over reb, {size}"), "");
        lab.row(spec.within(at_least, f64::INFINITY), lib / reb);
    }
    let long = spec("reb_100", "reb of 100 words".into(), "us").stated(0.0, 1000.0);
    lab.row(long, cells::us(lab, "tab3.reb_100"));
    let waits = |program| {
        let counts = lab.program(program, 100).counts;
        100.0 * counts.send_wait as f64 / counts.busy as f64
    };
    let share = greatest([Program::Lib, Program::Reb].map(waits).into_iter());
    let waiting = spec(
        "contention",
        "threads that wait to send, share of their time".into(),
        "%",
    );
    lab.row(waiting.within(0.0, 1.0).says(), share);
    plot(
        lab,
        "fig4",
        "Fig. 4: broadcast",
        &[("lib", "tab3.lib"), ("reb", "tab3.reb")],
    );
}

/// Section 4.4, and the mean of all cells.
pub fn r5(lab: &mut Lab<'_>) {
    cells::rows(lab, "tab4");
    let depends = depends::together();
    let spec = |row: String, what: String, unit| Spec::new(row, what, unit).depends(&depends);
    for words in WORDS {
        let link = block::us_per_link(lab, words);
        let over = cells::us(lab, &format!("tab4.shift_{words}")) / link;
        let spec = spec(
            format!("sec4.4.shift_{words}"),
            format!("shift over one link, {words} words"),
            "",
        );
        let reason = "each word that comes takes a thread of two cycles, and some go through memory before; in the \
                      paper all this takes 0.6 cycles a word, and nothing says where the rest is hidden";
        lab.row(spec.within(0.9, 1.1).known_miss(reason), over);
    }
    let [one, ten, hundred] = us(lab, "tab4.scan");
    let (early, late) = ((ten - one) / 9.0, (hundred - ten) / 90.0);
    let slope = spec("sec4.4.scan_word".into(), "scan: a word more".into(), "us");
    lab.row(slope.near(1.444, 0.2, "(348 - 218) / 90 and (218 - 205) / 9"), late);
    let affine = spec(
        "sec4.4.scan_affine".into(),
        "scan: a word more, early over late".into(),
        "",
    );
    lab.row(affine.within(0.9, 1.1), early / late);
    let config = lab.config();
    let steps = f64::from(config.used).log2();
    let step = lab.program(Program::Reduction, 0).cycles() / steps;
    let packet = lab.ring(config, Program::RingPkt, 0).cycles() / f64::from(LOOP);
    let spec = spec(
        "sec4.4.step".into(),
        "reduction: a step over a packet to the next PE".into(),
        "",
    );
    lab.row(spec.within(1.0, 1.8), step / packet);
    cells::mean(lab);
}

/// Depth of the fullest input buffer over time.
pub fn depth(lab: &mut Lab<'_>) {
    let sizes = [Some(100), overflowing(lab)];
    let us = lab.config().clock_period.as_us() * between_looks(Program::Lex) as f64;
    let curve = |words: u32| {
        let seen = lab.program(Program::Lex, words).seen;
        let deepest = |pes: &Vec<crate::emx::backend::Seen>| pes.iter().map(|pe| pe.depth).max().unwrap_or_default();
        let points = (1..).zip(&seen);
        Curve {
            name: format!("lex of {words} words"),
            points: points
                .map(|(at, pes)| (f64::from(at) * us, f64::from(deepest(pes))))
                .collect(),
        }
    };
    let curves = sizes.into_iter().flatten().map(curve).collect();
    lab.outcome.plots.push(Plot {
        id: "depth",
        title: "Lex: packets in the fullest input buffer over time; the second one overflows".into(),
        axes: ["us", "packets"],
        scales: [Scale::Linear, Scale::Linear],
        curves,
        marks: vec![Mark::Level {
            y: 4096.0,
            from: 0.0,
            says: "at most 4K packets in memory",
        }],
    });
}
