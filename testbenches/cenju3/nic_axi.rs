//! The whole NIC behind AXI: what the bare NIC is put through, with the protocol watched on both interfaces; and what only AXI has.

use testbenches::rtl::{
    Cenju3NicAxi, Cenju3NicAxi64, Cenju3NicAxiWide, Cenju3NicAxiWords, TwinNicAxiBusy, TwinNicAxiError,
    TwinNicAxiSingle,
};
use testbenches::{m_axi_ar, m_axi_aw, m_axi_w, s_axil, set_m_axi_b, set_m_axi_r, set_s_axil};
use tsunagi::cenju3::golden::packet::ParcelHeader;
use tsunagi::cenju3::regs::*;
use tsunagi::harness::axi::{
    AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, FromSlave, Resp, Rule, Rules, WriteBeat, WriteOrder,
};
use tsunagi::harness::backend::HostRsp;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::host_port::RegisterAccess;
use tsunagi::harness::memory::{Memory, MemoryTiming};
use tsunagi::harness::seed::{Rng, Seed};
use tsunagi::harness::stream::Gaps;
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use tsunagi::{Addr, Cycle};
use verilated::Context;

use crate::loopback::{DEST, QUEUE0, SOURCE, dma, send, start};
use crate::nic::{at_clocks, gating, interrupts, registers, resets, stands, threshold};
use crate::rig::{Flit, MEMORY, Nic, Rig, SLOW, Setup, Side};

/// A NIC with an AXI4 master and an AXI4-Lite slave.
pub trait Axi: Nic {
    /// What its `m_axi_*` and `s_axil_*` drive.
    fn seen(&self) -> (FromMaster, FromSlave);
    fn set(&self, memory: &FromSlave, host: &FromMaster);
}

/// Serves an [`Axi`] NIC, and watches both its interfaces.
pub struct AxiSide {
    memory: AxiMemory,
    memory_rules: Rules,
    host: AxiMaster,
    host_rules: Rules,
    /// The access under way, as long as its address or its data are not taken.
    asked: Option<RegisterAccess>,
    answer: Option<HostRsp>,
    /// Most bursts open at once, and most words in one.
    pub most: usize,
    pub longest: u32,
}

/// The same memory: [`MemoryTiming`] counts from edge to edge, [`AxiTiming`] one less.
fn timing(setup: &Setup, stalls: bool) -> AxiTiming {
    let less_one = |latency: Cycle| Cycle(latency.0.saturating_sub(1));
    AxiTiming {
        read_latency: less_one(setup.timing.read_latency),
        write_latency: less_one(setup.timing.write_latency),
        stalls,
        order: WriteOrder::Any,
    }
}

impl<N: Axi> Side<N> for AxiSide {
    fn new(setup: &Setup) -> AxiSide {
        let unused = |name: &str| Seed(0).stream(name);
        AxiSide {
            memory: AxiMemory::new(N::BUS_BYTES, timing(setup, false), unused),
            memory_rules: Rules::new(N::BUS_BYTES),
            host: AxiMaster::new(Gaps::None, unused),
            // AXI4-Lite always means the whole word, whatever the low bits of the address.
            host_rules: Rules::new(4).without(&[Rule::Lanes]),
            asked: None,
            answer: None,
            most: 0,
            longest: 0,
        }
    }

    fn pause(&mut self, setup: &Setup, pauses: bool, rng: &dyn Fn(&str) -> Rng) {
        let gaps = if pauses { Gaps::Both } else { Gaps::None };
        self.memory = AxiMemory::new(N::BUS_BYTES, timing(setup, pauses), |name| {
            rng(&format!("memory {name}"))
        });
        self.host = AxiMaster::new(gaps, |name| rng(&format!("host {name}")));
    }

    fn reset(&mut self, dut: &N) {
        assert!(self.host.is_empty(), "no access is under way at a reset");
        let (memory, host) = (FromSlave::default(), FromMaster::default());
        dut.set(&memory, &host);
        self.memory.reset();
        self.memory_rules.forget();
        self.host_rules.forget();
        (self.asked, self.answer) = (None, None);
    }

    fn edge(&mut self, dut: &N, cycle: Cycle, memory: &mut Memory, event: &mut impl FnMut(EventKind)) {
        let (slave, master) = (*self.memory.ports(), self.host.drive());
        dut.set(&slave, &master);
        let (to_memory, to_host) = dut.seen();
        let watch = |rules: &mut Rules, master, slave| rules.step(master, slave).unwrap_or_else(|e| panic!("{e}"));
        watch(&mut self.memory_rules, &to_memory, &slave);
        assert!(to_memory.is_plain(), "{to_memory:x?}");
        watch(&mut self.host_rules, &master, &to_host);
        self.most = self
            .most
            .max(self.memory_rules.open_reads())
            .max(self.memory_rules.open_writes());
        for burst in to_memory.ar.into_iter().chain(to_memory.aw) {
            self.longest = self.longest.max(u32::from(burst.len) + 1);
        }
        let taken = self.host.step(&to_host);
        let taken_up = self.asked.filter(|_| self.host.is_empty());
        if let Some(kind) = taken_up.and_then(RegisterAccess::event) {
            event(kind);
        }
        if self.host.is_empty() {
            self.asked = None;
        }
        let answer = |value: u64, resp| HostRsp {
            value,
            error: match resp {
                Resp::Okay => false,
                Resp::SlvErr => true,
                other => panic!("a register answered {other:?}"),
            },
        };
        let read = taken.r.map(|beat| answer(beat.data, beat.resp));
        self.answer = read.or(taken.b.map(|end| answer(0, end.resp))).or(self.answer);
        self.memory.step(cycle, memory, &to_memory, event);
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
}

macro_rules! nic {
    ($unit:ty, $bytes:literal) => {
        impl Axi for $unit {
            fn seen(&self) -> (FromMaster, FromSlave) {
                let memory = FromMaster {
                    aw: m_axi_aw!(self),
                    w: m_axi_w!(self),
                    b_ready: self.m_axi_bready.is_set(),
                    ar: m_axi_ar!(self),
                    r_ready: self.m_axi_rready.is_set(),
                };
                (memory, s_axil!(self))
            }

            fn set(&self, memory: &FromSlave, host: &FromMaster) {
                set_m_axi_r!(self, memory);
                set_m_axi_b!(self, memory);
                set_s_axil!(self, host);
            }
        }

        impl Nic for $unit {
            const BUS_BYTES: u32 = $bytes;
            type Side = AxiSide;

            fn irq(&self) -> bool {
                self.irq.is_set()
            }

            fn busy(&self) -> bool {
                self.busy.is_set() || self.link_busy.is_set()
            }

            fn tx(&self) -> Option<Flit> {
                let (data, last) = (self.m_axis_tdata.get(), self.m_axis_tlast.is_set());
                self.m_axis_tvalid.is_set().then_some(Flit { data, last })
            }

            fn set_tx_ready(&self, ready: bool) {
                self.m_axis_tready.set_bool(ready);
            }

            fn rx_ready(&self) -> bool {
                self.s_axis_tready.is_set()
            }

            fn rx_level(&self) -> u32 {
                self.rx_level.get().into()
            }

            fn set_rx(&self, flit: Option<Flit>) {
                self.s_axis_tvalid.set_bool(flit.is_some());
                self.s_axis_tdata.set(flit.map_or(0, |f| f.data));
                self.s_axis_tlast.set_bool(flit.is_some_and(|f| f.last));
            }

            fn set_reset(&self, bus: bool, link: bool) {
                self.aresetn.set_bool(!bus);
                self.link_aresetn.set_bool(!link);
            }

            fn set_clocks(&self, bus: Option<bool>, link: Option<bool>) {
                bus.into_iter().for_each(|level| self.aclk.set_bool(level));
                link.into_iter().for_each(|level| self.link_aclk.set_bool(level));
            }
        }
    };
}

nic!(Cenju3NicAxi, 4);
nic!(Cenju3NicAxi64, 8);
nic!(Cenju3NicAxiWide, 8);
nic!(Cenju3NicAxiWords, 4);
nic!(TwinNicAxiBusy, 4);
nic!(TwinNicAxiError, 4);
nic!(TwinNicAxiSingle, 4);

#[test]
fn parcels_arrive() {
    for bytes in [1, 2, 3, 4, 31, 32, 33, 511, 512, 513, 2000] {
        send::<Cenju3NicAxi>(Setup::default(), bytes);
        send::<Cenju3NicAxiWide>(Setup::default(), bytes);
    }
    send::<Cenju3NicAxi>(Setup::default(), PARCEL_BODY_MAX);
}

#[test]
fn registers_answer_as_documented() {
    registers::<Cenju3NicAxi>();
    interrupts::<Cenju3NicAxi>();
}

#[test]
fn right_at_any_ratio_and_phase_and_with_stalls() {
    let test = "nic_axi::right_at_any_ratio_and_phase_and_with_stalls";
    for (io, net) in [(40_000, 50_000), (20_000, 5_000), (37_000, 53_000), (11_000, 40_000)] {
        for (run, gaps) in [(0, Gaps::None), (0, Gaps::Both), (1, Gaps::Both)] {
            at_clocks::<Cenju3NicAxi>(test, run, (io, net), gaps, SLOW);
            at_clocks::<Cenju3NicAxiWide>(test, run, (io, net), gaps, MemoryTiming::IDEAL);
        }
    }
}

#[test]
fn leaving_out_idle_edges_changes_nothing() {
    gating::<Cenju3NicAxi>();
}

#[test]
fn what_stands_while_its_clocks_do_is_done() {
    stands::<Cenju3NicAxi>();
    stands::<Cenju3NicAxiWide>();
}

#[test]
fn no_burst_is_longer_than_the_longest() {
    let words = send::<Cenju3NicAxiWords>(Setup::default(), 2000);
    let bursts = send::<Cenju3NicAxi>(Setup::default(), 2000);
    assert_eq!((words.side.longest, bursts.side.longest), (1, 8));
}

#[test]
#[should_panic(expected = "no answer of a register")]
fn a_bridge_that_is_not_counted_as_busy_is_seen() {
    gating::<TwinNicAxiBusy>();
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    resets::<Cenju3NicAxi>("nic_axi::reset_in_mid_flight_leaves_nothing_behind");
}

/// The time from the start of a parcel of 128 KB to its end interrupt, in cycles of the bus, with a memory of this latency. The link is
/// faster than the bus.
fn cycles<N: Nic>(latency: u64) -> (u64, Rig<N>) {
    let timing = MemoryTiming {
        read_latency: Cycle(latency),
        write_latency: Cycle(latency),
        ..MemoryTiming::IDEAL
    };
    let mut rig = start::<N>(
        Context::new(),
        Setup {
            net: (4_000, 0),
            timing,
            ..Setup::default()
        },
    );
    assert!(rig.memory.write(Addr(QUEUE0), &dma(PARCEL_BODY_MAX).encode()));
    rig.write(SQ0_PUT, 1);
    let first = rig.io_edges;
    rig.run("end interrupt", 10_000, |rig| rig.dut.irq());
    (rig.io_edges - first, rig)
}

/// What the bridges add to a long parcel is their latency, once, with an ideal memory and with the latest that the header promises full rate
/// with; several bursts are open then.
fn full_rate<Bare: Nic, Bridged: Nic<Side = AxiSide>>() -> Result<(), String> {
    for latency in [1, 12] {
        let (bare, _) = cycles::<Bare>(latency);
        let (axi, rig) = cycles::<Bridged>(latency);
        let open = rig.side.most;
        if axi > bare + 20 || open < 3 {
            return Err(format!(
                "memory of {latency} cycles: {axi} through AXI, {bare} without, {open} bursts open at most"
            ));
        }
    }
    Ok(())
}

#[test]
fn the_bridges_cost_no_bandwidth() {
    full_rate::<Cenju3Nic, Cenju3NicAxi>().unwrap_or_else(|e| panic!("{e}"));
    full_rate::<Cenju3NicWide, Cenju3NicAxi64>().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn bridges_with_one_burst_at_a_time_are_seen() {
    let slow = full_rate::<Cenju3Nic, TwinNicAxiSingle>();
    assert!(slow.is_err(), "one burst at a time is not seen");
}

/// A refusal of the memory, where, and what the NIC is to say.
fn refused<N: Nic>(header: ParcelHeader, at: u32) -> Result<(), String> {
    let mut rig = start::<N>(Context::new(), Setup::default());
    let good = ParcelHeader {
        dest: Addr(DEST + 0x1_0000),
        ..dma(600)
    };
    assert!(rig.memory.write(Addr(QUEUE0), &header.encode()));
    assert!(rig.memory.write(Addr(QUEUE0 + 32), &good.encode()));
    let body: Vec<u8> = (0..600).map(|i| (i * 7) as u8 | 1).collect();
    assert!(rig.memory.write(Addr(SOURCE), &body));
    let decerr = at as usize >= MEMORY;
    if !decerr {
        rig.memory.inject_fault(at..at + 1);
    }
    rig.write(SQ0_PUT, 1);
    rig.run("rest", 1_000, |rig| !rig.dut.busy());
    let (stat, drops, causes) = (rig.read(S_STAT), rig.read(R_DROP), rig.read(R_STAT));
    let code = (stat >> S_STAT_ERROR0_SHIFT) & 0xf;
    let in_body = at >= header.body.0 && at < header.body.0 + header.bytes;
    // Either way a packet is not delivered. Where the body is refused, the one under way ends early, and comes back truncated.
    let want = if in_body {
        (STATUS_BODY_BUS_ERROR, 1, R_STAT_SEND_ERROR_MASK | R_STAT_TRUNCATED_MASK)
    } else {
        (0, 1, R_STAT_BUS_ERROR_MASK)
    };
    if (code, drops, causes) != want {
        return Err(format!(
            "refused at {at:#x}: status {code}, {drops} packets dropped, pending {causes:#x}, not {want:x?}"
        ));
    }
    // What comes after it is not affected.
    if in_body {
        rig.write(S_CTRL, S_CTRL_RESUME0_MASK);
    }
    rig.write(SQ0_PUT, 2);
    rig.run("rest", 1_000, |rig| !rig.dut.busy());
    assert_eq!(
        rig.memory.read(Addr(DEST + 0x1_0000), 600).unwrap(),
        body,
        "the parcel after"
    );
    Ok(())
}

/// SLVERR and DECERR, at the source and at the destination.
fn refusals<N: Nic>() -> Result<(), String> {
    let end = MEMORY as u32;
    let parcel = dma(500);
    refused::<N>(
        ParcelHeader {
            body: Addr(SOURCE + 0x1_0000),
            ..parcel
        },
        SOURCE + 0x1_0000 + 200,
    )?;
    refused::<N>(
        ParcelHeader {
            body: Addr(end - 256),
            ..parcel
        },
        end,
    )?;
    refused::<N>(parcel, DEST + 200)?;
    refused::<N>(
        ParcelHeader {
            dest: Addr(end - 256),
            ..parcel
        },
        end,
    )
}

#[test]
fn slverr_and_decerr_reach_the_status() {
    refusals::<Cenju3NicAxi>().unwrap_or_else(|e| panic!("{e}"));
    refusals::<Cenju3NicAxiWide>().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn an_error_that_does_not_reach_the_status_is_seen() {
    assert!(refusals::<TwinNicAxiError>().is_err(), "a lost SLVERR is not seen");
}

/// The threshold stops the link through AXI4-Stream's TREADY, too.
#[test]
fn a_full_receiver_stops_the_stream() {
    threshold::<Cenju3NicAxi>();
}
