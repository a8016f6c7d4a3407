//! Tsunagi: RTL for the message hardware of Japanese parallel computers, and the harness that proves it.

pub mod ap1000p;
pub mod campaign;
pub mod cenju3;
pub mod cli;
pub mod dimmnet1;
pub mod emx;
pub mod machine;
pub mod machines;
pub mod net;
pub mod r3000;
pub mod report;
pub mod repro;
pub mod rtl;

pub use tsunagi_harness as harness;
pub use tsunagi_harness::{Addr, ByteLen, Cycle, NodeId, Picos};
