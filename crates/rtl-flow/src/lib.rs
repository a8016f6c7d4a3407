//! Work on the RTL outside its simulation. Each part is a module here and a subcommand of `rtl-flow`; all of them take
//! their designs from [`Flow::entries`] and run programs through [`Tools`].

pub mod blocks;
mod cargo;
pub mod cores;
pub mod coverage;
pub mod docs;
pub mod entries;
pub mod error;
pub mod examples;
pub mod families;
pub mod formal;
pub mod fpga;
pub mod gate;
pub mod junit;
mod kept;
pub mod lint;
mod lists;
pub mod metadata;
pub mod mutants;
mod pages;
mod pool;
pub mod rails;
pub mod synth;
pub mod tools;
mod tops;
pub mod yosys;

use std::path::Path;

pub use entries::Entry;
pub use error::FlowError;
pub use tools::Tools;
use verilated_build::Units;

/// The common input of every part: the list of units, and the tools.
pub struct Flow {
    pub units: Units,
    /// The metadata of each file of the list.
    pub lists: Vec<metadata::List>,
    pub tools: Tools,
}

impl Flow {
    /// `units`: the list, as `rtl/units.toml`; `bin`: the folder of the tools' programs, as `.tools/venv/bin`.
    pub fn new(units: &Path, bin: &Path) -> Result<Self, FlowError> {
        let units = Units::read(units)?;
        Ok(Self {
            lists: units.lists.iter().map(metadata::of_list).collect::<Result<_, _>>()?,
            units,
            tools: Tools::new(bin),
        })
    }
}

/// The result of a part: a line for the user, or all findings.
pub type Outcome = Result<String, Vec<FlowError>>;
