//! The tables of the documents: proofs, modules, measurements, sets that stay RTL; and the lists of files for other
//! tools.

use std::fs;
use std::path::PathBuf;

use regex::Regex;

use crate::entries::sv_files;
use crate::pages::{self, Part};
use crate::{Flow, FlowError, Outcome, blocks, cores, families, formal, gate, synth};

/// Write the generated tables of the documents and the lists of files for other tools, from RTL, proofs and lists
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
    parts.extend([
        formal::part(&args.proofs)?,
        gate::part(flow)?,
        synth::part(flow)?,
        families::part(flow)?,
    ]);
    parts.extend(blocks::parts(flow)?);
    let files = cores::files(flow)?;
    let what = format!("{} tables, {} lists of files", parts.len(), files.len());
    if args.check {
        let parts = parts.iter().filter_map(|part| part.check().err());
        let stale: Vec<FlowError> = parts
            .chain(files.iter().filter_map(|file| file.check().err()))
            .collect();
        return match stale.is_empty() {
            true => Ok(format!("rtl-flow docs: {what}, none stale")),
            false => Err(stale),
        };
    }
    let mut written = 0;
    for part in &parts {
        written += usize::from(part.write()?);
    }
    for file in &files {
        written += usize::from(file.write()?);
    }
    Ok(format!(
        "rtl-flow docs: {what}; {written} were stale and are now written"
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
