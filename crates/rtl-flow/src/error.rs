//! Errors, in words for the user.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    #[error(transparent)]
    Units(#[from] verilated_build::Error),
    #[error("cannot run {program} ({source}); `make tools` installs it")]
    Program { program: String, source: io::Error },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: {message}", path.display())]
    List { path: PathBuf, message: String },
    #[error("no design has such a name; the list of units has all names")]
    NoDesign,
    #[error("no top has such a name; `tops` in rtl/*/units.toml has all names")]
    NoTop,
    #[error("no proof has such a name; formal/*/proofs.toml has all names")]
    NoProof,
    #[error("unknown board `{board}`; known: {there}")]
    NoBoard { board: String, there: String },
    #[error(
        "{what} is more than 10 % worse than in {}: {message}; `rtl-flow synth --record` accepts it",
        table.display()
    )]
    Worse {
        what: String,
        table: PathBuf,
        message: String,
    },
    #[error(
        "{what}: {} has no result for its target; measure it, and write that down: `rtl-flow synth --record --unit \
         '^{name}$'`",
        table.display()
    )]
    Unmeasured { what: String, name: String, table: PathBuf },
    #[error("{}: {part} is stale; `rtl-flow docs` (`make docs`) writes it", page.display())]
    Stale { page: PathBuf, part: String },
    /// A tool stopped, or found an error: `what` is the unit and its parameters.
    #[error("{tool} over {what}:\n{text}")]
    Finding {
        tool: &'static str,
        what: String,
        text: String,
    },
}

impl FlowError {
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_path_buf(),
            source,
        }
    }

    pub fn list(path: &Path, message: impl Into<String>) -> Self {
        Self::List {
            path: path.to_path_buf(),
            message: message.into(),
        }
    }
}

/// One error for a part that reports a list of them.
impl From<FlowError> for Vec<FlowError> {
    fn from(error: FlowError) -> Self {
        vec![error]
    }
}
