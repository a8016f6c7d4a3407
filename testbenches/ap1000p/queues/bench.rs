//! The queues with their model, their writers and takers, and a memory.

use std::collections::{BTreeSet, VecDeque};
use tsunagi::net::torus::Class;

use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::golden::queues::{Element, QueuesModel, Region};
use tsunagi::ap1000p::golden::{Label, Queue, Word};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};
use verilated::Context;

use super::ports::{Modes, Ports, Seen};
use crate::{PERIOD, holds, started};

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
    /// A queue that is full holds all its words, or all but one.
    Full,
    /// What block mode stops, or what there is no region for, is not spilled.
    Blocks,
    /// Interrupts and counters say what is.
    Reported,
    /// Where it says that it is at rest, an edge changes nothing.
    Rest,
    /// Everything comes, and then there is rest.
    Hang,
}

impl Rule {
    pub const ALL: [Rule; 10] = [
        Rule::Protocol,
        Rule::Path,
        Rule::Rate,
        Rule::Latency,
        Rule::Waits,
        Rule::Full,
        Rule::Blocks,
        Rule::Reported,
        Rule::Rest,
        Rule::Hang,
    ];
}

pub const AGE_CAP: u32 = 16;

/// Cycles until a mode, or another region, has acted.
const SETTLED: u32 = 4;

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
    pub direct: Source<(Queue, Word, Label)>,
    pub sinks: [Sink<(u8, Word)>; 2],
    commands: [Monitor<(u32, u8)>; 2],
    data: Monitor<(u64, bool)>,
    pub model: QueuesModel,
    /// When each word offered now was first offered.
    offered: [u64; 2],
    fresh: [bool; 2],
    /// Elements announced to the memory, with their addresses, and whether it takes their burst.
    announced: VecDeque<(u32, bool)>,
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
    /// Places in which memory has something else than what was written.
    spoilt: BTreeSet<u32>,
    /// A direct word was on its way in the cycle before.
    on_the_way: bool,
    /// Cycles in which no mode changed, and no region.
    calm: u32,
    set_up: (Region, Modes),
    gate: Rng,
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
            spoilt: BTreeSet::new(),
            on_the_way: false,
            calm: 0,
            set_up: (plan.region, Modes::default()),
            gate: case.rng("gate"),
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
        self.on_the_way = false;
        (self.calm, self.set_up) = (SETTLED + 1, (self.region, self.modes));
    }

    fn phase(&mut self, clk: bool, rst: bool) {
        self.dut.set_clk(clk, rst);
        self.context
            .set_time(self.cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
        self.dut.junk();
        self.dut.eval();
        self.recorder.tick(self.context.time());
    }

    /// From now on the outputs are taken so.
    pub fn take(&mut self, pacer: impl Fn() -> Pacer) {
        self.sinks = [(); 2].map(|()| Sink::new(pacer()));
    }

    /// An element has become that of another place, or of another lap.
    pub fn spoil(&mut self, element: u32) {
        let at = self.region.addr() + element * SPILL_BYTES;
        let tag = self.memory.read(Addr(at), 4).expect("in the memory");
        let tag = u32::from_le_bytes(tag.try_into().expect("four bytes"));
        let bits = (SPILL_TAG_POSITION_MASK | SPILL_TAG_LAP_MASK).count_ones();
        let other = tag ^ 1 << (SPILL_TAG_POSITION_SHIFT + element % bits);
        assert!(self.memory.write(Addr(at), &other.to_le_bytes()));
        // What was spoilt twice may be as it was.
        if !self.spoilt.remove(&at) {
            self.spoilt.insert(at);
        }
    }

    pub fn write(&mut self, queue: Queue, words: &[u32]) {
        message(words)
            .into_iter()
            .for_each(|word| self.writers[queue as usize].push(word));
    }

    pub fn cycle(&mut self) -> Result<(), String> {
        let before = self.dut.seen();
        let words: [Option<Word>; 5] = std::array::from_fn(|q| self.writers[q].offer().copied());
        let direct = self.direct.offer().copied();
        let ready = [0, 1].map(|class: usize| self.sinks[class].ready());
        let ports = *self.agent.ports();
        self.dut.set_up(self.region, self.modes);
        let comes = words.iter().any(Option::is_some) || direct.is_some() || ports.rd_data_valid || ports.wr_rsp_valid;
        let is_as_it_was = self.set_up == (self.region, self.modes);
        self.calm = if is_as_it_was { self.calm + 1 } else { 0 };
        self.set_up = (self.region, self.modes);
        self.modes.release = None;
        self.dut.set(words, direct, ready, &ports);
        self.phase(false, false);
        let now = self.dut.seen();
        holds(Rule::Path, before == now, || {
            format!("{before:x?} becomes {now:x?} within the cycle")
        })?;
        self.seen = before;
        holds(Rule::Reported, !(before.stable && self.on_the_way), || {
            format!("stable in cycle {} with a direct word on its way", self.cycle)
        })?;
        self.on_the_way = direct.is_some();
        // What says that it is at rest needs no clock, and with one nothing changes.
        let rests = !self.dut.busy() && !comes && self.calm > SETTLED;
        if !rests || self.gate.chance(1, 2) {
            self.phase(true, false);
            let after = self.dut.seen();
            holds(Rule::Rest, !rests || after == before, || {
                format!("cycle {}: at rest, {before:x?} becomes {after:x?}", self.cycle)
            })?;
        }
        let cycle = self.cycle;
        self.cycle += 1;
        let fault = |what: &dyn std::fmt::Display| format!("{what}, in cycle {cycle}");
        let broken = |e: tsunagi::ap1000p::golden::queues::Broken| fault(&e);
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
        for class in [Class::Request, Class::Reply] {
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
        if let Some((queue, word, _)) = self.direct.step(before.direct_ready)
            && !self.modes.through
        {
            self.model.put(cycle, queue, word);
        }

        // Elements, as they are written: in the order of their commands.
        if mem.wr_cmd_valid && ports.wr_cmd_ready {
            let bytes = (u32::from(mem.wr_cmd_len) + 1) * U::BUS_BYTES;
            // A burst is refused as a whole.
            let kept = self.memory.bus_ok(Addr(mem.wr_cmd_addr), bytes);
            self.announced
                .extend((0..bytes / SPILL_BYTES).map(|i| (mem.wr_cmd_addr + i * SPILL_BYTES, kept)));
            self.refused += u64::from(!kept);
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
                let (addr, kept) = self
                    .announced
                    .pop_front()
                    .ok_or_else(|| fault(&"Element: data without a command"))?;
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
            for at in (addr.0..addr.0 + bytes).step_by(SPILL_BYTES as usize) {
                let good = !self.spoilt.remove(&at) && self.memory.bus_ok(Addr(at), SPILL_BYTES);
                self.model.read_back(good);
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

    /// The system software: at the interrupt everything that is in the region goes back by direct pages, and is released in parts.
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
                    self.direct.push((element.queue, element.word, element.label));
                }
                self.software = Software::Writing { elements, calm: 0 };
            }
            Software::Writing { elements, calm: 4 } => {
                // A writer that waits for room goes on as soon as there is some.
                let part = if seen.full { elements } else { elements.div_ceil(2) };
                self.modes.release = Some(part);
                (0..part).for_each(|_| self.model.read_back(true));
                self.software = match elements - part {
                    0 => Software::Released,
                    elements => Software::Writing { elements, calm: 4 },
                };
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
        while self.left() > 0 || self.dut.busy() || self.agent.has_taken() || self.software != Software::Idle {
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
        holds(Rule::Reported, rest, || format!("at rest: {seen:x?}"))?;
        holds(Rule::Reported, self.told[0] == self.refused, || {
            format!("{} bursts were refused, told {}", self.refused, self.told[0])
        })
    }
}
