//! The wave of a whole machine: it changes no event, and shows what the events say.

use std::collections::BTreeMap;

use tsunagi::harness::backend::{Event, EventKind};
use tsunagi::harness::check::same_events;
use tsunagi::harness::lane::Way;
use tsunagi::harness::wave::{Probe, WaveRequest};
use tsunagi::{NodeId, Picos};

use crate::wave_reader::{Grid, changes, check_clocks};

/// A run of a machine, and the names in its wave.
pub struct Shown {
    pub run: fn(&Probe) -> Vec<Event>,
    /// Signals that are high at each of these events of a node.
    pub high: [(NodeId, fn(EventKind) -> bool, &'static str); 2],
    pub links: &'static [Link],
    pub clocks: [&'static str; 2],
    pub grids: &'static [(&'static str, Grid)],
}

/// A lane of a node's link, whose packets all have the same sender.
pub struct Link {
    pub lane: &'static str,
    pub node: NodeId,
    pub way: Way,
    pub sender: NodeId,
    /// What the text of a packet ends with once it is known whole.
    pub end: &'static str,
}

/// What a lane shows.
pub type Texts = Vec<(u64, String)>;

/// The texts of a lane's values.
pub fn texts(changes: &[(u64, String)]) -> Texts {
    changes.iter().map(|(at, bits)| (*at, text(bits))).collect()
}

/// The value just before an instant.
pub fn last_before(changes: &[(u64, String)], at: Picos) -> &str {
    let before = changes.iter().take_while(|(time, _)| *time < at.0);
    before.last().map_or("none", |(_, value)| value)
}

/// The text of a lane's value.
fn text(bits: &str) -> String {
    let byte = |at: usize| u8::from_str_radix(&bits[at..at + 8], 2).expect("bits");
    let bytes = (0..bits.len()).step_by(8).map(byte);
    bytes.skip_while(|byte| *byte == 0).map(char::from).collect()
}

/// Where a lane shows something other than the packets of the events: each from the instant of its first word to that
/// of its last one, called by its sender and its number.
fn fault(lane: &[(u64, String)], events: &[Event], link: &Link) -> Option<String> {
    let mut packets: Vec<(u64, u64)> = Vec::new();
    for event in events.iter().filter(|event| event.node == link.node) {
        match (link.way, event.kind, packets.last_mut()) {
            (Way::Out, EventKind::TxFirst { .. }, _) | (Way::In, EventKind::RxFirst { .. }, _) => {
                packets.push((event.at.0, 0));
            }
            (Way::Out, EventKind::TxLast { .. }, Some(last)) | (Way::In, EventKind::RxLast { .. }, Some(last)) => {
                last.1 = event.at.0;
            }
            _ => {}
        }
    }
    let mut shown: Texts = Vec::new();
    for (at, text) in lane {
        // What the packet is comes behind its number.
        let name = text.split(' ').take(3).collect::<Vec<_>>().join(" ");
        if shown.last().is_none_or(|(_, last)| *last != name) {
            shown.push((*at, name));
        }
    }
    let mut want = vec![(0, String::new())];
    for (number, (from, to)) in (1..).zip(packets) {
        // One may follow directly.
        want.pop_if(|(end, _)| *end == from);
        want.extend([(from, format!("{} #{number}", link.sender)), (to, String::new())]);
    }
    // The wave's first instant is its own.
    let differ = |(shown, want): &(&(u64, String), &(u64, String))| shown != want;
    let first = shown.iter().zip(&want).skip(1).find(differ);
    let lengths = (shown.len(), want.len());
    (first.is_some() || lengths.0 != lengths.1).then(|| format!("{first:?}, {lengths:?}"))
}

#[test]
fn a_lane_that_ends_early_or_has_another_number_is_found() {
    let event = |at, kind| Event {
        at: Picos(at),
        node: NodeId(0),
        kind,
    };
    let link = |sender| Link {
        lane: "",
        node: NodeId(0),
        way: Way::Out,
        sender: NodeId(sender),
        end: "",
    };
    let (first, last) = (EventKind::TxFirst { head: 1 }, EventKind::TxLast { flits: 9 });
    let events = [event(10, first), event(50, last), event(60, first), event(90, last)];
    let owned = |lane: &[(u64, &str)]| -> Texts { lane.iter().map(|(at, text)| (*at, (*text).to_owned())).collect() };
    let found = |lane: &[(u64, &str)]| fault(&owned(lane), &events, &link(0));
    let sound = [
        (5, ""),
        (10, "PE 0 #1"),
        (20, "PE 0 #1 Dma 8 B to PE 1"),
        (50, ""),
        (60, "PE 0 #2"),
        (90, ""),
    ];
    assert_eq!(found(&sound), None);
    assert!(fault(&owned(&sound), &events, &link(1)).is_some(), "of another sender");
    let directly = [event(10, first), event(50, last), event(50, first), event(90, last)];
    let lane = [(5, ""), (10, "PE 0 #1"), (50, "PE 0 #2"), (90, "")];
    assert_eq!(fault(&owned(&lane), &directly, &link(0)), None);
    let broken = |at: usize, with| {
        let mut lane = sound;
        lane[at] = with;
        found(&lane)
    };
    assert!(broken(3, (49, "")).is_some() && broken(4, (60, "PE 0 #3")).is_some());
    assert!(found(&sound[..4]).is_some() && broken(1, (11, "PE 0 #1")).is_some());
}

impl Shown {
    /// Runs the machine with a wave in each format. The events are those of a run without a wave, the signals are high
    /// at their events, and both formats hold the same.
    pub fn check(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = (self.run)(&Probe::default());
        let high = self.high.iter().map(|(.., signal)| *signal);
        let lanes = self.links.iter().map(|link| link.lane);
        let signals: Vec<&str> = self.clocks.into_iter().chain(high).chain(lanes).collect();
        let (mut shown, mut checked) = (Vec::new(), BTreeMap::new());
        for name in ["run.vcd", "run.fst"] {
            let path = folder.path().join(name);
            let request = WaveRequest {
                path: path.clone(),
                from: Picos::ZERO,
                to: None,
            };
            let probe = Probe::new(request).with_lanes();
            same_events(&plain, &(self.run)(&probe)).unwrap_or_else(|error| panic!("{error}"));
            let found = changes(&path, |name| signals.contains(&name));
            assert_eq!(found.len(), signals.len(), "{:?}", found.keys());
            for event in &plain {
                let is_of =
                    |(node, is, _): &&(NodeId, fn(EventKind) -> bool, &str)| *node == event.node && is(event.kind);
                let Some((.., signal)) = self.high.iter().find(is_of) else {
                    continue;
                };
                let signal = *signal;
                *checked.entry(signal).or_insert(0) += 1;
                let shown_before = last_before(&found[signal], event.at);
                // An output stands before the edge that takes it; an input is given at the edge.
                let at_edge = last_before(&found[signal], event.at + Picos(1));
                assert!(shown_before == "1" || at_edge == "1", "{signal} at {event:?}");
            }
            for link in self.links {
                let lane = texts(&found[link.lane]);
                let whole = lane.iter().filter(|(_, text)| text.ends_with(link.end));
                assert!(whole.count() > 0, "{}: {lane:?}", link.lane);
                let wrong = fault(&lane, &plain, link);
                assert!(wrong.is_none(), "{}: {wrong:?} in {lane:?}", link.lane);
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
