//! Runs `cargo test` and writes its results as JUnit XML, which forges show test by test.

use std::fs;
use std::io::{IsTerminal, Read, Write, stdout};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::{FlowError, Outcome};

/// Run `cargo test`, and write its results as JUnit XML
#[derive(clap::Args)]
pub struct Args {
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "out/junit.xml")]
    out: PathBuf,
    /// The command, as in `-- cargo test --workspace`
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

pub fn run(args: &Args) -> Outcome {
    write(args, &mut stdout())
}

fn write(args: &Args, shown: &mut impl Write) -> Outcome {
    let (results, code) = show(&args.command, shown)?;
    let failed = results.failed().join(", ");
    let report = results.report();
    if let Some(folder) = args.out.parent() {
        fs::create_dir_all(folder).map_err(|error| FlowError::io(folder, error))?;
    }
    let xml = report
        .to_string()
        .map_err(|error| FlowError::list(&args.out, error.to_string()))?;
    fs::write(&args.out, xml).map_err(|error| FlowError::io(&args.out, error))?;
    let all = format!("all results: {}", args.out.display());
    let tests = report.tests;
    if code == Some(0) {
        return Ok(format!("{tests} tests, none failed; {all}"));
    }
    let said = match report.failures {
        0 => format!("it stopped after {tests} tests"),
        failures => format!("{failures} of {tests} tests failed: {failed}"),
    };
    Err(FlowError::Finding {
        tool: "cargo test",
        what: args.command.join(" "),
        text: format!("{said}\n{all}"),
    }
    .into())
}

/// Runs the command, shows what it prints as it comes, and reads it.
fn show(command: &[String], shown: &mut impl Write) -> Result<(Results, Option<i32>), FlowError> {
    let mut results = Results::default();
    let broken = |source| FlowError::Program {
        program: command[0].clone(),
        source,
    };
    // Cargo names a program on the one stream, the program its tests on the other: their order matters.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$@\" 2>&1", "sh"])
        .args(command)
        .stdout(Stdio::piped());
    if stdout().is_terminal() {
        shell
            .env("CARGO_TERM_PROGRESS_WHEN", "always")
            .env("CARGO_TERM_PROGRESS_WIDTH", "80");
    }
    let mut child = shell.spawn().map_err(broken)?;
    let mut output = child.stdout.take().expect("it is piped");
    let (mut bytes, mut line) = ([0; 4096], Vec::new());
    loop {
        let count = output.read(&mut bytes).map_err(broken)?;
        if count == 0 {
            break;
        }
        // Who reads may have gone; the results are still written.
        let _ = shown.write_all(&bytes[..count]).and_then(|()| shown.flush());
        for byte in &bytes[..count] {
            match byte {
                b'\n' => {
                    results.read(&String::from_utf8_lossy(&line));
                    line.clear();
                }
                // A line of progress is written over.
                b'\r' => line.clear(),
                byte => line.push(*byte),
            }
        }
    }
    let status = child.wait().map_err(broken)?;
    Ok((results, status.code()))
}

/// The results of a program's tests.
struct Suite {
    name: String,
    cases: Vec<(String, TestCaseStatus)>,
    time: Option<Duration>,
    /// The failed test whose output comes.
    telling: Option<usize>,
}

/// What the lines say so far.
#[derive(Default)]
struct Results {
    suites: Vec<Suite>,
}

impl Results {
    fn read(&mut self, line: &str) {
        let plain = line.trim_start();
        // `Running tests/cli/main.rs (target/debug/deps/cli-…)`, `Running unittests src/lib.rs (…)`.
        let program = plain.strip_prefix("Running ").and_then(|rest| rest.strip_suffix(')'));
        let program = program.and_then(|rest| rest.rsplit_once(" ("));
        if let Some((source, file)) = program {
            let file = file.rsplit('/').next().unwrap_or(file);
            let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
            return self.begin(format!("{name} {source}"));
        }
        if let Some(package) = plain.strip_prefix("Doc-tests ") {
            return self.begin(format!("{package} documentation"));
        }
        if let Some(suite) = self.suites.last_mut() {
            suite.read(line);
        }
    }

    fn begin(&mut self, name: String) {
        self.suites.push(Suite {
            name,
            cases: Vec::new(),
            time: None,
            telling: None,
        });
    }

    /// The names of the failed tests.
    fn failed(&self) -> Vec<&str> {
        let cases = self.suites.iter().flat_map(|suite| &suite.cases);
        cases
            .filter(|(_, status)| matches!(status, TestCaseStatus::NonSuccess { .. }))
            .map(|(name, _)| name.as_str())
            .collect()
    }

    fn report(self) -> Report {
        let mut report = Report::new("cargo test");
        for suite in self.suites.into_iter().filter(|suite| !suite.cases.is_empty()) {
            let mut shown = TestSuite::new(suite.name);
            shown.time = suite.time;
            for (name, status) in suite.cases {
                shown.add_test_case(TestCase::new(name, status));
            }
            report.add_test_suite(shown);
        }
        report
    }
}

impl Suite {
    fn read(&mut self, line: &str) {
        if let Some((name, result)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) {
            let status = match result {
                "ok" => TestCaseStatus::success(),
                "FAILED" => TestCaseStatus::non_success(NonSuccessKind::Failure),
                _ => match result.strip_prefix("ignored") {
                    Some(why) => {
                        let mut skipped = TestCaseStatus::skipped();
                        skipped.set_message(why.trim_start_matches(", "));
                        skipped
                    }
                    None => return,
                },
            };
            let name = name.trim_end_matches(" - should panic");
            return self.cases.push((name.to_owned(), status));
        }
        if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.telling = self.cases.iter().position(|(known, _)| known == name);
            return;
        }
        if let Some((_, rest)) = line
            .split_once("finished in ")
            .filter(|_| line.starts_with("test result: "))
        {
            let seconds = rest.trim_end_matches('s').parse().ok();
            self.time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        }
        if line == "failures:" {
            self.telling = None;
        }
        if let Some((_, TestCaseStatus::NonSuccess { description, .. })) = self.telling.map(|at| &mut self.cases[at]) {
            let said = description
                .take()
                .map_or(String::new(), |said| format!("{}\n", said.as_str()));
            *description = Some(format!("{said}{line}").as_str().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
   Compiling tsunagi v0.1.0
     Running unittests src/lib.rs (target/debug/deps/tsunagi-0123456789abcdef)

running 4 tests
test harness::names::tests::near ... ok
test cli::slow ... ignored, it takes an hour
test cli::wrong ... FAILED
test cli::panics - should panic ... ok

failures:

---- cli::wrong stdout ----
assertion failed: 1 < 0
replay: TSUNAGI_SEED=7

failures:
    cli::wrong

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.25s
     Running tests/none/main.rs (target/debug/deps/none-0123456789abcdef)

running 0 tests
   Doc-tests verilated

running 1 test
test src/lib.rs - Model (line 12) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.50s
";

    #[test]
    fn each_test_of_each_program_is_told() {
        let mut results = Results::default();
        OUTPUT.lines().for_each(|line| results.read(line));
        assert_eq!(results.failed(), ["cli::wrong"]);
        let report = results.report();
        assert_eq!((report.tests, report.failures), (5, 1));
        let names: Vec<&str> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["tsunagi unittests src/lib.rs", "verilated documentation"]);
        assert_eq!(report.test_suites[0].time, Some(Duration::from_millis(1250)));
        let xml = report.to_string().unwrap();
        for word in [
            "it takes an hour",
            "assertion failed: 1 &lt; 0",
            "TSUNAGI_SEED=7",
            "cli::panics",
        ] {
            assert!(xml.contains(word), "{word}: {xml}");
        }
    }

    #[test]
    fn the_commands_exit_code_counts() {
        let command = |script: &str| ["sh", "-c", script].map(str::to_owned).to_vec();
        let folder = tempfile::tempdir().unwrap();
        let run = |script: &str| {
            let args = Args {
                out: folder.path().join("new/junit.xml"),
                command: command(script),
            };
            write(&args, &mut std::io::sink())
        };
        let passed = run("echo '   Doc-tests one'; echo 'test a ... ok'").unwrap();
        assert!(passed.starts_with("1 tests, none failed; "), "{passed}");
        let stopped = run("echo '   Doc-tests one'; echo 'test a ... ok'; exit 101").unwrap_err();
        let said = stopped[0].to_string();
        assert!(said.contains("it stopped after 1 tests\n"), "{said}");
        assert!(
            fs::read_to_string(folder.path().join("new/junit.xml"))
                .unwrap()
                .contains("testsuites")
        );
    }
}
