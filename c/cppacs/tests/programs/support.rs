//! Programs in C, made by the Makefile or from a text.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// The folder of this package.
pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The native library that cargo built for this test: the newest beside it.
fn library() -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    let folder = test.parent().expect("a folder").read_dir().expect("readable");
    let libraries = folder.filter_map(|entry| {
        let entry = entry.ok()?;
        let file = entry.file_name().into_string().ok()?;
        let ours = file.starts_with("libtsunagi_cppacs") && file.ends_with(".a");
        Some((entry.metadata().ok()?.modified().ok()?, entry.path())).filter(|_| ours)
    });
    libraries.max().expect("cargo builds the static library").1
}

/// A folder with what the Makefile makes of a target, and with programs.
pub struct Made(tempfile::TempDir);

impl Made {
    pub fn new(target: &str) -> Made {
        let folder = tempfile::tempdir().expect("a folder");
        let mut make = Command::new("make");
        make.arg("-C").arg(package()).arg(target);
        make.arg(format!("OUT={}", folder.path().display()));
        make.arg(format!("LIBRARY={}", library().display()));
        let out = make.output().expect("make runs");
        assert!(out.status.success(), "{}", text(&out.stderr));
        Made(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a program of PVM; `options` come before those of the project.
    pub fn compile(&self, name: &str, source: &str, options: &[&str]) {
        let file = self.path(&format!("{name}.c"));
        fs::write(&file, source).expect("written");
        let mut cc = Command::new("cc");
        cc.args(options).arg("-I").arg(package().join("include"));
        cc.arg(file)
            .arg(self.path("libpvm3.a"))
            .arg("-o")
            .arg(self.path(name))
            .arg("-lm");
        let out = cc.output().expect("cc runs");
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
    }

    /// Compiles a program with the native library, by the words in its header.
    pub fn compile_native(&self, name: &str, source: &str) {
        let file = self.path(&format!("{name}.c"));
        fs::write(&file, source).expect("written");
        let header = package().join("include/tsunagi_cppacs.h");
        let header = fs::read_to_string(header).expect("a header");
        let command = header.lines().find_map(|line| line.strip_prefix(" *     cc "));
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"]);
        for word in command.expect("the header says how to compile").split(' ') {
            match word {
                "program.c" => cc.arg(&file),
                "program" => cc.arg(self.path(name)),
                "c/cppacs/include" => cc.arg(package().join("include")),
                "target/debug/libtsunagi_cppacs.a" => cc.arg(library()),
                _ => cc.arg(word),
            };
        }
        let out = cc.output().expect("cc runs");
        assert!(out.status.success(), "{name}: {}", text(&out.stderr));
    }

    /// Runs a program by the launcher, with these options of it.
    pub fn pvm(&self, options: &[&str], program: &str, args: &[&str]) -> Output {
        let mut run = Command::new(env!("CARGO_BIN_EXE_cppacs-pvm"));
        run.args(options).arg(self.path(program)).args(args);
        run.output().expect("the launcher runs")
    }
}

/// What a program printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
