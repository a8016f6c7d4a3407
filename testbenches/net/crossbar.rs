//! `crossbar` and `crossbar_buffered`: golden switch under all gap patterns, full outputs, latency and rate.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Start, each_is_caught, pass};
use tsunagi::harness::stream::Gaps;
use verilated::Input as _;

use crate::switch::*;

pub fn crossbar<U: CrossbarUnit + 'static>() -> Switch {
    fn set(dut: &impl CrossbarPorts, inputs: &In) {
        dut.digit_i().set(inputs.digit as u64);
        set_flits(
            inputs,
            dut.in_valid_i(),
            dut.in_data_i(),
            dut.in_last_i(),
            dut.out_ready_i(),
        );
    }
    fn seen(dut: &impl CrossbarPorts) -> Out {
        let out = seen_flits(
            dut.in_ready_o(),
            dut.out_valid_o(),
            dut.out_data_o(),
            dut.out_last_o(),
            dut.busy_o(),
            dut.unroutable_o(),
        );
        with_sources(out, dut.out_source_o())
    }
    Switch::new(Dut::of::<U>(set, seen))
}

pub fn buffered<U: CrossbarBufferedUnit + 'static>() -> Switch {
    fn set(dut: &impl CrossbarBufferedPorts, inputs: &In) {
        dut.digit_i().set(inputs.digit as u64);
        set_flits(
            inputs,
            dut.in_valid_i(),
            dut.in_data_i(),
            dut.in_last_i(),
            dut.out_ready_i(),
        );
    }
    fn seen(dut: &impl CrossbarBufferedPorts) -> Out {
        let out = seen_flits(
            dut.in_ready_o(),
            dut.out_valid_o(),
            dut.out_data_o(),
            dut.out_last_o(),
            dut.busy_o(),
            dut.unroutable_o(),
        );
        with_sources(out, dut.out_source_o())
    }
    Switch::new(Dut::of::<U>(set, seen))
}

/// Random packets under all gap patterns, routed by each of the lowest `digits` digits.
pub fn contracts(switch: &Switch, digits: usize, packets: usize, starts: &[Start], cases: &mut Cases) {
    for (gaps, digit) in Gaps::ALL
        .into_iter()
        .flat_map(|gaps| (0..digits).map(move |digit| (gaps, digit)))
    {
        let plan = plan(switch.radix, gaps, digit, packets);
        let params = format!("{} gaps {gaps:?} digit {digit}", switch.dut.name);
        cases.from_each(starts, params, |run| contract(switch, run, &plan));
    }
}

/// Inputs 0 and 1 have each filled a queue, 13 words, for the output that the other one's packet holds next, and are
/// inside that packet. If they waited for room in all their queues, they would wait for each other.
fn crossed(switch: &Switch, cases: &mut Cases) {
    let packet = |(input, to, words)| Packet { input, to, words };
    let held = [(2, 1, 40), (3, 0, 40)];
    let of_0 = [(0, 1, 1), (0, 1, 13), (0, 0, 30)];
    let of_1 = [(1, 2, 3), (1, 0, 13), (1, 1, 30)];
    let list = held.into_iter().chain(of_0).chain(of_1).map(packet).collect();
    let plan = Plan {
        traffic: Traffic::These(list),
        ..plan(4, Gaps::None, 0, 0)
    };
    let params = format!("{} crossed", switch.dut.name);
    cases.case(Start::Random1, params, |run| contract(switch, run, &plan));
}

/// A packet of one word from each input, into an empty switch: no word follows that could move it.
fn lone(switch: &Switch, cases: &mut Cases) {
    for input in 0..switch.radix {
        let packet = Packet { input, to: 0, words: 1 };
        let plan = Plan {
            traffic: Traffic::These(vec![packet]),
            ..plan(switch.radix, Gaps::None, 0, 0)
        };
        let params = format!("{} lone word of {input}", switch.dut.name);
        cases.case(Start::Random1, params, |run| contract(switch, run, &plan));
    }
}

/// All checks of a twin but those that need their own packets.
fn checks(switch: &Switch, cases: &mut Cases) {
    contracts(switch, 1, 300, &[Start::Random1], cases);
    lone(switch, cases);
    latency(switch, cases);
    rate(switch, 0.65, cases);
    gating(switch, cases);
}

/// At radix 3 a quarter of the packets names no output.
#[test]
fn crossbars_keep_the_contract() {
    pass(this_test!(), |cases| {
        contracts(&crossbar::<CrossbarN2W16>(), 1, 1000, &Start::RANDOM, cases);
        contracts(&crossbar::<CrossbarN3W16D2>(), 2, 500, &Start::RANDOM, cases);
        contracts(&crossbar::<CrossbarN3W64>(), 1, 500, &Start::RANDOM, cases);
        contracts(&crossbar::<CrossbarN4W64>(), 1, 1000, &Start::RANDOM, cases);
        contracts(&crossbar::<CrossbarN8W64>(), 1, 500, &Start::RANDOM, cases);
    });
}

/// As above.
#[test]
fn buffered_crossbars_keep_the_contract() {
    pass(this_test!(), |cases| {
        contracts(&buffered::<BufferedN4W64>(), 1, 1000, &Start::RANDOM, cases);
        contracts(&buffered::<BufferedN3W16D2>(), 2, 500, &Start::RANDOM, cases);
    });
}

#[test]
fn lone_words_leave() {
    pass(this_test!(), |cases| {
        lone(&crossbar::<CrossbarN4W64>(), cases);
        lone(&buffered::<BufferedN4W64>(), cases);
    });
}

#[test]
fn packets_that_hold_outputs_do_not_wait_for_each_other() {
    pass(this_test!(), |cases| {
        crossed(&buffered::<BufferedN4W64>(), cases);
        crossed(&crossbar::<CrossbarN4W64>(), cases);
    });
}

#[test]
fn a_full_count_stays() {
    pass(this_test!(), |cases| {
        counts(&crossbar::<CrossbarN3W16D2>(), cases);
        counts(&buffered::<BufferedN3W16D2>(), cases);
    });
}

#[test]
fn a_word_takes_four_cycles() {
    pass(this_test!(), |cases| {
        latency(&crossbar::<CrossbarN4W64>(), cases);
        latency(&crossbar::<CrossbarN2W16>(), cases);
        latency(&buffered::<BufferedN4W64>(), cases);
    });
}

/// Inputs with one queue each reach 0.683, 0.655 and 0.618 for three, four and eight ports: the first word blocks.
#[test]
fn words_flow_without_a_bubble_and_saturation_is_what_queues_allow() {
    pass(this_test!(), |cases| {
        rate(&crossbar::<CrossbarN3W16D2>(), 0.67, cases);
        rate(&crossbar::<CrossbarN4W64>(), 0.65, cases);
        rate(&crossbar::<CrossbarN8W64>(), 0.61, cases);
        rate(&buffered::<BufferedN4W64>(), 0.95, cases);
    });
}

#[test]
fn headers_say_what_long_packets_cost() {
    pass(this_test!(), |cases| {
        header(&crossbar::<CrossbarN4W64>(), "crossbar.sv", cases);
        header(&buffered::<BufferedN4W64>(), "crossbar_buffered.sv", cases);
    });
}

#[test]
fn gated_and_ungated_agree() {
    pass(this_test!(), |cases| {
        gating(&crossbar::<CrossbarN4W64>(), cases);
        gating(&crossbar::<CrossbarN3W16D2>(), cases);
        gating(&buffered::<BufferedN4W64>(), cases);
    });
}

#[test]
fn full_outputs_hold_and_lose_nothing() {
    pass(this_test!(), |cases| full(&crossbar::<CrossbarN4W64>(), 14..=19, cases));
}

#[test]
fn a_full_output_leaves_others_alone() {
    pass(this_test!(), |cases| {
        full_output(&crossbar::<CrossbarN4W64>(), cases);
        full_output(&buffered::<BufferedN4W64>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A word at the wrong output is one too many, or stands where another is expected.
            (Nothing, &[Word, Latency, Rate], &|cases| {
                checks(&crossbar::<TwinCrossbarRoute>(), cases);
            }),
            (Word, &[], &|cases| checks(&crossbar::<TwinCrossbarWord>(), cases)),
            (Mixed, &[], &|cases| checks(&crossbar::<TwinCrossbarMixed>(), cases)),
            (Unfair, &[], &|cases| checks(&crossbar::<TwinCrossbarUnfair>(), cases)),
            (Left, &[], &|cases| checks(&crossbar::<TwinCrossbarLeft>(), cases)),
            (Unroutable, &[], &|cases| {
                checks(&crossbar::<TwinCrossbarUnroutable>(), cases);
            }),
            // Only a full count is wrong, which takes 65536 packets: no other twin needs them.
            (Unroutable, &[], &|cases| {
                counts(&crossbar::<TwinCrossbarCount>(), cases)
            }),
            // An offer that comes and goes by itself is no rest either.
            (Protocol, &[Gating], &|cases| {
                checks(&crossbar::<TwinCrossbarWithdraws>(), cases);
            }),
            // A switch with words that are stuck is never at rest.
            (Hang, &[Rest], &|cases| checks(&crossbar::<TwinCrossbarJams>(), cases)),
            (Rest, &[], &|cases| checks(&crossbar::<TwinCrossbarBusy>(), cases)),
            (Gating, &[], &|cases| checks(&crossbar::<TwinCrossbarRest>(), cases)),
            // The cycles of 1000 words begin with the first one's, and a late word is taken for rest.
            (Latency, &[Rate, Gating], &|cases| {
                checks(&crossbar::<TwinCrossbarLate>(), cases);
            }),
            (Rate, &[], &|cases| checks(&crossbar::<TwinCrossbarBubble>(), cases)),
            // Packets that hold outputs wait for each other.
            (Hang, &[], &|cases| {
                let switch = buffered::<TwinBufferedDeadlock>();
                checks(&switch, cases);
                crossed(&switch, cases);
            }),
            // A queue that takes more than it has room for gives other words in their place, and the junk of its own
            // instance.
            (Word, &[Nothing, Mixed, Hang, Rest, Gating], &|cases| {
                checks(&buffered::<TwinBufferedFull>(), cases);
            }),
            (Gating, &[], &|cases| checks(&buffered::<TwinBufferedRest>(), cases)),
            (Rest, &[], &|cases| checks(&buffered::<TwinBufferedHasty>(), cases)),
            (Unroutable, &[], &|cases| {
                checks(&buffered::<TwinBufferedUnroutable>(), cases);
            }),
            (Unroutable, &[], &|cases| {
                counts(&buffered::<TwinBufferedCount>(), cases)
            }),
        ],
    );
}
