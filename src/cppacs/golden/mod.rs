//! Golden models of the RTL blocks, each under the name of its block, and the formats and pure functions that they
//! share: messages, TCWs, table entries, runs and worms.

pub mod ack_receive;
pub mod ack_send;
pub mod answers;
pub mod entry;
pub mod fetch;
pub mod kicks;
pub mod link;
pub mod message;
pub mod nia;
pub mod receive;
pub mod regs;
pub mod runs;
pub mod send;
pub mod tables;
pub mod tcw;
pub mod words;
pub mod worms;
