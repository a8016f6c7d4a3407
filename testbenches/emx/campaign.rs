//! The fault campaign finds broken machines: each twin of the PE, in a machine of five, within 200 seeds.

use testbenches::planted::Planted;
use testbenches::rtl::*;
use tsunagi::campaign::{Broken, Campaign as _, Case, Clause, On, Ran};
use tsunagi::emx::Emx;
use tsunagi::emx::params::{Config, EM_X};
use tsunagi::emx::rtl::built;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::seed::Rng;
use tsunagi::rtl::EmxPeUnit;

/// The campaign on machines with this PE.
fn planted<P: EmxPeUnit + 'static>() -> Planted {
    Planted { draw, play: play::<P> }
}

fn draw(rng: &mut Rng) -> Case {
    loop {
        let case = Emx.draw(rng);
        if Config::of(&case.settings).is_ok_and(|config| config.row_bits == 0) {
            let settings = case.settings.with(&EM_X);
            return Case { settings, ..case };
        }
    }
}

fn play<P: EmxPeUnit + 'static>(case: &Case, on: On) -> Result<Ran, Broken> {
    let config = Config::of(&case.settings).expect("sound settings");
    let machine = built::<P>(&config, Some(case.chance), on == On::Rtl).expect("the PE is of this configuration");
    tsunagi::emx::campaign::play(case, &config, machine)
}

#[test]
fn a_sound_pe_passes() {
    planted::<EmXPeSoak>().passes();
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
    // Links that stall.
    packets_go_without_room: TwinPeSoakRoom, [Assertion, Loss, Hang, Memory, Order];
    // Neighbours' packets.
    urgent_ones_of_no_form_are_taken: TwinPeSoakForged, [Report, Memory, Hang, Assertion];
    // A host that reads between the two words of a packet that comes back from memory.
    a_spilled_packet_mixes: TwinPeSoakSpill, [Memory, Report, Hang, Loss, Order, Assertion];
    // Illegal packets.
    addresses_outside_memory_are_not_told: TwinPeSoakRange, [Report];
    receivers_that_are_not_there_are_not_told: TwinPeSoakNowhere, [Report];
    second_operands_start_threads: TwinPeSoakOverrun, [Report, Memory, Hang, Afterwards];
    // Matching, and reads that pass by.
    operands_stay: TwinPeSoakPresent, [Report, Memory, Hang, Assertion, Afterwards];
    answers_are_dropped: TwinPeSoakReply, [Memory, Loss, Assertion, Hang];
    // A reset at any moment.
    packets_outlast_a_reset: TwinPeSoakReset, [Assertion, Hang, Report];
    // A PE that is left out too early.
    a_pe_rests_too_early: TwinPeSoakRest, [Gate, Hang, Memory, Loss, Order, Report, Assertion, Afterwards];
}
