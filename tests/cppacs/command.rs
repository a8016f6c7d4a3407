//! The machine at the command: scenarios, data, what it says of wrong settings.

use serde_json::Value;

fn tsunagi(args: &[&str]) -> (i32, String, String) {
    support::command::run(env!("CARGO_BIN_EXE_tsunagi"), args)
}

const SCENARIOS: [&[&str]; 4] = [
    &["ping-pong", "--bytes", "256"],
    &["rdma", "--bytes", "1024", "--count", "5"],
    &["broadcast", "--bytes", "2000"],
    &["get", "--bytes", "64"],
];

#[test]
fn every_scenario_runs_on_both_backends() {
    for backend in ["model", "rtl"] {
        for grid in [["x=2", "y=1", "z=1"], ["x=1", "y=2", "z=2"]] {
            for scenario in SCENARIOS {
                let set = grid.map(|set| ["--set", set]).concat();
                let args = [&["run", "cppacs"], scenario, &["--backend", backend, "--json"], &set].concat();
                let (code, text, error) = tsunagi(&args);
                assert_eq!(code, 0, "{args:?}: {error}");
                let values: Value = serde_json::from_str(&text).expect("an object");
                let values = values.as_object().unwrap();
                assert!(
                    values.len() > 3 && values["refused"].as_f64() == Some(0.0),
                    "{values:?}"
                );
                assert!(values.values().all(|value| value.as_f64().is_some()), "{values:?}");
            }
        }
    }
}

#[test]
fn what_is_no_machine_is_said() {
    for (set, says) in [
        ("x=3", "there are crossbars for 1, 2, 4, 8"),
        ("x=32", "x"),
        ("room=300", "built with 496"),
        ("fields=64", "built with 512"),
    ] {
        let (code, _, error) = tsunagi(&["run", "cppacs", "rdma", "--set", set]);
        assert!(code == 2 && error.contains(says), "{set}: {error}");
    }
    let large = ["--set", "x=8", "--set", "y=8", "--set", "z=8"];
    let (code, _, error) = tsunagi(&[&["run", "cppacs", "rdma"], &large[..]].concat());
    assert!(code == 2 && error.contains("built for 256"), "{error}");
    for (bytes, says) in [("12", "multiple of 8"), ("0", "8 to"), ("1048584", "8 to")] {
        let (code, _, error) = tsunagi(&["run", "cppacs", "rdma", "--bytes", bytes]);
        assert!(code == 2 && error.contains(says), "{bytes}: {error}");
    }
}

/// The model takes lines that no crossbar of RTL was built for, and the paper's machine.
#[test]
fn the_model_takes_every_grid() {
    for grid in [["x=3", "y=5", "z=1"], ["x=8", "y=17", "z=8"]] {
        let set = grid.map(|set| ["--set", set]).concat();
        let small = ["--set", "mem_bytes=1048576", "--backend", "model"];
        let (code, _, error) = tsunagi(&[&["run", "cppacs", "rdma", "--bytes", "64"], &small[..], &set].concat());
        assert_eq!(code, 0, "{error}");
    }
}

#[test]
fn files_of_any_size_are_carried_between_any_two() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    for (backend, bytes) in [
        ("model", 0),
        ("model", 1),
        ("model", 300_001),
        ("rtl", 0),
        ("rtl", 1),
        ("rtl", 3001),
    ] {
        std::fs::write(&path, (0..bytes).map(|at| ((at * 31) >> 3) as u8).collect::<Vec<_>>()).unwrap();
        let file = path.to_str().unwrap();
        let send = ["send", file, "--machine", "cppacs", "--pes", "16", "--json"];
        for (from, to) in [("0", "0"), ("0", "1"), ("3", "15")] {
            let route = ["--backend", backend, "--from", from, "--to", to];
            let (code, text, error) = tsunagi(&[&send[..], &route].concat());
            assert_eq!(code, 0, "{error}");
            let sent: Value = serde_json::from_str(&text).unwrap();
            let is = (sent["equal"].as_bool(), sent["bytes"].as_u64());
            assert_eq!(is, (Some(true), Some(bytes)), "{backend}, from {from} to {to}");
        }
    }
}
