//! In every bench, junk stands on lines without a valid word: a simulation from a random state has it.

use std::collections::BTreeSet;

use testbenches::rtl::AxiSlave;
use verilated::{Context, Verilated};

/// What the lines of the write address carry over 20 cycles, with a word on them or without.
fn seen(context: &Context, valid: bool) -> [BTreeSet<Vec<u32>>; 2] {
    let dut = AxiSlave::named(context, "dut");
    let mut seen = [BTreeSet::new(), BTreeSet::new()];
    for _ in 0..20 {
        dut.s_axi_awvalid.set_bool(valid);
        dut.s_axi_awaddr.set(0x40);
        dut.s_axi_awburst.set(1);
        dut.junk();
        for (seen, name) in seen.iter_mut().zip(["s_axi_awaddr", "s_axi_awburst"]) {
            seen.insert(dut.peek(name).expect("a port"));
        }
        dut.eval();
    }
    seen
}

#[test]
fn a_word_that_does_not_count_is_junk() {
    let counts = |context: Context, valid| seen(&context, valid).map(|seen| seen.len());
    let [addr, burst] = counts(Context::random(7), false);
    assert!(addr > 10 && burst == 4, "{addr} addresses, {burst} kinds of burst");
    assert_eq!(counts(Context::random(7), true), [1, 1]);
    assert_eq!(counts(Context::new(), false), [1, 1]);
}
