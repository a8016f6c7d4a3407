//! Each parameter moves something that can be seen.

use tsunagi::emx::host::{Emx, HostError};
use tsunagi::emx::library::Program;
use tsunagi::emx::packet::{Kind, Packet, global};
use tsunagi::emx::params::{Config, PARAMS};
use tsunagi::emx::regs::{TYPE_READ, TYPE_WRITE};
use tsunagi::repro::row::BackendKind;

use tsunagi::emx::repro::{Scenario, What, measure};

use crate::backends::with_code;

/// What a machine of these parameters shows.
type Shown = fn(&Config) -> String;

/// Another value of each parameter, and what shows it.
const OTHERS: &[(&str, f64, Shown)] = &[
    ("row_bits", 2.0, size),
    ("used", 7.0, block),
    ("clock_period", 50.0, block),
    ("memory_bits", 15.0, size),
    ("spill_bits", 4.0, lex),
    ("half_packets", 2.0, lex),
    ("channel_packets", 1.0, wex),
    ("spill_turns", 1.0, lex),
    ("host_wait", 9.0, polled),
    ("write_bypass", 1.0, wex),
    ("read_bypass", 1.0, read),
    ("input_first", 1.0, lex),
    ("code_port", 1.0, wex),
    ("levels", 2.0, urgent),
    ("output_packets", 8.0, lex),
    ("fast_send", 1.0, block),
    ("chunk", 0.0, block),
    ("messages", 19.0, types),
];

fn shown(config: &Config, what: What) -> String {
    let scenario = Scenario {
        backend: BackendKind::Model,
        config: config.clone(),
        what,
    };
    match measure(&scenario) {
        Ok(m) => format!("{:?} {} {} {}", m.end, m.cycles, m.time_us, m.peak),
        Err(error) => error.to_string(),
    }
}

fn size(config: &Config) -> String {
    match Emx::new(config, BackendKind::Model) {
        Ok(machine) => machine.config().pes().to_string(),
        Err(error) => error.to_string(),
    }
}

fn block(config: &Config) -> String {
    shown(config, What::program(Program::RingBlock, config.used, 25))
}

fn lex(config: &Config) -> String {
    shown(config, What::program(Program::Lex, 16, 40))
}

fn wex(config: &Config) -> String {
    shown(config, What::program(Program::Wex, 16, 40))
}

fn polled(config: &Config) -> String {
    let scenario = Scenario {
        backend: BackendKind::Model,
        config: config.clone(),
        what: What::Polled { words: 40 },
    };
    format!("{:?}", measure(&scenario).unwrap().polled)
}

fn urgent(config: &Config) -> String {
    shown(config, What::Syncs { urgent: true })
}

/// The threads that a READ takes at its target.
fn read(config: &Config) -> String {
    let mut config = config.clone();
    config.output_packets = 8;
    let mut machine = Emx::new(&config, BackendKind::Model).unwrap();
    let read = Packet {
        tag: TYPE_WRITE as u8,
        ..Packet::to(Kind::of(TYPE_READ), global(0, 0x7000), global(1, 0x7001))
    };
    machine.machine.inject(0, read);
    let _ = machine.machine.run(1, 10_000);
    format!("{:?}", machine.machine.counts(0))
}

/// A word of type 18.
fn types(config: &Config) -> String {
    let code = "
        .align  2
        program TYPES
        li      r4, PORT
        li      r5, 18
        li      r6, 5
        call    word_send
        li      r5, 18
        call    word_recv
        done
";
    match with_code(config, BackendKind::Model, code).call("TYPES", &[vec![]]) {
        Err(HostError::Run(error)) => error.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn each_moves_something() {
    let names: Vec<&str> = PARAMS.iter().map(|param| param.name).collect();
    let others: Vec<&str> = OTHERS.iter().map(|other| other.0).collect();
    assert_eq!(names, others);
    let paper = Config::paper();
    for (name, value, shows) in OTHERS {
        let mut config = paper.clone();
        config.set(name, *value).unwrap();
        assert_ne!(shows(&paper), shows(&config), "{name} moves nothing");
    }
}
