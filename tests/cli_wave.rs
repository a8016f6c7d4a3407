//! `tsunagi wave`: every name of the saved signal lists is in the wave, and VCD and FST tell the same.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::tsunagi;
use wellen::simple;

/// Every signal's changes by its full name: (time, value) pairs.
fn changes(path: &Path) -> BTreeMap<String, Vec<(u64, String)>> {
    let mut wave = simple::read(path).expect("a wave that wellen reads");
    let vars: Vec<_> = {
        let all = wave.hierarchy();
        all.all_vars()
            .map(|v| (all[v].full_name(all), all[v].signal_ref()))
            .collect()
    };
    let signals: Vec<_> = vars.iter().map(|(_, signal)| *signal).collect();
    wave.load_signals(&signals);
    let times = wave.time_table();
    let values = |signal| {
        let signal = wave.get_signal(signal).expect("loaded");
        signal
            .iter_changes()
            .map(|(at, value)| (times[at as usize], value.to_string()))
            .collect()
    };
    // An element of an array is a name of its own in one format and inside the array's in the other, which adds a range of one bit.
    let whole = |name: String| match name.replace(".[", "[") {
        name if name.ends_with("][0]") => name[..name.len() - 3].to_owned(),
        name => name,
    };
    vars.into_iter()
        .map(|(name, signal)| (whole(name), values(signal)))
        .collect()
}

fn make(scenario: &str, format: &str, out: &Path) {
    let (code, _, error) = tsunagi(&["wave", scenario, "--format", format, "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{error}");
}

/// Names of a GTKWave save file, without the range of their bits.
fn gtkwave_names(text: &str) -> Vec<&str> {
    let signal = |line: &&str| !line.starts_with(['[', '@', '-']);
    text.lines()
        .filter(signal)
        .map(|line| line.split('[').next().expect("a first part"))
        .collect()
}

fn surfer_names(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("variable_add "))
        .collect()
}

/// That a word comes to the second node.
const CENJU3: &str = "nic_1.cenju3_nic.rx_valid_i";
const AP1000P: &str = "cell1.ap1000p_cell.rx_valid_i";

#[test]
fn every_listed_signal_is_in_the_wave_and_both_formats_agree() {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = [
        ("cenju3/one-word", CENJU3),
        ("cenju3/rmwrite", CENJU3),
        ("cenju3/invalidate", CENJU3),
        ("ap1000p/put", AP1000P),
        ("ap1000p/stream", AP1000P),
        ("ap1000p/get", AP1000P),
        ("ap1000p/load", AP1000P),
    ];
    for (scenario, arrives) in scenarios {
        let stem = folder.path().join(scenario.replace('/', "-"));
        make(scenario, "fst", folder.path());
        let fst = changes(&stem.with_extension("fst"));
        let list = fs::read_to_string(stem.with_extension("gtkw")).unwrap();
        assert!(
            list.contains(&format!("[dumpfile] \"{}.fst\"", scenario.replace('/', "-"))),
            "{list}"
        );
        let commands = fs::read_to_string(stem.with_extension("sucl")).unwrap();
        let (gtkwave, surfer) = (gtkwave_names(&list), surfer_names(&commands));
        assert!(gtkwave.len() > 40 && gtkwave == surfer, "{gtkwave:?}\n{surfer:?}");
        for name in gtkwave {
            assert!(
                fst.contains_key(name),
                "{name} is not in the wave of {scenario}; it has {:?}",
                fst.keys().take(40).collect::<Vec<_>>()
            );
        }
        assert!(fst[arrives].len() > 2, "nothing arrives in the wave of {scenario}");
        make(scenario, "vcd", folder.path());
        let vcd = changes(&stem.with_extension("vcd"));
        assert_eq!(
            vcd.keys().find(|name| !fst.contains_key(*name)),
            None,
            "only in the VCD of {scenario}"
        );
        assert_eq!(
            fst.keys().find(|name| !vcd.contains_key(*name)),
            None,
            "only in the FST of {scenario}"
        );
        for (name, changes) in &fst {
            assert!(
                vcd[name] == *changes,
                "{name} differs between VCD and FST in {scenario}"
            );
        }
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (code, _, error) = tsunagi(&["wave", "cenju3/one-word", "--out", "/proc/none"]);
    assert_eq!(code, 3);
    assert!(error.contains("/proc/none"), "{error}");
}
