//! Area and speed of every design on one flow, against the figures to reach and against the table that landed last.

mod blocks;
mod measure;
mod table;
mod wrapper;

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use regex::Regex;

use crate::{Entry, Flow, FlowError, Outcome, lists, pool};
pub use blocks::Blocks;
use measure::{Route, Work};
use table::{Line, Row, Rows};

/// Place and route depends on chance; the median of these is quoted.
const SEEDS: [u32; 3] = [1, 2, 3];

/// Synthesise every design, place and route those with figures to reach
#[derive(clap::Args)]
pub struct Args {
    /// Only the designs whose struct's name fits
    #[arg(long, value_name = "REGEX")]
    unit: Option<Regex>,
    /// Only the designs with figures to reach, and no place and route
    #[arg(long)]
    quick: bool,
    /// Write the figures to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Make these figures the ones that landed: synth.json beside the list of units, and the table in docs/synthesis.md
    #[arg(long)]
    record: bool,
    /// Measure everything again, also what did not change
    #[arg(long)]
    fresh: bool,
    /// How many tools run at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// The page that shows the landed table, between these lines.
const PAGE: &str = "docs/synthesis.md";
const BEGIN: &str = "<!-- the table: `rtl-flow synth --record` writes it -->\n";
const END: &str = "<!-- end of the table -->\n";

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let designs = flow.designs()?;
    let blocks = Blocks::read(&flow.units.path("synth.toml"), &designs)?;
    let table = flow.units.path("synth.json");
    let mut landed: Rows = lists::read_results(&table)?;
    let chosen: Vec<&Entry> = designs
        .iter()
        .filter(|entry| args.unit.as_ref().is_none_or(|regex| regex.is_match(&entry.name)))
        .filter(|entry| !args.quick || blocks.of(entry).is_some_and(|block| block.quick))
        .collect();
    if chosen.is_empty() {
        return Err(FlowError::NoDesign.into());
    }
    let (rows, mut errors) = measure_all(flow, args, &blocks, &chosen);
    let lines = lines(&chosen, &rows, &blocks, &landed);
    println!("{}", table::render(&lines, false));
    for line in &lines {
        if line
            .block
            .is_some_and(|block| line.row.verdict(block).starts_with("MISSED"))
        {
            for (clock, path) in &line.row.critical {
                println!("{} {clock}: {path}", line.name);
            }
        }
    }
    if let Some(path) = &args.json {
        lists::write_results(path, &rows)?;
    }
    if args.record && errors.is_empty() {
        // What was synthesised only keeps the speed it had.
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
        show(Path::new(PAGE), &designs, &blocks, &landed)?;
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
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(format!(
        "rtl-flow synth: {} designs, none worse than {}",
        lines.len(),
        table.display()
    ))
}

/// The figures of all that could be measured, and what went wrong with the others.
fn measure_all(flow: &Flow, args: &Args, blocks: &Blocks, chosen: &[&Entry]) -> (Rows, Vec<FlowError>) {
    let block = |entry: &Entry| blocks.of(entry).filter(|block| block.route && !args.quick);
    let steps = |entry: &&Entry| block(entry).map_or(1, |_| 2 + SEEDS.len() as u64);
    let bar = ProgressBar::new(chosen.iter().map(steps).sum());
    bar.set_style(ProgressStyle::with_template("synth {bar:40} {pos}/{len} {msg}").expect("a sound template"));
    let step = |entry: &Entry| {
        bar.set_message(entry.name.clone());
        bar.inc(1);
    };
    let mut errors = Vec::new();
    let synthesised = pool::each(args.jobs, chosen.to_vec(), |entry| {
        let work = Work::new(flow, entry, args.fresh)?;
        let netlist = if blocks.check_only.contains_key(&entry.name) {
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
        .filter_map(|(entry, work, netlist)| Some((*entry, work, netlist.as_ref()?, block(entry)?)))
        .collect();
    // The longest runs first, so that the last ones are short.
    harnessed.sort_by_key(|(_, _, netlist, _)| Reverse(netlist.cells.values().sum::<u64>()));
    let harnessed = pool::each(args.jobs, harnessed, |(entry, work, netlist, block)| {
        work.wrap(netlist, &block.clocks(entry))?;
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
        let complete = block(entry).is_none() || own.len() == SEEDS.len();
        if let Some(netlist) = netlist.as_ref().filter(|_| complete) {
            rows.insert(
                entry.name.clone(),
                Row::new(entry.to_string(), netlist, &entry.clocks, &own),
            );
        }
    }
    (rows, errors)
}

/// What succeeded; what did not is added to the errors.
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

/// The table's lines: those with figures to reach first, in the order of their list.
fn lines<'a>(entries: &[&Entry], rows: &'a Rows, blocks: &'a Blocks, landed: &'a Rows) -> Vec<Line<'a>> {
    let mut lines: Vec<(usize, Line)> = entries
        .iter()
        .filter_map(|entry| {
            let (name, row) = rows.get_key_value(&entry.name)?;
            let place = blocks.blocks.iter().position(|block| block.entry == *name);
            let line = Line {
                name,
                row,
                block: blocks.of(entry),
                landed: landed.get(name),
            };
            Some((place.unwrap_or(usize::MAX), line))
        })
        .collect();
    lines.sort_by_key(|(place, _)| *place);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Puts the landed table into the page, if there is one.
fn show(page: &Path, designs: &[Entry], blocks: &Blocks, landed: &Rows) -> Result<(), FlowError> {
    if !page.is_file() {
        return Ok(());
    }
    let text = fs::read_to_string(page).map_err(|e| FlowError::io(page, e))?;
    let parts = text
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| FlowError::List {
        path: page.to_path_buf(),
        message: format!("the lines between which the table stands are missing:\n{BEGIN}{END}"),
    })?;
    let designs: Vec<&Entry> = designs.iter().collect();
    let table = table::render(&lines(&designs, landed, blocks, landed), true);
    fs::write(page, format!("{before}{BEGIN}\n{table}\n\n{END}{after}")).map_err(|e| FlowError::io(page, e))
}
