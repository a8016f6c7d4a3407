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

#[test]
fn a_source_without_licence_is_found() {
    assert!(licensed(&format!("// {LICENCE}\n// A FIFO.\n")));
    assert!(!licensed(&format!("// A FIFO.\n// {LICENCE}\n")));
    assert!(!licensed(""));
}
