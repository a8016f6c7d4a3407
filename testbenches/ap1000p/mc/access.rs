//! The remote access generator against its model: each access's message, copy and answer, with tags that answer at random.

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::access::{Access, Course, Pages};
use tsunagi::ap1000p::golden::send::Place;
use tsunagi::ap1000p::golden::wtp::{LOCAL_BITS, Remote, Tags, Update};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer};
use tsunagi::harness::wave::Probe;
use tsunagi::{Addr, Cycle};

use crate::rig::{Common, Ports, Rig, Twin, each_is_caught};
use crate::{SLOW, STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The words for the queue: whether, and which.
    Message,
    /// What a load gives, and why not.
    Answer,
    /// The bytes of the copy.
    Copy,
    /// The tags' answer is not taken before the copy has been accessed.
    Held,
    /// A store is counted when it is taken; what is refused, makes a copy stale or answers no load is told.
    Reported,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 9] = [
    Rule::Message,
    Rule::Answer,
    Rule::Copy,
    Rule::Held,
    Rule::Reported,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

const PLACE: Place = Place {
    at: [3, 1],
    size: [5, 4],
};
const PAGES: Pages = Pages { low: 4, high: 8 };
/// Of the local cache; its copies of the pages are the first 64 KB behind it.
const CACHE: u32 = 0x20_0000;
/// Bytes of memory whose accesses are answered with an error.
const BAD: std::ops::Range<u32> = 0x5800..0x6000;

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    req: Option<Access>,
    take: bool,
    out_ready: bool,
    /// The answer of a load: its words, or none.
    load: Option<Option<u64>>,
    /// Whose answer it is: {x, y}.
    load_cell: [u8; 2],
    tag_ready: bool,
    /// Hit, and where.
    tag: Option<(bool, u32)>,
    mem: MemPortsOut,
}

/// The one output that may follow an input within the cycle: it goes to a counter inside the cell.
#[derive(Clone, Copy, Debug)]
pub struct Issue(bool);

impl PartialEq for Issue {
    fn eq(&self, _: &Issue) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Out {
    ready: bool,
    rsp: Option<(bool, u64)>,
    why: u32,
    issue: Issue,
    refused: bool,
    stale: bool,
    stray: bool,
    out: Option<(u32, bool)>,
    tag_req: Option<Remote>,
    tag_taken: bool,
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
                let [x, y] = PLACE.at;
                self.x_i.set(x);
                self.y_i.set(y);
                self.last_x_i.set(PLACE.size[0] - 1);
                self.last_y_i.set(PLACE.size[1] - 1);
                self.low_i.set(PAGES.low);
                self.high_i.set(PAGES.high);
                self.acks_full_i.set_bool(false);
                let write = Some(0xdead_beef);
                let junk = Access { cell: [1, 1], registers: false, addr: 0x5554, size: 2, write };
                let access = inputs.req.unwrap_or(junk);
                self.dsm_req_valid_i.set_bool(inputs.req.is_some());
                self.dsm_req_write_i.set_bool(access.write.is_some());
                self.dsm_req_registers_i.set_bool(access.registers);
                self.dsm_req_cell_i.set(access.name());
                self.dsm_req_addr_i.set(access.addr);
                self.dsm_req_size_i.set(access.size);
                self.dsm_req_data_i.set(access.write.unwrap_or(0x5555_5555_5555_5555));
                self.dsm_rsp_ready_i.set_bool(inputs.take);
                self.out_ready_i.set_bool(inputs.out_ready);
                self.load_valid_i.set_bool(inputs.load.is_some());
                let load = inputs.load.flatten();
                self.load_err_i.set_bool(load.is_none());
                self.load_cell_i.set(u16::from_le_bytes(inputs.load_cell));
                self.load_data_i.set(load.unwrap_or(0xaaaa_aaaa_aaaa_aaaa));
                self.tag_req_ready_i.set_bool(inputs.tag_ready);
                self.tag_rsp_valid_i.set_bool(inputs.tag.is_some());
                let (hit, local) = inputs.tag.unwrap_or((false, 0x1234));
                self.tag_hit_i.set_bool(hit);
                self.tag_local_i.set(local);
                tsunagi::set_mem_ports!(self, &inputs.mem);
            }

            fn seen(&self) -> Out {
                Out {
                    ready: self.dsm_req_ready_o.is_set(),
                    rsp: self.dsm_rsp_valid_o.is_set().then(|| (self.dsm_rsp_err_o.is_set(), self.dsm_rsp_data_o.get())),
                    why: self.why_o.get().into(),
                    issue: Issue(self.issue_o.is_set()),
                    refused: self.refused_o.is_set(),
                    stale: self.stale_o.is_set(),
                    stray: self.stray_o.is_set(),
                    out: self.out_valid_o.is_set().then(|| (self.out_data_o.get(), self.out_end_o.is_set())),
                    tag_req: self.tag_req_valid_o.is_set().then(|| Remote {
                        cell: self.tag_req_cell_o.get(),
                        addr: self.tag_req_addr_o.get(),
                    }),
                    tag_taken: self.tag_rsp_ready_o.is_set(),
                    mem: tsunagi::mem_ports!(self),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pAccess
       TwinAccessLocal TwinAccessPages TwinAccessLanes TwinAccessMiss TwinAccessTag TwinAccessEarly TwinAccessIssue TwinAccessError TwinAccessStray
       TwinAccessCell TwinAccessProtocol TwinAccessPath TwinAccessStuck TwinAccessRest);

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    agent: MemoryAgent,
    memory: Memory,
    /// What the copies are to be.
    copies: Memory,
    tags: Tags,
    pacers: [Pacer; 5],
    words: Monitor<(u32, bool)>,
    answers: Monitor<(bool, u64)>,
    /// In the last cycle there was an answer that nobody waited for.
    stray: bool,
    rng: Rng,
    forger: Rng,
}

fn memory() -> Memory {
    let mut memory = Memory::new(CACHE as usize + 0x1_0000);
    memory.poison(0..CACHE + 0x1_0000);
    memory.inject_fault(CACHE + BAD.start..CACHE + BAD.end);
    memory
}

impl<'a, U: Ports<In = In, Out = Out>> Bench<'a, U> {
    fn new(case: &Case, start: &str, gaps: Gaps, timing: MemoryTiming, probe: &'a Probe) -> Result<Self, String> {
        let pacer = |pauses, name: &str| Pacer::new(pauses, case.rng(name));
        let jitter = Cycle(if gaps == Gaps::None { 0 } else { 6 });
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            agent: MemoryAgent::new(timing, 4).with_jitter(case.rng("memory").bits(), jitter, jitter),
            memory: memory(),
            copies: memory(),
            tags: Tags::new(CACHE),
            pacers: [
                pacer(gaps.at_sink(), "takes"),
                pacer(gaps.at_sink(), "words"),
                pacer(gaps.at_source(), "loads"),
                pacer(gaps.at_sink(), "lookups"),
                pacer(gaps.at_source(), "tags"),
            ],
            words: Monitor::default(),
            answers: Monitor::default(),
            stray: false,
            rng: case.rng("accesses"),
            forger: case.rng("forged answers"),
        };
        bench.rig.step(&In::default(), true)?;
        Ok(bench)
    }

    /// A load or store of anything: mostly of the few pages around the Write Through Pages.
    fn access(&mut self) -> Access {
        let rng = &mut self.rng;
        let size = rng.below(4) as u8;
        let page = rng.between(3, 8) as u32;
        let mut addr = page << 12 | rng.below(0x1000) as u32;
        if !rng.chance(1, 8) {
            addr &= !((1 << size) - 1);
        }
        if rng.chance(1, 12) {
            addr |= 1 << rng.between(LOCAL_BITS.into(), 31);
        }
        let cell = [rng.below(6) as u8, rng.below(5) as u8];
        let mut access = Access {
            cell,
            registers: false,
            addr,
            size,
            write: None,
        };
        if rng.chance(1, 2) {
            // Other lanes mean nothing.
            access.write = Some(rng.bits());
        }
        access.registers = rng.chance(1, 8);
        access
    }

    /// One access from its offer to its end.
    fn one(&mut self) -> Result<(), String> {
        let access = self.access();
        let remote = Remote {
            cell: access.name(),
            addr: access.addr,
        };
        for update in [Update::Set, Update::Line] {
            if self.rng.chance(1, 3) && access.addr >> LOCAL_BITS == 0 {
                self.tags.update(update, remote);
            }
        }
        let course = access.course(PLACE, PAGES, &mut self.tags);
        let told = |what: String| format!("{access:x?}, {course:x?}: {what}");
        let (message, copy) = match &course {
            Course::Refused | Course::Miss => (Vec::new(), None),
            Course::Message(words) => (words.clone(), None),
            Course::Both(words, at) => (words.clone(), Some(*at)),
            Course::Copy(at) => (Vec::new(), Some(*at)),
        };
        let faulty = copy.is_some_and(|at| !self.memory.bus_ok(Addr(at & !3), 4));
        let stores = access.write.is_some();
        let (loaded, answers) = (self.rng.bits(), self.rng.chance(4, 5));
        let (refused, asks) = (
            course == Course::Refused,
            // Registers have no copies.
            !access.registers && PAGES.have(access.addr) && course != Course::Refused,
        );
        let (want, why) = match (&course, copy) {
            (Course::Refused, _) => (0, ACCESS_REFUSED),
            (Course::Miss, _) => (0, ACCESS_MISS),
            (_, Some(_)) if faulty => (0, ACCESS_FAILED),
            (Course::Copy(at), _) => {
                let at = Addr(at & !3);
                let bytes = self
                    .memory
                    .read(at, if access.size == 3 { 8 } else { 4 })
                    .expect("there");
                (
                    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
                    ACCESS_DONE,
                )
            }
            _ if !answers => (0, ACCESS_FAILED),
            _ if access.size == 3 => (loaded, ACCESS_DONE),
            _ => (loaded & 0xffff_ffff, ACCESS_DONE),
        };
        if let (Course::Both(_, at), false) = (&course, faulty) {
            assert!(self.copies.write(Addr(*at), &access.bytes()));
        }

        let (mut taken, mut words, mut asked, mut tag, mut accessed) = (false, 0, false, false, false);
        let (mut load, mut answered, mut counted, mut seen_refused, mut seen_stale) = (false, false, 0, 0, 0);
        let end = self.rig.cycle + 600;
        let mut quiet = 0;
        while quiet < 3 {
            holds(Rule::Hang, self.rig.cycle < end, || told("does not end".into()))?;
            let [take, out_ready, loads, lookups, tags] = self.pacers.each_mut().map(Pacer::step);
            let awaited = (load && loads).then_some(answers.then_some(loaded));
            // An answer that nobody waits for, or not from this cell, often.
            let forged = awaited.is_none() && self.forger.chance(1, 4);
            let mut load_cell = access.cell;
            if load && forged {
                load_cell[self.forger.below(2) as usize] ^= 1 << self.forger.below(8);
            }
            let inputs = In {
                req: (!taken).then_some(access),
                take,
                out_ready,
                load: awaited.or(forged.then(|| self.forger.chance(1, 2).then(|| self.forger.bits()))),
                load_cell,
                tag_ready: lookups,
                // An answer stays until it is taken.
                tag: (asked && (tag || tags)).then(|| self.tags.lookup(remote)),
                mem: *self.agent.ports(),
            };
            tag = inputs.tag.is_some();
            let seen = self.rig.step(&inputs, false)?;
            let before = std::mem::replace(&mut self.stray, forged);
            holds(Rule::Reported, seen.stray == before, || {
                told(format!("a stray answer: {before}, told: {}", seen.stray))
            })?;
            self.words
                .step(seen.out.as_ref(), out_ready)
                .map_err(|e| format!("{:?}: {e}", Common::Protocol))?;
            self.answers
                .step(seen.rsp.as_ref(), take)
                .map_err(|e| format!("{:?}: {e}", Common::Protocol))?;
            if load && loads {
                load = false;
            }
            let under_way = asked || self.agent.has_taken() || seen.rsp.is_some() || seen.out.is_some();
            holds(Rule::Rest, seen.busy || !under_way, || told("not busy".into()))?;
            let mem = &inputs.mem;
            self.agent
                .step(Cycle(self.rig.cycle), &mut self.memory, &seen.mem, |_| ());
            accessed |= mem.wr_rsp_valid && seen.mem.wr_rsp_ready;
            accessed |= mem.rd_data_valid && seen.mem.rd_data_ready && mem.rd_data_last;
            if let Some((word, last)) = seen.out.filter(|_| out_ready) {
                let expected = message.get(words).map(|&word| (word, words + 1 == message.len()));
                holds(Rule::Message, expected == Some((word, last)), || {
                    told(format!("word {words} is {word:x} {last}, not {expected:x?}"))
                })?;
                words += 1;
                load |= last && !stores;
            }
            if let Some(remote_seen) = seen.tag_req.filter(|_| lookups) {
                holds(Rule::Message, asks && remote_seen == remote, || {
                    told(format!("asks for {remote_seen:x?}"))
                })?;
                asked = true;
            }
            if inputs.tag.is_some() && seen.tag_taken {
                holds(Rule::Held, accessed || copy.is_none(), || {
                    told("the tags may change before the copy is accessed".into())
                })?;
                (asked, tag) = (false, false);
            }
            if let Some((err, data)) = seen.rsp.filter(|_| take) {
                let same = err == (why != ACCESS_DONE) && seen.why == why && (err || data == want);
                holds(Rule::Answer, !stores && same, || {
                    told(format!("answered {data:x}, why {}, not {want:x}, why {why}", seen.why))
                })?;
                answered = true;
            }
            seen_refused += u32::from(seen.refused);
            seen_stale += u32::from(seen.stale);
            if inputs.req.is_some() && seen.ready {
                counted += u32::from(seen.issue.0);
                taken = true;
            }
            quiet = if taken && !seen.busy && !load { quiet + 1 } else { 0 };
        }
        holds(Rule::Message, words == message.len(), || told(format!("{words} words")))?;
        holds(Rule::Answer, answered != stores, || told("not answered".into()))?;
        let [issues, refusals, stale] = [stores && !refused, refused, stores && faulty].map(u32::from);
        holds(
            Rule::Reported,
            (counted, seen_refused, seen_stale) == (issues, refusals, stale),
            || told(format!("counted {counted}, refused {seen_refused}, stale {seen_stale}")),
        )?;
        if let Some(at) = copy {
            let line = Addr(at & !7);
            holds(
                Rule::Copy,
                self.memory.read(line, 8) == self.copies.read(line, 8),
                || {
                    told(format!(
                        "{:x?}, not {:x?}",
                        self.memory.read(line, 8),
                        self.copies.read(line, 8)
                    ))
                },
            )?;
        }
        Ok(())
    }
}

/// Random accesses one after the other.
fn follows<U: Ports<In = In, Out = Out>>(
    case: &Case,
    start: &str,
    gaps: Gaps,
    timing: MemoryTiming,
    probe: &Probe,
) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, start, gaps, timing, probe)?;
    for _ in 0..600 {
        bench.one()?;
    }
    Ok(())
}

#[test]
fn accesses_follow_the_model() {
    for start in STARTS {
        for gaps in Gaps::ALL {
            for timing in [MemoryTiming::IDEAL, SLOW] {
                Case::new(
                    "ap1000p",
                    "mc::access::accesses_follow_the_model",
                    format!("{start}, {gaps:?}, {timing:?}"),
                )
                .run(|probe| {
                    let case = Case::new("ap1000p", "mc::access", format!("{gaps:?}"));
                    follows::<Ap1000pAccess>(&case, start, gaps, timing, probe)
                });
            }
        }
    }
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let probe = Probe::default();
    let case = |gaps: Gaps| Case::new("ap1000p", "mc::access::each_twin_is_caught", format!("{gaps:?}"));
    [(Gaps::None, MemoryTiming::IDEAL), (Gaps::Both, SLOW)]
        .into_iter()
        .map(|(gaps, timing)| follows::<U>(&case(gaps), STARTS[0], gaps, timing, &probe))
        .collect()
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Message", &checks::<TwinAccessLocal>),
        ("Message", &checks::<TwinAccessPages>),
        ("Copy", &checks::<TwinAccessLanes>),
        ("Answer", &checks::<TwinAccessMiss>),
        ("Answer", &checks::<TwinAccessTag>),
        ("Held", &checks::<TwinAccessEarly>),
        ("Reported", &checks::<TwinAccessIssue>),
        ("Reported", &checks::<TwinAccessError>),
        ("Reported", &checks::<TwinAccessStray>),
        ("Reported", &checks::<TwinAccessCell>),
        ("Protocol", &checks::<TwinAccessProtocol>),
        ("Path", &checks::<TwinAccessPath>),
        ("Hang", &checks::<TwinAccessStuck>),
        ("Rest", &checks::<TwinAccessRest>),
    ];
    each_is_caught(&RULES, twins);
}
