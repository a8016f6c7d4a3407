//! A broken twin for each check: it differs from its unit in one line, is caught by its own check, and passes all the others.

use tsunagi::harness::seed::{Case, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;

use crate::bench::*;
use crate::crossbar::{contract, latency, plan, rate};
use crate::switch::{switch_plan, timing};

/// What each check says of a unit.
type Found = Vec<Result<(), String>>;

/// The golden switch under all gap patterns.
fn contracts<U: Switch>(idle: u8, plan: impl Fn(Gaps) -> Plan) -> Found {
    let run = |gaps: Gaps| {
        let case = Case::new("net", "twins", format!("gaps {gaps:?}"));
        contract::<U>(&case, &plan(gaps), idle, &Probe::default())
    };
    Gaps::ALL.map(run).into()
}

fn crossbar<U: Switch>() -> Found {
    let mut found = contracts::<U>(0, |gaps| plan(U::RADIX, gaps, 0, 300));
    found.extend([latency::<U>(), rate::<U>(), gating::<U>(Seed(1).stream("gating"))]);
    found
}

/// Something was found, and nothing but this.
fn caught(found: Found, own: &[&str]) {
    let faults: Vec<String> = found.into_iter().filter_map(Result::err).collect();
    assert!(!faults.is_empty(), "nobody says {own:?}");
    for fault in faults {
        assert!(own.iter().any(|own| fault.contains(own)), "{fault}: not {own:?}");
    }
}

#[test]
fn each_crossbar_twin_is_caught_by_its_own_check() {
    caught(crossbar::<TwinCrossbarBubble>(), &["rate:"]);
    caught(crossbar::<TwinCrossbarMixed>(), &["inside a packet of input"]);
    caught(crossbar::<TwinCrossbarRest>(), &["gated and ungated differ"]);
    // A word at the wrong output is one too many, or stands where another is expected.
    caught(
        crossbar::<TwinCrossbarRoute>(),
        &["nothing for this output", "expected", "latency:", "rate:"],
    );
    caught(crossbar::<TwinCrossbarUnfair>(), &["was passed over"]);
    caught(crossbar::<TwinCrossbarUnroutable>(), &["counted"]);
    // An offer that comes and goes by itself is no rest either.
    caught(
        crossbar::<TwinCrossbarWithdraws>(),
        &["valid fell", "gated and ungated differ"],
    );
    caught(crossbar::<TwinCrossbarWord>(), &["expected"]);
}

#[test]
fn the_switch_twin_is_caught_by_its_timing() {
    let mut found = contracts::<TwinCenju3SwitchIdle>(5, |gaps| switch_plan(gaps, 0));
    found.extend([
        timing::<TwinCenju3SwitchIdle>(9, 0),
        timing::<TwinCenju3SwitchIdle>(9, 5),
    ]);
    found.push(gating::<TwinCenju3SwitchIdle>(Seed(1).stream("gating")));
    caught(found, &["timing:"]);
}
