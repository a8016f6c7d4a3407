//! The result of a failed call: the codes of the header, and the reason.

use std::ffi::c_int;
use std::fmt;

use c_programs::Outside;
use tsunagi::cppacs::host::RdmaError;

/// `CP_OK` and the errors of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    Ok = 0,
    Outside = -1,
    Setting = -2,
    Pointer = -3,
    Align = -4,
    Node = -5,
    Length = -6,
    Stride = -7,
    Field = -8,
    Right = -9,
    Tcw = -10,
    Timeout = -11,
    Refused = -12,
    Hang = -13,
    Memory = -14,
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

impl From<RdmaError> for Error {
    fn from(error: RdmaError) -> Error {
        use RdmaError::*;
        let code = match error {
            NoNode { .. } => Code::Node,
            Name { .. } | Twice { .. } | Memory { .. } => Code::Memory,
            NoRoom { what: "TCW", .. } | NoFlag { .. } => Code::Tcw,
            NoRoom { what: "send right", .. } => Code::Right,
            NoRoom { .. } | Shut { .. } => Code::Field,
            Shape { offset, .. } if !offset.is_multiple_of(8) => Code::Align,
            Outside { .. } | Shape { .. } | TooLong { .. } => Code::Length,
            NoField { .. } | Silent { .. } | Timeout { .. } | Barrier { .. } => Code::Timeout,
            Refused { .. } => Code::Refused,
        };
        code.why(error)
    }
}
