//! No line of a source or a document is over 120 columns.

use std::fs;

use support::root;

use crate::tracked;

const WIDTH: usize = 120;

/// The numbers of the lines that are too long. Tables and code of Markdown, and lines that twins break, have any width.
fn long(name: &str, text: &str) -> Vec<usize> {
    let mut code = false;
    let mut numbers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        code ^= line.trim_start().starts_with("```");
        let any_width = match name.rsplit('.').next() {
            Some("md") => code || line.starts_with('|'),
            Some("toml") => line.starts_with("line = ") || line.starts_with("broken = "),
            _ => false,
        };
        if !any_width && line.chars().count() > WIDTH {
            numbers.push(index + 1);
        }
    }
    numbers
}

#[test]
fn no_line_is_too_long() {
    let files = tracked(&["*.rs", "*.sv", "*.toml", "*.md", "*.py", "*.sh", "*.c", "*.h"]);
    assert!(files.iter().any(|name| name == "README.md"), "git lists the files");
    let mut found = Vec::new();
    for name in files {
        let text = fs::read_to_string(root().join(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        found.extend(long(&name, &text).iter().map(|line| format!("{name}:{line}")));
    }
    assert_eq!(found, Vec::<String>::new(), "over {WIDTH} columns");
}

#[test]
fn a_long_line_is_found() {
    let (full, over) = ("é".repeat(WIDTH), "é".repeat(WIDTH + 1));
    let text = format!("{full}\n{over}\nline = {over}\n| {over}\n```\n{over}\n```\n{over}\n");
    assert_eq!(long("src/lib.rs", &text), [2, 3, 4, 6, 8]);
    assert_eq!(long("units.toml", &text), [2, 4, 6, 8]);
    assert_eq!(long("README.md", &text), [2, 3, 8]);
}
