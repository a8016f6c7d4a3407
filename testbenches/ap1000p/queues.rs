//! The five queues in lock step with their golden model: random messages of all writers, spilled and refilled, by
//! hardware and by software.

mod bench;
mod ports;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::golden::queues::Region;
use tsunagi::ap1000p::golden::{Label, Queue, Word};
use tsunagi::ap1000p::regs::{SPILL_BYTES, SPILL_TAG_LAP_MASK, SPILL_TAG_LAP_SHIFT, SPILL_UNIT};
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink};
use tsunagi::net::torus::Class;

pub use self::bench::{Bench, Plan, REGION};
pub use self::ports::{Queues, Refill, queues};
use crate::SLOW;

rules!(
    /// The words of a queue leave as they came; none is lost, repeated or overtaken.
    Order
    /// A message leaves whole, at the output of its class.
    Whole
    /// No message leaves before all of it has come.
    Early
    /// The next message of a class is of the queue that has the turn.
    Choice
    /// A spill element is a word that came, in the order of all words, in its form and its place.
    Element
    /// A message that lost a word to the memory does not leave.
    Lost
    /// No reply's element comes behind a request's in the region.
    Behind
    /// The user's elements fill at most half of the region.
    Share
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// A queue that is held gives nothing, nor one whose last message may come back.
    Returns
    /// A word per cycle in, and out of each class.
    Rate
    /// Three cycles from the last word of a message in to its first word out.
    Latency
    /// A writer waits only while its queue and the region are full, and for no message of the other class.
    Waits
    /// A full queue holds all its words, or all but one.
    Full
    /// In block mode, or without a region, no word is spilled.
    Blocks
    /// Interrupts and counters are right.
    Reported
    /// With `busy_o` low an edge changes nothing.
    Rest
    /// Every word leaves, and then `busy_o` is low.
    Hang
);

const QUICK: Plan = Plan {
    gaps: Gaps::None,
    timing: MemoryTiming::IDEAL,
    region: REGION,
};

const NO_REGION: Region = Region { base: 0, limit: 0 };

/// Messages of one to nine words; no two words are alike.
fn messages(rng: &mut Rng, queue: Queue, count: usize) -> Vec<Vec<u32>> {
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

impl Bench<'_> {
    /// Messages of this queue.
    fn write_all(&mut self, queue: Queue, messages: &[Vec<u32>]) {
        messages.iter().for_each(|words| self.write(queue, words));
    }

    /// Elements in the region, and words of this queue outside.
    fn held_and_left(&self, queue: Queue) -> (u32, usize) {
        (self.seen.held, self.writers[queue as usize].len())
    }
}

/// Messages of all writers, in lock step, with a reset in the middle for one of the starts.
fn follows(queues: &Queues, starts: &[Start], plan: Plan, count: usize, cases: &mut Cases) {
    let memory = if plan.timing == SLOW { "slow" } else { "ideal" };
    let params = format!("{} {:?} {memory} {:?}", queues.dut.name, plan.gaps, plan.region);
    cases.from_each(starts, params, |run| {
        let mut bench = Bench::new(run, queues, plan)?;
        for round in 0..2 {
            for queue in Queue::ALL {
                bench.write_all(
                    queue,
                    &messages(&mut run.rng(&format!("{queue:?} {round}")), queue, count),
                );
            }
            if round == 0 && run.start == Start::Random2 {
                bench.run(run.rng("reset").between(100, 2_000))?;
                bench.reset()?;
                continue;
            }
            bench.finish(400_000)?;
        }
        let spills = plan.region.limit > 0 && plan.gaps.at_sink();
        Rule::Reported.holds(!spills || bench.model.spilled() > 0, || {
            "no word was spilled: the case shows nothing".into()
        })
    });
}

/// Messages come back, and their queues are held. They come again, in order; those of other queues pass.
fn returns(queues: &Queues, plan: Plan, cases: &mut Cases) {
    let params = format!("{} returns {:?} {:?}", queues.dut.name, plan.gaps, plan.region);
    cases.from_each(&Start::RANDOM, params, |run| {
        let mut bench = Bench::new(run, queues, plan)?;
        bench.let_return(run.rng("senders"));
        for queue in Queue::ALL {
            bench.write_all(queue, &messages(&mut run.rng(&format!("{queue:?}")), queue, 120));
        }
        bench.finish(400_000)?;
        assert!(bench.backs > 30, "{} messages came back", bench.backs);
        Ok(())
    });
}

/// As many words of these queues left, one in each cycle.
fn without_bubble(bench: &Bench, words: usize, of: impl Fn(Queue) -> bool) -> Result<(), Fault> {
    let given = bench.given.iter().filter(|given| of(given.queue));
    let given: Vec<u64> = given.map(|given| given.cycle).collect();
    let cycles = given.last().map_or(0, |last| last - given[0] + 1);
    Rule::Rate.holds(given.len() == words && cycles == words as u64, || {
        format!("{} of {words} words left in {cycles} cycles", given.len())
    })
}

/// One writer gives words: one per cycle goes in and out.
fn one_writer(run: &Run, queues: &Queues, queue: Queue) -> Result<(), Fault> {
    let mut bench = Bench::new(run, queues, QUICK)?;
    for round in 0..60 {
        bench.write(queue, &[round; 8]);
    }
    while bench.given.len() < 60 * 8 && bench.cycles() < 2 * 60 * 8 + 100 {
        bench.cycle()?;
    }
    without_bubble(&bench, 60 * 8, |_| true)
}

/// All writers give words, then all takers go: each class gives a word per cycle.
fn all_writers(run: &Run, queues: &Queues) -> Result<(), Fault> {
    /// Of 8 words: as many as fit into each queue.
    const MESSAGES: u32 = 3;
    let mut bench = Bench::new(run, queues, QUICK)?;
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
        let is_of_class = |queue: Queue| queue.class() == class;
        let queues = Queue::ALL.into_iter().filter(|&queue| is_of_class(queue));
        without_bubble(&bench, queues.count() * 8 * MESSAGES as usize, is_of_class)?;
    }
    Ok(())
}

/// A message needs three cycles.
fn latency(run: &Run, queues: &Queues, queue: Queue) -> Result<(), Fault> {
    let mut bench = Bench::new(run, queues, QUICK)?;
    bench.write(queue, &[1, 2, 3]);
    while bench.taken[queue as usize] < 3 && bench.cycles() < 100 {
        bench.cycle()?;
    }
    let taken = bench.cycles() - 1;
    bench.run(6)?;
    let cycles = bench.given.first().map(|given| given.cycle - taken);
    Rule::Latency.holds(cycles == Some(3), || {
        format!("{cycles:?} cycles from the last word of {queue:?} to the first")
    })
}

pub fn rate(queues: &Queues, cases: &mut Cases) {
    cases.from_each(&Start::RANDOM, format!("{} rate", queues.dut.name), |run| {
        Queue::ALL
            .into_iter()
            .try_for_each(|queue| one_writer(run, queues, queue))?;
        all_writers(run, queues)
    });
    cases.from_each(&Start::RANDOM, format!("{} latency", queues.dut.name), |run| {
        Queue::ALL.into_iter().try_for_each(|queue| latency(run, queues, queue))
    });
}

/// No word is taken. One writer gives a word in every other cycle: it never waits, and its words are spilled.
pub fn overflow(queues: &Queues, queue: Queue, cases: &mut Cases) {
    let units = 3;
    // The user has half of the region.
    let limit = if queue == Queue::User { 2 * units } else { units };
    let plan = Plan {
        timing: SLOW,
        region: Region { base: 1, limit },
        ..QUICK
    };
    // The red zone begins here; some words come into it.
    let red = (u32::from(units) - 1) * SPILL_UNIT;
    cases.case(
        Start::Random1,
        format!("{} overflow {queue:?}", queues.dut.name),
        |run| {
            let mut bench = Bench::new(run, queues, plan)?;
            bench.take(Pacer::stopped);
            let (mut full_at, mut longest) = (None, 0);
            for words in messages(&mut run.rng("messages"), queue, 480) {
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
            // Some words wait for the first turn.
            Rule::Waits.holds(longest <= 4, || format!("{longest} words of {queue:?} waited"))?;
            let held = bench.seen.held;
            let in_time = full_at.is_some_and(|at| (red..red + 3).contains(&at));
            Rule::Reported.holds(held > red && in_time, || {
                format!("{held} elements, full at {full_at:?}, the red zone begins at {red}")
            })?;
            Rule::Reported.holds(bench.seen.spilled == queue.bit(), || {
                format!("spilled queues {:#b}", bench.seen.spilled)
            })?;
            bench.take(Pacer::steady);
            bench.finish(200_000)
        },
    );
}

/// A message comes while nothing else is inside, and waits for its taker: it leaves once.
fn wakes(queues: &Queues, cases: &mut Cases) {
    for edges in [0, 1, 2] {
        let params = format!("{} wakes, {edges} of 2 cycles at rest have an edge", queues.dut.name);
        cases.case(Start::Random1, params, |run| {
            let mut bench = Bench::new(run, queues, QUICK)?;
            bench.edges_at_rest = edges;
            for queue in Queue::ALL {
                for is_direct in [false, true] {
                    for number in 0..10 {
                        bench.take(Pacer::stopped);
                        bench.run(20)?;
                        if is_direct {
                            bench.direct.push((queue, message(&[number])[0], Label::default()));
                        } else {
                            bench.write(queue, &[number]);
                        }
                        bench.run(20)?;
                        bench.take(Pacer::steady);
                        bench.finish(100)?;
                    }
                }
            }
            Ok(())
        });
    }
}

/// No word is taken: each queue holds all its words, or all but one, before the first is spilled.
fn sizes(queues: &Queues, cases: &mut Cases) {
    const WORDS: u32 = 16;
    cases.case(Start::Random1, format!("{} sizes", queues.dut.name), |run| {
        for queue in Queue::ALL {
            let size = match queue {
                Queue::Access | Queue::RemoteReply => 32,
                Queue::System | Queue::User | Queue::GetReply => 64,
            };
            for cycles in [1, 2, 5] {
                let mut bench = Bench::new(run, queues, QUICK)?;
                bench.take(Pacer::stopped);
                for number in 0..100 / WORDS {
                    for word in message(&[number; WORDS as usize]) {
                        bench.writers[queue as usize].push(word);
                        bench.run(cycles)?;
                    }
                }
                while !bench.writers[queue as usize].is_empty() && bench.cycles() < 2_000 {
                    bench.cycle()?;
                }
                bench.run(20)?;
                // One word has been fetched, and is on offer.
                let inside = bench.taken[queue as usize] - u64::from(bench.seen.held) - 1;
                Rule::Full.holds((size - 1..=size).contains(&inside), || {
                    format!("{queue:?} of {size} words holds {inside}, at a word in {cycles} cycles")
                })?;
                bench.take(Pacer::steady);
                bench.finish(2_000)?;
            }
        }
        Ok(())
    });
}

/// The region is full, or the user's half of it: that writer waits, the others do not, and no word is lost.
fn region_full(queues: &Queues, cases: &mut Cases) {
    for (queue, limit) in [(Queue::System, 1), (Queue::User, 2)] {
        let plan = Plan {
            region: Region { base: 1, limit },
            ..QUICK
        };
        cases.case(Start::Random1, format!("{} full {queue:?}", queues.dut.name), |run| {
            let mut bench = Bench::new(run, queues, plan)?;
            bench.take(Pacer::stopped);
            bench.write_all(queue, &messages(&mut run.rng("messages"), queue, 400));
            bench.run(6_000)?;
            let (held, left) = bench.held_and_left(queue);
            let is_full = (SPILL_UNIT - 1..=SPILL_UNIT).contains(&held);
            Rule::Reported.holds(bench.seen.full && is_full && left > 0, || {
                format!("{held} elements and {left} words outside, full {}", bench.seen.full)
            })?;
            // A queue with room goes on. So does the system's overflow beside the user's.
            let (other, words) = match queue {
                Queue::User => (Queue::System, 400),
                _ => (Queue::Access, 24),
            };
            for _ in 0..words / 8 {
                bench.write(other, &[1, 2, 3, 4, 5, 6, 7, 8]);
            }
            // The memory takes a word in three cycles.
            bench.run(3 * words)?;
            Rule::Waits.holds(bench.taken[other as usize] == words, || {
                format!(
                    "{:?} of {words} words of {other:?}: it waits for {queue:?}",
                    bench.taken
                )
            })?;
            bench.take(Pacer::steady);
            bench.finish(200_000)
        });
    }
}

/// Direct words overflow a queue as a writer's do, wait when the region is full, and all leave at last.
fn direct_full(queues: &Queues, cases: &mut Cases) {
    const QUEUE: Queue = Queue::System;
    const WORDS: u32 = SPILL_UNIT + 100;
    let plan = Plan {
        region: Region { base: 1, limit: 1 },
        ..QUICK
    };
    cases.case(
        Start::Random1,
        format!("{} full of direct words", queues.dut.name),
        |run| {
            let mut bench = Bench::new(run, queues, plan)?;
            let push = |bench: &mut Bench, number| bench.direct.push((QUEUE, message(&[number])[0], Label::default()));
            bench.take(Pacer::stopped);
            (0..10).for_each(|number| push(&mut bench, number));
            bench.run(100)?;
            let spilled = bench.elements[QUEUE as usize];
            Rule::Full.holds(spilled == 0, || format!("{spilled} of 10 direct words are spilled"))?;
            (10..WORDS).for_each(|number| push(&mut bench, number));
            bench.run(6_000)?;
            let (held, left) = (bench.seen.held, bench.direct.len());
            let is_full = (SPILL_UNIT - 1..=SPILL_UNIT).contains(&held);
            Rule::Waits.holds(is_full && left > 0, || {
                format!("{held} elements in the region, {left} direct words outside")
            })?;
            bench.take(Pacer::steady);
            bench.finish(200_000)
        },
    );
}

/// A pause lets an open message end, and no other begin. Until it has ended, the queues are not stable.
fn pauses(queues: &Queues, cases: &mut Cases) {
    for queue in Queue::ALL {
        cases.case(Start::Random1, format!("{} pauses {queue:?}", queues.dut.name), |run| {
            let mut bench = Bench::new(run, queues, QUICK)?;
            let words = message(&[1, 2, 3]);
            bench.writers[queue as usize].push(words[0]);
            bench.run(20)?;
            bench.modes.pause = true;
            bench.run(20)?;
            Rule::Reported.holds(!bench.seen.stable, || "stable amid a message".into())?;
            words[1..]
                .iter()
                .for_each(|word| bench.writers[queue as usize].push(*word));
            bench.write(queue, &[7]);
            bench.run(20)?;
            let taken = bench.taken[queue as usize];
            Rule::Waits.holds(taken == 3, || format!("{taken} words go in, of a message of 3"))?;
            Rule::Reported.holds(bench.seen.stable, || "not stable behind a message".into())?;
            bench.modes.pause = false;
            bench.finish(200)
        });
    }
}

/// Requests and replies overflow together, these some words earlier or later.
fn side_by_side(queues: &Queues, cases: &mut Cases) {
    for early in 0..10 {
        let params = format!("{} side by side {early}", queues.dut.name);
        cases.case(Start::Random1, params, |run| {
            let mut bench = Bench::new(run, queues, QUICK)?;
            bench.take(Pacer::stopped);
            for number in 0..early {
                bench.write(Queue::GetReply, &[number]);
            }
            bench.run(50)?;
            for queue in [Queue::System, Queue::GetReply] {
                bench.write_all(queue, &messages(&mut run.rng(&format!("{queue:?}")), queue, 40));
            }
            bench.run(600)?;
            bench.take(Pacer::steady);
            bench.finish(20_000)
        });
    }
}

/// A reply's message has begun to overflow when requests fill their queue and wait: it goes on, though nobody takes
/// anything.
fn amid_replies(queues: &Queues, cases: &mut Cases) {
    let waits = Queue::GetReply;
    cases.case(Start::Random1, format!("{} amid replies", queues.dut.name), |run| {
        let mut bench = Bench::new(run, queues, QUICK)?;
        bench.take(Pacer::stopped);
        bench.write_all(waits, &messages(&mut run.rng("replies"), waits, 40));
        bench.run(600)?;
        let last = message(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let (first, rest) = last.split_at(4);
        first.iter().for_each(|word| bench.writers[waits as usize].push(*word));
        bench.run(50)?;
        bench.write_all(Queue::System, &messages(&mut run.rng("requests"), Queue::System, 60));
        bench.run(600)?;
        rest.iter().for_each(|word| bench.writers[waits as usize].push(*word));
        bench.run(100)?;
        let (left, requests) = (
            bench.writers[waits as usize].len(),
            bench.writers[Queue::System as usize].len(),
        );
        Rule::Waits.holds(left == 0 && bench.seen.held > 0, || {
            format!("{left} words of the reply wait, with {requests} words of requests")
        })?;
        bench.take(Pacer::steady);
        bench.finish(20_000)
    });
}

/// An element that has come back as one of no queue, or of two, is lost.
fn nameless(queues: &Queues, cases: &mut Cases) {
    const ELEMENT: u32 = 20;
    for bits in [0, 0b11000, 0b00101] {
        let params = format!("{} queues {bits:#07b}", queues.dut.name);
        cases.case(Start::Random1, params, |run| {
            let mut bench = Bench::new(run, queues, QUICK)?;
            bench.take(Pacer::stopped);
            bench.write_all(Queue::User, &messages(&mut run.rng("messages"), Queue::User, 60));
            bench.run(600)?;
            bench.rename(ELEMENT, bits);
            bench.take(Pacer::steady);
            bench.finish(5_000)?;
            let [_, lost, broken] = bench.told;
            Rule::Reported.holds(lost == 1 && broken > 0, || {
                format!("{lost} elements lost, {broken} messages broken")
            })
        });
    }
}

/// Requests overflow, and none is taken: any number of replies goes on, and none stands behind the requests.
fn behind(queues: &Queues, cases: &mut Cases) {
    const MESSAGES: usize = 60;
    let plan = Plan { timing: SLOW, ..QUICK };
    for first in [Queue::User, Queue::System] {
        cases.case(Start::Random1, format!("{} behind {first:?}", queues.dut.name), |run| {
            let mut bench = Bench::new(run, queues, plan)?;
            bench.take(Pacer::stopped);
            bench.write_all(first, &messages(&mut run.rng("messages"), first, MESSAGES));
            bench.run(2_000)?;
            let held = bench.seen.held;
            let mut words = 0;
            for queue in [Queue::RemoteReply, Queue::GetReply] {
                let messages = messages(&mut run.rng(&format!("{queue:?}")), queue, MESSAGES);
                words += messages.iter().map(Vec::len).sum::<usize>();
                bench.write_all(queue, &messages);
            }
            bench.run(1_000)?;
            bench.sinks[Class::Reply as usize] = Sink::new(Pacer::steady());
            bench.run(4 * words as u64)?;
            let (given, now) = (bench.given.len(), bench.seen.held);
            Rule::Waits.holds(held > 0 && now == held && given == words, || {
                format!("{given} of {words} words of replies left, {held} and then {now} elements")
            })?;
            bench.take(Pacer::steady);
            bench.finish(200_000)
        });
    }
}

/// Replies are spilled, and requests behind them. When software has copied the replies back, further replies do not
/// wait for the requests.
fn replies_return(queues: &Queues, cases: &mut Cases) {
    const MESSAGES: usize = 60;
    const REPLIES: [Queue; 2] = [Queue::RemoteReply, Queue::GetReply];
    for behind in [Queue::User, Queue::System] {
        let params = format!("{} {behind:?} behind replies", queues.dut.name);
        cases.case(Start::Random1, params, |run| {
            let mut bench = Bench::new(run, queues, QUICK)?;
            bench.take(Pacer::stopped);
            let write = |bench: &mut Bench, queue: Queue, round: u32| {
                let messages = messages(&mut run.rng(&format!("{queue:?} {round}")), queue, MESSAGES);
                bench.write_all(queue, &messages);
                messages.iter().map(Vec::len).sum::<usize>()
            };
            let mut words: usize = REPLIES.map(|queue| write(&mut bench, queue, 0)).iter().sum();
            bench.run(4 * words as u64)?;
            let replies = bench.seen.held;
            write(&mut bench, behind, 0);
            bench.run(2_000)?;
            let held = bench.seen.held;
            bench.sinks[Class::Reply as usize] = Sink::new(Pacer::steady());
            bench.run(8 * words as u64)?;
            let left = bench.seen.held;
            words += REPLIES.map(|queue| write(&mut bench, queue, 1)).iter().sum::<usize>();
            bench.run(4 * words as u64)?;
            let given = bench.given.len();
            Rule::Waits.holds(0 < replies && replies < held && 0 < left && given == words, || {
                format!("{replies} elements of replies, {held} in all, {left} left; {given} of {words} words left")
            })?;
            bench.take(Pacer::steady);
            bench.finish(200_000)
        });
    }
}

/// The taker of one class stops in the middle of a message: the messages of the other class go on.
fn classes(queues: &Queues, cases: &mut Cases) {
    const MESSAGES: usize = 30;
    let plan = Plan {
        region: Region { limit: 0, ..REGION },
        ..QUICK
    };
    for stopped in [Class::Request, Class::Reply] {
        for goes in Queue::ALL.into_iter().filter(|queue| queue.class() != stopped) {
            let params = format!("{} {stopped:?} stopped, {goes:?} goes", queues.dut.name);
            cases.case(Start::Random1, params, |run| {
                let mut bench = Bench::new(run, queues, plan)?;
                bench.sinks[stopped as usize] = Sink::new(Pacer::stopped());
                bench.sinks[1 - stopped as usize] = Sink::new(Pacer::steady());
                let writes = |queue: &Queue| *queue == goes || queue.class() == stopped;
                for queue in Queue::ALL.into_iter().filter(writes) {
                    bench.write_all(queue, &messages(&mut run.rng(&format!("{queue:?}")), queue, MESSAGES));
                }
                let words = bench.writers[goes as usize].len();
                // At most four writers take turns.
                bench.run(4 * words as u64 + 20)?;
                let given = bench.given.iter().filter(|given| given.queue == goes).count();
                Rule::Waits.holds(given == words && bench.given.len() == words, || {
                    format!("{given} of {words} words of {goes:?} left while {stopped:?} stood")
                })?;
                bench.take(Pacer::steady);
                bench.finish(20_000)
            });
        }
    }
}

/// Block mode: a queue without spilled words spills none, its writer waits, and the others do not. A queue with
/// spilled words goes on.
fn blocked(queues: &Queues, cases: &mut Cases) {
    let state = |bench: &Bench| {
        let left = [Queue::User, Queue::System].map(|queue| !bench.writers[queue as usize].is_empty());
        (bench.seen.held > 0, bench.seen.spilled, left)
    };
    cases.case(Start::Random1, format!("{} blocked", queues.dut.name), |run| {
        let fill = |bench: &mut Bench, queue| {
            bench.write_all(queue, &messages(&mut run.rng("messages"), queue, 100));
        };
        let mut bench = Bench::new(run, queues, QUICK)?;
        bench.take(Pacer::stopped);
        bench.modes.block = true;
        bench.run(2)?;
        fill(&mut bench, Queue::User);
        bench.run(1_000)?;
        Rule::Blocks.holds(state(&bench) == (false, 0, [true, false]), || {
            format!("blocked: {:x?}, left {:?}", bench.seen, state(&bench).2)
        })?;
        // Other queues have room.
        bench.write(Queue::GetReply, &[1, 2, 3, 4]);
        bench.run(20)?;
        Rule::Waits.holds(bench.taken[Queue::GetReply as usize] == 4, || {
            "a reply waits for a user".into()
        })?;
        // The user may spill for some cycles, and then goes on. The system may not begin.
        bench.modes.block = false;
        bench.run(20)?;
        bench.modes.block = true;
        bench.run(2)?;
        fill(&mut bench, Queue::System);
        bench.run(4_000)?;
        let want = (true, Queue::User.bit(), [false, true]);
        Rule::Blocks.holds(state(&bench) == want, || {
            format!(
                "blocked but for the user: {:x?}, left {:?}",
                bench.seen,
                state(&bench).2
            )
        })?;
        bench.take(Pacer::steady);
        bench.finish(200_000)
    });
}

/// The region exists for some cycles. If a word is in it by then, it stays until it is empty; otherwise no word comes
/// into it.
fn region_gone(queues: &Queues, cases: &mut Cases) {
    for queue in [Queue::User, Queue::System, Queue::GetReply] {
        cases.case(Start::Random1, format!("{} gone {queue:?}", queues.dut.name), |run| {
            let messages = messages(&mut run.rng("messages"), queue, 40);
            let plan = Plan {
                region: Region { base: 1, limit: 1 },
                ..QUICK
            };
            let mut kept = [0; 2];
            for cycles in 1..12 {
                let mut bench = Bench::new(run, queues, plan)?;
                kept[usize::from(region_for(&mut bench, queue, &messages, cycles)?)] += 1;
                bench.take(Pacer::steady);
                bench.finish(200_000)?;
                // It was empty: now there is none.
                bench.take(Pacer::stopped);
                bench.write_all(queue, &messages);
                bench.run(400)?;
                let (held, left) = bench.held_and_left(queue);
                Rule::Blocks.holds(held == 0 && left > 0, || {
                    format!("the region is gone: {held} words in it, {left} outside")
                })?;
                bench.take(Pacer::steady);
                bench.finish(200_000)?;
            }
            Rule::Blocks.holds(kept.iter().all(|&kept| kept > 0), || {
                format!("{kept:?} of the regions were without and with words: the case shows nothing")
            })
        });
    }
}

/// The region exists for as many cycles. Whether a word was in it by then.
fn region_for(bench: &mut Bench, queue: Queue, messages: &[Vec<u32>], cycles: u64) -> Result<bool, Fault> {
    bench.take(Pacer::stopped);
    bench.region.limit = 0;
    bench.run(5)?;
    bench.write_all(queue, messages);
    bench.run(200)?;
    bench.region.limit = 1;
    bench.run(cycles)?;
    bench.region.limit = 0;
    // With the word of the cycle in which the limit came.
    bench.run(2)?;
    let is_kept = bench.seen.held > 0;
    bench.run(1_000)?;
    let (held, left) = bench.held_and_left(queue);
    Rule::Blocks.holds((held > 0, left > 0) == (is_kept, !is_kept), || {
        format!("a region for {cycles} cycles, kept {is_kept}: {held} words in it, {left} outside")
    })?;
    Ok(is_kept)
}

/// Memory that refuses writes, that refuses reads, both, and that returns other elements: messages that lost a word
/// are dropped, and no other is.
fn memory_errors(queues: &Queues, cases: &mut Cases) {
    let plan = Plan { timing: SLOW, ..QUICK };
    let bad = |bench: &mut Bench, rng: &mut Rng| {
        for _ in 0..4 {
            let at = REGION.addr() + rng.between(30, 500) as u32 * SPILL_BYTES;
            bench.spill.memory.inject_fault(at..at + rng.between(1, 40) as u32);
        }
    };
    cases.case(Start::Random1, format!("{} errors", queues.dut.name), |run| {
        let mut bench = Bench::new(run, queues, plan)?;
        let mut rng = run.rng("errors");
        let rounds = ["none", "write", "read", "both", "other", "none"];
        for (round, errors) in rounds.into_iter().enumerate() {
            bench.take(Pacer::stopped);
            if errors == "write" || errors == "both" {
                bad(&mut bench, &mut rng);
            }
            for queue in [Queue::User, Queue::System] {
                bench.write_all(queue, &messages(&mut run.rng(&format!("{queue:?} {round}")), queue, 90));
            }
            bench.run(8_000)?;
            if errors != "both" {
                bench.spill.memory.clear_faults();
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
            bench.spill.memory.clear_faults();
            let [lost, broken] = [1, 2].map(|i| bench.told[i] - before[i]);
            let some = errors != "none";
            Rule::Reported.holds((lost > 0, broken > 0) == (some, some), || {
                format!("errors {errors}: {lost} elements lost, {broken} messages broken")
            })?;
        }
        Ok(())
    });
}

/// Memory refuses the same elements in each lap, until the lap comes round in which it last took them: none of these
/// old elements comes back.
fn refused_again(queues: &Queues, cases: &mut Cases) {
    const LAPS: u32 = (SPILL_TAG_LAP_MASK >> SPILL_TAG_LAP_SHIFT) + 1;
    cases.case(Start::Random1, format!("{} refused", queues.dut.name), |run| {
        let mut bench = Bench::new(run, queues, QUICK)?;
        for lap in 0..2 * LAPS {
            bench.take(Pacer::stopped);
            if lap % LAPS != 0 {
                // From one element to several bursts.
                for at in [9, 40, 48, 56, 80] {
                    let at = REGION.addr() + at * SPILL_BYTES;
                    bench.spill.memory.inject_fault(at..at + lap * 8);
                }
            }
            let before = bench.told[1];
            bench.write_all(Queue::User, &messages(&mut run.rng(&format!("{lap}")), Queue::User, 40));
            bench.run(1_000)?;
            bench.spill.memory.clear_faults();
            bench.take(Pacer::steady);
            bench.finish(20_000)?;
            let lost = bench.told[1] - before;
            Rule::Reported.holds((lost > 0) == (lap % LAPS != 0), || {
                format!("lap {lap}: {lost} elements lost")
            })?;
        }
        Ok(())
    });
}

/// A run of elements is lost, as long as a message or as eight. The next words, in the region or behind it, do not
/// complete a message from before the gap.
fn lost_runs(queues: &Queues, of: &[Queue], cases: &mut Cases) {
    const MESSAGES: u32 = 60;
    const WORDS: u32 = 4;
    let tail = |from: u32, to: u32| {
        let word = |word| Word {
            data: word << 8,
            end: word == WORDS - 1,
        };
        (from..to).map(word)
    };
    let runs = [
        (1, false),
        (WORDS, false),
        (8 * WORDS, false),
        (WORDS, true),
        (8 * WORDS, true),
    ];
    for (&queue, (elements, is_at_end)) in of.iter().flat_map(|queue| runs.map(|run| (queue, run))) {
        let params = format!("{} {queue:?} {elements} lost, at the end {is_at_end}", queues.dut.name);
        cases.case(Start::Random1, params, |run| {
            for from in 0..WORDS {
                let mut bench = Bench::new(run, queues, QUICK)?;
                bench.take(Pacer::stopped);
                for number in 0..MESSAGES {
                    let words: Vec<u32> = (0..WORDS).map(|word| (word << 8) | (number + 1)).collect();
                    bench.write(queue, &words);
                }
                // The last message begins.
                tail(0, from).for_each(|word| bench.writers[queue as usize].push(word));
                bench.run(600)?;
                let held = bench.seen.held;
                Rule::Reported.holds(held > elements + 32, || format!("{held} elements in the region"))?;
                // Less than 8 KB are left of the user's half, but not of the region.
                Rule::Reported.holds(bench.seen.full == (queue == Queue::User), || {
                    format!("full {} with {held} elements of {queue:?}", bench.seen.full)
                })?;
                let first = if is_at_end { held - elements } else { 16 + from };
                let at = REGION.addr() + first * SPILL_BYTES;
                bench.spill.memory.inject_fault(at..at + elements * SPILL_BYTES);
                bench.take(Pacer::steady);
                bench.run(1_000)?;
                Rule::Reported.holds(bench.seen.held == 0, || {
                    format!("{} of {held} elements stay in the region", bench.seen.held)
                })?;
                Rule::Reported.holds(bench.told[1] == u64::from(elements), || {
                    format!("{} of {elements} elements lost", bench.told[1])
                })?;
                // Of one word: if it was a message's last one, only the next message's first word tells.
                Rule::Reported.holds(elements > 1 || bench.told[2] > 0, || {
                    format!("element {first} is lost, and no message is broken")
                })?;
                tail(from, WORDS).for_each(|word| bench.writers[queue as usize].push(word));
                bench.finish(2_000)?;
                // The next overflow begins amid a message for some of these. It has lost nothing.
                bench.take(Pacer::stopped);
                (0..from).for_each(|number| bench.write(queue, &[number]));
                (0..30).for_each(|number| bench.write(queue, &[number; WORDS as usize]));
                bench.run(300)?;
                bench.take(Pacer::steady);
                bench.finish(2_000)?;
            }
            Ok(())
        });
    }
}

/// A message that is too long is dropped and reported, and the next messages do not suffer.
fn too_long(queues: &Queues, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} too long", queues.dut.name), |run| {
        let mut bench = Bench::new(run, queues, QUICK)?;
        for words in [17, 40, 400] {
            let list: Vec<u32> = (0..words).collect();
            bench.write(Queue::User, &list);
            bench.run(u64::from(words) + 600)?;
            // The model must not know of the dropped message.
            bench.model = bench::model(Region { limit: 0, ..REGION });
            bench.write(Queue::User, &(0..16).collect::<Vec<_>>());
            bench.write(Queue::User, &[7]);
            let before = bench.given.len();
            bench.run(100)?;
            let (broken, given) = (bench.told[2], bench.given.len() - before);
            Rule::Reported.holds(broken > 0 && given == 17, || {
                format!("{words} words: {broken} messages broken, {given} words left")
            })?;
        }
        Ok(())
    });
}

/// All checks of queues that hardware refills, as they find the twins.
fn checks(queues: &Queues, cases: &mut Cases) {
    for region in [REGION, NO_REGION] {
        for (gaps, timing) in [
            (Gaps::None, MemoryTiming::IDEAL),
            (Gaps::Both, SLOW),
            (Gaps::Sink, SLOW),
        ] {
            let plan = Plan { gaps, timing, region };
            follows(queues, &[Start::Random1], plan, 250, cases);
        }
    }
    rate(queues, cases);
    overflow(queues, Queue::User, cases);
    wakes(queues, cases);
    sizes(queues, cases);
    classes(queues, cases);
    behind(queues, cases);
    region_full(queues, cases);
    memory_errors(queues, cases);
    refused_again(queues, cases);
    lost_runs(queues, &[Queue::User], cases);
    too_long(queues, cases);
    blocked(queues, cases);
    region_gone(queues, cases);
}

/// With and without a region, for quick and slow neighbours.
fn all_returns(queues: &Queues, cases: &mut Cases) {
    for region in [REGION, NO_REGION] {
        for gaps in [Gaps::None, Gaps::Both, Gaps::Sink] {
            let timing = if gaps == Gaps::None { MemoryTiming::IDEAL } else { SLOW };
            returns(queues, Plan { gaps, timing, region }, cases);
        }
    }
}

fn wide() -> Queues {
    queues::<Ap1000pQueues>(Refill::Hardware)
}

fn narrow() -> Queues {
    queues::<Ap1000pQueuesNarrow>(Refill::Hardware)
}

fn software() -> Queues {
    queues::<Ap1000pQueuesSoftware>(Refill::Software)
}

/// Under each gap pattern, with a quick and a slow memory, from both starts.
fn lockstep(queues: &Queues, region: Region, count: usize, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for timing in [MemoryTiming::IDEAL, SLOW] {
            let plan = Plan { gaps, timing, region };
            follows(queues, &Start::RANDOM, plan, count, cases);
        }
    }
}

#[test]
fn follow_their_model_while_words_are_spilled() {
    pass(this_test!(), |cases| {
        lockstep(&wide(), REGION, 250, cases);
        lockstep(&narrow(), Region { base: 0, limit: 1 }, 250, cases);
        lockstep(&software(), REGION, 250, cases);
    });
}

/// Without a region no word is spilled: the model has the turns to the cycle.
#[test]
fn follow_the_order_of_the_queues() {
    pass(this_test!(), |cases| {
        lockstep(&wide(), NO_REGION, 150, cases);
        lockstep(&software(), NO_REGION, 150, cases);
    });
}

#[test]
fn messages_come_back() {
    pass(this_test!(), |cases| all_returns(&wide(), cases));
}

#[test]
fn a_word_per_cycle() {
    pass(this_test!(), |cases| {
        rate(&wide(), cases);
        rate(&narrow(), cases);
    });
}

#[test]
fn queues_at_rest_need_no_clock() {
    pass(this_test!(), |cases| {
        wakes(&wide(), cases);
        wakes(&software(), cases);
    });
}

#[test]
fn a_full_queue_holds_all_its_words_or_all_but_one() {
    pass(this_test!(), |cases| {
        sizes(&wide(), cases);
        sizes(&narrow(), cases);
    });
}

#[test]
fn memory_errors_take_only_the_messages_they_hit() {
    pass(this_test!(), |cases| {
        memory_errors(&wide(), cases);
        memory_errors(&narrow(), cases);
    });
}

#[test]
fn refused_elements_never_come_back() {
    pass(this_test!(), |cases| {
        refused_again(&wide(), cases);
        refused_again(&narrow(), cases);
    });
}

#[test]
fn an_element_of_no_queue_or_of_two_is_lost() {
    pass(this_test!(), |cases| {
        nameless(&wide(), cases);
        nameless(&narrow(), cases);
    });
}

#[test]
fn a_pause_comes_between_messages() {
    pass(this_test!(), |cases| {
        pauses(&wide(), cases);
        pauses(&narrow(), cases);
    });
}

#[test]
fn requests_and_replies_overflow_side_by_side() {
    pass(this_test!(), |cases| {
        amid_replies(&narrow(), cases);
        side_by_side(&wide(), cases);
        side_by_side(&narrow(), cases);
    });
}

#[test]
fn no_message_goes_on_behind_lost_words() {
    pass(this_test!(), |cases| {
        lost_runs(&wide(), &Queue::ALL, cases);
        lost_runs(&narrow(), &Queue::ALL, cases);
    });
}

#[test]
fn a_message_that_is_too_long_is_dropped() {
    pass(this_test!(), |cases| too_long(&wide(), cases));
}

#[test]
fn a_full_region_stops_its_writers_and_no_others() {
    pass(this_test!(), |cases| {
        for queues in [wide(), narrow()] {
            region_full(&queues, cases);
            direct_full(&queues, cases);
        }
        // Software that refills has no way past direct words that wait.
        region_full(&software(), cases);
    });
}

#[test]
fn no_reply_stands_behind_a_spilled_request() {
    pass(this_test!(), |cases| {
        behind(&wide(), cases);
        behind(&narrow(), cases);
        behind(&software(), cases);
    });
}

#[test]
fn no_class_waits_for_the_other() {
    pass(this_test!(), |cases| {
        classes(&wide(), cases);
        classes(&software(), cases);
        replies_return(&wide(), cases);
        replies_return(&software(), cases);
    });
}

#[test]
fn block_mode_stops_queues_that_would_spill() {
    pass(this_test!(), |cases| {
        blocked(&wide(), cases);
        blocked(&narrow(), cases);
    });
}

#[test]
fn no_word_is_spilled_when_the_region_is_gone() {
    pass(this_test!(), |cases| {
        region_gone(&wide(), cases);
        region_gone(&narrow(), cases);
        region_gone(&software(), cases);
    });
}

fn hardware<U: Ap1000pQueuesUnit + 'static>() -> Queues {
    queues::<U>(Refill::Hardware)
}

/// The checks of a twin that hardware refills.
fn of<U: Ap1000pQueuesUnit + 'static>(cases: &mut Cases) {
    checks(&hardware::<U>(), cases);
}

#[test]
fn each_twin_is_caught() {
    use Refill::Software;
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A pause comes amid a message; a reply's element goes beside a request's; an element of no queue is one.
            (Reported, &[Waits], &|cases| {
                pauses(&hardware::<TwinQueuesAmid>(), cases)
            }),
            (Behind, &[], &|cases| {
                side_by_side(&hardware::<TwinQueuesBeside>(), cases)
            }),
            (Reported, &[], &|cases| {
                nameless(&hardware::<TwinQueuesNameless>(), cases)
            }),
            // A message that lost its last word only is not told; the first word of an overflow is in doubt.
            (Reported, &[], &|cases| {
                lost_runs(&hardware::<TwinQueuesTail>(), &[Queue::User], cases)
            }),
            (Order, &[Hang, Lost, Early], &|cases| {
                lost_runs(&hardware::<TwinQueuesFirst>(), &[Queue::User], cases)
            }),
            // A reply that has begun to overflow waits for requests.
            (Waits, &[], &|cases| {
                amid_replies(&hardware::<TwinQueuesYields>(), cases)
            }),
            // Direct words do not overflow; or they do so always.
            (Waits, &[], &|cases| {
                direct_full(&hardware::<TwinQueuesDirectWaits>(), cases)
            }),
            (Full, &[], &|cases| direct_full(&hardware::<TwinQueuesDiverts>(), cases)),
            // Later words of a queue overtake its spilled words.
            (Order, &[Hang, Element, Reported, Lost], &of::<TwinQueuesOrder>),
            // Another queue has the turn after each word.
            (
                Whole,
                &[Hang, Rate, Choice, Order, Early, Reported, Waits],
                &of::<TwinQueuesWhole>,
            ),
            // A message counts as whole with its first word.
            (
                Early,
                &[Hang, Order, Choice, Rate, Latency, Reported, Full],
                &of::<TwinQueuesEarly>,
            ),
            // A message that comes back begins in its middle; its place is free meanwhile.
            (Order, &[Hang, Early, Whole], &|cases| {
                all_returns(&hardware::<TwinQueuesBackAmid>(), cases)
            }),
            (Order, &[Hang, Early], &|cases| {
                all_returns(&hardware::<TwinQueuesBackOver>(), cases)
            }),
            // Nothing waits for a judgement, or for the end of a hold.
            (Returns, &[Order], &|cases| {
                all_returns(&hardware::<TwinQueuesBackSoon>(), cases)
            }),
            (Returns, &[], &|cases| {
                all_returns(&hardware::<TwinQueuesBackHeld>(), cases)
            }),
            // Users go before the system.
            (Choice, &[], &of::<TwinQueuesChoice>),
            // Any number of messages may pass over one.
            (Choice, &[], &of::<TwinQueuesAge>),
            // An element has no end bit.
            (Element, &[], &of::<TwinQueuesElement>),
            // The lap never changes.
            (Element, &[], &of::<TwinQueuesLap>),
            // An element of another place or lap counts.
            (Lost, &[Order, Early, Reported, Hang], &of::<TwinQueuesLost>),
            // A message with a gap leaves.
            (Lost, &[Order, Early, Reported, Hang], &of::<TwinQueuesGap>),
            // Old contents come in place of an element that the memory refused.
            (Lost, &[Order, Early, Reported, Hang], &of::<TwinQueuesOld>),
            // The RAM ignores the message number of a word.
            (Lost, &[Order, Early, Reported, Hang], &of::<TwinQueuesNumber>),
            // The RAM trusts the number although many messages are missing.
            (Lost, &[Order, Early, Reported, Hang], &of::<TwinQueuesDoubt>),
            // A writer goes on with a message although its last words in the region were lost.
            (Lost, &[Order, Early, Reported, Hang], &of::<TwinQueuesForget>),
            // Replies are spilled behind requests.
            (Behind, &[Waits, Hang], &of::<TwinQueuesBehind>),
            // The user may fill the region.
            (Share, &[Waits, Reported], &of::<TwinQueuesShare>),
            // An offer is withdrawn after a cycle.
            (
                Protocol,
                &[Hang, Order, Whole, Early, Choice, Rate, Reported],
                &of::<TwinQueuesWithdraws>,
            ),
            // `in_ready_o` follows `in_valid_i`.
            (Path, &[], &of::<TwinQueuesPath>),
            // A word leaves in every other cycle.
            (Rate, &[Choice], &of::<TwinQueuesBubble>),
            // A message is seen a cycle late.
            (Latency, &[Rate, Choice], &of::<TwinQueuesLate>),
            // A full queue stops its writer.
            (Waits, &[Reported, Blocks], &of::<TwinQueuesWaits>),
            // One full queue stops all writers.
            (Waits, &[Rate, Reported, Blocks, Hang], &of::<TwinQueuesClasses>),
            // A full queue has two free words.
            (Full, &[], &of::<TwinQueuesSmall>),
            // There is no block mode.
            (Blocks, &[], &of::<TwinQueuesBlocks>),
            // A word goes to a region that software takes away in that cycle.
            (Blocks, &[], &of::<TwinQueuesGone>),
            // The red zone is 4 KB.
            (Reported, &[], &of::<TwinQueuesReported>),
            // Software waits for the end of a message that waits for software.
            (Hang, &[], &|cases| {
                region_full(&queues::<TwinQueuesStable>(Software), cases)
            }),
            // Replies that software has copied back wait until the requests behind them are back.
            (Waits, &[], &|cases| {
                replies_return(&queues::<TwinQueuesReturn>(Software), cases)
            }),
            // `stable_o` is high with a direct word on its way.
            (Reported, &[], &|cases| {
                region_full(&queues::<TwinQueuesDirect>(Software), cases);
            }),
            // Stored elements are not fetched.
            (Hang, &[Reported], &of::<TwinQueuesHang>),
            // `busy_o` is low with words in the region.
            (
                Order,
                &[
                    Element, Choice, Early, Whole, Hang, Reported, Waits, Blocks, Full, Protocol, Rest,
                ],
                &of::<TwinQueuesAsleep>,
            ),
            // `busy_o` is low with a word on offer.
            (Rest, &[Order, Early, Choice, Rate, Reported], &of::<TwinQueuesKeeps>),
            // `busy_o` is low with a direct word inside.
            (Rest, &[Hang], &|cases| {
                wakes(&queues::<TwinQueuesDozes>(Software), cases)
            }),
        ],
    );
}
