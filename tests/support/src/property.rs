//! Properties: generated values, shrunk where one fails; its seed in a committed file, run first ever after; one line that repeats it.
//!
//! What a run needs of chance besides its value comes from a number generated with the value, so that the file alone repeats a failure, under
//! any `TSUNAGI_SEED`.

use std::fmt::Display;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestError, TestRng, TestRunner};
use tsunagi::harness::seed::{Case, Seed};
use tsunagi::harness::wave::Probe;

/// Runs tried to make a failing value smaller.
const SHRINKING: u32 = 2000;

/// Runs the property on `cases` values. `test` is the test function's name, `regressions` the file of seeds, from the package's folder.
/// A failing value is made small and its seed written to the file; then it is run once more as a [`Case`], which leaves its wave and replay line.
///
/// # Panics
/// When a value fails; when there is no file of seeds (an empty one will do).
pub fn holds<S: Strategy, E: Display>(
    test: &'static str,
    regressions: &str,
    cases: u32,
    strategy: S,
    run: impl Fn(&Case, &S::Value, &Probe) -> Result<(), E>,
) where
    S::Value: Clone,
{
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(regressions);
    assert!(file.is_file(), "{} is missing: make an empty one", file.display());
    let file: &'static str = file.to_str().expect("a path in UTF-8").to_owned().leak();
    let config = Config {
        cases,
        max_shrink_iters: SHRINKING,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
        ..Config::default()
    };
    let mut key = [0; 32];
    Seed::get().stream(test).fill(&mut key);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &key));
    let case = |chance| Case::generated(env!("CARGO_PKG_NAME"), env!("CARGO_CRATE_NAME"), test, Seed(chance));
    let outcome = runner.run(&(any::<u64>().no_shrink(), strategy), |(chance, value)| {
        run(&case(chance), &value, &Probe::default()).map_err(|e| TestCaseError::fail(e.to_string()))
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, (chance, value))) => {
            eprintln!("{test}: the smallest value found that fails: {value:?}");
            let case = case(chance);
            case.run(|probe| run(&case, &value, probe));
            panic!("{test}: failed with {why}, then passed: it depends on something that is not in the value");
        }
        Err(TestError::Abort(why)) => panic!("{test}: {why}"),
    }
}
