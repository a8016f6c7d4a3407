//! Messages for ring buffers: in all sets, over the ends of rings of all sizes, without a ring, without room.

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::ring::{Ring, Rings};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::Gaps;
use tsunagi::harness::wave::Probe;
use tsunagi::net::torus::Class;

use super::bench::{Bench, Receive, Rule};
use super::{context, flag, head, put, words};
use crate::pages::{Around, FLAGS};
use crate::{SLOW, STARTS, holds};

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

/// Rings of the contexts that messages have: one in a set, with a double behind it that is never asked, one that must be given a set first.
pub fn some() -> (Rings, Vec<Ring>) {
    let rings = Rings {
        sets: [Ring::default(), ring(0x001, 0x100, 0x100), ring(0x001, 0x300, 0x300)],
        busy: None,
    };
    (rings, vec![ring(0x5a3, 0x200, 0x200)])
}

/// A message for the ring of a context.
fn send(context: u32, flag: u32, data: &[u32], rng: &mut Rng) -> Vec<u32> {
    let length = context << COMMAND_LENGTH_CONTEXT_SHIFT | data.len() as u32;
    let first = head(Class::Request, KIND_PUT | PAGE_SEND_MASK, rng);
    [&first[..], &[length, flag], &words(rng, 2), data].concat()
}

/// A message that would not fit into a ring; it says so, and ends at once.
pub fn too_long(rng: &mut Rng) -> Vec<u32> {
    let mut message = send(0x001, FLAGS << 12, &[1, 2], rng);
    message[2] |= 0x8000;
    message
}

/// Six rings for three sets, all of them near their end and near full; among them whole and broken messages, and others.
fn follows<U: Receive>(case: &Case, start: &str, gaps: Gaps, probe: &Probe) -> Result<(), String> {
    let timing = if gaps.at_sink() { SLOW } else { MemoryTiming::IDEAL };
    // Rings of 128 KB; all but one have the same memory, but other slots of it are used. Some have bus errors.
    let mut around = Around::of_bytes(1 << 18, &[]);
    around.memory.inject_fault(0x1_ff40..0x1_ff48);
    let mut bench = Bench::<U>::around(around, case, start, gaps, timing, probe)?;
    let mut rng = case.rng("messages");
    let sets = [(0, 4080), (1, 4090), (2, 20)].map(|(n, at)| ring(n, at + 4096 * u32::from(n == 1), at + 15));
    let shelf = [(3, 1000), (4, 2000), (5, 3000)].map(|(n, at)| ring(n, at, at + 0x1_2000 + 9));
    bench.set_rings(Rings { sets, busy: None }, &shelf);
    for _ in 0..60 {
        let length = match rng.below(4) {
            0 => rng.below(100) as u32,
            _ => rng.below(16) as u32,
        };
        let of = rng.below(7) as u32;
        let data = words(&mut rng, length);
        let flag = flag(&mut rng);
        let mut message = send(of, flag, &data, &mut rng);
        match rng.below(10) {
            0 => message.truncate(1 + rng.below(message.len() as u64) as usize),
            1 => message.push(0x5555_5555),
            2 => message[2] |= [0x8000, 0x7fff, 0xf_fffe][rng.below(3) as usize],
            3 | 4 => {
                let rest = [context(&mut rng) | length, 0x1100, 0, FLAGS << 12];
                message = put(U::CLASS, rest, &data, &mut rng);
            }
            5 => message[1] |= PAGE_SYSTEM_MASK << MESSAGE_WHAT_KIND_SHIFT,
            _ => {}
        }
        bench.send(&message);
    }
    bench.finish()
}

/// Over the end of a ring of each size, a length that just fits in an empty one's room, and one word more.
fn wraps<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    for size in [RING_SIZE_128K, RING_SIZE_512K, RING_SIZE_2M, RING_SIZE_8M] {
        let slots = Ring::slots_of(size);
        let around = Around::of_bytes(2 * slots * RING_BYTES, &[]);
        let mut bench = Bench::<U>::around(around, case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
        // The second half of the memory. What a read pointer has beyond the ring's size is nothing.
        let ring = Ring {
            size,
            ..ring(9, 2 * slots - 3, (slots - 3) | !(slots - 1) & RING0_READ_SLOT_MASK)
        };
        let mut sets = [Ring::default(); 3];
        sets[size as usize % 3] = ring;
        bench.set_rings(Rings { sets, busy: None }, &[]);
        for length in [6, 40, 0, 7] {
            let data = words(&mut rng, length);
            bench.send(&send(9, FLAGS << 12, &data, &mut rng));
        }
        bench.finish()?;
    }
    Ok(())
}

/// The longest message that a ring takes at all goes around it once, a word per cycle; one slot more is told at once.
fn longest<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    let around = Around::of_bytes(1 << 17, &[]);
    let mut bench = Bench::<U>::around(around, case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    let mut sets = [Ring::default(); 3];
    sets[1] = ring(9, 0x123, 0x123);
    bench.set_rings(Rings { sets, busy: None }, &[]);
    let most = 4095 * 8 - 2;
    let data = words(&mut rng, most);
    bench.send(&send(9, 0, &data, &mut rng));
    bench.finish()?;
    let span = bench.taken[bench.taken.len() - 1] - bench.taken[0] + 1;
    // Header and place take a while once.
    holds(Rule::Rate, span < u64::from(most) + 30, || {
        format!("{most} words for a ring buffer in {span} cycles")
    })?;
    let data = words(&mut rng, most + 1);
    bench.send(&send(9, 0, &data, &mut rng));
    bench.finish()
}

/// A message that ends early leaves the ring as it was.
fn short<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    let (rings, shelf) = some();
    bench.set_rings(rings, &shelf);
    let data = words(&mut rng, 40);
    let mut early = send(0x001, FLAGS << 12, &data, &mut rng);
    early.pop();
    bench.send(&early);
    bench.send(&send(0x001, FLAGS << 12, &data[..3], &mut rng));
    bench.finish()
}

/// A ring that is switched off as a message comes: it has the message, or is at rest at once.
fn switched_off<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    let (mut with, mut without) = (0, 0);
    for moment in 0..40 {
        let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
        let mut rings = Rings::default();
        rings.sets[1] = ring(9, 0x100, 0x100);
        bench.set_rings(rings, &[]);
        let data = words(&mut rng, 3);
        bench.send(&send(9, 0, &data, &mut rng));
        for _ in 0..moment {
            bench.cycle()?;
        }
        while bench.without_ring(1) && bench.left() > 0 {
            bench.cycle()?;
        }
        *(if bench.left() > 0 { &mut without } else { &mut with }) += 1;
    }
    assert!(
        with > 0 && without > 0,
        "all is as if never switched off: the check sees nothing"
    );
    Ok(())
}

pub fn checks<U: Receive>() -> Vec<Result<(), String>> {
    let case = |what: &str| Case::new("ap1000p", "receive::each_twin_is_caught", what);
    let probe = Probe::default();
    let mut found = vec![longest::<U>(&case("longest"), &probe)];
    for gaps in Gaps::ALL {
        found.push(follows::<U>(&case(&format!("rings {gaps:?}")), STARTS[0], gaps, &probe));
    }
    found
}

pub fn check_short<U: Receive>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "receive::each_twin_is_caught", "short");
    vec![short::<U>(&case, &Probe::default())]
}

pub fn check_off<U: Receive>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "receive::each_twin_is_caught", "off");
    vec![switched_off::<U>(&case, &Probe::default())]
}

pub fn check_wraps<U: Receive>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "receive::each_twin_is_caught", "wraps");
    vec![wraps::<U>(&case, &Probe::default())]
}

#[test]
fn rings_follow_the_model() {
    const TEST: &str = "receive::ring::rings_follow_the_model";
    for gaps in Gaps::ALL {
        for start in STARTS {
            let case = Case::new("ap1000p", TEST, format!("{gaps:?} {start}"));
            case.run(|probe| follows::<Ap1000pReceive>(&case, start, gaps, probe));
        }
    }
    let case = Case::new("ap1000p", TEST, "wraps");
    case.run(|probe| wraps::<Ap1000pReceive>(&case, probe));
    let case = Case::new("ap1000p", TEST, "longest");
    case.run(|probe| longest::<Ap1000pReceive>(&case, probe));
    let case = Case::new("ap1000p", TEST, "off");
    case.run(|probe| switched_off::<Ap1000pReceive>(&case, probe));
    let case = Case::new("ap1000p", TEST, "short");
    case.run(|probe| short::<Ap1000pReceive>(&case, probe));
}
