//! The remote access generator against its model: the message, the copy and the response of each access. The tags hit
//! at random.

use std::mem;
use std::ops::Range;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::ap1000p::golden::access::{Access, Course, Pages};
use tsunagi::ap1000p::golden::send::Place;
use tsunagi::ap1000p::golden::wtp::{LOCAL_BITS, Remote, Tags, Update};
use tsunagi::ap1000p::regs::*;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

use crate::SLOW;

rules!(
    /// The unit sends the words of the access, if it needs a message. It looks up the tags where they count.
    Message
    /// A load ends with its value, or with the reason for its fault.
    Response
    /// A store changes its bytes of the copy, and no others.
    Copy
    /// The tags' response waits until the copy has been accessed.
    Held
    /// A store counts when it is taken. Refused accesses, stale copies and stray replies are reported.
    Reported
    /// An offer holds until it is taken.
    Protocol
    /// No output follows an input within the cycle.
    Path
    /// Every access ends.
    Hang
    /// The unit is busy while an access is open.
    Rest
);

const PLACE: Place = Place {
    at: [3, 1],
    size: [5, 4],
};
const PAGES: Pages = Pages { low: 4, high: 8 };
/// Address of the local cache. Its copies of the pages are the first 64 KB behind it.
const CACHE: u32 = 0x20_0000;
/// Bytes of the copies whose accesses end with an error of the memory.
const BAD: Range<u32> = 0x5800..0x6000;

#[derive(Clone, Copy, Debug, Default)]
struct In {
    request: Option<Access>,
    take: bool,
    out_ready: bool,
    /// The reply to a load: its words, or none.
    reply: Option<Option<u64>>,
    /// The cell that replies: {x, y}.
    reply_cell: [u8; 2],
    tag_ready: bool,
    /// Hit, and the address of the copy.
    tag: Option<(bool, u32)>,
    mem: MemPortsOut,
}

/// The one output that may follow an input within the cycle: it goes to a counter inside the cell.
#[derive(Clone, Copy, Debug)]
struct Issue(bool);

impl PartialEq for Issue {
    fn eq(&self, _: &Issue) -> bool {
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Out {
    ready: bool,
    /// Error, and data.
    response: Option<(bool, u64)>,
    why: u32,
    issue: Issue,
    refused: bool,
    stale: bool,
    stray: bool,
    /// A word of a message, and whether it is the last.
    out: Option<(u32, bool)>,
    tag_request: Option<Remote>,
    tag_taken: bool,
    mem: MemPortsIn,
    busy: bool,
}

fn set(dut: &impl Ap1000pAccessPorts, inputs: &In) {
    let [x, y] = PLACE.at;
    let [last_x, last_y] = PLACE.size.map(|size| size - 1);
    dut.x_i().set(x.into());
    dut.y_i().set(y.into());
    dut.last_x_i().set(last_x.into());
    dut.last_y_i().set(last_y.into());
    dut.low_i().set(PAGES.low.into());
    dut.high_i().set(PAGES.high.into());
    dut.acks_full_i().set_bool(false);
    let junk = Access {
        cell: [1, 1],
        registers: false,
        addr: 0x5554,
        size: 2,
        write: Some(0xdead_beef),
    };
    let access = inputs.request.unwrap_or(junk);
    dut.dsm_req_valid_i().set_bool(inputs.request.is_some());
    dut.dsm_req_write_i().set_bool(access.write.is_some());
    dut.dsm_req_registers_i().set_bool(access.registers);
    dut.dsm_req_cell_i().set(access.name().into());
    dut.dsm_req_addr_i().set(access.addr.into());
    dut.dsm_req_size_i().set(access.size.into());
    dut.dsm_req_data_i().set(access.write.unwrap_or(0x5555_5555_5555_5555));
    dut.dsm_rsp_ready_i().set_bool(inputs.take);
    dut.out_ready_i().set_bool(inputs.out_ready);
    let reply = inputs.reply.flatten();
    dut.load_valid_i().set_bool(inputs.reply.is_some());
    dut.load_err_i().set_bool(reply.is_none());
    dut.load_cell_i().set(u16::from_le_bytes(inputs.reply_cell).into());
    dut.load_data_i().set(reply.unwrap_or(0xaaaa_aaaa_aaaa_aaaa));
    let (hit, local) = inputs.tag.unwrap_or((false, 0x1234));
    dut.tag_req_ready_i().set_bool(inputs.tag_ready);
    dut.tag_rsp_valid_i().set_bool(inputs.tag.is_some());
    dut.tag_hit_i().set_bool(hit);
    dut.tag_local_i().set(local.into());
    tsunagi::harness::set_mem_ports!(dut, &inputs.mem);
}

fn seen(dut: &impl Ap1000pAccessPorts) -> Out {
    let response = || (dut.dsm_rsp_err_o().is_set(), dut.dsm_rsp_data_o().get());
    let word = || (dut.out_data_o().get() as u32, dut.out_end_o().is_set());
    let remote = || Remote {
        cell: dut.tag_req_cell_o().get() as u16,
        addr: dut.tag_req_addr_o().get() as u32,
    };
    Out {
        ready: dut.dsm_req_ready_o().is_set(),
        response: dut.dsm_rsp_valid_o().is_set().then(response),
        why: dut.why_o().get() as u32,
        issue: Issue(dut.issue_o().is_set()),
        refused: dut.refused_o().is_set(),
        stale: dut.stale_o().is_set(),
        stray: dut.stray_o().is_set(),
        out: dut.out_valid_o().is_set().then(word),
        tag_request: dut.tag_req_valid_o().is_set().then(remote),
        tag_taken: dut.tag_rsp_ready_o().is_set(),
        mem: tsunagi::harness::mem_ports!(dut),
        busy: dut.busy_o().is_set(),
    }
}

fn generator<U: Ap1000pAccessUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// An access and all that it must cause.
#[derive(Debug)]
struct Due {
    access: Access,
    course: Course,
    /// The words for the other cell.
    message: Vec<u32>,
    /// The address of the copy that it reads or writes.
    copy: Option<u32>,
    /// The copy's memory reports an error.
    faulty: bool,
    /// The other cell's reply to a load: its words, or none.
    reply: Option<u64>,
    /// The end of a load.
    value: u64,
    why: u32,
}

impl Due {
    fn stores(&self) -> bool {
        self.access.write.is_some()
    }

    fn refused(&self) -> bool {
        self.course == Course::Refused
    }

    fn remote(&self) -> Remote {
        Remote {
            cell: self.access.name(),
            addr: self.access.addr,
        }
    }

    /// Whether the tags count. Registers have no copies.
    fn has_lookup(&self) -> bool {
        !self.access.registers && PAGES.have(self.access.addr) && !self.refused()
    }
}

/// The part of an access that is done.
#[derive(Default)]
struct Progress {
    taken: bool,
    /// Words sent.
    words: usize,
    /// The tags' response is due; it is on offer.
    lookup: bool,
    tag: bool,
    /// The copy has been read or written.
    accessed: bool,
    /// The other cell's reply is due.
    reply: bool,
    responded: bool,
    /// Pulses seen: of stores, refusals and stale copies.
    pulses: [u32; 3],
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    gaps: Gaps,
    timing: MemoryTiming,
}

/// The unit with the processor, the network, the tags and the memory.
struct Environment<'a> {
    bench: Bench<'a, In, Out>,
    agent: MemoryAgent,
    memory: Memory,
    /// The copies as they must be.
    copies: Memory,
    tags: Tags,
    pacers: [Pacer; 5],
    words: Monitor<(u32, bool)>,
    responses: Monitor<(bool, u64)>,
    /// The last cycle had a reply without a load that waits for it.
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

impl<'a> Environment<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, Plan { gaps, timing }: Plan) -> Result<Self, Fault> {
        let jitter = Cycle(if gaps == Gaps::None { 0 } else { 6 });
        let mut env = Environment {
            bench: Bench::new(run, dut),
            agent: MemoryAgent::new(timing, 4).with_jitter(run.rng("memory").bits(), jitter, jitter),
            memory: memory(),
            copies: memory(),
            tags: Tags::new(CACHE),
            pacers: [
                run.pacer(gaps.at_sink(), "takes"),
                run.pacer(gaps.at_sink(), "words"),
                run.pacer(gaps.at_source(), "replies"),
                run.pacer(gaps.at_sink(), "lookups"),
                run.pacer(gaps.at_source(), "tags"),
            ],
            words: Monitor::default(),
            responses: Monitor::default(),
            stray: false,
            rng: run.rng("accesses"),
            forger: run.rng("forged replies"),
        };
        env.bench.reset(&In::default())?;
        Ok(env)
    }

    /// Any load or store, mostly of the few pages around the Write Through Pages.
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
        // The other lanes of a store are junk.
        let write = rng.chance(1, 2).then(|| rng.bits());
        Access {
            cell,
            registers: rng.chance(1, 8),
            addr,
            size,
            write,
        }
    }

    /// The next access. Some updates of its tags come first.
    fn due(&mut self) -> Due {
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
        let (message, copy) = match &course {
            Course::Refused | Course::Miss => (Vec::new(), None),
            Course::Message(words) => (words.clone(), None),
            Course::Both(words, at) => (words.clone(), Some(*at)),
            Course::Copy(at) => (Vec::new(), Some(*at)),
        };
        let faulty = copy.is_some_and(|at| !self.memory.bus_ok(Addr(at & !3), 4));
        let (data, replies) = (self.rng.bits(), self.rng.chance(4, 5));
        let reply = replies.then_some(data);
        let (value, why) = match (&course, reply) {
            (Course::Refused, _) => (0, ACCESS_REFUSED),
            (Course::Miss, _) => (0, ACCESS_MISS),
            _ if faulty => (0, ACCESS_FAILED),
            (Course::Copy(at), _) => (self.copied(*at, access.size), ACCESS_DONE),
            (_, None) => (0, ACCESS_FAILED),
            (_, Some(data)) if access.size == 3 => (data, ACCESS_DONE),
            (_, Some(data)) => (data & 0xffff_ffff, ACCESS_DONE),
        };
        if let (Course::Both(_, at), false) = (&course, faulty) {
            assert!(self.copies.write(Addr(*at), &access.bytes()), "{at:x} is in memory");
        }
        Due {
            access,
            course,
            message,
            copy,
            faulty,
            reply,
            value,
            why,
        }
    }

    /// The word of a copy, or its two words if the access has eight bytes.
    fn copied(&self, at: u32, size: u8) -> u64 {
        let bytes = self.memory.read(Addr(at & !3), if size == 3 { 8 } else { 4 });
        let bytes = bytes.expect("the copy is in memory").iter().rev();
        bytes.fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// One access from its offer to its end.
    fn one(&mut self) -> Result<(), Fault> {
        let due = self.due();
        let of_access = |fault: Fault| Fault {
            what: format!("{due:x?}: {}", fault.what),
            ..fault
        };
        self.perform(&due).map_err(of_access)
    }

    fn perform(&mut self, due: &Due) -> Result<(), Fault> {
        let mut done = Progress::default();
        let end = self.bench.cycle() + 600;
        let mut quiet = 0;
        while quiet < 3 {
            let now = self.bench.cycle();
            Rule::Hang.holds(now < end, || "does not end".into())?;
            let (inputs, awaited) = self.inputs(due, &mut done);
            let seen = self.bench.step(&inputs)?;
            let checked = self.check(due, &mut done, &inputs, awaited, &seen);
            checked.map_err(|fault| fault.at(now))?;
            quiet = if done.taken && !seen.busy && !done.reply {
                quiet + 1
            } else {
                0
            };
        }
        self.is_complete(due, &done)
    }

    /// The inputs of a cycle, and whether the access awaits the reply among them.
    fn inputs(&mut self, due: &Due, done: &mut Progress) -> (In, bool) {
        let [take, out_ready, replies, tag_ready, tags] = self.pacers.each_mut().map(Pacer::step);
        let awaited = done.reply && replies;
        // Often there is a reply without a load, or from another cell.
        let forged = !awaited && self.forger.chance(1, 4);
        let mut reply_cell = due.access.cell;
        if done.reply && forged {
            reply_cell[self.forger.below(2) as usize] ^= 1 << self.forger.below(8);
        }
        let reply = awaited.then_some(due.reply);
        let reply = reply.or(forged.then(|| self.forger.chance(1, 2).then(|| self.forger.bits())));
        // The tags' response stays until it is taken.
        done.tag = done.lookup && (done.tag || tags);
        let inputs = In {
            request: (!done.taken).then_some(due.access),
            take,
            out_ready,
            reply,
            reply_cell,
            tag_ready,
            tag: done.tag.then(|| self.tags.lookup(due.remote())),
            mem: *self.agent.ports(),
        };
        (inputs, awaited)
    }

    fn check(&mut self, due: &Due, done: &mut Progress, inputs: &In, awaited: bool, seen: &Out) -> Result<(), Fault> {
        let stray = mem::replace(&mut self.stray, inputs.reply.is_some() && !awaited);
        let same = seen.stray == stray;
        Rule::Reported.holds(same, || format!("stray reply {stray}, reported {}", seen.stray))?;
        self.words.step(seen.out.as_ref(), inputs.out_ready)?;
        self.responses.step(seen.response.as_ref(), inputs.take)?;
        done.reply &= !awaited;
        let open = done.lookup || self.agent.has_taken() || seen.response.is_some() || seen.out.is_some();
        Rule::Rest.holds(seen.busy || !open, || "not busy".into())?;
        let now = Cycle(self.bench.cycle());
        self.agent.step(now, &mut self.memory, &seen.mem, |_| ());
        done.accessed |= inputs.mem.wr_rsp_valid && seen.mem.wr_rsp_ready;
        done.accessed |= inputs.mem.rd_data_valid && seen.mem.rd_data_ready && inputs.mem.rd_data_last;
        if let Some((word, last)) = seen.out.filter(|_| inputs.out_ready) {
            let number = done.words;
            let want = due.message.get(number);
            let want = want.map(|&word| (word, number + 1 == due.message.len()));
            let what = || format!("word {number} is {word:x} {last}, not {want:x?}");
            Rule::Message.holds(want == Some((word, last)), what)?;
            done.words += 1;
            done.reply |= last && !due.stores();
        }
        if let Some(remote) = seen.tag_request.filter(|_| inputs.tag_ready) {
            let same = due.has_lookup() && remote == due.remote();
            Rule::Message.holds(same, || format!("looks up {remote:x?}"))?;
            done.lookup = true;
        }
        if inputs.tag.is_some() && seen.tag_taken {
            let held = done.accessed || due.copy.is_none();
            Rule::Held.holds(held, || "the tags may change before the access of the copy".into())?;
            (done.lookup, done.tag) = (false, false);
        }
        if let Some((err, data)) = seen.response.filter(|_| inputs.take) {
            let same = err == (due.why != ACCESS_DONE) && seen.why == due.why && (err || data == due.value);
            Rule::Response.holds(!due.stores() && same, || format!("{data:x}, why {}", seen.why))?;
            done.responded = true;
        }
        let issue = inputs.request.is_some() && seen.ready && seen.issue.0;
        for (count, pulse) in done.pulses.iter_mut().zip([issue, seen.refused, seen.stale]) {
            *count += u32::from(pulse);
        }
        done.taken |= inputs.request.is_some() && seen.ready;
        Ok(())
    }

    /// All is done after the last cycle of an access.
    fn is_complete(&self, due: &Due, done: &Progress) -> Result<(), Fault> {
        let stores = due.stores();
        Rule::Message.holds(done.words == due.message.len(), || format!("{} words", done.words))?;
        Rule::Response.holds(done.responded != stores, || "no response".into())?;
        let want = [stores && !due.refused(), due.refused(), stores && due.faulty].map(u32::from);
        Rule::Reported.holds(done.pulses == want, || {
            format!("stores, refusals, stale copies: {:?}, not {want:?}", done.pulses)
        })?;
        let Some(at) = due.copy else { return Ok(()) };
        let line = Addr(at & !7);
        let [got, want] = [&self.memory, &self.copies].map(|memory| memory.read(line, 8));
        Rule::Copy.holds(got == want, || format!("{got:x?}, not {want:x?}"))
    }
}

/// Random accesses one after the other.
fn follows(dut: &Dut<In, Out>, plans: &[Plan], starts: &[Start], cases: &mut Cases) {
    for &plan in plans {
        cases.from_each(starts, format!("{} {plan:?}", dut.name), |run| {
            let mut env = Environment::new(run, dut, plan)?;
            (0..600).try_for_each(|_| env.one())
        });
    }
}

#[test]
fn accesses_follow_the_model() {
    let timings = [MemoryTiming::IDEAL, SLOW];
    let plans = Gaps::ALL
        .into_iter()
        .flat_map(|gaps| timings.map(|timing| Plan { gaps, timing }));
    let plans: Vec<Plan> = plans.collect();
    pass(this_test!(), |cases| {
        follows(&generator::<Ap1000pAccess>(), &plans, &Start::RANDOM, cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    let plan = |gaps, timing| Plan { gaps, timing };
    let plans = [plan(Gaps::None, MemoryTiming::IDEAL), plan(Gaps::Both, SLOW)];
    let checks = |dut: Dut<In, Out>, cases: &mut Cases| follows(&dut, &plans, &[Start::Random1], cases);
    each_is_caught(
        this_test!(),
        &[
            // A store to a Write Through Page only changes the copy.
            (Message, &[], &|cases| checks(generator::<TwinAccessLocal>(), cases)),
            // The pages have no end.
            (Message, &[], &|cases| checks(generator::<TwinAccessPages>(), cases)),
            // Half words change the whole word of a copy.
            (Copy, &[], &|cases| checks(generator::<TwinAccessLanes>(), cases)),
            // A miss returns the word stored last.
            (Response, &[], &|cases| checks(generator::<TwinAccessMiss>(), cases)),
            // A load is a miss before the tags respond.
            (Response, &[], &|cases| checks(generator::<TwinAccessTag>(), cases)),
            // The tags' response is taken before the copy is read.
            (Held, &[], &|cases| checks(generator::<TwinAccessEarly>(), cases)),
            // Misaligned stores count.
            (Reported, &[], &|cases| checks(generator::<TwinAccessIssue>(), cases)),
            // An error of the copy's memory is not reported.
            (Reported, &[], &|cases| checks(generator::<TwinAccessError>(), cases)),
            // A stray reply is not reported while an access that needs none is in progress.
            (Reported, &[], &|cases| checks(generator::<TwinAccessStray>(), cases)),
            // Any cell replies to a load.
            (Reported, &[], &|cases| checks(generator::<TwinAccessCell>(), cases)),
            // The first word of a message lasts one cycle.
            (Protocol, &[], &|cases| checks(generator::<TwinAccessProtocol>(), cases)),
            (Path, &[], &|cases| checks(generator::<TwinAccessPath>(), cases)),
            // A store of eight bytes never ends.
            (Hang, &[], &|cases| checks(generator::<TwinAccessStuck>(), cases)),
            // A store that awaits the memory's response does not count.
            (Rest, &[], &|cases| checks(generator::<TwinAccessRest>(), cases)),
        ],
    );
}
