//! Every criterion of the paper, on both backends. Chance has no part in it: a soak leaves this module out.

mod depends;
mod model;
mod rtl;

use std::collections::{BTreeMap, BTreeSet};

use tsunagi::cenju3::Cenju3;
use tsunagi::cenju3::params::Config;
use tsunagi::repro::Request;
use tsunagi::repro::row::{BackendKind, Row};
use tsunagi::repro::{Outcome, lab, pool};

/// RTL parameters that move nearly every row: what bounds the Receiver, and what bounds the network.
const USUAL: [(&str, f64); 2] = [("io_period", 50.0), ("s_gap", 60.0)];

fn run_all(backend: BackendKind, config: &Config, threads: usize) -> Vec<Outcome> {
    run_some(backend, config, threads, &[])
}

fn run_some(backend: BackendKind, config: &Config, threads: usize, experiments: &[&str]) -> Vec<Outcome> {
    let request = Request {
        experiments,
        backends: &[backend],
        config,
        full: false,
        threads,
    };
    lab::run::<Cenju3>(&request, |_, _| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Rows that miss what the paper states, and say why.
const MISSED: [&str; 1] = ["fig14.peak"];

fn assert_every_check_is_met(outcomes: &[Outcome]) {
    let checked = || outcomes.iter().flat_map(|o| &o.rows).filter(|r| r.pass.is_some());
    let say = |r: &Row| format!("{}: {} {} outside {:?} to {:?}", r.row, r.ours, r.unit, r.low, r.high);
    let missed: Vec<&Row> = checked().filter(|r| r.is_missed()).collect();
    let failed: Vec<String> = missed.iter().filter(|r| r.failed()).map(|r| say(r)).collect();
    assert!(failed.is_empty() && checked().count() > 40, "{}", failed.join("\n"));
    assert_eq!(missed.iter().map(|r| r.row.as_str()).collect::<Vec<_>>(), MISSED);
}

/// Every row comes out different when an RTL or memory parameter has another value: its own, where it names one, or
/// of the usual. The second of the usual is for the rows that the first does not move. A row that does not move is no
/// measurement. Its list has the parameter that moves it.
fn assert_each_row_moves(backend: BackendKind, outcomes: &[Outcome]) {
    let rows: Vec<&Row> = outcomes.iter().flat_map(|o| &o.rows).collect();
    let mut moved: BTreeSet<&str> = BTreeSet::new();
    let own: BTreeSet<(&str, u64)> = rows
        .iter()
        .filter_map(|r| r.moves_with.map(|(name, value)| (name, value.to_bits())))
        .collect();
    let own = own.into_iter().map(|(name, value)| (name, f64::from_bits(value), true));
    for (name, value, is_own) in own.chain(USUAL.map(|(name, value)| (name, value, false))) {
        let counts = |row: &Row| row.moves_with == is_own.then_some((name, value));
        let due = rows
            .iter()
            .filter(|row| counts(row) && !moved.contains(row.row.as_str()));
        let experiments: BTreeSet<&str> = due.map(|row| row.experiment).collect();
        if experiments.is_empty() {
            continue;
        }
        let mut config = Config::paper();
        config.set(name, value).expect("a value within the parameter's range");
        let experiments: Vec<&str> = experiments.into_iter().collect();
        let others = run_some(backend, &config, pool::threads(), &experiments);
        let others: BTreeMap<&str, f64> = others
            .iter()
            .flat_map(|o| &o.rows)
            .map(|r| (r.row.as_str(), r.ours))
            .collect();
        for row in rows.iter().filter(|row| counts(row)) {
            if others.get(row.row.as_str()).is_some_and(|other| *other != row.ours) {
                assert!(row.depends_on.contains(&name), "{} moves with {name}", row.row);
                moved.insert(&row.row);
            }
        }
    }
    let still: Vec<&str> = rows
        .iter()
        .map(|r| r.row.as_str())
        .filter(|r| !moved.contains(r))
        .collect();
    assert!(still.is_empty(), "nothing moves {}", still.join(", "));
}
