//! The fault campaign: a sample of it on every machine, the seeds that once failed, and the command.

use std::fs;

use support::root;
use tsunagi::campaign::{self, Campaign, Case};
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

/// A seed makes another case as soon as the drawing changes, so `regressions/<machine>/` has the cases themselves.
#[test]
fn cases_that_failed_once_pass() {
    for (name, campaign) in campaigns() {
        let folder = root().join("tests/campaign/regressions").join(name);
        let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in files.map(|file| file.unwrap().path()) {
            let text = fs::read_to_string(&path).unwrap();
            let shown = path.display();
            let case: Case = text.parse().unwrap_or_else(|error| panic!("{shown}: {error}"));
            campaign
                .accepts(&case)
                .unwrap_or_else(|error| panic!("{shown}: {error}"));
            campaign::check(campaign, &case).unwrap_or_else(|error| panic!("{shown}: {error}"));
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
    let rest = [
        "4 of the seeds have passed already",
        "cenju3: 1 seeds from 1, 0 failed",
        "soak: 1 seeds passed",
    ];
    let rest = rest.iter().all(|text| said.contains(text));
    assert!(code == 0 && rest, "{said}{error}");

    let case = path("own.case");
    fs::write(
        &case,
        "# by hand\nset pes=2\nset stages=1\nset mem_bytes=524288\nprogram parcel 1 dma 1 64 0 0 e\n",
    )
    .unwrap();
    let (code, said, error) = support::command::run(TSUNAGI, &["soak", "cenju3", "--case", &case, "--out", &out]);
    assert!(code == 0 && said.contains("nothing broken"), "{said}{error}");
}

#[test]
fn a_case_that_is_none_of_the_machine_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (case, out) = (path("own.case"), path("out"));
    let cenju3 = "set pes=2\nset stages=1\nset mem_bytes=524288\n";
    let ap1000p = "set columns=2\nset rows=1\nset mem_bytes=1572864\n";
    let wrong = [
        (
            "cenju3",
            "fault 12ns 1 naps 4ns\n".to_owned(),
            "line 1: `naps` is no kind of fault",
        ),
        (
            "cenju3",
            "set pes=2\nset stages=1\nset mem_bytes=65536\n".into(),
            "mem_bytes=65536: at most 16 PEs",
        ),
        (
            "cenju3",
            format!("{cenju3}program send 1 64\n"),
            "program 0: `send 1 64` is no command",
        ),
        (
            "cenju3",
            format!("{cenju3}program parcel 0 dma 2 64 0 0 -\n"),
            "is no command",
        ),
        (
            "cenju3",
            format!("{cenju3}program parcel 0 dma 1 64 0 16384 -\n"),
            "is no command",
        ),
        (
            "cenju3",
            format!("{cenju3}program raw 0 1 2 3 4 5 6 7\n"),
            "is no command",
        ),
        (
            "cenju3",
            format!("{cenju3}program\nprogram\nprogram\n"),
            "3 programs: a machine of 2 nodes runs at most 2",
        ),
        (
            "cenju3",
            format!("{cenju3}fault 12ns 2 link-stalls 4ns\n"),
            "the machine has no such node",
        ),
        (
            "cenju3",
            format!("{cenju3}fault 12ns 1 pages-gone 0x0 1 4ns\n"),
            "Cenju-3 has no pages",
        ),
        (
            "cenju3",
            format!("{cenju3}fault 12ns 1 packet 0x12345\n"),
            "it must be malformed",
        ),
        (
            "cenju3",
            format!("{cenju3}fault 50000000ns 1 link-stalls 1ns\n"),
            "it must end within 50 ms",
        ),
        (
            "ap1000p",
            format!("{ap1000p}program put 2 4 0 0 flag\n"),
            "`put 2 4 0 0 flag` is no command",
        ),
        (
            "ap1000p",
            format!("{ap1000p}program put 1 4 4294967292 0 -\n"),
            "is no command",
        ),
        (
            "ap1000p",
            format!("{ap1000p}program put 1 4 0 0 flog\n"),
            "is no command",
        ),
        (
            "ap1000p",
            format!("{ap1000p}fault 12ns 1 nic-resets 4ns\n"),
            "is not reset alone",
        ),
        (
            "ap1000p",
            format!("{ap1000p}fault 12ns 1 pages-gone 0x0 1 4ns\n"),
            "its pages are none on demand",
        ),
    ];
    for (machine, text, said) in wrong {
        fs::write(&case, &text).unwrap();
        let (code, _, error) = support::command::run(TSUNAGI, &["soak", machine, "--case", &case, "--out", &out]);
        assert!(code == 2 && error.contains(said), "{machine}, {text}{error}");
    }
    let (code, _, error) = support::command::run(TSUNAGI, &["soak", "--case", &case, "--out", &out]);
    assert!(code == 2 && error.contains("required"), "{error}");
    let legal = "program put 1 4 0 0 flag; get 1 4 0 0; receive 1\nfault 12ns 1 memory-stalls 4ns\n";
    fs::write(&case, format!("{ap1000p}{legal}")).unwrap();
    let (code, said, error) = support::command::run(TSUNAGI, &["soak", "ap1000p", "--case", &case, "--out", &out]);
    assert!(code == 0 && said.contains("nothing broken"), "{said}{error}");
}

/// What is drawn can be written by hand.
#[test]
fn drawn_cases_are_accepted() {
    for (name, campaign) in campaigns() {
        for seed in 0..500 {
            let case = campaign::case(campaign, seed);
            let written = case.to_string().parse::<Case>().expect("a case");
            assert_eq!(campaign.accepts(&written), Ok(()), "{name}, seed {seed}");
        }
    }
}
