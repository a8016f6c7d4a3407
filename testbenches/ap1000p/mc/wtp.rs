//! The tags of the local cache against their model: every answer, whatever updates come between.

use std::cell::Cell;

use testbenches::rtl::*;
use tsunagi::ap1000p::golden::wtp::{ENTRIES, LOCAL_BITS, Remote, Tags, Update};
use tsunagi::harness::seed::{Case, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use tsunagi::harness::wave::Probe;

use crate::rig::{Common, Ports, Rig, Twin, each_is_caught};
use crate::{STARTS, holds};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Hit or miss, and where.
    Answer,
    /// No update is taken while an answer waits.
    Flight,
    /// Three cycles to an answer, four to an update; a lookup that waits is passed over by one update at most.
    Latency,
    Protocol,
    Path,
    Hang,
    Rest,
}

const RULES: [Rule; 7] = [
    Rule::Answer,
    Rule::Flight,
    Rule::Latency,
    Rule::Protocol,
    Rule::Path,
    Rule::Hang,
    Rule::Rest,
];

/// Address of the local cache.
const BASE: u32 = 0x0340_0000;
const PAGE: u32 = 4096;
/// Bytes of the local cache: pages so far apart share a place.
const CACHE: u32 = ENTRIES as u32 * PAGE;

/// A number that [`Update`] may have, or one that it has not.
type Kind = u8;

#[derive(Clone, Copy, Debug, Default)]
pub struct In {
    req: Option<Remote>,
    take: bool,
    update: Option<(Kind, Remote)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    ready: bool,
    rsp: Option<(bool, u32)>,
    update_ready: bool,
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
                let junk = Remote { cell: 0x155, addr: 0x155_5555 };
                // The low bits of the base are ignored.
                self.base_i.set(BASE | 0xfff);
                self.req_valid_i.set_bool(inputs.req.is_some());
                let req = inputs.req.unwrap_or(junk);
                self.req_cell_i.set(req.cell);
                self.req_addr_i.set(req.addr);
                self.rsp_ready_i.set_bool(inputs.take);
                self.upd_valid_i.set_bool(inputs.update.is_some());
                let (kind, at) = inputs.update.unwrap_or((7, junk));
                self.upd_kind_i.set(kind);
                self.upd_cell_i.set(at.cell);
                self.upd_addr_i.set(at.addr);
            }

            fn seen(&self) -> Out {
                Out {
                    ready: self.req_ready_o.is_set(),
                    rsp: self.rsp_valid_o.is_set().then(|| (self.hit_o.is_set(), self.local_o.get())),
                    update_ready: self.upd_ready_o.is_set(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

ports!(Ap1000pWtp
       TwinWtpLines TwinWtpTag TwinWtpForgets TwinWtpFlight TwinWtpLate TwinWtpKeeps TwinWtpPath TwinWtpStuck TwinWtpRest);

/// A lookup under way: the cycle in which it was taken, updates since, whether it has its answer.
#[derive(Clone, Copy, Debug)]
struct Open {
    remote: Remote,
    taken: u64,
    updates: u32,
    answered: bool,
}

struct Bench<'a, U> {
    rig: Rig<'a, U>,
    model: Tags,
    lookups: Source<Remote>,
    updates: Source<(Kind, Remote)>,
    take: Pacer,
    monitor: Monitor<(bool, u32)>,
    open: Option<Open>,
    /// Cycles that the last answer and the last update took.
    took: [u64; 2],
    /// The cycle in which the update was first offered.
    offered: Option<u64>,
    /// The last answer.
    answer: Option<(bool, u32)>,
    hits: u32,
}

impl<'a, U: Ports<In = In, Out = Out>> Bench<'a, U> {
    fn new(case: &Case, start: &str, gaps: Gaps, probe: &'a Probe) -> Result<Self, String> {
        let pacer = |pauses, name: &str| Pacer::new(pauses, case.rng(name));
        let mut bench = Bench {
            rig: Rig::new(case, start, probe),
            model: Tags::new(BASE),
            lookups: Source::new([], pacer(gaps.at_source(), "lookups")),
            updates: Source::new([], pacer(true, "updates")),
            take: pacer(gaps.at_sink(), "takes"),
            monitor: Monitor::default(),
            open: None,
            took: [0; 2],
            offered: None,
            answer: None,
            hits: 0,
        };
        bench.reset()?;
        Ok(bench)
    }

    fn reset(&mut self) -> Result<(), String> {
        self.rig.step(&In::default(), true)?;
        self.model = Tags::new(BASE);
        self.lookups.reset();
        self.updates.reset();
        self.monitor.reset();
        self.open = None;
        self.offered = None;
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.rig.cycle;
        let told = |what: String| format!("cycle {now}: {what}");
        let inputs = In {
            req: self.lookups.offer().copied(),
            take: self.take.step(),
            update: self.updates.offer().copied(),
        };
        let seen = self.rig.step(&inputs, false)?;
        holds(Rule::Rest, seen.busy || self.open.is_none(), || told("not busy".into()))?;
        if let Some(rsp) = seen.rsp {
            let Some(open) = &mut self.open else {
                return holds(Rule::Answer, false, || told(format!("{rsp:x?} answers nothing")));
            };
            if !open.answered {
                let want = self.model.lookup(open.remote);
                holds(Rule::Answer, rsp == want, || {
                    told(format!("{:x?}: {rsp:x?}, not {want:x?}", open.remote))
                })?;
                open.answered = true;
                self.took[0] = now - open.taken;
                self.answer = Some(rsp);
                self.hits += u32::from(rsp.0);
            }
        }
        self.monitor
            .step(seen.rsp.as_ref(), inputs.take)
            .map_err(|e| format!("{:?}: {e}", Common::Protocol))?;
        if seen.rsp.is_some() && inputs.take {
            self.open = None;
        }
        if inputs.update.is_some() {
            self.offered = self.offered.or(Some(now));
        }
        if let Some((kind, remote)) = self.updates.step(seen.update_ready) {
            holds(Rule::Flight, seen.rsp.is_none(), || {
                told(format!("{:x?} waits, and an update is taken", seen.rsp))
            })?;
            if let Some(update) = Update::ALL.into_iter().find(|update| *update as u8 == kind) {
                self.model.update(update, remote);
            }
            self.took[1] = now - self.offered.take().expect("offered");
            if let Some(open) = &mut self.open {
                open.updates += 1;
                holds(Rule::Latency, open.updates <= 1, || {
                    told(format!("{open:x?} is passed over"))
                })?;
            }
        }
        if let Some(remote) = self.lookups.step(seen.ready) {
            self.open = Some(Open {
                remote,
                taken: now,
                updates: 0,
                answered: false,
            });
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), String> {
        let end = self.rig.cycle + 40_000;
        while self.open.is_some() || self.lookups.len() + self.updates.len() > 0 {
            self.cycle()?;
            holds(Rule::Hang, self.rig.cycle < end, || {
                format!(
                    "{:x?}, {} and {} to come",
                    self.open,
                    self.lookups.len(),
                    self.updates.len()
                )
            })?;
        }
        self.cycle()?;
        holds(Rule::Rest, !self.rig.seen().busy, || {
            "busy after the last answer".into()
        })
    }

    /// One update, then nothing.
    fn update(&mut self, update: Update, remote: Remote) -> Result<(), String> {
        self.updates.push((update as u8, remote));
        self.finish()
    }

    /// One lookup: hit or miss.
    fn hits(&mut self, remote: Remote) -> Result<bool, String> {
        self.lookups.push(remote);
        self.finish()?;
        Ok(self.answer.expect("finished").0)
    }
}

/// Bytes of a few pages that share a few places.
fn remote(rng: &mut Rng) -> Remote {
    let places = [0, 1, 0x155, ENTRIES as u32 - 1];
    let above = rng.below(1 << (LOCAL_BITS - CACHE.ilog2())) as u32;
    Remote {
        cell: if rng.chance(1, 8) { 1 << rng.below(10) } else { 0 },
        addr: (if rng.chance(1, 6) { above } else { 0 }) * CACHE
            + places[rng.below(4) as usize] * PAGE
            + rng.below(PAGE.into()) as u32,
    }
}

/// Random lookups and updates of both sides at once, with resets: how many lookups hit.
fn follows<U: Ports<In = In, Out = Out>>(case: &Case, start: &str, gaps: Gaps, probe: &Probe) -> Result<u32, String> {
    let mut bench = Bench::<U>::new(case, start, gaps, probe)?;
    let mut rng = case.rng("work");
    for _ in 0..3 {
        for _ in 0..600 {
            bench.lookups.push(remote(&mut rng));
        }
        for _ in 0..200 {
            let kind = match rng.below(100) {
                0 => Update::All as u8,
                1..=4 => rng.between(5, 7) as u8,
                n => [Update::Set, Update::Set, Update::Claim, Update::Line, Update::Page][n as usize % 5] as u8,
            };
            bench.updates.push((kind, remote(&mut rng)));
        }
        for _ in 0..rng.between(700, 2000) {
            bench.cycle()?;
        }
        if rng.chance(1, 2) {
            bench.reset()?;
        }
        bench.finish()?;
    }
    Ok(bench.hits)
}

/// Alone, a lookup takes 3 cycles, an update 4, forgetting everything one more than there are entries.
fn latency<U: Ports<In = In, Out = Out>>(case: &Case, probe: &Probe) -> Result<(), String> {
    let mut bench = Bench::<U>::new(case, STARTS[0], Gaps::None, probe)?;
    let here = Remote {
        cell: 3,
        addr: 0x12_3456,
    };
    // The reset's own.
    bench.update(Update::Set, here)?;
    for (update, cycles) in [(Update::Set, 4), (Update::Line, 4), (Update::All, ENTRIES as u64 + 1)] {
        bench.update(update, here)?;
        holds(Rule::Latency, bench.took[1] == cycles, || {
            format!("{update:?} took {} cycles", bench.took[1])
        })?;
    }
    bench.hits(here)?;
    holds(Rule::Latency, bench.took[0] == 3, || {
        format!("a lookup took {} cycles", bench.took[0])
    })
}

fn run(test: &'static str, check: impl Fn(&Case, &Probe) -> Result<(), String>) {
    let case = Case::new("ap1000p", test, "");
    case.run(|probe| check(&case, probe));
}

#[test]
fn follows_its_model() {
    let hits = Cell::new(0);
    for start in STARTS {
        for gaps in Gaps::ALL {
            let case = Case::new("ap1000p", "mc::wtp::follows_its_model", format!("{gaps:?} {start}"));
            case.run(|probe| {
                hits.set(hits.get() + follows::<Ap1000pWtp>(&case, start, gaps, probe)?);
                Ok::<_, String>(())
            });
        }
    }
    println!("{} hits", hits.get());
    assert!(hits.get() > 1000, "{} hits", hits.get());
}

#[test]
fn takes_the_cycles_it_says() {
    run("mc::wtp::takes_the_cycles_it_says", latency::<Ap1000pWtp>);
}

/// C19: each of a page's four lines comes and goes by itself.
#[test]
fn c19_sub_lines_are_independent() {
    run("mc::wtp::c19_sub_lines_are_independent", |case, probe| {
        let mut bench = Bench::<Ap1000pWtp>::new(case, STARTS[0], Gaps::None, probe)?;
        let byte = |line: u32| Remote {
            cell: 0x2a5,
            addr: 7 * PAGE + line * 1024 + 1020,
        };
        for lines in 0..16_u32 {
            bench.update(Update::All, byte(0))?;
            for line in (0..4).filter(|line| lines >> line & 1 != 0) {
                bench.update(Update::Set, byte(line))?;
            }
            for gone in 0..=4 {
                for line in 0..4 {
                    let want = lines >> line & 1 != 0 && line >= gone;
                    let got = bench.hits(byte(line))?;
                    holds(Rule::Answer, got == want, || {
                        format!("lines {lines:#b}, {gone} gone: line {line} {got}")
                    })?;
                }
                bench.update(Update::Line, byte(gone % 4))?;
            }
        }
        Ok(())
    });
}

/// C19: 512 pages are there at once, each at its own place of the local cache.
#[test]
fn c19_all_entries_are_usable() {
    run("mc::wtp::c19_all_entries_are_usable", |case, probe| {
        let mut bench = Bench::<Ap1000pWtp>::new(case, STARTS[0], Gaps::None, probe)?;
        let byte = |page: u32| Remote {
            cell: (page % 1024) as u16,
            addr: page % 16 * CACHE + page * PAGE + page,
        };
        for page in 0..ENTRIES as u32 {
            bench.update(Update::Set, byte(page))?;
        }
        for page in 0..ENTRIES as u32 {
            let hit = bench.hits(byte(page))?;
            holds(Rule::Answer, hit, || format!("page {page} is not there"))?;
            let (at, want) = (bench.answer.expect("answered").1, BASE + page * PAGE + page);
            holds(Rule::Answer, at == want, || {
                format!("page {page} is at {at:#x}, not {want:#x}")
            })?;
        }
        Ok(())
    });
}

/// C19: the page that comes takes the place; of the one that goes nothing hits from the claim on, before the new one's data are there.
#[test]
fn c19_a_conflict_replaces() {
    run("mc::wtp::c19_a_conflict_replaces", |case, probe| {
        let mut bench = Bench::<Ap1000pWtp>::new(case, STARTS[0], Gaps::None, probe)?;
        let old = Remote {
            cell: 1,
            addr: 5 * PAGE,
        };
        let is = |what: &str, got: bool, want: bool| holds(Rule::Answer, got == want, || format!("{what}: {got}"));
        for new in [
            Remote { cell: 2, ..old },
            Remote {
                addr: old.addr + CACHE,
                ..old
            },
        ] {
            bench.update(Update::Set, old)?;
            is("old page", bench.hits(old)?, true)?;
            // What is not there is not forgotten.
            bench.update(Update::Line, new)?;
            bench.update(Update::Page, new)?;
            is("old page after updates of the new one", bench.hits(old)?, true)?;
            bench.update(Update::Claim, new)?;
            is("old page after the claim", bench.hits(old)?, false)?;
            is("new page before it is set", bench.hits(new)?, false)?;
            bench.update(Update::Set, new)?;
            is("new page", bench.hits(new)?, true)?;
            is("old page", bench.hits(old)?, false)?;
        }
        Ok(())
    });
}

fn checks<U: Ports<In = In, Out = Out>>() -> Vec<Result<(), String>> {
    let test = "mc::wtp::each_twin_is_caught";
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
            .map(|_| ())
        })
        .collect();
    found.push(latency::<U>(&Case::new("ap1000p", test, ""), &probe));
    found
}

#[test]
fn each_twin_is_caught() {
    let twins: &[Twin] = &[
        ("Answer", &checks::<TwinWtpLines>),
        ("Answer", &checks::<TwinWtpTag>),
        ("Answer", &checks::<TwinWtpForgets>),
        ("Flight", &checks::<TwinWtpFlight>),
        ("Latency", &checks::<TwinWtpLate>),
        ("Protocol", &checks::<TwinWtpKeeps>),
        ("Path", &checks::<TwinWtpPath>),
        ("Hang", &checks::<TwinWtpStuck>),
        ("Rest", &checks::<TwinWtpRest>),
    ];
    each_is_caught(&RULES, twins);
}
