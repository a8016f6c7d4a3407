//! The blocks that have figures to reach, as written in `synth.toml` beside the list of units.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::{Entry, FlowError, lists};

/// The list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocks {
    /// Entries that are checked but not mapped to cells, each with why.
    #[serde(default)]
    pub check_only: BTreeMap<String, String>,
    #[serde(default, rename = "block")]
    pub blocks: Vec<Block>,
}

/// One block.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The entry of the list of units, by its struct's name.
    pub entry: String,
    /// MHz, for each clock.
    pub fmax: Option<AtLeast>,
    pub lut_eq: Option<AtMost>,
    pub ff: Option<AtMost>,
    /// Of an entry with more than one clock: what the names of the ports in a clock's domain begin with.
    #[serde(default)]
    pub domains: BTreeMap<String, String>,
    /// Placed and routed.
    #[serde(default = "yes")]
    pub route: bool,
    /// Part of the quick form.
    #[serde(default = "yes")]
    pub quick: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtLeast {
    pub least: f64,
    pub aim: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtMost {
    pub most: f64,
    pub aim: Option<f64>,
}

fn yes() -> bool {
    true
}

impl Blocks {
    /// Reads the list; every entry it names must be one of `entries`.
    pub fn read(path: &Path, entries: &[Entry]) -> Result<Self, FlowError> {
        let blocks: Blocks = lists::read(path)?;
        for name in blocks.check_only.keys().chain(blocks.blocks.iter().map(|b| &b.entry)) {
            if !entries.iter().any(|entry| entry.name == *name) {
                return Err(FlowError::list(
                    path,
                    format!("no set of the list of units is called `{name}`"),
                ));
            }
        }
        Ok(blocks)
    }

    pub fn of(&self, entry: &Entry) -> Option<&Block> {
        self.blocks.iter().find(|block| block.entry == entry.name)
    }
}

impl Block {
    /// The clocks of the entry, each with the beginning of its ports' names: `in_` for `in_clk_i` where nothing is said.
    pub fn clocks(&self, entry: &Entry) -> Vec<(String, String)> {
        let prefix = |clock: &String| {
            let own = || clock.strip_suffix("clk_i").unwrap_or(clock).to_owned();
            (clock.clone(), self.domains.get(clock).cloned().unwrap_or_else(own))
        };
        entry.clocks.iter().map(prefix).collect()
    }
}
