//! `tsunagi repro` and `tsunagi report`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use super::args::{Backends, ReportArgs, ReproArgs};
use super::progress::Progress;
use super::table::{self, Said, Table};
use super::{CliError, list, make_folder, wave, write};
use crate::harness::params::Settings;
use crate::machine::Machine;
use crate::machines;
use crate::report::{self, Listed, Made, Page, ParamLine};
use crate::repro::row::{Origin, Paper, Row};
use crate::repro::summary::Summary;
use crate::repro::{Outcome, Request, pool};

/// A machine, the values of its parameters, and the outcomes of its experiments.
struct Results {
    machine: &'static dyn Machine,
    values: Vec<f64>,
    outcomes: Vec<Outcome>,
}

impl Results {
    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.outcomes.iter().flat_map(|o| &o.rows)
    }
}

/// A row as CSV has it: a number of a source is a range of which both ends may be equal.
#[derive(Serialize)]
struct Line<'a> {
    machine: &'static str,
    experiment: &'static str,
    row: &'a str,
    backend: &'static str,
    quantity: &'a str,
    unit: &'static str,
    paper_low: Option<f64>,
    paper_high: Option<f64>,
    expected: Option<f64>,
    ours: f64,
    difference_percent: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    bounds_by: &'static str,
    formula: &'static str,
    kind: &'static str,
    depends_on: String,
    pass: Option<bool>,
    reason: &'static str,
}

impl Line<'_> {
    fn of(row: &Row) -> Line<'_> {
        let (paper_low, paper_high) = row.paper.map(Paper::ends).unzip();
        Line {
            machine: row.machine,
            experiment: row.experiment,
            row: &row.row,
            backend: row.backend.name(),
            quantity: &row.quantity,
            unit: row.unit,
            paper_low,
            paper_high,
            expected: row.expected,
            ours: row.ours,
            difference_percent: row.difference(),
            low: row.low,
            high: row.high,
            bounds_by: row.bounds_by.map_or("", Origin::name),
            formula: row.formula.unwrap_or_default(),
            kind: row.kind_name(),
            depends_on: row.depends_on.join(" "),
            pass: row.pass,
            reason: row.reason.unwrap_or_default(),
        }
    }
}

/// Files written for a machine.
struct Left {
    report: PathBuf,
    wave: Option<wave::Files>,
}

pub fn repro(args: &ReproArgs) -> Result<(), CliError> {
    let machines = args.machine.as_ref().map_or(machines::all(), std::slice::from_ref);
    let settings = args.set.settings();
    if args.machine.is_none() && !settings.is_empty() {
        let name = machines[0].name();
        let text = format!("--set needs a machine: `tsunagi repro {name} --set …`");
        return Err(CliError::Usage(text));
    }
    if let Some(machine) = args.machine
        && args.full
        && machine.facts().shortened.is_empty()
    {
        return Err(CliError::Usage(format!(
            "--full applies to {}; the experiments of {} always run their full trial counts",
            shortened(),
            machine.name()
        )));
    }
    if let Some(folder) = &args.out {
        // A wave that cannot be written must fail before the experiments, which take minutes.
        make_folder(folder)?;
    }
    let mut all = Vec::new();
    for &machine in machines {
        let experiments = of_machine(machine, &args.experiments, args.machine.is_some())?;
        if experiments.is_some() {
            let experiments = experiments.unwrap_or_default();
            all.push(results(
                machine,
                &experiments,
                args.backend,
                &settings,
                args.full,
                args.brief,
            )?);
        }
    }
    let rows: Vec<&Row> = all.iter().flat_map(Results::rows).collect();
    let left = match &args.out {
        Some(folder) => leave(folder, &all, &rows, args.waves.then_some(&settings))?,
        None => Vec::new(),
    };
    if args.format.json {
        table::print_json(&rows)?;
    } else if args.format.csv {
        table::print_csv(rows.iter().map(|row| Line::of(row)))?;
    } else {
        for results in &all {
            if args.verbose || !args.brief {
                results.outcomes.iter().try_for_each(print)?;
            }
            if !args.brief {
                let rows: Vec<&Row> = results.rows().collect();
                table::print(format!("{}: {}", results.machine.facts().title, Summary::of(&rows)))?;
            }
        }
        let mut left = left.iter();
        for results in all.iter().filter(|_| args.brief) {
            let rows: Vec<&Row> = results.rows().collect();
            table::print(brief(results.machine, &rows, left.next()))?;
        }
    }
    let failed: Vec<&str> = rows.iter().filter(|r| r.failed()).map(|r| r.row.as_str()).collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(CliError::Failed(format!("outside their bounds: {}", failed.join(", "))))
    }
}

/// Writes the rows, a report for each machine, and an index where there are several; with settings, a wave of each.
fn leave(folder: &Path, all: &[Results], rows: &[&Row], waves: Option<&Settings>) -> Result<Vec<Left>, CliError> {
    const INDEX: &str = "report.html";
    let json = serde_json::to_string_pretty(rows).expect("rows can be written as JSON");
    write(&folder.join("rows.json"), &json)?;
    let (made, several) = (made(), all.len() > 1);
    if several {
        let listed = all.iter().map(|results| Listed {
            facts: results.machine.facts(),
            file: file(results.machine),
            outcomes: &results.outcomes,
        });
        let listed: Vec<Listed<'_>> = listed.collect();
        write(&folder.join(INDEX), &report::index(&listed, &made))?;
    }
    let leave = |results: &Results| {
        let report = folder.join(file(results.machine));
        write(&report, &page(results, &made, several.then_some(INDEX)))?;
        let wave = waves.map(|settings| wave::first(results.machine, settings, &folder.join("waves")));
        Ok(Left {
            report,
            wave: wave.transpose()?,
        })
    };
    all.iter().map(leave).collect()
}

/// The name of a machine's report.
fn file(machine: &dyn Machine) -> String {
    format!("report-{}.html", machine.name())
}

/// The command line, and the commit of the sources that this program was built from.
fn made() -> Made {
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(env!("CARGO_MANIFEST_DIR"))
            .args(args)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    let commit = git(&["log", "-1", "--format=%h of %cs"]);
    let words = std::env::args().skip(1).map(|word| match word.contains(' ') {
        true => format!("'{word}'"),
        false => word,
    });
    Made {
        commit: commit.map(|commit| commit + if changed { ", with changes," } else { "" }),
        command: format!("cargo run -- {}", words.collect::<Vec<_>>().join(" ")),
    }
}

/// Machines with shortened experiments, and the ids of these: `ap1000p (C11, C21)`.
fn shortened() -> String {
    let of = |machine: &&'static dyn Machine| format!("{} ({})", machine.name(), machine.facts().shortened.join(", "));
    let some = machines::all()
        .iter()
        .filter(|machine| !machine.facts().shortened.is_empty());
    some.map(of).collect::<Vec<_>>().join(", ")
}

pub fn report(args: &ReportArgs) -> Result<(), CliError> {
    let out = match &args.out {
        Some(out) => out.clone(),
        None => Path::new("out").join(file(args.machine)),
    };
    make_folder(out.parent().unwrap_or(Path::new("")))?;
    let experiments = of_machine(args.machine, &args.experiments, true)?.unwrap_or_default();
    let results = results(
        args.machine,
        &experiments,
        args.backend,
        &args.set.settings(),
        false,
        false,
    )?;
    write(&out, &page(&results, &made(), None))?;
    table::print(out.display())?;
    Ok(())
}

/// The requested experiments that this machine has, empty for all; `None` if it has none of them. `named`: the user
/// named the machine, so it must have all.
fn of_machine(
    machine: &dyn Machine,
    asked: &[&'static str],
    named: bool,
) -> Result<Option<Vec<&'static str>>, CliError> {
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
    machine: &'static dyn Machine,
    experiments: &[&str],
    backend: Backends,
    settings: &Settings,
    full: bool,
    lines: bool,
) -> Result<Results, CliError> {
    let progress = if lines {
        Progress::with_lines(machine.facts().title)
    } else {
        Progress::new("experiments")
    };
    let request = Request {
        experiments,
        backends: backend.kinds(),
        config: settings,
        full,
        threads: pool::threads(),
    };
    Ok(Results {
        machine,
        values: machine.values(settings)?,
        outcomes: machine.reproduce(&request, &|done, total| progress.at(done, total))?,
    })
}

fn page(results: &Results, made: &Made, index: Option<&str>) -> String {
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
    report::render(&Page {
        facts: machine.facts(),
        outcomes: &results.outcomes,
        params: params.collect(),
        made,
        index,
    })
}

/// Prints the compared rows. Of the values without bounds, mostly points of curves, it prints only the number.
fn print(outcome: &Outcome) -> Result<(), CliError> {
    let e = outcome.experiment;
    table::print(format!(
        "{} {}: {} ({})",
        e.id,
        e.figure,
        e.title,
        outcome.backend.name()
    ))?;
    let mut shown = Table::new(
        &["quantity", "paper", "ours", "difference", "bounds", "by", "kind", ""],
        &[1, 2, 3, 4],
    );
    let (rows, values): (Vec<&Row>, Vec<&Row>) = outcome.rows.iter().partition(|r| r.is_compared());
    for r in rows {
        shown.add_row([
            &r.quantity,
            &r.paper_text(),
            &r.ours_text(),
            &r.difference_text(),
            &r.bounds_text(),
            &r.bounds_by_text(),
            r.kind_name(),
            r.verdict(),
        ]);
    }
    table::print(shown)?;
    for (row, reason) in outcome.rows.iter().filter_map(|r| Some((&r.row, r.reason?))) {
        table::print(format!("{row} is missed: {reason}"))?;
    }
    if !values.is_empty() {
        table::print(format!(
            "--json and the report also show values without bounds ({}), mostly points of curves",
            values.len()
        ))?;
    }
    table::print("")
}

/// The summary of a machine: its checks, its files and the next commands.
fn brief(machine: &dyn Machine, rows: &[&Row], left: Option<&Left>) -> String {
    /// Missed rows that the summary shows; the last line of the command names all.
    const MISSED: usize = 5;
    let summary = Summary::of(rows);
    let met = format!(
        "{} of {} checks met, independent predictions: {}",
        summary.met,
        summary.checks,
        summary.predictions()
    );
    let mut lines = vec![(machine.facts().title, Said::Words(met))];
    let missed = rows.iter().filter(|r| r.is_missed());
    lines.extend(missed.take(MISSED).map(|r| ("  missed", Said::Words(against(r)))));
    let worst = summary
        .worst
        .map_or("none: no source has a number to predict".into(), against);
    lines.push(("  worst prediction", Said::Words(worst)));
    if let Some(Left { report, wave }) = left {
        lines.push(("  report", Said::Whole(report.display().to_string())));
        lines.extend(wave.iter().map(|files| ("  wave", Said::Whole(files.gtkwave()))));
    }
    let command = format!("cargo run -- repro {}", machine.name());
    lines.push(("  tables", Said::Whole(command.clone())));
    lines.push((
        "  change it",
        Said::Whole(format!("{command} {}", machine.facts().next)),
    ));
    table::labelled(&lines, table::width().into())
}

/// A row as one line.
fn against(row: &Row) -> String {
    let (paper, difference) = match row.paper_text() {
        paper if paper.is_empty() => (paper, String::new()),
        paper => (format!("paper {paper}, "), format!(", {}", row.difference_text())),
    };
    format!(
        "{} ({}): {paper}ours {}{difference}",
        row.row,
        row.backend.name(),
        row.ours_text()
    )
}
