//! X7: cycles of the on-chip processor for one packet, by handler and phase.

use super::depends;
use super::lab::{Lab, Way, What};
use super::profile::{Phase, Profile};
use crate::dimmnet1::host::Barrier;
use crate::repro::row::Spec;
use crate::repro::{Bar, Stack};

/// Packets enough for a steady state.
const BYTES: u32 = 10 * 464;
/// Nodes of the barrier.
const NODES: f64 = 8.0;

/// What is run: a handler, its name in rows, and what is set for it.
struct Handler {
    id: &'static str,
    name: &'static str,
    what: What,
    changes: &'static [(&'static str, f64)],
    /// MB/s that the report states for it.
    reported: Option<(f64, &'static str)>,
}

const SOFT: Option<(f64, &str)> = Some((22.0, "464 B at 22 MB/s, in cycles of 50 MHz"));
const BY_FIRMWARE: &[(&str, f64)] = &[("matching", 0.0)];
const CONTINUED: Option<(f64, &str)> = Some((52.0, "464 B at 52 MB/s, in cycles of 50 MHz"));

fn handlers() -> [Handler; 9] {
    let handler = |id, name, what, changes, reported| Handler {
        id,
        name,
        what,
        changes,
        reported,
    };
    let send = |way| What::Send {
        way,
        bytes: BYTES,
        count: 1,
    };
    let barrier = |barrier| What::Barrier { barrier, count: 3 };
    let message = What::Message { bytes: BYTES, count: 1 };
    [
        handler(
            "soft_seq",
            "all in software, f_seq",
            send(Way::Soft),
            &[("f_seq", 1.0)],
            SOFT,
        ),
        handler("soft", "all in software", send(Way::Soft), &[("f_seq", 0.0)], SOFT),
        handler("rvatlb", "RVATLB miss", send(Way::Region), &[], CONTINUED),
        handler("patlb", "PATLB miss", send(Way::Page), &[], CONTINUED),
        handler(
            "patlb_polled",
            "PATLB miss, polled",
            send(Way::Page),
            &[("poll", 1.0)],
            CONTINUED,
        ),
        handler("indirect", "type INDIRECT", send(Way::Indirect), BY_FIRMWARE, CONTINUED),
        handler("message", "type MESSAGE", message, BY_FIRMWARE, CONTINUED),
        handler(
            "barrier",
            "barrier, 8 nodes",
            barrier(Barrier::Processor),
            &[("nodes", NODES)],
            None,
        ),
        handler(
            "barrier_multicast",
            "barrier, multicast",
            barrier(Barrier::ProcessorMulticast),
            &[("nodes", NODES)],
            None,
        ),
    ]
}

/// Phases of a handler that count: what a barrier waits for is the nodes, not the hardware.
fn phases(handler: &Handler) -> impl Iterator<Item = Phase> {
    let waits = !matches!(handler.what, What::Barrier { .. });
    Phase::ALL
        .into_iter()
        .filter(move |phase| waits || *phase != Phase::Wait)
}

/// The bandwidth of a long message is that of one packet in these cycles.
fn explained(lab: &mut Lab<'_>, handler: &Handler, cycles: f64) {
    let What::Send { way, .. } = handler.what else { return };
    let (bytes, count) = (64 * 1024, 1);
    let config = lab.with(handler.changes);
    let long = lab.measure(&config, What::Send { way, bytes, count });
    let by_cycles = 464.0 / (cycles * config.core_period.as_us());
    let row = format!("sec4.4.{}_long", handler.id);
    let spec = Spec::new(row, format!("{}: 64 KB", handler.name), "MB/s").depends(&depends::served());
    lab.row(
        spec.near(by_cycles, 0.05, "464 B over the cycles of one packet"),
        long.get("bandwidth"),
    );
}

pub fn x7(lab: &mut Lab<'_>) {
    let handlers = handlers();
    let profiles: Vec<Profile> = handlers
        .iter()
        .map(|handler| lab.measure(&lab.with(handler.changes), handler.what.clone()).profile)
        .collect();
    let depends = depends::served();
    let mut bars = Vec::new();
    for (handler, profile) in handlers.iter().zip(&profiles) {
        for phase in phases(handler) {
            let quantity = format!("{}: {}", handler.name, phase.name());
            let row = format!("sec4.4.{}_{}", handler.id, phase.name());
            lab.row(
                Spec::new(row, quantity, "cycles").depends(&depends),
                profile.cycles(phase),
            );
        }
        let total: f64 = phases(handler).map(|phase| profile.cycles(phase)).sum();
        let spec = Spec::new(
            format!("sec4.4.{}_packet", handler.id),
            format!("{}: one packet", handler.name),
            "cycles",
        );
        let spec = match handler.reported {
            Some((mb_s, how)) => spec.beside(464.0 / mb_s * 50.0, how),
            None => spec,
        };
        lab.row(spec.depends(&depends), total);
        explained(lab, handler, total);
        let shown = |phase: &Phase| phases(handler).any(|known| known == *phase);
        bars.push(Bar {
            name: handler.name.into(),
            parts: Phase::ALL
                .iter()
                .map(|phase| if shown(phase) { profile.cycles(*phase) } else { 0.0 })
                .collect(),
            beside: handler.reported.map(|(mb_s, _)| 464.0 / mb_s * 50.0),
        });
    }
    lab.outcome.stacks.push(Stack {
        title: "Cycles of the on-chip processor for one packet".into(),
        unit: "cycles",
        parts: Phase::ALL.map(Phase::name).to_vec(),
        bars,
    });
}
