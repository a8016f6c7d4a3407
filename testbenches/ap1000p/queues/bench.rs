//! The queues with their golden model, their writers and takers, and a memory.

use std::collections::{BTreeSet, VecDeque};

use testbenches::{Fault, Rule as _, Run};
use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::golden::queues::{Broken, Element, QueuesModel, Region};
use tsunagi::ap1000p::golden::{Label, Queue, Word};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::backend::EventKind;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::net::torus::Class;
use tsunagi::{Addr, Cycle};

use super::Rule;
use super::ports::{In, Judged, Modes, Out, Queues, Refill};

/// Messages that may pass over one.
const AGE_CAP: u32 = 16;

/// Cycles until a mode, or another region, has its effect.
const SETTLED: u32 = 4;

/// At 512 KB, behind memory that must not change.
pub const REGION: Region = Region { base: 1, limit: 2 };

const MEMORY: usize = 2 << 20;

/// The parameters of a case.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub gaps: Gaps,
    pub timing: MemoryTiming,
    pub region: Region,
}

/// A golden model for this region.
pub fn model(region: Region) -> QueuesModel {
    QueuesModel::new(region, AGE_CAP)
}

/// A broken rule of the golden model, which has the name of a rule of this bench.
fn fault(broken: Broken) -> Fault {
    let name = format!("{:?}", broken.rule);
    let rule = Rule::ALL.iter().find(|rule| rule.name() == name);
    let rule = rule.unwrap_or_else(|| panic!("the bench of the queues lacks the rule `{name}` of their model"));
    rule.broken(broken.what)
}

/// An element on its way to the memory.
struct Spilled {
    addr: u32,
    tag: u32,
    data: u32,
    /// Whether the memory took its burst.
    is_kept: bool,
}

/// The memory of the region, and elements on their way to it.
pub struct Spill {
    pub memory: Memory,
    agent: MemoryAgent,
    bus_bytes: u32,
    commands: [Monitor<(u32, u8)>; 2],
    data: Monitor<(u64, bool)>,
    /// Addresses of elements that commands have announced, and whether the memory takes their burst.
    announced: VecDeque<(u32, bool)>,
    /// The first half of an element on a narrow bus.
    half: Option<u32>,
    /// Bursts that the memory refused.
    refused: u64,
    /// Addresses of elements that are not as they were written.
    spoilt: BTreeSet<u32>,
}

impl Spill {
    fn new(run: &Run, plan: Plan, bus_bytes: u32) -> Spill {
        let mut memory = Memory::new(MEMORY);
        memory.poison(0..MEMORY as u32);
        let jitter = Cycle(if plan.gaps == Gaps::None { 0 } else { 6 });
        let agent = MemoryAgent::new(plan.timing, bus_bytes);
        Spill {
            memory,
            agent: agent.with_jitter(run.rng("memory").bits(), jitter, jitter),
            bus_bytes,
            commands: Default::default(),
            data: Monitor::default(),
            announced: VecDeque::new(),
            half: None,
            refused: 0,
            spoilt: BTreeSet::new(),
        }
    }

    fn reset(&mut self) {
        self.agent.reset();
        self.commands.iter_mut().for_each(Monitor::reset);
        self.data.reset();
        self.announced.clear();
        (self.half, self.refused) = (None, 0);
    }

    /// Offers to the memory hold until it takes them.
    fn watch(&mut self, mem: &MemPortsIn, ports: &MemPortsOut) -> Result<(), Fault> {
        let write = mem.wr_cmd_valid.then_some((mem.wr_cmd_addr, mem.wr_cmd_len));
        let read = mem.rd_cmd_valid.then_some((mem.rd_cmd_addr, mem.rd_cmd_len));
        let offers = [(write, ports.wr_cmd_ready), (read, ports.rd_cmd_ready)];
        for (monitor, (offer, ready)) in self.commands.iter_mut().zip(offers) {
            monitor.step(offer.as_ref(), ready)?;
        }
        let beat = mem.wr_data_valid.then_some((mem.wr_data_data, mem.wr_data_last));
        Ok(self.data.step(beat.as_ref(), ports.wr_data_ready)?)
    }

    /// The element with its last beat in this cycle. Elements come in the order of their commands.
    fn written(&mut self, mem: &MemPortsIn, ports: &MemPortsOut) -> Result<Option<Spilled>, Fault> {
        if mem.wr_cmd_valid && ports.wr_cmd_ready {
            let bytes = (u32::from(mem.wr_cmd_len) + 1) * self.bus_bytes;
            // A burst is refused as a whole.
            let is_kept = self.memory.bus_ok(Addr(mem.wr_cmd_addr), bytes);
            let elements = (0..bytes / SPILL_BYTES).map(|i| mem.wr_cmd_addr + i * SPILL_BYTES);
            self.announced.extend(elements.map(|addr| (addr, is_kept)));
            self.refused += u64::from(!is_kept);
        }
        if !(mem.wr_data_valid && ports.wr_data_ready) {
            return Ok(None);
        }
        let low = mem.wr_data_data as u32;
        let (tag, data) = match self.half.take() {
            _ if self.bus_bytes == 8 => (low, (mem.wr_data_data >> 32) as u32),
            Some(tag) => (tag, low),
            None => {
                self.half = Some(low);
                return Ok(None);
            }
        };
        let announced = self.announced.pop_front();
        let (addr, is_kept) = announced.ok_or_else(|| Rule::Element.broken("data without a command"))?;
        Ok(Some(Spilled {
            addr,
            tag,
            data,
            is_kept,
        }))
    }

    /// A cycle of the memory: for each element that is read, whether it is as it was written.
    fn cycle(&mut self, cycle: u64, mem: &MemPortsIn) -> Vec<bool> {
        let mut read = None;
        self.agent.step(Cycle(cycle), &mut self.memory, mem, |event| {
            if let EventKind::MemRead { addr, bytes } = event {
                read = Some(addr.0..addr.0 + bytes);
            }
        });
        let elements = read.unwrap_or(0..0).step_by(SPILL_BYTES as usize);
        let is_good = |at| !self.spoilt.remove(&at) && self.memory.bus_ok(Addr(at), SPILL_BYTES);
        elements.map(is_good).collect()
    }
}

/// A word that left a queue, and its cycle.
pub struct Given {
    pub cycle: u64,
    pub queue: Queue,
    pub word: Word,
}

/// The offer of a class.
#[derive(Clone, Copy)]
struct Offer {
    /// The cycle in which the word on offer was first offered.
    since: u64,
    /// Whether another word comes next.
    is_taken: bool,
}

/// The system software that refills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Software {
    Idle,
    Pausing,
    /// Elements of the region, those that wait for the queues, and cycles in which nothing has moved.
    Writing {
        elements: u32,
        left: u32,
        calm: u32,
    },
    /// Cycles since all were released.
    Released {
        calm: u32,
    },
}

/// Cycles without a movement until the system software acts.
const CALM: u32 = 4;

/// The senders: they judge each message of the queues whose messages come back, some time after its last word.
struct Senders {
    rng: Rng,
    /// For each queue: the message that is not judged, and the cycle of its judgement, if all of it was given.
    open: [Option<Option<u64>>; 5],
    /// The first cycle in which a queue is free again.
    held: [u64; 5],
}

impl Senders {
    const BACK: [Queue; 3] = [Queue::System, Queue::User, Queue::GetReply];

    /// The judgements of a cycle. The messages of the other queues never come back.
    fn judge(&mut self, cycle: u64) -> Judged {
        let mut judged = Judged {
            hold: 0,
            settle: Queue::Access.bit() | Queue::RemoteReply.bit(),
            back: 0,
        };
        for queue in Senders::BACK {
            let q = queue as usize;
            if self.held[q] > cycle {
                judged.hold |= queue.bit();
            }
            if let Some(Some(due)) = self.open[q]
                && due <= cycle
            {
                self.open[q] = None;
                if self.rng.chance(1, 3) {
                    judged.back |= queue.bit();
                    let most = if self.rng.chance(1, 4) { 300 } else { 3 };
                    self.held[q] = cycle + 1 + self.rng.below(most);
                } else {
                    judged.settle |= queue.bit();
                }
            }
        }
        judged
    }
}

pub struct Bench<'a> {
    bench: testbenches::Bench<'a, In, Out>,
    refill: Refill,
    pub region: Region,
    pub modes: Modes,
    pub spill: Spill,
    pub writers: [Source<Word>; 5],
    pub direct: Source<(Queue, Word, Label)>,
    /// By class.
    pub sinks: [Sink<(u8, Word)>; 2],
    offers: [Offer; 2],
    pub model: QueuesModel,
    /// The outputs of the last cycle.
    pub seen: Out,
    pub given: Vec<Given>,
    /// `None`: no message comes back.
    senders: Option<Senders>,
    /// Messages that came back.
    pub backs: u64,
    /// Words taken from each writer.
    pub taken: [u64; 5],
    /// Reports of refused writes, lost elements and broken messages.
    pub told: [u64; 3],
    /// Elements written, by queue.
    pub elements: [u64; 5],
    software: Software,
    /// A direct word was on its way in the cycle before.
    on_the_way: bool,
    /// Cycles since a mode or the region changed.
    calm: u32,
    set_up: (Region, Modes),
    gate: Rng,
    /// Of two cycles at rest, the number with an edge.
    pub edges_at_rest: u64,
}

impl<'a> Bench<'a> {
    pub fn new(run: &Run<'a>, queues: &Queues, plan: Plan) -> Result<Bench<'a>, Fault> {
        let bench = testbenches::Bench::new(run, &queues.dut);
        let writer = |q| Source::new([], run.pacer(plan.gaps.at_source(), &format!("writer {q}")));
        let mut bench = Bench {
            seen: bench.seen(),
            bench,
            refill: queues.refill,
            region: plan.region,
            modes: Modes::default(),
            spill: Spill::new(run, plan, queues.bus_bytes),
            writers: [0, 1, 2, 3, 4].map(writer),
            direct: Source::new([], Pacer::steady()),
            sinks: ["requests", "replies"].map(|class| Sink::new(run.pacer(plan.gaps.at_sink(), class))),
            offers: [Bench::NO_OFFER; 2],
            model: model(plan.region),
            given: Vec::new(),
            senders: None,
            backs: 0,
            taken: [0; 5],
            told: [0; 3],
            elements: [0; 5],
            software: Software::Idle,
            on_the_way: false,
            calm: 0,
            set_up: (plan.region, Modes::default()),
            gate: run.rng("gate"),
            edges_at_rest: 1,
        };
        bench.reset()?;
        Ok(bench)
    }

    const NO_OFFER: Offer = Offer {
        since: 0,
        is_taken: true,
    };

    /// The unit and the memory forget their work.
    pub fn reset(&mut self) -> Result<(), Fault> {
        self.modes = Modes::default();
        let inputs = In {
            region: self.region,
            modes: self.modes,
            words: [None; 5],
            direct: None,
            ready: [false; 2],
            judged: Judged::ALL_GOOD,
            mem: MemPortsOut::default(),
        };
        for _ in 0..3 {
            self.bench.reset(&inputs)?;
        }
        self.model = model(self.region);
        self.spill.reset();
        self.sinks.iter_mut().for_each(Sink::reset);
        for writer in &mut self.writers {
            writer.reset();
            writer.stop();
        }
        self.direct.reset();
        self.direct.stop();
        (self.offers, self.told) = ([Bench::NO_OFFER; 2], [0; 3]);
        self.given.clear();
        self.software = Software::Idle;
        self.on_the_way = false;
        (self.calm, self.set_up) = (SETTLED + 1, (self.region, self.modes));
        Ok(())
    }

    /// From now on messages come back.
    pub fn let_return(&mut self, rng: Rng) {
        self.model.let_return();
        self.senders = Some(Senders {
            rng,
            open: [None; 5],
            held: [0; 5],
        });
    }

    /// Cycles so far.
    pub fn cycles(&self) -> u64 {
        self.bench.cycle()
    }

    /// The outputs as they are.
    pub fn outputs(&self) -> Out {
        self.bench.seen()
    }

    /// From now on the outputs are taken so.
    pub fn take(&mut self, pacer: impl Fn() -> Pacer) {
        self.sinks = [(); 2].map(|()| Sink::new(pacer()));
    }

    /// An element becomes that of another place, or of another lap.
    pub fn spoil(&mut self, element: u32) {
        let at = self.region.addr() + element * SPILL_BYTES;
        let memory = &mut self.spill.memory;
        let tag = memory.read(Addr(at), 4).expect("the region is in the memory");
        let tag = u32::from_le_bytes(tag.try_into().expect("four bytes"));
        let bits = (SPILL_TAG_POSITION_MASK | SPILL_TAG_LAP_MASK).count_ones();
        let other = tag ^ 1 << (SPILL_TAG_POSITION_SHIFT + element % bits);
        assert!(memory.write(Addr(at), &other.to_le_bytes()), "no fault is injected");
        // The second time it becomes as it was.
        if !self.spill.spoilt.remove(&at) {
            self.spill.spoilt.insert(at);
        }
    }

    /// An element becomes one of these queues, by their bits.
    pub fn rename(&mut self, element: u32, queues: u32) {
        let at = self.region.addr() + element * SPILL_BYTES;
        let memory = &mut self.spill.memory;
        let tag = memory.read(Addr(at), 4).expect("the region is in the memory");
        let tag = u32::from_le_bytes(tag.try_into().expect("four bytes"));
        let other = tag & !SPILL_TAG_QUEUE_MASK | queues << SPILL_TAG_QUEUE_SHIFT;
        assert!(memory.write(Addr(at), &other.to_le_bytes()), "no fault is injected");
        self.spill.spoilt.insert(at);
    }

    pub fn write(&mut self, queue: Queue, words: &[u32]) {
        let writer = &mut self.writers[queue as usize];
        message(words).into_iter().for_each(|word| writer.push(word));
    }

    pub fn cycle(&mut self) -> Result<(), Fault> {
        let cycle = self.bench.cycle();
        let senders = self.senders.as_mut();
        let judged = senders.map_or(Judged::ALL_GOOD, |senders| senders.judge(cycle));
        let inputs = In {
            judged,
            region: self.region,
            modes: self.modes,
            words: self.writers.each_mut().map(|writer| writer.offer().copied()),
            direct: self.direct.offer().copied(),
            ready: self.sinks.each_mut().map(Sink::ready),
            mem: *self.spill.agent.ports(),
        };
        let set_up = (self.region, self.modes);
        self.calm = if self.set_up == set_up { self.calm + 1 } else { 0 };
        self.set_up = set_up;
        self.modes.release = None;
        let words = inputs.words.iter().any(Option::is_some) || inputs.direct.is_some();
        let judges = judged != Judged::ALL_GOOD && judged.back | judged.settle != 0;
        let comes = words || judges || inputs.mem.rd_data_valid || inputs.mem.wr_rsp_valid;
        let still = !comes && self.calm > SETTLED;
        let clocked = self.gate.chance(self.edges_at_rest, 2);
        self.seen = self.bench.step_gated(&inputs, |seen| !seen.busy && still, clocked)?;
        self.check(cycle, &inputs).map_err(|fault| fault.at(cycle))
    }

    fn check(&mut self, cycle: u64, inputs: &In) -> Result<(), Fault> {
        let seen = self.seen;
        Rule::Reported.holds(!(seen.stable && self.on_the_way), || {
            "stable with a direct word on its way".into()
        })?;
        self.on_the_way = inputs.direct.is_some();
        self.spill.watch(&seen.mem, &inputs.mem)?;
        for queue in Queue::ALL {
            if inputs.judged.back & queue.bit() != 0 {
                self.model.back(queue);
                self.backs += 1;
            }
        }
        // A word that leaves came before this cycle.
        for class in [Class::Request, Class::Reply] {
            self.give(cycle, class)?;
        }
        for queue in Queue::ALL {
            let q = queue as usize;
            if let Some(word) = self.writers[q].step(seen.ready >> q & 1 == 1) {
                self.model.put(cycle, queue, word);
                self.taken[q] += 1;
            }
        }
        if let Some((queue, word, _)) = self.direct.step(seen.direct_ready)
            && !self.modes.through
        {
            self.model.put(cycle, queue, word);
        }
        if let Some(spilled) = self.spill.written(&seen.mem, &inputs.mem)? {
            let Spilled { addr, tag, data, .. } = spilled;
            self.model.spill(addr, tag, data, spilled.is_kept).map_err(fault)?;
            let element = Element::decode(tag, data).expect("the model has checked it");
            self.elements[element.queue as usize] += 1;
        }
        for is_good in self.spill.cycle(cycle, &seen.mem) {
            self.model.read_back(is_good);
        }
        let pulses = [seen.spill_error, seen.lost, seen.broken];
        for (count, told) in self.told.iter_mut().zip(pulses) {
            *count += u64::from(told);
        }
        match self.refill {
            Refill::Hardware => Ok(()),
            Refill::Software => self.refill(),
        }
    }

    fn give(&mut self, cycle: u64, class: Class) -> Result<(), Fault> {
        let c = class as usize;
        let word = self.seen.words[c];
        let offer = &mut self.offers[c];
        if word.is_some() && offer.is_taken {
            offer.since = cycle;
        }
        let given = self.sinks[c].step(word)?;
        offer.is_taken = word.is_none() || given.is_some();
        if let Some((bit, word)) = given {
            let queue = Queue::from_bit(bit);
            let queue = queue.ok_or_else(|| Rule::Order.broken(format!("a word of queue {bit:#b}")))?;
            let since = offer.since;
            self.model.give(since, class, queue, word).map_err(fault)?;
            if let Some(senders) = self.senders.as_mut().filter(|_| Senders::BACK.contains(&queue)) {
                let q = queue as usize;
                let begins = senders.open[q].is_none();
                Rule::Returns.holds(senders.open[q].is_none_or(|due| due.is_none()), || {
                    format!("{queue:?} gave {word:x?} before the judgement of the message before")
                })?;
                Rule::Returns.holds(!begins || since >= senders.held[q], || {
                    format!("{queue:?} gave {word:x?} although it is held")
                })?;
                let due = cycle + 1 + senders.rng.below(12);
                senders.open[q] = Some(word.end.then_some(due));
            }
            self.given.push(Given { cycle, queue, word });
        }
        Ok(())
    }

    /// A cycle of the system software. At the interrupt it writes all elements of the region to direct pages, and
    /// releases them in parts. If a word waits for room, it releases those before, and ends the pause meanwhile.
    fn refill(&mut self) -> Result<(), Fault> {
        let seen = self.seen;
        let left = self.direct.len() as u32;
        match self.software {
            Software::Idle if seen.fill => {
                self.modes.pause = true;
                self.software = Software::Pausing;
            }
            Software::Pausing if seen.stable => {
                self.modes.through = true;
                self.write_back()?;
                let (elements, left) = (seen.held, seen.held);
                self.software = Software::Writing {
                    elements,
                    left,
                    calm: 0,
                };
            }
            Software::Writing {
                elements,
                left: before,
                calm: CALM,
            } if before == left => {
                self.modes.pause = left == 0;
                // A writer that waits for room goes on as soon as there is some.
                let part = match elements - left {
                    copied if left > 0 || seen.full => copied,
                    copied => copied.div_ceil(2),
                };
                self.modes.release = Some(part);
                (0..part).for_each(|_| self.model.read_back(true));
                self.software = match elements - part {
                    0 => Software::Released { calm: 0 },
                    elements => Software::Writing {
                        elements,
                        left,
                        calm: if left > 0 { 0 } else { CALM },
                    },
                };
            }
            Software::Writing {
                elements,
                left: before,
                calm,
            } => {
                self.modes.pause |= left == 0;
                let moves = left != before || left == 0 && !seen.stable;
                let calm = if moves { 0 } else { calm + 1 };
                self.software = Software::Writing { elements, left, calm };
            }
            Software::Released { .. } if seen.held == 0 && seen.spilled == 0 => {
                (self.modes.pause, self.modes.through) = (false, false);
                self.software = Software::Idle;
            }
            // Words were spilled while there was no pause.
            Software::Released { calm: CALM } => self.software = Software::Pausing,
            Software::Released { calm } => self.software = Software::Released { calm: calm + 1 },
            _ => {}
        }
        Ok(())
    }

    /// The software writes all elements of the region to direct pages.
    fn write_back(&mut self) -> Result<(), Fault> {
        // The settings may name the next region already. The model has the one in use.
        let region = self.model.region();
        let size = region.elements();
        for back in (1..=self.seen.held).rev() {
            let position = (u32::from(self.seen.position) + size - back) % size;
            let at = Addr(region.addr() + position * SPILL_BYTES);
            let bytes = self.spill.memory.read(at, SPILL_BYTES as usize);
            let bytes = bytes.expect("the region is in the memory");
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
            let (tag, data) = (word(0), word(4));
            let element = Element::decode(tag, data);
            let element = element.ok_or_else(|| Rule::Element.broken(format!("{tag:#x} {data:#x} at {at}")))?;
            self.direct.push((element.queue, element.word, element.label));
        }
        Ok(())
    }

    pub fn run(&mut self, cycles: u64) -> Result<(), Fault> {
        (0..cycles).try_for_each(|_| self.cycle())
    }

    /// Words inside and outside that are not given.
    pub fn left(&self) -> usize {
        self.model.waiting() + self.writers.iter().map(Source::len).sum::<usize>() + self.direct.len()
    }

    fn is_done(&self) -> bool {
        let idle = !self.outputs().busy && !self.spill.agent.has_taken();
        self.left() == 0 && idle && self.software == Software::Idle
    }

    /// Until all words are given, and the unit is at rest.
    pub fn finish(&mut self, limit: u64) -> Result<(), Fault> {
        let end = self.cycles() + limit;
        while !self.is_done() {
            self.cycle()?;
            Rule::Hang.holds(self.cycles() < end, || {
                let (left, memory) = (self.left(), self.spill.agent.report().join("; "));
                format!("{left} words left, {:?}, {:x?}; {memory}", self.software, self.seen)
            })?;
        }
        let seen = self.outputs();
        let rest = seen.held == 0 && seen.spilled == 0 && !seen.fill && !seen.full;
        Rule::Reported.holds(rest, || format!("at rest: {seen:x?}"))?;
        let (refused, told) = (self.spill.refused, self.told[0]);
        Rule::Reported.holds(told == refused, || {
            format!("the memory refused {refused} bursts, the unit reports {told}")
        })
    }
}
