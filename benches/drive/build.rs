//! Builds the same model twice: for Rust, as in any crate, and for the best hand-written C++ main. That is one file
//! with the main in it, with the flags of the Rust models: -O3, not position-independent, no wave support.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    verilated_build::Builder::from_toml("units.toml").build();
    let tools = verilated_build::Toolchain::find().unwrap_or_else(|e| verilated_build::stop(&e));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let generated = out.join("cpp");
    let mut verilate = tools.verilator();
    verilate.args([
        "--cc",
        "-O3",
        "--assert",
        "--x-assign",
        "fast",
        "--x-initial",
        "fast",
        "--quiet",
    ]);
    verilate.args(["--prefix", "Vcrossbar", "--top-module", "crossbar", "-GN=4", "-GW=64"]);
    verilate
        .args([
            "-y",
            "../../rtl/common",
            "-y",
            "../../rtl/net",
            "../../rtl/net/crossbar.sv",
            "-Mdir",
        ])
        .arg(&generated);
    run(&mut verilate);
    let mut text = String::new();
    let mut sources: Vec<PathBuf> = fs::read_dir(&generated)
        .expect("Verilator made it")
        .map(|e| e.expect("readable").path())
        .collect();
    sources.sort();
    for source in sources
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
    {
        text.push_str(&fs::read_to_string(source).expect("readable"));
    }
    text.push_str(&fs::read_to_string("cpp/main.cpp").expect("readable"));
    let one = out.join("drive.cpp");
    fs::write(&one, text).expect("OUT_DIR is writable");
    let include = tools.include();
    let mut compile = Command::new(env::var_os("CXX").unwrap_or("c++".into()));
    compile.args([
        "-O3",
        "-fno-pic",
        "-no-pie",
        "-std=c++17",
        "-w",
        "-DVL_TIME_CONTEXT",
        "-DVM_TRACE=0",
        "-pthread",
    ]);
    if verilated_build::cpp(&tools).get_compiler().is_like_gnu() {
        compile.args(verilated_build::FEW_BRANCHES);
    }
    compile
        .arg("-I")
        .arg(&generated)
        .arg("-I")
        .arg(&include)
        .arg("-I")
        .arg(include.join("vltstd"))
        .arg(&one);
    compile.args(["verilated.cpp", "verilated_threads.cpp"].map(|file| include.join(file)));
    compile.arg("-o").arg(out.join("drive-cpp"));
    run(&mut compile);
    watch(Path::new("cpp/main.cpp"));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
