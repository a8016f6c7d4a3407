//! Bench of `your_nic`: under any inputs it shows at each edge what its golden model shows.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use tsunagi::harness::host_port::HostPortsOut;
use tsunagi::harness::seed::Seed;
use verilated::Context;
use your_machine::golden::{Golden, Nic as _, RECEIVED, SEND};
use your_machine::machine::{Rtl, TwinOverwrites, TwinStuck, YourNic, YourNicUnit};

/// A cycle of the NIC's surroundings: host, ready of the outgoing link, word on the incoming one.
type Inputs = (HostPortsOut, bool, Option<u32>);

prop_compose! {
    fn inputs()(
        (req_valid, req_write, rsp_ready, tx_ready) in any::<(bool, bool, bool, bool)>(),
        req_addr in prop_oneof![8 => Just(SEND), 8 => Just(RECEIVED), 1 => any::<u8>()],
        req_wstrb in prop_oneof![8 => Just(0xf), 1 => 0..0xf_u8],
        (req_wdata, rx) in any::<(u32, Option<u32>)>(),
    ) -> Inputs {
        let host = HostPortsOut { req_valid, req_write, req_addr, req_wdata, req_wstrb, rsp_ready };
        (host, tx_ready, rx)
    }
}

fn bench<U: YourNicUnit>() -> Result<(), TestError<Vec<Inputs>>> {
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(Seed::get().0),
        ..Config::default()
    });
    runner.run(&vec(inputs(), 1..100), |edges| {
        let (mut rtl, mut golden) = (Rtl::<U>::new(&Context::random(1), "nic"), Golden::default());
        for (host, tx_ready, rx) in edges {
            prop_assert_eq!(rtl.outputs(), golden.outputs());
            rtl.edge(&host, tx_ready, rx);
            golden.edge(&host, tx_ready, rx);
        }
        Ok(())
    })
}

#[test]
fn it_shows_what_its_model_shows() {
    bench::<YourNic>().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn broken_twins_are_caught() {
    assert!(bench::<TwinOverwrites>().is_err() && bench::<TwinStuck>().is_err());
}
