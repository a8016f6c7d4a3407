//! The wave of a whole machine: it changes no event, and shows what the events say.

use std::collections::BTreeMap;

use tsunagi::harness::backend::{Event, EventKind};
use tsunagi::harness::check::same_events;
use tsunagi::harness::wave::{Probe, WaveRequest};
use tsunagi::{NodeId, Picos};

use crate::wave_reader::{Grid, changes, check_clocks};

/// A run of a machine of two nodes, and the names in its wave. The first node sends to the second.
pub struct Shown {
    pub run: fn(&Probe) -> Vec<Event>,
    /// High when the first node sends a packet's first word.
    pub sends: &'static str,
    /// High when a write of the second node's memory is answered.
    pub written: &'static str,
    pub clocks: [&'static str; 2],
    pub grids: &'static [(&'static str, Grid)],
}

fn last_before(changes: &[(u64, String)], at: Picos) -> &str {
    let before = changes.iter().take_while(|(time, _)| *time < at.0);
    before.last().map_or("none", |(_, value)| value)
}

impl Shown {
    /// Runs the machine with a wave in each format. The events are those of a run without a wave, the signals are high
    /// at their events, and both formats hold the same.
    pub fn check(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = (self.run)(&Probe::default());
        let signals = [&self.clocks[..], &[self.sends, self.written]].concat();
        let (mut shown, mut checked) = (Vec::new(), BTreeMap::new());
        for name in ["run.vcd", "run.fst"] {
            let path = folder.path().join(name);
            let request = WaveRequest {
                path: path.clone(),
                from: Picos::ZERO,
                to: None,
            };
            same_events(&plain, &(self.run)(&Probe::new(request))).unwrap_or_else(|error| panic!("{error}"));
            let found = changes(&path, |name| signals.contains(&name));
            assert_eq!(found.len(), signals.len(), "{:?}", found.keys());
            for event in &plain {
                let signal = match event.kind {
                    EventKind::TxFirst { .. } if event.node == NodeId(0) => self.sends,
                    EventKind::MemWritten { .. } if event.node == NodeId(1) => self.written,
                    _ => continue,
                };
                *checked.entry(signal).or_insert(0) += 1;
                let shown_before = last_before(&found[signal], event.at);
                // An output stands before the edge that takes it; an input is given at the edge.
                let at_edge = last_before(&found[signal], event.at + Picos(1));
                assert!(shown_before == "1" || at_edge == "1", "{signal} at {event:?}");
            }
            for clock in self.clocks {
                let edges = &found[clock];
                assert!(edges.len() > 100, "{clock} changes {} times", edges.len());
                assert!(edges.windows(2).all(|pair| pair[0].1 != pair[1].1));
            }
            assert!(check_clocks(&path, self.grids) > 10);
            shown.push(found);
        }
        assert_eq!(checked.len(), 2, "{checked:?}");
        assert_eq!(shown[0], shown[1], "VCD and FST agree");
    }
}
