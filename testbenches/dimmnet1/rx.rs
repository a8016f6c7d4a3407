//! `dimmnet1_rx`: receiver.
//!
//! The model receives the packets of a case in advance, and plans what the firmware does at each stop. The unit must do
//! the same, in the same order for each of its outputs.

mod plan;
mod traffic;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, pass, rules};
use tsunagi::dimmnet1::golden::rx::{Cause, Go, Stop, Told};
use tsunagi::dimmnet1::golden::tlb::{Access, Found, Lookup};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut};
use verilated::{Input as _, Port as _};

use plan::{Load, Mix, Plan};
use traffic::{Hardship, Traffic};

rules!(
    /// Bytes land where they should and nowhere else.
    Memory
    /// Answers, and PULL, in the order of the packets.
    Answer
    /// What the slots are told.
    Slots
    /// Each packet's outcome.
    Outcome
    /// OTF writes.
    Otf
    /// Data are visible before anybody is told, and before a later OTF write.
    Visible
    /// Cause, key and header of each stop.
    Stop
    /// The end of transfers of RX_GO DMA.
    Done
    /// While RECEIVE is clear no packet begins.
    Receive
    /// No output follows an input within the cycle.
    Path
    /// An offer holds until it is taken.
    Protocol
    /// A word per cycle, if no other party pauses.
    Rate
    /// An OTF write is soon offered.
    Latency
    /// An edge at rest changes no output.
    Rest
    /// All is taken and done.
    Hang
);

/// Bytes of memory; LLCM stands behind them in the bench.
pub const MEMORY: u32 = 0x4_0000;
pub const LLCM_BYTES: u32 = 0x4000;
/// An address behind both.
const NOWHERE: u32 = 0xffff_f000;

/// Where the bench keeps the byte of this physical address.
pub fn place(addr: u32) -> u32 {
    match addr.checked_sub(0xF000_0000) {
        Some(at) if at < LLCM_BYTES => MEMORY + at,
        Some(_) => NOWHERE,
        None if addr < MEMORY => addr,
        None => NOWHERE,
    }
}

#[derive(Clone, Default)]
pub struct In {
    node: u16,
    receive: bool,
    cpu_runs: bool,
    matches: bool,
    room: bool,
    word: Option<(u64, bool)>,
    lookup_ready: bool,
    found: Option<Found>,
    answers_ready: bool,
    otf_ready: bool,
    mem: MemPortsOut,
    header: Option<(usize, [bool; 2], u64)>,
    go: Option<Go>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    word_ready: bool,
    lookup: Option<Lookup>,
    answer: Option<(u64, bool)>,
    told: Option<Told>,
    otf: Option<(u16, u64, u8)>,
    mem: MemPortsIn,
    stop: Option<Stop>,
    done: Option<u32>,
    outcome: Option<u32>,
    busy: bool,
}

fn set_found(dut: &impl Dimmnet1RxPorts, found: Option<Found>) {
    let (addr, reason, miss, key) = match found {
        None => (0xdead_bee8, 3, 1, 0xdead),
        Some(Found::At(addr)) => (addr, 0, 0, 0xdead),
        Some(Found::Refused(reason)) => (0xdead_bee8, reason, 0, 0xdead),
        Some(Found::NoRegion(key)) => (0xdead_bee8, 0, 1, key),
        Some(Found::NoPage(key)) => (0xdead_bee8, 0, 2, key),
    };
    dut.tlb_rsp_valid_i().set_bool(found.is_some());
    dut.tlb_rsp_addr_i().set(addr.into());
    dut.tlb_rsp_reason_i().set(reason.into());
    dut.tlb_rsp_miss_i().set(miss);
    dut.tlb_rsp_key_i().set(key);
}

fn set(dut: &impl Dimmnet1RxPorts, inputs: &In) {
    dut.node_i().set(inputs.node.into());
    dut.receive_i().set_bool(inputs.receive);
    dut.cpu_runs_i().set_bool(inputs.cpu_runs);
    dut.match_i().set_bool(inputs.matches);
    dut.answers_room_i().set_bool(inputs.room);
    let (data, last) = inputs.word.unwrap_or((0xdead, true));
    dut.in_valid_i().set_bool(inputs.word.is_some());
    dut.in_data_i().set(data);
    dut.in_last_i().set_bool(last);
    dut.tlb_req_ready_i().set_bool(inputs.lookup_ready);
    set_found(dut, inputs.found);
    dut.answers_ready_i().set_bool(inputs.answers_ready);
    dut.otf_ready_i().set_bool(inputs.otf_ready);
    dut.wr_cmd_ready_i().set_bool(inputs.mem.wr_cmd_ready);
    dut.wr_data_ready_i().set_bool(inputs.mem.wr_data_ready);
    dut.wr_rsp_valid_i().set_bool(inputs.mem.wr_rsp_valid);
    dut.wr_rsp_err_i().set_bool(inputs.mem.wr_rsp_err);
    let (index, halves, data) = inputs.header.unwrap_or((2, [true; 2], 0xdead));
    dut.hdr_write_valid_i().set_bool(inputs.header.is_some());
    dut.hdr_write_index_i().set(index as u64);
    dut.hdr_write_strb_i()
        .set(u64::from(halves[0]) | u64::from(halves[1]) << 1);
    dut.hdr_write_data_i().set(data);
    let (what, reason, addr) = match inputs.go {
        None | Some(Go::Pass) => (4, 7, 0xdead),
        Some(Go::Continue) => (1, 7, 0xdead),
        Some(Go::Drop) => (2, 7, 0xdead),
        Some(Go::Nack(reason)) => (3, reason, 0xdead),
        Some(Go::Dma(addr)) => (4, 7, addr),
        Some(Go::Part(_)) => (5, 7, 0xdead),
    };
    dut.go_valid_i().set_bool(inputs.go.is_some_and(|go| go != Go::Pass));
    dut.go_what_i().set(what);
    dut.go_reason_i().set(reason.into());
    dut.go_addr_i().set(addr.into());
    let bytes = match inputs.go {
        Some(Go::Part(bytes)) => bytes,
        _ => 0xdea8,
    };
    dut.go_bytes_i().set(bytes.into());
    dut.mat_pass_i().set_bool(inputs.go == Some(Go::Pass));
}

fn seen_memory(dut: &impl Dimmnet1RxPorts) -> MemPortsIn {
    let mut mem = MemPortsIn {
        wr_cmd_valid: dut.wr_cmd_valid_o().is_set(),
        wr_data_valid: dut.wr_data_valid_o().is_set(),
        wr_rsp_ready: dut.wr_rsp_ready_o().is_set(),
        ..Default::default()
    };
    // What is not offered does not count.
    if mem.wr_cmd_valid {
        mem.wr_cmd_addr = place(dut.wr_cmd_addr_o().get() as u32);
        mem.wr_cmd_len = dut.wr_cmd_len_o().get() as u8;
    }
    if mem.wr_data_valid {
        mem.wr_data_data = dut.wr_data_data_o().get();
        mem.wr_data_strb = dut.wr_data_strb_o().get() as u8;
        mem.wr_data_last = dut.wr_data_last_o().is_set();
    }
    mem
}

fn seen_stop(dut: &impl Dimmnet1RxPorts) -> Option<Stop> {
    let (cause, more) = if dut.mat_valid_o().is_set() {
        (Cause::Match, dut.mat_more_o().is_set())
    } else if dut.stop_valid_o().is_set() {
        (Cause::Stop(dut.stop_cause_o().get() as u32), dut.stop_more_o().is_set())
    } else {
        return None;
    };
    Some(Stop {
        cause,
        key: dut.stop_key_o().get(),
        more,
        header: [0, 1, 2, 3, 4, 5].map(|word| dut.hdr_o().get_bits(64 * word, 64)),
    })
}

fn seen(dut: &impl Dimmnet1RxPorts) -> Out {
    let lookup = || Lookup {
        pgid: dut.tlb_req_pgid_o().get() as u16,
        region: dut.tlb_req_region_o().get() as u16,
        offset: dut.tlb_req_offset_o().get(),
        bytes: dut.tlb_req_bytes_o().get() as u16,
        access: match dut.tlb_req_kind_o().get() {
            0 => Access::Write,
            1 => Access::Read,
            _ => Access::Otf,
        },
    };
    let told = || Told {
        tag: dut.ans_tag_o().get() as u16,
        src: dut.ans_src_o().get() as u16,
        nack: dut.ans_nack_o().is_set(),
        reason: dut.ans_reason_o().get() as u32,
        seq: dut.ans_seq_o().get() as u32,
    };
    let otf = || {
        let strobes = dut.otf_strb_o().get() as u8;
        (dut.otf_addr_o().get() as u16, dut.otf_data_o().get(), strobes)
    };
    let answer = || (dut.answers_data_o().get(), dut.answers_last_o().is_set());
    Out {
        word_ready: dut.in_ready_o().is_set(),
        lookup: dut.tlb_req_valid_o().is_set().then(lookup),
        answer: dut.answers_valid_o().is_set().then(answer),
        told: dut.ans_valid_o().is_set().then(told),
        otf: dut.otf_valid_o().is_set().then(otf),
        mem: seen_memory(dut),
        stop: seen_stop(dut),
        done: dut.dma_done_o().is_set().then(|| dut.dma_reason_o().get() as u32),
        outcome: dut
            .outcome_valid_o()
            .is_set()
            .then(|| dut.outcome_reason_o().get() as u32),
        busy: dut.busy_o().is_set(),
    }
}

pub type Rx = Dut<In, Out>;

fn rx<U: Dimmnet1RxUnit + 'static>() -> Rx {
    Dut::of::<U>(set, seen)
}

/// Packets of all kinds, good and bad, at full load or one by one.
fn content(run: &Run, dut: &Rx, load: Load, mix: Mix, hardship: Hardship, reset: bool) -> Result<(), Fault> {
    let mut traffic = Traffic::new(run, dut, hardship);
    if reset {
        let plan = Plan::new(&mut run.rng("first plan"), load, mix, traffic.memory(), 60);
        traffic.exercise(plan, Some(run.rng("reset").between(100, 900)))?;
    }
    let plan = Plan::new(&mut run.rng("plan"), load, mix, traffic.memory(), 120);
    traffic.exercise(plan, None)
}

fn contents(dut: &Rx, cases: &mut Cases) {
    for (i, hardship) in Hardship::all().enumerate() {
        for (load, mix) in [
            (Load::Full, Mix::All),
            (Load::Single, Mix::All),
            (Load::Full, Mix::Parts),
            (Load::Single, Mix::Parts),
        ] {
            let reset = i % 2 == 1;
            let params = format!("{} {load:?} {mix:?} {hardship:?} reset {reset}", dut.name);
            cases.case(Start::ALL[i % 3], params, |run| {
                content(run, dut, load, mix, hardship, reset)
            });
        }
    }
}

/// With memory that keeps pace and translations that hit, words of long packets are taken one per cycle.
fn rate(dut: &Rx, cases: &mut Cases) {
    for (bytes, numbered) in [
        (8u64, false),
        (24, false),
        (100, false),
        (464, false),
        (464, true),
        (4096, false),
    ] {
        let params = format!("{} {bytes} bytes, F_SEQ {numbered}", dut.name);
        cases.case(Start::Zero, params, |run| {
            let mut traffic = Traffic::new(run, dut, Hardship::NONE);
            let plan = Plan::of_pushes(traffic.memory(), 30, bytes, numbered);
            traffic.exercise(plan, None)?;
            // Two between packets whose data are too short to hide the header's way. With F_SEQ each packet waits until
            // its predecessor is settled.
            let limit = 30
                * if numbered {
                    18
                } else if bytes < 24 {
                    2
                } else {
                    0
                };
            let pauses = traffic.pauses();
            Rule::Rate.holds(pauses <= limit, || format!("{pauses} cycles without a word"))
        });
    }
}

/// From an OTF packet's data word to the write.
fn latency(dut: &Rx, cases: &mut Cases) {
    cases.case(Start::Zero, format!("{} OTF", dut.name), |run| {
        let mut traffic = Traffic::new(run, dut, Hardship::NONE);
        traffic.exercise(Plan::of_otf(traffic.memory(), 1), None)?;
        let took = traffic.otf_took();
        Rule::Latency.holds(took <= 3, || format!("{took} cycles from data word to write"))?;
        traffic.exercise(Plan::of_otf(traffic.memory(), 40), None)?;
        let pauses = traffic.pauses();
        Rule::Latency.holds(pauses <= 40 * 2, || format!("40 packets with {pauses} pauses"))
    });
}

pub fn checks(dut: &Rx, cases: &mut Cases) {
    contents(dut, cases);
    rate(dut, cases);
    latency(dut, cases);
}

#[test]
fn receives_as_its_model() {
    pass(this_test!(), |cases| contents(&rx::<Dimmnet1Rx>(), cases));
}

#[test]
fn a_word_per_cycle_and_soon_in_llcm() {
    pass(this_test!(), |cases| {
        rate(&rx::<Dimmnet1Rx>(), cases);
        latency(&rx::<Dimmnet1Rx>(), cases);
    });
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    /// What a packet that is treated wrongly may break as well.
    const ANY: &[Rule] = &[Memory, Answer, Slots, Outcome, Otf, Visible, Stop, Done, Hang];
    each_is_caught(
        this_test!(),
        &[
            (Memory, ANY, &|cases| checks(&rx::<TwinRxKeep>(), cases)),
            (Answer, ANY, &|cases| checks(&rx::<TwinRxExpected>(), cases)),
            (Slots, ANY, &|cases| checks(&rx::<TwinRxSlots>(), cases)),
            (Outcome, ANY, &|cases| checks(&rx::<TwinRxUnnumbered>(), cases)),
            (Outcome, ANY, &|cases| checks(&rx::<TwinRxBeyond>(), cases)),
            (Outcome, ANY, &|cases| checks(&rx::<TwinRxWraps>(), cases)),
            (Otf, ANY, &|cases| checks(&rx::<TwinRxLane>(), cases)),
            (Visible, ANY, &|cases| checks(&rx::<TwinRxOrder>(), cases)),
            (Stop, ANY, &|cases| checks(&rx::<TwinRxHeader>(), cases)),
            (Done, ANY, &|cases| checks(&rx::<TwinRxDone>(), cases)),
            // A part that failed does not count.
            (Outcome, ANY, &|cases| checks(&rx::<TwinRxFailed>(), cases)),
            // Data that end in a part are not noticed.
            (Hang, ANY, &|cases| checks(&rx::<TwinRxEnded>(), cases)),
            // The rest is no part of its own.
            (Outcome, ANY, &|cases| checks(&rx::<TwinRxLeft>(), cases)),
            (Answer, ANY, &|cases| checks(&rx::<TwinRxPartAnswered>(), cases)),
            // The processor takes the matcher's parts for its own.
            (Stop, ANY, &|cases| checks(&rx::<TwinRxMore>(), cases)),
            (Receive, &[], &|cases| checks(&rx::<TwinRxReceive>(), cases)),
            (Path, &[], &|cases| checks(&rx::<TwinRxPath>(), cases)),
            (Protocol, ANY, &|cases| checks(&rx::<TwinRxWithdraws>(), cases)),
            (Rate, &[], &|cases| checks(&rx::<TwinRxDepth>(), cases)),
            (Latency, &[], &|cases| checks(&rx::<TwinRxLate>(), cases)),
            (Rest, &[], &|cases| checks(&rx::<TwinRxRest>(), cases)),
            (Hang, ANY, &|cases| checks(&rx::<TwinRxHang>(), cases)),
        ],
    );
}
