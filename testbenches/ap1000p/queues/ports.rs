//! The ports of the queues.

use testbenches::Dut;
use testbenches::rtl::{Ap1000pQueuesPorts, Ap1000pQueuesUnit};
use tsunagi::ap1000p::golden::queues::Region;
use tsunagi::ap1000p::golden::{Label, Queue, Word};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use verilated::{Input as _, Port as _};

/// Modes, and elements that software releases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    pub pause: bool,
    pub through: bool,
    pub block: bool,
    pub release: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct In {
    pub region: Region,
    pub modes: Modes,
    /// By queue.
    pub words: [Option<Word>; 5],
    pub direct: Option<(Queue, Word, Label)>,
    /// By class.
    pub ready: [bool; 2],
    /// Bits by queue: held, settled, put back.
    pub judged: Judged,
    pub mem: MemPortsOut,
}

/// What the senders say of messages that were given, by bits of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    pub hold: u8,
    pub settle: u8,
    pub back: u8,
}

impl Judged {
    /// No message comes back.
    pub const ALL_GOOD: Judged = Judged {
        hold: 0,
        settle: 0x1f,
        back: 0,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    pub busy: bool,
    pub ready: u8,
    pub direct_ready: bool,
    /// For each class a word and its queue, one-hot.
    pub words: [Option<(u8, Word)>; 2],
    pub mem: MemPortsIn,
    pub stable: bool,
    pub fill: bool,
    pub full: bool,
    pub spilled: u8,
    pub held: u32,
    pub position: u16,
    pub spill_error: bool,
    pub lost: bool,
    pub broken: bool,
}

fn set(dut: &impl Ap1000pQueuesPorts, inputs: &In) {
    let In { region, modes, .. } = inputs;
    dut.base_i().set(region.base.into());
    dut.limit_i().set(region.limit.into());
    dut.pause_i().set_bool(modes.pause);
    dut.through_i().set_bool(modes.through);
    dut.block_i().set_bool(modes.block);
    dut.release_valid_i().set_bool(modes.release.is_some());
    dut.release_count_i().set(modes.release.unwrap_or(0x1_2345).into());
    for (q, word) in inputs.words.iter().enumerate() {
        let junk = Word {
            data: 0xdead_beef,
            end: true,
        };
        dut.in_valid_i().set_bits(q, 1, word.is_some().into());
        let word = word.unwrap_or(junk);
        dut.in_end_i().set_bits(q, 1, word.end.into());
        dut.in_data_i().set_bits(32 * q, 32, word.data.into());
    }
    let direct = inputs.direct;
    dut.direct_valid_i().set_bool(direct.is_some());
    dut.arriving_i().set_bool(direct.is_some());
    let of = |junk: u64, value: &dyn Fn((Queue, Word, Label)) -> u64| direct.map_or(junk, value);
    dut.direct_queue_i().set(of(0x1f, &|(queue, ..)| queue.bit().into()));
    dut.direct_number_i().set(of(7, &|(_, _, label)| label.number.into()));
    dut.direct_index_i().set(of(15, &|(_, _, label)| label.index.into()));
    dut.direct_end_i().set(of(1, &|(_, word, _)| word.end.into()));
    dut.direct_data_i()
        .set(of(0xdead_beef, &|(_, word, _)| word.data.into()));
    let [requests, replies] = inputs.ready.map(u64::from);
    dut.out_ready_i().set(requests | replies << 1);
    dut.hold_i().set(inputs.judged.hold.into());
    dut.settle_i().set(inputs.judged.settle.into());
    dut.back_i().set(inputs.judged.back.into());
    tsunagi::harness::set_mem_ports!(dut, &inputs.mem);
}

fn seen(dut: &impl Ap1000pQueuesPorts) -> Out {
    let word = |class: usize| {
        let queues = Queue::ALL.into_iter().filter(|queue| queue.class() as usize == class);
        let queues: u8 = queues.map(Queue::bit).sum();
        let word = || Word {
            data: dut.out_data_o().get_bits(32 * class, 32) as u32,
            end: dut.out_end_o().bit(class),
        };
        let queue = || dut.out_queue_o().get() as u8 & queues;
        dut.out_valid_o().bit(class).then(|| (queue(), word()))
    };
    Out {
        busy: dut.busy_o().is_set(),
        ready: dut.in_ready_o().get() as u8,
        direct_ready: dut.direct_ready_o().is_set(),
        words: [word(0), word(1)],
        mem: tsunagi::harness::mem_ports!(dut),
        stable: dut.stable_o().is_set(),
        fill: dut.fill_o().is_set(),
        full: dut.full_o().is_set(),
        spilled: dut.spilled_o().get() as u8,
        held: dut.held_o().get() as u32,
        position: dut.position_o().get() as u16,
        spill_error: dut.spill_error_o().is_set(),
        lost: dut.lost_o().is_set(),
        broken: dut.broken_o().is_set(),
    }
}

/// The party that moves elements back from the region, by the unit's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    Hardware,
    Software,
}

/// Queues under test.
pub struct Queues {
    pub dut: Dut<In, Out>,
    pub refill: Refill,
    /// Bytes of a bus word.
    pub bus_bytes: u32,
}

pub fn queues<U: Ap1000pQueuesUnit + 'static>(refill: Refill) -> Queues {
    let dut = Dut::of::<U>(set, seen);
    Queues {
        bus_bytes: dut.width("mem_wr_data_data_o") as u32 / 8,
        dut,
        refill,
    }
}
