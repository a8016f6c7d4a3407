//! The modules that are for designs of one's own: `tops` in the lists of units.

use std::fs;
use std::path::PathBuf;

use crate::{Flow, FlowError, pages};

/// A module to instantiate in a design of one's own.
pub struct Top {
    pub name: String,
    pub purpose: String,
    /// All sources of the library that it needs, packages first.
    pub files: Vec<PathBuf>,
}

impl Flow {
    /// The tops of a folder of the library.
    pub fn tops(&self, folder: &str) -> Result<Vec<Top>, FlowError> {
        let path = self.units.path(folder);
        let list = self.lists.iter().find(|list| list.path.parent() == Some(&path));
        let names = list.map_or(&[][..], |list| &list.tops);
        let top = |name: &String| {
            let own = path.join(format!("{name}.sv"));
            let text = fs::read_to_string(&own).map_err(|e| FlowError::io(&own, e))?;
            Ok(Top {
                name: name.clone(),
                purpose: pages::purpose(&text),
                files: self.with_needs(vec![own])?,
            })
        };
        names.iter().map(top).collect()
    }
}
