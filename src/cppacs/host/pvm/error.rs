//! PVM's errors, and what ends a run.

use std::error::Error;
use std::sync::Arc;

use crate::NodeId;

/// An error that a call returns; the number is PVM's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(i32)]
pub enum PvmError {
    #[error("bad parameter")]
    BadParam = -2,
    #[error("end of the message")]
    NoData = -5,
    #[error("no node is free")]
    NoHost = -6,
    #[error("no such program")]
    NoFile = -7,
    #[error("no memory")]
    NoMem = -10,
    #[error("no current buffer")]
    NoBuf = -15,
    #[error("no such buffer")]
    NoSuchBuf = -16,
    #[error("no name of a group")]
    NullGroup = -17,
    #[error("in the group already")]
    DupGroup = -18,
    #[error("no such group")]
    NoGroup = -19,
    #[error("not in the group")]
    NotInGroup = -20,
    #[error("no such instance")]
    NoInst = -21,
    #[error("no parent")]
    NoParent = -23,
    #[error("not on this machine")]
    NotImpl = -24,
    #[error("no such task")]
    NoTask = -31,
}

/// What ends the run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    #[error("{node}: {why}")]
    Library {
        node: NodeId,
        why: Arc<dyn Error + Send + Sync>,
    },
    #[error("t{task:x}: {why}")]
    Program { task: i32, why: String },
}

/// Why a call did not do what it should.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    #[error(transparent)]
    Pvm(#[from] PvmError),
    #[error(transparent)]
    Fault(#[from] Fault),
}

pub type Result<T, E = CallError> = std::result::Result<T, E>;
