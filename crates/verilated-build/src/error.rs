//! Errors of a build, in words for the user.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "Verilator was not found by VERILATOR_ROOT, in .tools/ of the checkout, or on PATH: run `make tools` there \
         once to install it, or set VERILATOR_ROOT"
    )]
    ToolMissing,
    #[error(
        "Verilator {found} in {} is too old: {wanted} or newer is needed; run `make tools` once to install it",
        path.display()
    )]
    ToolTooOld {
        found: String,
        wanted: String,
        path: PathBuf,
    },
    #[error(
        "the runtime in `verilated` is of the Verilator in {}, and VERILATOR_ROOT names the one in {}: \
         set it for both builds, or for neither",
        runtime.display(), root.display()
    )]
    ToolDiffers { runtime: PathBuf, root: PathBuf },
    #[error(
        "the version of the Verilator in {} is unknown: run `make tools` once to install a known one",
        path.display()
    )]
    ToolUnknown { path: PathBuf },
    #[error(
        "libclang was not found by LIBCLANG_PATH, beside Verilator, in .tools/ of the checkout, or on the system: \
         run `make tools` once to install it"
    )]
    NoLibclang,
    #[error("{}: {message}", path.display())]
    List { path: PathBuf, message: String },
    #[error("unit `{unit}`: {message}")]
    Unit { unit: String, message: String },
    #[error("unit `{unit}`: Verilator stopped\n{log}{}", mend(log))]
    Verilator { unit: String, log: String },
    #[error("unit `{unit}`: the C++ compiler stopped: {message}")]
    Compiler { unit: String, message: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The way to let warnings pass, if there are some.
fn mend(log: &str) -> String {
    let warnings = log
        .lines()
        .filter_map(|line| line.strip_prefix("%Warning-")?.split(':').next());
    let names: BTreeSet<&str> = warnings.collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "\n`allow = {:?}` in the list of units lets such warnings pass",
        Vec::from_iter(names)
    )
}

impl Error {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_path_buf(),
            source,
        }
    }
}
