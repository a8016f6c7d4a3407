//! The whole NIC behind AXI: the checks of the bare NIC with the protocol watched on both interfaces, and further ones.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{
    Cases, Dut, Fault, Rule as _, Run, Start, each_is_caught, m_axi_ar, m_axi_aw, m_axi_w, pass, rules, s_axil,
    set_m_axi_b, set_m_axi_r, set_s_axil,
};
use tsunagi::cenju3::golden::packet::ParcelHeader;
use tsunagi::cenju3::regs::*;
use tsunagi::harness::axi::{
    self, AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, Resp, Rules, WriteBeat, WriteOrder,
};
use tsunagi::harness::backend::HostRsp;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::host_port::RegisterAccess;
use tsunagi::harness::memory::{Memory, MemoryTiming};
use tsunagi::harness::seed::{Rng, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

use crate::SLOW;
use crate::loopback::{DEST, LENGTHS, QUEUE0, SOURCE, arrive, dma, send, start};
use crate::nic::{self, at_clocks, gating, interrupts, registers, resets, stands, threshold};
use crate::rig::{self, Flit, In, MEMORY, Nic, Out, Rig, Setup, Side};

rules!(
    /// The NIC is busy while a bridge is, so that its clocks go on.
    Hang
    /// The bridges cost no bandwidth: bursts are as long as they may be, and several are open at once.
    Rate
    /// An error of the memory reaches the status.
    Status
);

fn set(dut: &impl Cenju3NicAxiPorts, inputs: &In) {
    dut.aresetn().set_bool(!inputs.reset);
    dut.link_aresetn().set_bool(!inputs.reset);
    dut.m_axis_tready().set_bool(inputs.tx_ready);
    dut.s_axis_tvalid().set_bool(inputs.rx.is_some());
    dut.s_axis_tdata().set(inputs.rx.map_or(0, |flit| flit.data).into());
    dut.s_axis_tlast().set_bool(inputs.rx.is_some_and(|flit| flit.last));
    set_m_axi_r!(dut, &inputs.axi_mem);
    set_m_axi_b!(dut, &inputs.axi_mem);
    set_s_axil!(dut, &inputs.axi_host);
}

fn seen(dut: &impl Cenju3NicAxiPorts) -> Out {
    let flit = || Flit {
        data: dut.m_axis_tdata().get() as u16,
        last: dut.m_axis_tlast().is_set(),
    };
    let axi_mem = FromMaster {
        aw: m_axi_aw!(dut),
        w: m_axi_w!(dut),
        b_ready: dut.m_axi_bready().is_set(),
        ar: m_axi_ar!(dut),
        r_ready: dut.m_axi_rready().is_set(),
    };
    Out {
        irq: dut.irq().is_set(),
        busy: dut.busy().is_set() || dut.link_busy().is_set(),
        tx: dut.m_axis_tvalid().is_set().then(flit),
        rx_ready: dut.s_axis_tready().is_set(),
        rx_level: dut.rx_level().get() as u32,
        axi_mem,
        axi_host: s_axil!(dut),
        ..Out::default()
    }
}

fn nic_axi<U: Cenju3NicAxiUnit + 'static>() -> Nic {
    Nic {
        dut: Dut::of::<U>(set, seen),
        bus_bytes: U::BUS_W as u32 / 8,
        side: |timing, bus_bytes| Box::new(Axi::new(timing, bus_bytes)),
    }
}

/// Memory and host at AXI, and the rules of both interfaces.
struct Axi {
    timing: MemoryTiming,
    bus_bytes: u32,
    memory: AxiMemory,
    memory_rules: Rules,
    host: AxiMaster,
    host_rules: Rules,
    /// The access under way, as long as its address or its data are not taken.
    asked: Option<RegisterAccess>,
    answer: Option<HostRsp>,
    /// Most bursts open at once, and most words in one.
    open: usize,
    longest: u32,
}

/// The same memory: [`MemoryTiming`] counts from edge to edge, [`AxiTiming`] one less.
fn axi_timing(timing: MemoryTiming, stalls: bool) -> AxiTiming {
    let less_one = |latency: Cycle| Cycle(latency.0.saturating_sub(1));
    AxiTiming {
        read_latency: less_one(timing.read_latency),
        write_latency: less_one(timing.write_latency),
        stalls,
        order: WriteOrder::Any,
    }
}

impl Axi {
    fn new(timing: MemoryTiming, bus_bytes: u32) -> Axi {
        let unused = |name: &str| Seed(0).stream(name);
        Axi {
            timing,
            bus_bytes,
            memory: AxiMemory::new(bus_bytes, axi_timing(timing, false), unused),
            memory_rules: Rules::new(bus_bytes),
            host: AxiMaster::new(Gaps::None, unused),
            // AXI4-Lite always means the whole word, whatever the low bits of the address.
            host_rules: Rules::new(4).without(&[axi::Rule::Lanes]),
            asked: None,
            answer: None,
            open: 0,
            longest: 0,
        }
    }
}

/// The answer of a register.
fn answer(value: u64, resp: Resp) -> Result<HostRsp, Fault> {
    let known = matches!(resp, Resp::Okay | Resp::SlvErr);
    nic::Rule::Registers.holds(known, || format!("a register answers {resp:?}"))?;
    let error = resp == Resp::SlvErr;
    Ok(HostRsp { value, error })
}

impl Side for Axi {
    fn pause(&mut self, pauses: bool, rng: &dyn Fn(&str) -> Rng) {
        let gaps = if pauses { Gaps::Both } else { Gaps::None };
        let timing = axi_timing(self.timing, pauses);
        self.memory = AxiMemory::new(self.bus_bytes, timing, |name| rng(&format!("memory {name}")));
        self.host = AxiMaster::new(gaps, |name| rng(&format!("host {name}")));
    }

    fn reset(&mut self) {
        assert!(self.host.is_empty(), "an access is under way at a reset");
        self.memory.reset();
        self.memory_rules.forget();
        self.host_rules.forget();
        (self.asked, self.answer) = (None, None);
    }

    fn edge(
        &mut self,
        cycle: Cycle,
        seen: &Out,
        inputs: &mut In,
        memory: &mut Memory,
        event: &mut dyn FnMut(EventKind),
    ) -> Result<(), Fault> {
        let (to_memory, to_host) = (&seen.axi_mem, &seen.axi_host);
        inputs.axi_mem = *self.memory.ports();
        inputs.axi_host = self.host.drive();
        self.memory_rules.step(to_memory, &inputs.axi_mem)?;
        axi::Rule::Legal.holds(to_memory.is_plain(), || format!("not plain: {to_memory:x?}"))?;
        self.host_rules.step(&inputs.axi_host, to_host)?;
        let open = self.memory_rules.open_reads().max(self.memory_rules.open_writes());
        self.open = self.open.max(open);
        for burst in to_memory.ar.into_iter().chain(to_memory.aw) {
            self.longest = self.longest.max(burst.beats());
        }
        let taken = self.host.step(to_host);
        if self.host.is_empty()
            && let Some(kind) = self.asked.take().and_then(RegisterAccess::event)
        {
            event(kind);
        }
        if let Some(beat) = taken.r {
            self.answer = Some(answer(beat.data, beat.resp)?);
        } else if let Some(end) = taken.b {
            self.answer = Some(answer(0, end.resp)?);
        }
        self.memory.step(cycle, memory, to_memory, event);
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.memory.is_idle() && self.host.is_empty()
    }

    fn start(&mut self, access: RegisterAccess, strobes: u8) {
        self.asked = Some(access);
        let burst = Burst::words(access.offset.into(), 1, 4);
        match access.write {
            None => self.host.read(burst),
            Some(value) => {
                let beat = WriteBeat {
                    data: value.into(),
                    strb: strobes,
                    last: true,
                };
                self.host.write(burst, [beat]);
            }
        }
    }

    fn is_answered(&self) -> bool {
        self.answer.is_some()
    }

    fn take(&mut self) -> Option<HostRsp> {
        self.answer.take()
    }

    fn report(&self) -> String {
        self.memory.report()
    }

    fn bursts(&self) -> (usize, u32) {
        (self.open, self.longest)
    }
}

#[test]
fn parcels_arrive() {
    pass(this_test!(), |cases| {
        let (narrow, wide) = (nic_axi::<Cenju3NicAxi>(), nic_axi::<Cenju3NicAxiWide>());
        arrive(&narrow, Setup::default(), &LENGTHS, cases);
        arrive(&wide, Setup::default(), &LENGTHS, cases);
        arrive(&narrow, Setup::default(), &[PARCEL_BODY_MAX], cases);
    });
}

#[test]
fn registers_answer_as_documented() {
    pass(this_test!(), |cases| {
        registers(&nic_axi::<Cenju3NicAxi>(), cases);
        interrupts(&nic_axi::<Cenju3NicAxi>(), cases);
    });
}

#[test]
fn right_at_any_ratio_and_phase_and_with_stalls() {
    pass(this_test!(), |cases| {
        let (narrow, wide) = (nic_axi::<Cenju3NicAxi>(), nic_axi::<Cenju3NicAxiWide>());
        for periods in [(40_000, 50_000), (20_000, 5_000), (37_000, 53_000), (11_000, 40_000)] {
            for (gaps, starts) in [(Gaps::None, &[Start::Random1][..]), (Gaps::Both, &Start::RANDOM)] {
                at_clocks(&narrow, periods, gaps, SLOW, starts, cases);
                at_clocks(&wide, periods, gaps, MemoryTiming::IDEAL, starts, cases);
            }
        }
    });
}

#[test]
fn leaving_out_idle_edges_changes_nothing() {
    pass(this_test!(), |cases| gating(&nic_axi::<Cenju3NicAxi>(), cases));
}

#[test]
fn a_parcel_that_stands_while_the_clocks_do_is_done() {
    pass(this_test!(), |cases| {
        stands(&nic_axi::<Cenju3NicAxi>(), cases);
        stands(&nic_axi::<Cenju3NicAxiWide>(), cases);
    });
}

#[test]
fn no_burst_is_longer_than_the_longest() {
    pass(this_test!(), |cases| {
        for (nic, words) in [(nic_axi::<Cenju3NicAxiWords>(), 1), (nic_axi::<Cenju3NicAxi>(), 8)] {
            cases.case(Start::Zero, nic.dut.name, |run| {
                let rig = send(run, &nic, Setup::default(), 2000)?;
                Rule::Rate.same("words of the longest burst", words, rig.side.bursts().1)
            });
        }
    });
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    pass(this_test!(), |cases| resets(&nic_axi::<Cenju3NicAxi>(), cases));
}

/// The time from the start of a parcel of 128 KB to its end interrupt, in cycles of the bus, with a memory of this
/// latency. The link is faster than the bus.
fn cycles<'a>(run: &Run<'a>, nic: &Nic, latency: u64) -> Result<(u64, Rig<'a>), Fault> {
    let timing = MemoryTiming {
        read_latency: Cycle(latency),
        write_latency: Cycle(latency),
        ..MemoryTiming::IDEAL
    };
    let setup = Setup {
        net: (4_000, 0),
        timing,
        ..Setup::default()
    };
    let mut rig = start(run, nic, setup)?;
    rig.put(QUEUE0, &dma(PARCEL_BODY_MAX).encode());
    rig.write(SQ0_PUT, 1)?;
    let first = rig.io_edges;
    rig.run("end interrupt", 10_000, |rig| rig.seen.irq)?;
    Ok((rig.io_edges - first, rig))
}

/// The bridges add their latency to a long parcel, once, with an ideal memory and with the latest for which the header
/// promises full rate; several bursts are open then.
fn full_rate(bare: &Nic, bridged: &Nic, cases: &mut Cases) {
    for latency in [1, 12] {
        cases.case(Start::Zero, format!("{} latency {latency}", bridged.dut.name), |run| {
            let (bare, _) = cycles(run, bare, latency)?;
            let (axi, rig) = cycles(run, bridged, latency)?;
            let (open, _) = rig.side.bursts();
            Rule::Rate.holds(axi <= bare + 20 && open >= 3, || {
                format!("{axi} cycles through AXI, {bare} without, {open} bursts open at most")
            })
        });
    }
}

#[test]
fn the_bridges_cost_no_bandwidth() {
    pass(this_test!(), |cases| {
        full_rate(&rig::nic::<Cenju3Nic>(), &nic_axi::<Cenju3NicAxi>(), cases);
        full_rate(&rig::nic::<Cenju3NicWide>(), &nic_axi::<Cenju3NicAxi64>(), cases);
    });
}

/// Memory refuses an access at `at` for this parcel; the next parcel is not affected.
fn refused(run: &Run, nic: &Nic, header: ParcelHeader, at: u32) -> Result<(), Fault> {
    const GOOD: u32 = DEST + 0x1_0000;
    let mut rig = start(run, nic, Setup::default())?;
    let good = ParcelHeader {
        dest: Addr(GOOD),
        ..dma(600)
    };
    rig.put(QUEUE0, &header.encode());
    rig.put(QUEUE0 + 32, &good.encode());
    let body: Vec<u8> = (0..600).map(|i| (i * 7) as u8 | 1).collect();
    rig.put(SOURCE, &body);
    let decerr = at as usize >= MEMORY;
    if !decerr {
        rig.memory.inject_fault(at..at + 1);
    }
    rig.write(SQ0_PUT, 1)?;
    rig.settle(1_000)?;
    let code = (rig.read(S_STAT)? >> S_STAT_ERROR0_SHIFT) & 0xf;
    let got = (code, rig.read(R_DROP)?, rig.read(R_STAT)?);
    let in_body = at >= header.body.0 && at < header.body.0 + header.bytes;
    // Either way a packet is not delivered. Where the body is refused, the one under way ends early, and comes back
    // truncated.
    let want = if in_body {
        (STATUS_BODY_BUS_ERROR, 1, R_STAT_SEND_ERROR_MASK | R_STAT_TRUNCATED_MASK)
    } else {
        (0, 1, R_STAT_BUS_ERROR_MASK)
    };
    Rule::Status.same(format!("refused at {at:#x}: status, drops and causes"), want, got)?;
    if in_body {
        rig.write(S_CTRL, S_CTRL_RESUME0_MASK)?;
    }
    rig.write(SQ0_PUT, 2)?;
    rig.settle(1_000)?;
    rig.has(GOOD, &body)
}

/// SLVERR and DECERR, at the source and at the destination.
fn refusals(nic: &Nic, cases: &mut Cases) {
    let end = MEMORY as u32;
    let from = |body| ParcelHeader {
        body: Addr(body),
        ..dma(500)
    };
    let to = |dest| ParcelHeader {
        dest: Addr(dest),
        ..dma(500)
    };
    for (what, header, at) in [
        ("SLVERR at the source", from(SOURCE + 0x1_0000), SOURCE + 0x1_0000 + 200),
        ("DECERR at the source", from(end - 256), end),
        ("SLVERR at the destination", to(DEST), DEST + 200),
        ("DECERR at the destination", to(end - 256), end),
    ] {
        cases.case(Start::Zero, format!("{} {what}", nic.dut.name), |run| {
            refused(run, nic, header, at)
        });
    }
}

#[test]
fn slverr_and_decerr_reach_the_status() {
    pass(this_test!(), |cases| {
        refusals(&nic_axi::<Cenju3NicAxi>(), cases);
        refusals(&nic_axi::<Cenju3NicAxiWide>(), cases);
    });
}

/// The threshold stops the link through AXI4-Stream's TREADY, too.
#[test]
fn a_full_receiver_stops_the_stream() {
    pass(this_test!(), |cases| threshold(&nic_axi::<Cenju3NicAxi>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // The access of a host does not make the NIC busy: its clocks stand, and it never answers.
            (Hang, &[], &|cases| gating(&nic_axi::<TwinNicAxiBusy>(), cases)),
            // There is one burst at a time.
            (Rate, &[], &|cases| {
                full_rate(&rig::nic::<Cenju3Nic>(), &nic_axi::<TwinNicAxiSingle>(), cases);
            }),
            // A SLVERR for a write is lost.
            (Status, &[], &|cases| refusals(&nic_axi::<TwinNicAxiError>(), cases)),
        ],
    );
}
