//! Where nothing can be written: the file is named, no stump of it stays, and the exit code is 3.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{TSUNAGI, tsunagi};
#[test]
fn standard_output_without_room_is_an_error() {
    for command in [
        "list",
        "list --json",
        "--help",
        "run --help",
        "--version",
        "run cenju3 one-word --backend model",
        "run cenju3 one-word --backend model --json",
        "repro cenju3 --experiment E2 --backend model",
        "repro cenju3 --experiment E2 --backend model --brief",
        "send LICENSE-MIT --backend model",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(TSUNAGI)
            .args(command.split(' '))
            .stdout(full)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{command}: {error}");
        assert!(
            error.contains("standard output") && error.contains("No space left"),
            "{command}: {error}"
        );
    }
}

#[test]
fn errors_that_cannot_be_reported_keep_their_exit_code() {
    for (command, code) in [("run cenju3 two-words", 2), ("send no/such/file", 3)] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let status = Command::new(TSUNAGI)
            .args(command.split(' '))
            .stderr(full)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{command}");
    }
}

#[test]
fn a_reader_that_stops_is_no_error() {
    for command in ["list", "--help"] {
        let mut run = Command::new(TSUNAGI);
        run.args(command.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = run.spawn().unwrap();
        let mut line = String::new();
        BufReader::with_capacity(1, child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..]),
            "{command}"
        );
    }
}

/// Runs the command with a limit of so many blocks of 512 B per file: the nearest to a full disk that needs no rights.
fn limited(blocks: u32, args: &[&str]) -> (Option<i32>, String) {
    let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &limit, TSUNAGI])
        .args(args)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_wave_without_room_is_named_and_removed() {
    for wave in ["cenju3/one-word", "ap1000p/put"] {
        for format in ["fst", "vcd"] {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().to_str().unwrap();
            // 32 KB: less than either takes.
            let (code, error) = limited(64, &["wave", wave, "--format", format, "--out", out]);
            assert_eq!(code, Some(3), "{error}");
            let name = format!("{}.{format}", wave.replace('/', "-"));
            assert!(error.contains(&name) && error.contains("File too large"), "{error}");
            assert_eq!(files(folder.path()), [""; 0]);
        }
    }
}

#[test]
fn results_and_reports_without_room_are_named_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let experiment = ["cenju3", "--experiment", "E2", "--backend", "model", "--out"];
    let (code, error) = limited(1, &[&["repro"], &experiment[..], &[out]].concat());
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("rows.json"), "{error}");
    assert_eq!(files(folder.path()), [""; 0]);
    let page = folder.path().join("page.html");
    let (code, error) = limited(1, &[&["report"], &experiment[..], &[page.to_str().unwrap()]].concat());
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("page.html"), "{error}");
    assert_eq!(files(folder.path()), [""; 0]);
}

#[test]
fn a_file_without_an_end_is_refused() {
    let (code, _, error) = tsunagi(&["send", "/dev/zero", "--backend", "model"]);
    assert_eq!(code, 3, "{error}");
    assert!(
        error.contains("/dev/zero") && error.contains("longer than 268435456 B"),
        "{error}"
    );
}
