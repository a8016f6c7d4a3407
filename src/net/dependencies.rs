//! Who waits for whom: the resources of a network, and the proof that no packets can wait for each other in a circle.
//!
//! A packet that has come in asks for *holds* of the channels it goes out by, in their order, and keeps each until its
//! last word is through it; each of its words needs *room* beyond all of them. So whoever waits for a channel's hold
//! waits for whatever its holder may wait for, and room in a buffer comes when the packet at its head goes on. With one
//! way on from each router this is the channel-dependency graph of Dally and Seitz; with several (copies of a
//! broadcast) it says what a channel's name alone does not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use crate::net::hyper::{self, Axis, Grid, Outputs, Place, route};
use crate::net::topology::{Omega, SwitchAt};
use crate::net::torus::{Cell, Class, Header, Port, Torus, Way};

/// What something can wait for in a network with channels `C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource<C> {
    /// That a channel's holder lets go of it.
    Hold(C),
    /// Room for a word in the buffer beyond a channel.
    Room(C),
    /// That no other broadcast has the crossbar, of which a channel is the first way out.
    Broadcast(C),
    /// Room in the queue of replies of the cell of this number.
    Replies(usize),
    /// The memory of the cell of this number: what arrives is written there, and queues spill to it.
    Memory(usize),
}

/// Edges from what waits to what it waits for.
#[derive(Clone, Debug)]
pub struct Dependencies<R>(BTreeMap<R, BTreeSet<R>>);

/// Resources of which each waits for the next, and the last for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle<R>(pub Vec<R>);

impl<R: Display> Display for Cycle<R> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for resource in &self.0 {
            write!(f, "{resource}\n  waits for ")?;
        }
        self.0.first().map_or(Ok(()), |first| first.fmt(f))
    }
}

impl<R: Display + std::fmt::Debug> std::error::Error for Cycle<R> {}

impl<C: Display> Display for Resource<C> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Resource::Hold(channel) => write!(f, "the hold of {channel}"),
            Resource::Room(channel) => write!(f, "room beyond {channel}"),
            Resource::Broadcast(channel) => write!(f, "the broadcasts by {channel}"),
            Resource::Replies(cell) => write!(f, "the reply queue of cell {cell}"),
            Resource::Memory(cell) => write!(f, "the memory of cell {cell}"),
        }
    }
}

impl<R> Default for Dependencies<R> {
    fn default() -> Dependencies<R> {
        Dependencies(BTreeMap::new())
    }
}

impl<R: Copy + Ord> Dependencies<R> {
    pub fn wait(&mut self, waits: R, on: R) {
        self.0.entry(waits).or_default().insert(on);
    }

    /// Pairs of what waits and what it waits for.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A circle of resources, if there is one.
    pub fn acyclic(&self) -> Result<(), Cycle<R>> {
        let mut left = BTreeSet::new();
        for start in self.0.keys() {
            // What the search came by, and what each has not looked at yet.
            let mut path = vec![*start];
            let mut on_path = BTreeSet::from([*start]);
            let mut open = vec![self.after(start)];
            while let Some(next) = open.last_mut() {
                match next.next() {
                    Some(next) if on_path.contains(next) => {
                        let at = path.iter().position(|r| r == next).expect("it is on the path");
                        return Err(Cycle(path.split_off(at)));
                    }
                    Some(next) if left.contains(next) => {}
                    Some(next) => {
                        path.push(*next);
                        on_path.insert(*next);
                        open.push(self.after(next));
                    }
                    None => {
                        let done = path.pop().expect("as long as what is open");
                        on_path.remove(&done);
                        left.insert(done);
                        open.pop();
                    }
                }
            }
        }
        Ok(())
    }

    fn after(&self, resource: &R) -> std::vec::IntoIter<&R> {
        self.0.get(resource).map(Vec::from_iter).unwrap_or_default().into_iter()
    }
}

impl<C: Copy + Ord> Dependencies<Resource<C>> {
    /// A packet that stands beyond channel `from` goes on by `ways`, whose holds it takes in this order. The words
    /// behind its first come only as they go `behind`, too; the holds of those marked it may not have yet.
    fn goes_on(&mut self, from: Resource<C>, ways: &[C], behind: &[(C, bool)]) {
        for (i, way) in ways.iter().enumerate() {
            let hold = Resource::Hold(*way);
            self.wait(from, hold);
            self.wait(from, Resource::Room(*way));
            for later in &ways[i + 1..] {
                self.wait(hold, Resource::Hold(*later));
            }
            for any in ways.iter().chain(behind.iter().map(|(other, _)| other)) {
                self.wait(hold, Resource::Room(*any));
            }
            for (other, _) in behind.iter().filter(|(_, later)| *later) {
                self.wait(hold, Resource::Hold(*other));
            }
        }
    }
}

/// A virtual channel of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TorusChannel {
    pub at: Cell,
    /// `None`: from the cell into its router.
    pub way: Option<Way>,
    pub class: Class,
}

impl Display for TorusChannel {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let TorusChannel { at, way, class } = self;
        match way {
            None => write!(f, "{at} into the network, {class:?}"),
            Some(Way { port: Port::Local, .. }) => write!(f, "{at} out of the network, {class:?}"),
            Some(Way { port, lane }) => write!(f, "{at} {port} lane {lane}, {class:?}"),
        }
    }
}

/// How cells with a message controller use a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Class of what answers a request.
    pub reply: Class,
    /// A router sends a broadcast's words on before it gives them to its cell.
    pub cell_last: bool,
    /// A cell's memory is held while what it sends waits for the network.
    pub memory_held_by_sending: bool,
    /// In its cell a reply stands behind requests on their way into the network: in one queue with them, or at one
    /// output.
    pub replies_behind_requests: bool,
}

impl Protocol {
    /// The rule: replies have their own class, and memory is only asked for what there is room for.
    pub const SOUND: Protocol = Protocol {
        reply: Class::Reply,
        cell_last: false,
        memory_held_by_sending: false,
        replies_behind_requests: false,
    };
}

/// All dependencies of a torus, of requests that are answered from their cell's reply queue, and of replies and spilt
/// commands that go to memory. `fold` maps each channel to the one that it is in a network with fewer.
pub fn of_torus(
    torus: Torus,
    protocol: Protocol,
    fold: impl Fn(TorusChannel) -> TorusChannel,
) -> Dependencies<Resource<TorusChannel>> {
    let mut all = Dependencies::default();
    let cells = || (0..torus.cells()).map(|n| torus.cell(n));
    let one = |class| {
        // A cell beyond each end stands for all that are not there.
        let (xs, ys) = (0..=torus.x().min(255), 0..=torus.y().min(255));
        let to = xs.flat_map(move |x| ys.clone().map(move |y| Header::to(Cell { x, y }, class)));
        let columns = (0..=torus.x().min(255)).map(Header::column);
        to.chain(
            columns
                .chain([Header::row()])
                .map(move |header| Header { class, ..header }),
        )
    };
    for (from, class) in cells().flat_map(|cell| Class::ALL.map(|class| (cell, class))) {
        for header in one(class) {
            torus.walk(from, header, |hop| {
                let at = hop.at;
                let channel = |at, way| fold(TorusChannel { at, way, class });
                let before = match torus.link(at, hop.from) {
                    None => channel(at, None),
                    Some((at, port)) => channel(at, Some(Way { port, lane: hop.lane })),
                };
                let mut ways: Vec<_> = hop.ways.iter().map(|way| channel(at, Some(*way))).collect();
                if protocol.cell_last {
                    ways.reverse();
                }
                let other = |(at, way, later): &(_, _, _)| (channel(*at, Some(*way)), *later != protocol.cell_last);
                let behind: Vec<_> = hop.behind.iter().map(other).collect();
                all.goes_on(Resource::Room(before), &ways, &behind);
            });
        }
    }
    for (number, at) in cells().enumerate() {
        let eject = |class| {
            let way = Some(Way {
                port: Port::Local,
                lane: 0,
            });
            Resource::Room(fold(TorusChannel { at, way, class }))
        };
        let answer = fold(TorusChannel {
            at,
            way: None,
            class: protocol.reply,
        });
        let (replies, memory) = (Resource::Replies(number), Resource::Memory(number));
        all.wait(eject(Class::Request), replies);
        all.wait(eject(Class::Request), memory);
        all.wait(eject(Class::Reply), memory);
        all.wait(replies, memory);
        all.goes_on(replies, &[answer], &[]);
        if protocol.replies_behind_requests {
            let request = fold(TorusChannel {
                at,
                way: None,
                class: Class::Request,
            });
            all.goes_on(replies, &[request], &[]);
        }
        if protocol.memory_held_by_sending {
            all.wait(memory, Resource::Room(answer));
        }
    }
    all
}

/// A channel of an omega network: an input of the network, or an output of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OmegaChannel {
    In(usize),
    Out(SwitchAt, usize),
}

impl Display for OmegaChannel {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            OmegaChannel::In(port) => write!(f, "input {port}"),
            OmegaChannel::Out(SwitchAt { stage, row }, output) => write!(f, "stage {stage} row {row} output {output}"),
        }
    }
}

/// All dependencies of an omega network; of one stage, of a crossbar.
pub fn of_omega(shape: Omega) -> Dependencies<Resource<OmegaChannel>> {
    let mut all = Dependencies::default();
    for (from, to) in (0..shape.ports()).flat_map(|from| (0..shape.ports()).map(move |to| (from, to))) {
        let mut before = OmegaChannel::In(from);
        for step in shape.path(from, to) {
            let way = OmegaChannel::Out(step.switch, step.output);
            all.goes_on(Resource::Room(before), &[way], &[]);
            before = way;
        }
    }
    all
}

/// A channel of crossbars with multicast that stand in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LineChannel {
    In { switch: usize, port: usize },
    Out { switch: usize, port: usize },
    Link { from: usize, to: usize },
}

impl Display for LineChannel {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            LineChannel::In { switch, port } => write!(f, "switch {switch} input {port}"),
            LineChannel::Out { switch, port } => write!(f, "switch {switch} output {port}"),
            LineChannel::Link { from, to } => write!(f, "the link from switch {from} to {to}"),
        }
    }
}

/// How a crossbar sends the copies of a multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// From a buffer that holds the whole of it, one packet after the other. Several go at once only where there is
    /// room for all their words, so none waits for another.
    Apart,
    /// Word by word to all outputs, which are acquired in their order.
    Together,
}

/// All dependencies of this number of crossbars, each with `ports` for nodes and a link to each neighbour; of one, of a
/// crossbar alone. A packet goes to any nodes, never back over the link that it comes from.
pub fn of_line(switches: usize, ports: usize, copies: Copies) -> Dependencies<Resource<LineChannel>> {
    let mut all = Dependencies::default();
    for switch in 0..switches {
        let neighbours = [switch.checked_sub(1), Some(switch + 1).filter(|to| *to < switches)];
        let neighbours = || neighbours.into_iter().flatten();
        let nodes = (0..ports).map(|port| (LineChannel::In { switch, port }, None));
        let links = neighbours().map(|from| (LineChannel::Link { from, to: switch }, Some(from)));
        for (before, from) in nodes.chain(links) {
            let onward = neighbours().filter(|to| Some(*to) != from);
            let links = onward.map(|to| LineChannel::Link { from: switch, to });
            let outs = (0..ports).map(|port| LineChannel::Out { switch, port });
            let ways: Vec<_> = outs.chain(links).collect();
            let at_once = if copies == Copies::Apart { 1 } else { ways.len() };
            for ways in ways.chunks(at_once) {
                all.goes_on(Resource::Room(before), ways, &[]);
            }
        }
    }
    all
}

/// A link of a hyper-crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HyperLink {
    /// Between a node's processor and its exchanger.
    In(Place),
    Out(Place),
    /// Between a node's exchanger and the crossbar of its line along an axis.
    Up(Place, Axis),
    Down(Place, Axis),
}

/// A virtual channel of a hyper-crossbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HyperChannel {
    pub link: HyperLink,
    pub channel: hyper::Channel,
}

impl Display for HyperChannel {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let channel = self.channel;
        match self.link {
            HyperLink::In(at) => write!(f, "{at} into the network, {channel:?}"),
            HyperLink::Out(at) => write!(f, "{at} out of the network, {channel:?}"),
            HyperLink::Up(at, axis) => write!(f, "{at} to its crossbar along {axis:?}, {channel:?}"),
            HyperLink::Down(at, axis) => write!(f, "{at} from its crossbar along {axis:?}, {channel:?}"),
        }
    }
}

/// How a crossbar sends a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcasts {
    /// It begins where all outputs have room for the whole of it, so it never waits. Until then it holds nothing, but
    /// no other worm begins.
    Whole,
    /// Word by word, each where all outputs have room for it.
    WordByWord,
}

/// All dependencies of a hyper-crossbar, from its routing function at each node for each input, mask and side on which
/// a destination can lie. Worms of the acknowledge channel may ask for answers, which go by the data channel.
pub fn of_hyper(grid: Grid, broadcasts: Broadcasts) -> Dependencies<Resource<HyperChannel>> {
    let mut all = Dependencies::default();
    for (at, channel) in grid
        .places()
        .flat_map(|at| hyper::Channel::ALL.map(|channel| (at, channel)))
    {
        let heads = |port| sides(grid, at, channel).map(move |f0| (port, f0));
        for (port, f0) in hyper::Port::ALL.into_iter().flat_map(heads) {
            let before = port.axis().map_or(HyperLink::In(at), |axis| HyperLink::Down(at, axis));
            if let Some(to) = hyper::turn(grid, at, port, f0) {
                let way = to.axis().map_or(HyperLink::Out(at), |axis| HyperLink::Up(at, axis));
                let [before, way] = [before, way].map(|link| HyperChannel { link, channel });
                let crossed = |axis| port.has_crossed(axis);
                let behind = behind(grid, (at, channel), f0, crossed, broadcasts);
                all.goes_on(Resource::Room(before), &[way], &behind);
            }
        }
        for axis in Axis::ALL.into_iter().filter(|&axis| grid.along(axis) > 1) {
            crosses(&mut all, grid, (at, axis, channel), broadcasts);
        }
    }
    for (number, at) in grid.places().enumerate() {
        let channel = |link, channel| HyperChannel { link, channel };
        let (replies, memory) = (Resource::Replies(number), Resource::Memory(number));
        for arrives in hyper::Channel::ALL {
            all.wait(Resource::Room(channel(HyperLink::Out(at), arrives)), memory);
        }
        all.wait(
            Resource::Room(channel(HyperLink::Out(at), hyper::Channel::Ack)),
            replies,
        );
        all.wait(replies, memory);
        all.goes_on(replies, &[channel(HyperLink::In(at), hyper::Channel::Data)], &[]);
    }
    all
}

/// First words for each mask, and for each axis the node's own coordinate, another one, and one that the grid has not.
fn sides(grid: Grid, at: Place, channel: hyper::Channel) -> impl Iterator<Item = u32> {
    let side = move |to: Place, axis: Axis, side: u32| {
        let (own, line) = (at.along(axis), grid.along(axis));
        to.moved(axis, [own, (own + 1) % line, line][side as usize])
    };
    // A coordinate of 16 does not fit into four bits.
    let fits = |to: &Place| Place::of(to.word()) == *to;
    let places = (0..27).map(move |n| {
        let sides = [n % 3, n / 3 % 3, n / 9];
        Axis::ALL
            .into_iter()
            .zip(sides)
            .fold(at, |to, (axis, n)| side(to, axis, n))
    });
    let masks = move |to: Place| (0..8).map(move |mask| to.word() | mask << route::MASK);
    let word = move |f0: u32| f0 | (channel as u32) << route::CHANNEL;
    places.filter(fits).flat_map(masks).map(word)
}

/// The other copies of a worm that has crossed these axes on its way to a node. Word by word, its words come only as
/// there is room for all.
fn behind(
    grid: Grid,
    (at, channel): (Place, hyper::Channel),
    f0: u32,
    crossed: impl Fn(Axis) -> bool,
    broadcasts: Broadcasts,
) -> Vec<(HyperChannel, bool)> {
    let is_copied = |axis: &Axis| broadcasts == Broadcasts::WordByWord && axis.is_masked(f0) && crossed(*axis);
    let copies = Axis::ALL.into_iter().filter(is_copied).flat_map(|axis| {
        let others = (0..grid.along(axis)).filter(move |&to| to != at.along(axis));
        others.map(move |to| HyperLink::Down(at.moved(axis, to), axis))
    });
    copies.map(|link| (HyperChannel { link, channel }, false)).collect()
}

/// The dependencies of worms that come from a node to the crossbar along an axis.
fn crosses(
    all: &mut Dependencies<Resource<HyperChannel>>,
    grid: Grid,
    (at, axis, channel): (Place, Axis, hyper::Channel),
    broadcasts: Broadcasts,
) {
    let way = |to| HyperChannel {
        link: HyperLink::Down(at.moved(axis, to), axis),
        channel,
    };
    let link = HyperLink::Up(at, axis);
    let before = Resource::Room(HyperChannel { link, channel });
    let crossbar = Resource::Broadcast(way(0));
    let to = |to| at.moved(axis, to).word() | (channel as u32) << route::CHANNEL;
    let masks = (0..8).map(|mask| to(at.along(axis)) | mask << route::MASK);
    for f0 in (0..=grid.along(axis)).map(to).chain(masks) {
        match hyper::outputs(grid, axis, f0) {
            Outputs::Drained => {}
            Outputs::One(to) => {
                all.wait(before, crossbar);
                all.goes_on(before, &[way(to)], &[]);
            }
            Outputs::All(line) => {
                all.wait(before, crossbar);
                let ways: Vec<_> = (0..line).map(way).collect();
                match broadcasts {
                    Broadcasts::Whole => ways.iter().for_each(|way| all.goes_on(crossbar, &[*way], &[])),
                    Broadcasts::WordByWord => {
                        let crossed = |other| other < axis;
                        let behind = behind(grid, (at, channel), f0, crossed, broadcasts);
                        all.goes_on(before, &ways, &behind);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::torus::tests::SHAPES;

    fn torus(x: usize, y: usize, protocol: Protocol) -> Result<(), Cycle<Resource<TorusChannel>>> {
        of_torus(Torus::new(x, y), protocol, |channel| channel).acyclic()
    }

    #[test]
    fn no_shipped_topology_has_a_cycle() {
        for (x, y) in SHAPES {
            torus(x, y, Protocol::SOUND).unwrap_or_else(|cycle| panic!("{x} x {y}:\n{cycle}"));
        }
        for (radix, stages) in [(2, 1), (4, 1), (8, 1), (2, 3), (3, 2), (4, 2), (4, 3), (4, 4)] {
            let all = of_omega(Omega::new(radix, stages));
            all.acyclic()
                .unwrap_or_else(|cycle| panic!("{radix} to the {stages}:\n{cycle}"));
        }
    }

    #[test]
    fn copies_apart_wait_in_no_circle() {
        for (switches, ports) in [(1, 8), (1, 16), (2, 7), (3, 6)] {
            let all = of_line(switches, ports, Copies::Apart);
            all.acyclic()
                .unwrap_or_else(|cycle| panic!("{switches} of {ports}:\n{cycle}"));
        }
    }

    /// In one switch the order of its outputs is enough; over a link and back it is not.
    #[test]
    fn copies_together_are_rejected() {
        assert_eq!(of_line(1, 8, Copies::Together).acyclic(), Ok(()));
        rejected(
            &of_line(2, 7, Copies::Together),
            &["the hold of switch 0 output", "room beyond the link from switch 0 to 1"],
        );
    }

    fn hyper(x: u32, y: u32, z: u32, broadcasts: Broadcasts) -> Dependencies<Resource<HyperChannel>> {
        of_hyper(Grid { x, y, z }, broadcasts)
    }

    #[test]
    fn no_hyper_crossbar_has_a_cycle() {
        let small = (0..64).map(|n| (n % 4 + 1, n / 4 % 4 + 1, n / 16 + 1));
        for (x, y, z) in small.chain([(8, 17, 8), (8, 17, 16)]) {
            let all = hyper(x, y, z, Broadcasts::Whole).acyclic();
            all.unwrap_or_else(|cycle| panic!("{x} x {y} x {z}:\n{cycle}"));
        }
    }

    /// A copy waits for room of another, and that for a hold.
    #[test]
    fn broadcasts_word_by_word_are_rejected() {
        rejected(
            &hyper(2, 2, 1, Broadcasts::WordByWord),
            &["the hold of", "room beyond", "from its crossbar along"],
        );
    }

    /// Each hop of the printed circle is a dependency, and the last leads back.
    fn rejected<C: Copy + Ord + Display + std::fmt::Debug>(all: &Dependencies<Resource<C>>, says: &[&str]) {
        let cycle = all.acyclic().expect_err("a cycle was planted");
        let hops = &cycle.0;
        for (i, hop) in hops.iter().enumerate() {
            assert!(all.0[hop].contains(&hops[(i + 1) % hops.len()]), "{cycle}");
        }
        let text = cycle.to_string();
        assert_eq!(text.lines().count(), hops.len() + 1, "{text}");
        for word in says {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    /// Without a second lane the rings are rings.
    #[test]
    fn one_lane_is_rejected_hop_by_hop() {
        let one_lane = |mut channel: TorusChannel| {
            if let Some(way) = &mut channel.way {
                way.lane = 0;
            }
            channel
        };
        let all = of_torus(Torus::new(4, 1), Protocol::SOUND, one_lane);
        rejected(&all, &["(0, 0) +X", "(1, 0) +X", "(2, 0) +X", "(3, 0) +X"]);
    }

    #[test]
    fn replies_among_requests_are_rejected() {
        let reply = Class::Request;
        let all = of_torus(
            Torus::new(2, 2),
            Protocol {
                reply,
                ..Protocol::SOUND
            },
            |c| c,
        );
        rejected(
            &all,
            &[
                "the reply queue of cell",
                "into the network, Request",
                "out of the network, Request",
            ],
        );
    }

    /// One class for both is the same mistake in the router.
    #[test]
    fn one_class_is_rejected() {
        let fold = |channel| TorusChannel {
            class: Class::Request,
            ..channel
        };
        rejected(
            &of_torus(Torus::new(4, 4), Protocol::SOUND, fold),
            &["the reply queue of cell"],
        );
    }

    /// A broadcast that has gone on holds channels that others need before they leave the cell free.
    #[test]
    fn the_cell_after_the_link_is_rejected() {
        let protocol = Protocol {
            cell_last: true,
            ..Protocol::SOUND
        };
        let all = of_torus(Torus::new(4, 4), protocol, |c| c);
        rejected(&all, &["the hold of", "out of the network, Request"]);
    }

    #[test]
    fn replies_behind_requests_are_rejected() {
        let protocol = Protocol {
            replies_behind_requests: true,
            ..Protocol::SOUND
        };
        let all = of_torus(Torus::new(2, 1), protocol, |c| c);
        rejected(
            &all,
            &[
                "the reply queue of cell 0",
                "(0, 0) into the network, Request",
                "(0, 0) out of the network, Request",
            ],
        );
    }

    #[test]
    fn a_memory_that_waits_for_the_network_is_rejected() {
        let protocol = Protocol {
            memory_held_by_sending: true,
            ..Protocol::SOUND
        };
        let all = of_torus(Torus::new(2, 2), protocol, |c| c);
        rejected(&all, &["the memory of cell", "into the network, Reply"]);
    }
}
