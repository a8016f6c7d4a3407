//! `dimmnet1_rdma`: descriptors and PULL requests against the golden model; memory, TLB, credit and network are here.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::Server;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::rdma::{Descriptor, Piece, Request};
use tsunagi::dimmnet1::regs as r;
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer, Sink};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

rules!(
    /// Packets are the model's, whole and in order.
    Packet
    /// A descriptor ends once, with the right reason, when all of it has left.
    Done
    /// Each translation asks for the right bytes.
    Lookup
    /// A miss stops the engine, if the processor runs, and only then.
    Stop
    /// Credit is taken for the right slot and node, once for each packet that asks for an answer.
    Credit
    /// PULL requests and packets of a descriptor alternate.
    Fair
    /// It is busy while something is inside, and only then.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if no other party pauses.
    Rate
    /// Everything ends; PULL requests do not wait for credit.
    Hang
);

/// {PGID, region and offset, bytes}.
type Lookup = (u16, u64, u32);

/// How a translation ends.
#[derive(Clone, Copy, Debug)]
enum Found {
    At(u32),
    Refused(u8),
    /// In RVATLB (1) or PATLB (2), with the key.
    Miss(u8, u64),
}

#[derive(Debug, Default)]
struct In {
    descriptor: Option<Descriptor>,
    runs: bool,
    pull: Option<Request>,
    lookup_ready: bool,
    found: Option<Found>,
    go: Option<(u8, u8)>,
    credit: Option<u16>,
    mem: MemPortsOut,
    out_ready: bool,
}

#[derive(Debug, PartialEq)]
struct Out {
    ready: bool,
    done: Option<u8>,
    busy: bool,
    /// BUSY and FULL, as registers show them.
    shown: (bool, bool),
    pulled: bool,
    lookup: Option<Lookup>,
    stop: Option<(u8, u64)>,
    credit: Option<(u8, u16)>,
    mem: MemPortsIn,
    word: Option<(u64, bool)>,
}

fn set(dut: &impl Dimmnet1RdmaPorts, inputs: &In) {
    let junk = Descriptor {
        what: !0,
        local: !0,
        remote: !0,
        bytes: !0,
        slot: 15,
        pgid: 0x5555,
    };
    let desc = inputs.descriptor.unwrap_or(junk);
    dut.desc_valid_i().set_bool(inputs.descriptor.is_some());
    dut.desc_w0_i().set(desc.what);
    dut.desc_local_i().set(desc.local);
    dut.desc_remote_i().set(desc.remote);
    dut.desc_bytes_i().set(desc.bytes.into());
    dut.desc_slot_i().set(desc.slot.into());
    dut.pgid_i().set(desc.pgid.into());
    dut.cpu_runs_i().set_bool(inputs.runs);
    dut.pull_valid_i().set_bool(inputs.pull.is_some());
    let [w0, w1, w2, w3] = inputs.pull.unwrap_or(Request([!0; 4])).0;
    dut.pull_w0_i().set(w0);
    dut.pull_w1_i().set(w1);
    dut.pull_w2_i().set(w2);
    dut.pull_w3_i().set(w3);
    dut.tlb_req_ready_i().set_bool(inputs.lookup_ready);
    dut.tlb_rsp_valid_i().set_bool(inputs.found.is_some());
    let (addr, reason, miss, key) = match inputs.found {
        Some(Found::At(addr)) => (addr, 0, 0, 1),
        Some(Found::Refused(reason)) => (0xbad0, reason, 0, 2),
        Some(Found::Miss(miss, key)) => (0xbad8, 0, miss, key),
        None => (0xbadc, 6, 3, 3),
    };
    dut.tlb_rsp_addr_i().set(addr.into());
    dut.tlb_rsp_reason_i().set(reason.into());
    dut.tlb_rsp_miss_i().set(miss.into());
    dut.tlb_rsp_key_i().set(key);
    dut.go_valid_i().set_bool(inputs.go.is_some());
    let (what, reason) = inputs.go.unwrap_or((1, 9));
    dut.go_what_i().set(what.into());
    dut.go_reason_i().set(reason.into());
    dut.take_ready_i().set_bool(inputs.credit.is_some());
    dut.take_gen_i().set(inputs.credit.unwrap_or(0xbad).into());
    dut.rd_cmd_ready_i().set_bool(inputs.mem.rd_cmd_ready);
    dut.rd_data_valid_i().set_bool(inputs.mem.rd_data_valid);
    dut.rd_data_data_i().set(inputs.mem.rd_data_data);
    dut.rd_data_last_i().set_bool(inputs.mem.rd_data_last);
    dut.rd_data_err_i().set_bool(inputs.mem.rd_data_err);
    dut.out_ready_i().set_bool(inputs.out_ready);
}

fn seen(dut: &impl Dimmnet1RdmaPorts) -> Out {
    Out {
        ready: dut.desc_ready_o().is_set(),
        done: dut.desc_done_o().is_set().then(|| dut.desc_error_o().get() as u8),
        busy: dut.busy_o().is_set(),
        shown: (dut.rdma_busy_o().is_set(), dut.full_o().is_set()),
        pulled: dut.pull_ready_o().is_set(),
        lookup: dut.tlb_req_valid_o().is_set().then(|| {
            let address = dut.tlb_req_region_o().get() << 48 | dut.tlb_req_offset_o().get();
            // Anything but a read cannot be meant.
            let bytes = dut.tlb_req_bytes_o().get() as u32 + 8192 * (dut.tlb_req_kind_o().get() as u32 ^ 1);
            (dut.tlb_req_pgid_o().get() as u16, address, bytes)
        }),
        stop: dut
            .stop_valid_o()
            .is_set()
            .then(|| (dut.stop_cause_o().get() as u8, dut.stop_key_o().get())),
        credit: dut
            .take_valid_o()
            .is_set()
            .then(|| (dut.take_slot_o().get() as u8, dut.take_dst_o().get() as u16)),
        mem: MemPortsIn {
            rd_cmd_valid: dut.rd_cmd_valid_o().is_set(),
            rd_cmd_addr: dut.rd_cmd_addr_o().get() as u32,
            rd_cmd_len: dut.rd_cmd_len_o().get() as u8,
            rd_data_ready: dut.rd_data_ready_o().is_set(),
            ..MemPortsIn::default()
        },
        word: dut
            .out_valid_o()
            .is_set()
            .then(|| (dut.out_data_o().get(), dut.out_last_o().is_set())),
    }
}

fn dut<U: Dimmnet1RdmaUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

// ------------------------------------------------------------------------------------------------------------ the case

/// Bytes of the memory.
const SIZE: u32 = 1 << 16;
/// Bit of the descriptors' local regions: it tells their translations from those of PULL requests.
const OF_DESCRIPTOR: u64 = 1 << 63;

/// How hard a case is.
#[derive(Clone, Copy, Debug)]
struct Hardship {
    gaps: Gaps,
    /// Bus errors in memory.
    faults: bool,
    /// Translations fail.
    misses: bool,
}

/// The descriptor under way.
struct Work {
    desc: Descriptor,
    pieces: VecDeque<Piece>,
    /// Packets that are due: the piece, its good data, and whether that is all of it.
    due: VecDeque<(Piece, Vec<u8>, bool)>,
    /// Generations of credit that packets will use.
    credits: VecDeque<u16>,
    /// Why it ends early, by plan or translation.
    end: Option<u8>,
    /// A packet was cut short; packets since then.
    bus: Option<u32>,
}

/// Everything around the engine.
struct World {
    rng: Rng,
    hard: Hardship,
    memory: Memory,
    server: Server,
    pacers: [Pacer; 6],
    sink: Sink<(u64, bool)>,
    monitors: (Monitor<Lookup>, Monitor<(u8, u16)>),
    descriptors: VecDeque<Descriptor>,
    waiting: VecDeque<Work>,
    offer: Option<Descriptor>,
    requests: VecDeque<Request>,
    request: Option<Request>,
    /// Packets that PULL requests are answered with.
    answers: VecDeque<Vec<u64>>,
    /// The translation that was asked for, and the cycles until its answer.
    asked: Option<(Lookup, u64)>,
    last_lookup: Option<Lookup>,
    /// The stop that is due, and whose it is.
    stop: Option<((u8, u64), Lookup)>,
    packet: Vec<u64>,
    /// Whose packets left: true for a descriptor's.
    order: Vec<bool>,
    /// Cycles of the first and the last word.
    span: (Option<u64>, u64),
    inputs: In,
}

impl World {
    fn new(run: &Run, hard: Hardship, descriptors: Vec<Descriptor>, requests: Vec<Request>) -> World {
        let mut rng = run.rng("world");
        let mut memory = Memory::new(SIZE as usize);
        let mut bytes = vec![0; SIZE as usize];
        rng.fill(&mut bytes);
        assert!(memory.write(Addr(0), &bytes), "it is as large as its bytes");
        for _ in 0..if hard.faults { 24 } else { 0 } {
            let at = rng.below(SIZE.into()) as u32;
            memory.inject_fault(at..at + 1 + rng.below(64) as u32);
        }
        let pauses = hard.gaps != Gaps::None;
        let slow = MemoryTiming {
            read_latency: Cycle(9),
            overhead: Cycle(1),
            ..MemoryTiming::IDEAL
        };
        let timing = if pauses { slow } else { MemoryTiming::IDEAL };
        let names = ["descriptors", "requests", "lookups", "go", "credit", "runs"];
        World {
            hard,
            memory,
            server: Server::new(run, timing, 8, pauses),
            pacers: names.map(|name| run.pacer(pauses, name)),
            sink: Sink::new(run.pacer(hard.gaps.at_sink(), "words")),
            monitors: Default::default(),
            descriptors: descriptors.into(),
            waiting: VecDeque::new(),
            offer: None,
            requests: requests.into(),
            request: None,
            answers: VecDeque::new(),
            asked: None,
            last_lookup: None,
            stop: None,
            packet: Vec::new(),
            order: Vec::new(),
            span: (None, 0),
            inputs: In::default(),
            rng,
        }
    }

    fn begin(&mut self, ready: bool) {
        let go: Vec<bool> = self.pacers.iter_mut().map(Pacer::step).collect();
        if self.offer.is_none() && go[0] && ready {
            self.offer = self.descriptors.pop_front();
        }
        if self.request.is_none() && go[1] {
            self.request = self.requests.pop_front();
            let request = self.request;
            self.answers
                .extend(request.and_then(|request| request.check().err().map(|reason| request.refusal(reason))));
        }
        let stopped = self.stop.is_some();
        self.inputs = In {
            descriptor: self.offer,
            runs: go[5] || !self.hard.misses,
            pull: self.request,
            lookup_ready: go[2],
            found: None,
            go: None,
            credit: go[4].then(|| self.rng.below(4096) as u16),
            mem: self.server.ports(),
            out_ready: self.sink.ready(),
        };
        match &mut self.asked {
            Some((lookup, left)) if *left == 0 => {
                let lookup = *lookup;
                self.asked = None;
                self.inputs.found = Some(self.translate(lookup));
            }
            Some((_, left)) => *left -= 1,
            None => {}
        }
        if stopped && go[3] && self.rng.chance(1, 4) {
            let what = self.rng.between(1, 3) as u8;
            self.inputs.go = Some((what, self.rng.below(16) as u8));
        }
    }

    fn translate(&mut self, (_, address, _): Lookup) -> Found {
        let rng = &mut self.rng;
        if self.hard.misses && rng.chance(1, 3) {
            return match rng.below(3) {
                0 => Found::Refused(rng.between(2, 3) as u8),
                miss => Found::Miss(miss as u8, rng.bits()),
            };
        }
        Found::At(rng.below(u64::from(SIZE / r::SIZE_PAGE)) as u32 * r::SIZE_PAGE + (address & 0xfff) as u32)
    }

    /// The good bytes of a range: none from the first word on that the bus refuses.
    fn bytes(&self, at: u32, bytes: u32) -> Vec<u8> {
        let good = (0..bytes)
            .step_by(8)
            .find(|i| !self.memory.bus_ok(Addr(at + i), 8))
            .unwrap_or(bytes);
        self.memory
            .read(Addr(at), good as usize)
            .expect("it is inside")
            .to_vec()
    }

    /// The engine's reaction to a translation.
    fn found(&mut self, lookup: Lookup, found: Found) {
        let refused = match found {
            Found::At(at) => {
                let data = self.bytes(at, lookup.2);
                if lookup.1 & OF_DESCRIPTOR == 0 {
                    let request = self.request.expect("it was checked");
                    self.answers.push_back(request.reply(&data));
                } else {
                    let work = self.waiting.front_mut().expect("it was checked");
                    let piece = work.pieces.pop_front().expect("it was checked");
                    let whole = data.len() as u32 == piece.bytes;
                    work.due.push_back((piece, data, whole));
                }
                return;
            }
            Found::Refused(reason) => reason,
            Found::Miss(miss, key) if self.inputs.runs => {
                self.stop = Some(((miss + 1, key), lookup));
                return;
            }
            Found::Miss(..) => r::REASON_UNSERVED as u8,
        };
        self.refuse(lookup, refused);
    }

    fn refuse(&mut self, lookup: Lookup, reason: u8) {
        if lookup.1 & OF_DESCRIPTOR == 0 {
            let request = self.request.expect("it was checked");
            self.answers.push_back(request.refusal(reason));
        } else {
            let work = self.waiting.front_mut().expect("it was checked");
            work.end = Some(reason);
            work.pieces.clear();
        }
    }

    /// Whether a translation is the one that is due.
    fn looks_up(&self, lookup: Lookup) -> Result<(), Fault> {
        let want = if lookup.1 & OF_DESCRIPTOR == 0 {
            self.request
                .filter(|request| request.check().is_ok())
                .map(|q| (q.pgid(), q.local(), q.bytes()))
        } else {
            self.waiting.front().filter(|work| !work.desc.pulls()).and_then(|work| {
                let piece = work.pieces.front()?;
                Some((work.desc.pgid, piece.local, piece.bytes))
            })
        };
        Rule::Lookup.holds(want == Some(lookup), || format!("{lookup:x?}, not {want:x?}"))
    }

    /// The edge after the cycle with these inputs.
    fn step(&mut self, cycle: u64, out: &Out) -> Result<bool, Fault> {
        let inside = !self.waiting.is_empty() || (self.request.is_none() && !self.answers.is_empty());
        Rule::Rest.holds(out.busy || !inside, || "it rests with work inside".into())?;
        self.server.step(cycle, &mut self.memory, &out.mem)?;
        self.monitors.0.step(out.lookup.as_ref(), self.inputs.lookup_ready)?;
        self.monitors
            .1
            .step(out.credit.as_ref(), self.inputs.credit.is_some())?;
        self.take_credit(out)?;
        self.stops(out)?;
        if let Some(lookup) = out.lookup.filter(|_| self.inputs.lookup_ready) {
            self.looks_up(lookup)?;
            self.asked = Some((
                lookup,
                if self.hard.gaps == Gaps::None {
                    2
                } else {
                    self.rng.below(6)
                },
            ));
            self.last_lookup = Some(lookup);
        }
        if let Some(found) = self.inputs.found {
            let lookup = self.last_lookup.expect("it was asked for");
            self.found(lookup, found);
        }
        if out.ready
            && let Some(desc) = self.offer.take()
        {
            self.accept(desc);
        }
        if let Some(word) = self.sink.step(out.word)? {
            self.span = (self.span.0.or(Some(cycle)), cycle);
            self.word(word)?;
        }
        if out.pulled {
            Rule::Hang.holds(self.request.is_some(), || "it takes no request".into())?;
            self.request = None;
        }
        if let Some(error) = out.done {
            Rule::Done.holds(out.shown.0, || "BUSY is low before the reason is known".into())?;
            self.done(error)?;
        }
        let empty = self.waiting.is_empty() && self.request.is_none() && self.answers.is_empty();
        Ok(empty && self.descriptors.is_empty() && self.requests.is_empty() && self.offer.is_none())
    }

    fn accept(&mut self, desc: Descriptor) {
        let (pieces, end) = match desc.pieces() {
            Ok(pieces) => (pieces, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        self.waiting.push_back(Work {
            desc,
            pieces: pieces.into(),
            due: VecDeque::new(),
            credits: VecDeque::new(),
            end,
            bus: None,
        });
    }

    fn take_credit(&mut self, out: &Out) -> Result<(), Fault> {
        let (Some(got), Some(generation)) = (out.credit, self.inputs.credit) else {
            return Ok(());
        };
        let work = self
            .waiting
            .front_mut()
            .filter(|work| work.desc.asks() && work.end.is_none());
        let work = work.ok_or_else(|| Rule::Credit.broken("for nothing"))?;
        Rule::Credit.same("slot and node", (work.desc.slot, work.desc.destination()), got)?;
        if work.desc.pulls() {
            let piece = work.pieces.pop_front().ok_or_else(|| Rule::Credit.broken("too many"))?;
            work.due.push_back((piece, Vec::new(), true));
        }
        work.credits.push_back(generation);
        Rule::Credit.holds(work.credits.len() <= work.due.len(), || "more than packets".into())
    }

    fn stops(&mut self, out: &Out) -> Result<(), Fault> {
        let want = self.stop.map(|(stop, _)| stop);
        Rule::Stop.holds(out.stop == want, || format!("{:x?}, not {want:x?}", out.stop))?;
        let (Some((what, reason)), Some((_, lookup))) = (self.inputs.go, self.stop) else {
            return Ok(());
        };
        self.stop = None;
        if u32::from(what) != r::GO_CONTINUE {
            let firmware = r::REASON_FIRMWARE as u8;
            self.refuse(lookup, if reason == 0 { firmware } else { reason });
        }
        Ok(())
    }

    fn word(&mut self, (word, last): (u64, bool)) -> Result<(), Fault> {
        self.packet.push(word);
        if !last {
            return Ok(());
        }
        let packet = std::mem::take(&mut self.packet);
        let kind = (packet[0] & r::HDR_W0_TYPE_MASK) as u32;
        let of_descriptor = !matches!(kind, r::TYPE_PULL_REPLY | r::TYPE_NACK);
        self.order.push(of_descriptor);
        let want = if of_descriptor {
            let work = self
                .waiting
                .front_mut()
                .ok_or_else(|| Rule::Packet.broken("from nothing"))?;
            let due = work.due.pop_front();
            let (piece, data, whole) = due.ok_or_else(|| Rule::Packet.broken(format!("{packet:x?} is not due")))?;
            let generation = if work.desc.asks() {
                work.credits.pop_front()
            } else {
                Some(0)
            };
            let generation = generation.ok_or_else(|| Rule::Credit.broken("none was taken"))?;
            work.bus = match work.bus {
                Some(since) => Some(since + 1),
                None if !whole => Some(0),
                None => None,
            };
            Some(work.desc.packet(&piece, generation, &data))
        } else {
            self.answers.pop_front()
        };
        Rule::Packet.holds(want.as_ref() == Some(&packet), || format!("{packet:x?}, not {want:x?}"))
    }

    fn done(&mut self, error: u8) -> Result<(), Fault> {
        let work = self.waiting.pop_front().ok_or_else(|| Rule::Done.broken("nothing"))?;
        Rule::Done.holds(work.due.is_empty(), || {
            format!("{} packets are missing", work.due.len())
        })?;
        let bus = r::REASON_BUS as u8;
        let fits = match (work.end, work.bus) {
            (None, None) => error == 0 && work.pieces.is_empty(),
            (Some(reason), None) => error == reason,
            (None, Some(since)) => error == bus && since <= 3,
            (Some(reason), Some(since)) => (error == bus || error == reason) && since <= 3,
        };
        Rule::Done.holds(fits, || {
            format!(
                "{error}, {} pieces left, end {:?}, bus {:?}",
                work.pieces.len(),
                work.end,
                work.bus
            )
        })
    }

    /// The engine was reset.
    fn reset(&mut self) {
        self.server.reset();
        self.sink.reset();
        self.monitors = Default::default();
        self.waiting.clear();
        self.answers.clear();
        (self.offer, self.request, self.asked, self.stop) = (None, None, None, None);
        self.packet.clear();
    }
}

/// Does all of it, with a reset in a cycle.
fn exercise(run: &Run, dut: &Dut<In, Out>, world: &mut World, reset: Option<u64>) -> Result<(), Fault> {
    let mut bench = Bench::new(run, dut);
    let mut idle = 0;
    for cycle in 0..200_000 {
        let rst = cycle < 3 || reset == Some(cycle);
        let ready = cycle > 3 && bench.seen().ready;
        if rst {
            world.reset();
        }
        world.begin(ready && !rst);
        if rst {
            (world.offer, world.inputs.descriptor) = (None, None);
            (world.request, world.inputs.pull) = (None, None);
            world.answers.clear();
        }
        let out = bench.registered(&world.inputs, rst)?;
        if rst {
            continue;
        }
        let over = world.step(cycle, &out).map_err(|fault| fault.at(cycle))?;
        // After a bus error the rest of up to 4096 bytes is still read, and dropped.
        idle = if over { idle + 1 } else { 0 };
        if idle > 20 && !out.busy {
            return Rule::Rest.holds(out.shown == (false, false), || format!("BUSY or FULL: {out:x?}"));
        }
        Rule::Rest.holds(idle < 4000, || format!("busy without end: {out:x?}"))?;
    }
    let (waiting, requests) = (world.waiting.len(), world.requests.len());
    Err(Rule::Hang.broken(format!("{waiting} descriptors, {requests} requests left")))
}

fn some_descriptor(rng: &mut Rng) -> Descriptor {
    let kind = match rng.below(12) {
        0 => rng.below(256),
        1..=4 => r::TYPE_PULL.into(),
        5 => rng.between(16, 255),
        _ => r::TYPE_PUSH.into(),
    };
    let flags = rng.bits()
        & 0x3f00
        & if rng.chance(1, 8) {
            !0
        } else {
            !r::HDR_W0_MULTICAST_MASK
        };
    let align = if rng.chance(1, 12) { !0 } else { !7 };
    // Offsets near the ends of pages.
    let offset = |rng: &mut Rng| {
        (rng.below(1 << 36) << 12
            | if rng.chance(1, 2) {
                rng.below(4096)
            } else {
                4096 - rng.between(1, 40)
            })
            & align
    };
    let bytes = match rng.below(8) {
        0 => rng.below(3),
        1 => rng.between(4000, 9000),
        _ => rng.between(1, 300),
    };
    Descriptor {
        what: rng.bits() & 0xffff_ffff_ffff_0000 | flags | kind,
        local: OF_DESCRIPTOR | rng.below(1 << 15) << 48 | offset(rng),
        remote: rng.below(1 << 16) << 48 | offset(rng),
        bytes: bytes as u32,
        slot: rng.below(16) as u8,
        pgid: rng.bits() as u16,
    }
}

fn some_request(rng: &mut Rng) -> Request {
    let align = if rng.chance(1, 10) { !0 } else { !7 };
    let length = match rng.below(10) {
        0 => rng.below(8192),
        1 => 4096,
        _ => rng.between(1, 200),
    };
    let offset = rng.below(1 << 36) << 12 | rng.below(4096u64.saturating_sub(length) + 1) & align;
    let kind = u64::from(r::TYPE_PULL) | r::HDR_W0_OTF_MASK;
    Request([
        rng.bits() & 0xffff_ffff_2b00 | kind | length << r::HDR_W0_LENGTH_SHIFT,
        rng.bits(),
        rng.below(1 << 15) << 48 | offset,
        rng.bits() & align,
    ])
}

fn traffic(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for (faults, misses) in [(false, false), (true, false), (false, true), (true, true)] {
            for resets in [false, true] {
                let hard = Hardship { gaps, faults, misses };
                cases.case(Start::Random1, format!("{} {hard:?} reset {resets}", dut.name), |run| {
                    let mut rng = run.rng("jobs");
                    let descriptors = (0..30).map(|_| some_descriptor(&mut rng)).collect();
                    let requests = (0..40).map(|_| some_request(&mut rng)).collect();
                    let reset = resets.then(|| rng.between(20, 3000));
                    exercise(run, dut, &mut World::new(run, hard, descriptors, requests), reset)
                });
            }
        }
    }
}

const EASY: Hardship = Hardship {
    gaps: Gaps::None,
    faults: false,
    misses: false,
};

/// A descriptor of this type, from the starts of pages.
fn plain(kind: u32, flags: u64, bytes: u32) -> Descriptor {
    Descriptor {
        what: u64::from(kind) | flags | 5 << r::HDR_W0_DST_SHIFT,
        local: OF_DESCRIPTOR,
        remote: 0x1234 << 48,
        bytes,
        slot: 3,
        pgid: 9,
    }
}

/// A request of so many bytes.
fn request(bytes: u64) -> Request {
    Request([
        u64::from(r::TYPE_PULL) | bytes << r::HDR_W0_LENGTH_SHIFT,
        0x10007,
        64,
        8,
    ])
}

/// Words leave one per cycle; requests and packets alternate; requests do not wait for credit.
fn manners(dut: &Dut<In, Out>, cases: &mut Cases) {
    for (bytes, count) in [(4096 * 6, 6), (512, 1), (8, 1)] {
        cases.case(Start::Zero, format!("{} {bytes} bytes", dut.name), |run| {
            let list = vec![plain(r::TYPE_PUSH, r::HDR_W0_ACK_REQ_MASK, bytes)];
            let mut world = World::new(run, EASY, list, Vec::new());
            exercise(run, dut, &mut world, None)?;
            let (words, cycles) = (
                u64::from(6 * count + bytes / 8),
                world.span.1 - world.span.0.unwrap_or(0) + 1,
            );
            Rule::Rate.same(format!("cycles of {bytes} bytes"), words, cycles)
        });
    }
    cases.case(Start::Zero, format!("{} alternates", dut.name), |run| {
        let list = vec![plain(r::TYPE_PULL, 0, 4096 * 30)];
        let mut world = World::new(run, EASY, list, vec![request(64); 60]);
        exercise(run, dut, &mut world, None)?;
        let middle = &world.order[4..40];
        let runs = |own: bool| middle.split(|&it| it != own).map(<[bool]>::len).max().unwrap_or(0);
        let longest = runs(true).max(runs(false));
        Rule::Fair.holds(longest <= 2, || format!("{longest} in a row: {middle:?}"))
    });
    cases.case(Start::Zero, format!("{} without credit", dut.name), |run| {
        let list = vec![plain(r::TYPE_PUSH, r::HDR_W0_ACK_REQ_MASK, 4096 * 3)];
        let mut world = World::new(run, EASY, list, vec![request(200); 20]);
        world.pacers[4] = Pacer::stopped();
        let mut bench = Bench::new(run, dut);
        for cycle in 0..4000 {
            let ready = cycle > 3 && bench.seen().ready;
            world.begin(ready);
            if cycle < 3 {
                bench.reset(&In::default())?;
                continue;
            }
            let out = bench.step(&world.inputs)?;
            world.step(cycle, &out).map_err(|fault| fault.at(cycle))?;
        }
        let left = world.requests.len();
        Rule::Hang.holds(left == 0 && world.request.is_none(), || format!("{left} requests wait"))
    });
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    traffic(dut, cases);
    manners(dut, cases);
}

#[test]
fn packets_are_the_models() {
    pass(this_test!(), |cases| traffic(&dut::<Dimmnet1Rdma>(), cases));
}

#[test]
fn descriptors_and_requests_share_the_engine() {
    pass(this_test!(), |cases| manners(&dut::<Dimmnet1Rdma>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            (Packet, &[], &|cases| checks(&dut::<TwinRdmaTotal>(), cases)),
            (Packet, &[], &|cases| checks(&dut::<TwinRdmaLeaks>(), cases)),
            (Done, &[], &|cases| checks(&dut::<TwinRdmaEarly>(), cases)),
            (Done, &[], &|cases| checks(&dut::<TwinRdmaTold>(), cases)),
            // Requests for data are not looked up here.
            (Lookup, &[Packet], &|cases| checks(&dut::<TwinRdmaCut>(), cases)),
            (Stop, &[], &|cases| checks(&dut::<TwinRdmaStops>(), cases)),
            (Credit, &[], &|cases| checks(&dut::<TwinRdmaSlot>(), cases)),
            (Fair, &[], &|cases| checks(&dut::<TwinRdmaUnfair>(), cases)),
            (Rest, &[], &|cases| checks(&dut::<TwinRdmaRests>(), cases)),
            (Path, &[], &|cases| checks(&dut::<TwinRdmaPath>(), cases)),
            (Protocol, &[], &|cases| checks(&dut::<TwinRdmaWithdraws>(), cases)),
            (Rate, &[], &|cases| checks(&dut::<TwinRdmaBubble>(), cases)),
            (Hang, &[], &|cases| checks(&dut::<TwinRdmaWaits>(), cases)),
        ],
    );
}
