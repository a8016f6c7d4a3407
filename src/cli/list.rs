//! `tsunagi list`.

use clap::ValueEnum;
use serde_json::json;

use super::args::{ListArgs, Machine, ScenarioName};
use super::{CliError, table, wave};
use crate::cenju3::params::PARAMS;
use crate::repro::cenju3 as experiments;

pub fn list(args: &ListArgs) -> Result<(), CliError> {
    if args.json {
        let experiments: Vec<_> = experiments::experiments()
            .map(|e| json!({"id": e.id, "figure": e.figure, "title": e.title}))
            .collect();
        let params: Vec<_> = PARAMS
            .iter()
            .map(|p| {
                json!({"name": p.name, "value": p.value, "unit": p.unit, "range": [p.range.0, p.range.1], "origin": origin(p),
                    "measured_on": p.measured_on, "derived_from": p.derived_from, "note": p.note})
            })
            .collect();
        let machine = json!({"machine": Machine::Cenju3.name(), "title": "NEC Cenju-3", "paper": experiments::PAPER,
            "experiments": experiments, "scenarios": scenarios().collect::<Vec<_>>(), "waves": wave::names().collect::<Vec<_>>(), "parameters": params});
        table::print_json(&[machine]);
        return Ok(());
    }
    table::print(format!(
        "Machine cenju3: NEC Cenju-3, up to 256 PEs\n  {}\n",
        experiments::PAPER
    ));
    let mut shown = table::new(&["experiment", "where", "what"], &[]);
    for e in experiments::experiments() {
        shown.add_row([e.id, e.figure, e.title]);
    }
    let waves = wave::names().collect::<Vec<_>>().join(", ");
    let scenarios = scenarios().collect::<Vec<_>>().join(", ");
    table::print(format!("{shown}\n\nScenarios for `run`: {scenarios}\nWaves: {waves}\n"));
    let mut shown = table::new(
        &["parameter", "value", "unit", "origin", "measured on", "what it is"],
        &[1],
    );
    for p in PARAMS {
        let origin = origin(p);
        shown.add_row([
            p.name,
            &p.value.to_string(),
            p.unit,
            &origin,
            &p.measured_on.join(", "),
            p.note,
        ]);
    }
    table::print(shown.trim_fmt());
    Ok(())
}

fn scenarios() -> impl Iterator<Item = String> {
    let names = ScenarioName::value_variants()
        .iter()
        .filter_map(ValueEnum::to_possible_value);
    names.map(|name| name.get_name().to_owned())
}

/// The origin as it is printed: `derived`.
pub fn origin(param: &crate::cenju3::params::Param) -> String {
    format!("{:?}", param.origin).to_lowercase()
}
