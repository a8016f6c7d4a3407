//! A million guesses of a key: none writes.

use super::*;

#[test]
fn a_million_keys_are_guessed_in_vain_on_the_model() {
    guess_keys(BackendKind::Model, 100);
}

/// The RTL takes minutes for a million.
#[test]
fn ten_thousand_are_on_the_rtl() {
    guess_keys(BackendKind::Rtl, 1);
}

#[test]
#[ignore = "minutes"]
fn a_million_keys_are_guessed_in_vain_on_the_rtl() {
    guess_keys(BackendKind::Rtl, 100);
}

/// So many times 10,000 keys.
fn guess_keys(kind: BackendKind, rounds: u32) {
    let mut rig = Rig::new(kind);
    let header = rig.header();
    let mut key = 0x1234_5678_9abc_def1_u64;
    let mut guess = || {
        key ^= key << 13;
        key ^= key >> 7;
        key ^= key << 17;
        (key >> 16) as u32
    };
    let each = 10_000;
    for _ in 0..rounds {
        for _ in 0..each {
            let key = guess();
            assert_ne!(key, header.key, "a guess is the key");
            let length = 8;
            rig.forge(&Header { key, length, ..header }.worm(&[1, 2]));
        }
        // A worm has 8 words, and a few cycles.
        run(&mut rig.sim, A, async move |node| {
            node.compute(Picos::from_ns(each * 200)).await
        });
    }
    run(&mut rig.sim, A, async |node| node.compute(Picos::from_us(1000.0)).await);
    // The counter of refusals saturates.
    assert_eq!(rig.refused(RECV_KEY), (each * u64::from(rounds)).min(0xffff));
    rig.nothing_came("guesses of keys");
    assert_eq!(rig.arrived(B), 0);
    rig.legal("guesses of keys");
}
