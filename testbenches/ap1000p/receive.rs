//! The receive controllers against their model: messages of all kinds, whole and broken.

mod bench;
mod ring;

use std::cell::RefCell;
use tsunagi::net::torus::Class;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::golden::receive::Why;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;

use self::bench::{Bench, OWN, RULES, Receive, Rule};
use self::ring::NO_RING;
use crate::pages::{ABSENT, FLAGS, MEM_BITS, PAGES};
use crate::rig::{Twin, each_is_caught, fails};
use crate::{SLOW, STARTS, holds};

/// The first two words.
fn head(class: Class, kind: u32, rng: &mut Rng) -> Vec<u32> {
    let reply = if class == Class::Reply {
        MESSAGE_ROUTE_REPLY_MASK
    } else {
        0
    };
    let from = rng.bits() as u32 & (MESSAGE_WHAT_X_MASK | MESSAGE_WHAT_Y_MASK);
    vec![
        reply | u32::from(OWN[1]) << MESSAGE_ROUTE_Y_SHIFT | u32::from(OWN[0]),
        kind << MESSAGE_WHAT_KIND_SHIFT | from,
    ]
}

fn some_of(rng: &mut Rng, bits: u32) -> u32 {
    rng.bits() as u32 & bits
}

fn context(rng: &mut Rng) -> u32 {
    [0x001, 0x5a3][rng.below(2) as usize] << COMMAND_LENGTH_CONTEXT_SHIFT
}

fn flag(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => 0,
        1 => 7 << 12,
        2 => FLAGS << 12 | 2,
        _ => (FLAGS + rng.below(3) as u32) << 12 | (rng.below(4) as u32 * 4),
    }
}

/// A length, a place for so many words, and a stride. What is written is not where flags are.
fn data(rng: &mut Rng, most: u64) -> [u32; 3] {
    loop {
        let words = match rng.below(6) {
            0 => 0,
            1 => 1,
            2 => rng.below(most) as u32,
            _ => rng.below(20) as u32,
        };
        let stride = match rng.below(3) {
            0 => 0,
            1 => (rng.bits() as u32) << 24 & 0xff00_0000,
            _ => {
                let gap = (rng.below(80) as i32 - 40) as u32 & 0xff_ffff;
                (rng.below(12) as u32) << 24 | gap
            }
        };
        let odd = u32::from(rng.chance(1, 40));
        // Near the end of a page as often as not.
        let page = (rng.below(FLAGS.into()) as u32) << 12;
        let at = if rng.chance(1, 2) {
            0xfc0
        } else {
            rng.below(0x400) as u32 * 4
        };
        let dest = page | at | odd;
        let mut pages = places(dest, stride, words).map(|addr| addr >> 12);
        if pages.all(|page| !(FLAGS..PAGES).contains(&page)) {
            return [words, dest, stride];
        }
    }
}

fn words(rng: &mut Rng, count: u32) -> Vec<u32> {
    (0..count).map(|_| rng.bits() as u32).collect()
}

/// A message of this class that is whole.
fn whole(rng: &mut Rng, class: Class, most: u64) -> Vec<u32> {
    let system = some_of(rng, PAGE_SYSTEM_MASK);
    let size = some_of(rng, PAGE_SIZE_MASK);
    let sized = 1 << (size >> PAGE_SIZE_SHIFT);
    let double = u32::from(sized == 8);
    let spaces = if rng.chance(1, 6) { PAGE_AS_RECEIVE_MASK } else { 0 } | some_of(rng, PAGE_AS_SEND_MASK);
    // Of a remote access; mostly one that can be.
    let registers = rng.chance(1, 6);
    let access = match (registers, rng.below(12)) {
        (false, 0) => rng.bits() as u32,
        (false, _) => (rng.below(1 << MEM_BITS) as u32) / sized * sized,
        (true, 0) => rng.below(1024) as u32,
        (true, _) => rng.below(12) as u32 * 4,
    };
    let as_word = if registers && !rng.chance(1, 8) {
        2 << PAGE_SIZE_SHIFT
    } else {
        size
    };
    let as_register = if registers {
        PAGE_AS_RECEIVE_MASK | as_word
    } else {
        size
    };
    let doubled = if registers {
        u32::from(as_word == PAGE_SIZE_MASK)
    } else {
        double
    };
    let kind = rng.below(if class == Class::Request { 8 } else { 5 });
    let (kind, rest) = match (class, kind) {
        (Class::Request, 0..=2) | (Class::Reply, 0 | 1) => {
            let kind = match class {
                Class::Request => KIND_PUT | some_of(rng, PAGE_ROW_MASK | PAGE_COLUMN_MASK),
                Class::Reply => PAGE_DIRECT_MASK | MADE_GET_REPLY,
            };
            let [mut length, mut dest, stride] = data(rng, most);
            if spaces & PAGE_AS_RECEIVE_MASK != 0 {
                length = length.min(6);
                dest = if rng.chance(1, 8) {
                    4 * 126 + rng.below(12) as u32
                } else {
                    4 * rng.below(40) as u32
                };
            }
            let rest = [vec![context(rng) | length, dest, stride, flag(rng)], words(rng, length)].concat();
            (kind | spaces, rest)
        }
        (Class::Request, 3) => {
            let rest = [vec![context(rng) | rng.below(1 << 20) as u32], words(rng, 6)].concat();
            (KIND_GET | spaces, rest)
        }
        (Class::Request, 4) => {
            let kind = if rng.chance(1, 2) { KIND_CSI } else { KIND_FOP };
            let addr = (rng.below(PAGES.into()) as u32) << 12 | (rng.below(4) as u32 * 4);
            let few = |rng: &mut Rng| {
                if rng.chance(1, 2) {
                    rng.below(2) as u32
                } else {
                    rng.bits() as u32
                }
            };
            let rest = [
                context(rng) | rng.below(3) as u32,
                flag(rng),
                0,
                flag(rng),
                addr,
                few(rng),
                few(rng),
            ];
            (kind, rest.to_vec())
        }
        (Class::Request, 5) => (PAGE_DIRECT_MASK | MADE_LOAD | as_register, vec![access]),
        (Class::Request, 6) => (
            PAGE_DIRECT_MASK | MADE_STORE | as_register,
            [vec![access], words(rng, 1 + doubled)].concat(),
        ),
        (Class::Request, _) => {
            let length = rng.below(20) as u32;
            let of = match rng.below(8) {
                0 => NO_RING << COMMAND_LENGTH_CONTEXT_SHIFT,
                _ => context(rng),
            };
            let rest = [vec![of | length, flag(rng)], words(rng, 2 + length)].concat();
            (KIND_PUT | PAGE_SEND_MASK | some_of(rng, PAGE_AS_SEND_MASK), rest)
        }
        (Class::Reply, 2) => {
            let [_, dest, _] = data(rng, most);
            let rest = vec![context(rng) | 1, dest, 0, flag(rng), rng.bits() as u32];
            (PAGE_DIRECT_MASK | MADE_ATOMIC_REPLY, rest)
        }
        (Class::Reply, 3) => {
            let count = if rng.chance(1, 4) { 0 } else { 1 + double };
            (PAGE_DIRECT_MASK | MADE_LOAD_REPLY | size, words(rng, count))
        }
        (Class::Reply, _) => (PAGE_DIRECT_MASK | MADE_STORE_ACK | size, vec![]),
    };
    [head(class, kind | system, rng), rest].concat()
}

/// One that is not.
fn broken(rng: &mut Rng, class: Class) -> Vec<u32> {
    let mut message = whole(rng, class, 40);
    match rng.below(7) {
        0 => message.truncate(1 + rng.below(message.len() as u64) as usize),
        1 => {
            message.pop();
        }
        2 => {
            let more = 1 + rng.below(12) as u32;
            message.extend(words(rng, more));
        }
        3 => message[0] ^= MESSAGE_ROUTE_REPLY_MASK,
        // A bit of the page code is another.
        4 => message[1] ^= 1 << (MESSAGE_WHAT_KIND_SHIFT as u64 + rng.below(16)),
        // Longer than there are words, and than a ring has room.
        5 if message.len() > 2 => message[2] |= 0x1_0000,
        _ => message[1] = rng.bits() as u32,
    }
    if message.is_empty() {
        message.push(0);
    }
    // As it is now, it may write where flags are.
    let Some(&[head, dest, stride]) = message.get(2..5) else {
        return message;
    };
    let length = head & COMMAND_LENGTH_WORDS_MASK;
    let hits =
        places(dest, stride, length.min(message.len() as u32)).any(|addr| (FLAGS..PAGES).contains(&(addr >> 12)));
    if hits { vec![message[0]] } else { message }
}

/// Random messages, broken ones among them; faults retried and given up, bus errors; a reset. What was wrong with the broken ones.
fn follows<U: Receive>(case: &Case, start: &str, gaps: Gaps, count: usize, probe: &Probe) -> Result<Vec<Why>, String> {
    let timing = if gaps.at_sink() { SLOW } else { MemoryTiming::IDEAL };
    let mut bench = Bench::<U>::new(case, start, gaps, timing, probe)?;
    let mut rng = case.rng("messages");
    let mut whys = Vec::new();
    if U::CLASS == Class::Request {
        let (rings, shelf) = ring::some();
        bench.set_rings(rings, &shelf);
    }
    for round in 0..3 {
        if U::CLASS == Class::Request {
            whys.extend(bench.send(&ring::too_long(&mut rng)));
        }
        for _ in 0..count {
            let message = if rng.chance(1, 5) {
                broken(&mut rng, U::CLASS)
            } else {
                whole(&mut rng, U::CLASS, 300)
            };
            whys.extend(bench.send(&message));
        }
        if round == 1 {
            for _ in 0..rng.between(200, 1500) {
                bench.cycle()?;
            }
            bench.reset()?;
        }
        bench.finish()?;
    }
    let served = bench.software.retries > 0 && bench.software.aborts > 0;
    assert!(served, "the messages make no faults: the check sees nothing");
    Ok(whys)
}

/// Data with strides and nothing else, so that only their places tell.
fn quiet<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    for _ in 0..60 {
        let [length, dest, stride] = data(&mut rng, 600);
        let words = words(&mut rng, length);
        bench.send(&put(U::CLASS, [1 << 20 | length, dest, stride, 0], &words, &mut rng));
    }
    bench.finish()
}

/// A message with data.
fn put(class: Class, rest: [u32; 4], words: &[u32], rng: &mut Rng) -> Vec<u32> {
    let kind = match class {
        Class::Request => KIND_PUT,
        Class::Reply => PAGE_DIRECT_MASK | MADE_GET_REPLY,
    };
    [&head(class, kind, rng), &rest[..], words].concat()
}

/// Messages of data back to back, each with a flag: a word per cycle.
fn rate<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    // Words, stride: the machine's smallest useful message; one that is long; items of two words.
    for (count, length, stride) in [(30, 8, 0), (3, 1000, 0), (4, 60, 2 << 24 | 1)] {
        let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
        for i in 0..count {
            let dest = 0x40 * i;
            let words = words(&mut rng, length);
            bench.send(&put(
                U::CLASS,
                [1 << 20 | length, dest, stride, FLAGS << 12],
                &words,
                &mut rng,
            ));
        }
        bench.finish()?;
        let (first, last) = (bench.taken[0], bench.taken[bench.taken.len() - 1]);
        holds(Rule::Rate, last - first + 1 == bench.taken.len() as u64, || {
            format!(
                "{} words of {count} messages in {} cycles",
                bench.taken.len(),
                last - first + 1
            )
        })?;
    }
    Ok(())
}

/// What says that it is longer than it can be holds nobody up, and no word of another message takes its place.
fn forged_length<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    // Ends within its first item, at its end, and behind it.
    for came in [1, 2, 4, 5] {
        let forged = words(&mut rng, came);
        let rest = [1 << 20 | COMMAND_LENGTH_WORDS_MASK, 0x100, 4 << 24 | 1, FLAGS << 12];
        bench.send(&put(U::CLASS, rest, &forged, &mut rng));
        let next = words(&mut rng, 8);
        bench.send(&put(
            U::CLASS,
            [1 << 20 | 8, 0x1000, 0, FLAGS << 12 | 4],
            &next,
            &mut rng,
        ));
    }
    bench.finish()?;
    holds(Rule::Rate, bench.rig.cycle < 200, || {
        format!("eight short messages take {} cycles", bench.rig.cycle)
    })
}

/// What says that it goes on in a page that is not there, which is given up while words of the page before still come, and then ends in that one: the words
/// that are thrown away are its own.
fn given_up<U: Receive>(case: &Case, gaps: Gaps, probe: &Probe) -> Result<(), String> {
    /// Words up to the end of the page before [`ABSENT`].
    const BEFORE: u32 = 64;
    let mut rng = case.rng("data");
    let mut bench = Bench::<U>::new(case, STARTS[0], gaps, MemoryTiming::IDEAL, probe)?;
    for came in (1..=BEFORE + 1).chain([100]) {
        let forged = words(&mut rng, came);
        let dest = (ABSENT << 12) - 4 * BEFORE;
        bench.send(&put(
            U::CLASS,
            [1 << 20 | 2000, dest, 0, FLAGS << 12],
            &forged,
            &mut rng,
        ));
        let next = words(&mut rng, 8);
        let rest = [1 << 20 | 8, 0x1000 + 0x20 * came, 0, FLAGS << 12 | 4];
        bench.send(&put(U::CLASS, rest, &next, &mut rng));
    }
    bench.finish()?;
    assert!(bench.software.aborts > 0, "nothing is given up: the check sees nothing");
    Ok(())
}

/// With a pause at the end a lookup is on show for longer than the words come.
const GIVEN_UP: [Gaps; 2] = [Gaps::Source, Gaps::Both];

fn checks<U: Receive>() -> Vec<Result<(), String>> {
    let case = |what: &str| Case::new("ap1000p", "receive::each_twin_is_caught", what);
    let probe = Probe::default();
    let mut found: Vec<_> = Gaps::ALL
        .into_iter()
        .map(|gaps| follows::<U>(&case(&format!("{gaps:?}")), STARTS[0], gaps, 300, &probe).map(drop))
        .collect();
    found.push(rate::<U>(&case("rate"), &probe));
    found.push(forged_length::<U>(&case("forged length"), &probe));
    found
}

fn check_quiet<U: Receive>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "receive::each_twin_is_caught", "quiet");
    vec![quiet::<U>(&case, &Probe::default())]
}

fn check_forged<U: Receive>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "receive::each_twin_is_caught", "forged length");
    vec![forged_length::<U>(&case, &Probe::default())]
}

fn check_given_up<U: Receive>() -> Vec<Result<(), String>> {
    let run = |gaps| {
        let case = Case::new("ap1000p", "receive::each_twin_is_caught", format!("given up {gaps:?}"));
        given_up::<U>(&case, gaps, &Probe::default())
    };
    GIVEN_UP.map(run).into()
}

fn every_way<U: Receive>(test: &'static str) {
    let whys = RefCell::new(Vec::new());
    for gaps in Gaps::ALL {
        for start in STARTS {
            let case = Case::new("ap1000p", test, format!("{gaps:?} {start}"));
            let run = |probe: &Probe| follows::<U>(&case, start, gaps, 300, probe);
            case.run(|probe| run(probe).map(|broken_by| whys.borrow_mut().extend(broken_by)));
        }
    }
    let shown = Why::ALL.into_iter().filter(|why| !whys.borrow().contains(why));
    let missing: Vec<Why> = shown
        .filter(|why| U::CLASS == Class::Request || !matches!(why, Why::Ring | Why::RingSize))
        .collect();
    assert!(
        missing.is_empty(),
        "no message is broken by {missing:?}: the check sees nothing"
    );
    let case = |what: &str| Case::new("ap1000p", test, what);
    let rates = case("rate");
    rates.run(|probe| rate::<U>(&rates, probe));
    let forged = case("forged length");
    forged.run(|probe| forged_length::<U>(&forged, probe));
    for gaps in GIVEN_UP {
        let gone = case(&format!("given up {gaps:?}"));
        gone.run(|probe| given_up::<U>(&gone, gaps, probe));
    }
    let data = case("quiet");
    data.run(|probe| quiet::<U>(&data, probe));
}

#[test]
fn requests_follow_the_model() {
    every_way::<Ap1000pReceive>("receive::requests_follow_the_model");
}

#[test]
fn replies_follow_the_model() {
    every_way::<Ap1000pReceiveReplies>("receive::replies_follow_the_model");
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        // Strides are ignored: what is written elsewhere meets other errors of the memory.
        ("Memory|Broken", &check_quiet::<TwinReceiveStride>),
        // A GET's answer does not wait for flags.
        ("Early", &checks::<TwinReceiveIdle>),
        // A broken message counts.
        ("Word", &check_forged::<TwinReceiveCounts>),
        // Every flag is the system's.
        ("Word", &checks::<TwinReceiveSystem>),
        // The same register for all words.
        ("Register", &checks::<TwinReceiveRegister>),
        // Answers go to the sender's place, not to its distance.
        ("Answer", &checks::<TwinReceiveDistance>),
        // A load that failed brings data.
        ("Answer", &checks::<TwinReceiveFailed>),
        ("Pause", &checks::<TwinReceivePause>),
        // Two words of a load, and both are the last.
        ("Reply", &checks::<TwinReceiveLoad>),
        ("Broken", &checks::<TwinReceiveCount>),
        // The kind and sender of the message before.
        ("Broken", &checks::<TwinReceiveStale>),
        // A message that is broken stays in the ring.
        ("Ring", &ring::check_short::<TwinRingBroken>),
        // For ever.
        ("Ring", &ring::checks::<TwinRingBusy>),
        // From when the message has its place on.
        ("Ring", &ring::check_off::<TwinRingLate>),
        // Behind the end of the smallest ring comes what lies behind it: here no memory.
        ("Broken", &ring::check_wraps::<TwinRingWrap>),
        // A full ring is taken for an empty one, and what has no room has a place.
        ("Fault|Ring", &ring::checks::<TwinRingRoom>),
        // Which ring is full is not told.
        ("Fault", &ring::checks::<TwinRingSet>),
        ("Fault", &checks::<TwinReceiveFault>),
        ("Rate", &checks::<TwinReceiveBubble>),
        ("Protocol", &checks::<TwinReceiveWithdraws>),
        ("Protocol", &check_given_up::<TwinReceiveTakesBack>),
        ("Path", &checks::<TwinReceivePath>),
        // Of a page that is given up early the words of the next message are thrown away.
        ("Early", &check_given_up::<TwinReceiveTakes>),
        // Waits for words that do not come.
        ("Hang", &checks::<TwinReceiveWaits>),
        ("Rest", &checks::<TwinReceiveRest>),
    ];
    each_is_caught(&RULES, twins);
}

/// C7: that a flag counts before the last word is in memory is found by the RTL's own assertion.
#[test]
fn c7_an_early_flag_is_asserted() {
    let found = fails(checks::<TwinReceiveHasty>);
    assert!(found.contains("ap1000p_store.sv"), "{found}");
}
