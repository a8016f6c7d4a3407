//! The word unit against its model: it executes requests in the order in which it takes them, one after the other.

use std::array::from_fn;
use std::ops::Range;

use support::this_test;
use testbenches::mem::Server;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::mmu::Lookup;
use tsunagi::ap1000p::golden::word::{Failed, Op, Request, perform};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Source};
use verilated::{Input as _, Port as _};

use crate::SLOW;
use crate::pages::{Around, FLAGS, Mmu, MmuPorts, Service, Software, mmu_lookup, set_mmu_ports};

rules!(
    /// The reply goes to its client, with the word as it was before.
    Answer
    /// The words in memory.
    Memory
    /// A request that was given up or met a bus error, in the reply and by pulses.
    Failed
    /// The reason and the lookup of a fault.
    Fault
    /// Each other client passes a client that waits at most once.
    Fair
    /// Eleven cycles for a flag.
    Rate
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// Every request ends.
    Hang
    /// Busy while a request is open, and not for ever.
    Rest
);

const CLIENTS: usize = 4;

#[derive(Debug, Default)]
struct In {
    requests: [Option<Request>; CLIENTS],
    mmu: MmuPorts,
    service: Service,
    mem: MemPortsOut,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Answer {
    /// A bit for each client.
    clients: u8,
    old: u32,
    given_up: bool,
    bus: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    ready: u8,
    answer: Option<Answer>,
    given_up: bool,
    bus_error: bool,
    lookup: Option<Lookup>,
    takes_reply: bool,
    fault: Option<(u8, Lookup)>,
    mem: MemPortsIn,
    busy: bool,
}

/// The other inputs of a client without a request.
const JUNK: Request = Request {
    op: Op::Write,
    context: 0xaaa,
    system: true,
    physical: true,
    addr: 0x5554,
    strb: 0xf,
    a: 0xdead,
    b: 0xbeef,
};

fn set(dut: &impl Ap1000pWordPorts, inputs: &In) {
    for (client, request) in inputs.requests.iter().enumerate() {
        dut.req_valid_i().set_bits(client, 1, request.is_some().into());
        let request = request.unwrap_or(JUNK);
        dut.req_op_i().set_bits(3 * client, 3, request.op as u64);
        dut.req_context_i().set_bits(12 * client, 12, request.context.into());
        dut.req_system_i().set_bits(client, 1, request.system.into());
        dut.req_physical_i().set_bits(client, 1, request.physical.into());
        dut.req_addr_i().set_bits(32 * client, 32, request.addr.into());
        dut.req_strb_i().set_bits(4 * client, 4, request.strb.into());
        dut.req_a_i().set_bits(32 * client, 32, request.a.into());
        dut.req_b_i().set_bits(32 * client, 32, request.b.into());
    }
    set_mmu_ports!(dut, &inputs.mmu, &inputs.service);
    tsunagi::harness::set_mem_ports!(dut, &inputs.mem);
}

fn seen(dut: &impl Ap1000pWordPorts) -> Out {
    let answer = || Answer {
        clients: dut.rsp_valid_o().get() as u8,
        old: dut.rsp_old_o().get() as u32,
        given_up: dut.rsp_fault_o().is_set(),
        bus: dut.rsp_err_o().is_set(),
    };
    let fault = || Lookup {
        context: dut.fault_context_o().get() as u16,
        addr: dut.fault_addr_o().get() as u32,
        write: dut.fault_write_o().is_set(),
        system: dut.fault_system_o().is_set(),
    };
    let faults = dut.fault_valid_o().is_set();
    Out {
        ready: dut.req_ready_o().get() as u8,
        answer: dut.rsp_valid_o().is_set().then(answer),
        given_up: dut.given_up_o().is_set(),
        bus_error: dut.bus_error_o().is_set(),
        lookup: mmu_lookup!(dut),
        takes_reply: dut.mmu_rsp_ready_o().is_set(),
        fault: faults.then(|| (dut.fault_reason_o().get() as u8, fault())),
        mem: tsunagi::harness::mem_ports!(dut),
        busy: dut.busy_o().is_set(),
    }
}

type WordUnit = Dut<In, Out>;

fn word<U: Ap1000pWordUnit + 'static>() -> WordUnit {
    Dut::of::<U>(set, seen)
}

/// A range with bus errors.
const BAD: Range<u32> = 0x8100..0x8180;

/// An instance, its clients, and the cell.
struct Env<'a> {
    bench: Bench<'a, In, Out>,
    clients: [Source<Request>; CLIENTS],
    mmu: Mmu,
    software: Software,
    mem: Server,
    real: Around,
    model: Around,
    /// Requests of others that were taken while this client waited.
    passed: [u32; CLIENTS],
    /// The request under way, and its client.
    open: Option<(usize, Request)>,
    /// Cycles in which requests were taken.
    taken: Vec<u64>,
}

impl<'a> Env<'a> {
    fn new(run: &Run<'a>, dut: &WordUnit, gaps: Gaps, timing: MemoryTiming) -> Result<Env<'a>, Fault> {
        let slow = gaps != Gaps::None;
        let pacer = |client| run.pacer(gaps.at_source(), &format!("client {client}"));
        let mut env = Env {
            bench: Bench::new(run, dut),
            clients: from_fn(|client| Source::new([], pacer(client))),
            mmu: Mmu::new(run, slow),
            software: Software::new(run, slow),
            mem: Server::new(run, timing, 4, slow),
            real: Around::new(&[BAD]),
            model: Around::new(&[BAD]),
            passed: [0; CLIENTS],
            open: None,
            taken: Vec::new(),
        };
        env.reset()?;
        Ok(env)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        for _ in 0..3 {
            self.bench.reset(&In::default())?;
        }
        self.clients.iter_mut().for_each(Source::reset);
        self.mmu.reset();
        self.mem.reset();
        self.model.memory = self.real.memory.clone();
        (self.passed, self.open) = ([0; CLIENTS], None);
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let fault = self.bench.seen().fault.map(|(_, lookup)| lookup);
        let inputs = In {
            requests: from_fn(|client| self.clients[client].offer().copied()),
            mmu: self.mmu.ports(now),
            service: self.software.step(fault, &mut self.mmu),
            mem: self.mem.ports(),
        };
        let seen = self.bench.step(&inputs)?;
        self.check(now, &inputs, &seen).map_err(|fault| fault.at(now))
    }

    fn check(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        self.faults(seen)?;
        self.mmu.step(now, seen.lookup, seen.takes_reply)?;
        self.mem.step(now, &mut self.real.memory, &seen.mem)?;
        Rule::Rest.holds(seen.busy || self.open.is_none(), || "not busy".into())?;
        if let Some(answer) = seen.answer {
            self.answered(answer)?;
        }
        let want = seen
            .answer
            .map_or((false, false), |answer| (answer.given_up, answer.bus));
        let pulses = (seen.given_up, seen.bus_error);
        Rule::Failed.same("pulses", want, pulses)?;
        let waiting = inputs.requests.map(|request| request.is_some());
        for client in 0..CLIENTS {
            if let Some(request) = self.clients[client].step(seen.ready >> client & 1 != 0) {
                self.taken.push(now);
                self.takes(client, request, waiting)?;
            }
        }
        Ok(())
    }

    fn faults(&self, seen: &Out) -> Result<(), Fault> {
        let Some(fault) = seen.fault else {
            return Ok(());
        };
        let want = self.open.and_then(|(_, request)| {
            let lookup = Lookup {
                context: request.context,
                addr: request.addr,
                write: request.op != Op::Read,
                system: request.system,
            };
            let reason = match request.addr.is_multiple_of(4) {
                true => self.mmu.fault.map(|(reason, _)| reason),
                false => Some(FAULT_ALIGN as u8),
            };
            Some((reason?, lookup))
        });
        Rule::Fault.same("fault", want, Some(fault))
    }

    fn takes(&mut self, client: usize, request: Request, waiting: [bool; CLIENTS]) -> Result<(), Fault> {
        Rule::Answer.holds(self.open.is_none(), || {
            format!("takes {request:x?} within {:x?}", self.open)
        })?;
        self.open = Some((client, request));
        for (other, passed) in self.passed.iter_mut().enumerate() {
            *passed = if waiting[other] && other != client {
                *passed + 1
            } else {
                0
            };
            Rule::Fair.holds(*passed < CLIENTS as u32, || {
                format!("client {other} is passed over {passed} times")
            })?;
        }
        Ok(())
    }

    fn answered(&mut self, answer: Answer) -> Result<(), Fault> {
        let Some((client, request)) = self.open.take() else {
            return Err(Rule::Answer.broken(format!("{answer:x?} without a request")));
        };
        Rule::Answer.same(format_args!("clients of {request:x?}"), 1 << client, answer.clients)?;
        let got = match (answer.given_up, answer.bus) {
            (true, _) => Err(Failed::GivenUp),
            (_, true) => Err(Failed::Bus),
            _ => Ok(()),
        };
        let want = perform(&mut self.model, &request);
        Rule::Failed.same(format_args!("end of {request:x?}"), want.map(drop), got)?;
        if let Ok(old) = want
            && request.op != Op::Write
        {
            Rule::Answer.same(format_args!("word before {request:x?}"), old, answer.old)?;
        }
        match self.real.difference(&self.model) {
            None => Ok(()),
            Some((at, got, want)) => {
                Err(Rule::Memory.broken(format!("{request:x?}: {at:#x} is {got:#x}, not {want:#x}")))
            }
        }
    }

    fn finish(&mut self) -> Result<(), Fault> {
        let end = self.bench.cycle() + 200_000;
        while self.open.is_some() || self.clients.iter().any(|client| !client.is_empty()) {
            self.cycle()?;
            Rule::Hang.holds(self.bench.cycle() < end, || format!("{:x?}", self.open))?;
        }
        self.cycle()?;
        Rule::Rest.holds(!self.bench.seen().busy, || "busy after the last answer".into())
    }
}

/// A request for one of a few words, so that requests meet.
fn request(rng: &mut Rng) -> Request {
    let op = Op::ALL[rng.below(5) as usize];
    let word = |rng: &mut Rng| match rng.chance(1, 2) {
        true => rng.below(3) as u32,
        false => rng.bits() as u32,
    };
    let page = match rng.below(12) {
        page @ 0..=10 => page as u32,
        _ => FLAGS,
    };
    let physical = rng.chance(1, 3);
    let addr = match rng.below(24) {
        0 => rng.bits() as u32,
        1 => 0x8100 + 4 * rng.below(3) as u32,
        2 => page << 12 | 0x100 | rng.below(4) as u32,
        _ => (page << 12) + 0x100 + 4 * rng.below(3) as u32,
    };
    Request {
        op,
        context: [0x001, 0x5a3][rng.below(2) as usize],
        system: rng.chance(1, 2),
        physical,
        // A physical address is a word's in cell memory.
        addr: if physical { addr & 0xfffc } else { addr },
        strb: 1 + rng.below(15) as u8,
        a: word(rng),
        b: word(rng),
    }
}

/// Random requests of all clients; faults retried and given up, bus errors; resets.
fn follows(dut: &WordUnit, starts: &[Start], cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let timing = if gaps.at_sink() { SLOW } else { MemoryTiming::IDEAL };
        cases.from_each(starts, format!("{} {gaps:?}", dut.name), |run| {
            let mut env = Env::new(run, dut, gaps, timing)?;
            let mut rng = run.rng("requests");
            let give = |env: &mut Env, rng: &mut Rng| {
                for client in &mut env.clients {
                    (0..150).for_each(|_| client.push(request(rng)));
                }
            };
            give(&mut env, &mut rng);
            for _ in 0..rng.between(500, 1000) {
                env.cycle()?;
            }
            env.clients.iter_mut().for_each(Source::stop);
            env.reset()?;
            env.finish()?;
            give(&mut env, &mut rng);
            env.finish()?;
            let Software { retries, aborts, .. } = env.software;
            assert!(
                retries > 0 && aborts > 0,
                "the requests make no faults: the check sees nothing"
            );
            Ok(())
        });
    }
}

const BASE: Request = Request {
    op: Op::Write,
    context: 1,
    system: false,
    physical: false,
    addr: 0x100,
    strb: 0xf,
    a: u32::MAX,
    b: 5,
};

/// A compare-and-swap that changes the word and one that does not; every lane; a counter at its end.
fn corners(dut: &WordUnit, cases: &mut Cases) {
    let lanes = (0..16).map(|strb| Request {
        strb,
        a: 0x0101_0101 * u32::from(strb),
        ..BASE
    });
    let csi = |a| Request { op: Op::Csi, a, ..BASE };
    let fop = Request {
        op: Op::Fop,
        a: 4,
        b: 2,
        ..BASE
    };
    let inc = Request { op: Op::Inc, ..BASE };
    let read = Request { op: Op::Read, ..BASE };
    let others = [BASE, inc, csi(1), csi(0), fop, read];
    cases.case(Start::Random1, format!("{} corners", dut.name), |run| {
        let mut env = Env::new(run, dut, Gaps::None, MemoryTiming::IDEAL)?;
        let requests = lanes.clone().chain(others);
        requests.for_each(|request| env.clients[2].push(request));
        env.finish()
    });
}

/// Flags one after the other, of one client and of all.
fn rate(dut: &WordUnit, cases: &mut Cases) {
    let flag = Request {
        op: Op::Inc,
        addr: FLAGS << 12,
        strb: 0,
        a: 0,
        b: 0,
        ..BASE
    };
    for clients in [1, CLIENTS] {
        cases.case(Start::Random1, format!("{} rate of {clients}", dut.name), |run| {
            let mut env = Env::new(run, dut, Gaps::None, MemoryTiming::IDEAL)?;
            for client in &mut env.clients[..clients] {
                (0..20).for_each(|_| client.push(flag));
            }
            env.finish()?;
            let slow = env.taken.windows(2).map(|pair| pair[1] - pair[0]).max();
            Rule::Rate.holds(slow == Some(11), || format!("{slow:?} cycles from a flag to the next"))
        });
    }
}

#[test]
fn follows_its_model() {
    let dut = word::<Ap1000pWord>();
    pass(this_test!(), |cases| follows(&dut, &Start::RANDOM, cases));
}

#[test]
fn corners_and_rate() {
    let dut = word::<Ap1000pWord>();
    pass(this_test!(), |cases| {
        corners(&dut, cases);
        rate(&dut, cases);
    });
}

fn checks(dut: &WordUnit, cases: &mut Cases) {
    follows(dut, &[Start::Random1], cases);
    corners(dut, cases);
    rate(dut, cases);
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Every reply goes to the first client.
            (Answer, &[], &|cases| checks(&word::<TwinWordClient>(), cases)),
            (Memory, &[], &|cases| checks(&word::<TwinWordFop>(), cases)),
            // Every swap changes the word.
            (Memory, &[], &|cases| checks(&word::<TwinWordCsi>(), cases)),
            // A write changes all bytes.
            (Memory, &[], &|cases| checks(&word::<TwinWordLanes>(), cases)),
            // The reply hides the bus error of a write.
            (Failed, &[], &|cases| checks(&word::<TwinWordBus>(), cases)),
            // The right to read is enough to count.
            (Failed, &[], &|cases| checks(&word::<TwinWordRights>(), cases)),
            // Every fault is a missing page.
            (Fault, &[], &|cases| checks(&word::<TwinWordReason>(), cases)),
            // The first client always wins.
            (Fair, &[], &|cases| checks(&word::<TwinWordFair>(), cases)),
            (Rate, &[], &|cases| checks(&word::<TwinWordLate>(), cases)),
            (Protocol, &[], &|cases| checks(&word::<TwinWordWithdraws>(), cases)),
            (Path, &[], &|cases| checks(&word::<TwinWordPath>(), cases)),
            // The unit ignores retries.
            (Hang, &[], &|cases| checks(&word::<TwinWordStuck>(), cases)),
            (Rest, &[], &|cases| checks(&word::<TwinWordRest>(), cases)),
        ],
    );
}
