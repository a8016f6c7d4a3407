//! A PE of EM-4/EM-X, block by block: what surrounds a block is the testbench.

mod campaign;
mod core;
mod execute;
mod input;
mod matching;
mod memory;
mod network;
mod output;
mod pe_axi;
mod regs;
mod rig;
mod route;
mod switch;
