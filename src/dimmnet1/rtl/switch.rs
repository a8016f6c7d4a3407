//! The verilated switch, as the one unit of the network.

use verilated::{Context, Input as _, Port as _};

use crate::net::fabric::SwitchUnit;
use crate::net::units;
use crate::rtl::{Dimmnet1SwitchPorts as _, Dimmnet1SwitchUnit};

/// Bits of a word.
const WIDTH: usize = 64;

/// Edges after which the tables of a switch that was reset are filled, and an entry written to them counts.
const FILLED: usize = 128;

/// A switch of any number of ports.
pub struct Switch<U>(pub U);

impl<U: Dimmnet1SwitchUnit> Switch<U> {
    /// A switch, reset, on which node i is at port i, and group 0 has all `nodes`.
    pub fn new(context: &Context, nodes: usize) -> Switch<U> {
        let mut switch = Switch(U::named(context, "switch"));
        switch.reset();
        switch.rest();
        switch.write(true, 0, (1 << nodes) - 1);
        switch
    }

    /// Writes a table: the mask of a group, or the route of a destination.
    fn write(&mut self, group: bool, index: u64, entry: u64) {
        let unit = &self.0;
        unit.cfg_valid_i().set_bool(true);
        unit.cfg_group_i().set_bool(group);
        unit.cfg_index_i().set(index);
        unit.cfg_entry_i().set(entry);
        while !self.0.cfg_ready_o().is_set() {
            self.edge(&[0; 32], 0, 0, 0);
        }
        self.edge(&[0; 32], 0, 0, 0);
        self.0.cfg_valid_i().set_bool(false);
        self.rest();
    }

    fn rest(&mut self) {
        (0..FILLED).for_each(|_| self.edge(&[0; 32], 0, 0, 0));
    }
}

impl<U: Dimmnet1SwitchUnit> SwitchUnit for Switch<U> {
    const RADIX: usize = U::N;

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
        units::edge(unit, inputs, (U::N, WIDTH), words, [in_valid, in_last, out_ready]);
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
        self.0.out_data_o().get_bits(output * WIDTH, WIDTH)
    }

    #[inline]
    fn busy(&self) -> bool {
        self.0.busy_o().is_set()
    }

    fn unroutable(&self) -> u64 {
        self.0.unroutable_o().get() + self.0.refused_o().get()
    }
}
