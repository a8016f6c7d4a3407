//! The send controller against its model: every word on the network and every send flag, with faults and errors on the
//! way.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::Server;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, assertion, each_is_caught, pass, rules};
use tsunagi::Addr;
use tsunagi::ap1000p::golden::Word;
use tsunagi::ap1000p::golden::command::message;
use tsunagi::ap1000p::golden::creg;
use tsunagi::ap1000p::golden::send::{AddressSpace, Origin, Place, Sent, data, send};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink, Source};
use tsunagi::net::torus::Class;
use verilated::{Input as _, Port as _};

use crate::SLOW;
use crate::space::{MEMORY, Mmu, Page, Request, Space};

rules!(
    /// The words on the network are those of the model.
    Words
    /// So are the flags, and none counts before its message has left.
    Flags
    /// A message with registers begins when they are read.
    Opens
    /// Each command is judged once, when its first message has been taken: put back if a translation is missing.
    Judged
    /// What follows a command that was put back goes out.
    Passes
    /// Bad and cut messages are reported once each. A fault is, until software serves it.
    Reported
    /// A word per cycle, from one message to the next.
    Rate
    /// Six cycles to the memory, seven to the network; three without data.
    Latency
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// A page is looked up once in a row of runs, and again after it was forgotten.
    Forgets
    /// Of a message that memory cuts, the pages behind are not read.
    Stops
    /// Every message ends.
    Hang
    /// Busy with an offer and within a message.
    Rest
);

/// A word, whether the next message is of the same command, and the queue.
type Part = (Word, bool, u8);

/// A word on the network: {to the cell itself, last, word}.
type NetWord = (bool, bool, u32);

#[derive(Debug, Default)]
struct In {
    word: Option<Part>,
    /// Queues whose next message ends at the first missing translation.
    lost: u8,
    reply: Option<Result<u32, u8>>,
    mmu_ready: bool,
    forget: bool,
    /// Software serves a fault: whether the unit tries again.
    served: Option<bool>,
    mem: MemPortsOut,
    register_ready: bool,
    /// The word of a register, or `None` for an empty one.
    register: Option<Option<u32>>,
    /// An empty register waits.
    wait: bool,
    flag_ready: bool,
    ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    ready: bool,
    request: Option<Request>,
    takes_reply: bool,
    fault: bool,
    /// The reason and the request of a fault, or of a command that is put back.
    why: (u8, Request),
    settle: u8,
    back: u8,
    mem: MemPortsIn,
    register: Option<u8>,
    takes_register: bool,
    flag: Option<(AddressSpace, u32)>,
    word: Option<NetWord>,
    bad: bool,
    error: bool,
    busy: bool,
}

const PLACE: Place = Place {
    at: [3, 1],
    size: [5, 4],
};

fn set(dut: &impl Ap1000pSendPorts, inputs: &In) {
    dut.x_i().set(PLACE.at[0].into());
    dut.y_i().set(PLACE.at[1].into());
    dut.last_x_i().set((PLACE.size[0] - 1).into());
    dut.last_y_i().set((PLACE.size[1] - 1).into());
    dut.in_valid_i().set_bool(inputs.word.is_some());
    dut.in_end_i().set_bool(inputs.word.is_none_or(|(word, ..)| word.end));
    dut.in_more_i().set_bool(inputs.word.is_none_or(|(_, more, _)| more));
    dut.in_queue_i().set(inputs.word.map_or(3, |(.., queue)| queue).into());
    let data = inputs.word.map_or(0xdead_beef, |(word, ..)| word.data);
    dut.in_data_i().set(data.into());
    dut.lost_i().set(inputs.lost.into());
    dut.req_ready_i().set_bool(inputs.mmu_ready);
    dut.rsp_valid_i().set_bool(inputs.reply.is_some());
    let addr = inputs.reply.and_then(Result::ok).unwrap_or(0xfeed_f00c);
    dut.rsp_addr_i().set(addr.into());
    dut.rsp_fault_i()
        .set(inputs.reply.and_then(Result::err).unwrap_or(0).into());
    dut.forget_i().set_bool(inputs.forget);
    dut.retry_i().set_bool(inputs.served == Some(true));
    dut.abort_i().set_bool(inputs.served == Some(false));
    testbenches::set_read_ports!(dut, &inputs.mem);
    dut.creg_wait_i().set_bool(inputs.wait);
    dut.creg_ready_i().set_bool(inputs.register_ready);
    dut.creg_rsp_valid_i().set_bool(inputs.register.is_some());
    dut.creg_rsp_fault_i().set_bool(inputs.register == Some(None));
    let data = inputs.register.flatten().unwrap_or(0xbad_cafe);
    dut.creg_rsp_data_i().set(data.into());
    dut.flag_ready_i().set_bool(inputs.flag_ready);
    dut.out_ready_i().set_bool(inputs.ready);
}

fn seen(dut: &impl Ap1000pSendPorts) -> Out {
    let request = |context: u64, system: bool, addr: u64| Request {
        owner: AddressSpace {
            context: context as u16,
            system,
        },
        addr: addr as u32,
        write: false,
    };
    let asked = || {
        let system = dut.req_system_o().is_set();
        request(dut.req_context_o().get().into(), system, dut.req_addr_o().get().into())
    };
    let why = {
        let system = dut.why_system_o().is_set();
        request(dut.why_context_o().get().into(), system, dut.why_addr_o().get().into())
    };
    let flag = || {
        let owner = AddressSpace {
            context: dut.flag_context_o().get() as u16,
            system: dut.flag_system_o().is_set(),
        };
        (owner, dut.flag_addr_o().get() as u32)
    };
    let word = || {
        let data = dut.out_data_o().get() as u32;
        (dut.out_local_o().is_set(), dut.out_last_o().is_set(), data)
    };
    Out {
        ready: dut.in_ready_o().is_set(),
        request: dut.req_valid_o().is_set().then(asked),
        takes_reply: dut.rsp_ready_o().is_set(),
        fault: dut.fault_valid_o().is_set(),
        why: (dut.why_reason_o().get() as u8, why),
        settle: dut.settle_o().get() as u8,
        back: dut.back_o().get() as u8,
        mem: testbenches::read_ports!(dut),
        register: dut.creg_valid_o().is_set().then(|| dut.creg_addr_o().get() as u8),
        takes_register: dut.creg_rsp_ready_o().is_set(),
        flag: dut.flag_valid_o().is_set().then(flag),
        word: dut.out_valid_o().is_set().then(word),
        bad: dut.bad_o().is_set(),
        error: dut.error_o().is_set(),
        busy: dut.busy_o().is_set(),
    }
}

/// A controller under test.
struct Sender {
    dut: Dut<In, Out>,
    class: Class,
}

fn requests<U: Ap1000pSendUnit + 'static>() -> Sender {
    Sender {
        dut: Dut::of::<U>(set, seen),
        class: Class::Request,
    }
}

fn replies<U: Ap1000pSendUnit + 'static>() -> Sender {
    Sender {
        class: Class::Reply,
        ..requests::<U>()
    }
}

/// Communication registers. Each read of one gives another word.
struct Registers {
    /// An empty one waits, and is filled in the end. Otherwise some reads fail.
    wait: bool,
    /// Reads of each register, by the model and by the unit.
    planned: [u32; creg::WORDS],
    read: [u32; creg::WORDS],
    /// All reads, by the model and by the unit.
    total: [u64; 2],
    /// The register that the unit reads, whether it is empty, and the first cycle of the reply.
    open: Option<(u8, bool, u64)>,
}

impl Registers {
    fn new(wait: bool) -> Registers {
        Registers {
            wait,
            planned: [0; creg::WORDS],
            read: [0; creg::WORDS],
            total: [0; 2],
            open: None,
        }
    }

    /// The word of this read of a register.
    fn word(&self, register: u8, read: u32) -> Option<u32> {
        let word = (u32::from(register) << 16 | read).wrapping_mul(0x9e37_79b1);
        (self.wait || word >> 8 & 0xf != 0).then_some(word)
    }

    /// A read by the model.
    fn plan(&mut self, register: u8) -> Option<u32> {
        let planned = &mut self.planned[usize::from(register)];
        *planned += 1;
        self.total[0] += 1;
        let read = *planned;
        self.word(register, read)
    }

    fn reply(&self, now: u64) -> Option<Option<u32>> {
        let (register, empty, _) = self.open.filter(|&(.., due)| due <= now)?;
        let word = self.word(register, self.read[usize::from(register)] + 1);
        Some(word.filter(|_| !empty))
    }

    /// The edge: the read that the unit asks for, and whether it takes the reply.
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

/// A command: its queue and its messages.
#[derive(Clone, Debug)]
struct Command {
    queue: usize,
    parts: Vec<Vec<u32>>,
}

/// A message of a command, as it enters.
#[derive(Debug)]
struct Entry {
    words: Vec<u32>,
    queue: usize,
    first: bool,
    more: bool,
}

/// A command that the unit has not judged.
struct Unjudged {
    command: Command,
    /// All of its first message has been taken.
    taken: bool,
    lost: bool,
    /// Whether its first message is due on the network, and cut.
    due: bool,
    cut: bool,
    /// A message of the command before was cut.
    cut_before: bool,
}

/// The first cycles of events.
#[derive(Default)]
struct Marks {
    /// The first word of a command is taken.
    begin: Option<u64>,
    /// The last word of a command is taken.
    end: Option<u64>,
    /// A command to the memory.
    memory: Option<u64>,
    /// A word on the network.
    route: Option<u64>,
    /// A message's last word on the network.
    out: Option<u64>,
}

fn mark(at: &mut Option<u64>, is: bool, now: u64) {
    if is {
        at.get_or_insert(now);
    }
}

/// An instance, the cell, and the messages that are due.
struct Env<'a> {
    bench: Bench<'a, In, Out>,
    class: Class,
    space: Space,
    registers: Registers,
    memory: Memory,
    mem: Server,
    mmu: Mmu,
    /// Pages are forgotten in this cycle.
    forget: bool,
    /// `None`: no unit around waits longer than it must.
    rng: Option<Rng>,
    source: Source<Part>,
    /// Commands to come, the one being put together, and all so far.
    commands: VecDeque<Command>,
    open: Vec<Vec<u32>>,
    given: u32,
    /// Messages on their way in.
    entries: VecDeque<Entry>,
    /// The command whose messages are on their way, and the one to be judged. The other messages of the one before come
    /// to nothing.
    fed: VecDeque<Command>,
    unjudged: Option<Unjudged>,
    dropped: bool,
    amid: bool,
    /// Queues with a command that is fed and not judged; those that wait for software; those whose data are lost.
    busy: u8,
    held: u8,
    lost: u8,
    /// Commands put back: the missing translation, and when software serves it.
    aside: Vec<(Command, Request, u64)>,
    /// Commands put back so far.
    backs: u32,
    sink: Sink<NetWord>,
    flags: Sink<(AddressSpace, u32)>,
    reads: Monitor<u8>,
    /// The messages given, in order, with the registers read until then.
    due: VecDeque<(Sent, u64)>,
    /// Bad and cut messages: reported, and to be reported.
    reported: [u32; 2],
    want: [u32; 2],
    /// A message of the command under way was cut.
    cut: bool,
    /// Words that have come of the message under way.
    came: usize,
    flags_due: VecDeque<(AddressSpace, u32)>,
    /// Most cycles until software serves a fault, and fewest until it serves a command that was put back.
    service: u64,
    late: u64,
    /// The cycle in which software serves the fault that waits.
    serving: Option<u64>,
    /// The fault that waits for software.
    shown: Option<(u8, Request)>,
    marks: Marks,
    /// The last cycle with a word on the network.
    last_out: u64,
    /// Faults given up and retried.
    served: [u32; 2],
}

impl<'a> Env<'a> {
    fn new(run: &Run<'a>, unit: &Sender, gaps: Gaps, timing: MemoryTiming) -> Result<Env<'a>, Fault> {
        let slow = gaps != Gaps::None;
        let mut memory = Memory::new(MEMORY as usize);
        memory.poison(0..MEMORY);
        let mut env = Env {
            bench: Bench::new(run, &unit.dut),
            class: unit.class,
            space: Space::default(),
            registers: Registers::new(true),
            memory,
            mem: Server::new(run, timing, 4, slow),
            mmu: Mmu::default(),
            forget: false,
            rng: slow.then(|| run.rng("delays")),
            source: Source::new([], run.pacer(gaps.at_source(), "source")),
            commands: VecDeque::new(),
            open: Vec::new(),
            given: 0,
            entries: VecDeque::new(),
            fed: VecDeque::new(),
            unjudged: None,
            dropped: false,
            amid: false,
            busy: 0,
            held: 0,
            lost: 0,
            aside: Vec::new(),
            backs: 0,
            sink: Sink::new(run.pacer(gaps.at_sink(), "sink")),
            flags: Sink::new(run.pacer(gaps.at_sink(), "flags")),
            reads: Monitor::default(),
            due: VecDeque::new(),
            reported: [0; 2],
            want: [0; 2],
            cut: false,
            came: 0,
            flags_due: VecDeque::new(),
            service: 50,
            late: 0,
            serving: None,
            shown: None,
            marks: Marks::default(),
            last_out: 0,
            served: [0; 2],
        };
        env.reset()?;
        Ok(env)
    }

    /// With units around that never wait.
    fn ideal(run: &Run<'a>, unit: &Sender) -> Result<Env<'a>, Fault> {
        Env::new(run, unit, Gaps::None, MemoryTiming::IDEAL)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        for _ in 0..2 {
            self.bench.reset(&In::default())?;
        }
        self.mem.reset();
        self.mmu.reset();
        self.source.reset();
        self.source.stop();
        self.sink.reset();
        self.flags.reset();
        self.reads.reset();
        self.registers = Registers::new(self.registers.wait);
        self.due.clear();
        self.flags_due.clear();
        self.commands.clear();
        self.open.clear();
        self.entries.clear();
        self.fed.clear();
        self.aside.clear();
        self.unjudged = None;
        (self.dropped, self.amid) = (false, false);
        (self.busy, self.held, self.lost) = (0, 0, 0);
        (self.reported, self.want) = ([0; 2], [0; 2]);
        (self.came, self.cut) = (0, false);
        (self.serving, self.shown) = (None, None);
        Ok(())
    }

    fn give(&mut self, words: &[u32]) {
        self.give_part(words, false);
    }

    /// A message; the next one is `more` of the same command.
    fn give_part(&mut self, words: &[u32], more: bool) {
        self.open.push(words.to_vec());
        if !more {
            self.close();
        }
    }

    /// The command is whole. Its queue is one whose messages come back, mostly.
    fn close(&mut self) {
        let parts = std::mem::take(&mut self.open);
        if parts.is_empty() {
            return;
        }
        let queue = match (self.class, self.given % 5) {
            (Class::Request, 4) => 1,
            (Class::Request, number) => (number as usize & 1) * 2,
            (Class::Reply, number) => usize::from(number != 4),
        };
        self.given += 1;
        self.commands.push_back(Command { queue, parts });
    }

    /// Whether commands of this queue come back.
    fn returns(&self, queue: usize) -> bool {
        (queue == 1) == (self.class == Class::Reply)
    }

    /// As the queues do: the next command of which no earlier one of its queue may come back.
    fn feed(&mut self) {
        let blocked = self.busy | self.held;
        let next = self
            .commands
            .iter()
            .position(|command| blocked >> command.queue & 1 == 0);
        let Some(command) = next.and_then(|at| self.commands.remove(at)) else {
            return;
        };
        self.busy |= 1 << command.queue;
        let last = command.parts.len() - 1;
        for (number, words) in command.parts.iter().enumerate() {
            let more = number < last;
            for word in message(words) {
                self.source.push((word, more, 1 << command.queue));
            }
            self.entries.push_back(Entry {
                words: words.clone(),
                queue: command.queue,
                first: number == 0,
                more,
            });
        }
        self.fed.push_back(command);
    }

    /// The first word of a message has been taken.
    fn begin(&mut self) -> Result<(), Fault> {
        let entry = self.entries.pop_front().expect("a message comes");
        if !entry.first && self.dropped {
            return Ok(());
        }
        if entry.first {
            Rule::Judged.holds(self.unjudged.is_none(), || {
                "a command enters before the judgement of the one before".into()
            })?;
            self.dropped = false;
        }
        let cut_before = self.cut;
        let lost = entry.first && self.lost >> entry.queue & 1 == 1;
        let mut sent = self.plan(&entry.words, lost);
        self.want[0] += u32::from(sent.bad);
        self.want[1] += u32::from(sent.cut);
        let (is_due, is_cut) = (!sent.words.is_empty(), sent.cut);
        if is_due {
            let cut = self.cut || sent.cut;
            sent.flag = sent.flag.filter(|_| !cut && !entry.more);
            self.cut = entry.more && cut;
            self.due.push_back((sent, self.registers.total[0]));
        }
        if entry.first {
            self.unjudged = Some(Unjudged {
                command: self.fed.pop_front().expect("its command"),
                taken: false,
                lost,
                due: is_due,
                cut: is_cut,
                cut_before,
            });
        }
        Ok(())
    }

    /// The unit judges the command that has entered.
    fn judge(&mut self, now: u64, seen: &Out) -> Result<(), Fault> {
        if seen.settle | seen.back == 0 {
            return Ok(());
        }
        let Some(Unjudged {
            command,
            taken: true,
            lost,
            due,
            cut,
            cut_before,
        }) = self.unjudged.take()
        else {
            return Err(Rule::Judged.broken(format!("{seen:x?} without a command")));
        };
        let bit = 1 << command.queue;
        let data = data(&command.parts[0], self.class).filter(|_| self.returns(command.queue) && !lost);
        self.busy &= !bit;
        if seen.back == 0 {
            Rule::Judged.same("settled queue", bit, seen.settle)?;
            let first = data.and_then(|(owner, mut places)| Some((owner, places.next()?)));
            let there = first.is_none_or(|(owner, addr)| self.space.looks_up(owner, addr).is_ok());
            Rule::Judged.holds(there, || format!("{command:x?} goes out, but its data are not there"))?;
            self.lost &= !bit;
            return Ok(());
        }
        Rule::Judged.same("queue put back", (0, bit), (seen.settle, seen.back))?;
        let (reason, request) = seen.why;
        let Some((owner, mut places)) = data else {
            return Err(Rule::Judged.broken(format!("{command:x?} is put back")));
        };
        let is_its = request.owner == owner && places.any(|place| place == request.addr);
        let missing = self.space.looks_up(request.owner, request.addr) == Err(reason);
        Rule::Judged.holds(is_its && missing, || {
            format!("{command:x?} is put back for {reason} at {request:x?}")
        })?;
        let begun = self.due.len() == 1 && self.came > 0;
        Rule::Words.holds(due && !begun, || format!("{command:x?} is put back and goes out"))?;
        self.due.pop_back();
        self.want[1] -= u32::from(cut);
        self.cut = cut_before;
        self.dropped = true;
        self.held |= bit;
        self.backs += 1;
        let wait = self.rng.as_mut().map_or(0, |rng| rng.below(self.service));
        self.aside.push((command.clone(), request, now + 1 + self.late + wait));
        Ok(())
    }

    /// Software serves the missing translations of commands that were put back; these come again.
    fn serve(&mut self, now: u64) {
        while let Some(at) = self.aside.iter().position(|&(.., at)| at <= now) {
            let (command, request, _) = self.aside.remove(at);
            let retried = self.space.serve(request);
            let bit = 1 << command.queue;
            self.held &= !bit;
            self.lost |= if retried { 0 } else { bit };
            self.served[usize::from(retried)] += 1;
            self.commands.push_front(command);
        }
    }

    /// What a message becomes, by the model.
    fn plan(&mut self, words: &[u32], lost: bool) -> Sent {
        let (space, memory) = (&self.space, &self.memory);
        let registers = &mut self.registers;
        send(words, self.class, PLACE, |origin| match origin {
            Origin::Memory(owner, addr) if lost && space.looks_up(owner, addr).is_err() => None,
            Origin::Memory(owner, addr) => {
                let at = Addr(space.place(owner, addr)?);
                let word = memory.read(at, 4).filter(|_| memory.bus_ok(at, 4))?;
                Some(u32::from_le_bytes(word.try_into().expect("four bytes")))
            }
            Origin::Register(register) => registers.plan(register),
        })
    }

    /// The data of the message under way are read again, but for the first `stay` words.
    fn reads_anew(&mut self, words: &[u32], stay: usize) {
        let anew = self.plan(words, false).words;
        if let Some((sent, _)) = self.due.front_mut() {
            let from = sent.words.len() - words[1] as usize + stay;
            sent.words.truncate(from);
            sent.words.extend(&anew[from..]);
        }
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let due = self.serving.is_some_and(|at| at <= now);
        let fault = Some(self.bench.seen()).filter(|seen| due && seen.fault);
        let fault = fault.map(|seen| seen.why);
        self.serve(now);
        if self.source.is_empty() {
            self.feed();
        }
        let inputs = In {
            word: self.source.offer().copied(),
            lost: self.lost,
            reply: self.mmu.answer(&self.space, now),
            mmu_ready: self.mmu.ready(),
            forget: self.forget || self.rng.as_mut().is_some_and(|rng| rng.chance(1, 30)),
            served: fault.map(|(_, request)| self.space.serve(request)),
            mem: self.mem.ports(),
            register_ready: self.registers.open.is_none() && self.rng.as_mut().is_none_or(|rng| rng.chance(3, 4)),
            register: self.registers.reply(now),
            wait: self.registers.wait,
            flag_ready: self.flags.ready(),
            ready: self.sink.ready(),
        };
        let seen = self.bench.step(&inputs)?;
        self.check(now, &inputs, &seen).map_err(|fault| fault.at(now))
    }

    fn check(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        self.rest(inputs, seen)?;
        self.faults(now, inputs.served, seen)?;
        self.reads.step(seen.register.as_ref(), inputs.register_ready)?;
        let rng = self.rng.as_mut();
        let taken = inputs.reply.is_some() && seen.takes_reply;
        self.mmu.step(seen.request, taken, now, rng);
        let rng = self.rng.as_mut();
        let taken = inputs.register.is_some() && seen.takes_register;
        let asked = seen.register.filter(|_| inputs.register_ready);
        self.registers.step(asked, taken, now, rng);
        self.mem.step(now, &mut self.memory, &seen.mem)?;
        self.flag(seen)?;
        self.judge(now, seen)?;
        if let Some(word) = self.sink.step(seen.word)? {
            self.word(now, word)?;
        }
        mark(&mut self.marks.memory, seen.mem.rd_cmd_valid, now);
        mark(&mut self.marks.route, seen.word.is_some(), now);
        if let Some((word, ..)) = self.source.step(seen.ready) {
            mark(&mut self.marks.begin, true, now);
            mark(&mut self.marks.end, word.end, now);
            if !self.amid {
                self.begin()?;
            }
            self.amid = !word.end;
            if let Some(unjudged) = self.unjudged.as_mut() {
                unjudged.taken |= word.end;
            }
        }
        Ok(())
    }

    fn rest(&self, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let offers = seen.word.is_some() || seen.flag.is_some() || seen.mem.rd_cmd_valid || seen.register.is_some();
        Rule::Rest.holds(seen.busy || !offers, || "not busy with an offer".into())?;
        let idle = self.mmu.ready() && self.registers.open.is_none();
        let resting = !seen.busy && idle && seen.request.is_none() && inputs.word.is_none();
        let within = self.came > 0 || self.unjudged.is_some();
        Rule::Rest.holds(!resting || !within, || "not busy within a message".into())
    }

    fn faults(&mut self, now: u64, served: Option<bool>, seen: &Out) -> Result<(), Fault> {
        self.reported[0] += u32::from(seen.bad);
        self.reported[1] += u32::from(seen.error);
        let fault = seen.fault.then_some(seen.why);
        Rule::Reported.holds(self.shown.is_none() || fault == self.shown, || {
            format!("fault {:x?} became {fault:x?}", self.shown)
        })?;
        self.shown = fault.filter(|_| served.is_none());
        let Some((reason, request)) = fault else {
            return Ok(());
        };
        if self.serving.is_none() {
            let want = self.space.looks_up(request.owner, request.addr);
            Rule::Reported.holds(want == Err(reason), || format!("fault {reason} at {request:x?}"))?;
            let wait = self.rng.as_mut().map_or(0, |rng| rng.below(self.service));
            self.serving = Some(now + 1 + wait);
        } else if let Some(retried) = served {
            self.serving = None;
            self.served[usize::from(retried)] += 1;
        }
        Ok(())
    }

    fn flag(&mut self, seen: &Out) -> Result<(), Fault> {
        let taken = self.flags.step(seen.flag)?;
        if seen.flag.is_some() {
            Rule::Flags.same("flag", self.flags_due.front().copied(), seen.flag)?;
        }
        if taken.is_some() {
            self.flags_due.pop_front();
        }
        Ok(())
    }

    fn word(&mut self, now: u64, word: NetWord) -> Result<(), Fault> {
        let Some((sent, registers)) = self.due.front() else {
            return Err(Rule::Words.broken(format!("{word:x?} of no message")));
        };
        let read = self.registers.total[1];
        Rule::Opens.holds(read >= *registers, || {
            format!("{word:x?} when {read} of {registers} registers are read")
        })?;
        let last = self.came + 1 == sent.words.len();
        let want = (sent.local, last, sent.words[self.came]);
        Rule::Words.same(format_args!("word {}", self.came), want, word)?;
        self.came += 1;
        self.last_out = now;
        if last {
            mark(&mut self.marks.out, true, now);
            self.flags_due.extend(sent.flag);
            self.due.pop_front();
            self.came = 0;
        }
        Ok(())
    }

    /// All messages end, in at most `limit` cycles.
    fn finish(&mut self, limit: u64) -> Result<(), Fault> {
        let end = self.bench.cycle() + limit;
        let mut calm = 0;
        self.close();
        while calm < 30 {
            self.cycle()?;
            let commands = self.commands.len() + self.aside.len() + self.source.len();
            let left = commands + self.due.len() + self.flags_due.len();
            let seen = self.bench.seen();
            calm = if left == 0 && !seen.busy { calm + 1 } else { 0 };
            Rule::Hang.holds(self.bench.cycle() < end, || {
                format!("{left} words and messages left after {limit} cycles: {seen:x?}")
            })?;
        }
        Rule::Reported.same("bad and cut messages", self.want, self.reported)
    }
}

const DIRECT: u32 = PAGE_DIRECT_MASK;

/// A page code, mostly one of the class.
fn kind(rng: &mut Rng, class: Class) -> u32 {
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
            DIRECT | MADE_LOAD,
            DIRECT | MADE_STORE,
        ],
        Class::Reply => &[
            DIRECT | MADE_GET_REPLY,
            DIRECT | MADE_GET_REPLY,
            DIRECT | MADE_GET_REPLY | PAGE_SYSTEM_MASK,
            DIRECT | MADE_GET_REPLY | PAGE_AS_SEND_MASK,
            DIRECT | MADE_ATOMIC_REPLY,
            DIRECT | MADE_LOAD_REPLY,
            DIRECT | MADE_STORE_ACK,
        ],
    };
    match rng.below(12) {
        0 => rng.bits() as u32 & 0xffff,
        _ => kinds[rng.below(kinds.len() as u64) as usize],
    }
}

/// A command or another message of random content; mostly of the class.
fn any(rng: &mut Rng, class: Class) -> Vec<u32> {
    let kind = kind(rng, class);
    let raw = kind & DIRECT != 0 && kind & PAGE_KIND_MASK != MADE_GET_REPLY;
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
        // Sometimes beyond the registers.
        let most = if registers && !rng.chance(1, 20) { 100 } else { 1 << 20 };
        (rng.below(most) as u32) << 2 | odd
    };
    let flag = |rng: &mut Rng| if rng.chance(1, 3) { 0 } else { rng.bits() as u32 & !3 };
    let at_send = kind & PAGE_SEND_MASK != 0 && kind & DIRECT == 0;
    let head = kind << 16 | (cell[0] as u32 & 0xff) << COMMAND_HEAD_DX_SHIFT | cell[1] as u32 & 0xff;
    let length = (rng.below(4096) << 20) as u32 | words as u32;
    let mut message = vec![head, length];
    if at_send {
        message.extend([flag(rng), flag(rng), addr(rng), stride(rng)]);
        message.extend([rng.bits() as u32, rng.bits() as u32]);
    } else {
        message.extend([addr(rng), stride(rng), flag(rng), flag(rng), addr(rng), stride(rng)]);
    }
    message.resize_with(count as usize, || rng.bits() as u32);
    message
}

/// A PUT of so many words from an aligned address, to another cell.
fn put(words: u32, number: u32) -> [u32; 8] {
    [0x0100, words, 0x1000 + number, 0, 0x200, 0x300, 0x8000 + number * 64, 0]
}

/// The words lie each in a place of its own.
const SCATTERED: u32 = 1 << 24 | 1;

/// Random messages; with faults and errors if `ill`. Others leave the unit able to end a cut one soon.
fn follows(unit: &Sender, starts: &[Start], gaps: &[Gaps], cases: &mut Cases) {
    const MESSAGES: u32 = 300;
    for &gaps in gaps {
        for ill in [false, true] {
            let timing = if gaps == Gaps::None { MemoryTiming::IDEAL } else { SLOW };
            cases.from_each(starts, format!("{} {gaps:?} ill {ill}", unit.dut.name), |run| {
                let mut env = Env::new(run, unit, gaps, timing)?;
                let (mut rng, mut parts) = (run.rng("messages"), run.rng("parts"));
                env.space.faults = ill;
                env.registers.wait = !ill;
                for _ in 0..if ill { 400 } else { 0 } {
                    let at = rng.below(u64::from(MEMORY) / 4) as u32 * 4;
                    env.memory.inject_fault(at..at + 4);
                }
                for _ in 0..MESSAGES {
                    env.give_part(&any(&mut rng, unit.class), parts.chance(1, 2));
                }
                env.finish(u64::from(MESSAGES) * 20_000)?;
                let served = env.served;
                assert!(!ill || served.iter().all(|&n| n > 0), "faults served: {served:?}");
                match unit.class {
                    Class::Request if !ill => stops(&mut env),
                    _ => Ok(()),
                }
            });
        }
    }
}

/// Pages move and are forgotten once, in each cycle from before the lookup's response on. What is offered then stays;
/// everything behind it is looked up again, and read in the new place.
fn forgets(unit: &Sender, cases: &mut Cases) {
    const WORDS: u64 = 6;
    // The response comes in the cycle before the first run, and a run takes two cycles.
    const RESPONSE: u64 = 2;
    let offered = |cycle: u64| (cycle.saturating_sub(RESPONSE - 1) / 2).min(WORDS);
    cases.case(Start::Random1, format!("{} forgets", unit.dut.name), |run| {
        let lookups = |amid: Option<u64>| {
            let mut env = Env::ideal(run, unit)?;
            let mut command = put(WORDS as u32, 0);
            command[7] = SCATTERED;
            env.give(&command);
            while env.mmu.lookups == 0 && env.bench.cycle() < 100 {
                env.cycle()?;
            }
            for cycle in 0..40 {
                env.forget = amid == Some(cycle);
                env.cycle()?;
                if env.forget {
                    let stay = offered(cycle) as usize;
                    env.space.moved = true;
                    env.reads_anew(&command, stay);
                }
            }
            env.forget = false;
            env.finish(500)?;
            Ok::<_, Fault>(env.mmu.lookups)
        };
        Rule::Forgets.same("lookups of a page", 1, lookups(None)?)?;
        let after: Vec<u32> = (0..40).map(|cycle| lookups(Some(cycle))).collect::<Result<_, _>>()?;
        let again = after.iter().take_while(|lookups| **lookups == 2).count();
        let last = (0..).find(|&cycle| offered(cycle) == WORDS).expect("it grows");
        Rule::Forgets.holds(
            again as u64 == last && after[again..].iter().all(|lookups| *lookups == 1),
            || format!("lookups of a page that is forgotten in the cycles of a transfer: {after:?}"),
        )
    });
}

/// Hardly a word goes out, and registers are read until there is no room for their words; then some that do not exist.
fn room(unit: &Sender, cases: &mut Cases) {
    for words in [2, 20] {
        cases.case(Start::Random1, format!("{} {words} words", unit.dut.name), |run| {
            let mut env = Env::new(run, unit, Gaps::None, SLOW)?;
            env.sink = Sink::new(Pacer::stopped());
            for (first, words) in [(0, 128), (0, words), (126, 4)] {
                let head = (KIND_PUT | PAGE_AS_SEND_MASK) << 16 | 1;
                env.give(&[head, words, first * 4, 0, 0, 0, 0x8000, 0]);
            }
            for _ in 0..2_000 {
                env.cycle()?;
            }
            env.sink = Sink::new(run.pacer(true, "sink"));
            env.finish(20_000)
        });
    }
}

/// Messages with a memory error in their middle, each followed by a whole one.
fn fails_amid(unit: &Sender, cases: &mut Cases) {
    const WORDS: u32 = 60;
    let owner = AddressSpace {
        context: 0,
        system: false,
    };
    cases.case(Start::Random1, format!("{} fails amid", unit.dut.name), |run| {
        let mut env = Env::ideal(run, unit)?;
        for number in 0..8 {
            let first = 0x1_0000 + number * 8 * WORDS;
            let at = env.space.place(owner, first + 8 * (5 + number)).expect("there");
            env.memory.inject_fault(at..at + 4);
            for addr in [first, 0x8000] {
                let mut command = put(WORDS, 0);
                (command[6], command[7]) = (addr, SCATTERED);
                env.give(&command);
            }
        }
        env.finish(20_000)
    });
}

/// A message of many pages meets a memory error in its first word, and ends soon.
fn stops(env: &mut Env) -> Result<(), Fault> {
    const PAGES: u32 = 40;
    let owner = AddressSpace {
        context: 0,
        system: false,
    };
    let mut long = put(PAGES * 1024, 0);
    long[6] = 0x1_0000;
    let at = env.space.place(owner, long[6]).expect("there");
    env.memory.inject_fault(at..at + 4);
    let before = env.mmu.lookups;
    env.give(&long);
    env.finish(400_000)?;
    let pages = env.mmu.lookups - before;
    // Those whose words are under way.
    Rule::Stops.holds(pages < 12, || format!("{pages} of {PAGES} pages were looked up"))
}

/// Messages with a memory error while the unit waits for a later page: the fault of that page stays until software has
/// served it.
fn fails_before_a_fault(unit: &Sender, cases: &mut Cases) {
    const MESSAGES: u16 = 30;
    const PAGE: u32 = 4096;
    /// Words in the first page. All of the second follow: its run waits for room, so the message goes out.
    const WORDS: u32 = 40;
    cases.case(
        Start::Random1,
        format!("{} fails before a fault", unit.dut.name),
        |run| {
            let mut env = Env::new(run, unit, Gaps::Both, SLOW)?;
            env.space.faults = true;
            env.service = 1_000;
            let places = (0..).filter_map(|n: u32| {
                let owner = AddressSpace {
                    context: (n >> 4 & 0xfff) as u16,
                    system: false,
                };
                let end = (1 + (n & 15)) * PAGE;
                let pages = [end - 4, end, end + PAGE].map(|addr| env.space.page(owner, addr));
                (pages == [Page::There, Page::There, Page::Away]).then_some((owner, end - 4 * WORDS))
            });
            let places: Vec<(AddressSpace, u32)> = places.take(MESSAGES.into()).collect();
            for (number, &(owner, addr)) in (0..).zip(&places) {
                let at = env.space.place(owner, addr + 4 * (number % WORDS)).expect("there");
                env.memory.inject_fault(at..at + 4);
            }
            for (owner, addr) in places {
                let mut command = put(2 * WORDS + PAGE / 4, 0);
                command[1] |= u32::from(owner.context) << COMMAND_LENGTH_CONTEXT_SHIFT;
                command[6] = addr;
                env.give(&command);
            }
            env.finish(400_000)?;
            assert!(env.served.iter().sum::<u32>() > env.backs, "no fault behind the start");
            Ok(())
        },
    );
}

/// The stated latency, with a memory and an MMU that never wait.
fn latency(unit: &Sender, cases: &mut Cases) {
    cases.case(Start::Random1, format!("{} latency", unit.dut.name), |run| {
        let mut env = Env::ideal(run, unit)?;
        env.give(&put(1, 0));
        env.finish(500)?;
        let Marks {
            begin,
            end,
            memory,
            route,
            ..
        } = env.marks;
        let [begin, end, memory, route] = [begin, end, memory, route].map(|mark| mark.expect("happened"));
        let (memory, route) = (memory - end, route - end);
        Rule::Latency.holds(memory <= 6 && route <= 7, || {
            format!("{memory} cycles to the memory, {route} to the network, {begin}")
        })
    });
    cases.case(
        Start::Random1,
        format!("{} latency without data", unit.dut.name),
        |run| {
            let mut env = Env::ideal(run, unit)?;
            let mut command = put(1, 0);
            command[0] |= KIND_GET << COMMAND_HEAD_KIND_SHIFT;
            env.give(&command);
            env.finish(500)?;
            let [begin, route] = [env.marks.begin, env.marks.route].map(|mark| mark.expect("happened"));
            Rule::Latency.holds(route - begin <= 3, || {
                format!("{} cycles to the network", route - begin)
            })
        },
    );
}

/// A command whose page is missing lies behind another one, which may be long. The commands of other queues pass it.
/// Software serves it afterwards.
fn passes(unit: &Sender, cases: &mut Cases) {
    const PAGE: u32 = 4096;
    const LATE: u64 = 10_000;
    let owner = |context| AddressSpace { context, system: false };
    let command = |context: u16, words: u32, addr: u32| {
        let mut command = put(words, 0);
        command[1] |= u32::from(context) << COMMAND_LENGTH_CONTEXT_SHIFT;
        command[6] = addr;
        command
    };
    for (pages, words) in [(1, 1), (2, 1), (2, 3000)] {
        let params = format!("{} passes, page {pages} behind {words} words", unit.dut.name);
        cases.case(Start::Random1, params, |run| {
            let mut env = Env::ideal(run, unit)?;
            env.space.faults = true;
            env.late = LATE;
            let is = |page, context, number| env.space.page(owner(context), number * PAGE) == page;
            let there = (0..).find(|&context| (1..8).all(|number| is(Page::There, context, number)));
            let away =
                (0..).find(|&context| (1..=pages).all(|number| is(Page::There, context, number) != (number == pages)));
            let (there, away) = (there.expect("one of 4096"), away.expect("one of 4096"));
            let away_at = pages * PAGE;
            let amid = 4 * 40 * (pages - 1);
            env.give(&command(there, words, PAGE));
            env.give(&command(away, amid / 4 + 1, away_at - amid));
            for _ in 0..3 {
                env.give(&command(there, 5, PAGE));
            }
            for _ in 0..words + 300 {
                env.cycle()?;
            }
            let waiting = (env.backs, env.due.len() + env.commands.len(), env.served);
            // The last one is of the same queue.
            Rule::Passes.same("put back, waiting, served", (1, 1, [0; 2]), waiting)?;
            env.finish(2 * LATE)
        });
    }
}

/// Cycles from the first word on the network to the last, of these messages.
fn span(run: &Run, unit: &Sender, messages: impl IntoIterator<Item = [u32; 8]>) -> Result<u64, Fault> {
    let mut env = Env::ideal(run, unit)?;
    messages.into_iter().for_each(|message| env.give(&message));
    env.finish(50_000)?;
    Ok(env.last_out - env.marks.route.expect("a word went out"))
}

/// The stated rates, with a memory and an MMU that never wait.
fn rate(unit: &Sender, cases: &mut Cases) {
    let name = unit.dut.name;
    cases.case(Start::Random1, format!("{name} rate of many"), |run| {
        const COUNT: u32 = 50;
        let mut env = Env::ideal(run, unit)?;
        (0..=COUNT).for_each(|number| env.give(&put(8, number)));
        env.finish(20_000)?;
        let took = env.last_out - env.marks.out.expect("a message went out");
        let words = u64::from(COUNT) * 14;
        Rule::Rate.holds(took == words, || format!("{words} words took {took} cycles"))
    });
    cases.case(Start::Random1, format!("{name} rate of a long one"), |run| {
        let took = span(run, unit, [put(5000, 1)])? + 1;
        // The first word of data waits for the memory, and each further page for its translation.
        Rule::Rate.holds(took <= 5006 + 16, || format!("5006 words took {took} cycles"))
    });
    // The unit reads a message ahead to its last word while it still fetches the one before.
    cases.case(Start::Random1, format!("{name} rate of scattered words"), |run| {
        let (messages, words) = (20, 16);
        let scattered = |messages: u32, words: u32| {
            let message = |number| {
                let mut command = put(words, number);
                command[7] = SCATTERED;
                command
            };
            span(run, unit, (0..messages).map(message))
        };
        let (apart, one) = (scattered(messages, words)?, scattered(1, messages * words)?);
        // Ten cycles for each further message: four for its translation, six for the header, which waits for the first
        // runs. Its words would take eight more.
        Rule::Rate.holds(apart <= one + 10 * u64::from(messages - 1), || {
            format!("{messages} messages of {words} words took {apart} cycles, a single one {one}")
        })
    });
    cases.case(Start::Random1, format!("{name} rate of registers"), |run| {
        let mut env = Env::ideal(run, unit)?;
        let mut command = put(128, 1);
        command[0] |= PAGE_AS_SEND_MASK << COMMAND_HEAD_KIND_SHIFT;
        command[6] = 0;
        env.give(&command);
        env.finish(2_000)?;
        let took = env.last_out - env.marks.end.expect("the command was taken");
        Rule::Rate.holds(took <= 4 * 128 + 134 + 16, || {
            format!("128 registers took {took} cycles")
        })
    });
}

#[test]
fn follows_the_model() {
    pass(this_test!(), |cases| {
        for unit in [requests::<Ap1000pSend>(), replies::<Ap1000pSendReply>()] {
            follows(&unit, &Start::RANDOM, &Gaps::ALL, cases);
        }
    });
}

#[test]
fn a_page_that_is_forgotten_is_looked_up_again() {
    pass(this_test!(), |cases| forgets(&requests::<Ap1000pSend>(), cases));
}

#[test]
fn registers_wait_for_room() {
    pass(this_test!(), |cases| room(&requests::<Ap1000pSend>(), cases));
}

#[test]
fn rates_and_latencies() {
    let unit = requests::<Ap1000pSend>();
    pass(this_test!(), |cases| {
        latency(&unit, cases);
        rate(&unit, cases);
    });
}

#[test]
fn a_fault_stays_until_it_is_served() {
    pass(this_test!(), |cases| {
        fails_before_a_fault(&requests::<Ap1000pSend>(), cases);
    });
}

#[test]
fn others_pass_what_is_put_back() {
    pass(this_test!(), |cases| passes(&requests::<Ap1000pSend>(), cases));
}

#[test]
fn a_cut_message_takes_nothing_from_the_next() {
    pass(this_test!(), |cases| fails_amid(&requests::<Ap1000pSend>(), cases));
}

/// C6: item sizes and gaps. The word 0 stands for no stride.
#[test]
fn c6_strides() {
    let unit = requests::<Ap1000pSend>();
    pass(this_test!(), |cases| {
        cases.case(Start::Random1, unit.dut.name, |run| {
            let mut env = Env::ideal(run, &unit)?;
            for item in [1, 3, 255, 0] {
                for gap in [0, 1, 5000] {
                    for words in [1, 2, 255, 256, 257, 1000] {
                        let mut command = put(words, item);
                        command[7] = item << 24 | gap;
                        env.give(&command);
                    }
                }
            }
            env.finish(2_000_000)
        });
    });
}

/// A reset loses all messages inside, and nothing of them remains.
#[test]
fn reset_in_flight() {
    let unit = requests::<Ap1000pSend>();
    pass(this_test!(), |cases| {
        cases.case(Start::Random2, unit.dut.name, |run| {
            let mut rng = run.rng("messages");
            let mut env = Env::new(run, &unit, Gaps::Both, SLOW)?;
            for _ in 0..40 {
                for _ in 0..10 {
                    env.give(&any(&mut rng, unit.class));
                }
                for _ in 0..rng.below(400) {
                    env.cycle()?;
                }
                env.reset()?;
            }
            env.give(&put(100, 1));
            env.finish(5_000)
        });
    });
}

fn checks(unit: &Sender, cases: &mut Cases) {
    latency(unit, cases);
    rate(unit, cases);
    follows(unit, &[Start::Random1], &[Gaps::None, Gaps::Both], cases);
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A stride of zero is an item of zero words.
            (Words, &[], &|cases| checks(&requests::<TwinSendStride>(), cases)),
            // What was forgotten amid a lookup is remembered for a cycle.
            (Forgets, &[], &|cases| forgets(&requests::<TwinSendForgets>(), cases)),
            // What is forgotten as the response comes is used for a run.
            (Words, &[], &|cases| forgets(&requests::<TwinSendStale>(), cases)),
            // What is forgotten just before a run is offered is known to the runs behind it, or to this one.
            (Words, &[], &|cases| forgets(&requests::<TwinSendKnows>(), cases)),
            (Words, &[], &|cases| forgets(&requests::<TwinSendOld>(), cases)),
            // A mark that waits is counted in each cycle.
            (Stops, &[], &|cases| checks(&requests::<TwinSendStops>(), cases)),
            // The next message waits for the fetches of the one before.
            (Rate, &[], &|cases| checks(&requests::<TwinSendAhead>(), cases)),
            // The flag of a cut message counts.
            (Flags, &[], &|cases| checks(&requests::<TwinSendFlag>(), cases)),
            // Only the cut before last is remembered.
            (Flags, &[], &|cases| checks(&requests::<TwinSendMore>(), cases)),
            // Odd registers instead of even ones.
            (Words, &[], &|cases| checks(&requests::<TwinSendRegister>(), cases)),
            // An empty register gives a word.
            (Words, &[], &|cases| checks(&requests::<TwinSendEmpty>(), cases)),
            (Opens, &[], &|cases| checks(&requests::<TwinSendOpens>(), cases)),
            // A command is settled with its first word.
            (Judged, &[], &|cases| checks(&requests::<TwinSendSettles>(), cases)),
            // One that has lost its data is put back again.
            (Judged, &[], &|cases| checks(&requests::<TwinSendLost>(), cases)),
            // The other messages of a command that was put back go out.
            (Words, &[], &|cases| checks(&requests::<TwinSendOthers>(), cases)),
            // A command that was put back goes out.
            (Words, &[], &|cases| checks(&requests::<TwinSendGoes>(), cases)),
            // Its data go out with the next.
            (Words, &[], &|cases| checks(&requests::<TwinSendLeftover>(), cases)),
            // Its flag counts when it has come again, and before.
            (Flags, &[], &|cases| checks(&requests::<TwinSendBackFlag>(), cases)),
            // Each command is good at once, and its fault holds the unit.
            (Passes, &[Judged], &|cases| passes(&requests::<TwinSendHolds>(), cases)),
            // A run that waits makes a message good, though it is the first.
            (Passes, &[], &|cases| passes(&requests::<TwinSendHurries>(), cases)),
            // A command of too few words is not reported.
            (Reported, &[], &|cases| checks(&requests::<TwinSendReported>(), cases)),
            // A fault ends before software serves it.
            (Reported, &[], &|cases| {
                fails_before_a_fault(&requests::<TwinSendServes>(), cases)
            }),
            (Rate, &[], &|cases| checks(&requests::<TwinSendBubble>(), cases)),
            // Each translation takes a cycle more, and scattered words come late as well.
            (Latency, &[Rate], &|cases| checks(&requests::<TwinSendLate>(), cases)),
            (Protocol, &[], &|cases| checks(&requests::<TwinSendWithdraws>(), cases)),
            (Path, &[], &|cases| checks(&requests::<TwinSendPath>(), cases)),
            // Notes of messages without a flag stay.
            (Hang, &[], &|cases| checks(&requests::<TwinSendStuck>(), cases)),
            // The words after a cut are taken for the next message's.
            (Hang, &[], &|cases| fails_amid(&requests::<TwinSendDrain>(), cases)),
            (Rest, &[], &|cases| checks(&requests::<TwinSendRest>(), cases)),
        ],
    );
}

/// C7: an assertion of the RTL finds a flag that counts before its message has left.
#[test]
fn c7_a_twin_with_an_early_flag_is_asserted() {
    let unit = requests::<TwinSendHasty>();
    let found = assertion(this_test!(), |cases| checks(&unit, cases));
    assert!(found.contains("ap1000p_send.sv"), "{found}");
}
