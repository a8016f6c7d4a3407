//! Verilates the units of this package. The tests run this very program again, in folders of their own.

use std::env;

fn main() {
    verilated_build::Builder::from_toml("rtl/units.toml").build();
    let tools = verilated_build::Toolchain::find().unwrap_or_else(|e| verilated_build::stop(&e));
    println!("cargo::rustc-env=BUILD_TOOLS={}", tools.root().display());
    let own = env::current_exe().expect("a running program has a path");
    println!("cargo::rustc-env=BUILD_SCRIPT={}", own.display());
    println!(
        "cargo::rustc-env=BUILD_TARGET={}",
        env::var("TARGET").expect("cargo sets it")
    );
}
