//! A machine of any size, composed of verilated NICs and switches.

use verilated::{Context, Verilated};

use super::RtlMachine;
use super::ports::{BusIn, BusOut, Edges, Hardware};
use super::unit::{NicUnit, switch};
use crate::cenju3::params::Config;
use crate::harness::backend::EventKind;
use crate::harness::wave::Trace;
use crate::net::fabric::Fabric;
use crate::net::link::LinkMonitor;
use crate::net::topology::Omega;
use crate::rtl::Cenju3Switch;
use crate::{NodeId, Picos};

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBuilt {
    #[error("{pes} PEs do not fit {stages} stages of 4x4 switches, which connect {ports}")]
    TooManyPes { pes: u32, stages: u32, ports: usize },
    #[error("parameter `{name}` = {value}: the RTL was built with {built}")]
    Parameter { name: &'static str, value: u32, built: u32 },
}

impl NotBuilt {
    /// A parameter that is wired into the RTL.
    pub(super) fn check(name: &'static str, value: u32, built: u32) -> Result<(), NotBuilt> {
        if value == built {
            Ok(())
        } else {
            Err(NotBuilt::Parameter { name, value, built })
        }
    }
}

/// NICs of type `N` on an omega network of verilated switches.
pub struct Composed<N> {
    context: Context,
    nics: Vec<N>,
    fabric: Fabric<Cenju3Switch>,
    tx: Vec<LinkMonitor>,
    rx: Vec<LinkMonitor>,
    /// Nodes whose receive side is replaced by one that takes everything.
    sinks: Vec<bool>,
    trace: Trace,
}

impl<N: NicUnit> RtlMachine<Composed<N>> {
    /// The machine of `config`, reset, at time 0.
    ///
    /// # Errors
    /// The configuration asks for RTL that was not built.
    pub fn build(config: &Config) -> Result<RtlMachine<Composed<N>>, NotBuilt> {
        Ok(RtlMachine::new(Composed::new(config)?, config))
    }
}

impl<N: NicUnit> Composed<N> {
    /// The hardware of `config`.
    ///
    /// # Errors
    /// The configuration asks for RTL that was not built.
    pub fn new(config: &Config) -> Result<Composed<N>, NotBuilt> {
        check(config, N::BUS_BYTES)?;
        let context = Context::new();
        let shape = Omega::new(4, config.stages as usize);
        let pes = config.pes as usize;
        let fabric = Fabric::new(shape, pes, |at, digit| {
            switch(&context, at, digit, config.sync_idle as u8)
        });
        Ok(Composed {
            nics: (0..pes).map(|at| N::named(&context, &format!("nic_{at}"))).collect(),
            context,
            fabric,
            tx: vec![LinkMonitor::outgoing(); pes],
            rx: vec![LinkMonitor::incoming(); pes],
            sinks: vec![false; pes],
            trace: Trace::default(),
        })
    }

    /// Replaces the receive side of `node` by a sink that takes every flit at once, for good: fig. 9's "without receiving PE".
    pub fn sink(&mut self, node: NodeId) {
        self.sinks[node.index()] = true;
        self.fabric.accept(node.index(), true);
    }

    /// The network, for its statistics.
    pub fn fabric(&self) -> &Fabric<Cenju3Switch> {
        &self.fabric
    }

    fn exchange(&mut self, awake: &[bool], event: &mut impl FnMut(usize, EventKind)) {
        for (at, nic) in self.nics.iter().enumerate() {
            let shown = self.fabric.output(at);
            if awake[at] {
                let ready = self.fabric.ready(at);
                nic.set_tx_ready(ready);
                if let Some(flit) = nic.tx() {
                    self.fabric.inject(at, flit);
                    if ready {
                        self.tx[at].pass(flit, |kind| event(at, kind));
                    }
                }
                if !self.sinks[at] {
                    self.fabric.accept(at, nic.rx_ready());
                    nic.set_rx(shown);
                }
            }
            if let Some(flit) = shown
                && (self.sinks[at] || nic.rx_ready())
            {
                self.rx[at].pass(flit, |kind| event(at, kind));
            }
        }
    }
}

/// Whether the RTL that `config` asks for was built.
fn check(config: &Config, bus_bytes: u32) -> Result<(), NotBuilt> {
    let ports = 4_usize.pow(config.stages);
    if config.pes as usize > ports {
        return Err(NotBuilt::TooManyPes {
            pes: config.pes,
            stages: config.stages,
            ports,
        });
    }
    NotBuilt::check("bus_bytes", config.bus_bytes, bus_bytes)?;
    NotBuilt::check("buf_flits", config.buf_flits, Cenju3Switch::BUF_FLITS as u32)
}

impl<N: NicUnit> Hardware for Composed<N> {
    fn bus_bytes(&self) -> u32 {
        N::BUS_BYTES
    }

    fn nodes(&self) -> usize {
        self.nics.len()
    }

    fn reset(&mut self) {
        for nic in &self.nics {
            reset(nic);
        }
    }

    #[inline]
    fn stirs(&self, node: usize) -> bool {
        self.nics[node].busy() || (!self.sinks[node] && self.fabric.output(node).is_some())
    }

    fn network_stirs(&self) -> bool {
        self.fabric.busy()
    }

    #[inline]
    fn bus_out(&self, node: usize) -> BusOut {
        self.nics[node].bus_out()
    }

    #[inline]
    fn set_bus_in(&mut self, node: usize, bus: &BusIn) {
        self.nics[node].set_bus_in(bus);
    }

    #[inline]
    fn irq(&self, node: usize) -> bool {
        self.nics[node].irq()
    }

    fn edge(&mut self, at: Picos, edges: Edges, awake: &[bool], event: &mut impl FnMut(usize, EventKind)) {
        let Composed {
            trace, nics, fabric, ..
        } = self;
        trace.before(at, || {
            let switches = fabric.switches().iter().filter_map(|at| fabric.switch(*at));
            let nics = nics.iter().map(|nic| nic as &dyn Verilated);
            nics.chain(switches.map(|switch| switch as &dyn Verilated)).collect()
        });
        self.context.set_time(at.0);
        if edges.net {
            self.exchange(awake, event);
        }
        for (nic, _) in self.nics.iter().zip(awake).filter(|(_, awake)| **awake) {
            nic.tick(edges);
        }
        if edges.net {
            if self.trace.is_open() {
                self.fabric.wake_all();
            }
            self.fabric.edge();
        }
        self.trace.after();
    }

    fn fifo_words(&self, node: usize) -> u32 {
        self.nics[node].fifo_words()
    }

    fn report(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, nic) in self.nics.iter().enumerate() {
            let node = NodeId(at as u16);
            if nic.busy() {
                lines.push(format!("{node}: the NIC is busy"));
            }
            if nic.tx().is_some() && !self.fabric.ready(at) {
                lines.push(format!("{node}: a flit waits for the network"));
            }
            if self.fabric.output(at).is_some() && !nic.rx_ready() {
                lines.push(format!(
                    "{node}: a flit waits for the NIC's receive side, which is full or halted"
                ));
            }
        }
        for at in self.fabric.switches() {
            let held = self.fabric.held(*at).unwrap_or(0);
            if held > 0 {
                lines.push(format!(
                    "switch of stage {}, row {}: {held} flits inside",
                    at.stage, at.row
                ));
            }
        }
        lines
    }

    fn set_junk(&self, seed: u64) {
        self.context.set_junk(seed);
    }

    fn set_trace(&mut self, trace: Trace) {
        self.trace = trace;
    }

    fn wave_is_open(&self) -> bool {
        self.trace.is_open()
    }
}

/// Resets both clock domains and runs until the NIC is at rest.
pub(super) fn reset(nic: &impl NicUnit) {
    let both = Edges { io: true, net: true };
    nic.set_bus_in(&BusIn::default());
    nic.set_rx(None);
    nic.set_tx_ready(false);
    nic.set_reset(true);
    (0..8).for_each(|_| nic.tick(both));
    nic.set_reset(false);
    for _ in 0..1024 {
        nic.tick(both);
        if !nic.busy() {
            return;
        }
    }
    panic!("a NIC is busy 1024 cycles after its reset");
}
