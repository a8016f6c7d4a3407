//! One TOML file per machine (`rtl/*/regs.toml`; a separate chip may have another) describes its registers, packets and
//! constants. The SystemVerilog package, the Rust constants, the C header and the documentation table come from it, so
//! no two of them can disagree. The names that waves show come from it and from the enumerations of the RTL beside it.

mod emit;
mod enums;
mod spec;

use std::path::{Path, PathBuf};
use std::{fs, io};

pub use spec::{Block, Constants, Field, Machine, Output, Value, Word};

/// Errors of reading an origin or writing its outputs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Syntax {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    #[error("{path}: {what}")]
    Meaning { path: PathBuf, what: String },
    #[error("stale, run `cargo run -p regs-gen`: {}", list(.0))]
    Stale(Vec<PathBuf>),
}

fn list(paths: &[PathBuf]) -> String {
    paths
        .iter()
        .map(|p| p.display().to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Reads one origin and checks that its fields fit their words and do not overlap.
pub fn load(path: &Path) -> Result<Machine, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Io {
        path: path.into(),
        source,
    })?;
    let machine: Machine = toml::from_str(&text).map_err(|source| Error::Syntax {
        path: path.into(),
        source: source.into(),
    })?;
    machine.check().map_err(|what| Error::Meaning {
        path: path.into(),
        what,
    })?;
    Ok(machine)
}

/// The generated files of every machine under `root`: path relative to `root`, contents.
pub fn generate(root: &Path) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut files = Vec::new();
    for origin in origins(root)? {
        let machine = load(&root.join(&origin))?;
        let from = origin.display().to_string();
        files.push((machine.output.sv.clone(), emit::sv(&machine, &from)));
        files.push((machine.output.rust.clone(), emit::rust(&machine, &from)));
        files.push((machine.output.c.clone(), emit::c(&machine, &from)));
        files.push((machine.output.docs.clone(), emit::docs(&machine, &from)));
        if let Some(names) = &machine.output.names {
            let folder = root.join(&origin);
            let enums = enums::of(folder.parent().expect("an origin lies in a folder"))?;
            files.push((names.clone(), emit::names(&machine, &from, &enums)));
        }
    }
    Ok(files)
}

/// Writes the generated files that differ; returns their paths.
pub fn write(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut written = Vec::new();
    for (path, text) in stale(root)? {
        let to = root.join(&path);
        let io = |source| Error::Io {
            path: to.clone(),
            source,
        };
        fs::create_dir_all(to.parent().expect("an output is a file below the root")).map_err(io)?;
        fs::write(&to, text).map_err(io)?;
        written.push(path);
    }
    Ok(written)
}

/// Fails with [`Error::Stale`] and the file names when a generated file is missing or stale.
pub fn check(root: &Path) -> Result<(), Error> {
    let paths: Vec<PathBuf> = stale(root)?.into_iter().map(|(path, _)| path).collect();
    if paths.is_empty() {
        Ok(())
    } else {
        Err(Error::Stale(paths))
    }
}

fn stale(root: &Path) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut files = generate(root)?;
    files.retain(|(path, text)| fs::read_to_string(root.join(path)).ok().as_deref() != Some(text));
    Ok(files)
}

/// Files `rtl/<machine>/*regs.toml` under `root`, sorted.
fn origins(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let rtl = root.join("rtl");
    let io = |source| Error::Io {
        path: rtl.clone(),
        source,
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(&rtl).map_err(io)? {
        let dir = entry.map_err(io)?;
        if !dir.path().is_dir() {
            continue;
        }
        for entry in fs::read_dir(dir.path()).map_err(io)? {
            let name = entry.map_err(io)?.file_name();
            if name.to_string_lossy().ends_with("regs.toml") {
                found.push(Path::new("rtl").join(dir.file_name()).join(name));
            }
        }
    }
    found.sort();
    Ok(found)
}
