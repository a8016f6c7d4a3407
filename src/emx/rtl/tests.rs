use super::*;
use crate::emx::backend::build;
use crate::emx::library::{Program, Run, image, layout};
use crate::emx::packet::{Kind, global};
use crate::emx::params::EM_X;
use crate::repro::row::BackendKind;

const KINDS: [BackendKind; 2] = [BackendKind::Model, BackendKind::Rtl];

fn configs() -> [Config; 2] {
    let mut em_x = Config::paper();
    for (name, value) in EM_X {
        em_x.set(name, value).unwrap();
    }
    [Config::paper(), em_x]
}

/// Word `i` of the block from one PE to another.
fn data(from: u32, to: u32, i: u32) -> u32 {
    (from + 1) << 20 | (to + 1) << 10 | i
}

/// The machine behind a run whose blocks hold their own numbers before.
fn run(config: &Config, kind: BackendKind, what: &Run) -> (Told, Box<dyn Backend>) {
    let mut machine = build(config, kind).unwrap();
    for (from, to) in (0..what.count).flat_map(|from| (0..what.count).map(move |to| (from, to))) {
        (0..what.words).for_each(|i| machine.set_word(from, what.source(to) + i, data(from, to, i)));
    }
    machine.start(what, &image(config).unwrap());
    let told = machine.run(what.count, 1_000_000);
    (told.unwrap_or_else(|error| panic!("{what:?}: {error}")), machine)
}

#[test]
fn all_exchanges_move_all_words() {
    for config in configs() {
        for program in [Program::Lex, Program::Pex, Program::Rex, Program::Wex] {
            let (count, words) = (16, 13);
            let what = Run { program, count, words };
            let (_, mut machine) = run(&config, BackendKind::Rtl, &what);
            for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
                for i in (0..words).filter(|_| from != to) {
                    let found = machine.word(to, what.destination(from) + i);
                    assert_eq!(found, data(from, to, i), "{program:?}: {from} to {to}, word {i}");
                }
            }
        }
    }
}

/// Two implementations from one contract. Where hardware has a choice, the model may take another.
#[test]
fn results_and_times_are_the_models() {
    let cells = [
        (Program::RingPkt, 5, 0),
        (Program::RingWord, 5, 0),
        (Program::RingBlock, 5, 23),
        (Program::Pex, 16, 10),
        (Program::Wex, 16, 10),
        (Program::Lib, 16, 10),
        (Program::Reduction, 64, 0),
        (Program::Scan, 64, 1),
    ];
    for config in configs() {
        for (program, count, words) in cells {
            let what = Run { program, count, words };
            let [model, rtl] = KINDS.map(|kind| run(&config, kind, &what).0);
            assert_eq!(model.values, rtl.values, "{program:?}");
            let ratio = rtl.cycles as f64 / model.cycles as f64;
            assert!((0.97..=1.03).contains(&ratio), "{program:?}: {model:?}, {rtl:?}");
        }
    }
}

#[test]
fn an_operand_that_never_comes_is_named() {
    let config = Config::paper();
    let (program, count, words) = (Program::RingPkt, 5, 0);
    let what = Run { program, count, words };
    let image = image(&config).unwrap();
    let errors = KINDS.map(|kind| {
        let mut machine = build(&config, kind).unwrap();
        machine.start(&what, &image);
        // PE 0 believes that it is another: nobody begins.
        machine.set_word(0, layout::MAIN + 8, 1);
        match machine.run(count, 100_000) {
            Err(RunError::Hang { pes, waiting, .. }) => (pes, waiting),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(errors[0], errors[1]);
}

/// Packets and threads that are refused: what the machine says is what the model says.
#[test]
fn refusals_and_faults_are_the_models() {
    for config in configs() {
        let outcomes = KINDS.map(|kind| refusals(&config, kind));
        assert_eq!(outcomes[0], outcomes[1]);
    }
}

fn refusals(config: &Config, kind: BackendKind) -> ([u64; 8], u32, Vec<Fault>) {
    let image = image(config).unwrap();
    let still = || {
        let mut machine = build(config, kind).unwrap();
        let (program, count, words) = (Program::RingPkt, 5, 0);
        machine.load(&Run { program, count, words }, &image);
        machine
    };
    let to = |kind, addr, data| Packet::to(Kind::of(kind), global(1, addr), data);
    let half = Packet::to(Kind::matching(true), global(1, layout::PORT + 5), 1);
    let packets = [
        to(9, 0x41, 0),
        to(TYPE_WRITE, 0x2000, 0),
        to(TYPE_WRITE, 0x1_0000, 0),
        half,
        half,
        to(TYPE_READ, 0x7000, global(80, 0x7000)),
        to(TYPE_WRITE, 0x7000, 5),
    ];
    let mut machine = still();
    for packet in packets {
        machine.inject(1, packet);
        assert!(matches!(machine.run(1, 1000), Err(RunError::Hang { .. })));
    }
    let (refused, word) = (machine.counts(1).refused, machine.word(1, 0x7000));
    // No code, a load outside of memory, and a trap of the library's.
    let load = 32 << 26 | 2 << 21 | 0x1_ffff;
    let frames = [(0x200, 0x7000, 0), (0x200, 0x7000, load), (layout::PORT, 0, 0)];
    let faults = frames.map(|(frame, link, insn)| {
        let mut machine = still();
        let entry = if link == 0 { 50 } else { 1 };
        if link != 0 {
            machine.set_word(1, frame, link);
            machine.set_word(1, link + 4, insn);
        }
        machine.inject(1, to(TYPE_THREAD, frame + entry, 0));
        match machine.run(1, 1000) {
            Err(RunError::Fault { pe: 1, fault }) => fault,
            other => panic!("{other:?}"),
        }
    });
    (refused, word, faults.to_vec())
}
