//! Mutated copies of the sources, in which a number chooses the one change that counts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// This variable makes a build script read the mutated copies of source files in the folder that it names, each by the
/// file's name. The copies call `verilated_mutant`, which the package `verilated` has. Broken twins are left out: their
/// names stand for the sets that they are twins of.
pub const VARIABLE: &str = "VERILATED_MUTANTS";

/// The mutated copies of a folder.
#[derive(Clone, Debug)]
pub struct Copies {
    folder: PathBuf,
    names: BTreeSet<PathBuf>,
}

impl Copies {
    pub fn read(folder: &Path) -> Result<Copies, Error> {
        let folder = std::path::absolute(folder).map_err(|e| Error::io(folder, e))?;
        let found = fs::read_dir(&folder).map_err(|e| Error::io(&folder, e))?;
        let names = found.flatten().map(|entry| entry.file_name().into()).collect();
        Ok(Copies { folder, names })
    }

    /// Where Verilator is to look for a module first.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The copy of a file, or the file itself.
    pub fn of(&self, file: &Path) -> PathBuf {
        let name = file.file_name().map(Path::new);
        match name.filter(|name| self.names.contains(*name)) {
            Some(name) => self.folder.join(name),
            None => file.to_path_buf(),
        }
    }
}
