//! ETL EM-4 and EM-X: packets of two words that start threads. See `docs/machines/emx.md`.

pub mod asm;
pub mod backend;
pub mod golden;
pub mod isa;
pub mod library;
pub mod model;
pub mod packet;
pub mod params;
pub mod regs;
pub mod rtl;
