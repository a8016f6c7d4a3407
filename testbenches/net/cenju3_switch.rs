//! Cenju-3's switch: golden switch under all gap patterns, the exact cycle of each flit, the idle time of its links.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Rule as _, Start, each_is_caught, pass, rules};
use tsunagi::harness::stream::Gaps;
use tsunagi::net::fabric::Flit;
use verilated::Input as _;

use crate::switch::{In, Out, Plan, Switch, bound, contract, full, gating, seen_flits, set_flits};

rules!(
    /// Each flit has its cycle, and links idle for the set time. The twins of the crossbar show the rules of all
    /// switches.
    Timing
);

pub fn switch<U: Cenju3SwitchUnit + 'static>() -> Switch {
    fn set(dut: &impl Cenju3SwitchPorts, inputs: &In) {
        dut.digit_i().set(inputs.digit as u64);
        dut.idle_i().set(inputs.idle.into());
        set_flits(
            inputs,
            dut.in_valid_i(),
            dut.in_data_i(),
            dut.in_last_i(),
            dut.out_ready_i(),
        );
    }
    fn seen(dut: &impl Cenju3SwitchPorts) -> Out {
        seen_flits(
            dut.in_ready_o(),
            dut.out_valid_o(),
            dut.out_data_o(),
            dut.out_last_o(),
            dut.busy_o(),
            dut.unroutable_o(),
        )
    }
    Switch::new(Dut::of::<U>(set, seen))
}

/// Two more words are in the output stage, and idle time fills the crossbar's outputs as a pausing sink does.
pub fn plan(gaps: Gaps, digit: usize, idle: u8) -> Plan {
    Plan {
        idle,
        bound: bound(4, Gaps::Both) + 2,
        ..crate::switch::plan(4, gaps, digit, 300)
    }
}

/// Random packets under all gap patterns, with each of these digits and idle times.
fn contracts(switch: &Switch, settings: &[(usize, u8)], cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for &(digit, idle) in settings {
            let params = format!("{} gaps {gaps:?} digit {digit} idle {idle}", switch.dut.name);
            let plan = plan(gaps, digit, idle);
            cases.case(Start::Random1, params, |run| contract(switch, run, &plan));
        }
    }
}

/// Input 2 sends packets of `length` flits to output 1 without a pause: the first flit takes ten cycles, and the link
/// idles for exactly the set time after each packet.
fn timing(switch: &Switch, length: u64, idle: u8, cases: &mut Cases) {
    const CYCLES: u64 = 3000;
    let params = format!("{} packets of {length}, idle {idle}", switch.dut.name);
    cases.case(Start::Zero, &params, |run| {
        let mut bench = switch.fresh(run);
        let (mut sent, mut shown) = (0, Vec::new());
        for cycle in 0..CYCLES {
            let mut inputs = In::idle(4);
            inputs.idle = idle;
            inputs.ready.fill(true);
            inputs.flits[2] = Some(Flit {
                word: 1,
                last: sent % length == length - 1,
            });
            let seen = bench.through(&inputs, false);
            shown.extend(seen.flits[1].map(|_| cycle));
            sent += u64::from(seen.ready[2]);
        }
        let due = (0..).map(|n| 10 + n + n / length * u64::from(idle));
        let differ = due
            .take_while(|cycle| *cycle < CYCLES)
            .zip(&shown)
            .find(|(due, shown)| due != *shown);
        Rule::Timing.holds(differ.is_none() && !shown.is_empty(), || {
            format!("{params}: cycles of a flit (due, shown): {differ:?}")
        })
    });
}

/// All checks of a twin.
fn checks(switch: &Switch, cases: &mut Cases) {
    contracts(switch, &[(0, 5)], cases);
    timing(switch, 9, 0, cases);
    timing(switch, 9, 5, cases);
    gating(switch, cases);
}

const SETTINGS: [(usize, u8); 3] = [(0, 0), (1, 5), (3, 1)];

#[test]
fn switch_keeps_the_contract() {
    pass(this_test!(), |cases| {
        contracts(&switch::<Cenju3SwitchRandom>(), &SETTINGS, cases)
    });
}

#[test]
fn switch_with_small_buffers_keeps_the_contract() {
    pass(this_test!(), |cases| {
        contracts(&switch::<Cenju3SwitchB9>(), &SETTINGS, cases)
    });
}

#[test]
fn full_links_hold_and_lose_nothing() {
    let inside = |buffer: u64| buffer + 16..=buffer + 24;
    pass(this_test!(), |cases| {
        full(&switch::<Cenju3SwitchRandom>(), inside(32), cases);
        full(&switch::<Cenju3SwitchB9>(), inside(9), cases);
    });
}

#[test]
fn heads_take_ten_cycles_and_links_idle_exactly() {
    pass(this_test!(), |cases| {
        for (length, idle) in [(1, 0), (1, 5), (4, 1), (9, 5), (265, 5), (3, 255)] {
            timing(&switch::<Cenju3SwitchRandom>(), length, idle, cases);
        }
    });
}

#[test]
fn gated_and_ungated_agree() {
    pass(this_test!(), |cases| gating(&switch::<Cenju3SwitchRandom>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Timing, &[], &|cases| checks(&switch::<TwinCenju3SwitchIdle>(), cases)),
            (Timing, &[], &|cases| checks(&switch::<TwinCenju3SwitchSync>(), cases)),
        ],
    );
}
