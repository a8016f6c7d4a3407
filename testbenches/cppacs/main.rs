//! A node of CP-PACS, block by block, and as a whole: what surrounds a block is the testbench.

mod ack_receive;
mod ack_send;
mod answers;
mod fetch;
mod kicks;
mod link;
mod load;
mod nia;
mod nia_axi;
mod receive;
mod regs;
mod runs;
mod send;
mod tables;
mod words;
mod worms;
