//! Both backends of the machine.

use tsunagi::emx::asm::Source;
use tsunagi::emx::host::Emx;
use tsunagi::emx::params::Config;
use tsunagi::repro::row::BackendKind;

/// Tests of functions that take a [`BackendKind`]: `name::model` and `name::rtl` for each.
macro_rules! on_both {
    ($($name:ident)*) => {
        $(mod $name {
            use tsunagi::repro::row::BackendKind;

            #[test]
            fn model() {
                super::$name(BackendKind::Model);
            }

            #[test]
            fn rtl() {
                super::$name(BackendKind::Rtl);
            }
        })*
    };
}
pub(crate) use on_both;

/// EM-4 and EM-X.
pub fn both_machines() -> [Config; 2] {
    [Config::paper(), Config::paper().em_x()]
}

pub fn machine(config: &Config, kind: BackendKind) -> Emx {
    Emx::new(config, kind).unwrap_or_else(|error| panic!("{error}"))
}

/// A machine with code of the test's own.
pub fn with_code(config: &Config, kind: BackendKind, code: &str) -> Emx {
    let source = Source {
        name: "own.s".into(),
        text: code.into(),
    };
    Emx::with_code(config, kind, &[source]).unwrap_or_else(|error| panic!("{error}"))
}
