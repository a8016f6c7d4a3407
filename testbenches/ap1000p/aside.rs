//! Messages set aside at faults, against their model, every cycle.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::aside::{Aside, Events, Whose, Why};
use tsunagi::harness::seed::Rng;
use verilated::{Input as _, Port as _};

rules!(
    /// The queues that are held.
    Held
    /// First messages that are given up.
    Lost
    /// The fault that is shown, and whose it is.
    Shown
    /// The service of a fault of the message that is going out.
    Own
    /// No output follows an input within the cycle.
    Path
);

#[derive(Debug, PartialEq)]
struct Out {
    held: u8,
    lost: u8,
    shown: Option<Why>,
    own: Option<bool>,
}

fn set(dut: &impl Ap1000pAsidePorts, events: &Events) {
    let bit = |queue: Option<usize>| queue.map_or(0, |queue| 1 << queue);
    dut.back_i().set(bit(events.back));
    dut.settle_i().set(bit(events.settled));
    dut.own_i().set_bool(events.own);
    let Why {
        reason,
        context,
        system,
        addr,
    } = events.why;
    dut.why_reason_i().set(reason.into());
    dut.why_context_i().set(context.into());
    dut.why_system_i().set_bool(system);
    dut.why_addr_i().set(addr.into());
    dut.retry_i().set_bool(events.served == Some(false));
    dut.abort_i().set_bool(events.served == Some(true));
}

fn seen(dut: &impl Ap1000pAsidePorts) -> Out {
    let why = || Why {
        reason: dut.fault_reason_o().get() as u8,
        context: dut.fault_context_o().get() as u16,
        system: dut.fault_system_o().is_set(),
        addr: dut.fault_addr_o().get() as u32,
    };
    let (retry, abort) = (dut.own_retry_o().is_set(), dut.own_abort_o().is_set());
    Out {
        held: dut.hold_o().get() as u8,
        lost: dut.lost_o().get() as u8,
        shown: dut.fault_valid_o().is_set().then(why),
        own: (retry || abort).then_some(abort),
    }
}

fn aside<U: Ap1000pAsideUnit + 'static>() -> Dut<Events, Out> {
    Dut::of::<U>(set, seen)
}

/// The events of a cycle that the sender and software can cause: no held queue gives a message, and the sender gives
/// none while its own waits.
fn events(rng: &mut Rng, model: &Aside, queues: usize, own: &mut Option<Why>) -> Events {
    let why = Why {
        reason: rng.between(1, 7) as u8,
        context: rng.below(1 << 12) as u16,
        system: rng.chance(1, 2),
        addr: rng.bits() as u32,
    };
    let queue = rng.below(queues as u64) as usize;
    let free = own.is_none() && model.held >> queue & 1 == 0;
    let lost = model.lost >> queue & 1 == 1;
    let back = (free && !lost && rng.chance(1, 6)).then_some(queue);
    let settled = (free && back.is_none() && rng.chance(1, 4)).then_some(queue);
    if own.is_none() && back.is_none() && rng.chance(1, 20) {
        *own = Some(why);
    }
    Events {
        back,
        settled,
        own: own.is_some(),
        why: own.unwrap_or(why),
        served: rng.chance(1, 12).then(|| rng.chance(1, 2)),
    }
}

fn follow(run: &Run, dut: &Dut<Events, Out>) -> Result<(), Fault> {
    let queues = dut.width("back_i");
    let mut bench = Bench::new(run, dut);
    let mut rng = run.rng("events");
    let (mut model, mut own) = (Aside::default(), None);
    let mut shown = [0; 3];
    bench.reset(&Events::default())?;
    for _ in 0..4_000 {
        let events = events(&mut rng, &model, queues, &mut own);
        let rst = rng.chance(1, 500);
        let now = bench.cycle();
        let seen = bench.registered(&events, rst)?;
        let at = |rule: Rule, want: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug, same: bool| {
            rule.holds(same, || format!("cycle {now}: {got:x?}, not {want:x?}"))
        };
        at(Rule::Held, &model.held, &seen.held, model.held == seen.held)?;
        at(Rule::Lost, &model.lost, &seen.lost, model.lost == seen.lost)?;
        at(Rule::Own, &model.own, &seen.own, model.own == seen.own)?;
        let why = model.shown.map(|(_, why)| why);
        at(Rule::Shown, &why, &seen.shown, why == seen.shown)?;
        if model.own.is_some() {
            own = None;
        }
        model.step(&events);
        if let Some((whose, _)) = model.shown.filter(|_| why.is_none()) {
            shown[usize::from(whose == Whose::Own)] += 1;
        }
        shown[2] += u32::from(model.held.count_ones() > 1);
        if rst {
            (model, own) = (Aside::default(), None);
        }
    }
    assert!(shown.iter().all(|&n| n > 10) || queues < 2, "too few faults: {shown:?}");
    Ok(())
}

fn follows(dut: &Dut<Events, Out>, starts: &[Start], cases: &mut Cases) {
    cases.from_each(starts, dut.name, |run| follow(run, dut));
}

#[test]
fn follows_the_model() {
    pass(this_test!(), |cases| {
        for dut in [aside::<Ap1000pAside>(), aside::<Ap1000pAsideReply>()] {
            follows(&dut, &Start::RANDOM, cases);
        }
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |dut: Dut<Events, Out>, cases: &mut Cases| follows(&dut, &[Start::Random1], cases);
    each_is_caught(
        this_test!(),
        &[
            // A queue put back as another is served is free.
            (Held, &[], &|cases| checks(aside::<TwinAsideFrees>(), cases)),
            // A fault that comes as another is served is not shown.
            (Shown, &[], &|cases| checks(aside::<TwinAsideForgets>(), cases)),
            // The newest fault is shown.
            (Shown, &[], &|cases| checks(aside::<TwinAsideNewest>(), cases)),
            // The fault just served is shown again.
            (Shown, &[], &|cases| checks(aside::<TwinAsideAgain>(), cases)),
            (Lost, &[], &|cases| checks(aside::<TwinAsideLost>(), cases)),
            // A queue is given up for ever.
            (Lost, &[], &|cases| checks(aside::<TwinAsideKeeps>(), cases)),
            // A retry gives up.
            (Own, &[], &|cases| checks(aside::<TwinAsideOwn>(), cases)),
            (Path, &[], &|cases| checks(aside::<TwinAsidePath>(), cases)),
        ],
    );
}
