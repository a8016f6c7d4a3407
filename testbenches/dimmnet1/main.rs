//! DIMMnet-1's card, block by block: memory, host and network are the testbench.

mod acks;
mod answers;
mod bus;
mod campaign;
mod link;
mod llcm;
mod matcher;
mod memory;
mod nic;
mod nic_axi;
mod rdma;
mod rig;
mod rx;
mod send;
mod tlb;
mod tx;
