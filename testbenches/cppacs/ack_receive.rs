//! `cppacs_ack_receive`: worms of any content against the golden model; tables, words unit and answers are here.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::cppacs::golden::ack_receive::{AckStep, Act, Ask, Source as From, ack_receive};
use tsunagi::cppacs::golden::entry::Field;
use tsunagi::cppacs::golden::message::{Kind, RecvReason};
use tsunagi::cppacs::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use verilated::{Input as _, Port as _};

use crate::worms::{self, HERE, KEYS};

rules!(
    /// Jobs are what worms ask for: operation, address, words.
    Job
    /// Answers are the model's: to the right node, whole, and only where one is due.
    Answer
    /// Each worm ends once, in order, with the right reason and names.
    Outcome
    /// A complete WRITE, and nothing else, counts once, when it is in memory, and its flag says so.
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
    /// Everything ends.
    Hang
);

const WRITE: u32 = 1;
const SWAP: u32 = 2;
const CSWAP: u32 = 3;

/// A job: operation, address, number of words.
type Job = (u32, u32, u32);

/// How a worm ended: source, field, kind, and 0 or a code of Receive reasons.
type Ended = (u32, u32, u32, u32);

#[derive(Default)]
struct In {
    word: Option<(u32, bool)>,
    look_ready: bool,
    found: Option<(Field, u32)>,
    gone: bool,
    job_take: bool,
    job_ready: bool,
    data: Option<u32>,
    done: Option<bool>,
    room: bool,
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
    job: Option<Job>,
    job_data: u32,
    ask: Option<(u32, u32)>,
    settling: bool,
    notifies: bool,
    ended: Option<Ended>,
    received: bool,
    word: bool,
}

fn set(dut: &impl CppacsAckReceivePorts, inputs: &In) {
    dut.place_i().set(HERE.word().into());
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
    dut.job_ready_i().set_bool(inputs.job_ready);
    dut.job_take_i().set_bool(inputs.job_take);
    dut.data_valid_i().set_bool(inputs.data.is_some());
    dut.data_i().set(inputs.data.unwrap_or(0xbad0_bad0).into());
    dut.done_valid_i().set_bool(inputs.done.is_some());
    dut.done_err_i().set_bool(inputs.done.unwrap_or(false));
    dut.ask_room_i().set_bool(inputs.room);
    dut.other_settling_i().set_bool(inputs.other);
}

fn seen(dut: &impl CppacsAckReceivePorts) -> Out {
    let (received, refused) = (dut.received_o().is_set(), dut.refused_valid_o().is_set());
    let get = |port: &dyn verilated::Port| port.get() as u32;
    let job = (get(dut.job_op_o()), get(dut.job_addr_o()), get(dut.job_words_o()));
    let ask = (get(dut.ask_index_o()), get(dut.ask_data_o()));
    Out {
        ready: dut.in_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
        field: get(dut.field_o()),
        looks: dut.look_valid_o().is_set(),
        counts: dut.count_valid_o().is_set(),
        shuts: dut.shut_valid_o().is_set(),
        open: dut.open_o().is_set(),
        job: dut.job_valid_o().is_set().then_some(job),
        job_data: get(dut.job_data_o()),
        ask: dut.ask_valid_o().is_set().then_some(ask),
        settling: dut.settling_o().is_set(),
        notifies: dut.notify_valid_o().is_set(),
        ended: (received || refused).then(|| {
            let reason = if refused { get(dut.reason_o()) } else { 0 };
            (get(dut.src_o()), get(dut.field_o()), get(dut.kind_o()), reason)
        }),
        received,
        word: dut.words_o().is_set(),
    }
}

fn dut<U: CppacsAckReceiveUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

// ------------------------------------------------------------------------------------------------------------ the case

/// How hard a case is.
#[derive(Clone, Copy, Debug)]
struct Hardship {
    gaps: Gaps,
    /// Memory reports errors.
    faults: bool,
    /// Fields are destroyed.
    gone: bool,
}

/// The job under way.
#[derive(Default)]
struct Under {
    /// What it is, and the words that it must bring.
    job: Option<(Job, Vec<u32>)>,
    taken: usize,
    ready: bool,
    given: usize,
    /// Words that memory gives.
    old: Vec<u32>,
}

/// The worm whose words were all taken.
struct Worm {
    words: Vec<u32>,
    step: Option<AckStep>,
    gone: Option<u64>,
    /// The job that it asks for is done, with or without an error.
    acted: Option<bool>,
    counted: bool,
    second: Option<(Field, u32)>,
    flagged: bool,
    error: bool,
    asked: Vec<(u32, u32)>,
    /// Room for an answer at the verdict.
    old: u64,
}

struct World {
    rng: Rng,
    hard: Hardship,
    pacers: [Pacer; 3],
    source: Source<(u32, bool)>,
    list: VecDeque<Vec<u32>>,
    fields: Vec<(Field, u32)>,
    begun: usize,
    worm: Option<Worm>,
    asked: Option<(u64, (Field, u32))>,
    /// Room, as it was when the header was looked up and as it stays until the verdict.
    room: bool,
    gone_next: bool,
    under: Under,
    monitors: (Monitor<Job>, Monitor<u32>),
    other: u64,
    was_other: bool,
    is_other: bool,
    refused_at: Option<u64>,
    told: u64,
    written: u64,
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
        let pauses = hard.gaps.at_sink();
        let list = VecDeque::from(list);
        World {
            pacers: ["looks", "jobs", "others"].map(|name| run.pacer(pauses, name)),
            source: Source::new(flat(&list), run.pacer(hard.gaps.at_source(), "words")),
            list,
            fields: worms::fields(&mut rng),
            begun: 0,
            worm: None,
            asked: None,
            room: true,
            gone_next: false,
            under: Under::default(),
            monitors: Default::default(),
            other: 0,
            was_other: false,
            is_other: false,
            refused_at: None,
            told: 0,
            written: 0,
            inputs: In::default(),
            hard,
            rng,
        }
    }

    fn begin(&mut self, cycle: u64) {
        let go: Vec<bool> = self.pacers.iter_mut().map(Pacer::step).collect();
        let found = self.asked.filter(|(due, _)| *due <= cycle).map(|(_, entry)| entry);
        if found.is_some() {
            self.asked = None;
        }
        let under = &self.under;
        let open = under.job.is_some() && go[1];
        let needs = under.job.as_ref().map_or(0, |(_, words)| words.len());
        let gives = open && under.ready && under.given < under.old.len();
        let takes = open && under.ready && !gives && under.taken < needs;
        let done = open && under.ready && !gives && under.taken == needs;
        self.inputs = In {
            word: self.source.offer().copied(),
            look_ready: self.asked.is_none() && found.is_none() && go[0],
            found,
            gone: std::mem::take(&mut self.gone_next),
            job_take: takes,
            job_ready: open && !under.ready,
            data: gives.then(|| under.old[under.given]),
            done: done.then(|| self.hard.faults && self.rng.chance(1, 6)),
            room: self.room,
            other: self.other > cycle,
        };
    }

    fn entry(&self, field: u32) -> (Field, u32) {
        self.fields.get(field as usize).copied().unwrap_or_default()
    }

    /// The edge after the cycle with these inputs. Whether all is done.
    fn step(&mut self, cycle: u64, out: &Out) -> Result<bool, Fault> {
        let empty = self.worm.is_none() && self.begun == 0;
        Rule::Rest.holds(out.busy || empty, || "it rests with work inside".into())?;
        let looks = out.looks.then_some(&out.field);
        self.was_other = std::mem::replace(&mut self.is_other, self.inputs.other);
        self.monitors.1.step(looks, self.inputs.look_ready)?;
        self.told += u64::from(out.word);
        if out.shuts {
            Rule::Shut.holds(out.ended.is_some(), || "a shut without an end".into())?;
            if let Some((field, _)) = self.fields.get_mut(out.field as usize) {
                field.enabled = false;
            }
        }
        if self.hard.gone && out.open && self.rng.chance(1, 60) {
            self.destroy(out.field, cycle);
        }
        self.counts(cycle, out)?;
        self.jobs(out)?;
        self.answers(out)?;
        self.ends(cycle, out)?;
        self.takes(out)?;
        self.looks(cycle, out)?;
        if cycle >= self.other && !out.settling && self.hard.gaps.at_sink() && self.rng.chance(1, 20) {
            self.other = cycle + 1 + self.rng.between(1, 30);
        }
        Ok(self.worm.is_none() && self.begun == 0 && self.list.is_empty())
    }

    fn destroy(&mut self, field: u32, cycle: u64) {
        let Some((entry, count)) = self.fields.get_mut(field as usize) else {
            return;
        };
        entry.enabled = !entry.enabled || self.rng.chance(1, 2);
        entry.key = KEYS + 3 - (entry.key & 1);
        *count = 0;
        self.gone_next = true;
        let worm = self.worm.as_mut().filter(|worm| worm.step.is_some());
        if let Some(worm) = worm {
            worm.gone = worm.gone.or(Some(cycle));
        }
    }

    fn takes(&mut self, out: &Out) -> Result<(), Fault> {
        let Some((_, last)) = self.source.step(out.ready) else {
            return Ok(());
        };
        Rule::Outcome.holds(self.worm.is_none(), || "a worm before the end of another".into())?;
        self.begun += 1;
        if last {
            self.begun = 0;
            let words = self.list.pop_front().expect("words are of worms");
            // What needs no lookup is refused without.
            let step = ack_receive(&words, HERE, |_| Field::default(), true);
            let needs = step.act == Err(RecvReason::Field);
            self.worm = Some(Worm {
                words,
                step: Some(step).filter(|_| !needs),
                gone: None,
                acted: None,
                counted: false,
                second: None,
                flagged: false,
                error: false,
                asked: Vec::new(),
                old: self.rng.bits(),
            });
        }
        Ok(())
    }

    fn looks(&mut self, cycle: u64, out: &Out) -> Result<(), Fault> {
        if self.asked.is_none() && self.inputs.found.is_none() && self.rng.chance(1, 4) && self.worm.is_none() {
            self.room = self.rng.chance(5, 6);
        }
        if !out.looks || !self.inputs.look_ready {
            return Ok(());
        }
        let entry = self.entry(out.field);
        self.asked = Some((cycle + 4 + self.rng.below(6), entry));
        let worm = self
            .worm
            .as_mut()
            .ok_or_else(|| Rule::Outcome.broken("a lookup for nothing"))?;
        if worm.counted {
            worm.second = Some(entry);
        } else {
            Rule::Outcome.holds(worm.step.is_none(), || "a lookup for a worm that needs none".into())?;
            worm.step = Some(ack_receive(&worm.words, HERE, |_| entry.0, self.room));
        }
        Ok(())
    }

    /// The job that is due.
    fn due(&self) -> Option<(Job, Vec<u32>, Vec<u32>)> {
        let worm = self.worm.as_ref()?;
        if let Some((entry, count)) = worm.second.filter(|(entry, _)| entry.flagged && !worm.flagged) {
            let src = worm.step.as_ref()?.named.src.word();
            return Some(((WRITE, entry.flag, 2), vec![src, count], Vec::new()));
        }
        if worm.acted.is_some() {
            return None;
        }
        let halves = |value: u64| [value as u32, (value >> 32) as u32];
        match worm.step.as_ref()?.act.as_ref().ok()? {
            Act::Write { address, words, .. } => {
                Some(((WRITE, *address, words.len() as u32), words.clone(), Vec::new()))
            }
            Act::Answer(Ask {
                source: From::Old { address, new, compare },
                ..
            }) => {
                let words = compare.iter().chain([new]).flat_map(|&value| halves(value)).collect();
                let op = if compare.is_some() { CSWAP } else { SWAP };
                Some(((op, *address, 2), words, halves(worm.old).to_vec()))
            }
            Act::Answer(_) => None,
        }
    }

    fn jobs(&mut self, out: &Out) -> Result<(), Fault> {
        self.monitors.0.step(out.job.as_ref(), self.inputs.job_ready)?;
        if let Some(error) = self.inputs.done {
            let worm = self.worm.as_mut().expect("it has a job");
            worm.error |= error;
            if worm.counted {
                worm.flagged = true;
            } else {
                worm.acted = Some(error);
            }
            self.under = Under::default();
            return Ok(());
        }
        if self.inputs.job_take {
            let (job, words) = self.under.job.as_ref().expect("it was taken of a job");
            Rule::Job.same(
                format!("word {} of {job:x?}", self.under.taken),
                words[self.under.taken],
                out.job_data,
            )?;
            self.written += u64::from(job.0 == WRITE && !self.worm.as_ref().is_some_and(|worm| worm.counted));
            self.under.taken += 1;
            // A comparison that fails takes no new value.
            if job.0 == CSWAP && self.under.taken == 2 && self.rng.chance(1, 2) {
                self.under.taken = 4;
            }
        }
        self.under.given += usize::from(self.inputs.data.is_some());
        self.under.ready |= self.inputs.job_ready;
        if let Some(job) = out.job
            && self.under.job.is_none()
        {
            let due = self
                .due()
                .ok_or_else(|| Rule::Job.broken(format!("{job:x?} for nothing")))?;
            let (want, words, old) = due;
            Rule::Job.same("the job", want, job)?;
            let flag = self.worm.as_ref().is_some_and(|worm| worm.counted);
            Rule::Order.holds(!flag || out.settling, || "a flag amid the other's".into())?;
            self.under = Under {
                job: Some((job, words)),
                old,
                ..Under::default()
            };
        }
        Ok(())
    }

    fn counts(&mut self, cycle: u64, out: &Out) -> Result<(), Fault> {
        if !out.counts {
            return Ok(());
        }
        // The other waits if both begin in a cycle.
        Rule::Order.holds(out.settling && !self.was_other, || "a count amid the other's".into())?;
        let worm = self.worm.as_mut().ok_or_else(|| Rule::Count.broken("nothing"))?;
        let completes = matches!(
            worm.step.as_ref().map(|step| &step.act),
            Some(Ok(Act::Write { completes: true, .. }))
        );
        let may = worm.gone.is_none_or(|at| cycle <= at + 1);
        Rule::Count.holds(completes && worm.acted == Some(false) && !worm.counted && may, || {
            format!("{:x?}, gone {:?}", worm.step, worm.gone)
        })?;
        worm.counted = true;
        if let Some(entry) = self.fields.get_mut(out.field as usize)
            && !self.gone_next
        {
            entry.1 = entry.1.wrapping_add(1);
        }
        Ok(())
    }

    fn answers(&mut self, out: &Out) -> Result<(), Fault> {
        let Some(word) = out.ask else { return Ok(()) };
        let worm = self.worm.as_mut().ok_or_else(|| Rule::Answer.broken("of nothing"))?;
        let asks = match worm.step.as_ref().map(|step| &step.act) {
            Some(Ok(Act::Answer(ask))) => matches!(ask.source, From::Bytes { .. }) || worm.acted == Some(false),
            _ => false,
        };
        Rule::Answer.holds(asks, || format!("{word:x?} for {:x?}", worm.step))?;
        worm.asked.push(word);
        Ok(())
    }

    /// The words of an answer: those that count, whatever their order, and F0 last.
    fn check_answer(worm: &Worm, ask: &Ask) -> Result<(), Fault> {
        let mut words = [None; 16];
        for &(index, data) in &worm.asked {
            words[index as usize] = Some(data);
        }
        let f1 = ask.field << MSG_F1_FIELD_SHIFT | HERE.word();
        let mut want = vec![(1, f1), (2, ask.key), (3, ask.offset)];
        let f0 = ask.to.word() | (Kind::Reply as u32) << MSG_F0_KIND_SHIFT;
        let f0 = match ask.source {
            From::Bytes { address, bytes } => {
                want.extend([(4, bytes), (9, address), (10, bytes)]);
                f0
            }
            From::Old { .. } => {
                want.extend([(4, 8), (7, worm.old as u32), (8, (worm.old >> 32) as u32)]);
                f0 | 1 << 26
            }
        };
        want.push((0, f0));
        for (index, data) in want {
            Rule::Answer.same(format!("word {index}"), Some(data), words[index])?;
        }
        Rule::Answer.holds(worm.asked.last().is_some_and(|(index, _)| *index == 0), || {
            "F0 is not the last".into()
        })?;
        let starts = worm.asked.iter().filter(|(index, _)| *index == 0).count();
        Rule::Answer.holds(starts == 1 && worm.asked.len() == 7, || format!("{:x?}", worm.asked))
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
        let worm = self
            .worm
            .take()
            .ok_or_else(|| Rule::Outcome.broken("an end of nothing"))?;
        let step = worm
            .step
            .clone()
            .ok_or_else(|| Rule::Outcome.broken("an end before the lookup"))?;
        let base = match &step.act {
            Err(reason) => *reason as u32,
            Ok(_) if worm.error => RECV_MEMORY,
            Ok(_) => 0,
        };
        let gone = worm.gone.filter(|_| step.act.is_ok());
        let early = gone.is_some_and(|_| ended.3 == RECV_GONE);
        let answered = matches!(step.act, Ok(Act::Answer(_)));
        let late = gone.is_none_or(|at| worm.counted || answered || worm.error || cycle <= at + 3);
        let fits = early || (ended.3 == base && late);
        let named = (step.named.src.word(), step.named.field, step.named.kind);
        Rule::Outcome.holds(fits && named == (ended.0, ended.1, ended.2), || {
            format!("{ended:x?}, not {base} of {step:x?}, gone {gone:?}")
        })?;
        Rule::Shut.same("shut", ended.3 == RECV_MEMORY, out.shuts)?;
        let sound = ended.3 == 0;
        Rule::Notify.same("the interrupt", sound && step.notifies, out.notifies)?;
        if !sound {
            return Rule::Answer.holds(worm.asked.is_empty(), || "to what was refused".into());
        }
        match &step.act {
            Ok(Act::Answer(ask)) => Self::check_answer(&worm, ask),
            Ok(Act::Write { completes, .. }) => {
                Rule::Job.holds(worm.acted == Some(false), || "nothing was written".into())?;
                Rule::Count.same("counted", *completes, worm.counted)?;
                let flagged = worm.second.is_some_and(|(entry, _)| entry.flagged);
                Rule::Count.same("the flag", flagged, worm.flagged)
            }
            Err(_) => unreachable!("it is refused"),
        }
    }

    /// The unit was reset.
    fn reset(&mut self) {
        if std::mem::take(&mut self.begun) > 0 {
            self.list.pop_front();
        }
        self.source.reset();
        self.source.stop();
        for word in flat(&self.list) {
            self.source.push(word);
        }
        self.worm = None;
        self.under = Under::default();
        self.monitors = Default::default();
        (self.asked, self.gone_next, self.refused_at) = (None, false, None);
        (self.told, self.written) = (0, 0);
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
    Err(Rule::Hang.broken(format!("{} worms left", world.list.len())))
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for (faults, gone) in [(false, false), (true, false), (false, true)] {
            let hard = Hardship { gaps, faults, gone };
            let resets = gaps == Gaps::Both && !faults;
            cases.case(Start::Random1, format!("{} {hard:?}", dut.name), |run| {
                let mut rng = run.rng("worms");
                let list = (0..200).map(|_| worms::ack(&mut rng)).collect();
                let reset = resets.then(|| rng.between(20, 3000));
                exercise(run, dut, &mut World::new(run, hard, list), reset)
            });
        }
    }
}

#[test]
fn worms_are_done_as_the_model_says() {
    pass(this_test!(), |cases| checks(&dut::<CppacsAckReceive>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Job, &[], &|cases| checks(&dut::<TwinAckOrder>(), cases)),
            (Outcome, &[Job, Answer], &|cases| checks(&dut::<TwinAckSum>(), cases)),
            (Answer, &[], &|cases| checks(&dut::<TwinAckTo>(), cases)),
            (Answer, &[Outcome], &|cases| checks(&dut::<TwinAckRead>(), cases)),
            (Job, &[Outcome, Answer], &|cases| checks(&dut::<TwinAckFull>(), cases)),
            (Outcome, &[Answer, Job], &|cases| checks(&dut::<TwinAckBounds>(), cases)),
            (Count, &[], &|cases| checks(&dut::<TwinAckLast>(), cases)),
            (Shut, &[], &|cases| checks(&dut::<TwinAckShut>(), cases)),
            (Notify, &[], &|cases| checks(&dut::<TwinAckNotify>(), cases)),
            (Order, &[], &|cases| checks(&dut::<TwinAckTurn>(), cases)),
            (Words, &[], &|cases| checks(&dut::<TwinAckWords>(), cases)),
            (Rest, &[], &|cases| checks(&dut::<TwinAckRest>(), cases)),
            (Path, &[Hang], &|cases| checks(&dut::<TwinAckPath>(), cases)),
            (Protocol, &[], &|cases| checks(&dut::<TwinAckJob>(), cases)),
            (Hang, &[], &|cases| checks(&dut::<TwinAckHang>(), cases)),
        ],
    );
}
