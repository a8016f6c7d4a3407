//! Properties: values are generated, and a failing value is shrunk. Its seed goes to a committed file, which later runs
//! try first. A printed line repeats it.
//!
//! All other chance of a run comes from a number generated with the value. So the file alone repeats a failure, under
//! any `TSUNAGI_SEED`.

use std::fmt::Display;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestError, TestRng, TestRunner};
use tsunagi::harness::seed::{Case, Seed};
use tsunagi::harness::wave::Probe;

use crate::Test;

/// Runs tried to make a failing value smaller.
const SHRINKING: u32 = 2000;

/// Runs the property on `cases` values; `regressions` is the file of seeds, from the package's folder.
/// A failing value is made small, and its seed written to the file. Then it is run once more as a [`Case`], which
/// leaves its wave and the line that repeats it.
///
/// # Panics
/// When a value fails, and when there is no file of seeds (an empty one will do).
pub fn holds<S: Strategy, E: Display>(
    test: Test,
    regressions: &str,
    cases: u32,
    strategy: S,
    run: impl Fn(&Case, &S::Value, &Probe) -> Result<(), E>,
) where
    S::Value: Clone,
{
    let file = Path::new(test.folder).join(regressions);
    assert!(file.is_file(), "{} is missing: make an empty one", file.display());
    let file: &'static str = file.to_str().expect("a path in UTF-8").to_owned().leak();
    let mut config = Config {
        cases,
        max_shrink_iters: SHRINKING,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
        ..Config::default()
    };
    if verilated::has_mutant() {
        (config.max_shrink_iters, config.failure_persistence) = (0, None);
    }
    let mut key = [0; 32];
    Seed::get().stream(test.name).fill(&mut key);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &key));
    let case = |chance| Case::generated(test.package, test.program, test.name, Seed(chance));
    let outcome = runner.run(&(any::<u64>().no_shrink(), strategy), |(chance, value)| {
        run(&case(chance), &value, &Probe::default()).map_err(|e| TestCaseError::fail(e.to_string()))
    });
    let name = test.name;
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, (chance, value))) => {
            eprintln!("{name}: the smallest value found that fails: {value:?}");
            let case = case(chance);
            case.run(|probe| run(&case, &value, probe));
            panic!("{name}: failed with {why}, then passed: it depends on something that is not in the value");
        }
        Err(TestError::Abort(why)) => panic!("{name}: {why}"),
    }
}
