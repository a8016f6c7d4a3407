//! Where the on-chip processor spends its cycles, from the instructions that it retires.
//!
//! The time from one retired instruction to the next is the later one's. A stop of the receiver is served when the
//! firmware writes the register that ends it.

use std::collections::BTreeMap;

use crate::dimmnet1::firmware;
use crate::dimmnet1::host::layout;
use crate::dimmnet1::params::Config;
use crate::harness::event::{Event, EventKind};
use crate::r3000::asm::{Image, listing};
use crate::{NodeId, Picos};

/// A part of the work for one stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Nothing to serve: the hardware receives, and the network brings the next packet.
    Wait,
    /// The exception, up to the dispatcher.
    Entry,
    Dispatch,
    /// The routine of the type or of the miss.
    Routine,
    /// Polling for the end of a transfer that the routine began.
    Transfer,
    /// The store that ends the stop.
    Continue,
    /// The way back.
    Exit,
}

impl Phase {
    pub const ALL: [Phase; 7] = [
        Phase::Wait,
        Phase::Entry,
        Phase::Dispatch,
        Phase::Routine,
        Phase::Transfer,
        Phase::Continue,
        Phase::Exit,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Wait => "wait",
            Phase::Entry => "entry",
            Phase::Dispatch => "dispatch",
            Phase::Routine => "routine",
            Phase::Transfer => "transfer",
            Phase::Continue => "continue",
            Phase::Exit => "exit",
        }
    }
}

/// One address.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    times: u64,
    span: Picos,
}

/// What one processor did.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// By address.
    all: BTreeMap<u32, At>,
    /// The same between the first and the last stop served, by phase.
    steady: [Picos; Phase::ALL.len()],
    /// Stops served after the first.
    stops: u32,
    cycle: Picos,
}

impl Profile {
    /// Of the processor of a node in a run.
    pub fn of(events: &[Event], node: NodeId, config: &Config) -> Profile {
        let image = image(config);
        let phases = Phases::of(&image);
        let mut profile = Profile {
            cycle: config.core_period,
            ..Profile::default()
        };
        let (mut before, mut open, mut served) = (None, [Picos::ZERO; Phase::ALL.len()], 0_u32);
        for event in events.iter().filter(|event| event.node == node) {
            let EventKind::Retire { pc, .. } = event.kind else {
                continue;
            };
            let span = before.map_or(Picos::ZERO, |before| event.at.saturating_sub(before));
            before = Some(event.at);
            let at = profile.all.entry(pc).or_default();
            at.times += 1;
            at.span += span;
            let phase = phases.at(pc);
            open[phase as usize] += span;
            if phase == Phase::Continue {
                if served > 0 {
                    profile.stops += 1;
                    profile.steady.iter_mut().zip(open).for_each(|(sum, span)| *sum += span);
                }
                served += 1;
                open = [Picos::ZERO; Phase::ALL.len()];
            }
        }
        profile
    }

    /// Cycles of a phase for one stop; NaN unless two were served.
    pub fn cycles(&self, phase: Phase) -> f64 {
        if self.stops == 0 {
            return f64::NAN;
        }
        let cycles = self.steady[phase as usize].as_us() / self.cycle.as_us();
        cycles / f64::from(self.stops)
    }

    /// Cycles from one stop to the next.
    pub fn total(&self) -> f64 {
        Phase::ALL.into_iter().map(|phase| self.cycles(phase)).sum()
    }

    /// Time from one stop to the next.
    pub fn period(&self) -> f64 {
        self.total() * self.cycle.as_us()
    }

    /// The firmware's listing; beside each word how often it was executed, and its cycles in all.
    pub fn listing(&self, config: &Config) -> String {
        let cycles = |pc: u32| {
            let at = self.all.get(&pc)?;
            let cycles = (at.span.as_us() / self.cycle.as_us()).round();
            Some(format!("{}x{cycles}", at.times))
        };
        listing(&image(config), cycles)
    }
}

fn image(config: &Config) -> Image {
    let image = firmware::image(&layout::tables(config));
    image.expect("the firmware of a machine that ran has an image")
}

/// Phases by address.
struct Phases(BTreeMap<u32, Phase>);

impl Phases {
    fn of(image: &Image) -> Phases {
        let symbol = |name: &str| image.symbols.get(name).copied().unwrap_or(u32::MAX);
        let (dispatch, types) = (symbol("dispatch"), symbol("types"));
        let (idle, fault) = (symbol("idle"), symbol("fault"));
        let mut transfers = false;
        let phase = |(at, place): (u32, crate::r3000::asm::Place)| {
            let source = &image.sources[place.source];
            let line = source.text.lines().nth(place.line - 1).unwrap_or("");
            let code = line.split('#').next().unwrap_or("");
            let is_soft = source.name.ends_with("soft.s");
            transfers = is_soft && (transfers || code.contains("RX_STOP($gp)")) && !code.contains("REASON_TIMEOUT");
            let ends_stop = code.contains("sw ") && (code.contains("_GO($gp)") || code.contains("0($a3)"));
            let phase = if ends_stop && !code.contains("BUILD_GO") {
                Phase::Continue
            } else if code.contains("jr   $s7") || code.contains("rfe") {
                Phase::Exit
            } else if (0x80..dispatch).contains(&at) {
                Phase::Entry
            } else if (dispatch..types).contains(&at) {
                Phase::Dispatch
            } else if (idle..fault).contains(&at) {
                Phase::Wait
            } else if transfers {
                Phase::Transfer
            } else {
                Phase::Routine
            };
            (at, phase)
        };
        let placed = (0..)
            .step_by(4)
            .zip(&image.places)
            .filter_map(|(at, place)| Some((at, (*place)?)));
        Phases(placed.map(phase).collect())
    }

    fn at(&self, pc: u32) -> Phase {
        self.0.get(&pc).copied().unwrap_or(Phase::Routine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_its_instructions() {
        let config = Config::paper();
        let phases = Phases::of(&image(&config));
        for phase in Phase::ALL {
            let count = phases.0.values().filter(|known| **known == phase).count();
            let most = if phase == Phase::Routine { phases.0.len() } else { 40 };
            assert!((1..most).contains(&count), "{phase:?}: {count} of {}", phases.0.len());
        }
        let transfer: Vec<u32> = phases
            .0
            .iter()
            .filter(|p| *p.1 == Phase::Transfer)
            .map(|p| *p.0)
            .collect();
        assert!(
            transfer.windows(2).all(|pair| pair[1] - pair[0] == 4),
            "one loop: {transfer:x?}"
        );
    }
}
