//! `tsunagi list`.

use serde::Serialize;
use serde_json::json;

use super::args::ListArgs;
use super::table::{self, Table};
use super::{CliError, wave};
use crate::harness::params::Param;
use crate::machine::Machine;
use crate::machines;

/// A parameter as CSV has it.
#[derive(Serialize)]
struct Line {
    machine: &'static str,
    name: &'static str,
    value: f64,
    unit: &'static str,
    least: f64,
    most: f64,
    origin: String,
    measured_on: String,
    derived_from: String,
    note: &'static str,
}

pub fn list(args: &ListArgs) -> Result<(), CliError> {
    let machines = args.machine.as_ref().map_or(machines::all(), std::slice::from_ref);
    if args.format.csv {
        table::print_csv(machines.iter().flat_map(|machine| lines(*machine)))
    } else if args.format.json {
        let of = |machine: &&'static dyn Machine| json_of(*machine, args.params);
        table::print_json(&machines.iter().map(of).collect::<Vec<_>>())
    } else {
        machines.iter().try_for_each(|machine| print(*machine, args.params))
    }
}

fn lines(machine: &'static dyn Machine) -> impl Iterator<Item = Line> {
    machine.params().iter().map(|p| Line {
        machine: machine.name(),
        name: p.name,
        value: p.value,
        unit: p.unit,
        least: p.range.0,
        most: p.range.1,
        origin: origin(p),
        measured_on: p.measured_on.join(" "),
        derived_from: p.derived_from.join(" "),
        note: p.note,
    })
}

fn json_of(machine: &dyn Machine, only_params: bool) -> serde_json::Value {
    let params: Vec<_> = machine
        .params()
        .iter()
        .map(|p| {
            json!({"name": p.name, "value": p.value, "unit": p.unit, "range": [p.range.0, p.range.1],
                "origin": origin(p), "measured_on": p.measured_on, "derived_from": p.derived_from, "note": p.note})
        })
        .collect();
    if only_params {
        return json!({"machine": machine.name(), "parameters": params});
    }
    let experiments: Vec<_> = machine
        .experiments()
        .iter()
        .map(|e| json!({"id": e.id, "figure": e.figure, "title": e.title}))
        .collect();
    let (scenarios, waves) = (scenarios(machine), wave::names(machine));
    json!({"machine": machine.name(), "title": machine.facts().title, "paper": machine.facts().paper,
        "experiments": experiments, "scenarios": scenarios, "waves": waves, "parameters": params})
}

fn print(machine: &dyn Machine, only_params: bool) -> Result<(), CliError> {
    let facts = machine.facts();
    if only_params {
        table::print(format!("Machine {}: {}", machine.name(), facts.title))?;
    } else {
        table::print_wrapped(&format!(
            "Machine {}: {}\n  {}\n",
            machine.name(),
            facts.title,
            facts.paper
        ))?;
        let mut shown = Table::new(&["experiment", "where", "title"], &[]);
        for e in machine.experiments() {
            shown.add_row([e.id, e.figure, e.title]);
        }
        table::print(format!("{shown}\n"))?;
        table::print_wrapped(&format!(
            "Scenarios for `run`: {}\nWaves: {}\n",
            scenarios(machine).join(", "),
            wave::names(machine).join(", ")
        ))?;
    }
    let columns = ["parameter", "value", "unit", "origin", "measured on", "meaning"];
    let mut shown = Table::new(&columns, &[1]);
    for p in machine.params() {
        let (value, measured_on) = (p.value.to_string(), p.measured_on.join(", "));
        shown.add_row([p.name, &value, p.unit, &origin(p), &measured_on, p.note]);
    }
    table::print(format!("{shown}\n"))
}

fn scenarios(machine: &dyn Machine) -> Vec<&'static str> {
    machine.facts().scenarios.iter().map(|scenario| scenario.name).collect()
}

/// The origin as it is printed: `calibrated`.
pub fn origin(param: &Param) -> String {
    format!("{:?}", param.origin).to_lowercase()
}
