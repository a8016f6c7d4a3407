//! Rules of benches, and the one kind of failure.

use std::fmt::{Debug, Display};

use tsunagi::cenju3::golden::lockstep::Mismatch;
use tsunagi::harness::stream::ProtocolError;

/// A rule that a unit must keep. [`rules!`](crate::rules) lists those of a bench.
pub trait Rule: Copy + Debug + PartialEq + 'static {
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    /// The fault of a unit that breaks this rule.
    fn broken(self, what: impl Into<String>) -> Fault {
        Fault {
            rule: self.name(),
            what: what.into(),
        }
    }

    /// # Errors
    /// The fault, in these words, unless the rule is kept.
    fn holds(self, kept: bool, what: impl FnOnce() -> String) -> Result<(), Fault> {
        if kept { Ok(()) } else { Err(self.broken(what())) }
    }

    /// # Errors
    /// The fault, in these words with both values, unless they are the same.
    fn same<T: PartialEq + Debug>(self, what: impl Display, want: T, got: T) -> Result<(), Fault> {
        self.holds(got == want, || format!("{what}: {got:x?}, not {want:x?}"))
    }
}

/// A broken rule, and how it shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {what}")]
pub struct Fault {
    /// The name of the rule.
    pub rule: &'static str,
    pub what: String,
}

impl Fault {
    /// The same with the cycle in which it showed.
    #[must_use]
    pub fn at(self, cycle: u64) -> Fault {
        let what = format!("cycle {cycle}: {}", self.what);
        Fault { what, ..self }
    }
}

impl From<ProtocolError> for Fault {
    /// Each bench of a stream has the rule `Protocol`: an offer holds until it is taken.
    fn from(error: ProtocolError) -> Fault {
        Fault {
            rule: "Protocol",
            what: error.to_string(),
        }
    }
}

impl From<Mismatch> for Fault {
    /// The rule has the name of the model's field.
    fn from(mismatch: Mismatch) -> Fault {
        Fault {
            rule: mismatch.field,
            what: mismatch.to_string(),
        }
    }
}

/// The rules of a bench, as `enum Rule`. Each has a line that says it, and a broken twin. A rule that a golden model
/// names in words has that name: `Get = "GET"`.
#[macro_export]
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident $(= $name:literal)?)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule {
            $($(#[$doc])* $rule,)+
        }

        impl $crate::Rule for Rule {
            const ALL: &'static [Rule] = &[$(Rule::$rule,)+];

            fn name(self) -> &'static str {
                match self {
                    $(Rule::$rule => [$($name,)? stringify!($rule)][0],)+
                }
            }
        }
    };
}
