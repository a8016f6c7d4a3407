use std::collections::BTreeMap;

use super::*;
use crate::emx::asm::{Source, assemble};
use crate::emx::golden::execute::Cause;
use crate::emx::library::{Program, Run, image, layout};
use crate::emx::packet::{Kind, global};
use crate::emx::params::EM_X;
use crate::emx::regs::{
    REASON_NOWHERE, REASON_OVERRUN, REASON_RANGE, REASON_TYPE, TYPE_CALL, TYPE_FREE, TYPE_READ, TYPE_WRITE,
};

fn em_x() -> Config {
    let mut config = Config::paper();
    for (name, value) in EM_X {
        config.set(name, value).unwrap();
    }
    config
}

/// Word `i` of the block from one PE to another.
fn data(from: u32, to: u32, i: u32) -> u32 {
    (from + 1) << 20 | (to + 1) << 10 | i
}

/// A machine that ran a program: its cycles and results.
fn run(config: &Config, run: Run) -> Result<(u64, Vec<u32>, Machine), RunError> {
    let image = image(config).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut machine = Machine::new(config);
    for pe in 0..run.count {
        for to in 0..run.count {
            for i in 0..run.words {
                machine.set_word(pe, run.source(to) + i, data(pe, to, i));
            }
        }
    }
    machine.start(&run, &image);
    let told = machine.run(run.count, 10_000_000)?;
    Ok((told.cycles, told.values, machine))
}

/// Every word of every block is where it belongs.
fn exchanged(config: &Config, program: Program, count: u32, words: u32) {
    let what = Run { program, count, words };
    let (_, _, mut machine) = run(config, what).unwrap_or_else(|error| panic!("{program:?}, {words} words: {error}"));
    for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
        for i in (0..words).filter(|_| from != to) {
            let found = machine.word(to, what.destination(from) + i);
            assert_eq!(found, data(from, to, i), "{program:?}: {from} to {to}, word {i}");
        }
    }
}

#[test]
fn all_exchanges_move_all_words() {
    for config in [Config::paper(), em_x()] {
        for program in [Program::Lex, Program::Pex, Program::Rex, Program::Wex] {
            exchanged(&config, program, 16, 1);
            exchanged(&config, program, 16, 23);
        }
    }
}

#[test]
fn sums_scans_and_broadcasts_are_right() {
    for config in [Config::paper(), em_x()] {
        let what = |program, words| Run {
            program,
            count: 16,
            words,
        };
        let (_, values, _) = run(&config, what(Program::Reduction, 0)).unwrap();
        assert_eq!(values, [120; 16]);
        for program in [Program::Lib, Program::Reb] {
            let what = what(program, 13);
            let image = image(&config).unwrap();
            let mut machine = Machine::new(&config);
            (0..13).for_each(|i| machine.set_word(0, what.destination(0) + i, 100 + i));
            machine.start(&what, &image);
            machine.run(16, 1_000_000).unwrap();
            assert!((0..16).all(|pe| (0..13).all(|i| machine.word(pe, what.destination(0) + i) == 100 + i)));
        }
        let what = what(Program::Scan, 5);
        let image = image(&config).unwrap();
        let mut machine = Machine::new(&config);
        (0..16).for_each(|pe| (0..5).for_each(|i| machine.set_word(pe, what.destination(0) + i, 1)));
        machine.start(&what, &image);
        machine.run(16, 1_000_000).unwrap();
        assert!((0..16).all(|pe| (0..5).all(|i| machine.word(pe, what.destination(0) + i) == 5 * pe + i + 1)));
    }
}

#[test]
fn a_small_memory_for_packets_is_fatal() {
    let mut config = Config::paper();
    config.spill_bits = 4;
    let lex = Run {
        program: Program::Lex,
        count: 16,
        words: 40,
    };
    assert!(matches!(run(&config, lex), Err(RunError::Fatal { packets: 16, .. })));
}

#[test]
fn an_operand_that_never_comes_is_named() {
    let config = Config::paper();
    let ring = Run {
        program: Program::RingPkt,
        count: 5,
        words: 0,
    };
    let image = image(&config).unwrap();
    let mut machine = Machine::new(&config);
    machine.start(&ring, &image);
    // PE 0 believes that it is another: nobody begins.
    machine.set_word(0, 0x80 + 8, 1);
    let Err(RunError::Hang { pes, waiting, .. }) = machine.run(5, 100_000) else {
        panic!("it ended")
    };
    assert_eq!(pes, [0, 1, 2, 3, 4]);
    let frame = 0x40;
    assert_eq!(waiting, [0, 1, 2, 3, 4].map(|pe| Waiting { pe, frame, offset: 1 }));
}

/// A machine with the library on its PEs, in which nothing runs.
fn still(config: &Config) -> Machine {
    let image = image(config).unwrap();
    let mut machine = Machine::new(config);
    let what = Run {
        program: Program::RingPkt,
        count: config.pes(),
        words: 0,
    };
    machine.load(&what, &image);
    machine
}

/// Gives packets to PE 1, one after the other, until nothing moves.
fn give(machine: &mut Machine, packets: &[Packet]) -> Result<(), RunError> {
    for packet in packets {
        machine.inject(1, *packet);
        match machine.run(1, 1000) {
            Err(RunError::Hang { .. }) => (),
            other => return other.map(|_| ()),
        }
    }
    Ok(())
}

fn to(kind: u32, addr: u32, data: u32) -> Packet {
    Packet::to(Kind::of(kind), global(1, addr), data)
}

#[test]
fn far_memory_is_read_and_written() {
    for config in [Config::paper(), em_x()] {
        let mut machine = still(&config);
        let read = Packet {
            tag: TYPE_WRITE as u8,
            ..to(TYPE_READ, 0x7000, global(79, 0x7001))
        };
        give(&mut machine, &[to(TYPE_WRITE, 0x7000, 77), read]).unwrap();
        assert_eq!((machine.word(1, 0x7000), machine.word(79, 0x7001)), (77, 77));
        let bypassed = if config.write_bypass { 2 } else { 0 };
        assert_eq!(machine.counts(1).bypassed, bypassed);
    }
}

#[test]
fn frames_are_allocated_and_freed_until_none_is_left() {
    let mut machine = still(&Config::paper());
    // The frame's address comes as a word message of type 3.
    let call = to(TYPE_CALL, layout::CODE, global(0, layout::PORT + 33 + 3));
    let first = layout::FRAMES.start;
    give(&mut machine, &[call]).unwrap();
    assert_eq!(machine.word(0, layout::RINGS + 3 * layout::RING), global(1, first));
    assert_eq!(machine.word(1, first), layout::CODE);
    give(&mut machine, &[to(TYPE_FREE, first, 0)]).unwrap();
    assert_eq!(machine.word(1, layout::FREE_LIST), first);
    let frames = layout::FRAMES.len() / SIZE_FRAME as usize;
    give(&mut machine, &vec![call; frames]).unwrap();
    let Err(RunError::Fault { pe: 1, fault }) = give(&mut machine, &[call]) else {
        panic!("there was a frame more")
    };
    assert_eq!(fault.cause, Cause::Trap { code: 1 });
}

#[test]
fn bad_packets_are_counted_and_the_next_is_unharmed() {
    for config in [Config::paper(), em_x()] {
        let mut machine = still(&config);
        let half = Packet::to(Kind::matching(true), global(1, layout::PORT + 5), 1);
        let nowhere = to(TYPE_READ, 0x7000, global(80, 0x7000));
        let bad = [
            to(9, 0x41, 0),
            to(TYPE_WRITE, 0x2000, 0),
            to(TYPE_WRITE, 0x1_0000, 0),
            half,
            half,
            nowhere,
        ];
        give(&mut machine, &bad).unwrap();
        let refused = machine.counts(1).refused;
        let counted =
            [REASON_TYPE, REASON_RANGE, REASON_OVERRUN, REASON_NOWHERE].map(|reason| refused[reason as usize]);
        assert_eq!(counted, [1, 2, 1, 1]);
        give(&mut machine, &[to(TYPE_WRITE, 0x7000, 5)]).unwrap();
        assert_eq!(machine.word(1, 0x7000), 5);
    }
}

#[test]
fn threads_that_go_astray_say_where() {
    let fault = |frame: u32, link: u32| {
        let mut machine = still(&Config::paper());
        machine.set_word(1, frame, link);
        match give(&mut machine, &[to(0, frame + 1, 0)]) {
            Err(RunError::Fault { pe: 1, fault }) => (fault.cause, fault.pc, fault.frame),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(fault(0x200, 0x7000), (Cause::Code, 0x7004, 0x200));
    assert_eq!(fault(0x200, 1 << 22), (Cause::Fetch, u32::MAX, 0x200));
    let mut machine = still(&Config::paper());
    let unknown = Packet::to(Kind::THREAD, global(1, layout::PORT + 50), 0);
    let Err(RunError::Fault { fault, .. }) = give(&mut machine, &[unknown]) else {
        panic!("type 17 was taken")
    };
    assert_eq!(fault.cause, Cause::Trap { code: 2 });
}

/// Rounds of writes, each with a sync behind it, whose thread traps if it finds a word of an earlier round.
const SYNCS: &str = include_str!("../repro/syncs.s");

fn syncs(config: &Config, sync: Kind) -> Result<u64, RunError> {
    let source = Source {
        name: "syncs.s".into(),
        text: SYNCS.into(),
    };
    let image = assemble(&[source], &BTreeMap::from([("SYNC".into(), sync.0.into())])).unwrap();
    let mut machine = Machine::new(config);
    let rounds = 40;
    for pe in 0..80 {
        let to = (7 * pe + 3) % 80;
        image.load().for_each(|(addr, word)| machine.set_word(pe, addr, word));
        (0x7000..0x700c).for_each(|addr| machine.set_word(pe, addr, rounds + 1));
        let words = [
            (0, image.symbols["WRITES"]),
            (0x80, image.symbols["T"]),
            (0x88, global(to, 0x7000)),
            (0x89, global(0, 0x7100 + pe)),
            (0x8a, global(to, 0x90)),
        ];
        words.iter().for_each(|(addr, word)| machine.set_word(pe, *addr, *word));
        machine.inject(pe, Packet::to(Kind::THREAD, 0x81, rounds));
    }
    Ok(machine.run(80, 1_000_000)?.cycles)
}

#[test]
fn no_sync_is_handled_before_its_data() {
    for (name, value) in EM_X {
        let mut one = Config::paper();
        one.set(name, value).unwrap();
        syncs(&one, Kind::THREAD).unwrap_or_else(|error| panic!("with {name}: {error}"));
    }
    for config in [Config::paper(), em_x()] {
        syncs(&config, Kind::THREAD).unwrap();
    }
    // On EM-X writes pass by, so even an urgent sync comes behind them; with levels alone it would not.
    syncs(&em_x(), Kind::THREAD.urgent()).unwrap();
    let mut levels = Config::paper();
    levels.levels = 2;
    let overtaken = syncs(&levels, Kind::THREAD.urgent());
    assert!(matches!(overtaken, Err(RunError::Fault { fault, .. }) if fault.cause == Cause::Trap { code: 9 }));
}
