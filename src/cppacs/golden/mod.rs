//! Golden models of the RTL blocks, each under the name of its block, and the formats and pure functions that they
//! share: messages, TCWs, table entries, runs and worms.

pub mod entry;
pub mod message;
pub mod runs;
pub mod tcw;
pub mod worms;
