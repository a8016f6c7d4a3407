//! `tsunagi wave`: every name of the saved signal lists is in the wave, and VCD and FST tell the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use support::wave_reader::{self, Changes, Grid, check_clocks};

use crate::tsunagi;

/// Every signal's changes.
fn changes(path: &Path) -> Changes {
    // One format has a name for each element of an array. The other has the element inside the array's name, and adds a
    // range of one bit.
    let whole = |name: String| match name.replace(".[", "[") {
        name if name.ends_with("][0]") => name[..name.len() - 3].to_owned(),
        name => name,
    };
    let all = wave_reader::changes(path, |_| true);
    all.into_iter().map(|(name, values)| (whole(name), values)).collect()
}

fn make(scenario: &str, format: &str, out: &Path) {
    let (code, _, error) = tsunagi(&["wave", scenario, "--format", format, "--out", out.to_str().unwrap()]);
    assert_eq!(code, 0, "{error}");
}

/// Names of a GTKWave save file, without the range of their bits.
fn gtkwave_names(text: &str) -> Vec<&str> {
    let signal = |line: &&str| !line.starts_with(['[', '@', '-', '*', '^']);
    text.lines().filter(signal).map(without_range).collect()
}

/// A signal of more than one bit has its range behind its name.
fn without_range(name: &str) -> &str {
    match name.rsplit_once('[') {
        Some((rest, range)) if range.ends_with(":0]") => rest,
        _ => name,
    }
}

/// The signals whose values have names in GTKWave, and the file of the names.
fn named(list: &str) -> Vec<(&str, &Path)> {
    let lines: Vec<&str> = list.lines().collect();
    let triples = lines.windows(3).filter(|w| w[1].starts_with('^'));
    triples
        .map(|w| {
            assert_eq!(w[0], "@2022", "hexadecimal with names: {list}");
            let (_, file) = w[1].split_once(' ').expect("a file");
            (without_range(w[2]), Path::new(file))
        })
        .collect()
}

/// Each name by its value, of a file of either viewer.
fn names(file: &Path) -> BTreeMap<u64, String> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines = text.lines().filter(|line| !line.contains(": "));
    let pair = |line: &str| {
        let (value, name) = line.split_once(' ').expect("a value and a name");
        let value = u64::from_str_radix(value.trim_start_matches("0x"), 16).expect("hexadecimal");
        (value, name.to_owned())
    };
    let all: BTreeMap<u64, String> = lines.clone().map(pair).collect();
    assert_eq!(all.len(), lines.count(), "{}: a value stands twice", file.display());
    all
}

/// The names that a signal takes, and the values without one.
fn taken(changes: &[(u64, String)], names: &BTreeMap<u64, String>) -> (BTreeSet<String>, BTreeSet<u64>) {
    let values = changes
        .iter()
        .map(|(_, bits)| u64::from_str_radix(bits, 2).expect("bits"));
    let (with, without): (Vec<u64>, Vec<u64>) = values.partition(|value| names.contains_key(value));
    (
        with.iter().map(|value| names[value].clone()).collect(),
        without.into_iter().collect(),
    )
}

/// Checks the names of a wave's signals in both viewers; gives those that each signal takes. What is no state may be
/// no name: an address of no register, the first byte of a word that is no header.
fn check_names(folder: &Path, list: &str, commands: &str, fst: &Changes) -> Vec<(String, BTreeSet<String>)> {
    let rows: Vec<&str> = commands.lines().filter(|line| line.contains("_add ")).collect();
    let lines: Vec<&str> = commands.lines().collect();
    let formats = lines.windows(2).filter_map(|pair| {
        let focused = pair[0].strip_prefix("item_focus ")?;
        let format = pair[1].strip_prefix("item_set_format ")?;
        Some((focused, format))
    });
    // Lanes are text, and have no names.
    let (lanes, set): (Vec<_>, Vec<_>) = formats.partition(|(_, format)| *format == "ASCII");
    let row = |letters: &str| {
        letters
            .bytes()
            .fold(0, |row, letter| 16 * row + usize::from(letter - b'a'))
    };
    for (focused, _) in lanes {
        assert!(
            rows[row(focused)].starts_with("variable_add lanes."),
            "{focused}: {commands}"
        );
    }
    let named = named(list);
    assert_eq!(set.len(), named.len(), "{commands}");
    let mut all = Vec::new();
    for ((signal, file), (focused, format)) in named.into_iter().zip(set) {
        let row = row(focused);
        assert_eq!(rows[row], format!("variable_add {signal}"), "row {row} of {commands}");
        let mapping = folder.join(format!(".surfer/mappings/{format}.txt"));
        let known = names(file);
        assert_eq!(known, names(&mapping), "{}", mapping.display());
        assert!(
            fs::read_to_string(&mapping)
                .unwrap()
                .starts_with(&format!("Name: {format}\nBits: "))
        );
        let (taken, without) = taken(&fst[signal], &known);
        assert!(
            without.is_empty() || !signal.ends_with("_q"),
            "{signal} takes {without:?} without name"
        );
        all.push((signal.to_owned(), taken));
    }
    all
}

#[test]
fn a_state_without_its_name_is_found() {
    let changes = ["00", "10"].map(|bits| (0, bits.to_owned()));
    let names: BTreeMap<u64, String> = [(0, "Idle".to_owned()), (2, "Busy".to_owned())].into();
    assert_eq!(taken(&changes, &names).1, BTreeSet::new());
    let twin = [(0, "Idle".to_owned())].into();
    assert_eq!(taken(&changes, &twin).1, [2].into());
}

fn surfer_names(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("variable_add "))
        .collect()
}

/// How many lanes stand in both lists before all signals, each to be shown as text.
fn lanes_in_front(list: &str, commands: &str) -> usize {
    let is_lane = |name: &&&str| name.starts_with("lanes.");
    let (gtkwave, surfer) = (gtkwave_names(list), surfer_names(commands));
    let lanes = gtkwave.iter().take_while(is_lane).count();
    assert_eq!(lanes, gtkwave.iter().filter(is_lane).count(), "a lane behind signals");
    for name in &surfer[..lanes] {
        assert!(
            list.contains(&format!("@820\n{name}[255:0]\n")),
            "{name} is no text in {list}"
        );
    }
    assert_eq!(commands.matches("item_set_format ASCII\n").count(), lanes, "{commands}");
    lanes
}

#[test]
#[should_panic(expected = "a lane behind signals")]
fn a_lane_behind_signals_is_found() {
    let name = |name: &str| format!("@820\n{name}[255:0]\n");
    lanes_in_front(
        &(name("lanes.a.link_out") + &name("a.clk_i") + &name("lanes.a.link_in")),
        "",
    );
}

/// How a machine's waves call what is looked at: a word leaves the first node, and comes to the second.
struct Shown {
    sends: &'static str,
    arrives: &'static str,
    /// How many lanes both nodes have.
    lanes: usize,
    clocks: &'static [(&'static str, Grid)],
}

const CENJU3: Shown = Shown {
    sends: "nic_0.cenju3_nic.tx_valid_o",
    arrives: "nic_1.cenju3_nic.rx_valid_i",
    lanes: 12,
    clocks: &[
        ("io_clk_i", (40_000, 0)),
        ("net_clk_i", (50_000, 0)),
        ("clk_i", (50_000, 0)),
    ],
};
const AP1000P: Shown = Shown {
    sends: "cell0.ap1000p_cell.tx_valid_o",
    arrives: "cell1.ap1000p_cell.rx_valid_i",
    lanes: 16,
    clocks: &[("clk_i", (20_000, 0))],
};
const DIMMNET1: Shown = Shown {
    sends: "nic_0.dimmnet1_nic.link_tx_valid_o",
    arrives: "nic_1.dimmnet1_nic.link_rx_valid_i",
    lanes: 12,
    clocks: &[
        ("core_clk_i", (20_000, 0)),
        ("link_clk_i", (16_000, 0)),
        ("clk_i", (16_000, 0)),
    ],
};

const EMX: Shown = Shown {
    sends: "pe_0.emx_pe.link_out_valid_o",
    arrives: "pe_1.emx_pe.link_in_valid_i",
    lanes: 12,
    clocks: &[("clk_i", (80_000, 0))],
};

/// The number in the line of a save file that begins so.
fn number<T: std::str::FromStr>(list: &str, begin: &str, word: usize) -> T {
    let line = list.lines().find_map(|line| line.strip_prefix(begin));
    let word = line.and_then(|line| line.split_whitespace().nth(word)?.parse().ok());
    word.unwrap_or_else(|| panic!("no line `{begin}` with a number in\n{list}"))
}

/// What GTKWave shows first, in picoseconds: at zoom z, 200 pixels are 2^-z.
fn window(list: &str) -> (u64, u64) {
    let (start, width): (u64, f64) = (number(list, "[timestart]", 0), number(list, "[size]", 0));
    let zoom: f64 = number(list, "*", 0);
    // Half of its width are surely waves.
    (start, start + (width / 2.0 * (-zoom).exp2() / 200.0) as u64)
}

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
        ("dimmnet1/aotf", DIMMNET1),
        ("dimmnet1/botf", DIMMNET1),
        ("dimmnet1/stop", DIMMNET1),
        ("emx/packet", EMX),
        ("emx/block", EMX),
        ("emx/exchange", EMX),
    ];
    let mut taken: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for (scenario, shown) in &scenarios {
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
        assert_eq!(
            lanes_in_front(&list, &commands),
            shown.lanes,
            "{scenario}: {list}\n{commands}"
        );
        for name in gtkwave {
            assert!(
                fst.contains_key(name),
                "{name} is not in the wave of {scenario}; it has {:?}",
                fst.keys().take(40).collect::<Vec<_>>()
            );
        }
        let machine = scenario.split('/').next().expect("a machine");
        for (signal, names) in check_names(folder.path(), &list, &commands, &fst) {
            taken.entry((machine, signal)).or_default().extend(names);
        }
        assert!(
            fst[shown.arrives].len() > 2,
            "nothing arrives in the wave of {scenario}"
        );
        assert!(commands.lines().all(|line| line.split(' ').count() <= 2), "{commands}");
        let (from, to) = window(&list);
        let sent: Vec<u64> = fst[shown.sends].iter().skip(1).map(|(at, _)| *at).collect();
        let marked: u64 = number(&list, "*", 1);
        assert!(
            sent.iter().any(|at| (from..to).contains(at)),
            "{scenario}: no edge of {sent:?} in {from} to {to}"
        );
        assert!(
            (from..to).contains(&marked) && to - from < 10_000_000,
            "{scenario}: {marked} in {from} to {to}"
        );
        assert_eq!(number::<u64>(&commands, "cursor_set ", 0), marked);
        assert!(check_clocks(&stem.with_extension("fst"), shown.clocks) > 10);
        make(scenario, "vcd", folder.path());
        assert!(check_clocks(&stem.with_extension("vcd"), shown.clocks) > 10);
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
    // Registers, and at least three units whose states can be followed.
    for machine in ["cenju3", "ap1000p", "dimmnet1", "emx"] {
        let ours = || taken.iter().filter(|((of, _), _)| *of == machine);
        let registers = ours().find(|((_, signal), names)| signal.ends_with("addr_i") && names.len() >= 3);
        assert!(registers.is_some(), "{machine}: {taken:?}");
        let states = ours().filter(|((_, signal), names)| signal.ends_with("_q") && names.len() >= 3);
        assert!(states.count() >= 3, "{machine}: {taken:?}");
    }
}

#[test]
fn clocks_of_other_periods_and_phases_keep_their_grid_too() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let args = [
        "wave",
        "cenju3/one-word",
        "--out",
        out,
        "--set",
        "io_period=33",
        "--set",
        "io_phase=7",
        "--set",
        "net_period=47",
    ];
    let (code, _, error) = tsunagi(&args);
    assert_eq!(code, 0, "{error}");
    let clocks = [
        ("io_clk_i", (33_000, 7_000)),
        ("net_clk_i", (47_000, 0)),
        ("clk_i", (47_000, 0)),
    ];
    assert!(check_clocks(&folder.path().join("cenju3-one-word.fst"), &clocks) > 10);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (code, _, error) = tsunagi(&["wave", "cenju3/one-word", "--out", "/proc/none"]);
    assert_eq!(code, 3);
    assert!(error.contains("/proc/none"), "{error}");
}
