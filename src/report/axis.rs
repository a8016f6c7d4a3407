//! Axes: ticks at round distances.

use std::ops::Range;

use maud::{Markup, html};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::diagram::{LEFT, RIGHT, SOFT, WIDTH, px};
use crate::repro::Scale;

/// Ticks of an axis, about.
const TICKS: f64 = 8.0;

/// A round distance between about eight ticks.
fn step(span: f64) -> f64 {
    let power = 10f64.powf((span / TICKS).max(1e-12).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| span / step <= TICKS).unwrap_or(span)
}

/// Multiples of a round distance, both ends included.
pub fn ticks((from, to): (f64, f64)) -> impl Iterator<Item = f64> {
    let step = step(to - from);
    let first = (from / step).ceil();
    (0..)
        .map(move |n| (first + f64::from(n)) * step)
        .take_while(move |at| *at <= to)
}

/// Powers of `base` within the range, of every so many that about eight are left; where there are hardly any, also
/// twice and five times those of 10.
fn powers((from, to): (f64, f64), base: f64) -> Vec<f64> {
    if base == 10.0 && to / from < 1000.0 {
        let first = from.log10().floor() as i32;
        let all = (first..).flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * base.powi(power)));
        return all.skip_while(|at| *at < from).take_while(|at| *at <= to).collect();
    }
    let [first, last] = [from.log(base).ceil(), to.log(base).floor()].map(|power| power as i32);
    let each = ((f64::from(last - first) + 1.0) / (TICKS + 2.0)).ceil().max(1.0) as usize;
    (first..=last).step_by(each).map(|power| base.powi(power)).collect()
}

/// A tick's number, as short as it is exact.
pub fn tick(at: f64) -> String {
    ((at * 1e6).round() / 1e6).to_string()
}

/// The axis of a plot, for the plotting library.
pub struct Axis {
    pub from: f64,
    pub to: f64,
    pub scale: Scale,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log(_) => (value / self.from).ln() / (self.to / self.from).ln(),
        };
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        match self.scale {
            Scale::Linear => ticks((self.from, self.to)).collect(),
            Scale::Log(base) => powers((self.from, self.to), base.into()),
        }
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        tick(*value)
    }
}

/// A horizontal axis of time below a diagram, from and to in us.
pub fn time(span: (f64, f64), y: f64) -> Markup {
    let x = |at: f64| LEFT + (WIDTH - LEFT - RIGHT) * (at - span.0) / (span.1 - span.0).max(1e-9);
    html! {
        line x1=(LEFT) y1=(px(y)) x2=(WIDTH - RIGHT) y2=(px(y)) stroke=(SOFT) {}
        @for at in ticks(span) {
            line x1=(px(x(at))) y1=(px(y)) x2=(px(x(at))) y2=(px(y + 5.0)) stroke=(SOFT) {}
            text x=(px(x(at))) y=(px(y + 19.0)) text-anchor="middle" fill=(SOFT) { (tick(at)) }
        }
        text x=(LEFT - 12.0) y=(px(y + 19.0)) text-anchor="end" fill=(SOFT) { "µs" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let of = |from, to| ticks((from, to)).collect::<Vec<_>>();
        assert_eq!(of(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(of(0.0, 1.1), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(tick(0.6000000000000001), "0.6");
    }

    #[test]
    fn powers_are_few_and_within() {
        assert_eq!(powers((0.9, 1100.0), 10.0), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(powers((9.0, 110.0), 10.0), [10.0, 20.0, 50.0, 100.0]);
        assert_eq!(powers((7.5, 70_000.0), 2.0).len(), 7);
        assert!(powers((1.5, 1.9), 2.0).is_empty());
    }

    #[test]
    fn an_axis_ends_at_its_ends() {
        for scale in [Scale::Linear, Scale::Log(2)] {
            let axis = Axis {
                from: 1.0,
                to: 16.0,
                scale,
            };
            assert_eq!((axis.map(&1.0, (0, 100)), axis.map(&16.0, (0, 100))), (0, 100));
        }
        let axis = Axis {
            from: 1.0,
            to: 16.0,
            scale: Scale::Log(2),
        };
        assert_eq!(axis.map(&4.0, (0, 100)), 50);
    }
}
