//! The send controller against its model: every word on the network, every send flag, whatever fails under way.

use std::collections::VecDeque;
use tsunagi::net::torus::Class;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::Word;
use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::golden::creg;
use tsunagi::ap1000p::golden::send::{AddressSpace, Origin, Place, Sent, send};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};

use crate::rig::{Common, Ports, Rig, Twin, each_is_caught, fails};
use crate::space::{MEMORY, Mmu, Page, Request, Space};
use crate::{SLOW, STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The words on the network are the model's.
    Words,
    /// The flags are, and none counts before its message has gone.
    Flags,
    /// A message with registers begins when they are read.
    Opens,
    /// Bad and cut messages are told, once each.
    Reported,
    /// A word per cycle, from one message to the next.
    Rate,
    /// Six cycles to the memory, three to the network.
    Latency,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 10] = [
    Rule::Words,
    Rule::Flags,
    Rule::Opens,
    Rule::Reported,
    Rule::Rate,
    Rule::Latency,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

/// A word on the network: {to the cell itself, last, word}.
type Out = (bool, bool, u32);

#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// And whether the next message is of the same command.
    word: Option<(Word, bool)>,
    answer: Option<Result<u32, u8>>,
    mmu_ready: bool,
    forget: bool,
    /// Whether to try again after a fault.
    served: Option<bool>,
    mem: MemPortsOut,
    register_ready: bool,
    /// What a register has, if it is not empty.
    register: Option<Option<u32>>,
    /// An empty one waits.
    wait: bool,
    flag_ready: bool,
    ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    ready: bool,
    request: Option<Request>,
    takes_answer: bool,
    fault: Option<(u8, Request)>,
    mem: MemPortsIn,
    register: Option<u8>,
    takes_register: bool,
    flag: Option<(AddressSpace, u32)>,
    out: Option<Out>,
    bad: bool,
    error: bool,
    busy: bool,
}

const PLACE: Place = Place {
    at: [3, 1],
    size: [5, 4],
};

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            type In = Inputs;
            type Out = Outputs;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &Inputs) {
                self.x_i.set(PLACE.at[0]);
                self.y_i.set(PLACE.at[1]);
                self.last_x_i.set(PLACE.size[0] - 1);
                self.last_y_i.set(PLACE.size[1] - 1);
                self.in_valid_i.set_bool(inputs.word.is_some());
                self.in_end_i.set_bool(inputs.word.is_none_or(|(word, _)| word.end));
                self.in_more_i.set_bool(inputs.word.is_none_or(|(_, more)| more));
                self.in_data_i.set(inputs.word.map_or(0xdead_beef, |(word, _)| word.data));
                self.req_ready_i.set_bool(inputs.mmu_ready);
                self.rsp_valid_i.set_bool(inputs.answer.is_some());
                self.rsp_addr_i.set(inputs.answer.and_then(Result::ok).unwrap_or(0xfeed_f00c));
                self.rsp_fault_i.set(inputs.answer.and_then(Result::err).unwrap_or(0));
                self.forget_i.set_bool(inputs.forget);
                self.retry_i.set_bool(inputs.served == Some(true));
                self.abort_i.set_bool(inputs.served == Some(false));
                testbenches::set_mem_read_ports!(self, &inputs.mem);
                self.creg_wait_i.set_bool(inputs.wait);
                self.creg_ready_i.set_bool(inputs.register_ready);
                self.creg_rsp_valid_i.set_bool(inputs.register.is_some());
                self.creg_rsp_fault_i.set_bool(inputs.register == Some(None));
                self.creg_rsp_data_i.set(inputs.register.flatten().unwrap_or(0xbad_cafe));
                self.flag_ready_i.set_bool(inputs.flag_ready);
                self.out_ready_i.set_bool(inputs.ready);
            }

            fn seen(&self) -> Outputs {
                let request = || Request {
                    owner: AddressSpace { context: self.req_context_o.get(), system: self.req_system_o.is_set() },
                    addr: self.req_addr_o.get(),
                    write: false,
                };
                Outputs {
                    ready: self.in_ready_o.is_set(),
                    request: self.req_valid_o.is_set().then(request),
                    takes_answer: self.rsp_ready_o.is_set(),
                    fault: self.fault_valid_o.is_set().then(|| (self.fault_reason_o.get(), request())),
                    mem: testbenches::mem_read_ports!(self),
                    register: self.creg_valid_o.is_set().then(|| self.creg_addr_o.get()),
                    takes_register: self.creg_rsp_ready_o.is_set(),
                    flag: self.flag_valid_o.is_set().then(|| {
                        let context = self.flag_context_o.get();
                        (AddressSpace { context, system: self.flag_system_o.is_set() }, self.flag_addr_o.get())
                    }),
                    out: self.out_valid_o.is_set().then(|| {
                        (self.out_local_o.is_set(), self.out_last_o.is_set(), self.out_data_o.get())
                    }),
                    bad: self.bad_o.is_set(),
                    error: self.error_o.is_set(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pSend Ap1000pSendReply
       TwinSendStride TwinSendFlag TwinSendReported TwinSendBubble TwinSendAhead TwinSendLate TwinSendWithdraws TwinSendPath TwinSendServes TwinSendDrain TwinSendStuck TwinSendRest
       TwinSendRegister TwinSendEmpty TwinSendOpens TwinSendHasty TwinSendMore);

/// Communication registers whose every read gives another word.
struct Registers {
    /// One that is empty waits: it is filled in the end. Otherwise some reads fail.
    wait: bool,
    /// Reads so far of each, as the model counts them and as they were done.
    planned: [u32; creg::WORDS],
    read: [u32; creg::WORDS],
    /// All reads.
    total: [u64; 2],
    /// The one that is asked for, empty or not, and from when on the answer is there.
    open: Option<(u8, bool, u64)>,
}

impl Registers {
    fn new() -> Registers {
        Registers {
            wait: true,
            planned: [0; creg::WORDS],
            read: [0; creg::WORDS],
            total: [0; 2],
            open: None,
        }
    }

    /// What this read of a register gives.
    fn word(&self, register: u8, read: u32) -> Option<u32> {
        let word = (u32::from(register) << 16 | read).wrapping_mul(0x9e37_79b1);
        (self.wait || word >> 8 & 0xf != 0).then_some(word)
    }

    /// What the model reads.
    fn plan(&mut self, register: u8) -> Option<u32> {
        let planned = &mut self.planned[usize::from(register)];
        *planned += 1;
        self.total[0] += 1;
        let read = *planned;
        self.word(register, read)
    }

    fn answer(&self, now: u64) -> Option<Option<u32>> {
        let (register, empty, _) = self.open.filter(|&(.., due)| due <= now)?;
        Some(
            self.word(register, self.read[usize::from(register)] + 1)
                .filter(|_| !empty),
        )
    }

    /// The edge.
    fn step(&mut self, asked: Option<u8>, taken: bool, now: u64, mut rng: Option<&mut Rng>) {
        if taken && let Some((register, empty, _)) = self.open.take() {
            self.read[usize::from(register)] += u32::from(!empty);
            self.total[1] += u64::from(!empty);
        } else if let (None, Some(register)) = (self.open, asked) {
            let mut one_in = |n| rng.as_mut().is_some_and(|rng| rng.chance(1, n));
            let (empty, late) = (one_in(3) && self.wait, one_in(4));
            self.open = Some((register, empty, now + 3 + 9 * u64::from(late)));
        }
    }
}

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    class: Class,
    space: Space,
    registers: Registers,
    memory: Memory,
    agent: MemoryAgent,
    mmu: Mmu,
    rng: Option<Rng>,
    source: Source<(Word, bool)>,
    sink: Sink<Out>,
    flags: Sink<(AddressSpace, u32)>,
    requests: [Monitor<(u32, u8)>; 2],
    reads: Monitor<u8>,
    /// What the model says of the messages given, in order, with the registers read until then; cut and bad ones.
    due: VecDeque<(Sent, u64)>,
    told: [u32; 2],
    want: [u32; 2],
    /// A message of the command that goes on was cut.
    cut: bool,
    /// Words that have come of the message under way.
    came: usize,
    flags_due: VecDeque<(AddressSpace, u32)>,
    /// Cycles that software has for a fault, at most, and when the one that waits is served.
    service: u64,
    serving: Option<u64>,
    /// The fault that waits for software.
    shown: Option<(u8, Request)>,
    /// First cycle: of a command's last word, of the memory's command, of the first word, of the route; of the last word out.
    marks: [Option<u64>; 4],

    /// When the first message's last word came, and the last one's.
    first_out: u64,
    last_out: u64,
    served: [u32; 2],
}

impl<'a, U: Ports<In = Inputs, Out = Outputs>> Bench<'a, U> {
    fn new(
        case: &Case,
        start: &str,
        class: Class,
        gaps: Gaps,
        timing: MemoryTiming,
        probe: &'a Probe,
    ) -> Result<Self, String> {
        let pacer = |pauses, name: &str| Pacer::new(pauses, case.rng(name));
        let mut memory = Memory::new(MEMORY as usize);
        memory.poison(0..MEMORY);
        let jitter = if gaps == Gaps::None { 0 } else { 6 };
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            class,
            space: Space::default(),
            registers: Registers::new(),
            memory,
            agent: MemoryAgent::new(timing, 4).with_jitter(case.rng("memory").bits(), Cycle(jitter), Cycle(jitter)),
            mmu: Mmu::default(),
            rng: (gaps != Gaps::None).then(|| case.rng("delays")),
            source: Source::new([], pacer(gaps.at_source(), "source")),
            sink: Sink::new(pacer(gaps.at_sink(), "sink")),
            flags: Sink::new(pacer(gaps.at_sink(), "flags")),
            requests: Default::default(),
            reads: Monitor::default(),
            due: VecDeque::new(),
            told: [0; 2],
            want: [0; 2],
            cut: false,
            came: 0,
            flags_due: VecDeque::new(),
            service: 50,
            serving: None,
            shown: None,
            marks: [None; 4],

            first_out: 0,
            last_out: 0,
            served: [0; 2],
        };
        bench.reset()?;
        Ok(bench)
    }

    fn reset(&mut self) -> Result<(), String> {
        for _ in 0..2 {
            self.rig.step(&Inputs::default(), true)?;
        }
        self.agent.reset();
        self.mmu.reset();
        self.source.reset();
        self.source.stop();
        self.sink.reset();
        self.flags.reset();
        self.requests.iter_mut().for_each(Monitor::reset);
        self.reads.reset();
        self.registers = Registers {
            wait: self.registers.wait,
            ..Registers::new()
        };
        self.due.clear();
        self.flags_due.clear();
        self.came = 0;
        self.told = [0; 2];
        self.want = [0; 2];
        self.cut = false;
        self.serving = None;
        self.shown = None;
        Ok(())
    }

    fn give(&mut self, words: &[u32]) {
        self.give_part(words, false);
    }

    /// A message; the next one is `more` of the same command.
    fn give_part(&mut self, words: &[u32], more: bool) {
        for word in message(words) {
            self.source.push((word, more));
        }
        let (space, memory) = (&self.space, &self.memory);
        let registers = &mut self.registers;
        let mut sent = send(words, self.class, PLACE, |origin| match origin {
            Origin::Memory(owner, addr) => {
                let at = Addr(space.place(owner, addr)?);
                let word = memory.read(at, 4).filter(|_| memory.bus_ok(at, 4))?;
                Some(u32::from_le_bytes(word.try_into().expect("four bytes")))
            }
            Origin::Register(register) => registers.plan(register),
        });
        self.want[0] += u32::from(sent.bad);
        self.want[1] += u32::from(sent.cut);
        if !sent.words.is_empty() {
            let cut = self.cut || sent.cut;
            sent.flag = sent.flag.filter(|_| !cut && !more);
            self.cut = more && cut;
            self.due.push_back((sent, self.registers.total[0]));
        }
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let told = |what: String| format!("cycle {now}: {what}");
        let before = self.rig.seen();
        let served = match (before.fault, self.serving) {
            (Some((_, request)), Some(at)) if at <= now => Some(self.space.serve(request)),
            _ => None,
        };
        let word = self.source.offer().copied();
        let inputs = Inputs {
            word,
            answer: self.mmu.answer(&self.space, now),
            mmu_ready: self.mmu.ready(),
            forget: self.rng.as_mut().is_some_and(|rng| rng.chance(1, 30)),
            served,
            mem: *self.agent.ports(),
            register_ready: self.registers.open.is_none() && self.rng.as_mut().is_none_or(|rng| rng.chance(3, 4)),
            register: self.registers.answer(now),
            wait: self.registers.wait,
            flag_ready: self.flags.ready(),
            ready: self.sink.ready(),
        };
        let seen = self.rig.step(&inputs, false)?;

        let protocol = |e| format!("{:?}: {e}", Common::Protocol);
        self.requests[0]
            .step(
                seen.mem
                    .rd_cmd_valid
                    .then_some((seen.mem.rd_cmd_addr, seen.mem.rd_cmd_len))
                    .as_ref(),
                inputs.mem.rd_cmd_ready,
            )
            .map_err(protocol)?;
        self.reads
            .step(seen.register.as_ref(), inputs.register_ready)
            .map_err(protocol)?;
        let idle = self.mmu.ready() && self.registers.open.is_none();
        let resting = !seen.busy && idle && seen.request.is_none() && word.is_none();
        let offers = seen.out.is_some() || seen.flag.is_some() || seen.mem.rd_cmd_valid || seen.register.is_some();
        holds(Rule::Rest, seen.busy || !offers, || told("not busy".into()))?;
        holds(Rule::Rest, !resting || self.came == 0, || {
            told("not busy within a message".into())
        })?;

        self.told[0] += u32::from(seen.bad);
        self.told[1] += u32::from(seen.error);
        holds(Rule::Reported, self.shown.is_none() || seen.fault == self.shown, || {
            told(format!("fault {:x?} became {:x?}", self.shown, seen.fault))
        })?;
        self.shown = seen.fault.filter(|_| served.is_none());
        if let Some((reason, request)) = seen.fault {
            let why = if request.addr.is_multiple_of(4) {
                self.space.lookup(request)
            } else {
                Err(FAULT_ALIGN as u8)
            };
            match self.serving {
                None => {
                    holds(Rule::Reported, why == Err(reason), || {
                        told(format!("fault {reason} at {request:x?}"))
                    })?;
                    self.serving = Some(now + 1 + self.rng.as_mut().map_or(0, |rng| rng.below(self.service)));
                }
                Some(_) if served.is_some() => {
                    self.serving = None;
                    self.served[usize::from(served == Some(true))] += 1;
                }
                Some(_) => {}
            }
        }
        self.mmu.step(
            seen.request,
            inputs.answer.is_some() && seen.takes_answer,
            now,
            self.rng.as_mut(),
        );
        self.registers.step(
            seen.register.filter(|_| inputs.register_ready),
            inputs.register.is_some() && seen.takes_register,
            now,
            self.rng.as_mut(),
        );
        self.agent.step(Cycle(now), &mut self.memory, &seen.mem, |_| {});

        let flag = self.flags.step(seen.flag).map_err(protocol)?;
        if seen.flag.is_some() || flag.is_some() {
            holds(Rule::Flags, self.flags_due.front() == seen.flag.as_ref(), || {
                told(format!("flag {:x?}, not {:x?}", seen.flag, self.flags_due.front()))
            })?;
        }
        if flag.is_some() {
            self.flags_due.pop_front();
        }
        if let Some(out) = self.sink.step(seen.out).map_err(protocol)? {
            let Some((sent, registers)) = self.due.front() else {
                return holds(Rule::Words, false, || told(format!("{out:x?} of no message")));
            };
            let read = self.registers.total[1];
            holds(Rule::Opens, read >= *registers, || {
                told(format!("{out:x?} when {read} of {registers} registers are read"))
            })?;
            let last = self.came + 1 == sent.words.len();
            let want = (sent.local, last, sent.words[self.came]);
            holds(Rule::Words, out == want, || {
                told(format!("word {}: {out:x?}, not {want:x?}", self.came))
            })?;
            self.came += 1;
            self.last_out = now;
            if last {
                if self.first_out == 0 {
                    self.first_out = now;
                }
                self.flags_due.extend(sent.flag);
                self.due.pop_front();
                self.came = 0;
            }
        }
        let mut mark = |at: usize, is: bool| {
            if is && self.marks[at].is_none() {
                self.marks[at] = Some(now);
            }
        };
        mark(1, seen.mem.rd_cmd_valid);
        mark(3, seen.out.is_some());
        if let Some(word) = self.source.step(seen.ready) {
            mark(0, word.0.end);
            mark(2, true);
        }
        Ok(())
    }

    fn left(&self) -> usize {
        self.source.len() + self.due.len() + self.flags_due.len()
    }

    fn finish(&mut self, limit: u64) -> Result<(), String> {
        let end = self.rig.cycle + limit;
        let mut calm = 0;
        while calm < 30 {
            self.cycle()?;
            calm = if self.left() == 0 && !self.rig.seen().busy {
                calm + 1
            } else {
                0
            };
            holds(Rule::Hang, self.rig.cycle < end, || {
                format!(
                    "{} words and messages left after {limit} cycles: {:x?}",
                    self.left(),
                    self.rig.seen()
                )
            })?;
        }
        holds(Rule::Reported, self.told == self.want, || {
            format!("bad and cut: {:?}, not {:?}", self.told, self.want)
        })
    }
}

/// A command or another message of random content; mostly of the class.
fn any(rng: &mut Rng, class: Class) -> Vec<u32> {
    let made = PAGE_DIRECT_MASK;
    let kinds: &[u32] = match class {
        Class::Request => &[
            KIND_PUT,
            KIND_PUT,
            KIND_PUT | PAGE_SYSTEM_MASK,
            KIND_PUT | PAGE_ROW_MASK,
            KIND_PUT | PAGE_COLUMN_MASK | PAGE_AS_RECEIVE_MASK,
            KIND_PUT | PAGE_AS_SEND_MASK,
            KIND_PUT | PAGE_AS_SEND_MASK | PAGE_ROW_MASK,
            KIND_PUT | PAGE_AS_SEND_MASK | PAGE_SEND_MASK,
            KIND_PUT | PAGE_SEND_MASK,
            KIND_PUT | PAGE_SEND_MASK | PAGE_ROW_MASK | PAGE_SYSTEM_MASK,
            KIND_GET,
            KIND_CSI,
            KIND_FOP,
            made | MADE_LOAD,
            made | MADE_STORE,
        ],
        Class::Reply => &[
            made | MADE_GET_REPLY,
            made | MADE_GET_REPLY,
            made | MADE_GET_REPLY | PAGE_SYSTEM_MASK,
            made | MADE_GET_REPLY | PAGE_AS_SEND_MASK,
            made | MADE_ATOMIC_REPLY,
            made | MADE_LOAD_REPLY,
            made | MADE_STORE_ACK,
        ],
    };
    let kind = match rng.below(12) {
        0 => rng.bits() as u32 & 0xffff,
        _ => kinds[rng.below(kinds.len() as u64) as usize],
    };
    let raw = kind & made != 0 && kind & PAGE_KIND_MASK != MADE_GET_REPLY;
    let count = match rng.below(20) {
        0 => rng.between(1, u64::from(MESSAGE_WORDS)),
        _ if raw => rng.between(1, 4),
        _ => u64::from(COMMAND_WORDS),
    };
    let cell = [0, 1].map(|axis| {
        let size = i64::from(PLACE.size[axis]);
        rng.between(0, 2 * size as u64 - 2) as i64 - (size - 1)
    });
    let registers = kind & PAGE_AS_SEND_MASK != 0;
    let words = match rng.below(8) {
        0 => 0,
        1 if registers => rng.between(100, 300),
        1 => rng.between(1, 2500),
        _ => rng.between(1, 40),
    };
    let stride = |rng: &mut Rng| match rng.below(3) {
        0 => 0,
        1 => (rng.below(5) << 24 | rng.below(9)) as u32,
        _ => (rng.below(256) << 24) as u32 | (rng.below(4000) as u32).wrapping_sub(2000) & 0xff_ffff,
    };
    let addr = |rng: &mut Rng| {
        let odd = if rng.chance(1, 40) { rng.below(4) as u32 } else { 0 };
        // Sometimes where no registers are.
        let most = if registers && !rng.chance(1, 20) { 100 } else { 1 << 20 };
        (rng.below(most) as u32) << 2 | odd
    };
    let flag = |rng: &mut Rng| if rng.chance(1, 3) { 0 } else { rng.bits() as u32 & !3 };
    let at_send = kind & PAGE_SEND_MASK != 0 && kind & made == 0;
    let head = kind << 16 | (cell[0] as u32 & 0xff) << COMMAND_HEAD_DX_SHIFT | cell[1] as u32 & 0xff;
    let length = (rng.below(4096) << 20) as u32 | words as u32;
    let mut message = vec![head, length];
    message.extend(match at_send {
        false => [addr(rng), stride(rng), flag(rng), flag(rng), addr(rng), stride(rng)],
        true => [
            flag(rng),
            flag(rng),
            addr(rng),
            stride(rng),
            rng.bits() as u32,
            rng.bits() as u32,
        ],
    });
    message.resize_with(count as usize, || rng.bits() as u32);
    message
}

const CLASSES: [Class; 2] = [Class::Request, Class::Reply];

/// Random messages; with faults and errors if `ill`.
fn follows<U: Ports<In = Inputs, Out = Outputs>>(
    case: &Case,
    start: &str,
    class: Class,
    gaps: Gaps,
    ill: bool,
    messages: u32,
    probe: &Probe,
) -> Result<(), String> {
    let timing = if gaps == Gaps::None { MemoryTiming::IDEAL } else { SLOW };
    let mut bench = Bench::<U>::new(case, start, class, gaps, timing, probe)?;
    let (mut rng, mut parts) = (case.rng("messages"), case.rng("parts"));
    bench.space.faults = ill;
    bench.registers.wait = !ill;
    if ill {
        for _ in 0..400 {
            let at = rng.below(u64::from(MEMORY) / 4) as u32 * 4;
            bench.memory.inject_fault(at..at + 4);
        }
    }
    for _ in 0..messages {
        bench.give_part(&any(&mut rng, class), parts.chance(1, 2));
    }
    bench.finish(u64::from(messages) * 20_000)?;
    if ill && messages >= 100 {
        assert!(bench.served.iter().all(|&n| n > 0), "faults served: {:?}", bench.served);
    }
    Ok(())
}

/// While hardly a word goes out, registers are read until there is no room for what they hold; then some that there are not.
#[test]
fn registers_wait_for_room() {
    for words in [2, 20] {
        let case = Case::new("ap1000p", "send::registers_wait_for_room", format!("{words} words"));
        case.run(|probe| {
            let mut bench = Bench::<Ap1000pSend>::new(&case, STARTS[0], Class::Request, Gaps::None, SLOW, probe)?;
            bench.sink = Sink::new(Pacer::stopped());
            for (first, words) in [(0, 128), (0, words), (126, 4)] {
                let head = (KIND_PUT | PAGE_AS_SEND_MASK) << 16 | 1;
                bench.give(&[head, words, first * 4, 0, 0, 0, 0x8000, 0]);
            }
            for _ in 0..2_000 {
                bench.cycle()?;
            }
            bench.sink = Sink::new(Pacer::new(true, case.rng("sink")));
            bench.finish(20_000)
        });
    }
}

/// A PUT of so many words from an aligned address, to another cell.
fn put(words: u32, number: u32) -> [u32; 8] {
    [0x0100, words, 0x1000 + number, 0, 0x200, 0x300, 0x8000 + number * 64, 0]
}

/// Messages whose memory fails amid them, each followed by one that is whole.
fn fails_amid<U: Ports<In = Inputs, Out = Outputs>>(case: &Case, probe: &Probe) -> Result<(), String> {
    const WORDS: u32 = 60;
    let mut bench = Bench::<U>::new(case, STARTS[0], CLASSES[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    let owner = AddressSpace {
        context: 0,
        system: false,
    };
    for number in 0..8 {
        // Each word in a place of its own.
        let first = 0x1_0000 + number * 8 * WORDS;
        let at = bench.space.place(owner, first + 8 * (5 + number)).expect("there");
        bench.memory.inject_fault(at..at + 4);
        for addr in [first, 0x8000] {
            let mut command = put(WORDS, 0);
            (command[6], command[7]) = (addr, 1 << 24 | 1);
            bench.give(&command);
        }
    }
    bench.finish(20_000)
}

/// Messages whose memory fails while a page behind that is waited for: its fault is on show until software has served it.
fn fails_before_a_fault<U: Ports<In = Inputs, Out = Outputs>>(case: &Case, probe: &Probe) -> Result<(), String> {
    const MESSAGES: u16 = 60;
    const PAGE: u32 = 4096;
    // Of the first page.
    const WORDS: u32 = 40;
    let mut bench = Bench::<U>::new(case, STARTS[0], CLASSES[0], Gaps::Both, SLOW, probe)?;
    bench.space.faults = true;
    bench.service = 1_000;
    let places = (0..).filter_map(|n: u32| {
        let owner = AddressSpace {
            context: (n >> 4 & 0xfff) as u16,
            system: false,
        };
        let end = (1 + (n & 15)) * PAGE;
        let pages = [end - 4, end].map(|addr| bench.space.page(owner, addr));
        (pages == [Page::There, Page::Away]).then_some((owner, end - 4 * WORDS))
    });
    let places: Vec<(AddressSpace, u32)> = places.take(MESSAGES.into()).collect();
    for (number, &(owner, addr)) in (0..).zip(&places) {
        let at = bench.space.place(owner, addr + 4 * (number % WORDS)).expect("there");
        bench.memory.inject_fault(at..at + 4);
    }
    for (owner, addr) in places {
        let mut command = put(2 * WORDS, 0);
        command[1] |= u32::from(owner.context) << COMMAND_LENGTH_CONTEXT_SHIFT;
        command[6] = addr;
        bench.give(&command);
    }
    bench.finish(200_000)
}

/// The stated rates and latencies, with a memory and an MMU that never wait.
fn rate<U: Ports<In = Inputs, Out = Outputs>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let bench = || Bench::<U>::new(case, STARTS[0], Class::Request, Gaps::None, MemoryTiming::IDEAL, probe);
    let mut first = bench()?;
    first.give(&put(1, 0));
    first.finish(500)?;
    let [end, memory, begin, route] = first.marks.map(|mark| mark.expect("happened"));
    holds(Rule::Latency, memory - end <= 6 && route - begin <= 3, || {
        format!(
            "{} cycles to the memory, {} to the network",
            memory - end,
            route - begin
        )
    })?;

    let mut many = bench()?;
    const COUNT: u32 = 50;
    for number in 0..=COUNT {
        many.give(&put(8, number));
    }
    many.finish(20_000)?;
    let took = many.last_out - many.first_out;
    let words = u64::from(COUNT) * 14;
    holds(Rule::Rate, took == words, || {
        format!("{words} words took {took} cycles")
    })?;

    let mut long = bench()?;
    long.give(&put(5000, 1));
    long.finish(20_000)?;
    let took = long.last_out - long.marks[3].expect("came") + 1;
    // The first word of data waits for the memory, and each further page for its translation.
    holds(Rule::Rate, took <= 5006 + 16, || {
        format!("5006 words took {took} cycles")
    })?;

    // Words each in a place of its own: a message is read ahead to its last word while the one before is still being fetched.
    let scattered = |messages: u32, words: u32| {
        let mut bench = bench()?;
        for number in 0..messages {
            let mut command = put(words, number);
            command[7] = 1 << 24 | 1;
            bench.give(&command);
        }
        bench.finish(50_000)?;
        Ok::<u64, String>(bench.last_out - bench.marks[3].expect("came"))
    };
    let (messages, words) = (20, 16);
    let (apart, one) = (scattered(messages, words)?, scattered(1, messages * words)?);
    // Four cycles for each message that follows, where its words would take eight.
    holds(Rule::Rate, apart <= one + 4 * u64::from(messages - 1), || {
        format!("{messages} messages of {words} words took {apart} cycles, one of as many {one}")
    })?;

    let mut registers = bench()?;
    let mut command = put(128, 1);
    command[0] |= PAGE_AS_SEND_MASK << COMMAND_HEAD_KIND_SHIFT;
    command[6] = 0;
    registers.give(&command);
    registers.finish(2_000)?;
    let took = registers.last_out - registers.marks[0].expect("came");
    holds(Rule::Rate, took <= 4 * 128 + 134 + 16, || {
        format!("128 registers took {took} cycles")
    })
}

#[test]
fn follows_the_model() {
    for start in STARTS {
        for gaps in Gaps::ALL {
            for ill in [false, true] {
                let case = |class| {
                    Case::new(
                        "ap1000p",
                        "send::follows_the_model",
                        format!("{start}, {gaps:?}, {ill}, {class:?}"),
                    )
                };
                case(CLASSES[0])
                    .run(|probe| follows::<Ap1000pSend>(&case(CLASSES[0]), start, CLASSES[0], gaps, ill, 300, probe));
                case(CLASSES[1]).run(|probe| {
                    follows::<Ap1000pSendReply>(&case(CLASSES[1]), start, CLASSES[1], gaps, ill, 300, probe)
                });
            }
        }
    }
}

#[test]
fn rates_and_latencies() {
    let case = Case::new("ap1000p", "send::rates_and_latencies", "");
    case.run(|probe| rate::<Ap1000pSend>(&case, probe));
}

#[test]
fn a_fault_stays_until_it_is_served() {
    let case = Case::new("ap1000p", "send::a_fault_stays_until_it_is_served", "");
    case.run(|probe| fails_before_a_fault::<Ap1000pSend>(&case, probe));
}

#[test]
fn what_was_cut_takes_nothing_from_the_next() {
    let case = Case::new("ap1000p", "send::what_was_cut_takes_nothing_from_the_next", "");
    case.run(|probe| fails_amid::<Ap1000pSend>(&case, probe));
}

/// C6: item sizes and gaps, the word 0 being no stride at all.
#[test]
fn c6_strides() {
    let case = Case::new("ap1000p", "send::c6_strides", "");
    case.run(|probe| {
        let mut bench =
            Bench::<Ap1000pSend>::new(&case, STARTS[0], Class::Request, Gaps::None, MemoryTiming::IDEAL, probe)?;
        for item in [1, 3, 255, 0] {
            for gap in [0, 1, 5000] {
                for words in [1, 2, 255, 256, 257, 1000] {
                    let mut command = put(words, item);
                    command[7] = item << 24 | gap;
                    bench.give(&command);
                }
            }
        }
        bench.finish(2_000_000)
    });
}

/// A reset in mid-flight leaves nothing behind.
#[test]
fn reset_in_flight() {
    let case = Case::new("ap1000p", "send::reset_in_flight", "");
    case.run(|probe| {
        let mut rng = case.rng("messages");
        let class = Class::Request;
        let mut bench = Bench::<Ap1000pSend>::new(&case, STARTS[1], class, Gaps::Both, SLOW, probe)?;
        for _ in 0..40 {
            for _ in 0..10 {
                bench.give(&any(&mut rng, class));
            }
            for _ in 0..rng.below(400) {
                bench.cycle()?;
            }
            bench.reset()?;
        }
        bench.give(&put(100, 1));
        bench.finish(5_000)
    });
}

fn checks<U: Ports<In = Inputs, Out = Outputs>>() -> Vec<Result<(), String>> {
    let case = |what: String| Case::new("ap1000p", "send::each_twin_is_caught", what);
    let probe = Probe::default();
    let mut found = vec![rate::<U>(&case("rate".into()), &probe)];
    for gaps in [Gaps::None, Gaps::Both] {
        for ill in [false, true] {
            let case = case(format!("{gaps:?}, {ill}"));
            found.push(follows::<U>(&case, STARTS[0], CLASSES[0], gaps, ill, 300, &probe));
        }
    }
    found
}

#[test]
fn each_twin_is_caught() {
    let twins: [Twin; 16] = [
        ("Words", &checks::<TwinSendStride>),
        ("Rate", &checks::<TwinSendAhead>),
        ("Flags", &checks::<TwinSendFlag>),
        // Only the cut before last is remembered.
        ("Flags", &checks::<TwinSendMore>),
        // Odd registers for even ones.
        ("Words", &checks::<TwinSendRegister>),
        // An empty register is a word.
        ("Words", &checks::<TwinSendEmpty>),
        ("Opens", &checks::<TwinSendOpens>),
        ("Reported", &checks::<TwinSendReported>),
        // A fault goes before it is served.
        ("Reported", &|| {
            let case = Case::new("ap1000p", "send::each_twin_is_caught", "fails before a fault");
            vec![fails_before_a_fault::<TwinSendServes>(&case, &Probe::default())]
        }),
        ("Rate", &checks::<TwinSendBubble>),
        ("Latency", &checks::<TwinSendLate>),
        ("Protocol", &checks::<TwinSendWithdraws>),
        ("Path", &checks::<TwinSendPath>),
        ("Hang", &checks::<TwinSendStuck>),
        // Its words are taken for those of the next.
        ("Hang", &|| {
            let case = Case::new("ap1000p", "send::each_twin_is_caught", "fails amid");
            vec![fails_amid::<TwinSendDrain>(&case, &Probe::default())]
        }),
        ("Rest", &checks::<TwinSendRest>),
    ];
    each_is_caught(&RULES, &twins);
}

/// C7: that a flag counts before its message has gone is found by the RTL's own assertion.
#[test]
fn c7_an_early_flag_is_asserted() {
    let found = fails(checks::<TwinSendHasty>);
    assert!(found.contains("ap1000p_send.sv"), "{found}");
}
