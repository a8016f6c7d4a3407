//! Every criterion of the paper, on the golden model; and that each row says honestly what it is worth.

mod criteria_common;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use criteria_common::{assert_each_row_moves, assert_every_check_is_met, run_all};
use tsunagi::cenju3::params::Config;
use tsunagi::repro::cenju3::experiments;
use tsunagi::repro::row::{BackendKind, Kind, Row};
use tsunagi::repro::{Outcome, pool};

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
    for e in experiments() {
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
    for id in ["fig9", "fig10", "fig11", "fig12", "fig13", "fig14"] {
        assert!(plots.iter().any(|p| p.id == id), "no {id}");
    }
    for curve in plots.iter().flat_map(|p| &p.curves) {
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
        "sec6.1.memory_ends",
        "fig10.large",
        "fig11.large",
        "fig11.peak",
        "sec7.1.saved",
    ] {
        assert_eq!(row(name).kind, Kind::Calibrated, "{name}");
    }
    for name in ["fig9.plateau.8KB", "fig9.plateau.128KB", "fig14.peak", "fig14.value"] {
        assert_eq!(row(name).kind, Kind::Prediction, "{name}");
    }
    for name in ["fig12.network_large", "fig13.delay_9us", "fig9.receiver_limits"] {
        assert_eq!(row(name).kind, Kind::Criterion, "{name}");
    }
}

/// The document names the predictions, all of them and nothing else.
#[test]
fn the_document_names_the_predictions() {
    let text = include_str!("../docs/machines/cenju3.md");
    let section = text.split("## Reading a result").nth(1).expect("the section");
    let quoted = section.split('`').skip(1).step_by(2);
    let named: BTreeSet<&str> = quoted
        .filter(|q| q.starts_with("fig") || q.starts_with("sec"))
        .collect();
    let predictions = rows().filter(|r| r.kind == Kind::Prediction && r.pass.is_some());
    assert_eq!(named, predictions.map(|r| r.row.as_str()).collect());
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
