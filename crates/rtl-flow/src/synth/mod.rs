//! Area and speed of every design on one flow, compared with the targets and with the last recorded table.

mod measure;
mod table;
mod wrapper;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use regex::Regex;

use crate::metadata::Target;
use crate::pages::Part;
use crate::{Entry, Flow, FlowError, Outcome, lists, pool};
use measure::{Route, Work};
use table::{Line, Row, Rows};

/// Place and route depends on chance; the result is the median of these seeds.
const SEEDS: [u32; 3] = [1, 2, 3];

/// Synthesise every design; place and route the designs with targets
#[derive(clap::Args)]
pub struct Args {
    /// Only the designs with a matching struct name
    #[arg(long, value_name = "REGEX")]
    unit: Option<Regex>,
    /// Only the designs with targets, and no place and route
    #[arg(long)]
    quick: bool,
    /// Write the results to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Record these results: synth.json beside the list of units, and the table in docs/synthesis.md
    #[arg(long)]
    record: bool,
    /// Measure everything again, including unchanged designs
    #[arg(long)]
    fresh: bool,
    /// Number of tools at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// The page with the recorded table.
const PAGE: &str = "docs/synthesis.md";

/// The recorded results, beside the list of units.
const TABLE: &str = "synth.json";

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let designs = flow.designs()?;
    let table = flow.units.path(TABLE);
    let mut landed: Rows = lists::read_results(&table)?;
    let chosen: Vec<&Entry> = designs
        .iter()
        .filter(|entry| args.unit.as_ref().is_none_or(|regex| regex.is_match(&entry.name)))
        .filter(|entry| !args.quick || entry.metadata.synth.as_ref().is_some_and(|target| target.quick))
        .collect();
    if chosen.is_empty() {
        return Err(FlowError::NoDesign.into());
    }
    let (rows, mut errors) = measure_all(flow, args, &chosen);
    let lines = lines(&chosen, &rows, &landed);
    println!("{}", table::render(&lines, false));
    for line in &lines {
        let verdict = line.target.map(|target| line.row.verdict(target));
        if verdict.is_some_and(|verdict| verdict.starts_with("MISSED")) {
            for (clock, path) in &line.row.critical {
                println!("{} {clock}: {path}", line.name);
            }
        }
    }
    if let Some(path) = &args.json {
        lists::write_results(path, &rows)?;
    }
    if args.record && errors.is_empty() {
        // A design that was only synthesised keeps its recorded speed.
        for (name, row) in &rows {
            let old = landed.remove(name);
            let mut row = row.clone();
            if let Some(old) = old.filter(|_| args.quick) {
                row.fmax = old.fmax;
            }
            landed.insert(name.clone(), row);
        }
        landed.retain(|name, _| designs.iter().any(|design| design.name == *name));
        lists::write_results(&table, &landed)?;
        part(flow)?.write()?;
        return Ok(format!("rtl-flow synth: {} and {PAGE} are written", table.display()));
    }
    for line in &lines {
        let worse = line.landed.map_or(Vec::new(), |landed| line.row.worse_than(landed));
        if !worse.is_empty() {
            errors.push(FlowError::Worse {
                what: line.row.design.clone(),
                table: table.clone(),
                message: worse.join("; "),
            });
        }
    }
    if args.unit.is_none() {
        errors.extend(unmeasured(&designs, &landed, &table));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(format!(
        "rtl-flow synth: {} designs, none worse than {}",
        lines.len(),
        table.display()
    ))
}

/// The results of all designs that could be measured, and the errors of the others.
fn measure_all(flow: &Flow, args: &Args, chosen: &[&Entry]) -> (Rows, Vec<FlowError>) {
    let steps = |entry: &&Entry| routed(entry, args).map_or(1, |_| 2 + SEEDS.len() as u64);
    let bar = ProgressBar::new(chosen.iter().map(steps).sum());
    bar.set_style(ProgressStyle::with_template("synth {bar:40} {pos}/{len} {msg}").expect("a sound template"));
    let step = |entry: &Entry| {
        bar.set_message(entry.name.clone());
        bar.inc(1);
    };
    let mut errors = Vec::new();
    let synthesised = pool::each(args.jobs, chosen.to_vec(), |entry| {
        let work = Work::new(flow, entry, args.fresh)?;
        let netlist = if entry.metadata.check_only.is_some() {
            work.check()?;
            None
        } else {
            Some(work.netlist()?)
        };
        step(entry);
        Ok((entry, work, netlist))
    });
    let synthesised = good(synthesised, &mut errors);
    let mut harnessed: Vec<_> = synthesised
        .iter()
        .filter_map(|(entry, work, netlist)| Some((*entry, work, netlist.as_ref()?, routed(entry, args)?)))
        .collect();
    // The longest runs first, so that the last ones are short.
    harnessed.sort_by_key(|(_, _, netlist, _)| Reverse(netlist.cells.values().sum::<u64>()));
    let harnessed = pool::each(args.jobs, harnessed, |(entry, work, netlist, target)| {
        work.wrap(netlist, &target.clocks(&entry.clocks))?;
        step(entry);
        Ok((entry, work))
    });
    let runs = good(harnessed, &mut errors)
        .into_iter()
        .flat_map(|run| SEEDS.map(|seed| (run, seed)));
    let routes = pool::each(args.jobs, runs.collect(), |((entry, work), seed)| {
        let route = work.route(seed)?;
        step(entry);
        Ok((&entry.name, route))
    });
    let routes = good(routes, &mut errors);
    bar.finish_and_clear();
    let mut rows = Rows::new();
    for (entry, _, netlist) in &synthesised {
        let own: Vec<&Route> = routes
            .iter()
            .filter(|(name, _)| **name == entry.name)
            .map(|(_, r)| r)
            .collect();
        let complete = routed(entry, args).is_none() || own.len() == SEEDS.len();
        if let Some(netlist) = netlist.as_ref().filter(|_| complete) {
            let row = Row::new(entry.to_string(), netlist, &entry.clocks, &own);
            rows.insert(entry.name.clone(), row);
        }
    }
    (rows, errors)
}

/// Designs whose targets nobody has measured: without this, one could land, and its first measurement be a surprise.
fn unmeasured(designs: &[Entry], landed: &Rows, table: &Path) -> impl Iterator<Item = FlowError> {
    let is_measured = |entry: &&Entry| {
        entry.metadata.synth.as_ref().is_none_or(|target| {
            let row = landed.get(&entry.name);
            row.is_some_and(|row| target.fmax.is_none() || !target.route || !row.fmax.is_empty())
        })
    };
    let error = |entry: &Entry| FlowError::Unmeasured {
        what: entry.to_string(),
        name: entry.name.clone(),
        table: table.to_owned(),
    };
    designs.iter().filter(move |entry| !is_measured(entry)).map(error)
}

/// The targets of a design that is placed and routed.
fn routed<'a>(entry: &'a Entry, args: &Args) -> Option<&'a Target> {
    let target = entry.metadata.synth.as_ref();
    target.filter(|target| target.route && !args.quick)
}

/// The successes; adds the failures to the errors.
fn good<T>(results: Vec<Result<T, FlowError>>, errors: &mut Vec<FlowError>) -> Vec<T> {
    let mut good = Vec::new();
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(error) => errors.push(error),
        }
    }
    good
}

/// The table's lines: designs with targets first, else in the order of the list.
fn lines<'a>(entries: &'a [&Entry], rows: &'a Rows, landed: &'a Rows) -> Vec<Line<'a>> {
    let line = |entry: &&'a Entry| {
        let (name, row) = rows.get_key_value(&entry.name)?;
        Some(Line {
            name,
            row,
            target: entry.metadata.synth.as_ref(),
            landed: landed.get(name),
        })
    };
    let mut lines: Vec<Line> = entries.iter().filter_map(line).collect();
    lines.sort_by_key(|line| line.target.is_none());
    lines
}

/// The recorded table of a module; none if it was never measured.
pub fn figures(flow: &Flow, module: &str) -> Result<Option<String>, FlowError> {
    let designs = flow.designs()?;
    let landed: Rows = lists::read_results(&flow.units.path(TABLE))?;
    let designs: Vec<&Entry> = designs.iter().filter(|design| design.top == module).collect();
    let lines = lines(&designs, &landed, &landed);
    Ok((!lines.is_empty()).then(|| table::render(&lines, true)))
}

/// The recorded table, for its page.
pub fn part(flow: &Flow) -> Result<Part, FlowError> {
    let designs = flow.designs()?;
    let landed: Rows = lists::read_results(&flow.units.path(TABLE))?;
    let designs: Vec<&Entry> = designs.iter().collect();
    Ok(Part {
        page: PAGE.into(),
        name: "area and speed".into(),
        text: table::render(&lines(&designs, &landed, &landed), true),
    })
}
