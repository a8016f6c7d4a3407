//! A row's `depends_on` lists the parameters that move it. On the golden model every parameter of the table is changed
//! by a step, and every row compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use tsunagi::cenju3::Cenju3;
use tsunagi::cenju3::params::{Config, PARAMS, Param};
use tsunagi::repro::row::{BackendKind, Row};
use tsunagi::repro::{Request, lab, pool};

/// No backend can have another value of these: they are in the wire format, or behind a register that bounds them.
const WIRED: [&str; 5] = [
    "link_bytes",
    "packet_bytes",
    "header_bytes",
    "message_max",
    "fifo_words",
];

/// Two other values of a parameter: one that a user would try, and one that shows even behind something slower.
fn steps(p: &Param) -> (f64, f64) {
    let v = p.value;
    let (near, far) = match (p.name, p.unit) {
        ("pes", _) => (4.0, 16.0),
        ("stages", _) => (3.0, 1.0),
        ("mem_bytes", _) => (v * 2.0, v * 4.0),
        ("io_phase", _) => (7.0, 25.0),
        ("net_phase", _) => (13.0, 7.0),
        ("bus_bytes", _) => (8.0, 8.0),
        ("r_thresh", _) => (368.0, 128.0),
        ("crossing_words", _) => (24.0, 8.0),
        ("preinval_kernel", _) => (2.0, 20.0),
        ("buf_flits", _) => (64.0, 16.0),
        ("outstanding", _) => (3.0, 1.0),
        ("burst_beats", _) => (16.0, 4.0),
        ("queue_headers", _) => (128.0, 1.0),
        ("parcel_max", _) => (v / 2.0, 1024.0),
        ("chunk_bytes", _) => (v / 2.0, 512.0),
        ("piece_bytes", _) => (1024.0, 8192.0),
        ("cache_line", _) => (64.0, 128.0),
        ("request_bytes", _) => (128.0, 512.0),
        ("mem_rate_limit", _) => (160.0, 60.0),
        (_, "flag") => (1.0 - v, 1.0 - v),
        (_, "us") => (v * 1.5, v * 20.0),
        (_, "ns") => (v * 1.25, v * 25.0),
        (_, "MB/s") => (v * 1.5, v / 8.0),
        _ => (v + 2.0, v * 20.0),
    };
    // What is built in has no range.
    let built_in = p.range.0 == p.range.1;
    (near, if built_in { far } else { far.min(p.range.1) })
}

/// The paper's machine with parameters changed, those too that a user cannot set because the RTL has them built in.
fn changed(changes: &[(&Param, f64)]) -> Config {
    let mut config = Config::paper();
    for (p, value) in changes {
        let wired = match p.name {
            "sync_cycles" => &mut config.sync_cycles,
            "switch_cycles" => &mut config.switch_cycles,
            "burst_beats" => &mut config.burst_beats,
            "outstanding" => &mut config.outstanding,
            "crossing_words" => &mut config.crossing_words,
            name => {
                config.set(name, *value).unwrap_or_else(|e| panic!("{e}"));
                continue;
            }
        };
        *wired = *value as u32;
    }
    config
}

/// All rows of some experiments; none for all.
fn rows(experiments: &[&str], changes: &[(&Param, f64)]) -> Vec<Row> {
    let request = Request {
        experiments,
        backends: &[BackendKind::Model],
        config: &changed(changes),
        full: false,
        threads: pool::threads(),
    };
    let outcomes = lab::run::<Cenju3>(&request, |_, _| ()).unwrap_or_else(|error| panic!("{changes:?}: {error}"));
    outcomes.into_iter().flat_map(|o| o.rows).collect()
}

fn paper() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| rows(&[], &[]))
}

/// By experiment, the rows that have the same list.
type Groups = BTreeMap<&'static str, BTreeMap<Vec<&'static str>, Vec<Row>>>;

fn groups<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Groups {
    let mut groups = Groups::new();
    for row in rows {
        let lists = groups.entry(row.experiment).or_default();
        lists.entry(row.depends_on.clone()).or_default().push(row.clone());
    }
    groups
}

/// Names of the rows that come out otherwise with the changes.
fn moved(experiment: &str, changes: &[(&Param, f64)]) -> BTreeSet<String> {
    let before: BTreeMap<&str, f64> = paper().iter().map(|r| (r.row.as_str(), r.ours)).collect();
    let now = rows(&[experiment], changes).into_iter();
    now.filter(|r| before[r.row.as_str()].to_bits() != r.ours.to_bits())
        .map(|r| r.row)
        .collect()
}

fn settable() -> impl Iterator<Item = &'static Param> {
    PARAMS.iter().filter(|p| !WIRED.contains(&p.name))
}

/// Parameters that move a row and are not in its list. All parameters outside a list are changed at once: if one of
/// them moved a row, another would have to move it back to the bit. A flag may switch off another parameter, so each
/// flag is changed alone.
fn missing(groups: Groups) -> Vec<String> {
    let mut found = Vec::new();
    for (experiment, lists) in groups {
        for (list, rows) in lists {
            let left_out = settable().filter(|p| !list.contains(&p.name));
            let (flags, numbers): (Vec<&Param>, Vec<&Param>) = left_out.partition(|p| p.unit == "flag");
            let step = |p: &&'static Param| (*p, steps(p).0);
            let mut sets: Vec<Vec<_>> = flags.iter().map(|p| vec![step(p)]).collect();
            sets.push(numbers.iter().map(step).collect());
            for set in sets {
                let of_list = |set: &[_]| {
                    let moved = moved(experiment, set);
                    rows.iter().find(|r| moved.contains(&r.row)).map(|r| r.row.clone())
                };
                if of_list(&set).is_some() {
                    let alone = set
                        .iter()
                        .filter_map(|change| Some((of_list(&[*change])?, change.0.name)));
                    found.extend(alone.map(|(row, name)| format!("{row} moves with {name}")));
                }
            }
        }
    }
    found
}

/// Parameters in lists of an experiment that move none of the rows that list them, by neither step.
fn idle(groups: Groups) -> Vec<String> {
    let mut found = Vec::new();
    for (experiment, lists) in groups {
        for p in settable() {
            let listing = lists.iter().filter(|(list, _)| list.contains(&p.name));
            let rows: Vec<&str> = listing.flat_map(|(_, rows)| rows).map(|r| r.row.as_str()).collect();
            let (near, far) = steps(p);
            let moves = |value: f64| {
                let moved = moved(experiment, &[(p, value)]);
                rows.iter().any(|row| moved.contains(*row))
            };
            if !rows.is_empty() && !moves(near) && !moves(far) {
                found.push(format!("{} lists {}", rows[0], p.name));
            }
        }
    }
    found
}

#[test]
fn what_moves_a_row_is_in_its_list() {
    let found = missing(groups(paper()));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// E8, E9 and E13 set parameters of the curves of E4, E7 and E10 and have their lists without them: these stand for
/// them, the costly ones.
#[test]
fn what_is_listed_moves_something() {
    let found = idle(groups(
        paper().iter().filter(|r| !["E8", "E9", "E13"].contains(&r.experiment)),
    ));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The broken twins: a list without what the row lives on, and one with what it does not know.
#[test]
fn a_wrong_list_is_found() {
    let row = paper()
        .iter()
        .find(|r| r.row == "sec6.1.after_sync")
        .expect("a row of E5");
    let mut without = row.clone();
    without.depends_on.retain(|name| *name != "sync_idle");
    assert_eq!(missing(groups([&without])), ["sec6.1.after_sync moves with sync_idle"]);
    let mut with = row.clone();
    with.depends_on.push("cache_line");
    assert_eq!(idle(groups([&with])), ["sec6.1.after_sync lists cache_line"]);
    assert!(missing(groups([row])).is_empty() && idle(groups([row])).is_empty());
}

#[test]
fn every_parameter_has_two_steps_within_its_range() {
    for p in settable().filter(|p| p.range.0 < p.range.1) {
        let (near, far) = steps(p);
        let (min, max) = p.range;
        for value in [near, far] {
            assert!((min..=max).contains(&value) && value != p.value, "{}: {value}", p.name);
        }
    }
}
