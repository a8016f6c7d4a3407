//! The receive controllers against their model: messages of all kinds, whole and broken.

mod env;
mod ports;
mod ring;

use std::cell::RefCell;
use std::collections::BTreeSet;

use support::{Test, this_test};
use testbenches::rtl::*;
use testbenches::{Cases, Fault, Rule as _, Run, Start, assertion, each_is_caught, pass};
use tsunagi::ap1000p::golden::address_runs::places;
use tsunagi::ap1000p::golden::receive::Why;
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;
use tsunagi::net::torus::Class;

use self::env::{Env, Rule};
use self::ports::{OWN, Unit, replies, requests};
use self::ring::NO_RING;
use crate::SLOW;
use crate::pages::{ABSENT, FLAGS, MEM_BITS, PAGES};

/// The first two words.
fn head(class: Class, kind: u32, rng: &mut Rng) -> Vec<u32> {
    let reply = match class {
        Class::Request => 0,
        Class::Reply => MESSAGE_ROUTE_REPLY_MASK,
    };
    let from = some_of(rng, MESSAGE_WHAT_X_MASK | MESSAGE_WHAT_Y_MASK);
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

/// Whether data go into a page for flags.
fn hits_flags(dest: u32, stride: u32, words: u32) -> bool {
    places(dest, stride, words).any(|addr| (FLAGS..PAGES).contains(&(addr >> 12)))
}

/// A length, a place for so many words, and a stride. No word goes into a page for flags.
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
        let page = (rng.below(FLAGS.into()) as u32) << 12;
        // Near the end of the page in half of the cases.
        let at = match rng.chance(1, 2) {
            true => 0xfc0,
            false => rng.below(0x400) as u32 * 4,
        };
        let dest = page | at | odd;
        if !hits_flags(dest, stride, words) {
            return [words, dest, stride];
        }
    }
}

fn words(rng: &mut Rng, count: u32) -> Vec<u32> {
    (0..count).map(|_| rng.bits() as u32).collect()
}

/// A page code and the words after it, for data in memory or in communication registers.
fn placed(rng: &mut Rng, kind: u32, most: u64) -> (u32, Vec<u32>) {
    let [mut length, mut dest, stride] = data(rng, most);
    let spaces = spaces(rng);
    if spaces & PAGE_AS_RECEIVE_MASK != 0 {
        length = length.min(6);
        dest = match rng.chance(1, 8) {
            // At the end of the registers.
            true => 4 * (126 + rng.below(3) as u32) + if rng.chance(1, 4) { rng.below(4) as u32 } else { 0 },
            false => 4 * rng.below(40) as u32,
        };
    }
    let first = vec![context(rng) | length, dest, stride, flag(rng)];
    (kind | spaces, [first, words(rng, length)].concat())
}

/// The bits of the address spaces: sometimes registers at the receiver.
fn spaces(rng: &mut Rng) -> u32 {
    let receive = if rng.chance(1, 6) { PAGE_AS_RECEIVE_MASK } else { 0 };
    receive | some_of(rng, PAGE_AS_SEND_MASK)
}

fn atomic(rng: &mut Rng) -> (u32, Vec<u32>) {
    let kind = if rng.chance(1, 2) { KIND_CSI } else { KIND_FOP };
    let addr = (rng.below(PAGES.into()) as u32) << 12 | (rng.below(4) as u32 * 4);
    let few = |rng: &mut Rng| match rng.chance(1, 2) {
        true => rng.below(2) as u32,
        false => rng.bits() as u32,
    };
    let length = context(rng) | rng.below(3) as u32;
    let flags = [flag(rng), 0, flag(rng)];
    (kind, [&[length], &flags[..], &[addr, few(rng), few(rng)]].concat())
}

/// The page code and the address of a remote access; mostly one that exists.
fn access(rng: &mut Rng) -> (u32, u32) {
    let size = some_of(rng, PAGE_SIZE_MASK);
    let exists = !rng.chance(1, 12);
    if rng.chance(1, 6) {
        let word = 2 << PAGE_SIZE_SHIFT;
        let size = if rng.chance(1, 8) { size } else { word };
        let addr = match exists {
            true => rng.below(12) as u32 * 4,
            false => rng.below(1024) as u32,
        };
        (PAGE_AS_RECEIVE_MASK | size, addr)
    } else {
        let bytes = 1 << (size >> PAGE_SIZE_SHIFT);
        let addr = match exists {
            true => (rng.below(1 << MEM_BITS) as u32) / bytes * bytes,
            false => rng.bits() as u32,
        };
        (size, addr)
    }
}

/// Words of a remote access.
fn access_words(kind: u32) -> u32 {
    1 + u32::from(kind & PAGE_SIZE_MASK == PAGE_SIZE_MASK)
}

/// A message for a ring buffer.
fn ringed(rng: &mut Rng) -> (u32, Vec<u32>) {
    let kind = KIND_PUT | PAGE_SEND_MASK | some_of(rng, PAGE_AS_SEND_MASK);
    let length = rng.below(20) as u32;
    let of = match rng.below(8) {
        0 => NO_RING << COMMAND_LENGTH_CONTEXT_SHIFT,
        _ => context(rng),
    };
    let first = vec![of | length, flag(rng)];
    (kind, [first, words(rng, 2 + length)].concat())
}

/// The page code and the words after it, of a whole request.
fn request(rng: &mut Rng, most: u64) -> (u32, Vec<u32>) {
    match rng.below(8) {
        0..=2 => {
            let scope = some_of(rng, PAGE_ROW_MASK | PAGE_COLUMN_MASK);
            placed(rng, KIND_PUT | scope, most)
        }
        3 => {
            let length = context(rng) | rng.below(1 << 20) as u32;
            (KIND_GET | spaces(rng), [vec![length], words(rng, 6)].concat())
        }
        4 => atomic(rng),
        5 => {
            let (kind, addr) = access(rng);
            (PAGE_DIRECT_MASK | MADE_LOAD | kind, vec![addr])
        }
        6 => {
            let (kind, addr) = access(rng);
            let data = words(rng, access_words(kind));
            (PAGE_DIRECT_MASK | MADE_STORE | kind, [vec![addr], data].concat())
        }
        _ => ringed(rng),
    }
}

/// The same of a whole reply.
fn reply(rng: &mut Rng, most: u64) -> (u32, Vec<u32>) {
    let size = some_of(rng, PAGE_SIZE_MASK);
    match rng.below(5) {
        0 | 1 => placed(rng, PAGE_DIRECT_MASK | MADE_GET_REPLY, most),
        2 => {
            let [_, dest, _] = data(rng, most);
            let rest = vec![context(rng) | 1, dest, 0, flag(rng), rng.bits() as u32];
            (PAGE_DIRECT_MASK | MADE_ATOMIC_REPLY, rest)
        }
        3 => {
            let count = if rng.chance(1, 4) { 0 } else { access_words(size) };
            (PAGE_DIRECT_MASK | MADE_LOAD_REPLY | size, words(rng, count))
        }
        _ => (PAGE_DIRECT_MASK | MADE_STORE_ACK | size, vec![]),
    }
}

/// A whole message of this class.
fn whole(rng: &mut Rng, class: Class, most: u64) -> Vec<u32> {
    let (kind, rest) = match class {
        Class::Request => request(rng, most),
        Class::Reply => reply(rng, most),
    };
    let system = some_of(rng, PAGE_SYSTEM_MASK);
    [head(class, kind | system, rng), rest].concat()
}

/// A broken message.
fn broken(rng: &mut Rng, class: Class) -> Vec<u32> {
    let mut message = whole(rng, class, 40);
    match rng.below(8) {
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
        // More words than there are, and than a ring has room for.
        5 if message.len() > 2 => message[2] |= 0x1_0000,
        // A kind of the other class.
        6 => {
            let other = match class {
                Class::Request => Class::Reply,
                Class::Reply => Class::Request,
            };
            message = whole(rng, other, 40);
            message[0] ^= MESSAGE_ROUTE_REPLY_MASK;
        }
        _ => message[1] = rng.bits() as u32,
    }
    // It may now write where flags are, or count where data are. Then the order of two messages would not show.
    let Some(&[head, dest, stride]) = message.get(2..5) else {
        return message;
    };
    let length = head & COMMAND_LENGTH_WORDS_MASK;
    let is_sent = message[1] & PAGE_SEND_MASK << MESSAGE_WHAT_KIND_SHIFT != 0;
    let flag = message.get(if is_sent { 3 } else { 5 }).copied().unwrap_or(0);
    let counts_in_data = flag != 0 && flag >> 12 < FLAGS && flag >> 12 != ABSENT;
    if counts_in_data || hits_flags(dest, stride, length.min(message.len() as u32)) {
        message.truncate(1);
    }
    message
}

/// A message with data.
fn put(class: Class, rest: [u32; 4], words: &[u32], rng: &mut Rng) -> Vec<u32> {
    let kind = match class {
        Class::Request => KIND_PUT,
        Class::Reply => PAGE_DIRECT_MASK | MADE_GET_REPLY,
    };
    [&head(class, kind, rng), &rest[..], words].concat()
}

/// The reasons for which messages were broken.
type Seen = RefCell<BTreeSet<Why>>;

/// Random messages, broken ones among them; faults retried and given up, bus errors; a reset.
fn follows(unit: &Unit, starts: &[Start], whys: &Seen, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        cases.from_each(starts, format!("{} {gaps:?}", unit.dut.name), |run| {
            follows_from(run, unit, gaps, whys)
        });
    }
}

fn follows_from(run: &Run, unit: &Unit, gaps: Gaps, whys: &Seen) -> Result<(), Fault> {
    let timing = if gaps.at_sink() { SLOW } else { MemoryTiming::IDEAL };
    let mut env = Env::new(run, unit, gaps, timing)?;
    let mut rng = run.rng("messages");
    let class = unit.class;
    if class == Class::Request {
        let (rings, shelf) = ring::some();
        env.set_rings(rings, &shelf);
    }
    for round in 0..3 {
        if class == Class::Request {
            whys.borrow_mut().extend(env.send(&ring::too_long(&mut rng)));
        }
        for _ in 0..300 {
            let message = match rng.chance(1, 5) {
                true => broken(&mut rng, class),
                false => whole(&mut rng, class, 300),
            };
            whys.borrow_mut().extend(env.send(&message));
        }
        if round == 1 {
            for _ in 0..rng.between(200, 1500) {
                env.cycle()?;
            }
            env.reset()?;
        }
        env.finish()?;
    }
    let served = env.software.retries > 0 && env.software.aborts > 0;
    assert!(served, "the messages make no faults: the check sees nothing");
    Ok(())
}

/// Data with strides and no other message, so that only their places show.
fn quiet(unit: &Unit, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, format!("{} quiet", unit.dut.name), |run| {
        let mut rng = run.rng("data");
        let mut env = Env::new(run, unit, Gaps::None, MemoryTiming::IDEAL)?;
        for _ in 0..60 {
            let [length, dest, stride] = data(&mut rng, 600);
            let words = words(&mut rng, length);
            let rest = [1 << 20 | length, dest, stride, 0];
            env.send(&put(unit.class, rest, &words, &mut rng));
        }
        env.finish()
    });
}

/// One message with a stride and without a flag, far from bus errors: memory alone shows its places.
fn strided(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} strided", unit.dut.name), |run| {
        let mut rng = run.rng("data");
        let mut env = Env::new(run, unit, Gaps::None, MemoryTiming::IDEAL)?;
        let words = words(&mut rng, 60);
        env.send(&put(unit.class, [1 << 20 | 60, 0x40, 2 << 24 | 1, 0], &words, &mut rng));
        env.finish()
    });
}

/// Messages of data one after the other, each with a flag: a word per cycle.
fn rate(unit: &Unit, cases: &mut Cases) {
    // Messages, words, stride: the machine's smallest useful message; a long one; items of two words.
    for (count, length, stride) in [(30, 8, 0), (3, 1000, 0), (4, 60, 2 << 24 | 1)] {
        let params = format!("{} rate of {count} messages", unit.dut.name);
        cases.case(Start::Random1, params, |run| {
            let mut rng = run.rng("data");
            let mut env = Env::new(run, unit, Gaps::None, MemoryTiming::IDEAL)?;
            for i in 0..count {
                let words = words(&mut rng, length);
                let rest = [1 << 20 | length, 0x40 * i, stride, FLAGS << 12];
                env.send(&put(unit.class, rest, &words, &mut rng));
            }
            env.finish()?;
            let words = env.taken.len();
            let cycles = env.taken[words - 1] - env.taken[0] + 1;
            Rule::Rate.holds(cycles == words as u64, || {
                format!("{words} words of {count} messages in {cycles} cycles")
            })
        });
    }
}

/// A message that states more words than it has does not delay the next, and takes no word of it.
fn forged_length(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} forged length", unit.dut.name), |run| {
        let mut rng = run.rng("data");
        let mut env = Env::new(run, unit, Gaps::None, MemoryTiming::IDEAL)?;
        // The message ends within its first item, at its end, and behind it.
        for came in [1, 2, 4, 5] {
            let forged = words(&mut rng, came);
            let rest = [1 << 20 | COMMAND_LENGTH_WORDS_MASK, 0x100, 4 << 24 | 1, FLAGS << 12];
            env.send(&put(unit.class, rest, &forged, &mut rng));
            let next = words(&mut rng, 8);
            let rest = [1 << 20 | 8, 0x1000, 0, FLAGS << 12 | 4];
            env.send(&put(unit.class, rest, &next, &mut rng));
        }
        env.finish()?;
        let cycles = env.bench.cycle();
        Rule::Rate.holds(cycles < 200, || format!("eight short messages take {cycles} cycles"))
    });
}

/// A message states that it goes on in a page that does not exist. Software gives that page up while words of the page
/// before still come, and the message ends in the page before. The words that the unit drops are those of the message.
fn given_up(unit: &Unit, cases: &mut Cases) {
    /// Words up to the end of the page before [`ABSENT`].
    const BEFORE: u32 = 64;
    // With a sink that pauses a lookup is on offer for longer than the words come.
    for gaps in [Gaps::Source, Gaps::Both] {
        cases.case(Start::Random1, format!("{} given up {gaps:?}", unit.dut.name), |run| {
            let mut rng = run.rng("data");
            let mut env = Env::new(run, unit, gaps, MemoryTiming::IDEAL)?;
            for came in (1..=BEFORE + 1).chain([100]) {
                let forged = words(&mut rng, came);
                let dest = (ABSENT << 12) - 4 * BEFORE;
                let rest = [1 << 20 | 2000, dest, 0, FLAGS << 12];
                env.send(&put(unit.class, rest, &forged, &mut rng));
                let next = words(&mut rng, 8);
                let rest = [1 << 20 | 8, 0x1000 + 0x20 * came, 0, FLAGS << 12 | 4];
                env.send(&put(unit.class, rest, &next, &mut rng));
            }
            env.finish()?;
            assert!(env.software.aborts > 0, "no page is given up: the check sees nothing");
            Ok(())
        });
    }
}

fn checks(unit: &Unit, cases: &mut Cases) {
    follows(unit, &[Start::Random1], &Seen::default(), cases);
    rate(unit, cases);
    forged_length(unit, cases);
}

/// All checks, and each reason for which a message is broken.
fn every_way(test: Test, unit: &Unit) {
    let whys = Seen::default();
    pass(test, |cases| {
        follows(unit, &Start::RANDOM, &whys, cases);
        rate(unit, cases);
        forged_length(unit, cases);
        given_up(unit, cases);
        strided(unit, cases);
        quiet(unit, cases);
    });
    let of_class = |why: &Why| unit.class == Class::Request || !matches!(why, Why::Ring | Why::RingSize);
    let whys = whys.into_inner();
    let unseen = |why: &Why| of_class(why) && !whys.contains(why);
    let missing: Vec<Why> = Why::ALL.into_iter().filter(unseen).collect();
    assert!(
        missing.is_empty(),
        "no message is broken by {missing:?}: the check sees nothing"
    );
}

#[test]
fn requests_follow_the_model() {
    every_way(this_test!(), &requests::<Ap1000pReceive>());
}

#[test]
fn replies_follow_the_model() {
    every_way(this_test!(), &replies::<Ap1000pReceiveReplies>());
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The unit ignores strides, and data elsewhere meet other bus errors.
            (Memory, &[Broken], &|cases| {
                let unit = requests::<TwinReceiveStride>();
                strided(&unit, cases);
                quiet(&unit, cases);
            }),
            // The reply of a GET does not wait for flags.
            (Early, &[], &|cases| checks(&requests::<TwinReceiveIdle>(), cases)),
            // A broken message counts.
            (Word, &[], &|cases| {
                forged_length(&requests::<TwinReceiveCounts>(), cases)
            }),
            // Every flag is the system's.
            (Word, &[], &|cases| checks(&requests::<TwinReceiveSystem>(), cases)),
            // The same register for all words.
            (Register, &[], &|cases| {
                checks(&requests::<TwinReceiveRegister>(), cases)
            }),
            // A reply goes to the place of the sender, not to its distance.
            (Answer, &[], &|cases| checks(&requests::<TwinReceiveDistance>(), cases)),
            // A failed load has data.
            (Answer, &[], &|cases| checks(&requests::<TwinReceiveFailed>(), cases)),
            (Pause, &[], &|cases| checks(&requests::<TwinReceivePause>(), cases)),
            // Both words of a load are the last one.
            (Reply, &[], &|cases| checks(&replies::<TwinReceiveLoad>(), cases)),
            (Broken, &[], &|cases| checks(&requests::<TwinReceiveCount>(), cases)),
            // The report has kind and sender of the message before.
            (Broken, &[], &|cases| checks(&requests::<TwinReceiveStale>(), cases)),
            // A broken message stays in the ring.
            (Ring, &[], &|cases| ring::short(&requests::<TwinRingBroken>(), cases)),
            // A ring stays busy for ever.
            (Ring, &[], &|cases| rings(&requests::<TwinRingBusy>(), cases)),
            // A ring is busy only from the cycle in which the message has its place.
            (Ring, &[], &|cases| {
                ring::switched_off(&requests::<TwinRingLate>(), cases)
            }),
            // A message goes on behind the end of the smallest ring: here is no memory.
            (Broken, &[], &|cases| ring::wraps(&requests::<TwinRingWrap>(), cases)),
            // A full ring counts as empty, and a message without room has a place.
            (Ring, &[Fault], &|cases| rings(&requests::<TwinRingRoom>(), cases)),
            // The fault does not name the full ring.
            (Fault, &[], &|cases| rings(&requests::<TwinRingSet>(), cases)),
            // No fault is the system's.
            (Fault, &[], &|cases| {
                follows(&requests::<TwinReceiveFault>(), &Start::RANDOM, &Seen::default(), cases)
            }),
            (Rate, &[], &|cases| checks(&requests::<TwinReceiveBubble>(), cases)),
            (Protocol, &[], &|cases| {
                checks(&requests::<TwinReceiveWithdraws>(), cases)
            }),
            (Protocol, &[], &|cases| {
                given_up(&requests::<TwinReceiveTakesBack>(), cases)
            }),
            // A fault ends before software serves it.
            (Protocol, &[], &|cases| {
                given_up(&requests::<TwinReceiveServes>(), cases)
            }),
            (Path, &[], &|cases| checks(&requests::<TwinReceivePath>(), cases)),
            // After a page that is given up early the unit drops words of the next message.
            (Early, &[], &|cases| given_up(&requests::<TwinReceiveTakes>(), cases)),
            // The unit waits for words that do not come.
            (Hang, &[], &|cases| checks(&requests::<TwinReceiveWaits>(), cases)),
            (Rest, &[], &|cases| checks(&requests::<TwinReceiveRest>(), cases)),
        ],
    );
}

fn rings(unit: &Unit, cases: &mut Cases) {
    ring::checks(unit, &[Start::Random1], cases);
}

/// C7: an assertion of the RTL finds a flag that counts before the last word is in memory.
#[test]
fn c7_a_twin_with_an_early_flag_is_asserted() {
    let unit = requests::<TwinReceiveHasty>();
    let found = assertion(this_test!(), |cases| checks(&unit, cases));
    assert!(found.contains("ap1000p_store.sv"), "{found}");
}
