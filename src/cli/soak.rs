//! `tsunagi soak`: random programs on random machines under random faults.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::args::SoakArgs;
use super::progress::Progress;
use super::table::{self, Table};
use super::{CliError, make_folder, write};
use crate::Picos;
use crate::campaign::shrink::shrink;
use crate::campaign::{self, Broken, Campaign, Case, Clause, Met, On};
use crate::harness::backend::Doing;
use crate::harness::faults::Fault;
use crate::harness::wave::{Probe, WaveRequest};
use crate::machine::Machine;
use crate::machines;

/// A line of the results. Build, machine and seed name it, so no seed counts twice.
#[derive(Serialize)]
struct Line<'a> {
    /// The program's hash.
    build: &'a str,
    machine: &'a str,
    seed: u64,
    /// The clause that is broken.
    broken: Option<Clause>,
    /// Packets that were lost, each reported.
    lost: u64,
    /// How often a fault met a state.
    met: Vec<(&'static str, &'static str, u64)>,
}

/// A failure, as far as it is understood.
struct Failure {
    machine: &'static str,
    seed: u64,
    broken: Broken,
    /// What the small case breaks, which may have another cause.
    small: Broken,
    case: PathBuf,
    wave: PathBuf,
}

pub fn soak(args: &SoakArgs) -> Result<(), CliError> {
    let chosen: Vec<&'static dyn Machine> = match args.machine {
        Some(machine) => vec![machine],
        None => machines::all().to_vec(),
    };
    let with = |machine: &&'static dyn Machine| Some((machine.name(), machine.facts().campaign?));
    let campaigns: Vec<(&'static str, &'static dyn Campaign)> = chosen.iter().filter_map(with).collect();
    if campaigns.is_empty() {
        return Err(CliError::Usage("no chosen machine has a campaign".into()));
    }
    make_folder(&args.out)?;
    if let Some(path) = &args.case {
        return one(args, campaigns[0], path);
    }
    let results = Results::of(args.json.as_deref())?;
    // A failing run tells its reason in its result.
    std::panic::set_hook(Box::new(|_| {}));
    let (mut count, mut failures) = (0, Vec::new());
    for (name, campaign) in campaigns {
        let (of_machine, failed) = seeds(args, name, campaign, &results)?;
        count += of_machine;
        failures.extend(failed);
    }
    let _ = std::panic::take_hook();
    for failure in &failures {
        let Failure {
            machine,
            seed,
            broken,
            small,
            case,
            wave,
        } = failure;
        table::print(format!("{machine}, seed {seed}: {broken}"))?;
        table::print(format!(
            "  tsunagi soak {machine} --first {seed} --seeds 1   # repeats it"
        ))?;
        table::print(format!(
            "  tsunagi soak {machine} --case {}   # a small case of the same clause",
            case.display()
        ))?;
        if small.what != broken.what {
            table::print(format!("  which breaks {small}"))?;
        }
        table::print(format!("  wave of its end: {}", wave.display()))?;
    }
    match failures.len() {
        0 => table::print(format!("soak: {count} seeds passed")),
        1 => Err(CliError::Failed("1 seed failed".into())),
        count => Err(CliError::Failed(format!("{count} seeds failed"))),
    }
}

/// The file of results: a line for each seed, as soon as it has run.
#[derive(Default)]
struct Results {
    /// The program's hash; empty without a file.
    build: String,
    file: Option<(PathBuf, File)>,
    /// Machines and seeds that passed in this build.
    done: HashSet<(String, u64)>,
}

impl Results {
    fn of(path: Option<&Path>) -> Result<Results, CliError> {
        let Some(path) = path else {
            return Ok(Results::default());
        };
        let program = std::env::current_exe().unwrap_or_default();
        let bytes = fs::read(&program).map_err(CliError::file("read", &program))?;
        let hash = Sha256::digest(&bytes);
        let build: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(CliError::file("read", path))?,
        };
        let done = text.lines().filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let passed = line["build"] == build.as_str() && line["broken"].is_null();
            passed.then_some((line["machine"].as_str()?.to_owned(), line["seed"].as_u64()?))
        });
        let done = done.collect();
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = Some((path.to_owned(), file.map_err(CliError::file("write", path))?));
        Ok(Results { build, file, done })
    }

    fn add(&self, line: &Line) -> Result<(), CliError> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        let text = serde_json::to_string(line).expect("plain data") + "\n";
        let mut file: &File = file;
        file.write_all(text.as_bytes()).map_err(CliError::file("write", path))
    }
}

/// Runs the seeds of one machine, and prints what they met: their number, and those that failed. A seed that passed in
/// this build already is left out.
fn seeds(
    args: &SoakArgs,
    name: &'static str,
    campaign: &'static dyn Campaign,
    results: &Results,
) -> Result<(usize, Vec<Failure>), CliError> {
    let begun = Instant::now();
    let (part, parts) = args.shard;
    let mut all: Vec<u64> = (0..args.seeds)
        .map(|more| args.first.wrapping_add(more))
        .filter(|seed| seed % parts == part - 1)
        .collect();
    let asked = all.len();
    all.retain(|seed| !results.done.contains(&(name.to_owned(), *seed)));
    if all.len() < asked {
        let path = args.json.as_deref().unwrap_or(Path::new(""));
        let done = asked - all.len();
        table::print(format!(
            "{name}: {done} of the seeds have passed already, by {}",
            path.display()
        ))?;
    }
    let (next, progress) = (AtomicU64::new(0), Progress::with_lines("soak"));
    let found: Mutex<(Met, Vec<Failure>, u64)> = Mutex::default();
    let errors: Mutex<Vec<CliError>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(|| {
                while let Some(&seed) = all.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let case = campaign::case(campaign, seed);
                    let result = campaign::check(campaign, &case);
                    let failure = match &result {
                        Ok(_) => None,
                        Err(broken) => match explain(args, name, campaign, &case, broken) {
                            Ok(failure) => Some(failure),
                            Err(error) => {
                                errors.lock().expect("no panic under this lock").push(error);
                                return;
                            }
                        },
                    };
                    let (met, failures, lost) = &mut *found.lock().expect("no panic under this lock");
                    let ran = result.clone().unwrap_or_default();
                    for (key, count) in &ran.met {
                        *met.entry(*key).or_default() += count;
                    }
                    *lost += ran.lost;
                    let line = Line {
                        build: &results.build,
                        machine: name,
                        seed,
                        broken: result.as_ref().err().map(|broken| broken.clause),
                        lost: ran.lost,
                        met: ran
                            .met
                            .iter()
                            .map(|((fault, state), count)| (*fault, *state, *count))
                            .collect(),
                    };
                    failures.extend(failure);
                    if let Err(error) = results.add(&line) {
                        errors.lock().expect("no panic under this lock").push(error);
                        return;
                    }
                    progress.at(next.load(Ordering::Relaxed).min(all.len() as u64), all.len() as u64);
                }
            });
        }
    });
    drop(progress);
    if let Some(error) = errors.into_inner().expect("no panic under this lock").pop() {
        return Err(error);
    }
    let (met, failures, lost) = found.into_inner().expect("no panic under this lock");
    table::print(format!(
        "{name}: {} seeds from {}, {} failed, {lost} packets lost and reported, {:.0} s",
        all.len(),
        args.first,
        failures.len(),
        begun.elapsed().as_secs_f64()
    ))?;
    print_met(&met)?;
    Ok((all.len(), failures))
}

/// The table of faults and states; an empty cell is a finding.
fn print_met(met: &Met) -> Result<(), CliError> {
    let states = Doing::NAMES;
    let columns: Vec<&str> = ["fault met"].into_iter().chain(states.iter().copied()).collect();
    let mut shown = Table::new(&columns, &(1..columns.len()).collect::<Vec<_>>());
    let is_met = |fault: &&str| met.keys().any(|(met, _)| met == fault);
    for fault in Fault::NAMES.into_iter().filter(is_met) {
        let count = |state: &&str| met.get(&(fault, *state)).map_or("-".into(), u64::to_string);
        let row: Vec<String> = [fault.to_owned()].into_iter().chain(states.iter().map(count)).collect();
        shown.add_row(row);
    }
    table::print(shown)
}

/// Makes a failing case small, and leaves it with the wave of its end.
fn explain(
    args: &SoakArgs,
    name: &'static str,
    campaign: &'static dyn Campaign,
    case: &Case,
    broken: &Broken,
) -> Result<Failure, CliError> {
    let (small, reason) = shrink(
        case,
        broken.clone(),
        |case| campaign.fewer(case),
        |case| campaign::check(campaign, case).err(),
    );
    let path = |end: &str| args.out.join(format!("{name}-{}.{end}", case.chance));
    let (text, wave) = (path("case"), path("fst"));
    let commented = |broken: &Broken| broken.to_string().replace('\n', "\n# ");
    write(&text, &format!("# {}\n{small}", commented(&reason)))?;
    last_wave(campaign, &small, &wave);
    Ok(Failure {
        machine: name,
        seed: case.chance,
        broken: broken.clone(),
        small: reason,
        case: text,
        wave,
    })
}

/// The wave of the last cycles of a case on the RTL.
fn last_wave(campaign: &dyn Campaign, case: &Case, path: &Path) {
    const LAST: Picos = Picos::from_ns(40_000);
    let first = Probe::default();
    let _ = campaign::guarded(campaign, case, On::Rtl, &first);
    let again = Probe::new(WaveRequest {
        path: path.into(),
        from: first.reached().saturating_sub(LAST),
        to: None,
    });
    let _ = campaign::guarded(campaign, case, On::Rtl, &again);
}

/// Runs a case from a file.
fn one(args: &SoakArgs, (name, campaign): (&'static str, &'static dyn Campaign), path: &Path) -> Result<(), CliError> {
    let text = fs::read_to_string(path).map_err(CliError::file("read", path))?;
    let case: Case = text
        .parse()
        .map_err(|error| CliError::Usage(format!("{}: {error}", path.display())))?;
    let accepted = campaign.accepts(&case);
    accepted.map_err(|error| CliError::Usage(format!("{}: {name}: {error}", path.display())))?;
    match campaign::check(campaign, &case) {
        Ok(ran) => {
            table::print(format!(
                "{name}: nothing broken; {} packets lost and reported",
                ran.lost
            ))?;
            print_met(&ran.met)
        }
        Err(broken) => {
            let wave = args.out.join(format!("{name}-case.fst"));
            last_wave(campaign, &case, &wave);
            table::print(format!("wave of its end: {}", wave.display()))?;
            Err(CliError::Failed(broken.to_string()))
        }
    }
}
