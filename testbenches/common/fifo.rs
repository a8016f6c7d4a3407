//! `fifo`, `fifo_bram`, `skid`, `stream_delay` and `stream_gap`: queues that differ in depth, latency and gap.

use std::collections::VecDeque;
use std::fmt::Debug;

use support::this_test;
use testbenches::pipe::{Drive, Golden, Seen, Subject};
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, each_is_caught, failures, pass, rules};
use tsunagi::harness::seed::{Rng, Seed};
use verilated::{Input, Port};

rules!(
    /// Words leave as they came, in order.
    Order
    /// The level is the number of words inside.
    Level
    /// Ready exactly when there is room.
    Ready
    /// A word is on offer exactly from its time on.
    Latency
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
);

/// A bounded queue. A word may leave `latency` cycles after it came, and `gap` idle cycles after a last word.
#[derive(Clone)]
pub struct Queue<T> {
    depth: usize,
    latency: u64,
    gap: u64,
    is_last: fn(&T) -> bool,
    /// Words inside, and the cycles in which they came.
    words: VecDeque<(u64, T)>,
    /// The first cycle in which a word may leave.
    open_from: u64,
}

impl<T> Queue<T> {
    fn new(depth: usize, latency: u64) -> Queue<T> {
        Queue {
            depth,
            latency,
            gap: 0,
            is_last: |_| false,
            words: VecDeque::new(),
            open_from: 0,
        }
    }
}

impl<T: Clone + PartialEq + Debug> Golden for Queue<T> {
    type In = T;
    type Out = T;

    fn check(&self, cycle: u64, seen: &Seen<T>) -> Result<(), Fault> {
        let inside = self.words.len();
        let room = inside < self.depth;
        Rule::Ready.holds(seen.ready == room, || {
            format!("ready is {}, room is {room}", seen.ready)
        })?;
        let kept = seen.level.is_none_or(|level| level == inside);
        Rule::Level.holds(kept, || format!("level is {:?} with {inside} words inside", seen.level))?;
        let due = cycle >= self.open_from && self.words.front().is_some_and(|(put, _)| cycle >= put + self.latency);
        Rule::Latency.holds(seen.offered.is_some() == due, || {
            format!("{:x?} on offer, a word due: {due}", seen.offered)
        })
    }

    fn put(&mut self, cycle: u64, word: T) {
        self.words.push_back((cycle, word));
    }

    fn take(&mut self, cycle: u64, word: T) -> Result<(), Fault> {
        if (self.is_last)(&word) {
            self.open_from = cycle + self.gap + 1;
        }
        let want = self.words.pop_front().map(|(_, want)| want);
        Rule::Order.holds(want.as_ref() == Some(&word), || format!("got {word:x?}, not {want:x?}"))
    }

    fn is_done(&self) -> bool {
        self.words.is_empty()
    }

    fn reset(&mut self) {
        self.words.clear();
        self.open_from = 0;
    }
}

/// The ports of a queue of 64-bit words.
fn set(valid: &impl Input, data: &impl Input, ready: &impl Input, (word, wants): &Drive<u64>) {
    valid.set_bool(word.is_some());
    data.set(word.unwrap_or(0xdead_beef_dead_beef));
    ready.set_bool(*wants);
}

fn seen(ready: &impl Port, valid: &impl Port, data: &impl Port, level: Option<u64>) -> Seen<u64> {
    Seen {
        ready: ready.is_set(),
        offered: valid.is_set().then(|| data.get()),
        level: level.map(|level| level as usize),
    }
}

fn fifo<U: FifoUnit + 'static>() -> Subject<Queue<u64>> {
    let dut = Dut::of::<U>(
        |dut, inputs| set(dut.in_valid_i(), dut.in_data_i(), dut.out_ready_i(), inputs),
        |dut| {
            seen(
                dut.in_ready_o(),
                dut.out_valid_o(),
                dut.out_data_o(),
                Some(dut.level_o().get()),
            )
        },
    );
    Subject::new(dut, Queue::new(U::DEPTH, 1))
}

fn fifo_bram<U: FifoBramUnit + 'static>() -> Subject<Queue<u64>> {
    let dut = Dut::of::<U>(
        |dut, inputs| set(dut.in_valid_i(), dut.in_data_i(), dut.out_ready_i(), inputs),
        |dut| {
            seen(
                dut.in_ready_o(),
                dut.out_valid_o(),
                dut.out_data_o(),
                Some(dut.level_o().get()),
            )
        },
    );
    Subject::new(dut, Queue::new(U::DEPTH, 2))
}

pub fn skid<U: SkidUnit + 'static>() -> Subject<Queue<u64>> {
    let dut = Dut::of::<U>(
        |dut, inputs| set(dut.in_valid_i(), dut.in_data_i(), dut.out_ready_i(), inputs),
        |dut| seen(dut.in_ready_o(), dut.out_valid_o(), dut.out_data_o(), None),
    );
    Subject::new(dut, Queue::new(2, 1))
}

fn delay<U: StreamDelayUnit + 'static>() -> Subject<Queue<u64>> {
    let dut = Dut::of::<U>(
        |dut, inputs| set(dut.in_valid_i(), dut.in_data_i(), dut.out_ready_i(), inputs),
        |dut| {
            seen(
                dut.in_ready_o(),
                dut.out_valid_o(),
                dut.out_data_o(),
                Some(dut.level_o().get()),
            )
        },
    );
    Subject::new(dut, Queue::new(U::DEPTH, U::DELAY as u64))
}

/// Data and `last`.
type Beat = (u16, bool);

fn gap<U: StreamGapUnit + 'static, const GAP: u8>() -> Subject<Queue<Beat>> {
    let dut = Dut::of::<U>(
        |dut, (beat, wants): &Drive<Beat>| {
            let (data, last) = beat.unwrap_or((0xdead, true));
            dut.gap_i().set(GAP.into());
            dut.in_valid_i().set_bool(beat.is_some());
            dut.in_data_i().set(data.into());
            dut.in_last_i().set_bool(last);
            dut.out_ready_i().set_bool(*wants);
        },
        |dut| Seen {
            ready: dut.in_ready_o().is_set(),
            offered: dut
                .out_valid_o()
                .is_set()
                .then(|| (dut.out_data_o().get() as u16, dut.out_last_o().is_set())),
            level: None,
        },
    );
    let model = Queue {
        gap: GAP.into(),
        is_last: |beat: &Beat| beat.1,
        ..Queue::new(2, 1)
    };
    Subject {
        label: format!("{} gap {GAP}", dut.name),
        dut,
        model,
    }
}

fn word(rng: &mut Rng, _: usize) -> u64 {
    rng.bits()
}

fn beat(rng: &mut Rng, _: usize) -> Beat {
    (rng.bits() as u16, rng.chance(1, 3))
}

/// All checks of a queue of 64-bit words.
pub fn checks(queue: &Subject<Queue<u64>>, cases: &mut Cases) {
    queue.gaps(cases, word);
    queue.resets(cases, word);
}

/// All checks of the gap unit, for gaps of 0, 1 and 9 cycles.
fn gap_checks<U: StreamGapUnit + 'static>(cases: &mut Cases) {
    for queue in [gap::<U, 0>(), gap::<U, 1>(), gap::<U, 9>()] {
        queue.gaps(cases, beat);
        queue.resets(cases, beat);
    }
}

#[test]
fn fifo_lut_ram() {
    pass(this_test!(), |cases| {
        for queue in [fifo::<FifoD1>(), fifo::<FifoD2>(), fifo::<FifoD3>(), fifo::<FifoD16>()] {
            checks(&queue, cases);
        }
    });
}

#[test]
fn fifo_block_ram() {
    pass(this_test!(), |cases| {
        checks(&fifo_bram::<FifoBramD1>(), cases);
        checks(&fifo_bram::<FifoBramD2>(), cases);
        checks(&fifo_bram::<FifoBramD5>(), cases);
        checks(&fifo_bram::<FifoBramD512>(), cases);
    });
}

#[test]
fn skid_buffer() {
    pass(this_test!(), |cases| checks(&skid::<Skid>(), cases));
}

#[test]
fn stream_delay() {
    pass(this_test!(), |cases| {
        for queue in [delay::<DelayD1>(), delay::<DelayD2>(), delay::<DelayD5>()] {
            checks(&queue, cases);
        }
    });
}

#[test]
fn stream_gap() {
    pass(this_test!(), gap_checks::<StreamGap>);
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Order, &[], &|cases| checks(&fifo::<TwinFifoOrder>(), cases)),
            (Order, &[], &|cases| checks(&skid::<TwinSkidOrder>(), cases)),
            (Level, &[], &|cases| checks(&fifo::<TwinFifoLevel>(), cases)),
            (Ready, &[], &|cases| checks(&delay::<TwinDelayReady>(), cases)),
            (Latency, &[], &|cases| checks(&fifo_bram::<TwinFifoBramLone>(), cases)),
            (Latency, &[], &|cases| checks(&delay::<TwinDelayEarly>(), cases)),
            (Latency, &[], &gap_checks::<TwinStreamGapShort>),
            // A word that comes while the sink is not ready is not offered.
            (Path, &[Latency], &|cases| checks(&skid::<TwinSkidPath>(), cases)),
            (Protocol, &[], &gap_checks::<TwinStreamGapWithdraws>),
        ],
    );
}

/// A register without reset: a reset in mid-flight finds it from zeroed registers, and a random start without one.
#[test]
fn a_twin_without_reset_is_found() {
    let twin = fifo::<TwinFifoReset>();
    let found = Seed::of_twins().under(|| failures(this_test!(), |cases| twin.resets(cases, word)));
    let from_zero = found.iter().any(|(params, _)| params.contains("Zero"));
    assert!(from_zero, "a reset in mid-flight does not find it: {found:#?}");
    let found = Seed::of_twins().under(|| failures(this_test!(), |cases| twin.gaps(cases, word)));
    assert!(!found.is_empty(), "a random start does not find it");
    let random = found.iter().all(|(params, _)| params.contains("Random"));
    assert!(random, "without a reset only random starts find it: {found:#?}");
}
