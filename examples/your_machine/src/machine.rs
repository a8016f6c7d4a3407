//! The machine: two NICs, verilated or golden, joined back to back.

use tsunagi::Picos;
use tsunagi::harness::backend::{AnyBackend, EventKind, HostReq, HostRsp};
use tsunagi::harness::clock::Clock;
use tsunagi::harness::host_port::{HostPort, HostPortsOut, RegisterAccess};
use tsunagi::harness::machine::{Edges, Hardware, RtlMachine};
use tsunagi::harness::memory::MemoryTiming;
use tsunagi::harness::params::parameters;
use tsunagi::harness::wave::Probe;
use tsunagi::harness::{host_ports, set_host_ports};
use tsunagi::repro::row::BackendKind;
use verilated::{Context, Input as _, Port as _, Verilated};

use crate::golden::{Golden, Nic, Outputs};

include!(concat!(env!("OUT_DIR"), "/units.rs"));

parameters! {
    nodes: u32 = 2, "nodes", 2 ..= 2, Design, on [], from [], "Two NICs, joined back to back.";
    period: Picos = 50, "ns", 1 ..= 1000, Design, on [], from [], "Clock of both NICs.";
}

/// Bytes of a node's memory.
pub const MEMORY: u32 = 8192;

/// `your_nic`, or a broken twin of it.
pub struct Rtl<U>(U);

impl<U: YourNicUnit> Nic for Rtl<U> {
    fn new(context: &Context, name: &str) -> Rtl<U> {
        let unit = U::named(context, name);
        unit.rst_i().set(1);
        unit.rise(1);
        unit.rst_i().set(0);
        Rtl(unit)
    }

    fn outputs(&self) -> Outputs {
        let unit = &self.0;
        Outputs {
            host: host_ports!(unit),
            irq: unit.irq_o().is_set(),
            tx: unit.tx_valid_o().is_set().then(|| unit.tx_data_o().get() as u32),
            rx_ready: unit.rx_ready_o().is_set(),
            busy: unit.busy_o().is_set(),
        }
    }

    fn edge(&mut self, host: &HostPortsOut, tx_ready: bool, rx: Option<u32>) {
        let unit = &self.0;
        set_host_ports!(unit, host);
        unit.tx_ready_i().set_bool(tx_ready);
        unit.rx_valid_i().set_bool(rx.is_some());
        unit.rx_data_i().set(rx.unwrap_or(0).into());
        unit.junk();
        unit.rise(1);
    }

    fn unit(&self) -> Option<&dyn Verilated> {
        Some(&self.0)
    }
}

struct Pair<N> {
    context: Context,
    nics: [N; 2],
    hosts: [HostPort; 2],
}

/// The machine, reset, at time 0. The RTL leaves the wave that `probe` asks for.
pub fn build(backend: BackendKind, config: &Config, probe: &Probe) -> AnyBackend {
    match backend {
        BackendKind::Rtl => pair::<Rtl<YourNic>>(config, probe),
        BackendKind::Model => pair::<Golden>(config, probe),
    }
}

fn pair<N: Nic + 'static>(config: &Config, probe: &Probe) -> AnyBackend {
    let context = Context::new();
    let nics = ["nic0", "nic1"].map(|name| N::new(&context, name));
    let hosts = [HostPort::Idle; 2];
    let clocks = vec![(&["clk_i"][..], Clock::new(config.period, Picos::ZERO))];
    let pair = Pair { context, nics, hosts };
    Box::new(RtlMachine::new(pair, clocks, MEMORY as usize, MemoryTiming::IDEAL).with_probe(probe))
}

impl<N: Nic> Hardware for Pair<N> {
    fn nodes(&self) -> usize {
        2
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        self.nics.iter().filter_map(Nic::unit).collect()
    }

    /// A NIC is made reset.
    fn reset(&mut self) {}

    fn stirs(&self, node: usize) -> bool {
        self.hosts[node].stirs() || self.nics[node].outputs().busy || self.nics[1 - node].outputs().tx.is_some()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        self.hosts[node].begin(RegisterAccess::of(req, 0));
    }

    fn take(&mut self, node: usize, _req: HostReq) -> Option<HostRsp> {
        self.hosts[node].take()
    }

    fn irq(&self, node: usize) -> bool {
        self.nics[node].outputs().irq
    }

    fn edge(&mut self, _edges: Edges, awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        let shown = self.nics.each_ref().map(Nic::outputs);
        for at in (0..2).filter(|at| awake[*at]) {
            let (tx_ready, rx, host) = (shown[1 - at].rx_ready, shown[1 - at].tx, self.hosts[at].ports());
            self.hosts[at].edge(&shown[at].host, |kind| event(at, kind));
            if let Some(word) = shown[at].tx.filter(|_| tx_ready) {
                event(at, EventKind::TxFirst { head: word as u16 });
            }
            self.nics[at].edge(&host, tx_ready, rx);
        }
    }
}
