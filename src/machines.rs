//! The machines that there are.

use std::sync::OnceLock;

use crate::machine::Machine;
use crate::{ap1000p, cenju3, cppacs, dimmnet1, emx};

/// Machines of one command.
pub type Machines = &'static [&'static dyn Machine];

/// One line a machine.
pub const ALL: Machines = &[
    &cenju3::Cenju3,
    &ap1000p::Ap1000p,
    &dimmnet1::Dimmnet1,
    &emx::Emx,
    &cppacs::Cppacs,
];

static REGISTERED: OnceLock<Machines> = OnceLock::new();

/// Makes these the machines of this process. A program of somebody else's machines calls it first, once.
///
/// # Panics
/// The list is empty, or others are registered or in use already.
pub fn register(machines: Machines) {
    assert!(!machines.is_empty(), "a command needs a machine");
    assert!(
        REGISTERED.set(machines).is_ok(),
        "the machines of this process are in use already"
    );
}

/// The machines of this process: [`ALL`] unless others are registered.
pub fn all() -> Machines {
    REGISTERED.get_or_init(|| ALL)
}

/// The machine of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Machine> {
    all().iter().copied().find(|machine| machine.name() == name)
}
