//! DIMMnet-1's switch: golden switch under all gap patterns, the exact cycle of each word.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Dut, Start, each_is_caught, pass, rules};
use tsunagi::rtl::Dimmnet1Switch16;
use verilated::Port as _;

use crate::crossbar_multicast::{In, Out, Switch, contracts, gating, latency, rate, set_table};
use crate::switch::{seen_flits, set_flits};

rules!(
    /// A hop takes its cycles. The twins of the crossbars show the other rules.
    Latency
);

fn switch<U: Dimmnet1SwitchUnit + 'static>() -> Switch {
    fn set(dut: &impl Dimmnet1SwitchPorts, inputs: &In) {
        set_table(
            inputs.write,
            dut.cfg_valid_i(),
            dut.cfg_group_i(),
            dut.cfg_index_i(),
            dut.cfg_entry_i(),
        );
        set_flits(
            &inputs.links,
            dut.in_valid_i(),
            dut.in_data_i(),
            dut.in_last_i(),
            dut.out_ready_i(),
        );
    }
    fn seen(dut: &impl Dimmnet1SwitchPorts) -> Out {
        Out {
            links: seen_flits(
                dut.in_ready_o(),
                dut.out_valid_o(),
                dut.out_data_o(),
                dut.out_last_o(),
                dut.busy_o(),
                dut.unroutable_o(),
            ),
            refused: dut.refused_o().get(),
            open: dut.cfg_ready_o().is_set(),
        }
    }
    Switch::new(Dut::of::<U>(set, seen), 70)
}

#[test]
fn switch_keeps_the_contract() {
    pass(this_test!(), |cases| {
        contracts(&switch::<Dimmnet1SwitchRandom>(), 60, &Start::RANDOM, cases);
        contracts(&switch::<Dimmnet1Switch16>(), 20, &[Start::Random1], cases);
    });
}

#[test]
fn a_hop_takes_fifteen_cycles() {
    pass(this_test!(), |cases| {
        latency(&switch::<Dimmnet1SwitchRandom>(), 6, cases)
    });
}

#[test]
fn links_run_at_full_rate() {
    pass(this_test!(), |cases| {
        rate(&switch::<Dimmnet1SwitchRandom>(), 0.61, cases)
    });
}

#[test]
fn gated_and_ungated_agree() {
    pass(this_test!(), |cases| gating(&switch::<Dimmnet1SwitchRandom>(), cases));
}

#[test]
fn each_twin_is_caught() {
    each_is_caught(
        this_test!(),
        &[(Rule::Latency, &[], &|cases| {
            latency(&switch::<TwinDimmnet1SwitchDelay>(), 6, cases)
        })],
    );
}
