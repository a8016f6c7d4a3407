//! The excuses: changes that nothing can notice. They stand in `mutants.toml` beside a list of units, so that an excuse
//! is an input of this command alone.
//!
//! ```toml
//! [[mutant]]
//! file = "fifo.sv"               # from this file's folder
//! line = "if (push && !full) count_q <= count_q + 1'b1;"     # the whole line where the change begins
//! change = "`push && !full` becomes `push`"                  # as `rtl-flow mutants` names it
//! why = "nothing pushes into a full queue"
//! ```

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::sites::Mutant;
use crate::{Flow, FlowError, lists};

const NAME: &str = "mutants.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    mutant: Vec<Excuse>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Excuse {
    file: String,
    line: String,
    change: String,
    why: String,
}

/// Every excuse, with the file that has it.
pub struct Excuses(Vec<(PathBuf, Excuse)>);

impl Excuses {
    pub fn of(flow: &Flow) -> Result<Excuses, FlowError> {
        let mut all = Vec::new();
        for list in &flow.lists {
            let path = list.path.with_file_name(NAME);
            if !path.is_file() {
                continue;
            }
            let read: List = lists::read(&path)?;
            for excuse in read.mutant {
                if excuse.why.trim().is_empty() {
                    let Excuse { file, change, .. } = excuse;
                    let message = format!("say why nothing can notice the mutant of {file}: {change}");
                    return Err(FlowError::list(&path, message));
                }
                all.push((path.clone(), excuse));
            }
        }
        Ok(Excuses(all))
    }

    /// The number of a mutant's excuse.
    pub fn find(&self, mutant: &Mutant) -> Option<usize> {
        let line = mutant.whole_line().unwrap_or_default();
        let excuses = self.0.iter();
        excuses
            .into_iter()
            .position(|(list, excuse)| excuse.is_of(list, mutant, &line))
    }

    /// The file of an excuse.
    pub fn list(&self, number: usize) -> &Path {
        &self.0[number].0
    }

    /// A finding for each excuse of these files that is of no mutant.
    pub fn without_mutant(&self, files: &[PathBuf], mutants: &[Mutant]) -> Vec<FlowError> {
        let mut unused: Vec<bool> = self
            .0
            .iter()
            .map(|(list, excuse)| files.iter().any(|file| excuse.is_in(list, file)))
            .collect();
        for number in mutants.iter().filter_map(|mutant| self.find(mutant)) {
            unused[number] = false;
        }
        let unused = self.0.iter().zip(unused).filter(|(_, unused)| *unused);
        unused
            .map(|((list, Excuse { file, change, .. }), _)| {
                FlowError::list(
                    list,
                    format!("delete the excuse, which is of no mutant of {file}: {change}"),
                )
            })
            .collect()
    }
}

impl Excuse {
    fn is_in(&self, list: &Path, file: &Path) -> bool {
        list.with_file_name(&self.file)
            .ends_with(file.file_name().unwrap_or_default())
    }

    /// Whether it is of the mutant, which begins on that line.
    fn is_of(&self, list: &Path, mutant: &Mutant, line: &str) -> bool {
        let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
        self.is_in(list, &mutant.file) && same(&self.line, line) && same(&self.change, &mutant.change())
    }
}
