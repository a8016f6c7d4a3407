//! `dimmnet1_tlb`: RVATLB and PATLB.
//!
//! Few keys share few places, so entries replace each other. While a lookup is under way the tables change: it may see
//! each table as it was at any time since it was taken, but not as it was before.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::tlb::{Access, Found, Lookup, Tlb, page_key, region_key};
use tsunagi::dimmnet1::regs;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Source};
use verilated::{Input as _, Port as _};

rules!(
    /// What a lookup gives.
    Response
    /// 2 cycles, 3 with PATLB, if no table is written.
    Latency
    /// A client that waits is passed over at most once by the other.
    Fair
    /// No output follows an input within the cycle.
    Path
    /// An edge at rest changes no output.
    Rest
    /// Every lookup ends, and no other.
    Hang
);

#[derive(Clone, Copy, Debug)]
enum Write {
    Region([u64; 3]),
    Page([u64; 2]),
}

#[derive(Default)]
struct In {
    write: Option<Write>,
    flush: bool,
    requests: [Option<Lookup>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ready: [bool; 2],
    valid: [bool; 2],
    addr: u32,
    reason: u32,
    miss: u32,
    key: u64,
    busy: bool,
}

fn code(access: Access) -> u64 {
    match access {
        Access::Write => 0,
        Access::Read => 1,
        Access::Otf => 2,
        Access::Cell => 3,
    }
}

fn set(dut: &impl Dimmnet1TlbPorts, inputs: &In) {
    let region = match inputs.write {
        Some(Write::Region(words)) => Some(words),
        _ => None,
    };
    let page = match inputs.write {
        Some(Write::Page(words)) => Some(words),
        _ => None,
    };
    dut.rva_valid_i().set_bool(region.is_some());
    let [key, base, bound] = region.unwrap_or([!0; 3]);
    dut.rva_key_i().set(key);
    dut.rva_base_i().set(base);
    dut.rva_bound_i().set(bound);
    dut.pa_valid_i().set_bool(page.is_some());
    let [key, frame] = page.unwrap_or([!0; 2]);
    dut.pa_key_i().set(key);
    dut.pa_frame_i().set(frame);
    dut.flush_i().set_bool(inputs.flush);
    for (k, request) in inputs.requests.into_iter().enumerate() {
        let lookup = request.unwrap_or(Lookup {
            pgid: 0,
            region: 0,
            offset: 0,
            bytes: 8,
            access: Access::Write,
        });
        dut.req_valid_i().set_bits(k, 1, request.is_some().into());
        dut.req_pgid_i().set_bits(16 * k, 16, lookup.pgid.into());
        dut.req_region_i().set_bits(16 * k, 16, lookup.region.into());
        dut.req_offset_i().set_bits(48 * k, 48, lookup.offset);
        dut.req_bytes_i().set_bits(13 * k, 13, lookup.bytes.into());
        dut.req_kind_i().set_bits(2 * k, 2, code(lookup.access));
    }
}

fn seen(dut: &impl Dimmnet1TlbPorts) -> Out {
    let flags = |bits: u64| [bits & 1 != 0, bits & 2 != 0];
    Out {
        ready: flags(dut.req_ready_o().get()),
        valid: flags(dut.rsp_valid_o().get()),
        addr: dut.rsp_addr_o().get() as u32,
        reason: dut.rsp_reason_o().get() as u32,
        miss: dut.rsp_miss_o().get() as u32,
        key: dut.rsp_key_o().get(),
        busy: dut.busy_o().is_set(),
    }
}

fn tlb<U: Dimmnet1TlbUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

impl Out {
    fn found(&self) -> Option<Found> {
        match (self.miss, self.reason) {
            (0, 0) => Some(Found::At(self.addr)),
            (0, reason) => Some(Found::Refused(reason)),
            (1, 0) => Some(Found::NoRegion(self.key)),
            (2, 0) => Some(Found::NoPage(self.key)),
            _ => None,
        }
    }
}

const PGIDS: [u16; 3] = [1, 0x41, 0x8002];
const REGIONS: [u16; 4] = [3, 0x43, 0x4003, 0];

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.below(list.len() as u64) as usize]
}

/// Virtual pages of the regions, and of few places in PATLB.
fn page(rng: &mut Rng) -> u64 {
    pick(rng, &[0x10, 0xfff_fffe]) + pick(rng, &[0, 1, 2, 0x40])
}

fn write(rng: &mut Rng) -> Write {
    let pgid = pick(rng, &PGIDS);
    // Bits that belong to no field.
    let junk = rng.bits();
    let keep = |key: u64, rng: &mut Rng| if rng.chance(1, 4) { key & !(1 << 63) } else { key };
    if rng.chance(1, 2) {
        let key = keep(region_key(pgid, pick(rng, &REGIONS)), rng);
        let rights = rng.bits() & 0xf << 60 | if rng.chance(1, 2) { 0x6 << 60 } else { 0 };
        let base = if rng.chance(1, 2) {
            page(rng) & !3
        } else {
            rng.below(0x5000)
        };
        let bound = pick(rng, &[0x1000, 0x3008, 0x2ffd, 1 << 32, 0x10_0000_0000]);
        Write::Region([
            key | junk & 0x7fff_ffff << 32,
            rights | base | junk & 0xffff << 32,
            bound | junk & !regs::RVA_BOUND_BYTES_MASK,
        ])
    } else {
        let key = keep(page_key(pgid, page(rng)), rng);
        Write::Page([key | junk & 0x7fff << 48 | junk & 0xf << 28, junk])
    }
}

fn lookup(rng: &mut Rng, access: Option<Access>) -> Lookup {
    let access = access.unwrap_or_else(|| pick(rng, &[Access::Write, Access::Read]));
    let at_page = pick(rng, &[0, 0, 1, 2, 3, 0xf_ffff, 0x10_0000, 0xf_ffff_ffff]);
    let (inside, bytes) = match rng.below(4) {
        _ if access == Access::Cell => (pick(rng, &[0xff8, 0xff0, 0]), pick(rng, &[8, 24])),
        0 => (rng.below(512) * 8, rng.between(1, 4096)),
        1 => {
            let bytes = rng.between(1, 4096);
            (4096 - bytes, bytes)
        }
        2 => (pick(rng, &[0xff8, 0xffc, 0, 0xff0]), pick(rng, &[3, 4, 5, 8, 9])),
        _ => (0, rng.between(1, 4096)),
    };
    Lookup {
        pgid: pick(rng, &PGIDS),
        region: pick(rng, &REGIONS),
        offset: at_page << 12 | inside,
        bytes: bytes as u16,
        access,
    }
}

/// A lookup under way.
struct Open {
    client: usize,
    lookup: Lookup,
    since: u64,
    /// The tables since it was taken; the first is as they were then.
    tables: Vec<Tlb>,
}

impl Open {
    /// What it may give: each table as it was at some time.
    fn allows(&self, found: Found) -> bool {
        let region = self.tables.iter().any(|tlb| tlb.look(&self.lookup) == found);
        // The entry of RVATLB is read before that of PATLB.
        region
            || self.tables.iter().enumerate().any(|(i, first)| {
                let later = &self.tables[i..];
                later
                    .iter()
                    .any(|tlb| first.with_pages_of(tlb).look(&self.lookup) == found)
            })
    }
}

struct Traffic<'a> {
    bench: Bench<'a, In, Out>,
    rng: Rng,
    sources: [Source<Lookup>; 2],
    tlb: Tlb,
    open: Option<Open>,
    /// Whether each client waits and was passed over.
    passed: [bool; 2],
    /// A write came while the lookup was under way.
    disturbed: bool,
    served: usize,
}

impl<'a> Traffic<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps, count: usize) -> Traffic<'a> {
        let list = |client: usize| {
            let mut rng = run.rng(&format!("client {client}"));
            let one = |_| {
                let in_llcm = client == 0 && rng.chance(1, 2);
                let access = pick(&mut rng, &[Access::Otf, Access::Cell]);
                lookup(&mut rng, in_llcm.then_some(access))
            };
            let list: Vec<Lookup> = (0..count).map(one).collect();
            Source::new(list, run.pacer(gaps.at_source(), &format!("requests {client}")))
        };
        Traffic {
            bench: Bench::new(run, dut),
            rng: run.rng("writes"),
            sources: [list(0), list(1)],
            tlb: Tlb::default(),
            open: None,
            passed: [false; 2],
            disturbed: false,
            served: 0,
        }
    }

    fn cycle(&mut self, writes: bool, rst: bool) -> Result<(), Fault> {
        let inputs = In {
            write: (writes && self.rng.chance(1, 3)).then(|| write(&mut self.rng)),
            flush: writes && self.rng.chance(1, 150),
            requests: [0, 1].map(|k| self.sources[k].offer().copied()),
        };
        let cycle = self.bench.cycle();
        if rst {
            self.bench.reset(&inputs)?;
            self.sources.iter_mut().for_each(Source::reset);
            (self.tlb, self.open, self.passed) = (Tlb::default(), None, [false; 2]);
            return Ok(());
        }
        let still = inputs.write.is_none() && !inputs.flush && inputs.requests == [None; 2];
        let seen = self.bench.step_gated(&inputs, |seen| !seen.busy && still, true)?;
        if seen.valid != [false; 2] {
            self.respond(&seen, cycle)?;
        }
        match inputs.write {
            Some(Write::Region([key, base, bound])) => self.tlb.write_region(key, base, bound),
            Some(Write::Page([key, frame])) => self.tlb.write_page(key, frame),
            None => {}
        }
        if inputs.flush {
            self.tlb.flush();
        }
        let changed = inputs.flush || inputs.write.is_some();
        for client in 0..2 {
            let Some(lookup) = self.sources[client].step(seen.ready[client]) else {
                continue;
            };
            let other = 1 - client;
            Rule::Hang.holds(self.open.is_none(), || format!("a second lookup is taken: {lookup:?}"))?;
            Rule::Fair.holds(!(self.passed[other] && inputs.requests[other].is_some()), || {
                format!("client {other} is passed over twice")
            })?;
            self.passed = [false; 2];
            self.passed[other] = inputs.requests[other].is_some();
            self.disturbed = changed;
            self.open = Some(Open {
                client,
                lookup,
                since: cycle,
                tables: vec![self.tlb.clone()],
            });
            return Ok(());
        }
        if changed && let Some(open) = &mut self.open {
            self.disturbed = true;
            open.tables.push(self.tlb.clone());
        }
        Ok(())
    }

    fn respond(&mut self, seen: &Out, cycle: u64) -> Result<(), Fault> {
        let open = self.open.take();
        let open = open.ok_or_else(|| Rule::Hang.broken("a response without a lookup"))?;
        let mut want = [false; 2];
        want[open.client] = true;
        Rule::Hang.same("clients with a response", want, seen.valid)?;
        let found = seen.found();
        Rule::Response.holds(found.is_some_and(|found| open.allows(found)), || {
            let want = open.tables[0].look(&open.lookup);
            format!("{:x?} gives {seen:x?}, not {want:x?}", open.lookup)
        })?;
        let with_page = matches!(found, Some(Found::NoPage(_)))
            || matches!(found, Some(Found::At(addr)) if !self.in_llcm(&open, addr));
        let want = if with_page { 3 } else { 2 };
        let took = cycle - open.since;
        Rule::Latency.holds(self.disturbed || took == want, || {
            format!("{:x?} took {took} cycles, not {want}", open.lookup)
        })?;
        self.served += 1;
        Ok(())
    }

    /// The address is that of a region in LLCM, and not of a page that lies there.
    fn in_llcm(&self, open: &Open, addr: u32) -> bool {
        open.tables[0].without_pages().look(&open.lookup) == Found::At(addr)
    }
}

/// Lookups of both clients, with writes of tables at times, without and with a reset.
fn lookups(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, reset: bool) -> Result<(), Fault> {
    let count = 400;
    let mut traffic = Traffic::new(run, dut, gaps, count);
    let reset = reset.then(|| run.rng("reset").between(300, 900));
    let mut writes = true;
    let mut idle = 0;
    for cycle in 0..20_000u64 {
        if cycle.is_multiple_of(64) {
            // In a time without writes, latencies are exact.
            writes = cycle < 256 || !writes;
        }
        let rst = cycle < 3 || reset == Some(cycle);
        traffic.cycle(writes, rst).map_err(|fault| fault.at(cycle))?;
        let done = traffic.sources.iter().all(Source::is_empty) && traffic.open.is_none();
        idle = if done { idle + 1 } else { 0 };
        if idle > 20 {
            assert!(
                traffic.served + 1 >= 2 * count,
                "all lookups but one that a reset drops"
            );
            return Ok(());
        }
    }
    Err(Rule::Hang.broken(format!("{} lookups after 20000 cycles", traffic.served)))
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in [Gaps::None, Gaps::Source] {
        for reset in [false, true] {
            cases.from_each(&Start::ALL, format!("{} {gaps:?} reset {reset}", dut.name), |run| {
                lookups(run, dut, gaps, reset)
            });
        }
    }
}

#[test]
fn translates_as_its_model() {
    pass(this_test!(), |cases| checks(&tlb::<Dimmnet1Tlb>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The region's upper bits are not compared.
            (Response, &[Latency], &|cases| checks(&tlb::<TwinTlbTag>(), cases)),
            // A packet may cross a page.
            (Response, &[Latency], &|cases| checks(&tlb::<TwinTlbPage>(), cases)),
            // A cell may not cross a page.
            (Response, &[Latency], &|cases| checks(&tlb::<TwinTlbCell>(), cases)),
            // A region of LLCM may reach beyond it.
            (Response, &[Latency], &|cases| checks(&tlb::<TwinTlbBeyond>(), cases)),
            // An entry that is written without VALID stays.
            (Response, &[Latency], &|cases| checks(&tlb::<TwinTlbStays>(), cases)),
            (Latency, &[], &|cases| checks(&tlb::<TwinTlbLate>(), cases)),
            (Fair, &[Hang], &|cases| checks(&tlb::<TwinTlbUnfair>(), cases)),
            // A client that is refused for a write may lose its turn.
            (Path, &[Fair], &|cases| checks(&tlb::<TwinTlbPath>(), cases)),
            (Rest, &[], &|cases| checks(&tlb::<TwinTlbRest>(), cases)),
            // A response goes to both clients.
            (Hang, &[], &|cases| checks(&tlb::<TwinTlbBoth>(), cases)),
        ],
    );
}
