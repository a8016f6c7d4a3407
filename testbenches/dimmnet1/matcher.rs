//! `dimmnet1_matcher`: packets and their cells against the model, with TLB and LLCM as the bench has them.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::firmware::{CELL_FREE, CELL_OVERFLOW, CELL_POINTER, CELL_SYSTEM};
use tsunagi::dimmnet1::golden::llcm::Access;
use tsunagi::dimmnet1::golden::matcher::{Chain, Step, Verdict, cell_bytes, serve};
use tsunagi::dimmnet1::regs::*;
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Monitor, Pacer};
use verilated::{Input as _, Port as _};

rules!(
    /// Each packet goes where its cell says, or is refused, or is the processor's.
    Verdict
    /// The cell is left as the model leaves it, and nothing else is written.
    Cell
    /// The cell's words are read once and in order; POINTER is written whole, of FREE's word the lower half.
    Access
    /// The cell is looked up with all its bytes, once. Before that word 2 names a chain's next command.
    Lookup
    /// From offer to command.
    Latency
    /// An offer holds until it is taken.
    Protocol
    /// At rest nothing changes.
    Rest
    /// No output follows an input within the cycle.
    Path
    /// Each packet's offer ends.
    Hang
);

const WORDS: usize = SIZE_LLCM as usize / 8;

/// What the TLB says of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    /// A word of LLCM.
    At(usize),
    Refused(u32),
    Missed,
}

#[derive(Clone, Debug, Default)]
struct In {
    packet: Option<Packet>,
    tlb_ready: bool,
    looked: Option<Looked>,
    ready: bool,
    word: Option<u64>,
}

#[derive(Debug, PartialEq)]
struct Out {
    verdict: Option<Verdict>,
    /// Header word 2.
    place: Option<u64>,
    /// Bytes.
    lookup: Option<u32>,
    access: Option<Access>,
    busy: bool,
}

fn set(dut: &impl Dimmnet1MatcherPorts, inputs: &In) {
    const NONE: Packet = Packet {
        kind: TYPE_MESSAGE,
        bytes: 0x1fff,
        region: 0xdead,
        more: true,
        looked: Looked::Missed,
    };
    let packet = inputs.packet.unwrap_or(NONE);
    dut.valid_i().set_bool(inputs.packet.is_some());
    dut.type_i().set(packet.kind.into());
    dut.bytes_i().set(packet.bytes.into());
    dut.region_i().set(packet.region.into());
    dut.more_i().set_bool(packet.more);
    dut.tlb_req_ready_i().set_bool(inputs.tlb_ready);
    let (word, reason, miss) = match inputs.looked {
        None | Some(Looked::Missed) => (0x5a5, 0, true),
        Some(Looked::Refused(reason)) => (0x5a5, reason, false),
        Some(Looked::At(word)) => (word as u64, 0, false),
    };
    dut.tlb_rsp_valid_i().set_bool(inputs.looked.is_some());
    dut.tlb_rsp_word_i().set(word);
    dut.tlb_rsp_reason_i().set(reason.into());
    dut.tlb_rsp_miss_i().set_bool(miss);
    dut.mat_ready_i().set_bool(inputs.ready);
    dut.mat_rvalid_i().set_bool(inputs.word.is_some());
    dut.mat_rdata_i().set(inputs.word.unwrap_or(0xdead));
}

fn seen(dut: &impl Dimmnet1MatcherPorts) -> Out {
    let verdict = match (dut.pass_o().is_set(), dut.go_valid_o().is_set()) {
        (true, _) => Some(Verdict::Pass),
        (_, true) => Some(match dut.go_what_o().get() as u32 {
            GO_CONTINUE => Verdict::Continue(dut.place_o().get()),
            GO_PART => Verdict::Part(dut.place_o().get(), dut.go_bytes_o().get() as u16),
            _ => Verdict::Nack(dut.go_reason_o().get() as u32),
        }),
        _ => None,
    };
    let write = || (dut.mat_wdata_o().get(), dut.mat_strb_o().get() as u8);
    let access = || Access {
        word: dut.mat_addr_o().get() as usize,
        write: dut.mat_write_o().is_set().then(write),
    };
    Out {
        verdict,
        place: dut.place_valid_o().is_set().then(|| dut.place_o().get()),
        lookup: dut
            .tlb_req_valid_o()
            .is_set()
            .then(|| dut.tlb_req_bytes_o().get() as u32),
        access: dut.mat_valid_o().is_set().then(access),
        busy: dut.busy_o().is_set(),
    }
}

fn matcher<U: Dimmnet1MatcherUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

/// Cells of the cases: few, so that packets meet what others left.
const CELLS: [usize; 3] = [0, 0x123, WORDS - 3];

/// A packet, and what the TLB says of the cell that it names.
#[derive(Clone, Copy, Debug)]
struct Packet {
    kind: u32,
    /// Those that are left.
    bytes: u32,
    /// Of word 2.
    region: u16,
    /// It is offered behind a part.
    more: bool,
    looked: Looked,
}

fn packet(rng: &mut Rng) -> Packet {
    const OTHER: [u32; 4] = [TYPE_BARRIER, TYPE_SOFT, 15, 255];
    let kind = match rng.below(10) {
        0 => OTHER[rng.below(4) as usize],
        1 | 2 => TYPE_INDIRECT,
        3..7 => TYPE_MESSAGE,
        _ => TYPE_CHAIN,
    };
    let bytes = match rng.below(4) {
        0 => rng.between(1, 8),
        1 => rng.between(1, 4096),
        2 => 4096 - rng.below(9),
        _ => 464,
    };
    Packet {
        kind,
        bytes: bytes as u32,
        region: rng.bits() as u16,
        more: false,
        looked: looked(rng),
    }
}

fn looked(rng: &mut Rng) -> Looked {
    match rng.below(12) {
        0 => Looked::Missed,
        1 => Looked::Refused([REASON_RIGHTS, REASON_RANGE][rng.below(2) as usize]),
        _ => Looked::At(CELLS[rng.below(3) as usize]),
    }
}

/// The host writes a receive command.
fn command(rng: &mut Rng, cell: &mut [u8]) {
    let length = if rng.chance(1, 16) {
        rng.bits() >> 48
    } else {
        8 * rng.between(1, 64)
    };
    let count = if rng.chance(1, 16) { 0 } else { rng.between(1, 4) };
    let kind = if rng.chance(1, 16) { rng.below(256) } else { 1 };
    let next = if rng.chance(1, 8) {
        rng.bits() >> 32
    } else {
        8 * rng.below(0x800)
    };
    let shape = length << CHAIN_SHAPE_LENGTH_SHIFT | count << CHAIN_SHAPE_COUNT_SHIFT | kind << CHAIN_SHAPE_KIND_SHIFT;
    let stride = rng.bits() & CHAIN_SHAPE_STRIDE_MASK;
    for (at, word) in [
        (CHAIN_PLACE, rng.bits()),
        (CHAIN_SHAPE, shape | stride),
        (CHAIN_NEXT, rng.bits() & !CHAIN_NEXT_OFFSET_MASK | next),
    ] {
        cell[at as usize..][..8].copy_from_slice(&word.to_le_bytes());
    }
}

/// The host sets a cell anew, or posts an area.
fn change(rng: &mut Rng, cell: &mut [u8]) {
    let mut put = |at: u32, word: u64| cell[at as usize..][..8].copy_from_slice(&word.to_le_bytes());
    if rng.chance(1, 3) {
        return put(CELL_POINTER, rng.bits());
    }
    let system = [0x3_0000, 0x8003_0001][rng.below(2) as usize];
    let free = match rng.below(6) {
        0 => u64::from(CELL_OVERFLOW),
        1 => 0xffff_0000 + rng.below(0x2000) * 8,
        _ => rng.below(0x800) * 8,
    };
    let room = [0, 8, 464, 4096, 0x4000][rng.below(5) as usize];
    let limit = (free as u32).wrapping_add(room + 8 * rng.below(3) as u32);
    put(CELL_POINTER, system << 32 | rng.bits() >> 32);
    put(CELL_FREE, u64::from(limit) << 32 | free);
    put(CELL_SYSTEM, rng.bits() << 32 | system);
}

fn cell(memory: &mut [u8], word: usize) -> &mut [u8] {
    let end = (8 * word + 24).min(memory.len());
    &mut memory[8 * word..end]
}

/// The packet under way.
struct Open {
    packet: Packet,
    since: u64,
    looked_up: bool,
    reads: usize,
    /// Where word 2 must go before the lookup.
    due: Option<u64>,
}

struct Rig<'a> {
    bench: Bench<'a, In, Out>,
    rng: Rng,
    gaps: Gaps,
    pacers: [Pacer; 2],
    /// LLCM, and as the model has it.
    memory: Vec<u8>,
    model: Vec<u8>,
    open: Option<Open>,
    /// The command under way, and its packet, which comes again.
    chain: Option<Chain>,
    rest: Option<Packet>,
    /// The TLB answers in so many cycles.
    lookup: Option<(u64, Looked)>,
    /// LLCM has an access, and does it in so many cycles.
    access: Option<(u64, Access)>,
    word: Option<u64>,
    monitors: (Monitor<u32>, Monitor<Access>),
    done: usize,
}

impl<'a> Rig<'a> {
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps) -> Rig<'a> {
        Rig {
            bench: Bench::new(run, dut),
            rng: run.rng("packets"),
            gaps,
            pacers: ["TLB", "LLCM"].map(|name| run.pacer(gaps.at_sink(), name)),
            memory: vec![0; SIZE_LLCM as usize],
            model: vec![0; SIZE_LLCM as usize],
            open: None,
            chain: None,
            rest: None,
            lookup: None,
            access: None,
            word: None,
            monitors: Default::default(),
            done: 0,
        }
    }

    /// A packet comes, and the host may have changed its cell.
    fn offer(&mut self, packet: Packet) {
        let rests = self.access.is_none() && !self.bench.seen().busy;
        let is_chain = packet.kind == TYPE_CHAIN;
        if let Looked::At(word) = packet.looked
            && rests
            && self.rng.chance(if is_chain { 3 } else { 1 }, 3)
        {
            let cell = cell(&mut self.memory, word);
            if is_chain {
                command(&mut self.rng, cell);
            } else {
                change(&mut self.rng, cell);
            }
            self.model.clone_from(&self.memory);
        }
        let mut ahead = self.chain;
        let due = match ahead.as_mut().filter(|_| packet.more).map(Chain::step) {
            Some(Ok(Step::Command(place))) => Some(place),
            _ => None,
        };
        self.open = Some(Open {
            packet,
            since: self.bench.cycle(),
            looked_up: false,
            reads: 0,
            due,
        });
    }

    fn reset(&mut self) -> Result<(), Fault> {
        self.bench.reset(&In::default())?;
        (self.open, self.lookup, self.access, self.word) = (None, None, None, None);
        (self.chain, self.rest) = (None, None);
        self.monitors.0.reset();
        self.monitors.1.reset();
        self.model.clone_from(&self.memory);
        Ok(())
    }

    fn step(&mut self) -> Result<(), Fault> {
        let cycle = self.bench.cycle();
        let delay = |rng: &mut Rng, pauses: bool| if pauses { rng.below(5) } else { 0 };
        let looked = self.lookup.take_if(|(left, _)| *left == 0).map(|(_, looked)| looked);
        let inputs = In {
            packet: self.open.as_ref().map(|open| open.packet),
            tlb_ready: self.lookup.is_none() && self.pacers[0].step(),
            looked,
            ready: self.access.is_none() && self.pacers[1].step(),
            word: self.word.take(),
        };
        let still = inputs.packet.is_none() && looked.is_none() && inputs.word.is_none();
        let clocked = self.rng.chance(1, 2);
        let seen = self.bench.step_gated(&inputs, |seen| still && !seen.busy, clocked)?;
        self.monitors.0.step(seen.lookup.as_ref(), inputs.tlb_ready)?;
        self.monitors.1.step(seen.access.as_ref(), inputs.ready)?;
        if let Some((left, _)) = &mut self.lookup {
            *left -= 1;
        }
        if seen.verdict.is_none()
            && let Some(place) = seen.place
        {
            let due = self.open.as_mut().and_then(|open| open.due.take());
            Rule::Lookup.same("word 2", due, Some(place))?;
        }
        if let Some(bytes) = seen.lookup.filter(|_| inputs.tlb_ready) {
            let looked = self.look_up(bytes).map_err(|fault| fault.at(cycle))?;
            self.lookup = Some((1 + delay(&mut self.rng, self.gaps.at_source()), looked));
        }
        self.serve_llcm();
        if let Some(access) = seen.access.filter(|_| inputs.ready) {
            self.check(access).map_err(|fault| fault.at(cycle))?;
            self.access = Some((delay(&mut self.rng, self.gaps.at_source()), access));
        }
        if let Some(verdict) = seen.verdict {
            if let Verdict::Continue(place) | Verdict::Part(place, _) = verdict {
                Rule::Verdict.same("word 2", Some(place), seen.place)?;
            }
            self.end(verdict, cycle).map_err(|fault| fault.at(cycle))?;
        }
        if self.open.is_none() && self.access.is_none() && !seen.busy {
            Rule::Cell.holds(self.memory == self.model, || {
                let at = self.memory.iter().zip(&self.model).position(|(got, want)| got != want);
                format!("cycle {cycle}: byte {at:x?} of LLCM differs")
            })?;
        }
        Ok(())
    }

    fn look_up(&mut self, bytes: u32) -> Result<Looked, Fault> {
        let open = self.open.as_mut().filter(|open| !open.looked_up && open.due.is_none());
        let open = open.ok_or_else(|| Rule::Lookup.broken("nothing is to be looked up"))?;
        open.looked_up = true;
        Rule::Lookup.same("bytes", cell_bytes(open.packet.kind), Some(bytes))?;
        Ok(open.packet.looked)
    }

    /// LLCM does the access that it has.
    fn serve_llcm(&mut self) {
        let Some((left, access)) = &mut self.access else { return };
        if *left > 0 {
            *left -= 1;
            return;
        }
        let bytes = &mut self.memory[8 * access.word..][..8];
        match access.write {
            Some((data, strobes)) => {
                let lanes = bytes.iter_mut().zip(data.to_le_bytes()).enumerate();
                let written = lanes.filter(|(lane, _)| strobes >> lane & 1 == 1);
                written.for_each(|(_, (byte, new))| *byte = new);
            }
            None => self.word = Some(u64::from_le_bytes((&*bytes).try_into().expect("eight bytes"))),
        }
        self.access = None;
    }

    fn check(&mut self, access: Access) -> Result<(), Fault> {
        if let Some((_, strobes)) = access.write {
            let at = CELLS.iter().find(|cell| (**cell..*cell + 2).contains(&access.word));
            let want = at.map(|cell| if access.word == *cell { 0xff } else { 0xf });
            return Rule::Access.same("strobes", want, Some(strobes));
        }
        let next = self.open.as_mut().and_then(|open| {
            let Looked::At(word) = open.packet.looked else {
                return None;
            };
            open.reads += 1;
            let words = cell_bytes(open.packet.kind)? as usize / 8;
            (open.looked_up && open.reads <= words).then_some(word + open.reads - 1)
        });
        Rule::Access.same("word read", next, Some(access.word))
    }

    /// How the packet's offer ends, and in how many cycles.
    fn wanted(&mut self, packet: &Packet) -> (Verdict, u64) {
        let mut most = if packet.kind == TYPE_INDIRECT { 7 } else { 12 };
        let mut region = packet.region;
        if packet.more {
            most = 13;
            match self.chain.as_mut().expect("it began").step() {
                Ok(Step::Block(place, bytes)) => return (Verdict::Part(place, bytes), 1),
                Ok(Step::Command(place)) => region = (place >> HDR_W2_REGION_SHIFT) as u16,
                Err(reason) => return (Verdict::Nack(reason), 1),
            }
        }
        let verdict = match (cell_bytes(packet.kind), packet.looked) {
            (None, _) | (_, Looked::Missed) => Verdict::Pass,
            (_, Looked::Refused(reason)) => Verdict::Nack(reason),
            (_, Looked::At(word)) if packet.kind == TYPE_CHAIN => {
                match Chain::begin(region, cell(&mut self.model, word)) {
                    Ok(mut chain) => {
                        let block = chain.step();
                        self.chain = Some(chain);
                        match block {
                            Ok(Step::Block(place, bytes)) => Verdict::Part(place, bytes),
                            _ => unreachable!("a command has a block"),
                        }
                    }
                    Err(reason) => Verdict::Nack(reason),
                }
            }
            (_, Looked::At(word)) => serve(packet.kind, packet.bytes, cell(&mut self.model, word)),
        };
        (verdict, most)
    }

    /// The packet's offer ends.
    fn end(&mut self, verdict: Verdict, cycle: u64) -> Result<(), Fault> {
        let open = self.open.take();
        let Open { packet, since, .. } = open.ok_or_else(|| Rule::Hang.broken(format!("{verdict:x?} of no packet")))?;
        let (want, most) = self.wanted(&packet);
        Rule::Verdict.holds(want == verdict, || format!("{packet:x?}: {verdict:x?}, not {want:x?}"))?;
        self.done += 1;
        self.rest = match verdict {
            // A packet may end in a part, too.
            Verdict::Part(_, length) if packet.bytes > length.into() && self.rng.chance(15, 16) => Some(Packet {
                bytes: packet.bytes - u32::from(length),
                region: self.rng.bits() as u16,
                more: true,
                looked: looked(&mut self.rng),
                ..packet
            }),
            _ => None,
        };
        let took = cycle - since;
        let exact = self.gaps == Gaps::None;
        Rule::Latency.holds(!exact || took <= most, || format!("{packet:x?} took {took} cycles"))
    }
}

fn exercise(run: &Run, dut: &Dut<In, Out>, gaps: Gaps, reset: bool) -> Result<(), Fault> {
    const COUNT: usize = 400;
    let mut rig = Rig::new(run, dut, gaps);
    let mut rng = run.rng("pauses");
    let resets = reset.then(|| rng.between(100, 3000));
    let mut pause = 0;
    for cycle in 0..60_000 {
        if cycle < 2 || resets == Some(cycle) {
            rig.reset()?;
            continue;
        }
        if rig.open.is_none() {
            if rig.done >= COUNT {
                return Ok(());
            }
            if pause == 0 {
                let packet = rig.rest.take().unwrap_or_else(|| packet(&mut rng));
                rig.offer(packet);
                pause = 1 + rng.below(8);
            } else {
                pause -= 1;
            }
        }
        rig.step()?;
    }
    Err(Rule::Hang.broken(format!("{} packets after 60000 cycles", rig.done)))
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        for reset in [false, true] {
            let params = format!("{} {gaps:?} reset {reset}", dut.name);
            cases.from_each(&[Start::Zero, Start::Random1], params, |run| {
                exercise(run, dut, gaps, reset)
            });
        }
    }
}

#[test]
fn serves_as_its_model() {
    pass(this_test!(), |cases| checks(&matcher::<Dimmnet1Matcher>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // A posted area does not count.
            (Verdict, &[Cell, Access], &|cases| {
                checks(&matcher::<TwinMatcherPosted>(), cases)
            }),
            // A packet may cross a page.
            (Verdict, &[Cell], &|cases| checks(&matcher::<TwinMatcherPage>(), cases)),
            // FREE stays behind an overflow.
            (Cell, &[Verdict], &|cases| {
                checks(&matcher::<TwinMatcherOverflow>(), cases)
            }),
            // LIMIT is written, too.
            (Access, &[Cell], &|cases| checks(&matcher::<TwinMatcherLimit>(), cases)),
            (Verdict, &[Cell], &|cases| {
                checks(&matcher::<TwinMatcherStride>(), cases)
            }),
            // A command without blocks counts.
            (Verdict, &[Cell], &|cases| checks(&matcher::<TwinMatcherCount>(), cases)),
            // The next command is in the region of the part.
            (Lookup, &[Cell, Verdict], &|cases| {
                checks(&matcher::<TwinMatcherRegion>(), cases)
            }),
            // A message's cell is looked up as a pointer.
            (Lookup, &[], &|cases| checks(&matcher::<TwinMatcherBytes>(), cases)),
            (Latency, &[], &|cases| checks(&matcher::<TwinMatcherLate>(), cases)),
            // A write that LLCM does not take at once is lost.
            (Protocol, &[Cell, Verdict], &|cases| {
                checks(&matcher::<TwinMatcherWithdraws>(), cases)
            }),
            (Rest, &[Cell], &|cases| checks(&matcher::<TwinMatcherRest>(), cases)),
            (Path, &[], &|cases| checks(&matcher::<TwinMatcherPath>(), cases)),
            // A packet whose cell misses waits for ever.
            (Hang, &[], &|cases| checks(&matcher::<TwinMatcherHang>(), cases)),
        ],
    );
}
