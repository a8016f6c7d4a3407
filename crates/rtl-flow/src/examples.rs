//! The uses of blocks: `rtl/examples/<block>_example.sv`.

use std::path::PathBuf;

use crate::entries::sv_files;
use crate::{Entry, Flow, FlowError};

/// Their folder, beside the list of units.
const FOLDER: &str = "examples";

/// A use of a block.
pub struct Example {
    pub block: String,
    /// The block's source.
    pub source: PathBuf,
    pub path: PathBuf,
}

impl Example {
    pub fn top(&self) -> String {
        format!("{}_example", self.block)
    }

    /// All examples; none without their folder.
    pub fn all(flow: &Flow) -> Result<Vec<Self>, FlowError> {
        let folder = flow.units.path(FOLDER);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let example = |path: PathBuf| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let block = stem.strip_suffix("_example").unwrap_or(&stem).to_owned();
            let folders = flow.units.library.iter().map(|folder| flow.units.path(folder));
            let mut sources = folders.map(|folder| folder.join(format!("{block}.sv")));
            match sources.find(|source| source.is_file() && stem != block) {
                Some(source) => Ok(Self { block, source, path }),
                None => Err(FlowError::list(&path, "its name is not that of a block and `_example`")),
            }
        };
        sv_files(&folder)?.into_iter().map(example).collect()
    }
}

/// The examples as entries of the list of units.
pub fn entries(flow: &Flow) -> Result<Vec<Entry>, FlowError> {
    let entry = |example: Example| Entry {
        name: example.top(),
        unit: example.top(),
        group: "synth".into(),
        top: example.top(),
        params: Vec::new(),
        defines: flow.units.defines.clone(),
        allow: flow.units.allow.clone(),
        files: vec![example.path],
        clocks: Vec::new(),
        metadata: Default::default(),
    };
    Ok(Example::all(flow)?.into_iter().map(entry).collect())
}
