//! The memory controller: translation, communication registers, tags of the local cache, acknowledgements, and who asks.

mod access;
mod acks;
mod mmu_mux;
mod creg;
mod mmu;
mod wtp;
