//! The acknowledge counter against its model, every cycle.

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::acks::{Acks, Refused};
use tsunagi::harness::seed::Case;
use tsunagi::harness::wave::Probe;

use crate::rig::{Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The count, and whether it is at its greatest.
    Count,
    /// What was not counted is told.
    Refusal,
    Path,
}

const RULES: [Rule; 3] = [Rule::Count, Rule::Refusal, Rule::Path];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    count: u32,
    full: bool,
    refused: Refused,
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            /// A store, an acknowledgement.
            type In = [bool; 2];
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, &[issue, ack]: &[bool; 2]) {
                self.issue_i.set_bool(issue);
                self.ack_i.set_bool(ack);
            }

            fn seen(&self) -> Out {
                Out {
                    count: self.count_o.get().into(),
                    full: self.full_o.is_set(),
                    refused: Refused { over: self.over_o.is_set(), under: self.under_o.is_set() },
                }
            }
        }
    )+};
}

ports!(Ap1000pAcks Ap1000pAcksNarrow TwinAcksBoth TwinAcksWraps TwinAcksUnder TwinAcksPath);

/// Stores and acknowledgements at rates that drift, so that both ends are reached, with resets.
fn follows<U: Ports<In = [bool; 2], Out = Out>>(
    case: &Case,
    start: &str,
    most: u32,
    probe: &Probe,
) -> Result<(), String> {
    let mut rig = Rig::<U>::new(case, start, probe);
    let mut rng = case.rng("events");
    let mut model = Acks::new(most);
    let mut refused = Refused::default();
    rig.step(&[true, true], true)?;
    let (mut highest, mut both_ends) = (0, [false; 2]);
    for _ in 0..60 {
        let chances = [rng.below(9), rng.below(9)];
        let length = rng.between(5, 200);
        for _ in 0..length {
            let events = chances.map(|chance| rng.chance(chance, 8));
            let rst = rng.chance(1, 300);
            let seen = rig.step(&events, rst)?;
            holds(
                Rule::Count,
                (seen.count, seen.full) == (model.count(), model.count() == most),
                || format!("cycle {}: {seen:?}, not {}", rig.cycle, model.count()),
            )?;
            holds(Rule::Refusal, seen.refused == refused, || {
                format!("cycle {}: {seen:?}, not {refused:?}", rig.cycle)
            })?;
            refused = model.step(events[0], events[1]);
            if rst {
                (model, refused) = (Acks::new(most), Refused::default());
            }
            both_ends = [both_ends[0] | refused.over, both_ends[1] | refused.under];
            highest = highest.max(model.count());
        }
    }
    assert!(
        both_ends[1] && (both_ends[0] || most > 7),
        "the ends were not reached: {highest}"
    );
    Ok(())
}

#[test]
fn follows_its_model() {
    for start in STARTS {
        let case = Case::new("ap1000p", "mc::acks::follows_its_model", start);
        case.run(|probe| follows::<Ap1000pAcksNarrow>(&case, start, 7, probe));
        case.run(|probe| follows::<Ap1000pAcks>(&case, start, 0xffff, probe));
    }
}

/// C18: after k stores the count is k, and 0 only when every one of them is acknowledged.
#[test]
fn c18_zero_says_that_all_stores_are_performed() {
    let case = Case::new("ap1000p", "mc::acks::c18_zero_says_that_all_stores_are_performed", "");
    case.run(|probe| -> Result<(), String> {
        let mut rig = Rig::<Ap1000pAcks>::new(&case, STARTS[0], probe);
        let mut rng = case.rng("events");
        rig.step(&[false; 2], true)?;
        for stores in [1, 2, 255, 1000] {
            let (mut issued, mut acked) = (0, 0);
            while acked < stores {
                let issue = issued < stores && rng.chance(1, 2);
                // A store that was issued in this cycle cannot have been acknowledged.
                let ack = acked < issued && rng.chance(1, 3);
                rig.step(&[issue, ack], false)?;
                issued += u32::from(issue);
                acked += u32::from(ack);
                let count = rig.seen().count;
                holds(Rule::Count, count == issued - acked, || {
                    format!("{count}, not {issued} - {acked}")
                })?;
            }
        }
        Ok(())
    });
}

fn checks<U: Ports<In = [bool; 2], Out = Out>>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "mc::acks::each_twin_is_caught", "");
    vec![follows::<U>(&case, STARTS[0], 7, &Probe::default())]
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Count", &checks::<TwinAcksBoth>),
        ("Count", &checks::<TwinAcksWraps>),
        ("Refusal", &checks::<TwinAcksUnder>),
        ("Path", &checks::<TwinAcksPath>),
    ];
    each_is_caught(&RULES, twins);
}
