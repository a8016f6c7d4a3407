//! `rtl/common`: each unit against its golden model, under four gap patterns, from zeroed and from random registers, with resets in
//! mid-flight; and a broken twin for each checker.

// Its benches are to stand on a kit, and are not split before.
#![allow(clippy::too_many_lines)]

mod arbiter;
mod axi_master;
mod axi_slave;
mod bench;
mod crossing;
mod dma;
mod dma_copy;
mod dma_read;
mod dma_write;
mod fifo;
mod junk;
mod mem;
mod mem_clients;
mod models;
mod reset;
mod splitter;
mod twins;
mod waves;
mod width;
