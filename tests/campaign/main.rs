//! The fault campaign: a sample of it on every machine, the seeds that once failed, and the command.

use std::fs;

use support::root;
use tsunagi::campaign::{self, Campaign};
use tsunagi::harness::seed::Seed;
use tsunagi::machines;

const TSUNAGI: &str = env!("CARGO_BIN_EXE_tsunagi");
/// Seeds of each machine in a run.
const SAMPLE: u64 = 16;

fn campaigns() -> impl Iterator<Item = (&'static str, &'static dyn Campaign)> {
    machines::ALL
        .iter()
        .filter_map(|machine| Some((machine.name(), machine.facts().campaign?)))
}

/// Runs a seed.
///
/// # Panics
/// It breaks a clause.
fn passes(name: &str, campaign: &dyn Campaign, seed: u64) {
    let case = campaign::case(campaign, seed);
    let result = campaign::check(campaign, &case);
    result.unwrap_or_else(|broken| panic!("{broken}\nreplay: tsunagi soak {name} --first {seed} --seeds 1"));
}

#[test]
fn a_sample_of_seeds_breaks_nothing() {
    let first = Seed::get().0.wrapping_mul(SAMPLE);
    for (name, campaign) in campaigns() {
        (first..first + SAMPLE).for_each(|seed| passes(name, campaign, seed));
    }
}

/// `regressions/<machine>.txt` has a seed a line, and its finding.
#[test]
fn seeds_that_failed_once_pass() {
    for (name, campaign) in campaigns() {
        let path = root().join(format!("tests/campaign/regressions/{name}.txt"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in text.lines() {
            let seed = line.split_whitespace().next().and_then(|word| word.parse().ok());
            passes(
                name,
                campaign,
                seed.unwrap_or_else(|| panic!("`{line}` begins with no seed")),
            );
        }
    }
}

#[test]
fn the_command_counts_each_seed_once_and_runs_a_case_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (json, out) = (path("soak.jsonl"), path("out"));
    for shard in ["1/2", "2/2"] {
        let args = [
            "soak", "cenju3", "--seeds", "4", "--shard", shard, "--json", &json, "--out", &out,
        ];
        let (code, said, error) = support::command::run(TSUNAGI, &args);
        assert!(
            code == 0 && said.contains("cenju3: 2 seeds from 1, 0 failed"),
            "{said}{error}"
        );
    }
    let lines = fs::read_to_string(&json).unwrap();
    let mut seeds: Vec<u64> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["seed"]
                .as_u64()
                .unwrap()
        })
        .collect();
    seeds.sort_unstable();
    assert_eq!(seeds, [1, 2, 3, 4]);
    let again = ["soak", "cenju3", "--seeds", "5", "--json", &json, "--out", &out];
    let (code, said, error) = support::command::run(TSUNAGI, &again);
    let rest = said.contains("4 of the seeds have passed already") && said.contains("cenju3: 1 seeds from 1, 0 failed");
    assert!(code == 0 && rest, "{said}{error}");

    let case = path("own.case");
    fs::write(
        &case,
        "# by hand\nset pes=2\nset stages=1\nset mem_bytes=524288\nprogram parcel 1 dma 1 64 0 0 e\n",
    )
    .unwrap();
    let (code, said, error) = support::command::run(TSUNAGI, &["soak", "cenju3", "--case", &case, "--out", &out]);
    assert!(code == 0 && said.contains("nothing broken"), "{said}{error}");
    fs::write(&case, "fault 12ns 1 naps 4ns\n").unwrap();
    let (code, _, error) = support::command::run(TSUNAGI, &["soak", "cenju3", "--case", &case, "--out", &out]);
    assert!(
        code == 2 && error.contains("line 1: `naps` is no kind of fault"),
        "{error}"
    );
}
