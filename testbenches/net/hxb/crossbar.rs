//! `hxb_crossbar` by itself.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Rule as _, Start, pass};
use tsunagi::harness::stream::Gaps;
use tsunagi::net::hyper::{Axis, Grid, Place};

use super::{Kind, Plan, Rule, Stream, Switch, contract, crossbar, f0, gating, stream};

/// A grid with the crossbar's line.
fn grid(switch: &Switch) -> Grid {
    let line = switch.ports as u32;
    match axis(switch) {
        Axis::X => Grid { x: line, y: 2, z: 2 },
        Axis::Y => Grid { x: 2, y: line, z: 2 },
        Axis::Z => Grid { x: 2, y: 2, z: line },
    }
}

fn axis(switch: &Switch) -> Axis {
    match switch.kind {
        Kind::Crossbar { axis, .. } => axis,
        Kind::Exchanger => unreachable!("no crossbar"),
    }
}

fn plan(switch: &Switch, gaps: Gaps) -> Plan {
    Plan {
        grid: grid(switch),
        at: Place::default(),
        gaps,
        worms: 80,
        longest: 14,
        stop: None,
    }
}

const LENGTH: u64 = 9;

/// A data worm of a port to a position of the line.
fn way(switch: &Switch, port: usize, to: u32) -> Stream {
    let to = Place { x: 1, y: 1, z: 1 }.moved(axis(switch), to);
    Stream {
        port,
        f0: f0(to, 0, 0),
        length: LENGTH,
    }
}

fn broadcast(switch: &Switch, port: usize) -> Stream {
    let f0 = f0(Place::default(), 1 << axis(switch) as u32, 0);
    Stream {
        port,
        f0,
        length: LENGTH,
    }
}

fn ack(stream: Stream) -> Stream {
    let f0 = stream.f0 | 1 << tsunagi::net::hyper::route::CHANNEL;
    Stream { f0, ..stream }
}

/// Each first word takes 4 cycles, a broadcast's too.
fn latency(switch: &Switch, cases: &mut Cases) {
    let last = switch.ports - 1;
    for stream_of in [way(switch, 0, 1), ack(way(switch, last, 0)), broadcast(switch, last)] {
        cases.case(
            Start::Zero,
            format!("{} latency {:x}", switch.dut.name, stream_of.f0),
            |run| {
                let mut placed = switch.placed(run, grid(switch), Place::default());
                let streamed = stream(&mut placed, switch, 12, &[stream_of], &[]);
                let firsts = streamed.first.iter().flatten().flatten();
                let late = firsts.clone().find(|&&first| first != 4);
                Rule::Latency.holds(late.is_none() && firsts.count() > 0, || {
                    format!("{:?} instead of 4", streamed.first)
                })
            },
        );
    }
}

/// A rotation of all positions, and a broadcast alone; acknowledges beside a broadcast.
fn rate(switch: &Switch, cases: &mut Cases) {
    let ports = switch.ports;
    let all = |run: &testbenches::Run, streams: &[Stream]| {
        let mut placed = switch.placed(run, grid(switch), Place::default());
        stream(&mut placed, switch, 400, streams, &[]).words
    };
    cases.case(Start::Zero, format!("{} rate", switch.dut.name), |run| {
        let ways: Vec<_> = (0..ports)
            .map(|port| way(switch, port, ((port + 1) % ports) as u32))
            .collect();
        let words = all(run, &ways);
        Rule::Rate.holds(words.iter().all(|words| words[0] >= 396), || {
            format!("{words:?} words in 400 cycles")
        })
    });
    cases.case(Start::Zero, format!("{} broadcast rate", switch.dut.name), |run| {
        let one = Stream {
            length: switch_longest(switch),
            ..broadcast(switch, 1)
        };
        let words = all(run, &[one]);
        // With 16 credits the next one waits for nearly all of them to come back.
        let least = if switch.credits[0][0] > 16 { 396 } else { 200 };
        Rule::Rate.holds(words.iter().all(|words| words[0] >= least), || {
            format!("{words:?} words in 400 cycles")
        })
    });
    cases.case(Start::Zero, format!("{} both channels", switch.dut.name), |run| {
        let words = all(run, &[broadcast(switch, 0), ack(way(switch, 1, 0))]);
        let least = if switch.credits[0][0] > 16 { 190 } else { 120 };
        Rule::Rate.holds(words[0].iter().all(|&words| words >= least), || {
            format!("{words:?} words in 400 cycles")
        })
    });
}

fn switch_longest(switch: &Switch) -> u64 {
    match switch.kind {
        Kind::Crossbar { longest, .. } => longest as u64,
        Kind::Exchanger => unreachable!("no crossbar"),
    }
}

/// Two inputs broadcast without end, and a third has worms for one output.
fn fair(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} fair", switch.dut.name), |run| {
        let all = [broadcast(switch, 0), broadcast(switch, 1), way(switch, 2, 0)];
        let mut placed = switch.placed(run, grid(switch), Place::default());
        let streamed = stream(&mut placed, switch, 900, &all, &[]);
        let few = streamed.sent.iter().find(|&&words| words < 150);
        Rule::Unfair.holds(few.is_none(), || format!("{:?} words in 900 cycles", streamed.sent))
    });
}

/// Both counters stop at 65,535.
pub fn counts(switch: &Switch, cases: &mut Cases) {
    let ports = switch.ports as u32;
    cases.case(Start::Zero, format!("{} drained", switch.dut.name), |run| {
        let lost = |port| Stream {
            length: 1,
            ..way(switch, port as usize, ports)
        };
        let mut placed = switch.placed(run, grid(switch), Place::default());
        let streams: Vec<_> = (0..ports).map(lost).collect();
        stream(&mut placed, switch, 0x1_0200 / u64::from(ports), &streams, &[]);
        let count = placed.seen().drained;
        Rule::Drained.holds(count == 0xffff, || format!("{count} after more than 65536"))
    });
    cases.case(Start::Zero, format!("{} cut", switch.dut.name), |run| {
        let long = Stream {
            length: switch_longest(switch) + 1,
            ..broadcast(switch, 0)
        };
        let mut placed = switch.placed(run, grid(switch), Place::default());
        stream(&mut placed, switch, 0x1_0200 * 3 * long.length, &[long], &[]);
        let count = placed.seen().cut;
        Rule::Cut.holds(count == 0xffff, || format!("{count} after more than 65536"))
    });
}

pub fn checks(switch: &Switch, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        contract(switch, plan(switch, gaps), cases);
    }
    latency(switch, cases);
    rate(switch, cases);
    fair(switch, cases);
}

#[test]
fn a_crossbar_keeps_the_contract() {
    pass(this_test!(), |cases| {
        for gaps in Gaps::ALL {
            for switch in [crossbar::<HxbCrossbarX2Small>(), crossbar::<HxbCrossbarZ3Small>()] {
                contract(&switch, plan(&switch, gaps), cases);
            }
            let four = crossbar::<HxbCrossbarY4>();
            let long = Plan {
                longest: 300,
                ..plan(&four, gaps)
            };
            contract(&four, long, cases);
        }
    });
}

#[test]
fn a_word_takes_four_cycles_and_links_are_full() {
    pass(this_test!(), |cases| {
        for switch in [crossbar::<HxbCrossbarY4>(), crossbar::<HxbCrossbarZ3Small>()] {
            latency(&switch, cases);
            rate(&switch, cases);
            fair(&switch, cases);
        }
    });
}

#[test]
fn counters_saturate() {
    pass(this_test!(), |cases| counts(&crossbar::<HxbCrossbarZ3Small>(), cases));
}

#[test]
fn gated_and_ungated_agree() {
    pass(this_test!(), |cases| {
        for switch in [crossbar::<HxbCrossbarX2Small>(), crossbar::<HxbCrossbarZ3Small>()] {
            gating(&switch, grid(&switch), Place::default(), cases);
        }
    });
}
