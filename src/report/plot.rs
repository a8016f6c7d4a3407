//! Curves with the statements of the sources drawn in, and the key below.

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::axis::Axis;
use super::key::{self, Entry, Stroke};
use super::micro;
use crate::repro::row::{BackendKind, number};
use crate::repro::{Mark, Plot, Scale};

const COLOURS: [RGBColor; 8] = [
    RGBColor(31, 95, 180),
    RGBColor(204, 85, 0),
    RGBColor(34, 139, 84),
    RGBColor(148, 63, 160),
    RGBColor(180, 40, 60),
    RGBColor(90, 100, 115),
    RGBColor(0, 140, 150),
    RGBColor(150, 120, 20),
];
const SOFT: RGBColor = RGBColor(91, 102, 118);
const SOURCE: RGBColor = RGBColor(176, 120, 0);
const SIZE: (u32, u32) = (1000, 400);

/// The name of each curve of these plots, once: its place is the curve's colour.
pub fn names<'a>(plots: impl IntoIterator<Item = &'a Plot>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for curve in plots.into_iter().flat_map(|plot| &plot.curves) {
        if !names.contains(&curve.name.as_str()) {
            names.push(&curve.name);
        }
    }
    names
}

/// One figure. Title, axes and marks are those of the first plot; a curve has one colour, by its name's place, on all
/// backends.
pub fn draw(plots: &[(BackendKind, &Plot)], names: &[&str]) -> Markup {
    let Some((_, first)) = plots.first() else {
        return html! {};
    };
    let title = micro(&first.title);
    let mut svg = String::new();
    let hover = {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        // Drawing into a string cannot fail.
        let hover = paint(&area, plots, names).expect("a plot can be drawn");
        area.present().expect("a plot can be written");
        hover
    };
    // The library writes one `svg` element; the points that answer the pointer go in front of all else.
    let inside = svg.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</svg>"));
    let inside = inside.expect("the library writes an `svg` element").0;
    html! {
        figcaption { (title) }
        div.scroll {
            svg viewBox=(format!("0 0 {} {}", SIZE.0, SIZE.1)) role="img" aria-label=(title) {
                (PreEscaped(inside)) (hover)
            }
        }
        (key::draw(&entries(plots, names)))
    }
}

fn colour(names: &[&str], name: &str) -> RGBColor {
    let at = names.iter().position(|n| *n == name).unwrap_or_default();
    COLOURS[at % COLOURS.len()]
}

fn css(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A line of the key for each curve, each style and each statement.
fn entries(plots: &[(BackendKind, &Plot)], names: &[&str]) -> Vec<Entry> {
    let shown = self::names(plots.iter().map(|(_, plot)| *plot));
    let curves = shown.into_iter().map(|name| Entry {
        colour: css(colour(names, name)),
        stroke: Stroke::Solid,
        text: micro(name),
    });
    let styles = plots.iter().map(|(backend, _)| key::of_backend(*backend));
    let marks = plots.iter().take(1).flat_map(|(_, plot)| &plot.marks).map(|mark| {
        let (stroke, text) = match mark {
            Mark::Level { says, .. } => (Stroke::Dotted, *says),
            Mark::Window { says, .. } => (Stroke::Block, *says),
            Mark::Points { .. } => (Stroke::Ring, "its values"),
        };
        let colour = if matches!(mark, Mark::Points { .. }) {
            SOFT
        } else {
            SOURCE
        };
        Entry {
            colour: css(colour),
            stroke,
            text: format!("paper: {}", micro(text)),
        }
    });
    let mut entries: Vec<Entry> = Vec::new();
    for entry in curves.chain(styles).chain(marks) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;
type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// The plot, and a point with its values for each point of a curve.
fn paint(area: &DrawingArea<SVGBackend<'_>, Shift>, plots: &[(BackendKind, &Plot)], names: &[&str]) -> Drawn<Markup> {
    let Some((_, first)) = plots.first() else {
        return Ok(html! {});
    };
    let curves = plots.iter().flat_map(|(_, plot)| &plot.curves);
    let (xs, mut ys): (Vec<f64>, Vec<f64>) = curves.flat_map(|curve| curve.points.iter().copied()).unzip();
    ys.extend(first.marks.iter().filter_map(Mark::top));
    let Some((x, y)) = axis(xs, first.scales[0], false).zip(axis(ys, first.scales[1], true)) else {
        return Ok(html! {});
    };
    let (from, to) = (x.from, x.to);
    let [x_desc, y_desc] = first.axes.map(micro);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(x, y)?;
    let label = ("sans-serif", 14).into_font().color(&SOFT);
    chart
        .configure_mesh()
        .x_desc(x_desc)
        .y_desc(y_desc)
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(232, 236, 241))
        .axis_style(RGBColor(150, 160, 172))
        .label_style(label.clone())
        .axis_desc_style(label)
        .draw()?;
    let (x_range, y_range) = (chart.x_range(), chart.y_range());
    for mark in &first.marks {
        match mark {
            Mark::Level { y, from: least, .. } => {
                let from = least.max(from);
                let line = [(from, *y), (to, *y)];
                chart.draw_series(DashedLineSeries::new(line, 2, 4, SOURCE.stroke_width(2)))?;
            }
            Mark::Window { from, to, .. } => {
                let corners = [
                    (from.max(x_range.start), y_range.start),
                    (to.min(x_range.end), y_range.end),
                ];
                chart.draw_series([Rectangle::new(corners, SOURCE.mix(0.16).filled())])?;
            }
            Mark::Points { of, points } => {
                let colour = colour(names, of);
                let rings = points.iter().map(|at| Circle::new(*at, 6, colour.stroke_width(2)));
                chart.draw_series(rings)?;
            }
        }
    }
    for (backend, plot) in plots {
        for curve in &plot.curves {
            let colour = colour(names, &curve.name);
            let line = curve.points.iter().copied();
            match backend {
                BackendKind::Rtl => {
                    chart.draw_series(line.clone().map(|p| Circle::new(p, 3, colour.filled())))?;
                    chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
                }
                BackendKind::Model => {
                    chart.draw_series(DashedLineSeries::new(line, 7, 4, colour.stroke_width(1)))?;
                }
            }
        }
    }
    Ok(hover(&chart, plots))
}

/// From the least to the greatest of the values, with room above; a linear axis of values begins at 0.
fn axis(values: Vec<f64>, scale: Scale, is_value: bool) -> Option<Axis> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    let (from, to) = match (scale, is_value) {
        (Scale::Linear, true) => (least.min(0.0), most * 1.05),
        (Scale::Linear, false) => (least, most),
        (Scale::Log(_), true) => (least / 1.3, most * 1.3),
        (Scale::Log(_), false) => (least / 1.08, most * 1.08),
    };
    // A logarithm has no place for 0.
    (from < to && (scale == Scale::Linear || from > 0.0)).then_some(Axis { from, to, scale })
}

/// Points that cannot be seen, each with its values for the pointer.
fn hover(chart: &Chart<'_, '_>, plots: &[(BackendKind, &Plot)]) -> Markup {
    html! {
        g fill="transparent" {
            @for (backend, plot) in plots {
                @for curve in &plot.curves {
                    @for point in &curve.points {
                        @let (x, y) = chart.backend_coord(point);
                        circle cx=(x) cy=(y) r="6" {
                            title {
                                (micro(&curve.name)) " (" (backend.name()) "), " (micro(plot.axes[0])) " "
                                (super::axis::tick(point.0)) ": " (number(point.1)) " " (micro(plot.axes[1]))
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::Curve;

    fn plot(scales: [Scale; 2], points: &[(f64, f64)], marks: &[Mark]) -> Plot {
        Plot {
            id: "p",
            title: "p".into(),
            axes: ["x", "y"],
            scales,
            curves: vec![Curve {
                name: "c".into(),
                points: points.to_vec(),
            }],
            marks: marks.to_vec(),
        }
    }

    /// The places of the points that answer the pointer, in pixels.
    fn places(svg: &str) -> Vec<(f64, f64)> {
        let place = |circle: &str| {
            let number = |name| circle.split_once(name)?.1.split('"').next()?.parse().ok();
            Some((number("cx=\"")?, number("cy=\"")?))
        };
        let invisible = svg
            .split_once("fill=\"transparent\"")
            .expect("points for the pointer")
            .1;
        let circles = invisible.split("<circle").skip(1);
        circles
            .map(|circle| place(circle).expect("a circle has a place"))
            .collect()
    }

    /// Where lines of this colour begin, in pixels from the left.
    fn begins(svg: &str, colour: RGBColor) -> Vec<f64> {
        let colour = format!("stroke=\"{}\"", css(colour).to_uppercase());
        let lines = svg.split("<polyline").skip(1).filter_map(|line| line.split_once("/>"));
        let ours = lines.map(|(line, _)| line).filter(|line| line.contains(&colour));
        let begin = |line: &str| line.split_once("points=\"")?.1.split(',').next()?.parse().ok();
        ours.map(|line| begin(line).expect("a line begins")).collect()
    }

    /// A curve reaches to within a tenth of each end of its axes; a linear axis of values has 0 at its foot.
    #[test]
    fn axes_use_their_space() {
        let points = [(2.0, 30.0), (20.0, 50.0), (64.0, 300.0)];
        for scales in [
            [Scale::Linear, Scale::Linear],
            [Scale::Log(2), Scale::Linear],
            [Scale::Log(2), Scale::Log(10)],
        ] {
            let plot = plot(scales, &points, &[]);
            let svg = draw(&[(BackendKind::Rtl, &plot)], &["c"]).into_string();
            let places = places(&svg);
            let [first, .., last] = places[..] else { panic!("{svg}") };
            // What margins and labels leave of the picture.
            let (left, right, top, bottom) = (72.0, 976.0, 10.0, 346.0);
            let (wide, high) = ((right - left) / 10.0, (bottom - top) / 10.0);
            assert!(first.0 - left < wide && right - last.0 < wide, "{scales:?}: {places:?}");
            assert!(last.1 - top < high, "{scales:?}: {places:?}");
            let foot = match scales[1] {
                Scale::Linear => bottom - (bottom - top) * 30.0 / 315.0,
                Scale::Log(_) => bottom,
            };
            assert!((foot - first.1).abs() < high, "{scales:?}: {places:?}");
        }
    }

    #[test]
    fn a_statement_is_drawn_from_where_the_paper_makes_it() {
        let level = |from| Mark::Level {
            y: 40.0,
            from,
            says: "",
        };
        let at = |from| {
            let plot = plot(
                [Scale::Log(2), Scale::Linear],
                &[(1.0, 10.0), (8.0, 30.0), (64.0, 42.0)],
                &[level(from)],
            );
            let svg = draw(&[(BackendKind::Rtl, &plot)], &["c"]).into_string();
            let first = begins(&svg, SOURCE).into_iter().reduce(f64::min);
            (first.unwrap_or_else(|| panic!("no line: {svg}")), places(&svg))
        };
        let (first, places) = at(8.0);
        assert!((first - places[1].0).abs() <= 1.0, "{first} of {places:?}");
        let (first, places) = at(0.0);
        assert!(first <= places[0].0, "{first} of {places:?}");
    }
}
