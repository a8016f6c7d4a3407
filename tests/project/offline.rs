//! After `make tools`, no command needs the network.

use std::process::Command;

use crate::TSUNAGI;
use crate::make::recipe;

const GOALS: &[&str] = &[
    "sim",
    "test",
    "test MACHINE=cenju3",
    "synth",
    "formal",
    "gate",
    "fpga",
    "lint",
    "format",
    "soak",
    "farm ARGS=gather",
    "farm-test",
    "rails",
    "bench",
    "regs",
    "docs",
];

/// Why a line of a recipe may reach for the network, if it may.
fn reaches_out(line: &str) -> Option<&'static str> {
    let cargo = line.contains("cargo ") && !line.contains("cargo fmt") && !line.trim_start().starts_with("echo ");
    if cargo && !line.contains("CARGO_NET_OFFLINE=true") {
        return Some("cargo may fetch crates");
    }
    let fetchers = [
        "pip ",
        "curl ",
        "wget ",
        "git clone",
        "git fetch",
        "apt",
        "npm ",
        "install.sh",
    ];
    fetchers
        .iter()
        .any(|f| line.contains(f))
        .then_some("it calls a program that fetches")
}

#[test]
fn no_target_but_tools_reaches_out() {
    for goals in GOALS {
        for line in recipe(&goals.split(' ').collect::<Vec<_>>()) {
            assert_eq!(reaches_out(&line), None, "make {goals}: {line}");
        }
    }
}

#[test]
fn a_recipe_that_fetches_is_caught() {
    assert!(reaches_out("cargo test --workspace").is_some());
    assert!(reaches_out("\t.tools/venv/bin/pip install x").is_some());
    assert!(reaches_out("CARGO_NET_OFFLINE=true cargo test --workspace").is_none());
}

/// A command of ours that cannot reach anything: it has an own network namespace where the system allows one, and no
/// proxy that answers.
fn cut_off(program: &str) -> Command {
    let alone = Command::new("unshare")
        .args(["-rn", "true"])
        .output()
        .is_ok_and(|o| o.status.success());
    let mut command = if alone {
        let mut unshare = Command::new("unshare");
        unshare.args(["-rn", program]);
        unshare
    } else {
        Command::new(program)
    };
    for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(proxy, "http://127.0.0.1:9");
    }
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

#[test]
fn the_locked_crates_are_all_there() {
    let output = cut_off("cargo")
        .args(["metadata", "--locked", "--offline", "--format-version", "1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_experiment_runs_cut_off() {
    let output = cut_off(TSUNAGI)
        .args(["repro", "cenju3", "--experiment", "E2", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
