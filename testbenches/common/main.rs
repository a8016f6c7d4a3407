//! `rtl/common`: each unit against its golden model, under four gap patterns, from zeroed and from random registers,
//! with resets in mid-flight; and a broken twin for each rule.

mod arbiter_rr;
mod async_fifo;
mod axi_master;
mod axi_read_master;
mod axi_slave;
mod axi_write_master;
mod cdc_sync;
mod dma;
mod dma_copy;
mod dma_read;
mod dma_splitter;
mod dma_write;
mod fifo;
mod junk;
mod mem_bram;
mod mem_clients;
mod reset_sync;
mod stream_up;
mod waves;
