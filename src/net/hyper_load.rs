//! What traffic of all nodes at once puts on the links of a hyper-crossbar.

use std::collections::BTreeMap;

use super::hyper::{Grid, Place, Port, path};

/// A link out of an exchanger, or the one from a crossbar to an exchanger's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    Out(Place, Port),
    In(Place, Port),
}

/// The most worms that share a link when each of these nodes sends one to its partner. None wait where it is one.
///
/// # Panics
/// A node is outside the grid.
pub fn most_shared(grid: Grid, pairs: impl IntoIterator<Item = (u32, u32)>) -> usize {
    let mut load = BTreeMap::new();
    let mut uses = |link| *load.entry(link).or_insert(0) += 1;
    for (from, to) in pairs {
        let hops = path(grid, grid.place(from), grid.place(to));
        for (n, hop) in hops.iter().enumerate() {
            uses(Link::Out(hop.at, hop.port));
            if let Some(next) = hops.get(n + 1) {
                uses(Link::In(next.at, hop.port));
            }
        }
    }
    load.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::hyper::Axis;

    const GRID: Grid = Grid { x: 4, y: 4, z: 8 };

    /// Rows and columns of at most all nodes.
    fn shapes() -> impl Iterator<Item = (u32, u32)> {
        let nodes = GRID.nodes();
        (1..=nodes).flat_map(move |columns| (1..=nodes / columns).map(move |rows| (columns, rows)))
    }

    /// The most worms on a link in any of the four steps on a mesh or torus, numbered by rows.
    fn steps((columns, rows): (u32, u32), is_torus: bool) -> usize {
        let number = |column: u32, row: u32| row * columns + column;
        let step = |by: (u32, u32)| {
            let nodes = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
            let pairs = nodes.filter_map(move |(column, row)| {
                let to = (column + by.0, row + by.1);
                let is_inside = to.0 < columns && to.1 < rows;
                let on = number(to.0 % columns, to.1 % rows);
                (is_torus || is_inside).then(|| (number(column, row), on))
            });
            let pairs: Vec<_> = pairs.collect();
            let back = pairs.iter().map(|&(from, to)| (to, from));
            most_shared(GRID, pairs.iter().copied()).max(most_shared(GRID, back))
        };
        step((1, 0)).max(step((0, 1)))
    }

    #[test]
    fn neighbours_along_an_axis_share_nothing() {
        for (axis, by) in Axis::ALL.into_iter().flat_map(|axis| (1..8).map(move |by| (axis, by))) {
            let next = |at: Place| at.moved(axis, (at.along(axis) + by) % GRID.along(axis));
            let pairs = GRID.places().map(|at| (GRID.number(at), GRID.number(next(at))));
            assert_eq!(most_shared(GRID, pairs), 1, "{axis:?} by {by}");
        }
    }

    #[test]
    fn shifts_share_nothing() {
        for by in 0..GRID.nodes() {
            let pairs = (0..GRID.nodes()).map(|node| (node, (node + by) % GRID.nodes()));
            assert_eq!(most_shared(GRID, pairs), 1, "by {by}");
        }
    }

    #[test]
    fn meshes_share_nothing() {
        assert_eq!(shapes().count(), 645);
        for shape in shapes() {
            assert!(steps(shape, false) <= 1, "{shape:?}");
        }
    }

    /// Tori of all nodes; of the smaller ones many share links, 9 x 13 for one.
    #[test]
    fn tori_of_all_nodes_share_nothing() {
        let whole: Vec<_> = shapes()
            .filter(|(columns, rows)| columns * rows == GRID.nodes())
            .collect();
        assert_eq!(whole.len(), 8);
        assert!(whole.into_iter().all(|shape| steps(shape, true) == 1));
        assert!(steps((9, 13), true) > 1);
        assert_eq!(shapes().filter(|&shape| steps(shape, true) > 1).count(), 449);
    }

    #[test]
    fn one_for_all_is_shared() {
        assert_eq!(most_shared(GRID, (0..GRID.nodes()).map(|node| (node, 0))), 128);
    }
}
