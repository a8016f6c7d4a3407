//! The machine at the command: scenarios, data, listing.

use serde_json::Value;
use tsunagi::campaign::{self, On};
use tsunagi::dimmnet1::Dimmnet1;
use tsunagi::harness::wave::Probe;

fn tsunagi(args: &[&str]) -> (i32, String, String) {
    support::command::run(env!("CARGO_BIN_EXE_tsunagi"), args)
}

fn run(args: &[&str]) -> Value {
    let (code, text, error) = tsunagi(&[&["run", "dimmnet1"], args, &["--json"]].concat());
    assert_eq!(code, 0, "{args:?}: {error}");
    serde_json::from_str(&text).expect("an object")
}

#[test]
fn every_scenario_runs_at_every_size_on_the_model() {
    for nodes in 2..=16 {
        let set = format!("nodes={nodes}");
        for scenario in ["ping-pong", "botf", "push", "pull", "barrier", "message"] {
            let values = run(&[scenario, "--backend", "model", "--set", &set]);
            let values = values.as_object().unwrap();
            assert!(
                values.len() > 1 && values.values().all(|value| value.as_f64() > Some(0.0)),
                "{values:?}"
            );
        }
    }
}

#[test]
fn every_scenario_runs_on_the_rtl() {
    for scenario in ["ping-pong", "botf", "push", "pull", "barrier", "message"] {
        for nodes in ["nodes=2", "nodes=5"] {
            run(&[scenario, "--count", "2", "--set", nodes]);
        }
    }
}

#[test]
fn sizes_at_the_ends_of_their_ranges_are_carried() {
    for bytes in ["1", "463", "465", "131072"] {
        for way in ["direct", "indirect", "rvatlb", "patlb", "soft"] {
            run(&[
                "botf",
                "--bytes",
                bytes,
                "--count",
                "1",
                "--way",
                way,
                "--backend",
                "model",
            ]);
        }
        run(&["message", "--bytes", bytes, "--count", "1", "--backend", "model"]);
    }
}

#[test]
fn a_listing_has_the_cycles_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("firmware.txt");
    let listing = path.to_str().unwrap();
    run(&["botf", "--way", "soft", "--backend", "model", "--listing", listing]);
    let text = std::fs::read_to_string(&path).unwrap();
    let dma = text
        .lines()
        .find(|line| line.contains("sw   $a2, RX_DMA($gp)"))
        .expect("a line");
    // 8192 bytes are 18 packets, and there are four sends.
    assert!(dma.contains(" 72x"), "{dma}");
    let refused = ["run", "cenju3", "one-word", "--backend", "model", "--listing", listing];
    let (code, _, error) = tsunagi(&refused);
    assert!(code == 2 && error.contains("no processor"), "{error}");
}

#[test]
fn what_a_campaign_draws_holds_on_the_model() {
    for seed in 1..=20 {
        let case = campaign::case(&Dimmnet1, seed);
        let ran = campaign::guarded(&Dimmnet1, &case, On::Model, &Probe::default());
        ran.unwrap_or_else(|broken| panic!("seed {seed}: {broken}\n{case}"));
    }
}
