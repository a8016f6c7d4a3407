//! Runs the testbenches on other models.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{FlowError, tools};

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
        command.arg("--no-fail-fast").args(&self.cargo).stdout(Stdio::piped());
        let broken = |source| FlowError::Program {
            program: "cargo".into(),
            source,
        };
        let mut child = command.spawn().map_err(broken)?;
        let mut passed = 0;
        for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
            let line = line.map_err(broken)?;
            passed += passed_in(&line);
            println!("{line}");
        }
        let status = child.wait().map_err(broken)?;
        if !status.success() || passed == 0 {
            return Err(FlowError::Finding {
                tool: "cargo test",
                what: what.into(),
                text: format!("{passed} tests passed, {status}"),
            });
        }
        Ok(passed)
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

    /// The names of its tests.
    pub fn tests(&self) -> Result<Vec<String>, FlowError> {
        let output = tools::output(self.command().args(["--list", "--format", "terse"]))?;
        tools::clean("a test program", self.file.display().to_string(), &output)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(names.map(str::to_owned).collect())
    }
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
