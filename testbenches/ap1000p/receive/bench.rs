//! A receive controller, and all that is around it. What the model says of each message is known beforehand; the bench checks that it happens, in
//! its order, and that nothing is told, asked or counted before what must be in memory is there.

use std::collections::VecDeque;
use tsunagi::net::torus::Class;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::creg::Access;
use tsunagi::ap1000p::golden::mmu::Lookup;
use tsunagi::ap1000p::golden::receive::{Effect, Outcome, Receiver, What, Why};
use tsunagi::ap1000p::golden::ring::{Place, Ring, Rings, slots};
use tsunagi::ap1000p::golden::word::{Failed, Op, Request, perform};
use tsunagi::ap1000p::golden::{Queue, Word};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};

use crate::holds;
use crate::pages::{Around, MEM_BITS, Mmu, Service, Software};
use crate::rig::{Common, Ports, Rig};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Memory and registers at the end.
    Memory,
    /// A flag counts when the data are in memory; anything else happens when all before is done.
    Early,
    /// What is asked of the word unit, flags among it.
    Word,
    /// What is asked of the communication registers.
    Register,
    /// The messages for the queues.
    Answer,
    /// A message for a queue comes without a pause.
    Pause,
    /// What is told of loads and stores that are over.
    Reply,
    /// Broken messages: which, why, in order, counted.
    Broken,
    /// Where the next message of a ring buffer goes.
    Ring,
    /// What is told of a fault.
    Fault,
    /// A word per cycle.
    Rate,
    Protocol,
    Path,
    Hang,
    Rest,
}

pub(super) const RULES: [Rule; 15] = [
    Rule::Memory,
    Rule::Early,
    Rule::Word,
    Rule::Register,
    Rule::Answer,
    Rule::Pause,
    Rule::Reply,
    Rule::Broken,
    Rule::Ring,
    Rule::Fault,
    Rule::Rate,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

/// This cell.
pub(super) const OWN: [u8; 2] = [3, 5];

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    word: Option<Word>,
    forget: bool,
    rings: Rings,
    /// Software says where the next message of this ring goes.
    set: Option<(usize, u32)>,
    mmu_ready: bool,
    mmu_rsp: Option<Result<u32, u8>>,
    service: Service,
    mem: MemPortsOut,
    unit_ready: bool,
    unit_rsp: Option<Result<u32, Failed>>,
    creg_ready: bool,
    /// `None` inside: a conflict.
    creg_rsp: Option<Option<u32>>,
    queues_ready: [bool; 2],
    load_ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: bool,
    lookup: Option<Lookup>,
    lookup_taken: bool,
    fault: Option<(u8, Lookup)>,
    mem: MemPortsIn,
    unit: Option<Request>,
    creg: Option<Access>,
    creg_taken: bool,
    queues: u8,
    queue: Word,
    /// Whether it failed.
    /// Error, data, and whose answer: {x, y}.
    load: Option<(bool, u64, [u8; 2])>,
    ack: bool,
    broken: Option<(u8, What)>,
    count: u16,
    /// Of each ring: where its next message goes, whether one is being written.
    next: [u32; 3],
    ring_busy: u8,
    busy: bool,
}

pub trait Receive: Ports<In = In, Out = Out> {
    const CLASS: Class;
}

macro_rules! ports {
    ($class:expr; $($unit:ident)+) => {$(
        impl Receive for $unit {
            const CLASS: Class = $class;
        }

        impl Ports for $unit {
            type In = In;
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &In) {
                self.cell_x_i.set(OWN[0]);
                self.cell_y_i.set(OWN[1]);
                self.forget_i.set_bool(inputs.forget);
                for (set, ring) in inputs.rings.sets.iter().enumerate() {
                    self.ring_on_i.set_bits(set, 1, ring.on.into());
                    self.ring_size_i.set_bits(2 * set, 2, ring.size.into());
                    self.ring_context_i.set_bits(12 * set, 12, ring.context.into());
                    self.ring_read_i.set_bits(18 * set, 18, ring.read.into());
                }
                self.ring_set_i.set(inputs.set.map_or(0, |(set, _)| 1 << set));
                self.ring_at_i.set(inputs.set.map_or(0x555_5555, |(_, slot)| slot));
                self.in_valid_i.set_bool(inputs.word.is_some());
                let word = inputs.word.unwrap_or(Word { data: 0xdead_beef, end: true });
                self.in_data_i.set(word.data);
                self.in_last_i.set_bool(word.end);
                self.mmu_req_ready_i.set_bool(inputs.mmu_ready);
                self.mmu_rsp_valid_i.set_bool(inputs.mmu_rsp.is_some());
                let rsp = inputs.mmu_rsp.unwrap_or(Ok(0x5550));
                // With a fault there is an address that means nothing.
                self.mmu_rsp_addr_i.set(rsp.unwrap_or(0x0554));
                self.mmu_rsp_fault_i.set(rsp.err().unwrap_or(0));
                self.retry_i.set_bool(inputs.service.retry);
                self.abort_i.set_bool(inputs.service.abort);
                testbenches::set_mem_write_ports!(self, &inputs.mem);
                self.word_ready_i.set_bool(inputs.unit_ready);
                self.word_done_i.set_bool(inputs.unit_rsp.is_some());
                let rsp = inputs.unit_rsp.unwrap_or(Ok(0x1234_5678));
                self.word_old_i.set(rsp.unwrap_or(0x8765_4321));
                // Without a response both mean nothing.
                self.word_fault_i.set_bool(inputs.unit_rsp.is_none() || rsp == Err(Failed::GivenUp));
                self.word_err_i.set_bool(inputs.unit_rsp.is_none() || rsp == Err(Failed::Bus));
                self.creg_ready_i.set_bool(inputs.creg_ready);
                self.creg_rsp_valid_i.set_bool(inputs.creg_rsp.is_some());
                let rsp = inputs.creg_rsp.unwrap_or(Some(0x1234_5678));
                self.creg_rsp_fault_i.set_bool(rsp.is_none());
                self.creg_rsp_data_i.set(rsp.unwrap_or(0x8765_4321));
                self.queue_ready_i.set(u8::from(inputs.queues_ready[0]) | u8::from(inputs.queues_ready[1]) << 1);
                self.load_ready_i.set_bool(inputs.load_ready);
            }

            fn seen(&self) -> Out {
                let lookup = || Lookup {
                    context: self.mmu_req_context_o.get(),
                    addr: self.mmu_req_addr_o.get(),
                    write: self.mmu_req_write_o.is_set(),
                    system: self.mmu_req_system_o.is_set(),
                };
                Out {
                    ready: self.in_ready_o.is_set(),
                    lookup: self.mmu_req_valid_o.is_set().then(lookup),
                    lookup_taken: self.mmu_rsp_ready_o.is_set(),
                    fault: self.fault_valid_o.is_set().then(|| (self.fault_reason_o.get(), Lookup {
                        context: self.fault_context_o.get(),
                        addr: self.fault_addr_o.get(),
                        write: true,
                        system: self.fault_system_o.is_set(),
                    })),
                    mem: testbenches::mem_write_ports!(self),
                    unit: self.word_valid_o.is_set().then(|| Request {
                        op: Op::ALL[usize::from(self.word_op_o.get())],
                        context: self.word_context_o.get(),
                        system: self.word_system_o.is_set(),
                        physical: self.word_physical_o.is_set(),
                        addr: self.word_addr_o.get(),
                        strb: self.word_strb_o.get(),
                        a: self.word_a_o.get(),
                        b: self.word_b_o.get(),
                    }),
                    creg: self.creg_valid_o.is_set().then(|| Access {
                        addr: self.creg_addr_o.get(),
                        write: self.creg_write_o.is_set().then(|| self.creg_data_o.get()),
                    }),
                    creg_taken: self.creg_rsp_ready_o.is_set(),
                    queues: self.queue_valid_o.get(),
                    queue: Word { data: self.queue_data_o.get(), end: self.queue_end_o.is_set() },
                    load: self.load_valid_o.is_set().then(|| (self.load_err_o.is_set(), self.load_data_o.get(), self.load_cell_o.get().to_le_bytes())),
                    ack: self.ack_o.is_set(),
                    broken: self.broken_valid_o.is_set().then(|| (self.broken_reason_o.get(), What {
                        kind: self.broken_kind_o.get(),
                        x: self.broken_x_o.get(),
                        y: self.broken_y_o.get(),
                    })),
                    count: self.broken_count_o.get(),
                    next: [0, 1, 2].map(|set| self.ring_write_o.get_bits(27 * set, 27) as u32),
                    ring_busy: self.ring_busy_o.get(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Class::Request; Ap1000pReceive
       TwinReceiveStride TwinReceiveIdle TwinReceiveCounts TwinReceiveSystem TwinReceiveRegister TwinReceiveDistance TwinReceiveFailed TwinReceivePause
       TwinReceiveCount TwinReceiveStale TwinReceiveFault TwinReceiveBubble TwinReceiveWithdraws TwinReceivePath TwinReceiveWaits TwinReceiveTakes
       TwinReceiveRest TwinReceiveTakesBack TwinReceiveHasty TwinRingBroken TwinRingBusy TwinRingLate TwinRingWrap TwinRingRoom TwinRingSet);
ports!(Class::Reply; Ap1000pReceiveReplies TwinReceiveLoad);

/// A range with bus errors.
pub(super) const BAD: std::ops::Range<u32> = 0x8f80..0x9100;

/// A message, what the model says of it, and the cell after it.
struct Due {
    words: Vec<u32>,
    outcome: Outcome,
    after: Around,
    /// An effect has been seen.
    begun: bool,
}

/// What an operation does not use may be anything.
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

/// What a port has still to do: of which message.
type Todo<T> = VecDeque<(usize, T)>;

pub(super) struct Bench<'a, U> {
    pub(super) rig: Rig<'a, U>,
    mmu: Mmu,
    pub(super) software: Software,
    agent: MemoryAgent,
    accepts: Pacer,
    real: Around,
    model: Around,
    receiver: Receiver,
    source: Source<Word>,
    due: Vec<Due>,
    /// Cycles in which words of the messages were taken.
    pub(super) taken: Vec<u64>,
    writes: Monitor<(u32, u8)>,
    data: Monitor<(u64, u8)>,
    lookups: Monitor<Lookup>,
    asked: Monitor<Request>,
    accessed: Monitor<Access>,
    queued: [Monitor<Word>; 2],
    loads: Monitor<(bool, u64, [u8; 2])>,
    units: Todo<Request>,
    registers: Todo<Access>,
    answers: [Todo<Vec<u32>>; 2],
    replies: Todo<Option<([u8; 2], Vec<u32>)>>,
    broken: Todo<(u8, What)>,
    told: u16,
    /// A request under way at the word unit, at the registers: from when on its answer is there.
    unit: Option<(u64, Request)>,
    creg: Option<(u64, Option<u32>)>,
    rng: Rng,
    unit_accepts: Pacer,
    creg_accepts: Pacer,
    queue_accepts: [Pacer; 2],
    load_accepts: Pacer,
    forgets: Pacer,
    slow: bool,
    /// Words of the message that is being written to a queue.
    writing: Vec<u32>,
    /// Of rings: where the next message goes, as last seen; faults to come; what was given a place and is not over; what software sets.
    next: [u32; 3],
    ring_busy: u8,
    /// Rings that were on in the cycle before.
    rings_on: u8,
    ring_faults: Todo<Lookup>,
    ringed: Todo<(Place, u32)>,
    sets: VecDeque<(usize, u32)>,
    /// Cycles until software serves a fault of a ring, and what it does then.
    serves: Option<u64>,
    /// What was asked of the MMU last, and its fault.
    lookup: Option<Lookup>,
    fault: Option<(u8, Lookup)>,
    /// The message that was answered last.
    answering: Option<usize>,
}

impl<'a, U: Receive> Bench<'a, U> {
    /// In a cell of which nothing is special.
    pub(super) fn new(
        case: &Case,
        start: &str,
        gaps: Gaps,
        timing: MemoryTiming,
        probe: &'a Probe,
    ) -> Result<Self, String> {
        Self::around(Around::new(&[BAD]), case, start, gaps, timing, probe)
    }

    pub(super) fn around(
        around: Around,
        case: &Case,
        start: &str,
        gaps: Gaps,
        timing: MemoryTiming,
        probe: &'a Probe,
    ) -> Result<Self, String> {
        let slow = gaps.at_sink();
        let jitter = Cycle(if slow { 6 } else { 0 });
        let pacer = |name: &str| Pacer::new(slow, case.rng(name));
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            mmu: Mmu::new(case, slow),
            software: Software::new(case, slow),
            agent: MemoryAgent::new(timing, 4).with_jitter(case.rng("memory").bits(), jitter, jitter),
            accepts: pacer("writes"),
            real: around.clone(),
            model: around,
            receiver: Receiver {
                class: U::CLASS,
                own: OWN,
                mem_bits: MEM_BITS,
            },
            source: Source::new([], Pacer::new(gaps.at_source(), case.rng("source"))),
            due: Vec::new(),
            taken: Vec::new(),
            writes: Monitor::default(),
            data: Monitor::default(),
            lookups: Monitor::default(),
            asked: Monitor::default(),
            accessed: Monitor::default(),
            queued: Default::default(),
            loads: Monitor::default(),
            units: VecDeque::new(),
            registers: VecDeque::new(),
            answers: Default::default(),
            replies: VecDeque::new(),
            broken: VecDeque::new(),
            told: 0,
            unit: None,
            creg: None,
            rng: case.rng("answers"),
            unit_accepts: pacer("word unit"),
            creg_accepts: pacer("registers"),
            queue_accepts: ["queue 3", "queue 4"].map(pacer),
            load_accepts: pacer("loads"),
            forgets: pacer("forgets"),
            slow,
            writing: Vec::new(),
            next: [0; 3],
            ring_busy: 0,
            rings_on: 0,
            ring_faults: VecDeque::new(),
            ringed: VecDeque::new(),
            sets: VecDeque::new(),
            serves: None,
            lookup: None,
            fault: None,
            answering: None,
        };
        for _ in 0..3 {
            bench.rig.step(&In::default(), true)?;
        }
        Ok(bench)
    }

    /// What was begun is forgotten; what is in memory is the model's from now on.
    pub(super) fn reset(&mut self) -> Result<(), String> {
        self.rig.step(&In::default(), true)?;
        self.mmu.reset();
        self.agent.reset();
        self.source.reset();
        self.source.stop();
        self.due.clear();
        self.taken.clear();
        self.writes.reset();
        self.data.reset();
        self.lookups.reset();
        self.asked.reset();
        self.accessed.reset();
        self.queued.iter_mut().for_each(Monitor::reset);
        self.loads.reset();
        self.units.clear();
        self.registers.clear();
        self.answers.iter_mut().for_each(VecDeque::clear);
        self.replies.clear();
        self.broken.clear();
        self.ring_faults.clear();
        self.ringed.clear();
        self.sets.clear();
        (self.next, self.ring_busy, self.serves) = ([0; 3], 0, None);
        for ring in &mut self.real.rings.sets {
            ring.write = 0;
        }
        self.writing.clear();
        (self.told, self.unit, self.creg, self.answering) = (0, None, None, None);
        self.model = self.real.clone();
        Ok(())
    }

    /// What the model says is wrong with it.
    pub(super) fn send(&mut self, words: &[u32]) -> Option<Why> {
        let last = words.len() - 1;
        for (i, &data) in words.iter().enumerate() {
            self.source.push(Word { data, end: i == last });
        }
        let outcome = self.receiver.execute(words, &mut self.model);
        let number = self.due.len();
        let faults = std::mem::take(&mut self.model.ring_faults);
        self.ring_faults.extend(faults.into_iter().map(|fault| (number, fault)));
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
        let why = outcome.reported.map(|(why, _)| why);
        self.due.push(Due {
            words: words.to_vec(),
            outcome,
            after: self.model.clone(),
            begun: false,
        });
        why
    }

    /// Message `n` has an effect: all before is done.
    fn all_before(&mut self, n: usize, now: u64) -> Result<(), String> {
        if std::mem::replace(&mut self.due[n].begun, true) || n == 0 {
            return Ok(());
        }
        self.is_as(n - 1, now)
    }

    /// The cell is as after message `n`.
    fn is_as(&self, n: usize, now: u64) -> Result<(), String> {
        let want = &self.due[n].after;
        let whole = |around: &Around| around.memory.read(Addr(0), around.bytes as usize).map(<[u8]>::to_vec);
        holds(Rule::Early, whole(want) == whole(&self.real), || {
            let differs = |at: &u32| want.word(*at) != self.real.word(*at);
            let at = (0..want.bytes).step_by(4).find(differs).expect("they differ");
            format!(
                "cycle {now}: after message {n} {at:#x} is {:#x}, not {:#x}",
                self.real.word(at),
                want.word(at)
            )
        })?;
        holds(Rule::Early, want.registers == self.real.registers, || {
            let differs = |reg: &usize| want.registers.present()[*reg] != self.real.registers.present()[*reg];
            format!(
                "cycle {now}: the registers are not as after message {n} {:x?}: {:?}, {:x?}",
                self.due[n].words,
                self.registers.front().map(|(n, access)| (access, &self.due[*n].words)),
                (0..128).find(differs)
            )
        })
    }

    /// The data of message `n` are in memory, where no later one has written.
    fn data_of(&self, n: usize, now: u64) -> Result<(), String> {
        for effect in &self.due[n].outcome.effects {
            let &Effect::Written { addr, .. } = effect else {
                continue;
            };
            let touches = |due: &Due| {
                let mut effects = due.outcome.effects.iter();
                effects.any(|effect| matches!(effect, Effect::Written { addr: at, .. } if *at == addr))
            };
            let want = self.due[n].after.word(addr);
            let later = || self.due[n + 1..].iter().any(touches);
            holds(Rule::Early, self.real.word(addr) == want || later(), || {
                format!(
                    "cycle {now}: message {n} counts and {addr:#x} is {:#x}, not {want:#x}: {:x?}",
                    self.real.word(addr),
                    self.due[n].words
                )
            })?;
        }
        Ok(())
    }

    pub(super) fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let told = |what: String| format!("cycle {now}: {what}");
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        let before = self.rig.seen();
        let service = match before.fault {
            Some((reason, want)) if u32::from(reason) == FAULT_RING => self.serve_ring(want, now)?,
            fault => self.software.step(fault.map(|(_, lookup)| lookup), &mut self.mmu),
        };
        let mmu_rsp = self.mmu.offer(now);
        let unit = self.unit.filter(|(at, _)| *at == now);
        let mut mem = *self.agent.ports();
        mem.wr_cmd_ready &= self.accepts.step();
        let inputs = In {
            word: self.source.offer().copied(),
            forget: self.slow && !self.forgets.step() && self.rng.chance(1, 4),
            mmu_ready: self.mmu.ready,
            mmu_rsp,
            rings: self.real.rings,
            set: self.sets.pop_front(),
            service,
            mem,
            unit_ready: self.unit_accepts.step() && self.unit.is_none(),
            unit_rsp: unit.map(|(_, request)| perform(&mut self.real, &request)),
            creg_ready: self.creg_accepts.step() && self.creg.is_none(),
            creg_rsp: self.creg.filter(|(at, _)| *at <= now).map(|(_, rsp)| rsp),
            queues_ready: [0, 1].map(|q| self.queue_accepts[q].step()),
            load_ready: self.load_accepts.step(),
        };
        let seen = self.rig.step(&inputs, false)?;

        self.lookups
            .step(seen.lookup.as_ref(), inputs.mmu_ready)
            .map_err(wrong)?;
        self.rings(&seen, &inputs, now)?;
        let of_mmu = seen.fault.filter(|(reason, _)| u32::from(*reason) != FAULT_RING);
        if let Some((reason, lookup)) = of_mmu {
            let align = !lookup.addr.is_multiple_of(4);
            let want = if align {
                Some((FAULT_ALIGN as u8, lookup))
            } else {
                self.fault
            };
            holds(Rule::Fault, want == Some((reason, lookup)), || {
                told(format!("{reason} for {lookup:x?}, not {want:x?}"))
            })?;
        }
        if let Some(lookup) = seen.lookup {
            self.lookup = Some(lookup);
        }
        if let Some(answer) = mmu_rsp.filter(|_| seen.lookup_taken) {
            self.fault = answer.err().zip(self.lookup);
        }
        self.mmu.step(now, seen.lookup, seen.lookup_taken);
        holds(Rule::Fault, seen.lookup.is_none_or(|lookup| lookup.write), || {
            told("asks for less than the right to write".into())
        })?;
        let from = seen.mem;
        let command = from.wr_cmd_valid.then_some((from.wr_cmd_addr, from.wr_cmd_len));
        self.writes.step(command.as_ref(), mem.wr_cmd_ready).map_err(wrong)?;
        let beat = from.wr_data_valid.then_some((from.wr_data_data, from.wr_data_strb));
        self.data.step(beat.as_ref(), mem.wr_data_ready).map_err(wrong)?;
        let taken = MemPortsIn {
            wr_cmd_valid: from.wr_cmd_valid && mem.wr_cmd_ready,
            ..from
        };
        self.word_unit(&seen, &inputs, now)?;
        self.communication(&seen, &inputs, now)?;
        self.queues(&seen, &inputs, now)?;
        self.told(&seen, &inputs, now)?;
        self.agent.step(Cycle(now), &mut self.real.memory, &taken, |_| {});
        // What is not taken yet keeps nobody busy.
        holds(
            Rule::Rest,
            seen.busy || !self.source.is_empty() || self.left() == 0,
            || told(format!("not busy, and {} to do", self.left())),
        )?;
        if self.source.step(seen.ready).is_some() {
            self.taken.push(now);
        }
        Ok(())
    }

    /// Software does as the model says; the rings' registers are what the unit shows, and what they were set to.
    fn serve_ring(&mut self, want: Lookup, now: u64) -> Result<Service, String> {
        let wait = self.serves.get_or_insert_with(|| self.rng.between(0, 40));
        if *wait > 0 {
            *wait -= 1;
            return Ok(Service::default());
        }
        let due = self.ring_faults.pop_front();
        holds(Rule::Fault, due.is_some_and(|(_, due)| due == want), || {
            format!("cycle {now}: a ring's fault {want:x?}, not {due:x?}")
        })?;
        let before = self.real.rings;
        let served = self.real.serve(want);
        for (set, (ring, before)) in self.real.rings.sets.iter().zip(&before.sets).enumerate() {
            if ring.write != before.write {
                self.sets.push_back((set, ring.write));
            }
        }
        self.serves = None;
        Ok(Service {
            retry: served,
            abort: !served,
        })
    }

    /// Where the next message goes changes when one is whole and in memory, and for no other reason.
    fn rings(&mut self, seen: &Out, inputs: &In, now: u64) -> Result<(), String> {
        for set in 0..3 {
            let next = seen.next[set];
            if next == self.next[set] {
                continue;
            }
            let due = self.ringed.pop_front();
            let fits = |&(_, (place, words)): &(usize, (Place, u32))| {
                place.set == set && place.behind(slots(words)) == next && self.ring_busy >> set & 1 == 1
            };
            let Some((n, _)) = due.filter(fits) else {
                return holds(Rule::Ring, false, || {
                    format!(
                        "cycle {now}: ring {set} goes on at {next:#x}, not {due:x?}; busy {}",
                        self.ring_busy
                    )
                });
            };
            self.data_of(n, now)?;
            let shown = self.ring_faults.front().is_none_or(|(of, _)| *of > n);
            holds(Rule::Fault, shown, || {
                format!("cycle {now}: message {n} without {:x?}", self.ring_faults.front())
            })?;
            self.next[set] = next;
            self.real.rings.sets[set].write = next;
        }
        if let Some((set, slot)) = inputs.set {
            self.next[set] = slot;
        }
        let waits = seen.fault.is_some_and(|(reason, _)| u32::from(reason) == FAULT_RING);
        let busy = seen.ring_busy;
        holds(Rule::Ring, busy.count_ones() <= u32::from(!waits), || {
            format!("cycle {now}: rings {busy:#b} are busy")
        })?;
        // Software that has switched a ring off and sees it at rest may move it.
        let begun = busy & !self.ring_busy;
        holds(Rule::Ring, begun & !self.rings_on == 0, || {
            format!("cycle {now}: ring {begun:#b} is busy, but was off")
        })?;
        self.ring_busy = busy;
        let on = inputs.rings.sets.iter().enumerate();
        self.rings_on = on.map(|(set, ring)| u8::from(ring.on) << set).sum();
        Ok(())
    }

    /// Software's rings: those in sets, and the others.
    pub(super) fn set_rings(&mut self, rings: Rings, shelf: &[Ring]) {
        let writes = rings.sets.iter().map(|ring| ring.write).enumerate();
        self.sets.extend(writes);
        for around in [&mut self.model, &mut self.real] {
            around.rings = rings;
            around.shelf = shelf.to_vec();
        }
    }

    /// Software switches a ring off; false when a message that finds none waits.
    pub(super) fn without_ring(&mut self, set: usize) -> bool {
        self.real.rings.sets[set].on = false;
        let fault = self.rig.seen().fault;
        fault.is_none_or(|(reason, _)| u32::from(reason) != FAULT_RING)
    }

    fn word_unit(&mut self, seen: &Out, inputs: &In, now: u64) -> Result<(), String> {
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        let offered = seen.unit.map(used);
        self.asked.step(offered.as_ref(), inputs.unit_ready).map_err(wrong)?;
        if inputs.unit_rsp.is_some() {
            self.unit = None;
        }
        let Some(request) = offered.filter(|_| inputs.unit_ready) else {
            return Ok(());
        };
        let Some((n, want)) = self.units.pop_front() else {
            return holds(Rule::Word, false, || format!("cycle {now}: {request:x?} of nobody"));
        };
        holds(Rule::Word, request == used(want), || {
            format!(
                "cycle {now}: {request:x?}, not {want:x?} of message {n}, {:x?}",
                self.due[n].words
            )
        })?;
        if want.op == Op::Inc {
            self.data_of(n, now)?;
        } else {
            self.all_before(n, now)?;
        }
        let wait = if self.slow { self.rng.between(1, 30) } else { 10 };
        self.unit = Some((now + wait, request));
        Ok(())
    }

    fn communication(&mut self, seen: &Out, inputs: &In, now: u64) -> Result<(), String> {
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        self.accessed
            .step(seen.creg.as_ref(), inputs.creg_ready)
            .map_err(wrong)?;
        if inputs.creg_rsp.is_some() && seen.creg_taken {
            self.creg = None;
        }
        let Some(access) = seen.creg.filter(|_| inputs.creg_ready) else {
            return Ok(());
        };
        let want = self.registers.pop_front();
        holds(Rule::Register, want.is_some_and(|(_, want)| want == access), || {
            format!("cycle {now}: {access:x?}, not {want:x?}")
        })?;
        self.all_before(want.expect("checked").0, now)?;
        let wait = if self.slow { self.rng.between(3, 30) } else { 3 };
        let answer = self.real.registers.access(access);
        self.creg = Some((now + wait, answer.ok().map(|word| word.unwrap_or(0))));
        Ok(())
    }

    fn queues(&mut self, seen: &Out, inputs: &In, now: u64) -> Result<(), String> {
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        holds(Rule::Answer, seen.queues != 3, || {
            format!("cycle {now}: a word for two queues")
        })?;
        holds(Rule::Pause, seen.queues != 0 || self.writing.is_empty(), || {
            format!("cycle {now}: a pause after {:x?}", self.writing)
        })?;
        for q in 0..2 {
            let word = (seen.queues >> q & 1 != 0).then_some(seen.queue);
            self.queued[q]
                .step(word.as_ref(), inputs.queues_ready[q])
                .map_err(wrong)?;
            if word.is_some()
                && self.writing.is_empty()
                && let Some(&(n, _)) = self.answers[q].front()
                && self.answering.replace(n) != Some(n)
            {
                self.is_as(n, now)?;
            }
            let Some(word) = word.filter(|_| inputs.queues_ready[q]) else {
                continue;
            };
            self.writing.push(word.data);
            let Some((n, want)) = self.answers[q].front().cloned() else {
                return holds(Rule::Answer, false, || {
                    format!("cycle {now}: {word:x?} for queue {}", 3 + q)
                });
            };
            let so_far = self.writing.len();
            let fits = want.starts_with(&self.writing) && word.end == (so_far == want.len());
            holds(Rule::Answer, fits, || {
                format!(
                    "cycle {now}: {:x?} {word:x?}, not {want:x?} of message {n}",
                    self.writing
                )
            })?;
            self.due[n].begun = true;
            if word.end {
                self.writing.clear();
                self.answers[q].pop_front();
            }
        }
        Ok(())
    }

    fn told(&mut self, seen: &Out, inputs: &In, now: u64) -> Result<(), String> {
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        self.loads.step(seen.load.as_ref(), inputs.load_ready).map_err(wrong)?;
        let loaded = seen.load.filter(|_| inputs.load_ready);
        holds(Rule::Reply, loaded.is_none() || !seen.ack, || {
            format!("cycle {now}: a load and a store are over at once")
        })?;
        if loaded.is_some() || seen.ack {
            let want = self.replies.pop_front();
            let fits = want.as_ref().is_some_and(|(_, want)| match (want, loaded) {
                (None, None) => true,
                (Some((cell, words)), Some((failed, data, from))) => {
                    failed == words.is_empty()
                        && from == *cell
                        && words
                            .iter()
                            .enumerate()
                            .all(|(i, &word)| (data >> (32 * i)) as u32 == word)
                }
                _ => false,
            });
            holds(Rule::Reply, fits, || {
                let words = want.as_ref().map(|(n, _)| &self.due[*n].words);
                format!("cycle {now}: {loaded:x?}, not {want:x?}, {words:x?}")
            })?;
        }
        holds(Rule::Broken, seen.count == self.told, || {
            format!("cycle {now}: {} counted, not {}", seen.count, self.told)
        })?;
        if let Some(broken) = seen.broken {
            let want = self.broken.pop_front();
            holds(Rule::Broken, want.is_some_and(|(_, want)| want == broken), || {
                format!("cycle {now}: {broken:x?}, not {want:x?}")
            })?;
            self.told += 1;
        }
        Ok(())
    }

    pub(super) fn left(&self) -> usize {
        let queues: usize = self.answers.iter().map(VecDeque::len).sum();
        self.source.len()
            + self.units.len()
            + self.registers.len()
            + queues
            + self.replies.len()
            + self.broken.len()
            + self.ringed.len()
            + self.ring_faults.len()
            + usize::from(self.unit.is_some())
    }

    /// Until all is done.
    pub(super) fn finish(&mut self) -> Result<(), String> {
        let end = self.rig.cycle + 60_000;
        while self.left() > 0 || self.rig.seen().busy {
            holds(Rule::Rest, self.rig.cycle < end || self.left() > 0, || {
                format!(
                    "busy for ever: {:x?}, {:x?}",
                    self.rig.seen(),
                    self.due.iter().map(|due| &due.words).collect::<Vec<_>>()
                )
            })?;
            holds(Rule::Hang, self.rig.cycle < end, || {
                format!(
                    "{} words to come; {:x?} {:x?} {:x?} {:x?} {:x?} {:x?} {:x?}",
                    self.source.len(),
                    self.units,
                    self.registers,
                    self.answers,
                    self.replies,
                    self.broken,
                    self.ringed,
                    self.ring_faults
                )
            })?;
            self.cycle()?;
        }
        let now = self.rig.cycle;
        let Some(last) = self.due.len().checked_sub(1) else {
            return Ok(());
        };
        self.is_as(last, now)
            .map_err(|what| what.replacen("Early", "Memory", 1))
    }
}
