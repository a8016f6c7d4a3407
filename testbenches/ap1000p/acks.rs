//! The acknowledge counter against its model, every cycle.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::acks::{Acks, Refused};
use verilated::{Input as _, Port as _};

rules!(
    /// The count follows the model, and so does the flag of its greatest value.
    Count
    /// Each event that does not count is reported.
    Refusal
    /// No output follows an input within the cycle.
    Path
);

/// A store, an acknowledgement.
type In = [bool; 2];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    count: u32,
    full: bool,
    refused: Refused,
}

fn set(dut: &impl Ap1000pAcksPorts, &[issue, ack]: &In) {
    dut.issue_i().set_bool(issue);
    dut.ack_i().set_bool(ack);
}

fn seen(dut: &impl Ap1000pAcksPorts) -> Out {
    Out {
        count: dut.count_o().get() as u32,
        full: dut.full_o().is_set(),
        refused: Refused {
            over: dut.over_o().is_set(),
            under: dut.under_o().is_set(),
        },
    }
}

fn acks<U: Ap1000pAcksUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Stores and acknowledgements at rates that drift, so that the count reaches both ends, with resets.
fn drift(run: &Run, dut: &Dut<In, Out>) -> Result<(), Fault> {
    let most = (1 << dut.width("count_o")) - 1;
    let mut bench = Bench::new(run, dut);
    let mut rng = run.rng("events");
    let mut model = Acks::new(most);
    let mut refused = Refused::default();
    bench.reset(&[true, true])?;
    let (mut highest, mut both_ends) = (0, [false; 2]);
    for _ in 0..60 {
        let chances = [rng.below(9), rng.below(9)];
        for _ in 0..rng.between(5, 200) {
            let now = bench.cycle();
            let events = chances.map(|chance| rng.chance(chance, 8));
            let rst = rng.chance(1, 300);
            let seen = bench.registered(&events, rst)?;
            let count = model.count();
            let same = (seen.count, seen.full) == (count, count == most);
            Rule::Count.holds(same, || format!("cycle {now}: {seen:?}, not {count}"))?;
            let same = seen.refused == refused;
            Rule::Refusal.holds(same, || format!("cycle {now}: {seen:?}, not {refused:?}"))?;
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
        "the count did not reach both ends: {highest} at most"
    );
    Ok(())
}

fn follows(dut: &Dut<In, Out>, starts: &[Start], cases: &mut Cases) {
    cases.from_each(starts, dut.name, |run| drift(run, dut));
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        follows(&acks::<Ap1000pAcksNarrow>(), &Start::RANDOM, cases);
        follows(&acks::<Ap1000pAcks>(), &Start::RANDOM, cases);
    });
}

/// C18: after k stores the count is k. It is 0 again only when all of them are acknowledged.
#[test]
fn c18_zero_follows_the_last_acknowledgement() {
    pass(this_test!(), |cases| {
        let dut = acks::<Ap1000pAcks>();
        cases.case(Start::Random1, dut.name, |run| {
            let mut bench = Bench::new(run, &dut);
            let mut rng = run.rng("events");
            bench.reset(&[false; 2])?;
            for stores in [1, 2, 255, 1000] {
                let (mut issued, mut acked) = (0, 0);
                while acked < stores {
                    let issue = issued < stores && rng.chance(1, 2);
                    // The acknowledgement of a store comes in a later cycle.
                    let ack = acked < issued && rng.chance(1, 3);
                    bench.step(&[issue, ack])?;
                    issued += u32::from(issue);
                    acked += u32::from(ack);
                    let count = bench.seen().count;
                    Rule::Count.holds(count == issued - acked, || format!("{count}, not {issued} - {acked}"))?;
                }
            }
            Ok(())
        });
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |dut: Dut<In, Out>, cases: &mut Cases| follows(&dut, &[Start::Random1], cases);
    each_is_caught(
        this_test!(),
        &[
            // A store does not count beside an acknowledgement.
            (Count, &[], &|cases| checks(acks::<TwinAcksBoth>(), cases)),
            // A store at the greatest count makes it 0.
            (Count, &[], &|cases| checks(acks::<TwinAcksWraps>(), cases)),
            // An acknowledgement without a store is not reported beside a store.
            (Refusal, &[], &|cases| checks(acks::<TwinAcksUnder>(), cases)),
            (Path, &[], &|cases| checks(acks::<TwinAcksPath>(), cases)),
        ],
    );
}
