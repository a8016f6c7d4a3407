//! Curves with the paper's statements drawn in.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::repro::row::BackendKind;
use crate::repro::{Mark, Plot};

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
const PAPER: RGBColor = RGBColor(176, 120, 0);
const SIZE: (u32, u32) = (1000, 420);

/// One figure as SVG text. Title and marks are those of the first plot; curves of the same name share a colour and a
/// line of the key.
pub fn draw(plots: &[(BackendKind, &Plot)]) -> String {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        // Drawing into a string cannot fail.
        paint(&area, plots).expect("a plot can be drawn");
        area.present().expect("a plot can be written");
    }
    svg
}

/// A chart over a logarithmic axis of sizes.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, RangedCoordf64>>;

fn paint(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    plots: &[(BackendKind, &Plot)],
) -> Result<(), Box<dyn std::error::Error>> {
    let Some((_, first)) = plots.first() else { return Ok(()) };
    let points = || plots.iter().flat_map(|(_, p)| &p.curves).flat_map(|c| &c.points);
    let (x0, x1) = points().fold((f64::INFINITY, 0f64), |(a, b), p| (a.min(p.0), b.max(p.0)));
    let top = points()
        .map(|p| p.1)
        .chain(first.marks.iter().map(level))
        .fold(0f64, f64::max);
    if x1 <= 0.0 {
        return Ok(());
    }
    let digits = usize::from(top < 10.0);
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(area)
        .caption(
            format!("{} ({})", first.title, styles(plots)),
            ("sans-serif", 19).into_font().color(&RGBColor(28, 35, 48)),
        )
        .margin(10)
        .margin_right(24)
        .x_label_area_size(44)
        .y_label_area_size(58)
        .build_cartesian_2d((x0 * 0.93..x1 * 1.08).log_scale().base(2.0), 0.0..top * 1.1)?;
    let label = ("sans-serif", 14).into_font().color(&RGBColor(91, 102, 118));
    chart
        .configure_mesh()
        .x_desc(first.axes[0])
        .y_desc(first.axes[1])
        .x_label_formatter(&|kb| format!("{kb}"))
        .y_label_formatter(&|v| format!("{v:.digits$}"))
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(232, 236, 241))
        .axis_style(RGBColor(150, 160, 172))
        .label_style(label.clone())
        .axis_desc_style(label.clone())
        .draw()?;
    paint_marks(&mut chart, &first.marks, (x0, x1), top)?;
    paint_curves(&mut chart, plots)?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(216, 222, 231))
        .label_font(label)
        .draw()?;
    Ok(())
}

/// Draws the paper's statements over the x axis from `x0` to `x1` and up to `top`.
fn paint_marks(
    chart: &mut Chart<'_, '_>,
    marks: &[Mark],
    (x0, x1): (f64, f64),
    top: f64,
) -> Result<(), Box<dyn std::error::Error>> {
    let says = ("sans-serif", 13).into_font().color(&PAPER);
    for mark in marks {
        match mark {
            Mark::Level { mb_s, says: text } => {
                chart.draw_series(DashedLineSeries::new(
                    [(x0, *mb_s), (x1, *mb_s)],
                    2,
                    4,
                    PAPER.stroke_width(1),
                ))?;
                chart.draw_series([Text::new(
                    format!("paper: {text}"),
                    (x0 * 1.02, mb_s - top * 0.012),
                    says.clone(),
                )])?;
            }
            Mark::Window {
                from_kb,
                to_kb,
                says: text,
            } => {
                chart.draw_series([Rectangle::new(
                    [(*from_kb, 0.0), (*to_kb, top * 1.1)],
                    PAPER.mix(0.13).filled(),
                )])?;
                chart.draw_series([Text::new(
                    format!("paper: {text}"),
                    (to_kb * 1.04, top * 0.08),
                    says.clone(),
                )])?;
            }
        }
    }
    Ok(())
}

/// A curve has the same colour on both backends, and one entry in the key.
fn paint_curves(chart: &mut Chart<'_, '_>, plots: &[(BackendKind, &Plot)]) -> Result<(), Box<dyn std::error::Error>> {
    let mut names: Vec<&str> = Vec::new();
    for (backend, plot) in plots {
        for curve in &plot.curves {
            let at = names.iter().position(|n| *n == curve.name).unwrap_or(names.len());
            let colour = COLOURS[at % COLOURS.len()];
            let line = curve.points.iter().copied();
            let drawn = match backend {
                BackendKind::Rtl => {
                    chart.draw_series(line.clone().map(|p| Circle::new(p, 3, colour.filled())))?;
                    chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?
                }
                BackendKind::Model => chart.draw_series(DashedLineSeries::new(line, 7, 4, colour.stroke_width(1)))?,
            };
            if at == names.len() {
                names.push(&curve.name);
                let key = move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(2));
                drawn.label(&curve.name).legend(key);
            }
        }
    }
    Ok(())
}

/// The line styles of the drawn backends.
pub fn styles<T>(drawn: &[(BackendKind, T)]) -> String {
    let style = |(backend, _): &(BackendKind, T)| match backend {
        BackendKind::Rtl => "RTL solid",
        BackendKind::Model => "golden model dashed",
    };
    drawn.iter().map(style).collect::<Vec<_>>().join(", ")
}

fn level(mark: &Mark) -> f64 {
    match mark {
        Mark::Level { mb_s, .. } => *mb_s,
        Mark::Window { .. } => 0.0,
    }
}
