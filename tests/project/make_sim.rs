//! What `make sim` shows while it works: a line now and then, and at the end not more than fits a screen.

use std::process::{Command, Output};

fn wait(script: &str) -> Output {
    let mut command = Command::new("tools/wait.sh");
    command
        .args(["working", "sh", "-c", script])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    command.output().unwrap()
}

/// Twenty seconds, for a line that must come within thirty.
#[test]
fn long_work_says_that_it_goes_on() {
    let output = wait("for i in 1 2 3; do echo \"   Compiling part$i v1 (/somewhere)\"; done; sleep 21");
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "working: 0 min 20 s, Compiling part3 v1\n"
    );
}

#[test]
fn work_that_fails_is_shown_whole_with_its_code() {
    let output = wait("echo first; echo second >&2; exit 7");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "first\nsecond\n");
    assert!(output.stdout.is_empty());
}

/// The recipe builds behind `wait.sh`, and runs the experiments briefly.
#[test]
fn it_prints_nothing_but_that_and_the_summary() {
    let mut make = Command::new("make");
    make.args(["-n", "-o", ".tools/stamp", "sim", "MACHINE=cenju3"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    // `make test` hands its flags and its level on; a make below another one names its folder.
    for inherited in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        make.env_remove(inherited);
    }
    let output = make.output().unwrap();
    let recipe = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = recipe.lines().collect();
    let [build, run] = lines[..] else { panic!("{recipe}") };
    assert!(
        build.starts_with("tools/wait.sh ") && build.ends_with(" cargo build --package tsunagi"),
        "{build}"
    );
    assert!(
        run.contains(" repro cenju3 --backend both --brief --waves --out out"),
        "{run}"
    );
}
