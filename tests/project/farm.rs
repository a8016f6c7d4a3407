//! `tools/farm.py` merges results by their keys, names what is missing, and lists a line for each failure. Slurm is
//! played by a script; `make farm-test` has the real one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Farm(tempfile::TempDir);

/// Exit code, standard output, standard error.
type Said = (Option<i32>, String, String);

impl Farm {
    fn new() -> Farm {
        Farm(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, lines: &[&str]) {
        fs::write(self.path(name), lines.join("\n") + "\n").unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn script(&self, name: &str, body: &str) {
        fs::write(self.path(name), format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs the command with this PATH.
    fn runs(&self, path: &str, args: &str) -> Said {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let output = Command::new(root.join(".tools/venv/bin/python"))
            .arg(root.join("tools/farm.py"))
            .args(args.split(' '))
            .current_dir(self.0.path())
            .env("PATH", path)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Runs the command with the scripts of the folder first on PATH.
    fn farm(&self, args: &str) -> Said {
        let path = std::env::var("PATH").unwrap();
        self.runs(&format!("{}:{path}", self.0.path().display()), args)
    }
}

fn soak(seed: u64, broken: &str) -> String {
    format!("{{\"machine\":\"cenju3\",\"seed\":{seed},\"broken\":{broken},\"lost\":0,\"met\":[]}}")
}

#[test]
fn a_key_counts_once_and_a_commit_makes_another() {
    let farm = Farm::new();
    let (one, two, ten) = (soak(1, "null"), soak(2, "null"), soak(10, "null"));
    farm.file("a", &[&ten, &one]);
    farm.file("b", &[&one, &two]);
    let (code, said, error) = farm.farm("gather a b --out merged");
    assert_eq!(code, Some(0), "{said}{error}");
    assert!(
        said.contains("farm: 3 results, 0 failed; 1 came more than once and count once"),
        "{said}"
    );
    let seeds = |text: &str| {
        let seed = |line: &str| {
            line.split("\"seed\": ")
                .nth(1)
                .unwrap()
                .split(',')
                .next()
                .unwrap()
                .to_owned()
        };
        text.lines().map(seed).collect::<Vec<_>>()
    };
    assert_eq!(seeds(&farm.read("merged")), ["1", "2", "10"]);
    // What is merged can be merged again; another commit has its own results.
    let (_, said, _) = farm.farm("gather merged a --out again");
    assert!(said.contains("farm: 3 results"), "{said}");
    let (_, said, _) = farm.farm("gather b --out named --commit abc");
    assert!(said.contains("abc "), "{said}");
    let (_, said, _) = farm.farm("gather a named");
    assert!(said.contains("farm: 4 results"), "{said}");
}

#[test]
fn a_contradiction_names_both_places() {
    let farm = Farm::new();
    farm.file("a", &[&soak(1, "null"), &soak(2, "null")]);
    farm.file("b", &[&soak(2, "\"order\"")]);
    let (code, said, error) = farm.farm("gather a b");
    assert_eq!(code, Some(1));
    assert_eq!(
        error,
        "farm: contradiction: soak cenju3 seed 2 at no commit: a:2 and b:1 differ; the seed does not determine it\n"
    );
    assert!(said.contains("farm: 1 results, 0 failed"), "{said}");
}

#[test]
fn failures_have_their_lines_and_known_ones_come_last() {
    let farm = Farm::new();
    farm.file("old", &[&soak(3, "\"order\""), &soak(4, "null")]);
    let mutant = |at: u64, rest: &str| {
        format!("{{\"file\":\"rtl/net/a.sv\",\"line\":7,\"at\":{at},\"change\":\"`0` becomes `1`\",{rest}}}")
    };
    let mutants = [
        // The same change twice in one line: two mutants.
        mutant(70, "\"fate\":\"unseen\",\"excused\":false,\"shard\":\"3/8\""),
        mutant(75, "\"fate\":{\"alive\":2},\"excused\":true"),
        mutant(80, "\"fate\":{\"test\":\"x\"},\"excused\":false"),
    ];
    let test = "{\"test\":\"-p net --lib\",\"seed\":5,\"failed\":[\"TSUNAGI_SEED=5 cargo test -p net --lib\"]}";
    let (three, four) = (soak(3, "\"order\""), soak(4, "\"hang\""));
    farm.file("new", &[&three, &four, &mutants[0], &mutants[1], &mutants[2], test]);
    let (code, said, error) = farm.farm("gather new --known old");
    assert_eq!((code, error.as_str()), (Some(1), ""), "{said}");
    assert!(said.contains("farm: 6 results, 4 failed"), "{said}");
    let (fresh, known) = said.split_once("known failure").expect("a table of known failures");
    for line in [
        "tsunagi soak cenju3 --first 4 --seeds 1",
        "make mutants ARGS='--shard 3/8 --file rtl/net/a.sv'",
        "TSUNAGI_SEED=5 cargo test -p net --lib",
    ] {
        assert!(fresh.contains(line), "{said}");
    }
    assert!(!fresh.contains("--first 3") && known.contains("--first 3"), "{said}");
}

#[test]
fn what_is_no_result_is_named_with_its_place() {
    let farm = Farm::new();
    farm.file("a", &[&soak(1, "null"), "{\"machine\":\"cen"]);
    let (code, _, error) = farm.farm("gather a");
    assert_eq!(code, Some(1));
    assert!(error.starts_with("farm: a:2: no line of a result"), "{error}");
    let (code, _, error) = farm.farm("gather none");
    assert_eq!(code, Some(1));
    assert!(error.starts_with("farm: none does not exist"), "{error}");
    fs::create_dir(farm.path("folder")).unwrap();
    let (code, _, error) = farm.farm("gather folder");
    assert_eq!(code, Some(1));
    assert!(error.contains("farm.json is missing"), "{error}");
}

#[test]
fn without_slurm_the_mend_is_named() {
    let farm = Farm::new();
    let (code, _, error) = farm.runs("/no/such", "submit soak --seeds 4");
    assert_eq!(code, Some(1));
    for word in ["slurm-wlm", "root", "make soak"] {
        assert!(error.contains(word), "{error}");
    }
    assert!(!farm.path("out").exists(), "it leaves nothing behind");
}

/// A program that gives a line for each seed of its shard. Seed 5 fails.
const PROGRAM: &str = r#"
while [ $# -gt 0 ]; do
    case $1 in --seeds) seeds=$2 ;; --first) seed=$2 ;; --shard) shard=$2 ;; --json) json=$2 ;; esac
    shift
done
[ -n "$json" ] || exit 0
end=$((seed + seeds)) code=0
while [ $seed -lt $end ]; do
    broken=null
    if [ $((seed % ${shard#*/})) -eq $((${shard%/*} - 1)) ]; then
        [ $seed -ne 5 ] || { broken='"order"' code=1; }
        echo "{\"machine\":\"cenju3\",\"seed\":$seed,\"broken\":$broken}" >>$json
    fi
    seed=$((seed + 1))
done
exit $code"#;

/// It runs the shards of the array at once, but loses the second of three.
const SBATCH: &str = r#"
for word; do
    case $word in --array=1-3) array='1 3' ;; --array=*) array=${word#--array=} ;; esac
done
for shard in $array; do SLURM_ARRAY_TASK_ID=$shard sh -c "$word" >&2 || exit 1; done
echo 7"#;

#[test]
fn a_lost_shard_is_named_and_submitted_again() {
    let farm = Farm::new();
    farm.script("program", PROGRAM);
    farm.script("sbatch", SBATCH);
    let (code, said, error) = farm.farm("submit soak cenju3 --seeds 9 --shards 3 --program program --out run");
    assert_eq!(code, Some(0), "a failed seed is a result: {error}");
    assert!(said.contains("farm: job 7, shards 1-3 of 3; next: gather "), "{said}");

    let (code, said, error) = farm.farm("gather run");
    assert_eq!(code, Some(1));
    assert!(error.contains("run: 1 of 3 shards have no result: 2\n"), "{error}");
    assert!(said.contains("farm: 6 results, 1 failed"), "{said}");
    assert!(said.contains("tsunagi soak cenju3 --first 5 --seeds 1"), "{said}");

    let (code, said, error) = farm.farm("resubmit run");
    assert!(code == Some(0) && said.contains("shards 2 of 3"), "{said}{error}");
    let (_, said, error) = farm.farm("gather run");
    assert!(
        error.is_empty() && said.contains("farm: 9 results, 1 failed"),
        "{said}{error}"
    );
    assert_eq!(farm.read("run/result.jsonl").lines().count(), 9);
    let (code, _, error) = farm.farm("resubmit run");
    assert!(
        code == Some(1) && error.contains("every shard has its result"),
        "{error}"
    );
    let (code, _, error) = farm.farm("submit soak cenju3 --seeds 9 --program program --out run");
    assert!(code == Some(1) && error.contains("has a run already"), "{error}");

    // A result without one of its seeds.
    let results = fs::read_dir(farm.path("run/results")).unwrap();
    let third = results
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("/0003-"));
    let text = fs::read_to_string(third.as_ref().unwrap()).unwrap();
    let without: String = text
        .lines()
        .filter(|line| !line.contains("\"seed\": 8,"))
        .fold(String::new(), |all, line| all + line + "\n");
    fs::write(third.unwrap(), without).unwrap();
    let (code, _, error) = farm.farm("gather run");
    assert_eq!(code, Some(1));
    assert_eq!(error, "farm: run: seed 8 of cenju3 is not in the result of shard 3\n");
}
