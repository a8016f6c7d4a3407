//! The communication registers against their model: every response, every present bit, and which requests wait.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::creg::{Access, Conflict, Cregs, WORDS};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// A read returns the word. A conflict is a fault or a wait.
    Response
    /// The present bits follow the model.
    Present
    /// A request without obstacle takes three cycles. One that can go is passed over at most once.
    Latency
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// Every request that can go ends.
    Hang
    /// The unit is busy while a request is open, and only then.
    Rest
);

/// The sources, by number.
const HOST: usize = 0;
const NETWORK: usize = 1;

/// Of each source.
#[derive(Clone, Copy, Debug, Default)]
struct In {
    requests: [Option<Access>; 2],
    takes: [bool; 2],
    /// A conflict is a fault.
    faults: [bool; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Response {
    fault: bool,
    data: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ready: [bool; 2],
    responses: [Option<Response>; 2],
    present: u128,
    busy: bool,
}

fn set(dut: &impl Ap1000pCregPorts, inputs: &In) {
    let junk = Access {
        addr: 0x55,
        write: Some(0xdead_beef),
    };
    for p in 0..2 {
        let access = inputs.requests[p].unwrap_or(junk);
        dut.fault_i().set_bits(p, 1, inputs.faults[p].into());
        dut.req_valid_i().set_bits(p, 1, inputs.requests[p].is_some().into());
        dut.req_addr_i().set_bits(7 * p, 7, access.addr.into());
        dut.req_write_i().set_bits(p, 1, access.write.is_some().into());
        dut.req_data_i().set_bits(32 * p, 32, access.write.unwrap_or(0).into());
        dut.rsp_ready_i().set_bits(p, 1, inputs.takes[p].into());
    }
}

fn seen(dut: &impl Ap1000pCregPorts) -> Out {
    let response = |p| Response {
        fault: dut.rsp_fault_o().bit(p),
        data: dut.rsp_data_o().get_bits(32 * p, 32) as u32,
    };
    let [low, high] = [0, 64].map(|bit| u128::from(dut.present_o().get_bits(bit, 64)));
    Out {
        ready: [0, 1].map(|p| dut.req_ready_o().bit(p)),
        responses: [0, 1].map(|p| dut.rsp_valid_o().bit(p).then(|| response(p))),
        present: low | high << 64,
        busy: dut.busy_o().is_set(),
    }
}

fn creg<U: Ap1000pCregUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// The word read, if any.
type Outcome = Result<Option<u32>, Conflict>;

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    access: Access,
    /// The cycle in which it was taken.
    taken: u64,
    /// It has its response.
    responded: bool,
    /// Responses of the other source since it could go.
    passed: u32,
    /// The first cycle since it was taken at whose start it could go.
    could: Option<u64>,
}

/// The unit with both its sources.
struct Environment<'a> {
    bench: Bench<'a, In, Out>,
    model: Cregs,
    sources: [Source<Access>; 2],
    takes: [Pacer; 2],
    monitors: [Monitor<Response>; 2],
    open: [Option<Open>; 2],
    faults: [bool; 2],
    /// The source and the outcome of each response so far.
    outcomes: Vec<(usize, Outcome)>,
}

impl<'a> Environment<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps) -> Result<Self, Fault> {
        let mut env = Environment {
            bench: Bench::new(run, dut),
            model: Cregs::default(),
            sources: ["host", "network"].map(|name| Source::new([], run.pacer(gaps.at_source(), name))),
            takes: ["host takes", "network takes"].map(|name| run.pacer(gaps.at_sink(), name)),
            monitors: Default::default(),
            open: [None; 2],
            faults: [false; 2],
            outcomes: Vec::new(),
        };
        env.reset()?;
        Ok(env)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        self.bench.reset(&In::default())?;
        self.model = Cregs::default();
        self.open = [None; 2];
        self.sources.iter_mut().for_each(Source::reset);
        self.monitors.iter_mut().for_each(Monitor::reset);
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let inputs = In {
            requests: self.sources.each_mut().map(|source| source.offer().copied()),
            takes: self.takes.each_mut().map(Pacer::step),
            faults: self.faults,
        };
        let seen = self.bench.step(&inputs)?;
        self.check(now, &inputs, &seen).map_err(|fault| fault.at(now))
    }

    fn check(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let mut accesses = 0;
        for p in 0..2 {
            if let Some(response) = seen.responses[p].filter(|_| self.open[p].is_none_or(|open| !open.responded)) {
                // The edge before this cycle performs one access at most.
                accesses += 1;
                Rule::Response.holds(accesses <= 1, || "two accesses in a cycle".into())?;
                self.respond(p, response, now)?;
            }
        }
        let present = self.model.present().into_iter().rev();
        let present = present.fold(0_u128, |all, bit| all << 1 | u128::from(bit));
        Rule::Present.holds(seen.present == present, || {
            format!("{:x}, not {present:x}", seen.present)
        })?;
        for p in 0..2 {
            self.is_on_time(p, now)?;
            self.monitors[p].step(seen.responses[p].as_ref(), inputs.takes[p])?;
            Rule::Rest.holds(seen.busy || self.open[p].is_none(), || "not busy".into())?;
            if seen.responses[p].is_some() && inputs.takes[p] {
                self.open[p] = None;
            }
            if let Some(access) = self.sources[p].step(seen.ready[p]) {
                self.open[p] = Some(Open {
                    access,
                    taken: now,
                    responded: false,
                    passed: 0,
                    could: None,
                });
            }
        }
        Ok(())
    }

    /// A new response to a source.
    fn respond(&mut self, p: usize, response: Response, now: u64) -> Result<(), Fault> {
        let Some(open) = &mut self.open[p] else {
            return Err(Rule::Response.broken(format!("source {p} has no request")));
        };
        open.responded = true;
        let access = open.access;
        let got = if response.fault {
            Err(Conflict)
        } else {
            Ok(access.write.is_none().then_some(response.data))
        };
        let want = self.model.access(access);
        let same = got == want && (got.is_ok() || self.faults[p]);
        Rule::Response.holds(same, || format!("source {p}, {access:x?}: {got:x?}, not {want:x?}"))?;
        self.outcomes.push((p, got));
        if let Some(other) = &mut self.open[1 - p]
            && !other.responded
            && other.could.is_some_and(|at| at < now)
        {
            other.passed += 1;
            Rule::Latency.holds(other.passed <= 1, || format!("source {} is passed over twice", 1 - p))?;
        }
        Ok(())
    }

    /// Whether the request would end with the words as they are.
    fn can_go(&self, p: usize) -> bool {
        let ends = |access| self.faults[p] || self.model.clone().access(access).is_ok();
        self.open[p].is_some_and(|open| !open.responded && ends(open.access))
    }

    /// A request that can go does so.
    fn is_on_time(&mut self, p: usize, now: u64) -> Result<(), Fault> {
        let can = self.can_go(p);
        let Some(open) = &mut self.open[p] else { return Ok(()) };
        // Two cycles of its own, and one for the other.
        let late = can && open.could.is_some_and(|at| now > at.max(open.taken + 2) + 1);
        Rule::Latency.holds(!late, || format!("source {p} does not go although it could: {open:x?}"))?;
        open.could = if can { open.could.or(Some(now)) } else { None };
        open.passed = if can { open.passed } else { 0 };
        Ok(())
    }

    /// Until every request has its response, or only those of the `blocked` sources lack one.
    fn finish(&mut self, blocked: [bool; 2]) -> Result<(), Fault> {
        let end = self.bench.cycle() + 20_000;
        loop {
            self.cycle()?;
            let done = |p: usize| match self.open[p] {
                None => self.sources[p].is_empty(),
                Some(open) => blocked[p] && !open.responded,
            };
            if done(0) && done(1) {
                let rests = self.open.iter().any(Option::is_some) || !self.bench.seen().busy;
                return Rule::Rest.holds(rests, || "busy after the last response".into());
            }
            Rule::Hang.holds(self.bench.cycle() < end, || format!("{:x?}", self.open))?;
        }
    }

    fn push(&mut self, p: usize, access: Access) {
        self.sources[p].push(access);
    }

    /// One request of a source; `None`: it waits.
    fn ask(&mut self, p: usize, addr: u8, write: Option<u32>) -> Result<Option<Outcome>, Fault> {
        let before = self.outcomes.len();
        self.push(p, Access { addr, write });
        for _ in 0..12 {
            self.cycle()?;
        }
        Ok(self.outcomes.get(before).map(|(_, outcome)| *outcome))
    }

    /// One request of a source with this end.
    fn expect(&mut self, p: usize, addr: u8, write: Option<u32>, want: Option<Outcome>) -> Result<(), Fault> {
        let got = self.ask(p, addr, write)?;
        Rule::Response.holds(got == want, || {
            format!("source {p}, word {addr}, write {write:x?}: {got:x?}, not {want:x?}")
        })
    }

    /// The last response was this one.
    fn ended(&self, p: usize, outcome: Outcome) -> Result<(), Fault> {
        let (last, want) = (self.outcomes.last(), (p, outcome));
        Rule::Response.holds(last == Some(&want), || format!("{last:x?}, not {want:x?}"))
    }
}

/// Random accesses of a few words. A conflict is a fault, or a wait that the other source ends.
fn accesses(run: &Run, dut: &Dut<In, Out>, gaps: Gaps) -> Result<(), Fault> {
    let mut env = Environment::new(run, dut, gaps)?;
    let mut rng = run.rng("accesses");
    let access = |rng: &mut Rng, words: u64| Access {
        addr: rng.below(words) as u8 * 9 % WORDS as u8,
        write: rng.chance(1, 2).then(|| rng.bits() as u32),
    };
    for faults in [[true; 2], [false, true], [true, false]] {
        // At most one source waits, so that the other one can help it.
        env.faults = faults;
        let words = rng.between(1, 9);
        for _ in 0..400 {
            for p in [HOST, NETWORK] {
                env.push(p, access(&mut rng, words));
            }
        }
        let end = env.bench.cycle() + 40_000;
        while env.sources.iter().all(|source| !source.is_empty()) {
            env.cycle()?;
            Rule::Hang.holds(env.bench.cycle() < end, || format!("{:x?}", env.open))?;
        }
        // No source is left to help.
        env.faults = [true; 2];
        env.finish([false; 2])?;
    }
    // A reset while both wait, and amid accesses.
    for words in [1, 9] {
        env.faults = [false; 2];
        for _ in 0..40 {
            for p in [HOST, NETWORK] {
                env.push(p, access(&mut rng, words));
            }
        }
        for _ in 0..rng.between(20, 100) {
            env.cycle()?;
        }
        env.sources.iter_mut().for_each(Source::stop);
        env.reset()?;
        env.faults = [true; 2];
        env.finish([false; 2])?;
    }
    Ok(())
}

fn follows(dut: &Dut<In, Out>, starts: &[Start], cases: &mut Cases) {
    for gaps in Gaps::ALL {
        let params = format!("{} {gaps:?}", dut.name);
        cases.from_each(starts, params, |run| accesses(run, dut, gaps));
    }
}

/// C20: the truth table in both modes, from both sources, of all 128 words.
fn truth_table(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, dut.name, |run| {
        let mut env = Environment::new(run, dut, Gaps::None)?;
        for (p, other) in [(HOST, NETWORK), (NETWORK, HOST)] {
            for addr in 0..WORDS as u8 {
                let data = 0x1000 * (p as u32 + 1) + u32::from(addr);
                let (read, done, refused) = (Some(Ok(Some(data))), Some(Ok(None)), Some(Err(Conflict)));
                env.faults = [true; 2];
                env.expect(p, addr, None, refused)?;
                env.expect(p, addr, Some(data), done)?;
                env.expect(p, addr, Some(!data), refused)?;
                env.expect(p, addr, None, read)?;
                // The same as waits, which the other source ends: a read of an empty word, then a write to a full one.
                env.faults = [false; 2];
                env.expect(p, addr, None, None)?;
                env.expect(other, addr, Some(data), done)?;
                env.finish([false; 2])?;
                env.ended(p, Ok(Some(data)))?;
                env.expect(p, addr, Some(data), done)?;
                env.expect(p, addr, Some(!data), None)?;
                env.expect(other, addr, None, read)?;
                env.finish([false; 2])?;
                env.expect(p, addr, None, Some(Ok(Some(!data))))?;
            }
        }
        Ok(())
    });
}

/// A source that waits does not hold up the other. It ends with a fault as soon as a conflict is one.
fn wait_beside_accesses(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random2, dut.name, |run| {
        let mut env = Environment::new(run, dut, Gaps::None)?;
        for (p, other) in [(HOST, NETWORK), (NETWORK, HOST)] {
            env.faults = [false; 2];
            env.expect(p, 7, None, None)?;
            let from = env.bench.cycle();
            for i in 0..50 {
                let write = (i % 2 == 0).then_some(i);
                env.push(other, Access { addr: 9, write });
            }
            env.finish([p == HOST, p == NETWORK])?;
            let cycles = env.bench.cycle() - from;
            let what = || format!("50 accesses beside a wait took {cycles} cycles");
            Rule::Latency.holds(cycles <= 50 * 4 + 1, what)?;
            env.faults[p] = true;
            env.finish([false; 2])?;
            env.ended(p, Err(Conflict))?;
        }
        Ok(())
    });
}

#[test]
fn follows_its_model() {
    pass(this_test!(), |cases| {
        follows(&creg::<Ap1000pCreg>(), &Start::RANDOM, cases)
    });
}

#[test]
fn c20_truth_table_of_all_words() {
    pass(this_test!(), |cases| truth_table(&creg::<Ap1000pCreg>(), cases));
}

#[test]
fn c20_a_wait_holds_up_no_other_source() {
    pass(this_test!(), |cases| {
        wait_beside_accesses(&creg::<Ap1000pCreg>(), cases)
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |dut: Dut<In, Out>, cases: &mut Cases| {
        follows(&dut, &[Start::Random1], cases);
        wait_beside_accesses(&dut, cases);
    };
    each_is_caught(
        this_test!(),
        &[
            // A change in this cycle does not count for the other source's request.
            (Response, &[], &|cases| checks(creg::<TwinCregStale>(), cases)),
            // A refused access changes the word.
            (Response, &[], &|cases| checks(creg::<TwinCregChanges>(), cases)),
            // A word that was read stays present.
            (Present, &[], &|cases| checks(creg::<TwinCregPresent>(), cases)),
            // The network waits for a host that cannot go.
            (Latency, &[], &|cases| checks(creg::<TwinCregTurns>(), cases)),
            // After a refused write the source's request stays open.
            (Hang, &[], &|cases| checks(creg::<TwinCregStuck>(), cases)),
            // A response lasts one cycle.
            (Protocol, &[], &|cases| checks(creg::<TwinCregKeeps>(), cases)),
            (Path, &[], &|cases| checks(creg::<TwinCregPath>(), cases)),
            // A response that waits does not count.
            (Rest, &[], &|cases| checks(creg::<TwinCregRest>(), cases)),
        ],
    );
}
