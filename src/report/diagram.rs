//! Hand-drawn diagrams: the parts of a latency, a packet's way through time and space, the occupancy of links and FIFO.

use maud::{Markup, html};

use super::key::{self, Entry};
use super::spans::{self, Span};
use super::{axis, micro};
use crate::harness::event::Place;
use crate::repro::row::{BackendKind, stated};
use crate::repro::{Bar, Breakdown, Item, Stack, Trace};
use crate::{NodeId, Picos};

pub(super) const WIDTH: f64 = 1000.0;
pub(super) const LEFT: f64 = 150.0;
pub(super) const RIGHT: f64 = 20.0;
pub(super) const COLOURS: [&str; 7] = [
    "#1f5fb4", "#cc5500", "#228b54", "#943fa0", "#b4283c", "#5a6473", "#b9a14a",
];
pub(super) const INK: &str = "#1c2330";
pub(super) const SOFT: &str = "#5b6676";

/// A picture with its title above and its key below. `drawn` is [`WIDTH`] wide.
pub(super) fn picture(title: &str, height: f64, drawn: &Markup, key: &[Entry]) -> Markup {
    let title = micro(title);
    html! {
        figcaption { (title) }
        div.scroll {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(title) font-family="sans-serif"
                font-size="13" { (drawn) }
        }
        @if !key.is_empty() { (key::draw(key)) }
    }
}

/// The paper's bar above ours, each item in its colour, with the values below.
pub fn breakdown(b: &Breakdown) -> Markup {
    let total = |of: fn(&Item) -> f64| b.items.iter().map(of).sum::<f64>();
    let longest = total(|i| i.paper).max(total(|i| i.ours_us));
    let scale = (WIDTH - LEFT - 90.0) / longest.max(1e-9);
    let height = 92.0 + 20.0 * b.items.len() as f64;
    let drawn = html! {
        (bar(b, "paper", 6.0, scale, 0.55, |i| i.paper))
        (bar(b, "ours", 36.0, scale, 1.0, |i| i.ours_us))
        @for (n, item) in b.items.iter().enumerate() {
            @let y = 86.0 + 20.0 * n as f64;
            rect x=(LEFT) y=(y - 10.0) width="12" height="12" fill=(COLOURS[n % COLOURS.len()]) {}
            text x=(LEFT + 100.0) y=(y) fill=(SOFT) text-anchor="end" { (paper(item)) }
            text x=(LEFT + 180.0) y=(y) fill=(INK) text-anchor="end" { (format!("{:.2} µs", item.ours_us)) }
            text x=(LEFT + 200.0) y=(y) fill=(INK) { (micro(item.name)) }
        }
    };
    picture(&b.title, height, &drawn, &[])
}

/// The value in brackets is the remainder of the paper's total.
fn paper(item: &Item) -> String {
    match item.is_stated {
        true => format!("{} µs", stated(item.paper)),
        false => format!("({} µs)", stated(item.paper)),
    }
}

fn bar(b: &Breakdown, name: &str, y: f64, scale: f64, opacity: f64, of: fn(&Item) -> f64) -> Markup {
    let starts = b.items.iter().scan(0.0, |at, item| {
        let start = *at;
        *at += of(item);
        Some(start)
    });
    let total: f64 = b.items.iter().map(of).sum();
    html! {
        text x=(LEFT - 12.0) y=(y + 15.0) text-anchor="end" fill=(SOFT) { (name) }
        @for (n, (start, item)) in starts.zip(&b.items).enumerate() {
            rect x=(px(LEFT + start * scale)) y=(y) width=(px(of(item) * scale)) height="22"
                fill=(COLOURS[n % COLOURS.len()])
                fill-opacity=(opacity) stroke="white" {
                title { (micro(item.name)) (format!(": {:.2} µs", of(item))) }
            }
        }
        text x=(px(LEFT + total * scale + 8.0)) y=(y + 15.0) fill=(INK) { (format!("{total:.2} µs")) }
    }
}

/// A bar for each total, its parts in the colours of the key, and a mark at the total to compare with.
pub fn stack(s: &Stack) -> Markup {
    let total = |bar: &Bar| bar.parts.iter().sum::<f64>();
    let longest = s
        .bars
        .iter()
        .map(|bar| total(bar).max(bar.beside.unwrap_or(0.0)))
        .fold(0.0, f64::max);
    let scale = (WIDTH - LEFT - 110.0) / longest.max(1e-9);
    let drawn = html! {
        @for (n, bar) in s.bars.iter().enumerate() {
            @let y = 6.0 + 30.0 * n as f64;
            text x=(LEFT - 12.0) y=(y + 15.0) text-anchor="end" fill=(SOFT) { (bar.name) }
            @for (part, (start, width)) in stacked(bar).enumerate().filter(|part| part.1.1 > 0.0) {
                rect x=(px(LEFT + start * scale)) y=(y) width=(px(width * scale)) height="22"
                    fill=(COLOURS[part % COLOURS.len()]) stroke="white" {
                    title { (s.parts[part]) (format!(": {width:.1} {}", micro(s.unit))) }
                }
            }
            @if let Some(beside) = bar.beside {
                @let x = px(LEFT + beside * scale);
                line x1=(x) y1=(y - 3.0) x2=(x) y2=(y + 25.0) stroke=(INK) stroke-width="2" {}
            }
            @let end = total(bar).max(bar.beside.unwrap_or(0.0));
            text x=(px(LEFT + end * scale + 8.0)) y=(y + 15.0) fill=(INK) {
                (format!("{:.0} {}", total(bar), micro(s.unit)))
            }
        }
    };
    let parts = s.parts.iter().zip(COLOURS.iter().cycle());
    let mut key: Vec<Entry> = parts.map(|(name, colour)| Entry::block(colour, *name)).collect();
    if s.bars.iter().any(|bar| bar.beside.is_some()) {
        key.push(Entry::line(INK, "the source"));
    }
    picture(&s.title, 12.0 + 30.0 * s.bars.len() as f64, &drawn, &key)
}

/// Start and width of each part.
fn stacked(bar: &Bar) -> impl Iterator<Item = (f64, f64)> {
    bar.parts.iter().scan(0.0, |at, width| {
        let start = *at;
        *at += width;
        Some((start, *width))
    })
}

pub(super) fn px(v: f64) -> String {
    format!("{v:.1}")
}

/// A time axis to the right, from `from` to `to`.
#[derive(Clone, Copy)]
struct Scale {
    from: Picos,
    us_to_px: f64,
}

impl Scale {
    fn of(t: &Trace) -> Scale {
        Scale {
            from: t.from,
            us_to_px: (WIDTH - LEFT - RIGHT) / (t.to.saturating_sub(t.from)).as_us().max(1e-6),
        }
    }

    fn x(&self, at: Picos) -> f64 {
        (LEFT + at.saturating_sub(self.from).as_us() * self.us_to_px).min(WIDTH - RIGHT)
    }

    /// In us since the begin.
    fn axis(t: &Trace, y: f64) -> Markup {
        axis::time((0.0, t.to.saturating_sub(t.from).as_us()), y)
    }
}

/// A row of the diagram.
struct Lane {
    node: NodeId,
    /// Without one it is the node's processor.
    place: Option<Place>,
    spans: Vec<Span>,
}

impl Lane {
    fn of(t: &Trace, node: NodeId, place: Place) -> Lane {
        Lane {
            node,
            place: Some(place),
            spans: spans::at(t, node, place),
        }
    }

    fn name(&self, t: &Trace) -> String {
        let (node, number) = (t.node, self.node.0);
        match self.place {
            None => format!("CPU {number}"),
            Some(Place::Registers) => format!("CPU {number}: registers"),
            Some(Place::Reads) => format!("memory {number}: reads"),
            Some(Place::LinkOut) => format!("link from {node} {number}"),
            Some(Place::LinkIn) => format!("link to {node} {number}"),
            Some(Place::Writes) => format!("memory {number}: writes"),
            Some(Place::Interrupt) => format!("CPU {number}: interrupt"),
        }
    }

    fn colour(&self) -> &'static str {
        let colour = match self.place {
            None => 3,
            Some(Place::Registers) => 5,
            Some(Place::Reads) => 0,
            Some(Place::LinkOut | Place::LinkIn) => 2,
            Some(Place::Writes) => 1,
            Some(Place::Interrupt) => 4,
        };
        COLOURS[colour]
    }
}

/// The rows where something happened: the way of a packet from node 0 to node 1, then the way of one back.
fn lanes(t: &Trace) -> Vec<Lane> {
    let (one, other) = (NodeId(0), NodeId(1));
    let way = |from, to| {
        [
            (from, Place::Registers),
            (from, Place::Reads),
            (from, Place::LinkOut),
            (to, Place::LinkIn),
            (to, Place::Writes),
            (to, Place::Interrupt),
        ]
        .map(|(node, place)| Lane::of(t, node, place))
    };
    let cpu = |node| Lane {
        node,
        place: None,
        spans: spans::acts(t, node),
    };
    let ways = way(one, other).into_iter().chain(way(other, one));
    let all = [cpu(one)].into_iter().chain(ways).chain([cpu(other)]);
    all.filter(|lane| !lane.spans.is_empty()).collect()
}

/// Where a packet was at each time: one lane per place, slanted lines across the network.
pub fn time_space(t: &Trace) -> Markup {
    let scale = Scale::of(t);
    let lanes = lanes(t);
    let pitch = 38.0;
    let y_of = |n: usize| 6.0 + pitch * n as f64;
    let bottom = y_of(lanes.len()) + 4.0;
    let since = |at: Picos| at.saturating_sub(t.from).as_us();
    let drawn = html! {
        @for (n, lane) in lanes.iter().enumerate() {
            @let (y, name) = (y_of(n), lane.name(t));
            text x=(LEFT - 12.0) y=(y + 15.0) text-anchor="end" fill=(INK) { (name) }
            line x1=(LEFT) y1=(y + 11.0) x2=(WIDTH - RIGHT) y2=(y + 11.0) stroke="#e8ecf1" {}
            @for s in &lane.spans {
                @let (from, width) = (scale.x(s.from), scale.x(s.to) - scale.x(s.from));
                rect x=(px(from)) y=(y) width=(px(width.max(2.5))) height="22" fill=(lane.colour()) fill-opacity="0.75" {
                    title { (name) (format!(": {:.2} to {:.2} µs", since(s.from), since(s.to))) }
                }
                @if width > 52.0 {
                    text x=(px(from + width / 2.0)) y=(y + 15.0) text-anchor="middle" fill="white" font-size="11"
                        pointer-events="none" { (format!("{:.2} µs", since(s.to) - since(s.from))) }
                }
            }
        }
        // The heads and tails of packets in the network.
        @for (from, to) in [(NodeId(0), NodeId(1)), (NodeId(1), NodeId(0))] {
            @let row = |node, place| lanes.iter().position(|lane| (lane.node, lane.place) == (node, Some(place)));
            @if let Some((from_row, to_row)) = row(from, Place::LinkOut).zip(row(to, Place::LinkIn)) {
                @for (out, into) in spans::packets(t, from, to) {
                    @for (a, b) in [(out.from, into.from), (out.to, into.to)] {
                        line x1=(px(scale.x(a))) y1=(y_of(from_row) + 22.0) x2=(px(scale.x(b))) y2=(y_of(to_row))
                            stroke=(COLOURS[2]) stroke-dasharray="3 3" {}
                    }
                }
            }
        }
        (Scale::axis(t, bottom))
    };
    picture(&t.title, bottom + 30.0, &drawn, &[])
}

/// The occupancy of the links and the receive FIFO of a run; the FIFO of other backends is drawn beside it.
pub fn occupancy(runs: &[(BackendKind, &Trace)]) -> Markup {
    let Some((_, first)) = runs.first() else {
        return html! {};
    };
    let scale = Scale::of(first);
    let links = [(NodeId(0), Place::LinkOut), (NodeId(1), Place::LinkIn)];
    let links = links.map(|(node, place)| Lane::of(first, node, place));
    let bytes = runs.iter().flat_map(|(_, t)| &t.record.fifo).map(|s| s.1);
    let top = f64::from(bytes.max().unwrap_or(0));
    // Without a byte in it, the FIFO is not drawn.
    let (y0, area) = (80.0, if top == 0.0 { 0.0 } else { 120.0 });
    let y = |bytes: f64| y0 + area * (1.0 - bytes / top);
    let floor = y0 + area;
    let drawn = html! {
        @for (n, lane) in links.iter().enumerate() {
            @let y = 6.0 + 34.0 * n as f64;
            @let busy: f64 = lane.spans.iter().map(|s| s.to.saturating_sub(s.from).as_us()).sum();
            @let share = 100.0 * busy / first.to.saturating_sub(first.from).as_us().max(1e-6);
            // Without spans the sum is -0.
            text x=(LEFT - 12.0) y=(y + 17.0) text-anchor="end" fill=(INK) {
                (lane.name(first)) (format!(", {:.0} %", share + 0.0))
            }
            @for s in &lane.spans {
                rect x=(px(scale.x(s.from))) y=(y) width=(px((scale.x(s.to) - scale.x(s.from)).max(1.0)))
                    height="24" fill=(lane.colour()) fill-opacity="0.75" {}
            }
        }
        @for (backend, run) in runs.iter().filter(|_| top > 0.0) {
            @let own = Scale { from: run.from, ..scale };
            @let line = points(&steps(run), |at| own.x(at), y);
            @match backend {
                BackendKind::Rtl => {
                    @let (left, right) = (own.x(run.from), own.x(run.to));
                    polygon points=(format!("{line} {right:.1},{floor:.1} {left:.1},{floor:.1}"))
                        fill="#cc5500" fill-opacity="0.25" {}
                    polyline points=(line) fill="none" stroke="#cc5500" {}
                }
                BackendKind::Model => polyline points=(line) fill="none" stroke=(INK) stroke-dasharray="5 3" {}
            }
        }
        @if top > 0.0 {
            text x=(LEFT - 12.0) y=(y(top) + 10.0) text-anchor="end" fill=(SOFT) { (format!("{top:.0} B")) }
            text x=(LEFT - 12.0) y=(floor) text-anchor="end" fill=(SOFT) { "0 B" }
        }
        (Scale::axis(first, floor))
    };
    let styles: Vec<Entry> = runs.iter().map(|(backend, _)| key::of_backend(*backend)).collect();
    let (title, key) = match top {
        0.0 => ("Occupancy of the links", &[][..]),
        _ => (
            "Occupancy of the links, and bytes in the receive FIFO of PE 1",
            &styles[..],
        ),
    };
    picture(title, floor + 30.0, &drawn, key)
}

/// The corners of the FIFO's curve: a level stays until the next sample.
fn steps(t: &Trace) -> Vec<(Picos, f64)> {
    let mut corners = Vec::new();
    let mut level = 0.0;
    for &(at, bytes) in &t.record.fifo {
        corners.extend([(at, level), (at, f64::from(bytes))]);
        level = f64::from(bytes);
    }
    corners.push((t.to, level));
    corners
}

fn points(corners: &[(Picos, f64)], x: impl Fn(Picos) -> f64, y: impl Fn(f64) -> f64) -> String {
    let point = |&(at, bytes): &(Picos, f64)| format!("{:.1},{:.1}", x(at), y(bytes));
    corners.iter().map(point).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::backend::{Event, EventKind};
    use crate::repro::Record;

    fn event(us: f64, node: u16, kind: EventKind) -> Event {
        Event {
            at: Picos::from_us(us),
            node: NodeId(node),
            kind,
        }
    }

    fn trace(events: Vec<Event>) -> Trace {
        let record = Record {
            events,
            ..Record::default()
        };
        Trace {
            from: Picos::ZERO,
            to: Picos::from_us(10.0),
            ..Trace::of("t", record)
        }
    }

    #[test]
    fn a_level_stays_until_the_next_sample_and_the_model_is_drawn_beside_the_rtl() {
        let run = |levels: &[(f64, u32)]| Trace {
            record: Record {
                fifo: levels.iter().map(|(us, bytes)| (Picos::from_us(*us), *bytes)).collect(),
                ..Record::default()
            },
            ..trace(vec![])
        };
        let (rtl, model) = (run(&[(0.0, 40), (4.0, 80)]), run(&[(5.0, 60)]));
        let us = |us: f64| Picos::from_us(us);
        let corners = [
            (us(0.0), 0.0),
            (us(0.0), 40.0),
            (us(4.0), 40.0),
            (us(4.0), 80.0),
            (us(10.0), 80.0),
        ];
        assert_eq!(steps(&rtl), corners);
        let svg = occupancy(&[(BackendKind::Rtl, &rtl), (BackendKind::Model, &model)]).into_string();
        assert_eq!(
            (svg.matches("<polygon").count(), svg.matches("<polyline").count()),
            (1, 2),
            "{svg}"
        );
        assert!(
            svg.contains("80 B") && svg.contains("</svg>RTL") && svg.contains("</svg>golden model"),
            "{svg}"
        );
    }

    /// 10 us take 830 pixels.
    #[test]
    fn a_span_is_a_box_that_ends_with_it_and_says_its_times() {
        let events = vec![
            event(2.0, 0, EventKind::TxFirst { head: 0 }),
            event(7.0, 0, EventKind::TxLast { flits: 9 }),
        ];
        let svg = time_space(&trace(events)).into_string();
        assert_eq!(svg.matches("<rect").count(), 1, "{svg}");
        assert!(svg.contains("x=\"316.0\" y=\"6\" width=\"415.0\""), "{svg}");
        assert!(svg.contains("<title>link from PE 0: 2.00 to 7.00 µs</title>"), "{svg}");
        assert!(svg.contains(">5.00 µs</text>"), "{svg}");
    }

    #[test]
    fn a_diagram_of_nothing_is_still_a_diagram() {
        let t = trace(vec![]);
        assert!(time_space(&t).into_string().contains("<svg"));
        assert!(occupancy(&[(BackendKind::Rtl, &t)]).into_string().contains("<svg"));
        assert!(
            breakdown(&Breakdown {
                title: "b".into(),
                items: vec![]
            })
            .into_string()
            .contains("<svg")
        );
    }
}
