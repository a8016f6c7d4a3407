//! Runs the testbenches on other models.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::FlowError;

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

    /// Runs the tests with `variable` set to `folder`; returns the number that passed. `what` names the models.
    pub fn run(&self, what: &str, variable: &str, folder: &Path) -> Result<u32, FlowError> {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.args(["test", "--no-fail-fast"]);
        command.args(self.packages.iter().map(|package| format!("--package={package}")));
        command.args(&self.cargo).stdout(Stdio::piped());
        let absolute = std::path::absolute(folder).map_err(|e| FlowError::io(folder, e))?;
        command.env(variable, absolute);
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
