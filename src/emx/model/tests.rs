use super::*;
use crate::emx::library::{Program, image};
use crate::emx::params::EM_X;

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
    let (cycles, values) = machine.run(run.count, 10_000_000)?;
    Ok((cycles, values, machine))
}

/// Every word of every block is where it belongs.
fn exchanged(config: &Config, program: Program, count: u32, words: u32) {
    let what = Run { program, count, words };
    let (_, _, machine) = run(config, what).unwrap_or_else(|error| panic!("{program:?}, {words} words: {error}"));
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
    assert_eq!(pes[..5], [0, 1, 2, 3, 4]);
    let frame = 0x40;
    assert_eq!(waiting, [0, 1, 2, 3, 4].map(|pe| Waiting { pe, frame, offset: 1 }));
}

/// Program, PEs, and words with the paper's time in us.
type Table = (Program, u32, &'static [(u32, f64)]);

const TABLES: [Table; 12] = [
    (Program::RingPkt, 5, &[(0, 10.24)]),
    (Program::RingWord, 5, &[(0, 15.04)]),
    (Program::RingBlock, 5, &[(1, 38.25), (10, 81.45), (100, 567.45)]),
    (Program::Lex, 64, &[(1, 1634.0), (10, 2754.0), (100, 16639.0)]),
    (Program::Pex, 64, &[(1, 1079.0), (10, 1990.0), (100, 12632.0)]),
    (Program::Rex, 64, &[(1, 916.0), (10, 1823.0), (100, 12437.0)]),
    (Program::Wex, 64, &[(1, 458.0), (10, 1018.0), (100, 12672.0)]),
    (Program::Lib, 64, &[(0, 410.0), (1, 864.0), (10, 1453.0), (100, 6171.0)]),
    (Program::Reb, 64, &[(0, 27.0), (1, 65.0), (10, 108.0), (100, 618.0)]),
    (Program::Reduction, 64, &[(0, 15.0)]),
    (Program::Shift, 64, &[(1, 8.0), (10, 17.0), (100, 118.0)]),
    (Program::Scan, 64, &[(1, 205.0), (10, 218.0), (100, 348.0)]),
];

fn us(config: &Config, what: Run) -> String {
    match run(config, what) {
        Ok((cycles, _, machine)) => format!("{:.1} us, peak {}", cycles as f64 * 0.08, machine.peak()),
        Err(error) => format!("{:.80}", error.to_string()),
    }
}

#[test]
#[ignore = "prints"]
fn tables() {
    for (program, count, cells) in TABLES {
        for &(words, paper) in cells {
            let what = Run { program, count, words };
            let (em_4, em_x) = (us(&Config::paper(), what), us(&em_x(), what));
            println!("{program:?} {words}: paper {paper}; EM-4 {em_4}; EM-X at 12.5 MHz {em_x}");
        }
    }
}

#[test]
#[ignore = "prints"]
fn limits() {
    let what = |program, words| Run {
        program,
        count: 64,
        words,
    };
    for words in [125, 130, 135, 140] {
        println!("lex {words}: {}", us(&Config::paper(), what(Program::Lex, words)));
    }
    let mut whole = Config::paper();
    whole.chunk = 0;
    let ring = Run {
        count: 5,
        ..what(Program::RingBlock, 100)
    };
    println!("never suspended, block of 100: {}", us(&whole, ring));
    for program in [Program::Pex, Program::Wex] {
        println!("never suspended, {program:?} 100: {}", us(&whole, what(program, 100)));
        for (name, value) in EM_X {
            let mut one = Config::paper();
            one.set(name, value).unwrap();
            // A READ passes by only where there is an output buffer.
            println!("{program:?} 100 with {name}: {}", us(&one, what(program, 100)));
        }
    }
}
