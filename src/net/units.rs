//! Verilated switches as units of a [`Fabric`](crate::net::fabric::Fabric).

use verilated::{Context, Input, Port as _, Verilated};

use crate::net::fabric::SwitchUnit;
use crate::net::topology::SwitchAt;
use crate::rtl::{Crossbar4, CrossbarPorts as _, CrossbarUnit};

/// One clock edge of a verilated switch, as of [`SwitchUnit::edge`], with `radix` words of `width` bits. `data`,
/// `valid`, `last` and `ready` are its inputs for them.
#[inline(always)]
pub fn edge(
    unit: &impl Verilated,
    (data, valid, last, ready): (&impl Input, &impl Input, &impl Input, &impl Input),
    (radix, width): (usize, usize),
    words: &[u64],
    [in_valid, in_last, out_ready]: [u32; 3],
) {
    for (input, word) in words.iter().take(radix).enumerate() {
        data.set_bits(input * width, width, word & (u64::MAX >> (64 - width)));
    }
    valid.set(in_valid.into());
    last.set(in_last.into());
    ready.set(out_ready.into());
    unit.junk();
    unit.rise(1);
}

/// A crossbar of any parameters, its words of at most 64 bits.
impl<U: CrossbarUnit> SwitchUnit for U {
    const RADIX: usize = U::N;

    fn set_reset(&mut self, reset: bool) {
        self.rst_i().set_bool(reset);
    }

    #[inline]
    fn edge(&mut self, words: &[u64], in_valid: u32, in_last: u32, out_ready: u32) {
        let inputs = (
            self.in_data_i(),
            self.in_valid_i(),
            self.in_last_i(),
            self.out_ready_i(),
        );
        edge(self, inputs, (U::N, U::W), words, [in_valid, in_last, out_ready]);
    }

    #[inline]
    fn in_ready(&self) -> u32 {
        self.in_ready_o().get() as u32
    }

    #[inline]
    fn out_valid(&self) -> u32 {
        self.out_valid_o().get() as u32
    }

    #[inline]
    fn out_last(&self) -> u32 {
        self.out_last_o().get() as u32
    }

    #[inline]
    fn out_word(&self, output: usize) -> u64 {
        self.out_data_o().get_bits(output * U::W, U::W)
    }

    #[inline]
    fn busy(&self) -> bool {
        self.busy_o().is_set()
    }

    fn unroutable(&self) -> u64 {
        self.unroutable_o().get()
    }
}

/// What a switch at this place is called in a wave.
pub fn name(at: SwitchAt) -> String {
    format!("switch_{}_{}", at.stage, at.row)
}

/// A 4x4 crossbar of 16 bits, reset, that routes by two-bit digit `digit` (0 to 3) of a first word.
pub fn crossbar(context: &Context, at: SwitchAt, digit: usize) -> Crossbar4 {
    let mut unit = Crossbar4::named(context, &name(at));
    unit.digit_i.set(digit as u8);
    unit.reset();
    unit
}
