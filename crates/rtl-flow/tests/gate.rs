//! `rtl-flow gate` runs tests on netlists: one of a sound source passes; one of a broken source fails, though the RTL beside it is sound.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use verilated_build::Toolchain;

const LINE: &str = "left <= left << 1;";
const BROKEN: &str = "left <= left;";

/// A package as `examples/your_rtl`, and beside its RTL a copy in which a line is broken.
fn package(workspace: &Path) -> tempfile::TempDir {
    // Not in the system's temporary folder, which YoWASP shadows with its own.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let example = workspace.join("examples/your_rtl");
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for file in [
        "build.rs",
        "src/lib.rs",
        "tests/divider.rs",
        "units.toml",
        "rtl/divider.v",
    ] {
        let text = fs::read_to_string(example.join(file)).unwrap();
        write(file, &text);
        if file == "units.toml" {
            write("broken/units.toml", &text);
        } else if file == "rtl/divider.v" {
            assert_eq!(text.matches(LINE).count(), 1);
            write("broken/rtl/divider.v", &text.replace(LINE, BROKEN));
        }
    }
    let lock = fs::read_to_string(workspace.join("Cargo.lock")).unwrap();
    write("Cargo.lock", &lock);
    let crates = workspace.join("crates");
    let manifest = format!(
        "[package]\nname = \"your-rtl\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nverilated = {{ path = {:?} }}\n[build-dependencies]\nverilated-build = {{ path = {:?} }}\n\
         [dev-dependencies]\ntempfile = \"*\"\n",
        crates.join("verilated"),
        crates.join("verilated-build")
    );
    write("Cargo.toml", &manifest);
    folder
}

/// Runs the package's test on the netlist of what this list names.
fn gate(workspace: &Path, package: &Path, units: &str, more: &[&str]) -> Output {
    let set = |name| env::var_os(name);
    let tools = Toolchain::find_in(
        set("VERILATOR_ROOT").as_deref(),
        Some(workspace),
        set("PATH").as_deref(),
    );
    Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
        .args(["gate", "generic", "--package", "your-rtl", "--units", units, "--bin"])
        .arg(workspace.join(".tools/venv/bin"))
        .args(more)
        .current_dir(package)
        .env("VERILATOR_ROOT", tools.unwrap_or_else(|e| panic!("{e}")).root())
        .env("CARGO_NET_OFFLINE", "true")
        // What the package depends on is compiled once.
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("gate"))
        .output()
        .unwrap()
}

#[test]
fn a_netlist_of_a_broken_source_is_caught() {
    let workspace: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let package = package(&workspace);
    let run = |units, more: &[&str]| {
        let output = gate(&workspace, package.path(), units, more);
        let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        (output.status.success(), said.concat())
    };
    let (passed, said) = run("units.toml", &[]);
    assert!(passed && said.contains("generic: 1 netlists; 1 tests passed"), "{said}");
    let (passed, said) = run("broken/units.toml", &[]);
    assert!(!passed && said.contains("it_divides ... FAILED"), "{said}");
    assert!(said.contains("cargo test over generic netlists"), "{said}");
    let (passed, said) = run("units.toml", &["--unit", "Multiplier"]);
    assert!(!passed && said.contains("no design has such a name"), "{said}");
    let (passed, said) = run("units.toml", &["--", "no_such_test"]);
    assert!(!passed && said.contains("0 tests passed"), "{said}");
}
