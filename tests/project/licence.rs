//! Sources that others take alone begin with their licence.

use std::fs;

use support::root;

use crate::tracked;

const LICENCE: &str = "SPDX-License-Identifier: MIT OR Apache-2.0";

/// Whether the first line is the licence, as a comment.
fn licensed(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    [format!("// {LICENCE}"), format!("/* {LICENCE} */")]
        .iter()
        .any(|line| line == first)
}

#[test]
fn rtl_and_c_begin_with_their_licence() {
    let files = tracked(&["rtl/*.sv", "formal/*.sv", "fpga/*.sv", "c/*.h", "examples/c/*.c"]);
    assert!(files.len() > 200, "git lists the files");
    let text = |name: &String| fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let found: Vec<_> = files.into_iter().filter(|name| !licensed(&text(name))).collect();
    assert_eq!(
        found,
        Vec::<String>::new(),
        "the first line is to be `{LICENCE}`, as a comment"
    );
}

/// A generated model contains Verilator's runtime; the licence named is the one in the runtime's own header.
#[test]
fn the_licence_of_verilators_runtime_is_named() {
    let lib = fs::read_dir(root().join(".tools/venv/lib")).expect("`make tools` was run");
    let header = lib
        .flatten()
        .map(|python| python.path().join("site-packages/verilator/include/verilated.h"))
        .find_map(|header| fs::read_to_string(header).ok())
        .expect("Verilator is there");
    let (_, rest) = header
        .split_once("SPDX-License-Identifier: ")
        .expect("it begins with its licence");
    let licence = rest.lines().next().unwrap_or_default().replace(" OR ", " or ");
    for page in ["README.md", "crates/verilated/README.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(text.contains(&licence), "{page} does not name {licence}");
    }
}

/// The value of a key at the margin of a file in YAML.
fn value<'a>(yaml: &'a str, key: &str) -> Option<&'a str> {
    yaml.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
}

#[test]
fn the_citation_is_of_this_version_and_licence() {
    let text = fs::read_to_string(root().join("CITATION.cff")).unwrap();
    assert_eq!(value(&text, "cff-version"), Some("1.2.0"));
    assert_eq!(value(&text, "version"), Some(env!("CARGO_PKG_VERSION")));
    for key in ["message", "title", "type"] {
        assert!(value(&text, key).is_some(), "{key}");
    }
    assert!(text.contains("\nauthors:\n  - name: "), "{text}");
    let licences = value(&text, "license").map(|list| list.trim_matches(['[', ']']).replace(", ", " OR "));
    assert_eq!(licences.as_deref(), Some(env!("CARGO_PKG_LICENSE")));
}

#[test]
fn a_source_without_licence_is_found() {
    assert!(licensed(&format!("// {LICENCE}\n// A FIFO.\n")));
    assert!(!licensed(&format!("// A FIFO.\n// {LICENCE}\n")));
    assert!(!licensed(""));
}
