//! `tsunagi run`: one scenario and its measurements.

use std::collections::BTreeMap;
use std::fs;

use super::args::RunArgs;
use super::{CliError, table};
use crate::harness::wave::Probe;
use crate::machine::{Machine, Run, Scenario};
use crate::repro::row::number;

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
    if args.json {
        let values = measured.values.iter().map(|(q, value)| (q.name, *value));
        return table::print_json(&values.collect::<BTreeMap<&str, f64>>());
    }
    let mut shown = table::new(&["quantity", "value", "unit", "in --json"], &[1]);
    for (q, value) in &measured.values {
        shown.add_row([q.what, &number(*value), q.unit, q.name]);
    }
    table::print(format!("{} on the {}", measured.done, args.backend.kind().name()))?;
    table::print(shown.trim_fmt())?;
    notes.iter().try_for_each(table::print)
}

/// The machine's scenario of this name, after a check of the given options and their values.
pub fn scenario(machine: &dyn Machine, name: &str, options: &[(&str, &str)]) -> Result<&'static Scenario, CliError> {
    let refuse = |what: &str, why: &str| CliError::Usage(format!("{what}: {why}"));
    let known = machine.facts().scenarios;
    let Some(scenario) = known.iter().find(|scenario| scenario.name == name) else {
        let known: Vec<&str> = known.iter().map(|scenario| scenario.name).collect();
        return Err(refuse(name, &format!("{} has {}", machine.name(), known.join(", "))));
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
