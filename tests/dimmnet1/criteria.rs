//! Every criterion of the report, on the golden model, and what the rows say of themselves.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use tsunagi::dimmnet1::Dimmnet1;
use tsunagi::dimmnet1::params::Config;
use tsunagi::repro::row::{BackendKind, Kind, Paper, Row};
use tsunagi::repro::{Outcome, Request, lab, pool};

fn outcomes() -> &'static [Outcome] {
    static OUTCOMES: OnceLock<Vec<Outcome>> = OnceLock::new();
    OUTCOMES.get_or_init(|| {
        let request = Request {
            experiments: &[],
            backends: &[BackendKind::Model],
            config: &Config::paper(),
            full: false,
            threads: pool::threads(),
        };
        lab::run::<Dimmnet1>(&request, |_, _| ()).unwrap_or_else(|error| panic!("{error}"))
    })
}

fn rows() -> impl Iterator<Item = &'static Row> {
    outcomes().iter().flat_map(|outcome| &outcome.rows)
}

#[test]
fn every_check_is_met() {
    let missed: Vec<_> = rows()
        .filter(|row| row.failed())
        .map(|row| (&row.row, row.ours))
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert!(rows().filter(|row| row.pass == Some(true)).count() > 30);
}

#[test]
fn every_row_was_measured_and_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for row in rows() {
        assert!(row.ours.is_finite(), "{}", row.row);
        assert!(names.insert(&row.row), "{} stands twice", row.row);
    }
    for experiment in lab::experiments::<Dimmnet1>() {
        let checks = rows().filter(|row| row.experiment == experiment.id && row.pass.is_some());
        assert!(checks.count() > 0, "{} checks nothing", experiment.id);
    }
}

/// Each row of the steps is a count, and is shown as one.
#[test]
fn counts_are_whole_numbers_with_a_unit() {
    let counts: Vec<_> = rows().filter(|row| row.experiment == "X5").collect();
    assert!(counts.len() > 5);
    for row in counts {
        assert_eq!(
            row.ours_text(),
            format!("{} {}", row.ours as u32, row.unit),
            "{}",
            row.row
        );
    }
}

/// The two numbers of the report are compared, and nothing was fitted on them.
#[test]
fn the_reports_numbers_are_predictions() {
    let stated = rows().filter_map(|row| match row.paper {
        Some(Paper::Value(value)) => Some((row.row.as_str(), value, row.kind)),
        _ => None,
    });
    let expected = [
        ("fig2.soft_never_above", 22.0, Some(Kind::Prediction)),
        ("fig2.continued", 52.0, Some(Kind::Prediction)),
    ];
    assert_eq!(stated.collect::<Vec<_>>(), expected);
}

#[test]
fn figures_and_profile_are_drawn() {
    let plots: BTreeSet<_> = outcomes()
        .iter()
        .flat_map(|outcome| &outcome.plots)
        .map(|plot| plot.id)
        .collect();
    assert_eq!(
        plots,
        [
            "fig2",
            "fig3",
            "fig4",
            "sec4.4",
            "sec6-indirect",
            "sec6-message",
            "sec6-chain",
            "sec6-chain-rdma"
        ]
        .into()
    );
    let stacks: Vec<_> = outcomes().iter().flat_map(|outcome| &outcome.stacks).collect();
    assert_eq!(stacks.len(), 1);
    assert!(
        stacks[0]
            .bars
            .iter()
            .all(|bar| bar.parts.len() == stacks[0].parts.len())
    );
}
