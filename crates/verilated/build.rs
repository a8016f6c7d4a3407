//! Compiles the Verilator runtime once for all units, and binds its C face.

use std::env;
use std::path::Path;

fn main() {
    let tools = verilated_build::Toolchain::find().unwrap_or_else(|e| verilated_build::stop(&e));
    tools.hand_on();
    println!("cargo::rustc-env=VERILATOR={}", tools.version());
    let include = tools.include();
    let mut build = verilated_build::cpp(&tools);
    for name in ["DEP_Z_INCLUDE", "DEP_LZ4_INCLUDE"] {
        for path in env::split_paths(&env::var_os(name).unwrap_or_default()) {
            build.include(path);
        }
    }
    for user in ["FINISH", "STOP", "FATAL", "WARN"] {
        build.define(&format!("VL_USER_{user}"), None);
    }
    for file in ["verilated", "verilated_threads", "verilated_save", "verilated_vcd_c"] {
        build.file(include.join(file).with_extension("cpp"));
    }
    build
        .include("shim")
        .file("shim/runtime.cpp")
        .file("shim/fst.cpp")
        .file("shim/mutants.cpp")
        .compile("verilated_runtime");
    let bound = verilated_build::bind(&tools, Path::new("shim/runtime.h"), "rt_.*", "runtime.rs");
    bound.unwrap_or_else(|e| verilated_build::stop(&e));
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-changed=build.rs");
}
