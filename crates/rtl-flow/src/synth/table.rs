//! The results, compared with targets and with the recorded table, and their display.

use std::collections::BTreeMap;

use comfy_table::presets;
use comfy_table::{CellAlignment, Table};
use serde::{Deserialize, Serialize};

use super::measure::{Netlist, Route};
use crate::metadata::{AtMost, Target};

/// A larger loss than this share of the recorded value is an error.
const TOLERANCE: f64 = 0.10;

/// The results of one design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The module and its parameters.
    pub design: String,
    /// LUT4 + 2 CCU2C + 6 TRELLIS_DPR16X4.
    pub lut_eq: u64,
    pub ff: u64,
    /// Block RAMs of 18 Kbit.
    pub bram: u64,
    /// Multipliers.
    pub mult: u64,
    /// MHz of each clock, by seed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fmax: BTreeMap<String, Vec<f64>>,
    /// The slowest path of each clock in the run of the median. It is for messages only, because its names change with
    /// any run.
    #[serde(skip)]
    pub critical: BTreeMap<String, String>,
}

/// Rows by the name of their entry.
pub type Rows = BTreeMap<String, Row>;

impl Row {
    pub fn new(design: String, netlist: &Netlist, clocks: &[String], routes: &[&Route]) -> Self {
        let count = |kind: &str| netlist.cells.get(kind).copied().unwrap_or(0);
        let mut row = Self {
            design,
            lut_eq: count("LUT4") + 2 * count("CCU2C") + 6 * count("TRELLIS_DPR16X4"),
            ff: count("TRELLIS_FF"),
            bram: count("DP16KD"),
            mult: count("MULT18X18D"),
            fmax: BTreeMap::new(),
            critical: BTreeMap::new(),
        };
        for (index, clock) in clocks.iter().enumerate().filter(|_| !routes.is_empty()) {
            let fmax: Vec<f64> = routes.iter().map(|route| route.fmax[index]).collect();
            let typical = median(&fmax);
            let route = routes.iter().find(|route| route.fmax[index] == typical);
            let critical = route.map(|route| route.critical[index].clone());
            row.critical.insert(clock.clone(), critical.unwrap_or_default());
            row.fmax.insert(clock.clone(), fmax);
        }
        row
    }

    /// The clocks' medians.
    fn medians(&self) -> impl Iterator<Item = (&String, f64)> {
        self.fmax.iter().map(|(clock, seeds)| (clock, median(seeds)))
    }

    /// The values that are more than the tolerance worse than the recorded ones; a value missing in either is not
    /// compared.
    pub fn worse_than(&self, landed: &Row) -> Vec<String> {
        let areas = [
            ("LUT-eq", self.lut_eq, landed.lut_eq),
            ("FF", self.ff, landed.ff),
            ("BRAM", self.bram, landed.bram),
            ("multipliers", self.mult, landed.mult),
        ];
        let mut worse: Vec<String> = areas
            .into_iter()
            .filter(|(_, now, then)| *now as f64 > *then as f64 * (1.0 + TOLERANCE))
            .map(|(what, now, then)| format!("{what} {now}, was {then}"))
            .collect();
        for (clock, now) in self.medians() {
            let then = landed.fmax.get(clock).map(|seeds| median(seeds));
            if let Some(then) = then.filter(|then| now < then * (1.0 - TOLERANCE)) {
                worse.push(format!("{clock} {now:.1} MHz, was {then:.1}"));
            }
        }
        worse
    }

    /// The missed targets, or the verdict on the reached ones.
    pub fn verdict(&self, target: &Target) -> String {
        let (mut missed, mut beside) = (Vec::new(), Vec::new());
        let areas = [("LUT-eq", self.lut_eq, target.lut_eq), ("FF", self.ff, target.ff)];
        for (what, now, limit) in areas {
            let Some(limit) = limit else { continue };
            let over = |limit: f64| now as f64 > limit;
            if over(limit.most) {
                missed.push(format!("{what} over {}", limit.most));
            } else if limit.aim.is_some_and(over) {
                beside.push(what);
            }
        }
        for (clock, now) in self.medians() {
            let Some(limit) = target.fmax else { continue };
            if now < limit.least {
                let clock = if self.fmax.len() > 1 {
                    format!("{clock} ")
                } else {
                    String::new()
                };
                missed.push(format!("{clock}under {} MHz", limit.least));
            } else if limit.aim.is_some_and(|aim| now < aim) && !beside.contains(&"Fmax") {
                beside.push("Fmax");
            }
        }
        if target.fmax.is_some() && !target.route {
            missed.push("not routed".into());
        }
        // The quick form has no clock speeds.
        let area = if target.fmax.is_some() && self.fmax.is_empty() {
            " in area"
        } else {
            ""
        };
        let aims = [
            target.fmax.and_then(|t| t.aim),
            target.lut_eq.and_then(|t| t.aim),
            target.ff.and_then(|t| t.aim),
        ];
        if !missed.is_empty() {
            format!("MISSED: {}", missed.join(", "))
        } else if target.fmax.is_none() && target.lut_eq.is_none() && target.ff.is_none() {
            String::new()
        } else if !beside.is_empty() {
            format!("met{area}; aim not in {}", beside.join(", "))
        } else if aims.iter().any(Option::is_some) {
            format!("met{area}, aim too")
        } else {
            format!("met{area}")
        }
    }
}

/// The median of an odd number of values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One line of the table: a row, its targets, and the recorded row.
pub struct Line<'a> {
    pub name: &'a str,
    pub row: &'a Row,
    pub target: Option<&'a Target>,
    pub landed: Option<&'a Row>,
}

/// The table for a terminal, or as Markdown without the changes.
pub fn render(lines: &[Line], markdown: bool) -> String {
    let mut table = Table::new();
    table.load_style(if markdown {
        presets::ASCII_MARKDOWN
    } else {
        presets::NOTHING
    });
    table.set_header([
        "Design", "LUT-eq", "at most", "FF", "at most", "BRAM", "Fmax MHz", "at least", "Verdict",
    ]);
    for index in 1..8 {
        let column = table.column_mut(index).expect("nine columns");
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in lines {
        let row = line.row;
        let change = |now: f64, then: Option<f64>| match then {
            Some(then) if !markdown && now != then && then != 0.0 => format!(" ({:+.1} %)", (now / then - 1.0) * 100.0),
            _ => String::new(),
        };
        let area = |now: u64, then: fn(&Row) -> u64| {
            format!("{now}{}", change(now as f64, line.landed.map(|l| then(l) as f64)))
        };
        let most = |target: Option<AtMost>| target.map_or(String::new(), |t| limit(t.most, t.aim));
        let fmax = row.medians().map(|(clock, now)| {
            let then = line.landed.and_then(|l| l.fmax.get(clock)).map(|seeds| median(seeds));
            format!("{now:.1}{}", change(now, then))
        });
        let mut verdict = line.target.map_or(String::new(), |target| row.verdict(target));
        if !markdown && line.landed.is_none() {
            verdict = [verdict.as_str(), "new"].join(if verdict.is_empty() { "" } else { "; " });
        }
        table.add_row([
            format!("{} ({})", row.design, line.name),
            area(row.lut_eq, |l| l.lut_eq),
            most(line.target.and_then(|t| t.lut_eq)),
            area(row.ff, |l| l.ff),
            most(line.target.and_then(|t| t.ff)),
            row.bram.to_string(),
            fmax.collect::<Vec<_>>().join(" / "),
            line.target
                .and_then(|t| t.fmax)
                .map_or(String::new(), |t| limit(t.least, t.aim)),
            verdict,
        ]);
    }
    table.to_string()
}

/// `165, aim 190`
fn limit(limit: f64, aim: Option<f64>) -> String {
    aim.map_or(limit.to_string(), |aim| format!("{limit}, aim {aim}"))
}
