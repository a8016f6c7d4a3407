//! What all nodes did over time.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::diagram::{LEFT, RIGHT, SOFT, WIDTH, picture, px};
use super::key::Entry;
use super::{axis, micro};
use crate::repro::{Cell, Map};

/// Of the states; the first is nothing.
const STATES: [&str; 5] = ["#f1f3f6", "#8fb4e3", "#e39a2d", "#b4283c", "#228b54"];
/// Of the levels from 1 on, each for four times as much as the one before.
const LEVELS: [&str; 6] = ["#e6c9ef", "#cf9be0", "#b266cc", "#943fa0", "#6a1f78", "#3d0a48"];
/// Height of a node, and of the strip in it that shows the level.
const PITCH: f64 = 7.0;
const STRIP: f64 = 3.0;

/// A strip for each node: above what it does, below its level.
pub fn draw(map: &Map) -> Markup {
    let nodes = map.cells.first().map_or(0, Vec::len);
    let (top, cells) = (8.0, map.cells.len());
    let bottom = top + PITCH * nodes as f64;
    let width = (WIDTH - LEFT - RIGHT) / cells.max(1) as f64;
    let state = |cell: &Cell| (cell.state > 0).then(|| usize::from(cell.state).min(STATES.len() - 1));
    let level = |cell: &Cell| (cell.level > 0).then(|| (cell.level.ilog2() / 2).min(5) as usize);
    let span = map.span.as_us();
    let drawn = html! {
        rect x=(px(LEFT)) y=(px(top)) width=(px(width * cells as f64)) height=(px(bottom - top)) fill=(STATES[0]) {}
        @for (index, colour) in STATES.iter().enumerate().skip(1) {
            path d=(runs(map, |cell| state(cell) == Some(index), (top, width)))
                stroke=(colour) stroke-width=(PITCH - STRIP - 1.0) {}
        }
        @for (index, colour) in LEVELS.iter().enumerate() {
            path d=(runs(map, |cell| level(cell) == Some(index), (top + PITCH - STRIP - 0.5, width)))
                stroke=(colour) stroke-width=(STRIP) {}
        }
        @for node in (0..nodes).step_by(10) {
            @let y = px(top + PITCH * node as f64 + 6.0);
            text x=(LEFT - 12.0) y=(y) text-anchor="end" fill=(SOFT) { (map.node) " " (node) }
        }
        (axis::time((0.0, span * cells as f64), bottom))
    };
    picture(&map.title, bottom + 40.0, &drawn, &key(map))
}

fn key(map: &Map) -> Vec<Entry> {
    let states = map.states.iter().zip(STATES);
    let states = states.map(|(name, colour)| Entry::block(colour, *name));
    let levels = (0..).zip(LEVELS);
    let levels = levels.map(|(n, colour)| Entry::block(colour, format!("{} {}", micro(map.level), 4u32.pow(n))));
    states.chain(levels).collect()
}

/// The lines of the cells that `is` accepts, neighbours in one.
fn runs(map: &Map, is: impl Fn(&Cell) -> bool, (top, width): (f64, f64)) -> String {
    let mut path = String::new();
    for node in 0..map.cells.first().map_or(0, Vec::len) {
        let y = top + PITCH * node as f64 + (PITCH - STRIP) / 2.0;
        let mut from = None;
        for at in 0..=map.cells.len() {
            let on = map.cells.get(at).is_some_and(|cells| is(&cells[node]));
            match (from, on) {
                (None, true) => from = Some(at),
                (Some(begin), false) => {
                    let (x, length) = (LEFT + width * begin as f64, width * (at - begin) as f64);
                    write!(path, "M{x:.1} {y:.1}h{length:.1}").expect("a string takes all text");
                    from = None;
                }
                _ => (),
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Picos;

    #[test]
    fn neighbours_are_one_line() {
        let cell = |state, level| Cell { state, level };
        let map = Map {
            title: "a map".into(),
            node: "PE",
            span: Picos::from_ns(1000),
            states: &["waits", "executes"],
            level: "packets in memory",
            cells: vec![vec![cell(1, 0), cell(0, 5)], vec![cell(1, 0), cell(0, 0)]],
        };
        let path = runs(&map, |cell| cell.state == 1, (0.0, 10.0));
        assert_eq!(path, "M150.0 2.0h20.0");
        let svg = draw(&map).into_string();
        assert!(svg.contains("packets in memory") && svg.contains(LEVELS[1]), "{svg}");
    }
}
