//! `tsunagi repro`, `run` and `report` on the golden model: what they print and leave, and that nothing but their input decides it.

mod common;

use std::fs;

use common::tsunagi;
use serde_json::Value;

const FIELDS: [&str; 13] = [
    "machine",
    "experiment",
    "row",
    "quantity",
    "unit",
    "paper",
    "ours",
    "low",
    "high",
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
        assert!(["prediction", "calibrated", "criterion"].contains(&row["kind"].as_str().unwrap()));
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
    let report = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(report.contains("Fig. 7") && report.contains("<svg") && report.contains("mem_read_latency"));
}

#[test]
fn the_table_says_paper_ours_and_difference() {
    let (_, text, _) = tsunagi(&["repro", "cenju3", "--experiment", "E5", "--backend", "model"]);
    for word in [
        "paper",
        "ours",
        "difference",
        "40.00 MB/s",
        "38.60 MB/s",
        "4 of 4 checks met",
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

/// Values within their ranges that are no multiples of anything, and shorter parcels, pieces and queues than a transfer needs.
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
    assert!(!text.contains("steady"), "{text}");
}
