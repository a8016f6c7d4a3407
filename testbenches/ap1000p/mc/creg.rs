//! The communication registers against their model: every answer, every present bit, who waits and who does not.

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::creg::{Access, Conflict, Cregs, WORDS};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use tsunagi::harness::wave::Probe;

use crate::rig::{Common, Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The words read, and where there is a conflict, a fault or a wait.
    Answer,
    /// The present bits.
    Present,
    /// Three cycles where nobody is in the way; who could go is passed over at most once.
    Latency,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 7] = [
    Rule::Answer,
    Rule::Present,
    Rule::Latency,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

/// The sources, by number.
const HOST: usize = 0;
const NETWORK: usize = 1;

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    req: [Option<Access>; 2],
    take: [bool; 2],
    /// A conflict is a fault, by source.
    fault: [bool; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    fault: bool,
    data: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: [bool; 2],
    rsp: [Option<Answer>; 2],
    present: u128,
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
                let both = |f: &dyn Fn(usize) -> u64| f(0) | f(1) << 1;
                self.fault_i.set(both(&|p| inputs.fault[p].into()) as u8);
                self.req_valid_i.set(both(&|p| inputs.req[p].is_some().into()) as u8);
                self.rsp_ready_i.set(both(&|p| inputs.take[p].into()) as u8);
                let req = |p: usize| inputs.req[p].unwrap_or(Access { addr: 0x55, write: Some(0xdead_beef) });
                self.req_addr_i.set(u16::from(req(0).addr) | u16::from(req(1).addr) << 7);
                self.req_write_i.set(both(&|p| req(p).write.is_some().into()) as u8);
                self.req_data_i.set(u64::from(req(0).write.unwrap_or(0)) | u64::from(req(1).write.unwrap_or(0)) << 32);
            }

            fn seen(&self) -> Out {
                let bit = |bits: u8, p: usize| bits >> p & 1 != 0;
                let rsp = |p: usize| bit(self.rsp_valid_o.get(), p).then(|| Answer {
                    fault: bit(self.rsp_fault_o.get(), p),
                    data: (self.rsp_data_o.get() >> (32 * p)) as u32,
                });
                let words = self.present_o.get();
                let present = (0..4).fold(0, |all, i| all | u128::from(words[i]) << (32 * i));
                Out {
                    ready: [0, 1].map(|p| bit(self.req_ready_o.get(), p)),
                    rsp: [rsp(0), rsp(1)],
                    present,
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pCreg
       TwinCregKeeps TwinCregStuck TwinCregStale TwinCregPresent TwinCregTurns TwinCregChanges TwinCregPath TwinCregRest);

/// A request under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    access: Access,
    /// The cycle in which it was taken.
    taken: u64,
    /// It has its answer.
    answered: bool,
    /// Answers of the other source since it could go.
    passed: u32,
    /// The first cycle since it was taken at whose start it could go.
    could: Option<u64>,
}

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    model: Cregs,
    sources: [Source<Access>; 2],
    takes: [Pacer; 2],
    monitors: [Monitor<Answer>; 2],
    open: [Option<Open>; 2],
    fault: [bool; 2],
    /// Answers so far: to which source, whether a fault, the word read.
    answers: Vec<(usize, Result<Option<u32>, Conflict>)>,
}

impl<'a, U: Ports<In = In, Out = Out>> Bench<'a, U> {
    fn new(case: &Case, start: &str, gaps: Gaps, probe: &'a Probe) -> Result<Self, String> {
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            model: Cregs::default(),
            sources: ["host", "network"].map(|name| Source::new([], Pacer::new(gaps.at_source(), case.rng(name)))),
            takes: ["host takes", "network takes"].map(|name| Pacer::new(gaps.at_sink(), case.rng(name))),
            monitors: Default::default(),
            open: [None; 2],
            fault: [false; 2],
            answers: Vec::new(),
        };
        bench.reset()?;
        Ok(bench)
    }

    fn reset(&mut self) -> Result<(), String> {
        self.rig.step(&In::default(), true)?;
        self.model = Cregs::default();
        self.open = [None; 2];
        for p in 0..2 {
            self.sources[p].reset();
            self.monitors[p].reset();
        }
        Ok(())
    }

    /// Whether the request could be answered with the words as they are.
    fn can(&self, p: usize) -> bool {
        self.open[p]
            .is_some_and(|open| !open.answered && (self.fault[p] || self.model.clone().access(open.access).is_ok()))
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let told = |what: String| format!("cycle {now}: {what}");
        let mut inputs = In {
            fault: self.fault,
            ..In::default()
        };
        for p in 0..2 {
            inputs.req[p] = self.sources[p].offer().copied();
            inputs.take[p] = self.takes[p].step();
        }
        let seen = self.rig.step(&inputs, false)?;
        // What was answered at the edge before this cycle: one access at most.
        let new: Vec<usize> = (0..2)
            .filter(|&p| seen.rsp[p].is_some() && self.open[p].is_none_or(|open| !open.answered))
            .collect();
        holds(Rule::Answer, new.len() <= 1, || told("two accesses in a cycle".into()))?;
        for p in new {
            let Some(open) = self.open[p] else {
                return holds(Rule::Answer, false, || told(format!("source {p} asked nothing")));
            };
            let answer = seen.rsp[p].expect("new");
            let got = if answer.fault {
                Err(Conflict)
            } else {
                Ok(open.access.write.is_none().then_some(answer.data))
            };
            let want = self.model.access(open.access);
            holds(Rule::Answer, got == want && (got.is_ok() || self.fault[p]), || {
                told(format!("source {p}, {:x?}: {got:x?}, not {want:x?}", open.access))
            })?;
            let other = &mut self.open[1 - p];
            if let Some(other) = other
                .as_mut()
                .filter(|other| !other.answered && other.could.is_some_and(|at| at < now))
            {
                other.passed += 1;
            }
            let late = other.filter(|other| other.passed > 1);
            holds(Rule::Latency, late.is_none(), || {
                told(format!("source {} is passed over twice", 1 - p))
            })?;
            self.open[p] = Some(Open { answered: true, ..open });
            self.answers.push((p, got));
        }
        let present = self
            .model
            .present()
            .iter()
            .rev()
            .fold(0_u128, |all, &bit| all << 1 | u128::from(bit));
        holds(Rule::Present, seen.present == present, || {
            told(format!("{:x}, not {present:x}", seen.present))
        })?;
        for p in 0..2 {
            let can = self.can(p);
            // Two cycles of its own, and one for the other.
            let late =
                self.open[p].is_some_and(|open| can && open.could.is_some_and(|at| now > at.max(open.taken + 2) + 1));
            holds(Rule::Latency, !late, || {
                told(format!("source {p} could go and does not: {:x?}", self.open[p]))
            })?;
            if let Some(open) = &mut self.open[p] {
                open.could = if can { open.could.or(Some(now)) } else { None };
                open.passed = if can { open.passed } else { 0 };
            }
            let wrong = |e| format!("{:?}: {e}", Common::Protocol);
            self.monitors[p]
                .step(seen.rsp[p].as_ref(), inputs.take[p])
                .map_err(wrong)?;
            holds(Rule::Rest, seen.busy || self.open[p].is_none(), || {
                told("not busy".into())
            })?;
            if seen.rsp[p].is_some() && inputs.take[p] {
                self.open[p] = None;
            }
            if let Some(access) = self.sources[p].step(seen.ready[p]) {
                self.open[p] = Some(Open {
                    access,
                    taken: now,
                    answered: false,
                    passed: 0,
                    could: None,
                });
            }
        }
        Ok(())
    }

    /// Until every request has its answer, or `blocked` ones alone are left.
    fn finish(&mut self, blocked: [bool; 2]) -> Result<(), String> {
        let end = self.rig.cycle + 20_000;
        loop {
            self.cycle()?;
            let done = |p: usize| match self.open[p] {
                None => self.sources[p].is_empty(),
                Some(open) => blocked[p] && !open.answered,
            };
            if done(0) && done(1) {
                let rest = blocked == [true; 2] || self.open.iter().any(Option::is_some) || !self.rig.seen().busy;
                return holds(Rule::Rest, rest, || "busy after the last answer".into());
            }
            holds(Rule::Hang, self.rig.cycle < end, || format!("{:x?}", self.open))?;
        }
    }

    /// One request of a source; `None`: it waits.
    fn ask(&mut self, p: usize, addr: u8, write: Option<u32>) -> Result<Option<Result<Option<u32>, Conflict>>, String> {
        let before = self.answers.len();
        self.sources[p].push(Access { addr, write });
        for _ in 0..12 {
            self.cycle()?;
        }
        Ok(self.answers.get(before).map(|(_, answer)| *answer))
    }
}

/// Random accesses of a few words, conflicts as faults or as waits that the other source ends.
fn follows<U: Ports<In = In, Out = Out>>(case: &Case, start: &str, gaps: Gaps, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, start, gaps, probe)?;
    let mut rng = case.rng("accesses");
    let access = |rng: &mut Rng, words: u64| Access {
        addr: rng.below(words) as u8 * 9 % WORDS as u8,
        write: rng.chance(1, 2).then(|| rng.bits() as u32),
    };
    for fault in [[true; 2], [false, true], [true, false]] {
        // Who waits is helped by the other, who never waits.
        bench.fault = fault;
        let words = rng.between(1, 9);
        for _ in 0..400 {
            for p in 0..2 {
                bench.sources[p].push(access(&mut rng, words));
            }
        }
        let end = bench.rig.cycle + 40_000;
        while bench.sources.iter().all(|source| !source.is_empty()) {
            bench.cycle()?;
            holds(Rule::Hang, bench.rig.cycle < end, || format!("{:x?}", bench.open))?;
        }
        // Nobody is left to help.
        bench.fault = [true; 2];
        bench.finish([false; 2])?;
    }
    // A reset with both waiting, and under way.
    for words in [1, 9] {
        bench.fault = [false; 2];
        for _ in 0..40 {
            for p in 0..2 {
                bench.sources[p].push(access(&mut rng, words));
            }
        }
        for _ in 0..rng.between(20, 100) {
            bench.cycle()?;
        }
        for p in 0..2 {
            bench.sources[p].stop();
        }
        bench.reset()?;
        bench.fault = [true; 2];
        bench.finish([false; 2])?;
    }
    Ok(())
}

/// C20: the truth table in both modes, from both sources, of all 128 words.
fn truth_table<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe)?;
    for p in [HOST, NETWORK] {
        for addr in 0..WORDS as u8 {
            bench.fault = [true; 2];
            let data = 0x1000 * (p as u32 + 1) + u32::from(addr);
            let is = |what: &str, got, want| {
                holds(Rule::Answer, got == want, || {
                    format!("source {p}, word {addr}: {what} {got:x?}")
                })
            };
            is("read of an empty word", bench.ask(p, addr, None)?, Some(Err(Conflict)))?;
            is(
                "write to an empty word",
                bench.ask(p, addr, Some(data))?,
                Some(Ok(None)),
            )?;
            is(
                "write to a full word",
                bench.ask(p, addr, Some(!data))?,
                Some(Err(Conflict)),
            )?;
            is("read of a full word", bench.ask(p, addr, None)?, Some(Ok(Some(data))))?;
            // The same, waiting, and ended by the other source.
            bench.fault = [false; 2];
            is("read of an empty word", bench.ask(p, addr, None)?, None)?;
            is(
                "write by the other",
                bench.ask(1 - p, addr, Some(data))?,
                Some(Ok(None)),
            )?;
            bench.finish([false; 2])?;
            let last = bench.answers.last().copied();
            holds(Rule::Answer, last == Some((p, Ok(Some(data)))), || {
                format!("word {addr}: {last:x?}")
            })?;
            is(
                "write to an empty word",
                bench.ask(p, addr, Some(data))?,
                Some(Ok(None)),
            )?;
            is("write to a full word", bench.ask(p, addr, Some(!data))?, None)?;
            is("read by the other", bench.ask(1 - p, addr, None)?, Some(Ok(Some(data))))?;
            bench.finish([false; 2])?;
            is("read of what waited", bench.ask(p, addr, None)?, Some(Ok(Some(!data))))?;
        }
    }
    Ok(())
}

/// A source that waits does not hold up the other, and ends with a fault when that is asked for.
fn a_wait_harms_nobody<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[1], Gaps::None, probe)?;
    for p in [HOST, NETWORK] {
        bench.fault = [false; 2];
        let waits = bench.ask(p, 7, None)?;
        holds(Rule::Answer, waits.is_none(), || format!("{waits:x?}"))?;
        let from = bench.rig.cycle;
        for i in 0..50 {
            bench.sources[1 - p].push(Access {
                addr: 9,
                write: (i % 2 == 0).then_some(i),
            });
        }
        let mut waiting = [false; 2];
        waiting[p] = true;
        bench.finish(waiting)?;
        let cycles = bench.rig.cycle - from;
        holds(Rule::Latency, cycles <= 50 * 4 + 1, || {
            format!("50 accesses beside a wait took {cycles} cycles")
        })?;
        bench.fault[p] = true;
        bench.finish([false; 2])?;
        let last = bench.answers.last().copied();
        holds(Rule::Answer, last == Some((p, Err(Conflict))), || format!("{last:x?}"))?;
    }
    Ok(())
}

#[test]
fn follows_its_model() {
    for start in STARTS {
        for gaps in Gaps::ALL {
            let case = Case::new("ap1000p", "mc::creg::follows_its_model", format!("{gaps:?} {start}"));
            case.run(|probe| follows::<Ap1000pCreg>(&case, start, gaps, probe));
        }
    }
}

#[test]
fn c20_truth_table_of_all_words() {
    let case = Case::new("ap1000p", "mc::creg::c20_truth_table_of_all_words", "");
    case.run(|probe| truth_table::<Ap1000pCreg>(&case, probe));
}

#[test]
fn c20_a_wait_harms_nobody() {
    let case = Case::new("ap1000p", "mc::creg::c20_a_wait_harms_nobody", "");
    case.run(|probe| a_wait_harms_nobody::<Ap1000pCreg>(&case, probe));
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let test = "mc::creg::each_twin_is_caught";
    let probe = Probe::default();
    let mut found: Vec<_> = Gaps::ALL
        .into_iter()
        .map(|gaps| {
            follows::<U>(
                &Case::new("ap1000p", test, format!("{gaps:?}")),
                STARTS[0],
                gaps,
                &probe,
            )
        })
        .collect();
    found.push(a_wait_harms_nobody::<U>(&Case::new("ap1000p", test, ""), &probe));
    found
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Answer", &checks::<TwinCregStale>),
        ("Answer", &checks::<TwinCregChanges>),
        ("Present", &checks::<TwinCregPresent>),
        ("Latency", &checks::<TwinCregTurns>),
        ("Hang", &checks::<TwinCregStuck>),
        ("Protocol", &checks::<TwinCregKeeps>),
        ("Path", &checks::<TwinCregPath>),
        ("Rest", &checks::<TwinCregRest>),
    ];
    each_is_caught(&RULES, twins);
}
