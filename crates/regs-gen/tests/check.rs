//! The committed outputs are fresh; a stale or invalid origin is named.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A checkout of its own with one machine, changed by `edit`; removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, edit: impl Fn(String) -> String) -> Scratch {
        let root = env::temp_dir().join(format!("regs-gen-{name}-{}", process::id()));
        fs::create_dir_all(root.join("rtl/cenju3")).unwrap();
        let origin = fs::read_to_string(checkout().join("rtl/cenju3/regs.toml")).unwrap();
        fs::write(root.join("rtl/cenju3/regs.toml"), edit(origin)).unwrap();
        Scratch(root)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn generated_files_are_fresh() {
    regs_gen::check(&checkout()).unwrap();
}

#[test]
fn a_stale_file_is_named() {
    let scratch = Scratch::new("stale", |text| text);
    assert_eq!(regs_gen::write(&scratch.0).unwrap().len(), 5);
    regs_gen::check(&scratch.0).unwrap();
    let header = scratch.0.join("c/cenju3/include/cenju3_regs.h");
    fs::write(&header, fs::read_to_string(&header).unwrap().replace("0x64u", "0x60u")).unwrap();
    let error = regs_gen::check(&scratch.0).unwrap_err().to_string();
    assert_eq!(
        error,
        "stale, run `cargo run -p regs-gen`: c/cenju3/include/cenju3_regs.h"
    );
}

#[test]
fn overlapping_fields_are_refused() {
    let scratch = Scratch::new("overlap", |text| text.replacen("bits = \"4\"", "bits = \"3\"", 1));
    let error = regs_gen::check(&scratch.0).unwrap_err().to_string();
    assert!(
        error.contains("regs.toml: ") && error.ends_with("overlaps a field before it"),
        "{error}"
    );
}

#[test]
fn a_name_given_twice_is_refused() {
    let scratch = Scratch::new("twice", |text| text.replacen("\"SQ1_BASE\"", "\"SQ0_BASE\"", 1));
    let error = regs_gen::check(&scratch.0).unwrap_err().to_string();
    assert!(error.ends_with("SQ0_BASE is defined twice"), "{error}");
}
