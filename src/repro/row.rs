//! A row of results: one quantity of the paper, ours beside it, and what the agreement is worth.

use serde::Serialize;

/// Which making of the machine a row was measured on.
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

/// What the agreement of a row with the paper is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// No parameter the row depends on was measured or fitted on the row's own row or figure, or derived from one that was.
    Prediction,
    /// Some parameter was: the row mostly gives its input back.
    Calibrated,
    /// The paper states something without a number, and the statement is checked.
    Criterion,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Prediction => "prediction",
            Kind::Calibrated => "calibrated",
            Kind::Criterion => "criterion",
        }
    }
}

/// Where a parameter's value came from, as far as the kind of a row needs to know it.
#[derive(Clone, Copy, Debug)]
pub struct Provenance {
    pub name: &'static str,
    /// Places of the paper it was measured or fitted on: `fig11`, `fig7.header_read`, `sec6.1.peak`.
    pub measured_on: &'static [&'static str],
    /// Parameters its value was computed from.
    pub derived_from: &'static [&'static str],
}

/// The figure or section of a place: `fig7` of `fig7.header_read`, `sec6.1` of `sec6.1.peak`.
fn figure(place: &str) -> &str {
    let section = place.starts_with("sec");
    let starts_name = |at: usize| !(section && place[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let end = place.match_indices('.').map(|(at, _)| at).find(|&at| starts_name(at));
    &place[..end.unwrap_or(place.len())]
}

/// The one place where a row's kind is decided. `places` are where the paper states the row; `checked` says whether the row
/// has bounds to meet. A name that is not in `table` is a bug of the experiment.
pub fn kind(places: &[&str], paper: Option<f64>, checked: bool, depends_on: &[&str], table: &[Provenance]) -> Kind {
    if paper.is_none() && checked {
        return Kind::Criterion;
    }
    let mut open: Vec<&str> = depends_on.to_vec();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = open.pop() {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let found = table.iter().find(|p| p.name == name);
        let param = found.unwrap_or_else(|| panic!("a row depends on `{name}`, which is not in the parameter table"));
        if param
            .measured_on
            .iter()
            .any(|on| places.iter().any(|place| figure(on) == figure(place)))
        {
            return Kind::Calibrated;
        }
        open.extend(param.derived_from);
    }
    Kind::Prediction
}

/// What an experiment says of a row before it is measured.
#[derive(Clone, Debug)]
pub struct Spec {
    row: String,
    quantity: String,
    unit: &'static str,
    paper: Option<f64>,
    bounds: Option<(f64, f64)>,
    places: Vec<&'static str>,
    depends_on: Vec<&'static str>,
    moves_with: Option<(&'static str, f64)>,
}

impl Spec {
    /// `row` begins with the figure or section it belongs to: `fig7.total`.
    pub fn new(row: impl Into<String>, quantity: impl Into<String>, unit: &'static str) -> Spec {
        Spec {
            row: row.into(),
            quantity: quantity.into(),
            unit,
            paper: None,
            bounds: None,
            places: Vec::new(),
            depends_on: Vec::new(),
            moves_with: None,
        }
    }

    /// The paper's number.
    pub fn paper(mut self, value: f64) -> Spec {
        self.paper = Some(value);
        self
    }

    /// The row passes when `low <= ours <= high`.
    pub fn within(mut self, low: f64, high: f64) -> Spec {
        self.bounds = Some((low, high));
        self
    }

    /// Other places where the paper states the same quantity, besides the figure that begins the row's name.
    pub fn also_at(mut self, places: &[&'static str]) -> Spec {
        self.places.extend(places);
        self
    }

    /// The parameters `ours` depends on; a name given twice counts once.
    pub fn depends(mut self, names: &[&'static str]) -> Spec {
        for name in names {
            if !self.depends_on.contains(name) {
                self.depends_on.push(name);
            }
        }
        self
    }

    /// An RTL or memory parameter and another value of it, with which the row must come out different, where the usual ones do not tell.
    pub fn moves_with(mut self, name: &'static str, value: f64) -> Spec {
        self.moves_with = Some((name, value));
        self
    }

    /// The row, given what was measured. A measurement that is not a number passes no check.
    pub fn measured(self, ours: f64, of: Source, table: &[Provenance]) -> Row {
        let places: Vec<&str> = self.places.iter().copied().chain([self.row.as_str()]).collect();
        let kind = kind(&places, self.paper, self.bounds.is_some(), &self.depends_on, table);
        Row {
            machine: of.machine,
            experiment: of.experiment,
            quantity: self.quantity,
            unit: self.unit,
            paper: self.paper,
            ours,
            low: self.bounds.map(|b| b.0).filter(|b| b.is_finite()),
            high: self.bounds.map(|b| b.1).filter(|b| b.is_finite()),
            kind,
            depends_on: self.depends_on,
            pass: self.bounds.map(|(low, high)| (low..=high).contains(&ours)),
            backend: of.backend,
            row: self.row,
            moves_with: self.moves_with,
        }
    }
}

/// Whose measurement it is.
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
    /// Null where the paper gives no number.
    pub paper: Option<f64>,
    /// Null in JSON when the measurement failed.
    pub ours: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub kind: Kind,
    pub depends_on: Vec<&'static str>,
    /// Null where nothing is checked: the point of a curve the paper gives no number for.
    pub pass: Option<bool>,
    pub backend: BackendKind,
    /// An RTL or memory parameter and a value of it with which the row must come out different, where the usual ones (IO clock, Sender gap) do not tell.
    #[serde(skip)]
    pub moves_with: Option<(&'static str, f64)>,
}

impl Row {
    /// Ours against the paper, percent.
    pub fn difference(&self) -> Option<f64> {
        self.paper.filter(|p| *p != 0.0).map(|p| (self.ours - p) / p * 100.0)
    }

    pub fn failed(&self) -> bool {
        self.pass == Some(false)
    }

    /// `+1.2 %`; empty where there is nothing to compare with.
    pub fn difference_text(&self) -> String {
        // Adding zero turns -0 into 0.
        let tenths = |d: f64| (d * 10.0).round() / 10.0 + 0.0;
        self.difference()
            .map_or(String::new(), |d| format!("{:+.1} %", tenths(d)))
    }

    /// `6.00 to 8.00`, `at least 6.00`; empty where nothing is checked.
    pub fn bounds_text(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            (Some(low), None) => format!("at least {}", number(low)),
            (None, Some(high)) => format!("at most {}", number(high)),
            (None, None) => String::new(),
        }
    }
}

/// A value with as many places as its size asks for.
pub fn number(v: f64) -> String {
    match v.abs() {
        a if a.is_nan() => "–".into(),
        a if a >= 1000.0 => format!("{v:.0}"),
        a if a >= 100.0 => format!("{v:.1}"),
        a if a >= 0.01 || a == 0.0 => format!("{v:.2}"),
        _ => format!("{v:.3}"),
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

    fn kind_of(row: &str, depends_on: &[&str], table: &[Provenance]) -> Kind {
        kind(&[row], Some(1.0), true, depends_on, table)
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
        assert_eq!(
            kind(&["fig14.value", "fig11"], Some(1.0), true, &["receiver_rate"], &TABLE),
            Kind::Calibrated
        );
    }

    #[test]
    fn a_checked_statement_without_a_number_is_a_criterion() {
        assert_eq!(
            kind(&["fig12.x"], None, true, &["receiver_rate"], &TABLE),
            Kind::Criterion
        );
        assert_eq!(
            kind(&["fig12.x"], None, false, &["receiver_rate"], &TABLE),
            Kind::Calibrated
        );
        assert_eq!(
            kind(&["fig9.x"], None, false, &["receiver_rate"], &TABLE),
            Kind::Prediction
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

    #[test]
    fn json_has_the_stated_fields_in_order() {
        let of = Source {
            machine: "cenju3",
            experiment: "E2",
            backend: BackendKind::Rtl,
        };
        let spec = Spec::new("fig7.total", "latency", "us")
            .paper(7.0)
            .within(6.5, 7.5)
            .depends(&["header_read"]);
        let row = spec.measured(7.7, of, &TABLE);
        assert_eq!(
            serde_json::to_string(&row).unwrap(),
            r#"{"machine":"cenju3","experiment":"E2","row":"fig7.total","quantity":"latency","unit":"us","paper":7.0,"#
                .to_owned()
                + r#""ours":7.7,"low":6.5,"high":7.5,"kind":"calibrated","depends_on":["header_read"],"pass":false,"backend":"rtl"}"#
        );
        assert!((row.difference().unwrap() - 10.0).abs() < 1e-9);
        assert_eq!(
            (row.difference_text(), row.bounds_text()),
            ("+10.0 %".into(), "6.50 to 7.50".into())
        );
        let close = Row {
            ours: 6.9999,
            low: None,
            ..row
        };
        assert_eq!(
            (close.difference_text(), close.bounds_text()),
            ("+0.0 %".into(), "at most 7.50".into())
        );
    }

    #[test]
    fn a_measurement_that_is_not_a_number_fails() {
        let of = Source {
            machine: "cenju3",
            experiment: "E2",
            backend: BackendKind::Model,
        };
        let row = Spec::new("fig7.total", "latency", "us")
            .within(0.0, f64::INFINITY)
            .measured(f64::NAN, of, &TABLE);
        assert!(row.failed());
        assert_eq!((row.low, row.high), (Some(0.0), None));
    }
}
