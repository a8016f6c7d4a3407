//! Every criterion of the paper, on the golden model, the model against the RTL, and what the rows say of themselves.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use tsunagi::cppacs::Cppacs;
use tsunagi::cppacs::params::Config;
use tsunagi::repro::row::{BackendKind, Kind, Row};
use tsunagi::repro::{Outcome, Request, lab, pool};

fn measured(experiments: &[&str], backend: BackendKind) -> Vec<Outcome> {
    let request = Request {
        experiments,
        backends: &[backend],
        config: &Config::paper(),
        full: false,
        threads: pool::threads(),
    };
    lab::run::<Cppacs>(&request, |_, _| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// All rows of the model, measured once for all tests.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    let outcomes = OUTCOMES.get_or_init(|| measured(&[], BackendKind::Model));
    outcomes.iter().flat_map(|outcome| &outcome.rows)
}

fn is_bad(row: &&Row) -> bool {
    row.failed() || row.is_missed()
}

#[test]
fn every_check_is_met() {
    let bad: Vec<_> = rows().filter(is_bad).map(|row| (&row.row, row.ours)).collect();
    assert!(bad.is_empty(), "{bad:?}");
    assert!(rows().filter(|row| row.pass == Some(true)).count() > 30);
}

#[test]
fn every_row_was_measured_and_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for row in rows() {
        assert!(row.ours.is_finite(), "{}", row.row);
        assert!(names.insert(&row.row), "{} stands twice", row.row);
    }
    for experiment in lab::experiments::<Cppacs>() {
        let checks = rows().filter(|row| row.experiment == experiment.id && row.pass.is_some());
        assert!(checks.count() > 0, "{} checks nothing", experiment.id);
    }
}

/// What the paper prints of the network follows from 75 MHz and the design; what it prints of software was fitted.
#[test]
fn kinds_follow_from_the_parameters() {
    let kind = |name: &str| rows().find(|row| row.row == name).expect(name).kind;
    for name in ["sec2.raw", "sec2.broadcast_64k", "sec2.shifts"] {
        assert_eq!(kind(name), Some(Kind::Prediction), "{name}");
    }
    for name in ["latency.public", "fig3.overhead", "table1.4", "table1.64"] {
        assert_eq!(kind(name), Some(Kind::Calibrated), "{name}");
    }
}

#[test]
fn model_and_rtl_agree_within_2_percent() {
    let all = measured(&["F3", "T1", "B2", "N1", "N2", "N3"], BackendKind::Rtl);
    let rows: Vec<&Row> = all.iter().flat_map(|outcome| &outcome.rows).collect();
    let bad: Vec<_> = rows
        .iter()
        .filter(|row| is_bad(row))
        .map(|row| (&row.row, row.ours))
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
    let compared = rows.iter().filter(|row| row.row.ends_with("_model"));
    assert!(compared.count() > 15);
}
