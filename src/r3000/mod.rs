//! The on-chip processor `r3000`: a MIPS I instruction-set model, and the cycles that the RTL takes.

pub mod golden;
pub mod timing;
