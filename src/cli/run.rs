//! `tsunagi run`: one scenario, and the numbers that were read from it.

use std::collections::BTreeMap;

use super::args::{AtEnd, RunArgs, ScenarioName};
use super::{CliError, table};
use crate::repro::cenju3::{self, Scenario, What};
use crate::repro::row::number;

pub fn run(args: &RunArgs) -> Result<(), CliError> {
    let at_end = match args.at_end {
        AtEnd::Nothing => cenju3::AtEnd::Nothing,
        AtEnd::Stopped => cenju3::AtEnd::InvalidateStopped,
        AtEnd::Pieces => cenju3::AtEnd::InvalidatePieces,
    };
    let what = match args.scenario {
        ScenarioName::OneWord => What::OneWord,
        ScenarioName::PingPong => What::PingPong {
            rounds: args.count.max(2),
        },
        ScenarioName::Rmwrite => What::Rmwrite {
            bytes: args.bytes,
            calls: args.count,
            receiver: true,
        },
        ScenarioName::Stream if !args.bytes.is_multiple_of(32) => {
            return Err(CliError::Usage(format!(
                "--bytes {}: a DMA is a multiple of 32 bytes",
                args.bytes
            )));
        }
        ScenarioName::Stream => What::Stream {
            bytes: args.bytes,
            transfers: args.count,
            at_end,
        },
    };
    let scenario = Scenario {
        backend: args.backend.kind(),
        config: args.settings.config()?,
        what,
    };
    let measured = cenju3::measure(&scenario)?;
    let values: BTreeMap<&str, f64> = measured.values.iter().copied().filter(|v| v.1.is_finite()).collect();
    if args.json {
        table::print_json(&values);
        return Ok(());
    }
    let mut shown = table::new(&["measured", "value", "unit"], &[1]);
    for (name, value) in &measured.values {
        let unit = if name.ends_with("rate") { "MB/s" } else { "us" };
        shown.add_row([*name, &number(*value), unit]);
    }
    table::print(shown.trim_fmt());
    Ok(())
}
