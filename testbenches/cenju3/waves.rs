//! Waves of benches whose units leave out the falling edge.

use support::wave_reader::check_bench;
use testbenches::rtl::Cenju3Sender;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Case;
use tsunagi::harness::stream::Gaps;

use crate::{PERIOD, STARTS, sender};

#[test]
fn the_clock_falls_at_half_a_period() {
    let case = Case::new("cenju3", "waves::the_clock_falls_at_half_a_period", "");
    let plan = sender::Plan {
        timing: MemoryTiming::IDEAL,
        gaps: Gaps::Both,
        faulty: false,
        reset_at: None,
    };
    let waves = check_bench(Some((PERIOD, 0)), |probe| {
        sender::follows::<Cenju3Sender>(&case, STARTS[0], probe, plan).unwrap_or_else(|e| panic!("{e}"));
    });
    assert_eq!(waves, 1);
}
