//! Golden models of the RTL blocks, each under the name of its block.

pub mod acks;
pub mod answers;
pub mod bus;
pub mod llcm;
pub mod matcher;
pub mod packet;
pub mod rdma;
pub mod rx;
pub mod send;
pub mod tlb;
pub mod tx;
