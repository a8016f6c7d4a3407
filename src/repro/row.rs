//! A row of results: a quantity of the paper, our value beside it, and the worth of the agreement.

use serde::Serialize;

use crate::harness::params::Param;

/// The implementation of the machine that a row was measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// Verilated RTL.
    Rtl,
    /// The timed golden model.
    Model,
}

impl BackendKind {
    pub fn name(self) -> &'static str {
        match self {
            BackendKind::Rtl => "rtl",
            BackendKind::Model => "model",
        }
    }
}

/// The worth of a row's agreement with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A source gives a number, and the row can predict it: no parameter of the row was measured or fitted on the row's
    /// own row or figure, or derived from one that was.
    Prediction,
    /// A source gives a number, and a parameter of the row was measured or fitted on it: the row mostly returns its
    /// input.
    Calibrated,
    /// A source makes a statement without a value, and the row checks it.
    Criterion,
    /// No source states it: a check of ours.
    Own,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Prediction => "prediction",
            Kind::Calibrated => "calibrated",
            Kind::Criterion => "criterion",
            Kind::Own => "own",
        }
    }
}

/// Origin of the bounds of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The paper states them, or leaves no others: every word arrives, each flag counts once.
    Paper,
    /// Another source states them; the experiment names it.
    Public,
    /// We derived them; the row's `formula` says how.
    Formula,
    /// We chose them: a tolerance, or a number of trials.
    Ours,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Origin::Paper => "paper",
            Origin::Public => "public",
            Origin::Formula => "formula",
            Origin::Ours => "ours",
        }
    }
}

/// A number that a source gives: a value, or a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Paper {
    Value(f64),
    Range(f64, f64),
}

impl Paper {
    /// The least and the greatest number that it gives.
    pub fn ends(self) -> (f64, f64) {
        match self {
            Paper::Value(value) => (value, value),
            Paper::Range(low, high) => (low, high),
        }
    }
}

/// Origin of a parameter's value, as far as the kind of a row depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Provenance {
    pub name: &'static str,
    /// Places of the paper that it was measured or fitted on: `fig11`, `fig7.header_read`, `sec6.1.peak`.
    pub measured_on: &'static [&'static str],
    /// Parameters that its value was computed from.
    pub derived_from: &'static [&'static str],
}

impl Provenance {
    pub fn of(param: &Param) -> Provenance {
        Provenance {
            name: param.name,
            measured_on: param.measured_on,
            derived_from: param.derived_from,
        }
    }
}

/// The figure or section of a place: `fig7` of `fig7.header_read`, `sec6.1` of `sec6.1.peak`.
fn figure(place: &str) -> &str {
    let section = place.starts_with("sec");
    let starts_name = |at: usize| !(section && place[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let end = place.match_indices('.').map(|(at, _)| at).find(|&at| starts_name(at));
    &place[..end.unwrap_or(place.len())]
}

/// Whether one of these parameters, or a parameter it was derived from, was measured or fitted on the figure of one of
/// these places. A name that is not in `table` is a bug of the experiment.
fn is_calibrated(places: &[&str], depends_on: &[&str], table: &[Provenance]) -> bool {
    let mut open: Vec<&str> = depends_on.to_vec();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = open.pop() {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let found = table.iter().find(|p| p.name == name);
        let param = found.unwrap_or_else(|| panic!("a row depends on `{name}`, which is not in the parameter table"));
        let here = |on: &&str| places.iter().any(|place| figure(on) == figure(place));
        if param.measured_on.iter().any(here) {
            return true;
        }
        open.extend(param.derived_from);
    }
    false
}

/// Bounds and their origin.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: f64,
    high: f64,
    by: Origin,
}

/// The description of a row before its measurement.
#[derive(Clone, Debug)]
pub struct Spec {
    row: String,
    quantity: String,
    unit: &'static str,
    paper: Option<Paper>,
    expected: Option<f64>,
    formula: Option<&'static str>,
    bounds: Option<Bounds>,
    is_statement: bool,
    places: Vec<&'static str>,
    depends_on: Vec<&'static str>,
    moves_with: Option<(&'static str, f64)>,
    leaves: Option<(f64, f64)>,
    reason: Option<&'static str>,
}

impl Spec {
    /// `row` begins with its figure or section: `fig7.total`.
    pub fn new(row: impl Into<String>, quantity: impl Into<String>, unit: &'static str) -> Spec {
        Spec {
            row: row.into(),
            quantity: quantity.into(),
            unit,
            paper: None,
            expected: None,
            formula: None,
            bounds: None,
            is_statement: false,
            places: Vec::new(),
            depends_on: Vec::new(),
            moves_with: None,
            leaves: None,
            reason: None,
        }
    }

    /// The number that the source states, not one that we derived from it.
    pub fn paper(mut self, value: f64) -> Spec {
        self.paper = Some(Paper::Value(value));
        self
    }

    /// The range that the source states; the row must lie in it.
    pub fn paper_range(mut self, low: f64, high: f64) -> Spec {
        self.paper = Some(Paper::Range(low, high));
        self.bounded(low, high, Origin::Paper)
    }

    /// The row passes when `low <= ours <= high`; the bounds are our choice.
    pub fn within(self, low: f64, high: f64) -> Spec {
        self.bounded(low, high, Origin::Ours)
    }

    /// The same, with bounds that the paper states.
    pub fn stated(self, low: f64, high: f64) -> Spec {
        self.bounded(low, high, Origin::Paper)
    }

    /// The same, with bounds that we derived; `how` is the formula.
    pub fn by_formula(mut self, low: f64, high: f64, how: &'static str) -> Spec {
        self.formula = Some(how);
        self.bounded(low, high, Origin::Formula)
    }

    /// A value that we derived, by the formula `how`: shown, not checked.
    pub fn beside(mut self, value: f64, how: &'static str) -> Spec {
        (self.expected, self.formula) = (Some(value), Some(how));
        self
    }

    /// The same; the row passes when it differs by at most this share of the value.
    pub fn near(self, value: f64, share: f64, how: &'static str) -> Spec {
        let (low, high) = (value * (1.0 - share), value * (1.0 + share));
        self.beside(value, how).by_formula(low, high, how)
    }

    pub fn bounded(mut self, low: f64, high: f64, by: Origin) -> Spec {
        self.bounds = Some(Bounds { low, high, by });
        self
    }

    /// The source states in words what the row checks; the bounds are ours.
    pub fn says(mut self) -> Spec {
        self.is_statement = true;
        self
    }

    /// Other places where the paper states the same quantity, beside the figure in the row's name.
    pub fn also_at(mut self, places: &[&'static str]) -> Spec {
        self.places.extend(places);
        self
    }

    /// The parameters that `ours` depends on; a repeated name counts once.
    pub fn depends(mut self, names: &[&'static str]) -> Spec {
        for name in names {
            if !self.depends_on.contains(name) {
                self.depends_on.push(name);
            }
        }
        self
    }

    /// An RTL or memory parameter and another value of it that must change the row. For rows that the usual parameters
    /// do not move.
    pub fn moves_with(mut self, name: &'static str, value: f64) -> Spec {
        self.moves_with = Some((name, value));
        self
    }

    /// Ours at both ends of what the calibration of its parameters leaves open.
    pub fn leaves(mut self, one: f64, other: f64) -> Spec {
        self.leaves = Some((one.min(other), one.max(other)));
        self
    }

    /// Why the row misses its bounds, as far as it does: a limit that is known, shown with the row.
    pub fn known_miss(mut self, reason: &'static str) -> Spec {
        self.reason = Some(reason);
        self
    }

    /// The same where parameters are `beyond` those for which the row's statement holds.
    pub fn stops(self, beyond: bool, reason: &'static str) -> Spec {
        if beyond { self.known_miss(reason) } else { self }
    }

    /// Decides a row's kind, in this one place; none for a value without a comparison.
    fn kind(&self, table: &[Provenance]) -> Option<Kind> {
        let places: Vec<&str> = self.places.iter().copied().chain([self.row.as_str()]).collect();
        let calibrated = is_calibrated(&places, &self.depends_on, table);
        let is_sources = |by| self.is_statement || matches!(by, Origin::Paper | Origin::Public);
        match (self.paper, self.bounds) {
            (Some(_), _) if calibrated => Some(Kind::Calibrated),
            (Some(_), _) => Some(Kind::Prediction),
            (None, Some(bounds)) if is_sources(bounds.by) => Some(Kind::Criterion),
            (None, bounds) => (bounds.is_some() || self.expected.is_some()).then_some(Kind::Own),
        }
    }

    /// The row with its measurement. A NaN passes no check.
    pub fn measured(self, ours: f64, of: Source, table: &[Provenance]) -> Row {
        let pass = self.bounds.map(|b| (b.low..=b.high).contains(&ours));
        // A value that was not measured is no known miss.
        let is_known = pass == Some(false) && ours.is_finite();
        Row {
            machine: of.machine,
            experiment: of.experiment,
            kind: self.kind(table),
            quantity: self.quantity,
            unit: self.unit,
            paper: self.paper,
            expected: self.expected,
            ours,
            low: self.bounds.map(|b| b.low).filter(|b| b.is_finite()),
            high: self.bounds.map(|b| b.high).filter(|b| b.is_finite()),
            bounds_by: self.bounds.map(|b| b.by),
            formula: self.formula,
            depends_on: self.depends_on,
            leaves: self.leaves,
            pass,
            reason: self.reason.filter(|_| is_known),
            backend: of.backend,
            row: self.row,
            moves_with: self.moves_with,
        }
    }
}

/// Origin of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub machine: &'static str,
    pub experiment: &'static str,
    pub backend: BackendKind,
}

/// One row of the results.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub machine: &'static str,
    pub experiment: &'static str,
    pub row: String,
    pub quantity: String,
    pub unit: &'static str,
    /// The source's number, or its range as a pair; null without either.
    pub paper: Option<Paper>,
    /// The value of `formula`, where it gives one.
    pub expected: Option<f64>,
    /// Our measurement; null in JSON when it failed.
    pub ours: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Null without bounds.
    pub bounds_by: Option<Origin>,
    /// Our derivation of the expected value or of the bounds.
    pub formula: Option<&'static str>,
    /// Null where the row has no number of a source, no bounds and no expected value.
    pub kind: Option<Kind>,
    pub depends_on: Vec<&'static str>,
    /// Ours at both ends of what the calibration of its parameters leaves open, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaves: Option<(f64, f64)>,
    /// Null where nothing is checked.
    pub pass: Option<bool>,
    /// Why the row misses its bounds, where that is known; the command does not fail for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    pub backend: BackendKind,
    /// An RTL or memory parameter and a value of it that must change the row, where the usual ones (IO clock, Sender
    /// gap) do not.
    #[serde(skip)]
    pub moves_with: Option<(&'static str, f64)>,
}

impl Row {
    /// Difference from the source's number or from the expected value, in percent; from the nearer end of a range, 0
    /// within it.
    pub fn difference(&self) -> Option<f64> {
        let against = match (self.paper, self.expected) {
            (Some(Paper::Value(value)), _) | (None, Some(value)) => value,
            (Some(Paper::Range(low, high)), _) => self.ours.max(low).min(high),
            (None, None) => return None,
        };
        (against != 0.0).then(|| (self.ours - against) / against * 100.0)
    }

    /// A check that is missed, and nobody knows why.
    pub fn failed(&self) -> bool {
        self.is_missed() && self.reason.is_none()
    }

    pub fn is_missed(&self) -> bool {
        self.pass == Some(false)
    }

    /// Whether the row has a comparison; otherwise it is a plain value, mostly a point of a curve.
    pub fn is_compared(&self) -> bool {
        self.kind.is_some()
    }

    /// `+1.2 %`; empty without a comparison.
    pub fn difference_text(&self) -> String {
        // Adding zero turns -0 into 0.
        let tenths = |d: f64| (d * 10.0).round() / 10.0 + 0.0;
        self.difference()
            .map_or(String::new(), |d| format!("{:+.1} %", tenths(d)))
    }

    /// `7.12 us`, `464 B`, `34.83 MB/s (33.73 to 35.59)`: what is counted, or has no parts in this unit, is a whole
    /// number; behind it what the calibration leaves open.
    pub fn ours_text(&self) -> String {
        let has_parts = matches!(self.unit, "" | "us" | "ns" | "%") || self.unit.contains('/');
        let is_whole = self.ours.fract() == 0.0 && !has_parts;
        let text = if is_whole { stated(self.ours) } else { number(self.ours) };
        let open = |(low, high)| format!(" ({} to {})", number(low), number(high));
        let open = self.leaves.map_or(String::new(), open);
        format!("{}{open}", format!("{text} {}", self.unit).trim_end())
    }

    /// `7 us` or `6 to 8 KB`; the value of our formula in brackets; empty without either.
    pub fn paper_text(&self) -> String {
        let unit = self.unit;
        match (self.paper, self.expected) {
            (Some(Paper::Value(value)), _) => format!("{} {unit}", stated(value)),
            (Some(Paper::Range(low, high)), _) => format!("{} to {} {unit}", stated(low), stated(high)),
            (None, Some(value)) => format!("({})", format!("{} {unit}", stated(value)).trim_end()),
            (None, None) => String::new(),
        }
    }

    /// `6 to 8`, `at least 6`; empty where nothing is checked.
    pub fn bounds_text(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) if low == high => stated(low),
            (Some(low), Some(high)) => format!("{} to {}", stated(low), stated(high)),
            (Some(low), None) => format!("at least {}", stated(low)),
            (None, Some(high)) => format!("at most {}", stated(high)),
            (None, None) => String::new(),
        }
    }

    /// The origin of the bounds, or the formula.
    pub fn bounds_by_text(&self) -> String {
        match (self.bounds_by, self.formula) {
            (_, Some(how)) => format!("formula: {how}"),
            (Some(by), None) => by.name().into(),
            (None, None) => "none".into(),
        }
    }

    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("", Kind::name)
    }

    pub fn verdict(&self) -> &'static str {
        match self.pass {
            Some(true) => "ok",
            Some(false) if self.reason.is_some() => "missed, known",
            Some(false) => "MISSED",
            None => "not checked",
        }
    }
}

/// A value with a number of decimals that depends on its size.
pub fn number(v: f64) -> String {
    match v.abs() {
        a if a.is_nan() => "–".into(),
        a if a >= 1000.0 => format!("{v:.0}"),
        a if a >= 100.0 => format!("{v:.1}"),
        a if a >= 0.01 || a == 0.0 => format!("{v:.2}"),
        _ => format!("{v:.3}"),
    }
}

/// A value that nobody measured: the same decimals, but for zeros at the end.
pub fn stated(v: f64) -> String {
    let text = number(v);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [Provenance; 5] = [
        Provenance {
            name: "link_width",
            measured_on: &[],
            derived_from: &[],
        },
        Provenance {
            name: "header_read",
            measured_on: &["fig7.header_read"],
            derived_from: &[],
        },
        Provenance {
            name: "receiver_rate",
            measured_on: &["fig11", "fig12"],
            derived_from: &[],
        },
        Provenance {
            name: "burst_overhead",
            measured_on: &[],
            derived_from: &["receiver_rate"],
        },
        Provenance {
            name: "sync_idle",
            measured_on: &["sec6.1.after_sync"],
            derived_from: &["link_width"],
        },
    ];

    fn spec(row: &str, depends_on: &[&'static str]) -> Spec {
        Spec::new(row, "", "us").depends(depends_on)
    }

    fn kind_of(row: &str, depends_on: &[&'static str], table: &[Provenance]) -> Kind {
        spec(row, depends_on).paper(1.0).kind(table).expect("it has a number")
    }

    #[test]
    fn a_figure_is_what_precedes_the_first_name() {
        assert_eq!(figure("fig7"), "fig7");
        assert_eq!(figure("fig7.header_read"), "fig7");
        assert_eq!(figure("sec6.1.peak"), "sec6.1");
        assert_eq!(figure("fig9.8KB"), "fig9");
    }

    #[test]
    fn measured_on_its_own_row_or_figure_is_calibrated() {
        assert_eq!(kind_of("fig7.header_read", &["header_read"], &TABLE), Kind::Calibrated);
        assert_eq!(
            kind_of("fig7.total", &["link_width", "header_read"], &TABLE),
            Kind::Calibrated
        );
        assert_eq!(kind_of("fig11.peak", &["receiver_rate"], &TABLE), Kind::Calibrated);
        assert_eq!(kind_of("sec6.1.after_sync", &["sync_idle"], &TABLE), Kind::Calibrated);
    }

    #[test]
    fn measured_elsewhere_is_a_prediction() {
        assert_eq!(
            kind_of(
                "fig9.plateau",
                &["header_read", "receiver_rate", "burst_overhead"],
                &TABLE
            ),
            Kind::Prediction
        );
        assert_eq!(kind_of("fig1.x", &["header_read"], &TABLE), Kind::Prediction);
        assert_eq!(kind_of("fig70.x", &["header_read"], &TABLE), Kind::Prediction);
    }

    #[test]
    fn derivation_carries_the_calibration() {
        assert_eq!(kind_of("fig11.peak", &["burst_overhead"], &TABLE), Kind::Calibrated);
    }

    #[test]
    fn a_second_place_counts() {
        let row = spec("fig14.value", &["receiver_rate"]).paper(1.0);
        assert_eq!(row.kind(&TABLE), Some(Kind::Prediction));
        assert_eq!(row.also_at(&["fig11"]).kind(&TABLE), Some(Kind::Calibrated));
    }

    #[test]
    fn what_is_no_number_of_a_source_is_a_criterion_or_our_own_or_nothing() {
        let row = || spec("fig12.x", &["receiver_rate"]);
        assert_eq!(row().stated(0.0, 1.0).kind(&TABLE), Some(Kind::Criterion));
        assert_eq!(
            row().bounded(0.0, 1.0, Origin::Public).kind(&TABLE),
            Some(Kind::Criterion)
        );
        assert_eq!(row().within(0.0, 1.0).kind(&TABLE), Some(Kind::Own));
        assert_eq!(row().within(0.0, 1.0).says().kind(&TABLE), Some(Kind::Criterion));
        assert_eq!(row().near(1.0, 0.05, "").kind(&TABLE), Some(Kind::Own));
        assert_eq!(row().beside(1.0, "").kind(&TABLE), Some(Kind::Own));
        assert_eq!(row().kind(&TABLE), None);
    }

    #[test]
    fn a_number_without_bounds_is_shown_as_such() {
        let row = spec("fig9.x", &["receiver_rate"]).paper(8.0).measured(7.0, OF, &TABLE);
        assert!(row.is_compared() && !row.failed());
        assert_eq!((row.kind, row.pass), (Some(Kind::Prediction), None));
        assert_eq!(
            [
                row.paper_text(),
                row.difference_text(),
                row.bounds_text(),
                row.bounds_by_text()
            ],
            ["8 us", "-12.5 %", "", "none"]
        );
        assert_eq!(row.verdict(), "not checked");
        let ours = spec("m4.x", &[]).beside(20.0, "a over b").measured(30.0, OF, &TABLE);
        assert_eq!(
            [ours.paper_text(), ours.difference_text(), ours.bounds_by_text()],
            ["(20 us)", "+50.0 %", "formula: a over b"]
        );
        assert_eq!((ours.pass, ours.paper), (None, None));
    }

    #[test]
    fn a_range_of_the_paper_is_its_bounds() {
        let at = |ours| spec("fig9.x", &[]).paper_range(6.0, 8.0).measured(ours, OF, &TABLE);
        assert_eq!((at(7.0).pass, at(9.0).pass), (Some(true), Some(false)));
        assert_eq!((at(7.0).difference(), at(9.0).difference()), (Some(0.0), Some(12.5)));
        assert_eq!(
            (at(3.0).difference(), at(7.0).bounds_by),
            (Some(-50.0), Some(Origin::Paper))
        );
        assert_eq!(at(7.0).paper_text(), "6 to 8 us");
        let json = serde_json::to_value(at(7.0)).unwrap();
        assert_eq!(
            (&json["paper"], &json["bounds_by"]),
            (&serde_json::json!([6.0, 8.0]), &"paper".into())
        );
    }

    /// The broken twin: a table that hides one origin makes a calibrated row look like a prediction, and only that row.
    #[test]
    fn a_mislabelled_parameter_flips_the_kind() {
        let mut twin = TABLE;
        twin[2].measured_on = &["fig12"];
        assert_eq!(kind_of("fig11.peak", &["burst_overhead"], &twin), Kind::Prediction);
        assert_eq!(kind_of("fig7.total", &["header_read"], &twin), Kind::Calibrated);
    }

    #[test]
    #[should_panic(expected = "`no_such`, which is not in the parameter table")]
    fn an_unknown_parameter_is_a_bug() {
        kind_of("fig7.total", &["no_such"], &TABLE);
    }

    const OF: Source = Source {
        machine: "cenju3",
        experiment: "E2",
        backend: BackendKind::Rtl,
    };

    #[test]
    fn json_has_the_stated_fields_in_order() {
        let spec = Spec::new("fig7.total", "latency", "us")
            .paper(7.0)
            .within(6.5, 7.5)
            .depends(&["header_read"]);
        let row = spec.measured(7.7, OF, &TABLE);
        assert_eq!(
            serde_json::to_string(&row).unwrap(),
            r#"{"machine":"cenju3","experiment":"E2","row":"fig7.total","quantity":"latency","unit":"us","paper":7.0,"#
                .to_owned()
                + r#""expected":null,"ours":7.7,"low":6.5,"high":7.5,"bounds_by":"ours","formula":null,"#
                + r#""kind":"calibrated","depends_on":["header_read"],"pass":false,"backend":"rtl"}"#
        );
        assert!((row.difference().unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(
            (row.difference_text(), row.bounds_text()),
            ("+10.0 %".into(), "6.5 to 7.5".into())
        );
        let close = Row {
            ours: 6.9999,
            low: None,
            ..row
        };
        assert_eq!(
            (close.difference_text(), close.bounds_text()),
            ("+0.0 %".into(), "at most 7.5".into())
        );
    }

    #[test]
    fn what_is_counted_is_a_whole_number() {
        let text = |ours: f64, unit| Spec::new("x", "", unit).measured(ours, OF, &[]).ours_text();
        assert_eq!(
            [(464.0, "B"), (2.5, "loads"), (1.0, "us"), (36.0, "MB/s"), (2.0, "")].map(|(ours, unit)| text(ours, unit)),
            ["464 B", "2.50 loads", "1.00 us", "36.00 MB/s", "2.00"]
        );
        assert_eq!([1000.0, 0.8, 34.7, 0.0].map(stated), ["1000", "0.8", "34.7", "0"]);
        let open = Spec::new("x", "", "MB/s").leaves(35.6, 33.7).measured(34.8, OF, &[]);
        assert_eq!(open.ours_text(), "34.80 MB/s (33.70 to 35.60)");
    }

    #[test]
    fn a_measurement_that_is_not_a_number_fails() {
        let row = spec("fig7.total", &[])
            .within(0.0, f64::INFINITY)
            .measured(f64::NAN, OF, &TABLE);
        assert!(row.failed());
        assert_eq!((row.low, row.high), (Some(0.0), None));
    }
}
