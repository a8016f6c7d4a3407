//! The proofs, as written in the files `proofs.toml` of the folders of `formal/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use verilated_build::Twin;

use crate::entries::sv_files;
use crate::{Entry, Flow, FlowError, lists};

/// All proofs, and the modules that they share.
///
/// ```toml
/// [[proof]]                      # the module prove_<name> in prove_<name>.sv, once for each set of its parameters
/// name = "fifo"
/// unit = "fifo"                  # of the list of units; default: the name
/// mode = "induction"             # holds for ever; "bounded": no failure within `depth` steps of reset
/// depth = 2                      # steps of the induction; a property is sampled, and so is seen a step late
/// cover = 24                     # steps within which every cover goal must be reached
/// covers = 1                     # in how many sets, from the first; default: all
/// two_clocks = true              # time is steps of `two_clocks`; clock gates become enables
/// models = ["cdc_sync"]          # modules of some `model/` that stand for those of the RTL
/// quick = 1                      # how many sets, from the first, are part of `make test`
/// sets = [{ W = 2, Depth = 3 }]
/// lemmas = ["pointers"]          # assertions that only make the others inductive, or a bound that is stated
///
/// [[proof.twin]]                 # each assertion that is no lemma must fail when a line of the RTL is broken
/// name = "TwinFifoOrder"         # one of the list of units; or a name of its own, with `line` and `broken` as there
/// file = "skid.sv"               # of the library; default: the proof's name
/// fails = ["order_and_content"]
/// steps = 20                     # within which they fail; default: the longer of `depth` and `cover`
/// set = 1                        # shows it, from 0; default: the first
/// ```
#[derive(Debug)]
pub struct Proofs {
    pub proofs: Vec<Proof>,
    /// Every source file of the proofs.
    sources: Vec<PathBuf>,
}

/// The list of one folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(rename = "proof")]
    proofs: Vec<Proof>,
}

/// One proof.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub name: String,
    unit: Option<String>,
    pub mode: Mode,
    pub depth: u32,
    pub cover: u32,
    pub covers: Option<usize>,
    #[serde(default)]
    pub two_clocks: bool,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    pub quick: usize,
    #[serde(default)]
    pub lemmas: BTreeSet<String>,
    pub sets: Vec<BTreeMap<String, i64>>,
    #[serde(default, rename = "twin")]
    pub twins: Vec<Broken>,
    /// The list that contains it.
    #[serde(skip)]
    list: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// k-induction: for ever.
    Induction,
    /// No failure within the depth.
    Bounded,
}

/// One broken line of the RTL, and the assertions that must then fail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broken {
    pub name: String,
    file: Option<String>,
    line: Option<String>,
    broken: Option<String>,
    pub fails: Vec<String>,
    pub steps: Option<u32>,
    #[serde(default)]
    pub set: usize,
}

impl Proofs {
    /// The proofs of all folders of a folder, by their names.
    pub fn read(root: &Path) -> Result<Self, FlowError> {
        let mut proofs = Vec::new();
        for path in folders(root)?.iter().map(|folder| folder.join("proofs.toml")) {
            if !path.is_file() {
                continue;
            }
            let list: List = lists::read(&path)?;
            for mut proof in list.proofs {
                if proof.sets.is_empty() || proof.twins.iter().any(|twin| twin.set >= proof.sets.len()) {
                    let message = format!("proof `{}` lacks a parameter set that it needs", proof.name);
                    return Err(FlowError::list(&path, message));
                }
                proof.list.clone_from(&path);
                proofs.push(proof);
            }
        }
        let sources = sources(root)?;
        Ok(Self { proofs, sources })
    }

    /// The proof's module over one set, for [`Flow::needs`]: it instantiates the unit.
    pub fn entry(&self, flow: &Flow, proof: &Proof, set: usize) -> Result<Entry, FlowError> {
        let unit = proof.unit.as_ref().unwrap_or(&proof.name);
        let of = flow.entries()?.into_iter().find(|entry| entry.unit == *unit);
        let of = of.ok_or_else(|| proof.fail(format!("names unit `{unit}`, which the list of units lacks")))?;
        let mut files = Vec::new();
        for model in &proof.models {
            let end = format!("model/{model}.sv");
            let found = self.sources.iter().find(|path| path.ends_with(&end));
            files.push(found.ok_or_else(|| proof.fail(format!("needs {end}")))?.clone());
        }
        files.push(proof.file());
        // All modules that proofs share.
        let is_shared = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !name.starts_with("prove_") && path.parent().is_some_and(|folder| !folder.ends_with("model"))
        };
        files.extend(self.sources.iter().filter(is_shared).cloned());
        files.extend(of.files);
        let params = proof.sets[set].iter();
        Ok(Entry {
            name: format!("{}-{set}", proof.name),
            top: proof.top(),
            params: params.map(|(name, value)| (name.clone(), value.to_string())).collect(),
            files,
            ..of
        })
    }
}

impl Proof {
    /// Its module.
    fn top(&self) -> String {
        format!("prove_{}", self.name)
    }

    /// The module's file.
    pub fn file(&self) -> PathBuf {
        self.list.with_file_name(format!("{}.sv", self.top()))
    }

    /// The values that each parameter has in some set, as `` `W` 1, 2; `Depth` 16 ``.
    pub fn parameters(&self) -> String {
        let mut all: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
        for (name, value) in self.sets.iter().flatten() {
            all.entry(name).or_default().insert(*value);
        }
        let text = all.into_iter().map(|(name, values)| {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            format!("`{name}` {}", values.join(", "))
        });
        text.collect::<Vec<_>>().join("; ")
    }

    fn fail(&self, message: String) -> FlowError {
        FlowError::list(&self.list, format!("proof `{}` {message}", self.name))
    }
}

impl Broken {
    /// The complete twin.
    pub fn twin(&self, flow: &Flow, proof: &Proof) -> Result<Twin, FlowError> {
        let listed = flow.units.twins.iter().find(|twin| twin.name == self.name);
        match (&self.file, &self.line, &self.broken, listed) {
            (None, None, None, Some(twin)) => Ok(twin.clone()),
            (file, Some(line), Some(broken), None) => {
                let file = file.clone().unwrap_or(format!("{}.sv", proof.name));
                let lost = || proof.fail(format!("breaks {file}, which is in no folder of the library"));
                Ok(Twin {
                    name: self.name.clone(),
                    of: String::new(),
                    file: flow.units.in_library(&file).ok_or_else(lost)?,
                    line: line.clone(),
                    broken: broken.clone(),
                    without: Vec::new(),
                })
            }
            _ => Err(proof.fail(format!(
                "has a twin `{}`: a twin of the list of units has only `fails`; any other has `line` and \
                 `broken`",
                self.name
            ))),
        }
    }
}

/// The folders in a folder, sorted.
fn folders(root: &Path) -> Result<Vec<PathBuf>, FlowError> {
    let found = fs::read_dir(root).map_err(|e| FlowError::io(root, e))?;
    let mut folders: Vec<PathBuf> = found.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

/// Every source file of the proofs in the folders of a folder: proofs, shared modules, and models.
pub fn sources(root: &Path) -> Result<Vec<PathBuf>, FlowError> {
    let mut files = Vec::new();
    for folder in folders(root)? {
        files.extend(sv_files(&folder)?);
        let models = folder.join("model");
        if models.is_dir() {
            files.extend(sv_files(&models)?);
        }
    }
    Ok(files)
}
