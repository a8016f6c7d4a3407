//! Time on the torus: which links a message takes is the golden routing function's, when it has them is worked out here.

use std::collections::BTreeMap;

use super::Timing;
use crate::net::torus::{Cell, Header, Port, Torus};

/// A copy of a message at a cell: the cycles in which its first and its last word come out of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub cell: usize,
    pub first: u64,
    pub last: u64,
}

/// Links, and from when each is free. A message has each link of its way for all its words, one after the other, and moves on as soon as its first word is
/// through a router (wormhole); links are given in the order in which messages are injected, so two from one cell to another stay in order. Both classes share
/// them. Room for a message that waits is never short.
pub(super) struct Network {
    torus: Torus,
    hop: u64,
    word: u64,
    free: BTreeMap<(usize, Port), u64>,
}

impl Network {
    pub fn new(torus: Torus, timing: &Timing) -> Network {
        Network {
            torus,
            hop: timing.hop,
            word: timing.word,
            free: BTreeMap::new(),
        }
    }

    /// A message enters the router of `from`, its first word in cycle `at`. Nobody gets one that the routers drain.
    pub fn send(&mut self, from: usize, header: Header, words: u64, at: u64) -> Vec<Arrival> {
        let Network {
            torus, hop, word, free, ..
        } = self;
        let mut arrivals = Vec::new();
        // When the first word comes to each router.
        let mut heads: BTreeMap<(Cell, Port, usize), u64> = BTreeMap::new();
        let from = torus.cell(from);
        heads.insert((from, Port::Local, 0), at);
        torus.walk(from, header, |step| {
            let head = heads[&(step.at, step.from, step.lane)];
            let cell = torus.number(step.at);
            for way in &step.ways {
                let free = free.entry((cell, way.port)).or_default();
                let first = (head + *hop).max(*free);
                *free = first + words * *word;
                match torus.link(step.at, way.port) {
                    Some((next, port)) => _ = heads.insert((next, port, way.lane), first),
                    None => arrivals.push(Arrival {
                        cell,
                        first,
                        last: *free,
                    }),
                }
            }
        });
        arrivals
    }
}
