//! What is proved, as written in `formal/proofs.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use verilated_build::Twin;

use crate::entries::sv_files;
use crate::{Entry, Flow, FlowError, lists};

/// The list. What a field means is told at its head.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proofs {
    #[serde(rename = "proof")]
    pub proofs: Vec<Proof>,
    /// The folder of the list, which has the proofs' modules.
    #[serde(skip)]
    folder: PathBuf,
}

/// One proof: the module `prove_<name>`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub name: String,
    /// A unit of the list of units; default: the name.
    unit: Option<String>,
    pub mode: Mode,
    /// Steps.
    pub depth: u32,
    /// Steps within which every cover goal is reached.
    pub cover: u32,
    /// How many of the sets, from the first, have their cover goals looked for; default: all.
    pub covers: Option<usize>,
    #[serde(default)]
    pub two_clocks: bool,
    /// Modules of `model/` that stand for those of the RTL.
    #[serde(default)]
    models: Vec<String>,
    /// How many of the sets, from the first, are in the quick form.
    #[serde(default)]
    pub quick: usize,
    /// Assertions that only make the others inductive, or a bound that is stated: no twin need break them.
    #[serde(default)]
    pub lemmas: BTreeSet<String>,
    pub sets: Vec<BTreeMap<String, i64>>,
    #[serde(default, rename = "twin")]
    pub twins: Vec<Broken>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// k-induction: for ever.
    Induction,
    /// Nothing within the depth.
    Bounded,
}

/// One line of the RTL broken, and the assertions that must fail of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broken {
    /// A twin of the list of units, of which only file and lines are taken; or a name of its own, with these three.
    pub name: String,
    file: Option<String>,
    line: Option<String>,
    broken: Option<String>,
    pub fails: Vec<String>,
    /// Steps within which they fail; default: the longer of the proof's `depth` and `cover`.
    pub steps: Option<u32>,
    /// Which set shows it, from 0.
    #[serde(default)]
    pub set: usize,
}

impl Proofs {
    pub fn read(path: &Path) -> Result<Self, FlowError> {
        let mut proofs: Proofs = lists::read(path)?;
        proofs.folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        for proof in &proofs.proofs {
            if proof.sets.is_empty() || proof.twins.iter().any(|twin| twin.set >= proof.sets.len()) {
                let message = format!("proof `{}` lacks a parameter set that it needs", proof.name);
                return Err(FlowError::list(path, message));
            }
        }
        Ok(proofs)
    }

    /// Modules that proofs share: those in the folder that are no proofs.
    fn shared(&self) -> Result<Vec<PathBuf>, FlowError> {
        let mut shared = sv_files(&self.folder)?;
        shared.retain(|path| {
            !path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("prove_"))
        });
        Ok(shared)
    }

    /// The proof's module over one set, for [`Flow::needs`]: it instantiates the unit.
    pub fn entry(&self, flow: &Flow, proof: &Proof, set: usize) -> Result<Entry, FlowError> {
        let unit = proof.unit.as_ref().unwrap_or(&proof.name);
        let of = flow.entries()?.into_iter().find(|entry| entry.unit == *unit);
        let of = of.ok_or_else(|| FlowError::List {
            path: self.folder.join("proofs.toml"),
            message: format!(
                "proof `{}` is of `{unit}`, which the list of units does not have",
                proof.name
            ),
        })?;
        let top = format!("prove_{}", proof.name);
        // Models first: what they define is not looked for in the library.
        let model = |name| self.folder.join(format!("model/{name}.sv"));
        let mut files: Vec<_> = proof.models.iter().map(model).collect();
        files.push(self.folder.join(format!("{top}.sv")));
        files.extend(self.shared()?);
        files.extend(of.files);
        Ok(Entry {
            name: format!("{}-{set}", proof.name),
            top,
            params: proof.sets[set]
                .iter()
                .map(|(name, value)| (name.clone(), value.to_string()))
                .collect(),
            files,
            ..of
        })
    }
}

impl Broken {
    /// The twin in full.
    pub fn twin(&self, flow: &Flow) -> Result<Twin, FlowError> {
        let listed = flow.units.twins.iter().find(|twin| twin.name == self.name);
        match (&self.file, &self.line, &self.broken, listed) {
            (None, None, None, Some(twin)) => Ok(twin.clone()),
            (Some(file), Some(line), Some(broken), None) => Ok(Twin {
                name: self.name.clone(),
                of: String::new(),
                file: file.clone(),
                line: line.clone(),
                broken: broken.clone(),
                without: Vec::new(),
            }),
            _ => Err(FlowError::List {
                path: flow.units.path("units.toml"),
                message: format!(
                    "twin `{}` of a proof: either it is one of this list and has only `fails`, or it has `file`, `line` and `broken`",
                    self.name
                ),
            }),
        }
    }
}
