//! Golden models of the RTL blocks, each under the name of its block.

pub mod lockstep;
pub mod packet;
pub mod receiver;
pub mod receiver_state;
pub mod sender;
