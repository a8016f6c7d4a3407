//! One NIC with a memory, a host, and links that are looped back or open.

use testbenches::rtl::*;
use testbenches::{Dut, Fault, Instance, Rule as _, Run};
use tsunagi::harness::axi::{FromMaster, FromSlave};
use tsunagi::harness::backend::HostRsp;
use tsunagi::harness::check;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::host_port::{HostPort, HostPortsIn, HostPortsOut, RegisterAccess};
use tsunagi::harness::memory::{MemPortsIn, MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::{Recorder, Rng};
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::{Addr, Cycle};
use verilated::{Clock, Clocks, Context, Input as _, Port as _, PortInfo};

use crate::nic::Rule;

/// A flit on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flit {
    pub data: u16,
    pub last: bool,
}

/// The inputs of a NIC but its clocks. Those from memory and host are bare or AXI.
#[derive(Debug, Default)]
pub struct In {
    /// Both resets.
    pub reset: bool,
    /// Into the NIC.
    pub rx: Option<Flit>,
    pub tx_ready: bool,
    pub mem: MemPortsOut,
    pub host: HostPortsOut,
    pub axi_mem: FromSlave,
    pub axi_host: FromMaster,
}

/// The outputs of a NIC.
#[derive(Debug, Default)]
pub struct Out {
    pub irq: bool,
    pub busy: bool,
    /// Out of the NIC.
    pub tx: Option<Flit>,
    pub rx_ready: bool,
    /// Words in the receive FIFO.
    pub rx_level: u32,
    pub mem: MemPortsIn,
    pub host: HostPortsIn,
    pub axi_mem: FromMaster,
    pub axi_host: FromSlave,
}

/// The memory of a NIC, and a host that makes one access at a time.
pub trait Side {
    /// From now on memory and host pause at random, or not.
    fn pause(&mut self, pauses: bool, rng: &dyn Fn(&str) -> Rng);
    /// Everything in flight is forgotten.
    fn reset(&mut self);
    /// From this edge on the memory takes no command for so many cycles, if it can refuse.
    fn refuse(&mut self, _now: Cycle, _cycles: Cycle) {}
    /// The edge of the IO clock, with the outputs before it. `event` is told of committed accesses.
    ///
    /// # Errors
    /// The NIC breaks the protocol.
    fn edge(
        &mut self,
        cycle: Cycle,
        seen: &Out,
        inputs: &mut In,
        memory: &mut Memory,
        event: &mut dyn FnMut(EventKind),
    ) -> Result<(), Fault>;
    /// Nothing is in flight.
    fn is_idle(&self) -> bool;
    /// Starts a register access with these byte strobes.
    fn start(&mut self, access: RegisterAccess, strobes: u8);
    fn is_answered(&self) -> bool;
    /// The answer, once there is one.
    fn take(&mut self) -> Option<HostRsp>;
    /// Everything in flight, for a hang report.
    fn report(&self) -> String;
    /// The AXI bursts so far: the most that were open at once, and the most words in one.
    fn bursts(&self) -> (usize, u32) {
        (0, 0)
    }
}

/// A NIC under test.
pub struct Nic {
    pub dut: Dut<In, Out>,
    pub bus_bytes: u32,
    /// Makes memory and host, for a memory of this timing and a bus of this number of bytes.
    pub side: fn(MemoryTiming, u32) -> Box<dyn Side>,
}

fn set(dut: &impl Cenju3NicPorts, inputs: &In) {
    dut.io_rst_i().set_bool(inputs.reset);
    dut.net_rst_i().set_bool(inputs.reset);
    dut.tx_ready_i().set_bool(inputs.tx_ready);
    dut.rx_valid_i().set_bool(inputs.rx.is_some());
    dut.rx_data_i().set(inputs.rx.map_or(0, |flit| flit.data).into());
    dut.rx_last_i().set_bool(inputs.rx.is_some_and(|flit| flit.last));
    tsunagi::harness::set_host_ports!(dut, &inputs.host);
    tsunagi::harness::set_mem_ports!(dut, &inputs.mem);
}

fn seen(dut: &impl Cenju3NicPorts) -> Out {
    let flit = || Flit {
        data: dut.tx_data_o().get() as u16,
        last: dut.tx_last_o().is_set(),
    };
    Out {
        irq: dut.irq_o().is_set(),
        busy: dut.io_busy_o().is_set() || dut.net_busy_o().is_set(),
        tx: dut.tx_valid_o().is_set().then(flit),
        rx_ready: dut.rx_ready_o().is_set(),
        rx_level: dut.rx_level_o().get() as u32,
        mem: tsunagi::harness::mem_ports!(dut),
        host: tsunagi::harness::host_ports!(dut),
        ..Out::default()
    }
}

/// A NIC with bare ports.
pub fn nic<U: Cenju3NicUnit + 'static>() -> Nic {
    Nic {
        dut: Dut::of::<U>(set, seen),
        bus_bytes: U::BUS_W as u32 / 8,
        side: |timing, bus_bytes| {
            Box::new(Bare {
                timing,
                bus_bytes,
                agent: MemoryAgent::new(timing, bus_bytes),
                host: HostPort::Idle,
                strobes: 0xf,
            })
        },
    }
}

/// Memory and host at bare ports.
struct Bare {
    timing: MemoryTiming,
    bus_bytes: u32,
    agent: MemoryAgent,
    host: HostPort,
    strobes: u8,
}

impl Side for Bare {
    fn pause(&mut self, pauses: bool, rng: &dyn Fn(&str) -> Rng) {
        let (latency, gap) = if pauses { (30, 6) } else { (0, 0) };
        let agent = MemoryAgent::new(self.timing, self.bus_bytes);
        self.agent = agent.with_jitter(rng("memory").bits(), Cycle(latency), Cycle(gap));
    }

    fn reset(&mut self) {
        self.agent.reset();
        self.host = HostPort::Idle;
    }

    fn refuse(&mut self, now: Cycle, cycles: Cycle) {
        self.agent.refuse(now, cycles);
    }

    fn edge(
        &mut self,
        cycle: Cycle,
        seen: &Out,
        inputs: &mut In,
        memory: &mut Memory,
        event: &mut dyn FnMut(EventKind),
    ) -> Result<(), Fault> {
        inputs.host = self.host.ports();
        inputs.host.req_wstrb &= self.strobes;
        inputs.mem = *self.agent.ports();
        self.host.edge(&seen.host, &mut *event);
        self.agent.step(cycle, memory, &seen.mem, event);
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.agent.is_idle() && !self.host.stirs()
    }

    fn start(&mut self, access: RegisterAccess, strobes: u8) {
        self.strobes = strobes;
        self.host.start(access);
    }

    fn is_answered(&self) -> bool {
        matches!(self.host, HostPort::Answered(_))
    }

    fn take(&mut self) -> Option<HostRsp> {
        self.host.take()
    }

    fn report(&self) -> String {
        self.agent.report().join("; ")
    }
}

/// An event at a port, and its time in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: u64,
    pub kind: EventKind,
}

/// Clocks, memory and links.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Period and phase in ps.
    pub io: (u64, u64),
    pub net: (u64, u64),
    pub timing: MemoryTiming,
    pub looped: bool,
    /// Leave out edges at which the NIC says nothing changes.
    pub gated: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            io: (40_000, 0),
            net: (50_000, 0),
            timing: MemoryTiming::IDEAL,
            looped: true,
            gated: false,
        }
    }
}

pub const MEMORY: usize = 1 << 20;

pub struct Rig<'a> {
    dut: Box<dyn Instance<In, Out>>,
    inputs: In,
    /// The outputs as they are.
    pub seen: Out,
    pub side: Box<dyn Side>,
    context: Context,
    clocks: Clocks,
    /// IO and network clock, and their ports.
    clks: [(Clock, &'static PortInfo); 2],
    setup: Setup,
    pub memory: Memory,
    /// IO and network edges so far.
    pub io_edges: u64,
    pub net_edges: u64,
    /// The flits for the NIC and the sink of its own, unless the links are tied together.
    pub to_nic: Source<Flit>,
    from_nic: Sink<Flit>,
    /// A looped link is not a wire but pauses, and holds flits on their way.
    pauses: bool,
    /// Flits the NIC sent, and the network edges of the first and the last.
    pub sent: Vec<Flit>,
    pub sent_span: Option<(u64, u64)>,
    /// Byte strobes of register writes.
    pub strobes: u8,
    pub events: Vec<Event>,
    irq: bool,
    wave: Recorder<'a>,
}

impl<'a> Rig<'a> {
    /// A NIC at rest after its reset.
    ///
    /// # Errors
    /// As of [`reset`](Rig::reset).
    pub fn new(run: &Run<'a>, nic: &Nic, setup: Setup) -> Result<Rig<'a>, Fault> {
        let context = run.context();
        let dut = nic.dut.instance(&context);
        let unit = dut.verilated();
        let mut clocks = Clocks::new();
        let mut clk = |name: &str, (period, phase)| {
            let port = unit.ports().iter().find(|port| port.name == name);
            (clocks.add(period, phase), port.expect("a clock is a port"))
        };
        let clks = [clk(unit.clocks()[0], setup.io), clk(unit.clocks()[1], setup.net)];
        let mut rig = Rig {
            wave: run.recorder(&[unit]),
            seen: dut.seen(),
            dut,
            inputs: In::default(),
            side: (nic.side)(setup.timing, nic.bus_bytes),
            context,
            clocks,
            clks,
            setup,
            memory: Memory::new(MEMORY),
            io_edges: 0,
            net_edges: 0,
            to_nic: Source::new([], Pacer::steady()),
            from_nic: Sink::new(Pacer::steady()),
            pauses: false,
            sent: Vec::new(),
            sent_span: None,
            strobes: 0xf,
            events: Vec::new(),
            irq: false,
        };
        rig.reset()?;
        Ok(rig)
    }

    /// Resets both domains and the memory's streams, and waits until the NIC is at rest.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn reset(&mut self) -> Result<(), Fault> {
        self.inputs = In {
            reset: true,
            ..In::default()
        };
        self.side.reset();
        self.to_nic.reset();
        self.to_nic.stop();
        self.from_nic.reset();
        let (io, net) = (self.io_edges, self.net_edges);
        while self.io_edges < io + 8 || self.net_edges < net + 8 {
            self.step()?;
        }
        self.inputs.reset = false;
        let (io, net) = (self.io_edges, self.net_edges);
        self.run("rest after reset", 1_000, |rig| !rig.seen.busy)?;
        // A round takes 5 edges of each clock, and crossings open in the second.
        let edges = (self.io_edges - io, self.net_edges - net);
        Rule::Stands.holds(edges.0 >= 10 && edges.1 >= 10, || {
            format!("at rest after {edges:?} edges of the two clocks behind a reset")
        })
    }

    /// From now on the links pause in this pattern, and memory and host at random.
    pub fn pause(&mut self, run: &Run, gaps: Gaps) {
        self.to_nic = Source::new([], run.pacer(gaps.at_source(), "to the NIC"));
        self.from_nic = Sink::new(run.pacer(gaps.at_sink(), "from the NIC"));
        self.pauses = gaps != Gaps::None;
        self.side.pause(self.pauses, &|name| run.rng(name));
    }

    /// From now on the memory takes no command for so many cycles.
    pub fn refuse(&mut self, cycles: u64) {
        self.side.refuse(Cycle(self.io_edges), Cycle(cycles));
    }

    pub fn now(&self) -> u64 {
        self.context.time()
    }

    /// One instant with an edge.
    fn step(&mut self) -> Result<(), Fault> {
        let edges = self.clocks.step(&self.context);
        let [io, net] = self.clks.map(|(clk, _)| edges.rises(clk));
        let quiet = !self.inputs.reset && !self.seen.busy && self.side.is_idle() && self.to_nic.is_empty();
        if io {
            self.io_edge()?;
        }
        if net {
            self.net_edge()?;
        }
        self.dut.set(&self.inputs);
        let stands = self.setup.gated && quiet;
        let unit = self.dut.verilated();
        for (clk, port) in self.clks {
            if edges.falls(clk) || (edges.rises(clk) && !stands) {
                unit.set_flag(port, edges.rises(clk));
            }
        }
        unit.junk();
        unit.eval();
        self.wave.tick(edges.at);
        self.seen = self.dut.seen();
        if io && self.seen.irq != self.irq {
            self.irq = self.seen.irq;
            let kind = EventKind::Irq { level: self.irq };
            self.events.push(Event { at: edges.at, kind });
        }
        Ok(())
    }

    fn io_edge(&mut self) -> Result<(), Fault> {
        self.io_edges += 1;
        // The outputs mean nothing in reset.
        if self.inputs.reset {
            return Ok(());
        }
        let (at, events) = (self.context.time(), &mut self.events);
        let mut event = |kind| events.push(Event { at, kind });
        let (cycle, memory) = (Cycle(self.io_edges), &mut self.memory);
        self.side.edge(cycle, &self.seen, &mut self.inputs, memory, &mut event)
    }

    fn net_edge(&mut self) -> Result<(), Fault> {
        self.net_edges += 1;
        if self.inputs.reset {
            return Ok(());
        }
        let (out, ready) = (self.seen.tx, self.seen.rx_ready);
        let taken = if self.setup.looped && !self.pauses {
            (self.inputs.rx, self.inputs.tx_ready) = (out, ready);
            out.filter(|_| ready)
        } else {
            self.inputs.rx = self.to_nic.offer().copied();
            self.inputs.tx_ready = self.from_nic.ready();
            self.to_nic.step(ready);
            let taken = self.from_nic.step(out)?;
            let looped = taken.filter(|_| self.setup.looped);
            looped.into_iter().for_each(|flit| self.to_nic.push(flit));
            taken
        };
        if let Some(flit) = taken {
            self.sent.push(flit);
            let first = self.sent_span.map_or(self.net_edges, |(first, _)| first);
            self.sent_span = Some((first, self.net_edges));
        }
        Ok(())
    }

    /// Runs until `done`, at most `us` microseconds.
    ///
    /// # Errors
    /// `Hang`: it is not done by then. Also as of [`Side::edge`], and `Protocol` of the outgoing link.
    pub fn run(&mut self, what: &str, us: u64, done: impl Fn(&Rig) -> bool) -> Result<(), Fault> {
        let limit = self.now() + us * 1_000_000;
        while !done(self) {
            if self.now() >= limit {
                return Err(Fault {
                    rule: "Hang",
                    what: format!("no {what} within {us} us; memory: {}", self.side.report()),
                });
            }
            self.step()?;
        }
        Ok(())
    }

    /// Until the NIC and its links are at rest.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn settle(&mut self, us: u64) -> Result<(), Fault> {
        self.run("rest", us, |rig| rig.to_nic.is_empty() && !rig.seen.busy)
    }

    /// A register access, waiting for its answer.
    ///
    /// # Errors
    /// As of [`run`](Rig::run).
    pub fn access(&mut self, offset: u32, write: Option<u32>) -> Result<HostRsp, Fault> {
        let offset = u8::try_from(offset).expect("registers have 256 bytes");
        self.side.start(RegisterAccess { offset, write }, self.strobes);
        self.run("answer of a register", 100, |rig| rig.side.is_answered())?;
        Ok(self.side.take().expect("answered"))
    }

    /// # Errors
    /// `Registers`: the write is refused. Also as of [`run`](Rig::run).
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), Fault> {
        let answer = self.access(offset, Some(value))?;
        Rule::Registers.holds(!answer.error, || format!("write of {value:#x} to {offset:#x} refused"))
    }

    /// # Errors
    /// `Registers`: the read is refused. Also as of [`run`](Rig::run).
    pub fn read(&mut self, offset: u32) -> Result<u32, Fault> {
        let answer = self.access(offset, None)?;
        Rule::Registers.holds(!answer.error, || format!("read of {offset:#x} refused"))?;
        Ok(answer.value as u32)
    }

    /// Puts bytes into memory.
    ///
    /// # Panics
    /// Memory ends before them.
    pub fn put(&mut self, at: u32, bytes: &[u8]) {
        assert!(self.memory.write(Addr(at), bytes), "{at:#x} is in memory");
    }

    /// # Errors
    /// `Traffic`: memory has other bytes there.
    pub fn has(&self, at: u32, bytes: &[u8]) -> Result<(), Fault> {
        check::holds(&self.memory, Addr(at), bytes).map_err(|error| Rule::Traffic.broken(error.to_string()))
    }
}
