//! R6 to R8: suspension, the switches from EM-4 to EM-X, and order.

use super::cells::{CELLS, Cell};
use super::lab::{End, LOOP, Lab, Measurement, What};
use super::measure::OVERTAKEN;
use super::{depends, picture, tables};
use crate::emx::library::Program;
use crate::emx::params::{Config, EM_X};
use crate::repro::row::{BackendKind, Origin, Spec};
use crate::repro::{Bar, Stack, greatest};

/// Section 4.5.
pub fn r6(lab: &mut Lab<'_>) {
    let config = lab.config();
    let whole = lab.with(&[("chunk", 0.0)]);
    let depends = depends::exchange();
    let spec =
        |row: &str, what: &str, unit| Spec::new(format!("sec4.5.{row}"), what.to_owned(), unit).depends(&depends);
    let ring = |config: &Config| lab.ring(config, Program::RingBlock, 100).us();
    lab.row(
        spec("block", "block of 100 words: time that suspension takes", "%")
            .within(7.0, 13.0)
            .says(),
        100.0 * (1.0 - ring(&whole) / ring(config)),
    );
    let em_x = whole.em_x();
    let all = |config: &Config, program| lab.measure(config, What::program(program, config.used, 100));
    let [with, without, taken] = [config, &whole, &em_x].map(|config| all(config, Program::Wex));
    let [pex, pex_without] = [config, &whole].map(|config| all(config, Program::Pex).us());
    lab.row(
        spec("wex", "wex of 100 words without suspension, over with it", "")
            .within(1.1, f64::INFINITY)
            .says(),
        without.us() / with.us(),
    );
    lab.row(
        spec("pex", "pex of 100 words without suspension, over with it", ""),
        pex_without / pex,
    );
    let share =
        |m: &Measurement, config: &Config| 100.0 * m.counts.stalled as f64 / (m.cycles() * f64::from(config.used));
    let [stalled, on_em_x] = [share(&without, &whole), share(&taken, &em_x)];
    lab.row(
        spec(
            "stalled",
            "wex without suspension: time in which a PE takes no packets in",
            "%",
        )
        .within(1.0, 100.0)
        .says(),
        stalled,
    );
    // EM-X is to lessen it; the paper does not say how far.
    lab.row(
        spec("stalled_em_x", "the same on EM-X, over EM-4", "")
            .within(0.0, 0.5)
            .says(),
        on_em_x / stalled,
    );
    for (row, name, m) in [
        ("wex_wrong", "wex", &with),
        ("wex_wrong_whole", "wex without suspension", &without),
    ] {
        let what = format!("{name}: words that are missing when the barrier is over");
        lab.row(spec(row, &what, "").stated(0.0, 0.0), f64::from(m.wrong));
    }
    if lab.backend() == BackendKind::Model {
        let polled = lab.measure(config, What::Polled { words: 100 }).polled;
        let spec = Spec::new(
            "sec4.5.host",
            "host reads a PE that sends a block: longest wait",
            "cycles",
        );
        let most = f64::from(config.host_wait) + 8.0;
        lab.row(
            spec.within(0.0, most).depends(&["host_wait"]),
            polled.map_or(f64::NAN, |wait| wait as f64),
        );
    }
    picture::map(lab, Program::Wex, "wex");
    picture::map(lab, Program::Pex, "pex");
    tables::depth(lab);
}

/// The programs by which the switches are compared.
const COMPARED: [(&str, Program); 2] = [("pex", Program::Pex), ("wex", Program::Wex)];

/// Sections 2.3 and 4.5, and the abstract on EMC-Y.
pub fn r7(lab: &mut Lab<'_>) {
    let config = lab.config();
    let em_x = config.em_x();
    let depends = depends::exchange();
    let spec = |row: String, what: String, unit| Spec::new(row, what, unit).depends(&depends);
    let gain = |cell: &Cell| {
        let [old, new] = [config, &em_x].map(|config| lab.measure(config, cell.what(config)).us());
        old / new
    };
    let gains: Vec<(&Cell, f64)> = CELLS.iter().map(|cell| (cell, gain(cell))).collect();
    for (cell, gain) in &gains {
        let row = cell.row.trim_start_matches("tab");
        lab.row(
            spec(format!("em_x.{row}"), format!("EM-4 over EM-X, {}", cell.name), ""),
            *gain,
        );
    }
    let slower = gains.iter().filter(|(_, gain)| gain.is_nan() || *gain < 0.9995).count();
    let what = "cells in which EM-X is slower than EM-4 at the same clock";
    lab.row(
        spec("em_x.slower".into(), what.into(), "").within(0.0, 0.0).says(),
        slower as f64,
    );
    let most = 100.0 * (greatest(gains.iter().map(|(_, gain)| *gain)) - 1.0);
    let what = "gain of EM-X at the same clock, greatest";
    let spec_most = spec("em_x.most".into(), what.into(), "%");
    lab.row(spec_most.bounded(50.0, f64::INFINITY, Origin::Public), most);
    let end = lab.measure(&em_x, What::program(Program::Lex, em_x.used, 140));
    let what = "packets in the fullest input buffer, lex of 140 words";
    let held = if end.end == End::Result {
        end.peak as f64
    } else {
        f64::NAN
    };
    let spec_lex = spec("em_x.lex_140".into(), what.into(), "").depends(&["spill_bits"]);
    lab.row(spec_lex.within(0.0, 4096.0).says(), held);
    let run = lab.measure(&em_x, What::program(Program::Shift, em_x.used, 100));
    let link = lab.measure(&em_x, What::program(Program::RingBlock, LOOP, 100));
    let what = "EM-X: shift of 100 words over one link";
    lab.row(
        spec("em_x.write_free".into(), what.into(), "")
            .within(0.95, 1.05)
            .says(),
        run.us() / (link.us() / f64::from(LOOP)),
    );
    switches(lab, &depends);
}

/// Each switch alone. The verilated machines are EM-4 and EM-X only, so these rows are the model's.
fn switches(lab: &mut Lab<'_>, depends: &[&'static str]) {
    let config = lab.config();
    let mut machines = vec![("none: EM-4", config.clone())];
    for (name, value) in EM_X {
        // A READ passes by only where there is an output buffer.
        let more = if name == "read_bypass" {
            ("output_packets", 8.0)
        } else {
            (name, value)
        };
        machines.push((name, lab.with(&[more, (name, value)])));
    }
    machines.push(("all: EM-X", config.em_x()));
    for (program, what) in COMPARED.map(|(name, program)| (name, What::program(program, config.used, 100))) {
        let mut bars = Vec::new();
        for (name, config) in &machines {
            let us = lab.measure_on(BackendKind::Model, config, what.clone()).us();
            bars.push(Bar {
                name: (*name).into(),
                parts: vec![us],
                beside: None,
            });
            if lab.backend() == BackendKind::Model {
                let short = name.split(':').next().unwrap_or(name);
                let spec = Spec::new(
                    format!("switch.{program}_{short}"),
                    format!("{program} of 100 words: {name}"),
                    "us",
                );
                lab.row(spec.depends(depends), us);
            }
        }
        lab.outcome.stacks.push(Stack {
            title: format!("{program} of 100 words with each switch alone (golden model)"),
            unit: "us",
            parts: vec!["time"],
            bars,
        });
    }
}

/// Writes, and a sync behind them, over a network that keeps the order.
pub fn r8(lab: &mut Lab<'_>) {
    let config = lab.config();
    let depends = ["row_bits", "levels", "write_bypass"];
    let em_x = config.em_x();
    let mut cases = vec![
        ("em_4", "EM-4", config.clone(), false),
        ("em_x", "EM-X", em_x.clone(), false),
        ("urgent", "EM-X, urgent syncs", em_x, true),
    ];
    if lab.backend() == BackendKind::Model {
        cases.push((
            "levels",
            "EM-4 with two levels, urgent syncs",
            lab.with(&[("levels", 2.0)]),
            true,
        ));
    }
    for (row, name, config, urgent) in cases {
        let m = lab.measure(&config, What::Syncs { urgent });
        let overtakes = row == "levels";
        let ours = match m.end {
            End::Result => 0.0,
            End::Trap(OVERTAKEN) => 1.0,
            _ => f64::NAN,
        };
        let spec = Spec::new(
            format!("fig1.{row}"),
            format!("{name}: a sync was handled before its data"),
            "",
        );
        // Documented: with levels alone an urgent sync overtakes WRITEs, which wait as threads.
        let spec = if overtakes {
            spec.within(1.0, 1.0)
        } else {
            spec.stated(0.0, 0.0)
        };
        lab.row(spec.depends(&depends), ours);
        if !overtakes {
            let spec = Spec::new(format!("fig1.{row}_syncs"), format!("{name}: syncs that looked"), "");
            let all = f64::from(config.pes() * 40);
            lab.row(spec.within(all, all).depends(&depends), f64::from(m.checked));
        }
    }
}
