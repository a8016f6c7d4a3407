//! The on-chip processor: MIPS I, an R3000 by its instructions.

pub mod asm;
pub mod isa;
