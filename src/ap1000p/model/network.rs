//! Time on the torus. The golden routing function chooses the links of a message; this module computes when the message
//! has them.
//!
//! A message has each link of its way for all its words, and takes its links one after the other. It goes on as soon as
//! its first word is through a router. A link serves waiting messages in the order in which they joined its queue, so
//! two messages from one cell to another stay in order. A message without room ahead is passed over. The two classes
//! share links, but not room. A router's input has room for [`PLACES`] messages of each class and lane, of any length.
//! It has room for one if few words of its buffers are in use. This is more room than the machine has: a waiting
//! message holds up the messages behind it, but no link.

use std::collections::VecDeque;
use std::rc::Rc;

use super::{CLASSES, Due, ModelMachine, Request, Timing, Unit};
use crate::harness::backend::EventKind;
use crate::net::torus::{Class, Header, Port, Torus, VCS, Way};
use crate::net::torus_fabric::PLACES as PLACES_BUILT;

/// Messages that each virtual channel of a router's input has room for. With room for one, a link would stall from the
/// first word of a message until its last word leaves the next router.
const PLACES: u32 = 2;
/// Messages of a class that may wait at a cell or arrive from its router.
const INBOX: u32 = 2;

/// A message from a send controller.
pub(super) struct Outgoing {
    pub words: Vec<u32>,
    /// The message stays in the cell.
    pub local: bool,
    /// The class of the send controller, which waits until the message has gone, and the flag that then counts.
    pub by: (Class, Option<Request>),
}

struct Flight {
    header: Header,
    words: Vec<u32>,
}

/// A message at a router, with the ways that remain.
struct Stay {
    message: Rc<Flight>,
    from: Port,
    vc: usize,
    ways: VecDeque<Way>,
    /// The cycle when its first word is through the router.
    ready: u64,
}

#[derive(Default)]
struct Link {
    free: u64,
    waiting: VecDeque<Stay>,
}

/// Routers' inputs and outputs, indexed by cell and port.
pub(super) struct Network {
    torus: Torus,
    word: u64,
    hop: u64,
    /// Messages that each virtual channel of a router's input has room for.
    places: u32,
    taken: Vec<[u32; VCS]>,
    links: Vec<Link>,
}

fn index(cell: usize, port: Port) -> usize {
    cell * Port::ALL.len() + port as usize
}

impl Network {
    /// `lane_words` words of each buffer are in use.
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

    /// Messages in the network.
    pub fn messages(&self) -> u32 {
        self.taken.iter().flatten().sum()
    }
}

impl ModelMachine {
    /// Sends the outgoing messages of a cell as far as possible.
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
            // The controller prepares the next message while the last words of this one go out.
            let (class, flag) = out.by;
            let startup = self.timing.queue + self.timing.decode + self.timing.read;
            let free = end.saturating_sub(startup).max(self.cycle);
            self.nodes[n].send_free[class as usize] = free;
            self.at(end, n, Due::Sent(flag));
            self.at(free, n, Due::Run(Unit::sends(class)));
            self.at(end, n, Due::Inject);
        }
    }

    /// A message begins to arrive at a cell.
    fn expect(&mut self, n: usize, class: Class, words: Vec<u32>, end: u64) {
        let node = &mut self.nodes[n];
        node.coming += 1;
        node.expected[class as usize] += 1;
        let at = end + self.timing.receive;
        self.at(at, n, Due::Arrived(CLASSES[class as usize], words));
    }

    /// A cell takes a message that arrived: there is room for another.
    pub(super) fn take(&mut self, n: usize, class: usize) {
        self.nodes[n].expected[class] -= 1;
        self.at(self.cycle, n, Due::Link(Port::Local));
        self.at(self.cycle, n, Due::Inject);
    }

    /// The first word of a message arrives at a router.
    fn come(&mut self, n: usize, from: Port, vc: usize, message: Rc<Flight>) {
        let Network { torus, word, hop, .. } = self.network;
        self.network.taken[index(n, from)][vc] += 1;
        let ways: VecDeque<Way> = torus.route(torus.cell(n), from, vc, message.header).into();
        if ways.is_empty() {
            // The router drains a message without a way; no cell receives it.
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

    /// A link of a router serves the first waiting message that can go.
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

    /// The last word of a message has left a router.
    pub(super) fn left(&mut self, n: usize, from: Port, vc: usize) {
        self.network.taken[index(n, from)][vc] -= 1;
        let torus = self.torus;
        match torus.link(torus.cell(n), from) {
            Some((before, port)) => self.link(torus.number(before), port),
            None => self.inject(n),
        }
    }
}
