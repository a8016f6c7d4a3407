//! The verilated switch as a unit of the network.

use verilated::{Context, Input as _, Port as _};

use crate::net::fabric::SwitchUnit;
use crate::net::topology::SwitchAt;
use crate::net::units;
use crate::rtl::{Cenju3SwitchPorts as _, Cenju3SwitchUnit};

/// Ports a side, and bits of a flit.
const SHAPE: (usize, usize) = (4, 16);

/// A switch of Cenju-3, of any parameters.
pub struct Switch<U>(pub U);

impl<U: Cenju3SwitchUnit> Switch<U> {
    /// A switch, reset, that routes by two-bit digit `digit` (0 to 3) and leaves a link idle for `idle` cycles after
    /// each packet.
    pub fn new(context: &Context, at: SwitchAt, digit: usize, idle: u32) -> Switch<U> {
        let mut switch = Switch(U::named(context, &units::name(at)));
        switch.0.digit_i().set(digit as u64);
        switch.0.idle_i().set(idle.into());
        switch.reset();
        switch
    }
}

impl<U: Cenju3SwitchUnit> SwitchUnit for Switch<U> {
    const RADIX: usize = SHAPE.0;

    fn set_reset(&mut self, reset: bool) {
        self.0.rst_i().set_bool(reset);
    }

    #[inline]
    fn edge(&mut self, words: &[u64], in_valid: u32, in_last: u32, out_ready: u32) {
        let unit = &self.0;
        let inputs = (
            unit.in_data_i(),
            unit.in_valid_i(),
            unit.in_last_i(),
            unit.out_ready_i(),
        );
        units::edge(unit, inputs, SHAPE, words, [in_valid, in_last, out_ready]);
    }

    #[inline]
    fn in_ready(&self) -> u32 {
        self.0.in_ready_o().get() as u32
    }

    #[inline]
    fn out_valid(&self) -> u32 {
        self.0.out_valid_o().get() as u32
    }

    #[inline]
    fn out_last(&self) -> u32 {
        self.0.out_last_o().get() as u32
    }

    #[inline]
    fn out_word(&self, output: usize) -> u64 {
        self.0.out_data_o().get_bits(output * SHAPE.1, SHAPE.1)
    }

    #[inline]
    fn busy(&self) -> bool {
        self.0.busy_o().is_set()
    }

    fn unroutable(&self) -> u64 {
        self.0.unroutable_o().get()
    }
}
