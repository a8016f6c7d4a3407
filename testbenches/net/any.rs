//! Any packets, under any gaps: a switch, a network or the golden switch that fails does so with a short list of them.

use std::collections::VecDeque;

use proptest::prelude::*;
use support::property::holds;
use support::{Test, this_test};
use testbenches::rtl::*;
use testbenches::{Fault, Rule as _, Run, Start};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;
use tsunagi::net::fabric::Flit;
use tsunagi::net::switch::GoldenSwitch;

use crate::cenju3_switch;
use crate::crossbar::crossbar;
use crate::omega::{Network, carries, radix_3, radix_4};
use crate::switch::{Packet, Plan, Rule, Switch, Traffic, contract, fault, plan};

const REGRESSIONS: &str = "net/regressions/any.txt";

/// Packets from any of these inputs, with any of these ways in their first words.
fn packets(inputs: usize, ways: u64) -> impl Strategy<Value = Vec<Packet>> {
    let packet = (0..inputs, 0..ways, 1..10u64).prop_map(|(input, to, words)| Packet { input, to, words });
    prop::collection::vec(packet, 0..60)
}

fn gaps() -> impl Strategy<Value = Gaps> {
    prop::sample::select(&Gaps::ALL[..])
}

/// One switch, routing by any of its digits, against the golden switch, with a reset in mid-flight.
fn through_a_switch(test: Test, switch: &Switch, digits: usize, plan: impl Fn(Gaps, usize, u8) -> Plan) {
    let ways = switch.radix.next_power_of_two() as u64;
    let strategy = (gaps(), 0..digits, 0..8u8, packets(switch.radix, ways));
    holds(
        test,
        REGRESSIONS,
        60,
        strategy,
        |case, (gaps, digit, idle, list), probe| {
            let traffic = Traffic::These(list.clone());
            let plan = Plan {
                traffic,
                ..plan(*gaps, *digit, *idle)
            };
            contract(switch, &Run::of(case, Start::Random1, probe), &plan)
        },
    );
}

#[test]
fn cross_a_crossbar() {
    let switch = crossbar::<CrossbarN4W64>();
    through_a_switch(this_test!(), &switch, 1, |gaps, digit, _| plan(4, gaps, digit, 0));
}

#[test]
fn cross_a_crossbar_with_digits_that_name_nothing() {
    let switch = crossbar::<CrossbarN3W16D2>();
    through_a_switch(this_test!(), &switch, 2, |gaps, digit, _| plan(3, gaps, digit, 0));
}

#[test]
fn cross_a_switch_of_cenju_3() {
    let switch = cenju3_switch::switch::<Cenju3SwitchRandom>();
    through_a_switch(this_test!(), &switch, 4, cenju3_switch::plan);
}

/// The network as one top and composed, against the golden network, some with a reset in mid-flight.
fn through_a_network(test: Test, network: &Network) {
    let shape = network.shape;
    let ways = 1 << (shape.stages() * shape.digit_bits());
    let reset = proptest::option::of(1..100u64);
    let strategy = (gaps(), reset, packets(shape.ports(), ways));
    holds(test, REGRESSIONS, 30, strategy, |case, (gaps, reset, list), probe| {
        let run = Run::of(case, Start::Random1, probe);
        carries(network, &run, *gaps, &Traffic::These(list.clone()), *reset)
    });
}

#[test]
fn cross_an_omega_network() {
    through_a_network(this_test!(), &radix_4());
}

#[test]
fn cross_an_omega_network_with_digits_that_name_nothing() {
    through_a_network(this_test!(), &radix_3::<OmegaR3S2W16>());
}

/// A word that a switch committed.
#[derive(Clone, Copy, Debug)]
enum Event {
    Took { input: usize, flit: Flit },
    Sent { output: usize, source: usize, flit: Flit },
}

const RADIX: usize = 3;
const WIDTH: usize = 64;

/// Words that a switch may commit that sends this list, its ports in random order; the number of packets that name no
/// output.
fn committed(list: &[Packet], rng: &mut Rng) -> (Vec<Event>, u64) {
    let traffic = Traffic::These(list.to_vec());
    let mut offered: Vec<VecDeque<Flit>> = (0..RADIX)
        .map(|input| traffic.flits(input, WIDTH, (0, 2), rng).into())
        .collect();
    // By input: the output of the packet being taken, `None` between packets; the words inside, with their outputs.
    let mut taking = [None; RADIX];
    let mut inside: [VecDeque<(usize, Flit)>; RADIX] = Default::default();
    let mut owners = [None; RADIX];
    let (mut events, mut unroutable) = (Vec::new(), 0);
    loop {
        let takes = (0..RADIX)
            .filter(|&i| !offered[i].is_empty() && inside[i].len() < 4)
            .map(|i| (i, None));
        let sends = (0..RADIX).filter_map(|i| {
            let &(output, _) = inside[i].front()?;
            (owners[output].is_none() || owners[output] == Some(i)).then_some((i, Some(output)))
        });
        let may: Vec<_> = takes.chain(sends).collect();
        if may.is_empty() {
            return (events, unroutable);
        }
        match may[rng.below(may.len() as u64) as usize] {
            (input, None) => {
                let flit = offered[input].pop_front().expect("it is offered");
                let to = *taking[input].get_or_insert(flit.word as usize % 4);
                if to < RADIX {
                    inside[input].push_back((to, flit));
                } else {
                    unroutable += u64::from(flit.last);
                }
                taking[input] = taking[input].filter(|_| !flit.last);
                events.push(Event::Took { input, flit });
            }
            (source, Some(output)) => {
                let (_, flit) = inside[source].pop_front().expect("it is inside");
                owners[output] = (!flit.last).then_some(source);
                events.push(Event::Sent { output, source, flit });
            }
        }
    }
}

fn judged(events: &[Event], unroutable: u64, packets: usize) -> Result<(), Fault> {
    let mut golden = GoldenSwitch::new(RADIX, 0, packets as u64);
    for &event in events {
        match event {
            Event::Took { input, flit } => golden.took(input, flit.word, flit.last),
            Event::Sent { output, source, flit } => {
                golden.sent(output, source, flit.word, flit.last).map_err(fault)?;
            }
        }
    }
    golden.finish(unroutable).map_err(fault)
}

/// The golden switch takes all that a switch may do, and refuses it with one word changed, misled, lost or doubled.
#[test]
fn are_judged_by_the_golden_switch() {
    let strategy = (packets(RADIX, 4), any::<prop::sample::Index>(), 0..6usize, 0..WIDTH);
    let test = this_test!();
    holds(test, REGRESSIONS, 256, strategy, |case, (list, at, wrong, bit), _| {
        let (mut events, unroutable) = committed(list, &mut case.rng("order"));
        judged(&events, unroutable, list.len())?;
        let is_sent = |at: &usize| matches!(events[*at], Event::Sent { .. });
        let sent: Vec<usize> = (0..events.len()).filter(is_sent).collect();
        if sent.is_empty() {
            let refused = judged(&events, unroutable + 1, list.len()).is_err();
            return Rule::Unroutable.holds(refused, || "the golden switch takes a packet too many".into());
        }
        let at = *at.get(&sent);
        let Event::Sent { output, source, flit } = &mut events[at] else {
            unreachable!("chosen among those")
        };
        match wrong {
            0 => flit.word ^= 1 << bit,
            1 => flit.last = !flit.last,
            2 => *output = (*output + 1) % RADIX,
            3 => *source = (*source + 1) % RADIX,
            4 => drop(events.remove(at)),
            _ => events.insert(at, events[at]),
        }
        let refused = judged(&events, unroutable, list.len()).is_err();
        Rule::Word.holds(refused, || format!("event {at} was spoilt in way {wrong}, and taken"))
    });
}
