//! A torus composed of verilated routers, cycle exact, in which a router with nothing to do costs nothing.
//!
//! Every output of a router is a function of its flip-flops, so at a clock edge all routers see what stood on the links
//! before it, in whatever order they are evaluated.

use verilated::{Input as _, Port as _};

use crate::net::fabric::Flit;
use crate::net::torus::{Cell, Class, Port, Torus};
use crate::rtl::{TorusRouterPorts, TorusRouterUnit};

/// A word on a link, and its virtual channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub vc: usize,
    pub flit: Flit,
}

/// What a router sees at a clock edge, by port: words, and in bit `vc` that a place beyond became free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub words: [Option<Sent>; 5],
    pub credits: [u8; 5],
}

impl Links {
    pub fn is_quiet(&self) -> bool {
        self.credits == [0; 5] && self.words.iter().all(Option::is_none)
    }
}

/// Drives the links of a router of words of `width` bits, at most 64, for the coming edge.
#[inline]
pub fn set_links(router: &impl TorusRouterPorts, width: usize, links: &Links) {
    let (mut valid, mut last, mut vcs, mut credits) = (0, 0, 0, 0);
    for (port, word) in links.words.iter().enumerate() {
        credits |= u64::from(links.credits[port]) << (4 * port);
        if let Some(sent) = word {
            valid |= 1 << port;
            last |= u64::from(sent.flit.last) << port;
            vcs |= (sent.vc as u64) << (2 * port);
            router.in_data_i().set_bits(port * width, width, sent.flit.word);
        }
    }
    router.in_valid_i().set(valid);
    router.in_last_i().set(last);
    router.in_vc_i().set(vcs);
    router.out_credit_i().set(credits);
}

/// The words and credits on a router's own side of its links; words of `width` bits, at most 64.
#[inline]
pub fn seen_links(router: &impl TorusRouterPorts, width: usize) -> Links {
    let mut links = Links::default();
    let (valid, last) = (router.out_valid_o().get(), router.out_last_o().get());
    let (vcs, credits) = (router.out_vc_o().get(), router.in_credit_o().get());
    for port in 0..5 {
        links.credits[port] = (credits >> (4 * port) & 15) as u8;
        if valid >> port & 1 == 1 {
            links.words[port] = Some(Sent {
                vc: (vcs >> (2 * port) & 3) as usize,
                flit: Flit {
                    word: router.out_data_o().get_bits(port * width, width),
                    last: last >> port & 1 == 1,
                },
            });
        }
    }
    links
}

/// A verilated router as the fabric drives it: any parameters, words of at most 64 bits.
pub trait RouterUnit: TorusRouterUnit {
    /// Some edges under reset, as the router of `at`.
    fn reset(&mut self, torus: Torus, at: Cell) {
        self.x_i().set(at.x as u64);
        self.y_i().set(at.y as u64);
        self.last_x_i().set(torus.x() as u64 - 1);
        self.last_y_i().set(torus.y() as u64 - 1);
        self.rst_i().set_bool(true);
        for _ in 0..2 {
            self.edge(&Links::default());
        }
        self.rst_i().set_bool(false);
    }

    /// One clock edge.
    #[inline]
    fn edge(&mut self, links: &Links) {
        set_links(&**self, Self::W, links);
        self.junk();
        self.rise(1);
    }

    /// What stands on its own side of the links.
    #[inline]
    fn shows(&self) -> Links {
        seen_links(&**self, Self::W)
    }

    /// False: further edges change nothing while its links are quiet.
    #[inline]
    fn busy(&self) -> bool {
        self.busy_o().is_set()
    }

    /// Packets drained.
    fn drained(&self) -> u64 {
        self.drained_o().get()
    }
}

impl<U: TorusRouterUnit> RouterUnit for U {}

/// Words that a virtual channel of a link can have under way or waiting at its end.
pub const PLACES: u8 = 4;

/// The network. Between edges: [`inject`](TorusFabric::inject), look at [`output`](TorusFabric::output),
/// [`give_back`](TorusFabric::give_back) places for what came; then [`edge`](TorusFabric::edge).
pub struct TorusFabric<R> {
    torus: Torus,
    units: Vec<R>,
    now: Vec<Links>,
    next: Vec<Links>,
    /// By cell and port: cell and port at the other end.
    ends: Vec<[Option<(usize, usize)>; 5]>,
    outputs: Vec<Option<Sent>>,
    /// By cell: channels of which a place has just become free.
    returned: Vec<u8>,
    /// By cell and class: places for words that enter.
    places: Vec<[u8; 2]>,
    given: Given,
    /// No router is left out at the coming edge.
    all_awake: bool,
    cycles: u64,
    words: u64,
}

/// Which places are given back to a router: all but the first of each channel, where fewer are to be in use. A cell
/// gets all of its router's back: as long as it misses one, it is busy.
struct Given {
    /// In use, of each channel.
    places: u8,
    /// By router and port: places beyond that are still to be withheld; how many these are in all.
    withheld: Vec<[[u8; 4]; 5]>,
    left: usize,
}

impl Given {
    fn new(places: u8, cells: usize) -> Given {
        let each = PLACES - places;
        Given {
            places,
            withheld: vec![[[each; 4]; 5]; cells],
            left: usize::from(each) * 4 * 5 * cells,
        }
    }

    /// Of these channels, in bits, those whose place is given back to this port of this router.
    #[inline]
    fn kept(&mut self, router: usize, port: usize, credits: u8) -> u8 {
        if self.left == 0 {
            return credits;
        }
        let mut kept = credits;
        for (vc, withheld) in self.withheld[router][port].iter_mut().enumerate() {
            if credits >> vc & 1 == 1 && *withheld > 0 {
                *withheld -= 1;
                self.left -= 1;
                kept &= !(1 << vc);
            }
        }
        kept
    }
}

impl<R: RouterUnit> TorusFabric<R> {
    /// All routers, reset.
    pub fn new(torus: Torus, mut make: impl FnMut(Cell) -> R) -> TorusFabric<R> {
        let cells = torus.cells();
        let end = |cell, port| {
            torus
                .link(cell, port)
                .map(|(cell, port)| (torus.number(cell), port as usize))
        };
        let mut fabric = TorusFabric {
            torus,
            units: (0..cells).map(|n| make(torus.cell(n))).collect(),
            now: vec![],
            next: vec![],
            ends: (0..cells)
                .map(|n| Port::ALL.map(|port| end(torus.cell(n), port)))
                .collect(),
            outputs: vec![],
            returned: vec![],
            places: vec![],
            given: Given::new(PLACES, 0),
            all_awake: false,
            cycles: 0,
            words: 0,
        };
        fabric.reset();
        fabric
    }

    /// The same with fewer places in use of each channel from router to router or to a cell, 2 at least (of a last one
    /// alone `torus_output` makes no use): the first ones that become free are not given back.
    pub fn with_places(mut self, places: u8) -> TorusFabric<R> {
        assert!((2..=PLACES).contains(&places), "{places} places");
        self.given = Given::new(places, self.units.len());
        self
    }

    /// Resets all routers: whatever was inside is gone, and all places are free.
    pub fn reset(&mut self) {
        let cells = self.torus.cells();
        for (n, unit) in self.units.iter_mut().enumerate() {
            unit.reset(self.torus, self.torus.cell(n));
        }
        self.now = vec![Links::default(); cells];
        self.next = vec![Links::default(); cells];
        self.outputs = vec![None; cells];
        self.returned = vec![0; cells];
        self.places = vec![[PLACES; 2]; cells];
        self.given = Given::new(self.given.places, cells);
    }

    pub fn torus(&self) -> Torus {
        self.torus
    }

    /// Clock edges so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Words that crossed links between routers so far.
    pub fn link_words(&self) -> u64 {
        self.words
    }

    /// Whether cell `number` may put a word of this class on its link for the coming edge.
    pub fn has_place(&self, number: usize, class: Class) -> bool {
        self.now[number].words[0].is_none() && self.places[number][class as usize] > 0
    }

    /// Puts a word on the link from cell `number`, for the coming edge; there must be a
    /// [place](TorusFabric::has_place).
    pub fn inject(&mut self, number: usize, class: Class, flit: Flit) {
        assert!(
            self.has_place(number, class),
            "cell {number} has no place for a {class:?}"
        );
        self.places[number][class as usize] -= 1;
        self.now[number].words[0] = Some(Sent { vc: class.vc(0), flit });
    }

    /// The word that has just come to cell `number`: there for one edge.
    pub fn output(&self, number: usize) -> Option<Sent> {
        self.outputs[number]
    }

    /// In bit `vc`: cell `number` may put one more word there than before; for one edge, for who counts by himself.
    pub fn returned(&self, number: usize) -> u8 {
        self.returned[number]
    }

    /// Cell `number` has room for one more word of this class, at the coming edge; it had room for [`PLACES`] at first.
    pub fn give_back(&mut self, number: usize, class: Class) {
        self.now[number].credits[0] |= self.given.kept(number, 0, 1 << class.vc(0));
    }

    /// No router is left out at the coming edge.
    pub fn wake_all(&mut self) {
        self.all_awake = true;
    }

    /// One edge of the network's clock.
    pub fn edge(&mut self) {
        self.cycles += 1;
        let all = std::mem::take(&mut self.all_awake);
        for n in 0..self.units.len() {
            let unit = &mut self.units[n];
            self.outputs[n] = None;
            self.returned[n] = 0;
            if !all && !unit.busy() && self.now[n].is_quiet() {
                continue;
            }
            unit.edge(&std::mem::take(&mut self.now[n]));
            let shows = unit.shows();
            for (port, (word, credits)) in shows.words.into_iter().zip(shows.credits).enumerate() {
                match self.ends[n][port] {
                    Some((to, port)) => {
                        self.words += u64::from(word.is_some());
                        self.next[to].words[port] = word;
                        self.next[to].credits[port] = self.given.kept(to, port, credits);
                    }
                    None => {
                        self.outputs[n] = word;
                        self.returned[n] = credits;
                        for class in Class::ALL {
                            self.places[n][class as usize] += credits >> class.vc(0) & 1;
                        }
                    }
                }
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// False: edges change nothing until something is injected or given back.
    pub fn busy(&self) -> bool {
        self.units.iter().any(R::busy) || self.now.iter().any(|links| !links.is_quiet())
    }

    /// The routers, by cell.
    pub fn units(&self) -> &[R] {
        &self.units
    }

    /// Packets drained by all routers.
    pub fn drained(&self) -> u64 {
        self.units.iter().map(R::drained).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::net::torus::Header;
    use crate::rtl::TorusRouter;
    use verilated::Context;

    /// Words that cell 0 can send to cell 1 when that takes no more, behind some that it took.
    fn held(places: u8) -> usize {
        let context = Context::new();
        let torus = Torus::new(4, 2);
        let mut fabric = TorusFabric::new(torus, |at| {
            TorusRouter::named(&context, &format!("router{}x{}", at.x, at.y))
        })
        .with_places(places);
        let mut taken = 0;
        let mut sent = 0;
        for edge in 0..400 {
            let open = edge < 200;
            if fabric.has_place(0, Class::Request) {
                // To (1, 0), in packets of one word.
                let flit = Flit { word: 1, last: true };
                fabric.inject(0, Class::Request, flit);
                sent += 1;
            }
            if fabric.output(1).is_some() {
                taken += 1;
                if open {
                    fabric.give_back(1, Class::Request);
                }
            }
            fabric.edge();
        }
        assert!(taken > 20, "{taken} words came");
        // What has come after the end, and has not been given back, is in places of the cell's.
        sent - taken + usize::from(places)
    }

    #[test]
    fn fewer_places_hold_fewer_words() {
        let [two, three, four] = [2, 3, 4].map(held);
        // In the sender's router, where all are in use, in the receiver's, in the receiver.
        assert_eq!(four, 4 + 4 + 4);
        assert!(
            two < three && three < four && two <= 4 + 2 + 2,
            "{two}, {three}, {four}"
        );
    }

    /// Beyond a first word's header: a packet's sender; that it asks; that it begins.
    const SENDER: u32 = 20;
    const ASKS: u64 = 1 << 32;
    const BEGINS: u64 = 1 << 33;

    /// A cell that asks each other one, and answers. Of what it is asked it takes nothing while an answer has yet to
    /// leave.
    #[derive(Default)]
    struct Asker {
        /// By class: words in the cell's places, and those that wait to leave.
        came: [VecDeque<Flit>; 2],
        leaves: [VecDeque<Flit>; 2],
        /// Cells asked, answers got.
        asked: usize,
        got: usize,
    }

    /// Answers got by the cells of an 8x8 torus when all have all, or when nothing has moved for 1000 edges.
    fn exchange(places: u8, answers: Class) -> usize {
        const WORDS: usize = 8;
        let context = Context::new();
        let torus = Torus::new(8, 8);
        let cells = torus.cells();
        let mut fabric = TorusFabric::new(torus, |at| {
            TorusRouter::named(&context, &format!("router{}x{}", at.x, at.y))
        });
        fabric.given = Given::new(places, cells);
        let packet = |from: usize, to: usize, class, asks| {
            let head = Header::to(torus.cell(to), class).word() | (from as u64) << SENDER | asks | BEGINS;
            (0..WORDS).map(move |n| Flit {
                word: if n == 0 { head } else { asks },
                last: n == WORDS - 1,
            })
        };
        let mut askers: Vec<Asker> = (0..cells).map(|_| Asker::default()).collect();
        let mut still = 0;
        while still < 1000 && askers.iter().any(|asker| asker.got < cells - 1) {
            still += 1;
            for (n, asker) in askers.iter_mut().enumerate() {
                if let Some(sent) = fabric.output(n) {
                    asker.came[sent.vc >> 1].push_back(sent.flit);
                    still = 0;
                }
                for class in Class::ALL {
                    let Some(flit) = asker.came[class as usize].front() else {
                        continue;
                    };
                    if flit.word & ASKS == 0 {
                        asker.got += usize::from(flit.last);
                    } else if flit.word & BEGINS != 0 {
                        if !asker.leaves[answers as usize].is_empty() {
                            continue;
                        }
                        let to = (flit.word >> SENDER) as usize % cells;
                        asker.leaves[answers as usize].extend(packet(n, to, answers, 0));
                    }
                    asker.came[class as usize].pop_front();
                    fabric.give_back(n, class);
                }
                if asker.leaves[Class::Request as usize].is_empty() && asker.asked < cells - 1 {
                    asker.asked += 1;
                    let to = (n + asker.asked) % cells;
                    asker.leaves[Class::Request as usize].extend(packet(n, to, Class::Request, ASKS));
                }
                let may_go = |class: &Class| !asker.leaves[*class as usize].is_empty() && fabric.has_place(n, *class);
                if let Some(class) = Class::ALL.into_iter().rev().find(may_go) {
                    let flit = asker.leaves[class as usize].pop_front().expect("it waits");
                    fabric.inject(n, class, flit);
                    still = 0;
                }
            }
            fabric.edge();
        }
        assert_eq!(fabric.drained(), 0);
        askers.iter().map(|asker| asker.got).sum()
    }

    #[test]
    fn all_ask_all_with_few_places() {
        let all = 64 * 63;
        assert_eq!([2, 3, 4].map(|places| exchange(places, Class::Reply)), [all; 3]);
        // With one place routers stop for ever: why 2 are the least. And so do cells whose answers wait for what they
        // are asked.
        let stuck = [(1, Class::Reply), (2, Class::Request)].map(|(places, answers)| exchange(places, answers));
        assert!(stuck.iter().all(|&got| got < all), "{stuck:?}");
    }
}
