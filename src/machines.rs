//! The machines that there are.

use crate::machine::Machine;
use crate::{ap1000p, cenju3};

/// One line a machine.
pub const ALL: &[&dyn Machine] = &[&cenju3::Cenju3, &ap1000p::Ap1000p];

/// The machine of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Machine> {
    ALL.iter().copied().find(|machine| machine.name() == name)
}
