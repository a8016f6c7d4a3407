//! The word unit against its model: requests are executed in the order in which they are taken, one after the other.

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::mmu::Lookup;
use tsunagi::ap1000p::golden::word::{Failed, Op, Request, perform};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};

use crate::pages::{Around, FLAGS, MEM_BITS, Mmu, Service, Software};
use crate::rig::{Common, Ports, Rig, Twin, each_is_caught};
use crate::{SLOW, STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Whose answer, and the word before.
    Answer,
    /// The words in memory.
    Memory,
    /// What was given up or met an error, in the answer and by pulses.
    Failed,
    /// What is told of a fault.
    Fault,
    /// A client that waits is passed over by each other at most once.
    Fair,
    /// Eleven cycles for a flag.
    Rate,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 10] = [
    Rule::Answer,
    Rule::Memory,
    Rule::Failed,
    Rule::Fault,
    Rule::Fair,
    Rule::Rate,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

const CLIENTS: usize = 4;

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    req: [Option<Request>; CLIENTS],
    mmu_ready: bool,
    mmu_rsp: Option<Result<u32, u8>>,
    service: Service,
    mem: MemPortsOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    clients: u8,
    old: u32,
    given_up: bool,
    bus: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: u8,
    rsp: Option<Answer>,
    given_up: bool,
    bus_error: bool,
    lookup: Option<Lookup>,
    lookup_taken: bool,
    fault: Option<(u8, Lookup)>,
    mem: MemPortsIn,
    busy: bool,
}

macro_rules! ports {
    ($($unit:ident)+) => {$(
        impl Ports for $unit {
            type In = In;
            type Out = Out;

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, inputs: &In) {
                let junk = Request {
                    op: Op::Write, context: 0xaaa, system: true, physical: true, addr: 0x5554, strb: 0xf, a: 0xdead, b: 0xbeef,
                };
                let req = inputs.req.map(|req| req.unwrap_or(junk));
                let all = |width: u32, field: &dyn Fn(&Request) -> u64| {
                    req.iter().rev().fold(0, |all, req| all << width | field(req))
                };
                let valid = inputs.req.iter().rev().fold(0, |all, req| all << 1 | u8::from(req.is_some()));
                self.req_valid_i.set(valid);
                self.req_op_i.set(all(3, &|req| req.op as u64) as _);
                self.req_context_i.set(all(12, &|req| req.context.into()) as _);
                self.req_system_i.set(all(1, &|req| req.system.into()) as _);
                self.req_physical_i.set(all(1, &|req| req.physical.into()) as _);
                self.req_addr_i.set(req.map(|req| req.addr));
                self.req_strb_i.set(all(4, &|req| req.strb.into()) as _);
                self.req_a_i.set(req.map(|req| req.a));
                self.req_b_i.set(req.map(|req| req.b));
                self.mmu_req_ready_i.set_bool(inputs.mmu_ready);
                self.mmu_rsp_valid_i.set_bool(inputs.mmu_rsp.is_some());
                let rsp = inputs.mmu_rsp.unwrap_or(Ok(0x5550));
                // With a fault there is an address that means nothing.
                self.mmu_rsp_addr_i.set(rsp.unwrap_or(0x0554));
                self.mmu_rsp_fault_i.set(rsp.err().unwrap_or(0));
                self.retry_i.set_bool(inputs.service.retry);
                self.abort_i.set_bool(inputs.service.abort);
                tsunagi::set_mem_ports!(self, &inputs.mem);
            }

            fn seen(&self) -> Out {
                let rsp = || Answer {
                    clients: self.rsp_valid_o.get(),
                    old: self.rsp_old_o.get(),
                    given_up: self.rsp_fault_o.is_set(),
                    bus: self.rsp_err_o.is_set(),
                };
                Out {
                    ready: self.req_ready_o.get(),
                    rsp: (self.rsp_valid_o.get() != 0).then(rsp),
                    given_up: self.given_up_o.is_set(),
                    bus_error: self.bus_error_o.is_set(),
                    lookup: self.mmu_req_valid_o.is_set().then(|| Lookup {
                        context: self.mmu_req_context_o.get(),
                        addr: self.mmu_req_addr_o.get(),
                        write: self.mmu_req_write_o.is_set(),
                        system: self.mmu_req_system_o.is_set(),
                    }),
                    lookup_taken: self.mmu_rsp_ready_o.is_set(),
                    fault: self.fault_valid_o.is_set().then(|| (self.fault_reason_o.get(), Lookup {
                        context: self.fault_context_o.get(),
                        addr: self.fault_addr_o.get(),
                        write: self.fault_write_o.is_set(),
                        system: self.fault_system_o.is_set(),
                    })),
                    mem: tsunagi::mem_ports!(self),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pWord TwinWordClient TwinWordFop TwinWordCsi TwinWordLanes TwinWordBus TwinWordRights TwinWordReason TwinWordFair
       TwinWordLate TwinWordWithdraws TwinWordPath TwinWordStuck TwinWordRest);

/// A range with bus errors.
const BAD: std::ops::Range<u32> = 0x8100..0x8180;

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    mmu: Mmu,
    software: Software,
    agent: MemoryAgent,
    accepts: [Pacer; 2],
    real: Around,
    model: Around,
    clients: [Source<Request>; CLIENTS],
    /// Others taken while this one waits.
    passed: [u32; CLIENTS],
    lookups: Monitor<Lookup>,
    reads: Monitor<(u32, u8)>,
    writes: Monitor<(u32, u8)>,
    data: Monitor<(u64, u8)>,
    /// Who, what, and the fault it has met.
    open: Option<(usize, Request)>,
    fault: Option<u8>,
    taken: Vec<u64>,
}

impl<'a, U: Ports<In = In, Out = Out>> Bench<'a, U> {
    fn new(case: &Case, start: &str, gaps: Gaps, timing: MemoryTiming, probe: &'a Probe) -> Result<Self, String> {
        let slow = gaps != Gaps::None;
        let jitter = Cycle(if slow { 6 } else { 0 });
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            mmu: Mmu::new(case, slow),
            software: Software::new(case, slow),
            agent: MemoryAgent::new(timing, 4).with_jitter(case.rng("memory").bits(), jitter, jitter),
            accepts: ["reads", "writes"].map(|name| Pacer::new(slow, case.rng(name))),
            real: Around::new(&[BAD]),
            model: Around::new(&[BAD]),
            clients: std::array::from_fn(|c| {
                Source::new([], Pacer::new(gaps.at_source(), case.rng(&format!("client {c}"))))
            }),
            passed: [0; CLIENTS],
            lookups: Monitor::default(),
            reads: Monitor::default(),
            writes: Monitor::default(),
            data: Monitor::default(),
            open: None,
            fault: None,
            taken: Vec::new(),
        };
        bench.reset()?;
        Ok(bench)
    }

    fn reset(&mut self) -> Result<(), String> {
        for _ in 0..3 {
            self.rig.step(&In::default(), true)?;
        }
        self.mmu.reset();
        self.agent.reset();
        self.model.memory = self.real.memory.clone();
        self.clients.iter_mut().for_each(Source::reset);
        (self.passed, self.open, self.fault) = ([0; CLIENTS], None, None);
        self.lookups.reset();
        self.reads.reset();
        self.writes.reset();
        self.data.reset();
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let told = |what: String| format!("cycle {now}: {what}");
        let wrong = |e| format!("{:?}: cycle {now}: {e}", Common::Protocol);
        let fault = self.rig.seen().fault;
        let mut mem = *self.agent.ports();
        mem.rd_cmd_ready &= self.accepts[0].step();
        mem.wr_cmd_ready &= self.accepts[1].step();
        let mmu_rsp = self.mmu.offer(now);
        let inputs = In {
            req: std::array::from_fn(|c| self.clients[c].offer().copied()),
            mmu_ready: self.mmu.ready,
            mmu_rsp,
            service: self.software.step(fault.map(|(_, lookup)| lookup), &mut self.mmu),
            mem,
        };
        let seen = self.rig.step(&inputs, false)?;
        let from = seen.mem;
        self.lookups
            .step(seen.lookup.as_ref(), inputs.mmu_ready)
            .map_err(wrong)?;
        let command = from.rd_cmd_valid.then_some((from.rd_cmd_addr, from.rd_cmd_len));
        self.reads.step(command.as_ref(), mem.rd_cmd_ready).map_err(wrong)?;
        let command = from.wr_cmd_valid.then_some((from.wr_cmd_addr, from.wr_cmd_len));
        self.writes.step(command.as_ref(), mem.wr_cmd_ready).map_err(wrong)?;
        let beat = from.wr_data_valid.then_some((from.wr_data_data, from.wr_data_strb));
        self.data.step(beat.as_ref(), mem.wr_data_ready).map_err(wrong)?;
        if let Some(answer) = inputs.mmu_rsp.filter(|_| seen.lookup_taken) {
            self.fault = answer.err();
        }
        self.mmu.step(now, seen.lookup, seen.lookup_taken);
        let taken = MemPortsIn {
            rd_cmd_valid: from.rd_cmd_valid && mem.rd_cmd_ready,
            wr_cmd_valid: from.wr_cmd_valid && mem.wr_cmd_ready,
            ..from
        };
        self.agent.step(Cycle(now), &mut self.real.memory, &taken, |_| {});

        if let Some((reason, lookup)) = seen.fault {
            let want = self.open.map(|(_, r)| {
                let lookup = Lookup {
                    context: r.context,
                    addr: r.addr,
                    write: r.op != Op::Read,
                    system: r.system,
                };
                let align = !r.addr.is_multiple_of(4);
                (if align { Some(FAULT_ALIGN as u8) } else { self.fault }, lookup)
            });
            holds(Rule::Fault, want == Some((Some(reason), lookup)), || {
                told(format!("{reason} for {lookup:x?}, not {want:x?}"))
            })?;
        }
        holds(Rule::Rest, seen.busy || self.open.is_none(), || told("not busy".into()))?;
        if let Some(answer) = seen.rsp {
            self.answered(answer, now)?;
        }
        let pulses = seen.rsp.map_or((false, false), |rsp| (rsp.given_up, rsp.bus));
        holds(Rule::Failed, pulses == (seen.given_up, seen.bus_error), || {
            told(format!("pulses {:?}, not {pulses:?}", (seen.given_up, seen.bus_error)))
        })?;
        let waiting: Vec<bool> = inputs.req.iter().map(Option::is_some).collect();
        for c in 0..CLIENTS {
            let Some(request) = self.clients[c].step(seen.ready >> c & 1 != 0) else {
                continue;
            };
            holds(Rule::Answer, self.open.is_none(), || {
                told(format!("takes {request:x?} within {:x?}", self.open))
            })?;
            self.open = Some((c, request));
            self.taken.push(now);
            for (other, passed) in self.passed.iter_mut().enumerate() {
                *passed = if waiting[other] && other != c { *passed + 1 } else { 0 };
                holds(Rule::Fair, *passed < CLIENTS as u32, || {
                    told(format!("client {other} is passed over {passed} times"))
                })?;
            }
        }
        Ok(())
    }

    fn answered(&mut self, answer: Answer, now: u64) -> Result<(), String> {
        let told = |what: String| format!("cycle {now}: {what}");
        let Some((client, request)) = self.open.take() else {
            return holds(Rule::Answer, false, || told(format!("{answer:x?} answers nothing")));
        };
        holds(Rule::Answer, answer.clients == 1 << client, || {
            told(format!("{request:x?} of client {client}: {answer:x?}"))
        })?;
        let got = match (answer.given_up, answer.bus) {
            (true, _) => Err(Failed::GivenUp),
            (_, true) => Err(Failed::Bus),
            _ => Ok(()),
        };
        let want = perform(&mut self.model, &request);
        holds(Rule::Failed, got == want.map(|_| ()), || {
            told(format!("{request:x?}: {answer:x?}, not {want:x?}"))
        })?;
        if let Ok(old) = want {
            holds(Rule::Answer, request.op == Op::Write || answer.old == old, || {
                told(format!("{request:x?}: {answer:x?}, not {old:#x}"))
            })?;
        }
        let (all, have) = (
            self.model.memory.read(Addr(0), 1 << MEM_BITS),
            self.real.memory.read(Addr(0), 1 << MEM_BITS),
        );
        holds(Rule::Memory, all == have, || {
            let place = (0..1 << MEM_BITS)
                .step_by(4)
                .find(|&at| self.model.word(at) != self.real.word(at));
            let at = place.expect("they differ");
            told(format!(
                "{request:x?}: {at:#x} is {:#x}, not {:#x}",
                self.real.word(at),
                self.model.word(at)
            ))
        })
    }

    fn finish(&mut self) -> Result<(), String> {
        let end = self.rig.cycle + 200_000;
        while self.open.is_some() || self.clients.iter().any(|client| !client.is_empty()) {
            self.cycle()?;
            holds(Rule::Hang, self.rig.cycle < end, || format!("{:x?}", self.open))?;
        }
        self.cycle()?;
        holds(Rule::Rest, !self.rig.seen().busy, || {
            "busy after the last answer".into()
        })
    }
}

/// Few words, so that requests meet.
fn request(rng: &mut Rng) -> Request {
    let op = Op::ALL[rng.below(5) as usize];
    let word = |rng: &mut Rng| {
        if rng.chance(1, 2) {
            rng.below(3) as u32
        } else {
            rng.bits() as u32
        }
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
        // Of cell memory there is no more.
        addr: if physical { addr & 0xfffc } else { addr },
        strb: 1 + rng.below(15) as u8,
        a: word(rng),
        b: word(rng),
    }
}

/// Random requests of all clients; faults retried and given up, bus errors; resets.
fn follows<U: Ports<In = In, Out = Out>>(case: &Case, start: &str, gaps: Gaps, probe: &Probe) -> Result<(), String> {
    let timing = if gaps.at_sink() { SLOW } else { MemoryTiming::IDEAL };
    let mut bench = Bench::<U>::new(case, start, gaps, timing, probe)?;
    let mut rng = case.rng("requests");
    for last in [false, true] {
        for client in &mut bench.clients {
            for _ in 0..150 {
                client.push(request(&mut rng));
            }
        }
        if last {
            bench.finish()?;
        } else {
            for _ in 0..rng.between(500, 1000) {
                bench.cycle()?;
            }
            bench.clients.iter_mut().for_each(Source::stop);
            bench.reset()?;
            bench.finish()?;
        }
    }
    holds(
        Rule::Fault,
        bench.software.retries > 0 && bench.software.aborts > 0,
        || "the requests make no faults: the check sees nothing".into(),
    )
}

/// A compare-and-swap that is left as it is and one that is not; every lane; a counter at its end.
fn corners<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
    let base = Request {
        op: Op::Write,
        context: 1,
        system: false,
        physical: false,
        addr: 0x100,
        strb: 0xf,
        a: u32::MAX,
        b: 5,
    };
    let lanes = (0..16).map(|strb| Request {
        strb,
        a: 0x0101_0101 * u32::from(strb),
        ..base
    });
    let others = [
        base,
        Request { op: Op::Inc, ..base },
        Request {
            op: Op::Csi,
            a: 1,
            ..base
        },
        Request {
            op: Op::Csi,
            a: 0,
            ..base
        },
        Request {
            op: Op::Fop,
            a: 4,
            b: 2,
            ..base
        },
        Request { op: Op::Read, ..base },
    ];
    for request in lanes.chain(others) {
        bench.clients[2].push(request);
    }
    bench.finish()
}

/// Flags back to back, of one client and of all.
fn rate<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    for clients in [1, CLIENTS] {
        let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, MemoryTiming::IDEAL, probe)?;
        let flag = Request {
            op: Op::Inc,
            context: 1,
            system: false,
            physical: false,
            addr: FLAGS << 12,
            strb: 0,
            a: 0,
            b: 0,
        };
        for client in &mut bench.clients[..clients] {
            (0..20).for_each(|_| client.push(flag));
        }
        bench.finish()?;
        let slow = bench.taken.windows(2).map(|pair| pair[1] - pair[0]).max();
        holds(Rule::Rate, slow == Some(11), || {
            format!("{slow:?} cycles from a flag to the next, {clients} clients")
        })?;
    }
    Ok(())
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let case = |what: String| Case::new("ap1000p", "word::each_twin_is_caught", what);
    let probe = Probe::default();
    let mut found: Vec<_> = Gaps::ALL
        .into_iter()
        .map(|gaps| follows::<U>(&case(format!("{gaps:?}")), STARTS[0], gaps, &probe))
        .collect();
    found.push(corners::<U>(&case("corners".into()), &probe));
    found.push(rate::<U>(&case("rate".into()), &probe));
    found
}

#[test]
fn follows_its_model() {
    for gaps in Gaps::ALL {
        for start in STARTS {
            let case = Case::new("ap1000p", "word::follows_its_model", format!("{gaps:?} {start}"));
            case.run(|probe| follows::<Ap1000pWord>(&case, start, gaps, probe));
        }
    }
}

#[test]
fn corners_and_rate() {
    let case = Case::new("ap1000p", "word::corners_and_rate", "ideal memory");
    case.run(|probe| corners::<Ap1000pWord>(&case, probe));
    case.run(|probe| rate::<Ap1000pWord>(&case, probe));
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Answer", &checks::<TwinWordClient>),
        ("Memory", &checks::<TwinWordFop>),
        ("Memory", &checks::<TwinWordCsi>),
        ("Memory", &checks::<TwinWordLanes>),
        // An error of a write is kept quiet.
        ("Failed", &checks::<TwinWordBus>),
        // Whoever may read may count.
        ("Failed", &checks::<TwinWordRights>),
        ("Fault", &checks::<TwinWordReason>),
        ("Fair", &checks::<TwinWordFair>),
        ("Rate", &checks::<TwinWordLate>),
        ("Protocol", &checks::<TwinWordWithdraws>),
        ("Path", &checks::<TwinWordPath>),
        // Deaf to retries.
        ("Hang", &checks::<TwinWordStuck>),
        ("Rest", &checks::<TwinWordRest>),
    ];
    each_is_caught(&RULES, twins);
}
