//! Transfers data from one PE's memory to another's by `CJrmwrite`.

use super::host::{Cenju3Sim, RmwriteError};
use super::params::Config;
use super::repro::{MeasureError, finish, machine};
use crate::harness::backend::AnyBackend;
use crate::harness::params::Table as _;
use crate::harness::wave::Probe;
use crate::machine::{Carrier, MachineError, Route, poison};
use crate::{Addr, NodeId, Picos};

/// Maximum bytes of a window.
const WINDOW: u32 = 1 << 20;

pub struct Cenju3Carrier {
    sim: Cenju3Sim<AnyBackend>,
    from: NodeId,
    to: NodeId,
}

impl Cenju3Carrier {
    /// A booted machine with `route`'s settings.
    ///
    /// # Errors
    /// The settings make no machine, or one that does not boot.
    pub fn new(route: &Route<'_>) -> Result<Cenju3Carrier, MachineError> {
        let config = Config::of(route.settings)?;
        let machine = machine(route.backend, &config, &Probe::default()).map_err(MeasureError::from)?;
        let sim = Cenju3Sim::new(machine, config).map_err(MeasureError::from)?;
        let (from, to) = (route.from, route.to);
        Ok(Cenju3Carrier { sim, from, to })
    }
}

impl Carrier for Cenju3Carrier {
    fn now(&self) -> Picos {
        self.sim.now()
    }

    fn window(&self) -> u32 {
        WINDOW.min(self.sim.pe(self.from).memory_end() / 2)
    }

    fn carry(&mut self, data: &[u8]) -> Result<Vec<u8>, MachineError> {
        let (from, to) = (self.sim.pe(self.from), self.sim.pe(self.to));
        // Behind the sender's window, for a PE that sends to itself.
        let (source, dest, target) = (Addr(0), self.to, Addr(self.window()));
        let len = data.len() as u32;
        from.write(source, data);
        to.write(target, &poison(data));
        self.sim.spawn_checked(self.from, async move |pe| {
            pe.rmwrite(source, dest, target, len).await?;
            pe.fence().await;
            Ok::<_, RmwriteError>(())
        });
        finish(&mut self.sim, len)?;
        Ok(to.read(target, len))
    }
}
