//! Runs the testbenches on other models.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;

use crate::{FlowError, kept, tools};

/// The choice of tests.
#[derive(clap::Args)]
pub struct Tests {
    /// The packages to test
    #[arg(long = "package", value_name = "NAME", default_values = ["testbenches", "testbenches-machine"])]
    packages: Vec<String>,
    /// Options for `cargo test`, as in `-- --test net crossbar`; without them, all of the packages' tests run
    #[arg(last = true)]
    cargo: Vec<String>,
}

impl Tests {
    /// Whether the choice is all tests of the packages.
    pub fn all(&self) -> bool {
        self.cargo.is_empty()
    }

    /// The command of `cargo test` for these tests, with `variable` set to `folder`.
    fn command(&self, variable: &str, folder: &Path) -> Result<Command, FlowError> {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.arg("test");
        command.args(self.packages.iter().map(|package| format!("--package={package}")));
        let absolute = std::path::absolute(folder).map_err(|e| FlowError::io(folder, e))?;
        command.env(variable, absolute);
        Ok(command)
    }

    /// The programs of the tests, built with `variable` set to `folder`. `what` names the models.
    pub fn programs(&self, what: &str, variable: &str, folder: &Path) -> Result<Vec<Program>, FlowError> {
        let mut command = self.command(variable, folder)?;
        command.args(["--no-run", "--message-format=json-render-diagnostics"]);
        command.args(&self.cargo).stderr(Stdio::inherit());
        let mut output = tools::output(&mut command)?;
        // Messages for programs; those for people went to the terminal.
        let messages = std::mem::take(&mut output.stdout);
        tools::clean("cargo test", what, &output)?;
        let text = String::from_utf8_lossy(&messages);
        let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let program = |message: Value| {
            let file = message["executable"].as_str()?.into();
            let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
            (message["profile"]["test"] == true).then_some(Program { file, folder })
        };
        Ok(messages.filter_map(program).collect())
    }

    /// Runs the tests with `variable` set to `folder`; returns the number that passed. `what` names the models.
    pub fn run(&self, what: &str, variable: &str, folder: &Path) -> Result<u32, FlowError> {
        let mut command = self.command(variable, folder)?;
        command.arg("--no-fail-fast").args(&self.cargo);
        let (passed, status) = run(command)?;
        if !status.success() || passed == 0 {
            return Err(finding(what, format!("{passed} tests passed, {status}")));
        }
        Ok(passed)
    }

    /// As [`run`](Tests::run), but a program that has passed before is not run again: where the packages test several
    /// machines, a change of one leaves the programs of the others as they are, byte for byte. `kept` has the results.
    pub fn run_changed(&self, what: &str, variable: &str, folder: &Path, kept: &Path) -> Result<u32, FlowError> {
        fs::create_dir_all(kept).map_err(|e| FlowError::io(kept, e))?;
        let seen = std::path::absolute(folder).map_err(|e| FlowError::io(folder, e))?;
        let (mut passed, mut failed) = (0, Vec::new());
        for program in self.programs(what, variable, folder)? {
            let (name, mut ran) = (program.name(), false);
            let count = kept::or_make(&kept.join(&name), &program.key()?, || {
                ran = true;
                println!("running {name}");
                program.run(what, variable, &seen)
            });
            match count {
                Ok(count) => passed += count,
                Err(FlowError::Finding { text, .. }) => failed.push(format!("{name}: {text}")),
                Err(error) => return Err(error),
            }
            if !ran {
                println!("{name} is unchanged since it passed");
            }
        }
        if !failed.is_empty() || passed == 0 {
            return Err(finding(what, format!("{passed} tests passed\n{}", failed.join("\n"))));
        }
        Ok(passed)
    }
}

fn finding(what: &str, text: String) -> FlowError {
    FlowError::Finding {
        tool: "cargo test",
        what: what.into(),
        text,
    }
}

/// A test program.
#[derive(Clone, Debug)]
pub struct Program {
    pub file: PathBuf,
    /// Of its package.
    folder: PathBuf,
}

impl Program {
    /// Runs it as cargo does.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.file);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }

    fn name(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A digest of what it does: of its code and data, and of the seed that it would read. Where the sources' lines
    /// have moved, only what helps to find errors is another.
    fn key(&self) -> Result<String, FlowError> {
        let stripped = self.file.with_extension("stripped");
        let mut strip = Command::new("strip");
        strip.arg("--strip-debug").arg("-o").arg(&stripped).arg(&self.file);
        tools::clean("strip", self.file.display().to_string(), &tools::output(&mut strip)?)?;
        let code = fs::read(&stripped).map_err(|e| FlowError::io(&stripped, e))?;
        fs::remove_file(&stripped).map_err(|e| FlowError::io(&stripped, e))?;
        let seed = std::env::var_os("TSUNAGI_SEED").unwrap_or_default();
        Ok(kept::key(&[&code[..], seed.as_encoded_bytes()]))
    }

    /// Runs all of its tests, which see `variable`, too; returns the number that passed.
    fn run(&self, what: &str, variable: &str, folder: &Path) -> Result<u32, FlowError> {
        let mut command = self.command();
        command.env(variable, folder);
        let (passed, status) = run(command)?;
        match status.success() {
            true => Ok(passed),
            false => Err(finding(what, format!("{passed} tests passed, {status}"))),
        }
    }

    /// The names of its tests.
    pub fn tests(&self) -> Result<Vec<String>, FlowError> {
        let output = tools::output(self.command().args(["--list", "--format", "terse"]))?;
        tools::clean("a test program", self.file.display().to_string(), &output)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(names.map(str::to_owned).collect())
    }
}

/// Runs the command and prints what it prints; the number of tests that passed.
fn run(mut command: Command) -> Result<(u32, ExitStatus), FlowError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let broken = |source| FlowError::Program {
        program: program.clone(),
        source,
    };
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(broken)?;
    let mut passed = 0;
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.map_err(broken)?;
        passed += passed_in(&line);
        println!("{line}");
    }
    Ok((passed, child.wait().map_err(broken)?))
}

/// The number of passed tests in a line of `cargo test`.
pub fn passed_in(line: &str) -> u32 {
    let count = line
        .strip_prefix("test result: ")
        .and_then(|rest| rest.split_once(". "))
        .and_then(|(_, rest)| rest.split_once(" passed"));
    count.and_then(|(n, _)| n.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_counted() {
        let line = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.61s";
        assert_eq!(passed_in(line), 12);
        assert_eq!(passed_in("test fifo::fifo_lut_ram ... ok"), 0);
    }
}
