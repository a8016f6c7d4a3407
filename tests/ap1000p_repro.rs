//! `tsunagi repro ap1000p`: every experiment on the RTL within its bounds, what the rows say, and bad input.

mod common;

use common::tsunagi;
use serde_json::Value;

fn rows(args: &[&str]) -> Vec<Value> {
    let (code, text, error) = tsunagi(&[&["repro", "ap1000p", "--json"], args].concat());
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&text).expect("an array of rows")
}

#[test]
fn every_experiment_is_within_its_bounds() {
    let rows = rows(&[]);
    for row in &rows {
        assert_eq!((&row["machine"], &row["backend"]), (&"ap1000p".into(), &"rtl".into()));
        assert_ne!(row["pass"], Value::Bool(false), "{row}");
        assert!(!row["depends_on"].as_array().unwrap().is_empty(), "{row}");
    }
    let (_, list, _) = tsunagi(&["list", "--json"]);
    let list: Vec<Value> = serde_json::from_str(&list).expect("an array of machines");
    let machine = list.iter().find(|m| m["machine"] == "ap1000p").expect("it is listed");
    for experiment in machine["experiments"].as_array().unwrap() {
        let checked = |row: &&Value| row["experiment"] == experiment["id"] && row["pass"] == Value::Bool(true);
        assert!(rows.iter().filter(checked).count() >= 2, "{experiment}");
    }
    let kind = |name: &str| rows.iter().find(|r| r["row"] == name).expect("a row")["kind"].clone();
    assert_eq!(kind("m1.slope"), "prediction", "the link's rate is another source's");
    assert_eq!(kind("m1.intercept"), "calibrated");
    assert_eq!(kind("m2.slope"), "prediction");
    assert_eq!(kind("m2.intercept"), "calibrated");
    assert_eq!(kind("c1.data"), "criterion");
}

/// The slope is the link's and the intercept the software's: each moves with its own parameter, and is missed then.
#[test]
fn parameters_move_the_rows_they_are_named_by() {
    let missed = |set: &str| {
        let (code, text, error) = tsunagi(&["repro", "ap1000p", "--experiment", "m1", "--json", "--set", set]);
        assert_eq!(code, 1, "{set}: {error}");
        let rows: Vec<Value> = serde_json::from_str(&text).expect("an array of rows");
        let failed = rows.iter().filter(|r| r["pass"] == Value::Bool(false));
        failed
            .map(|r| r["row"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(missed("link_cycles=1").contains(&"m1.slope".to_owned()));
    assert_eq!(missed("call=4000"), ["m1.intercept", "m1.half"]);
}

#[test]
fn what_there_is_not_is_refused_by_name() {
    let refused = |args: &[&str], says: &str| {
        let (code, _, error) = tsunagi(args);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(says), "{error}");
    };
    refused(&["repro", "ap1000p", "--experiment", "C99"], "unknown experiment");
    refused(&["repro", "ap1000p", "--experiment", "C99"], "C29");
    refused(
        &["repro", "ap1000p", "--experiment", "E2"],
        "ap1000p has no experiment E2",
    );
    refused(
        &["repro", "cenju3", "--experiment", "C1"],
        "cenju3 has no experiment C1",
    );
    refused(&["repro", "ap1000p", "--set", "link_cycles=3"], "link_cycles = 3");
    refused(&["repro", "ap1000p", "--set", "s_gap=3"], "unknown parameter `s_gap`");
    refused(&["repro", "--set", "call=1"], "name it");
    refused(&["repro", "cenju3", "--full"], "--full is for ap1000p");
}

#[test]
fn without_a_machine_the_experiment_says_which() {
    let (code, text, error) = tsunagi(&["repro", "--experiment", "C2", "--experiment", "E2", "--backend", "rtl"]);
    assert_eq!(code, 0, "{error}");
    assert!(
        text.contains("E2 Fig. 7") && text.contains("C2 section 2.2.1"),
        "{text}"
    );
    assert!(text.find("E2 Fig. 7") < text.find("C2 section"), "{text}");
}

/// The golden model gives the same verdicts.
#[test]
fn the_model_is_within_the_same_bounds() {
    let rows = rows(&["--backend", "model"]);
    let mut ids: Vec<&str> = rows.iter().map(|r| r["experiment"].as_str().unwrap()).collect();
    ids.dedup();
    assert_eq!(
        ids,
        tsunagi::repro::ap1000p::experiments().map(|e| e.id).collect::<Vec<_>>()
    );
    assert!(
        rows.iter()
            .all(|r| r["backend"] == "model" && r["pass"] != Value::Bool(false))
    );
}
