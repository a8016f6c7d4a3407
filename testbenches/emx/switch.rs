//! `cut_through` and `emx_switch`, each in lock step with the golden switch, whose packets go by ways of their own.

use support::this_test;
use testbenches::gate::Pair;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::emx::golden::switch::{PE, PORTS, way};
use tsunagi::emx::packet::Packet;
use tsunagi::emx::regs::{SIZE_CHANNELS, SIZE_COLUMNS};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer};
use tsunagi::net::cut_through::{Arrival, CutThrough};
use verilated::{Input, Port};

use crate::rig::{Feed, some_packet};

rules!(
    /// A packet begins to leave as soon as it may, and its word 1 follows.
    Begin
    /// Inputs take turns at an output, and channels at an input.
    Turn
    /// A packet leaves on its channel.
    Channel
    /// Both words of a packet leave as they must, and by its output.
    Packet
    /// There is room for a packet as long as there is a place.
    Room
    /// Packets that lead nowhere are counted.
    Drained
    /// Each input and each output carries a packet in two cycles, all at once.
    Rate
    /// What is for the PE leaves, whatever the PE sends.
    Eject
    /// `busy_o` is low when nothing is inside, and only then.
    Rest
    /// An edge that may be left out changes nothing.
    Gating
);

/// A word on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    channel: u64,
    word: u64,
    last: bool,
}

#[derive(Clone, Default)]
pub struct In {
    column: u32,
    words: Vec<Option<Word>>,
    /// Of `cut_through`: output, one-hot, and channel beyond.
    ways: Vec<(u64, u64)>,
    /// Channels with room, by output.
    rooms: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    rooms: Vec<u64>,
    words: Vec<Option<Word>>,
    /// Inputs of the words, if the unit tells.
    inputs: Option<Vec<usize>>,
    drained: u64,
    busy: bool,
}

/// What stands on a link without a word.
const JUNK: Word = Word {
    channel: 2,
    word: 0x15_5bad_cafe,
    last: true,
};

fn set_word(ports: [&dyn Fn(usize, u64); 4], index: usize, word: Option<Word>) {
    let Word {
        channel,
        word: data,
        last,
    } = word.unwrap_or(JUNK);
    let values = [word.is_some().into(), channel, data, last.into()];
    for (port, value) in ports.into_iter().zip(values) {
        port(index, value);
    }
}

/// Which packets a unit carries.
#[derive(Clone, Copy)]
enum Ways {
    /// Any, by ways that are named beside them.
    Named,
    /// Those of EM-4, by their paths.
    Paths,
}

/// A unit under test.
pub struct Switch {
    pub dut: Dut<In, Out>,
    ports: usize,
    channels: usize,
    places: usize,
    width: usize,
    /// Inputs that have channel 0 alone, by bit.
    single: usize,
    ways: Ways,
}

fn cut_through<U: CutThroughUnit + 'static>() -> Switch {
    fn set<U: CutThroughUnit>(dut: &U::Ports, inputs: &In) {
        for (index, word) in inputs.words.iter().enumerate() {
            let ports: [&dyn Fn(usize, u64); 4] = [
                &|i, value| dut.in_valid_i().set_bits(i, 1, value),
                &|i, value| dut.in_vc_i().set_bits(2 * i, 2, value),
                &|i, value| dut.in_data_i().set_bits(U::W * i, U::W, value & ((1 << U::W) - 1)),
                &|i, value| dut.in_last_i().set_bits(i, 1, value),
            ];
            set_word(ports, index, *word);
            let (out, to) = inputs.ways[index];
            dut.in_out_i().set_bits(U::N * index, U::N, out);
            dut.in_to_i().set_bits(2 * index, 2, to);
            dut.out_room_i()
                .set_bits(U::CHANNELS * index, U::CHANNELS, inputs.rooms[index]);
        }
    }
    fn seen<U: CutThroughUnit>(dut: &U::Ports) -> Out {
        let word = |index| Word {
            channel: dut.out_vc_o().get_bits(2 * index, 2),
            word: dut.out_data_o().get_bits(U::W * index, U::W),
            last: dut.out_last_o().bit(index),
        };
        Out {
            rooms: (0..U::N)
                .map(|i| dut.in_room_o().get_bits(U::CHANNELS * i, U::CHANNELS))
                .collect(),
            words: (0..U::N).map(|i| dut.out_valid_o().bit(i).then(|| word(i))).collect(),
            inputs: Some((0..U::N).map(|i| dut.won_o().get_bits(2 * i, 2) as usize).collect()),
            drained: dut.drained_o().get(),
            busy: dut.busy_o().is_set(),
        }
    }
    Switch {
        dut: Dut::of::<U>(set::<U>, seen::<U>),
        ports: U::N,
        channels: U::CHANNELS,
        places: U::PACKETS,
        width: U::W,
        single: U::SINGLE,
        ways: Ways::Named,
    }
}

pub fn emx_switch<U: EmxSwitchUnit + 'static>() -> Switch {
    fn set(dut: &impl EmxSwitchPorts, inputs: &In) {
        dut.column_i().set(inputs.column.into());
        for index in 0..PE {
            let ports: [&dyn Fn(usize, u64); 4] = [
                &|i, value| dut.link_in_valid_i().set_bits(i, 1, value),
                &|i, value| dut.link_in_vc_i().set_bits(2 * i, 2, value),
                &|i, value| dut.link_in_data_i().set_bits(39 * i, 39, value),
                &|i, value| dut.link_in_last_i().set_bits(i, 1, value),
            ];
            set_word(ports, index, inputs.words[index]);
            dut.link_out_room_i().set_bits(3 * index, 3, inputs.rooms[index]);
        }
        let ports: [&dyn Fn(usize, u64); 4] = [
            &|_, value| dut.pe_in_valid_i().set(value),
            &|_, _| {},
            &|_, value| dut.pe_in_data_i().set(value),
            &|_, value| dut.pe_in_last_i().set(value),
        ];
        set_word(ports, PE, inputs.words[PE]);
        dut.pe_out_room_i().set(inputs.rooms[PE] & 1);
    }
    fn seen(dut: &impl EmxSwitchPorts) -> Out {
        let link = |index| Word {
            channel: dut.link_out_vc_o().get_bits(2 * index, 2),
            word: dut.link_out_data_o().get_bits(39 * index, 39),
            last: dut.link_out_last_o().bit(index),
        };
        let pe = || Word {
            channel: 0,
            word: dut.pe_out_data_o().get(),
            last: dut.pe_out_last_o().is_set(),
        };
        let links = [0, 1].map(|index| dut.link_out_valid_o().bit(index).then(|| link(index)));
        Out {
            rooms: vec![
                dut.link_in_room_o().get_bits(0, 3),
                dut.link_in_room_o().get_bits(3, 3),
                dut.pe_in_room_o().get(),
            ],
            words: vec![links[0], links[1], dut.pe_out_valid_o().is_set().then(pe)],
            inputs: None,
            drained: dut.drained_o().get(),
            busy: dut.busy_o().is_set(),
        }
    }
    Switch {
        dut: Dut::of::<U>(set, seen),
        ports: PORTS,
        channels: SIZE_CHANNELS as usize,
        places: U::PACKETS,
        width: 39,
        single: 1 << PE,
        ways: Ways::Paths,
    }
}

/// A packet on its way in: its words there, and what the switch is to make of it.
#[derive(Clone, Copy)]
struct Coming {
    words: [u64; 2],
    arrival: Arrival,
}

impl Switch {
    fn model(&self) -> CutThrough {
        let all = CutThrough::new(self.ports, self.channels, self.places);
        (0..self.ports)
            .filter(|port| self.is_single(*port))
            .fold(all, CutThrough::single)
    }

    /// Room beyond all outputs.
    fn open(&self) -> Vec<u64> {
        vec![(1 << self.channels) - 1; self.ports]
    }

    fn of_paths(&self) -> bool {
        matches!(self.ways, Ways::Paths)
    }

    fn is_single(&self, port: usize) -> bool {
        self.single >> port & 1 != 0
    }

    /// Does a packet's channel stand beside it at this input?
    fn has_channels(&self, port: usize) -> bool {
        !(self.of_paths() && port == PE)
    }

    fn coming(&self, column: u32, channel: usize, packet: Packet) -> Coming {
        let way = way(column, &packet, channel);
        Coming {
            words: packet.words(),
            arrival: Arrival {
                channel,
                output: way.map(|way| way.output),
                beyond: way.map_or(0, |way| way.channel),
                words: way.map_or([0; 2], |way| way.packet.words()),
            },
        }
    }

    /// Any packet on this channel.
    fn any(&self, rng: &mut Rng, column: u32, channel: usize) -> Coming {
        match self.ways {
            Ways::Paths => {
                let path = match rng.below(16) {
                    0 => 0,
                    1..6 => 1,
                    _ => 1 << rng.between(1, 8) | rng.bits() as u16 & 1,
                };
                let packet = Packet {
                    pe: path,
                    ..some_packet(rng)
                };
                self.coming(column, channel, packet)
            }
            Ways::Named => {
                let output = (!rng.chance(1, 16)).then(|| rng.below(self.ports as u64) as usize);
                let beyond = if rng.chance(1, 16) { 4 } else { self.channels as u64 };
                self.named(rng, channel, output, beyond)
            }
        }
    }

    /// A packet by a way of `cut_through`.
    fn named(&self, rng: &mut Rng, channel: usize, output: Option<usize>, channels: u64) -> Coming {
        let words = [(); 2].map(|()| rng.bits() & ((1 << self.width) - 1));
        let beyond = rng.below(channels) as usize;
        let arrival = Arrival {
            channel,
            output,
            beyond,
            words,
        };
        Coming { words, arrival }
    }

    /// A packet to this output from column 0.
    fn to(&self, rng: &mut Rng, channel: usize, output: usize) -> Coming {
        match self.ways {
            Ways::Named => self.named(rng, channel, Some(output), self.channels as u64),
            Ways::Paths => {
                let path = if output == PE { 1 } else { 0b100 | output as u16 };
                let packet = Packet {
                    pe: path,
                    ..some_packet(rng)
                };
                self.coming(0, channel, packet)
            }
        }
    }

    /// A cycle's inputs: what stands on the links, and where there is room.
    fn inputs(&self, column: u32, feeds: &[Feed<Coming>], rooms: Vec<u64>) -> In {
        let word = |(coming, last): (Coming, bool)| Word {
            channel: coming.arrival.channel as u64,
            word: coming.words[usize::from(last)],
            last,
        };
        let named = |feed: &Feed<Coming>| {
            let first = feed.first().map(|coming| coming.arrival);
            // With word 1 and without a word they do not count.
            first.map_or((1, 3), |packet| {
                (packet.output.map_or(0, |output| 1 << output), packet.beyond as u64)
            })
        };
        In {
            column,
            words: feeds.iter().map(|feed| feed.now().map(word)).collect(),
            ways: feeds.iter().map(named).collect(),
            rooms,
        }
    }

    fn check(&self, model: &CutThrough, seen: &Out) -> Result<(), Fault> {
        Rule::Drained.same("drained", u64::from(model.drained), seen.drained)?;
        for output in 0..self.ports {
            let (want, got) = (model.leaving(output), seen.words[output]);
            Rule::Begin.same(format!("output {output}"), want.map(|w| w.last), got.map(|w| w.last))?;
            let (Some(want), Some(got)) = (want, got) else { continue };
            if let Some(inputs) = &seen.inputs {
                Rule::Turn.same(format!("input at output {output}"), want.input, inputs[output])?;
            }
            // A packet that could have gone is no stranger.
            let rule = if got.word != want.word && !want.last && model.holds(got.word) {
                Rule::Turn
            } else {
                Rule::Packet
            };
            rule.same(format!("word at output {output}"), want.word, got.word)?;
            Rule::Channel.same(format!("channel at output {output}"), want.channel as u64, got.channel)?;
        }
        for input in 0..self.ports {
            let room = |channel| u64::from(model.has_room(input, channel)) << channel;
            let want: u64 = (0..self.channels).map(room).sum();
            Rule::Room.same(format!("room of input {input}"), want, seen.rooms[input])?;
        }
        Rule::Rest.same("busy", !model.is_empty(), seen.busy)
    }
}

/// A packet that stands before a switch, or left it: port, channel, and the path that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    pub port: usize,
    pub channel: usize,
    pub path: u16,
}

impl Hop {
    /// From the PE.
    pub fn injected(path: u16) -> Hop {
        Hop {
            port: PE,
            channel: 0,
            path,
        }
    }

    pub fn is_ejected(&self) -> bool {
        self.port == PE
    }
}

/// How a packet that stands before the unit leaves it.
pub fn hop(run: &Run, switch: &Switch, column: u32, before: Hop) -> Result<Hop, Fault> {
    let mut bench = Bench::new(run, &switch.dut);
    let mut feeds = vec![Feed::default(); PORTS];
    bench.reset(&switch.inputs(column, &feeds, switch.open()))?;
    let packet = Packet {
        pe: before.path,
        ..Packet::default()
    };
    let coming = switch.coming(column, before.channel, packet);
    feeds[before.port].step(|| Some(coming));
    bench.step(&switch.inputs(column, &feeds, switch.open()))?;
    let words = bench.seen().words;
    let left = (0..).zip(words).find_map(|(port, word)| Some((port, word?)));
    let (port, word) =
        left.ok_or_else(|| Rule::Drained.broken(format!("column {column}: {before:x?} leads nowhere")))?;
    Ok(Hop {
        port,
        channel: word.channel as usize,
        path: Packet::of([word.word, 0]).pe,
    })
}

/// A run in lock step: the unit, its model, and what comes.
struct Lockstep<'a> {
    switch: &'a Switch,
    bench: Pair<'a, In, Out>,
    model: CutThrough,
    feeds: Vec<Feed<Coming>>,
    column: u32,
}

impl<'a> Lockstep<'a> {
    fn new(run: &Run<'a>, switch: &'a Switch) -> Lockstep<'a> {
        let mut fresh = Lockstep {
            switch,
            bench: Pair::new(run, &switch.dut),
            model: switch.model(),
            feeds: vec![Feed::default(); switch.ports],
            column: 0,
        };
        (0..2).for_each(|_| fresh.reset(0));
        fresh
    }

    fn reset(&mut self, column: u32) {
        self.column = column;
        let rooms = self.switch.open();
        self.bench.reset(&self.switch.inputs(column, &self.feeds, rooms));
        self.model = self.switch.model();
        self.feeds.fill(Feed::default());
    }

    /// A cycle with this room beyond; `next` gives an input's next packet, if it has one for these channels.
    fn step(&mut self, rooms: Vec<u64>, mut next: impl FnMut(usize, u64) -> Option<Coming>) -> Result<Out, Fault> {
        let inputs = self.switch.inputs(self.column, &self.feeds, rooms);
        let asks = inputs.words.iter().any(Option::is_some);
        let seen = self.bench.step(&inputs, asks)?;
        self.switch.check(&self.model, &seen)?;
        let arrivals: Vec<_> = self
            .feeds
            .iter()
            .map(|feed| feed.first().map(|coming| coming.arrival))
            .collect();
        self.model
            .step(&arrivals, |output, channel| inputs.rooms[output] >> channel & 1 != 0);
        for (input, feed) in self.feeds.iter_mut().enumerate() {
            feed.step(|| next(input, seen.rooms[input]));
        }
        Ok(seen)
    }
}

/// One of these channels; at times one that does not exist, where nothing has room.
fn pick(rng: &mut Rng, switch: &Switch, input: usize, rooms: u64) -> Option<usize> {
    let strange = if switch.is_single(input) {
        1
    } else {
        switch.channels as u64
    };
    if strange < 4 && switch.has_channels(input) && rng.chance(1, 32) {
        return Some(rng.between(strange, 3) as usize);
    }
    let open: Vec<usize> = (0..switch.channels)
        .filter(|channel| rooms >> channel & 1 != 0)
        .collect();
    (!open.is_empty()).then(|| open[rng.below(open.len() as u64) as usize])
}

fn exercise(run: &Run, switch: &Switch, gaps: Gaps, resets: bool) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let mut lockstep = Lockstep::new(run, switch);
    let pacer = |pauses, kind: &str, index: usize| run.pacer(pauses, &format!("{kind} {index}"));
    let mut sources: Vec<Pacer> = (0..switch.ports)
        .map(|i| pacer(gaps.at_source(), "source", i))
        .collect();
    let mut sinks: Vec<Pacer> = (0..switch.ports * switch.channels)
        .map(|i| pacer(gaps.at_sink(), "sink", i))
        .collect();
    let mut left = 0;
    for cycle in 0..2200 {
        if resets && rng.chance(1, 150) {
            lockstep.reset(rng.below(SIZE_COLUMNS.into()) as u32);
            continue;
        }
        let ends = cycle >= 2000;
        let rooms: Vec<u64> = sinks
            .chunks_mut(switch.channels)
            .map(|sinks| {
                sinks
                    .iter_mut()
                    .enumerate()
                    .map(|(channel, sink)| u64::from(sink.step() || ends) << channel)
                    .sum()
            })
            .collect();
        let column = lockstep.column;
        let next = |input: usize, rooms| {
            let goes = sources[input].step() && !ends;
            let channel = pick(&mut rng, switch, input, rooms).filter(|_| goes)?;
            Some(switch.any(&mut rng, column, channel))
        };
        let seen = lockstep.step(rooms, next).map_err(|fault| fault.at(cycle))?;
        left += seen.words.iter().flatten().filter(|word| word.last).count();
    }
    assert!(lockstep.model.is_empty(), "something stays inside for ever");
    assert!(left > 100 * switch.ports, "only {left} packets");
    Ok(())
}

/// Each input sends to an output of its own.
fn rate(run: &Run, switch: &Switch, shift: usize) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let mut bench = Bench::new(run, &switch.dut);
    let mut feeds: Vec<Feed<Coming>> = vec![Feed::default(); switch.ports];
    let mut left = vec![0; switch.ports];
    for cycle in 0..206 {
        let inputs = switch.inputs(0, &feeds, switch.open());
        let seen = bench.registered(&inputs, cycle < 2)?;
        if cycle < 2 {
            continue;
        }
        for (input, feed) in feeds.iter_mut().enumerate() {
            let output = (input + shift) % switch.ports;
            feed.step(|| (seen.rooms[input] & 1 != 0).then(|| switch.to(&mut rng, 0, output)));
        }
        let done = seen
            .words
            .iter()
            .map(|word| usize::from(word.is_some_and(|word| word.last)));
        left.iter_mut().zip(done).for_each(|(left, done)| *left += done);
    }
    Rule::Rate.holds(left.iter().all(|left| *left >= 100), || {
        format!("{left:?} packets of 100 by each output")
    })
}

/// The PE sends to links without room, and links bring packets for it.
fn ejects(run: &Run, switch: &Switch) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let mut lockstep = Lockstep::new(run, switch);
    let mut left = 0;
    for _ in 0..230 {
        let next = |input: usize, rooms: u64| {
            let output = if input == PE { rng.below(2) as usize } else { PE };
            (rooms & 1 != 0).then(|| switch.to(&mut rng, 0, output))
        };
        // The model is asked in other cases.
        let seen = match lockstep.step(vec![0, 0, 1], next) {
            Err(fault) if fault.rule != "Begin" => return Err(fault),
            Err(_) => return Err(Rule::Eject.broken("a packet for the PE waits")),
            Ok(seen) => seen,
        };
        left += usize::from(seen.words[PE].is_some_and(|word| word.last));
    }
    Rule::Eject.holds(left > 110, || format!("{left} packets of 110 for the PE"))
}

/// The counter of what leads nowhere stops at its end.
fn saturates(run: &Run, switch: &Switch) -> Result<(), Fault> {
    let mut rng = run.rng("packets");
    let mut lockstep = Lockstep::new(run, switch);
    for _ in 0..2 * 0x1_0010 / switch.ports {
        let rooms = switch.open();
        lockstep.step(rooms, |_, _| Some(switch.named(&mut rng, 0, None, 1)))?;
    }
    assert_eq!(lockstep.model.drained, u16::MAX);
    Ok(())
}

fn checks(switch: &Switch, cases: &mut Cases) {
    let name = switch.dut.name;
    for gaps in Gaps::ALL {
        for resets in [false, true] {
            let params = format!("{name} {gaps:?} resets {resets}");
            cases.from_each(&[Start::Random1, Start::Zero], params, |run| {
                exercise(run, switch, gaps, resets)
            });
        }
    }
    for shift in 0..switch.ports {
        cases.case(Start::Random1, format!("{name} rate {shift}"), |run| {
            rate(run, switch, shift)
        });
    }
    if switch.of_paths() {
        cases.case(Start::Random1, format!("{name} ejects"), |run| ejects(run, switch));
    }
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        checks(&cut_through::<CutThrough1>(), cases);
        checks(&cut_through::<CutThrough2>(), cases);
        checks(&cut_through::<CutThrough3>(), cases);
        checks(&cut_through::<CutThrough4>(), cases);
        checks(&cut_through::<CutThroughSingle>(), cases);
        for packets in [
            emx_switch::<EmxSwitch1>,
            emx_switch::<EmxSwitch2>,
            emx_switch::<EmxSwitch3>,
        ] {
            checks(&packets(), cases);
        }
    });
}

fn counts(switch: &Switch, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} saturates", switch.dut.name), |run| {
        saturates(run, switch)
    });
}

#[test]
fn what_leads_nowhere_is_counted_to_the_end() {
    pass(this_test!(), |cases| counts(&cut_through::<CutThrough3>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A packet begins amid another.
            (Turn, &[Begin, Packet, Room, Rest, Rate, Gating], &|cases| {
                checks(&cut_through::<TwinCutAmid>(), cases)
            }),
            // It waits in the buffer for a cycle.
            (Begin, &[Room, Rest], &|cases| {
                checks(&cut_through::<TwinCutLate>(), cases)
            }),
            // An output does not wait for an older input that ends another packet.
            (Begin, &[Turn], &|cases| checks(&cut_through::<TwinCutStep>(), cases)),
            (Turn, &[Begin, Packet], &|cases| {
                checks(&cut_through::<TwinCutInputs>(), cases)
            }),
            (Turn, &[Begin, Packet, Channel], &|cases| {
                checks(&cut_through::<TwinCutChannels>(), cases)
            }),
            (Packet, &[Gating], &|cases| checks(&cut_through::<TwinCutWord>(), cases)),
            (Room, &[], &|cases| checks(&cut_through::<TwinCutRoom>(), cases)),
            (Drained, &[], &|cases| checks(&cut_through::<TwinCutBeyond>(), cases)),
            (Drained, &[], &|cases| counts(&cut_through::<TwinCutWraps>(), cases)),
            (Rate, &[Begin], &|cases| checks(&cut_through::<TwinCutPause>(), cases)),
            (Rest, &[Gating], &|cases| checks(&cut_through::<TwinCutRest>(), cases)),
            // At rest input 0 counts as served.
            (Gating, &[Turn, Begin, Packet], &|cases| {
                checks(&cut_through::<TwinCutIdle>(), cases)
            }),
            // The path is left as it is.
            (Packet, &[], &|cases| checks(&emx_switch::<TwinSwitchPath>(), cases)),
            // No channel more behind column 4.
            (Channel, &[Begin, Drained, Packet, Turn], &|cases| {
                checks(&emx_switch::<TwinSwitchChannel>(), cases)
            }),
            // A path of zero is one to link 0.
            (Drained, &[], &|cases| checks(&emx_switch::<TwinSwitchNowhere>(), cases)),
            // What is for the PE waits until the PE may send.
            (Eject, &[Begin, Turn], &|cases| {
                checks(&emx_switch::<TwinSwitchEject>(), cases)
            }),
        ],
    );
}
