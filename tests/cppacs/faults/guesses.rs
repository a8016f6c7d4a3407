//! A million guesses of a key: none writes.

use super::*;
use crate::backends::on_both;

on_both!(a_million_keys_are_guessed_in_vain);

/// A saturated counter of refusals.
const ALL: u64 = 0xffff;

fn a_million_keys_are_guessed_in_vain(kind: BackendKind) {
    let mut rig = Rig::new(kind);
    let header = rig.header();
    let mut key = 0x1234_5678_9abc_def1_u64;
    let mut guess = || {
        key ^= key << 13;
        key ^= key >> 7;
        key ^= key << 17;
        (key >> 16) as u32
    };
    let (rounds, each) = (100, 10_000);
    for _ in 0..rounds {
        for _ in 0..each {
            let key = guess();
            assert_ne!(key, header.key, "one in 4000 runs finds it: take another seed");
            let length = 8;
            rig.forge(&Header { key, length, ..header }.worm(&[1, 2]));
        }
        // A worm has 8 words, and a few cycles.
        run(&mut rig.sim, A, async move |node| {
            node.compute(Picos::from_ns(each * 200)).await
        });
    }
    run(&mut rig.sim, A, async |node| node.compute(Picos::from_us(1000.0)).await);
    assert_eq!(rig.refused(RECV_KEY), ALL);
    rig.nothing_came("a million guesses");
    assert_eq!(rig.arrived(B), 0);
    rig.legal("a million guesses");
}
