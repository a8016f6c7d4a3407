//! The machine of verilated units.

use super::params::Config;
use crate::harness::backend::AnyBackend;
use crate::harness::wave::Probe;

/// There is no RTL of this configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no RTL of CP-PACS is built yet: use --backend model")]
pub struct NotBuilt;

/// A machine of RTL.
///
/// # Errors
/// It was not built.
pub fn build(_config: &Config, _probe: &Probe) -> Result<AnyBackend, NotBuilt> {
    Err(NotBuilt)
}
