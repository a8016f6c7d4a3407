//! The rails: the checks beside `make test`. Runs them, keeps the result of each in one file, and names the outdated
//! results.
//!
//! A result belongs to a commit: a rail with uncommitted inputs is refused. The content of the inputs decides whether a
//! result is still valid, so neither a shallow clone nor a rebase matters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::cargo::passed_in;
use crate::{FlowError, Outcome, kept, lists, tools, yosys};

/// Run the checks that are not part of `make test`, each to its end, and keep their results
#[derive(clap::Args)]
pub struct Args {
    /// Only this rail; repeatable
    #[arg(long, value_name = "NAME")]
    rail: Vec<String>,
    /// Only those that were never run, failed, or have changed inputs, with as many seeds as are missing: the rest
    /// after an interruption
    #[arg(long)]
    stale: bool,
    /// Number of fresh seeds for the rails that take seeds; they add to the seeds that passed on the same inputs
    #[arg(long, value_name = "COUNT")]
    seeds: Option<usize>,
    /// Run nothing; name the rails that must be run, with the reason
    #[arg(long)]
    check: bool,
    /// The list of rails; the results stand beside it, in a file of the same name that ends with .json
    #[arg(long, default_value = "rails.toml")]
    rails: PathBuf,
}

/// The list. The comment at its head explains the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rails {
    inputs: Vec<String>,
    #[serde(rename = "rail")]
    rails: Vec<Rail>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rail {
    name: String,
    run: String,
    #[serde(default)]
    seeds: usize,
    inputs: Vec<String>,
}

/// The result of a rail.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    passed: bool,
    /// One line of its output: the first failure, else the last line.
    said: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seeds: Vec<u64>,
    /// The seeds that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<u64>,
    seconds: u64,
    commit: String,
    /// The date of the commit.
    date: String,
    /// The validity key: a digest of the inputs and of the command.
    inputs: String,
}

type Results = BTreeMap<String, Found>;

/// Reasons to run a rail.
enum Stale {
    Never,
    Failed(Found),
    /// Number of missing seeds.
    Seeds(Found, usize),
    /// The changed files, as far as the commit is known here.
    Changed(Found, Vec<String>),
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Stale::Never => write!(f, "never run"),
            Stale::Failed(found) => write!(f, "failed over {}: {}", found.of(), found.said),
            Stale::Seeds(found, few) => {
                let had = found.seeds.len();
                write!(f, "passed with {had} of {} seeds over {}", had + few, found.of())
            }
            Stale::Changed(found, files) => {
                write!(f, "changed since {}", found.of())?;
                let mark = |n| if n == 0 { ": " } else { ", " };
                let mut shown = files.iter().take(3).enumerate();
                shown.try_for_each(|(n, file)| write!(f, "{}{file}", mark(n)))?;
                match files.len().saturating_sub(3) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
        }
    }
}

pub fn run(args: &Args) -> Outcome {
    let list: Rails = lists::read(&args.rails)?;
    let unknown = |name: &&String| !list.rails.iter().any(|rail| rail.name == **name);
    if let Some(name) = args.rail.iter().find(unknown) {
        let names: Vec<&str> = list.rails.iter().map(|rail| rail.name.as_str()).collect();
        let message = format!("no rail is called `{name}`; known: {}", names.join(", "));
        return Err(FlowError::list(&args.rails, message).into());
    }
    let book = Book {
        list: &list,
        place: &args.rails,
        results: args.rails.with_extension("json"),
    };
    let chosen = list.rails.iter();
    let chosen: Vec<&Rail> = chosen
        .filter(|rail| args.rail.is_empty() || args.rail.contains(&rail.name))
        .collect();
    if args.check {
        book.check(&chosen)
    } else {
        book.run(&chosen, args)
    }
}

/// The list, and the file of results.
struct Book<'a> {
    list: &'a Rails,
    place: &'a Path,
    results: PathBuf,
}

impl Book<'_> {
    /// Prints a line for each rail that must be run.
    fn check(&self, chosen: &[&Rail]) -> Outcome {
        if let Err(error) = git(["rev-parse", "--git-dir"]) {
            return Ok(format!("rtl-flow rails: the outdated rails are not known: {error}"));
        }
        let mut count = 0;
        for rail in chosen {
            if let Some(why) = self.stale(rail)? {
                count += 1;
                println!("rail {}: {why}", rail.name);
            }
        }
        Ok(match count {
            0 => format!("rtl-flow rails: {} have passed on these inputs", chosen.len()),
            _ => format!(
                "rtl-flow rails: {count} of {} must be run before a change is complete (`make rails ARGS=--stale`)",
                chosen.len()
            ),
        })
    }

    fn run(&self, chosen: &[&Rail], args: &Args) -> Outcome {
        let mut errors = Vec::new();
        let mut count = 0;
        for rail in chosen {
            let seeds = match self.stale(rail)? {
                None if args.stale => continue,
                Some(Stale::Seeds(_, few)) if args.stale => few,
                _ => rail.seeds,
            };
            count += 1;
            errors.extend(self.run_one(rail, args.seeds.unwrap_or(seeds)).err());
        }
        match errors.is_empty() {
            true => Ok(format!(
                "rtl-flow rails: {count} run, none failed; commit {}",
                self.results.display()
            )),
            false => Err(errors),
        }
    }

    /// Runs it once per seed; keeps each result at once.
    fn run_one(&self, rail: &Rail, seeds: usize) -> Result<(), FlowError> {
        let seeds = match rail.seeds {
            0 => vec![None],
            _ => (0..seeds).map(|_| fresh_seed().map(Some)).collect::<Result<_, _>>()?,
        };
        let mut failures = Vec::new();
        for seed in seeds {
            let changed = self.git(&["status", "--porcelain", "--untracked-files=all"], rail)?;
            if !changed.is_empty() {
                let files: Vec<&str> = changed.iter().map(|line| line[2..].trim()).collect();
                return Err(self.fail(
                    rail,
                    format!(
                        "a result belongs to a commit, and these are not committed: {}",
                        files.join(", ")
                    ),
                ));
            }
            let inputs = self.digest(rail)?;
            let [commit, date] = ["%H", "%cs"].map(|what| git(["log", "-1", &format!("--format={what}")]));
            let run = rail.perform(seed)?;
            if self.digest(rail)? != inputs {
                return Err(self.fail(rail, "its inputs changed while it ran: the result is not kept".into()));
            }
            let mut results: Results = lists::read_results(&self.results)?;
            let before = results
                .remove(&rail.name)
                .filter(|found| seed.is_some() && found.inputs == inputs);
            let mut found = before.unwrap_or(Found {
                passed: true,
                said: String::new(),
                seeds: Vec::new(),
                failed: Vec::new(),
                seconds: 0,
                commit: commit?,
                date: date?,
                inputs,
            });
            if found.passed {
                found.said = run.said.clone();
            }
            found.passed &= run.passed;
            found.seconds += run.seconds;
            found.seeds.extend(seed);
            found.failed.extend(seed.filter(|_| !run.passed));
            results.insert(rail.name.clone(), found);
            results.retain(|name, _| self.list.rails.iter().any(|rail| rail.name == *name));
            lists::write_results(&self.results, &results)?;
            if !run.passed {
                let (command, log) = (rail.command(seed), rail.log(seed));
                let text = format!(
                    "{}\n`{command}` repeats it, {} has the whole output",
                    run.said,
                    log.display()
                );
                failures.push(text);
            }
        }
        match failures.is_empty() {
            true => Ok(()),
            false => Err(self.fail(rail, failures.join("\n"))),
        }
    }

    /// The reason to run it, if there is one.
    fn stale(&self, rail: &Rail) -> Result<Option<Stale>, FlowError> {
        let mut results: Results = lists::read_results(&self.results)?;
        let Some(found) = results.remove(&rail.name) else {
            return Ok(Some(Stale::Never));
        };
        if found.inputs == self.digest(rail)? {
            let few = rail.seeds.saturating_sub(found.seeds.len());
            return Ok(match found.passed {
                false => Some(Stale::Failed(found)),
                true => (few > 0).then_some(Stale::Seeds(found, few)),
            });
        }
        let since = self.git(&["diff", "--name-only", &found.commit], rail);
        let new = self.git(&["ls-files", "--others", "--exclude-standard"], rail)?;
        let files = since.map_or(Vec::new(), |files| files.into_iter().chain(new).collect());
        Ok(Some(Stale::Changed(found, files)))
    }

    fn patterns<'a>(&'a self, rail: &'a Rail) -> impl Iterator<Item = &'a str> {
        self.list.inputs.iter().chain(&rail.inputs).map(String::as_str)
    }

    /// Git's output for the rail's inputs, line by line.
    fn git(&self, what: &[&str], rail: &Rail) -> Result<Vec<String>, FlowError> {
        let said = git(what.iter().copied().chain(["--"]).chain(self.patterns(rail)))?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    /// A digest of the command, and of the names and contents of its inputs here.
    fn digest(&self, rail: &Rail) -> Result<String, FlowError> {
        const FILES: [&str; 4] = ["ls-files", "--cached", "--others", "--exclude-standard"];
        for pattern in self.patterns(rail).filter(|pattern| !pattern.starts_with(":!")) {
            if git(FILES.into_iter().chain(["--", pattern]))?.is_empty() {
                return Err(self.fail(rail, format!("no file matches its input `{pattern}`")));
            }
        }
        let mut parts = vec![rail.run.clone().into_bytes()];
        let files: BTreeSet<String> = self.git(&FILES, rail)?.into_iter().collect();
        // A deleted tracked file is absent.
        for file in files.into_iter().filter(|file| Path::new(file).is_file()) {
            let content = fs::read(&file).map_err(|e| FlowError::io(Path::new(&file), e))?;
            parts.extend([file.into_bytes(), content]);
        }
        Ok(kept::key(&parts))
    }

    fn fail(&self, rail: &Rail, message: String) -> FlowError {
        FlowError::list(self.place, format!("rail `{}`: {message}", rail.name))
    }
}

/// One run of a rail.
struct Run {
    passed: bool,
    said: String,
    seconds: u64,
}

impl Rail {
    /// The log of a run.
    fn log(&self, seed: Option<u64>) -> PathBuf {
        let seed = seed.map_or(String::new(), |seed| format!("-{seed}"));
        Path::new(yosys::FOLDER).join(format!("rails/{}{seed}.log", self.name))
    }

    /// The command that runs it, for a shell.
    fn command(&self, seed: Option<u64>) -> String {
        let seed = seed.map_or(String::new(), |seed| format!("TSUNAGI_SEED={seed} "));
        format!("{seed}{}", self.run)
    }

    /// Runs it to its end. Meanwhile a terminal shows the time since its start and its last line.
    fn perform(&self, seed: Option<u64>) -> Result<Run, FlowError> {
        let path = self.log(seed);
        let broken = |e| FlowError::io(&path, e);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(broken)?;
        }
        let log = File::create(&path).map_err(broken)?;
        let started = Instant::now();
        println!("rail {}: {} (log: {})", self.name, self.command(seed), path.display());
        let mut command = Command::new("sh");
        command.args(["-c", &self.run]).stdin(Stdio::null());
        command.env_remove("TSUNAGI_SEED");
        command.envs(seed.map(|seed| ("TSUNAGI_SEED", seed.to_string())));
        command.stdout(log.try_clone().map_err(broken)?).stderr(log);
        let mut child = command.spawn().map_err(broken)?;
        let bar = ProgressBar::new_spinner();
        bar.set_style(
            ProgressStyle::with_template("{spinner} {elapsed_precise} {wide_msg}").expect("a sound template"),
        );
        let printed = || fs::read(&path).map(|text| String::from_utf8_lossy(&text).into_owned());
        let status = loop {
            if let Some(status) = child.try_wait().map_err(broken)? {
                break status;
            }
            bar.set_message(last(&printed().map_err(broken)?).to_owned());
            bar.tick();
            thread::sleep(Duration::from_millis(500));
        };
        bar.finish_and_clear();
        let run = Run {
            passed: status.success(),
            said: summary(&printed().map_err(broken)?, status.success()),
            seconds: started.elapsed().as_secs(),
        };
        let result = if run.passed { "passed" } else { "FAILED" };
        println!("rail {}: {result} after {} s: {}", self.name, run.seconds, run.said);
        Ok(run)
    }
}

/// The last line with text.
fn last(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("")
}

/// A run in one line: its first failure; or the number of passed tests; or its last line.
fn summary(text: &str, passed: bool) -> String {
    let fails = |line: &&str| line.contains("FAILED") || line.starts_with("rtl-flow: ") || line.starts_with("error");
    let first = text.lines().find(fails).filter(|_| !passed);
    let line = first.unwrap_or(last(text)).trim();
    if passed && line.starts_with("test result: ") {
        return format!("{} tests passed", text.lines().map(passed_in).sum::<u32>());
    }
    line.to_owned()
}

/// A seed of 48 bits, which is the same number in every JSON reader.
fn fresh_seed() -> Result<u64, FlowError> {
    let source = Path::new("/dev/urandom");
    let mut bytes = [0; 8];
    let mut file = File::open(source).map_err(|e| FlowError::io(source, e))?;
    file.read_exact(&mut bytes[..6]).map_err(|e| FlowError::io(source, e))?;
    Ok(u64::from_le_bytes(bytes))
}

impl Found {
    /// The commit of the result, for a reader.
    fn of(&self) -> String {
        format!("{} of {}", &self.commit[..self.commit.len().min(8)], self.date)
    }
}

/// The output of git.
fn git<'a>(args: impl IntoIterator<Item = &'a str>) -> Result<String, FlowError> {
    let output = tools::output(Command::new("git").args(["-c", "core.quotePath=false"]).args(args))?;
    tools::clean("git", "this folder", &output)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
