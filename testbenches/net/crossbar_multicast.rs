//! `crossbar_multicast`: golden switch under all gap patterns and with tables that change, latency, rate, fairness,
//! outputs that stand still.

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::harness::seed::{Rng, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::net::fabric::Flit;
use tsunagi::net::switch::{GoldenSwitch, Tables};
use verilated::{Input, Port as _};

use crate::switch::{self, Peers, seen_flits, set_flits, with_sources};

rules!(
    /// An output sends only what the tables give it. The twins of the crossbar show the other rules of switches.
    Nothing
    /// The words of each copy leave unchanged and in order.
    Word
    /// Each copy leaves.
    Left
    /// Packets without an output are counted.
    Unroutable
    /// Multicasts that are too long are drained and counted.
    Refused
    /// Each input has its share of an output.
    Unfair
    /// Each word on offer is taken in the end.
    Hang
    /// An output waits for no sink but its own.
    Apart
    /// `busy_o` is low when nothing is inside, and not before.
    Rest
    /// Edges left out at rest change nothing.
    Gating
    /// A packet takes its cycles.
    Latency
    /// A word a cycle, and the rate at saturation.
    Rate
);

/// An entry of a table.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    group: bool,
    index: usize,
    entry: u64,
}

impl Write {
    fn group(index: usize, entry: u64) -> Write {
        let group = true;
        Write { group, index, entry }
    }

    fn any(radix: usize, rng: &mut Rng) -> Write {
        Write {
            group: rng.chance(1, 2),
            index: rng.below(20) as usize,
            entry: rng.below(1 << radix),
        }
    }

    /// Puts the entry into the golden switch's tables, as the header of the RTL says.
    fn into(self, radix: usize, tables: &mut Tables) {
        let Write { group, index, entry } = self;
        if group {
            if let Some(outputs) = tables.groups.get_mut(index) {
                *outputs = (0..radix).filter(|output| entry >> output & 1 == 1).collect();
            }
            return;
        }
        let there = radix.next_power_of_two();
        let output = entry as usize & (there - 1);
        tables.routes[index] = (entry as usize & there != 0 && output < radix).then_some(output);
    }
}

#[derive(Clone, Debug)]
pub struct In {
    pub links: switch::In,
    pub write: Option<Write>,
}

impl In {
    pub fn idle(ports: usize) -> In {
        In {
            links: switch::In::idle(ports),
            write: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Out {
    pub links: switch::Out,
    pub refused: u64,
    /// The tables take a write.
    pub open: bool,
}

pub fn set_table(write: Option<Write>, valid: &impl Input, group: &impl Input, index: &impl Input, entry: &impl Input) {
    let is_valid = write.is_some();
    let write = write.unwrap_or(Write::group(0, 1));
    valid.set_bool(is_valid);
    group.set_bool(write.group);
    index.set(write.index as u64);
    entry.set(write.entry);
}

pub fn crossbar<U: CrossbarMulticastUnit + 'static>() -> Switch {
    fn set(dut: &impl CrossbarMulticastPorts, inputs: &In) {
        set_table(
            inputs.write,
            dut.cfg_valid_i(),
            dut.cfg_group_i(),
            dut.cfg_index_i(),
            dut.cfg_entry_i(),
        );
        set_flits(
            &inputs.links,
            dut.in_valid_i(),
            dut.in_data_i(),
            dut.in_last_i(),
            dut.out_ready_i(),
        );
    }
    fn seen(dut: &impl CrossbarMulticastPorts) -> Out {
        let links = seen_flits(
            dut.in_ready_o(),
            dut.out_valid_o(),
            dut.out_data_o(),
            dut.out_last_o(),
            dut.busy_o(),
            dut.unroutable_o(),
        );
        Out {
            links: with_sources(links, dut.out_source_o()),
            refused: dut.refused_o().get(),
            open: dut.cfg_ready_o().is_set(),
        }
    }
    Switch::new(Dut::of::<U>(set, seen), U::MULTICAST_WORDS)
}

/// A switch under test.
pub struct Switch {
    pub dut: Dut<In, Out>,
    /// Ports a side.
    pub radix: usize,
    /// Words of the longest multicast.
    pub longest: usize,
}

/// What the first word of a packet says.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Unicast,
    Multicast,
    Short,
}

impl Kind {
    fn marks(self) -> u64 {
        match self {
            Kind::Unicast => 0,
            Kind::Multicast => 1 << 10,
            Kind::Short => 1 << 10 | 1 << 12,
        }
    }
}

/// The first word of a packet from this input.
fn head(input: usize, kind: Kind, to: u64) -> u64 {
    (input as u64) << 60 | to << 32 | kind.marks()
}

/// Chance in what a first word does not use.
fn rest(rng: &mut Rng) -> u64 {
    rng.bits() & !(0xF << 60 | 0xFFFF << 32 | 1 << 10 | 1 << 12)
}

impl Switch {
    pub fn new(dut: Dut<In, Out>, longest: usize) -> Switch {
        let radix = dut.width("in_valid_i");
        Switch { dut, radix, longest }
    }

    /// A switch just reset, with its tables filled.
    pub fn fresh<'a>(&self, run: &Run<'a>) -> Bench<'a, In, Out> {
        let mut bench = Bench::new(run, &self.dut);
        let idle = In::idle(self.radix);
        for _ in 0..2 {
            bench.through(&idle, true);
        }
        for _ in 0..100 {
            bench.through(&idle, false);
        }
        bench
    }

    /// Random words of one input: most packets have a way, and some multicasts are too long.
    fn flits(&self, input: usize, packets: u64, rng: &mut Rng) -> Vec<Flit> {
        let mut flits = Vec::new();
        for _ in 0..packets {
            let kind = [Kind::Unicast, Kind::Unicast, Kind::Multicast, Kind::Short][rng.below(4) as usize];
            let to = match (rng.below(20), kind) {
                (0, _) => rng.bits() & 0xFFFF,
                (1..5, _) => rng.below(20),
                (_, Kind::Unicast) => rng.below(self.radix as u64),
                _ => rng.below(4),
            };
            let longest = match kind {
                Kind::Short => Tables::SHORT.min(self.longest) as u64,
                _ => self.longest as u64,
            };
            let words = match (rng.below(8), kind) {
                (0..4, _) => rng.between(1, 4),
                (4, _) => longest,
                (5, Kind::Multicast | Kind::Short) => longest + rng.between(1, 3),
                (_, Kind::Short) => rng.between(1, 5),
                _ => rng.between(1, longest + 10),
            };
            // Later words look like first ones.
            let mark = |n| [Kind::Short, Kind::Unicast, Kind::Multicast][n as usize % 3];
            flits.extend((0..words).map(|n| Flit {
                word: rest(rng)
                    | if n == 0 {
                        head(input, kind, to)
                    } else {
                        head(input, mark(n), n)
                    },
                last: n == words - 1,
            }));
        }
        flits
    }
}

/// Random packets in lock step with the golden switch, up to a cycle or to the end.
fn exercise(
    bench: &mut Bench<In, Out>,
    switch: &Switch,
    run: &Run,
    plan: &Plan,
    stop: Option<u64>,
) -> Result<(), Fault> {
    let radix = switch.radix;
    let rng = |name: &str| run.rng(&format!("{stop:?} {name}"));
    for _ in 0..2 {
        bench.through(&In::idle(radix), true);
    }
    let golden = GoldenSwitch::multicast(radix, Tables::new(radix, switch.longest));
    let mut peers = Peers::new(golden, (radix, 64), plan.gaps, &rng);
    let mut chance = rng("tables");
    let (mut sends, mut still, mut write) = (false, 0, None);
    for cycle in 0.. {
        if stop == Some(cycle) {
            break;
        }
        // Writes alone, then packets as well.
        if cycle == 150 {
            sends = true;
            for (port, source) in peers.sources.iter_mut().enumerate() {
                let flits = switch.flits(port, plan.packets, &mut rng(&format!("packets {port}")));
                flits.into_iter().for_each(|flit| source.push(flit));
            }
        }
        if write.is_none() && chance.chance(1, if sends { 40 } else { 2 }) {
            write = Some(Write::any(radix, &mut chance));
        }
        let before = (peers.left(), peers.arrived);
        let links = peers.inputs();
        let seen = bench.through(&In { links, write }, false);
        peers.step(&seen.links).map_err(|fault| fault.at(cycle))?;
        if seen.open
            && let Some(write) = write.take()
        {
            write.into(radix, peers.golden.tables());
        }
        let moves = !sends || before != (peers.left(), peers.arrived);
        still = if moves { 0 } else { still + 1 };
        if still > 200 {
            let left = peers.left();
            Rule::Hang.holds(left == 0, || format!("cycle {cycle}: {left} words are not taken"))?;
            peers.finish(seen.links.unroutable).map_err(|fault| fault.at(cycle))?;
            let refused = peers.golden.refused(seen.refused);
            Rule::Refused.holds(refused.is_ok(), || format!("{refused:?}"))?;
            return Rule::Rest.holds(!seen.links.busy, || format!("cycle {cycle}: still busy"));
        }
    }
    Ok(())
}

/// A run of random packets.
#[derive(Clone, Debug)]
pub struct Plan {
    pub gaps: Gaps,
    /// Of each input.
    pub packets: u64,
}

/// Random packets under all gap patterns. A reset in their midst loses them and what was written to the tables.
pub fn contracts(switch: &Switch, packets: u64, starts: &[Start], cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let plan = Plan { gaps, packets };
        cases.from_each(starts, format!("{} gaps {gaps:?}", switch.dut.name), |run| {
            let mut bench = Bench::new(run, &switch.dut);
            exercise(&mut bench, switch, run, &plan, Some(300))?;
            exercise(&mut bench, switch, run, &plan, None)
        });
    }
}

/// A word that left: cycle, output, word.
type Left = (u64, usize, u64);

/// Words without a gap from each input that has a next one, to sinks that take all or nothing.
pub fn drive(
    bench: &mut Bench<In, Out>,
    cycles: u64,
    ready: &[bool],
    next: impl FnMut(usize) -> Option<Flit>,
) -> Vec<Left> {
    drive_when(bench, cycles, ready.len(), |_, output| ready[output], next)
}

/// The same to sinks that take a word in these cycles at these outputs.
fn drive_when(
    bench: &mut Bench<In, Out>,
    cycles: u64,
    radix: usize,
    ready: impl Fn(u64, usize) -> bool,
    mut next: impl FnMut(usize) -> Option<Flit>,
) -> Vec<Left> {
    let (mut inputs, mut left) = (In::idle(radix), Vec::new());
    for cycle in 0..cycles {
        for (output, is_ready) in inputs.links.ready.iter_mut().enumerate() {
            *is_ready = ready(cycle, output);
        }
        for (input, held) in inputs.links.flits.iter_mut().enumerate() {
            *held = held.or_else(|| next(input));
        }
        let seen = bench.through(&inputs, false);
        for (output, flit) in seen.links.flits.iter().enumerate() {
            left.extend(
                flit.filter(|_| ready(cycle, output))
                    .map(|flit| (cycle, output, flit.word)),
            );
        }
        for (held, _) in inputs
            .links
            .flits
            .iter_mut()
            .zip(seen.links.ready)
            .filter(|(_, ready)| *ready)
        {
            *held = None;
        }
    }
    left
}

/// The words of a packet, endlessly: its first has this way, and `to` gives the destination of each packet.
fn packets(kind: Kind, words: u64, mut to: impl FnMut(usize) -> Option<u64>) -> impl FnMut(usize) -> Option<Flit> {
    let mut sent = [0; 16];
    move |input| {
        let n = sent[input] % words;
        let word = match n {
            0 => head(input, kind, to(input)?),
            n => (input as u64) << 60 | n,
        };
        sent[input] += 1;
        Some(Flit {
            word,
            last: n == words - 1,
        })
    }
}

/// Writes an entry into the tables of a switch at rest.
fn write(bench: &mut Bench<In, Out>, radix: usize, write: Write) {
    let write = Some(write);
    bench.through(
        &In {
            write,
            ..In::idle(radix)
        },
        false,
    );
}

/// A packet of ten words for one output, then multicasts for all, from input 1 into an empty switch. Their words leave
/// in the cycles that the header says, `delay` cycles later.
pub fn latency(switch: &Switch, delay: u64, cases: &mut Cases) {
    let radix = switch.radix;
    let kinds = [
        (Kind::Unicast, 10),
        (Kind::Multicast, 7),
        (Kind::Short, 1),
        (Kind::Short, 3),
        (Kind::Short, 4),
    ];
    for (kind, words) in kinds {
        cases.case(
            Start::Zero,
            format!("{} latency {kind:?} {words}", switch.dut.name),
            |run| {
                let mut once = Some(0);
                let to = |input| if input == 1 { once.take() } else { None };
                let mut left = drive(
                    &mut switch.fresh(run),
                    300,
                    &vec![true; radix],
                    packets(kind, words, to),
                );
                left.sort_by_key(|(cycle, output, _)| ((output + radix - 1) % radix, *cycle));
                let seen: Vec<_> = left.iter().map(|(cycle, output, _)| (*cycle, *output)).collect();
                let copy = |first, output| (first..first + words).map(move |cycle| (cycle, output));
                let (first, whole) = (9 + delay, 8 + delay + words);
                let all = (0..radix as u64).map(|n| (n, (1 + n as usize) % radix));
                let due: Vec<_> = match kind {
                    Kind::Unicast => copy(first, 0).collect(),
                    Kind::Multicast => all
                        .flat_map(|(n, output)| copy(whole + n * (words + 5), output))
                        .collect(),
                    Kind::Short => all.flat_map(|(_, output)| copy(whole, output)).collect(),
                };
                Rule::Latency.holds(seen == due, || format!("(cycle, output) {seen:?}, not {due:?}"))
            },
        );
    }
}

/// A multicast for all from each input in turn, into an empty switch: no packet follows that could take its place.
fn lone(switch: &Switch, cases: &mut Cases) {
    let radix = switch.radix;
    for (from, kind) in (0..radix).flat_map(|from| [(from, Kind::Multicast), (from, Kind::Short)]) {
        cases.case(
            Start::Random1,
            format!("{} lone {kind:?} of {from}", switch.dut.name),
            |run| {
                let mut once = Some(0);
                let to = |input| if input == from { once.take() } else { None };
                let left = drive(&mut switch.fresh(run), 300, &vec![true; radix], packets(kind, 3, to));
                let copies = (0..radix).all(|output| left.iter().filter(|left| left.1 == output).count() == 3);
                Rule::Left.holds(copies, || format!("(cycle, output, word) {left:x?}"))
            },
        );
    }
}

/// Words a cycle and port when all inputs have packets of `words` words for outputs drawn uniformly.
fn saturated(switch: &Switch, run: &Run, cycles: u64, words: u64) -> f64 {
    let mut rng = Seed(1).stream("saturation");
    let to = |_| Some(rng.below(switch.radix as u64));
    let left = drive(
        &mut switch.fresh(run),
        cycles,
        &vec![true; switch.radix],
        packets(Kind::Unicast, words, to),
    );
    left.len() as f64 / (cycles * switch.radix as u64) as f64
}

/// A permutation that changes with each word passes at full rate, uniform packets and multicasts to all at the stated
/// rates.
pub fn rate(switch: &Switch, saturation: f64, cases: &mut Cases) {
    let (name, radix) = (switch.dut.name, switch.radix as u64);
    let ready = vec![true; switch.radix];
    cases.case(Start::Zero, format!("{name} permutation"), |run| {
        let mut sent = vec![0; switch.radix];
        let to = |input: usize| {
            sent[input] += 1;
            Some((input as u64 + sent[input]) % radix)
        };
        let left = drive(&mut switch.fresh(run), 1100, &ready, packets(Kind::Unicast, 1, to));
        let words = left.iter().filter(|(cycle, ..)| *cycle >= 100).count() as u64;
        Rule::Rate.holds(words == 1000 * radix, || format!("{words} words in 1000 cycles"))
    });
    cases.case(Start::Zero, format!("{name} saturation"), |run| {
        let rate = saturated(switch, run, 20_000, 1);
        println!("{name}: {rate:.3} words a cycle and port");
        Rule::Rate.holds(rate >= saturation, || format!("{rate:.4} words a cycle and port"))
    });
    // A buffer for less than two multicasts costs a little.
    let long = switch.longest as u64;
    let serial = 0.95 * long as f64 / (long + 5) as f64;
    for (kind, words, due) in [(Kind::Multicast, long, serial), (Kind::Short, 4, 0.95)] {
        cases.case(Start::Zero, format!("{name} all to all, {kind:?}"), |run| {
            let left = drive(
                &mut switch.fresh(run),
                20_000,
                &ready,
                packets(kind, words, |_| Some(0)),
            );
            let rate = left.len() as f64 / (20_000 * radix) as f64;
            println!("{name}: {rate:.3} words a cycle and port, all to all, {kind:?}");
            Rule::Rate.holds(rate > due, || format!("{rate:.3} words a cycle and port, not {due:.3}"))
        });
    }
}

/// All inputs send single words to output 0, input 1 by a multicast to outputs 0 and 1.
fn fair(switch: &Switch, cases: &mut Cases) {
    for kind in [Kind::Multicast, Kind::Short] {
        cases.case(Start::Zero, format!("{} fair {kind:?}", switch.dut.name), |run| {
            const CYCLES: u64 = 8000;
            let (mut bench, radix) = (switch.fresh(run), switch.radix);
            write(&mut bench, radix, Write::group(2, 0b11));
            let mut alone = packets(Kind::Unicast, 1, |_| Some(0));
            let mut both = packets(kind, 1, |_| Some(2));
            let next = |input| if input == 1 { both(input) } else { alone(input) };
            let left = drive(&mut bench, CYCLES, &vec![true; radix], next);
            let mut shares = vec![0; radix];
            for (.., word) in left.iter().filter(|(_, output, _)| *output == 0) {
                shares[(word >> 60) as usize] += 1;
            }
            // A copy to output 1 comes before each to output 0, and costs its pause and a turn.
            let due = |input| CYCLES / if input == 1 { radix as u64 + 11 } else { radix as u64 } - 20;
            let fair = (0..radix).all(|input| shares[input] >= due(input));
            Rule::Unfair.holds(fair, || format!("{shares:?} words of each input in {CYCLES} cycles"))
        });
    }
}

/// Output 2 stands still, in the midst of multicasts from inputs 1 and 3. Neither keeps another output.
fn apart(switch: &Switch, cases: &mut Cases) {
    for (kind, words) in [(Kind::Multicast, 5), (Kind::Short, 4)] {
        cases.case(Start::Zero, format!("{} apart {kind:?}", switch.dut.name), |run| {
            let (mut bench, radix) = (switch.fresh(run), switch.radix);
            write(&mut bench, radix, Write::group(3, 0b0110));
            let mut ready = vec![true; radix];
            ready[2] = false;
            let mut copies = packets(kind, words, |_| Some(3));
            let mut alone = packets(Kind::Unicast, 1, |_| Some(1));
            let next = |input| match input {
                0 => alone(input),
                1 | 3 => copies(input),
                _ => None,
            };
            let left = drive(&mut bench, 600, &ready, next);
            let words = left
                .iter()
                .filter(|(cycle, output, _)| *cycle >= 500 && *output == 1)
                .count();
            Rule::Apart.holds(words == 100, || {
                format!("{words} words in 100 cycles beside an output that stands still")
            })
        });
    }
}

/// Short multicasts from two inputs to outputs 1 and 2, whose sink is slow, so its queue is about to be full. Their
/// copies leave whole.
fn slow(switch: &Switch, cases: &mut Cases) {
    const WORDS: u64 = 4;
    for period in 2..8 {
        cases.case(Start::Zero, format!("{} slow {period}", switch.dut.name), |run| {
            let (mut bench, radix) = (switch.fresh(run), switch.radix);
            write(&mut bench, radix, Write::group(3, 0b0110));
            let mut copies = packets(Kind::Short, WORDS, |_| Some(3));
            let next = |input| if input < 2 { copies(input) } else { None };
            let ready = |cycle, output| output != 2 || cycle % period == 0;
            let left = drive_when(&mut bench, 3000, radix, ready, next);
            for output in [1, 2] {
                let words: Vec<u64> = left.iter().filter(|left| left.1 == output).map(|left| left.2).collect();
                let is_whole = |packet: &[u64]| {
                    let due = |n: usize| packet[0] >> 60 << 60 | n as u64;
                    (1..packet.len()).all(|n| packet[n] == due(n)) && packet[0] & 0xFF == 0
                };
                let whole = words.chunks(WORDS as usize).all(is_whole);
                Rule::Word.holds(whole && words.len() > 300, || format!("output {output}: {words:x?}"))?;
            }
            Ok(())
        });
    }
}

/// The counts stay at their highest value.
fn counts(switch: &Switch, cases: &mut Cases) {
    let longest = switch.longest as u64;
    for (kind, words, to) in [
        (Kind::Unicast, 1, 63),
        (Kind::Multicast, longest + 1, 0),
        (Kind::Short, 5, 0),
    ] {
        cases.case(Start::Zero, format!("{} count {kind:?}", switch.dut.name), |run| {
            let (mut bench, radix) = (switch.fresh(run), switch.radix as u64);
            let cycles = 0x1_0000 * words / radix + 200;
            drive(
                &mut bench,
                cycles,
                &vec![true; switch.radix],
                packets(kind, words, |_| Some(to)),
            );
            let seen = bench.seen();
            let due = if to == 0 { (0, 0xFFFF) } else { (0xFFFF, 0) };
            let counts = (seen.links.unroutable, seen.refused);
            Rule::Unroutable.holds(counts == due, || format!("{counts:x?} after 65536 and more"))
        });
    }
}

/// Two switches get the same bursts with long silences, one of them without the edges at rest.
pub fn gating(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} gating", switch.dut.name), |run| {
        let mut pair = Pair::new(run, &switch.dut);
        let idle = In::idle(switch.radix);
        (0..2).for_each(|_| pair.reset(&idle));
        Rule::Rest.holds(pair.is_busy(), || "at rest straight out of reset".into())?;
        let mut rng = run.rng("gating");
        let mut waiting = vec![Vec::new(); switch.radix];
        let mut inputs = idle;
        for cycle in 0..30_000 {
            for (input, waiting) in waiting.iter_mut().enumerate() {
                if waiting.is_empty() && (200..240).contains(&(cycle % 600)) && rng.chance(1, 30) {
                    *waiting = switch.flits(input, 1, &mut rng);
                    waiting.reverse();
                }
                let held = &mut inputs.links.flits[input];
                *held = held.or_else(|| waiting.pop());
            }
            inputs.links.ready.fill_with(|| rng.chance(3, 4));
            inputs.write = rng.chance(1, 100).then(|| Write::any(switch.radix, &mut rng));
            let asks = inputs.write.is_some() || inputs.links.flits.iter().any(Option::is_some);
            let seen = pair.step(&inputs, asks)?;
            for (held, _) in inputs
                .links
                .flits
                .iter_mut()
                .zip(seen.links.ready)
                .filter(|(_, ready)| *ready)
            {
                *held = None;
            }
        }
        let skipped = pair.skipped();
        Rule::Rest.holds(skipped > 3000, || format!("only {skipped} edges skipped"))
    });
}

/// All checks of a twin.
fn checks(switch: &Switch, cases: &mut Cases) {
    contracts(switch, 40, &[Start::Random1], cases);
    lone(switch, cases);
    latency(switch, 0, cases);
    rate(switch, 0.6, cases);
    fair(switch, cases);
    apart(switch, cases);
    slow(switch, cases);
    gating(switch, cases);
}

#[test]
fn switches_keep_the_contract() {
    pass(this_test!(), |cases| {
        contracts(&crossbar::<MulticastN8>(), 100, &Start::RANDOM, cases);
        contracts(&crossbar::<MulticastN4M9>(), 200, &Start::RANDOM, cases);
        contracts(&crossbar::<MulticastN3M4>(), 200, &Start::RANDOM, cases);
    });
}

#[test]
fn lone_multicasts_reach_all() {
    pass(this_test!(), |cases| {
        lone(&crossbar::<MulticastN8>(), cases);
        lone(&crossbar::<MulticastN3M4>(), cases);
    });
}

#[test]
fn packets_take_their_cycles() {
    pass(this_test!(), |cases| {
        latency(&crossbar::<MulticastN8>(), 0, cases);
        latency(&crossbar::<MulticastN4M9>(), 0, cases);
    });
}

#[test]
fn words_flow_without_a_bubble_and_saturation_is_what_queues_allow() {
    pass(this_test!(), |cases| {
        rate(&crossbar::<MulticastN8>(), 0.61, cases);
        rate(&crossbar::<MulticastN4M9>(), 0.64, cases);
    });
}

#[test]
fn the_header_says_what_long_packets_cost() {
    pass(this_test!(), |cases| {
        let switch = crossbar::<MulticastN8>();
        cases.case(Start::Zero, "header", |run| {
            let rates = [1, 4, 16].map(|words| saturated(&switch, run, 50_000, words));
            switch::in_header("crossbar_multicast.sv", "eight ports", rates)
        });
    });
}

#[test]
fn each_input_has_its_share() {
    pass(this_test!(), |cases| {
        fair(&crossbar::<MulticastN8>(), cases);
        fair(&crossbar::<MulticastN4M9>(), cases);
    });
}

#[test]
fn an_output_that_stands_still_keeps_no_other() {
    pass(this_test!(), |cases| {
        apart(&crossbar::<MulticastN8>(), cases);
        apart(&crossbar::<MulticastN4M9>(), cases);
    });
}

#[test]
fn copies_leave_whole_beside_a_slow_sink() {
    pass(this_test!(), |cases| {
        slow(&crossbar::<MulticastN8>(), cases);
        slow(&crossbar::<MulticastN4M9>(), cases);
    });
}

#[test]
fn full_counts_stay() {
    pass(this_test!(), |cases| counts(&crossbar::<MulticastN3M4>(), cases));
}

#[test]
fn gated_and_ungated_agree() {
    pass(this_test!(), |cases| {
        gating(&crossbar::<MulticastN8>(), cases);
        gating(&crossbar::<MulticastN3M4>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A word too many stands where another is expected.
            (Nothing, &[Word], &|cases| {
                checks(&crossbar::<TwinMulticastFill>(), cases)
            }),
            (Nothing, &[Word, Left, Unroutable, Refused], &|cases| {
                checks(&crossbar::<TwinMulticastGroup>(), cases);
            }),
            (Word, &[], &|cases| checks(&crossbar::<TwinMulticastWord>(), cases)),
            // A copy too few is soon done.
            (Left, &[Latency, Rate, Word], &|cases| {
                checks(&crossbar::<TwinMulticastCopy>(), cases);
            }),
            (Nothing, &[Word, Left, Latency, Rate, Rest], &|cases| {
                checks(&crossbar::<TwinMulticastTwice>(), cases);
            }),
            (Word, &[Left], &|cases| checks(&crossbar::<TwinMulticastJoins>(), cases)),
            (Word, &[Left], &|cases| checks(&crossbar::<TwinMulticastStops>(), cases)),
            (Latency, &[Rate], &|cases| {
                checks(&crossbar::<TwinMulticastSerial>(), cases)
            }),
            (Nothing, &[Refused, Left, Word], &|cases| {
                checks(&crossbar::<TwinMulticastShort>(), cases)
            }),
            (Unroutable, &[], &|cases| {
                checks(&crossbar::<TwinMulticastUnroutable>(), cases);
            }),
            (Unroutable, &[], &|cases| {
                counts(&crossbar::<TwinMulticastCount>(), cases)
            }),
            (Refused, &[], &|cases| {
                checks(&crossbar::<TwinMulticastRefused>(), cases)
            }),
            (Unfair, &[], &|cases| checks(&crossbar::<TwinMulticastUnfair>(), cases)),
            // What never leaves never rests, and takes no time.
            (Hang, &[Rest, Latency, Rate, Unfair, Apart], &|cases| {
                checks(&crossbar::<TwinMulticastRoom>(), cases);
            }),
            (Apart, &[Rate], &|cases| {
                checks(&crossbar::<TwinMulticastApart>(), cases)
            }),
            (Rest, &[], &|cases| checks(&crossbar::<TwinMulticastBusy>(), cases)),
            (Gating, &[], &|cases| checks(&crossbar::<TwinMulticastRest>(), cases)),
            (Gating, &[], &|cases| checks(&crossbar::<TwinMulticastHasty>(), cases)),
            // A packet that is taken whole must fit.
            (Latency, &[Hang, Rest], &|cases| {
                checks(&crossbar::<TwinMulticastWhole>(), cases);
            }),
            (Rate, &[Latency, Unfair, Apart], &|cases| {
                checks(&crossbar::<TwinMulticastBubble>(), cases);
            }),
        ],
    );
}
