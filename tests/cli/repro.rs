//! `tsunagi repro`, `run` and `report` on the golden model: their output and files, which depend on nothing but their
//! input.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::tsunagi;

const FIELDS: [&str; 16] = [
    "machine",
    "experiment",
    "row",
    "quantity",
    "unit",
    "paper",
    "expected",
    "ours",
    "low",
    "high",
    "bounds_by",
    "formula",
    "kind",
    "depends_on",
    "pass",
    "backend",
];

fn rows(args: &[&str]) -> Vec<Value> {
    let (code, text, error) = tsunagi(&[&["repro", "cenju3", "--json"], args].concat());
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&text).expect("an array of rows")
}

#[test]
fn rows_have_the_stated_fields_and_nothing_else() {
    let rows = rows(&["--experiment", "E2", "--experiment", "E6", "--backend", "model"]);
    for row in &rows {
        let mut keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        let mut fields = FIELDS;
        keys.sort_unstable();
        fields.sort_unstable();
        assert_eq!(keys, fields);
        assert_eq!(row["machine"], "cenju3");
        assert_eq!(row["backend"], "model");
        let bare = row["paper"].is_null() && row["bounds_by"].is_null();
        assert_eq!(row["kind"].is_null(), bare, "{row}");
        assert_eq!(
            row["low"].is_null() && row["high"].is_null(),
            row["bounds_by"].is_null(),
            "{row}"
        );
        assert!(!row["depends_on"].as_array().unwrap().is_empty(), "{row}");
        assert!(row["ours"].is_f64());
    }
    let point = rows.iter().find(|r| r["row"] == "fig10.hardware.0.5KB").unwrap();
    assert!(point["paper"].is_null() && point["low"].is_null() && point["pass"].is_null());
    let total = rows.iter().find(|r| r["row"] == "fig7.total").unwrap();
    assert_eq!(
        (total["paper"].as_f64(), total["pass"].as_bool()),
        (Some(7.0), Some(true))
    );
}

#[test]
fn the_same_again_gives_the_same_bytes() {
    let args = ["repro", "cenju3", "--experiment", "E7", "--backend", "model", "--json"];
    assert_eq!(tsunagi(&args).1, tsunagi(&args).1);
}

#[test]
fn a_parameter_moves_the_rows_and_a_missed_bound_is_an_error() {
    let (code, text, error) = tsunagi(&[
        "repro",
        "cenju3",
        "--experiment",
        "e2",
        "--backend",
        "model",
        "--set",
        "mem_read_latency=90",
    ]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("fig7.total"), "{error}");
    assert!(text.contains("MISSED"), "{text}");
}

#[test]
fn out_leaves_rows_and_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/er");
    let printed = rows(&[
        "--experiment",
        "E2",
        "--backend",
        "model",
        "--out",
        out.to_str().unwrap(),
    ]);
    let left: Vec<Value> = serde_json::from_str(&fs::read_to_string(out.join("rows.json")).unwrap()).unwrap();
    assert_eq!(printed, left);
    let report = fs::read_to_string(out.join("report-cenju3.html")).unwrap();
    assert!(report.contains("Fig. 7") && report.contains("<svg") && report.contains("mem_read_latency"));
}

#[test]
fn the_table_says_paper_ours_and_difference() {
    let (_, text, _) = tsunagi(&["repro", "cenju3", "--experiment", "E5", "--backend", "model"]);
    for word in [
        "paper",
        "ours",
        "difference",
        "40 MB/s",
        "38.6 MB/s",
        "3 of 3 checks met",
        "bounds by ours 3",
        "calibrated 3",
    ] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
}

#[test]
fn report_writes_the_page_alone() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("cenju3.html");
    let (code, text, error) = tsunagi(&[
        "report",
        "cenju3",
        "--experiment",
        "E7",
        "--backend",
        "model",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(text.trim(), out.to_str().unwrap());
    let report = fs::read_to_string(out).unwrap();
    assert!(report.contains("paper: peak at 6 to 8 KB") && report.contains("Occupancy"));
}

#[test]
fn run_prints_what_it_measured() {
    let (code, text, error) = tsunagi(&[
        "run",
        "cenju3",
        "stream",
        "--bytes",
        "2048",
        "--at-end",
        "stopped",
        "--backend",
        "model",
        "--json",
    ]);
    assert_eq!(code, 0, "{error}");
    let values: Value = serde_json::from_str(&text).unwrap();
    assert!(
        (20.0..40.0).contains(&values["steady_rate"].as_f64().unwrap()),
        "{values}"
    );
}

/// Values within their ranges that are no multiples of anything; parcels, pieces and queues shorter than a transfer
/// needs.
#[test]
fn odd_values_within_range_give_rows() {
    for settings in [
        "parcel_max=65536",
        "parcel_max=1000",
        "piece_bytes=1000",
        "queue_headers=1",
        "chunk_bytes=1000",
        "cache_line=100",
    ] {
        let args = [
            "repro",
            "cenju3",
            "--experiment",
            "E4",
            "--experiment",
            "E7",
            "--backend",
            "model",
            "--json",
            "--set",
            settings,
        ];
        let (code, text, error) = tsunagi(&args);
        assert!(code <= 1, "{settings}: {error}");
        let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
        // Chunks of 992 bytes leave 32 by message, which nobody copies where the receiving PE is taken out.
        let open = |r: &Value| settings.starts_with("chunk") && r["row"].to_string().contains("fig9");
        let measured = |r: &Value| r["ours"].is_f64() || open(r);
        assert!(rows.len() > 50 && rows.iter().all(measured), "{settings}");
    }
}

#[test]
fn run_says_what_it_did_and_what_each_number_is() {
    let (code, text, error) = tsunagi(&["run", "cenju3", "rmwrite", "--count", "1", "--backend", "model"]);
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("1 x CJrmwrite of 8192 B on the model"), "{text}");
    assert!(text.contains("from Sender start to the last byte in memory"), "{text}");
    // One call has no steady state.
    let steady = text.lines().find(|line| line.contains("steady_rate")).unwrap();
    assert!(steady.contains(" – ") && text.contains("--count 2"), "{text}");
}

#[test]
fn a_brief_run_says_what_came_and_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let rest = ["--backend", "model", "--out", out, "--brief", "--waves"];
    let args = [&["repro", "--experiment", "E4", "--experiment", "M1"], &rest[..]].concat();
    let (code, text, error) = tsunagi(&args);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(text.lines().count() <= 20, "{text}");
    for words in [
        "NEC Cenju-3         4 of 4 checks met, independent predictions: 1",
        "worst prediction  fig9.",
        "paper 34.7 MB/s, ours 34.8",
        "Fujitsu AP1000+",
        "report-cenju3.html",
        "waves/cenju3-one-word.gtkw",
        "report-ap1000p.html",
        "waves/ap1000p-put.gtkw",
    ] {
        assert!(text.contains(words), "no `{words}` in\n{text}");
    }
    // What it says to type is understood.
    for line in text.lines().filter_map(|line| line.split_once("cargo run -- ")) {
        let (code, _, error) = tsunagi(
            &[
                &line.1.split(' ').collect::<Vec<_>>()[..],
                &["--backend", "model", "--json"],
            ]
            .concat(),
        );
        assert!(code <= 1, "{}: {error}", line.1);
    }
    let (_, with_tables, _) = tsunagi(&[&args[..], &["-v"]].concat());
    assert!(
        with_tables.contains("E4 Fig. 9") && with_tables.ends_with(&text),
        "{with_tables}"
    );
    let one = [&["repro", "cenju3", "--experiment", "E4"], &rest[..]].concat();
    fs::remove_dir_all(folder.path().join("waves")).unwrap();
    assert_eq!(tsunagi(&one).0, 0);
    let waves = folder.path().join("waves");
    let names = |folder: &Path| -> Vec<String> {
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != ".surfer").collect()
    };
    let all = [names(&waves), names(&waves.join(".surfer/mappings"))].concat();
    let others: Vec<&String> = all.iter().filter(|name| !name.starts_with("cenju3")).collect();
    assert!(others.is_empty() && all.len() > 5, "only that machine's: {others:?}");
}

#[test]
fn what_was_missed_is_named_first() {
    let settings = ["--set", "mem_read_latency=90", "--backend", "model", "--brief"];
    let (code, text, _) = tsunagi(&[&["repro", "cenju3", "--experiment", "E2"], &settings[..]].concat());
    assert_eq!(code, 1);
    let missed: Vec<&str> = text.lines().filter(|line| line.starts_with("  missed")).collect();
    assert!(
        (1..=5).contains(&missed.len()) && missed.iter().any(|line| line.contains("fig7.total")),
        "{text}"
    );
}

/// Bytes that are less than a line, or no multiple of it, travel by message, and the kernel copies them. Long latencies
/// exceed the usual bounds.
#[test]
fn run_measures_every_size_or_says_why_not() {
    let run = |args: &str| {
        let args: Vec<&str> = ["run"]
            .into_iter()
            .chain(args.split(' '))
            .chain(["--backend", "model", "--json"])
            .collect();
        let (code, text, error) = tsunagi(&args);
        assert_eq!(code, 0, "{args:?}: {error}");
        serde_json::from_str::<BTreeMap<String, Value>>(&text).unwrap()
    };
    let number = |value: &Value| value.as_f64().is_some_and(|v| v > 0.0 && v < 1e6);
    for count in [1, 2, 16] {
        for bytes in [1, 31, 32, 33, 544, 131_071, 131_072] {
            let values = run(&format!("cenju3 rmwrite --bytes {bytes} --count {count}"));
            let missing: Vec<&String> = values.iter().filter(|v| !number(v.1)).map(|v| v.0).collect();
            assert_eq!(missing.is_empty(), count > 1, "rmwrite of {bytes}: {values:?}");
            assert!(missing.iter().all(|name| *name == "steady_rate"), "{values:?}");
            assert_eq!(values.len(), 3);
        }
        for bytes in [32, 544, 131_072] {
            let values = run(&format!("cenju3 stream --bytes {bytes} --count {count}"));
            assert_eq!(
                values.values().all(number),
                count > 1 || bytes > 512,
                "stream of {bytes}: {values:?}"
            );
        }
        for scenario in ["put", "get"] {
            for bytes in [4, 36, 131_072] {
                let values = run(&format!("ap1000p {scenario} --bytes {bytes} --count {count}"));
                assert!(values.values().all(number), "{scenario} of {bytes}: {values:?}");
            }
        }
        let values = run(&format!("ap1000p load --count {count}"));
        assert_eq!(
            values.values().filter(|v| !number(v)).count(),
            usize::from(count == 1),
            "{values:?}"
        );
    }
    // Slow, and not hung.
    let values = run("ap1000p put --bytes 131072 --count 5 --set link_rate=1");
    assert!(values.values().all(number), "{values:?}");
    let values = run("cenju3 ping-pong --set user_level=1");
    let missing: Vec<&String> = values.iter().filter(|v| !number(v.1)).map(|v| v.0).collect();
    assert_eq!(missing, ["kernel_to_start", "syscall"], "{values:?}");
    let values = run("cenju3 one-word --set mem_read_latency=1000");
    assert!(values.len() >= 8 && values.values().all(number), "{values:?}");
}
