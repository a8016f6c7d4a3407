//! The machine at the command: scenarios, data, listing.

use serde_json::Value;
use tsunagi::emx::params::EM_X;

fn tsunagi(args: &[&str]) -> (i32, String, String) {
    support::command::run(env!("CARGO_BIN_EXE_tsunagi"), args)
}

fn run(args: &[&str]) -> Value {
    let (code, text, error) = tsunagi(&[&["run", "emx"], args, &["--json"]].concat());
    assert_eq!(code, 0, "{args:?}: {error}");
    serde_json::from_str(&text).expect("an object")
}

/// Scenarios and ways that take any number of PEs, and those that take powers of two.
const ANY: [&[&str]; 7] = [
    &["ring", "--message", "packet"],
    &["ring", "--message", "word"],
    &["ring", "--message", "block"],
    &["block"],
    &["exchange", "--exchange", "lex", "--bytes", "20"],
    &["broadcast", "--tree", "lib"],
    &["together", "--operation", "scan"],
];
const POWERS: [&[&str]; 5] = [
    &["exchange", "--exchange", "pex", "--bytes", "44"],
    &["exchange", "--exchange", "rex", "--bytes", "44"],
    &["exchange", "--exchange", "rex-classic", "--bytes", "44"],
    &["exchange", "--exchange", "wex", "--bytes", "44"],
    &["broadcast", "--tree", "reb"],
];

fn every_scenario(backend: &str, sizes: &[u32]) {
    for pes in sizes {
        let set = format!("used={pes}");
        for (scenarios, takes) in [(&ANY[..], true), (&POWERS[..], pes.is_power_of_two())] {
            for scenario in scenarios {
                let rest = ["--backend", backend, "--set", &set];
                if takes {
                    let values = run(&[*scenario, &rest[..]].concat());
                    let values = values.as_object().unwrap();
                    assert!(values["time"].as_f64() > Some(0.0) && values.len() > 6, "{values:?}");
                    assert!(values.values().all(|value| value.as_f64().is_some()), "{values:?}");
                } else {
                    let (code, _, error) = tsunagi(&[&["run", "emx"], *scenario, &rest[..]].concat());
                    assert!(code == 2 && error.contains(&format!("and not {pes}")), "{error}");
                }
            }
        }
    }
}

#[test]
fn every_scenario_runs_at_many_sizes_on_the_model() {
    every_scenario("model", &[2, 3, 5, 8, 17, 64, 79, 80]);
}

#[test]
fn every_scenario_runs_on_the_rtl() {
    every_scenario("rtl", &[2, 7]);
}

#[test]
fn what_does_not_fit_or_overflows_is_an_error() {
    let (code, _, error) = tsunagi(&["run", "emx", "exchange", "--backend", "model", "--bytes", "4000"]);
    assert!(code == 2 && error.contains("do not fit"), "{error}");
    let lex = [
        "run",
        "emx",
        "exchange",
        "--backend",
        "model",
        "--bytes",
        "600",
        "--exchange",
        "lex",
    ];
    let (code, _, error) = tsunagi(&lex);
    assert!(code == 4 && error.contains("overflows"), "{error}");
    let (code, _, error) = tsunagi(&["run", "emx", "ring", "--backend", "model", "--set", "row_bits=1"]);
    assert!(code == 2 && error.contains("row_bits = 1"), "{error}");
}

/// The machines of 5 and of 20 PEs; EM-X as it is built.
#[test]
fn smaller_machines_run_too() {
    let switches = EM_X.map(|(name, value)| format!("{name}={value}"));
    let em_x: Vec<&str> = switches.iter().flat_map(|switch| ["--set", switch.as_str()]).collect();
    for scenario in [ANY[2], ANY[3], ANY[6]] {
        for (backend, size, used, rest) in [
            ("model", "row_bits=0", "used=5", &[][..]),
            ("model", "row_bits=2", "used=19", &[]),
            ("rtl", "row_bits=0", "used=3", &[]),
            ("rtl", "row_bits=2", "used=20", &em_x),
        ] {
            let given = ["--backend", backend, "--set", size, "--set", used];
            let values = run(&[scenario, &given, rest].concat());
            assert!(values["time"].as_f64() > Some(0.0), "{values}");
        }
    }
    let (code, _, error) = tsunagi(&["run", "emx", "ring", "--set", "row_bits=2", "--set", "used=20"]);
    assert!(code == 2 && error.contains("no RTL was built"), "{error}");
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
        let send = [
            "send",
            path.to_str().unwrap(),
            "--machine",
            "emx",
            "--pes",
            "80",
            "--json",
        ];
        // To itself, to the next one, and the farthest: 8 hops.
        for (from, to) in [("0", "0"), ("0", "1"), ("3", "79")] {
            let route = ["--backend", backend, "--from", from, "--to", to];
            let (code, text, error) = tsunagi(&[&send[..], &route].concat());
            assert_eq!(code, 0, "{error}");
            let sent: Value = serde_json::from_str(&text).unwrap();
            let is = (sent["equal"].as_bool(), sent["bytes"].as_u64());
            assert_eq!(is, (Some(true), Some(bytes)), "{backend}, from {from} to {to}");
        }
    }
}

#[test]
fn a_listing_has_the_cycles_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.txt");
    let listing = path.to_str().unwrap();
    let block = ["ring", "--message", "block", "--bytes", "400", "--set", "used=5"];
    run(&[&block[..], &["--backend", "model", "--listing", listing]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    let line = |code: &str| {
        let found = text.lines().find(|line| line.contains(code));
        found.unwrap_or_else(|| panic!("no `{code}` in\n{text}")).to_owned()
    };
    // Five PEs send 100 words each, in two cycles a word.
    assert!(
        line("send    WRITE, r5, r3").contains(" 500x 1000 "),
        "{}",
        line("send    WRITE, r5, r3")
    );
    // Code that did not run has the cycles that it would take.
    assert!(line("full:   trap    TRAP_QUEUE").contains(" 1  full:"), "{text}");
}
