//! `cppacs_nia_axi` with its link looped back: the window over AXI4-Lite, memory over AXI, both watched by their rules.

use support::this_test;
use testbenches::rtl::*;
use testbenches::{
    Cases, Dut, Fault, Instance, PERIOD, Rule as _, Run, Start, each_is_caught, m_axi_ar, m_axi_aw, m_axi_w, pass,
    rules, s_axil, set_m_axi_b, set_m_axi_r, set_s_axil,
};
use tsunagi::cppacs::golden::message::Kind;
use tsunagi::cppacs::golden::tcw::Tcw;
use tsunagi::cppacs::regs::*;
use tsunagi::harness::axi::{
    self, AxiMaster, AxiMemory, AxiTiming, Burst, FromMaster, FromSlave, Resp, Rules, WriteBeat, WriteOrder,
};
use tsunagi::harness::memory::Memory;
use tsunagi::harness::seed::Recorder;
use tsunagi::harness::stream::Gaps;
use tsunagi::{Addr, Cycle};
use verilated::{Input as _, Port as _};

use crate::nia::{AREA_AT, FLAGS, ONE, SENT, SIZE, TCWS_AT, field_at, plain, settings};

rules!(
    /// Data, flags and old values are in memory when the transfer is complete.
    Data
    /// An access has its answer; what is refused is answered with SLVERR.
    Access
    /// An error of memory gives a transfer up, and is told.
    Memory
    /// Leaving out the edges at rest changes nothing.
    Gating
);

/// Bytes of a word of memory, and of the window.
const BUS: u32 = 4;
const WINDOW: u32 = 8;

#[derive(Clone, Debug, Default)]
struct In {
    reset: bool,
    host: FromMaster,
    memory: FromSlave,
    link: Option<(bool, u32, bool)>,
    credit: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Out {
    busy: bool,
    irq: bool,
    host: FromSlave,
    memory: FromMaster,
    link: Option<(bool, u32, bool)>,
    credit: u32,
}

fn set(dut: &impl CppacsNiaAxiPorts, inputs: &In) {
    dut.aresetn().set_bool(!inputs.reset);
    dut.barrier_waiting_i().set_bool(false);
    dut.barrier_release_i().set_bool(false);
    dut.drained_i().set(0);
    let (channel, data, last) = inputs.link.unwrap_or((true, 0xdead, true));
    dut.link_in_valid_i().set_bool(inputs.link.is_some());
    dut.link_in_channel_i().set_bool(channel);
    dut.link_in_data_i().set(data.into());
    dut.link_in_last_i().set_bool(last);
    dut.link_out_credit_i().set(inputs.credit.into());
    set_m_axi_r!(dut, &inputs.memory);
    set_m_axi_b!(dut, &inputs.memory);
    set_s_axil!(dut, &inputs.host);
}

fn seen(dut: &impl CppacsNiaAxiPorts) -> Out {
    let word = || {
        let (data, last) = (dut.link_out_data_o().get() as u32, dut.link_out_last_o().is_set());
        (dut.link_out_channel_o().is_set(), data, last)
    };
    Out {
        busy: dut.busy().is_set(),
        irq: dut.irq().is_set(),
        host: s_axil!(dut),
        memory: FromMaster {
            aw: m_axi_aw!(dut),
            w: m_axi_w!(dut),
            b_ready: dut.m_axi_bready().is_set(),
            ar: m_axi_ar!(dut),
            r_ready: dut.m_axi_rready().is_set(),
        },
        link: dut.link_out_valid_o().is_set().then(word),
        credit: dut.link_in_credit_o().get() as u32,
    }
}

/// Host, memory and a looped link around two instances, one of which leaves out the edges that should change nothing.
struct Rig<'a> {
    units: [Box<dyn Instance<In, Out>>; 2],
    wave: Recorder<'a>,
    cycle: u64,
    host: AxiMaster,
    host_rules: Rules,
    bus: AxiMemory,
    bus_rules: Rules,
    memory: Memory,
    answer: Option<(u64, Resp)>,
    link: Option<(bool, u32, bool)>,
    credit: u32,
    skipped: u64,
}

impl<'a> Rig<'a> {
    /// Out of reset, with all registers set.
    fn new(run: &Run<'a>, dut: &Dut<In, Out>, gaps: Gaps) -> Result<Rig<'a>, Fault> {
        let context = run.context();
        let units = ["dut", "gated"].map(|name| dut.named(&context, name));
        let timing = AxiTiming {
            read_latency: Cycle(8),
            write_latency: Cycle(8),
            stalls: gaps.at_sink(),
            order: WriteOrder::Any,
        };
        let mut rig = Rig {
            wave: run.recorder(&[units[0].verilated(), units[1].verilated()]),
            units,
            cycle: 0,
            host: AxiMaster::new(gaps, |name| run.rng(&format!("host {name}"))),
            // AXI4-Lite always means the whole word, whatever the low bits of the address.
            host_rules: Rules::new(WINDOW).without(&[axi::Rule::Lanes]),
            bus: AxiMemory::new(BUS, timing, |name| run.rng(&format!("memory {name}"))),
            bus_rules: Rules::new(BUS),
            memory: Memory::new(SIZE as usize),
            answer: None,
            link: None,
            credit: 0,
            skipped: 0,
        };
        let reset = In {
            reset: true,
            ..In::default()
        };
        for _ in 0..8 {
            rig.edge(&reset, true);
        }
        // A master waits for the first edge out of reset.
        rig.edge(&In::default(), true);
        for (addr, data) in settings(ONE, 0, 1) {
            rig.write(addr, data)?;
        }
        Ok(rig)
    }

    /// Outputs of both instances before an edge; the second has it only if `asked`.
    fn edge(&mut self, inputs: &In, asked: bool) -> [Out; 2] {
        for unit in &self.units {
            unit.set(inputs);
            let unit = unit.verilated();
            unit.context().set_time(self.cycle * PERIOD);
            unit.junk();
            unit.fall(!0);
        }
        self.wave.tick(self.cycle * PERIOD);
        let seen = [0, 1].map(|unit| self.units[unit].seen());
        for (number, unit) in self.units.iter().enumerate() {
            if number == 0 || asked || seen[1].busy {
                let unit = unit.verilated();
                unit.context().set_time(self.cycle * PERIOD + PERIOD / 2);
                unit.junk();
                unit.rise(!0);
            } else {
                self.skipped += 1;
            }
        }
        self.wave.tick(self.cycle * PERIOD + PERIOD / 2);
        self.cycle += 1;
        seen
    }

    fn step(&mut self) -> Result<Out, Fault> {
        let inputs = In {
            reset: false,
            host: self.host.drive(),
            memory: *self.bus.ports(),
            link: self.link.take(),
            credit: std::mem::take(&mut self.credit),
        };
        let asked = inputs.host.aw.is_some()
            || inputs.host.w.is_some()
            || inputs.host.ar.is_some()
            || inputs.memory.r.is_some()
            || inputs.memory.b.is_some()
            || inputs.link.is_some()
            || inputs.credit != 0;
        let [seen, gated] = self.edge(&inputs, asked);
        Rule::Gating.same(format!("cycle {}, with edges left out", self.cycle), &seen, &gated)?;
        self.host_rules.step(&inputs.host, &seen.host)?;
        self.bus_rules.step(&seen.memory, &inputs.memory)?;
        testbenches::Rule::holds(axi::Rule::Legal, seen.memory.is_plain(), || {
            format!("not plain: {:x?}", seen.memory)
        })?;
        let taken = self.host.step(&seen.host);
        let answer = taken.r.map(|beat| (beat.data, beat.resp));
        self.answer = self.answer.or(answer).or(taken.b.map(|end| (0, end.resp)));
        self.bus.step(Cycle(self.cycle), &mut self.memory, &seen.memory, |_| {});
        (self.link, self.credit) = (seen.link, seen.credit);
        Ok(seen)
    }

    /// An access, and its answer.
    fn access(&mut self, addr: u32, write: Option<(u64, u8)>) -> Result<(u64, Resp), Fault> {
        let burst = Burst::words(addr, 1, WINDOW);
        match write {
            None => self.host.read(burst),
            Some((data, strb)) => self.host.write(burst, [WriteBeat { data, strb, last: true }]),
        }
        for _ in 0..5_000 {
            self.step()?;
            if let Some(answer) = self.answer.take() {
                return Ok(answer);
            }
        }
        Err(Rule::Access.broken(format!("no answer at {addr:#x}")))
    }

    fn write(&mut self, addr: u32, value: u64) -> Result<(), Fault> {
        let answer = self.access(addr, Some((value, 0xff)))?;
        Rule::Access.same(format!("write to {addr:#x}"), (0, Resp::Okay), answer)
    }

    fn read(&mut self, addr: u32) -> Result<u64, Fault> {
        let (value, resp) = self.access(addr, None)?;
        Rule::Access.same(format!("response to a read of {addr:#x}"), Resp::Okay, resp)?;
        Ok(value)
    }

    fn put(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(self.memory.write(Addr(at), &bytes), "it is inside");
    }

    fn words(&self, at: u32, count: u32) -> Vec<u32> {
        let word = |i| {
            let bytes = self.memory.read(Addr(at + 4 * i), 4).expect("it is inside");
            u32::from_le_bytes(bytes.try_into().expect("four bytes"))
        };
        (0..count).map(word).collect()
    }

    fn kick(&mut self, tcw: &Tcw) -> Result<(), Fault> {
        self.put(TCWS_AT + SIZE_TCW * 5, &tcw.words());
        self.write(KICK + SIZE_PAGE, 5 | u64::from(tcw.channel) << KICK_CHANNEL_SHIFT)
    }

    /// Steps until a word of memory is this.
    fn becomes(&mut self, at: u32, value: u32) -> Result<(), Fault> {
        for _ in 0..60_000 {
            if self.words(at, 1) == [value] {
                return Ok(());
            }
            self.step()?;
        }
        Err(Rule::Data.broken(format!("{at:#x} does not become {value}")))
    }

    /// A transfer, to the flag of its field.
    fn transfer(&mut self, tcw: &Tcw, field: u32, count: u32) -> Result<(), Fault> {
        self.kick(tcw)?;
        self.becomes(FLAGS + 8 * field + 4, count)
    }
}

/// Transfers on both channels, requests, and bad accesses between them.
fn transfers(run: &Run, dut: &Dut<In, Out>, gaps: Gaps) -> Result<(), Fault> {
    let mut rng = run.rng("data");
    let mut rig = Rig::new(run, dut, gaps)?;
    let data: Vec<u32> = (0..0x800).map(|_| rng.bits() as u32).collect();
    rig.put(AREA_AT + 0x100, &data);
    let lengths = [8, 4096, 4096 + 8];
    for (count, length) in (1..).zip(lengths) {
        rig.transfer(&plain(Kind::Write, 0, 0, length), 2, count)?;
        let words = length as usize / 4;
        Rule::Data.same(
            "data",
            data[..words].to_vec(),
            rig.words(field_at(2) + 0x40, length / 4),
        )?;
        for (addr, write) in [(0x60, None), (NODE, Some((0, 0x0f))), (STATUS, Some((0, 0xff)))] {
            let (_, resp) = rig.access(addr, write)?;
            Rule::Access.same(format!("{addr:#x} {write:x?}"), Resp::SlvErr, resp)?;
        }
        let errors = rig.read(HOST_ERRORS)?;
        Rule::Access.same("HOST_ERRORS", 3 * u64::from(count), errors)?;
    }
    rig.transfer(&plain(Kind::Write, 1, 0, 32), 2, lengths.len() as u32 + 1)?;
    let old = rig.words(field_at(2) + 0x40, 64);
    rig.transfer(&plain(Kind::Get, 1, 0, 256), 3, 1)?;
    Rule::Data.same("GET", old.clone(), rig.words(field_at(3) + 0x80, 64))?;
    rig.transfer(&plain(Kind::Swap, 1, 0, 8), 3, 2)?;
    Rule::Data.same("the old value", old[..2].to_vec(), rig.words(field_at(3) + 0x80, 2))?;
    let new = vec![0x3333_4444, 0x1111_2222];
    Rule::Data.same("the new value", new, rig.words(field_at(2) + 0x40, 2))?;
    for _ in 0..200 {
        rig.step()?;
    }
    assert!(rig.skipped > 100, "it is never at rest");
    Ok(())
}

/// Memory that the area has does not answer: the sender gives up, and a transfer from elsewhere passes.
fn memory_errors(run: &Run, dut: &Dut<In, Out>, gaps: Gaps) -> Result<(), Fault> {
    let mut rig = Rig::new(run, dut, gaps)?;
    let source = AREA_AT + 0x100;
    rig.memory.inject_fault(source + 128..source + 136);
    rig.kick(&plain(Kind::Write, 0, 0, 256))?;
    for _ in 0..2000 {
        rig.step()?;
    }
    let flag = rig.words(AREA_AT + SENT, 2);
    Rule::Memory.same("the send flag", vec![5, RESULT_REFUSED + SEND_MEMORY], flag)?;
    for (name, addr) in [
        ("MEMORY", SEND_REFUSALS + 8 * SEND_MEMORY),
        ("GIVEN_UP", RECEIVE_REFUSALS + 8 * RECV_GIVEN_UP),
    ] {
        let counted = rig.read(addr)?;
        Rule::Memory.same(name, 1, counted)?;
    }
    let elsewhere = Tcw {
        source: 0x400,
        ..plain(Kind::Write, 0, 0, 256)
    };
    rig.transfer(&elsewhere, 2, 1)
}

fn checks(dut: &Dut<In, Out>, cases: &mut Cases) {
    for gaps in Gaps::ALL {
        cases.case(Start::Random1, format!("{} {gaps:?} transfers", dut.name), |run| {
            transfers(run, dut, gaps)
        });
        cases.case(Start::Random1, format!("{} {gaps:?} memory errors", dut.name), |run| {
            memory_errors(run, dut, gaps)
        });
    }
}

fn dut<U: CppacsNiaAxiUnit + 'static>() -> Dut<In, Out> {
    Dut::of::<U>(set, seen)
}

#[test]
fn follows_its_contract() {
    pass(this_test!(), |cases| checks(&dut::<CppacsNiaAxi>(), cases));
}

#[test]
fn each_twin_is_caught() {
    use Rule::*;
    each_is_caught(
        this_test!(),
        &[
            // Of each word three bytes are written.
            (Data, &[], &|cases| checks(&dut::<TwinNiaAxiLanes>(), cases)),
            // What is refused is answered as what is not.
            (Access, &[], &|cases| checks(&dut::<TwinNiaAxiError>(), cases)),
            // An error of memory is lost.
            (Memory, &[], &|cases| checks(&dut::<TwinNiaAxiMemory>(), cases)),
            // The access of a host does not make it busy.
            (Gating, &[], &|cases| checks(&dut::<TwinNiaAxiBusy>(), cases)),
        ],
    );
}
