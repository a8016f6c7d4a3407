//! A test and the line that repeats it.

use tsunagi::harness::wave::{Probe, with_waves};

use crate::root;

/// One test function of a test program.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    pub package: &'static str,
    /// The package's folder.
    pub folder: &'static str,
    pub program: &'static str,
    /// Modules and function, as the test program lists it.
    pub name: &'static str,
}

/// The [`Test`] of the function in which this stands.
#[macro_export]
macro_rules! this_test {
    () => {{
        fn here() {}
        let path = ::std::any::type_name_of_val(&here);
        $crate::Test::of(env!("CARGO_PKG_NAME"), env!("CARGO_MANIFEST_DIR"), path)
    }};
}

impl Test {
    /// `path` begins with the program, and ends with an item of the function.
    pub fn of(package: &'static str, folder: &'static str, path: &'static str) -> Test {
        let (program, rest) = path.split_once("::").expect("a program, then a test");
        let (name, _) = rest.rsplit_once("::").expect("a test, then an item of it");
        Test {
            package,
            folder,
            program,
            name,
        }
    }

    /// Runs the body of the test. A failure leaves a wave of its last microseconds in `out/waves`, and prints the line
    /// that repeats it.
    pub fn run<T>(&self, body: impl Fn(&Probe) -> T) -> T {
        let Test {
            package, program, name, ..
        } = self;
        let replay = format!("cargo test -p {package} --test {program} -- --exact {name}");
        let wave = format!("{program}-{}", name.replace("::", "-"));
        with_waves(&root().join("out/waves"), &wave, &replay, body)
    }
}
