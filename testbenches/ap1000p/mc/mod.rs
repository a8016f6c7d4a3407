//! The memory controller: translation, communication registers, tags of the local cache, acknowledgements, and who asks.

mod access;
mod acks;
mod creg;
mod mmu;
mod mmu_mux;
mod wtp;
