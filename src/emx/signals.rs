//! Ports of a PE worth looking at.

use crate::machine::Signals;

/// By groups: name and bits.
pub const SIGNALS: Signals = &[
    ("clock", &[("clk_i", 1)]),
    ("PE", &[("state_o", 2), ("depth_o", 14), ("busy_o", 1)]),
];
