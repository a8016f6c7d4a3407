//! Waves of benches: each simulation writes its own, with its clock on its grid.

use support::this_test;
use support::wave_reader::check_bench;
use testbenches::rtl::*;
use testbenches::{Cases, PERIOD};

use crate::queues::Refill;
use crate::{command, queues};

/// Waves of the first case. A clock that never stops has this period and phase.
fn waves(grid: Option<(u64, u64)>, cases: impl FnOnce(&mut Cases)) -> usize {
    let mut found = None;
    cases(&mut Cases::new(this_test!(), &mut |_, body| {
        if found.is_none() {
            found = Some(check_bench(grid, |probe| {
                body(probe).unwrap_or_else(|fault| panic!("{fault}"));
            }));
        }
    }));
    found.expect("there is a case")
}

/// Several simulations in one case, two of them at once.
#[test]
fn each_simulation_of_a_case_has_a_wave() {
    let grid = Some((PERIOD, PERIOD / 2));
    let window = command::dut::<Ap1000pCommand>();
    assert_eq!(waves(grid, |cases| command::rate(&window, cases)), 2);
    let queues = queues::queues::<Ap1000pQueues>(Refill::Hardware);
    assert_eq!(waves(None, |cases| queues::rate(&queues, cases)), 6);
}
