//! The bridges from AXI4 and AXI4-Lite to a window: every beat asked once and in order, every answer in its place, what is illegal refused,
//! neither direction in the way of the other, no cycle lost.

use std::collections::VecDeque;

use testbenches::name;
use testbenches::rtl::*;
use testbenches::{s_axi, s_axil, set_s_axi, set_s_axil};
use tsunagi::harness::axi::{
    self, AxiMaster, Burst, FromMaster, FromSlave, Kind, ReadBeat, Resp, Rules, WriteBeat, WriteEnd,
};
use tsunagi::harness::seed::{Case, Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Monitor, Pacer};
use tsunagi::harness::wave::Probe;
use verilated::Unit;

use crate::bench::{Each, PERIOD, Start, axi_rules, holds, must_pass, rules};
use crate::dma::{Hardship, Slowness};

rules!(
    /// The window is asked for every beat that is not refused, once and in order.
    Request
    /// Every beat of a read is answered with what the window said.
    Content
    /// Every write is answered with what the window said of all its beats.
    Response
    /// No output follows an input within the cycle, else the bench does not see what the unit sees.
    Path
    /// A request holds until it is taken.
    Protocol
    /// A beat per cycle, if nobody else pauses.
    Rate
    /// While both directions wait, neither goes twice.
    Turns
    /// Everything that is asked for comes.
    Hang
    /// These of the AXI protocol.
    Hold
    WriteEnd
    ReadData
    ReadLast
    Exclusive
    Reset
);

/// What a window is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    write: bool,
    addr: u32,
    /// 0 of a read.
    data: u64,
    strb: u8,
}

/// What a window answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    data: u64,
    err: bool,
}

/// What the unit drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    axi: FromSlave,
    request: Option<Request>,
    rsp_ready: bool,
    busy: bool,
}

/// What the window drives.
#[derive(Clone, Copy, Debug, Default)]
pub struct FromWindow {
    req_ready: bool,
    response: Option<Response>,
}

pub trait Bridge: Unit {
    /// Bytes of a word.
    const WORD: u32;
    const LITE: bool;

    fn set_clk(&self, clk: bool, rst: bool);
    fn set(&self, master: &FromMaster, window: &FromWindow);
    fn seen(&self) -> Seen;
    /// Bits of an address and of an ID.
    fn widths() -> (u32, u32);
}

macro_rules! axi {
    ($($unit:ident: $word:expr, $addr:expr, $id:expr;)+) => {$(
        impl Bridge for $unit {
            const WORD: u32 = $word;
            const LITE: bool = false;

            fn widths() -> (u32, u32) {
                ($addr, $id)
            }

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, master: &FromMaster, window: &FromWindow) {
                set_s_axi!(self, master, 0);
                let response = window.response.unwrap_or(Response { data: 0xbad, err: true });
                self.win_req_ready_i.set_bool(window.req_ready);
                self.win_rsp_valid_i.set_bool(window.response.is_some());
                self.win_rsp_rdata_i.set(response.data as _);
                self.win_rsp_err_i.set_bool(response.err);
            }

            fn seen(&self) -> Seen {
                let write = self.win_req_write_o.is_set();
                Seen {
                    axi: s_axi!(self),
                    request: self.win_req_valid_o.is_set().then(|| Request {
                        write,
                        addr: self.win_req_addr_o.get(),
                        data: if write { self.win_req_wdata_o.get().into() } else { 0 },
                        strb: self.win_req_wstrb_o.get(),
                    }),
                    rsp_ready: self.win_rsp_ready_o.is_set(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

macro_rules! lite {
    ($($unit:ident: $word:expr, $addr:expr;)+) => {$(
        impl Bridge for $unit {
            const WORD: u32 = $word;
            const LITE: bool = true;

            fn widths() -> (u32, u32) {
                ($addr, 0)
            }

            fn set_clk(&self, clk: bool, rst: bool) {
                self.clk_i.set_bool(clk);
                self.rst_i.set_bool(rst);
            }

            fn set(&self, master: &FromMaster, window: &FromWindow) {
                set_s_axil!(self, master);
                let response = window.response.unwrap_or(Response { data: 0xbad, err: true });
                self.host_req_ready_i.set_bool(window.req_ready);
                self.host_rsp_valid_i.set_bool(window.response.is_some());
                self.host_rsp_rdata_i.set(response.data as _);
                self.host_rsp_err_i.set_bool(response.err);
            }

            fn seen(&self) -> Seen {
                let write = self.host_req_write_o.is_set();
                Seen {
                    axi: s_axil!(self),
                    request: self.host_req_valid_o.is_set().then(|| Request {
                        write,
                        addr: self.host_req_addr_o.get().into(),
                        data: if write { self.host_req_wdata_o.get().into() } else { 0 },
                        strb: self.host_req_wstrb_o.get(),
                    }),
                    rsp_ready: self.host_rsp_ready_o.is_set(),
                    busy: self.busy_o.is_set(),
                }
            }
        }
    )+};
}

axi!(
    AxiSlave: 4, 32, 4;
    AxiSlaveO1: 4, 32, 4;
    AxiSlave64: 8, 20, 2;
    TwinAxiSlaveWrap: 4, 32, 4;
    TwinAxiSlaveExclusive: 4, 32, 4;
    TwinAxiSlaveBubble: 4, 32, 4;
    TwinAxiSlaveEnd: 4, 32, 4;
    TwinAxiSlaveReadLast: 4, 32, 4;
    TwinAxiSlaveId: 4, 32, 4;
    TwinAxiSlaveChanges: 4, 32, 4;
    TwinAxiSlaveForgets: 4, 32, 4;
    TwinAxiSlaveTurns: 4, 32, 4;
    TwinAxiSlaveHolds: 4, 32, 4;
    TwinAxiSlavePath: 4, 32, 4;
    TwinAxiSlaveWithdraws: 4, 32, 4;
    TwinAxiSlaveReset: 4, 32, 4;
    TwinAxiSlaveExokay: 4, 32, 4;
);
lite!(
    AxilSlave: 4, 8;
    AxilSlave64O1: 8, 12;
    TwinAxilSlaveError: 4, 8;
);

/// Answers requests in order, with random data, now and then with an error.
struct Window {
    ready: Pacer,
    answers: Pacer,
    rng: Rng,
    slow: bool,
    errors: bool,
    word: u32,
    /// Requests not answered, and when each answer is due.
    asked: VecDeque<(Request, u64)>,
    ports: FromWindow,
}

/// Requests a window holds.
const HELD: usize = 6;

impl Window {
    fn new<U: Bridge>(case: &Case, hardship: Hardship) -> Window {
        let slow = hardship.memory == Slowness::Slow;
        Window {
            ready: Pacer::new(slow, case.rng("window ready")),
            answers: Pacer::new(slow, case.rng("window answers")),
            rng: case.rng("window"),
            slow,
            errors: hardship.faults,
            word: U::WORD,
            asked: VecDeque::new(),
            ports: FromWindow::default(),
        }
    }

    /// The edge: the request and the response that passed it.
    fn step(&mut self, cycle: u64, seen: &Seen) -> (Option<Request>, Option<(Request, Response)>) {
        let response = self.ports.response.filter(|_| seen.rsp_ready);
        let answered = response.map(|response| {
            self.ports.response = None;
            (
                self.asked.pop_front().expect("an answer belongs to a request").0,
                response,
            )
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

/// A beat of a read whose answer the master has not taken.
#[derive(Clone, Copy, Debug)]
struct Due {
    id: u32,
    last: bool,
    /// `None`: the window has not answered; a refused beat has an answer from the beginning, with data that mean nothing.
    answer: Option<(Option<u64>, bool)>,
}

/// A write whose answer the master has not taken.
#[derive(Clone, Copy, Debug)]
struct End {
    id: u32,
    /// Beats that the window has not answered.
    left: u32,
    err: bool,
}

/// What must come of the bursts that the unit took: from the contract in the units' headers.
#[derive(Default)]
struct Golden {
    lite: bool,
    word: u32,
    reads: VecDeque<Request>,
    writes: VecDeque<Request>,
    beats: VecDeque<Due>,
    ends: VecDeque<End>,
}

/// Exclusive accesses and what the standard forbids do not reach the window.
fn is_refused(burst: &Burst, word: u32) -> bool {
    burst.lock || burst.fault(word).is_some()
}

impl Golden {
    fn read(&mut self, burst: &Burst) {
        let refused = is_refused(burst, self.word);
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
        let refused = is_refused(burst, self.word);
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

    fn asked(&mut self, without: &[Rule], request: &Request) -> Result<(), String> {
        let queue = if request.write {
            &mut self.writes
        } else {
            &mut self.reads
        };
        let want = queue.pop_front();
        holds(without, Rule::Request, want.as_ref() == Some(request), || {
            format!("{request:x?}, not {want:x?}")
        })
    }

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

    fn beat(&mut self, without: &[Rule], beat: &ReadBeat) -> Result<(), String> {
        let due = self.beats.pop_front();
        let right = due.is_some_and(|due| {
            let Some((data, err)) = due.answer else { return false };
            let resp = if err { Resp::SlvErr } else { Resp::Okay };
            (beat.id, beat.last, beat.resp) == (due.id, due.last, resp) && data.is_none_or(|data| data == beat.data)
        });
        holds(without, Rule::Content, right, || format!("{beat:x?}, not {due:x?}"))
    }

    fn end(&mut self, without: &[Rule], end: &WriteEnd) -> Result<(), String> {
        let due = self.ends.pop_front();
        let right = due.is_some_and(|due| {
            let resp = if due.err { Resp::SlvErr } else { Resp::Okay };
            due.left == 0 && (end.id, end.resp) == (due.id, resp)
        });
        holds(without, Rule::Response, right, || format!("{end:x?}, not {due:x?}"))
    }

    fn is_done(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty() && self.beats.is_empty() && self.ends.is_empty()
    }
}

fn all_lanes(word: u32) -> u8 {
    (0xff_u32 >> (8 - word)) as u8
}

/// One run: what is asked for, and how hard it is made.
#[derive(Clone, Debug)]
struct Plan<'a> {
    reads: &'a [Burst],
    writes: &'a [(Burst, Vec<WriteBeat>)],
    hardship: Hardship,
    start: Start,
    /// Cycle of a reset of everything; what is inside is lost.
    reset: Option<u64>,
    /// The master never takes answers of writes, or of reads.
    deaf: Option<bool>,
    without: &'a [Rule],
}

/// The requests that the window took, with their cycles; when the first address was taken, when the first response of the window, and
/// when the first answer was offered.
#[derive(Clone, Debug, Default)]
struct Asked {
    requests: Vec<(u64, Request)>,
    address: Option<u64>,
    response: Option<u64>,
    answer: Option<u64>,
}

fn run<U: Bridge>(case: &Case, plan: &Plan, probe: &Probe) -> Result<Asked, String> {
    let Plan { hardship, without, .. } = *plan;
    let context = plan.start.context(case);
    let dut = U::named(&context, "dut");
    let mut wave = Recorder::new(probe, &[&dut]);
    // Some bursts are illegal on purpose.
    let mut rules = Rules::new(U::WORD)
        .without(&axi_rules(without))
        .without(&[axi::Rule::Legal]);
    let new_golden = || Golden {
        lite: U::LITE,
        word: U::WORD,
        ..Golden::default()
    };
    let new_master = |reads: &[Burst], writes: &[(Burst, Vec<WriteBeat>)]| {
        let mut master = AxiMaster::new(hardship.gaps, |name| case.rng(name));
        reads.iter().for_each(|burst| master.read(*burst));
        writes
            .iter()
            .for_each(|(burst, beats)| master.write(*burst, beats.iter().copied()));
        match plan.deaf {
            Some(true) => master.paces[0] = Pacer::stopped(),
            Some(false) => master.paces[1] = Pacer::stopped(),
            None => {}
        }
        master
    };
    let mut master = new_master(plan.reads, plan.writes);
    let mut window = Window::new::<U>(case, hardship);
    let mut golden = new_golden();
    let mut requests = Monitor::default();
    // Reads and writes whose address was taken, and writes whose data were begun.
    let (mut reads, mut writes, mut begun, mut middle) = (0, 0, 0, false);
    let (mut asked, mut idle) = (Asked::default(), 0);
    for cycle in 0..60_000 {
        let rst = cycle < 3 || plan.reset == Some(cycle);
        let fault = |what: String| format!("cycle {cycle}: {what}");
        let (seen, from, ports) = (dut.seen(), master.drive(), window.ports);
        dut.set(&from, &ports);
        for clk in [false, true] {
            dut.set_clk(clk, rst);
            context.set_time(cycle * PERIOD + if clk { PERIOD / 2 } else { 0 });
            dut.junk();
            dut.eval();
            wave.tick(context.time());
            holds(&[], Rule::Path, clk || cycle == 0 || seen == dut.seen(), || {
                "an input reaches an output within the cycle".into()
            })
            .map_err(fault)?;
        }
        if rst {
            // What was begun is given up.
            begun += usize::from(middle);
            writes = writes.max(begun);
            (begun, middle) = (writes, false);
            master = new_master(&plan.reads[reads..], &plan.writes[writes..]);
            window = Window::new::<U>(case, hardship);
            golden = new_golden();
            requests.reset();
            rules
                .reset(&FromMaster::default(), &dut.seen().axi)
                .map_err(|e| fault(e.to_string()))?;
            continue;
        }
        rules.step(&from, &seen.axi).map_err(|e| fault(e.to_string()))?;
        requests
            .step(seen.request.as_ref(), ports.req_ready)
            .map_err(|e| fault(format!("Protocol: {e}")))?;
        let taken = master.step(&seen.axi);
        let (request, answered) = window.step(cycle, &seen);
        if let Some(beat) = taken.r {
            golden.beat(without, &beat).map_err(fault)?;
        }
        if let Some(end) = taken.b {
            golden.end(without, &end).map_err(fault)?;
        }
        if let Some((request, response)) = answered {
            golden.answered(&request, &response);
            asked.response.get_or_insert(cycle);
        }
        if seen.axi.r.is_some() || seen.axi.b.is_some() {
            asked.answer.get_or_insert(cycle);
        }
        if taken.ar.is_some() || taken.aw.is_some() {
            asked.address.get_or_insert(cycle);
        }
        if let Some(request) = request {
            golden.asked(without, &request).map_err(fault)?;
            asked.requests.push((cycle, request));
        }
        if let Some(burst) = taken.ar {
            reads += 1;
            golden.read(&burst);
        }
        if let Some(burst) = taken.aw {
            golden.write(&burst, &plan.writes[writes].1);
            writes += 1;
        }
        if let Some(beat) = taken.w {
            middle = !beat.last;
            begun += usize::from(beat.last);
        }
        let done = match plan.deaf {
            None => master.is_empty() && golden.is_done() && (rules.is_idle() || !without.is_empty()) && !seen.busy,
            Some(true) => reads == plan.reads.len() && golden.beats.is_empty(),
            Some(false) => writes == plan.writes.len() && golden.ends.is_empty(),
        };
        idle = if done { idle + 1 } else { 0 };
        if idle > 30 {
            return Ok(asked);
        }
    }
    let (beats, ends) = (golden.beats.len(), golden.ends.len());
    holds(without, Rule::Hang, false, || {
        format!(
            "{beats} beats and {ends} ends are due, {} requests with the window",
            window.asked.len()
        )
    })
    .map(|()| asked)
}

/// A burst: most are legal, of every kind and size; some must be refused.
fn burst<U: Bridge>(rng: &mut Rng) -> Burst {
    let (addr_bits, id_bits) = U::widths();
    let all = u32::MAX >> (32 - addr_bits);
    let any = rng.bits() as u32 & all;
    if U::LITE {
        return Burst::words(any, 1, U::WORD);
    }
    let size = rng.between(0, U::WORD.ilog2().into()) as u8;
    let id = rng.bits() as u32 & ((1 << id_bits) - 1);
    let legal = loop {
        let kind = Kind::ALL[rng.below(3) as usize];
        let len = match kind {
            Kind::Wrap => [1, 3, 7, 15][rng.below(4) as usize],
            Kind::Incr if rng.chance(1, 10) => rng.below(256) as u8,
            _ if rng.chance(1, 2) => rng.below(3) as u8,
            _ => rng.below(16) as u8,
        };
        let near_the_edge = (any & !0xfff).wrapping_sub(rng.below(64) as u32) & all;
        let addr = if rng.chance(1, 4) { near_the_edge } else { any };
        let addr = if kind == Kind::Wrap { addr >> size << size } else { addr };
        let lock = false;
        let burst = Burst {
            id,
            addr,
            len,
            size,
            kind,
            lock,
            cache: rng.below(16) as u8,
            prot: rng.below(8) as u8,
        };
        if burst.fault(U::WORD).is_none() {
            break burst;
        }
    };
    match rng.below(20) {
        0 => Burst { lock: true, ..legal },
        1 => Burst {
            size: U::WORD.ilog2() as u8 + 1,
            ..legal
        },
        2 => Burst {
            kind: Kind::Reserved,
            ..legal
        },
        3 => Burst {
            kind: Kind::Wrap,
            len: 4,
            addr: legal.addr & !7,
            ..legal
        },
        4 => Burst {
            kind: Kind::Incr,
            addr: (any | 0xfff) - 2 * U::WORD,
            len: 15,
            ..legal
        },
        5 => Burst {
            kind: Kind::Wrap,
            size: 1,
            len: 3,
            addr: legal.addr | 1,
            ..legal
        },
        6 => Burst {
            kind: Kind::Fixed,
            len: 16 + rng.below(16) as u8,
            ..legal
        },
        _ => legal,
    }
}

fn with_data<U: Bridge>(rng: &mut Rng, burst: Burst) -> (Burst, Vec<WriteBeat>) {
    let beat = |i| {
        let lanes = burst.place(i, U::WORD).lanes;
        WriteBeat {
            data: rng.bits() >> (64 - 8 * U::WORD),
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

fn content<U: Bridge>(without: &[Rule], each: Each) {
    for (i, hardship) in Hardship::all().enumerate() {
        for reset in [false, true] {
            let start = Start::ALL[i % 3];
            let case = Case::new(
                "common",
                "axi_slave::content_under_hardship",
                format!("{} {hardship:?} {start:?} reset {reset}", name::<U>()),
            );
            let mut rng = case.rng("bursts");
            let reads: Vec<_> = (0..60).map(|_| burst::<U>(&mut rng)).collect();
            let mut one = || {
                let burst = burst::<U>(&mut rng);
                with_data::<U>(&mut rng, burst)
            };
            let writes: Vec<_> = (0..60).map(|_| one()).collect();
            let plan = Plan {
                reads: &reads,
                writes: &writes,
                hardship,
                start,
                reset: reset.then(|| case.rng("reset").between(20, 250)),
                deaf: None,
                without,
            };
            each(&case, &|probe| run::<U>(&case, &plan, probe).map(drop));
        }
    }
}

const EASY: Hardship = Hardship {
    gaps: Gaps::None,
    memory: Slowness::Ideal,
    faults: false,
};

/// 120 beats each way, in bursts of so many.
fn plain<U: Bridge>(beats: u32) -> (Vec<Burst>, Vec<(Burst, Vec<WriteBeat>)>) {
    let burst = |i| Burst::words(i * beats * U::WORD % 128, beats, U::WORD);
    let reads: Vec<_> = (0..120 / beats).map(burst).collect();
    let mut rng = tsunagi::harness::seed::Seed(1).stream("plain");
    let writes = reads.iter().map(|burst| with_data::<U>(&mut rng, *burst)).collect();
    (reads, writes)
}

fn easy<U: Bridge>(
    test: &'static str,
    beats: u32,
    directions: (bool, bool),
    deaf: Option<bool>,
    without: &[Rule],
    each: Each,
    check: impl Fn(&Asked) -> Result<(), String>,
) {
    let case = Case::new(
        "common",
        test,
        format!("{} bursts of {beats}, {directions:?} deaf {deaf:?}", name::<U>()),
    );
    let (reads, writes) = plain::<U>(beats);
    let plan = Plan {
        reads: if directions.0 { &reads } else { &[] },
        writes: if directions.1 { &writes } else { &[] },
        hardship: EASY,
        start: Start::Zero,
        reset: None,
        deaf,
        without,
    };
    each(&case, &|probe| check(&run::<U>(&case, &plan, probe)?));
}

/// With an ideal window and no gaps it is asked once per cycle, also between bursts, in one direction or in both.
fn rate<U: Bridge>(without: &[Rule], each: Each) {
    let lengths: &[u32] = if U::LITE { &[1] } else { &[1, 3, 15] };
    for &beats in lengths {
        for directions in [(true, false), (false, true), (true, true)] {
            easy::<U>(
                "axi_slave::one_beat_per_cycle",
                beats,
                directions,
                None,
                without,
                each,
                |asked| {
                    let list = &asked.requests;
                    let cycles = list[list.len() - 1].0 - list[0].0 + 1;
                    let full = cycles == list.len() as u64;
                    holds(without, Rule::Rate, full, || {
                        format!("{} requests took {cycles} cycles", list.len())
                    })
                },
            );
        }
    }
}

/// While both directions wait, they take turns.
fn turns<U: Bridge>(without: &[Rule], each: Each) {
    let beats = if U::LITE { 1 } else { 15 };
    easy::<U>(
        "axi_slave::directions_take_turns",
        beats,
        (true, true),
        None,
        without,
        each,
        |asked| {
            let middle = &asked.requests[10..200];
            let turns = middle.windows(2).all(|pair| pair[0].1.write != pair[1].1.write);
            holds(without, Rule::Turns, turns, || {
                "one direction went twice while the other waited".into()
            })
        },
    );
}

/// A master that takes no answers of one direction gets all of the other.
fn independence<U: Bridge>(without: &[Rule], each: Each) {
    for deaf in [true, false] {
        let test = "axi_slave::a_direction_that_stands_does_not_stop_the_other";
        easy::<U>(test, 1, (true, true), Some(deaf), without, each, |_| Ok(()));
    }
}

/// All checks.
pub fn checks<U: Bridge>(without: &[Rule], each: Each) {
    content::<U>(without, each);
    rate::<U>(without, each);
    turns::<U>(without, each);
    independence::<U>(without, each);
}

#[test]
fn content_under_hardship() {
    content::<AxiSlave>(&[], &mut must_pass);
    content::<AxiSlaveO1>(&[], &mut must_pass);
    content::<AxiSlave64>(&[], &mut must_pass);
    content::<AxilSlave>(&[], &mut must_pass);
    content::<AxilSlave64O1>(&[], &mut must_pass);
}

#[test]
fn one_beat_per_cycle() {
    rate::<AxiSlave>(&[], &mut must_pass);
    rate::<AxilSlave>(&[], &mut must_pass);
}

#[test]
fn directions_take_turns() {
    turns::<AxiSlave>(&[], &mut must_pass);
    turns::<AxilSlave>(&[], &mut must_pass);
}

#[test]
fn a_direction_that_stands_does_not_stop_the_other() {
    independence::<AxiSlave>(&[], &mut must_pass);
    independence::<AxiSlaveO1>(&[], &mut must_pass);
    independence::<AxiSlave64>(&[], &mut must_pass);
    independence::<AxilSlave>(&[], &mut must_pass);
}

/// From taken to offered, as the headers say.
#[test]
fn latencies() {
    fn check<U: Bridge>(cycles: u64) {
        for directions in [(true, false), (false, true)] {
            easy::<U>(
                "axi_slave::latencies",
                1,
                directions,
                None,
                &[],
                &mut must_pass,
                |asked| {
                    assert_eq!(asked.requests[0].0 - asked.address.expect("an address"), cycles);
                    assert_eq!(
                        asked.answer.expect("an answer") - asked.response.expect("a response"),
                        1
                    );
                    Ok(())
                },
            );
        }
    }
    check::<AxiSlave>(3);
    check::<AxilSlave>(2);
}
