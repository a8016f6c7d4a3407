//! The on-chip processor `r3000`, MIPS I: its instruction-set model, the cycles that the RTL takes, and its assembler.

pub mod asm;
pub mod golden;
pub mod isa;
pub mod timing;
