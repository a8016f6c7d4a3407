//! Both backends of the machine.

use tsunagi::dimmnet1::model::ModelMachine;
use tsunagi::dimmnet1::params::Config;
use tsunagi::dimmnet1::rtl;
use tsunagi::harness::backend::AnyBackend;
use tsunagi::harness::wave::Probe;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Model,
    Rtl,
}

/// Tests of functions that take a [`Kind`]: `name::model` and `name::rtl` for each.
macro_rules! on_both {
    ($($name:ident)*) => {
        $(mod $name {
            use crate::backends::Kind;

            #[test]
            fn model() {
                super::$name(Kind::Model);
            }

            #[test]
            fn rtl() {
                super::$name(Kind::Rtl);
            }
        })*
    };
}
pub(crate) use on_both;

pub fn build(kind: Kind, config: &Config) -> AnyBackend {
    match kind {
        Kind::Model => Box::new(ModelMachine::new(config)),
        Kind::Rtl => rtl::build(config, &Probe::default()).unwrap_or_else(|error| panic!("{error}")),
    }
}
