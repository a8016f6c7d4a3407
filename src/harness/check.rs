//! Checks over what a machine did: its events and its memories.

use std::collections::BTreeMap;
use std::fmt;

use super::event::{Event, EventKind};
use super::memory::Memory;
use crate::{Addr, NodeId};

/// The first place where two lists of events differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Difference {
    /// Events that agree before it.
    pub after: usize,
    pub left: Option<Event>,
    pub right: Option<Event>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |event: &Option<Event>| {
            event.map_or("no more events".into(), |e| {
                format!("{:?} at {} of {}", e.kind, e.at, e.node)
            })
        };
        write!(
            f,
            "after {} equal events: {} / {}",
            self.after,
            one(&self.left),
            one(&self.right)
        )
    }
}

/// Compares two runs event by event.
///
/// # Errors
/// The first difference.
pub fn same_events(left: &[Event], right: &[Event]) -> Result<(), Difference> {
    let equal = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    if equal == left.len() && equal == right.len() {
        return Ok(());
    }
    Err(Difference {
        after: equal,
        left: left.get(equal).copied(),
        right: right.get(equal).copied(),
    })
}

/// A packet that was sent and not received as it was, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{to}: packets with head {head:#06x} and {flits} flits: {sent} sent, {received} received")]
pub struct PacketLoss {
    pub to: NodeId,
    pub head: u16,
    pub flits: u32,
    pub sent: i64,
    pub received: i64,
}

/// Checks that each node took exactly the packets that were sent to it, by head flit and length. `events` are those of
/// a whole run that came to rest. `destination` reads the node from a head flit.
///
/// # Errors
/// The first packet, by node and head, that was lost, changed or made up.
pub fn same_packets(events: &[Event], destination: impl Fn(u16) -> NodeId) -> Result<(), PacketLoss> {
    let mut tx_head = BTreeMap::new();
    let mut rx_head = BTreeMap::new();
    let mut count: BTreeMap<(NodeId, u16, u32), (i64, i64)> = BTreeMap::new();
    for event in events {
        match event.kind {
            EventKind::TxFirst { head } => drop(tx_head.insert(event.node, head)),
            EventKind::RxFirst { head } => drop(rx_head.insert(event.node, head)),
            EventKind::TxLast { flits } => {
                let head = tx_head[&event.node];
                count.entry((destination(head), head, flits)).or_default().0 += 1;
            }
            EventKind::RxLast { flits } => count.entry((event.node, rx_head[&event.node], flits)).or_default().1 += 1,
            _ => {}
        }
    }
    match count.into_iter().find(|(_, (sent, received))| sent != received) {
        None => Ok(()),
        Some(((to, head, flits), (sent, received))) => Err(PacketLoss {
            to,
            head,
            flits,
            sent,
            received,
        }),
    }
}

/// Memory that does not hold what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{addr}: expected {want:#04x}, found {}{}",
    found.map_or("no memory".into(), |b| format!("{b:#04x}")),
    if *poison { " (poison: never written)" } else { "" }
)]
pub struct Mismatch {
    pub addr: Addr,
    pub want: u8,
    pub found: Option<u8>,
    /// What was found is what [`Memory::poison`] leaves there.
    pub poison: bool,
}

/// Checks that `memory` holds `want` at `addr`.
///
/// # Errors
/// The first byte that differs.
pub fn holds(memory: &Memory, addr: Addr, want: &[u8]) -> Result<(), Mismatch> {
    if memory.read(addr, want.len()) == Some(want) {
        return Ok(());
    }
    let first = want.iter().enumerate().find_map(|(at, &want)| {
        let addr = addr.offset(at as u32);
        let found = memory.read(addr, 1).map(|byte| byte[0]);
        let poison = found == Some(Memory::poison_at(addr.0));
        (found != Some(want)).then_some(Mismatch {
            addr,
            want,
            found,
            poison,
        })
    });
    Err(first.expect("a byte differs where the whole does"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Picos;

    fn event(at: u64, node: u16, kind: EventKind) -> Event {
        Event {
            at: Picos(at),
            node: NodeId(node),
            kind,
        }
    }

    fn run() -> Vec<Event> {
        let mut events = Vec::new();
        for (node, to) in [(0, 1), (1, 0), (0, 1)] {
            events.push(event(10, node, EventKind::TxFirst { head: to }));
            events.push(event(20, node, EventKind::TxLast { flits: 9 }));
            events.push(event(30, to, EventKind::RxFirst { head: to }));
            events.push(event(40, to, EventKind::RxLast { flits: 9 }));
        }
        events
    }

    #[test]
    fn a_lost_a_longer_and_a_misrouted_packet_are_each_named() {
        let to = |head| NodeId(head & 0xff);
        assert_eq!(same_packets(&run(), to), Ok(()));
        let mut lost = run();
        lost.truncate(10);
        let error = same_packets(&lost, to).unwrap_err();
        assert_eq!((error.to, error.sent, error.received), (NodeId(1), 2, 1));
        let mut longer = run();
        longer[3].kind = EventKind::RxLast { flits: 10 };
        assert_eq!(same_packets(&longer, to).unwrap_err().flits, 9);
        let mut misrouted = run();
        misrouted[2].node = NodeId(3);
        misrouted[3].node = NodeId(3);
        assert!(same_packets(&misrouted, to).is_err());
    }

    #[test]
    fn the_first_difference_is_shown_and_so_is_a_missing_end() {
        let (left, mut right) = (run(), run());
        assert_eq!(same_events(&left, &right), Ok(()));
        right[5].at = Picos(21);
        let difference = same_events(&left, &right).unwrap_err();
        assert_eq!(difference.after, 5);
        assert!(difference.to_string().contains("after 5 equal events"), "{difference}");
        let shorter = same_events(&left, &left[..7]).unwrap_err();
        assert_eq!((shorter.after, shorter.right), (7, None));
    }

    #[test]
    fn a_byte_nobody_wrote_is_called_poison() {
        let mut memory = Memory::new(64);
        memory.poison(0..64);
        assert!(memory.write(Addr(8), &[1, 2, 3]));
        assert_eq!(holds(&memory, Addr(8), &[1, 2, 3]), Ok(()));
        let wrong = holds(&memory, Addr(8), &[1, 9, 3]).unwrap_err();
        assert_eq!((wrong.addr, wrong.found, wrong.poison), (Addr(9), Some(2), false));
        let unwritten = holds(&memory, Addr(8), &[1, 2, 3, 4]).unwrap_err();
        assert!(
            unwritten.poison && unwritten.to_string().contains("never written"),
            "{unwritten}"
        );
        assert_eq!(holds(&memory, Addr(62), &[0; 4]).unwrap_err().addr, Addr(62));
    }
}
