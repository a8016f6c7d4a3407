//! Registers of a cell without a clock while it is not busy.

use support::this_test;
use testbenches::{Cases, Run, Start, pass};
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::rtl::{Direct as _, Machine};
use tsunagi::rtl::{Ap1000pCell, Ap1000pCellSoftware, Ap1000pRouterPaced};

use super::MEMORY;

type Paced<C> = Machine<C, Ap1000pRouterPaced>;

fn config() -> Config {
    Config {
        columns: 2,
        rows: 1,
        mem_bytes: MEMORY,
        ..Config::paper()
    }
}

/// The values of all registers after each of many writes, with open commands of both owners.
fn registers(mut machine: Paced<Ap1000pCell>, run: &Run) -> Vec<(u32, bool)> {
    let mut rng = run.rng("writes");
    machine.store(0, KIND_PUT, &[1, 2, 3]);
    machine.store(0, KIND_PUT | PAGE_SYSTEM_MASK, &[4, 5, 6, 7, 8]);
    machine.run(50);
    let mut found = Vec::new();
    for round in 0..300 {
        let (offset, value) = match round {
            // The words of the open commands, each by itself.
            0..16 => (PEEK, round),
            16..24 => (MODE, round & 7),
            _ => (4 * rng.below(64) as u32, rng.bits() as u32),
        };
        machine.host(0, offset, Some(value));
        machine.run(rng.below(60));
        found.extend((0..64).map(|register| machine.host(0, 4 * register, None)));
    }
    found
}

fn gated_and_ungated(cases: &mut Cases) {
    cases.case(Start::Random1, "", |run| {
        let machine = || Paced::build(&config()).expect("built");
        let (gated, all) = (registers(machine(), run), registers(machine().ungated(), run));
        let differ = gated.iter().zip(&all).position(|(gated, all)| gated != all);
        let what = differ.map(|at| (at / 64, 4 * (at % 64), gated[at], all[at]));
        assert_eq!(what, None, "write, register, gated, ungated");
        let peeked: Vec<u32> = (0..16).map(|word| gated[64 * word + PEEK as usize / 4].0).collect();
        assert_eq!(peeked[..4], [1 | KIND_PUT << COMMAND_HEAD_KIND_SHIFT, 2, 3, 0]);
        assert_eq!(peeked[10..14], [6, 7, 8, 0]);
        Ok(())
    });
}

#[test]
fn a_write_acts_without_further_clocks() {
    pass(this_test!(), gated_and_ungated);
}

/// From the cycle after its store on, a direct word is inside, so the cell is not stable.
#[test]
fn a_direct_word_is_reported_at_once() {
    let config = Config {
        hardware_refill: false,
        ..config()
    };
    let mut machine = Paced::build(&config).expect("built");
    let is_stable = |machine: &mut Paced<Ap1000pCellSoftware>| machine.read(0, STATUS) & STATUS_STABLE_MASK != 0;
    machine.write(0, MODE, MODE_PAUSE_MASK | MODE_THROUGH_MASK);
    for later in 1..4 {
        machine.run(50);
        assert!(is_stable(&mut machine), "at rest");
        machine.store(0, PAGE_DIRECT_MASK | DIRECT_USER, &[later]);
        machine.run(later.into());
        assert!(!is_stable(&mut machine), "{later} cycles after a direct word");
    }
}
