//! A receive controller and the cell around it. The golden model executes each message beforehand. The checks: all
//! effects happen in their order, and none is visible before the data that it stands for are in memory.

use std::collections::VecDeque;
use std::mem;
use std::ops::Range;

use testbenches::mem::Server;
use testbenches::{Bench, Fault, Rule as _, Run, rules};
use tsunagi::ap1000p::golden::creg::Access;
use tsunagi::ap1000p::golden::mmu::Lookup;
use tsunagi::ap1000p::golden::receive::{Effect, Outcome, Receiver, What, Why};
use tsunagi::ap1000p::golden::ring::{Place, Ring, Rings, slots};
use tsunagi::ap1000p::golden::word::{Op, Request, perform};
use tsunagi::ap1000p::golden::{Queue, Word};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};

use super::ports::{In, Load, OWN, Out, Unit};
use crate::pages::{Around, MEM_BITS, Mmu, Service, Software};

rules!(
    /// Memory and registers at the end.
    Memory
    /// A flag counts when the data are in memory. Any other effect happens when all messages before are done.
    Early
    /// The requests to the word unit, flags among them.
    Word
    /// The accesses to communication registers.
    Register
    /// The messages for the queues.
    Answer
    /// A message for a queue comes without a pause.
    Pause
    /// The ends of loads and stores.
    Reply
    /// Broken messages: which, why, in order, counted.
    Broken
    /// The place of the next message of a ring buffer.
    Ring
    /// The reason and the lookup of a fault.
    Fault
    /// A word per cycle.
    Rate
    /// An offer holds until it is taken, and a fault until software serves it.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// Every message ends.
    Hang
    /// Busy while a message is inside, and not for ever.
    Rest
);

/// A range with bus errors.
const BAD: Range<u32> = 0x8f80..0x9100;

/// A message, its outcome, and the cell after it.
struct Sent {
    words: Vec<u32>,
    outcome: Outcome,
    after: Around,
    /// An effect has been seen.
    begun: bool,
}

/// Effects of a kind, each with the number of its message.
type Effects<T> = VecDeque<(usize, T)>;

/// The effects that are due.
#[derive(Debug, Default)]
struct Due {
    units: Effects<Request>,
    registers: Effects<Access>,
    /// Of queue 3 and queue 4.
    answers: [Effects<Vec<u32>>; 2],
    /// Of a load: its cell and its words. `None`: of a store.
    replies: Effects<Option<([u8; 2], Vec<u32>)>>,
    broken: Effects<(u8, What)>,
    /// Messages with a place in a ring: the words of each.
    ringed: Effects<(Place, u32)>,
    ring_faults: Effects<Lookup>,
}

impl Due {
    fn push(&mut self, number: usize, outcome: &Outcome) {
        for effect in &outcome.effects {
            match effect {
                Effect::Written { .. } => {}
                Effect::Word(request) => self.units.push_back((number, *request)),
                Effect::Register(access) => self.registers.push_back((number, *access)),
                Effect::Queue(queue, words) => {
                    let q = usize::from(*queue == Queue::GetReply);
                    self.answers[q].push_back((number, words.clone()));
                }
                Effect::Loaded(cell, words) => self.replies.push_back((number, Some((*cell, words.clone())))),
                Effect::Acknowledged => self.replies.push_back((number, None)),
                Effect::Ringed { place, words } => self.ringed.push_back((number, (*place, *words))),
            }
        }
        if let Some((why, what)) = outcome.reported {
            self.broken.push_back((number, (why as u8, what)));
        }
    }

    fn len(&self) -> usize {
        let answers: usize = self.answers.iter().map(VecDeque::len).sum();
        let rings = self.ringed.len() + self.ring_faults.len();
        self.units.len() + self.registers.len() + answers + self.replies.len() + self.broken.len() + rings
    }
}

/// The offers of the unit, but those to memory and MMU; and its fault.
#[derive(Default)]
struct Offers {
    units: Monitor<Request>,
    registers: Monitor<Access>,
    queues: [Monitor<Word>; 2],
    loads: Monitor<Load>,
    faults: Monitor<(u8, Lookup)>,
}

impl Offers {
    fn step(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        self.units.step(seen.unit.map(used).as_ref(), inputs.unit_ready)?;
        self.registers.step(seen.creg.as_ref(), inputs.creg_ready)?;
        for (q, monitor) in self.queues.iter_mut().enumerate() {
            let word = (seen.queues >> q & 1 != 0).then_some(&seen.queue);
            monitor.step(word, inputs.queues_ready[q])?;
        }
        self.loads.step(seen.load.as_ref(), inputs.load_ready)?;
        let Service { retry, abort } = inputs.service;
        self.faults.step(seen.fault.as_ref(), retry || abort)?;
        Ok(())
    }
}

/// The request with zeros where the operation ignores it.
fn used(request: Request) -> Request {
    let Request { op, physical, .. } = request;
    let if_used = |used: bool, word: u32| if used { word } else { 0 };
    Request {
        context: if physical { 0 } else { request.context },
        system: !physical && request.system,
        strb: if op == Op::Write { request.strb } else { 0xf },
        a: if_used(matches!(op, Op::Write | Op::Fop | Op::Csi), request.a),
        b: if_used(matches!(op, Op::Fop | Op::Csi), request.b),
        ..request
    }
}

/// The units around, each ready at times.
struct Accepts {
    unit: Pacer,
    creg: Pacer,
    queues: [Pacer; 2],
    load: Pacer,
}

impl Accepts {
    fn new(run: &Run, slow: bool) -> Accepts {
        let pacer = |name: &str| run.pacer(slow, name);
        Accepts {
            unit: pacer("word unit"),
            creg: pacer("registers"),
            queues: ["queue 3", "queue 4"].map(pacer),
            load: pacer("loads"),
        }
    }
}

/// The ring buffers as the unit shows them.
#[derive(Default)]
struct Shown {
    /// The slot of each ring's next message.
    next: [u32; 3],
    /// A bit for each ring with a message under way.
    busy: u8,
    /// A bit for each ring that was on in the cycle before.
    on: u8,
    /// Slots that software sets.
    sets: VecDeque<(usize, u32)>,
    /// Cycles until software serves a fault of a ring.
    wait: Option<u64>,
}

/// An instance, the cell around it, and the effects that are due.
pub struct Env<'a> {
    pub bench: Bench<'a, In, Out>,
    source: Source<Word>,
    mmu: Mmu,
    pub software: Software,
    mem: Server,
    real: Around,
    model: Around,
    receiver: Receiver,
    sent: Vec<Sent>,
    due: Due,
    /// Cycles in which words of the messages were taken.
    pub taken: Vec<u64>,
    offers: Offers,
    /// A request under way at the word unit: the cycle of its reply.
    unit: Option<(u64, Request)>,
    /// An access under way at the registers: the first cycle of its reply.
    creg: Option<(u64, Option<u32>)>,
    accepts: Accepts,
    forgets: Pacer,
    rng: Rng,
    slow: bool,
    /// Words of the message that is being written to a queue.
    writing: Vec<u32>,
    /// The last message with an answer.
    answering: Option<usize>,
    /// Broken messages reported.
    reported: u16,
    rings: Shown,
}

impl<'a> Env<'a> {
    /// In a cell with a range of bus errors.
    pub fn new(run: &Run<'a>, unit: &Unit, gaps: Gaps, timing: MemoryTiming) -> Result<Env<'a>, Fault> {
        Env::around(Around::new(&[BAD]), run, unit, gaps, timing)
    }

    /// In this cell. The units around wait if the sink pauses.
    pub fn around(
        around: Around,
        run: &Run<'a>,
        unit: &Unit,
        gaps: Gaps,
        timing: MemoryTiming,
    ) -> Result<Env<'a>, Fault> {
        let slow = gaps.at_sink();
        let mut bench = Bench::new(run, &unit.dut);
        for _ in 0..3 {
            bench.reset(&In::default())?;
        }
        Ok(Env {
            bench,
            source: Source::new([], run.pacer(gaps.at_source(), "source")),
            mmu: Mmu::new(run, slow),
            software: Software::new(run, slow),
            mem: Server::new(run, timing, 4, slow),
            real: around.clone(),
            model: around,
            receiver: Receiver {
                class: unit.class,
                own: OWN,
                mem_bits: MEM_BITS,
            },
            sent: Vec::new(),
            due: Due::default(),
            taken: Vec::new(),
            offers: Offers::default(),
            unit: None,
            creg: None,
            accepts: Accepts::new(run, slow),
            forgets: run.pacer(slow, "forgets"),
            rng: run.rng("replies"),
            slow,
            writing: Vec::new(),
            answering: None,
            reported: 0,
            rings: Shown::default(),
        })
    }

    /// All messages inside are lost. The model continues with the memory as it is.
    pub fn reset(&mut self) -> Result<(), Fault> {
        self.bench.reset(&In::default())?;
        self.source.reset();
        self.source.stop();
        self.mmu.reset();
        self.mem.reset();
        self.sent.clear();
        self.due = Due::default();
        self.taken.clear();
        self.offers = Offers::default();
        (self.unit, self.creg) = (None, None);
        self.writing.clear();
        (self.answering, self.reported) = (None, 0);
        self.rings = Shown::default();
        for ring in &mut self.real.rings.sets {
            ring.write = 0;
        }
        self.model = self.real.clone();
        Ok(())
    }

    /// A message. The reason for which the model reports it as broken.
    pub fn send(&mut self, words: &[u32]) -> Option<Why> {
        let last = words.len() - 1;
        for (i, &data) in words.iter().enumerate() {
            self.source.push(Word { data, end: i == last });
        }
        let outcome = self.receiver.execute(words, &mut self.model);
        let number = self.sent.len();
        let faults = mem::take(&mut self.model.ring_faults);
        let faults = faults.into_iter().map(|fault| (number, fault));
        self.due.ring_faults.extend(faults);
        self.due.push(number, &outcome);
        let why = outcome.reported.map(|(why, _)| why);
        self.sent.push(Sent {
            words: words.to_vec(),
            outcome,
            after: self.model.clone(),
            begun: false,
        });
        why
    }

    /// Software's rings: those in sets, and the others.
    pub fn set_rings(&mut self, rings: Rings, shelf: &[Ring]) {
        let writes = rings.sets.iter().map(|ring| ring.write).enumerate();
        self.rings.sets.extend(writes);
        for around in [&mut self.model, &mut self.real] {
            around.rings = rings;
            around.shelf = shelf.to_vec();
        }
    }

    /// Software switches a ring off. False: a message waits as it finds none.
    pub fn without_ring(&mut self, set: usize) -> bool {
        self.real.rings.sets[set].on = false;
        !is_ring(self.bench.seen().fault)
    }

    pub fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let service = self.serve().map_err(|fault| fault.at(now))?;
        let unit = self.unit.filter(|(at, _)| *at == now);
        let accepts = &mut self.accepts;
        let inputs = In {
            word: self.source.offer().copied(),
            forget: self.slow && !self.forgets.step() && self.rng.chance(1, 4),
            rings: self.real.rings,
            set: self.rings.sets.pop_front(),
            mmu: self.mmu.ports(now),
            service,
            mem: self.mem.ports(),
            unit_ready: accepts.unit.step() && self.unit.is_none(),
            unit_reply: unit.map(|(_, request)| perform(&mut self.real, &request)),
            creg_ready: accepts.creg.step() && self.creg.is_none(),
            creg_reply: self.creg.filter(|(at, _)| *at <= now).map(|(_, reply)| reply),
            queues_ready: [0, 1].map(|q: usize| accepts.queues[q].step()),
            load_ready: accepts.load.step(),
        };
        let seen = self.bench.step(&inputs)?;
        self.check(now, &inputs, &seen).map_err(|fault| fault.at(now))
    }

    fn check(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        self.offers.step(inputs, seen)?;
        self.rings(inputs, seen)?;
        self.faults(seen)?;
        self.mmu.step(now, seen.lookup, seen.takes_reply)?;
        self.word_unit(now, inputs, seen)?;
        self.communication(now, inputs, seen)?;
        self.queues(inputs, seen)?;
        self.ends(inputs, seen)?;
        self.broken(seen)?;
        self.mem.step(now, &mut self.real.memory, &seen.mem)?;
        // A word that is not taken yet keeps no unit busy.
        let left = self.left();
        Rule::Rest.holds(seen.busy || !self.source.is_empty() || left == 0, || {
            format!("not busy, and {left} to do")
        })?;
        if self.source.step(seen.ready).is_some() {
            self.taken.push(now);
        }
        Ok(())
    }

    /// The actions of software upon the fault that the unit shows.
    fn serve(&mut self) -> Result<Service, Fault> {
        let fault = self.bench.seen().fault;
        let lookup = fault.map(|(_, lookup)| lookup);
        match lookup.filter(|_| is_ring(fault)) {
            Some(want) => self.serve_ring(want),
            None => Ok(self.software.step(lookup, &mut self.mmu)),
        }
    }

    /// Software acts as in the model. The registers of the rings are as the unit shows them, or as software sets them.
    fn serve_ring(&mut self, want: Lookup) -> Result<Service, Fault> {
        let wait = self.rings.wait.get_or_insert_with(|| self.rng.between(0, 40));
        if *wait > 0 {
            *wait -= 1;
            return Ok(Service::default());
        }
        self.rings.wait = None;
        let due = self.due.ring_faults.pop_front();
        Rule::Fault.same("a ring's fault", due.map(|(_, due)| due), Some(want))?;
        let before = self.real.rings.sets;
        let retry = self.real.serve(want);
        for (set, (ring, before)) in self.real.rings.sets.iter().zip(&before).enumerate() {
            if ring.write != before.write {
                self.rings.sets.push_back((set, ring.write));
            }
        }
        let abort = !retry;
        Ok(Service { retry, abort })
    }

    /// The place of the next message changes when one is whole and in memory, and for no other reason.
    fn rings(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        for set in 0..3 {
            if seen.next[set] != self.rings.next[set] {
                self.moves(set, seen.next[set])?;
            }
        }
        if let Some((set, slot)) = inputs.set {
            self.rings.next[set] = slot;
        }
        let (busy, waits) = (seen.ring_busy, is_ring(seen.fault));
        Rule::Ring.holds(busy.count_ones() <= u32::from(!waits), || {
            format!("rings {busy:#b} are busy")
        })?;
        // Software that has switched a ring off and sees it at rest may move it.
        let begun = busy & !self.rings.busy;
        Rule::Ring.holds(begun & !self.rings.on == 0, || {
            format!("ring {begun:#b} is busy, but was off")
        })?;
        self.rings.busy = busy;
        let on = inputs.rings.sets.iter().enumerate();
        self.rings.on = on.map(|(set, ring)| u8::from(ring.on) << set).sum();
        Ok(())
    }

    /// The next message of a ring has a new place.
    fn moves(&mut self, set: usize, next: u32) -> Result<(), Fault> {
        let (due, busy) = (self.due.ringed.pop_front(), self.rings.busy);
        let fits = |&(_, (place, words)): &(usize, (Place, u32))| {
            place.set == set && place.behind(slots(words)) == next && busy >> set & 1 == 1
        };
        let Some((n, _)) = due.filter(fits) else {
            let what = format!("ring {set} goes on at {next:#x}, not {due:x?}; busy {busy}");
            return Err(Rule::Ring.broken(what));
        };
        self.data_of(n)?;
        let fault = self.due.ring_faults.front();
        Rule::Fault.holds(fault.is_none_or(|(of, _)| *of > n), || {
            format!("message {n} without {fault:x?}")
        })?;
        self.rings.next[set] = next;
        self.real.rings.sets[set].write = next;
        Ok(())
    }

    fn faults(&self, seen: &Out) -> Result<(), Fault> {
        let write = seen.lookup.is_none_or(|lookup| lookup.write);
        Rule::Fault.holds(write, || "asks for less than the right to write".into())?;
        let Some((_, lookup)) = seen.fault.filter(|_| !is_ring(seen.fault)) else {
            return Ok(());
        };
        let want = match lookup.addr.is_multiple_of(4) {
            true => self.mmu.fault,
            false => Some((FAULT_ALIGN as u8, lookup)),
        };
        Rule::Fault.same("fault", want, seen.fault)
    }

    fn word_unit(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        if inputs.unit_reply.is_some() {
            self.unit = None;
        }
        let Some(request) = seen.unit.map(used).filter(|_| inputs.unit_ready) else {
            return Ok(());
        };
        let Some((n, want)) = self.due.units.pop_front() else {
            return Err(Rule::Word.broken(format!("{request:x?} of no message")));
        };
        let words = &self.sent[n].words;
        Rule::Word.same(format_args!("request of message {n}, {words:x?}"), used(want), request)?;
        if want.op == Op::Inc {
            self.data_of(n)?;
        } else {
            self.all_before(n)?;
        }
        let wait = if self.slow { self.rng.between(1, 30) } else { 10 };
        self.unit = Some((now + wait, request));
        Ok(())
    }

    fn communication(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        if inputs.creg_reply.is_some() && seen.takes_creg {
            self.creg = None;
        }
        let Some(access) = seen.creg.filter(|_| inputs.creg_ready) else {
            return Ok(());
        };
        let want = self.due.registers.pop_front();
        let Some((n, _)) = want.filter(|(_, want)| *want == access) else {
            return Err(Rule::Register.broken(format!("{access:x?}, not {want:x?}")));
        };
        self.all_before(n)?;
        let wait = if self.slow { self.rng.between(3, 30) } else { 3 };
        let reply = self.real.registers.access(access);
        self.creg = Some((now + wait, reply.ok().map(|word| word.unwrap_or(0))));
        Ok(())
    }

    fn queues(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        Rule::Answer.holds(seen.queues != 3, || "a word for two queues".into())?;
        Rule::Pause.holds(seen.queues != 0 || self.writing.is_empty(), || {
            format!("a pause after {:x?}", self.writing)
        })?;
        for q in (0..2).filter(|q| seen.queues >> q & 1 != 0) {
            self.queue(q, seen.queue, inputs.queues_ready[q])?;
        }
        Ok(())
    }

    /// A word for a queue is on offer.
    fn queue(&mut self, q: usize, word: Word, taken: bool) -> Result<(), Fault> {
        let due = self.due.answers[q].front();
        if self.writing.is_empty()
            && let Some(&(n, _)) = due
            && self.answering.replace(n) != Some(n)
        {
            self.is_as(n, Rule::Early)?;
        }
        if !taken {
            return Ok(());
        }
        self.writing.push(word.data);
        let Some((n, want)) = due else {
            return Err(Rule::Answer.broken(format!("{word:x?} for queue {}", 3 + q)));
        };
        let last = self.writing.len() == want.len();
        Rule::Answer.holds(want.starts_with(&self.writing) && word.end == last, || {
            format!("{:x?} {word:x?}, not {want:x?} of message {n}", self.writing)
        })?;
        self.sent[*n].begun = true;
        if word.end {
            self.writing.clear();
            self.due.answers[q].pop_front();
        }
        Ok(())
    }

    /// The ends of loads and stores.
    fn ends(&mut self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let loaded = seen.load.filter(|_| inputs.load_ready);
        Rule::Reply.holds(loaded.is_none() || !seen.ack, || {
            "a load and a store end at once".into()
        })?;
        if loaded.is_none() && !seen.ack {
            return Ok(());
        }
        let want = self.due.replies.pop_front();
        let fits = |reply: &Option<([u8; 2], Vec<u32>)>| match (reply, loaded) {
            (None, None) => true,
            (Some((cell, words)), Some((failed, data, from))) => {
                let mut words_of = words.iter().enumerate();
                failed == words.is_empty()
                    && from == *cell
                    && words_of.all(|(i, &word)| (data >> (32 * i)) as u32 == word)
            }
            _ => false,
        };
        Rule::Reply.holds(want.as_ref().is_some_and(|(_, reply)| fits(reply)), || {
            let words = want.as_ref().map(|(n, _)| &self.sent[*n].words);
            format!("{loaded:x?}, not {want:x?}, {words:x?}")
        })
    }

    fn broken(&mut self, seen: &Out) -> Result<(), Fault> {
        Rule::Broken.same("count", self.reported, seen.count)?;
        let Some(broken) = seen.broken else {
            return Ok(());
        };
        self.reported += 1;
        let want = self.due.broken.pop_front();
        Rule::Broken.same("report", want.map(|(_, want)| want), Some(broken))
    }

    /// Message `n` has an effect: all before are done.
    fn all_before(&mut self, n: usize) -> Result<(), Fault> {
        if mem::replace(&mut self.sent[n].begun, true) || n == 0 {
            return Ok(());
        }
        self.is_as(n - 1, Rule::Early)
    }

    /// The cell is as after message `n`.
    fn is_as(&self, n: usize, rule: Rule) -> Result<(), Fault> {
        let Sent { words, after: want, .. } = &self.sent[n];
        if let Some((at, got, want)) = self.real.difference(want) {
            return Err(rule.broken(format!("after message {n} {at:#x} is {got:#x}, not {want:#x}")));
        }
        rule.holds(want.registers == self.real.registers, || {
            let [want, got] = [want, &self.real].map(|around| around.registers.present());
            let at = (0..want.len()).find(|&register| want[register] != got[register]);
            format!("after message {n} {words:x?} the registers differ; the first is {at:?}")
        })
    }

    /// The data of message `n` are in memory, where no later one has written.
    fn data_of(&self, n: usize) -> Result<(), Fault> {
        for effect in &self.sent[n].outcome.effects {
            let &Effect::Written { addr, .. } = effect else {
                continue;
            };
            let touches = |sent: &Sent| {
                let mut effects = sent.outcome.effects.iter();
                effects.any(|effect| matches!(effect, Effect::Written { addr: at, .. } if *at == addr))
            };
            let (got, want) = (self.real.word(addr), self.sent[n].after.word(addr));
            let later = || self.sent[n + 1..].iter().any(touches);
            Rule::Early.holds(got == want || later(), || {
                let words = &self.sent[n].words;
                format!("message {n} counts and {addr:#x} is {got:#x}, not {want:#x}: {words:x?}")
            })?;
        }
        Ok(())
    }

    /// Words and effects that have not come.
    pub fn left(&self) -> usize {
        self.source.len() + self.due.len() + usize::from(self.unit.is_some())
    }

    /// All messages end.
    pub fn finish(&mut self) -> Result<(), Fault> {
        let end = self.bench.cycle() + 60_000;
        while self.left() > 0 || self.bench.seen().busy {
            let rule = if self.left() == 0 { Rule::Rest } else { Rule::Hang };
            rule.holds(self.bench.cycle() < end, || {
                let words = self.source.len();
                format!("{words} words to come; {:x?}; {:x?}", self.due, self.bench.seen())
            })?;
            self.cycle()?;
        }
        let Some(last) = self.sent.len().checked_sub(1) else {
            return Ok(());
        };
        self.is_as(last, Rule::Memory)
    }
}

fn is_ring(fault: Option<(u8, Lookup)>) -> bool {
    fault.is_some_and(|(reason, _)| u32::from(reason) == FAULT_RING)
}
