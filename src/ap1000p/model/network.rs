//! Time on the torus: which links a message takes is the golden routing function's, when it has them is worked out
//! here.
//!
//! A message has each link of its way for all its words, one after the other, and goes on as soon as its first word is
//! through a router. A link is given to those that wait for it in the order in which they came to the router, so two
//! from one cell to another stay in order; who has no room ahead is passed by. Both classes share links, and no room. A
//! router's input has room for [`PLACES`] messages of each class and lane (or one, if few words of its buffers are in
//! use), whatever their length, which is more than the machine has: a message that waits holds up those behind it, but
//! no link.

use std::collections::VecDeque;
use std::rc::Rc;

use super::{CLASSES, Due, ModelMachine, Request, Timing, Unit};
use crate::harness::backend::EventKind;
use crate::net::torus::{Class, Header, Port, Torus, VCS, Way};
use crate::net::torus_fabric::PLACES as PLACES_BUILT;

/// Of a router's input, for each virtual channel. With one, a link would stand from a message's first word to its last
/// one's leaving the next router.
const PLACES: u32 = 2;
/// Messages of a class that wait at a cell or come out of its router.
const INBOX: u32 = 2;

/// What a send controller hands over.
pub(super) struct Outgoing {
    pub words: Vec<u32>,
    /// Stays in the cell.
    pub local: bool,
    /// The controller, which waits for it to go, and the flag that then counts.
    pub by: (Class, Option<Request>),
}

struct Flight {
    header: Header,
    words: Vec<u32>,
}

/// A message at a router, with the ways it has yet to take.
struct Stay {
    message: Rc<Flight>,
    from: Port,
    vc: usize,
    ways: VecDeque<Way>,
    /// Its first word is through the router.
    ready: u64,
}

#[derive(Default)]
struct Link {
    free: u64,
    waiting: VecDeque<Stay>,
}

/// By cell and port: a router's inputs and its outputs.
pub(super) struct Network {
    torus: Torus,
    word: u64,
    hop: u64,
    /// Messages at a router's input, of each virtual channel.
    places: u32,
    taken: Vec<[u32; VCS]>,
    links: Vec<Link>,
}

fn index(cell: usize, port: Port) -> usize {
    cell * Port::ALL.len() + port as usize
}

impl Network {
    /// So many words of each buffer are in use.
    pub fn new(torus: Torus, timing: &Timing, lane_words: u32) -> Network {
        let ports = torus.cells() * Port::ALL.len();
        Network {
            torus,
            word: timing.word,
            hop: timing.hop,
            places: if lane_words < PLACES_BUILT.into() { 1 } else { PLACES },
            taken: vec![[0; VCS]; ports],
            links: (0..ports).map(|_| Link::default()).collect(),
        }
    }

    /// Messages in it.
    pub fn messages(&self) -> u32 {
        self.taken.iter().flatten().sum()
    }
}

impl ModelMachine {
    /// What a cell has to send goes as far as it can.
    pub(super) fn inject(&mut self, n: usize) {
        loop {
            let node = &self.nodes[n];
            let may_go = |out: &Outgoing| {
                let class = Header::of(out.words[0].into()).class;
                if out.local {
                    node.local_free <= self.cycle && node.expected[class as usize] < INBOX
                } else {
                    let input = &self.network.taken[index(n, Port::Local)];
                    node.link_free <= self.cycle && input[class.vc(0)] < self.network.places
                }
            };
            let Some(first) = node.outgoing.iter().position(may_go) else {
                return;
            };
            let out = self.nodes[n].outgoing.remove(first).expect("found");
            let header = Header::of(out.words[0].into());
            let count = out.words.len() as u64;
            let head = out.words[0] as u16;
            let end = if out.local {
                let end = self.cycle + count * self.timing.local;
                self.nodes[n].local_free = end;
                self.expect(n, header.class, out.words, end);
                end
            } else {
                let end = self.cycle + count * self.timing.word;
                self.nodes[n].link_free = end;
                self.note(self.cycle, n, EventKind::TxFirst { head });
                self.note(end, n, EventKind::TxLast { flits: count as u32 });
                let words = out.words;
                self.come(n, Port::Local, header.class.vc(0), Rc::new(Flight { header, words }));
                end
            };
            // The next message is prepared while this one's last words go out.
            let (class, flag) = out.by;
            let startup = self.timing.queue + self.timing.decode + self.timing.read;
            let free = end.saturating_sub(startup).max(self.cycle);
            self.nodes[n].send_free[class as usize] = free;
            self.at(end, n, Due::Sent(flag));
            self.at(free, n, Due::Run(Unit::sends(class)));
            self.at(end, n, Due::Inject);
        }
    }

    /// A message begins to come to a cell.
    fn expect(&mut self, n: usize, class: Class, words: Vec<u32>, end: u64) {
        let node = &mut self.nodes[n];
        node.coming += 1;
        node.expected[class as usize] += 1;
        let at = end + self.timing.receive;
        self.at(at, n, Due::Arrived(CLASSES[class as usize], words));
    }

    /// A message that came to a cell is taken: there is room for another.
    pub(super) fn take(&mut self, n: usize, class: usize) {
        self.nodes[n].expected[class] -= 1;
        self.at(self.cycle, n, Due::Link(Port::Local));
        self.at(self.cycle, n, Due::Inject);
    }

    /// A message's first word comes to a router.
    fn come(&mut self, n: usize, from: Port, vc: usize, message: Rc<Flight>) {
        let Network { torus, word, hop, .. } = self.network;
        self.network.taken[index(n, from)][vc] += 1;
        let ways: VecDeque<Way> = torus.route(torus.cell(n), from, vc, message.header).into();
        if ways.is_empty() {
            // Nobody gets one that the router drains.
            let end = self.cycle + message.words.len() as u64 * word;
            self.at(end, n, Due::Left(from, vc));
            return;
        }
        self.wait(
            n,
            Stay {
                message,
                from,
                vc,
                ways,
                ready: self.cycle + hop,
            },
        );
    }

    fn wait(&mut self, n: usize, stay: Stay) {
        let (at, port) = (stay.ready.max(self.cycle), stay.ways[0].port);
        self.network.links[index(n, port)].waiting.push_back(stay);
        self.at(at, n, Due::Link(port));
    }

    /// Whether there is room at the other end of a link.
    fn room(&self, n: usize, way: Way, header: Header) -> bool {
        let Network {
            torus, taken, places, ..
        } = &self.network;
        match torus.link(torus.cell(n), way.port) {
            Some((next, port)) => taken[index(torus.number(next), port)][header.class.vc(way.lane)] < *places,
            None => self.nodes[n].expected[header.class as usize] < INBOX,
        }
    }

    /// The first that can takes a link of a router.
    pub(super) fn link(&mut self, n: usize, port: Port) {
        let link = &self.network.links[index(n, port)];
        if link.free > self.cycle {
            return;
        }
        let may_go = |stay: &Stay| stay.ready <= self.cycle && self.room(n, stay.ways[0], stay.message.header);
        let Some(first) = link.waiting.iter().position(may_go) else {
            return;
        };
        let link = &mut self.network.links[index(n, port)];
        let mut stay = link.waiting.remove(first).expect("found");
        let Flight { header, words } = &*stay.message;
        let (header, count) = (*header, words.len() as u64);
        let end = self.cycle + count * self.network.word;
        link.free = end;
        self.at(end, n, Due::Link(port));
        let way = stay.ways.pop_front().expect("it waits for this link");
        let torus = self.torus;
        match torus.link(torus.cell(n), port) {
            Some((next, by)) => {
                let vc = header.class.vc(way.lane);
                self.come(torus.number(next), by, vc, stay.message.clone());
            }
            None => {
                let words = stay.message.words.clone();
                self.note(self.cycle, n, EventKind::RxFirst { head: words[0] as u16 });
                self.note(end, n, EventKind::RxLast { flits: count as u32 });
                self.expect(n, header.class, words, end);
            }
        }
        if stay.ways.is_empty() {
            self.at(end, n, Due::Left(stay.from, stay.vc));
        } else {
            self.wait(n, stay);
        }
    }

    /// A message's last word has left a router.
    pub(super) fn left(&mut self, n: usize, from: Port, vc: usize) {
        self.network.taken[index(n, from)][vc] -= 1;
        let torus = self.torus;
        match torus.link(torus.cell(n), from) {
            Some((before, port)) => self.link(torus.number(before), port),
            None => self.inject(n),
        }
    }
}
