//! The link against what must become of each word, with a router of four places and both receivers as the bench.

use std::collections::VecDeque;

use testbenches::rtl::*;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;

use crate::rig::{Ports, Rig, Twin, each_is_caught, fails};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Each word of a class comes where it is to, once and in order.
    Words,
    /// Messages to a receiver are not mixed.
    Whole,
    /// The router has room for what is sent, and is told of the places that became free.
    Places,
    /// Classes on the way out, network and own cell on the way in.
    Turns,
    /// What can go goes: a class that cannot does not stop the other.
    Goes,
    /// A word per cycle, in the cycles that are told.
    Rate,
    Protocol,
    Rest,
    Path,
}

const RULES: [Rule; 9] = [
    Rule::Words,
    Rule::Whole,
    Rule::Places,
    Rule::Turns,
    Rule::Goes,
    Rule::Rate,
    Rule::Protocol,
    Rule::Rest,
    Rule::Path,
];

/// Of each channel, at either end.
const PLACES: usize = 4;
const CLASSES: [usize; 2] = [0, 1];
/// In a word that came from the network.
const FAR: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    data: u32,
    last: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    out: [Option<(Word, bool)>; 2],
    ready: [bool; 2],
    credit: u8,
    /// Channel and word.
    came: Option<(u8, Word)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: [bool; 2],
    offered: [Option<Word>; 2],
    sent: Option<(u8, Word)>,
    credit: u8,
    busy: bool,
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            type In = In;
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &In) {
                for (c, word) in inputs.out.iter().enumerate() {
                    let (word, local) = word.unwrap_or((Word { data: 0xdead_beef, last: true }, true));
                    self.out_valid_i.set_bits(c, 1, inputs.out[c].is_some().into());
                    self.out_local_i.set_bits(c, 1, local.into());
                    self.out_last_i.set_bits(c, 1, word.last.into());
                    self.out_data_i.set_bits(32 * c, 32, word.data.into());
                    self.in_ready_i.set_bits(c, 1, inputs.ready[c].into());
                }
                self.tx_credit_i.set(inputs.credit);
                let (vc, word) = inputs.came.unwrap_or((0, Word { data: 0xdead_beef, last: true }));
                self.rx_valid_i.set_bool(inputs.came.is_some());
                self.rx_vc_i.set(vc);
                self.rx_data_i.set(word.data);
                self.rx_last_i.set_bool(word.last);
            }

            fn seen(&self) -> Out {
                let offered = |c| Word { data: self.in_data_o.get_bits(32 * c, 32) as u32, last: self.in_last_o.bit(c) };
                let sent = Word { data: self.tx_data_o.get(), last: self.tx_last_o.is_set() };
                Out {
                    ready: CLASSES.map(|c| self.out_ready_o.bit(c)),
                    offered: CLASSES.map(|c| self.in_valid_o.bit(c).then(|| offered(c))),
                    sent: self.tx_valid_o.is_set().then(|| (self.tx_vc_o.get(), sent)),
                    credit: self.rx_credit_o.get(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pLink Ap1000pLinkMisused TwinLinkTwice TwinLinkLane TwinLinkMixed TwinLinkRoom TwinLinkCredit TwinLinkClasses TwinLinkOwn
       TwinLinkWaits TwinLinkSlow TwinLinkWithdraws TwinLinkRest TwinLinkPath);

/// A word on its way, and the cycle in which it was taken.
type Due = VecDeque<(Word, u64)>;

/// What is known of a class.
struct Class {
    source: Source<(Word, bool)>,
    sink: Sink<Word>,
    /// What the network has for this cell, words of whole messages.
    far: Source<Word>,
    /// On the way to the router, from the cell itself, from the network.
    to_router: Due,
    own: Due,
    from_router: Due,
    /// Places taken at the router, and whether they are given back now.
    taken: usize,
    gives: Pacer,
    /// Places the link has free for the network's words, as the router knows.
    room: usize,
    /// Words of the network's taken whose places were not told yet.
    untold: usize,
    /// The message under way to the receiver: of the cell itself?
    within: Option<bool>,
    /// Of which the last one was.
    previous: Option<bool>,
    /// Words of the other class sent while one of this could have been.
    passed: u32,
}

impl Class {
    /// Whether no word of it is inside the link.
    fn is_empty(&self) -> bool {
        self.to_router.is_empty() && self.own.is_empty() && self.from_router.is_empty()
    }
}

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    classes: [Class; 2],
    number: u32,
    /// Words that came out of the link, [sent, received], by class.
    done: [[u64; 2]; 2],
    /// The cycles in which the last word was sent, and the last one received.
    at: [u64; 2],
}

impl<'a, U: Ports<In = In, Out = Out>> Bench<'a, U> {
    fn new(case: &Case, start: &str, gaps: Gaps, probe: &'a Probe) -> Result<Self, String> {
        let pacer = |pauses, name: &str, c| Pacer::new(pauses, case.rng(&format!("{name} {c}")));
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            classes: CLASSES.map(|c| Class {
                source: Source::new([], pacer(gaps.at_source(), "source", c)),
                sink: Sink::new(pacer(gaps.at_sink(), "sink", c)),
                far: Source::new([], pacer(gaps.at_source(), "far", c)),
                to_router: Due::new(),
                own: Due::new(),
                from_router: Due::new(),
                taken: 0,
                gives: pacer(gaps.at_sink(), "router", c),
                room: PLACES,
                untold: 0,
                within: None,
                previous: None,
                passed: 0,
            }),
            number: 0,
            done: [[0; 2]; 2],
            at: [0; 2],
        };
        bench.reset()?;
        Ok(bench)
    }

    fn reset(&mut self) -> Result<(), String> {
        for _ in 0..2 {
            self.rig.step(&In::default(), true)?;
        }
        for class in &mut self.classes {
            class.source.reset();
            class.source.stop();
            class.far.reset();
            class.far.stop();
            class.sink.reset();
            (class.taken, class.room, class.untold, class.passed) = (0, PLACES, 0, 0);
            (class.within, class.previous) = (None, None);
            for due in [&mut class.to_router, &mut class.own, &mut class.from_router] {
                due.clear();
            }
        }
        Ok(())
    }

    /// Words no other message has, with this mark.
    fn message(&mut self, words: u64, mark: u32) -> Vec<Word> {
        let word = |i| {
            self.number += 1;
            Word {
                data: self.number | mark,
                last: i + 1 == words,
            }
        };
        (0..words).map(word).collect()
    }

    fn send(&mut self, c: usize, words: u64, local: bool) {
        for word in self.message(words, 0) {
            self.classes[c].source.push((word, local));
        }
    }

    fn come(&mut self, c: usize, words: u64) {
        for word in self.message(words, FAR) {
            self.classes[c].far.push(word);
        }
    }

    fn is_done(&self) -> bool {
        self.classes.iter().all(|class| {
            let outside = class.source.is_empty() && class.far.is_empty();
            outside && class.is_empty() && class.taken == 0 && class.room == PLACES
        })
    }

    /// A word that went to the router.
    fn sent(&mut self, now: u64, vc: u8, word: Word) -> Result<(), String> {
        let c = usize::from(vc >> 1);
        let due = self.classes[c].to_router.pop_front();
        holds(
            Rule::Words,
            vc & 1 == 0 && due.is_some_and(|(due, _)| due == word),
            || format!("cycle {now}: {word:x?} on channel {vc}, not {due:x?}"),
        )?;
        self.classes[c].taken += 1;
        holds(Rule::Places, self.classes[c].taken <= PLACES, || {
            format!("cycle {now}: class {c}, a fifth word at the router")
        })?;
        self.classes[c].passed = 0;
        let other = &mut self.classes[1 - c];
        // There since long, with a place since long.
        let waits = other.to_router.front().is_some_and(|&(_, since)| since + 4 < now) && other.taken < PLACES - 1;
        other.passed = if waits { other.passed + 1 } else { 0 };
        holds(Rule::Turns, other.passed < 3, || {
            format!("cycle {now}: class {c} again")
        })?;
        (self.done[0][c], self.at[0]) = (self.done[0][c] + 1, now);
        Ok(())
    }

    /// A word that a receiver took.
    fn received(&mut self, now: u64, c: usize, word: Word) -> Result<(), String> {
        let class = &mut self.classes[c];
        let own = word.data & FAR == 0;
        holds(Rule::Whole, class.within.is_none_or(|within| within == own), || {
            format!("cycle {now}: class {c}: {word:x?} within another message")
        })?;
        let due = if own {
            class.own.pop_front()
        } else {
            class.from_router.pop_front()
        };
        holds(Rule::Words, due.is_some_and(|(due, _)| due == word), || {
            format!("cycle {now}: class {c}: {word:x?}, not {due:x?}")
        })?;
        class.untold += usize::from(!own);
        class.within = (!word.last).then_some(own);
        class.previous = Some(own);
        (self.done[1][c], self.at[1]) = (self.done[1][c] + 1, now);
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let mut inputs = In::default();
        for (c, class) in self.classes.iter_mut().enumerate() {
            inputs.out[c] = class.source.offer().copied();
            inputs.ready[c] = class.sink.ready();
            let gives = class.taken > 0 && class.gives.step();
            inputs.credit |= u8::from(gives) << (2 * c);
            class.taken -= usize::from(gives);
        }
        // The router's wire is one: classes in turn.
        for c in [now as usize & 1, 1 - (now as usize & 1)] {
            let class = &mut self.classes[c];
            class.far.offer();
            let goes = inputs.came.is_none() && class.room > 0;
            if let Some(word) = class.far.step(goes) {
                inputs.came = Some((2 * c as u8, word));
                class.room -= 1;
            }
        }
        let seen = self.rig.step(&inputs, false)?;
        let empty = self.classes.iter().all(Class::is_empty);
        holds(Rule::Rest, seen.busy || empty, || {
            format!("cycle {now}: not busy, with words inside")
        })?;
        if let Some((vc, word)) = seen.sent {
            self.sent(now, vc, word)?;
        }
        for c in CLASSES {
            let class = &mut self.classes[c];
            let told = usize::from(seen.credit >> (2 * c) & 1);
            holds(Rule::Places, seen.credit & 0xa == 0 && told == class.untold, || {
                format!("cycle {now}: class {c}: {told} places told, not {}", class.untold)
            })?;
            class.untold = 0;
            class.room += told;
            if let (Some(word), None) = (seen.offered[c], class.within) {
                let own = word.data & FAR == 0;
                let other = if own { &class.from_router } else { &class.own };
                let waits = other.front().is_some_and(|&(_, since)| since + 2 < now);
                let fresh = class.previous == Some(own) && waits;
                // It was the other's turn, unless this one was on show before that came.
                let shown = if own { &class.own } else { &class.from_router };
                let first = shown.front().map(|&(_, since)| since) < other.front().map(|&(_, since)| since);
                holds(Rule::Turns, !fresh || first, || {
                    format!("cycle {now}: class {c}: another message of the same side: {word:x?}")
                })?;
            }
            let taken = class.sink.step(seen.offered[c]);
            if let Some(word) = taken.map_err(|e| format!("{:?}: cycle {now}: {e}", Rule::Protocol))? {
                self.received(now, c, word)?;
            }
            let class = &mut self.classes[c];
            if let Some((word, local)) = class.source.step(seen.ready[c]) {
                let due = if local { &mut class.own } else { &mut class.to_router };
                due.push_back((word, now));
            }
        }
        if let Some((vc, word)) = inputs.came {
            self.classes[usize::from(vc >> 1)].from_router.push_back((word, now));
        }
        Ok(())
    }

    fn run(&mut self, cycles: u64) -> Result<(), String> {
        for _ in 0..cycles {
            self.cycle()?;
        }
        Ok(())
    }

    /// Until all has come.
    fn finish(&mut self) -> Result<(), String> {
        let limit = self.rig.cycle + 40_000;
        while !self.is_done() {
            self.cycle()?;
            holds(Rule::Goes, self.rig.cycle < limit, || {
                format!("not all has come after {limit} cycles")
            })?;
        }
        self.run(4)?;
        holds(Rule::Rest, !self.rig.seen().busy, || "busy at rest".into())
    }
}

/// Messages of both classes to the own cell and to others, and from others, with a reset among them.
fn follows<U: Ports<In = In, Out = Out>>(case: &Case, start: &str, gaps: Gaps, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, start, gaps, probe)?;
    let mut rng = case.rng("messages");
    let words = |rng: &mut Rng| {
        if rng.chance(1, 4) {
            rng.between(1, 60)
        } else {
            rng.between(1, 6)
        }
    };
    for is_cut in [true, false] {
        for _ in 0..200 {
            let (c, words) = (rng.below(2) as usize, words(&mut rng));
            match rng.below(3) {
                0 => bench.send(c, words, true),
                1 => bench.send(c, words, false),
                _ => bench.come(c, words),
            }
        }
        if is_cut {
            bench.run(300)?;
            bench.reset()?;
        }
    }
    bench.finish()
}

/// The cycles from out to the router, from the router in, and from out to in; then a word per cycle on each way, of one class and of both.
fn rate<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    const WORDS: u64 = 100;
    for c in CLASSES {
        // The way, the cycles it takes, and which end it comes out of.
        for (way, late, end) in [("out", 2, 0), ("in", 1, 1), ("own", 1, 1)] {
            for words in [1, WORDS] {
                let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe)?;
                match way {
                    "in" => bench.come(c, words),
                    way => bench.send(c, words, way == "own"),
                }
                let start = bench.rig.cycle;
                bench.finish()?;
                let took = bench.at[end] - start;
                holds(Rule::Rate, took == late + words - 1, || {
                    format!("class {c}, {way}: the last of {words} words came after {took} cycles")
                })?;
            }
        }
    }
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe)?;
    let start = bench.rig.cycle;
    for c in CLASSES {
        bench.send(c, WORDS, false);
        bench.come(c, WORDS);
    }
    bench.finish()?;
    let took = bench.at.map(|at| at - start);
    holds(Rule::Rate, took.iter().all(|&took| took <= 2 * WORDS + 4), || {
        format!("{WORDS} words of each class each way took {took:?} cycles")
    })
}

/// Of one class the router gives no places back, and its receiver takes nothing: the other goes on.
fn waits<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    const WORDS: u64 = 50;
    for blocked in CLASSES {
        let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe)?;
        bench.classes[blocked].gives = Pacer::stopped();
        bench.classes[blocked].sink = Sink::new(Pacer::stopped());
        bench.send(blocked, WORDS, false);
        bench.come(blocked, WORDS);
        bench.run(40)?;
        bench.send(1 - blocked, WORDS, false);
        bench.send(1 - blocked, WORDS, true);
        bench.come(1 - blocked, WORDS);
        bench.run(8 * WORDS)?;
        let [sent, received] = bench.done.map(|done| done[1 - blocked]);
        holds(Rule::Goes, (sent, received) == (WORDS, 2 * WORDS), || {
            format!("class {blocked} is stopped: of the other {sent} words sent, {received} received")
        })?;
        bench.classes[blocked].gives = Pacer::steady();
        bench.classes[blocked].sink = Sink::new(Pacer::steady());
        bench.finish()?;
    }
    Ok(())
}

#[test]
fn each_word_comes_where_it_is_to() {
    for start in STARTS {
        for gaps in Gaps::ALL {
            let case = Case::new(
                "ap1000p",
                "link::each_word_comes_where_it_is_to",
                format!("{start}, {gaps:?}"),
            );
            case.run(|probe| follows::<Ap1000pLink>(&case, start, gaps, probe));
        }
    }
}

#[test]
fn a_word_per_cycle() {
    let case = Case::new("ap1000p", "link::a_word_per_cycle", "");
    case.run(|probe| rate::<Ap1000pLink>(&case, probe));
}

#[test]
fn a_class_that_cannot_go_does_not_stop_the_other() {
    let case = Case::new("ap1000p", "link::a_class_that_cannot_go_does_not_stop_the_other", "");
    case.run(|probe| waits::<Ap1000pLink>(&case, probe));
}

/// A word without a place and one on lane 1 are lost, and the unit's own assertions say so.
#[test]
fn misuse_is_reported() {
    let case = Case::new("ap1000p", "link::misuse_is_reported", "");
    for vc in [0, 1] {
        fails(|| {
            let probe = Probe::default();
            let mut bench =
                Bench::<Ap1000pLinkMisused>::new(&case, STARTS[0], Gaps::None, &probe).expect("it is reset");
            let came = Some((vc, Word { data: 1, last: false }));
            for _ in 0..=PLACES {
                let inputs = In { came, ..In::default() };
                bench.rig.step(&inputs, false).expect("nothing is checked");
            }
        });
    }
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let case = |what: String| Case::new("ap1000p", "link::each_twin_is_caught", what);
    let probe = Probe::default();
    let mut found = vec![
        waits::<U>(&case("waits".into()), &probe),
        rate::<U>(&case("rate".into()), &probe),
    ];
    for gaps in [Gaps::None, Gaps::Sink, Gaps::Both] {
        found.push(follows::<U>(&case(format!("{gaps:?}")), STARTS[0], gaps, &probe));
    }
    found
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Words", &checks::<TwinLinkTwice>),
        ("Words", &checks::<TwinLinkLane>),
        ("Whole", &checks::<TwinLinkMixed>),
        ("Places", &checks::<TwinLinkRoom>),
        ("Places", &checks::<TwinLinkCredit>),
        ("Turns", &checks::<TwinLinkClasses>),
        ("Turns", &checks::<TwinLinkOwn>),
        ("Goes", &checks::<TwinLinkWaits>),
        ("Rate", &checks::<TwinLinkSlow>),
        ("Protocol", &checks::<TwinLinkWithdraws>),
        ("Rest", &checks::<TwinLinkRest>),
        ("Path", &checks::<TwinLinkPath>),
    ];
    each_is_caught(&RULES, twins);
}
