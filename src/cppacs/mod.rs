//! Tsukuba CP-PACS: remote DMA over a hyper-crossbar. See `docs/machines/cppacs-contract.md`.

pub mod golden;
pub mod host;
pub mod model;
pub mod params;
pub mod regs;
