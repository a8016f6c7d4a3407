//! Host software of CP-PACS: the native library's shape, a perfect network under it, and PVM.

pub mod perfect;
pub mod pvm;
pub mod transport;
