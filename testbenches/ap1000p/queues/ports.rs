//! The ports of the queues, and of their twins.

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::queues::Region;
use tsunagi::ap1000p::golden::{Label, Queue, Word};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use verilated::Unit;

/// Modes, and elements that software gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    pub pause: bool,
    pub through: bool,
    pub block: bool,
    pub release: Option<u32>,
}

/// The outputs in one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub ready: u8,
    pub direct_ready: bool,
    /// For each class a word, and of which of its queues.
    pub out: [Option<(u8, Word)>; 2],
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

pub trait Ports: Unit {
    const BUS_BYTES: u32;
    const HARDWARE: bool;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set_up(&self, region: Region, modes: Modes);
    fn set(&self, words: [Option<Word>; 5], direct: Option<(Queue, Word, Label)>, ready: [bool; 2], mem: &MemPortsOut);
    fn seen(&self) -> Seen;
    fn busy(&self) -> bool;
}

macro_rules! ports {
    ($($unit:ident: $word:ty, $hardware:expr;)+) => {$(
        impl Ports for $unit {
            const BUS_BYTES: u32 = <$word>::BITS / 8;
            const HARDWARE: bool = $hardware;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set_up(&self, region: Region, modes: Modes) {
                self.base_i.set(region.base);
                self.limit_i.set(region.limit);
                self.pause_i.set_bool(modes.pause);
                self.through_i.set_bool(modes.through);
                self.block_i.set_bool(modes.block);
                self.release_valid_i.set_bool(modes.release.is_some());
                self.release_count_i.set(modes.release.unwrap_or(0x1_2345));
            }

            fn set(
                &self,
                words: [Option<Word>; 5],
                direct: Option<(Queue, Word, Label)>,
                ready: [bool; 2],
                mem: &MemPortsOut,
            ) {
                let bits = |bit: &dyn Fn(&Option<Word>) -> bool| {
                    words.iter().enumerate().map(|(q, word)| u8::from(bit(word)) << q).sum::<u8>()
                };
                self.in_valid_i.set(bits(&|word| word.is_some()));
                self.in_end_i.set(bits(&|word| word.is_none_or(|word| word.end)));
                self.in_data_i.set(words.map(|word| word.map_or(0xdead_beef, |word| word.data)));
                self.direct_valid_i.set_bool(direct.is_some());
                self.arriving_i.set_bool(direct.is_some());
                self.direct_queue_i.set(direct.map_or(0x1f, |(queue, ..)| queue.bit()));
                self.direct_number_i.set(direct.map_or(7, |(_, _, label)| label.number));
                self.direct_index_i.set(direct.map_or(15, |(_, _, label)| label.index));
                self.direct_end_i.set_bool(direct.is_none_or(|(_, word, _)| word.end));
                self.direct_data_i.set(direct.map_or(0xdead_beef, |(_, word, _)| word.data));
                self.out_ready_i.set(u8::from(ready[0]) | u8::from(ready[1]) << 1);
                tsunagi::set_mem_ports!(self, mem);
            }

            fn seen(&self) -> Seen {
                let bit = |bits: u8, class: usize| bits >> class & 1 == 1;
                let out = |class: usize| {
                    let queues = Queue::ALL.into_iter().filter(|queue| queue.class() as usize == class);
                    let queues: u8 = queues.map(Queue::bit).sum();
                    let data = (self.out_data_o.get() >> (32 * class)) as u32;
                    let word = Word { data, end: bit(self.out_end_o.get(), class) };
                    bit(self.out_valid_o.get(), class).then(|| (self.out_queue_o.get() & queues, word))
                };
                Seen {
                    ready: self.in_ready_o.get(),
                    direct_ready: self.direct_ready_o.is_set(),
                    out: [0, 1].map(out),
                    mem: tsunagi::mem_ports!(self),
                    stable: self.stable_o.is_set(),
                    fill: self.fill_o.is_set(),
                    full: self.full_o.is_set(),
                    spilled: self.spilled_o.get(),
                    held: self.held_o.get(),
                    position: self.position_o.get(),
                    spill_error: self.spill_error_o.is_set(),
                    lost: self.lost_o.is_set(),
                    broken: self.broken_o.is_set(),
                }
            }

            fn busy(&self) -> bool {
                self.busy_o.is_set()
            }
        }
    )+};
}

ports!(
    Ap1000pQueues: u64, true;
    Ap1000pQueuesNarrow: u32, true;
    Ap1000pQueuesSoftware: u64, false;
    TwinQueuesOrder: u64, true;
    TwinQueuesWhole: u64, true;
    TwinQueuesEarly: u64, true;
    TwinQueuesChoice: u64, true;
    TwinQueuesAge: u64, true;
    TwinQueuesElement: u64, true;
    TwinQueuesLap: u64, true;
    TwinQueuesLost: u64, true;
    TwinQueuesOld: u64, true;
    TwinQueuesNumber: u64, true;
    TwinQueuesDoubt: u64, true;
    TwinQueuesForget: u64, true;
    TwinQueuesGap: u64, true;
    TwinQueuesWithdraws: u64, true;
    TwinQueuesPath: u64, true;
    TwinQueuesBubble: u64, true;
    TwinQueuesLate: u64, true;
    TwinQueuesWaits: u64, true;
    TwinQueuesSmall: u64, true;
    TwinQueuesAsleep: u64, true;
    TwinQueuesKeeps: u64, true;
    TwinQueuesDozes: u64, false;
    TwinQueuesReported: u64, true;
    TwinQueuesBlocks: u64, true;
    TwinQueuesGone: u64, true;
    TwinQueuesHang: u64, true;
    TwinQueuesClasses: u64, true;
    TwinQueuesShare: u64, true;
    TwinQueuesBehind: u64, true;
    TwinQueuesStable: u64, false;
    TwinQueuesDirect: u64, false;
);
