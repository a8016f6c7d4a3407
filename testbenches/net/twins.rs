//! Every check of a switch and of a network has a broken twin: one line broken (`rtl/units.toml`), found by its own check and no other.

use testbenches::rtl::{
    TwinBusBubble, TwinBusMixed, TwinBusPace, TwinBusRests, TwinBusStays, TwinBusTwice, TwinBusUnfair, TwinOmegaBusy,
    TwinOmegaCount, TwinOmegaShuffle, TwinOmegaWraps, TwinSyncEarly, TwinSyncMask, TwinSyncRests, TwinSyncStranger,
};
use tsunagi::harness::seed::{Case, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;

use crate::bench::{Check::*, *};
use crate::cells::{Barrier, Bus, barriers, bus_contract, bus_rate};
use crate::crossbar::{contract, counts, crossed, latency, plan, rate};
use crate::omega::{self, Radix3, Top, agrees};
use crate::switch::{switch_plan, timing};
use crate::torus::{
    self, Router, TwinTorusBubble, TwinTorusBusy, TwinTorusCopy, TwinTorusCount, TwinTorusCredit, TwinTorusDrained,
    TwinTorusGreedy, TwinTorusHasty, TwinTorusJams, TwinTorusLane, TwinTorusLate, TwinTorusMixed, TwinTorusOnward,
    TwinTorusPace, TwinTorusRest, TwinTorusUnfair, TwinTorusWord, all_to_all, pace,
};
use tsunagi::net::torus::Torus;

/// What each check says of a unit.
type Found = Vec<Result<(), Fault>>;

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
    found.extend([
        latency::<U>(),
        rate::<U>(0.65).map(drop),
        gating::<U>(Seed(1).stream("gating")),
    ]);
    found
}

/// Only a full count is wrong: what takes 65536 packets to see is asked of no other twin.
fn count_of<U: Switch>() -> Found {
    vec![counts::<U>()]
}

fn buffered<U: Switch>() -> Found {
    let mut found = crossbar::<U>();
    let case = Case::new("net", "twins", "crossed");
    found.push(crossed::<U>(&case, &Probe::default()));
    found
}

fn switch<U: Switch>() -> Found {
    let mut found = contracts::<U>(5, |gaps| switch_plan(gaps, 0));
    found.extend([timing::<U>(9, 0), timing::<U>(9, 5)]);
    found.push(gating::<U>(Seed(1).stream("gating")));
    found
}

fn omega<T: Top>() -> Found {
    let run = |gaps: Gaps| {
        let case = Case::new("net", "twins", format!("gaps {gaps:?}"));
        agrees::<Radix3<T>>(&case, gaps, &Probe::default())
    };
    Gaps::ALL.map(run).into()
}

fn router<U: Router>() -> Found {
    let run = |plan: torus::Plan| {
        let case = Case::new("net", "twins", format!("{:?} at {}", plan.torus, plan.at));
        torus::contract::<U>(&case, &plan, &Probe::default())
    };
    let mut found: Found = torus::plans(60).map(run).collect();
    found.extend([
        torus::latency::<U>(),
        torus::rate::<U>(),
        torus::fair::<U>(),
        torus::copies::<U>(),
    ]);
    found.push(torus::gating::<U>(Seed(1).stream("gating")));
    found
}

/// Only the way a packet takes is wrong: what its own router says is not asked.
fn ring<U: Router>() -> Found {
    let case = Case::new("net", "twins", "ring");
    vec![all_to_all::<U>(&case, Torus::new(8, 1))]
}

fn barrier<U: Barrier>() -> Found {
    let run = |start| {
        let case = Case::new("net", "twins", format!("barriers {start}"));
        barriers::<U>(&case, 5_000, &Probe::default())
    };
    (0..3).map(run).collect()
}

fn bus<U: Bus>() -> Found {
    let mut found = Found::new();
    bus_contract::<U>("twins", 20, |_, run| found.push(run(&Probe::default())));
    found.push(bus_rate::<U>());
    found
}

/// All checks of a twin, its own check, and those that find it, too.
type Twin = (fn() -> Found, Check, &'static [Check]);

const TWINS: [Twin; 54] = [
    // A word at the wrong output is one too many, or stands where another is expected.
    (crossbar::<TwinCrossbarRoute>, Nothing, &[Word, Latency, Rate]),
    (crossbar::<TwinCrossbarWord>, Word, &[]),
    (crossbar::<TwinCrossbarMixed>, Mixed, &[]),
    (crossbar::<TwinCrossbarUnfair>, Unfair, &[]),
    (crossbar::<TwinCrossbarLeft>, Left, &[]),
    (crossbar::<TwinCrossbarUnroutable>, Unroutable, &[]),
    (count_of::<TwinCrossbarCount>, Unroutable, &[]),
    // An offer that comes and goes by itself is no rest either.
    (crossbar::<TwinCrossbarWithdraws>, Protocol, &[Gating]),
    // What is stuck is never at rest.
    (crossbar::<TwinCrossbarJams>, Hang, &[Rest]),
    (crossbar::<TwinCrossbarBusy>, Rest, &[]),
    (crossbar::<TwinCrossbarRest>, Gating, &[]),
    // The cycles of a thousand words begin with the first one's, and what is late is taken for rest.
    (crossbar::<TwinCrossbarLate>, Latency, &[Rate, Gating]),
    (crossbar::<TwinCrossbarBubble>, Rate, &[]),
    // Packets that hold outputs wait for each other.
    (buffered::<TwinBufferedDeadlock>, Hang, &[]),
    // A queue that takes more than it holds gives other words in their place.
    (crossbar::<TwinBufferedFull>, Word, &[Nothing, Mixed, Hang, Rest]),
    (crossbar::<TwinBufferedRest>, Gating, &[]),
    (crossbar::<TwinBufferedHasty>, Rest, &[]),
    (crossbar::<TwinBufferedUnroutable>, Unroutable, &[]),
    (count_of::<TwinBufferedCount>, Unroutable, &[]),
    (switch::<TwinCenju3SwitchIdle>, Timing, &[]),
    (switch::<TwinCenju3SwitchSync>, Timing, &[]),
    // On another channel nothing is expected, or another word.
    (router::<TwinTorusLane>, Nothing, &[Word]),
    // And in a ring, all wait for each other.
    (ring::<TwinTorusLane>, Hang, &[]),
    (router::<TwinTorusWord>, Word, &[]),
    (router::<TwinTorusMixed>, Mixed, &[]),
    (router::<TwinTorusUnfair>, Unfair, &[]),
    (router::<TwinTorusGreedy>, Unfair, &[]),
    // The next packet stands where the copy is expected; a copy that goes nowhere else is a packet drained.
    (router::<TwinTorusCopy>, Word, &[Left, Unroutable]),
    (router::<TwinTorusDrained>, Unroutable, &[]),
    (|| vec![torus::counts::<TwinTorusCount>()], Unroutable, &[]),
    (router::<TwinTorusCredit>, Protocol, &[]),
    (router::<TwinTorusJams>, Hang, &[Rest]),
    (router::<TwinTorusBusy>, Rest, &[]),
    // What is stuck is not tried again at rest.
    (router::<TwinTorusRest>, Gating, &[Hang, Left]),
    (router::<TwinTorusHasty>, Rest, &[]),
    (router::<TwinTorusOnward>, Timing, &[]),
    // What comes every other cycle only has no rival.
    (router::<TwinTorusLate>, Latency, &[Rate, Unfair]),
    // Eight words in a row, too.
    (router::<TwinTorusBubble>, Rate, &[Latency]),
    (|| vec![pace::<TwinTorusPace>()], Timing, &[]),
    (omega::<TwinOmegaShuffle>, Agree, &[]),
    (omega::<TwinOmegaCount>, Unroutable, &[]),
    (|| vec![omega::counts::<TwinOmegaWraps>()], Unroutable, &[]),
    (omega::<TwinOmegaBusy>, Rest, &[]),
    (barrier::<TwinSyncEarly>, Nothing, &[]),
    // Whoever waits for a stranger waits for ever.
    (barrier::<TwinSyncMask>, Latency, &[Hang]),
    (barrier::<TwinSyncStranger>, Word, &[]),
    (barrier::<TwinSyncRests>, Gating, &[]),
    (bus::<TwinBusTwice>, Word, &[]),
    (bus::<TwinBusMixed>, Mixed, &[]),
    (bus::<TwinBusUnfair>, Unfair, &[]),
    (bus::<TwinBusStays>, Left, &[]),
    (bus::<TwinBusBubble>, Rate, &[]),
    (bus::<TwinBusPace>, Rate, &[]),
    (bus::<TwinBusRests>, Gating, &[]),
];

#[test]
fn each_check_has_a_twin() {
    for check in Check::ALL {
        assert!(TWINS.iter().any(|(_, own, _)| *own == check), "{check:?} has no twin");
    }
}

#[test]
fn each_twin_is_caught_by_its_own_check() {
    let mut wrong = Vec::new();
    for (number, (checks, own, with)) in TWINS.into_iter().enumerate() {
        let faults: Vec<Fault> = Seed::of_twins()
            .under(checks)
            .into_iter()
            .filter_map(Result::err)
            .collect();
        if !faults.iter().any(|fault| fault.check == own) {
            wrong.push(format!("twin {number}: {own:?} does not catch it: {faults:?}"));
        }
        let others = faults
            .iter()
            .filter(|fault| fault.check != own && !with.contains(&fault.check));
        wrong.extend(others.map(|fault| format!("twin {number}: {own:?} should say this, not: {fault}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
