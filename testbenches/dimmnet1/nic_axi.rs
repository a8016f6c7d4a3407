//! The card behind AXI: the checks of the bare card with the protocol watched on both interfaces.

use std::collections::VecDeque;

use support::this_test;
use testbenches::rtl::*;
use testbenches::{
    Dut, Fault, each_is_caught, m_axi_ar, m_axi_aw, m_axi_w, pass, rules, s_axi, set_m_axi_b, set_m_axi_r, set_s_axi,
};
use tsunagi::Cycle;
use tsunagi::harness::axi::{
    self, AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, Resp, Rules, WriteBeat, WriteOrder,
};
use tsunagi::harness::memory::{Memory, MemoryTiming};
use tsunagi::harness::seed::{Rng, Seed};
use tsunagi::harness::stream::Gaps;
use verilated::{Input as _, Port as _};

use crate::nic::{carries, gating, host, memory_errors, rates, refuses, resets, stops};
use crate::rig::{Access, In, Nic, Out, Side, What};

rules!(
    /// The card is busy while a bridge is, so that its clocks go on.
    Gating
    /// An error of the memory reaches the peer.
    Refuses
    /// An error of the card reaches the host.
    Host
);

/// Bytes of a word.
const BUS: u32 = 8;

fn set(dut: &impl Dimmnet1NicAxiPorts, inputs: &In) {
    dut.aresetn().set_bool(!inputs.reset);
    dut.link_aresetn().set_bool(!inputs.reset);
    dut.m_axis_tready().set_bool(inputs.tx_ready);
    let (data, last) = inputs.rx.unwrap_or_default();
    dut.s_axis_tvalid().set_bool(inputs.rx.is_some());
    dut.s_axis_tdata().set(data);
    dut.s_axis_tlast().set_bool(last);
    set_m_axi_r!(dut, &inputs.axi_mem);
    set_m_axi_b!(dut, &inputs.axi_mem);
    set_s_axi!(dut, &inputs.axi_host, 0);
}

fn seen(dut: &impl Dimmnet1NicAxiPorts) -> Out {
    let word = || (dut.m_axis_tdata().get(), dut.m_axis_tlast().is_set());
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
        tx: dut.m_axis_tvalid().is_set().then(word),
        rx_ready: dut.s_axis_tready().is_set(),
        axi_mem,
        axi_host: s_axi!(dut),
        ..Out::default()
    }
}

fn nic_axi<U: Dimmnet1NicAxiUnit + 'static>() -> Nic {
    Nic {
        dut: Dut::of::<U>(set, seen),
        side: |timing| Box::new(Axi::new(timing)),
    }
}

/// Memory and host at AXI, and the rules of both interfaces.
struct Axi {
    timing: MemoryTiming,
    memory: AxiMemory,
    memory_rules: Rules,
    host: AxiMaster,
    host_rules: Rules,
    /// Accesses that wait for their turn: loads wait for the answers of all stores before, and stores for those of
    /// loads.
    queue: VecDeque<Access>,
    /// Bursts whose address is not taken.
    asked: VecDeque<Vec<Access>>,
    /// Accesses of each burst that awaits its answer, and whether they are stores.
    open: VecDeque<(usize, bool)>,
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
    fn new(timing: MemoryTiming) -> Axi {
        let unused = |name: &str| Seed(0).stream(name);
        Axi {
            timing,
            memory: AxiMemory::new(BUS, axi_timing(timing, false), unused),
            memory_rules: Rules::new(BUS),
            host: AxiMaster::new(Gaps::None, unused),
            host_rules: Rules::new(BUS),
            queue: VecDeque::new(),
            asked: VecDeque::new(),
            open: VecDeque::new(),
        }
    }

    /// The next access, with the stores behind it that make one burst with it.
    fn next(&mut self) -> Option<Vec<Access>> {
        const LONGEST: usize = 16;
        let first = *self.queue.front()?;
        let is_store = first.store.is_some();
        if self.open.iter().any(|(_, stores)| *stores != is_store) {
            return None;
        }
        let joins = |number: usize, access: &Access| {
            let addr = first.addr + BUS * number as u32;
            access.store.is_some() && access.addr == addr && addr / 4096 == first.addr / 4096
        };
        let run = self.queue.iter().enumerate();
        let run = run.take_while(|(number, access)| *number == 0 || (is_store && joins(*number, access)));
        let run = run.count().min(LONGEST);
        Some(self.queue.drain(..run).collect())
    }

    /// Asks for what may be asked now.
    fn ask(&mut self) {
        while let Some(accesses) = self.next() {
            let burst = Burst::words(accesses[0].addr, accesses.len() as u32, BUS);
            let last = accesses.len() - 1;
            let beats = accesses.iter().enumerate().filter_map(|(number, access)| {
                let (data, strb) = access.store?;
                Some(WriteBeat {
                    data,
                    strb,
                    last: number == last,
                })
            });
            let beats: Vec<WriteBeat> = beats.collect();
            self.open.push_back((accesses.len(), !beats.is_empty()));
            if beats.is_empty() {
                self.host.read(burst);
            } else {
                self.host.write(burst, beats);
            }
            self.asked.push_back(accesses);
        }
    }
}

impl Side for Axi {
    fn pause(&mut self, source: bool, sink: bool, rng: &dyn Fn(&str) -> Rng) {
        let gaps = match (source, sink) {
            (false, false) => Gaps::None,
            (true, false) => Gaps::Source,
            (false, true) => Gaps::Sink,
            (true, true) => Gaps::Both,
        };
        let timing = axi_timing(self.timing, sink);
        self.memory = AxiMemory::new(BUS, timing, |name| rng(&format!("memory {name}")));
        self.host = AxiMaster::new(gaps, |name| rng(&format!("host {name}")));
    }

    fn reset(&mut self) {
        let timing = self.timing;
        *self = Axi::new(timing);
    }

    fn push(&mut self, access: Access) {
        self.queue.push_back(access);
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.open.is_empty()
    }

    fn memory_rests(&self) -> bool {
        self.memory.is_idle()
    }

    fn edge(
        &mut self,
        cycle: Cycle,
        seen: &Out,
        inputs: &mut In,
        memory: &mut Memory,
        event: &mut dyn FnMut(What),
    ) -> Result<(), Fault> {
        self.ask();
        let (to_memory, to_host) = (&seen.axi_mem, &seen.axi_host);
        inputs.axi_mem = *self.memory.ports();
        inputs.axi_host = self.host.drive();
        self.memory_rules.step(to_memory, &inputs.axi_mem)?;
        testbenches::Rule::holds(axi::Rule::Legal, to_memory.is_plain(), || {
            format!("not plain: {to_memory:x?}")
        })?;
        self.host_rules.step(&inputs.axi_host, to_host)?;
        let taken = self.host.step(to_host);
        if taken.aw.is_some() || taken.ar.is_some() {
            let accesses = self.asked.pop_front().unwrap_or_default();
            accesses.into_iter().for_each(|access| event(What::Accepted(access)));
        }
        let answer = taken.r.map(|beat| (beat.data, beat.resp));
        if let Some((word, resp)) = answer.or(taken.b.map(|end| (0, end.resp))) {
            let (accesses, _) = self.open.pop_front().unwrap_or_default();
            (0..accesses).for_each(|_| event(What::Answered((word, resp != Resp::Okay))));
        }
        let mut told = |kind| event(What::Memory(kind));
        self.memory.step(cycle, memory, to_memory, &mut told);
        Ok(())
    }

    fn report(&self) -> String {
        self.memory.report()
    }
}

#[test]
fn random_traffic_arrives() {
    pass(this_test!(), |cases| carries(&nic_axi::<Dimmnet1NicAxi>(), cases));
}

#[test]
fn bad_packets_and_memory_errors_are_answered() {
    pass(this_test!(), |cases| {
        refuses(&nic_axi::<Dimmnet1NicAxi>(), cases);
        memory_errors(&nic_axi::<Dimmnet1NicAxi>(), cases);
    });
}

#[test]
fn stops_end() {
    pass(this_test!(), |cases| {
        stops(&nic_axi::<Dimmnet1NicAxi>(), true, 0, cases)
    });
}

#[test]
fn the_host_gets_its_answers() {
    pass(this_test!(), |cases| host(&nic_axi::<Dimmnet1NicAxi>(), cases));
}

#[test]
fn leaving_out_edges_changes_nothing() {
    pass(this_test!(), |cases| gating(&nic_axi::<Dimmnet1NicAxi>(), cases));
}

#[test]
fn reset_in_mid_flight_leaves_nothing_behind() {
    pass(this_test!(), |cases| resets(&nic_axi::<Dimmnet1NicAxi>(), cases));
}

#[test]
fn the_bridges_cost_no_bandwidth() {
    pass(this_test!(), |cases| rates(&nic_axi::<Dimmnet1NicAxi>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // An access of the host does not make the card busy: its clocks stand, and it never answers.
            (Gating, &[], &|cases| gating(&nic_axi::<TwinCardAxiBusy>(), cases)),
            // A SLVERR for a write is lost.
            (Refuses, &[], &|cases| {
                memory_errors(&nic_axi::<TwinCardAxiWritten>(), cases)
            }),
            // A bad access of the host is answered with OKAY.
            (Host, &[], &|cases| host(&nic_axi::<TwinCardAxiRefused>(), cases)),
        ],
    );
}
