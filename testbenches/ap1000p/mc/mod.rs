//! The memory controller: translation, communication registers, tags of the local cache, acknowledgements.

mod access;
mod acks;
mod creg;
mod mmu;
mod wtp;
