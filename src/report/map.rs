//! Drawings over linear time: what all nodes did, and curves.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::diagram::{COLOURS, INK, LEFT, RIGHT, SOFT, WIDTH, px, title};
use crate::repro::{Cell, Course, Map};

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
    let (top, cells) = (52.0, map.cells.len());
    let bottom = top + PITCH * nodes as f64;
    let width = (WIDTH - LEFT - RIGHT) / cells.max(1) as f64;
    let state = |cell: &Cell| (cell.state > 0).then(|| usize::from(cell.state).min(STATES.len() - 1));
    let level = |cell: &Cell| (cell.level > 0).then(|| (cell.level.ilog2() / 2).min(5) as usize);
    let span = map.span.as_us();
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", bottom + 40.0)) role="img" font-family="sans-serif" font-size="13" {
            (title(&map.title))
            (key(map))
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
            (x_axis((0.0, span * cells as f64), bottom, "us"))
        }
    }
}

fn key(map: &Map) -> Markup {
    let levels = ["1", "4", "16", "64", "256", "1024"];
    html! {
        @for (n, name) in map.states.iter().enumerate() {
            @let x = LEFT + 135.0 * n as f64;
            rect x=(x) y="29" width="12" height="12" fill=(STATES[n.min(STATES.len() - 1)]) stroke="#d0d6de" {}
            text x=(x + 18.0) y="40" fill=(INK) { (name) }
        }
        text x="725" y="40" fill=(INK) text-anchor="end" { (map.level) }
        @for (n, from) in levels.iter().enumerate() {
            @let x = 735.0 + 42.0 * n as f64;
            rect x=(x) y="29" width="12" height="12" fill=(LEVELS[n]) {}
            text x=(x + 16.0) y="40" fill=(SOFT) { (from) }
        }
    }
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

/// A round distance between about eight ticks.
fn step(span: f64) -> f64 {
    let power = 10f64.powf((span / 8.0).max(1e-12).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| span / step <= 8.0).unwrap_or(span)
}

fn ticks((from, to): (f64, f64)) -> impl Iterator<Item = f64> {
    let step = step(to - from);
    let first = (from / step).ceil();
    (0..)
        .map(move |n| (first + f64::from(n)) * step)
        .take_while(move |at| *at <= to)
}

fn x_axis((from, to): (f64, f64), y: f64, unit: &str) -> Markup {
    let x = |at: f64| LEFT + (WIDTH - LEFT - RIGHT) * (at - from) / (to - from).max(1e-9);
    html! {
        line x1=(LEFT) y1=(px(y)) x2=(WIDTH - RIGHT) y2=(px(y)) stroke=(SOFT) {}
        @for at in ticks((from, to)) {
            line x1=(px(x(at))) y1=(px(y)) x2=(px(x(at))) y2=(px(y + 5.0)) stroke=(SOFT) {}
            text x=(px(x(at))) y=(px(y + 19.0)) text-anchor="middle" fill=(SOFT) { (at) }
        }
        text x=(LEFT - 12.0) y=(px(y + 19.0)) text-anchor="end" fill=(SOFT) { (unit) }
    }
}

/// Curves over a linear axis.
pub fn course(course: &Course) -> Markup {
    let points = || course.curves.iter().flat_map(|curve| &curve.points);
    let of = |of: fn(&(f64, f64)) -> f64| points().map(of);
    let (from, to) = (
        of(|p| p.0).fold(f64::INFINITY, f64::min),
        of(|p| p.0).fold(0.0, f64::max),
    );
    let level = course.level.map_or(0.0, |level| level.0);
    let highest = of(|p| p.1).fold(level, f64::max) * 1.05;
    let (top, bottom) = (52.0, 352.0);
    let x = |at: f64| LEFT + (WIDTH - LEFT - RIGHT) * (at - from) / (to - from).max(1e-9);
    let y = |at: f64| bottom - (bottom - top) * at / highest.max(1e-9);
    let line = |points: &[(f64, f64)]| {
        let point = |(a, b): &(f64, f64)| format!("{:.1},{:.1}", x(*a), y(*b));
        points.iter().map(point).collect::<Vec<_>>().join(" ")
    };
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {}", bottom + 36.0)) role="img" font-family="sans-serif" font-size="13" {
            (title(&course.title))
            @for at in ticks((0.0, highest)) {
                line x1=(LEFT) y1=(px(y(at))) x2=(WIDTH - RIGHT) y2=(px(y(at))) stroke="#e8ecf1" {}
                text x=(LEFT - 12.0) y=(px(y(at) + 5.0)) text-anchor="end" fill=(SOFT) { (at) }
            }
            text x=(LEFT - 70.0) y=(px(top + 5.0)) text-anchor="end" fill=(SOFT) { (course.axes[1]) }
            @if let Some((at, name)) = course.level {
                line x1=(LEFT) y1=(px(y(at))) x2=(WIDTH - RIGHT) y2=(px(y(at))) stroke="#b07800"
                    stroke-dasharray="4 3" {}
                text x=(WIDTH - RIGHT - 8.0) y=(px(y(at) + 15.0)) text-anchor="end" fill="#b07800" { (name) }
            }
            @for (n, curve) in course.curves.iter().enumerate() {
                @let (colour, key) = (COLOURS[n % COLOURS.len()], LEFT + 180.0 * n as f64);
                polyline points=(line(&curve.points)) fill="none" stroke=(colour) stroke-width="1.6" {}
                line x1=(key) y1="35" x2=(key + 24.0) y2="35" stroke=(colour) stroke-width="2" {}
                text x=(key + 32.0) y="40" fill=(INK) { (curve.name) }
            }
            (x_axis((from, to), bottom, course.axes[0]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Picos;
    use crate::repro::Curve;

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

    #[test]
    fn a_course_has_its_level() {
        let drawn = course(&Course {
            title: "depth".into(),
            axes: ["us", "packets"],
            curves: vec![Curve {
                name: "lex".into(),
                points: vec![(0.0, 1.0), (10.0, 50.0)],
            }],
            level: Some((100.0, "full")),
        });
        assert!(drawn.into_string().contains("full"));
        assert_eq!(
            ticks((0.0, 100.0)).collect::<Vec<_>>(),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
    }
}
