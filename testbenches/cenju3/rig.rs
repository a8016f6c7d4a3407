//! One NIC with a memory, a host, and links that are looped back or open.

use testbenches::rtl::*;
use tsunagi::Cycle;
use tsunagi::harness::backend::HostRsp;
use tsunagi::harness::event::EventKind;
use tsunagi::harness::host_port::{HostPort, HostPortsOut, RegisterAccess};
use tsunagi::harness::memory::{MemPortsOut, Memory, MemoryAgent, MemoryTiming};
use tsunagi::harness::seed::Rng;
use tsunagi::harness::stream::{Gaps, Pacer, Sink, Source};
use tsunagi::rtl::{Cenju3Nic, Cenju3NicWide};
use verilated::{Clock, Clocks, Context, Unit};

/// A flit on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flit {
    pub data: u16,
    pub last: bool,
}

/// What serves a NIC's IO-clock side: its memory, and a host that makes one access at a time.
pub trait Side<N> {
    fn new(setup: &Setup) -> Self;
    /// From now on pauses at random, or not.
    fn pause(&mut self, setup: &Setup, pauses: bool, rng: &dyn Fn(&str) -> Rng);
    /// Nothing is driven, everything in flight is forgotten.
    fn reset(&mut self, dut: &N);
    /// The edge: drives the NIC and takes what it drove. `event` is told what was committed.
    fn edge(&mut self, dut: &N, cycle: Cycle, memory: &mut Memory, event: &mut impl FnMut(EventKind));
    /// Nothing is in flight.
    fn is_idle(&self) -> bool;
    /// Starts a register access with these byte strobes.
    fn start(&mut self, access: RegisterAccess, strobes: u8);
    fn is_answered(&self) -> bool;
    fn take(&mut self) -> Option<HostRsp>;
    fn report(&self) -> String;
}

/// A verilated NIC of some bus width.
pub trait Nic: Unit {
    const BUS_BYTES: u32;
    type Side: Side<Self>;
    fn irq(&self) -> bool;
    fn busy(&self) -> bool;
    fn tx(&self) -> Option<Flit>;
    fn set_tx_ready(&self, ready: bool);
    fn rx_ready(&self) -> bool;
    /// Words in the receive FIFO.
    fn rx_level(&self) -> u32;
    fn set_rx(&self, flit: Option<Flit>);
    fn set_reset(&self, io: bool, net: bool);
    fn set_clocks(&self, io: Option<bool>, net: Option<bool>);
}

/// Serves a NIC whose memory streams and host port are its ports.
pub struct BareSide {
    agent: MemoryAgent,
    host: HostPort,
    strobes: u8,
}

impl<N: Nic + Cenju3NicUnit> Side<N> for BareSide {
    fn new(setup: &Setup) -> BareSide {
        BareSide {
            agent: MemoryAgent::new(setup.timing, N::BUS_BYTES),
            host: HostPort::Idle,
            strobes: 0xf,
        }
    }

    fn pause(&mut self, setup: &Setup, pauses: bool, rng: &dyn Fn(&str) -> Rng) {
        let (latency, gap) = if pauses { (30, 6) } else { (0, 0) };
        self.agent =
            MemoryAgent::new(setup.timing, N::BUS_BYTES).with_jitter(rng("memory").bits(), Cycle(latency), Cycle(gap));
    }

    fn reset(&mut self, dut: &N) {
        tsunagi::set_host_ports!(dut, &HostPortsOut::default());
        tsunagi::set_mem_ports!(dut, &MemPortsOut::default());
        self.agent.reset();
        self.host = HostPort::Idle;
    }

    fn edge(&mut self, dut: &N, cycle: Cycle, memory: &mut Memory, event: &mut impl FnMut(EventKind)) {
        let mut host = self.host.ports();
        host.req_wstrb &= self.strobes;
        tsunagi::set_host_ports!(dut, &host);
        tsunagi::set_mem_ports!(dut, self.agent.ports());
        self.host.edge(&tsunagi::host_ports!(dut), &mut *event);
        self.agent.step(cycle, memory, &tsunagi::mem_ports!(dut), event);
    }

    fn is_idle(&self) -> bool {
        self.agent.is_idle() && matches!(self.host, HostPort::Idle | HostPort::Answered(_))
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

macro_rules! bare {
    ($unit:ty, $word:ty) => {
        impl Nic for $unit {
            const BUS_BYTES: u32 = <$word>::BITS / 8;
            type Side = BareSide;

            fn irq(&self) -> bool {
                self.irq_o.is_set()
            }

            fn busy(&self) -> bool {
                self.io_busy_o.is_set() || self.net_busy_o.is_set()
            }

            fn tx(&self) -> Option<Flit> {
                let (data, last) = (self.tx_data_o.get(), self.tx_last_o.is_set());
                self.tx_valid_o.is_set().then_some(Flit { data, last })
            }

            fn set_tx_ready(&self, ready: bool) {
                self.tx_ready_i.set_bool(ready);
            }

            fn rx_ready(&self) -> bool {
                self.rx_ready_o.is_set()
            }

            fn rx_level(&self) -> u32 {
                self.rx_level_o.get().into()
            }

            fn set_rx(&self, flit: Option<Flit>) {
                self.rx_valid_i.set_bool(flit.is_some());
                self.rx_data_i.set(flit.map_or(0, |f| f.data));
                self.rx_last_i.set_bool(flit.is_some_and(|f| f.last));
            }

            fn set_reset(&self, io: bool, net: bool) {
                self.io_rst_i.set_bool(io);
                self.net_rst_i.set_bool(net);
            }

            fn set_clocks(&self, io: Option<bool>, net: Option<bool>) {
                io.into_iter().for_each(|level| self.io_clk_i.set_bool(level));
                net.into_iter().for_each(|level| self.net_clk_i.set_bool(level));
            }
        }
    };
}

bare!(Cenju3Nic, u32);
bare!(Cenju3NicWide, u64);
bare!(Cenju3NicRandom, u32);
bare!(Cenju3NicWideRandom, u64);
bare!(TwinNicRegisters, u32);
bare!(TwinNicSent, u32);
bare!(TwinNicArrival, u32);
bare!(TwinNicThreshold, u32);
bare!(TwinNicGap, u32);
bare!(TwinNicRest, u32);
bare!(TwinNicRound, u32);
bare!(TwinNicForgets, u32);

/// What happened at a port, at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: u64,
    pub kind: EventKind,
}

/// How a rig is set up.
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

/// The machine's memory: about 1 us to the first word, 8 cycles between bursts, one bus.
pub const SLOW: MemoryTiming = MemoryTiming {
    read_latency: Cycle(25),
    write_latency: Cycle(20),
    overhead: Cycle(8),
    shared_bus: true,
    byte_time: 0,
};

pub const MEMORY: usize = 1 << 20;

pub struct Rig<N: Nic> {
    pub dut: N,
    context: Context,
    clocks: Clocks,
    io: Clock,
    net: Clock,
    setup: Setup,
    pub memory: Memory,
    pub side: N::Side,
    /// IO and network edges so far.
    pub io_edges: u64,
    pub net_edges: u64,
    /// Flits to be offered to the NIC, and who takes those it sends; not used while the links are tied together.
    pub to_nic: Source<Flit>,
    from_nic: Sink<Flit>,
    /// A looped link is not a wire but pauses, and holds what is on its way.
    pauses: bool,
    /// Flits the NIC sent, and the network edges of the first and the last.
    pub sent: Vec<Flit>,
    pub sent_span: Option<(u64, u64)>,
    /// Byte strobes of register writes.
    pub strobes: u8,
    pub events: Vec<Event>,
    irq: bool,
    /// In reset: what the NIC drives means nothing.
    held: bool,
}

impl<N: Nic> Rig<N> {
    pub fn new(context: Context, setup: Setup) -> Rig<N> {
        let mut clocks = Clocks::new();
        let io = clocks.add(setup.io.0, setup.io.1);
        let net = clocks.add(setup.net.0, setup.net.1);
        let mut rig = Rig {
            dut: N::named(&context, "nic"),
            context,
            clocks,
            io,
            net,
            setup,
            memory: Memory::new(MEMORY),
            side: N::Side::new(&setup),
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
            held: true,
        };
        rig.reset();
        rig
    }

    /// Resets both domains and the memory's streams, and waits until the NIC is at rest.
    pub fn reset(&mut self) {
        self.dut.set_reset(true, true);
        self.held = true;
        self.side.reset(&self.dut);
        self.dut.set_rx(None);
        self.to_nic.reset();
        self.to_nic.stop();
        self.from_nic.reset();
        let (io, net) = (self.io_edges, self.net_edges);
        while self.io_edges < io + 4 || self.net_edges < net + 4 {
            self.step();
        }
        self.dut.set_reset(false, false);
        self.held = false;
        self.run("rest after reset", 1_000, |rig| !rig.dut.busy());
    }

    /// From now on the links pause so, and memory and host at random.
    pub fn pause(&mut self, gaps: Gaps, rng: impl Fn(&str) -> Rng) {
        self.to_nic = Source::new([], Pacer::new(gaps.at_source(), rng("to the NIC")));
        self.from_nic = Sink::new(Pacer::new(gaps.at_sink(), rng("from the NIC")));
        self.pauses = gaps != Gaps::None;
        self.side.pause(&self.setup, self.pauses, &rng);
    }

    pub fn now(&self) -> u64 {
        self.context.time()
    }

    fn note(&mut self, kind: EventKind) {
        let at = self.context.time();
        self.events.push(Event { at, kind });
    }

    /// One instant with an edge.
    pub fn step(&mut self) {
        let edges = self.clocks.step(&self.context);
        let (io, net) = (edges.rises(self.io), edges.rises(self.net));
        let quiet = !self.held && !self.dut.busy() && self.side.is_idle() && self.to_nic.is_empty();
        if io {
            self.io_edge();
        }
        if net {
            self.net_edge();
        }
        let level = |clock| match (edges.rises(clock), edges.falls(clock)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let (io_level, net_level) = (level(self.io), level(self.net));
        let skip = self.setup.gated && quiet;
        self.dut.set_clocks(
            io_level.filter(|up| !(*up && skip)),
            net_level.filter(|up| !(*up && skip)),
        );
        self.dut.junk();
        self.dut.eval();
        if io && self.dut.irq() != self.irq {
            self.irq = self.dut.irq();
            self.note(EventKind::Irq { level: self.irq });
        }
    }

    fn io_edge(&mut self) {
        self.io_edges += 1;
        if self.held {
            return;
        }
        let mut kinds = Vec::new();
        let cycle = Cycle(self.io_edges);
        self.side
            .edge(&self.dut, cycle, &mut self.memory, &mut |kind| kinds.push(kind));
        kinds.into_iter().for_each(|kind| self.note(kind));
    }

    fn net_edge(&mut self) {
        self.net_edges += 1;
        if self.held {
            return;
        }
        let (out, ready) = (self.dut.tx(), self.dut.rx_ready());
        let taken = if self.setup.looped && !self.pauses {
            self.dut.set_rx(out);
            self.dut.set_tx_ready(ready);
            out.filter(|_| ready)
        } else {
            self.dut.set_rx(self.to_nic.offer().copied());
            self.dut.set_tx_ready(self.from_nic.ready());
            self.to_nic.step(ready);
            let taken = self.from_nic.step(out).unwrap_or_else(|e| panic!("outgoing link: {e}"));
            taken
                .filter(|_| self.setup.looped)
                .into_iter()
                .for_each(|flit| self.to_nic.push(flit));
            taken
        };
        if let Some(flit) = taken {
            self.sent.push(flit);
            self.sent_span = Some((
                self.sent_span.map_or(self.net_edges, |(first, _)| first),
                self.net_edges,
            ));
        }
    }

    /// Runs until `done`, at most `us` microseconds.
    pub fn run(&mut self, what: &str, us: u64, done: impl Fn(&Rig<N>) -> bool) {
        let limit = self.now() + us * 1_000_000;
        while !done(self) {
            assert!(
                self.now() < limit,
                "no {what} within {us} us; memory: {}",
                self.side.report()
            );
            self.step();
        }
    }

    /// A register access, waiting for its answer.
    pub fn access(&mut self, offset: u32, write: Option<u32>) -> HostRsp {
        let offset = u8::try_from(offset).expect("registers have 256 bytes");
        self.side.start(RegisterAccess { offset, write }, self.strobes);
        self.run("answer of a register", 100, |rig| rig.side.is_answered());
        self.side.take().expect("answered")
    }

    pub fn write(&mut self, offset: u32, value: u32) {
        assert!(
            !self.access(offset, Some(value)).error,
            "write of {value:#x} to {offset:#x} refused"
        );
    }

    pub fn read(&mut self, offset: u32) -> u32 {
        let rsp = self.access(offset, None);
        assert!(!rsp.error, "read of {offset:#x} refused");
        rsp.value as u32
    }
}
