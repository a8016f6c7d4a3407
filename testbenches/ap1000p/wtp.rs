//! The tags of the local cache against their model: every response, with updates at any time.

use std::cell::Cell;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::wtp::{CACHE, ENTRIES, LINE, LOCAL_BITS, Remote, Tags, Update};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// Hit or miss, and the place in the local cache.
    Response
    /// While a response waits, no update is taken.
    Flight
    /// A lookup takes three cycles, an update four. A lookup that waits is passed over by one update at most.
    Latency
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// Every lookup and every update ends.
    Hang
    /// The unit is busy while it sweeps, or a lookup or an update is open, and only then.
    Rest
);

/// Address of the local cache.
const BASE: u32 = 0x0340_0000;
const PAGE: u32 = 4096;

/// A number that an [`Update`] has, or another one of three bits.
type Kind = u8;

#[derive(Clone, Copy, Debug, Default)]
struct In {
    lookup: Option<Remote>,
    take: bool,
    update: Option<(Kind, Remote)>,
}

/// Hit, and the place.
type Response = (bool, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ready: bool,
    response: Option<Response>,
    update_ready: bool,
    busy: bool,
}

fn set(dut: &impl Ap1000pWtpPorts, inputs: &In) {
    let junk = Remote {
        cell: 0x155,
        addr: 0x155_5555,
    };
    // The unit ignores the low bits of the base.
    dut.base_i().set((BASE | 0xfff).into());
    dut.req_valid_i().set_bool(inputs.lookup.is_some());
    let lookup = inputs.lookup.unwrap_or(junk);
    dut.req_cell_i().set(lookup.cell.into());
    dut.req_addr_i().set(lookup.addr.into());
    dut.rsp_ready_i().set_bool(inputs.take);
    dut.upd_valid_i().set_bool(inputs.update.is_some());
    let (kind, at) = inputs.update.unwrap_or((7, junk));
    dut.upd_kind_i().set(kind.into());
    dut.upd_cell_i().set(at.cell.into());
    dut.upd_addr_i().set(at.addr.into());
}

fn seen(dut: &impl Ap1000pWtpPorts) -> Out {
    let response = || (dut.hit_o().is_set(), dut.local_o().get() as u32);
    Out {
        ready: dut.req_ready_o().is_set(),
        response: dut.rsp_valid_o().is_set().then(response),
        update_ready: dut.upd_ready_o().is_set(),
        busy: dut.busy_o().is_set(),
    }
}

fn wtp<U: Ap1000pWtpUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// A lookup under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    remote: Remote,
    /// The cycle in which it was taken.
    taken: u64,
    /// Updates since.
    updates: u32,
    /// It has its response.
    responded: bool,
}

/// The unit with its sources and its sink.
struct Environment<'a> {
    bench: Bench<'a, In, Out>,
    model: Tags,
    lookups: Source<Remote>,
    updates: Source<(Kind, Remote)>,
    take: Pacer,
    monitor: Monitor<Response>,
    open: Option<Open>,
    /// Cycles of the last lookup and of the last update.
    lookup_cycles: u64,
    update_cycles: u64,
    /// The cycle of the first offer of the update.
    offered: Option<u64>,
    /// The cycle in which the reset's sweep ends.
    swept: u64,
    /// The unit was busy in the cycle before.
    was_busy: bool,
    /// The last response.
    response: Option<Response>,
    hits: u32,
}

impl<'a> Environment<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps) -> Result<Self, Fault> {
        let mut env = Environment {
            bench: Bench::new(run, dut),
            model: Tags::new(BASE),
            lookups: Source::new([], run.pacer(gaps.at_source(), "lookups")),
            updates: Source::new([], run.pacer(true, "updates")),
            take: run.pacer(gaps.at_sink(), "takes"),
            monitor: Monitor::default(),
            open: None,
            lookup_cycles: 0,
            update_cycles: 0,
            offered: None,
            swept: 0,
            was_busy: false,
            response: None,
            hits: 0,
        };
        env.reset()?;
        Ok(env)
    }

    fn reset(&mut self) -> Result<(), Fault> {
        self.bench.reset(&In::default())?;
        self.model = Tags::new(BASE);
        self.lookups.reset();
        self.updates.reset();
        self.monitor.reset();
        self.open = None;
        self.offered = None;
        self.swept = self.bench.cycle() + ENTRIES as u64;
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), Fault> {
        let now = self.bench.cycle();
        let inputs = In {
            lookup: self.lookups.offer().copied(),
            take: self.take.step(),
            update: self.updates.offer().copied(),
        };
        let seen = self.bench.step(&inputs)?;
        self.check(now, &inputs, &seen).map_err(|fault| fault.at(now))
    }

    fn check(&mut self, now: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        let open = self.open.is_some() || now < self.swept;
        Rule::Rest.holds(seen.busy || !open, || "not busy".into())?;
        if let Some(response) = seen.response {
            self.respond(response, now)?;
        }
        self.monitor.step(seen.response.as_ref(), inputs.take)?;
        if seen.response.is_some() && inputs.take {
            self.open = None;
        }
        if inputs.update.is_some() {
            self.offered = self.offered.or(Some(now));
        }
        if let Some((kind, remote)) = self.updates.step(seen.update_ready) {
            let response = seen.response;
            Rule::Flight.holds(response.is_none(), || {
                format!("{response:x?} waits, and an update is taken")
            })?;
            if let Some(update) = Update::ALL.into_iter().find(|update| *update as u8 == kind) {
                self.model.update(update, remote);
            }
            Rule::Rest.holds(self.was_busy, || "not busy, and an update ends".into())?;
            self.update_cycles = now - self.offered.take().expect("an update that is taken was offered");
            if let Some(open) = &mut self.open {
                open.updates += 1;
                Rule::Latency.holds(open.updates <= 1, || format!("{open:x?} is passed over"))?;
            }
        }
        if let Some(remote) = self.lookups.step(seen.ready) {
            self.open = Some(Open {
                remote,
                taken: now,
                updates: 0,
                responded: false,
            });
        }
        self.was_busy = seen.busy;
        Ok(())
    }

    /// A response, new or one that waits.
    fn respond(&mut self, got: Response, now: u64) -> Result<(), Fault> {
        let Some(open) = &mut self.open else {
            return Err(Rule::Response.broken(format!("{got:x?} without a lookup")));
        };
        if open.responded {
            return Ok(());
        }
        open.responded = true;
        let want = self.model.lookup(open.remote);
        Rule::Response.holds(got == want, || format!("{:x?}: {got:x?}, not {want:x?}", open.remote))?;
        self.lookup_cycles = now - open.taken;
        self.response = Some(got);
        self.hits += u32::from(got.0);
        Ok(())
    }

    /// Until no lookup and no update is left.
    fn finish(&mut self) -> Result<(), Fault> {
        let end = self.bench.cycle() + 40_000;
        while self.open.is_some() || self.lookups.len() + self.updates.len() > 0 {
            self.cycle()?;
            Rule::Hang.holds(self.bench.cycle() < end, || {
                let (lookups, updates) = (self.lookups.len(), self.updates.len());
                format!("{:x?}, {lookups} lookups and {updates} updates left", self.open)
            })?;
        }
        self.cycle()?;
        Rule::Rest.holds(!self.bench.seen().busy, || "busy after the last response".into())
    }

    /// One update alone.
    fn update(&mut self, update: Update, remote: Remote) -> Result<(), Fault> {
        self.updates.push((update as u8, remote));
        self.finish()
    }

    /// One lookup alone.
    fn lookup(&mut self, remote: Remote) -> Result<Response, Fault> {
        self.lookups.push(remote);
        self.finish()?;
        Ok(self.response.expect("a lookup that is done has its response"))
    }

    /// One lookup that hits or misses.
    fn expect(&mut self, remote: Remote, hit: bool, what: &str) -> Result<(), Fault> {
        let got = self.lookup(remote)?.0;
        Rule::Response.holds(got == hit, || format!("{what}, {remote:x?}: hit {got}, not {hit}"))
    }
}

/// A byte of a few pages that share a few places.
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

/// Random lookups and updates of both sides at once, with resets; the number of hits.
fn random(run: &Run, dut: &Dut<In, Out>, gaps: Gaps) -> Result<u32, Fault> {
    let mut env = Environment::new(run, dut, gaps)?;
    let mut rng = run.rng("work");
    for _ in 0..3 {
        for _ in 0..600 {
            env.lookups.push(remote(&mut rng));
        }
        for _ in 0..200 {
            let kind = match rng.below(100) {
                0 => Update::All as u8,
                1..=4 => rng.between(5, 7) as u8,
                n => [Update::Set, Update::Set, Update::Claim, Update::Line, Update::Page][n as usize % 5] as u8,
            };
            env.updates.push((kind, remote(&mut rng)));
        }
        for _ in 0..rng.between(700, 2000) {
            env.cycle()?;
        }
        if rng.chance(1, 2) {
            env.reset()?;
        }
        env.finish()?;
    }
    Ok(env.hits)
}

/// Each case's number of hits goes to `count`.
fn follows(dut: &Dut<In, Out>, starts: &[Start], cases: &mut Cases, count: impl Fn(u32)) {
    for gaps in Gaps::ALL {
        let params = format!("{} {gaps:?}", dut.name);
        cases.from_each(starts, params, |run| random(run, dut, gaps).map(&count));
    }
}

/// Alone, a lookup takes 3 cycles and an update 4. To forget all pages takes one more than there are entries.
fn latency(dut: &Dut<In, Out>, cases: &mut Cases) {
    cases.case(Start::Random1, dut.name, |run| {
        let mut env = Environment::new(run, dut, Gaps::None)?;
        let here = Remote {
            cell: 3,
            addr: 0x12_3456,
        };
        // The first one waits for the reset's sweep.
        env.update(Update::Set, here)?;
        for (update, want) in [(Update::Set, 4), (Update::Line, 4), (Update::All, ENTRIES as u64 + 1)] {
            env.update(update, here)?;
            let cycles = env.update_cycles;
            Rule::Latency.holds(cycles == want, || {
                format!("{update:?} took {cycles} cycles, not {want}")
            })?;
        }
        env.lookup(here)?;
        let cycles = env.lookup_cycles;
        Rule::Latency.holds(cycles == 3, || format!("a lookup took {cycles} cycles, not 3"))
    });
}

/// One case of the unit with a check of its own.
fn case(cases: &mut Cases, check: impl Fn(&mut Environment) -> Result<(), Fault>) {
    let dut = wtp::<Ap1000pWtp>();
    cases.case(Start::Random1, dut.name, |run| {
        check(&mut Environment::new(run, &dut, Gaps::None)?)
    });
}

#[test]
fn follows_its_model() {
    let hits = Cell::new(0);
    pass(this_test!(), |cases| {
        let count = |more| hits.set(hits.get() + more);
        follows(&wtp::<Ap1000pWtp>(), &Start::RANDOM, cases, count);
    });
    println!("{} hits", hits.get());
    assert!(hits.get() > 1000, "{} hits", hits.get());
}

#[test]
fn takes_the_documented_cycles() {
    pass(this_test!(), |cases| latency(&wtp::<Ap1000pWtp>(), cases));
}

/// C19: each of a page's four lines comes and goes by itself.
#[test]
fn c19_sub_lines_are_independent() {
    let check = |env: &mut Environment| {
        let byte = |line: u32| Remote {
            cell: 0x2a5,
            addr: 7 * PAGE + line * LINE + LINE - 4,
        };
        for lines in 0..16_u32 {
            env.update(Update::All, byte(0))?;
            for line in (0..4).filter(|line| lines >> line & 1 != 0) {
                env.update(Update::Set, byte(line))?;
            }
            for gone in 0..=4 {
                for line in 0..4 {
                    let hit = lines >> line & 1 != 0 && line >= gone;
                    env.expect(byte(line), hit, &format!("lines {lines:#b}, {gone} gone"))?;
                }
                env.update(Update::Line, byte(gone % 4))?;
            }
        }
        Ok(())
    };
    pass(this_test!(), |cases| case(cases, check));
}

/// C19: the cache holds 512 pages at once, each at its own place.
#[test]
fn c19_all_entries_are_usable() {
    let check = |env: &mut Environment| {
        let byte = |page: u32| Remote {
            cell: (page % 1024) as u16,
            addr: page % 16 * CACHE + page * PAGE + page,
        };
        for page in 0..ENTRIES as u32 {
            env.update(Update::Set, byte(page))?;
        }
        for page in 0..ENTRIES as u32 {
            let (got, want) = (env.lookup(byte(page))?, (true, BASE + page * PAGE + page));
            Rule::Response.holds(got == want, || format!("page {page}: {got:x?}, not {want:x?}"))?;
        }
        Ok(())
    };
    pass(this_test!(), |cases| case(cases, check));
}

/// C19: a new page takes the place of an old one. The old one misses from the claim on, before the new data are there.
#[test]
fn c19_a_conflict_replaces() {
    let check = |env: &mut Environment| {
        let old = Remote {
            cell: 1,
            addr: 5 * PAGE,
        };
        let beyond = Remote {
            addr: old.addr + CACHE,
            ..old
        };
        for new in [Remote { cell: 2, ..old }, beyond] {
            env.update(Update::Set, old)?;
            env.expect(old, true, "old page")?;
            // These updates are of a page that is not there.
            env.update(Update::Line, new)?;
            env.update(Update::Page, new)?;
            env.expect(old, true, "old page after updates of the new one")?;
            env.update(Update::Claim, new)?;
            env.expect(old, false, "old page after the claim")?;
            env.expect(new, false, "new page before it is set")?;
            env.update(Update::Set, new)?;
            env.expect(new, true, "new page")?;
            env.expect(old, false, "old page after the new one")?;
        }
        Ok(())
    };
    pass(this_test!(), |cases| case(cases, check));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let checks = |dut: Dut<In, Out>, cases: &mut Cases| {
        follows(&dut, &[Start::Random1], cases, drop);
        latency(&dut, cases);
    };
    each_is_caught(
        this_test!(),
        &[
            // A line that comes brings all four.
            (Response, &[], &|cases| checks(wtp::<TwinWtpLines>(), cases)),
            // The tags match without their uppermost bits.
            (Response, &[], &|cases| checks(wtp::<TwinWtpTag>(), cases)),
            // To forget one page forgets the other one at its place.
            (Response, &[], &|cases| checks(wtp::<TwinWtpForgets>(), cases)),
            // An update is taken while a response waits.
            (Flight, &[], &|cases| checks(wtp::<TwinWtpFlight>(), cases)),
            // A lookup begins a cycle late.
            (Latency, &[], &|cases| checks(wtp::<TwinWtpLate>(), cases)),
            // A response lasts one cycle.
            (Protocol, &[], &|cases| checks(wtp::<TwinWtpKeeps>(), cases)),
            (Path, &[], &|cases| checks(wtp::<TwinWtpPath>(), cases)),
            // To forget all pages begins again and again.
            (Hang, &[], &|cases| checks(wtp::<TwinWtpStuck>(), cases)),
            // A lookup counts only while the unit works on it.
            (Rest, &[], &|cases| checks(wtp::<TwinWtpRest>(), cases)),
            // A sweep and an update do not count.
            (Rest, &[], &|cases| checks(wtp::<TwinWtpRestsEarly>(), cases)),
        ],
    );
}
