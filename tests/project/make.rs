//! `make sim` prints a line now and then, and at its end no more than fits a screen. `MACHINE=` chooses one machine.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::root;

use crate::tsunagi;

fn wait(script: &str) -> Command {
    let mut command = Command::new("tools/wait.sh");
    command.args(["working", "sh", "-c", script]).current_dir(root());
    command
}

/// Twenty seconds, for a line that must come within thirty. The work ends when the line has come, or after a minute: a
/// busy computer may take longer for the twenty.
#[test]
fn long_work_says_that_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let said = "for i in 1 2 3; do echo \"   Compiling part$i v1 (/somewhere)\"; done";
    let works = format!(
        "for i in $(seq 600); do if [ -e {} ]; then exit; fi; sleep 0.1; done",
        seen.display()
    );
    let mut command = wait(&format!("{said}; {works}"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "working: 0 min 20 s, Compiling part3 v1\n");
    fs::write(&seen, "").unwrap();
    let mut more = String::new();
    stdout.read_to_string(&mut more).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty() && more.is_empty(),
        "{more}"
    );
}

#[test]
fn work_that_fails_is_shown_whole_with_its_code() {
    let output = wait("echo first; echo second >&2; exit 7").output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "first\nsecond\n");
    assert!(output.stdout.is_empty());
}

/// `make -n` of these goals, without installation of tools.
fn dry_run(goals: &[&str]) -> Output {
    let mut make = Command::new("make");
    make.args(["-n", "-o", ".tools/stamp"]).args(goals).current_dir(root());
    // `make test` hands its flags, its level and its variables on; a make below another one names its folder.
    for inherited in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MACHINE"] {
        make.env_remove(inherited);
    }
    make.output().unwrap()
}

/// The commands that these goals run.
pub fn recipe(goals: &[&str]) -> Vec<String> {
    let output = dry_run(goals);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "make -n {goals:?}: {error}");
    let commands = String::from_utf8(output.stdout).unwrap();
    commands.lines().map(str::to_owned).collect()
}

/// The recipe builds behind `wait.sh`, and runs the experiments briefly.
#[test]
fn it_prints_nothing_but_that_and_the_summary() {
    let lines = recipe(&["sim", "MACHINE=cenju3"]);
    let [build, run] = &lines[..] else { panic!("{lines:?}") };
    assert!(
        build.starts_with("tools/wait.sh ") && build.ends_with(" cargo build --package tsunagi"),
        "{build}"
    );
    assert!(
        run.contains(" repro cenju3 --backend both --brief --waves --out out"),
        "{run}"
    );
}

#[test]
fn the_forges_workflow_is_what_ci_runs_and_that_is_make_test() {
    let text = |name: &str| fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let runs = |file: &str, line: &str| text(file).lines().any(|l| l.trim() == line);
    assert!(runs(".github/workflows/test.yml", "- run: .ci/run"));
    assert!(runs(".ci/run", "CARGO_INCREMENTAL=0 make test"));
}

/// Names of all machines, as the command has them.
fn machines() -> Vec<String> {
    let (_, list, _) = tsunagi(&["list", "--json"]);
    let list: Vec<Value> = serde_json::from_str(&list).expect("an array of machines");
    let name = |machine: &Value| machine["machine"].as_str().expect("a name").to_owned();
    list.iter().map(name).collect()
}

#[test]
fn each_machine_is_tested_with_its_programs_and_with_no_other_machines() {
    let machines = machines();
    for name in &machines {
        let lines = recipe(&["test", &format!("MACHINE={name}")]);
        let runs = |words: &str| lines.iter().any(|line| line.ends_with(words));
        assert!(
            runs(&format!(
                " --package tsunagi-harness --package tsunagi --lib --test harness --test {name}"
            )),
            "{lines:?}"
        );
        assert!(
            runs(&format!(
                " --package testbenches --test common --test net --test {name}"
            )),
            "{lines:?}"
        );
        assert!(runs(&format!(" --package {name}-c")), "{lines:?}");
        for folder in [
            format!("tests/{name}"),
            format!("testbenches/{name}"),
            format!("c/{name}"),
        ] {
            assert!(root().join(&folder).is_dir(), "there is no {folder}");
        }
        let others = machines.iter().filter(|other| *other != name);
        for other in others {
            assert!(
                !lines.iter().any(|line| line.contains(other.as_str())),
                "{other} in {lines:?}"
            );
        }
    }
    assert!(
        recipe(&["test"])
            .iter()
            .any(|line| line.ends_with(" -- cargo test --workspace --no-fail-fast"))
    );
}

#[test]
fn a_machine_that_is_not_known_is_named_with_those_that_are() {
    let output = dry_run(&["test", "MACHINE=no-such"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{error}");
    assert!(error.contains("MACHINE=no-such: no such machine"), "{error}");
    for name in machines() {
        assert!(error.contains(&name), "{error}");
    }
}

/// `make c` compiles each example with the library of its machine. The compiler itself is left out here: the machines'
/// own tests run the examples.
#[test]
fn each_example_in_c_is_compiled_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("tools/c.sh");
    command.arg(folder.path()).current_dir(root());
    let output = command
        .env("CC", "echo")
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut programs = 0;
    for entry in fs::read_dir(root().join("examples/c")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        let line = text.lines().find(|line| line.contains(&format!("/{name}: ")));
        let (_, said) = line
            .unwrap_or_else(|| panic!("{name} is not named: {text}"))
            .split_once(": ")
            .unwrap();
        let (machine, arguments) = said.split_once("; arguments: ").unwrap();
        assert!(arguments.contains("backend (model or rtl)"), "{said}");
        assert!(
            root().join(format!("c/{machine}/include/tsunagi_{machine}.h")).exists(),
            "{said}"
        );
        assert!(
            text.contains(&format!("\n{machine}: target/debug/libtsunagi_{machine}.a, ")),
            "{text}"
        );
        programs += 1;
    }
    assert!(programs > 4);
}
