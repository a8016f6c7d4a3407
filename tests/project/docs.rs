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

/// The pages that this index, in `folder`, has no link to.
fn not_in<'a>(folder: &str, index: &str, pages: &'a [String]) -> Vec<&'a String> {
    let own = |page: &str| page.strip_prefix(folder).map_or(format!("../{page}"), str::to_owned);
    let links = |page: &&String| !index.contains(&format!("]({})", own(page)));
    pages.iter().filter(links).collect()
}

#[test]
fn the_indexes_name_each_page() {
    let index = fs::read_to_string(root().join("docs/README.md")).unwrap();
    let mut pages = tracked(&["docs/*.md"]);
    pages.retain(|page| page != "docs/README.md" && !page.starts_with("docs/decisions/"));
    assert!(pages.len() > 20, "git lists the pages");
    assert_eq!(
        not_in("docs/", &index, &pages),
        Vec::<&String>::new(),
        "not in docs/README.md"
    );
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let mut beside = tracked(&["*.md", "*.cff", "LICENSE-*"]);
    beside.retain(|page| !page.contains('/') && page != "README.md");
    assert!(beside.len() > 5, "git lists the files beside README.md");
    assert_eq!(not_in("", &readme, &beside), Vec::<&String>::new(), "not in README.md");
    let text = index
        .replace("](gate.md)", "](gates.md)")
        .replace("](../SECURITY.md)", "");
    let lost = ["docs/gate.md".to_owned(), "SECURITY.md".to_owned()];
    assert_eq!(
        not_in("docs/", &text, &lost).len(),
        2,
        "the broken twin: pages without a link are found"
    );
}

#[test]
fn a_stale_path_is_found() {
    let text = "see [this](docs/no_such.md), [that](https://example.org) and `rtl/no_such.sv`, not `rtl/*.sv`";
    assert_eq!(
        missing(Path::new("README.md"), text),
        ["docs/no_such.md", "rtl/no_such.sv"]
    );
}
