//! `tools/soak.py` runs what depends on the seed, goes on after a failure, and lists a line for each.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A workspace of scripts: a Cargo that only says what it built, and what it built.
struct Workspace {
    folder: tempfile::TempDir,
    messages: String,
}

impl Workspace {
    fn new() -> Workspace {
        Workspace {
            folder: tempfile::tempdir().unwrap(),
            messages: "{\"reason\":\"build-finished\",\"success\":true}\n".into(),
        }
    }

    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A program of this kind, and its path.
    fn builds(&mut self, kind: &str, name: &str, test: bool, body: &str) -> String {
        self.of_package("pack", kind, name, test, body)
    }

    fn of_package(&mut self, package: &str, kind: &str, name: &str, test: bool, body: &str) -> String {
        let path = self.script(name, body);
        let root = self.folder.path().display();
        self.messages += &format!(
            "{{\"package_id\":\"path+file://{root}#{package}@0.1.0\",\"manifest_path\":\"{root}/Cargo.toml\",\
             \"target\":{{\"kind\":[\"{kind}\"],\"name\":\"{name}\"}},\"profile\":{{\"test\":{test}}},\
             \"executable\":\"{}\"}}\n",
            path.display()
        );
        path.display().to_string()
    }

    fn soak(&self, args: &[&str]) -> Output {
        let messages = self.folder.path().join("messages");
        fs::write(&messages, &self.messages).unwrap();
        let cargo = self.script("cargo", &format!("cat {}", messages.display()));
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        Command::new(root.join(".tools/venv/bin/python"))
            .arg(root.join("tools/soak.py"))
            .args(args)
            .args(["--out", "out"])
            .current_dir(self.folder.path())
            .env("CARGO", cargo)
            .output()
            .unwrap()
    }
}

/// What a test or program does that reads the seed.
const READS: &str = "[ -z \"$TSUNAGI_SEED_READ\" ] || : > \"$TSUNAGI_SEED_READ\"; ";

/// Lists these tests when asked to.
fn lists(names: &[&str]) -> String {
    let list: String = names.iter().map(|name| format!("{name}: test\\n")).collect();
    format!("[ \"$1\" != --list ] || {{ printf '{list}'; exit; }}\n")
}

/// The lines of its output but those with a time.
fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter(|line| !line.ends_with(" s"))
        .map(String::from)
        .collect()
}

#[test]
fn each_failure_is_listed_with_the_line_that_repeats_it() {
    let mut workspace = Workspace::new();
    let program = workspace.builds("bin", "program", false, &format!("{READS}echo $TSUNAGI_SEED"));
    workspace.builds("bin", "other_program", false, "");
    // Under one seed two tests of it fail. One test does not read the seed, and one is of a twin.
    let body = format!(
        "{}[ \"$2\" = quiet ] || {{ {READS}true; }}\n[ -n \"$TSUNAGI_SEED_READ\" ] || \
         case \"$TSUNAGI_SEED $*\" in *quiet | *twin) exit 3 ;; '6 --exact a::b' | '6 --exact c') \
         echo \"saw $*\"; exit 101 ;; esac",
        lists(&["a::good", "a::b", "c", "quiet", "a::twin"])
    );
    workspace.builds("test", "benches", true, &body);
    // It does not end as a test does.
    let body = format!("{}[ \"$({program})\" != 5 ] || kill -9 $$", lists(&["one"]));
    workspace.builds("lib", "library", true, &body);
    workspace.builds("test", "fixed", true, "exit 101");
    let output = workspace.soak(&["--first", "5", "--seeds", "3"]);
    let line = |seed: u64, rest: &str, log: &str| {
        format!("TSUNAGI_SEED={seed} cargo test -p pack {rest}   # out/{log}-{seed}.log")
    };
    assert_eq!(
        said(&output),
        [
            "soak: seeds 5 to 7, 4 of 5 tests in 2 programs read the seed: 3 failed".into(),
            line(5, "--lib -- --exact one", "library-one"),
            line(6, "--test benches -- --exact a::b", "benches-a-b"),
            line(6, "--test benches -- --exact c", "benches-c"),
        ],
        "{output:?}"
    );
    assert_eq!(output.status.code(), Some(1));
    let log = fs::read_to_string(workspace.folder.path().join("out/benches-a-b-6.log")).unwrap();
    assert_eq!(log, "saw --exact a::b\n");
}

#[test]
fn all_that_pass_are_reported_and_none_is_not_a_pass() {
    let mut workspace = Workspace::new();
    workspace.builds("test", "fixed", true, "");
    let output = workspace.soak(&["--seeds", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no test reads TSUNAGI_SEED"));
    // A test that fails counts as a reader.
    let body = format!("{}[ \"$TSUNAGI_SEED\" = 9 ]", lists(&["one", "criteria::two"]));
    workspace.builds("test", "benches", true, &body);
    // What only hands the seed on, and its tests.
    let hands_on = workspace.of_package("rtl-flow", "bin", "rtl-flow", false, "echo $TSUNAGI_SEED");
    workspace.of_package("rtl-flow", "test", "rails", true, &format!("{hands_on}; exit 101"));
    let output = workspace.soak(&["--seeds", "1", "--first", "9"]);
    assert_eq!(
        said(&output),
        ["soak: seeds 9 to 9, 1 of 1 tests in 1 programs read the seed: every test passed"]
    );
    assert_eq!(output.status.code(), Some(0));
    // Who reads the seed is kept for the same programs in any order, and asked again for others.
    let body = format!("{READS}[ -z \"$TSUNAGI_SEED_READ\" ] || echo >> asked\n{body}");
    workspace.builds("test", "more", true, &body);
    let asked = workspace.folder.path().join("asked");
    let ask = |workspace: &Workspace| {
        assert!(workspace.soak(&["--seeds", "1", "--first", "9"]).status.success());
        fs::read_to_string(&asked).unwrap().len()
    };
    let first = ask(&workspace);
    let mut messages: Vec<&str> = workspace.messages.lines().collect();
    messages.reverse();
    workspace.messages = messages.join("\n") + "\n";
    assert_eq!(ask(&workspace), first);
    workspace.script("more", &(body + "\n"));
    assert!(ask(&workspace) > first);
}
