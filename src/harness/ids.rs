//! The units of the public edge: a number that has a unit has a type.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

/// One processing element (PE) or cell of a machine, 0-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u16);

impl NodeId {
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PE {}", self.0)
    }
}

/// A physical byte address in one node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Addr(pub u32);

impl Addr {
    pub fn offset(self, bytes: u32) -> Addr {
        Addr(self.0.wrapping_add(bytes))
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// A length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ByteLen(pub u32);

/// A count of cycles of one stated clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cycle(pub u64);

/// Simulated time since reset, or a span of it, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Picos(pub u64);

impl Picos {
    pub const ZERO: Picos = Picos(0);

    pub const fn from_ns(ns: u64) -> Picos {
        Picos(ns * 1_000)
    }

    /// Rounds to the nearest picosecond; negative and NaN give zero.
    pub fn from_us(us: f64) -> Picos {
        Picos((us * 1e6).round() as u64)
    }

    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The rate of `bytes` over this span, MB = 10^6 B; infinite over no time.
    pub fn rate_mb_s(self, bytes: u64) -> f64 {
        bytes as f64 / self.as_us()
    }

    pub fn saturating_sub(self, other: Picos) -> Picos {
        Picos(self.0.saturating_sub(other.0))
    }
}

impl Add for Picos {
    type Output = Picos;
    fn add(self, other: Picos) -> Picos {
        Picos(self.0 + other.0)
    }
}

impl AddAssign for Picos {
    fn add_assign(&mut self, other: Picos) {
        self.0 += other.0;
    }
}

impl Sub for Picos {
    type Output = Picos;
    fn sub(self, other: Picos) -> Picos {
        Picos(self.0 - other.0)
    }
}

impl Mul<u64> for Picos {
    type Output = Picos;
    fn mul(self, n: u64) -> Picos {
        Picos(self.0 * n)
    }
}

impl fmt::Display for Picos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} us", self.as_us())
    }
}
