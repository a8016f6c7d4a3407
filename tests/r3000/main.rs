//! The on-chip processor: its instructions and its assembler.

mod asm;
mod isa;
