//! Waves of benches: the clock falls at half a period, and no edge is off its grid.

use support::wave_reader::check_bench;
use testbenches::rtl::*;

use crate::bench::{Each, PERIOD};
use crate::{arbiter, axi_master, axi_slave, dma_copy, dma_read, dma_write, fifo, mem, mem_clients};

/// The first of the cases that `cases` goes through, with its wave, whose clock rises with this phase.
fn first(phase: u64, cases: impl FnOnce(Each)) {
    let mut looked = false;
    cases(&mut |_, run| {
        if !std::mem::replace(&mut looked, true) {
            let waves = check_bench(Some((PERIOD, phase)), |probe| run(probe).unwrap());
            assert_eq!(waves, 1);
        }
    });
    assert!(looked, "there is a case");
}

#[test]
fn the_clock_falls_at_half_a_period() {
    first(0, |each| {
        fifo::queue::<Skid>("waves::the_clock_falls_at_half_a_period", 2, 1, &[], each)
    });
    first(PERIOD / 2, |each| arbiter::checks::<ArbiterN3>(&[], each));
    first(PERIOD / 2, |each| dma_read::checks::<DmaRead>(&[], each));
    first(PERIOD / 2, |each| dma_write::checks::<DmaWrite>(&[], each));
    first(PERIOD / 2, |each| dma_copy::checks::<DmaCopy>(&[], each));
    first(PERIOD / 2, |each| axi_master::read_checks::<AxiRead>(&[], each));
    first(PERIOD / 2, |each| axi_slave::checks::<AxiSlave>(&[], each));
    first(PERIOD / 2, |each| mem::checks::<MemBramW64>(&[], each));
    first(PERIOD / 2, |each| mem_clients::checks::<MemReadMux>(&[], each));
}
