//! The verilated hyper-crossbar: an exchanger at each node and a crossbar for each line of more than one.
//!
//! Every output is a function of flip-flops, so at an edge each of them sees what stood on the links before it. An
//! exchanger or a crossbar with nothing to do is left out.

use verilated::{Context, Input as _, Port as _, Verilated};

use super::NotBuilt;
use crate::net::hyper::{Axis, Grid, Place};
use crate::rtl::{
    CppacsExchanger, CppacsX2, CppacsX4, CppacsX8, CppacsY2, CppacsY4, CppacsY8, CppacsZ2, CppacsZ4, CppacsZ8,
    HxbCrossbarPorts as _, HxbCrossbarUnit, HxbExchangerPorts as _, HxbExchangerUnit,
};

/// Lengths of the lines that there are crossbars for.
pub const LINES: [u32; 4] = [1, 2, 4, 8];
/// Words of a channel that the exchanger holds for its node.
pub const ROOM: u32 = 16;
/// Edges of a reset.
const RESET: usize = 4;

/// A word on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// 0 data, 1 acknowledge.
    pub channel: usize,
    pub data: u32,
    pub last: bool,
}

/// An exchanger or a crossbar. A port's credits are two bits, one of each channel.
trait Switch {
    fn unit(&self) -> &dyn Verilated;
    fn ports(&self) -> usize;
    fn set_reset(&self, reset: bool);
    fn edge(&self);
    fn is_busy(&self) -> bool;
    /// Outputs that show a word.
    fn shown(&self) -> u64;
    fn word(&self, output: usize) -> Word;
    /// Credits that the inputs give back.
    fn returned(&self) -> u64;
    fn put(&self, input: usize, word: Option<Word>);
    /// Credits for an output.
    fn credit(&self, output: usize, credits: u64);
    fn drained(&self) -> u16;
    /// Tells an exchanger its place, and the highest coordinates of the grid.
    fn place(&self, _at: Place, _last: Place) {}
}

struct Exchanger<U>(U);
struct Crossbar<U>(U);

/// What the ports of both do.
macro_rules! switch {
    () => {
        fn unit(&self) -> &dyn Verilated {
            &self.0
        }

        fn ports(&self) -> usize {
            self.0.in_valid_i().width()
        }

        fn set_reset(&self, reset: bool) {
            self.0.rst_i().set_bool(reset);
        }

        #[inline]
        fn edge(&self) {
            self.0.junk();
            self.0.rise(1);
        }

        #[inline]
        fn is_busy(&self) -> bool {
            self.0.busy_o().is_set()
        }

        #[inline]
        fn shown(&self) -> u64 {
            self.0.out_valid_o().get()
        }

        #[inline]
        fn word(&self, output: usize) -> Word {
            Word {
                channel: self.0.out_channel_o().get_bits(output, 1) as usize,
                data: self.0.out_data_o().get_bits(32 * output, 32) as u32,
                last: self.0.out_last_o().bit(output),
            }
        }

        #[inline]
        fn returned(&self) -> u64 {
            self.0.in_credit_o().get()
        }

        #[inline]
        fn put(&self, input: usize, word: Option<Word>) {
            self.0.in_valid_i().set_bits(input, 1, word.is_some().into());
            if let Some(Word { channel, data, last }) = word {
                self.0.in_channel_i().set_bits(input, 1, channel as u64);
                self.0.in_data_i().set_bits(32 * input, 32, data.into());
                self.0.in_last_i().set_bits(input, 1, last.into());
            }
        }

        #[inline]
        fn credit(&self, output: usize, credits: u64) {
            self.0.out_credit_i().set_bits(2 * output, 2, credits);
        }

        #[inline]
        fn drained(&self) -> u16 {
            self.0.drained_o().get() as u16
        }
    };
}

impl<U: HxbCrossbarUnit> Switch for Crossbar<U> {
    switch!();
}

impl<U: HxbExchangerUnit> Switch for Exchanger<U> {
    switch!();

    fn place(&self, at: Place, last: Place) {
        let unit = &self.0;
        unit.x_i().set(at.x.into());
        unit.y_i().set(at.y.into());
        unit.z_i().set(at.z.into());
        unit.last_x_i().set(last.x.into());
        unit.last_y_i().set(last.y.into());
        unit.last_z_i().set(last.z.into());
    }
}

/// The crossbar of a line of so many nodes along an axis, the number in its name.
fn crossbar(context: &Context, axis: Axis, nodes: u32, number: u32) -> Option<Box<dyn Switch>> {
    fn boxed<U: HxbCrossbarUnit + 'static>(context: &Context, axis: Axis, number: u32) -> Option<Box<dyn Switch>> {
        assert_eq!(U::AXIS as usize, axis as usize, "the crossbar's axis");
        let name = format!("{axis:?}_{number}").to_lowercase();
        Some(Box::new(Crossbar(U::named(context, &name))))
    }
    match (axis, nodes) {
        (Axis::X, 2) => boxed::<CppacsX2>(context, axis, number),
        (Axis::X, 4) => boxed::<CppacsX4>(context, axis, number),
        (Axis::X, 8) => boxed::<CppacsX8>(context, axis, number),
        (Axis::Y, 2) => boxed::<CppacsY2>(context, axis, number),
        (Axis::Y, 4) => boxed::<CppacsY4>(context, axis, number),
        (Axis::Y, 8) => boxed::<CppacsY8>(context, axis, number),
        (Axis::Z, 2) => boxed::<CppacsZ2>(context, axis, number),
        (Axis::Z, 4) => boxed::<CppacsZ4>(context, axis, number),
        (Axis::Z, 8) => boxed::<CppacsZ8>(context, axis, number),
        _ => None,
    }
}

/// A switch and its links.
struct Element {
    switch: Box<dyn Switch>,
    /// By port: what its link leads to, and to which port there; `None`: a node's processor, or nothing.
    to: Vec<Option<(usize, usize)>>,
    /// Inputs with a word, and outputs with credits, at the next edge.
    words: u64,
    credits: u64,
    /// What it showed when its links were carried last.
    shown: u64,
    returned: u64,
    awake: bool,
    ran: bool,
}

/// Bits of a mask, by number.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (mask != 0).then(|| mask.trailing_zeros() as usize);
        mask &= mask.wrapping_sub(1);
        at
    })
}

/// A mask of credits as one of ports that have any.
fn ports(credits: u64) -> impl Iterator<Item = usize> {
    let any = (credits | credits >> 1) & 0x5555_5555_5555_5555;
    bits(any).map(|at| at / 2)
}

/// Cycles from a word of a node to the other's, with nothing in its way: 4 of an exchanger, and 9 for each axis.
fn latency(from: Place, to: Place) -> u64 {
    let crossed = Axis::ALL.into_iter().filter(|&axis| from.along(axis) != to.along(axis));
    4 + 9 * crossed.count() as u64
}

pub struct Network {
    /// The exchangers, by node, then the crossbars.
    elements: Vec<Element>,
    nodes: usize,
    /// By node: the word that its exchanger shows it, and the credits that it gives back.
    outputs: Vec<Option<Word>>,
    returned: Vec<u64>,
    gated: bool,
}

impl Network {
    /// The network of a grid, reset. Exchangers have to be told their places.
    ///
    /// # Errors
    /// There is no crossbar for one of its lines.
    pub fn new(context: &Context, grid: Grid) -> Result<Network, NotBuilt> {
        let nodes = grid.nodes() as usize;
        let element = |switch: Box<dyn Switch>| Element {
            to: vec![None; switch.ports()],
            switch,
            words: 0,
            credits: 0,
            shown: 0,
            returned: 0,
            awake: true,
            ran: false,
        };
        let exchanger = |node| Exchanger(CppacsExchanger::named(context, &format!("exchanger_{node}")));
        let mut elements: Vec<Element> = (0..nodes).map(|node| element(Box::new(exchanger(node)))).collect();
        for axis in Axis::ALL {
            let line = grid.along(axis);
            let heads = grid.places().filter(|place| line > 1 && place.along(axis) == 0);
            for (number, head) in (0..).zip(heads) {
                let missing = || NotBuilt::Line { axis, nodes: line };
                let switch = crossbar(context, axis, line, number).ok_or_else(missing)?;
                let at = elements.len();
                elements.push(element(switch));
                for port in 0..line {
                    let node = grid.number(head.moved(axis, port)) as usize;
                    elements[at].to[port as usize] = Some((node, axis.port() as usize));
                    elements[node].to[axis.port() as usize] = Some((at, port as usize));
                }
            }
        }
        let mut network = Network {
            elements,
            nodes,
            outputs: vec![None; nodes],
            returned: vec![0; nodes],
            gated: true,
        };
        for reset in [true, false] {
            network
                .elements
                .iter()
                .for_each(|element| element.switch.set_reset(reset));
            (0..RESET).for_each(|_| network.edge());
        }
        Ok(network)
    }

    /// Evaluates all at every edge, or leaves out what rests.
    pub fn gate(&mut self, gated: bool) {
        self.gated = gated;
    }

    pub fn units(&self) -> impl Iterator<Item = &dyn Verilated> {
        self.elements.iter().map(|element| element.switch.unit())
    }

    /// Tells an exchanger its place, and the highest coordinates of the grid.
    pub fn place(&mut self, node: usize, at: Place, last: Place) {
        self.elements[node].switch.place(at, last);
        self.elements[node].awake = true;
    }

    /// The word that a node shows its exchanger at the next edge.
    #[inline]
    pub fn put(&mut self, node: usize, word: Word) {
        let element = &mut self.elements[node];
        element.switch.put(0, Some(word));
        (element.words, element.awake) = (element.words | 1, true);
    }

    /// The credits that a node gives its exchanger at the next edge.
    #[inline]
    pub fn credit(&mut self, node: usize, credits: u64) {
        let element = &mut self.elements[node];
        element.switch.credit(0, credits);
        (element.credits, element.awake) = (element.credits | credits, true);
    }

    /// The word that a node is shown.
    #[inline]
    pub fn output(&self, node: usize) -> Option<Word> {
        self.outputs[node]
    }

    /// The credits that a node gets back.
    #[inline]
    pub fn returned(&self, node: usize) -> u64 {
        self.returned[node]
    }

    /// Worms that the exchanger of a node has drained.
    #[inline]
    pub fn drained(&self, node: usize) -> u16 {
        self.elements[node].switch.drained()
    }

    /// The same of all exchangers and crossbars.
    pub fn drained_anywhere(&self) -> u32 {
        self.elements
            .iter()
            .map(|element| u32::from(element.switch.drained()))
            .sum()
    }

    /// The next edge may change something.
    pub fn is_busy(&self) -> bool {
        self.elements.iter().any(|element| element.awake)
    }

    /// An exchanger of a node, or one of a line, has words.
    pub fn is_carrying(&self) -> bool {
        self.elements.iter().any(|element| element.switch.is_busy())
    }

    pub fn edge(&mut self) {
        for element in &mut self.elements {
            element.ran = element.awake || !self.gated;
            if element.ran {
                element.switch.edge();
            }
        }
        for node in 0..self.nodes {
            let element = &mut self.elements[node];
            if element.words & 1 != 0 {
                element.switch.put(0, None);
                element.words &= !1;
            }
            if element.credits & 3 != 0 {
                element.switch.credit(0, 0);
                element.credits &= !3;
            }
        }
        for at in 0..self.elements.len() {
            if self.elements[at].ran {
                self.carry(at);
            }
        }
        for element in &mut self.elements {
            let shows = element.words | element.credits;
            element.awake = shows != 0 || element.ran && element.switch.is_busy();
        }
    }

    /// All nodes send worms of so many words at once, each to its place: the cycles that they wait for each other, and
    /// the cycles until the last one has come.
    ///
    /// # Panics
    /// A worm does not come.
    pub fn step(&mut self, grid: Grid, to: &[Option<Place>], words: u32) -> (u64, u64) {
        let mut places = vec![ROOM; self.nodes];
        let mut sent = vec![0; self.nodes];
        let (mut sources, mut stalled) = (vec![0; self.nodes], 0);
        let mut under_way = to.iter().flatten().count();
        for cycle in 0.. {
            assert!(cycle < 1000 * u64::from(words), "{under_way} worms do not come");
            if under_way == 0 {
                return (stalled, cycle);
            }
            for node in 0..self.nodes {
                places[node] += (self.returned[node] & 1) as u32;
                if let Some(word) = self.outputs[node] {
                    self.credit(node, 1);
                    if word.data >> 31 != 0 {
                        sources[node] = (word.data & 0xffff) as usize;
                    }
                    if word.last {
                        let (from, at) = (grid.place(sources[node] as u32), grid.place(node as u32));
                        stalled += cycle - (latency(from, at) + u64::from(words) - 1);
                        under_way -= 1;
                    }
                }
                if let Some(to) = to[node].filter(|_| sent[node] < words && places[node] > 0) {
                    let data = match sent[node] {
                        0 => to.word(),
                        1 => 1 << 31 | node as u32,
                        _ => 0,
                    };
                    sent[node] += 1;
                    places[node] -= 1;
                    let last = sent[node] == words;
                    self.put(node, Word { channel: 0, data, last });
                }
            }
            self.edge();
        }
        unreachable!("a cycle is the last")
    }

    /// Carries what an element shows its neighbours.
    #[inline]
    fn carry(&mut self, at: usize) {
        let element = &self.elements[at];
        let (shown, returned) = (element.switch.shown(), element.switch.returned());
        let (words, credits) = (shown | element.shown, returned | element.returned);
        for port in bits(words) {
            let is_shown = shown >> port & 1 != 0;
            let word = is_shown.then(|| self.elements[at].switch.word(port));
            match self.elements[at].to[port] {
                Some((to, input)) => {
                    let other = &mut self.elements[to];
                    other.switch.put(input, word);
                    other.words = other.words & !(1 << input) | u64::from(is_shown) << input;
                }
                None => self.outputs[at] = word,
            }
        }
        for port in ports(credits) {
            let credit = returned >> (2 * port) & 3;
            match self.elements[at].to[port] {
                Some((to, output)) => {
                    let other = &mut self.elements[to];
                    other.switch.credit(output, credit);
                    other.credits = other.credits & !(3 << (2 * output)) | credit << (2 * output);
                }
                None => self.returned[at] = credit,
            }
        }
        let element = &mut self.elements[at];
        (element.shown, element.returned) = (shown, returned);
    }
}
