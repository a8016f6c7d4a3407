//! The branches of the RTL that the testbenches take. A branch that no set of parameters takes in any test is a
//! finding, unless a list of units excuses its line with a reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, Table, presets};
use lcov::Record;

use crate::cargo::Tests;
use crate::{Flow, FlowError, Outcome, lists, yosys};

/// Run the testbenches and name the branches of the RTL that no testbench takes
#[derive(clap::Args)]
pub struct Args {
    /// Also write the counts for viewers, as LCOV
    #[arg(long, value_name = "FILE")]
    lcov: Option<PathBuf>,
    #[command(flatten)]
    tests: Tests,
}

/// A branch, or a block without branches, in reading order: line, column, kind and text.
type Point = (u32, u32, String, String);

/// The counts of each, over all sets of parameters and all instances.
type Counts = BTreeMap<PathBuf, BTreeMap<Point, u64>>;

/// A line with branches that no test need take.
struct Exception<'a> {
    list: &'a Path,
    file: PathBuf,
    line: &'a str,
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let exceptions = exceptions(flow);
    let folder = Path::new(yosys::FOLDER).join("coverage");
    lists::emptied(&folder)?;
    let passed = args
        .tests
        .run("models that count", verilated_build::COVERAGE, &folder)?;
    let counts = read_counts(&folder)?;
    if let Some(path) = &args.lcov {
        fs::write(path, lcov(&counts)).map_err(|e| FlowError::io(path, e))?;
    }
    println!("{}", table(&counts));
    let mut errors = Vec::new();
    let mut excused = BTreeSet::new();
    let (mut points, mut taken) = (0, 0);
    for (file, counts) in &counts {
        let text = fs::read_to_string(file).map_err(|e| FlowError::io(file, e))?;
        let lines: Vec<&str> = text.lines().collect();
        points += counts.len();
        for ((line, column, _, what), count) in counts {
            if *count > 0 {
                taken += 1;
                continue;
            }
            let source = lines.get(*line as usize - 1).unwrap_or(&"").trim();
            match exceptions.iter().position(|e| e.file == *file && same(e.line, source)) {
                Some(exception) => {
                    excused.insert(exception);
                }
                None => errors.push(FlowError::Finding {
                    tool: "coverage",
                    what: format!("{}:{line}:{column}", file.display()),
                    text: format!("`{what}` is never taken: {source}"),
                }),
            }
        }
    }
    // Only a run of all tests can find an exception unnecessary.
    for (at, exception) in exceptions.iter().enumerate().filter(|_| args.tests.all()) {
        if !excused.contains(&at) {
            let Exception { list, file, line } = exception;
            let file = file.display();
            let message = format!("delete this exception: `{line}` in {file} is fully taken, or missing");
            errors.push(FlowError::list(list, message));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(format!(
        "rtl-flow coverage: {taken} of {points} branches and blocks in {} files taken, the others excused; \
         {passed} tests passed",
        counts.len()
    ))
}

/// The exceptions of all lists.
fn exceptions(flow: &Flow) -> Vec<Exception<'_>> {
    let mut all = Vec::new();
    for list in &flow.lists {
        for exception in &list.coverage {
            let file = from_here(&list.path.with_file_name(&exception.file));
            all.extend(exception.lines.iter().map(|line| Exception {
                list: &list.path,
                file: file.clone(),
                line,
            }));
        }
    }
    all
}

/// Whether two lines are equal except for spaces.
fn same(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// A file, by its path from the current folder if it lies there.
fn from_here(path: &Path) -> PathBuf {
    let whole = fs::canonicalize(path).unwrap_or(path.to_path_buf());
    let here = std::env::current_dir().and_then(fs::canonicalize);
    match here.map(|here| whole.strip_prefix(here).map(Path::to_path_buf)) {
        Ok(Ok(short)) => short,
        _ => whole,
    }
}

/// Adds up the counts of the processes.
fn read_counts(folder: &Path) -> Result<Counts, FlowError> {
    let mut counts = Counts::new();
    for file in fs::read_dir(folder).map_err(|e| FlowError::io(folder, e))?.flatten() {
        let path = file.path();
        let text = fs::read_to_string(&path).map_err(|e| FlowError::io(&path, e))?;
        for line in text.lines() {
            let (count, file, point) =
                parse(line).ok_or_else(|| FlowError::list(&path, format!("`{line}` is not a point with its count")))?;
            *counts.entry(file.into()).or_default().entry(point).or_default() += count;
        }
    }
    let short = |(file, points): (PathBuf, _)| (from_here(&file), points);
    Ok(counts.into_iter().map(short).collect())
}

/// A line in the format of `verilated_build::COVERAGE`.
fn parse(line: &str) -> Option<(u64, &str, Point)> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let (count, file) = (next()?.parse().ok()?, next()?);
    let point = (
        next()?.parse().ok()?,
        next()?.parse().ok()?,
        next()?.into(),
        next()?.into(),
    );
    fields.next().is_none().then_some((count, file, point))
}

/// One row per file.
fn table(counts: &Counts) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["file", "branches and blocks", "taken", "%"]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (file, points) in counts {
        let taken = points.values().filter(|count| **count > 0).count();
        table.add_row([
            file.display().to_string(),
            points.len().to_string(),
            taken.to_string(),
            format!("{:.1}", 100.0 * taken as f64 / points.len() as f64),
        ]);
    }
    table
}

/// The counts in LCOV format, for viewers and editors.
fn lcov(counts: &Counts) -> String {
    let mut text = String::new();
    let mut add = |record: Record| text += &format!("{record}\n");
    for (file, points) in counts {
        add(Record::TestName { name: String::new() });
        add(Record::SourceFile { path: file.clone() });
        let mut lines = BTreeMap::<u32, u64>::new();
        for (branch, ((line, _, kind, _), count)) in points.iter().enumerate() {
            if kind == "branch" {
                add(Record::BranchData {
                    line: *line,
                    block: 0,
                    branch: branch as u32,
                    taken: Some(*count),
                });
            }
            let most = lines.entry(*line).or_default();
            *most = (*most).max(*count);
        }
        for (line, count) in lines {
            add(Record::LineData {
                line,
                count,
                checksum: None,
            });
        }
        add(Record::EndOfRecord);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_processes_are_added_and_written_as_lcov() {
        let folder = tempfile::tempdir().unwrap();
        let here = std::env::current_dir().unwrap();
        let line = |count: u32, rest: &str| format!("{count}\t{}/rtl/a.sv\t{rest}\n", here.display());
        let first = line(3, "12\t5\tbranch\tif") + &line(0, "12\t6\tbranch\telse") + &line(0, "10\t3\tline\tblock");
        fs::write(folder.path().join("a.1"), first).unwrap();
        fs::write(folder.path().join("a.2"), line(4, "12\t5\tbranch\tif")).unwrap();
        let counts = read_counts(folder.path()).unwrap();
        assert_eq!(
            lcov(&counts),
            "TN:\nSF:rtl/a.sv\nBRDA:12,0,1,7\nBRDA:12,0,2,0\nDA:10,0\nDA:12,7\nend_of_record\n"
        );
        assert!(table(&counts).to_string().contains("33.3"), "{}", table(&counts));
        fs::write(folder.path().join("a.3"), "7 what is this\n").unwrap();
        let error = read_counts(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("`7 what is this` is not a point with its count"),
            "{error}"
        );
    }
}
