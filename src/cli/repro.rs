//! `tsunagi repro` and `tsunagi report`.

use std::fs;
use std::path::Path;

use super::args::{Backends, Machine, ReportArgs, ReproArgs, Settings};
use super::progress::Progress;
use super::{CliError, list, table};
use crate::report::{Page, ParamLine, render};
use crate::repro::row::{Row, number};
use crate::repro::{Outcome, ap1000p, cenju3, pool};

/// A machine, the values of its parameters, and what its experiments found.
struct Results {
    machine: Machine,
    values: Vec<f64>,
    outcomes: Vec<Outcome>,
}

pub fn repro(args: &ReproArgs) -> Result<(), CliError> {
    let machines = args.machine.as_ref().map_or(Machine::ALL, std::slice::from_ref);
    if args.machine.is_none() && !args.settings.is_empty() {
        let text = "--set changes a parameter of one machine: name it, `tsunagi repro cenju3 --set …`";
        return Err(CliError::Usage(text.into()));
    }
    if args.machine == Some(Machine::Cenju3) && args.full {
        let text = "--full is for ap1000p: cenju3's experiments are whole already";
        return Err(CliError::Usage(text.into()));
    }
    if let Some(folder) = &args.out {
        make_folder(folder)?;
    }
    let mut all = Vec::new();
    for &machine in machines {
        let experiments = of_machine(machine, &args.experiments, args.machine.is_some())?;
        if experiments.is_some() {
            let experiments = experiments.unwrap_or_default();
            all.push(results(machine, &experiments, args.backend, &args.settings, args.full)?);
        }
    }
    let rows: Vec<&Row> = all.iter().flat_map(|r| &r.outcomes).flat_map(|o| &o.rows).collect();
    if args.json {
        table::print_json(&rows);
    } else {
        for results in &all {
            results.outcomes.iter().for_each(print);
            let rows: Vec<&Row> = results.outcomes.iter().flat_map(|o| &o.rows).collect();
            table::print(format!("{}: {}", results.machine.title(), summary(&rows)));
        }
    }
    if let Some(folder) = &args.out {
        let json = serde_json::to_string_pretty(&rows).expect("rows can be written as JSON");
        write(&folder.join("rows.json"), &json)?;
        for results in &all {
            let name = match args.machine {
                Some(_) => "report.html".into(),
                None => format!("report-{}.html", results.machine.name()),
            };
            write(&folder.join(name), &page(results))?;
        }
    }
    let failed: Vec<&str> = rows.iter().filter(|r| r.failed()).map(|r| r.row.as_str()).collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(CliError::Failed(format!("outside their bounds: {}", failed.join(", "))))
    }
}

pub fn report(args: &ReportArgs) -> Result<(), CliError> {
    make_folder(args.out.parent().unwrap_or(Path::new("")))?;
    let experiments = of_machine(args.machine, &args.experiments, true)?.unwrap_or_default();
    let results = results(args.machine, &experiments, args.backend, &args.settings, false)?;
    write(&args.out, &page(&results))?;
    table::print(args.out.display());
    Ok(())
}

/// Those of the experiments asked for that are this machine's, empty for all; `None` if none is. `named`: the machine was, so all must be.
fn of_machine(machine: Machine, asked: &[&'static str], named: bool) -> Result<Option<Vec<&'static str>>, CliError> {
    let known = machine.experiments();
    let (own, others): (Vec<_>, Vec<_>) = asked.iter().copied().partition(|id| known.iter().any(|e| e.id == *id));
    match others.first() {
        Some(id) if named => Err(CliError::Usage(format!(
            "{} has no experiment {id}; `tsunagi list` shows them",
            machine.name()
        ))),
        _ => Ok((asked.is_empty() || !own.is_empty()).then_some(own)),
    }
}

fn results(
    machine: Machine,
    experiments: &[&str],
    backend: Backends,
    settings: &Settings,
    full: bool,
) -> Result<Results, CliError> {
    let progress = Progress::new("experiments");
    let (threads, done) = (pool::threads(), |done, total| progress.at(done, total));
    let values = |get: &dyn Fn(&str) -> f64| machine.params().iter().map(|p| get(p.name)).collect();
    match machine {
        Machine::Cenju3 => {
            let config = settings.cenju3()?;
            let backends = backend.kinds();
            let request = cenju3::Request {
                experiments,
                backends,
                config: &config,
                threads,
            };
            Ok(Results {
                machine,
                values: values(&|name| config.get(name).expect("a name of the table")),
                outcomes: cenju3::run(&request, done)?,
            })
        }
        Machine::Ap1000p => {
            let config = settings.ap1000p()?;
            let backends = backend.kinds();
            let request = ap1000p::Request {
                experiments,
                backends,
                config: &config,
                full,
                threads,
            };
            Ok(Results {
                machine,
                values: values(&|name| config.get(name).expect("a name of the table")),
                outcomes: ap1000p::run(&request, done)?,
            })
        }
    }
}

/// Before the experiments: they take a while, and it may not be possible.
fn make_folder(folder: &Path) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(CliError::file("make the folder", folder))
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    fs::write(path, text).map_err(CliError::file("write", path))
}

fn page(results: &Results) -> String {
    let machine = results.machine;
    let params = machine
        .params()
        .iter()
        .zip(&results.values)
        .map(|(p, value)| ParamLine {
            name: p.name,
            value: value.to_string(),
            unit: p.unit,
            origin: list::origin(p),
            measured_on: p.measured_on.join(", "),
            note: p.note,
        });
    render(&Page {
        machine: machine
            .title()
            .split_once(' ')
            .map_or(machine.title(), |(_, name)| name),
        paper: machine.paper(),
        outcomes: &results.outcomes,
        params: params.collect(),
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
