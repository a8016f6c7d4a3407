//! Golden model of `emx_route`: the network's shape, numbers of PEs, and the path from one to another.
//!
//! A circular omega network: 5 columns of rows, as many as a power of two; a PE in every switch. Output b of row r
//! leads to row 2r + b of the next column, modulo the rows, and column 4 to column 0.

use crate::emx::regs::{SIZE_CHANNELS, SIZE_COLUMNS};

const COLUMNS: u32 = SIZE_COLUMNS;

/// A network by the number of its rows, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    row_bits: u32,
}

/// A switch by its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub row: u32,
    pub column: u32,
}

/// What is left of a path: a 1 above the bits of the hops, the next hop lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub u16);

impl Path {
    /// No hop is left.
    pub const HERE: Path = Path(1);

    /// The next hop's output, and the path behind it; none: here, or no path at all.
    pub fn next(self) -> Option<(u32, Path)> {
        (self.0 > 1).then_some((u32::from(self.0 & 1), Path(self.0 >> 1)))
    }

    /// Hops that are left.
    pub fn hops(self) -> u32 {
        self.0.checked_ilog2().unwrap_or_default()
    }
}

impl Shape {
    /// # Panics
    /// Others than 0, 2 or 4: they have no loops of PEs here.
    pub fn new(row_bits: u32) -> Shape {
        assert!(matches!(row_bits, 0 | 2 | 4), "a network has 1, 4 or 16 rows");
        Shape { row_bits }
    }

    /// Rows of the network.
    pub fn rows(self) -> u32 {
        1 << self.row_bits
    }

    /// PEs, one in each switch.
    pub fn pes(self) -> u32 {
        COLUMNS << self.row_bits
    }

    /// Where a PE stands: the loops of 5 have no PE in common.
    pub fn place(self, pe: u32) -> Option<Place> {
        let (on, column) = (pe / COLUMNS, pe % COLUMNS);
        let bit = |at: u32| on >> at & 1;
        let bits = match self.row_bits {
            0 => [0; 5],
            2 => [bit(0) ^ bit(1), bit(1), bit(0), bit(1), bit(0)],
            _ => [on.count_ones() & 1, bit(3), bit(2), bit(1), bit(0)],
        };
        let shift = |row, bit: &u32| row << 1 | bit;
        let row = bits[..column as usize].iter().fold(on, shift) % self.rows();
        (pe < self.pes()).then_some(Place { row, column })
    }

    /// Where an output leads, and to which input.
    pub fn link(self, from: Place, output: u32) -> (Place, u32) {
        let to = Place {
            row: (2 * from.row + output) % self.rows(),
            column: (from.column + 1) % COLUMNS,
        };
        let input = if self.row_bits == 0 {
            output
        } else {
            from.row >> (self.row_bits - 1)
        };
        (to, input)
    }

    /// Hops of the shortest path.
    pub fn distance(self, from: Place, to: Place) -> u32 {
        let least = (to.column + COLUMNS - from.column) % COLUMNS;
        let reaches = |hops: u32| {
            let kept = self.row_bits.saturating_sub(hops);
            hops >= self.row_bits || to.row >> hops == from.row % (1 << kept)
        };
        if reaches(least) { least } else { least + COLUMNS }
    }

    /// A function of both ends only, so that the packets of a pair keep their order. Hops that could go either way
    /// spread the load.
    pub fn path(self, from: Place, to: Place) -> Path {
        let hops = self.distance(from, to);
        let free = hops.saturating_sub(self.row_bits);
        let mixed = from.row ^ to.row;
        let output = |hop: u32| {
            if hop < free {
                let at = (self.row_bits + hop).checked_sub(free);
                at.map_or(0, |at| mixed >> at & 1)
            } else {
                to.row >> (hops - 1 - hop) & 1
            }
        };
        let bits = (0..hops).fold(1 << hops, |path, hop| path | output(hop) << hop);
        Path(bits as u16)
    }

    /// The path between two PEs; none: there is no such PE.
    pub fn route(self, from: u32, to: u32) -> Option<Path> {
        Some(self.path(self.place(from)?, self.place(to)?))
    }
}

/// The virtual channel beyond a switch; none: a path that no switch makes.
pub fn channel_beyond(column: u32, channel: u32) -> Option<u32> {
    let beyond = channel + u32::from(column == COLUMNS - 1);
    (beyond < SIZE_CHANNELS).then_some(beyond)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::net::dependencies::Dependencies;

    const SHAPES: [u32; 3] = [0, 2, 4];

    /// Every hop of a path: where it leaves, by which output, on which channel beyond, to where.
    fn walk(shape: Shape, from: u32, to: u32) -> Vec<(Place, u32, u32, Place)> {
        let mut at = shape.place(from).unwrap();
        let (mut path, mut channel) = (shape.route(from, to).unwrap(), 0);
        let mut hops = Vec::new();
        while let Some((output, rest)) = path.next() {
            let (next, _) = shape.link(at, output);
            channel = channel_beyond(at.column, channel).expect("three channels suffice");
            hops.push((at, output, channel, next));
            (at, path) = (next, rest);
        }
        assert_eq!((path, at), (Path::HERE, shape.place(to).unwrap()), "{from} to {to}");
        hops
    }

    fn pairs(shape: Shape) -> impl Iterator<Item = (u32, u32)> {
        (0..shape.pes()).flat_map(move |from| (0..shape.pes()).map(move |to| (from, to)))
    }

    #[test]
    fn every_path_ends_at_its_destination() {
        for shape in SHAPES.map(Shape::new) {
            for (from, to) in pairs(shape) {
                let path = shape.route(from, to).unwrap();
                assert_eq!(walk(shape, from, to).len() as u32, path.hops());
                assert!(path.0 < 1 << 10, "it fits the field PE");
            }
        }
    }

    #[test]
    fn loops_have_no_pe_in_common() {
        for shape in SHAPES.map(Shape::new) {
            let places: BTreeSet<Place> = (0..shape.pes()).filter_map(|pe| shape.place(pe)).collect();
            assert_eq!(places.len() as u32, shape.pes());
            for pe in 0..shape.pes() {
                let next = pe / COLUMNS * COLUMNS + (pe + 1) % COLUMNS;
                assert_eq!(shape.route(pe, next).unwrap().hops(), 1, "{pe} to {next}");
            }
            assert_eq!(shape.place(shape.pes()), None);
        }
    }

    #[test]
    fn inputs_have_one_source_each() {
        for shape in SHAPES.map(Shape::new) {
            let mut seen = BTreeSet::new();
            for place in (0..shape.pes()).filter_map(|pe| shape.place(pe)) {
                assert!(seen.insert(shape.link(place, 0)) && seen.insert(shape.link(place, 1)));
            }
        }
    }

    /// The histogram of the digest.
    #[test]
    fn distances_of_80_pes() {
        let shape = Shape::new(4);
        let mut counts = BTreeMap::new();
        for (from, to) in pairs(shape) {
            *counts.entry(shape.route(from, to).unwrap().hops()).or_insert(0) += 1;
        }
        let expected = [80, 160, 320, 640, 1280, 1200, 1120, 960, 640];
        assert_eq!(counts.into_values().collect::<Vec<_>>(), expected);
    }

    /// A packet waits for the next channel of its path; ejection waits for memory alone.
    #[test]
    fn channels_wait_in_no_circle() {
        for shape in SHAPES.map(Shape::new) {
            let mut all = Dependencies::default();
            for (from, to) in pairs(shape) {
                let hops = walk(shape, from, to);
                let channels: Vec<_> = hops
                    .iter()
                    .map(|(at, out, vc, _)| (*vc, at.column, at.row, *out))
                    .collect();
                for two in channels.windows(2) {
                    all.wait(two[0], two[1]);
                }
            }
            assert_eq!(all.acyclic(), Ok(()));
        }
    }

    #[test]
    fn one_channel_would_be_a_circle() {
        let shape = Shape::new(4);
        let mut all = Dependencies::default();
        for (from, to) in pairs(shape) {
            let hops = walk(shape, from, to);
            for two in hops.windows(2) {
                all.wait((two[0].0, two[0].1), (two[1].0, two[1].1));
            }
        }
        assert!(all.acyclic().is_err());
    }
}
