//! `hxb_exchanger` by itself.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Rule as _, Start, pass};
use tsunagi::harness::stream::Gaps;
use tsunagi::net::hyper::{Grid, Place};

use super::{Plan, Rule, Stream, Switch, contract, exchanger, f0, gating, stream};

const GRID: Grid = Grid { x: 4, y: 4, z: 4 };
const AT: Place = Place { x: 1, y: 2, z: 3 };

/// Grids and nodes for each side that a turn has: the middle, corners, axes of one node, the largest grid.
const PLACES: [(Grid, Place); 6] = [
    (GRID, AT),
    (Grid { x: 2, y: 2, z: 2 }, Place { x: 0, y: 0, z: 0 }),
    (Grid { x: 2, y: 2, z: 2 }, Place { x: 1, y: 1, z: 1 }),
    (Grid { x: 8, y: 17, z: 8 }, Place { x: 7, y: 16, z: 0 }),
    (Grid { x: 4, y: 1, z: 1 }, Place { x: 2, y: 0, z: 0 }),
    (Grid { x: 1, y: 3, z: 2 }, Place { x: 0, y: 2, z: 1 }),
];

fn plan(n: usize, gaps: Gaps) -> Plan {
    let (grid, at) = PLACES[n];
    Plan {
        grid,
        at,
        gaps,
        worms: 60,
        longest: 14,
        stop: None,
    }
}

/// A data word of a port to another, by the port's number; 0 is the PU.
fn way(from: usize, to: usize) -> Stream {
    let mut place = AT;
    for axis in from.max(1)..=3 {
        match axis {
            1 if to == 1 => place.x += 1,
            2 if to == 2 => place.y -= 1,
            3 if to == 3 => place.z -= 1,
            _ => {}
        }
    }
    Stream {
        port: from,
        f0: f0(place, 0, 0),
        length: 9,
    }
}

fn ack(stream: Stream) -> Stream {
    let f0 = stream.f0 | 1 << tsunagi::net::hyper::route::CHANNEL;
    Stream { f0, ..stream }
}

/// Each first word takes 4 cycles, or 5 from a port with a deep buffer.
fn latency(switch: &Switch, cases: &mut Cases) {
    for from in 0..4 {
        for to in [0].into_iter().chain(from + 1..4) {
            for channel in 0..2 {
                let params = format!("{} latency {from} {to} {channel}", switch.dut.name);
                cases.case(Start::Zero, params, |run| {
                    let one = way(from, to);
                    let one = if channel == 1 { ack(one) } else { one };
                    let streamed = stream(&mut switch.placed(run, GRID, AT), switch, 12, &[one], &[]);
                    let want = if switch.rooms[from][channel] > 16 { 5 } else { 4 };
                    Rule::Latency.same("cycles", Some(want), streamed.first[to][channel])
                });
            }
        }
    }
}

/// All links at once, with worms of any length; two channels of one link; a channel beside one that is stuck.
fn rate(switch: &Switch, cases: &mut Cases) {
    for length in [1, 2, 9] {
        cases.case(Start::Zero, format!("{} rate {length}", switch.dut.name), |run| {
            let ways = [(0, 1), (1, 2), (2, 3), (3, 0)].map(|(from, to)| Stream {
                length,
                ..way(from, to)
            });
            let streamed = stream(&mut switch.placed(run, GRID, AT), switch, 400, &ways, &[]);
            for to in 1..4 {
                let words = streamed.words[to][0];
                Rule::Rate.holds(words >= 395, || format!("{words} words to {to} in 400 cycles"))?;
            }
            Ok(())
        });
    }
    cases.case(Start::Zero, format!("{} channels", switch.dut.name), |run| {
        let both = [way(1, 3), ack(way(2, 3))];
        let streamed = stream(&mut switch.placed(run, GRID, AT), switch, 400, &both, &[]);
        let words = streamed.words[3];
        Rule::Rate.holds(words.iter().all(|&words| words >= 195), || {
            format!("{words:?} words in 400 cycles")
        })
    });
    cases.case(Start::Zero, format!("{} stuck", switch.dut.name), |run| {
        // The stuck channel has half the link until 16 words wait beyond and 16 in the input.
        let (data, stuck) = (way(1, 3), ack(way(1, 2)));
        let streamed = stream(
            &mut switch.placed(run, GRID, AT),
            switch,
            400,
            &[data, stuck],
            &[(2, 1)],
        );
        let words = streamed.words[3][0];
        Rule::Rate.holds(words >= 355, || format!("{words} words beside a stuck channel"))
    });
}

/// Three inputs want one output.
fn fair(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} fair", switch.dut.name), |run| {
        let all = [way(0, 3), way(1, 3), way(2, 3)];
        let streamed = stream(&mut switch.placed(run, GRID, AT), switch, 900, &all, &[]);
        let few = streamed.sent.iter().find(|&&words| words < 250);
        Rule::Unfair.holds(few.is_none(), || format!("{:?} words in 900 cycles", streamed.sent))
    });
}

/// The count of drained worms saturates.
pub fn counts(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} counts", switch.dut.name), |run| {
        let mut placed = switch.placed(run, GRID, AT);
        let lost = |port: usize| Stream {
            port,
            f0: f0(Place { x: 0, ..AT }, 0, 0),
            length: 1,
        };
        stream(&mut placed, switch, 0x5600, &[1, 2, 3].map(lost), &[]);
        let count = placed.seen().drained;
        Rule::Drained.holds(count == 0xffff, || format!("{count} after more than 65536"))
    });
}

/// All checks of a twin but those that need their own worms.
pub fn checks(switch: &Switch, cases: &mut Cases) {
    for (n, gaps) in Gaps::ALL.into_iter().enumerate() {
        contract(switch, plan(n, gaps), cases);
    }
    latency(switch, cases);
    rate(switch, cases);
    fair(switch, cases);
    gating(switch, GRID, AT, cases);
}

#[test]
fn an_exchanger_keeps_the_contract() {
    pass(this_test!(), |cases| {
        for gaps in Gaps::ALL {
            (0..PLACES.len()).for_each(|n| contract(&exchanger::<HxbExchangerSmall>(), plan(n, gaps), cases));
            // Buffers of 496 words fill up where nothing leaves for long.
            let long = Plan {
                worms: 100,
                longest: 60,
                ..plan(0, gaps)
            };
            contract(&exchanger::<HxbExchanger>(), long, cases);
        }
    });
}

#[test]
fn a_word_takes_its_cycles_and_links_are_full() {
    pass(this_test!(), |cases| {
        for switch in [exchanger::<HxbExchanger>(), exchanger::<HxbExchangerSmall>()] {
            latency(&switch, cases);
            rate(&switch, cases);
            fair(&switch, cases);
        }
    });
}

#[test]
fn a_full_count_stays() {
    pass(this_test!(), |cases| counts(&exchanger::<HxbExchangerSmall>(), cases));
}

#[test]
fn gated_and_ungated_agree() {
    pass(this_test!(), |cases| {
        gating(&exchanger::<HxbExchanger>(), GRID, AT, cases);
        gating(&exchanger::<HxbExchangerSmall>(), GRID, AT, cases);
    });
}
