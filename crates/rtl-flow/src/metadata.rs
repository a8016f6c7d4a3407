//! The metadata for this tool in the lists of units: of a set, and of a list.
//!
//! ```toml
//! [[unit.set]]
//! name = "FifoD16"
//! metadata.check_only = "…"      # why `rtl-flow synth` checks it, and does not map it to cells
//! metadata.rtl_only = "…"        # why it stays RTL in `rtl-flow gate`
//! [unit.set.metadata.synth]      # targets of `rtl-flow synth`, beside the last table
//! fmax = { least = 240, aim = 250 }      # MHz, for each clock; `aim` may be left out everywhere
//! lut_eq = { most = 130, aim = 100 }     # LUT4 + 2 CCU2C + 6 TRELLIS_DPR16X4
//! ff = { most = 100 }
//! domains = { net_clk_i = "net_" }       # of a clock: prefix of its ports' names; the first has the rest
//! route = false                  # synthesis only
//! quick = false                  # too long for `make test`
//!
//! [metadata]
//! tops = ["fifo"]                # modules to instantiate elsewhere: `rtl-flow docs` writes their cores and file lists
//!
//! [metadata.illegal]             # values that stop elaboration, beside those that a parameter's comment excludes
//! fifo = [{ W = 0 }]
//!
//! [[metadata.coverage]]          # branches that no testbench need take
//! file = "fifo.sv"               # from the list's folder
//! lines = ["default: state_d = Idle;"]   # whole lines; where one stands several times, all of them
//! why = "no other state is reached"
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use verilated_build as build;

use crate::FlowError;

/// The metadata of one set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    pub synth: Option<Target>,
    pub check_only: Option<String>,
    pub rtl_only: Option<String>,
}

/// Targets of area and speed on an ECP5-85F of speed grade 6.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub fmax: Option<AtLeast>,
    pub lut_eq: Option<AtMost>,
    pub ff: Option<AtMost>,
    #[serde(default)]
    domains: BTreeMap<String, String>,
    #[serde(default = "yes")]
    pub route: bool,
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

impl Target {
    /// These clocks, each with the prefix of its ports' names; by default `in_` for `in_clk_i`.
    pub fn clocks(&self, clocks: &[String]) -> Vec<(String, String)> {
        let prefix = |clock: &String| {
            let own = || clock.strip_suffix("clk_i").unwrap_or(clock).to_owned();
            (clock.clone(), self.domains.get(clock).cloned().unwrap_or_else(own))
        };
        clocks.iter().map(prefix).collect()
    }
}

/// The metadata of a whole list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The list's file.
    #[serde(skip)]
    pub path: PathBuf,
    /// Sets of parameters, by module.
    #[serde(default)]
    pub illegal: BTreeMap<String, Vec<BTreeMap<String, i64>>>,
    #[serde(default)]
    pub coverage: Vec<Exception>,
    /// The modules of the list's folder to instantiate in a design of one's own.
    #[serde(default)]
    pub tops: Vec<String>,
}

/// Lines of a file with branches that no test need take.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    pub file: String,
    pub lines: Vec<String>,
    pub why: String,
}

/// The metadata of a set.
pub fn of_set(unit: &build::Unit, set: &build::Set) -> Result<Set, FlowError> {
    let fail = |message| FlowError::list(&unit.list, format!("set `{}`: {message}", unit.struct_name(set)));
    let read: Set = read(&set.metadata).map_err(fail)?;
    let mut reasons = read.check_only.iter().chain(&read.rtl_only);
    match reasons.any(|why| why.trim().is_empty()) {
        true => Err(fail("say why in `check_only` and `rtl_only`".into())),
        false => Ok(read),
    }
}

/// The metadata of a list.
pub fn of_list(list: &build::List) -> Result<List, FlowError> {
    let fail = |message| FlowError::list(&list.path, message);
    let mut read: List = read(&list.metadata).map_err(fail)?;
    read.path.clone_from(&list.path);
    if let Some(e) = read.coverage.iter().find(|e| e.why.trim().is_empty()) {
        return Err(fail(format!("say why no test need take these lines of {}", e.file)));
    }
    Ok(read)
}

fn read<T: DeserializeOwned>(table: &toml::Table) -> Result<T, String> {
    table
        .clone()
        .try_into()
        .map_err(|e| format!("metadata: {}", e.to_string().trim_end()))
}
