//! The space-time plot of the PEs.

use super::lab::Lab;
use super::measure::between_looks;
use crate::emx::backend::Seen;
use crate::emx::library::Program;
use crate::repro::{Cell, Map};

/// Packets of an input buffer on chip: what is more stands in memory.
fn on_chip(lab: &Lab<'_>) -> u32 {
    2 * lab.config().half_packets
}

/// What all PEs do in an exchange of 100 words.
pub fn map(lab: &mut Lab<'_>, program: Program, name: &str) {
    let seen = lab.program(program, 100).seen;
    let (on_chip, every) = (on_chip(lab), between_looks(program));
    let cell = |seen: &Seen| {
        let executes = seen.busy - seen.send_wait;
        let idle = every as u32 - seen.busy;
        let state = match executes.max(seen.send_wait).max(idle) {
            most if most == executes => 1,
            most if most == seen.send_wait => 2,
            _ => 0,
        };
        Cell {
            state,
            level: seen.depth.saturating_sub(on_chip),
        }
    };
    lab.outcome.maps.push(Map {
        title: format!("{name} of 100 words: what the PEs do"),
        node: "PE",
        span: lab.config().clock_period * every,
        states: &["waits for packets", "executes", "waits to send"],
        level: "packets in memory, from",
        cells: seen.iter().map(|pes| pes.iter().map(cell).collect()).collect(),
    });
}
