//! The reset bridge: up without a clock, down with the clock, some edges later.

use testbenches::name;
use testbenches::rtl::{ResetSyncS2, ResetSyncS5, TwinResetSyncClocked, TwinResetSyncEarly};
use tsunagi::harness::seed::{Case, Recorder};
use tsunagi::harness::wave::Probe;
use verilated::Unit;

use crate::bench::{Each, PERIOD, holds, must_pass, rules};

rules!(
    /// The reset is there as long as the request is, clock or no clock.
    Up
    /// It goes so many edges of the clock after the request.
    Down
);

pub trait Ports: Unit {
    const STAGES: u64;

    /// Sets clock and request; whether there is a reset.
    fn drive(&self, clk: bool, request: bool) -> bool;
}

macro_rules! ports {
    ($($unit:ident: $stages:expr;)+) => {$(
        impl Ports for $unit {
            const STAGES: u64 = $stages;

            fn drive(&self, clk: bool, request: bool) -> bool {
                self.clk_i.set_bool(clk);
                self.arst_i.set_bool(request);
                self.eval();
                self.rst_o.is_set()
            }
        }
    )+};
}

ports!(
    ResetSyncS2: 2;
    ResetSyncS5: 5;
    TwinResetSyncClocked: 2;
    TwinResetSyncEarly: 2;
);

/// Requests at any time against the clock, from a glitch to several cycles long. Time goes in tenths of a cycle.
fn requests<U: Ports>(case: &Case, without: &[Rule], probe: &Probe) -> Result<(), String> {
    let context = case.context();
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    let mut rng = case.rng("requests");
    let mut edges_due = None;
    let (mut left, mut request) = (3, true);
    for tenth in 0..20_000u64 {
        if left == 0 {
            request = !request;
            left = if request {
                rng.between(1, 25)
            } else {
                rng.between(1, 200)
            };
        }
        left -= 1;
        context.set_time(tenth * PERIOD / 10);
        let clk = tenth % 10 >= 5;
        let rises = tenth % 10 == 5;
        let reset = dut.drive(clk, request);
        wave.tick(context.time());
        if request {
            edges_due = Some(U::STAGES);
        } else if rises {
            edges_due = edges_due.map(|due: u64| due.saturating_sub(1));
        }
        let want = edges_due.is_some_and(|due| due > 0);
        let rule = if request { Rule::Up } else { Rule::Down };
        holds(without, rule, reset == want, || format!("reset {reset}, not {want}"))
            .map_err(|what| format!("cycle {}.{}: {what}", tenth / 10, tenth % 10))?;
    }
    Ok(())
}

pub fn checks<U: Ports>(without: &[Rule], each: Each) {
    let case = Case::new("common", "reset::up_at_once_down_with_the_clock", name::<U>());
    each(&case, &|probe| requests::<U>(&case, without, probe));
}

#[test]
fn up_at_once_down_with_the_clock() {
    checks::<ResetSyncS2>(&[], &mut must_pass);
    checks::<ResetSyncS5>(&[], &mut must_pass);
}
