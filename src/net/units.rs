//! Verilated switches as units of a [`Fabric`](crate::net::fabric::Fabric).

use verilated::Context;

use crate::net::fabric::SwitchUnit;
use crate::net::topology::SwitchAt;
use crate::rtl::Crossbar4;

/// Implements `SwitchUnit` for a verilated unit with crossbar's ports: the type, its ports a side, its bits a word (64 at most).
#[macro_export]
macro_rules! switch_unit {
    ($unit:ty, $radix:literal, $width:literal) => {
        impl $crate::net::fabric::SwitchUnit for $unit {
            const RADIX: usize = $radix;

            fn reset(&mut self) {
                self.rst_i.set(1);
                for _ in 0..2 {
                    self.edge(&[0; $radix], 0, 0, 0);
                }
                self.rst_i.set(0);
            }

            #[inline]
            fn edge(&mut self, words: &[u64], in_valid: u32, in_last: u32, out_ready: u32) {
                for (input, word) in words.iter().take($radix).enumerate() {
                    self.in_data_i
                        .set_bits(input * $width, $width, word & (u64::MAX >> (64 - $width)));
                }
                self.in_valid_i.set(in_valid as u8);
                self.in_last_i.set(in_last as u8);
                self.out_ready_i.set(out_ready as u8);
                {
                    use ::verilated::Verilated as _;
                    self.junk();
                }
                self.rise(1);
            }

            #[inline]
            fn in_ready(&self) -> u32 {
                self.in_ready_o.get().into()
            }

            #[inline]
            fn out_valid(&self) -> u32 {
                self.out_valid_o.get().into()
            }

            #[inline]
            fn out_last(&self) -> u32 {
                self.out_last_o.get().into()
            }

            #[inline]
            fn out_word(&self, output: usize) -> u64 {
                self.out_data_o.get_bits(output * $width, $width)
            }

            #[inline]
            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }

            fn unroutable(&self) -> u64 {
                self.unroutable_o.get().into()
            }
        }
    };
}

switch_unit!(Crossbar4, 4, 16);

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
