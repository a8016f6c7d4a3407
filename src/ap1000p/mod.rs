//! Fujitsu AP1000+: golden models.

pub mod acks;
pub mod creg;
pub mod mmu;
pub mod regs;
pub mod wtp;
