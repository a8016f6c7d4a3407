//! Cenju-3's switch: contract, its exact latency, the idle time of its links.

use tsunagi::harness::seed::{Case, Seed};
use tsunagi::harness::stream::Gaps;

use crate::bench::{Cenju3SwitchB9, Cenju3SwitchRandom, Check, Fault, Plan, Switch, fresh, gating};
use crate::crossbar::{bound, contract, plan, stream};

/// Two more words are in the output stage, and idle time fills the crossbar's outputs as a pausing sink does.
pub fn switch_plan(gaps: Gaps, digit: usize) -> Plan {
    Plan {
        bound: bound(4, Gaps::Both) + 2,
        ..plan(4, gaps, digit, 300)
    }
}

fn contracts<U: Switch>(test: &'static str) {
    for gaps in Gaps::ALL {
        for (start, (digit, idle)) in [(0, 0), (1, 5), (3, 1)].into_iter().enumerate() {
            let params = format!("gaps {gaps:?} digit {digit} idle {idle} start {start}");
            let case = Case::new("net", test, params);
            case.run(|probe| contract::<U>(&case, &switch_plan(gaps, digit), idle, probe));
        }
    }
}

#[test]
fn switch_keeps_the_contract() {
    contracts::<Cenju3SwitchRandom>("switch::switch_keeps_the_contract");
}

#[test]
fn switch_with_small_buffers_keeps_the_contract() {
    contracts::<Cenju3SwitchB9>("switch::switch_with_small_buffers_keeps_the_contract");
}

/// Links that nobody takes from fill up and stop the inputs; what was taken is all there afterwards.
fn full<U: Switch>(buffer: u64) {
    let mut unit = fresh::<U>(0);
    let mut taken = 0;
    for _ in 0..200 {
        taken += u64::from(unit.in_ready().count_ones());
        unit.edge(&[0, 1, 2, 3], 0xF, 0xF, 0);
    }
    assert_eq!(unit.in_ready(), 0);
    let inside = 4 * (buffer + 16)..=4 * (buffer + 24);
    assert!(inside.contains(&taken), "{taken} flits inside, not {inside:?}");
    // One more of each input is offered and has to stay so.
    let mut offered = [true; 4];
    let (flits, _) = stream(&mut unit, 200, |input| {
        std::mem::take(&mut offered[input]).then_some(input as u64)
    });
    assert_eq!(flits, [taken / 4 + 1; 4]);
}

#[test]
fn full_links_hold_and_lose_nothing() {
    full::<Cenju3SwitchRandom>(32);
    full::<Cenju3SwitchB9>(9);
}

/// Input 2 sends packets of `length` flits to output 1 without a pause: the head takes ten cycles, and the link idles for
/// exactly the set time after each packet.
pub fn timing<U: Switch>(length: u64, idle: u8) -> Result<(), Fault> {
    const CYCLES: u64 = 3000;
    let mut unit = fresh::<U>(idle);
    let (mut sent, mut shown) = (0, Vec::new());
    for cycle in 0..CYCLES {
        if unit.out_valid() >> 1 & 1 == 1 {
            shown.push(cycle);
        }
        let last = sent % length == length - 1;
        sent += u64::from(unit.in_ready() >> 2 & 1);
        unit.edge(&[0, 0, 1, 0], 0b0100, u32::from(last) << 2, 0xF);
    }
    let expected = (0..)
        .map(|n| 10 + n + n / length * u64::from(idle))
        .take_while(|cycle| *cycle < CYCLES);
    let differ = expected.zip(&shown).find(|(expected, shown)| expected != *shown);
    Check::Timing.holds(differ.is_none(), || {
        format!("packets of {length}, idle {idle}: cycles of a flit (expected, shown): {differ:?}")
    })
}

#[test]
fn heads_take_ten_cycles_and_links_idle_exactly() {
    for (length, idle) in [(1, 0), (1, 5), (4, 1), (9, 5), (265, 5), (3, 255)] {
        timing::<Cenju3SwitchRandom>(length, idle).unwrap();
    }
}

#[test]
fn gated_and_ungated_agree() {
    gating::<Cenju3SwitchRandom>(Seed::get().stream("gating switch")).unwrap();
}
