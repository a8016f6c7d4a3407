//! `tsunagi repro` and `tsunagi report`.

use std::fs;
use std::path::Path;

use super::args::{Backends, ReportArgs, ReproArgs};
use super::progress::Progress;
use super::{CliError, list, table};
use crate::cenju3::params::{Config, PARAMS};
use crate::report::{Page, ParamLine, render};
use crate::repro::cenju3::{PAPER, Request, run};
use crate::repro::row::{Row, number};
use crate::repro::{Outcome, pool};

pub fn repro(args: &ReproArgs) -> Result<(), CliError> {
    let config = args.settings.config()?;
    if let Some(folder) = &args.out {
        make_folder(folder)?;
    }
    let outcomes = outcomes(&args.experiments, args.backend, &config)?;
    let rows: Vec<&Row> = outcomes.iter().flat_map(|o| &o.rows).collect();
    if args.json {
        table::print_json(&rows);
    } else {
        outcomes.iter().for_each(print);
        table::print(summary(&rows));
    }
    if let Some(folder) = &args.out {
        let json = serde_json::to_string_pretty(&rows).expect("rows can be written as JSON");
        write(&folder.join("rows.json"), &json)?;
        write(&folder.join("report.html"), &page(&outcomes, &config))?;
    }
    let failed: Vec<&str> = rows.iter().filter(|r| r.failed()).map(|r| r.row.as_str()).collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(CliError::Failed(format!("outside their bounds: {}", failed.join(", "))))
    }
}

pub fn report(args: &ReportArgs) -> Result<(), CliError> {
    let config = args.settings.config()?;
    make_folder(args.out.parent().unwrap_or(Path::new("")))?;
    let outcomes = outcomes(&args.experiments, args.backend, &config)?;
    write(&args.out, &page(&outcomes, &config))?;
    table::print(args.out.display());
    Ok(())
}

fn outcomes(experiments: &[&str], backend: Backends, config: &Config) -> Result<Vec<Outcome>, CliError> {
    let progress = Progress::new("experiments");
    let request = Request {
        experiments,
        backends: backend.kinds(),
        config,
        threads: pool::threads(),
    };
    Ok(run(&request, |done, total| progress.at(done, total))?)
}

/// Before the experiments: they take a while, and it may not be possible.
fn make_folder(folder: &Path) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(CliError::file("make the folder", folder))
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(CliError::file("write", path))
}

fn page(outcomes: &[Outcome], config: &Config) -> String {
    let params = PARAMS
        .iter()
        .map(|p| ParamLine {
            name: p.name,
            value: config.get(p.name).expect("a name of the table").to_string(),
            unit: p.unit,
            origin: list::origin(p),
            measured_on: p.measured_on.join(", "),
            note: p.note,
        })
        .collect();
    render(&Page {
        machine: "Cenju-3",
        paper: PAPER,
        outcomes,
        params,
    })
}

/// Checked rows; of the points of curves only how many there are, the report and `--json` have them.
fn print(outcome: &Outcome) {
    let e = outcome.experiment;
    table::print(format!(
        "{} {}: {} ({})",
        e.id,
        e.figure,
        e.title,
        outcome.backend.name()
    ));
    let mut shown = table::new(
        &["quantity", "paper", "ours", "difference", "bounds", "kind", ""],
        &[1, 2, 3, 4],
    );
    let (rows, points): (Vec<&Row>, Vec<&Row>) = outcome.rows.iter().partition(|r| r.pass.is_some());
    for r in rows {
        let paper = r.paper.map_or(String::new(), |p| format!("{} {}", number(p), r.unit));
        let verdict = if r.failed() { "MISSED" } else { "ok" };
        let ours = format!("{} {}", number(r.ours), r.unit);
        shown.add_row([
            &r.quantity,
            &paper,
            &ours,
            &r.difference_text(),
            &r.bounds_text(),
            r.kind.name(),
            verdict,
        ]);
    }
    table::print(shown.trim_fmt());
    if !points.is_empty() {
        table::print(format!(
            "and {} points of curves: see --json or the report",
            points.len()
        ));
    }
    table::print("");
}

fn summary(rows: &[&Row]) -> String {
    let checked: Vec<&&Row> = rows.iter().filter(|r| r.pass.is_some()).collect();
    let of = |kind: &str| checked.iter().filter(|r| r.kind.name() == kind).count();
    let met = checked.iter().filter(|r| !r.failed()).count();
    format!(
        "{met} of {} checks met: {} predictions, {} calibrated, {} criteria; {} points of curves",
        checked.len(),
        of("prediction"),
        of("calibrated"),
        of("criterion"),
        rows.len() - checked.len()
    )
}
