//! The verilated machine: PEs and the links between them.

use thiserror::Error;

use super::backend::Backend;
use super::params::Config;

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no RTL was built for this configuration: EM-4 or EM-X as they are, with 5, 20 or 80 PEs")]
pub struct NotBuilt;

/// The machine of `config`.
///
/// # Errors
/// The configuration asks for RTL that was not built.
pub fn build(_config: &Config) -> Result<Box<dyn Backend>, NotBuilt> {
    Err(NotBuilt)
}
