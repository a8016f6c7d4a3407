//! The fault campaign finds broken machines: each twin of the card, in a machine of up to four, within 200 seeds.

use testbenches::planted::Planted;
use testbenches::rtl::*;
use tsunagi::campaign::{Broken, Campaign as _, Case, Clause, On, Ran};
use tsunagi::dimmnet1::Dimmnet1;
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::rtl::of_cards;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::seed::Rng;
use tsunagi::rtl::{Dimmnet1NicUnit, Dimmnet1Switch};

/// The campaign on machines with this card.
fn planted<N: Dimmnet1NicUnit + 'static>() -> Planted {
    Planted { draw, play: play::<N> }
}

fn draw(rng: &mut Rng) -> Case {
    // A larger machine finds no more, and takes longer.
    let is_small = |case: &Case| Config::of(&case.settings).is_ok_and(|config| config.nodes <= 4);
    loop {
        let case = Dimmnet1.draw(rng);
        if is_small(&case) {
            // A processor that polls lets no machine come to rest that hangs. No fault delays an answer by 2 ms.
            let settings = case.settings.with(&[("poll", 0.0), ("wait_bound", 2000.0)]);
            return Case { settings, ..case };
        }
    }
}

fn play<N: Dimmnet1NicUnit + 'static>(case: &Case, on: On) -> Result<Ran, Broken> {
    let config = Config::of(&case.settings).expect("sound settings");
    let machine = of_cards::<N, Dimmnet1Switch>(&config).expect("the RTL is built");
    let machine = if on == On::Ungated { machine.ungated() } else { machine };
    let machine = machine.with_junk(case.chance);
    tsunagi::dimmnet1::campaign::play(case, &config, Box::new(machine))
}

#[test]
fn a_sound_card_passes() {
    planted::<Dimmnet1NicSoak>().passes();
}

/// A clause that no twin breaks first.
#[test]
fn a_twin_moves_otherwise_when_all_units_are_evaluated() {
    planted::<TwinCardSoakRest>().breaks(Clause::Gate);
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
    // Memory that fails, stalls, or refuses.
    words_that_memory_refused_are_sent: TwinCardSoakFails, [Memory, Order, Report];
    an_answer_does_not_wait_for_memory: TwinCardSoakEarly, [Order, Memory, Report, Assertion];
    // Links that stall.
    words_go_when_the_link_does_not_take_them: TwinCardSoakLink, [Assertion, Hang, Loss, Memory, Report];
    words_are_read_without_room: TwinCardSoakRoom, [Assertion];
    // A neighbour's packets.
    stamps_are_not_compared: TwinCardSoakStamp, [Memory, Report, Loss];
    a_packet_that_ends_in_its_header_stays: TwinCardSoakRunt, [Hang, Report, Memory, Afterwards, Loss];
    // Illegal calls.
    refused_packets_are_acknowledged: TwinCardSoakAcks, [Report, Order, Memory];
    refused_numbers_are_used_up: TwinCardSoakNumbers, [Order, Memory, Report, Afterwards];
    // Lengths that are no whole words.
    bytes_behind_the_last_are_written: TwinCardSoakStrobes, [Memory];
    // Words by AOTF.
    words_are_refused: TwinCardSoakWords, [Loss];
    // Accesses of the host.
    a_host_waits_for_ever: TwinCardSoakHang, [Hang];
    // A card that is left out too early.
    a_card_rests_too_early: TwinCardSoakRest, [Gate, Hang, Report, Loss, Order, Afterwards];
}
