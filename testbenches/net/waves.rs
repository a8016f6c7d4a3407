//! Waves of benches whose units leave out the falling edge.

use support::wave_reader::check_bench;
use tsunagi::harness::seed::Case;
use tsunagi::harness::stream::Gaps;

use crate::bench::{CrossbarN2W16, PERIOD};
use crate::crossbar::{contract, plan};

#[test]
fn the_clock_falls_at_half_a_period() {
    let case = Case::new("net", "waves::the_clock_falls_at_half_a_period", "");
    let waves = check_bench(Some((PERIOD, 0)), |probe| {
        contract::<CrossbarN2W16>(&case, &plan(2, Gaps::Both, 0, 20), 0, probe).unwrap();
    });
    assert_eq!(waves, 1);
}
