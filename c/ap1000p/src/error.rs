//! The result of a failed call: the codes of the header, and the reason.

use std::ffi::c_int;
use std::fmt;

use c_programs::Outside;
use tsunagi::ap1000p::host::{BusError, CommandError, DsmError, RingError};

/// `AP_OK` and the errors of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    Ok = 0,
    Outside = -1,
    Setting = -2,
    Pointer = -3,
    Align = -4,
    Cell = -5,
    Size = -6,
    Stride = -7,
    Register = -8,
    Operation = -9,
    Refused = -10,
    Hang = -11,
    Ring = -12,
    Nothing = -13,
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

impl From<CommandError> for Error {
    fn from(error: CommandError) -> Error {
        let code = match error {
            CommandError::NoCell { .. } => Code::Cell,
            CommandError::TooLong { .. } => Code::Size,
            CommandError::Unaligned { .. } => Code::Align,
            CommandError::FlagAtZero | CommandError::Outside { .. } => Code::Pointer,
            CommandError::Item { .. } | CommandError::Gap { .. } => Code::Stride,
            CommandError::NoRegister { .. } => Code::Register,
            CommandError::Refused(_) => Code::Refused,
        };
        code.why(error)
    }
}

impl From<DsmError> for Error {
    fn from(error: DsmError) -> Error {
        let code = match error {
            DsmError::NoCell { .. } => Code::Cell,
            DsmError::NotShared { .. } => Code::Pointer,
            DsmError::Size { .. } => Code::Size,
            DsmError::Unaligned { .. } => Code::Align,
            DsmError::Cache { .. } | DsmError::Pages { .. } => Code::Pointer,
            DsmError::Exception { .. } | DsmError::Refused(_) => Code::Refused,
            DsmError::Command(error) => return error.into(),
        };
        code.why(error)
    }
}

impl From<RingError> for Error {
    fn from(error: RingError) -> Error {
        let code = match error {
            RingError::Base { .. } => Code::Align,
            RingError::Outside { .. } | RingError::Place { .. } => Code::Pointer,
            RingError::Twice { .. } | RingError::None { .. } => Code::Ring,
            RingError::Room { .. } => Code::Size,
            RingError::Command(error) => return error.into(),
        };
        code.why(error)
    }
}

impl From<BusError> for Error {
    fn from(error: BusError) -> Error {
        let code = match error {
            BusError::Length { .. } => Code::Size,
            BusError::Refused(_) => Code::Refused,
        };
        code.why(error)
    }
}
