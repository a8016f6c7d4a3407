//! The programs of Debian's package pvm-examples (3.4.6-5), where it is installed or its folder of documentation is
//! named by `TSUNAGI_PVM_EXAMPLES`. They are no part of this project; `apt-get install pvm-examples` brings them.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Made, text};

/// Starter calls exit() without a number, which no compiler takes that knows the function.
const COMPILER: [&str; 3] = ["-std=gnu89", "-w", "-fno-builtin-exit"];

/// Those that need contexts, mailboxes, message handlers, or a task that spawns again.
const MISSING: [&str; 14] = [
    "gmbi",
    "inherit1",
    "inherit2",
    "inherit3",
    "inherita",
    "inheritb",
    "lmbi",
    "mbox",
    "mhf_server",
    "mhf_tickle",
    "rme",
    "task0",
    "task1",
    "task_end",
];

/// Options of the launcher, the program, its arguments and its input; what it must print, on either stream.
const RUNS: [(&str, &str, &str, &[&str]); 18] = [
    ("", "hello", "", &["i'm t40001\nfrom t40002: hello, world from "]),
    (
        "",
        "master1",
        "",
        &["I got 100.000000 from 1; (expecting 100.000000)", "300.000000 from 2"],
    ),
    (
        "--nodes 3",
        "master1",
        "",
        &["Trouble spawning slaves. Aborting. Error codes are:\nTID 2 -6\n"],
    ),
    (
        "--tasks 4",
        "spmd",
        "",
        &["Pass a token through the   4 tid ring:", "token ring done"],
    ),
    (
        "",
        "gexample",
        "3 4",
        &["The 1-Norm is 6 ", "The product of column 1 is 6 "],
    ),
    (
        "",
        "timing",
        "",
        &["Doing Round Trip test", "RTT Avg uSec ", "\ndone\n"],
    ),
    (
        "--tasks 3",
        "ptest 3",
        "",
        &["iter 7 ... (pvm_recv) \nData validated from all tasks! "],
    ),
    (
        "--tasks 2",
        "bwtest",
        "",
        &["100000 doubles received correctly", "Roundtrip T = "],
    ),
    (
        "",
        "ge 4",
        "",
        &["[t40002] done\n", "[t40003] done\n", "[t40004] done\n"],
    ),
    ("", "gexamp 4", "", &["gexamp 0: sync", "gexamp 3: sync"]),
    ("", "gs 4", "", &["waiting on kids to join"]),
    ("--nodes 5", "thb 4", "", &["joined group31", "spawning", "done."]),
    ("", "tjf", "", &["joined group31"]),
    ("", "tjl", "", &["joined group31"]),
    (
        "",
        "tst",
        "",
        &["joined prognosis 0, negative 0", "left prognosis 0, negative 0"],
    ),
    (
        "",
        "trsg",
        "4 5",
        &["Sum of Squares of first 20 integers is 2870", "Test Ok: Received"],
    ),
    ("", "joinleave 200", "", &["Joined 200 times"]),
    (
        "",
        "starter -n 2 hello_other",
        "",
        &["hello_other program to be spawned 2 times."],
    ),
];

/// Their sources, compiled; `None`: the package is not there.
fn compile() -> Option<Made> {
    let named = env::var_os("TSUNAGI_PVM_EXAMPLES").map(PathBuf::from);
    let package = named.unwrap_or_else(|| "/usr/share/doc/pvm-examples".into());
    if !package.join("examples.tar.gz").is_file() {
        eprintln!("skipped: {} has no examples.tar.gz", package.display());
        return None;
    }
    let made = Made::new("pvm");
    for archive in ["examples", "gexamples"] {
        let mut tar = Command::new("tar");
        tar.arg("xzf")
            .arg(package.join(format!("{archive}.tar.gz")))
            .arg("-C")
            .arg(made.path(""));
        assert!(tar.status().unwrap().success());
        for entry in made.path(archive).read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            // Taskf is a part of others.
            let other = MISSING.contains(&name.as_str()) || name == "taskf";
            if path.extension().is_some_and(|e| e == "c") && !other {
                let source = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                made.compile(&name, &source, &COMPILER);
            }
        }
    }
    Some(made)
}

#[test]
fn debians_examples_run() {
    let Some(made) = compile() else { return };
    for (options, program, input, expected) in RUNS {
        let mut words = program.split(' ');
        let mut run = Command::new(env!("CARGO_BIN_EXE_cppacs-pvm"));
        run.args(options.split_whitespace())
            .arg(made.path(words.next().unwrap()))
            .args(words);
        run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = run.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        let said = text(&out.stdout) + &text(&out.stderr);
        for words in expected {
            assert!(said.contains(words), "{program}: `{words}` is not in\n{said}");
        }
    }
}
