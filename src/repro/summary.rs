//! The summary of a machine's rows.

use std::collections::BTreeSet;
use std::fmt;

use super::row::{Kind, Origin, Row};

/// Counts of rows. A row measured on two backends is two checks and one prediction, because the source's measurement is
/// the same.
#[derive(Clone, Debug)]
pub struct Summary<'a> {
    /// Rows with bounds, and the number of them within.
    pub checks: usize,
    pub met: usize,
    /// Rows with bounds of this origin.
    pub bounds_by: [(Origin, usize); 4],
    /// Different rows of this kind.
    pub kinds: [(Kind, usize); 4],
    /// The first of the predictions with the greatest difference from the source's number; it need not be a check.
    pub worst: Option<&'a Row>,
    /// Different rows without a comparison.
    pub values: usize,
}

impl<'a> Summary<'a> {
    pub fn of(rows: &[&'a Row]) -> Summary<'a> {
        let different = |kind: Option<Kind>| {
            let of_kind = rows.iter().filter(|r| r.kind == kind);
            of_kind.map(|r| (r.machine, &r.row)).collect::<BTreeSet<_>>().len()
        };
        let off = |r: &Row| r.difference().map_or(f64::INFINITY, f64::abs);
        let predictions = rows.iter().filter(|r| r.kind == Some(Kind::Prediction));
        let by = |origin| rows.iter().filter(|r| r.bounds_by == Some(origin)).count();
        Summary {
            checks: rows.iter().filter(|r| r.pass.is_some()).count(),
            met: rows.iter().filter(|r| r.pass == Some(true)).count(),
            bounds_by: [Origin::Paper, Origin::Public, Origin::Formula, Origin::Ours].map(|o| (o, by(o))),
            kinds: [Kind::Prediction, Kind::Calibrated, Kind::Criterion, Kind::Own].map(|k| (k, different(Some(k)))),
            worst: predictions
                .copied()
                .reduce(|a, b| if off(b).total_cmp(&off(a)).is_gt() { b } else { a }),
            values: different(None),
        }
    }

    /// Independent predictions.
    pub fn predictions(&self) -> usize {
        self.kinds[0].1
    }
}

/// `2 of 3 checks met; bounds by paper 1, ours 2; kinds: prediction 2, criterion 1;`
/// `worst prediction fig14.peak -12.5 %; values without bounds 1`
impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T>(counts: &[(T, usize)], name: impl Fn(&T) -> &'static str) -> Option<String> {
            let some = counts.iter().filter(|(_, count)| *count > 0);
            let texts: Vec<String> = some.map(|(of, count)| format!("{} {count}", name(of))).collect();
            (!texts.is_empty()).then(|| texts.join(", "))
        }
        write!(f, "{} of {} checks met", self.met, self.checks)?;
        if let Some(bounds) = list(&self.bounds_by, |by| by.name()) {
            write!(f, "; bounds by {bounds}")?;
        }
        if let Some(kinds) = list(&self.kinds, |kind| kind.name()) {
            write!(f, "; kinds: {kinds}")?;
        }
        if let Some(worst) = self.worst {
            write!(f, "; worst prediction {} {}", worst.row, worst.difference_text())?;
        }
        if self.values > 0 {
            write!(f, "; values without bounds {}", self.values)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::row::{BackendKind, Source, Spec};

    fn row(spec: Spec, ours: f64, backend: BackendKind) -> Row {
        let of = Source {
            machine: "cenju3",
            experiment: "E4",
            backend,
        };
        spec.measured(ours, of, &[])
    }

    #[test]
    fn two_backends_are_two_checks_and_one_prediction() {
        let plateau = || Spec::new("fig9.plateau", "", "MB/s").paper(40.0).within(39.0, 41.0);
        let peak = || Spec::new("fig14.peak", "", "KB").paper(8.0);
        let rows = [
            row(plateau(), 40.4, BackendKind::Rtl),
            row(plateau(), 41.2, BackendKind::Model),
            row(peak(), 7.0, BackendKind::Rtl),
            row(
                Spec::new("fig9.flat", "", "MB/s").stated(0.0, 1.0),
                0.5,
                BackendKind::Rtl,
            ),
            row(Spec::new("fig9.8KB", "", "MB/s"), 40.4, BackendKind::Rtl),
        ];
        let summary = Summary::of(&rows.each_ref());
        assert_eq!((summary.checks, summary.met, summary.predictions()), (3, 2, 2));
        assert_eq!(summary.worst.map(|r| r.row.as_str()), Some("fig14.peak"));
        assert_eq!(
            summary.to_string(),
            "2 of 3 checks met; bounds by paper 1, ours 2; kinds: prediction 2, criterion 1; \
             worst prediction fig14.peak -12.5 %; values without bounds 1"
        );
        // A missing measurement is the worst.
        let lost = row(plateau(), f64::NAN, BackendKind::Rtl);
        assert_eq!(
            Summary::of(&[&rows[2], &lost]).worst.map(|r| r.row.as_str()),
            Some("fig9.plateau")
        );
        assert_eq!(Summary::of(&[]).to_string(), "0 of 0 checks met");
    }
}
