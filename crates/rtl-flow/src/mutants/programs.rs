//! The test programs on models with mutants.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::cargo::Program;
use crate::{FlowError, lists, pool};

/// Names of tests that need broken twins or waves, which this build leaves out.
const LEFT_OUT: [&str; 2] = ["twin", "wave"];
/// The variable with the file for the numbers of the mutants that a process saw.
const SEEN: &str = "VERILATED_MUTANTS_SEEN";
/// The variable with the file that a process makes when it reads the seed.
const SEED_READ: &str = "TSUNAGI_SEED_READ";

/// One test.
#[derive(Clone, Debug)]
pub struct Test {
    program: Program,
    pub name: String,
    /// Without a mutant.
    pub took: Duration,
    /// The numbers of the mutants that differ from the source in it.
    pub sees: BTreeSet<usize>,
    /// Another seed makes another run.
    pub reads_seed: bool,
}

/// Runs each test once without a mutant. Each must pass then: otherwise the copies are no copies of the sources.
pub fn record(programs: &[Program], jobs: usize, folder: &Path) -> Result<Vec<Test>, FlowError> {
    let mut tests = Vec::new();
    for program in programs {
        let names = program.tests()?;
        let is_there = |name: &String| !LEFT_OUT.iter().any(|word| name.contains(word));
        tests.extend(names.into_iter().filter(is_there).map(|name| Test {
            program: program.clone(),
            name,
            took: Duration::ZERO,
            sees: BTreeSet::new(),
            reads_seed: false,
        }));
    }
    let numbered: Vec<(usize, Test)> = tests.into_iter().enumerate().collect();
    let folder = std::path::absolute(folder.join("seen")).map_err(|e| FlowError::io(folder, e))?;
    lists::emptied(&folder)?;
    let recorded = pool::each(jobs, numbered, |(number, test)| {
        let name = test.name.clone();
        test.recorded(&folder.join(number.to_string())).map(|test| (name, test))
    });
    let (mut tests, mut failed) = (Vec::new(), Vec::new());
    for result in recorded {
        match result? {
            (_, Some(test)) => tests.push(test),
            (name, None) => failed.push(name),
        }
    }
    if !failed.is_empty() {
        return Err(FlowError::Finding {
            tool: "mutants",
            what: "the mutated copies without a mutant".into(),
            text: format!("{} tests fail: {}", failed.len(), failed.join(", ")),
        });
    }
    Ok(tests)
}

impl Test {
    /// The test with what it sees; `None` if it fails.
    fn recorded(mut self, path: &Path) -> Result<Option<Test>, FlowError> {
        const LONGEST: Duration = Duration::from_secs(600);
        let started = Instant::now();
        let read = path.with_extension("read");
        let variables = [(SEEN, path), (SEED_READ, &read)].map(|(name, path)| (name, path.display().to_string()));
        let passes = self.run(&variables, LONGEST)?;
        self.reads_seed = read.exists();
        self.took = started.elapsed();
        let text = fs::read_to_string(path).unwrap_or_default();
        self.sees = text.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(passes.then_some(self))
    }

    /// Whether the test passes under these variables. One that takes many times its usual time does not.
    pub fn passes(&self, variables: &[(&str, String)]) -> Result<bool, FlowError> {
        self.run(variables, 4 * self.took + Duration::from_secs(10))
    }

    fn run(&self, variables: &[(&str, String)], longest: Duration) -> Result<bool, FlowError> {
        let broken = |source| FlowError::io(&self.program.file, source);
        let mut command = self.program.command();
        command.args(["--exact", &self.name]).envs(variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().map_err(broken)?;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().map_err(broken)? {
                return Ok(status.success());
            }
            if started.elapsed() > longest {
                child.kill().and_then(|()| child.wait()).map_err(broken)?;
                return Ok(false);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(50));
        }
    }
}
