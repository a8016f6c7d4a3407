//! The verilated AP1000+: cells on a torus of routers, with S-net and B-net.

mod cell;
mod direct;
pub mod nets;

use verilated::{Context, Input as _, Port as _, Verilated};

use crate::ap1000p::golden::window::Window;
use crate::ap1000p::lanes;
use crate::ap1000p::params::Config;
use crate::ap1000p::regs::*;
use crate::harness::backend::{AnyBackend, HostReq, HostRsp};
use crate::harness::clock::Clock;
use crate::harness::event::EventKind;
use crate::harness::lane::{Head, Terms, Way};
use crate::harness::machine::{Edges, Hardware, RtlMachine};
use crate::harness::memory::{MemPortsIn, MemPortsOut};
use crate::harness::wave::Probe;
use crate::net::torus::Torus;
use crate::net::torus_fabric::TorusFabric;
use crate::rtl::{
    Ap1000pCell, Ap1000pCellPorts as _, Ap1000pCellSoftware, Ap1000pCellUnit, Ap1000pRouter, Ap1000pRouterPaced,
    TorusRouterUnit,
};
use crate::{Cycle, NodeId, Picos};
use cell::Cell;
pub use direct::{Answer, Direct, Remote, RemoteAnswer};
use nets::Nets;

/// The configuration asks for RTL that was not built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotBuilt {
    #[error("{name} = {rate} MB/s with a period of {period_ns} ns: built are {}", built.join(" and "))]
    Rate {
        name: &'static str,
        rate: f64,
        period_ns: f64,
        built: Vec<String>,
    },
    #[error(
        "columns x rows = {cells} cells: S-net and B-net are built for {}; the golden model takes more",
        nets::MOST
    )]
    Cells { cells: usize },
}

/// The cycles of a word at this rate, which must be one of those that are built.
fn built(config: &Config, name: &'static str, rate: f64, cycles: &[u64]) -> Result<u64, NotBuilt> {
    let of = |cycles: u64| (config.period * cycles).rate_mb_s(4);
    let found = cycles.iter().find(|&&cycles| (of(cycles) / rate - 1.0).abs() < 1e-3);
    found.copied().ok_or_else(|| NotBuilt::Rate {
        name,
        rate,
        period_ns: config.period.0 as f64 / 1e3,
        built: cycles
            .iter()
            .map(|&cycles| format!("{} MB/s, {cycles} cycles a word", of(cycles)))
            .collect(),
    })
}

/// A router with these parameters.
pub trait RouterSet: TorusRouterUnit {
    /// Of a word on a link.
    const CYCLES: u64;
}

impl RouterSet for Ap1000pRouter {
    const CYCLES: u64 = 1;
}

impl RouterSet for Ap1000pRouterPaced {
    const CYCLES: u64 = Ap1000pRouterPaced::CYCLES_PER_WORD as u64;
}

/// The machine with cells of type `C` and routers of type `R`.
pub type Machine<C = Ap1000pCell, R = Ap1000pRouter> = RtlMachine<Cells<C, R>>;

/// The machine of `config`, with the cells and routers that it asks for; it leaves the wave that `probe` asks for.
///
/// # Errors
/// Links of a rate, or more cells, than were built.
pub fn build(config: &Config, probe: &Probe) -> Result<AnyBackend, NotBuilt> {
    build_with(config, probe, None, true)
}

/// The same with junk from this seed on lines whose words do not count; with `gated` false, every unit is evaluated at
/// every edge.
///
/// # Errors
/// As of [`build`].
pub fn build_with(config: &Config, probe: &Probe, junk: Option<u64>, gated: bool) -> Result<AnyBackend, NotBuilt> {
    fn boxed<C: Ap1000pCellUnit + 'static, R: RouterSet + 'static>(
        config: &Config,
        probe: &Probe,
        junk: Option<u64>,
        gated: bool,
    ) -> Result<AnyBackend, NotBuilt> {
        let machine = of_cells::<C, R>(config)?;
        let machine = if gated { machine } else { machine.ungated() };
        let machine = match junk {
            Some(seed) => machine.with_junk(seed),
            None => machine,
        };
        Ok(Box::new(machine.with_probe(probe)))
    }
    let paced = link_cycles(config)? == Ap1000pRouterPaced::CYCLES;
    match (config.hardware_refill, paced) {
        (true, false) => boxed::<Ap1000pCell, Ap1000pRouter>(config, probe, junk, gated),
        (true, true) => boxed::<Ap1000pCell, Ap1000pRouterPaced>(config, probe, junk, gated),
        (false, false) => boxed::<Ap1000pCellSoftware, Ap1000pRouter>(config, probe, junk, gated),
        (false, true) => boxed::<Ap1000pCellSoftware, Ap1000pRouterPaced>(config, probe, junk, gated),
    }
}

fn link_cycles(config: &Config) -> Result<u64, NotBuilt> {
    let cycles = [Ap1000pRouterPaced::CYCLES, Ap1000pRouter::CYCLES];
    built(config, "link_rate", config.link_rate, &cycles)
}

/// Cycles of the reset.
const RESET: u64 = 3;

/// All cells reset, told their place, with one process's context 0 and no translation. Whether hardware refills the queues
/// of such cells must be as `config` says.
///
/// # Errors
/// As of [`build`].
///
/// # Panics
/// `config` asks for other routers: [`build`] chooses.
pub fn of_cells<C: Ap1000pCellUnit, R: RouterSet>(config: &Config) -> Result<Machine<C, R>, NotBuilt> {
    assert_eq!(link_cycles(config)?, R::CYCLES, "cycles of a word");
    built(config, "bus_rate", config.bus_rate, &[4])?;
    let torus = config.torus();
    if torus.cells() > nets::MOST {
        return Err(NotBuilt::Cells { cells: torus.cells() });
    }
    let clock = Clock::new(config.period, Picos::ZERO);
    let machine = RtlMachine::new(
        Cells::<C, R>::new(config),
        vec![(&["clk_i"], clock)],
        config.mem_bytes as usize,
        config.timing(),
    );
    let mut machine = machine.starting_at(config.period * RESET);
    for number in 0..torus.cells() {
        let at = torus.cell(number);
        machine.write(number, CELL, at.x as u32 | (at.y as u32) << CELL_Y_SHIFT);
        machine.write(number, SIZE, torus.x() as u32 | (torus.y() as u32) << SIZE_Y_SHIFT);
    }
    Ok(machine)
}

/// Cells of type `C` with routers of type `R`, and S-net and B-net.
pub struct Cells<C, R> {
    context: Context,
    torus: Torus,
    cells: Vec<Cell<C>>,
    fabric: TorusFabric<R>,
    nets: Nets,
}

impl<C: Ap1000pCellUnit, R: TorusRouterUnit> Cells<C, R> {
    fn new(config: &Config) -> Cells<C, R> {
        let (torus, context) = (config.torus(), Context::new());
        let cell = |number| {
            let unit = C::named(&context, &format!("cell{number}"));
            Cell::new(unit, config.store_cycles.into())
        };
        let router = |at: crate::net::torus::Cell| R::named(&context, &format!("router{}x{}", at.x, at.y));
        Cells {
            torus,
            cells: (0..torus.cells()).map(cell).collect(),
            fabric: TorusFabric::new(torus, router).with_places(config.lane_words as u8),
            nets: Nets::new(&context, torus.cells()),
            context,
        }
    }
}

impl<C: Ap1000pCellUnit, R: TorusRouterUnit> Hardware for Cells<C, R> {
    fn nodes(&self) -> usize {
        self.cells.len()
    }

    fn bus_bytes(&self) -> u32 {
        4
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn units(&self) -> Vec<&dyn Verilated> {
        let cells = self.cells.iter().map(|cell| &cell.unit as &dyn Verilated);
        let routers = self.fabric.units().iter().map(|router| router as &dyn Verilated);
        cells.chain(routers).chain(self.nets.units()).collect()
    }

    fn reset(&mut self) {
        for cell in &self.cells {
            cell.unit.rst_i().set_bool(true);
            (0..RESET).for_each(|_| cell.unit.rise(1));
            cell.unit.rst_i().set_bool(false);
        }
        self.fabric.reset();
    }

    #[inline]
    fn stirs(&self, node: usize) -> bool {
        self.cells[node].stirs() || self.fabric.output(node).is_some() || self.fabric.returned(node) != 0
    }

    fn network_stirs(&self) -> bool {
        self.fabric.busy() || self.nets.busy()
    }

    fn start(&mut self, node: usize, req: HostReq) {
        let cell = &mut self.cells[node];
        match Window::of(req) {
            Some(Window::Register(access)) => cell.registers.start(access),
            Some(Window::Bif(access)) => self.nets.start(node, access),
            Some(Window::Creg(access)) => cell.cregs.start(access),
            Some(Window::Page { code, data }) => cell.stores.push_back((code, data)),
            Some(Window::Shared(access)) => cell.shared.start(access),
            None => {}
        }
    }

    fn take(&mut self, node: usize, req: HostReq) -> Option<HostRsp> {
        let cell = &mut self.cells[node];
        let response = |value: Option<u64>| HostRsp {
            value: value.unwrap_or(0),
            error: value.is_none(),
        };
        match Window::of(req) {
            Some(Window::Register(_)) => cell.registers.take(),
            Some(Window::Bif(_)) => self.nets.take(node),
            Some(Window::Creg(_)) => cell.cregs.take().map(|word| response(word.map(u64::from))),
            Some(Window::Page { .. }) => cell.stores.is_empty().then(|| response(Some(0))),
            Some(Window::Shared(access)) => {
                let words = cell.shared.take()?;
                Some(response(words.map(|words| access.value(words))))
            }
            None => Some(response(None)),
        }
    }

    #[inline]
    fn host_edge(&mut self, node: usize, cycle: Cycle, event: impl FnMut(EventKind)) {
        self.cells[node].host_edge(cycle.0, event);
    }

    #[inline]
    fn memory_ports(&self, node: usize) -> MemPortsIn {
        let unit = &self.cells[node].unit;
        crate::harness::mem_ports!(unit)
    }

    #[inline]
    fn set_memory_ports(&mut self, node: usize, ports: &MemPortsOut) {
        let unit = &self.cells[node].unit;
        crate::harness::set_mem_ports!(unit, ports);
    }

    #[inline]
    fn irq(&self, node: usize) -> bool {
        self.cells[node].unit.irq_o().is_set()
    }

    fn edge(&mut self, edges: Edges, awake: &[bool], mut event: impl FnMut(usize, EventKind)) {
        let Cells { cells, fabric, .. } = self;
        for (number, cell) in cells.iter_mut().enumerate().filter(|(number, _)| awake[*number]) {
            cell.exchange(fabric, number, |kind| event(number, kind));
            cell.unit.junk();
            cell.unit.rise(1);
        }
        if edges.all {
            self.fabric.wake_all();
        }
        self.fabric.edge();
        if edges.all || self.nets.busy() {
            self.nets.edge(!edges.all);
        }
    }

    fn hold_links(&mut self, node: usize, held: bool) {
        self.cells[node].held = held;
    }

    fn forge(&mut self, node: usize, words: &[u64]) -> bool {
        self.cells[node].forge(words);
        true
    }

    fn terms(&self) -> Terms {
        lanes::TERMS
    }

    fn keep_heads(&mut self) {
        self.cells.iter_mut().for_each(Cell::keep_heads);
    }

    fn head(&self, node: usize, way: Way, link: usize) -> Head<'_> {
        self.cells[node].head(way, link)
    }

    /// `drained`: packets that the routers had no way for, of all nodes.
    fn gauge(&self, _node: usize, name: &str) -> Option<u32> {
        (name == "drained").then(|| self.fabric.drained() as u32)
    }

    fn links(&self, node: usize) -> (bool, bool) {
        self.cells[node].links()
    }

    fn report(&self) -> Vec<String> {
        let busy = (0..).zip(&self.cells).filter(|(_, cell)| cell.unit.busy_o().is_set());
        let mut lines: Vec<String> = busy.map(|(at, _)| format!("{}: busy", NodeId(at))).collect();
        if self.fabric.busy() {
            lines.push("words are in the network".into());
        }
        lines.extend(self.nets.report());
        lines
    }
}
