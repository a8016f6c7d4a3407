//! Ports by name, in the usual ways of naming them.

use verilated::{Pin, Verilated};

use crate::names::nearest;

/// A unit lacks a port that a bench needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{unit} has no {kind} {}{}", tried.join(" or "), proposal(*meant))]
pub struct NoPort {
    /// The instance's name.
    pub unit: String,
    /// `input` or `output`, and what else it must be.
    pub kind: &'static str,
    pub tried: Vec<String>,
    pub meant: Option<&'static str>,
}

fn proposal(meant: Option<&str>) -> String {
    meant.map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

/// Whether a port is driven by the bench or by the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Input,
    Output,
}

impl Way {
    pub(super) fn other(self) -> Way {
        match self {
            Way::Input => Way::Output,
            Way::Output => Way::Input,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Way::Input => "input",
            Way::Output => "output",
        }
    }
}

fn is(pin: &Pin, way: Way) -> bool {
    pin.info().output == (way == Way::Output)
}

/// The port of exactly this name.
pub(super) fn input(unit: &dyn Verilated, name: &str) -> Result<Pin, NoPort> {
    let found = unit.pin(name).filter(|pin| is(pin, Way::Input));
    found.ok_or_else(|| missing(unit, Way::Input.name(), vec![name.to_owned()]))
}

/// The names that a signal of a prefix may have: `in_data_i`, `in_data_o`, `in_data`, `in_tdata`, `indata`.
fn candidates(prefix: &str, signal: &str) -> [String; 5] {
    [
        format!("{prefix}_{signal}_i"),
        format!("{prefix}_{signal}_o"),
        format!("{prefix}_{signal}"),
        format!("{prefix}_t{signal}"),
        format!("{prefix}{signal}"),
    ]
}

/// The signal of a prefix, if the unit has it.
pub(super) fn maybe(unit: &dyn Verilated, prefix: &str, signal: &str, way: Way) -> Option<Pin> {
    let mut pins = candidates(prefix, signal)
        .into_iter()
        .filter_map(|name| unit.pin(&name));
    pins.find(|pin| is(pin, way))
}

/// The signal of a prefix.
pub(super) fn find(unit: &dyn Verilated, prefix: &str, signal: &str, way: Way) -> Result<Pin, NoPort> {
    maybe(unit, prefix, signal, way).ok_or_else(|| missing(unit, way.name(), candidates(prefix, signal).into()))
}

/// The same for a signal that drivers handle as a number.
pub(super) fn number(unit: &dyn Verilated, prefix: &str, signal: &str, way: Way) -> Result<Pin, NoPort> {
    let pin = find(unit, prefix, signal, way)?;
    if verilated::Port::width(&pin) <= 64 {
        return Ok(pin);
    }
    let kind = match way {
        Way::Input => "input of at most 64 bits",
        Way::Output => "output of at most 64 bits",
    };
    Err(NoPort {
        unit: unit.name().to_owned(),
        kind,
        tried: vec![pin.info().name.to_owned()],
        meant: None,
    })
}

fn missing(unit: &dyn Verilated, kind: &'static str, tried: Vec<String>) -> NoPort {
    let known = unit.ports().iter().map(|port| port.name);
    let meant = tried.iter().find_map(|name| nearest(name, known.clone()));
    NoPort {
        unit: unit.name().to_owned(),
        kind,
        tried,
        meant,
    }
}
