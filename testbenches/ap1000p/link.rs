//! The link: each word leaves once, in order and in time. The bench is a router of four places and both receivers.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, assertion, each_is_caught, pass, rules};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// Each word of a class leaves where it must, once and in order.
    Words
    /// A receiver gets whole messages.
    Whole
    /// The router has a place for each word that is sent, and gets a credit for each place that became free.
    Places
    /// Classes take turns on the way out. Network and own cell take turns on the way in.
    Turns
    /// A class that cannot go does not stop the other.
    Goes
    /// A word per cycle, in the stated cycles.
    Rate
    /// An offer holds until it is taken.
    Protocol
    /// `busy_o` is high with a word inside, and low when all is done.
    Rest
    /// No output follows an input within the cycle.
    Path
);

/// Words of each channel, at either end.
const PLACES: usize = 4;
const CLASSES: [usize; 2] = [0, 1];
/// A bit of the words from the network.
const FAR: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    data: u32,
    last: bool,
}

/// On the ports without a word.
const JUNK: Word = Word {
    data: 0xdead_beef,
    last: true,
};

#[derive(Clone, Copy, Debug, Default)]
struct In {
    /// For each class a word of the own cell, and whether it stays there.
    out: [Option<(Word, bool)>; 2],
    ready: [bool; 2],
    credit: u8,
    /// Channel and word.
    came: Option<(u8, Word)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ready: [bool; 2],
    offered: [Option<Word>; 2],
    sent: Option<(u8, Word)>,
    credit: u8,
    busy: bool,
}

fn set(dut: &impl Ap1000pLinkPorts, inputs: &In) {
    for (c, out) in inputs.out.iter().enumerate() {
        let (word, local) = out.unwrap_or((JUNK, true));
        dut.out_valid_i().set_bits(c, 1, out.is_some().into());
        dut.out_local_i().set_bits(c, 1, local.into());
        dut.out_last_i().set_bits(c, 1, word.last.into());
        dut.out_data_i().set_bits(32 * c, 32, word.data.into());
        dut.in_ready_i().set_bits(c, 1, inputs.ready[c].into());
    }
    dut.tx_credit_i().set(inputs.credit.into());
    let (vc, word) = inputs.came.unwrap_or((0, JUNK));
    dut.rx_valid_i().set_bool(inputs.came.is_some());
    dut.rx_vc_i().set(vc.into());
    dut.rx_data_i().set(word.data.into());
    dut.rx_last_i().set_bool(word.last);
}

fn seen(dut: &impl Ap1000pLinkPorts) -> Out {
    let offered = |c| Word {
        data: dut.in_data_o().get_bits(32 * c, 32) as u32,
        last: dut.in_last_o().bit(c),
    };
    let sent = || Word {
        data: dut.tx_data_o().get() as u32,
        last: dut.tx_last_o().is_set(),
    };
    let tx = dut.tx_valid_o().is_set();
    Out {
        ready: CLASSES.map(|c| dut.out_ready_o().bit(c)),
        offered: CLASSES.map(|c| dut.in_valid_o().bit(c).then(|| offered(c))),
        sent: tx.then(|| (dut.tx_vc_o().get() as u8, sent())),
        credit: dut.rx_credit_o().get() as u8,
        busy: dut.busy_o().is_set(),
    }
}

fn link<U: Ap1000pLinkUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Words inside the link, and the cycle in which each was taken.
type Due = VecDeque<(Word, u64)>;

/// One class: its parties and its words.
struct Class {
    source: Source<(Word, bool)>,
    sink: Sink<Word>,
    /// Whole messages of the network for this cell.
    far: Source<Word>,
    /// On the way to the router, from the own cell, and from the network.
    to_router: Due,
    own: Due,
    from_router: Due,
    /// Places taken at the router, and whether it returns one now.
    taken: usize,
    gives: Pacer,
    /// Free places of the link for words of the network, as the router counts them.
    room: usize,
    /// Words of the network that were taken without a credit yet.
    untold: usize,
    /// Whether the message under way to the receiver is of the own cell.
    within: Option<bool>,
    /// The same of the last message.
    previous: Option<bool>,
    /// Words of the other class that were sent while a word of this class could go.
    passed: u32,
}

impl Class {
    fn new(run: &Run, gaps: Gaps, c: usize) -> Class {
        let pacer = |pauses, name: &str| run.pacer(pauses, &format!("{name} {c}"));
        Class {
            source: Source::new([], pacer(gaps.at_source(), "source")),
            sink: Sink::new(pacer(gaps.at_sink(), "sink")),
            far: Source::new([], pacer(gaps.at_source(), "far")),
            to_router: Due::new(),
            own: Due::new(),
            from_router: Due::new(),
            taken: 0,
            gives: pacer(gaps.at_sink(), "router"),
            room: PLACES,
            untold: 0,
            within: None,
            previous: None,
            passed: 0,
        }
    }

    /// Whether no word of it is inside the link.
    fn is_empty(&self) -> bool {
        self.to_router.is_empty() && self.own.is_empty() && self.from_router.is_empty()
    }

    fn is_done(&self) -> bool {
        let outside = self.source.is_empty() && self.far.is_empty();
        outside && self.is_empty() && self.taken == 0 && self.room == PLACES
    }

    fn reset(&mut self) {
        self.source.reset();
        self.source.stop();
        self.far.reset();
        self.far.stop();
        self.sink.reset();
        (self.taken, self.room, self.untold, self.passed) = (0, PLACES, 0, 0);
        (self.within, self.previous) = (None, None);
        for due in [&mut self.to_router, &mut self.own, &mut self.from_router] {
            due.clear();
        }
    }

    /// Credits of the link: one for each word of the network that was taken in the cycle before.
    fn told(&mut self, told: usize) -> Result<(), Fault> {
        Rule::Places.holds(told == self.untold, || format!("{told} credits, not {}", self.untold))?;
        self.untold = 0;
        self.room += told;
        Ok(())
    }

    /// The first word of a message is offered to the receiver. The other side has the turn if its word has waited,
    /// unless this word was offered before that one came.
    fn offered(&self, now: u64, word: Word) -> Result<(), Fault> {
        let own = word.data & FAR == 0;
        let (this, other) = if own {
            (&self.own, &self.from_router)
        } else {
            (&self.from_router, &self.own)
        };
        let waits = other.front().is_some_and(|&(_, since)| since + 2 < now);
        let again = self.previous == Some(own) && waits;
        let since = |due: &Due| due.front().map(|&(_, since)| since);
        Rule::Turns.holds(!again || since(this) < since(other), || {
            format!("another message of the same side: {word:x?}")
        })
    }

    /// The receiver took a word.
    fn received(&mut self, word: Word) -> Result<(), Fault> {
        let own = word.data & FAR == 0;
        Rule::Whole.holds(self.within.is_none_or(|within| within == own), || {
            format!("{word:x?} within another message")
        })?;
        let due = if own {
            self.own.pop_front()
        } else {
            self.from_router.pop_front()
        };
        Rule::Words.holds(due.is_some_and(|(due, _)| due == word), || {
            format!("{word:x?}, not {due:x?}")
        })?;
        self.untold += usize::from(!own);
        self.within = (!word.last).then_some(own);
        self.previous = Some(own);
        Ok(())
    }
}

struct Bench<'a> {
    bench: testbenches::Bench<'a, In, Out>,
    classes: [Class; 2],
    number: u32,
    /// Words that left the link, [sent, received], by class.
    done: [[u64; 2]; 2],
    /// The cycles in which the last word was sent, and the last one received.
    at: [u64; 2],
}

impl<'a> Bench<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps) -> Result<Bench<'a>, Fault> {
        let mut bench = Bench {
            bench: testbenches::Bench::new(run, dut),
            classes: CLASSES.map(|c| Class::new(run, gaps, c)),
            number: 0,
            done: [[0; 2]; 2],
            at: [0; 2],
        };
        bench.reset()?;
        Ok(bench)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        // What goes in the cycle of the reset counts no more.
        let last = self.drive();
        for inputs in [last, In::default()] {
            self.bench.reset(&inputs)?;
            let credit = self.bench.seen().credit;
            Rule::Places.holds(credit == 0, || format!("credits {credit:#b} after a reset"))?;
        }
        self.classes.iter_mut().for_each(Class::reset);
        Ok(())
    }

    /// Words that differ from all others, with this mark.
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

    /// The inputs of the next cycle.
    fn drive(&mut self) -> In {
        let mut inputs = In::default();
        for (c, class) in self.classes.iter_mut().enumerate() {
            inputs.out[c] = class.source.offer().copied();
            inputs.ready[c] = class.sink.ready();
            let gives = class.taken > 0 && class.gives.step();
            inputs.credit |= u8::from(gives) << (2 * c);
            class.taken -= usize::from(gives);
        }
        // The router has one wire: classes take turns.
        let first = (self.bench.cycle() & 1) as usize;
        for c in [first, 1 - first] {
            let class = &mut self.classes[c];
            class.far.offer();
            let goes = inputs.came.is_none() && class.room > 0;
            if let Some(word) = class.far.step(goes) {
                inputs.came = Some((2 * c as u8, word));
                class.room -= 1;
            }
        }
        inputs
    }

    /// A word went to the router.
    fn sent(&mut self, now: u64, vc: u8, word: Word) -> Result<(), Fault> {
        let c = usize::from(vc >> 1);
        let due = self.classes[c].to_router.pop_front();
        Rule::Words.holds(vc & 1 == 0 && due.is_some_and(|(due, _)| due == word), || {
            format!("{word:x?} on channel {vc}, not {due:x?}")
        })?;
        self.classes[c].taken += 1;
        Rule::Places.holds(self.classes[c].taken <= PLACES, || {
            format!("class {c}, a fifth word at the router")
        })?;
        self.classes[c].passed = 0;
        let other = &mut self.classes[1 - c];
        // Its word has waited, and has had a place, for some cycles.
        let waits = other.to_router.front().is_some_and(|&(_, since)| since + 4 < now) && other.taken < PLACES - 1;
        other.passed = if waits { other.passed + 1 } else { 0 };
        Rule::Turns.holds(other.passed < 3, || format!("class {c} again"))?;
        (self.done[0][c], self.at[0]) = (self.done[0][c] + 1, now);
        Ok(())
    }

    fn class(&mut self, now: u64, c: usize, seen: &Out) -> Result<(), Fault> {
        let class = &mut self.classes[c];
        class.told(usize::from(seen.credit >> (2 * c) & 1))?;
        if let (Some(word), None) = (seen.offered[c], class.within) {
            class.offered(now, word)?;
        }
        if let Some(word) = class.sink.step(seen.offered[c])? {
            class.received(word)?;
            (self.done[1][c], self.at[1]) = (self.done[1][c] + 1, now);
        }
        if let Some((word, local)) = class.source.step(seen.ready[c]) {
            let due = if local { &mut class.own } else { &mut class.to_router };
            due.push_back((word, now));
        }
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let inputs = self.drive();
        let seen = self.bench.step(&inputs)?;
        let at = |fault: Fault| fault.at(now);
        let empty = self.classes.iter().all(Class::is_empty);
        let rest = Rule::Rest.holds(seen.busy || empty, || "not busy, with words inside".into());
        rest.map_err(at)?;
        if let Some((vc, word)) = seen.sent {
            self.sent(now, vc, word).map_err(at)?;
        }
        let lanes = Rule::Places.holds(seen.credit & 0xa == 0, || format!("credits {:#b}", seen.credit));
        lanes.map_err(at)?;
        for c in CLASSES {
            self.class(now, c, &seen).map_err(|Fault { rule, what }| {
                let what = format!("class {c}: {what}");
                at(Fault { rule, what })
            })?;
        }
        if let Some((vc, word)) = inputs.came {
            self.classes[usize::from(vc >> 1)].from_router.push_back((word, now));
        }
        Ok(())
    }

    fn run(&mut self, cycles: u64) -> Result<(), Fault> {
        (0..cycles).try_for_each(|_| self.cycle())
    }

    /// Until every word has left.
    fn finish(&mut self) -> Result<(), Fault> {
        let limit = self.bench.cycle() + 40_000;
        while !self.classes.iter().all(Class::is_done) {
            self.cycle()?;
            Rule::Goes.holds(self.bench.cycle() < limit, || {
                format!("words are left after {limit} cycles")
            })?;
        }
        self.run(4)?;
        Rule::Rest.holds(!self.bench.seen().busy, || "busy at rest".into())
    }
}

/// Messages of both classes to the own cell, to others and from others, with a reset among them.
fn follows(dut: &Dut<In, Out>, gaps: Gaps, cases: &mut Cases) {
    let words = |rng: &mut Rng| {
        let most = if rng.chance(1, 4) { 60 } else { 6 };
        rng.between(1, most)
    };
    cases.from_each(&Start::RANDOM, format!("{} {gaps:?}", dut.name), |run| {
        let mut bench = Bench::new(run, dut, gaps)?;
        let mut rng = run.rng("messages");
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
    });
}

/// The cycles from out to the router, from the router in, and from out to in; then a word per cycle on each way, of
/// one class and of both.
fn rate(dut: &Dut<In, Out>, cases: &mut Cases) {
    const WORDS: u64 = 100;
    cases.case(Start::Random1, format!("{} rate", dut.name), |run| {
        for c in CLASSES {
            // The way, its cycles, and the end at which its words leave.
            for (way, late, end) in [("out", 2, 0), ("in", 1, 1), ("own", 1, 1)] {
                for words in [1, WORDS] {
                    let mut bench = Bench::new(run, dut, Gaps::None)?;
                    match way {
                        "in" => bench.come(c, words),
                        way => bench.send(c, words, way == "own"),
                    }
                    let start = bench.bench.cycle();
                    bench.finish()?;
                    let took = bench.at[end] - start;
                    Rule::Rate.holds(took == late + words - 1, || {
                        format!("class {c}, {way}: the last of {words} words left after {took} cycles")
                    })?;
                }
            }
        }
        let mut bench = Bench::new(run, dut, Gaps::None)?;
        let start = bench.bench.cycle();
        for c in CLASSES {
            bench.send(c, WORDS, false);
            bench.come(c, WORDS);
        }
        bench.finish()?;
        let took = bench.at.map(|at| at - start);
        Rule::Rate.holds(took.iter().all(|&took| took <= 2 * WORDS + 4), || {
            format!("{WORDS} words of each class each way took {took:?} cycles")
        })
    });
}

/// The router returns no places of one class, and its receiver takes nothing: the other class goes on.
fn waits(dut: &Dut<In, Out>, cases: &mut Cases) {
    const WORDS: u64 = 50;
    cases.case(Start::Random1, format!("{} waits", dut.name), |run| {
        for blocked in CLASSES {
            let mut bench = Bench::new(run, dut, Gaps::None)?;
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
            Rule::Goes.holds((sent, received) == (WORDS, 2 * WORDS), || {
                format!("class {blocked} is stopped: the other sent {sent} words and received {received}")
            })?;
            bench.classes[blocked].gives = Pacer::steady();
            bench.classes[blocked].sink = Sink::new(Pacer::steady());
            bench.finish()?;
        }
        Ok(())
    });
}

/// All checks, as they find the twins.
fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    waits(dut, cases);
    rate(dut, cases);
    for gaps in [Gaps::None, Gaps::Sink, Gaps::Both] {
        follows(dut, gaps, cases);
    }
}

#[test]
fn each_word_leaves_where_it_must() {
    let link = link::<Ap1000pLink>();
    pass(this_test!(), |cases| {
        for gaps in Gaps::ALL {
            follows(&link, gaps, cases);
        }
    });
}

#[test]
fn a_word_per_cycle() {
    pass(this_test!(), |cases| rate(&link::<Ap1000pLink>(), cases));
}

#[test]
fn a_class_that_cannot_go_does_not_stop_the_other() {
    pass(this_test!(), |cases| waits(&link::<Ap1000pLink>(), cases));
}

/// A word without a place and a word on lane 1 are lost, and assertions of the unit say so.
#[test]
fn misuse_is_reported() {
    let link = link::<Ap1000pLinkMisused>();
    for vc in [0, 1] {
        assertion(this_test!(), |cases| {
            cases.case(Start::Random1, vc, |run| {
                let mut bench = Bench::new(run, &link, Gaps::None)?.bench;
                let came = Some((vc, Word { data: 1, last: false }));
                for _ in 0..=PLACES {
                    bench.through(&In { came, ..In::default() }, false);
                }
                Ok(())
            });
        });
    }
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The link takes a word for the own cell in a cycle in which it is not ready.
            (Words, &[], &|cases| checks(&link::<TwinLinkTwice>(), cases)),
            // Words of class 1 go on lane 1.
            (Words, &[], &|cases| checks(&link::<TwinLinkLane>(), cases)),
            // Any word may be followed by a message of the other side.
            (Whole, &[], &|cases| checks(&link::<TwinLinkMixed>(), cases)),
            // The link sends without a place at the router.
            (Places, &[], &|cases| checks(&link::<TwinLinkRoom>(), cases)),
            // The router gets credits for words of the own cell.
            (Places, &[], &|cases| checks(&link::<TwinLinkCredit>(), cases)),
            // A reset leaves a credit behind.
            (Places, &[], &|cases| checks(&link::<TwinLinkReset>(), cases)),
            // Class 0 always goes first.
            (Turns, &[], &|cases| checks(&link::<TwinLinkClasses>(), cases)),
            // The own cell always goes first.
            (Turns, &[], &|cases| checks(&link::<TwinLinkOwn>(), cases)),
            // With words of both classes, a class that cannot go stops the other.
            (Goes, &[], &|cases| checks(&link::<TwinLinkWaits>(), cases)),
            // A word goes to the router in every other cycle.
            (Rate, &[], &|cases| checks(&link::<TwinLinkSlow>(), cases)),
            // A word of the network is withdrawn while one place is left.
            (Protocol, &[], &|cases| checks(&link::<TwinLinkWithdraws>(), cases)),
            // `busy_o` is low with a word of the own cell inside.
            (Rest, &[], &|cases| checks(&link::<TwinLinkRest>(), cases)),
            // `out_ready_o` follows `out_valid_i`.
            (Path, &[], &|cases| checks(&link::<TwinLinkPath>(), cases)),
        ],
    );
}
