//! Golden wormhole switch: told what its ports committed and which input won, it says whether that was allowed.
//!
//! The contract, not the gates: a packet leaves whole, unmixed, in its input's order, by the output that its first word
//! names, or by each of several; an output serves its inputs fairly; a packet that names no output is counted. When it
//! leaves is not the model's business.

use std::collections::VecDeque;

use thiserror::Error;

use super::hyper::{self, Axis, Channel, Grid, Place};
use super::topology::Omega;
use super::torus::{Cell, Class, Header, Port, Torus, VCS, Way};

/// A word that a switch committed against its contract.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SwitchError {
    #[error("output {output}: word {got:#x} said to be from input {source_port}, which has nothing for this output")]
    Nothing {
        output: usize,
        source_port: usize,
        got: u64,
    },
    #[error(
        "output {output}: from input {source_port} expected {expected:#x} last={expected_last}, got {got:#x} \
         last={got_last}"
    )]
    Word {
        output: usize,
        source_port: usize,
        expected: u64,
        expected_last: bool,
        got: u64,
        got_last: bool,
    },
    #[error("output {output}: a word of input {source_port} inside a packet of input {owner}")]
    Mixed {
        output: usize,
        source_port: usize,
        owner: usize,
    },
    #[error("output {output}: input {source_port} was passed over by {packets} packets, allowed are {bound}")]
    Unfair {
        output: usize,
        source_port: usize,
        packets: u64,
        bound: u64,
    },
    #[error("{words} words are still inside, the first from input {source_port} for output {output}")]
    Left {
        words: usize,
        source_port: usize,
        output: usize,
    },
    #[error("{counted} packets counted as unroutable, {expected} were")]
    Unroutable { counted: u64, expected: u64 },
    #[error("{counted} multicasts counted as too long, {expected} were")]
    Refused { counted: u64, expected: u64 },
    #[error("{counted} broadcasts counted as cut, {expected} were")]
    Cut { counted: u64, expected: u64 },
}

/// A word on its way, with the number of packets its output had finished when it could first compete.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    word: u64,
    last: bool,
    since: u64,
}

#[derive(Clone, Debug)]
struct Input {
    /// Outputs of the packet being taken in, `None` between packets.
    taking: Option<Vec<usize>>,
    /// The words so far of a multicast that is taken whole before any of them leaves.
    multicast: Option<Vec<(u64, bool)>>,
    /// Words of this input inside the switch, one for each output they are for.
    inside: usize,
    /// Words so far of the packet being taken in.
    words: usize,
    /// The packet being taken in was cut.
    drains_rest: bool,
}

#[derive(Clone, Debug, Default)]
struct Output {
    /// Input of the packet being sent.
    owner: Option<usize>,
    /// Packets sent.
    finished: u64,
}

/// Where a switch with multicast sends packets. A first word names a destination in bits 32 to 47, or with bit 10 set a
/// group. With bit 12 set it says that the packet is short.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Output of each destination.
    pub routes: Vec<Option<usize>>,
    /// Outputs of each group.
    pub groups: Vec<Vec<usize>>,
    /// Words of the longest multicast.
    pub longest: usize,
}

impl Tables {
    /// As after reset: each of the lowest destinations has its output, and group 0 is all.
    pub fn new(radix: usize, longest: usize) -> Tables {
        let group = |group| if group == 0 { (0..radix).collect() } else { vec![] };
        Tables {
            routes: (0..64).map(|to| (to < radix).then_some(to)).collect(),
            groups: (0..16).map(group).collect(),
            longest,
        }
    }

    /// Words of the longest short multicast.
    pub const SHORT: usize = 4;

    fn is_multicast(word: u64) -> bool {
        word >> 10 & 1 == 1
    }

    /// Whether this multicast is longer than it may be.
    fn refuses(&self, words: &[(u64, bool)]) -> bool {
        let is_short = words[0].0 >> 12 & 1 == 1;
        words.len() > self.longest || is_short && words.len() > Tables::SHORT
    }

    fn outputs(&self, word: u64) -> Vec<usize> {
        let to = (word >> 32 & 0xFFFF) as usize;
        if Tables::is_multicast(word) {
            return self.groups.get(to).cloned().unwrap_or_default();
        }
        self.routes.get(to).copied().flatten().into_iter().collect()
    }
}

/// What a packet's first word says of its outputs.
#[derive(Clone, Debug)]
enum Routes {
    /// Tables name them.
    Tables(Tables),
    /// Bits from `shift` on name one of these.
    Digit { shift: usize, outputs: Vec<Option<usize>> },
    /// It is a [`Header`], at the router of a cell.
    Router(Torus, Cell),
    /// It is a [`Header`], in the whole torus.
    Torus(Torus),
    /// It routes in a hyper-crossbar, at the exchanger of a node.
    Exchanger(Grid, Place),
    /// The same at a crossbar, which cuts a broadcast after `longest` words.
    HyperCrossbar { grid: Grid, axis: Axis, longest: usize },
    /// The same in the whole network.
    Hyper(Grid),
}

/// Channels of each link of a hyper-crossbar.
const CHANNELS: usize = Channel::ALL.len();

/// A port and a channel of a switch of a hyper-crossbar, as a port of a [`GoldenSwitch`].
pub fn hyper_port(port: usize, channel: Channel) -> usize {
    port * CHANNELS + channel as usize
}

/// The mask of a first word of a hyper-crossbar; the values that it has together with the channel.
const MASKS: u32 = 7 << hyper::route::MASK;
const KINDS: usize = 16;

/// The input of [`GoldenSwitch::hyper`] by which a node sends a worm with this first word: only what has the same
/// channel and mask stays in order. The output by which a node gets it is that of no mask.
pub fn hyper_input(node: usize, f0: u32) -> usize {
    node * KINDS + (f0 >> hyper::route::MASK) as usize % KINDS
}

/// Who gets a worm with this first word; nobody, if it is drained.
fn receivers(grid: Grid, f0: u32) -> impl Iterator<Item = Place> {
    let to = Place::of(f0);
    let is_meant = move |place: Place, axis: Axis| axis.is_masked(f0) || place.along(axis) == to.along(axis);
    grid.places()
        .filter(move |_| Channel::of(f0) == Channel::Data || f0 & MASKS == 0)
        .filter(move |place| Axis::ALL.iter().all(|axis| is_meant(*place, *axis)))
}

impl Routes {
    fn outputs(&self, input: usize, word: u64) -> Vec<usize> {
        let header = Header::of(word);
        match self {
            Routes::Tables(tables) => tables.outputs(word),
            Routes::Digit { shift, outputs } => {
                let named = (word >> shift) as usize & (outputs.len() - 1);
                outputs[named].into_iter().collect()
            }
            Routes::Router(torus, at) => {
                let ways = torus.route(*at, Port::ALL[input / VCS], input % VCS, header);
                let output = |way: &Way| way.port as usize * VCS + header.class.vc(way.lane);
                ways.iter().map(output).collect()
            }
            Routes::Torus(torus) => {
                let to = torus.receivers(torus.cell(input / NETWORK_INPUTS), header);
                to.iter()
                    .map(|cell| network_output(torus.number(*cell), header.class))
                    .collect()
            }
            Routes::Hyper(grid) => {
                let to = receivers(*grid, word as u32);
                to.map(|place| hyper_input(grid.number(place) as usize, word as u32 & !MASKS))
                    .collect()
            }
            Routes::Exchanger(..) | Routes::HyperCrossbar { .. } => {
                let (port, channel) = (input / CHANNELS, Channel::ALL[input % CHANNELS]);
                if Channel::of(word as u32) != channel {
                    return vec![];
                }
                let ports = self.hyper_ports(port, word as u32);
                ports.into_iter().map(|port| hyper_port(port, channel)).collect()
            }
        }
    }

    /// Where a switch of a hyper-crossbar lets out a worm with this first word.
    fn hyper_ports(&self, port: usize, f0: u32) -> Vec<usize> {
        match *self {
            Routes::Exchanger(grid, at) => {
                let way = hyper::turn(grid, at, hyper::Port::ALL[port], f0);
                way.into_iter().map(|port| port as usize).collect()
            }
            Routes::HyperCrossbar { grid, axis, .. } => match hyper::outputs(grid, axis, f0) {
                hyper::Outputs::Drained => vec![],
                hyper::Outputs::One(to) => vec![to as usize],
                hyper::Outputs::All(line) => (0..line as usize).collect(),
            },
            _ => unreachable!("no switch of a hyper-crossbar"),
        }
    }

    /// Whether a packet for these outputs ends with its word of this number, from 1 on, and the rest is drained.
    fn cuts(&self, outputs: &[usize], words: usize) -> bool {
        matches!(self, Routes::HyperCrossbar { longest, .. } if outputs.len() > 1 && words == *longest)
    }
}

/// Inputs a cell has in [`GoldenSwitch::torus`]: only what has the same class and is for one cell, or is the same kind
/// of broadcast, stays in order.
const NETWORK_INPUTS: usize = 8;

/// The input of [`GoldenSwitch::torus`] by which cell `number` sends a packet with this header.
pub fn network_input(number: usize, header: Header) -> usize {
    number * NETWORK_INPUTS + header.class.vc(0) * 2 + header.cast as usize
}

/// The output of [`GoldenSwitch::torus`] by which cell `number` gets packets of this class.
pub fn network_output(number: usize, class: Class) -> usize {
    number * NETWORK_INPUTS + class as usize
}

/// One switch.
#[derive(Clone, Debug)]
pub struct GoldenSwitch {
    radix: usize,
    routes: Routes,
    bound: u64,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Words from input `i` to output `o`, at `i * radix + o`.
    queues: Vec<VecDeque<Waiting>>,
    unroutable: u64,
    refused: u64,
    cut: u64,
}

impl GoldenSwitch {
    /// A switch of `radix` ports that routes by digit `digit` of a packet's first word. A packet at the head of its
    /// input may be passed over by `bound` packets of other inputs, those that the output had already chosen included.
    pub fn new(radix: usize, digit: usize, bound: u64) -> GoldenSwitch {
        let values = radix.next_power_of_two();
        let routes = (0..values).map(|value| (value < radix).then_some(value)).collect();
        let bits = values.trailing_zeros() as usize;
        GoldenSwitch::by_digit(radix, digit * bits, routes, bound)
    }

    /// A whole network as one switch of all its ports, of which nothing is said on fairness.
    pub fn network(shape: Omega) -> GoldenSwitch {
        let mut routes = vec![None; 1 << (shape.stages() * shape.digit_bits())];
        for port in 0..shape.ports() {
            routes[shape.tag(port) as usize] = Some(port);
        }
        GoldenSwitch::by_digit(shape.ports(), 0, routes, u64::MAX)
    }

    /// The router of cell `at`: input and output `port * VCS + vc` for each virtual channel of each port. See
    /// [`GoldenSwitch::new`].
    pub fn router(torus: Torus, at: Cell, bound: u64) -> GoldenSwitch {
        GoldenSwitch::routed(Port::ALL.len() * VCS, Routes::Router(torus, at), bound)
    }

    /// A whole torus as one switch, with [`network_input`] and [`network_output`], of which nothing is said on
    /// fairness.
    pub fn torus(torus: Torus) -> GoldenSwitch {
        GoldenSwitch::routed(torus.cells() * NETWORK_INPUTS, Routes::Torus(torus), u64::MAX)
    }

    /// The exchanger of a node of a hyper-crossbar, with [`hyper_port`]s. See [`GoldenSwitch::new`].
    pub fn exchanger(grid: Grid, at: Place, bound: u64) -> GoldenSwitch {
        let radix = hyper::Port::ALL.len() * CHANNELS;
        GoldenSwitch::routed(radix, Routes::Exchanger(grid, at), bound)
    }

    /// A crossbar of a hyper-crossbar, with [`hyper_port`]s. It cuts broadcasts after `longest` words. See
    /// [`GoldenSwitch::new`].
    pub fn hyper_crossbar(grid: Grid, axis: Axis, longest: usize, bound: u64) -> GoldenSwitch {
        let radix = grid.along(axis) as usize * CHANNELS;
        GoldenSwitch::routed(radix, Routes::HyperCrossbar { grid, axis, longest }, bound)
    }

    /// A whole hyper-crossbar as one switch of all its nodes, with [`hyper_input`]s, of which nothing is said on
    /// fairness. Worms that it drains are for nobody.
    pub fn hyper(grid: Grid) -> GoldenSwitch {
        GoldenSwitch::routed(grid.nodes() as usize * KINDS, Routes::Hyper(grid), u64::MAX)
    }

    /// A switch of `radix` ports with multicast, of which nothing is said on fairness.
    pub fn multicast(radix: usize, tables: Tables) -> GoldenSwitch {
        GoldenSwitch::routed(radix, Routes::Tables(tables), u64::MAX)
    }

    /// The tables of a switch that has some, for packets that it begins to take from now on.
    ///
    /// # Panics
    /// Routes are not by tables.
    pub fn tables(&mut self) -> &mut Tables {
        match &mut self.routes {
            Routes::Tables(tables) => tables,
            routes => panic!("{routes:?} are no tables"),
        }
    }

    /// `outputs` has a power of two of entries.
    fn by_digit(radix: usize, shift: usize, outputs: Vec<Option<usize>>, bound: u64) -> GoldenSwitch {
        GoldenSwitch::routed(radix, Routes::Digit { shift, outputs }, bound)
    }

    fn routed(radix: usize, routes: Routes, bound: u64) -> GoldenSwitch {
        GoldenSwitch {
            radix,
            routes,
            bound,
            inputs: vec![
                Input {
                    taking: None,
                    multicast: None,
                    inside: 0,
                    words: 0,
                    drains_rest: false,
                };
                radix
            ],
            outputs: vec![Output::default(); radix],
            queues: vec![VecDeque::new(); radix * radix],
            unroutable: 0,
            refused: 0,
            cut: 0,
        }
    }

    /// Input `input` took a word.
    pub fn took(&mut self, input: usize, word: u64, last: bool) {
        let from = &mut self.inputs[input];
        if from.drains_rest {
            from.drains_rest = !last;
            return;
        }
        let outputs = from.taking.take().unwrap_or_else(|| {
            let multicast = matches!(self.routes, Routes::Tables(_)) && Tables::is_multicast(word);
            from.multicast = multicast.then(Vec::new);
            self.routes.outputs(input, word)
        });
        from.words += 1;
        if !last && self.routes.cuts(&outputs, from.words) {
            (from.drains_rest, from.words) = (true, 0);
            self.cut += 1;
            return self.enters(input, &outputs, word, true);
        }
        if last {
            from.words = 0;
        }
        self.unroutable += u64::from(last && outputs.is_empty());
        match &mut from.multicast {
            None => self.enters(input, &outputs, word, last),
            Some(words) => {
                words.push((word, last));
                if last {
                    let words = std::mem::take(words);
                    self.enters_whole(input, &outputs, words);
                }
            }
        }
        self.inputs[input].taking = (!last).then_some(outputs);
    }

    /// A multicast is on its way, if it is not too long.
    fn enters_whole(&mut self, input: usize, outputs: &[usize], words: Vec<(u64, bool)>) {
        if self.tables().refuses(&words) {
            self.refused += u64::from(!outputs.is_empty());
            return;
        }
        for (word, last) in words {
            self.enters(input, outputs, word, last);
        }
    }

    /// A word of input `input` is on its way to these outputs.
    fn enters(&mut self, input: usize, outputs: &[usize], word: u64, last: bool) {
        for &output in outputs {
            let since = self.outputs[output].finished;
            self.queues[input * self.radix + output].push_back(Waiting { word, last, since });
            self.inputs[input].inside += 1;
        }
    }

    /// Output `output` sent a word that it took from input `source`.
    pub fn sent(&mut self, output: usize, source: usize, word: u64, last: bool) -> Result<(), SwitchError> {
        let source_port = source;
        if let Some(owner) = self.outputs[output].owner
            && owner != source
        {
            return Err(SwitchError::Mixed {
                output,
                source_port,
                owner,
            });
        }
        let waiting = (source < self.radix)
            .then(|| self.queues[source * self.radix + output].pop_front())
            .flatten();
        let Some(expected) = waiting else {
            return Err(SwitchError::Nothing {
                output,
                source_port,
                got: word,
            });
        };
        if (word, last) != (expected.word, expected.last) {
            return Err(SwitchError::Word {
                output,
                source_port,
                expected: expected.word,
                expected_last: expected.last,
                got: word,
                got_last: last,
            });
        }
        let to = &mut self.outputs[output];
        let packets = to.finished - expected.since;
        if to.owner.is_none() && packets > self.bound {
            return Err(SwitchError::Unfair {
                output,
                source_port,
                packets,
                bound: self.bound,
            });
        }
        to.owner = (!last).then_some(source);
        to.finished += u64::from(last);
        self.inputs[source].inside -= 1;
        // Words behind this one can compete only from now on.
        for (o, to) in self.outputs.iter().enumerate() {
            if let Some(next) = self.queues[source * self.radix + o].front_mut() {
                next.since = to.finished;
            }
        }
        Ok(())
    }

    /// Packets taken so far that name no output.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Whether the switch counted the multicasts that were too long.
    pub fn refused(&self, counted: u64) -> Result<(), SwitchError> {
        let expected = self.refused;
        if counted == expected {
            Ok(())
        } else {
            Err(SwitchError::Refused { counted, expected })
        }
    }

    /// Whether the switch counted the broadcasts that it cut.
    pub fn cut(&self, counted: u64) -> Result<(), SwitchError> {
        let expected = self.cut;
        if counted == expected {
            Ok(())
        } else {
            Err(SwitchError::Cut { counted, expected })
        }
    }

    /// At the end of a run: nothing is inside, and the switch counted what it could not route.
    pub fn finish(&self, counted: u64) -> Result<(), SwitchError> {
        if let Some(at) = self.queues.iter().position(|q| !q.is_empty()) {
            let words = self.inputs.iter().map(|i| i.inside).sum();
            return Err(SwitchError::Left {
                words,
                source_port: at / self.radix,
                output: at % self.radix,
            });
        }
        if counted != self.unroutable {
            return Err(SwitchError::Unroutable {
                counted,
                expected: self.unroutable,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_orderly_switch_passes() {
        let mut golden = GoldenSwitch::new(2, 0, 1);
        golden.took(0, 0x11, false);
        golden.took(1, 0x21, true);
        golden.took(0, 0x10, true);
        assert_eq!(golden.sent(1, 0, 0x11, false), Ok(()));
        assert_eq!(golden.sent(1, 0, 0x10, true), Ok(()));
        assert_eq!(golden.sent(1, 1, 0x21, true), Ok(()));
        assert_eq!(golden.finish(0), Ok(()));
    }

    #[test]
    fn a_network_routes_by_whole_tags() {
        let shape = Omega::new(3, 2);
        let mut golden = GoldenSwitch::network(shape);
        golden.took(8, 0xF0 | shape.tag(5), true);
        golden.took(8, 0xF0 | 0b11_00, true);
        assert_eq!(golden.sent(5, 8, 0xF0 | shape.tag(5), true), Ok(()));
        assert_eq!(golden.finish(1), Ok(()));
    }

    /// A broadcast along X that sweeps by (1, 0) leaves a copy there, goes on in order, and waits for neither.
    #[test]
    fn a_router_copies() {
        let torus = Torus::new(4, 4);
        let mut golden = GoldenSwitch::router(torus, torus.cell(1), u64::MAX);
        let input = Port::XMinus as usize * VCS + 1;
        let head = Header::row().word();
        let (up, local) = (Port::XPlus as usize * VCS + 1, 0);
        golden.took(input, head, false);
        golden.took(input, 7, true);
        assert_eq!(golden.sent(local, input, head, false), Ok(()));
        assert_eq!(golden.sent(up, input, head, false), Ok(()));
        assert_eq!(golden.sent(up, input, 7, true), Ok(()));
        assert!(matches!(golden.finish(0), Err(SwitchError::Left { words: 1, .. })));
        assert_eq!(golden.sent(local, input, 7, true), Ok(()));
        // One that came the wrong way is drained.
        golden.took(Port::XPlus as usize * VCS, head, true);
        assert_eq!(golden.finish(1), Ok(()));
    }

    #[test]
    fn a_multicast_leaves_whole_or_not_at_all() {
        let mut golden = GoldenSwitch::multicast(3, Tables::new(3, 2));
        golden.tables().groups[5] = vec![0, 2];
        let to = |group: u64| group << 32 | 1 << 10;
        golden.took(1, to(5), false);
        assert!(matches!(
            golden.clone().sent(2, 1, to(5), false),
            Err(SwitchError::Nothing { .. })
        ));
        golden.took(1, 7, true);
        for output in [2, 0] {
            assert_eq!(golden.sent(output, 1, to(5), false), Ok(()));
            assert_eq!(golden.sent(output, 1, 7, true), Ok(()));
        }
        for last in [false, false, true] {
            golden.took(0, to(0), last);
        }
        for nowhere in [to(1), to(16), 64 << 32] {
            golden.took(0, nowhere, true);
        }
        golden.tables().routes[63] = Some(1);
        golden.took(0, 63 << 32, true);
        assert_eq!(golden.sent(1, 0, 63 << 32, true), Ok(()));
        assert_eq!(golden.finish(3), Ok(()));
        assert_eq!(golden.refused(1), Ok(()));
        assert_eq!(
            golden.refused(0),
            Err(SwitchError::Refused {
                counted: 0,
                expected: 1
            })
        );
    }

    #[test]
    fn a_torus_delivers_by_what_is_said() {
        let torus = Torus::new(2, 2);
        let mut golden = GoldenSwitch::torus(torus);
        let all = Header::row();
        let input = network_input(3, all);
        golden.took(input, all.word(), true);
        for cell in 2..4 {
            assert_eq!(
                golden.sent(network_output(cell, Class::Request), input, all.word(), true),
                Ok(())
            );
        }
        let nobody = Header::to(Cell { x: 0, y: 2 }, Class::Request);
        golden.took(network_input(0, nobody), nobody.word(), true);
        assert_eq!(golden.finish(1), Ok(()));
    }

    const GRID: Grid = Grid { x: 2, y: 3, z: 1 };
    const ALL_X: u64 = 1 << hyper::route::MASK;

    #[test]
    fn an_exchanger_turns_or_drains() {
        let at = Place { x: 1, y: 0, z: 0 };
        let mut golden = GoldenSwitch::exchanger(GRID, at, 3);
        let ports =
            |from: hyper::Port, to: hyper::Port| [from, to].map(|port| hyper_port(port as usize, Channel::Data));
        let [x, y] = ports(hyper::Port::X, hyper::Port::Y);
        let onward = Place { y: 2, ..at }.word().into();
        golden.took(x, onward, false);
        golden.took(x, 7, true);
        assert_eq!(golden.sent(y, x, onward, false), Ok(()));
        assert_eq!(golden.sent(y, x, 7, true), Ok(()));
        // It has crossed X elsewhere; F0 names the other channel.
        golden.took(x, 0, true);
        golden.took(hyper_port(0, Channel::Ack), onward, true);
        assert_eq!(golden.finish(2), Ok(()));
    }

    #[test]
    fn a_broadcast_that_is_too_long_is_cut() {
        let mut golden = GoldenSwitch::hyper_crossbar(GRID, Axis::X, 2, 3);
        for (n, last) in [false, false, false, true].into_iter().enumerate() {
            golden.took(0, ALL_X + n as u64, last);
        }
        golden.took(0, ALL_X, true);
        for output in [0, 1].map(|port| hyper_port(port, Channel::Data)) {
            assert_eq!(golden.sent(output, 0, ALL_X, false), Ok(()));
            assert_eq!(golden.sent(output, 0, ALL_X + 1, true), Ok(()));
            assert_eq!(golden.sent(output, 0, ALL_X, true), Ok(()));
        }
        assert_eq!((golden.finish(0), golden.cut(1)), (Ok(()), Ok(())));
        assert_eq!(
            golden.cut(0),
            Err(SwitchError::Cut {
                counted: 0,
                expected: 1
            })
        );
    }

    #[test]
    fn a_hyper_crossbar_delivers_by_what_is_said() {
        let mut golden = GoldenSwitch::hyper(GRID);
        let f0 = ALL_X as u32 | Place { x: 0, y: 1, z: 0 }.word();
        let from = hyper_input(4, f0);
        golden.took(from, f0.into(), true);
        for node in [2, 3] {
            assert_eq!(golden.sent(hyper_input(node, 0), from, f0.into(), true), Ok(()));
        }
        golden.took(hyper_input(0, 3), Place { x: 2, y: 0, z: 0 }.word().into(), true);
        assert_eq!(golden.finish(1), Ok(()));
    }

    #[test]
    fn each_fault_has_its_name() {
        let mut golden = GoldenSwitch::new(3, 0, 1);
        golden.took(0, 0x11, false);
        golden.took(1, 0x21, true);
        golden.took(2, 0x33, true);
        let fresh = golden.clone();
        assert!(matches!(
            golden.sent(2, 0, 0x11, false),
            Err(SwitchError::Nothing { .. })
        ));
        assert!(matches!(golden.sent(1, 1, 0x25, true), Err(SwitchError::Word { .. })));
        let mut golden = fresh.clone();
        assert_eq!(golden.sent(1, 0, 0x11, false), Ok(()));
        assert!(matches!(
            golden.sent(1, 1, 0x21, true),
            Err(SwitchError::Mixed { owner: 0, .. })
        ));
        let mut golden = fresh.clone();
        for _ in 0..2 {
            golden.took(2, 0x1, true);
            assert_eq!(golden.sent(1, 2, 0x1, true), Ok(()));
        }
        assert!(matches!(
            golden.sent(1, 1, 0x21, true),
            Err(SwitchError::Unfair { packets: 2, .. })
        ));
        assert!(matches!(fresh.finish(1), Err(SwitchError::Left { words: 2, .. })));
        let mut golden = GoldenSwitch::new(3, 0, 1);
        golden.took(2, 0x33, true);
        assert!(matches!(
            golden.finish(0),
            Err(SwitchError::Unroutable {
                counted: 0,
                expected: 1
            })
        ));
    }
}
