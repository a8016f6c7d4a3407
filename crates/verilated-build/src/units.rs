//! The list of units, as written in `units.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Error;

/// The whole list. Paths are relative to the file's own folder.
///
/// ```toml
/// defines = ["MY_ASSERT"]        # for every unit
/// allow = ["WIDTHTRUNC"]         # Verilator's warnings that let every unit pass, by name, as after `-Wno-`; "lint": all about doubtful code
/// library = ["common"]           # folders where a module that is not in `files` is looked for, by file name
/// include = ["include"]          # folders of `include files
/// optimize = { bench = 1 }       # the C++ compiler's -O by group: 1 compiles in half the time and runs slower; default 3
///
/// [[unit]]
/// name = "fifo"                  # gives the Rust names
/// top = "fifo"                   # top module; default: the name
/// group = "bench"                # which build script takes it
/// files = ["common/fifo.sv"]     # a `*` in the last part stands for anything; default: looked for in `library`
/// defines = []
/// allow = ["WIDTHEXPAND"]        # added to the list's; in `files` there may be a waiver file of Verilator's (`.vlt`), too
/// clocks = ["clk_i"]
/// savable = true                 # checkpoints; default false
/// random = true                  # registers start random from the context's seed; default: false for group "machine", else true
///
/// [[unit.set]]                   # none: one struct `Fifo` with the module's own parameters
/// name = "FifoW8D4"              # default: the unit's name and each parameter with its value
/// params = { W = 8, Depth = 4 }
/// defines = ["MY_JITTER"]        # added to the unit's, as `allow` is; `group`, `savable`, `random` may be overridden here too
///
/// [[twin]]                       # what a check must catch: a set with one line of one of its files broken
/// name = "TwinFifoOrder"
/// of = "FifoW8D4"                # the set; everything but the line is its own
/// file = "common/fifo.sv"
/// line = "if (push) mem_q[wr_q] <= in_data_i;"   # stands in the file exactly once; blanks may differ
/// broken = "if (push) mem_q[0] <= in_data_i;"    # stands there instead
/// without = ["MY_ASSERT"]        # defines left out, such as of assertions, which would speak before the check
///                                # A twin is compiled quickly: without optimisation, and without the code that writes waves.
/// ```
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    #[serde(default)]
    pub defines: Vec<String>,
    #[serde(default)]
    pub allow: Vec<String>,
    #[serde(default)]
    pub library: Vec<String>,
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub optimize: BTreeMap<String, u32>,
    #[serde(default, rename = "unit")]
    pub units: Vec<Unit>,
    #[serde(default, rename = "twin")]
    pub twins: Vec<Twin>,
    /// The folder of the list.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// One module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    pub name: String,
    pub top: Option<String>,
    pub group: String,
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    pub defines: Vec<String>,
    #[serde(default)]
    pub allow: Vec<String>,
    #[serde(default)]
    pub clocks: Vec<String>,
    #[serde(default)]
    pub savable: bool,
    pub random: Option<bool>,
    /// At least one.
    #[serde(default, rename = "set")]
    pub sets: Vec<Set>,
}

/// One parameter set of a module: one Rust struct.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    pub name: Option<String>,
    #[serde(default)]
    pub params: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub defines: Vec<String>,
    #[serde(default)]
    pub allow: Vec<String>,
    pub group: Option<String>,
    pub savable: Option<bool>,
    pub random: Option<bool>,
}

/// A set with one line broken: one Rust struct.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    pub name: String,
    pub of: String,
    pub file: String,
    pub line: String,
    pub broken: String,
    #[serde(default)]
    pub without: Vec<String>,
}

impl Units {
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
        let list = |message: String| Error::List {
            path: path.to_path_buf(),
            message,
        };
        let mut units: Units = toml::from_str(&text).map_err(|e| list(e.to_string().trim_end().to_string()))?;
        units.folder = path
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new("."))
            .to_path_buf();
        for unit in &mut units.units {
            if !is_identifier(&unit.name) {
                return Err(list(format!("`{}` is not a name for a unit", unit.name)));
            }
            if unit.sets.is_empty() {
                unit.sets.push(Set::default());
            }
        }
        Ok(units)
    }

    /// The list of the sets that have a netlist `<struct>.v` in a folder, without twins: each a unit with that file alone, and no parameters.
    pub(crate) fn netlists(&self, folder: &Path) -> Units {
        let mut units = Vec::new();
        for unit in &self.units {
            for set in &unit.sets {
                let name = unit.struct_name(set);
                let file = folder.join(format!("{name}.v"));
                if file.is_file() {
                    units.push(Unit {
                        top: Some(unit.top.as_ref().unwrap_or(&unit.name).clone()),
                        files: vec![file.to_string_lossy().into_owned()],
                        sets: vec![Set {
                            name: Some(name),
                            params: BTreeMap::new(),
                            ..set.clone()
                        }],
                        ..unit.clone()
                    });
                }
            }
        }
        Units {
            defines: self.defines.clone(),
            allow: self.allow.clone(),
            library: self.library.clone(),
            include: self.include.clone(),
            optimize: self.optimize.clone(),
            units,
            twins: Vec::new(),
            folder: self.folder.clone(),
        }
    }

    /// The warnings that are allowed to a set.
    pub fn allowed(&self, unit: &Unit, set: &Set) -> Vec<String> {
        let lists = [&self.allow, &unit.allow, &set.allow];
        lists.into_iter().flatten().cloned().collect()
    }

    /// The same for a struct, of a set or a twin.
    pub(crate) fn allowed_to(&self, name: &str) -> Vec<String> {
        let twin = self.twins.iter().find(|twin| twin.name == name);
        let name = twin.map_or(name, |twin| &twin.of);
        let mut sets = self
            .units
            .iter()
            .flat_map(|unit| unit.sets.iter().map(move |set| (unit, set)));
        let named = sets.find(|(unit, set)| unit.struct_name(set) == name);
        named.map_or(Vec::new(), |(unit, set)| self.allowed(unit, set))
    }

    /// Whether a unit has a set in one of these groups.
    pub(crate) fn is_in(&self, unit: &str, groups: &[String]) -> bool {
        let unit = self.units.iter().find(|listed| listed.name == unit);
        unit.is_some_and(|unit| unit.sets.iter().any(|set| groups.contains(set.group.as_ref().unwrap_or(&unit.group))))
    }

    /// A path of the list as seen from the package.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.join(relative).components().collect()
    }

    /// The files of a unit, in the order written; `*` in the last part of a path stands for anything.
    pub fn files(&self, unit: &Unit) -> Result<Vec<PathBuf>, Error> {
        let fail = |message: String| Error::Unit {
            unit: unit.name.clone(),
            message,
        };
        let mut found = Vec::new();
        for pattern in &unit.files {
            let path = self.path(pattern);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some((head, tail)) = name.split_once('*') else {
                if !path.is_file() {
                    return Err(fail(format!("there is no file {}", path.display())));
                }
                found.push(path);
                continue;
            };
            let folder = path.parent().unwrap_or(Path::new("."));
            let mut matches: Vec<PathBuf> = fs::read_dir(folder)
                .map_err(|e| Error::io(folder, e))?
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .filter(|n| n.len() >= head.len() + tail.len() && n.starts_with(head) && n.ends_with(tail))
                .map(|n| folder.join(n))
                .collect();
            if matches.is_empty() {
                return Err(fail(format!("no file matches {}", path.display())));
            }
            matches.sort();
            found.extend(matches);
        }
        if unit.files.is_empty() {
            let top = unit.top.as_ref().unwrap_or(&unit.name);
            let file = format!("{top}.sv");
            let candidates = self.library.iter().map(|folder| self.path(folder).join(&file));
            let path = candidates.into_iter().find(|path| path.is_file());
            found.push(path.ok_or_else(|| fail(format!("there is no {file} in the folders of `library`")))?);
        }
        Ok(found)
    }
}

impl Unit {
    /// The Rust struct of a set: its own name, or from the parameters, so that `fifo` with W = 8, Depth = 4 is `FifoDepth4W8`.
    pub fn struct_name(&self, set: &Set) -> String {
        let from_params = || {
            let mut name = camel(&self.name);
            for (param, value) in &set.params {
                let value: String = value.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
                name.push_str(&camel(param));
                name.push_str(&camel(&value));
            }
            name
        };
        set.name.clone().unwrap_or_else(from_params)
    }

    /// A set's parameters and their values as Verilog writes them.
    pub fn values(&self, set: &Set) -> Result<Vec<(String, String)>, Error> {
        let value = |(param, value): (&String, &toml::Value)| {
            let text = match value {
                toml::Value::Integer(n) => n.to_string(),
                toml::Value::Boolean(b) => u8::from(*b).to_string(),
                toml::Value::String(s) => format!("\"{s}\""),
                _ => {
                    return Err(Error::Unit {
                        unit: self.name.clone(),
                        message: format!("parameter `{param}` must be a number, a string or true or false"),
                    });
                }
            };
            Ok((param.clone(), text))
        };
        set.params.iter().map(value).collect()
    }
}

pub(crate) fn camel(name: &str) -> String {
    let mut out = String::new();
    for part in name.split('_').filter(|p| !p.is_empty()) {
        out.push_str(&part[..1].to_ascii_uppercase());
        out.push_str(&part[1..]);
    }
    out
}

pub(crate) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
