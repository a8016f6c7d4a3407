//! `tools/install.sh` stops with one sentence where what it stands on is missing or too old.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Runs a copy of the script in a folder of its own, with `python` as Python. What it says, after it has failed.
fn install(python: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tools")).unwrap();
    let script = folder.path().join("tools/install.sh");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/install.sh"), &script).unwrap();
    let output = Command::new("sh").arg(&script).env("PYTHON", python).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.path().join(".tools").exists(), "it leaves nothing behind");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_missing_python_is_named() {
    let said = install("/no/such/python");
    assert_eq!(
        said,
        "tools: /no/such/python was not found: install Python 3.10 or newer\n"
    );
}

/// A Python that answers the first `good` questions with yes: old enough for none, without venv for one.
fn python_of(good: usize) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("python");
    let asked = folder.path().join("asked");
    let text = format!(
        "#!/bin/sh\necho >> {0}\n[ $(wc -l < {0}) -le {good} ]\n",
        asked.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

#[test]
fn a_python_that_is_too_old_or_has_no_venv_is_named_with_the_mend() {
    let (_folder, python) = python_of(0);
    assert_eq!(
        install(&python),
        format!("tools: {python} is too old: Python 3.10 or newer is needed\n")
    );
    let (_folder, python) = python_of(1);
    let said = install(&python);
    assert!(
        said.contains("has no venv module") && said.contains("python3-venv"),
        "{said}"
    );
}
