//! The on-chip processor `r3000`: MIPS I, an R3000 by its instructions. Its assembler, its instruction-set model, and the
//! cycles that the RTL takes.

pub mod asm;
pub mod golden;
pub mod isa;
pub mod timing;
