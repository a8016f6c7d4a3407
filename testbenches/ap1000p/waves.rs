//! Waves of benches: each simulation writes its own, with its clock on its grid.

use support::wave_reader::check_bench;
use testbenches::rtl::*;
use tsunagi::harness::seed::Case;

use crate::{PERIOD, command, queues};

/// Several simulations in one run, two of them at once.
#[test]
fn each_simulation_of_a_run_has_a_wave() {
    let case = |name| Case::new("ap1000p", "waves::each_simulation_of_a_run_has_a_wave", name);
    let waves = check_bench(Some((PERIOD, PERIOD / 2)), |probe| {
        command::rate::<Ap1000pCommand>(&case("command"), probe).unwrap();
    });
    assert_eq!(waves, 2);
    let waves = check_bench(None, |probe| {
        queues::rate::<Ap1000pQueues>(&case("queues"), probe).unwrap();
    });
    assert!(waves > 5, "{waves}");
}
