//! `cppacs_receive`: worms of any content against the golden model; tables, words unit and memory are here.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::Server;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules, set_write_ports};
use tsunagi::Cycle;
use tsunagi::cppacs::golden::entry::Field;
use tsunagi::cppacs::golden::message::RecvReason;
use tsunagi::cppacs::golden::receive::{Outcome, Ring, receive};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use verilated::{Input as _, Port as _};

use crate::worms::{self, HERE, KEYS};

rules!(
    /// Words land where they should and nowhere else, in the right bursts.
    Write
    /// Each worm ends once, in order, with the right reason and names.
    Outcome
    /// No count and no end before memory has responded.
    Early
    /// A complete transfer, and no other, counts once, and its flag says so.
    Count
    /// Fields are shut when they must be, and only then.
    Shut
    /// The kernel is interrupted when it must be.
    Notify
    /// Count and flag of the two receivers do not mix; refusals keep their distance.
    Order
    /// It counts the words of payload that it writes.
    Words
    /// It is busy while something is inside, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if no other party pauses.
    Rate
    /// Everything ends.
    Hang
);

/// How a worm ended: source, field, kind, and 0 or a code of Receive reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ended(u32, u32, u32, u32);

#[derive(Default)]
struct In {
    word: Option<(u32, bool)>,
    ring: Ring,
    look_ready: bool,
    found: Option<(Field, u32)>,
    gone: bool,
    mem: MemPortsOut,
    job_take: bool,
    job_ready: bool,
    done: Option<bool>,
    other: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    ready: bool,
    busy: bool,
    field: u32,
    looks: bool,
    counts: bool,
    shuts: bool,
    open: bool,
    mem: MemPortsIn,
    job: Option<u32>,
    job_data: u32,
    settling: bool,
    notifies: bool,
    ended: Option<Ended>,
    received: bool,
    word: bool,
}

fn set(dut: &impl CppacsReceivePorts, inputs: &In) {
    dut.place_i().set(HERE.word().into());
    dut.ring_tail_i().set(inputs.ring.tail.into());
    dut.ring_slot_log_i().set(inputs.ring.slot_log.into());
    dut.ring_slots_log_i().set(inputs.ring.slots_log.into());
    dut.in_valid_i().set_bool(inputs.word.is_some());
    let (data, last) = inputs.word.unwrap_or((0xdead_beef, true));
    dut.in_data_i().set(data.into());
    dut.in_last_i().set_bool(last);
    dut.look_ready_i().set_bool(inputs.look_ready);
    dut.look_for_i().set_bool(inputs.found.is_some());
    let (field, count) = inputs.found.unwrap_or_default();
    let [state, extent, flag] = field.words();
    dut.look_first_i().set(state);
    dut.look_second_i().set(extent);
    dut.look_flag_i().set(flag);
    dut.look_count_i().set(count.into());
    dut.gone_i().set_bool(inputs.gone);
    set_write_ports!(dut, &inputs.mem);
    dut.job_ready_i().set_bool(inputs.job_ready);
    dut.job_take_i().set_bool(inputs.job_take);
    dut.done_valid_i().set_bool(inputs.done.is_some());
    dut.done_err_i().set_bool(inputs.done.unwrap_or(false));
    dut.other_settling_i().set_bool(inputs.other);
}

fn seen(dut: &impl CppacsReceivePorts) -> Out {
    let (received, refused) = (dut.received_o().is_set(), dut.refused_valid_o().is_set());
    let get = |port: &dyn verilated::Port| port.get() as u32;
    let job = dut.job_valid_o().is_set();
    Out {
        ready: dut.in_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
        field: get(dut.field_o()),
        looks: dut.look_valid_o().is_set(),
        counts: dut.count_valid_o().is_set(),
        shuts: dut.shut_valid_o().is_set(),
        open: dut.open_o().is_set(),
        mem: MemPortsIn {
            wr_cmd_valid: dut.mem_cmd_valid_o().is_set(),
            wr_cmd_addr: get(dut.mem_cmd_addr_o()),
            wr_cmd_len: dut.mem_cmd_len_o().get() as u8,
            wr_data_valid: dut.mem_data_valid_o().is_set(),
            wr_data_data: dut.mem_data_data_o().get(),
            wr_data_strb: 15,
            wr_data_last: dut.mem_data_last_o().is_set(),
            wr_rsp_ready: dut.mem_rsp_ready_o().is_set(),
            ..MemPortsIn::default()
        },
        job: job.then(|| get(dut.job_addr_o())),
        job_data: get(dut.job_data_o()),
        settling: dut.settling_o().is_set(),
        notifies: dut.notify_valid_o().is_set(),
        ended: (received || refused).then(|| {
            let reason = if refused { get(dut.reason_o()) } else { 0 };
            Ended(get(dut.src_o()), get(dut.ended_field_o()), get(dut.kind_o()), reason)
        }),
        received,
        word: dut.words_o().is_set(),
    }
}

fn dut<U: CppacsReceiveUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

// ------------------------------------------------------------------------------------------------------------ the case

/// Bytes of the memory.
const SIZE: u32 = 1 << 17;
/// Bytes of the longest burst.
const BURST: u32 = 64;

/// How hard a case is.
#[derive(Clone, Copy, Debug)]
struct Hardship {
    gaps: Gaps,
    /// Bus errors in memory and at flags.
    faults: bool,
    /// Fields are destroyed.
    gone: bool,
    ring: bool,
}

const EASY: Hardship = Hardship {
    gaps: Gaps::None,
    faults: false,
    gone: false,
    ring: false,
};

/// A write to memory.
type Burst = (u32, Vec<u32>);

/// A worm of which words were taken.
struct Worm {
    words: Vec<u32>,
    taken: usize,
    outcome: Option<Outcome>,
    due: VecDeque<Burst>,
    /// Bursts seen, and those with a response.
    seen: usize,
    responded: usize,
    error: bool,
    /// When its field was destroyed, or shut by the worm before. Certain: it was looked up before.
    gone: Option<(u64, bool)>,
    counted: bool,
    /// The entry by which its flag is written.
    second: Option<(Field, u32)>,
    flag: Vec<u32>,
    flag_error: Option<bool>,
}

/// The words unit and its job.
#[derive(Default)]
struct Job {
    taken: usize,
    ready: bool,
    open: bool,
}

struct World {
    rng: Rng,
    hard: Hardship,
    memory: Memory,
    server: Server,
    pacers: [Pacer; 3],
    source: Source<(u32, bool)>,
    /// Words of the worms that were not begun.
    list: VecDeque<Vec<u32>>,
    fields: Vec<(Field, u32)>,
    ring: Ring,
    worms: VecDeque<Worm>,
    commands: VecDeque<(u32, u8)>,
    data: Vec<u32>,
    /// For each burst without response: the number of its worm.
    open: VecDeque<u64>,
    ended: u64,
    asked: Option<(u64, (Field, u32))>,
    second: bool,
    gone_next: bool,
    job: Job,
    job_monitor: Monitor<u32>,
    look_monitor: Monitor<u32>,
    other: u64,
    refused_at: Option<u64>,
    told: u64,
    written: u64,
    span: (Option<u64>, u64),
    inputs: In,
}

fn flat(list: &VecDeque<Vec<u32>>) -> Vec<(u32, bool)> {
    let of_worm = |worm: &Vec<u32>| {
        let last = worm.len() - 1;
        worm.iter()
            .enumerate()
            .map(|(i, &word)| (word, i == last))
            .collect::<Vec<_>>()
    };
    list.iter().flat_map(of_worm).collect()
}

impl World {
    fn new(run: &Run, hard: Hardship, list: Vec<Vec<u32>>) -> World {
        let mut rng = run.rng("world");
        let mut memory = Memory::new(SIZE as usize);
        for _ in 0..if hard.faults { 60 } else { 0 } {
            let at = rng.below(SIZE.into()) as u32;
            memory.inject_fault(at..at + 1 + rng.below(64) as u32);
        }
        let pauses = hard.gaps.at_sink();
        let slow = MemoryTiming {
            write_latency: Cycle(20),
            overhead: Cycle(1),
            ..MemoryTiming::IDEAL
        };
        let ring = Ring {
            tail: 0,
            slot_log: if hard.ring { 6 + rng.below(3) as u32 } else { 0 },
            slots_log: rng.below(4) as u32,
        };
        let list = VecDeque::from(list);
        World {
            memory,
            server: Server::new(run, if pauses { slow } else { MemoryTiming::IDEAL }, 4, pauses),
            pacers: ["looks", "jobs", "others"].map(|name| run.pacer(pauses, name)),
            source: Source::new(flat(&list), run.pacer(hard.gaps.at_source(), "words")),
            list,
            fields: worms::fields(&mut rng),
            ring,
            worms: VecDeque::new(),
            commands: VecDeque::new(),
            data: Vec::new(),
            open: VecDeque::new(),
            ended: 0,
            asked: None,
            second: false,
            gone_next: false,
            job: Job::default(),
            job_monitor: Monitor::default(),
            look_monitor: Monitor::default(),
            other: 0,
            refused_at: None,
            told: 0,
            written: 0,
            span: (None, 0),
            inputs: In::default(),
            hard,
            rng,
        }
    }

    /// The inputs of a cycle.
    fn begin(&mut self, cycle: u64) {
        let go: Vec<bool> = self.pacers.iter_mut().map(Pacer::step).collect();
        let found = self.asked.filter(|(due, _)| *due <= cycle).map(|(_, entry)| entry);
        if found.is_some() {
            self.asked = None;
        }
        let job = &mut self.job;
        let ready = job.open && !job.ready && go[1];
        let takes = job.ready && job.taken < 2 && go[1];
        let ends = job.taken == 2 && go[1];
        let done = ends.then(|| self.hard.faults && self.rng.chance(1, 8));
        self.inputs = In {
            word: self.source.offer().copied(),
            ring: self.ring,
            look_ready: self.asked.is_none() && found.is_none() && go[0],
            found,
            gone: std::mem::take(&mut self.gone_next),
            mem: self.server.ports(),
            job_take: takes,
            job_ready: ready,
            done,
            other: self.other > cycle,
        };
    }

    fn entry(&self, field: u32) -> (Field, u32) {
        self.fields.get(field as usize).copied().unwrap_or_default()
    }

    /// The edge after the cycle with these inputs. Whether all is done.
    fn step(&mut self, cycle: u64, out: &Out) -> Result<bool, Fault> {
        let empty = self.worms.is_empty();
        Rule::Rest.holds(out.busy || empty, || "it rests with work inside".into())?;
        self.look_monitor
            .step(out.looks.then_some(&out.field), self.inputs.look_ready)?;
        self.server.step(cycle, &mut self.memory, &out.mem)?;
        self.told += u64::from(out.word);
        self.memory_writes(out)?;
        if out.shuts {
            Rule::Shut.holds(out.ended.is_some(), || "a shut without an end".into())?;
            self.close(out.field, cycle, |field| field.enabled = false);
        }
        if self.hard.gone && out.open && self.rng.chance(1, 300) {
            let key = KEYS + self.rng.below(2) as u32;
            let enabled = self.rng.chance(1, 2);
            self.gone_next = true;
            let of = self.entry(out.field).0;
            if enabled && of.key == key {
                self.gone_next = false;
            } else {
                self.close(out.field, cycle, |field| (field.enabled, field.key) = (enabled, key));
                if let Some(entry) = self.fields.get_mut(out.field as usize) {
                    entry.1 = 0;
                }
            }
        }
        self.counts(cycle, out)?;
        self.ends(cycle, out)?;
        self.takes(cycle, out);
        self.looks(cycle, out)?;
        self.jobs(out)?;
        if cycle >= self.other && !out.settling && self.rng.chance(1, 40) && self.hard.gaps.at_sink() {
            self.other = cycle + 1 + self.rng.between(1, 30);
        }
        let looks = self.asked.is_some() || self.inputs.found.is_some();
        if self.hard.ring && !looks && self.rng.chance(1, 60) && self.ring.tail != self.fields[0].1 {
            self.ring.tail += 1;
        }
        Ok(self.worms.is_empty() && self.list.is_empty())
    }

    /// A field's entry changes: whoever has looked it up finds it gone.
    fn close(&mut self, field: u32, cycle: u64, change: impl Fn(&mut Field)) {
        if let Some((entry, _)) = self.fields.get_mut(field as usize) {
            change(entry);
        }
        let named = |worm: &&mut Worm| {
            worm.outcome
                .as_ref()
                .is_some_and(|outcome| outcome.named.field == field)
        };
        for worm in self.worms.iter_mut().filter(named) {
            worm.gone = worm.gone.or(Some((cycle, true)));
        }
    }

    fn takes(&mut self, cycle: u64, out: &Out) {
        let Some((_, last)) = self.source.step(out.ready) else {
            return;
        };
        self.span = (self.span.0.or(Some(cycle)), cycle);
        if self.worms.back().is_none_or(|worm| worm.taken == worm.words.len()) {
            self.worms.push_back(Worm {
                words: self.list.pop_front().expect("words are of worms"),
                taken: 0,
                outcome: None,
                due: VecDeque::new(),
                seen: 0,
                responded: 0,
                error: false,
                gone: None,
                counted: false,
                second: None,
                flag: Vec::new(),
                flag_error: None,
            });
        }
        let worm = self.worms.back_mut().expect("it was pushed");
        worm.taken += 1;
        if last && worm.taken == 1 {
            worm.outcome = Some(receive(&worm.words, HERE, &Field::default(), 0, self.ring));
        }
    }

    /// A lookup is taken: it is a flag's behind a count, else the next header's.
    fn looks(&mut self, cycle: u64, out: &Out) -> Result<(), Fault> {
        if !out.looks || !self.inputs.look_ready {
            return Ok(());
        }
        let entry = self.entry(out.field);
        let delay = if self.hard.gaps.at_sink() { self.rng.below(6) } else { 0 };
        self.asked = Some((cycle + 4 + delay, entry));
        if std::mem::take(&mut self.second) {
            let worm = self.worms.front_mut().expect("it counted");
            worm.second = Some(entry);
            return Ok(());
        }
        let ring = self.ring;
        let worm = self
            .worms
            .iter_mut()
            .find(|worm| worm.outcome.is_none() && worm.taken >= 2);
        let worm = worm.ok_or_else(|| Rule::Outcome.broken("a lookup for nothing"))?;
        let outcome = receive(&worm.words, HERE, &entry.0, entry.1, ring);
        Rule::Outcome.same("field", outcome.named.field, out.field)?;
        for (at, words) in &outcome.writes {
            let mut at = *at;
            let mut words = &words[..];
            while !words.is_empty() {
                let (burst, rest) = words.split_at(words.len().min(((BURST - at % BURST) / 4) as usize));
                worm.due.push_back((at, burst.to_vec()));
                at += 4 * burst.len() as u32;
                words = rest;
            }
        }
        worm.outcome = Some(outcome);
        // The field was destroyed in the cycle of the lookup.
        worm.gone = self.gone_next.then_some((cycle, false));
        Ok(())
    }

    fn memory_writes(&mut self, out: &Out) -> Result<(), Fault> {
        let mem = &self.inputs.mem;
        if mem.wr_rsp_valid && out.mem.wr_rsp_ready {
            let number = self.open.pop_front().expect("the memory has bursts of this unit");
            let worm = &mut self.worms[(number - self.ended) as usize];
            worm.responded += 1;
            worm.error |= mem.wr_rsp_err;
        }
        if out.mem.wr_cmd_valid && mem.wr_cmd_ready {
            self.commands.push_back((out.mem.wr_cmd_addr, out.mem.wr_cmd_len));
        }
        if !(out.mem.wr_data_valid && mem.wr_data_ready) {
            return Ok(());
        }
        self.data.push(out.mem.wr_data_data as u32);
        if !out.mem.wr_data_last {
            return Ok(());
        }
        let data = std::mem::take(&mut self.data);
        self.written += data.len() as u64;
        let command = self.commands.pop_front();
        let (addr, len) = command.ok_or_else(|| Rule::Write.broken("data before their command"))?;
        Rule::Write.same("words", usize::from(len) + 1, data.len())?;
        let burst = (addr, data);
        for (i, worm) in self.worms.iter_mut().enumerate() {
            if worm.due.front() == Some(&burst) {
                worm.due.pop_front();
                worm.seen += 1;
                self.open.push_back(self.ended + i as u64);
                return Ok(());
            }
            let may_end = worm.due.is_empty() || worm.gone.is_some();
            Rule::Write.holds(may_end, || format!("{burst:x?}, not {:x?}", worm.due.front()))?;
        }
        Err(Rule::Write.broken(format!("{burst:x?} is not due")))
    }

    fn counts(&mut self, cycle: u64, out: &Out) -> Result<(), Fault> {
        if !out.counts {
            return Ok(());
        }
        Rule::Order.holds(out.settling && !self.inputs.other, || "a count amid the other's".into())?;
        let worm = self.worms.front_mut().ok_or_else(|| Rule::Count.broken("nothing"))?;
        Rule::Early.holds(worm.due.is_empty() && worm.seen == worm.responded, || "a count".into())?;
        let outcome = worm
            .outcome
            .as_ref()
            .ok_or_else(|| Rule::Count.broken("before the lookup"))?;
        let may = worm.gone.is_none_or(|(at, certain)| cycle <= at + 1 || !certain);
        Rule::Count.holds(outcome.completes && !worm.counted && !worm.error && may, || {
            format!("it counts {outcome:x?}")
        })?;
        Rule::Count.same("field", outcome.named.field, out.field)?;
        worm.counted = true;
        self.second = true;
        // A count of a field that is destroyed in this cycle is lost with it.
        if let Some(entry) = self.fields.get_mut(out.field as usize)
            && !self.gone_next
        {
            entry.1 = entry.1.wrapping_add(1);
        }
        Ok(())
    }

    fn jobs(&mut self, out: &Out) -> Result<(), Fault> {
        self.job_monitor.step(out.job.as_ref(), self.inputs.job_ready)?;
        let job = &mut self.job;
        if self.inputs.done.is_some() {
            let worm = self.worms.front_mut().expect("it has a job");
            worm.flag_error = self.inputs.done;
            *job = Job::default();
            return Ok(());
        }
        if self.inputs.job_take {
            job.taken += 1;
            self.worms.front_mut().expect("it has a job").flag.push(out.job_data);
        }
        job.ready |= self.inputs.job_ready;
        if let Some(addr) = out.job
            && !job.open
        {
            let worm = self
                .worms
                .front()
                .ok_or_else(|| Rule::Count.broken("a flag of nothing"))?;
            let flagged = worm.second.filter(|(entry, _)| entry.flagged);
            let (entry, _) = flagged.ok_or_else(|| Rule::Count.broken("a flag that is not due"))?;
            Rule::Count.same("address of the flag", entry.flag, addr)?;
            Rule::Order.holds(out.settling, || "a flag amid the other's".into())?;
            job.open = true;
        }
        Ok(())
    }

    fn ends(&mut self, cycle: u64, out: &Out) -> Result<(), Fault> {
        let Some(ended) = out.ended else {
            return Rule::Notify.holds(!out.notifies, || "without an end".into());
        };
        if !out.received {
            let far = self.refused_at.is_none_or(|at| cycle >= at + 32);
            Rule::Order.holds(far, || "refusals too close".into())?;
            self.refused_at = Some(cycle);
        }
        let worm = self.worms.pop_front().filter(|worm| worm.taken == worm.words.len());
        let worm = worm.ok_or_else(|| Rule::Outcome.broken("an end of nothing"))?;
        self.ended += 1;
        let outcome = worm
            .outcome
            .ok_or_else(|| Rule::Outcome.broken("an end before the lookup"))?;
        Rule::Early.holds(worm.seen == worm.responded, || "an end".into())?;
        let gone = worm.gone.filter(|_| outcome.accepted);
        Rule::Early.holds(worm.due.is_empty() || gone.is_some(), || {
            format!("{} bursts are missing", worm.due.len())
        })?;
        let failed = worm.error || worm.flag_error == Some(true);
        let base = outcome
            .refused
            .or(failed.then_some(RecvReason::Memory))
            .map_or(0, |reason| reason as u32);
        let is_gone = RecvReason::Gone as u32;
        let fits = match gone {
            None => ended.3 == base,
            Some((at, certain)) => {
                ended.3 == is_gone || (ended.3 == base && (!certain || worm.counted || cycle <= at + 3))
            }
        };
        let Outcome { named, .. } = &outcome;
        let names = (named.src.word(), named.field, named.kind) == (ended.0, ended.1, ended.2);
        Rule::Outcome.holds(fits && names, || {
            format!("{ended:x?}, not {base} of {outcome:x?}, gone {gone:?}")
        })?;
        let memory = base == RecvReason::Memory as u32;
        let shuts = ended.3 != is_gone && (outcome.shuts || memory);
        Rule::Shut.holds(out.shuts == shuts, || format!("{:?} for {ended:x?}", out.shuts))?;
        let sound = ended.3 == 0;
        Rule::Notify.same("the interrupt", sound && outcome.notifies, out.notifies)?;
        if sound {
            Rule::Count.same("counted", outcome.completes, worm.counted)?;
        }
        let flagged = sound && worm.second.is_some_and(|(entry, _)| entry.flagged);
        Rule::Count.holds(flagged == (sound && worm.flag_error.is_some()), || {
            "the flag is missing".into()
        })?;
        if let Some((_, count)) = worm.second.filter(|_| flagged) {
            Rule::Count.same("the flag", vec![named.src.word(), count], worm.flag)?;
        }
        Ok(())
    }

    /// The unit was reset.
    fn reset(&mut self) {
        self.server.reset();
        self.source.reset();
        self.source.stop();
        for word in flat(&self.list) {
            self.source.push(word);
        }
        self.worms.clear();
        self.commands.clear();
        self.data.clear();
        self.open.clear();
        self.job = Job::default();
        self.job_monitor.reset();
        self.look_monitor.reset();
        (self.asked, self.second, self.gone_next, self.refused_at) = (None, false, false, None);
        (self.ended, self.told, self.written) = (0, 0, 0);
    }
}

/// Does all of it, with a reset in a cycle.
fn exercise(run: &Run, dut: &Dut<In, Out>, world: &mut World, reset: Option<u64>) -> Result<(), Fault> {
    let mut bench = Bench::new(run, dut);
    let mut idle = 0;
    for cycle in 0..200_000 {
        let rst = cycle < 3 || reset == Some(cycle);
        world.begin(cycle);
        if rst {
            bench.registered(&world.inputs, true)?;
            world.reset();
            continue;
        }
        let out = bench.step(&world.inputs)?;
        let over = world.step(cycle, &out).map_err(|fault| fault.at(cycle))?;
        idle = if over { idle + 1 } else { 0 };
        if idle > 20 && !out.busy {
            return Rule::Words.same("words", world.written, world.told);
        }
        Rule::Rest.holds(idle < 200, || format!("busy without end: {out:x?}"))?;
    }
    let (inside, left) = (world.worms.len(), world.list.len());
    Err(Rule::Hang.broken(format!("{inside} worms inside, {left} not begun")))
}

fn traffic(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for (faults, gone) in [(false, false), (true, false), (false, true)] {
            for ring in [false, true] {
                let hard = Hardship {
                    gaps,
                    faults,
                    gone,
                    ring,
                };
                let resets = gaps == Gaps::Both && !faults;
                cases.case(Start::Random1, format!("{} {hard:?}", dut.name), |run| {
                    let mut rng = run.rng("worms");
                    let list = (0..150).map(|_| worms::any(&mut rng)).collect();
                    let reset = resets.then(|| rng.between(20, 3000));
                    exercise(run, dut, &mut World::new(run, hard, list), reset)
                });
            }
        }
    }
}

/// Words are taken one per cycle, and one cycle is between worms: long ones, and those of one transfer, in longer and
/// in the shortest runs.
fn rate(dut: &Dut<In, Out>, cases: &mut Cases) {
    for (bytes, element, count) in [(4096, 0, 1), (992, 0, 8), (512, 8, 4)] {
        cases.case(
            Start::Zero,
            format!("{} {count} worms of {bytes} bytes", dut.name),
            |run| {
                let list = worms::steady(bytes, element, count);
                let words: u64 = list.iter().map(|worm| worm.len() as u64).sum();
                let mut world = World::new(run, EASY, list);
                exercise(run, dut, &mut world, None)?;
                let cycles = world.span.1 - world.span.0.unwrap_or(0) + 1;
                let most = words + count as u64 - 1;
                Rule::Rate.holds(cycles <= most, || format!("{cycles} cycles, more than {most}"))
            },
        );
    }
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    traffic(dut, cases);
    rate(dut, cases);
}

#[test]
fn worms_are_received_as_the_model_says() {
    pass(this_test!(), |cases| traffic(&dut::<CppacsReceive>(), cases));
}

#[test]
fn one_word_per_cycle() {
    pass(this_test!(), |cases| rate(&dut::<CppacsReceive>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Write, &[], &|cases| checks(&dut::<TwinCppacsReceiveLeft>(), cases)),
            (Write, &[], &|cases| checks(&dut::<TwinCppacsReceiveSlot>(), cases)),
            (Write, &[Outcome], &|cases| {
                checks(&dut::<TwinCppacsReceiveKey>(), cases)
            }),
            (Write, &[Outcome], &|cases| {
                checks(&dut::<TwinCppacsReceiveTail>(), cases)
            }),
            (Outcome, &[Count], &|cases| {
                checks(&dut::<TwinCppacsReceiveGone>(), cases)
            }),
            (Early, &[Write], &|cases| {
                checks(&dut::<TwinCppacsReceiveEarly>(), cases)
            }),
            (Count, &[], &|cases| checks(&dut::<TwinCppacsReceiveLast>(), cases)),
            (Count, &[], &|cases| checks(&dut::<TwinCppacsReceiveFlag>(), cases)),
            (Shut, &[], &|cases| checks(&dut::<TwinCppacsReceiveShut>(), cases)),
            (Notify, &[], &|cases| checks(&dut::<TwinCppacsReceiveNotify>(), cases)),
            (Order, &[], &|cases| checks(&dut::<TwinCppacsReceiveTurn>(), cases)),
            (Words, &[], &|cases| checks(&dut::<TwinCppacsReceiveWords>(), cases)),
            (Rest, &[], &|cases| checks(&dut::<TwinCppacsReceiveRest>(), cases)),
            (Path, &[], &|cases| checks(&dut::<TwinCppacsReceivePath>(), cases)),
            (Protocol, &[], &|cases| checks(&dut::<TwinCppacsReceiveJob>(), cases)),
            (Rate, &[], &|cases| checks(&dut::<TwinCppacsReceiveRate>(), cases)),
            (Rate, &[], &|cases| checks(&dut::<TwinCppacsReceiveAhead>(), cases)),
            (Hang, &[], &|cases| checks(&dut::<TwinCppacsReceiveHang>(), cases)),
        ],
    );
}
