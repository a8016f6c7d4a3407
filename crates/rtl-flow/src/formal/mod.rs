//! Proofs over the RTL with Yosys and an SMT solver, and broken twins that show that each property can fail.

mod proofs;
mod smt;

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::thread;

use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use regex::Regex;

use crate::pages::{self, Part};
use crate::{Entry, Flow, FlowError, Outcome, pool};
pub use proofs::sources;
use proofs::{Broken, Mode, Proof, Proofs};
use smt::{Answer, Break, Problem, Question, compile, leaf};

/// Prove properties of the RTL
#[derive(clap::Args)]
pub struct Args {
    /// Only the proofs with a matching name
    #[arg(long, value_name = "REGEX")]
    proof: Option<Regex>,
    /// Only the quick parameter sets of each proof
    #[arg(long)]
    quick: bool,
    /// Instead, show that each property fails on a broken line
    #[arg(long)]
    twins: bool,
    /// The folder of the proofs
    #[arg(long, default_value = "formal")]
    proofs: PathBuf,
    /// Number of solvers at a time; default: one per core
    #[arg(long)]
    jobs: Option<usize>,
}

/// A line of the table.
struct Row {
    cells: [String; 5],
    answer: Answer,
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let list = Proofs::read(&args.proofs)?;
    let chosen = list.proofs.iter();
    let chosen = chosen.filter(|proof| args.proof.as_ref().is_none_or(|regex| regex.is_match(&proof.name)));
    let jobs = args
        .jobs
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, |n| n.get()));
    let results = if args.twins {
        each(
            jobs,
            chosen,
            |proof| proof.twins.iter(),
            |proof, twin| match twin {
                Some(twin) => break_one(flow, &list, proof, twin).map(|row| vec![row]),
                None => none_missing(flow, &list, proof).map(|()| Vec::new()),
            },
        )
    } else {
        let sets = |proof: &Proof| 0..if args.quick { proof.quick } else { proof.sets.len() };
        each(jobs, chosen, sets, |proof, set| match set {
            Some(set) => prove(flow, &list, proof, set),
            None => none_stale(flow, &list, proof).map(|()| Vec::new()),
        })
    };
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for result in results {
        match result {
            Ok(more) => rows.extend(more),
            Err(error) => errors.push(error),
        }
    }
    if rows.is_empty() && errors.is_empty() {
        return Err(FlowError::NoProof.into());
    }
    println!("{}", table(&rows));
    errors.extend(rows.iter().filter(|row| row.answer.passed == args.twins).map(failure));
    if !errors.is_empty() {
        return Err(errors);
    }
    let what = if args.twins {
        "broken twins, each caught"
    } else {
        "proofs and covers, none failed"
    };
    Ok(format!("rtl-flow formal: {} {what}", rows.len()))
}

/// The table of proofs, for docs/formal.md.
pub fn part(proofs: &Path) -> Result<Part, FlowError> {
    let mut rows = Vec::new();
    for proof in &Proofs::read(proofs)?.proofs {
        let path = proof.file();
        let text = fs::read_to_string(&path).map_err(|e| FlowError::io(&path, e))?;
        let holds = match proof.mode {
            Mode::Induction => format!("for ever: induction over {} steps", proof.depth),
            Mode::Bounded => format!("for {} steps from reset", proof.depth),
        };
        rows.push([
            format!("`{}`", proof.name),
            pages::purpose(&text),
            holds,
            proof.parameters(),
        ]);
    }
    Ok(Part {
        page: "docs/formal.md".into(),
        name: "proofs".into(),
        text: pages::table(["proof", "claim", "holds", "parameters, over all sets"], rows),
    })
}

/// Calls `f` for each proof, and for each of its parts; shows the progress.
fn each<'a, P: IntoIterator<Item: Send>, R: Send>(
    jobs: usize,
    chosen: impl Iterator<Item = &'a Proof>,
    parts: impl Fn(&'a Proof) -> P,
    f: impl Fn(&'a Proof, Option<P::Item>) -> R + Sync,
) -> Vec<R> {
    let whole_and_parts = |proof| {
        iter::once(None)
            .chain(parts(proof).into_iter().map(Some))
            .map(move |part| (proof, part))
    };
    let all: Vec<_> = chosen.flat_map(whole_and_parts).collect();
    let count = all.len();
    let bar = ProgressBar::new(count as u64);
    bar.set_style(ProgressStyle::with_template("formal {bar:40} {pos}/{len} {msg}").expect("a sound template"));
    let results = pool::each(jobs, all, |(proof, part)| {
        let result = f(proof, part);
        bar.set_message(proof.name.clone());
        bar.inc(1);
        if bar.is_hidden() {
            eprintln!("formal {}/{count} {}", bar.position(), proof.name);
        }
        result
    });
    bar.finish_and_clear();
    results
}

fn prove(flow: &Flow, list: &Proofs, proof: &Proof, set: usize) -> Result<Vec<Row>, FlowError> {
    let entry = list.entry(flow, proof, set)?;
    let problem = Problem::new(flow, &entry, proof.two_clocks, None)?;
    let row = |engine: &str, depth: u32, answer: Answer| {
        let good = if engine == "cover" { "reached" } else { "holds" };
        let result = if answer.passed {
            good.to_owned()
        } else {
            leaves(&answer).join(" ")
        };
        Row {
            cells: [
                proof.name.clone(),
                parameters(&entry),
                engine.into(),
                depth.to_string(),
                result,
            ],
            answer,
        }
    };
    let engine = match proof.mode {
        Mode::Induction => "k-induction",
        Mode::Bounded => "bmc",
    };
    let mut rows = vec![row(engine, proof.depth, problem.prove(proof.mode, proof.depth)?)];
    if problem.covers > 0 && proof.covers.is_none_or(|sets| set < sets) {
        rows.push(row("cover", proof.cover, problem.ask(Question::Cover(proof.cover))?));
    }
    Ok(rows)
}

/// The first proof that does not hold if `copy` replaces a file of the library, on its quick parameter sets.
pub fn notices(flow: &Flow, proofs: &Path, file: &Path, copy: &Path) -> Result<Option<String>, FlowError> {
    let list = Proofs::read(proofs)?;
    for proof in &list.proofs {
        for set in 0..proof.quick.max(1) {
            let mut entry = list.entry(flow, proof, set)?;
            if !flow.needs(&entry)?.iter().any(|needed| needed == file) {
                break;
            }
            // Its own folder: several mutants are proved at a time.
            let number = copy.parent().and_then(Path::file_name).unwrap_or_default();
            entry.name += &format!("-mutant-{}", number.display());
            entry.files.retain(|own| own != file);
            entry.files.push(copy.to_path_buf());
            let problem = Problem::new(flow, &entry, proof.two_clocks, None)?;
            if !problem.prove(proof.mode, proof.depth)?.passed {
                return Ok(Some(proof.name.clone()));
            }
        }
    }
    Ok(None)
}

/// A twin's row fails if one of the assertions that it should break holds.
fn break_one(flow: &Flow, list: &Proofs, proof: &Proof, broken: &Broken) -> Result<Row, FlowError> {
    let entry = list.entry(flow, proof, broken.set)?;
    let change = Break {
        twin: broken.twin(flow, proof)?,
        only: &broken.fails,
    };
    let problem = Problem::new(flow, &entry, proof.two_clocks, Some(&change))?;
    let steps = broken.steps.unwrap_or(proof.cover.max(proof.depth));
    let mut answer = problem.ask(Question::All(steps))?;
    let failed = |name: &String| {
        answer
            .names
            .iter()
            .any(|n| n == name || n.ends_with(&format!(".{name}")))
    };
    let holds: Vec<&str> = broken
        .fails
        .iter()
        .filter(|name| !failed(name))
        .map(String::as_str)
        .collect();
    let result = match holds.is_empty() {
        true => format!("fails: {}", broken.fails.join(" ")),
        false => format!("HOLDS: {}", holds.join(" ")),
    };
    answer.passed = !holds.is_empty();
    Ok(Row {
        cells: [
            proof.name.clone(),
            parameters(&entry),
            broken.name.clone(),
            steps.to_string(),
            result,
        ],
        answer,
    })
}

/// Every assertion of the proof is broken by a twin or listed as a lemma.
fn none_missing(flow: &Flow, list: &Proofs, proof: &Proof) -> Result<(), FlowError> {
    let mut names = Vec::new();
    for set in 0..proof.sets.len() {
        let mut entry = list.entry(flow, proof, set)?;
        entry.name += "-names";
        entry.defines.clear();
        names.extend(Problem::new(flow, &entry, proof.two_clocks, None)?.assertions);
    }
    let all: BTreeSet<&str> = names.iter().map(|name| leaf(name)).collect();
    let known = named(proof);
    let mut text: Vec<String> = Vec::new();
    text.extend(all.difference(&known).map(|name| format!("no twin breaks `{name}`")));
    text.extend(known.difference(&all).map(|name| not_there(name)));
    judge(proof, text)
}

/// Checks without a solver that every twin still belongs to its file, and that the sources have every assertion that
/// the list names.
fn none_stale(flow: &Flow, list: &Proofs, proof: &Proof) -> Result<(), FlowError> {
    let mut twins = Vec::new();
    for set in 0..proof.sets.len() {
        let of_set = proof.twins.iter().filter(|twin| twin.set == set);
        let of_set = of_set.map(|twin| twin.twin(flow, proof)).collect::<Result<_, _>>()?;
        twins.push((list.entry(flow, proof, set)?, of_set));
    }
    compile(flow, &proof.name, proof.two_clocks, &twins)?;
    let label = Regex::new(r"(\w+)\s*:\s*assert\b").expect("a sound expression");
    let mut known = named(proof);
    for path in flow.needs(&list.entry(flow, proof, 0)?)? {
        let text = fs::read_to_string(&path).map_err(|e| FlowError::io(&path, e))?;
        for found in label.captures_iter(&text) {
            known.remove(&found[1]);
        }
    }
    judge(proof, known.into_iter().map(not_there).collect())
}

/// The assertions that the list names.
fn named(proof: &Proof) -> BTreeSet<&str> {
    let all = proof.twins.iter().flat_map(|twin| &twin.fails).chain(&proof.lemmas);
    all.map(|name| leaf(name)).collect()
}

fn not_there(name: &str) -> String {
    format!("no assertion is called `{name}`")
}

fn judge(proof: &Proof, found: Vec<String>) -> Result<(), FlowError> {
    if found.is_empty() {
        return Ok(());
    }
    Err(FlowError::Finding {
        tool: "the list of twins",
        what: format!("proof `{}`", proof.name),
        text: found.join("\n"),
    })
}

/// The failed assertions, each once.
fn leaves(answer: &Answer) -> Vec<&str> {
    let names: BTreeSet<&str> = answer.names.iter().map(|name| leaf(name)).collect();
    names.into_iter().collect()
}

fn parameters(entry: &Entry) -> String {
    let params = entry.params.iter().map(|(name, value)| format!("{name}={value}"));
    params.collect::<Vec<_>>().join(" ")
}

fn failure(row: &Row) -> FlowError {
    let [proof, parameters, engine, depth, result] = &row.cells;
    let trace = row.answer.trace.as_ref();
    FlowError::Finding {
        tool: "a proof",
        what: format!("{proof} {parameters}"),
        text: match trace {
            Some(trace) if engine == "k-induction" && trace.ends_with("step.vcd") => format!(
                "{result} can fail after {depth} steps in which all held, though perhaps from an unreachable state: {}",
                trace.display()
            ),
            Some(trace) => format!("{engine}, {depth} steps: {result}: {}", trace.display()),
            None => format!("{engine}, {depth} steps: {result}"),
        },
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["proof", "parameters", "engine", "depth", "result", "s"]);
    for row in rows {
        let seconds = format!("{:.1}", row.answer.seconds);
        table.add_row(row.cells.iter().cloned().chain([seconds]));
    }
    for column in [3, 5] {
        table
            .column_mut(column)
            .expect("it has six")
            .set_cell_alignment(CellAlignment::Right);
    }
    table
}
