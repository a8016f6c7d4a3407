//! Waves of benches: the clock falls at half a period.

use support::this_test;
use testbenches::rtl::{Cenju3Receiver, Cenju3Sender};
use testbenches::{PERIOD, check_wave};

use crate::{receiver, sender};

#[test]
fn the_clock_falls_at_half_a_period() {
    check_wave(this_test!(), PERIOD / 2, |cases| {
        sender::checks(&sender::sender::<Cenju3Sender>(), cases);
    });
    check_wave(this_test!(), PERIOD / 2, |cases| {
        receiver::checks(&receiver::receiver::<Cenju3Receiver>(), cases);
    });
}
