//! `tsunagi list`.

use serde_json::json;

use super::args::ListArgs;
use super::{CliError, table, wave};
use crate::harness::params::Param;
use crate::machine::Machine;
use crate::machines;

pub fn list(args: &ListArgs) -> Result<(), CliError> {
    if args.json {
        table::print_json(
            &machines::all()
                .iter()
                .map(|machine| json_of(*machine))
                .collect::<Vec<_>>(),
        )
    } else {
        machines::all().iter().try_for_each(|machine| print(*machine))
    }
}

fn json_of(machine: &dyn Machine) -> serde_json::Value {
    let experiments: Vec<_> = machine
        .experiments()
        .iter()
        .map(|e| json!({"id": e.id, "figure": e.figure, "title": e.title}))
        .collect();
    let params: Vec<_> = machine
        .params()
        .iter()
        .map(|p| {
            json!({"name": p.name, "value": p.value, "unit": p.unit, "range": [p.range.0, p.range.1],
                "origin": origin(p), "measured_on": p.measured_on, "derived_from": p.derived_from, "note": p.note})
        })
        .collect();
    let (scenarios, waves) = (scenarios(machine), wave::names(machine));
    json!({"machine": machine.name(), "title": machine.facts().title, "paper": machine.facts().paper,
        "experiments": experiments, "scenarios": scenarios, "waves": waves, "parameters": params})
}

fn print(machine: &dyn Machine) -> Result<(), CliError> {
    table::print(format!(
        "Machine {}: {}\n  {}\n",
        machine.name(),
        machine.facts().title,
        machine.facts().paper
    ))?;
    let mut shown = table::new(&["experiment", "where", "title"], &[]);
    for e in machine.experiments() {
        shown.add_row([e.id, e.figure, e.title]);
    }
    table::print(format!("{shown}\n"))?;
    table::print(format!(
        "Scenarios for `run`: {}\nWaves: {}\n",
        scenarios(machine).join(", "),
        wave::names(machine).join(", ")
    ))?;
    let mut shown = table::new(
        &["parameter", "value", "unit", "origin", "measured on", "meaning"],
        &[1],
    );
    for p in machine.params() {
        shown.add_row([
            p.name,
            &p.value.to_string(),
            p.unit,
            &origin(p),
            &p.measured_on.join(", "),
            p.note,
        ]);
    }
    table::print(format!("{}\n", shown.trim_fmt()))
}

fn scenarios(machine: &dyn Machine) -> Vec<&'static str> {
    machine.facts().scenarios.iter().map(|scenario| scenario.name).collect()
}

/// The origin as it is printed: `calibrated`.
pub fn origin(param: &Param) -> String {
    format!("{:?}", param.origin).to_lowercase()
}
