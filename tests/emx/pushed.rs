//! The whole machine at the ends of its parameters: the library's programs are right there, or say where they stop.

use tsunagi::emx::library::Program;
use tsunagi::emx::params::{Config, PARAMS};
use tsunagi::emx::repro::{End, Scenario, What, measure};
use tsunagi::repro::row::BackendKind;

use crate::backends::both_machines;

/// Where a program ends on so many PEs, or as many as it takes of them. What it wrote was compared. None: steps have
/// message types of their own, and with one type, a later step halted its PE.
fn end(backend: BackendKind, config: &Config, program: Program, most: u32, words: u32) -> Option<End> {
    let count = if program.needs_power_of_two() {
        1 << most.ilog2()
    } else {
        most
    };
    let what = format!("{backend:?}, {program:?} of {words} words on {count} PEs of {config:?}");
    let scenario = Scenario {
        backend,
        config: config.clone(),
        what: What::program(program, count, words),
    };
    let measured = match measure(&scenario) {
        Ok(measured) => measured,
        Err(error) if config.messages == 1 && error.to_string().contains(" halted: ") => return None,
        Err(error) => panic!("{what}: {error}"),
    };
    assert_eq!(measured.wrong, 0, "{what}");
    Some(measured.end)
}

/// Values at the ends of what a parameter may be, as far as they are a machine.
fn ends(of: &Config) -> Vec<(String, Config)> {
    let mut ends = Vec::new();
    for param in PARAMS {
        for value in [param.range.0, param.range.1] {
            let mut config = of.clone();
            config.set(param.name, value).unwrap_or_else(|error| panic!("{error}"));
            config.used = config.used.min(config.pes());
            if config.check().is_ok() {
                ends.push((format!("{} = {value}", param.name), config));
            }
        }
    }
    ends
}

#[test]
fn each_program_is_right_at_both_ends_of_each_parameter() {
    for machine in both_machines() {
        for (what, config) in ends(&machine) {
            for program in Program::ALL {
                let end = end(BackendKind::Model, &config, program, config.used.min(16), 33);
                // 16 packets in memory are few, and so is one type of message; all else has room.
                let stops = match end {
                    Some(End::Result) => true,
                    Some(End::Overflow) => config.spill_bits == 4,
                    _ => config.messages == 1,
                };
                assert!(stops, "{what}: {program:?} ends with {end:?}");
            }
        }
    }
}

#[test]
fn the_smallest_and_the_largest_runs_are_right_on_rtl() {
    let [em4, em_x] = both_machines();
    for (config, row_bits) in [(&em4, 0), (&em_x, 2)] {
        let mut config = config.clone();
        config.row_bits = row_bits;
        config.used = config.pes();
        for program in Program::ALL {
            for (count, words) in [(2, 1), (config.used, 1), (config.used, 100)] {
                assert_eq!(
                    end(BackendKind::Rtl, &config, program, count, words),
                    Some(End::Result),
                    "{program:?}"
                );
            }
        }
    }
}

#[test]
fn all_80_pes_at_once_are_right_on_rtl() {
    for mut config in both_machines() {
        config.used = config.pes();
        for program in [Program::Wex, Program::Pex, Program::Reduction] {
            assert_eq!(
                end(BackendKind::Rtl, &config, program, 80, 25),
                Some(End::Result),
                "{program:?}"
            );
        }
    }
}
