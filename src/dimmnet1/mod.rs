//! DIMMnet-1: Martini, a network interface in a memory slot, with its on-chip processor.

pub mod firmware;
pub mod golden;
pub mod host;
pub mod model;
pub mod params;
pub mod regs;
pub mod rtl;
pub mod window;
