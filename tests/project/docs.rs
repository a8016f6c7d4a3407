//! The documents do not go stale: every link and every path they name exists.

use std::fs;
use std::path::Path;

use support::root;

use crate::tracked;

/// Targets of Markdown links, and words in backticks that look like paths of this repository.
fn named(text: &str) -> Vec<(bool, &str)> {
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .map(|link| (true, link));
    let quoted = text.split('`').skip(1).step_by(2).filter(|word| {
        let folders = [
            "rtl/",
            "formal/",
            "src/",
            "crates/",
            "docs/",
            "tests/",
            "testbenches/",
            "examples/",
            "tools/",
            "c/",
            "benches/",
        ];
        folders.iter().any(|f| word.starts_with(f)) && !word.contains([' ', '*', '<', '{', '…'])
    });
    links
        .filter(|(_, l)| !l.is_empty() && !l.starts_with("http"))
        .chain(quoted.map(|q| (false, q)))
        .collect()
}

fn missing(document: &Path, text: &str) -> Vec<String> {
    let folder = document.parent().unwrap_or(Path::new(""));
    let exists = |link: bool, name: &str| {
        let base = if link { root().join(folder) } else { root() };
        base.join(name).exists()
    };
    named(text)
        .into_iter()
        .filter(|(link, name)| !exists(*link, name))
        .map(|(_, name)| name.to_owned())
        .collect()
}

#[test]
fn every_path_a_document_names_exists() {
    let documents = tracked(&["*.md"]);
    assert!(documents.iter().any(|d| d == "README.md"), "git lists the documents");
    for document in documents {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        assert_eq!(
            missing(Path::new(&document), &text),
            Vec::<String>::new(),
            "{document} names what is not there"
        );
    }
}

#[test]
fn a_stale_path_is_found() {
    let text = "see [this](docs/no_such.md), [that](https://example.org) and `rtl/no_such.sv`, not `rtl/*.sv`";
    assert_eq!(
        missing(Path::new("README.md"), text),
        ["docs/no_such.md", "rtl/no_such.sv"]
    );
}
