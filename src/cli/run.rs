//! `tsunagi run`: one scenario and its measurements.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

use super::CliError;
use super::args::RunArgs;
use super::table::{self, Table};
use crate::harness::names;
use crate::harness::wave::Probe;
use crate::machine::{Machine, Run, Scenario};
use crate::repro::Quantity;
use crate::repro::row::number;

/// A measurement as CSV has it.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    value: f64,
    unit: &'static str,
    quantity: &'static str,
}

pub fn run(args: &RunArgs) -> Result<(), CliError> {
    let options = args.options.given();
    let measured = args.machine.run(&Run {
        scenario: scenario(args.machine, &args.scenario, &options)?,
        options: &options,
        backend: args.backend.kind(),
        settings: &args.set.settings(),
        probe: &Probe::default(),
    })?;
    if let Some(path) = &args.listing {
        let none = || {
            CliError::Usage(format!(
                "--listing: {} has no processor on its NIC",
                args.machine.name()
            ))
        };
        let listing = measured.listing.as_ref().ok_or_else(none)?;
        fs::write(path, listing).map_err(CliError::file("write", path))?;
    }
    let mut notes = Vec::new();
    for (q, _) in measured.values.iter().filter(|(_, value)| !value.is_finite()) {
        let without = measured.without.iter().find(|(name, _)| *name == q.name);
        let missing = || format!("`{}` was not measured, because it did not happen: {}", q.name, q.what);
        let (_, note) = without.ok_or_else(|| CliError::Failed(missing()))?;
        if !notes.contains(note) {
            notes.push(note);
        }
    }
    if args.format.csv {
        let line = |(q, value): &(&Quantity, f64)| Line {
            name: q.name,
            value: *value,
            unit: q.unit,
            quantity: q.what,
        };
        return table::print_csv(measured.values.iter().map(line));
    }
    if args.format.json {
        let values = measured.values.iter().map(|(q, value)| (q.name, *value));
        return table::print_json(&values.collect::<BTreeMap<&str, f64>>());
    }
    let mut shown = Table::new(&["quantity", "value", "unit", "in --json"], &[1]);
    for (q, value) in &measured.values {
        shown.add_row([q.what, &number(*value), q.unit, q.name]);
    }
    table::print(format!("{} on the {}", measured.done, args.backend.kind().name()))?;
    table::print(shown)?;
    notes.iter().try_for_each(table::print)
}

/// The machine's scenario of this name, after a check of the given options and their values.
pub fn scenario(machine: &dyn Machine, name: &str, options: &[(&str, &str)]) -> Result<&'static Scenario, CliError> {
    let refuse = |what: &str, why: &str| CliError::Usage(format!("{what}: {why}"));
    let known = machine.facts().scenarios;
    let Some(scenario) = known.iter().find(|scenario| scenario.name == name) else {
        let known: Vec<&str> = known.iter().map(|scenario| scenario.name).collect();
        let why = format!(
            "{} has no such scenario; {}",
            machine.name(),
            names::propose(name, &known)
        );
        return Err(refuse(name, &why));
    };
    for (option, value) in options {
        // A scenario must not ignore a given option.
        let Some(known) = scenario.options.iter().find(|known| known.name == *option) else {
            return Err(refuse(&format!("--{option}"), &format!("`{name}` has no such option")));
        };
        let checked = known.value.check(value);
        checked.map_err(|why| refuse(&format!("--{option} {value}"), &why))?;
    }
    Ok(scenario)
}
