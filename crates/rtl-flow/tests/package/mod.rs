//! A package of a user's own, on which `rtl-flow` runs tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `examples/your_rtl`, and in its folder `changed` a copy of its RTL with another line.
pub struct Package {
    folder: tempfile::TempDir,
    workspace: PathBuf,
}

impl Package {
    pub fn new(line: &str, other: &str) -> Self {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .canonicalize()
            .unwrap();
        // Not in the system's temporary folder, which YoWASP shadows with its own.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let package = Self { folder, workspace };
        let example = package.workspace.join("examples/your_rtl");
        for file in [
            "build.rs",
            "src/lib.rs",
            "tests/divider.rs",
            "units.toml",
            "rtl/divider.v",
        ] {
            let mut text = fs::read_to_string(example.join(file)).unwrap();
            if file == "units.toml" {
                // The first unit alone, the divider.
                let second = text.match_indices("[[unit]]").nth(1);
                text.truncate(second.map_or(text.len(), |(at, _)| at));
            }
            package.write(file, &text);
            if file == "units.toml" {
                package.write("changed/units.toml", &text);
            } else if file == "rtl/divider.v" {
                assert_eq!(text.matches(line).count(), 1);
                package.write("changed/rtl/divider.v", &text.replace(line, other));
            }
        }
        let lock = fs::read_to_string(package.workspace.join("Cargo.lock")).unwrap();
        package.write("Cargo.lock", &lock);
        let crates = package.workspace.join("crates");
        let manifest = format!(
            "[package]\nname = \"your-rtl\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
             [dependencies]\nverilated = {{ path = {:?} }}\n[build-dependencies]\nverilated-build = {{ path = {:?} }}\n\
             [dev-dependencies]\ntempfile = \"*\"\n",
            crates.join("verilated"),
            crates.join("verilated-build")
        );
        package.write("Cargo.toml", &manifest);
        package
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    // Only one of the tests that share this module uses it.
    #[allow(dead_code)]
    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap()
    }

    /// Runs `rtl-flow` over the units of this list; returns whether it found nothing, and its output.
    pub fn run(&self, part: &[&str], units: &str, more: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_rtl-flow"))
            .args(part)
            .args(["--package", "your-rtl", "--units", units, "--bin"])
            .arg(self.workspace.join(".tools/venv/bin"))
            .args(more)
            .current_dir(self.folder.path())
            .env("CARGO_NET_OFFLINE", "true")
            // The package's dependencies are compiled once.
            .env(
                "CARGO_TARGET_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("package"),
            )
            .output()
            .unwrap();
        let said = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        (output.status.success(), said.concat())
    }
}
