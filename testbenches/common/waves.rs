//! Waves of benches: the clock falls at half a period, and no edge is off its grid.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, PERIOD, check_wave};

use crate::{
    arbiter_rr, axi_master, axi_read_master, axi_slave, dma_copy, dma_read, dma_write, fifo, mem_bram, mem_clients,
};

#[test]
fn the_clock_falls_at_half_a_period() {
    let of_each_kind: &[&dyn Fn(&mut Cases)] = &[
        &|cases| fifo::checks(&fifo::skid::<Skid>(), cases),
        &|cases| arbiter_rr::checks(&arbiter_rr::arbiter::<ArbiterN3>(), cases),
        &|cases| dma_read::checks(&dma_read::usual::<DmaRead>(), cases),
        &|cases| dma_write::checks(&dma_write::usual::<DmaWrite>(), cases),
        &|cases| dma_copy::checks(&dma_copy::usual::<DmaCopy>(), cases),
        &|cases| axi_master::checks(&axi_read_master::read_bridge::<AxiRead>(4), cases),
        &|cases| axi_slave::checks(&axi_slave::axi4::<AxiSlave>(), cases),
        &|cases| mem_bram::checks(&mem_bram::mem::<MemBramW64>(), cases),
        &|cases| mem_clients::checks(&mem_clients::read_mux::<MemReadMux>(8), cases),
    ];
    for checks in of_each_kind {
        check_wave(this_test!(), PERIOD / 2, checks);
    }
}
