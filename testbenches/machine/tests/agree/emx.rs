//! EM-4 of 5 PEs and EM-X of 20: block transfers, exchanges and a scan.

use testbenches_machine::emx::SingleTop;
use testbenches_machine::rtl::{Em4Machine5, EmXMachine20, TwinEmxMachineSend};
use tsunagi::emx::backend::Backend;
use tsunagi::emx::library::{Program, Run, image};
use tsunagi::emx::params::{Config, EM_X};
use tsunagi::emx::rtl::{Composed, Event, Machine, Pes};
use tsunagi::rtl::{Em4Pe5, EmXPe20};

const WORDS: u32 = 1 << 16;
const PACKETS: usize = 1 << 12;

fn config(em_x: bool) -> Config {
    let mut config = Config::paper();
    for (name, value) in EM_X.into_iter().filter(|_| em_x) {
        config.set(name, value).unwrap();
    }
    config
}

/// What happened while the programs ran, one after the other.
fn events(pes: impl Pes, config: &Config, programs: &[Program], count: u32) -> Vec<Event> {
    let mut machine = Machine::new(pes, WORDS, PACKETS);
    machine.record();
    let image = image(config).unwrap();
    for &program in programs {
        let words = 13;
        let run = Run { program, count, words };
        machine.start(&run, &image);
        machine
            .run(count, 1_000_000)
            .unwrap_or_else(|error| panic!("{program:?}: {error}"));
    }
    machine.take_events()
}

fn same(composed: &[Event], single: &[Event]) -> bool {
    assert!(composed.len() > 1000);
    composed == single
}

/// What a loop of five PEs runs.
const ON_FIVE: [Program; 4] = [Program::RingPkt, Program::RingWord, Program::RingBlock, Program::Scan];

#[test]
fn five_pes_as_one_top_do_the_same() {
    let composed = events(Composed::<Em4Pe5>::new(true), &config(false), &ON_FIVE, 5);
    let single = events(SingleTop::<Em4Machine5>::default(), &config(false), &ON_FIVE, 5);
    assert!(same(&composed, &single));
}

#[test]
fn a_twin_that_sends_otherwise_is_seen() {
    let composed = events(Composed::<Em4Pe5>::new(true), &config(false), &ON_FIVE, 5);
    let twin = events(SingleTop::<TwinEmxMachineSend>::default(), &config(false), &ON_FIVE, 5);
    assert!(!same(&composed, &twin));
}

#[test]
fn twenty_pes_as_one_top_do_the_same() {
    let programs = [Program::Pex, Program::Wex, Program::Lib];
    let composed = events(Composed::<EmXPe20>::new(true), &config(true), &programs, 16);
    let ungated = events(Composed::<EmXPe20>::new(false), &config(true), &programs, 16);
    assert!(same(&composed, &ungated));
    let single = events(SingleTop::<EmXMachine20>::default(), &config(true), &programs, 16);
    assert!(same(&composed, &single));
}
