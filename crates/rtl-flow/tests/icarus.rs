//! The statements of `rtl/README.md` on Icarus Verilog: which blocks it takes, and that a reset alone makes each of
//! them known in a four-state simulation.
//! Icarus is no tool of the project. Without an `iverilog` in PATH these tests say so and check nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Blocks of `common` and `net` that Icarus 11 does not take.
const NOT_TAKEN: [&str; 8] = [
    "broadcast_bus",
    "mem_read_rules",
    "mem_write_rules",
    "omega",
    "stream_rules",
    "sync_tree",
    "torus_input",
    "torus_router",
];

fn rtl() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl")
}

fn has_icarus() -> bool {
    let found = Command::new("iverilog").arg("-V").output().is_ok();
    if !found {
        println!("skipped: there is no `iverilog` in PATH (`apt-get install iverilog`)");
    }
    found
}

/// Compiles a module into `out`; returns the compiler's output without its warnings.
fn compile(module: &str, file: &Path, params: &[String], out: &Path) -> String {
    let mut command = Command::new("iverilog");
    command.args(["-g2012", "-Y", ".sv", "-s", module]).arg("-o").arg(out);
    for folder in ["common", "net"] {
        command.arg("-y").arg(rtl().join(folder));
    }
    command.args(params.iter().map(|param| format!("-P{module}.{param}")));
    let output = command.arg(file).output().expect("iverilog runs");
    if output.status.success() {
        String::new()
    } else {
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// The blocks of a folder.
fn blocks(folder: &str) -> Vec<(String, PathBuf)> {
    let files = fs::read_dir(rtl().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.map(|path| (name(&path), path)).collect()
}

#[test]
fn it_takes_all_blocks_but_those_that_the_catalogue_names() {
    let catalogue = fs::read_to_string(rtl().join("README.md")).unwrap();
    let said = catalogue
        .split("\n\n")
        .find(|paragraph| paragraph.starts_with("Icarus 11 takes"))
        .unwrap();
    let named: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
    let expected = [&["common", "net"], &NOT_TAKEN[..]].concat();
    assert_eq!(named, expected, "rtl/README.md");
    if !has_icarus() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, path) in [blocks("common"), blocks("net")].concat() {
        if !NOT_TAKEN.contains(&name.as_str()) {
            let said = compile(&name, &path, &[], &folder.path().join("block"));
            assert!(said.is_empty(), "{name}: {said}");
        }
    }
}

#[test]
fn an_asynchronous_fifo_is_known_after_one_cycle_of_reset_of_each_side() {
    if !has_icarus() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/async_fifo_unknown.sv");
    let program = folder.path().join("bench");
    for (input, output) in [(5, 5), (5, 7), (3, 50), (50, 3), (1, 37)] {
        for (in_reset, out_reset) in [(1, 1), (10, 10), (10, 12), (30, 10), (10, 100)] {
            let params = [
                format!("InHalf={input}"),
                format!("OutHalf={output}"),
                format!("InReset={in_reset}"),
                format!("OutReset={out_reset}"),
            ];
            let said = compile("async_fifo_unknown", &bench, &params, &program);
            assert!(said.is_empty(), "{said}");
            let run = Command::new("vvp")
                .arg(&program)
                .output()
                .expect("vvp is beside iverilog");
            assert_eq!(String::from_utf8_lossy(&run.stdout).trim(), "passed", "{params:?}");
        }
    }
}
