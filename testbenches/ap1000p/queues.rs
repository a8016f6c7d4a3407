//! The five queues against their model: random messages of all writers, spilled and refilled, by hardware and by software.

use std::collections::VecDeque;

use testbenches::name;
use testbenches::rtl::*;
use tsunagi::ap1000p::command::message;
use tsunagi::ap1000p::queues::{Element, QueuesModel, Region};
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::send::Traffic;
use tsunagi::ap1000p::{Queue, Word};
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::{Context, Unit};

use crate::{PERIOD, SLOW, STARTS, holds, started};

/// What is checked besides the rules of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An offer holds until it is taken.
    Protocol,
    /// No output follows an input within the cycle.
    Path,
    /// A word per cycle in, and out of each class.
    Rate,
    /// Three cycles from a message's last word in to its first out.
    Latency,
    /// A writer waits only while its queue is full and the region, too, and no message for one of the other class.
    Waits,
    /// What block mode stops, or what there is no region for, is not spilled.
    Blocks,
    /// Interrupts and counters say what is.
    Told,
    /// Everything comes, and then there is rest.
    Hang,
}

impl Rule {
    pub const ALL: [Rule; 8] = [
        Rule::Protocol,
        Rule::Path,
        Rule::Rate,
        Rule::Latency,
        Rule::Waits,
        Rule::Blocks,
        Rule::Told,
        Rule::Hang,
    ];
}

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
    fn set(&self, words: [Option<Word>; 5], direct: Option<(u8, Word)>, ready: [bool; 2], mem: &MemPortsOut);
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

            fn set(&self, words: [Option<Word>; 5], direct: Option<(u8, Word)>, ready: [bool; 2], mem: &MemPortsOut) {
                let bits = |bit: &dyn Fn(&Option<Word>) -> bool| {
                    words.iter().enumerate().map(|(q, word)| u8::from(bit(word)) << q).sum::<u8>()
                };
                self.in_valid_i.set(bits(&|word| word.is_some()));
                self.in_end_i.set(bits(&|word| word.is_none_or(|word| word.end)));
                self.in_data_i.set(words.map(|word| word.map_or(0xdead_beef, |word| word.data)));
                self.direct_valid_i.set_bool(direct.is_some());
                self.direct_queue_i.set(direct.map_or(0x1f, |(queue, _)| queue));
                self.direct_end_i.set_bool(direct.is_none_or(|(_, word)| word.end));
                self.direct_data_i.set(direct.map_or(0xdead_beef, |(_, word)| word.data));
                self.out_ready_i.set(u8::from(ready[0]) | u8::from(ready[1]) << 1);
                self.mem_wr_cmd_ready_i.set_bool(mem.wr_cmd_ready);
                self.mem_wr_data_ready_i.set_bool(mem.wr_data_ready);
                self.mem_wr_rsp_valid_i.set_bool(mem.wr_rsp_valid);
                self.mem_wr_rsp_err_i.set_bool(mem.wr_rsp_err);
                self.mem_rd_cmd_ready_i.set_bool(mem.rd_cmd_ready);
                self.mem_rd_data_valid_i.set_bool(mem.rd_data_valid);
                self.mem_rd_data_data_i.set(mem.rd_data_data as $word);
                self.mem_rd_data_last_i.set_bool(mem.rd_data_last);
                self.mem_rd_data_err_i.set_bool(mem.rd_data_err);
            }

            fn seen(&self) -> Seen {
                let bit = |bits: u8, class: usize| bits >> class & 1 == 1;
                let out = |class: usize| {
                    let queues = Queue::ALL.into_iter().filter(|queue| queue.traffic() as usize == class);
                    let queues: u8 = queues.map(Queue::bit).sum();
                    let data = (self.out_data_o.get() >> (32 * class)) as u32;
                    let word = Word { data, end: bit(self.out_end_o.get(), class) };
                    bit(self.out_valid_o.get(), class).then(|| (self.out_queue_o.get() & queues, word))
                };
                Seen {
                    ready: self.in_ready_o.get(),
                    direct_ready: self.direct_ready_o.is_set(),
                    out: [0, 1].map(out),
                    mem: MemPortsIn {
                        rd_cmd_valid: self.mem_rd_cmd_valid_o.is_set(),
                        rd_cmd_addr: self.mem_rd_cmd_addr_o.get(),
                        rd_cmd_len: self.mem_rd_cmd_len_o.get(),
                        rd_data_ready: self.mem_rd_data_ready_o.is_set(),
                        wr_cmd_valid: self.mem_wr_cmd_valid_o.is_set(),
                        wr_cmd_addr: self.mem_wr_cmd_addr_o.get(),
                        wr_cmd_len: self.mem_wr_cmd_len_o.get(),
                        wr_data_valid: self.mem_wr_data_valid_o.is_set(),
                        wr_data_data: self.mem_wr_data_data_o.get() as u64,
                        wr_data_strb: self.mem_wr_data_strb_o.get(),
                        wr_data_last: self.mem_wr_data_last_o.is_set(),
                        wr_rsp_ready: self.mem_wr_rsp_ready_o.is_set(),
                    },
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
    TwinQueuesGap: u64, true;
    TwinQueuesWithdraws: u64, true;
    TwinQueuesPath: u64, true;
    TwinQueuesBubble: u64, true;
    TwinQueuesLate: u64, true;
    TwinQueuesWaits: u64, true;
    TwinQueuesTold: u64, true;
    TwinQueuesBlocks: u64, true;
    TwinQueuesGone: u64, true;
    TwinQueuesHang: u64, true;
    TwinQueuesClasses: u64, true;
    TwinQueuesShare: u64, true;
    TwinQueuesBehind: u64, true;
);

pub const AGE_CAP: u32 = 16;

/// At 512 KB, behind memory that must not be touched.
pub const REGION: Region = Region { base: 1, limit: 2 };

const MEMORY: usize = 2 << 20;

/// How a run is done.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub gaps: Gaps,
    pub timing: MemoryTiming,
    pub region: Region,
}

pub struct Bench<'a, U: Ports> {
    pub dut: U,
    context: Context,
    recorder: Recorder<'a>,
    pub cycle: u64,
    pub region: Region,
    pub modes: Modes,
    pub memory: Memory,
    agent: MemoryAgent,
    pub writers: [Source<Word>; 5],
    pub direct: Source<(Queue, Word)>,
    sinks: [Sink<(u8, Word)>; 2],
    commands: [Monitor<(u32, u8)>; 2],
    data: Monitor<(u64, bool)>,
    pub model: QueuesModel,
    /// When each word offered now was first offered.
    offered: [u64; 2],
    fresh: [bool; 2],
    /// Elements announced to the memory, with their addresses.
    announced: VecDeque<u32>,
    /// The first half of an element on a narrow bus.
    half: Option<u32>,
    pub seen: Seen,
    pub given: Vec<(u64, Queue, Word)>,
    /// Words taken from each writer.
    pub taken: [u64; 5],
    /// How often each was told: writes refused, elements lost, messages broken.
    pub told: [u64; 3],
    /// Bursts with a refused write.
    refused: u64,
    /// Elements, by the queue.
    pub elements: [u64; 5],
    pub software: Software,
}

/// The system software that refills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Software {
    Idle,
    Pausing,
    /// Elements, and for how many cycles nothing has moved.
    Writing {
        elements: u32,
        calm: u32,
    },
    Released,
}

impl<'a, U: Ports> Bench<'a, U> {
    pub fn new(case: &Case, start: &str, plan: Plan, probe: &'a Probe) -> Self {
        let context = started(case, start);
        let dut = U::named(&context, "dut");
        let pacer = |pauses, name: &str| Pacer::new(pauses, case.rng(name));
        let mut memory = Memory::new(MEMORY);
        memory.poison(0..MEMORY as u32);
        let jitter = if plan.gaps == Gaps::None { 0 } else { 6 };
        let mut bench = Bench {
            recorder: Recorder::new(probe, &[&dut]),
            dut,
            context,
            cycle: 0,
            region: plan.region,
            modes: Modes::default(),
            memory,
            agent: MemoryAgent::new(plan.timing, U::BUS_BYTES).with_jitter(
                case.rng("memory").bits(),
                Cycle(jitter),
                Cycle(jitter),
            ),
            writers: [0, 1, 2, 3, 4].map(|q| Source::new([], pacer(plan.gaps.at_source(), &format!("writer {q}")))),
            direct: Source::new([], Pacer::steady()),
            sinks: ["requests", "replies"].map(|class| Sink::new(pacer(plan.gaps.at_sink(), class))),
            commands: Default::default(),
            data: Monitor::default(),
            model: QueuesModel::new(plan.region, AGE_CAP),
            offered: [0; 2],
            fresh: [true; 2],
            announced: VecDeque::new(),
            half: None,
            seen: Seen::default(),
            given: Vec::new(),
            taken: [0; 5],
            told: [0; 3],
            refused: 0,
            elements: [0; 5],
            software: Software::Idle,
        };
        bench.reset();
        bench
    }

    /// All inside is forgotten, and so is what the memory had to do.
    pub fn reset(&mut self) {
        self.modes = Modes::default();
        self.dut.set([None; 5], None, [false; 2], &MemPortsOut::default());
        self.dut.set_up(self.region, self.modes);
        for _ in 0..3 {
            self.phase(false, true);
            self.phase(true, true);
            self.cycle += 1;
        }
        self.model = QueuesModel::new(self.region, AGE_CAP);
        self.agent.reset();
        self.sinks.iter_mut().for_each(Sink::reset);
        self.commands.iter_mut().for_each(Monitor::reset);
        self.data.reset();
        for writer in &mut self.writers {
            writer.reset();
            writer.stop();
        }
        self.direct.reset();
        self.direct.stop();
        (self.fresh, self.half, self.refused, self.told) = ([true; 2], None, 0, [0; 3]);
        self.announced.clear();
        self.given.clear();
        self.software = Software::Idle;
    }

    fn phase(&mut self, clk: bool, rst: bool) {
        self.dut.set_clk(clk, rst);
        self.context
            .set_time(self.cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
        self.dut.eval();
        self.recorder.tick(self.context.time());
    }

    /// From now on the outputs are taken so.
    pub fn take(&mut self, pacer: impl Fn() -> Pacer) {
        self.sinks = [(); 2].map(|()| Sink::new(pacer()));
    }

    pub fn write(&mut self, queue: Queue, words: &[u32]) {
        message(words)
            .into_iter()
            .for_each(|word| self.writers[queue as usize].push(word));
    }

    pub fn cycle(&mut self) -> Result<(), String> {
        let before = self.dut.seen();
        let words: [Option<Word>; 5] = std::array::from_fn(|q| self.writers[q].offer().copied());
        let direct = self.direct.offer().map(|&(queue, word)| (queue.bit(), word));
        let ready = [0, 1].map(|class: usize| self.sinks[class].ready());
        let ports = *self.agent.ports();
        self.dut.set_up(self.region, self.modes);
        self.modes.release = None;
        self.dut.set(words, direct, ready, &ports);
        self.phase(false, false);
        let now = self.dut.seen();
        holds(Rule::Path, before == now, || {
            format!("{before:x?} becomes {now:x?} within the cycle")
        })?;
        self.seen = before;
        self.phase(true, false);
        let cycle = self.cycle;
        self.cycle += 1;
        let fault = |what: &dyn std::fmt::Display| format!("{what}, in cycle {cycle}");
        let broken = |e: tsunagi::ap1000p::queues::Broken| fault(&e);
        let wrong = |e: tsunagi::harness::stream::ProtocolError| fault(&format!("{:?}: {e}", Rule::Protocol));

        let mem = before.mem;
        let offers = [
            (
                mem.wr_cmd_valid.then_some((mem.wr_cmd_addr, mem.wr_cmd_len)),
                ports.wr_cmd_ready,
            ),
            (
                mem.rd_cmd_valid.then_some((mem.rd_cmd_addr, mem.rd_cmd_len)),
                ports.rd_cmd_ready,
            ),
        ];
        for (monitor, (offer, ready)) in self.commands.iter_mut().zip(offers) {
            monitor.step(offer.as_ref(), ready).map_err(wrong)?;
        }
        let beat = mem.wr_data_valid.then_some((mem.wr_data_data, mem.wr_data_last));
        self.data.step(beat.as_ref(), ports.wr_data_ready).map_err(wrong)?;

        // What comes out was in before this cycle.
        for class in [Traffic::Request, Traffic::Reply] {
            let (c, out) = (class as usize, before.out[class as usize]);
            if out.is_some() && self.fresh[c] {
                self.offered[c] = cycle;
            }
            self.fresh[c] = out.is_none() || ready[c];
            if let Some((bit, word)) = self.sinks[c].step(out).map_err(wrong)? {
                let queue = Queue::from_bit(bit).ok_or_else(|| fault(&format!("Order: a word of queue {bit:#b}")))?;
                self.model.give(self.offered[c], class, queue, word).map_err(broken)?;
                self.given.push((cycle, queue, word));
            }
        }
        for queue in Queue::ALL {
            let q = queue as usize;
            let ready = before.ready >> q & 1 == 1;
            if let Some(word) = self.writers[q].step(ready) {
                self.model.put(cycle, queue, word);
                self.taken[q] += 1;
            }
        }
        if let Some((queue, word)) = self.direct.step(before.direct_ready)
            && !self.modes.through
        {
            self.model.put(cycle, queue, word);
        }

        // Elements, as they are written: in the order of their commands.
        if mem.wr_cmd_valid && ports.wr_cmd_ready {
            let bytes = (u32::from(mem.wr_cmd_len) + 1) * U::BUS_BYTES;
            self.announced
                .extend((0..bytes / SPILL_BYTES).map(|i| mem.wr_cmd_addr + i * SPILL_BYTES));
            let bad = !self.memory.bus_ok(Addr(mem.wr_cmd_addr), bytes);
            self.refused += u64::from(bad);
        }
        if mem.wr_data_valid && ports.wr_data_ready {
            let whole = if U::BUS_BYTES == 8 {
                Some((mem.wr_data_data as u32, (mem.wr_data_data >> 32) as u32))
            } else {
                match self.half.take() {
                    None => {
                        self.half = Some(mem.wr_data_data as u32);
                        None
                    }
                    Some(tag) => Some((tag, mem.wr_data_data as u32)),
                }
            };
            if let Some((tag, data)) = whole {
                let addr = self
                    .announced
                    .pop_front()
                    .ok_or_else(|| fault(&"Element: data without a command"))?;
                let kept = self.memory.bus_ok(Addr(addr), SPILL_BYTES);
                self.model.spill(addr, tag, data, kept).map_err(broken)?;
                self.elements[Element::decode(tag, data).expect("checked by the model").queue as usize] += 1;
            }
        }
        let mut read = None;
        self.agent.step(Cycle(cycle), &mut self.memory, &mem, |event| {
            if let EventKind::MemRead { addr, bytes } = event {
                read = Some((addr, bytes));
            }
        });
        if let Some((addr, bytes)) = read {
            self.model.read_back(bytes / SPILL_BYTES);
            for at in (addr.0..addr.0 + bytes).step_by(SPILL_BYTES as usize) {
                if !self.memory.bus_ok(Addr(at), SPILL_BYTES) {
                    let data = self.memory.read(Addr(at + 4), 4).expect("in the memory");
                    let data = u32::from_le_bytes(data.try_into().expect("four bytes"));
                    self.model.unreadable(data);
                }
            }
        }
        for (count, told) in self
            .told
            .iter_mut()
            .zip([before.spill_error, before.lost, before.broken])
        {
            *count += u64::from(told);
        }
        if !U::HARDWARE {
            self.refill()?;
        }
        Ok(())
    }

    /// The system software: at the interrupt everything that is in the region goes back by direct pages.
    fn refill(&mut self) -> Result<(), String> {
        let seen = self.seen;
        match self.software {
            Software::Idle if seen.fill => {
                self.modes.pause = true;
                self.software = Software::Pausing;
            }
            Software::Pausing if seen.stable => {
                self.modes.through = true;
                // What is set may be another region already; what is in use is the model's.
                let region = self.model.region();
                let size = region.elements();
                let elements = seen.held;
                for back in (1..=elements).rev() {
                    let position = (u32::from(seen.position) + size - back) % size;
                    let at = Addr(region.addr() + position * SPILL_BYTES);
                    let bytes = self
                        .memory
                        .read(at, SPILL_BYTES as usize)
                        .expect("the region is in the memory");
                    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
                    let element = Element::decode(word(0), word(4))
                        .ok_or_else(|| format!("Element: {:#x} {:#x} at {at}", word(0), word(4)))?;
                    self.direct.push((element.queue, element.word));
                }
                self.software = Software::Writing { elements, calm: 0 };
            }
            Software::Writing { elements, calm: 4 } => {
                self.modes.release = Some(elements);
                self.model.read_back(elements);
                self.software = Software::Released;
            }
            Software::Writing { elements, calm } => {
                let calm = if self.direct.is_empty() && seen.stable {
                    calm + 1
                } else {
                    0
                };
                self.software = Software::Writing { elements, calm };
            }
            Software::Released if seen.held == 0 && seen.spilled == 0 => {
                (self.modes.pause, self.modes.through) = (false, false);
                self.software = Software::Idle;
            }
            _ => {}
        }
        Ok(())
    }

    /// So many cycles.
    pub fn run(&mut self, cycles: u64) -> Result<(), String> {
        (0..cycles).try_for_each(|_| self.cycle())
    }

    pub fn left(&self) -> usize {
        self.model.waiting() + self.writers.iter().map(Source::len).sum::<usize>() + self.direct.len()
    }

    /// Until all is given and at rest.
    pub fn finish(&mut self, limit: u64) -> Result<(), String> {
        let end = self.cycle + limit;
        while self.left() > 0 || self.dut.busy() || !self.agent.is_idle() || self.software != Software::Idle {
            self.cycle()?;
            holds(Rule::Hang, self.cycle < end, || {
                format!(
                    "{} words left, busy {}, {:?}, {:x?}; {}",
                    self.left(),
                    self.dut.busy(),
                    self.software,
                    self.seen,
                    self.agent.report().join("; ")
                )
            })?;
        }
        let seen = self.dut.seen();
        let rest = seen.held == 0 && seen.spilled == 0 && !seen.fill && !seen.full;
        holds(Rule::Told, rest, || format!("at rest: {seen:x?}"))?;
        holds(Rule::Told, self.told[0] == self.refused, || {
            format!("{} bursts were refused, told {}", self.refused, self.told[0])
        })
    }
}

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
    holds(Rule::Told, !spilled || bench.model.spilled() > 0, || {
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
    for class in [Traffic::Request, Traffic::Reply] {
        let queues = Queue::ALL.into_iter().filter(|queue| queue.traffic() == class);
        without_bubble(&bench, queues.count() * 8 * MESSAGES as usize, |queue| {
            queue.traffic() == class
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
        Rule::Told,
        held > elements && full_at.is_some_and(|at| (elements..elements + 3).contains(&at)),
        || format!("{held} elements, full was told at {full_at:?}, the red zone begins at {elements}"),
    )?;
    holds(Rule::Told, bench.seen.spilled == queue.bit(), || {
        format!("spilled queues {:#b}", bench.seen.spilled)
    })?;
    bench.take(Pacer::steady);
    bench.finish(200_000)
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
        holds(Rule::Told, bench.seen.full && is_full && left > 0, || {
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
        bench.sinks[Traffic::Reply as usize] = Sink::new(Pacer::steady());
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
    for stopped in [Traffic::Request, Traffic::Reply] {
        for goes in Queue::ALL.into_iter().filter(|queue| queue.traffic() != stopped) {
            let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
            bench.sinks[stopped as usize] = Sink::new(Pacer::stopped());
            bench.sinks[1 - stopped as usize] = Sink::new(Pacer::steady());
            for queue in Queue::ALL {
                let writes = queue == goes || queue.traffic() == stopped;
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

/// Memory that refuses writes, that does not give back what was written, and both: messages that lost a word are gone, no other is.
pub fn memory_errors<U: Ports>(case: &Case, probe: &Probe) -> Result<(), String> {
    let plan = Plan {
        gaps: Gaps::None,
        timing: SLOW,
        region: REGION,
    };
    let mut bench = Bench::<U>::new(case, STARTS[0], plan, probe);
    let mut rng = case.rng("errors");
    for (round, errors) in ["none", "write", "read", "both", "none"].into_iter().enumerate() {
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
        let before = bench.told;
        bench.take(Pacer::steady);
        bench.finish(100_000)?;
        bench.memory.clear_faults();
        let lost = bench.told[1] - before[1];
        holds(Rule::Told, (lost > 0) == (errors != "none"), || {
            format!("errors {errors}: {lost} elements lost")
        })?;
        holds(Rule::Told, (bench.told[2] > before[2]) == (errors != "none"), || {
            format!("errors {errors}: {:?} and before {before:?}", bench.told)
        })?;
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
            Rule::Told,
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
fn memory_errors_take_only_the_messages_they_hit() {
    let case = Case::new("ap1000p", "queues::memory_errors_take_only_the_messages_they_hit", "");
    case.run(|probe| memory_errors::<Ap1000pQueues>(&case, probe));
    case.run(|probe| memory_errors::<Ap1000pQueuesNarrow>(&case, probe));
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
