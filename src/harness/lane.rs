//! Lanes of text beside the signals of a wave: what a node's registers, memory, links and interrupt line do.

use std::collections::VecDeque;

use super::event::{Event, EventKind, Part, Place};
use crate::{NodeId, Picos};

/// The words in which lanes speak of a machine.
#[derive(Clone, Copy)]
pub struct Terms {
    /// Registers by offset; one that is not among them is shown as its offset.
    pub registers: &'static [(u64, &'static str)],
    /// What a node has of links each way, or a link of classes, by number: the end of its lane's name. Each carries one
    /// packet at a time. Empty: heads are not kept.
    pub links: &'static [&'static str],
    /// What a packet is that begins with these words; `None`: they do not say it yet.
    pub packet: fn(&[u64]) -> Option<String>,
    /// The causes of an interrupt, of which the host learns from this value at this address; empty: of none.
    pub causes: fn(u64, u64) -> String,
}

impl Terms {
    /// Of a machine that has no words of its own.
    pub const PLAIN: Terms = Terms {
        registers: &[],
        links: &[],
        packet: |_| None,
        causes: |_, _| String::new(),
    };
}

/// The packet on a link, or the last one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    /// How many have begun.
    pub packets: u32,
    /// It has not ended.
    pub is_under_way: bool,
    /// Its first words: as many as have passed, or as lanes need.
    pub words: &'a [u64],
}

/// The lanes of a node, and their names below its scope; a link's name has an end of its own.
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

/// A link of a node.
#[derive(Clone, Debug, Default)]
struct Link {
    /// Packets that were seen on it.
    packets: u32,
    /// The packet on it, by its number among those that the node sent or got.
    carries: Option<u32>,
}

#[derive(Clone, Debug)]
struct Node {
    /// As [`Lanes::shows`].
    lanes: Vec<Lane>,
    /// Packets sent, and interrupts.
    packets: u32,
    interrupts: u32,
    out: Vec<Link>,
    into: Vec<Link>,
}

/// The lanes of all nodes. It is told all events from the run's begin, so that numbers count from there.
pub struct Lanes {
    terms: Terms,
    /// What each lane of a node shows, and of which link.
    shows: Vec<(Place, usize)>,
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
        let mut own = Vec::new();
        for (place, name) in PLACES {
            let ends: &[&str] = match place {
                Place::LinkOut | Place::LinkIn => terms.links,
                _ => &[""],
            };
            let lane = |(link, end)| (place, link, format!("{name}{end}"));
            own.extend(ends.iter().enumerate().map(lane));
        }
        let names: Vec<String> = scopes
            .iter()
            .flat_map(|scope| own.iter().map(move |(.., lane)| format!("lanes.{scope}.{lane}")))
            .collect();
        let links = vec![Link::default(); terms.links.len()];
        let node = Node {
            lanes: vec![Lane::default(); own.len()],
            packets: 0,
            interrupts: 0,
            out: links.clone(),
            into: links,
        };
        Lanes {
            terms,
            shows: own.iter().map(|(place, link, _)| (*place, *link)).collect(),
            texts: vec![String::new(); names.len()],
            names,
            nodes: vec![node; scopes.len()],
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

    fn lane(&mut self, node: usize, place: Place, link: usize) -> &mut Lane {
        let at = self.shows.iter().position(|shown| *shown == (place, link));
        &mut self.nodes[node].lanes[at.expect("each place and link has a lane")]
    }

    /// The host of a node read this at this address.
    pub fn read(&mut self, node: NodeId, addr: u64, value: u64) {
        let causes = (self.terms.causes)(addr, value);
        let number = self.nodes[node.index()].interrupts;
        if !causes.is_empty() {
            self.lane(node.index(), Place::Interrupt, 0)
                .say(format!("IRQ {number}: {causes}"));
        }
    }

    /// The instant is over. `head` gives what a node's link of this number carries, or carried last.
    pub fn tell<'a>(&mut self, now: Picos, head: impl Fn(usize, Way, usize) -> Head<'a>) {
        let news = std::mem::take(&mut self.news);
        let (ends, begins): (Vec<Event>, Vec<Event>) = news
            .into_iter()
            .partition(|event| matches!(event.kind.part(), Some((_, Part::Ends, _))));
        begins.iter().for_each(|event| self.begin(event));
        // A packet that comes is one that has left.
        let (nodes, links) = (self.nodes.len(), self.terms.links.len());
        let all = || (0..nodes).flat_map(|node| (0..links).map(move |link| (node, link)));
        for (node, link) in all() {
            self.leaves(node, link, &head(node, Way::Out, link), now);
        }
        for (node, link) in all() {
            self.comes(node, link, &head(node, Way::In, link), now);
        }
        ends.iter().for_each(|event| self.end(event));
        let texts = self.nodes.iter().flat_map(|node| &node.lanes);
        for (text, lane) in self.texts.iter_mut().zip(texts) {
            *text = lane.text(now);
        }
    }

    /// What goes on there, and its key; links are told by their heads.
    fn part(event: &Event) -> Option<(Place, Part, u32)> {
        let part = event.kind.part();
        part.filter(|(place, ..)| !matches!(place, Place::LinkOut | Place::LinkIn))
    }

    fn begin(&mut self, event: &Event) {
        let (at, until) = (event.at, event.at + self.blink);
        let Some((place, part, key)) = Lanes::part(event) else {
            return;
        };
        let text = self.text(event);
        let lane = self.lane(event.node.index(), place, 0);
        lane.begin(key, at, text);
        if part == Part::Whole {
            lane.end(key, at, until);
        }
    }

    fn end(&mut self, event: &Event) {
        let until = event.at + self.blink;
        if let Some((place, _, key)) = Lanes::part(event) {
            self.lane(event.node.index(), place, 0).end(key, event.at, until);
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
            EventKind::Irq { .. } => {
                node.interrupts += 1;
                format!("IRQ {}", node.interrupts)
            }
            _ => String::new(),
        }
    }

    /// What leaves a node by a link.
    fn leaves(&mut self, at: usize, link: usize, head: &Head<'_>, now: Picos) {
        let (from, until) = (NodeId(at as u16), now + self.blink);
        let node = &mut self.nodes[at];
        let on = &mut node.out[link];
        if on.packets != head.packets {
            node.packets += 1;
            (on.packets, on.carries) = (head.packets, Some(node.packets));
            let packet = Packet {
                from,
                number: node.packets,
                words: Vec::new(),
                is: String::new(),
            };
            let name = packet.name();
            self.flight.push(packet);
            self.lane(at, Place::LinkOut, link).begin(0, now, name);
        }
        let Some(number) = self.nodes[at].out[link].carries else {
            return;
        };
        let mut flight = self.flight.iter_mut();
        let packet = flight.find(|packet| packet.from == from && packet.number == number);
        if let Some(packet) = packet.filter(|packet| packet.words.len() < head.words.len()) {
            packet.words = head.words.to_vec();
            packet.is = (self.terms.packet)(head.words).unwrap_or_default();
            let name = packet.name();
            self.lane(at, Place::LinkOut, link).say(name);
        }
        if !head.is_under_way {
            self.nodes[at].out[link].carries = None;
            self.lane(at, Place::LinkOut, link).end(0, now, until);
        }
    }

    /// What comes to a node by a link.
    fn comes(&mut self, at: usize, link: usize, head: &Head<'_>, now: Picos) {
        let until = now + self.blink;
        let on = &mut self.nodes[at].into[link];
        if on.packets != head.packets {
            (on.packets, on.carries) = (head.packets, Some(head.packets));
            self.lane(at, Place::LinkIn, link).begin(0, now, String::new());
        }
        if self.nodes[at].into[link].carries.is_none() {
            return;
        }
        let known = self.coming(head.words);
        let name = known.map_or_else(
            || match (self.terms.packet)(head.words) {
                Some(is) => format!("? {is}"),
                None => "?".into(),
            },
            |known| self.flight[known].name(),
        );
        self.lane(at, Place::LinkIn, link).say(name);
        if !head.is_under_way {
            if let Some(known) = known {
                self.flight.remove(known);
            }
            self.nodes[at].into[link].carries = None;
            self.lane(at, Place::LinkIn, link).end(0, now, until);
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Addr;

    /// A link of a node, one way, by its number.
    type On = (usize, Way, usize);

    /// Two nodes, and what has passed on their links.
    struct Pair {
        lanes: Lanes,
        links: Vec<(On, u32, bool, Vec<u64>)>,
    }

    impl Pair {
        /// Packets of a word for the node and one for the length.
        fn new(links: &'static [&'static str]) -> Pair {
            let terms = Terms {
                registers: &[(4, "PUT")],
                links,
                packet: |words| Some(format!("{} B to PE {}", words.get(1)?, words[0])),
                causes: |addr, value| {
                    if addr == 8 && value == 1 {
                        "arrival".into()
                    } else {
                        String::new()
                    }
                },
            };
            Pair {
                lanes: Lanes::new(&["a".into(), "b".into()], terms, Picos(10)),
                links: Vec::new(),
            }
        }

        /// A word passes, the last one of a packet or not.
        fn pass(&mut self, on: On, word: u64, last: bool) {
            if !self.links.iter().any(|link| link.0 == on) {
                self.links.push((on, 0, false, Vec::new()));
            }
            let link = self.links.iter_mut().find(|link| link.0 == on).expect("it is there");
            if !link.2 {
                link.1 += 1;
                link.3.clear();
            }
            link.2 = !last;
            link.3.push(word);
        }

        /// The instant is over.
        fn tell(&mut self, at: u64, events: &[(u16, EventKind)]) {
            for (node, kind) in events {
                let (at, node) = (Picos(at), NodeId(*node));
                self.lanes.note(Event { at, node, kind: *kind });
            }
            self.lanes.tell(Picos(at), |node, way, number| {
                let link = self.links.iter().find(|link| link.0 == (node, way, number));
                link.map_or(Head::default(), |(_, packets, is_under_way, words)| Head {
                    packets: *packets,
                    is_under_way: *is_under_way,
                    words,
                })
            });
        }

        fn shown(&self, name: &str) -> String {
            let at = self.lanes.names().iter().position(|own| own == name);
            self.lanes.texts()[at.expect("a lane")].clone()
        }
    }

    const OUT: On = (0, Way::Out, 0);
    const INTO: On = (1, Way::In, 0);

    #[test]
    fn a_packet_has_its_senders_number_on_both_links_and_both_its_ends() {
        let mut pair = Pair::new(&[""]);
        for (at, number) in [(0, 1), (100, 2)] {
            pair.pass(OUT, 1, false);
            pair.tell(at, &[]);
            assert_eq!(pair.shown("lanes.a.link_out"), format!("PE 0 #{number}"));
            pair.pass(OUT, 8, false);
            pair.tell(at + 10, &[]);
            assert_eq!(pair.shown("lanes.a.link_out"), format!("PE 0 #{number} 8 B to PE 1"));
            pair.pass(OUT, 0, true);
            pair.tell(at + 20, &[]);
            assert_eq!(pair.shown("lanes.a.link_out"), "");
        }
        for (at, number) in [(200, 1), (300, 2)] {
            pair.pass(INTO, 1, false);
            pair.tell(at, &[]);
            assert_eq!(pair.shown("lanes.b.link_in"), format!("PE 0 #{number} 8 B to PE 1"));
            pair.pass(INTO, 8, true);
            pair.tell(at + 10, &[]);
            assert_eq!(pair.shown("lanes.b.link_in"), "");
        }
        pair.pass(INTO, 1, false);
        pair.pass(INTO, 4, false);
        pair.tell(400, &[]);
        assert_eq!(pair.shown("lanes.b.link_in"), "? 4 B to PE 1", "nobody sent it");
    }

    #[test]
    fn a_packet_that_may_be_of_two_senders_has_no_number_yet() {
        let mut pair = Pair::new(&[""]);
        for (node, bytes) in [(0, 8), (1, 4)] {
            pair.pass((node, Way::Out, 0), 1, false);
            pair.pass((node, Way::Out, 0), bytes, false);
        }
        pair.tell(0, &[]);
        pair.pass(INTO, 1, false);
        pair.tell(10, &[]);
        assert_eq!(pair.shown("lanes.b.link_in"), "?");
        pair.pass(INTO, 4, false);
        pair.tell(20, &[]);
        assert_eq!(pair.shown("lanes.b.link_in"), "PE 1 #1 4 B to PE 1");
    }

    #[test]
    fn classes_that_take_turns_on_a_link_have_a_lane_each() {
        let mut pair = Pair::new(&["_requests", "_replies"]);
        let lanes = ["link_out_requests", "link_out_replies"].map(|lane| format!("lanes.a.{lane}"));
        let shown = |pair: &Pair| [&lanes[0], &lanes[1]].map(|lane| pair.shown(lane));
        let reply = (0, Way::Out, 1);
        pair.pass(OUT, 1, false);
        pair.tell(0, &[]);
        pair.pass(reply, 2, false);
        pair.tell(10, &[]);
        pair.pass(OUT, 8, false);
        pair.tell(20, &[]);
        pair.pass(reply, 4, false);
        pair.tell(30, &[]);
        assert_eq!(shown(&pair), ["PE 0 #1 8 B to PE 1", "PE 0 #2 4 B to PE 2"]);
        pair.pass(OUT, 0, true);
        pair.tell(40, &[]);
        assert_eq!(shown(&pair), ["", "PE 0 #2 4 B to PE 2"], "one ends, and not the other");
        pair.pass(reply, 0, true);
        pair.tell(50, &[]);
        assert_eq!(shown(&pair), ["", ""]);
    }

    #[test]
    fn a_packet_of_one_word_is_seen() {
        let mut pair = Pair::new(&[""]);
        pair.pass(OUT, 1, true);
        pair.tell(0, &[]);
        assert_eq!(pair.shown("lanes.a.link_out"), "PE 0 #1");
        pair.tell(10, &[]);
        assert_eq!(pair.shown("lanes.a.link_out"), "");
    }

    #[test]
    fn lanes_are_those_that_a_machine_has() {
        let mut pair = Pair::new(&[]);
        let names = pair.lanes.names();
        assert_eq!(names.len(), 8);
        assert!(!names.iter().any(|name| name.contains("link")), "{names:?}");
        pair.tell(0, &[(1, EventKind::Irq { level: true })]);
        assert_eq!(pair.shown("lanes.b.interrupt"), "IRQ 1");
        assert_eq!(pair.shown("lanes.a.interrupt"), "");
    }

    #[test]
    fn bursts_overlap_and_an_instant_is_seen() {
        let mut pair = Pair::new(&[]);
        let read = |addr| EventKind::MemRead {
            addr: Addr(addr),
            bytes: 32,
        };
        let data = |addr| EventKind::MemReadData { addr: Addr(addr) };
        let told: [(u64, EventKind, &str); 5] = [
            (0, read(0x20), "32 B at 0x00000020"),
            (10, read(0x40), "32 B at 0x00000020 +1"),
            (20, data(0x20), "32 B at 0x00000040"),
            (30, data(0x40), ""),
            (40, data(0x60), ""),
        ];
        for (at, event, text) in told {
            pair.tell(at, &[(0, event)]);
            assert_eq!(pair.shown("lanes.a.memory_reads"), text, "at {at}");
        }
        for (offset, text) in [(4, "PUT = 0x5"), (8, "0x8 = 0x5")] {
            pair.tell(50, &[(0, EventKind::RegWrite { offset, value: 5 })]);
            assert_eq!(pair.shown("lanes.a.registers"), text);
        }
        pair.tell(59, &[]);
        assert_eq!(pair.shown("lanes.a.registers"), "0x8 = 0x5");
        pair.tell(60, &[]);
        assert_eq!(pair.shown("lanes.a.registers"), "");
    }

    #[test]
    fn an_interrupt_has_its_number_and_what_the_host_reads_of_its_cause() {
        let mut pair = Pair::new(&[]);
        for number in 1..3 {
            pair.tell(0, &[(1, EventKind::Irq { level: true })]);
            assert_eq!(pair.shown("lanes.b.interrupt"), format!("IRQ {number}"));
            pair.lanes.read(NodeId(1), 8, 0);
            pair.lanes.read(NodeId(1), 8, 1);
            pair.tell(10, &[]);
            assert_eq!(pair.shown("lanes.b.interrupt"), format!("IRQ {number}: arrival"));
            pair.tell(20, &[(1, EventKind::Irq { level: false })]);
            assert_eq!(pair.shown("lanes.b.interrupt"), "");
        }
    }
}
