//! C programs for a simulated machine, compiled by the system's `cc` against the machine's header and static library.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::root;

/// The static library of this machine that cargo built for this test: the newest beside it.
fn library(machine: &str) -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    let folder = test.parent().expect("a folder").read_dir().expect("readable");
    let libraries = folder.filter_map(|entry| {
        let entry = entry.ok()?;
        let file = entry.file_name().into_string().ok()?;
        let ours = file.starts_with(&format!("libtsunagi_{machine}")) && file.ends_with(".a");
        Some((entry.metadata().ok()?.modified().ok()?, entry.path())).filter(|_| ours)
    });
    libraries.max().expect("cargo builds the static library").1
}

/// The words behind `cc` with which the machine's header compiles a program.
fn command(machine: &str) -> String {
    let header = root().join(format!("c/{machine}/include/tsunagi_{machine}.h"));
    let header = fs::read_to_string(header).expect("a header");
    let mut lines = header.lines().filter_map(|line| line.strip_prefix(" *     cc "));
    lines
        .next()
        .expect("the header says how to compile a program")
        .to_owned()
}

/// A program in a folder of its own.
pub struct Program {
    folder: tempfile::TempDir,
}

impl Program {
    /// Compiles a C program for this machine, by the command in the machine's header.
    pub fn new(source: &str, machine: &str) -> Program {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("program.c"), source).expect("written");
        let include = format!("c/{machine}/include");
        let archive = format!("target/debug/libtsunagi_{machine}.a");
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"])
            .current_dir(folder.path());
        for word in command(machine).split(' ') {
            match word {
                _ if word == include => cc.arg(root().join(word)),
                _ if word == archive => cc.arg(library(machine)),
                _ => cc.arg(word),
            };
        }
        let out = cc.output().expect("cc runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        Program { folder }
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        let program = self.folder.path().join("program");
        Command::new(program).args(args).output().expect("the program runs")
    }
}

/// What a program printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
