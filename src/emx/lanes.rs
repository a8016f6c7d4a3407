//! Lanes of text in a wave: the thread that runs on each PE, what it told the host, and the packets on its links.
//!
//! A packet is called by its sender and its number among those that the sender put on a link. Both stay with it from
//! link to link: a switch takes a hop off the path in word 0, and changes nothing else.

use super::golden::route::{Path, Place, Shape};
use super::names::TYPES;
use super::packet::{Kind, Packet};
use super::regs::{
    PKT_W0_PE_MASK, PKT_W0_PE_SHIFT, PKT_W0_TYPE_SHIFT, SIZE_COLUMNS, STATE_HALTED, STATE_RUNS, STATE_WAITS,
};
use super::rtl::{Link, Shown};

/// The lanes of a PE, and their names below its scope.
const LANES: [&str; 6] = ["thread", "told", "link_out_0", "link_out_1", "link_in_0", "link_in_1"];
const THREAD: usize = 0;
const TOLD: usize = 1;
const OUT: usize = 2;
const INTO: usize = 4;
const LINKS: usize = 2;

/// The sender of a packet, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    from: usize,
    number: u32,
}

/// A packet that has come to a PE, and is to go on: as it will leave.
#[derive(Clone, Copy, Debug)]
struct Passing {
    input: usize,
    output: usize,
    word0: u64,
    /// It has not come yet, or this.
    word1: Option<u64>,
    name: Name,
}

/// A packet between its two words on a link.
#[derive(Clone, Copy, Debug)]
struct Begun {
    word0: u64,
    name: Name,
    /// Nothing that passes looks so.
    is_own: bool,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// Where its outputs lead: PE and input.
    next: [(usize, usize); LINKS],
    /// The address of the instruction that was done last, of the thread that runs.
    pc: Option<u32>,
    /// Packets of its own on links.
    sent: u32,
    begun: [Option<Begun>; LINKS],
    /// In the order of their coming.
    passing: Vec<Passing>,
}

/// The lanes of all PEs.
pub struct Lanes {
    shape: Shape,
    places: Vec<Place>,
    nodes: Vec<Node>,
    names: Vec<String>,
    texts: Vec<String>,
}

impl Lanes {
    /// `scopes`: the names of the PEs.
    pub fn new(scopes: &[&str]) -> Lanes {
        let shape = Shape::new((scopes.len() / SIZE_COLUMNS as usize).ilog2());
        let place = |pe| shape.place(pe).expect("it is there");
        let places: Vec<Place> = (0..shape.pes()).map(place).collect();
        let node = |at: &Place| Node {
            next: [0, 1].map(|output| {
                let (to, input) = shape.link(*at, output);
                (number(&places, to), input as usize)
            }),
            ..Node::default()
        };
        let names: Vec<String> = scopes
            .iter()
            .flat_map(|scope| LANES.map(|lane| format!("lanes.{scope}.{lane}")))
            .collect();
        Lanes {
            shape,
            nodes: places.iter().map(node).collect(),
            texts: vec![String::new(); names.len()],
            places,
            names,
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

    /// The PEs are reset: no packet is under way any more.
    pub fn forget(&mut self) {
        for node in &mut self.nodes {
            (node.pc, node.begun) = (None, [None; LINKS]);
            node.passing.clear();
        }
    }

    /// What the PEs and the links that leave them show behind an edge.
    pub fn tell(&mut self, shown: impl Fn(usize) -> Shown, links: impl Fn(usize) -> [Option<Link>; LINKS]) {
        self.texts.iter_mut().for_each(String::clear);
        let mut came = Vec::new();
        for pe in 0..self.nodes.len() {
            let shown = shown(pe);
            self.texts[LANES.len() * pe + THREAD] = self.nodes[pe].thread(&shown);
            if let Some(value) = shown.told {
                self.texts[LANES.len() * pe + TOLD] = format!("{value:#x}");
            }
            for link in links(pe).into_iter().flatten() {
                let (word0, name) = self.nodes[pe].leaves(pe, &link);
                let (to, input) = self.nodes[pe].next[link.output];
                let text = self.text(to, word0, name);
                self.texts[LANES.len() * to + INTO + input].clone_from(&text);
                self.texts[LANES.len() * pe + OUT + link.output] = text;
                came.push((to, input, link, word0, name));
            }
        }
        // What comes leaves again at a later edge.
        for (to, input, link, word0, name) in came {
            self.nodes[to].comes(input, &link, word0, name);
        }
    }

    /// What a packet is that comes to a PE with this first word.
    fn text(&self, to: usize, word0: u64, name: Name) -> String {
        let kind = Kind((word0 >> PKT_W0_TYPE_SHIFT) as u8).kind();
        let known = TYPES.values.iter().find(|(code, _)| *code == u64::from(kind));
        let is = known.map_or_else(|| format!("type {kind}"), |(_, name)| (*name).to_owned());
        let (mut at, mut left) = (self.places[to], path(word0));
        while let Some((output, rest)) = left.next() {
            (at, left) = (self.shape.link(at, output).0, rest);
        }
        let Name { from, number: own } = name;
        format!("PE {from} #{own} {is} to PE {}", number(&self.places, at))
    }
}

/// The PE at a place.
fn number(places: &[Place], at: Place) -> usize {
    let number = places.iter().position(|place| *place == at);
    number.expect("each place has a PE")
}

/// The path that a first word still has.
fn path(word0: u64) -> Path {
    Path(Packet::of([word0, 0]).pe)
}

impl Node {
    fn thread(&mut self, shown: &Shown) -> String {
        const RUNS: u64 = STATE_RUNS as u64;
        const WAITS: u64 = STATE_WAITS as u64;
        const HALTED: u64 = STATE_HALTED as u64;
        let runs = matches!(shown.state, RUNS | WAITS);
        self.pc = shown.retired.or(self.pc.filter(|_| runs));
        match (shown.state, shown.retired, self.pc) {
            (WAITS, None, _) => "waits to send".into(),
            (HALTED, None, _) => "halted".into(),
            (_, _, Some(pc)) => format!("runs {pc:#x}"),
            (RUNS, ..) => "runs".into(),
            _ => String::new(),
        }
    }

    /// A word leaves this PE: the packet's first word, and its name. The second word tells for sure which of those that
    /// look alike it is.
    fn leaves(&mut self, pe: usize, link: &Link) -> (u64, Name) {
        let alike = |passing: &Passing, word0| (passing.output, passing.word0) == (link.output, word0);
        let Some(begun) = self.begun[link.output].take() else {
            let oldest = self.passing.iter().find(|passing| alike(passing, link.word));
            let (name, is_own) = match oldest {
                Some(oldest) => (oldest.name, false),
                None => (self.own(pe), true),
            };
            let word0 = link.word;
            self.begun[link.output] = Some(Begun { word0, name, is_own });
            return (word0, name);
        };
        let is = |passing: &Passing| alike(passing, begun.word0) && passing.word1 == Some(link.word);
        let name = match self.passing.iter().position(is) {
            Some(at) if !begun.is_own => self.passing.remove(at).name,
            None if !begun.is_own => self.own(pe),
            _ => begun.name,
        };
        (begun.word0, name)
    }

    /// The next packet of its own.
    fn own(&mut self, from: usize) -> Name {
        self.sent += 1;
        let number = self.sent;
        Name { from, number }
    }

    /// A word comes, of a packet with this first word.
    fn comes(&mut self, input: usize, link: &Link, word0: u64, name: Name) {
        let Some((output, rest)) = path(word0).next() else {
            return;
        };
        if link.last {
            let mut passing = self.passing.iter_mut();
            if let Some(passing) = passing.find(|passing| passing.input == input && passing.word1.is_none()) {
                (passing.word1, passing.name) = (Some(link.word), name);
            }
            return;
        }
        self.passing.push(Passing {
            input,
            output: output as usize,
            word0: word0 & !PKT_W0_PE_MASK | u64::from(rest.0) << PKT_W0_PE_SHIFT,
            word1: None,
            name,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emx::regs::{STATE_IDLE, TYPE_WRITE};

    const QUIET: Shown = Shown {
        state: STATE_IDLE as u64,
        retired: None,
        told: None,
        irq: false,
    };

    /// Five PEs in a loop.
    fn lanes() -> Lanes {
        Lanes::new(&["p0", "p1", "p2", "p3", "p4"])
    }

    /// A WRITE's first word, with so many hops left behind the link that it is on.
    fn first(hops: u32) -> u64 {
        u64::from(TYPE_WRITE) << PKT_W0_TYPE_SHIFT | (1 << hops) << PKT_W0_PE_SHIFT | 0x40
    }

    /// Behind an edge, these words are on first links: the PE that they leave, the word, and whether it is the last.
    fn tell(lanes: &mut Lanes, words: &[(usize, u64, bool)]) {
        let link = |pe: usize| {
            let word = words.iter().find(|(from, ..)| *from == pe);
            let on = word.map(|(_, word, last)| Link {
                output: 0,
                channel: 0,
                word: *word,
                last: *last,
            });
            [on, None]
        };
        lanes.tell(|_| QUIET, link);
    }

    fn shown<'a>(lanes: &'a Lanes, name: &str) -> &'a str {
        let at = lanes.names().iter().position(|own| own == name);
        &lanes.texts()[at.expect("a lane")]
    }

    #[test]
    fn a_packet_keeps_its_name_from_link_to_link() {
        let mut lanes = lanes();
        for number in 1..3 {
            let text = format!("PE 1 #{number} WRITE to PE 0");
            for (pe, hops) in [(1, 3), (2, 2), (3, 1), (4, 0)] {
                for (word, last) in [(first(hops), false), (5, true)] {
                    tell(&mut lanes, &[(pe, word, last)]);
                    let into = format!("lanes.p{}.link_in_0", (pe + 1) % 5);
                    assert_eq!(shown(&lanes, &format!("lanes.p{pe}.link_out_0")), text);
                    assert_eq!(shown(&lanes, &into), text);
                    assert_eq!(lanes.texts().iter().filter(|text| !text.is_empty()).count(), 2);
                }
            }
        }
        assert!(lanes.nodes.iter().all(|node| node.passing.is_empty()));
    }

    #[test]
    fn the_second_word_tells_packets_apart_that_begin_alike() {
        let mut lanes = lanes();
        // One of PE 1 waits in PE 2.
        tell(&mut lanes, &[(1, first(3), false)]);
        tell(&mut lanes, &[(1, 5, true)]);
        tell(&mut lanes, &[(2, first(2), false)]);
        assert_eq!(shown(&lanes, "lanes.p2.link_out_0"), "PE 1 #1 WRITE to PE 0");
        tell(&mut lanes, &[(2, 6, true)]);
        assert_eq!(shown(&lanes, "lanes.p2.link_out_0"), "PE 2 #1 WRITE to PE 0");
        // Both have their own names from there on.
        tell(&mut lanes, &[(2, first(2), false), (3, first(1), false)]);
        assert_eq!(shown(&lanes, "lanes.p3.link_out_0"), "PE 2 #1 WRITE to PE 0");
        tell(&mut lanes, &[(2, 5, true), (3, 6, true)]);
        assert_eq!(shown(&lanes, "lanes.p2.link_out_0"), "PE 1 #1 WRITE to PE 0");
        assert_eq!(shown(&lanes, "lanes.p3.link_out_0"), "PE 2 #1 WRITE to PE 0");
    }

    #[test]
    fn a_reset_forgets_what_passes() {
        let mut lanes = lanes();
        tell(&mut lanes, &[(1, first(3), false)]);
        tell(&mut lanes, &[(1, 5, true)]);
        lanes.forget();
        tell(&mut lanes, &[(2, first(2), false)]);
        assert_eq!(shown(&lanes, "lanes.p2.link_out_0"), "PE 2 #1 WRITE to PE 0");
    }

    #[test]
    fn a_thread_is_shown_as_long_as_it_runs() {
        let mut lanes = lanes();
        let steps = [
            (STATE_RUNS, None, "runs"),
            (STATE_RUNS, Some(0x1234), "runs 0x1234"),
            (STATE_RUNS, None, "runs 0x1234"),
            (STATE_WAITS, None, "waits to send"),
            (STATE_RUNS, Some(0x1235), "runs 0x1235"),
            (STATE_IDLE, None, ""),
            (STATE_RUNS, None, "runs"),
            (STATE_HALTED, None, "halted"),
        ];
        for (state, retired, text) in steps {
            let told = retired.map(|_| 7);
            let busy = Shown {
                state: state.into(),
                retired,
                told,
                ..QUIET
            };
            lanes.tell(|pe| if pe == 3 { busy } else { QUIET }, |_| [None; 2]);
            assert_eq!(shown(&lanes, "lanes.p3.thread"), text);
            assert_eq!(shown(&lanes, "lanes.p3.told"), if told.is_some() { "0x7" } else { "" });
            assert_eq!(shown(&lanes, "lanes.p2.thread"), "");
        }
    }
}
