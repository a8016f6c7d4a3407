//! 2-D tori: cells and their links, the word that carries a packet's way, and the routing function that the golden
//! router, the golden network and the dependency graph share.
//!
//! Dimension order, X before Y, in the shorter direction, towards + where both are equally short. Each link has two
//! lanes for each of two classes of messages. A packet is on lane 0 as long as it still has to cross the link between a
//! ring's last cell and cell 0, and on lane 1 otherwise (Dally and Seitz), so lane and direction follow from place and
//! destination.
//!
//! Broadcasts sweep a ring in + direction on lane 1, from cell 0 to the last, and leave a copy at each cell they pass;
//! to reach cell 0 they go in + direction on lane 0, round the ring if they start there. To the ring of another column
//! they go along X first, as a packet for one cell does. So a cell that holds up a sweep's copy holds up nothing but
//! cells of higher X, or of higher Y in its column: why there is no deadlock (`docs/machines/torus.md`). No router
//! sends a word to two links; a broadcast to all is a packet for each column.

use std::fmt::{self, Display, Formatter};

/// A torus's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torus {
    x: usize,
    y: usize,
}

/// A cell by its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    pub x: usize,
    pub y: usize,
}

/// A port of a router: its own cell's, or the one to the next cell in a direction. What comes in at `XPlus` moves in -
/// direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Port {
    Local,
    XPlus,
    XMinus,
    YPlus,
    YMinus,
}

/// Who gets a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cast {
    /// The cell that is named.
    One,
    /// Each cell of the sender's row, the sender included.
    X,
    /// Each cell of the column that is named; of the sender's, the sender included.
    Y,
    /// Drained.
    Nobody,
}

/// Replies and acknowledges never wait for requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Request,
    Reply,
}

/// What a packet's first word says in its low bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Of the destination; of a column's, `x` alone, and of a row's neither. A packet to its own cell is drained; a
    /// coordinate that the torus does not have leads to the end of its ring and is drained there.
    pub x: u8,
    pub y: u8,
    pub cast: Cast,
    pub class: Class,
}

/// A way on from a router: port and lane. The class stays a packet's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    pub port: Port,
    pub lane: usize,
}

/// Virtual channels a link.
pub const VCS: usize = 4;

impl Port {
    /// In the order of the router's ports.
    pub const ALL: [Port; 5] = [Port::Local, Port::XPlus, Port::XMinus, Port::YPlus, Port::YMinus];
}

impl Class {
    pub const ALL: [Class; 2] = [Class::Request, Class::Reply];

    /// The virtual channel of a lane, 0 to 3.
    pub fn vc(self, lane: usize) -> usize {
        self as usize * 2 + lane
    }
}

impl Cast {
    pub const ALL: [Cast; 4] = [Cast::One, Cast::X, Cast::Y, Cast::Nobody];
}

impl Header {
    /// Bits of a first word that are the network's.
    pub const BITS: usize = 19;

    /// For one cell.
    pub fn to(cell: Cell, class: Class) -> Header {
        let (x, y) = (cell.x as u8, cell.y as u8);
        let cast = Cast::One;
        Header { x, y, cast, class }
    }

    /// For the sender's row: a request, always.
    pub fn row() -> Header {
        let cast = Cast::X;
        Header {
            cast,
            ..Header::column(0)
        }
    }

    /// For column `x`: a request, always.
    pub fn column(x: usize) -> Header {
        let (x, y, cast, class) = (x as u8, 0, Cast::Y, Class::Request);
        Header { x, y, cast, class }
    }

    /// The low 19 bits of a first word.
    pub fn word(self) -> u64 {
        u64::from(self.x) | u64::from(self.y) << 8 | (self.cast as u64) << 16 | (self.class as u64) << 18
    }

    /// What a first word says.
    pub fn of(word: u64) -> Header {
        Header {
            x: word as u8,
            y: (word >> 8) as u8,
            cast: Cast::ALL[(word >> 16) as usize & 3],
            class: Class::ALL[(word >> 18) as usize & 1],
        }
    }
}

impl Torus {
    /// `x` cells a row, `y` a column; 1 to 256 each.
    pub fn new(x: usize, y: usize) -> Torus {
        let may = 1..=256;
        assert!(
            may.contains(&x) && may.contains(&y),
            "a torus of {x} x {y}: 1 to 256 cells each way"
        );
        Torus { x, y }
    }

    /// Cells a row.
    pub fn x(self) -> usize {
        self.x
    }

    /// Cells a column.
    pub fn y(self) -> usize {
        self.y
    }

    pub fn cells(self) -> usize {
        self.x * self.y
    }

    /// Cell `number` of so many: row after row.
    pub fn cell(self, number: usize) -> Cell {
        let (x, y) = (number % self.x, number / self.x);
        Cell { x, y }
    }

    pub fn number(self, cell: Cell) -> usize {
        cell.y * self.x + cell.x
    }

    /// The other end of the link at `port`: the cell and its port. `None` for `Local`.
    pub fn link(self, at: Cell, port: Port) -> Option<(Cell, Port)> {
        let Cell { x, y } = at;
        let (up, down) = (|i: usize, n: usize| (i + 1) % n, |i: usize, n: usize| (i + n - 1) % n);
        Some(match port {
            Port::Local => return None,
            Port::XPlus => (Cell { x: up(x, self.x), y }, Port::XMinus),
            Port::XMinus => (Cell { x: down(x, self.x), y }, Port::XPlus),
            Port::YPlus => (Cell { x, y: up(y, self.y) }, Port::YMinus),
            Port::YMinus => (Cell { x, y: down(y, self.y) }, Port::YPlus),
        })
    }

    /// Where the router of `at` sends a packet that came in by `from` on virtual channel `vc`, in the order in which it
    /// does so. None: the packet is drained.
    pub fn route(self, at: Cell, from: Port, vc: usize, header: Header) -> Vec<Way> {
        let lane = vc % 2;
        let here_x = usize::from(header.x) == at.x;
        let astray = match (from, header.cast) {
            (_, Cast::Nobody) => true,
            (Port::YPlus | Port::YMinus, Cast::One) => !here_x,
            // Sweeps move in + direction.
            (Port::XPlus | Port::YPlus | Port::YMinus, Cast::X) => true,
            (Port::YPlus, Cast::Y) => true,
            (Port::YMinus, Cast::Y) => !here_x,
            (Port::Local | Port::XPlus | Port::XMinus, Cast::One | Cast::Y) => false,
            (Port::Local | Port::XMinus, Cast::X) => false,
        };
        let classless = header.class == Class::Reply && header.cast != Cast::One;
        if astray || classless || vc / 2 != header.class as usize {
            return Vec::new();
        }
        let mut ways = Vec::new();
        let rings = match header.cast {
            Cast::X => Some((self.x, at.x, Port::XPlus, Port::XMinus)),
            Cast::Y if here_x => Some((self.y, at.y, Port::YPlus, Port::YMinus)),
            Cast::One | Cast::Y | Cast::Nobody => None,
        };
        if let Some((length, here, port, minus)) = rings {
            let sweeps = from == minus && (lane == 1 || here == 0);
            if sweeps {
                ways.push(EJECT);
            }
            if !sweeps || here + 1 < length {
                let lane = usize::from(sweeps);
                ways.push(Way { port, lane });
            }
            return ways;
        }
        let x = (self.x, at.x, usize::from(header.x), Port::XPlus, Port::XMinus);
        let y = (self.y, at.y, usize::from(header.y), Port::YPlus, Port::YMinus);
        let (length, here, to, plus, minus) = if here_x { y } else { x };
        if here == to {
            return if from == Port::Local { ways } else { vec![EJECT] };
        }
        if here + 1 == length && to > here {
            return ways;
        }
        let moving = (from == plus || from == minus).then_some(from == minus);
        let up = moving.unwrap_or_else(|| is_up(length, here, to));
        ways.push(Way {
            port: if up { plus } else { minus },
            lane: usize::from(up == (to > here)),
        });
        ways
    }

    /// The cells that get a packet of `from`, by what it says and not by its way; none if there is no such cell.
    pub fn receivers(self, from: Cell, header: Header) -> Vec<Cell> {
        let all = (0..self.cells()).map(|n| self.cell(n));
        let gets = |cell: &Cell| match header.cast {
            _ if header.class == Class::Reply && header.cast != Cast::One => false,
            Cast::One => *cell != from && (cell.x, cell.y) == (header.x.into(), header.y.into()),
            Cast::X => cell.y == from.y,
            Cast::Y => cell.x == usize::from(header.x),
            Cast::Nobody => false,
        };
        all.filter(gets).collect()
    }

    /// Calls `see` with each router that a packet of `from` comes through.
    pub fn walk(self, from: Cell, header: Header, mut see: impl FnMut(&Hop)) {
        let mut open = vec![(from, Port::Local, 0, Vec::new())];
        while let Some((at, from, lane, behind)) = open.pop() {
            let ways = self.route(at, from, header.class.vc(lane), header);
            let hop = Hop {
                at,
                from,
                lane,
                ways,
                behind,
            };
            see(&hop);
            for (i, way) in hop.ways.iter().enumerate() {
                if let Some((next, port)) = self.link(at, way.port) {
                    let others = hop.ways.iter().enumerate().filter(|(j, _)| *j != i);
                    let others = others.map(|(j, other)| (at, *other, j > i));
                    let behind = hop.behind.iter().copied().chain(others).collect();
                    open.push((next, port, way.lane, behind));
                }
            }
        }
    }
}

/// A router on the way of a packet.
#[derive(Clone, Debug)]
pub struct Hop {
    pub at: Cell,
    /// The port and the lane it comes in by.
    pub from: Port,
    pub lane: usize,
    /// Where it goes on to, in this order.
    pub ways: Vec<Way>,
    /// Where else it goes from the routers before: the cell's, the way, and whether it asks for that after the one it
    /// came here by.
    pub behind: Vec<(Cell, Way, bool)>,
}

const EJECT: Way = Way {
    port: Port::Local,
    lane: 0,
};

/// Whether a packet that enters a ring moves in + direction. `far` is the last cell that does, as the router is told
/// it.
fn is_up(length: usize, here: usize, to: usize) -> bool {
    let far = (here + length / 2) % length;
    let (above, beyond) = (to > here, to > far);
    if here <= far {
        above && !beyond
    } else {
        above || !beyond
    }
}

impl Display for Cell {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

impl Display for Port {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(match self {
            Port::Local => "local",
            Port::XPlus => "+X",
            Port::XMinus => "-X",
            Port::YPlus => "+Y",
            Port::YMinus => "-Y",
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Every shape that is said to work: rings of 1, 2 and 3 cells, square and not.
    pub(crate) const SHAPES: [(usize, usize); 12] = [
        (1, 1),
        (2, 1),
        (1, 3),
        (3, 1),
        (2, 2),
        (3, 3),
        (2, 5),
        (3, 2),
        (4, 4),
        (8, 4),
        (8, 8),
        (16, 16),
    ];

    fn pairs(torus: Torus) -> impl Iterator<Item = (Cell, Cell)> {
        (0..torus.cells()).flat_map(move |a| (0..torus.cells()).map(move |b| (torus.cell(a), torus.cell(b))))
    }

    /// Steps between two places of a ring, the shorter way.
    fn apart(length: usize, a: usize, b: usize) -> usize {
        let up = (b + length - a) % length;
        up.min(length - up)
    }

    #[test]
    fn every_way_is_the_shortest_and_ends_where_it_should() {
        for (x, y) in SHAPES {
            let torus = Torus::new(x, y);
            for (from, to) in pairs(torus).filter(|(from, to)| from != to) {
                let mut path = Vec::new();
                torus.walk(
                    from,
                    Header::to(to, Class::Request),
                    |Hop {
                         at, from: port, ways, ..
                     }| {
                        assert_eq!(ways.len(), 1, "{x} x {y}: {from} to {to} at {at}");
                        path.push((*at, *port, ways[0]));
                    },
                );
                let hops = apart(x, from.x, to.x) + apart(y, from.y, to.y);
                assert_eq!(path.len(), hops + 1, "{x} x {y}: {from} to {to}");
                assert_eq!((path[hops].0, path[hops].2), (to, EJECT));
                let turned = |way: &Way| matches!(way.port, Port::YPlus | Port::YMinus);
                let turn = path.iter().position(|(_, _, way)| turned(way)).unwrap_or(hops);
                assert!(path[turn..hops].iter().all(|(_, _, way)| turned(way)));
                // Half way round is towards +.
                for (at, _, way) in &path[..1] {
                    assert!(
                        2 * apart(x, from.x, to.x) < x || way.port == Port::XPlus || x == 1,
                        "at {at}"
                    );
                }
            }
        }
    }

    #[test]
    fn broadcasts_reach_each_cell_exactly_once() {
        for (x, y) in SHAPES {
            let torus = Torus::new(x, y);
            let all = || (0..x).map(Header::column).chain([Header::row()]);
            for (n, header) in (0..torus.cells()).flat_map(|n| all().map(move |header| (n, header))) {
                let (from, cast) = (torus.cell(n), header.cast);
                let mut copies = BTreeMap::new();
                let mut hops = 0;
                torus.walk(from, header, |Hop { at, ways, .. }| {
                    hops += 1;
                    *copies.entry(*at).or_insert(0) += ways.iter().filter(|way| **way == EJECT).count();
                    assert!(hops <= x / 2 + 2 * x.max(y), "{cast:?} goes on and on");
                });
                copies.retain(|_, copies| *copies != 0);
                let expected = torus.receivers(from, header);
                assert_eq!(
                    copies,
                    expected.iter().map(|cell| (*cell, 1)).collect(),
                    "{cast:?} from {from}"
                );
            }
        }
    }

    /// Wherever it comes from, a packet whose cell is not there ends.
    #[test]
    fn coordinates_beyond_the_size_are_drained() {
        for (x, y) in SHAPES {
            let torus = Torus::new(x, y);
            for n in 0..torus.cells() {
                let from = torus.cell(n);
                let beyond = [(x, 0), (255, 0), (from.x, y), (from.x, 255), (0, y), (x + 1, y + 1)];
                let beyond = beyond.map(|(x, y)| Header::to(Cell { x, y }, Class::Reply));
                let columns = [x, x + 1, 255].map(Header::column);
                for header in beyond.into_iter().chain(columns) {
                    let (mut drained, mut hops) = (0, 0);
                    torus.walk(from, header, |Hop { ways, .. }| {
                        drained += usize::from(ways.is_empty());
                        assert!(!ways.contains(&EJECT));
                        hops += 1;
                        assert!(hops <= x + y + 2, "never drained");
                    });
                    assert_eq!(drained, 1);
                }
            }
        }
    }

    #[test]
    fn links_join_and_words_say_what_they_were_made_of() {
        let torus = Torus::new(4, 3);
        for (n, port) in (0..12).flat_map(|n| Port::ALL.map(|port| (n, port))) {
            let back = torus
                .link(torus.cell(n), port)
                .and_then(|(cell, port)| torus.link(cell, port));
            assert_eq!(back, (port != Port::Local).then_some((torus.cell(n), port)));
            assert_eq!(torus.number(torus.cell(n)), n);
        }
        for word in 0..1 << Header::BITS {
            assert_eq!(Header::of(word).word(), word);
        }
    }
}
