//! What went on where in a record, and when: the one origin of the space-time diagram and of the stepped view.

use crate::harness::event::{EventKind, Part, Place};
use crate::repro::{Act, Trace};
use crate::{NodeId, Picos};

/// A time in which something was busy, and with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Picos,
    pub to: Picos,
    pub what: String,
}

/// A part of a node that the stepped view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Cpu,
    Registers,
    Memory,
    Send,
    Receive,
    LinkOut,
    LinkIn,
}

/// What went on at a place of a node: from each begin to the next end with the same key, in order. Of an interrupt the
/// instant counts in which it comes, served or not.
pub fn at(t: &Trace, node: NodeId, place: Place) -> Vec<Span> {
    let here = t.record.events.iter().filter(|event| event.node == node);
    let parts = here.filter_map(|event| Some((event, event.kind.part()?)));
    let ours: Vec<_> = parts.filter(|(_, (own, ..))| *own == place).collect();
    let mut taken = vec![false; ours.len()];
    let mut spans = Vec::new();
    for (at, (begin, (_, part, key))) in ours.iter().enumerate() {
        let ends = |n: &usize| !taken[*n] && matches!(ours[*n].1, (_, Part::Ends, own) if own == *key);
        let end = match part {
            Part::Whole => Some(at),
            Part::Begins if place == Place::Interrupt => Some(at),
            Part::Begins => (at..ours.len()).find(ends),
            Part::Ends => None,
        };
        if let Some(end) = end {
            taken[end] = true;
            let (from, to) = (begin.at, ours[end].0.at);
            let what = what(t, begin.kind, ours[end].0.kind);
            spans.push(Span { from, to, what });
        }
    }
    spans
}

/// What goes on from one event to the other.
fn what(t: &Trace, begin: EventKind, end: EventKind) -> String {
    match (begin, end) {
        (EventKind::RegWrite { offset, value }, _) => {
            let known = t.registers.iter().find(|(at, _)| *at == u64::from(offset));
            let name = known.map_or_else(|| format!("{offset:#x}"), |(_, name)| (*name).into());
            format!("{name} = {value:#x}")
        }
        (EventKind::MemRead { bytes, .. }, _) => format!("reads {bytes} B"),
        (EventKind::MemWrite { bytes, .. }, _) => format!("writes {bytes} B"),
        (_, EventKind::TxLast { flits } | EventKind::RxLast { flits }) => format!("a packet of {flits} flits"),
        (EventKind::Irq { .. }, _) => "interrupt".into(),
        _ => String::new(),
    }
}

/// What the programs of a node say that they did.
pub fn acts(t: &Trace, node: NodeId) -> Vec<Span> {
    let ours = t.record.acts.iter().filter(|act| act.node == node);
    let span = |act: &Act| Span {
        from: act.from,
        to: act.to,
        what: act.what.into(),
    };
    ours.map(span).collect()
}

/// The packets from one node to the other, in order: each on the link that it leaves by, and on that by which it comes.
pub fn packets(t: &Trace, from: NodeId, to: NodeId) -> Vec<(Span, Span)> {
    let (out, into) = (at(t, from, Place::LinkOut), at(t, to, Place::LinkIn));
    out.into_iter().zip(into).collect()
}

/// What a block of a node did.
pub fn of(t: &Trace, node: NodeId, block: Block) -> Vec<Span> {
    let at = |place| at(t, node, place);
    match block {
        Block::Cpu => [acts(t, node), at(Place::Interrupt)].concat(),
        Block::Registers => at(Place::Registers),
        Block::Memory => [at(Place::Reads), at(Place::Writes)].concat(),
        Block::Send => sends(t, node),
        Block::Receive => receives(t, node),
        Block::LinkOut => at(Place::LinkOut),
        Block::LinkIn => at(Place::LinkIn),
    }
}

/// The sending side works at a packet from the last thing that can have asked for it (a program's call, a register
/// write, a packet that came, its own last packet) to the packet's last flit.
fn sends(t: &Trace, node: NodeId) -> Vec<Span> {
    let out = at(t, node, Place::LinkOut);
    let others = [
        acts(t, node),
        at(t, node, Place::Registers),
        at(t, node, Place::LinkIn),
        out.clone(),
    ];
    let ends: Vec<Picos> = others.iter().flatten().map(|span| span.to).collect();
    let since = |span: &Span| ends.iter().copied().filter(|end| *end <= span.from).max();
    let work = |span: Span| Span {
        from: since(&span).unwrap_or(span.from),
        ..span
    };
    out.into_iter().map(work).collect()
}

/// The receiving side works at a packet from its first flit to the last write before the next packet.
fn receives(t: &Trace, node: NodeId) -> Vec<Span> {
    let (into, writes) = (at(t, node, Place::LinkIn), at(t, node, Place::Writes));
    let nexts = into.iter().skip(1).map(|span| span.from).chain([Picos(u64::MAX)]);
    let work = |(span, next): (&Span, Picos)| {
        let ours = writes
            .iter()
            .filter(|write| write.from >= span.from && write.from < next);
        Span {
            to: ours.map(|write| write.to).fold(span.to, Picos::max),
            ..span.clone()
        }
    };
    into.iter().zip(nexts).map(work).collect()
}

/// The network has a packet from its first flit on the sender's link to its last at the receiver.
pub fn network(t: &Trace, nodes: [NodeId; 2]) -> Vec<Span> {
    let [one, other] = nodes;
    let way = |from, to: NodeId| {
        let carried = move |(out, into): (Span, Span)| Span {
            what: format!("{} to {} {}", out.what, t.node, to.0),
            from: out.from,
            to: into.to,
        };
        packets(t, from, to).into_iter().map(carried)
    };
    way(one, other).chain(way(other, one)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Addr;
    use crate::harness::backend::Event;
    use crate::repro::Record;

    fn trace(events: &[(u64, u16, EventKind)], acts: &[(u64, u64, u16)]) -> Trace {
        let event = |&(at, node, kind): &(u64, u16, EventKind)| Event {
            at: Picos(at),
            node: NodeId(node),
            kind,
        };
        let act = |&(from, to, node): &(u64, u64, u16)| Act {
            node: NodeId(node),
            from: Picos(from),
            to: Picos(to),
            what: "calls",
        };
        let record = Record {
            events: events.iter().map(event).collect(),
            acts: acts.iter().map(act).collect(),
            ..Record::default()
        };
        Trace {
            registers: &[(4, "PUT")],
            ..Trace::of("t", record)
        }
    }

    fn times(spans: &[Span]) -> Vec<(u64, u64)> {
        spans.iter().map(|span| (span.from.0, span.to.0)).collect()
    }

    fn read(addr: u32) -> EventKind {
        EventKind::MemRead {
            addr: Addr(addr),
            bytes: 32,
        }
    }

    fn data(addr: u32) -> EventKind {
        EventKind::MemReadData { addr: Addr(addr) }
    }

    #[test]
    fn a_span_goes_from_a_begin_to_the_end_of_the_same_thing() {
        // The first end belongs to a begin before the trace.
        let t = trace(
            &[
                (1, 0, data(0)),
                (2, 0, read(32)),
                (3, 0, read(64)),
                (4, 0, data(32)),
                (5, 0, data(64)),
                (6, 0, read(96)),
            ],
            &[],
        );
        let spans = at(&t, NodeId(0), Place::Reads);
        assert_eq!(times(&spans), [(2, 4), (3, 5)]);
        assert_eq!(spans[0].what, "reads 32 B");
        assert!(at(&t, NodeId(1), Place::Reads).is_empty());
    }

    #[test]
    fn an_interrupt_is_the_instant_in_which_it_comes() {
        for level in [&[true][..], &[true, false]] {
            let events: Vec<_> = (3..)
                .zip(level)
                .map(|(at, level)| (at, 1, EventKind::Irq { level: *level }))
                .collect();
            let spans = of(&trace(&events, &[]), NodeId(1), Block::Cpu);
            assert_eq!(times(&spans), [(3, 3)]);
        }
    }

    #[test]
    fn a_request_and_its_answer_are_followed_through_both_nodes() {
        let written = |addr| EventKind::MemWritten {
            addr: Addr(addr),
            bytes: 8,
        };
        let write = |addr| EventKind::MemWrite {
            addr: Addr(addr),
            bytes: 8,
        };
        let t = trace(
            &[
                (10, 0, EventKind::RegWrite { offset: 4, value: 1 }),
                (20, 0, EventKind::TxFirst { head: 1 }),
                (30, 1, EventKind::RxFirst { head: 1 }),
                (40, 0, EventKind::TxLast { flits: 3 }),
                (50, 1, EventKind::RxLast { flits: 3 }),
                (60, 1, EventKind::TxFirst { head: 0 }),
                (70, 0, EventKind::RxFirst { head: 0 }),
                (75, 0, write(0)),
                (80, 1, EventKind::TxLast { flits: 9 }),
                (90, 0, EventKind::RxLast { flits: 9 }),
                (95, 0, written(0)),
            ],
            &[(0, 10, 0), (99, 99, 0)],
        );
        let [one, other] = [NodeId(0), NodeId(1)];
        let of = |node, block| times(&of(&t, node, block));
        assert_eq!(of(one, Block::Cpu), [(0, 10), (99, 99)]);
        assert_eq!(of(one, Block::Registers), [(10, 10)]);
        assert_eq!(of(one, Block::Send), [(10, 40)], "since the register write");
        assert_eq!(of(other, Block::Receive), [(30, 50)], "it writes nothing");
        assert_eq!(of(other, Block::Send), [(50, 80)], "since the request is there");
        assert_eq!(of(one, Block::Receive), [(70, 95)], "until its data are in memory");
        assert_eq!(times(&network(&t, [one, other])), [(20, 50), (60, 90)]);
        assert_eq!(network(&t, [one, other])[1].what, "a packet of 9 flits to PE 0");
        assert_eq!(super::of(&t, one, Block::Registers)[0].what, "PUT = 0x1");
        assert_eq!((t.from.0, t.to.0), (0, 99));
    }
}
