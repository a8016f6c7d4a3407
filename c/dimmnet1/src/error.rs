//! The result of a failed call: the codes of the header, and the reason.

use std::ffi::c_int;
use std::fmt;

use c_programs::Outside;
use tsunagi::dimmnet1::host::CommError;

/// `DN_OK` and the errors of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    Ok = 0,
    Outside = -1,
    Setting = -2,
    Pointer = -3,
    Align = -4,
    Node = -5,
    Size = -6,
    Llcm = -7,
    Kind = -8,
    Refused = -9,
    Timeout = -10,
    Missing = -11,
    Hang = -12,
}

impl Code {
    pub fn why(self, why: impl ToString) -> Error {
        Error {
            code: self,
            why: why.to_string(),
        }
    }
}

pub struct Error {
    pub code: Code,
    why: String,
}

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// The result for C.
pub fn code(result: Result<()>) -> c_int {
    result.map_or_else(|error| error.code, |()| Code::Ok) as c_int
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl From<Outside> for Error {
    fn from(outside: Outside) -> Error {
        Code::Outside.why(String::from(outside))
    }
}

impl From<CommError> for Error {
    fn from(error: CommError) -> Error {
        let code = match error {
            CommError::NoNode { .. } => Code::Node,
            CommError::NoWord { .. } => Code::Llcm,
            CommError::Empty | CommError::TooLong { .. } => Code::Size,
            CommError::NotAligned { .. } | CommError::AcrossPage { .. } => Code::Align,
            CommError::NotUser { .. } => Code::Pointer,
            CommError::Refused { .. } | CommError::Unsent { .. } => Code::Refused,
            CommError::Silent { .. }
            | CommError::Stuck { .. }
            | CommError::Unchanged { .. }
            | CommError::NoMessage { .. }
            | CommError::NotTaken { .. }
            | CommError::NotReleased { .. } => Code::Timeout,
            CommError::Missing { .. } => Code::Missing,
        };
        code.why(error)
    }
}
