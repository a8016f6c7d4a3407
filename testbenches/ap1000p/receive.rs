//! The receive controllers against their model. What the model says of each message is known beforehand; the bench checks that it happens, in
//! its order, and that nothing is told, asked or counted before what must be in memory is there.

use std::collections::VecDeque;

use testbenches::rtl::*;
use tsunagi::ap1000p::creg::Access;
use tsunagi::ap1000p::mmu::Lookup;
use tsunagi::ap1000p::receive::{Class, Effect, Outcome, Receiver, What, Why};
use tsunagi::ap1000p::regs::*;
use tsunagi::ap1000p::stride::places;
use tsunagi::ap1000p::word::{Failed, Op, Request, perform};
use tsunagi::ap1000p::{Queue, Word};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};

use crate::pages::{Around, FLAGS, MEM_BITS, Mmu, PAGES, Service, Software};
use crate::rig::{Common, Ports, Rig, Twin, each_is_caught, fails};
use crate::{SLOW, STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
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
    /// What is told of a fault.
    Fault,
    /// A word per cycle.
    Rate,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 14] = [
    Rule::Memory,
    Rule::Early,
    Rule::Word,
    Rule::Register,
    Rule::Answer,
    Rule::Pause,
    Rule::Reply,
    Rule::Broken,
    Rule::Fault,
    Rule::Rate,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

/// This cell.
const OWN: [u8; 2] = [3, 5];

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    word: Option<Word>,
    forget: bool,
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
    load: Option<(bool, u64)>,
    ack: bool,
    broken: Option<(u8, What)>,
    count: u16,
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
                let mem = &inputs.mem;
                self.mem_cmd_ready_i.set_bool(mem.wr_cmd_ready);
                self.mem_data_ready_i.set_bool(mem.wr_data_ready);
                self.mem_rsp_valid_i.set_bool(mem.wr_rsp_valid);
                self.mem_rsp_err_i.set_bool(mem.wr_rsp_err);
                self.word_ready_i.set_bool(inputs.unit_ready);
                self.word_done_i.set_bool(inputs.unit_rsp.is_some());
                let rsp = inputs.unit_rsp.unwrap_or(Ok(0x1234_5678));
                self.word_old_i.set(rsp.unwrap_or(0x8765_4321));
                self.word_fault_i.set_bool(rsp == Err(Failed::GivenUp));
                self.word_err_i.set_bool(rsp == Err(Failed::Bus));
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
                    mem: MemPortsIn {
                        wr_cmd_valid: self.mem_cmd_valid_o.is_set(),
                        wr_cmd_addr: self.mem_cmd_addr_o.get(),
                        wr_cmd_len: self.mem_cmd_len_o.get(),
                        wr_data_valid: self.mem_data_valid_o.is_set(),
                        wr_data_data: self.mem_data_data_o.get().into(),
                        wr_data_strb: self.mem_data_strb_o.get(),
                        wr_data_last: self.mem_data_last_o.is_set(),
                        wr_rsp_ready: self.mem_rsp_ready_o.is_set(),
                        ..MemPortsIn::default()
                    },
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
                    load: self.load_valid_o.is_set().then(|| (self.load_err_o.is_set(), self.load_data_o.get())),
                    ack: self.ack_o.is_set(),
                    broken: self.broken_valid_o.is_set().then(|| (self.broken_reason_o.get(), What {
                        kind: self.broken_kind_o.get(),
                        x: self.broken_x_o.get(),
                        y: self.broken_y_o.get(),
                    })),
                    count: self.broken_count_o.get(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Class::Request; Ap1000pReceive
       TwinReceiveStride TwinReceiveIdle TwinReceiveCounts TwinReceiveSystem TwinReceiveRegister TwinReceiveDistance TwinReceiveFailed TwinReceivePause
       TwinReceiveCount TwinReceiveStale TwinReceiveFault TwinReceiveBubble TwinReceiveWithdraws TwinReceivePath TwinReceiveWaits
       TwinReceiveRest TwinReceiveHasty);
ports!(Class::Reply; Ap1000pReceiveReplies TwinReceiveLoad);

/// A range with bus errors.
const BAD: std::ops::Range<u32> = 0x8f80..0x9100;

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

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    mmu: Mmu,
    software: Software,
    agent: MemoryAgent,
    accepts: Pacer,
    real: Around,
    model: Around,
    receiver: Receiver,
    source: Source<Word>,
    due: Vec<Due>,
    /// Words of the messages that were taken.
    taken: Vec<u64>,
    writes: Monitor<(u32, u8)>,
    data: Monitor<(u64, u8)>,
    lookups: Monitor<Lookup>,
    asked: Monitor<Request>,
    accessed: Monitor<Access>,
    queued: [Monitor<Word>; 2],
    loads: Monitor<(bool, u64)>,
    units: Todo<Request>,
    registers: Todo<Access>,
    answers: [Todo<Vec<u32>>; 2],
    replies: Todo<Option<Vec<u32>>>,
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
    /// What was asked of the MMU last, and its fault.
    lookup: Option<Lookup>,
    fault: Option<(u8, Lookup)>,
    /// The message that was answered last.
    answering: Option<usize>,
}

impl<'a, U: Receive> Bench<'a, U> {
    fn new(case: &Case, start: &str, gaps: Gaps, timing: MemoryTiming, probe: &'a Probe) -> Result<Self, String> {
        let slow = gaps.at_sink();
        let jitter = Cycle(if slow { 6 } else { 0 });
        let pacer = |name: &str| Pacer::new(slow, case.rng(name));
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            mmu: Mmu::new(case, slow),
            software: Software::new(case, slow),
            agent: MemoryAgent::new(timing, 4).with_jitter(case.rng("memory").bits(), jitter, jitter),
            accepts: pacer("writes"),
            real: Around::new(&[BAD]),
            model: Around::new(&[BAD]),
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
    fn reset(&mut self) -> Result<(), String> {
        self.rig.step(&In::default(), true)?;
        self.mmu.reset();
        self.agent.reset();
        self.model = self.real.clone();
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
        self.writing.clear();
        (self.told, self.unit, self.creg, self.answering) = (0, None, None, None);
        Ok(())
    }

    /// What the model says is wrong with it.
    fn send(&mut self, words: &[u32]) -> Option<Why> {
        let last = words.len() - 1;
        for (i, &data) in words.iter().enumerate() {
            self.source.push(Word { data, end: i == last });
        }
        let outcome = self.receiver.execute(words, &mut self.model);
        let number = self.due.len();
        for effect in &outcome.effects {
            match effect {
                Effect::Written { .. } => {}
                Effect::Word(request) => self.units.push_back((number, *request)),
                Effect::Register(access) => self.registers.push_back((number, *access)),
                Effect::Queue(queue, words) => {
                    let q = usize::from(*queue == Queue::GetReply);
                    self.answers[q].push_back((number, words.clone()));
                }
                Effect::Loaded(words) => self.replies.push_back((number, Some(words.clone()))),
                Effect::Acknowledged => self.replies.push_back((number, None)),
            }
        }
        if let Some((why, what)) = outcome.told {
            self.broken.push_back((number, (why as u8, what)));
        }
        let why = outcome.told.map(|(why, _)| why);
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
        let whole = |around: &Around| around.memory.read(Addr(0), 1 << MEM_BITS).map(<[u8]>::to_vec);
        holds(Rule::Early, whole(want) == whole(&self.real), || {
            let differs = |at: &u32| want.word(*at) != self.real.word(*at);
            let at = (0..1 << MEM_BITS).step_by(4).find(differs).expect("they differ");
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

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let told = |what: String| format!("cycle {now}: {what}");
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        let before = self.rig.seen();
        let mmu_rsp = self.mmu.offer(now);
        let unit = self.unit.filter(|(at, _)| *at == now);
        let mut mem = *self.agent.ports();
        mem.wr_cmd_ready &= self.accepts.step();
        let inputs = In {
            word: self.source.offer().copied(),
            forget: self.slow && !self.forgets.step() && self.rng.chance(1, 4),
            mmu_ready: self.mmu.ready,
            mmu_rsp,
            service: self
                .software
                .step(before.fault.map(|(_, lookup)| lookup), &mut self.mmu),
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
        if let Some((reason, lookup)) = seen.fault {
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
                (Some(words), Some((failed, data))) => {
                    failed == words.is_empty()
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

    fn left(&self) -> usize {
        let queues: usize = self.answers.iter().map(VecDeque::len).sum();
        self.source.len()
            + self.units.len()
            + self.registers.len()
            + queues
            + self.replies.len()
            + self.broken.len()
            + usize::from(self.unit.is_some())
    }

    /// Until all is done.
    fn finish(&mut self) -> Result<(), String> {
        let end = self.rig.cycle + 60_000;
        while self.left() > 0 || self.rig.seen().busy {
            holds(Rule::Rest, self.rig.cycle < end || self.left() > 0, || {
                "busy for ever".into()
            })?;
            holds(Rule::Hang, self.rig.cycle < end, || {
                format!(
                    "{} words to come; {:x?} {:x?} {:x?} {:x?} {:x?}",
                    self.source.len(),
                    self.units,
                    self.registers,
                    self.answers,
                    self.replies,
                    self.broken
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

/// The first two words.
fn head(class: Class, kind: u32, rng: &mut Rng) -> Vec<u32> {
    let reply = if class == Class::Reply {
        MESSAGE_ROUTE_REPLY_MASK
    } else {
        0
    };
    let from = rng.bits() as u32 & (MESSAGE_WHAT_X_MASK | MESSAGE_WHAT_Y_MASK);
    vec![
        reply | u32::from(OWN[1]) << MESSAGE_ROUTE_Y_SHIFT | u32::from(OWN[0]),
        kind << MESSAGE_WHAT_KIND_SHIFT | from,
    ]
}

fn some_of(rng: &mut Rng, bits: u32) -> u32 {
    rng.bits() as u32 & bits
}

fn context(rng: &mut Rng) -> u32 {
    [0x001, 0x5a3][rng.below(2) as usize] << COMMAND_LENGTH_CONTEXT_SHIFT
}

fn flag(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => 0,
        1 => 7 << 12,
        2 => FLAGS << 12 | 2,
        _ => (FLAGS + rng.below(3) as u32) << 12 | (rng.below(4) as u32 * 4),
    }
}

/// A length, a place for so many words, and a stride. What is written is not where flags are.
fn data(rng: &mut Rng, most: u64) -> [u32; 3] {
    loop {
        let words = match rng.below(6) {
            0 => 0,
            1 => 1,
            2 => rng.below(most) as u32,
            _ => rng.below(20) as u32,
        };
        let stride = match rng.below(3) {
            0 => 0,
            1 => (rng.bits() as u32) << 24 & 0xff00_0000,
            _ => {
                let gap = (rng.below(80) as i32 - 40) as u32 & 0xff_ffff;
                (rng.below(12) as u32) << 24 | gap
            }
        };
        let odd = u32::from(rng.chance(1, 40));
        // Near the end of a page as often as not.
        let page = (rng.below(FLAGS.into()) as u32) << 12;
        let at = if rng.chance(1, 2) {
            0xfc0
        } else {
            rng.below(0x400) as u32 * 4
        };
        let dest = page | at | odd;
        let mut pages = places(dest, stride, words).map(|addr| addr >> 12);
        if pages.all(|page| !(FLAGS..PAGES).contains(&page)) {
            return [words, dest, stride];
        }
    }
}

fn words(rng: &mut Rng, count: u32) -> Vec<u32> {
    (0..count).map(|_| rng.bits() as u32).collect()
}

/// A message of this class that is whole.
fn whole(rng: &mut Rng, class: Class, most: u64) -> Vec<u32> {
    let system = some_of(rng, PAGE_SYSTEM_MASK);
    let size = some_of(rng, PAGE_SIZE_MASK);
    let sized = 1 << (size >> PAGE_SIZE_SHIFT);
    let double = u32::from(sized == 8);
    let spaces = if rng.chance(1, 6) { PAGE_AS_RECEIVE_MASK } else { 0 } | some_of(rng, PAGE_AS_SEND_MASK);
    // Of a remote access; mostly one that can be.
    let registers = rng.chance(1, 6);
    let access = match (registers, rng.below(12)) {
        (false, 0) => rng.bits() as u32,
        (false, _) => (rng.below(1 << MEM_BITS) as u32) / sized * sized,
        (true, 0) => rng.below(1024) as u32,
        (true, _) => rng.below(12) as u32 * 4,
    };
    let as_word = if registers && !rng.chance(1, 8) {
        2 << PAGE_SIZE_SHIFT
    } else {
        size
    };
    let as_register = if registers {
        PAGE_AS_RECEIVE_MASK | as_word
    } else {
        size
    };
    let doubled = if registers {
        u32::from(as_word == PAGE_SIZE_MASK)
    } else {
        double
    };
    let kind = rng.below(if class == Class::Request { 8 } else { 5 });
    let (kind, rest) = match (class, kind) {
        (Class::Request, 0..=2) | (Class::Reply, 0 | 1) => {
            let kind = match class {
                Class::Request => KIND_PUT | some_of(rng, PAGE_ROW_MASK | PAGE_COLUMN_MASK),
                Class::Reply => PAGE_DIRECT_MASK | MADE_GET_REPLY,
            };
            let [mut length, mut dest, stride] = data(rng, most);
            if spaces & PAGE_AS_RECEIVE_MASK != 0 {
                length = length.min(6);
                dest = if rng.chance(1, 8) {
                    4 * 126 + rng.below(12) as u32
                } else {
                    4 * rng.below(40) as u32
                };
            }
            let rest = [vec![context(rng) | length, dest, stride, flag(rng)], words(rng, length)].concat();
            (kind | spaces, rest)
        }
        (Class::Request, 3) => {
            let rest = [vec![context(rng) | rng.below(1 << 20) as u32], words(rng, 6)].concat();
            (KIND_GET | spaces, rest)
        }
        (Class::Request, 4) => {
            let kind = if rng.chance(1, 2) { KIND_CSI } else { KIND_FOP };
            let addr = (rng.below(PAGES.into()) as u32) << 12 | (rng.below(4) as u32 * 4);
            let few = |rng: &mut Rng| {
                if rng.chance(1, 2) {
                    rng.below(2) as u32
                } else {
                    rng.bits() as u32
                }
            };
            let rest = [
                context(rng) | rng.below(3) as u32,
                flag(rng),
                0,
                flag(rng),
                addr,
                few(rng),
                few(rng),
            ];
            (kind, rest.to_vec())
        }
        (Class::Request, 5) => (PAGE_DIRECT_MASK | MADE_LOAD | as_register, vec![access]),
        (Class::Request, 6) => (
            PAGE_DIRECT_MASK | MADE_STORE | as_register,
            [vec![access], words(rng, 1 + doubled)].concat(),
        ),
        (Class::Request, _) => {
            let length = rng.below(20) as u32;
            let rest = [vec![context(rng) | length], words(rng, 3 + length)].concat();
            (KIND_PUT | PAGE_SEND_MASK, rest)
        }
        (Class::Reply, 2) => {
            let [_, dest, _] = data(rng, most);
            let rest = vec![context(rng) | 1, dest, 0, flag(rng), rng.bits() as u32];
            (PAGE_DIRECT_MASK | MADE_ATOMIC_REPLY, rest)
        }
        (Class::Reply, 3) => {
            let count = if rng.chance(1, 4) { 0 } else { 1 + double };
            (PAGE_DIRECT_MASK | MADE_LOAD_REPLY | size, words(rng, count))
        }
        (Class::Reply, _) => (PAGE_DIRECT_MASK | MADE_STORE_ACK | size, vec![]),
    };
    [head(class, kind | system, rng), rest].concat()
}

/// One that is not.
fn broken(rng: &mut Rng, class: Class) -> Vec<u32> {
    let mut message = whole(rng, class, 40);
    match rng.below(6) {
        0 => message.truncate(1 + rng.below(message.len() as u64) as usize),
        1 => {
            message.pop();
        }
        2 => {
            let more = 1 + rng.below(12) as u32;
            message.extend(words(rng, more));
        }
        3 => message[0] ^= MESSAGE_ROUTE_REPLY_MASK,
        // A bit of the page code is another.
        4 => message[1] ^= 1 << (MESSAGE_WHAT_KIND_SHIFT as u64 + rng.below(16)),
        _ => message[1] = rng.bits() as u32,
    }
    if message.is_empty() {
        message.push(0);
    }
    // As it is now, it may write where flags are.
    let Some(&[head, dest, stride]) = message.get(2..5) else {
        return message;
    };
    let length = head & COMMAND_LENGTH_WORDS_MASK;
    let hits =
        places(dest, stride, length.min(message.len() as u32)).any(|addr| (FLAGS..PAGES).contains(&(addr >> 12)));
    if hits { vec![message[0]] } else { message }
}

/// Random messages, broken ones among them; faults retried and given up, bus errors; a reset.
fn follows<U: Receive>(case: &Case, start: &str, gaps: Gaps, count: usize, probe: &Probe) -> Result<(), String> {
    let timing = if gaps.at_sink() { SLOW } else { MemoryTiming::IDEAL };
    let mut bench = Bench::<U>::new(case, start, gaps, timing, probe)?;
    let mut rng = case.rng("messages");
    let mut whys = Vec::new();
    for round in 0..3 {
        for _ in 0..count {
            let message = if rng.chance(1, 5) {
                broken(&mut rng, U::CLASS)
            } else {
                whole(&mut rng, U::CLASS, 300)
            };
            whys.extend(bench.send(&message));
        }
        if round == 1 {
            for _ in 0..rng.between(200, 1500) {
                bench.cycle()?;
            }
            bench.reset()?;
        }
        bench.finish()?;
    }
    let served = bench.software.retries > 0 && bench.software.aborts > 0;
    assert!(served, "the messages make no faults: the check sees nothing");
    let shown = Why::ALL.into_iter().filter(|why| !whys.contains(why));
    let missing: Vec<Why> = shown
        .filter(|&why| U::CLASS == Class::Request || why != Why::Ring)
        .collect();
    assert!(
        missing.is_empty(),
        "no message is broken by {missing:?}: the check sees nothing"
    );
    Ok(())
}

/// Data with strides and nothing else, so that only their places tell.
fn quiet<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    for _ in 0..60 {
        let [length, dest, stride] = data(&mut rng, 600);
        let words = words(&mut rng, length);
        bench.send(&put(U::CLASS, [1 << 20 | length, dest, stride, 0], &words, &mut rng));
    }
    bench.finish()
}

/// A message with data.
fn put(class: Class, rest: [u32; 4], words: &[u32], rng: &mut Rng) -> Vec<u32> {
    let kind = match class {
        Class::Request => KIND_PUT,
        Class::Reply => PAGE_DIRECT_MASK | MADE_GET_REPLY,
    };
    [&head(class, kind, rng), &rest[..], words].concat()
}

/// Messages of data back to back, each with a flag: a word per cycle.
fn rate<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    // Words, stride: the machine's smallest useful message; one that is long; items of two words.
    for (count, length, stride) in [(30, 8, 0), (3, 1000, 0), (4, 60, 2 << 24 | 1)] {
        let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
        for i in 0..count {
            let dest = 0x40 * i;
            let words = words(&mut rng, length);
            bench.send(&put(
                U::CLASS,
                [1 << 20 | length, dest, stride, FLAGS << 12],
                &words,
                &mut rng,
            ));
        }
        bench.finish()?;
        let (first, last) = (bench.taken[0], bench.taken[bench.taken.len() - 1]);
        holds(Rule::Rate, last - first + 1 == bench.taken.len() as u64, || {
            format!(
                "{} words of {count} messages in {} cycles",
                bench.taken.len(),
                last - first + 1
            )
        })?;
    }
    Ok(())
}

/// What says that it is longer than it can be holds nobody up, and no word of another message takes its place.
fn forged_length<U: Receive>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut rng = case.rng("data");
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    // Ends within its first item, at its end, and behind it.
    for came in [1, 2, 4, 5] {
        let forged = words(&mut rng, came);
        let rest = [1 << 20 | COMMAND_LENGTH_WORDS_MASK, 0x100, 4 << 24 | 1, FLAGS << 12];
        bench.send(&put(U::CLASS, rest, &forged, &mut rng));
        let next = words(&mut rng, 8);
        bench.send(&put(
            U::CLASS,
            [1 << 20 | 8, 0x1000, 0, FLAGS << 12 | 4],
            &next,
            &mut rng,
        ));
    }
    bench.finish()?;
    holds(Rule::Rate, bench.rig.cycle < 200, || {
        format!("eight short messages take {} cycles", bench.rig.cycle)
    })
}

fn checks<U: Receive>() -> Vec<Result<(), String>> {
    let case = |what: &str| Case::new("ap1000p", "receive::each_twin_is_caught", what);
    let probe = Probe::default();
    let mut found: Vec<_> = Gaps::ALL
        .into_iter()
        .map(|gaps| follows::<U>(&case(&format!("{gaps:?}")), STARTS[0], gaps, 300, &probe))
        .collect();
    found.push(rate::<U>(&case("rate"), &probe));
    found.push(forged_length::<U>(&case("forged length"), &probe));
    found
}

fn check_quiet<U: Receive>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "receive::each_twin_is_caught", "quiet");
    vec![quiet::<U>(&case, &Probe::default())]
}

fn check_forged<U: Receive>() -> Vec<Result<(), String>> {
    let case = Case::new("ap1000p", "receive::each_twin_is_caught", "forged length");
    vec![forged_length::<U>(&case, &Probe::default())]
}

fn every_way<U: Receive>(test: &'static str) {
    for gaps in Gaps::ALL {
        for start in STARTS {
            let case = Case::new("ap1000p", test, format!("{gaps:?} {start}"));
            case.run(|probe| follows::<U>(&case, start, gaps, 300, probe));
        }
    }
    let case = |what: &str| Case::new("ap1000p", test, what);
    let rates = case("rate");
    rates.run(|probe| rate::<U>(&rates, probe));
    let forged = case("forged length");
    forged.run(|probe| forged_length::<U>(&forged, probe));
    let data = case("quiet");
    data.run(|probe| quiet::<U>(&data, probe));
}

#[test]
fn requests_follow_the_model() {
    every_way::<Ap1000pReceive>("receive::requests_follow_the_model");
}

#[test]
fn replies_follow_the_model() {
    every_way::<Ap1000pReceiveReplies>("receive::replies_follow_the_model");
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        // Strides are ignored.
        ("Memory", &check_quiet::<TwinReceiveStride>),
        // A GET's answer does not wait for flags.
        ("Early", &checks::<TwinReceiveIdle>),
        // A broken message counts.
        ("Word", &check_forged::<TwinReceiveCounts>),
        // Every flag is the system's.
        ("Word", &checks::<TwinReceiveSystem>),
        // The same register for all words.
        ("Register", &checks::<TwinReceiveRegister>),
        // Answers go to the sender's place, not to its distance.
        ("Answer", &checks::<TwinReceiveDistance>),
        // A load that failed brings data.
        ("Answer", &checks::<TwinReceiveFailed>),
        ("Pause", &checks::<TwinReceivePause>),
        // Two words of a load, and both are the last.
        ("Reply", &checks::<TwinReceiveLoad>),
        ("Broken", &checks::<TwinReceiveCount>),
        // The kind and sender of the message before.
        ("Broken", &checks::<TwinReceiveStale>),
        ("Fault", &checks::<TwinReceiveFault>),
        ("Rate", &checks::<TwinReceiveBubble>),
        ("Protocol", &checks::<TwinReceiveWithdraws>),
        ("Path", &checks::<TwinReceivePath>),
        // Waits for words that do not come.
        ("Hang", &checks::<TwinReceiveWaits>),
        ("Rest", &checks::<TwinReceiveRest>),
    ];
    each_is_caught(&RULES, twins);
}

/// C7: that a flag counts before the last word is in memory is found by the RTL's own assertion.
#[test]
fn c7_an_early_flag_is_asserted() {
    let found = fails(checks::<TwinReceiveHasty>);
    assert!(found.contains("ap1000p_place.sv"), "{found}");
}
