//! `rtl-flow rails` in a git repository of two rails: the results that it keeps, and the rails that it calls outdated.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Rail `first` says what is in a file, and fails if that is FAILED; `second` runs another, and takes seeds.
const RAILS: &str = r#"inputs = ["tools/", ":!*.md"]
[[rail]]
name = "first"
run = "cat src/a.txt; ! grep -q FAILED src/a.txt"
inputs = ["src/a.txt"]
[[rail]]
name = "second"
run = "echo $TSUNAGI_SEED >> seeds; sh src/b/run"
seeds = 2
inputs = ["src/b/"]
"#;

struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let new = Self(tempfile::tempdir().unwrap());
        for (file, text) in [
            ("rails.toml", RAILS),
            ("src/a.txt", "12 proofs hold\n"),
            (
                "src/b/run",
                "echo 'test result: ok. 3 passed; 0 failed'\necho 'test result: ok. 4 passed; 0 failed'\n",
            ),
            ("tools/lock", "1\n"),
            ("tools/why.md", "Why.\n"),
            (".gitignore", "target\nseeds\n"),
        ] {
            new.write(file, text);
        }
        new.git(&["init", "-q"]);
        new.commit();
        new
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, args: &[&str]) {
        let who = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"];
        let status = Command::new("git")
            .args(who)
            .args(args)
            .current_dir(self.0.path())
            .status();
        assert!(status.unwrap().success(), "git {args:?}");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "A change"]);
    }

    fn rails(&self, args: &[&str]) -> (bool, String) {
        rails(self.0.path(), args)
    }

    /// The output of `--check`, which always succeeds.
    fn check(&self) -> String {
        let (passed, said) = self.rails(&["--check"]);
        assert!(passed, "{said}");
        said
    }

    /// This field of this rail in the file of results.
    fn kept(&self, rail: &str, field: &str) -> serde_json::Value {
        let text = fs::read_to_string(self.path("rails.json")).unwrap();
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        all[rail][field].clone()
    }
}

/// Whether the command succeeded, and its output.
fn rails(folder: &Path, args: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .arg("rails")
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    (output.status.success(), said.concat())
}

/// A repository in which both rails have passed.
fn passed() -> Repository {
    let new = Repository::new();
    let (passed, said) = new.rails(&[]);
    assert!(passed, "{said}");
    new.commit();
    new
}

const ALL_WELL: &str = "rtl-flow rails: 2 have passed on these inputs\n";

#[test]
fn each_result_is_kept_with_what_it_is_of() {
    let new = Repository::new();
    let said = new.check();
    assert!(
        said.contains("rail first: never run") && said.contains("2 of 2"),
        "{said}"
    );
    let (passed, said) = new.rails(&[]);
    assert!(passed, "{said}");
    assert_eq!(new.kept("first", "said"), "12 proofs hold");
    assert_eq!(new.kept("second", "said"), "7 tests passed");
    let head = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(new.0.path())
        .output()
        .unwrap();
    assert_eq!(
        new.kept("first", "commit"),
        String::from_utf8(head.stdout).unwrap().trim()
    );
    let ran: Vec<u64> = fs::read_to_string(new.path("seeds"))
        .unwrap()
        .lines()
        .map(|seed| seed.parse().unwrap())
        .collect();
    assert_eq!(new.kept("second", "seeds"), serde_json::json!(ran));
    assert!(ran.len() == 2 && ran[0] != ran[1], "{ran:?}");
    // More seeds of the same inputs, and of no other rail.
    let (passed, said) = new.rails(&["--rail", "second", "--seeds", "1"]);
    assert!(passed && !said.contains("first"), "{said}");
    assert_eq!(new.kept("second", "seeds").as_array().unwrap().len(), 3);
    assert_eq!(new.check(), ALL_WELL);
}

#[test]
fn seeds_that_are_missing_are_made_up_for() {
    let new = Repository::new();
    let (passed, said) = new.rails(&["--seeds", "1"]);
    assert!(passed, "{said}");
    assert!(new.check().contains("rail second: passed with 1 of 2 seeds over "));
    let (passed, said) = new.rails(&["--stale"]);
    assert!(passed && !said.contains("first"), "{said}");
    assert_eq!(new.kept("second", "seeds").as_array().unwrap().len(), 2);
    assert_eq!(new.check(), ALL_WELL);
}

#[test]
fn a_rail_with_another_input_is_named_and_no_other() {
    let new = passed();
    // Neither a page, nor the results, nor a file that is an input of no rail.
    new.write("tools/why.md", "Why not.\n");
    new.write("src/c.txt", "\n");
    assert_eq!(new.check(), ALL_WELL);
    new.write("src/b/more", "\n");
    let said = new.check();
    assert!(
        said.contains("rail second: changed since ") && said.contains(": src/b/more\n"),
        "{said}"
    );
    assert!(!said.contains("first"), "{said}");
    new.commit();
    assert!(new.check().contains("src/b/more"));
    let (passed, said) = new.rails(&["--stale"]);
    assert!(passed && !said.contains("first"), "{said}");
    assert_eq!(new.check(), ALL_WELL);
    // A common input, a deleted file, another command.
    new.write("tools/lock", "2\n");
    assert!(new.check().contains("2 of 2"));
    new.git(&["checkout", "-q", "tools/lock"]);
    fs::remove_file(new.path("src/b/more")).unwrap();
    assert!(new.check().contains("rail second"));
    new.git(&["checkout", "-q", "src/b/more"]);
    new.write("rails.toml", &RAILS.replace("cat src/a.txt;", "cat src/a.txt &&"));
    assert!(new.check().contains("rail first: changed since"));
}

#[test]
fn a_clone_without_history_knows_what_holds() {
    let new = passed();
    new.write("tools/why.md", "Why not.\n");
    new.commit();
    let clones = tempfile::tempdir().unwrap();
    let clone = clones.path().join("clone");
    let from = format!("file://{}", new.0.path().display());
    new.git(&["clone", "-q", "--depth", "1", &from, clone.to_str().unwrap()]);
    assert_eq!(rails(&clone, &["--check"]), (true, ALL_WELL.to_owned()));
    fs::write(clone.join("src/a.txt"), "13 proofs hold\n").unwrap();
    let (_, said) = rails(&clone, &["--check"]);
    assert!(said.contains("rail first: changed since "), "{said}");
    // Without a repository, the rails only report that they do not know.
    fs::remove_dir_all(clone.join(".git")).unwrap();
    let (passed, said) = rails(&clone, &["--check"]);
    assert!(passed && said.contains("are not known"), "{said}");
}

#[test]
fn a_failure_is_kept_and_the_others_are_run() {
    let new = passed();
    new.write("src/a.txt", "1 proof FAILED\n12 proofs\n");
    // The second of three seeds fails.
    new.write(
        "src/b/run",
        "if [ $(cat seeds | wc -l) -eq 4 ]; then echo place FAILED; exit 1; fi\n",
    );
    new.commit();
    let (passed, said) = new.rails(&["--seeds", "3"]);
    assert!(!passed && said.contains("rail `first`: 1 proof FAILED"), "{said}");
    let failed = new.kept("second", "failed");
    let seeds = new.kept("second", "seeds");
    assert!(
        seeds.as_array().unwrap().len() == 3 && failed == serde_json::json!([seeds[1]]),
        "{failed} of {seeds}"
    );
    assert!(said.contains(&format!("`TSUNAGI_SEED={} echo", seeds[1])), "{said}");
    let said = new.check();
    assert!(
        said.contains("rail first: failed over ") && said.contains(": 1 proof FAILED"),
        "{said}"
    );
    assert!(said.contains(": place FAILED"), "{said}");
}

#[test]
fn what_is_not_of_a_commit_is_refused() {
    let new = passed();
    new.write("src/a.txt", "13 proofs hold\n");
    let (passed, said) = new.rails(&[]);
    assert!(!passed && said.contains("these are not committed: src/a.txt"), "{said}");
    // The other rail lacks this input.
    assert_eq!(new.kept("second", "seeds").as_array().unwrap().len(), 4);
    assert_eq!(new.kept("first", "said"), "12 proofs hold");
    // A result is also refused if an input changed during the run.
    new.git(&["checkout", "-q", "src/a.txt"]);
    new.write("src/b/run", "date > src/b/date\n");
    new.commit();
    let (passed, said) = new.rails(&["--rail", "second"]);
    assert!(!passed && said.contains("its inputs changed while it ran"), "{said}");
    assert!(new.check().contains("rail second: changed since"));
}

#[test]
fn a_pattern_of_no_file_and_a_name_of_no_rail_are_errors() {
    let new = passed();
    new.write("rails.toml", &RAILS.replace("src/b/\"", "src/d/\""));
    let (passed, said) = new.rails(&["--check"]);
    assert!(
        !passed && said.contains("rail `second`: no file matches its input `src/d/`"),
        "{said}"
    );
    let (passed, said) = new.rails(&["--rail", "third"]);
    assert!(
        !passed && said.contains("no rail is called `third`; known: first, second"),
        "{said}"
    );
}

/// The list of this workspace: every pattern matches a file.
#[test]
fn every_pattern_here_is_of_a_file() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (passed, said) = rails(&workspace, &["--check"]);
    assert!(passed && said.contains("rtl-flow rails: "), "{said}");
}

/// Source files of this package, below `src`, of a module: its own, and those of each module that it uses.
fn made_of(module: &str) -> BTreeSet<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = |module: &str| -> Vec<String> {
        let of_folder = fs::read_dir(src.join(module)).into_iter().flatten();
        let of_folder = of_folder.map(|entry| format!("{module}/{}", entry.unwrap().file_name().display()));
        of_folder.chain([format!("{module}.rs")]).collect()
    };
    // Re-exports of the package's root.
    let home = |name: &str| {
        match name {
            "Entry" | "Flow" => Some("entries"),
            "Tools" => Some("tools"),
            // A type alone.
            "FlowError" | "Outcome" => None,
            module => Some(module),
        }
        .map(str::to_owned)
    };
    let mut open: Vec<String> = files(module);
    let mut found = BTreeSet::new();
    while let Some(file) = open.pop() {
        let Ok(text) = fs::read_to_string(src.join(&file)) else {
            continue;
        };
        if !found.insert(file) {
            continue;
        }
        for used in text.lines().filter_map(|line| line.strip_prefix("use crate::")) {
            let used = used.trim_end_matches(';');
            let names = match used.strip_prefix('{') {
                Some(list) => list.trim_end_matches('}').split(", ").collect(),
                None => vec![used],
            };
            let modules = names.into_iter().filter_map(|name| home(name.split("::").next()?));
            open.extend(modules.map(|name| format!("{name}.rs")));
        }
    }
    found
}

/// The sources that a rail runs are among its inputs.
#[test]
fn each_rail_has_its_own_tool_among_its_inputs() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list: toml::Value = toml::from_str(&fs::read_to_string(workspace.join("rails.toml")).unwrap()).unwrap();
    let mut looked = 0;
    for rail in list["rail"].as_array().unwrap() {
        let Some((_, command)) = rail["run"].as_str().unwrap().split_once("-p rtl-flow -- ") else {
            continue;
        };
        let module = command.split(' ').next().unwrap();
        let patterns: Vec<&str> = rail["inputs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| p.as_str().unwrap())
            .collect();
        let listed = Command::new("git")
            .args(["ls-files", "--"])
            .args(&patterns)
            .current_dir(&workspace)
            .output()
            .unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let missing: Vec<String> = made_of(module)
            .into_iter()
            .filter(|file| !listed.lines().any(|line| line == format!("crates/rtl-flow/src/{file}")))
            .collect();
        assert_eq!(missing, Vec::<String>::new(), "inputs of rail `{}`", rail["name"]);
        looked += 1;
    }
    assert!(looked >= 6, "{looked} rails are of rtl-flow");
}
