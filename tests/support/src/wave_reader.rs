//! Reading wave files, and what every wave of ours keeps: the grid of its clocks.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tsunagi::Picos;
use tsunagi::harness::wave::{Probe, WaveRequest};
use wellen::simple;

/// Each signal's changes by its full name: (time, value) pairs.
pub type Changes = BTreeMap<String, Vec<(u64, String)>>;

/// The changes of every signal whose name is `wanted`.
pub fn changes(path: &Path, wanted: impl Fn(&str) -> bool) -> Changes {
    let mut wave = simple::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let wanted: Vec<_> = {
        let all = wave.hierarchy();
        let vars = all.all_vars();
        let vars = vars.map(|var| (all[var].full_name(all), all[var].signal_ref()));
        vars.filter(|(name, _)| wanted(name)).collect()
    };
    wave.load_signals(&wanted.iter().map(|(_, signal)| *signal).collect::<Vec<_>>());
    let times = wave.time_table();
    let values = |signal| {
        let signal = wave.get_signal(signal).expect("loaded");
        let values = signal.iter_changes();
        values
            .map(|(at, value)| (times[at as usize], value.to_string()))
            .collect()
    };
    wanted
        .into_iter()
        .map(|(name, signal)| (name, values(signal)))
        .collect()
}

/// A clock rises at the multiples of its period, plus a phase, picoseconds.
pub type Grid = (u64, u64);

/// Checks every clock of a wave, in whatever unit. At the top of a unit its name gives its grid; deeper inside any of
/// these grids will do. It falls at half of its period, and runs from the wave's first instant to its last. Gives the
/// number of clocks.
pub fn check_clocks(path: &Path, grids: &[(&str, Grid)]) -> usize {
    let is_clock = |name: &str| name.rsplit('.').next().is_some_and(|last| last.contains("clk"));
    let clocks = changes(path, is_clock);
    let ends = clocks.values().flatten().map(|(at, _)| *at);
    let (first, last) = (ends.clone().min().expect("a clock"), ends.max().expect("a clock"));
    for (name, changes) in &clocks {
        let top = grids
            .iter()
            .find(|(known, _)| name.matches('.').count() <= 2 && name.ends_with(&format!(".{known}")));
        let grids: Vec<Grid> = top.map_or_else(
            || grids.iter().map(|(_, grid)| *grid).collect(),
            |(_, grid)| vec![*grid],
        );
        let faults: Vec<String> = grids
            .iter()
            .filter_map(|grid| fault(changes, *grid, first, last))
            .collect();
        assert!(faults.len() < grids.len(), "{name} in {}: {faults:?}", path.display());
    }
    clocks.len()
}

/// What is wrong with a clock between these instants.
fn fault(changes: &[(u64, String)], (period, phase): Grid, first: u64, last: u64) -> Option<String> {
    let half = period / 2;
    let (begin, _) = changes.first()?;
    if *begin > first {
        return Some(format!("it begins at {begin}, the wave at {first}"));
    }
    for (at, value) in &changes[1..] {
        let on_grid = if value == "1" { 0 } else { half };
        if (at + period - phase % period) % period != on_grid {
            return Some(format!(
                "it becomes {value} at {at}, off the grid of {period} and {phase}"
            ));
        }
    }
    let times: Vec<u64> = changes.iter().map(|(at, _)| *at).chain([last]).collect();
    // The first is the level at the wave's begin; after the last change there is less than another half.
    let gap = times
        .windows(2)
        .skip(1)
        .find(|pair| pair[1] - pair[0] > half.max(period - half));
    gap.map(|pair| format!("it stands from {} to {}", pair[0], pair[1]))
}

/// Runs a bench with its waves on, and checks the clocks of each, unless the bench stops the clock at times. Gives the
/// number of waves.
pub fn check_bench(grid: Option<Grid>, bench: impl FnOnce(&Probe)) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let probe = Probe::new(WaveRequest {
        path: folder.path().join("run.vcd"),
        from: Picos::ZERO,
        to: None,
    });
    bench(&probe);
    probe.written().unwrap();
    let waves: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for wave in &waves {
        assert!(!fs::read(wave).unwrap().contains(&0), "{} is spoilt", wave.display());
        // The nets of a netlist are in no wave (`rtl-flow gate`).
        if std::env::var_os("VERILATED_NETLISTS").is_some() {
            continue;
        }
        match grid {
            Some(grid) => assert!(
                check_clocks(wave, &[("clk_i", grid)]) > 0,
                "{} has clocks",
                wave.display()
            ),
            None => assert!(!changes(wave, |name| name.ends_with("clk_i")).is_empty()),
        }
    }
    waves.len()
}

#[test]
fn a_clock_off_its_grid_is_found() {
    let clock = |edges: &[u64]| -> Vec<(u64, String)> {
        let level = |(i, at): (usize, &u64)| (*at, (i % 2).to_string());
        edges.iter().enumerate().map(level).collect()
    };
    let found = |edges: &[u64], last| fault(&clock(edges), (10, 3), 0, last);
    assert_eq!(found(&[0, 13, 18, 23, 28], 30), None);
    assert!(found(&[0, 13, 17, 23, 28], 30).unwrap().contains("becomes 0 at 17"));
    assert!(found(&[0, 13, 18, 24, 28], 30).unwrap().contains("becomes 1 at 24"));
    assert!(
        found(&[0, 13, 18, 33, 38], 40)
            .unwrap()
            .contains("stands from 18 to 33")
    );
    assert!(found(&[0, 13, 18], 40).unwrap().contains("stands from 18 to 40"));
    assert!(found(&[1, 13, 18], 20).unwrap().contains("begins at 1"));
}
