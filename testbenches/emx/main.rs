//! A PE of EM-4/EM-X, block by block: what surrounds a block is the testbench.

mod execute;
mod matching;
mod rig;
