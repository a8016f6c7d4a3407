//! `tsunagi wave`: every name of the saved signal lists is in the wave, and VCD and FST tell the same.

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
    let signal = |line: &&str| !line.starts_with(['[', '@', '-', '*']);
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
        let add = format!("variable_add {name}\nitem_focus ");
        let (_, behind) = commands.split_once(&add).expect("it is listed");
        assert_eq!(behind.lines().nth(1), Some("item_set_format ASCII"), "{name}");
    }
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
    lanes: 8,
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
    lanes: 0,
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
