//! The hyper-crossbar: nodes at the points of a grid, a crossbar for each line of nodes along an axis, an exchanger at
//! each node between its processor and its crossbars. The routing function that the golden switches, the timed model
//! and the dependency graph share.
//!
//! A worm crosses the axes in the order X, Y, Z, each at most once. So the port that it comes in by says what it has
//! crossed, and no worm waits for one that waits for it. With an axis in its mask it goes to all nodes of that line,
//! its own included. The way of (source, destination, channel) is fixed, so worms keep their order.

use std::fmt::{self, Display, Formatter};

/// Nodes along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// A node by its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// A port of an exchanger, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Port {
    Pu,
    X,
    Y,
    Z,
}

/// A virtual channel of every link, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    Data,
    Ack,
}

/// Where a crossbar lets a worm out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outputs {
    /// At no output: the worm is drained, and counted.
    Drained,
    /// At this position of the line.
    One(u32),
    /// At all of this many, the sender's own position included.
    All(u32),
}

/// The exchanger at a node lets a worm out by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    pub at: Place,
    pub port: Port,
}

/// The bits of a worm's first word that exchangers and crossbars look at.
pub mod route {
    /// Lowest bit of the coordinates, X first, and bits of each.
    pub const COORDINATES: [(u32, u32); 3] = [(0, 4), (4, 5), (9, 4)];
    /// Lowest bit of the mask: X, then Y and Z.
    pub const MASK: u32 = 13;
    pub const CHANNEL: u32 = 16;
}

impl Axis {
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// The exchangers' port to this axis' crossbar.
    pub fn port(self) -> Port {
        Port::ALL[self as usize + 1]
    }

    /// Whether a first word's mask has it.
    pub fn is_masked(self, f0: u32) -> bool {
        f0 >> (route::MASK + self as u32) & 1 != 0
    }

    fn of(self, f0: u32) -> u32 {
        let (shift, bits) = route::COORDINATES[self as usize];
        f0 >> shift & ((1 << bits) - 1)
    }
}

impl Port {
    pub const ALL: [Port; 4] = [Port::Pu, Port::X, Port::Y, Port::Z];

    /// The axis of its crossbar.
    pub fn axis(self) -> Option<Axis> {
        (self as usize).checked_sub(1).map(|axis| Axis::ALL[axis])
    }

    /// Whether a worm that comes in here has crossed this axis, or has passed it by.
    pub fn has_crossed(self, axis: Axis) -> bool {
        self >= axis.port()
    }
}

impl Channel {
    pub const ALL: [Channel; 2] = [Channel::Data, Channel::Ack];

    /// The channel that a first word names.
    pub fn of(f0: u32) -> Channel {
        Channel::ALL[(f0 >> route::CHANNEL & 1) as usize]
    }
}

impl Place {
    /// The destination in a first word.
    pub fn of(f0: u32) -> Place {
        let [x, y, z] = Axis::ALL.map(|axis| axis.of(f0));
        Place { x, y, z }
    }

    /// The same bits of a first word.
    pub fn word(self) -> u32 {
        let bits = |axis: Axis| self.along(axis) << route::COORDINATES[axis as usize].0;
        Axis::ALL.iter().map(|&axis| bits(axis)).sum()
    }

    pub fn along(self, axis: Axis) -> u32 {
        match axis {
            Axis::X => self.x,
            Axis::Y => self.y,
            Axis::Z => self.z,
        }
    }

    /// The node at this position of the line along an axis.
    pub fn moved(mut self, axis: Axis, to: u32) -> Place {
        match axis {
            Axis::X => self.x = to,
            Axis::Y => self.y = to,
            Axis::Z => self.z = to,
        }
        self
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

impl Grid {
    pub fn along(self, axis: Axis) -> u32 {
        let Grid { x, y, z } = self;
        Place { x, y, z }.along(axis)
    }

    pub fn nodes(self) -> u32 {
        self.x * self.y * self.z
    }

    /// The node of this number; X counts fastest.
    pub fn place(self, node: u32) -> Place {
        Place {
            x: node % self.x,
            y: node / self.x % self.y,
            z: node / self.x / self.y,
        }
    }

    /// The number of a node.
    pub fn number(self, place: Place) -> u32 {
        (place.z * self.y + place.y) * self.x + place.x
    }

    pub fn places(self) -> impl Iterator<Item = Place> {
        (0..self.nodes()).map(move |node| self.place(node))
    }

    pub fn has(self, place: Place) -> bool {
        Axis::ALL.iter().all(|&axis| place.along(axis) < self.along(axis))
    }

    /// Crossbars along an axis. A line of one node has none.
    pub fn crossbars(self, axis: Axis) -> u32 {
        match self.along(axis) {
            1 => 0,
            nodes => self.nodes() / nodes,
        }
    }
}

/// Where the exchanger at a node lets out a worm that came in by `from`; `None`: it drains and counts it.
pub fn turn(grid: Grid, at: Place, from: Port, f0: u32) -> Option<Port> {
    let is_reached = |axis: Axis| axis.of(f0) == at.along(axis);
    let is_lost = |axis: &Axis| from.has_crossed(*axis) && !axis.is_masked(f0) && !is_reached(*axis);
    if has_wrong_mask(f0) || Axis::ALL.iter().any(is_lost) {
        return None;
    }
    let is_wanted =
        |axis: Axis| !from.has_crossed(axis) && grid.along(axis) > 1 && (axis.is_masked(f0) || !is_reached(axis));
    let next = Axis::ALL.into_iter().find(|&axis| is_wanted(axis));
    Some(next.map_or(Port::Pu, Axis::port))
}

/// Where a crossbar of an axis lets a worm out.
pub fn outputs(grid: Grid, axis: Axis, f0: u32) -> Outputs {
    let line = grid.along(axis);
    match axis.of(f0) {
        _ if has_wrong_mask(f0) => Outputs::Drained,
        _ if axis.is_masked(f0) => Outputs::All(line),
        to if to < line => Outputs::One(to),
        _ => Outputs::Drained,
    }
}

/// The acknowledge channel has no broadcasts.
fn has_wrong_mask(f0: u32) -> bool {
    Channel::of(f0) == Channel::Ack && Axis::ALL.iter().any(|axis| axis.is_masked(f0))
}

/// The way of a worm to one node: the exchangers that it passes. The last lets it out to the processor.
///
/// # Panics
/// One of the places is outside the grid.
pub fn path(grid: Grid, from: Place, to: Place) -> Vec<Hop> {
    assert!(grid.has(from) && grid.has(to), "{from} to {to} in {grid:?}");
    let (mut at, mut came, mut hops) = (from, Port::Pu, Vec::new());
    loop {
        let port = turn(grid, at, came, to.word()).expect("a place of the grid has a way");
        hops.push(Hop { at, port });
        let Some(axis) = port.axis() else { return hops };
        (at, came) = (at.moved(axis, to.along(axis)), port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Grid = Grid { x: 8, y: 17, z: 8 };

    #[test]
    fn numbers_and_words_name_places() {
        for node in 0..PAPER.nodes() {
            let place = PAPER.place(node);
            assert!(PAPER.has(place));
            assert_eq!((PAPER.number(place), Place::of(place.word())), (node, place));
        }
        assert!(!PAPER.has(Place { x: 0, y: 17, z: 0 }));
        assert_eq!(Place { x: 15, y: 31, z: 15 }.word(), 0x1fff);
    }

    #[test]
    fn the_papers_counts() {
        assert_eq!(Axis::ALL.map(|axis| PAPER.crossbars(axis)), [136, 64, 136]);
        assert_eq!((PAPER.nodes(), Grid { x: 4, y: 1, z: 1 }.crossbars(Axis::Y)), (1088, 0));
    }

    #[test]
    fn each_axis_is_crossed_once_in_order() {
        let grid = Grid { x: 3, y: 4, z: 2 };
        for (from, to) in grid.places().flat_map(|from| grid.places().map(move |to| (from, to))) {
            let hops = path(grid, from, to);
            let differing = Axis::ALL.iter().filter(|&&axis| from.along(axis) != to.along(axis));
            let mut expected: Vec<Port> = differing.map(|axis| axis.port()).collect();
            expected.push(Port::Pu);
            let ports: Vec<Port> = hops.iter().map(|hop| hop.port).collect();
            assert_eq!((ports, hops.last().expect("a hop").at), (expected, to));
        }
    }

    /// Every node that a worm reaches.
    fn reached(grid: Grid, at: Place, came: Port, f0: u32) -> Vec<Place> {
        match turn(grid, at, came, f0) {
            None => vec![],
            Some(Port::Pu) => vec![at],
            Some(port) => {
                let axis = port.axis().expect("an axis");
                let out: Vec<u32> = match outputs(grid, axis, f0) {
                    Outputs::Drained => vec![],
                    Outputs::One(to) => vec![to],
                    Outputs::All(line) => (0..line).collect(),
                };
                let on = |to| reached(grid, at.moved(axis, to), port, f0);
                out.into_iter().flat_map(on).collect()
            }
        }
    }

    #[test]
    fn a_broadcast_reaches_each_node_once() {
        for grid in [Grid { x: 2, y: 3, z: 4 }, Grid { x: 2, y: 1, z: 3 }] {
            for (from, mask) in grid.places().flat_map(|from| (0..8u32).map(move |mask| (from, mask))) {
                let to = grid.place(1);
                let mut all = reached(grid, from, Port::Pu, to.word() | mask << route::MASK);
                all.sort_by_key(|&place| grid.number(place));
                let is_meant = |place: &Place| {
                    Axis::ALL
                        .iter()
                        .all(|&axis| mask >> axis as u32 & 1 != 0 || place.along(axis) == to.along(axis))
                };
                assert_eq!(all, grid.places().filter(is_meant).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_drained() {
        let grid = Grid { x: 2, y: 2, z: 1 };
        let at = Place { x: 1, y: 0, z: 0 };
        let lost = Place { x: 0, y: 1, z: 0 }.word();
        assert_eq!(turn(grid, at, Port::X, lost), None);
        assert_eq!(turn(grid, at, Port::Y, lost | 1 << route::MASK), None);
        assert_eq!(turn(grid, at, Port::X, lost | 1 << route::MASK), Some(Port::Y));
        assert_eq!(outputs(grid, Axis::X, 2), Outputs::Drained);
        let ack = 1 << route::CHANNEL | 1 << route::MASK;
        assert_eq!(
            (turn(grid, at, Port::Pu, ack), outputs(grid, Axis::X, ack)),
            (None, Outputs::Drained)
        );
        // An axis of one node is not crossed; the receiver refuses the place.
        assert_eq!(turn(grid, at, Port::Pu, Place { z: 1, ..at }.word()), Some(Port::Pu));
    }
}
