//! What the test programs share, those of the testbenches and of the C libraries too.

pub mod c_program;
pub mod cenju3;
pub mod command;
pub mod machine_wave;
pub mod parameters;
pub mod property;
mod test;
pub mod wave_reader;

use std::path::{Path, PathBuf};

pub use crate::test::Test;

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
