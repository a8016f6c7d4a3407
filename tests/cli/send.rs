//! `tsunagi send`: files of awkward sizes through the machine, and a flipped bit that must not pass.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::tsunagi;

/// A file of `bytes` bytes that repeats nothing soon, and its hash.
fn file(folder: &tempfile::TempDir, bytes: usize) -> (PathBuf, String) {
    let data: Vec<u8> = (0..bytes as u32)
        .map(|n| (n.wrapping_mul(0x9e37_79b1) >> 23) as u8)
        .collect();
    let path = folder.path().join(format!("{bytes}.bin"));
    fs::write(&path, &data).unwrap();
    let hash = Sha256::digest(&data).iter().map(|b| format!("{b:02x}")).collect();
    (path, hash)
}

fn send(path: &std::path::Path, args: &[&str]) -> (i32, Value) {
    let (code, text, error) = tsunagi(&[&["send", path.to_str().unwrap(), "--json"], args].concat());
    (code, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{error}")))
}

#[test]
fn any_size_arrives_with_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    // Nothing, less than a line, a line and a byte, odd, and more than a window.
    for machine in ["cenju3", "ap1000p"] {
        for bytes in [0, 1, 31, 33, 8191, 1_300_001] {
            let (path, hash) = file(&folder, bytes);
            let (code, sent) = send(&path, &["--machine", machine, "--backend", "model"]);
            assert_eq!(code, 0, "{sent}");
            assert_eq!((&sent["machine"], &sent["bytes"]), (&json!(machine), &json!(bytes)));
            assert_eq!(sent["sha256_sent"], hash.as_str());
            assert_eq!(sent["sha256_received"], hash.as_str());
            assert_eq!(sent["equal"], true);
        }
    }
}

#[test]
fn a_cell_carries_it_to_itself_too() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hash) = file(&folder, 5_001);
    let (code, sent) = send(&path, &["--machine", "ap1000p", "--from", "1", "--to", "1"]);
    assert_eq!(
        (code, sent["sha256_received"].as_str()),
        (0, Some(hash.as_str())),
        "{sent}"
    );
}

#[test]
fn the_least_memory_carries_it_too() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hash) = file(&folder, 5_001);
    let (code, sent) = send(&path, &["--backend", "model", "--set", "mem_bytes=655872"]);
    assert_eq!(
        (code, sent["sha256_received"].as_str()),
        (0, Some(hash.as_str())),
        "{sent}"
    );
    assert_eq!(sent["bytes"], 5_001);
}

#[test]
fn the_rtl_of_64_pes_carries_it_from_end_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hash) = file(&folder, 20_001);
    for (machine, rate) in [("cenju3", 10.0..36.5), ("ap1000p", 20.0..25.0)] {
        let (code, sent) = send(
            &path,
            &["--machine", machine, "--pes", "64", "--from", "0", "--to", "63"],
        );
        assert_eq!(code, 0, "{sent}");
        assert_eq!(
            (sent["backend"].as_str(), sent["sha256_received"].as_str()),
            (Some("rtl"), Some(hash.as_str()))
        );
        assert!(rate.contains(&sent["mb_s"].as_f64().unwrap()), "{sent}");
    }
}

#[test]
fn one_flipped_bit_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hash) = file(&folder, 1_200_000);
    // The last bit, behind the first window.
    let (code, sent) = send(&path, &["--backend", "model", "--flip-bit", "9599999"]);
    assert_eq!(code, 1, "{sent}");
    assert_eq!(
        (sent["equal"].as_bool(), sent["sha256_sent"].as_str()),
        (Some(false), Some(hash.as_str()))
    );
    // A bit that the file does not have changes nothing.
    assert_eq!(send(&path, &["--backend", "model", "--flip-bit", "9600000"]).0, 0);
}
