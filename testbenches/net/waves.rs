//! Waves of benches: the clock falls at half a period, and no edge is off its grid.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{PERIOD, Start, check_wave};

use crate::crossbar::{contracts, crossbar};

#[test]
fn the_clock_falls_at_half_a_period() {
    check_wave(this_test!(), PERIOD / 2, |cases| {
        contracts(&crossbar::<CrossbarN2W16>(), 1, 20, &[Start::Random1], cases);
    });
}
