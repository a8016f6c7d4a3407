//! The command's manners: what it says of wrong input, and its exit codes.

use crate::tsunagi;

/// Wrong usage, each with words that its error must contain: the thing, and the mend.
const WRONG: [(&[&str], &[&str]); 33] = [
    (&["repro", "cenju4"], &["cenju4", "cenju3"]),
    (&["repro", "cenju3", "--experiment", "E99"], &["E99", "E2", "E12"]),
    (
        &["repro", "cenju3", "--backend", "fpga"],
        &["fpga", "rtl", "model", "both"],
    ),
    (&["repro", "cenju3", "--set", "no_such=1"], &["no_such", "r_thresh"]),
    (
        &["repro", "cenju3", "--set", "r_tresh=1"],
        &["r_tresh", "did you mean `r_thresh`?"],
    ),
    (
        &["run", "dimmnet1", "bot"],
        &["bot", "dimmnet1 has no such scenario", "did you mean `botf`?"],
    ),
    (
        &["wave", "cenju3/oneword"],
        &["cenju3/oneword", "did you mean `cenju3/one-word`?"],
    ),
    (&["repro", "cenju3", "--set", "r_thresh"], &["r_thresh", "name=value"]),
    (&["repro", "cenju3", "--set", "r_thresh=many"], &["r_thresh=many"]),
    (&["repro", "cenju3", "--set", "r_thresh=0"], &["r_thresh", "8", "496"]),
    (
        &["repro", "cenju3", "--set", "buf_flits=64"],
        &["buf_flits", "64", "32"],
    ),
    (
        &["send", "Cargo.toml", "--pes", "64", "--to", "63", "--set", "stages=2"],
        &["64 PEs", "2 stages", "16"],
    ),
    (
        &["run", "cenju3", "one-word", "--set", "mem_bytes=65536"],
        &["mem_bytes", "65536"],
    ),
    (
        &[
            "run",
            "cenju3",
            "rmwrite",
            "--bytes",
            "131072",
            "--set",
            "mem_bytes=1048576",
        ],
        &["mem_bytes", "1048576", "1179648"],
    ),
    (&["repro", "cenju3", "--frobnicate"], &["--frobnicate"]),
    (&["run", "cenju3", "two-words"], &["two-words", "one-word"]),
    (&["run", "cenju3", "stream", "--bytes", "33"], &["33", "32"]),
    (&["run", "cenju3", "stream", "--bytes", "0"], &["0", "131072"]),
    (
        &["run", "cenju3", "rmwrite", "--bytes", "131073"],
        &["131073", "131072"],
    ),
    (&["run", "cenju3", "one-word", "--bytes", "4"], &["--bytes", "one-word"]),
    (
        &["run", "cenju3", "rmwrite", "--at-end", "stopped"],
        &["--at-end", "rmwrite"],
    ),
    (
        &["run", "cenju3", "ping-pong", "--count", "1"],
        &["--count 1", "2 rounds"],
    ),
    (&["send", "Cargo.toml", "--pes", "8", "--to", "8"], &["PE 8", "0 to 7"]),
    (
        &["send", "Cargo.toml", "--pes", "8", "--from", "200"],
        &["PE 200", "0 to 7"],
    ),
    (&["send", "Cargo.toml", "--pes", "257"], &["257", "256"]),
    (
        &["wave", "cenju3/everything"],
        &["cenju3/everything", "cenju3/one-word", "ap1000p/put"],
    ),
    (&["run", "cenju3", "put"], &["put", "cenju3", "rmwrite"]),
    (
        &["run", "ap1000p", "rmwrite"],
        &["rmwrite", "ap1000p", "put", "ping-pong"],
    ),
    (
        &["run", "ap1000p", "put", "--bytes", "6"],
        &["--bytes 6", "multiple of 4"],
    ),
    (&["run", "ap1000p", "load", "--bytes", "4"], &["--bytes", "load"]),
    (
        &[
            "run",
            "ap1000p",
            "get",
            "--bytes",
            "131072",
            "--set",
            "mem_bytes=1048576",
        ],
        &["mem_bytes", "524544", "mem_bytes=1572864"],
    ),
    (
        &["run", "ap1000p", "put", "--set", "columns=1", "--set", "rows=1"],
        &["columns x rows", "neighbour"],
    ),
    (
        &["send", "Cargo.toml", "--machine", "ap1000p", "--pes", "37"],
        &["columns", "37", "32"],
    ),
];

#[test]
fn wrong_usage_names_the_thing_and_what_is_known() {
    for (args, words) in WRONG {
        let (code, _, error) = tsunagi(args);
        assert_eq!(code, 2, "{args:?}: {error}");
        for word in words {
            assert!(error.contains(word), "{args:?} does not say {word}: {error}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let (code, _, error) = tsunagi(&["send", "no/such/file", "--backend", "model"]);
    assert_eq!(code, 3, "{error}");
    assert!(
        error.contains("no/such/file") && error.contains("No such file"),
        "{error}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (code, _, error) = tsunagi(&[
        "report",
        "cenju3",
        "--experiment",
        "E2",
        "--backend",
        "model",
        "--out",
        "/proc/none/report.html",
    ]);
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("/proc/none"), "{error}");
}

#[test]
fn every_command_has_help_with_its_options() {
    for command in [
        "list",
        "run",
        "repro",
        "send",
        "soak",
        "wave",
        "report",
        "bench",
        "completions",
        "man",
    ] {
        let (code, text, _) = tsunagi(&[command, "--help"]);
        assert_eq!(code, 0);
        assert!(text.contains("Usage: tsunagi"), "{text}");
        assert!(text.contains("\nExample"), "{command} shows no example");
    }
    assert!(tsunagi(&["--help"]).1.contains("Examples:"));
}

#[test]
fn list_shows_experiments_waves_and_parameters_with_origins() {
    let (code, text, _) = tsunagi(&["list"]);
    assert_eq!(code, 0);
    for word in [
        "cenju3",
        "E2",
        "Fig. 14",
        "ping-pong",
        "cenju3/one-word",
        "put, get, load",
        "ap1000p/put",
        "r_thresh",
        "calibrated",
        "fig11",
    ] {
        assert!(text.contains(word), "list does not show {word}");
    }
    let (_, text, _) = tsunagi(&["list", "--json"]);
    let machines: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cenju3 = &machines[0];
    assert_eq!(cenju3["machine"], "cenju3");
    assert_eq!(cenju3["experiments"].as_array().unwrap().len(), 13);
    assert!(
        cenju3["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .any(|p| p["name"] == "s_gap" && p["origin"] == "calibrated")
    );
}

#[test]
fn list_shows_one_machine_or_only_its_parameters() {
    let (code, text, _) = tsunagi(&["list", "ap1000p"]);
    assert!(code == 0 && text.contains("Machine ap1000p") && text.contains("ap1000p/put"));
    assert!(!text.contains("Machine cenju3"));
    let (code, text, _) = tsunagi(&["list", "cenju3", "--params"]);
    assert!(code == 0 && text.contains("r_thresh") && !text.contains("Scenarios"));
    let (_, text, _) = tsunagi(&["list", "cenju3", "--params", "--json"]);
    let machines: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(machines[0]["parameters"].is_array() && machines[0]["experiments"].is_null());
}

/// Lines of CSV, of which the first names the columns.
fn csv(args: &[&str]) -> Vec<Vec<String>> {
    let (code, text, error) = tsunagi(args);
    assert_eq!(code, 0, "{error}");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let of = |line: Result<csv::StringRecord, csv::Error>| line.unwrap().iter().map(str::to_owned).collect();
    reader.records().map(of).collect()
}

#[test]
fn csv_says_what_json_says() {
    let lines = csv(&["list", "cenju3", "--csv"]);
    assert_eq!(lines[0][..4], ["machine", "name", "value", "unit"]);
    assert!(lines.iter().any(|line| line[1] == "s_gap" && line[6] == "calibrated"));
    let args = ["run", "cenju3", "one-word", "--backend", "model"];
    let lines = csv(&[&args[..], &["--csv"]].concat());
    let (_, text, _) = tsunagi(&[&args[..], &["--json"]].concat());
    let values: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(lines.len(), values.len() + 1);
    for line in &lines[1..] {
        assert_eq!(values[&line[0]].as_f64(), line[1].parse().ok(), "{line:?}");
    }
    let args = ["repro", "cenju3", "--experiment", "E2", "--backend", "model"];
    let lines = csv(&[&args[..], &["--csv"]].concat());
    let (_, text, _) = tsunagi(&[&args[..], &["--json"]].concat());
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let at = |name: &str| lines[0].iter().position(|column| column == name).unwrap();
    assert_eq!(lines.len(), rows.len() + 1);
    for (line, row) in lines[1..].iter().zip(&rows) {
        assert_eq!(line[at("row")], row["row"].as_str().unwrap());
        assert_eq!(line[at("ours")].parse().ok(), row["ours"].as_f64());
        let paper = row["paper"].as_f64().or_else(|| row["paper"][0].as_f64());
        assert_eq!(line[at("paper_low")].parse().ok(), paper);
    }
    assert_eq!(tsunagi(&["list", "--csv", "--json"]).0, 2, "one format at a time");
}

#[test]
fn shells_complete_it_and_man_shows_it() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, text, _) = tsunagi(&["completions", shell]);
        assert!(
            code == 0 && text.contains("repro") && text.contains("cenju3"),
            "{shell}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man");
    let (code, text, _) = tsunagi(&["man", "--out", out.to_str().unwrap()]);
    assert!(code == 0 && text.contains("tsunagi.1"), "{text}");
    let page = std::fs::read_to_string(out.join("tsunagi-repro.1")).unwrap();
    assert!(page.contains("experiment") && page.contains(".TH"), "{page}");
}
