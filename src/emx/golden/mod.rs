//! Golden models of the RTL blocks, each under the name of its block.

pub mod execute;
pub mod input;
pub mod matching;
pub mod memory;
pub mod output;
pub mod route;
pub mod sequence;
pub mod switch;
