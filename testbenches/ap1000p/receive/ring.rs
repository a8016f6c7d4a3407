//! Messages for ring buffers: in all sets, over the ends of rings of all sizes, without a ring, without room.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Rule as _, Start, pass};
use tsunagi::ap1000p::golden::ring::{Ring, Rings, WORDS_MOST_IN_ANY};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::Gaps;
use tsunagi::net::torus::Class;

use super::env::{Env, Rule};
use super::ports::{Unit, requests};
use super::{context, flag, head, put, words};
use crate::SLOW;
use crate::pages::{Around, FLAGS};

/// A context without a ring.
pub const NO_RING: u32 = 0x777;

fn ring(context: u16, write: u32, read: u32) -> Ring {
    Ring {
        on: true,
        size: RING_SIZE_128K,
        context,
        write,
        read,
    }
}

/// Rings of the contexts of messages: one in a set, with a double in a later set that gets no message; one that
/// software must give a set first.
pub fn some() -> (Rings, Vec<Ring>) {
    let rings = Rings {
        sets: [Ring::default(), ring(0x001, 0x100, 0x100), ring(0x001, 0x300, 0x300)],
        busy: None,
    };
    (rings, vec![ring(0x5a3, 0x200, 0x200)])
}

/// This ring alone.
fn only(set: usize, ring: Ring) -> Rings {
    let mut rings = Rings::default();
    rings.sets[set] = ring;
    rings
}

/// A message for the ring of a context.
fn send(context: u32, flag: u32, data: &[u32], rng: &mut Rng) -> Vec<u32> {
    let length = context << COMMAND_LENGTH_CONTEXT_SHIFT | data.len() as u32;
    let first = head(Class::Request, KIND_PUT | PAGE_SEND_MASK, rng);
    [&first[..], &[length, flag], &words(rng, 2), data].concat()
}

/// A message that states more words than fit a ring, and ends at once.
pub fn too_long(rng: &mut Rng) -> Vec<u32> {
    let mut message = send(0x001, FLAGS << 12, &[1, 2], rng);
    message[2] |= 0x8000;
    message
}

/// A message for one of six rings or for none, whole or broken, or one for another place.
fn any(rng: &mut Rng) -> Vec<u32> {
    let length = match rng.below(4) {
        0 => rng.below(100) as u32,
        _ => rng.below(16) as u32,
    };
    let of = rng.below(7) as u32;
    let data = words(rng, length);
    let flag = flag(rng);
    let mut message = send(of, flag, &data, rng);
    match rng.below(10) {
        0 => message.truncate(1 + rng.below(message.len() as u64) as usize),
        1 => message.push(0x5555_5555),
        2 => message[2] |= [0x8000, 0x7fff, 0xf_fffe][rng.below(3) as usize],
        3 | 4 => {
            let rest = [context(rng) | length, 0x1100, 0, FLAGS << 12];
            message = put(Class::Request, rest, &data, rng);
        }
        5 => message[1] |= PAGE_SYSTEM_MASK << MESSAGE_WHAT_KIND_SHIFT,
        _ => {}
    }
    message
}

/// Six rings for three sets, all near their end and near full.
fn follows(unit: &Unit, starts: &[Start], cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let timing = if gaps.at_sink() { SLOW } else { MemoryTiming::IDEAL };
        cases.from_each(starts, format!("{} rings {gaps:?}", unit.dut.name), |run| {
            // Rings of 128 KB. All but one have the same memory, but use other slots of it. Some have bus errors.
            let mut around = Around::of_bytes(1 << 18, &[]);
            around.memory.inject_fault(0x1_ff40..0x1_ff48);
            let mut env = Env::around(around, run, unit, gaps, timing)?;
            let sets = [(0, 4080), (1, 4090), (2, 20)].map(|(n, at)| ring(n, at + 4096 * u32::from(n == 1), at + 15));
            let shelf = [(3, 1000), (4, 2000), (5, 3000)].map(|(n, at)| ring(n, at, at + 0x1_2000 + 9));
            env.set_rings(Rings { sets, busy: None }, &shelf);
            let mut rng = run.rng("messages");
            for _ in 0..60 {
                env.send(&any(&mut rng));
            }
            env.finish()
        });
    }
}

/// Messages over the end of a ring of each size.
pub fn wraps(unit: &Unit, cases: &mut Cases) {
    for size in [RING_SIZE_128K, RING_SIZE_512K, RING_SIZE_2M, RING_SIZE_8M] {
        cases.case(Start::Random1, format!("{} wraps, size {size}", unit.dut.name), |run| {
            let mut rng = run.rng("data");
            let slots = Ring::slots_of(size);
            let around = Around::of_bytes(2 * slots * RING_BYTES, &[]);
            let mut env = Env::around(around, run, unit, Gaps::None, MemoryTiming::IDEAL)?;
            // The second half of the memory. The bits of a read pointer beyond the ring's size have no meaning.
            let ring = Ring {
                size,
                ..ring(9, 2 * slots - 3, (slots - 3) | !(slots - 1) & RING0_READ_SLOT_MASK)
            };
            env.set_rings(only(size as usize % 3, ring), &[]);
            for length in [6, 40, 0, 7] {
                let data = words(&mut rng, length);
                env.send(&send(9, FLAGS << 12, &data, &mut rng));
            }
            env.finish()
        });
    }
}

/// The longest message that fits an empty ring goes around it once, a word per cycle. Then the ring is full, and the
/// next message waits. One slot more is reported at once.
fn longest(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} longest", unit.dut.name), |run| {
        let mut rng = run.rng("data");
        let around = Around::of_bytes(1 << 17, &[]);
        let mut env = Env::around(around, run, unit, Gaps::None, MemoryTiming::IDEAL)?;
        env.set_rings(only(1, ring(9, 0x123, 0x123)), &[]);
        let most = WORDS_MOST_IN_ANY;
        let data = words(&mut rng, most);
        env.send(&send(9, 0, &data, &mut rng));
        env.finish()?;
        let span = env.taken[env.taken.len() - 1] - env.taken[0] + 1;
        // Header and place take a while once.
        Rule::Rate.holds(span < u64::from(most) + 30, || {
            format!("{most} words for a ring buffer in {span} cycles")
        })?;
        // The ring is full: the next message waits for software.
        let data = words(&mut rng, 1);
        env.send(&send(9, 0, &data, &mut rng));
        env.finish()?;
        let data = words(&mut rng, most + 1);
        env.send(&send(9, 0, &data, &mut rng));
        env.finish()
    });
}

/// A message that ends early leaves the ring as it was.
pub fn short(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} short", unit.dut.name), |run| {
        let mut rng = run.rng("data");
        let mut env = Env::new(run, unit, Gaps::None, MemoryTiming::IDEAL)?;
        let (rings, shelf) = some();
        env.set_rings(rings, &shelf);
        let data = words(&mut rng, 40);
        let mut early = send(0x001, FLAGS << 12, &data, &mut rng);
        early.pop();
        env.send(&early);
        env.send(&send(0x001, FLAGS << 12, &data[..3], &mut rng));
        env.finish()
    });
}

/// Software switches a ring off as a message comes: the ring has the message, or is at rest at once.
pub fn switched_off(unit: &Unit, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} off", unit.dut.name), |run| {
        let mut rng = run.rng("data");
        let (mut with, mut without) = (0, 0);
        for moment in 0..40 {
            let mut env = Env::new(run, unit, Gaps::None, MemoryTiming::IDEAL)?;
            env.set_rings(only(1, ring(9, 0x100, 0x100)), &[]);
            let data = words(&mut rng, 3);
            env.send(&send(9, 0, &data, &mut rng));
            for _ in 0..moment {
                env.cycle()?;
            }
            while env.without_ring(1) && env.left() > 0 {
                env.cycle()?;
            }
            *(if env.left() > 0 { &mut without } else { &mut with }) += 1;
        }
        let both = with > 0 && without > 0;
        assert!(
            both,
            "{with} messages with a ring, {without} without: the check sees nothing"
        );
        Ok(())
    });
}

/// The longest message, and random ones.
pub fn checks(unit: &Unit, starts: &[Start], cases: &mut Cases) {
    longest(unit, cases);
    follows(unit, starts, cases);
}

#[test]
fn rings_follow_the_model() {
    let unit = requests::<Ap1000pReceive>();
    pass(this_test!(), |cases| {
        checks(&unit, &Start::RANDOM, cases);
        wraps(&unit, cases);
        switched_off(&unit, cases);
        short(&unit, cases);
    });
}
