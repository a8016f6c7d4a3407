//! Reset bridge: the reset rises without a clock, and falls with the clock a number of edges later.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, PERIOD, Rule as _, Run, Start, each_is_caught, pass, rules};
use verilated::{Input as _, Port as _};

rules!(
    /// The reset is on while the request is, clock or no clock.
    Up
    /// It goes off as many edges of the clock after the request as there are stages.
    Down
);

/// A bridge under test: its input is the request, its output the reset.
struct Bridge {
    dut: Dut<bool, bool>,
    stages: u64,
}

fn bridge<U: ResetSyncUnit + 'static>() -> Bridge {
    fn set(dut: &impl ResetSyncPorts, request: &bool) {
        dut.arst_i().set_bool(*request);
    }

    fn seen(dut: &impl ResetSyncPorts) -> bool {
        dut.rst_o().is_set()
    }

    Bridge {
        dut: Dut::of::<U>(set, seen),
        stages: U::STAGES as u64,
    }
}

/// Requests at any time within a cycle, from glitches to several cycles long. Time is counted in tenths of a cycle.
fn requests(run: &Run, bridge: &Bridge) -> Result<(), Fault> {
    let dut = bridge.dut.instance(&run.context());
    let unit = dut.verilated();
    let mut wave = run.recorder(&[unit]);
    let mut rng = run.rng("requests");
    let mut edges_due = None;
    let (mut left, mut request) = (3, true);
    for tenth in 0..20_000u64 {
        if left == 0 {
            request = !request;
            left = rng.between(1, if request { 25 } else { 200 });
        }
        left -= 1;
        dut.set(&request);
        unit.context().set_time(tenth * PERIOD / 10);
        match tenth % 10 {
            0 => unit.fall(!0),
            5 => unit.rise(!0),
            _ => unit.eval(),
        }
        wave.tick(unit.context().time());
        if request {
            edges_due = Some(bridge.stages);
        } else if tenth % 10 == 5 {
            edges_due = edges_due.map(|due: u64| due.saturating_sub(1));
        }
        let (reset, want) = (dut.seen(), edges_due.is_some_and(|due| due > 0));
        let rule = if request { Rule::Up } else { Rule::Down };
        rule.holds(reset == want, || {
            format!("cycle {}.{}: reset {reset}, not {want}", tenth / 10, tenth % 10)
        })?;
    }
    Ok(())
}

fn checks(bridge: &Bridge, cases: &mut Cases) {
    cases.from_each(&Start::ALL, bridge.dut.name, |run| requests(run, bridge));
}

#[test]
fn up_at_once_down_with_the_clock() {
    pass(this_test!(), |cases| {
        checks(&bridge::<ResetSyncS2>(), cases);
        checks(&bridge::<ResetSyncS5>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A reset that did not rise is missing when it should fall.
            (Up, &[Down], &|cases| checks(&bridge::<TwinResetSyncClocked>(), cases)),
            (Down, &[], &|cases| checks(&bridge::<TwinResetSyncEarly>(), cases)),
        ],
    );
}
