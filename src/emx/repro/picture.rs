//! The space-time plot of the PEs.

use super::lab::{Lab, What};
use crate::emx::backend::Seen;
use crate::emx::library::Program;
use crate::repro::{Cell, Map};

/// Cycles of a cell.
const EVERY: u64 = 400;
/// Packets of an input buffer on chip: what is more stands in memory.
fn on_chip(lab: &Lab<'_>) -> u32 {
    2 * lab.config().half_packets
}

/// What all PEs do in an exchange of 100 words.
pub fn map(lab: &mut Lab<'_>, program: Program, name: &str) {
    let config = lab.config();
    let what = What::Watched {
        program,
        count: config.used,
        words: 100,
        every: EVERY,
    };
    let seen = lab.measure(config, what).seen;
    let on_chip = on_chip(lab);
    let cell = |seen: &Seen| {
        let executes = seen.busy - seen.send_wait;
        let idle = EVERY as u32 - seen.busy;
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
        span: config.clock_period * EVERY,
        states: &["waits for packets", "executes", "waits to send"],
        level: "packets in memory, from",
        cells: seen.iter().map(|pes| pes.iter().map(cell).collect()).collect(),
    });
}
