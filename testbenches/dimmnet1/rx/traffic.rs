//! All that surrounds the receiver in a case: link, TLB, memory, answer queue, slots and firmware.

use std::collections::VecDeque;

use testbenches::mem::Offers;
use testbenches::{Bench, Fault, Rule as _, Run};
use tsunagi::dimmnet1::golden::rx::{Levels, Told};
use tsunagi::dimmnet1::golden::tlb::{Found, Lookup, Tlb};
use tsunagi::harness::memory::{Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::{Addr, Cycle};

use super::plan::{Due, Halt, Job, Load, Plan, Wrote};
use super::{In, LLCM_BYTES, MEMORY, Out, Rule, Rx, place};

/// How hard memory and streams make it.
#[derive(Clone, Copy, Debug)]
pub struct Hardship {
    pub gaps: Gaps,
    pub slow: bool,
    /// Some bytes answer with bus errors.
    pub faults: bool,
}

impl Hardship {
    pub const NONE: Hardship = Hardship {
        gaps: Gaps::None,
        slow: false,
        faults: false,
    };

    pub fn all() -> impl Iterator<Item = Hardship> {
        Gaps::ALL.into_iter().flat_map(|gaps| {
            [(false, false), (true, false), (true, true)].map(|(slow, faults)| Hardship { gaps, slow, faults })
        })
    }

    fn agent(self, run: &Run) -> MemoryAgent {
        if !self.slow {
            return MemoryAgent::new(MemoryTiming::IDEAL, 8);
        }
        let timing = MemoryTiming {
            write_latency: Cycle(7),
            overhead: Cycle(2),
            ..MemoryTiming::IDEAL
        };
        MemoryAgent::new(timing, 8).with_jitter(run.rng("agent").bits(), Cycle(12), Cycle(2))
    }

    fn filled(self, run: &Run) -> Memory {
        let mut rng = run.rng("memory");
        let size = MEMORY + LLCM_BYTES;
        let mut memory = Memory::new(size as usize);
        memory.poison(0..size);
        for _ in 0..if self.faults { size / 1024 } else { 0 } {
            let at = rng.below(size.into()) as u32;
            memory.inject_fault(at..at + 1 + rng.below(40) as u32);
        }
        memory
    }
}

/// A lookup under way, answered at this cycle.
#[derive(Clone, Copy)]
struct Open {
    found: Found,
    at: u64,
}

/// What is due at each output.
#[derive(Default)]
struct Dues {
    halts: VecDeque<Halt>,
    /// Words with `last`; the first one with what must be visible.
    answers: VecDeque<Due<(u64, bool)>>,
    told: VecDeque<Due<Told>>,
    outcomes: VecDeque<Due<u32>>,
    /// With the data of earlier packets, which must be visible.
    otfs: VecDeque<Due<(u16, u64, u8)>>,
    /// The last transfer that RX_GO DMA began, and the cycle of that.
    done: Option<(u32, u64)>,
}

impl Dues {
    fn add(&mut self, job: &Job, before: &Wrote) {
        self.halts.extend(job.halts.iter().cloned());
        for (words, wrote) in &job.answers {
            let count = words.len();
            let visible = |i| if i == 0 { wrote.clone() } else { Wrote::new() };
            let one = |(i, &word): (usize, &u64)| ((word, i + 1 == count), visible(i));
            self.answers.extend(words.iter().enumerate().map(one));
        }
        self.told.extend(job.told.iter().cloned());
        self.outcomes.extend(job.outcomes.iter().cloned());
        self.otfs.extend(job.otfs.iter().map(|&otf| (otf, before.clone())));
    }

    fn is_empty(&self) -> bool {
        self.halts.is_empty()
            && self.answers.is_empty()
            && self.told.is_empty()
            && self.outcomes.is_empty()
            && self.otfs.is_empty()
            && self.done.is_none()
    }

    fn left(&self) -> String {
        format!(
            "{} stops, {} words of answers, {} for slots, {} outcomes, {} OTF, {} transfers",
            self.halts.len(),
            self.answers.len(),
            self.told.len(),
            self.outcomes.len(),
            self.otfs.len(),
            usize::from(self.done.is_some())
        )
    }
}

/// What the firmware still does at the stop that it saw.
#[derive(Default)]
struct Firmware {
    steps: VecDeque<Step>,
    wait: u64,
}

enum Step {
    Header((usize, [bool; 2], u64)),
    Go(Halt),
}

pub struct Traffic<'a> {
    bench: Bench<'a, In, Out>,
    hardship: Hardship,
    rng: Rng,
    memory: Memory,
    agent: MemoryAgent,
    words: Source<(u64, bool)>,
    answers: Sink<(u64, bool)>,
    otfs: Sink<(u16, u64, u8)>,
    lookups: Monitor<Lookup>,
    offers: Offers,
    receives: Pacer,
    levels: Levels,
    received: bool,
    /// The next word is a packet's first.
    at_first: bool,
    tlb: Tlb,
    open: Option<Open>,
    firmware: Firmware,
    dues: Dues,
    was_done: bool,
    /// The last data written by a job that was released, and the jobs since then.
    last_wrote: Wrote,
    since: u64,
    /// Words taken, and the cycle of the third.
    taken: u64,
    third_word: u64,
    last_word: u64,
    otf_at: u64,
}

/// Cycles without progress after which the unit hangs.
const PATIENCE: u64 = 1500;

impl<'a> Traffic<'a> {
    pub fn new(run: &Run<'a>, dut: &Rx, hardship: Hardship) -> Traffic<'a> {
        let gaps = hardship.gaps;
        let sink = |name: &str| run.pacer(gaps.at_sink(), name);
        Traffic {
            bench: Bench::new(run, dut),
            hardship,
            rng: run.rng("traffic"),
            memory: hardship.filled(run),
            agent: hardship.agent(run),
            words: Source::new([], run.pacer(gaps.at_source(), "words")),
            answers: Sink::new(sink("answers")),
            otfs: Sink::new(sink("OTF")),
            lookups: Monitor::default(),
            offers: Offers::default(),
            receives: run.pacer(gaps.at_source(), "receive"),
            levels: Levels {
                node: 0,
                cpu_runs: false,
                matches: false,
                room: true,
            },
            received: false,
            at_first: true,
            tlb: Tlb::default(),
            open: None,
            firmware: Firmware::default(),
            dues: Dues::default(),
            was_done: false,
            last_wrote: Wrote::new(),
            since: 0,
            taken: 0,
            third_word: 0,
            last_word: 0,
            otf_at: 0,
        }
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Cycles in which no word was taken, from the third to the last.
    pub fn pauses(&self) -> u64 {
        self.last_word - self.third_word + 3 - self.taken
    }

    /// Cycles from the last word taken to the last OTF write.
    pub fn otf_took(&self) -> u64 {
        self.otf_at - self.last_word
    }

    /// Runs a plan to its end, or to a reset.
    pub fn exercise(&mut self, plan: Plan, reset: Option<u64>) -> Result<(), Fault> {
        self.begin(&plan)?;
        let mut jobs = VecDeque::from(plan.jobs);
        let start = self.bench.cycle();
        let (mut waits, mut idle) = (0, 0);
        loop {
            let settled = self.dues.is_empty() && self.words.is_empty() && idle > 3;
            if plan.load == Load::Full || settled {
                let count = if plan.load == Load::Full {
                    jobs.len()
                } else {
                    1.min(jobs.len())
                };
                for job in jobs.drain(..count) {
                    self.release(&job);
                    idle = 0;
                }
            }
            let cycle = self.bench.cycle();
            if reset.is_some_and(|after| cycle == start + after) {
                return Ok(());
            }
            let (moved, busy) = self.cycle().map_err(|fault| fault.at(cycle))?;
            let at_rest = self.dues.is_empty() && self.words.is_empty() && !busy && !self.agent.has_taken();
            (waits, idle) = (if moved { 0 } else { waits + 1 }, if at_rest { idle + 1 } else { 0 });
            if jobs.is_empty() && idle > 40 {
                return self.compare(&plan.memory);
            }
            Rule::Hang.holds(waits < PATIENCE, || {
                format!(
                    "cycle {cycle}: {} words and {} left",
                    self.words.len(),
                    self.dues.left()
                )
            })?;
        }
    }

    /// A reset, and the plan's tables.
    fn begin(&mut self, plan: &Plan) -> Result<(), Fault> {
        for _ in 0..3 {
            let inputs = self.inputs();
            self.bench.reset(&inputs)?;
        }
        self.words.reset();
        self.words.stop();
        self.answers.reset();
        self.otfs.reset();
        self.lookups.reset();
        self.offers.reset();
        self.agent.reset();
        (self.open, self.firmware, self.dues) = (None, Firmware::default(), Dues::default());
        (self.was_done, self.at_first, self.taken) = (false, true, 0);
        (self.last_wrote, self.received) = (Wrote::new(), false);
        self.tlb = plan.tlb.clone();
        Ok(())
    }

    fn release(&mut self, job: &Job) {
        self.levels = job.levels;
        let count = job.words.len();
        for (i, &word) in job.words.iter().enumerate() {
            self.words.push((word, i + 1 == count));
        }
        self.dues.add(job, &self.last_wrote);
        self.since += 1;
        // Later packets write at the same places again.
        if !job.wrote.is_empty() || self.since > 8 {
            self.since = 0;
            self.last_wrote = job.wrote.clone();
        }
    }

    fn inputs(&mut self) -> In {
        let cycle = self.bench.cycle();
        let mut inputs = In {
            node: self.levels.node,
            receive: self.receives.step(),
            cpu_runs: self.levels.cpu_runs,
            matches: self.levels.matches,
            room: self.levels.room,
            word: self.words.offer().copied(),
            lookup_ready: self.open.is_none() && (!self.hardship.slow || self.rng.chance(2, 3)),
            found: self.open.filter(|open| open.at <= cycle).map(|open| open.found),
            answers_ready: self.answers.ready(),
            otf_ready: self.otfs.ready(),
            mem: *self.agent.ports(),
            header: None,
            go: None,
        };
        if self.firmware.wait > 0 {
            self.firmware.wait -= 1;
        } else {
            match self.firmware.steps.pop_front() {
                Some(Step::Header(change)) => inputs.header = Some(change),
                Some(Step::Go(halt)) => {
                    inputs.go = Some(halt.go);
                    if let Some(reason) = halt.done {
                        self.dues.done = Some((reason, cycle));
                    }
                    for entry in &halt.entries {
                        entry.store(&mut self.tlb);
                    }
                }
                None => {}
            }
        }
        inputs
    }

    /// A cycle; whether anything moved, and whether the unit is busy.
    fn cycle(&mut self) -> Result<(bool, bool), Fault> {
        let inputs = self.inputs();
        let cycle = self.bench.cycle();
        let still = inputs.word.is_none()
            && inputs.found.is_none()
            && inputs.header.is_none()
            && inputs.go.is_none()
            && !inputs.mem.wr_rsp_valid
            && inputs.receive == self.received;
        let seen = self.bench.step_gated(&inputs, |seen| !seen.busy && still, true)?;
        let mut moved = self.memory_step(cycle, &seen)?;
        moved |= self.link(cycle, &inputs, &seen)?;
        moved |= self.translate(cycle, &inputs, &seen)?;
        moved |= self.outputs(cycle, &seen)?;
        moved |= self.stops(cycle, &inputs, &seen)?;
        Ok((moved, seen.busy))
    }

    fn memory_step(&mut self, cycle: u64, seen: &Out) -> Result<bool, Fault> {
        self.offers.step(&seen.mem, self.agent.ports())?;
        let mut moved = false;
        self.agent
            .step(Cycle(cycle), &mut self.memory, &seen.mem, |_| moved = true);
        Ok(moved || self.agent.has_taken())
    }

    fn link(&mut self, cycle: u64, inputs: &In, seen: &Out) -> Result<bool, Fault> {
        let word = self.words.step(seen.word_ready);
        if let Some((_, last)) = word {
            Rule::Receive.holds(self.received || !self.at_first, || {
                "a packet begins while RECEIVE is clear".into()
            })?;
            self.at_first = last;
            self.taken += 1;
            // The first two may have to wait until the receiver has cleared its numbers.
            if self.taken == 3 {
                self.third_word = cycle;
            }
            self.last_word = cycle;
        }
        self.received = inputs.receive;
        Ok(word.is_some())
    }

    fn translate(&mut self, cycle: u64, inputs: &In, seen: &Out) -> Result<bool, Fault> {
        self.lookups.step(seen.lookup.as_ref(), inputs.lookup_ready)?;
        if inputs.found.is_some() {
            self.open = None;
        }
        let Some(lookup) = seen.lookup.filter(|_| inputs.lookup_ready) else {
            return Ok(inputs.found.is_some());
        };
        let found = self.tlb.look(&lookup);
        let jitter = if self.hardship.slow { self.rng.below(6) } else { 0 };
        let at = cycle + 2 + jitter;
        self.open = Some(Open { found, at });
        Ok(true)
    }

    fn outputs(&mut self, cycle: u64, seen: &Out) -> Result<bool, Fault> {
        let answer = self.answers.step(seen.answer)?;
        if let Some(got) = answer {
            let due = self.dues.answers.pop_front();
            self.due(Rule::Answer, due, got)?;
        }
        if let Some(got) = seen.told {
            let due = self.dues.told.pop_front();
            self.due(Rule::Slots, due, got)?;
        }
        if let Some(got) = seen.outcome {
            let due = self.dues.outcomes.pop_front();
            self.due(Rule::Outcome, due, got)?;
        }
        let otf = self.otfs.step(seen.otf)?;
        if let Some(got) = otf {
            self.otf_at = cycle;
            let due = self.dues.otfs.pop_front();
            self.due(Rule::Otf, due, got)?;
        }
        Ok(answer.is_some() || otf.is_some() || seen.told.is_some() || seen.outcome.is_some())
    }

    /// This output was due, and the data that it speaks of are in memory.
    fn due<T: PartialEq + std::fmt::Debug>(&self, rule: Rule, due: Option<Due<T>>, got: T) -> Result<(), Fault> {
        let (want, wrote) = due.ok_or_else(|| rule.broken(format!("{got:x?}, but nothing is due")))?;
        rule.same("output", want, got)?;
        for (addr, byte) in wrote {
            let at = Addr(place(addr));
            let good = self.memory.bus_ok(at, 1);
            Rule::Visible.holds(!good || self.memory.read(at, 1) == Some(&[byte]), || {
                format!("{rule:?} before the data at {at}")
            })?;
        }
        Ok(())
    }

    fn stops(&mut self, cycle: u64, inputs: &In, seen: &Out) -> Result<bool, Fault> {
        let done = seen.done.is_some();
        // An earlier transfer may still end in the cycle behind the command for the next.
        let is_last = self.dues.done.is_none_or(|(_, since)| cycle > since + 1);
        if done && !self.was_done && is_last {
            let want = self.dues.done.take().map(|(reason, _)| reason);
            Rule::Done.same("transfer", want, seen.done)?;
        }
        let mut moved = done != self.was_done;
        self.was_done = done;
        if self.firmware.steps.is_empty()
            && inputs.go.is_none()
            && let Some(stop) = seen.stop
        {
            let halt = self.dues.halts.pop_front();
            let halt = halt.ok_or_else(|| Rule::Stop.broken(format!("{stop:x?}, but none is due")))?;
            Rule::Stop.same("stop", halt.stop, stop)?;
            self.firmware.steps = halt.header.iter().copied().map(Step::Header).collect();
            self.firmware.steps.push_back(Step::Go(halt));
            self.firmware.wait = if self.rng.chance(1, 2) { 0 } else { self.rng.below(60) };
            moved = true;
        }
        Ok(moved || self.firmware.wait > 0)
    }

    fn compare(&self, want: &Memory) -> Result<(), Fault> {
        let all = |memory: &Memory| memory.read(Addr(0), memory.size()).expect("all of it").to_vec();
        let (got, want) = (all(&self.memory), all(want));
        let Some(at) = got.iter().zip(&want).position(|(got, want)| got != want) else {
            return Ok(());
        };
        Err(Rule::Memory.broken(format!("{:#04x} at {at:#x}, not {:#04x}", got[at], want[at])))
    }
}
