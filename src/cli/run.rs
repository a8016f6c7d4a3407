//! `tsunagi run`: one scenario, and the numbers that were read from it.

use std::collections::BTreeMap;

use super::args::{AtEnd, Machine, RunArgs, ScenarioName};
use super::{CliError, table};
use crate::harness::wave::Probe;
use crate::repro::cenju3::{self, quantity};
use crate::repro::row::number;
use crate::repro::{Quantity, ap1000p::scenario as ap1000p};

pub fn run(args: &RunArgs) -> Result<(), CliError> {
    check(args)?;
    let (done, measured) = match args.machine {
        Machine::Cenju3 => on_cenju3(args)?,
        Machine::Ap1000p => on_ap1000p(args)?,
    };
    let mut notes = Vec::new();
    for (q, _) in measured.iter().filter(|(_, value)| !value.is_finite()) {
        let missing = || format!("`{}` was not measured: {}; it did not happen", q.name, q.what);
        let note = why_none(args, q)?.ok_or_else(|| CliError::Failed(missing()))?;
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    if args.json {
        let values = measured.iter().map(|(q, value)| (q.name, *value));
        return table::print_json(&values.collect::<BTreeMap<&str, f64>>());
    }
    let mut shown = table::new(&["what was measured", "value", "unit", "in --json"], &[1]);
    for (q, value) in &measured {
        shown.add_row([q.what, &number(*value), q.unit, q.name]);
    }
    table::print(format!("{done} on the {}", args.backend.kind().name()))?;
    table::print(shown.trim_fmt())?;
    notes.iter().try_for_each(table::print)
}

/// Why a quantity has no value, where it cannot have one.
fn why_none(args: &RunArgs, q: &Quantity) -> Result<Option<&'static str>, CliError> {
    let (_, count) = amounts(args);
    Ok(match q.name {
        "steady_rate" | "later" if count == 1 => Some("– needs --count 2 or more"),
        "syscall" | "kernel_to_start" if args.settings.cenju3()?.user_level => {
            Some("– is part of the system call, and with user_level=1 there is none")
        }
        _ => None,
    })
}

/// What was done, in words, and what was measured.
type Done = (String, Vec<(&'static Quantity, f64)>);

fn on_cenju3(args: &RunArgs) -> Result<Done, CliError> {
    use cenju3::{Scenario, What};
    let (bytes, count) = amounts(args);
    let (done, what) = match args.scenario {
        ScenarioName::PingPong => (
            format!("One word by CJrmwrite to and fro, {count} rounds,"),
            What::PingPong { rounds: count },
        ),
        ScenarioName::Rmwrite => (
            format!("{count} x CJrmwrite of {bytes} B"),
            What::Rmwrite {
                bytes,
                calls: count,
                receiver: true,
            },
        ),
        ScenarioName::Stream => (
            format!("{count} x DMA of {bytes} B"),
            What::Stream {
                bytes,
                transfers: count,
                at_end: match args.at_end.unwrap_or(AtEnd::Nothing) {
                    AtEnd::Nothing => cenju3::AtEnd::Nothing,
                    AtEnd::Stopped => cenju3::AtEnd::InvalidateStopped,
                    AtEnd::Pieces => cenju3::AtEnd::InvalidatePieces,
                },
            },
        ),
        _ => ("One word as a bare message".into(), What::OneWord),
    };
    let measured = cenju3::measure(&Scenario {
        backend: args.backend.kind(),
        config: args.settings.cenju3()?,
        what,
    })?;
    let values = measured.values.iter().map(|(name, value)| (quantity(name), *value));
    Ok((done, values.collect()))
}

fn on_ap1000p(args: &RunArgs) -> Result<Done, CliError> {
    use ap1000p::{Scenario, What};
    let (bytes, count) = amounts(args);
    let (done, what) = match args.scenario {
        ScenarioName::Put => (format!("{count} x PUT of {bytes} B"), What::Put { bytes, count }),
        ScenarioName::Get => (format!("{count} x GET of {bytes} B"), What::Get { bytes, count }),
        ScenarioName::Load => (format!("{count} x load of a neighbour's word"), What::Load { count }),
        _ => (
            format!("One word by PUT to and fro, {count} rounds,"),
            What::PingPong { rounds: count },
        ),
    };
    let mut config = args.settings.ap1000p()?;
    if !args.settings.sets("mem_bytes") {
        config.mem_bytes = config.mem_bytes.max(what.mem_bytes());
    }
    let scenario = Scenario {
        backend: args.backend.kind(),
        config,
        what,
    };
    Ok((done, ap1000p::measure(&scenario, &Probe::default())?.values))
}

/// Bytes, and how many times.
fn amounts(args: &RunArgs) -> (u32, u32) {
    (args.bytes.unwrap_or(8192), args.count.unwrap_or(4))
}

/// Whether the machine has the scenario, and that the options given.
fn check(args: &RunArgs) -> Result<(), CliError> {
    use ScenarioName::*;
    let (scenario, (bytes, count)) = (args.scenario, amounts(args));
    let refuse = |option: &str, why: &str| Err(CliError::Usage(format!("{option}: {why}")));
    let known = ScenarioName::of(args.machine);
    if !known.contains(&scenario) {
        let known: Vec<String> = known.iter().map(|scenario| scenario.name()).collect();
        let why = format!("{} has {}", args.machine.name(), known.join(", "));
        return refuse(&scenario.name(), &why);
    }
    // An option that would be passed over is a mistake.
    let unused = [
        (
            "--bytes",
            args.bytes.is_some(),
            matches!(scenario, Rmwrite | Stream | Put | Get),
        ),
        ("--count", args.count.is_some(), scenario != OneWord),
        ("--at-end", args.at_end.is_some(), scenario == Stream),
    ];
    if let Some((option, ..)) = unused.iter().find(|(_, given, used)| *given && !used) {
        return refuse(option, &format!("`{}` has no such thing", scenario.name()));
    }
    match scenario {
        PingPong if count < 2 => refuse("--count 1", "a ping-pong has at least 2 rounds"),
        Stream if !bytes.is_multiple_of(32) => refuse(&format!("--bytes {bytes}"), "a DMA is a multiple of 32 bytes"),
        Put | Get if !bytes.is_multiple_of(4) => {
            refuse(&format!("--bytes {bytes}"), "a message is a multiple of 4 bytes")
        }
        _ => Ok(()),
    }
}
