//! The list of units, as written in `units.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::mem;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// The whole list. Paths are relative to the file that they stand in.
///
/// ```toml
/// defines = ["MY_ASSERT"]        # for every unit
/// allow = ["WIDTHTRUNC"]         # warnings of Verilator that do not stop the build, by name, as after `-Wno-`;
///                                # "lint": all about doubtful code
/// library = ["common"]           # folders where a module that is not in `files` is looked for, by file name
/// include = ["include"]          # folders of `include files
/// optimize = { bench = 1 }       # the C++ compiler's -O by group, default 3; 1 compiles in half the time, runs slower
/// lists = ["*/units.toml"]       # lists of other folders: they have units and `metadata`, and nothing else
///
/// [[unit]]
/// name = "fifo"                  # gives the Rust names
/// top = "fifo"                   # top module; default: the name
/// group = "bench"                # which build script takes it
/// files = ["common/fifo.sv"]     # `*` stands for anything within a part of a path; default: looked for in `library`
/// defines = []
/// allow = ["WIDTHEXPAND"]        # added to the list's; `files` may also have a waiver file of Verilator's (`.vlt`)
/// clocks = ["clk_i"]
/// savable = true                 # checkpoints; default false
/// random = true                  # registers start random, by the context's seed; default: not in group "machine"
/// public = ["state_q", "u_fifo.count_q"]   # signals inside that can be read, by their paths below the top: as fields
///                                # `state_q`, `u_fifo_count_q`. It costs some speed: the model keeps all signals of
///                                # such a name. A netlist in the unit's place must have them, too.
///
/// [[unit.set]]                   # none: one struct `Fifo` with the module's own parameters
/// name = "FifoW8D4"              # default: the unit's name and each parameter with its value
/// params = { W = 8, Depth = 4 }
/// defines = ["MY_JITTER"]        # added to the unit's, as `allow` is
/// group = "machine"              # instead of the unit's, as `savable` and `random`
/// metadata = {}                  # for other tools: not read here
///
/// [[unit.set.twin]]              # a check must catch this: the set with one broken line in one of its files
/// name = "TwinFifoOrder"
/// file = "common/fifo.sv"        # default: the last of the unit's files
/// line = "if (push) mem_q[wr_q] <= in_data_i;"   # stands in the file exactly once; blanks may differ
/// broken = "if (push) mem_q[0] <= in_data_i;"    # stands there instead
/// without = ["MY_ASSERT"]        # defines left out, such as of assertions, which would speak before the check
///                                # A twin is compiled quickly: without optimisation and without code for waves.
/// [metadata]                     # for other tools: not read here
/// ```
#[derive(Clone, Debug, Deserialize)]
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
    #[serde(default, rename = "lists")]
    patterns: Vec<String>,
    #[serde(default, rename = "unit")]
    pub units: Vec<Unit>,
    #[serde(default)]
    metadata: toml::Table,
    /// The twins of all sets, each after the twins of earlier sets.
    #[serde(skip)]
    pub twins: Vec<Twin>,
    /// The file of the list, then the lists of other folders.
    #[serde(skip)]
    pub lists: Vec<List>,
    /// The folder of the list. All paths are relative to it, in whichever file they were written.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// One file of the list.
#[derive(Clone, Debug)]
pub struct List {
    pub path: PathBuf,
    /// The metadata of the whole file, for other tools.
    pub metadata: toml::Table,
}

/// The list of another folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(default, rename = "unit")]
    units: Vec<Unit>,
    #[serde(default)]
    metadata: toml::Table,
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
    #[serde(default)]
    pub public: Vec<String>,
    /// At least one set.
    #[serde(default, rename = "set")]
    pub sets: Vec<Set>,
    /// The file that contains it.
    #[serde(skip)]
    pub list: PathBuf,
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
    /// For other tools.
    #[serde(default)]
    pub metadata: toml::Table,
    /// Moved to [`Units::twins`].
    #[serde(default, rename = "twin")]
    twins: Vec<Twin>,
}

/// A set with one line broken: one Rust struct.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    pub name: String,
    /// The struct of the twin's set.
    #[serde(skip)]
    pub of: String,
    #[serde(default)]
    pub file: String,
    pub line: String,
    pub broken: String,
    #[serde(default)]
    pub without: Vec<String>,
}

impl Units {
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut units: Units = parse(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        units.folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        units.lists.push(List {
            path: path.to_path_buf(),
            metadata: mem::take(&mut units.metadata),
        });
        for unit in &mut units.units {
            unit.list = path.to_path_buf();
        }
        for pattern in mem::take(&mut units.patterns) {
            let pattern = units.folder.join(pattern);
            let found = expand(&pattern);
            if found.is_empty() {
                return Err(list_error(path, format!("no list is {}", pattern.display())));
            }
            found.iter().try_for_each(|list| units.add(list))?;
        }
        units.complete()?;
        Ok(units)
    }

    /// Adds the list of another folder.
    fn add(&mut self, path: &Path) -> Result<(), Error> {
        let part: Part = parse(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let folder = folder.strip_prefix(&self.folder).unwrap_or(folder);
        let from_here = |file: &mut String| *file = clean(&folder.join(&*file)).to_string_lossy().into_owned();
        let list = clean(path);
        for mut unit in part.units {
            unit.files.iter_mut().for_each(from_here);
            let twins = unit.sets.iter_mut().flat_map(|set| &mut set.twins);
            let files = twins.map(|twin| &mut twin.file);
            files.filter(|file| !file.is_empty()).for_each(from_here);
            unit.list.clone_from(&list);
            self.units.push(unit);
        }
        self.lists.push(List {
            path: list,
            metadata: part.metadata,
        });
        Ok(())
    }

    /// Checks the units' names, gives each unit a set, and each twin its set and its file.
    fn complete(&mut self) -> Result<(), Error> {
        let mut units = mem::take(&mut self.units);
        for unit in &mut units {
            if !is_identifier(&unit.name) {
                return Err(list_error(
                    &unit.list,
                    format!("`{}` is not a name for a unit", unit.name),
                ));
            }
            if unit.sets.is_empty() {
                unit.sets.push(Set::default());
            }
            for at in 0..unit.sets.len() {
                for mut twin in mem::take(&mut unit.sets[at].twins) {
                    twin.of = unit.struct_name(&unit.sets[at]);
                    if twin.file.is_empty() {
                        let file = unit.files.last().cloned();
                        let file = file
                            .or_else(|| self.in_library(&unit.file()))
                            .ok_or_else(|| self.lost(unit))?;
                        twin.file = file;
                    }
                    self.twins.push(twin);
                }
            }
        }
        self.units = units;
        Ok(())
    }

    /// The list of the sets with a netlist `<struct>.v` in a folder, without twins: each is a unit with that file
    /// alone, and no parameters.
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
            units,
            twins: Vec::new(),
            ..self.clone()
        }
    }

    /// The warnings that a set allows.
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
        unit.is_some_and(|unit| {
            unit.sets
                .iter()
                .any(|set| groups.contains(set.group.as_ref().unwrap_or(&unit.group)))
        })
    }

    /// A path of the list as seen from the package.
    pub fn path(&self, relative: &str) -> PathBuf {
        clean(&self.folder.join(relative))
    }

    /// The path, from the list's folder, of a file in one of the folders of `library`; the first that has it.
    pub fn in_library(&self, file: &str) -> Option<String> {
        let paths = self.library.iter().map(|folder| clean(&Path::new(folder).join(file)));
        let mut paths = paths.map(|path| path.to_string_lossy().into_owned());
        paths.find(|path| self.path(path).is_file())
    }

    /// The files of a unit, in the order written; `*` stands for anything within a part of a path.
    pub fn files(&self, unit: &Unit) -> Result<Vec<PathBuf>, Error> {
        let fail = |message: String| Error::Unit {
            unit: unit.name.clone(),
            message,
        };
        let mut found = Vec::new();
        for pattern in &unit.files {
            let path = self.path(pattern);
            let files = expand(&path);
            if files.is_empty() && pattern.contains('*') {
                return Err(fail(format!("no file matches {}", path.display())));
            } else if files.is_empty() {
                return Err(fail(format!("there is no file {}", path.display())));
            }
            found.extend(files);
        }
        if unit.files.is_empty() {
            let file = self.in_library(&unit.file()).ok_or_else(|| self.lost(unit))?;
            found.push(self.path(&file));
        }
        Ok(found)
    }

    /// The error for a unit with a file in no folder of `library`.
    fn lost(&self, unit: &Unit) -> Error {
        Error::Unit {
            unit: unit.name.clone(),
            message: format!("there is no {} in the folders of `library`", unit.file()),
        }
    }
}

impl Unit {
    /// The name of the top module's file, where none is listed.
    fn file(&self) -> String {
        format!("{}.sv", self.top.as_ref().unwrap_or(&self.name))
    }

    /// The Rust struct of a set: its own name, or one from the parameters: `fifo` with W = 8, Depth = 4 is
    /// `FifoDepth4W8`.
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

fn parse<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    toml::from_str(&text).map_err(|e| list_error(path, e.to_string().trim_end().into()))
}

fn list_error(path: &Path, message: String) -> Error {
    Error::List {
        path: path.to_path_buf(),
        message,
    }
}

/// A path without the parts that a `..` behind them cancels.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match (part, clean.components().next_back()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                clean.pop();
            }
            _ => clean.push(part),
        }
    }
    if clean.as_os_str().is_empty() {
        ".".into()
    } else {
        clean
    }
}

/// The files that match a pattern, in which `*` stands for anything within a part; sorted.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let part = part.as_os_str().to_string_lossy();
        let Some((head, tail)) = part.split_once('*') else {
            found.iter_mut().for_each(|path| path.push(&*part));
            continue;
        };
        let mut deeper = Vec::new();
        for folder in found {
            let place = Path::new(".").join(&folder);
            for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail) {
                    deeper.push(folder.join(name));
                }
            }
        }
        found = deeper;
    }
    found.retain(|path| path.is_file());
    found.sort();
    found
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
