//! The fault campaign finds broken machines: each twin of the cell, in a machine of up to six, within 200 seeds.

use testbenches::planted::Planted;
use testbenches::rtl::*;
use tsunagi::ap1000p::Ap1000p;
use tsunagi::ap1000p::params::Config;
use tsunagi::ap1000p::rtl::{RouterSet, of_cells};
use tsunagi::campaign::{Broken, Campaign as _, Case, Clause, On, Ran};
use tsunagi::harness::params::Table as _;
use tsunagi::harness::seed::Rng;
use tsunagi::rtl::{Ap1000pCellUnit, Ap1000pRouter, Ap1000pRouterPaced};

/// The campaign on machines with this cell.
fn planted<C: Ap1000pCellUnit + 'static>() -> Planted {
    Planted { draw, play: play::<C> }
}

fn draw(rng: &mut Rng) -> Case {
    // A larger machine finds no more, and takes longer.
    let is_small = |case: &Case| Config::of(&case.settings).is_ok_and(|config| config.cells() <= 6);
    let mut case = Ap1000p.draw(rng);
    while !is_small(&case) {
        case = Ap1000p.draw(rng);
    }
    Case {
        settings: case.settings.with(&[("hardware_refill", 1.0)]),
        ..case
    }
}

fn play<C: Ap1000pCellUnit + 'static>(case: &Case, on: On) -> Result<Ran, Broken> {
    fn on_routers<C: Ap1000pCellUnit + 'static, R: RouterSet + 'static>(
        case: &Case,
        config: Config,
        on: On,
    ) -> Result<Ran, Broken> {
        let machine = of_cells::<C, R>(&config).expect("the RTL is built");
        let machine = if on == On::Ungated { machine.ungated() } else { machine };
        let machine = machine.with_junk(case.chance);
        tsunagi::ap1000p::campaign::play(case, config, Box::new(machine))
    }
    let config = Config::of(&case.settings).expect("sound settings");
    if config.link_cycles() == 1 {
        on_routers::<C, Ap1000pRouter>(case, config, on)
    } else {
        on_routers::<C, Ap1000pRouterPaced>(case, config, on)
    }
}

#[test]
fn a_sound_cell_passes() {
    planted::<Ap1000pCellSoak>().passes();
}

/// A test for each twin: its name, its type, and the clauses that it may break.
macro_rules! twins {
    ($($test:ident: $twin:ident, [$($clause:ident),+];)+) => {
        mod twins {
            use super::*;

            $(#[test]
            fn $test() {
                planted::<$twin>().is_found(&[$(Clause::$clause),+]);
            })+
        }
    };
}

twins! {
    // Memory that fails, or stalls.
    a_message_that_failed_counts_its_flag: TwinCellSoakCounts, [Memory, Report, Loss];
    a_spilled_word_is_taken_too_early: TwinCellSoakTake, [Assertion, Memory, Loss, Hang, Report];
    a_refused_command_is_not_offered_again: TwinCellSoakRefuses, [Assertion, Hang, Memory, Loss];
    // Remote stores.
    both_halves_of_a_store_are_one: TwinCellSoakRemote, [Order, Memory];
    // Links that stall; a neighbour's packets.
    words_go_without_credits: TwinCellSoakRoom, [Assertion];
    stray_replies_are_not_reported: TwinCellSoakStray, [Report];
    messages_too_long_are_not_counted: TwinCellSoakLong, [Report];
    // Pages that come late; interrupts that are served late; small spill regions.
    a_retry_gives_up: TwinCellSoakLoss, [Loss];
    one_cause_forgets_another: TwinCellSoakOnce, [Report, Hang];
    words_pass_spilled_words: TwinCellSoakOrder, [Order, Memory, Loss, Report, Hang];
    // Users that store anything, and several contexts.
    contexts_share_translations: TwinCellSoakContext, [Memory, Loss];
    refused_commands_are_sent: TwinCellSoakKeeps, [Report, Memory];
    atomics_are_other_operations: TwinCellSoakFop, [Order];
    // Units that are left out too early.
    queues_rest_too_early: TwinCellSoakRest, [Gate, Hang, Afterwards, Loss];
}
