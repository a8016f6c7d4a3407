//! The fault campaign finds broken machines: each twin of the NIC, in a machine of up to sixteen, within 200 seeds.

use testbenches::planted::Planted;
use testbenches::rtl::*;
use tsunagi::campaign::Clause::{Afterwards, Assertion, Gate, Hang, Loss, Memory, Order, Report};
use tsunagi::campaign::{Broken, Campaign as _, Case, On, Ran};
use tsunagi::cenju3::Cenju3;
use tsunagi::cenju3::params::Config;
use tsunagi::cenju3::rtl::of_nics;
use tsunagi::harness::params::Table as _;
use tsunagi::harness::seed::Rng;
use tsunagi::rtl::Cenju3NicUnit;

/// The campaign on machines with this NIC.
fn planted<N: Cenju3NicUnit + 'static>() -> Planted {
    Planted { draw, play: play::<N> }
}

fn draw(rng: &mut Rng) -> Case {
    let case = Cenju3.draw(rng);
    Case {
        settings: case.settings.with(&[("bus_bytes", 4.0)]),
        ..case
    }
}

fn play<N: Cenju3NicUnit + 'static>(case: &Case, on: On) -> Result<Ran, Broken> {
    let config = Config::of(&case.settings).expect("sound settings");
    let machine = of_nics::<N>(&config).expect("the RTL is built");
    let machine = if on == On::Ungated { machine.ungated() } else { machine };
    let machine = machine.with_junk(case.chance);
    tsunagi::cenju3::campaign::play(case, config, Box::new(machine))
}

#[test]
fn a_sound_nic_passes() {
    planted::<Cenju3NicSoak>().passes();
}

/// A failing memory: what it refused is published, not counted, or sent on.
#[test]
fn twins_are_found_by_memory_that_fails() {
    planted::<TwinSoakPublish>().is_found(&[Memory, Report]);
    planted::<TwinSoakDrops>().is_found(&[Report]);
    planted::<TwinSoakOn>().is_found(&[Assertion, Report, Memory, Loss, Hang]);
}

/// A slow memory: its words and responses are not waited for.
#[test]
fn twins_are_found_by_memory_that_waits() {
    planted::<TwinSoakBody>().is_found(&[Memory, Order, Hang]);
    planted::<TwinSoakOrder>().is_found(&[Order, Memory, Report, Hang]);
    planted::<TwinSoakRefuses>().is_found(&[Hang, Memory, Order]);
}

#[test]
fn twins_are_found_by_links_that_stall() {
    // The switch behind the link also says that its sender broke the rule.
    planted::<TwinSoakLink>().is_found(&[Hang, Loss, Memory, Report, Order, Assertion]);
}

#[test]
fn twins_are_found_by_resets_and_by_malformed_packets() {
    planted::<TwinSoakReset>().is_found(&[Memory, Order, Report, Hang, Afterwards]);
    planted::<TwinSoakOverlong>().is_found(&[Memory, Report]);
}

#[test]
fn twins_are_found_by_programs_that_store_anything() {
    planted::<TwinSoakAligned>().is_found(&[Report]);
    planted::<TwinSoakHole>().is_found(&[Report]);
}

/// Software that comes late: rings are full.
#[test]
fn twins_are_found_by_software_that_sleeps() {
    planted::<TwinSoakFull>().is_found(&[Memory, Order, Loss, Hang]);
    planted::<TwinSoakThrown>().is_found(&[Loss, Report, Hang]);
}

/// Software that has the Receiver halt.
#[test]
fn twins_are_found_by_software_that_halts() {
    planted::<TwinSoakStuck>().is_found(&[Hang]);
    planted::<TwinSoakHalt>().is_found(&[Order, Afterwards]);
}

/// Clauses that no twin breaks first.
#[test]
fn twins_lose_packets_and_break_the_traffic_afterwards() {
    planted::<TwinSoakLost>().breaks(Loss);
    planted::<TwinSoakHalt>().breaks(Afterwards);
}

/// A unit that is left out too early.
#[test]
fn twins_are_found_by_a_machine_that_leaves_out_nothing() {
    // The switch behind the link sees that a flit is withdrawn.
    planted::<TwinSoakRest>().is_found(&[Gate, Hang, Afterwards, Assertion]);
}
