//! Lanes of text beside the signals of a wave: what a node's registers, memory, links and interrupt line do.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::event::{Event, EventKind, Part, Place};
use crate::{NodeId, Picos};

/// The words in which lanes speak of a machine.
#[derive(Clone, Copy)]
pub struct Terms {
    /// Registers by offset; one that is not among them is shown as its offset.
    pub registers: &'static [(u64, &'static str)],
    /// A link carries one packet at a time; else it has no lanes.
    pub links: bool,
    /// What a packet is that begins with these words; `None`: they do not say it yet.
    pub packet: fn(&[u64]) -> Option<String>,
    /// The causes of an interrupt, of which the host learns from this value at this address; empty: of none.
    pub causes: fn(u64, u64) -> String,
}

impl Terms {
    /// Of a machine that has no words of its own.
    pub const PLAIN: Terms = Terms {
        registers: &[],
        links: true,
        packet: |_| None,
        causes: |_, _| String::new(),
    };
}

/// The lanes of a node, and their names below its scope.
const PLACES: [(Place, &str); 6] = [
    (Place::Registers, "registers"),
    (Place::Reads, "memory_reads"),
    (Place::LinkOut, "link_out"),
    (Place::LinkIn, "link_in"),
    (Place::Writes, "memory_writes"),
    (Place::Interrupt, "interrupt"),
];

/// Whether a packet leaves a node or comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Out,
    In,
}

/// A packet's first words, and how it is called.
#[derive(Clone, Debug)]
struct Packet {
    from: NodeId,
    number: u32,
    words: Vec<u64>,
    is: String,
}

impl Packet {
    fn name(&self) -> String {
        let Packet { from, number, is, .. } = self;
        format!("{from} #{number} {is}").trim_end().to_owned()
    }
}

/// What goes on at one place of a node.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// By key, with its begin and its text; the oldest is shown.
    open: VecDeque<(u32, Picos, String)>,
    /// What began and ended at one instant is shown until then.
    short: Option<(Picos, String)>,
}

impl Lane {
    fn begin(&mut self, key: u32, now: Picos, text: String) {
        self.short = None;
        self.open.push_back((key, now, text));
    }

    /// `until`: how long an instant is shown.
    fn end(&mut self, key: u32, now: Picos, until: Picos) {
        let Some(at) = self.open.iter().position(|(own, ..)| *own == key) else {
            return;
        };
        if let Some((_, begin, text)) = self.open.remove(at)
            && begin == now
        {
            self.short = Some((until, text));
        }
    }

    /// The text of the youngest is known better.
    fn say(&mut self, text: String) {
        if let Some((.., own)) = self.open.back_mut() {
            *own = text;
        }
    }

    /// The oldest, and how many more there are.
    fn text(&self, now: Picos) -> String {
        let more = self.open.len().saturating_sub(1);
        match (self.open.front(), &self.short) {
            (Some((.., text)), _) if more > 0 => format!("{text} +{more}"),
            (Some((.., text)), _) => text.clone(),
            (None, Some((until, text))) if now < *until => text.clone(),
            _ => String::new(),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Node {
    lanes: [Lane; PLACES.len()],
    /// Packets sent, and interrupts.
    packets: u32,
    interrupts: u32,
    /// Which of the packets in flight leaves the node, by its number; what is known of the one that comes.
    leaves: Option<u32>,
    comes: bool,
}

/// The lanes of all nodes. It is told all events from the run's begin, so that numbers count from there.
pub struct Lanes {
    terms: Terms,
    /// What each lane of a node shows.
    shows: Vec<Place>,
    names: Vec<String>,
    nodes: Vec<Node>,
    /// Packets that were sent, and have not come whole, in the order of their first words.
    flight: Vec<Packet>,
    /// Events of the instant that is not over.
    news: Vec<Event>,
    texts: Vec<String>,
    /// How long an instant is shown.
    blink: Picos,
}

impl Lanes {
    /// `scopes`: the names of the nodes. What takes no time is shown for `blink`.
    pub fn new(scopes: &[String], terms: Terms, blink: Picos) -> Lanes {
        let is_shown = |place: Place| terms.links || !matches!(place, Place::LinkOut | Place::LinkIn);
        let own: Vec<_> = PLACES.iter().filter(|(place, _)| is_shown(*place)).collect();
        let name = |scope: &String| {
            own.iter()
                .map(|(_, lane)| format!("lanes.{scope}.{lane}"))
                .collect::<Vec<_>>()
        };
        let names: Vec<String> = scopes.iter().flat_map(name).collect();
        Lanes {
            terms,
            shows: own.iter().map(|(place, _)| *place).collect(),
            texts: vec![String::new(); names.len()],
            names,
            nodes: vec![Node::default(); scopes.len()],
            flight: Vec::new(),
            news: Vec::new(),
            blink,
        }
    }

    /// The paths of the lanes in the wave.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What each lane shows.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    pub fn note(&mut self, event: Event) {
        self.news.push(event);
    }

    /// The host of a node read this at this address.
    pub fn read(&mut self, node: NodeId, addr: u64, value: u64) {
        let causes = (self.terms.causes)(addr, value);
        let node = &mut self.nodes[node.index()];
        if !causes.is_empty() {
            node.lanes[Place::Interrupt as usize].say(format!("IRQ {}: {causes}", node.interrupts));
        }
    }

    /// The instant is over. `words` gives the first words of the packet that leaves a node or comes, or did last.
    pub fn tell<'a>(&mut self, now: Picos, words: impl Fn(usize, Way) -> &'a [u64]) {
        let news = std::mem::take(&mut self.news);
        // A packet is named by its words before its end is told.
        let (ends, begins): (Vec<Event>, Vec<Event>) = news
            .into_iter()
            .partition(|event| matches!(event.kind.part(), Some((_, Part::Ends, _))));
        begins.iter().for_each(|event| self.begin(event));
        for at in 0..self.nodes.len() {
            self.name_leaving(at, words(at, Way::Out));
            self.name_coming(at, words(at, Way::In));
        }
        ends.iter()
            .for_each(|event| self.end(event, words(event.node.index(), Way::In)));
        let node_texts = self.texts.chunks_mut(self.shows.len());
        for (node, texts) in self.nodes.iter().zip(node_texts) {
            for (text, shows) in texts.iter_mut().zip(&self.shows) {
                *text = node.lanes[*shows as usize].text(now);
            }
        }
    }

    fn begin(&mut self, event: &Event) {
        let (at, until) = (event.at, event.at + self.blink);
        let Some((place, part, key)) = event.kind.part() else {
            return;
        };
        let text = self.text(event);
        let lane = &mut self.nodes[event.node.index()].lanes[place as usize];
        lane.begin(key, at, text);
        if part == Part::Whole {
            lane.end(key, at, until);
        }
    }

    /// What is known of it as it begins.
    fn text(&mut self, event: &Event) -> String {
        let node = &mut self.nodes[event.node.index()];
        match event.kind {
            EventKind::RegWrite { offset, value } => {
                let known = self.terms.registers.iter().find(|(at, _)| *at == u64::from(offset));
                known.map_or_else(
                    || format!("{offset:#x} = {value:#x}"),
                    |(_, name)| format!("{name} = {value:#x}"),
                )
            }
            EventKind::MemRead { addr, bytes } | EventKind::MemWrite { addr, bytes } => format!("{bytes} B at {addr}"),
            EventKind::TxFirst { .. } => {
                node.packets += 1;
                let packet = Packet {
                    from: event.node,
                    number: node.packets,
                    words: Vec::new(),
                    is: String::new(),
                };
                node.leaves = Some(packet.number);
                let name = packet.name();
                self.flight.push(packet);
                name
            }
            EventKind::RxFirst { .. } => {
                node.comes = true;
                "?".into()
            }
            EventKind::Irq { .. } => {
                node.interrupts += 1;
                format!("IRQ {}", node.interrupts)
            }
            _ => String::new(),
        }
    }

    fn name_leaving(&mut self, at: usize, words: &[u64]) {
        let (node, from) = (&mut self.nodes[at], NodeId(at as u16));
        let Some(number) = node.leaves else { return };
        let mut flight = self.flight.iter_mut();
        let packet = flight.find(|packet| packet.from == from && packet.number == number);
        if let Some(packet) = packet.filter(|packet| packet.words.len() < words.len()) {
            packet.words = words.to_vec();
            packet.is = (self.terms.packet)(words).unwrap_or_default();
            node.lanes[Place::LinkOut as usize].say(packet.name());
        }
    }

    /// The one in flight that begins with these words: the oldest, if all such are of one sender, whose order the
    /// network keeps.
    fn coming(&self, words: &[u64]) -> Option<usize> {
        let begins = |packet: &&Packet| !words.is_empty() && packet.words.starts_with(words);
        let first = self.flight.iter().find(begins)?;
        let is_sure = self
            .flight
            .iter()
            .filter(begins)
            .all(|packet| packet.from == first.from);
        is_sure.then(|| self.flight.iter().position(|packet| begins(&packet)))?
    }

    fn name_coming(&mut self, at: usize, words: &[u64]) {
        if self.nodes[at].comes {
            let known = self.coming(words).map(|at| self.flight[at].name());
            let name = known.unwrap_or_else(|| {
                let mut name = String::from("?");
                if let Some(is) = (self.terms.packet)(words) {
                    write!(name, " {is}").expect("to a string");
                }
                name
            });
            self.nodes[at].lanes[Place::LinkIn as usize].say(name);
        }
    }

    fn end(&mut self, event: &Event, coming: &[u64]) {
        let Some((place, _, key)) = event.kind.part() else {
            return;
        };
        if place == Place::LinkIn
            && let Some(at) = self.coming(coming)
        {
            self.flight.remove(at);
        }
        let node = &mut self.nodes[event.node.index()];
        match place {
            Place::LinkOut => node.leaves = None,
            Place::LinkIn => node.comes = false,
            _ => {}
        }
        node.lanes[place as usize].end(key, event.at, event.at + self.blink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Addr;

    /// Packets of a word for the node and one for the length.
    fn lanes() -> Lanes {
        let terms = Terms {
            registers: &[(4, "PUT")],
            packet: |words| Some(format!("{} B to PE {}", words.get(1)?, words[0])),
            causes: |addr, value| {
                if addr == 8 && value == 1 {
                    "arrival".into()
                } else {
                    String::new()
                }
            },
            ..Terms::PLAIN
        };
        Lanes::new(&["a".into(), "b".into()], terms, Picos(10))
    }

    /// Events of an instant, then the words on the links: (node, way, words).
    fn tell(lanes: &mut Lanes, at: u64, events: &[(u16, EventKind)], links: &[(usize, Way, &[u64])]) {
        for (node, kind) in events {
            let (at, node) = (Picos(at), NodeId(*node));
            lanes.note(Event { at, node, kind: *kind });
        }
        let links: Vec<(usize, Way, Vec<u64>)> = links
            .iter()
            .map(|(at, way, words)| (*at, *way, words.to_vec()))
            .collect();
        lanes.tell(Picos(at), |node, way| {
            let link = links.iter().find(|(at, own, _)| (*at, *own) == (node, way));
            link.map_or(&[][..], |(.., words)| words.as_slice())
        });
    }

    fn shown(lanes: &Lanes, name: &str) -> String {
        let at = lanes.names().iter().position(|own| own == name).expect("a lane");
        lanes.texts()[at].clone()
    }

    #[test]
    fn a_packet_has_its_senders_number_on_both_links_and_both_its_ends() {
        let mut lanes = lanes();
        let (first, last) = (EventKind::TxFirst { head: 1 }, EventKind::TxLast { flits: 2 });
        for (at, number) in [(0, 1), (100, 2)] {
            tell(&mut lanes, at, &[(0, first)], &[(0, Way::Out, &[1])]);
            assert_eq!(shown(&lanes, "lanes.a.link_out"), format!("PE 0 #{number}"));
            tell(&mut lanes, at + 10, &[], &[(0, Way::Out, &[1, 8])]);
            assert_eq!(shown(&lanes, "lanes.a.link_out"), format!("PE 0 #{number} 8 B to PE 1"));
            tell(&mut lanes, at + 20, &[(0, last)], &[(0, Way::Out, &[1, 8])]);
            assert_eq!(shown(&lanes, "lanes.a.link_out"), "");
        }
        let (first, last) = (EventKind::RxFirst { head: 1 }, EventKind::RxLast { flits: 2 });
        for (at, number) in [(200, 1), (300, 2)] {
            tell(&mut lanes, at, &[(1, first)], &[(1, Way::In, &[1])]);
            assert_eq!(shown(&lanes, "lanes.b.link_in"), format!("PE 0 #{number} 8 B to PE 1"));
            tell(&mut lanes, at + 10, &[(1, last)], &[(1, Way::In, &[1, 8])]);
            assert_eq!(shown(&lanes, "lanes.b.link_in"), "");
        }
        tell(&mut lanes, 400, &[(1, first)], &[(1, Way::In, &[1, 4])]);
        assert_eq!(shown(&lanes, "lanes.b.link_in"), "? 4 B to PE 1", "nobody sent it");
    }

    #[test]
    fn a_packet_that_may_be_of_two_senders_has_no_number_yet() {
        let mut lanes = lanes();
        let first = EventKind::TxFirst { head: 1 };
        tell(
            &mut lanes,
            0,
            &[(0, first), (1, first)],
            &[(0, Way::Out, &[1, 8]), (1, Way::Out, &[1, 4])],
        );
        tell(
            &mut lanes,
            10,
            &[(1, EventKind::RxFirst { head: 1 })],
            &[(1, Way::In, &[1])],
        );
        assert_eq!(shown(&lanes, "lanes.b.link_in"), "?");
        tell(&mut lanes, 20, &[], &[(1, Way::In, &[1, 4])]);
        assert_eq!(shown(&lanes, "lanes.b.link_in"), "PE 1 #1 4 B to PE 1");
    }

    #[test]
    fn lanes_are_those_that_a_machine_has() {
        let terms = Terms {
            links: false,
            ..Terms::PLAIN
        };
        let mut lanes = Lanes::new(&["a".into(), "b".into()], terms, Picos(10));
        assert_eq!(lanes.names().len(), 8);
        assert!(
            !lanes.names().iter().any(|name| name.contains("link")),
            "{:?}",
            lanes.names()
        );
        tell(&mut lanes, 0, &[(1, EventKind::Irq { level: true })], &[]);
        assert_eq!(shown(&lanes, "lanes.b.interrupt"), "IRQ 1");
        assert_eq!(shown(&lanes, "lanes.a.interrupt"), "");
    }

    #[test]
    fn bursts_overlap_and_an_instant_is_seen() {
        let mut lanes = lanes();
        let read = |addr| EventKind::MemRead {
            addr: Addr(addr),
            bytes: 32,
        };
        let data = |addr| EventKind::MemReadData { addr: Addr(addr) };
        let told: [(u64, &[EventKind], &str); 5] = [
            (0, &[read(0x20)], "32 B at 0x00000020"),
            (10, &[read(0x40)], "32 B at 0x00000020 +1"),
            (20, &[data(0x20)], "32 B at 0x00000040"),
            (30, &[data(0x40)], ""),
            (40, &[data(0x60)], ""),
        ];
        for (at, events, text) in told {
            let events: Vec<_> = events.iter().map(|kind| (0, *kind)).collect();
            tell(&mut lanes, at, &events, &[]);
            assert_eq!(shown(&lanes, "lanes.a.memory_reads"), text, "at {at}");
        }
        for (offset, text) in [(4, "PUT = 0x5"), (8, "0x8 = 0x5")] {
            tell(&mut lanes, 50, &[(0, EventKind::RegWrite { offset, value: 5 })], &[]);
            assert_eq!(shown(&lanes, "lanes.a.registers"), text);
        }
        tell(&mut lanes, 59, &[], &[]);
        assert_eq!(shown(&lanes, "lanes.a.registers"), "0x8 = 0x5");
        tell(&mut lanes, 60, &[], &[]);
        assert_eq!(shown(&lanes, "lanes.a.registers"), "");
    }

    #[test]
    fn an_interrupt_has_its_number_and_what_the_host_reads_of_its_cause() {
        let mut lanes = lanes();
        for number in 1..3 {
            tell(&mut lanes, 0, &[(1, EventKind::Irq { level: true })], &[]);
            assert_eq!(shown(&lanes, "lanes.b.interrupt"), format!("IRQ {number}"));
            lanes.read(NodeId(1), 8, 0);
            lanes.read(NodeId(1), 8, 1);
            tell(&mut lanes, 10, &[], &[]);
            assert_eq!(shown(&lanes, "lanes.b.interrupt"), format!("IRQ {number}: arrival"));
            tell(&mut lanes, 20, &[(1, EventKind::Irq { level: false })], &[]);
            assert_eq!(shown(&lanes, "lanes.b.interrupt"), "");
        }
    }
}
