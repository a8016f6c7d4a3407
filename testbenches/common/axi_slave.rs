//! The bridges from AXI4 and AXI4-Lite to a window, `axi_slave` and `axil_slave`: the window gets every beat once and
//! in order, every answer has its place, illegal bursts are refused, neither direction stops the other, and no cycle
//! is lost.

use std::collections::VecDeque;

use support::this_test;
use testbenches::mem::set_word;
use testbenches::rtl::*;
use testbenches::{Bench, Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use testbenches::{s_axi, s_axil, set_s_axi, set_s_axil};
use tsunagi::harness::axi::{
    self, AxiMaster, Burst, FromMaster, FromSlave, Kind, ReadBeat, Resp, Rules, Taken, WriteBeat, WriteEnd,
};
use tsunagi::harness::seed::{Rng, Seed};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer};
use verilated::{Input, Port};

use crate::dma::{Hardship, Slowness};

rules!(
    /// The window gets every beat that is not refused, once and in order.
    Request
    /// Every beat of a read is answered as the window answered it.
    Content
    /// Every write is answered as the window answered its beats.
    Response
    /// No output follows an input within the cycle.
    Path
    /// A request holds until it is taken.
    Protocol
    /// A beat per cycle, if no other party pauses.
    Rate
    /// While both directions wait, neither goes twice.
    Turns
    /// Every burst ends.
    Hang
    /// AXI: an offer holds until it is taken.
    Hold
    /// AXI: a write is answered once, after its last beat, with its ID.
    WriteEnd
    /// AXI: data of a read come after its address, with its ID.
    ReadData
    /// AXI: RLAST comes with the last beat of a read, and with no other.
    ReadLast
    /// AXI: EXOKAY answers exclusive accesses only.
    Exclusive
    /// AXI: nothing is valid in reset.
    Reset
);

/// A request to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    write: bool,
    addr: u32,
    /// 0 of a read.
    data: u64,
    strb: u8,
}

/// A response of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Response {
    data: u64,
    err: bool,
}

/// The outputs of the window.
#[derive(Clone, Copy, Debug, Default)]
struct FromWindow {
    req_ready: bool,
    response: Option<Response>,
}

#[derive(Debug)]
struct In {
    master: FromMaster,
    window: FromWindow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    axi: FromSlave,
    request: Option<Request>,
    rsp_ready: bool,
    busy: bool,
}

/// Ports: request ready, response valid, data, error.
fn set_window(ports: [&dyn Input; 4], window: &FromWindow) {
    let [ready, valid, data, err] = ports;
    let response = window.response.unwrap_or(Response { data: 0xbad, err: true });
    ready.set_bool(window.req_ready);
    valid.set_bool(window.response.is_some());
    set_word(data, response.data);
    err.set_bool(response.err);
}

/// Ports: request valid, write, address, data, strobes.
fn request(ports: [&dyn Port; 5]) -> Option<Request> {
    let [valid, write, addr, data, strb] = ports;
    valid.is_set().then(|| Request {
        write: write.is_set(),
        addr: addr.get() as u32,
        data: if write.is_set() { data.get() } else { 0 },
        strb: strb.get() as u8,
    })
}

/// A bridge under test. AXI4-Lite has no IDs: they have 0 bits.
pub struct Bridge {
    dut: Dut<In, Out>,
    lite: bool,
    /// Bytes of a word.
    word: u32,
    addr_bits: usize,
    id_bits: usize,
}

pub fn axi4<U: AxiSlaveUnit + 'static>() -> Bridge {
    fn set(dut: &impl AxiSlavePorts, inputs: &In) {
        set_s_axi!(dut, &inputs.master, 0);
        let window = [
            dut.win_req_ready_i() as &dyn Input,
            dut.win_rsp_valid_i(),
            dut.win_rsp_rdata_i(),
            dut.win_rsp_err_i(),
        ];
        set_window(window, &inputs.window);
    }

    fn seen(dut: &impl AxiSlavePorts) -> Out {
        Out {
            axi: s_axi!(dut),
            request: request([
                dut.win_req_valid_o(),
                dut.win_req_write_o(),
                dut.win_req_addr_o(),
                dut.win_req_wdata_o(),
                dut.win_req_wstrb_o(),
            ]),
            rsp_ready: dut.win_rsp_ready_o().is_set(),
            busy: dut.busy_o().is_set(),
        }
    }

    let dut = Dut::of::<U>(set, seen);
    Bridge {
        lite: false,
        word: dut.width("s_axi_wdata") as u32 / 8,
        addr_bits: dut.width("s_axi_awaddr"),
        id_bits: dut.width("s_axi_awid"),
        dut,
    }
}

fn lite<U: AxilSlaveUnit + 'static>() -> Bridge {
    fn set(dut: &impl AxilSlavePorts, inputs: &In) {
        set_s_axil!(dut, &inputs.master);
        let window = [
            dut.host_req_ready_i() as &dyn Input,
            dut.host_rsp_valid_i(),
            dut.host_rsp_rdata_i(),
            dut.host_rsp_err_i(),
        ];
        set_window(window, &inputs.window);
    }

    fn seen(dut: &impl AxilSlavePorts) -> Out {
        Out {
            axi: s_axil!(dut),
            request: request([
                dut.host_req_valid_o(),
                dut.host_req_write_o(),
                dut.host_req_addr_o(),
                dut.host_req_wdata_o(),
                dut.host_req_wstrb_o(),
            ]),
            rsp_ready: dut.host_rsp_ready_o().is_set(),
            busy: dut.busy_o().is_set(),
        }
    }

    let dut = Dut::of::<U>(set, seen);
    Bridge {
        lite: true,
        word: dut.width("s_axil_wdata") as u32 / 8,
        addr_bits: dut.width("s_axil_awaddr"),
        id_bits: 0,
        dut,
    }
}

/// Answers requests in order, with random data, at times with an error.
struct Window {
    ready: Pacer,
    answers: Pacer,
    rng: Rng,
    slow: bool,
    errors: bool,
    word: u32,
    /// Requests without an answer, and the cycle from which each may have one.
    asked: VecDeque<(Request, u64)>,
    ports: FromWindow,
}

/// Requests that a window holds.
const HELD: usize = 6;

impl Window {
    fn new(run: &Run, bridge: &Bridge, hardship: Hardship) -> Window {
        let slow = hardship.memory == Slowness::Slow;
        Window {
            ready: run.pacer(slow, "window ready"),
            answers: run.pacer(slow, "window answers"),
            rng: run.rng("window"),
            slow,
            errors: hardship.faults,
            word: bridge.word,
            asked: VecDeque::new(),
            ports: FromWindow::default(),
        }
    }

    /// The edge: the request and the response that passed it.
    fn step(&mut self, cycle: u64, seen: &Out) -> (Option<Request>, Option<(Request, Response)>) {
        let response = self.ports.response.filter(|_| seen.rsp_ready);
        let answered = response.map(|response| {
            self.ports.response = None;
            let (request, _) = self.asked.pop_front().expect("an answer belongs to a request");
            (request, response)
        });
        let request = seen.request.filter(|_| self.ports.req_ready);
        if let Some(request) = request {
            let latency = if self.slow { self.rng.below(12) } else { 0 };
            self.asked.push_back((request, cycle + latency));
        }
        self.ports.req_ready = self.ready.step() && self.asked.len() < HELD;
        let go = self.answers.step();
        if self.ports.response.is_none() && go && self.asked.front().is_some_and(|(_, due)| *due <= cycle) {
            self.ports.response = Some(Response {
                data: self.rng.bits() >> (64 - 8 * self.word),
                err: self.errors && self.rng.chance(1, 5),
            });
        }
        (request, answered)
    }
}

/// A beat of a read that the master has not taken.
#[derive(Clone, Copy, Debug)]
struct Due {
    id: u32,
    last: bool,
    /// Data, if they count, and error. `None`: the window has not answered. A refused beat has its answer from the
    /// beginning.
    answer: Option<(Option<u64>, bool)>,
}

/// A write with a response that the master has not taken.
#[derive(Clone, Copy, Debug)]
struct End {
    id: u32,
    /// Beats that the window has not answered.
    left: u32,
    err: bool,
}

/// The requests and answers that follow from the bursts that the unit took, by the headers of the units.
#[derive(Default)]
struct Golden {
    lite: bool,
    word: u32,
    reads: VecDeque<Request>,
    writes: VecDeque<Request>,
    beats: VecDeque<Due>,
    ends: VecDeque<End>,
}

impl Golden {
    fn new(bridge: &Bridge) -> Golden {
        Golden {
            lite: bridge.lite,
            word: bridge.word,
            ..Golden::default()
        }
    }

    /// The window does not get exclusive accesses, nor bursts that the specification forbids.
    fn is_refused(&self, burst: &Burst) -> bool {
        burst.lock || burst.fault(self.word).is_some()
    }

    fn read(&mut self, burst: &Burst) {
        let refused = self.is_refused(burst);
        for i in 0..burst.beats() {
            let place = burst.place(i, self.word);
            if !refused {
                self.reads.push_back(Request {
                    write: false,
                    addr: place.addr,
                    data: 0,
                    strb: if self.lite { all_lanes(self.word) } else { place.lanes },
                });
            }
            self.beats.push_back(Due {
                id: burst.id,
                last: i + 1 == burst.beats(),
                answer: refused.then_some((None, true)),
            });
        }
    }

    fn write(&mut self, burst: &Burst, beats: &[WriteBeat]) {
        let refused = self.is_refused(burst);
        if !refused {
            let request = |(i, beat): (usize, &WriteBeat)| Request {
                write: true,
                addr: burst.place(i as u32, self.word).addr,
                data: beat.data,
                strb: beat.strb,
            };
            self.writes.extend(beats.iter().enumerate().map(request));
        }
        self.ends.push_back(End {
            id: burst.id,
            left: if refused { 0 } else { burst.beats() },
            err: refused,
        });
    }

    /// The window got a request.
    fn asked(&mut self, request: &Request) -> Result<(), Fault> {
        let queue = if request.write {
            &mut self.writes
        } else {
            &mut self.reads
        };
        let want = queue.pop_front();
        Rule::Request.holds(want.as_ref() == Some(request), || {
            format!("{request:x?}, not {want:x?}")
        })
    }

    /// The window answered a request.
    fn answered(&mut self, request: &Request, response: &Response) {
        if request.write {
            if let Some(end) = self.ends.iter_mut().find(|end| end.left > 0) {
                end.left -= 1;
                end.err |= response.err;
            }
        } else if let Some(due) = self.beats.iter_mut().find(|due| due.answer.is_none()) {
            due.answer = Some((Some(response.data), response.err));
        }
    }

    /// The master took a beat.
    fn beat(&mut self, beat: &ReadBeat) -> Result<(), Fault> {
        let due = self.beats.pop_front();
        let right = due.is_some_and(|due| {
            let Some((data, err)) = due.answer else { return false };
            (beat.id, beat.last, beat.resp) == (due.id, due.last, resp(err))
                && data.is_none_or(|data| data == beat.data)
        });
        Rule::Content.holds(right, || format!("{beat:x?}, not {due:x?}"))
    }

    /// The master took a response of a write.
    fn end(&mut self, end: &WriteEnd) -> Result<(), Fault> {
        let due = self.ends.pop_front();
        let right = due.is_some_and(|due| due.left == 0 && (end.id, end.resp) == (due.id, resp(due.err)));
        Rule::Response.holds(right, || format!("{end:x?}, not {due:x?}"))
    }

    fn is_done(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty() && self.beats.is_empty() && self.ends.is_empty()
    }
}

fn resp(err: bool) -> Resp {
    if err { Resp::SlvErr } else { Resp::Okay }
}

fn all_lanes(word: u32) -> u8 {
    (0xff_u32 >> (8 - word)) as u8
}

type Write = (Burst, Vec<WriteBeat>);

/// The bursts of a run, and the conditions.
#[derive(Clone, Copy, Debug)]
struct Plan<'a> {
    reads: &'a [Burst],
    writes: &'a [Write],
    hardship: Hardship,
    /// The cycle of a reset of everything, which loses the open bursts.
    reset: Option<u64>,
    /// The direction, if any, of which the master never takes an answer.
    deaf: Option<Direction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

impl Plan<'_> {
    /// A master with the bursts from these numbers on.
    fn master(&self, run: &Run, reads: usize, writes: usize) -> AxiMaster {
        let mut master = AxiMaster::new(self.hardship.gaps, |name| run.rng(name));
        self.reads[reads..].iter().for_each(|burst| master.read(*burst));
        for (burst, beats) in &self.writes[writes..] {
            master.write(*burst, beats.iter().copied());
        }
        match self.deaf {
            Some(Direction::Write) => master.paces[0] = Pacer::stopped(),
            Some(Direction::Read) => master.paces[1] = Pacer::stopped(),
            None => {}
        }
        master
    }
}

/// Requests that the window took, with their cycles, and the first cycle of other events.
#[derive(Clone, Debug, Default)]
struct Asked {
    requests: Vec<(u64, Request)>,
    /// An address was taken.
    address: Option<u64>,
    /// The window gave a response.
    response: Option<u64>,
    /// An answer was offered.
    answer: Option<u64>,
}

/// A run: master, window and golden model, and the bursts so far.
struct Exercise<'a> {
    run: &'a Run<'a>,
    bridge: &'a Bridge,
    plan: &'a Plan<'a>,
    master: AxiMaster,
    window: Window,
    golden: Golden,
    rules: Rules,
    requests: Monitor<Request>,
    /// Bursts with an address that was taken.
    reads: usize,
    writes: usize,
    /// Writes with all their data taken, and whether a further one has some.
    begun: usize,
    middle: bool,
    asked: Asked,
}

impl<'a> Exercise<'a> {
    fn new(run: &'a Run<'a>, bridge: &'a Bridge, plan: &'a Plan<'a>) -> Exercise<'a> {
        Exercise {
            run,
            bridge,
            plan,
            master: plan.master(run, 0, 0),
            window: Window::new(run, bridge, plan.hardship),
            golden: Golden::new(bridge),
            // Some bursts are illegal on purpose.
            rules: Rules::new(bridge.word).without(&[axi::Rule::Legal]),
            requests: Monitor::default(),
            reads: 0,
            writes: 0,
            begun: 0,
            middle: false,
            asked: Asked::default(),
        }
    }

    /// An edge in reset, with the outputs after it. A burst of which a part was taken is given up.
    fn reset(&mut self, after: &FromSlave) -> Result<(), Fault> {
        self.begun += usize::from(self.middle);
        self.writes = self.writes.max(self.begun);
        (self.begun, self.middle) = (self.writes, false);
        self.master = self.plan.master(self.run, self.reads, self.writes);
        self.window = Window::new(self.run, self.bridge, self.plan.hardship);
        self.golden = Golden::new(self.bridge);
        self.requests.reset();
        Ok(self.rules.reset(&FromMaster::default(), after)?)
    }

    fn edge(&mut self, cycle: u64, inputs: &In, seen: &Out) -> Result<(), Fault> {
        self.rules.step(&inputs.master, &seen.axi)?;
        self.requests.step(seen.request.as_ref(), inputs.window.req_ready)?;
        let taken = self.master.step(&seen.axi);
        let (request, answered) = self.window.step(cycle, seen);
        if let Some(beat) = taken.r {
            self.golden.beat(&beat)?;
        }
        if let Some(end) = taken.b {
            self.golden.end(&end)?;
        }
        if let Some((request, response)) = answered {
            self.golden.answered(&request, &response);
            self.asked.response.get_or_insert(cycle);
        }
        if seen.axi.r.is_some() || seen.axi.b.is_some() {
            self.asked.answer.get_or_insert(cycle);
        }
        if let Some(request) = request {
            self.golden.asked(&request)?;
            self.asked.requests.push((cycle, request));
        }
        self.taken(cycle, &taken);
        Ok(())
    }

    /// The unit took these words of the master.
    fn taken(&mut self, cycle: u64, taken: &Taken) {
        if taken.ar.is_some() || taken.aw.is_some() {
            self.asked.address.get_or_insert(cycle);
        }
        if let Some(burst) = taken.ar {
            self.reads += 1;
            self.golden.read(&burst);
        }
        if let Some(burst) = taken.aw {
            self.golden.write(&burst, &self.plan.writes[self.writes].1);
            self.writes += 1;
        }
        if let Some(beat) = taken.w {
            self.middle = !beat.last;
            self.begun += usize::from(beat.last);
        }
    }

    fn is_done(&self, busy: bool) -> bool {
        let golden = &self.golden;
        match self.plan.deaf {
            None => self.master.is_empty() && golden.is_done() && self.rules.is_idle() && !busy,
            Some(Direction::Write) => self.reads == self.plan.reads.len() && golden.beats.is_empty(),
            Some(Direction::Read) => self.writes == self.plan.writes.len() && golden.ends.is_empty(),
        }
    }
}

fn exercise(run: &Run, bridge: &Bridge, plan: &Plan) -> Result<Asked, Fault> {
    let mut bench = Bench::new(run, &bridge.dut);
    let mut state = Exercise::new(run, bridge, plan);
    let mut idle = 0;
    for cycle in 0..60_000 {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let inputs = In {
            master: state.master.drive(),
            window: state.window.ports,
        };
        let seen = bench.registered(&inputs, rst)?;
        let kept = if rst {
            state.reset(&bench.seen().axi)
        } else {
            state.edge(cycle, &inputs, &seen)
        };
        kept.map_err(|fault| fault.at(cycle))?;
        idle = if !rst && state.is_done(seen.busy) { idle + 1 } else { 0 };
        if idle > 30 {
            return Ok(state.asked);
        }
    }
    let (beats, ends) = (state.golden.beats.len(), state.golden.ends.len());
    let asked = state.window.asked.len();
    Err(Rule::Hang.broken(format!(
        "{beats} beats and {ends} ends are due, {asked} requests with the window"
    )))
}

/// A burst: most are legal, of every kind and size; some must be refused.
fn burst(rng: &mut Rng, bridge: &Bridge) -> Burst {
    let word = bridge.word;
    let all = u32::MAX >> (32 - bridge.addr_bits);
    let any = rng.bits() as u32 & all;
    if bridge.lite {
        return Burst::words(any, 1, word);
    }
    let mut burst = legal_burst(rng, bridge, any);
    match rng.below(20) {
        0 => burst.lock = true,
        1 => burst.size = word.ilog2() as u8 + 1,
        2 => burst.kind = Kind::Reserved,
        3 => (burst.kind, burst.len, burst.addr) = (Kind::Wrap, 4, burst.addr & !7),
        4 => (burst.kind, burst.len, burst.addr) = (Kind::Incr, 15, (any | 0xfff) - 2 * word),
        5 => (burst.kind, burst.len, burst.size, burst.addr) = (Kind::Wrap, 3, 1, burst.addr | 1),
        6 => (burst.kind, burst.len) = (Kind::Fixed, 16 + rng.below(16) as u8),
        _ => {}
    }
    burst
}

/// At the address `any` or before a multiple of 4 KB.
fn legal_burst(rng: &mut Rng, bridge: &Bridge, any: u32) -> Burst {
    let all = u32::MAX >> (32 - bridge.addr_bits);
    let size = rng.between(0, bridge.word.ilog2().into()) as u8;
    let id = rng.bits() as u32 & ((1 << bridge.id_bits) - 1);
    loop {
        let kind = Kind::ALL[rng.below(3) as usize];
        let len = match kind {
            Kind::Wrap => [1, 3, 7, 15][rng.below(4) as usize],
            Kind::Incr if rng.chance(1, 10) => rng.below(256) as u8,
            _ if rng.chance(1, 2) => rng.below(3) as u8,
            _ => rng.below(16) as u8,
        };
        let near_the_edge = (any & !0xfff).wrapping_sub(rng.below(64) as u32) & all;
        let addr = if rng.chance(1, 4) { near_the_edge } else { any };
        let burst = Burst {
            id,
            addr: if kind == Kind::Wrap { addr >> size << size } else { addr },
            len,
            size,
            kind,
            lock: false,
            cache: rng.below(16) as u8,
            prot: rng.below(8) as u8,
        };
        if burst.fault(bridge.word).is_none() {
            return burst;
        }
    }
}

fn with_data(rng: &mut Rng, burst: Burst, word: u32) -> Write {
    let beat = |i| {
        let lanes = burst.place(i, word).lanes;
        WriteBeat {
            data: rng.bits() >> (64 - 8 * word),
            strb: if rng.chance(1, 3) {
                rng.bits() as u8 & lanes
            } else {
                lanes
            },
            last: i + 1 == burst.beats(),
        }
    };
    (burst, (0..burst.beats()).map(beat).collect())
}

fn content(bridge: &Bridge, cases: &mut Cases) {
    for (i, hardship) in Hardship::all().enumerate() {
        for resets in [false, true] {
            let params = format!("{} {hardship:?} reset {resets}", bridge.dut.name);
            cases.case(Start::ALL[i % 3], params, |run| {
                let mut rng = run.rng("bursts");
                let reads: Vec<Burst> = (0..60).map(|_| burst(&mut rng, bridge)).collect();
                let mut write = || {
                    let burst = burst(&mut rng, bridge);
                    with_data(&mut rng, burst, bridge.word)
                };
                let plan = Plan {
                    reads: &reads,
                    writes: &(0..60).map(|_| write()).collect::<Vec<Write>>(),
                    hardship,
                    reset: resets.then(|| run.rng("reset").between(20, 250)),
                    deaf: None,
                };
                exercise(run, bridge, &plan).map(drop)
            });
        }
    }
}

const BOTH: &[Direction] = &[Direction::Read, Direction::Write];

/// 120 beats in each of these directions, in bursts of one length, with an ideal window and no gaps.
fn easy(
    bridge: &Bridge,
    beats: u32,
    directions: &[Direction],
    deaf: Option<Direction>,
    cases: &mut Cases,
    check: impl Fn(&Asked) -> Result<(), Fault>,
) {
    let word = bridge.word;
    let burst = |i| Burst::words(i * beats * word % 128, beats, word);
    let reads: Vec<Burst> = (0..120 / beats).map(burst).collect();
    let mut rng = Seed(1).stream("plain");
    let writes: Vec<Write> = reads.iter().map(|burst| with_data(&mut rng, *burst, word)).collect();
    let goes = |direction| directions.contains(&direction);
    let plan = Plan {
        reads: if goes(Direction::Read) { &reads } else { &[] },
        writes: if goes(Direction::Write) { &writes } else { &[] },
        hardship: Hardship {
            gaps: Gaps::None,
            memory: Slowness::Ideal,
            faults: false,
        },
        reset: None,
        deaf,
    };
    let params = format!("{} bursts of {beats}, {directions:?}, deaf {deaf:?}", bridge.dut.name);
    cases.case(Start::Zero, params, |run| check(&exercise(run, bridge, &plan)?));
}

/// The window gets a request per cycle, also between bursts, in one direction or in both.
fn rate(bridge: &Bridge, cases: &mut Cases) {
    let lengths: &[u32] = if bridge.lite { &[1] } else { &[1, 3, 15] };
    for &beats in lengths {
        for directions in [&BOTH[..1], &BOTH[1..], BOTH] {
            easy(bridge, beats, directions, None, cases, |asked| {
                let list = &asked.requests;
                let cycles = list[list.len() - 1].0 - list[0].0 + 1;
                Rule::Rate.holds(cycles == list.len() as u64, || {
                    format!("{} requests took {cycles} cycles", list.len())
                })
            });
        }
    }
}

/// While both directions wait, they take turns.
fn turns(bridge: &Bridge, cases: &mut Cases) {
    let beats = if bridge.lite { 1 } else { 15 };
    easy(bridge, beats, BOTH, None, cases, |asked| {
        let middle = &asked.requests[10..200];
        let turns = middle.windows(2).all(|pair| pair[0].1.write != pair[1].1.write);
        Rule::Turns.holds(turns, || "one direction went twice while the other waited".into())
    });
}

/// A master that takes no answers of one direction gets all of the other.
fn independence(bridge: &Bridge, cases: &mut Cases) {
    for deaf in [Direction::Write, Direction::Read] {
        easy(bridge, 1, BOTH, Some(deaf), cases, |_| Ok(()));
    }
}

/// All checks.
pub fn checks(bridge: &Bridge, cases: &mut Cases) {
    content(bridge, cases);
    rate(bridge, cases);
    turns(bridge, cases);
    independence(bridge, cases);
}

#[test]
fn content_under_hardship() {
    pass(this_test!(), |cases| {
        content(&axi4::<AxiSlave>(), cases);
        content(&axi4::<AxiSlaveO1>(), cases);
        content(&axi4::<AxiSlave64>(), cases);
        content(&lite::<AxilSlave>(), cases);
        content(&lite::<AxilSlave64O1>(), cases);
    });
}

#[test]
fn one_beat_per_cycle() {
    pass(this_test!(), |cases| {
        rate(&axi4::<AxiSlave>(), cases);
        rate(&lite::<AxilSlave>(), cases);
    });
}

#[test]
fn directions_take_turns() {
    pass(this_test!(), |cases| {
        turns(&axi4::<AxiSlave>(), cases);
        turns(&lite::<AxilSlave>(), cases);
    });
}

#[test]
fn a_direction_that_stands_does_not_stop_the_other() {
    pass(this_test!(), |cases| {
        independence(&axi4::<AxiSlave>(), cases);
        independence(&axi4::<AxiSlaveO1>(), cases);
        independence(&axi4::<AxiSlave64>(), cases);
        independence(&lite::<AxilSlave>(), cases);
    });
}

/// From taken to offered, as the headers of the RTL say.
#[test]
fn latencies() {
    pass(this_test!(), |cases| {
        for (bridge, cycles) in [(axi4::<AxiSlave>(), 3), (lite::<AxilSlave>(), 2)] {
            for directions in [&BOTH[..1], &BOTH[1..]] {
                easy(&bridge, 1, directions, None, cases, |asked| {
                    let between = |from: Option<u64>, to: Option<u64>| Some(to? - from?);
                    assert_eq!(between(asked.address, Some(asked.requests[0].0)), Some(cycles));
                    assert_eq!(between(asked.response, asked.answer), Some(1));
                    Ok(())
                });
            }
        }
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    fn on<U: AxiSlaveUnit + 'static>(cases: &mut Cases) {
        checks(&axi4::<U>(), cases);
    }
    each_is_caught(
        this_test!(),
        &[
            (Request, &[], &on::<TwinAxiSlaveWrap>),
            // The window answers a burst that should have been refused.
            (Request, &[Content, Response], &on::<TwinAxiSlaveExclusive>),
            // Both reads and writes lose their errors.
            (Content, &[Response], &|cases| {
                checks(&lite::<TwinAxilSlaveError>(), cases)
            }),
            (Response, &[], &on::<TwinAxiSlaveForgets>),
            (Path, &[], &on::<TwinAxiSlavePath>),
            // Each of its FIFOs has the broken line.
            (Protocol, &[Hold, Rate, Hang], &on::<TwinAxiSlaveWithdraws>),
            (Rate, &[], &on::<TwinAxiSlaveBubble>),
            (Turns, &[], &on::<TwinAxiSlaveTurns>),
            (Hang, &[], &on::<TwinAxiSlaveHolds>),
            (Hold, &[Content], &on::<TwinAxiSlaveChanges>),
            // Answers beyond the one that is due have no room.
            (WriteEnd, &[Response, Rate, Turns, Hang], &on::<TwinAxiSlaveEnd>),
            (ReadData, &[Content, ReadLast], &on::<TwinAxiSlaveId>),
            (ReadLast, &[Content], &on::<TwinAxiSlaveReadLast>),
            (Exclusive, &[Content], &on::<TwinAxiSlaveExokay>),
            // A request or an answer from before survives the reset.
            (
                Reset,
                &[
                    Request, Content, Response, Protocol, Hold, WriteEnd, ReadData, ReadLast, Hang,
                ],
                &on::<TwinAxiSlaveReset>,
            ),
        ],
    );
}
