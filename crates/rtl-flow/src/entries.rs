//! Every unit with every parameter set, once, for all parts of the flow.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use verilated_build::{Set, Unit, Units};

use crate::metadata;
use crate::{Flow, FlowError};

/// One parameter set of one unit of the list, to check, synthesise, prove and simulate as gates.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name of its Rust struct, as `FifoD16`; unique.
    pub name: String,
    /// The unit's name in the list.
    pub unit: String,
    /// The group that runs it; the group `synth` runs nowhere.
    pub group: String,
    /// The top module.
    pub top: String,
    /// Parameters of the top, with values in Verilog syntax.
    pub params: Vec<(String, String)>,
    /// Macros of the list, the unit and the set.
    pub defines: Vec<String>,
    /// Harmless warnings of Verilator.
    pub allow: Vec<String>,
    /// The files the unit lists, packages first; a module that they instantiate is in the library folders.
    pub files: Vec<PathBuf>,
    /// Its clock ports.
    pub clocks: Vec<String>,
    /// The set's metadata for this tool.
    pub metadata: metadata::Set,
}

/// `fifo Depth=16`
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.top)?;
        self.params
            .iter()
            .try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

impl Flow {
    /// All entries in the order of the list, without broken twins. A unit without sets is one entry with its own
    /// parameters.
    pub fn entries(&self) -> Result<Vec<Entry>, FlowError> {
        let mut entries = Vec::new();
        for unit in &self.units.units {
            for set in &unit.sets {
                entries.push(entry(&self.units, unit, set)?);
            }
        }
        Ok(entries)
    }

    /// The same, with each design once: entries that differ from an earlier one only in macros and name are left out.
    pub fn designs(&self) -> Result<Vec<Entry>, FlowError> {
        let mut designs: Vec<Entry> = Vec::new();
        for entry in self.entries()? {
            let same = |earlier: &&Entry| earlier.files == entry.files && earlier.to_string() == entry.to_string();
            match designs.iter().find(same) {
                Some(earlier) if entry.metadata.synth.is_some() => {
                    let message = format!("{} is the same design: give the targets to that set", earlier.name);
                    let unit = entry.name;
                    return Err(verilated_build::Error::Unit { unit, message }.into());
                }
                Some(_) => {}
                None => designs.push(entry),
            }
        }
        Ok(designs)
    }

    /// The RTL for synthesis: every `.sv` of the library folders, packages first.
    pub fn sources(&self) -> Result<Vec<PathBuf>, FlowError> {
        let mut files = Vec::new();
        for folder in &self.units.library {
            files.extend(sv_files(&self.units.path(folder))?);
        }
        files.sort();
        packages_first(&mut files);
        Ok(files)
    }

    /// All sources of an entry, packages first: its own files, and each library file with a module or package that one
    /// of them names. A module that its own files define is not taken from the library.
    pub fn needs(&self, entry: &Entry) -> Result<Vec<PathBuf>, FlowError> {
        let own = entry
            .files
            .iter()
            .filter(|path| path.extension().is_some_and(|x| x == "sv" || x == "v"));
        self.with_needs(own.cloned().collect())
    }

    /// These sources and those that they need, as [`Flow::needs`].
    pub fn with_needs(&self, mut needed: Vec<PathBuf>) -> Result<Vec<PathBuf>, FlowError> {
        let library = self.sources()?;
        let mut defined = BTreeSet::new();
        for path in &needed {
            let words = words(path)?;
            let pairs = words
                .windows(2)
                .filter(|pair| ["module", "package"].contains(&pair[0].as_str()));
            defined.extend(pairs.map(|pair| pair[1].clone()));
        }
        let mut read = 0;
        while let Some(path) = needed.get(read) {
            read += 1;
            for word in words(path)? {
                let named = |path: &&PathBuf| path.file_stem().is_some_and(|stem| *stem == *word);
                if let Some(path) = library.iter().find(named)
                    && !defined.contains(&word)
                    && !needed.contains(path)
                {
                    needed.push(path.clone());
                }
            }
        }
        packages_first(&mut needed);
        Ok(needed)
    }
}

/// All words of a source but those in its comments.
fn words(path: &Path) -> Result<Vec<String>, FlowError> {
    let text = fs::read_to_string(path).map_err(|e| FlowError::io(path, e))?;
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    Ok(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

/// Sorts files so that each package stands before its users, otherwise in the order that they have.
pub fn packages_first(files: &mut [PathBuf]) {
    files.sort_by_key(|path| !path.to_string_lossy().ends_with("_pkg.sv"));
}

fn entry(units: &Units, unit: &Unit, set: &Set) -> Result<Entry, FlowError> {
    let defines = [&units.defines, &unit.defines, &set.defines];
    Ok(Entry {
        name: unit.struct_name(set),
        unit: unit.name.clone(),
        group: set.group.as_ref().unwrap_or(&unit.group).clone(),
        top: unit.top.as_ref().unwrap_or(&unit.name).clone(),
        params: unit.values(set)?,
        defines: defines.into_iter().flatten().cloned().collect(),
        allow: units.allowed(unit, set),
        files: units.files(unit)?,
        clocks: unit.clocks.clone(),
        metadata: metadata::of_set(unit, set)?,
    })
}

/// The SystemVerilog files of a folder, sorted.
pub fn sv_files(folder: &Path) -> Result<Vec<PathBuf>, FlowError> {
    let found = fs::read_dir(folder).map_err(|source| FlowError::io(folder, source))?;
    let paths = found.flatten().map(|file| file.path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|x| x == "sv"))
        .collect();
    files.sort();
    Ok(files)
}
