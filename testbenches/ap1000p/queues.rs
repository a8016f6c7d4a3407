//! The five queues against their model: random messages of all writers, spilled and refilled, by hardware and by software.

mod bench;
mod ports;

use testbenches::name;
use testbenches::rtl::*;
use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::golden::queues::{QueuesModel, Region};
use tsunagi::ap1000p::golden::{Label, Queue, Word};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink};
use tsunagi::harness::wave::Probe;
use tsunagi::net::torus::Class;

use self::bench::AGE_CAP;
pub use self::bench::{Bench, Plan, REGION, Rule};
pub use self::ports::Ports;
use crate::{SLOW, STARTS, holds};

/// Messages of one to nine words, no two words alike.
pub fn messages(rng: &mut Rng, queue: Queue, count: usize) -> Vec<Vec<u32>> {
    let mut number = 0;
    let mut word = || {
        number += 1;
        (queue as u32) << 28 | (rng.below(1 << 8) as u32) << 20 | number
    };
    let mut list = Vec::new();
    for i in 0..count {
        let words = 1 + (i * 7 + i / 3) % 9;
        list.push((0..words).map(|_| word()).collect());
    }
    list
}

/// Messages of all writers, in lock step. With a reset in the middle for one of the starts.
pub fn follows<U: Ports>(case: &Case, start: &str, plan: Plan, count: usize, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, start, plan, probe);
    for round in 0..2 {
        for queue in Queue::ALL {
            for words in messages(&mut case.rng(&format!("{queue:?} {round}")), queue, count) {
                bench.write(queue, &words);
            }
        }
        if round == 0 && start == STARTS[1] {
            bench.run(case.rng("reset").between(100, 2_000))?;
            bench.reset();
            continue;
        }
        bench.finish(400_000)?;
    }
    let spilled = plan.region.limit > 0 && plan.gaps.at_sink();
    holds(Rule::Reported, !spilled || bench.model.spilled() > 0, || {
        "nothing was spilled: the case shows nothing".into()
    })
}

/// So many words of these queues came, one in each cycle.
fn without_bubble<U: Ports>(bench: &Bench<U>, words: usize, of: impl Fn(Queue) -> bool) -> Result<(), String> {
    let given: Vec<u64> = bench
        .given
        .iter()
        .filter(|given| of(given.1))
        .map(|given| given.0)
        .collect();
    let cycles = given.last().map_or(0, |last| last - given[0] + 1);
    holds(Rule::Rate, given.len() == words && cycles == words as u64, || {
        format!("{} of {words} words came in {cycles} cycles", given.len())
    })
}

/// One word in and one out per cycle; the way through takes three cycles.
pub fn rate<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    /// Of 8 words: as many as fit into each queue.
    const MESSAGES: u32 = 3;
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: REGION,
    };
    // One writer.
    for queue in Queue::ALL {
        let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
        for round in 0..60 {
            bench.write(queue, &[round; 8]);
        }
        while bench.given.len() < 60 * 8 && bench.cycle < 2 * 60 * 8 + 100 {
            bench.cycle()?;
        }
        without_bubble(&bench, 60 * 8, |_| true)?;
    }
    // All of them, and then all takers at once.
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    bench.take(Pacer::stopped);
    for round in 0..MESSAGES {
        for queue in Queue::ALL {
            bench.write(queue, &[round; 8]);
        }
    }
    bench.run(5 * 8 * u64::from(MESSAGES) + 20)?;
    bench.take(Pacer::steady);
    bench.run(3 * 8 * u64::from(MESSAGES) + 20)?;
    for class in [Class::Request, Class::Reply] {
        let queues = Queue::ALL.into_iter().filter(|queue| queue.class() == class);
        without_bubble(&bench, queues.count() * 8 * MESSAGES as usize, |queue| {
            queue.class() == class
        })?;
    }
    for queue in Queue::ALL {
        let mut bench = Bench::<U>::new(case, STARTS[1], plan, probe);
        bench.write(queue, &[1, 2, 3]);
        while bench.taken[queue as usize] < 3 && bench.cycle < 100 {
            bench.cycle()?;
        }
        let taken = bench.cycle - 1;
        bench.run(6)?;
        let cycles = bench.given.first().map(|g| g.0 - taken);
        holds(Rule::Latency, cycles == Some(3), || {
            format!("{cycles:?} cycles from the last word of {queue:?} to the first")
        })?;
    }
    Ok(())
}

/// Nobody takes anything: what one writer gives at a word every other cycle is spilled, and it never waits.
pub fn overflow<U: Ports>(case: &Case, queue: Queue, probe: &Probe) -> Result<(), String> {
    // Of the user's half of it the same is left as of all.
    let units = 3;
    let limit = if queue == Queue::User { 2 * units } else { units };
    let plan = Plan {
        gaps: Gaps::None,
        timing: SLOW,
        region: Region { base: 1, limit },
    };
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    bench.take(Pacer::stopped);
    let mut rng = case.rng("messages");
    // As far as the red zone, and some words into it.
    let elements = (u32::from(units) - 1) * SPILL_UNIT;
    let (mut full_at, mut longest) = (None, 0);
    for words in messages(&mut rng, queue, 480) {
        for word in message(&words) {
            bench.writers[queue as usize].push(word);
            bench.run(2)?;
            longest = longest.max(bench.writers[queue as usize].len());
            if bench.seen.full {
                full_at.get_or_insert(bench.seen.held);
            }
        }
    }
    bench.run(40)?;
    // Some, until its turn has come for the first time.
    holds(Rule::Waits, longest <= 4, || {
        format!("{longest} words of {queue:?} waited")
    })?;
    let held = bench.seen.held;
    holds(
        Rule::Reported,
        held > elements && full_at.is_some_and(|at| (elements..elements + 3).contains(&at)),
        || format!("{held} elements, full was told at {full_at:?}, the red zone begins at {elements}"),
    )?;
    holds(Rule::Reported, bench.seen.spilled == queue.bit(), || {
        format!("spilled queues {:#b}", bench.seen.spilled)
    })?;
    bench.take(Pacer::steady);
    bench.finish(200_000)
}

/// A message comes while nothing else is inside, and waits for its taker: it is given once.
pub fn wakes<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: REGION,
    };
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    for queue in Queue::ALL {
        for is_direct in [false, true] {
            for number in 0..10 {
                bench.take(Pacer::stopped);
                bench.run(20)?;
                match is_direct {
                    true => bench.direct.push((queue, message(&[number])[0], Label::default())),
                    false => bench.write(queue, &[number]),
                }
                bench.run(20)?;
                bench.take(Pacer::steady);
                bench.finish(100)?;
            }
        }
    }
    Ok(())
}

/// Nobody takes anything: of each queue all its words are inside, or all but one, before the first is spilled.
pub fn sizes<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    const WORDS: u32 = 16;
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: REGION,
    };
    for queue in Queue::ALL {
        let size = match queue {
            Queue::Access | Queue::RemoteReply => 32,
            Queue::System | Queue::User | Queue::GetReply => 64,
        };
        for cycles in [1, 2, 5] {
            let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
            bench.take(Pacer::stopped);
            for number in 0..100 / WORDS {
                for word in message(&[number; WORDS as usize]) {
                    bench.writers[queue as usize].push(word);
                    bench.run(cycles)?;
                }
            }
            while !bench.writers[queue as usize].is_empty() && bench.cycle < 2_000 {
                bench.cycle()?;
            }
            bench.run(20)?;
            // One has been fetched, and is offered.
            let inside = bench.taken[queue as usize] - u64::from(bench.seen.held) - 1;
            holds(Rule::Full, (size - 1..=size).contains(&inside), || {
                format!("{queue:?} of {size} words holds {inside}, a word each {cycles} cycles")
            })?;
            bench.take(Pacer::steady);
            bench.finish(2_000)?;
        }
    }
    Ok(())
}

/// The region is full, or the user's half of it: that writer waits, the others do not, nothing is lost.
pub fn region_full<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    for (queue, limit) in [(Queue::System, 1), (Queue::User, 2)] {
        let plan = Plan {
            gaps: Gaps::None,
            timing: MemoryTiming::IDEAL,
            region: Region { base: 1, limit },
        };
        let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
        bench.take(Pacer::stopped);
        for words in messages(&mut case.rng("messages"), queue, 400) {
            bench.write(queue, &words);
        }
        bench.run(6_000)?;
        let (held, left) = (bench.seen.held, bench.writers[queue as usize].len());
        let is_full = (SPILL_UNIT - 1..=SPILL_UNIT).contains(&held);
        holds(Rule::Reported, bench.seen.full && is_full && left > 0, || {
            format!("{held} elements and {left} words outside, full {}", bench.seen.full)
        })?;
        // A queue with room of its own goes on, and so does the system's overflow beside the user's.
        let (other, words) = match queue {
            Queue::User => (Queue::System, 400),
            _ => (Queue::Access, 24),
        };
        for _ in 0..words / 8 {
            bench.write(other, &[1, 2, 3, 4, 5, 6, 7, 8]);
        }
        // A word in three cycles: the memory's.
        bench.run(3 * words)?;
        holds(Rule::Waits, bench.taken[other as usize] == words, || {
            format!(
                "{:?} of {words} words of {other:?}: it waits for {queue:?}",
                bench.taken
            )
        })?;
        bench.take(Pacer::steady);
        bench.finish(200_000)?;
    }
    Ok(())
}

/// Requests have overflowed and nobody takes them: replies go on, as many as come, and none stands behind them.
pub fn behind<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    const MESSAGES: usize = 60;
    let plan = Plan {
        gaps: Gaps::None,
        timing: SLOW,
        region: REGION,
    };
    for first in [Queue::User, Queue::System] {
        let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
        bench.take(Pacer::stopped);
        for words in messages(&mut case.rng("messages"), first, MESSAGES) {
            bench.write(first, &words);
        }
        bench.run(2_000)?;
        let held = bench.seen.held;
        let replies = [Queue::RemoteReply, Queue::GetReply];
        let mut words = 0;
        for queue in replies {
            for message in messages(&mut case.rng(&format!("{queue:?}")), queue, MESSAGES) {
                words += message.len();
                bench.write(queue, &message);
            }
        }
        bench.run(1_000)?;
        bench.sinks[Class::Reply as usize] = Sink::new(Pacer::steady());
        bench.run(4 * words as u64)?;
        holds(
            Rule::Waits,
            held > 0 && bench.seen.held == held && bench.given.len() == words,
            || {
                format!(
                    "{} of {words} words of replies came, {held} and then {} elements",
                    bench.given.len(),
                    bench.seen.held
                )
            },
        )?;
        bench.take(Pacer::steady);
        bench.finish(200_000)?;
    }
    Ok(())
}

/// The taker of one class stops, in the middle of its messages: those of the other class go on as if nothing were.
pub fn classes<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    const MESSAGES: usize = 30;
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: Region { limit: 0, ..REGION },
    };
    for stopped in [Class::Request, Class::Reply] {
        for goes in Queue::ALL.into_iter().filter(|queue| queue.class() != stopped) {
            let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
            bench.sinks[stopped as usize] = Sink::new(Pacer::stopped());
            bench.sinks[1 - stopped as usize] = Sink::new(Pacer::steady());
            for queue in Queue::ALL {
                let writes = queue == goes || queue.class() == stopped;
                for words in messages(&mut case.rng(&format!("{queue:?}")), queue, MESSAGES)
                    .iter()
                    .filter(|_| writes)
                {
                    bench.write(queue, words);
                }
            }
            let words = bench.writers[goes as usize].len();
            // Its turn comes among four writers at most, so every fourth cycle.
            bench.run(4 * words as u64 + 20)?;
            let given = bench.given.iter().filter(|given| given.1 == goes).count();
            holds(Rule::Waits, given == words && bench.given.len() == words, || {
                format!("{given} of {words} words of {goes:?} came while {stopped:?} stood")
            })?;
            bench.take(Pacer::steady);
            bench.finish(20_000)?;
        }
    }
    Ok(())
}

/// Block mode: of a queue that has nothing spilled nothing is, its writer waits, and nobody else; one that has goes on.
pub fn blocked<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: REGION,
    };
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    bench.take(Pacer::stopped);
    bench.modes.block = true;
    bench.run(2)?;
    let fill = |bench: &mut Bench<U>, queue| {
        for words in messages(&mut case.rng("messages"), queue, 100) {
            bench.write(queue, &words);
        }
    };
    let state = |bench: &Bench<U>| {
        let left = [Queue::User, Queue::System].map(|queue| !bench.writers[queue as usize].is_empty());
        (bench.seen.held > 0, bench.seen.spilled, left)
    };
    fill(&mut bench, Queue::User);
    bench.run(1_000)?;
    holds(Rule::Blocks, state(&bench) == (false, 0, [true, false]), || {
        format!("blocked: {:x?}, left {:?}", bench.seen, state(&bench).2)
    })?;
    // Others have room.
    bench.write(Queue::GetReply, &[1, 2, 3, 4]);
    bench.run(20)?;
    holds(Rule::Waits, bench.taken[Queue::GetReply as usize] == 4, || {
        "an answer waits for a user".into()
    })?;
    // The user's may be spilled for some cycles, and then goes on; the system's may not begin.
    bench.modes.block = false;
    bench.run(20)?;
    bench.modes.block = true;
    bench.run(2)?;
    fill(&mut bench, Queue::System);
    bench.run(4_000)?;
    let want = (true, Queue::User.bit(), [false, true]);
    holds(Rule::Blocks, state(&bench) == want, || {
        format!(
            "blocked but for the user: {:x?}, left {:?}",
            bench.seen,
            state(&bench).2
        )
    })?;
    bench.take(Pacer::steady);
    bench.finish(200_000)
}

/// The region is there for some cycles, and then no more: unless a word is in it by then, none comes; otherwise it stays until it is empty.
pub fn region_gone<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: Region { base: 1, limit: 1 },
    };
    for queue in [Queue::User, Queue::System, Queue::GetReply] {
        let mut kept = [0; 2];
        for cycles in 1..12 {
            let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
            bench.take(Pacer::stopped);
            bench.region.limit = 0;
            bench.run(5)?;
            for words in messages(&mut case.rng("messages"), queue, 40) {
                bench.write(queue, &words);
            }
            bench.run(200)?;
            bench.region.limit = 1;
            bench.run(cycles)?;
            bench.region.limit = 0;
            // What is in, with what was taken in the cycle in which the limit came.
            bench.run(2)?;
            let is_kept = bench.seen.held > 0;
            bench.run(1_000)?;
            let (held, left) = (bench.seen.held, bench.writers[queue as usize].len());
            let as_was = (held > 0, left > 0) == (is_kept, !is_kept);
            holds(Rule::Blocks, as_was, || {
                format!("{queue:?}, a region for {cycles} cycles, kept {is_kept}: {held} words in it, {left} outside")
            })?;
            kept[usize::from(is_kept)] += 1;
            bench.take(Pacer::steady);
            bench.finish(200_000)?;
            // It was empty: now there is none.
            bench.take(Pacer::stopped);
            for words in messages(&mut case.rng("messages"), queue, 40) {
                bench.write(queue, &words);
            }
            bench.run(400)?;
            let (held, left) = (bench.seen.held, bench.writers[queue as usize].len());
            holds(Rule::Blocks, held == 0 && left > 0, || {
                format!("{queue:?}, the region is gone: {held} words in it, {left} outside")
            })?;
            bench.take(Pacer::steady);
            bench.finish(200_000)?;
        }
        holds(Rule::Blocks, kept.iter().all(|&kept| kept > 0), || {
            format!("{queue:?}: {kept:?} of the regions were without and with words: the case shows nothing")
        })?;
    }
    Ok(())
}

/// Memory that refuses writes, that does not give back what was written, both, and that has something else there: messages that lost a
/// word are gone, no other is.
pub fn memory_errors<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let plan = Plan {
        gaps: Gaps::None,
        timing: SLOW,
        region: REGION,
    };
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    let mut rng = case.rng("errors");
    for (round, errors) in ["none", "write", "read", "both", "other", "none"]
        .into_iter()
        .enumerate()
    {
        bench.take(Pacer::stopped);
        let bad = |bench: &mut Bench<U>, rng: &mut Rng| {
            for _ in 0..4 {
                let at = REGION.addr() + rng.between(30, 500) as u32 * SPILL_BYTES;
                bench.memory.inject_fault(at..at + rng.between(1, 40) as u32);
            }
        };
        if errors == "write" || errors == "both" {
            bad(&mut bench, &mut rng);
        }
        for queue in [Queue::User, Queue::System] {
            for words in messages(&mut case.rng(&format!("{queue:?} {round}")), queue, 90) {
                bench.write(queue, &words);
            }
        }
        bench.run(8_000)?;
        if errors != "both" {
            bench.memory.clear_faults();
        }
        if errors == "read" {
            bad(&mut bench, &mut rng);
        }
        if errors == "other" {
            (0..20).for_each(|_| bench.spoil(rng.between(30, 500) as u32));
        }
        let before = bench.told;
        bench.take(Pacer::steady);
        bench.finish(100_000)?;
        bench.memory.clear_faults();
        let lost = bench.told[1] - before[1];
        holds(Rule::Reported, (lost > 0) == (errors != "none"), || {
            format!("errors {errors}: {lost} elements lost")
        })?;
        holds(
            Rule::Reported,
            (bench.told[2] > before[2]) == (errors != "none"),
            || format!("errors {errors}: {:?} and before {before:?}", bench.told),
        )?;
    }
    Ok(())
}

/// Memory refuses the same elements again and again, until the lap comes round in which it last took them: none of those comes back.
pub fn refused_again<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: REGION,
    };
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    const LAPS: u32 = (SPILL_TAG_LAP_MASK >> SPILL_TAG_LAP_SHIFT) + 1;
    for lap in 0..2 * LAPS {
        bench.take(Pacer::stopped);
        if lap % LAPS != 0 {
            // From one element to several bursts.
            for at in [9, 40, 48, 56, 80] {
                let at = REGION.addr() + at * SPILL_BYTES;
                bench.memory.inject_fault(at..at + lap * 8);
            }
        }
        let before = bench.told[1];
        for words in messages(&mut case.rng(&format!("{lap}")), Queue::User, 40) {
            bench.write(Queue::User, &words);
        }
        bench.run(1_000)?;
        bench.memory.clear_faults();
        bench.take(Pacer::steady);
        bench.finish(20_000)?;
        let lost = bench.told[1] - before;
        holds(Rule::Reported, (lost > 0) == (lap % LAPS != 0), || {
            format!("lap {lap}: {lost} elements lost")
        })?;
    }
    Ok(())
}

/// Elements that follow each other are lost, as many as a message has or as eight have: what comes after them is not the rest of what
/// came before, whether it comes back or was never spilled.
pub fn lost_runs<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    const MESSAGES: u32 = 60;
    const WORDS: u32 = 4;
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: REGION,
    };
    let tail: Vec<u32> = (0..WORDS).map(|word| word << 8).collect();
    for (elements, at_end) in [(WORDS, false), (8 * WORDS, false), (WORDS, true), (8 * WORDS, true)] {
        for from in 0..WORDS {
            let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
            bench.take(Pacer::stopped);
            for number in 0..MESSAGES {
                let words: Vec<u32> = (0..WORDS).map(|word| (word << 8) | (number + 1)).collect();
                bench.write(Queue::User, &words);
            }
            // The last message is begun.
            for &data in &tail[..from as usize] {
                bench.writers[Queue::User as usize].push(Word { data, end: false });
            }
            bench.run(600)?;
            let held = bench.seen.held;
            let first = if at_end { held - elements } else { 16 + from };
            let at = REGION.addr() + first * SPILL_BYTES;
            bench.memory.inject_fault(at..at + elements * SPILL_BYTES);
            bench.take(Pacer::steady);
            bench.run(1_000)?;
            holds(Rule::Reported, held > elements + 32 && bench.seen.held == 0, || {
                format!("{held} elements, then {}", bench.seen.held)
            })?;
            holds(Rule::Reported, bench.told[1] == u64::from(elements), || {
                format!("{} of {elements} elements lost", bench.told[1])
            })?;
            for (data, end) in tail[from as usize..]
                .iter()
                .zip((from..WORDS).map(|word| word == WORDS - 1))
            {
                bench.writers[Queue::User as usize].push(Word { data: *data, end });
            }
            bench.finish(2_000)?;
        }
    }
    Ok(())
}

/// A message that is too long, or has lost its first words, is dropped and told; the next is as if it had not been there.
pub fn too_long<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let plan = Plan {
        gaps: Gaps::None,
        timing: MemoryTiming::IDEAL,
        region: REGION,
    };
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    for words in [17, 40, 400] {
        let list: Vec<u32> = (0..words).collect();
        bench.write(Queue::User, &list);
        bench.run(u64::from(words) + 600)?;
        // Not told to the model: it is to be as if it had never been.
        bench.model = QueuesModel::new(Region { limit: 0, ..REGION }, AGE_CAP);
        bench.write(Queue::User, &(0..16).collect::<Vec<_>>());
        bench.write(Queue::User, &[7]);
        let before = bench.given.len();
        bench.run(100)?;
        holds(
            Rule::Reported,
            bench.told[2] > 0 && bench.given.len() == before + 17,
            || {
                format!(
                    "{words} words: broken {} times, {} words given",
                    bench.told[2],
                    bench.given.len() - before
                )
            },
        )?;
    }
    Ok(())
}

fn plans(region: Region) -> impl Iterator<Item = Plan> {
    Gaps::ALL
        .into_iter()
        .flat_map(move |gaps| [MemoryTiming::IDEAL, SLOW].map(|timing| Plan { gaps, timing, region }))
}

fn lockstep<U: Ports>(test: &'static str, region: Region, count: usize) {
    for plan in plans(region) {
        for start in STARTS {
            let memory = if plan.timing == SLOW { "slow" } else { "ideal" };
            let what = format!("{} {:?} {memory} {:?} {start}", name::<U>(), plan.gaps, plan.region);
            let case = Case::new("ap1000p", test, what);
            case.run(|probe| follows::<U>(&case, start, plan, count, probe));
        }
    }
}

#[test]
fn follow_their_model_while_words_are_spilled() {
    let test = "queues::follow_their_model_while_words_are_spilled";
    lockstep::<Ap1000pQueues>(test, REGION, 250);
    lockstep::<Ap1000pQueuesNarrow>(test, Region { base: 0, limit: 1 }, 250);
    lockstep::<Ap1000pQueuesSoftware>(test, REGION, 250);
}

/// Without a region nothing is spilled: whose turn it is is known to the cycle.
#[test]
fn follow_the_order_of_the_queues() {
    let test = "queues::follow_the_order_of_the_queues";
    lockstep::<Ap1000pQueues>(test, Region { base: 0, limit: 0 }, 150);
    lockstep::<Ap1000pQueuesSoftware>(test, Region { base: 0, limit: 0 }, 150);
}

#[test]
fn a_word_per_cycle() {
    let case = Case::new("ap1000p", "queues::a_word_per_cycle", "");
    case.run(|probe| rate::<Ap1000pQueues>(&case, probe));
    case.run(|probe| rate::<Ap1000pQueuesNarrow>(&case, probe));
}

#[test]
fn at_rest_is_who_needs_no_clock() {
    let case = Case::new("ap1000p", "queues::at_rest_is_who_needs_no_clock", "");
    case.run(|probe| wakes::<Ap1000pQueues>(&case, probe));
    case.run(|probe| wakes::<Ap1000pQueuesSoftware>(&case, probe));
}

#[test]
fn a_full_queue_holds_all_its_words_or_all_but_one() {
    let case = Case::new("ap1000p", "queues::a_full_queue_holds_all_its_words_or_all_but_one", "");
    case.run(|probe| sizes::<Ap1000pQueues>(&case, probe));
    case.run(|probe| sizes::<Ap1000pQueuesNarrow>(&case, probe));
}

#[test]
fn memory_errors_take_only_the_messages_they_hit() {
    let case = Case::new("ap1000p", "queues::memory_errors_take_only_the_messages_they_hit", "");
    case.run(|probe| memory_errors::<Ap1000pQueues>(&case, probe));
    case.run(|probe| memory_errors::<Ap1000pQueuesNarrow>(&case, probe));
}

#[test]
fn what_memory_refused_never_comes_back() {
    let case = Case::new("ap1000p", "queues::what_memory_refused_never_comes_back", "");
    case.run(|probe| refused_again::<Ap1000pQueues>(&case, probe));
    case.run(|probe| refused_again::<Ap1000pQueuesNarrow>(&case, probe));
}

#[test]
fn no_message_goes_on_behind_words_that_were_lost() {
    let case = Case::new("ap1000p", "queues::no_message_goes_on_behind_words_that_were_lost", "");
    case.run(|probe| lost_runs::<Ap1000pQueues>(&case, probe));
    case.run(|probe| lost_runs::<Ap1000pQueuesNarrow>(&case, probe));
}

#[test]
fn a_message_that_is_too_long_is_dropped() {
    let case = Case::new("ap1000p", "queues::a_message_that_is_too_long_is_dropped", "");
    case.run(|probe| too_long::<Ap1000pQueues>(&case, probe));
}

#[test]
fn a_full_region_stops_its_writers_and_nobody_else() {
    let case = Case::new("ap1000p", "queues::a_full_region_stops_its_writers_and_nobody_else", "");
    case.run(|probe| region_full::<Ap1000pQueues>(&case, probe));
    case.run(|probe| region_full::<Ap1000pQueuesNarrow>(&case, probe));
    case.run(|probe| region_full::<Ap1000pQueuesSoftware>(&case, probe));
}

#[test]
fn no_reply_stands_behind_a_spilled_request() {
    let case = Case::new("ap1000p", "queues::no_reply_stands_behind_a_spilled_request", "");
    case.run(|probe| behind::<Ap1000pQueues>(&case, probe));
    case.run(|probe| behind::<Ap1000pQueuesNarrow>(&case, probe));
    case.run(|probe| behind::<Ap1000pQueuesSoftware>(&case, probe));
}

#[test]
fn no_class_waits_for_the_other() {
    let case = Case::new("ap1000p", "queues::no_class_waits_for_the_other", "");
    case.run(|probe| classes::<Ap1000pQueues>(&case, probe));
    case.run(|probe| classes::<Ap1000pQueuesSoftware>(&case, probe));
}

#[test]
fn block_mode_stops_what_would_be_spilled() {
    let case = Case::new("ap1000p", "queues::block_mode_stops_what_would_be_spilled", "");
    case.run(|probe| blocked::<Ap1000pQueues>(&case, probe));
    case.run(|probe| blocked::<Ap1000pQueuesNarrow>(&case, probe));
}

#[test]
fn nothing_is_spilled_when_the_region_is_gone() {
    let case = Case::new("ap1000p", "queues::nothing_is_spilled_when_the_region_is_gone", "");
    case.run(|probe| region_gone::<Ap1000pQueues>(&case, probe));
    case.run(|probe| region_gone::<Ap1000pQueuesNarrow>(&case, probe));
    case.run(|probe| region_gone::<Ap1000pQueuesSoftware>(&case, probe));
}
