//! Whether a unit is up to date: the command and the content of every file it was made from.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// The text of a stamp; `None` when a file cannot be read.
pub fn text(command: &str, inputs: &[PathBuf]) -> Option<String> {
    let mut text = format!("{:016x}\n", hash(command.as_bytes()));
    for input in inputs {
        let content = fs::read(input).ok()?;
        text.push_str(&format!("{:016x} {}\n", hash(&content), input.display()));
    }
    Some(text)
}

/// The inputs named in a stamp that is still true.
pub fn fresh(stamp: &Path, command: &str) -> Option<Vec<PathBuf>> {
    let old = fs::read_to_string(stamp).ok()?;
    let inputs: Vec<PathBuf> = old
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(' '))
        .map(|(_, path)| path.into())
        .collect();
    (text(command, &inputs)? == old).then_some(inputs)
}

/// The files a Makefile rule written by Verilator depends on.
pub fn dependencies(rule: &str) -> Vec<PathBuf> {
    let (_, after) = rule.split_once(" : ").unwrap_or(("", ""));
    after
        .lines()
        .next()
        .unwrap_or("")
        .split_whitespace()
        .map(PathBuf::from)
        .collect()
}
