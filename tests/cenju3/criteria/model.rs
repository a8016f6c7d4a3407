//! Every criterion of the paper, on the golden model; and that each row says honestly what it is worth.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use tsunagi::cenju3::Cenju3;
use tsunagi::cenju3::params::{Config, Origin as ParamOrigin, PARAMS, Param};
use tsunagi::repro::row::{BackendKind, Kind, Origin, Paper, Row};
use tsunagi::repro::summary::Summary;
use tsunagi::repro::{Outcome, lab, pool};

use super::{assert_each_row_moves, assert_every_check_is_met, run_all, run_some};

fn outcomes() -> &'static [Outcome] {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    OUTCOMES.get_or_init(|| run_all(BackendKind::Model, &Config::paper(), pool::threads()))
}

fn rows() -> impl Iterator<Item = &'static Row> {
    outcomes().iter().flat_map(|o| &o.rows)
}

fn row(name: &str) -> &'static Row {
    rows()
        .find(|r| r.row == name)
        .unwrap_or_else(|| panic!("no row {name}"))
}

#[test]
fn every_check_is_met() {
    assert_every_check_is_met(outcomes());
}

#[test]
fn each_row_moves_with_what_it_measures() {
    assert_each_row_moves(BackendKind::Model, outcomes());
}

#[test]
fn every_experiment_has_checks_and_row_names_are_unique() {
    for e in lab::experiments::<Cenju3>() {
        assert!(
            rows().any(|r| r.experiment == e.id && r.pass.is_some()),
            "{} checks nothing",
            e.id
        );
    }
    let mut names: Vec<&str> = rows().map(|r| r.row.as_str()).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "a row's name twice");
}

#[test]
fn every_curve_has_all_sizes_and_every_figure_is_drawn() {
    let plots: Vec<_> = outcomes().iter().flat_map(|o| &o.plots).collect();
    for id in ["fig9", "fig10", "fig11", "fig12", "fig13", "fig14", "peaks"] {
        assert!(plots.iter().any(|p| p.id == id), "no {id}");
    }
    // E13 draws the sizes round the peaks.
    for curve in plots.iter().filter(|p| p.id != "peaks").flat_map(|p| &p.curves) {
        let sizes: Vec<f64> = curve.points.iter().map(|p| p.0).collect();
        assert_eq!(
            sizes,
            [0.5, 1.0, 2.0, 4.0, 6.0, 6.5, 7.0, 7.5, 8.0, 16.0, 32.0, 64.0, 128.0]
        );
        assert!(curve.points.iter().all(|p| p.1 > 1.0 && p.1 < 40.0), "{curve:?}");
    }
    let breakdowns = outcomes().iter().flat_map(|o| &o.breakdowns).count();
    assert_eq!(breakdowns, 2, "figures 7 and 8");
}

#[test]
fn what_was_fitted_on_its_own_figure_is_no_prediction() {
    for name in [
        "fig7.total",
        "fig7.header_read",
        "fig8.one_way",
        "sec6.1.raw",
        "sec6.1.after_sync",
        "fig10.large",
        "fig11.large",
        "fig11.peak",
        "sec7.1.saved",
        "sec7.1.de_call",
        "sec7.1.de_user",
        "sec7.2.memory_limits",
        "sec3.1.headers",
        "sec3.1.queued",
        "sec5.2.syscall",
        "fig8.syscall",
        "fig12.receiver",
    ] {
        assert_eq!(row(name).kind, Some(Kind::Calibrated), "{name}");
    }
    for name in ["fig9.plateau", "fig14.peak"] {
        assert_eq!(row(name).kind, Some(Kind::Prediction), "{name}");
    }
    for name in ["fig12.network_large", "fig13.small_most", "fig9.receiver_limits"] {
        assert_eq!(row(name).kind, Some(Kind::Criterion), "{name}");
    }
    for name in ["fig13.delay_9us", "sec7.1.one_way", "fig14.model_agrees", "fig10.rises"] {
        let own = rows().find(|r| r.row == name);
        assert!(own.is_none_or(|r| r.kind == Some(Kind::Own)), "{name}");
    }
    assert_eq!(row("fig9.CJrmwrite.8KB").kind, None);
}

/// What the paper's text says, and nothing that is worked out from it: places and values, read off the text.
#[test]
fn the_papers_numbers_are_those_of_its_text() {
    let one = |name: &'static str, value: f64| (name, Paper::Value(value));
    let steps = [
        "pointer_write",
        "header_read",
        "body_read",
        "sync",
        "switch",
        "header_write",
    ];
    let stated = [
        one("fig7.total", 7.0),
        one("fig7.irq", 5.0),
        one("sec3.1.headers", 255.0),
        one("sec3.1.queued", 64.0),
        one("fig8.syscall", 5.0),
        ("sec5.2.syscall", Paper::Range(5.0, 8.0)),
        one("fig12.receiver", 48.0),
        one("sec7.1.de_call", 27.0),
        one("sec7.1.de_user", 11.5),
        one("fig8.round_trip", 65.0),
        one("fig8.one_way", 33.0),
        one("fig8.kernel_to_start", 8.0),
        one("fig8.start_to_kernel", 12.0),
        one("fig8.receive_kernel", 8.0),
        one("fig9.plateau", 34.7),
        one("sec6.1.raw", 40.0),
        one("sec6.1.after_headers", 38.6),
        one("sec6.1.after_sync", 38.0),
        one("fig10.large", 36.0),
        one("fig11.pipelined", 36.0),
        ("fig11.peak", Paper::Range(6.0, 8.0)),
        one("fig11.large", 31.0),
        one("fig14.peak", 8.0),
        one("sec7.1.saved", 9.0),
        ("sec7.2.memory_limits", Paper::Range(128.0, 160.0)),
    ];
    let steps = steps.map(|step| (format!("fig7.{step}"), Paper::Value(1.0)));
    let stated = stated.map(|(name, paper)| (name.to_owned(), paper));
    let mut stated: Vec<_> = stated.into_iter().chain(steps).collect();
    let mut found: Vec<_> = rows().filter_map(|r| Some((r.row.clone(), r.paper?))).collect();
    stated.sort_by(|a, b| a.0.cmp(&b.0));
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found, stated);
}

/// Bounds are the paper's only where its text has them: a range, a most, a fall.
#[test]
fn the_papers_bounds_are_those_of_its_text() {
    let by = |origin| -> Vec<&str> {
        let of = rows().filter(move |r| r.bounds_by == Some(origin));
        of.map(|r| r.row.as_str()).collect()
    };
    assert_eq!(
        by(Origin::Paper),
        [
            "sec3.2.arrival",
            "sec3.2.end",
            "sec3.1.headers",
            "sec5.2.syscall",
            "fig9.below_network",
            "fig11.peak",
            "fig11.falls",
            "sec7.2.memory_limits",
            "sec7.2.bus_limits"
        ]
    );
    assert!(by(Origin::Public).is_empty());
    for row in rows() {
        assert_eq!(row.bounds_by.is_some(), row.pass.is_some(), "{}", row.row);
        let by_formula = row.bounds_by == Some(Origin::Formula) || row.expected.is_some();
        assert_eq!(row.formula.is_some(), by_formula, "{}", row.row);
    }
}

/// The thresholds of E13 are the ends of what Figs. 9 and 11 allow: one step on, one of the two says otherwise.
#[test]
fn the_ends_of_the_calibration_are_its_ends() {
    let at = |words: f64| {
        let mut config = Config::paper();
        config.set("r_thresh", words).unwrap();
        let rows = run_some(BackendKind::Model, &config, pool::threads(), &["E4", "E7"]);
        let all: Vec<Row> = rows.into_iter().flat_map(|o| o.rows).collect();
        ["fig11.peak", "fig9.receiver_limits"]
            .iter()
            .all(|name| all.iter().any(|r| r.row == *name && r.pass == Some(true)))
    };
    assert_eq!([272.0, 280.0, 392.0, 400.0].map(at), [false, true, true, false]);
    let plateau = row("fig9.plateau");
    let (least, most) = plateau.leaves.expect("the row shows the interval");
    let ends = ["fig9.plateau_least", "fig9.plateau_most"].map(|name| row(name).ours);
    assert_eq!([least, most], ends);
    assert!(least < 34.7 && 34.7 < most, "{least} to {most}");
}

/// The document shows what the predictions stand on: no parameter that they depend on, and none that it was derived
/// from, was fitted on their own figure.
#[test]
fn the_document_shows_the_chain_of_origins() {
    let mut chain: Vec<&str> = row("fig9.plateau").depends_on.clone();
    let mut at = 0;
    while at < chain.len() {
        let param = PARAMS.iter().find(|p| p.name == chain[at]).expect("a parameter");
        for from in param.derived_from {
            if !chain.contains(from) {
                chain.push(from);
            }
        }
        at += 1;
    }
    let is_of = |of: &str| {
        let params = PARAMS.iter().filter(|p| chain.contains(&p.name));
        let said = |p: &&Param| match p.origin {
            ParamOrigin::Calibrated => p.measured_on.join(", ") == of,
            ParamOrigin::Design => of == "our choice",
            _ => of == "the paper",
        };
        let names: Vec<String> = params.filter(said).map(|p| format!("`{}`", p.name)).collect();
        format!("| {of} | {} |", names.join(", "))
    };
    let params = || PARAMS.iter().filter(|p| chain.contains(&p.name));
    let fitted: BTreeSet<String> = params()
        .filter(|p| p.origin == ParamOrigin::Calibrated)
        .map(|p| p.measured_on.join(", "))
        .collect();
    let sources = fitted.iter().map(String::as_str).chain(["the paper", "our choice"]);
    let table: Vec<String> = sources.map(is_of).collect();
    let text = include_str!("../../../docs/machines/cenju3.md");
    assert!(
        text.contains(&table.join("\n")),
        "not in the document:\n{}",
        table.join("\n")
    );
    let own = |p: &&Param| {
        p.measured_on
            .iter()
            .any(|on| on.starts_with("fig9") || on.starts_with("fig14"))
    };
    assert_eq!(params().filter(own).count(), 0);
}

/// The document names the predictions, all of them and nothing else.
#[test]
fn the_document_names_the_predictions() {
    let text = include_str!("../../../docs/machines/cenju3.md");
    let section = text.split("## Reading a result").nth(1).expect("the section");
    let quoted = section.split('`').skip(1).step_by(2);
    let named: BTreeSet<&str> = quoted
        .filter(|q| q.starts_with("fig") || q.starts_with("sec"))
        .collect();
    let predictions: Vec<&Row> = rows().filter(|r| r.kind == Some(Kind::Prediction)).collect();
    assert_eq!(named, predictions.iter().map(|r| r.row.as_str()).collect());
    let summary = Summary::of(&rows().collect::<Vec<_>>());
    assert_eq!(summary.predictions(), predictions.len());
    assert_eq!(summary.worst.map(|r| r.row.as_str()), Some("fig14.peak"));
    // No number of the paper twice.
    for (n, a) in predictions.iter().enumerate() {
        let same = |b: &&&Row| (a.paper, a.unit) == (b.paper, b.unit);
        assert!(!predictions[n + 1..].iter().any(|b| same(&b)), "{} again", a.row);
    }
}

#[test]
fn threads_decide_nothing() {
    let one = run_all(BackendKind::Model, &Config::paper(), 1);
    let text = |all: &[Outcome]| {
        all.iter()
            .flat_map(|o| &o.rows)
            .map(|r| format!("{r:?}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(text(&one), text(outcomes()));
}
