//! Switches of any kind in lock step with the golden switch.

use std::fs;
use std::ops::RangeInclusive;

use support::root;
use testbenches::gate::Pair;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, rules};
use tsunagi::harness::seed::{Rng, Seed};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::net::fabric::Flit;
use tsunagi::net::switch::{GoldenSwitch, SwitchError};
use verilated::{Input, Port};

rules!(
    /// An output sends only words for it that an input took.
    Nothing
    /// The words of an input leave unchanged and in order.
    Word
    /// A packet leaves whole, without words of another.
    Mixed
    /// A waiting packet is passed over by a bounded number of others.
    Unfair
    /// Each word that is taken leaves, and none is taken without room.
    Left
    /// Packets that name no output are counted.
    Unroutable
    /// An offer holds until it is taken.
    Protocol
    /// Each word on offer is taken in the end.
    Hang
    /// `busy_o` is low when nothing is inside, and not before.
    Rest
    /// Edges left out at rest change nothing.
    Gating
    /// The first word takes its cycles.
    Latency
    /// A word a cycle.
    Rate
);

/// The fault that the golden switch found.
pub fn fault(error: SwitchError) -> Fault {
    let rule = match error {
        SwitchError::Nothing { .. } => Rule::Nothing,
        SwitchError::Word { .. } => Rule::Word,
        SwitchError::Mixed { .. } => Rule::Mixed,
        SwitchError::Unfair { .. } => Rule::Unfair,
        SwitchError::Left { .. } => Rule::Left,
        SwitchError::Unroutable { .. } | SwitchError::Refused { .. } => Rule::Unroutable,
    };
    rule.broken(error.to_string())
}

/// The inputs of a switch or network in a cycle.
#[derive(Clone, Debug, Default)]
pub struct In {
    /// By input port: the word on offer.
    pub flits: Vec<Option<Flit>>,
    /// By output port.
    pub ready: Vec<bool>,
    /// The digit of a first word that a switch routes by, 0 the lowest.
    pub digit: usize,
    /// Idle cycles after each packet on an output link of a switch of Cenju-3.
    pub idle: u8,
}

impl In {
    /// Nothing on offer, and nothing taken.
    pub fn idle(ports: usize) -> In {
        In {
            flits: vec![None; ports],
            ready: vec![false; ports],
            ..In::default()
        }
    }
}

/// The outputs of a switch or network in a cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Out {
    /// By input port.
    pub ready: Vec<bool>,
    /// By output port: the word on offer.
    pub flits: Vec<Option<Flit>>,
    /// By output port: the input that the word is from, where the unit has such outputs.
    pub sources: Vec<Option<usize>>,
    pub busy: bool,
    pub unroutable: u64,
}

/// Drives the streams. Each port of the unit has its part for each port of the switch.
pub fn set_flits(inputs: &In, valid: &impl Input, data: &impl Input, last: &impl Input, ready: &impl Input) {
    let width = data.width() / valid.width();
    for (port, (flit, is_ready)) in inputs.flits.iter().zip(&inputs.ready).enumerate() {
        let Flit { word, last: ends } = flit.unwrap_or_default();
        valid.set_bits(port, 1, flit.is_some().into());
        data.set_bits(port * width, width, word);
        last.set_bits(port, 1, ends.into());
        ready.set_bits(port, 1, (*is_ready).into());
    }
}

/// The outputs, without sources.
pub fn seen_flits(
    ready: &impl Port,
    valid: &impl Port,
    data: &impl Port,
    last: &impl Port,
    busy: &impl Port,
    unroutable: &impl Port,
) -> Out {
    let ports = valid.width();
    let width = data.width() / ports;
    let flit = |port| {
        valid.bit(port).then(|| Flit {
            word: data.get_bits(port * width, width),
            last: last.bit(port),
        })
    };
    Out {
        ready: (0..ports).map(|port| ready.bit(port)).collect(),
        flits: (0..ports).map(flit).collect(),
        sources: vec![None; ports],
        busy: busy.is_set(),
        unroutable: unroutable.get(),
    }
}

/// Adds the sources of the words on offer.
pub fn with_sources(out: Out, sources: &impl Port) -> Out {
    let width = sources.width() / out.flits.len();
    let source = |(port, flit): (usize, &Option<Flit>)| flit.map(|_| sources.get_bits(port * width, width) as usize);
    Out {
        sources: out.flits.iter().enumerate().map(source).collect(),
        ..out
    }
}

/// A switch under test.
pub struct Switch {
    pub dut: Dut<In, Out>,
    /// Ports a side.
    pub radix: usize,
    /// Bits of a word.
    pub width: usize,
}

impl Switch {
    pub fn new(dut: Dut<In, Out>) -> Switch {
        let radix = dut.width("in_valid_i");
        let width = dut.width("in_data_i") / radix;
        Switch { dut, radix, width }
    }

    /// A switch just reset, that routes by the lowest digit.
    pub fn fresh<'a>(&self, run: &Run<'a>) -> Bench<'a, In, Out> {
        let mut bench = Bench::new(run, &self.dut);
        for _ in 0..2 {
            bench.through(&In::idle(self.radix), true);
        }
        bench
    }
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub input: usize,
    /// The way in its first word.
    pub to: u64,
    pub words: u64,
}

/// The packets of a run.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// This number of packets for each input, to anywhere: a third of them of one word, others up to the longest.
    Random { packets: usize, longest: u64 },
    /// These, those of each input in this order.
    These(Vec<Packet>),
}

impl Traffic {
    /// The flits of one input. The way is `bits` bits of a first word, from bit `shift` on.
    pub fn flits(&self, input: usize, width: usize, (shift, bits): (usize, usize), rng: &mut Rng) -> Vec<Flit> {
        let mut flits = Vec::new();
        let mut packet = |to: Option<u64>, words: u64, rng: &mut Rng| {
            let first = flits.len();
            flits.extend((0..words).rev().map(|left| Flit {
                word: word(input, width, rng),
                last: left == 0,
            }));
            if let Some(to) = to {
                let way = ((1 << bits) - 1) << shift;
                flits[first].word = flits[first].word & !way | to << shift;
            }
        };
        match self {
            Traffic::Random { packets, longest } => {
                for _ in 0..*packets {
                    let words = if rng.chance(1, 3) { 1 } else { rng.between(1, *longest) };
                    packet(None, words, rng);
                }
            }
            Traffic::These(list) => {
                for p in list.iter().filter(|p| p.input == input) {
                    packet(Some(p.to), p.words, rng);
                }
            }
        }
        flits
    }
}

/// A word's upper four bits are the input it comes from, so words of different inputs differ.
fn word(input: usize, width: usize, rng: &mut Rng) -> u64 {
    rng.bits() >> (64 - width) & !(0xF << (width - 4)) | (input as u64) << (width - 4)
}

/// The sources and sinks around a switch or network, and its golden switch.
pub struct Peers {
    pub golden: GoldenSwitch,
    pub sources: Vec<Source<Flit>>,
    pub sinks: Vec<Sink<Flit>>,
    /// Words that came.
    pub arrived: u64,
    /// Bits of a word.
    width: usize,
}

impl Peers {
    pub fn new(golden: GoldenSwitch, (ports, width): (usize, usize), gaps: Gaps, rng: &dyn Fn(&str) -> Rng) -> Peers {
        let pacer = |pauses, name: String| Pacer::new(pauses, rng(&name));
        let source = |port| Source::new([], pacer(gaps.at_source(), format!("source {port}")));
        let sink = |port| Sink::new(pacer(gaps.at_sink(), format!("sink {port}")));
        Peers {
            golden,
            sources: (0..ports).map(source).collect(),
            sinks: (0..ports).map(sink).collect(),
            arrived: 0,
            width,
        }
    }

    /// Gives each source more words. See [`Traffic::flits`] for `way`.
    pub fn send(&mut self, traffic: &Traffic, way: (usize, usize), rng: &dyn Fn(&str) -> Rng) {
        for (port, source) in self.sources.iter_mut().enumerate() {
            let flits = traffic.flits(port, self.width, way, &mut rng(&format!("packets {port}")));
            flits.into_iter().for_each(|flit| source.push(flit));
        }
    }

    /// The inputs of the next cycle.
    pub fn inputs(&mut self) -> In {
        In {
            flits: self.sources.iter_mut().map(|source| source.offer().copied()).collect(),
            ready: self.sinks.iter_mut().map(Sink::ready).collect(),
            ..In::default()
        }
    }

    /// The edge that ends a cycle with these outputs.
    ///
    /// # Errors
    /// An offer that does not hold, and all that the golden switch finds.
    pub fn step(&mut self, seen: &Out) -> Result<(), Fault> {
        for (port, sink) in self.sinks.iter_mut().enumerate() {
            if let Some(Flit { word, last }) = sink.step(seen.flits[port])? {
                let source = seen.sources[port].unwrap_or((word >> (self.width - 4)) as usize);
                self.golden.sent(port, source, word, last).map_err(fault)?;
                self.arrived += 1;
            }
        }
        for (port, source) in self.sources.iter_mut().enumerate() {
            if let Some(Flit { word, last }) = source.step(seen.ready[port]) {
                self.golden.took(port, word, last);
            }
        }
        Ok(())
    }

    /// Words not taken yet.
    pub fn left(&self) -> usize {
        self.sources.iter().map(Source::len).sum()
    }

    /// Whether all words came.
    ///
    /// # Errors
    /// What the golden switch misses.
    pub fn finish(&self, unroutable: u64) -> Result<(), Fault> {
        self.golden.finish(unroutable).map_err(fault)
    }
}

/// A run of a switch.
#[derive(Clone, Debug)]
pub struct Plan {
    pub gaps: Gaps,
    /// See [`In`].
    pub digit: usize,
    pub idle: u8,
    pub traffic: Traffic,
    /// Packets that may pass a waiting one; see [`GoldenSwitch::new`].
    pub bound: u64,
    /// The cycle in which the run ends, in mid-flight.
    pub stop: Option<u64>,
}

/// Packets that may pass a waiting one. The arbiter lets N - 1 pass. It had chosen others before: three words are on
/// their way from a grant to the output port, and up to 16 wait in the output when its sink pauses.
pub fn bound(radix: usize, gaps: Gaps) -> u64 {
    radix as u64 - 1 + 3 + if gaps.at_sink() { 16 } else { 0 }
}

/// Random packets through a crossbar.
pub fn plan(radix: usize, gaps: Gaps, digit: usize, packets: usize) -> Plan {
    Plan {
        gaps,
        digit,
        idle: 0,
        traffic: Traffic::Random { packets, longest: 30 },
        bound: bound(radix, gaps),
        stop: None,
    }
}

/// Resets the switch and sends packets through it, in lock step with the golden switch.
fn exercise(bench: &mut Bench<In, Out>, switch: &Switch, plan: &Plan, rng: &dyn Fn(&str) -> Rng) -> Result<(), Fault> {
    let &Plan { digit, idle, .. } = plan;
    let quiet = In::idle(switch.radix);
    for _ in 0..2 {
        bench.through(
            &In {
                digit,
                idle,
                ..quiet.clone()
            },
            true,
        );
    }
    let golden = GoldenSwitch::new(switch.radix, digit, plan.bound);
    let mut peers = Peers::new(golden, (switch.radix, switch.width), plan.gaps, rng);
    let bits = switch.radix.next_power_of_two().trailing_zeros() as usize;
    peers.send(&plan.traffic, (digit * bits, bits), rng);
    let limit = 2000 + 4 * peers.left() as u64;
    let mut quiet = 0;
    for cycle in 0..limit {
        if plan.stop == Some(cycle) {
            return Ok(());
        }
        let inputs = In {
            digit,
            idle,
            ..peers.inputs()
        };
        let seen = bench.through(&inputs, false);
        peers.step(&seen).map_err(|fault| fault.at(cycle))?;
        let done = peers.left() == 0 && peers.finish(seen.unroutable).is_ok();
        quiet = if done { quiet + 1 } else { 0 };
        if quiet > 60 {
            return Rule::Rest.holds(!seen.busy, || format!("cycle {cycle}: still busy"));
        }
    }
    let left = peers.left();
    Rule::Hang.holds(left == 0, || format!("after {limit} cycles {left} words are not taken"))?;
    peers.finish(bench.seen().unroutable).map_err(|fault| fault.at(limit))
}

/// Packets in lock step with the golden switch. A reset in their midst loses them, and they are sent again.
pub fn contract(switch: &Switch, run: &Run, plan: &Plan) -> Result<(), Fault> {
    let mut bench = Bench::new(run, &switch.dut);
    let stopped = Plan {
        stop: Some(50),
        ..plan.clone()
    };
    exercise(&mut bench, switch, &stopped, &|name| run.rng(&format!("first {name}")))?;
    exercise(&mut bench, switch, plan, &|name| run.rng(name))
}

/// Words out of each output, and the first cycle in which it offered one.
type Streamed = (Vec<u64>, Vec<Option<u64>>);

/// One-word packets to `to` on each input (none where it is `None`) for some cycles.
pub fn stream(bench: &mut Bench<In, Out>, cycles: u64, to: impl FnMut(usize) -> Option<u64>) -> Streamed {
    stream_packets(bench, cycles, 1, to)
}

/// The same with packets of `length` words.
fn stream_packets(
    bench: &mut Bench<In, Out>,
    cycles: u64,
    length: u64,
    mut to: impl FnMut(usize) -> Option<u64>,
) -> Streamed {
    let radix = bench.seen().ready.len();
    // The word on offer, and the number of words of its packet that follow it.
    let mut held: Vec<Option<(u64, u64)>> = vec![None; radix];
    let (mut words, mut first) = (vec![0; radix], vec![None; radix]);
    let flit = |(word, left)| Flit { word, last: left == 0 };
    for cycle in 0..cycles {
        for (input, held) in held.iter_mut().enumerate() {
            *held = held.or_else(|| Some((to(input)?, length - 1)));
        }
        let inputs = In {
            flits: held.iter().map(|held| held.map(flit)).collect(),
            ready: vec![true; radix],
            ..In::default()
        };
        let seen = bench.through(&inputs, false);
        for (output, _) in seen.flits.iter().enumerate().filter(|(_, flit)| flit.is_some()) {
            words[output] += 1;
            first[output].get_or_insert(cycle);
        }
        for (held, _) in held.iter_mut().zip(seen.ready).filter(|(_, ready)| *ready) {
            *held = held.and_then(|(word, left)| Some((word, left.checked_sub(1)?)));
        }
    }
    (words, first)
}

/// Two switches get the same bursts with long silences. Every other burst has only words that come alone.
pub fn gating(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} gating", switch.dut.name), |run| {
        let mut pair = Pair::new(run, &switch.dut);
        let idle = In {
            idle: 5,
            ..In::idle(switch.radix)
        };
        (0..2).for_each(|_| pair.reset(&idle));
        // Registers without a reset change with the first edge.
        Rule::Rest.holds(pair.is_busy(), || "at rest straight out of reset".into())?;
        let mut rng = run.rng("gating");
        let mut left = vec![0; switch.radix];
        for cycle in 0..20_000 {
            let burst = cycle / 400;
            let (seldom, longest) = if burst % 2 == 0 { (8, 20) } else { (50, 1) };
            let mut inputs = idle.clone();
            for (input, left) in left.iter_mut().enumerate() {
                if *left == 0 && cycle % 400 < 60 && rng.chance(1, seldom) {
                    *left = rng.between(1, longest);
                }
                inputs.flits[input] = (*left > 0).then(|| Flit {
                    word: *left + 7 * input as u64 + burst,
                    last: *left == 1,
                });
            }
            inputs.ready.fill(rng.chance(3, 4));
            inputs.ready[0] = true;
            let seen = pair.step(&inputs, inputs.flits.iter().any(Option::is_some))?;
            for (left, ready) in left.iter_mut().zip(seen.ready) {
                *left -= u64::from(ready && *left > 0);
            }
        }
        let skipped = pair.skipped();
        Rule::Rest.holds(skipped > 10_000, || format!("only {skipped} edges skipped"))
    });
}

/// The first word appears four cycles after it was offered.
pub fn latency(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} latency", switch.dut.name), |run| {
        let mut once = Some(0);
        let to = |input| if input == 1 { once.take() } else { None };
        let (words, first) = stream(&mut switch.fresh(run), 20, to);
        Rule::Latency.holds((words[0], first[0]) == (1, Some(4)), || {
            format!("{words:?} words, first at {first:?}")
        })
    });
}

/// The output for an input's packet of this number, at this radix.
type To = fn(input: u64, packet: u64, radix: u64) -> Option<u64>;

/// The latency and 1000 cycles carry 1000 words, whatever the pattern. At saturation, with one-word packets for outputs
/// drawn uniformly, the least rate is `saturation` words a cycle and port.
pub fn rate(switch: &Switch, saturation: f64, cases: &mut Cases) {
    let (name, radix) = (switch.dut.name, switch.radix as u64);
    let all = vec![1000; switch.radix];
    let mut alone = vec![0; switch.radix];
    alone[0] = 1000;
    let patterns: [(&str, &[u64], To); 4] = [
        ("one input to one output", &alone, |input, _, _| {
            (input == 1).then_some(0)
        }),
        ("two inputs to one output", &alone, |input, _, _| {
            (input < 2).then_some(0)
        }),
        ("a permutation", &all, |input, _, radix| Some((input + 1) % radix)),
        (
            "a permutation that changes with each word",
            &all,
            |input, packet, radix| Some((input + packet) % radix),
        ),
    ];
    for (pattern, due, to) in patterns {
        cases.case(Start::Zero, format!("{name} {pattern}"), |run| {
            let mut packets = vec![0; switch.radix];
            let (words, _) = stream(&mut switch.fresh(run), 1004, |input| {
                packets[input] += 1;
                to(input as u64, packets[input], radix)
            });
            Rule::Rate.holds(words == due, || format!("{pattern}: {words:?} words in 1000 cycles"))
        });
    }
    cases.case(Start::Zero, format!("{name} saturation"), |run| {
        let rate = saturated(switch, run, 20_000, 1);
        println!("{name}: {rate:.3} words a cycle and port");
        Rule::Rate.holds(rate >= saturation, || {
            format!("{rate:.4} words a cycle and port at saturation")
        })
    });
}

/// Words a cycle and port when all inputs have packets of `length` words for outputs drawn uniformly.
fn saturated(switch: &Switch, run: &Run, cycles: u64, length: u64) -> f64 {
    let (mut rng, radix) = (Seed(1).stream("saturation"), switch.radix as u64);
    let to = |_| Some(rng.below(radix));
    let (words, _) = stream_packets(&mut switch.fresh(run), cycles, length, to);
    words.iter().sum::<u64>() as f64 / (cycles * radix) as f64
}

/// The header of a switch's RTL gives its rate at saturation with uniform packets of 1, 4 and 16 words.
pub fn header(switch: &Switch, file: &str, cases: &mut Cases) {
    cases.case(Start::Zero, file, |run| {
        let rates = [1, 4, 16].map(|length| saturated(switch, run, 50_000, length));
        in_header(file, "four ports", rates)
    });
}

/// The header of a file of `rtl/net` gives these rates.
///
/// # Errors
/// It does not.
pub fn in_header(file: &str, ports: &str, [one, four, sixteen]: [f64; 3]) -> Result<(), Fault> {
    let text = fs::read_to_string(root().join("rtl/net").join(file)).expect("a file of rtl/net");
    let lines: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//")).collect();
    let header = lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let due = format!("{ports} {one:.2}, {four:.2} and {sixteen:.2}");
    println!("{file}: {due}");
    Rule::Rate.holds(header.contains(&due), || {
        format!("{file}: write `{due}` into its header")
    })
}

/// The count of packets that name no output stays at its highest value.
pub fn counts(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} count", switch.dut.name), |run| {
        let (mut bench, radix) = (switch.fresh(run), switch.radix as u64);
        stream(&mut bench, 0x1_0000 / radix + 100, |_| Some(radix));
        let count = bench.seen().unroutable;
        Rule::Unroutable.holds(count == 0xffff, || format!("{count} after 65536 and more"))
    });
}

/// Outputs whose sinks take nothing fill up and stop the inputs. All words that were taken leave afterwards. `inside`
/// is the room of the way from an input to an output, in words.
pub fn full(switch: &Switch, inside: RangeInclusive<u64>, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} full", switch.dut.name), |run| {
        let mut bench = switch.fresh(run);
        let straight = |input| Flit {
            word: input as u64,
            last: true,
        };
        let inputs = In {
            flits: (0..switch.radix).map(|input| Some(straight(input))).collect(),
            ..In::idle(switch.radix)
        };
        let mut taken = vec![0; switch.radix];
        for _ in 0..200 {
            let seen = bench.through(&inputs, false);
            for (taken, ready) in taken.iter_mut().zip(seen.ready) {
                *taken += u64::from(ready);
            }
        }
        let stopped = !bench.seen().ready.contains(&true) && taken.iter().all(|taken| inside.contains(taken));
        Rule::Left.holds(stopped, || format!("{taken:?} words inside, not {inside:?} each"))?;
        // Each input still offers one word, and an offer holds.
        let mut offered = vec![true; switch.radix];
        let again = |input: usize| std::mem::take(&mut offered[input]).then_some(input as u64);
        let (words, _) = stream(&mut bench, 200, again);
        let kept = words.iter().zip(&taken).all(|(words, taken)| *words == taken + 1);
        Rule::Left.holds(kept, || {
            format!("{words:?} words left, {taken:?} and one each were taken")
        })
    });
}

/// A full output stops its own packets only.
pub fn full_output(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} full output", switch.dut.name), |run| {
        let mut bench = switch.fresh(run);
        let packet = |word| Some(Flit { word, last: true });
        let mut inputs = In::idle(switch.radix);
        inputs.ready[..3].fill(true);
        inputs.flits[0] = packet(3);
        (0..100).for_each(|_| drop(bench.through(&inputs, false)));
        inputs.flits[1] = packet(2);
        let seen = (0..104).filter(|_| bench.through(&inputs, false).flits[2].is_some());
        let words = seen.count();
        Rule::Rate.holds(words == 100, || {
            format!("{words} words in 100 cycles beside a full output")
        })
    });
}
