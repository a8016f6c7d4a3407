//! The crossbars: contract under all gap patterns, reset, full outputs, latency and rate.

use std::fs;
use std::path::Path;

use tsunagi::harness::seed::{Case, Recorder, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;
use tsunagi::net::fabric::SwitchUnit;

use crate::bench::{
    BufferedN3W16D2, BufferedN4W64, Check, CrossbarN2W16, CrossbarN3W16D2, CrossbarN3W64, CrossbarN4W64, CrossbarN8W64,
    Fault, Packet, Plan, Switch, Traffic, exercise, fresh, gating,
};

/// Packets that may pass a waiting one. The arbiter lets N - 1 pass; the words on their way from a grant to the output port,
/// three, and what waits in the output when its sink pauses, 16, were chosen before.
pub fn bound(radix: usize, gaps: Gaps) -> u64 {
    radix as u64 - 1 + 3 + if gaps.at_sink() { 16 } else { 0 }
}

/// Random traffic under one gap pattern, in lock step with the golden switch: into the middle of it, reset, and again.
pub fn contract<U: Switch>(case: &Case, plan: &Plan, idle: u8, probe: &Probe) -> Result<(), Fault> {
    let mut unit = U::named(&case.context());
    let mut recorder = Recorder::new(probe, &[unit.unit()]);
    unit.set_idle(idle);
    unit.reset();
    let stopped = Plan {
        stop: Some(50),
        ..plan.clone()
    };
    exercise(
        &mut unit,
        &stopped,
        |name| case.rng(&format!("first {name}")),
        &mut recorder,
    )?;
    unit.reset();
    exercise(&mut unit, plan, |name| case.rng(name), &mut recorder)
}

pub fn plan(radix: usize, gaps: Gaps, digit: usize, packets: usize) -> Plan {
    Plan {
        gaps,
        digit,
        traffic: Traffic::Random { packets, longest: 30 },
        bound: bound(radix, gaps),
        stop: None,
    }
}

fn contracts<U: Switch>(test: &'static str, digits: usize, packets: usize) {
    for (gaps, digit) in Gaps::ALL
        .into_iter()
        .flat_map(|gaps| (0..digits).map(move |digit| (gaps, digit)))
    {
        for start in 0..2 {
            let case = Case::new(
                "net",
                test,
                format!("W {} gaps {gaps:?} digit {digit} start {start}", U::WIDTH),
            );
            case.run(|probe| contract::<U>(&case, &plan(U::RADIX, gaps, digit, packets), 0, probe));
        }
    }
}

#[test]
fn radix_2_keeps_the_contract() {
    contracts::<CrossbarN2W16>("crossbar::radix_2_keeps_the_contract", 1, 1000);
}

/// A quarter of the packets names no output.
#[test]
fn radix_3_keeps_the_contract() {
    contracts::<CrossbarN3W16D2>("crossbar::radix_3_keeps_the_contract", 2, 500);
    contracts::<CrossbarN3W64>("crossbar::radix_3_keeps_the_contract", 1, 500);
}

#[test]
fn radix_4_keeps_the_contract() {
    contracts::<CrossbarN4W64>("crossbar::radix_4_keeps_the_contract", 1, 1000);
}

#[test]
fn radix_8_keeps_the_contract() {
    contracts::<CrossbarN8W64>("crossbar::radix_8_keeps_the_contract", 1, 500);
}

#[test]
fn buffered_radix_4_keeps_the_contract() {
    contracts::<BufferedN4W64>("crossbar::buffered_radix_4_keeps_the_contract", 1, 1000);
}

/// A quarter of the packets names no output.
#[test]
fn buffered_radix_3_keeps_the_contract() {
    contracts::<BufferedN3W16D2>("crossbar::buffered_radix_3_keeps_the_contract", 2, 500);
}

/// Inputs 0 and 1 have each filled a queue, 13 words, for the output that the other one's packet holds next, and are inside that packet:
/// to wait for room in all queues of an input would be to wait for each other.
pub fn crossed<U: Switch>(case: &Case, probe: &Probe) -> Result<(), Fault> {
    let packet = |(input, to, words)| Packet { input, to, words };
    let held = [(2, 1, 40), (3, 0, 40)];
    let of_0 = [(0, 1, 1), (0, 1, 13), (0, 0, 30)];
    let of_1 = [(1, 2, 3), (1, 0, 13), (1, 1, 30)];
    let list = held.into_iter().chain(of_0).chain(of_1).map(packet).collect();
    let plan = Plan {
        traffic: Traffic::These(list),
        ..plan(4, Gaps::None, 0, 0)
    };
    contract::<U>(case, &plan, 0, probe)
}

#[test]
fn packets_that_hold_outputs_do_not_wait_for_each_other() {
    let test = "crossbar::packets_that_hold_outputs_do_not_wait_for_each_other";
    let case = Case::new("net", test, "");
    case.run(|probe| crossed::<BufferedN4W64>(&case, probe));
    case.run(|probe| crossed::<CrossbarN4W64>(&case, probe));
}

/// Words out of each output, and the first cycle in which it showed one.
type Streamed = (Vec<u64>, Vec<Option<u64>>);

/// One-word packets to `to` on each input (none where it is `None`) for some cycles.
pub fn stream<U: Switch>(unit: &mut U, cycles: u64, to: impl FnMut(usize) -> Option<u64>) -> Streamed {
    stream_packets(unit, cycles, 1, to)
}

/// The same with packets of so many words.
fn stream_packets<U: Switch>(
    unit: &mut U,
    cycles: u64,
    length: u64,
    mut to: impl FnMut(usize) -> Option<u64>,
) -> Streamed {
    let all = (1 << U::RADIX) - 1;
    // The word that is offered, and how many of its packet follow it.
    let mut held: Vec<Option<(u64, u64)>> = vec![None; U::RADIX];
    let (mut words, mut first) = (vec![0; U::RADIX], vec![None; U::RADIX]);
    for cycle in 0..cycles {
        let (mut valid, mut last) = (0, 0);
        for (input, held) in held.iter_mut().enumerate() {
            *held = held.or_else(|| Some((to(input)?, length - 1)));
            valid |= u32::from(held.is_some()) << input;
            last |= u32::from(held.is_some_and(|(_, left)| left == 0)) << input;
        }
        let ready = unit.in_ready();
        for o in 0..U::RADIX {
            if unit.out_valid() >> o & 1 == 1 {
                words[o] += 1;
                first[o].get_or_insert(cycle);
            }
        }
        let offered: Vec<u64> = held.iter().map(|held| held.unwrap_or_default().0).collect();
        unit.edge(&offered, valid, last, all);
        for (input, held) in held.iter_mut().enumerate() {
            let next = held.and_then(|(word, left)| Some((word, left.checked_sub(1)?)));
            *held = if ready >> input & 1 == 1 { next } else { *held };
        }
    }
    (words, first)
}

/// The first word appears four cycles after it was offered.
pub fn latency<U: Switch>() -> Result<(), Fault> {
    let mut once = Some(0);
    let (words, first) = stream(
        &mut fresh::<U>(0),
        20,
        |input| if input == 1 { once.take() } else { None },
    );
    Check::Latency.holds((words[0], first[0]) == (1, Some(4)), || {
        format!("{words:?} words, first at {first:?}")
    })
}

/// A thousand words in a thousand cycles and the latency, whatever the pattern; and so many a cycle and port when all inputs have
/// one-word packets for outputs drawn uniformly. Gives this last figure.
pub fn rate<U: Switch>(saturation: f64) -> Result<f64, Fault> {
    let radix = U::RADIX as u64;
    let full = |what: &str, (words, _): Streamed, busy: &[u64]| {
        Check::Rate.holds(words == busy, || format!("{what}: {words:?} words in 1000 cycles"))
    };
    let mut alone = vec![0; U::RADIX];
    alone[0] = 1000;
    let all = vec![1000; U::RADIX];
    let one = stream(&mut fresh::<U>(0), 1004, |input| (input == 1).then_some(0));
    full("one input to one output", one, &alone)?;
    let two = stream(&mut fresh::<U>(0), 1004, |input| (input < 2).then_some(0));
    full("two inputs to one output", two, &alone)?;
    let permuted = stream(&mut fresh::<U>(0), 1004, |input| Some((input as u64 + 1) % radix));
    full("a permutation", permuted, &all)?;
    let mut turn = vec![0; U::RADIX];
    let rotating = stream(&mut fresh::<U>(0), 1004, |input| {
        turn[input] += 1;
        Some((input as u64 + turn[input]) % radix)
    });
    full("a permutation that changes with each word", rotating, &all)?;
    let mut rng = Seed(1).stream("saturation");
    let (words, _) = stream(&mut fresh::<U>(0), 20_000, |_| Some(rng.below(radix)));
    let rate = words.iter().sum::<u64>() as f64 / (20_000 * radix) as f64;
    Check::Rate.holds(rate >= saturation, || {
        format!("{rate:.4} words a cycle and port at saturation")
    })?;
    Ok(rate)
}

/// The count of packets that name no output stays at its highest value.
pub fn counts<U: Switch>() -> Result<(), Fault> {
    let mut unit = fresh::<U>(0);
    let radix = U::RADIX as u64;
    stream(&mut unit, 0x1_0000 / radix + 100, |_| Some(radix));
    let count = unit.unroutable();
    Check::Unroutable.holds(count == 0xffff, || format!("{count} after 65536 and more"))
}

#[test]
fn a_full_count_stays() {
    counts::<CrossbarN3W16D2>().unwrap();
    counts::<BufferedN3W16D2>().unwrap();
}

#[test]
fn a_word_takes_four_cycles() {
    latency::<CrossbarN4W64>().unwrap();
    latency::<CrossbarN2W16>().unwrap();
    latency::<BufferedN4W64>().unwrap();
}

#[test]
fn words_flow_without_a_bubble_and_saturation_is_what_queues_allow() {
    let told = |name: &str, rate: Result<f64, Fault>| println!("{name}: {:.3} words a cycle and port", rate.unwrap());
    // Inputs with one queue each reach 0.683, 0.655 and 0.618 for three, four and eight ports: the first word blocks.
    told("crossbar 3x3", rate::<CrossbarN3W16D2>(0.67));
    told("crossbar 4x4", rate::<CrossbarN4W64>(0.65));
    told("crossbar 8x8", rate::<CrossbarN8W64>(0.61));
    told("buffered crossbar 4x4", rate::<BufferedN4W64>(0.95));
}

/// What the header of a switch says of its rate at saturation, with uniform packets of 1, 4 and 16 words, is what it does.
#[test]
fn headers_say_what_long_packets_cost() {
    let of = |rate: fn(u64) -> f64| [1, 4, 16].map(rate);
    let plain = rates("crossbar.sv", "four ports", of(saturated::<CrossbarN4W64>));
    let buffered = rates("crossbar_buffered.sv", "four ports", of(saturated::<BufferedN4W64>));
    assert_eq!([plain, buffered].concat(), "");
}

/// Words a cycle and port when all inputs have packets of so many words for outputs drawn uniformly.
fn saturated<U: Switch>(length: u64) -> f64 {
    let (mut unit, mut rng) = (fresh::<U>(0), Seed(1).stream("saturation"));
    let radix = U::RADIX as u64;
    let (words, _) = stream_packets(&mut unit, 50_000, length, |_| Some(rng.below(radix)));
    words.iter().sum::<u64>() as f64 / (50_000 * radix) as f64
}

/// What the header of a file of `rtl/net` should say of these rates, and does not.
pub fn rates(file: &str, ports: &str, rates: [f64; 3]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rtl/net").join(file);
    let text = fs::read_to_string(path).expect("it is there");
    let header: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//")).collect();
    let header = header.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let [one, four, sixteen] = rates;
    let said = format!("{ports} {one:.2}, {four:.2} and {sixteen:.2}");
    println!("{file}: {said}");
    if header.contains(&said) {
        return String::new();
    }
    format!("{file}: its header should say `{said}`; ")
}

#[test]
fn gated_and_ungated_agree() {
    gating::<CrossbarN4W64>(Seed::get().stream("gating 4")).unwrap();
    gating::<CrossbarN3W16D2>(Seed::get().stream("gating 3")).unwrap();
    gating::<BufferedN4W64>(Seed::get().stream("gating buffered")).unwrap();
}

/// Outputs that nobody empties fill up and stop the inputs; what was taken is all there afterwards.
#[test]
fn full_outputs_hold_and_lose_nothing() {
    let mut unit = fresh::<CrossbarN4W64>(0);
    let mut taken = 0;
    for _ in 0..100 {
        taken += u64::from(unit.in_ready().count_ones());
        unit.edge(&[0, 1, 2, 3], 0xF, 0xF, 0);
    }
    assert_eq!(unit.in_ready(), 0);
    assert!((4 * 14..=4 * 19).contains(&taken), "{taken} words inside");
    let (words, _) = stream(&mut unit, 100, |_| None);
    assert_eq!(words, [taken / 4; 4]);
}

/// A full output stops its own packets only.
#[test]
fn a_full_output_leaves_others_alone() {
    full_output::<CrossbarN4W64>();
    full_output::<BufferedN4W64>();
}

fn full_output<U: Switch>() {
    let mut unit = fresh::<U>(0);
    for _ in 0..100 {
        unit.edge(&[3, 0, 0, 0], 0b0001, 0xF, 0b0111);
    }
    let mut words = 0;
    for _ in 0..104 {
        words += unit.out_valid() >> 2 & 1;
        unit.edge(&[3, 2, 0, 0], 0b0011, 0xF, 0b0111);
    }
    assert_eq!(words, 100);
}
