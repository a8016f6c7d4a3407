//! When things happen.

use tsunagi::NodeId;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::KIND_PUT;
use tsunagi::harness::backend::{Backend, EventKind};

use super::rig::*;
use super::transfers::Transfer;

/// Cycles from the last store of a PUT to the flag at its end.
fn latency(rig: &mut dyn Rig, words: u32) -> u64 {
    let transfer = Transfer {
        words,
        dest: 0x2_0000,
        dest_flag: FLAG,
        source: 0x1_0000,
        ..Transfer::default()
    };
    // Translations, once.
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    rig.settle();
    let before = rig.word(1, FLAG);
    let start = rig.cycle();
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    while rig.word(1, FLAG) == before {
        assert!(rig.cycle() < start + LONG);
        rig.step();
    }
    // Eight stores in two cycles each.
    rig.cycle() - start - 16
}

/// The budget of a PUT in cycles: 4 + 6 + 12 to the first word, 6 + n words of 8 and two routers of 8, 8 + 12 to
/// memory, 20 for the flag. That is 40 ns a byte.
#[test]
fn latency_of_a_put() {
    let mut paper = model(&config(2, 1));
    for words in [1, 2, 100] {
        let expected = 4 + 6 + 12 + 8 * (6 + u64::from(words)) + 2 * 8 + 8 + 12 + 20;
        assert_eq!(latency(&mut paper, words), expected, "{words} words");
    }
    for link_cycles in [8, 1] {
        let config = Config {
            link_rate: 200.0 / f64::from(link_cycles),
            ..config(2, 1)
        };
        let [model, rtl] =
            [&mut model(&config) as &mut dyn Rig, &mut rtl(&config) as &mut dyn Rig].map(|rig| latency(rig, 1));
        println!("PUT of one word, {link_cycles} cycles a word, last store to flag: model {model}, RTL {rtl} cycles");
        // Not the same, but the same machine.
        assert!(model.abs_diff(rtl) <= 50, "model {model}, RTL {rtl} cycles");
    }
}

/// What a host program's experiment is told of a message on the network.
#[test]
fn events() {
    let mut rig = model(&config(2, 1));
    rig.machine.record(true);
    let transfer = Transfer {
        words: 3,
        dest: 0x2_0000,
        source: 0x1_0000,
        ..Transfer::default()
    };
    rig.store(0, KIND_PUT, &transfer.to([1, 0]));
    rig.settle();
    let events = rig.machine.take_events();
    assert!(events.is_sorted_by_key(|event| event.at));
    let at = |node: u16, kind: EventKind| {
        let event = events
            .iter()
            .find(|event| event.node == NodeId(node) && event.kind == kind);
        event.expect("it was recorded").at
    };
    let first = at(0, EventKind::TxFirst { head: 1 });
    let period = rig.period;
    assert_eq!(at(0, EventKind::TxLast { flits: 9 }), first + period * 72);
    assert_eq!(at(1, EventKind::RxFirst { head: 1 }), first + period * 16);
    assert_eq!(at(1, EventKind::RxLast { flits: 9 }), first + period * 88);
}
