//! A packet's way through the blocks of two nodes, step by step: a picture whose blocks light up as the reader goes on,
//! beside a list of all steps. `steps.js` lights them; without it the list says all.

use maud::{Markup, html};

use super::micro;
use super::spans::{self, Block, Span};
use crate::repro::Trace;
use crate::{NodeId, Picos};

/// Size of the picture: a node, the room between two, and their height above the network.
const NODE: f64 = 198.0;
const BETWEEN: f64 = 8.0;
const HEIGHT: f64 = 264.0;
const ROW: f64 = 66.0;
const BOX: f64 = 38.0;

/// A block in the picture.
struct Drawn {
    label: String,
    name: String,
    corner: (f64, f64),
    width: f64,
    spans: Vec<Span>,
}

/// The blocks of a node: a name, column and row. The processor is as wide as both columns.
const BLOCKS: [(Block, &str, f64, f64); 7] = [
    (Block::Cpu, "CPU", 0.0, 0.0),
    (Block::Registers, "registers", 0.0, 1.0),
    (Block::Send, "send", 0.0, 2.0),
    (Block::LinkOut, "link out", 0.0, 3.0),
    (Block::LinkIn, "link in", 1.0, 3.0),
    (Block::Receive, "receive", 1.0, 2.0),
    (Block::Memory, "memory", 1.0, 1.0),
];

/// What goes from one block to another: (column, row) of both, the network being row 4.
const ARROWS: [[(f64, f64); 2]; 9] = [
    [(0.0, 0.0), (0.0, 1.0)],
    [(1.0, 1.0), (1.0, 0.0)],
    [(0.0, 1.0), (0.0, 2.0)],
    [(1.0, 1.0), (0.0, 2.0)],
    [(1.0, 2.0), (1.0, 1.0)],
    [(0.0, 2.0), (0.0, 3.0)],
    [(1.0, 3.0), (1.0, 2.0)],
    [(0.0, 3.0), (0.0, 4.0)],
    [(1.0, 4.0), (1.0, 3.0)],
];

fn left(node: f64) -> f64 {
    2.0 + (NODE + BETWEEN) * node
}

fn blocks(t: &Trace) -> Vec<Drawn> {
    let half = (NODE - BETWEEN) / 2.0;
    let block = |number: u16, (block, label, column, row): (Block, &str, f64, f64)| {
        let is_cpu = block == Block::Cpu;
        Drawn {
            label: if is_cpu {
                format!("{label} {number}")
            } else {
                label.into()
            },
            name: if is_cpu {
                format!("{label} {number}")
            } else {
                format!("{label} of {} {number}", t.node)
            },
            corner: (left(number.into()) + (half + BETWEEN) * column, 2.0 + ROW * row),
            width: if is_cpu { NODE } else { half },
            spans: spans::of(t, NodeId(number), block),
        }
    };
    let network = Drawn {
        label: "network".into(),
        name: "network".into(),
        corner: (left(0.0), 2.0 + HEIGHT),
        width: 2.0 * NODE + BETWEEN,
        spans: spans::network(t, [NodeId(0), NodeId(1)]),
    };
    let node = |number| BLOCKS.map(|of| block(number, of));
    node(0).into_iter().chain(node(1)).chain([network]).collect()
}

/// The spans as the script reads them: picoseconds since the begin, as `0-20 40-40`.
fn data(t: &Trace, spans: &[Span]) -> String {
    let since = |at: Picos| at.saturating_sub(t.from).0;
    let one = |span: &Span| format!("{}-{}", since(span.from), since(span.to));
    spans.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// An arrow from one place to another.
fn arrow([x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> Markup {
    let length = (x1 - x0).hypot(y1 - y0);
    let (dx, dy) = (6.0 * (x1 - x0) / length, 6.0 * (y1 - y0) / length);
    let wing = |side: f64| format!("{:.1} {:.1}", x1 - dx - side * dy / 2.0, y1 - dy + side * dx / 2.0);
    let head = format!("M{} L{x1:.1} {y1:.1} L{}", wing(1.0), wing(-1.0));
    html! { path d=(format!("M{x0:.1} {y0:.1} L{x1:.1} {y1:.1} {head}")) {} }
}

fn arrows() -> Markup {
    let middle = |column: f64| ((NODE - BETWEEN) / 2.0 + BETWEEN) * column + (NODE - BETWEEN) / 4.0;
    let ends = |node: f64, [from, to]: [(f64, f64); 2]| {
        let (down, x) = (to.1 > from.1, |column| left(node) + middle(column));
        let edge = |row: f64, lower: bool| 2.0 + ROW * row + if lower { BOX } else { 0.0 };
        [[x(from.0), edge(from.1, down)], [x(to.0), edge(to.1, !down)]]
    };
    html! {
        @for node in [0.0, 1.0] {
            @for pair in ARROWS {
                @let [from, to] = ends(node, pair);
                (arrow(from, to))
            }
        }
    }
}

/// The picture, the control that the script shows, and all steps in the order in which they begin.
pub fn draw(t: &Trace) -> Markup {
    let title = format!("{}, step by step", micro(&t.title));
    let blocks = blocks(t);
    let mut steps: Vec<(&Drawn, &Span)> = Vec::new();
    for block in &blocks {
        steps.extend(block.spans.iter().map(|span| (block, span)));
    }
    steps.sort_by_key(|(_, span)| (span.from, span.to));
    let since = |at: Picos| at.saturating_sub(t.from).as_us();
    let (width, height) = (2.0 * left(0.0) + 2.0 * NODE + BETWEEN, HEIGHT + BOX + 4.0);
    html! {
        figcaption { (title) }
        div.steps {
            svg viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(title) {
                (arrows())
                @for block in &blocks {
                    @let (x, y) = block.corner;
                    g class=[block.spans.is_empty().then_some("idle")] data-name=(block.name)
                        data-spans=[(!block.spans.is_empty()).then(|| data(t, &block.spans))] {
                        rect x=(x) y=(y) width=(block.width) height=(BOX) rx="4" {}
                        text x=(x + block.width / 2.0) y=(y + 24.0) text-anchor="middle" { (block.label) }
                    }
                }
            }
            div {
                div.pick hidden {
                    label { "Step " input type="range" min="0" value="0"; }
                    output {}
                }
                ol {
                    @for (block, span) in &steps {
                        li data-spans=(data(t, std::slice::from_ref(*span))) {
                            b { (block.name) }
                            @if !span.what.is_empty() { ": " (span.what) }
                            @if span.from == span.to {
                                span { (format!(" {:.3} µs", since(span.from))) }
                            } @else {
                                span { (format!(" {:.3} to {:.3} µs", since(span.from), since(span.to))) }
                            }
                        }
                    }
                }
                @if blocks.iter().any(|block| block.spans.is_empty()) {
                    p.id { "Of a faint block nothing was recorded." }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::event::{Event, EventKind};
    use crate::repro::{Act, Record};

    fn trace() -> Trace {
        let events = [
            (2, 0, EventKind::TxFirst { head: 1 }),
            (4, 1, EventKind::RxFirst { head: 1 }),
            (5, 0, EventKind::TxLast { flits: 3 }),
            (7, 1, EventKind::RxLast { flits: 3 }),
        ];
        let event = |(ns, node, kind)| Event {
            at: Picos::from_ns(ns),
            node: NodeId(node),
            kind,
        };
        let act = |(from, to)| Act {
            node: NodeId(0),
            from: Picos::from_ns(from),
            to: Picos::from_ns(to),
            what: "calls PUT",
        };
        let acts = [(1, 2), (9, 9)].map(act);
        Trace::of("a PUT", Record::of(acts.into(), &events.map(event)))
    }

    /// Values of an attribute, of elements with this name.
    fn values<'a>(html: &'a str, element: &str, attribute: &str) -> Vec<&'a str> {
        let begin = format!("<{element} ");
        let inside = html
            .split(begin.as_str())
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('>')?.0));
        let name = format!("{attribute}=\"");
        inside
            .filter_map(|all| all.split_once(name.as_str())?.1.split('"').next())
            .collect()
    }

    #[test]
    fn each_span_of_a_block_is_a_step_and_no_other() {
        let html = draw(&trace()).into_string();
        let blocks = values(&html, "g", "data-spans").into_iter();
        let mut blocks: Vec<&str> = blocks.flat_map(|spans| spans.split(' ')).collect();
        let mut steps = values(&html, "li", "data-spans");
        assert_eq!(steps.len(), 7, "two acts, send, link, network, link, receive: {html}");
        assert!(steps.is_sorted_by_key(|step| step.split('-').next().and_then(|from| from.parse::<u64>().ok())));
        blocks.sort_unstable();
        steps.sort_unstable();
        assert_eq!(blocks, steps);
        assert_eq!(steps[0], "0-1000", "picoseconds since the begin");
    }

    #[test]
    fn a_step_says_where_what_and_when() {
        let html = draw(&trace()).into_string();
        for step in [
            "<b>CPU 0</b>: calls PUT<span> 0.000 to 0.001 µs</span>",
            "<b>link in of PE 1</b>: a packet of 3 flits<span> 0.003 to 0.006 µs</span>",
            "<b>network</b>: a packet of 3 flits to PE 1<span> 0.001 to 0.006 µs</span>",
            "<b>CPU 0</b>: calls PUT<span> 0.008 µs</span>",
        ] {
            assert!(html.contains(step), "no {step} in {html}");
        }
    }

    /// Without a script nothing is hidden but the control that needs one.
    #[test]
    fn without_a_script_all_steps_are_there_and_the_control_is_not() {
        let html = draw(&trace()).into_string();
        assert_eq!(html.matches("hidden").count(), 1);
        assert!(html.contains("<div class=\"pick\" hidden>") && html.contains("aria-label=\"a PUT, step by step\""));
    }

    #[test]
    fn a_block_that_does_nothing_has_no_spans() {
        let html = draw(&trace()).into_string();
        assert_eq!(values(&html, "g", "data-name").len(), 15);
        assert_eq!(html.matches("class=\"idle\"").count(), 9, "{html}");
        assert!(html.contains("Of a faint block nothing was recorded."));
    }
}
