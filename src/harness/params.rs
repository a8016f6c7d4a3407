//! Tables of parameters: one line for each number, with its origin, from which a machine's `Config` is made.

use super::names;
use crate::Picos;

/// Where a number comes from. What follows from others is no parameter but a function of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Stated by the paper.
    Paper,
    /// Stated by another public source.
    Public,
    /// General knowledge of the parts used; less certain.
    Known,
    /// Our choice; nothing says.
    Design,
    /// Chosen so that a reported value comes out; `measured_on` says which.
    Calibrated,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// The name of the configuration's field and of `--set name=value`.
    pub name: &'static str,
    /// The value of the paper's machine, in `unit`; a flag is 0 or 1.
    pub value: f64,
    pub unit: &'static str,
    /// Least and greatest value that can be set.
    pub range: (f64, f64),
    pub origin: Origin,
    /// The places of the paper where this value was measured or fitted: a figure (`fig11`), one item of it
    /// (`fig7.header_read`), or a section (`sec6.1`), or stated as what such a place gives back (16 bit x 20 MHz make
    /// `sec6.1.raw`). Empty for another property of the machine, or our own choice.
    pub measured_on: &'static [&'static str],
    /// Names of the parameters it was worked out from.
    pub derived_from: &'static [&'static str],
    pub note: &'static str,
}

/// Changes to a table of parameters, as texts `name=value` of any machine's, in the order in which they are made.
#[derive(Clone, Debug, Default)]
pub struct Settings(Vec<String>);

impl Settings {
    pub fn new(assignments: &[String]) -> Settings {
        Settings(assignments.to_vec())
    }

    pub fn assignments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this parameter is among them.
    pub fn sets(&self, name: &str) -> bool {
        let named = |text: &str| text.split('=').next().is_some_and(|n| n.trim() == name);
        self.assignments().any(named)
    }

    /// The same and then these.
    pub fn with(&self, values: &[(&str, f64)]) -> Settings {
        let more = values.iter().map(|(name, value)| format!("{name}={value}"));
        let is_replaced = |line: &&String| values.iter().any(|(name, _)| line.split('=').next() == Some(name));
        let kept = self.0.iter().filter(|line| !is_replaced(line)).cloned();
        Settings(kept.chain(more).collect())
    }
}

/// Why a parameter could not be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamError {
    #[error("unknown parameter `{name}`; {}", names::propose(name, known))]
    Unknown { name: String, known: Vec<&'static str> },
    #[error("parameter `{name}` = {value} {unit} is outside {min} to {max}")]
    OutOfRange {
        name: &'static str,
        value: f64,
        unit: &'static str,
        min: f64,
        max: f64,
    },
    #[error("parameter `{name}` = {value} {unit} must be a whole number")]
    NotWhole {
        name: &'static str,
        value: f64,
        unit: &'static str,
    },
    #[error("`{text}` is not `name=value` with a number (or true, false) as value")]
    NotAnAssignment { text: String },
}

/// A field type of a configuration, made from a number in the table's unit.
pub trait Quantity: Copy {
    /// It holds whole numbers only.
    const WHOLE: bool;

    fn of(value: f64, unit: &str) -> Self;

    fn number(self, unit: &str) -> f64;
}

impl Quantity for u32 {
    const WHOLE: bool = true;
    fn of(value: f64, _: &str) -> u32 {
        value as u32
    }
    fn number(self, _: &str) -> f64 {
        f64::from(self)
    }
}

impl Quantity for f64 {
    const WHOLE: bool = false;
    fn of(value: f64, _: &str) -> f64 {
        value
    }
    fn number(self, _: &str) -> f64 {
        self
    }
}

impl Quantity for bool {
    const WHOLE: bool = true;
    fn of(value: f64, _: &str) -> bool {
        value != 0.0
    }
    fn number(self, _: &str) -> f64 {
        f64::from(u8::from(self))
    }
}

impl Quantity for Picos {
    const WHOLE: bool = false;
    fn of(value: f64, unit: &str) -> Picos {
        Picos::from_us(value * us_per(unit))
    }
    fn number(self, unit: &str) -> f64 {
        self.as_us() / us_per(unit)
    }
}

fn us_per(unit: &str) -> f64 {
    match unit {
        "us" => 1.0,
        "ns" => 1e-3,
        _ => panic!("a time has unit us or ns, not {unit}"),
    }
}

/// A configuration whose values have names.
pub trait Table: Clone + Sync + 'static {
    /// Every parameter of the table, in its order.
    const PARAMS: &'static [Param];

    /// The machine of the paper.
    fn paper() -> Self;

    /// The value of one parameter in the table's unit.
    ///
    /// # Errors
    /// An unknown name.
    fn get(&self, name: &str) -> Result<f64, ParamError>;

    /// Sets one parameter by its name, `value` in the table's unit.
    ///
    /// # Errors
    /// An unknown name, a value outside the parameter's range, or a fraction where a count is needed; nothing changes
    /// then.
    fn set(&mut self, name: &str, value: f64) -> Result<(), ParamError>;

    /// Sets one parameter from `name=value`, as `--set` gives it.
    ///
    /// # Errors
    /// As [`set`](Table::set), or a text of another shape.
    fn set_assignment(&mut self, text: &str) -> Result<(), ParamError> {
        let (name, value) = assignment(text)?;
        self.set(name, value)
    }

    /// The machine of the paper with these settings.
    ///
    /// # Errors
    /// The first setting that [`set_assignment`](Table::set_assignment) refuses.
    fn of(settings: &Settings) -> Result<Self, ParamError> {
        let mut config = Self::paper();
        settings
            .assignments()
            .try_for_each(|text| config.set_assignment(text))?;
        Ok(config)
    }
}

/// Writes the table `PARAMS` and the struct `Config` from one list.
#[macro_export]
macro_rules! parameters {
    ($($name:ident: $ty:ty = $value:literal, $unit:literal, $min:literal ..= $max:literal, $origin:ident,
       on [$($on:literal),*], from [$($from:ident),*], $note:literal;)*) => {
        /// Every parameter of the table, in its order.
        pub const PARAMS: &[$crate::params::Param] = &[$($crate::params::Param {
            name: stringify!($name),
            value: $value as f64,
            unit: $unit,
            range: ($min as f64, $max as f64),
            origin: $crate::params::Origin::$origin,
            measured_on: &[$($on),*],
            derived_from: &[$(stringify!($from)),*],
            note: $note,
        }),*];

        /// One machine and its software, as both backends and the host programs use it.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config {
            $(#[doc = $note] #[doc = concat!("\n\nUnit: ", $unit, ".")] pub $name: $ty,)*
        }

        impl Config {
            /// The machine of the paper.
            pub fn paper() -> Config {
                Config { $($name: $crate::params::Quantity::of($value as f64, $unit)),* }
            }

            /// Sets one parameter by its name, `value` in the table's unit.
            ///
            /// # Errors
            /// An unknown name, a value outside the parameter's range, or a fraction where a count is needed; nothing
            /// changes then.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), $crate::params::ParamError> {
                let p = $crate::params::param(PARAMS, name)?;
                let (min, max) = p.range;
                if !(min..=max).contains(&value) {
                    let (name, unit) = (p.name, p.unit);
                    return Err($crate::params::ParamError::OutOfRange { name, value, unit, min, max });
                }
                let whole = match p.name {
                    $(stringify!($name) => <$ty as $crate::params::Quantity>::WHOLE,)*
                    _ => unreachable!(),
                };
                if whole && value.fract() != 0.0 {
                    return Err($crate::params::ParamError::NotWhole { name: p.name, value, unit: p.unit });
                }
                match p.name {
                    $(stringify!($name) => self.$name = $crate::params::Quantity::of(value, p.unit),)*
                    _ => unreachable!(),
                }
                Ok(())
            }

            /// The value of one parameter in the table's unit.
            ///
            /// # Errors
            /// An unknown name.
            pub fn get(&self, name: &str) -> Result<f64, $crate::params::ParamError> {
                let p = $crate::params::param(PARAMS, name)?;
                Ok(match p.name {
                    $(stringify!($name) => $crate::params::Quantity::number(self.$name, p.unit),)*
                    _ => unreachable!(),
                })
            }
        }

        impl $crate::params::Table for Config {
            const PARAMS: &'static [$crate::params::Param] = PARAMS;

            fn paper() -> Config {
                Config::paper()
            }

            fn get(&self, name: &str) -> Result<f64, $crate::params::ParamError> {
                self.get(name)
            }

            fn set(&mut self, name: &str, value: f64) -> Result<(), $crate::params::ParamError> {
                self.set(name, value)
            }
        }
    };
}
pub use parameters;

/// The row of that name.
///
/// # Errors
/// An unknown name; the message lists the known ones.
pub fn param(table: &'static [Param], name: &str) -> Result<&'static Param, ParamError> {
    let unknown = || ParamError::Unknown {
        name: name.into(),
        known: table.iter().map(|p| p.name).collect(),
    };
    table.iter().find(|p| p.name == name).ok_or_else(unknown)
}

/// Name and value of `name=value`; a flag may be true or false.
fn assignment(text: &str) -> Result<(&str, f64), ParamError> {
    let not = || ParamError::NotAnAssignment { text: text.into() };
    let (name, value) = text.split_once('=').ok_or_else(not)?;
    let value = match value.trim() {
        "true" => 1.0,
        "false" => 0.0,
        number => number.parse().map_err(|_| not())?,
    };
    Ok((name.trim(), value))
}

/// Asserts what must hold of every table; `value` is the paper's machine's.
pub fn assert_sound(table: &'static [Param], value: impl Fn(&str) -> Result<f64, ParamError>) {
    for p in table {
        assert!(
            (p.range.0..=p.range.1).contains(&p.value),
            "{}: default outside its own range",
            p.name
        );
        assert_eq!(value(p.name), Ok(p.value), "{}: table and struct differ", p.name);
        assert_eq!(
            table.iter().filter(|q| q.name == p.name).count(),
            1,
            "{}: twice",
            p.name
        );
        assert!(!p.note.is_empty() && !p.unit.is_empty());
        for from in p.derived_from {
            assert!(
                param(table, from).is_ok_and(|f| f.name != p.name),
                "{}: derived from {from}",
                p.name
            );
        }
        assert!(
            p.origin != Origin::Calibrated || !p.measured_on.is_empty(),
            "{}: calibrated on what?",
            p.name
        );
    }
}
