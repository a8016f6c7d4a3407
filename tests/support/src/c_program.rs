//! For the tests of the C libraries: C programs, compiled by the system's `cc` against a header and a static library.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The static library of this name that cargo built for this test: the newest beside it.
fn library(name: &str) -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    let folder = test.parent().expect("a folder").read_dir().expect("readable");
    let libraries = folder.filter_map(|entry| {
        let entry = entry.ok()?;
        let file = entry.file_name().into_string().ok()?;
        let ours = file.starts_with(&format!("lib{name}")) && file.ends_with(".a");
        Some((entry.metadata().ok()?.modified().ok()?, entry.path())).filter(|_| ours)
    });
    libraries.max().expect("cargo builds the static library").1
}

/// Where the root of the repository is.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// How the header of this library has a program compiled, behind `cc`.
pub fn command(name: &str) -> String {
    let header = fs::read_to_string(root().join(format!("include/{name}.h"))).expect("a header");
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
    /// Compiles a C program, with the library of this name, by the command in the library's header.
    pub fn new(source: &str, name: &str) -> Program {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("program.c"), source).expect("written");
        let command = command(name);
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"])
            .current_dir(folder.path());
        for word in command.split(' ') {
            match word {
                "include" => cc.arg(root().join("include")),
                _ if word == format!("target/debug/lib{name}.a") => cc.arg(library(name)),
                _ => cc.arg(word),
            };
        }
        let out = cc.output().expect("cc runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        Program { folder }
    }

    pub fn run(&self, args: &[&str]) -> Output {
        let program = self.folder.path().join("program");
        Command::new(program).args(args).output().expect("the program runs")
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
