//! Faults that the hardware reports to the system software of a node.

use std::fmt::{Debug, Display};

use thiserror::Error;

use crate::{NodeId, Picos};

/// A fault, as the system of `node` read its cause. Each machine has its own kinds `K`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{node} reported at {at}: {kind}")]
pub struct Fault<K: Debug + Display> {
    pub at: Picos,
    pub node: NodeId,
    pub kind: K,
}
