//! Transfers data from one cell's memory to another's by PUT.

use super::host::{Ap1000pSim, Cell, CommandError};
use super::params::Config;
use super::repro::{MeasureError, Sim, finish, machine};
use crate::harness::params::Table as _;
use crate::harness::wave::Probe;
use crate::machine::{Carrier, MachineError, Route, poison};
use crate::{Addr, NodeId, Picos};

/// Maximum bytes of a window.
const WINDOW: u32 = 1 << 20;
/// The receiver's counter of windows, and the sender's window.
const FLAG: Addr = Addr(4);
const SOURCE: Addr = Addr(8);

pub struct Ap1000pCarrier {
    sim: Sim,
    from: NodeId,
    to: NodeId,
    /// Windows until now.
    windows: u32,
}

impl Ap1000pCarrier {
    /// A booted machine with `route`'s settings.
    ///
    /// # Errors
    /// The settings make no machine, or one that does not boot.
    pub fn new(route: &Route<'_>) -> Result<Ap1000pCarrier, MachineError> {
        let config = Config::of(route.settings)?;
        let machine = machine(route.backend, &config, &Probe::default())?;
        let sim = Ap1000pSim::new(machine, config).map_err(MeasureError::from)?;
        Ok(Ap1000pCarrier {
            sim,
            from: route.from,
            to: route.to,
            windows: 0,
        })
    }
}

impl Carrier for Ap1000pCarrier {
    fn now(&self) -> Picos {
        self.sim.now()
    }

    fn window(&self) -> u32 {
        let room = self.sim.cell(self.from).memory_end() - SOURCE.0;
        WINDOW.min(room / 2) & !3
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, MachineError> {
        let (from, to, dest) = (self.sim.cell(self.from), self.sim.cell(self.to), self.to);
        let target = Addr(SOURCE.0 + self.window());
        let words = data.len().div_ceil(4) as u32;
        from.host().write(SOURCE, data);
        to.host().write(target, &poison(data));
        self.windows += 1;
        let count = self.windows;
        self.sim.spawn_checked(self.from, async move |cell| {
            cell.put(dest, SOURCE, words, target, Some(FLAG), None).await
        });
        let seen = async move |cell: Cell| cell.wait_flag(FLAG, count).await;
        self.sim.spawn_checked::<CommandError, _>(self.to, seen);
        finish(&mut self.sim)?;
        Ok(to.host().read(target, data.len() as u32))
    }
}
