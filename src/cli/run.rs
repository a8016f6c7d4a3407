//! `tsunagi run`: one scenario, and the numbers that were read from it.

use std::collections::BTreeMap;

use clap::ValueEnum;

use super::args::{AtEnd, RunArgs, ScenarioName};
use super::{CliError, table};
use crate::repro::cenju3::{self, Scenario, What, quantity};
use crate::repro::row::number;

pub fn run(args: &RunArgs) -> Result<(), CliError> {
    let scenario = Scenario {
        backend: args.backend.kind(),
        config: args.settings.config()?,
        what: what(args)?,
    };
    let measured = cenju3::measure(&scenario)?;
    let values = || measured.values.iter().filter(|v| v.1.is_finite());
    if args.json {
        table::print_json(&values().copied().collect::<BTreeMap<&str, f64>>());
        return Ok(());
    }
    let mut shown = table::new(&["what was measured", "value", "unit", "in --json"], &[1]);
    for (name, value) in values() {
        let q = quantity(name);
        shown.add_row([q.what, &number(*value), q.unit, q.name]);
    }
    table::print(format!(
        "{} on the {}",
        described(&scenario.what),
        scenario.backend.name()
    ));
    table::print(shown.trim_fmt());
    Ok(())
}

fn what(args: &RunArgs) -> Result<What, CliError> {
    let (bytes, count) = (args.bytes.unwrap_or(8192), args.count.unwrap_or(4));
    let refuse = |option: &str, why: &str| Err(CliError::Usage(format!("{option}: {why}")));
    let scenario = args.scenario;
    // An option that would be passed over is a mistake.
    let unused = [
        (
            "--bytes",
            args.bytes.is_some(),
            matches!(scenario, ScenarioName::Rmwrite | ScenarioName::Stream),
        ),
        ("--count", args.count.is_some(), scenario != ScenarioName::OneWord),
        ("--at-end", args.at_end.is_some(), scenario == ScenarioName::Stream),
    ];
    if let Some((option, ..)) = unused.iter().find(|(_, given, used)| *given && !used) {
        let name = scenario.to_possible_value().expect("every scenario has a name");
        return refuse(option, &format!("`{}` has no such thing", name.get_name()));
    }
    Ok(match scenario {
        ScenarioName::OneWord => What::OneWord,
        ScenarioName::PingPong if count < 2 => return refuse("--count 1", "a ping-pong has at least 2 rounds"),
        ScenarioName::PingPong => What::PingPong { rounds: count },
        ScenarioName::Rmwrite => What::Rmwrite {
            bytes,
            calls: count,
            receiver: true,
        },
        ScenarioName::Stream if !bytes.is_multiple_of(32) => {
            return refuse(&format!("--bytes {bytes}"), "a DMA is a multiple of 32 bytes");
        }
        ScenarioName::Stream => What::Stream {
            bytes,
            transfers: count,
            at_end: match args.at_end.unwrap_or(AtEnd::Nothing) {
                AtEnd::Nothing => cenju3::AtEnd::Nothing,
                AtEnd::Stopped => cenju3::AtEnd::InvalidateStopped,
                AtEnd::Pieces => cenju3::AtEnd::InvalidatePieces,
            },
        },
    })
}

fn described(what: &What) -> String {
    match what {
        What::OneWord => "One word as a bare message".into(),
        What::PingPong { rounds } => format!("One word by CJrmwrite to and fro, {rounds} rounds,"),
        What::Rmwrite { bytes, calls, .. } => format!("{calls} x CJrmwrite of {bytes} B"),
        What::Stream { bytes, transfers, .. } => format!("{transfers} x DMA of {bytes} B"),
    }
}
