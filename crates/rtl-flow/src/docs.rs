//! The tables of the documents: proofs, modules, measurements, sets that stay RTL.

use std::fs;
use std::path::PathBuf;

use regex::Regex;

use crate::entries::sv_files;
use crate::pages::{self, Part};
use crate::{Flow, FlowError, Outcome, formal, gate, synth};

/// Write the generated tables of the documents, from RTL, proofs and lists
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; name the stale tables
    #[arg(long)]
    check: bool,
    /// The folder of the proofs
    #[arg(long, default_value = "formal")]
    proofs: PathBuf,
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let mut parts = modules(flow)?;
    parts.extend([formal::part(&args.proofs)?, gate::part(flow)?, synth::part(flow)?]);
    if args.check {
        let stale: Vec<FlowError> = parts.iter().filter_map(|part| part.check().err()).collect();
        return match stale.is_empty() {
            true => Ok(format!("rtl-flow docs: {} tables, none stale", parts.len())),
            false => Err(stale),
        };
    }
    let mut written = 0;
    for part in &parts {
        written += usize::from(part.write()?);
    }
    Ok(format!(
        "rtl-flow docs: {written} of {} tables were stale and are now written",
        parts.len()
    ))
}

/// The catalogue: one table per folder of the library.
fn modules(flow: &Flow) -> Result<Vec<Part>, FlowError> {
    let parameter = Regex::new(r"(?m)^ *parameter [^=]*?(\w+) *=").expect("a sound expression");
    let clock = Regex::new(r"(?m)^ *input +logic +(\w*clk(?:_i)?)\b").expect("a sound expression");
    let mut parts = Vec::new();
    for folder in &flow.units.library {
        let mut rows = Vec::new();
        for path in sv_files(&flow.units.path(folder))? {
            let text = fs::read_to_string(&path).map_err(|e| FlowError::io(&path, e))?;
            let names = |what: &Regex| {
                let names = what.captures_iter(&text).map(|found| format!("`{}`", &found[1]));
                names.collect::<Vec<_>>().join(", ")
            };
            let module = format!("`{}`", path.file_stem().unwrap_or_default().display());
            rows.push([module, pages::purpose(&text), names(&parameter), names(&clock)]);
        }
        parts.push(Part {
            page: flow.units.path("README.md"),
            name: format!("modules of {folder}"),
            text: pages::table(["module", "purpose", "parameters", "clocks"], rows),
        });
    }
    Ok(parts)
}
