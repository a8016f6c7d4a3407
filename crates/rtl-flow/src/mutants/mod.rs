//! Mutants: small changes of the RTL, each of which some test or proof must notice.
//!
//! One build has all chosen mutants; a number chooses the one that counts in a run. A first run of each test without a
//! mutant tells which mutants it sees: those with another value than the source's at any time. Only these tests can
//! notice the mutant. They run quickest first, up to the first that fails. A mutant that they all pass runs under three
//! more seeds, in the tests that read the seed, and then the proofs of its file run on it.

mod excuses;
mod programs;
mod sites;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use verilated_build::Toolchain;

use crate::cargo::Tests;
use crate::{Flow, FlowError, Outcome, formal, kept, lint, lists, pool, yosys};
use excuses::Excuses;
use programs::Test;
use sites::Mutant;

/// Change the RTL in many small ways, and name the changes that no test and no proof notices
#[derive(clap::Args)]
pub struct Args {
    /// Number of mutants, from all files
    #[arg(long, default_value_t = 300)]
    count: usize,
    /// Seed of their choice
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Instead, one of equal parts of all mutants, as 3/8
    #[arg(long, value_name = "PART/PARTS", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Only the files with a matching path
    #[arg(long, value_name = "REGEX")]
    file: Option<regex::Regex>,
    /// Add the results, a line of JSON for each mutant
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Number of tests at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// The folder of the proofs
    #[arg(long, default_value = "formal")]
    proofs: PathBuf,
    #[command(flatten)]
    tests: Tests,
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text
        .split_once('/')
        .and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    match parts {
        Some((part, parts)) if (1..=parts).contains(&part) => Ok((part, parts)),
        _ => Err("must be as 3/8, from 1/8 to 8/8".into()),
    }
}

/// The variable that chooses a mutant by its number.
const CHOSEN: &str = "VERILATED_MUTANT";
/// More seeds for a mutant that the tests pass.
const MORE_SEEDS: [u64; 3] = [2, 3, 4];

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Fate {
    /// By the test of this name.
    Test(String),
    /// By the test of this name under another seed.
    Seed(String),
    /// By the proof of this name.
    Proof(String),
    /// Each test of these many passes.
    Alive(usize),
    /// No test sees it differ from the source.
    Unseen,
}

/// A line of the results.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a Path,
    line: usize,
    /// The byte of the file where it starts: a line can have the same change twice.
    at: usize,
    change: String,
    fate: &'a Fate,
    excused: bool,
}

pub fn run(flow: &Flow, args: &Args) -> Outcome {
    let started = Instant::now();
    let verilator = lint::verilator(flow)?;
    let files = files(flow, args)?;
    let all = sites::of(&flow.tools, &files)?;
    let excuses = Excuses::of(flow)?;
    let without = excuses.without_mutant(&files, &all);
    if !without.is_empty() {
        return Err(without);
    }
    let mut chosen = choose(&all, args)?;
    if chosen.is_empty() {
        return Err(FlowError::NoDesign.into());
    }
    let folder = Path::new(yosys::FOLDER).join("mutants");
    let before = chosen.len();
    write_copies(flow, &verilator, &folder, &mut chosen)?;
    let dropped = before - chosen.len();
    println!(
        "mutants: {} of {} in {} files; {dropped} more are no legal RTL",
        chosen.len(),
        all.len(),
        counted(&all)
    );
    let programs = args
        .tests
        .programs("models with mutants", verilated_build::MUTANTS, &copies(&folder))?;
    let built = started.elapsed().as_secs();
    let tests = programs::record(&programs, args.jobs, &folder)?;
    let recorded = started.elapsed().as_secs();
    let (fates, mut found) = judge(flow, args, &chosen, &tests, &excuses)?;
    print_table(&chosen, &fates, &excuses);
    found.extend(findings(&chosen, &fates, &excuses));
    if !found.is_empty() {
        return Err(found);
    }
    let excused = chosen
        .iter()
        .zip(&fates)
        .filter(|(mutant, fate)| lives(fate) && excuses.find(mutant).is_some());
    Ok(format!(
        "rtl-flow mutants: {} of {} noticed, the others excused ({}); {} s: build {built}, first run {}, mutants {}",
        fates.iter().filter(|fate| !lives(fate)).count(),
        chosen.len(),
        excused.count(),
        started.elapsed().as_secs(),
        recorded - built,
        started.elapsed().as_secs() - recorded,
    ))
}

fn lives(fate: &Fate) -> bool {
    matches!(fate, Fate::Alive(_) | Fate::Unseen)
}

fn counted(mutants: &[Mutant]) -> usize {
    mutants.iter().map(|mutant| &mutant.file).collect::<BTreeSet<_>>().len()
}

/// The files that some simulated design needs, without those that are checks themselves: rules for a simulation, and a
/// board's self-test. Twins show that each of those checks is alive.
fn files(flow: &Flow, args: &Args) -> Result<Vec<PathBuf>, FlowError> {
    let mut files = BTreeSet::new();
    for entry in flow.designs()?.iter().filter(|entry| entry.group != "synth") {
        files.extend(flow.needs(entry)?);
    }
    files.retain(|file| {
        let path = file.to_string_lossy();
        let checks = path.ends_with("_rules.sv") || path.contains("selftest");
        !checks && args.file.as_ref().is_none_or(|regex| regex.is_match(&path))
    });
    Ok(files.into_iter().collect())
}

/// The chosen ones of all mutants: of each file about the same part, at least one; or one part of all. A mutant's rank
/// depends on its line and its change, so changes elsewhere hardly touch the choice.
fn choose(all: &[Mutant], args: &Args) -> Result<Vec<Mutant>, FlowError> {
    let mut ranked = Vec::new();
    let mut same: HashMap<String, usize> = HashMap::new();
    for mutant in all {
        let (file, line, change) = (mutant.file.display(), mutant.whole_line()?, mutant.change());
        let text = format!("{} {file} {line} {change}", args.seed);
        let number = same.entry(text.clone()).or_default();
        *number += 1;
        ranked.push((kept::key(&[&format!("{text} {number}")]), mutant));
    }
    let by_rank = |a: &(String, &Mutant), b: &(String, &Mutant)| a.0.cmp(&b.0);
    let mut chosen = Vec::new();
    for of_file in ranked.chunk_by_mut(|(_, a), (_, b)| a.file == b.file) {
        of_file.sort_by(by_rank);
        match args.shard {
            Some((part, parts)) => chosen.extend(of_file.iter().skip(part - 1).step_by(parts).cloned()),
            None => {
                let share = (args.count * of_file.len()).div_ceil(all.len());
                chosen.extend(of_file.iter().take(share).cloned());
            }
        }
    }
    if args.shard.is_none() {
        chosen.sort_by(by_rank);
        chosen.truncate(args.count);
    }
    let mut chosen: Vec<Mutant> = chosen.into_iter().map(|(_, mutant)| mutant.clone()).collect();
    chosen.sort_by_key(|mutant| (mutant.file.clone(), mutant.place.start, mutant.place.end));
    Ok(chosen)
}

/// Writes the changed copies into the folder. Leaves out each mutant that makes illegal RTL.
fn write_copies(flow: &Flow, verilator: &Toolchain, folder: &Path, chosen: &mut Vec<Mutant>) -> Result<(), FlowError> {
    const ROUNDS: usize = 20;
    let copies = copies(folder);
    let designs = flow.designs()?;
    let mut designs: Vec<_> = designs.iter().filter(|design| design.group != "synth").collect();
    for _ in 0..ROUNDS {
        lists::emptied(&copies)?;
        let numbered: Vec<(usize, &Mutant)> = chosen.iter().enumerate().collect();
        for of_file in numbered.chunk_by(|a, b| a.1.file == b.1.file) {
            let file = &of_file[0].1.file;
            let text = fs::read_to_string(file).map_err(|e| FlowError::io(file, e))?;
            let copy = copies.join(file.file_name().unwrap_or_default());
            fs::write(&copy, sites::instrumented(&text, of_file)).map_err(|e| FlowError::io(&copy, e))?;
        }
        let mut illegal = BTreeSet::new();
        let found = pool::each(2, designs.clone(), |design| {
            lint::errors(verilator, flow, design, &copies)
        });
        let mut still = Vec::new();
        for (design, found) in designs.into_iter().zip(found) {
            let found = found?;
            if !found.is_empty() {
                still.push(design);
            }
            illegal.extend(found);
        }
        if illegal.is_empty() {
            return Ok(());
        }
        designs = still;
        let before = chosen.len();
        chosen.retain(|mutant| {
            let name = mutant
                .file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            // A function of which the result is a constant somewhere, perhaps in another file.
            let is_constant = |text: &str| {
                let function = mutant.function.as_ref();
                function.is_some_and(|function| text.contains(&format!("FUNCREF '{function}'")))
            };
            !illegal
                .iter()
                .any(|(file, line, text)| is_constant(text) || (*file == name && mutant.lines().contains(line)))
        });
        if chosen.len() == before {
            let text = illegal
                .iter()
                .map(|(file, line, text)| format!("{file}:{line}: {text}\n"))
                .collect();
            return Err(FlowError::Finding {
                tool: "verilator",
                what: "the mutated copies".into(),
                text,
            });
        }
    }
    Err(FlowError::list(folder, "the mutated copies stay illegal"))
}

/// Where the mutated sources lie.
fn copies(folder: &Path) -> PathBuf {
    folder.join("rtl")
}

/// Runs the tests, and for survivors more seeds and proofs. A mutant's line is written as soon as its fate is known.
/// Beside the fates, the errors of proofs that could not run.
fn judge(
    flow: &Flow,
    args: &Args,
    chosen: &[Mutant],
    tests: &[Test],
    excuses: &Excuses,
) -> Result<(Vec<Fate>, Vec<FlowError>), FlowError> {
    let bar = ProgressBar::new(chosen.len() as u64);
    bar.set_style(ProgressStyle::with_template("mutants {bar:40} {pos}/{len} {msg}").expect("a sound template"));
    let numbered: Vec<(usize, &Mutant)> = chosen.iter().enumerate().collect();
    let fates = pool::each(args.jobs, numbered, |(number, mutant)| {
        let fate = by_tests(tests, number)?;
        if !lives(&fate) {
            args.add(mutant, &fate, excuses)?;
        }
        bar.set_message(mutant.file.display().to_string());
        bar.inc(1);
        if bar.is_hidden() && lives(&fate) {
            eprintln!(
                "mutants {}/{}: {} {fate:?}",
                bar.position(),
                chosen.len(),
                named(mutant)
            );
        }
        Ok(fate)
    });
    let mut fates: Vec<Fate> = fates.into_iter().collect::<Result<_, FlowError>>()?;
    bar.finish_and_clear();
    let proved = args.proofs.is_dir();
    let survivors = chosen.iter().zip(&fates).enumerate();
    let survivors: Vec<usize> = survivors
        .filter(|(_, (_, fate))| lives(fate))
        .map(|(at, _)| at)
        .collect();
    let found = pool::each(args.jobs, survivors, |at| {
        let mutant = &chosen[at];
        let proof = if proved {
            by_proofs(flow, args, at, mutant)
        } else {
            Ok(None)
        };
        let (fate, error) = match proof {
            Ok(None) => (fates[at].clone(), None),
            Ok(Some(proof)) => (Fate::Proof(proof), None),
            Err(error) => (fates[at].clone(), Some(error)),
        };
        args.add(mutant, &fate, excuses)?;
        Ok::<_, FlowError>((at, fate, error))
    });
    let mut errors = Vec::new();
    for result in found {
        let (at, fate, error) = result?;
        fates[at] = fate;
        errors.extend(error);
    }
    Ok((fates, errors))
}

/// The proof that does not hold with a mutant.
fn by_proofs(flow: &Flow, args: &Args, number: usize, mutant: &Mutant) -> Result<Option<String>, FlowError> {
    let name = mutant.file.file_name().unwrap_or_default();
    let folder = Path::new(yosys::FOLDER).join(format!("mutants/proved/{number}"));
    let copy = folder.join(name);
    lists::emptied(&folder)?;
    fs::write(&copy, mutant.text()?).map_err(|e| FlowError::io(&copy, e))?;
    formal::notices(flow, &args.proofs, &mutant.file, &copy)
}

fn by_tests(tests: &[Test], number: usize) -> Result<Fate, FlowError> {
    let mut seeing: Vec<&Test> = tests.iter().filter(|test| test.sees.contains(&number)).collect();
    seeing.sort_by_key(|test| test.took);
    let chosen = (CHOSEN, number.to_string());
    for test in &seeing {
        if !test.passes(std::slice::from_ref(&chosen))? {
            return Ok(Fate::Test(test.name.clone()));
        }
    }
    for seed in MORE_SEEDS {
        for test in seeing.iter().filter(|test| test.reads_seed) {
            if !test.passes(&[chosen.clone(), ("TSUNAGI_SEED", seed.to_string())])? {
                return Ok(Fate::Seed(test.name.clone()));
            }
        }
    }
    Ok(match seeing.len() {
        0 => Fate::Unseen,
        count => Fate::Alive(count),
    })
}

/// Survivors without an excuse, first those that no test sees; and excuses that are not needed.
fn findings(chosen: &[Mutant], fates: &[Fate], excuses: &Excuses) -> Vec<FlowError> {
    let mut found = Vec::new();
    for unseen in [true, false] {
        for (mutant, fate) in chosen.iter().zip(fates) {
            let text = match fate {
                Fate::Unseen if unseen => "no test sees a difference".to_owned(),
                Fate::Alive(tests) if !unseen => format!("{tests} tests see a difference, and pass"),
                _ => continue,
            };
            if excuses.find(mutant).is_none() {
                found.push(FlowError::Finding {
                    tool: "mutants",
                    what: named(mutant),
                    text,
                });
            }
        }
    }
    for (mutant, fate) in chosen.iter().zip(fates).filter(|(_, fate)| !lives(fate)) {
        if let Some(at) = excuses.find(mutant) {
            let message = format!(
                "delete the excuse of this mutant, which {fate:?} notices: {}",
                named(mutant)
            );
            found.push(FlowError::list(excuses.list(at), message));
        }
    }
    found
}

fn named(mutant: &Mutant) -> String {
    format!("{}:{}: {}", mutant.file.display(), mutant.line, mutant.change())
}

impl Args {
    /// Adds the line of a mutant to the results.
    fn add(&self, mutant: &Mutant, fate: &Fate, excuses: &Excuses) -> Result<(), FlowError> {
        let Some(path) = &self.json else { return Ok(()) };
        let line = Line {
            file: &mutant.file,
            line: mutant.line,
            at: mutant.place.start,
            change: mutant.change(),
            fate,
            excused: lives(fate) && excuses.find(mutant).is_some(),
        };
        let line = serde_json::to_string(&line).expect("results are plain data") + "\n";
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|e| FlowError::io(path, e))
    }
}

/// Prints the numbers by folder.
fn print_table(chosen: &[Mutant], fates: &[Fate], excuses: &Excuses) {
    let mut folders: BTreeMap<String, [usize; 7]> = BTreeMap::new();
    for (mutant, fate) in chosen.iter().zip(fates) {
        let folder = mutant.file.parent().unwrap_or(Path::new("")).display().to_string();
        let column = match fate {
            _ if lives(fate) && excuses.find(mutant).is_some() => 4,
            Fate::Test(_) => 1,
            Fate::Seed(_) => 2,
            Fate::Proof(_) => 3,
            Fate::Alive(_) => 5,
            Fate::Unseen => 6,
        };
        let counts = folders.entry(folder).or_default();
        counts[0] += 1;
        counts[column] += 1;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "folder",
        "mutants",
        "tests",
        "more seeds",
        "proofs",
        "excused",
        "alive",
        "unseen",
    ]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for (folder, counts) in folders {
        table.add_row([folder].into_iter().chain(counts.map(|count| count.to_string())));
    }
    println!("{table}");
}
